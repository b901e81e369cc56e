"""Training, games and look-ahead against the Automa."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.cli.command_line import UserError
from gaia_jax.components.automa import LEVELS
from gaia_jax.state import AUTOMA, HUMAN
from training import arena, evaluate, labels, zoo
from training import config as configs
from training.agents import policy_agent, random_agent
from training.agents.search import SearchSpec, make_search
from training.analysis.playouts import Candidates, Playouts
from training.games.arena import Arena, entry_names
from training.games.report import arena_report, behaviour, format_levels
from training.learn.advantages import opponent_adjusted_reward
from training.learn.exploring_starts import is_rich, with_exploring_starts
from training.learn.metrics import Diagnostics
from training.networks.make import make_network
from training.run import floors
from training.system.environments import make_env, with_level

GAMES = 8
ENV = gaia_jax.make("base", reward="vp", players=1, automa="any")
SOLO = configs.load("configs/solo.yaml")


@pytest.mark.parametrize(
    ("players", "level", "message"),
    [
        (1, "hard", "unknown automa 'hard'; known are automalein, .*, alptrauma, any"),
        (2, "ultoma", "plays against one player, not in base for 2 players"),
    ],
)
def test_a_wrong_level_is_refused(players: int, level: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_env(gaia_jax, "base", "vp", players, automa=level)
    with pytest.raises(UserError):
        with_level(gaia_jax.make("base", players=players), level)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--players=1", "--automa=hard"], "unknown automa 'hard'"),
        (["--players=2", "--automa=automa"], "--automa automa: base for 2 has no Automa"),
        (["--players=1", "--automa=automa,ultoma", "--csv=a.csv"], "games of one level, not of"),
    ],
)
def test_an_arena_needs_levels_that_exist(
    options: list[str], message: str, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        arena.main(["--agents=random", "--env=base", *options])


def test_others_are_subtracted_only_where_there_are_any() -> None:
    assert opponent_adjusted_reward(jnp.array([2.0]), 0.0).tolist() == [2]
    with pytest.raises(UserError, match="env.players of at least 2, got 1"):
        configs.override(SOLO, ["recipe.opponent_weight=0.5"])


# An observation and its mask; a network depends on their shapes alone.
SEEN = (
    SimpleNamespace(**{name: jnp.zeros((1, *x)) for name, x in ENV.observation_shape.items()}),
    jnp.ones((1, ENV.num_actions), bool),
)
CELLS = ("network.planets=0", "network.neighbourhood=false", "network.score_features=false")


@pytest.mark.parametrize("options", [(), CELLS, (*CELLS, "network.mixing=flat")])
def test_the_network_has_a_value_for_the_one_seat(options: tuple[str, ...]) -> None:
    network = make_network(ENV, configs.override(SOLO, options).network)

    def values() -> Any:
        return network.apply(network.init(jax.random.key(0), *SEEN), *SEEN)[1]

    assert jax.eval_shape(values).shape == (1, 1)


@pytest.mark.parametrize(("name", "players"), [("zoo/duel", 2), ("zoo/base", 4)])
def test_a_run_starts_with_an_agent_of_more_players(name: str, players: int) -> None:
    given, about = zoo.parameters(name, ENV), zoo.about(name)
    config = zoo.network_config(about)
    network = make_network(ENV, config)
    expected = jax.eval_shape(lambda key: network.init(key, *SEEN), jax.random.key(0))
    assert jax.tree.map(jnp.shape, given) == jax.tree.map(jnp.shape, expected)
    before = zoo.read(zoo.FOLDER / f"{about['name']}.npz", about)["params"]
    after = given["params"]
    names = [column.name for column in ENV.observation_spec.globals]
    is_new = np.array([x.startswith("automa_") for x in names])
    rows = np.asarray(after["globals"]["dense"]["kernel"])
    assert not rows[is_new].any() and rows[~is_new].any()
    # A layer reads the game and the two players, then the board, without the other players.
    old, new = (x["layer_0"]["Mlp_0"]["Linear_0"]["dense"]["kernel"] for x in (before, after))
    both, board = 3 * config.width, config.latents * config.cell_width
    assert len(new) == both + board and len(old) - len(new) == (players - 2) * config.width
    np.testing.assert_array_equal(new[:both], old[:both])
    np.testing.assert_array_equal(new[-board:], old[-board:])
    with pytest.raises(UserError, match="was trained on base 0.3"):
        zoo.open_agent(name, ENV)


def test_a_run_does_not_start_with_an_agent_of_fewer_players() -> None:
    with pytest.raises(UserError, match="with 2 players, this is base 0.3 with 4 players"):
        zoo.parameters("zoo/duel", gaia_jax.make("base"))


def test_greedy_does_not_label_the_solo_game(tmp_path: Any) -> None:
    with pytest.raises(UserError, match="labels of greedy need env.players of at least 2, got 1"):
        labels.main([f"--out={tmp_path / 'labels'}", "--config=configs/solo.yaml", "--games=1"])
    assert not list(tmp_path.iterdir())


def test_wins_are_counted_by_level_and_vp_of_the_human_alone() -> None:
    diagnostics = Diagnostics(SimpleNamespace(
        num_players=1, num_actions=1,
        ruleset=SimpleNamespace(ids={"vp_source": ["START"]}, automa=ENV.ruleset.automa),
    ))  # fmt: skip
    level = jnp.array([0, 0, 3, 3, 1], jnp.int8)
    before = SimpleNamespace(
        game=SimpleNamespace(setup=SimpleNamespace(automa=SimpleNamespace(level=level)))
    )
    vp = jnp.array([[90, 80], [50, 60], [70, 70], [99, 9], [1, 2]], jnp.int16)
    after = SimpleNamespace(
        terminated=jnp.array([True, True, True, False, False]), truncated=jnp.zeros(5, bool),
        final_vp=vp, final_source=vp[..., None],
    )  # fmt: skip
    report = diagnostics.report(jax.device_get(diagnostics.step(before, 0, after)), 3)
    assert report == {
        "vp/START": 70, "automalein/won": 0.5, "automalein/vp_ahead": 0, "ultoma/won": 0.5,
        "ultoma/vp_ahead": 0,
    }  # fmt: skip


@pytest.mark.slow
def test_any_draws_every_level_and_gifts_are_the_humans() -> None:
    rich_env = with_exploring_starts(ENV, 0.4)

    @jax.jit
    @jax.vmap
    def deal(key: Any) -> Any:
        setup = ENV.draw_setup(key)
        return setup, ENV.deal(setup), rich_env.deal(setup), is_rich(setup, 1, 0.4)

    keys = jax.random.split(jax.random.key(3), 500)
    setup, plain, given, rich = jax.device_get(deal(keys))
    assert (np.abs(np.bincount(setup.automa.level) - 100) < 45).all(), "five deviations"
    fixed = np.array([len(level.fixed_cards) for level in LEVELS])[setup.automa.level]
    assert ((setup.automa.deck[:, 0] > 0).sum(-1) == fixed + 1).all()
    changed = (given.players.resources != plain.players.resources).any(-1)
    assert not changed[:, AUTOMA].any() and not changed[~rich[:, 0], HUMAN].any()
    assert changed[rich[:, 0], HUMAN].mean() > 0.9


@pytest.fixture(scope="module")
def positions() -> Any:
    """Positions in round 1 and after it, and the same with other hidden cards."""
    env = gaia_jax.make("base", reward="vp", players=1, automa="any", short_turns=True)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), GAMES))
    step = jax.jit(jax.vmap(env.step))
    for number in range(16):
        keys = jax.random.split(jax.random.key(number), GAMES)
        mask = states.legal_action_mask
        states = step(states, random_agent(env).act((), states, mask, keys))
    hide = jax.jit(jax.vmap(env.redraw_hidden))
    others = hide(states, jax.random.split(jax.random.key(99), GAMES))
    decks = [x.game.setup.automa.deck for x in (states, others)]
    assert (decks[0] != decks[1]).any((1, 2)).all()
    return env, states, others


def differs(a: Any, b: Any) -> bool:
    """Whether any array of two trees differs."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return any((np.asarray(x) != np.asarray(y)).any() for x, y in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rollouts", "tree"])
def test_a_search_does_not_see_the_hidden_cards(form: str, positions: Any) -> None:
    env, states, others = positions
    network = make_network(env, SOLO.network)
    params = zoo.parameters("zoo/base", env)
    policy = policy_agent(env, network, params, "start").policy
    assert policy is not None
    search = jax.jit(make_search(env, policy, SearchSpec(24, form=form))[0])
    keys = [jax.random.split(jax.random.key(seed), GAMES) for seed in (1, 2)]
    first, same, other_key = (
        jax.device_get(search(params, state, key)._replace(tree=()))
        for state, key in ((states, keys[0]), (others, keys[0]), (states, keys[1]))
    )
    assert not differs(first, same)
    assert differs(first.candidates.values, other_key.candidates.values), "it looks at the cards"


@pytest.mark.slow
def test_playouts_do_not_see_the_hidden_cards(positions: Any) -> None:
    env, states, others = positions
    playouts = Playouts(env, random_agent(env), moves=8, slots=32)
    candidates = [
        Candidates(row, np.flatnonzero(mask)[:2], range(4))
        for row, mask in enumerate(np.asarray(states.legal_action_mask))
    ]
    ends = [playouts.play_candidates(jax.device_get(x), candidates) for x in (states, others)]
    assert all(end.ended.all() for end in ends[0]) and not differs(*ends)


@pytest.mark.slow
def test_an_arena_reports_each_level(tmp_path: Any, capsys: Any) -> None:
    options = ["--env=base", "--players=1", "--games=8", f"--json={tmp_path / 'a.json'}"]
    assert arena.main(["--agents=random", "--automa=automalein,alptrauma", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["automalein", "alptrauma"]
    env = with_level(ENV, "automalein")
    games = Arena(env, [random_agent(env)], GAMES).play(0)
    assert games.vp.shape == (GAMES, 1, 2) and not games.decided[..., AUTOMA].any()
    report = arena_report(games, entry_names(env, ["random"]), env.ruleset.ids)
    assert list(report["agents"]) == ["random", "Automa automalein"]
    assert f"{report['agents']['random']['vp']['mean']:.2f}" in lines[-2]
    assert lines[-2] in format_levels({"automalein": report})


@pytest.mark.slow
def test_floors_are_measured_without_the_seat_of_the_automa(monkeypatch: Any) -> None:
    seen = []

    def keep(games: Any, mine: Any, ids: Any) -> Any:
        seen.append((games, mine))
        return behaviour(games, mine, ids)

    monkeypatch.setattr(floors, "behaviour", keep)
    monkeypatch.setattr(floors, "SETUPS", 2)
    agent = zoo.open_agent("zoo/solo", ENV)
    means = floors._measure(ENV, agent.params, agent.training, {})
    ((games, mine),) = seen
    assert games.vp.shape == (2, 1, 2) and mine[..., HUMAN].all() and not mine[..., AUTOMA].any()
    assert means.keys() == floors.FLOORS.keys() and means["research_steps"] > 0


def test_an_evaluation_takes_a_level_of_a_solo_agent_alone() -> None:
    with pytest.raises(UserError, match="--automa ultoma: base for 2 has no Automa"):
        evaluate.main(["zoo/duel", "--automa=ultoma"])
