"""Read TOML files that people write, within bounds."""

from __future__ import annotations

import re
import stat
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NoReturn

from mlsub.io.errors import reason_of
from mlsub.io.problems import MAX_DEPTH, FileProblemsError, Problem

#: Such a file is a few kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 256 << 10
_BITS = 64
_DEEP = "nested too deeply"
#: A dotted key of more parts than any document is deep: tomllib needs memory in the square of their number.
_LONG_KEY = re.compile(
    r"(?:(?:(?<![\w-])[\w-]{1,200}|\"(?:[^\"\\\n]|\\.){0,200}\"|'[^'\n]{0,200}')[ \t]{0,20}\.[ \t]{0,20})"
    f"{{{MAX_DEPTH}}}"
)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(file: Path, name: str | None = None) -> dict[str, Any]:
    """Return the content of a TOML file as plain data; days and times are text.

    Args:
        file: the file.
        name: how messages call it.

    Raises:
        FileProblemsError: it cannot be read, or is not TOML; with the line where tomllib knows it.
    """
    shown = name or str(file)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            _refuse(shown, 1, "cannot be read: not a regular file")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            _refuse(shown, 1, f"larger than {MAX_BYTES >> 10} KiB")
        text = raw.decode("utf-8").replace("\r\n", "\n")
        if long := _LONG_KEY.search(text):
            _refuse(shown, text.count("\n", 0, long.start()) + 1, f"not TOML: {_DEEP}")
        content: dict[str, Any] = _plain(tomllib.loads(text))
        return content
    except OSError as error:
        _refuse(shown, 1, f"cannot be read: {reason_of(error)}")
    except UnicodeDecodeError:
        _refuse(shown, 1, "cannot be read: not UTF-8 text")
    except RecursionError:
        _refuse(shown, 1, f"not TOML: {_DEEP}")
    except ValueError as error:
        # A number of too many digits is one as well, and has no line.
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 1
        _refuse(shown, line, f"not TOML: {str(error)[: place.start() if place else 200][:200]}")


def _refuse(shown: str, line: int, message: str) -> NoReturn:
    raise FileProblemsError((Problem(shown, line, message),))


def _plain(value: Any, depth: int = 0) -> Any:
    """Return the value with text for days and times.

    Raises:
        RecursionError: it is deeper than anything that people write.
        ValueError: a number is larger than those of TOML.
    """
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise ValueError("a number with too many digits")
    return value.isoformat() if isinstance(value, date | time | datetime) else value
