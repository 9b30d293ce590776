"""``python -m tools.mutation``: try mutants with the tests that run them, and say which none of them notices."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import yaml

from tools.mutation import tree
from tools.mutation.plan import ROOMS, Mutant, chosen
from tools.mutation.plugin import MutantTests

REPOSITORY = Path(__file__).resolve().parents[2]
#: Of the mutants that are not equivalent; and of those, what ``make test`` alone notices of what all tests notice.
KILLED_AT_LEAST, BY_MAKE_TEST_AT_LEAST = 0.92, 0.97
#: The tests of one class of cost run in their own order, so that what a module prepares is prepared once.
_CLASSES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Not tests of behaviour: whether proofs belong to expressions, which any change of one breaks.
_PROOFS = "tests/tools/test_patterns.py::test_the_proofs_that_are_kept_are_those_of_the_expressions"
#: Tests that read constants of modules, and call none of their functions.
_OF_CONSTANTS = "tests/tools/test_limits.py::test_a_figure_is_that_of_the_code"
_TESTS = ("tests", "--ignore-glob=*/test_browser*.py", "--deselect", _PROOFS, "-p", "no:cacheprovider")


class RecordedTest(msgspec.Struct, frozen=True):
    """What was recorded of a test: cost in CPU seconds, those of its processes too, and the mutants that it runs."""

    test: str
    cost: float
    passes: bool
    runs: tuple[int, ...]


class MutantResult(msgspec.Struct, frozen=True):
    """What became of a mutant: how many tests run it, and the one that notices it."""

    identity: str
    tried: int
    killed_by: str | None


def equivalent() -> dict[str, str]:
    """Return the mutants that change nothing that anybody could see, with the reason."""
    rows = yaml.safe_load(Path(__file__).with_name("equivalent.yaml").read_text("utf-8")) or ()
    return {row["mutant"]: row["reason"] for row in rows}


def record(copy: Path, folder: Path, jobs: int) -> list[RecordedTest]:
    """Run all tests once, and return what each of them runs."""
    done = folder / "recorded"
    if not done.exists():
        environment = {"MUTATION_RECORD": str(folder), "MLSUB_TESTS": "all"}
        for file in folder.glob("runs-*"):
            file.unlink()
        with (folder / "recording.log").open("w") as log:
            _pytest(copy, environment, "-n", str(jobs), "--dist", "worksteal", stdout=log).wait()
        done.touch()
    lines = (line for file in folder.glob("tests-*.jsonl") for line in file.read_bytes().splitlines())
    return [msgspec.json.decode(line, type=RecordedTest) for line in lines]


def _pytest(copy: Path, environment: dict[str, str], *words: str, stdout: object) -> subprocess.Popen[bytes]:
    called = (sys.executable, "-m", "pytest", "-p", "tools.mutation.plugin", *_TESTS, *words)
    variables = _environment(copy) | environment
    return subprocess.Popen(called, cwd=copy, env=variables, stdout=stdout, stderr=subprocess.STDOUT)  # type: ignore[call-overload, no-any-return]


def _environment(copy: Path) -> dict[str, str]:
    """Return the environment of ``make test`` in the copy, with the first part of the tables."""
    variables = {name: value for name, value in os.environ.items() if name != "MLSUB_TESTS"}
    return variables | {"PYTHONPATH": str(copy), "SAMPLE": "0"}


def planned(mutants: Sequence[Mutant], tests: Iterable[RecordedTest], at_collection: set[int]) -> list[MutantTests]:
    """Return a job for each mutant, with the tests that run it, the cheapest first."""
    running: dict[int, list[tuple[int, str, float]]] = defaultdict(list)
    at_import = [-number - 1 for number, mutant in enumerate(mutants) if mutant.at_import]
    for one in tests:
        if one.passes:
            for number in {*one.runs, *(at_import if one.test.startswith(_OF_CONSTANTS) else ())}:
                running[number].append((sum(one.cost > limit for limit in _CLASSES), one.test, one.cost))
    jobs = []
    for number, mutant in enumerate(mutants):
        rows = sorted(running[-number - 1 if mutant.at_import else number])
        fresh = mutant.at_import or number in at_collection
        jobs.append(MutantTests(number, mutant.identity, tuple((test, cost) for _, test, cost in rows), fresh))
    return sorted(jobs, key=lambda job: (job.fresh, sum(cost for _, cost in job.tests)))


def attempt(
    copy: Path, folder: Path, jobs: list[MutantTests], workers: int, environment: dict[str, str]
) -> dict[str, MutantResult]:
    """Try the mutants that have no result yet."""
    taken, file = folder / "taken", folder / "results.jsonl"
    taken.mkdir(parents=True, exist_ok=True)
    (folder / "jobs.json").write_bytes(msgspec.json.encode(jobs))
    file.touch()
    found = {result.identity for result in _results(file)}
    for mark in taken.iterdir():
        if mark.name not in found:
            mark.unlink()
    processes = [
        _pytest(copy, {**environment, "MUTATION_TRY": str(folder)}, stdout=(folder / f"trying-{number}.log").open("w"))
        for number in range(workers)
    ]
    while any(process.poll() is None for process in processes):
        time.sleep(1)
        if sys.stderr.isatty():
            print(f"\r{len(_results(file))} of {len(jobs)} mutants tried", end="", file=sys.stderr, flush=True)
    return {result.identity: result for result in _results(file)}


def _results(file: Path) -> list[MutantResult]:
    return [msgspec.json.decode(line, type=MutantResult) for line in file.read_bytes().splitlines()]


def report(mutants: Sequence[Mutant], by_make_test: dict[str, MutantResult], by_all: dict[str, MutantResult]) -> bool:
    """Print a row for each room and a line for each survivor; return whether the gate holds."""
    reasons = equivalent()
    counts: dict[str, Counter[str]] = {room: Counter() for room in (*ROOMS, "all")}
    survivors: dict[str, list[str]] = {"equivalent": [], "survives": []}
    for mutant in mutants:
        first = by_make_test[mutant.identity]
        second = by_all.get(mutant.identity, first)
        if first.killed_by is not None:
            columns = ["killed", "by make test"]
        elif second.killed_by is not None:
            columns = ["killed"]
        else:
            tried = first.tried + second.tried
            kind = "equivalent" if mutant.identity in reasons else "survives"
            columns = [kind, *([] if tried else ["not run"])]
            where = f"{mutant.file}:{mutant.line} {mutant.kind} ({mutant.identity}, {tried} tests)"
            change = f"{_short(mutant.before)} -> {_short(mutant.after)}"
            survivors[kind].append(f"{where}: {change} {reasons.get(mutant.identity, '')}".rstrip())
        for room in (mutant.room, "all"):
            counts[room].update(["mutants", *columns])
    names = ("mutants", "killed", "by make test", "equivalent", "survives", "not run")
    print(" ".join([f"{'room':12}", *(f"{name:>12}" for name in names), "   score"]))
    for room, count in counts.items():
        of = count["mutants"] - count["equivalent"]
        figures = " ".join(f"{count[name]:12}" for name in names)
        print(f"{room:12} {figures} {count['killed'] / of if of else 1:8.1%}")
    for kind, lines in survivors.items():
        print("", f"{kind}:", *lines, sep="\n")
    everything = counts["all"]
    enough = everything["killed"] >= KILLED_AT_LEAST * (everything["mutants"] - everything["equivalent"])
    return enough and everything["by make test"] >= BY_MAKE_TEST_AT_LEAST * everything["killed"]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:45]} ... {line[-40:]}"


def quick_tests(copy: Path) -> set[str]:
    """Return the tests that ``make test`` runs."""
    words = (sys.executable, "-m", "pytest", *_TESTS, "--collect-only")
    done = subprocess.run(words, cwd=copy, env=_environment(copy), capture_output=True, text=True, check=False)
    return {line for line in done.stdout.splitlines() if "::" in line}


def main(words: Sequence[str] | None = None) -> int:
    """Run the gate; 1 where it does not hold, 2 where not all mutants were tried."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="mutants (300)")
    parser.add_argument("--seed", type=int, default=0, help="chooses others (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (one a core)")
    parser.add_argument("--room", choices=ROOMS, action="append", help="only mutants of this room")
    parser.add_argument("--list", action="store_true", help="list the mutants, and try none")
    options = parser.parse_args(words)
    mutants = chosen(REPOSITORY, options.count, options.seed)
    if options.list:
        for mutant in mutants:
            print(json.dumps(mutant._asdict()))
        return 0
    state = tree.digest(REPOSITORY)
    # The folder beside the copy is where the tests look for published packages.
    folder = REPOSITORY / "build" / "mutation" / f"{state[:12]}-{options.count}-{options.seed}"
    copy = folder / "copy"
    if not (folder / "written").exists():
        tree.write(REPOSITORY, copy, mutants, state)
        shared = REPOSITORY.parent / "shared"
        if shared.is_dir() and not (folder / "shared").exists():
            (folder / "shared").symlink_to(shared)
        (folder / "written").touch()
    tests = record(copy, folder, options.workers)
    at_collection = {int(line) for line in (folder / "runs-collection").read_text().split()}
    jobs = planned(mutants, tests, at_collection)
    if options.room:
        mutants = [mutant for mutant in mutants if mutant.room in options.room]
        wanted = {mutant.identity for mutant in mutants}
        jobs = [job for job in jobs if job.identity in wanted]
    quick = quick_tests(copy)
    first = [_with_tests(job, quick, among=True) for job in jobs]
    by_make_test = attempt(copy, folder / "make-test", first, options.workers, {})
    alive = {identity for identity, result in by_make_test.items() if result.killed_by is None}
    rest = [_with_tests(job, quick, among=False) for job in jobs if job.identity in alive]
    by_all = attempt(copy, folder / "all", rest, options.workers, {"MLSUB_TESTS": "all"})
    if len(by_make_test) < len(jobs) or len(by_all) < len(rest):
        print("Not all mutants were tried; the same command goes on where this one ended.", file=sys.stderr)
        return 2
    return 0 if report(mutants, by_make_test, by_all) else 1


def _with_tests(job: MutantTests, quick: set[str], *, among: bool) -> MutantTests:
    return msgspec.structs.replace(job, tests=tuple(row for row in job.tests if (row[0] in quick) is among))


if __name__ == "__main__":
    sys.exit(main())
