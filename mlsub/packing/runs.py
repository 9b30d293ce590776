"""Choose which logs become the results of an entry, and in which order."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from glob import iglob
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.look import open_regular
from mlsub.judge.window import Selection, select_window, timed_run, why_no_experiment, why_no_window
from mlsub.log.events import read_events
from mlsub.log.reader import GZIP
from mlsub.packing.manifest import Manifest, ManifestEntry
from mlsub.rounds import Round
from mlsub.rules.load import EntryRequirements, entry_requirements
from mlsub.workspace.places import AS_FOUND, Context
from mlsub.workspace.runs import find_runs, one_benchmark, read_runs

_WILD = frozenset("*?[")
#: A pattern that matches more is a mistake.
MAX_MATCHES = 10_000
#: Records that are looked at; run_start comes after some tens of them.
_MAX_RECORDS = 100_000


class OmittedSource(msgspec.Struct, frozen=True):
    """A source, a file or a folder with all it holds, that does not go into the package, and why."""

    path: str
    why: str


class EntryRuns(msgspec.Struct, frozen=True):
    """The logs of an entry in the order of their results, and how they were chosen."""

    entry: str
    how: str
    runs: tuple[str, ...]


#: What stays out of the package, or is wrong with the runs.
Aside = OmittedSource | Finding


def choose_runs(manifest: Manifest, entry: ManifestEntry, context: Context = AS_FOUND) -> tuple[EntryRuns, list[Aside]]:
    """Return the runs of an entry, what of its sources stays out, and what is wrong.

    Args:
        manifest: gives the round.
        entry: names logs, folders and patterns.
        context: how logs are read, where a median window asks for all of them.
    """
    found: dict[str, Path] = {}
    again: list[Path] = []
    findings: list[Finding] = []
    listed: list[bool] = []
    beside: list[OmittedSource] = []
    for written in entry.sources:
        try:
            runs, as_listed = _find_logs(written, manifest.round)
        except MlsubError as error:
            findings.append(manifest.finding("package.runs-missing", str(error), entry))
            continue
        # Links to one file are one log.
        again += [run for run in runs if found.setdefault(os.path.realpath(run), run) is not run]
        listed.append(as_listed)
        beside += _beside(Path(written), runs)
    for run in dict.fromkeys(again):
        findings.append(manifest.finding("package.run-twice", f"{entry.name}: {run} is listed twice", entry))
    chosen = list(found.values())
    how = "as listed" if listed and all(listed) else "by the start of the runs"
    aside: list[Aside] = []
    if entry.choose == "median-window" and not findings:
        how, chosen, aside = _median_window(chosen, manifest, entry, context)
    return EntryRuns(entry.name, how, tuple(map(str, chosen))), [*aside, *beside, *findings]


def _beside(folder: Path, runs: Sequence[Path]) -> Iterator[OmittedSource]:
    """Yield what else lies in a folder of runs."""
    taken = set(runs)
    for child in sorted(folder.iterdir()) if folder.is_dir() else ():
        if child not in taken:
            yield OmittedSource(str(child), "not a result log: its name is not result_*.txt")


def _find_logs(written: str, round_: Round) -> tuple[list[Path], bool]:
    """Return the logs that one line of the manifest means, in order, and whether that is how they are listed."""
    path = Path(written)
    if path.is_dir():
        return _by_start(find_runs([written]), round_), False
    if path.exists() or path.is_symlink():
        return [path], True
    if not _WILD.intersection(written):
        raise MlsubError(f"There is no {path}. Name logs, folders of them, or a pattern.")
    matches = list(_matches(path))
    if not matches:
        raise MlsubError(f"Nothing matches {path}.")
    return _by_start(matches, round_), False


def _matches(pattern: Path) -> Iterator[Path]:
    """Yield the files that a pattern matches; ``**`` is not for runs."""
    if "**" in pattern.parts:
        raise MlsubError(f"{pattern} has **, which is not for runs; name the folders between with *.")
    files = filter(Path.is_file, map(Path, iglob(str(pattern), include_hidden=True)))  # noqa: PTH207  (bounded)
    for found, match in enumerate(files):
        if found == MAX_MATCHES:
            raise MlsubError(f"{pattern} matches more than {MAX_MATCHES} files. Use a narrower pattern.")
        yield match


def _by_start(logs: Sequence[Path], round_: Round) -> list[Path]:
    started = []
    for log in logs:
        try:
            time = run_started(log, round_)
        except MlsubError as error:
            raise MlsubError(f"{log} cannot be read: {error}.") from error
        if time is None and is_gzip(log):
            raise MlsubError(f"{log} is gzip, though its name does not end in .gz. Unpack it, or rename it.")
        if time is None:
            raise MlsubError(f"{log} has no run_start, so it has no place in the order. List the logs one by one.")
        started.append((time, log))
    return [log for _, log in sorted(started, key=lambda item: (item[0], os.fspath(item[1])))]


def run_started(log: Path, round_: Round) -> float | None:
    """Return the time of the first ``run_start``, in ms since the Unix epoch; None for a log without one.

    Raises:
        MlsubError: the log cannot be read.
    """
    for event in islice(read_events(log, round_.log_format), _MAX_RECORDS):
        if event.key == "run_start" and math.isfinite(event.time_ms):
            return float(event.time_ms)
    return None


def is_gzip(file: Path) -> bool:
    """Return whether a file begins as gzip does, whatever its name.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(file) as stream:
        return stream.read(len(GZIP)) == GZIP


def _median_window(
    runs: list[Path], manifest: Manifest, entry: ManifestEntry, context: Context
) -> tuple[str, list[Path], list[Aside]]:
    """Of M > N runs return how the N were chosen that the rules let one submit, these, and why not the others."""
    round_ = manifest.round
    needs = entry_requirements(round_.usage, round_.name, entry.benchmark, round_.overlay)
    try:
        by_path, selection = _select(runs, needs, round_, context)
    except (MlsubError, OSError) as error:
        problems = error.lines if isinstance(error, MlsubError) else (str(error),)
        found = [manifest.finding("package.no-window", f"{entry.name}: {text}", entry) for text in problems]
        return "median window", runs, list(found)
    submitted = [by_path[run.path] for run in selection.submitted]
    first = selection.windows[selection.chosen or 0].first
    how = f"median window: runs {first + 1} to {first + len(submitted)} of {len(runs)} in the order of their start"
    aside: list[Aside] = []
    for run in selection.runs:
        if by_path[run.path] not in submitted:
            why = run.why if run.minutes is None else f"{run.minutes:.6f} minutes"
            aside.append(OmittedSource(str(by_path[run.path]), f"outside the median window ({why})"))
    if len(runs) == needs.runs:
        message = f"{entry.name}: there are no more runs than a window has, so nothing is chosen"
        aside.append(manifest.finding("package.nothing-chosen", message, entry))
    return how, submitted, aside


def _select(
    runs: Sequence[Path], needs: EntryRequirements, round_: Round, context: Context
) -> tuple[dict[str, Path], Selection]:
    """Return the window, and the runs by their paths in it.

    Raises:
        MlsubError: there is none; each line says why.
    """
    # The manifest says by which rules.
    logs = read_runs(runs, round_, replace(context, request=replace(context.request, overlay=None, trace=False)))
    one_benchmark(logs, round_)
    if problems := [*why_no_experiment(logs), *why_no_window(len(logs), needs.runs, needs.forgiven)]:
        raise MlsubError(*problems)
    selection = select_window([run for log in logs if (run := timed_run(log))], needs.runs, needs.forgiven)
    if not selection.submitted:
        bad = sum(window.minutes is None for window in selection.windows)
        raise MlsubError(f"{bad} of {len(selection.windows)} windows are invalid, so no result")
    return {log.path: run for log, run in zip(logs, runs, strict=True)}, selection
