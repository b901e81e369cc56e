"""Play and check whole games, count what happens: `python -m benchmarks.play_statistics`.

`--policy uniform` plays at random; `federating` prefers federations, `rare` prefers actions that
random play seldom reaches. Every game is checked at its end (`broken_invariants`). The report
(docs/lab/random_play.md) has VP by faction and source, federations, and coverage: how often each
action was legal and chosen at each node. The exit status is 1 if an invariant is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import gaia_jax
from gaia_jax.actions import PLANES
from gaia_jax.components import costs, research
from gaia_jax.components.common import STRUCTURES
from gaia_jax.env import GaiaEnv, State
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import NODES
from gaia_jax.testing import sample_legal
from gaia_jax.xla.struct import pytree

# More decisions than a game of any policy here takes.
MAX_DECISIONS = 4096
# Distances to the nearest own structure that a policy distinguishes; the last one is "or more".
DISTANCES = 8
# Terraforming steps that a policy distinguishes.
STEPS = 4
EQUAL = (1,) * DISTANCES


@dataclass(frozen=True)
class Policy:
    """Weights of the actions: a legal action is drawn in proportion to its weight.

    Attributes:
        name: on the command line.
        weights: by "NODE: text", "NODE: verb", "text" or "verb"; the first of these applies.
        other: weight of every other action.
        near: factors of cells by the distance to the nearest own structure: of cells adjacent to an
            own federation, and of the others; `project` has none.
        cheap: factors of cells by the terraforming steps of their planet.
    """

    name: str
    weights: dict[str, int] = field(default_factory=dict)
    other: int = 1
    near: tuple[tuple[int, ...], tuple[int, ...]] = (EQUAL, EQUAL)
    cheap: tuple[int, ...] = (1,) * STEPS

    def tables(self, rules: Ruleset) -> Tables:
        """The policy as arrays.

        Raises:
            ValueError: a key of `weights` is not a node with an action.
        """
        texts = rules.actions.texts
        actions = {*texts, *(text.split()[0] for text in texts)}
        for key in self.weights:
            node, _, action = key.rpartition(": ")
            if node not in ("", *NODES) or action not in actions:
                raise ValueError(f"policy {self.name}: {key!r} is not a node with an action")
        table = [[self._weight(node, text) for text in texts] for node in NODES]
        return Tables(
            weights=jnp.array(table, jnp.int32),
            near=jnp.array(self.near, jnp.int32),
            cheap=jnp.array(self.cheap, jnp.int32),
        )

    def _weight(self, node: str, text: str) -> int:
        verb = text.split()[0]
        keys = (f"{node}: {text}", f"{node}: {verb}", text, verb)
        return next((self.weights[key] for key in keys if key in self.weights), self.other)


@pytree
class Tables:
    """A policy as arrays for N nodes and A actions; every weight is at least 1."""

    weights: Array  # (N, A) int32
    near: Array  # (2, DISTANCES) int32: next to an own federation, elsewhere
    cheap: Array  # (STEPS,) int32

    def choose(self, rules: Ruleset, state: State, uniform: Array) -> Array:
        """Draw a legal action.

        Args:
            rules: the ruleset of the game.
            state: one state.
            uniform: () float32 in [0, 1).
        Returns:
            () int32.
        """
        board, player = state.game.board, state.current_player
        in_federation = (board.federation_bits.astype(jnp.int32) >> player) & 17 != 0
        padded = jnp.concatenate([in_federation, jnp.zeros(1, bool)])
        adjacent = padded[rules.geometry.neighbors].any(-1)
        distance = jnp.minimum(board.distance_to_own[player].astype(jnp.int32), DISTANCES - 1)
        steps = state.game.steps[player][board.planet.astype(jnp.int32)].astype(jnp.int32)
        cells = self.near[jnp.where(adjacent, 0, 1), distance]
        cells *= self.cheap[jnp.clip(steps, 0, STEPS - 1)]
        planes = [jnp.ones_like(cells) if plane == "project" else cells for plane in PLANES]
        weights = self.weights[state.game.turn.node.astype(jnp.int32)]
        rest = jnp.ones(weights.shape[0] - len(PLANES) * cells.shape[0], jnp.int32)
        weights *= jnp.concatenate([*planes, rest])
        return sample_legal(jnp.where(state.legal_action_mask, weights, 0), uniform)


UNIFORM = Policy("uniform")
# Structures close together on cheap planets, but not next to an own federation, which they would
# join without a new token. Ore is scarce, so whatever builds without ore has a high weight.
FEDERATING = Policy(
    "federating",
    {
        "form_federation": 200, "mine": 300, "project": 40, "upgrade": 300, "advance": 10,
        "advance terraforming": 100, "advance economy": 30, "power": 120, "power PA_TF1": 2_000,
        "power PA_TF2": 2_000, "power PA_2O": 6_000, "power PA_2PT": 4_000, "power PA_7C": 5,
        "ship": 100, "ship REB_Q": 3_000, "ship REB_P": 6_000, "ship TWI_P": 6_000,
        "ship TFM_P": 1_000, "ship TFM_C": 6_000, "ship ECL_C": 6_000, "explore": 600,
        "artifact": 1, "special": 3_000, "free": 1, "TURN: free P3_to_O": 60,
        "AFTER: free P3_to_O": 8_000, "AFTER: end_turn": 2_000, "booster": 2, "pass": 2,
        "leech CHARGE": 400, "leech TOKEN_FIRST": 400, "leech DECLINE": 40, "skip": 5,
        "advanced": 5_000, "tile BT2_INC_O1_CH1": 800, "tile BT3_O1_Q1": 300,
        "tile BT8_PIAC_4": 300, "tile LF-TF2-FREE-MINE": 800, "token FT_8VP_2PT": 300,
    },
    other=100,
    near=(EQUAL, (100, 100, 60, 10, 2, 1, 1, 1)),
    cheap=(30, 8, 3, 1),
)  # fmt: skip
RARE = Policy(
    "rare",
    {
        "form_federation": 1_000_000, "advanced": 5_000, "commit": 100, "upgrade": 120,
        "piece PI": 300, "mine": 60, "project": 60, "advance": 100, "STEP: skip": 1_000_000,
        "FREE_MINE: skip": 20_000, "ship": 300, "explore": 2_000, "artifact": 5_000,
        "special": 20_000, "power": 150, "power PA_2PT": 300, "leech CHARGE": 300,
        "leech TOKEN_FIRST": 150, "skip": 20, "ITARS: skip": 300, "free": 10, "AFTER: free": 20,
        "token FT_GLEENS": 5_000, "booster": 2, "BOOSTER: booster": 100, "pass": 2,
    },
    other=100,
    near=(EQUAL, (30, 20, 15, 6, 2, 1, 1, 1)),
    cheap=(10, 4, 2, 1),
)  # fmt: skip
POLICIES = {policy.name: policy for policy in (FEDERATING, UNIFORM, RARE)}


@pytree
class Coverage:
    """How often each action was legal and chosen at each node, over the games of a batch."""

    legal: Array  # (N, A) int32
    chosen: Array  # (N, A) int32

    def add(self, state: State, action: Array, live: Array) -> Coverage:
        """Count one decision of each of B games.

        Args:
            state: B states before the decision.
            action: (B,) int32.
            live: (B,) bool, the game had not ended.
        """
        node = state.game.turn.node.astype(jnp.int32)
        legal = (state.legal_action_mask & live[:, None]).astype(jnp.int32)
        return Coverage(
            legal=self.legal.at[node].add(legal),
            chosen=self.chosen.at[node, action].add(live.astype(jnp.int32)),
        )


def play_function(
    env: GaiaEnv, batch: int
) -> Callable[[Array, Tables], tuple[State, Array, Coverage]]:
    """A compiled function that plays `batch` games to their ends.

    It takes a key and a policy, and returns the final states [B], the decisions of each game (B,)
    int32 and the coverage. All policies share one compilation.
    """

    def games(key: Array, policy: Tables) -> tuple[State, Array, Coverage]:
        setup_key, play_key = jax.random.split(key)
        state = jax.vmap(env.init)(jax.random.split(setup_key, batch))
        zeros = jnp.zeros((len(NODES), env.num_actions), jnp.int32)

        def running(carry: Any) -> Array:
            state, _, i, _ = carry
            return ~(state.terminated | state.truncated).all() & (i < MAX_DECISIONS)

        def decide(carry: Any) -> Any:
            state, decisions, i, coverage = carry
            live = ~(state.terminated | state.truncated)
            uniform = jax.random.uniform(jax.random.fold_in(play_key, i), (batch,))
            action = jax.vmap(lambda s, u: policy.choose(env.ruleset, s, u))(state, uniform)
            coverage = coverage.add(state, action, live)
            return jax.vmap(env.step)(state, action), decisions + live, i + 1, coverage

        start = state, jnp.zeros(batch, jnp.int32), jnp.int32(0), Coverage(zeros, zeros)
        state, decisions, _, coverage = jax.lax.while_loop(running, decide, start)
        return state, decisions, coverage

    return jax.jit(games)


def broken_invariants(state: State) -> dict[str, int]:
    """Number of finished games that break an invariant, by its name."""
    game = jax.tree.map(np.asarray, state.game)
    players, turn = game.players, game.turn
    tokens = players.power.sum(-1) + players.gaia_power
    within_caps = players.qic >= 0
    for name, cap in costs.CAPS.items():
        amount = getattr(players, name)
        within_caps &= (amount >= 0) & (amount <= cap)
    supply = [costs.PIECES.get(id, 99) for id in STRUCTURES]  # "NONE" is no piece
    top, tracks = research.MAX_LEVEL, players.tracks
    checks = {
        f"ended in round {costs.ROUNDS}": np.asarray(state.terminated)
        & (turn.round == costs.ROUNDS),
        "not truncated": ~np.asarray(state.truncated),
        "VP are the sum of their sources": (players.vp == players.vp_source.sum(-1)).all(-1),
        "VP >= 0": (players.vp >= 0).all(-1),
        "resources within caps": within_caps.all(-1),
        "power tokens in range": ((players.power >= 0).all(-1) & (tokens < 100)).all(-1),
        "pieces within supply": (players.built <= supply).all((-1, -2)),
        "satellites counted": (game.board.satellite.sum(-1) == players.satellites).all(-1),
        f"one player on level {top} of a track": ((tracks == top).sum(-2) <= 1).all(-1),
        "tracks in range": ((tracks >= 0) & (tracks <= top)).all((-1, -2)),
    }
    return {name: int((~ok).sum()) for name, ok in checks.items() if not ok.all()}


def final_counts(state: State, decisions: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of the report, of B finished games with P seats."""
    players = state.game.players
    names = ("formed", "satellites", "vp", "vp_source")
    columns = {name: np.asarray(getattr(players, name)).astype(int) for name in names}
    return columns | {"faction": np.asarray(state.game.setup.faction), "decisions": decisions}


def report(rules: Ruleset, columns: dict[str, np.ndarray]) -> str:
    """The tables of docs/lab/random_play.md.

    Args:
        rules: of the games.
        columns: (G, P) int `formed` (federations), `satellites`, `vp`, `faction`; (G, P, sources)
            int `vp_source`; (G,) int `decisions`.
    """
    formed, vp, decisions = columns["formed"], columns["vp"], columns["decisions"]
    lines = [
        f"Decisions per game: mean {decisions.mean():.1f}, max {decisions.max()}."
        f" VP per seat: mean {vp.mean():.2f}, max {vp.max()}.",
        f"Federations per seat: {formed.mean():.3f}."
        f" Satellites per seat: mean {columns['satellites'].mean():.2f},"
        f" max {columns['satellites'].max()}.",
        "\n| federations of a seat | seats | share |\n| --- | --- | --- |",
    ]
    for count, seats in enumerate(np.bincount(formed.ravel())):
        lines.append(f"| {count} | {seats} | {seats / formed.size:.4f} |")
    lines.append("\n| faction | seats | VP | federations |\n| --- | --- | --- | --- |")
    for i, name in enumerate(rules.ids["faction"]):
        seats = columns["faction"] == i
        if seats.any():
            means = f"{vp[seats].mean():.2f} | {formed[seats].mean():.3f}"
            lines.append(f"| {name} | {seats.sum()} | {means} |")
    lines.append("\n| source | mean VP |\n| --- | --- |")
    means = columns["vp_source"].mean((0, 1))
    lines += [f"| {x} | {v:.2f} |" for x, v in zip(rules.ids["vp_source"], means, strict=True)]
    return "\n".join(lines)


def coverage_report(rules: Ruleset, coverage: Coverage) -> str:
    """How many pairs of node and action were chosen, and which were legal but never chosen.

    Cells are grouped by their plane ("mine", "upgrade", ...).
    """
    names = [_option(text) for text in rules.actions.texts]
    legal, chosen = np.asarray(coverage.legal), np.asarray(coverage.chosen)
    totals: dict[str, np.ndarray] = {}
    for node, action in np.argwhere(legal):
        pair = f"{NODES[node]}: {names[action]}"
        counts = np.array([legal[node, action], chosen[node, action]])
        totals[pair] = totals.get(pair, 0) + counts
    never = [f"never chosen: {pair} (legal {n[0]} times)" for pair, n in totals.items() if not n[1]]
    missing = sorted(set(names) - {pair.partition(": ")[2] for pair in totals})
    lines = [f"Pairs of node and action: {len(totals)} legal, {len(totals) - len(never)} chosen."]
    return "\n".join([*lines, *never, *(f"never legal: {name}" for name in missing)])


def _option(text: str) -> str:
    """The text of an action; of a cell its plane alone."""
    verb = text.split()[0]
    return verb if verb in PLANES else text


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument(
        "--players",
        type=int,
        default=4,
        help="fewer than 4 for base and lost_fleet_published alone",
    )
    parser.add_argument("--policy", choices=POLICIES, default=FEDERATING.name)
    args = parser.parse_args(argv)
    env = gaia_jax.make(args.ruleset, players=args.players)
    rules, play = env.ruleset, play_function(env, args.batch)
    policy = POLICIES[args.policy].tables(rules)
    batches: list[dict[str, np.ndarray]] = []
    coverage, faults, started = None, [], time.monotonic()
    for i in range(-(-args.games // args.batch)):
        key = jax.random.fold_in(jax.random.PRNGKey(args.seed), i)
        state, decisions, counts = play(key, policy)
        batches.append(final_counts(state, np.asarray(decisions)))
        coverage = jax.tree.map(np.add, coverage, counts) if coverage else counts
        broken = broken_invariants(state).items()
        faults += [f"seed {args.seed}, batch {i}: {n} games: {name}" for name, n in broken]
        elapsed_s = time.monotonic() - started
        print(f"{(i + 1) * args.batch} games, {elapsed_s:.0f} s", file=sys.stderr)
    columns = {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}
    games = len(columns["decisions"])
    print(f"{games} games, policy {args.policy}, seed {args.seed}, {rules.name} {env.version}\n")
    print(report(rules, columns))
    print(f"\n{coverage_report(rules, coverage)}")
    print("\nBroken invariants: " + ("\n".join(faults) or "none"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
