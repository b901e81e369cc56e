"""A run of the trainer: its folder, logs, provenance, evaluations and sweeps."""
