"""``package_checker_params``: flags in a submission that tell the package checker to let something pass."""

from __future__ import annotations

import os
import stat
from difflib import get_close_matches
from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.io.errors import reason_of
from mlsub.io.look import open_regular
from mlsub.io.show import readable
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Package

FILE = "package_checker_params"
#: Real files hold one short line.
MAX_BYTES = 1 << 16
#: What a flag asks for, by either spelling.
_ASKS = {
    "rcp-bypass": "rcp_bypass",
    "seed-checker-bypass": "seed_bypass",
    "rcp-bert-train-samples": "train_samples",
}


class Flags(msgspec.Struct, frozen=True):
    """The file (relative to the report's root) that asks for each flag; None where none does."""

    rcp_bypass: str | None = None
    seed_bypass: str | None = None
    train_samples: str | None = None
    findings: tuple[Finding, ...] = ()

    def over(self, other: Flags) -> Flags:
        """Return these flags, and where they are not set those of a folder further up; the findings are these."""
        return Flags(
            self.rcp_bypass or other.rcp_bypass,
            self.seed_bypass or other.seed_bypass,
            self.train_samples or other.train_samples,
            self.findings,
        )


NO_FLAGS = Flags()


def flags_of(package: Package, round_: Round) -> tuple[dict[Path, Flags], list[Finding]]:
    """Return the flags that hold for each entry by its folder, and what is wrong with the files, each read once.

    Those in the entry's own folder come first, then those in the folders above it.
    """
    read: dict[tuple[str, ...], Flags] = {}
    held: dict[Path, Flags] = {}
    for folder in (entry.folder for entry in package.entries):
        names = folder.relative_to(package.folder).parts
        for depth in range(len(names) + 1):
            if (above := names[:depth]) not in read:
                place = ("root", "results")[depth] if package.in_tree and depth < 2 else "folders"
                at = package.folder.joinpath(*above)
                read[above] = read_flags(at, package.path_of(at), round_, place)
            held[folder] = read[above].over(held.get(folder, NO_FLAGS))
    return held, [found for flags in read.values() for found in flags.findings]


def read_flags(folder: Path, path: str, round_: Round, place: str = "folders") -> Flags:
    """Return the flags in a folder of a submission; bad input never raises.

    In v2.0 to v3.1 the script that verifies a submission reads the file in the organisation's folder, and makes an
    option of the package checker of each line that ends in a line feed. From v4.0 the package checker reads those in
    the folders of system and benchmark, and takes a flag only from a line without a line feed: the last. No round reads
    one in ``results/``.

    Args:
        folder: where the file would be.
        path: what findings call the folder, relative to the report's root.
        round_: says which places count.
        place: ``root`` for the organisation's folder, ``results``, or ``folders`` for that of a system or a benchmark.
    """
    name = FILE if path in ("", ".") else f"{path}/{FILE}"
    by_checker = round_.checker_params == place == "folders"
    is_seen = False
    try:
        status = os.stat(f"{folder}/{FILE}")  # noqa: PTH116  (of every folder, most have none)
        is_seen = True
        if not stat.S_ISREG(status.st_mode):
            return Flags(findings=(_unreadable(name, "it is not a regular file", crashes=by_checker),))
        with open_regular(f"{folder}/{FILE}") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return NO_FLAGS
    except OSError as error:
        # To the official checker there is nothing where it cannot look; what it can see it opens.
        crash = (_unreadable(name, reason_of(error), crashes=True),) if by_checker and is_seen else ()
        return Flags(findings=(*crash, _unreadable(name, reason_of(error), crashes=False)))
    if len(content) > MAX_BYTES:
        return Flags(findings=(finding("params.unreadable", name, f"It is larger than {MAX_BYTES >> 10} KiB"),))
    if by_checker and not _is_text(content):
        return Flags(findings=(_unreadable(name, "it is not UTF-8 text", crashes=True),))
    if round_.checker_params != place:
        return Flags(findings=(_misplaced(name, round_),))
    return _flags(content.decode("utf-8", "replace"), name, round_, ended=place == "root")


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(name: str, why: str, *, crashes: bool) -> Finding:
    """Return the finding on a file that cannot be read; from v4.0 the official checker ends in a traceback on it."""
    if not crashes:
        return finding("params.unreadable", name, f"It cannot be read: {why}")
    message = "The official checker ends with a traceback on a file of flags that it cannot read"
    return finding("official.crash", name, message, expected="a text file, or none", actual=why)


def _misplaced(name: str, round_: Round) -> Finding:
    where = {
        "root": "the file in the organisation's folder",
        "folders": "the files in the folders of a system and of a benchmark",
        "nowhere": "no such file",
    }
    return finding("params.misplaced", name, expected=where[round_.checker_params])


def _flags(text: str, name: str, round_: Round, *, ended: bool) -> Flags:
    """Return the flags in the text of a file. ``ended``: a flag's line has to end in a line feed, else it must not."""
    known = round_.checker_flags
    found: set[str] = set()
    problems = []
    # The package checker opens the file as text, so that CR and CR LF are line feeds to it, though not to the shell.
    lines = (text if ended else text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    for number, line in enumerate(lines, 1):
        # The shell splits an option at blanks; to the package checker they are part of the flag.
        word = line.rstrip(" \t") if ended else line
        if word in known and ended == (number < len(lines)):
            found.add(_ASKS[word.replace("_", "-")])
        elif word in known:
            problems.append(_badly_ended(name, number, word, ended=ended))
        elif line.strip():
            problems.append(_unknown(name, number, line.strip(), round_, ended=ended))
    return Flags(**dict.fromkeys(found, name), findings=tuple(problems[:10]))


def _badly_ended(name: str, line: int, word: str, *, ended: bool) -> Finding:
    return finding(
        "params.line-end",
        name,
        f"The checker of this round does not read the flag {word}, because of its line ending",
        line=line,
        expected="a line feed at the end of the line" if ended else "a last line, without a line feed at its end",
        fix=_written(word, ended=ended),
    )


def _written(word: str, *, ended: bool) -> str:
    end = r"\n" if ended else ""
    return f"Write the file with: printf '{word}{end}' > {FILE}"


def _unknown(name: str, line: int, word: str, round_: Round, *, ended: bool) -> Finding:
    known = round_.checker_flags
    other = next((flag for flag in known if flag.replace("_", "-") == word.replace("_", "-")), None)
    close = [other] if other else get_close_matches(word[:80], known, n=1)
    hint = f"Did you mean {close[0]}? {_written(close[0], ended=ended)}" if close else None
    if hint is None and word.replace("_", "-") == "rcp-bert-train-samples":
        hint = "Give --rcp-bert-train-samples on the command line."
    return finding(
        "params.unknown-flag",
        name,
        line=line,
        expected=f"one of {', '.join(known)}" if len(known) > 1 else ", ".join(known),
        actual=readable(word[:80]),
        fix=hint,
    )
