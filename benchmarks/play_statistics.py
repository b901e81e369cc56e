"""Whole games by a policy, checked and in numbers: `python -m benchmarks.play_statistics`.

Each federation is checked when it is formed (`formings.checks`), each game at its end
(`games.broken`). `--policy uniform` plays at random, `federating` prefers federations. Prints the
tables behind docs/lab/random_play.md.
"""

from __future__ import annotations

import sys
import time

import jax
import numpy as np

import gaia_jax
from benchmarks import formings
from benchmarks.games import UNIFORM, Policy, arguments, broken, play
from gaia_jax.ruleset import Ruleset

# Federations of a game that the log has room for.
ROOM = 20
# Structures close together, on planets that cost little, but not beside a federation that stands:
# they would join it in vain. Ore is what is short, so whatever builds without it comes first.
FEDERATING = Policy(
    "federating",
    {
        "form_federation": 200,
        "mine": 300,
        "project": 40,
        "upgrade": 300,
        "advance": 10,
        "advance terraforming": 100,
        "advance economy": 30,
        "power": 120,
        "power PA_TF1": 2_000,
        "power PA_TF2": 2_000,
        "power PA_2O": 6_000,
        "power PA_2PT": 4_000,
        "power PA_7C": 5,
        "ship": 100,
        "ship REB_Q": 3_000,
        "ship REB_P": 6_000,
        "ship TWI_P": 6_000,
        "ship TFM_P": 1_000,
        "ship TFM_C": 6_000,
        "ship ECL_C": 6_000,
        "explore": 600,
        "artifact": 1,
        "special": 3_000,
        "free": 1,
        "TURN: free P3_to_O": 60,
        "AFTER: free P3_to_O": 8_000,
        "AFTER: end_turn": 2_000,
        "booster": 2,
        "pass": 2,
        "leech CHARGE": 400,
        "leech TOKEN_FIRST": 400,
        "leech DECLINE": 40,
        "skip": 5,
        "advanced": 5_000,
        "tile BT2_INC_O1_CH1": 800,
        "tile BT3_O1_Q1": 300,
        "tile BT8_PIAC_4": 300,
        "tile LF-TF2-FREE-MINE": 800,
        "token FT_8VP_2PT": 300,
    },
    other=100,
    near=((1, 1, 1, 1, 1, 1, 1, 1), (100, 100, 60, 10, 2, 1, 1, 1)),
    cheap=(30, 8, 3, 1),
)
POLICIES = {policy.name: policy for policy in (FEDERATING, UNIFORM)}


def main(argv: list[str] | None = None) -> int:
    """The command line; 1 if something does not hold."""
    parser = arguments(__doc__)
    parser.add_argument("--policy", choices=POLICIES, default=FEDERATING.name)
    args = parser.parse_args(argv)
    env = gaia_jax.make(args.ruleset, players=args.players)
    rules = env.ruleset
    run = play(env, args.batch, formings.Log(args.batch * ROOM, max(args.batch // 4, 1)))
    policy = POLICIES[args.policy].tables(rules)
    laid: list[np.ndarray] = []
    ends: list[dict[str, np.ndarray]] = []
    faults: list[str] = []
    began = time.time()
    for i in range(-(-args.games // args.batch)):
        state, count, record = run(jax.random.fold_in(jax.random.PRNGKey(args.seed), i), policy)
        found = formings.read(record)
        for name, ok in formings.checks(rules, found).items():
            for j in np.flatnonzero(~ok):
                where = f"seed {args.seed}, batch {i}, game {found.game[j]}"
                faults.append(f"{where}, decision {found.decision[j]}: not: {name}")
        for name, games in broken(state).items():
            faults.append(f"seed {args.seed}, batch {i}, {games} games at their ends: not: {name}")
        ends.append(_end(state, np.asarray(count)))
        faults += _totals(found, ends[-1], f"seed {args.seed}, batch {i}")
        laid.append(_laid(found))
        mean = np.concatenate([part["formed"] for part in ends]).mean()
        done, seconds = (i + 1) * args.batch, time.time() - began
        print(f"{done} games, {mean:.3f} federations a seat, {seconds:.0f} s", file=sys.stderr)
    end = {name: np.concatenate([part[name] for part in ends]) for name in ends[0]}
    print(
        f"{len(end['count'])} games of the policy {args.policy}, seed {args.seed},"
        f" {rules.name} {env.version}\n"
    )
    print(page(rules, end, np.concatenate(laid)))
    print("\nBroken: " + ("\n".join(faults) or "none"))
    return 1 if faults else 0


def _end(state, count: np.ndarray) -> dict[str, np.ndarray]:
    """What the table needs of finished games: B games, P seats."""
    players = state.game.players
    names = ("formed", "satellites", "vp", "tokens", "vp_source")
    out = {name: np.asarray(getattr(players, name)).astype(int) for name in names}
    out["tokens"] = out["tokens"].sum(-1)
    return out | {"faction": np.asarray(state.game.setup.faction), "count": count}


def _laid(found: formings.Formings) -> np.ndarray:
    """(E,) satellites laid for each federation."""
    rows = np.arange(len(found.player))
    counts = (found.players_after, found.players)
    after, before = (np.asarray(x.satellites)[rows, found.player].astype(int) for x in counts)
    return after - before


def _totals(found: formings.Formings, end: dict[str, np.ndarray], where: str) -> list[str]:
    """Whether what was seen at the formings adds up to what stands at the ends of the games."""
    seen = {"formed": np.ones(len(found.player), int), "satellites": _laid(found)}
    out = []
    for name, amount in seen.items():
        total = np.zeros_like(end[name])
        np.add.at(total, (found.game, found.player), amount)
        for game, player in np.argwhere(total != end[name]):
            out.append(f"{where}, game {game}: {name} of player {player} do not add up")
    return out


def page(rules: Ruleset, end: dict[str, np.ndarray], laid: np.ndarray) -> str:
    """The tables of docs/lab/random_play.md.

    Args:
        rules: of the games.
        end: (G, P) int federations `formed`, `satellites`, `vp`, `tokens`, `faction`;
            (G, P, sources) `vp_source`; (G,) `count`.
        laid: (E,) int, satellites of each federation.
    """
    formed, faction, bound = end["formed"], end["faction"], formings.bounds(rules)
    seats = formed.size
    lines = [
        f"Decisions a game: mean {end['count'].mean():.1f}, max {end['count'].max()}."
        f" VP a seat: mean {end['vp'].mean():.2f}, max {end['vp'].max()}.",
        "",
        f"Federations: {formed.sum()}, {formed.mean():.3f} a seat,"
        f" {formed.mean() * rules.players:.2f} a game. Satellites: {laid.sum()},"
        f" {laid.sum() / max(len(laid), 1):.2f} a federation, at most {laid.max(initial=0)} of one"
        f" and {end['satellites'].max()} of a seat (bound 25). Tokens of a seat: at most"
        f" {end['tokens'].max()} (bound 8).",
        "",
        "| federations of a seat | seats | share |",
        "| --- | --- | --- |",
    ]
    for k in range(formed.max() + 1):
        n = (formed == k).sum()
        lines.append(f"| {k} | {n} | {n / seats:.4f} |")
    lines += [
        "",
        "| faction | seats | VP | federations | 1st | 2nd | 3rd | more | most | bound |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for i, name in enumerate(rules.ids["faction"]):
        own, vp = formed[faction == i], end["vp"][faction == i]
        if own.size:
            by = " | ".join(str((own >= k).sum()) for k in (1, 2, 3, 4))
            lines.append(
                f"| {name} | {own.size} | {vp.mean():.2f} | {own.mean():.3f} | {by} | {own.max()}"
                f" | {bound[i]} |"
            )
    lines += ["", "| source | mean VP |", "| --- | --- |"]
    means = end["vp_source"].reshape(-1, end["vp_source"].shape[-1]).mean(0)
    for name, mean in zip(rules.ids["vp_source"], means, strict=True):
        lines.append(f"| {name} | {mean:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
