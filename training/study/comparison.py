"""How the games of a page stand beside people's, and its agent beside another one."""

from __future__ import annotations

import math

from ..stats.effects import Effect
from . import figures
from .page import Page, interval, mean, percent
from .sentences import People, ranks_of_factions
from .table import Table

# Questions that are asked of two agents, and what their answers are about.
COMPARED = {
    "factions": "factions", "seats": "places in the turn order",
    "against": "opponents, for all at their table",
    "pairs": "pairs, beyond what an opponent does to all",
    "sources": "what winners have more of", "in_play_boosters": "boosters in the game",
    "round_tiles": "round tiles", "in_play_advanced_tiles": "advanced tiles in the game",
    "in_play_artifacts": "artifacts in the game", "in_play_final_missions": "final missions",
}  # fmt: skip
SIGNS = 5  # so many things at least are asked for their signs
TIED = ("FINAL", "START")  # sources that have one mean in every game, by the rules


def people(page: Page, known: People, table: Table) -> None:
    """VP by place at the table; the factions in people's statistics."""
    places = [f"{e.estimate:.1f}" for e in page.found("places")]
    rows = [("here", f"{len(table.vp):,} games", f"{table.vp.mean():.1f}", places)]
    if page.known:
        other = page.known
        before = [f"{e.estimate:.1f}" for e in other.figures.get("places", [])]
        vp = f"{other.figures['agents'][0].estimate:.1f}"
        rows.append(("the agent before", f"{other.games:,} games", vp, before))
    if table.players == 4:
        rows += [
            (f"people: {who}", n, f"{vp}", [str(x) for x in by] if by else ["not known"] * 4)
            for who, n, vp, by in known["tables"]
        ]
    names = [e.name for e in page.found("places")]
    page.text(
        "## Beside people's statistics", "",
        f"| who | from | VP of a seat | {' | '.join(names)} |",
        "| --- | --- | --- |" + " --- |" * len(names),
        *(f"| {who} | {n} | {vp} | {' | '.join(by)} |" for who, n, vp, by in rows),
    )  # fmt: skip
    ranks = ranks_of_factions(page, known)
    if ranks:
        page.text(
            "Rank correlation of the factions with people's means, base game, popular openings: "
            + "; ".join(f"{rank.name} {_rank(rank)}" for rank in ranks)
            + ". No public figures are known of the four factions of The Lost Fleet.",
        )
    found = {e.name: e for e in page.found("factions")}
    order = sorted(found, key=lambda name: -found[name].estimate)
    won = {e.name: e for e in page.found("won")}
    statements = [
        f"| {text} | place {order.index(name) + 1} of {len(order)}, "
        f"{interval(found[name], ' VP')}, won {mean(percent(won[name]), ' %', 0)} |"
        for text, name in known["beliefs"]
        if name in found
    ]
    if statements:
        page.text("| what people say | here |", "| --- | --- |", *statements)


def gaps(page: Page, known: People) -> None:
    """VP by source beside people's: what is no finding, but where to look."""
    means = {e.name: e for e in page.found("source_means")}
    both = [
        (theirs - means[name].estimate, name, theirs) for name, (theirs, _) in
        known["sources"].items() if name in means and name not in TIED
    ]  # fmt: skip
    if not both:
        return
    page.text(
        "## Where people have more", "",
        f"Theirs are {known['counted']} whole games of another game, the base game: a hint, no "
        "measurement. Final missions are left out: by the rules a table shares the same VP.", "",
        "| source | people, VP a seat | here | people have more |", "| --- | --- | --- | --- |",
        *(f"| {page.words.source(name)} | {theirs:.1f} | {means[name].estimate:.1f} | {gap:+.1f} |"
          for gap, name, theirs in sorted(both, reverse=True)),
    )  # fmt: skip


def agents(page: Page) -> None:
    """What depends on the agent, and what does not."""
    if not page.known:
        return
    rows = []
    for question, subject in COMPARED.items():
        own, other = page.found(question), page.beside.get(question, [])
        rank, cleared = figures.agreement(subject, own, other)
        if not math.isfinite(rank.low):
            continue
        both = [(e, page.other(question, e.name)) for e in own]
        clear = [(a, b) for a, b in both if b and (a.low > 0 or a.high < 0) and
                 (b.low > 0 or b.high < 0)]  # fmt: skip
        same = sum((a.estimate > 0) == (b.estimate > 0) for a, b in clear)
        signs = f"{same} of {len(clear)}" if len(clear) >= SIGNS else "too few"
        free = f"{cleared:+.2f}" if math.isfinite(cleared) else "mostly noise"
        rows.append(f"| {subject} | {_rank(rank)} | {free} | {signs} |")
    page.text(
        "## What depends on the agent, and what holds for the game", "",
        "Two agents, asked the same. The rank correlation is 1 where they put all things in one "
        "order and 0 where their orders have nothing in common. Chance in few games lowers it: "
        "beside it stands what it would be without, from the intervals of both. The last column "
        "has the things for which both intervals leave out 0: how many have the same sign.", "",
        "| question | rank correlation (95 %) | without noise | same direction |",
        "| --- | --- | --- | --- |", *rows,
        "", "Two agents are two, and relatives are no independent witnesses: what differs depends "
        "on who plays, what agrees may still.",
    )  # fmt: skip


def _rank(effect: Effect) -> str:
    return f"{effect.estimate:+.2f} ({effect.low:+.2f} to {effect.high:+.2f}), {effect.size} things"
