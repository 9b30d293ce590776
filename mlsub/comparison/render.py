"""A comparison of trainings as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

import mlsub
from mlsub.compare.render import markdown_section, text_section
from mlsub.comparison.lines import heading, left_over, sections, title
from mlsub.comparison.model import Comparison
from mlsub.findings import Finding
from mlsub.reference.columns import WIDTH, wrapped
from mlsub.reference.markdown import escape, page
from mlsub.report.plain import plain

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 1
_NO_FINDING = {
    "borrow": "Nothing speaks against borrowing, as far as files can tell.",
    "resubmit": "Nothing speaks against submitting it again, as far as files can tell.",
}
_NO_PAIR = "No entry of A has a counterpart in B."


def render(found: Comparison, format_: str, width: int = WIDTH) -> str:
    """The comparison as a document that ends in a line feed."""
    if format_ == "json":
        head = {"schema": SCHEMA, "mlsub": mlsub.__version__, "kind": "comparison", "passed": found.passed}
        return json.dumps({**head, **msgspec.to_builtins(found)}, indent=2, allow_nan=False) + "\n"
    return page(_markdown(found)) if format_ == "markdown" else page(_text(found, width))


def _text(found: Comparison, width: int) -> Iterator[str]:
    for name, side in heading(found):
        yield f"{name}: {side}"
    if found.purpose != "compare":
        yield ""
        for line in _findings(found):
            yield from wrapped(line, width, 2)
    for pair in found.pairs:
        yield ""
        yield from wrapped(title(pair), width, 2)
        yield from (f"  {line}" for line in wrapped(plain(pair.answer), width - 2, 2))
        for section in sections(pair):
            yield ""
            yield from (f"  {line}" for line in text_section(section, width - 2))
    yield from _ending(found, width)


def _ending(found: Comparison, width: int) -> Iterator[str]:
    rest = list(left_over(found))
    if not found.pairs:
        rest.insert(0, _NO_PAIR)
    if rest:
        yield ""
    for line in rest:
        yield from wrapped(line, width, 2)


def _markdown(found: Comparison) -> Iterator[str]:
    for name, side in heading(found):
        yield f"- {name}: {escape(side)}"
    yield ""
    if found.purpose != "compare":
        yield from (f"- {escape(line)}" for line in _findings(found))
        yield ""
    for pair in found.pairs:
        yield from (f"## {escape(title(pair))}", "", escape(plain(pair.answer)), "")
        for section in sections(pair):
            yield from markdown_section(section, "###")
    yield from (escape(line) for line in _ending(found, 1 << 30))


def _findings(found: Comparison) -> Iterator[str]:
    """Each finding as one line; or that there is none."""
    if not found.findings:
        yield _NO_FINDING[found.purpose]
    for finding in found.findings:
        yield _finding(finding)


def _finding(finding: Finding) -> str:
    parts = [f"{finding.severity} {finding.message} [{finding.rule}]", finding.path]
    parts += [f"expected {finding.expected}"] if finding.expected else []
    parts += [f"found {finding.actual}"] if finding.actual else []
    parts += [finding.fix] if finding.fix else []
    return plain("; ".join(parts))
