"""Pictures and what they show in figures, on one page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

import mlsub
from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.convergence.words import number
from mlsub.io.plain import plain

_STYLE = """
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff; margin: 2em auto;
  max-width: 75em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2.5em; } h3 { font-size: 1em; margin: 1.6em 0 0.4em; }
figure { margin: 1em 0; } figure svg { width: 100%; height: auto; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87em; }
th, td { padding: 0.25em 0.8em 0.25em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
th { border-bottom: 1.5px solid #666; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
footer { color: #666; font-size: 0.8em; margin-top: 3em; }
""".strip()
#: Names from outside are escaped; should one slip through all the same, nothing on the page runs or loads.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: Convergence points of an entry that are listed.
_RUNS = 100


def page(pictures: Sequence[tuple[Picture, bytes]]) -> bytes:
    """The page as UTF-8.

    Args:
        pictures: each with its SVG file, as :func:`mlsub.commands.rcp.picture.draw.draw` makes it.
    """
    title = "Convergence against the reference"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}: {_names(pictures)}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{title}</h1>",
    ]
    for at, (picture, svg) in enumerate(pictures, 1):
        lines += _section(picture, svg, f"p{at}-")
    lines += [f"<footer>Made by mlsub {_text(mlsub.__version__)}.</footer>", "</body>", "</html>"]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _names(pictures: Sequence[tuple[Picture, bytes]]) -> str:
    return ", ".join(_text(f"{picture.reference.benchmark} v{picture.round}") for picture, _ in pictures)


def _section(picture: Picture, svg: bytes, prefix: str) -> list[str]:
    heading = f"{picture.reference.benchmark}, {picture.round_title}"
    lines = [
        "<section>",
        f"<h2>{_text(heading)}</h2>",
        f"<p>{_text(picture.title)}. An entry has {picture.reference.runs} runs; "
        f"means and limits are in {_text(picture.unit)}.</p>",
        f'<figure role="img" aria-label="{_text(heading)}">{inline(svg, prefix)}</figure>',
        "<h3>Reference points</h3>",
        *_table(_REFERENCE_HEADS, _reference_rows(picture)),
    ]
    if picture.entries:
        lines += ["<h3>Entries</h3>", *_table(_ENTRY_HEADS, map(_entry_row, picture.entries))]
    if picture.left_out:
        told = "".join(f"<li>{_text(path)}: {_text(why)}</li>" for path, why in picture.left_out)
        lines += ["<h3>Not drawn</h3>", f"<ul>{told}</ul>"]
    lines += [f"<p>Reference points: {_text(picture.reference.source)}.</p>", "</section>"]
    return lines


#: Heads of columns; those of numbers are marked.
_REFERENCE_HEADS = (
    ("batch size", True),
    ("runs", True),
    ("mean", True),
    ("stdev", True),
    ("accepted from", True),
    ("official pruning", False),
    ("hull of the rules", False),
)
_ENTRY_HEADS = (
    ("", True),
    ("organisation", False),
    ("system", False),
    ("batch size", True),
    ("olympic mean", True),
    ("limit", True),
    ("to the limit", True),
    ("verdict", False),
    ("runs that did not converge", True),
    ("runs", False),
)


def _reference_rows(picture: Picture) -> Iterable[tuple[str, ...]]:
    reference = picture.reference
    for point in reference.points:
        yield (
            f"{point.batch_size:.10g}",
            str(point.runs),
            number(point.mean),
            number(point.stdev),
            number(reference.allowed(point).minimum),
            "kept" if point in reference.kept else "pruned",
            "on it" if point in reference.hull else "above",
        )


def _entry_row(entry: Shown) -> tuple[str, ...]:
    distance = "-"
    if entry.mean is not None and entry.limit:
        distance = f"{100 * (entry.mean / entry.limit - 1):+.2f} %"
    listed = ", ".join(number(point) for point in sorted(entry.points)[:_RUNS])
    return (
        str(entry.number),
        entry.organisation,
        entry.system,
        f"{entry.batch_size:.10g}",
        number(entry.mean),
        number(entry.limit),
        distance,
        entry.verdict,
        str(entry.failed),
        listed + (", …" if len(entry.points) > _RUNS else ""),
    )


def _table(heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> list[str]:
    def cell(tag: str, text: str, numeric: bool) -> str:
        kind = ' class="n"' if numeric else ""
        return f"<{tag}{kind}>{_text(text)}</{tag}>"

    lines = ['<div class="table"><table>', f"<tr>{''.join(cell('th', text, numeric) for text, numeric in heads)}</tr>"]
    for row in rows:
        cells = (cell("td", text, numeric) for text, (_, numeric) in zip(row, heads, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return [*lines, "</table></div>"]


def inline(svg: bytes, prefix: str) -> str:
    """An SVG file as part of a page: without its prolog and metadata, its ids kept apart by a prefix."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    # Only inside tags: what stands between them is text, and may look like anything.
    return re.sub(r"<[^>]*>", lambda tag: _IDS.sub(rf"\g<1>{prefix}", tag[0]), text)


_IDS = re.compile(r'(\bid="|xlink:href="#|url\(#)')


def _text(text: str) -> str:
    return escape(plain(text))
