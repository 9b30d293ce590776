"""How long the tests search: a part in ``make test``, everything in ``make campaigns``, always with the same seeds."""

from __future__ import annotations

import os

_ASKED = os.environ.get("MLSUB_TESTS", "")
#: ``make campaigns``: every try, and the tests marked as long.
LONG = _ASKED == "long"
#: ``make test-fast``: few examples, and one differential test in ten.
FAST = _ASKED == "fast"


def effort(quick: int, full: int) -> int:
    """How many tries (or bytes) a test makes."""
    return full if LONG else quick


#: Seconds after which a process or a thread that should have ended counts as hung: no verdict on how fast it is, so far
#: beyond what it takes on a busy machine.
HUNG = 600.0
