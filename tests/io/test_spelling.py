"""A flat text has its characters where the spaced text has them, so that a place in one is a place in the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.show import flat, spaced


@given(st.text(st.sampled_from("İIßŉaZ Ⅷ™-_’") | st.characters()))
def test_small_letters_stay_in_their_places(text: str) -> None:
    kept = spaced(text)
    small = flat(text)
    assert len(small) == len(kept)
    for one, other in zip(small, kept, strict=True):
        assert one.upper() == other.upper() or one == other.lower() or (one, other) == ("i", "İ")
