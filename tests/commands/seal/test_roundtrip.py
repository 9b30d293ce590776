"""What is sealed comes out again, and the archive is the same every time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from mlsub.commands.seal.run import SealOptions, seal_tree
from mlsub.commands.unseal.run import unseal
from mlsub.io import MlsubError
from mlsub.packing.forms import Key
from mlsub.submission.find import find
from tests.commands.seal.trees import (
    PASSPHRASE,
    SHAPES,
    for_keys,
    grow,
    plant,
    snapshot,
    with_keys,
    with_openssl,
    with_phrase,
)
from tools.support.make_tree import make_tree
from tools.support.runner import run

pyrage = pytest.importorskip("pyrage")


def pair() -> tuple[Key, Key]:
    identity = pyrage.x25519.Identity.generate()
    return for_keys((str(identity.to_public()),)), with_keys(f"# a comment\n\n{identity}\n".encode())


def forms() -> list[tuple[str, Key | None, Key | None]]:
    """Each form, what it is sealed with and opened with."""
    recipients, identities = pair()
    secret = b"correct horse battery staple"
    found: list[tuple[str, Key | None, Key | None]] = [("open", None, None), ("recipient", recipients, identities)]
    found.append(("passphrase", PASSPHRASE, with_phrase(secret)))
    return [*found, ("openssl", with_openssl(secret), with_phrase(secret))] if shutil.which("openssl") else found


@pytest.mark.parametrize(("name", "seal_key", "open_key"), forms(), ids=[form[0] for form in forms()])
def test_every_form_comes_out_as_it_went_in(
    name: str, seal_key: Key | None, open_key: Key | None, tmp_path: Path
) -> None:
    tree = plant(tmp_path)
    before = snapshot(tree)
    receipt = seal_tree(tree, tmp_path / "sealed", seal_key)
    opened = unseal(tmp_path / "sealed", tmp_path / "out", open_key)
    assert snapshot(tree) == before == snapshot(tmp_path / "out" / "ACME")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ACME", "MANIFEST.sha256"]
    assert (opened.files, opened.size) == (receipt.files, receipt.files_size) == (4, 768)
    manifest = (tmp_path / "out" / "MANIFEST.sha256").read_bytes()
    assert manifest == (tmp_path / "sealed.MANIFEST.sha256").read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == receipt.manifest_sha256
    assert hashlib.sha256((tmp_path / "sealed").read_bytes()).hexdigest() == receipt.sha256
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [".sealed.mlsub-written"]


@settings(suppress_health_check=list(HealthCheck))
@given(shape=SHAPES)
def test_random_trees_come_out_as_they_went_in(shape: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")
    tree = grow(folder / "tree", shape)
    seal_tree(tree, folder / "sealed", PASSPHRASE)
    unseal(folder / "sealed", folder / "out", PASSPHRASE)
    assert snapshot(folder / "out" / "tree") == snapshot(tree)
    shutil.rmtree(folder)


def test_the_archive_depends_on_content_alone(tmp_path: Path) -> None:
    """Order of creation, times, rights of others, owner and place do not show, but for the round."""
    first = plant(tmp_path / "first")
    second = tmp_path / "second" / "v1.0" / "ACME"
    shutil.copytree(first, second, symlinks=True)
    for number, path in enumerate(sorted(second.rglob("*"), reverse=True)):
        os.utime(path, (number, number), follow_symlinks=False)
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    receipts = [
        seal_tree(tree, tmp_path / f"sealed{number}", key)
        for number, (tree, key) in enumerate([(first, None), (second, None), (first, PASSPHRASE)])
    ]
    assert len({receipt.archive_sha256 for receipt in receipts}) == 1
    assert len({receipt.tar_sha256 for receipt in receipts}) == 1
    assert (tmp_path / "sealed0").read_bytes() == (tmp_path / "sealed1").read_bytes()
    assert receipts[2].sha256 != receipts[0].sha256


def test_encryption_is_never_the_same_twice(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    recipients, _ = pair()
    for key in (PASSPHRASE, recipients):
        seal_tree(tree, tmp_path / "a", key, SealOptions(force=True))
        seal_tree(tree, tmp_path / "b", key, SealOptions(force=True))
        assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()


def test_tar_and_sha256sum_know_what_to_do_with_it(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    seal_tree(tree, tmp_path / "sealed.tar.gz", None)
    with tarfile.open(tmp_path / "sealed.tar.gz") as archive:
        members = archive.getmembers()
        # Its filter came with Python 3.11.4; the archive is our own.
        filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path / "python", **filtered)  # type: ignore[arg-type]  # noqa: S202
    assert {(m.uid, m.gid, m.mtime, m.uname, m.gname) for m in members} == {(0, 0, 0, "", "")}
    assert {m.mode for m in members} == {0o644, 0o755}
    assert members[-1].name == "MANIFEST.sha256"
    assert snapshot(tmp_path / "python" / "ACME") == snapshot(tree)
    if not (shutil.which("tar") and shutil.which("sha256sum") and shutil.which("gzip")):
        pytest.skip("no tar, gzip or sha256sum here")
    (tmp_path / "tar").mkdir()
    subprocess.run(["gzip", "-t", "sealed.tar.gz"], cwd=tmp_path, check=True)
    subprocess.run(["tar", "xzf", "../sealed.tar.gz"], cwd=tmp_path / "tar", check=True)
    assert snapshot(tmp_path / "tar" / "ACME") == snapshot(tree)
    command = ["sha256sum", "--check", "--strict", "--quiet", "MANIFEST.sha256"]
    done = subprocess.run(command, cwd=tmp_path / "tar", capture_output=True, check=True)
    assert done.stdout + done.stderr == b""


def test_each_of_several_recipients_opens_it(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    pairs = [pair() for _ in range(3)]
    seal_tree(tree, tmp_path / "sealed", for_keys(tuple(recipients.recipients[0] for recipients, _ in pairs)))
    for number, (_, identities) in enumerate(pairs):
        unseal(tmp_path / "sealed", tmp_path / f"out{number}", identities)
        assert snapshot(tmp_path / f"out{number}" / "ACME") == snapshot(tree)
    with pytest.raises(MlsubError, match="not opened by this key"):
        unseal(tmp_path / "sealed", tmp_path / "other", pair()[1])


def test_an_ssh_key_opens_it(tmp_path: Path) -> None:
    if not shutil.which("ssh-keygen"):
        pytest.skip("no ssh-keygen here")
    tree = plant(tmp_path)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@home", "-f", str(tmp_path / "key")]
    subprocess.run(command, check=True)
    receipt = seal_tree(tree, tmp_path / "sealed", for_keys(((tmp_path / "key.pub").read_text(),)))
    assert receipt.recipients[0].startswith("ssh-ed25519 AAAA")
    assert "me@home" not in receipt.recipients[0]
    unseal(tmp_path / "sealed", tmp_path / "out", with_keys((tmp_path / "key").read_bytes()))
    assert snapshot(tmp_path / "out" / "ACME") == snapshot(tree)


def test_others_can_open_and_seal(tmp_path: Path) -> None:
    """The library's own functions open what is sealed here, and what they seal is opened here."""
    tree = plant(tmp_path)
    seal_tree(tree, tmp_path / "archive", None)
    archive = (tmp_path / "archive").read_bytes()
    recipients, identities = pair()
    identity = pyrage.x25519.Identity.from_str(identities.identities.decode().split()[-1])
    seal_tree(tree, tmp_path / "sealed", recipients)
    assert pyrage.decrypt((tmp_path / "sealed").read_bytes(), [identity]) == archive
    (tmp_path / "theirs").write_bytes(pyrage.encrypt(archive, [identity.to_public()]))
    unseal(tmp_path / "theirs", tmp_path / "out", identities)
    assert snapshot(tmp_path / "out" / "ACME") == snapshot(tree)


def test_an_unsealed_tree_keeps_its_round(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "hpc_and_more", "v1.1").folder
    seal_tree(tree, tmp_path / "sealed", None)
    unseal(tmp_path / "sealed", tmp_path / "opened")
    for path in ("opened/ACME", "opened", "opened/ACME/results/rack1/resnet", "opened/ACME/results/rack1"):
        outcome = run("check", tmp_path / path, "--format", "json")
        [report] = outcome.document["reports"]
        assert (outcome.status, report["round"], report["round_from"]) == (0, "1.1", "MANIFEST.sha256"), path
    text = run("check", tmp_path / "opened" / "ACME").stdout
    assert "\ntraining v1.1 (read off the manifest MANIFEST.sha256)\n" in text
    assert run("status", tmp_path / "opened" / "ACME", "--format", "json").document["round"] == "1.1"
    assert run("verify", tmp_path / "opened").status == 0
    # A second time the round comes from the first archive.
    seal_tree(tmp_path / "opened" / "ACME", tmp_path / "again", None)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "sealed").read_bytes()


@pytest.mark.parametrize(
    "first",
    ["# round\ttraining_v1.0\nrest", "# round\tv9.9 ; rm\n", "# round\t" + "v" * 5000, "", "\udcff"],
    ids=range(5),
)
def test_a_round_in_a_manifest_is_one_line_of_a_known_form(first: str, tmp_path: Path) -> None:
    folder = make_tree(tmp_path, "opened").folder
    (folder.parent / "MANIFEST.sha256").write_text(first, errors="surrogateescape")
    found = find(folder).round
    assert found == ("1.0" if "training" in first else "")


def test_the_name_of_a_folder_wins_over_the_round_of_an_archive(tmp_path: Path) -> None:
    folder = make_tree(tmp_path, "v1.0").folder
    (folder.parent / "MANIFEST.sha256").write_text("# round\ttraining_v1.1\n")
    assert find(folder).round == "1.0"
