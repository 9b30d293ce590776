"""What a log prints of its settings, and what a configuration assigns."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.log.free_text import FreeText
from mlsub.log.lengths import StatedSetting
from mlsub.log.reader import RecordCutter
from mlsub.log.settings import _MOST, SettingsReader, read_configuration

TABLES = load_yaml(Path(__file__).with_name("settings.yaml"))
LINE = b"  micro_batch_size: 2\n"


def printed(*pieces: bytes) -> dict[str, list[list[Any]]]:
    reader, cutter = SettingsReader(), RecordCutter()
    for cut in (*(partial(cutter.feed, piece) for piece in pieces), cutter.close):
        cut()
        reader.free(FreeText.of(cutter))
    return {name: [[one.value, one.line] for one in values] for name, values in reader.finish().items()}


@pytest.mark.parametrize(("text", "expected"), TABLES["printed"])
def test_a_log_prints_settings_outside_of_its_records(text: str, expected: dict[str, Any]) -> None:
    assert printed(text.encode()) == expected


@pytest.mark.parametrize(("name", "text", "expected"), TABLES["configurations"])
def test_a_configuration_assigns_literals(name: str, text: str, expected: dict[str, Any]) -> None:
    found = read_configuration(name, text.encode())
    assert {name: [of.value, of.line] for name, of in found.items()} == expected


def test_settings_are_called_as_the_text_does() -> None:
    assert read_configuration("a.sh", b"export MAX_LR=1e-3\n") == {"learning_rate": StatedSetting(0.001, 1, "MAX_LR")}


@given(cuts=st.lists(st.integers(0, 60), max_size=4))
def test_the_pieces_of_a_log_do_not_matter(cuts: list[int]) -> None:
    text = b"max_steps: 100\n" + LINE
    edges = [0, *sorted(cuts), len(text)]
    assert printed(*(text[a:b] for a, b in pairwise(edges))) == printed(text)


@given(text=st.binary(max_size=200))
def test_any_bytes_are_read(text: bytes) -> None:
    printed(text, LINE)
    read_configuration("a.sh", text)
    read_configuration("a.yaml", text)


def test_what_is_kept_is_bounded() -> None:
    many = b"".join(b"micro_batch_size: %d\n" % number for number in range(100))
    assert len(printed(many)["micro_batch_size"]) == 5
    assert printed(b"x" * _MOST + b"\n", LINE) == {}
    assert printed(b"x" * (1 << 15) + LINE) == {}, "so far into a line nobody looks"
