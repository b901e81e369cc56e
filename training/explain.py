"""Why a move: what a search sees at a decision of a recorded game, and what the played move cost.

    python -m training.explain GAME.json --at 57 --agent runs/quick+search:64
    python -m training.explain GAME.json --agent runs/quick+search:64 --worst 12 --json table.json

With `--at` the table of one decision: the candidates (`*` the search's move, `>` the played one)
with the policy's probability, the visits, the final VP that the search expects for each seat, and
the line that it expects to follow. Without it the whole game, and the decisions that cost most.
What a move cost: the position after it and the one after the search's own move are searched alike,
and the mover's values are compared.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax import actions as action_index
from gaia_jax import replay
from gaia_jax.setup.setup_json import players_of, setup_from_json
from training.agents import make_agent
from training.agents.base import VP_SCALE
from training.agents.search import SHOWN, SUFFIX, make_search, split_name
from training.config import UserError
from training.learn.checkpoint import make_env
from training.search import SearchOutput, Tree
from training.system import atomic_files, cli

AT_ONCE = 32  # positions searched side by side over a whole game
LINE = 6  # moves of a line that are shown


class Game(NamedTuple):
    """A record that has been played again; M decisions."""

    env: Any
    record: replay.Record
    states: list[Any]  # M + 1, the position before each decision and the end
    actions: list[int]  # M


class Looked(NamedTuple):
    """What the search says of n decisions, and of the positions after two moves of each."""

    found: SearchOutput  # (n, ...)
    best: np.ndarray  # (n,) the search's move
    played: np.ndarray  # (n,)
    best_values: np.ndarray  # (n, P) final VP after the search's move, by a search of its own
    played_values: np.ndarray  # (n, P) the same after the played one
    cost: np.ndarray  # (n,) what the mover lost by the played move, in VP
    # (n,) bool: of one move the end is known, of the other the network guesses. What they differ by
    # is the network's error then, and `cost` is 0.
    unlike: np.ndarray


def read_game(path: Path) -> Game:
    """Play a record again.

    Raises:
        UserError: it cannot be read or does not play as it says.
    """
    states: list[Any] = []
    try:
        record = replay.read(path)
        env = make_env(_face(), record.ruleset, "vp", players_of(record.setup))
        replay.play(record, lambda _, state: states.append(state))
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    except ValueError as error:  # of a set-up that names no players
        raise UserError(f"{path}: {error}") from error
    start = replay.compiled(record.env())[0]
    first = start(setup_from_json(record.setup, env.ruleset))
    indices = [action_index.from_text(env.ruleset, text) for text in record.actions]
    return Game(env, record, [first, *states], indices)


def _face() -> Any:
    import gaia_jax

    return gaia_jax


class Explainer:
    """A search, compiled for so many positions at once."""

    def __init__(self, env: Any, name: str, batch: int):
        """
        Args:
            name: of an agent with a search, `NAME+search:N`.
            batch: positions side by side.
        Raises:
            UserError: a name without a search, or an unknown one.
        """
        base, spec = split_name(name)
        if spec is None:
            raise UserError(f"--agent wants a search: {name}{SUFFIX}64, for example")
        spec = dataclasses.replace(spec, form=spec.form or SHOWN)
        agent = make_agent(base, env)
        if agent.policy is None:
            make_agent(name, env)  # says what is wrong
        assert agent.policy is not None
        self.env, self.name, self.spec, self.policy = env, name, spec, agent.policy
        self._params, self._batch, self._searched = agent.params, batch, 0
        search, _ = make_search(env, agent.policy, spec)

        def run(params: Any, states: Any, played: jax.Array) -> tuple[SearchOutput, Any, Any]:
            """The search, the states after its moves and those after the played ones."""
            out = search(params, states, jax.random.key(0))
            tree = out.tree._replace(embedding=()) if out.tree is not None else None
            twice = jax.tree.map(lambda x: jnp.concatenate([x, x]), states)
            after = jax.vmap(env.step)(twice, jnp.concatenate([out.action, played]))
            halves = (jax.tree.map(lambda x, h=h: jnp.split(x, 2)[h], after) for h in (0, 1))
            return out._replace(tree=tree), *halves

        self._run = jax.jit(run)

    def told(self) -> str:
        """How far it is, for whoever waits."""
        if not self._searched:
            return f"compiling {self.name}"
        return f"{self._searched * self._batch} positions searched"

    def look(self, states: Any, played: np.ndarray) -> Looked:
        """Search n positions, and those after the best and after the played move.

        Args:
            states: leading axis n. played: (n,) actions.
        """
        found, *after = self._search(states, played)
        best = np.asarray(found.action)
        worth, exact = zip(*(self._final(x) for x in after), strict=True)
        player, rows = np.asarray(states.current_player), np.arange(len(best))
        own = [self._utility(x)[rows, player] for x in worth]
        unlike = (best != played) & (exact[0] != exact[1])
        cost = np.where((best == played) | unlike, 0.0, own[0] - own[1])
        return Looked(found, best, played, worth[0], worth[1], cost, unlike)

    def _search(self, states: Any, played: np.ndarray) -> tuple[SearchOutput, Any, Any]:
        """So many rows at a time; the last ones are filled up."""
        count, size = len(played), self._batch
        parts = []
        for first in range(0, count, size):
            rows = np.minimum(np.arange(first, first + size), count - 1)
            some = jax.tree.map(lambda x, r=rows: x[r], (states, played))
            parts.append(jax.device_get(self._run(self._params, *some)))
            self._searched += 1
        out: Any = jax.tree.map(lambda *x: np.concatenate(x)[:count], *parts)
        return out

    def _final(self, states: Any) -> tuple[np.ndarray, np.ndarray]:
        """(n, P) what a search of these positions expects at the end; (n,) where it is exact."""
        anything = np.argmax(states.legal_action_mask, axis=-1).astype(np.int32)
        out = self._search(states, anything)[0]
        over = np.asarray(states.terminated | states.truncated)
        slot = _slot(out)
        value = np.where(over[:, None], 0, _of_the_move(out, slot))
        exact = over if out.tree is None else over | _known(out.tree, slot)
        return self.final_vp(np.asarray(states.game.players.vp), value), exact

    def final_vp(self, vp: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Final VP from VP (..., P) and the network's values (..., P) of what is still to come."""
        to_come = value * VP_SCALE / self.policy.reward_scale
        return np.asarray(vp + to_come if self.policy.reward == "vp" else to_come, np.float64)

    def _utility(self, values: np.ndarray) -> np.ndarray:
        """(n, P) what each player makes of the values (n, P); the others are no one's target."""
        if self.spec.utility != "margin":
            return values
        return values - (values.sum(-1, keepdims=True) - values) / (values.shape[-1] - 1)


def _slot(found: SearchOutput) -> np.ndarray:
    """(n,) the candidate that is the search's own move."""
    candidates = found.candidates
    return np.argmax(candidates.valid & (candidates.action == found.action[:, None]), axis=-1)


def _of_the_move(found: SearchOutput, slot: np.ndarray) -> np.ndarray:
    """(n, P) the values of the search's own move; the root's where that was not visited.

    The root's are a mean over all that was tried. Where the same player decides again that mean is
    lower than what the player gets, and a move before it would look as if it cost something.
    """
    rows = np.arange(len(slot))
    visited = np.asarray(found.candidates.visits)[rows, slot] > 0
    values = np.asarray(found.candidates.values)[rows, slot]
    return np.where(visited[:, None], values, np.asarray(found.value))


def _known(tree: Tree, slot: np.ndarray) -> np.ndarray:
    """(n,) whether the values of a candidate are those of an end of the game.

    Its node is closed, or the best edge there leads to a closed one, whose values it has then.
    """
    rows = np.arange(len(slot))
    child = np.asarray(tree.child)
    node = child[rows, 0, slot]
    at = np.maximum(node, 0)
    utility = np.where(tree.visits[rows, at] > 0, tree.utility[rows, at], -np.inf)
    below = child[rows, at, np.argmax(utility, axis=-1)]
    ends = tree.closed[rows, at] | ((below > 0) & tree.closed[rows, np.maximum(below, 0)])
    return np.asarray(tree.closed[:, 0] | ((node > 0) & ends))


def decision(
    game: Game, looked: Looked, row: int, number: int, explainer: Explainer
) -> dict[str, Any]:
    """Everything about one decision, plain values.

    Args:
        row: its row in `looked`. number: from 1.
    """
    state, rules = game.states[number - 1], game.env.ruleset
    factions = [rules.ids["faction"][i] for i in np.asarray(state.game.setup.faction)]
    vp = np.asarray(state.game.players.vp)
    out = jax.tree.map(lambda x: np.asarray(x)[row], looked.found)
    candidates = out.candidates
    table = []
    for slot in np.argsort(-candidates.visits, kind="stable"):
        if not candidates.visits[slot]:
            continue
        action = int(candidates.action[slot])
        final = explainer.final_vp(vp, candidates.values[slot])
        table.append(
            {
                "action": action_index.to_text(rules, action),
                "prior": round(float(candidates.prior[slot]), 4),
                "visits": int(candidates.visits[slot]),
                "final_vp": np.round(final, 1).tolist(),
                "line": _line(out.tree, int(slot), game, factions) if out.tree else [],
                "played": bool(action == looked.played[row]),
                "best": bool(action == looked.best[row]),
            }
        )
    player = int(state.current_player)
    return {
        "decision": number,
        "of": len(game.actions),
        "round": int(state.game.turn.round),
        "player": player,
        "factions": factions,
        "vp": vp.tolist(),
        "options": int(np.asarray(state.legal_action_mask).sum()),
        "played": game.record.actions[number - 1],
        "best": action_index.to_text(rules, int(looked.best[row])),
        "cost": round(float(looked.cost[row]), 2),
        "unlike": bool(looked.unlike[row]),
        "after_played": np.round(looked.played_values[row], 1).tolist(),
        "after_best": np.round(looked.best_values[row], 1).tolist(),
        "candidates": table,
    }


def _line(tree: Tree, slot: int, game: Game, factions: list[str]) -> list[str]:
    """The most visited moves after a candidate, each with who makes it."""
    line: list[str] = []
    node = int(tree.child[0, slot])
    while node > 0 and len(line) < LINE:
        visits, utility = tree.visits[node], tree.utility[node]
        if not visits.max():
            break
        best = int(np.lexsort((utility, visits))[-1])
        text = action_index.to_text(game.env.ruleset, int(tree.action[node, best]))
        line.append(f"{factions[int(tree.to_play[node])]}: {text}")
        node = int(tree.child[node, best])
    return line


def decision_text(about: dict[str, Any]) -> str:
    """One decision as text."""
    who = about["factions"][about["player"]]
    widths = [max(9, len(name)) for name in about["factions"]]
    lines = [
        f"decision {about['decision']} of {about['of']}, round {about['round']}: {who}"
        f" (player {about['player']}), {about['options']} options",
        "VP now: " + ", ".join(map("{} {}".format, about["factions"], about["vp"])),
        f"played: {about['played']}; the search plays: {about['best']}",
        "",
        f"{'':2}{'candidate':<28}{'prior':>7}{'visits':>8}   final VP "
        + " ".join(f"{name:>{w}}" for name, w in zip(about["factions"], widths, strict=True)),
    ]
    for row in about["candidates"]:
        mark = ("*" if row["best"] else " ") + (">" if row["played"] else " ")
        values = " ".join(f"{x:{w}.1f}" for x, w in zip(row["final_vp"], widths, strict=True))
        lines.append(
            f"{mark}{row['action'][:27]:<28}{row['prior']:7.1%}{row['visits']:8}{'':12}{values}"
        )
        if row["line"]:
            lines.append(f"{'':6}then {'; '.join(row['line'])}")
    lines.append("")
    after = ", ".join(map("{} {}".format, about["factions"], about["after_played"]))
    lines.append(f"searched anew after the played move: {after}")
    if about["played"] != about["best"]:
        after = ", ".join(map("{} {}".format, about["factions"], about["after_best"]))
        lines.append(f"searched anew after {about['best']}: {after}")
    if about["unlike"]:
        lines.append("of one of them the end is known, of the other it is a guess: not compared")
    else:
        lines.append(f"the played move cost {about['cost']:.1f} VP")
    return "\n".join(lines)


def game_text(about: dict[str, Any]) -> str:
    """The costliest decisions of a game as text."""
    lines = [
        f"{about['looked_at']} of {about['decisions']} decisions had a choice;"
        f" {about['agreed']:.0%} were played as {about['agent']} would",
        "",
        f"{'':4}{'decision':>8}{'round':>7}  {'player':<16}{'cost':>6}  played; better",
    ]
    for place, row in enumerate(about["worst"], 1):
        who = row["factions"][row["player"]]
        lines.append(
            f"{place:3}.{row['decision']:8}{row['round']:7}  {who:<16}{row['cost']:6.1f}"
            f"  {row['played']}; {row['best']}"
        )
    lines += ["", "VP lost by player: " + ", ".join(
        f"{name} {lost:.1f}" for name, lost in about["lost"].items()
    )]  # fmt: skip
    return "\n".join(lines)


def explain_game(game: Game, explainer: Explainer, worst: int) -> dict[str, Any]:
    """Every decision with a choice; the `worst` costliest in full."""
    choice = [i for i in range(len(game.actions)) if np.sum(game.states[i].legal_action_mask) > 1]
    states = jax.tree.map(lambda *x: np.stack(x), *(jax.device_get(game.states[i]) for i in choice))
    looked = explainer.look(states, np.array([game.actions[i] for i in choice], np.int32))
    order = np.argsort(-looked.cost, kind="stable")[:worst]
    player = np.asarray(states.current_player)
    faction = np.asarray(game.states[0].game.setup.faction)
    names = [game.env.ruleset.ids["faction"][i] for i in faction]
    return {
        "agent": explainer.name,
        "decisions": len(game.actions),
        "looked_at": len(choice),
        "agreed": float(np.mean(looked.best == looked.played)),
        "lost": {
            name: round(float(np.maximum(looked.cost[player == p], 0).sum()), 1)
            for p, name in enumerate(names)
        },
        "worst": [decision(game, looked, int(i), choice[i] + 1, explainer) for i in order],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    args = _parse(argv)
    if split_name(args.agent)[1] is None:
        raise UserError(f"--agent wants a search: {args.agent}{SUFFIX}64, for example")
    if args.json:
        atomic_files.check_report("--json", args.json, ("record", "agent"))
    with cli.telling(lambda: f"playing {args.record}"):
        game = read_game(args.record)
    if args.at is not None and not 1 <= args.at <= len(game.actions):
        raise UserError(f"--at must be 1 to {len(game.actions)}, got {args.at}")
    explainer = Explainer(game.env, args.agent, AT_ONCE if args.at is None else 1)
    with cli.telling(explainer.told):
        if args.at is None:
            about = explain_game(game, explainer, args.worst)
        else:
            states = jax.tree.map(lambda x: jnp.asarray(x)[None], game.states[args.at - 1])
            looked = explainer.look(states, np.array([game.actions[args.at - 1]], np.int32))
            about = {"agent": args.agent} | decision(game, looked, 0, args.at, explainer)
    print(game_text(about) if args.at is None else decision_text(about))
    if args.json:
        atomic_files.write_json(args.json, {"record": str(args.record)} | about)
    cli.wrote(args.json)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.explain", __doc__)
    parser.add_argument("record", metavar="RECORD", type=Path, help="a game record, JSON")
    parser.add_argument("--agent", required=True, help="with a search, e.g. RUN+search:64")
    parser.add_argument("--at", metavar="N", type=int, help="the number of one decision, from 1")
    most = cli.whole(1, 10**6)
    parser.add_argument("--worst", metavar="N", type=most, default=10, help="costliest decisions")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write everything here")
    cli.add_cache_flag(parser)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
