"""Many processes, one log: who writes, who waits, and that a refusal reaches all."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mlsub.emit import DoomedRunError, EmitError
from mlsub.emit.ranks import DetectedRanks
from tools.support.digits import initialise, recorder, train
from tools.support.effort import HUNG
from tools.support.judging import report_on
from tools.support.runner import python

LAUNCHER_VARIABLES = (
    *("RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID", "SLURM_NTASKS"),
    *("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_RANK"),
)


class Group:
    """Processes as threads: a barrier and a value that process 0 shares."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting = threading.Barrier(size, timeout=HUNG)
        self.barriers = 0
        self.box: Any = None

    def member(self, rank: int) -> Any:
        group = self

        class Member:
            size = group.size

            def __init__(self) -> None:
                self.rank = rank

            def barrier(self) -> None:
                group.waiting.wait()
                if rank == 0:
                    group.barriers += 1

            def share(self, value: Any) -> Any:
                if rank == 0:
                    group.box = value
                group.waiting.wait()
                shared = group.box
                group.waiting.wait()
                return shared

        return Member()


def together(size: int, work: Callable[[int, Any], Any]) -> list[Any]:
    """What each process comes to: its answer, or its exception."""
    group, outcomes = Group(size), [None] * size

    def one(rank: int) -> None:
        try:
            outcomes[rank] = work(rank, group.member(rank))
        except Exception as error:
            outcomes[rank] = error

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HUNG)
    return outcomes


@pytest.mark.parametrize("size", [2, 4])
def test_one_process_writes_and_all_agree_when_the_target_is_reached(size: int, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"

    def work(rank: int, ranks: Any) -> tuple[bool, int]:
        with recorder(log, ranks=ranks) as rec:
            initialise(rec)
            with rec.run() as run:
                for epoch in range(1, 10):
                    with rec.block(first_epoch=epoch):
                        pass
                    # Only the writer's number counts; the others' are what they have.
                    if rec.evaluate(0.9 + 0.03 * epoch if rank == 0 else 0.0, epoch=epoch):
                        break
            assert run.status == "success"
            return rec.writes, epoch

    assert together(size, work) == [(True, 2), *[(False, 2)] * (size - 1)]
    assert report_on(log, "rehearsal", "1.0").compliant


def test_all_processes_have_the_one_seed_that_is_logged(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> int:
        with recorder(tmp_path / "result_0.txt", ranks=ranks) as rec:
            seed = initialise(rec)
            train(rec)
            return seed

    seeds = together(3, work)
    assert len(set(seeds)) == 1


def test_a_refusal_reaches_every_process(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> None:
        with recorder(tmp_path / "result_0.txt", ranks=ranks) as rec:
            initialise(rec, opt_momentum=None)

    outcomes = together(3, work)
    assert isinstance(outcomes[0], DoomedRunError)
    assert all(type(error) is EmitError and "opt_momentum is missing" in str(error) for error in outcomes[1:])


@pytest.mark.parametrize(
    ("variables", "rank", "size"),
    [
        ({}, 0, 1),
        ({"RANK": "3", "WORLD_SIZE": "8"}, 3, 8),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "6"}, 5, 6),
        ({"PMI_RANK": "2", "PMI_SIZE": "4"}, 2, 4),
        ({"RANK": "two", "WORLD_SIZE": ""}, 0, 1),
        ({"RANK": "-1"}, 0, 1),
        ({"LOCAL_RANK": "1"}, 1, 1),
        ({"NODE_RANK": "1", "LOCAL_RANK": "0"}, 1, 1),
    ],
)
def test_launchers_say_which_process_this_is(
    variables: dict[str, str], rank: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LAUNCHER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = DetectedRanks()
    assert (found.rank, found.size) == (rank, size)
    found.barrier()
    assert found.share(7) == 7


def test_a_process_that_does_not_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    with recorder(tmp_path / "result_0.txt") as rec:
        assert not rec.writes
        initialise(rec, seed=7)
        with rec.run() as run:
            # Without a framework to share by, a process goes by its own evaluations.
            assert [rec.evaluate(quality, epoch=1) for quality in (0.5, 0.97)] == [False, True]
        assert run.status == "success"
    assert list(tmp_path.iterdir()) == []


LAUNCHED = {
    "srun": ("SLURM_PROCID", "SLURM_NTASKS"),
    "torchrun": ("RANK", "WORLD_SIZE"),
    "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
}
SEED = """
import sys, warnings
from pathlib import Path
from tools.support.digits import initialise, recorder
warnings.simplefilter("always")
with recorder(Path(sys.argv[1])) as rec:
    print(initialise(rec, seed=int(sys.argv[2]) if len(sys.argv) > 2 else None))
"""


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHED)
def test_processes_that_nothing_connects_do_not_draw_seeds_of_their_own(
    launcher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, sizes = LAUNCHED[launcher]
    for name in LAUNCHER_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    for rank in (0, 1):
        refused = python(SEED, tmp_path / "result_0.txt", **{ranks: str(rank), sizes: "2"})
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"EmitError: process {rank} of 2 is not connected with the others" in refused.stderr
        assert "MLSUB_SEED" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    # One seed for all, drawn by the launcher, is what such processes can have.
    assert python(SEED, tmp_path / "result_1.txt", 77, **{ranks: "1", sizes: "2"}).stdout == "77\n"


def test_a_seed_in_the_launchers_environment_is_that_of_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLSUB_SEED", " 77\n")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in (1, 0):
        monkeypatch.setenv("RANK", str(rank))
        with recorder(tmp_path / "result_0.txt") as rec:
            assert initialise(rec) == 77
            train(rec)
    # It is drawn anew for each run.
    with (
        pytest.raises(DoomedRunError, match=r"seed 77, as in result_0\.txt"),
        recorder(tmp_path / "result_1.txt") as rec,
    ):
        initialise(rec)


@pytest.mark.parametrize("text", ["-1", "1.5", "0x10", "2147483648", "9" * 5000, "seven", "٣"])
def test_a_seed_of_the_launcher_that_is_none_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLSUB_SEED", text)
    with recorder(tmp_path / "result_0.txt") as rec, pytest.raises(EmitError, match="set it to a whole number"):
        rec.fresh_seed()


def test_processes_with_seeds_of_their_own_are_refused(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> int:
        with recorder(tmp_path / "result_0.txt", ranks=ranks) as rec:
            return rec.seed(100 + rank)

    first, second = together(2, work)
    assert first == 100
    assert str(second).startswith("process 1 has the seed 101, and process 0 logs 100: give all processes one seed")


def test_ranks_of_the_callers_own_are_connected(tmp_path: Path) -> None:
    ranks = SimpleNamespace(rank=1, size=2, barrier=lambda: None, share=lambda value: 5)
    with recorder(tmp_path / "result_0.txt", ranks=ranks) as rec:
        assert rec.fresh_seed() == 5


def test_a_quality_that_is_none_is_refused_in_every_process(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> None:
        with recorder(tmp_path / "result_0.txt", ranks=ranks) as rec:
            initialise(rec)
            with rec.run(), rec.evaluation(epoch=1) as evaluation:
                evaluation.result(None)  # type: ignore[arg-type]

    first, *others = together(3, work)
    assert all(type(error) is EmitError for error in (first, *others))
    assert "eval_accuracy is None: the quality of an evaluation is a number" in str(first)
    assert all("eval_accuracy is None" in str(error) for error in others)


def test_torch_distributed_is_used_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    module = ModuleType("torch.distributed")
    module.__dict__.update(
        is_available=lambda: True,
        is_initialized=lambda: True,
        get_rank=lambda: 2,
        get_world_size=lambda: 4,
        barrier=lambda: calls.append("barrier"),
        broadcast_object_list=lambda box, src: box.__setitem__(0, f"from {src}"),
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", module)
    found = DetectedRanks()
    found.barrier()
    assert (found.rank, found.size, found.share(1), calls) == (2, 4, "from 0", ["barrier"])
    module.__dict__["is_initialized"] = lambda: False
    assert found.share(1) == 1


def test_mpi4py_is_used_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    world = SimpleNamespace(
        Get_rank=lambda: 1, Get_size=lambda: 2, Barrier=lambda: calls.append("barrier"), bcast=lambda value, root: root
    )
    module = ModuleType("mpi4py.MPI")
    module.__dict__.update(COMM_WORLD=world, Is_initialized=lambda: True, Is_finalized=lambda: False)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", module)
    found = DetectedRanks()
    found.barrier()
    assert (found.rank, found.size, found.share("x"), calls) == (1, 2, 0, ["barrier"])


class FakeJax(ModuleType):
    """What a recorder asks of JAX: its processes, a barrier, and arrays that process 0 shares."""

    def __init__(self, started: bool, size: int, sent: list[Any]) -> None:
        super().__init__("jax")
        self.asked = 0

        def process_count() -> int:
            self.asked += 1
            return size

        self.__dict__.update(
            distributed=SimpleNamespace(is_initialized=lambda: started),
            process_index=lambda: 0 if not sent else 1,
            process_count=process_count,
        )


def test_jax_is_used_where_its_processes_run(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")
    for name in LAUNCHER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)
    # What process 0 sends is what process 1 gets, whatever it has itself, in arrays of equal shapes.
    sent: list[Any] = []
    places: list[str] = []

    def broadcast(array: Any) -> Any:
        if jax.process_index() == 0:
            outbox.append(array)
            return array
        got = sent.pop(0)
        assert (array.shape, array.dtype) == (got.shape, got.dtype) or array.shape == ()
        return got

    outbox: list[Any] = []
    multihost = ModuleType("jax.experimental.multihost_utils")
    multihost.__dict__.update(broadcast_one_to_all=broadcast, sync_global_devices=places.append)
    jax = FakeJax(True, 2, sent)
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.experimental.multihost_utils", multihost)
    found = DetectedRanks()
    for value in (7, None, True, "refused: größer"):
        assert (found.rank, found.size, found.connected, found.share(value)) == (0, 2, True, value)
        assert all(isinstance(array, numpy.ndarray) for array in outbox)
        sent, outbox = outbox, []
        jax.__dict__["process_index"] = lambda: 1
        assert (found.rank, found.share("something else")) == (1, value)
        jax.__dict__["process_index"] = lambda: 0
    found.barrier()
    assert places == ["mlsub"]


def test_jax_is_not_started_by_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number of processes is known only once it runs, and then its processes could not be set up any more."""
    jax = FakeJax(False, 2, [])
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert not DetectedRanks().connected
    assert jax.asked == 0
    alone = FakeJax(True, 1, [])
    monkeypatch.setitem(sys.modules, "jax", alone)
    assert not DetectedRanks().connected
    # An old JAX cannot be asked.
    del jax.distributed
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert not DetectedRanks().connected


def test_nothing_is_imported_that_is_not_there() -> None:
    """In a process of its own, for other tests may import frameworks."""
    frameworks = "('torch', 'mpi4py', 'jax', 'keras')"
    probe = f"import sys, mlsub.emit.adapting; print([m for m in {frameworks} if m in sys.modules])"
    assert python(probe).stdout == "[]\n"
