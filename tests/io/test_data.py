"""Data that ship are read as YAML once and kept as bytecode is: never believed for another text, never code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io import data
from mlsub.io.data import MAX_LEVELS, SHALLOW, load_yaml, loads, too_deep


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "rules.yaml").write_text("runs: 5")
    return tmp_path / "rules.yaml"


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The texts that are read as YAML; what they hold is kept in ``__pycache__`` beside the file."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    texts: list[bytes] = []
    parsed = data._parse

    def spy(text: bytes) -> Any:
        texts.append(text)
        return parsed(text)

    monkeypatch.setattr(data, "_parse", spy)
    return texts


@pytest.mark.parametrize(
    "text", ["a: [1, 2.5, x, null, true, .inf]", "8192: {0.5: no}", "- {}", "a: é\n", f"a: {2**63}", ""]
)
def test_what_a_file_holds_is_read_as_yaml_once(text: str, tmp_path: Path, file: Path, reads: list[bytes]) -> None:
    file.write_text(text)
    first = load_yaml(file)
    assert repr(load_yaml(file)) == repr(first)
    assert reads == [text.encode()]
    assert [kept.name for kept in (tmp_path / "__pycache__").iterdir()] == ["rules.yaml.msgpack"]


@pytest.mark.parametrize("text", ["a: 2021-06-30", f"a: {2**70}", "2021-06-30: 3"])
def test_what_would_come_back_as_something_else_is_not_kept(text: str, file: Path, reads: list[bytes]) -> None:
    file.write_text(text)
    assert repr(load_yaml(file)) == repr(load_yaml(file))
    assert len(reads) == 2


def test_an_edited_file_counts_at_once_whatever_its_size_and_times_say(file: Path, reads: list[bytes]) -> None:
    assert load_yaml(file) == {"runs": 5}
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_text("runs: 9")
    os.utime(file, ns=times)
    assert load_yaml(file) == {"runs": 9}
    assert load_yaml(file) == {"runs": 9}
    assert len(reads) == 2


@pytest.mark.parametrize("damage", [b"", b"\xff" * 9, b"\x92\xc4\x07runs: 5", b"\x93\xc4\x07runs: 5\x01", b"\x01"])
def test_what_is_damaged_is_read_and_written_anew(damage: bytes, file: Path, reads: list[bytes]) -> None:
    load_yaml(file)
    kept = file.parent / "__pycache__" / "rules.yaml.msgpack"
    whole = kept.read_bytes()
    kept.write_bytes(damage)
    assert load_yaml(file) == {"runs": 5}
    assert (kept.read_bytes(), len(reads)) == (whole, 2)


def test_nothing_is_written_where_the_interpreter_writes_no_bytecode(
    tmp_path: Path, file: Path, reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert (load_yaml(file), load_yaml(file)) == ({"runs": 5}, {"runs": 5})
    assert list(tmp_path.iterdir()) == [file]


def test_bytecode_that_lies_elsewhere_takes_the_data_with_it(
    tmp_path: Path, file: Path, reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "elsewhere"))
    assert (load_yaml(file), load_yaml(file), len(reads)) == ({"runs": 5}, {"runs": 5}, 1)
    assert not (tmp_path / "__pycache__").exists()


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path, file: Path, reads: list[bytes]) -> None:
    (tmp_path / "__pycache__").write_text("a file in the place of the folder")
    assert (load_yaml(file), load_yaml(file), len(reads)) == ({"runs": 5}, {"runs": 5}, 2)


@pytest.mark.slow
def test_whoever_installs_mlsub_can_keep_all_files(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-m", "mlsub.io.data"], check=True, env=environment)
    kept = {file.name.removesuffix(".msgpack") for file in tmp_path.rglob("*.msgpack")}
    assert {file.name for file in (Path(data.__file__).parents[1] / "rules").glob("*.yaml")} <= kept


# JSON is read to the same depth by every Python and from every depth of calls.


def arrays(levels: int, inside: str = "") -> str:
    return "[" * levels + inside + "]" * levels


def objects(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize("made", [arrays, objects])
def test_the_deepest_is_read_and_one_level_more_is_not(made: Any) -> None:
    assert loads(made(MAX_LEVELS)) == json.loads(made(MAX_LEVELS))
    assert loads(made(MAX_LEVELS).encode("utf-16")) == json.loads(made(MAX_LEVELS))
    for text in (made(MAX_LEVELS + 1), made(MAX_LEVELS + 1).encode(), made(100_000)):
        with pytest.raises(RecursionError):
            loads(text)


def test_nothing_short_is_deep() -> None:
    assert len(arrays(MAX_LEVELS)) == SHALLOW


@pytest.mark.parametrize(
    "text",
    [
        arrays(1, ",".join(["[]"] * 1000)),
        arrays(1, '"' + "[" * 1000 + '"'),
        arrays(1, r'"\"' + "[{" * 1000 + '"'),
        arrays(MAX_LEVELS, r'"\\",' + '"]["'),
    ],
    ids=["side by side", "in a string", "behind an escaped quote", "behind an escaped backslash"],
)
def test_brackets_that_are_no_levels(text: str) -> None:
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[" * MAX_LEVELS, ValueError),
        ("[" * (MAX_LEVELS + 1), RecursionError),
        ("[" * (MAX_LEVELS + 1) + "x", RecursionError),
        ("x" + "[" * 100_000, ValueError),
        (arrays(1) + "[" * 100_000, ValueError),
        (arrays(1, "1" * 5000), ValueError),
    ],
)
def test_what_is_not_json_is_deep_only_up_to_the_error(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        loads(text)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(_json, st.integers(0, 5))
def test_depth_is_that_of_the_value(value: object, more: int) -> None:
    for _ in range(MAX_LEVELS - _levels(value) + more):
        value = [value]
    assert too_deep(json.dumps(value)) == (more > 0)


def _levels(value: object) -> int:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    return 0 if inner is None else 1 + max(map(_levels, inner), default=0)


TWO_THREADS = """
from threading import Event, Thread, current_thread

import msgspec

from mlsub.io.data import decoder

preparing, asked = Event(), Event()


def slowly():
    if current_thread() is first:
        preparing.set()
        asked.wait()
        asked.clear()
        asked.wait(0.5)  # Nobody sets it again: the other thread has this long to go wrong.
    return int


class Inner(msgspec.Struct):
    number: "slowly()"


class Outer(msgspec.Struct):
    inner: Inner


first = Thread(target=decoder, args=(Outer,))
first.start()
preparing.wait()
asked.set()
print(decoder(Outer).decode(msgspec.msgpack.encode({"inner": {"number": 3}})).inner.number)
first.join()
"""


def test_two_threads_may_prepare_one_type() -> None:
    """Results of workers come in by a thread of their own, while the main thread reads the cache."""
    done = subprocess.run([sys.executable, "-c", TWO_THREADS], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
