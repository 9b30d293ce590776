"""A comparison of trainings as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

import mlsub
from mlsub.commands.compare.packages.render import markdown_section, text_section
from mlsub.commands.compare.trainings.lines import heading, left_over, overview, sections, title
from mlsub.commands.compare.trainings.model import Comparison
from mlsub.commands.rules.markdown import escape, page
from mlsub.findings import Finding
from mlsub.io.plain import plain
from mlsub.present.columns import WIDTH, wrapped

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 2
_NO_FINDING = {
    "borrow": "Nothing speaks against borrowing, as far as files can tell.",
    "resubmit": "Nothing speaks against submitting it again, as far as files can tell.",
}


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
        yield from _text_findings(found, width)
    several = overview(found)
    if several:
        yield ""
        yield from text_section(several, width)
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
    if rest:
        yield ""
    for line in rest:
        yield from wrapped(line, width, 2)


def _markdown(found: Comparison) -> Iterator[str]:
    for name, side in heading(found):
        yield f"- {name}: {escape(side)}"
    yield ""
    if found.purpose != "compare":
        yield from _markdown_findings(found)
        yield ""
    several = overview(found)
    yield from markdown_section(several) if several else ()
    for pair in found.pairs:
        yield from (f"## {escape(title(pair))}", "", escape(plain(pair.answer)), "")
        for section in sections(pair):
            yield from markdown_section(section, "###")
    yield from (escape(line) for line in _ending(found, 1 << 30))


def _text_findings(found: Comparison, width: int) -> Iterator[str]:
    if not found.findings:
        yield from wrapped(_NO_FINDING[found.purpose], width)
    for finding in found.findings:
        head, *details = _lines(finding)
        yield from wrapped(head, width, 2)
        for detail in details:
            yield from (f"  {line}" for line in wrapped(detail, width - 2, 2))


def _markdown_findings(found: Comparison) -> Iterator[str]:
    if not found.findings:
        yield f"- {_NO_FINDING[found.purpose]}"
    for finding in found.findings:
        yield "- " + "; ".join(escape(line) for line in _lines(finding))


def _lines(finding: Finding) -> list[str]:
    """A finding: what is wrong, then where, what was expected, what is there, and how to mend it."""
    told = {"expected: ": finding.expected, "found: ": finding.actual, "fix: ": finding.fix}
    lines = [f"{finding.severity}: {finding.message} [{finding.rule}]", f"in {finding.path}"]
    return [plain(line) for line in (*lines, *(f"{name}{text}" for name, text in told.items() if text))]
