"""The reference points of every day, by the first-parent history of mlcommons/logging.

``python -m tests.convergence.upstream`` prints what reference_changes.yaml has to say of each round that it has.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.convergence.reference import ReferenceChange, ReferenceRuns, cutoff_day, runs_of
from mlsub.rounds import Round, get_round
from tools.support.corpus import SHARED

BUNDLE = SHARED / "upstream" / "mlcommons-logging.bundle"
ABSENT = "needs the history of mlcommons/logging (shared/upstream, beside the repository)"
#: Where the data of a benchmark lie: before September 2021 the folder of a round did not name the usage.
_PLACE = re.compile(r"mlperf_logging/rcp_checker/(?:(training|hpc)_)?([0-9.]+)/rcps_(\w+)\.json")

#: The points of a benchmark: the runs behind each, by batch size.
Points = Mapping[float, tuple[float, ...]]
#: All files of a commit: the text by usage, ruleset and benchmark.
Files = dict[tuple[str, str, str], str]


class Merge(NamedTuple):
    """A commit of the master branch: its short name, the day on which it came there, and the data it holds."""

    commit: str
    day: date
    files: Files


@lru_cache(maxsize=1)
def merges() -> tuple[Merge, ...]:
    """What changed reference data on the master branch, in order; a merged commit has the day of its merge."""
    with tempfile.TemporaryDirectory() as folder:
        _git("clone", "--quiet", "--bare", str(BUNDLE), folder)
        log = ("log", "--first-parent", "--reverse", "--format=%H %ct", "master", "--", "*rcps_*.json")
        listed = _git(*log, at=folder)
        return tuple(_merges(listed, folder))


def _merges(listed: str, folder: str) -> Iterator[Merge]:
    for line in listed.splitlines():
        commit, seconds = line.split()
        files = {}
        for entry in _git("ls-tree", "-r", commit, "--", "mlperf_logging/rcp_checker", at=folder).splitlines():
            about, path = entry.split("\t")
            if place := _PLACE.fullmatch(path):
                files[place[1] or "training", place[2], place[3]] = _blob(about.split()[2], folder)
        yield Merge(commit[:7], datetime.fromtimestamp(int(seconds), UTC).date(), files)


@lru_cache(maxsize=1024)
def _blob(name: str, folder: str) -> str:
    return _git("cat-file", "blob", name, at=folder)


def _git(*words: str, at: str = ".") -> str:
    return subprocess.run(["git", "-C", at, *words], check=True, capture_output=True, text=True).stdout


def points_on(day: date, round_: Round, name: str) -> Points:
    """The points of a benchmark of a round on the master branch at the end of a day."""
    files: Files = next((merge.files for merge in reversed(merges()) if merge.day <= day), {})
    return _points(files, round_, name)


def _points(files: Files, round_: Round, name: str) -> Points:
    text = files.get((round_.usage, round_.ruleset, name))
    return {} if text is None else _read(text)


@lru_cache(maxsize=512)
def _read(text: str) -> Points:
    """The runs by batch size; of a file that is not JSON, as some were for a while, nothing counts."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        try:
            json.loads(text)
        except ValueError:
            return {}
        return by_size(runs_of(Path(file.name)))


def by_size(runs: tuple[ReferenceRuns, ...]) -> Points:
    """The runs of each batch size, of which there is one record each."""
    found = {one.batch_size: one.values for one in runs}
    assert len(found) == len(runs)
    return found


def changes_of(round_: Round) -> tuple[ReferenceChange, ...]:
    """What changed in the points of a round since its deadline, as reference_changes.yaml has it.

    Of what changed between the days that count (deadline, publication, today) only the outcome matters, and the last
    merge that made it so.
    """
    days = sorted({day for cutoff in ("deadline", "published") if (day := cutoff_day(cutoff, round_)) is not None})
    found: dict[str, dict[str, Any]] = {}
    for first, last in pairwise([*days, date.max]):
        for name in round_.benchmarks:
            old, new = points_on(first, round_, name), points_on(last, round_, name)
            for size in sorted(old.keys() | new.keys()):
                if old.get(size) != new.get(size):
                    merge = _last_change(first, last, round_, name, size)
                    change = found.setdefault(merge.commit, {"merged": merge.day, "added": {}, "before": {}})
                    if size in old:
                        change["before"].setdefault(name, {})[size] = old[size]
                    else:
                        change["added"][name] = (*change["added"].get(name, ()), size)
    order = [merge.commit for merge in merges()]
    return tuple(ReferenceChange(commit=commit, **found[commit]) for commit in sorted(found, key=order.index))


def _last_change(first: date, last: date, round_: Round, name: str, size: float) -> Merge:
    """The last merge after the first day, to the last, that changed a point."""
    changed = [
        later
        for earlier, later in pairwise(merges())
        if first < later.day <= last
        and _points(earlier.files, round_, name).get(size) != _points(later.files, round_, name).get(size)
    ]
    return changed[-1]


def _written(change: ReferenceChange) -> str:
    lines = [f'      - merged: "{change.merged}"', f'        commit: "{change.commit}"']
    if change.added:
        sizes = ", ".join(f"{name}: {list(some)}" for name, some in change.added.items())
        lines.append(f"        added: {{{sizes}}}")
    if change.before:
        lines.append("        before:")
        for name, some in change.before.items():
            lines.append(f"          {name}:")
            lines += [f"            {size}: {list(values)}" for size, values in some.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    from mlsub.convergence.reference import history_of
    from mlsub.rounds import known_rounds

    for usage in ("training", "hpc"):
        for round_name in known_rounds(usage):
            if history_of(usage, round_name) is not None:
                print(f'{usage} "{round_name}"')
                print("\n".join(map(_written, changes_of(get_round(usage, round_name)))))
