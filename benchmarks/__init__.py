"""Measure the environment and compare it with its peers: see `throughput` and `compare`."""
