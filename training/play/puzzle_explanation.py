"""Explain in words why the answer of a puzzle is better than another choice.

The sentences name the event of the puzzle's reason with its place in the lines, the lead without
it, the largest differences by source of VP, and the turns of both lines that show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gaia_jax.components.common import VP_AT_THE_END
from gaia_jax.language import with_minus
from gaia_jax.render.names import VP_SOURCES

from ..analysis.report_texts import number
from ..types import JsonObject
from .languages import page_text
from .puzzle_lines import Step, Turn, turns_of

NUM_TURNS = 3  # of each line, unless more of them matter
NUM_SOURCES = 3  # of the difference in VP
MIN_SCORED = 3  # VP of a turn that is mentioned for them
MIN_VP = 0.05  # smaller differences are not shown
SOURCE_IDS = {name: id for id, name in VP_SOURCES.items()}  # by the names in files of puzzles


class Contrast(NamedTuple):
    """The answer of a puzzle and the choice that it is compared with."""

    puzzle: JsonObject  # with the results of its verification
    compared: JsonObject  # the candidate
    moves: Sequence[str]  # of the answer and of the choice, in words
    num_steps: Sequence[int]  # of the lines that these words describe
    lines: Sequence[Sequence[Step]]  # of the answer and of the choice
    players: Sequence[str]  # their names
    sources: Mapping[str, str]  # names in the language in use, by those in files of puzzles
    event: str = ""  # of the reason, in words, for lines that lack it

    @property
    def seat(self) -> int:
        """The player who decides."""
        return int(self.puzzle["player"])

    @property
    def reason(self) -> JsonObject:
        """Why the answer is better; {} if the file has no reason."""
        return dict(self.compared.get("reason", {}))


class Mention(NamedTuple):
    """A turn that the explanation mentions."""

    turn: Turn
    is_later: bool  # whether turns of the seat are left out before it
    source: str = ""  # of its VP, as in files of puzzles, if they are mentioned
    is_impossible: bool = False  # whether the event of the reason is impossible in it


def lead_over(puzzle: JsonObject, candidate: JsonObject) -> float:
    """VP of the answer above a candidate."""
    is_beaten = candidate["action"] == puzzle["policy"]["action"]
    best = max(c["vp"] for c in puzzle["candidates"])
    return float(puzzle["loss"]["mean"] if is_beaten else best - candidate["vp"])


def explain(contrast: Contrast) -> list[str]:
    """The paragraphs of an explanation."""
    answer, other = answer_mentions(contrast), other_mentions(contrast)
    paragraphs = [
        _cause(contrast),
        _by_source(contrast),
        _in_words(contrast, "puzzle-next-answer", answer),
        _in_words(contrast, "puzzle-next-other", other),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def find_event(contrast: Contrast) -> tuple[Turn, Step] | None:
    """The event of the reason in the line that should have it."""
    reason, seat = contrast.reason, contrast.seat
    answer, other = (turns_of(line) for line in contrast.lines)
    turns = [turn for turn in other if turn.player != seat]
    if reason.get("kind") == "follows":
        turns = [turn for turn in answer[1:] if turn.player == seat]
    last = contrast.puzzle["round"] + reason.get("round", 0)
    turns = [turn for turn in turns if turn.round <= last]
    steps = ((turn, step) for turn in turns for step in turn.steps)
    return next((pair for pair in steps if pair[1].json["text"] == reason.get("text")), None)


def answer_mentions(contrast: Contrast) -> list[Mention]:
    """The turns after the answer: the rest of its own turn, the event, and the source of the lead.

    The last one is the turn that scores most from the source with the largest part of the lead.
    """
    own, event = _own_turns(contrast, 0), find_event(contrast)
    mentioned = dict[int, str]()  # sources by the number of the turn
    if event and event[0] in own:
        mentioned[own.index(event[0])] = ""
    scoring = _scoring_turn(contrast, own)
    if scoring and contrast.reason.get("kind") != "vp":
        mentioned[scoring[0]] = scoring[1]
    return _mentions(own, mentioned)


def other_mentions(contrast: Contrast) -> list[Mention]:
    """The turns after the other choice, with the one that takes something from the answer.

    Or the seat's turn in which the event of the answer is impossible.
    """
    turns, event, seat = _own_turns(contrast, 1), find_event(contrast), contrast.seat
    if event and event[0].player != seat:
        turns = sorted([*turns, event[0]], key=lambda turn: turn.number)
        return _mentions(turns, {turns.index(event[0]): ""})
    if not event:
        return _mentions(turns, {})
    last = contrast.puzzle["round"] + contrast.reason["round"]
    event_turn = _own_turns(contrast, 0).index(event[0])
    same_turn = min(event_turn, sum(turn.round <= last for turn in turns) - 1)
    is_impossible = contrast.reason["games"] == contrast.puzzle["playouts"]
    sources = {same_turn: ""} if same_turn else {}
    return _mentions(turns, sources, same_turn if is_impossible else 0)


def _own_turns(contrast: Contrast, side: int) -> list[Turn]:
    """The turns of the seat in a line; the first one without the move that the choice describes."""
    first, *later = [t for t in turns_of(contrast.lines[side]) if t.player == contrast.seat]
    return [first._replace(steps=first.steps[contrast.num_steps[side] :]), *later]


def _scoring_turn(contrast: Contrast, own: Sequence[Turn]) -> tuple[int, str] | None:
    """The number of the turn that scores most from the main source of the lead, and that source.

    A turn that the seat has in both lines does not count.
    """
    why = contrast.compared["why"]
    gained = [n for n, vp in why.items() if vp > 0 and SOURCE_IDS.get(n) not in VP_AT_THE_END]
    if not gained:
        return None
    source, others = gained[0], {t.texts[0] for t in _own_turns(contrast, 1)[1:] if t.steps}
    vp = [t.scored(SOURCE_IDS.get(source, "")) * (t.texts[0] not in others) for t in own[1:]]
    best = max(vp, default=0)
    return (1 + vp.index(best), source) if best >= MIN_SCORED else None


def _mentions(
    turns: Sequence[Turn], sources: Mapping[int, str], impossible: int = 0
) -> list[Mention]:
    """The mentioned turns, and the first ones, up to NUM_TURNS.

    Args:
        sources: of VP, by the numbers of the turns that are mentioned.
        impossible: the number of the turn in which the event is impossible; 0: of none.
    """
    others = [n for n in range(1, len(turns)) if n not in sources]
    first = [0] if turns[0].steps else []
    num_others = max(NUM_TURNS - len(sources) - len(first), 0)
    numbers = sorted([*first, *sources, *others[:num_others]])
    return [
        Mention(turns[n], n > before + 1, sources.get(n, ""), 0 < n == impossible)
        for before, n in zip([0, *numbers], numbers, strict=False)
    ]


def _signed(vp: float, form: str = "+.1f") -> str:
    return with_minus(number(vp, form))


def _cause(contrast: Contrast) -> str:
    """The event of the reason, and the lead without it."""
    reason, puzzle = contrast.reason, contrast.puzzle
    if not reason:
        return ""
    name, other = contrast.players[contrast.seat], contrast.moves[1]
    if reason["kind"] == "vp":
        vp, other_vp = (number(value, "g") for value in reason["vp"])
        parts = _list(contrast, reason["sources"], "+g")
        return page_text("puzzle-reason-vp", other=other, vp=vp, other_vp=other_vp, list=parts)
    games, event = {"n": reason["games"], "games": puzzle["playouts"]}, find_event(contrast)
    place, move = page_text("puzzle-elsewhere", **games), contrast.event
    if event:
        turn, step = event
        offset = len(contrast.lines[0]) if reason["kind"] == "taken" else 0
        place = page_text("puzzle-place", round=turn.round, step=step.number + offset, **games)
        move = step.words if reason["kind"] == "taken" else turn.words
    values = {"other": other, "name": name, "move": move, "place": place}
    if reason["kind"] == "taken":
        taker = event[0].player if event else reason["player"]
        return page_text("puzzle-reason-taken", taker=contrast.players[taker], **values)
    lead, without = lead_over(puzzle, contrast.compared), reason.get("without")
    text = page_text(f"puzzle-reason-follows-{reason['round']}", **values)
    if without is None:
        return text
    id = "puzzle-without" if without >= MIN_VP else "puzzle-without-gone"
    left = with_minus(number(without))
    return text + " " + page_text(id, lead=number(lead), vp=left)


def _list(contrast: Contrast, vp_by_source: Mapping[str, float], form: str = "+.1f") -> str:
    return ", ".join(
        page_text("vp-from", vp=_signed(vp, form), source=contrast.sources.get(source, source))
        for source, vp in vp_by_source.items()
    )


def _by_source(contrast: Contrast) -> str:
    """The largest differences by source, and the rest of the lead."""
    lead = lead_over(contrast.puzzle, contrast.compared)
    parts = dict(list(contrast.compared["why"].items())[:NUM_SOURCES])
    remainder = lead - sum(parts.values())
    parts |= {page_text("all-else"): remainder} if parts and abs(remainder) >= MIN_VP else {}
    return page_text("puzzle-why", lead=number(lead), list=_list(contrast, parts)) if parts else ""


def _in_words(contrast: Contrast, id: str, mentions: Sequence[Mention]) -> str:
    """The mentioned turns of a line."""
    moves = ""
    for mention in mentions:
        if moves:
            moves += page_text("puzzle-later" if mention.is_later else "puzzle-then")
        elif mention.is_later:
            moves = "\N{HORIZONTAL ELLIPSIS} "
        moves += _turn_words(contrast, mention)
    return page_text(id, other=contrast.moves[1], moves=moves) if moves else ""


def _turn_words(contrast: Contrast, mention: Mention) -> str:
    turn, source = mention.turn, mention.source
    move = turn.words
    if turn.player != contrast.seat:
        move = page_text("labelled", label=contrast.players[turn.player], text=move)
    if source:
        vp = _signed(turn.scored(SOURCE_IDS[source]), "+g")
        name = contrast.sources.get(source, source)
        return page_text("in-round-vp", move=move, round=turn.round, vp=vp, source=name)
    if mention.is_impossible and (event := find_event(contrast)):
        values = {"round": turn.round, "event": event[1].words}
        return page_text("in-round-impossible", move=move, **values)
    return page_text("in-round", move=move, round=turn.round)
