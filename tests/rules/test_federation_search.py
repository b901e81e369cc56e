"""The federation search against the plain solver (FED-01 to FED-24, A2, A9, A10, A11)."""

import random
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.rules.federation import legal as federation_legal
from gaia_jax.rules.federation import paths as federation_paths
from gaia_jax.rules.federation import search as federation_search
from gaia_jax.rules.federation.lattice import build_lattice
from gaia_jax.rules.federation.paths import SETS, search_size
from gaia_jax.rules.federation.search import BUILD, COMMIT, EXISTS, Position
from tests.federation_solver import BASE, LOST_FLEET, Case, Solver, draw_case

BATCH = 128  # of all compiled functions below
LATTICE = build_lattice(LOST_FLEET)


@pytest.fixture(scope="module")
def search():
    """`search(need, position, picks, task)` on BATCH rows, compiled."""
    return compiled_search()


@pytest.fixture(scope="module")
def search_with_surplus():
    return compiled_search(surplus_allowed=True)


def row_search(lattice, surplus_allowed=False):
    """(need, position, picks, task) of one row -> Answer."""
    kernel = partial(federation_search._answer, lattice, surplus_allowed, False)
    return partial(federation_search._on_demand, lattice, kernel)


def compiled_search(lattice=LATTICE, **options):
    return jax.jit(jax.vmap(row_search(lattice, **options)))


def position_of(case, barred=()):
    num_cells = case.geometry.num_cells

    def mask(cells):
        out = np.zeros(num_cells, bool)
        out[list(cells)] = True
        return out

    power = np.zeros(num_cells, np.int8)
    for cell, value in case.power.items():
        power[cell] = value
    return Position(
        own=mask(case.power),
        power=power,
        free=mask(case.free),
        given=mask(case.given),
        barred=mask(barred),
        required=np.int8(case.required),
        tokens=np.int8(case.tokens),
    )


def run_task(search, cases, task, picks=None, need=None, barred=None):
    """The answers for up to BATCH cases; `barred` are the barred cells of each."""
    fill = BATCH - len(cases)
    positions = [
        position_of(case, cells)
        for case, cells in zip(cases, barred or [()] * len(cases), strict=True)
    ]
    positions += [positions[0]] * fill
    need = np.ones(len(cases), bool) if need is None else np.asarray(need)
    picks = [0] * len(cases) if picks is None else picks
    tasks = np.zeros(BATCH, np.int8)
    tasks[: len(cases)] = task
    answer = search(
        np.concatenate([need, np.zeros(fill, bool)]),
        jax.tree.map(lambda *rows: np.stack(rows), *positions),
        np.array([*picks, *[0] * fill], np.uint16),
        tasks,
    )
    return jax.tree.map(lambda a: np.asarray(a)[: len(cases)], answer)


def cells_of(mask):
    return set(np.flatnonzero(mask).tolist())


def check_cases(search, cases, rng, surplus_allowed=False):
    """Existence, a random session of the builder for each case, and what it ends in."""
    solvers = [Solver(case, surplus_allowed) for case in cases]
    exists = run_task(search, cases, EXISTS).exists
    assert exists.tolist() == [bool(solver.legal) for solver in solvers]

    picks = [0] * len(cases)
    building = [True] * len(cases)
    while any(building):
        answer = run_task(search, cases, BUILD, picks, building)
        for i, solver in enumerate(solvers):
            if not building[i]:
                assert not answer.add_cells[i].any() and not answer.complete[i]
                continue
            add, complete = cells_of(answer.add_cells[i]), bool(answer.complete[i])
            assert add == solver.add_cells(picks[i])
            assert complete == (picks[i] in solver.legal)
            assert bool(answer.exists[i]) == bool(solver.legal)
            if complete and not surplus_allowed:
                assert not add  # A10: no legal federation contains another
            if solver.legal:
                assert add or complete  # A10: nothing dead-ends
            if not add or (complete and rng.random() < 0.5):
                building[i] = False
                continue
            cell = rng.choice(sorted(add))
            picks[i] |= 1 << [group[0] for group in solver.groups].index(cell)

    formed = [bool(solver.legal) for solver in solvers]
    check_satellites(
        run_task(search, cases, COMMIT, picks, formed).satellites, solvers, picks, formed
    )
    return solvers


def check_satellites(satellites, solvers, picks, formed):
    for i, solver in enumerate(solvers):
        got = cells_of(satellites[i])
        if not formed[i]:
            assert not got
            continue
        touching = sum(solver.touching(cell, picks[i]) for cell in got)
        assert (len(got), touching) == solver.best_satellites(picks[i])  # FED-03, A2
        assert solver.connects(picks[i], got)


def draw_cases(seed, count=BATCH, geometry=LOST_FLEET, **options):
    rng = random.Random(seed)
    return [draw_case(rng, geometry, **options) for _ in range(count)]


def lone_mines(count, distance=2):
    """Cells of which no two touch, close together, with all other cells free."""
    middle = LOST_FLEET.cell_index[0, 0]
    own = []
    for cell in np.argsort(LOST_FLEET.distance[middle], kind="stable").tolist():
        if all(LOST_FLEET.distance[cell, other] >= distance for other in own):
            own.append(cell)
        if len(own) == count:
            return own
    raise AssertionError("no room")


def open_case(power, required=7, tokens=9, given=()):
    free = set(range(LOST_FLEET.num_cells)) - set(power) - set(given)
    return Case(LOST_FLEET, power, free, set(given), required, tokens)


def test_the_solver_agrees_with_trying_all_sets_of_satellites():
    tried = 0
    for case in draw_cases(1, 40, tokens=3):
        solver = Solver(case)
        for mask in solver.legal[:4]:
            best = solver.best_satellites(mask)
            assert best == solver.brute_force(mask, case.tokens)
            assert best[0] == solver.cost(mask)
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("geometry", [LOST_FLEET, BASE], ids=["lost_fleet", "base"])
def test_on_the_lattice_a_shift_leads_to_a_neighbor_or_to_no_cell(geometry):
    lattice = build_lattice(geometry)
    cell_at = {int(place): cell for cell, place in enumerate(lattice.place)}
    assert len(cell_at) == geometry.num_cells
    assert min(cell_at) >= lattice.margin
    assert max(cell_at) < lattice.margin + lattice.length
    assert lattice.width == lattice.length + 2 * lattice.margin
    for place, cell in cell_at.items():
        neighbors = [cell_at.get(place + shift, -1) for shift in lattice.shifts]
        assert neighbors == geometry.neighbors[cell].tolist()


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_fed_01_existence_builder_and_commit_are_exact(search, seed):
    solvers = check_cases(search, draw_cases(seed), random.Random(seed))
    legal = [len(solver.legal) for solver in solvers]
    assert sum(n > 0 for n in legal) > 25
    assert sum(n == 0 for n in legal) > 25
    assert {2, 3, 4, 5, 6, 7, 8} <= {len(solver.groups) for solver in solvers}


def test_fed_15_a_hive_federation_grows(search):
    solvers = check_cases(search, draw_cases(5, growth=True), random.Random(6))
    assert sum(bool(s.legal) and s.case.required > 0 for s in solvers) > 20


def test_fed_15_growth_that_needs_no_group_is_complete_at_once(search):
    own = lone_mines(4)
    cases = [
        open_case(dict.fromkeys(own[1:], 3), required, tokens, given=[own[0]])
        for required in (-20, 0, 1)
        for tokens in (0, 5)
    ]
    answer = run_task(search, cases, BUILD)
    assert answer.complete.tolist() == [True, True, True, True, False, False]
    assert answer.exists.tolist() == [True, True, True, True, False, True]
    assert not answer.add_cells[:5].any()
    assert cells_of(answer.add_cells[5]) == set(own[1:])
    assert not run_task(search, cases, COMMIT).satellites.any()


def test_without_tokens_only_a_single_group_will_do(search):
    solvers = check_cases(search, draw_cases(7, 96, tokens=0, spread=1), random.Random(8))
    assert sum(bool(solver.legal) for solver in solvers) > 20
    assert all(mask.bit_count() == 1 for solver in solvers for mask in solver.legal)


@pytest.mark.slow
def test_a9_of_more_than_12_groups_the_most_powerful_take_part(search):
    rng = random.Random(9)
    cases = []
    for count in (12, 13, 14, 16):
        for _ in range(3):
            own = lone_mines(count)
            power = {cell: rng.choice((1, 1, 2, 2, 3)) for cell in own}
            cases.append(open_case(power, tokens=2))
    solvers = check_cases(search, cases, rng)
    assert all(len(solver.groups) == 12 for solver in solvers)

    case = cases[-1]
    weak = [cell for cell, power in case.power.items() if power == 1]
    assert len(weak) >= 4
    position = position_of(case)
    number = federation_search.group_numbers(
        LATTICE, jnp.asarray(True), position.own, position.power
    )
    taking_part = {group[0]: i for i, group in enumerate(solvers[-1].groups)}
    assert {cell: int(number[cell]) for cell in cells_of(np.asarray(number) >= 0)} == taking_part


@pytest.mark.parametrize(
    ("name", "surplus"),
    [("search", False), pytest.param("search_with_surplus", True, marks=pytest.mark.slow)],
)
def test_a10_of_more_than_128_federations_the_first_count(name, surplus, request):
    own = lone_mines(12)
    case = open_case(dict.fromkeys(own, 1), required=4, tokens=5)
    solver = Solver(case, surplus)
    assert len(solver.legal) == 128
    masks = [0, *random.Random(10).sample(range(1 << 12), 40), *solver.legal[-20:]]
    answer = run_task(request.getfixturevalue(name), [case] * len(masks), BUILD, masks)
    for i, mask in enumerate(masks):
        assert cells_of(answer.add_cells[i]) == solver.add_cells(mask)
        assert bool(answer.complete[i]) == (mask in solver.legal)


def legal_federations(position):
    """(MAX_FEDERATIONS,) int32, groups of each legal federation, ascending; -1 after the last."""
    batch = jax.tree.map(lambda a: jnp.asarray(a)[None], position)
    groups = federation_search.find_groups(LATTICE, batch.own, batch.power)
    live = jnp.ones(1, bool)
    terrain, _ = federation_search._terrain(LATTICE, live, batch, groups, groups.power > 0, live)
    paths, _ = federation_paths.search_paths(LATTICE, terrain, surplus=False)
    _, legal = federation_legal.legal_sets(terrain, paths, terrain.limit.astype(jnp.int8), False)
    size = federation_legal.MAX_FEDERATIONS
    return jnp.flatnonzero(legal[:, 0], size=size, fill_value=-1).astype(jnp.int32)


def test_a10_the_list_of_legal_federations():
    list_all = jax.jit(legal_federations)
    own = lone_mines(12)
    for case in [*draw_cases(20, 20), open_case(dict.fromkeys(own, 1), required=4, tokens=5)]:
        legal = Solver(case).legal
        assert list_all(position_of(case)).tolist() == legal + [-1] * (128 - len(legal))


def test_a_queue_that_runs_over_is_worked_off_in_parts(search):
    own = lone_mines(12)
    case = open_case(dict.fromkeys(own, 1), required=7, tokens=8)
    assert search_size(1)[1] >= SETS  # one row always fits
    single = run_task(search, [case], BUILD)
    assert single.exists[0]
    assert single.add_cells[0].any()
    repeated = run_task(search, [case] * 6, BUILD)  # 6 x 2,510 sets
    jax.tree.map(
        lambda a, b: np.testing.assert_array_equal(np.repeat(a, 6, axis=0), b), single, repeated
    )


@pytest.mark.slow  # a compilation for this alone; the survey of such games is fast, below
def test_a11_surplus_groups_that_save_no_satellite_are_legal(search_with_surplus):
    cases = draw_cases(11, 48) + draw_cases(12, 24, growth=True)
    solvers = check_cases(search_with_surplus, cases, random.Random(13), surplus_allowed=True)
    strict = [Solver(case) for case in cases]
    assert sum(len(a.legal) > len(b.legal) for a, b in zip(solvers, strict, strict=True)) > 10


def test_a2_the_satellites_follow_from_the_map_and_what_is_connected(search):
    """Neither tokens left over nor the other rows of the batch change the choice among ties."""
    cases, picks = [], []
    for case in draw_cases(14, 60):
        solver = Solver(case)
        for mask in solver.legal[:2]:
            cases.append(case)
            picks.append(mask)
    cases, picks = cases[:BATCH], picks[:BATCH]
    plain = run_task(search, cases, COMMIT, picks).satellites
    order = list(range(len(cases)))
    random.Random(15).shuffle(order)
    shuffled = run_task(search, [cases[i] for i in order], COMMIT, [picks[i] for i in order])
    np.testing.assert_array_equal(plain[order], shuffled.satellites)
    rich = [Case(**{**vars_of(case), "tokens": 25}) for case in cases]
    np.testing.assert_array_equal(plain, run_task(search, rich, COMMIT, picks).satellites)


def vars_of(case):
    return {name: getattr(case, name) for name in case.__dataclass_fields__}


def play_survey(cases, surplus_allowed):
    """Decisions one by one, each with one survey, until the federation is formed."""

    def row(need, position, building, picks, cell, stop):
        return federation_search.survey(
            LATTICE,
            need,
            position,
            building,
            picks,
            cell,
            stop if surplus_allowed else None,
            surplus_allowed=surplus_allowed,
        )

    survey = jax.jit(jax.vmap(row))
    rng = random.Random(23)
    solvers = [Solver(case, surplus_allowed) for case in cases]
    positions = jax.tree.map(lambda *rows: np.stack(rows), *map(position_of, cases))
    n = len(cases)
    picks, cell, stop = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.zeros(n, bool)
    building = np.zeros(n, bool)
    exists = np.asarray(survey(~building, positions, building, picks, cell, stop).exists)
    assert exists.tolist() == [bool(solver.legal) for solver in solvers]
    building = exists.copy()
    while building.any():
        answer = jax.tree.map(np.array, survey(building, positions, building, picks, cell, stop))
        for i in np.flatnonzero(building).tolist():
            if cell[i] >= 0:
                lowest = [group[0] for group in solvers[i].groups]
                assert answer.picks[i] == picks[i] | 1 << lowest.index(cell[i])
            mask = int(answer.picks[i])
            complete = mask in solvers[i].legal
            assert answer.commits[i] == (stop[i] if surplus_allowed else complete)
            if answer.commits[i]:
                check_satellites(answer.satellites[[i]], [solvers[i]], [mask], [True])
                inside = {c for k, g in enumerate(solvers[i].groups) if mask >> k & 1 for c in g}
                assert cells_of(answer.members[i]) == inside
                building[i] = False
                continue
            add = cells_of(answer.add_cells[i])
            assert add == solvers[i].add_cells(mask)
            assert answer.complete[i] == complete
            stop[i] = complete and (not add or rng.random() < 0.5)
            cell[i] = -1 if stop[i] else rng.choice(sorted(add))
        picks = np.where(building, answer.picks, picks)
    return exists


@pytest.mark.slow
def test_a10_one_survey_a_decision_until_the_picks_are_a_federation():
    cases = draw_cases(24, 64) + draw_cases(25, 16, growth=True)
    assert play_survey(cases, surplus_allowed=False).sum() > 20


@pytest.mark.slow
def test_a11_where_surplus_is_allowed_the_player_says_when_to_stop():
    cases = draw_cases(26, 48) + draw_cases(27, 16, growth=True)
    assert play_survey(cases, surplus_allowed=True).sum() > 20


def test_what_cannot_be_connected_gets_no_satellites(search):
    own = lone_mines(3, distance=4)
    case = open_case(dict.fromkeys(own, 3), tokens=2)
    walled = open_case(dict.fromkeys(own, 3), tokens=25)
    walled.free = set()
    assert not run_task(search, [case, walled] * 5, COMMIT, [7] * 10).satellites.any()
    assert not run_task(search, [case, walled], EXISTS).exists.any()


@pytest.mark.slow
def test_mixed_tasks_and_single_rows_agree_with_a_batch_of_one_task(search):
    cases = draw_cases(16, 40) + draw_cases(17, 8, growth=True)
    solvers = [Solver(case) for case in cases]
    picks = [solver.legal[0] if solver.legal else 0 for solver in solvers]
    lowest = [mask & -mask for mask in picks]
    want = (
        run_task(search, cases, EXISTS).exists,
        run_task(search, cases, BUILD, lowest).add_cells,
        run_task(search, cases, COMMIT, picks).satellites,
    )

    task = np.arange(len(cases)) % 3
    mixed = run_task(search, cases, task, np.choose(task, [np.zeros_like(task), lowest, picks]))
    np.testing.assert_array_equal(mixed.exists[task == EXISTS], want[0][task == EXISTS])
    np.testing.assert_array_equal(mixed.add_cells[task == BUILD], want[1][task == BUILD])
    np.testing.assert_array_equal(mixed.satellites[task == COMMIT], want[2][task == COMMIT])

    def row(position, lowest, picks):
        one_row = partial(row_search(LATTICE), jnp.ones((), bool), position)
        return (
            one_row(0, EXISTS).exists,
            one_row(lowest, BUILD).add_cells,
            one_row(picks, COMMIT).satellites,
        )

    positions = jax.tree.map(lambda *rows: np.stack(rows), *map(position_of, cases))
    args = positions, np.array(lowest, np.uint16), np.array(picks, np.uint16)
    got = jax.jit(lambda args: jax.lax.map(lambda a: row(*a), args))(args)
    jax.tree.map(np.testing.assert_array_equal, got, want)


def test_fed_05_no_satellite_touches_a_barred_cell(search):
    """Barred cells answer as if they and their neighbours could take no satellite."""
    rng = random.Random(20)
    cases, barred = draw_cases(21, 64), []
    for case in cases:
        others = sorted(set(range(case.geometry.num_cells)) - set(case.power) - case.given)
        barred.append(set(rng.sample(others, 3)))
    around = [
        {int(n) for cell in cells for n in case.geometry.neighbors[cell] if n >= 0} | cells
        for case, cells in zip(cases, barred, strict=True)
    ]
    reduced = [
        Case(**{**vars_of(case), "free": case.free - cells})
        for case, cells in zip(cases, around, strict=True)
    ]
    solvers = [Solver(case) for case in reduced]
    changed = sum(a.free & near != set() for a, near in zip(cases, around, strict=True))
    assert changed > 32
    picks = [solver.legal[0] if solver.legal else 0 for solver in solvers]
    lowest = [mask & -mask for mask in picks]

    for task, chosen in ((EXISTS, None), (BUILD, lowest), (COMMIT, picks)):
        want = run_task(search, reduced, task, chosen)
        got = run_task(search, cases, task, chosen, barred=barred)
        jax.tree.map(np.testing.assert_array_equal, got, want)
    assert sum(map(bool, picks)) > 8


def test_the_base_map(search):
    run = compiled_search(build_lattice(BASE))
    check_cases(run, draw_cases(18, 48, BASE), random.Random(19))


@pytest.mark.slow
@pytest.mark.parametrize("block", [64, 1000])
def test_how_many_sets_go_through_at_once_changes_nothing(monkeypatch, block):
    monkeypatch.setattr(federation_paths, "search_size", lambda n: (block, SETS + n))
    # Another lattice, equal to the usual one: no search has been traced for it.
    check_cases(compiled_search(replace(LATTICE)), draw_cases(21), random.Random(22))


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_the_forms_for_accelerators_find_the_same(monkeypatch, platform):
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    check_cases(compiled_search(replace(LATTICE)), draw_cases(21), random.Random(22))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_cases(search, search_with_surplus, seed):
    rng = random.Random(seed)
    check_cases(search, draw_cases(1000 + seed), rng)
    check_cases(search, draw_cases(2000 + seed, growth=True), rng)
    check_cases(search_with_surplus, draw_cases(3000 + seed, 64), rng, surplus_allowed=True)
