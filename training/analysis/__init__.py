"""Judging positions: reviews, explanations, advice on a set-up, puzzles.

- `playouts`: plays any number of positions to the end of the game.
- `recorded_game`: the positions and actions of a record.
- `judge`: the loss of a move, from its candidates and their playouts.
- `review`: which moves of a game are judged, and the accuracy of each seat; `habits`: the
  mistakes of one player over several games.
- `candidate_outcomes`: the results of the candidates of one position; `attribution`: their
  differences by source of VP.
- `position_analysis`: candidates for a hint, and the check of a move.
- `search_report`: the moves of a game, explained by a search.
- `advice`: the strength of factions on a set-up.
- `default_agent`: the shipped agent for a game.
- `puzzles`: positions with one best move; `puzzle_maker` makes them from games, `round_solver`
  lists all lines of play of a player who is alone in a round.
- `*_report`: results as JSON values, text and HTML.
"""

ADVISER = "zoo/strong"  # named where no shipped agent advises
# Shipped agents that advise, the strongest first, each where it plays such games.
ADVISERS = ("zoo/base", ADVISER, "zoo/duel", "zoo/trio", "zoo/solo")
ADVICE_GAMES = 64  # of the advice on a set-up, for each faction
