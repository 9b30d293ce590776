"""A merge as a document."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.merge.run import Merge
from mlsub.findings import Severity
from mlsub.io.show import first_few, plural
from mlsub.present.document import Document, Facts, Findings, Items, Lines, Span, Text, Words, document
from mlsub.present.entries import package_blocks

#: Folders that are left out, and rules, that are named.
_NAMED = 3


def document_of(merge: Merge) -> Document:
    """Return what is joined, what stands in the way, and what was done."""
    return document(
        f"Merge of {merge.organisation}, {merge.usage} v{merge.round}",
        Facts(tuple(_facts(merge))),
        Findings(merge.findings, label="conflict"),
        *(package_blocks(merge.report) if merge.report is not None else ()),
        Findings(merge.notes),
        Items(tuple(each.line for each in merge.waived)),
        Text(_last_words(merge)),
    )


def _facts(merge: Merge) -> Iterator[tuple[str, str | Span | Lines]]:
    yield "into", Span(merge.output, "path")
    parts: list[Words] = [
        (
            Span(part.path, "path"),
            f": {part.files} files, {part.own} of them only there; {', '.join(part.entries) or 'no entries'}",
        )
        for part in merge.parts
    ]
    yield "from", Lines(tuple(parts))
    yield "together", f"{merge.files} files; {merge.joined} are in several packages"
    if merge.left_out:
        yield "left out, as caches, version control or unfinished", first_few(merge.left_out, _NAMED)


def _last_words(merge: Merge) -> Words:
    if merge.findings:
        return f"{plural(len(merge.findings), 'conflict')}: nothing was written."
    if merge.report is None:
        return "No conflicts. Nothing was written: add --write to check the result and put it in place."
    if merge.written:
        return ("Written: ", Span(merge.output, "path"))
    rules = first_few(dict.fromkeys(found.rule for found in merge.blocking), _NAMED, "rule")
    if any(found.rejects for found in merge.blocking) or not rules:
        return "Rejected, so nothing was written. Fix it, or add --even-rejected."
    if any(found.severity is Severity.ERROR for found in merge.blocking):
        return f"A reviewer will raise errors ({rules}), so nothing was written. Fix them, or add --even-with-errors."
    return f"--strict refuses review warnings ({rules}), so nothing was written."
