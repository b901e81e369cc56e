"""Hooks of MkDocs for the pages (mkdocs.yml names this file).

The README is the first page; README.ko.md, CONTRIBUTING.md and CHANGELOG.md are pages too. A page
named in backticks is a link to it, and a page that the navigation omits goes under "More".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FROM_ROOT = {
    "index.md": "README.md",
    "korean.md": "README.ko.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?<!\[)`(?:docs/)?([\w/]+\.md)`(?!\])")


def on_config(config: Any) -> Any:
    """Complete the navigation."""
    listed = set(_pages(config.nav))
    docs = Path(config.docs_dir)
    missing = sorted(str(p.relative_to(docs)) for p in docs.rglob("*.md"))
    excluded = config.exclude_docs
    unlisted = [p for p in missing if p not in listed and not (excluded and excluded.match_file(p))]
    if unlisted:
        config.nav.append({"More": unlisted})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are outside docs/."""
    from mkdocs.structure.files import File

    for page, source in FROM_ROOT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Make links of the pages that a page names."""
    page_paths = {file.src_uri for file in files.documentation_pages()}
    return linked(markdown, page.file.src_uri, page_paths)


def linked(text: str, page_path: str, page_paths: set[str]) -> str:
    """`text` with a link for each page that is named in backticks, outside of code blocks.

    Args:
        page_path: the path of the page in docs/.
        page_paths: the paths of all pages.
    """
    up = "../" * page_path.count("/")
    names = {source: page for page, source in FROM_ROOT.items()}

    def link(match: re.Match[str]) -> str:
        target = names.get(match[1], match[1])
        return f"[{match[0]}]({up}{target})" if target in page_paths else match[0]

    def plain(part: str) -> str:
        part = _NAMED.sub(link, part).replace("](docs/", f"]({up}")
        for source, target in names.items():
            part = part.replace(f"]({source})", f"]({up}{target})")
        return part

    out, last = [], 0
    for block in _FENCE.finditer(text):
        out += [plain(text[last : block.start()]), block[0]]
        last = block.end()
    return "".join([*out, plain(text[last:])])


def _pages(nav: Any) -> list[str]:
    """The paths in a navigation."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in _pages(part)]
