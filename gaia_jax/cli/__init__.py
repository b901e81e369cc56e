"""What command lines share: one-line errors, progress, Ctrl-C, checked arguments."""
