"""One of many processes: who writes, how they wait for one another, and the seed that they have in common.

No framework is imported: one that the training has imported and started is used, else the variables that launchers set
say which process this is. A framework that runs in one process only connects nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from mlsub.emit.errors import EmitError

#: Where launchers say which process this is: torchrun, Open MPI, MPICH and Intel MPI, MVAPICH, SLURM.
_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS")


class Ranks(Protocol):
    """The processes of a run, connected with one another: what one shares reaches all."""

    @property
    def rank(self) -> int:
        """The number of this process; 0 writes."""

    @property
    def size(self) -> int:
        """How many there are."""

    def barrier(self) -> None:
        """Wait until all processes are here."""

    def share(self, value: Any) -> Any:
        """What process 0 gave, in every process."""


class _Connection(NamedTuple):
    """A framework that is running, or no more than what the launcher says: then each process keeps its own values."""

    rank: int
    size: int
    barrier: Callable[[], object] = lambda: None
    share: Callable[[Any], Any] = lambda value: value
    connected: bool = True


class DetectedRanks:
    """Ranks as far as they can be found out: by torch.distributed, mpi4py or JAX, or by the launcher's variables.

    What is running is looked up each time, for a training may start it after the recorder is made. Without a framework
    that is running there is nothing to wait with, each process goes on at its own pace, and none may draw a seed.
    """

    @property
    def rank(self) -> int:
        """The number of this process."""
        return _connection().rank

    @property
    def size(self) -> int:
        """How many there are."""
        return _connection().size

    @property
    def connected(self) -> bool:
        """Whether :meth:`share` reaches the other processes."""
        return _connection().connected

    def barrier(self) -> None:
        """Wait for all, where there is something to wait with."""
        _connection().barrier()

    def share(self, value: Any) -> Any:
        """What process 0 gave; without a framework each process keeps its own."""
        return _connection().share(value)


def _connection() -> _Connection:
    """What connects the processes: a framework that is imported and started, else nothing."""
    for name, connect in (("torch.distributed", _connect_torch), ("mpi4py.MPI", _connect_mpi), ("jax", _connect_jax)):
        module = sys.modules.get(name)
        running = connect(module) if module is not None else None
        if running is not None:
            return running
    rank = environment_number(_RANK)
    return _Connection(local_rank() if rank is None else rank, max(1, environment_number(_SIZE) or 1), connected=False)


def _connect_torch(group: Any) -> _Connection | None:
    """The process group of torch.distributed."""
    if not (group.is_available() and group.is_initialized()):
        return None

    def share(value: Any) -> Any:
        box = [value]
        group.broadcast_object_list(box, src=0)
        return box[0]

    return _Connection(int(group.get_rank()), int(group.get_world_size()), group.barrier, share)


def _connect_mpi(module: Any) -> _Connection | None:
    """The world of mpi4py."""
    if not module.Is_initialized() or module.Is_finalized() or module.COMM_WORLD.Get_size() == 1:
        return None
    world = module.COMM_WORLD
    return _Connection(int(world.Get_rank()), int(world.Get_size()), world.Barrier, partial(world.bcast, root=0))


def _connect_jax(module: Any) -> _Connection | None:
    """The processes of jax.distributed. They share arrays of one shape, so what is shared goes as text with its length.

    Asking JAX for more than whether it is started would start it, and it could not be set up any more.
    """
    is_initialized = getattr(getattr(module, "distributed", None), "is_initialized", None)
    if is_initialized is None or not is_initialized() or int(module.process_count()) == 1:
        return None
    rank = int(module.process_index())

    def share(value: Any) -> Any:
        import numpy as np

        broadcast = _multihost().broadcast_one_to_all
        text = np.frombuffer(json.dumps(value).encode() if rank == 0 else b"", dtype=np.uint8)
        length = int(broadcast(np.array(text.size, dtype=np.int32)))
        sent = text if rank == 0 else np.zeros(length, dtype=np.uint8)
        return json.loads(np.asarray(broadcast(sent), dtype=np.uint8).tobytes())

    return _Connection(rank, int(module.process_count()), lambda: _multihost().sync_global_devices("mlsub"), share)


def _multihost() -> Any:
    return import_module("jax.experimental.multihost_utils")


def local_rank() -> int:
    """What Lightning's own launcher says of its processes: only whether a process is the first is known."""
    return max(environment_number(("LOCAL_RANK",)) or 0, environment_number(("NODE_RANK",)) or 0)


def environment_number(names: tuple[str, ...]) -> int | None:
    """The number in the first of some environment variables that holds one."""
    for name in names:
        value = os.environ.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 11:
            return int(value)
    return None


#: Where a launcher gives all processes of a run their seed.
SEED_VARIABLE = "MLSUB_SEED"
#: Fits every framework's seed.
LARGEST_SEED = 2**31 - 1


def draw_seed() -> int:
    """Return a seed from the system's source of randomness, from 0 to 2^31 - 1."""
    return secrets.randbelow(LARGEST_SEED + 1)


def seed_of_launcher() -> int | None:
    """Return the seed that the launcher gives all processes of a run, None where it gives none.

    Raises:
        EmitError: it is not a whole number from 0 to 2^31 - 1.
    """
    text = os.environ.get(SEED_VARIABLE, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_SEED):
        raise EmitError(f"{SEED_VARIABLE} is {text[:40]!r}: set it to a whole number from 0 to {LARGEST_SEED}")
    return int(text)
