"""Shared parts of command lines: one-line errors, progress, Ctrl-C, checked arguments."""
