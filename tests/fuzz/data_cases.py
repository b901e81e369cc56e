"""Damaged files: which command reads which file, what happened to it, what the line has to name.

All are refused with one line and exit code 2, before the game is compiled.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import gaia_jax
from gaia_jax import env as game
from gaia_jax import replay
from tests.fuzz import damage
from tests.training import toy_env
from training import (
    arena,
    clone,
    compare,
    evaluate,
    explain,
    export,
    labels,
    plan,
    ship,
    sweep,
    train,
    zoo,
)
from training.play import __main__ as play
from training.study import __main__ as study
from training.system import cli

FACES: dict[str, Any] = {
    "arena": (arena.main, ()), "clone": (clone.main, ()), "compare": (compare.main, ()),
    "evaluate": (evaluate.main, (gaia_jax,)), "explain": (explain.main, ()),
    "export": (export.main, ()), "labels": (labels.main, ()),
    "plan": (plan.main, (toy_env,)), "play": (play.main, ()), "replay": (replay.main, ()),
    "ship": (ship.main, ()), "study": (study.main, ()), "sweep": (sweep.main, (toy_env,)),
    "train": (train.main, ()),
}  # fmt: skip


COMPILED = 99  # an exit code


class Case(NamedTuple):
    """One damaged file."""

    folder: str  # of `data_site.FOLDERS`
    line: str  # the command and its arguments
    file: str  # what is damaged
    fault: str  # of `damage`


def command(name: str, args: list[str]) -> int:
    """Run a command line as `python -m` does; the zoo is `zoo` in the working directory.

    Returns:
        Its exit code; COMPILED if it has traced a decision of the game.
    """
    num_traces, step = [0], game.rules_step

    def traced(*args: Any, **options: Any) -> Any:
        num_traces[0] += 1
        return step(*args, **options)

    game.rules_step = traced
    sys.path.insert(0, "")
    folder = zoo.Path("zoo")
    for function in (zoo.names, zoo.about, zoo.open_agent):
        *others, _ = function.__defaults__ or ()
        function.__defaults__ = (*others, folder)
    main, extra = FACES[name]
    code = cli.run(lambda: main(args, *extra))
    return COMPILED if num_traces[0] else code


def _cases(folder: str, line: str, file: str, *faults: Iterable[str]) -> Iterator[Case]:
    for fault in itertools.chain(*faults):
        yield Case(folder, line, file, fault)


COLUMNS = ("env", "seed", "deal", "agent_0", "faction_2", "order_1", "setup", "setup_boosters",
           "actions", "vp", "place", "win", "vp_BOOSTER")  # fmt: skip
PARQUET = (
    *damage.ANY, "stream", "no rows", "half the rows", "more colour",
    *(f"without {name}" for name in COLUMNS), "vp is text", "vp is number", "vp is null",
    "setup is number", "setup is text", "env is text", "faction_0 is number", "win is text",
)  # fmt: skip
PART = ("env", "version", "players", "agents", "likeliest", "rotations", "batch", "seed", "first",
        "games")  # fmt: skip
ABOUT = (
    *damage.of_json(
        "format", "schema", "parts", "parts.0", *(f"parts.0.{key}" for key in PART),
        "parts.0.agents.1", "parts.0.agents.1.name", "files", "vp_sources",
    ),
    "without files.games.parquet.rows", "files.games.parquet is 3",
    "files.games.parquet.sha256 is 3", 'files.games.parquet.rows is "many"',
    'parts.0.env is "base"', 'parts.0.env is "chess"', 'parts.0.env is ""', "parts.0.players is 3",
    "parts.0.players is 9", "parts.0.games is 5", "parts.0.rotations is 0",
    'vp_sources is ["COLOUR"]', 'slots is "many"',
)  # fmt: skip
VERIFY = "export --out data --verify 4 --replay-batch 4"
STUDY = "study data --games-only --out page"
STUDIES = (
    STUDY, "study data --figures figures.json", VERIFY, "export --out data --decisions --no-policy",
    "export --out all --merge data",
)  # fmt: skip
DECISIONS = (*damage.ANY, "stream", "without text", "without seat", "seat is text", "no rows",
             "node is number")  # fmt: skip
WHOLE = (
    *damage.of_json("format", "games", "deals", "about", "about.parts", "figures"),
    "figures.agents is 3", 'figures.agents is ["odd"]', "about.parts is []",
    'figures.agents is [["odd", "x", 0, 0, 0, false, 1]]',
)  # fmt: skip

NPZ = (*damage.ANY, "stream")
LABELS = damage.of_json("env", "env_version", "seed", "games")
CHUNK = (*NPZ[:-2], "stream", "without reward", "without done", "without action", "reward is text",
         "done is flat", "values is object", "action is short")  # fmt: skip
CLONE = "clone --labels labels --config quick.yaml --out c.npz"
AGENT = (
    *damage.of_json("format", "env", "env_version", "network", "name", "sha256"),
    'env is "chess"', 'env is ""', 'name is "other"', 'name is "../e"', 'players is "four"',
    "players is 9", "network.layers is -1", "network.colour is 3",
    'temperature is "hot"', "temperature is 0", "training is 3",
)  # fmt: skip
WARM = "train --config quick.yaml run.warm_start="
ARENA = "arena --games 4 --agents random,random,random,"
RUN = "runs/s-a-epochs1-0"
SWEEP = (
    *damage.ANY[1:], "config is 3", 'config is "gone.yaml"', "seeds is 3", "seeds is []",
    'seeds is ["x"]', "seeds is [[1]]", "seeds is [null]", "variants is 3", "variants.a is 3",
    "variants is []", "grid is 3", 'grid is [1]', "grid.lr is 3", "grid.lr is {}",
    "set is 3", "set is [1]", 'set.ppo.lr is "fast"', "name is []", "name is {}", 'name is ""',
    "colour is 3", 'grid.lr is [[1], {"a": 2}]',
)  # fmt: skip
EVALUATION = damage.of_json(
    "opponent", "vp", "vp_difference", "vp_difference.mean", "vp.policy", "win_share"
)
SETUP = ("sectors", "factions", "boosters", "turn_order")
RECORD = (
    *(x for x in damage.of_json("format", "ruleset", "version", "setup", "actions", "final_vp")
      if x != "final_vp is []"),  # a game that is not over
    *(f"without setup.{key}" for key in SETUP), *(f"setup.{key} is 3" for key in SETUP),
    "setup.factions is []", 'setup.factions is ["Martians"]', "actions.3 is 3",
    'ruleset is "chess"', "actions is []",
)  # fmt: skip

# Commands that read whole files to their end without compiling: (folder, line).
GOOD = [
    ("dataset", STUDY), ("dataset", "study data --figures figures.json"),
    ("dataset", "study data --games-only --beside before.json --out page"),
    ("dataset", STUDIES[-1]),
    ("runs", f"compare {RUN} --out c.html"),
    ("runs", "sweep sweep.yaml"), ("plan", "plan tiny.yaml --measured measured.json"),
]  # fmt: skip

_CASES: list[Case] = [
    *(case for line in STUDIES for case in _cases("dataset", line, "data/games.parquet", PARQUET)),
    *(case for line in STUDIES for case in _cases("dataset", line, "data/dataset.json", ABOUT)),
    *_cases("dataset", "study decided --out page", "decided/decisions.parquet", DECISIONS),
    *_cases("dataset", "study data --games-only --beside before.json --out page", "before.json",
            (fault for fault in WHOLE if fault != "gone")),
    *_cases("labels", CLONE, "labels/about.json", LABELS),
    *_cases("labels", "labels --out labels --games 8 --config quick.yaml", "labels/about.json",
            LABELS),
    *_cases("labels", "labels --out labels --games 8 --config quick.yaml", "labels/states.npz",
            NPZ[:-2], ("stream", "without chunks", "without 0000")),
    *_cases("labels", CLONE, "labels/0001.npz", CHUNK),
    *_cases("labels", CLONE + " --start given.npz", "given.npz", NPZ),
    *_cases("labels", "labels --out n --games 8 --config quick.yaml --student given.npz",
            "given.npz", NPZ),
    *_cases("zoo", ARENA + "zoo/quick", "zoo/quick.json", AGENT),
    *_cases("zoo", ARENA + "zoo/quick", "zoo/quick.npz", NPZ),
    *_cases("zoo", "evaluate zoo/quick --games 4", "zoo/quick.json", AGENT),
    *_cases("zoo", WARM + "zoo/quick", "zoo/quick.json", AGENT[:20]),
    *_cases("zoo", WARM + "given.npz", "given.npz", NPZ),
    *_cases("zoo", "ship x --params given.npz --config quick.yaml", "given.npz", NPZ),
    *_cases("zoo", "ship x --params zoo/quick --config quick.yaml --results zoo/quick.json",
            "zoo/quick.json", damage.ANY),
    *_cases("runs", f"compare {RUN} --out c.html", f"{RUN}/config.yaml", damage.ANY[1:]),
    *_cases("runs", f"compare {RUN} --out c.html", f"{RUN}/metrics.jsonl", damage.ANY[1:-1],
            ('line 0 {"update": 1, "games/vp": "x"}', 'line 0 {"update": 1, "time/decisions": []}',
            'line 0 {"update": "x"}', 'line 0 [1]', 'line 0 {"update": 1')),
    *_cases("runs", f"compare {RUN} --out c.html", f"{RUN}/evaluation.json",
            (fault for fault in EVALUATION if fault != "gone")),
    *_cases("runs", "sweep sweep.yaml", "sweep.yaml", SWEEP),
    *_cases("runs", "sweep sweep.yaml", f"{RUN}/config.yaml", damage.ANY),
    *_cases("stopped", "sweep sweep.yaml", f"{RUN}/metrics.jsonl", damage.ANY[2:-1],
            ('line 0 {"update": 1, "time/decisions_per_second": "x"}',)),
    *_cases("plan", "plan tiny.yaml --measured measured.json", "measured.json",
            damage.of_json("config", "parts_s", "machine", "parts_s.learning", "machine.devices"),
           ("machine.devices is 0", "config.ppo.num_steps is 0", "config.ppo is []",
            'config.ppo.num_steps is "many"', "without run", "run is []")),
    *(case for line in ("replay record.json",
                        "explain record.json --agent zoo/quick+search:4 --at 3")
      for case in _cases("record", line, "record.json", RECORD)),
    *_cases("record", "play --record record.json --port 0", "record.json", RECORD[:24]),
]  # fmt: skip

CASES = list(dict.fromkeys(_CASES))
