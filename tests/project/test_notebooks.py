"""The notebooks run from their first cell to their last, in a kernel, as a reader runs them."""

import json
from pathlib import Path

import pytest

from tools import run_notebooks

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
QUICK = "3_study_a_dataset"  # compiles nothing


def run(path, tmp_path):
    """Execute a notebook in a copy of the project's folder; its cells with their outputs."""
    pytest.importorskip("nbclient", reason="nbclient comes with the extra `notebooks`")
    pytest.importorskip("ipykernel", reason="ipykernel comes with the extra `notebooks`")
    return run_notebooks.execute(path, tmp_path).cells


def printed_text(cells):
    """Everything that was printed or displayed, as one text."""
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    return "\n".join(
        out.get("text", "") + "".join(map(str, out.get("data", {}).values())) for out in outputs
    )


def images(book):
    """How many outputs are pictures."""
    outputs = [out for cell in book["cells"] for out in cell.get("outputs", ())]
    kinds = {"image/png", "image/svg+xml"}
    return sum(bool(kinds & out.get("data", {}).keys()) for out in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_they_hold_the_outputs_of_their_code(path):
    """Every cell was executed in order, with its current code and without an error; a picture."""
    book = json.loads(path.read_text("utf-8"))
    assert book["metadata"][run_notebooks.MARK] == run_notebooks.code_of(book), (
        f"{path.name} has changed: python -m tools.run_notebooks {path.name[0]}"
    )
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {out["output_type"] for cell in code for out in cell["outputs"]}
    assert "error" not in kinds and "stream" in kinds and images(book) >= 1
    assert path.stat().st_size < 600_000


def test_an_output_that_names_a_folder_of_this_machine_is_not_kept(tmp_path):
    book = json.loads(NOTEBOOKS[2].read_text("utf-8"))
    cleaned = run_notebooks.clean_outputs(book, tmp_path)
    assert cleaned["metadata"][run_notebooks.MARK] == run_notebooks.code_of(book)
    cell = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": ["<svg/>"]}}]
    assert images(run_notebooks.clean_outputs(book, tmp_path)) == images(book) + 1
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": f"{tmp_path}/x"}]
    with pytest.raises(SystemExit, match="an output names"):
        run_notebooks.clean_outputs(book, tmp_path)


@pytest.mark.slow
def test_the_study_of_a_dataset_runs(tmp_path):
    """About 10 s."""
    text = printed_text(run(ROOT / "notebooks" / f"{QUICK}.ipynb", tmp_path))
    assert "image/png" in text or "iVBOR" in text, "it shows a picture"


@pytest.mark.slow
def test_play_and_look_runs(tmp_path):
    text = printed_text(run(ROOT / "notebooks" / "1_play_and_look.ipynb", tmp_path))
    assert "<svg" in text and "decisions, then the final VP are" in text


@pytest.mark.slow
def test_train_and_evaluate_runs(tmp_path):
    text = printed_text(run(ROOT / "notebooks" / "2_train_and_evaluate.ipynb", tmp_path))
    assert "4 updates" in text and "against three random seats" in text
