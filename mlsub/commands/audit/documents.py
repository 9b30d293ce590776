"""The rules on a document: its footnote on results (R03 to R06), and the name MLPerf in it (R10, R19, R20).

A footnote serves all sentences in its reach, so it is checked once. The footnote that a claim needs is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.commands.audit.facts import ResultFacts
from mlsub.commands.audit.quoting import (
    AUTO,
    FOOTNOTE_LINE,
    NOT_VERIFIED,
    UNVERIFIED_BESIDE_VERIFIED,
    Document,
    Hit,
    Message,
    Text,
    Unchecked,
    Written,
    benchmark_words,
    enumerated,
    find_footnote,
    flat_document,
    lacking,
    mentions,
    names,
    quote,
    text_for,
)
from mlsub.findings import Severity
from mlsub.io.show import flat
from mlsub.rules.load import benchmark

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


def own_footnote_hits(message: Message, text: Text) -> Iterator[Hit]:
    """Yield what is wrong with a sentence's own footnote, or with what the claims file notes of it."""
    if message.footnote and message.compared:
        yield from footnote_hits(message.reach or "", message.compared, message.document.publisher)
        yield from trademark_hits(message.reach or "", message.document.text, text)
    else:
        yield from noted_hits(message)


def document_hits(document: Document, messages: Sequence[Message], text: Text) -> Iterator[Hit | Unchecked]:
    """Yield what is wrong with a document: its footnote, once for all sentences without an own one, and its words."""
    served = [message for message in messages if message.compared and not message.footnote]
    quoted = any(message.compared for message in messages) or bool(document.text and cites_results(document.text))
    footnote = document.footnote or (find_footnote(document.text) if document.text else None)
    if footnote and (served or not messages) and quoted:
        operands = {operand.name: operand for message in served for operand in message.compared}
        yield from footnote_hits(footnote, tuple(operands.values()), document.publisher)
        yield from trademark_hits(footnote, document.text, text)
    elif served and document.text is not None:
        yield no_footnote(text)
    elif served:
        yield Unchecked("R03 to R06", f"in {document.name}: neither its text nor a footnote is given")
    if document.text is None and quoted:
        yield Unchecked("R19, R20", f"in {document.name}: its text is not given")
    if document.text is not None:
        # The older text shows the sign in its examples, which are all of results.
        if quoted or "sign" in text.wants:
            yield from sign_hits(document.text, text)
        yield from alteration_hits(document.text)
        yield from foreign_titles(document.text)


def cites_results(text: str) -> bool:
    """Return whether a document gives IDs of results, and so is about results."""
    lines = (line for line in text.splitlines() if "mlperf" in line.lower())
    return any(FOOTNOTE_LINE.search(line) and _IDS.search(line) for line in lines)


def no_footnote(text: Text) -> Hit:
    """Return the finding on a document about results without any footnote, which names all that belongs in it."""
    all_of_it = f"suite, version, division, benchmark, retrieval, result ID, and: {text.legend}"
    return Hit("R03", "there is no footnote on the results", expected=all_of_it)


def footnote_hits(footnote: str, operands: Sequence[ResultFacts], publisher: str | None) -> Iterator[Hit]:
    """R03, R04 and R05 on a footnote that serves some results; none where a document quotes them without claims."""
    yield from lacking("R03", "the footnote lacks {}", _identity(footnote, operands))
    verified = [operand for operand in operands if operand.reviewed]
    if operands and not verified:
        return  # what was never reviewed has neither an entry nor an ID to retrieve
    start = _RETRIEVED.search(footnote)
    window = re.split("(?i:name and logo)", footnote[start.start() : start.end() + _REACH])[0] if start else ""
    wants = [(_DATE.search(window), "when"), (_SOURCE.search(window), "from where")]
    yield from lacking("R04", "the footnote does not say {} the results were retrieved", wants)
    yield from _ids(footnote, verified, publisher)


def noted_hits(message: Message) -> Iterator[Hit]:
    """R04 and R05 where the claims file notes what the footnote has, and gives no footnote itself."""
    verified = [operand for operand in message.compared if operand.reviewed]
    if verified and message.noted("retrieved") == ():
        yield Hit("R04", "the footnote does not say when and from where the results were retrieved")
    if verified and (ids := message.noted("ids")) is not None:
        yield from _ids(f"MLPerf ID: {', '.join(ids)}", verified, None)


def _identity(footnote: str, operands: Sequence[ResultFacts]) -> Iterator[tuple[object, str]]:
    """Yield whether each part of the results' identity is in a footnote, and what that part is called."""
    said = flat(footnote)
    benchmarks = dict.fromkeys(operand.benchmark for operand in operands if operand.benchmark)
    named = {name for name in benchmarks or names() if mentions(said, benchmark_words(name))}
    versions = {f"v{one or two or three}" for one, two, three in _VERSION.findall(footnote)}
    divisions = {found.lower() for found in _DIVISION.findall(footnote)}
    yield _SUITE.search(footnote), "the suite"
    for what, wanted, found in (
        ("version", [f"v{name}" for name in _rounds(operands)], versions),
        ("division", sorted({operand.division for operand in operands if operand.division}), divisions),
        ("benchmark", benchmarks, named),
    ):
        yield found, f"the {what}"
        yield from ((name in found, f"the {what} {name}") for name in wanted if found)


def _rounds(operands: Iterable[ResultFacts]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(operand.round for operand in operands))


def _ids(footnote: str, operands: Sequence[ResultFacts], publisher: str | None) -> Iterator[Hit]:
    listed = " ".join(match[1] for match in _AFTER_ID.finditer(footnote))
    tokens = dict.fromkeys(token.strip("()[].,;") for token in re.split(r"[\s,;|]+", listed))
    malformed = [token for token in tokens if _LOOKS_LIKE_ID.fullmatch(token) and not ID.fullmatch(token)]
    for token in malformed:
        expected = "major.minor-entry, with .benchmark behind it if wanted: 1.0-1025"
        yield Hit("R05", f"{quote(token)} is not the ID of a result", expected=expected)
    ids = _ids_of(footnote)
    if not ids and not malformed:
        yield Hit("R05", "the footnote has no ID of a result")
    for operand in operands if ids else ():
        if operand.id and operand.id not in ids:
            yield Hit("R05", f"the footnote lacks the ID {operand.id} of {_called([operand])}")
    rest = [operand for operand in operands if ids and not operand.id]
    for name in _rounds(rest):
        of_round = [operand for operand in rest if operand.round == name]
        if name in ids.values():
            yield from _of_round(footnote, of_round, publisher)
        else:
            rounds = enumerated(sorted({f"v{found}" for found in ids.values()}))
            yield Hit("R05", f"the IDs in the footnote are of {rounds}, and a result is of v{name}")


def _ids_of(text: str) -> dict[str, str]:
    """Return the IDs in a text, each with the round that it names: ``1.0`` of ``1.0-1025``."""
    return {match[0]: match[0].split("-")[0] for match in _IDS.finditer(text)}


def _of_round(footnote: str, operands: Sequence[ResultFacts], publisher: str | None) -> Iterator[Hit]:
    """R05 on results of one round: a line of IDs is that of those it names, or everybody's if it names none."""
    submitters = list(dict.fromkeys(operand.submitter for operand in operands if operand.submitter))
    everybody = (*submitters, *([publisher] if publisher else []))
    for submitter in submitters:
        theirs = [operand for operand in operands if operand.submitter == submitter]
        others = [name for name in everybody if name != submitter]
        lines = [line for line in footnote.splitlines() if _is_line_of(submitter, others, flat(line))]
        found = {one for line in lines for one, name in _ids_of(line).items() if name == operands[0].round}
        wanted = {(operand.system, operand.benchmark, operand.division) for operand in theirs}
        called = f"for the results of {submitter}: {_called(theirs)}"
        if not found:
            yield Hit("R05", f"the footnote has no ID {called}")
        elif (few := len(found)) < len(wanted):
            yield Hit("R05", f"the footnote has too few IDs {called}", expected=str(len(wanted)), actual=str(few))


def _is_line_of(submitter: str, others: Iterable[str], line: str) -> bool:
    return mentions(line, [submitter]) or not mentions(line, others)


def _called(operands: Iterable[ResultFacts]) -> str:
    return enumerated(dict.fromkeys(f"{o.system or o.name} {o.benchmark or ''}".strip() for o in operands))


def trademark_hits(footnote: str, document: str | None, text: Text) -> Iterator[Hit]:
    """R06: the older text wants a clear reference to the trademark, today's wants its own words."""
    said = (flat(footnote), flat_document(document or ""))
    if any(flat(text.legend) in where for where in said):
        return
    if not any("trademark" in where for where in said):
        yield Hit("R06", "MLPerf is nowhere called a trademark", expected=text.legend)
    elif "registered" in text.legend:
        yield Hit("R06", "the trademark is attributed in other words than the text's", expected=text.legend)


def footnotes(messages: Sequence[Message], wanted: str = AUTO) -> tuple[Written, ...]:
    """Return the footnote of each claim that quotes results, under the text that binds its document."""
    return tuple(footnote_of(one, text_for(one.document.date, wanted)) for one in messages if one.compared)


def footnote_of(message: Message, text: Text) -> Written:
    """Return the footnote of one claim under a text; what nobody has noted yet stands in brackets, and is missing."""
    missing: list[str] = []

    def noted(what: str, otherwise: str, lacks: str) -> str:
        found = message.noted(what)
        if not found:
            missing.append(lacks)
        return found[0] if found else otherwise

    sentences = list(_results(message, text, missing))
    if any(operand.reviewed for operand in message.compared):
        retrieved = noted("retrieved", "", "source and date of retrieval").rstrip(".")
        sentences.append(f"Retrieved: {retrieved}." if retrieved else "Retrieved from [source] on [date].")
    reviewed = {operand.reviewed for operand in message.compared}
    made = any(part.is_composite for part in message.parts) or message.derived
    if any(part.is_composite for part in message.parts):
        method = noted("composite_method", "[method]", "how the benchmarks are combined")
        sentences.append(f"Combined from several benchmarks: {method}.")
    elif message.derived:
        basis = noted("derived_metric_basis", "[basis]", "what the metric rests on")
        suite = enumerated(dict.fromkeys(_suite(operand.usage, text) for operand in message.compared))
        sentences.append(f"Derived metric, not the primary metric of {suite}; it rests on: {basis}.")
    # The text of 2025 wants what is made of verified scores to be called unverified; the older one, not official.
    if False in reviewed or (made and "unverified" in text.wants):
        sentences.append(NOT_VERIFIED)
    if len(reviewed) > 1 and "unverified" in text.wants:
        sentences.append(UNVERIFIED_BESIDE_VERIFIED)
    footnote = " ".join((*sentences, text.legend))
    return Written(claim=message.id, rules=text.name, footnote=footnote, missing=tuple(dict.fromkeys(missing)))


def _results(message: Message, text: Text, missing: list[str]) -> Iterator[str]:
    """One sentence for each benchmark of a round and division: its results, each with its ID."""
    groups: dict[tuple[str, str, str | None, str, bool], list[ResultFacts]] = {}
    for operand in message.compared:
        key = (operand.usage, operand.round, operand.division, operand.benchmark or operand.name, operand.reviewed)
        groups.setdefault(key, []).append(operand)
    missing += [f"division of {operand.name}" for operand in message.compared if operand.division is None]
    ids = message.noted("ids") or ()
    unnamed = [operand.name for operand in message.compared if operand.reviewed and not operand.id]
    given = dict(zip(unnamed, ids, strict=True)) if len(ids) == len(unnamed) else {}
    for (usage, name, division, folder, verified), operands in groups.items():
        results = []
        for operand in operands:
            who = " ".join(part for part in (operand.submitter, operand.system_name or operand.system) if part)
            known = operand.id or given.get(operand.name)
            if verified and known is None:
                missing.append(f"result ID of {who} ({folder})")
            results.append(f"{who}, entry {known or f'[ID {name}-...]'}" if verified else who)
        what = f"{(division or '[division]').capitalize()}, {_benchmark(usage, name, folder)}"
        yield f"{'' if verified else 'Unverified '}{_suite(usage, text)} v{name} {what}: {'; '.join(results)}."


def _suite(usage: str, text: Text) -> str:
    suite = {"training": "Training", "hpc": "HPC"}.get(usage)
    return f"MLPerf{text.symbol} {suite}" if suite else usage


def _benchmark(usage: str, name: str, folder: str) -> str:
    try:
        return benchmark(usage, name, folder).title
    except (KeyError, ValueError):
        return folder


_SIGN = re.compile(r"\s?(™|®|\(TM\)|\(R\)|&trade;|&reg;)", re.I)
_PLAIN_SIGNS = {"&trade;": "™", "&reg;": "®"}
#: The name, or what was made of it, but not where it is part of an address or a path.
_NAME = re.compile(
    r"(?<![\w./@])(?:(?P<name>MLPerf|MLPERF)|(?P<other>(?i:ml[- ]?perf)))(?=s?\b|ed\b|ing\b)(?![./@]\w|_)"
)
_LEGEND = re.compile(r"\s+name and logo\b", re.I)
_LED = re.compile(r"\w[-‐‑]$")
#: What was made of the name, by what stands behind it, the first that fits.
_MISUSES = {
    "in the possessive": re.compile(r"['’]s\b"),
    "in the plural": re.compile(r"(?i:s)\b"),
    "as a verb": re.compile(r"[^\W\d_]"),
    "with a hyphen": re.compile(r"[-‐‑]\w"),
    # Behind a noun stands the end of a clause, or a verb, or what joins clauses; behind an adjective its noun.
    "as a noun": re.compile(
        r"\s*(?:$|[.,;:!?)\]])|\s+(?:also|now|has|have|is|was|are|were|will|can|may|shows?|showed|measures?|proves?|"
        r"continu\w+|provides?|offers?|remains?|and|or|but|on|in|for|to|with|by|first|at|as|from|which|that)\b",
        re.I,
    ),
}


class Occurrence(msgspec.Struct, frozen=True):
    """The name once in a text: its 1-based line, the sign behind it, how it is misused, what stands around."""

    line: int
    sign: str | None
    misuse: str | None
    around: str


def occurrences(text: str) -> Iterator[Occurrence]:
    """Yield every use of the name in a text, except in the words that attribute the trademark."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _NAME.finditer(line):
            sign = _SIGN.match(line, match.end())
            end = sign.end() if sign else match.end()
            if not _LEGEND.match(line, end):
                shown = _PLAIN_SIGNS.get(sign[1].lower(), sign[1].upper()) if sign else None
                yield Occurrence(number, shown, _misuse(match, line, end), _around(line, match.start(), end))


def _misuse(match: re.Match[str], line: str, end: int) -> str | None:
    if match["other"]:
        return "in another spelling"
    found = next((how for how, behind in _MISUSES.items() if behind.match(f"{line} ", end)), None)
    led = _LED.search(line[max(0, match.start() - 4) : match.start()])
    return "with a hyphen" if led and found in (None, "as a noun") else found


def _around(line: str, start: int, end: int) -> str:
    """Some whole words on both sides."""
    left, right = line[max(0, start - 20) : start], line[end : end + 25]
    if start > 20:
        left = left.partition(" ")[2] if " " in left else left
    if len(line) > end + 25:
        right = right.rpartition(" ")[0] if " " in right else right
    return left + line[start:end] + right


def sign_hits(text: str, rules: Text) -> Iterator[Hit]:
    """R19: uses of the name without a sign that the text allows; the legend's own words go without."""
    uses = list(occurrences(text))
    bare = [use for use in uses if use.sign not in rules.symbols]
    if bare:
        lack = f"{len(bare)} of {len(uses)} uses of the name lack {rules.symbol}; first {quote(bare[0].around)}"
        yield Hit("R19", lack, line=bare[0].line, expected=f"MLPerf{rules.symbol}")


def alteration_hits(text: str) -> Iterator[Hit]:
    """R20: one finding for each way in which the name is altered or misused."""
    kinds: dict[str, list[Occurrence]] = {}
    for use in occurrences(text):
        if use.misuse is not None:
            kinds.setdefault(use.misuse, []).append(use)
    for kind, uses in kinds.items():
        often = "once" if len(uses) == 1 else f"{len(uses)} times"
        yield Hit("R20", f"the name MLPerf is used {kind} {often}; first {quote(uses[0].around)}", line=uses[0].line)


def foreign_titles(text: str) -> Iterator[Hit]:
    """R10: a line that calls something MLPerf and not MLPerf at once, as do charts in the manner of MLPerf's."""
    for number, line in enumerate(text.splitlines(), 1):
        rest = re.sub(r"non[- ]mlperf", "", line, flags=re.I)
        if len(rest) < len(line) and "mlperf" in rest.lower():
            called = f"something that is not MLPerf is called MLPerf: {quote(line)}"
            yield Hit("R10", called, line=number, level=Severity.NOTE)
