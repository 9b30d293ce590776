"""What the harnesses of documents have in common: a place for a file, and what holds of every error and finding."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.io.show import plain
from mlsub.present.envelope import Answer, answer
from tests.campaigns.fuzz.harness import BrokenError
from tests.campaigns.fuzz.scratch import scratch

T = TypeVar("T")
#: Characters of one line of an error; a message is cut at 600, and a path or a list of names may stand beside it.
LONGEST_LINE = 3_000
#: Lines of one error.
MOST_LINES = 101


class _Answer(Answer, frozen=True, kw_only=True):
    """Findings as every answer for machines has them."""

    SCHEMA = 1

    findings: tuple[Finding, ...]


def placed(data: bytes, name: str) -> Path:
    """A file with these bytes, over which the next one of its name is written."""
    file = scratch("documents") / name
    file.write_bytes(data)
    return file


def placed_anew(data: bytes, ending: str) -> Path:
    """A file whose name no other content has, for readers that remember a file by its path; to be removed after."""
    return placed(data, f"{hashlib.blake2b(data, digest_size=8).hexdigest()}{ending}")


def drawn(choices: Sequence[T], data: bytes) -> T:
    """The choice that falls to an input."""
    return choices[_number(data) // 1000 % len(choices)]


def _number(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def taken(read: Callable[[], Any], data: bytes, file: Path) -> Any:
    """What a reader makes of a file; None, once the error has been looked at, where it refuses it."""
    try:
        return read()
    except FileProblemsError as error:
        check_problems(error, data, file)
    except MlsubError as error:
        check_error(error)
    return None


def check_error(error: MlsubError) -> None:
    """Whether an error can be printed: lines that say something, and not without end."""
    if not error.lines or len(error.lines) > MOST_LINES:
        raise BrokenError(f"an error of {len(error.lines)} lines")
    for line in error.lines:
        if not line.strip() or len(plain(line)) > LONGEST_LINE:
            raise BrokenError(f"a line of {len(plain(line))} characters: {line[:200]!r}")


def check_problems(error: FileProblemsError, data: bytes, file: Path) -> None:
    """Whether each problem of a file names it, and a line that it has if any; an unknown word stands on its line."""
    check_error(error)
    lines = lines_of(data)
    for problem in error.problems:
        line = 1 if problem.line is None else problem.line
        if not problem.path.endswith(file.name) or not 1 <= line <= len(lines) or not problem.message:
            raise BrokenError(f"{problem} of a file of {len(lines)} lines")
        if problem.line is None:
            continue
        word = re.match(r"(?:\S*\.)?([a-z_]{3,20}): unknown word", problem.message)
        if word and word[1] not in lines[line - 1] and word[1] in data.decode("utf-8", "replace"):
            raise BrokenError(f"{problem}, but that line is {lines[line - 1][:100]!r}")


def lines_of(data: bytes) -> list[str]:
    """The lines of a text, at what YAML, JSON and TOML together take for the end of a line."""
    return re.split("\r\n|[\r\n\x85\u2028\u2029]", data.decode("utf-8", "replace"))


def check_findings(findings: Iterable[Finding], data: bytes) -> None:
    """Whether findings can be shown: a message, a line that the file has, and bounded texts that JSON can hold."""
    found, lines = tuple(findings), len(lines_of(data))
    for finding in found:
        if not finding.message or (finding.line is not None and not 1 <= finding.line <= lines):
            raise BrokenError(f"{finding} of a file of {lines} lines")
        for text in (finding.message, finding.expected, finding.actual, finding.fix):
            if text is not None and len(plain(text)) > LONGEST_LINE:
                raise BrokenError(f"{finding.rule}: a text of {len(plain(text))} characters")
    answer("fuzz", _Answer(findings=found))


def same(ours: Any, theirs: Any) -> bool:
    """Whether two values of a document are the same: of one type, NaN as itself, and -0.0 not as 0.0."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and all(same(one, theirs[key]) for key, one in ours.items())
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float):
        return (math.isnan(ours) and math.isnan(theirs)) or (
            ours == theirs and math.copysign(1, ours) == math.copysign(1, theirs)
        )
    return bool(ours == theirs)


def shown(model: Any) -> str:
    """A model as text, by which two are compared; its lines and files left out, for they are another in each file."""
    return repr(_bare(model))


def _bare(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = ((name, getattr(value, name)) for name in value.__struct_fields__ if name not in ("line", "file"))
        return type(value).__name__, tuple((name, _bare(one)) for name, one in fields)
    if isinstance(value, dict):
        return {_bare(key): _bare(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(_bare, value))
    return value


def short(seeds: Iterable[str], longest: int) -> Iterator[bytes]:
    """Seeds that are not too long for a harness, short ones first."""
    yield from sorted((seed.encode() for seed in seeds if len(seed.encode()) <= longest), key=len)
