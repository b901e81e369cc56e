"""Judging positions by playouts: reviews, explanations, advice on a set-up, puzzles.

- `playouts`: plays any number of positions to the end of the game.
- `recorded_game`: the positions and actions of a record.
- `judge`: the loss of a move, from its candidates and their playouts.
- `review`: which moves of a game are judged, and the accuracy of each seat.
- `candidate_outcomes`: the results of the candidates of one position; `attribution`: their
  differences by source of VP.
- `search_report`: the moves of a game, explained by a search.
- `advice`: the strength of factions on a set-up.
- `puzzles`: positions with one best move; `puzzle_maker`, `trials`, `verification` make them.
- `*_report`: results as JSON values, text and HTML.
"""

# Defaults of the advice on a set-up: the agent, and the number of games for each faction.
ADVISER, ADVICE_GAMES = "zoo/strong", 64
