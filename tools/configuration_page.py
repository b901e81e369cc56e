"""The page of all keys, made from their declarations: `python -m tools.configuration_page`."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from training.config.keys import GROUPS, Config

HEAD = """# Configuration keys

Made by `make pages` from `training/config/keys.py`. A file in `configs/` sets what it names, the
rest keeps its default; `key=value` on the command line wins: `ppo.lr=3e-4`. An unknown key is
refused with the nearest name.
"""


def _range(field: FieldInfo) -> str:
    """`0 to 1`, `above 0`, the choices of a word."""
    bounds = {
        name: value
        for part in field.metadata
        for name in ("gt", "ge", "le")
        if (value := getattr(part, name, None)) is not None
    }
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(field.annotation))
    if not bounds:
        return "true or false" if field.annotation is bool else "text"
    low = f"above {bounds['gt']}" if "gt" in bounds else f"{bounds['ge']}"
    return f"{low} to {bounds['le']:.10g}"


def table(group: type) -> list[str]:
    """The rows of one group."""
    rows = ["| key | default | range | meaning |", "| --- | --- | --- | --- |"]
    for name, field in group.__pydantic_fields__.items():  # type: ignore[attr-defined]
        if name in GROUPS:
            continue
        default = str(field.default).lower() if field.annotation is bool else field.default
        default = "null" if default is None else default
        shown = f"`{default}`" if default != "" else "none"
        rows.append(f"| `{name}` | {shown} | {_range(field)} | {field.description} |")
    return rows


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## At the top", "", *table(Config)]
    for name, group in GROUPS.items():
        lines += ["", f"## {name}", "", group.__doc__ or "", "", *table(group)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(page(), end="")
