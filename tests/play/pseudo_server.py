"""The table with the pseudo-languages `marked` and `longer`, as `python -m training.play`."""

from __future__ import annotations

import sys

import pytest

from tests.languages import longer, marked, use_pseudo
from training.analysis import report_texts
from training.play import __main__, languages

if __name__ == "__main__":
    patch = pytest.MonkeyPatch()
    for change in (marked, longer):
        use_pseudo(patch, change, languages, report_texts)
    sys.exit(__main__.main())
