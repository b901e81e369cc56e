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

Answers = dict[str, list[Effect]]  # by question, or by faction

MIN_ACQUISITIONS = 50  # of a component, over all games
MIN_OPENINGS = 12  # games of an opening of one faction
OPENING_FACTIONS = 4  # factions whose openings are reported
# Key of a set-up -> title; the question is `in_play_KEY`.
COMPONENTS_IN_PLAY = {
    "boosters": "Boosters in play", "advanced_tiles": "Advanced tiles in play",
    "artifacts": "Artifacts in play", "ship_tokens": "Federation tokens on ships",
    "final_missions": "Final missions", "tf5_token": "Token on terraforming 5",
}  # fmt: skip
# Keys of `COMPONENTS_IN_PLAY` with few components; all their effects are one family.
JOINT_FAMILY = ("advanced_tiles", "artifacts", "ship_tokens", "final_missions", "tf5_token")
# Key -> title, prefixes of the kinds of action; the question is `taken_KEY`.
ACQUIRED_ACTIONS = {
    "tiles": ("Tech tiles taken", ("tile ",)),
    "ships": ("Ships explored, and their actions", ("explore", "ship ")),
    "tokens": ("Federation tokens, by ship", ("token ",)),
    "boosters_taken": ("Boosters taken", ("booster ",)),
    "board_actions": ("Power actions", ("power ", "qic ")),
}
# Actions name a place; the component at a place differs between games.
# Key of a set-up -> verb of the action, title; the question is `taken_KEY_by_name`.
COMPONENTS_AT_PLACES = {
    "advanced_tiles": ("advanced", "Advanced tiles taken"),
    "artifacts": ("artifact", "Artifacts taken"),
    "ship_tokens": ("token", "Federation tokens from ships"),
}
# Name of an effect of `habits` -> prefixes of the kinds of action that it counts.
HABIT_ACTIONS = {
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
    **{f"in_play_{key}": title for key, title in COMPONENTS_IN_PLAY.items()},
    **{f"taken_{key}": title for key, (title, _) in ACQUIRED_ACTIONS.items()},
    **{f"taken_{key}_by_name": title for key, (_, title) in COMPONENTS_AT_PLACES.items()},
}  # fmt: skip
DESCRIPTIVE = {"board_counts"}  # numbers of the map, without an interval
# Questions whose estimates are means, not differences: reported without sign or significance.
MEAN_QUESTIONS = {
    "agents",
    "places",
    "won",
    "source_means",
    "board_counts",
    "habits",
    "levels",
    "offers",
}


def answer_for_games(table: GameTable, ruleset: Ruleset) -> Answers:
    """Answer the questions that need no decisions.

    Args:
        ruleset: that of the games.
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
        "opponents": _answer_opponents(table),
        "sources": strength.sources(table),
        "source_means": _average_columns(table.sources, table.deal, names["source"]),
    }
    answers |= opponent_pairs.split(answers["opponents"]) | _answer_planets_near_home(
        table, ruleset
    )
    groupings = [("place", strength.sources_by_place(table))]
    if len(names["agent"]) > 1:
        groupings.append(("agent", strength.sources_by_agent(table)))
    for group, by_source in groupings:
        answers |= {f"by {group} {source}": effects for source, effects in by_source.items()}
    for key in COMPONENTS_IN_PLAY:
        if key in table.setup:
            answers[f"in_play_{key}"] = component_effects.presence(table, key)
    small_keys = [f"in_play_{key}" for key in JOINT_FAMILY if f"in_play_{key}" in answers]
    # adjust_jointly drops effects that are not estimable and keeps the order of the others.
    adjusted = iter(adjust_jointly([e for key in small_keys for e in answers[key]]))
    answers |= {key: [next(adjusted) for _ in estimable(answers[key])] for key in small_keys}
    answers["round_tiles"] = component_effects.presence(table, "round_tiles")
    for index in (0, 5):
        effects = component_effects.presence(table, "round_tiles", index)
        answers[f"round_tiles_{index + 1}"] = effects
    return answers


def _answer_opponents(table: GameTable) -> list[Effect]:
    """Every faction with every opponent, as one family."""
    return adjust_jointly(
        [
            effect._replace(name=f"{faction} with {effect.name}")
            for faction in table.names["faction"]
            for effect in strength.opponents(table, faction)
        ]
    )


def _answer_planets_near_home(table: GameTable, ruleset: Ruleset) -> Answers:
    """VP for one more planet near home, for one more easy planet, and the number of planets."""
    near, easy = map_features.NAMES
    features = map_features.planets_near_home(table, ruleset)
    counts = features[near][np.isfinite(features[near])]
    if not len(counts):
        return {}
    both = strength.board_features(table, features)
    any_planet = strength.board_features(table, {near: features[near]})
    nan, size = math.nan, len(counts)
    return {
        "board": adjust_jointly([*any_planet, *(e for e in both if e.name == easy)]),
        "board_counts": [
            Effect(f"percentile {q}", float(np.percentile(counts, q)), nan, nan, size, False)
            for q in (10, 90)
        ],
    }  # fmt: skip


def answer_for_decisions(
    table: GameTable, decisions: DecisionCounts, places_by_key: Mapping[str, list[str]]
) -> Answers:
    """Answer the questions that need every decision.

    Args:
        places_by_key: key of `table.setup` -> the place of each entry of its list, from
            `dataset.json`.
    """
    habits = [
        decisions.counts_by_prefix(*prefixes)[0].sum(-1) for prefixes in HABIT_ACTIONS.values()
    ]
    habits.append(decisions.main_actions.sum(-1))
    habit_names = [*HABIT_ACTIONS, "main actions before passing"]
    answers: Answers = {
        "habits": _average_columns(np.stack(habits, -1), table.deal, habit_names),
        "levels": _average_columns(decisions.levels, table.deal, list(TRACKS)),
    }
    for key, (_, prefixes) in ACQUIRED_ACTIONS.items():
        answers |= _answer_acquisition(
            table, f"taken_{key}", *decisions.counts_by_prefix(*prefixes)
        )
    num_artifacts = np.asarray(table.setup.get("artifacts", [[]])).shape[-1]
    places_by_key = {**places_by_key, "artifacts": [str(n + 1) for n in range(num_artifacts)]}
    for key, (verb, _) in COMPONENTS_AT_PLACES.items():
        if places_by_key.get(key) and key in table.setup:
            names = [f"{verb} {place}" for place in places_by_key[key]]
            counts = decisions.counts_by_name(names)
            by_component = component_effects.counts_by_component(table, counts, key)
            answers |= _answer_acquisition(table, f"taken_{key}_by_name", *by_component)
    games = np.bincount(table.faction.ravel(), minlength=1)
    for k in np.argsort(-games, kind="stable")[:OPENING_FACTIONS]:
        faction = table.names["faction"][k]
        answers[f"openings_{faction}"] = decision_effects.openings(table, decisions, faction)
    answers["passing"] = decision_effects.passing(table, decisions)
    answers["turns"] = decision_effects.main_actions(table, decisions)
    answers["offers"] = decision_effects.shares_of_offers_taken(table, decisions)
    return answers | _answer_acquisition(table, "leech", *decisions.counts_by_prefix("leech "))


def _answer_acquisition(
    table: GameTable, key: str, counts: np.ndarray, names: list[str]
) -> Answers:
    """Effects of the components that were acquired often enough."""
    common = [k for k in range(len(names)) if counts[..., k].sum() >= MIN_ACQUISITIONS]
    if not common:
        return {}
    names = [names[k] for k in common]
    return {key: component_effects.acquisition(table, counts[..., common], names)}


def _average_columns(
    values: np.ndarray, deal: np.ndarray, names: list[str], is_seat: np.ndarray | None = None
) -> list[Effect]:
    """Means of the columns of values (G, P, K), of all seats or those where `is_seat` (G, P)."""
    games, seats = np.nonzero(np.ones(values.shape[:2], bool) if is_seat is None else is_seat)
    rows = values[games, seats].astype(float)
    columns = np.tile(np.arange(len(names)), len(rows))
    return means(rows.ravel(), columns, np.repeat(deal[games], len(names)), names)


def answer_for_factions(
    table: GameTable, decision_table: GameTable, decisions: DecisionCounts | None
) -> dict[str, Answers]:
    """Answer the questions about single factions.

    The effects of a question, of all factions, are one family.

    Args:
        decision_table: the games that `decisions` counts.
    Returns:
        Question -> faction -> effects.
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
        openings = partial(decision_effects.openings, decision_table, decisions)
        openings = partial(openings, depth=2, min_games=MIN_OPENINGS)
        rounds = [f"round {k + 1}" for k in range(decisions.vp_by_round.shape[-1])]
        levels = partial(_average_faction, decision_table, decisions.levels, list(TRACKS))
        vp_by_round = partial(_average_faction, decision_table, decisions.vp_by_round, rounds)
        questions |= {
            "first two main actions": (decision_table, openings),
            "research": (decision_table, levels),
            "VP by round": (decision_table, vp_by_round),
        }
    answers = {}
    for question, (question_table, find_effects) in questions.items():
        factions = [question_table.names["faction"][k] for k in np.unique(question_table.faction)]
        effects = {faction: find_effects(faction) for faction in factions}
        answers[question] = _adjust_as_family(effects)
    return answers


def _adjust_as_family(answers: Answers) -> Answers:
    """Adjust the effects of all factions jointly; effects without an interval are dropped."""
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
    # `presence` averages VP over the seats of a game: keep one seat, with its margin as VP.
    games, seat_index = np.nonzero(table.faction == table.faction_index(faction))
    margin = table.margin[games, seat_index][:, None]
    setup = {key: table.setup[key][games]}
    faction_table = dataclasses.replace(table, deal=table.deal[games], vp=margin, setup=setup)
    return component_effects.presence(faction_table, key)


def _sources_above_table(table: GameTable, faction: str) -> list[Effect]:
    """VP of a faction by source, above the mean of its table."""
    above = table.sources - table.sources.mean(1, keepdims=True)
    is_faction = table.faction == table.faction_index(faction)
    return _average_columns(above, table.deal, table.names["source"], is_faction)


def _average_faction(
    table: GameTable, values: np.ndarray, names: list[str], faction: str
) -> list[Effect]:
    is_faction = table.faction == table.faction_index(faction)
    return _average_columns(values, table.deal, names, is_faction)
