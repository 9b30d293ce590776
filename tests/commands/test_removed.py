"""A call of a command that was removed ends with 2 and one line that says what to do instead."""

from __future__ import annotations

import pytest

from tests.commands.runner import run

#: The call, and the line on standard error without ``mlsub`` and the command.
REMOVED = {
    "audit draft post.txt --results .": "mlsub audit draft: this command was removed. A person or a language model "
    "writes the claims file; mlsub schema claims prints its form.\n",
    "inspect v5.1/ACME": "mlsub inspect: this command was removed. Use mlsub review PATH, which asks what inspect "
    "found and more.\n",
    "rcp plot bert -o bert.svg": "mlsub rcp plot: this command was removed. The pages of mlsub site draw the reference "
    "points beside the runs.\n",
    "rules explain key.seed.count": "mlsub rules explain: this command was removed. Use mlsub explain RULE.\n",
}


@pytest.mark.parametrize("call", REMOVED)
def test_a_removed_command_says_what_to_do_instead(call: str) -> None:
    outcome = run(*call.split())
    assert (outcome.status, outcome.stdout, outcome.stderr) == (2, "", REMOVED[call])
