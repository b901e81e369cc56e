"""Explain in words why the answer of a puzzle is better than another choice.

The sentences name the event of the puzzle's reason with its place in the lines, what prevents it
after the other choice, the lead without it, the largest differences by source of VP, and the turns
of both lines that show them. VP at once are named with what both turns bring, and with who takes
the piece of the answer later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gaia_jax.components.common import VP_AT_THE_END
from gaia_jax.components.costs import ROUNDS
from gaia_jax.language import with_minus
from gaia_jax.render.names import VP_SOURCES

from ..analysis.report_texts import number
from ..types import JsonObject
from .languages import page_text
from .puzzle_lines import SUPPLIED, Step, Turn, is_event, piece_taken, turns_of

NUM_TURNS = 3  # of each line, unless more of them matter
NUM_SOURCES = 3  # of the difference in VP
MIN_SCORED = 3  # VP of a turn that is mentioned for them
MIN_VP = 0.05  # smaller differences are not shown
RENEWED = "power ", "ship ", "booster "  # begin the actions that are possible again next round
SOURCE_IDS = {name: id for id, name in VP_SOURCES.items()}  # by the names in files of puzzles


class Contrast(NamedTuple):
    """The answer of a puzzle and the choice that it is compared with."""

    puzzle: JsonObject  # with the results of its verification
    compared: JsonObject  # the candidate
    moves: Sequence[str]  # of the answer and of the choice, in words
    brings: Sequence[str]  # by the whole turns of both, in words
    num_steps: Sequence[int]  # of the lines that the moves describe
    lines: Sequence[Sequence[Step]]  # of the answer and of the choice
    players: Sequence[str]  # their names
    sources: Mapping[str, str]  # names in the language in use, by those in files of puzzles

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
        _turns_in_words(contrast, "puzzle-next-answer", answer),
        _turns_in_words(contrast, "puzzle-next-other", other),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def find_event(contrast: Contrast) -> tuple[Turn, Step] | None:
    """The event of the reason in the line that should have it.

    If the reason is VP at once, the event takes the piece of the answer after the other choice.
    """
    reason, seat = contrast.reason, contrast.seat
    (first, *answer), (_, *other) = (turns_of(line) for line in contrast.lines)
    text, last = reason.get("text", ""), contrast.puzzle["round"] + reason.get("round", 0)
    turns = [turn for turn in other if turn.player != seat]
    if reason.get("kind") == "follows":
        turns = [turn for turn in answer if turn.player == seat]
    elif reason.get("kind") == "vp":
        text = next(filter(None, map(piece_taken, first.texts)), "")
        turns = [turn for turn in other if turn.player == seat or not text.startswith(SUPPLIED)]
        last = last if text.startswith(RENEWED) else ROUNDS
    pairs = ((turn, step) for turn in turns if turn.round <= last for step in turn.steps)
    return next((pair for pair in pairs if text and is_event(pair[1].json["text"], {text})), None)


def answer_mentions(contrast: Contrast) -> list[Mention]:
    """The turns after the answer: the rest of its own turn, the event, and the source of the lead.

    The last one is the turn that scores most from the source with the largest part of the lead.
    """
    own, event = _own_turns(contrast, 0), find_event(contrast)
    mentioned = dict[int, str]()  # sources by the number of the turn
    if event and contrast.reason["kind"] == "follows":
        mentioned[own.index(event[0])] = ""
    scoring = _scoring_turn(contrast, own)
    if scoring and contrast.reason.get("kind") != "vp":
        mentioned[scoring[0]] = scoring[1]
    return _mentions(own, mentioned)


def other_mentions(contrast: Contrast) -> list[Mention]:
    """The turns after the other choice, with the one that takes something from the answer."""
    turns, event = _own_turns(contrast, 1), find_event(contrast)
    if not event or contrast.reason["kind"] == "follows":
        return _mentions(turns, {})
    if event[0] not in turns:
        turns = sorted([*turns, event[0]], key=lambda turn: turn.number)
    return _mentions(turns, {turns.index(event[0]): ""})


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


def _mentions(turns: Sequence[Turn], sources: Mapping[int, str]) -> list[Mention]:
    """The mentioned turns, and the first ones, up to NUM_TURNS.

    Args:
        sources: of VP, by the numbers of the turns that are mentioned.
    """
    others = [n for n in range(1, len(turns)) if n not in sources]
    first = [0] if turns[0].steps else []
    num_others = max(NUM_TURNS - len(sources) - len(first), 0)
    numbers = sorted([*first, *sources, *others[:num_others]])
    return [
        Mention(turns[n], n > before + 1, sources.get(n, ""))
        for before, n in zip([0, *numbers], numbers, strict=False)
    ]


def _signed(vp: float, form: str) -> str:
    return with_minus(number(vp, form))


def _cause(contrast: Contrast) -> str:
    """The event of the reason, what prevents it after the other choice, and the lead without it."""
    reason, event, offset = contrast.reason, find_event(contrast), len(contrast.lines[0])
    kind, values = reason.get("kind"), {"name": contrast.players[contrast.seat]}
    values["other"] = contrast.moves[1]
    if event:
        turn, step = event
        number_below = step.number + (0 if kind == "follows" else offset)
        values["place"] = page_text("puzzle-step", round=turn.round, step=number_below)
        values["move"] = turn.words if kind == "follows" else step.words
        values["taker"] = contrast.players[turn.player]
    if kind == "vp":
        return _vp_at_once(contrast, event, values)
    if not event:
        return ""
    games = {"n": reason["games"], "games": contrast.puzzle["playouts"]}
    share = "puzzle-all-games" if games["n"] == games["games"] else "puzzle-some-games"
    values["place"] += "; " + page_text(share, **games)
    if kind == "taken":
        return page_text("puzzle-reason-taken", **values)
    texts = [page_text(f"puzzle-reason-follows-{reason['round']}", **values)]
    for turn in _own_turns(contrast, 1)[1:]:
        why = turn.steps[0].obstacles.get(reason["text"])
        if why and turn.round == event[0].round:
            place = page_text("puzzle-step", round=turn.round, step=turn.number + offset)
            texts.append(page_text("puzzle-obstacle", **values | {"why": why, "place": place}))
            break
    without, lead = reason["without"], lead_over(contrast.puzzle, contrast.compared)
    id = "puzzle-without" if without >= MIN_VP else "puzzle-without-gone"
    texts.append(page_text(id, lead=number(lead), vp=with_minus(number(without))))
    return " ".join(texts)


def _vp_at_once(
    contrast: Contrast, event: tuple[Turn, Step] | None, values: Mapping[str, str]
) -> str:
    """What both turns bring, and who takes the piece of the answer after the other choice."""
    brings, other = (text or page_text("puzzle-nothing") for text in contrast.brings)
    text = page_text("puzzle-reason-vp", **values, brings=brings, other_brings=other)
    steps = turns_of(contrast.lines[0])[0].steps
    takes = next((step for step in steps if piece_taken(step.json["text"])), None)
    if not takes or (not event and takes.json["text"].startswith(RENEWED)):
        return text
    if not event:
        return text + " " + page_text("puzzle-vp-never", move=takes.words, **values)
    ids = (SOURCE_IDS[source] for source in contrast.reason["sources"])
    vp, is_own = sum(map(event[0].scored, ids)), event[0].player == contrast.seat
    return text + " " + page_text(f"puzzle-vp-{'late' if is_own else 'taken'}", vp=vp, **values)


def _list(contrast: Contrast, vp_by_source: Mapping[str, float]) -> str:
    return ", ".join(
        page_text("vp-from", vp=_signed(vp, "+.1f"), source=contrast.sources.get(source, source))
        for source, vp in vp_by_source.items()
    )


def _by_source(contrast: Contrast) -> str:
    """The largest differences by source, and the rest of the lead."""
    lead = lead_over(contrast.puzzle, contrast.compared)
    parts = dict(list(contrast.compared["why"].items())[:NUM_SOURCES])
    remainder = lead - sum(parts.values())
    parts |= {page_text("all-else"): remainder} if parts and abs(remainder) >= MIN_VP else {}
    return page_text("puzzle-why", lead=number(lead), list=_list(contrast, parts)) if parts else ""


def _turns_in_words(contrast: Contrast, id: str, mentions: Sequence[Mention]) -> str:
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
    return page_text("in-round", move=move, round=turn.round)
