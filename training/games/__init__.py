"""Play games between agents and store them as tables, records and datasets.

Datasets (`python -m training.export`, docs/guide/study.md) need pyarrow:
`pip install "gaia_jax[data]"`.
"""
