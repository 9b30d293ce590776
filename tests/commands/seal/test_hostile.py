"""Sealed files made to do harm: none of them writes anything, and each says what is wrong."""

from __future__ import annotations

import contextlib
import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed
from mlsub.io import MlsubError
from mlsub.packing.archive import CHUNK, discard, read_archive, read_members, trailer
from mlsub.packing.names import link_problems
from mlsub.packing.tree import DamagedError, RefusedError
from tests.commands.seal.trees import pack, snapshot

Item = tuple[str, bytes, bytes | str]
TOP: Item = ("T", tarfile.DIRTYPE, b"")
FOLDER: Item = ("T/d", tarfile.DIRTYPE, b"")


def tar_of(items: list[Item], manifest: bytes | None = None) -> bytes:
    """An archive as ``seal`` makes them, but of anything."""
    stream = io.BytesIO()
    listed = b"".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode()
        for name, kind, content in items
        if kind == tarfile.REGTYPE and isinstance(content, bytes)
    )
    listed += b"".join(f"# link\t{name}\t{to}\n".encode() for name, kind, to in items if kind == tarfile.SYMTYPE)
    for name, kind, content in [*items, ("MANIFEST.sha256", tarfile.REGTYPE, listed if manifest is None else manifest)]:
        info = tarfile.TarInfo(name)
        info.type = kind
        if isinstance(content, bytes):
            info.size = len(content)
        else:
            info.linkname = content
        stream.write(info.tobuf(tarfile.PAX_FORMAT))
        if isinstance(content, bytes):
            stream.write(content + bytes(-len(content) % 512))
    return stream.getvalue() + bytes(1024)


def refused(within: Path, tar: bytes, max_size: int | None = None) -> tuple[str, str, str]:
    """(rule, path, message) of why it is not opened; nothing may have been written anywhere."""
    place, sealed = within / "place", within / "sealed"
    place.mkdir()
    sealed.write_bytes(pack(tar))
    before = snapshot(within)
    with pytest.raises(RefusedError) as caught:
        unseal(sealed, place / "out", None, max_size)
    assert snapshot(within) == before
    finding = caught.value.findings[0]
    return finding.rule, finding.path, finding.message


def folder(name: str) -> Item:
    return (name, tarfile.DIRTYPE, b"")


def file(name: str, content: bytes = b"x") -> Item:
    return (name, tarfile.REGTYPE, content)


def link(name: str, target: str) -> Item:
    return (name, tarfile.SYMTYPE, target)


FILE = file("T/a")
OUT, CIRCLE, TWICE = "the link leads out of the tree", "the link leads in a circle", "a path is there twice"
NO_FOLDER, OUTSIDE = "a member lies in what is not a folder of the archive", "a member lies outside of the one tree"
CONTROL = "the name has control characters"
ONE_ELSEWHERE = "another member has this name, but for case, form of accents or invisible characters"
OTHER_LETTERS = "the link leads through another one, and spells it differently"
LONG, DEEP = "T/" + "/".join(["n" * 200] * 6), "T/" + "/".join("d" * 64)
#: What an archive holds besides the folder T; why the last member that is named is refused.
IN_TREE: list[tuple[str, list[Item], str, str]] = [
    ("absolute", [file("/tmp/evil")], "/tmp/evil", "the path is absolute"),
    ("upwards", [file("T/../../evil")], "T/../../evil", "the path leads upwards (..)"),
    ("backslash", [file("T/..\\evil")], "T/..\\evil", "the name has a backslash, which is a path elsewhere"),
    ("escape codes", [file("T/\x1b[2J")], "T/\x1b[2J", CONTROL),
    ("line feed", [file("T/a\nb")], "T/a\nb", CONTROL),
    ("hard link", [("T/h", tarfile.LNKTYPE, "/etc/passwd")], "T/h", "a member is a hard link"),
    ("character device", [("T/c", tarfile.CHRTYPE, b"")], "T/c", "a member is a character device"),
    ("block device", [("T/b", tarfile.BLKTYPE, b"")], "T/b", "a member is a block device"),
    ("FIFO", [("T/f", tarfile.FIFOTYPE, b"")], "T/f", "a member is a FIFO"),
    ("sparse", [("T/s", tarfile.GNUTYPE_SPARSE, b"")], "T/s", "a member is a sparse file"),
    ("unknown", [("T/s", b"Z", b"")], "T/s", "a member is of an unknown type"),
    ("absolute link", [link("T/l", "/etc")], "T/l", "the link is absolute"),
    ("link out", [link("T/l", "../x")], "T/l", OUT),
    ("link far out", [FOLDER, link("T/d/l", "../d/../../..")], "T/d/l", OUT),
    ("link out by a link", [FOLDER, link("T/d/b", ".."), link("T/d/c", "b/../x")], "T/d/c", OUT),
    ("circle", [link("T/a", "b"), link("T/b", "a")], "T/a", CIRCLE),
    ("long target", [link("T/l", "./" * 512 + "d")], "T/l", "the link's target is longer than 1024 characters"),
    ("too many links", [link(f"T/{number}", f"{number + 1}") for number in range(41)], "T/0", CIRCLE),
    ("through a link", [link("T/l", "."), file("T/l/x")], "T/l/x", NO_FOLDER),
    ("through a file", [file("T/a"), file("T/a/x")], "T/a/x", NO_FOLDER),
    ("no folder", [file("T/a/x")], "T/a/x", NO_FOLDER),
    ("twice", [file("T/a"), file("T/a")], "T/a", TWICE),
    ("link, then file", [link("T/a", "b"), file("T/a")], "T/a", TWICE),
    ("only case differs", [FOLDER, file("T/d/README"), file("T/d/Readme")], "T/d/Readme", ONE_ELSEWHERE),
    ("only accents differ", [file("T/\u00e4"), file("T/a\u0308")], "T/a\u0308", ONE_ELSEWHERE),
    ("accents and case", [file("T/\u1ff7"), file("T/\u03a9\u0342\u0399")], "T/\u03a9\u0342\u0399", ONE_ELSEWHERE),
    ("an invisible character", [file("T/a"), file("T/a\u200c")], "T/a\u200c", ONE_ELSEWHERE),
    ("folders", [FOLDER, folder("T/D")], "T/D", ONE_ELSEWHERE),
    ("a link and a folder", [FOLDER, link("T/D", "x")], "T/D", ONE_ELSEWHERE),
    ("a link, then a folder", [link("T/D", "."), FOLDER], "T/d", ONE_ELSEWHERE),
    ("a link in other letters", [FOLDER, link("T/d/b", ".."), link("T/d/c", "B/../x")], "T/d/c", OTHER_LETTERS),
    ("a folder in other letters", [FOLDER, link("T/d/b", ".."), link("T/c", "D/b/../x")], "T/c", OTHER_LETTERS),
    ("two trees", [folder("U")], "U", OUTSIDE),
    ("long name", [file(f"T/{'n' * 256}")], f"T/{'n' * 256}", "the name is longer than 255 bytes"),
    ("long path", [file(LONG)], LONG, "the path is longer than 1024 bytes"),
    ("deep", [folder(DEEP)], DEEP, "the path is deeper than 64 folders"),
]
UNSAFE = [
    *((name, [TOP, *items], path, message) for name, items, path, message in IN_TREE),
    ("first upwards", [folder("..")], "..", "the path leads upwards (..)"),
    ("dot", [folder(".")], ".", "the path has an empty part"),
    ("the manifest", [folder("manifest.SHA256")], "manifest.SHA256", ONE_ELSEWHERE),
    ("the manifest itself", [folder("MANIFEST.sha256")], "MANIFEST.sha256", TWICE),
    ("no tree", [file("a")], "a", OUTSIDE),
]


@pytest.mark.parametrize(("items", "path", "message"), [case[1:] for case in UNSAFE], ids=[case[0] for case in UNSAFE])
def test_what_is_never_unpacked(items: list[Item], path: str, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path, tar_of(items)) == ("seal.unsafe", path, message)
    [found] = verify_sealed(tmp_path / "sealed", None).findings
    assert (found.rule, found.path, found.message) == ("seal.unsafe", path, message)


def test_links_within_the_tree_are_unpacked(tmp_path: Path) -> None:
    """What is refused above is not refused for being a link."""
    links = {"T/d/l": "../d/./../a", "T/e": "d", "T/f": "e/l", "T/g": "nowhere"}
    items = [TOP, FOLDER, FILE, *(link(*each) for each in links.items())]
    (tmp_path / "sealed").write_bytes(pack(tar_of(items)))
    unseal(tmp_path / "sealed", tmp_path / "out")
    assert (tmp_path / "out" / "T" / "f").read_bytes() == b"x"


DIGEST = hashlib.sha256(b"x").hexdigest()
MANIFESTS = [
    (f"{DIGEST}  T/a\n{DIGEST}  T/b\n", ("seal.missing", "T/b", "a file of the manifest is not there")),
    (f"{'0' * 64}  T/a\n", ("seal.differs", "T/a", "a file has another SHA-256 than the manifest")),
    (f"{DIGEST}  T/b\n", ("seal.extra", "T/a", "a file is there that the manifest does not list")),
    (f"{DIGEST}  T/a\n# folder\tT/e\n", ("seal.missing", "T/e", "an empty folder of the manifest is not there")),
    (f"{DIGEST}  T/a\n# link\tT/l\ta\n", ("seal.missing", "T/l", "a link of the manifest is not there")),
]


@pytest.mark.parametrize(("manifest", "expected"), MANIFESTS)
def test_what_the_manifest_says_otherwise(manifest: str, expected: tuple[str, str, str], tmp_path: Path) -> None:
    assert refused(tmp_path, tar_of([TOP, FILE], manifest.encode())) == expected


@pytest.mark.parametrize(
    "manifest", [b"", b"junk\n", b"\xff\n", f"{DIGEST}  ../a\n".encode(), f"{DIGEST}  T/a\n".encode() * 2]
)
def test_a_manifest_that_is_none(manifest: bytes, tmp_path: Path) -> None:
    (tmp_path / "sealed").write_bytes(pack(tar_of([TOP, FILE], manifest)))
    with pytest.raises(MlsubError, match=r"MANIFEST.sha256 of the archive"):
        unseal(tmp_path / "sealed", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["sealed"]


def header(**fields: bytes) -> bytes:
    """A header with some bytes put over it, and the checksum that fits."""
    info = tarfile.TarInfo("T/a")
    block = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    places = {"name": 0, "size": 124, "type": 156, "magic": 257}
    for field, value in fields.items():
        block[places[field] : places[field] + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def records(content: bytes) -> bytes:
    return header(type=b"x", size=b"%011o\0" % len(content)) + content + bytes(-len(content) % 512) + header()


TOP_HEADER = tarfile.TarInfo("T")
TOP_HEADER.type = tarfile.DIRTYPE
START = TOP_HEADER.tobuf(tarfile.PAX_FORMAT)
NEGATIVE = tarfile.TarInfo("T/a")
NEGATIVE.size = -1
BROKEN = [
    ("nothing", b"", "cut short"),
    ("zeros", bytes(1024), "no manifest"),
    ("no manifest", START + bytes(1024), "no manifest"),
    ("half a header", START[:300], "cut short"),
    ("no end", START, "cut short"),
    ("junk", b"j" * 1024, "is broken"),
    ("gnu", header(magic=b"ustar  \0"), "not one that seal writes"),
    ("is broken", START[:100] + b"0000777" + START[107:], "is broken"),
    ("negative size", START + header(size=b"\xff" * 12), "not one that seal writes"),
    ("base 256", START + header(size=b"\x80" + b"\0" * 10 + b"\1"), "not one that seal writes"),
    ("blank size", START + header(size=b" " * 12), "not one that seal writes"),
    ("folder with content", header(name=b"T\0", type=b"5", size=b"%011o\0" % 512), "not one that seal writes"),
    ("huge records", START + header(type=b"x", size=b"77777777777\0"), "unusual size"),
    ("foreign record", START + records(b"21 GNU.sparse.size=9\n"), "not one that seal writes"),
    ("broken record", START + records(b"99 path=x\n"), "not one that seal writes"),
    ("endless record", START + records(b"0 path=x\n"), "not one that seal writes"),
    ("record without value", START + records(b"9 path x\n"), "not one that seal writes"),
    ("negative record", START + NEGATIVE.tobuf(tarfile.PAX_FORMAT), "not one that seal writes"),
    ("record twice", START + records(b"10 path=x\n10 path=y\n"), "not one that seal writes"),
    ("record not UTF-8", START + records(b"10 path=\xff\n"), "is broken"),
    ("record size", START + records(b"11 size=-1\n"), "not one that seal writes"),
    ("zeros without end", tar_of([TOP, FILE]) + bytes(20000), "follows its end"),
    ("after the end", START + bytes(1024) + b"more", "follows its end"),
    ("after the manifest", tar_of([TOP, FILE])[:-1024] + header() + bytes(1024), "follows the manifest"),
    ("in the padding", START + header(size=b"%011o\0" % 1) + b"x" * 512, "hides"),
]


@pytest.mark.parametrize(("tar", "why"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_no_archive_of_seal(tar: bytes, why: str, tmp_path: Path) -> None:
    rule, path, message = refused(tmp_path, tar)
    assert (rule, path) == ("seal.damaged", "sealed")
    assert why in message


def test_a_bomb_is_refused_before_it_is_unpack(tmp_path: Path) -> None:
    """300 MB of zeros would come out of 300 kB; the first header that says so is enough."""
    big = tarfile.TarInfo("T/a")
    big.size = 300 << 20
    expected = ("seal.too-much", "T/a", "unpacked it is more than 200 times as large")
    assert refused(tmp_path, START + big.tobuf(tarfile.PAX_FORMAT) + bytes(4 << 20)) == expected


def test_files_beyond_what_octal_digits_can_say() -> None:
    big = tarfile.TarInfo("T/a")
    big.size = 9 << 30
    assert next(read_members(io.BytesIO(big.tobuf(tarfile.PAX_FORMAT)))).size == 9 << 30


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [TOP, *[file(f"T/{name}", bytes(100)) for name in "abc"]]
    expected = ("seal.too-much", "T/c", "unpacked it is more than 299 bytes")
    assert refused(tmp_path, tar_of(items), 299) == expected
    expected = ("seal.too-much", "T/b", "there are more than 2 members")
    (tmp_path / "other").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("mlsub.packing.archive.MAX_MEMBERS", 2)
        assert refused(tmp_path / "other", tar_of(items)) == expected
    (tmp_path / "sealed").write_bytes(pack(tar_of(items)))
    assert unseal(tmp_path / "sealed", tmp_path / "out", None, 300).size == 300


def test_a_manifest_that_is_longer_than_its_members_need_is_refused(tmp_path: Path) -> None:
    """A few kilobytes would unpack to as many empty lines as fit into memory."""
    expected = ("seal.too-much", "MANIFEST.sha256", "the manifest has more than 65832 bytes")
    assert refused(tmp_path, tar_of([TOP, FILE], b"\n" * (1 << 20))) == expected


@pytest.mark.slow
def test_links_that_take_long_to_follow_are_refused() -> None:
    """40 links lead to one another; all the others through all of these."""
    chain = {f"T/{number}": "d/../" * 60 + f"{number + 1}" for number in range(39)}
    assert link_problems(chain) == {}
    links = link_problems(chain | {f"T/to-{number}": "0" for number in range(1000)})
    assert 0 < len(links) < 1000 and set(links.values()) == {"there are too many links to follow"}


def test_a_manifest_without_end_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("MANIFEST.sha256")
    info.size = 200 << 20
    rule, path, _ = refused(tmp_path, START + info.tobuf(tarfile.PAX_FORMAT))
    assert (rule, path) == ("seal.too-much", "MANIFEST.sha256")


@given(st.data())
def test_no_tar_however_changed_raises_anything_else(data: st.DataObject) -> None:
    tar = bytearray(tar_of([TOP, FILE, file("T/ä" + "n" * 120), link("T/l", "a")]))
    for _ in range(data.draw(st.integers(1, 4))):
        tar[data.draw(st.integers(0, len(tar) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(tar)))
    with contextlib.suppress(RefusedError, MlsubError, DamagedError):
        read_archive(io.BytesIO(pack(bytes(tar[:cut]))), discard)


@given(st.binary(max_size=400), st.booleans(), st.booleans())
def test_no_bytes_raise_anything_else_in_gzip(content: bytes, begun: bool, digested: bool) -> None:
    content = pack(b"")[:10] * begun + content
    if digested:
        content += trailer(hashlib.sha256(content).digest())
    with pytest.raises(DamagedError):
        read_archive(io.BytesIO(content), discard)


@pytest.mark.slow
def test_what_is_packed_well_comes_out_in_small_pieces() -> None:
    sizes: list[int] = []
    sealed = io.BytesIO(pack(tar_of([TOP, file("T/a", bytes(50 << 20))])))
    read_archive(sealed, lambda _, pieces: sizes.extend(map(len, pieces)))
    assert (max(sizes), sum(sizes)) == (CHUNK, 50 << 20)
