"""The numbers of a page of findings: questions by name, each a list of effects.

`save` stores them as JSON, so that a page can compare them after the games are deleted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gaia_jax.cli.command_line import UserError
from gaia_jax.components.research import TRACKS
from gaia_jax.ruleset import Ruleset

from ..games import dataset
from ..stats.effects import CONFIDENCE, Effect, estimable, means, reliability, together
from ..system import atomic_files, data_files
from ..system.data_files import LIST, NUMBER, OBJECT, SWITCH, TEXT
from ..system.data_files import WHOLE as COUNT
from . import board, pairs, pieces, play, strength
from .decided import Decided
from .table import Table

Figures = dict[str, list[Effect]]

FORMAT = "gaia_jax figures 1"
OURS = atomic_files.begins(json.dumps({"format": FORMAT})[:-1])  # the mark of `save`
DIGITS = 4
LONGEST = 10**7  # bytes
# What the keys of the file hold, and a row of an effect.
KEYS = {"format": TEXT, "games": COUNT, "deals": COUNT, "about": OBJECT, "figures": OBJECT}
EFFECT = (TEXT, NUMBER, NUMBER, NUMBER, COUNT, SWITCH)
LEAST = 50  # so often at least a thing was taken
FEWEST = 8  # things whose orders are compared
RELIABLE = 0.2  # below it an answer says too little about what it would be without noise
OPENED = 4  # factions whose openings are shown
# What lies in a game: key of a set-up, title.
IN_PLAY = (
    ("boosters", "Boosters in play"), ("advanced_tiles", "Advanced tiles in play"),
    ("artifacts", "Artifacts in play"), ("ship_tokens", "Federation tokens on ships"),
    ("final_missions", "Final missions"), ("tf5_token", "Token on terraforming 5"),
)  # fmt: skip
# Of these, what is judged together, beside boosters and round tiles.
LITTLE = ("advanced_tiles", "artifacts", "ship_tokens", "final_missions", "tf5_token")
# What a seat does: name, the kinds of action that it is.
HABITS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("federations formed", ("form_federation",)),
    ("steps of research chosen", ("advance ",)),
    ("ships explored", ("explore ",)),
    ("artifacts taken", ("artifact ",)),
    ("offers of leech taken", ("leech CHARGE", "leech TOKEN_FIRST")),
    ("offers of leech declined", ("leech DECLINE",)),
)
# What a seat takes: name of the question, title, the kinds of action that it is.
TAKEN: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("tiles", "Tech tiles taken", ("tile ",)),
    ("ships", "Ships explored, and their actions", ("explore", "ship ")),
    ("tokens", "Federation tokens, by ship where they lie on one", ("token ",)),
    ("boosters_taken", "Boosters taken", ("booster ",)),
    ("board_actions", "Power actions", ("power ", "qic ")),
)
# What lies at places that differ from game to game: verb, title, key of a set-up.
PLACED = (
    ("advanced", "Advanced tiles taken", "advanced_tiles"),
    ("artifact", "Artifacts taken", "artifacts"),
    ("token", "Federation tokens from ships", "ship_tokens"),
)


class Known(NamedTuple):
    """The figures of a dataset, and what it is."""

    games: int
    deals: int
    about: dict[str, Any]  # its `dataset.json`
    figures: Figures


def of_games(table: Table, ruleset: Ruleset) -> Figures:
    """What needs no decision.

    Args:
        ruleset: of the games.
    """
    deal, names = np.repeat(table.deal, table.players), table.names
    place = np.floor(table.place).astype(int).ravel() - 1
    places = [f"place {n + 1}" for n in range(table.players)]
    out: Figures = {
        "agents": means(table.vp.ravel(), table.agent.ravel(), deal, names["agent"]),
        "places": means(table.vp.ravel(), place, deal, places),
        "won": means(table.win.ravel(), table.faction.ravel(), deal, names["faction"]),
        "factions": strength.factions(table),
        "seats": strength.seats(table),
        "opponents": _pairs(table),
        "sources": strength.sources(table),
        "source_means": _source_means(table, deal),
    }
    out |= pairs.split(out["opponents"]) | _board(table, ruleset)
    groupings = [("place", strength.sources_by_place(table))]
    if len(names["agent"]) > 1:
        groupings.append(("agent", strength.sources_by_agent(table)))
    for kind, by_source in groupings:
        out |= {f"by {kind} {source}": effects for source, effects in by_source.items()}
    for key, _ in IN_PLAY:
        if key in table.setup:
            out[f"in_play_{key}"] = pieces.in_play(table, key)
    little = [f"in_play_{key}" for key in LITTLE if f"in_play_{key}" in out]
    judged = iter(together([e for key in little for e in estimable(out[key])]))
    out |= {key: [next(judged) for _ in estimable(out[key])] for key in little}
    out["round_tiles"] = pieces.in_play(table, "round_tiles")
    for at in (0, 5):
        out[f"round_tiles_{at + 1}"] = pieces.in_play(table, "round_tiles", at)
    return out


def _board(table: Table, ruleset: Ruleset) -> Figures:
    """VP for one planet more near home, and for one that is easy; how many there are.

    What an easy one gives is beyond what any planet gives.
    """
    near, easy = board.NAMES
    features = board.features(table, ruleset)
    counts = features[near][np.isfinite(features[near])]
    if not len(counts):
        return {}
    both = strength.board(table, features)
    one = strength.board(table, {near: features[near]})
    nan, size = math.nan, len(counts)
    return {
        "board": together([*one, *(e for e in both if e.name == easy)]),
        "board_counts": [
            Effect(f"percentile {at}", float(np.percentile(counts, at)), nan, nan, size, False)
            for at in (10, 90)
        ],
    }  # fmt: skip


def _source_means(table: Table, deal: np.ndarray) -> list[Effect]:
    """VP of a seat by source."""
    every, out = np.zeros(len(deal), int), []
    for k, name in enumerate(table.names["source"]):
        out += means(table.sources[..., k].astype(float).ravel(), every, deal, [name])
    return out


def _pairs(table: Table) -> list[Effect]:
    """Every faction with every opponent, judged together."""
    out = []
    for name in table.names["faction"]:
        effects = strength.opponents(table, name)
        out += [e._replace(name=f"{name} with {e.name}") for e in effects]
    return together(out)


def of_decisions(table: Table, done: Decided, slots: Mapping[str, list[str]]) -> Figures:
    """What needs every decision.

    Args:
        slots: what the places of the set-up's lists are called, as in `dataset.json`.
    """
    out: Figures = {"habits": _habits(table, done), "levels": _levels(table, done)}
    for name, _, starts in TAKEN:
        out |= _taken(table, f"taken_{name}", *done.of(*starts))
    artifacts = [
        str(n + 1) for n in range(np.asarray(table.setup.get("artifacts", [[]])).shape[-1])
    ]
    for verb, _, key in PLACED:
        places = artifacts if key == "artifacts" else slots.get(key, [])
        if places and key in table.setup:
            counts = done.at([f"{verb} {place}" for place in places])
            name = f"taken_{key}_by_name"
            out |= _taken(table, name, *pieces.by_thing(table, counts, key))
    counts = np.bincount(table.faction.ravel(), minlength=1)
    for k in np.argsort(-counts, kind="stable")[:OPENED]:
        name = table.names["faction"][k]
        out[f"openings_{name}"] = play.openings(table, done, name)
    out |= {"passing": play.passing(table, done), "turns": play.turns(table, done)}
    out["offers"] = play.offers(table, done)
    return out | _taken(table, "leech", *done.of("leech "))


def _levels(table: Table, done: Decided) -> list[Effect]:
    """The level of a seat at the end, by track."""
    wide = done.levels.shape[-1]
    kinds = np.tile(np.arange(wide), table.vp.size)
    deal = np.repeat(table.deal, table.players * wide)
    return means(done.levels.astype(float).ravel(), kinds, deal, list(TRACKS))


def _habits(table: Table, done: Decided) -> list[Effect]:
    """What a seat does in a game."""
    counts = [(name, done.of(*starts)[0].sum(-1)) for name, starts in HABITS]
    counts.append(("main actions before passing", done.turns.sum(-1)))
    deal, out = np.repeat(table.deal, table.players), []
    for name, count in counts:
        flat = count.astype(float).ravel()
        out += means(flat, np.zeros(len(flat), int), deal, [name])
    return out


def _taken(table: Table, name: str, counts: np.ndarray, names: list[str]) -> Figures:
    """What was taken often enough."""
    often = [k for k in range(len(names)) if counts[..., k].sum() >= LEAST]
    if not often:
        return {}
    return {name: pieces.taken(table, counts[..., often], [names[k] for k in often])}


def save(path: Path, data: Path, table: Table, effects_by_question: Figures) -> None:
    """Write the figures of a dataset as JSON.

    Args:
        data: its folder; table: its games.
    """
    head = {
        "format": FORMAT, "games": len(table.vp), "deals": len(np.unique(table.deal)),
        "about": dataset.read_about(data),
    }  # fmt: skip
    lines = [
        f" {json.dumps(key)}: {json.dumps(_rows(rows))}"
        for key, rows in effects_by_question.items()
    ]
    text = json.dumps(head)[:-1] + ',\n"figures": {\n' + ",\n".join(lines) + "\n}}\n"
    atomic_files.write_text(path, text)


def _rows(effects: list[Effect]) -> list[list[Any]]:
    """Effects as lists; null for what has no estimate."""
    return [
        [e.name, *(round(x, DIGITS) if math.isfinite(x) else None for x in e[1:4]), *e[4:]]
        for e in effects
    ]


def load(path: Path) -> Known:
    """What `save` wrote.

    Raises:
        UserError: `save` did not write the file, or it is damaged.
    """
    payload = data_files.read_json(path, "the figures", LONGEST)
    data_files.check_keys(str(path), payload, KEYS)
    if payload["format"] != FORMAT:
        raise UserError(f"{path} has no format {FORMAT!r}")
    dataset.check_about(f"{path}: about", payload["about"])
    effects_by_question = {
        key: [_effect(f"{path}: figures.{key}", row) for row in _listed(path, key, rows)]
        for key, rows in payload["figures"].items()
    }
    if not effects_by_question.get("agents"):
        raise UserError(f"{path}: figures.agents is missing")
    effects_by_question |= pairs.split(effects_by_question.get("opponents", []))
    return Known(payload["games"], payload["deals"], payload["about"], effects_by_question)


def _listed(path: Path, key: str, rows: Any) -> list[Any]:
    data_files.check_kind(f"{path}: figures.{key}", rows, LIST)
    return list(rows)


def _effect(where: str, row: Any) -> Effect:
    """A row of `_rows` as an effect."""
    if not isinstance(row, list) or len(row) != len(Effect._fields):
        raise UserError(f"{where} has an invalid row: {data_files.shown(row)}")
    for name, kind, value in zip(Effect._fields, EFFECT, row, strict=True):
        if value is not None or kind != NUMBER:
            data_files.check_kind(f"{where}: {name}", value, kind)
    return Effect._make(math.nan if x is None else x for x in row)


def rank_correlation(name: str, one: Sequence[float], other: Sequence[float]) -> Effect:
    """Spearman's rank correlation of N pairs with its 95 % interval (Bonett and Wright 2000).

    The N things are the sample: the interval says how far other N like them would agree. It has
    none below FEWEST things, or where all are alike.
    """
    count = len(one)
    if count < FEWEST or len(set(one)) < 2 or len(set(other)) < 2:
        return Effect(name, math.nan, math.nan, math.nan, count, False)
    rank = float(stats.spearmanr(one, other).statistic)
    half = stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt((1 + rank**2 / 2) / (count - 3))
    middle = math.atanh(min(max(rank, -0.9999), 0.9999))
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Effect(name, rank, low, high, count, low > 0 or high < 0)


def agreement(name: str, own: list[Effect], other: list[Effect]) -> tuple[Effect, float]:
    """How alike two agents' answers to one question rank, thing by thing.

    Returns:
        The rank correlation, and its value without the noise of both answers (Spearman 1904), at
        most 1; nan where either is mostly noise.
    """
    theirs = {e.name: e for e in estimable(other)}
    both = [(e, theirs[e.name]) for e in estimable(own) if e.name in theirs]
    one, two = [a for a, _ in both], [b for _, b in both]
    rank = rank_correlation(name, [e.estimate for e in one], [e.estimate for e in two])
    parts = [reliability(x) for x in (one, two)]
    sure = len(both) >= FEWEST and min(parts) >= RELIABLE
    cleared = min(max(rank.estimate / math.sqrt(parts[0] * parts[1]), -1), 1) if sure else math.nan
    return rank, cleared
