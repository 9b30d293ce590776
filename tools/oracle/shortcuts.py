"""Ways to make the installed checker fast without a change to its answers; test_oracle compares with and without."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

#: Stands for ``eval`` in the checker: an expression, then its names.
Evaluate = Callable[..., Any]

#: The expressions by which parsers cut off what stands before a record, and the token that each keeps.
_CUTS = {f".*{token}": token for token in (":::MLL", ":::MLLOG ")}


def cut(pattern: str, token: str, text: str) -> str:
    """What ``re.sub`` makes of a line: the last token and what is behind it.

    The expression looks for one more token from each character on, which takes half a minute for a record of 300 kB.
    """
    if _CUTS.get(pattern) != token or "\n" in text[:-1]:
        return re.sub(pattern, token, text)
    _, found, after = text.rpartition(token)
    return found + after


def evaluate(code: str, *scopes: Any) -> Any:
    """``eval``, that compiles each text once."""
    return builtins.eval(_compiled(code, "eval"), *scopes)  # noqa: S307  (the checker's own rules)


def execute(code: str, *scopes: Any) -> None:
    """``exec``, that compiles each text once."""
    builtins.exec(_compiled(code, "exec"), *scopes)  # noqa: S102  (the checker's own rules)


@lru_cache(maxsize=4096)
def _compiled(code: str, mode: str) -> CodeType:
    return compile(code, "<string>", mode)


_RE = SimpleNamespace(**{**vars(re), "sub": cut})


def shortcuts(
    checker: ModuleType, parser: ModuleType, evaluating: Evaluate = evaluate
) -> list[tuple[ModuleType, str, Any]]:
    """The names to be replaced in the checker's module and in that of a parser, and by what."""
    return [(checker, "eval", evaluating), (checker, "exec", execute), (parser, "re", _RE)]
