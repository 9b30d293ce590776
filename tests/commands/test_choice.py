"""Which findings are shown, and how much of them: the same options for check, review and system check."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from mlsub.findings import Kind, Severity
from tests.commands.tree import leaves
from tools.support.make_tree import Tree, make_tree, spoil
from tools.support.runner import Outcome, check, run

#: A rule of each kind and severity that :func:`tree` breaks.
OFFICIAL, WARNING = "entry.run-count", "key.eval_accuracy.target"
REVIEW, NOTE = "system.placeholder", "system.name-form"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A rejected organisation, with a forgiven run in another entry, a review error and a review note."""
    made = tree(tmp_path)
    made.add_system("rack2")
    made.add_entry("resnet", "rack2")
    made.log(4, system="rack2").unlink()
    for number in range(4):
        made.edit(lambda log, seed=7000 + number: log.put("seed", value=seed), number, system="rack2")  # type: ignore[misc]
    return made.folder


def tree(above: Path) -> Tree:
    made = make_tree(above)
    spoil(made, 0)
    made.describe(cooling="TODO", framework="MxNet 1.9")
    return made


def in_full(outcome: Outcome) -> set[str]:
    """The rules of which a text shows findings."""
    rules = (OFFICIAL, WARNING, "entry.forgiven-runs", REVIEW, NOTE)
    return {rule for rule in rules if f"[{rule}]" in " ".join(outcome.stdout.split())}


def options(command: str) -> dict[str, click.Option]:
    return {option.opts[-1]: option for option in leaves()[command].params if isinstance(option, click.Option)}


def test_one_wording_of_help() -> None:
    checks = options("check")
    names = {"--select", "--ignore", "--only", "--severity", "--quiet", "--summary", "--verbose"}
    for other in (options("system check"), options("review")):
        for name in names:
            assert other[name].help == checks[name].help
            assert other[name].type.to_info_dict() == checks[name].type.to_info_dict()
    assert list(checks["--only"].type.choices) == [kind.value for kind in Kind]  # type: ignore[attr-defined]
    assert list(checks["--severity"].type.choices) == [one.value for one in Severity]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_options_choose_findings_in_every_format_and_never_the_verdict(folder: Path) -> None:
    everything = check(folder)
    official = {OFFICIAL, WARNING, "entry.forgiven-runs"}
    assert everything.rules() == official | {REVIEW, NOTE}
    for words, rules in (
        (["--only", "official"], official),
        (["--only", "review"], {REVIEW, NOTE}),
        (["--only", "house"], set()),
        (["--severity", "error"], {OFFICIAL, WARNING, REVIEW}),
        (["--severity", "warning"], everything.rules() - {NOTE}),
        (["--severity", "note"], everything.rules()),
        (["--only", "review", "--severity", "warning"], {REVIEW}),
        (["--only", "review", "--ignore", NOTE], {REVIEW}),
        (["--select", "system"], {REVIEW, NOTE}),
        (["--select", "system.place"], {REVIEW}),
        (["--select", OFFICIAL, "--select", "system."], {OFFICIAL, REVIEW, NOTE}),
        (["--ignore", "key", "--ignore", "entry"], {REVIEW, NOTE}),
        (["--select", "key", "--ignore", "key.eval_accuracy"], set()),
    ):
        outcome = check(*words, folder)
        assert outcome.report["entries"] == everything.report["entries"]
        assert (outcome.rules(), outcome.status, outcome.official) == (rules, 1, "rejected")
        page = run("check", "--format", "markdown", *words, folder).stdout
        assert {rule for rule in everything.rules() if f"[{rule}]" in page} == rules


def test_a_rejected_package_shows_what_rejects_and_counts_the_rest(folder: Path) -> None:
    outcome = run("check", folder)
    assert in_full(outcome) == {OFFICIAL, REVIEW}
    text = outcome.stdout
    assert "official warnings: 2 findings: key.eval_accuracy.target 1, entry.forgiven-runs 1\n" in text
    assert "review notes:      1 finding: system.name-form 1 (-v shows all)\n" in text
    assert text.index("To fix: 1 finding") < text.index("official warnings:") < text.index("\nrejected: ")


def test_an_accepted_package_shows_official_warnings(tmp_path: Path) -> None:
    outcome = run("check", tree(tmp_path).folder)
    assert in_full(outcome) == {WARNING, "entry.forgiven-runs", REVIEW}
    verdict = "accepted, with 1 error that a reviewer will raise: 1 of 1 entries accepted"
    assert f"\nreview notes: 1 finding: system.name-form 1 (-v shows them)\n{verdict}" in outcome.stdout


@pytest.mark.parametrize(
    ("settings", "words", "status"),
    [
        ("", [], 0),
        ("", ["--fail-on", "official"], 0),
        ("", ["--fail-on", "error"], 1),
        ("", ["--fail-on", "error", "--ignore", REVIEW], 0),
        ("", ["--fail-on", "note", "--ignore", REVIEW], 1),
        ("", ["--strict", "--ignore", REVIEW], 0),  # Notes do not count for it.
        ("", ["--strict"], 1),
        ('fail-on = "error"', [], 1),
        ('fail-on = "error"', ["--no-strict"], 0),
        ('fail-on = "official"', ["--strict"], 1),
        ("strict = true", ["--fail-on", "official"], 0),
        ('strict = true\nfail-on = "note"', ["--ignore", REVIEW], 1),
    ],
)
@pytest.mark.parametrize("command", ["check", "system check"])
def test_review_findings_count_from_a_severity_on(
    command: str, settings: str, words: list[str], status: int, tmp_path: Path
) -> None:
    made = tree(tmp_path)
    config = tmp_path / "own.toml"
    config.write_text(settings)
    path = made.folder if command == "check" else made.folder / "systems"
    assert run(*command.split(), "--config", config, *words, path).status == status


def test_a_finding_is_one_defect_with_its_places_in_all_counts(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.edit(lambda log: log.put("submission_org", value="Globex"), 0, 1, 2, 3, 4)
    text = run("check", "--fail-on", "error", made.folder).stdout
    assert "Review errors: 1 finding in 5 places\n" in text
    assert "accepted, with 1 error that a reviewer will raise: " in text
    assert text.endswith("; --fail-on error counts 1 review finding\n")
    assert "hidden: 1 finding (1 by ignore)\n" in run("check", "--ignore", "cross", made.folder).stdout
    assert "review errors: 1 finding in 5 places: cross.org 1" in run("check", "--summary", made.folder).stdout


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["-v"], {OFFICIAL, WARNING, "entry.forgiven-runs", REVIEW, NOTE}),
        (["--verbose", "--severity", "warning"], {OFFICIAL, WARNING, "entry.forgiven-runs", REVIEW}),
        (["--strict"], {OFFICIAL, REVIEW}),
        (["--fail-on", "note"], {OFFICIAL, REVIEW, NOTE}),
        (["--select", "system"], {REVIEW, NOTE}),
        (["--only", "review"], {REVIEW, NOTE}),
        (["--only", "official"], {OFFICIAL}),
        (["--ignore", "entry"], {REVIEW}),
        (["--summary"], set()),
        (["-q"], set()),
        (["-q", "-v"], {OFFICIAL, WARNING, "entry.forgiven-runs", REVIEW, NOTE}),
        (["-v", "--summary", "--select", "system"], set()),
    ],
)
def test_what_is_shown_in_full(words: list[str], shown: set[str], folder: Path) -> None:
    outcome = run("check", *words, folder)
    assert (in_full(outcome), outcome.status) == (shown, 1)


def test_what_a_settings_file_selects_is_counted(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mlsub.toml").write_text('select = ["system"]\n')
    outcome = run("check", folder)
    assert in_full(outcome) == {REVIEW}
    assert re.search(r"\nreview notes: +1 finding: system.name-form 1 \(-v", outcome.stdout)
    assert in_full(run("check", "--select", "system.pl", folder)) == {REVIEW}


def test_a_summary_has_tables_and_counts_and_quiet_the_verdict_alone(folder: Path) -> None:
    summary = run("check", "--summary", folder).stdout.splitlines()
    counts = [line.split(":")[0] for line in summary[summary.index(next(x for x in summary if "---" in x)) + 3 : -1]]
    assert counts == ["to fix", "official warnings", "review errors", "review notes"]
    quiet = run("check", "--quiet", folder).stdout.splitlines()
    assert quiet == [summary[-1], *summary[len(summary) :]] or " ".join(quiet) in " ".join(summary)
    assert quiet[0].startswith("rejected: 1 of 2 entries rejected (entry.run-count); ")


def test_pages_have_everything_unless_asked(folder: Path) -> None:
    for format_ in ("markdown", "html"):
        page = run("check", "--format", format_, folder).stdout
        assert all(f"[{rule}]" in page for rule in (OFFICIAL, WARNING, REVIEW, NOTE))
        assert "-v shows" not in page
        assert page.index("1 of 2 entries rejected") < page.index("rack2") < page.index(f"[{OFFICIAL}]")
        short = run("check", "--summary", "--format", format_, folder).stdout
        assert "[" + OFFICIAL not in short and OFFICIAL in short
    whole, quiet = (run("check", *words, "--format", "json", folder).stdout for words in ([], ["--quiet"]))
    assert whole == quiet


def test_why_nothing_was_checked_is_never_hidden(tmp_path: Path) -> None:
    make_tree(tmp_path)
    (tmp_path / "empty").mkdir()
    for words in (["--only", "review"], ["--ignore", "tree"], ["--select", "seed"]):
        for path in (tmp_path / "none", tmp_path / "empty"):
            outcome = check("--round", "1.0", *words, path)
            assert outcome.status == 2
            assert outcome.errors()


def test_system_check_chooses_the_same_way(tmp_path: Path) -> None:
    made = tree(tmp_path)
    made.describe(status=None)
    file = made.description()
    missing = "system.field-missing"
    usual = run("system", "check", file)
    assert f"[{missing}]" in usual.stdout and f"[{REVIEW}]" in usual.stdout
    assert "\nreview notes: 1 finding: system.name-form 1 (-v shows them)\nrejected: " in usual.stdout
    for words, rules in (
        (["-v"], {missing, REVIEW, NOTE}),
        (["--select", REVIEW], {REVIEW}),
        (["--only", "official"], {missing}),
        (["--severity", "error", "-v"], {missing, REVIEW}),
        (["--quiet"], set()),
        (["--summary"], set()),
    ):
        outcome = run("system", "check", *words, file)
        assert {rule for rule in (missing, REVIEW, NOTE) if f"[{rule}]" in outcome.stdout} == rules
        assert outcome.status == 1
    assert run("system", "check", "-q", file).stdout == (
        "training v1.0 (read off the folder v1.0)\n"
        "rejected: 1 of 1 system descriptions rejected (system.field-missing)\n"
    )
    found = run("system", "check", "--format", "json", "--only", "review", file).document["systems"][0]
    assert ({one["rule"] for one in found["findings"]}, found["official"]) == ({REVIEW, NOTE}, "rejected")
    made.describe(status="onprem")
    strict = ["system", "check", "--strict", file]
    assert [run(*strict, *words).status for words in ([], ["--severity", "error"], ["--ignore", "system"])] == [1, 1, 0]
    assert run("system", "check", "--select", "system.palceholder", file).status == 2


def test_review_chooses_the_same_way(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.add_copies("rack2")
    usual = run("review", made.folder)
    rules = {one["rule"]: one["severity"] for one in _asked(made.folder)}
    assert usual.status == 1 and rules
    quiet = run("review", "-q", made.folder)
    assert quiet.status == 1
    assert " ".join(quiet.stdout.split()) in " ".join(usual.stdout.split())
    assert quiet.stdout.startswith("1 organisation, 2 entries: ")
    summary = run("review", "--summary", made.folder).stdout
    assert "expected:" not in summary and all(rule in summary for rule in rules)
    for words, shown in (
        (["--severity", "error"], {rule for rule, severity in rules.items() if severity == "error"}),
        (["--severity", "warning"], {rule for rule, severity in rules.items() if severity != "note"}),
        (["--ignore", "inspect"], {rule for rule in rules if not rule.startswith("inspect")}),
    ):
        assert {one["rule"] for one in _asked(made.folder, *words)} == shown
        counted = any(rules[rule] != "note" for rule in shown)
        assert run("review", "-q", *words, made.folder).status == int(counted)


def _asked(*words: object) -> list[dict[str, str]]:
    [one] = run("review", "--format", "json", *words).document["organisations"]
    return [*one["asks"], *one["notes"]]
