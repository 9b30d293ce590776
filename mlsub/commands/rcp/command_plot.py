"""``mlsub rcp plot``: a picture of the reference points and of the runs beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.asked import Asked, asks
from mlsub.commands.lazy import Command
from mlsub.commands.options import tell, tell_unchecked, write_output
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.commands.rcp.picture.collect import Picture
    from mlsub.submission.report import Report

_SUFFIXES = (".svg", ".png", ".html")


@click.command(
    "plot", cls=Command, example="mlsub rcp plot bert -o bert.svg", short_help="Draw the reference, and runs beside it."
)
@asks("BENCHMARK|PATH...", rules=True, convergence=True)
@click.option("--benchmark", "benchmarks", metavar="NAME", multiple=True, help="Draw only this one; may be repeated.")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Write to FILE, which ends in .svg, .png or .html.",
)
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
def command(asked: Asked, benchmarks: tuple[str, ...], output: str, force: bool) -> None:
    """Draw the reference points of a benchmark, the acceptance limit, and the runs below PATH.

    The name of a benchmark is taken as such; write ./bert for a folder of that name. With paths, names and --benchmark
    choose among their entries. .svg and .png hold one picture, .html one for each benchmark, and tables. Drawing needs
    matplotlib: pip install 'mlsub[plot]'.

    Exit status: 0, or 2 where there is nothing to draw or it cannot be written.
    """
    from mlsub.commands.rcp.picture.collect import picture_of_reference
    from mlsub.rounds.names import find_benchmark

    overlay = asked.overlay
    suffix = _check_before(output, force)
    names, paths = _sorted_out(asked, overlay)
    names += [find_benchmark(name, asked.round, asked.usage, overlay)[1] for name in benchmarks]
    if paths:
        pictures = _of_entries(asked._replace(paths=tuple(paths)), names, overlay)
    else:
        found = [find_benchmark(name, asked.round, asked.usage, overlay) for name in dict.fromkeys(names)]
        pictures = tuple(picture_of_reference(*one, asked.rcp, asked.points) for one in found)
    write_output(Path(output), _content(pictures, suffix), force=force)
    for picture in pictures:
        _report(picture, output)


def _check_before(output: str, force: bool) -> str:
    """Refuse what cannot come to a good end before reading gigabytes of logs; returns the file's suffix."""
    from mlsub.commands.rcp.picture.draw import check_matplotlib
    from mlsub.io.output import check_output

    suffix = Path(output).suffix.lower()
    if suffix not in _SUFFIXES:
        endings = f"{', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"
        raise MlsubError(f"{output} cannot be a picture. Name a file that ends in {endings}.")
    check_output(Path(output), force=force)
    check_matplotlib()
    return suffix


def _sorted_out(asked: Asked, overlay: str | None) -> tuple[list[str], list[str]]:
    """Names of benchmarks, and paths. What is neither is taken for a name, so that the answer knows what was meant."""
    import os

    from mlsub.rounds.names import find_benchmark

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
    from mlsub.commands.rcp.picture.collect import pictures_of

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


def _content(pictures: Sequence[Picture], suffix: str) -> bytes:
    from mlsub.commands.rcp.picture.chart import chart_of
    from mlsub.commands.rcp.picture.draw import draw

    if suffix == ".html":
        from mlsub.commands.rcp.picture.page import page

        return page([(picture, draw(chart_of(picture), "svg")) for picture in pictures])
    if len(pictures) > 1:
        there = ", ".join(f"{picture.reference.benchmark} v{picture.round}" for picture in pictures)
        raise MlsubError(
            f"there are {len(pictures)} pictures to draw ({there}). "
            f"Choose one with --benchmark and --round, or write them all into one .html.",
        )
    return draw(chart_of(pictures[0]), suffix.removeprefix("."))


def _report(picture: Picture, output: str) -> None:
    """Say what was drawn, and what was not."""
    from mlsub.io.plain import plain

    reference = picture.reference
    drawn = f"{reference.benchmark}, {picture.round_title}: {_count(len(reference.points), 'reference point')}"
    if picture.entries:
        runs = sum(len(entry.points) + entry.failed for entry in picture.entries)
        drawn += f", {_count(len(picture.entries), 'entry')} of {_count(runs, 'run')}"
    click.echo(plain(f"{output}: {drawn}"))
    for path, why in picture.left_out:
        click.echo(plain(f"  not drawn: {path}: {why}"))


def _count(count: int, word: str) -> str:
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count} {word if count == 1 else plural}"
