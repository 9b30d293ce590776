"""Load the table of rounds."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.data import load_yaml

_ROUND = re.compile(r"v?(\d+\.\d+)(?:\.0)?")


class Round(msgspec.Struct, frozen=True):
    """One round of one usage.

    ``common`` is the (usage, round) whose common rules apply; ``checker`` the place in the official checker that
    findings cite.
    """

    usage: str
    name: str
    ruleset: str
    checker: str
    benchmarks: tuple[str, ...]
    common: tuple[str, str]
    empty_folder_ignored: bool
    title: str


class UnknownRoundError(ValueError):
    """The usage or round does not exist here; the text names those that do."""


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table = load_yaml(Path(__file__).with_name("rounds.yaml"))
    assert isinstance(table, dict)  # noqa: S101  (our own file; its schema is tested)
    return table


def usages() -> tuple[str, ...]:
    """The usages, in the order of the table."""
    return tuple(_table())


def known_rounds(usage: str) -> tuple[str, ...]:
    """The rounds of a usage, oldest first; empty for an unknown usage."""
    entry = _table().get(usage)
    return tuple(entry["rounds"]) if entry else ()


def normalise_round(text: str) -> str | None:
    """``1.0``, ``1.0.0`` and ``v1.0`` are the round ``1.0``; None for anything else."""
    match = _ROUND.fullmatch(text.strip())
    return match[1] if match else None


@lru_cache(maxsize=64)
def get_round(usage: str, name: str) -> Round:
    """The round, with everything it inherits.

    Raises:
        UnknownRoundError: no such usage, or no such round of it.
    """
    names = known_rounds(usage)
    if not names:
        raise UnknownRoundError(f"unknown usage {usage!r}; known are {', '.join(usages())}")
    if name not in names:
        raise UnknownRoundError(f"unknown {usage} round {name!r}; known are {', '.join(names)}")
    merged: dict[str, Any] = {}
    for earlier in names[: names.index(name) + 1]:
        merged.update(_table()[usage]["rounds"][earlier])
    common = merged.get("common") or {"usage": usage, "round": name}
    return Round(
        usage=usage,
        name=name,
        ruleset=merged["ruleset"],
        checker=merged["checker"],
        benchmarks=tuple(merged["benchmarks"]),
        common=(common["usage"], common["round"]),
        empty_folder_ignored=merged["empty_benchmark_folder"] == "ignored",
        title=f"{_table()[usage]['title']} v{name}",
    )
