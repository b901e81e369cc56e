"""The Automa's turns in words: a row for each part, and what was considered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gaia_jax.components import automa
from gaia_jax.components.automa import DecisionCard
from gaia_jax.language import fill_in
from gaia_jax.render import automa_turns
from gaia_jax.render.automa_turns import AutomaTurn, Option, Step
from gaia_jax.render.names import PLANETS, STRUCTURES, TRACK_NAMES, names
from gaia_jax.render.texts import TEXTS, phrase
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AUTOMA

ACTIONS, LEVEL_NAMES = TEXTS["automa_action"], TEXTS["automa_level"]
_RULES = TEXTS["automa_tie_breaker"]
_MISSIONS = {automa.UPPER: "upper-mission", automa.LOWER: "lower-mission"}
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
    vp = phrase("amount", n=f"{turn.vp:+}" if turn.vp else 0, unit=TEXTS["amount"]["vp"]["one"])
    yield f"{'; '.join(parts)}  ({'; '.join([*notes, vp] if turn.number else notes)})"
    for row in _details(turn, ruleset):
        yield f"{'* ' if row['chosen'] else '- ' if row['at'] else ''}{row['words']}"


def card_words(card: DecisionCard) -> str:
    """Both columns of a decision card: its action, and how it supports the next one."""
    return f"{phrase('card-acts', n=card.number, text=_action(card))}; {_support(card)}"


def _action(card: DecisionCard) -> str:
    """The right column of a card: action, VP and colour."""
    return phrase("card-action", action=ACTIONS[card.action], vp=card.vp) + phrase("red") * card.red


def _support(card: DecisionCard) -> str:
    mission = phrase(_MISSIONS.get(card.mission, "no-mission"))
    booster = phrase("booster-at", side=phrase(_BOOSTERS[card.booster]))
    values = {"corner": _corner(card), "number": _number(card), "booster": booster}
    return phrase("card-supports", range=card.range, mission=mission, **values)


def _corner(card: DecisionCard) -> str:
    return phrase("bottom-right" if card.reverse else "top-left")


def _number(card: DecisionCard) -> str:
    side = "number-from-right" if card.from_right else "number-from-left"
    return phrase(side, n=card.number_chosen)


def _cards(turn: AutomaTurn, ruleset: Ruleset) -> tuple[DecisionCard, DecisionCard | None]:
    """The support card and the action card."""
    assert ruleset.automa is not None
    by_number = {card.number: card for card in ruleset.automa.cards}
    return by_number[turn.support], by_number.get(turn.action)


def _moves(turn: AutomaTurn, ruleset: Ruleset) -> Iterator[dict[str, str]]:
    if turn.number:
        support, action = _cards(turn, ruleset)
        if turn.passes:
            reason = phrase("card-is-red", n=turn.action) if action else phrase("no-card-left")
            words = phrase("labelled", label=reason, text=TEXTS["verb"]["pass"]["words"])
        else:
            assert action is not None
            words = phrase("card-acts", n=turn.action, text=ACTIONS[action.action])
        supports = phrase("card-supports-briefly", n=turn.support)
        yield {"text": "card", "words": words, "effects_text": supports}
    for step in turn.steps:
        notes = [_reason(step, turn, _deciding_card(step, turn, ruleset))]
        if step.card:
            notes.append(phrase("card", n=step.card))
        if step.verb == automa_turns.MINE_ON and turn.satellite:
            notes.append(f"+{phrase('satellite')}")
        if step.verb in (automa_turns.MINE_ON, automa_turns.UPGRADE) and turn.offered:
            notes.append(phrase("n-power-offered", n=turn.offered))
        text = f"{step.verb} {step.place}"
        yield {
            "text": text,
            "words": _step_words(step, ruleset),
            "effects_text": "; ".join(note for note in notes if note),
        }


def _deciding_card(step: Step, turn: AutomaTurn, ruleset: Ruleset) -> DecisionCard:
    """The card whose left column decides: the support card, in the set-up the step's own."""
    assert ruleset.automa is not None
    return next(x for x in ruleset.automa.cards if x.number == (step.card or turn.support))


def _step_words(step: Step, ruleset: Ruleset) -> str:
    """The step in words, without its reason."""
    place = step.place
    if step.verb == automa_turns.MINE_ON:
        mine = fill_in(TEXTS["verb"]["mine"]["words"], name=place)
        return phrase("labelled", label=mine, text=PLANETS[step.before])
    if step.verb == automa_turns.UPGRADE:
        upgrade = fill_in(TEXTS["verb"]["upgrade"]["words"], name=place)
        structures = phrase("from-to", old=STRUCTURES[step.before], new=STRUCTURES[step.after])
        return phrase("labelled", label=upgrade, text=structures)
    if step.verb == automa_turns.ADVANCE:
        return phrase("number-change", name=TRACK_NAMES[place], old=step.before, new=step.after)
    if step.verb == automa_turns.REMOVE:
        tile = names(ruleset)["advanced"][step.before]
        return phrase("tile-removed", track=TRACK_NAMES[place], tile=tile)
    left = phrase("on-its-left", name=_name(step, ruleset, step.after)) if step.after else ""
    label = TEXTS["automa_step"].get(step.verb, step.verb)
    return phrase("labelled", label=label, text=_name(step, ruleset)) + left


def _name(step: Step, ruleset: Ruleset, place: str = "") -> str:
    """A track, an action space, a ship or a booster in words."""
    named, id = names(ruleset), place or step.place
    for kind in ("track", "booster", "power_action", "qic_action", "ship_action", "ship"):
        if id in named.get(kind, {}):
            return named[kind][id]
    return id


def _reason(step: Step, turn: AutomaTurn, support: DecisionCard) -> str:
    """The rule that decided, and the number of options."""
    count = len(step.options)
    if step.verb == automa_turns.BOOSTER and step.card:
        number = phrase("number-from-left", n=support.setup_booster)
        return phrase("number-of-count", number=number, n=count)
    if step.verb == automa_turns.BOOSTER:
        return phrase("side-of-count", side=phrase(_BOOSTERS[support.booster]), n=count)
    if step.decided_by == automa_turns.NUMBER:
        return phrase("number-of-count", number=_number(support), n=count)
    has_range = step.verb == automa_turns.MINE_ON and not step.card
    if count == 1:
        return phrase("only-planet", range=turn.reach) if has_range else phrase("only-option")
    among = phrase("planets-within" if has_range else "of-count", n=count, range=turn.reach)
    return phrase("labelled", label=among, text=_rule(step.decided_by, "won", support))


def _rule(name: str, key: str, support: DecisionCard) -> str:
    return fill_in(_RULES[name][key], **{"from": _corner(support)})


def _details(turn: AutomaTurn, ruleset: Ruleset) -> Iterator[dict[str, Any]]:
    """The cards of a round, then all options of each part that had several."""
    if turn.number:
        support, action = _cards(turn, ruleset)
        yield _detail(phrase("card-and-text", n=support.number, text=_support(support)))
        if action:
            acts = phrase("card-acts-in-detail", n=action.number, text=_action(action))
            yield _detail(f"{acts}; {phrase('cards-left', n=turn.cards_left)}")
    for step in turn.steps:
        if len(step.options) < 2:
            continue
        card = _deciding_card(step, turn, ruleset)
        for option in step.options:
            at = option.place if option.planet else ""
            yield _detail(_option_words(option, step, card, ruleset), at, not option.lost_by)


def _detail(words: str, at: str = "", chosen: bool = False) -> dict[str, Any]:
    return {"words": words, "at": at, "chosen": chosen}


def _option_words(option: Option, step: Step, support: DecisionCard, ruleset: Ruleset) -> str:
    if not option.planet:
        name = _name(step, ruleset, option.place)
        return name if option.lost_by else phrase("labelled", label=name, text=phrase("chosen"))
    facts = [phrase("labelled", label=option.place, text=PLANETS[option.planet])]
    if "steps" in option.values:
        facts.append(phrase("steps", n=option.values["steps"]))
    if "distance" in option.values:
        facts.append(phrase("distance", n=option.values["distance"]))
    verdict = _rule(option.lost_by, "lost", support) if option.lost_by else phrase("chosen")
    return phrase("labelled", label=", ".join(facts), text=verdict)
