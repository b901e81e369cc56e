"""All commands under one name: `gaia COMMAND ...`, the same as `python -m training COMMAND ...`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import gaia_jax
from gaia_jax.cli import command_line
from gaia_jax.cli.command_line import UserError, nearest

# Module and purpose of each; a module with a leading dot is in this package.
COMMANDS = {
    "play": (".play.__main__", "the table in the browser: play, watch, replay, analyse"),
    "replay": ("gaia_jax.replay.command", "play and verify a record; as a page, as CSV, as moves"),
    "import": ("gaia_jax.importers.boardgamers", "convert a game of boardgamers.space to a record"),
    "check": (".check", "compare the games of this machine with the release"),
    "review": (".review", "the loss of each main move of a recorded game, accuracy by seat"),
    "advise": (".advise", "expected VP of each faction on a set-up"),
    "explain": (".explain", "why a move: playouts of the candidates, or a search"),
    "puzzles": (".puzzles", "positions with one clear answer, from games of an agent"),
    "train": (".train", "train an agent by self-play"),
    "evaluate": (".evaluate", "one agent against copies of an opponent"),
    "arena": (".arena", "different agents at one table, on duplicate set-ups"),
    "compare": (".compare", "compare runs: curves and final strength"),
    "sweep": (".sweep", "several runs from one file"),
    "plan": (".plan", "memory of a configuration before it starts; time with --measured"),
    "export": (".export", "datasets of games, with their decisions"),
    "study": (".study.__main__", "effects with intervals from a dataset"),
    "labels": (".labels", "games of an expert with the values of its candidates"),
    "clone": (".clone", "train a network on labels"),
    "ship": (".ship", "turn a run into a shipped agent"),
}
# The extra that a command needs, where it is not `train`.
EXTRAS = {"play": "play", "export": "data", "study": "data"}


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of `gaia`.

    Args:
        argv: the command and its arguments; None is those of the process.
    Returns:
        The exit code of the command.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        return _run(*words)
    return command_line.run(lambda: _print_commands(words))


def _run(command: str, *rest: str) -> int:
    """A command as its module runs it by itself."""
    if command == "replay":
        from gaia_jax.replay.command import main as replay

        return replay(rest, keep=True)
    from .system import cli

    sys.argv = [f"gaia {command}", *rest]
    sys.path.insert(0, "")  # MODULE:FUNCTION of the current folder

    def run() -> int:
        try:
            module = importlib.import_module(COMMANDS[command][0], __package__)
            return int(module.main(list(rest)))
        except ModuleNotFoundError as error:
            if not error.name or error.name.partition(".")[0] in ("gaia_jax", __package__):
                raise
            extra = EXTRAS.get(command, "train")
            raise UserError(
                f'{command} needs {error.name}: pip install "gaia_jax[{extra}]"'
            ) from error

    if command == "play":
        # It answers before it prepares anything, and agents are compiled in the background.
        command_line.leave(command_line.run(run))
    return cli.run(run)


def _print_commands(words: list[str]) -> int:
    """The list of commands, or the versions.

    Raises:
        UserError: no such command; the nearest is named.
    """
    if words[:1] == ["--version"]:
        from importlib import metadata

        print(f"gaia_jax {gaia_jax.__version__}, jax {metadata.version('jax')}")
        return 0
    if words and words[0] not in ("-h", "--help"):
        near = nearest(words[0], [*COMMANDS, "--help", "--version"])
        raise UserError(f"there is no command {words[0]!r}{near or '; gaia --help lists them'}")
    print("usage: gaia COMMAND ... | gaia --version\n\nGaia Project: play, train, study.\n")
    for name, (_, summary) in COMMANDS.items():
        print(f"  {name:9} {summary}")
    print("\ngaia COMMAND --help shows the arguments of each.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
