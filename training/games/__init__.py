"""Agents played at a table, and what is kept of the games: tables, records, datasets.

Datasets (`python -m training.export`, docs/guide/study.md) need pyarrow:
`pip install "gaia_jax[data]"`.
"""
