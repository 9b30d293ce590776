"""What stands in a document: its footnote (R03 to R06), and the name MLPerf (R19, R20).

A footnote serves all sentences in its reach, so it is checked once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.quoting import (
    FOOTNOTE_LINE,
    Hit,
    Message,
    Text,
    any_benchmark,
    benchmark_words,
    enumerated,
    flat_document,
    mentions,
    quote,
)
from mlsub.io.show import flat

#: The form that the guidelines give the ID of a result: major.minor-entry[.benchmark].
ID = re.compile(r"\d+\.\d+-\d+(\.\w+)?")
_IDS = re.compile(rf"(?<![\w.-]){ID.pattern}(?![\w-])")
_AFTER_ID = re.compile(
    r"\b(?:mlperf\W{0,4}(?:result\W{1,3})?ids?|entry|entries)\s*+(?:[:#]\s*+)?((?:[^\s,;|]++[,;]\s*+)*[^\s,;|]++)", re.I
)
_LOOKS_LIKE_ID = re.compile(r"\d++\.\d++(?=\S*[-.]\S)\S++")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+\d{{4}}|{_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}|"
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4}",
    re.I,
)
_RETRIEVED = re.compile(r"\b(?:retrieved|accessed|downloaded|obtained|as of)\b", re.I)
_SOURCE = re.compile(r"https?://\S+|\b[\w-]+\.(?:org|com|net|io|ai)\b|\bgithub\b|\bfrom mlcommons\b", re.I)
_SUITE = re.compile(r"\b(?:training|inference|hpc|tiny|mobile|storage|client)\b", re.I)
_VERSION = re.compile(
    r"\bv\s?(\d+\.\d+)|\bversion\s+(\d+\.\d+)|\b(?:training|inference|hpc|mlperf)[\s™®]{1,3}(\d+\.\d+)(?![\d-])", re.I
)
_DIVISION = re.compile(r"\b(open|closed)\b", re.I)
#: So much behind "retrieved" belongs to it.
_REACH = 200


class Parts(msgspec.Struct, frozen=True):
    """What a footnote says. ``ids`` are of the right form, ``malformed`` stand where an ID should."""

    suite: bool
    versions: frozenset[str]
    divisions: frozenset[str]
    date: bool
    source: bool
    ids: tuple[str, ...]
    malformed: tuple[str, ...]
    flat: str


def cites_results(text: str) -> bool:
    """Whether a document gives IDs of results, and so is about results."""
    return any(
        "mlperf" in line.lower() and FOOTNOTE_LINE.search(line) and _IDS.search(line) for line in text.splitlines()
    )


def parts(footnote: str) -> Parts:
    """What a footnote says."""
    window = ""
    if match := _RETRIEVED.search(footnote):
        window = footnote[match.start() : match.end() + _REACH]
        window = re.split(r"name and logo", window, maxsplit=1, flags=re.I)[0]
    listed = " ".join(match[1] for match in _AFTER_ID.finditer(footnote))
    candidates = [token.strip("()[].,;") for token in re.split(r"[\s,;|]+", listed)]
    return Parts(
        suite=bool(_SUITE.search(footnote)),
        versions=frozenset(one or two or three for one, two, three in _VERSION.findall(footnote)),
        divisions=frozenset(found.lower() for found in _DIVISION.findall(footnote)),
        date=bool(_DATE.search(window)),
        source=bool(_SOURCE.search(window)),
        ids=tuple(dict.fromkeys(match[0] for match in _IDS.finditer(footnote))),
        malformed=tuple(t for t in candidates if _LOOKS_LIKE_ID.fullmatch(t) and not ID.fullmatch(t)),
        flat=flat(footnote),
    )


def ids_of(line: str) -> tuple[str, ...]:
    """The IDs on a line."""
    return tuple(match[0] for match in _IDS.finditer(line))


def round_of(result_id: str) -> str:
    """The round that an ID names: ``1.0`` of ``1.0-1025``."""
    return result_id.split("-")[0]


def no_footnote(text: Text) -> Hit:
    """A document about results without any footnote: one finding, which names all that belongs in it."""
    all_of_it = f"suite, version, division, benchmark, retrieval, result ID, and: {text.legend}"
    return Hit("R03", "there is no footnote on the results", expected=all_of_it)


def footnote_hits(footnote: str, operands: Sequence[ResultFacts], publisher: str | None) -> Iterator[Hit]:
    """R03, R04 and R05 on a footnote that serves some results; none where a document quotes them without claims."""
    said = parts(footnote)
    yield from _identity(said, operands)
    verified = [operand for operand in operands if operand.reviewed]
    if operands and not verified:
        return  # what was never reviewed has neither an entry nor an ID to retrieve
    yield from _retrieval(said)
    yield from _form(said)
    yield from _ids(footnote, said, verified, publisher)


def noted_hits(message: Message) -> Iterator[Hit]:
    """R04 and R05 where the claims file notes what the footnote has, and gives no footnote itself."""
    verified = [operand for operand in message.compared if operand.reviewed]
    if not verified:
        return
    if message.noted("retrieved") == ():
        yield Hit("R04", "the footnote does not say when and from where the results were retrieved")
    ids = message.noted("ids")
    if ids is not None:
        footnote = f"MLPerf ID: {', '.join(ids)}"
        said = parts(footnote)
        yield from _form(said)
        yield from _ids(footnote, said, verified, None)


def _identity(said: Parts, operands: Sequence[ResultFacts]) -> Iterator[Hit]:
    missing = [] if said.suite else ["the suite"]
    missing += _missing("version", (f"v{name}" for name in _rounds(operands)), {f"v{name}" for name in said.versions})
    divisions = sorted({operand.division for operand in operands if operand.division})
    missing += _missing("division", divisions, said.divisions)
    benchmarks = dict.fromkeys(operand.benchmark for operand in operands if operand.benchmark)
    lacking = [name for name in benchmarks if not mentions(said.flat, benchmark_words(name))]
    if not (any_benchmark(said.flat) if not benchmarks else len(lacking) < len(benchmarks)):
        missing.append("the benchmark")
    else:
        missing += [f"the benchmark {name}" for name in lacking]
    if missing:
        yield Hit("R03", f"the footnote lacks {enumerated(missing)}")


def _missing(what: str, wanted: Iterable[str], said: Iterable[str]) -> list[str]:
    if not (said := set(said)):
        return [f"the {what}"]
    return [f"the {what} {name}" for name in wanted if name not in said]


def _rounds(operands: Iterable[ResultFacts]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(operand.round for operand in operands))


def _retrieval(said: Parts) -> Iterator[Hit]:
    missing = [*([] if said.date else ["when"]), *([] if said.source else ["from where"])]
    if missing:
        yield Hit("R04", f"the footnote does not say {enumerated(missing)} the results were retrieved")


def _form(said: Parts) -> Iterator[Hit]:
    for token in dict.fromkeys(said.malformed):
        yield Hit(
            "R05",
            f"{quote(token)} is not the ID of a result",
            expected="major.minor-entry, with .benchmark behind it if wanted: 1.0-1025",
        )


def _ids(footnote: str, said: Parts, operands: Sequence[ResultFacts], publisher: str | None) -> Iterator[Hit]:
    if not said.ids:
        if not said.malformed:
            yield Hit("R05", "the footnote has no ID of a result")
        return
    known = [operand for operand in operands if operand.id]
    for operand in known:
        if operand.id not in said.ids:
            yield Hit("R05", f"the footnote lacks the ID {operand.id} of {_called([operand])}")
    rest = [operand for operand in operands if not operand.id]
    free = [line for line in footnote.splitlines() if ids_of(line)]
    for name in _rounds(rest):
        of_round = [operand for operand in rest if operand.round == name]
        if not any(round_of(found) == name for found in said.ids):
            rounds = enumerated(sorted({f"v{round_of(found)}" for found in said.ids}))
            yield Hit("R05", f"the IDs in the footnote are of {rounds}, and a result is of v{name}")
            continue
        submitters = dict.fromkeys(operand.submitter for operand in of_round if operand.submitter)
        for submitter in submitters:
            theirs = [operand for operand in of_round if operand.submitter == submitter]
            yield from _of_submitter(submitter, theirs, free, list(submitters), publisher)


def _of_submitter(
    submitter: str, theirs: list[ResultFacts], lines: list[str], submitters: list[str], publisher: str | None
) -> Iterator[Hit]:
    """A line of IDs is that of the submitters it names, or of everybody's where it names none."""
    name = theirs[0].round
    everybody = (*submitters, *([publisher] if publisher else []))
    own = [line for line in lines if mentions(flat(line), [submitter])]
    shared = [line for line in lines if not any(mentions(flat(line), [other]) for other in everybody)]
    found = {one for line in (*own, *shared) for one in ids_of(line) if round_of(one) == name}
    wanted = {(operand.system, operand.benchmark, operand.division) for operand in theirs}
    if not found:
        yield Hit("R05", f"the footnote has no ID for the results of {submitter}: {_called(theirs)}")
    elif len(found) < len(wanted):
        yield Hit(
            "R05",
            f"the footnote has too few IDs for the results of {submitter}: {_called(theirs)}",
            expected=str(len(wanted)),
            actual=str(len(found)),
        )


def _called(operands: Iterable[ResultFacts]) -> str:
    return enumerated(dict.fromkeys(f"{o.system or o.name} {o.benchmark or ''}".strip() for o in operands))


def trademark_hits(footnote: str, document: str | None, text: Text) -> Iterator[Hit]:
    """R06: the older text wants a clear reference to the trademark, today's wants its own words."""
    said = (flat(footnote), flat_document(document))
    if any(flat(text.legend) in where for where in said):
        return
    if not any("trademark" in where for where in said):
        yield Hit("R06", "MLPerf is nowhere called a trademark", expected=text.legend)
    elif "registered" in text.legend:
        yield Hit("R06", "the trademark is attributed in other words than the text's", expected=text.legend)


_SIGN = re.compile(r"\s?(™|®|\(TM\)|\(R\)|&trade;|&reg;)", re.I)
_PLAIN_SIGNS = {"&trade;": "™", "&reg;": "®"}
#: The name, or what was made of it, but not where it is part of an address or a path.
_NAME = re.compile(
    r"(?<![\w./@])(?:(?P<name>MLPerf|MLPERF)|(?P<other>(?i:ml[- ]?perf)))(?=s?\b|ed\b|ing\b)(?![./@]\w|_)"
)
_LEGEND = re.compile(r"\s+name and logo\b", re.I)
_POSSESSIVE = re.compile(r"['’]s\b")
_PLURAL = re.compile(r"(?i:s)\b")
_JOINED = re.compile(r"[-‐‑]\w")
#: Behind a noun stands the end of a clause, or a verb, or what joins clauses; behind an adjective its noun.
_NOUN = re.compile(
    r"\s*(?:$|[.,;:!?)\]])|\s+(?:also|now|has|have|is|was|are|were|will|can|may|shows?|showed|measures?|proves?|continu\w+|"
    r"provides?|offers?|remains?|and|or|but|on|in|for|to|with|by|first|at|as|from|which|that)\b",
    re.I,
)


class Occurrence(msgspec.Struct, frozen=True):
    """The name once in a text: its 1-based line, the sign behind it, what was made of it, what stands around."""

    line: int
    sign: str | None
    legend: bool
    altered: str | None
    noun: bool
    around: str


def occurrences(text: str) -> Iterator[Occurrence]:
    """Every use of the name in a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _NAME.finditer(line):
            sign = _SIGN.match(line, match.end())
            end = sign.end() if sign else match.end()
            before = line[max(0, match.start() - 4) : match.start()]
            altered = _altered(match, line, end, before)
            yield Occurrence(
                line=number,
                sign=_PLAIN_SIGNS.get(sign[1].lower(), sign[1].upper()) if sign else None,
                legend=bool(_LEGEND.match(line, end)),
                altered=altered,
                noun=altered is None and bool(_NOUN.match(f"{line[end:]} ")),
                around=_around(line, match.start(), end),
            )


def _around(line: str, start: int, end: int) -> str:
    """Some whole words on both sides."""
    left, right = line[max(0, start - 20) : start], line[end : end + 25]
    if start > 20:
        left = left.partition(" ")[2] if " " in left else left
    if len(line) > end + 25:
        right = right.rpartition(" ")[0] if " " in right else right
    return left + line[start:end] + right


def _altered(match: re.Match[str], line: str, end: int, before: str) -> str | None:
    if match["other"]:
        return "in another spelling"
    if _POSSESSIVE.match(line, end):
        return "in the possessive"
    if _PLURAL.match(line, end):
        return "in the plural"
    if line[end : end + 1].isalpha():
        return "as a verb"
    if _JOINED.match(line, end) or re.search(r"\w[-‐‑]$", before):
        return "with a hyphen"
    return None


def sign_hits(text: str, rules: Text) -> Iterator[Hit]:
    """R19: uses of the name without a sign that the text allows; the legend's own words go without."""
    uses = [use for use in occurrences(text) if not use.legend]
    bare = [use for use in uses if use.sign not in rules.symbols]
    if not bare:
        return
    yield Hit(
        "R19",
        f"{len(bare)} of {len(uses)} uses of the name lack {rules.symbol}; first {quote(bare[0].around)}",
        line=bare[0].line,
        expected=f"MLPerf{rules.symbol}",
    )


def alteration_hits(text: str) -> Iterator[Hit]:
    """R20: one finding for each way in which the name is altered or misused."""
    kinds: dict[str, list[Occurrence]] = {}
    for use in occurrences(text):
        if use.legend:
            continue
        if use.altered is not None:
            kinds.setdefault(use.altered, []).append(use)
        elif use.noun:
            kinds.setdefault("as a noun", []).append(use)
    for kind, uses in kinds.items():
        often = "once" if len(uses) == 1 else f"{len(uses)} times"
        yield Hit("R20", f"the name MLPerf is used {kind} {often}; first {quote(uses[0].around)}", line=uses[0].line)
