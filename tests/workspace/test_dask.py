"""A Dask cluster answers what one process answers, or it is not used: a real scheduler, and workers that are killed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mlsub.io import MlsubError
from mlsub.rounds import get_round
from mlsub.workspace import Context, check_paths
from mlsub.workspace import cache as caches
from mlsub.workspace.cache import Cache
from mlsub.workspace.executors import open_pool
from mlsub.workspace.logs import logs_job
from mlsub.workspace.reading import judge_logs
from mlsub.workspace.schedule import read_logs
from tests.workspace.dask_servers import NO_DASK, Server, Servers
from tools.support.corpus import CORPUS
from tools.support.effort import LONG
from tools.support.make_tree import make_tree
from tools.support.runner import run as run_mlsub

pytestmark = pytest.mark.slow
SOME = ("v0.7/SIAT", "v5.1/MiTAC")


def executor(scheduler: Server) -> str:
    return scheduler.address.replace("tcp", "dask")


@pytest.mark.parametrize("most", [0, 1 << 30], ids=["chunks", "packages"])
def test_a_cluster_answers_what_one_process_answers(
    most: int, cluster: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = [make_tree(tmp_path, benchmarks=("resnet", "unet3d")).folder]
    paths = ([CORPUS] if LONG else [CORPUS / name for name in SOME]) if CORPUS.is_dir() else tree
    monkeypatch.setattr(caches, "SETTLED_NS", -(10**18))
    monkeypatch.setattr("mlsub.workspace.schedule.most_in_one", lambda *_: most)
    alone = check_paths(paths, Context(jobs=1))
    assert check_paths(paths, Context(executor=executor(cluster))) == alone
    for _ in range(2):
        cache = Cache(tmp_path / "cache")
        assert check_paths(paths, Context(executor=executor(cluster), cache=cache)) == alone
    assert cache.asked["packages"] == cache.reused["packages"] or most == 1 << 30
    assert capfd.readouterr().err == ""


def test_single_logs_are_read_there_too(cluster: Server, tmp_path: Path) -> None:
    files = sorted(make_tree(tmp_path).folder.rglob("result_*.txt"))
    context = Context(executor=executor(cluster))
    job = logs_job(files, tmp_path, get_round("training", "1.0"), context.request)
    assert read_logs([job], context) == [tuple(judge_logs(job, job.logs))]


@pytest.mark.parametrize(
    ("kind", "message"), [("old", r"has mlsub 0\.1\.0, Python .*; all need mlsub"), ("bare", r"has no known version")]
)
def test_a_worker_that_differs_is_named_and_nothing_is_checked(
    kind: str, message: str, dask: Servers, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path)
    with dask.cluster("worker", kind) as (scheduler, *_), pytest.raises(MlsubError, match=message):
        check_paths([tree.folder], Context(executor=executor(scheduler)))


def test_who_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason=NO_DASK)
    monkeypatch.setattr("mlsub.workspace.executors.SCHEDULER_S", 0.5)
    tree = make_tree(tmp_path)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        outcome = run_mlsub("check", tree.folder, "--executor", f"dask://127.0.0.1:{port}")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert f"No Dask scheduler answers at tcp://127.0.0.1:{port}: " in outcome.stderr


def test_a_cluster_without_workers_is_named(dask: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.workspace.executors.WORKER_S", 0.2)
    tree = make_tree(tmp_path)
    with dask.cluster() as (scheduler,), pytest.raises(MlsubError, match=r"No worker joined .* within 0\.2 s"):
        check_paths([tree.folder], Context(executor=executor(scheduler)))


def _die(_: int) -> None:
    os._exit(9)


def test_work_that_kills_its_workers_is_an_error(dask: Servers) -> None:
    with dask.cluster("worker", "worker", "worker") as (scheduler, *_):  # noqa: SIM117
        with (
            pytest.raises(MlsubError, match="Workers of the Dask cluster died"),
            open_pool(Context(executor=executor(scheduler)), 0) as pool,
        ):
            pool.executor.submit(_die, 1).result()


@pytest.mark.long
def test_a_worker_that_dies_costs_no_answer(dask: Servers) -> None:
    with (
        dask.cluster("worker", "worker") as (scheduler, first, _),
        open_pool(Context(executor=executor(scheduler)), 0) as pool,
    ):
        assert pool is not None
        results = (one.result() for one in [pool.executor.submit(_square, number) for number in range(200)])
        found = [next(results)]
        first.kill()
        assert found + list(results) == [number * number for number in range(200)]


def _square(number: int) -> int:
    return number * number
