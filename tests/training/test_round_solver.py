"""The exact solver of a round, compared with a search that merges and drops nothing."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.components.costs import ROUNDS
from gaia_jax.rules import federation
from gaia_jax.state import Node
from training.analysis import round_solver
from training.analysis.actions import is_conversion
from training.analysis.puzzle_maker import goals_of
from training.analysis.round_solver import GOALS, Goal, RoundSolver, is_alone
from training.system.batched import dealing, one_row, stacked, stepping, take_rows

BATCH = 64  # the only size of a batch, of the solver too: one program
MAX_STEPS = 4000  # of the exhaustive search; larger trees are skipped
NUM_FLEET = 3  # positions of the full game
ENV = gaia_jax.make("base", players=2)
TEXTS = ENV.ruleset.actions.texts
FIRST_ROUND = 4  # of the positions
EARLY, LAST = range(FIRST_ROUND, ROUNDS), [ROUNDS]


class Kind(NamedTuple):
    """Positions in which something can be done with few lines of play."""

    number: int  # of positions in the tests
    rounds: Sequence[int]
    verb: str  # begins a legal action
    min_legal: int  # number of legal actions
    resources: Sequence[int]  # the most credits, ore, knowledge and QIC of the player
    power: Sequence[int]  # the most tokens of each bowl
    fields: Mapping[str, int] = {}  # other fields of the player


# A lab is affordable; one basic tile is left, one can be covered.
BEFORE_LAB = {"green": 1, "tracks": 4, "tiles": 0b011111111, "covered": 0b011111110}
KINDS = {
    "last round": Kind(2, LAST, "", 5, (2, 1, 4, 1), (8, 1, 1)),
    "conversions": Kind(3, EARLY, "free", 8, (6, 3, 5, 2), (8, 3, 3)),
    "federation": Kind(1, EARLY, "form_federation", 3, (2, 0, 0, 0), (8, 0, 0)),
    "last federation": Kind(1, LAST, "form_federation", 3, (2, 0, 0, 0), (8, 0, 0)),
    "advanced tile": Kind(2, EARLY, "upgrade", 7, (5, 3, 0, 0), (0, 0, 0), BEFORE_LAB),
}


class Solved(NamedTuple):
    """A position and the results of the exhaustive search."""

    state: gaia_jax.State
    values: dict[int, np.ndarray]  # (3,) by goal, by first main action; -1: game not over
    decisions: set[tuple[Node, str]]  # nodes of the tree with their actions

    @property
    def verbs(self):
        """The first words of all actions in the tree."""
        return {text.split()[0] for _, text in self.decisions}


def padded(states):
    return take_rows(states, np.minimum(np.arange(BATCH), len(states.current_player) - 1))


def step(states, actions, env=ENV):
    """States [N <= BATCH] after their actions, on the host."""
    count = len(actions)
    actions = np.pad(actions, (0, BATCH - count), mode="edge").astype(np.int32)
    return take_rows(jax.device_get(stepping(env)(padded(states), actions)), slice(count))


@jax.jit
def _completed(states):
    def complete(state):
        return ENV.with_mask(state.replace(game=federation.resolve(ENV.ruleset, state.game)))

    return jax.vmap(complete)(states)


def with_fields(states, **changes):
    """States [N] whose current players have other fields, with the masks of their games."""
    players, count = states.game.players, len(states.current_player)
    unknown = {"min_satellites_feasible": 100, "max_satellites_infeasible": -1}
    columns = {}
    for name, values in (changes | unknown).items():
        columns[name] = np.array(getattr(players, name))
        columns[name][np.arange(count), states.current_player] = values
    states = states.replace(game=states.game.replace(players=players.replace(**columns)))
    chunks = (take_rows(states, slice(at, at + BATCH)) for at in range(0, count, BATCH))
    parts = [
        take_rows(jax.device_get(_completed(padded(chunk))), slice(len(chunk.current_player)))
        for chunk in chunks
    ]
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)


def random_play(env):
    """States [BATCH] of random games, decision by decision."""
    states = dealing(env)(jax.random.split(jax.random.key(0), BATCH))
    rng = np.random.default_rng(0)
    while not states.terminated.all():
        yield states
        mask = np.asarray(states.legal_action_mask)
        actions = (rng.random(mask.shape) * mask).argmax(1).astype(np.int32)
        states = stepping(env)(states, actions)


@pytest.fixture(scope="module")
def positions():
    """(N, ...) positions of random games in which one player is alone in a round."""
    alone, at_rounds = jax.jit(is_alone), {}
    for states in random_play(ENV):
        for row in np.flatnonzero(alone(states) & ~states.terminated):
            round = int(states.game.turn.round[row])
            if round >= FIRST_ROUND and (row, round) not in at_rounds:
                at_rounds[row, round] = take_rows(states, row)
    return stacked(at_rounds.values())


def candidates(positions, kind):
    """Positions of a kind, those with the fewest legal actions first."""
    count, rng, is_exact = len(positions.current_player), np.random.default_rng(1), kind.fields
    wealth = np.array([*kind.resources, *kind.power])
    wealth = wealth if is_exact else rng.integers(0, wealth + 1, (count, 7))
    wealth = np.broadcast_to(wealth, (count, 7))
    fields = {"resources": wealth[:, :4], "power": wealth[:, 4:]} | kind.fields
    states = with_fields(positions, **fields)
    masks, is_verb = states.legal_action_mask, [text.startswith(kind.verb) for text in TEXTS]
    num_legal, is_of_kind = masks.sum(1), masks[:, np.array(is_verb)].any(1)
    is_of_kind &= (num_legal >= kind.min_legal) & np.isin(states.game.turn.round, kind.rounds)
    rows = np.flatnonzero(is_of_kind)
    for row in rows[np.argsort(num_legal[rows], kind="stable")]:
        yield take_rows(states, row)


def search(state, env=ENV):
    """The results of an exhaustive search; None if it takes more than MAX_STEPS.

    It follows every legal action, conversions and answers of the other player included, and skips
    only positions that are equal in everything to one that it has followed.
    """
    seat, start, best = int(state.current_player), state.game, dict[int, np.ndarray]()
    texts, decisions = env.ruleset.actions.texts, set[tuple[Node, str]]()
    blocks, visited, num_steps = [(one_row(state), [-1])], set[tuple[int, bytes]](), 0
    while blocks:
        states, firsts = blocks.pop()
        rows, actions = np.nonzero(states.legal_action_mask)
        num_steps += len(rows)
        if num_steps > MAX_STEPS:
            return None
        nodes = states.game.turn.node[rows]
        decisions |= {(Node(node), texts[a]) for node, a in zip(nodes, actions, strict=True)}
        for at in range(0, len(rows), BATCH):
            part = slice(at, at + BATCH)
            after = step(take_rows(states, rows[part]), actions[part], env)
            game, kept, kept_firsts = after.game, [], []
            has_ended = after.terminated | (game.turn.round > start.turn.round)
            values = np.stack([
                np.where(after.terminated, game.players.vp[:, seat], -1),
                game.players.formed[:, seat] > start.players.formed[seat],
                game.players.advanced[:, seat] != start.players.advanced[seat],
            ], axis=1)  # fmt: skip
            leaves = [np.ascontiguousarray(x) for x in jax.tree.leaves(game)]
            for child, (row, action) in enumerate(zip(rows[part], actions[part], strict=True)):
                first = firsts[row]
                if first < 0 and not is_conversion(texts[action]):
                    first = int(action)
                key = first, b"".join(x[child].tobytes() for x in leaves)
                if has_ended[child]:
                    best[first] = np.maximum(best.get(first, -1), values[child])
                elif key not in visited:
                    visited.add(key)
                    kept.append(child)
                    kept_firsts.append(first)
            if kept:
                blocks.append((take_rows(after, np.array(kept)), kept_firsts))
    return Solved(state, best, decisions)


@pytest.fixture(scope="module")
def solved(positions):
    """Positions with the results of the exhaustive search, by kind."""

    def solved_positions(kind):
        for state in candidates(positions, kind):
            result = search(state)
            if result and len(result.values) > 1:
                yield result

    return {name: list(islice(solved_positions(kind), kind.number)) for name, kind in KINDS.items()}


@pytest.fixture(scope="module", autouse=True)
def width():
    """One size of a batch of the solver."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_solver, "WIDTHS", (BATCH,))
        yield


@pytest.fixture(scope="module")
def solver():
    return RoundSolver(ENV)


@pytest.fixture(scope="module")
def solutions(solver, solved):
    """Each position and goal with the lines of the solver and the expected values."""
    return [
        (state, goal, solver.solve(state, goal, 10**5), {a: v[n] for a, v in values.items()})
        for kind in solved
        for state, values, _ in solved[kind]
        for goal in goals_of(state)
        for n in [GOALS.index(goal)]
    ]


def test_positions_are_of_all_kinds(solved, solutions):
    """Otherwise the tests below show less."""
    assert all(len(solved[name]) == kind.number for name, kind in KINDS.items())
    for goal in GOALS:
        values = [set(expected.values()) for _, own, _, expected in solutions if own is goal]
        assert any(len(own) > 1 for own in values), f"{goal}: a first action that is worse"
    decisions = {decision for own in solved.values() for tree in own for decision in tree.decisions}
    answers = {text for node, text in decisions if node == Node.LEECH}
    assert "leech DECLINE" in answers and len(answers) > 1
    assert any(node == Node.AFTER and is_conversion(text) for node, text in decisions)
    assert (Node.TURN, "free burn") in decisions


def test_first_actions_and_values_are_those_of_an_exhaustive_search(solutions):
    for state, goal, lines, expected in solutions:
        values = {action: line.value for action, line in lines.items()}
        assert values == expected, (goal, state.game.turn.round)


@pytest.mark.slow
def test_ships_and_artifacts_of_four_players():
    """The same in the last round of the full game, with the smallest trees that have both."""
    env = gaia_jax.make("lost_fleet", players=4)
    is_artifact = np.array([text.startswith("artifact ") for text in env.ruleset.actions.texts])
    alone, states = jax.jit(is_alone), list[gaia_jax.State]()
    for batch in random_play(env):
        is_open = alone(batch) & (batch.game.turn.round == ROUNDS) & ~batch.terminated
        has_artifact = batch.legal_action_mask[:, is_artifact].any(1)
        states += [take_rows(batch, row) for row in np.flatnonzero(is_open & has_artifact)]
    states.sort(key=lambda state: state.legal_action_mask.sum())
    trees = filter(None, (search(state, env) for state in states))
    with_ships = (tree for tree in trees if {"ship", "artifact"} <= tree.verbs)
    solver, compared = RoundSolver(env), [*islice(with_ships, NUM_FLEET)]
    assert len(compared) == NUM_FLEET
    for state, expected, _ in compared:
        lines = solver.solve(state, Goal.VP, 10**5)
        vp = {action: values[GOALS.index(Goal.VP)] for action, values in expected.items()}
        assert {action: line.value for action, line in lines.items()} == vp


def test_lines_are_legal_and_end_with_their_values(solutions):
    """All lines are played next to each other, one action of each at a time."""
    rows = [
        (state, goal, first, line)
        for state, goal, lines, _ in solutions
        for first, line in lines.items()
    ]
    states = [state for state, *_ in rows]
    for column in range(max(len(line.actions) for *_, line in rows)):
        playing = [n for n, (*_, line) in enumerate(rows) if column < len(line.actions)]
        actions = np.array([rows[n][3].actions[column] for n in playing])
        for n, action in zip(playing, actions, strict=True):
            assert states[n].legal_action_mask[action] and not states[n].terminated
            assert states[n].game.turn.round == rows[n][0].game.turn.round
        for at in range(0, len(playing), BATCH):
            part = slice(at, at + BATCH)
            after = step(stacked([states[n] for n in playing[part]]), actions[part])
            for number, n in enumerate(playing[part]):
                states[n] = take_rows(after, number)
    for (start, goal, first, line), state in zip(rows, states, strict=True):
        assert first == next(a for a in line.actions if not is_conversion(TEXTS[a]))
        seat, before, players = int(start.current_player), start.game.players, state.game.players
        values = {
            Goal.VP: players.vp[seat],
            Goal.FEDERATION: players.formed[seat] > before.formed[seat],
            Goal.ADVANCED_TILE: players.advanced[seat] != before.advanced[seat],
        }
        assert values[goal] == line.value
        assert goal is not Goal.VP or state.terminated


def test_too_many_lines_are_an_error(solver, solved):
    state = solved["federation"][0].state
    with pytest.raises(round_solver.TooManyLines):
        solver.solve(state, Goal.FEDERATION, max_steps=10)


def test_the_search_ends_when_enough_first_actions_reach_the_goal(solver, solved):
    state, values, _ = solved["advanced tile"][0]
    lines = solver.solve(state, Goal.ADVANCED_TILE, 10**5, max_reached=0)
    assert any(line.value for line in lines.values()) and set(lines) < set(values)


@pytest.mark.parametrize(
    ("kind", "goal"), [("last round", Goal.VP), ("federation", Goal.FEDERATION)]
)
def test_one_more_of_anything_is_never_worse(solver, solved, kind, goal):
    state, values, _ = solved[kind][0]
    best = max(value[GOALS.index(goal)] for value in values.values())
    players, seat = state.game.players, int(state.current_player)
    more = np.eye(7, dtype=int)  # credits, ore, knowledge, QIC, power of each bowl
    states = with_fields(
        stacked([state] * len(more)),
        resources=players.resources[seat] + more[:, :4],
        power=players.power[seat] + more[:, 4:],
    )
    for row in range(len(more)):
        lines = solver.solve(take_rows(states, row), goal, 10**5)
        assert max(line.value for line in lines.values()) >= best, more[row]


def test_a_player_is_alone_when_a_turn_begins_and_all_others_have_passed(positions):
    state = take_rows(positions, 0)
    assert is_alone(positions).all()
    for changes in (
        {"passed": jnp.zeros(2, int)},
        {"passed": jnp.array([1, 2])},
        {"free_actions": 1},
        {"node": Node.AFTER},
        {"node": Node.LEECH},
    ):
        game = state.game.replace(turn=state.game.turn.replace(**changes))
        assert not is_alone(state.replace(game=game)), changes
