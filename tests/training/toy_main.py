"""The trainer's command lines on the toy game: `python toy_main.py train ...`."""

import sys

import toy_env

from training import cli, evaluate, train

if __name__ == "__main__":
    main = {"train": train.main, "evaluate": evaluate.main}[sys.argv[1]]
    sys.exit(cli.run(lambda: main(sys.argv[2:], toy_env)))
