"""Which tests run, and how long they search: the variable ``MLSUB_TESTS``. Searches have the same seeds in each run."""

from __future__ import annotations

import os

#: What ``MLSUB_TESTS`` may say; ``make test`` does not set it.
TIERS = ("", "all", "long")
_ASKED = os.environ.get("MLSUB_TESTS", "")
if _ASKED not in TIERS:
    raise ValueError(f"MLSUB_TESTS is {_ASKED!r}: it may be all or long, or not be set")

#: ``make campaigns``: every try, and the tests marked as long.
LONG = _ASKED == "long"
#: ``make test-all`` and CI, and campaigns: also the tests marked as slow, and all of those marked as product.
ALL = LONG or _ASKED == "all"


def effort(usual: int, full: int, quick: int | None = None) -> int:
    """How many tries (or bytes) a test makes: usually, in campaigns, and in ``make test`` where that has fewer."""
    if LONG:
        return full
    return usual if ALL or quick is None else quick


#: Seconds after which a process or a thread that should have ended counts as hung: no verdict on how fast it is, so far
#: beyond what it takes on a busy machine.
HUNG = 600.0
