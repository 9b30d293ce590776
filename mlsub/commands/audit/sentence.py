"""Read a sentence about results: the phrases of vocabulary.yaml that it has, and its figures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

import msgspec

from mlsub.commands.audit.wording import MINUTES, step_of, usual_unit
from mlsub.io.data import shipped
from mlsub.io.show import Spellings, flat, small, spaced, spellings
from mlsub.rounds import known_rounds
from mlsub.submission.find import organisation_spellings
from mlsub.systems.names import chip_spellings, registry

#: Marks of names and footnotes, of which NFKD would make letters and digits.
_SIGNS = re.compile("[™®©¹²³⁰⁴-⁹]")
#: A word, with letters in circles and squares that NFKD leaves as they are.
_WORD = re.compile("[\\w\U0001f150-\U0001f1ff]+")
_VERSION = re.compile(r"(?<![\w.])(v ?)?([0-9]\.[0-9])(?!\w|\.[0-9])")
_DIVISION = re.compile(r"(?<![\w-])(open|closed)(?!\w)", re.IGNORECASE)
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:)\]])")
_POD = re.compile(r"(?<!\w)pod ?([0-9]{1,5})(?!\w)")
_MEMORY = re.compile(r"[0-9]+ ?gb(?!\w)")
#: A number that is written as it is counted.
_NUMBER = "[0-9.,]{1,20}|two|three|four|five|six|seven|eight|nine|ten"
_FEW = re.compile(rf"\s*(?:{_NUMBER}|a|an|one)(?![a-z])")
#: So many words at most stand between a number and what it counts.
_BETWEEN = 12
#: No word that makes a phrase another one is longer.
_NEAR = 40
#: The kinds of names, in the order in which they are compared with results.
NAMES = ("organisation", "accelerator", "benchmark", "round", "division", "pod", "chips", "nodes", "framework", "suite")


class PhraseKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of phrase in vocabulary.yaml, which says what the fields are."""

    spelled: tuple[str, ...] = ()
    means: dict[str, tuple[str, ...]] = {}
    vague: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    led_by: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    words: dict[str, int | str] = {}
    counts: dict[str, int] = {}
    alone: tuple[str, ...] = ()
    parts: dict[str, str] = {}
    owner: bool = False
    number: bool = False
    by: tuple[str, ...] = ()
    hint: str = ""

    def is_meant(self, before: str, behind: str) -> bool:
        """Return whether what stands around a phrase leaves it what it is."""
        counted = self.number and _FEW.match(behind) and not before.rstrip().endswith("the")
        return not (counted or ends_with(before, self.before) or starts_with(behind, self.after))


class Phrase(msgspec.Struct, frozen=True):
    """One phrase of a sentence: its kind, as it is written, where it stands, and everything that it may mean.

    ``certain`` is false for a name that counts only where nothing but a name can stand. ``of_product`` says of an
    organisation that an accelerator's name follows.
    """

    kind: str
    written: str
    start: int
    end: int
    values: frozenset[str] = frozenset()
    certain: bool = True
    of_product: bool = False


class SaidFigure(msgspec.Struct, frozen=True):
    """A figure of a sentence: ``time`` in minutes, ``%``, ``x`` or ``part``. ``step`` is one unit of its last digit."""

    written: str
    kind: str
    value: Fraction
    step: Fraction

    def is_stated(self, stated: SaidFigure) -> bool:
        """Return whether it is a figure that is stated; a part is also what is left, or what it is faster."""
        if self.kind != "part":
            near = abs(self.value - stated.value) <= max(self.step, stated.step) / 2
            return near and stated.kind in (self.kind, "")
        part = self.value
        same = (100 * part, 100 - 100 * part, 100 / part - 100) if stated.kind == "%" else (part, 1 / part)
        return stated.kind != "time" and any(abs(one - stated.value) <= stated.step / 2 for one in same)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence: without accents and what is not seen, with single blanks besides, its phrases and its figures."""

    plain: str
    text: str
    phrases: tuple[Phrase, ...]
    figures: tuple[SaidFigure, ...]

    def of(self, *kinds: str) -> list[Phrase]:
        """Return the phrases of some kinds, in the order of the table."""
        return [one for one in self.phrases if one.kind in kinds]

    @property
    def names(self) -> list[Phrase]:
        """The names that are certainly some."""
        return [one for one in self.of(*NAMES) if one.certain]

    @property
    def strange_word(self) -> str | None:
        """The first word with letters other than a to z."""
        return next((word for word in _WORD.findall(self.plain) if not word.isascii()), None)


def vocabulary() -> dict[str, PhraseKind]:
    """Return the table, vocabulary.yaml."""
    return shipped(__file__, "vocabulary.yaml", dict[str, PhraseKind])


def mentions(text: str, names: Iterable[str]) -> bool:
    """Return whether a text has one of some names, as words of their own."""
    said = flat(text)
    return any(re.search(rf"(?<!\w){re.escape(flat(name))}(?!\w)", said) for name in names)


def counted_unit(text: str) -> str | None:
    """Return what a text counts, chips before nodes; None where it names neither."""
    count = _name_spellings()["count"]
    return min((unit for match in count.pattern.finditer(text) for unit in count.meanings[match[1]]), default=None)


@lru_cache(maxsize=1024)
def read_sentence(text: str) -> Sentence:
    """Return a sentence with every phrase and figure that is recognised."""
    forms = unicodedata.normalize("NFKD", _SIGNS.sub(" ", text))
    plain = "".join(one for one in forms if unicodedata.category(one) not in ("Cf", "Mn"))
    shown = spaced(plain)
    return Sentence(plain, shown, tuple(_read_phrases(shown)), tuple(_read_figures(plain)))


def _read_phrases(text: str) -> Iterator[Phrase]:
    """Yield the phrases of a text with single blanks, kind by kind in the order of the table."""
    said = small(text)
    readers = {"round": _read_rounds, "division": _read_divisions, "count": _read_counts}
    for kind, row in vocabulary().items():
        if kind in readers:
            yield from readers[kind](row, text, said)
        elif row.spelled or kind in _name_spellings():
            yield from _read_spelled(kind, row, text, said)


def _read_spelled(kind: str, row: PhraseKind, text: str, said: str) -> Iterator[Phrase]:
    """Yield the phrases of a kind that are written out in the table."""
    names = _name_spellings().get(kind)
    for match in (names.pattern if names else _kind_pattern(kind)).finditer(said):
        behind = said[match.end() :].lstrip()
        if row.is_meant(said[: match.start()], behind):
            start, end = match.span()
            values = names.meanings[match[1]] if names else frozenset[str]()
            certain = not names or match[1] not in map(flat, row.vague)
            of_product = kind == "organisation" and chip_spellings().pattern.match(behind) is not None
            yield Phrase(kind, text[start:end], start, end, values, certain, of_product)


def _read_rounds(row: PhraseKind, text: str, said: str) -> Iterator[Phrase]:
    """Yield versions that are known rounds; certain where they stand as a round does."""
    known = {*known_rounds("training"), *known_rounds("hpc")}
    software = _kind_pattern("software").search(said) is not None
    for match in _VERSION.finditer(said):
        before, behind = said[: match.start()], said[match.end() :]
        led = ends_with(before, row.always)
        led = led or (not software and match[1] is not None and ends_with(before, row.led_by))
        if match[2] in known:
            certain = led and row.is_meant(before, behind)
            yield _with_meaning(match[2], "round", text, *match.span(), certain=certain)


def _read_divisions(row: PhraseKind, text: str, said: str) -> Iterator[Phrase]:
    """Yield Open and Closed; certain where they are names."""
    for match in _DIVISION.finditer(text):
        before, behind = said[: match.start()], said[match.end() :]
        placed = starts_with(behind, row.leads) or ends_with(before, row.led_by) or bool(_CLAUSE_END.match(behind))
        named = placed and match[1][0].isupper() and row.is_meant(before, behind)
        certain = named or starts_with(behind, row.always)
        yield _with_meaning(match[1].lower(), "division", text, *match.span(), certain=certain)


def _read_counts(row: PhraseKind, text: str, said: str) -> Iterator[Phrase]:
    """Yield numbers of accelerators and of nodes, also those in names of systems such as IPU-POD64."""
    for match in _POD.finditer(said):
        yield _with_meaning(match[1], "pod", text, *match.span())
    names = (chip_spellings(), _name_spellings()["benchmark"])
    taken = [found.span() for of in names for found in of.pattern.finditer(said)]
    words = vocabulary()["number"].counts
    for match in _count_pattern().finditer(said):
        inside = any(start < match.end(1) and match.start(1) < end for start, end in taken)
        if not inside and not ends_with(said[: match.start()], row.before):
            kind, length = _read_counted(said[match.end() :], row)
            if kind:
                number = words.get(match[1]) or int(match[1].replace(",", ""))
                yield _with_meaning(str(number), kind, text, match.start(), match.end() + length)


def _read_counted(rest: str, row: PhraseKind) -> tuple[str, int]:
    """Return what a number counts, by what stands behind it, and how far that reaches; empty for anything else."""
    at, named_at = 0, 0
    for _ in range(_BETWEEN):
        at += len(rest[at:]) - len(rest[at:].lstrip())
        if (unit := _name_spellings()["count"].pattern.match(rest, at)) is not None:
            another = starts_with(rest[unit.end() :], row.after)
            return ("", 0) if another else (next(iter(_name_spellings()["count"].meanings[unit[1]])), unit.end())
        if (found := chip_spellings().pattern.match(rest, at)) is not None:
            at = named_at = found.end()
        elif (found := _MEMORY.match(rest, at) or _first_of(row.between).match(rest, at)) is not None:
            at = found.end()
        else:
            break
    systems = starts_with(rest[named_at:], row.systems)
    return ("chips", named_at) if named_at and not systems else ("", 0)


def _with_meaning(value: str, kind: str, text: str, start: int, end: int, *, certain: bool = True) -> Phrase:
    """Return a phrase with one meaning."""
    return Phrase(kind, text[start:end], start, end, frozenset({value}), certain)


def _read_figures(plain: str) -> Iterator[SaidFigure]:
    """Yield the figures of a text, in digits and in words."""
    numbers = vocabulary()["number"]
    for match in _figure_pattern().finditer(plain):
        words = re.split("[ -]", (match["words"] or match["times"] or match["half"] or match["alone"] or "").lower())
        value, step = sum((Fraction(numbers.words.get(one, 0)) for one in words), Fraction()), Fraction(1, 10)
        unit = usual_unit(match["unit"]) or "part"
        if match["digits"]:
            digits = match["digits"].replace(",", "") + (match["rest"] or "").replace(",", ".")
            value, step = Fraction(digits), step_of(digits)
        elif match["part"]:
            value = (value or 1) * Fraction(numbers.parts[match["part"].lower()])
        elif match["alone"] and value >= 1:
            unit = "x"
        scale = MINUTES.get(unit, Fraction(1))
        yield SaidFigure(match[0], "time" if unit in MINUTES else unit, value * scale, step * scale)


# ---- The table as regular expressions


@lru_cache(maxsize=1)
def _figure_pattern() -> re.Pattern[str]:
    """A figure with its unit. ``8x H100`` counts chips, ``50% CL`` and what follows a sign or a letter are names."""
    numbers = vocabulary()["number"]
    words, parts, alone = ("|".join(one) for one in (numbers.words, numbers.parts, numbers.alone))
    digits = r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(?P<rest>[.,][0-9]{1,9})?"
    in_words = rf"(?P<words>(?i:(?:{words})(?:[ -](?:{words})){{0,3}}(?: an?)?))"
    units = r"(?i:%|per ?cent|minutes?|mins?|hours?|hrs?|seconds?|secs?|times|fold)"
    times = r"[x×](?!\w| ?(?:[A-Z]\w*[0-9]|[0-9]))"
    return re.compile(
        rf"(?<![\w.,/$€£])(?<![^\W\d]-)(?:{digits}|{in_words})[\s-]{{0,2}}(?P<unit>{units}|{times})"
        rf"|(?<!\w)(?:(?P<times>(?i:an?|{words}))[ -](?P<part>(?i:{parts}))|(?<!first )(?<!second )(?P<half>(?i:half)))"
        r"(?: of)? (?:the|as|its)(?!\w)"
        rf"|(?<!\w)(?P<alone>(?i:{alone}))(?!\w)"
    )


@lru_cache(maxsize=1)
def _count_pattern() -> re.Pattern[str]:
    """A number that may count accelerators or nodes."""
    words = "|".join(sorted(vocabulary()["number"].counts, key=len, reverse=True))
    return re.compile(rf"(?<![\w.,$€£%/])([0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,9}}|{words})(?= |x )(?: ?[x×])?")


@lru_cache(maxsize=1)
def _name_spellings() -> Mapping[str, Spellings]:
    """Return the spellings of each kind of which phrases have a meaning."""
    pairs: dict[str, list[tuple[str, list[str]]]] = {
        kind: [(phrase, [name]) for name, phrases in row.means.items() for phrase in phrases]
        for kind, row in vocabulary().items()
        if row.means
    }
    pairs["benchmark"] += [(folder, [folder]) for folder in vocabulary()["benchmark"].means]
    frameworks = registry().frameworks.names
    pairs["framework"] += [(one, [name]) for name, known in frameworks.items() for one in (name, *known.aliases)]
    elsewhere = {"organisation": organisation_spellings(), "accelerator": chip_spellings()}
    return elsewhere | {kind: spellings(some) for kind, some in pairs.items()}


@lru_cache(maxsize=64)
def _kind_pattern(kind: str) -> re.Pattern[str]:
    """Return an expression for the phrases of a kind that has a list of them."""
    phrases = "|".join(map(_phrase_pattern, vocabulary()[kind].spelled))
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)")


def _phrase_pattern(phrase: str) -> str:
    """Return an expression for a phrase with ``a|b``, ``a?``, ``*`` and ``#``; the last word is not optional."""
    found = ""
    for word in flat(phrase).split():
        choices = "|".join(map(re.escape, word.rstrip("?").split("|"))).replace(r"\#", f"(?:{_NUMBER})")
        one = r"[\w.]+" if word == "*" else f"(?:{choices})"
        found += f"(?:{one} )?" if word == "*" or word.endswith("?") else f"{one} "
    return found.rstrip()


@lru_cache(maxsize=64)
def _first_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest))})(?!\w)")


@lru_cache(maxsize=64)
def _last_of(words: tuple[str, ...]) -> re.Pattern[str]:
    # No word at all is one of a list with "": behind a sign, or at the start.
    found = [rf"(?<!\w){re.escape(one)}$" if one else r"(?<!\w)$" for one in words]
    return re.compile("|".join(found))


def starts_with(text: str, words: tuple[str, ...]) -> bool:
    """Return whether one of some words stands first in a text."""
    return bool(words) and _first_of(words).match(text.lstrip()) is not None


def ends_with(text: str, words: tuple[str, ...]) -> bool:
    """Return whether one of some words stands last in a text."""
    return bool(words) and _last_of(words).search(text[-_NEAR:].rstrip()) is not None
