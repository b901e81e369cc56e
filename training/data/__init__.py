"""Datasets of played games: their tables, how they are written, checked and read again.

`python -m training.export` is the command; `docs/study.md` describes the columns. This package
needs pyarrow (`pip install "gaia_jax[data]"`).
"""
