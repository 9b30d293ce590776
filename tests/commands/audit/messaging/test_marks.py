"""The name MLPerf: its sign, and what may not be made of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.documents import alteration_hits, occurrences, sign_hits
from mlsub.commands.audit.quoting import guidelines
from tests.commands.audit.messaging.made import LEGEND_2021, LEGEND_2025, document, judged

TEXTS = guidelines().texts


@pytest.mark.parametrize(
    ("line", "old", "today"),
    [
        ("MLPerf™ Training v1.0", 0, 1),
        ("MLPerf® Training v1.0", 0, 0),
        ("MLPerf(R) Training v1.0", 0, 0),
        ("MLPerf (r) Training v1.0", 0, 0),
        ("MLPerf &reg; Training", 0, 0),
        ("MLPerf&trade; Training", 0, 1),
        ("MLPerf Training and MLPerf™ Inference", 1, 2),
        ("see www.mlperf.org, https://mlperf.org/MLPerf/x or info@MLPerf.org", 0, 0),
        (LEGEND_2021, 0, 0),
        (LEGEND_2025, 0, 0),
        ("MLPerformance and ml_perf", 0, 0),
    ],
)
def test_r19_counts_names_without_their_sign(line: str, old: int, today: int) -> None:
    for text, count in (("2021-06", old), ("2025-07", today)):
        hits = list(sign_hits(f"\n{line}\n", TEXTS[text]))
        assert [(hit.rule, hit.line, hit.message.split(" of ")[0]) for hit in hits] == (
            [("R19", 2, str(count))] if count else []
        )


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("MLPerf's results", "in the possessive"),
        ("MLPerf®’s results", "in the possessive"),
        ("three MLPerfs", "in the plural"),
        ("the ML-Perf Training benchmark", "in another spelling"),
        ("the ML Perf Training benchmark", "in another spelling"),
        ("an MLPerf-like benchmark", "with a hyphen"),
        ("a non-MLPerf benchmark", "with a hyphen"),
        ("MLPerf also shows", "as a noun"),
        ("MLPerf® is known", "as a noun"),
        ("a submission to MLPerf™, the process", "as a noun"),
        ("as seen in MLPerf", "as a noun"),
        ("we MLPerfed it", "as a verb"),
        ("MLPerf® Training v5.1 Closed BERT benchmark", None),
        ("MLPerf benchmark suites", None),
        ("MLPERF TRAINING", None),
        (LEGEND_2025, None),
        ("www.mlperf.org", None),
    ],
)
def test_r20_tells_each_way_of_misuse(line: str, kind: str | None) -> None:
    hits = [hit.message.split(" once")[0] for hit in alteration_hits(line)]
    assert hits == ([] if kind is None else [f"the name MLPerf is used {kind}"])


def test_one_finding_for_each_kind() -> None:
    hits = list(alteration_hits("MLPerf's\nMLPerf is\nMLPerf’s and MLPerf."))
    assert [(hit.line, hit.message) for hit in hits] == [
        (1, "the name MLPerf is used in the possessive 2 times; first “MLPerf's”"),
        (2, "the name MLPerf is used as a noun 2 times; first “MLPerf is”"),
    ]


def test_the_older_text_binds_documents_about_results_alone_and_demands_no_sign() -> None:
    announcing = document(text="We joined MLCommons; MLPerf Training is next.", footnote=None)
    assert judged(documents=(announcing,)).findings == ()
    quoting = document(text="MLPerf v1.1 Training Results | MLPerf ID: 1.1-2001", footnote=None)
    level = {r.rule: r.severity for r in judged(documents=(quoting,)).findings}
    assert level["claim.r19"] == "note"
    assert {r.severity for r in judged(documents=(announcing,), wanted="2025-07").findings} == {"warning"}


def test_quotations_do_not_steer_a_terminal() -> None:
    [hit] = sign_hits("\x1b[31m MLPerf \x07", TEXTS["2025-07"])
    assert hit.message.isprintable()


@given(st.text(alphabet=st.sampled_from("MLPerfs -'’™®.\n\x00é")) | st.text())
def test_any_text_is_looked_at(text: str) -> None:
    uses = list(occurrences(text))
    assert all(1 <= use.line <= len(text.splitlines()) for use in uses)
    for rules in TEXTS.values():
        assert len(list(sign_hits(text, rules))) <= 1
    assert len(list(alteration_hits(text))) <= 6


def test_quotations_are_of_whole_words() -> None:
    line = "We are proud of everything that our MLPerf® result shows to everybody who has eyes to see with"
    [hit] = sign_hits(line.replace("®", ""), TEXTS["2025-07"])
    assert hit.message.endswith("first “that our MLPerf result shows to”")
