"""The folder that wrong command lines are tried in: runs, damaged runs, files of all kinds.

Made by commands that are right, in processes of their own. Cases leave it as it is, so all of them
share one.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.fuzz.runner import Runner

TINY: dict[str, Any] = {
    "name": "tiny",
    "env": {"id": "toy"},
    "network": {"layers": 1, "cell_width": 8, "width": 16, "latents": 2},
    "ppo": {"num_envs": 8, "num_steps": 8, "minibatches": 2},
    "run": {"updates": 4, "updates_per_chunk": 2},
    "track": {"sink": "none"},
    "eval": {"games": 0, "opponents": "random"},
}

ACT = "def act(params, state, mask, key):\n    {}\n"
GOOD = ACT.format("return mask.argmax(-1)")
# Bodies of `act` that an arena refuses.
BODIES = {
    "act_leaves": "import sys; sys.exit(3)", "fractions": "return mask.sum(-1) * 0.5",
    "booleans": "return mask[:, 0]", "one_number": "return mask.argmax()",
    "two_numbers": "import numpy as np; return np.zeros(2, int)",
    "a_column": "return mask.argmax(-1)[:, None]", "a_list": "return [0] * len(mask)",
    "nothing": "pass", "raises": "raise RuntimeError('no idea')",
    "concrete": "return int(mask[0].argmax())", "no_field": "return state.nothing",
}  # fmt: skip
# Modules of agents; a wrong one is a case of the arena.
AGENTS = {name: ACT.format(body) for name, body in BODIES.items()} | {
    "good": GOOD, "no_import": "import nothing_of_this_name\n", "no_python": "def act(:\n",
    "leaves": "import sys\nsys.exit('enough')\n", "leaves_with_0": "raise SystemExit(0)\n",
    "long_words": f"raise ValueError('{'word ' * 400}')\n",
    "many_lines": "raise ValueError('one\\ntwo\\nthree')\n",
    "two_arguments": "def act(state, mask):\n    return mask.argmax(-1)\n",
    "other_names": "def act(p, s, m, k):\n    return m.argmax(-1)\n",
    "object_params": GOOD + "act.params = object()\n",
    "text_params": GOOD + "act.params = {'a': 'b'}\n",
    "cyclic_params": GOOD + "act.params = []\nact.params.append(act.params)\n",
    "an_array": "import numpy as np\nact = np.zeros(3)\n",
    "a_class": "class act:\n    def __init__(self, params, state, mask, key):\n        pass\n",
}  # fmt: skip
CONFIGURATIONS = {
    "broken": "ppo: {lr: ]", "list": "- 1", "number": "3", "tab": "ppo:\n\tlr: 1",
    "twice": "seed: 1\nseed: 2", "aliases": "a: &a [x]\nb: [*a, *a]", "deep": "[" * 20_000,
    "wide": "name: " + "x" * 1_100_000, "object": "name: !!python/object:os.system ls",
    "documents": "seed: 1\n---\nseed: 2", "number_key": "1: 2", "list_key": "? [1]\n: 2",
    "group": "ppo: 3", "date": "seed: 2020-01-01", "nul": 'name: "a\\0b"',
    "control": 'name: "a\\eb"', "surrogate": 'name: "\\ud800"', "unknown": "pppo: {lr: 1}",
    "binary_name": "name: !!binary aGk=", "set": "name: !!set {a}",
}  # fmt: skip


def make(folder: Path, runner: Runner) -> None:
    """Fill a folder.

    Args:
        runner: has imported `tests.fuzz.cli_cases`.
    """
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    # Its updates learn nothing: what is compiled is the start of a run alone.
    result = runner.run("tests.fuzz.kill_cases:run", [["--config", "tiny.yaml"]], folder, None, 500)
    if result.code:
        raise RuntimeError(f"the run that cases resume failed: {result.err}")
    _runs(folder / "runs")
    for name, text in CONFIGURATIONS.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "latin.yaml").write_bytes(b"name: caf\xe9")
    for name, text in AGENTS.items():
        (folder / f"agent_{name}.py").write_text(text)
    tables(folder)
    _records(folder)
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("something")
    (folder / "notes.txt").write_text("my notes\n")
    (folder / "other.json").write_text('{"mine": 1}\n')
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    os.mkfifo(folder / "pipe")
    os.symlink("gone", folder / "dangling")
    os.symlink("loop", folder / "loop")
    os.symlink("/sys/kernel", folder / "sealed")


def _runs(runs: Path) -> None:
    """The run `tiny`, damaged in many ways. Its checkpoints are of the updates 2 and 4."""

    def damaged(name: str) -> Path:
        shutil.copytree(runs / "tiny", runs / name)
        return runs / name

    for step in ("00000002", "00000004"):
        place = damaged(f"cut_{int(step)}") / "checkpoints" / step
        largest = max(place.rglob("*"), key=lambda path: path.is_file() and path.stat().st_size)
        largest.write_bytes(largest.read_bytes()[:-9])
    everything = damaged("all_damaged")
    for path in (everything / "checkpoints").rglob("metadata"):
        path.write_bytes(path.read_bytes()[:40])
    for name, text in {
        "other_format": b'"format": "gaia_jax checkpoint 9"',
        "deep": b"[" * 100_000,
        "no_json": b"\x00\xff",
    }.items():
        for place in (damaged(name) / "checkpoints").iterdir():
            path = place / "about" / "metadata"
            written = path.read_bytes()
            marker = b'"format": "gaia_jax checkpoint 1"'
            path.write_bytes(written.replace(marker, text) if name == "other_format" else text)
            (place / "digests.json").unlink()
    for name, tail in {
        "junk_records": b"\x00\xff\xfe\n{}\n",
        "deep_records": b"[" * 100_000 + b"\n",
        "list_records": b"[1, 2]\n",
        "text_update": b'{"update": "four"}\n',
    }.items():
        with (damaged(name) / "metrics.jsonl").open("ab") as file:
            file.write(tail)
    place = damaged("folder_records") / "metrics.jsonl"
    place.unlink()
    place.mkdir()
    (runs / "no_checkpoints").mkdir()
    (runs / "no_checkpoints" / "checkpoints").mkdir()
    (runs / "hollow" / "checkpoints" / "00000004").mkdir(parents=True)
    (runs / "file_checkpoints").mkdir()
    (runs / "file_checkpoints" / "checkpoints").write_text("")
    (runs / "a_file").write_text("")
    os.symlink("/sys/kernel", runs / "sealed")


def some_games(ids: dict[str, list[str]]) -> Any:
    """Invented games of 3 set-ups."""
    from training.games import table

    shape = (3, 4, 4)

    def numbers(*axes: int) -> np.ndarray:
        return np.arange(np.prod((*shape, *axes))).reshape(*shape, *axes) % 7

    decisions = np.full(shape[:2], 400)
    return table.Games(
        np.broadcast_to(table.rotated(), shape), numbers() % 4 + 1, numbers(), numbers() + 30,
        numbers(len(ids["vp_source"])), numbers(len(table.BEHAVIOUR)), decisions, decisions / 4,
        numbers() + 90, numbers() * 0,
    )  # fmt: skip


def tables(folder: Path) -> None:
    """The CSV of an arena, and one of somebody else."""
    import gaia_jax
    from training.games import store

    env = gaia_jax.make("lost_fleet")
    ids = env.ruleset.ids
    about = {"env": env.id, "version": env.version, "seed": 0, "agents": "random," * 3 + "random"}
    (folder / "good.csv").write_bytes(store.encode(Path("games.csv"), about, some_games(ids), ids))
    (folder / "shopping.csv").write_text("bread\nmilk\n")


def _records(folder: Path) -> None:
    """Damaged game records; `tests/replays/test_replay.py` covers whether one replays."""
    import gaia_jax
    from gaia_jax import replay

    env = gaia_jax.make("lost_fleet")
    good: dict[str, Any] = {
        "format": replay.FORMAT, "ruleset": env.id, "version": env.version, "setup": {},
        "actions": ["pass"], "final_vp": [1, 2, 3, 4],
    }  # fmt: skip
    changes: dict[str, dict[str, Any]] = {
        "format": {"format": "chess"}, "no_format": {"format": None}, "ruleset": {"ruleset": "go"},
        "ruleset_list": {"ruleset": []}, "long_ruleset": {"ruleset": "x" * 5000},
        "version": {"version": "0.0"}, "number_version": {"version": 1},
        "long_version": {"version": "9" * 5000}, "newline": {"version": "a\nb\x1b[2J"},
        "setup_list": {"setup": []}, "setup_text": {"setup": "x"}, "setup_empty": {"setup": {}},
        "setup_key": {"setup": {"colour": 1}}, "setup_long": {"setup": {"x" * 5000: 1}},
        "sectors": {"setup": {"sectors": 3}}, "actions_text": {"actions": "pass"},
        "actions_number": {"actions": ["pass", 3]}, "vp_none": {"final_vp": None},
        "vp_fraction": {"final_vp": [1.5]}, "vp_true": {"final_vp": [True] * 4},
        "vp_long": {"final_vp": ["9" * 3000]}, "more": {"colour": "red"},
    }  # fmt: skip
    for name, change in changes.items():
        (folder / f"record_{name}.json").write_text(json.dumps(good | change))
    for key in replay.KEYS:
        rest = {name: value for name, value in good.items() if name != key}
        (folder / f"record_no_{key}.json").write_text(json.dumps(rest))
    text = json.dumps(good)
    raw: dict[str, str | bytes] = {
        "empty": "", "number": "3", "list": "[1, 2]", "cut": text[:60], "no_json": "{'a': 1}",
        "twice": text[:-1] + ', "version": "9"}', "deep": "[" * 200_000,
        "deep_object": '{"a":' * 100_000, "digits": '{"format": ' + "9" * 6000 + "}",
        "binary": bytes(range(256)), "nan": text.replace("[1,", "[NaN,"),
        "infinite": text.replace("[1,", "[1e999,"), "utf16": text.encode("utf-16"),
    }  # fmt: skip
    for name, content in raw.items():
        path = folder / f"record_{name}.json"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
