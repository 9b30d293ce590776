"""Which logs become the results of an entry, and in which order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.commands.pack.model import Manifest, ManifestEntry
from mlsub.commands.pack.start import run_started
from mlsub.commands.score.select import select_window
from mlsub.commands.score.select_runs import no_experiment, no_window, timed
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.rules.catalogue import finding
from mlsub.rules.load import Benchmark, benchmark
from mlsub.workspace.places import Settings
from mlsub.workspace.runs import find_runs, one_benchmark, read_runs

_WILD = frozenset("*?[")
#: What a pattern may match; more is a slip.
MAX_MATCHES = 10_000


class LeftOut(msgspec.Struct, frozen=True):
    """A file, or a folder with all it holds, that does not become part of the submission, and why."""

    path: Path
    why: str


class Chosen(msgspec.Struct, frozen=True):
    """The logs that become ``result_0.txt`` and on, how their order came about, and what is left out."""

    runs: tuple[Path, ...]
    how: str
    left_out: tuple[LeftOut, ...] = ()
    findings: tuple[Finding, ...] = ()


def choose_runs(manifest: Manifest, entry: ManifestEntry, where: str, jobs: int | None = None) -> Chosen:
    """The runs of an entry.

    Args:
        manifest: gives the round.
        entry: names logs, folders and patterns.
        where: what findings call the place, such as the manifest's file.
        jobs: processes that read logs, where a median window asks for all of them.
    """
    found: list[Path] = []
    findings: list[Finding] = []
    ways: list[str] = []
    beside: list[LeftOut] = []
    for written in entry.runs:
        try:
            runs, way = _named(written, manifest)
        except MlsubError as error:
            findings.append(finding("package.runs-missing", where, str(error), line=entry.line))
            continue
        found += runs
        ways.append(way)
        beside += _beside(Path(written), runs)
    runs, again = _once(found)
    findings += [
        finding("package.run-twice", where, f"{entry.name}: {run} is there twice", line=entry.line) for run in again
    ]
    how = "as listed" if set(ways) == {"as listed"} else "by the start of the runs"
    if findings or entry.choose == "all":
        return Chosen(tuple(runs), how, tuple(beside), tuple(findings))
    return _median_window(runs, beside, manifest, entry, where, jobs)


def _once(found: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Logs without repetition, and those that are repeated; links to one file are one."""
    kept: dict[str, Path] = {}
    again = []
    for run in found:
        real = os.path.realpath(run)
        if real in kept:
            again.append(run)
        kept.setdefault(real, run)
    return list(kept.values()), list(dict.fromkeys(again))


def _beside(folder: Path, runs: Sequence[Path]) -> Iterator[LeftOut]:
    """What else lies in a folder of runs."""
    taken = set(runs)
    for child in sorted(folder.iterdir()) if folder.is_dir() else ():
        if child not in taken:
            yield LeftOut(child, "no result log: not named result_*.txt")


def _named(written: str, manifest: Manifest) -> tuple[list[Path], str]:
    """The logs that one line of the manifest means, in order, and how the order came about."""
    path = Path(written)
    if path.is_dir():
        return _by_start(find_runs([written]), manifest), "by start"
    if path.exists() or path.is_symlink():
        return [path], "as listed"
    if not _WILD.intersection(written):
        raise MlsubError(f"There is no {path}. Name logs, folders of them, or a pattern.")
    matches = list(_matches(path))
    if not matches:
        raise MlsubError(f"Nothing matches {path}.")
    return _by_start(matches, manifest), "by start"


def _matches(pattern: Path) -> Iterator[Path]:
    """The files that a pattern matches; ``**`` is not for runs."""
    parts = pattern.parts
    first = next(n for n, part in enumerate(parts) if _WILD.intersection(part))
    if "**" in parts:
        raise MlsubError(f"{pattern} has **, which is not for runs; name the folders between with *.")
    found = 0
    for match in Path(*parts[:first]).glob(str(Path(*parts[first:]))):
        if match.is_file():
            found += 1
            if found > MAX_MATCHES:
                raise MlsubError(f"{pattern} matches more than {MAX_MATCHES} files. Say it more closely.")
            yield match


def _by_start(logs: Sequence[Path], manifest: Manifest) -> list[Path]:
    started = []
    for log in logs:
        try:
            time = run_started(log, manifest.round)
        except MlsubError as error:
            raise MlsubError(f"{log} cannot be read: {error}.") from error
        if time is None:
            raise MlsubError(f"{log} has no run_start, so no place in the order. List the logs one by one.")
        started.append((time, os.fspath(log), log))
    return [log for _, _, log in sorted(started, key=lambda item: item[:2])]


def _median_window(
    runs: Sequence[Path],
    beside: Sequence[LeftOut],
    manifest: Manifest,
    entry: ManifestEntry,
    where: str,
    jobs: int | None,
) -> Chosen:
    """Of M > N runs the N that the rules let one submit."""
    round_ = manifest.round
    needs = benchmark(round_.usage, round_.name, entry.benchmark, round_.overlay)
    try:
        logs = read_runs(runs, round_, Settings(jobs=jobs))
        one_benchmark(logs, round_)
    except (MlsubError, OSError) as error:
        return _none(runs, entry, where, [str(error)])
    problems = [*no_experiment(logs), *no_window(len(logs), needs.runs, needs.forgiven)]
    if problems:
        return _none(runs, entry, where, problems)
    by_path = {log.path: run for log, run in zip(logs, runs, strict=True)}
    selection = select_window([run for log in logs if (run := timed(log))], needs.runs, needs.forgiven)
    submitted = [by_path[run.path] for run in selection.submitted]
    if not submitted:
        bad = sum(window.minutes is None for window in selection.windows)
        return _none(runs, entry, where, [f"{bad} of {len(selection.windows)} windows are invalid, so no result"])
    first = selection.windows[selection.chosen or 0].first
    how = f"median window: runs {first + 1} to {first + len(submitted)} of {len(runs)} in the order of their start"
    outside = [run for run in selection.runs if by_path[run.path] not in submitted]
    left = tuple(LeftOut(by_path[run.path], _why(run.minutes, run.why)) for run in outside)
    return Chosen(tuple(submitted), how, (*left, *beside), tuple(_few(entry, where, needs, runs)))


def _why(minutes: float | None, why: str | None) -> str:
    return f"outside the median window ({why if minutes is None else f'{minutes:.6f} minutes'})"


def _few(entry: ManifestEntry, where: str, needs: Benchmark, runs: Sequence[Path]) -> Iterator[Finding]:
    if len(runs) == needs.runs:
        message = f"{entry.name}: there are no more runs than a window has, so that nothing is chosen"
        yield finding("package.nothing-chosen", where, message, line=entry.line)


def _none(runs: Sequence[Path], entry: ManifestEntry, where: str, problems: Sequence[str]) -> Chosen:
    findings = [
        finding("package.no-window", where, f"{entry.name}: {problem}", line=entry.line) for problem in problems
    ]
    return Chosen((), "median window", findings=tuple(findings))
