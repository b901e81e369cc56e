"""The language of a request, and messages of the server in it."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from gaia_jax.language import LANGUAGES, fill_in, in_language
from tests.play import asgi
from training.agents.registry import Plays
from training.analysis.puzzles import LEVELS, THEMES, find_theme
from training.analysis.round_solver import Goal
from training.play.landing import Landing
from training.play.languages import language_of, page_texts, translated

pytestmark = pytest.mark.no_compile


def request(query: str = "", cookie: str = "", accept: str = "") -> Request:
    headers = [(b"cookie", cookie.encode()), (b"accept-language", accept.encode())]
    headers = [(name, value) for name, value in headers if value]
    return Request({"type": "http", "query_string": query.encode(), "headers": headers})


@pytest.mark.parametrize(
    ("query", "cookie", "accept", "code"),
    [
        ("", "", "", "en"),
        ("", "", "ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("", "", "fr-FR, en;q=0.5, de;q=0.7", "de"),
        ("", "", "ko;q=0, de;q=0.1", "de"),
        ("", "", "de;q=many, ko;q=0.1", "ko"),
        ("", "", "xx", "en"),
        ("", "language=de", "ko", "de"),
        ("", "language=xx", "ko", "ko"),
        ("lang=ko", "language=de", "en", "ko"),
        ("lang=xx", "", "de", "de"),
    ],
)
def test_the_link_comes_before_the_cookie_before_the_browser(query, cookie, accept, code):
    assert language_of(request(query, cookie, accept)) == code


def test_messages_of_the_server_keep_their_values():
    message = "the record is of version 0.1, not 0.2"
    assert translated(message) == message
    with in_language("de"):
        assert translated(message) == "die Aufzeichnung ist von Version 0.1, nicht 0.2"
        assert translated("something new") == "something new"
    with in_language("ko"):
        assert translated("Round 3") == "라운드 3"
        assert page_texts()["begin"] == "시작"


@pytest.mark.parametrize("code", ["de", "ko"])
def test_games_that_an_agent_does_not_play_are_named_in_the_language(code):
    refusals = Plays("base", 2).refusal("base", 4), Plays("base", 2).refusal("lost_fleet", 2)
    with in_language(code):
        for message in (f"zoo/duel {refusal}" for refusal in refusals):
            assert translated(message) != message


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_theme_level_and_goal_of_a_puzzle_has_its_texts(code):
    with in_language(code):
        texts = page_texts()
    goals = {goal.value for goal in Goal} - {Goal.VP.value}
    themes = {*THEMES.values(), *goals, find_theme("power PA_7C")}
    assert {f"theme-{theme.replace(' ', '-')}" for theme in themes} <= texts.keys()
    ids = {f"puzzle-{level}" for level in LEVELS}
    for goal in Goal:
        kinds = ("asks", "less", "agent", "proof", "value")
        ids |= {f"puzzle-{kind}-{goal.value.replace(' ', '-')}" for kind in kinds}
    assert ids <= texts.keys()


@pytest.mark.parametrize("code", ["en", "de"])
def test_a_count_of_one_takes_the_singular(code):
    with in_language(code):
        template = page_texts()["federation-choice"]
    zero, singular, plural = (fill_in(template, n=n, power=7, pieces="") for n in (0, 1, 2))
    assert zero == plural.replace("2", "0") and singular != plural.replace("2", "1")


def answer(path: str, **headers: str) -> tuple[str, str]:
    """The text of a page without games, and the cookie that it sets."""
    landing = Landing(["localhost"])

    async def games(scope: Any, receive: Any, send: Any) -> None:
        text = translated("there is no such game").encode()
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": text})

    landing.games = games
    page = asgi.run(asgi.request(landing, path, **headers))
    cookies = [text.decode() for name, text in page.headers if name == b"set-cookie"]
    return page.body.decode(), "".join(cookies)


def test_pages_texts_and_errors_are_in_the_language_of_each_request():
    page, cookie = answer("/?lang=ko")
    assert '<html lang="ko">' in page and "시작" in page and "{{" not in page
    assert cookie.startswith("language=ko;") and "samesite=lax" in cookie.lower()
    assert answer("/", accept_language="de")[1] == ""
    assert '<html lang="de">' in answer("/", accept_language="de")[0]
    assert '<html lang="en">' in answer("/", accept_language="de", cookie="language=en")[0]
    assert "Beginnen" in answer("/texts.js", cookie="language=de")[0]
    assert answer("/api/games/0", cookie="language=ko")[0] == "그런 게임이 없음"
    assert '<html lang="de">' in answer("/puzzles", accept_language="de")[0]
