"""The manifest: one line a file, as ``sha256sum -c`` reads it; links and empty folders in comments.

    <64 hexadecimal digits>  ACME/systems/rack1.json
    # link<TAB>ACME/latest<TAB>results
    # folder<TAB>ACME/empty

Paths never hold control characters (:mod:`mlsub.commands.seal.names`), so nothing in it needs escaping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from mlsub.commands.seal.names import name_problem
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.rules.catalogue import finding

#: Bytes of a manifest that is read: more than a million lines.
MAX_MANIFEST = 128 << 20
_FILE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_LINK = re.compile(r"# link\t([^\t]+)\t([^\t]+)")
_FOLDER = re.compile(r"# folder\t([^\t]+)")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree holds: SHA-256 of each file by path, target of each link, and the empty folders."""

    files: Mapping[str, str]
    links: Mapping[str, str] = {}
    folders: tuple[str, ...] = ()

    def render(self) -> bytes:
        """The text, sorted, in UTF-8, each line ended by a line feed."""
        lines = [f"{self.files[path]}  {path}" for path in sorted(self.files)]
        lines += [f"# link\t{path}\t{self.links[path]}" for path in sorted(self.links)]
        lines += [f"# folder\t{path}" for path in sorted(self.folders)]
        return "".join(f"{line}\n" for line in lines).encode()

    @property
    def top(self) -> str:
        """The name of the tree."""
        return next(iter(self.files)).split("/")[0]


def parse_manifest(content: bytes, where: str) -> Manifest:
    """Read a manifest, of ``seal`` or of ``sha256sum``.

    Raises:
        MlsubError: a line is not one of a manifest; ``where`` is what the message calls it.
    """
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    folders: list[str] = []
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise MlsubError(f"{where} is not a manifest: not UTF-8") from error
    for number, line in enumerate(lines, 1):
        if match := _FILE.fullmatch(line):
            path = match[2]
            if path in files:
                raise MlsubError(f"{where}:{number}: {path} for the second time")
            files[path] = match[1]
        elif match := _LINK.fullmatch(line):
            path = match[1]
            links[path] = match[2]
        elif match := _FOLDER.fullmatch(line):
            path = match[1]
            folders.append(path)
        elif not line or line.startswith("#"):
            continue
        else:
            raise MlsubError(f"{where}:{number}: not a line of a manifest. Expected 64 hexadecimal digits and a path.")
        if name_problem(path):
            raise MlsubError(f"{where}:{number}: {name_problem(path)}")
    if not files:
        raise MlsubError(f"{where} is not a manifest: it names no file.")
    if len({path.split("/")[0] for path in files}) > 1:
        raise MlsubError(f"{where} names files of more than one tree.")
    return Manifest(files=files, links=links, folders=tuple(folders))


def differences(listed: Manifest, found: Manifest) -> Iterator[Finding]:
    """What is there against what the manifest lists, sorted by path; nothing where they agree."""
    empty = dict.fromkeys(listed.folders, ""), dict.fromkeys(found.folders, "")
    pairs = (
        ("a file", listed.files, found.files),
        ("a link", listed.links, found.links),
        ("an empty folder", *empty),
    )
    changes = []
    for kind, old, new in pairs:
        for path in {*old, *new}:
            if path not in new:
                changes.append(finding("seal.missing", path, f"{kind} of the manifest is not there"))
            elif path not in old:
                changes.append(finding("seal.extra", path, f"{kind} is there that the manifest does not list"))
            elif old[path] != new[path]:
                aspect = "SHA-256" if kind == "a file" else "target"
                message = f"{kind} has another {aspect} than the manifest"
                changes.append(finding("seal.differs", path, message, expected=old[path], actual=new[path]))
    yield from sorted(changes, key=lambda change: (change.path, change.rule))
