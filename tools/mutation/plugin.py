"""What pytest does in the copy: record which test runs which mutant, or try mutants with the tests that run them.

``MUTATION_RECORD`` names a folder for records, one file a worker. ``MUTATION_TRY`` names the folder of a gate: this
process collects the tests once, and then forks for each mutant that no other process has taken. A mutant that already
runs while tests are collected is tried in a process of its own, which ``MUTATION_ONLY`` gives its number.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.runner import runtestprotocol

#: Seconds for a test, and as many times its cost, after which a mutant counts as one that hangs.
_PATIENCE, _TIMES = 60.0, 40.0
_MEMORY = 6 << 30
#: Standard output as it is before pytest captures it.
_STDOUT = os.dup(1)
_KILLED = ", killed by signal "

#: Names of tests with their costs, in CPU seconds.
Tests = tuple[tuple[str, float], ...]


class MutantTests(msgspec.Struct, frozen=True):
    """A mutant to try, and the tests that run it, cheapest first, with their costs; fresh: in a process of its own."""

    number: int
    identity: str
    tests: Tests
    fresh: bool


def _switch() -> Any:
    """Return the module that only the copy has."""
    return importlib.import_module("mlsub._switch")


def _cpu_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Recording:
    """Write a line for each test: its name, its cost, whether it passes, and the mutants that it runs."""

    def __init__(self, folder: Path) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self._runs = folder / f"runs-{worker}"
        self._lines = (folder / f"tests-{worker}.jsonl").open("w", buffering=1)
        self._failed = False
        os.environ["MLSUB_MUTATION_RUNS"] = str(self._runs)
        _switch().tests = os.getpid()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._runs.unlink(missing_ok=True)
        _switch().ran.clear()
        self._failed, before = False, _cpu_seconds()
        try:
            return (yield)
        finally:
            elsewhere = map(int, self._runs.read_text().split()) if self._runs.exists() else ()
            line = {"test": item.nodeid, "cost": round(_cpu_seconds() - before, 4), "passes": not self._failed}
            self._lines.write(json.dumps({**line, "runs": sorted({*_switch().ran, *elsewhere})}) + "\n")

    def pytest_collection_finish(self) -> None:
        with (self._runs.parent / "runs-collection").open("a") as stream:
            stream.writelines(f"{number}\n" for number in _switch().ran)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed


class Trying:
    """Try mutants in the place of running the tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs = msgspec.json.decode((folder / "jobs.json").read_bytes(), type=list[MutantTests])
        #: Tests that were seen to pass here without any mutant.
        self._sound: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        only = os.environ.get("MUTATION_ONLY")
        if only is not None:
            [job] = (job for job in self._jobs if job.number == int(only))
            left = int(os.environ["MUTATION_FROM"])
            os._exit(self._run(job.tests[left:], items, session, _STDOUT, "tries: "))
        for job in self._jobs:
            if self._take(job):
                noticed = self._noticed(job, items, session)
                line = json.dumps({"identity": job.identity, "tried": len(job.tests), "killed_by": noticed}) + "\n"
                with (self._folder / "results.jsonl").open("a") as results:
                    results.write(line)
        return True

    def _noticed(self, job: MutantTests, items: dict[str, Any], session: pytest.Session) -> str | None:
        """Return the first test that fails with the mutant and passes here without it; None where none does."""
        names = [test for test, _ in job.tests]
        first = 0
        while first < len(names):
            tests = job.tests[first:]
            died = self._fresh(job, first) if job.fresh else self._forked(tests, items, session, job.number)
            test = None if died is None else died.partition(_KILLED)[0]
            if test is None or test not in names or test in self._sound:
                return died
            at = names.index(test)
            if self._forked(job.tests[at : at + 1], items, session) is None:
                self._sound.add(test)
                return died
            first = at + 1
        return None

    def _take(self, job: MutantTests) -> bool:
        try:
            (self._folder / "taken" / job.identity).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _forked(
        self, tests: Tests, items: dict[str, Any], session: pytest.Session, mutant: int | None = None
    ) -> str | None:
        """Run tests in a copy of this process."""
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.setsid()
            if mutant is not None:
                _switch().active = mutant
                os.environ["MLSUB_MUTANT"] = str(mutant)
            os._exit(self._run(tests, items, session, writing))
        os.close(writing)
        with os.fdopen(reading) as stream:
            begun = stream.read().split("\n")
        _, status = os.waitpid(process, 0)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        return _ended(begun, os.waitstatus_to_exitcode(status))

    def _fresh(self, job: MutantTests, first: int) -> str | None:
        """Run the tests from one on in a process that imports everything anew."""
        files = sorted({test.partition("::")[0] for test, _ in job.tests[first:]})
        words = (sys.executable, "-m", "pytest", "-p", "tools.mutation.plugin", "-p", "no:cacheprovider", *files)
        more = {"MLSUB_MUTANT": str(job.number), "MUTATION_ONLY": str(job.number), "MUTATION_FROM": str(first)}
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
            env=os.environ | more, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                printed = process.communicate(timeout=_PATIENCE * 60)[0]
            except subprocess.TimeoutExpired:
                printed = ""
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        begun = [line.removeprefix("tries: ") for line in printed.split("\n") if line.startswith("tries: ")]
        return _ended(begun, process.returncode)

    def _run(self, tests: Tests, items: dict[str, Any], session: pytest.Session, tell: int, mark: str = "") -> int:
        """Run tests until one fails; 1 where one does. The name of each is told before it begins."""
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        quiet = os.open(os.devnull, os.O_RDWR)
        tell = os.dup(tell)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        place = self._folder / f"tmp-{os.getpid()}"
        place.mkdir()
        session.config._tmp_path_factory._basetemp = place  # type: ignore[attr-defined]
        chosen = [(items[test], cost) for test, cost in tests if test in items]
        try:
            for at, (item, cost) in enumerate(chosen):
                os.write(tell, f"\n{mark}{item.nodeid}\n".encode())
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, _PATIENCE + _TIMES * cost)
                following = chosen[at + 1][0] if at + 1 < len(chosen) else None
                if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                    return 1
                signal.setitimer(signal.ITIMER_REAL, 0)
        except BaseException:
            return 1
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return 0


def _ended(begun: list[str], status: int) -> str | None:
    """Return the test in which a process ended with a failure or by a signal; None where all passed."""
    if status == 0:
        return None
    name = next((test for test in reversed(begun) if test), "collection")
    return name if status > 0 else f"{name}{_KILLED}{-status}"


def pytest_configure(config: pytest.Config) -> None:
    """Register what the environment asks for."""
    if "MUTATION_RECORD" in os.environ:
        if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
            config.pluginmanager.register(Recording(Path(os.environ["MUTATION_RECORD"])))
    elif "MUTATION_TRY" in os.environ:
        config.pluginmanager.register(Trying(Path(os.environ["MUTATION_TRY"])))
