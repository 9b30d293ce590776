"""Breaks a copy of a part of a published package as a submitter might, by steps that are data."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tools.support.corpus import CORPUS

ROUND, ORGANISATION, SYSTEM = "v5.1", "AMD", "MI350X_EPYC_9575F_pytorch"
#: What steps may call these by.
_NAMES = {"S": SYSTEM, "E": f"results/{SYSTEM}/llama2_70b_lora", "F": f"results/{SYSTEM}/llama31_8b"}


def named(text: str) -> str:
    """A text with the names that steps use replaced."""
    for name, value in _NAMES.items():
        text = text.replace(f"<{name}>", value)
    return text


def intact(above: Path, *, both: bool = True) -> Path:
    """One system of a published organisation with its two entries, or the first: ``<above>/v5.1/AMD``; accepted."""
    published, copy = CORPUS / ROUND / ORGANISATION, above / ROUND / ORGANISATION
    for name in ("E", "F") if both else ("E",):
        shutil.copytree(published / _NAMES[name], copy / _NAMES[name])
    (copy / "systems").mkdir()
    shutil.copy(published / "systems" / f"{SYSTEM}.json", copy / "systems")
    return copy


def broken(above: Path, steps: list[Any]) -> Path:
    """The same after some steps, each one word and its arguments; paths are relative to the organisation's folder.

    The second entry is there only where a step, or a step ``both``, speaks of it.
    """
    folder = intact(above, both="<F>" in str(steps) or "both" in steps)
    take(folder, (step for step in steps if step != "both"))
    return folder


def take(folder: Path, steps: Iterable[dict[str, Any]]) -> None:
    """Take some steps in the organisation's folder."""
    for step in steps:
        for word, said in step.items():
            first, *more = said if isinstance(said, list) else [said]
            if word in _FILES:
                for file in _files(folder, first):
                    _FILES[word](file, *more)
            else:
                _STEPS[word](folder, first, *more)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(named(pattern)))
    assert found, pattern
    return found


def _move(folder: Path, old: str, new: str) -> None:
    target = folder / named(new)
    target.parent.mkdir(parents=True, exist_ok=True)
    (folder / named(old)).rename(target)


def _restore(folder: Path, name: str) -> None:
    """What was published, as one copies it again or puts another run in its place."""
    source, target = CORPUS / ROUND / ORGANISATION / named(name), folder / named(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()
    shutil.copytree(source, target, dirs_exist_ok=True) if source.is_dir() else shutil.copy(source, target)


def _copy(folder: Path, old: str, new: str) -> None:
    source, target = folder / named(old), folder / named(new)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


def _published(folder: Path, pattern: str, new: str) -> None:
    """Files of another published package."""
    for source in sorted(CORPUS.glob(pattern)):
        target = folder / named(new)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _write(folder: Path, name: str, text: str) -> None:
    file = folder / named(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(named(text))


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, (file, old)
    file.write_text(text.replace(old, new))


def _zip(file: Path) -> None:
    file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 1))
    file.unlink()


def _without(file: Path, text: str) -> None:
    """Leave out the lines with a text."""
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if text not in line))


#: What is done to each file that a pattern names.
_FILES: dict[str, Callable[..., object]] = {
    "remove": lambda file: shutil.rmtree(file) if file.is_dir() else file.unlink(),
    "replace": _replace,
    "zip": _zip,
    "suffix": lambda file, suffix: file.rename(file.with_suffix(suffix)),
    "recode": lambda file, encoding: file.write_bytes(file.read_text().encode(encoding)),
    "crlf": lambda file: file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n")),
    "cut": lambda file, size: os.truncate(file, size if size >= 0 else file.stat().st_size + size),
    "without": _without,
}
#: What is done to a name below the organisation's folder.
_STEPS: dict[str, Callable[..., object]] = {
    "move": _move,
    "copy": _copy,
    "restore": _restore,
    "published": _published,
    "write": _write,
    "link": lambda folder, name, target: (folder / named(name)).symlink_to(named(target)),
    "forbid": lambda folder, name: (folder / named(name)).chmod(0),
}
