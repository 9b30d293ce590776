"""``mlsub audit draft``: what is read from documents, what is proposed, and that every draft is a claims file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.commands.audit.draft.figures import figures_in
from mlsub.commands.audit.draft.names import About, date_in
from mlsub.commands.audit.draft.pages import LONGEST, sentences_of
from mlsub.commands.audit.draft.run import draft
from mlsub.commands.audit.read import read_claims
from mlsub.io.errors import MlsubError
from mlsub.io.spelling import spaced
from mlsub.workspace import Settings
from tests.commands.runner import answer_schema, run
from tests.conftest import ExpectedText
from tests.corpus import CORPUS, SHARED
from tests.make_tree import make_tree, snapshot

TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("sentences.yaml").read_text())
SEEDS = sorted((SHARED / "seeds").glob("*.txt"))
ONE = Settings(jobs=1)
NOTHING_KNOWN = About(title="")
founding = pytest.mark.skipif(
    not SEEDS or not CORPUS.is_dir(), reason="needs the founding documents and published logs"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_tree(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", TABLE["figures"], ids=lambda case: case["text"][:40])
def test_figures_of_a_sentence(case: dict[str, Any]) -> None:
    found = figures_in(spaced(case["text"]))
    assert [[one.kind, one.value, one.unit, one.wording] for one in found] == case["figures"]


@pytest.mark.parametrize("case", TABLE["proposed"], ids=lambda case: case["text"][:50])
def test_what_is_proposed_for_a_sentence(case: dict[str, Any], place: Path) -> None:
    post = place / "post.txt"
    post.write_text(case["text"])
    found = draft(post, [str(place)], NOTHING_KNOWN, settings=ONE)
    last = found.claims[-1]
    if "reason" in case:
        assert (last.expr, found.unmatched >= 1) == (None, True)
        assert case["reason"] in (last.reason or "")
    else:
        assert last.expr == case["expr"].format(resnet=next(iter(last.results), ""))
        assert last.verdict == case["verdict"]


PAGES = {
    "post.txt": (
        "Results\n\nACME & Co. trains ResNet-50 in MLPerf\nv1.0 in 12 minutes. That is fast.\n",
        {1: "Results", 3: "ACME & Co. trains ResNet-50 in MLPerf v1.0 in 12 minutes.", 4: "That is fast."},
    ),
    "post.md": (
        "---\ntitle: x\n---\n# Results\n\nIt **trains** [ResNet-50](https://a.b/c) in\n12 minutes.\n\n- one item\n"
        "- another\n\n| System | Time |\n|---|---|\n| rack1 | 12 minutes |\n\n```\ncode 5 minutes\n```\n<!-- 7 -->\n",
        {
            4: "Results",
            6: "It trains ResNet-50 in 12 minutes.",
            9: "one item",
            10: "another",
            12: "System; Time",
            14: "System: rack1; Time: 12 minutes",
        },
    ),
    "post.html": (
        "<html><head><title>A post</title><style>5 minutes</style></head>\n<!-- 6 minutes\n--><h1>Results</h1>\n"
        "<p>A&nbsp;&amp;&#32;B <b>trains</b> in\n12&#x20;minutes &lt;fast&gt;.</p><script>a = '7 minutes'</script>\n"
        "<table><tr><th>System</th><th>Time</th></tr>\n<tr><td>rack1</td><td>12 <i>minutes</i></td></tr></table>\n"
        "<ul><li>one<li>two</ul> 3 < 4 minutes",
        {
            1: "A post",
            3: "Results",
            4: "A & B trains in 12 minutes <fast>.",
            6: "System; Time",
            7: "System: rack1; Time: 12 minutes",
            8: "3 < 4 minutes",
        },
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_sentences_and_their_lines(name: str, tmp_path: Path) -> None:
    text, expected = PAGES[name]
    (tmp_path / name).write_text(text)
    assert {one.line: one.text for one in sentences_of(tmp_path / name)} == expected


def test_text_and_what_is_printed_beside_it(
    place: Path, expected_text: ExpectedText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    Path("post.md").write_text(
        "# ACME in MLPerf Training v1.0\n\nJune 30, 2021\n\nACME trained ResNet-50 in just over 11.9 minutes on\n"
        "rack1, and BERT in 9 minutes. The system costs $1,000.\n"
    )
    before = snapshot(place)
    outcome = run("audit", "draft", "post.md", "--results", ".", "--jobs", "1")
    assert (outcome.stderr, outcome.status) == ("", 1)
    expected_text("audit-draft.yaml", outcome.stdout)
    assert snapshot(place) == before


def test_a_file_is_never_replaced_silently(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    Path("post.txt").write_text("In MLPerf Training v1.0 ACME trains ResNet-50 in 12 minutes.")
    words = ("audit", "draft", "post.txt", "--results", ".", "-o", "claims.yaml")
    assert run(*words).status == 0
    assert "exists" in (again := run(*words)).stderr
    assert again.status == 2
    assert run(*words, "--force").status == 0
    proposed = run("audit", "claims.yaml", "--results", ".")
    # Nothing is confirmed yet, so nothing holds.
    assert proposed.status == 1
    assert "1 proposed claim: 1 holds; remove proposed: true to confirm one" in proposed.stdout
    confirmed = Path("claims.yaml")
    confirmed.write_text(confirmed.read_text().replace("    proposed: true\n", ""))
    assert run("audit", "claims.yaml", "--results", ".").status == 0


def test_proposed_claims_count_apart(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    result = "{round: v1.0, submitter: ACME, system: rack1, benchmark: resnet}"
    claims = [
        "{id: one, expr: minutes(a), stated: {value: 12, unit: min}}",
        "{id: two, proposed: true, expr: minutes(a), stated: {value: 5, unit: min}}",
    ]
    Path("c.yaml").write_text(
        f"claims_version: 1\nsource: {{title: t}}\nresults: {{a: {result}}}\nclaims: [{', '.join(claims)}]\n"
    )
    document = run("audit", "c.yaml", "--results", ".", "--format", "json").document
    assert (document["verdicts"], document["proposed"]) == ({"holds": 1}, {"fails": 1})
    assert run("audit", "c.yaml", "--results", ".").status == 0
    assert run("audit", "c.yaml", "--results", ".", "--strict").status == 1
    sarif = run("audit", "c.yaml", "--results", ".", "--format", "junit")
    assert (sarif.status, "<failure" in sarif.stdout) == (0, False)


def test_json(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    Path("post.txt").write_text("In MLPerf Training v1.0 ACME trains ResNet-50 in 12 minutes. It costs $5.")
    document = run("audit", "draft", "post.txt", "--results", ".", "--format", "json").document
    answer_schema("audit draft").validate(document)
    assert (document["sentences"], document["proposed"], document["unmatched"]) == (2, 1, 1)
    assert [one["verdict"] for one in document["claims"]] == ["holds", None]


def test_without_results_it_says_what_to_look_for(tmp_path: Path) -> None:
    post = tmp_path / "post.txt"
    post.write_text("In MLPerf Training v1.0 Graphcore trains BERT in 9 minutes on an IPU-POD64 (Open division).")
    [claim] = draft(post, [], NOTHING_KNOWN).claims
    assert (claim.expr, claim.reason, claim.matched) == (None, None, True)
    assert claim.selectors == {
        "round": "v1.0",
        "submitter": "Graphcore",
        "benchmark": "bert",
        "accelerator": "Bow IPU or GC200",
        "accelerators": "64",
        "division": "open",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing.txt",), "cannot be read"),
        (("empty.txt",), "no sentence with a figure"),
        (("post.txt", "--date", "June"), "not a day"),
        (("post.txt", "--round", "17.3"), "17.3"),
        (("post.txt", "--results", "nowhere"), "nowhere"),
        (("bytes.txt",), "UTF-8"),
    ],
)
def test_what_cannot_be_drafted(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("Nothing to see here.")
    Path("post.txt").write_text("In 12 minutes.")
    Path("bytes.txt").write_bytes(b"\xff\xfe12 minutes")
    outcome = run("audit", "draft", *words)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub audit draft: ")
    assert message in outcome.stderr


def test_a_claims_file_that_is_called_draft(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    Path("draft").write_text("claims_version: 1\nsource: {title: t}\nclaims: [{id: one, unverifiable: no log}]\n")
    assert run("audit", "./draft", "--results", ".").status == 0


@pytest.mark.parametrize("ending", ["txt", "md", "html"])
@given(text=st.text(st.sampled_from("<>/&;|#-*[]()`\n .,aAv1059%x$pré\u2028\x1btdMLPerf"), max_size=300))
@settings(max_examples=60)
def test_every_draft_is_a_claims_file(ending: str, text: str, tmp_path: Path) -> None:
    post, file = tmp_path / f"post.{ending}", tmp_path / "claims.yaml"
    post.write_text(f"{text}\n\nIn MLPerf v1.0 ACME {text} took 12 minutes {text}")
    try:
        found = draft(post, [], NOTHING_KNOWN)
    except MlsubError:
        return
    file.write_text(found.file)
    claims = read_claims(file).claims
    assert [one.id for one in claims] == [one.id for one in found.claims]
    assert all(one.proposed for one in claims)


@pytest.mark.parametrize(
    "unit", ["<", "<a ", "<!--", "<a b='", "</", "<p>", "&#", "<td>", "1x ", "$1", "a.B ", "9.9-9999 "]
)
@pytest.mark.parametrize("ending", ["html", "md", "txt"])
def test_broken_pages_cost_little(unit: str, ending: str, tmp_path: Path) -> None:
    """A page whose time grows with its square would keep this test from ending."""
    post = tmp_path / f"post.{ending}"
    post.write_text(unit * (200_000 // len(unit)))
    assert all(len(one.text) <= LONGEST for one in sentences_of(post))
    assert all(figures_in(spaced(one.text)) is not None for one in sentences_of(post)[:200])


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("On Jun 30, 2021", "2021-06-30"),
        ("Tuesday, January 25, 2022", "2022-01-25"),
        ("12th November 2025", "2025-11-12"),
        ("2024-06-12", "2024-06-12"),
        ("30 Feb 2024", None),
        ("in 2024", None),
    ],
)
def test_dates(text: str, day: str | None) -> None:
    assert date_in(text) == day


#: By hand: the figures of MLPerf results, and the expressions for them, in which results are named by submitter,
#: accelerator, benchmark and count. The other figures are of throughput, inference, price and software.
BY_HAND: dict[str, dict[str, str]] = {
    "000": {},
    "001": {},
    "002": {"L14": "count('v1.1', 'Graphcore')", "L16": "count('v1.1', 'Graphcore')"},
    "003": {
        "L19": "minutes(graphcore_gc200_bert_64)",
        "L19-2": "minutes(graphcore_gc200_resnet_64)",
        "L49": "systems('v1.0', 'Graphcore')",
        "L57": "hosts(graphcore_gc200_bert_64)",
        "L57-2": "hosts(graphcore_gc200_resnet_64)",
        "L89": "per_dollar(graphcore_gc200_resnet_16, price_1) / per_dollar(nvidia_a100_resnet_8, price_2)",
        "L89-2": "per_dollar(graphcore_gc200_bert_16, price_1) / per_dollar(nvidia_a100_bert_8, price_2)",
        "L127": "count('v1.0', 'Graphcore')",
    },
    "004": {},
}


#: How many sentences with figures each has, as docs/claims.md says.
SENTENCES = {"000": 1, "001": 12, "002": 2, "003": 9, "004": 22}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the published logs")
@pytest.mark.parametrize("case", TABLE["published"], ids=lambda case: case["text"][:30])
def test_facts_of_published_rounds(case: dict[str, Any], tmp_path: Path) -> None:
    post = tmp_path / "post.md"
    post.write_text(case["text"])
    found = draft(post, [str(CORPUS)], NOTHING_KNOWN, settings=ONE)
    assert [one.expr for one in found.claims if one.expr] == [expr for expr, _ in case["claims"]]
    verdicts = [one.verdict for one in found.claims if one.expr]
    assert all(wanted in (None, verdict) for verdict, (_, wanted) in zip(verdicts, case["claims"], strict=True)), (
        verdicts
    )


@founding
@pytest.mark.parametrize("document", SEEDS, ids=lambda path: path.name[:3])
def test_the_founding_documents(document: Path, tmp_path: Path) -> None:
    """Each draft loads and audits, and proposes what a person counted; docs/claims.md has the figures."""
    found = draft(document, [str(CORPUS)], NOTHING_KNOWN, settings=ONE)
    file = tmp_path / "claims.yaml"
    file.write_text(found.file)
    assert len(read_claims(file).claims) == len(found.claims)
    assert run("audit", file, "--results", CORPUS, "--jobs", "1").status == 1
    assert {one.id: one.expr for one in found.claims if one.expr} == BY_HAND[document.name[:3]]
    assert found.sentences == SENTENCES[document.name[:3]]
