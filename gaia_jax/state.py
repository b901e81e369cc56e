"""GameState and its parts: shape, dtype, range and meaning of every field.

C is the number of cells, P = 4 the number of players. The player comes first on every axis that
has one. Everything is public (GEN-05); nothing here knows of learning. Packed fields (`piece`,
`flags`, `links`) keep a game under 4 KB; the properties beside them read as the rulebook speaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.common import RESOURCES
from gaia_jax.packed import FLAG, SHORT, WIDE, Field, Packed
from gaia_jax.struct import pytree

if TYPE_CHECKING:
    from gaia_jax.rules.draw import Setup

NUM_PLAYERS = 4
NO_PLAYER = -1

# Codes of `Board.piece`: the structures in the order of `ids["structure"]`, then the gaiaformer.
NONE, MINE, TS, RL, PI, AC_A, AC_B, GAIAFORMER = range(8)

# Bits of `Board.flags`; the low four say which players have a structure within two cells.
STATION, RING, GUEST, FRESH = 16, 32, 64, 128

# Where the brainstone lies: bowl 0, 1, 2, the Gaia area, or nowhere.
GAIA_AREA, NO_BRAINSTONE = 3, -1


class Node:
    """The decision nodes of `docs/actions.md`; the value is `Turn.node`."""

    START = 0
    BOOSTER = 1
    TINKERING = 2
    INCOME = 3
    TERRANS = 4
    ITARS = 5
    TURN = 6
    TARGET = 7
    PIECE = 8
    FEDERATION = 9
    TOKEN = 10
    RETRIGGER = 11
    TILE = 12
    COVER = 13
    FREE_MINE = 14
    STEP = 15
    LOST_PLANET = 16
    LEECH = 17
    AFTER = 18
    ENDED = 19


class Phase:
    """The phases of a round (ROU-01); the value is `Turn.phase`."""

    SETUP = 0
    TINKERING = 1
    INCOME = 2
    GAIA = 3
    ACTIONS = 4
    OVER = 5


NODES = tuple(name for name in vars(Node) if not name.startswith("_"))


def _player_bits(bits: Array) -> Array:
    """(..., C) uint8 with a bit a player -> (..., P, C) bool."""
    shifts = jnp.arange(NUM_PLAYERS, dtype=jnp.uint8)[:, None]
    return (bits[..., None, :] >> shifts) & 1 == 1


@pytree
class Board:
    """What lies on the map, by cell."""

    planet: Array  # (C,) int8, index in ids["planet"]: Empty, Red .. Blue, Gaia, Proto, ...
    piece: Array  # (C,) int8, NONE, MINE .. AC_B, GAIAFORMER
    holder: Array  # (C,) int8, whose piece it is; -1 where `piece` is NONE
    flags: (
        Array  # (C,) uint8, bits 0-3 a structure of that player within 2; STATION RING GUEST FRESH
    )
    links: (
        Array  # (C,) uint8, bits 0-3 a satellite of that player, 4-7 in a federation of that player
    )
    reach: Array  # (P, C) int8, distance to the nearest own structure or station; 127 without any
    lantids: Array  # () int8, the player whose mines are guests, -1 none

    @property
    def structure(self) -> Array:
        """(..., C) int8, index in ids["structure"]; a gaiaformer is none (0)."""
        return jnp.where(self.piece == GAIAFORMER, NONE, self.piece)

    @property
    def owner(self) -> Array:
        """(..., C) int8, owner of the structure or -1. A guest mine is in `guest`."""
        return jnp.where(self.piece == GAIAFORMER, NO_PLAYER, self.holder)

    @property
    def gaiaformer(self) -> Array:
        """(..., C) int8, whose gaiaformer stands there, or -1."""
        return jnp.where(self.piece == GAIAFORMER, self.holder, NO_PLAYER)

    @property
    def station(self) -> Array:
        """(..., C) bool, a space station of the Hive (HIV-01)."""
        return self.flags & STATION != 0

    @property
    def ring(self) -> Array:
        """(..., C) bool, a power ring of the Moweyds (MOW-01)."""
        return self.flags & RING != 0

    @property
    def has_guest(self) -> Array:
        """(..., C) bool, a parasitic mine of the Lantids (LAN-01)."""
        return self.flags & GUEST != 0

    @property
    def guest(self) -> Array:
        """(..., C) int8, whose parasitic mine stands there, or -1."""
        return jnp.where(self.has_guest, self.lantids[..., None], NO_PLAYER).astype(jnp.int8)

    @property
    def fresh(self) -> Array:
        """(..., C) bool, instantly gaiaformed this round: no mine until the next (MIN-20)."""
        return self.flags & FRESH != 0

    @property
    def satellite(self) -> Array:
        """(..., P, C) bool, a satellite of the player."""
        return _player_bits(self.links)

    @property
    def federated(self) -> Array:
        """(..., P, C) bool, the player's structure or station there is in a federation of his."""
        return _player_bits(self.links >> 4)

    @property
    def near(self) -> Array:
        """(..., P, C) bool, the player has a structure within two cells (UPG-03)."""
        return _player_bits(self.flags)


@pytree
class Players:
    """What lies on the player boards and the research board; without the P axis, one player."""

    vp: Array  # (P,) int16, >= 0
    resources: Array  # (P, 4) int8: credits 0..30, ore 0..15, knowledge 0..15, QIC 0..100
    power: Array  # (P, 3) int8, ordinary tokens in bowls I, II, III
    gaia_power: Array  # (P,) int8, ordinary tokens in the Gaia area
    brainstone: Array  # (P,) int8, bowl 0..2, GAIA_AREA or NO_BRAINSTONE
    tracks: Array  # (P, 6) int8, 0..5, order of ids["track"]
    built: (
        Array  # (P, 7) int8, own pieces on the map by structure; mines with guests, no Lost Planet
    )
    colonized: Array  # (P, 14) int8, own structures by planet, no guests, with the Lost Planet
    guests: Array  # (P,) int8, parasitic mines built
    guest_protos: Array  # (P,) int8, of these on protoplanets
    guest_asteroids: Array  # (P,) int8, of these on asteroids
    sectors: Array  # (P,) int32, bit a sector (ids["sector"]) with an own structure or guest
    tiles: Array  # (P,) int16, bit a basic or ship tile kind owned, ids["tile"]
    covered: Array  # (P,) int16, bit a kind covered
    advanced: Array  # (P,) int32, bit an advanced tile owned, ids["advanced"]
    tokens: Array  # (P, 15) int8, federation tokens by kind, ids["token"]
    green: Array  # (P,) int8, of these with the green side up
    formed: Array  # (P,) int8, federations formed (no track or Gleens token): FED-15, FED-16
    satellites: Array  # (P,) int8, 0..25
    stations: Array  # (P,) int8, 0..6
    rings: Array  # (P,) int8, 0..6
    gaiaformers: Array  # (P,) int8, available on the board, 0..3
    gaiaformers_out: Array  # (P,) int8, on the map
    gaiaformers_gaia: Array  # (P,) int8, in the Gaia area (Bal T'aks)
    shuttles: Array  # (P,) int8, bit a ship, ids["ship"]
    artifacts: Array  # (P,) int16, bit a kind owned, ids["artifact"]
    booster: Array  # (P,) int8, index in ids["booster"], -1 none; after passing the reserved one
    used: Array  # (P,) int16, bit a private special used this round, ids["special"]
    tinkering: Array  # (P,) int8, this round's tile, -1 none
    tinkered: Array  # (P,) int8, bit a tinkering tile chosen in some round
    income: Array  # (P,) int16, bit an income atom still pending, ids["income"]
    enough: Array  # (P,) int8, fewest satellites known to allow a federation, 100 unknown
    short: Array  # (P,) int8, most satellites known to allow none, -1 unknown
    vp_source: Array  # (P, 18) int16, VP by ids["vp_source"]; their sum is vp


@pytree
class Turn:
    """Whose decision is next, and what is pending (GEN-15)."""

    round: Array  # () int8, 0 set-up, 1..6
    phase: Array  # () int8, Phase
    node: Array  # () int8, Node
    player: Array  # () int8, who decides
    active: Array  # () int8, whose turn or whose sub-decision it is
    order: Array  # (P,) int8, player ids in turn order
    passed: Array  # (P,) int8, 0 not passed, k the k-th to pass
    sequence: Array  # (13,) int8, players of the set-up decisions, boosters last; -1 beyond
    placed: Array  # () int8, set-up decisions made so far
    free_actions: Array  # () int8, taken this turn, 0..64 (ROU-08)
    brainstone_reversed: Array  # () bool, it takes the other place in payments this turn (A21)
    mode: Array  # () int16, operation waiting for its target, ids["operation"]; -1 none
    cell: Array  # () int16, cell of an upgrade waiting for its piece; -1 none
    acted: Array  # () bool, the main action of this turn is done
    token: Array  # () bool, a federation token to choose
    retrigger: Array  # () bool, an owned token to score again
    tile: Array  # () bool, a tech tile to take
    cover: Array  # () int8, slot of the advanced tile waiting for the tile it covers; -1 none
    free_mine: Array  # () int16, operation of a free mine; -1 none
    step: Array  # () int8, 0 none, 1 any track, 2 + t consent to the step on track t
    lost_planet: Array  # () bool, the Lost Planet to place
    qic_action: Array  # () bool, SA-QIC-4VP to be paid when the action is resolved (ADV-01)
    building: Array  # () bool, the federation builder is open
    picks: Array  # () int16, bit a group picked
    picked: Array  # () int16, cell of the group picked last, not yet counted in; -1 none, -2 commit
    leech: Array  # (3, P) int8, power offered by event and player, 0 none (LEE-05)
    power_used: Array  # () int8, bit a power action used this round
    ship_used: Array  # () int16, bit a ship action used this round
    advanced_left: Array  # () int8, bit a slot whose advanced tile is still there
    artifacts_left: Array  # () int8, bit a place whose artifact is still there
    token_supply: Array  # (6,) int8, base federation tokens left
    ship_tokens: Array  # () int8, bit a ship whose token is still there
    track_token: Array  # () bool, the federation token on terraforming 5 is still there
    points: Array  # () int8, Gaia-phase tokens the Terrans can still convert


def _fields(plain: type, special: dict[str, Field]) -> dict[str, Field]:
    return {name: special.get(name, Field()) for name in plain.__dataclass_fields__}


@pytree
class PackedPlayers(Packed):
    """`Players` as a game keeps them; the fields read as the attributes of `Players`."""

    aliases = {name: ("resources", i) for i, name in enumerate(RESOURCES)}
    fields = _fields(
        Players,
        {
            "vp": Field(SHORT),
            "resources": Field(shape=(4,)),
            "power": Field(shape=(3,)),
            "tracks": Field(shape=(6,)),
            "built": Field(shape=(7,)),
            "colonized": Field(shape=(14,)),
            "sectors": Field(WIDE),
            "tiles": Field(SHORT),
            "covered": Field(SHORT),
            "advanced": Field(WIDE),
            "tokens": Field(shape=(15,)),
            "artifacts": Field(SHORT),
            "used": Field(SHORT),
            "income": Field(SHORT),
            "vp_source": Field(SHORT, (18,)),
        },
    )


@pytree
class PackedTurn(Packed):
    """`Turn` as a game keeps it; the fields read as the attributes of `Turn`."""

    fields = _fields(
        Turn,
        {
            "order": Field(shape=(NUM_PLAYERS,)),
            "passed": Field(shape=(NUM_PLAYERS,)),
            "sequence": Field(shape=(13,)),
            "mode": Field(SHORT),
            "cell": Field(SHORT),
            "brainstone_reversed": Field(FLAG),
            "acted": Field(FLAG),
            "token": Field(FLAG),
            "retrigger": Field(FLAG),
            "tile": Field(FLAG),
            "free_mine": Field(SHORT),
            "lost_planet": Field(FLAG),
            "qic_action": Field(FLAG),
            "building": Field(FLAG),
            "picks": Field(SHORT),
            "picked": Field(SHORT),
            "leech": Field(shape=(3, NUM_PLAYERS)),
            "ship_used": Field(SHORT),
            "token_supply": Field(shape=(6,)),
            "track_token": Field(FLAG),
        },
    )


@pytree
class FederationOptions:
    """What a search found that the decider may do about federations (A10); the mask reads it."""

    may_form: Array  # () bool, at TURN: a legal federation exists
    addable: Array  # (ceil(C / 8),) uint8, in the builder: bit a cell, the lowest of its group
    complete: Array  # () bool, in the builder: the picks may be committed


@pytree
class GameState:
    """One game and the set-up that it was dealt from. At most 4 KB with its mask."""

    board: Board
    players: PackedPlayers
    turn: PackedTurn
    federation: FederationOptions
    setup: Setup
    steps: Array  # (P, 14) int8, terraforming steps by planet, INI-09; -1 not colonizable by steps
