"""The sentences that a page of findings begins with, each with its numbers and what it means.

A sentence is written for any numbers: what it says more or fewer of depends on them.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypedDict

import numpy as np

from .effects import Effect
from .figures import FEWEST, rank_correlation
from .page import Page, interval, mean

LITTLE = ("advanced_tiles", "artifacts", "ship_tokens", "final_missions", "tf5_token")
CALLED = {
    "advanced_tiles": "advanced tiles", "artifacts": "artifacts",
    "ship_tokens": "the ships' federation tokens", "final_missions": "final missions",
    "tf5_token": "the token of terraforming 5",
}  # fmt: skip
FINAL = ("FINAL_1", "FINAL_2")


class People(TypedDict):
    """What is known of people's games, `people.json`."""

    tables: list[tuple[str, str, float, list[int] | None]]  # who, how many, mean VP, VP by place
    factions: dict[str, float]  # mean VP, base game
    counted: str  # whole games that `sources` are of
    sources: dict[str, tuple[float, float]]  # VP of a seat, and of a winner
    leech: dict[str, int]  # offers of 100 that are taken, by what they cost
    beliefs: list[tuple[str, str]]  # what is said, of which faction


class Finding(NamedTuple):
    """One result."""

    title: str
    sentence: str
    question: str  # whose effects are drawn
    shown: list[Effect]  # those that are, by id
    table: str  # what it means at the table
    people: str  # how it compares with people's statistics
    lead: Effect | None  # the effect that the sentence is about, by id
    unit: str = "VP"


def all_of(page: Page, people: People) -> list[Finding]:
    """Ten findings; fewer where games are too few or decisions are not known."""
    made = [
        _factions(page, people), _seats(page), _home(page), _opponents(page), _rounds(page, people),
        _boosters(page, people), _little(page, people), _winners(page, people),
        _gap(page, people), _leech(page, people),
    ]  # fmt: skip
    return [finding for finding in made if finding is not None]


def _ends(found: list[Effect]) -> tuple[Effect, Effect]:
    """The largest and the smallest."""
    ordered = sorted(found, key=lambda e: -e.estimate)
    return ordered[0], ordered[-1]


def _of(effect: Effect) -> str:
    """An effect as VP more or fewer."""
    e = effect
    if e.estimate >= 0:
        return f"{e.estimate:.1f} VP more ({e.low:.1f} to {e.high:.1f})"
    return f"{-e.estimate:.1f} VP fewer ({-e.high:.1f} to {-e.low:.1f})"


def ranks_of_factions(page: Page, people: People) -> list[Effect]:
    """Rank correlations of factions with people's means: here, and of the agent before."""
    known = people["factions"]
    out = []
    for name, found in (
        ("here", page.found("factions")), ("the agent before", page.beside.get("factions", [])),
    ):  # fmt: skip
        both = [(e.estimate, known[e.name]) for e in found if e.name in known]
        if len(both) >= FEWEST:
            out.append(rank_correlation(name, [a for a, _ in both], [b for _, b in both]))
    return out


def _factions(page: Page, people: People) -> Finding | None:
    found = page.found("factions")
    if not found:
        return None
    best, worst = _ends(found)
    name = page.words.faction
    ranks = ranks_of_factions(page, people)
    told = "no statistic has these factions."
    if ranks:
        r = ranks[0]
        order = "another order" if not r.found else "a like order" if r.low > 0 else "the reverse"
        told = (
            f"{order}; rank correlation with their means {r.estimate:+.2f} ({r.low:+.2f} to "
            f"{r.high:+.2f}) over {r.size} factions of the base game."
        )
    return Finding(
        "How strong the factions are",
        f"**{name(best.name)} have {_of(best)} than the mean faction at the same table, "
        f"{name(worst.name)} {_of(worst)}.**",
        "factions", found,
        f"{best.estimate - worst.estimate:.0f} VP lie between the two. In a bid for factions the "
        "numbers of the picture are the bids that make all even, for play like this.",
        told, best,
    )  # fmt: skip


def _seats(page: Page) -> Finding | None:
    found = page.found("seats")
    if len(found) < 2:
        return None
    first, last = found[0], found[-1]
    best, _ = _ends(found)
    return Finding(
        "What the turn order is worth",
        f"**Who moves first in round 1 has {_of(first)} than the mean seat, who moves last "
        f"{_of(last)}.**",
        "seats", found,
        f"{page.words.of('seats', best.name).capitalize()} is the best place. The difference is "
        "small beside that of factions: choose by the faction, not by the seat.",
        "no statistic by seat is known.", last,
    )  # fmt: skip


def _home(page: Page) -> Finding | None:
    found = page.found("board")
    if not found:
        return None
    lead, _ = _ends(found)
    return Finding(
        "What planets near home are worth",
        f"**One standard deviation more of planets near home gives {_of(lead)}.**",
        "board", found,
        "before choosing a faction count what lies within three cells of its home planets, "
        "planets of Gaia and of colours one step away first.",
        "no statistic of maps is known.", lead,
    )  # fmt: skip


def _opponents(page: Page) -> Finding | None:
    found = page.found("opponents")
    if not found:
        return None
    clear = sorted(found, key=lambda e: -abs(e.estimate) / max(e.high - e.low, 1e-9))
    lead = clear[0]
    own, other = (page.words.faction(x) for x in lead.name.split(" with "))
    stand = sum(e.found for e in found)
    spread = float(np.std([e.estimate for e in page.found("factions")]))
    noise = float(np.mean([((e.high - e.low) / 3.92) ** 2 for e in found]))
    pairs = math.sqrt(max(float(np.var([e.estimate for e in found])) - noise, 0.0))
    return Finding(
        "Whom one sits with",
        f"**{own} have {_of(lead)} with {other} at the table than with the others: the pair that "
        f"stands out most of {len(found)}.**",
        "opponents", clear[:12],
        f"{stand} of {len(found)} stand out. Without their noise pairs spread by {pairs:.1f} VP "
        f"(standard deviation), factions by {spread:.1f}: look at the faction first.",
        "no statistic of pairs is known.", lead,
    )  # fmt: skip


def _rounds(page: Page, people: People) -> Finding | None:
    found = page.found("round_tiles")
    if not found:
        return None
    best, worst = _ends(found)
    plain = page.words.of
    return Finding(
        "What the round tiles are worth",
        f"**With \"{plain('round_tiles', best.name)}\" among the round tiles every seat has "
        f"{_of(best)} than with the mean tile.**",
        "round_tiles", found,
        "it lifts all seats alike: what this play can use. It cannot use "
        f"\"{plain('round_tiles', worst.name)}\" ({_of(worst)}), so who can gains on it.",
        _beside(page, people, ("ROUND_TILE",), "round tiles"), best,
    )  # fmt: skip


def _boosters(page: Page, people: People) -> Finding | None:
    found = page.found("in_play_boosters")
    if not found:
        return None
    best, worst = _ends(found)
    plain = page.words.of
    return Finding(
        "What the boosters are worth",
        f"**With the booster \"{plain('in_play_boosters', best.name)}\" in the game a seat has "
        f"{_of(best)} than with the mean booster.**",
        "in_play_boosters", found,
        f"who cannot have it should not wait for \"{plain('in_play_boosters', worst.name)}\" "
        f"({_of(worst)}).",
        _beside(page, people, ("BOOSTER",), "boosters"), best,
    )  # fmt: skip


def _little(page: Page, people: People) -> Finding | None:
    """What else is drawn: the largest effect of several families."""
    told = [(key, e) for key in LITTLE for e in page.found(f"in_play_{key}")]
    if not told:
        return None
    key, lead = max(told, key=lambda x: abs(x[1].estimate))
    question = f"in_play_{key}"
    kinds = list(dict.fromkeys(CALLED[key] for key, _ in told))
    listed = ", ".join(kinds[:-1]) + (" and " if kinds[:-1] else "") + kinds[-1]
    return Finding(
        "What else is drawn",
        f"**Nothing else that is drawn moves the mean of a table by more than "
        f"{abs(lead.estimate):.1f} VP: \"{page.words.of(question, lead.name)}\" gives "
        f"{_of(lead)}.**",
        question, page.found(question),
        f"asked were {listed}. {sum(e.found for _, e in told)} of {len(told)} stand out. "
        "For play like this the set-up hardly says what a table will score; it may still say who "
        "scores it.",
        _beside(page, people, ("ADVANCED_TILE",), "advanced tiles"), lead,
    )  # fmt: skip


def _winners(page: Page, people: People) -> Finding | None:
    found = page.found("sources")
    if not found:
        return None
    best, _ = _ends(found)
    seats = len(page.found("places")) or 4
    ahead = {
        name: (won - (seats * every - won) / (seats - 1)) for name, (every, won) in
        people["sources"].items()
    }  # fmt: skip
    first = sorted(ahead, key=lambda name: -ahead[name])[:2]
    told = " and ".join(f"{_source(page, x)} ({ahead[x]:+.1f} VP)" for x in first)
    return Finding(
        "What winners have more of",
        f"**Winners are ahead of the others at their table by {page.words.source(best.name)} most: "
        f"{_of(best)}.**",
        "sources", found,
        "this is where games are decided among equals. It does not say that more of it would "
        "make a winner: who is ahead can afford more.",
        f"winners are ahead by {told} most, in {people['counted']} whole games.", best,
    )  # fmt: skip


def _source(page: Page, name: str) -> str:
    return "final missions" if name == "FINAL" else page.words.source(name)


def _parts(name: str) -> tuple[str, ...]:
    """The sources of VP that one of people's is."""
    return FINAL if name == "FINAL" else (name,)


def _here(page: Page, parts: tuple[str, ...]) -> float | None:
    """VP of a seat by these sources."""
    found = {e.name: e.estimate for e in page.found("source_means")}
    return sum(found[x] for x in parts) if set(parts) <= found.keys() else None


def _beside(page: Page, people: People, parts: tuple[str, ...], named: str) -> str:
    """VP of a seat by a source, here and of people."""
    here = _here(page, parts)
    every = people["sources"].get(parts[0], [None])[0]
    if here is None or every is None:
        return "no statistic is known."
    return (
        f"{named} bring them {every:.1f} VP a seat, and {here:.1f} here "
        f"({people['counted']} whole games of the base game)."
    )


def _gap(page: Page, people: People) -> Finding | None:
    gaps = {
        name: every - here for name, (every, _) in people["sources"].items()
        if (here := _here(page, _parts(name))) is not None
    }  # fmt: skip
    if not gaps:
        return None
    most = max(gaps, key=lambda name: gaps[name])
    more = sorted(gaps, key=lambda name: -gaps[name])[1:4]
    also = ", ".join(f"{_source(page, name)} {gaps[name]:+.1f}" for name in more)
    shown = [_apart(page, name, gap) for name, gap in gaps.items()]
    (lead,) = [e for e in shown if e.name == _source(page, most)]
    theirs = people["sources"][most][0]
    return Finding(
        "Where people have more",
        f"**People's largest lead on these agents is {_source(page, most)}: {theirs:.1f} VP a seat "
        f"where these have {theirs - lead.estimate:.1f} ({theirs - lead.high:.1f} to "
        f"{theirs - lead.low:.1f}).**",
        "source_gaps", shown,
        "it is where play like this can be beaten, and where its findings say least.",
        f"then come {also} VP; the picture has theirs less ours, with the chance in ours alone. "
        f"Theirs is the base game, {people['counted']} whole games: a hint, no measurement.", None,
    )  # fmt: skip


def _apart(page: Page, name: str, gap: float) -> Effect:
    """How far people are ahead by a source, in words; the interval is of the games here."""
    own = [e for e in page.found("source_means") if e.name in _parts(name)]
    half = sum(e.high - e.low for e in own) / 2
    return Effect(_source(page, name), gap, gap - half, gap + half, own[0].size, False)


def _leech(page: Page, people: People) -> Finding | None:
    found = {e.name: e for e in page.found("offers")}
    paid = [name for name in people["leech"] if name in found]
    if not paid:
        return None
    here = ", ".join(f"{mean(found[name], ' %', 0)} for {name}" for name in paid)
    theirs = ", ".join(f"{people['leech'][name]} % for {name}" for name in paid)
    often = max(paid, key=lambda name: found[name].estimate)
    worth = next((e for e in page.found("leech") if e.name == "leech CHARGE"), None)
    gain = ""
    if worth:
        unsure = "" if worth.low > 0 or worth.high < 0 else ", which is no clear difference"
        gain = f" One more offer taken goes with {interval(worth, ' VP')} at the end{unsure}."
    return Finding(
        "Power for VP",
        f"**Of offers of power that cost VP these agents take {here}.**",
        "offers", list(found.values()),
        f"such play takes offers for {often} most often.{gain}",
        f"they take {theirs}; they pay 13 to 15 VP a seat for it in a game.", None, "%",
    )  # fmt: skip
