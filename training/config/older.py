"""Renamed and removed configuration keys.

Older runs, agents and command lines use them. A removed key is accepted at its neutral value.
"""

from __future__ import annotations

from typing import Any

from gaia_jax.cli.command_line import UserError

MOVED = {
    "network.around": "network.neighbourhood",
    "network.standings": "network.score_features",
    "network.kinds": "network.factored_head",
    "ppo.spread": "recipe.staggered_starts",
    "ppo.riches": "recipe.exploring_starts",
    "ppo.keep": "recipe.keep_fraction",
    "ppo.average": "recipe.ema_decay",
    "ppo.opponents": "recipe.opponent_weight",
    "train.start": "run.warm_start",
    "train.start_temperature": "run.warm_start_temperature",
    "train.coordinator": "hosts.coordinator",
    "train.processes": "hosts.processes",
    "train.process_id": "hosts.process_id",
    "eval.greedy": "eval.likeliest",
}
# Renamed groups; their other keys keep their names.
MOVED_GROUPS = {"train": "run"}

# Experiments that were not kept, with the value at which each did nothing; ANY where another key
# switched it on. 383ed53 has their code, docs/lab/learning.md what came of them.
ANY = object()
GONE: dict[str, Any] = {
    "network.favourites": "",
    "network.hidden": 0,
    "ppo.value_clip": 0,
    "ppo.anchor": 0,
    "ppo.search": 0,
    "ppo.search_form": ANY,
    "ppo.search_every": ANY,
    "ppo.search_scale": ANY,
    "ppo.search_coef": ANY,
    "ppo.explore": 0,
    "ppo.explore_temperature": ANY,
    "ppo.explore_verbs": "",
    "ppo.explore_favourites": "",
    "ppo.favourites": ANY,
    "ppo.pool": 0,
    "ppo.pool_updates": ANY,
}


def today(key: str) -> str:
    """The current name of a full key, `ppo.keep` -> `recipe.keep_fraction`."""
    if key in MOVED:
        return MOVED[key]
    group, dot, rest = key.partition(".")
    return MOVED_GROUPS.get(group, group) + dot + rest


def check_gone(key: str, value: object) -> bool:
    """Whether a full key was removed; a UserError unless its value is the neutral one."""
    if key not in GONE:
        return False
    neutral = GONE[key]
    if neutral is not ANY and value != neutral:
        raise UserError(
            f"the key {key} is gone, an experiment that was not kept: docs/lab/learning.md says "
            "what came of it, 383ed53 has the code"
        )
    return True


def renamed(tree: dict[str, Any]) -> dict[str, Any]:
    """Nested keys with their current names, without removed keys."""
    out: dict[str, Any] = {}
    for group, values in tree.items():
        if not isinstance(values, dict) or not isinstance(group, str):
            out[today(group) if isinstance(group, str) else group] = values
            continue
        out.setdefault(MOVED_GROUPS.get(group, group), {})
        for key, value in values.items():
            full = f"{group}.{key}"
            if check_gone(full, value):
                continue
            new_group, _, new_key = today(full).partition(".")
            place = out.setdefault(new_group, {})
            # The current name wins over an older one.
            if new_key not in place or full == f"{new_group}.{new_key}":
                place[new_key if isinstance(key, str) else key] = value
    return out
