"""Train the rehearsal benchmark digits in several processes with PyTorch, and log the run by the rules: one log.

    pip install '.[adapters]'
    torchrun --standalone --nproc-per-node 4 examples/ddp_digits.py result_0.txt

2 or 4 processes on a CPU (gloo), a few seconds. A rehearsal is not an MLPerf result.
"""

from __future__ import annotations

import gc
import sys

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from mlsub.emit import Recorder

BATCH_SIZE = 32
LEARNING_RATE = 0.05
MAX_EPOCHS = 40
TRAIN_SAMPLES, EVALUATION_SAMPLES = 1437, 360


def digits(*, training: bool) -> TensorDataset:
    """One part of the data set of scikit-learn, always the same."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    parts = train_test_split(pixels / 16, labels, train_size=TRAIN_SAMPLES, random_state=20210630, stratify=labels)
    images, answers = (parts[0], parts[2]) if training else (parts[1], parts[3])
    return TensorDataset(torch.tensor(images, dtype=torch.float32), torch.tensor(answers))


def initialise(recorder: Recorder) -> tuple[DistributedDataParallel, torch.optim.Optimizer, int]:
    """All that comes before the clock: what is logged, the network and its optimizer, and the seed."""
    with recorder.init():
        recorder.hyperparameters(
            {
                "global_batch_size": BATCH_SIZE,
                "gradient_accumulation_steps": 1,
                "opt_name": "sgd",
                "opt_base_learning_rate": LEARNING_RATE,
                "opt_momentum": 0.9,
                "opt_weight_decay": 1e-4,
                "model_hidden_units": 64,
            }
        )
        recorder.samples(train=TRAIN_SAMPLES, evaluation=EVALUATION_SAMPLES)
        seed = recorder.fresh_seed()  # the same in every process
        torch.manual_seed(seed)
        layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        optimizer = torch.optim.SGD(layers.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=1e-4)
        return DistributedDataParallel(layers), optimizer, seed


def accuracy(model: DistributedDataParallel, held_out: TensorDataset) -> float:
    """The share of held-out digits that are recognised: each process looks at a part of them."""
    pixels, labels = (tensor[distributed.get_rank() :: distributed.get_world_size()] for tensor in held_out.tensors)
    with torch.no_grad():
        right = (model.module(pixels).argmax(dim=1) == labels).sum()
    distributed.all_reduce(right)
    return float(right) / EVALUATION_SAMPLES


def train_epoch(
    model: DistributedDataParallel, optimizer: torch.optim.Optimizer, batches: DataLoader[list[torch.Tensor]]
) -> None:
    """One pass over this process's share of the training data."""
    for pixels, labels in batches:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(pixels), labels).backward()
        optimizer.step()


def train(recorder: Recorder) -> None:
    """Initialise, and train to the target."""
    model, optimizer, seed = initialise(recorder)
    with recorder.run():
        training, held_out = digits(training=True), digits(training=False)
        sampler = DistributedSampler(training, seed=seed)
        batches = DataLoader(training, BATCH_SIZE // distributed.get_world_size(), sampler=sampler)
        for epoch in range(1, MAX_EPOCHS + 1):
            sampler.set_epoch(epoch)
            with recorder.block(first_epoch=epoch):
                train_epoch(model, optimizer, batches)
            with recorder.evaluation(epoch=epoch) as evaluation:
                reached = evaluation.result(accuracy(model, held_out))
            if reached:
                break


def main(log: str) -> None:
    """Train one run and log it; the process group comes first, so that the recorder knows the processes."""
    distributed.init_process_group("gloo")
    if BATCH_SIZE % distributed.get_world_size():
        raise SystemExit(f"a batch of {BATCH_SIZE} cannot be shared by {distributed.get_world_size()} processes")
    with Recorder(
        log,
        usage="rehearsal",
        round="1.0",
        benchmark="digits",
        division="closed",
        organisation="ACME",
        platform="laptop",
        status="onprem",
    ) as recorder:
        # The data come with a library that is loaded already. Where they lie on a disk: recorder.cache_clear()
        recorder.log("cache_clear", True)
        train(recorder)
    # All leave together, with nothing of the training left: else gloo was seen to abort one of them as it ended.
    gc.collect()
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "result_0.txt")
