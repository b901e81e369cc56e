"""A search on top of an agent with a policy: `NAME+search:N`, and options after more colons.

    runs/quick+search:32                      evaluates 32 positions a decision
    runs/quick+search:32:form=one_layer:k=16  the 16 most probable actions, each tried once

option   default   meaning
form     rollouts  rollouts: probable actions, followed along the policy's moves, with short turns
                   (formerly `lines`); tree; own_turn: a tree that ends where another player
                   decides; one_layer: no tree. The default of `training.explain` and the page is
                   tree
k        32        actions kept at a position, the most probable ones (not of rollouts)
m        8, 16     most rollouts; actions that the sequential halving of a tree begins with
prior    0.003     share of the highest probability that an action needs for a rollout
utility  max_n     max_n: the own value; margin: the own value minus the mean of the others;
                   paranoid: the others minimize the value of the searching player
scale    4, 0.5    of rollouts, of the rest: 1 VP is worth scale * (1 + n / 50) logits; n is the
                   number of moves of a rollout, or of visits of the most visited action
noise    0         Gumbel noise at the root; 1 draws from the improved policy
follow   0         forced decisions in a row that are played without a simulation; each costs the
                   whole batch a step, so it pays for small batches
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.command_line import UserError
from gaia_jax.xla.jax_config import own_jax_config

from ..search import UTILITIES, Model, SearchOptions, SearchOutput, environment_model, gumbel_search
from ..system.batched import clear_end_marks
from ..system.environments import can_be_short, with_short_turns
from ..types import Environment, EnvState, Params
from .base import LESS_OPPONENTS, Agent, Policy, redraw_hidden
from .levels import agent_of

SUFFIX = "+search:"
FORMS = ("rollouts", "tree", "own_turn", "one_layer")
ALIASES = {"lines": "rollouts"}  # former names
PLAYED, SHOWN = "rollouts", "tree"  # the default forms
# The options that a form reads, but for those that all read.
READS = {
    "rollouts": ("m", "prior"),
    "tree": ("k", "m"),
    "own_turn": ("k", "m"),
    "one_layer": ("k",),
}
ALL_READ = ("form", "utility", "scale", "noise", "follow")
DEFAULTS = {form: (8, 4.0) if form == "rollouts" else (16, 0.5) for form in FORMS}  # m, scale


@dataclasses.dataclass(frozen=True)
class SearchSpec:
    """The options after `+search:` in the name of an agent."""

    simulations: int
    k: int = 32
    m: int | None = None  # None: `DEFAULTS`
    form: str = ""  # of `FORMS`; "": `PLAYED`, or `SHOWN` where it explains
    utility: str = "max_n"
    scale: float | None = None  # None: `DEFAULTS`
    noise: float = 0.0
    follow: int = 0
    prior: float = 0.003

    def options(self, vp: float) -> SearchOptions:
        """The options of the search.

        Args:
            vp: the value of one VP for the network.
        Raises:
            UserError: an option that the form does not read.
        """
        offset, form = SearchOptions().visit_offset, self.form or PLAYED
        reads = (*READS[form], *ALL_READ)
        for option in dataclasses.fields(self)[1:]:
            value = getattr(self, option.name)
            if option.name not in reads and value != option.default:
                raise UserError(
                    f"a search of form {form} does not read {option.name}, got {option.name}="
                    f"{value}; its options are: {', '.join(reads)}"
                )
        m, scale = DEFAULTS[form]
        return SearchOptions(
            candidates=self.k,
            considered=self.m or m,
            utility=UTILITIES[self.utility],
            gumbel_scale=self.noise,
            value_scale=(self.scale or scale) / (offset * vp),
            own_turn=form == "own_turn",
            max_depth=int(form == "one_layer"),
            rollouts=form == "rollouts",
            least_prior=self.prior,
        )


OPTIONS = tuple(field.name for field in dataclasses.fields(SearchSpec))[1:]


def split_name(name: str) -> tuple[str, SearchSpec | None]:
    """The agent that a name begins with, of a level its own, and the search on top of it.

    Raises:
        UserError: a search that cannot be read; the message names the choices.
    """
    base, suffix, text = agent_of(name).partition(SUFFIX)
    base = agent_of(base)
    if not suffix:
        return base, None
    if not base:
        raise UserError(f"agent {name!r}: {SUFFIX}N must follow the name of an agent")
    count, *rest = text.split(":")
    if not count.isdecimal() or int(count) < 1:
        raise UserError(f"agent {name!r}: after {SUFFIX} comes a number above 0, got {count!r}")
    values: dict[str, Any] = {}
    for option in rest:
        key, equals, value = option.partition("=")
        if key not in OPTIONS or not equals:
            choices = ", ".join(f"{x}=" for x in OPTIONS)
            raise UserError(
                f"agent {name!r}: unknown option {option!r}; the choices are: {choices}"
            )
        values[key] = _read(name, key, value)
    return base, SearchSpec(int(count), **values)


def _read(name: str, key: str, value: str) -> Any:
    choices = {"form": FORMS, "utility": tuple(UTILITIES)}.get(key)
    if choices:
        value = ALIASES.get(value, value)
        if value not in choices:
            raise UserError(f"agent {name!r}: {key} is one of {', '.join(choices)}, got {value!r}")
        return value
    if key in ("k", "m", "follow"):
        least = 0 if key == "follow" else 1
        if not value.isdecimal() or int(value) < least:
            expected = "a whole number" + (" above 0" if least else "")
            raise UserError(f"agent {name!r}: {key} is {expected}, got {value!r}")
        return int(value)
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    low = number > 0 or (key == "noise" and number == 0)
    maximum = 1.0 if key == "prior" else sys.float_info.max
    if not low or not number <= maximum:
        bound = {"noise": "at least 0", "prior": "above 0 and at most 1"}.get(key, "above 0")
        raise UserError(f"agent {name!r}: {key} is a number {bound}, got {value!r}")
    return number


# (params, states (B, ...), key or keys, (B, A) bool or None) -> SearchOutput
SearchFn = Callable[..., SearchOutput]


def make_search(env: Environment, policy: Policy, spec: SearchSpec) -> tuple[SearchFn, Model]:
    """The search of a spec and its model.

    Returns:
        `search(params, states, key, mask)` of B states; `mask` (B, A) selects the
        candidates; None: all legal actions. In a solo game it looks ahead in one continuation of
        the Automa's cards, drawn by `key` from those that agree with what has been seen.
    """
    if policy.reward == LESS_OPPONENTS:
        raise UserError("no search reads the values of an agent trained with opponent_weight")
    if env.reward != policy.reward:  # values and rewards must be of one kind
        env = _rewarded(env, policy.reward)
    options = spec.options(policy.vp)
    if policy.short_turns or options.rollouts and can_be_short(env):
        env = with_short_turns(env, True)  # turns of rollouts end without a decision
    model = environment_model(
        env, policy.evaluate, policy.reward_scale, spec.follow, policy.best_action
    )
    recurrent = model.rollout_fn if options.rollouts else model.recurrent_fn

    @own_jax_config
    def search(
        params: Params, state: EnvState, key: Array, mask: Array | None = None
    ) -> SearchOutput:
        root = model.root(params, redraw_hidden(env, clear_end_marks(state), key))
        if mask is not None:
            root = root._replace(legal_actions=root.legal_actions & mask)
        return gumbel_search(params, key, root, recurrent, spec.simulations, options)

    return search, model


def _rewarded(env: Environment, reward: str) -> Environment:
    """The same with another reward; environments are frozen dataclasses."""
    other: Environment = dataclasses.replace(env, reward=reward)  # type: ignore[type-var]
    return other


def search_agent(env: Environment, base: Agent, spec: SearchSpec, name: str) -> Agent:
    """Plays the moves of a search on top of the policy of `base`.

    Raises:
        UserError: `base` has no policy with values.
    """
    if base.policy is None:
        raise UserError(
            f"agent {name!r}: a search needs a policy with values, a run or an agent of the zoo;"
            f" {base.name!r} has none"
        )
    search, _ = make_search(env, base.policy, spec)

    @own_jax_config
    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        # Games that are not this agent's to decide offer one action in `mask`, whatever is legal.
        action = search(params, state, key, mask).action
        legal = jnp.take_along_axis(mask, action[:, None], axis=1)[:, 0]
        return jnp.where(legal, action, jnp.argmax(mask, axis=1)).astype(jnp.int32)

    return Agent(name, jax.named_scope("search")(act), base.params, by_game=True)
