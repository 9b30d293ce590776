"""The list of digests as an in-toto Statement, which any signer can sign, and what signers make of one.

See https://github.com/in-toto/attestation/tree/main/spec/v1. A signer puts the statement into an envelope of DSSE, and
Sigstore that into a bundle. Signatures are not looked at here.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec

from mlsub.io import MlsubError

#: What a manifest lists: its place there, file, link, folder or round, its path or name, and its digest or target.
Listed = tuple[str, str, str, str]


class SubjectDigest(msgspec.Struct, frozen=True):
    """The digest of a file."""

    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Subject(msgspec.Struct, frozen=True):
    """A file of the tree by its path, which begins with the tree's name, or by its name alone the sealed file."""

    name: str
    digest: SubjectDigest


class SealedTree(msgspec.Struct, frozen=True):
    """What was sealed, besides files: as in :class:`mlsub.packing.tree.Checksums`, and the receipt."""

    links: Mapping[str, str]
    folders: tuple[str, ...]
    round: Annotated[str, msgspec.Meta(pattern=r"^([a-z]+_v[0-9.]{1,9})?\Z")]
    # Nobody reads it, and what somebody else put there takes no memory.
    receipt: msgspec.Raw = msgspec.Raw(b"null")


class SealStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement on a sealed tree; what else signers and their rules add is passed over, as the specification asks."""

    statement_type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:mlsub:sealed-submission:v1"] = msgspec.field(name="predicateType")
    predicate: SealedTree

    def listed(self, where: str) -> Iterator[Listed]:
        """Yield what it lists of the tree; a subject that lies in no folder is the sealed file."""
        for number, subject in enumerate(self.subject, 1):
            if "/" in subject.name:
                yield f"{where}: subject {number}", "file", subject.name, subject.digest.sha256
        yield from ((f"{where}: links", "link", path, target) for path, target in self.predicate.links.items())
        yield from ((f"{where}: folders", "folder", path, "") for path in self.predicate.folders)
        if self.predicate.round:
            yield where, "round", self.predicate.round, ""


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    payload_type: Literal["application/vnd.in-toto+json"]
    payload: str


def render_statement(files: Mapping[str, str], sealed: SealedTree) -> bytes:
    """Return a statement on files, SHA-256 by path, as JSON."""
    subject = tuple(Subject(path, SubjectDigest(digest)) for path, digest in files.items())
    made = SealStatement(
        statement_type="https://in-toto.io/Statement/v1",
        subject=subject,
        predicate_type="urn:mlsub:sealed-submission:v1",
        predicate=sealed,
    )
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def parse_statement(content: bytes, where: str) -> tuple[SealStatement, bool]:
    """Return a statement, and whether it lies in an envelope with signatures.

    Raises:
        MlsubError: it is no statement of ``seal``; ``where`` is what the message calls it.
    """
    try:
        keys = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        if bundled := keys.get("dsseEnvelope"):
            content = bytes(bundled)
            keys = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        if signed := "payload" in keys:
            payload = msgspec.json.decode(content, type=_Envelope).payload
            # Both alphabets are allowed.
            content = b64decode(payload.replace("-", "+").replace("_", "/"), validate=True)
        return msgspec.json.decode(content, type=SealStatement), signed
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise MlsubError(f"{where} is not a statement of mlsub seal: {str(error)[:300]}.") from error
