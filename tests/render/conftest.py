"""What the tests of pictures and pages share."""

from pathlib import Path

import pytest

from gaia_jax import replay
from gaia_jax.replay.page import page
from tests.render.records import RECORDS


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay page of a sample record."""
    path = tmp_path_factory.mktemp("page") / "game.html"
    path.write_text(page(replay.read(RECORDS["lost_fleet"])), encoding="utf-8")
    return path
