"""Compare agents from Python: one evaluation, one arena.

    python examples/compare_agents.py

`gaia_training` has what the commands do as functions: `train`, `evaluate`, `arena`, `make_agent`.
"""

import gaia_jax
import gaia_training as training


def main(env=None, agent="zoo/quick", games=64):
    """Print how strong an agent is against `random`, and who wins at a table of four.

    Args:
        env: None is the full game.
    """
    env = env or gaia_jax.make("lost_fleet", reward="vp")
    evaluation = training.evaluate(agent, opponent="random", games=games, env=env)
    vp = evaluation["vp_difference"]
    print(f"{agent} is {vp['mean']:.1f} VP ({vp['low']:.1f} to {vp['high']:.1f}) ahead of random")
    table = [agent, "random", "random", "random"]
    for name, row in training.arena(table, games=games, seed=1, env=env)["agents"].items():
        print(f"{name:12} {row['vp']['mean']:6.1f} VP, {row['win_share']['mean']:.2f} of the wins")


if __name__ == "__main__":
    main()
