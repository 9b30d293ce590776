"""The names that mlsub knows, for completion in a shell: rounds, benchmarks, rules, systems and others.

A parameter is known by its metavar (or, without one, by its name), so that ``--round ROUND`` completes in each command.
Its value is taken as it is: what it means is for the command to say, with a did-you-mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Names = Callable[[Mapping[str, Any]], Iterable[str]]


def _usages(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The usage that the command line names already, else all."""
    from mlsub.rounds import usages

    given = params.get("usage")
    return (given,) if given in usages() else usages()


def _usage(_: Mapping[str, Any]) -> Iterable[str]:
    return _usages({})


def _rounds(params: Mapping[str, Any]) -> Iterable[str]:
    """The newest first: it is the one that is wanted most often."""
    from mlsub.rounds import known_rounds

    return dict.fromkeys(name for usage in _usages(params) for name in reversed(known_rounds(usage)))


def _benchmarks(params: Mapping[str, Any]) -> Iterable[str]:
    """Those of the round that the command line names already, else all."""
    from mlsub.rounds import normalise_round
    from mlsub.rounds.names import all_rounds

    asked = params.get("round_") or params.get("round")
    name = normalise_round(asked) if isinstance(asked, str) else None
    rounds = [each for usage in _usages(params) for each in all_rounds(usage)]
    chosen = [each for each in rounds if each.name == name] or rounds
    return sorted({benchmark for each in chosen for benchmark in each.benchmarks})


def _rules(_: Mapping[str, Any]) -> Iterable[str]:
    from mlsub.rules.explain import rule_ids

    return rule_ids()


def _divisions(_: Mapping[str, Any]) -> Iterable[str]:
    from mlsub.divisions import DIVISIONS

    return DIVISIONS


def _systems(_: Mapping[str, Any]) -> Iterable[str]:
    from mlsub.systems.catalogue import accelerators, system_names

    return (*system_names(), *(each.name for each in accelerators()))


def _statuses(_: Mapping[str, Any]) -> Iterable[str]:
    return ("onprem", "cloud", "preview", "rdi")


def _frameworks(_: Mapping[str, Any]) -> Iterable[str]:
    from mlsub.systems.names import registry

    return registry().frameworks.names


#: By metavar.
_NAMES: Mapping[str, Names] = {
    "BENCHMARK": _benchmarks,
    "DIVISION": _divisions,
    "FRAMEWORK": _frameworks,
    "NEW": _rounds,
    "OLD": _rounds,
    "ROUND": _rounds,
    "RULE": _rules,
    "STATUS": _statuses,
    "SYSTEM": _systems,
    "USAGE": _usage,
}
#: Files and folders that are read or written as a text by the command itself.
_FILES = {"DIR": "dir", "FILE": "file", "SYSTEM|FILE": "file"}


class KnownNames(click.types.StringParamType):
    """A text, of which a shell completes what mlsub knows."""

    def __init__(self, names: Names | None, place: str | None = None) -> None:
        self._names, self._place = names, place

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that start so; first, for bash to keep both, files where there may be some."""
        from click.shell_completion import CompletionItem

        names = self._names(ctx.params) if self._names is not None else ()
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*([CompletionItem(incomplete, type=self._place)] if self._place else ()), *found]


def known_names(param: click.Parameter) -> KnownNames | None:
    """The type of a parameter whose values have names; None where any text will do."""
    metavar = param.metavar or (param.name or "").upper()
    names = next((_NAMES[part] for part in metavar.split("|") if part in _NAMES), _NAMES.get(metavar))
    place = _FILES.get(metavar)
    return KnownNames(names, place) if names or place else None
