"""Questions about the game as functions of a dataset, each with intervals over set-ups.

`training.study.table.load` reads what `training.export` wrote;
`docs/reference/datasets.md` lists the functions.
"""
