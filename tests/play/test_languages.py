"""The language of a request, and messages of the server in it."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from gaia_jax.language import in_language
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
