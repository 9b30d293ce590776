"""``mlsub fix`` as people call it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mlsub.packing.edits as edits_module
from mlsub.io import MlsubError
from tests.commands.fix.logs import no_log
from tests.conftest import ExpectedText
from tools.support.make_tree import Log, Tree, make_log, make_tree, snapshot
from tools.support.runner import run
from tools.support.workplace import files


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An organisation that only repairs keep from being accepted."""
    tree = make_tree(tmp_path, "v1.1")
    file = tree.description()
    text = file.read_text().replace('  "cooling"', '  "cooling": "some cooling",\n  "cooling"', 1)
    file.write_text(text)
    file.rename(file.with_name("RACK1.json"))
    tree.log(4).rename(tree.log(4).with_name("Result-4.log"))
    tree.edit(lambda log: log.lines.append(log.records("submission_org")[0]), 0)
    tree.log(1).write_bytes(tree.log(1).read_bytes().replace(b"\n", b"\r\n"))
    tree.entry().rename(tree.entry().with_name("ResNet50"))
    return tree


def squeezed(text: str) -> str:
    """The text with one blank wherever it has more, or a line end."""
    return " ".join(text.split())


def diff_of(folder: Path) -> bytes:
    """What a process of its own prints as the changes of a folder."""
    command = [sys.executable, "-m", "mlsub", "fix", str(folder), "--format", "diff"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    return done.stdout


def test_repairs_are_proposed_and_nothing_written(tree: Tree, expected_text: ExpectedText) -> None:
    before = snapshot(tree.folder)
    done = run("fix", tree.folder, "--select", "tree", "--select", "system")
    assert (done.status, done.stderr) == (1, "")
    expected_text("proposed.txt", done.stdout.replace(str(tree.folder), "ROOT"))
    assert snapshot(tree.folder) == before


def test_write_makes_them_and_a_second_time_finds_nothing(tree: Tree) -> None:
    mode = 0o640
    (tree.folder / "systems" / "RACK1.json").chmod(mode)
    done = run("fix", tree.folder, "--write")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.endswith(
        "6 repairs on 42 lines made in 5 places; official verdict: not-checked before, accepted after\n"
    )
    assert sorted(file.name for file in tree.entry().iterdir()) == [f"result_{run}.txt" for run in range(5)]
    assert tree.description().stat().st_mode & 0o777 == mode
    assert len(Log.read(tree.log(0)).records("submission_org")) == 1
    assert b"\r" not in tree.log(1).read_bytes()
    assert run("check", tree.folder).status == 0
    before = snapshot(tree.folder)
    again = run("fix", tree.folder, "--write")
    assert again.status == 0
    assert again.stdout == (f"Repairs made\n\nbelow: {tree.folder}\n\nnothing to repair; official verdict: accepted\n")
    assert snapshot(tree.folder) == before


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_applies_the_diff_to_the_same_end(tree: Tree, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tree.folder, copy)
    subprocess.run(["git", "apply", "-"], input=diff_of(tree.folder), cwd=copy, check=True, capture_output=True)
    run("fix", tree.folder, "--write")
    assert files(copy) == files(tree.folder)


def test_json_names_every_repair(tree: Tree) -> None:
    document = run("fix", tree.folder, "--format", "json").document
    [plan] = document["plans"]
    assert (document["written"], plan["before"], plan["after"]) == (False, "not-checked", "accepted")
    assert plan["changes"][1] == {
        "path": "results/rack1/ResNet50/Result-4.log",
        "renamed_to": "results/rack1/resnet/result_4.txt",
        "repairs": [{"rule": "tree.result-name", "line": None, "action": "rename it to result_4.txt", "count": 1}],
        "failed": None,
    }
    rules = {repair["rule"] for change in plan["changes"] for repair in change["repairs"]}
    assert rules == {
        "file.line-ends",
        "key.submission_org.repeated",
        "system.duplicate-key",
        "tree.result-name",
        "tree.system-description-missing",
        "tree.unknown-benchmark",
    }


def test_what_no_tool_can_decide_is_listed_with_what_to_do(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.1", benchmarks=("bert",))
    tree.describe(status="soon")
    file = tree.description()
    file.write_text(file.read_text().replace('  "cooling"', '  "cooling": "air",\n  "cooling"', 1))
    (tree.entry("bert") / "package_checker_params").write_text("rcp-bypas\n")
    tree.edit(lambda log: log.drop("global_batch_size"), 3, benchmark="bert")
    done = run("fix", tree.folder, "--write", "--format", "json")
    assert done.status == 1
    left = {finding["rule"]: finding for finding in done.document["plans"][0]["not_repaired"]}
    assert {"system.status", "system.duplicate-key", "params.unknown-flag", "key.global_batch_size.count"} <= set(left)
    assert all(finding["fix"] for finding in left.values())
    text = squeezed(run("fix", tree.folder).stdout.partition("Not repaired\n")[2])
    assert 'found: "soon" in: systems/rack1.json:4 fix: ' in text
    assert text.count("[key.global_batch_size.count]") == 1


def test_nothing_is_put_over_another_file(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    shutil.copy(tree.log(0), tree.log(0).with_name("result-0.txt"))
    before = snapshot(tree.folder)
    done = run("fix", tree.folder, "--write")
    assert done.status == 1
    assert (
        "found: result_0.txt exists already in: results/rack1/resnet/result-0.txt "
        "fix: Choose which of the two is the right one."
    ) in squeezed(done.stdout)
    assert snapshot(tree.folder) == before


def test_a_name_that_would_reject_what_is_accepted_is_left(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    shutil.copy(tree.log(0), tree.log(0).with_name("result-5.txt"))
    tree.log(1).write_bytes(tree.log(1).read_bytes().replace(b"\n", b"\r\n"))
    done = run("fix", tree.folder, "--write")
    assert "Note: new names would make the official verdict worse, so names are left as they are" in done.stdout
    assert done.stdout.endswith("official verdict: accepted\n")
    assert (tree.entry() / "result-5.txt").exists() and b"\r" not in tree.log(1).read_bytes()


def test_a_status_is_spelled_as_the_round_wants_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.1", benchmarks=("bert",))
    done = run("fix", tree.description(), "--write")
    assert (done.status, json.loads(tree.description().read_text())["status"]) == (0, "Available on-premise")
    assert "official verdict: rejected before, accepted after" in done.stdout


def test_a_log_alone_without_a_round_is_mended_in_its_text(tmp_path: Path, expected_text: ExpectedText) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b'10%\r20%\r\n:::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}  \r\nend\x1b\r\n')
    done = run("fix", file)
    assert done.status == 1
    expected_text("log.txt", done.stdout.replace(str(tmp_path), "ROOT"))
    assert run("fix", file, "--write").status == 0
    assert file.read_bytes().startswith(b"10%\r20%\n:::MLLOG")
    assert run("fix", file).status == 0


@pytest.mark.parametrize("kind", ["missing", "pipe", "gz", "link", "empty folder", "round", "rule"])
def test_what_cannot_be_looked_at_is_told_in_one_line(kind: str, tmp_path: Path) -> None:
    file = no_log(kind, tmp_path)
    options = {"round": ["--round", "9.9"], "rule": ["--select", "sytem"]}.get(kind, [])
    done = run("fix", file, "--write", *options)
    assert done.status == 2
    assert kind == "rule" or (done.stderr.startswith("mlsub fix: ") and done.stderr.count("\n") == 1)


def test_a_manifest_is_no_log_and_what_to_do_with_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("acme.yaml").write_text('organisation: ACME\nround: "1.0"\nsystems: {}\nentries: []\n')
    for options in ([], ["--round", "1.0"], ["--write"]):
        done = run("fix", "acme.yaml", *options)
        assert (done.status, done.stdout) == (2, "")
        assert done.stderr == (
            "mlsub fix: acme.yaml is a manifest, not a log: mlsub pack acme.yaml shows the package that it describes, "
            "mlsub status acme.yaml what is left to do.\n"
        )


@pytest.mark.parametrize("content", ["", "hello\r\n"])
def test_a_file_without_a_record_is_not_said_to_be_in_order(content: str, tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text(content)
    done = run("fix", file)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == (
        f"mlsub fix: {file} has no MLPerf record, so it is no log. "
        "Name a log, a system description, or a folder of results.\n"
    )


def test_what_is_no_log_stays(tmp_path: Path) -> None:
    file = tmp_path / "picture.txt"
    file.write_bytes(b"\x89PNG\r\n\x1a\n")
    run("fix", file, "--write", "--round", "5.1")
    assert file.read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_organisations_with_hostile_files_are_mended_where_they_can_be(tmp_path: Path) -> None:
    one, other = make_tree(tmp_path, "v1.1"), make_tree(tmp_path, "v1.1", org="BETA")
    one.log(1).write_bytes(one.log(1).read_bytes().replace(b"\n", b"\r\n"))
    other.entry().rename(other.entry().with_name("ResNet50"))
    os.mkfifo(one.entry() / "result-8.txt")
    (one.entry() / "loop").symlink_to("loop")
    (one.entry() / "result-7.txt").symlink_to("result_0.txt")
    (one.folder / "systems" / "up.json").symlink_to("..")
    (one.folder / "systems" / "deep.json").write_text("[" * 100_000)
    (one.folder / "systems" / "nul.json").write_bytes(b"\0\xff{")
    done = run("fix", tmp_path / "v1.1", "--write")
    assert (done.status, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "Repairs made\n\n"
        f"below: {tmp_path}/v1.1\n\n"
        "- ACME/results/rack1/resnet/result_1.txt: CR LF to LF [file.line-ends]\n\n"
        "BETA/results/rack1/ResNet50\n"
        "  - rename it to resnet [tree.unknown-benchmark]\n\n"
        "Not repaired\n"
    )
    assert done.stdout.endswith("2 repairs on 40 lines made in 2 places; official verdict: rejected\n")
    left = squeezed(done.stdout.partition("Not repaired\n")[2])
    assert "found: a link in: ACME/results/rack1/resnet/result-7.txt " in left
    assert all(f"ACME/systems/{name}.json" in left for name in ("deep", "nul", "up"))
    assert b"\r" not in one.log(1).read_bytes() and (other.entry() / "result_0.txt").exists()


@pytest.mark.parametrize("part", ["results/rack1/ResNet50", "results/rack1", "results"])
def test_a_part_of_a_tree_is_mended_like_the_whole(tree: Tree, part: str) -> None:
    done = run("fix", tree.folder / part, "--write")
    assert done.status in (0, 1)
    assert (tree.entry() / "result_4.txt").exists() and b"\r" not in tree.log(1).read_bytes()
    assert run("fix", tree.folder, "--write").status == 0
    assert run("check", tree.folder).status == 0


def test_the_same_repair_of_many_files_is_one_line(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for number in range(5):
        tree.log(number).write_bytes(tree.log(number).read_bytes().replace(b"\n", b"\r\n"))
    done = run("fix", tree.folder)
    assert done.stdout.startswith(
        f"Repairs proposed\n\nbelow: {tree.folder}\n\n- 5 files: CR LF to LF [file.line-ends]\n\n5 repairs on "
    )


def _in_logs(entry: Path) -> None:
    inside = entry / "logs"
    inside.mkdir()
    for file in sorted(entry.glob("result_*")):
        file.rename(inside / file.name)


def _as_runs(entry: Path) -> None:
    for file in sorted(entry.glob("result_*")):
        file.rename(file.with_name(f"run{file.stem.removeprefix('result_')}.log"))


def _all_in_logs(entry: Path) -> None:
    results = entry.parent.parent
    _in_logs(entry)
    _as_runs(entry / "logs")
    entry.rename(entry.with_name("res-50.net"))
    results.rename(results.with_name("logs"))


DISORDERS: dict[str, Callable[[Path], object]] = {
    "logs in a folder of their own": _in_logs,
    "logs called runs": _as_runs,
    "an entry called logs": lambda entry: entry.rename(entry.with_name("logs")),
    "an entry misspelled": lambda entry: entry.rename(entry.with_name("res-50.net")),
    "all of it": _all_in_logs,
}


@pytest.mark.parametrize("disorder", DISORDERS)
def test_places_and_names_are_repaired_where_the_logs_say_the_benchmark(disorder: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "one")
    copy = tmp_path / "two" / "v1.0" / "ACME"
    shutil.copytree(tree.folder, copy)
    wanted = files(tree.folder)
    for entry in (tree.entry(), copy / "results" / "rack1" / "resnet"):
        DISORDERS[disorder](entry)
    before = snapshot(tree.folder)
    assert run("check", tree.folder).status != 0
    proposed = run("fix", tree.folder)
    assert (proposed.status, snapshot(tree.folder)) == (1, before)
    assert "accepted after" in proposed.stdout
    diff = diff_of(copy)
    done = run("fix", tree.folder, "--write")
    assert (done.status, done.stderr, files(tree.folder)) == (0, "", wanted)
    assert {folder.name for folder in tree.entry().parent.rglob("*") if folder.is_dir()} == {"resnet"}
    if shutil.which("git"):
        subprocess.run(["git", "apply", "-"], input=diff, cwd=copy, check=True, capture_output=True)
        assert files(copy) == wanted


def test_names_that_the_logs_contradict_are_left(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("submission_benchmark", value="bert"), *range(5))
    tree.entry().rename(tree.entry().with_name("ResNet50"))
    assert "rename it" not in run("fix", tree.folder).stdout


def test_logs_by_other_names_beside_results_are_left(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    shutil.copy(tree.log(0), tree.log(0).with_name("node0.log"))
    assert run("fix", tree.folder, "--write").stdout.endswith("nothing to repair; official verdict: accepted\n")


def test_repairs_that_fail_are_counted_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)
    for number in range(2):
        tree.log(number).write_bytes(tree.log(number).read_bytes().replace(b"\n", b"\r\n"))
    broken = tree.log(0)
    rewrite = edits_module.rewrite

    def fail(file: Path, *others: Any) -> None:
        if file == broken:
            raise MlsubError(f"{file} cannot be written: No space left on device")
        rewrite(file, *others)

    monkeypatch.setattr(edits_module, "rewrite", fail)
    done = run("fix", tree.folder, "--write")
    assert done.status == 2
    assert "No space left on device" in done.stderr
    assert "Failed - results/rack1/resnet/result_0.txt: " in squeezed(done.stdout)
    assert "- results/rack1/resnet/result_1.txt: CR LF to LF" in done.stdout
    assert "1 repair on 40 lines made in 1 place, 1 failed; the official verdict is not known\n" in done.stdout
    assert b"\r" in broken.read_bytes() and b"\r" not in tree.log(1).read_bytes()


def test_a_full_disk_is_one_line_and_changes_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is repaired is written beside its place first; the disk has room for folders, not for contents."""

    def full(file: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))

    before = snapshot(tree.folder)
    monkeypatch.setattr(Path, "write_bytes", full)
    done = run("fix", tree.folder, "--write")
    monkeypatch.undo()
    assert done.status == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("mlsub fix: ") and line.endswith("cannot be written: No space left on device")
    assert snapshot(tree.folder) == before


@pytest.mark.parametrize("round_", ["folder", "manifest", "option", None])
def test_loose_runs_by_another_name_are_renamed(round_: str | None, tmp_path: Path) -> None:
    runs = tmp_path / ("v1.0" if round_ == "folder" else "all") / "runs"
    runs.mkdir(parents=True)
    for number in range(5):
        (runs / f"run_{number}.log").write_text(make_log(run=number).text())
    if round_ == "manifest":
        (runs.parent / "submission.yaml").write_text('organisation: ACME\nround: "1.0"\nsystems: {}\nentries: []\n')
    options = ["--round", "1.0"] * (round_ == "option")
    proposed = run("fix", runs, *options)
    assert sorted(file.name for file in runs.iterdir()) == [f"run_{number}.log" for number in range(5)]
    if round_ is None:
        assert "say --round" in proposed.stdout
        return
    assert proposed.status == 1 and "official verdict: not-checked before, accepted after" in proposed.stdout
    assert run("fix", runs, "--write", *options).status == 0
    assert sorted(file.name for file in runs.iterdir()) == [f"result_{number}.txt" for number in range(5)]
    assert run("fix", runs, *options).status == 0
