"""Seal and open a file in each of its forms, by the library or program of that form."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec

from mlsub.io import MlsubError
from mlsub.io.look import failing_as, file_digest, open_regular, without_panics
from mlsub.packing import age
from mlsub.packing.archive import Put, read_archive
from mlsub.packing.names import SHA1_SUFFIX
from mlsub.packing.tree import Checksums, DamagedError, RefusedError
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

#: Characters of the shortest passphrase that is taken.
MIN_PASSPHRASE = 12
#: Bytes of the longest; more is cut off by openssl without a word.
MAX_PASSPHRASE = 1000
_MAX_FILE = 64 * 1024
#: So many bytes of what is decrypted stay in memory; more goes through a file without a name.
_IN_MEMORY = 8 << 20


class Form(StrEnum):
    """The forms of a sealed file."""

    RECIPIENTS = "age v1, for recipients"
    PASSPHRASE = "age v1, with a passphrase"  # noqa: S105  (words, not a secret)
    OPENSSL = "openssl enc, not authenticated"
    ARCHIVE = "archive, not encrypted"

    @property
    def ending(self) -> str:
        """What the names of such files end with."""
        return {Form.OPENSSL: ".tar.gz.enc", Form.ARCHIVE: ".tar.gz"}.get(self, ".tar.gz.age")


class Key(msgspec.Struct, frozen=True):
    """What a file is sealed for or opened with; of no key, it is an archive.

    ``recipients`` are public keys, each of which can open it alone: ``age1...``, ``ssh-ed25519 ...``, ``ssh-rsa ...``.
    ``identities`` is the content of a file of secret keys: of age-keygen, or an SSH key that has no passphrase. A
    passphrase opens the form of ``openssl enc``, too; ``work_factor`` is log2 of scrypt's N.
    """

    form: Form
    recipients: tuple[str, ...] = ()
    identities: bytes = b""
    passphrase: bytes = b""
    work_factor: int = age.WORK_FACTOR

    def __repr__(self) -> str:
        return f"Key({self.form.name})"


def read_passphrase(file: Path) -> bytes:
    """Return the first line of a file, without its line end.

    Raises:
        MlsubError: no such file, others may read it, or the line is not a passphrase.
    """
    line = _content(file, "passphrase").split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line.decode("utf-8", "replace")) < MIN_PASSPHRASE:
        raise MlsubError(f"the first line of {file} has fewer than {MIN_PASSPHRASE} characters. Take a longer one.")
    if len(line) > MAX_PASSPHRASE or b"\x00" in line:
        raise MlsubError(
            f"the first line of {file} is not a passphrase: more than {MAX_PASSPHRASE} bytes, or NUL in it."
        )
    return line


def read_identities(file: Path) -> bytes:
    """Return the content of a key file; whether it is one shows when it is used.

    Raises:
        MlsubError: no such file, or others may read it.
    """
    return _content(file, "key")


def read_recipients(file: Path) -> tuple[str, ...]:
    """Return the public keys of a file, one a line; empty lines and comments (#) do not count.

    Raises:
        MlsubError: it cannot be read, or contains none.
    """
    try:
        keys = tuple(_lines(_content(file)))
    except UnicodeDecodeError as error:
        raise MlsubError(f"{file} is not a file of recipients: not UTF-8") from error
    if not keys:
        raise MlsubError(f"{file} names no recipient. One public key a line is expected.")
    return keys


def _lines(content: bytes) -> Iterator[str]:
    """Yield the lines of a file of keys."""
    for line in map(str.strip, content.decode().splitlines()):
        if line and not line.startswith("#"):
            yield line


def _content(file: Path, secret: str | None = None) -> bytes:
    """Return a small regular file; a secret one has to be its owner's alone."""
    with failing_as(f"{file} cannot be read"), open_regular(file) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if secret and os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise MlsubError(f"the {secret} in {file} is open to other users: chmod 600 it first.")
        content = stream.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise MlsubError(f"{file} is too long for what it should hold.")
    return content


def check_key(key: Key | None) -> None:
    """Find out beforehand what would keep a key from sealing, or what it seals from being opened.

    Raises:
        MlsubError: a public key is none, which is named; they are too many; or there is no program openssl.
    """
    if key is not None and key.form is Form.OPENSSL:
        find_openssl()
    if key is not None and key.recipients:
        encrypt(BytesIO(), sealed := BytesIO(), key)
        sealed.seek(0)
        try:
            age.check_header(sealed)
        except DamagedError as error:
            raise MlsubError(f"it cannot be sealed for {len(key.recipients):,} recipients: {error}.") from error


def encrypt(source: IO[bytes], target: IO[bytes], key: Key) -> None:
    """Seal one stream into another.

    Raises:
        MlsubError: the library or the program refuses.
    """
    if key.form is Form.PASSPHRASE:
        target.writelines(age.encrypt(source, key.passphrase, key.work_factor))
    elif key.form is Form.OPENSSL:
        if (complaint := _run_openssl("-e", source, target, key.passphrase)) is not None:
            raise MlsubError(f"openssl failed: {complaint}")
    else:
        pyrage = _pyrage()
        public = [parse_recipient(each) for each in key.recipients]
        try:
            pyrage.encrypt_io(source, target, public)
        except pyrage.EncryptError as error:
            raise MlsubError(f"it cannot be sealed: {error}") from error


def decrypt(source: IO[bytes], target: IO[bytes], form: Form, key: Key) -> None:
    """Open one stream into another, in which parts may lie where it is damaged.

    Raises:
        DamagedError: it is damaged or cut short, or the key does not fit (WrongKeyError).
        MlsubError: the key file does not hold keys, or a library or program is missing.
    """
    if form is Form.PASSPHRASE:
        target.writelines(age.decrypt(source, key.passphrase))
    elif form is Form.OPENSSL:
        complaint = _run_openssl("-d", source, target, key.passphrase)
        # A passphrase that does not fit mostly fails at the end, and always gives something else.
        target.seek(0)
        if target.read(2) != _ARCHIVE_START:
            raise age.WrongKeyError("the passphrase does not fit")
        if complaint is not None:
            raise DamagedError("the passphrase does not fit, or the file is damaged")
    else:
        _decrypt_age(source, target, parse_identities(key.identities))


def _decrypt_age(source: IO[bytes], target: IO[bytes], keys: list[Any]) -> None:
    pyrage = _pyrage()
    age.check_header(source)
    try:
        with without_panics("it cannot be opened"):
            pyrage.decrypt_io(source, target, keys)
    except pyrage.DecryptError as error:
        if "o matching keys" in str(error):
            raise age.WrongKeyError(str(error)) from error
        raise DamagedError("its header is damaged") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # The library reports damage as it reports a disk that cannot be read.
        raise DamagedError("its content is damaged or cut short") from error


def _pyrage() -> Any:
    try:
        import pyrage.ssh
        import pyrage.x25519
    except ImportError as error:
        raise MlsubError("recipients and keys need the package pyrage: pip install pyrage") from error
    return pyrage


def parse_recipient(key: str) -> Any:
    """Return a public key as the library has it.

    Raises:
        MlsubError: it is not one.
    """
    pyrage = _pyrage()
    kind = pyrage.ssh if key.startswith("ssh-") else pyrage.x25519
    message = f"{key[:80]!r} is not a public key. Expected age1..., ssh-ed25519 ... or ssh-rsa ..."
    if key.startswith("AGE-SECRET-KEY-"):
        message = "a secret key is given as recipient. Give the public key, which begins with age1."
    try:
        with without_panics(message):
            return kind.Recipient.from_str(key.strip())
    except pyrage.RecipientError as error:
        raise MlsubError(message) from error


def parse_identities(content: bytes) -> list[Any]:
    """Return the keys of a file: one SSH key, or lines of age's.

    Raises:
        MlsubError: it does not hold keys.
    """
    pyrage = _pyrage()
    message = "the key file cannot be used: expected AGE-SECRET-KEY-1... a line, or an SSH key that has no passphrase"
    try:
        with without_panics(message):
            if content.lstrip().startswith(b"-----BEGIN"):
                return [pyrage.ssh.Identity.from_buffer(content)]
            keys = [pyrage.x25519.Identity.from_str(line) for line in _lines(content)]
    except (pyrage.IdentityError, UnicodeDecodeError) as error:
        raise MlsubError(message) from error
    if not keys:
        raise MlsubError("the key file contains no key: expected AGE-SECRET-KEY-1... a line")
    return keys


#: The rounds and the digest are those of ``openssl enc -pbkdf2`` when nothing is said; said, so that no build differs.
_OPENSSL = ("-aes-256-cbc", "-md", "sha256", "-pbkdf2", "-iter", "10000", "-salt")


def find_openssl() -> str:
    """Return where the program is.

    Raises:
        MlsubError: nowhere.
    """
    found = shutil.which("openssl")
    if found is None:
        raise MlsubError("there is no program openssl, which this form needs. Install it, or seal in another form.")
    return found


def _run_openssl(way: str, source: IO[bytes], target: IO[bytes], passphrase: bytes) -> str | None:
    """Run the program from one file to another, and return what it says when it fails; None where it does not.

    The passphrase goes through a pipe: arguments and environment can be seen by others.
    """
    path = find_openssl()
    source.flush()
    os.lseek(source.fileno(), 0, os.SEEK_SET)
    reading, writing = os.pipe()
    try:
        os.write(writing, passphrase + b"\n")
        os.close(writing)
        with failing_as(f"{path} cannot be run"):
            done = subprocess.run(  # noqa: S603  (fixed arguments, nothing of the input)
                [path, "enc", way, *_OPENSSL, "-pass", f"fd:{reading}"],
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                pass_fds=(reading,),
                check=False,
            )
    finally:
        os.close(reading)
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return lines[0] if lines else f"exit status {done.returncode}"


_ARCHIVE_START = b"\x1f\x8b"
#: The first bytes of each form; the first that fits counts.
_STARTS = (
    (age.PASSPHRASE_START, Form.PASSPHRASE),
    (age.VERSION, Form.RECIPIENTS),
    (b"Salted__", Form.OPENSSL),
    (_ARCHIVE_START, Form.ARCHIVE),
)


def form_of(file: Path) -> Form:
    """Return what the first bytes of a sealed file say; whether the rest fits, opening shows.

    Raises:
        MlsubError: it cannot be read, or is none of the forms.
    """
    with failing_as(f"{file} cannot be read", ". Name a sealed file."), open_regular(file) as stream:
        start = stream.read(256)
    for first, form in _STARTS:
        if start.startswith(first):
            return form
    if start.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----"):
        raise MlsubError(f"{file} is age's text form (armor). Open it with age -d, and give the archive.")
    raise MlsubError(f"{file} is not a sealed file: not an age file, an openssl enc file or an archive.")


def check_opener(file: Path, form: Form, key: Key | None) -> None:
    """Find out whether a key is of the kind that a sealed file needs.

    A key for a file that is not encrypted is refused, not ignored: whoever gives one expects
    that nobody else wrote the file.

    Raises:
        MlsubError: it is not.
    """
    if form is Form.ARCHIVE:
        if key is not None:
            why = "so no key says who made it. Leave the key out if that is expected."
            raise MlsubError(f"{file} is not encrypted, {why}")
    elif form is Form.RECIPIENTS and (key is None or key.form is not Form.RECIPIENTS):
        raise MlsubError(f"{file} is sealed for recipients. Give the secret key of one with --identity.")
    elif form is not Form.RECIPIENTS and (key is None or key.form is Form.RECIPIENTS):
        raise MlsubError(f"{file} is sealed with a passphrase. Give it with --passphrase-file.")


def read_sealed(
    file: Path, form: Form, key: Key | None, put: Put, max_size: int | None = None, progress: Progress | None = None
) -> tuple[Checksums, int]:
    """Read a sealed file of a form as :func:`~mlsub.packing.archive.read_archive` does, with a key of that form.

    Raises:
        MlsubError: it cannot be read, or the key does not fit.
        RefusedError: damaged, cut short, or holding what is never unpacked; members may have been put.
    """
    try:
        with open_regular(file) as stream, SpooledTemporaryFile(_IN_MEMORY) as plain:
            if form is Form.ARCHIVE or key is None:
                return read_archive(stream, put, max_size, progress)
            with failing_as(f"{file} cannot be read"):
                decrypt(stream, plain, form, key)
            return read_archive(plain, put, max_size, progress)
    except age.WrongKeyError as error:
        what = "key" if form is Form.RECIPIENTS else "passphrase"
        beginning = "it" if form is Form.OPENSSL else "its beginning"
        raise MlsubError(f"{file} is not opened by this {what}, or {beginning} is damaged.") from error
    except DamagedError as error:
        raise RefusedError(finding("seal.damaged", file.name, f"the file is not as it was sealed: {error}")) from error


def check_sha1(file: Path) -> tuple[str, ...]:
    """Compare a file of ``openssl enc`` with the SHA-1 beside it, and return what there is to mind.

    Raises:
        RefusedError: the SHA-1 is another.
        MlsubError: it cannot be read.
    """
    note = "openssl enc is not authenticated: whoever carried the file could have changed it"
    beside = file.with_name(file.name + SHA1_SUFFIX)
    with failing_as(f"{file} cannot be compared with its SHA-1"):
        if not beside.is_file():
            return (note, f"there is no {beside.name} beside it: its SHA-1 was not checked")
        with open_regular(beside) as stream:
            expected = stream.read(40).decode("ascii", "replace").lower()
        actual = file_digest(file, "sha1")
    if actual != expected:
        message = "the SHA-1 of the file is not that beside it"
        raise RefusedError(finding("seal.damaged", file.name, message, expected=expected, actual=actual))
    return (note,)
