"""A document as one self-contained page: no script, nothing to load, every text escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from mlsub.io.show import plain
from mlsub.present.document import (
    Block,
    Cell,
    Code,
    Document,
    Facts,
    Findings,
    Items,
    Section,
    Span,
    Table,
    Text,
    Words,
    lines_of,
    spans,
)
from mlsub.present.findings import sections

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  --good: #1a7f37; --bad: #cf222e; --note: #9a6700; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #ff7b72; --note: #d29922; } }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
section { margin: 1.5rem 0; break-inside: avoid-page; }
section section, section[class] { margin: .8rem 0; padding-left: 1rem; border-left: .25rem solid var(--line); }
section.good { border-color: var(--good); }
section.bad { border-color: var(--bad); }
section.note { border-color: var(--note); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; } h3, h4, h5, h6 { font-size: 1rem; }
h2, h3, h4, h5, h6, p { margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .3rem 0; }
dt { font-weight: 600; } dd { margin: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid var(--line); white-space: nowrap; }
th, td { vertical-align: top; padding: .15rem 1rem .15rem 0; overflow-wrap: normal; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .note { color: var(--note); }
section.good, section.bad, section.note { color: inherit; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { padding-left: 1rem; } }
"""
#: Every text is escaped; should one slip through all the same, nothing on the page runs or loads.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ANCHOR = re.compile(r"[A-Za-z][\w.:-]*", re.ASCII)
_DEEPEST = 6


def render(document: Document) -> str:
    """The document as a page that ends in a line feed."""
    title = _escape(document.title)
    head = (
        "<!doctype html>",
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
    )
    body = (line for block in document.blocks for line in _block(block, 2))
    return "\n".join((*head, *body, "</main>\n</body>\n</html>")) + "\n"


def _escape(text: str) -> str:
    return html.escape(plain(text))


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Text(words):
            yield f"<p>{_words(words)}</p>"
        case Items(items):
            yield "<ul>" + "".join(f"<li>{_words(item)}</li>" for item in items) + "</ul>"
        case Facts(facts):
            yield (
                "<dl>"
                + "\n".join(f"<dt>{_escape(name)}</dt><dd>{_cell(value)}</dd>" for name, value in facts)
                + "</dl>"
            )
        case Code(text):
            yield "<pre>" + "\n".join(map(_escape, text.split("\n"))) + "</pre>"
        case Table():
            yield from _table(block)
        case Findings():
            for found in sections(block):
                yield from _section(found, level)
        case Section():
            yield from _section(block, level)


def _section(section: Section, level: int) -> Iterator[str]:
    heading = f"h{min(level, _DEEPEST)}"
    look = "" if section.meaning == "plain" else f' class="{section.meaning}"'
    anchor = section.anchor
    name = f' id="{anchor}"' if anchor is not None and _ANCHOR.fullmatch(anchor) else ""
    yield f"<section{look}{name}>\n<{heading}>{_words(section.title)}</{heading}>"
    for block in section.blocks:
        yield from _block(block, level + 1)
    yield "</section>"


def _words(words: Words) -> str:
    return "".join(map(_span, spans(words)))


def _span(span: Span) -> str:
    text = _escape(span.text)
    if span.address:
        text = f'<a href="{span.address}">{text}</a>'
    match span.meaning:
        case "plain" | "number":
            return text
        case "code" | "path" | "name":
            return f"<code>{text}</code>"
        case "strong":
            return f"<strong>{text}</strong>"
    return f'<span class="{span.meaning}">{text}</span>'


def _cell(cell: Cell) -> str:
    return "<br>".join(map(_words, lines_of(cell)))


def _table(table: Table) -> Iterator[str]:
    looks = [' class="number"' if column.number else "" for column in table.columns]
    heads = (
        f'<th scope="col"{look}>{_escape(column.name)}</th>' for look, column in zip(looks, table.columns, strict=True)
    )
    yield '<div class="wide"><table>'
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    yield from (_row(row, looks) for row in table.rows)
    yield "</tbody></table></div>"


def _row(row: Sequence[Cell], looks: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td{look}>{_cell(cell)}</td>" for look, cell in zip(looks, row, strict=True)) + "</tr>"
