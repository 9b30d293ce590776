"""age files, key files and manifests: what mlsub opens, the library of age opens as the same bytes."""

from __future__ import annotations

import base64
import random
import re
from io import BytesIO
from pathlib import Path

from mlsub.commands.seal import age, recipients
from mlsub.commands.seal.names import name_problem
from mlsub.commands.seal.receipt import sealed_digest
from mlsub.commands.seal.streams import DamagedError
from mlsub.commands.seal.tree import differences, parse_manifest
from mlsub.io.errors import MlsubError
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.opening import check_opening
from tests.campaigns.fuzz.provider import Provider, one_in
from tests.campaigns.fuzz.sealing import PASSPHRASE, opened_by_pyrage, recipient

_CORPUS = Path(__file__).parents[1] / "corpus"
#: Asks for so much work that it is tested elsewhere; each takes up to a second, and 1 GiB.
_COSTLY = re.compile(rb"-> scrypt \S+ (?:1[1-9]|20)\n")


def _decrypted(sealed: bytes, *, passphrase: bool) -> bytes | None:
    """What mlsub decrypts; None where it refuses."""
    stream, secret = BytesIO(sealed), recipient()[1].content
    chunks = age.decrypt(stream, PASSPHRASE.secret) if passphrase else recipients.decrypt(stream, secret)
    try:
        return b"".join(chunks)
    except (DamagedError, MlsubError):
        return None


def _same_as_pyrage(sealed: bytes, *, passphrase: bool) -> None:
    ours = _decrypted(sealed, passphrase=passphrase)
    theirs = opened_by_pyrage(sealed, passphrase=passphrase)
    if ours is not None and ours != theirs:
        raise BrokenError(f"mlsub decrypts {ours[:50]!r}, age {theirs and theirs[:50]!r}")
    if ours is None and theirs is not None and passphrase and age._HEADER.match(sealed):
        raise BrokenError("age decrypts what mlsub calls damaged")


def _file(data: bytes) -> None:
    """Bytes as an age file; one in sixteen is opened on a disk too."""
    if _COSTLY.search(data[:400]):
        return
    passphrase = data.startswith(age.PASSPHRASE_START)
    _same_as_pyrage(data, passphrase=passphrase)
    if one_in(16, data, b"disk") and data.startswith(age.VERSION):
        key = PASSPHRASE if passphrase else recipient()[1]
        check_opening(data, key, opened_by_pyrage(data, passphrase=passphrase))


#: Around the 64 KiB of a chunk, and far below.
_SIZES = (65536, 65536, 0, 1, 100, 65535, 65537)
_FACTORS = (b"1", b"2", b"01", b"0", b"99", b"-1", b"+1", b"1 1", b"x", b"")


def _age_of(program: bytes) -> bytes:
    """The age file that a program says: its header has a MAC that fits, and each chunk is authentic by itself."""
    said = Provider(program)
    how = said.byte()
    salt, file_key, nonce = bytes(range(16)), bytes(16), bytes(range(16, 32))
    factor = _FACTORS[0] if how & 3 else said.one_of(_FACTORS)
    wrapped = age._cipher(age._scrypt(PASSPHRASE.secret, salt, 1)).encrypt(bytes(12), file_key, None)
    stanza = b"-> scrypt %s %s\n%s\n" % (age._encode(salt), factor, age._encode(wrapped))
    more = said.content() if how & 12 == 12 else b""
    header = age.VERSION + (more + stanza if how & 16 else stanza + more) + b"---"
    mac = age._encode(age._mac(file_key, header))
    sealed = header + b" " + mac + b"\n" + nonce
    cipher = age._cipher(age._derive(file_key, nonce, b"payload"))
    count = 1 + said.below(3)
    for number in range(count):
        flags, size = said.byte(), said.one_of(_SIZES)
        last = (number == count - 1) != (flags & 7 == 7)
        place = number + (1 if flags & 56 == 56 else 0)
        sealed += cipher.encrypt(age._nonce(place, last=last), bytes([number]) * size, None)
    return sealed + said.content()


def _chunks(data: bytes) -> None:
    """Bytes as a program that says which chunks an age file has, each of them authentic."""
    sealed = _age_of(data)
    if not _COSTLY.search(sealed[:400]):
        _same_as_pyrage(sealed, passphrase=True)


def _keys(data: bytes) -> None:
    """Bytes as a file of secret keys and as public keys; after a zero, as what is in base64 in these."""
    if data[:1] == b"\0":
        whole = base64.b64encode(data[1:])
        head, *inside, end = b"-----BEGIN OPENSSH PRIVATE KEY-----", whole, b"-----END OPENSSH PRIVATE KEY-----"
        _keys(b"\n".join((head, *inside, end)))
        data = b"ssh-rsa " + whole
    try:
        recipients._identities(data)
    except MlsubError as error:
        _one_line(error)
    for line in data.decode("utf-8", "replace").split("\n")[:20]:
        try:
            recipients._recipient(line)
        except MlsubError as error:
            _one_line(error)


def _one_line(error: Exception) -> None:
    if len(str(error)) > 500:
        raise BrokenError(f"a message of {len(str(error))} characters")


def _manifest(data: bytes) -> None:
    """Bytes as a manifest, what reads it back as itself, and as a receipt."""
    found = sealed_digest(data.decode("utf-8", "replace"))
    if found and (found[0] < 0 or not re.fullmatch("[0-9a-f]{64}", found[1])):
        raise BrokenError(f"a receipt of {found}")
    try:
        listed = parse_manifest(data, "MANIFEST.sha256")
    except MlsubError:
        return
    for path in (*listed.files, *listed.links, *listed.folders):
        if name_problem(path) or (path.split("/")[0] != listed.top and path in listed.files):
            raise BrokenError(f"{path!r} passed")
    again = parse_manifest(listed.render(), "MANIFEST.sha256")
    if list(differences(listed, again)) or again.render() != listed.render():
        raise BrokenError("it does not read back as itself")
    fewer = parse_manifest(b"%064d  %s\n" % (0, listed.top.encode() + b"/-"), "MANIFEST.sha256")
    if not list(differences(listed, fewer)):
        raise BrokenError("it is the same as another manifest")


def _seeds(name: str) -> list[bytes]:
    return sorted((path.read_bytes() for path in (_CORPUS / name).iterdir()), key=len)


def _programs(rng: random.Random) -> bytes:
    return bytes([rng.choice((1, 1, 0, 13, 29)), rng.randrange(3)]) + rng.randbytes(rng.randrange(2, 9))


_PROGRAMS = (
    b"\1\0\0\4",
    b"\1\1\0\0\0\4",
    b"\1\2\0\0\0\0\0\2",
    b"\1\1\0\0\7\4",
    b"\x0d-> grease\nYQ\n\xff\0\0\4",
    b"\0\x04\0\0\0\4",
)
_DIGEST = b"0123456789abcdef" * 4
_MANIFESTS = (
    b"%s  T/a\n" % _DIGEST,
    b"%s *T/a\n# link\tT/l\ta\n# folder\tT/e\n\n# a comment\n" % _DIGEST,
    "".join(f"{_DIGEST.decode()}  T/{name}\n" for name in ("ä", "漢 字", "b  c")).encode(),
    b"Receipt\n\nsealed file:  a.age\nbytes:        300\nSHA-256:      %s\n" % _DIGEST,
)
_MANIFEST_WORDS = (
    _DIGEST,
    b"# link\t",
    b"# folder\t",
    b"\t",
    b"../",
    b"/",
    "\u2028".encode(),
    b"\r",
    b"\x85",
    b"sealed file: ",
)
_KEYS = (
    b"AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG\n",
    b"# a comment\nage13aqvttdk3ujkyjh9kg2w5an6dmy5mq5a84a4uxk3hfhnugfc9p0sy5p2wh\n",
    b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a\n",
    b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----\n",
    b"-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n",
)
#: The inside of an SSH key: its type, a public exponent and a modulus.
_WIRE = b"\0" + b"\0\0\0\7ssh-rsa" + b"\0\0\0\3\1\0\1" + b"\0\0\0\x09\0" + bytes(range(129, 137))
_KEY_WORDS = (
    b"AGE-SECRET-KEY-1",
    b"age1",
    b"ssh-rsa ",
    b"ssh-ed25519 ",
    b"-----BEGIN ",
    b"AAAAB3NzaC1yc2EAAAADAQABAAAAgQ",
    b"#",
)
_AGE_WORDS = (b"-> scrypt ", b"-> X25519 ", b"-> ssh-rsa ", b"\n--- ", b"-> a\n\n", b"-> grease x\nYQ\n", age.VERSION)

HARNESSES = (
    Harness("archive-age", "age files", _file, lambda: _seeds("archive-age"), _AGE_WORDS),
    Harness("archive-chunks", "chunks of age files", _chunks, lambda: _PROGRAMS, (), _programs, 500),
    Harness("archive-keys", "key files", _keys, lambda: (*_KEYS, _WIRE), _KEY_WORDS, longest=5_000),
    Harness("archive-manifest", "manifests and receipts", _manifest, lambda: _MANIFESTS, _MANIFEST_WORDS),
)
