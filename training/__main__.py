"""All commands under one name: `gaia COMMAND ...`, the same as `python -m training COMMAND ...`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import gaia_jax
from gaia_jax.cli import command_line
from gaia_jax.cli.command_line import UserError, nearest

# Each with what it is for. What begins with a dot is a module of this package.
COMMANDS = {
    "play": (".play.__main__", "the table in the browser: play, watch, look at records"),
    "replay": ("gaia_jax.replay.command", "play a record and verify it; as a page, as moves"),
    "import": ("gaia_jax.importers.boardgamers", "a game of boardgamers.space as a record"),
    "review": (".review", "what each main move of a recorded game lost"),
    "advise": (".advise", "which faction suits a set-up"),
    "explain": (".explain", "why a move: games played on from it, or a search"),
    "puzzles": (".puzzles", "positions with one clear answer, of games of an agent"),
    "train": (".train", "train an agent by self-play"),
    "evaluate": (".evaluate", "an agent in one seat, an opponent in the others"),
    "arena": (".arena", "agents at one table, on duplicate set-ups"),
    "compare": (".compare", "compare runs: curves and final strength"),
    "sweep": (".sweep", "several runs from one file"),
    "plan": (".plan", "the memory and the time that a configuration needs"),
    "export": (".export", "datasets of games"),
    "study": (".study.__main__", "tables of effects from a dataset, the value of a position"),
    "merge": (".merge", "put together what was played in parts"),
    "labels": (".labels", "games of the scripted player, to learn from"),
    "clone": (".clone", "learn from them"),
    "ship": (".ship", "make an agent of the zoo"),
}
# What the extra of each brings, where it is not `train`.
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
