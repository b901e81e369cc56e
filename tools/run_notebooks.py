"""Execute the notebooks and store their outputs, so that a forge shows the pictures.

python -m tools.run_notebooks             # all of them
python -m tools.run_notebooks 1 3         # by number

The metadata of each notebook then have the digest of the code that was executed (`code_of`); a
test compares it with the code in the notebook.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NEEDED = ("gaia_jax", "training", "configs", "docs", "pyproject.toml")
MARK = "executed"  # key of the metadata: the digest of the executed code
ERASED = re.compile(r"\x1b\[[0-9;]*m|[^\n]*\r(?!\n)")  # colours, lines that were written over


def code_of(book: dict[str, Any]) -> str:
    """A digest of the code cells of a notebook."""
    cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    return hashlib.sha256("\0".join(cells).encode()).hexdigest()[:16]


def execute(path: Path, folder: Path) -> Any:
    """Execute a notebook in a kernel, in a copy of the project's folder.

    Args:
        folder: an empty one, where the copy goes.
    Returns:
        The notebook with its outputs.
    """
    import nbclient
    import nbformat

    for name in NEEDED:
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook, timeout=900, kernel_name="python3",
        resources={"metadata": {"path": str(folder / "notebooks")}},
    )  # fmt: skip
    # The kernel of this interpreter, not one that is registered on the machine.
    client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(folder)
    try:
        client.execute()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return notebook


def clean_outputs(book: Any, folder: Path) -> dict[str, Any]:
    """An executed notebook without times, colours and paths of this machine.

    Raises:
        SystemExit: an output names the folder that it ran in.
    """
    out: dict[str, Any] = json.loads(json.dumps(book))
    for cell in out["cells"]:
        cell["metadata"].pop("execution", None)
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = ERASED.sub("", "".join(output["text"]))
            page = "".join(output.get("data", {}).get("text/html", ""))
            if page.startswith("<svg"):  # forges drop pictures inside HTML
                del output["data"]["text/html"]
                output["data"]["image/svg+xml"] = page
    out["metadata"]["language_info"] = {"name": "python"}
    out["metadata"][MARK] = code_of(out)
    text = json.dumps([cell.get("outputs") for cell in out["cells"]])
    named = [place for place in (str(folder), str(ROOT), sys.prefix) if place in text]
    if named:
        raise SystemExit(f"an output names {named[0]}")
    return out


def main(numbers: list[str]) -> None:
    """Execute notebooks and write them with their outputs."""
    for path in NOTEBOOKS:
        if numbers and path.name[0] not in numbers:
            continue
        with tempfile.TemporaryDirectory() as folder:
            book = clean_outputs(execute(path, Path(folder)), Path(folder))
        import nbformat

        path.write_text(nbformat.writes(nbformat.from_dict(book)) + "\n", encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
