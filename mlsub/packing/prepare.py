"""Prepare files on their way into the package: unpack, redact and truncate logs, and write scaling.json.

Sources stay as they are: a prepared file is made in a temporary folder, and taken in the place of its source. The steps
are those of ``mlsub redact``, ``mlsub fix --truncate`` and ``mlsub score --write-scaling``, so that a package that they
have changed is the one that the manifest asks for.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from shutil import copyfileobj

from msgspec.structs import replace

from mlsub.io import MlsubError, reason_of
from mlsub.io.folders import Piece
from mlsub.io.look import open_regular
from mlsub.log.rewrite import ENDINGS, rewrite
from mlsub.packing.manifest import Preparation, Redact
from mlsub.packing.redactor import Redactor
from mlsub.packing.runs import is_gzip
from mlsub.packing.tree import TreeDifference
from mlsub.packing.truncate import LIMIT, plan_truncation
from mlsub.score import FILE, missing_scaling, render_scaling
from mlsub.submission.report import Report

#: What was done to a file, in order, by its place in the package.
Done = dict[str, tuple[str, ...]]


def prepare(
    pieces: Sequence[Piece], wanted: Preparation, folder: Path, judge: Callable[[Sequence[Piece]], Report]
) -> tuple[Sequence[Piece], Done]:
    """Return the files as they come into the package, and what was done to them.

    Args:
        pieces: the files as they are.
        wanted: what the manifest asks for.
        folder: an empty folder, which the prepared files lie in.
        judge: checks files as a package, for the factors of scaling.json.

    Raises:
        MlsubError: a log cannot be read, or not be prepared.
    """
    sources = {piece.to: piece.source.resolve() for piece in pieces if piece.source is not None}
    done: Done = {}

    def step(word: str, places: Iterable[str], make: Callable[[Path, Path], object]) -> None:
        for to in places:
            source, target = sources[to], folder / word / to
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                make(source, target)
            except (OSError, EOFError, zlib.error) as error:
                raise MlsubError(f"{source} cannot be prepared ({word}): {reason_of(error)}.") from error
            if target.exists():
                os.utime(target, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
                sources[to], done[to] = target, (*done.get(to, ()), word)

    # In the order in which mlsub redact walks a package, which decides the numbers of the placeholders.
    logs = sorted(
        filter(_is_log, sources), key=lambda to: [*((True, above) for above in to.split("/")[:-1]), (False, to)]
    )
    if wanted.gunzip:
        step("gunzip", [to for to in logs if to.startswith("results/") and is_gzip(sources[to])], _unpack)
    if wanted.redact and logs:
        words = wanted.redact if isinstance(wanted.redact, Redact) else Redact()
        redactor = Redactor(words)
        for problem in redactor.survey([sources[to] for to in logs]).values():
            raise problem
        step("redact", logs, lambda source, target: rewrite(source, redactor.edit(), target))
    if wanted.truncate:
        step("truncate", logs, _truncate)
    files = {piece.to: replace(piece, source=sources[piece.to]) if piece.to in done else piece for piece in pieces}
    for to, factor in missing_scaling(judge(tuple(files.values())).entries) if wanted.scaling else ():
        if to not in files:
            file = folder / "scaling" / to
            file.parent.mkdir(parents=True)
            file.write_bytes(render_scaling(factor))
            files[to], done[to] = Piece(to=to, source=file), ("scaling",)
    return [files[to] for to in sorted(files)], done


def _unpack(source: Path, target: Path) -> None:
    with open_regular(source) as packed, gzip.GzipFile(fileobj=packed) as stream, target.open("xb") as sink:
        copyfileobj(stream, sink, 1 << 20)


def _truncate(source: Path, target: Path) -> None:
    if (planned := plan_truncation(source)) is not None:
        rewrite(source, planned[1], target)


def _is_log(to: str) -> bool:
    """Return whether ``mlsub redact`` takes a file of the package for a log."""
    return to.endswith(ENDINGS) and not any(part.startswith(".") for part in to.split("/"))


def unasked_words(
    difference: TreeDifference, asked: Preparation, pieces: Iterable[Piece], out: Path
) -> tuple[str, ...]:
    """Return the words of ``prepare`` that are not asked for and may have made what differs in a folder.

    Args:
        difference: between the files of the package and the folder.
        asked: what the manifest asks for.
        pieces: the files of the package.
        out: the folder.
    """
    words = {"scaling" for to in difference.extra if PurePath(to).name == FILE}
    for piece in pieces:
        if piece.to in difference.foreign and piece.source is not None and _is_log(piece.to):
            shorter = (out / piece.to).lstat().st_size <= LIMIT < piece.source.stat().st_size
            words.add("truncate" if shorter else "redact")
    return tuple(word for word in sorted(words) if not getattr(asked, word))
