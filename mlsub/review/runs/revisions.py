"""Runs of one entry that were made by different revisions of its code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, readable
from mlsub.review.runs.model import Observation, observe, thresholds
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: The lines of code that logged the records of each key, as (name of the file, line).
_Sites = Mapping[str, frozenset[tuple[str, int]]]
#: Of an entry's runs so many are compared; nearly all published entries have 50 at most.
_MOST_RUNS = 60
#: Revisions that a question has in words, and of names so many characters.
_SHOWN, _LONGEST = 3, 80


def find_revisions(entry: Result) -> Iterator[Observation]:
    """Yield an entry whose runs log the same keys in other lines of code.

    One code, too, logs a key in different lines: it ends in one if the target is reached, and in another if not. So
    several keys have to be logged elsewhere, and a key that some runs lack says nothing.
    """
    revisions: list[tuple[_Sites, list[LogReport]]] = []
    read: list[tuple[_Sites, LogReport]] = []
    for log in entry.logs[:_MOST_RUNS]:
        # Most runs log all their records in the same lines.
        same = [sites for sites, other in read if other.trace.sources == log.trace.sources]
        read.append((same[0] if same else _read_sites(log), log))
    least = thresholds()["moved_keys"]
    # A run that breaks off has fewer keys, and must not stand for the others.
    for sites, log in sorted(read, key=lambda one: -len(one[0])):
        alike = (logs for known, logs in revisions if known is sites or len(_find_moved(known, sites)) < least)
        if (logs := next(alike, None)) is not None:
            logs.append(log)
        else:
            revisions.append((sites, [log]))
    if len(revisions) < 2:
        return
    (usual, _), *others = sorted(revisions, key=lambda one: -len(one[1]))
    shown = []
    for sites, logs in others:
        names, keys = first_few(sorted(log.name for log in logs), 3), _find_moved(usual, sites)
        example = f"{readable(keys[0])} in {_show_site(sites, keys[0])}, not in {_show_site(usual, keys[0])}"
        shown.append(f"{names} ({len(logs)} of {len(entry.logs)} runs): {example}; so {len(keys)} of {len(sites)} keys")
    more = [f"{len(others) - _SHOWN} more revisions"] if len(others) > _SHOWN else []
    found = finding("inspect.code-differs", entry.path, actual="; ".join([*shown[:_SHOWN], *more]))
    yield observe(entry, found, runs=[[log.path for log in logs] for _, logs in others])


def _read_sites(log: LogReport) -> _Sites:
    """Return the lines of code that logged the records of each key; folders differ between machines and users."""
    sources = log.trace.sources.items()
    keys = ((key, file.rpartition("/")[2], lines) for file, by_key in sources for key, lines in by_key.items())
    found = group_by_key((key, (file, line)) for key, file, lines in keys for line in lines)
    return {key: frozenset(sites) for key, sites in found.items()}


def _find_moved(one: _Sites, other: _Sites) -> list[str]:
    """Return the keys that both have, each logged in no line of code of the other, in the order of the first file."""
    moved = [(min(one[key]), key) for key in one.keys() & other.keys() if one[key].isdisjoint(other[key])]
    return [key for _, key in sorted(moved)]


def _show_site(sites: _Sites, key: str) -> str:
    file, line = min(sites[key])
    return readable(f"{file[-_LONGEST:]}:{line}")
