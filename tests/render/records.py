"""The sample records of the documentation."""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "docs" / "records"
RECORDS = {path.stem: path for path in sorted(_FOLDER.glob("*.json"))}
