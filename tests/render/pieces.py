"""The ids that a picture of a state must have, read from its arrays, each exactly once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.ruleset import Ruleset

KINDS = (
    "structure-", "gaiaformer-", "guest-", "station-", "ring-", "satellite-", "federated-",
    "planet-", "ship-", "track-", "sheet-", "advanced-", "basic-", "tile-", "held-", "token-",
    "booster-", "artifact-", "supply-", "action-", "round-", "mission-", "vp-", "bowls-", "built-",
    "credits-", "ore-", "knowledge-", "qic-", "academy-",
)  # fmt: skip


def expected(state: Any, ruleset: Ruleset) -> set[str]:
    """All of them."""
    out = on_the_map(state, ruleset) | shared(state, ruleset)
    for player in range(len(np.asarray(state.game.players.vp))):
        out |= of_player(state, ruleset, player)
    return out


def on_the_map(state: Any, ruleset: Ruleset) -> set[str]:
    """The pieces on the cells."""
    board, ids = state.game.board, ruleset.ids
    out = set()
    for kind in ("station", "ring"):
        out |= {f"{kind}-{c}" for c in np.flatnonzero(np.asarray(getattr(board, kind)))}
    for kind in ("gaiaformer", "guest"):
        out |= {f"{kind}-{c}" for c in np.flatnonzero(np.asarray(getattr(board, kind)) >= 0)}
    out |= {f"structure-{c}" for c in np.flatnonzero(np.asarray(board.structure))}
    for kind in ("satellite", "federated"):
        rows, cells = np.nonzero(np.asarray(getattr(board, kind)))
        out |= {f"{kind}-{p}-{c}" for p, c in zip(rows, cells, strict=True)}
    planet = np.asarray(board.planet)
    plain = (planet > 0) & (planet != ids["planet"].index("Ship"))
    out |= {f"planet-{c}" for c in np.flatnonzero(plain)}
    return out | {f"ship-{ship}" for ship in ruleset.ships}


def shared(state: Any, ruleset: Ruleset) -> set[str]:
    """The pieces that belong to no player."""
    turn, setup, ids, r = state.game.turn, state.game.setup, ruleset.ids, ruleset
    out = {f"round-{n}" for n in range(1, 7)} | {"mission-0", "mission-1"}
    out |= {f"action-{a.id}" for a in (*r.power_actions, *r.qic_actions, *r.ship_actions)}
    slots = enumerate(ids["advanced_slot"])
    out |= {f"advanced-{slot}" for i, slot in slots if int(turn.advanced_left) >> i & 1}
    out |= {f"basic-{t.id}" for t in (*r.basic_tiles, *r.ship_tiles)}
    out |= {f"supply-{t.id}" for t in r.base_tokens} | {f"track-{track}" for track in ids["track"]}
    out |= {f"sheet-{ship}" for ship in r.ships}
    places = range(r.artifacts_in_play)
    out |= {f"artifact-{i + 1}" for i in places if int(turn.artifacts_left) >> i & 1}
    tokens = enumerate(r.ships)
    out |= {f"ship-token-{ship}" for i, ship in tokens if int(turn.ship_tokens) >> i & 1}
    owned_boosters = set(np.asarray(state.game.players.booster).tolist())
    dealt = set(np.asarray(setup.boosters).tolist())
    return out | {f"booster-{ids['booster'][i]}" for i in dealt - owned_boosters}


def of_player(state: Any, ruleset: Ruleset, p: int) -> set[str]:
    """The pieces on a player's board, and the player's markers."""
    me, ids, r = state.game.players, ruleset.ids, ruleset
    out = {f"vp-{p}", f"bowls-{p}"}
    out |= {f"built-{p}-{kind}" for kind in ids["structure"] if kind != "NONE"}
    out |= {f"{name}-{p}" for name in ("credits", "ore", "knowledge", "qic")}
    out |= {f"academy-{p}"} if int(me.built[p][ids["structure"].index("AC_B")]) else set()

    def bits(field: Any, kind: str) -> list[str]:
        return [id for i, id in enumerate(ids[kind]) if int(field[p]) >> i & 1]

    out |= {f"tile-{p}-{id}" for id in bits(me.tiles, "tile") + bits(me.advanced, "advanced")}
    out |= {f"held-{p}-{id}" for id in bits(me.artifacts, "artifact")}
    for id, count in zip(ids["token"], np.asarray(me.tokens[p]).tolist(), strict=False):
        out |= {f"token-{p}-{id}-{n}" for n in range(count)}
    booster = int(me.booster[p])
    out |= {f"held-{p}-{r.ids['booster'][booster]}"} if booster >= 0 else set()
    return out
