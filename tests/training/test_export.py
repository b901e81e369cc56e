"""Datasets on rules of three lines: rows, resuming, ranges, checks, decisions, mistakes."""

import functools
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import jax.numpy as jnp
import numpy as np
import pytest

pq = pytest.importorskip("pyarrow.parquet", reason='needs pyarrow: pip install ".[data]"')
import pyarrow as pa  # noqa: E402
import yaml  # noqa: E402

from tests import stub_env  # noqa: E402
from training import cli, export  # noqa: E402
from training.agents import base, registry  # noqa: E402
from training.data import decisions, folder, playing, replaying, shards, sharing  # noqa: E402
from training.study import __main__ as study  # noqa: E402

FACE = SimpleNamespace(make=lambda env_id, reward: stub_env.StubEnv(reward=reward, length=9))
AGENTS = f"random,random,{__name__}:most,random"
GAMES = ["--agents", AGENTS, "--seed", "3", "--batch", "16"]
REPLAY = ["--replay-batch", "16"]


def most(params, state, mask, key):
    """A legal action that pays the most."""
    return (mask * (np.arange(mask.shape[1]) % 3 + 1)).argmax(-1)


def command(capsys, *args):
    code = cli.run(lambda: export.main([str(x) for x in args], FACE))
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture(scope="module", autouse=True)
def one_source(monkeypatch_module):
    """The games of all tests come from one compiled table of agents."""
    made = {}
    source = playing.Source

    def make(env, names, batch, likeliest):
        key = (tuple(names), batch, likeliest)
        if key not in made:
            made[key] = source(env, names, batch, likeliest)
        return made[key]

    monkeypatch_module.setattr(playing, "Source", make)


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """48 games, three batches, row groups of 20."""
    out = tmp_path_factory.mktemp("export") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards.assemble, "__defaults__", (20,))
        assert cli.run(lambda: export.main([*GAMES, "--games", "48", "--out", str(out)], FACE)) == 0
    return out


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(shards.assemble, "__defaults__", (20,))


def rows_of(path, name=folder.GAMES):
    return pq.read_table(path / name).to_pylist()


def test_a_row_a_game(whole):
    rows = rows_of(whole)
    assert [(row["deal"], row["rotation"]) for row in rows] == [
        (deal, rotation) for deal in range(12) for rotation in range(4)
    ]
    for row in rows:
        setup = json.loads(row["setup"])
        assert [row[f"faction_{seat}"] for seat in range(4)] == setup["factions"]
        assert row["setup_round_tiles"] == setup["round_tiles"]
        assert row["setup_basic_tiles"] == list(setup["basic_tiles"].values())
        assert row["setup_sectors_rotation"] == [laid["rotation"] for laid in setup["sectors"]]
        assert len(row["actions"]) == row["decisions"] == 9
        assert sum(row["win"]) == pytest.approx(1) and sum(row["place"]) == 10
        sources = [row[name] for name in row if name.startswith("vp_")]
        assert np.sum(sources, axis=0).tolist() == row["vp"]
    # The one who takes the most sits one seat further each time, on the same set-up.
    name = f"{__name__}:most"
    for deal in range(0, 48, 4):
        assert len({row["setup"] for row in rows[deal : deal + 4]}) == 1
        seats = [[row[f"agent_{s}"] for s in range(4)].index(name) for row in rows[deal : deal + 4]]
        assert seats == [2, 3, 0, 1]
    by_name = {row[f"agent_{s}"]: row[f"agent_sha256_{s}"] for row in rows for s in range(4)}
    assert len(set(by_name.values())) == 2


def test_the_folder_says_what_it_is(whole):
    about = json.loads((whole / folder.ABOUT).read_text())
    assert about["format"] == "gaia_jax dataset 1" and about["schema"] == 1
    (part,) = about["parts"]
    assert part["games"] == 48 and part["rotations"] == 4 and part["seed"] == 3
    assert about["slots"]["basic_tiles"][-1] == "free_3"
    told = about["files"][folder.GAMES]
    assert told["rows"] == 48 and told["sha256"] == shards.digest(whole / folder.GAMES)
    card = (whole / folder.README).read_text()
    head = yaml.safe_load(card.split("---")[1])
    assert head["configs"] == [
        {"config_name": "games", "data_files": folder.GAMES, "default": True}
    ]
    assert head["size_categories"] == ["n<1K"] and "| 48 |" in card
    assert sorted(path.name for path in whole.iterdir()) == sorted(
        [folder.ABOUT, folder.GAMES, folder.README]
    )


@pytest.mark.parametrize("when", ["before a piece", "in a piece", "before the end", "at the end"])
def test_a_killed_export_goes_on_to_the_same_file(whole, when, tmp_path, capsys, monkeypatch):
    class Killed(BaseException):
        pass

    def kill(*args):
        raise Killed

    left, write = [2], shards.Shards.write

    def write_two(self, number, table):
        if not left[0]:
            if when == "in a piece":
                self.path(number).with_suffix(".parquet.part").write_bytes(b"PAR1 half")
            raise Killed
        left[0] -= 1
        write(self, number, table)

    out = tmp_path / "cut"
    args = [*GAMES, "--games", "48", "--out", out]
    with monkeypatch.context() as patch:
        if "piece" in when:
            patch.setattr(shards.Shards, "write", write_two)
        elif when == "before the end":
            patch.setattr(shards, "assemble", kill)
        else:
            patch.setattr(folder, "finish", kill)
        with pytest.raises(Killed):
            command(capsys, *args)
    kept = sorted((out / folder.PIECES).glob("*.parquet"))
    assert len(kept) == (2 if "piece" in when else 3)
    written = []

    def count(self, number, table):
        written.append(number)
        write(self, number, table)

    monkeypatch.setattr(shards.Shards, "write", count)
    code, said, err = command(capsys, *args)
    assert code == 0, err
    assert written == list(range(len(kept), 3))  # what was there is not played again
    for name in (folder.GAMES, folder.ABOUT, folder.README):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    code, said, _ = command(capsys, *args)
    assert code == 0 and "is whole" in said


def test_an_unfinished_export_may_end_sooner(whole, tmp_path, capsys, monkeypatch):
    """As many games as there was time for."""
    out, few = tmp_path / "long", tmp_path / "few"
    write, left = shards.Shards.write, [2]

    def stops(self, number, table):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        write(self, number, table)

    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "write", stops)
        assert command(capsys, *GAMES, "--games", "480", "--out", out)[0] == 130
        code, said, err = command(capsys, *GAMES, "--games", "32", "--out", out)
        assert code == 0 and "32 games" in said, err
    assert command(capsys, *GAMES, "--games", "32", "--out", few)[0] == 0
    for name in (folder.GAMES, folder.ABOUT):
        assert (out / name).read_bytes() == (few / name).read_bytes()


def test_a_damaged_piece_is_played_again(whole, tmp_path, capsys, monkeypatch):
    out = tmp_path / "damaged"
    with monkeypatch.context() as patch:
        patch.setattr(shards, "assemble", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        command(capsys, *GAMES, "--games", "48", "--out", out)
    piece = shards.Shards(out / folder.PIECES).path(1)
    piece.write_bytes(piece.read_bytes()[:100])
    assert command(capsys, *GAMES, "--games", "48", "--out", out)[0] == 0
    assert (out / folder.GAMES).read_bytes() == (whole / folder.GAMES).read_bytes()


def test_processes_write_the_same_file(whole, tmp_path, capsys, monkeypatch):
    """Each with `--share`; `tests/training/test_lanes.py` starts real ones."""
    out, joined = tmp_path / "team", []

    def together(work, processes, argv, told):
        for number in range(processes):
            assert export.main([*argv[3:], f"{number}/{processes}"], FACE) == 0
            joined.append(work.missing())
        return 0

    monkeypatch.setattr(sharing, "together", together)
    monkeypatch.setattr(sharing, "join_team", lambda number: None)
    code, said, err = command(capsys, *GAMES, "--games", "48", "--processes", "2", "--out", out)
    assert code == 0 and joined == [[1], []], err
    for name in (folder.GAMES, folder.ABOUT):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_ranges_of_processes_merge_to_the_same_file(whole, tmp_path, capsys):
    one, two, both = tmp_path / "one", tmp_path / "two", tmp_path / "both"
    assert command(capsys, *GAMES, "--games", "16", "--out", one)[0] == 0
    assert command(capsys, *GAMES, "--games", "32", "--first", "4", "--out", two)[0] == 0
    code, said, err = command(capsys, "--out", both, "--merge", two, one)
    assert code == 0 and "48 games" in said, err
    for name in (folder.GAMES, folder.ABOUT):
        assert (both / name).read_bytes() == (whole / name).read_bytes()
    code, _, err = command(capsys, "--out", tmp_path / "twice", "--merge", two, two)
    assert code == 2 and "another folder has" in err
    code, _, err = command(capsys, *GAMES, "--games", "16", "--first", "3", "--out", one)
    assert code == 2 and "multiple of 4" in err


def changed(whole, to, change):
    """The dataset with its rows changed."""
    shutil.copytree(whole, to)
    path = to / folder.GAMES
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def test_whole_rows_verify(whole, capsys):
    code, said, err = command(capsys, "--out", whole, "--verify", "48", *REPLAY)
    assert code == 0 and "48 of 48 games played again, 0 differences" in said, err
    assert err.startswith("compiling the replay\n") and "48/48" in err


def test_what_is_compiled_ahead_is_what_the_games_need(whole):
    """Else the line that says it would be followed by as long a silence. About 4 s."""
    replayer = replaying.Replayer(stub_env.StubEnv(reward="vp", length=9, max_steps=77), 16)
    replayer.compile()
    assert replaying.wrong_rows(replayer, rows_of(whole)[:3]) == []
    assert (replayer._start._cache_size(), replayer._advance._cache_size()) == (1, 1)


def test_a_corrupted_row_is_named(whole, tmp_path, capsys):
    def change(rows):
        rows[7]["vp"][2] += 1
        rows[11]["actions"][4] += 1
        rows[13]["actions"] = rows[13]["actions"][:-1]
        rows[20]["setup"] = rows[20]["setup"].replace("M01", "M99")
        rows[21]["setup_final_missions"] = rows[21]["setup_final_missions"][::-1]
        rows[30]["vp_START"][0] -= 1
        rows[40]["place"][0] = 4.0 if rows[40]["place"][0] != 4.0 else 1.0

    changed(whole, tmp_path / "bad", change)
    code, said, _ = command(capsys, "--out", tmp_path / "bad", "--verify", "48", *REPLAY)
    assert code == 1
    lines = said.splitlines()
    assert "sha256 differs" in lines[0]
    named = {int(line.split()[1]): line for line in lines[1:-1]}
    assert sorted(named) == [7, 11, 13, 20, 21, 30, 40]
    assert "row 7 (seed 3, deal 1, rotation 3): vp" in named[7]
    assert "action 4 is" in named[11] and "not legal" in named[11]
    assert "not over after 8 decisions" in named[13]
    assert "M99" in named[20] and "setup_final_missions" in named[21]
    assert "vp_START" in named[30] and "place" in named[40]
    assert lines[-1] == "48 of 48 games played again, 8 differences"


def test_a_flipped_byte_is_named(whole, tmp_path, capsys):
    shutil.copytree(whole, tmp_path / "flipped")
    path = tmp_path / "flipped" / folder.GAMES
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        column = [file.metadata.row_group(1).column(i).path_in_schema for i in range(len(names))]
        place = file.metadata.row_group(1).column(column.index("setup"))
    data = bytearray(path.read_bytes())
    data[place.data_page_offset + place.total_compressed_size // 2] ^= 0x10
    path.write_bytes(data)
    code, _, err = command(capsys, "--out", tmp_path / "flipped", "--verify", "48", *REPLAY)
    assert code == 2 and "rows 20 to 39 are damaged" in err


def test_a_row_a_decision(whole, tmp_path, capsys, monkeypatch):
    """Also where the work was interrupted; the policy's columns are filled for who has one."""

    def with_policy(env):
        def evaluate(params, state):
            games = len(state.current_player)
            return jnp.zeros((games, env.num_actions)), jnp.full((games, 4), 0.5)

        return base.random_agent(env)._replace(policy=base.Policy(evaluate))

    monkeypatch.setitem(registry.REGISTRY, "random", with_policy)
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        shutil.copytree(whole, out)
    args = ["--decisions", *REPLAY, "--out"]
    look = decisions.make_look
    made = functools.cache(lambda names: look({n: with_policy(FACE.make("", "vp")) for n in names}))
    monkeypatch.setattr(decisions, "make_look", lambda agents: made(tuple(agents)))
    code, said, err = command(capsys, *args, outs[0])
    assert code == 0 and "432 decisions" in said, err
    write, left = shards.Shards.write, [2]

    def stops(self, number, table):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        write(self, number, table)

    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "write", stops)
        assert command(capsys, *args, outs[1])[0] == 130
    assert command(capsys, *args, outs[1])[0] == 0
    for name in (folder.DECISIONS, folder.ABOUT):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()

    games, rows = rows_of(whole), rows_of(outs[0], folder.DECISIONS)
    for row in rows:
        game = games[row["game"]]
        assert row["action"] == game["actions"][row["number"]]
        assert row["vp_end"] == game["vp"][row["seat"]] and row["node"] == "START"
        assert row["place_end"] == game["place"][row["seat"]] and row["legal"] in (341, 342)
        has = game[f"agent_{row['seat']}"] == "random"
        assert (row["policy"] is not None) == (row["value"] is not None) == has
        if has:
            assert row["policy"] == pytest.approx(1 / row["legal"])
            assert row["value"] == pytest.approx(5.0)  # 0.5 of rewards of 0.1 a VP
    assert [row["number"] for row in rows] == list(range(9)) * 48
    assert "decisions.parquet" in (outs[0] / folder.README).read_text()

    # The name stands for another network now: nothing of its is written under the old one's.
    (outs[1] / folder.DECISIONS).unlink()
    held = json.loads((outs[1] / folder.ABOUT).read_text())
    del held["files"][folder.DECISIONS]
    (outs[1] / folder.ABOUT).write_text(json.dumps(held))
    monkeypatch.setitem(
        registry.REGISTRY, "random", lambda env: with_policy(env)._replace(params=jnp.ones(3))
    )
    code, _, err = command(capsys, *args, outs[1])
    assert code == 2 and "random is not the agent that played" in err and err.count("\n") == 1


def test_mistakes_are_one_line(whole, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    for args, message in [
        (["--agents", "random,random", "--out", tmp_path / "x"], "wants 4 names"),
        ([*GAMES, "--games", "16", "--out", whole], "holds other games: games 48, not 16"),
        (["--out", empty, "--verify", "3"], "is no dataset"),
        (["--out", tmp_path / "gone", "--verify", "3"], "is no folder"),
        (["--out", whole], "nothing to do"),
        (["--out", tmp_path / "m", "--merge", whole, "--decisions"], "--merge goes alone"),
        (["--agents", AGENTS, "--batch", "6", "--out", tmp_path / "x"], "multiple of 4"),
    ]:
        code, _, err = command(capsys, *args)
        assert code == 2 and message in err and err.count("\n") == 1, (args, err)


def test_findings_of_a_dataset(whole, tmp_path, capsys, monkeypatch):
    """The page and its pictures; what these rules lack is said to be missing."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "docs"
    out.mkdir()
    before = {path: path.read_bytes() for path in whole.iterdir()}
    code = cli.run(lambda: study.main([str(whole), "--out", str(out)], FACE))
    assert code == 0, capsys.readouterr().err
    text = (out / "findings.md").read_text()
    assert "From 48 games on 12 set-ups" in text and "What cannot be concluded" in text
    pictures = re.findall(r"\]\((findings/[a-z_0-9]+\.svg)\)", text)
    assert {"findings/factions.svg", "findings/in_play_boosters.svg"} <= set(pictures)
    for picture in pictures:
        ElementTree.parse(out / picture)
    assert "Passing one place later: too few games." in text
    # The same data, the same page.
    again = tmp_path / "again"
    again.mkdir()
    assert cli.run(lambda: study.main([str(whole), "--out", str(again)], FACE)) == 0
    assert "is there" in capsys.readouterr().out  # the decisions were derived once
    assert {path: path.read_bytes() for path in whole.iterdir()} == before
    assert (again / "findings.md").read_bytes() == (out / "findings.md").read_bytes()
    # What needs every decision, of some games alone.
    few = ["--decided", "20", "--page", "findings_few"]
    assert cli.run(lambda: study.main([str(whole), "--out", str(again), *few], FACE)) == 0
    assert "of the first 48 games: it needs" in (again / "findings.md").read_text()
    text = (again / "findings_few.md").read_text()
    assert "of the first 20 games: it needs" in text and "From 48 games" in text
    assert "](findings_few/factions.svg)" in text
    (copy,) = (tmp_path / "runs" / "study").glob("*_20")
    assert json.loads((copy / folder.ABOUT).read_text())["parts"][0]["games"] == 20


@pytest.mark.slow
def test_the_sample_plays_as_it_says(capsys):
    """A version of the environment that changes the rules needs a new sample."""
    sample = Path(__file__).resolve().parents[2] / "docs" / "sample"
    args = ["--out", str(sample), "--verify", "64", "--replay-batch", "64"]
    assert export.main(args) == 0
    assert "64 of" in capsys.readouterr().out
