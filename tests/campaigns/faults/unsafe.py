"""Commands with a defect each, which the harness must find: ``--cases tests.campaigns.faults.unsafe``."""

from __future__ import annotations

import os
from pathlib import Path

from tests.campaigns.faults.case import Case, Judged, State, View, each, whole

_OLD, _NEW = b"old\n" * 1000, b"new\n" * 1000


def _prepare(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / name).write_bytes(_OLD)


def _in_place() -> None:
    Path("one").write_bytes(_NEW)


def _put(name: str, *, file: bool, folder: bool, part: str = "part") -> None:
    Path(part).unlink(missing_ok=True)
    with Path(part).open("xb") as stream:
        stream.write(_NEW)
        stream.flush()
        if file:
            os.fsync(stream.fileno())
    Path(part).replace(name)
    if folder:
        opened = os.open(".", os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)


def _unsynced_file() -> None:
    _put("one", file=False, folder=True)


def _unsynced_folder() -> None:
    _put("one", file=True, folder=False)


def _leaves_its_part() -> None:
    _put("one", file=True, folder=True, part=f".mlsub-{os.urandom(8).hex()}.part")


def _one_after_the_other() -> None:
    _put("one", file=True, folder=True)
    _put("other", file=True, folder=True)


def _swallows_errors() -> None:
    try:
        _put("one", file=True, folder=True)
    except OSError:
        return


def _passes_in_silence() -> None:
    print("there" if os.path.exists("one") else "missing")  # noqa: PTH110  (which says so of all errors)


def _remembers_errors() -> None:
    known = Path("known")
    if not known.is_file():
        try:
            known.write_bytes(Path("one").read_bytes()[:3])
        except OSError as error:
            known.write_text(f"one: {error.strerror}")
    print(known.read_text())


def _anything(found: View, old: View, new: View) -> Judged:
    return Judged(State.NEW)


#: What the harness says of each.
FOUND = {
    "in place": "one is neither old nor new",
    "unsynced file": "power cut after call",
    "unsynced folder": "the command has ended, and the state is old",
    "leaves its part": "the next call leaves .mlsub-",
    "one after the other": "neither old nor new: other",
    "swallows errors": "it ended with 0, and the state is old",
    "passes in silence": "it ended with 0, and does not say what it could not look at",
    "remembers errors": "the next call says something else: one: Permission denied",
}
_WRITERS = {
    "in place": _in_place,
    "unsynced file": _unsynced_file,
    "unsynced folder": _unsynced_folder,
    "leaves its part": _leaves_its_part,
    "one after the other": _one_after_the_other,
    "swallows errors": _swallows_errors,
}
_READERS = {"passes in silence": _passes_in_silence, "remembers errors": _remembers_errors}
CASES = (
    *(
        Case(
            name, _prepare, (), ("one", "other"), each if name == "in place" else whole, work=work, beside=("part",)
        )
        for name, work in _WRITERS.items()
    ),
    *(
        Case(name, _prepare, (), ("known",), _anything, work=work, inputs=("one",), says=True)
        for name, work in _READERS.items()
    ),
)  # fmt: skip
