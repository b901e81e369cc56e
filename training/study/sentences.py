"""The sentences that a page of findings begins with, each with its numbers and what it means.

A sentence is written for any numbers: what it says more or fewer of depends on them.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypedDict

from ..stats.effects import Effect
from . import board
from .figures import FEWEST, LITTLE, rank_correlation
from .page import Page, interval, mean
from .words import LEVELS, MISSIONS

CALLED = {
    "advanced_tiles": "advanced tiles", "artifacts": "artifacts",
    "ship_tokens": "the ships' federation tokens", "final_missions": "final missions",
    "tf5_token": "the token of terraforming 5",
}  # fmt: skip
ENDS = 8  # things of a long list that are drawn, at either end
FACTION = ": "  # between a faction and what it was asked


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
    question: str  # what was asked; the picture is called by it
    shown: list[Effect]  # what is drawn, in words
    play: str  # what more there is to say, for play like this
    people: str  # how it compares with people's statistics
    lead: Effect | None  # the effect that the sentence is about, by id
    unit: str = "VP"
    other: Effect | None = None  # the lead of the agent before

    @property
    def anchor(self) -> str:
        """Of the chapter, for a link."""
        return self.title.lower().replace(" ", "-")


def all_of(page: Page, people: People) -> list[Finding]:
    """Ten findings; fewer where games are too few or decisions are not known."""
    made = [
        _factions(page, people), _levels(page), _winners(page, people), _missions(page),
        _home(page), _seats(page), _rounds(page, people), _boosters(page, people),
        _little(page, people), _leech(page, people),
    ]  # fmt: skip
    return [finding for finding in made if finding is not None]


def _made(
    page: Page, title: str, sentence: str, question: str, lead: Effect, play: str, people: str
) -> Finding:
    """A finding of a question whose effects are drawn."""
    shown = page.words.all(question, page.found(question))
    other = page.other(question, lead.name)
    return Finding(title, sentence, question, shown, play, people, lead, other=other)


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
        order = "no like order" if not r.found else "a like order" if r.low > 0 else "the reverse"
        told = (
            f"{order}; rank correlation with their means {r.estimate:+.2f} ({r.low:+.2f} to "
            f"{r.high:+.2f}) over {r.size} factions of the base game."
        )
    return _made(
        page, "How strong the factions are",
        f"{name(best.name)} have {_of(best)} than the mean faction at the same table, "
        f"{name(worst.name)} {_of(worst)}.",
        "factions", best, f"{best.estimate - worst.estimate:.0f} VP lie between the two.", told,
    )  # fmt: skip


def _levels(page: Page) -> Finding | None:
    """Which tracks are climbed: the highest three of each faction."""
    found = sorted(page.found("levels"), key=lambda e: -e.estimate)
    if len(found) < 4:
        return None
    first, rest = found[:3], found[3:]
    asked = {key: told for key, told in page.own.items() if key.endswith(FACTION + LEVELS)}
    three = {
        key: {e.name for e in sorted(told, key=lambda e: -e.estimate)[:3]}
        for key, told in asked.items()
    }
    same = sum(names == {e.name for e in first} for names in three.values())
    many = f"All {len(three)}" if same == len(three) else f"{same} of {len(three)}"
    tracks = [page.words.of("tracks", e.name) for e in found]
    other = {e.name for e in rest}
    others = [
        (e.estimate, key, e.name) for key, told in asked.items() for e in told if e.name in other
    ]
    if not others:  # too few seats of each faction
        return None
    highest, key, name = max(others)
    faction = page.words.faction(key.removesuffix(FACTION + LEVELS))
    return Finding(
        "Which tracks are climbed",
        f"{many} factions climb {tracks[0]}, {tracks[1]} and {tracks[2]} most, on average to level "
        f"{mean(first[2])} or higher; no other track passes {mean(rest[0])}.",
        "levels", [e._replace(found=False) for e in page.words.all("tracks", found)],
        f"the highest that a faction has on another track is {highest:.1f} on "
        f"{page.words.of('tracks', name)}, {faction}.",
        "no statistic of tracks is known.", None, "levels",
    )  # fmt: skip


def _missions(page: Page) -> Finding | None:
    """Which final mission is good for whom: all pairs are judged together."""
    end = FACTION + MISSIONS
    asked = [
        (key.removesuffix(end), e) for key, told in page.own.items() if key.endswith(end)
        for e in told
    ]  # fmt: skip
    if len(asked) < 2:
        return None
    asked.sort(key=lambda x: -x[1].estimate)
    words = page.words
    tile = {e.name: words.of("in_play_final_missions", e.name) for _, e in asked}
    # Of each mission its best faction, the best two missions.
    best: dict[str, tuple[str, Effect]] = {}
    for faction, e in asked:
        best.setdefault(e.name, (faction, e))
    told = [
        f'{words.faction(faction)} have {_of(e)} with "{tile[e.name]}"'
        for faction, e in list(best.values())[:2]
    ]
    stand = Counter(tile[e.name] for _, e in asked if e.found)
    which = ", ".join(f'"{name}" ({n})' for name, n in stand.most_common())
    few = asked if len(asked) <= 2 * ENDS else asked[:ENDS] + asked[-ENDS:]
    shown = [e._replace(name=f"{words.faction(f)}: {tile[e.name]}") for f, e in few]
    return Finding(
        "Which final mission suits which faction",
        f"Beside the others at their table {', '.join(told)} than with the mean final mission.",
        "missions", shown,
        f"{sum(stand.values())} of {len(asked)} pairs stand out{': ' if which else ''}{which}. The "
        "picture has the largest and the smallest.",
        "no statistic of missions by faction is known.", best[asked[0][1].name][1],
    )  # fmt: skip


def _seats(page: Page) -> Finding | None:
    found = page.found("seats")
    if len(found) < 2:
        return None
    first, last = found[0], found[-1]
    best, worst = _ends(found)
    return _made(
        page, "What the turn order is worth",
        f"Who moves first in round 1 has {_of(first)} than the mean seat, who moves last "
        f"{_of(last)}.",
        "seats", last,
        f"{page.words.of('seats', best.name)} is the best place, "
        f"{best.estimate - worst.estimate:.1f} VP above the worst.",
        "no statistic by seat is known.",
    )  # fmt: skip


def _home(page: Page) -> Finding | None:
    near, easy = board.NAMES
    found = {e.name: e for e in page.found("board")}
    if near not in found:
        return None
    lead = found[near]
    few, many = (e.estimate for e in page.own["board_counts"])
    told = f" Colours at most one step away: {_of(found[easy])} for one." if easy in found else ""
    return _made(
        page, "What planets near home are worth",
        f"One planet more within three cells of home gives {_of(lead)}.", "board", lead,
        f"from {few:.1f} to {many:.1f} planets lie there, in all but the lowest and the highest "
        "tenth. Counted are Gaia planets and the seven colours, on average over the planets of "
        f"the home colour; factions without one are left out.{told}",
        "no statistic of maps is known.",
    )  # fmt: skip


def _rounds(page: Page, people: People) -> Finding | None:
    return _drawn(page, people, "round_tiles", "round tiles", 'With "{}" among the round tiles')


def _boosters(page: Page, people: People) -> Finding | None:
    return _drawn(page, people, "in_play_boosters", "boosters", 'With the booster "{}" in the game')


PAID = {"round tiles": "ROUND_TILE", "boosters": "BOOSTER"}


def _drawn(page: Page, people: People, question: str, things: str, one: str) -> Finding | None:
    """What the best and the least of things that are drawn bring a seat; `one`: said of one."""
    found = page.found(question)
    if not found:
        return None
    best, worst = _ends(found)
    plain = page.words.of
    return _made(
        page, f"What the {things} are worth",
        f"{one.format(plain(question, best.name))} a seat has {_of(best)} than with the mean "
        f"{things.split()[-1].removesuffix('s')}.",
        question, best, f'the least is "{plain(question, worst.name)}": {_of(worst)}.',
        _beside(page, people, PAID[things], things),
    )  # fmt: skip


def _little(page: Page, people: People) -> Finding | None:
    """What else is drawn: several families, judged together."""
    told = [(key, e) for key in LITTLE for e in page.found(f"in_play_{key}")]
    if len(told) < 2:
        return None
    told.sort(key=lambda x: -abs(x[1].estimate))
    (key, lead), words = told[0], page.words
    question = f"in_play_{key}"
    kinds = [CALLED[key] for key in LITTLE if any(key == k for k, _ in told)]
    listed = ", ".join(kinds[:-1]) + (" and " if kinds[:-1] else "") + kinds[-1]
    stand = sum(e.found for _, e in told)
    says = f"Nothing else of {len(told)} things that are drawn stands out"
    if stand:
        says = f"Of {len(told)} other things that are drawn {stand} stand out"
    shown = [
        e._replace(name=f"{CALLED[k].removeprefix('the ')}: {words.of(f'in_play_{k}', e.name)}")
        for k, e in told[: 2 * ENDS]
    ]
    return Finding(
        "What else is drawn",
        f"{says}; the largest is \"{words.of(question, lead.name)}\": {_of(lead)}.",
        "in_play_little", shown,
        f"asked were {listed}, all together. The picture has the largest {len(shown)}.",
        _beside(page, people, "ADVANCED_TILE", "advanced tiles"), lead,
        other=page.other(question, lead.name),
    )  # fmt: skip


def _winners(page: Page, people: People) -> Finding | None:
    found = page.found("sources")
    if not found:
        return None
    best, second = sorted(found, key=lambda e: -e.estimate)[:2]
    seats = len(page.found("places")) or 4
    ahead = {
        name: (won - (seats * every - won) / (seats - 1)) for name, (every, won) in
        people["sources"].items()
    }  # fmt: skip
    first = sorted(ahead, key=lambda name: -ahead[name])[:2]
    source = page.words.source
    told = " and ".join(f"{source(x)} ({ahead[x]:+.1f} VP)" for x in first)
    return _made(
        page, "What winners have more of",
        f"Winners are ahead of the others at their table by {source(best.name)} most: "
        f"{_of(best)}, then by {source(second.name)}: {_of(second)}.",
        "sources", best,
        "it does not say that more of it would make a winner: who is ahead can afford more.",
        f"winners are ahead by {told} most, in {people['counted']} whole games of the base game.",
    )  # fmt: skip


def _beside(page: Page, people: People, source: str, named: str) -> str:
    """VP of a seat by a source, here and of people."""
    here = next((e.estimate for e in page.found("source_means") if e.name == source), None)
    every = people["sources"].get(source, [None])[0]
    if here is None or every is None:
        return "no statistic is known."
    return (
        f"{named} bring them {every:.1f} VP a seat, and {here:.1f} here "
        f"({people['counted']} whole games of the base game)."
    )


def _leech(page: Page, people: People) -> Finding | None:
    """How often power for VP is taken, by its price; free offers as LEE-03 and A11 have it."""
    found = {e.name: e for e in page.found("offers")}
    paid = [name for name in people["leech"] if name in found]
    if not paid:
        return None
    here = ", ".join(f"{mean(found[name], ' %', 0)} for {name}" for name in paid)
    theirs = ", ".join(f"{people['leech'][name]} % for {name}" for name in paid)
    worth = next((e for e in page.found("leech") if e.name == "leech CHARGE"), None)
    free, taken = found.get("free"), page.words.ruleset.free_leech_is_taken
    told = []
    if free and taken:
        told.append(
            f"free offers are taken unasked, but for Itars and Taklons with their institute: they "
            f"were asked {free.size:,} times and took {mean(free, ' %', 0)}."
        )
    if worth:
        unsure = "" if worth.low > 0 or worth.high < 0 else ", which is no clear difference"
        told.append(f"One more offer taken goes with {interval(worth, ' VP')} at the end{unsure}.")
    names = [name for name in found if name != "free" or not taken]
    return Finding(
        "Power for VP",
        f"Of offers of power that cost VP these agents take {here}.",
        "offers",
        [found[name]._replace(name=f"{name} ({found[name].size:,} offers)") for name in names],
        " ".join(told) or "it is not known what one more is worth.",
        f"they take {theirs}; they pay {-people['sources']['LEECH'][0]:.1f} VP a seat for it in a "
        f"game ({people['counted']} whole games of the base game).", None, "%",
    )  # fmt: skip
