"""``package_checker_params``: flags in a submission that tell the package checker to let something pass."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from mlsub.findings import Finding
from mlsub.io import reason_of
from mlsub.io.look import open_regular
from mlsub.io.show import readable
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.model import Package

if TYPE_CHECKING:
    from argparse import ArgumentParser

FILE = "package_checker_params"
#: Real files hold one short line.
MAX_BYTES = 1 << 16
#: So many findings on one file are enough.
_MOST = 10
_ENDS = "The script that verifies a submission ends before any check: the line is no option, or asks for help"
_REMOVE = "Remove the line, or the file."
#: What the flags ask for, each in the spelling of argparse's results.
_ASKS = {
    "rcp_bypass": "rcp_bypass",
    "seed_checker_bypass": "seed_bypass",
    "rcp_bert_train_samples": "train_samples",
    "werror": "werror",
}


class Flags(msgspec.Struct, frozen=True):
    """The file (relative to the report's root) that asks for each flag; None where none does."""

    rcp_bypass: str | None = None
    seed_bypass: str | None = None
    train_samples: str | None = None
    werror: str | None = None
    findings: tuple[Finding, ...] = ()

    def over(self, other: Flags) -> Flags:
        """Return these flags, and where they are not set those of a folder further up; the findings are these."""
        flags = {name: getattr(self, name) or getattr(other, name) for name in _ASKS.values()}
        return Flags(**flags, findings=self.findings)


NO_FLAGS = Flags()


def flags_of(package: Package, round_: Round) -> tuple[dict[Path, Flags], list[Finding]]:
    """Return the flags that hold for each entry by its folder, and what is wrong with the files, each read once.

    Those in the entry's own folder come first, then those in the folders above it.
    """
    read: dict[tuple[str, ...], Flags] = {}
    flags_by_folder: dict[Path, Flags] = {}
    for folder in (entry.folder for entry in package.entries):
        names = folder.relative_to(package.folder).parts
        for depth in range(len(names) + 1):
            if (above := names[:depth]) not in read:
                place = ("root", "results")[depth] if package.in_tree and depth < 2 else "folders"
                at = package.folder.joinpath(*above)
                read[above] = read_flags(at, package.path_of(at), round_, place)
            flags_by_folder[folder] = read[above].over(flags_by_folder.get(folder, NO_FLAGS))
    return flags_by_folder, [found for flags in read.values() for found in flags.findings]


def read_flags(folder: Path, path: str, round_: Round, place: str = "folders") -> Flags:
    """Return the flags in a folder of a submission; bad input never raises.

    From v2.0 the script that verifies a submission reads the file in the organisation's folder, and makes an option of
    the package checker of each line that ends in a line feed. From v4.0 the package checker itself reads those in the
    folders of system and benchmark, and takes a flag only from a line without a line feed: the last. No round reads one
    in ``results/``.

    Args:
        folder: where the file would be.
        path: what findings call the folder, relative to the report's root.
        round_: says which places count.
        place: ``root`` for the organisation's folder, ``results``, or ``folders`` for that of a system or a benchmark.
    """
    name = FILE if path in ("", ".") else f"{path}/{FILE}"
    by_checker = place == "folders" and bool(round_.folder_flags)
    by_script = place == "root" and bool(round_.script_options)
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
        # To the official tools there is nothing where they cannot look; what they can see they open.
        crash = (_unreadable(name, reason_of(error), crashes=True),) if (by_checker or by_script) and is_seen else ()
        return Flags(findings=(*crash, _unreadable(name, reason_of(error), crashes=False)))
    if len(content) > MAX_BYTES:
        # The script ends on one line that is no option, so that a file that is not read is not accepted.
        rule = "official.crash" if by_script else "params.unreadable"
        return Flags(findings=(finding(rule, name, f"It is larger than {MAX_BYTES >> 10} KiB", fix=_REMOVE),))
    if by_script:
        return _read_options(content, name, round_)
    if not by_checker:
        return Flags(findings=(_misplaced(name, round_),))
    try:
        return _read_lines(content.decode(), name, round_)
    except UnicodeDecodeError:
        return Flags(findings=(_unreadable(name, "it is not UTF-8 text", crashes=True),))


def _unreadable(name: str, why: str, *, crashes: bool) -> Finding:
    """Return the finding on a file that cannot be read; the official tool that reads it ends with an error on it."""
    if not crashes:
        return finding("params.unreadable", name, f"It cannot be read: {why}")
    message = "The official tool ends with an error on a file of flags that it cannot read"
    return finding("official.crash", name, message, expected="a text file, or none", actual=why)


def _misplaced(name: str, round_: Round) -> Finding:
    places = ["the file in the organisation's folder"] if round_.script_options else []
    places += ["the files in the folders of a system and of a benchmark"] if round_.folder_flags else []
    return finding("params.misplaced", name, expected=", and ".join(places) or "no such file")


def _read_options(content: bytes, name: str, round_: Round) -> Flags:
    """Return what the script that verifies a submission asks for by the lines of a file, or why it ends before."""
    # The shell drops NUL bytes, and reads no line without a line feed at its end.
    *lines, last = content.replace(b"\0", b"").decode("utf-8", "surrogateescape").split("\n")
    known = [option.rstrip("=") for option in round_.script_options]
    asked: set[str] = set()
    found: list[Finding] = []
    for line in dict.fromkeys(lines):
        if len(found) == _MOST:
            break
        options = _parse_line(line, round_, alone=len(lines) == 1)
        if options is None:
            hint = _suggest(line, known, ended=True, alone=len(lines) == 1 and not last)
            found.append(_unknown(name, lines.index(line) + 1, line, known, hint, ends_script=True))
        asked |= options or set()
    flags = () if found else sorted(_ASKS[option] for option in asked & _ASKS.keys())
    if last.strip() and _parse_line(last, round_) is None:
        found.append(_unknown(name, len(lines) + 1, last, known, _suggest(last, known, ended=True)))
    elif last.strip():
        found.append(_badly_ended(name, len(lines) + 1, last, ended=True))
    return Flags(**dict.fromkeys(flags, name), findings=tuple(found))


def _parse_line(line: str, round_: Round, *, alone: bool = False) -> set[str] | None:
    """Return the options without a value that the package checker takes from a line; None where it checks nothing.

    Each option is parsed by itself, for argparse takes the square of the time for many. ``alone``: nothing else is
    there, so that an empty line, which makes ``--``, does no harm.
    """
    asked: set[str] = set()
    for option in dict.fromkeys(line.replace("\t", " ").split(" --")):
        words = [word for word in f"--{option}".split(" ") if word]
        # An option takes one word at most, and all behind "--" is too much.
        if len(words) > 2 or (words[0] == "--" and not (alone and line.strip(" \t") == "")):
            return None
        try:
            command = ["FOLDER", round_.usage, round_.ruleset, *words]
            given = vars(_parser(round_.script_options).parse_args(command))
        except ValueError:
            return None
        asked |= {name for name, value in given.items() if value is True}
    return None if "help" in asked else asked


@lru_cache(maxsize=8)
def _parser(options: tuple[str, ...]) -> ArgumentParser:
    """Return a parser of the command line of a package checker, which raises ValueError instead of an exit."""
    from argparse import ArgumentParser

    class Parser(ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise ValueError(message)

    parser = Parser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    for word in ("folder", "usage", "ruleset"):
        parser.add_argument(word)
    for option in options:
        parser.add_argument(f"--{option.rstrip('=')}", action="store" if option.endswith("=") else "store_true")
    return parser


def _read_lines(text: str, name: str, round_: Round) -> Flags:
    """Return the flags that the package checker takes from the lines of a file: those without a line feed."""
    known = round_.folder_flags
    found: set[str] = set()
    problems = []
    # The package checker opens the file as text, so that CR and CR LF are line feeds to it, though not to the shell.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line in known and number == len(lines):
            found.add(_ASKS[line.replace("-", "_")])
        elif line in known:
            problems.append(_badly_ended(name, number, line, ended=False))
        elif line.strip():
            hint = _suggest(line, known, ended=False)
            if hint is None and (word := line.strip()) in round_.script_options:
                hint = f"It counts in the organisation's folder. There: {_written(word, ended=True)}"
            problems.append(_unknown(name, number, line, known, hint))
    return Flags(**dict.fromkeys(found, name), findings=tuple(problems[:_MOST]))


def _badly_ended(name: str, line: int, word: str, *, ended: bool) -> Finding:
    return finding(
        "params.line-end",
        name,
        f"The checker of this round does not read the flag {readable(word[:80])}, because of its line ending",
        line=line,
        expected="a line feed at the end of the line" if ended else "a last line, without a line feed at its end",
        fix=f"End the line with: echo >> {FILE}" if ended else _written(word, ended=False),
    )


def _written(word: str, *, ended: bool) -> str:
    end = r"\n" if ended else ""
    return f"Write the file with: printf '{word}{end}' > {FILE}"


def _suggest(text: str, known: Sequence[str], *, ended: bool, alone: bool = True) -> str | None:
    """Return what to write in place of a line that is no flag; ``alone``: it is all of the file."""
    word = text.strip()
    same = (flag for flag in known if flag.replace("_", "-") == word.replace("_", "-"))
    close = next(same, None) or next(iter(get_close_matches(word[:80], known, n=1)), None)
    if close is None:
        return None
    return f"Did you mean {close}? {_written(close, ended=ended) if alone else 'Write the line so.'}"


def _unknown(
    name: str, line: int, text: str, known: Sequence[str], fix: str | None, *, ends_script: bool = False
) -> Finding:
    """Return the finding on a line that is no flag, on which the script may end."""
    return finding(
        "official.crash" if ends_script else "params.unknown-flag",
        name,
        _ENDS if ends_script else None,
        line=line,
        expected=f"one of {', '.join(known)}" if len(known) > 1 else ", ".join(known),
        actual=readable(text.strip()[:80]) or "an empty line",
        fix=fix or (_REMOVE if ends_script else None),
    )
