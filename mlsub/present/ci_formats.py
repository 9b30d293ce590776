"""Results in the formats that CI reads: SARIF, annotations of GitHub Actions, GitLab's code quality; or JUnit's XML.

See https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html,
https://docs.github.com/actions/reference/workflow-commands-for-github-actions and
https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any
from urllib.parse import quote

from mlsub.findings import Severity
from mlsub.io import VERSION
from mlsub.io.show import join_words, plain, plural
from mlsub.present import markdown, text
from mlsub.present.ci import CiFinding, CiPlace, CiReport, Outcome
from mlsub.present.explanation import Explanation, explanation_document, explanations
from mlsub.present.findings import why_suppressed

#: What the formats call severities, SARIF as mlsub does; an error that counts is critical to GitLab.
_GITHUB_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_GITLAB_LEVELS = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
_GITLAB_OUTCOMES = {Outcome.COUNTS: "critical", Outcome.NOT_CHECKED: "blocker", Outcome.WAIVED: "info"}
_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
#: What names an address: itself, an issue of a repository, or a file of the official package.
_ADDRESSES = (
    (re.compile(r"https://[\w./~%#-]+", re.ASCII), r"\g<0>"),
    (re.compile(r"(mlcommons/\w+) issue (\d+)", re.ASCII), r"https://github.com/\1/issues/\2"),
    (
        re.compile(r"(mlperf_logging/\w+)/(\w+_\d+\.\d+\.\d+): (\w+\.yaml)", re.ASCII),
        r"https://github.com/mlcommons/logging/blob/master/\1/\2/\3",
    ),
)
#: What GitHub shows of a step: so many of each kind.
MOST = 10
#: Bytes of a step's summary; GitHub refuses a longer one whole.
MOST_OF_SUMMARY = 1 << 20
_CUT = b"\n\nThe rest does not fit into a summary of 1 MiB.\n"


def render(results: CiReport, format_: str) -> str:
    """Results in one of :data:`mlsub.present.CI_FORMATS`, ending in a line feed."""
    if format_ == "junit":
        from mlsub.present import junit

        return junit.render(results)
    return {"sarif": _sarif, "github": _github, "gitlab": _gitlab}[format_](results)


def _sarif(results: CiReport) -> str:
    """One run as JSON in plain ASCII, with what is known of its rules."""
    found = list(results.with_identities())
    first = {result.finding.rule: result for result, _ in reversed(found)}
    order = {rule: index for index, rule in enumerate(sorted(first))}
    known = explanations(order)
    rules = [_sarif_rule(first[rule], known.get(rule)) for rule in order]
    run = {
        "tool": {"driver": {"name": "mlsub", "version": VERSION, "rules": rules}},
        "invocations": [{"executionSuccessful": results.complete}],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_sarif_result(result, order[result.finding.rule], identity) for result, identity in found],
        "properties": {
            "command": results.command,
            "verdicts": [
                {"name": plain(part.name), "verdict": part.verdict.value}
                for part in results.parts
                if part.verdict is not None
            ],
        },
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rule(first: CiFinding, known: Explanation | None) -> dict[str, Any]:
    """What a rule is about; of a rule of the user's own what its findings say."""
    one, about = first.finding, known or first.finding
    rule: dict[str, Any] = {"id": one.rule, "shortDescription": {"text": plain(known.title if known else one.message)}}
    if known is None:
        rule["help"] = {"text": "\n".join(first.lines)}
    else:
        full = explanation_document(known)
        rule["fullDescription"] = {"text": plain(known.why)}
        rule["help"] = {"text": text.render(full, 100), "markdown": markdown.render(full)}
    sources = known.sources if known else (one.source,)
    rule["defaultConfiguration"] = {"level": about.severity.value}
    rule["properties"] = {"tags": [about.kind.value], "sources": list(map(plain, sources))}
    if known and (address := _address((*sources, one.source))):
        rule["helpUri"] = address
    return rule


def _address(sources: tuple[str, ...]) -> str | None:
    for pattern, address in _ADDRESSES:
        for source in sources:
            if match := pattern.search(source):
                return match.expand(address).rstrip(".")
    return None


def _sarif_result(result: CiFinding, index: int, identity: str) -> dict[str, Any]:
    one = result.finding
    found = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": result.level.value,
        # Nothing may read as a link of SARIF, ``[text](target)``.
        "message": {"text": "\n".join(result.lines).replace("](", "] (")},
        "locations": [{"physicalLocation": _location(place)} for place in result.places],
        # GitHub reads the second alone, and would hash the line where it is not there.
        "partialFingerprints": {"mlsub/v1": identity, "primaryLocationLineHash": f"{identity[:16]}:1"},
        "properties": {
            "kind": one.kind.value,
            "severity": one.severity.value,
            "outcome": result.outcome.value,
            "source": plain(one.source),
        },
    }
    if one.suppressed is None:
        return found
    reason = {"kind": "external", "status": "accepted", "justification": plain(why_suppressed(one.suppressed))}
    return {**found, "suppressions": [reason]}


def _location(place: CiPlace) -> dict[str, Any]:
    found: dict[str, Any] = {"artifactLocation": _artifact(place.file)}
    return found if place.line is None else {**found, "region": {"startLine": place.line}}


def _artifact(file: str) -> dict[str, str]:
    """A file as an address; one outside of the repository by its absolute path."""
    try:
        path = quote(os.fsencode(file))
    except UnicodeEncodeError:  # Of a text, not of a file system.
        path = quote(plain(file))
    return {"uri": f"file://{path}"} if os.path.isabs(file) else {"uri": path, "uriBaseId": _ROOT}  # noqa: PTH117


def _github(results: CiReport) -> str:
    """A line for each annotation that GitHub shows, then one that counts the others, if there are any."""
    found: dict[str, list[CiFinding]] = {"error": [], "warning": [], "notice": []}
    # What counts first.
    for result in sorted(results.all, key=lambda one: one.outcome not in (Outcome.COUNTS, Outcome.NOT_CHECKED)):
        found["notice" if result.outcome is Outcome.WAIVED else _GITHUB_LEVELS[result.level]].append(result)
    lines, more = [], []
    for name, of in found.items():
        # The last line is a notice too.
        most = MOST - (name == "notice")
        lines += [_annotation(name, result) for result in of[:most]]
        if (left := len(of) - most) > 0:
            more.append(plural(left, f"more {name.replace('notice', 'note')}"))
    if more:
        where = "GitHub shows 10 of each kind in a step; --format sarif has them all."
        lines.append(f"::notice title={_property(f'mlsub {results.command}')}::{_data(f'{join_words(more)}. {where}')}")
    return "".join(f"{line}\n" for line in lines)


def summary(markdown: str, room: int = MOST_OF_SUMMARY) -> bytes:
    """A document in Markdown as a part of a step's summary, cut at a line where there is no room (bytes) for all."""
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) <= room:
        return data
    return data[: max(0, data.rfind(b"\n", 0, max(0, room - len(_CUT))))] + _CUT if room > len(_CUT) else b""


def _annotation(command: str, result: CiFinding) -> str:
    line = f",line={result.finding.line}" if result.finding.line else ""
    place = f"file={_property(plain(result.file))}{line},title={_property(result.finding.rule)}"
    return f"::{command} {place}::{_data(chr(10).join(result.lines))}"


def _data(text: str) -> str:
    """Text of a command, escaped as GitHub's own tools do."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property, which a colon or a comma would end."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _gitlab(results: CiReport) -> str:
    """A list of violations as JSON in plain ASCII."""
    return json.dumps([_violation(*each) for each in results.with_identities()], indent=2) + "\n"


def _violation(result: CiFinding, identity: str) -> dict[str, object]:
    quiet = result.outcome is Outcome.COUNTS and result.level is not Severity.ERROR
    usual = _GITLAB_LEVELS[result.level]
    return {
        "description": "; ".join(result.lines),
        "check_name": result.finding.rule,
        "fingerprint": identity,
        "severity": usual if quiet else _GITLAB_OUTCOMES.get(result.outcome, usual),
        # GitLab asks for a line; a finding of a whole file is shown at its first.
        "location": {"path": plain(result.file), "lines": {"begin": result.finding.line or 1}},
    }
