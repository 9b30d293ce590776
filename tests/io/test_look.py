"""Nothing at a path is an answer; what cannot be looked at is an error, whatever Python there is."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.io import look
from tests.refused import Refusals

LOOKS: dict[str, Callable[[Path], object]] = {
    "status_of": look.status_of,
    "is_folder": look.is_folder,
    "is_link": look.is_link,
    "is_there": look.is_there,
    "names_in": look.names_in,
}
looks = pytest.mark.parametrize("name", LOOKS)


@looks
@pytest.mark.parametrize("place", ["gone", "file/below", "n" * 300, "zero\0", "gone/below"])
def test_where_nothing_can_be_there_is_nothing(name: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not LOOKS[name](tmp_path / place)


@looks
@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE, errno.ETIMEDOUT])
def test_what_the_system_refuses_is_an_error_that_names_the_path(
    name: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Refusals(tmp_path, monkeypatch).at_call(0, error)
    with pytest.raises(OSError) as raised:
        LOOKS[name](tmp_path)
    assert (raised.value.errno, raised.value.filename) == (error, str(tmp_path))


def test_links_are_followed_unless_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, target in {"link": "folder", "broken": "gone", "circle": "circle"}.items():
        (tmp_path / name).symlink_to(target)
    names = sorted(look.names_in(tmp_path))
    assert names == ["broken", "circle", "folder", "link"]
    assert [look.is_folder(tmp_path / name) for name in names] == [False, False, True, True]
    assert [look.is_link(tmp_path / name) for name in names] == [True, True, False, True]
    assert all(look.is_there(tmp_path / name) for name in names)
    assert [look.status_of(tmp_path / name) is None for name in names] == [True, True, False, False]
