"""Records of v0.6: decoded as its official parser decodes them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.compliance_checker.mlp_parser import ruleset_060

from mlsub.io.data import MAX_LEVELS
from mlsub.log.event import Defect, Event, decode_mll
from mlsub.log.reader import TOKEN_MLL

GOOD: list[tuple[str, tuple[float, str, Any, Any]]] = [
    (' 1541635200.123 run_start: {"value": 1, "metadata": {"a": 2}}', (1541635200123.0, "run_start", 1, {"a": 2})),
    (' 1.5 seed : {"value": null, "metadata": {}}', (1500.0, "seed", None, {})),
    (' 7 seed:\t{"value": [1, NaN]}  ', (7000.0, "seed", "nan", None)),
    (' .5 x: {"metadata": {}, "value": "\u00e9"}', (500.0, "x", "\u00c3\u00a9", {})),
]
BAD = [
    ("", "log.record-format"),
    ("OG {}", "log.record-format"),
    ('  1.5 seed: {"value": 1}', "log.record-format"),
    (' -1 seed: {"value": 1}', "log.record-format"),
    (' 1.5 se ed: {"value": 1}', "log.record-format"),
    (' 1.5 seed:{"value": 1}', "log.record-format"),
    (' 1.2.3 seed: {"value": 1}', "log.record-time"),
    (" 1.5 seed: {", "log.record-undecodable"),
    (" 1.5 seed: " + "[" * 100_000, "log.record-undecodable"),
    (' 1.5 seed: {"value": ' + "[" * MAX_LEVELS + "]" * MAX_LEVELS + "}", "log.record-undecodable"),
]


@pytest.mark.parametrize(("text", "wanted"), GOOD)
def test_a_record_becomes_an_event_with_its_time_in_ms(text: str, wanted: tuple[float, str, Any, Any]) -> None:
    event = decode_mll(3, text.encode())
    assert isinstance(event, Event)
    value = "nan" if isinstance(event.value, list) and math.isnan(event.value[1]) else event.value
    assert (event.line, event.time_ms, event.key, value, event.metadata) == (3, *wanted)


def test_the_deepest_record_that_is_read() -> None:
    brackets = MAX_LEVELS - 1
    event = decode_mll(3, (' 1.5 seed: {"value": ' + "[" * brackets + "]" * brackets + "}").encode())
    assert isinstance(event, Event)
    assert isinstance(event.value, list)


@pytest.mark.parametrize(("text", "rule"), BAD)
def test_what_the_parser_refuses_is_a_defect(text: str, rule: str) -> None:
    defect = decode_mll(3, text.encode())
    assert isinstance(defect, Defect)
    assert (defect.rule, defect.line) == (rule, 3)
    assert len(defect.reason) <= 100


@pytest.mark.parametrize("content", ["1", "[]", '"text"', "{}", '{"metadata": {}}'])
def test_a_record_without_a_value_is_passed_over_as_by_the_checker(content: str) -> None:
    event = decode_mll(1, f" 1.5 run_start: {content}".encode())
    assert isinstance(event, Event)
    assert event.key is None


@given(st.text(alphabet=' 0123456789.:_abrun_start{}"value:[],\t\x0b\x85\xa0-', max_size=60))
def test_any_text_is_taken_or_refused_as_by_the_official_parser(text: str) -> None:
    line = f"{TOKEN_MLL.decode()}{text}"
    lines, failed = ruleset_060.parse_generator([line])
    ours = decode_mll(1, text.encode("latin-1"))
    if TOKEN_MLL.decode() in text:
        return
    assert isinstance(ours, Defect) == bool(failed)
    assert isinstance(ours, Event) == bool(lines)
