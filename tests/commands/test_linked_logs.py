"""Links in the place of logs: followed as the official tools do, but never into what the system makes up."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mlsub.packing.tree import compare_tree, read_checksums
from tests.judge.test_bad_input import KERNEL, within
from tools.support.effort import HUNG
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check, run
from tools.support.workplace import Workplace

WHY = "not stored anywhere, but made by the system when it is read, as in /proc"
ENTRY = "results/rack1/resnet"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path)


def link(tree: Tree, *runs: int) -> None:
    """Put links in the place of logs, which lie outside of the package."""
    for number in runs:
        outside = tree.folder.parents[1] / f"run{number}.log"
        tree.log(number).rename(outside)
        tree.log(number).symlink_to(os.path.relpath(outside, tree.entry()))


def replace_by(file: Path, target: Path) -> None:
    file.unlink(missing_ok=True)
    file.symlink_to(target)


#: Commands that read packages, by how they end where a log is such a link, and whether they say why it is not read.
READERS: dict[str, tuple[int, bool]] = {
    "check {tree}": (1, True),
    "score {tree}": (1, False),
    "review {tree}": (2, True),
    "fix {tree}": (1, True),
    "fix {log}": (2, False),
    "redact {tree}": (1, False),
    "compare {tree} {tree}": (0, False),
    "db build {tree} -o {out}/x.duckdb": (0, False),
    "site {tree} -o {out}/site": (1, False),
    "seal {tree} --no-encryption -o {out}/x.tar.gz": (1, False),
    "check {log}": (2, True),
    "check {tree} --rcp {kernel}": (2, True),
    "check {tree} --baseline {kernel}": (2, True),
    "check {tree} --rules {kernel}": (2, True),
    "check {tree} --config {kernel}": (2, True),
}


@pytest.mark.skipif(not KERNEL.exists(), reason="there is no /proc here")
@pytest.mark.parametrize(("words", "expected"), READERS.items(), ids=READERS)
def test_no_command_reads_what_the_system_makes(
    words: str, expected: tuple[int, bool], tree: Tree, tmp_path: Path
) -> None:
    replace_by(tree.log(0), KERNEL)
    if words.startswith("db"):
        pytest.importorskip("duckdb")
    named = words.format(tree=tree.folder, log=tree.log(0), out=tmp_path, kernel=KERNEL)
    with within(int(HUNG)):
        done = run(*named.split())
    assert (done.status, WHY in " ".join((done.stdout + done.stderr).split())) == expected


#: Other files of a package, the folder of the round, and whether a finding says why they are not read.
FILES: dict[str, tuple[str, bool]] = {
    "systems/rack1.json": ("v1.0", True),
    f"{ENTRY}/scaling.json": ("v1.0", True),
    f"{ENTRY}/package_checker_params": ("v4.0", True),
    f"{ENTRY}/power/result_0/node_0.txt": ("v4.0", True),
    "package_checker_params": ("v2.0", True),
    "benchmarks/resnet/rack1/README.md": ("v1.0", False),
}


@pytest.mark.skipif(not KERNEL.exists(), reason="there is no /proc here")
@pytest.mark.parametrize("file", FILES)
def test_no_file_of_a_package_is_read_that_the_system_makes(file: str, tmp_path: Path) -> None:
    round_folder, told = FILES[file]
    tree = make_tree(tmp_path, round_folder)
    place = tree.folder / file
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_by(place, KERNEL)
    with within(int(HUNG)):
        found = check(tree.folder).findings
    assert any(WHY in f"{one['message']} {one['actual']}" for one in found) is told
    # Where nobody reads it, it is a link that leads out.
    assert any(one["rule"] == "layout.link-escapes" for one in found)


def test_logs_that_are_links_are_followed_and_a_warning_of_their_entry(tree: Tree) -> None:
    accepted = check(tree.folder)
    link(tree, 0, 1, 2, 3)
    done = check(tree.folder)
    [found] = done.of("layout.log-link")
    assert (found["kind"], found["severity"], found["path"]) == ("review", "warning", ENTRY)
    assert found["actual"] == "4: result_0.txt, result_1.txt, result_2.txt, and 1 more"
    assert done.official == accepted.official == "accepted"
    assert done.report["logs"] == accepted.report["logs"]
    assert done.rules() - accepted.rules() == {"layout.log-link"}


def test_a_log_that_links_to_another_one_of_the_package_is_no_warning(tree: Tree) -> None:
    tree.log(4).unlink()
    tree.log(4).symlink_to("result_0.txt")
    assert check(tree.folder).of("layout.log-link") == []


def test_seal_takes_the_content_of_linked_logs_and_says_so(tree: Tree, tmp_path: Path) -> None:
    link(tree, 0, 1)
    content = tree.log(0).read_bytes()
    sealed = tmp_path / "x.tar.gz"
    logs = ", ".join(f"ACME/{ENTRY}/result_{number}.txt" for number in (0, 1))
    said = f"mlsub: the content of logs that are links out of ACME is sealed: {logs}\n"
    planned = run("seal", "--no-encryption", tree.folder, "-o", sealed, "--even-with-errors", "--dry-run")
    assert (planned.status, planned.stderr) == (0, said)
    done = run("seal", "--no-encryption", tree.folder, "-o", sealed, "--even-with-errors")
    assert (done.status, done.stderr) == (0, said)
    assert run("unseal", sealed, "-o", tmp_path / "opened").status == 0
    opened = tmp_path / "opened/ACME" / ENTRY / "result_0.txt"
    assert (opened.is_symlink(), opened.read_bytes()) == (False, content)
    # Of the tree itself, the links are not what was sealed.
    manifest = tmp_path / "x.tar.gz.MANIFEST.sha256"
    assert len(read_checksums(manifest).links) == 0
    differing = run("verify", tree.folder, "--manifest", manifest)
    assert differing.status == 1
    assert {"[seal.extra]", "[seal.missing]"} <= set(re.findall(r"\[seal\.\w+\]", differing.stdout))
    # To mlsub status it is the package as it was sealed, until a log changes.
    assert compare_tree(tree.folder, read_checksums(manifest), sealed_from=True) == ()
    tree.log(0).write_bytes(content[:-1])
    assert len(compare_tree(tree.folder, read_checksums(manifest), sealed_from=True)) == 1


@pytest.mark.parametrize("place", ["benchmarks/result_0.txt", f"{ENTRY}/notes.txt", "results/rack1"])
def test_seal_takes_the_content_of_logs_alone(place: str, tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    if (tree.folder / place).exists():
        (tree.folder / place).rename(tmp_path / "rack1")
    (tree.folder / place).symlink_to(tmp_path / "secret")
    done = run("seal", "--no-encryption", tree.folder, "-o", tmp_path / "x.tar.gz", "--even-rejected")
    assert (done.status, "seal.link" in done.stdout) == (1, True)


def test_pack_says_that_it_takes_the_content_of_links(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    log = workplace.folder / "runs/resnet/train-0.txt"
    log.rename(tmp_path / "elsewhere.txt")
    log.symlink_to("../../elsewhere.txt")
    done = run("pack", workplace.manifest_file, "--write", "-o", workplace.out)
    assert "The package has the content of logs that are links: train-0.txt\n" in done.stdout
    packed = workplace.out / ENTRY
    assert not [file for file in packed.iterdir() if file.is_symlink()]
    log.unlink()
    log.symlink_to(KERNEL)
    again = run("pack", workplace.manifest_file, "-o", workplace.out)
    assert (again.status, WHY in " ".join(again.stdout.split())) == (1, True)
