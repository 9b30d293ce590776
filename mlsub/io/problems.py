"""What is wrong with a file that people write: line by line, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mlsub.io.errors import MlsubError

#: Such a file is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20
MAX_DEPTH = 100
#: So many problems of one file are reported, with so many characters of a message.
_MOST, _LONGEST = 100, 600


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a file, at a 1-based line; None where the reader of its language does not tell."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.line is None else f"{self.path}:{self.line}: {self.message}"


class FileProblemsError(MlsubError):
    """A file that cannot be used; ``problems`` says why, at least one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown = [msgspec.structs.replace(one, message=_cut(one.message)) for one in problems[:_MOST]]
        if (more := len(problems) - _MOST) > 0:
            shown.append(msgspec.structs.replace(problems[_MOST], message=f"and {more} more problems"))
        self.problems = tuple(shown)
        super().__init__(*self.problems)


def _cut(message: str) -> str:
    """A message without the middle of what it quotes: both ends say what is wrong."""
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"


def meant(text: str, known: Iterable[str]) -> str:
    """A did-you-mean, or what there is."""
    from difflib import get_close_matches

    names = tuple(known)
    longer = [name for name in names if len(text) > 2 and name.startswith(text)]
    close = longer if len(longer) == 1 else get_close_matches(text, names, n=1)
    return f". Did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"
