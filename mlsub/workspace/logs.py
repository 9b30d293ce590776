"""Read many logs, each by a pure function, in as many processes as pay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rules.catalogue import finding
from mlsub.workspace.executors.base import Executor
from mlsub.workspace.memory import Memory
from mlsub.workspace.memory.logs import REPORTS, Form, Shelves
from mlsub.workspace.places import Settings
from mlsub.workspace.shares import executor_for, shares, weight_of

Found = TypeVar("Found")


def read_logs(tasks: Sequence[LogTask], settings: Settings) -> Iterator[tuple[int, LogReport]]:
    """The report of each log with the index of its task, as it comes; arguments as in :func:`map_logs`."""
    return map_logs(judge_safely, tasks, settings, REPORTS)


def map_logs(
    work: Callable[[LogTask], Found], tasks: Sequence[LogTask], settings: Settings, form: Form[Found]
) -> Iterator[tuple[int, Found]]:
    """What a function finds out about each log with the index of its task, as it comes: first what is remembered.

    Args:
        work: a function of a module that never raises, and whose results can be sent between processes.
        tasks: the logs.
        settings: in how many processes, and who is called with the number of logs done and the number of all.
        form: how results are remembered.
    """
    for done, pair in enumerate(_remembered(work, tasks, settings, form), 1):
        if settings.progress is not None:
            settings.progress(done, len(tasks))
        yield pair


def _remembered(
    work: Callable[[LogTask], Found], tasks: Sequence[LogTask], settings: Settings, form: Form[Found]
) -> Iterator[tuple[int, Found]]:
    if settings.memory is None:
        yield from _read(work, tasks, settings)
        return
    left = dict.fromkeys(range(len(tasks)))
    with Shelves(settings.memory, tasks, form) as shelves:
        for index, found in shelves.recall():
            del left[index]
            yield index, found
        missing = list(left)
        for number, found in _read(work, [tasks[index] for index in missing], settings):
            shelves.keep(missing[number], found)
            yield missing[number], found


def judge_all(tasks: Sequence[LogTask], memory: Memory | None) -> list[LogReport]:
    """The reports of logs that are read one after the other."""
    if memory is None:
        return list(map(judge_safely, tasks))
    return in_order(read_logs(tasks, Settings(jobs=1, memory=memory)))


def _read(
    work: Callable[[LogTask], Found], tasks: Sequence[LogTask], settings: Settings
) -> Iterator[tuple[int, Found]]:
    if not tasks:
        return
    weights = [weight_of(task.file) for task in tasks]
    executor = executor_for(settings, sum(weights))
    yield from executor.run(work, tasks) if executor.far else _in_shares(work, tasks, weights, executor)


def _in_shares(
    work: Callable[[LogTask], Found], tasks: Sequence[LogTask], weights: Sequence[int], executor: Executor
) -> Iterator[tuple[int, Found]]:
    cut = shares(weights, executor.processes)
    for number, found in executor.run(partial(_each, work), [[tasks[index] for index in share] for share in cut]):
        yield from zip(cut[number], found, strict=True)


def in_order(found: Iterable[tuple[int, Found]]) -> list[Found]:
    """Results in the order of their tasks."""
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _each(work: Callable[[LogTask], Found], tasks: Sequence[LogTask]) -> list[Found]:
    return [work(task) for task in tasks]


def judge_safely(task: LogTask) -> LogReport:
    """Judge a log; a defect of ours becomes a finding, never a traceback and never a pass."""
    try:
        return judge_log(task)
    except Exception as error:
        return crashed(task, f"{type(error).__name__}: {error}"[:200])


def crashed(task: LogTask, problem: str) -> LogReport:
    """The report on a log that a rule of ours failed on: never compliant."""
    message = "A rule failed to run, so the log cannot be accepted"
    return LogReport(
        path=task.path,
        compliant=False,
        undecodable=True,
        benchmark=None,
        division=None,
        status=None,
        minutes=None,
        run=RunFold().finish(),
        findings=(finding("rule.crashed", task.path, message, actual=problem),),
    )
