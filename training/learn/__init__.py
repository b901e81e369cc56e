"""PPO: rollout, loss and update, what a learner is, and its checkpoints."""
