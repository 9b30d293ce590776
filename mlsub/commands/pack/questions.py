"""The facts of a new manifest, from flags and, where people are there, by asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import click
import msgspec

from mlsub.commands.pack.draft import Draft, DraftEntry
from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.io.yamlfile import meant
from mlsub.rounds import get_round, known_rounds, normalise_round, usages

T = TypeVar("T")


class Given(msgspec.Struct, frozen=True):
    """What the flags say; None, or nothing, where they do not."""

    organisation: str | None
    usage: str | None
    round: str | None
    division: str | None
    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scaling: str | None
    implementation: str | None
    runs: str


def draft_from(given: Given, *, ask: bool) -> Draft:
    """A draft with every system and benchmark; each has its runs in ``<runs>/<system>/<benchmark>``.

    Raises:
        ValueError: something is lacking and nobody is asked, or a flag names what does not exist.
    """
    fill = _Fill(ask=ask)
    organisation = fill("organisation", given.organisation, "Organisation", str.strip)
    usage = fill("usage", given.usage or (None if ask else "training"), "Usage", _usage, "training")
    round_ = fill(
        "round", given.round, f"Round ({', '.join(known_rounds(usage)[-4:])})", lambda text: _round(usage, text)
    )
    known = get_round(usage, round_)
    systems = fill("system", ",".join(given.systems) or None, "Systems, separated by commas", _names)
    benchmarks = fill(
        "benchmark",
        ",".join(given.benchmarks) or None,
        f"Benchmarks ({', '.join(known.benchmarks)})",
        lambda text: _benchmarks(text, known.benchmarks),
    )
    division = fill("division", given.division, "Division", _division, CLOSED.name)
    scaling = fill("scaling", given.scaling, "Scaling", _scaling, "strong") if known.scaling_folders else given.scaling
    entries = tuple(
        DraftEntry(
            system=system,
            benchmark=benchmark,
            runs=("/".join(part for part in (given.runs, system, scaling, benchmark) if part),),
            division=division,
            scaling=scaling,
            implementation=given.implementation,
        )
        for system in systems
        for benchmark in benchmarks
    )
    return Draft(
        organisation=organisation,
        usage=usage,
        round=round_,
        systems=tuple((system, f"systems/{system}.json") for system in systems),
        entries=entries,
        code=tuple((name, given.implementation, f"code/{name}") for name in benchmarks) if given.implementation else (),
    )


class _Fill:
    """Takes a flag's value, or asks until an answer holds."""

    def __init__(self, *, ask: bool) -> None:
        self._ask = ask

    def __call__(
        self, flag: str, value: str | None, question: str, read: Callable[[str], T], usual: str | None = None
    ) -> T:
        if value is not None and value.strip():
            return read(value)
        if not self._ask:
            raise ValueError(f"--{flag} is not given. Say it, or use --ask to be asked for what is lacking.")
        while True:
            try:
                return read(click.prompt(question, default=usual, type=str))
            except ValueError as error:
                click.echo(str(error))


def _usage(text: str) -> str:
    return _one_of(text.strip(), usages(), "usage")


def _division(text: str) -> str:
    return _one_of(text.strip(), tuple(DIVISIONS), "division")


def _scaling(text: str) -> str:
    return _one_of(text.strip(), ("strong", "weak"), "scaling")


def _round(usage: str, text: str) -> str:
    return _one_of(normalise_round(text) or text.strip(), known_rounds(usage), f"round of {usage}")


def _benchmarks(text: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(_one_of(name, known, "benchmark of the round") for name in _names(text))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("Name at least one.")
    return names


def _one_of(name: str, known: Sequence[str], kind: str) -> str:
    if name not in known:
        raise ValueError(f"There is no {kind} {name[:40]!r}{meant(name, known)}")
    return name
