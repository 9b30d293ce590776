"""``mlsub seal``, ``unseal`` and ``verify``: to the letter what they print, and how they end."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.seal.test_roundtrip import pair
from tests.commands.seal.trees import plant, snapshot
from tests.conftest import ExpectedText
from tools.support.make_tree import Log, Tree, make_tree
from tools.support.make_tree import snapshot as states
from tools.support.runner import Outcome, call, run

pytest.importorskip("pyrage")
#: What is sealed here has all that can be sealed, and is no package that would be accepted.
EVEN = "--even-rejected"
NO_CODE = "mlsub: the package has no code in benchmarks: reviewers will ask for it; see mlsub check\n"
TAR = "c6d771cd9337ceca4468c47ced4e6ca91d9a8baab2cbbcf7a50296ec75a99a09"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A tree, a passphrase, a key and its public half, and a folder of others' for the sealed file."""
    plant(tmp_path)
    recipients, identities = pair()
    (tmp_path / "key.pub").write_text(recipients.recipients[0])
    for name, content in (("key", identities.identities), ("passphrase", b"correct horse battery staple\n")):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
    return tmp_path


def tree(place: Path) -> Path:
    return place / "training_results_v1.0" / "ACME"


def seal(place: Path, *more: object) -> Outcome:
    return run("seal", EVEN, tree(place), "-o", place / "s.age", "--recipient", (place / "key.pub").read_text(), *more)


def wide(*arguments: object) -> Outcome:
    """The same with the lines of the answer joined: the length of a folder's name must not matter."""
    done = run(*arguments)
    return done._replace(stdout=" ".join(done.stdout.split()))


def test_the_receipt(place: Path, expected_text: ExpectedText) -> None:
    done = run("seal", EVEN, tree(place), "--recipients-file", place / "key.pub")
    text = done.stdout.replace((place / "key.pub").read_text(), "KEY")
    text = re.sub(r"^(sealed: +)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", r"\1NOW", text, flags=re.MULTILINE)
    text = re.sub(r"^((?:tar.gz )?bytes: +)\d+$", r"\1SIZE", text, flags=re.MULTILINE)
    text = re.sub(r"^((?:tar.gz |manifest )?SHA-256: +)[0-9a-f]{64}$", r"\1DIGEST", text, flags=re.MULTILINE)
    text = re.sub(r"mlsub [0-9.a-z]+$", "mlsub VERSION", text, flags=re.MULTILINE)
    assert (done.status, done.stderr) == (0, NO_CODE)
    expected_text("receipt.txt", text)
    beside = sorted(path.name for path in tree(place).parent.iterdir())
    assert beside == [
        ".ACME.tar.gz.age.mlsub-written",
        "ACME",
        *(f"ACME.tar.gz.age{end}" for end in ("", ".MANIFEST.sha256", ".receipt.txt")),
    ]
    assert (tree(place).parent / "ACME.tar.gz.age.receipt.txt").read_text() == done.stdout


def test_what_a_killed_command_left_is_not_sealed_and_told_once(place: Path) -> None:
    before = snapshot(tree(place))
    begun = tree(place) / "systems" / ".mlsub-0123456789abcdef.part"
    begun.mkdir()
    (begun / "rack1.json").write_text("{")
    os.mkfifo(begun / "pipe")
    done = seal(place)
    told = "mlsub: left out what a killed command began: ACME/systems/.mlsub-0123456789abcdef.part. Remove it."
    assert (done.status, done.stderr) == (0, f"{told}\n{NO_CODE}")
    assert run("unseal", place / "s.age", "-o", place / "out", "--identity", place / "key").status == 0
    assert snapshot(place / "out" / "ACME") == before
    (begun / "pipe").unlink()
    assert run("verify", tree(place), "--manifest", place / "s.age.MANIFEST.sha256").status == 1


def test_a_package_without_code_is_sealed_and_told(tmp_path: Path) -> None:
    one = make_tree(tmp_path, "v1.0", benchmarks=["resnet", "bert"])
    more = (one.folder, "--no-encryption", "--even-with-errors")
    whole = run("seal", *more, "-o", tmp_path / "whole")
    assert (whole.status, whole.stderr) == (0, "")
    shutil.rmtree(one.folder / "benchmarks" / "bert")
    for arguments in (["--dry-run"], [], ["--force", "--format", "json"]):
        done = run("seal", *more, "-o", tmp_path / "some", *arguments)
        told = "mlsub: the package has no code in benchmarks/bert: reviewers will ask for it; see mlsub check\n"
        assert (done.status, done.stderr) == (0, told)
    shutil.rmtree(one.folder / "benchmarks")
    done = run("seal", *more, "-o", tmp_path / "none")
    assert (done.status, "has no code in benchmarks: " in done.stderr) == (0, True)


def test_there_and_back(place: Path) -> None:
    before = snapshot(tree(place))
    assert seal(place).status == 0
    done = run("unseal", place / "s.age", "-o", place / "out", "--identity", place / "key")
    opened = f"""\
Opened

form:  age v1, for recipients
tree:  {place}/out/ACME
files: 4 (768 bytes), as the manifest lists them
"""
    assert done == (0, opened, "")
    assert snapshot(place / "out" / "ACME") == before == snapshot(tree(place))
    done = wide("verify", place / "out")
    said = f"Nothing differs: {place}/out/ACME with {place}/out/MANIFEST.sha256: 4 files listed"
    assert done == (0, f"Verification {said}", "")
    done = run("verify", place / "s.age", "--identity", place / "key")
    said = "Nothing differs: s.age (age v1, for recipients) with its manifest: 4 files, 768 bytes"
    assert done == (0, f"Verification\n\n{said}\n", "")
    done = run("verify", place / "s.age")
    note = "mlsub: no key was given: the sealed file was compared with its receipt, its content was not checked\n"
    assert done == (0, "Verification\n\nNothing differs: s.age with s.age.receipt.txt\n", note)


def test_what_cannot_be_sealed_is_told_with_its_remedy(place: Path, expected_text: ExpectedText) -> None:
    (tree(place) / "out").symlink_to("/etc")
    (tree(place) / "a\x1b[2Jb").touch()
    done = seal(place)
    assert done.status == 1
    expected_text("not-sealed.txt", done.stdout)
    assert done.stderr == ""
    assert not (place / "s.age").exists()


def test_differences_and_damage_are_told(place: Path) -> None:
    seal(place)
    run("unseal", place / "s.age", "-o", place / "out", "-i", place / "key")
    (place / "out" / "ACME" / "new").touch()
    done = wide("verify", place / "out")
    assert (done.status, done.stdout) == (
        1,
        "Verification error: a file is there that the manifest does not list [seal.extra] "
        "in: ACME/new fix: Remove it, or seal the tree again. source: docs/seal.md "
        f"1 finding: {place}/out/ACME with {place}/out/MANIFEST.sha256: 4 files listed",
    )
    content = (place / "s.age").read_bytes()
    (place / "s.age").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    done = run("unseal", place / "s.age", "-o", place / "other", "-i", place / "key")
    assert done.status == 1 and done.stdout.endswith("Nothing was written.\n")
    assert done.stdout.startswith("Not opened\n\nerror: the file is not as it was sealed: ")
    assert not (place / "other").exists()
    assert run("verify", place / "s.age").status == 1


def test_documents(place: Path) -> None:
    """What else is in them, tests/golden keeps."""
    receipt = seal(place, "--format", "json").document["receipt"]
    assert (receipt["tar_sha256"], receipt["size"]) == (TAR, (place / "s.age").stat().st_size)
    run("unseal", place / "s.age", "-o", place / "out", "-i", place / "key")
    (place / "out" / "ACME" / "run.sh").unlink()
    done = run("verify", place / "out", "--format", "json")
    assert (done.status, [finding["rule"] for finding in done.document["findings"]]) == (1, ["seal.missing"])
    os.mkfifo(tree(place) / "fifo")
    done = seal(place, "--force", "--format", "json")
    assert (done.status, [finding["path"] for finding in done.document["findings"]]) == (1, ["ACME/fifo"])


def test_a_dry_run_writes_nothing_and_refuses_the_same(place: Path) -> None:
    before = snapshot(place)
    done = wide("seal", EVEN, tree(place), "-o", place / "s.age", "--no-encryption", "--dry-run")
    assert done == (0, f"Dry run Would seal 4 files (768 bytes) into {place}/s.age", NO_CODE)
    assert seal(place, "--dry-run", "--format", "json").document["files_size"] == 768
    assert snapshot(place) == before
    (place / "s.age").touch()
    assert seal(place, "--dry-run").status == 2
    os.mkfifo(tree(place) / "fifo")
    assert seal(place, "--dry-run", "--force").status == 1


@pytest.fixture
def package(tmp_path: Path) -> Tree:
    """A package that is accepted."""
    return make_tree(tmp_path)


def archive(package: Tree, *more: object) -> Outcome:
    done = run("seal", package.folder, "--no-encryption", *more)
    assert (done.status == 0) is (package.folder.parent / "ACME.tar.gz").exists() or "--dry-run" in more
    return done


def test_a_package_is_checked_first(package: Tree) -> None:
    sealed = archive(package, "--format", "json")
    assert (sealed.status, sealed.document["official"]) == (0, "accepted")


def test_a_rejected_package_is_not_sealed_unless_asked(package: Tree) -> None:
    package.log().unlink()
    package.log(1).write_text("")
    done = archive(package)
    assert done.status == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Not sealed: The package to seal is rejected (") and "entry.run-count" in last
    dry = archive(package, "--dry-run", "--format", "json")
    assert (dry.status, dry.document["official"]) == (1, "rejected")
    assert archive(package, "--even-rejected").status == 0


def test_a_package_of_no_known_round_is_not_sealed_unless_it_is_named(package: Tree) -> None:
    above = package.folder.parent.rename(package.folder.parents[1] / "work")
    package = Tree(above / "ACME")
    done = archive(package)
    assert done.status == 1
    assert "The package cannot be checked" in done.stdout.splitlines()[-1] and "--round" in done.stdout
    assert archive(package, "--round", "1.0").status == 0


def _second_start(log: Log) -> None:
    """A later run_start, by which the run takes less time."""
    [start] = log.records("run_start")
    log.lines.insert(log.at("run_start") + 1, {**start, "time_ms": start["time_ms"] + 240_000})


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda log: log.put("submission_org", value="Globex"), "cross.org"),
        (_second_start, "run.interval-repeated"),
        (lambda log: log.put("run_stop", time_ms=1), "run.interval-negative"),
        (lambda log: log.put("run_start", time_ms=1), "run.interval-too-long"),
    ],
)
def test_a_package_with_review_errors_is_not_sealed_unless_asked(
    change: Callable[[Log], object], rule: str, package: Tree
) -> None:
    package.edit(change, 0)
    done = archive(package)
    assert done.status == 1
    assert done.stdout.splitlines()[-1] == "Not sealed: The package to seal has errors that a reviewer will raise"
    assert rule in done.stdout
    assert archive(package, "--even-with-errors").status == 0


UNFILLED = {
    "systems/rack1.json": ('{"cooling": "TODO"}', "cooling"),
    "systems/rack1.json ": ('{"cooling": "TODO: ask", "hw_notes": "not published"}', "cooling"),
    "benchmarks/resnet/rack1/README.md": ("# resnet\n\nTODO: how to run it\n", "line 3"),
    "benchmarks/resnet/rack1/rack1_mx.json": ('{"notes": "TODO: anything"}', "notes"),
    "benchmarks/resnet/rack1/setup.sh": ("# mlsub-template: fill this in\n", None),
    "benchmarks/resnet/rack1/run_and_time.sh": ('echo "$0 is a template that nobody has filled in." >&2\n', None),
}


@pytest.mark.parametrize("place", UNFILLED)
def test_what_is_not_filled_in_is_not_sealed_unless_asked(place: str, package: Tree) -> None:
    text, found = UNFILLED[place]
    file = package.folder / place.strip()
    if place.startswith("systems/"):
        text = json.dumps({**json.loads(file.read_text()), **json.loads(text)})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    done = archive(package, "--format", "json")
    assert done.status == 1
    assert [(f["rule"], f["path"], f["actual"]) for f in done.document["findings"]] == [
        ("seal.unfilled", f"ACME/{place.strip()}", found)
    ]
    assert archive(package, "--dry-run").stdout.splitlines()[-1] == (
        "Not sealed: Something in the package is not filled in"
    )
    assert archive(package, "--even-unfilled").status == 0


def test_nothing_hostile_is_taken_for_unfinished(package: Tree) -> None:
    folder = package.folder / "benchmarks/resnet/rack1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.json").write_text("[" * 100_000)
    (folder / "b.json").write_bytes(b"\xff{TODO}")
    (folder / "README.md").write_text("All TODOs are done; `TODO` is a word.\n")
    (package.folder / "main.py").write_text("# TODO: more tests\n")
    assert archive(package).status == 0


def test_the_form_of_openssl_says_what_it_is_not(place: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    done = run("seal", EVEN, tree(place), "--passphrase-file", place / "passphrase", "--legacy-openssl")
    assert done.status == 0
    said = "mlsub: openssl enc is not authenticated: whoever carries the file can change it."
    assert done.stderr.startswith(f"{NO_CODE}{said}")
    file = tree(place).parent / "ACME.tar.gz.enc"
    done = run("unseal", file, "-o", place / "out", "--passphrase-file", place / "passphrase")
    assert done.status == 0
    assert done.stderr == ("mlsub: openssl enc is not authenticated: whoever carried the file could have changed it\n")


ENDS = [
    (["seal", "TREE"], "give one of --recipient, --passphrase-file and --no-encryption."),
    (["seal", "TREE", "--no-encryption", "-r", "age1x"], "give one of --recipient, --passphrase-file"),
    (["seal", "TREE", "--no-encryption", "--legacy-openssl"], "--legacy-openssl needs --passphrase-file."),
    (["seal", "TREE", "-r", "age1x"], "mlsub seal: 'age1x' is not a public key."),
    (["seal", "TREE", "--passphrase-file", "HERE/nothing"], "mlsub seal: HERE/nothing cannot be read: No such file"),
    (["seal", "TREE", "--passphrase-file", "HERE/key.pub"], "the passphrase in HERE/key.pub is open to other users"),
    (["seal", "HERE/nothing", "--no-encryption"], "mlsub seal: HERE/nothing cannot be read: No such file"),
    (["seal", "HERE/key", "--no-encryption"], "mlsub seal: HERE/key is not a folder."),
    (["seal", "TREE", "--no-encryption", "-o", "HERE/no/where"], "mlsub seal: There is no folder HERE/no."),
    (["seal", "TREE", "--no-encryption", "-o", "HERE/key"], "mlsub seal: HERE/key exists. Add --force to replace it."),
    (["seal", "TREE", "--no-encryption", "-o", "TREE/x"], "mlsub seal: TREE/x lies in the tree"),
    (["seal", "TREE", "--no-encryption", "-o", "HERE/a\nb"], "mlsub seal: HERE/a\\nb cannot be the sealed file"),
    (["unseal", "HERE/nothing", "-o", "HERE/out"], "mlsub unseal: HERE/nothing cannot be read: No such file"),
    (["unseal", "HERE/key", "-o", "HERE/out"], "mlsub unseal: HERE/key is not a sealed file"),
    (["unseal", "HERE", "-o", "HERE/out"], "mlsub unseal: HERE cannot be read: Is a directory"),
    (["unseal", "HERE/key", "-o", "HERE/out", "--max-size", "much"], "'much' is not a size."),
    (["unseal", "HERE/key", "-o", "HERE/out", "-i", "HERE/key", "--passphrase-file", "x"], "exclude each other"),
    (["unseal", "HERE/key"], "Missing option"),
    (["unseal", "HERE/fifo", "-o", "HERE/out"], "HERE/fifo cannot be read: not a regular file"),
    (["unseal", "HERE/empty", "-o", "HERE/out"], "HERE/empty is not a sealed file"),
    (["unseal", "HERE/armor", "-o", "HERE/out"], "HERE/armor is age's text form (armor). Open it with age -d"),
    (["verify", "HERE/nothing"], "mlsub verify: HERE/nothing cannot be read: No such file"),
    (["verify", "TREE"], "mlsub verify: TREE/MANIFEST.sha256 cannot be read: No such file"),
    (["verify", "TREE", "-i", "HERE/key"], "mlsub verify: TREE is a folder: no key is needed."),
    (["verify", "TREE", "--manifest", "HERE/key"], "mlsub verify: HERE/key"),
    (["verify", "HERE/key", "--manifest", "HERE/key"], "--manifest is for a folder, and HERE/key is not one."),
]


@pytest.mark.parametrize(("arguments", "why"), ENDS)
def test_what_cannot_be_done_is_said_in_a_line(arguments: list[str], why: str, place: Path) -> None:
    (place / "key.pub").chmod(0o644)
    os.mkfifo(place / "fifo")
    (place / "empty").touch()
    (place / "armor").write_text("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n")
    before = states(place)

    def named(text: str) -> str:
        return text.replace("TREE", str(tree(place))).replace("HERE", str(place))

    done = run(*map(named, arguments))
    assert (done.status, done.stdout) == (2, "")
    assert named(why) in done.stderr.replace("Error: ", "")
    assert done.stderr.startswith("Usage:") or done.stderr.count("\n") == 1
    assert states(place) == before


@pytest.mark.parametrize(
    ("text", "size"), [("768", 768), ("768B", 768), ("1kB", 1000), ("1 KiB", 1024), ("2MB", 2000000), ("1gib", 1 << 30)]
)
def test_sizes(text: str, size: int, place: Path) -> None:
    from mlsub.commands.opening import parse_size

    assert parse_size(None, None, text) == size  # type: ignore[arg-type]


def test_more_than_was_allowed_is_refused(place: Path) -> None:
    run("seal", EVEN, tree(place), "--no-encryption", "-o", place / "s")
    done = run("unseal", place / "s", "-o", place / "out", "--max-size", "767")
    assert done.status == 1
    assert done.stdout.startswith("Not opened\n\nerror: unpacked it is more than 767 bytes [seal.too-much]\n")
    assert not (place / "out").exists()
    assert run("unseal", place / "s", "-o", place / "out", "--max-size", "768").status == 0


def test_a_narrow_terminal_and_an_output_of_few_characters(place: Path) -> None:
    (tree(place) / "größe\N{SNOWMAN}").symlink_to("/etc")
    done = call("seal", EVEN, tree(place), "--no-encryption", PYTHONIOENCODING="ascii", COLUMNS="20")
    assert (done.returncode, done.stderr) == (1, "")
    assert "in:     ACME/gr\\xf6\\xdfe\\u2603\n" in done.stdout
    assert "\x1b" not in done.stdout
