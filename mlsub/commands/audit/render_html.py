"""An audit as one self-contained page: no script, nothing to load, every text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from mlsub.commands.audit.audit import Audit
from mlsub.commands.audit.messaging.sections import (
    FOOTNOTES,
    HEADING,
    HEADS,
    closing_lines,
    finding_rows,
    footnote_rows,
)
from mlsub.commands.audit.verdict import AGAINST, ClaimVerdict
from mlsub.commands.audit.words import (
    INPUT_HEADS,
    RESULT_HEADS,
    Entry,
    basis_words,
    entries,
    input_rows,
    result_rows,
    summary,
    title,
)

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
article { border-left: .3rem solid #888; margin: 1.5rem 0; padding: .1rem 1rem; break-inside: avoid; }
article.good { border-color: #1a7f37; } article.bad { border-color: #cf222e; } article.unsure { border-color: #bf8700; }
h2 { font-size: 1.1rem; margin: .3rem 0; }
th { text-align: left; vertical-align: top; font-weight: 600; overflow-wrap: normal; }
th, td { padding: .15rem .8rem .15rem 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } .wide td, .wide th { white-space: nowrap; }
.wide td:last-child { white-space: normal; min-width: 14rem; }
"""
_GOOD = frozenset((ClaimVerdict.HOLDS,))


def render(audit: Audit, *, footnotes: bool = False) -> str:
    """The audit as a page that ends in a line feed; ``footnotes`` adds the footnote of each claim."""
    return "\n".join(_lines(audit, footnotes)) + "\n"


def _lines(audit: Audit, footnotes: bool) -> Iterator[str]:
    name = escape(f"Claims of {title(audit)}")
    yield "<!doctype html>"
    yield f'<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{name}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>"
    yield f"<p>{escape(summary(audit))}</p>\n<p>{escape(basis_words(audit))}</p>"
    for entry in entries(audit):
        yield from _claim(entry)
    yield from _table("Results, in minutes", RESULT_HEADS, result_rows(audit))
    yield from _table("Inputs", INPUT_HEADS, input_rows(audit))
    yield from _table(HEADING, HEADS, finding_rows(audit.messaging))
    if audit.findings or audit.messaging.footnotes:
        yield from (f"<p>{escape(line)}</p>" for line in closing_lines(audit.messaging))
    if footnotes:
        yield from _table(FOOTNOTES, ("claim", "footnote", "missing"), footnote_rows(audit.messaging))
    yield "</main>\n</body>\n</html>"


def _claim(entry: Entry) -> Iterator[str]:
    tone = "good" if entry.verdict in _GOOD else "bad" if entry.verdict in AGAINST else "unsure"
    yield f'<article class="{tone}" id="{escape(entry.id)}">'
    yield f"<h2>{escape(entry.id)}: {escape(entry.headline)}</h2>"
    yield f"<p>{escape(entry.text)}</p>\n<table>"
    for label, text in entry.rows:
        yield f'<tr><th scope="row">{escape(label)}</th><td>{escape(text)}</td></tr>'
    yield "</table>\n</article>"


def _table(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield f'<section>\n<h2>{escape(heading)}</h2>\n<div class="wide"><table>'
    yield "<thead><tr>" + "".join(f'<th scope="col">{escape(head)}</th>' for head in heads) + "</tr></thead>\n<tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>\n</section>"
