"""What CI reads of the commands that check: each format by its own rules, the same findings in all."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import junitparser
import pytest

from mlsub.commands.output import Target
from mlsub.present import CI_FORMATS, FORMATS
from mlsub.present.document import Document, Text
from tests.ci_formats import counted, github, gitlab, junit, sarif
from tests.review.runs.build import every, stretch, write_tree
from tools.support.corpus import CORPUS
from tools.support.digits import HYPERPARAMETERS
from tools.support.effort import LONG
from tools.support.make_tree import HOUSE, Log, make_log, make_tree, spoil
from tools.support.runner import Outcome, run

ALL = (*FORMATS, *CI_FORMATS)
CLAIMS = """claims_version: 1
source: {title: A post, file: post.txt}
results:
  acme: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
claims:
  - {id: time, text: It trains in 12 minutes, expr: minutes(acme), stated: {value: 12, unit: min}}
  - {id: fast, text: It trains in 9 minutes, expr: minutes(acme), stated: {value: 9, unit: min}}
  - {id: lead, text: "It | leads\\e[31m", unverifiable: no log of the other}
"""


def broken(place: Path) -> tuple[object, ...]:
    """A package with several defects, each in one place."""
    tree = make_tree(place)
    tree.describe(status=None, cooling="")
    tree.edit(lambda log: log.drop("seed"))
    tree.edit(lambda log: log.put("eval_accuracy", value=0.1), 1)
    return ("check", tree.folder.relative_to(place))


def descriptions(place: Path) -> tuple[object, ...]:
    broken(place)
    return ("system", "check", "v1.0/ACME/systems")


def runs(place: Path) -> tuple[object, ...]:
    return ("review", "--select", "inspect", write_tree(place, every(stretch(1.098))).relative_to(place))


def claims(place: Path) -> tuple[object, ...]:
    make_tree(place)
    (place / "claims.yaml").write_text(CLAIMS)
    (place / "post.txt").write_text("It trains in 9 minutes.\nMLPerf results are great.\n")
    return ("audit", "claims.yaml", "--results", ".")


def hyperparameters(place: Path) -> tuple[object, ...]:
    """One line with two defects, what no rule names, and what is missing."""
    (place / "hp.yaml").write_text('global_batch_size: 32\nlearning_rate: 1e-4\n"dropout\\e[31m": 1\n')
    return ("rules", "keys", "digits", "--check", "hp.yaml")


COMMANDS = {
    "check": broken,
    "system check": descriptions,
    "review": runs,
    "audit": claims,
    "rules keys": hyperparameters,
}
Make = Callable[[Path], tuple[object, ...]]
commands = pytest.mark.parametrize("make", COMMANDS.values(), ids=list(COMMANDS))


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


def written(words: tuple[object, ...], *formats: str) -> tuple[Outcome, dict[str, str]]:
    """One call that writes every format to a file, as on the command line."""
    options = [option for name in formats for option in ("--format", name, "-o", f"answer-{name}")]
    outcome = run(*words, *options)
    return outcome, {name: Path(f"answer-{name}").read_text() for name in formats}


def results_of(text: str, kind: type[junitparser.Result]) -> int:
    """How many results of a kind a document of JUnit has."""
    return sum(isinstance(one, kind) for _, case in junit(text) for one in case.result)


@pytest.mark.parametrize("make", [broken, descriptions], ids=["check", "system check"])
def test_the_same_findings_in_every_format(make: Make, tmp_path: Path) -> None:
    outcome, answers = written((*make(tmp_path), "--verbose"), *ALL)  # Text counts what need not be fixed.
    assert (outcome.status, outcome.stderr) == (1, "")
    assert outcome.stdout == answers["text"]
    counts = {name: counted(name, text) for name, text in answers.items()}
    assert len(set(counts.values())) == 1, counts
    assert counts["text"] >= 2


def test_a_review_asks_once_what_ci_reads_once(tmp_path: Path) -> None:
    outcome, answers = written((*runs(tmp_path), "--verbose"), *ALL)
    assert (outcome.status, outcome.stderr) == (1, "")
    [one] = json.loads(answers["json"])["organisations"]
    asked = [*one["asks"], *one["notes"]]
    assert {name: counted(name, answers[name]) for name in CI_FORMATS} == dict.fromkeys(CI_FORMATS, len(asked))
    places = sum(len(ask["findings"]) for ask in asked)
    assert sum(len(result["locations"]) for result in sarif(answers["sarif"])["results"]) == places
    assert all(f"[{ask['findings'][0]['rule']}]" in " ".join(answers["text"].split()) for ask in asked)


def test_the_same_claims_in_every_format(tmp_path: Path) -> None:
    outcome, answers = written(claims(tmp_path), *ALL)
    assert (outcome.status, outcome.stderr) == (1, "")
    answer = json.loads(answers["json"])
    expected = sum(one["verdict"] != "holds" for one in answer["claims"])
    assert {name: counted(name, answers[name]) for name in CI_FORMATS} == dict.fromkeys(CI_FORMATS, expected)
    for name in ("text", "markdown", "html"):
        assert all(f"{one['claim']['id']}: {one['verdict']}" in answers[name] for one in answer["claims"])


@commands
def test_findings_are_where_ci_looks_for_them(make: Make, tmp_path: Path) -> None:
    _, answers = written(make(tmp_path), *CI_FORMATS)
    results = sarif(answers["sarif"])["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    uris = [place["artifactLocation"]["uri"] for place in places]
    assert all((tmp_path / uri).exists() for uri in uris), uris
    assert any("region" in place for place in places) or make is runs
    assert {one["location"]["path"] for one in gitlab(answers["gitlab"])} == set(uris)
    assert {properties["file"] for _, properties, _ in github(answers["github"]) if "file" in properties} <= set(uris)
    assert {case._elem.get("file") for _, case in junit(answers["junit"]) if case.result} - {None} == set(uris)


@pytest.mark.parametrize("name", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_places_are_relative_to_the_repository(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = broken(tmp_path)
    monkeypatch.chdir(tmp_path / "v1.0")
    monkeypatch.setenv(name, str(tmp_path))
    inside = gitlab(run(words[0], "ACME", "--format", "gitlab").stdout)
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    outside = gitlab(run(words[0], "ACME", "--format", "gitlab").stdout)
    assert {one["location"]["path"].split("/")[0] for one in inside} == {"v1.0"}
    assert {one["location"]["path"].split("/")[0] for one in outside} == {"ACME"}


def test_a_file_outside_of_the_repository_has_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(tmp_path)
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    outside = run("check", "../v1.0/ACME", "--format", "sarif").stdout
    assert all(
        place["uri"].startswith(f"file://{tmp_path}/v1.0/ACME") and "uriBaseId" not in place
        for result in sarif(outside)["results"]
        for place in [result["locations"][0]["physicalLocation"]["artifactLocation"]]
    )
    (tmp_path / "a b" / "v1.0").symlink_to(tmp_path / "v1.0")
    linked = run("check", "v1.0/ACME", "--format", "gitlab").stdout
    assert {one["location"]["path"].split("/")[0] for one in gitlab(linked)} == {"v1.0"}


def test_a_name_that_is_no_text_is_an_address(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, org="A%C#ME: é?,")
    tree.description().rename(tree.folder / "systems" / os.fsdecode(b"caf\xe9.json"))
    outcome, answers = written(("check", tree.folder), *CI_FORMATS)
    assert outcome.status == 1
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in sarif(answers["sarif"])["results"]
    }
    assert any(uri.startswith("v1.0/A%25C%23ME%3A%20%C3%A9%3F%2C/") for uri in uris)
    assert all(uri.isascii() for uri in uris)
    assert any("A%C#ME: é?,/" in properties["file"] for _, properties, _ in github(answers["github"]))
    junit(answers["junit"])
    gitlab(answers["gitlab"])


def test_text_of_a_log_ends_no_command_and_makes_no_link(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    hostile = "x\n::error::y\r%0A ](1) ]]><b>&\x1b[31m\ud800\ufffe"
    tree.edit(lambda log: log.put("opt_name", value=hostile), 0, 1)
    outcome, answers = written(("check", tree.folder), *CI_FORMATS)
    assert outcome.status == 1
    messages = [message for *_, message in github(answers["github"])]
    assert any("::error::y" in message for message in messages)
    assert "\n::error::y" not in answers["github"]
    assert all("](" not in result["message"]["text"] for result in sarif(answers["sarif"])["results"])
    assert "<b>" not in answers["junit"]
    junit(answers["junit"])
    gitlab(answers["gitlab"])


def test_a_fingerprint_survives_another_line(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("lars_opt_momentum", value="x"), 0)
    tree.edit(lambda log: log.lines.extend([log.records("epoch_stop")[0]] * 2), 1)

    def marks() -> dict[str, int | None]:
        results = sarif(run("check", tree.folder, "--format", "sarif").stdout)["results"]
        return {
            one["partialFingerprints"]["mlsub/v1"]: one["locations"][0]["physicalLocation"].get("region")
            for one in results
        }

    before = marks()
    prints = {one["fingerprint"] for one in gitlab(run("check", tree.folder, "--format", "gitlab").stdout)}
    tree.edit(lambda log: log.lines.insert(0, "another line"), 0, 1)
    after = marks()
    assert set(before) == set(after) == prints
    assert before != after


def test_a_defect_is_one_finding_with_all_its_places(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)

    def twice(log: Log) -> None:
        for at in (9, 12):
            log.lines.insert(at, ':::MLLOG {"namespace": "", broken')

    tree.edit(twice)
    call = ("check", tree.folder, "--select", "log", "--format")
    [result] = sarif(run(*call, "sarif").stdout)["results"]
    places = [place["physicalLocation"] for place in result["locations"]]
    assert [place["region"]["startLine"] for place in places] == [10, 13] * (len(places) // 2)
    names = [place["artifactLocation"]["uri"].rpartition("/")[2] for place in places]
    also = ", ".join(f"v1.0/ACME/results/rack1/resnet/{name}:13" for name in names[:1])
    [violation] = gitlab(run(*call, "gitlab").stdout)
    assert also in violation["description"] and also in result["message"]["text"]
    assert violation["location"]["lines"] == {"begin": 10}


def test_rules_come_with_help_and_source(tmp_path: Path) -> None:
    words = broken(tmp_path)
    (tmp_path / "house.yaml").write_text(HOUSE)
    run_ = sarif(run(*words, "--rules", "house.yaml", "--format", "sarif").stdout)
    for rule in run_["tool"]["driver"]["rules"]:
        assert rule["help"]["text"]
        assert rule["properties"]["sources"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
        if "house" not in rule["properties"]["tags"]:
            assert rule["help"]["markdown"].startswith("# ")
            assert rule["fullDescription"]["text"]
    [target] = [rule for rule in run_["tool"]["driver"]["rules"] if rule["id"] == "key.eval_accuracy.target"]
    assert target["helpUri"].startswith("https://github.com/mlcommons/logging/blob/master/mlperf_logging/")
    assert [rule["id"] for rule in run_["tool"]["driver"]["rules"] if rule["id"].startswith("house")]


def test_what_does_not_count_is_no_error(tmp_path: Path) -> None:
    """An error that is forgiven, or one of review, is a warning and a skipped test until --strict."""
    tree = make_tree(tmp_path)
    spoil(tree, 0)
    outcome, answers = written(("check", tree.folder), *CI_FORMATS)
    assert outcome.status == 0
    assert {result["level"] for result in sarif(answers["sarif"])["results"]} <= {"warning", "note"}
    assert not [one for one, *_ in github(answers["github"]) if one == "error"]
    assert results_of(answers["junit"], junitparser.Failure) == 0
    assert "critical" not in {one["severity"] for one in gitlab(answers["gitlab"])}
    strict = run("check", tree.folder, "--strict", "--format", "junit")
    assert (strict.status == 1) == bool(results_of(strict.stdout, junitparser.Failure))


def test_what_is_waived_or_known_is_shown_and_does_not_count(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(cooling="", hw_notes="TODO")
    reason = "The committee knows ]]> %."
    waiver = f'[[waivers]]\nrule = "system.empty-value"\npath = "v1.0/ACME/systems"\nreason = "{reason}"\n'
    (tmp_path / "mlsub.toml").write_text(f'format = "gitlab"\nstrict = true\n{waiver}')
    rejected, answers = written(("check", tree.folder), *CI_FORMATS)
    assert rejected.status == 1
    assert run("check", tree.folder).stdout == answers["gitlab"]
    suppressed = [one for one in sarif(answers["sarif"])["results"] if "suppressions" in one]
    assert [one["ruleId"] for one in suppressed] == ["system.empty-value"]
    assert suppressed[0]["suppressions"][0]["justification"].startswith(reason)
    kinds = {case.result[0].type: type(case.result[0]).__name__ for _, case in junit(answers["junit"]) if case.result}
    assert (kinds["system.empty-value"], kinds["system.placeholder"]) == ("Skipped", "Failure")
    said = {one["title"]: (kind, text) for kind, one, text in github(answers["github"])}
    assert said["system.empty-value"][0] == "notice"
    assert f"waived: {reason} (" in said["system.empty-value"][1]
    levels = {one["check_name"]: one["severity"] for one in gitlab(answers["gitlab"])}
    assert levels == {"system.empty-value": "info", "system.placeholder": "critical"}
    writing = run("check", tree.folder, "--baseline", "known.json", "--write-baseline")
    assert writing.stderr == "mlsub check: settings: mlsub.toml (strict, format, 1 waiver)\n"
    known = run("check", tree.folder, "--baseline", "known.json")
    assert known.status == 0
    assert any("; known: " in one["description"] for one in gitlab(known.stdout))


@commands
def test_nothing_found_is_a_document_too(make: Make, tmp_path: Path) -> None:
    words = make(tmp_path)
    clean: tuple[object, ...] = words
    if words[0] == "audit":
        (tmp_path / "claims.yaml").write_text("\n".join(CLAIMS.splitlines()[:6]) + "\n")
        (tmp_path / "post.txt").unlink()
    elif words[0] == "rules":
        (tmp_path / "hp.yaml").write_text(json.dumps(HYPERPARAMETERS))
    else:
        clean = (*words[:-1], clean_place(tmp_path, words))
    outcome, answers = written((*clean,), *CI_FORMATS)
    assert outcome.status == 0
    assert sarif(answers["sarif"])["invocations"] == [{"executionSuccessful": True}]
    assert results_of(answers["junit"], junitparser.Failure) == 0
    assert len(junit(answers["junit"])) >= 1
    github(answers["github"])
    gitlab(answers["gitlab"])


def clean_place(place: Path, words: tuple[object, ...]) -> Path:
    tree = make_tree(place / "clean")
    return tree.folder / "systems" if words[0] == "system" else tree.folder


REFUSED = {
    "check, no such path": ("check", "nowhere"),
    "check, no round": ("check", "loose"),
    "check, no such rule": ("check", "v1.0/ACME", "--select", "seed.sharde"),
    "check, no such baseline": ("check", "v1.0/ACME", "--baseline", "nowhere.json"),
    "check, broken rules": ("check", "v1.0/ACME", "--rules", "broken.yaml"),
    "system check, no such file": ("system", "check", "nowhere"),
    "system check, none in the folder": ("system", "check", "loose"),
    "review, no such path": ("review", "nowhere"),
    "review, no such rule": ("review", "v1.0/ACME", "--ignore", "inspect.strech"),
    "audit, a broken file": ("audit", "broken.yaml", "--results", "."),
    "audit, no results": ("audit", "claims.yaml", "--results", "nowhere"),
    "audit, a result that is not there": ("audit", "other.yaml", "--results", "."),
}


@pytest.mark.parametrize("words", REFUSED.values(), ids=list(REFUSED))
def test_what_could_not_be_checked_is_a_document_too(words: tuple[str, ...], tmp_path: Path) -> None:
    claims(tmp_path)
    (tmp_path / "loose").mkdir()
    (tmp_path / "broken.yaml").write_text("claims_version: 1\nno_such_word: 1\n")
    (tmp_path / "other.yaml").write_text(CLAIMS.replace("ACME", "Zeta"))
    for name in CI_FORMATS:
        outcome = run(*words, "--format", name)
        assert (outcome.status, name) == (2, name)
        assert outcome.stderr
        assert counted(name, outcome.stdout) >= 1
    run_ = sarif(run(*words, "--format", "sarif").stdout)
    assert run_["invocations"] == [{"executionSuccessful": False}]
    assert results_of(run(*words, "--format", "junit").stdout, junitparser.Error)


def test_annotations_keep_to_the_limits_of_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path, benchmarks=("resnet", "bert"))
    keys = {record["key"] for record in make_log().records()} - {"submission_benchmark", "run_start", "run_stop"}
    tree.edit(lambda log: log.drop(*keys), *range(5))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert not run("check", tree.folder).stdout.startswith("::")
    outcome = run("check", tree.folder, "--format", "github")
    found = github(outcome.stdout)
    total = counted("json", run("check", tree.folder, "--format", "json").stdout)
    assert counted("github", outcome.stdout) == total > len(found)
    assert " more error" in found[-1][2]


def test_a_step_gets_its_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = broken(tmp_path)
    summary = tmp_path / "summary.md"
    summary.write_text("Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    markdown = run(*words, "--format", "markdown").stdout
    run(*words)
    assert summary.read_text() == "Before\n"
    run(*words, "--format", "github")
    assert summary.read_text() == f"Before\n{markdown}"
    summary.write_bytes(b"x" * ((1 << 20) - 300))
    run(*words, "--format", "github")
    data = summary.read_bytes()
    assert len(data) <= 1 << 20
    assert data.endswith(b"The rest does not fit into a summary of 1 MiB.\n")
    summary.write_bytes(b"x" * (1 << 20))
    run(*words, "--format", "github")
    assert summary.stat().st_size == 1 << 20
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "gone" / "summary.md"))
    lost = run(*words, "--format", "github")
    assert (lost.status, lost.stdout[:8]) == (2, "::error ")
    assert lost.stderr.startswith("mlsub check: ")


def test_review_rates_have_no_format_of_ci(tmp_path: Path) -> None:
    refused = run(*runs(tmp_path), "--rates", "--format", "sarif")
    assert refused.status == 2
    assert "--rates answers as text, json, markdown or html." in refused.stderr


def test_settings_are_text_where_ci_has_no_format_for_them(tmp_path: Path) -> None:
    shown = run(*broken(tmp_path), "--show-settings", "--format", "github")
    assert (shown.status, shown.stderr) == (0, "")
    assert shown.stdout.startswith("Settings of mlsub check\n")


#: Organisations for a short run: one with hundreds of findings, and one of HPC.
QUICK = ("v1.0/Graphcore", "hpc-v3.0")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.parametrize(
    "package",
    QUICK if not LONG else [*sorted({p.relative_to(CORPUS).as_posix() for p in CORPUS.glob("*/*/") if p.is_dir()})],
)
def test_published_packages_in_every_format_of_ci(package: str) -> None:
    folder = CORPUS / package
    if not (folder / "results").is_dir() and not LONG:
        folder = next(one for one in sorted(folder.iterdir()) if one.is_dir())
    usage = ("--usage", "hpc", "--round", "3.0") if package.startswith("hpc") else ()
    _, answers = written(("check", folder, *usage), "json", *CI_FORMATS)
    counts = {name: counted(name, text) for name, text in answers.items()}
    assert len(set(counts.values())) == 1, counts


@pytest.mark.parametrize("format_", ["text", "github"])
@pytest.mark.parametrize("name", ["##[stop-commands]x", "::add-mask::x", "a ##[error]forged"])
def test_no_name_of_a_file_is_a_command_of_github(
    name: str, format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner would read it on standard error and on standard output, whatever stands before it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.chdir(tmp_path)
    tree = make_tree(tmp_path)
    tree.describe(cooling=f"TODO {name}")
    (tree.folder / name).write_text("")
    lines = []
    for path in (name, tree.folder):
        found = run("check", "-v", "--format", format_, path)
        lines += [*found.stderr.splitlines(), *(found.stdout.splitlines() if format_ == "text" else ())]
    assert any("add-mask" in line or "stop-commands" in line or "forged" in line for line in lines)
    assert [line for line in lines if "##[" in line or line.lstrip().startswith("::")] == []


#: What the runner would read as commands, at the start of a line and within one, whichever ends it.
FORGED = "x\n::error file=a::forged\r  ::add-mask::y ##[error]z"


def begins_command(text: str) -> bool:
    """Whether GitHub's runner takes a line of this for a command."""
    lines = re.split("\r\n|\r|\n", text)
    return any("##[" in line or line.lstrip().startswith("::") for line in lines)


@pytest.mark.parametrize("format_", [*FORMATS, "sarif", "junit", "gitlab"])
def test_no_answer_is_a_command_of_github(format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can escape a character says the same; a file of -o has every character as it was."""
    tree = make_tree(tmp_path)
    tree.describe(status=FORGED, cooling=f"TODO {FORGED}")
    words = ("check", "-v", tree.folder, "--format", format_)
    usual = run(*words)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found = run(*words)
    assert found.status == usual.status
    assert begins_command(usual.stdout) is (format_ != "markdown")  # That escapes brackets anyway.
    assert not begins_command(found.stdout + found.stderr)
    run(*words, "-o", "answer")
    assert begins_command(Path("answer").read_text()) is (format_ != "markdown")
    if format_ in ("json", "sarif", "gitlab"):
        assert json.loads(found.stdout) == json.loads(usual.stdout)
    elif format_ in ("html", "junit"):
        assert html.unescape(found.stdout) == html.unescape(usual.stdout)


@pytest.mark.parametrize("format_", [*FORMATS, "csv"])
def test_no_result_is_a_command_of_github(format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    tree.describe(system_name=FORGED, submitter=FORGED, framework=FORGED)
    assert begins_command(run("score", tree.folder, "--format", "csv").stdout)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found = run("score", tree.folder, "--format", format_)
    assert found.status == 0 and not begins_command(found.stdout + found.stderr)


def test_no_settings_beside_annotations_are_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = broken(tmp_path)
    monkeypatch.setenv("MLSUB_SELECT", "##[error]forged")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = run(*words, "--show-settings", "--format", "github").stdout
    assert "forged" in shown and not begins_command(shown)


def test_no_part_of_a_diff_is_a_command_of_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path, "v1.1")
    tree.edit(lambda log: log.lines.append(log.records("submission_org")[0]), 0)
    log = tree.log(0)
    log.write_text(log.read_text() + " ::error::forged\n##[error]b\n")
    assert begins_command(run("fix", "--format", "diff", log, "--round", "1.1").stdout)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert not begins_command(run("fix", "--format", "diff", log, "--round", "1.1").stdout)


def test_text_that_wraps_begins_no_command_of_github(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Document("t", (Text(f"{'x ' * 58}::error file=a::forged ##[error]b"),))
    target = Target("check", "text")
    target.put(target.rendered(text))
    assert "\n::error" in capsys.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    target.put(target.rendered(text))
    assert "\n: :error file=a::forged ## [error]b\n" in capsys.readouterr().out
