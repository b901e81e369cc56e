"""Learning from the scripted player: what it thinks of its candidates, and a network like it."""
