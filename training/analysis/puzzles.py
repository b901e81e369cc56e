"""Puzzles: positions where one move is clearly better by playouts than the policy's first choice.

`puzzle_maker` finds them; here is what a file of them holds, and who solves them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import jax
import numpy as np

from gaia_jax import actions, replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv, State
from gaia_jax.setup import setup_json
from gaia_jax.state import Node

from ..agents import Agent, make_agent, sha256_of
from ..system import atomic_files, data_files
from ..system.data_files import LIST, NUMBER, OBJECT, TEXT, WHOLE
from . import attribution, review
from .judge import Judged
from .playouts import whole_moves
from .recorded_game import Game, stepping
from .review import Plain

FORMAT = "gaia_jax puzzles 3"
OURS = atomic_files.json_with(format=FORMAT)
# What a file of puzzles holds, and what each of its games and puzzles does; `check_keys`. One whose
# puzzles were chosen by who solves them says so under "chosen", by `CHOSEN`.
KEYS = {
    "ruleset": TEXT, "version": TEXT, "agent": TEXT, "sha256": TEXT, "playouts": WHOLE,
    "seed": WHOLE, "following": WHOLE, "from_round": WHOLE, "games": LIST, "puzzles": LIST,
}  # fmt: skip
INSIDE = {
    "games": {"setup": OBJECT, "actions": LIST},
    "puzzles": {
        "game": WHOLE, "decision": WHOLE, "round": WHOLE, "player": WHOLE, "theme": TEXT,
        "answer": OBJECT, "policy": OBJECT, "loss": OBJECT, "candidates": LIST,
    },
}  # fmt: skip
CHOSEN = {"solved_by": LIST, "unsolved_by": LIST}  # agents' names; maybe "held_by" and "beats" too
# Maybe "beats" of a puzzle: whose choice `policy` is; it is the policy's own without that.
# Of a candidate: by source, what the answer has more; texts of the actions of one game from it,
# as the agent plays on, or the stronger one of a puzzle that holds.
CANDIDATE = {"action": WHOLE, "text": TEXT, "vp": NUMBER, "why": OBJECT, "line": LIST}
# Of a puzzle that holds: who played on, how often, what the policy's choice lost, and in how many
# games the answer was ahead of all; maybe "rival", the nearest of the other legal moves: its text,
# its VP, how much less that is, and of how many. Then of each candidate. `puzzle_held`
HELD = {"by": TEXT, "playouts": WHOLE, "loss": OBJECT, "ahead": WHOLE}
HELD_CANDIDATE = {"vp": NUMBER, "why": OBJECT}
SHIPPED = Path(__file__).parent / "puzzles.json"
LEAST = 5.0  # VP that the answer has more than the policy's first choice
CLEAR = 3.5  # VP that it has more than each other candidate
# Free actions are the beginning of a move; a special action is one's own, and nobody takes it: when
# it is taken is the agent's taste as much as its worth.
CONVERSION = "free "
NO_ANSWERS = (CONVERSION, "special ")
THEMES = {
    "form_federation": "federation", "advance": "research", "ship": "ship", "explore": "ship",
    "artifact": "ship", "booster": "pass", "pass": "pass", "leech": "leech",
    "mine": "building", "project": "building", "upgrade": "building",
}  # fmt: skip


def theme(text: str) -> str:
    """What a puzzle is about, by the verb of its answer: `action` where it is no other."""
    return THEMES.get(text.split()[0], "action")


def decisions(game: Game, first_round: int = 1) -> list[int]:
    """What may become a puzzle, from 0: main moves from a round on, and offers of leech."""
    main = [at for at in review.main_moves(game) if game.states[at].game.turn.node == Node.TURN]
    offers = [
        at
        for at, state in enumerate(game.states[:-1])
        if state.game.turn.node == Node.LEECH and int(np.sum(state.legal_action_mask)) > 1
    ]
    return sorted(at for at in main + offers if int(game.states[at].game.turn.round) >= first_round)


def puzzle(
    game: Game,
    one: Judged,
    own: np.ndarray,
    more: np.ndarray,
    moves: np.ndarray,
    before: Collection[int] = (),
) -> Plain:
    """A puzzle, plain values.

    Args:
        one: the policy's first choice beside the answer.
        own: (K, n) VP of the decider after each candidate.
        more: (K, S) what the answer has more of them by source, in the mean.
        moves: (K, M) actions behind each candidate in one game; -1 for none.
        before: candidates whose VP are those with the answer at the next turn.
    """
    rules = game.env.ruleset
    move = review.move_json(game, one)
    answer = move.pop("better")
    move["policy"] = move.pop("played")
    del move["grade"], move["line"]
    here = game.states[move["decision"] - 1]
    candidates = [
        review.action_json(rules, int(action), float(chance))
        | {"vp": round(float(vp.mean()), 1)}
        | ({"answer_next": True} if int(action) in before else {})
        | {
            "why": attribution.by_source(rules, apart),
            "line": texts(game.env, here, int(action), behind),
        }
        for action, chance, vp, apart, behind in zip(
            one.question.candidates, one.question.policy, own, more, moves, strict=True
        )
    ]
    return {
        "theme": theme(answer["text"]),
        "answer": answer,
        "candidates": sorted(candidates, key=lambda c: -c["vp"]),
    } | move


def texts(env: GaiaEnv, state: State, first: int, moves: np.ndarray) -> list[str]:
    """Of an action in a position and of (M,) moves of short turns behind it; -1 ends them."""
    played = whole_moves(env, stepping(env), state, (first, *(int(x) for x in moves)))
    return [actions.to_text(env.ruleset, action) for action, _ in played]


def empty(
    env: GaiaEnv,
    agent: str,
    playouts: int,
    seed: int,
    first: int,
    from_round: int = 1,
    solved_by: Sequence[str] = (),
    unsolved_by: Sequence[str] = (),
) -> Plain:
    """A file without puzzles. Its `sha256` is that of a shipped agent's npz, or empty.

    Args:
        seed: of the set-ups. first: number of the first one.
        from_round: the first round with puzzles.
        solved_by, unsolved_by: as of `chosen`.
    """
    lists = {"solved_by": [*solved_by], "unsolved_by": [*unsolved_by]}
    how = {"chosen": lists} if solved_by or unsolved_by else {}
    return how | {
        "format": FORMAT, "ruleset": env.id, "version": env.version, "agent": agent,
        "sha256": sha256_of(agent),
        "playouts": playouts, "seed": seed, "from_round": from_round, "following": first,
        "games": [], "puzzles": [],
    }  # fmt: skip


def beating(found: Plain, name: str) -> Plain:
    """A file whose puzzles are made to beat an agent's choice: it says so."""
    if not name:
        return found
    known = {key: [] for key in CHOSEN} | found.get("chosen", {})
    return found | {"chosen": known | {"beats": [name]}}


def added(found: Plain, made: Sequence[tuple[Game, Sequence[Plain]]], following: int) -> Plain:
    """A file with more games, up to their last puzzle, and their puzzles.

    Args:
        made: games, each with its puzzles; those without any are left out.
        following: number of the first set-up that has not been looked at.
    """
    games, puzzles = list(found["games"]), list(found["puzzles"])
    for game, some in made:
        if not some:
            continue
        last = max(one["decision"] for one in some)
        record = replay.Record.of(
            game.env, jax.tree.map(np.asarray, game.states[0].game.setup),
            game.actions[: last - 1], (),
        )  # fmt: skip
        puzzles += [{"game": len(games)} | one for one in some]
        games.append({"setup": dict(record.setup), "actions": list(record.actions)})
    return found | {"following": following, "games": games, "puzzles": puzzles}


def to_text(found: Plain) -> str:
    """A file of puzzles as JSON, a line for each game and each puzzle."""
    compact, parts = partial(json.dumps, separators=(",", ":")), []
    for key, value in found.items():
        rows = ",\n".join(map(compact, value)) if key in INSIDE else ""
        parts.append(f'"{key}":' + (f"[\n{rows}\n]" if key in INSIDE else compact(value)))
    return "{" + ",\n".join(parts) + "}\n"


def read(path: Path) -> Plain:
    """A file of puzzles.

    Raises:
        UserError: it is none, or it lacks something.
    """
    found: Plain = data_files.read_json(path, "the puzzles")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError(f"{path} is no file of puzzles: its format is not {FORMAT!r}")
    data_files.check_keys(str(path), found, KEYS)
    if "chosen" in found:
        data_files.check_keys(f"{path}: chosen", found["chosen"], CHOSEN)
    for group, keys in INSIDE.items():
        for number, one in enumerate(found[group]):
            data_files.check_keys(f"{path}: {group}[{number}]", one, keys)
    for number, one in enumerate(found["puzzles"]):
        where, held = f"{path}: puzzles[{number}]", "held" in one
        data_files.check_keys(where, one, {"beats": TEXT} if "beats" in one else {})
        if held:
            data_files.check_keys(f"{where}.held", one["held"], HELD)
        for at, candidate in enumerate(one["candidates"]):
            here = f"{where}.candidates[{at}]"
            data_files.check_keys(here, candidate, CANDIDATE | ({"held": OBJECT} if held else {}))
            if held:
                data_files.check_keys(f"{here}.held", candidate["held"], HELD_CANDIDATE)
    return found


def begun(path: Path, empty: Plain) -> Plain:
    """A file of puzzles to go on with.

    Args:
        empty: what one of these games, agent and playouts begins with.
    Raises:
        UserError: it is no such file.
    """
    found = read(path)
    if found.get("chosen") != empty.get("chosen"):
        raise UserError(f"{path} holds puzzles chosen otherwise: it is not gone on with")
    same = empty.keys() - {"following", *INSIDE}
    data_files.check_same(path, {k: found[k] for k in same}, {k: empty[k] for k in same})
    return found


def players_of(found: Plain) -> int:
    """For how many the games of a file are.

    Raises:
        UserError: the first set-up does not say so.
    """
    try:
        return setup_json.players_of(found["games"][0]["setup"]) if found["games"] else 4
    except ValueError as error:
        raise UserError(f"game 0 of the puzzles: {error}") from error


def walked(found: Plain, number: int) -> list[State]:
    """The states of a game of a file, the first before its first decision.

    Raises:
        UserError: it does not play.
    """
    game = found["games"][number]
    record = replay.Record(
        found["ruleset"], found["version"], game["setup"], tuple(game["actions"]), ()
    )
    try:
        return list(replay.states(record))
    except replay.RecordError as error:
        raise UserError(f"game {number} of the puzzles: {error}") from error


def positions(found: Plain) -> Iterator[tuple[Plain, State]]:
    """Each puzzle of a file and its position.

    Raises:
        UserError: a game does not play.
    """
    for number in range(len(found["games"])):
        here = {one["decision"]: one for one in found["puzzles"] if one["game"] == number}
        for at, state in enumerate(walked(found, number), 1):
            if at in here:
                yield here[at], state


def holds(one: Plain) -> bool:
    """Whether the answer of a puzzle that was tried is `CLEAR` VP ahead of each other candidate.

    And ahead of all of them in half of the games at least; and whether no other legal move, where
    those were tried, has more. One that has as much may be what comes first.
    """
    loss, answer = one["held"]["loss"], one["answer"]["action"]
    vp = {c["action"]: float(c["held"]["vp"]) for c in one["candidates"]}
    lead = round(vp.pop(answer) - max(vp.values()), 1)
    often = 2 * one["held"]["ahead"] >= one["held"]["playouts"]
    best = one["held"].get("rival", {"less": lead})["less"] >= 0
    return bool(often and best and lead >= CLEAR and loss["low"] > 0)


def solvers(names: Sequence[str], env: GaiaEnv) -> dict[str, Agent]:
    """Who is asked, by name: each takes its likeliest action.

    Raises:
        UserError: an unknown name, or an agent of another game.
    """
    return {name: make_agent(name, env, likeliest=True) for name in names}


def solved(
    found: Plain, agent: Agent, walked: Sequence[tuple[Plain, State]] | None = None
) -> list[bool]:
    """Which puzzles of a file an agent solves; it is asked about all of them at once.

    Args:
        walked: the `positions` of the file, where they are known: walking costs most.
    """
    ordered = list(positions(found)) if walked is None else walked
    states: State = jax.tree.map(lambda *x: np.stack(x), *(state for _, state in ordered))
    chosen = choices(agent, states)
    right = [int(a) == one["answer"]["action"] for a, (one, _) in zip(chosen, ordered, strict=True)]
    places = {id(one): n for n, (one, _) in enumerate(ordered)}
    return [right[places[id(one)]] for one in found["puzzles"]]


def choices(agent: Agent, states: State) -> np.ndarray:
    """(B,) what an agent chooses at B states, asked about all of them at once."""
    keys = jax.random.split(jax.random.key(0), len(states.legal_action_mask))
    draws = keys if agent.by_game else keys[0]
    return np.asarray(jax.jit(agent.act)(agent.params, states, states.legal_action_mask, draws))


def chosen(
    found: Plain,
    rates: Mapping[str, Sequence[bool]],
    solved_by: Sequence[str],
    unsolved_by: Sequence[str],
) -> tuple[Plain, dict[str, list[bool]]]:
    """The puzzles that some agents solve and others do not, and their games; who solves these.

    Args:
        rates: `solved`, of all these agents, maybe of more.
        solved_by: each of them solves what is kept. unsolved_by: none of them does.
    """
    kept = [
        n
        for n in range(len(found["puzzles"]))
        if all(rates[name][n] for name in solved_by)
        and not any(rates[name][n] for name in unsolved_by)
    ]
    more = {"solved_by": [*solved_by], "unsolved_by": [*unsolved_by]}
    made = some(found, kept, more)
    return made, {name: [right[n] for n in kept] for name, right in rates.items()}


def some(found: Plain, kept: Sequence[int], how: Mapping[str, Sequence[str]]) -> Plain:
    """Some puzzles of a file, and their games.

    Args:
        kept: their places. how: agents that chose them, more of "chosen".
    """
    puzzles = [found["puzzles"][n] for n in kept]
    numbers = sorted({one["game"] for one in puzzles})
    before = {name: [] for name in CHOSEN} | found.get("chosen", {})

    def union(*names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(chain(*names)))  # who chose twice is named once

    return found | {
        "games": [found["games"][number] for number in numbers],
        "puzzles": [one | {"game": numbers.index(one["game"])} for one in puzzles],
        "chosen": before | {name: union(before.get(name, ()), more) for name, more in how.items()},
    }


def text(found: Plain, rates: Mapping[str, Sequence[bool]]) -> str:
    """How many puzzles there are, by theme, and who solves them."""
    themes = [one["theme"] for one in found["puzzles"]]
    lines = [f"{len(themes)} puzzles of {len(found['games'])} games of {found['agent']}"]
    lines += [f"  {name}: {themes.count(name)}" for name in sorted(set(themes))]
    if how := found.get("chosen"):
        said = {"better than the choice of": how.get("beats", [])}
        said |= {"solved by": how["solved_by"], "not by": how["unsolved_by"]}
        said["holding with"] = how.get("held_by", [])
        lines.append("chosen: " + ", ".join(f"{k} {n}" for k, names in said.items() for n in names))
    lines += [f"{name} solves {sum(right)} of {len(right)}" for name, right in rates.items()]
    return "\n".join(lines)
