"""The facts of a new manifest, from flags and, where people are there, by asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import click

from mlsub.commands.init.draft import Draft, path
from mlsub.divisions import CLOSED, DIVISIONS
from mlsub.io.problems import meant
from mlsub.rounds import get_round, known_rounds, normalise_round, usages

T = TypeVar("T")


def draft_from(given: Mapping[str, str | None], runs: str, *, ask: bool) -> Draft:
    """A draft with every system and benchmark; each has its runs in ``<runs>/<system>/<benchmark>``.

    Args:
        given: what the flags say, by their names; None, or nothing, where they do not.
        runs: the folder of the runs.
        ask: whether to ask for what is missing.

    Raises:
        ValueError: something is missing and nobody is asked, or a flag names what does not exist.
    """

    def fill(flag: str, question: str, read: Callable[[str], T], usual: str | None = None) -> T:
        """A flag's value, or what somebody answers, asked until it can be."""
        value = (given[flag] or "").strip()
        if value:
            return read(value)
        if not ask:
            raise ValueError(f"--{flag} is not given. Say it, or use --ask to be asked for what is missing.")
        while True:
            try:
                return read(click.prompt(question, default=usual, type=str).strip())
            except ValueError as error:
                click.echo(str(error))

    def one_of(known: Sequence[str], kind: str) -> Callable[[str], str]:
        return lambda text: _one_of(text, known, kind)

    organisation = fill("organisation", "Organisation", str)
    usage = fill("usage", "Usage", one_of(usages(), "usage"), "training") if ask or given["usage"] else "training"
    rounds = known_rounds(usage)
    kind = f"round of {usage}"
    name = fill(
        "round", f"Round ({', '.join(rounds[-4:])})", lambda text: _one_of(normalise_round(text) or text, rounds, kind)
    )
    round_ = get_round(usage, name)
    systems = fill("system", "Systems, separated by commas", _names)
    benchmarks = fill(
        "benchmark",
        f"Benchmarks ({', '.join(round_.benchmarks)})",
        lambda text: [_one_of(name, round_.benchmarks, "benchmark of the round") for name in _names(text)],
    )
    division = fill("division", "Division", one_of(tuple(DIVISIONS), "division"), CLOSED.name)
    scaling = given["scaling"]
    if round_.scaling_folders:
        scaling = fill("scaling", "Scaling", one_of(("strong", "weak"), "scaling"), "strong")
    code = given["implementation"]
    return {
        "organisation": organisation,
        "usage": usage,
        "round": name,
        "systems": {system: f"systems/{system}.json" for system in systems},
        "entries": [
            {
                "system": system,
                "scaling": scaling,
                "benchmark": benchmark,
                "division": division,
                "implementation": code,
                "runs": path("/".join(part for part in (runs, system, scaling, benchmark) if part)),
            }
            for system in systems
            for benchmark in benchmarks
        ],
        "code": [{"benchmark": of, "implementation": code, "folder": f"code/{of}"} for of in benchmarks]
        if code
        else None,
    }


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("Name at least one.")
    return names


def _one_of(name: str, known: Sequence[str], kind: str) -> str:
    if name not in known:
        raise ValueError(f"There is no {kind} {name[:40]!r}{meant(name, known)}")
    return name
