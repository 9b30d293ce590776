"""Names in a sentence about results: organisations, accelerators, benchmarks, rounds, divisions, counts of chips."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import Spellings, flat, spaced, spellings
from mlsub.rounds import known_rounds
from mlsub.submission.find import organisation_spellings
from mlsub.systems.names import chip_spellings, registry

_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"
#: So many words at most stand between a number and what it counts.
_BETWEEN = 12
#: No word that leads to a version is longer.
_WORD = 40
_POD = re.compile(r"(?<!\w)pod ?([0-9]{1,5})(?!\w)")
_MEMORY = re.compile(r"[0-9]+ ?gb(?!\w)")


def names() -> dict[str, tuple[str, ...]]:
    """Return the names of every benchmark, by the name of its folder."""
    return shipped(__file__, "names.yaml", dict[str, tuple[str, ...]])


def squashed(text: str) -> str:
    """Return letters and digits alone, small: ``DGX A100`` and ``dgxa100_`` alike."""
    return "".join(c for c in text.lower() if c.isalnum())


def mentions(text: str, wanted: Iterable[str]) -> bool:
    """Return whether a text that is flat already has one of some names, as words of their own."""
    return any(re.search(rf"(?<!\w){re.escape(flat(name))}(?!\w)", text) for name in wanted)


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """One name in a text: what it is of, as it is written there, and everything that it may mean.

    ``of_product`` says of an organisation that an accelerator's name follows.
    """

    what: str
    written: str
    values: frozenset[str]
    of_product: bool = False


def vocabulary() -> dict[str, Any]:
    """Return the table, vocabulary.yaml."""
    return shipped(__file__, "vocabulary.yaml", dict[str, Any])


def named(text: str) -> tuple[Named, ...]:
    """Return every name in a sentence that is recognised, in the order of what they are of."""
    finders = (
        organisations_in,
        accelerators_in,
        benchmarks_in,
        rounds_in,
        divisions_in,
        counts_in,
        frameworks_in,
        suites_in,
    )
    shown = spaced(text)
    return tuple(found for of in finders for found in of(shown))


def organisations_in(text: str) -> Iterator[Named]:
    """Organisations, but not the makers of a host's parts; a maker's name before a product of its is the product's."""
    said = flat(text)
    for match, values in organisation_spellings().find(text):
        rest, written = said[match.end() :].lstrip(), text[match.start() : match.end()]
        if not _starts(rest, vocabulary()["host_parts"]):
            of_product = chip_spellings().pattern.match(rest) is not None
            yield Named(what="organisation", written=written, values=values, of_product=of_product)


def accelerators_in(text: str) -> Iterator[Named]:
    """Accelerators, and families of them, which mean every member."""
    return _spelled("accelerator", chip_spellings(), text)


def benchmarks_in(text: str, *, vague: bool = False) -> Iterator[Named]:
    """Benchmarks by the folders that they may have; ``vague`` takes names too that also mean something else."""
    return _spelled("benchmark", _benchmarks(vague), text)


def frameworks_in(text: str) -> Iterator[Named]:
    """Frameworks; one that runs on another means both."""
    return _spelled("framework", _frameworks(), text)


def _spelled(what: str, known: Spellings, text: str) -> Iterator[Named]:
    for match, values in known.find(text):
        yield Named(what=what, written=text[match.start() : match.end()], values=values)


def suites_in(text: str) -> Iterator[Named]:
    """Suites, where they stand behind MLPerf."""
    suites = "|".join(vocabulary()["suites"])
    for match in re.finditer(rf"(?<!\w)mlperf ({suites})(?!\w)", flat(text)):
        yield Named(what="suite", written=text[match.start() : match.end()], values=frozenset({match[1]}))


def rounds_in(text: str, *, bare: bool = False) -> Iterator[Named]:
    """Rounds: versions that stand where a round does; ``bare`` takes every known version."""
    words = vocabulary()["rounds"]
    known = {*known_rounds("training"), *known_rounds("hpc")}
    said = flat(text)
    software = mentions(said, words["software"])
    for match in re.finditer(r"(?<![\w.])(v ?)?([0-9]\.[0-9])(?!\w|\.[0-9])", said):
        # Behind a sign (a bracket, a comma) or at the start stands no word.
        before = re.search(r"(?<!\w)\w+$", said[max(0, match.start() - _WORD) : match.start()].rstrip())
        word = before[0] if before else ""
        leads = word in words["always"] or (not software and match[1] is not None and word in words["before"])
        follows = _starts(said[match.end() :].lstrip(), words["not_followed_by"])
        if match[2] in known and (bare or (leads and not follows)):
            yield Named(what="round", written=text[match.start() : match.end()], values=frozenset({match[2]}))


def divisions_in(text: str, *, bare: bool = False) -> Iterator[Named]:
    """Divisions: Open and Closed where they are names; ``bare`` takes the words alone."""
    words = vocabulary()["divisions"]
    for match in re.finditer(r"(?<![\w-])(open|closed)(?!\w)", text, re.IGNORECASE):
        before, rest = flat(text[: match.start()]), flat(text[match.end() :])
        capital = match[1][0].isupper()
        ends = re.match(r"\s*(?:$|[.,;:)\]])", text[match.end() :]) is not None
        placed = ends or _starts(rest, words["after"]) or any(before.split()[-1:] == [word] for word in words["before"])
        if (
            bare
            or _starts(rest, words["always"])
            or (capital and placed and not _starts(rest, words["not_followed_by"]))
        ):
            yield Named(what="division", written=match[1], values=frozenset({match[1].lower()}))


def counts_in(text: str) -> Iterator[Named]:
    """Numbers of accelerators and of nodes, also those in names of systems such as IPU-POD64."""
    said = flat(text)
    for match in _POD.finditer(said):
        yield Named(what="pod", written=text[match.start() : match.end()], values=frozenset({match[1]}))
    words: Mapping[str, int] = vocabulary()["counts"]["words"]
    taken = [found.span() for of in (chip_spellings(), _benchmarks(True)) for found in of.pattern.finditer(said)]
    numbers = rf"(?<![\w.,$€£%/])({_NUMBER}|{'|'.join(sorted(words, key=len, reverse=True))})(?= |x )(?: ?[x×])?"
    for match in re.finditer(numbers, said):
        inside = any(start < match.end(1) and match.start(1) < end for start, end in taken)
        if not inside and not _is_rough(said[: match.start()]) and (counted := _counted(said[match.end() :])):
            unit, length = counted
            number = words.get(match[1]) or int(match[1].replace(",", ""))
            written = text[match.start() : match.end() + length]
            yield Named(what=unit, written=written, values=frozenset({str(number)}))


def _counted(rest: str) -> tuple[str, int] | None:
    """Return what a number counts, by what stands behind it, and how far that reaches; None for anything else."""
    words = vocabulary()["counts"]
    units = {unit: what for what in ("chips", "nodes") for unit in words[what]}
    at, named_at = 0, 0
    for _ in range(_BETWEEN):
        at += len(rest[at:]) - len(rest[at:].lstrip())
        if (unit := _word_at(rest, at, units)) is not None:
            end = at + len(unit)
            return None if _starts(rest[end:].lstrip(), words["not_followed_by"]) else (units[unit], end)
        if (found := chip_spellings().pattern.match(rest, at)) is not None:
            at = named_at = found.end()
        elif (found := _MEMORY.match(rest, at)) is not None:
            at = found.end()
        elif (filler := _word_at(rest, at, words["between"])) is not None:
            at += len(filler)
        else:
            break
    systems = named_at and _starts(rest[named_at:].lstrip(), words["systems"])
    return ("chips", named_at) if named_at and not systems else None


@lru_cache(maxsize=2)
def _benchmarks(vague: bool) -> Spellings:
    table = vocabulary()["benchmarks"]
    left_out = set() if vague else {flat(word) for word in table["vague"]}
    pairs = [(spelled, [folder]) for folder, known in names().items() for spelled in (*known, folder)]
    pairs += [(spelled, [folder]) for folder, spellings in table["also"].items() for spelled in spellings]
    only = table["only"]
    pairs = [(spelled, values) for spelled, values in pairs if flat(spelled) not in {*left_out, *only}]
    return spellings((*pairs, *((spelled, [name]) for spelled, name in only.items())))


@lru_cache(maxsize=1)
def _frameworks() -> Spellings:
    known = registry().frameworks.names
    pairs = [(spelled, [name]) for name, one in known.items() for spelled in (name, *one.aliases)]
    pairs += [(spelled, [name]) for name, all_ in vocabulary()["frameworks"]["also"].items() for spelled in all_]
    return spellings(pairs)


def _word_at(text: str, at: int, words: Iterable[str]) -> str | None:
    """Return the longest of some words that stands at a place."""
    fitting = (word for word in words if text.startswith(word, at) and not text[at + len(word) :][:1].isalnum())
    return max(fitting, key=len, default=None)


def _starts(text: str, words: Iterable[str]) -> bool:
    return _word_at(text, 0, words) is not None


def _is_rough(before: str) -> bool:
    """Return whether what stands before a number makes it a rough one; a word there stands alone."""
    padded = f" {before.rstrip()}"
    return any(padded.endswith(f" {word}" if word.isalpha() else word) for word in vocabulary()["counts"]["rough"])
