"""The footnote to a result, as the MLCommons results messaging guidelines of July 2025 ask for it (section 3.2)."""

from __future__ import annotations

from contextlib import suppress

from mlsub.divisions import DIVISIONS
from mlsub.io.show import plain, readable
from mlsub.rules.load import entry_requirements
from mlsub.submission.result import Result

#: The day of retrieval where nobody gives it.
DAY = "[date]"
_LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the United States "
    "and other countries. All rights reserved. Unauthorized use strictly prohibited. See www.mlcommons.org for more "
    "information."
)


def footnote(result: Result, *, id_: str | None = None, day: str | None = None, reviewed: bool = True) -> str:
    """Return the footnote to a result; what is not given stands in brackets.

    Args:
        result: an entry of a report.
        id_: the entry's ID in the results table of the round.
        day: when the result was retrieved.
        reviewed: whether MLCommons has verified it; a round that is not published is not verified.
    """
    suite = {"training": "MLPerf® Training", "hpc": "MLPerf® HPC"}.get(result.usage, result.usage)
    name, system = (plain(readable(text[:100])) for text in (result.benchmark, result.system_name or result.system))
    with suppress(KeyError, ValueError):
        name = entry_requirements(result.usage, result.round, name).title
    division = (result.division_name or "").capitalize() if result.division_name in DIVISIONS else "[division]"
    who = f"{result.submitter or result.organisation} {system}"
    what = f"{suite} v{result.round} {division}, {name}: {who}"
    if result.publication_date is None or not reviewed:
        return f"Unverified {what}. Result not verified by MLCommons Association. {_LEGEND}"
    entry = id_ or f"[ID {result.round}-...]"
    return f"{what}, entry {entry}. Retrieved: from {repository_of(result)} on {day or DAY}. {_LEGEND}"


def repository_of(result: Result) -> str:
    """Return the address of the repository of the round's results."""
    return (result.details_url or "https://mlcommons.org/benchmarks/").partition("/blob/")[0]
