"""Train on a Ray cluster, a process for each GPU worker; needs ray[train].

python configs/cluster/ray_train.py WORKERS --config configs/h100.yaml key=value ...
"""

import sys


def train(config: dict) -> None:
    """`gaia train` as one of the workers; JAX or JaxTrainer connects the devices."""
    import ray
    from gaia_training.train import main
    from ray.train.collective import broadcast_from_rank_zero

    context = ray.train.get_context()
    host = broadcast_from_rank_zero(ray.util.get_node_ip_address())
    place = [f"hosts.coordinator={host}:29500", f"hosts.processes={context.get_world_size()}"]
    if main([*config["argv"], *place, f"hosts.process_id={context.get_world_rank()}"]):
        raise RuntimeError("the training was interrupted; --resume RUN continues it")


if __name__ == "__main__":
    from ray.train import ScalingConfig
    from ray.train.v2.jax import JaxTrainer

    workers, argv = int(sys.argv[1]), sys.argv[2:]
    scaling = ScalingConfig(num_workers=workers, use_gpu=True, resources_per_worker={"GPU": 1})
    JaxTrainer(train, train_loop_config={"argv": argv}, scaling_config=scaling).fit()
