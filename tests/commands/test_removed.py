"""A command that was removed ends with 2 and one line that says what to do instead."""

from __future__ import annotations

import pytest

from tests.commands.runner import run

#: What was called, and what the line says to do.
REMOVED = {
    "audit draft post.txt --results .": "mlsub schema claims",
}


@pytest.mark.parametrize(("words", "instead"), REMOVED.items())
def test_a_removed_command_says_what_to_do_instead(words: str, instead: str) -> None:
    found = run(*words.split())
    assert (found.status, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert "was removed" in found.stderr
    assert instead in found.stderr
