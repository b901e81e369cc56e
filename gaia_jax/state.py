"""GameState and its parts: shape, dtype, range and meaning of every field.

C is the ruleset's number of cells, P its number of rows of players, 2 to 4, and S the number of
those who decide: in a solo game P = 2, since the Automa is player 1, and S = 1; in any other P = S.
An axis over players is the first axis of its field. Everything is public (GEN-05) but the Automa's
cards; nothing here is about learning. Packed fields (`piece`, `flags`, `federation_bits`) keep a
game under 4 KB; their properties use the terms of the rulebook.
"""

from __future__ import annotations

from enum import IntEnum

import jax.numpy as jnp
from jax import Array

from gaia_jax.xla.jax_config import own_jax_config
from gaia_jax.xla.packed import BOOL, INT16, INT32, UINT8, Column, Field, PackedRecord, PerPlayer
from gaia_jax.xla.struct import Struct, leaf, pytree, pytree_without_empty

NO_PLAYER = -1
# The players of a solo game.
HUMAN, AUTOMA = 0, 1

# Codes of `Board.piece`: the structures in the order of `ids["structure"]`, then the gaiaformer.
NONE, MINE, TS, RL, PI, AC_A, AC_B, GAIAFORMER = range(8)

# Bits of `Board.flags`; the low four say which players have a structure within two cells.
STATION, RING, GUEST, FRESH = 16, 32, 64, 128

# Place of the brainstone: bowl 0, 1, 2, the Gaia area, or none.
GAIA_AREA, NO_BRAINSTONE = 3, -1


class Node(IntEnum):
    """The decision nodes of `docs/reference/actions.md`; the value is `Turn.node`."""

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


class Phase(IntEnum):
    """The phases of a round (ROU-01); the value is `Turn.phase`."""

    SETUP = 0
    TINKERING = 1
    INCOME = 2
    GAIA = 3
    ACTIONS = 4
    OVER = 5


NODES = tuple(node.name for node in Node)


@own_jax_config
def _player_bits(bits: Array, players: int) -> Array:
    """(..., C) uint8 with a bit a player -> (..., P, C) bool."""
    shifts = jnp.arange(players, dtype=jnp.uint8)[:, None]
    return (bits[..., None, :] >> shifts) & 1 == 1


@pytree
class Board(Struct):
    """The pieces on the map, by cell."""

    planet: Array = leaf(
        'index in ids["planet"]: Empty, Red .. Blue, Gaia, Proto, ...', 0, 13, shape=("C",)
    )
    piece: Array = leaf("NONE, MINE .. AC_B, GAIAFORMER", 0, 7, shape=("C",))
    piece_owner: Array = leaf("whose piece it is; -1 where `piece` is NONE", -1, 3, shape=("C",))
    flags: Array = leaf(
        "bits 0-3 a structure of that player within 2; STATION RING GUEST FRESH",
        0,
        255,
        UINT8,
        shape=("C",),
    )
    federation_bits: Array = leaf(
        "bits 0-3 a satellite of that player, 4-7 in a federation of that player",
        0,
        255,
        UINT8,
        shape=("C",),
    )
    distance_to_own: Array = leaf(
        "distance to the nearest own structure or station; 127 without any",
        0,
        127,
        shape=("P", "C"),
    )
    lantids: Array = leaf("the player whose mines are guests, -1 none", -1, 3)

    @property
    def num_players(self) -> int:
        """P."""
        return self.distance_to_own.shape[-2]

    @property
    def structure(self) -> Array:
        """(..., C) int8, index in ids["structure"]; a gaiaformer is none (0)."""
        return jnp.where(self.piece == GAIAFORMER, NONE, self.piece)

    @property
    def owner(self) -> Array:
        """(..., C) int8, owner of the structure or -1. A guest mine is in `guest`."""
        return jnp.where(self.piece == GAIAFORMER, NO_PLAYER, self.piece_owner)

    @property
    def gaiaformer(self) -> Array:
        """(..., C) int8, owner of the gaiaformer, or -1."""
        return jnp.where(self.piece == GAIAFORMER, self.piece_owner, NO_PLAYER)

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
        """(..., C) bool, a guest mine of the Lantids (LAN-01)."""
        return self.flags & GUEST != 0

    @property
    def guest(self) -> Array:
        """(..., C) int8, owner of the guest mine, or -1."""
        return jnp.where(self.has_guest, self.lantids[..., None], NO_PLAYER).astype(jnp.int8)

    def structures_of(self, player: Array | int) -> Array:
        """(..., C) bool, structures of a player, the Lost Planet too; guests and stations not.

        Args:
            player: int8, as wide as the cells; of several players, (P, 1).
        """
        return (self.piece_owner == player) & (self.piece != GAIAFORMER)

    def guests_of(self, player: Array | int) -> Array:
        """(..., C) bool, guest mines of a player, as for `structures_of`; of one board."""
        return self.has_guest & (self.lantids == player)

    @property
    def fresh(self) -> Array:
        """(..., C) bool, instantly gaiaformed this round: no mine until the next (MIN-20)."""
        return self.flags & FRESH != 0

    @property
    def satellite(self) -> Array:
        """(..., P, C) bool, a satellite of the player."""
        return _player_bits(self.federation_bits, self.num_players)

    @property
    def federated(self) -> Array:
        """(..., P, C) bool, the player's structure or station is in one of their federations."""
        return _player_bits(self.federation_bits >> 4, self.num_players)

    @property
    def near(self) -> Array:
        """(..., P, C) bool, the player has a structure within two cells (UPG-03)."""
        return _player_bits(self.flags, self.num_players)


@pytree
class Players(PackedRecord):
    """The player boards and the research board; without the P axis, one player.

    Every field has the axis P first: `players.vp` is (P,).
    """

    vp = Field("victory points", 0, 1000, INT16)
    resources = Field("credits 0..30, ore 0..15, knowledge 0..15, QIC", 0, 100, shape=(4,))
    power = Field("ordinary tokens in bowls I, II, III", 0, 100, shape=(3,))
    gaia_power = Field("ordinary tokens in the Gaia area", 0, 100)
    brainstone = Field("bowl 0..2, GAIA_AREA or NO_BRAINSTONE", -1, 3)
    tracks = Field('levels in the order of ids["track"]', 0, 5, shape=(6,))
    built = Field(
        "own pieces on the map by structure; mines with guests, no Lost Planet", 0, 8, shape=(7,)
    )
    colonized = Field(
        "own structures by planet, no guests, with the Lost Planet", 0, 19, shape=(14,)
    )
    guests = Field("guest mines built", 0, 8)
    guest_protos = Field("of these on protoplanets", 0, 8)
    guest_asteroids = Field("of these on asteroids", 0, 8)
    sectors = Field(
        'bit a sector (ids["sector"]) with an own structure or guest', 0, 2**18 - 1, INT32
    )
    tiles = Field('bit a basic or ship tile kind owned, ids["tile"]', 0, 2**12 - 1, INT16)
    covered = Field("bit a kind covered", 0, 2**12 - 1, INT16)
    advanced = Field('bit an advanced tile owned, ids["advanced"]', 0, 2**21 - 1, INT32)
    tokens = Field('federation tokens by kind, ids["token"]', 0, 8, shape=(15,))
    green = Field("of these with the green side up", 0, 10)
    formed = Field("federations formed (no track or Gleens token): FED-15, FED-16", 0, 10)
    satellites = Field("satellites laid", 0, 25)
    stations = Field("space stations of the Hive", 0, 6)
    rings = Field("power rings of the Moweyds", 0, 6)
    gaiaformers = Field("available on the board", 0, 3)
    gaiaformers_out = Field("on the map", 0, 3)
    gaiaformers_gaia = Field("in the Gaia area (Bal T'aks)", 0, 3)
    shuttles = Field('bit a ship, ids["ship"]', 0, 15)
    artifacts = Field('bit a kind owned, ids["artifact"]', 0, 2**13 - 1, INT16)
    booster = Field('index in ids["booster"], -1 none; after passing the reserved one', -1, 13)
    used = Field('bit a special action used this round, ids["special"]', 0, 2**10 - 1, INT16)
    tinkering = Field("this round's tile, -1 none", -1, 5)
    tinkered = Field("bit a tinkering tile chosen in some round", 0, 2**6 - 1)
    income = Field('bit an income atom still pending, ids["income"]', 0, 2**8 - 1, INT16)
    min_satellites_feasible = Field(
        "fewest satellites known to allow a federation, 100 unknown", 0, 100
    )
    max_satellites_infeasible = Field("most satellites known to allow none, -1 unknown", -1, 100)
    vp_source = Field('VP by ids["vp_source"]; their sum is vp', -1000, 1000, INT16, (18,))

    credits = Column("resources", 0)
    ore = Column("resources", 1)
    knowledge = Column("resources", 2)
    qic = Column("resources", 3)


@pytree
class Turn(PackedRecord):
    """Whose decision is next, and what is pending (GEN-15)."""

    round = Field("0 set-up, 1..6", 0, 6)
    phase = Field("of the round, Phase", 0, max(Phase))
    node = Field("the open decision, Node", 0, max(Node))
    player = Field("who decides", 0, 3)
    active = Field("whose turn or whose sub-decision it is", 0, 3)
    order = Field("player ids in turn order", 0, 3, shape=(PerPlayer(),))
    passed = Field("0 not passed, k the k-th to pass", 0, 4, shape=(PerPlayer(),))
    sequence = Field(
        "players of the set-up decisions, boosters last; -1 beyond",
        -1,
        3,
        shape=(PerPlayer(3, 1),),  # two mines and a booster each, the Xenos' third mine
    )
    setup_done = Field("set-up decisions made so far", 0, 13)
    free_actions = Field("taken this turn (ROU-08)", 0, 64)
    brainstone_reversed = Field("it takes the other place in payments this turn (A21)", 0, 1, BOOL)
    pending_op = Field(
        "index in `ruleset.operations`, waiting for its target; -1 none", -1, 999, INT16
    )
    pending_upgrade_cell = Field(
        "cell of an upgrade waiting for its piece; -1 none", -1, 223, INT16
    )
    main_action_done = Field("the main action of this turn is done", 0, 1, BOOL)
    token = Field("a federation token to choose", 0, 1, BOOL)
    retrigger = Field("an owned token to score again", 0, 1, BOOL)
    tile = Field("a tech tile to take", 0, 1, BOOL)
    cover = Field("slot of the advanced tile waiting for the tile it covers; -1 none", -1, 6)
    free_mine = Field("index in `ruleset.operations` of a free mine; -1 none", -1, 999, INT16)
    pending_step = Field("0 none, 1 any track, 2 + t consent to the step on track t", 0, 7)
    lost_planet = Field("the Lost Planet to place", 0, 1, BOOL)
    qic_action = Field("SA-QIC-4VP to be paid when the action is resolved (ADV-01)", 0, 1, BOOL)
    building = Field("the federation builder is open", 0, 1, BOOL)
    picked_groups = Field("bit a group picked", 0, 2**12 - 1, INT16)
    last_pick = Field(
        "cell of the group picked last, not yet counted in; -1 none, -2 commit", -2, 223, INT16
    )
    leech = Field(
        "power offered by event and player, 0 none (LEE-05)", 0, 20, shape=(3, PerPlayer())
    )
    power_used = Field("bit a power action used this round", 0, 2**7 - 1)
    ship_used = Field("bit a ship action used this round", 0, 2**12 - 1, INT16)
    advanced_left = Field("bit a slot whose advanced tile is still there", 0, 2**7 - 1)
    artifacts_left = Field("bit a place whose artifact is still there", 0, 15)
    token_supply = Field("base federation tokens left", 0, 3, shape=(6,))
    ship_tokens = Field("bit a ship whose token is still there", 0, 15)
    track_token = Field("the federation token on terraforming 5 is still there", 0, 1, BOOL)
    terrans_points = Field("Gaia-phase tokens the Terrans can still convert", 0, 100)

    @property
    def round_index(self) -> Array:
        """(...) int32, the round from 0, for what the set-up lists by round; 0 in the set-up."""
        return jnp.maximum(self.round.astype(jnp.int32) - 1, 0)


@pytree_without_empty
class AutomaDraws(Struct):
    """The draws for the Automa before a solo game. Cards are numbers 1 to 17."""

    level: Array = leaf("`automa.levels`", 0, 4)
    deck: Array = leaf(
        "by round, the cards in drawing order; 0 beyond the last", 0, 17, shape=(6, 14)
    )
    start_cards: Array = leaf("for ties of its starting mines", 1, 17, shape=(3,))
    booster_card: Array = leaf("for its first booster", 1, 17)
    # Of length 0 without ships.
    explored_ship: Array = leaf("the ship where its first shuttle is", 0, 3, shape=(1,))


@pytree_without_empty
class Setup(Struct):
    """Everything that is drawn before a game. Indices are into the pieces of the ruleset.

    The shapes are those of `lost_fleet`, for four; what a ruleset does not have has length 0
    and is no leaf of the tree, or is 0. For P players there are P factions and P + 3 boosters.
    """

    sector_tile: Array = leaf(
        "`map.sector_tiles` in each sector slot; -1 left out", -1, 9, shape=(10,)
    )
    sector_rotation: Array = leaf("in steps of 60 degrees", 0, 5, shape=(10,))
    interface: Array = leaf(
        "PLANETS on each interspace cell: Asteroid, Proto, Empty, Ship", 0, 13, shape=(10,)
    )
    ship_cell: Array = leaf("the cell of each of `ships`", 0, 223, INT16, shape=(4,))
    deep_tile: Array = leaf(
        "`map.deep_tiles` (a side of a tile) in each deep slot", 0, 15, shape=(8,)
    )
    deep_rotation: Array = leaf("in steps of 120 degrees", 0, 2, shape=(8,))
    faction: Array = leaf("`factions` of each player", 0, 17, shape=("P",))
    turn_order: Array = leaf("the players in the order of round 1", 0, 3, shape=("P",))
    basic_slot: Array = leaf(
        "`basic_tiles` in each slot: six tracks, three free ones", 0, 8, shape=(9,)
    )
    advanced: Array = leaf("`advanced_tiles`: six tracks, the extra tile", 0, 20, shape=(7,))
    extra_condition: Array = leaf("`extra_conditions`", 0, 1)
    tf5_token: Array = leaf("`base_tokens` on terraforming level 5", 0, 5)
    ship_token: Array = leaf("`ship_tokens` on each of `ships`", 0, 7, shape=(4,))
    ship_tile: Array = leaf("`ship_tiles` on each of `ship_tile_ships`", 0, 2, shape=(3,))
    artifacts: Array = leaf("`artifacts` on the Twilight", 0, 12, shape=(4,))
    boosters: Array = leaf("`boosters` in play", 0, 13, shape=("P + 3",))
    round_tiles: Array = leaf("`round_tiles` of rounds 1 to 6", 0, 12, shape=(6,))
    final_missions: Array = leaf("`final_missions`", 0, 8, shape=(2,))
    economy_side: Array = leaf("of `economy_income`", 0, 1)
    colour_order: Array = leaf("TERRAFORM_CYCLE in random order, for INI-09", 0, 6, shape=(7,))
    automa: AutomaDraws | None = None  # of a solo game; `boosters` then lie from left to right


@pytree
class FederationOptions(Struct):
    """The federations open to the deciding player by a search (A10); the mask reads it."""

    may_form: Array = leaf("at TURN: a legal federation exists", 0, 1, BOOL)
    addable: Array = leaf(
        "in the builder: bit a cell, the lowest of its group", 0, 255, UINT8, shape=("C/8",)
    )
    complete: Array = leaf("in the builder: the picks may be committed", 0, 1, BOOL)


@pytree
class AutomaState(Struct):
    """The state of the Automa besides its row of `Players` and the turn."""

    turns: Array = leaf("its turns in this round, with the pass", 0, 14)
    booster_row: Array = leaf(
        "`boosters` without owner from left to right; -1 beyond", -1, 13, shape=("P + 3",)
    )


@pytree
class GameState(Struct):
    """One game and the set-up that it was dealt from. At most 4 KB with its mask."""

    board: Board
    players: Players
    turn: Turn
    federation: FederationOptions
    setup: Setup
    steps: Array = leaf(
        "terraforming steps by planet, 0 where none help (INI-09)", 0, 3, shape=("P", 14)
    )
    automa: AutomaState | None = None  # of a solo game, where it is player 1

    @property
    def num_players(self) -> int:
        """P, with the Automa."""
        return self.steps.shape[-2]

    @property
    def num_seats(self) -> int:
        """S, the players who decide: P without the Automa."""
        return self.num_players - (self.automa is not None)
