"""Questions about the game as functions of a dataset, each with intervals over set-ups.

`training.study.game_table.load` reads a dataset of `training.export`;
`docs/reference/datasets.md` lists the functions.
"""
