"""From a claims file to findings: what the bridge makes of claims, where documents are looked for, what is shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mlsub.commands.audit.claims import Source
from mlsub.commands.audit.document import document_of
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.facts import gather
from mlsub.commands.audit.messaging import MAX_BYTES, judge_messaging, message_of, text_of
from mlsub.commands.audit.quoting import Message
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.verdict import Audit, ClaimVerdict, Judged
from mlsub.present import terminal
from mlsub.present.envelope import answer

CLAIMS = """\
claims_version: 1
source: {title: A post, publisher: Acme, date: 2021-12-02, file: post.txt}
results:
  ours: {round: v1.1, submitter: Acme, system: acme8, benchmark: resnet, division: closed, id: 1.1-2001}
  bert: {round: v1.1, submitter: Acme, system: acme8, benchmark: bert, division: open}
  mine: {round: v1.1, submitter: Acme, system: acme8, benchmark: resnet, division: closed, reviewed: false}
inputs:
  usd: {value: 100, unit: USD, kind: price, source: list}
  watts: {value: 9, unit: kW, source: data sheet}
  images: {value: 9, unit: images/s, source: own measurement}
  their_minutes: {value: 9, unit: min, kind: time, source: MLPerf results page}
values:
  price: minutes(ours) * usd
claims:
  - {id: plain, text: Acme trains ResNet-50 on acme8, expr: minutes(ours), stated: {value: 9}}
  - {id: priced, text: cheap, expr: price, stated: {value: 9}}
  - {id: both, text: both, expr: minutes(ours) < 9 and not price > 9 or minutes(bert) < 9, stated: {value: true}}
  - {id: chips, text: chips, expr: chips(ours), stated: {value: 9}}
  - {id: each, text: each, expr: per_chip(ours), stated: {value: 9}}
  - {id: power, text: power, expr: watts / minutes(ours), stated: {value: 9}}
  - {id: foreign, text: foreign, expr: images / minutes(ours), stated: {value: 9}}
  - {id: other, text: other, expr: their_minutes / minutes(ours), stated: {value: 9}}
  - {id: mine, text: mine, expr: minutes(mine), stated: {value: 9}}
  - {id: noted, text: noted, expr: minutes(ours), stated: {value: 9}, says: {reviewed: false}}
  - {id: old, text: old, unverifiable: no logs}
"""


def world_of(folder: Path, text: str = CLAIMS) -> World:
    (folder / "claims.yaml").write_text(text)
    file = read_claims(folder / "claims.yaml")
    return World(file, gather(list(file.results.values()), ()), ())


def bridged(folder: Path) -> dict[str, Message]:
    world = world_of(folder)
    judged = [Judged(claim=claim, verdict=ClaimVerdict.HOLDS) for claim in world.file.claims]
    return {message.id: message for message in (message_of(one, world, {}) for one in judged)}


def test_the_bridge_sees_which_scores_a_claim_uses(tmp_path: Path) -> None:
    found = bridged(tmp_path)
    assert {name: (one.scored, one.derived) for name, one in found.items()} == {
        "plain": (("ours",), False),
        "priced": (("ours",), True),
        "both": (("ours", "bert"), True),
        "chips": ((), False),
        "each": (("ours",), True),
        "power": (("ours",), True),
        "foreign": (("ours",), True),
        "other": (("ours",), False),
        "mine": (("mine",), False),
        "noted": (("ours",), False),
        "old": ((), False),
    }
    assert found["both"].together == (("bert",), ("ours",))
    assert {one.name: one.kind for name in found for one in found[name].figures} == {
        "usd": "price",
        "watts": "power",
        "images": "throughput",
        "their_minutes": "time",
    }
    assert [one.reviewed for name in ("plain", "mine", "noted") for one in found[name].operands] == [True, False, False]
    assert found["plain"].operands[0].id == "1.1-2001"
    assert (found["plain"].line, str(found["plain"].document.date)) == (15, "2021-12-02")


def test_what_a_claim_that_fails_comes_to(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    judged = [
        Judged(claim=world.file.claims[0], verdict=verdict, reason="no value fits")
        for verdict in (ClaimVerdict.FAILS, ClaimVerdict.CONTRADICTION, ClaimVerdict.DEPENDS)
    ]
    untrue = [message.untrue for message in (message_of(one, world, {}) for one in judged)]
    assert untrue == ["the results say otherwise", "no value fits", None]


def audited(folder: Path, text: str = CLAIMS, wanted: str = "auto") -> Audit:
    world = world_of(folder, text)
    judged = tuple(Judged(claim=claim, verdict=ClaimVerdict.HOLDS) for claim in world.file.claims)
    return Audit(
        file=str(world.file.file),
        source=world.file.source,
        results=(),
        inputs=(),
        claims=judged,
        messaging=judge_messaging(judged, world, wanted=wanted),
    )


NOTE = (
    "MLPerf™ v1.1 Training Closed ResNet-50. Retrieved from mlcommons.org 2 December 2021, entry 1.1-2001. "
    "MLPerf trademark"
)
SMALL = "\n".join(CLAIMS.splitlines()[:15]) + "\n"


def test_a_footnote_of_the_document_or_of_the_claim_is_heard(tmp_path: Path) -> None:
    with_source = SMALL.replace("file: post.txt", f"footnote: {NOTE!r}")
    assert audited(tmp_path, with_source).findings == ()
    with_claim = SMALL.replace("stated: {value: 9}}", f"stated: {{value: 9}}, footnote: {NOTE!r}}}")
    assert audited(tmp_path, with_claim).findings == ()
    lacking = with_claim.replace("entry 1.1-2001", "")
    [finding] = audited(tmp_path, lacking).findings
    assert (finding.rule, finding.line, finding.message) == ("claim.r05", 15, "the footnote has no ID of a result")


def test_the_text_of_a_document_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text("Acme's acme8 trains MLPerf™ ResNet-50 in 9 minutes.\n")
    [finding] = audited(tmp_path, SMALL).findings
    assert (finding.rule, finding.path, finding.message) == (
        "claim.r03",
        "post.txt",
        "there is no footnote on the results",
    )


def test_a_document_that_is_not_there_is_told(tmp_path: Path) -> None:
    undivided = audited(tmp_path, SMALL).messaging.not_looked_at
    assert [one.reason for one in undivided] == [
        "post.txt is not there; name its folder with --documents",
        "in post.txt: neither its text nor a footnote is given",
        "in post.txt: its text is not given",
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../post.txt", "beside the claims file or in a folder given with --documents"),
        ("/etc/hostname", "beside the claims file or in a folder given with --documents"),
        ("a\0b", "beside the claims file or in a folder given with --documents"),
        ("folder", "folder: not a file"),
        ("pipe", "pipe: not a file"),
        ("out", "out: a link that leads out of its folder"),
        ("huge", "huge: larger than 4 MiB"),
        ("loop", "loop: cannot be read"),
        ("x" * 300, "cannot be read"),
    ],
)
def test_documents_of_every_bad_kind_are_refused(tmp_path: Path, name: str, told: str) -> None:
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    os.mkfifo(here / "pipe")
    (tmp_path / "secret").write_text("MLPerf secrets")
    (here / "out").symlink_to(tmp_path / "secret")
    (here / "loop").symlink_to(here / "loop")
    with (here / "huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    text, reason = text_of(Source(file=name), [here])
    assert text is None
    assert reason is not None and told in reason and reason.isprintable()


def test_a_document_in_any_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_bytes(b"\xff\xfe\0MLPerf\x99 \0\n" * 3)
    found = audited(tmp_path, SMALL, wanted="2025-07").findings
    assert "claim.r19" in {finding.rule for finding in found}
    assert all(finding.message.isprintable() for finding in found)


def test_warnings_count_when_strict_and_information_does_not(tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text(f"Acme's acme8 trains ResNet-50.\nMLPerf ID: 1.1-2001\n{NOTE}\n")
    informed = audited(tmp_path, SMALL)
    assert [(one.rule, one.severity) for one in informed.findings] == [("claim.r19", "note")]
    assert (informed.exit_status(), informed.exit_status(strict=True)) == (0, 0)
    (tmp_path / "post.txt").write_text("Acme's acme8 trains ResNet-50.\nMLPerf™ ID: 1.1-2001\n")
    warned = audited(tmp_path, SMALL)
    assert (warned.exit_status(), warned.exit_status(strict=True)) == (0, 1)


def render(found: Audit, format_: str, *, footnotes: bool = False) -> str:
    return terminal.render(document_of(found, with_footnotes=footnotes), format_)


def test_the_findings_stand_apart_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "post.txt").write_text(
        "Acme's acme8 trains ResNet-50.\nMLPerf™ Training v1.1 Closed | MLPerf™ ID: 1.1-2001\n"
    )
    found = audited(tmp_path, SMALL)
    text = render(found, "text")
    section = text[text.index("How results are quoted") :]
    assert section.startswith(
        "How results are quoted: 3 findings\n"
        "  where     rule  finding\n"
        f"  {'-' * 88}\n"
        "  post.txt  R03   the footnote lacks the benchmark\n"
        "  post.txt  R04   the footnote does not say when and from where the results were retrieved\n"
        "  post.txt  R06   MLPerf is nowhere called a trademark\n"
        "  - Checked against: MLPerf Results Guidelines (2021-06), for post.txt.\n"
        "  - mlsub explain claim.r03 explains this rule, and how to fix what it finds.\n"
        "\n"
    )
    assert "Footnotes" not in text
    document = json.loads(answer("audit", found))["messaging"]
    assert [(one["rule"][-3:], one["claim"], one["document"]) for one in document["findings"]] == [
        (rule, None, "post.txt") for rule in ("r03", "r04", "r06")
    ]
    assert document["rules"]["post.txt"]["name"] == "2021-06"
    assert document["footnotes"][0]["missing"] == ["source and date of retrieval"]
    markdown = render(found, "markdown", footnotes=True)
    assert "## How results are quoted" in markdown and "| post.txt | R03 |" in markdown
    assert "## Footnotes" in markdown and "### plain\n\nMLPerf™ Training v1.1 Closed" in markdown
    assert "By hand" not in text
    later = render(audited(tmp_path, SMALL, wanted="2025-07"), "text")
    assert "By hand: R08 Footnotes are text, and legible; R21" in later
    assert "by hand" not in later.replace("By hand", "", 1).lower()


def test_a_footnote_is_written_when_asked_for(tmp_path: Path) -> None:
    text = render(audited(tmp_path, SMALL), "text", footnotes=True)
    first, _, second, *lines = text[text.index("Footnotes") : text.index("Verdicts rest on")].splitlines()
    assert (first, second) == ("Footnotes, with what is missing in [brackets]", "  plain")
    said = " ".join(" ".join(lines).split())
    assert said.startswith(
        "MLPerf™ Training v1.1 Closed, Image classification, ResNet-50 v1.5 on ImageNet: Acme acme8, "
    )
    assert said.endswith("See www.mlcommons.org for more information. missing: source and date of retrieval")


def test_text_of_the_file_does_not_steer_a_terminal(tmp_path: Path) -> None:
    hostile = SMALL.replace("title: A post", 'title: "A \\e[31mpost"').replace(", file: post.txt", "")
    text = render(audited(tmp_path, hostile), "text", footnotes=True)
    assert "\x1b" not in text
