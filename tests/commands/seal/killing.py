"""Seals a tree again and again in children that are killed at random moments, and looks at what is left each time.

Run as a program: a process without threads can fork, which is faster than starting Python a hundred times.
"""

from __future__ import annotations

import itertools
import logging  # noqa: F401  (else the children import it, and blows fall there instead of on the steps)
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mlsub.commands.seal.forms import Passphrase
from mlsub.commands.seal.receipt import sealed_digest
from mlsub.commands.seal.run import seal_tree
from mlsub.commands.seal.streams import file_digest
from mlsub.commands.seal.tree import parse_manifest
from mlsub.commands.verify.run import verify_sealed

KEY = Passphrase(b"correct horse battery staple", work_factor=1)

#: Where every other blow falls, by the steps of the work: from 0, the first, over 1, where the archive gets its name,
#: to 2, the end. So each outcome is seen however busy the machine is: a new archive, the old one, nothing, and any of
#: them. The other blows fall at any moment, within and between steps.
PLACES = ((2.0, 2.0), (0.0, 0.99), (0.0, 0.99), (0.0, 2.0))


def main(folder: Path, times: int, seed: int) -> None:
    """Print how often what was left: nothing, the old state or the new one, and what lay beside it."""
    draw = random.Random(seed)
    tree, out = folder / "T", folder / "sealed"
    tree.mkdir()
    for number in range(5):
        (tree / f"log{number}").write_bytes(os.urandom(20000))
    seconds = _usual(tree, out)
    steps = _steps(tree, out)
    left: Counter[str] = Counter()
    for number in range(times):
        if number % 4 == 0:
            for file in folder.glob("sealed*"):
                file.unlink()
        before = out.read_bytes() if out.exists() else None
        (tree / "number").write_text(str(number))
        if number % 2:
            _killed(tree, out, draw.uniform(0, 1.3) * seconds)
        else:
            step, count = _step(draw.uniform(*PLACES[number // 2 % 4]), *steps), itertools.count()
            _killed_as(tree, out, lambda *_, step=step, count=count: next(count) == step)
        left[_state(out, before, number)] += 1
        left["receipt"] += _beside_fits(out)
    # One that surely leaves an unfinished archive, for the last call to remove and name.
    _killed_as(tree, out, lambda event, words: _names(event, words, out))
    assert list(folder.glob(".mlsub*"))
    seal_tree(tree, out, KEY, force=True)
    print(left["nothing"], left["old"], left["new"], left["receipt"], len(list(folder.glob(".mlsub*"))))


def _usual(tree: Path, out: Path) -> float:
    """Seconds that sealing takes, so that the blows fall all over it."""
    start = time.monotonic()
    for _ in range(5):
        seal_tree(tree, out, KEY, force=True)
    return (time.monotonic() - start) / 5


def _steps(tree: Path, out: Path) -> tuple[int, int]:
    """How many audit events of Python come before the archive gets its name, and until the end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        names: list[bool] = []
        sys.addaudithook(lambda event, words: names.append(_names(event, words, out)))
        seal_tree(tree, out, KEY, force=True)
        os.write(writer, f"{names.index(True)} {len(names)}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    first, last = map(int, os.read(reader, 100).split())
    return first, last


def _step(place: float, named: int, last: int) -> int:
    return int(place * named if place < 1 else named + (place - 1) * (last - named))


def _names(event: str, words: tuple[object, ...], out: Path) -> bool:
    """Whether an audit event of Python gives the archive its name."""
    return event in ("os.rename", "os.link") and isinstance(words[1], (str, Path)) and Path(words[1]) == out


def _killed(tree: Path, out: Path, after: float) -> None:
    """Seal in a child that is killed after some seconds."""
    child = os.fork()
    if child == 0:
        seal_tree(tree, out, KEY, force=True)
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _killed_as(tree: Path, out: Path, begins: Callable[[str, tuple[object, ...]], bool]) -> None:
    """Seal in a child that is killed as an audit event of Python begins, or when it is done."""
    child = os.fork()
    if child == 0:
        sys.addaudithook(lambda *event: os.kill(os.getpid(), signal.SIGKILL) if begins(*event) else None)
        seal_tree(tree, out, KEY, force=True)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def _state(out: Path, before: bytes | None, number: int) -> str:
    """What is there, which must be whole; by its content, for the old and the new archive hold different numbers."""
    if not out.exists():
        assert before is None, "the old file is gone"
        return "nothing"
    content = out.read_bytes()
    checked = verify_sealed(out, KEY)
    assert checked.findings == (), checked
    if content == before:
        return "old"
    out.with_name("check").mkdir(exist_ok=True)
    from mlsub.commands.unseal.run import unseal

    place = out.with_name("check") / str(number)
    unseal(out, place, KEY)
    assert (place / "T" / "number").read_text() == str(number)
    return "new"


def _beside_fits(out: Path) -> bool:
    """What lies beside it is whole and its own, or not there; whether there is a receipt."""
    manifest = out.with_name("sealed.MANIFEST.sha256")
    receipt = out.with_name("sealed.receipt.txt")
    if manifest.exists():
        assert out.exists()
        assert verify_sealed(out, KEY, manifest).findings == ()
        assert parse_manifest(manifest.read_bytes(), "manifest").top == "T"
    if not receipt.exists():
        return False
    sealed = (out.stat().st_size, file_digest(out))
    assert sealed_digest(receipt.read_text()) == sealed
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
