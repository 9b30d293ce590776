"""The characters of the poems as numbers: contexts, and the character that follows each."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONTEXT = 6
#: Of so many characters in a row, every eighth run is held out.
_RUN, _EVERY = 125, 8


class Samples(NamedTuple):
    """Contexts of shape (n, CONTEXT) and the characters that follow, of shape (n,), as numbers of the alphabet."""

    contexts: NDArray[np.int64]
    following: NDArray[np.int64]


class Verses(NamedTuple):
    """The text: its alphabet, what there is to train on, and what is held out."""

    alphabet: str
    train: Samples
    held_out: Samples


@lru_cache(maxsize=1)
def verses() -> Verses:
    """Read the text that comes with the package."""
    import numpy as np

    text = Path(__file__).with_name("text.txt").read_text(encoding="ascii").lower()
    alphabet = "".join(sorted(set(text)))
    numbers = np.array([alphabet.index(character) for character in text])
    contexts = np.lib.stride_tricks.sliding_window_view(numbers[:-1], CONTEXT)
    following = numbers[CONTEXT:]
    held_out = (np.arange(len(following)) // _RUN) % _EVERY == _EVERY - 1
    return Verses(
        alphabet,
        Samples(contexts[~held_out], following[~held_out]),
        Samples(contexts[held_out], following[held_out]),
    )
