"""The command line of ``mlsub compare``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.support.make_tree import make_tree
from tools.support.runner import call, run

UNREAD = {
    "gone": "cannot be checked: There is no",
    "file.txt": "is a file. Name a folder",
    "empty": "cannot be checked: There is neither a result log nor an organisation in empty",
    "pipe": "is a file. Name a folder",
    "loop": "loop",
    "no\nname": "no\\nname cannot be checked",
}


@pytest.mark.parametrize(
    ("kind", "path", "words"),
    [
        *((kind, path, words) for kind in ("--trainings", "--packages") for path, words in UNREAD.items()),
        # Sides of a comparison of trainings need not be of a kind.
        ("--packages", "v1.0", "is a folder of organisations"),
    ],
)
def test_what_cannot_be_compared_is_one_line(kind: str, path: str, words: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for arguments in ((tmp_path / path, tree.folder), (tree.folder, tmp_path / path)):
        outcome = run("compare", kind, *arguments)
        assert (outcome.status, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith("mlsub compare: ")
        assert outcome.stderr.count("\n") == 1
        assert words in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A"], "Two trainings are compared: name A and B."),
        (["A", "--packages"], "Two packages are compared: name A and B."),
        (["A", "--packages", "--resubmit"], "Leave out --packages."),
        (["A", "A", "--borrow"], "--borrow and --from belong together"),
        (["A", "A", "--from", "A"], "--borrow and --from belong together"),
        (["A", "A", "--borrow", "--from", "A", "--resubmit"], "Ask for one of them."),
        (["A", "A", "--pair", "rack1"], "--pair rack1: write A_ENTRY=B_ENTRY"),
        (["A", "A", "--pair", "rack2/resnet=rack1"], "A has no entry rack2/resnet. Did you mean rack1/resnet?"),
        (["A", "A", "--pair", "resnet="], "--pair: B has no entry . It has rack1/bert, rack1/resnet."),
        (["A", "A", "--pair", "rack1/resnet=rack1"], "rack1 names 2 entries of B: rack1/bert, rack1/resnet."),
        (["A", "A", "--pair", "resnet=resnet", "--pair", "bert=resnet"], "an entry belongs to one pair only"),
    ],
)
def test_what_cannot_be_asked_is_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    kind = [] if "--packages" in arguments else ["--trainings"]
    outcome = run("compare", *kind, *(tree.folder if argument == "A" else argument for argument in arguments))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub compare: ") and words in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["--trainings", "--packages"])
def test_rounds_may_be_said_or_read_off(kind: str, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path, "v1.0"), make_tree(tmp_path, "v1.1")
    found = run("compare", kind, one.folder, other.folder, "--format", "json").document
    assert (found["old"]["round"], found["new"]["round"]) == ("1.0", "1.1")
    outcome = run("compare", kind, one.folder, other.folder, "--round", "1.1", "--format", "json")
    assert (outcome.status, outcome.document["old"]["round"]) == (0, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["--trainings", "--packages"])
def test_names_and_values_that_could_steer_a_terminal_are_shown_as_text(kind: str, tmp_path: Path) -> None:
    one, other = make_tree(tmp_path / "a"), make_tree(tmp_path / "b")
    name = os.fsdecode(b"rack\x1b[31m\xff|")
    for tree in (one, other):
        tree.add_system(name)
        tree.add_entry(system=name)
    other.edit(lambda log: log.put("opt_name", value="\x1b]0;x\x07"), *range(5), system=name)
    (other.folder / "new\nline").write_text("")
    for format_ in ("text", "markdown", "json"):
        done = call("compare", kind, one.folder, other.folder, "--format", format_)
        assert (done.returncode, done.stderr) == (int(kind == "--packages"), "")
        assert "\x1b" not in done.stdout and "\x07" not in done.stdout and "new\nline" not in done.stdout


def test_a_log_that_goes_away_while_it_is_compared_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    monkeypatch.setattr("mlsub.log.lengths.IntervalFold.finish", lambda _: 1 / 0)
    outcome = run("compare", "--trainings", tree.folder, tree.folder)
    assert outcome.status == 0
    assert "Not divided: no run has a time that counts, or its log cannot be read." in " ".join(outcome.stdout.split())


def test_what_is_given_says_what_is_compared(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    folders = run("compare", tree.entry(), tree.entry())
    assert folders.stdout.startswith("Comparison of two trainings\n")
    assert run("compare", tree.folder, tree.folder).stdout.startswith("Comparison of two packages\n")
    assert run("compare", tree.folder, tree.folder, "--trainings").stdout.startswith("Comparison of two trainings\n")
    assert run("compare", tree.entry(), tree.entry(), "--packages").stdout.startswith("Comparison of two packages\n")
