"""Differences that the duel found, each as a scene with the ruling that decided it."""

from tests.scenarios.scene import scene

MOWEYDS, LANTIDS = 0, 1


def shared_mine(*lantids):
    """A mine of the Moweyds with a ring at 0,0 and a guest mine of the Lantids on it.

    `lantids`: cell and structure of what the Lantids have besides.
    """
    planets = {"0,0": "Orange", "1,0": "Brown", "0,1": "Gaia", "-1,0": "Brown"}
    table = scene("MOWEYDS", "LANTIDS", planets=planets)
    table = table.place(MOWEYDS, "0,0").place(MOWEYDS, "0,0", "RING").place(LANTIDS, "0,0", "GUEST")
    for cell, structure in lantids:
        table = table.place(LANTIDS, cell, structure)
    return table


# Seeds 1055 and 1190, policy rare: the ring counted for the guest mine as well.


def test_mow_01_fed_14_a_ring_adds_no_power_to_the_guest_mine_on_its_cell():
    table = shared_mine(("1,0", "PI"), ("0,1", "TS"))
    assert not table.turn(LANTIDS).can("form_federation")  # 1 + 3 + 2


def test_mow_01_fed_14_the_guest_mine_itself_counts_1():
    table = shared_mine(("1,0", "PI"), ("0,1", "TS"), ("-1,0", "MINE")).turn(LANTIDS)
    assert table.can("form_federation")  # 1 + 3 + 2 + 1


def test_mow_01_a_ring_adds_2_to_its_owners_mine():
    table = shared_mine().place(MOWEYDS, "1,0", "TS").place(MOWEYDS, "0,1", "MINE")
    assert not table.turn(MOWEYDS).can("form_federation")  # 3 + 2 + 1
    table = table.place(MOWEYDS, "-1,0", "MINE")
    assert table.turn(MOWEYDS).can("form_federation")  # 3 + 2 + 1 + 1
