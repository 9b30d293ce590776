"""Results in the formats of CI, made of findings alone: what each looks like, and that no text breaks any of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.findings import Blocks, Finding, Kind, Severity, Verdict
from mlsub.io import VERSION
from mlsub.present import CI_FORMATS
from mlsub.present.ci import CiReport, Outcome, judge_outcome, part
from mlsub.present.ci_formats import render
from mlsub.present.explanation import Explanation
from tests import ci_formats
from tests.conftest import ExpectedText
from tools.support.effort import effort

#: What each format could take for its own.
HOSTILE = st.text("ab%:,;=\r\n\t \x00\x1b[]()<>&\"'{}\\|]]>é\ud800\ufffe\u2028", min_size=1, max_size=20)
SEED = Finding(
    rule="seed.shared",
    severity=Severity.ERROR,
    kind=Kind.OFFICIAL,
    blocks=Blocks.BOTH,
    path="results/rack1/bert/result_0.txt",
    line=7,
    message="Two runs have the same seed",
    expected="a seed of its own",
    actual="seed 3 of result_1.txt",
    fix="Run again.",
    source="official package checker",
)
REVIEW = msgspec.structs.replace(
    SEED, rule="system.empty-value", kind=Kind.REVIEW, path="systems/rack1.json", line=None, message="A field is empty",
    expected=None, actual=None, severity=Severity.WARNING,
)  # fmt: skip
HOUSE = msgspec.structs.replace(SEED, rule="house.ticket.count", kind=Kind.HOUSE, message="100 %, no ticket")
TEXTS = {
    one.rule: Explanation(
        rule=one.rule,
        title=f"What {one.rule} is about",
        why="Because.",
        severity=one.severity,
        kind=one.kind,
        blocks=one.blocks,
        found="All there is to know.",
        fix="Run again.",
        sources=("mlperf_logging/compliance_checker/training_5.1.0: common.yaml",),
    )
    for one in (SEED, REVIEW)
}
FINDINGS = (SEED, REVIEW, msgspec.structs.replace(SEED, line=9), HOUSE)


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def results(*findings: Finding, verdict: Verdict = Verdict.REJECTED, fail_on: Severity | None = None) -> CiReport:
    checked = ("systems/rack2.json", "systems/rack1.json")
    outcome = judge_outcome(verdict, fail_on=fail_on)
    one = part("ACME (training v1.0)", findings, outcome, root="ACME", verdict=verdict, checked=checked)
    return CiReport("check", (one,))


def rendered(found: CiReport) -> dict[str, str]:
    return {name: render(found, name) for name in CI_FORMATS}


def test_what_ci_reads(expected_text: ExpectedText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.present.ci_formats.explanations", lambda rules: TEXTS)
    endings = {"sarif": "sarif", "junit": "xml", "github": "github.txt", "gitlab": "gitlab.json"}
    for name, text in rendered(results(*FINDINGS)).items():
        assert ci_formats.counted(name, text) == len({found.defect for found in FINDINGS})
        expected_text(f"results.{endings[name]}", text.replace(f'"version": "{VERSION}"', '"version": "1.2.3"'))


@settings(max_examples=effort(8, 200))
@given(HOSTILE, HOSTILE, st.one_of(st.none(), HOSTILE), st.integers(1, 3))
def test_no_text_breaks_a_format(message: str, path: str, expected: str | None, times: int) -> None:
    hostile = msgspec.structs.replace(SEED, message=message, path=path, expected=expected, fix=message, source=path)
    for verdict in Verdict:
        for name, text in rendered(results(*[hostile] * times, REVIEW, verdict=verdict)).items():
            assert ci_formats.counted(name, text) == 2
            assert text.endswith("\n")
            text.encode("utf-8")


@pytest.mark.parametrize("verdict", Verdict)
def test_nothing_found_is_a_document(verdict: Verdict) -> None:
    for name, text in rendered(results(verdict=verdict)).items():
        assert ci_formats.counted(name, text) == 0
    nothing_found = CiReport("review", (part("ACME", (), lambda _: Outcome.COUNTS),))
    [nothing] = render(nothing_found, "junit").split("<testcase")[1:]
    assert 'name="no findings"' in nothing


def test_what_counts_is_what_the_exit_status_counts() -> None:
    def outcomes(found: CiReport) -> list[str]:
        return [one.outcome.value for one in found.all]

    assert outcomes(results(SEED, REVIEW, HOUSE)) == ["counts", "counts", "beside"]
    assert outcomes(results(SEED, REVIEW, HOUSE, verdict=Verdict.ACCEPTED)) == ["beside", "counts", "beside"]
    assert outcomes(results(SEED, REVIEW, verdict=Verdict.ACCEPTED, fail_on=Severity.NOTE)) == ["beside", "counts"]
    assert outcomes(results(SEED, REVIEW, verdict=Verdict.NOT_CHECKED)) == ["not-checked", "beside"]


def test_a_verdict_is_seen_although_its_findings_are_hidden() -> None:
    """With --select nothing may be left of what rejects, and no format may look as if all was well."""
    found = results()
    assert '<failure message="rejected" type="verdict" />' in render(found, "junit")
    assert ci_formats.sarif(rendered(found)["sarif"])["properties"]["verdicts"] == [
        {"name": "ACME (training v1.0)", "verdict": "rejected"}
    ]


def test_an_identity_counts_equal_findings_of_all_parts() -> None:
    one = part("a", (SEED, SEED), lambda _: Outcome.COUNTS)
    found = CiReport("audit", (one, part("b", (SEED,), lambda _: Outcome.COUNTS)))
    assert len({identity for _, identity in found.with_identities()}) == 2
