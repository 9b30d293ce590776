"""How the power files of an entry must lie: the names, and as many nodes and switches in each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlsub.energy.model import RunPower
from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

_KINDS = (("node", "nodes"), ("sw", "switches"))


def numbers_of(names: Sequence[str], kind: str) -> list[int | None]:
    """The number in the name of each file of a kind; None where there is none."""
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
    """Whether the files of a kind are not numbered from 0 on, as the official checker has it."""
    numbers = numbers_of(run.names, kind)
    return any(number is None or not 0 <= number < len(numbers) for number in numbers)


def faults(runs: Sequence[RunPower]) -> frozenset[str]:
    """The results that the official power checker of v5.0 and later counts as noncompliant, by name without ending.

    It counts the nodes of the runs that have a folder in a list of their own, and then looks their places up among all
    runs: behind a run without a folder it names the one before. Runs of which one faults another are told apart in
    :func:`judge_structure`.
    """
    names = [run.result for run in runs]
    found = {run.result for run in runs if not run.there or any(misnumbered(run, kind) for kind, _ in _KINDS)}
    for kind, _ in _KINDS:
        counts = [len(numbers_of(run.names, kind)) for run in runs if run.there]
        usual = _usual(counts)
        found |= {names[place] for place, count in enumerate(counts) if count != usual}
    return frozenset(found)


def _usual(counts: Sequence[int]) -> int:
    """What most runs have; where several numbers are as frequent, the first."""
    return Counter(counts).most_common(1)[0][0] if counts else 0


def judge_structure(runs: Sequence[RunPower]) -> Iterator[Finding]:
    """Findings on names and numbers of files."""
    for run in runs:
        if not run.there:
            yield finding(
                "power.missing", run.path, "A run has no power measurements", expected=f"power/{run.result}/node_0.txt"
            )
            continue
        for kind, word in _KINDS:
            if misnumbered(run, kind):
                named = [name for name in run.names if name.startswith(kind)]
                yield finding(
                    "power.names",
                    run.path,
                    f"The files of the {word} are not numbered from 0 on",
                    expected=f"{kind}_0.txt" + (f" to {kind}_{len(named) - 1}.txt" if len(named) > 1 else ""),
                    actual=", ".join(named[:5]) + (", …" if len(named) > 5 else ""),
                )
    for kind, word in _KINDS:
        counts = {run.result: len(numbers_of(run.names, kind)) for run in runs if run.there}
        usual = _usual(list(counts.values()))
        for run in runs:
            if run.there and counts[run.result] != usual:
                yield finding(
                    "power.unequal",
                    run.path,
                    f"The run has another number of {word} than most runs of the entry",
                    expected=str(usual),
                    actual=str(counts[run.result]),
                )
