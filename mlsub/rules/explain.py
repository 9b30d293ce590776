"""Which rules there are by their ids, and what each key of a log means."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

from mlsub.io.data import shipped
from mlsub.rules.catalogue import catalogue
from mlsub.rules.demands import all_demands


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


def descriptions() -> dict[str, str]:
    """What each key of a log means, in one line."""
    return shipped(__file__, "keys.yaml", dict[str, str])
