"""Which pictures ``mlsub rcp plot`` draws, and the file that they make: a picture, or a page with tables as well."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from mlsub.commands.asked import Asked
from mlsub.commands.options import tell, tell_unchecked
from mlsub.commands.rcp.picture.chart import chart_of, distance_words
from mlsub.commands.rcp.picture.collect import Picture, Shown, picture_of_reference, pictures_of
from mlsub.commands.rcp.picture.draw import check_matplotlib, draw
from mlsub.convergence.words import number
from mlsub.io.errors import MlsubError
from mlsub.io.version import VERSION
from mlsub.io.write import check_output
from mlsub.present.document import Block, Column, Items, Section, Table, Text, document, section
from mlsub.present.html import render
from mlsub.rounds.names import find_benchmark
from mlsub.submission.report import Report

_SUFFIXES = (".svg", ".png", ".html")
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
    """The pictures that are asked for: of references alone, or with the entries below paths.

    Args:
        asked: names of benchmarks, and paths.
        benchmarks: further names.
    """
    overlay = asked.overlay
    names, paths = _sorted_out(asked, overlay)
    names += [find_benchmark(name, asked.round, asked.usage, overlay)[1] for name in benchmarks]
    if paths:
        return _of_entries(asked._replace(paths=tuple(paths)), names, overlay)
    found = [find_benchmark(name, asked.round, asked.usage, overlay) for name in dict.fromkeys(names)]
    return tuple(picture_of_reference(*one, asked.rcp, asked.points) for one in found)


def _sorted_out(asked: Asked, overlay: str | None) -> tuple[list[str], list[str]]:
    """Names of benchmarks, and paths. What is neither is taken for a name, so that the answer knows what was meant."""
    names, paths = [], []
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


def _of_entries(asked: Asked, wanted: Sequence[str], overlay: str | None) -> tuple[Picture, ...]:
    """The pictures of benchmarks with an entry to draw, or the end of the command."""
    reports = asked.check()
    tell_unchecked(reports)
    checked = [report for report in reports if report.entries]
    pictures, problems = pictures_of(checked, overlay, wanted, asked.rcp, asked.points)
    drawn = tuple(picture for picture in pictures if picture.entries)
    if not drawn:
        raise MlsubError(_why_none(pictures, problems, checked, wanted))
    empty = [f"{path}: {why}" for picture in pictures if not picture.entries for path, why in picture.left_out]
    for line in (*problems, *empty):
        tell(f"not drawn: {line}", "rcp plot")
    return drawn


def _why_none(
    pictures: Sequence[Picture], problems: Sequence[str], checked: Sequence[Report], wanted: Sequence[str]
) -> str:
    if pictures:
        path, why = pictures[0].left_out[0]
        return f"no entry can be drawn. {path}: {why}"
    if problems:
        return "; ".join(problems)
    there = dict.fromkeys(entry.benchmark for report in checked for entry in report.entries)
    if wanted and there:
        return f"there is no entry of {' or '.join(wanted)}, but of {', '.join(there)}"
    return "there is no entry to draw. Name a folder of results, or a benchmark for its reference alone."


def content(pictures: Sequence[Picture], suffix: str) -> bytes:
    """The file of these pictures.

    Raises:
        MlsubError: the kind of file has room for one, and there are several.
    """
    if suffix == ".html":
        return page([(picture, draw(chart_of(picture), "svg")) for picture in pictures])
    if len(pictures) > 1:
        there = ", ".join(f"{picture.reference.benchmark} v{picture.round.name}" for picture in pictures)
        raise MlsubError(
            f"there are {len(pictures)} pictures to draw ({there}). "
            f"Choose one with --benchmark and --round, or write them all into one .html.",
        )
    return draw(chart_of(pictures[0]), suffix.removeprefix("."))


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
        pictures: each with its SVG file, as :func:`mlsub.commands.rcp.picture.draw.draw` makes it.
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


def _entry_row(entry: Shown) -> tuple[str, ...]:
    listed = ", ".join(number(point) for point in sorted(entry.points)[:_RUNS])
    return (
        *(str(entry.number), entry.organisation, entry.system, f"{entry.batch_size:.10g}"),
        *(number(entry.mean), number(entry.limit), distance_words(entry) or "-", entry.verdict, str(entry.failed)),
        listed + (", …" if len(entry.points) > _RUNS else ""),
    )
