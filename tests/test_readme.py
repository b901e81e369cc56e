"""The README's example runs as it stands, and the files that it names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_example_plays_sixteen_games(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    scope: dict = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert capsys.readouterr().out
    assert scope["who"].shape == (400, 16)
    assert scope["state"].terminated.any(), "400 random decisions end a game"


def test_the_pages_it_names_exist():
    for page in re.findall(r"`(docs/[a-z_/]+\.md|configs/[a-z_]+\.yaml)`", README):
        assert (ROOT / page).is_file(), page


def test_it_is_two_screens_at_most():
    lines = README.splitlines()
    assert len(lines) <= 100
    assert max(len(line) for line in lines if not line.startswith("|")) <= 130
