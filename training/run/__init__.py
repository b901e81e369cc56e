"""A run of the trainer: its folder, logs, evaluations and sweeps."""
