"""Findings of each faction: what it is good for, beside whom, with which things in the game."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np

from gaia_jax.components.research import TRACKS as TRACK_IDS

from ..stats.effects import Effect, means, together
from ..system import atomic_files
from . import pieces, play, strength
from .decided import Decided
from .figures import Figures
from .page import Page, bold, interval, mean, percent
from .sentences import People
from .table import Table
from .words import LEVELS, MISSIONS

TOP = f"# Findings by faction\n\n{atomic_files.COMMENT}"
# What lies in a game, by key of a set-up: how a row of the page begins.
THINGS = {
    "final_missions": MISSIONS, "round_tiles": "round tile in the game",
    "boosters": "booster in the game",
}  # fmt: skip
SEATS, SOURCES, OPENINGS = "place in the turn order", "source of VP", "first two main actions"
TRACKS, ROUNDS, OTHERS = LEVELS, "VP by round", "with, at the table"
LEAST = 12  # so often at least an opening was played
# What the answers of a row are named by, as `Words.of` knows it.
QUESTIONS = {
    SEATS: "seats", OTHERS: "factions", SOURCES: "sources", OPENINGS: "openings_",
    THINGS["final_missions"]: "in_play_final_missions", THINGS["round_tiles"]: "round_tiles",
    THINGS["boosters"]: "in_play_boosters", TRACKS: "tracks", ROUNDS: "rounds",
}  # fmt: skip
ROWS = (SEATS, OTHERS, *THINGS.values(), SOURCES, OPENINGS)


def of_table(table: Table, few: Table, decided: Decided | None) -> Figures:
    """Questions of each faction, `FACTION: row of the page`; judged together by row.

    Args:
        few: the first games of the table, which `decided` is of.
    """
    told = {row: _asked(table, few, decided, row) for row in (*ROWS, TRACKS, ROUNDS)}
    out: Figures = {}
    for row, by_faction in told.items():
        every = [e._replace(name=f"{f}: {e.name}") for f, found in by_faction.items()
                 for e in found if math.isfinite(e.low)]  # fmt: skip
        for effect in together(every):
            faction, _, name = effect.name.partition(": ")
            out.setdefault(f"{faction}: {row}", []).append(effect._replace(name=name))
    return out


def _asked(table: Table, few: Table, decided: Decided | None, row: str) -> dict[str, list[Effect]]:
    """The answers for one row, by faction."""
    asked = few if row in (OPENINGS, TRACKS, ROUNDS) else table
    there = np.unique(asked.faction)
    factions = [name for k, name in enumerate(asked.names["faction"]) if k in there]
    if row == SEATS:
        return {name: strength.seats(table, name) for name in factions}
    if row == OTHERS:
        return {name: strength.opponents(table, name) for name in factions}
    if row == SOURCES:
        return {name: _sources(table, name) for name in factions}
    for key, named in THINGS.items():
        if named == row:
            known = key in table.setup
            return {name: _with_things(table, name, key) for name in factions if known}
    if decided is None:
        return {}
    if row == OPENINGS:
        return {name: play.openings(few, decided, name, 2, LEAST) for name in factions}
    tracks = row == TRACKS
    counts = decided.levels if tracks else decided.vp_after
    names = list(TRACK_IDS) if tracks else [f"round {k + 1}" for k in range(counts.shape[-1])]
    return {name: _by_column(few, name, counts, names) for name in factions}


def _here(table: Table, faction: str) -> tuple[np.ndarray, np.ndarray]:
    """Games and seats of a faction."""
    games, seats = np.nonzero(table.faction == table.faction_index(faction))
    return games, seats


def _with_things(table: Table, faction: str, key: str) -> list[Effect]:
    """VP of a faction above the others at its table, with each thing in the game."""
    games, seats = _here(table, faction)
    ahead = table.margin[games, seats][:, None]
    return pieces.in_play(
        dataclasses.replace(
            table, deal=table.deal[games], vp=ahead, setup={key: table.setup[key][games]}
        ),
        key,
    )


def _sources(table: Table, faction: str) -> list[Effect]:
    """VP by source above the mean of the table."""
    games, seats = _here(table, faction)
    names = table.names["source"]
    above = (table.sources - table.sources.mean(1, keepdims=True))[games, seats]
    kinds = np.tile(np.arange(len(names)), len(games))
    return means(above.ravel(), kinds, np.repeat(table.deal[games], len(names)), names)


def _by_column(table: Table, faction: str, counts: np.ndarray, names: list[str]) -> list[Effect]:
    """Means of counts (G, P, K) of a faction, by column."""
    games, seats = _here(table, faction)
    wide = counts.shape[-1]
    kinds = np.tile(np.arange(wide), len(games))
    values = counts[games, seats].astype(float).ravel()
    return means(values, kinds, np.repeat(table.deal[games], wide), names)


def write(page: Page, name: str, people: People) -> Path:
    """The page of all factions, after the front page has been written.

    Args:
        name: of the front page.
    Returns:
        The file.
    """
    strong = {e.name: e for e in page.found("factions")}
    page.lines = [
        TOP, "", f"Each faction by itself, from the games of [the findings]({name}.md). Best and "
        "worst of each row; bold is what stands out among all factions' answers to this row "
        "(Holm, 5 %). The largest of many is a little lucky.", "",
        "VP of a row are above the faction's own mean; with things in the game, beside the others "
        "at its table; by source, beside the mean of its table. Openings and sources are chosen, "
        "so they are no cause.", "",
    ]  # fmt: skip
    for faction in sorted(strong, key=lambda x: -strong[x].estimate):
        _chapter(page, faction, people)
    path = Path(f"{name}_factions.md")
    page.write(path.name)
    return path


def _chapter(page: Page, faction: str, people: People) -> None:
    strong = next(e for e in page.found("factions") if e.name == faction)
    won = next((e for e in page.found("won") if e.name == faction), None)
    known = people["factions"]
    theirs = "No figure of people's is known."
    if faction in known:
        apart = known[faction] - float(np.mean(list(known.values())))
        theirs = f"People's mean is {apart:+.1f} VP to that of 14 factions of the base game."
    other = page.other("factions", faction)
    before = f" The agent before: {interval(other)}." if other else ""
    share = f"{mean(percent(won), ' %', 0)} of {won.size:,} games won" if won else "few games"
    page.text(
        f"## {page.words.faction(faction)}", "",
        f"{interval(strong, ' VP')} to the mean faction, {share}. "
        f"{theirs}{before}",
    )  # fmt: skip
    rows = []
    for row in ROWS:
        answers = page.own.get(f"{faction}: {row}", [])
        if len(answers) > 1:
            ordered = sorted(answers, key=lambda e: -e.estimate)
            rows.append(f"| {row} | {_named(page, row, ordered[0])} | "
                        f"{_named(page, row, ordered[-1])} |")  # fmt: skip
    page.text("| | best | worst |", "| --- | --- | --- |", *rows)
    tracks, rounds = (page.own.get(f"{faction}: {row}", []) for row in (TRACKS, ROUNDS))
    if tracks and rounds:
        names = [page.words.of("tracks", e.name) for e in tracks] + [e.name for e in rounds]
        page.text(
            f"| | {' | '.join(names)} |", "| --- |" + " --- |" * len(names),
            "| level at the end, VP when a round ends | "
            + " | ".join([mean(e) for e in tracks] + [mean(e, "", 0) for e in rounds]) + " |",
        )  # fmt: skip


def _named(page: Page, row: str, effect: Effect) -> str:
    """A thing in words, with its VP."""
    return f"{page.words.of(QUESTIONS[row], effect.name)}: {bold(effect)}"
