"""Keys of experiments that docs/learning.md did not keep; commit 383ed53 still has their code.

Configurations, runs and agents of before name them. Where they do nothing they are read over.
"""

from __future__ import annotations

from typing import Any

from gaia_jax.cli.command_line import UserError

# Each with the value at which it did nothing.
GONE: dict[str, Any] = {
    "network.favourites": "",
    "network.hidden": 0,
    "ppo.anchor": 0.0,
    "ppo.explore": 0.0,
    "ppo.explore_favourites": "",
    "ppo.explore_temperature": 4.0,
    "ppo.explore_verbs": "",
    "ppo.favourites": 1.0,
    "ppo.pool": 0,
    "ppo.pool_updates": 20,
    "ppo.search": 0,
    "ppo.search_coef": 1.0,
    "ppo.search_every": 8,
    "ppo.search_form": "one_layer",
    "ppo.search_scale": 0.5,
    "ppo.value_clip": 0.0,
}


def without_gone(tree: dict[str, Any]) -> dict[str, Any]:
    """A configuration as nested dictionaries without the keys that are gone.

    Raises:
        UserError: it sets one of them to something.
    """
    out = dict(tree)
    for key, nothing in GONE.items():
        group, name = key.split(".")
        if not isinstance(out.get(group), dict) or name not in out[group]:
            continue
        value = out[group][name]
        # True is 1 and False is 0 to Python, a file that says so is wrong all the same.
        if isinstance(value, bool) or value != nothing:
            raise UserError(
                f"the key {key} is gone, up to 383ed53 there was one (docs/learning.md); "
                f"only {nothing!r}, which does nothing, is read, got {_short(value)}"
            )
        out[group] = {k: x for k, x in out[group].items() if k != name}
    return out


def _short(value: Any, most: int = 60) -> str:
    text = "a number of many digits" if isinstance(value, int) and abs(value) > 10**most else ""
    text = text or repr(value)
    return text if len(text) <= most else f"{text[: most - 4]} ..."
