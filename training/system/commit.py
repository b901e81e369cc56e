"""The commit of a clone."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def of_clone() -> dict[str, Any]:
    """`commit`, and `changed`: whether files differ from it; empty outside a clone."""
    if not (ROOT / ".git").exists():
        return {}
    try:
        commit = _git("rev-parse", "HEAD").strip()
        return {"commit": commit, "changed": bool(_git("status", "--porcelain", "-uno").strip())}
    except (OSError, subprocess.SubprocessError):
        return {}


def _git(*arguments: str) -> str:
    line = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=20).stdout
