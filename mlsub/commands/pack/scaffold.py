"""Templates for files that the submission rules ask for and nobody has: beside the manifest, among what is packed.

Never in the package: it is replaced as a whole. What somebody filled in there is taken over into the sources.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.manifest import Manifest
from mlsub.commands.pack.plan import planned_entries
from mlsub.io.errors import MlsubError
from mlsub.io.write import make_folder, write_file
from mlsub.submission.layout.audit import CODE_USAGES
from mlsub.submission.layout.templates import Template, is_unfilled, templates

#: A template that has been filled in is text; more than this is something else.
_MAX_FILLED = 1 << 24


class Scaffolded(msgspec.Struct, frozen=True):
    """A file to begin with, and its place in the package, from which it comes if somebody ``filled`` it in there."""

    file: Path
    to: str
    content: bytes
    executable: bool
    filled: bool

    @property
    def item(self) -> PlanItem:
        """The file as a part of the package."""
        made = "what was filled in there"
        return PlanItem(to=self.to, content=self.content, made=made, executable=self.executable)


def missing_files(manifest: Manifest, out: Path) -> Iterator[Scaffolded]:
    """What the sources lack, each file once.

    Args:
        manifest: the submission.
        out: the package, where somebody may have filled in templates.

    Raises:
        OSError: something there cannot be read.
    """
    if manifest.round.usage not in CODE_USAGES:
        return
    seen: set[Path] = set()
    brought = tuple(extra.to for extra in manifest.files)
    for entry, planned in zip(manifest.entries, planned_entries(manifest), strict=True):
        for template in templates(planned.system, planned.benchmark, planned.implementation):
            file = manifest.setup_of(entry) / Path(template.path).name
            if file in seen or f"{template.path}/".startswith(tuple(f"{to}/" for to in brought)):
                continue
            seen.add(file)
            filled = _filled(out / template.path)
            if filled is not None and _is_ours(file, template):
                yield Scaffolded(file, template.path, *filled, filled=True)
            elif not os.path.lexists(file):
                yield Scaffolded(file, template.path, template.content.encode(), template.executable, filled=False)


def _is_ours(file: Path, template: Template) -> bool:
    """Whether nothing is lost if a file is replaced: there is none, or the template as it was made."""
    if not os.path.lexists(file):
        return True
    status, content = file.lstat(), template.content.encode()
    return stat.S_ISREG(status.st_mode) and status.st_size == len(content) and file.read_bytes() == content


def _filled(file: Path) -> tuple[bytes, bool] | None:
    """What somebody has made of a template, and whether it may be executed."""
    if not os.path.lexists(file):
        return None
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILLED:
        return None
    content = file.read_bytes()
    return None if is_unfilled(content) else (content, bool(status.st_mode & stat.S_IXUSR))


def write_scaffold(scaffolded: Scaffolded) -> None:
    """Write a file where there is none, or only the template.

    Raises:
        MlsubError: there is one by now, or it cannot be written.
        OSError: the template there cannot be read or removed.
    """
    try:
        make_folder(scaffolded.file.parent)
    except OSError as error:
        reason = error.strerror or error
        raise MlsubError(f"{scaffolded.file.parent} cannot be made: {reason}. Name another folder as setup.") from error
    if scaffolded.filled and os.path.lexists(scaffolded.file):
        scaffolded.file.unlink()
    write_file(scaffolded.file, scaffolded.content, force=False, executable=scaffolded.executable)
