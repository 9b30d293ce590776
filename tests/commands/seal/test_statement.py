"""``seal --statement`` and ``verify``: the digests as an in-toto Statement, alone and as signers wrap it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.seal.run import SealOptions, seal_tree
from mlsub.commands.verify.run import verify_tree
from mlsub.io import MlsubError
from mlsub.io.look import file_digest
from mlsub.packing.tree import parse_checksums, read_checksums
from tests.commands.seal.trees import plant, snapshot
from tools.support.runner import run

NOTE = "mlsub: the signature of the statement was not checked: the signer's program does, such as cosign\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A tree, sealed without encryption, and its statement."""
    seal_tree(plant(tmp_path), tmp_path / "s", None, SealOptions(statement=tmp_path / "s.json"))
    return tmp_path


def tree(place: Path) -> Path:
    return place / "training_results_v1.0" / "ACME"


def enveloped(statement: bytes, encode: Callable[[bytes], bytes] = base64.b64encode) -> dict[str, Any]:
    signatures = [{"keyid": "", "sig": "bm9uZQ=="}]
    payload = encode(statement).decode()
    return {"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": signatures}


def bundled(statement: bytes) -> dict[str, Any]:
    kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
    return {"mediaType": kind, "verificationMaterial": {}, "dsseEnvelope": enveloped(statement)}


def test_a_statement_says_what_was_sealed(place: Path) -> None:
    found = json.loads((place / "s.json").read_bytes())
    assert list(found) == ["_type", "subject", "predicateType", "predicate"]
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "urn:mlsub:sealed-submission:v1"
    digests = {one["name"]: one["digest"] for one in found["subject"]}
    files = {path for path, what in snapshot(tree(place)).items() if what[0] == "file"}
    assert digests.keys() == {"s", *(f"ACME/{path}" for path in files)}
    assert digests.pop("s") == {"sha256": file_digest(place / "s")}
    assert digests == {path: {"sha256": file_digest(tree(place).parent / path)} for path in digests}
    predicate = found["predicate"]
    assert predicate["links"] == {"ACME/latest": "results/rack1"}
    assert (predicate["folders"], predicate["round"]) == (["ACME/results/empty"], "training_v1.0")
    assert predicate["receipt"]["organisation"] == "ACME"
    assert predicate["receipt"]["sha256"] == file_digest(place / "s")


def test_it_lists_what_the_manifest_lists(place: Path) -> None:
    assert read_checksums(place / "s.json") == read_checksums(place / "s.MANIFEST.sha256")


#: As a signer hands it on, and whether there is a signature around it.
FORMS: dict[str, tuple[Callable[[bytes], Any], bool]] = {
    "alone": (json.loads, False),
    "an envelope": (enveloped, True),
    "an envelope in the other alphabet": (lambda statement: enveloped(statement, base64.urlsafe_b64encode), True),
    "a bundle": (bundled, True),
}


@pytest.mark.parametrize(("wrap", "signed"), FORMS.values(), ids=FORMS)
def test_a_tree_is_compared_with_it_however_it_is_wrapped(
    wrap: Callable[[bytes], Any], signed: bool, place: Path
) -> None:
    (place / "given.json").write_text(json.dumps(wrap((place / "s.json").read_bytes())))
    done = run("verify", tree(place), "--manifest", place / "given.json")
    assert (done.status, done.stderr) == (0, NOTE if signed else "")
    assert " ".join(done.stdout.split()).startswith("Verification Nothing differs:")
    (tree(place) / "systems" / "rack1.json").write_text("{}")
    (tree(place) / "run.sh").unlink()
    (tree(place) / "latest").unlink()
    (tree(place) / "results" / "empty").rmdir()
    (tree(place) / "new").touch()
    assert [(one.rule, one.path) for one in verify_tree(tree(place), place / "given.json").findings] == [
        ("seal.missing", "ACME/latest"),
        ("seal.extra", "ACME/new"),
        ("seal.missing", "ACME/results/empty"),
        ("seal.missing", "ACME/run.sh"),
        ("seal.differs", "ACME/systems/rack1.json"),
    ]
    assert run("verify", tree(place), "--manifest", place / "given.json").status == 1


def changed(**fields: Any) -> Callable[[bytes], bytes]:
    return lambda statement: json.dumps({**json.loads(statement), **fields}).encode()


def subject(name: str, digest: str = "0" * 64) -> Callable[[bytes], bytes]:
    return changed(subject=[{"name": name, "digest": {"sha256": digest}}])


def predicate(**fields: Any) -> Callable[[bytes], bytes]:
    return lambda statement: changed(predicate={**json.loads(statement)["predicate"], **fields})(statement)


#: What somebody hands on as a statement, and what is said of it.
REFUSED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "torn": (lambda statement: statement[:200], "is not a statement of mlsub seal: Input data was truncated."),
    "not UTF-8": (lambda _: b'{"_type": "\xff"}', "is not a statement of mlsub seal: "),
    "deep": (lambda _: b'{"_type": ' + b"[" * 200_000, "is not a statement of mlsub seal: "),
    "nothing in it": (lambda _: b"{}", "Object missing required field `_type`."),
    "of another version": (changed(_type="https://in-toto.io/Statement/v0.1"), "Invalid enum value"),
    "of something else": (changed(predicateType="https://slsa.dev/provenance/v1"), "Invalid enum value"),
    "a long type": (changed(_type="x" * 100_000), "is not a statement of mlsub seal: Invalid enum value 'xxx"),
    "a digest that is none": (subject("ACME/a", "0" * 63), "matching regex"),
    "a digest with a line": (subject("ACME/a", "0" * 64 + "\n"), "matching regex"),
    "out of the tree": (subject("ACME/../../a"), "subject 1: the path leads upwards (..)"),
    "control characters": (subject("ACME/a\nb"), "subject 1: the name has control characters"),
    "no file": (subject("s"), "is not a manifest: it names no file."),
    "links out": (predicate(links={"../a": "b"}), "links: the path leads upwards (..)"),
    "folders out": (predicate(folders=["/etc"]), "folders: the path is absolute"),
    "a round that is none": (predicate(round="training_v1.0\nx"), "matching regex"),
    "an envelope of something else": (
        lambda statement: json.dumps({**enveloped(statement), "payloadType": "text/plain"}).encode(),
        "Invalid enum value 'text/plain'",
    ),
    "an envelope torn": (
        lambda statement: json.dumps({**enveloped(statement), "payload": "e30*"}).encode(),
        "is not a statement of mlsub seal: ",
    ),
    "a bundle without envelope": (lambda _: b'{"dsseEnvelope": null}', "Expected `object`, got `null`."),
    "an envelope in an envelope": (
        lambda statement: json.dumps(enveloped(json.dumps(enveloped(statement)).encode())).encode(),
        "Object missing required field `_type`.",
    ),
}
REFUSED["two trees"] = (
    changed(subject=[{"name": name, "digest": {"sha256": "0" * 64}} for name in ("ACME/a", "OTHER/a")]),
    "names files of more than one tree.",
)
REFUSED["a file twice"] = (
    changed(subject=[{"name": "ACME/a", "digest": {"sha256": digit * 64}} for digit in "01"]),
    "subject 2: ACME/a for the second time",
)


@pytest.mark.parametrize(("make", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_statement_is_refused_in_one_line(make: Callable[[bytes], bytes], said: str, place: Path) -> None:
    (place / "given.json").write_bytes(make((place / "s.json").read_bytes()))
    done = run("verify", tree(place), "--manifest", place / "given.json")
    assert (done.status, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith(f"mlsub verify: {place / 'given.json'}")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 600 + len(str(place))


def test_the_command_writes_one_and_replaces_what_sealing_wrote(place: Path) -> None:
    def seal(*more: object) -> tuple[int, str]:
        words = ("--no-encryption", "--even-rejected", "--statement", place / "far" / "own.json", *more)
        done = run("seal", tree(place), "-o", place / "o", *words)
        return done.status, done.stderr.partition("see mlsub check\n")[2]

    (place / "far").mkdir()
    assert seal("--dry-run") == (0, "")
    assert list((place / "far").iterdir()) == []
    assert seal() == (0, "")
    first = (place / "far" / "own.json").read_bytes()
    assert seal("--force") == (0, "")
    assert (place / "far" / "own.json").read_bytes() != first
    assert [file.name for file in (place / "far").iterdir()] == ["own.json"]
    (place / "far" / "own.json").write_text("signed")
    assert seal("--force") == (0, f"mlsub: a file that sealing did not write is kept as {place}/far/own.json.~1~\n")
    assert (place / "far" / "own.json.~1~").read_text() == "signed"


#: Where a statement may not be written, and what is said; the sealed file is o.
ELSEWHERE = {
    "o": "has the name of another file that is written. Name another statement.",
    "o.receipt.txt": "has the name of another file that is written. Name another statement.",
    "s.json": "exists. Add --force to replace it.",
    "none/s.json": "There is no folder {place}/none. Make it, or name another file.",
    "training_results_v1.0/ACME/s.json": "lies in the tree that is to be sealed. Name a file outside of it.",
}


@pytest.mark.parametrize(("name", "said"), ELSEWHERE.items(), ids=ELSEWHERE)
def test_a_statement_has_a_place_of_its_own(name: str, said: str, place: Path) -> None:
    before = snapshot(place)
    done = run(
        "seal", tree(place), "-o", place / "o", "--no-encryption", "--even-rejected", "--statement", place / name
    )
    assert (done.status, said.format(place=place) in done.stderr) == (2, True)
    assert snapshot(place) == before


def test_an_archive_has_a_manifest_and_no_statement(place: Path) -> None:
    """What is opened is checked by the list that ``sha256sum`` reads."""
    with pytest.raises(MlsubError, match="not a line of a manifest"):
        parse_checksums((place / "s.json").read_bytes(), "MANIFEST.sha256")
