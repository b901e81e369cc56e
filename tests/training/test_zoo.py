"""Shipped agents: they load, are whole, and still play the games that they played.

Most of the time goes into compiling: the game once, a network for all agents that share it.
"""

import dataclasses
import json
import re
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.cli.command_line import UserError
from tests import conftest
from tests.stub_env import StubEnv
from training import config as configs
from training import ship as ship_command
from training import zoo
from training.agents.registry import plays, trained
from training.config import Config
from training.networks.make import make_network
from training.run import floors, ship
from training.system.data_files import flatten
from training.system.environments import identity
from training.zoo import games
from training.zoo.transfer import rows_of, transfer

LIMIT = 5 * 2**20
CLOSE = 1e-3  # logits of two actions this near may change places on another machine


@cache
def environment(id: str = "lost_fleet", players: int = 4):
    return gaia_jax.make(id, players=players)


def of(metadata):
    """The environment of an agent."""
    return environment(metadata["env"], metadata.get("players", 4))


@pytest.fixture(autouse=True)
def one_game(monkeypatch, env, init_games, step_games):
    """Use the compiled functions of the fixtures, which have the same number of games.

    All programs are plain `jax.jit`: the arrays of a stored one are placed differently, so that a
    plain one that takes them is compiled again.
    """
    assert conftest.GAMES == games.GAMES

    @cache
    def game(other):
        if other == env:
            return init_games, step_games
        return jax.jit(jax.vmap(other.init)), jax.jit(jax.vmap(other.step))

    monkeypatch.setattr(games, "_game", game)


@cache
def player(network: str, env):
    """One compiled player for each kind of network and environment."""
    config = zoo.network_config({"network": json.loads(network)})
    return games.make_player(env, make_network(env, config))


@pytest.mark.parametrize(
    "name",
    # A program of its own to compile for each agent.
    [pytest.param(x, marks=[pytest.mark.slow] * (x != "zoo/strong")) for x in zoo.names()],
)
def test_an_agent_is_whole_small_and_plays_its_recorded_games(name):
    """The games are the engine's bit for bit; a choice may differ between equal logits only."""
    metadata = zoo.about(name)
    path = zoo.FOLDER / f"{metadata['name']}.npz"
    assert path.stat().st_size <= LIMIT
    env = of(metadata)
    params = zoo.open_agent(name, env).params
    with np.load(path.with_suffix(".games.npz")) as file:
        recorded = games.Recorded(file["actions"], file["vp"])
    assert recorded.vp.shape == (games.GAMES, rows_of(env))
    turns = trained(name, env).as_trained
    replayed = games.replay(player(json.dumps(metadata["network"]), turns), params, recorded)
    assert replayed.over.all()
    np.testing.assert_array_equal(replayed.actions[: len(recorded.actions)], recorded.actions)
    np.testing.assert_array_equal(replayed.vp, recorded.vp)
    assert replayed.gap.max() <= CLOSE
    assert (replayed.gap == 0).mean() > 0.999


def test_no_agent_names_a_folder_of_a_machine():
    for path in zoo.FOLDER.glob("*.json"):
        texts = re.findall(r'": "(.*)"', path.read_text("utf-8"))
        assert texts and not [text for text in texts if Path(text).is_absolute()], path.name


def test_a_shipped_agent_is_written_whole(tmp_path, monkeypatch):
    """Of a run that began with a file of a machine; Ctrl-C while it plays leaves nothing."""
    monkeypatch.setattr(ship.zoo, "save", partial(zoo.save, folder=tmp_path))
    monkeypatch.setattr(ship, "make_player", lambda *_: None)
    monkeypatch.setattr(ship, "make_network", lambda *_: None)
    config = configs.override(Config(), [f"run.warm_start={tmp_path}/deep/begun.npz"])

    def interrupted(*_):
        raise KeyboardInterrupt

    for record in (interrupted, lambda *_: games.Recorded(np.zeros((1, 1)), np.zeros((1, 4)))):
        monkeypatch.setattr(ship, "record", record)
        if record is interrupted:
            with pytest.raises(KeyboardInterrupt):
                ship.make("x", StubEnv(), {}, config, {})
            assert not [*tmp_path.iterdir()]
    path, _ = ship.make("x", StubEnv(), {}, config, {"temperature": 0.5})
    metadata = zoo.about("zoo/x", tmp_path)
    assert (
        metadata["training"]["run"]["warm_start"] == "begun.npz" and metadata["temperature"] == 0.5
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.games.npz", "x.json", "x.npz"]


def test_the_checkpoint_that_ships_may_be_named(monkeypatch):
    policy = SimpleNamespace(params={}, config=Config(), update=120)
    loaded = []
    monkeypatch.setattr(
        ship, "load_policy", lambda run, *args: loaded.append((run, args[-1])) or policy
    )
    monkeypatch.setattr(ship, "make", lambda *args: args)
    for run in ("runs/x@120", "runs/x"):
        args = ship_command._parse(["new", "--run", run, "--below-floors"])
        assert ship.ship(args)[-1] == {"decisions": 120 * 256 * 64}
    assert loaded == [("runs/x", 120), ("runs/x", None)]


def test_an_agent_below_the_floors_of_the_one_it_replaces_is_refused(monkeypatch):
    card = zoo.about("zoo/strong")["results"]
    old = floors.of_card(card)
    assert old.keys() == floors.FLOORS.keys() and old["leech_vp_paid"] > 0
    measured = [old | {"federations": 0.94 * old["federations"]}]
    monkeypatch.setattr(floors, "_measure", lambda *_: measured[0])
    args = ("strong", environment(), {}, Config())
    expected = r"zoo/strong: below the agent that it replaces: federations 1.89, the floor is 1.91;"
    with pytest.raises(UserError, match=expected):
        floors.check(*args, {})
    floors.check(*args, {"results": card})  # a card needs no games
    measured[0] = {name: 0.96 * value for name, value in old.items()}
    floors.check(*args, {})
    measured[0] = dict.fromkeys(old, 0.0)
    floors.check("new", *args[1:], {})  # it replaces none
    floors.check("strong", environment("base"), {}, Config(), {})  # of another game


def test_an_agent_of_another_number_of_players_is_refused(tmp_path):
    env = environment("base", 2)
    zoo.save("x", {}, identity(env) | {"network": {}}, tmp_path)
    expected = "zoo/x was trained on base 0.3 with 2 players, this is base 0.3 with 3 players"
    with pytest.raises(UserError, match=expected):
        zoo.open_agent("zoo/x", environment("base", 3), folder=tmp_path)


def test_an_agent_of_a_smaller_map_is_not_carried_over():
    """Its network may have fewer tokens than the larger map has planets."""
    expected = "zoo/base was trained on base 0.3, this is lost_fleet 0.2"
    with pytest.raises(UserError, match=expected):
        zoo.open_agent("zoo/base", environment())
    assert not zoo.carried("base", "lost_fleet") and zoo.carried("lost_fleet", "base")
    assert not zoo.carried("toy", "base")
    assert plays("zoo/base").refusal("lost_fleet", 4) == "plays base, not lost_fleet"
    assert not plays("zoo/base").refusal("base", 4) and not plays("zoo/strong").refusal("base", 4)


@pytest.mark.parametrize("name", ["zoo/quick", "zoo/strong"])
def test_another_ruleset_is_played_with_weights_carried_over_by_name(name):
    """Traced, not compiled: two seconds each. `zoo/strong` looks around its cells."""
    metadata, actual, base = zoo.about(name), environment(), gaia_jax.make("base")
    params, config = zoo.open_agent(name, actual).params, zoo.network_config(metadata)
    same, stored = flatten(transfer(params, config, actual, actual)), flatten(params)
    assert same.keys() == stored.keys() and all(np.array_equal(same[k], stored[k]) for k in stored)

    _, network, carried, *_ = zoo.open_agent(name, base)
    state = jax.eval_shape(base.init, jax.random.key(0))
    single_state = jax.eval_shape(lambda s: (base.observe(s, 0), s.legal_action_mask), state)
    batch = jax.tree.map(lambda x: jax.ShapeDtypeStruct((1, *x.shape), x.dtype), single_state)
    built = jax.eval_shape(network.init, jax.random.key(0), *batch)
    assert jax.tree.map(jnp.shape, carried) == jax.tree.map(jnp.shape, built)

    def credits(env, params):
        names = [feature.name for feature in env.observation_spec.players]
        return params["params"]["players"]["dense"]["kernel"][names.index("credits")]

    np.testing.assert_array_equal(credits(base, carried), credits(actual, params))
    with pytest.raises(UserError, match="weights for each cell of lost_fleet cannot play base"):
        transfer(params, dataclasses.replace(config, planets=0), actual, base)


def test_an_agent_of_an_old_version_of_its_own_ruleset_is_not_carried_over(tmp_path):
    """Rulesets have their own versions: what counts is that of the one it was trained on."""
    for version in ("0.0", gaia_jax.make("base").version):
        about = zoo.about("zoo/quick") | {"name": "x", "env_version": version}
        (tmp_path / "x.json").write_text(json.dumps(about))
        with pytest.raises(UserError, match=rf"was trained on lost_fleet {version}, this is base"):
            zoo.open_agent("zoo/x", gaia_jax.make("base"), folder=tmp_path)
    assert gaia_jax.make("base").version != gaia_jax.make().version
    zoo.open_agent("zoo/quick", gaia_jax.make("base"))


def test_damage_and_another_version_are_refused(tmp_path):
    params = {"params": {"a": {"kernel": jnp.ones((2, 3))}}}
    metadata = {"env": "lost_fleet", "env_version": "0.0", "network": {}}
    zoo.save("x", params, metadata, tmp_path)
    assert zoo.names(tmp_path) == ["zoo/x"]
    with pytest.raises(UserError, match=r"zoo/x was trained on lost_fleet 0\.0, this is"):
        zoo.open_agent("zoo/x", environment(), folder=tmp_path)
    read = zoo.read(tmp_path / "x.npz", zoo.about("zoo/x", tmp_path))
    assert np.array_equal(read["params"]["a"]["kernel"], np.ones((2, 3)))
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes() + b"0")
    with pytest.raises(UserError, match="is damaged"):
        zoo.read(tmp_path / "x.npz", zoo.about("zoo/x", tmp_path))
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(UserError, match="key 'format' is missing"):
        zoo.about("zoo/x", tmp_path)
    other = dict.fromkeys(zoo.KEYS, "") | {"format": "gaia_jax game 1", "network": {}}
    (tmp_path / "x.json").write_text(json.dumps(other))
    with pytest.raises(UserError, match="no agent of the zoo"):
        zoo.about("zoo/x", tmp_path)
