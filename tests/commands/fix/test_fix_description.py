"""Repairs of a description change what they name and nothing else, least of all a number."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.fix.repairs import ALL, Repair, fix_description
from mlsub.packing.edits import edited, lines_of
from mlsub.rounds import get_round
from mlsub.systems.fields import status_spelling

ROUND_4_0, ROUND_4_1 = get_round("training", "4.0").statuses, get_round("training", "4.1").statuses

#: Before, after, and the rules of the repairs with their lines.
CASES = [
    ('{"a": 1, "a": 1}', '{"a": 1}', [("system.duplicate-key", 1)]),
    ('{\n  "a": "x",\n  "b": 2,\n  "a": "x"\n}\n', '{\n  "a": "x",\n  "b": 2\n}\n', [("system.duplicate-key", 4)]),
    ('{"a": [1, {"b": 2.50, "b": 2.50}], "c": 0}', '{"a": [1, {"b": 2.50}], "c": 0}', [("system.duplicate-key", 1)]),
    ('{"a": {"x": 1, "y": 2}, "a": {"y": 2, "x": 1}}', '{"a": {"x": 1, "y": 2}}', [("system.duplicate-key", 1)]),
    ('{"a": 1, "a": 1, "a": 1}', '{"a": 1}', [("system.duplicate-key", 1)] * 2),
    ('{"a": 1, "a": 1.0}', None, []),
    ('{"a": 1, "a": true}', None, []),
    ('{"a": "1", "a": 1}', None, []),
    ('{"a": 1, "a": 1, "a": 2}', None, []),
    ('{"a": "}\\",{", "a": "}\\",{"}', '{"a": "}\\",{"}', [("system.duplicate-key", 1)]),
    ('\ufeff{"a": 1}', '{"a": 1}', [("file.byte-order-mark", 1)]),
    ('{\r\n"a": 1}\r\n', '{\n"a": 1}\n', [("file.line-ends", 1)]),
    ('{"a": "x  "} \t\n ', '{"a": "x  "}\n', [("file.trailing-blanks", 1)]),
    ('{"status": "onprem"}', '{"status": "Available on-premise"}', [("system.status", 1)]),
    ('{"status": "RDI"}', '{"status": "Research, Development, or Internal (RDI)"}', [("system.status", 1)]),
    ('{"status": "Available on-premise"}', None, []),
    ('{"status": "soon"}', None, []),
    ('{"status": "cloud", "status": "cloud"}', '{"status": "Available cloud"}', None),
    ('{"status": "cloud", "status": "onprem"}', None, []),
    ('{"x": {"status": "cloud"}}', None, []),
    ('[{"status": "cloud"}]', None, []),
    ('{"a": 1,}', None, []),
    ("[" * 2000 + "]" * 2000, None, []),
    ("", None, []),
]


def mend(before: bytes, statuses: Any, wanted: tuple[str, ...] = ALL) -> tuple[bytes, list[Repair]]:
    lines = lines_of(before)
    edits, repairs = fix_description(lines, statuses, wanted)
    return edited(lines, edits), repairs


@pytest.mark.parametrize(("before", "after", "rules"), CASES)
def test_repairs(before: str, after: str | None, rules: list[tuple[str, int]] | None) -> None:
    mended, repairs = mend(before.encode(), ROUND_4_1)
    assert mended.decode() == (before if after is None else after)
    if rules is not None:
        assert [(repair.rule, repair.line) for repair in repairs] == rules


def test_a_status_is_spelled_as_the_round_wants_it() -> None:
    assert ROUND_4_0 is not None and ROUND_4_1 is not None
    assert status_spelling("Available  on-premise", ROUND_4_0) == "available on-premise"
    assert status_spelling("OnPrem", ROUND_4_0) is None  # allowed as it is
    assert status_spelling("available in cloud", ROUND_4_0) == "available cloud"
    assert status_spelling("available on-premise", ROUND_4_1) == "Available on-premise"
    assert status_spelling("research", ROUND_4_1) == "Research, Development, or Internal (RDI)"
    assert status_spelling("on sale", ROUND_4_1) is None


def test_only_what_is_selected_is_repaired() -> None:
    before = b'\xef\xbb\xbf{"a": 1, "a": 1} \r\n'
    assert mend(before, None, ("file.line",)) == (before, [])  # with its mark it is no JSON, and stays
    assert mend(before, None, ("file",))[0] == b'{"a": 1, "a": 1}\n'


def test_a_hostile_description_is_repaired_or_left() -> None:
    text = "{" + ",\n".join(['"a":1'] * 10_000) + "}"
    assert mend(text.encode(), ROUND_4_1)[0] == b'{"a":1}'
    assert mend(b'{"a":"' + b" \n" * 10_000 + b'"}', None)[1] == []
    assert mend(b" " * 100_000 + b"{}", None)[1] == []


names = st.sampled_from(["a", "b", "status", 'q"', "\u00e9"])
blanks = st.sampled_from(["", " ", "\n", "  \n", "\r\n", "\t"])
numbers = st.sampled_from(["0", "-1", "1", "1.0", "1e5", "12345678901234567890.5", "0.10"])
atoms = st.one_of(numbers, st.sampled_from(['"x"', '"onprem"', "null", "true", '"a, }"', '"1  "']))


def _object(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.builds(
        lambda w, n, v, x: f"{w}{json.dumps(n, ensure_ascii=False)}:{x}{v}{w}", blanks, names, values, blanks
    )
    return st.builds(lambda members, w: "{" + (",".join(members) or w) + "}", st.lists(member, max_size=5), blanks)


values = st.recursive(
    atoms,
    lambda inner: st.one_of(_object(inner), st.lists(inner, max_size=3).map(lambda v: f"[{', '.join(v)}]")),
    max_leaves=8,
)


def distinct_numbers(text: str) -> Counter[str]:
    """Each number of a text as it is written, those of members that repeat an equal one left out."""
    found: list[str] = []

    def number(digits: str) -> Any:
        return ("number", digits)

    def members(pairs: list[tuple[str, Any]]) -> Any:
        kept: dict[str, list[Any]] = {}
        for name, value in pairs:
            kept.setdefault(name, []).append(value)
        once = {name: all_[:1] if len({repr(v) for v in all_}) == 1 else all_ for name, all_ in kept.items()}
        return ("object", sorted(once.items()))

    def walk(value: Any) -> None:
        if isinstance(value, tuple) and value[0] == "number":
            found.append(value[1])
        elif isinstance(value, (list, tuple)):
            for one in value:
                walk(one)

    walk(json.loads(text, parse_int=number, parse_float=number, object_pairs_hook=members))
    return Counter(found)


@given(_object(values), st.booleans(), blanks)
def test_numbers_and_meaning_stay_and_a_second_time_finds_nothing(text: str, mark: bool, end: str) -> None:
    before = (("\ufeff" if mark else "") + text + end).encode()
    mended, repairs = mend(before, ROUND_4_1)
    after = mended.decode()
    old, new = json.loads(text), json.loads(after)
    for content in (old, new):
        content.pop("status", None)
    assert new == old
    assert distinct_numbers(after) == distinct_numbers(text)
    assert bool(repairs) == (mended != before)
    assert mend(mended, ROUND_4_1)[1] == []
