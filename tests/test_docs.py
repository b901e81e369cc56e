"""Pages keep up with the code: every ruling that is cited is defined, every path named exists."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import rulings_index

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SOURCES = (
    "gaia_jax", "training", "tests", "tools", "benchmarks", "docs", "configs", "examples",
    "notebooks", ".github",
)  # fmt: skip
# What a run or a program writes, named in pages.
WRITTEN = re.compile(
    r"^(?:runs/.*|(?:[\w-]+/)?(?:config\.yaml|evaluation(?:-\d+)?\.json|metrics\.jsonl|"
    r"mine\.json|out\.json|arena\.json|dataset\.json|games?\.json))$"
)


def test_every_cited_ruling_is_defined_once():
    defined = rulings_index.definitions()
    twice = sorted({id_ for id_ in defined if defined.count(id_) > 1})
    assert not twice
    cited = rulings_index.citations()
    assert len(cited) > 270, "the search for citations finds too few"
    missing = {
        id_: sorted(map(str, paths)) for id_, paths in cited.items() if id_ not in set(defined)
    }
    assert not missing, "docs/reference/rulings.md does not define these"


def test_every_ruling_names_its_source():
    text = rulings_index.RULINGS.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=- \*\*|\n)", text)
    rules = [entry for entry in entries if rulings_index.DEFINITION.match(entry)]
    assert len(rules) == len(rulings_index.definitions())
    bare = [rule[:14] for rule in rules if not re.search(r"\[[^\]]+\]\s*$", rule)]
    assert not bare


def test_every_departure_stands_in_the_table_with_both_readings():
    text = rulings_index.RULINGS.read_text(encoding="utf-8")
    table = text.split("## Departures")[1].split("##")[0]
    rows = dict(re.findall(r"^\| ([A-Z]+-\d\d) \*?\s*\| (.*) \|$", table, re.MULTILINE))
    assert all(all(cell.strip() for cell in row.split(" | ")) for row in rows.values())
    marked = set()
    for entry in re.split(r"\n(?=- \*\*|\n)", text):
        if "*Departure.*" in entry:
            marked |= set(rulings_index.DEFINITION.findall(entry))
    assert marked == set(rows)


def test_the_index_of_rulings_is_current():
    current = rulings_index.INDEX.read_text(encoding="utf-8")
    assert current == rulings_index.page(), "make pages: rulings_index"


def test_an_id_in_a_comment_a_docstring_and_a_name_is_found():
    text = '"""Builds (MIN-02)."""\n# A10, FED-03.\ndef test_lee_02_a_poor_player(x): ...\n'
    assert rulings_index.cited_in(text) == {"MIN-02", "A10", "FED-03", "LEE-02"}
    names = "def test_fed_05_and_06_and_mow_01_of_12(): ..."
    assert rulings_index.cited_in(names) == {"FED-05", "FED-06", "MOW-01"}
    assert rulings_index.cited_in("UTF-8, A100, SA-K-3, RM-TF-2VP, 2026-11-22") == set()


def _known() -> set[str]:
    """Every end of every path of ours: `gaia_jax/env.py` is known as that and as `env.py`."""
    files = [p for folder in SOURCES for p in (ROOT / folder).rglob("*")]
    files += [p for p in ROOT.iterdir() if p.name != "runs"]  # there once one has trained
    parts = [p.relative_to(ROOT).parts for p in files if "__pycache__" not in p.parts]
    return {"/".join(path[i:]) for path in parts for i in range(len(path))}


KNOWN = _known()
FILE = re.compile(r"[\w./-]+\.(?:py|md|ya?ml|toml|sh)")
PLACE = re.compile(r"[\w-]+/[\w./-]*")
OURS = re.compile(r"python -m ((?:gaia_jax|training|benchmarks|tools|tests)(?:\.\w+)*)")


def _missing(text: str) -> list[str]:
    """Paths and modules in backticks that do not exist, from the root or as the end of a path."""
    wrong = []
    for named in re.findall(r"`([^`\s]+)`", text):
        if re.fullmatch(r"(zoo|games)/\w+", named):  # an agent, a figure of the log
            continue
        path = named.rstrip("/")
        if FILE.fullmatch(named):
            found = path in KNOWN or WRITTEN.match(named)
        elif named.startswith("zoo/"):
            continue  # the name of an agent
        elif PLACE.fullmatch(named) and named.split("/")[0] in KNOWN:
            found = path in KNOWN or path.split(".")[0] + ".py" in KNOWN  # or a name in a module
        else:
            continue
        if not found:
            wrong.append(named)
    for module in OURS.findall(text):
        path = module.replace(".", "/")
        if not {f"{path}.py", f"{path}/__main__.py"} & KNOWN:
            wrong.append(module)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_paths_a_page_names_exist(page):
    assert not _missing(page.read_text(encoding="utf-8"))


def test_a_path_that_does_not_exist_is_found():
    assert _missing("`rules/no_such.py`, `docs/none.md`, `python -m training.none`") == [
        "rules/no_such.py", "docs/none.md", "training.none",
    ]  # fmt: skip
    assert not _missing("`gaia_jax/env.py`, `env.py`, `docs/`, `python -m training.train`")


def test_the_workflow_tries_the_oldest_and_the_newest_that_is_allowed():
    """Of everything at once: the newest flax, say, does not take the oldest jax."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    rows = jobs["test"]["strategy"]["matrix"]["include"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert {row["resolution"]: row["python"] for row in rows} == {
        "lowest-direct": pythons[0], "highest": pythons[-1],
    }  # fmt: skip
    minor = re.search(r"3\.\d+", project["requires-python"])[0]
    assert minor == pythons[0] == jobs["lint"]["steps"][1]["with"]["python-version"]
    assert jobs["fast"]["strategy"]["matrix"]["python"] == pythons


def test_the_targets_that_workflows_and_pages_name_exist():
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [p.read_text() for p in [*PAGES, *ROOT.glob(".github/**/*.*")]]
    named = {n for text in texts for n in re.findall(r"(?:^|[`(]|run: )make ([a-z-]+)", text, re.M)}
    assert {"lint", "test", "test-fast"} <= named
    assert named <= made


def test_the_fast_tests_exist():
    fast = re.search(r"^FAST := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.M)[1]
    files = fast.replace("\\\n", " ").split()
    assert len(files) > 5
    assert [f for f in files if not (ROOT / f).is_file()] == []


@pytest.mark.parametrize(
    "form", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=lambda p: p.name
)
def test_issue_forms_have_what_github_asks_for(form):
    fields = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= fields.keys()
    ids = [part["id"] for part in fields["body"]]
    assert len(ids) == len(set(ids))
    assert all(part["attributes"]["label"] for part in fields["body"])


def _examples() -> list[tuple[str, str]]:
    """Python blocks of all pages."""
    blocks = []
    for page in PAGES:
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            blocks.append((page.name, code))
    return blocks


@pytest.mark.parametrize("code", [c for _, c in _examples()], ids=[n for n, _ in _examples()])
def test_examples_name_what_exists(code):
    """They parse, what they import is there, and so is what they take from `gaia_jax`."""
    import gaia_jax

    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in SOURCES:
            if node.module == "gaia_jax.adapters.jaxmarl":
                pytest.importorskip("jaxmarl", reason="JaxMARL comes with the extra `adapters`")
            module = importlib.import_module(node.module)
            for name in node.names:
                if not hasattr(module, name.name):
                    importlib.import_module(f"{node.module}.{name.name}")
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] in SOURCES:
                    importlib.import_module(name.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "gaia_jax":
            assert hasattr(gaia_jax, node.attr), node.attr


def test_the_options_that_command_lines_name_exist():
    """`python -m training.arena --agents ...`: each option stands in the module or beside it."""
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for module, rest in re.findall(OURS.pattern + r"([^\n`]*)", text):
            source = ROOT.joinpath(*module.split("."))
            shared = [ROOT / "training" / x for x in ("system/cli.py", "games/records.py")]
            files = [*source.parent.glob("*.py"), *source.glob("*.py"), *shared]
            code = "".join(f.read_text(encoding="utf-8") for f in files)
            for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*)", rest):
                if f'"{option}"' not in code:
                    wrong.append(f"{page.name}: {module} {option}")
    assert not wrong


def test_the_page_of_commands_names_every_command():
    files = [*(ROOT / "gaia_jax").rglob("*.py"), *(ROOT / "training").rglob("*.py")]
    found = set()
    for file in files:
        found |= set(re.findall(r'Parser\(\s*"python -m ([\w.]+)"', file.read_text("utf-8")))
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    assert len(found) > 10 and found == set(re.findall(r"`python -m ([\w.]+)`", page))
