"""A document as one self-contained page: no script, nothing to load, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mlsub.present import document as doc
from mlsub.present import svg
from mlsub.present.findings import sections
from mlsub.present.svg import escape

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
.tally { border: 0; padding: 0; margin: 1rem 0; } .tally legend { padding: 0; font-weight: 600; }
.tally svg { display: block; width: 100%; height: .9rem; margin: .4rem 0; border-radius: .3rem; }
.tally label { display: inline-block; margin-right: 1rem; cursor: pointer; }
.tally i { display: inline-block; width: .8em; height: .8em; margin: 0 .35em; border-radius: .2em;
  background: var(--kind); }
.tally rect { fill: var(--kind); } section[data-kind] { border-color: var(--kind) !important; }
.good { color: var(--good); } .bad { color: var(--bad); } .note { color: var(--note); }
section.good, section.bad, section.note { color: inherit; }
summary :is(h2, h3, h4, h5, h6) { display: inline; }
.upright th { vertical-align: bottom; } .upright th.number { writing-mode: vertical-rl; transform: rotate(180deg);
  font-weight: 400; padding: .4rem 0; text-align: left; border: 0; } .upright td.number { padding-right: .4rem; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { padding-left: 1rem; } }
"""
_KIND = re.compile(r"[a-z][a-z-]{0,40}", re.ASCII)
#: Every text is escaped; should one slip through all the same, nothing on the page runs or loads.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ANCHOR = re.compile(r"[A-Za-z][\w.:-]*", re.ASCII)
_DEEPEST = 6


def render(document: doc.Document) -> str:
    """The document as a page that ends in a line feed."""
    title = escape(document.title)
    tallies = [block for block in document.blocks if isinstance(block, doc.Tally)]
    style = _STYLE + "".join(line for tally in tallies for line in _rules(tally))
    head = (
        "<!doctype html>",
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
    )
    # How many there are stands first, where it is chosen what is shown.
    blocks = (*tallies, *(block for block in document.blocks if block not in tallies))
    body = (line for block in blocks for line in _block(block, 2))
    return "\n".join((*head, *body, "</main>\n</body>\n</html>")) + "\n"


def _block(block: doc.Block, level: int) -> Iterator[str]:
    match block:
        case doc.Chart(series=()) | doc.Text():
            yield f"<p>{_words(block.words)}</p>"
        case doc.Chart():
            yield f"<figure>\n{svg.draw(block)[0]}</figure>"
        case doc.Items(items):
            yield "<ul>" + "".join(f"<li>{_words(item)}</li>" for item in items) + "</ul>"
        case doc.Facts(facts):
            yield (
                "<dl>" + "\n".join(f"<dt>{escape(name)}</dt><dd>{_cell(value)}</dd>" for name, value in facts) + "</dl>"
            )
        case doc.Code(text):
            yield "<pre>" + "\n".join(map(escape, text.split("\n"))) + "</pre>"
        case doc.Table():
            yield from _render_table(block)
        case doc.Findings():
            for found in sections(block):
                yield from _section(found, level)
        case doc.Section():
            yield from _section(block, level)
        case doc.Tally():
            yield from _tally(block)


def _rules(tally: doc.Tally) -> Iterator[str]:
    """The colours of the kinds, and that only one is shown where it is chosen: by style alone, no script."""
    for kind, _, colour in _known(tally):
        light, dark = svg.COLOURS[colour]
        yield f"main:has(#only-{kind}:checked) section[data-kind]:not([data-kind={kind}]) {{ display: none; }}\n"
        of = f"section[data-kind={kind}], .kind-{kind}"
        yield f"{of} {{ --kind: {light}; }}\n"
        yield f"@media (prefers-color-scheme: dark) {{ {of} {{ --kind: {dark}; }} }}\n"


def _known(tally: doc.Tally) -> Iterator[doc.Share]:
    return (share for share in tally.shares if _KIND.fullmatch(share.kind) and 0 <= share.colour < len(svg.COLOURS))


def _tally(tally: doc.Tally) -> Iterator[str]:
    shares = tuple(_known(tally))
    yield f'<fieldset class="tally">\n<legend>{escape(tally.words)}</legend>\n{bar(shares)}'
    yield '<label><input type="radio" name="only" checked> all</label>'
    for kind, count, _ in shares:
        mark = f'<i class="kind-{kind}"></i>'
        yield f'<label><input type="radio" name="only" id="only-{kind}">{mark}{kind} ({count:,})</label>'
    yield "</fieldset>"


def bar(shares: Sequence[doc.Share]) -> str:
    """A bar of kinds as long as they are many, each in the class of its colour; what it says stands beside it."""
    whole, at, parts = sum(share.number for share in shares) or 1, 0, list[str]()
    for kind, count, _ in shares:
        x, width = 1000 * at / whole, 1000 * count / whole
        parts.append(f'<rect class="kind-{kind}" x="{x:.1f}" width="{width:.1f}" height="10"/>')
        at += count
    return f'<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _section(section: doc.Section, level: int) -> Iterator[str]:
    heading = f"h{min(level, _DEEPEST)}"
    look = "" if section.meaning == "plain" else f' class="{section.meaning}"'
    anchor = section.anchor
    name = f' id="{anchor}"' if anchor is not None and _ANCHOR.fullmatch(anchor) else ""
    kind = f' data-kind="{section.kind}"' if _KIND.fullmatch(section.kind) else ""
    begin, end = ("<details>\n<summary>", "</summary>") if section.folded else ("", "")
    yield f"<section{look}{name}{kind}>\n{begin}<{heading}>{_words(section.title)}</{heading}>{end}"
    for block in section.blocks:
        yield from _block(block, level + 1)
    yield "</details>\n</section>" if section.folded else "</section>"


def _words(words: doc.Words) -> str:
    return "".join(map(_span, doc.spans(words)))


def _span(span: doc.Span) -> str:
    text = escape(span.text)
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


def _cell(cell: doc.Cell) -> str:
    return "<br>".join(map(_words, doc.lines_of(cell)))


def _render_table(table: doc.Table) -> Iterator[str]:
    looks = [' class="number"' if column.number else "" for column in table.columns]
    heads = (
        f'<th scope="col"{look}>{escape(column.name)}</th>' for look, column in zip(looks, table.columns, strict=True)
    )
    look = ' class="upright"' if table.upright else ""
    yield f'<div class="wide"><table{look}>'
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    yield from (_row(row, looks) for row in table.rows)
    yield "</tbody></table></div>"


def _row(row: Sequence[doc.Cell], looks: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td{look}>{_cell(cell)}</td>" for look, cell in zip(looks, row, strict=True)) + "</tr>"
