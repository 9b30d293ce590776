"""The figures of a sentence: times, ratios, percentages, prices, counts, result IDs; no numbers that are names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from mlsub.commands.audit.draft.model import Figure
from mlsub.commands.audit.draft.words import words
from mlsub.commands.audit.vocabulary import counts_in
from mlsub.commands.audit.wording import phrases
from mlsub.io.spelling import flat, small
from mlsub.submission import organisations
from mlsub.systems import chips

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.[0-9]{1,12})?"
#: Before a number that is not the end of a name or of another number.
_FREE = r"(?<![\w.,/$€£])"
_ID = re.compile(r"(?<![\w.-])[0-9]{1,2}\.[0-9][ -][0-9]{4}(?![\w-])")
_PRICE = re.compile(rf"(?P<sign>[$€£]) ?(?P<value>{_NUMBER})(?P<times> ?[kKmM](?!\w))?")
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP"}
#: Wordings that are about more than the number behind them.
_NOT_WORDINGS = ("is", "faster than", "equals", "exact", "same", "equal", "the same")
_MOST_ID = 100


def figures_in(text: str) -> tuple[Figure, ...]:
    """The figures of a sentence that is spaced, in their order.

    Args:
        text: the sentence, at most as long as pages.py leaves it.
    """
    found: list[Figure] = []
    for kind in (_ids, _prices, _measured, _counted):
        found += (one for one in kind(text) if not any(_overlap(one, other) for other in found))
    return tuple(sorted(found or _chips(text), key=lambda one: one.start))


def _chips(text: str) -> list[Figure]:
    """Counts of accelerators, which otherwise are a part of what a sentence says of another figure."""
    said = flat(text)
    found = []
    for one in counts_in(text):
        rest = said.partition(flat(one.written))[2].lstrip()
        several = one.written[:1].isdigit() and one.values != {"1"}
        if one.what == "chips" and several and not _starts(rest, words().multiplied):
            start = said.find(flat(one.written))
            [value] = one.values
            found.append(Figure(kind="chips", value=value, start=start, end=start + len(one.written)))
    return found


def _overlap(one: Figure, other: Figure) -> bool:
    return one.start < other.end and other.start < one.end


def _ids(text: str) -> Iterator[Figure]:
    """All result IDs of a sentence are one figure: so many results there are at least."""
    found = list(_ID.finditer(text))[:_MOST_ID]
    if found:
        ids = tuple(dict.fromkeys(one[0].replace(" ", "-") for one in found))
        yield Figure(
            kind="ids", value=str(len(ids)), wording="at least", start=found[0].start(), end=found[-1].end(), ids=ids
        )


def _prices(text: str) -> Iterator[Figure]:
    for match in _PRICE.finditer(text):
        times = {"k": 1_000, "m": 1_000_000}.get((match["times"] or "").strip().lower(), 1)
        value = match["value"] if times == 1 else f"{float(match['value'].replace(',', '')) * times:.0f}"
        start, wording = _worded(text, match.start())
        yield Figure(
            kind="price", value=value, unit=_CURRENCIES[match["sign"]], wording=wording, start=start, end=match.end()
        )


def _measured(text: str) -> Iterator[Figure]:
    said = flat(text)
    for match in _units().finditer(said):
        unit = match["unit"]
        if unit in ("x", "×") and _is_count(said[match.end() :].lstrip()):
            continue
        kind = "percent" if unit in ("%", "percent", "per cent") else "ratio"
        kind = "time" if unit in words().time else "throughput" if unit in words().throughput else kind
        own = {"time": words().time.get(unit), "ratio": "x", "percent": "%"}.get(kind, unit)
        start, wording = _worded(said, match.start())
        yield Figure(kind=kind, value=match["value"], unit=own, wording=wording, start=start, end=match.end())


@lru_cache(maxsize=1)
def _units() -> re.Pattern[str]:
    texts = (*words().time, *words().throughput, "percent", "per cent")
    units = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    times = r"times(?= (?:the|as|more|faster|better|higher|lower|that|\w+er\b))|fold"
    return re.compile(rf"{_FREE}(?P<value>{_NUMBER}) ?(?P<unit>%|[x×](?!\w)|(?:{units}|{times})(?!\w))")


def _is_count(rest: str) -> bool:
    """Whether what stands behind ``8x`` is a thing that is counted."""
    named = (of.spelled().pattern.match(rest) for of in (chips, organisations))
    return any(named) or _starts(rest, words().multiplied) or rest[:1].isdigit()


def _counted(text: str) -> Iterator[Figure]:
    """Counts of what was submitted, as in "two systems"; of anything else a sentence may count everything."""
    said = flat(text)
    table = words()
    speaks = contains(said, table.submitted)
    for match in _counts().finditer(said):
        counted = next(name for name, all_ in table.counted.items() if match["what"] in all_)
        if speaks or counted == "hosts":
            value = str(table.numbers.get(match["value"], match["value"]))
            start, wording = _worded(said, match.start())
            yield Figure(kind=counted, value=value, wording=wording, start=start, end=match.end())


@lru_cache(maxsize=1)
def _counts() -> re.Pattern[str]:
    what = "|".join(word for all_ in words().counted.values() for word in all_)
    numbers = "|".join(sorted(words().numbers, key=len, reverse=True))
    return re.compile(rf"{_FREE}(?P<value>[0-9]{{1,4}}|{numbers}) (?:(?!and |or |to )[a-z]+ )?(?P<what>{what})(?!\w)")


def _worded(text: str, start: int) -> tuple[int, str | None]:
    """The wording before a number, and where that begins; None for a plain number."""
    before = flat(text[:start]) if text[:start].strip() else ""
    fitting = [one for one in phrases() if one not in _NOT_WORDINGS and _ends(before, one)]
    phrase = max(fitting, key=len, default=None)
    return (start, None) if phrase is None else (small(text).rindex(phrase, 0, start), phrases()[phrase])


def _ends(text: str, phrase: str) -> bool:
    return text.endswith(phrase) and not (phrase[:1].isalpha() and text[: -len(phrase)][-1:].isalnum())


def _starts(text: str, wanted: Iterable[str]) -> bool:
    return any(re.match(rf"{re.escape(word)}s?(?!\w)", text) for word in wanted)


def contains(text: str, wanted: Iterable[str]) -> bool:
    """Whether a text that is flat has one of some words."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in wanted)
