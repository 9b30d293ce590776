"""Everything about one rule, put together from the catalogue and the rule files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from mlsub.findings import Blocks
from mlsub.io.data import shipped
from mlsub.rules.catalogue import RuleInfo, catalogue
from mlsub.rules.demands import Demand, KeyDemands, all_demands


def suggestion(text: str, *, whole: bool = False) -> str | None:
    """None if ``text`` is a rule id (or, unless ``whole``, a prefix of one); else a line with a did-you-mean."""
    ids = rule_ids()
    if text.startswith("house") and not whole:
        return None  # Rules of the user's own; which there are depends on their file.
    if text in ids or (not whole and text and any(name.startswith(text) for name in ids)):
        return None
    close = get_close_matches(text, ids, n=3)
    inside = [name for name in ids if text in name][:5]
    hint = ", ".join(close or inside)
    return f"no rule {text!r}." + (f" Did you mean {hint}?" if hint else " mlsub explain log.empty shows one.")


@lru_cache(maxsize=1)
def rule_ids() -> tuple[str, ...]:
    """Every rule id, the catalogue's first."""
    return (*catalogue(), *sorted(all_demands()))


def explain(rule: str) -> str:
    """The explanation as text, ending in a line feed.

    Raises:
        KeyError: there is no such rule.
    """
    info = catalogue().get(rule)
    lines = _catalogue_lines(info) if info is not None else _key_lines(rule, all_demands()[rule])
    return "\n".join(lines) + "\n"


def _catalogue_lines(info: RuleInfo) -> list[str]:
    return [
        info.id,
        info.title,
        "",
        f"kind:     {info.kind.value} {info.severity.value}; rules out {_division(info.blocks)}",
        f"reason:   {info.why}",
        f"source:   {info.source}",
        f"example:  {info.example}",
        f"remedy:   {info.fix}",
    ]


def _division(blocks: Blocks) -> str:
    return {Blocks.NONE: "no division", Blocks.CLOSED: "the Closed division", Blocks.BOTH: "both divisions"}[blocks]


def _key_lines(rule: str, found: KeyDemands) -> list[str]:
    key, about, first = found.key, found.aspect.about(), found.demands[0]
    severity = "error" if found.blocks is not Blocks.NONE else "warning"
    lines = [
        rule,
        about.title.format(key=key, words=first.rule.occurs.words()),
        "",
        f"key:      {descriptions().get(key) or 'a key of the benchmark'}",
        f"kind:     official {severity}; rules out {_division(found.blocks)}",
        f"reason:   {about.why}",
        "demanded:",
    ]
    for demand in found.demands:
        lines.append(f"  {demand.words}")
        lines.extend(f"    {usage} {', '.join(rounds)}: {which}" for usage, which, rounds in demand.places())
    lines += [f"{'source:' if number == 0 else '':10}{line}" for number, line in enumerate(_sources(found.demands))]
    record = f':::MLLOG {{"time_ms": 1623875750969, "key": "{key}", "value": ..., "metadata": {{...}}}}'
    lines.append(f"example:  {about.example.format(key=key, record=record)}")
    lines.append(f"remedy:   {about.fix}")
    return lines


def _sources(demands: Iterable[Demand]) -> Iterator[str]:
    """The official files, rounds with the same files together."""
    files: dict[str, list[str]] = {}
    for checker, origin in sorted({source for demand in demands for source in demand.sources}):
        files.setdefault(checker, []).append(origin)
    checkers: dict[tuple[str, str], list[str]] = {}
    for checker, names in files.items():
        place, underscore, version = checker.rpartition("_")
        key = (f"{place}{underscore}", ", ".join(names)) if version[:1].isdigit() else (checker, ", ".join(names))
        checkers.setdefault(key, []).append(version if key[0] != checker else "")
    for (place, listed), versions in checkers.items():
        several = f"{{{','.join(versions)}}}" if len(versions) > 1 else versions[0]
        yield f"{place}{several}: {listed}"


def descriptions() -> dict[str, str]:
    """What each key of a log means, in one line."""
    return shipped(__file__, "keys.yaml", dict[str, str])
