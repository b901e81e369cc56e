"""Decisions a second of the adapters compared with the bare environment, in one run.

    python -m benchmarks.adapters --batch 1024 --rounds 5 --json runs/adapters.json
    python -m benchmarks.adapters --pairs single_agent gymnasium --batch 64 1024 4096

Both sides of a pair play random legal games with auto-reset in a jitted scan, with the same
sampler, and make the same observations at every decision; rounds alternate, and a ratio is taken
inside a round. The views of one seat count own decisions next to random opponents, each with its
scaled observation, and are compared with all decisions of the bare environment without one;
Gymnasium's is called from the host. PettingZoo's plays one game on the host and is compared with
the bare compiled step called the same way.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from benchmarks import measure
from benchmarks.peers import Contender
from gaia_jax.adapters.layout import arranged
from gaia_jax.cli import command_line
from gaia_jax.testing import sample_legal

MAX_RATIO = 1.10  # most time with an adapter of pgx or JaxMARL, as a multiple of that without

# Name of a pair, and whether it is limited to MAX_RATIO.
PAIRS = {
    "pgx": True,
    "pgx-vector": True,
    "pgx-picture": True,
    "jaxmarl": True,
    "jaxmarl-observed": True,
    "pgx-auto_reset": False,  # pgx's own wrapper, which deals a game to every row at every step
    "single_agent": False,
    "gymnasium": False,
}
HOST = "pettingzoo"  # one game
BURN_IN = 256  # decisions of each game


class Multi(NamedTuple):
    """A state of JaxMARL's interface, and what its agents see."""

    state: Any
    seen: Any

    def __getattr__(self, name: str) -> Any:
        """Everything else is the state's: mask of the decider, whether the game is over."""
        return getattr(self.state, name)


class View(NamedTuple):
    """A state of a single-agent view, and what its seat sees."""

    state: Any
    seen: Any

    def __getattr__(self, name: str) -> Any:
        """Everything else is the game's: mask of the own seat, whether the game is over."""
        return getattr(self.state.env_state, name)


def bare(env: gaia_jax.GaiaEnv, kind: str = "", seats: int = 1) -> Contender:
    """The environment itself, with observations of `kind` for the decider or for all seats."""
    auto = gaia_jax.auto_reset(env)

    def see(state: Any) -> Any:
        if seats == 1:
            return arranged(kind, env.ruleset, env.observe(state, state.current_player))
        seen = [arranged(kind, env.ruleset, env.observe(state, p)) for p in range(seats)]
        return [x.astype(jnp.float32) for x in seen]

    name = f"bare, {kind} x {seats}" if kind else "bare"
    observe = see if kind else None
    return _contender(name, env, auto.init, auto.step, observe)


def pgx_env(env: gaia_jax.GaiaEnv, kind: str = "none", wrapper: bool = False) -> Contender:
    """`PgxEnv`, with its own way to a new game or with pgx's wrapper."""
    from gaia_jax.adapters.pgx import PgxEnv

    outside = PgxEnv(env, observation=kind)
    play = outside.auto_step
    if wrapper:
        from pgx.experimental import auto_reset

        play = auto_reset(outside.step, outside.init)
    name = "PgxEnv, pgx auto_reset" if wrapper else f"PgxEnv, {kind}"
    return _contender(name, env, outside.init, play)


def marl_env(env: gaia_jax.GaiaEnv, observed: bool) -> Contender:
    """`GaiaMARL`; its four observations are made where they are kept in the state."""
    from gaia_jax.adapters.jaxmarl import GaiaMARL

    outside = GaiaMARL(env)

    def reset(key: jax.Array) -> Multi:
        seen, state = outside.reset(key)
        return Multi(state, seen if observed else None)

    def play(at: Multi, action: jax.Array, key: jax.Array) -> Multi:
        actions = dict.fromkeys(outside.agents, action)
        seen, state, *_ = outside.step(key, at.state, actions)
        return Multi(state, seen if observed else None)

    return _contender("GaiaMARL, observed" if observed else "GaiaMARL", env, reset, play)


def view_env(env: gaia_jax.GaiaEnv) -> Contender:
    """`single_agent` next to random opponents."""
    view = gaia_jax.single_agent(env)

    def reset(key: jax.Array) -> View:
        seen, state = view.reset(key)
        return View(state, seen)

    def play(at: View, action: jax.Array, key: jax.Array) -> View:
        seen, state, *_ = view.step(key, at.state, action)
        return View(state, seen)

    return _contender("single_agent", env, reset, play)


def vector_env_rounds(env: gaia_jax.GaiaEnv, games: int, seconds: float) -> Callable[[], float]:
    """Rounds of `GaiaVectorEnv` next to random opponents; own decisions a second."""
    from gaia_jax.adapters.gymnasium import GaiaVectorEnv

    envs, rng = GaiaVectorEnv(games, env), np.random.default_rng(0)
    sample = jax.jit(jax.vmap(sample_legal))
    mask = envs.reset(seed=0)[1]["action_mask"]

    def play() -> None:
        nonlocal mask
        uniform = rng.random(games, np.float32)
        *_, infos = envs.step(np.asarray(sample(mask > 0, uniform)))
        mask = infos["action_mask"]

    def measure_round() -> float:
        start, steps = time.perf_counter(), 0
        while time.perf_counter() < start + seconds:
            play()
            steps += 1
        return steps * games / (time.perf_counter() - start)

    for _ in range(BURN_IN):
        play()
    return measure_round


def pair(name: str, env: gaia_jax.GaiaEnv) -> tuple[Contender, Contender]:
    """The bare environment and the adapter that do the same work."""
    if name == "single_agent":
        return bare(env), view_env(env)
    if name == "pgx-auto_reset":
        return bare(env), pgx_env(env, wrapper=True)
    if name.startswith("pgx"):
        kind = name.partition("-")[2]
        return bare(env, kind), pgx_env(env, kind or "none")
    observed = name == "jaxmarl-observed"
    return bare(env, "vector", env.num_players) if observed else bare(env), marl_env(env, observed)


def _contender(
    name: str,
    env: gaia_jax.GaiaEnv,
    reset: Callable[..., Any],
    play: Callable[..., Any],
    observe: Callable[..., Any] | None = None,
) -> Contender:
    return Contender(name, str(env.version), env.num_actions, reset, play, play, observe)


def measure_pair(
    name: str, env: gaia_jax.GaiaEnv, batch: int, args: argparse.Namespace
) -> dict[str, Any]:
    """Rounds of both sides of a pair in turn; `ratio` is the adapter's time over the bare one's."""
    runs = []
    for side in (bare(env),) if name == "gymnasium" else pair(name, env):
        print(f"compiling {name}: {side.name}", file=sys.stderr)
        observe = side.observe is not None
        runner = measure.Runner(side, batch, args.steps, observe, BURN_IN, args.seed)
        runs.append(partial(runner.round, runner.calls_for(args.seconds)))
    if name == "gymnasium":
        runs.append(vector_env_rounds(env, batch, args.seconds))
    rounds = measure.take_turns(runs, args.rounds)
    return {
        "pair": name,
        "batch": batch,
        "limited": PAIRS[name],
        "bare": measure.spread(rounds[0]),
        "adapter": measure.spread(rounds[1]),
        "ratio": measure.spread([a / b for a, b in zip(*rounds, strict=True)]),
    }


def measure_host(env: gaia_jax.GaiaEnv, seconds: float, rounds: int) -> dict[str, Any]:
    """PettingZoo's interface: decisions of one game on the host, `last` and `step` for each."""
    from gaia_jax.adapters.pettingzoo import aec_env

    outside = aec_env(env)
    init, step = jax.jit(env.init), outside._step
    key = jax.random.key(0)

    def play_bare(until: float) -> int:
        state, count = init(key), 0
        while time.perf_counter() < until:
            over = bool(state.terminated)
            state = init(key) if over else step(state, int(np.argmax(state.legal_action_mask)))
            count += 1
        return count

    def play_aec(until: float) -> int:
        count = 0
        outside.reset(seed=0)
        while time.perf_counter() < until:
            seen, _, over, cut, _ = outside.last()
            if over or cut:
                outside.reset(seed=0)
            else:
                outside.step(int(seen["action_mask"].argmax()))
            count += 1
        return count

    def speed(play: Callable[[float], int]) -> float:
        started = time.perf_counter()
        return play(started + seconds) / (time.perf_counter() - started)

    runs = [partial(speed, play) for play in (play_bare, play_aec)]
    sides = [speeds[1:] for speeds in measure.take_turns(runs, rounds + 1)]  # the first compiles
    ratio = measure.spread([a / b for a, b in zip(*sides, strict=True)])
    bare_, adapter = map(measure.spread, sides)
    result = {"pair": HOST, "batch": 1, "limited": False, "ratio": ratio}
    return result | {"bare": bare_, "adapter": adapter}


def main(argv: list[str] | None = None) -> int:
    """The command line; 1 if a limited adapter exceeds MAX_RATIO."""
    args = _arguments(argv)
    env = gaia_jax.make(args.env, players=args.players)
    report: dict[str, Any] = {"machine": measure.machine(), "env": f"{env.id} {args.players}"}
    report["results"] = []
    print(f"{'pair':<18}{'batch':>6}{'bare /s':>10}{'adapter /s':>12}{'times as long':>26}")
    runs = [(name, n) for name in args.pairs for n in ([1] if name == HOST else args.batch)]
    for name, batch in runs:
        if name == HOST:
            result = measure_host(env, args.seconds, args.rounds)
        else:
            result = measure_pair(name, env, batch, args)
        report["results"].append(result)
        spread = measure.spread_text(result["ratio"], 2)
        print(
            f"{name:<18}{result['batch']:>6}{result['bare']['median']:>10,.0f}"
            f"{result['adapter']['median']:>12,.0f}{spread:>26}",
            flush=True,
        )
        measure.write_report(args.json, report, report_path=False)
    command_line.wrote(args.json)
    return int(any(r["limited"] and r["ratio"]["median"] > MAX_RATIO for r in report["results"]))


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = measure.command_parser("adapters", __doc__, "machine", "env", "results")
    contenders = [*PAIRS, HOST]
    add = parser.add_argument
    add("--pairs", nargs="+", choices=contenders, default=contenders)
    add("--env", default="lost_fleet", help="the ruleset (default: %(default)s)")
    add("--players", type=int, default=4, help="default: %(default)s")
    add("--batch", nargs="+", type=int, default=[1024], help="games at once (default: 1024)")
    add("--steps", type=int, default=32, help="decisions of a game in one call (default: 32)")
    add("--rounds", type=int, default=5, help="default: %(default)s")
    add("--seconds", type=float, default=2.0, help="of a round (default: %(default)s)")
    add("--seed", type=int, default=0, help="default: %(default)s")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
