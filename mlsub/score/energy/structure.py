"""How the power files of an entry must lie: the names, and as many nodes and switches in each run."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.findings import Blocks, Finding, Kind, Severity
from mlsub.io.errors import reason_of
from mlsub.io.look import status_of
from mlsub.io.show import several
from mlsub.rules.catalogue import finding
from mlsub.score.energy.model import RunPower
from mlsub.score.energy.read import is_measurement

_KINDS = (("node", "nodes"), ("sw", "switches"))


def numbers_of(names: Iterable[str], kind: str) -> list[int | None]:
    """The number in the name of each file that the official checker takes for one of a kind; None where there is none.

    It takes all that begin with ``node`` or ``sw``, ``nodes_1_to_1.png`` as well.
    """
    found: list[int | None] = []
    for name in names:
        if name.startswith(kind):
            text = name.rpartition(".")[0] if "." in name[1:] else name
            try:
                found.append(int(text.split("_")[-1]))
            except ValueError:
                found.append(None)
    return found


def misnumbered(run: RunPower, kind: str) -> bool:
    """Whether the official checker faults how the files of a kind are numbered.

    It asks for numbers below the number of files, and does not see that one comes twice.
    """
    numbers = numbers_of(run.names, kind)
    return any(number is None or not 0 <= number < len(numbers) for number in numbers)


def faults(runs: Sequence[RunPower]) -> frozenset[str]:
    """The results that the official power checker of v5.0 and later counts as noncompliant, by name without ending."""
    found = {run.result for run in runs if not run.there or any(misnumbered(run, kind) for kind, _ in _KINDS)}
    return frozenset(found.union(*(blamed(runs, kind).values() for kind, _ in _KINDS)))


def crashes(runs: Sequence[RunPower], folder: Path, path: str) -> Iterator[Finding]:
    """What the official power checker of v5.0 and later ends in a traceback on, whatever run it is of."""
    if not any(run.there for run in runs):
        yield _crash(path, "It has no folder for any run", "power/result_<n>/ for each run")
    for run in runs:
        names = [name for kind, _ in _KINDS for name in run.names if numbers_of((name,), kind) == [None]]
        if not run.there:
            yield from _no_folder(run, folder / run.result)
        elif names:
            yield _crash(run.path, f"{several(names, 5)}: no number in the name", "node_<j>.txt and sw_<k>.txt")


def _no_folder(run: RunPower, place: Path) -> Iterator[Finding]:
    """The traceback on what is not a folder; the official checker takes for missing what it cannot look at."""
    try:
        found = status_of(place)
    except OSError as error:
        yield unreadable(run.path, reason_of(error))
        return
    if found is not None and not stat.S_ISDIR(found.st_mode):
        yield _crash(run.path, "It is not a folder", f"a folder power/{run.result}")


def unreadable(path: str, reason: str) -> Finding:
    """The finding on a power file, or a folder of them, that cannot be read."""
    return finding("power.unreadable", path, f"It cannot be read: {reason}")


def _crash(path: str, actual: str, expected: str) -> Finding:
    message = "The official checker ends with a traceback on these power measurements"
    return finding("official.crash", path, message, expected=expected, actual=actual)


def blamed(runs: Sequence[RunPower], kind: str) -> dict[str, str]:
    """For each result that has another number of files of a kind than most: the result that is counted for it.

    The official checker counts the files of the runs that have a folder in a list of their own, and then looks their
    places up among all runs: behind a run without a folder it names one that comes before.
    """
    there = [run for run in runs if run.there]
    usual = usual_count(runs, kind)
    return {
        run.result: named.result
        for run, named in zip(there, runs, strict=False)
        if len(numbers_of(run.names, kind)) != usual
    }


def usual_count(runs: Iterable[RunPower], kind: str) -> int:
    """How many files of a kind most runs have; where several numbers are as frequent, the first."""
    counts = Counter(len(numbers_of(run.names, kind)) for run in runs if run.there)
    return counts.most_common(1)[0][0] if counts else 0


def judge_structure(runs: Sequence[RunPower], *, checked: bool) -> Iterator[Finding]:
    """Findings on names and numbers of files.

    Args:
        runs: those of the entry.
        checked: whether the official checker of the round looks; else what it would fault is for the auditor to say.
    """
    for found in (*_each(runs), *_unequal(runs)):
        yield found if checked else as_audit(found)
    for run in runs:
        yield from _unseen(run)


def as_audit(found: Finding) -> Finding:
    """The finding where no official tool says it."""
    return msgspec.structs.replace(found, kind=Kind.REVIEW, severity=Severity.WARNING, blocks=Blocks.NONE)


def _each(runs: Iterable[RunPower]) -> Iterator[Finding]:
    for run in runs:
        if not run.there:
            yield finding(
                "power.missing",
                run.path,
                expected=f"power/{run.result}/node_0.txt",
                actual=f"it cannot be read: {run.unreadable[0][1]}" if run.unreadable else None,
            )
            yield from (unreadable(run.path, reason) for _, reason in run.unreadable)
            continue
        for kind, word in _KINDS:
            if misnumbered(run, kind):
                yield _misnumbered(run, kind, word, [name for name in run.names if name.startswith(kind)])


def _misnumbered(run: RunPower, kind: str, word: str, named: Sequence[str], more: str = "") -> Finding:
    return finding(
        "power.names",
        run.path,
        f"The files of the {word} are not numbered from 0{more}",
        expected=f"{kind}_0.txt" + (f" to {kind}_{len(named) - 1}.txt" if len(named) > 1 else ""),
        actual=several(named, 5),
    )


def _unequal(runs: Sequence[RunPower]) -> Iterator[Finding]:
    for kind, word in _KINDS:
        usual = usual_count(runs, kind)
        counted_for = blamed(runs, kind)
        for run in runs:
            if run.result in counted_for:
                named = counted_for[run.result]
                other = "" if named == run.result else f"; the official checker counts {named} for it"
                yield finding(
                    "power.unequal",
                    run.path,
                    f"The run has a different number of {word} than most runs of the entry",
                    expected=str(usual),
                    actual=f"{len(numbers_of(run.names, kind))}{other}",
                )


def _unseen(run: RunPower) -> Iterator[Finding]:
    """What the official checker passes over: numbers that other files hide, numbers twice, files of another kind."""
    for kind, word in _KINDS:
        named = [name for name in run.names if is_measurement(name, kind)]
        numbers = sorted(number for number in numbers_of(named, kind) if number is not None)
        if not misnumbered(run, kind) and numbers != list(range(len(named))):
            yield as_audit(_misnumbered(run, kind, word, named, ", and the official checker does not see it"))
    others = [name for name in run.names if not any(is_measurement(name, kind) for kind, _ in _KINDS)]
    if others:
        counted = sum(name.startswith(tuple(kind for kind, _ in _KINDS)) for name in others)
        yield finding(
            "power.strays",
            run.path,
            "There are other files among the power files",
            expected="only node_<j>.txt and sw_<k>.txt",
            actual=several(others, 5) + (f"; the official checker counts {counted} as measurements" if counted else ""),
        )
