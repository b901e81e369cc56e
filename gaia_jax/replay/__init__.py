"""Game records: a game as a JSON file, played and verified again; as a page and as a list of moves.

`python -m gaia_jax.replay FILE` plays one; `docs/reference/datasets.md` has the format.
"""

from typing import TYPE_CHECKING

from gaia_jax.cli import lazy

if TYPE_CHECKING:
    from gaia_jax.replay.command import CSV_HEAD, HTML_HEAD, main, table
    from gaia_jax.replay.record import (
        FORMAT,
        KEYS,
        LONGEST,
        Record,
        RecordError,
        compiled,
        laid,
        parse,
        play,
        read,
        states,
        to_text,
        write,
    )

__all__ = [
    "CSV_HEAD", "FORMAT", "HTML_HEAD", "KEYS", "LONGEST", "Record", "RecordError", "compiled",
    "laid", "main", "parse", "play", "read", "states", "table", "to_text", "write",
]  # fmt: skip

__getattr__ = lazy.names(
    __name__,
    {
        "command": "CSV_HEAD HTML_HEAD main table",
        "record": "FORMAT KEYS LONGEST Record RecordError compiled laid parse play read states "
        "to_text write",
    },
    {},
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
