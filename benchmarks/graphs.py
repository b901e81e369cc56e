"""Which kernels, loops and branches XLA puts into command buffers (CUDA graphs) of a card.

The text of a module does not say it: XLA decides when it makes a sequence of launches ("thunks") of
the module, and writes that sequence where it is told to. To compile with `LOOPS` is safe; what ran
with it on a card played a wrong game (docs/lab/accelerators.md).
"""

from __future__ import annotations

import re
from pathlib import Path

LOOPS = "--xla_gpu_enable_command_buffer=+WHILE,+CONDITIONAL"
WRITE = "--xla_dump_hlo_as_text --xla_dump_to="
_THUNK = re.compile(r"^( *)(\d+): (k\w+)")


def buffered(folder: Path) -> list[str]:
    """The instructions that stand in command buffers, of the largest module written to `folder`."""
    sequences = folder.glob("*.thunk_sequence_after_thunk_passes.txt")
    sequence = max(sequences, key=lambda path: path.stat().st_size, default=None)
    if sequence is None:
        return []
    module = sequence.name.removesuffix(".thunk_sequence_after_thunk_passes.txt")
    notes = (folder / f"{module}.thunk_metadata.txt").read_text(encoding="utf-8")
    return names_in(sequence.read_text(encoding="utf-8"), notes)


def names_in(sequence: str, notes: str) -> list[str]:
    """The names of what stands below a command buffer.

    Args:
        sequence: a thunk a line, what it holds indented below it; notes: names by thunk.
    """
    names: dict[str, str] = {}
    for note in notes.split("thunk_metadata {"):
        name = re.search(r'profile_annotation: "([^"]*)"', note)
        number = re.search(r"thunk_id: (\d+)", note)
        if name and number:
            names[number[1]] = name[1]
    found, buffer = [], -1  # how far the command buffer is indented, if one is open
    for line in sequence.splitlines():
        thunk = _THUNK.match(line)
        if not thunk:
            continue  # "condition:", "body:"
        depth = len(thunk[1])
        if depth <= buffer:
            buffer = -1
        if thunk[3] == "kCommandBuffer":
            buffer = depth if buffer < 0 else buffer
        elif buffer >= 0:
            found.append(names[str(int(thunk[2]))])
    return sorted(set(found))
