"""``mlsub audit`` at the command line: output, exit statuses, and files made to break it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.workspace import Context
from tests.conftest import ExpectedText
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import answer_schema, call, run

CLAIMS = r"""claims_version: 1
source: {title: A post, publisher: ACME, date: 2021-06-30}
results:
  acme: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
inputs:
  price: {value: 100, unit: USD, kind: price, source: a list, plus_minus: 10%}
claims:
  - {id: time, text: It trains in 12 minutes, expr: minutes(acme), stated: {value: 12, unit: min}}
  - id: cost
    text: A training costs 20 dollars
    where: second chart
    expr: minutes(acme) / 60 * price
    stated: {value: 20, unit: USD}
  - {id: lead, text: "<b>Twice</b> | as fast\e[31m", unverifiable: no log of the other}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_tree(tmp_path)
    (tmp_path / "claims.yaml").write_text(CLAIMS)
    return tmp_path


@pytest.mark.parametrize(("format_", "name"), [("text", "audit.txt"), ("markdown", "audit.md")])
def test_what_people_read(format_: str, name: str, place: Path, expected_text: ExpectedText) -> None:
    before = snapshot(place)
    outcome = run("audit", place / "claims.yaml", "--results", place, "--format", format_)
    assert (outcome.stderr, outcome.status) == ("", 0)
    expected_text(name, outcome.stdout)
    assert snapshot(place) == before


def test_json_has_doubles_beside_exact_fractions(place: Path) -> None:
    document = run("audit", place / "claims.yaml", "--results", place, "--format", "json").document
    assert (document["command"], document["schema"]) == ("audit", 15)
    assert document["verdicts"] == {"holds": 1, "holds-fragile": 1, "not-verifiable": 1}
    answer_schema("audit").validate(document)
    time, cost, lead = document["claims"]
    assert time["computed"] == {"value": 12.0, "exact": "12/1"}
    assert time["accepted"]["low"] == {"value": 11.5, "exact": "23/2"}
    assert [point["at"]["exact"] for point in cost["break_even"]] == ["195/2", "205/2"]
    assert [point["within_uncertainty"] for point in cost["break_even"]] == [True, True]
    assert cost["readings"][0]["fragile"] is True
    assert (lead["verdict"], lead["reason"], lead["computed"]) == ("not-verifiable", "no log of the other", None)
    assert document["results"][0]["minutes"]["published"] == {"value": 12.0, "exact": "12/1"}


def test_html_is_one_page_that_loads_nothing_and_escapes_everything(place: Path) -> None:
    outcome = run("audit", place / "claims.yaml", "--results", place, "--format", "html")
    assert re.findall(r"<(?:script|b|img|iframe|link)\b|\b(?:src|href)=", outcome.stdout) == []
    assert "<p>&lt;b&gt;Twice&lt;/b&gt; | as fast\\x1b[31m</p>" in outcome.stdout
    assert '<section class="note" id="cost" data-kind="holds-fragile">\n<h2>cost: holds-fragile</h2>' in outcome.stdout
    assert outcome.stdout.endswith("</html>\n")


def test_strict_counts_what_is_doubtful_and_failing_counts_always(place: Path) -> None:
    assert run("audit", place / "claims.yaml", "--results", place, "--strict").status == 1
    (place / "claims.yaml").write_text(CLAIMS.replace("value: 12,", "value: 14,"))
    outcome = run("audit", place / "claims.yaml", "--results", place)
    assert (outcome.status, outcome.stderr) == (1, "")
    assert "time: fails" in outcome.stdout


def test_a_result_that_is_not_there(place: Path) -> None:
    (place / "claims.yaml").write_text(CLAIMS.replace("rack1", "rack2"))
    outcome = run("audit", place / "claims.yaml", "--results", place)
    assert outcome.status == 2
    assert outcome.stderr == (
        "mlsub audit: 2 of 3 claims could not be checked; "
        "time: acme: no system 'rack2' in ACME/results. Did you mean rack1?\n"
    )
    assert "time: not-checked" in outcome.stdout


#: What replaces what in a good file -> the one line on standard error, after the file's name.
BROKEN = {
    ("minutes(acme),", "minutes(acne),"): (
        "8: claims.time.expr: column 9: there is no result, input or value 'acne'. Did you mean acme?"
    ),
    ("minutes(acme),", "minutes(acme) / (2 - 2),"): "8: time: column 15: division by zero",
    ("text: It", "text: 0x" + "F" * 9999 + ", where: It"): "8: a number with too many digits",
}


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: change[1][:20])
def test_a_broken_file_is_one_line(change: tuple[str, str], place: Path) -> None:
    file = place / "claims.yaml"
    file.write_text(CLAIMS.replace(*change, 1))
    outcome = run("audit", file, "--results", place)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr == f"mlsub audit: {file}:{BROKEN[change]}\n"


def test_results_are_asked_for(place: Path) -> None:
    outcome = run("audit", place / "claims.yaml")
    assert outcome.status == 2
    assert "Missing option '--results'" in outcome.stderr


def test_files_that_are_none(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "loop").symlink_to("loop")
    for name in ("pipe", "loop", "nowhere.yaml", "v1.0"):
        outcome = run("audit", place / name, "--results", place)
        assert outcome.status == 2
        assert outcome.stderr.startswith(f"mlsub audit: {place / name}:1: cannot be read: ")


def test_says_may_hold_what_json_cannot(place: Path) -> None:
    says = "says: {round: .nan, division: null, reviewed: true, ids: [1.0-1025]}"
    (place / "claims.yaml").write_text(CLAIMS.replace("id: time,", f"id: time, {says},"))
    document = run("audit", place / "claims.yaml", "--results", place, "--format", "json").document
    assert document["claims"][0]["claim"]["says"] == {
        "round": ".nan",
        "division": None,
        "reviewed": True,
        "ids": ["1.0-1025"],
    }


def test_a_narrow_terminal_keeps_figures_whole(place: Path) -> None:
    from mlsub.commands.audit.document import build_document
    from mlsub.commands.audit.run import audit
    from mlsub.present.text import render

    text = render(build_document(audit(place / "claims.yaml", [str(place)], context=Context(jobs=1))), 60)
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "unscaled: 12.000000" in " ".join(text.split())


@pytest.mark.slow
def test_the_order_of_work_does_not_change_the_answer(place: Path) -> None:
    one = call("audit", place / "claims.yaml", "--results", place, "--format", "json", "--jobs", 1)
    two = call("audit", place / "claims.yaml", "--results", place, "--format", "json", "--jobs", 2)
    assert json.loads(one.stdout) == json.loads(two.stdout)
    assert one.stderr == two.stderr == ""


@pytest.mark.slow
@given(st.binary(max_size=300), st.integers(0, len(CLAIMS)))
def test_whatever_stands_in_the_file_there_is_an_answer(place: Path, noise: bytes, at: int) -> None:
    content = CLAIMS.encode()
    (place / "noise.yaml").write_bytes(content[:at] + noise + content[at:])
    outcome = run("audit", place / "noise.yaml", "--results", place)
    assert outcome.status in (0, 1, 2)
    assert outcome.status != 2 or outcome.stderr.startswith("mlsub audit: ")
