"""Calls of this process that look at files or read them, counted, with one that the system refuses."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_LOOKS = ("stat", "lstat", "scandir", "listdir", "open")


class Refusals:
    """Once installed, counts the calls below a folder; number ``at`` of them fails with an error of the system.

    What a scanned entry knows of itself is not asked of the system again, so that it is not among them.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = f"{folder}{os.sep}"
        self.calls = 0
        self.at = -1
        self.error = 0
        #: The path of the call that failed.
        self.path = ""
        for name in _LOOKS:
            patch.setattr(os, name, self._refusing(getattr(os, name)))
        opened = self._refusing(io.open)
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)

    def at_call(self, number: int, error: int) -> None:
        """Count anew, and let a call fail; none with a negative number."""
        self.calls, self.at, self.error, self.path = 0, number, error, ""

    def _refusing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *more: Any, **named: Any) -> Any:
            if isinstance(path, str | os.PathLike):
                self._meet(os.fspath(path))
            return real(path, *more, **named)

        return call

    def _meet(self, path: str) -> None:
        if not f"{path}{os.sep}".startswith(self._folder):
            return
        self.calls += 1
        if self.calls - 1 == self.at:
            self.path = path
            raise OSError(self.error, os.strerror(self.error), path)
