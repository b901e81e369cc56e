"""Judging positions by playouts: reviews, explanations, advice on a set-up, puzzles."""

# Defaults of the advice on a set-up: the agent, and the number of games for each faction.
ADVISER, ADVICE_GAMES = "zoo/strong", 64
