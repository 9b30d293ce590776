"""Trees to seal: a fixed one, random ones, and what is in one."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from functools import partial
from pathlib import Path

from hypothesis import strategies as st

from mlsub.io.show import folded
from mlsub.packing.archive import trailer
from mlsub.packing.forms import Form, Key

#: Keys, each of what opens it or it is sealed for.
for_keys = partial(Key, Form.RECIPIENTS)
with_keys = partial(Key, Form.RECIPIENTS, ())
with_phrase = partial(Key, Form.PASSPHRASE, (), b"")
with_openssl = partial(Key, Form.OPENSSL, (), b"")
#: The least work scrypt can be asked for: these tests are not about how long guessing takes.
PASSPHRASE = Key(Form.PASSPHRASE, passphrase=b"correct horse battery staple", work_factor=1)

Shape = dict[str, object]
_NAMES = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="/\\") | st.sampled_from(" .-_ä漢🙂"),
    min_size=1,
    max_size=12,
).filter(lambda name: name not in (".", ".."))
_LONG = st.text(st.sampled_from("abc"), min_size=90, max_size=200)
_FILES = st.tuples(st.binary(max_size=2000), st.booleans())
SHAPES = st.recursive(
    _FILES,
    lambda below: st.dictionaries(_NAMES | _LONG, below, max_size=4).filter(
        lambda shape: len(set(map(folded, shape))) == len(shape)
    ),
    max_leaves=12,
).filter(lambda shape: isinstance(shape, dict) and _files(shape))


def _files(shape: object) -> int:
    return sum(map(_files, shape.values())) if isinstance(shape, dict) else 1


def grow(folder: Path, shape: object) -> Path:
    """Lay a random shape out on the disk."""
    folder.mkdir(parents=True)
    for name, below in shape.items():
        if isinstance(below, dict):
            grow(folder / name, below)
        else:
            content, executable = below
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o755 if executable else 0o644)
    return folder


def pack(tar: bytes) -> bytes:
    """The archive as ``seal`` makes it of a tar."""
    stream = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, stream, 0) as zipped:
        zipped.write(tar)
    return stream.getvalue() + trailer(hashlib.sha256(stream.getvalue()).digest())


def plant(folder: Path) -> Path:
    """A small submission with all that can be sealed: files, a script, a link, an empty folder, a long name."""
    tree = folder / "training_results_v1.0" / "ACME"
    (tree / "results" / "rack1" / "resnet").mkdir(parents=True)
    (tree / "results" / "empty").mkdir()
    (tree / "systems").mkdir()
    (tree / "systems" / "rack1.json").write_text('{"submitter": "ACME"}\n')
    (tree / "results" / "rack1" / "resnet" / "result_0.txt").write_text(":::MLLOG {}\n" * 40)
    (tree / "results" / "rack1" / "resnet" / f"größe{'_' * 110}.txt").write_bytes(bytes(range(256)))
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "latest").symlink_to("results/rack1")
    return tree


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """All there is below a folder: kind, content and whether it can be run."""
    found: dict[str, tuple[object, ...]] = {}
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(at, name)
            key = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[key] = ("link", str(path.readlink()))
            elif path.is_dir():
                found[key] = ("folder",)
            else:
                found[key] = ("file", path.read_bytes(), os.access(path, os.X_OK))
    return found
