"""One of many processes: who writes, how they wait for one another, and the seed that they have in common.

No framework is imported: one that the training has imported and started is used, else the variables that launchers set
say which process this is. A framework that runs in one process only connects nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from importlib import import_module
from typing import Any, Protocol

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


class Detected:
    """Ranks as far as they can be found out: by torch.distributed, mpi4py or JAX, or by the launcher's variables.

    What is running is looked up each time, for a training may start it after the recorder is made. Without a framework
    that is running there is nothing to wait with, each process goes on at its own pace, and none may draw a seed.
    """

    @property
    def rank(self) -> int:
        """The number of this process."""
        running = _running()
        if running is not None:
            return running.rank
        found = variable(_RANK)
        return local_rank() if found is None else found

    @property
    def size(self) -> int:
        """How many there are."""
        running = _running()
        return max(1, variable(_SIZE) or 1) if running is None else running.size

    @property
    def connected(self) -> bool:
        """Whether :meth:`share` reaches the other processes."""
        return _running() is not None

    def barrier(self) -> None:
        """Wait for all, where there is something to wait with."""
        running = _running()
        if running is not None:
            running.barrier()

    def share(self, value: Any) -> Any:
        """What process 0 gave; without a framework each process keeps its own."""
        running = _running()
        return value if running is None else running.share(value)


def _running() -> Ranks | None:
    """What connects the processes; None where nothing is imported and started."""
    for name, kind in (("torch.distributed", _Torch), ("mpi4py.MPI", _Mpi), ("jax", _Jax)):
        module = sys.modules.get(name)
        if module is not None and kind.runs(module):
            return kind(module)
    return None


class _Torch:
    """The process group of torch.distributed."""

    def __init__(self, module: Any) -> None:
        self._group = module
        self.rank, self.size = int(module.get_rank()), int(module.get_world_size())

    @staticmethod
    def runs(module: Any) -> bool:
        return bool(module.is_available() and module.is_initialized())

    def barrier(self) -> None:
        self._group.barrier()

    def share(self, value: Any) -> Any:
        box = [value]
        self._group.broadcast_object_list(box, src=0)
        return box[0]


class _Mpi:
    """The world of mpi4py."""

    def __init__(self, module: Any) -> None:
        self._world = module.COMM_WORLD
        self.rank, self.size = int(self._world.Get_rank()), int(self._world.Get_size())

    @staticmethod
    def runs(module: Any) -> bool:
        return bool(module.Is_initialized() and not module.Is_finalized() and module.COMM_WORLD.Get_size() > 1)

    def barrier(self) -> None:
        self._world.Barrier()

    def share(self, value: Any) -> Any:
        return self._world.bcast(value, root=0)


class _Jax:
    """The processes of jax.distributed. They share arrays of one shape, so what is shared goes as text with its length.

    Asking JAX for more than whether it is started would start it, and it could not be set up any more.
    """

    def __init__(self, module: Any) -> None:
        self.rank, self.size = int(module.process_index()), int(module.process_count())

    @staticmethod
    def runs(module: Any) -> bool:
        is_initialized = getattr(getattr(module, "distributed", None), "is_initialized", None)
        return is_initialized is not None and bool(is_initialized()) and int(module.process_count()) > 1

    def barrier(self) -> None:
        _multihost().sync_global_devices("mlsub")

    def share(self, value: Any) -> Any:
        import numpy as np

        broadcast = _multihost().broadcast_one_to_all
        text = np.frombuffer(json.dumps(value).encode() if self.rank == 0 else b"", dtype=np.uint8)
        length = int(broadcast(np.array(text.size, dtype=np.int32)))
        sent = text if self.rank == 0 else np.zeros(length, dtype=np.uint8)
        return json.loads(np.asarray(broadcast(sent), dtype=np.uint8).tobytes())


def _multihost() -> Any:
    return import_module("jax.experimental.multihost_utils")


def local_rank() -> int:
    """What Lightning's own launcher says of its processes: only whether a process is the first is known."""
    return max(variable(("LOCAL_RANK",)) or 0, variable(("NODE_RANK",)) or 0)


def variable(names: tuple[str, ...]) -> int | None:
    """The number in the first of some environment variables that holds one."""
    for name in names:
        value = os.environ.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 11:
            return int(value)
    return None


#: Where a launcher gives all processes of a run their seed.
SEED = "MLSUB_SEED"
#: Fits every framework's seed.
LARGEST = 2**31 - 1


def draw_seed() -> int:
    """Return a seed from the system's source of randomness, from 0 to 2^31 - 1."""
    return secrets.randbelow(LARGEST + 1)


def seed_of_launcher() -> int | None:
    """Return the seed that the launcher gives all processes of a run, None where it gives none.

    Raises:
        EmitError: it is not a whole number from 0 to 2^31 - 1.
    """
    text = os.environ.get(SEED, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST):
        raise EmitError(f"{SEED} is {text[:40]!r}: set it to a whole number from 0 to {LARGEST}")
    return int(text)
