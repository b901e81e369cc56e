"""Questions about the game as functions of a dataset, each with intervals over set-ups.

`training.study.table.load` reads what `training.export` wrote;
`docs/reference/datasets.md` lists the functions.
"""

# Where nothing else is said: who gives advice, and of a set-up by how many games of each faction.
ADVISER, ADVICE_GAMES = "zoo/strong", 64
