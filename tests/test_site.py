"""The documentation as a site: it builds without a warning, every link leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import site_hooks

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def _anchors(page):
    """The ids that headings get."""
    found = set()
    for title in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", title.lower())
        found.add(re.sub(r"[\s-]+", "-", plain).strip("-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_within_the_project_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in LINK.findall(text):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in _anchors(there), target


def test_a_page_in_backticks_becomes_a_link():
    known = {"reference/actions.md", "api/index.md", "contributing.md"}
    block = "\n```\n`docs/reference/actions.md`\n```\n"
    text = (
        "`docs/reference/actions.md`, `CONTRIBUTING.md`, `docs/none.md`, ![x](docs/a.svg)" + block
    )
    made = site_hooks.linked(text, "api/index.md", known)
    assert made == (
        "[`docs/reference/actions.md`](../reference/actions.md), "
        "[`CONTRIBUTING.md`](../contributing.md), "
        f"`docs/none.md`, ![x](../a.svg){block}"
    )
    assert (
        site_hooks.linked("`contributing.md`", "index.md", known)
        == "[`contributing.md`](contributing.md)"
    )


@pytest.mark.slow
def test_it_builds_without_a_warning(tmp_path):
    """About 5 s. Links, anchors and docstrings are checked by MkDocs."""
    pytest.importorskip("mkdocs", reason="mkdocs comes with the extra `docs`")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings comes with the extra `docs`")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    api = (tmp_path / "reference" / "api" / "environment.html").read_text("utf-8")
    assert 'id="gaia_jax.make"' in api and "legal_action_mask" in api
    assert 'href="guide/tutorial.html"' in (tmp_path / "index.html").read_text("utf-8")
