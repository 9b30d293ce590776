"""The names of a sentence with their places, and those that a whole document has: who speaks, of which round, when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache

import msgspec

from mlsub.commands.audit.draft.model import Sentence
from mlsub.commands.audit.vocabulary import Named, benchmarks_in, named, rounds_in
from mlsub.io.spelling import flat, spaced
from mlsub.rounds import known_rounds
from mlsub.rounds.publication import published
from mlsub.submission import organisations

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    re.compile(r"(?<!\d)(?P<y>20\d\d)[ -](?P<m>0[1-9]|1[0-2])[ -](?P<d>[0-2]\d|3[01])(?!\d)"),
    re.compile(rf"(?P<n>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>20\d\d)"),
    re.compile(rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<n>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?,? (?P<y>20\d\d)"),
)
_VERSION = re.compile(r"\d\.\d")
#: A round is that of a document's date if it came out within so many days before.
_RECENT = 120
_LONGEST_TITLE = 160


class Placed(msgspec.Struct, frozen=True):
    """A name of a sentence that is spaced, and where it stands."""

    name: Named
    start: int
    end: int

    @property
    def what(self) -> str:
        """What it is a name of."""
        return self.name.what


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a document says of itself, as far as found or given; ``benchmark`` is the one it names, if only one."""

    title: str
    publisher: str | None = None
    date: str | None = None
    round: str | None = None
    benchmark: frozenset[str] | None = None


@lru_cache(maxsize=64)
def placed(text: str) -> tuple[Placed, ...]:
    """The names of a sentence, in their order of kind and place."""
    shown = spaced(text)
    found: list[Placed] = []
    at: dict[str, int] = {}
    for one in named(shown):
        start = shown.find(one.written, at.get(one.what, 0))
        start = shown.find(one.written) if start < 0 else start
        at[one.what] = start + len(one.written)
        found.append(Placed(one, start, start + len(one.written)))
    return tuple(found)


def about(sentences: Sequence[Sentence], name: str, given: About) -> About:
    """What a document says of itself; what is given goes before."""
    speaks = any("mlperf" in one.text.lower() for one in sentences)
    day = given.date or next((found for one in sentences if (found := date_in(one.text)) is not None), None)
    texts = [spaced(one.text) for one in sentences if "mlperf" in one.text.lower()]
    rounds = {value for one in sentences for value in rounds_of(one.text)}
    makers = Counter(
        next(iter(values))
        for one in sentences
        for _, values in organisations.spelled().found(spaced(one.text))
        if len(values) == 1
    )
    tasks = {one.values for text in texts for one in benchmarks_in(text)}
    by_date = _round_of(day) if day and speaks else None
    return About(
        title=given.title or _title(sentences) or name,
        publisher=given.publisher or next((one for one, _ in makers.most_common(1)), None),
        date=day,
        round=given.round or (by_date if by_date in rounds else max(rounds, key=_order, default=by_date)),
        benchmark=next(iter(tasks)) if len(tasks) == 1 else None,
    )


def rounds_of(text: str) -> frozenset[str]:
    """The rounds that a sentence names."""
    if _VERSION.search(text) is None:
        return frozenset()
    return frozenset(value for one in rounds_in(spaced(text)) for value in one.values)


def _order(round_: str) -> tuple[int, ...]:
    return tuple(map(int, round_.split(".")))


def _title(sentences: Iterable[Sentence]) -> str | None:
    """The first heading, else the first sentence that could be one."""
    texts = [
        one.text for one in sentences if one.heading and not one.text.startswith("<") and date_in(one.text) is None
    ]
    return next((text[:_LONGEST_TITLE] for text in texts), None)


def date_in(text: str) -> str | None:
    """The first date of a text, as YYYY-MM-DD."""
    said = flat(text)
    for pattern in _DATES:
        for match in pattern.finditer(said):
            groups = match.groupdict()
            month = _MONTHS.index(groups["n"]) + 1 if groups.get("n") else int(groups["m"])
            try:
                return date(int(groups["y"]), month, int(groups["d"])).isoformat()
            except ValueError:
                continue
    return None


def _round_of(day: str) -> str | None:
    """The last round of training that was out on a day, if it came out shortly before."""
    days = {name: one.around for name in known_rounds("training") if (one := published("training", name)) is not None}
    ago = {name: (date.fromisoformat(day) - out).days for name, out in days.items()}
    return min((name for name, since in ago.items() if 0 <= since <= _RECENT), key=lambda name: ago[name], default=None)
