"""Which rules there are by their ids, what each key of a log means, and which official files demand it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from mlsub.io.data import shipped
from mlsub.rules.catalogue import catalogue
from mlsub.rules.demands import Demand, all_demands


def suggestion(text: str, *, whole: bool = False) -> str | None:
    """None if ``text`` is a rule id (or, unless ``whole``, a prefix of one); else a line with a did-you-mean."""
    if text.startswith("house") and not whole:
        return None  # Rules of the user's own; which there are depends on their file.
    if text in catalogue() or (not whole and text and any(name.startswith(text) for name in catalogue())):
        return None  # Without the demands, which take half a second to read.
    ids = rule_ids()
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


def descriptions() -> dict[str, str]:
    """What each key of a log means, in one line."""
    return shipped(__file__, "keys.yaml", dict[str, str])


def official_files(demands: Iterable[Demand]) -> Iterator[str]:
    """The official files that demand it, rounds with the same files together."""
    files: dict[str, list[str]] = {}
    for checker, origin in sorted({source for demand in demands for source in demand.sources}):
        files.setdefault(checker, []).append(origin)
    checkers: dict[tuple[str, str], list[str]] = {}
    for checker, names in files.items():
        place, underscore, version = checker.rpartition("_")
        known = version[:1].isdigit()
        folder = (f"{place}{underscore}" if known else checker, ", ".join(names))
        checkers.setdefault(folder, []).append(version if known else "")
    for (place, listed), versions in checkers.items():
        several = f"{{{','.join(versions)}}}" if len(versions) > 1 else versions[0]
        yield f"{place}{several}: {listed}"
