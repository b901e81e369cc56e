"""`NAME+search:N`: its moves, and its messages for invalid names."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from gaia_jax.cli.command_line import UserError
from tests.stub_env import blank_agent
from training.agents import make_agent
from training.agents.base import policy_agent
from training.agents.search import FORMS, SearchSpec, search_agent, split_name
from training.config import NetworkConfig
from training.networks import sampling
from training.networks.make import make_network

sys.path.insert(0, str(Path(__file__).parent.parent / "training"))
import toy_env


@pytest.fixture(scope="module")
def env():
    return toy_env.make("toy")


@pytest.fixture(scope="module")
def base(env):
    """An agent whose network knows nothing."""
    return blank_agent(env, "toy")


@pytest.mark.parametrize(
    "spec",
    [
        SearchSpec(32, m=8),
        SearchSpec(12, form="tree", k=8, m=4, noise=1.0, utility="margin"),
        SearchSpec(12, form="own_turn", utility="paranoid"),
        SearchSpec(32, form="one_layer"),
    ],
    ids=FORMS,
)
def test_it_plays_legal_actions_and_reads_the_rewards(env, base, spec):
    agent = search_agent(env, base, spec, "toy+search")
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(1), 32))
    # In the last four games it is not asked: the mask offers one action.
    query = jnp.arange(32) < 28
    only = jnp.arange(env.num_actions) == jnp.argmax(state.legal_action_mask, -1)[:, None]
    mask = jnp.where(query[:, None], state.legal_action_mask, only)
    action = jax.jit(agent.act)(agent.params, state, mask, jax.random.key(2))
    assert mask[jnp.arange(32), action].all()
    if spec.form == "one_layer":  # every action was tried: it takes the one that pays most
        cells = state.legal_action_mask[:, : toy_env.C]
        best = jnp.max(jnp.where(cells, state.game.worth[:, 0], 0), axis=1)
        paid = jax.jit(jax.vmap(env.step))(state, action).rewards
        own = jnp.take_along_axis(paid, state.current_player[:, None], 1)[:, 0]
        result = query & cells.any(1) & (best > 1)
        assert result.sum() > 20
        assert jnp.allclose(100 * own[result], best[result])


@pytest.mark.slow
@pytest.mark.parametrize("mixing", ["pool", "flat"])
def test_rollouts_play_alike_where_only_the_likeliest_move_is_asked_for(env, mixing):
    config = NetworkConfig(mixing=mixing, layers=1, cell_width=8, width=8, latents=2)
    network = make_network(env, config)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(3), 32))
    mask = state.legal_action_mask
    observation = jax.vmap(env.observe)(state, state.current_player)
    params = jax.jit(network.init)(jax.random.key(4), observation, mask)
    params = jax.tree.map(lambda x: x + 0.3 * jnp.sin(jnp.arange(x.size)).reshape(x.shape), params)
    base = policy_agent(env, network, params, "toy")
    assert base.policy.best_action is not None
    asks_all = base._replace(policy=base.policy._replace(best_action=None))
    spec = SearchSpec(12, prior=1e-6)
    act = [search_agent(env, x, spec, "toy+search").act for x in (base, asks_all)]
    from_action, from_logits = (jax.jit(f)(params, state, mask, jax.random.key(5)) for f in act)
    assert jnp.array_equal(from_action, from_logits)
    logits, values = jax.jit(base.policy.evaluate)(params, state)
    best, same = jax.jit(base.policy.best_action)(params, state)
    assert jnp.array_equal(best, sampling.most_probable(logits, mask))
    assert jnp.allclose(values, same, rtol=1e-5)
    assert (from_action != best).any()  # a search that never finds anything else would agree too


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k=8", "form rollouts does not read k, got k=8; its options are: m, prior, form, utility"),
        ("form=tree:prior=0.1", "form tree does not read prior, got prior=0.1; its options are: k"),
        ("form=own_turn:prior=0.1", "form own_turn does not read prior"),
        ("form=one_layer:m=8", "form one_layer does not read m, got m=8"),
    ],
)
def test_an_option_without_effect_is_refused(env, base, text, message):
    name = f"toy+search:4:{text}"
    with pytest.raises(UserError, match=message):
        search_agent(env, base, split_name(name)[1], name)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("runs/quick+search:32", SearchSpec(32)),
        ("zoo/strong+search:8:form=one_layer:k=4:follow=0", SearchSpec(8, k=4, form="one_layer")),
        (
            "a@9+search:64:m=8:utility=paranoid:scale=1.5:noise=1",
            SearchSpec(64, m=8, utility="paranoid", scale=1.5, noise=1.0),
        ),
        ("a+search:8:form=rollouts", SearchSpec(8, form="rollouts")),
        ("a+search:8:form=lines", SearchSpec(8, form="rollouts")),  # the former name
        ("module:function", None),
    ],
)
def test_names_that_can_be_read(name, spec):
    base, result = split_name(name)
    assert result == spec
    assert base == (name.split("+")[0])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a+search:", "after +search: comes a number above 0, got ''"),
        ("a+search:0", "got '0'"),
        ("a+search:-4", "got '-4'"),
        ("+search:4", "must follow the name"),
        (
            "a+search:4:depth=2",
            "unknown option 'depth=2'; the choices are: k=, m=, form=, utility=",
        ),
        ("a+search:4:k=0", "k is a whole number above 0, got '0'"),
        ("a+search:4:follow=x", "follow is a whole number, got 'x'"),
        ("a+search:4:form=wide", "form is one of rollouts, tree, own_turn, one_layer, got 'wide'"),
        ("a+search:4:prior=2", "prior is a number above 0 and at most 1, got '2'"),
        ("a+search:4:utility=mean", "utility is one of max_n, margin, paranoid, got 'mean'"),
        ("a+search:4:scale=0", "scale is a number above 0, got '0'"),
        ("a+search:4:noise=much", "noise is a number at least 0, got 'much'"),
        ("a+search:4:scale=inf", "scale is a number above 0"),
        ("random+search:4", "a search needs a policy with values"),
        ("missing+search:4", "unknown agent 'missing'"),
    ],
)
def test_names_that_cannot_be_read_are_one_clear_line(env, name, message):
    with pytest.raises(UserError, match=".") as caught:
        make_agent(name, env)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
