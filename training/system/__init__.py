"""Shared infrastructure: atomic files, devices, processes, compilation."""
