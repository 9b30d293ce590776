"""The names that mlsub knows, as a shell completes them under a metavar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from click.shell_completion import CompletionItem

from mlsub.divisions import DIVISIONS
from mlsub.rounds import all_rounds, known_rounds, normalise_round, usages
from mlsub.rules.explain import rule_ids
from mlsub.systems import catalogue
from mlsub.systems.names import registry


def complete(metavar: str, files: str | None, params: Mapping[str, Any], incomplete: str) -> list[CompletionItem]:
    """The names that start so; first, for bash to keep both, files where there may be some.

    Args:
        metavar: of the parameter, such as ``SYSTEM|FILE``.
        files: ``file`` or ``dir`` where it may name one.
        params: those of the command line that are known already.
        incomplete: what is there of the word.
    """
    names = [name for part in metavar.split("|") for name in _names_for(part, params)]
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return [*([CompletionItem(incomplete, type=files)] if files else ()), *found]


def _names_for(metavar: str, params: Mapping[str, Any]) -> Iterable[str]:
    """The names that a metavar stands for; of rounds and benchmarks those that the rest of the command line allows."""
    given = params.get("usage")
    among = (given,) if given in usages() else usages()
    match metavar:
        case "BENCHMARK":
            return _benchmark_names(among, params.get("round_") or params.get("round"))
        case "DIVISION":
            return DIVISIONS
        case "FRAMEWORK":
            return registry().frameworks.names
        case "ROUND" | "OLD" | "NEW":
            # The newest first: it is the one that is wanted most often.
            return dict.fromkeys(name for usage in among for name in reversed(known_rounds(usage)))
        case "RULE":
            return rule_ids()
        case "STATUS":
            return ("onprem", "cloud", "preview", "rdi")
        case "SYSTEM":
            return (*catalogue.system_names(), *(each.name for each in catalogue.accelerators()))
        case "USAGE":
            return usages()
    return ()


def _benchmark_names(among: Iterable[str], round_: object) -> Iterable[str]:
    """Those of the round that the command line names already, else all."""
    name = normalise_round(round_) if isinstance(round_, str) else None
    rounds = [each for usage in among for each in all_rounds(usage)]
    chosen = [each for each in rounds if each.name == name] or rounds
    return sorted({benchmark for each in chosen for benchmark in each.benchmarks})
