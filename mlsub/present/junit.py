"""Results as JUnit's XML, in the dialect of Jenkins and GitLab.

A finding that counts is a failed test, one that does not a skipped one, and a reason why nothing was checked an error.
What was checked without a finding, and a verdict that accepts, is a test that passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mlsub.findings import Verdict
from mlsub.io.show import plain
from mlsub.present.ci import CiPart, CiReport, Outcome

_ELEMENTS = {
    Outcome.COUNTS: "failure",
    Outcome.NOT_CHECKED: "error",
    Outcome.BESIDE: "skipped",
    Outcome.WAIVED: "skipped",
}
_VERDICTS = {Verdict.REJECTED: "failure", Verdict.NOT_CHECKED: "error"}
_COUNTS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def render(results: CiReport) -> str:
    """Results as XML, ending in a line feed."""
    top = Element("testsuites", name=f"mlsub {results.command}")
    for part in results.parts:
        suite = Element("testsuite", name=plain(part.name))
        suite.extend(_cases(part))
        top.append(suite)
    for element in (top, *top):
        element.set("tests", str(len(list(element.iter("testcase")))))
        for name, attribute in _COUNTS.items():
            element.set(attribute, str(len(list(element.iter(name)))))
    indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(top, encoding="unicode")}\n'


def _cases(part: CiPart) -> Iterator[Element]:
    if part.verdict is not None:
        case = _case(part.name, "official verdict")
        if part.verdict is not Verdict.ACCEPTED:
            SubElement(case, _VERDICTS[part.verdict], message=part.verdict.value, type="verdict")
        yield case
    for result in part.results:
        finding = result.finding
        place = f" (line {finding.line})" if finding.line else ""
        case = _case(result.file, f"{finding.rule}: {finding.message}{place}", result.file)
        if finding.line:
            case.set("line", str(finding.line))
        inner = SubElement(case, _ELEMENTS[result.outcome], message=plain(finding.message), type=finding.rule)
        label = f"{finding.kind.value} {finding.severity.value}"
        inner.text = "\n".join((label, *result.lines, f"source: {plain(finding.source)}"))
        yield case
    with_findings = {place.file for result in part.results for place in result.places}
    clean = [file for file in dict.fromkeys(part.checked) if file not in with_findings]
    yield from (_case(file, "no findings", file) for file in clean)
    if part.verdict is None and not part.results and not clean:
        # A document without a test is an error to Jenkins.
        yield _case(part.name, "no findings")


def _case(classname: str, name: str, file: str | None = None) -> Element:
    case = Element("testcase", classname=plain(classname), name=plain(name))
    if file is not None:
        case.set("file", plain(file))
    return case
