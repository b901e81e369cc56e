"""The notebooks run from their first cell to their last, in a kernel, as a reader runs them."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
QUICK = "3_study_a_dataset"  # compiles nothing


def run(path, tmp_path):
    """Execute a notebook in a copy of the project's folder; its cells with their outputs."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient comes with the extra `notebooks`")
    pytest.importorskip("ipykernel", reason="ipykernel comes with the extra `notebooks`")
    import nbformat

    for name in ("gaia_jax", "training", "configs", "docs", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook, timeout=900, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path / "notebooks")}},
    )  # fmt: skip
    # The kernel of this interpreter, whatever is registered on the machine.
    client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(tmp_path)
    try:
        client.execute()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return notebook.cells


def shown(cells):
    """All that was printed or displayed, as one text."""
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    return "\n".join(
        out.get("text", "") + "".join(map(str, out.get("data", {}).values())) for out in outputs
    )


def test_they_are_three_without_outputs_and_begin_with_the_cell_for_colab():
    assert len(NOTEBOOKS) == 3
    first = set()
    for path in NOTEBOOKS:
        book = json.loads(path.read_text("utf-8"))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code), path.name
        assert path.stat().st_size < 20_000
        first.add("".join(code[0]["source"]))
        for cell in code:
            compile("".join(cell["source"]), path.name, "exec")
    (text,) = first
    assert "google.colab" in text and 'gaia_jax[notebooks]"' in text


@pytest.mark.slow
def test_the_study_of_a_dataset_runs(tmp_path):
    """About 10 s."""
    text = shown(run(ROOT / "notebooks" / f"{QUICK}.ipynb", tmp_path))
    assert "image/png" in text or "iVBOR" in text, "it shows a picture"


@pytest.mark.slow
def test_play_and_look_runs(tmp_path):
    text = shown(run(ROOT / "notebooks" / "1_play_and_look.ipynb", tmp_path))
    assert "<svg" in text and "decisions, then the final VP are" in text


@pytest.mark.slow
def test_train_and_evaluate_runs(tmp_path):
    text = shown(run(ROOT / "notebooks" / "2_train_and_evaluate.ipynb", tmp_path))
    assert "4 updates" in text and "against three random seats" in text
