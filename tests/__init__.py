"""Tests; a package, so that no other distribution's `tests` is found before it."""
