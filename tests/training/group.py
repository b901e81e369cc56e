"""A process of a group that trains nothing.

python group.py COORDINATOR COUNT ID FINGERPRINT [deed]
"""

import os
import sys
import time

import jax

from gaia_jax.cli.command_line import UserError
from training.system import cli, process_group, processes

jax.config.update("jax_num_cpu_devices", 1)


def main() -> int:
    coordinator, count, number, fingerprint, *deeds = sys.argv[1:]
    place = processes.Place(coordinator, int(count), int(number))
    with processes.join(place, {"fingerprint": fingerprint}) as group:
        group.hint = "; continue with --resume"
        print(group.all(place.id), group.first(f"from {place.id}"), jax.device_count(), flush=True)
        if f"die {place.id}" in deeds:
            os.kill(os.getpid(), 9)
        if f"fail {place.id}" in deeds:
            raise UserError("no space left")
        if "differ" in deeds:
            process_group.check_same(group, {"seed": place.id})
        if "wait" in deeds:
            time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))
