"""From the figures of a document to proposed claims: expressions over the results that the names around them mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from itertools import product as pairs_of

import msgspec

from mlsub.commands.audit.draft.candidates import Entry, Wanted, matching
from mlsub.commands.audit.draft.figures import contains, figures_in
from mlsub.commands.audit.draft.model import Figure, Sentence
from mlsub.commands.audit.draft.names import About, Placed, placed
from mlsub.commands.audit.draft.sides import COMPARED, Side, Sides, clause_of, sides_of
from mlsub.commands.audit.draft.words import words
from mlsub.io.spelling import flat, spaced, spellings
from mlsub.rounds import known_rounds
from mlsub.submission.organisations import organisation, organisations
from mlsub.systems.chips import all_chips

#: So many figures of a document are read: what a claims file may hold.
MOST = 1000
#: So many sentences of a section a leaning one leans on.
_LEANS_ON = 3
#: So far from a ratio stand the words that make it one per price.
_NEAR = 60
#: More results than this a sentence leaves too open.
_MOST = 6
#: Figures of one result, and what gives them.
_OF_ONE = {"time": "minutes({0})", "hosts": "hosts({0})", "chips": "chips({0})"}
_KINDS = {"time": "time_to_train", "ids": "mlperf_id", "price": "price", "throughput": "throughput"}


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """A price that a document gives, of what it names around it; ``name`` is that of the input."""

    name: str
    figure: Figure
    side: Side
    line: int


class Call(msgspec.Struct, frozen=True):
    """One expression: ``form`` with the names of results in the place of ``{0}`` and ``{1}``."""

    form: str
    results: tuple[Entry, ...] = ()


class Guess(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with what is proposed for it: readings of it, or the reason why there is none.

    ``selectors`` are the names of the results by what they are of; ``own`` are those that the text itself has.
    """

    sentence: Sentence
    figure: Figure
    text: str
    kind: str
    calls: tuple[Call, ...] = ()
    prices: tuple[Price, ...] = ()
    reason: str | None = None
    selectors: dict[str, str] = {}
    own: dict[str, str] = {}


class Nothing(Exception):  # noqa: N818  (it never leaves this module)
    """Why a figure has no proposal."""


class Proposer:
    """Reads the sentences of a document in order. ``entries`` are the results there are, None where none are given."""

    def __init__(self, sentences: Sequence[Sentence], about: About, entries: Sequence[Entry] | None) -> None:
        self._sentences, self._about, self._entries = sentences, about, entries
        self._prices: list[Price] = []
        self._headings = {one.section: one for one in sentences if one.heading}
        folders = sorted({one.submitter for one in entries or ()}, key=len, reverse=True)
        self._submitters = spellings((name, organisation(name).split("+")) for name in folders) if folders else None

    def guesses(self) -> Iterator[Guess]:
        """A guess for each figure, in the order of the document, up to MOST of them."""
        with_figures: list[tuple[int, str, tuple[Figure, ...]]] = []
        for at, one in enumerate(self._sentences):
            text = spaced(one.text)
            if figures := figures_in(text):
                with_figures.append((at, text, figures))
            if sum(len(figures) for _, _, figures in with_figures[-MOST:]) >= MOST:
                break
        self._prices = list(self._all_prices(with_figures))
        every = ((at, text, figure, figures) for at, text, figures in with_figures for figure in figures)
        for at, text, figure, figures in islice(every, MOST):
            yield self._guess(at, text, figure, figures)

    def _all_prices(self, read: Sequence[tuple[int, str, tuple[Figure, ...]]]) -> Iterator[Price]:
        found = [(at, text, figures, one) for at, text, figures in read for one in figures if one.kind == "price"]
        for number, (at, text, figures, figure) in enumerate(found, 1):
            side = sides_of(text, figure, figures, placed(text)).own
            yield Price(name=f"price_{number}", figure=figure, side=side, line=self._sentences[at].line)

    def _guess(self, at: int, text: str, figure: Figure, figures: tuple[Figure, ...]) -> Guess:
        sentence = self._sentences[at]
        start, end = clause_of(text, figure, figures)
        guess = Guess(
            sentence=sentence,
            figure=figure,
            text=_as_written(sentence.text, text, _begins(text, figure, start), end),
            kind=_KINDS.get(figure.kind, "speed_up" if figure.kind in ("ratio", "percent") else "system_configuration"),
        )
        try:
            _check_elsewhere(figure, flat(text), flat(text[start:end]))
            sides = sides_of(text, figure, figures, placed(text))
            if figure.kind in ("systems", "results", "benchmarks", "ids"):
                return self._count(guess, sides.own)
            return self._of_results(guess, at, self._completed(at, text, figure, sides))
        except Nothing as nothing:
            return msgspec.structs.replace(guess, reason=str(nothing))

    def _count(self, guess: Guess, side: Side) -> Guess:
        round_ = side.round or self._about.round
        who = next(iter(sorted(side.organisations or self._submitter(guess.text))), None) or self._about.publisher
        if round_ is None or who is None:
            raise Nothing("names no round of MLPerf" if round_ is None else "names no submitter")
        folders = {one.submitter for one in self._entries or () if who in one.organisations and one.round == round_}
        if self._entries is not None and len(folders) != 1:
            raise Nothing(f"no results of {who} in v{round_} are given")
        function = {"ids": "count", "results": "count"}.get(guess.figure.kind, guess.figure.kind)
        only = f", division='{side.division}'" if side.division else ""
        folder = next(iter(folders), who).replace("'", "")
        form = f"{function}('v{round_}', '{folder}'{only})"
        own = {"round": f"v{side.round}"} if side.round else {}
        return msgspec.structs.replace(
            guess, calls=(Call(form),), selectors={"round": f"v{round_}", "submitter": who}, own=own
        )

    def _completed(self, at: int, text: str, figure: Figure, sides: Sides) -> Sides:
        """The sides with what the sentence leaves open.

        The benchmark is that of the sentences before it, or of its heading; where it leans on them, the division is
        theirs too, and so is whom they name besides the publisher.
        """
        own, other = sides.own, sides.other
        before, heading = self._above(at)
        leaning = contains(flat(text), words().leaning)
        for names in (*before, *heading):
            tasks, divisions = _only(names, "benchmark"), _only(names, "division")
            if own.benchmark is None and tasks:
                own = msgspec.structs.replace(own, benchmark=tasks)
            if leaning and own.division is None and divisions and not _names(text, "division"):
                own = msgspec.structs.replace(own, division=next(iter(divisions)))
            if leaning and not own.whose and (pods := _only(names, "pod")):
                own = msgspec.structs.replace(own, chips=int(next(iter(pods))), pod=True)
            others = _only([one for one in names if not one.name.of_host], "organisation", self._about.publisher)
            if leaning and other is None and figure.kind in ("ratio", "percent") and not sides.before and others:
                other = Side(organisations=others)
        if own.benchmark is None:
            own = msgspec.structs.replace(own, benchmark=self._about.benchmark)
        return Sides(own, other, sides.before)

    def _above(self, at: int) -> tuple[list[tuple[Placed, ...]], list[tuple[Placed, ...]]]:
        """The names of the sentences of a section before one, the nearest first, and those of its heading."""
        section = self._sentences[at].section
        start = max(0, at - _LEANS_ON)
        before = [one for one in reversed(self._sentences[start:at]) if one.section == section and not one.heading]
        heading = self._headings.get(section)
        heads = [heading] if heading is not None else []
        return [placed(spaced(one.text)) for one in before], [placed(spaced(one.text)) for one in heads]

    def _of_results(self, guess: Guess, at: int, sides: Sides) -> Guess:
        """A figure that results decide: their times, or the hosts of one."""
        figure, about = guess.figure, self._about
        wanted = self._wanted(sides.own, guess.text, counted=figure.kind in ("chips", "hosts") and not sides.own.pod)
        guess = msgspec.structs.replace(guess, selectors=_selectors(wanted), own=_own(sides.own), kind=guess.kind)
        if figure.kind in _OF_ONE:
            form = _OF_ONE[figure.kind]
            found = self._found(wanted)
            return msgspec.structs.replace(guess, calls=tuple(Call(form, (one,)) for one in found) or (Call(form),))
        per_price = self._per_price(at, figure)
        other = self._other(sides, wanted, about)
        form = "ratio({1}, {0})" if figure.kind == "ratio" else "speedup({1}, {0})"
        prices: tuple[Price, ...] = ()
        if per_price:
            prices = self._both_prices(sides.own, sides.other)
            first, second = (one.name for one in prices)
            form = f"per_dollar({{0}}, {first}) / per_dollar({{1}}, {second})"
        pairs = [pair for pair in pairs_of(self._found(wanted), self._found(other)) if pair[0] != pair[1]]
        both = _alike(pairs, alike=wanted.chips is None and other.chips is None)
        if self._entries is not None and (not both or len(both) > _MOST):
            raise Nothing("the two sides are the same result" if not both else f"{len(both)} pairs of results fit")
        guess = msgspec.structs.replace(guess, selectors={**guess.selectors, **_selectors(other, "other_")})
        return msgspec.structs.replace(
            guess,
            kind="performance_per_dollar" if per_price else "speed_up",
            calls=tuple(Call(form, pair) for pair in both) or (Call(form),),
            prices=prices,
        )

    def _per_price(self, at: int, figure: Figure) -> bool:
        """Whether a ratio is one of performance per price: by words near it, or in the sentences that it leans on."""
        text = flat(self._sentences[at].text)
        if contains(text[max(0, figure.start - _NEAR) : figure.end + _NEAR], words().per_price):
            return True
        before = self._sentences[max(0, at - _LEANS_ON) : at] if contains(text, words().leaning) else ()
        return any(contains(flat(one.text), words().per_price) for one in before)

    def _wanted(self, side: Side, text: str, *, counted: bool = False) -> Wanted:
        round_ = side.round or self._about.round
        if round_ is None:
            raise Nothing("neither the sentence nor the document names a round of MLPerf")
        if side.benchmark is None:
            raise Nothing("names no benchmark of MLPerf Training")
        return Wanted(
            round=round_,
            benchmark=side.benchmark,
            organisations=side.organisations or self._submitter(text),
            accelerators=side.accelerators,
            division=side.division,
            chips=None if counted else side.chips,
            pod=side.pod,
            nodes=side.nodes if not counted else None,
            own=self._about.publisher,
            text=text,
        )

    def _other(self, sides: Sides, wanted: Wanted, about: About) -> Wanted:
        """What the other side of a comparison should be: named, or the same in the round before."""
        if sides.other is not None:
            side, text = sides.other, " ".join(sides.other.written.values())
            named = msgspec.structs.replace(
                self._wanted(msgspec.structs.replace(side, benchmark=sides.own.benchmark), text),
                round=side.round or wanted.round,
                division=side.division or wanted.division,
            )
            if side.whose:
                return named
            return msgspec.structs.replace(wanted, round=named.round, division=named.division)
        if sides.before:
            rounds = known_rounds("training")
            earlier = rounds[: rounds.index(wanted.round)] if wanted.round in rounds else ()
            if earlier:
                # Of an earlier round the system is another one, of as many chips.
                return msgspec.structs.replace(wanted, round=earlier[-1], accelerators=frozenset())
        raise Nothing("does not name what it is compared with")

    def _submitter(self, text: str) -> frozenset[str]:
        """A submitter that the table of organisations lacks, by the name of its folder of results."""
        found = next(self._submitters.found(text), None) if self._submitters else None
        return frozenset() if found is None else found[1] - organisations().keys()

    def _found(self, wanted: Wanted) -> tuple[Entry, ...]:
        if self._entries is None:
            return ()
        found = matching(self._entries, wanted)
        if not found:
            raise Nothing(f"no result given fits: {', '.join(_selectors(wanted).values())}")
        if len(found) > _MOST:
            raise Nothing(
                f"{len(found)} results fit; the sentence does not say which: {', '.join(_selectors(wanted).values())}"
            )
        return found

    def _both_prices(self, own: Side, other: Side | None) -> tuple[Price, Price]:
        """The prices of both sides, each by the names that stand around it in the document."""
        first = [one for one in self._prices if _same_system(one.side, own)]
        second = [one for one in self._prices if other is not None and _same_system(one.side, other)]
        second = [one for one in second if one not in first]
        first = first or [
            one for one in self._prices if self._about.publisher in one.side.organisations and one not in second
        ]
        if not first or not second:
            raise Nothing("a ratio of performance per price, of which the document does not give both prices")
        return first[0], second[0]


def _same_system(one: Side, other: Side) -> bool:
    if other.chips is not None and one.chips is not None:
        return one.chips == other.chips
    return bool(one.organisations & other.organisations or one.accelerators & other.accelerators)


def _alike(pairs: Sequence[tuple[Entry, Entry]], *, alike: bool) -> list[tuple[Entry, Entry]]:
    """Pairs of one division, and where ``alike`` of as many accelerators, if there are any."""
    same = [pair for pair in pairs if pair[0].division == pair[1].division] or list(pairs)
    of_size = [pair for pair in same if pair[0].chips == pair[1].chips]
    return of_size if of_size and alike else same


def _only(names: Sequence[Placed], what: str, but: str | None = None) -> frozenset[str] | None:
    """The one thing of a kind that is named; None where there are several or none."""
    values = {one.name.values for one in names if one.what == what and but not in one.name.values}
    return next(iter(values)) if len(values) == 1 else None


def _names(text: str, what: str) -> bool:
    return any(one.what == what for one in placed(text))


def _check_elsewhere(figure: Figure, sentence: str, clause: str) -> None:
    """Whether a figure is one that no result of a round has.

    Raises:
        Nothing: it is, and why.
    """
    table = words()
    if figure.kind == "price":
        raise Nothing("a price; no log has it, and a claim that needs it takes it as an input")
    if figure.kind == "throughput":
        raise Nothing(table.elsewhere[0].reason)
    for text in (clause, sentence):
        for one in table.elsewhere:
            if contains(text, one.words) and not contains(sentence, one.unless):
                raise Nothing(one.reason)
    if contains(sentence, table.foreign) and not _names(clause, "benchmark"):
        raise Nothing("a model that is not an MLPerf benchmark")
    if figure.kind == "percent" and not contains(sentence, table.gains):
        raise Nothing("a percentage that is not one of time or speed")


def _selectors(wanted: Wanted, prefix: str = "") -> dict[str, str]:
    """The names that a result should have, for people."""
    found = {
        "round": f"v{wanted.round}",
        "submitter": " or ".join(sorted(wanted.organisations)) or (wanted.own or ""),
        "benchmark": " or ".join(sorted(wanted.benchmark)),
        "accelerator": " or ".join(sorted(wanted.accelerators & all_chips().keys())),
        "accelerators": str(wanted.chips or ""),
        "division": wanted.division or "",
    }
    return {f"{prefix}{name}": text for name, text in found.items() if text}


def _own(side: Side) -> dict[str, str]:
    """What the sentence itself says of the result, as ``says`` of a claim."""
    found = {
        "round": f"v{side.round}" if side.round else "",
        "benchmark": side.written.get("benchmark", ""),
        "division": side.division if "division" in side.written and side.division else "",
    }
    return {name: text for name, text in found.items() if text}


def _begins(text: str, figure: Figure, start: int) -> int:
    """Where the words about a figure begin: behind a colon, if others are compared before that."""
    at = max(text.rfind(": ", start, figure.start), text.rfind("; ", start, figure.start))
    return at + 2 if at >= 0 and COMPARED.search(text, start, at) else start


def _as_written(original: str, text: str, start: int, end: int) -> str:
    """A part of a spaced text as the original has it, with its hyphens."""
    places, at = [], 0
    for letter in text:
        at = at if letter == " " else max(original.find(letter, at), at)
        places.append(at)
        at = min(at + 1, len(original))
    first = places[start] if start < len(places) else 0
    last = places[end - 1] + 1 if 0 < end <= len(places) else len(original)
    part = original[first:last] if end < len(text) else original[first:]
    return re.sub(r"^(?:and|while|but|whereas) ", "", part.strip(" ,;|"))
