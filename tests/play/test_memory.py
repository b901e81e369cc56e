"""The memory of a server that has played, hinted, reviewed and advised."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.cli.command_line import UserError
from gaia_jax.language import in_language
from training.analysis import advice, review
from training.play import (
    advisers,
    agent_pool,
    background,
    compile_process,
    compile_task,
    compiled_rules,
    game_server,
    hints,
    player_habits,
    setup_advice,
)
from training.play.all_rules import AllRules
from training.play.compiled_rules import Rules
from training.play.game import HUMAN, Refused
from training.play.languages import translated
from training.system import cli

ROOT = Path(__file__).resolve().parents[2]
# MB, from an empty compilation cache and with a full one: 1,849 and 1,386 (docs/lab/review.md).
MOST_COLD, MOST_WARM = 2500, 1500


def peak_of_a_session(folder: Path) -> float:
    """MB."""
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache")}
    for name in ("GAIA_JAX_NO_CACHE", "XLA_FLAGS"):  # programs as users have them
        environment.pop(name, None)
    command = [sys.executable, "-m", "tests.play.memory_session", str(folder / "saves")]
    session = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600
    )
    print(session.stdout)
    assert session.returncode == 0, session.stderr
    return max(float(peak) for peak in re.findall(r"peak of (\d+) MB", session.stdout))


def test_an_agent_of_a_new_game_is_compiled_before_those_asked_for_earlier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also while the earlier ones wait for the compiler; each after the rules of its game."""
    compiled: list[str] = []
    env = SimpleNamespace(id="base", num_players=3, ruleset=SimpleNamespace(name="base for three"))

    def compile_program(program: Any, rules: Any) -> None:
        if rules.env is env:  # not of a pool of an earlier test
            compiled.append(program.name)

    monkeypatch.setattr(agent_pool, "compile_program", compile_program)
    rules_compilation = background.Compilation("rules")

    def prepare() -> None:
        rules_compilation.make(lambda: compiled.append("rules"))

    rules: Any = SimpleNamespace(env=env, prepare=prepare, has_failed=False)
    pool = agent_pool.AgentPool()
    with background.compiler:
        pool.hurry(["zoo/quick"], rules)
        time.sleep(0.2)
        pool.hurry(["zoo/trio"], rules)
    end = time.monotonic() + 60
    while len(compiled) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    assert compiled == ["rules", "zoo/trio", "zoo/quick"]


def test_the_game_of_the_form_is_compiled_before_it_is_dealt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its first move once waited for the default game. A new server compiles that one if idle."""
    games = list[tuple[str, int]]()

    def start(self: AllRules) -> None:
        *_, rules = self._steps
        games.append((rules.env.id, rules.env.num_players))

    def deal(form: Any, rules: Rules) -> Any:
        assert games == [("base", 3)], "dealing compiles for seconds"
        raise Refused("dealt")

    monkeypatch.setattr(AllRules, "_start", start)
    monkeypatch.setattr(game_server.setups, "deal", deal)
    server = game_server.GameServer(agent_pool.AgentPool(), tmp_path)
    with pytest.raises(Refused, match="dealt"):
        server.preview({"ruleset": "base", "seats": [HUMAN] * 3})
    server.rules.compile_first(server.rules.get("lost_fleet", 4))
    assert games == [("base", 3)]


@pytest.mark.slow  # compiles and plays everything twice: 20 minutes on two cores
def test_a_server_stays_small(tmp_path: Path) -> None:
    assert peak_of_a_session(tmp_path) < MOST_COLD
    assert peak_of_a_session(tmp_path) < MOST_WARM


def test_one_program_is_compiled_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes up to 1 GB, which goes back to the system before the next one."""
    events: list[str] = []
    monkeypatch.setattr(background, "return_free_memory", lambda: events.append("returned"))

    def compile() -> None:
        events.append("begun")
        time.sleep(0.05)
        events.append("done")

    compilations = [background.Compilation(str(n)) for n in range(3)]
    threads = [threading.Thread(target=x.make, args=(compile,)) for x in compilations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert events == ["begun", "done", "returned"] * 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_latest_game_is_compiled_first() -> None:
    """A player who selects one player passes through the games for four, three and two."""
    done, finished, started = list[str](), threading.Event(), threading.Event()

    class FewRules:
        def __init__(self, name: str):
            self.name = name

        def prepare(self) -> None:
            if self.name == "four":
                started.set()
                assert passed.wait(10)
            done.append(f"rules of {self.name}")
            if self.name == "three":
                raise RuntimeError("three is broken")

        def prepare_prices(self) -> None:
            done.append(f"prices of {self.name}")
            if len(done) == 8:
                finished.set()

    passed, games = threading.Event(), AllRules(on_change=lambda: None)
    four, three, two, solo = (FewRules(name) for name in ("four", "three", "two", "one"))
    games.compile(cast(Rules, four))
    assert started.wait(10)
    for rules in (three, two, solo, two, solo):
        games.compile(cast(Rules, rules))
    passed.set()
    assert finished.wait(10)
    names = ("one", "two", "three", "four")
    order = [f"{part} of {name}" for name in names for part in ("rules", "prices")]
    assert done == ["rules of four", *[step for step in order if step != "rules of four"]]


def test_rules_that_wait_for_other_programs_are_reported() -> None:
    rules = Rules("base", 1)
    [(text, seconds)] = rules.progress()
    assert "rules" in text and seconds is None
    rules._moves.make(lambda: None)
    assert rules.progress() == []


def test_a_large_server_compiles_in_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once for each task and version of the sources; a small one compiles itself."""
    commands, size = list[list[str]](), [2000.0]
    monkeypatch.setattr(compile_process, "is_server", True)
    monkeypatch.setattr(compile_process, "enabled_folder", lambda: tmp_path)
    monkeypatch.setattr(compile_process, "resident_mb", lambda: size[0])
    monkeypatch.setattr(
        compile_process.subprocess, "run", lambda command, **_: commands.append(command[3:])
    )
    task, other = ("base", "2", compile_process.PRICES), ("base", "3", compile_process.RULES)
    for _ in range(2):
        background.Compilation("prices", task).make(lambda: None)
    # Tables of earlier tests may still compile.
    assert commands.count([str(os.getpid()), *task]) == 1
    size[0] = 500.0
    background.Compilation("rules", other).make(lambda: None)
    assert [str(os.getpid()), *other] not in commands
    size[0] = 2000.0
    background.Compilation("a program of no task").make(lambda: None)
    assert [str(os.getpid())] not in commands


def test_a_large_server_releases_idle_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it makes another one; the next use makes them again."""
    size, in_use, calls = [500.0], [True], list[str]()
    monkeypatch.setattr(compile_process, "is_server", True)
    monkeypatch.setattr(compile_process, "resident_mb", lambda: size[0])
    idle = background.Compilation("idle", (), lambda: True)
    busy = background.Compilation("busy", (), lambda: not in_use[0])
    permanent = background.Compilation("permanent")
    for compilation in (idle, busy, permanent):
        compilation.make(lambda: None)
    assert idle.is_ready and busy.is_ready and permanent.is_ready, "the server is small"
    size[0] = 2000.0
    background.Compilation("new").make(lambda: calls.append("new"))
    assert not idle.is_ready and busy.is_ready and permanent.is_ready
    busy.make(lambda: calls.append("busy"))
    in_use[0] = False
    idle.make(lambda: calls.append("idle"))
    assert calls == ["new", "idle"] and idle.is_ready and not busy.is_ready


def test_agents_keep_their_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without a seat is released when no job uses it."""
    monkeypatch.setattr(agent_pool, "compile_program", lambda program, rules: None)
    monkeypatch.setattr(agent_pool.AgentPool, "_work", lambda self: None)
    pool = agent_pool.AgentPool()
    rules: Any = SimpleNamespace(env=SimpleNamespace(ruleset=SimpleNamespace(name="base")))
    parts = {part: pool.get("zoo/strong", rules, part) for part in ("seat", "policy")}
    pool.seated = lambda: {("zoo/strong", "base")}
    keys = {part: ("zoo/strong", "base", part) for part in parts}
    assert not any(pool._release(key) for key in keys.values()), "just used"
    monkeypatch.setattr(agent_pool, "IDLE_S", 0.0)
    assert not pool._release(keys["seat"]) and pool._release(keys["policy"])
    assert pool.get("zoo/strong", rules) is parts["seat"]
    assert pool.get("zoo/strong", rules, "policy") is not parts["policy"]
    pool.seated = set
    assert pool._release(keys["seat"])


def test_an_adviser_at_work_keeps_its_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = list[bool]()
    runner = SimpleNamespace(release=lambda: releases.append(True))
    monkeypatch.setattr(advisers, "make_agent", lambda *_: None)
    monkeypatch.setattr(advisers, "shared_playouts", lambda *_: runner)
    rules: Any = SimpleNamespace(env=SimpleNamespace(id="base", num_players=4))
    adviser = advisers.Adviser(rules, "zoo/strong")
    adviser._compilation.is_ready = True
    with adviser.in_use(print):  # a review, which may run next to a hint
        with adviser.busy, adviser.in_use(print):
            assert not adviser._release()
        assert not adviser._release() and not releases
    assert adviser._release() and releases


def test_all_that_play_games_out_keep_the_playouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews, habits and advice take minutes; their next request would load them again."""
    in_use, users = [False], list[str]()

    @contextmanager
    def use(report: Any) -> Iterator[None]:
        in_use[0] = True
        yield
        in_use[0] = False

    def play(user: str) -> None:
        assert in_use[0]
        users.append(user)
        raise UserError(user)

    adviser = SimpleNamespace(name="zoo/strong", agent=None, runner=None, in_use=use)
    known: Any = SimpleNamespace(get=lambda rules: adviser)
    members = SimpleNamespace(names=["Anna"])
    game: Any = SimpleNamespace(id="a", line=[0], rules=None, over=lambda at: True)
    opened: Any = SimpleNamespace(game=game, members=members)
    boards = SimpleNamespace(num_games=lambda count: count)
    advisor = SimpleNamespace(play=lambda *_, **__: play("advice"))
    for module in (hints, player_habits):
        monkeypatch.setattr(module, "recorded_game", lambda game: game)
    monkeypatch.setattr(hints, "adviser_name", lambda rules: "zoo/strong")
    monkeypatch.setattr(setup_advice, "adviser_name", lambda rules: "zoo/strong")
    monkeypatch.setattr(review, "review_game", lambda *_: play("review"))
    monkeypatch.setattr(advice, "boards_of", lambda *_: boards)
    monkeypatch.setattr(advice, "design", lambda *_: [])
    monkeypatch.setattr(advice, "Advisor", lambda *_: advisor)
    analyses = hints.GameAnalyses(known)
    analyses.start_review(game)
    habits = player_habits.PlayerHabits(known)
    habits.start("browser", "Anna", ["a"], lambda id: opened)
    rules: Any = SimpleNamespace(env=None)
    own_advice = setup_advice.SetupAdvice(known)
    advising = background.Job(lambda job: own_advice._work(job, rules, opened, {}), "advice")
    for job in (analyses.review_job(game), habits.get("browser", "Anna"), advising):
        assert job
        job.wait()
        assert job.message in ("review", "advice"), job.message
    assert sorted(users) == ["advice", "review", "review"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_rules_that_fail_say_so_and_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table showed them as being compiled for ever."""
    changed, attempts = threading.Event(), list[str]()
    rules = AllRules(on_change=lambda: None).get("base", 4)

    def fail() -> None:
        attempts.append("rules")
        if len(attempts) == 1:
            raise RuntimeError("no space left\non device")

    monkeypatch.setattr(compiled_rules.Rules, "_take_one", lambda self: fail())
    monkeypatch.setattr(compiled_rules.Rules, "prepare_prices", lambda self: changed.set())
    games = AllRules(on_change=lambda: None)
    games.compile(rules)
    assert changed.wait(10)
    assert rules.progress() == [("compiling failed: RuntimeError: no space left", None)]
    with in_language("de"):
        assert translated(rules.progress()[0][0]).startswith("Kompilieren fehlgeschlagen: Runtime")
    deadline = time.monotonic() + 10
    while not rules.ready and time.monotonic() < deadline:
        games.compile(rules)
        time.sleep(0.01)
    assert rules.ready and rules.progress() == [] and len(attempts) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_rules_that_fail_are_tried_once_for_all_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waiting agent compiled them again, for minutes."""
    attempts, compiled = list[str](), list[str]()
    games = AllRules(on_change=lambda: None)
    rules = games.get("base", 4)

    def fail(self: compiled_rules.Rules) -> None:
        attempts.append("rules")
        raise RuntimeError("no space left")

    def compile_program(program: Any, of: Any) -> None:
        if of is rules:  # not of a pool of an earlier test
            compiled.append(program.name)

    monkeypatch.setattr(compiled_rules.Rules, "_take_one", fail)
    monkeypatch.setattr(compiled_rules.Rules, "prepare_prices", lambda self: None)
    monkeypatch.setattr(agent_pool, "compile_program", compile_program)
    agents = ["random", "zoo/quick", "zoo/strong"]
    with background.compiler:
        games.compile(rules)
        time.sleep(0.2)
        agent_pool.AgentPool().hurry(agents, rules)  # waits for that attempt
        time.sleep(0.2)
    end = time.monotonic() + 60
    while len(compiled) < len(agents) and time.monotonic() < end:
        time.sleep(0.01)
    assert sorted(compiled) == agents and attempts == ["rules"]
    assert rules.progress() == [("compiling failed: RuntimeError: no space left", None)]


def test_a_failing_process_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server then compiles itself, also where it cannot note what it has compiled."""
    cache = tmp_path / "cache"
    cache.write_text("not a folder")
    monkeypatch.setattr(compile_process, "is_server", True)
    monkeypatch.setattr(compile_process, "enabled_folder", lambda: cache)
    monkeypatch.setattr(compile_process, "resident_mb", lambda: 2000.0)
    compilation = background.Compilation("rules", ("no_ruleset", "2", compile_process.RULES))
    compilation.make(lambda: None)
    assert compilation.is_ready
    line = capsys.readouterr().err
    assert line.startswith("no_ruleset 2 rules failed to compile in another process: exit code 1")
    assert "no_ruleset" in line.partition("exit code 1")[2] and line.count("\n") == 1


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_process._error_of([sys.executable, "-c", ""]) == ""
    assert "No such file" in compile_process._error_of(["no_such_command"])
    monkeypatch.setattr(compile_process, "TIMEOUT", 0.1)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert "timed out" in compile_process._error_of(command)


@pytest.mark.parametrize(
    ("task", "made"),
    [
        (("base", "2", compile_process.RULES), "rules base 2"),
        (("base", "2", compile_process.PRICES), "prices base 2"),
        (("base", "4", compile_process.PLAYOUTS, "zoo/strong"), "playouts base 4 zoo/strong"),
        (("base", "4", "policy", "zoo/quick"), "policy base 4 zoo/quick"),
    ],
)
def test_a_task_compiles_its_part(
    monkeypatch: pytest.MonkeyPatch, task: tuple[str, ...], made: str
) -> None:
    calls: list[str] = []

    def rules(name: str, players: int) -> Any:
        game = f"{name} {players}"
        return SimpleNamespace(
            game=game,
            prepare=lambda: calls.append(f"rules {game}"),
            prepare_prices=lambda: calls.append(f"prices {game}"),
        )

    def adviser(rules: Any, agent: str) -> Any:
        text = f"playouts {rules.game} {agent}"
        return SimpleNamespace(prepare=lambda report: calls.append(text))

    def compile_program(program: Any, rules: Any) -> None:
        calls.append(f"{program.part} {rules.game} {program.name}")

    for name in ("prepare", "start_jax"):
        monkeypatch.setattr(cli, name, lambda name=name: calls.append(name))
    monkeypatch.setattr(compile_task, "end_with_parent", lambda id: calls.append(f"parent {id}"))
    monkeypatch.setattr(compiled_rules, "Rules", rules)
    monkeypatch.setattr(advisers, "Adviser", adviser)
    monkeypatch.setattr(agent_pool, "compile_program", compile_program)
    compile_task.main("7", *task)
    assert calls == ["parent 7", "prepare", "start_jax", made]


PARENT = """
import os, subprocess, sys
child = f"from training.system.signals import end_with_parent; end_with_parent({os.getpid()});"
child += "import time; print(flush=True); time.sleep(100)"
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
assert process.stdout.readline()
os._exit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the server compiles elsewhere on Linux only")
def test_the_process_ends_with_the_server() -> None:
    """Its end closes the standard error that it shares with this test."""
    command = [sys.executable, "-c", PARENT]
    ended = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=60)
    assert ended.returncode == 3, ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the server compiles elsewhere on Linux only")
def test_the_process_compiles_nothing_for_a_server_that_has_ended() -> None:
    """It checks that before it imports JAX, which takes seconds."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    main = f"compile_task.main({str(ended.pid)!r}, 'base', '2', 'rules')"
    code = "import atexit, sys; from training.play import compile_task; "
    code += f"atexit.register(lambda: print('jax' in sys.modules)); {main}"
    task = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (task.returncode, task.stdout) == (1, "False\n")
    assert task.stderr == f"process {ended.pid} has ended\n"
