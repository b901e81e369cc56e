"""Recorded games of people and of chance, played again in the `base` ruleset.

    python -m tests.replays.play FILE.jsonl.gz ...

The games come from a public engine of the base game, with its own names and coordinates; what it
recorded is read here, and no game is kept in this repository.
"""
