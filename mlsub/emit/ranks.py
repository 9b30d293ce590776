"""One of many processes: who writes, and how they wait for one another.

No framework is imported: one that the training has imported and started is used, else the variables that launchers set
say which process this is.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Protocol

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
    """Ranks as far as they can be found out: by torch.distributed, by mpi4py, by the launcher's variables.

    What is running is looked up each time, for a training may start it after the recorder is made. Without a framework
    that is running there is nothing to wait with, each process goes on at its own pace, and only process 0 may draw a
    seed.
    """

    @property
    def rank(self) -> int:
        """The number of this process."""
        group, world = _torch(), _mpi()
        if group is not None:
            return int(group.get_rank())
        if world is not None:
            return int(world.Get_rank())
        found = variable(_RANK)
        return local_rank() if found is None else found

    @property
    def size(self) -> int:
        """How many there are."""
        group, world = _torch(), _mpi()
        if group is not None:
            return int(group.get_world_size())
        if world is not None:
            return int(world.Get_size())
        return max(1, variable(_SIZE) or 1)

    @property
    def connected(self) -> bool:
        """Whether :meth:`share` reaches the other processes."""
        return _torch() is not None or _mpi() is not None

    def barrier(self) -> None:
        """Wait for all, where there is something to wait with."""
        group, world = _torch(), _mpi()
        if group is not None:
            group.barrier()
        elif world is not None:
            world.Barrier()

    def share(self, value: Any) -> Any:
        """What process 0 gave; without a framework each process keeps its own."""
        group, world = _torch(), _mpi()
        if group is not None:
            box = [value]
            group.broadcast_object_list(box, src=0)
            return box[0]
        return world.bcast(value, root=0) if world is not None else value


def _torch() -> Any:
    """torch.distributed, where it is imported and its process group runs."""
    module = sys.modules.get("torch.distributed")
    started = module is not None and module.is_available() and module.is_initialized()
    return module if started else None


def _mpi() -> Any:
    """The world of mpi4py, where it is imported, started and of more than one process."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return None
    return module.COMM_WORLD if module.COMM_WORLD.Get_size() > 1 else None


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
