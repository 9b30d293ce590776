"""Redaction finds what is private, leaves what is not, and never touches a record."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io import MlsubError
from mlsub.log import reader
from mlsub.log.free_text import LineSearch
from mlsub.log.private.known import MAX_LOOKED_UP, MAX_MEMBERS, members
from mlsub.log.private.model import Spot, Where
from mlsub.log.rewrite import records_of, rewrite
from mlsub.packing.manifest import Redact
from mlsub.packing.redactor import Redactor, compile_text
from tests.commands.fix.logs import LISTS, events, logs
from tools.oracle.shared import ABSENT, CORPUS, present

RECORD = b':::MLLOG {"time_ms": 1, "key": "a", "value": "/home/alice", "metadata": {}}'
KEY = "AKIA" + "Q" * 16
#: Lines with what looks like a key, and what becomes of them; private.yaml has those without.
KEYS = [
    (f"key {KEY} done", "key <secret-1> done"),
    ("HF_TOKEN='hf_" + "a" * 34 + "'", "HF_TOKEN='<secret-1>'"),
    (f"key {KEY.lower()}\nkey {KEY}", f"key {KEY.lower()}\nkey <secret-1>"),
]


def redact(folder: Path, content: bytes, redactor: Redactor | None = None) -> bytes:
    file = folder / "result_0.txt"
    file.write_bytes(content)
    redactor = redactor or Redactor()
    assert redactor.survey([file]) == {}
    rewrite(file, redactor.edit())
    return file.read_bytes()


@pytest.mark.parametrize(("line", "redacted"), [*LISTS["replaced"], *KEYS])
def test_what_is_private_is_replaced(line: str, redacted: str, tmp_path: Path) -> None:
    assert redact(tmp_path, line.encode() + b"\n").decode() == redacted + "\n"


def test_what_the_caller_names_is_replaced(tmp_path: Path) -> None:
    wanted = Redactor(Redact(users=("li",), hosts=("box",), patterns=("proj-*-x", "Falcon"), env=True))
    text = b"li on box: proj-9-x of Falcon, live\n  3: export A_B=1 2\nCC='x y'\nabc=5\n"
    assert redact(tmp_path, text, wanted) == (
        b"<user-1> on <host-1>: <text-1> of <text-2>, live\n  3: export A_B=<env>\nCC=<env>\nabc=5\n"
    )


def test_a_text_of_a_file_is_replaced_as_it_stands_there(tmp_path: Path) -> None:
    assert redact(tmp_path, b"a*b*c*d axb\n", Redactor(also=("a*b*c*d", "a*b"))) == b"<text-1> axb\n"


@pytest.mark.parametrize("text", ["", "*", " ", "a*b*c*d", "a\nb"])
def test_a_text_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(MlsubError, match="cannot look for"):
        compile_text(text)


def test_lists_of_hosts_are_taken_apart_within_bounds() -> None:
    assert members(b"n[08-10,12],login1,b[1]") == [b"n08", b"n09", b"n10", b"n12", b"login1", b"b1"]
    assert len(members(b"n[1-999999999]")) == MAX_MEMBERS + 1


def test_the_same_thing_has_the_same_placeholder_in_all_logs_and_later_calls_go_on(tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"result_{number}.txt" for number in range(3))
    one.write_bytes(b"/home/alice\nerin is here\n")
    two.write_bytes(b"/home/erin\n/home/alice\n")
    redactor = Redactor()
    redactor.survey([one, two])
    for file in (one, two):
        rewrite(file, redactor.edit())
    assert one.read_bytes() == b"<path-1>\n<user-1> is here\n"
    assert two.read_bytes() == b"<path-2>\n<path-1>\n"
    three.write_bytes(b"/home/frank\n")
    later = Redactor()
    later.survey([one, two, three])
    rewrite(three, later.edit())
    assert three.read_bytes() == b"<path-3>\n"


def test_what_stands_in_a_record_is_counted_and_left(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b"x\n/home/alice: " + RECORD + b" " + RECORD + b" /home/alice\r" + RECORD + b"\nalice\n")
    redactor = Redactor()
    redactor.survey([file])
    second, third = Spot("result_0.txt", 2), Spot("result_0.txt", 3)
    in_record = Spot("result_0.txt", 2, "a")
    assert {key: item.counts for (_, key), item in redactor.items.items()} == {
        b"/home/alice": {Where.FREE: 1, Where.RECORD: 4},
        b"alice": {Where.FREE: 1},
    }
    assert {key: item.places for (_, key), item in redactor.items.items()} == {
        b"/home/alice": {Where.FREE: [second], Where.RECORD: [in_record]},
        b"alice": {Where.FREE: [third]},
    }
    rewrite(file, redactor.edit())
    assert file.read_bytes() == (
        b"x\n<path-1>: " + RECORD + b" " + RECORD + b" /home/alice\r" + RECORD + b"\n<user-1>\n"
    )


@given(logs, st.booleans(), st.sampled_from([1 << 20, 64]))
def test_no_record_is_altered_and_a_second_time_finds_nothing(data: bytes, env: bool, chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder, patch.object(reader, "CHUNK", chunk):
        file = Path(folder, "result_0.txt")
        file.write_bytes(data)
        before, proof = events(file), list(records_of(file))
        done = redact(Path(folder), data, Redactor(Redact(env=env)))
        assert events(file) == before
        assert list(records_of(file)) == proof
        assert done.count(b"\n") == data.count(b"\n") and done.count(b"\r") == data.count(b"\r")
        assert [name.name for name in Path(folder).iterdir()] == ["result_0.txt"]
        if chunk > 64:
            again = Redactor(Redact(env=env))
            again.survey([file])
            assert [item for item in again.items.values() if Where.FREE in item.counts] == []


def test_what_is_kept_of_lines_is_bounded(tmp_path: Path) -> None:
    text = b"".join(b"%s is at 10.1.2.3\n" % (b"x" * width) for width in range(100))
    redactor = Redactor()
    with (
        patch("mlsub.log.free_text._MAX_KEPT", 0),
        patch("mlsub.packing.redactor._AT_ONCE", 1),
        patch.object(reader, "CHUNK", 64),
    ):
        assert redact(tmp_path, text, redactor) == text.replace(b"10.1.2.3", b"<address-1>")
    searches = [search for search in vars(redactor._finder).values() if isinstance(search, LineSearch)]
    assert max(len(search._found) + len(search._silent) for search in searches) < 10


@pytest.mark.slow
def test_hosts_of_many_lists_are_looked_up_within_bounds(tmp_path: Path) -> None:
    file, made = tmp_path / "result_0.txt", [0]

    def counted(hosts: bytes) -> list[bytes]:
        found = members(hosts)
        made[0] += len(found)
        return found

    same = b"SLURM_NODELIST=n[1-999999999]\n" * 2000
    file.write_bytes(same + b"".join(b"SLURM_NODELIST=n[1-999999999],a%d\n" % n for n in range(2000)))
    redactor = Redactor()
    with patch("mlsub.log.private.known.members", counted):
        redactor.survey([file])
    assert made[0] < MAX_LOOKED_UP + 5000
    assert len(redactor._finder.names) < 2 * 5000
    assert list(redactor.replace([b"n100 n4000"])) == [b"<host-2002> <host-2003>"]


def test_a_placeholder_is_never_replaced(tmp_path: Path) -> None:
    wanted = Redactor(Redact(users=("user", "text"), patterns=("text", "1>"), env=True))
    assert (
        redact(tmp_path, b"user <user-7> text 11> <env>\n", wanted) == b"<user-8> <user-7> <text-1> 1<text-2> <env>\n"
    )


def test_a_write_that_would_lose_a_record_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b"/home/alice\n" + RECORD + b"\n")
    redactor = Redactor()
    redactor.survey([file])
    with (
        patch.object(redactor, "replace", lambda texts: [text.replace(b"\n", b":::MLLOG ") for text in texts]),
        pytest.raises(MlsubError, match="left as it was"),
    ):
        rewrite(file, redactor.edit())
    assert file.read_bytes() == b"/home/alice\n" + RECORD + b"\n"
    assert [name.name for name in tmp_path.iterdir()] == ["result_0.txt"]


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("entry", ["v5.1/Krai", "v2.1/Azure-HazyResearch", "v4.1/Cisco", "v5.0/Google"])
def test_published_logs_keep_their_events(entry: str, tmp_path: Path) -> None:
    files = sorted((CORPUS / entry / "results").glob("*/*/result_*.txt"))[::5]
    redactor = Redactor()
    assert redactor.survey(files) == {}
    for file in files:
        rewrite(file, redactor.edit(), tmp_path / "copy.txt")
        assert events(file) == events(tmp_path / "copy.txt")
        (tmp_path / "copy.txt").unlink()
    assert redactor.items
