"""A Dask cluster answers what one process answers, or it is not used: a real scheduler, and workers that are killed."""

from __future__ import annotations

import importlib.util
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.io.errors import MlsubError
from mlsub.judge.log import LogTask
from mlsub.log.report import LogReport
from mlsub.workspace import Settings, check_paths, schedule
from mlsub.workspace.executors import executor_of, on_worker
from mlsub.workspace.executors.base import Tree
from mlsub.workspace.executors.batches import Work
from mlsub.workspace.executors.cluster import Cluster
from mlsub.workspace.executors.dask import DaskExecutor, Patience
from mlsub.workspace.executors.local import LocalExecutor
from mlsub.workspace.executors.looks import first_file, look_below
from mlsub.workspace.logs import crashed, in_order, judge_safely
from mlsub.workspace.memory import Memory, states
from mlsub.workspace.places import AS_FOUND
from tests.commands.runner import run as run_mlsub
from tests.corpus import CORPUS
from tests.effort import HUNG, LONG
from tests.make_tree import make_tree
from tests.workspace.dask_servers import Server, Servers, servers

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed"
)
SOME = ("v0.7/SIAT", "v5.1/MiTAC")
PATIENCE = Patience(scheduler=HUNG, worker=HUNG, gone=0.5)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with servers(tmp_path_factory.mktemp("dask")) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(start: Servers) -> Iterator[Server]:
    """The scheduler of two workers, which nobody may kill."""
    with start.cluster("worker", "worker") as (scheduler, *_):
        yield scheduler


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[LogTask]:
    """Forty logs, in five or so batches."""
    tree = make_tree(tmp_path_factory.mktemp("tree"), benchmarks=("unet3d",)).folder
    files = sorted(tree.rglob("result_*.txt"))
    return [LogTask(str(file), file.relative_to(tree).as_posix(), "training", "1.0") for file in files]


@pytest.fixture(autouse=True)
def small_batches_and_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.workspace.executors.dask.Patience", lambda: PATIENCE)
    monkeypatch.setattr("mlsub.workspace.executors.cluster._ASK_S", HUNG)
    monkeypatch.setattr("mlsub.workspace.executors.batches._LEAST_BYTES", 1 << 14)
    monkeypatch.setattr("mlsub.workspace.executors.dask._EVERY", 0.1)
    monkeypatch.setattr("mlsub.workspace.executors.cluster.FETCH_S", HUNG)


def run(scheduler: Server, tasks: list[LogTask], work: Callable[[LogTask], Any] = judge_safely) -> list[Any]:
    return in_order(DaskExecutor(scheduler.address, PATIENCE).run(work, tasks))


def here(tasks: list[LogTask]) -> list[LogReport]:
    return list(map(judge_safely, tasks))


def _dies(marker: str, times: int, task: LogTask) -> LogReport:
    """Judge a log, unless it is the seventh, over which so many workers die."""
    if task.path.endswith("result_7.txt") and os.getpid() != int(Path(marker).name):
        with Path(marker).open("a") as deaths:
            if deaths.tell() < times:
                deaths.write("x")
                deaths.flush()
                os._exit(9)
    return judge_safely(task)


def dying(folder: Path, times: int) -> Callable[[LogTask], LogReport]:
    return partial(_dies, str(folder / str(os.getpid())), times)


def test_a_cluster_answers_what_one_process_answers(
    cluster: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if CORPUS.is_dir():
        paths = [CORPUS] if LONG else [CORPUS / name for name in SOME]
    else:
        paths = [make_tree(tmp_path, benchmarks=("resnet", "unet3d")).folder]
    far = cluster.address.replace("tcp", "dask")
    monkeypatch.setattr(states, "SETTLED_NS", -(10**18))

    def answer(executor: str, cache: str | None = None) -> bytes:
        memory = Memory(tmp_path / cache) if cache else None
        return msgspec.json.encode(check_paths(paths, Settings(executor=executor, memory=memory)))

    assert answer("local:1") == answer("local:2") == answer(far)
    # What the cluster read is remembered here, and nothing is left to send.
    assert answer(far, "there") == answer("dask://127.0.0.1:1", "there") == answer("local:1")
    assert capfd.readouterr() == ("", "")


def test_what_a_worker_cannot_read_is_read_here(
    cluster: Server, tasks: list[LogTask], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(cluster, tasks, partial(_fails, os.getpid())) == here(tasks)
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("mlsub: 1 of 40 logs are read on this machine: worker tcp://")
    assert line.endswith(" cannot read them as this machine can.")


def _fails(parent: int, task: LogTask) -> LogReport:
    if task.path.endswith("result_7.txt") and os.getpid() != parent:
        return crashed(task, "MemoryError")
    return judge_safely(task)


def test_a_batch_whose_worker_dies_is_read_by_another_one(
    start: Servers, tasks: list[LogTask], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with start.cluster("worker", "worker") as (scheduler, *_):
        assert run(scheduler, tasks, dying(tmp_path, 1)) == here(tasks)
    assert (tmp_path / str(os.getpid())).read_text() == "x"
    assert capfd.readouterr() == ("", "")


def test_a_batch_over_which_workers_die_is_read_here(
    start: Servers, tasks: list[LogTask], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with start.cluster("worker", "worker", "worker") as (scheduler, *_):
        assert run(scheduler, tasks, dying(tmp_path, 2)) == here(tasks)
    assert (tmp_path / str(os.getpid())).read_text() == "xx"
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("mlsub: ") and line.endswith(" logs are read on this machine: workers died over them.")


@pytest.mark.parametrize("killed", ["worker", "scheduler"])
def test_what_a_cluster_leaves_when_it_goes_is_read_here(
    start: Servers,
    tasks: list[LogTask],
    killed: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mlsub.workspace.executors.cluster.FETCH_S", 2.0)
    with start.cluster("worker") as (scheduler, worker):
        found = DaskExecutor(scheduler.address, PATIENCE).run(judge_safely, tasks)
        first = next(found)
        (worker if killed == "worker" else scheduler).kill()
        assert in_order([first, *found]) == here(tasks)
    [line] = capfd.readouterr().err.splitlines()
    assert "logs are read on this machine: " in line
    assert ("no worker of the cluster is left" in line) == (killed == "worker")


@pytest.mark.parametrize(
    ("kind", "problem"),
    [("old", "has mlsub 0.1.0 instead of "), ("bare", "has no mlsub"), ("blind", "cannot read ")],
)
def test_a_worker_that_differs_is_refused_by_name(
    start: Servers,
    tasks: list[LogTask],
    kind: str,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with start.cluster("worker", kind) as (scheduler, _, other):
        with pytest.raises(MlsubError) as refused:
            run(scheduler, tasks)
        first, needed = refused.value.lines
        assert first.startswith(f"Worker {other.address} {problem}")
        assert needed.endswith("Nothing was checked.")
        # It joins when the others have been asked: it gets no work, or its work is done again.
        monkeypatch.setattr(Cluster, "admit", lambda self, wait_s: None)
        assert run(scheduler, tasks) == here(tasks)
    capfd.readouterr()
    with start.cluster(kind) as (scheduler, other):
        assert run(scheduler, tasks) == here(tasks)
        left_out, rest = capfd.readouterr().err.splitlines()
        assert left_out.startswith(f"mlsub: Worker {other.address} {problem}")
        assert left_out.endswith(", and gets no work.")
        assert rest.startswith("mlsub: 40 of 40 logs are read on this machine: ")


def test_ctrl_c_ends_the_command_and_what_it_has_begun(
    cluster: Server, tasks: list[LogTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mlsub.workspace.executors.dask._next", interrupted)
    tree = tasks[0].file.removesuffix(tasks[0].path)
    done = run_mlsub("check", tree, "--executor", cluster.address.replace("tcp", "dask"), "--no-cache")
    assert (done.status, done.stdout, done.stderr.strip()) == (130, "", "")
    with Client(cluster.address, set_as_default=False) as client:
        until = time.monotonic() + HUNG
        while client.run_on_scheduler(_tasks_left):
            assert time.monotonic() < until


def _tasks_left(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def test_rules_of_ones_own_go_along_and_may_change(cluster: Server, tasks: list[LogTask], tmp_path: Path) -> None:
    overlay = tmp_path / "house.yaml"
    ruled = [msgspec.structs.replace(task, overlay=str(overlay)) for task in tasks[:3]]
    found = []
    for least in (1, 10**9):
        overlay.write_text(f"title: House\ncommon:\n  '1.0':\n    both:\n      seed: {{above: {least}}}\n")
        found.append(run(cluster, ruled))
    assert [[one.rule for one in report.findings if one.rule.startswith("house.")] for report in found[0]] != [
        [one.rule for one in report.findings if one.rule.startswith("house.")] for report in found[1]
    ]


def test_a_log_that_a_worker_sees_differently_is_left_to_the_caller(tasks: list[LogTask], tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(Path(tasks[0].file).read_bytes())
    work = Work(judge_safely, [msgspec.structs.replace(tasks[0], file=str(file)), tasks[1]])
    packed = work.packed((0, 1))
    assert [len(one) for one in unpacked(packed)] == [1, 1]
    with file.open("a") as log:
        log.write("more\n")
    assert [len(one) for one in unpacked(packed)] == [0, 1]


def unpacked(packed: bytes) -> list[tuple[LogReport, ...]]:
    import pickle

    address, differences, results = on_worker.run_batch(on_worker.identity(), packed)
    assert (address, differences) == ("", [])
    return pickle.loads(results)  # noqa: S301


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """An organisation's package."""
    return next(iter((make_tree(tmp_path / "tree", benchmarks=("resnet",)).folder).rglob("results"))).parent


def sent(package: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a cluster is asked to do for a package."""
    found: list[Any] = []

    def run(self: DaskExecutor, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        found.extend(tasks)
        yield from LocalExecutor(1).run(work, tasks)

    monkeypatch.setattr(DaskExecutor, "run", run)
    monkeypatch.setattr("mlsub.workspace.shares.most_in_one", lambda weight, processes: weight)
    monkeypatch.setattr("mlsub.workspace.schedule.most_in_one", lambda weight, processes: weight)
    check_paths([package], msgspec.structs.replace(settings, executor="dask://127.0.0.1:1"))
    return found


def test_a_package_goes_whole_where_it_rests_on_its_own_files_alone(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = tmp_path / "house.yaml"
    overlay.write_text("title: House\ncommon:\n  '1.0':\n    both:\n      seed: {above: 1}\n")
    [whole] = sent(package, AS_FOUND, monkeypatch)
    assert isinstance(whole, Tree) and (whole.folder, whole.logs) == (str(package), 5)
    for settings in (Settings(memory=Memory(tmp_path / "cache")), Settings(overlay=str(overlay))):
        assert all(isinstance(task, LogTask) for task in sent(package, settings, monkeypatch))
    part = next(iter(package.rglob("result_0.txt"))).parent
    assert all(isinstance(task, LogTask) for task in sent(part, AS_FOUND, monkeypatch))


def test_a_package_that_a_worker_sees_differently_is_left_to_the_caller(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [whole] = sent(package, AS_FOUND, monkeypatch)
    work = Work(str, [whole])
    assert list(work.cut(1)) == [(0,)] and work.logs([0]) == 5
    assert [Path(file).is_file() for file, *_ in work.probes()] == [True]
    assert unpacked(work.packed((0,))) == [(str(whole),)]
    (package / "README.md").write_text("more")
    assert unpacked(work.packed((0,))) == [()]


def test_what_a_worker_could_not_judge_is_left_to_the_caller(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [whole] = sent(package, AS_FOUND, monkeypatch)
    assert unpacked(Work(_nothing, [whole]).packed((0,))) == [()]
    monkeypatch.setattr("mlsub.workspace.schedule.judge_safely", partial(crashed, problem="MemoryError"))
    monkeypatch.setattr("mlsub.workspace.logs.judge_safely", partial(crashed, problem="MemoryError"))
    assert unpacked(Work(schedule._do, [whole]).packed((0,))) == [()]


def _nothing(task: object) -> None:
    return None


def test_machines_that_see_the_same_files_see_the_same_folder(tmp_path: Path) -> None:
    for name in ("here", "there"):
        inner = tmp_path / name / "a" / "b"
        inner.mkdir(parents=True)
        (inner / "log").write_text("x")
        (inner.parent / "link").symlink_to("b/log")
        (inner.parent / "broken").symlink_to("nowhere")
        (inner / "circle").symlink_to("..")
        os.utime(inner / "log", (5, 5.5))
    here, there = str(tmp_path / "here"), tmp_path / "there"
    first = look_below(here)
    assert first is not None and (first.size, first.changed) == (2, 5) and look_below(str(there)) == first
    log = there / "a" / "b" / "log"
    os.utime(log, (5, 5.25))
    assert look_below(str(there)) == first

    def changes() -> Iterator[None]:
        yield os.utime(log, (5, 6))
        yield log.chmod(0o755)
        (there / "a" / "link").unlink()
        yield (there / "a" / "link").symlink_to("b/../b/log")
        yield (there / "a" / "broken").unlink()
        yield (there / "a" / "empty").mkdir()

    seen = [first, *(look_below(str(there)) for _ in changes())]
    assert None not in seen and len(set(map(repr, seen))) == len(seen)
    assert look_below(str(tmp_path / "none")) is None and first_file(str(tmp_path / "none")) is None
    assert first_file(here) == str(tmp_path / "here" / "a" / "link")


def test_what_is_no_regular_file_here_is_left_to_this_machine(tasks: list[LogTask], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    odd = [msgspec.structs.replace(tasks[0], file=str(tmp_path / name)) for name in ("pipe", "none", "a\0b")]
    work = Work(judge_safely, [odd[0], tasks[0], (), *odd[1:], tasks[1]])
    assert [index for batch in work.cut(1) for index in batch] == [1, 5]
    assert [file for file, *_ in work.probes()] == [tasks[0].file, tasks[1].file]


def test_a_worker_of_another_kind_runs_nothing() -> None:
    own = on_worker.identity()
    other = {**own, "code": "0" * 64}
    assert on_worker.run_batch(other, b"") == ("", [f"has other code of mlsub {own['mlsub']}"], b"")
    assert on_worker.differences({**own, "Python": "3.10", "msgspec": "0"}, []) == [
        f"has Python {own['Python']} instead of 3.10",
        f"has msgspec {own['msgspec']} instead of 0",
    ]
    assert on_worker.differences(own, []) == []


def test_an_installation_after_the_start_of_a_worker_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = on_worker.loaded()
    monkeypatch.setattr(on_worker, "content_digest", lambda: "0" * 64)
    assert on_worker.differences(expected, []) == ["is older than the installation of mlsub; restart it"]


def failure(address: str, patience: Patience) -> str:
    task = LogTask(__file__, "log", "training", "1.0")
    with pytest.raises(MlsubError) as refused:
        list(DaskExecutor(address, patience).run(judge_safely, [task]))
    return str(refused.value)


def test_where_no_scheduler_answers(tasks: list[LogTask], capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        silent = f"No Dask scheduler answers at {address}: no answer within 0.2 s."
        assert failure(address, Patience(scheduler=0.2)) == silent

        def chat() -> None:
            """Answer whoever has connected, those that waited in vain as well."""
            while True:
                try:
                    connection = taken.accept()[0]
                except OSError:
                    return
                with suppress(OSError), connection:
                    connection.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n" * 9)

        chatting = threading.Thread(target=chat, daemon=True)
        chatting.start()
        assert "this version of Dask cannot talk to what listens there" in failure(address, PATIENCE)
        taken.shutdown(socket.SHUT_RDWR)
        chatting.join(HUNG)
    refused = f"No Dask scheduler answers at {address}: Connection refused."
    assert failure(address, PATIENCE) == refused
    assert capfd.readouterr() == ("", "")
    tree = tasks[0].file.removesuffix(tasks[0].path)
    done = run_mlsub("check", tree, "--executor", f"dask://127.0.0.1:{port}", "--no-cache")
    assert (done.status, done.stdout, done.stderr) == (2, "", f"mlsub check: {refused}\n")


def test_a_scheduler_without_workers(start: Servers) -> None:
    with start.cluster() as (scheduler,):
        expected = f"No worker joined the scheduler at {scheduler.address} within 0.1 s."
        assert failure(scheduler.address, Patience(scheduler=60, worker=0.1)) == expected


def test_nothing_to_do_needs_no_cluster() -> None:
    assert list(DaskExecutor("tcp://127.0.0.1:1").run(judge_safely, [])) == []


def test_names_of_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    for words, address in {
        "dask://head:8786": "tcp://head:8786",
        "dask://[fe80::1]:8786": "tcp://[fe80::1]:8786",
        "dask+tls://10.0.0.1:8786": "tls://10.0.0.1:8786",
    }.items():
        executor = executor_of(words, None)
        assert isinstance(executor, DaskExecutor) and executor.address == address
    for words in ("dask://", "dask://head", "dask://head:0", "dask://head:99999", "dask://head:8786/x", "dask://a b:1"):
        with pytest.raises(MlsubError, match="Use dask://HOST:PORT"):
            executor_of(words, None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MlsubError, match=r"pip install '\.\[dask\]'"):
        executor_of("dask://head:8786", None)
