"""The Automa, the opponent of a solo game (AUT): pure functions of the game, without chance."""
