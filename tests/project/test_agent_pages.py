"""Pages say of shipped agents what was measured with them, not with others before them."""

from types import SimpleNamespace

import pytest

from tools import agent_pages


def test_cards_and_pages_are_of_the_shipped_agents():
    assert agent_pages.stale() == [], "make agent-pages"


def test_a_card_and_a_part_of_another_agent_are_named(monkeypatch):
    monkeypatch.setattr(agent_pages, "_sha", lambda agent: "0" * 64)
    assert agent_pages.stale() == ["cards", *(part.name for part in agent_pages.PARTS)]


def test_a_part_is_written_into_its_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- agent-pages new: none -->\nold\n<!-- end of new -->\nafter\n")
    monkeypatch.setattr(agent_pages, "ROOT", tmp_path)
    monkeypatch.setattr(agent_pages, "_sha", lambda agent: "abcdef0123456789")
    part = agent_pages.Part("new", "page.md", ("zoo/strong",), lambda: r"4 \1 VP" + "\n")
    agent_pages._write(part)
    part_text = "<!-- agent-pages new: zoo/strong abcdef012345 -->\n4 \\1 VP\n<!-- end of new -->\n"
    assert page.read_text() == f"before\n{part_text}after\n"
    monkeypatch.setattr(agent_pages, "PARTS", (part,))
    assert agent_pages.stale() == ["cards"]
    page.write_text("nothing\n")
    with pytest.raises(SystemExit, match=r"page\.md has no part agent-pages new"):
        agent_pages.stale()


def test_seats_differences_and_tables_of_known_games():
    rows = [
        {"setup": setup, "rotation": "0", "vp": vp, "federations": "2", "advanced_tiles": tile,
         "ships": "1", "artifacts": "0", "research_steps": "12", "vp.START": "10"}
        for setup, vp, tile in (("0", "100", "0"), ("0", "110", "1"), ("1", "120", "0"))
    ]  # fmt: skip
    report = agent_pages._seats(rows, 5)
    assert report["games"] == 2 and report["seeds"] == [5]
    assert report["vp"]["mean"] == 112.5, "the games of a set-up are one sample"
    assert report["behaviour"]["seats_with_an_advanced_tile"] == 0.333
    assert report["vp_by_source"] == {"START": 10.0}
    others = [row | {"vp": "90"} for row in rows]
    assert agent_pages._difference(rows, others)["mean"] == 22.5
    assert agent_pages._table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_wrong_part_is_refused(capsys):
    with pytest.raises(SystemExit) as error:
        agent_pages.main(["card"])
    assert error.value.code == 2
    assert "no part 'card': cards, arena" in capsys.readouterr().err


def test_the_levels_have_the_vp_of_the_table():
    text = '    Level("a", "zoo/x", "said", 95.4),\n    Level("b", "zoo/x+search:64", "said"),\n'
    report = {"agents": {"zoo/x": {"vp": {"mean": 101.26}}}}
    assert agent_pages._levels(text, report) == text.replace("95.4", "101.3")
    assert agent_pages._docstring("zoo/x 95.4, b 3.0.", report) == "zoo/x 101.3, b 3.0."


def test_the_seconds_of_a_level_are_those_of_each_decision(monkeypatch):
    clock = iter(x for n in range(10) for x in (n, n + (0.5 if n < 8 else 2.04)))
    monkeypatch.setattr(agent_pages.time, "perf_counter", lambda: next(clock))
    agent = SimpleNamespace(under_way=False, act=lambda state, seed: state + 1)
    rules = SimpleNamespace(
        draw=lambda seed: seed, start=lambda setup: 0, after=lambda state, action: action,
        legal=lambda state: ["pass"] * (state < 10),
    )  # fmt: skip
    assert agent_pages._timed(agent, rules) == (0.5, 2.0)
    assert next(clock, None) is None, "all ten decisions"
    agent.act, agent.status_line = None, lambda: "no such agent"
    with pytest.raises(SystemExit, match="no such agent"):
        agent_pages._timed(agent, rules)
    text = (
        'TIMED_ON = "old"\nSECONDS = {\n    "zoo/x": (1, 2),\n    "zoo/x+search:64": (3, 4),\n}\n'
    )
    slow = agent_pages._slow(text, {"zoo/x": (0.1, 0.25), "other": (9, 9)}, "2 cores")
    assert slow == text.replace("old", "2 cores").replace("(1, 2)", "(0.1, 0.25)")
