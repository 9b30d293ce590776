"""``mlsub fix`` as people call it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.runner import run
from tests.make_tree import Log, Tree, make_tree, snapshot


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


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".git" not in file.parts
    }


TEXT = """\
Repairs proposed

below: {root}

results/rack1/ResNet50
  - rename it to resnet [tree.unknown-benchmark]

results/rack1/ResNet50/Result-4.log
  - rename it to result_4.txt [tree.result-name]

systems/RACK1.json
  - line 30: remove the second cooling, which has the same value [system.duplicate-key]
  - rename it to rack1.json [tree.system-description-missing]
  @@ -27,7 +27,6 @@
     "accelerator_interconnect": "some accelerator interconnect",
     "accelerator_interconnect_topology": "some accelerator interconnect topology",
     "cooling": "some cooling",
  -  "cooling": "some cooling",
     "hw_notes": "",
     "framework": "some framework",
     "other_software_stack": "some other software stack",

4 repairs proposed in 3 places; official verdict: not-checked before, accepted after. To make them: --write
"""


def test_repairs_are_proposed_and_nothing_written(tree: Tree) -> None:
    before = snapshot(tree.folder)
    done = run("fix", tree.folder, "--select", "tree", "--select", "system")
    assert (done.status, done.stderr) == (1, "")
    assert done.stdout == TEXT.format(root=tree.folder)
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
    command = [sys.executable, "-m", "mlsub", "fix", str(tree.folder), "--format", "diff"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=copy, check=True, capture_output=True)
    run("fix", tree.folder, "--write")
    assert contents(copy) == contents(tree.folder)


def test_json_names_every_repair(tree: Tree) -> None:
    document = run("fix", tree.folder, "--format", "json").document
    [plan] = document["plans"]
    assert (document["written"], plan["before"], plan["after"]) == (False, "not-checked", "accepted")
    assert plan["changes"][1] == {
        "path": "results/rack1/ResNet50/Result-4.log",
        "renamed_to": "result_4.txt",
        "repairs": [{"rule": "tree.result-name", "line": None, "action": "rename it to result_4.txt", "count": 1}],
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


def test_what_no_tool_can_decide_is_told_and_left(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.1", benchmarks=("bert",))
    tree.describe(status="soon")
    file = tree.description()
    file.write_text(file.read_text().replace('  "cooling"', '  "cooling": "air",\n  "cooling"', 1))
    (tree.entry("bert") / "package_checker_params").write_text("rcp-bypas\n")
    done = run("fix", tree.folder, "--write")
    assert done.status == 1
    assert done.stdout.partition("Not touched\n")[2].splitlines()[:4] == [
        '  - systems/rack1.json:4: The status is none of those the round knows; found "soon" [system.status]',
        "  - systems/rack1.json:29: The field cooling appears more than once [system.duplicate-key]",
        "  - results/rack1/bert/package_checker_params:1: The line is not a flag of the package checker; "
        "found rcp-bypas",
        "    [params.unknown-flag]",
    ]


def test_nothing_is_put_over_another_file(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    shutil.copy(tree.log(0), tree.log(0).with_name("result-0.txt"))
    before = snapshot(tree.folder)
    done = run("fix", tree.folder, "--write")
    assert done.status == 1
    assert (
        "Not touched\n  - results/rack1/resnet/result-0.txt: result_0.txt exists already [tree.result-name]\n"
        in done.stdout
    )
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


def test_a_log_alone_without_a_round_is_mended_in_its_text(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b'10%\r20%\r\n:::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}  \r\nend\x1b\r\n')
    done = run("fix", file)
    assert done.status == 1
    assert done.stdout == (
        "Repairs proposed\n\n"
        f"below: {tmp_path}\n\n"
        "result_0.txt\n"
        "  - 3 lines from line 1 on: end lines in LF [file.line-ends]\n"
        "  - line 2: remove trailing blanks [file.trailing-blanks]\n"
        "  @@ -1,3 +1,3 @@\n"
        "  -10%\\r20%\\r\n"
        '  -:::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}  \\r\n'
        "  -end\\x1b\\r\n"
        "  +10%\\r20%\n"
        '  +:::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}}\n'
        "  +end\\x1b\n\n"
        "Note: no round is known, so repairs of names, status and repeated keys are left out; say --round\n\n"
        "2 repairs on 4 lines proposed in 1 place; the official verdict is not known. To make them: --write\n"
    )
    assert run("fix", file, "--write").status == 0
    assert file.read_bytes().startswith(b"10%\r20%\n:::MLLOG")
    assert run("fix", file).status == 0


@pytest.mark.parametrize("kind", ["missing", "pipe", "gz", "link", "empty folder", "round", "rule"])
def test_what_cannot_be_looked_at_is_told_in_one_line(kind: str, tmp_path: Path) -> None:
    file = tmp_path / ("result_0.txt.gz" if kind == "gz" else "result_0.txt")
    options: list[str] = []
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("elsewhere")
    elif kind == "empty folder":
        file.mkdir()
    elif kind != "missing":
        file.write_text("x\r\n")
    if kind == "round":
        options = ["--round", "9.9"]
    elif kind == "rule":
        options = ["--select", "sytem"]
    done = run("fix", file, "--write", *options)
    assert done.status == 2
    assert kind == "rule" or (done.stderr.startswith("mlsub fix: ") and done.stderr.count("\n") == 1)


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
    diff = done.stdout.partition("[file.line-ends]\n")[2].partition("\nBETA/")[0]
    assert diff.startswith("  @@ -1,")
    assert done.stdout == (
        "Repairs made\n\n"
        f"below: {tmp_path}/v1.1\n\n"
        "ACME/results/rack1/resnet/result_1.txt\n"
        "  - 40 lines from line 1 on: end lines in LF [file.line-ends]\n"
        f"{diff}\n"
        "BETA/results/rack1/ResNet50\n"
        "  - rename it to resnet [tree.unknown-benchmark]\n\n"
        "Not touched\n"
        "  - ACME/results/rack1/resnet/result-7.txt: it is a link [tree.result-name]\n"
        "  - ACME/systems/deep.json: The file is not JSON; found nested too deeply [system.not-json]\n"
        "  - ACME/systems/nul.json: The file is not JSON; found 'utf-8' codec can't decode byte 0xff in position 1: "
        "invalid start\n    byte [system.not-json]\n\n"
        "2 repairs on 40 lines made in 2 places; official verdict: rejected\n"
    )
    assert b"\r" not in one.log(1).read_bytes() and (other.entry() / "result_0.txt").exists()


@pytest.mark.parametrize("part", ["results/rack1/ResNet50", "results/rack1", "results"])
def test_a_part_of_a_tree_is_mended_like_the_whole(tree: Tree, part: str) -> None:
    done = run("fix", tree.folder / part, "--write")
    assert done.status in (0, 1)
    assert (tree.entry() / "result_4.txt").exists() and b"\r" not in tree.log(1).read_bytes()
    assert run("fix", tree.folder, "--write").status == 0
    assert run("check", tree.folder).status == 0
