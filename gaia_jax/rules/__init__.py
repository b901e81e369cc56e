"""The rules of the game: pure functions of arrays, one module a chapter of the rulebook."""
