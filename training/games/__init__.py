"""Agents played at a table, and what is kept of the games: tables, records, datasets.

Datasets (`python -m training.export`, docs/study.md) need pyarrow: `pip install "gaia_jax[data]"`.
"""
