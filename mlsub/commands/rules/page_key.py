"""The page of one key: what it means, and every demand on it with the rounds and benchmarks it binds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mlsub.commands.rules.markdown import code, escape, link, prose, table
from mlsub.findings import Blocks
from mlsub.rounds.names import spans
from mlsub.rules.aspects.count import Repeated
from mlsub.rules.demands import Demand, KeyDemands, all_demands
from mlsub.rules.explain import descriptions
from mlsub.rules.steps import event_type


def keys_with_pages() -> list[str]:
    """Every key that some rule names, sorted."""
    return sorted(_by_key())


def key_page(key: str) -> Iterator[str]:
    """The lines of the page."""
    yield from (f"# {key}", "")
    virtual = any(demand.rule.gathers for found in _by_key()[key].values() for demand in found.demands)
    about = descriptions().get(key, "a key of the benchmark")
    yield f"{prose(about[0].upper() + about[1:])}."
    if not virtual:
        yield f"Event: {code(event_type(key))}."
    for rule, found in _by_key()[key].items():
        yield from ("", f'<a id="{rule}"></a>', "", f"## {rule}", "")
        yield from _section(found)
    yield from ("", f"{link('All keys', '../reference.md#keys')}")


@lru_cache(maxsize=1)
def _by_key() -> dict[str, dict[str, KeyDemands]]:
    by_key: dict[str, dict[str, KeyDemands]] = {}
    for rule, found in all_demands().items():
        by_key.setdefault(found.key, {})[rule] = found
    return by_key


_KINDS = {
    Blocks.NONE: "Only a warning.",
    Blocks.CLOSED: "An error; rules out the Closed division.",
    Blocks.BOTH: "An error; rules out both divisions.",
}


def _section(found: KeyDemands) -> Iterator[str]:
    key, aspect = found.key, found.aspect
    title = aspect.title.format(key=key, words="as often as demanded")
    title = title if title.startswith(key) else title[0].upper() + title[1:]
    yield from (f"{prose(title)}. {_KINDS[found.blocks]}", "")
    if aspect is not Repeated:
        yield from table(["demanded", "of"], [[prose(demand.words), _places(demand)] for demand in found.demands])
        yield ""
    yield f"- why: {prose(aspect.why)}"
    yield f"- fix: {prose(aspect.fix)}"


def _places(demand: Demand) -> str:
    """Which logs a demand binds, rounds in a row together."""
    return "<br>".join(escape(f"{usage} {spans(usage, rounds)}: {which}") for usage, which, rounds in demand.places())
