"""The Automa's turns in words: a row for each part, and what was considered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gaia_jax.components import automa
from gaia_jax.components.automa import DecisionCard
from gaia_jax.render import automa_turns
from gaia_jax.render.automa_turns import AutomaTurn, Option, Step
from gaia_jax.render.names import PLANETS, STRUCTURES, TRACK_NAMES, names
from gaia_jax.render.texts import TEXTS
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AUTOMA

ACTIONS, LEVEL_NAMES = TEXTS["automa_action"], TEXTS["automa_level"]
_RULES = TEXTS["automa_tie_breaker"]
_MISSIONS = {automa.UPPER: "upper mission", automa.LOWER: "lower mission"}
_BOOSTERS = {automa.LEFT: "left", automa.MIDDLE: "middle", automa.RIGHT: "right"}


def turn_json(turn: AutomaTurn, ruleset: Ruleset) -> dict[str, Any]:
    """A turn as pages show it.

    Returns:
        `player`, `round` and `vp`; `moves`, the cards and the parts of the action, as rows with
        `text`, `words` and `effects_text`; `details`, rows with `words`, `at` and `chosen`.
    """
    return {
        "player": AUTOMA,
        "round": turn.round,
        "vp": turn.vp,
        "moves": list(_moves(turn, ruleset)),
        "details": list(_details(turn, ruleset)),
    }


def turn_lines(turn: AutomaTurn, ruleset: Ruleset) -> Iterator[str]:
    """A turn as text: a line with its parts and VP, then a line for each detail."""
    parts = [row["words"] for row in _moves(turn, ruleset)]
    notes = [row["effects_text"] for row in _moves(turn, ruleset) if row["effects_text"]]
    vp = f"{turn.vp:+} VP" if turn.vp else "0 VP"
    yield f"{'; '.join(parts)}  ({'; '.join([*notes, vp] if turn.number else notes)})"
    for row in _details(turn, ruleset):
        yield f"{'* ' if row['chosen'] else '- ' if row['at'] else ''}{row['words']}"


def card_words(card: DecisionCard) -> str:
    """Both columns of a decision card: its action, and how it supports the next one."""
    red = ", red" if card.red else ""
    return f"card {card.number}: {ACTIONS[card.action]}, {card.vp} VP{red}; {_support(card)}"


def _support(card: DecisionCard) -> str:
    mission = _MISSIONS.get(card.mission, "no mission")
    return (
        f"supports with range {card.range}, from the {_corner(card)}, {_number(card)}, {mission},"
        f" {_BOOSTERS[card.booster]} booster"
    )


def _corner(card: DecisionCard) -> str:
    return "bottom right" if card.reverse else "top left"


def _number(card: DecisionCard) -> str:
    return f"number {card.number_chosen} from the {'right' if card.from_right else 'left'}"


def _cards(turn: AutomaTurn, ruleset: Ruleset) -> tuple[DecisionCard, DecisionCard | None]:
    """The support card and the action card."""
    assert ruleset.automa is not None
    by_number = {card.number: card for card in ruleset.automa.cards}
    return by_number[turn.support], by_number.get(turn.action)


def _moves(turn: AutomaTurn, ruleset: Ruleset) -> Iterator[dict[str, str]]:
    support = None
    if turn.number:
        support, action = _cards(turn, ruleset)
        if turn.passes:
            reason = f"card {turn.action} is red" if action else "no card is left"
            words = f"{reason}: pass"
        else:
            assert action is not None
            words = f"card {turn.action}: {ACTIONS[action.action]}"
        yield {"text": "card", "words": words, "effects_text": f"card {turn.support} supports"}
    for step in turn.steps:
        notes = [_reason(step, turn, support)] if support else []
        if step.verb == automa_turns.MINE_ON and turn.satellite:
            notes.append("+satellite")
        if step.verb in (automa_turns.MINE_ON, automa_turns.UPGRADE) and turn.offered:
            notes.append(f"{turn.offered} power offered")
        text = f"{step.verb} {step.place}"
        yield {
            "text": text,
            "words": _step_words(step, ruleset),
            "effects_text": "; ".join(note for note in notes if note),
        }


def _step_words(step: Step, ruleset: Ruleset) -> str:
    """What happens, without its reason."""
    place = step.place
    if step.verb == automa_turns.MINE_ON:
        return f"mine on {place}: {PLANETS[step.before]}"
    if step.verb == automa_turns.UPGRADE:
        return f"upgrade on {place}: {STRUCTURES[step.before]} to {STRUCTURES[step.after]}"
    if step.verb == automa_turns.ADVANCE:
        return f"{TRACK_NAMES[place]} {step.before} to {step.after}"
    if step.verb == automa_turns.REMOVE:
        tile = names(ruleset)["advanced"][step.before]
        return f"{TRACK_NAMES[place]} stays at 4, its advanced tile is removed: {tile}"
    left = f", and on its left {_name(step, ruleset, step.after)}" if step.after else ""
    return f"{step.verb}: {_name(step, ruleset)}{left}"


def _name(step: Step, ruleset: Ruleset, place: str = "") -> str:
    """A track, an action space, a ship or a booster in words."""
    named, id = names(ruleset), place or step.place
    for kind in ("track", "booster", "power_action", "qic_action", "ship_action", "ship"):
        if id in named.get(kind, {}):
            return named[kind][id]
    return id


def _reason(step: Step, turn: AutomaTurn, support: DecisionCard) -> str:
    """What decided, and among how many."""
    count = len(step.options)
    if step.verb == automa_turns.BOOSTER:
        return f"the {_BOOSTERS[support.booster]} one of {count}"
    if step.decided_by == automa_turns.NUMBER:
        return f"{_number(support)} of {count}"
    within = f" planets within {turn.reach}" if step.verb == automa_turns.MINE_ON else ""
    if count == 1:
        return within.replace(" planets", "the only planet") or "the only option"
    return f"of {count}{within}: {_rule(step.decided_by, 'won', support)}"


def _rule(name: str, key: str, support: DecisionCard) -> str:
    text: str = _RULES[name][key]
    return text.replace("{from}", _corner(support))


def _details(turn: AutomaTurn, ruleset: Ruleset) -> Iterator[dict[str, Any]]:
    """The cards, then all options of each part that had several."""
    if not turn.number:
        return
    support, action = _cards(turn, ruleset)
    yield _detail(f"card {support.number} {_support(support)}")
    if action:
        red = ", red" if action.red else ""
        left = f"{turn.cards_left} card{'s' * (turn.cards_left != 1)} left"
        acts = f"card {action.number} acts: {ACTIONS[action.action]}, {action.vp} VP{red}"
        yield _detail(f"{acts}; {left}")
    for step in turn.steps:
        if len(step.options) < 2:
            continue
        for option in step.options:
            at = option.place if option.planet else ""
            yield _detail(_option_words(option, step, support, ruleset), at, not option.lost_by)


def _detail(words: str, at: str = "", chosen: bool = False) -> dict[str, Any]:
    return {"words": words, "at": at, "chosen": chosen}


def _option_words(option: Option, step: Step, support: DecisionCard, ruleset: Ruleset) -> str:
    if not option.planet:
        return _name(step, ruleset, option.place) + ("" if option.lost_by else ": chosen")
    facts = [f"{option.place}: {PLANETS[option.planet]}"]
    if "steps" in option.values:
        steps = option.values["steps"]
        facts.append(f"{steps} step{'s' * (steps != 1)}")
    facts.append(f"distance {option.values['distance']}")
    verdict = _rule(option.lost_by, "lost", support) if option.lost_by else "chosen"
    return f"{', '.join(facts)}: {verdict}"
