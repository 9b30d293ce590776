"""Pictures and what they show in figures, on one page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from mlsub.commands.rcp.picture.chart import distance_words
from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.convergence.words import number
from mlsub.io.plain import plain
from mlsub.io.version import VERSION

_STYLE = """
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff; margin: 2em auto;
  max-width: 75em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2.5em; } h3 { font-size: 1em; margin: 1.6em 0 0.4em; }
figure { margin: 1em 0; } figure svg { width: 100%; height: auto; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87em; }
th, td { padding: 0.25em 0.8em 0.25em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
th { border-bottom: 1.5px solid #666; } .n { text-align: right; font-variant-numeric: tabular-nums; }
footer { color: #666; font-size: 0.8em; margin-top: 3em; }
""".strip()
#: Names from outside are escaped; should one slip through all the same, nothing on the page runs or loads.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: {names}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{sections}
<footer>Made by mlsub {version}.</footer>
</body>
</html>
"""
#: Convergence points of an entry that are listed.
_RUNS = 100
#: Heads of columns; those of numbers end in a #.
_REFERENCE = ("batch size#", "runs#", "mean#", "stdev#", "accepted from#", "official pruning", "hull of the rules")
_ENTRIES = (
    *("#", "organisation", "system", "batch size#", "olympic mean#", "limit#", "to the limit#"),
    *("verdict", "runs that did not converge#", "runs"),
)


def page(pictures: Sequence[tuple[Picture, bytes]]) -> bytes:
    """The page as UTF-8.

    Args:
        pictures: each with its SVG file, as :func:`mlsub.commands.rcp.picture.draw.draw` makes it.
    """
    return _PAGE.format(
        policy=_POLICY,
        title="Convergence against the reference",
        names=", ".join(_text(f"{picture.reference.benchmark} v{picture.round}") for picture, _ in pictures),
        style=_STYLE,
        sections="\n".join(
            line for at, (picture, svg) in enumerate(pictures, 1) for line in _section(picture, svg, f"p{at}-")
        ),
        version=_text(VERSION),
    ).encode()


def inline(svg: bytes, prefix: str) -> str:
    """An SVG file as part of a page: without its prolog and metadata, its ids kept apart by a prefix."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    # Only inside tags: what stands between them is text, and may look like anything.
    return re.sub(r"<[^>]*>", lambda tag: _IDS.sub(rf"\g<1>{prefix}", tag[0]), text)


_IDS = re.compile(r'(\bid="|xlink:href="#|url\(#)')


def _section(picture: Picture, svg: bytes, prefix: str) -> Iterator[str]:
    reference, unit = picture.reference, _text(picture.unit)
    heading = _text(f"{reference.benchmark}, {picture.round_title}")
    yield f"<section>\n<h2>{heading}</h2>"
    yield f"<p>{_text(picture.title)}. An entry has {reference.runs} runs; means and limits are in {unit}.</p>"
    yield f'<figure role="img" aria-label="{heading}">{inline(svg, prefix)}</figure>'
    yield f"<h3>Reference points</h3>\n{_table(_REFERENCE, _reference_rows(picture))}"
    if picture.entries:
        yield f"<h3>Entries</h3>\n{_table(_ENTRIES, map(_entry_row, picture.entries))}"
    if picture.left_out:
        listed = "".join(f"<li>{_text(path)}: {_text(why)}</li>" for path, why in picture.left_out)
        yield f"<h3>Not drawn</h3>\n<ul>{listed}</ul>"
    yield f"<p>Reference points: {_text(reference.source)}.</p>\n</section>"


def _reference_rows(picture: Picture) -> Iterator[tuple[str, ...]]:
    reference = picture.reference
    for point in reference.points:
        yield (
            f"{point.batch_size:.10g}",
            str(point.runs),
            *map(number, (point.mean, point.stdev, reference.allowed(point).minimum)),
            "kept" if point in reference.kept else "pruned",
            "on it" if point in reference.hull else "above",
        )


def _entry_row(entry: Shown) -> tuple[str, ...]:
    listed = ", ".join(number(point) for point in sorted(entry.points)[:_RUNS])
    return (
        *(str(entry.number), entry.organisation, entry.system, f"{entry.batch_size:.10g}"),
        *(number(entry.mean), number(entry.limit), distance_words(entry) or "-", entry.verdict, str(entry.failed)),
        listed + (", …" if len(entry.points) > _RUNS else ""),
    )


def _table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        kinds = [' class="n"' if head.endswith("#") else "" for head in heads]
        return f"<tr>{''.join(f'<{tag}{k}>{_text(c)}</{tag}>' for k, c in zip(kinds, cells, strict=True))}</tr>"

    lines = [line("th", [head.removesuffix("#") for head in heads]), *(line("td", row) for row in rows)]
    return "\n".join(('<div class="table"><table>', *lines, "</table></div>"))


def _text(text: str) -> str:
    return escape(plain(text))
