"""PPO: rollout, loss and update, the learner and its checkpoints."""
