"""Which pictures ``mlsub rcp plot`` draws, and the file that they make: a picture, or a page with tables as well."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from mlsub.commands.options import Asked
from mlsub.commands.output import tell, tell_unchecked
from mlsub.commands.rcp.draw import check_matplotlib, draw
from mlsub.commands.rcp.run import Entry, Picture
from mlsub.convergence.curves import Reference, reference_of
from mlsub.convergence.margin import benchmark_held, untested, verdict_of
from mlsub.convergence.reference import Which
from mlsub.convergence.verdict import BEYOND
from mlsub.convergence.words import number
from mlsub.io import VERSION
from mlsub.io.errors import MlsubError
from mlsub.io.write import check_output
from mlsub.present.document import Block, Column, Items, Section, Table, Text, document, section
from mlsub.present.html import render
from mlsub.rounds import Round, get_round
from mlsub.rounds.names import find_benchmark
from mlsub.rules.load import benchmark
from mlsub.submission.report import EntryResult

_SUFFIXES = (".svg", ".png", ".pdf", ".html")
#: Convergence points of an entry that are listed.
_RUNS = 100
_REFERENCE = (
    *(Column(name, number=True) for name in ("batch size", "runs", "mean", "stdev", "accepted from")),
    *map(Column, ("official pruning", "hull of the rules")),
)
_ENTRIES = (
    *map(Column, ("#", "organisation", "system")),
    *(Column(name, number=True) for name in ("batch size", "olympic mean", "limit", "to the limit")),
    Column("verdict"),
    Column("runs that did not converge", number=True),
    Column("runs"),
)
_IDS = re.compile(r'(\bid="|xlink:href="#|url\(#)')


def check_before(output: str, force: bool) -> str:
    """Refuse what cannot come to a good end before reading gigabytes of logs; returns the file's suffix."""
    suffix = Path(output).suffix.lower()
    if suffix not in _SUFFIXES:
        endings = f"{', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"
        raise MlsubError(f"{output} cannot be a picture. Name a file that ends in {endings}.")
    check_output(Path(output), force=force)
    check_matplotlib()
    return suffix


def pictures_for(asked: Asked, benchmarks: Sequence[str]) -> tuple[Picture, ...]:
    """Return the pictures that are asked for: of references alone, or with the entries below paths.

    Args:
        asked: names of benchmarks, and paths.
        benchmarks: further names.

    Raises:
        MlsubError: there is nothing to draw, or a name, a file or a path cannot be used.
    """
    names, paths = _names_and_paths(asked)
    found = [find_benchmark(name, asked.round, asked.usage, asked.overlay) for name in (*names, *benchmarks)]
    if paths:
        return _pictures_of_entries(asked._replace(paths=tuple(paths)), [name for _, name in found])
    return tuple(
        picture_of_reference(round_, name, asked.rcp, asked.points)
        for name, round_ in {name: round_ for round_, name in found}.items()
    )


def picture_of_reference(round_: Round, name: str, own: str | None = None, which: Which = "published") -> Picture:
    """Return the picture of a reference alone; see :func:`mlsub.convergence.curves.reference_of`.

    Raises:
        MlsubError: there is none, or the user's own file cannot be used.
    """
    reference = reference_of(round_, name, own, which)
    title = benchmark(round_.usage, round_.name, name, round_.overlay).title
    return Picture(round=round_, title=title, unit=reference.unit, reference=reference)


def with_entries(picture: Picture, entries: Iterable[EntryResult]) -> Picture:
    """Return a picture with entries of its benchmark, by batch size and system."""
    reasons = [(entry, _why_not(entry, picture.round)) for entry in entries]
    drawn = [entry for entry, why in reasons if why is None]
    drawn.sort(key=lambda entry: (entry.rcp.batch_size, entry.organisation, entry.system, entry.path))
    return msgspec.structs.replace(
        picture,
        entries=tuple(_entry(number, entry, picture.reference) for number, entry in enumerate(drawn, 1)),
        left_out=tuple((entry.path, why) for entry, why in reasons if why is not None),
        unit=next((entry.rcp.unit for entry in drawn if entry.rcp.unit), picture.unit),
    )


def _names_and_paths(asked: Asked) -> tuple[list[str], list[str]]:
    """Return names of benchmarks, and paths; what is neither is refused as a name, with the nearest names."""
    overlay, names, paths = asked.overlay, [], []
    for text in asked.paths:
        if os.sep in text or text in ("", ".", ".."):
            paths.append(text)
            continue
        try:
            names.append(find_benchmark(text, None, asked.usage, overlay)[1])
        except MlsubError:
            if not os.path.lexists(text):
                raise
            paths.append(text)
    return names, paths


def _pictures_of_entries(asked: Asked, wanted: Sequence[str]) -> tuple[Picture, ...]:
    """Return a picture for each benchmark and round with an entry to draw, in the order of the reports."""
    reports = asked.check()
    tell_unchecked(reports)
    found: dict[tuple[str, str, str], list[EntryResult]] = {}
    for report in filter(lambda one: one.entries, reports):
        round_ = get_round(str(report.usage), str(report.round), asked.overlay)
        for entry in report.entries:
            name = benchmark_held(report, entry, round_)
            if not wanted or name in wanted:
                found.setdefault((round_.usage, round_.name, name), []).append(entry)
    pictures, problems = list[Picture](), list[str]()
    for (usage, name_of_round, name), entries in found.items():
        try:
            bare = picture_of_reference(get_round(usage, name_of_round, asked.overlay), name, asked.rcp, asked.points)
        except MlsubError as error:
            problems.append(str(error))
        else:
            pictures.append(with_entries(bare, entries))
    empty = [f"{path}: {why}" for picture in pictures if not picture.entries for path, why in picture.left_out]
    drawn = tuple(picture for picture in pictures if picture.entries)
    if not drawn:
        there = dict.fromkeys(entry.benchmark for report in reports for entry in report.entries)
        raise MlsubError(_why_none(empty, tuple(dict.fromkeys(problems)), tuple(there), wanted))
    for line in (*dict.fromkeys(problems), *empty):
        tell(f"not drawn: {line}", "rcp plot")
    return drawn


def _why_none(empty: Sequence[str], problems: Sequence[str], there: Sequence[str], wanted: Sequence[str]) -> str:
    if empty:
        return f"no entry can be drawn. {empty[0]}"
    if problems:
        return "; ".join(problems)
    if wanted and there:
        return f"there is no entry of {' or '.join(wanted)}, but of {', '.join(there)}"
    return "there is no entry to draw. Name a folder of results, or a benchmark for its reference alone."


def _why_not(entry: EntryResult, round_: Round) -> str | None:
    """Return why an entry cannot be drawn, None if it can."""
    rcp = entry.rcp
    if rcp.verdict == "not-required":
        return untested(entry, round_).why
    if rcp.logs_unit is not None:
        return rcp.incomparable
    if rcp.batch_size is None:
        return "its runs agree on no batch size"
    if not 0 < rcp.batch_size < BEYOND:
        return "its batch size is out of range"
    if any(not 0 <= point < BEYOND for point in rcp.points if point is not None):
        return "a convergence point is beyond any real one"
    return None


def _entry(number: int, entry: EntryResult, reference: Reference) -> Entry:
    rcp, batch_size = entry.rcp, float(entry.rcp.batch_size or 0)
    against, _ = reference.held_against(batch_size)
    return Entry(
        number=number,
        organisation=entry.organisation,
        system=entry.system,
        verdict=verdict_of(entry, reference.benchmark, reference.runs),
        batch_size=batch_size,
        points=tuple(float(point) for point in rcp.points if point is not None),
        failed=rcp.points.count(None),
        mean=rcp.mean,
        limit=against.minimum if against else None,
    )


def content(pictures: Sequence[Picture], suffix: str) -> bytes:
    """The file of these pictures.

    Raises:
        MlsubError: the kind of file has room for one, and there are several.
    """
    if suffix == ".html":
        return page([(picture, draw(picture, "svg")) for picture in pictures])
    if len(pictures) > 1:
        there = ", ".join(f"{picture.reference.benchmark} v{picture.round.name}" for picture in pictures)
        raise MlsubError(
            f"there are {len(pictures)} pictures to draw ({there}). "
            f"Choose one with --benchmark and --round, or write them all into one .html.",
        )
    return draw(pictures[0], suffix.removeprefix("."))


def summary(picture: Picture, output: str) -> Section:
    """What was drawn, and what was not."""
    reference = picture.reference
    drawn = f"{reference.benchmark}, {picture.round.title}: {_count(len(reference.points), 'reference point')}"
    if picture.entries:
        runs = sum(len(entry.points) + entry.failed for entry in picture.entries)
        drawn += f", {_count(len(picture.entries), 'entry')} of {_count(runs, 'run')}"
    return Section(f"{output}: {drawn}", tuple(Text(f"not drawn: {path}: {why}") for path, why in picture.left_out))


def _count(count: int, word: str) -> str:
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count} {word if count == 1 else plural}"


def page(pictures: Sequence[tuple[Picture, bytes]]) -> bytes:
    """The page as UTF-8.

    Args:
        pictures: each with its SVG file, as :func:`mlsub.commands.rcp.draw.draw` makes it.
    """
    made = Text(f"Made by mlsub {VERSION}.")
    sections = (_section(picture, f"p{at}") for at, (picture, _) in enumerate(pictures, 1))
    text = render(document("Convergence against the reference", *sections, made))
    for at, (_, svg) in enumerate(pictures, 1):
        # What pictures say is escaped, so that nothing else is such a section.
        before, start, after = text.partition(f'<section id="p{at}">')
        heading, end, after = after.partition("</h2>")
        text = f"{before}{start}{heading}{end}\n<figure>{inline(svg, f'p{at}-')}</figure>{after}"
    return text.encode()


def inline(svg: bytes, prefix: str) -> str:
    """An SVG file as part of a page: without its prolog and metadata, its ids kept apart by a prefix."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    before, _, described = text.partition("<metadata>")
    text = before + described.partition("</metadata>")[2] if described else text
    # Only inside tags: what stands between them is text, and may look like anything.
    return re.sub(r"<[^<>]*+>", lambda tag: _IDS.sub(rf"\g<1>{prefix}", tag[0]), text)


def _section(picture: Picture, anchor: str) -> Block | None:
    reference = picture.reference
    return section(
        f"{reference.benchmark}, {picture.round.title}",
        Text(f"{picture.title}. An entry has {reference.runs} runs; means and limits are in {picture.unit}."),
        section("Reference points", Table(_REFERENCE, _reference_rows(picture))),
        section("Entries", Table(_ENTRIES, tuple(map(_entry_row, picture.entries)))),
        section("Not drawn", Items(tuple(f"{path}: {why}" for path, why in picture.left_out))),
        Text(f"Reference points: {reference.source}."),
        anchor=anchor,
    )


def _reference_rows(picture: Picture) -> tuple[tuple[str, ...], ...]:
    reference = picture.reference
    return tuple(
        (
            f"{point.batch_size:.10g}",
            str(point.runs),
            *map(number, (point.mean, point.stdev, reference.allowed(point).minimum)),
            "kept" if point in reference.kept else "pruned",
            "on it" if point in reference.hull else "above",
        )
        for point in reference.points
    )


def _entry_row(entry: Entry) -> tuple[str, ...]:
    listed = ", ".join(number(point) for point in sorted(entry.points)[:_RUNS])
    return (
        *(str(entry.number), entry.organisation, entry.system, f"{entry.batch_size:.10g}"),
        *(number(entry.mean), number(entry.limit), entry.distance or "-", entry.verdict, str(entry.failed)),
        listed + (", …" if len(entry.points) > _RUNS else ""),
    )
