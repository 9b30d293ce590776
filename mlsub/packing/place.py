"""What lies where the package goes: how that differs from the plan, and why it must not be replaced."""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.io.folders import Piece, digest, foreign_files, list_files
from mlsub.io.show import first_few
from mlsub.packing.plan import Plan
from mlsub.rules.catalogue import finding
from mlsub.submission.find import Place, Target, infer_round


class Difference(msgspec.Struct, frozen=True):
    """Places of files, sorted: ``extra`` are there and not planned.

    ``foreign`` are those of ``changed`` and ``extra`` that pack did not write, or that were changed since.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        """Whether the tree is as planned."""
        return not (self.new or self.changed or self.extra)


def compare(plan: Plan, out: Path) -> Difference:
    """Compare a plan with a folder, which need not exist: contents, links, and what may be executed.

    Raises:
        OSError: something in the folder cannot be read.
    """
    if not out.is_dir():
        return Difference(new=tuple(item.to for item in plan.items))
    there, planned = set(list_files(out)), {item.to: item for item in plan.items}
    same = {to for to, item in planned.items() if to in there and _equal(item, out / to)}
    changed = tuple(to for to in planned if to in there and to not in same)
    extra = tuple(sorted(there - planned.keys()))
    return Difference(
        new=tuple(to for to in planned if to not in there),
        changed=changed,
        same=tuple(to for to in planned if to in same),
        extra=extra,
        foreign=foreign_files(out, {path: digest(out / path) for path in (*changed, *extra)}),
    )


def _equal(item: Piece, file: Path) -> bool:
    status = file.lstat()
    if item.link is not None:
        return stat.S_ISLNK(status.st_mode) and str(file.readlink()) == item.link
    if not stat.S_ISREG(status.st_mode) or bool(status.st_mode & stat.S_IXUSR) != item.executable:
        return False
    if item.source is None:
        return file.read_bytes() == item.content
    return item.source.samefile(file) or filecmp.cmp(item.source, file, shallow=False)


def obstacles(plan: Plan, out: Path, difference: Difference, *, force: bool) -> Iterator[Finding]:
    """Yield why OUT must not be replaced, though the package may be fine; a folder above named like another round."""
    yield from _other_round(plan, out)
    if difference.none:
        return
    manifest = plan.manifest
    sources = [manifest.file, *(item.source for item in plan.items if item.source is not None)]
    inside = [str(source) for source in sources if lies_in(source, out)]
    if inside:
        yield _obstacle("package.source-in-out", out, "Sources lie in the folder that is replaced", inside)
    folders = [code.folder for code in manifest.code]
    folders += [entry.setup for entry in manifest.entries if entry.setup is not None]
    folders += [extra.source for extra in manifest.files if Path(extra.source).is_dir()]
    around = next((folder for folder in folders if lies_in(out, Path(folder))), None)
    if around is not None:
        message = "The folder lies in one that is packed"
        yield finding("package.out-in-source", str(out), message, actual=around)
    if inside:
        return
    if difference.extra and not force:
        message = "The folder holds files that the manifest does not name"
        yield _obstacle("package.out-has-more", out, message, difference.extra)
    lost = difference.foreign if force else tuple(p for p in difference.foreign if p not in set(difference.extra))
    if lost:
        message = "The folder holds files that pack did not write, or that were changed since"
        yield _obstacle("package.out-changed", out, message, lost)


def _other_round(plan: Plan, out: Path) -> Iterator[Finding]:
    round_ = plan.manifest.round
    place = Path(os.path.abspath(out))  # noqa: PTH100  (links keep the names people gave them)
    named_like = infer_round(Place(place, Target.ORGANISATION, place))
    if named_like.round and (named_like.usage, named_like.round) != (round_.usage, round_.name):
        actual = f"{named_like.usage} {named_like.round} ({named_like.round_from})"
        yield finding("package.round-differs", str(out), expected=f"{round_.usage} {round_.name}", actual=actual)


def _obstacle(rule: str, out: Path, message: str, found: Collection[str]) -> Finding:
    return finding(rule, str(out), message, actual=f"{len(found)}: {first_few(found)}")


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder, or something in it, by their real names."""
    return f"{os.path.realpath(path)}{os.sep}".startswith(f"{os.path.realpath(folder)}{os.sep}")
