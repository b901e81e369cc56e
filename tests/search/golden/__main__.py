"""Search and write the golden trees."""

from tests.search import golden
from training.search import UTILITIES

for utility in UTILITIES:
    tree = golden.search(utility)
    trees = [golden.plain(tree, row) for row in range(golden.GAMES)]
    golden.write(golden.FOLDER / f"{utility}.json", trees)
