"""Draw a set-up, edit it as JSON, deal it: `python examples/edit_setup.py`."""

import json

import jax

import gaia_jax

env = gaia_jax.make("lost_fleet")


def edited(text):
    """The same set-up with other factions, the last player first, one sector turned."""
    setup = json.loads(text)
    setup["factions"] = ["TERRANS", "XENOS", "TAKLONS", "HIVES"]
    setup["turn_order"] = [3, 0, 1, 2]
    setup["sectors"][4]["rotation"] = (setup["sectors"][4]["rotation"] + 1) % 6
    return setup


def main():
    drawn = jax.jit(env.draw_setup)(jax.random.key(0))
    text = gaia_jax.setup_to_json(drawn, env.ruleset)
    setup = gaia_jax.setup_from_json(edited(text), env.ruleset)
    state = jax.jit(env.init_from)(setup)
    names = env.ruleset.ids["faction"]
    print("factions:", ", ".join(names[i] for i in state.game.setup.faction))
    print("first to decide: player", int(state.current_player))

    broken = edited(text) | {"factions": ["XENOS", "GLEENS", "HIVES", "AMBAS"]}
    try:
        gaia_jax.setup_from_json(broken, env.ruleset)
    except ValueError as error:
        print("refused:", error)
    return state


if __name__ == "__main__":
    main()
