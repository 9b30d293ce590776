"""What one call of the command line came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """Exit status and output, with the folders of this machine replaced by their names."""

    status: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def document(self) -> Any:
        """The output as JSON."""
        return json.loads(self.stdout)

    @property
    def lines(self) -> list[Any]:
        """The output as JSON, one document a line."""
        return [json.loads(line) for line in self.stdout.splitlines()]
