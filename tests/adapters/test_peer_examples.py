"""The peers' own examples run on our environment; a short stub game keeps it at a minute or two."""

import os
import re
from pathlib import Path

import pytest

from tests.stub_env import StubEnv
from tools import peer_examples

WHERE = os.environ.get("GAIA_JAX_PEERS", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not WHERE, reason="GAIA_JAX_PEERS names no folder with checkouts of the peers"
    ),
]


def test_the_ppo_example_of_pgx():
    pytest.importorskip("distrax", reason="pgx's example wants dm-haiku and distrax")
    pytest.importorskip("omegaconf", reason="pgx's example wants omegaconf and pydantic")
    report = peer_examples.pgx_ppo(Path(WHERE, "pgx"), StubEnv(reward="vp"))
    assert "2 updates" in report


def test_the_recurrent_function_of_pgx_in_mctx():
    pytest.importorskip("haiku", reason="pgx's example wants dm-haiku")
    report = peer_examples.pgx_recurrent_fn(Path(WHERE, "pgx"), StubEnv())
    assert "4 simulations" in report


def test_the_ippo_baseline_of_jaxmarl():
    pytest.importorskip("distrax", reason="JaxMARL's baseline wants distrax and hydra-core")
    report = peer_examples.jaxmarl_ippo(Path(WHERE, "JaxMARL"), StubEnv(reward="vp"))
    assert "1 update of 16 decisions" in report


def test_ppo_of_purejaxrl():
    pytest.importorskip("navix", reason="purejaxrl wants distrax, brax, navix and gymnax below 1.0")
    report = peer_examples.purejaxrl_ppo(Path(WHERE, "purejaxrl"), StubEnv(reward="vp"))
    assert "256 decisions" in report and "nan" not in report


def test_ppo_of_stoix():
    pytest.importorskip("stoa", reason="Stoix wants stoa-env, hydra-core and gymnax below 1.0")
    report = peer_examples.stoix_ppo(Path(WHERE, "Stoix"), StubEnv(reward="vp"))
    assert re.search(r"VP \d+", report)
