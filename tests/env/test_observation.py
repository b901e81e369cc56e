"""The observation: what a seat sees, and that nothing that matters is left out (GEN-05, RL-05)."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.observation import features, observe, seats
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.state import GUEST, STATION, Board, Node, Phase, Players, Setup, Turn
from tests.conftest import GAMES
from tests.trees import same, take_row

SPEC = features(LOST_FLEET)
TABLES = ("cells", "players", "globals")


@pytest.fixture(scope="module")
def look():
    """`look(games, players)`: one observation of each of any number of games."""
    return jax.jit(jax.vmap(lambda game, player: observe(LOST_FLEET, game, player)))


# The columns.


@pytest.mark.parametrize("table", TABLES)
def test_columns_have_names_of_their_own_and_ranges_that_fit(table):
    columns = getattr(SPEC, table)
    names = [column.name for column in columns]
    assert len(set(names)) == len(names)
    limits = np.iinfo(np.int8 if table == "cells" else np.int16)
    for column in columns:
        assert limits.min <= column.low < column.high <= limits.max, column


def test_shapes_dtypes_and_at_most_16_kilobytes(env):
    state = jax.eval_shape(env.init, jax.random.key(0))
    seen = jax.eval_shape(env.observe, state, 0)
    assert env.observation_spec == SPEC
    assert (seen.cells.shape, seen.cells.dtype) == ((224, len(SPEC.cells)), jnp.int8)
    assert (seen.players.shape, seen.players.dtype) == ((4, len(SPEC.players)), jnp.int16)
    assert (seen.globals.shape, seen.globals.dtype) == ((len(SPEC.globals),), jnp.int16)
    assert sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(seen)) <= 16 * 1024


def test_ranges_hold(games_under_way, ended_games, look):
    for states, player in itertools.product((games_under_way, ended_games), range(4)):
        seen = look(states.game, np.full(GAMES, player))
        for table in TABLES:
            values = np.asarray(getattr(seen, table))
            low, high = (
                np.array([getattr(column, end) for column in getattr(SPEC, table)])
                for end in ("low", "high")
            )
            bad = np.argwhere((values < low) | (values > high))
            assert not len(bad), getattr(SPEC, table)[bad[0][-1]]


def test_observe_refuses_what_is_no_player(env):
    state = jax.eval_shape(env.init, jax.random.key(0))
    with pytest.raises(TypeError, match="player must be an integer"):
        env.observe(state, "HIVES")
    with pytest.raises(ValueError, match=r"player must be a scalar, not of shape \(4,\)"):
        env.observe(state, np.arange(4))


# The seats.


def test_rl_05_own_seat_first_then_turn_order(games_under_way, look, env):
    game = games_under_way.game
    order = np.asarray(game.turn.order)
    for place in range(4):
        player = order[:, place]
        expected = np.roll(order, -place, axis=1)
        np.testing.assert_array_equal(jax.vmap(seats)(game, player), expected)
        np.testing.assert_array_equal(jax.vmap(env.seats)(games_under_way, player), expected)
        vp = np.take_along_axis(np.asarray(game.players.vp), expected, 1)
        column = [c.name for c in SPEC.players].index("vp")
        np.testing.assert_array_equal(look(game, player).players[:, :, column], vp)


def renumber(game, new):
    """The same game, where player p is called new[p]."""
    new = np.asarray(new)
    old = np.argsort(new)  # row i of the result is the row of player old[i]

    def rows(record):
        return record.replace(
            **{name: np.asarray(getattr(record, name))[old] for name in Players.fields}
        )

    def name(players):
        players = np.asarray(players)
        return np.where(players < 0, players, new[players]).astype(players.dtype)

    def bits(values, first):
        """The bits first .. first + 3, one for each player, in their new order."""
        dtype, values = values.dtype, np.asarray(values, np.int32)
        out = values & ~(15 << first)
        for player in range(4):
            out |= (values >> (first + player) & 1) << (first + new[player])
        return out.astype(dtype)

    board, turn, setup = game.board, game.turn, game.setup
    return game.replace(
        board=board.replace(
            piece_owner=name(board.piece_owner),
            flags=bits(board.flags, 0),
            federation_bits=bits(bits(board.federation_bits, 0), 4),
            distance_to_own=np.asarray(board.distance_to_own)[old],
            lantids=name(board.lantids),
        ),
        players=rows(game.players),
        turn=turn.replace(
            player=name(turn.player),
            active=name(turn.active),
            order=name(turn.order),
            sequence=name(turn.sequence),
            passed=np.asarray(turn.passed)[old],
            leech=np.asarray(turn.leech)[:, old],
        ),
        setup=setup.replace(
            faction=np.asarray(setup.faction)[old], turn_order=name(setup.turn_order)
        ),
        steps=np.asarray(game.steps)[old],
    )


@pytest.mark.parametrize("new", [(1, 2, 3, 0), (3, 1, 0, 2)])
def test_who_is_called_which_player_does_not_matter(new_games, games_under_way, look, new):
    for states in (new_games, games_under_way):
        games = [take_row(states.game, i) for i in range(GAMES)]
        renamed = jax.tree.map(lambda *x: np.stack(x), *[renumber(game, new) for game in games])
        for player in range(4):
            a = look(states.game, np.full(GAMES, player))
            b = look(renamed, np.full(GAMES, new[player]))
            assert same(a, b)


def test_each_seat_sees_something_else(games_under_way, look):
    seen = [look(games_under_way.game, np.full(GAMES, player)) for player in range(4)]
    for a, b in itertools.combinations(seen, 2):
        assert (np.asarray(a.players) != np.asarray(b.players)).any((1, 2)).all()


# Everything that matters is seen.

# What the observation leaves out, and why.
LEFT_OUT = {
    "players.vp_source": "what VP were for changes nothing any more",
    "players.min_satellites_feasible": "a memo of the federation search, no rule",
    "players.max_satellites_infeasible": "a memo of the federation search, no rule",
    "players.sectors": "follows from the board; seen as counts and new sectors",
    "turn.last_pick": "is counted into the picks before anyone decides",
    "setup.sector_tile": "seen as planets",
    "setup.sector_rotation": "seen as planets",
    "setup.interface": "seen as planets",
    "setup.deep_tile": "seen as planets",
    "setup.deep_rotation": "seen as planets",
    "setup.colour_order": "seen as terraforming steps",
    "setup.turn_order": "the order of the round is seen",
}
# Values that a field may take, where one more or less than it has is not one of them.
OTHER = {
    "turn.round": 6,
    "turn.phase": Phase.GAIA,
    "turn.node": Node.STEP,
    "turn.player": None,
    "turn.active": None,
    "turn.pending_op": LOST_FLEET.operation_index["power PA_TF1"],
    "turn.free_mine": LOST_FLEET.operation_index["free mine RANGE"],
    "turn.order": [[1, 0, 2, 3], [3, 2, 1, 0]],
    "turn.sequence": 2,
    "turn.pending_upgrade_cell": 17,
    "turn.cover": 3,
    "turn.pending_step": 3,
    "board.lantids": 0,
}


def changed(game, path):
    """The game with one element of a field made different."""
    part, field = path.split(".")
    record = getattr(game, part)
    old = np.asarray(getattr(record, field))
    new = old.copy()
    if isinstance(OTHER.get(path), list):
        new[:] = next(x for x in OTHER[path] if not np.array_equal(x, old))
    elif new.dtype == bool:
        new = ~new
    elif OTHER.get(path) is not None:
        new.flat[-1] = OTHER[path]
        assert not np.array_equal(new, old), f"{path} is {OTHER[path]} already"
    elif path in ("turn.player", "turn.active"):
        new = (new + 1) % 4
    elif part == "setup" or field in ("booster", "brainstone", "tinkering"):
        new.flat[-1] = 0 if new.flat[-1] else 1
    elif part == "board":
        new.flat[-1] = 1 if new.flat[-1] != 1 else 2
    elif path == "players.colonized":
        new[0, 1] += 1  # the last column is no planet type
    else:
        new.flat[-1] ^= 1
    new = np.asarray(new, old.dtype)
    return game.replace(**{part: record.replace(**{field: new})})


def busy(game):
    """With a guest and a station on the map, so that the fields about them say something."""
    board = game.board
    flags = np.asarray(board.flags).copy()
    flags[0], flags[1] = STATION, GUEST
    return game.replace(board=board.replace(flags=flags, lantids=jnp.int8(2)))


PATHS = [
    f"{part}.{name}"
    for part, names in {
        "board": Board.__dataclass_fields__,
        "players": Players.fields,
        "turn": Turn.fields,
        "setup": Setup.__dataclass_fields__,
    }.items()
    for name in names
]


@pytest.mark.slow
def test_everything_that_matters_is_seen(games_under_way, new_games, look):
    game, start = busy(take_row(games_under_way.game, 0)), take_row(new_games.game, 0)
    turn, board, players = game.turn, game.board, game.players
    assert {*LEFT_OUT, *OTHER} <= set(PATHS)
    builder = game.replace(turn=turn.replace(node=Node.FEDERATION))
    # The choices so far have a meaning only at the node that asks for them.
    pairs = {
        "turn.sequence": (start, changed(start, "turn.sequence")),
        "turn.setup_done": (start, changed(start, "turn.setup_done")),
        "turn.picked_groups": (builder, changed(builder, "turn.picked_groups")),
    }
    pairs |= {
        path: (game, changed(game, path)) for path in PATHS if path not in {*LEFT_OUT, *pairs}
    }
    steps = np.asarray(game.steps).copy()
    steps[2, 3] += 1
    closer = {
        "steps": {"steps": steps},
        "credits": {"players": players.replace(credits=players.credits + 1)},
        "ore": {"players": players.replace(ore=players.ore + 1)},
        "knowledge": {"players": players.replace(knowledge=players.knowledge + 1)},
        "each leech event": {"turn": turn.replace(leech=np.eye(3, 4, 1, dtype=np.int8))},
        "a step on one track": {"turn": turn.replace(pending_step=jnp.int8(7))},
        "a step on any track": {"turn": turn.replace(pending_step=jnp.int8(1))},
        "a satellite": {
            "board": board.replace(federation_bits=board.federation_bits ^ jnp.uint8(4))
        },
        "a federation": {
            "board": board.replace(federation_bits=board.federation_bits ^ jnp.uint8(64))
        },
    }
    pairs |= {name: (game, game.replace(**change)) for name, change in closer.items()}

    def views(games):
        seen = look(jax.tree.map(lambda *x: np.stack(x), *games), np.zeros(len(games), np.int32))
        tables = [np.asarray(getattr(seen, table), np.int16) for table in TABLES]
        return np.concatenate([table.reshape(len(games), -1) for table in tables], axis=1)

    before, after = (views([pair[i] for pair in pairs.values()]) for i in (0, 1))
    same = (before == after).all(-1)
    assert [name for name, unseen in zip(pairs, same, strict=True) if unseen] == []
    # And each change looks different from every other.
    assert len({row.tobytes() for row in after}) == len(after)


def test_where_a_user_of_pgx_looks_for_it(env):
    """The state's error names the call that observes; the environment knows the shapes."""
    state = jax.eval_shape(env.init, jax.random.key(0))
    assert not hasattr(state, "observation")
    with pytest.raises(AttributeError, match=r"env.observe\(state, state.current_player\)"):
        state.observation  # noqa: B018
    seen = jax.eval_shape(env.observe, state, state.current_player)
    shapes = {name: getattr(seen, name).shape for name in ("cells", "players", "globals")}
    assert env.observation_shape == shapes
