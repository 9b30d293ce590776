"""The page of one key: what it means, and every demand on it with the rounds and benchmarks it binds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mlsub.commands.rules.history import spans
from mlsub.commands.rules.markdown import code, escape, link, prose, table
from mlsub.findings import Blocks
from mlsub.rules.demands import ASPECT_FIX, ASPECT_TITLES, ASPECT_WHY, Demand, all_demands, rules_out, which_logs
from mlsub.rules.explain import descriptions
from mlsub.rules.steps import event_type


def keys_with_pages() -> list[str]:
    """Every key that some rule names, sorted."""
    return sorted(_by_key())


def key_page(key: str) -> Iterator[str]:
    """The lines of the page."""
    yield from (f"# {key}", "")
    virtual = any(demand.rule.gathers for demands in _by_key()[key].values() for demand in demands)
    about = descriptions().get(key, "a key of the benchmark")
    yield f"{prose(about[0].upper() + about[1:])}."
    if not virtual:
        yield f"Event: {code(event_type(key))}."
    for rule, demands in _by_key()[key].items():
        yield from ("", f'<a id="{rule}"></a>', "", f"## {rule}", "")
        yield from _section(key, rule.rpartition(".")[2], demands)
    yield from ("", f"{link('All keys', '../reference.md#keys')}")


@lru_cache(maxsize=1)
def _by_key() -> dict[str, dict[str, list[Demand]]]:
    found: dict[str, dict[str, list[Demand]]] = {}
    for rule, demands in all_demands().items():
        found.setdefault(rule.split(".")[1], {})[rule] = demands
    return found


def _section(key: str, aspect: str, demands: list[Demand]) -> Iterator[str]:
    title = ASPECT_TITLES[aspect].format(key=key, words="as often as demanded")
    warning = aspect == "repeated" or all(aspect in demand.rule.warn_only for demand in demands)
    both = rules_out(demands) is Blocks.BOTH
    kind = (
        "Only a warning." if warning else f"An error; rules out {'both divisions' if both else 'the Closed division'}."
    )
    yield from (f"{prose(title[0].upper() + title[1:] if not title.startswith(key) else title)}. {kind}", "")
    if aspect != "repeated":
        yield from table(["demanded", "of"], [[prose(demand.words), _places(demand)] for demand in demands])
        yield ""
    yield f"- why: {prose(ASPECT_WHY[aspect])}"
    yield f"- mend: {prose(ASPECT_FIX[aspect])}"


def _places(demand: Demand) -> str:
    """Which logs a demand binds, rounds in a row together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for round_, logs in demand.logs.items():
        groups.setdefault((round_.usage, which_logs(round_, logs)), []).append(round_.name)
    return "<br>".join(escape(f"{usage} {spans(usage, names)}: {which}") for (usage, which), names in groups.items())
