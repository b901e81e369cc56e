"""Every question that `gaia study` asks of a dataset, by key; an answer is a list of effects."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from gaia_jax.components.research import TRACKS
from gaia_jax.ruleset import Ruleset

from ..stats.effects import Effect, adjust_jointly, estimable, means
from . import component_effects, decision_effects, map_features, opponent_pairs, strength
from .decision_counts import DecisionCounts
from .game_table import GameTable

Answers = dict[str, list[Effect]]

MIN_ACQUISITIONS = 50  # of a component, over all games
MIN_OPENINGS = 12  # games of an opening of one faction
OPENING_FACTIONS = 4  # factions whose openings are reported
# Keys of a set-up; the answers are `in_play_KEY`.
COMPONENTS = {
    "boosters": "Boosters in play", "advanced_tiles": "Advanced tiles in play",
    "artifacts": "Artifacts in play", "ship_tokens": "Federation tokens on ships",
    "final_missions": "Final missions", "tf5_token": "Token on terraforming 5",
}  # fmt: skip
SMALL_FAMILIES = ("advanced_tiles", "artifacts", "ship_tokens", "final_missions", "tf5_token")
# Title and prefixes of the kinds of action; the answers are `taken_KEY`.
ACQUIRED = {
    "tiles": ("Tech tiles taken", ("tile ",)),
    "ships": ("Ships explored, and their actions", ("explore", "ship ")),
    "tokens": ("Federation tokens, by ship", ("token ",)),
    "boosters_taken": ("Boosters taken", ("booster ",)),
    "board_actions": ("Power actions", ("power ", "qic ")),
}
# Components at places that change from game to game, by key of the set-up: verb, title.
PLACED = {
    "advanced_tiles": ("advanced", "Advanced tiles taken"),
    "artifacts": ("artifact", "Artifacts taken"),
    "ship_tokens": ("token", "Federation tokens from ships"),
}
HABITS = {
    "federations formed": ("form_federation",),
    "steps of research chosen": ("advance ",),
    "ships explored": ("explore ",),
    "artifacts taken": ("artifact ",),
    "offers of leech taken": ("leech CHARGE", "leech TOKEN_FIRST"),
    "offers of leech declined": ("leech DECLINE",),
}
TITLES = {
    "agents": "VP of a seat, by agent", "places": "VP by place", "won": "Share of games won",
    "factions": "Strength of the factions, at the same deal",
    "seats": "VP by place in the turn order of round 1",
    "opponents": "VP of a faction with each opponent",
    "against": "What an opponent does to all at its table",
    "pairs": "A faction with an opponent, beyond what the opponent does to all",
    "sources": "Winners above the others, by source", "source_means": "VP of a seat by source",
    "board": "One planet more near home", "board_counts": "Planets near home",
    "round_tiles": "Round tiles", "round_tiles_1": "Round tiles in round 1",
    "round_tiles_6": "Round tiles in round 6",
    "habits": "Actions of a seat in a game", "levels": "Research level at the end",
    "passing": "Passing one place later", "turns": "One more main action before passing",
    "offers": "Percentage of power offers taken, by cost", "leech": "One more leech offer",
    **{f"in_play_{key}": title for key, title in COMPONENTS.items()},
    **{f"taken_{key}": title for key, (title, _) in ACQUIRED.items()},
    **{f"taken_{key}_by_name": title for key, (_, title) in PLACED.items()},
}  # fmt: skip
MEANS = {"agents", "places", "won", "source_means", "board_counts", "habits", "levels", "offers"}


def of_games(table: GameTable, ruleset: Ruleset) -> Answers:
    """Answer the questions that need no decisions.

    Args:
        ruleset: of the games.
    """
    deal, names = np.repeat(table.deal, table.players), table.names
    place = np.floor(table.place).astype(int).ravel() - 1
    places = [f"place {n + 1}" for n in range(table.players)]
    answers: Answers = {
        "agents": means(table.vp.ravel(), table.agent.ravel(), deal, names["agent"]),
        "places": means(table.vp.ravel(), place, deal, places),
        "won": means(table.win.ravel(), table.faction.ravel(), deal, names["faction"]),
        "factions": strength.factions(table),
        "seats": strength.seats(table),
        "opponents": _opponents(table),
        "sources": strength.sources(table),
        "source_means": _column_means(table.sources, table.deal, names["source"]),
    }
    answers |= opponent_pairs.split(answers["opponents"]) | _planets_near_home(table, ruleset)
    groupings = [("place", strength.sources_by_place(table))]
    if len(names["agent"]) > 1:
        groupings.append(("agent", strength.sources_by_agent(table)))
    for group, by_source in groupings:
        answers |= {f"by {group} {source}": effects for source, effects in by_source.items()}
    for key in COMPONENTS:
        if key in table.setup:
            answers[f"in_play_{key}"] = component_effects.presence(table, key)
    small = [f"in_play_{key}" for key in SMALL_FAMILIES if f"in_play_{key}" in answers]
    adjusted = iter(adjust_jointly([e for key in small for e in answers[key]]))
    answers |= {key: [next(adjusted) for _ in estimable(answers[key])] for key in small}
    answers["round_tiles"] = component_effects.presence(table, "round_tiles")
    for index in (0, 5):
        effects = component_effects.presence(table, "round_tiles", index)
        answers[f"round_tiles_{index + 1}"] = effects
    return answers


def _opponents(table: GameTable) -> list[Effect]:
    """Every faction with every opponent, as one family."""
    return adjust_jointly(
        [
            effect._replace(name=f"{faction} with {effect.name}")
            for faction in table.names["faction"]
            for effect in strength.opponents(table, faction)
        ]
    )


def _planets_near_home(table: GameTable, ruleset: Ruleset) -> Answers:
    """VP for one more planet, and for one more that is easy to terraform; how many there are."""
    near, easy = map_features.NAMES
    features = map_features.planets_near_home(table, ruleset)
    counts = features[near][np.isfinite(features[near])]
    if not len(counts):
        return {}
    both = strength.board(table, features)
    any_planet = strength.board(table, {near: features[near]})
    nan, size = math.nan, len(counts)
    return {
        "board": adjust_jointly([*any_planet, *(e for e in both if e.name == easy)]),
        "board_counts": [
            Effect(f"percentile {q}", float(np.percentile(counts, q)), nan, nan, size, False)
            for q in (10, 90)
        ],
    }  # fmt: skip


def of_decisions(
    table: GameTable, decisions: DecisionCounts, slots: Mapping[str, list[str]]
) -> Answers:
    """Answer the questions that need every decision.

    Args:
        slots: names of the places of a set-up's lists, as in `dataset.json`.
    """
    habits = [decisions.with_prefix(*prefixes)[0].sum(-1) for prefixes in HABITS.values()]
    habits.append(decisions.main_actions.sum(-1))
    habit_names = [*HABITS, "main actions before passing"]
    answers: Answers = {
        "habits": _column_means(np.stack(habits, -1), table.deal, habit_names),
        "levels": _column_means(decisions.levels, table.deal, list(TRACKS)),
    }
    for key, (_, prefixes) in ACQUIRED.items():
        answers |= _acquired(table, f"taken_{key}", *decisions.with_prefix(*prefixes))
    num_artifacts = np.asarray(table.setup.get("artifacts", [[]])).shape[-1]
    places = {**slots, "artifacts": [str(n + 1) for n in range(num_artifacts)]}
    for key, (verb, _) in PLACED.items():
        if places.get(key) and key in table.setup:
            counts = decisions.named([f"{verb} {place}" for place in places[key]])
            by_component = component_effects.counts_by_component(table, counts, key)
            answers |= _acquired(table, f"taken_{key}_by_name", *by_component)
    games = np.bincount(table.faction.ravel(), minlength=1)
    for k in np.argsort(-games, kind="stable")[:OPENING_FACTIONS]:
        faction = table.names["faction"][k]
        answers[f"openings_{faction}"] = decision_effects.openings(table, decisions, faction)
    answers["passing"] = decision_effects.passing(table, decisions)
    answers["turns"] = decision_effects.main_actions(table, decisions)
    answers["offers"] = decision_effects.offers(table, decisions)
    return answers | _acquired(table, "leech", *decisions.with_prefix("leech "))


def _acquired(table: GameTable, key: str, counts: np.ndarray, names: list[str]) -> Answers:
    """Effects of the components that were acquired often enough."""
    common = [k for k in range(len(names)) if counts[..., k].sum() >= MIN_ACQUISITIONS]
    if not common:
        return {}
    names = [names[k] for k in common]
    return {key: component_effects.acquisition(table, counts[..., common], names)}


def _column_means(
    values: np.ndarray, deal: np.ndarray, names: list[str], is_seat: np.ndarray | None = None
) -> list[Effect]:
    """Means of the columns of values (G, P, K), of all seats or those that are chosen (G, P)."""
    games, seats = np.nonzero(np.ones(values.shape[:2], bool) if is_seat is None else is_seat)
    rows = values[games, seats].astype(float)
    columns = np.tile(np.arange(len(names)), len(rows))
    return means(rows.ravel(), columns, np.repeat(deal[games], len(names)), names)


def of_factions(
    table: GameTable, decided: GameTable, decisions: DecisionCounts | None
) -> dict[str, Answers]:
    """Answer the questions about single factions: question -> faction -> effects.

    The factions of a question are one family.

    Args:
        decided: the games that `decisions` are of.
    """
    questions: dict[str, tuple[GameTable, Callable[[str], list[Effect]]]] = {
        "place in the turn order": (table, partial(strength.seats, table)),
        "with, at the table": (table, partial(strength.opponents, table)),
    }
    for key, question in (
        ("final_missions", "final mission in the game"),
        ("round_tiles", "round tile in the game"), ("boosters", "booster in the game"),
    ):  # fmt: skip
        if key in table.setup:
            questions[question] = (table, partial(_presence_for_faction, table, key=key))
    questions["source of VP"] = (table, partial(_sources_above_table, table))
    if decisions is not None:
        openings = partial(decision_effects.openings, decided, decisions)
        openings = partial(openings, depth=2, min_games=MIN_OPENINGS)
        rounds = [f"round {k + 1}" for k in range(decisions.vp_after.shape[-1])]
        levels = partial(_faction_means, decided, decisions.levels, list(TRACKS))
        vp_after = partial(_faction_means, decided, decisions.vp_after, rounds)
        questions |= {
            "first two main actions": (decided, openings),
            "research": (decided, levels),
            "VP by round": (decided, vp_after),
        }
    answers = {}
    for question, (games, answer) in questions.items():
        factions = [games.names["faction"][k] for k in np.unique(games.faction)]
        answers[question] = _as_family({faction: answer(faction) for faction in factions})
    return answers


def _as_family(answers: Answers) -> Answers:
    """Adjust the effects of all factions jointly; without those that have no interval."""
    family: Answers = {}
    prefixed = [
        e._replace(name=f"{f}: {e.name}") for f, effects in answers.items() for e in effects
    ]
    for effect in adjust_jointly(prefixed):
        faction, _, name = effect.name.partition(": ")
        family.setdefault(faction, []).append(effect._replace(name=name))
    return family


def _presence_for_faction(table: GameTable, faction: str, key: str) -> list[Effect]:
    """VP of a faction above the others at its table, by component in play."""
    games, seats = np.nonzero(table.faction == table.faction_index(faction))
    margin = table.margin[games, seats][:, None]
    setup = {key: table.setup[key][games]}
    rows = dataclasses.replace(table, deal=table.deal[games], vp=margin, setup=setup)
    return component_effects.presence(rows, key)


def _sources_above_table(table: GameTable, faction: str) -> list[Effect]:
    """VP of a faction by source, above the mean of its table."""
    above = table.sources - table.sources.mean(1, keepdims=True)
    is_faction = table.faction == table.faction_index(faction)
    return _column_means(above, table.deal, table.names["source"], is_faction)


def _faction_means(
    table: GameTable, values: np.ndarray, names: list[str], faction: str
) -> list[Effect]:
    is_faction = table.faction == table.faction_index(faction)
    return _column_means(values, table.deal, names, is_faction)
