"""What is wrong with a configuration, in one line that names the key and the choices."""

from __future__ import annotations

import difflib

from pydantic import ValidationError

from training.config.keys import GROUPS, Config

LONGEST_NAME = 100  # bytes


def short(value: object, most: int = 60) -> str:
    """A value as it goes into a message."""
    if isinstance(value, int) and abs(value) > 10**most:
        return "a number of many digits"
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def unknown(name: str) -> str:
    """`unknown key`, the nearest one, and the choices in the deepest group that exists."""
    first, dot, rest = name.partition(".")
    inside = bool(dot) and first in GROUPS
    path = f"{first}." if inside else ""
    keys = list((GROUPS[first] if inside else Config).__dataclass_fields__)  # type: ignore[attr-defined]
    wanted = (rest if inside else first)[:LONGEST_NAME]
    choices = f"choices{f' in {first}' if inside else ''} are: {', '.join(keys)}"
    if near := difflib.get_close_matches(wanted, keys, 1):
        return f"unknown key {short(name)}; meant {path}{near[0]}? The {choices}"
    return f"unknown key {short(name)}; the {choices}"


def one_line(error: ValidationError) -> str:
    """The first thing that is wrong, `ppo.lr must be above 0, got 0.0`."""
    first = error.errors(include_url=False)[0]
    kind, context, value = first["type"], first.get("ctx", {}), first["input"]
    name = ".".join(str(part) for part in first["loc"])
    if kind in ("unexpected_keyword_argument", "invalid_key"):
        return unknown(name)
    got = f"got {short(value)}"
    bounds = {"greater_than": ("above", "gt"), "greater_than_equal": ("at least", "ge")}
    bounds |= {"less_than_equal": ("at most", "le")}
    if kind in bounds:
        word, bound = bounds[kind]
        return f"{name} must be {word} {context[bound]:.10g}, {got}"
    if kind == "literal_error":
        choices = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"{name} must be one of {choices}, {got}"
    if kind.startswith("dataclass"):
        return f"{name} must be a group of keys, {got}" if name else f"no configuration: {got}"
    if kind == "finite_number":
        return f"{name} must be a finite number, {got}"
    return f"{name} must be {_kind_of(name)}, {got}"


def _kind_of(name: str) -> str:
    """What a key holds, for a value of another kind."""
    group, _, key = name.rpartition(".")
    fields = (GROUPS[group] if group else Config).__pydantic_fields__  # type: ignore[attr-defined]
    kind = fields[key].annotation
    return {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a text")
