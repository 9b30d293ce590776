"""Whether the figures in the words of a claim are those that it is checked for: minutes, percentages and multiples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from mlsub.commands.audit.model import Claim
from mlsub.commands.audit.units import usual
from mlsub.commands.audit.verdict import Difference
from mlsub.commands.audit.wording import step_of

#: A figure with its unit. ``8x H100`` counts chips, ``50% CL`` and what follows a sign or a letter are names.
_FIGURE = re.compile(
    r"(?<![\w.,/$€£-])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(\.[0-9]{1,9})?[\s-]{0,2}"
    r"(%|per ?cent|minutes?|mins?|hours?|hrs?|seconds?|secs?|times|[x×](?!\w| ?(?:[A-Z]\w*[0-9]|[0-9])))"
)
_MINUTES = {"min": Fraction(1), "h": Fraction(60), "s": Fraction(1, 60)}


def misquoted(claim: Claim) -> tuple[Difference, ...]:
    """The figures of the text where none of those that are stated, in the same kind of unit, is among them.

    A text may say fewer digits than are stated, or more; other figures beside the right one may be of anything.
    """
    found: dict[str, Difference] = {}
    if claim.expr is None:
        return ()
    for kind, stated in _stated(claim).items():
        said = [one for one in _said(claim.text) if one[1] == kind]
        if said and not any(
            abs(value - own) <= max(step, unit) / 2 for _, _, value, step in said for _, own, unit in stated
        ):
            written = said[0][0]
            shown = tuple(dict.fromkeys(text for text, _, _ in stated))
            found[kind] = Difference(what="figure", said=written, results=shown)
    return tuple(found.values())


def _said(text: str) -> Iterator[tuple[str, str, Fraction, Fraction]]:
    """Each figure of a text: as written, its kind, its value and one unit in its last digit."""
    for match in _FIGURE.finditer(text):
        unit = usual(match[3]) or ""
        number = match[1].replace(",", "") + (match[2] or "")
        scale = _MINUTES.get(unit, Fraction(1))
        yield match[0], _kind(unit), Fraction(number) * scale, step_of(number) * scale


def _stated(claim: Claim) -> dict[str, list[tuple[str, Fraction, Fraction]]]:
    """What is stated by kind; a wording that is a figure itself, half or an order of magnitude, has no other."""
    found: dict[str, list[tuple[str, Fraction, Fraction]]] = {}
    said = [*(one.stated for one in claim.figures), *(one.stated for one in claim.same_quantity)]
    for stated in (one for one in said if one is not None):
        kind = _kind(stated.unit or "")
        if kind and isinstance(stated.value, Fraction) and not stated.from_words:
            scale = _MINUTES.get(stated.unit or "", Fraction(1))
            found.setdefault(kind, []).append((stated.words, stated.value * scale, stated.step * scale))
    return found


def _kind(unit: str) -> str:
    return "time" if unit in _MINUTES else unit if unit in ("%", "x") else ""
