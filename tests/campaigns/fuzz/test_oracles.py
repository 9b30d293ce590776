"""A defect that is planted in mlsub is found: no oracle of these harnesses passes whatever happens."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mlsub.commands.seal import streams
from mlsub.commands.seal.streams import DamagedError
from tests.campaigns.fuzz.harness import harnesses
from tests.campaigns.fuzz.provider import END
from tests.campaigns.fuzz.seeds import texts
from tests.campaigns.fuzz.surfaces.archives import _program
from tests.campaigns.fuzz.trees import change

Decompress = Callable[[Iterator[bytes]], Iterator[bytes]]


class Planted(NamedTuple):
    """A harness, what is replaced by what, words of what is found, and inputs one of which finds it."""

    harness: str
    place: str
    wrong: Any
    words: str
    inputs: tuple[bytes, ...]


def _nothing(*_: object, **__: object) -> None:
    """Sees nothing wrong."""


def _same_nonce(number: int, *, last: bool) -> bytes:
    """Of each chunk, the last or not."""
    return number.to_bytes(12, "big")


def _as_is(text: str) -> str:
    return text


@contextlib.contextmanager
def _left_behind(final: Path) -> Iterator[Path]:
    """A folder to work in that stays where it is."""
    folder = final.parent / "left"
    folder.mkdir(exist_ok=True)
    yield folder


def _unchecked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack, and look at no checksum."""
    whole = b"".join(chunks)
    try:
        yield gzip.decompress(whole[: -streams.TRAILER])
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedError("no gzip") from error


def _put_anywhere(folder: Path, member: Any, pieces: Iterator[memoryview]) -> None:
    (folder.parents[2] / "beside" / "new").write_bytes(b"".join(pieces))


_DOT_DOT = _program((b"0", b"../../beside/x", b"x"))
_LINK_OUT = _program((b"0", b"a", b"x"), (b"2", b"l", b"../../beside"))
_FINE = _program((b"0", b"a", b"a log\n"))
_PANIC = (Path(__file__).parent / "corpus" / "archive-keys" / "exponent-of-no-bytes.pub").read_bytes()
_UPWARDS = b"0123456789abcdef" * 4 + b"  T/../a\n"
#: A name that steers a terminal, and an end that lets the input be shown as text.
_ESCAPES = tuple(b"\0\1" + change(0, 3, b"\x1b[2J", b"text") + bytes([number]) for number in range(22))
_LARGE = _program((b"0", b"a", b"x" * 100_001))
_TEXT = b"title" + END + b"\0\2"
_MARKUP = _TEXT + texts(b"<script>alert(1)</script>")
_SITE = texts(b"title") + b"\0\x08" + texts(b"section", b"words") + b"\0\0\0" + texts(b"<b>", b"caption")
_CELLS = b"\1" + texts(b"=1+1") + b"\1" + texts(b"b") + b"\4"
_FINDING = b"\0" + b"\0\1\1\1" + texts(b"8", b"4", b"fix", b"a\n::error::b") + b"\7" + texts(b"m\n::error::x", b"s")
_COMMAND = b"\0" + b"\0\1\1\1" + texts(b"8", b"4", b"fix", b"a") + b"\7" + texts(b"m ##[error]x", b"s")
#: The end says which byte is changed; of these, some are in the digest that nobody looks at then.
_TREES = tuple(b"\x41a" + END + b"\0a log\n" + END + bytes([65, 255, number, 47]) for number in range(0, 200, 7))

PLANTED = (
    Planted("archive-members", "mlsub.commands.seal.tar._check_place", _nothing, "where nothing may be", (_DOT_DOT,)),
    Planted("archive-members", "mlsub.commands.seal.names.Links.problem", _nothing, "leads to", (_LINK_OUT,)),
    Planted("archive-members", "mlsub.commands.unseal.run.staging_beside", _left_behind, "came", (_LINK_OUT,)),
    Planted("archive-members", "mlsub.commands.unseal.run._put", _put_anywhere, "written outside", (_FINE,)),
    Planted("archive-members", "mlsub.commands.seal.tar._check_amount", _nothing, "over the limit", (_LARGE,)),
    Planted(
        "archive-roundtrip",
        "tests.campaigns.fuzz.surfaces.archives_roundtrip.decompress",
        _unchecked,
        "may be another",
        _TREES,
    ),
    Planted("archive-chunks", "mlsub.commands.seal.age._nonce", _same_nonce, "mlsub decrypts", (b"\1\0\0\4",)),
    Planted("archive-keys", "mlsub.commands.seal.recipients._is_panic", _nothing, "index out of bounds", (_PANIC,)),
    Planted("archive-manifest", "mlsub.commands.seal.tree.name_problem", _nothing, "passed", (_UPWARDS,)),
    Planted("packages", "mlsub.present.text.plain", _as_is, "control|x1b", _ESCAPES),
    Planted("page-document", "mlsub.present.html._escape", _as_is, "a script", (_MARKUP,)),
    Planted("page-site", "mlsub.commands.site.render._safe", _as_is, "harmless text", (_SITE,)),
    Planted("page-script", "mlsub.commands.site.render._UNSAFE", {}, "end its script", (texts(b"</script>"),)),
    Planted("terminal-text", "mlsub.present.text.plain", _as_is, "text:", (b"\0" + _TEXT + texts(b"\x1b[2J"),)),
    Planted("terminal-markdown", "mlsub.present.markdown.escape", _as_is, "markup", (_MARKUP,)),
    Planted("terminal-ci", "mlsub.present.ci_formats._data", _as_is, "expected", (_FINDING,)),
    Planted("terminal-ci", "mlsub.present.terminal.inert", _as_is, "a command of GitHub", (_COMMAND,)),
    Planted("terminal-tables", "mlsub.commands.score.formats.is_formula", _nothing, "calculates", (_CELLS,)),
)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.place)
def test_a_planted_defect_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    run = harnesses()[planted.harness].run
    # Costly oracles are asked of each input.
    for module in ("tests.campaigns.fuzz.opening", "tests.campaigns.fuzz.surfaces.terminal_ci"):
        monkeypatch.setattr(f"{module}.one_in", lambda *_: True)
    for data in planted.inputs:
        run(data)
    monkeypatch.setattr(planted.place, planted.wrong)
    with pytest.raises(BaseException, match=planted.words):
        for data in planted.inputs:
            run(data)
