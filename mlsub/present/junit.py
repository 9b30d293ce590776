"""Results as JUnit's XML, the dialect that Jenkins and GitLab read.

A finding that counts is a failed test, one that does not a skipped one, and a reason why nothing was checked an error.
What was checked without a finding, and a verdict that accepts, is a test that passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mlsub.findings import Verdict
from mlsub.io.show import plain
from mlsub.present.ci import CiFinding, CiPart, CiReport, Outcome

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ELEMENTS = {
    Outcome.COUNTS: "failure",
    Outcome.NOT_CHECKED: "error",
    Outcome.BESIDE: "skipped",
    Outcome.WAIVED: "skipped",
}
_OF_VERDICT = {Verdict.REJECTED: "failure", Verdict.NOT_CHECKED: "error"}
_COUNTED = ("failure", "error", "skipped")


def render(results: CiReport) -> str:
    """The document, ending in a line feed."""
    from xml.etree.ElementTree import Element, indent, tostring

    top = Element("testsuites", name=f"mlsub {results.command}")
    for part in results.parts:
        suite = Element("testsuite", name=plain(part.name))
        suite.extend(_cases(part))
        _count(suite, suite)
        top.append(suite)
    _count(top, top)
    indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(top, encoding="unicode")}\n'


def _count(element: Element, of: Element) -> None:
    element.set("tests", str(sum(1 for _ in of.iter("testcase"))))
    for name in _COUNTED:
        plural = name if name == "skipped" else f"{name}s"
        element.set(plural, str(sum(1 for _ in of.iter(name))))


def _cases(part: CiPart) -> Iterator[Element]:
    from xml.etree.ElementTree import SubElement

    if part.verdict is not None:
        case = _case(part.name, "official verdict")
        if part.verdict is not Verdict.ACCEPTED:
            SubElement(case, _OF_VERDICT[part.verdict], message=part.verdict.value, type="verdict")
        yield case
    for result in part.results:
        yield _of(result)
    with_findings = {result.file for result in part.results}
    clean = [file for file in dict.fromkeys(part.checked) if file not in with_findings]
    yield from (_case(file, "no findings", file) for file in clean)
    if part.verdict is None and not part.results and not clean:
        # A document without a test is an error to Jenkins.
        yield _case(part.name, "no findings")


def _of(result: CiFinding) -> Element:
    from xml.etree.ElementTree import SubElement

    finding = result.finding
    place = f" (line {finding.line})" if finding.line else ""
    case = _case(result.file, f"{finding.rule}: {finding.message}{place}", result.file)
    if finding.line:
        case.set("line", str(finding.line))
    inner = SubElement(case, _ELEMENTS[result.outcome], message=plain(finding.message), type=finding.rule)
    label = f"{finding.kind.value} {finding.severity.value}"
    inner.text = "\n".join((label, *result.lines, f"source: {plain(finding.source)}"))
    return case


def _case(classname: str, name: str, file: str | None = None) -> Element:
    from xml.etree.ElementTree import Element

    case = Element("testcase", classname=plain(classname), name=plain(name))
    if file is not None:
        case.set("file", plain(file))
    return case
