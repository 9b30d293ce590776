"""The names that the official convergence (RCP) checker searches the text of each record for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SIZE, NAME, SAMPLES, STOP = b"global_batch_size", b"submission_benchmark", b"train_samples", b"run_stop"
ERROR, ACCURACY = b"eval_error", b"eval_accuracy"
NAMES = (SIZE, NAME, SAMPLES, STOP, ERROR, ACCURACY)
#: What a record mentions whose key is a name, and that mentions nothing besides.
ALONE: dict[Any, frozenset[bytes]] = {name.decode(): frozenset([name]) for name in NAMES}


def mentions_only(text: bytes, keys: Sequence[Any], names: Sequence[bytes]) -> bool:
    """Whether no record mentions a name but those whose key it is, and these do but once.

    A key is in the text as it is, but for escapes. So it is enough to find each name no more often than it is a key.

    Args:
        text: that of many records.
        keys: the keys among theirs that are names.
        names: to search for.
    """
    return b"\\" not in text and all(_occurs(name, keys.count(name.decode()), text) for name in names)


def _occurs(name: bytes, times: int, text: bytes) -> bool:
    """Whether a text has a name so many times; searching from the end takes two thirds of the time of counting."""
    end = len(text)
    for _ in range(times):
        end = text.rfind(name, 0, end)
        if end < 0:
            return False
    return text.rfind(name, 0, end) < 0
