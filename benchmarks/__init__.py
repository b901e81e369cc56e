"""What the environment costs, measured beside its peers: see `throughput` and `compare`."""
