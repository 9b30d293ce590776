"""Waivers and the baseline: what they take out of the count, what they never change, and that nobody can miss them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.config import covers
from tools.support.make_tree import HOUSE, Tree, make_tree, spoil
from tools.support.runner import Outcome, check, run

TODAY = datetime.now(UTC).date()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """An accepted package with one review finding, and a settings file above it."""
    monkeypatch.chdir(tmp_path)
    made = make_tree(tmp_path)
    made.describe(cooling="TODO")
    return made


def waive(rule: str, path: str, *more: str) -> None:
    with Path("mlsub.toml").open("a") as file:
        file.write("\n".join(["[[waivers]]", f'rule = "{rule}"', f'path = "{path}"', *more]) + "\n")


def counted(outcome: Outcome) -> set[str]:
    return {one["rule"] for one in outcome.findings if one["suppressed"] is None}


PLACEHOLDER = ("system.placeholder", "v1.0/ACME/systems/rack1.json")
REASON = 'reason = "The committee knows."'


def test_a_waiver_takes_a_finding_out_of_the_count_and_shows_it(tree: Tree) -> None:
    assert check(tree.folder, "--strict").status == 1
    until = f"{TODAY + timedelta(days=1)}"
    waive(*PLACEHOLDER, REASON, f"until = {until}")
    outcome = check(tree.folder, "--strict")
    assert (outcome.status, counted(outcome)) == (0, set())
    [waived] = outcome.of("system.placeholder")
    said = {"by": "waiver", "reason": "The committee knows.", "source": "mlsub.toml: waivers.0", "until": until}
    assert waived["suppressed"] == said
    line = f"1 finding of system.placeholder: The committee knows. (until {until}; mlsub.toml: waivers.0)"
    for format_ in ("text", "markdown", "html"):
        shown = run("check", tree.folder, "--strict", "--format", format_)
        assert shown.status == 0
        text = re.sub(r"\s+|<[^>]*>", " ", shown.stdout.replace("\\", ""))
        assert line in text and "waived" in text[: text.index(line)]
    # Wherever the check begins, and whatever lies above.
    for path in ("v1.0", "."):
        assert counted(check(path)) == set()
    assert counted(check(tree.folder, "--isolated")) == {"system.placeholder"}
    assert counted(run("score", tree.folder, "--format", "json")) == set()


def test_what_rejects_fails_in_ci_though_it_is_waived(tree: Tree) -> None:
    """The official verdict stays; what does not reject is shown and does not count (test_ci_formats.py)."""
    waive(*PLACEHOLDER, REASON)
    spoil(tree, 0, 1)
    waive("key.eval_accuracy.target", "v1.0", REASON)
    results = json.loads(run("check", tree.folder, "--format", "sarif").stdout)["runs"][0]["results"]
    outcomes = {one["ruleId"]: (one["properties"]["outcome"], "suppressions" in one) for one in results}
    assert outcomes["key.eval_accuracy.target"] == ("counts", True)
    assert outcomes["system.placeholder"] == ("waived", True)


def test_waivers_and_ignores_by_path_of_other_commands(tree: Tree) -> None:
    waive(*PLACEHOLDER, REASON)
    system = run("system", "check", tree.description(), "--strict", "--format", "json")
    assert system.status == 0
    assert [one["suppressed"]["by"] for one in system.document["systems"][0]["findings"]] == ["waiver"]
    tree.add_copies("rack2")
    found = run("review", tree.folder, "--format", "json")
    assert found.status == 1
    [one] = found.document["organisations"]
    places = [place for ask in (*one["asks"], *one["notes"]) for place in ask["findings"]]
    rules = {place["rule"] for place in places}
    for rule in rules - {PLACEHOLDER[0]}:
        waive(rule, "v1.0/ACME", REASON)
    assert run("review", tree.folder).status == 0
    # check does not look for what review finds, so it does not call these waivers unused.
    assert "waiver.unused" not in counted(check("v1.0"))
    Path("mlsub.toml").write_text('[per-path-ignores]\n"v1.0" = ["inspect.", "seed.", "system.", "layout."]\n')
    hidden = run("review", tree.folder)
    assert (hidden.status, hidden.stderr) == (0, f"mlsub review: hidden: {len(places)} by per-path-ignores\n")
    assert run("system", "check", tree.description(), "--strict").status == 0


@pytest.mark.parametrize(
    ("more", "rule", "found"),
    [
        ((), "waiver.no-reason", None),
        (('reason = " "',), "waiver.no-reason", None),
        ((REASON, "until = 2021-06-30"), "waiver.expired", "2021-06-30"),
        ((REASON, f'until = "{TODAY - timedelta(days=1)}"'), "waiver.expired", str(TODAY - timedelta(days=1))),
    ],
)
def test_a_waiver_that_does_not_hold_is_a_finding(
    more: tuple[str, ...], rule: str, found: str | None, tree: Tree
) -> None:
    Path("mlsub.toml").write_text("# ours\n\n")
    waive(*PLACEHOLDER, *more)
    outcome = check(tree.folder, "--strict")
    assert (outcome.status, counted(outcome)) == (1, {"system.placeholder", rule})
    [finding] = outcome.of(rule)
    assert (finding["kind"], finding["actual"]) == ("review", found)
    assert (tree.folder / finding["path"]).resolve() == Path("mlsub.toml").resolve()


def test_a_waiver_holds_on_its_last_day(tree: Tree) -> None:
    waive(*PLACEHOLDER, REASON, f"until = {datetime.now(UTC).date()}")
    assert counted(check(tree.folder)) == set()


@pytest.mark.parametrize(
    ("path", "asked", "unused"),
    [
        ("v1.0/ACME", ".", True),
        ("v1.0/ACME", "v1.0/ACME", True),
        ("v1.0/**/rack1.json", "v1.0", True),
        ("v1.0/ACME/results", "v1.0/ACME/results/rack1/resnet", False),
        ("v1.0/**/rack1.json", "v1.0/ACME", False),
        ("v1.1/ACME", "v1.0", False),
        ("*/ACME", "v1.0", False),
        ("v1.0/ACM", "v1.0/ACME", False),
    ],
)
def test_a_waiver_that_covers_nothing_is_a_finding_where_all_of_it_was_checked(
    path: str, asked: str, unused: bool, tree: Tree
) -> None:
    waive("rcp.too-fast", path, REASON)
    assert ("waiver.unused" in counted(check(asked))) == unused


def test_a_waiver_is_not_unused_where_something_could_not_be_checked(tree: Tree) -> None:
    waive("rcp.too-fast", "v1.0", REASON)
    outcome = check("v1.0", "v9.9")
    assert (outcome.status, "waiver.unused" in outcome.rules()) == (2, False)


@pytest.mark.parametrize("by", ["waiver", "baseline"])
def test_the_official_verdict_stays(by: str, tree: Tree) -> None:
    spoil(tree, 0, 1)
    before = check(tree.folder)
    assert (before.status, before.official) == (1, "rejected")
    options: list[str] = []
    if by == "waiver":
        for rule in sorted(before.rules()):
            waive(rule, "v1.0", REASON)
    else:
        options = ["--baseline", "known.json"]
        assert run("check", tree.folder, *options, "--write-baseline").status == 1
    after = check(tree.folder, *options)
    assert (after.status, after.official, counted(after)) == (1, "rejected", set())
    assert [{**one, "suppressed": None} for one in after.findings] == before.findings
    word = "waived" if by == "waiver" else "known"
    text = run("check", tree.folder, *options).stdout
    assert f"{word} error: No eval_accuracy reaches the quality target [key.eval_accuracy.target]" in text
    assert text.count("\nrejected: ") == 1
    assert "review findings of" not in text


@pytest.mark.parametrize("by", ["waiver", "baseline"])
def test_rules_of_your_own_can_be_waived_and_known(by: str, tree: Tree) -> None:
    Path("house.yaml").write_text(HOUSE)
    options = ["--rules", "house.yaml"]
    assert run("check", tree.folder, *options).status == 1
    if by == "waiver":
        waive("house.acme_ticket.count", "v1.0/ACME/results", REASON)
    else:
        options += ["--baseline", "known.json"]
        assert run("check", tree.folder, *options, "--write-baseline").status == 0
    assert run("check", tree.folder, *options).status == 0


def test_why_nothing_was_checked_is_never_hidden(tree: Tree) -> None:
    Path("mlsub.toml").write_text('[per-path-ignores]\n"**" = ["check.", "waiver."]\n')
    waive(*PLACEHOLDER)
    assert "waiver.no-reason" in check(tree.folder).rules()
    Path("empty").mkdir()
    assert check("empty").rules() == {"check.no-logs", "waiver.no-reason"}


COVERS = {
    # pattern: places that it means, and places that it does not.
    "v5.1/ACME": (["v5.1/ACME", "v5.1/ACME/a/b"], ["v5.1/ACME2", "v5.1", "a/v5.1/ACME", "../v5.1/ACME", "."]),
    "./v5.1/": (["v5.1", "v5.1/a"], ["v5", "."]),
    "v5.1/*/systems": (["v5.1/A/systems/x.json"], ["v5.1/A/b/systems"]),
    "**/systems/*.json": (["systems/x.json", "a/b/systems/x.json"], ["systems", "systems/x.txt", "../systems/x.json"]),
    "v5.1/**": (["v5.1/a", "v5.1/a/b"], ["v5.0/a"]),
    "**": (["a", "a/b", "."], ["../a"]),
    "a/**/b/**/c": (["a/b/c", "a/x/b/y/z/c/d"], ["a/b", "a/c/b"]),
    "result_[01].txt": (["result_0.txt"], ["result_2.txt", "a/result_0.txt"]),
    ".": (["a", "."], ["../a"]),
}


@pytest.mark.parametrize("pattern", COVERS)
def test_which_places_a_path_means(pattern: str) -> None:
    meant, others = COVERS[pattern]
    assert [place for place in meant if not covers(pattern, place)] == []
    assert [place for place in others if covers(pattern, place)] == []


@given(st.lists(st.sampled_from(["**", "*", "a", "*a*a*a*a*b"]), min_size=1, max_size=200), st.integers(0, 300))
def test_no_pattern_takes_long(parts: list[str], depth: int) -> None:
    covers("/".join(parts), "/".join(["a" * 60] * depth) or ".")


# The baseline.

BASELINE = ("--baseline", "known.json")


def written() -> list[dict[str, Any]]:
    found = json.loads(Path("known.json").read_text())["findings"]
    assert isinstance(found, list)
    return found


def test_only_what_is_new_counts(tree: Tree) -> None:
    first = run("check", tree.folder, *BASELINE, "--write-baseline", "--strict")
    assert (first.status, first.stderr) == (0, "")
    assert "known: 1 finding of 1 rule, in the baseline known.json" in first.stdout
    assert "Fields contain a placeholder" not in first.stdout
    assert [(one["path"], one["rule"], one["count"]) for one in written()] == [(PLACEHOLDER[1], PLACEHOLDER[0], 1)]
    # Another line is the same finding; another place is a new one.
    file = tree.description()
    file.write_text("{\n\n\n" + file.read_text()[1:])
    outcome = check(tree.folder, *BASELINE, "--strict")
    assert (outcome.status, counted(outcome)) == (0, set())
    assert outcome.of("system.placeholder")[0]["suppressed"]["by"] == "baseline"
    tree.add_system("rack2", cooling="TODO")
    tree.add_entry(system="rack2")
    outcome = check(tree.folder, *BASELINE, "--strict")
    new = [one["path"] for one in outcome.of("system.placeholder") if one["suppressed"] is None]
    assert (outcome.status, new) == (1, ["systems/rack2.json"])


def test_it_holds_wherever_the_check_begins_and_as_a_setting(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    run("check", tree.folder, *BASELINE, "--write-baseline")
    Path("mlsub.toml").write_text('baseline = "known.json"\nstrict = true\n')
    for path in (".", "v1.0", tree.folder):
        assert run("check", path).status == 0
    monkeypatch.chdir(tree.entry())
    assert run("check", "../../..").status == 0


def test_of_equal_findings_as_many_are_known_as_there_were(tree: Tree) -> None:
    for run_ in (0, 1):
        tree.edit(lambda log: log.lines.insert(5, log.lines[5]), run_)
    before = check(tree.folder)
    run("check", tree.folder, *BASELINE, "--write-baseline")
    content = json.loads(Path("known.json").read_text())
    assert sum(one["count"] for one in content["findings"]) == len(before.findings)
    assert check(tree.folder, *BASELINE).document["reports"][0]["findings"]
    assert counted(check(tree.folder, *BASELINE)) == set()


def test_what_is_gone_is_said_and_other_places_stay(tree: Tree) -> None:
    other = make_tree(Path(), org="Zeta")
    other.describe(cooling="TODO")
    run("check", "v1.0", *BASELINE, "--write-baseline")
    assert len(written()) == 2
    tree.describe(cooling="water")
    gone = run("check", tree.folder, *BASELINE)
    expected = "mlsub check: 1 finding in known.json is gone; --write-baseline removes it\n"
    assert (gone.status, gone.stderr) == (0, expected)
    run("check", tree.folder, *BASELINE, "--write-baseline")
    assert [one["path"] for one in written()] == ["v1.0/Zeta/systems/rack1.json"]
    assert run("check", "v1.0", *BASELINE).stderr == ""


def test_what_is_waived_is_not_written(tree: Tree) -> None:
    waive(*PLACEHOLDER, REASON)
    run("check", tree.folder, *BASELINE, "--write-baseline")
    assert written() == []


BROKEN = {
    "": "Input data was truncated",
    "{}": "missing required field `findings`",
    '{"findings": 3}': "Expected `array`, got `int`",
    '{"findings": [{"path": "a", "rule": "b", "message": "c", "count": -1}]}': "Expected `int` >= 1",
    '{"baseline": 2, "findings": []}': "a baseline of version 2, expected 1. Update mlsub.",
    '{"findings": ' + "[" * 100_000: "not a baseline",
    "\x00": "not a baseline",
    f'{{"{"x" * 5000}": 1}}': f"unknown field `{'x' * 200}",
}


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_what_is_not_a_baseline_is_named_before_the_work(content: str, tree: Tree) -> None:
    Path("known.json").write_text(content)
    for options in ((), ("--write-baseline",)):
        outcome = run("check", tree.folder, *BASELINE, *options)
        assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
        assert BROKEN[content] in outcome.stderr and len(outcome.stderr) < 600
        assert Path("known.json").read_text() == content


def test_what_keeps_a_baseline_from_being_written(tree: Tree) -> None:
    assert "--write-baseline needs --baseline FILE" in run("check", tree.folder, "--write-baseline").stderr
    assert "There is no baseline known.json." in run("check", tree.folder, *BASELINE).stderr
    outcome = run("check", tree.folder, "v9.9", *BASELINE, "--write-baseline")
    assert (outcome.status, Path("known.json").exists()) == (2, False)
    assert "Not everything could be checked, so known.json was not written." in outcome.stderr
