"""Wrong command lines: what is typed, and what the one line of the error has to name.

A case is (command, arguments, what the message holds). All are refused with exit code 2.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from typing import NamedTuple

import scipy.stats  # noqa: F401  imported once, before the fork
import tensorboardX  # noqa: F401

import training.arena as arena
import training.evaluate as evaluate
import training.train as train
from gaia_jax import replay
from gaia_jax.xla.compilation_cache import NO_CACHE, disable_compilation_cache
from tests.training import toy_env
from training.system import cli


class Case(NamedTuple):
    """One wrong command line."""

    command: str  # train, resume, evaluate, arena, replay; with "full" before it on a full disk
    args: tuple[str, ...]
    says: str  # a part of the message
    env: tuple[tuple[str, str], ...] = ()


def command(name: str, args: list[str]) -> int:
    """Run a command line as `python -m` does. The trainer and `evaluate` play the toy game."""
    if name.startswith("full "):  # a disk that takes nothing more
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))  # enough for the message
        os.environ[NO_CACHE] = "1"  # the limit would cut off what is written there
        disable_compilation_cache()
        name = name.removeprefix("full ")
    sys.path.insert(0, "")
    if name == "replay":
        return cli.run(lambda: replay.main(args))
    if name == "arena":
        return cli.run(lambda: arena.main(args))
    main = evaluate.main if name == "evaluate" else train.main
    return cli.run(lambda: main(args, toy_env))


NUL, LONG, WIDE = "a\0b", "x" * 300, "x" * 5000
DIGITS, BRACKETS = "9" * 400, "[" * 3000
FOUR = "random,random,random,random"
THREE = "random,random,random,"


def _overrides() -> Iterator[tuple[str, str]]:
    """(`key=value`, what the message holds)."""
    numbers = [
        "seed", "network.layers", "network.width", "network.cell_width", "network.latents",
        "network.heads", "ppo.num_envs", "ppo.num_steps", "ppo.epochs", "ppo.minibatches",
        "run.updates", "run.updates_per_chunk",
        "run.checkpoint_chunks", "run.keep_checkpoints", "run.cpu_devices", "eval.games",
        "eval.chunks", "eval.chunk_games", "eval.seed",
    ]  # fmt: skip
    fractions = [
        "ppo.lr", "ppo.lr_end", "ppo.gae_lambda", "ppo.clip", "ppo.value_coef",
        "ppo.entropy_coef", "ppo.max_grad_norm", "ppo.reward_scale", "run.max_minutes",
    ]  # fmt: skip
    for place, key in enumerate(numbers):
        for value in ("1e30", "-1", "1.5", DIGITS):
            yield f"{key}={value}", key
        odd = (".inf", ".nan", "many", "[1]", "{a: 1}", "2020-01-01", "true", "0x" + "f" * 5000)
        yield f"{key}={odd[place % len(odd)]}", key
    for place, key in enumerate(fractions):
        for value in (".inf", ".nan", "-1"):
            yield f"{key}={value}", key
        odd = ("1e400", "fast", "[]", "2020-13-45", "false", DIGITS, "null", "!!float x")
        yield f"{key}={odd[place % len(odd)]}", key
    for key in ("ppo.normalize_advantage", "run.tensorboard", "run.wandb", "network.neighbors"):
        yield f"{key}=1", key
        yield f"{key}=maybe", key


_TRAIN: list[tuple[tuple[str, ...], str]] = [
    ((), "give --config FILE"),
    (("ppo.lr=1",), "give --config FILE"),
    (("--config",), "expected one argument"),
    (("--config", "tiny.yaml", "--colour"), "--colour"),
    (("--config", "tiny.yaml", f"--{WIDE}"), "--xxx"),
    (("--confi", "tiny.yaml"), "--confi"),
    (("--config", "gone.yaml"), "gone.yaml: No such file"),
    (("--config", ""), "cannot read the configuration"),
    (("--config", "empty"), "it is no file"),
    (("--config", "pipe"), "it is no file"),
    (("--config", "/dev/zero"), "it is no file"),
    (("--config", "dangling"), "No such file"),
    (("--config", "loop"), "symbolic links"),
    (("--config", NUL), "null"),
    (("--config", WIDE), "name too long"),
    (("--config", "notes.txt/x"), "Not a directory"),
    (("--config", "binary"), "not a text file"),
    (("--config", "latin.yaml"), "not a text file"),
    (("--config", "broken.yaml"), "not valid YAML"),
    (("--config", "tab.yaml"), "not valid YAML"),
    (("--config", "twice.yaml"), "'seed' appears twice"),
    (("--config", "aliases.yaml"), "aliases"),
    (("--config", "deep.yaml"), "nested too deeply"),
    (("--config", "wide.yaml"), "longer than"),
    (("--config", "object.yaml"), "not valid YAML"),
    (("--config", "documents.yaml"), "not valid YAML"),
    (("--config", "list.yaml"), "must hold a mapping"),
    (("--config", "number.yaml"), "must hold a mapping"),
    (("--config", "notes.txt"), "must hold a mapping"),
    (("--config", "number_key.yaml"), "unknown key '1'"),
    (("--config", "list_key.yaml"), "not valid YAML"),
    (("--config", "group.yaml"), "ppo must be a group of keys"),
    (("--config", "date.yaml"), "seed must be a whole number"),
    (("--config", "nul.yaml"), "plain folder name"),
    (("--config", "control.yaml"), "plain folder name"),
    (("--config", "surrogate.yaml"), "plain folder name"),
    (("--config", "unknown.yaml"), "unknown key 'pppo'"),
    (("--config", "binary_name.yaml"), "name must be a text"),
    (("--config", "set.yaml"), "name must be a text"),
    (("--config", "other.json"), "unknown key 'mine'"),
]
_TRAIN += [
    (("--config", "tiny.yaml", text), says)
    for text, says in [
        *_overrides(),
        ("ppo.lr", "expected key=value"),
        ("=1", "expected key=value"),
        (WIDE, "expected key=value"),
        ("ppo.lrr=1", "unknown key 'ppo.lrr'"),
        ("lr=1", "unknown key 'lr'"),
        ("ppo.=1", "unknown key 'ppo.'"),
        (".lr=1", "unknown key"),
        ("ppo.lr.x=1", "unknown key 'ppo.lr.x'"),
        (f"{WIDE}=1", "unknown key"),
        (f"ppo.{'a.' * 2000}b=1", "unknown key"),
        ("ppo=3", "ppo must be a group of keys"),
        (f"ppo={BRACKETS}", "cannot read the value"),
        (f"ppo.lr={BRACKETS}", "cannot read the value"),
        ("ppo.lr=[", "cannot read the value"),
        ("ppo.lr=*a", "cannot read the value"),
        ("seed=4294967296", "seed must be at most 4294967295"),
        ("seed=1e10", "seed must be at most 4294967295"),
        ("eval.seed=4294967296", "eval.seed must be at most 4294967295"),
        ("eval.games=1e15", "eval.games must be at most"),
        ("network.layers=1e9", "network.layers must be at most"),
        ("name=a/b", "plain folder name"),
        ("name=..", "plain folder name"),
        ("name=", "name must be a text"),
        ("name=.hidden", "plain folder name"),
        ("name=a@b", "plain folder name"),
        ("name=a,b", "plain folder name"),
        ("name=a:b", "plain folder name"),
        (f"name={LONG}", "plain folder name"),
        ("name=[a]", "name must be a text"),
        ("env.id=chess", "known ones are toy, toy_two"),
        ("env.id=", "env.id must be a text"),
        (f"env.id={WIDE}", "unknown environment"),
        ("env.reward=gold", "env.reward must be one of"),
        (f"env.reward={WIDE}", "env.reward must be one of"),
        ("network.mixing=mean", "network.mixing must be one of"),
        ("network.dtype=float64", "network.dtype must be one of"),
        ("network.mixing=attention", "must be equal"),
        ("ppo.minibatches=7", "must divide"),
        ("run.updates=3", "must be a multiple"),
        ("run.wandb=true", "run.wandb"),
        ("run.warm_start=zoo/nobody", "unknown agent 'zoo/nobody'"),
        ("run.warm_start=gone.npz", "cannot read the parameters gone.npz"),
        ("run.warm_start=notes.txt", "cannot read the parameters notes.txt"),
        ("run.warm_start=empty", "cannot read the parameters empty"),
        ("run.warm_start=[1]", "run.warm_start must be a text"),
    ]
    if says
]
_TRAIN += [
    (("--config", "tiny.yaml", "eval.games=4", f"eval.opponents={name}"), says)
    for name, says in [
        ("nobody", "unknown agent 'nobody'"),
        ("random,nobody", "unknown agent 'nobody'"),
        ("'random,'", "unknown agent ''"),
        ("','", "unknown agent ''"),
        ("runs/gone", "unknown agent 'runs/gone'"),
        ("runs/tiny@3", "no checkpoint after 3 updates; there: 2, 4"),
        ("runs/tiny@x", "after @ comes the number of an update"),
        ("empty", "is no run folder"),
        ("agent_gone:act", "cannot import 'agent_gone'"),
        ("agent_leaves:act", "SystemExit"),
        ("agent_fractions:act", "must give one integer a game"),
        (WIDE, "unknown agent"),
        ("a/b\\nc", "unknown agent"),
    ]
]
_TRAIN += [
    (("--config", "tiny.yaml", "eval.chunks=1", "eval.opponents=nobody"), "unknown agent 'nobody'"),
    (("--config", "tiny.yaml", "ppo.num_envs=9", "run.cpu_devices=2"), "multiple of the 2"),
]  # fmt: skip

_RESUME: list[tuple[tuple[str, ...], str]] = [
    (("runs/gone",), "runs/gone is no run folder"),
    (("",), "is no run folder"),
    ((NUL,), "is no run folder"),
    ((WIDE,), "is no run folder"),
    (("tiny.yaml",), "is no run folder"),
    (("empty",), "is no run folder"),
    (("runs",), "is no run folder"),
    (("loop",), "is no run folder"),
    (("runs/file_checkpoints",), "is no run folder"),
    (("runs/no_checkpoints",), "holds no checkpoint"),
    (("runs/hollow",), "is unreadable or no checkpoint of ours"),
    (("runs/all_damaged",), "is damaged"),
    (("runs/cut_4@4",), "is damaged"),
    (("runs/cut_2@2",), "is damaged"),
    (("runs/other_format",), "has the format 'gaia_jax checkpoint 9'"),
    (("runs/deep",), "is unreadable"),
    (("runs/no_json",), "is unreadable"),
    (("runs/tiny@3",), "no checkpoint after 3 updates; there: 2, 4"),
    (("runs/tiny@0",), "there: 2, 4"),
    (("runs/tiny@",), "comes the number of an update"),
    (("runs/tiny@-2",), "comes the number of an update"),
    (("runs/tiny@x",), "comes the number of an update"),
    (("runs/tiny@²",), "comes the number of an update"),
    (("runs/tiny@start",), "comes the number of an update"),
    ((f"runs/tiny@{DIGITS}",), "comes the number of an update"),
    (("runs/tiny@4@4",), "is no run folder"),
    (("runs/tiny", "ppo.clip=0.3"), "cannot change ppo.clip: 0.2 -> 0.3"),
    (("runs/tiny", "seed=1"), "cannot change seed"),
    (("runs/tiny", "env.id=toy_two"), "cannot change env.id"),
    (("runs/tiny", "network.width=32"), "cannot change network.width"),
    (("runs/tiny", "network.width=32", "ppo.lr=1e-4", "seed=4"), "cannot change seed"),
    (("runs/tiny", "ppo.foo=1"), "unknown key 'ppo.foo'"),
    (("runs/tiny", "run.updates=7"), "must be a multiple"),
    (("runs/tiny", "--config", "gone.yaml"), "gone.yaml"),
    (("runs/tiny", "--config", "tiny.yaml", "seed=3"), "cannot change seed"),
    (("runs/tiny", "run.wandb=true"), "run.wandb"),
    (("runs/tiny", "eval.games=4", "eval.opponents=nobody"), "unknown agent"),
    (("runs/junk_records",), "is no record of a run"),
    (("runs/deep_records",), "is no record of a run"),
    (("runs/list_records",), "is no record of a run"),
    (("runs/text_update",), "is no record of a run"),
    (("runs/folder_records",), "cannot read"),
]

_EVALUATE: list[tuple[tuple[str, ...], str]] = [
    ((), "required: RUN"),
    (("runs/gone",), "runs/gone is no run folder"),
    (("",), "is no run folder"),
    ((NUL,), "is no run folder"),
    ((WIDE,), "is no run folder"),
    (("empty",), "is no run folder"),
    (("runs/no_checkpoints",), "holds no checkpoint"),
    (("runs/hollow",), "is unreadable or no checkpoint of ours"),
    (("runs/all_damaged",), "is damaged"),
    (("runs/other_format",), "has the format"),
    (("runs/cut_4@4",), "is damaged"),
    (("runs/tiny@3",), "no checkpoint after 3 updates; there: 2, 4"),
    (("runs/tiny@x",), "comes the number of an update"),
    (("runs/gone@start",), "runs/gone is no run folder"),
    (("runs/gone+search:8",), "runs/gone is no run folder"),
    (("runs/tiny", "--update", "4"), "unrecognized arguments: --update 4"),
    (("runs/tiny", "runs/tiny"), "unrecognized arguments"),
    (("runs/tiny", "--games", "0"), "--games: wants a whole number"),
    (("runs/tiny", "--games", "-4"), "--games"),
    (("runs/tiny", "--games", "1e15"), "--games"),
    (("runs/tiny", "--games", "1000000000000000"), "--games"),
    (("runs/tiny", "--games", DIGITS), "--games"),
    (("runs/tiny", "--games", "9" * 5000), "--games"),
    (("runs/tiny", "--games", ""), "--games"),
    (("runs/tiny", "--games"), "--games"),
    (("runs/tiny", "--seed", "-1"), "--seed"),
    (("runs/tiny", "--seed", "4294967296"), "--seed"),
    (("runs/tiny", "--seed", "1e30"), "--seed"),
    (("runs/tiny", "--seed", ".inf"), "--seed"),
    (("runs/tiny", "--opponent", "nobody"), "unknown agent 'nobody'"),
    (("runs/tiny", "--opponent", ""), "unknown agent ''"),
    (("runs/tiny", "--opponent", WIDE), "unknown agent"),
    (("runs/tiny", "--opponent", "random,random"), "unknown agent"),
    (("runs/tiny", "--opponent", "runs/tiny@9"), "there: 2, 4"),
    (("runs/tiny", "--opponent", "agent_no_import:act"), "nothing_of_this_name"),
    (("runs/tiny", "--opponent", "agent_raises:act"), "no idea"),
    (("runs/tiny", "--json", "gone/x.json"), "--json: the folder gone does not exist"),
    (("runs/tiny", "--json", "empty"), "--json wants a file, empty is a folder"),
    (("runs/tiny", "--json", "/dev/full"), "--json wants a file"),
    (("runs/tiny", "--json", "sealed/x.json"), "--json: cannot write sealed/x.json"),
    (("runs/tiny", "--json", LONG), "name too long"),
    (("runs/tiny", "--json", NUL), "null"),
    (("runs/tiny", "--json", ""), "--json"),
    (("runs/tiny", "--json", "notes.txt"), "was not written by"),
    (("runs/tiny", "--json", "tiny.yaml"), "was not written by"),
    (("runs/tiny", "--json", "other.json"), "was not written by"),
    (("runs/tiny", "--json", "binary"), "was not written by"),
    (("runs/tiny", "--colour"), "--colour"),
    (("zoo/nobody",), "unknown agent 'zoo/nobody'"),
    (("zoo/",), "unknown agent 'zoo/'"),
]

_ARENA: list[tuple[tuple[str, ...], str]] = [
    ((), "required: --agents"),
    (("--agents",), "expected one argument"),
    (("--agents", ""), "needs 4 names, got 1"),
    (("--agents", "random,greedy"), "needs 4 names, got 2"),
    (("--agents", ",".join(["random"] * 500)), "needs 4 names, got 500"),
    (("--agents", ",,,"), "unknown agent ''"),
    (("--agents", THREE + "nobody"), "unknown agent 'nobody'"),
    (("--agents", THREE + "Random"), "unknown agent 'Random'"),
    (("--agents", THREE + WIDE), "unknown agent"),
    (("--agents", THREE + NUL), "names must be printable"),
    (("--agents", THREE + "a\nb"), "names must be printable"),
    (("--agents", THREE + "\x1b[2J"), "names must be printable"),
    (("--agents", THREE + "@4"), "unknown agent '@4'"),
    (("--agents", THREE + "@"), "unknown agent '@'"),
    (("--agents", THREE + "runs/gone@4"), "unknown agent 'runs/gone@4'"),
    (("--agents", THREE + "empty"), "empty is no run folder"),
    (("--agents", THREE + "notes.txt"), "unknown agent 'notes.txt'"),
    (("--agents", THREE + "runs/tiny"), "was trained on toy 1.0, this is lost_fleet"),
    (("--agents", THREE + "runs/tiny@2"), "was trained on toy 1.0, this is lost_fleet"),
    (("--agents", THREE + "runs/tiny@3"), "no checkpoint after 3 updates; there: 2, 4"),
    (("--agents", THREE + "runs/tiny@start"), "was trained on toy 1.0, this is lost_fleet"),
    (("--agents", THREE + "runs/tiny@begin"), "comes the number of an update"),
    (("--agents", THREE + "runs/hollow"), "no checkpoint of ours"),
    (("--agents", THREE + "runs/all_damaged"), "is damaged"),
    (("--agents", THREE + "zoo/nobody"), "unknown agent 'zoo/nobody'"),
    (("--agents", THREE + "zoo/"), "unknown agent 'zoo/'"),
    (("--agents", THREE + "nobody+search:4"), "unknown agent 'nobody'"),
    (("--agents", THREE + "random+search:4"), "random+search:4"),
    (("--agents", THREE + "+search:4"), "must follow the name of an agent"),
    (("--agents", THREE + "runs/gone+search:0"), "a number above 0"),
    (("--agents", THREE + "runs/gone+search:x"), "a number above 0"),
    (("--agents", THREE + ":"), "cannot import ''"),
    (("--agents", THREE + ":act"), "cannot import ''"),
    (("--agents", THREE + "agent_good:"), "has no function ''"),
    (("--agents", THREE + "agent_good:gone"), "has no function 'gone'"),
    (("--agents", THREE + "agent_good:act:act"), "has no function 'act:act'"),
    (("--agents", THREE + "agent_good.py:act"), "cannot import 'agent_good.py'"),
    (("--agents", THREE + "..agent_good:act"), "cannot import '..agent_good'"),
    (("--agents", THREE + "agent_no_import:act"), "nothing_of_this_name"),
    (("--agents", THREE + "agent_no_python:act"), "SyntaxError"),
    (("--agents", THREE + "agent_leaves:act"), "SystemExit: enough"),
    (("--agents", THREE + "agent_leaves_with_0:act"), "SystemExit"),
    (("--agents", THREE + "agent_long_words:act"), "ValueError: word word"),
    (("--agents", THREE + "agent_many_lines:act"), "one two three"),
    (("--agents", THREE + "agent_act_leaves:act"), "SystemExit: 3"),
    (("--agents", THREE + "agent_two_arguments:act"), "it takes (state, mask)"),
    (("--agents", THREE + "agent_other_names:act"), "it takes (p, s, m, k)"),
    (("--agents", THREE + "agent_fractions:act"), "one integer a game, got float32 (2,)"),
    (("--agents", THREE + "agent_booleans:act"), "one integer a game, got bool (2,)"),
    (("--agents", THREE + "agent_one_number:act"), "one integer a game, got int32 ()"),
    (("--agents", THREE + "agent_two_numbers:act"), "(2,) for 3 games"),
    (("--agents", THREE + "agent_a_column:act"), "one integer a game, got int32 (2, 1)"),
    (("--agents", THREE + "agent_a_list:act"), "one integer a game, got list"),
    (("--agents", THREE + "agent_nothing:act"), "one integer a game, got NoneType"),
    (("--agents", THREE + "agent_raises:act"), "RuntimeError: no idea"),
    (("--agents", THREE + "agent_concrete:act"), "fails on 2 games"),
    (("--agents", THREE + "agent_no_field:act"), "AttributeError"),
    (("--agents", THREE + "agent_object_params:act"), "params are no pytree"),
    (("--agents", THREE + "agent_text_params:act"), "params are no pytree"),
    (("--agents", THREE + "agent_cyclic_params:act"), "params are no pytree"),
    (("--agents", THREE + "agent_an_array:act"), "has no function 'act'"),
    (("--agents", THREE + "agent_a_class:act"), "one integer a game, got act"),
    (("--agents", FOUR, "--env", "chess"), "chess"),
    (("--agents", FOUR, "--env", ""), "''"),
    (("--agents", FOUR, "--env", WIDE), "xxx"),
    (("--agents", FOUR, "--games", "0"), "--games"),
    (("--agents", FOUR, "--games", "1e15"), "--games"),
    (("--agents", FOUR, "--games", "99999999999"), "--games"),
    (("--agents", FOUR, "--games", DIGITS), "--games"),
    (("--agents", FOUR, "--seed", "-1"), "--seed"),
    (("--agents", FOUR, "--seed", "4294967296"), "--seed"),
    (("--agents", FOUR, "--seed", "nan"), "--seed"),
    (("--agents", FOUR, "--rotations", "2"), "--rotations"),
    (("--agents", FOUR, "--rotations", "x"), "--rotations"),
    (("--agents", FOUR, "--resume"), "--resume needs the --csv"),
    (("--agents", FOUR, "random"), "unrecognized arguments"),
    (("--agents", FOUR, "--json", "x.csv", "--csv", "x.csv"), "want two paths"),
    (("--agents", FOUR, "--json", "gone/x.json"), "the folder gone does not exist"),
    (("--agents", FOUR, "--json", "full"), "full is a folder"),
    (("--agents", FOUR, "--json", "pipe"), "--json wants a file"),
    (("--agents", FOUR, "--json", "good.csv"), "was not written by"),
    (("--agents", FOUR, "--json", "agent_good.py"), "was not written by"),
    (("--agents", FOUR, "--json", "loop"), "is a link to nothing"),
    (("--agents", FOUR, "--json", "dangling"), "is a link to nothing"),
    (("--agents", FOUR, "--csv", "gone/x.csv"), "the folder gone does not exist"),
    (("--agents", FOUR, "--csv", "empty"), "empty is a folder"),
    (("--agents", FOUR, "--csv", "/dev/null"), "--csv wants a file"),
    (("--agents", FOUR, "--csv", "sealed/x.csv"), "cannot write sealed/x.csv"),
    (("--agents", FOUR, "--csv", "notes.txt/x.csv"), "does not exist"),
    (("--agents", FOUR, "--csv", LONG), "name too long"),
    (("--agents", FOUR, "--csv", "notes.txt"), "exists"),
    (("--agents", FOUR, "--csv", "good.csv"), "--resume continues it"),
]
_ARENA += [
    (("--agents", FOUR, "--csv", name, "--resume", *more), says)
    for name, more, says in [
        ("notes.txt", (), "does not hold games of agents"),
        ("foreign.csv", (), "does not hold games of agents"),
        ("shopping.csv", (), "does not hold games of agents"),
        ("binary", (), "does not hold games of agents"),
        ("zeros.csv", (), "does not hold games of agents"),
        ("tiny.yaml", (), "does not hold games of agents"),
        ("agent_good.py", (), "does not hold games of agents"),
        ("head_and_notes.csv", (), "line 2 has 1 columns"),
        ("notes_behind.csv", (), "line 50 has 1 columns"),
        ("notes_at_the_end.csv", (), "line 50 has 1 columns"),
        ("short_row.csv", (), "line 10"),
        ("word.csv", (), "'many'"),
        ("swapped_rows.csv", (), "row 3 has seat 3, not 2"),
        ("missing_row.csv", (), "cannot reshape"),
        ("faction.csv", (), "Martians"),
        ("quote.csv", (), "does not hold games of agents"),
        ("infinite.csv", (), "vp must be below"),
        ("latin.csv", (), "latin.csv"),
        ("other_version.csv", (), "has version '0.0'"),
        ("good.csv", ("--seed", "4"), "has seed 0, not 4"),
        ("good.csv", ("--env", "base"), "not 'base'"),
        ("good.csv", ("--likeliest",), "has agents"),
        ("good.csv", ("--rotations", "1"), "holds another part of the games"),
        ("good.csv", ("--games", "8"), "holds 3 set-ups, more than 2"),
        ("empty", (), "empty is a folder"),
        ("dangling", (), "is a link to nothing"),
        ("loop", (), "is a link to nothing"),
    ]
]

_REPLAY: list[tuple[tuple[str, ...], str]] = [
    ((), "required: FILE"),
    (("gone.json",), "No such file"),
    (("",), "cannot read"),
    (("empty",), "cannot read empty"),
    (("pipe",), "cannot read pipe"),
    (("/dev/zero",), "cannot read /dev/zero"),
    ((NUL,), "null"),
    ((WIDE,), "name too long"),
    (("loop",), "symbolic links"),
    (("binary",), "not a text file"),
    (("notes.txt",), "is not JSON"),
    (("tiny.yaml",), "is not JSON"),
    (("other.json",), "is no game record"),
    (("gone.json", "--csv", "notes.txt"), "notes.txt exists and was not written by"),
    (("gone.json", "--html", "notes.txt"), "notes.txt exists and was not written by"),
    (("gone.json", "--html", "good.csv"), "good.csv exists and was not written by"),
    (("gone.json", "--csv", "empty"), "empty is a folder"),
    (("gone.json", "--csv", "x", "--html", "./x"), "want two paths"),
    (("record_no_format.json", "--colour"), "--colour"),
    (("record_empty.json",), "is not JSON"),
    (("record_number.json",), "is no game record"),
    (("record_list.json",), "is no game record"),
    (("record_cut.json",), "is not JSON"),
    (("record_no_json.json",), "is not JSON"),
    (("record_twice.json",), "twice"),
    (("record_deep.json",), "is not JSON"),
    (("record_deep_object.json",), "is not JSON"),
    (("record_digits.json",), "is not JSON"),
    (("record_binary.json",), "not a text file"),
    (("record_utf16.json",), "not a text file"),
    (("record_nan.json",), "final_vp must be a list of whole numbers"),
    (("record_infinite.json",), "final_vp must be a list of whole numbers"),
    (("record_format.json",), "is no game record"),
    (("record_no_format.json",), "is no game record"),
    (("record_no_ruleset.json",), "key 'ruleset' is missing"),
    (("record_no_version.json",), "key 'version' is missing"),
    (("record_no_setup.json",), "key 'setup' is missing"),
    (("record_no_actions.json",), "key 'actions' is missing"),
    (("record_no_final_vp.json",), "key 'final_vp' is missing"),
    (("record_more.json",), "unknown key 'colour'"),
    (("record_ruleset.json",), "unknown ruleset 'go'"),
    (("record_ruleset_list.json",), "ruleset must be a text"),
    (("record_long_ruleset.json",), "unknown ruleset"),
    (("record_version.json",), "played in version 0.0"),
    (("record_number_version.json",), "version must be a text, not 1"),
    (("record_long_version.json",), "played in version 999"),
    (("record_newline.json",), "played in version a b"),
    (("record_setup_list.json",), "setup must be an object"),
    (("record_setup_text.json",), "setup must be an object"),
    (("record_setup_empty.json",), "key 'sectors' is missing"),
    (("record_setup_key.json",), "unknown key 'colour'"),
    (("record_setup_long.json",), "unknown key"),
    (("record_sectors.json",), "is missing"),
    (("record_actions_text.json",), "actions must be a list of texts"),
    (("record_actions_number.json",), "actions must be a list of texts"),
    (("record_vp_none.json",), "final_vp must be a list of whole numbers"),
    (("record_vp_fraction.json",), "final_vp must be a list of whole numbers"),
    (("record_vp_true.json",), "final_vp must be a list of whole numbers"),
    (("record_vp_long.json",), "final_vp must be a list of whole numbers"),
]

_FULL: list[Case] = [
    Case("full train", ("--config", "tiny.yaml"), "cannot write into runs"),
    Case("full resume", ("--resume", "runs/tiny", "run.updates=8"), "cannot write into"),
    Case("full evaluate", ("runs/tiny", "--json", "x.json"), "--json: cannot write x.json"),
    Case("full arena", ("--agents", FOUR, "--json", "x.json"), "--json: cannot write x.json"),
    Case("full arena", ("--agents", FOUR, "--csv", "x.csv"), "--csv: cannot write x.csv"),
]

CASES: list[Case] = [
    *(Case("train", args, says) for args, says in _TRAIN),
    *(Case("resume", ("--resume", *args), says) for args, says in _RESUME),
    *(Case("evaluate", args, says) for args, says in _EVALUATE),
    *(Case("arena", args, says) for args, says in _ARENA),
    *(Case("replay", args, says) for args, says in _REPLAY),
    *_FULL,
]
