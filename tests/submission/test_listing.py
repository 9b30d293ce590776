"""A listing answers as the file system does, opens each folder once, and goes to other processes as plain data."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mlsub.io import look
from mlsub.submission.file_tree import read_file_tree
from mlsub.submission.find import find, packages
from mlsub.submission.listing import Listing, below
from mlsub.workspace.cache import scan_tree
from tests.many_inputs import make_many
from tools.support.make_tree import make_tree
from tools.support.runner import run


@contextmanager
def opened_folders(base: Path) -> Iterator[Counter[str]]:
    """How often each folder below one is opened."""
    found: Counter[str] = Counter()
    watching = True

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event in ("os.listdir", "os.scandir") and isinstance(arguments[0], str | os.PathLike):
            path = os.path.abspath(arguments[0])  # noqa: PTH100
            if Path(path).is_relative_to(base):
                found[path] += 1

    sys.addaudithook(audit)  # It stays to the end of the process.
    try:
        yield found
    finally:
        watching = False


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    """A round with a package that has all kinds of files, one that lies too deep, one with faults; and loose logs."""
    base = tmp_path / "in"
    tree = make_many(base, "v5.0", "bert", runs=2)
    make_tree(base, "v5.0/Deep", org="Deep", benchmarks=["bert"])
    faulty = make_tree(base, "v5.0", org="Faulty", benchmarks=["bert"])
    (faulty.folder / "systems").rename(faulty.folder / "sytems")
    (faulty.folder / "results" / "rack1" / "unknown").mkdir()
    (faulty.folder / "results" / "rack*").mkdir()
    shutil.copytree(tree.entry("bert"), base / "loose" / "bert")
    return base


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("command", ["check", "score", "review"])
@pytest.mark.parametrize(
    "lies", ["v5.0", "v5.0/ACME", "v5.0/Deep/Deep", "v5.0/Faulty", "v5.0/ACME/results/rack1/bert", "loose/bert"]
)
def test_a_command_opens_each_folder_once(lies: str, command: str, rounds: Path, tmp_path: Path) -> None:
    path = rounds / lies
    words = [command, path, "--round", "5.0", "--jobs", "1", "--cache-dir", tmp_path / "cache"]
    answers = []
    for _ in ("cold", "warm"):
        with opened_folders(rounds) as opened:
            answers.append(run(*words, "--format", "json"))
        assert [folder for folder, times in opened.items() if times > 1] == []
        inside = {str(path), *(str(below) for below in path.rglob("*") if below.is_dir())}
        assert inside <= set(opened)
    assert answers[0] == answers[1] and answers[0].stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "b" / "deep").mkdir(parents=True)
    (tree / "a.txt").write_text("1234")
    (tree / "to-folder").symlink_to("b")
    (tree / "to-file").symlink_to("a.txt")
    (tree / "to-nothing").symlink_to("nothing")
    (tree / "circle").symlink_to("circle")
    return tree


def test_it_answers_as_the_file_system_does(tree: Path) -> None:
    names = (*look.names_in(tree), "nothing", "a.txt/x", "b/deep", "to-folder/deep", "n" * 300, "nul\0byte")
    for listing in (Listing(), listed := Listing()):
        if listing is listed:
            assert listed.names_in(tree) == sorted(look.names_in(tree))
        for name in names:
            for ask in ("is_folder", "is_link", "exists"):
                assert getattr(listing, ask)(tree / name) == getattr(look, ask)(tree / name), (ask, name)
            assert sorted(look.names_in(tree / name)) == listing.names_in(tree / name), name
            known, found = look.status_of(tree / name), listing.status_of(tree / name)
            assert (known and (known.st_mode, known.st_size)) == (found and (found.mode, found.size)), name
    assert listed.folders_in(tree) == listed.folders_in(tree, hidden=True) == [tree / "b", tree / "to-folder"]


def test_what_changes_later_does_not_show(tree: Path) -> None:
    listing = Listing()
    assert listing.is_folder(tree / "to-folder") and listing.names_in(tree / "b") == ["deep"]
    before = read_file_tree(tree, listing), scan_tree(tree, listing)
    shutil.rmtree(tree / "b")
    (tree / "a.txt").unlink()
    assert listing.is_folder(tree / "to-folder") and listing.names_in(tree / "b") == ["deep"]
    assert listing.exists(tree / "a.txt") and not listing.is_link(tree / "a.txt")
    assert read_file_tree(tree, listing) == before[0] != read_file_tree(tree)


def test_what_failed_is_tried_again(tree: Path) -> None:
    listing = Listing()
    with pytest.raises(FileNotFoundError):
        listing.items_in(tree / "later")
    (tree / "later").mkdir()
    assert listing.items_in(tree / "later") == {}


def test_of_a_round_a_package_takes_what_is_known_of_itself_to_another_process(tmp_path: Path) -> None:
    for name in ("A", "B"):
        folder = make_tree(tmp_path, org=name).folder
        with (folder / os.fsdecode(b"n\xe4me" if name == "B" else b"name")).open("w"):
            pass
    round_ = find(tmp_path / "v1.0")
    for package in packages(round_):
        file_tree = read_file_tree(package.path, package.listing)
        other = pickle.loads(pickle.dumps(package))  # noqa: S301  (our own)
        assert other == package and "Listing()" in repr(other)
        with opened_folders(tmp_path) as opened:
            assert read_file_tree(package.path, other.listing) == file_tree
            assert not opened
            assert other.listing.names_in(round_.path) == round_.listing.names_in(round_.path)
        assert list(opened) == [str(round_.path)]


def test_a_path_as_seen_from_a_folder() -> None:
    assert below(Path("/a/b"), Path("/a/b/c/d")) == "c/d"
    assert below(Path("/a/b"), Path("/a/b")) == "."
    with pytest.raises(ValueError, match="not in the subpath"):
        below(Path("/a/b"), Path("/a/bc"))
