"""Results as SARIF 2.1.0, which GitHub's code scanning and editors read.

See https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from mlsub.findings import Severity
from mlsub.io import VERSION
from mlsub.io.show import plain
from mlsub.present import markdown, text
from mlsub.present.ci import CiFinding, CiReport
from mlsub.present.explanation import Explanation, explanation_document
from mlsub.present.findings import why_suppressed

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
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


def render(results: CiReport, rules: Mapping[str, Explanation]) -> str:
    """One run as JSON in plain ASCII.

    Args:
        results: what was found.
        rules: what is known of rules by their ids; those of the user's own are not in it.
    """
    found = list(results.all)
    first = {result.finding.rule: result for result in reversed(found)}
    order = {rule: index for index, rule in enumerate(sorted(first))}
    run = {
        "tool": {
            "driver": {
                "name": "mlsub",
                "version": VERSION,
                "rules": [_rule(first[rule], rules.get(rule)) for rule in order],
            }
        },
        "invocations": [{"executionSuccessful": results.complete}],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_result(result, order[result.finding.rule]) for result in found],
        "properties": {
            "command": results.command,
            "verdicts": [
                {"name": plain(part.name), "verdict": part.verdict.value}
                for part in results.parts
                if part.verdict is not None
            ],
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(first: CiFinding, known: Explanation | None) -> dict[str, Any]:
    """What a rule is about; of a rule of the user's own what its findings say."""
    one = first.finding
    if known is None:
        return {
            "id": one.rule,
            "shortDescription": {"text": plain(one.message)},
            "help": {"text": "\n".join(first.lines)},
            "defaultConfiguration": {"level": _LEVELS[one.severity]},
            "properties": {"tags": [one.kind.value], "sources": [plain(one.source)]},
        }
    full = explanation_document(known)
    rule = {
        "id": one.rule,
        "shortDescription": {"text": plain(known.title)},
        "fullDescription": {"text": plain(known.why)},
        "help": {"text": text.render(full, 100), "markdown": markdown.render(full)},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
        "properties": {"tags": [known.kind.value], "sources": list(map(plain, known.sources))},
    }
    address = _address((*known.sources, one.source))
    return {**rule, "helpUri": address} if address else rule


def _address(sources: tuple[str, ...]) -> str | None:
    for pattern, address in _ADDRESSES:
        for source in sources:
            if match := pattern.search(source):
                return match.expand(address).rstrip(".")
    return None


def _result(result: CiFinding, index: int) -> dict[str, Any]:
    one = result.finding
    place: dict[str, Any] = {"artifactLocation": _artifact(result.file)}
    if one.line is not None:
        place["region"] = {"startLine": one.line}
    found = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _LEVELS[result.level],
        "message": {"text": _no_links("\n".join(result.lines))},
        "locations": [{"physicalLocation": place}],
        # GitHub reads the second alone, and would hash the line where it is not there.
        "partialFingerprints": {
            "mlsub/v1": result.identity,
            "primaryLocationLineHash": f"{result.identity[:16]}:1",
        },
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


def _artifact(file: str) -> dict[str, str]:
    """A file as an address; one outside of the repository by its absolute path."""
    try:
        path = quote(os.fsencode(file))
    except UnicodeEncodeError:  # Of a text, not of a file system.
        path = quote(plain(file))
    return {"uri": f"file://{path}"} if os.path.isabs(file) else {"uri": path, "uriBaseId": _ROOT}  # noqa: PTH117


def _no_links(message: str) -> str:
    """A message in which nothing reads as a link of SARIF, ``[text](target)``."""
    return message.replace("](", "] (")
