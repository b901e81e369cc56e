"""Puzzles: positions where one move is clearly better by playouts than the policy's first choice.

An agent plays a game; at each main decision and each offer of leech its first choice is judged
beside the likeliest others (`training.study.judge`). Where another one has much more VP, all
candidates are played out again on fresh luck, and a puzzle is what then has one clear answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import jax
import numpy as np
from jax import Array

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv, State
from gaia_jax.state import Node

from ..agents import Agent, make_agent
from ..system import atomic_files, data_files
from ..system.data_files import LIST, OBJECT, TEXT, WHOLE
from . import review
from .accuracy import Loss, paired
from .explain import Game
from .judge import Judge, Judged, Question, measured, question
from .playouts import jobs_of
from .position import probabilities
from .review import Plain

FORMAT = "gaia_jax puzzles 1"
OURS = atomic_files.json_with(format=FORMAT)
# What a file of puzzles holds, and what each of its games and puzzles does; `check_keys`.
KEYS = {"ruleset": TEXT, "version": TEXT, "agent": TEXT, "games": LIST, "puzzles": LIST}
INSIDE = {
    "games": {"setup": OBJECT, "actions": LIST},
    "puzzles": {"game": WHOLE, "decision": WHOLE, "theme": TEXT, "answer": OBJECT},
}
LEAST = 5.0  # VP that the answer has more than the policy's first choice
TRIED = 6  # candidates of a puzzle, the policy's likeliest
SCREENING = 8  # playouts that say which positions are tried
FRESH = 1 << 16  # number of the first sample of the check: luck that has chosen nothing
THEMES = {
    "form_federation": "federation", "advance": "research", "ship": "ship", "explore": "ship",
    "artifact": "ship", "booster": "pass", "pass": "pass", "leech": "leech",
}  # fmt: skip
LATE = {6: "last round"}
OTHERS = {"mine": "building", "project": "building", "upgrade": "building"}


def theme(round_: int, text: str) -> str:
    """What a puzzle is about, by the verb of its answer: one of the six, `building` or `action`."""
    verb = text.split()[0]
    return THEMES.get(verb) or LATE.get(round_) or OTHERS.get(verb, "action")


def play(env: GaiaEnv, agent: Agent, seed: int, number: int) -> Game:
    """A game of one agent at all seats, on set-up `number` of a seed."""
    key = jax.random.fold_in(jax.random.key(seed), number)
    start, step = replay.compiled(gaia_jax.make(env.id, players=env.num_players))
    decide = _decide(agent)
    states: list[State] = [jax.device_get(start(env.draw_setup(key)))]
    actions: list[int] = []
    while not states[-1].terminated | states[-1].truncated:
        actions.append(decide(states[-1], jax.random.fold_in(key, len(actions) + 1)))
        states.append(jax.device_get(step(states[-1], actions[-1])))
    return Game(env, states, actions)


def _decide(agent: Agent) -> Callable[[State, Array], int]:
    """How an agent decides in one position, with one key."""
    act = jax.jit(agent.act)

    def decide(state: State, key: Array) -> int:
        one: State = jax.tree.map(lambda x: np.asarray(x)[None], state)
        luck = jax.random.split(key, 1)
        found = act(agent.params, one, one.legal_action_mask, luck if agent.by_game else luck[0])
        return int(found[0])

    return decide


def decisions(game: Game, first_round: int = 1) -> list[int]:
    """What may become a puzzle, from 0: main moves from a round on, and offers of leech."""
    main = [at for at in review.main_moves(game) if game.states[at].game.turn.node == Node.TURN]
    offers = [
        at
        for at, state in enumerate(game.states[:-1])
        if state.game.turn.node == Node.LEECH and int(np.sum(state.legal_action_mask)) > 1
    ]
    return sorted(at for at in main + offers if int(game.states[at].game.turn.round) >= first_round)


class Maker:
    """Makes puzzles with one agent; compiled once for games of one size."""

    def __init__(self, env: GaiaEnv, name: str, playouts: int, first_round: int = 1):
        """
        Args:
            name: of the agent that plays, one with a policy.
            playouts: of each candidate of a puzzle, when it is checked.
            first_round: from which on there are puzzles.
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.agent, self.playouts = env, make_agent(name, env), playouts
        review.check_policy(name, self.agent)
        self._first_round = first_round
        self._judge = Judge(env, self.agent, SCREENING)

    def of_game(
        self, game: Game, seed: int = 0, progress: Callable[[int], object] = lambda ended: None
    ) -> tuple[list[Plain], bool]:
        """The puzzles of a game, and whether these are all; those that are known at Ctrl-C.

        Args:
            progress: told how many playouts have ended.
        """
        here = decisions(game, self._first_round)
        if not here:
            return [], True
        states: State = jax.tree.map(lambda *x: np.stack(x), *(game.states[at] for at in here))
        chance = probabilities(self.agent, states)
        asked = [
            question(at + 1, int(states.current_player[i]), int(np.argmax(chance[i])), chance[i])
            for i, at in enumerate(here)
        ]
        rows = {q.number: i for i, q in enumerate(asked)}
        judged = self._judge.judge(states, asked, seed, progress)
        if len(judged) < len(asked):  # Ctrl-C: nothing has been checked yet
            return [], False
        open_ = [one for one in judged if is_open(one.loss)]
        found: list[Plain] = []
        for one in sorted(open_, key=lambda one: -one.loss.shrunk):
            row = rows[one.question.number]
            position = jax.tree.map(lambda x, i=row: x[i : i + 1], states)
            try:
                puzzle = self.check(game, position, one.question, chance[row], seed)
            except KeyboardInterrupt:
                return found, False
            found += [puzzle] if puzzle else []
        return found, True

    def check(
        self, game: Game, position: State, asked: Question, chance: np.ndarray, seed: int
    ) -> Plain | None:
        """The puzzle, if on fresh luck it has one clear answer.

        Args:
            position: one state, leading axis 1. chance: (A,) by the policy.
        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        legal = np.flatnonzero(np.asarray(position.legal_action_mask[0]))
        likely = legal[np.argsort(-chance[legal], kind="stable")]
        known = asked.candidates.tolist()
        tried = np.array([*known, *(a for a in likely if a not in known)][:TRIED])
        n, capacity = self.playouts, self._judge.capacity
        ends = self._judge.players.play(
            position, jobs_of([tried], n, FRESH), seed, capacity=max(capacity, TRIED * n)
        )
        if not ends.ended.all():
            raise KeyboardInterrupt
        shape = (len(tried), n)
        vp, moves = ends.vp.reshape(*shape, -1), ends.moves.reshape(*shape, -1)
        own = vp[:, :, asked.seat]
        best = int(np.argmax(own.mean(1)))
        behind = [paired(own[best], own[k]) for k in range(len(tried)) if k != best]
        if not best or not is_open(behind[0]) or min(loss.low for loss in behind) <= 0:
            return None
        whole = asked._replace(candidates=tried, policy=chance[tried])
        pair = [0, best]
        return puzzle(game, measured(whole, tried[pair], vp[pair], moves[pair]), own)


def is_open(loss: Loss) -> bool:
    """Whether the policy's first choice loses enough for a puzzle."""
    return loss.mean >= LEAST and loss.low > 0


def puzzle(game: Game, one: Judged, own: np.ndarray) -> Plain:
    """A puzzle, plain values.

    Args:
        own: (K, n) VP of the decider after each candidate.
    """
    rules = game.env.ruleset
    move = review.move_json(game, one)
    answer = move.pop("better")
    move["policy"] = move.pop("played")
    del move["grade"]
    candidates = [
        review.action_json(rules, int(action), float(chance)) | {"vp": round(float(vp.mean()), 1)}
        for action, chance, vp in zip(
            one.question.candidates, one.question.policy, own, strict=True
        )
    ]
    return {
        "theme": theme(move["round"], answer["text"]),
        "answer": answer,
        "candidates": sorted(candidates, key=lambda c: -c["vp"]),
    } | move


def as_json(
    env: GaiaEnv, agent: str, playouts: int, made: Sequence[tuple[Game, list[Plain]]]
) -> Plain:
    """A file of puzzles: games up to their last puzzle, and the puzzles.

    Args:
        made: games, each with its puzzles.
    """
    games: list[Plain] = []
    found: list[Plain] = []
    for game, puzzles in made:
        if not puzzles:
            continue
        last = max(one["decision"] for one in puzzles)
        record = replay.Record.of(
            env, jax.tree.map(np.asarray, game.states[0].game.setup), game.actions[: last - 1], ()
        )
        found += [{"game": len(games)} | one for one in puzzles]
        games.append({"setup": dict(record.setup), "actions": list(record.actions)})
    return {
        "format": FORMAT, "ruleset": env.id, "version": env.version, "agent": agent,
        "playouts": playouts, "games": games, "puzzles": found,
    }  # fmt: skip


def read(path: Path) -> Plain:
    """A file of puzzles.

    Raises:
        UserError: it is none, or it lacks something.
    """
    found: Plain = data_files.read_json(path, "the puzzles")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError(f"{path} is no file of puzzles: its format is not {FORMAT!r}")
    data_files.check_keys(str(path), found, KEYS)
    for group, keys in INSIDE.items():
        for number, one in enumerate(found[group]):
            data_files.check_keys(f"{path}: {group}[{number}]", one, keys)
    return found


def players_of(found: Plain) -> int:
    """For how many the games of a file are."""
    factions = found["games"][0]["setup"].get("factions") if found["games"] else None
    return len(factions) if isinstance(factions, list) else 4


def positions(found: Plain) -> Iterator[tuple[Plain, State]]:
    """Each puzzle of a file and its position.

    Raises:
        UserError: a game does not play.
    """
    for number, game in enumerate(found["games"]):
        record = replay.Record(
            found["ruleset"], found["version"], game["setup"], tuple(game["actions"]), ()
        )
        here = {one["decision"]: one for one in found["puzzles"] if one["game"] == number}
        try:
            for at, state in enumerate(replay.states(record), 1):
                if at in here:
                    yield here[at], state
        except replay.RecordError as error:
            raise UserError(f"game {number} of the puzzles: {error}") from error


def solvers(names: Sequence[str], env: GaiaEnv) -> dict[str, Agent]:
    """Who is asked, by name: each takes its likeliest action.

    Raises:
        UserError: an unknown name, or an agent of another game.
    """
    return {name: make_agent(name, env, likeliest=True) for name in names}


def solved(found: Plain, agent: Agent) -> list[bool]:
    """Which puzzles of a file an agent solves, in the order of `positions`."""
    decide = _decide(agent)
    return [
        decide(state, jax.random.key(number)) == one["answer"]["action"]
        for number, (one, state) in enumerate(positions(found))
    ]


def text(found: Plain, rates: Mapping[str, Sequence[bool]]) -> str:
    """How many puzzles there are, by theme, and who solves them."""
    themes = [one["theme"] for one in found["puzzles"]]
    lines = [f"{len(themes)} puzzles of {len(found['games'])} games of {found['agent']}"]
    lines += [f"  {name}: {themes.count(name)}" for name in sorted(set(themes))]
    lines += [f"{name} solves {sum(right)} of {len(right)}" for name, right in rates.items()]
    return "\n".join(lines)
