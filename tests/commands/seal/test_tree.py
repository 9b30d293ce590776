"""What can be sealed, what is replaced, and that whatever changes or goes wrong leaves the old state."""

from __future__ import annotations

import os
import shutil
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.seal import run as sealing
from mlsub.commands.seal.run import SealOptions, default_name, seal_tree
from mlsub.io import MlsubError
from mlsub.packing.names import link_problems, name_problem
from mlsub.packing.tree import RefusedError, Tree, scan
from mlsub.rules.catalogue import finding
from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import PASSPHRASE, plant, snapshot, with_openssl


def refused(tree: Path) -> list[tuple[str, str, str]]:
    """Why it is not sealed; nothing may have been written."""
    out = tree.parent / "sealed"
    with pytest.raises(RefusedError) as caught:
        seal_tree(tree, out, None)
    assert [path.name for path in tree.parent.iterdir()] == [tree.name]
    return [(finding.rule, finding.path, finding.message) for finding in caught.value.findings]


def bind(path: Path) -> None:
    """A socket; its own name may be short only, so from within its folder."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


SPECIAL, OUT = "neither a file, a folder nor a link", "the link leads out of the tree"
CONTROL, DEEP = "the name has control characters", "/".join("d" * 64)
#: What is put into the tree, and the rule, the path and the message of the one finding.
CASES: dict[str, tuple[Callable[[Path], object], str, str, str]] = {
    "FIFO": (lambda t: os.mkfifo(t / "f"), "special-file", "f", SPECIAL),
    "socket": (lambda t: bind(t / "s"), "special-file", "s", SPECIAL),
    "absolute": (lambda t: (t / "l").symlink_to("/etc/passwd"), "link", "l", "the link is absolute"),
    "out": (lambda t: (t / "l").symlink_to("../x"), "link", "l", OUT),
    "out and in": (lambda t: (t / "l").symlink_to("../ACME"), "link", "l", OUT),
    "circle": (lambda t: (t / "l").symlink_to("l"), "link", "l", "the link leads in a circle"),
    "by a link": (lambda t: [(t / "b").symlink_to("."), (t / "c").symlink_to("b/../x")], "link", "c", OUT),
    "other letters": (
        lambda t: (t / "newest").symlink_to("Latest/resnet"),
        *("link", "newest", "the link leads through another one, and spells it differently"),
    ),
    "line feed": (lambda t: (t / "a\nb").touch(), "name", "a\nb", CONTROL),
    "escape": (lambda t: (t / "\x1b[2J").mkdir(), "name", "\x1b[2J", CONTROL),
    "latin-1": (
        lambda t: Path(os.fsdecode(os.fsencode(t) + b"/\xff")).touch(), "name", "\udcff", "the name is not UTF-8"
    ),
    "backslash": (
        lambda t: (t / "a\\b").touch(), "name", "a\\b", "the name has a backslash, which is a path elsewhere"
    ),
    "deep": (lambda t: (t / DEEP).mkdir(parents=True), "name", DEEP, "the path is deeper than 64 folders"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "rule", "path", "message"), CASES.values(), ids=CASES)
def test_what_cannot_be_sealed(
    spoil: Callable[[Path], object], rule: str, path: str, message: str, tmp_path: Path
) -> None:
    tree = plant(tmp_path)
    spoil(tree)
    assert refused(tree) == [(f"seal.{rule}", f"ACME/{path}", message)]


def test_a_tree_cannot_be_called_like_the_manifest(tmp_path: Path) -> None:
    tree = tmp_path / "MANIFEST.sha256"
    tree.mkdir()
    (tree / "a").touch()
    assert [finding[:2] for finding in refused(tree)] == [("seal.name", "MANIFEST.sha256")]


@pytest.mark.parametrize("second", ["Readme", "readme\u200d"])
def test_names_that_are_one_elsewhere_cannot_be_sealed(second: str, tmp_path: Path) -> None:
    """What unseal would refuse is not sealed."""
    (tmp_path / "T").mkdir()
    for name in ("README", second):
        (tmp_path / "T" / name).touch()
    if len(list((tmp_path / "T").iterdir())) < 2:
        pytest.skip("the two names are one here")
    with pytest.raises(RefusedError) as caught:
        scan(tmp_path / "T")
    [found] = caught.value.findings
    assert (found.rule, found.path, found.actual) == ("seal.name", f"T/{second}", "T/README")


def test_an_unreadable_file_and_folder_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root nothing is unreadable, so the system's answer is put in its mouth."""
    tree = plant(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "run.sh")
    assert refused(tree) == [("seal.unreadable", "ACME", "it cannot be read: no right to read run.sh")]


def test_a_tree_that_could_not_be_opened_is_not_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.packing.tree.MAX_MEMBERS", 9)
    with pytest.raises(MlsubError, match="contains more than 9 files, folders and links"):
        scan(plant(tmp_path))
    monkeypatch.setattr("mlsub.packing.tree.MAX_MEMBERS", 11)
    assert len(scan(tmp_path / "training_results_v1.0" / "ACME").members) == 11


def test_an_empty_tree_is_nothing_to_seal(tmp_path: Path) -> None:
    (tmp_path / "T" / "empty").mkdir(parents=True)
    with pytest.raises(MlsubError, match="contains no file"):
        scan(tmp_path / "T")


@pytest.mark.parametrize("name", ["nothing", "file", "a\0b", "x" * 300, "circle", "/"])
def test_what_is_no_tree(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to("circle")
    for look in (scan, lambda path: default_name(path, None), lambda path: seal_tree(path, tmp_path / "out", None)):
        with pytest.raises(MlsubError):
            look(tmp_path / name)


@pytest.mark.parametrize("place", ["out", "results/out", "../ACME/out", "latest/out"])
def test_the_sealed_file_cannot_lie_in_the_tree(place: str, tmp_path: Path) -> None:
    tree = plant(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(MlsubError, match="lies in the tree"):
        seal_tree(tree, tree / place, None)
    assert snapshot(tmp_path) == before


CHANGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("longer", lambda file: file.write_text("#!/bin/sh\nx"), "seal.changed"),
    ("shorter", lambda file: file.write_text(""), "seal.changed"),
    ("gone", lambda file: file.unlink(), "seal.unreadable"),
    ("a link by now", lambda file: [file.unlink(), file.symlink_to("latest")], "seal.unreadable"),
    ("a FIFO by now", lambda file: [file.unlink(), os.mkfifo(file)], "seal.unreadable"),
]


@pytest.mark.parametrize(("change", "rule"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_a_file_that_changes_before_it_is_read_is_not_sealed(
    change: Callable[[Path], object], rule: str, tmp_path: Path
) -> None:
    scanned = scan(plant(tmp_path))
    change(scanned.folder / "run.sh")
    with pytest.raises(RefusedError) as caught:
        seal_tree(scanned, tmp_path / "sealed", None)
    assert [(found.rule, found.path) for found in caught.value.findings] == [(rule, "ACME/run.sh")]
    assert [path.name for path in tmp_path.iterdir()] == ["training_results_v1.0"]


@pytest.mark.parametrize("text", ["", "#!/bin/xx\n", "#!/bin/sh\nand more"])
def test_a_file_that_changes_while_it_is_read_is_not_sealed(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = plant(tmp_path)
    real = tarfile.TarFile.addfile

    def addfile(self: tarfile.TarFile, member: tarfile.TarInfo, content: IO[bytes] | None = None) -> None:
        if member.name == "ACME/run.sh":
            (tree / "run.sh").write_text(text)
        real(self, member, content)

    monkeypatch.setattr(tarfile.TarFile, "addfile", addfile)
    assert refused(tree) == [("seal.changed", "ACME/run.sh", "it changed while it was sealed")]


@given(parts=st.lists(st.sampled_from(["..", ".", "a", "b", "l", "m", ""]), max_size=6), data=st.data())
def test_a_link_that_passes_never_leads_out(
    parts: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Held against what the system says of the same links."""
    second = data.draw(st.lists(st.sampled_from(["..", ".", "a", "l"]), min_size=1, max_size=4))
    links = {"T/a/l": "/".join(parts) or ".", "T/a/m": "/".join(second)}
    if any(target.startswith("/") for target in links.values()):
        return
    tree = tmp_path_factory.mktemp("links") / "T"
    (tree / "a" / "b").mkdir(parents=True)
    for path, target in links.items():
        (tree.parent / path).symlink_to(target)
    for path in links:
        try:
            real = (tree.parent / path).resolve(strict=True)
        except (OSError, RuntimeError):
            continue
        if path not in link_problems(links):
            assert real.is_relative_to(tree)


@given(st.text(max_size=20))
def test_a_name_that_passes_is_a_plain_path(name: str) -> None:
    if name_problem(name) is None:
        assert name.encode()
        assert not {"", ".", ".."} & set(name.split("/"))
        assert "\n" not in name and "\0" not in name


def test_without_force_nothing_is_replaced(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    for name in ("sealed", "sealed.receipt.txt", "sealed.MANIFEST.sha256", "sealed.sha1"):
        (tmp_path / name).write_text("mine")
        before = snapshot(tmp_path)
        with pytest.raises(MlsubError, match=r"exists\. Add --force"):
            seal_tree(tree, tmp_path / "sealed", None)
        assert snapshot(tmp_path) == before
        (tmp_path / name).unlink()


@pytest.mark.parametrize("form", ["recipient", "passphrase", "openssl"])
def test_what_goes_wrong_inside_is_told_by_every_form(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The libraries and the program that encrypt stand between, and must not swallow it."""
    if form == "openssl" and not shutil.which("openssl"):
        pytest.skip("no openssl here")
    key = {"recipient": pair()[0], "passphrase": PASSPHRASE, "openssl": with_openssl(b"correct horse battery")}[form]
    tree = plant(tmp_path)
    before = snapshot(tmp_path)
    for error in (KeyboardInterrupt(), RefusedError(finding("seal.changed", "ACME/a", "it changed"))):

        def broken(_: Tree, stream: BinaryIO, __: object, error: BaseException = error) -> None:
            stream.write(bytes(100000))
            raise error

        monkeypatch.setattr(sealing, "write_archive", broken)
        with pytest.raises(type(error)):
            seal_tree(tree, tmp_path / "sealed", key)
        assert snapshot(tmp_path) == before


def test_a_full_disk_is_told_and_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plant(tmp_path)
    seal_tree(tree, tmp_path / "sealed", PASSPHRASE)
    before = snapshot(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sealing, "sync_file", full)
    with pytest.raises(MlsubError, match="cannot be written: No space left on device"):
        seal_tree(tree, tmp_path / "sealed", PASSPHRASE, SealOptions(force=True))
    assert snapshot(tmp_path) == before
