"""Pictures and what they show in figures, on one page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlsub.commands.rcp.picture.chart import distance_words
from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.convergence.words import number
from mlsub.io.version import VERSION
from mlsub.present.document import Block, Column, Items, Table, Text, document, section
from mlsub.present.html import render

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
