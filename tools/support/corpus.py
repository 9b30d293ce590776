"""The shared folder beside the repository: published packages, recorded answers, founding documents.

Tests see the packages as they were published. The official package checker writes ``scaling.json`` into the packages it
checks, so a folder that somebody ran it on holds files that were never published. ``<Organisation>.files.tsv`` lists
what was; where the folder holds anything else, ``CORPUS`` is a copy without it.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared"


def _unpublished(corpus: Path) -> Iterator[Path]:
    for file_tree in sorted(corpus.glob("*/*.files.tsv")):
        with file_tree.open(encoding="utf-8") as stream:
            published = {line.partition("\t")[0] for line in stream}
        organisation = file_tree.with_name(file_tree.name.removesuffix(".files.tsv"))
        for file in organisation.rglob("*"):
            if not file.is_dir() and file.relative_to(file_tree.parent).as_posix() not in published:
                yield file


def _as_published(corpus: Path) -> Path:
    """The folder itself, or a copy without what was not published, made once for all processes."""
    extra = [file.relative_to(corpus) for file in _unpublished(corpus)]
    if not extra:
        return corpus
    name = hashlib.sha256("\n".join([str(corpus), *map(str, extra)]).encode()).hexdigest()[:16]
    copy = REPOSITORY / "build" / f"published-{name}"
    if not copy.is_dir():
        copy.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent) as made:
            shutil.copytree(corpus, Path(made) / "corpus", symlinks=True)
            for file in extra:
                (Path(made) / "corpus" / file).unlink()
            try:
                (Path(made) / "corpus").rename(copy)
            except OSError:
                if not copy.is_dir():
                    raise
    return copy


CORPUS = _as_published(SHARED / "corpus")
