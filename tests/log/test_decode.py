"""Reader and decoder together see what the official parser sees: the same records, the same broken ones."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlperf_logging.compliance_checker.mlp_parser import ruleset_100 as official

from mlsub.io.data import MAX_LEVELS
from mlsub.io.show import readable
from mlsub.log.event import Defect, Event, decode
from mlsub.log.reader import TOKEN, RecordCutter, read_records
from tests.log.pushing import decoded
from tests.log.test_events import KeepingReader, Kept
from tools.support.effort import effort

FEW = settings(derandomize=True, deadline=None, max_examples=effort(150, 400, 50))

# JSON as it stands in a file, byte by byte: what a value, a time or a key may be, and what only looks like one.
# fmt: off
VALUES = [
    b"0", b"-0", b"-0.0", b"1", b"-1", b"1.5", b"1e3", b"1E+3", b"1e-999", b"1e999", b"-1e999", b"true", b"null",
    b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809", b"9" * 400, b"9" * 4300, b"9" * 4301,
    b"NaN", b"Infinity", b"-Infinity", b"-NaN", b"nan", b"01", b"1.", b".5", b"+1", b"0x1", b"1_0", b"tru", b"", b"-",
    b'""', b'"a"', b'"12"', b'"\\ud800"', b'"\\udc00x"', b'"\\ud83d\\ude00"', b'"\\ud83d\\u0041"', b'"\\u12"', b'"\\x"',
    b'"\x00"', b'"\t"', b'"\x1f"', b'"\x7f"', b'"\\u0000"', b'"\x85\xa0"', b'"\xe9"', b'"\xc3\xa9"', b'"\xc0\x80"',
    b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xf0\x9f\x98\x80"', b'"\\/\\b\\f\\n\\r\\t\\"\\\\"', b"'a'", b'"a',
    b"[]", b"[1, 2]", b"[1,]", b"[[[[]]]]", b"[\x0b1]", b"[\xa01]", b"[\t1\x0c]", b"{}", b'{"a": 1, "a": 2}', b"{1: 2}",
    b'{"status": "success"}', b'{"a": NaN}', b'{"a": {"b": [null]}}', b'{"a": 1,}', b'{"\\u0061": 1}', b'{"\xff": 1}',
]
TIMES = [
    b"1", b"1623875700000", b"1623875700000.5", b"-1", b"0", b"1e3", b"1e999", b"NaN", b"-Infinity", b"true", b"null",
    b'"12"', b'" 12\\n"', b'"1_0"', b'"1e5"', b'"nan"', b'"12:30"', b'""', b'"\\u0661\\u0662"', b'"\\u00a012"',
    b'"1.2.3"', b"[]", b"{}", b"[1]", b"9" * 300, b"9" * 400, b"9" * 5000, b"18446744073709551616", b"01",
    b"1" + b"0" * 309,
]
KEYS = [b'"run_start"', b'"run_stop"', b'"k\\u0065y"', b'""', b"null", b"1", b"[1]", b'"\xe9"', b'"a b"']
NOT_OBJECTS = [b"", b"[]", b"[1, 2]", b"3", b'"run_stop"', b"null", b"true", b"NaN", b"{}", b"{", b"}", b'{"key"}']
#: What may stand before a token, between token and record, and behind a record.
AROUND = [
    b"", b"", b"", b" ", b"\t", b"  ", b"\x0b", b"\x0c", b"\x85", b"\xa0", b"\x1c", b"\x1f", b" \xa0\x85", b"\x00",
    b"x", b"\xc2\xa0", b"\xc2\x85", b"\xe2\x80\x83", b"\xef\xbb\xbf", b"\xe0", b"0: ", b":::MLLOG", b":", b"{}", b",",
    b"\xff",
]
ENDS = [b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n", b"", b"\x0b", b"\x85"]
# fmt: on

GOOD_FIELDS = {b'"time_ms"': b"1", b'"key"': b'"k"', b'"value"': b"1.5", b'"metadata"': b'{"f": [1]}'}
ODD_FIELDS = st.one_of(
    st.tuples(st.just(b'"time_ms"'), st.sampled_from(TIMES)),
    st.tuples(st.just(b'"key"'), st.sampled_from(KEYS)),
    st.tuples(st.sampled_from([b'"value"', b'"metadata"', b'"event_type"', b'"unknown"']), st.sampled_from(VALUES)),
    st.tuples(st.sampled_from([b'"k\\u0065y"', b'"KEY"', b'"\xe9"', b'"namespace"']), st.just(b'""')),
)


@st.composite
def seldom(draw: Any, odd: st.SearchStrategy[Any], usual: Any, one_in: int) -> Any:
    """Mostly the usual, for a log where everything is odd has no good record left."""
    return draw(odd) if draw(st.integers(1, one_in)) == one_in else usual


@st.composite
def objects(draw: Any) -> bytes:
    """A record with at most a few oddities: fields replaced, missing, repeated or unknown, in any order, cut short."""
    whole = {**GOOD_FIELDS, **dict(draw(seldom(st.lists(ODD_FIELDS, min_size=1, max_size=2), [], 2)))}
    fields = draw(st.permutations(list(whole.items())))
    fields = fields[draw(seldom(st.just(1), 0, 5)) :] + draw(
        seldom(st.lists(ODD_FIELDS, min_size=1, max_size=1), [], 5)
    )
    text = b"{" + b", ".join(name + b": " + value for name, value in fields) + b"}"
    return text[: draw(seldom(st.integers(0, len(text)), None, 10))]


@st.composite
def logs(draw: Any) -> bytes:
    """A log: free text, and lines with none, one or several records."""
    around = st.sampled_from(AROUND)
    parts: list[bytes] = []
    for _ in range(draw(st.integers(1, 6))):
        parts.append(draw(st.one_of(around, st.binary(max_size=8))))
        for _ in range(draw(st.sampled_from([1, 1, 1, 1, 0, 2, 3]))):
            text = draw(seldom(st.sampled_from(NOT_OBJECTS), None, 10))
            text = draw(objects()) if text is None else text
            parts += [TOKEN, draw(seldom(around, b"", 4)), text, draw(seldom(around, b"", 4))]
        parts.append(draw(st.sampled_from(ENDS)))
    return b"".join(parts)


def official_reading(path: Path) -> list[str]:
    """Each record as the official parser understands it, or "unusable" where it reports an error or crashes."""
    read = []
    with path.open(encoding="latin-1") as file:
        for line in official.strip_and_dedup(file):
            try:
                log_line = official.string_to_logline(0, line.strip())
            except Exception:
                read.append("unusable")
            else:
                held = log_line.value
                read.append(repr([log_line.key, held["value"], held["metadata"], log_line.timestamp]))
    return read


def our_reading(data: bytes) -> list[str]:
    """The same of our reader and decoder."""
    read = []
    for line, text, hidden, too_long in read_records(io.BytesIO(data)):
        assert not too_long
        if not hidden:
            event = decode(line, text)
            assert event.line == line
            usable = isinstance(event, Event)
            read.append(repr([event.key, event.value, event.metadata, event.time_ms]) if usable else "unusable")
    return read


@given(texts=st.lists(st.one_of(objects(), st.sampled_from([*NOT_OBJECTS, *AROUND])), max_size=8))
def test_decoding_many_records_at_once_gives_what_decoding_each_does(texts: list[bytes]) -> None:
    whole = all(text.startswith(b"{") and text.endswith(b"}") for text in texts)
    found = decoded(texts, joined=whole)
    each = [decode(line, text) for line, text in enumerate(texts, 1)]
    assert repr(found.decoded) == repr(each)
    assert found.defects == [place for place, one in enumerate(each) if isinstance(one, Defect)]
    assert found.joined == b"\n".join(texts)


WHOLE = b'{"time_ms": 7, "key": "k", "value": 1, "metadata": {}}'


@pytest.mark.parametrize(
    "texts",
    [
        [WHOLE, WHOLE],
        [WHOLE + b" " + WHOLE],
        [WHOLE + WHOLE, b'{"time_ms": 7, "key": "k", "value": 1, "metadata": {}', b"{}}"],
        [WHOLE + WHOLE, b'{"time_ms": 7, "key": "k", "metadata": {}, "value": "}', b'{"}'],
        [WHOLE + WHOLE, b'{"time_ms": 7, "key": "k", "metadata": {}, "value": [{}', b"{}]}"],
    ],
    ids=["one each", "two of one", "an object of two", "a string of two", "an array of two"],
)
def test_a_text_is_one_record_though_many_are_decoded_in_one_piece(texts: list[bytes]) -> None:
    """In that piece line feeds are space, and a record may follow another one behind any space, or none."""
    found = decoded(texts, 3, joined=True).decoded
    assert found == [decode(line, text) for line, text in enumerate(texts, 3)]


@pytest.mark.slow
@settings(max_examples=effort(80, 2_000))
@given(parts=st.lists(st.one_of(logs(), st.sampled_from([TOKEN + WHOLE + b"\n", TOKEN + WHOLE + b"\r\n"])), max_size=4))
def test_the_short_way_reads_what_the_long_way_reads(parts: list[bytes]) -> None:
    def reading() -> str:
        events = Kept()
        made = KeepingReader([events])
        made.feed(b"".join(parts))
        made.close()
        return repr((events.events, made.found))

    short = reading()
    with patch.object(RecordCutter, "_plain_records", lambda *_: None):
        assert short == reading()


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs") / "result_0.txt"


@given(data=logs())
def test_we_read_the_records_that_the_official_parser_reads_and_refuse_those_it_refuses(
    log_file: Path, data: bytes
) -> None:
    log_file.write_bytes(data)
    ours = our_reading(data)
    assert ours == official_reading(log_file)
    # Line by line above, since a crash ends the official reading; here once more by its own front door.
    try:
        usable, errors = official.parse_file(log_file)
    except Exception:
        assert "unusable" in ours
    else:
        assert (len(usable), len(errors)) == (len(ours) - ours.count("unusable"), ours.count("unusable"))


def record(**changes: bytes | None) -> bytes:
    """A good record with fields replaced, or with None left out."""
    fields: dict[str, bytes | None] = {"time_ms": b"7", "key": b'"k"', "value": b"1", "metadata": b"{}", **changes}
    return b"{" + b", ".join(b'"%s": %s' % (n.encode(), v) for n, v in fields.items() if v is not None) + b"}"


#: Python takes any Unicode digit or space in a number, but the official parser sees Latin-1, not those digits.
DIGITS = ('"١٢"'.encode(), '"\u00a012"'.encode(), '"１２"'.encode(), b'"12\xa0"')


@pytest.mark.parametrize(
    ("field", "text"),
    [*(("value", text) for text in VALUES), *(("time_ms", text) for text in (*TIMES, *DIGITS))],
    ids=lambda item: repr(item[:24]),
)
def test_each_value_and_time_is_read_as_the_official_parser_reads_it(log_file: Path, field: str, text: bytes) -> None:
    """Every entry of the tables, for a property test may by chance leave one out."""
    data = TOKEN + record(**{field: text}) + b"\n"
    log_file.write_bytes(data)
    assert our_reading(data) == official_reading(log_file)


@pytest.mark.parametrize("missing", ["time_ms", "key", "value", "metadata"])
@pytest.mark.parametrize(
    "extra", [{}, {"unknown": b"1"}, {"event_type": b'"POINT_IN_TIME"'}], ids=["", "unknown", "usual"]
)
def test_a_record_without_a_needed_part_is_incomplete(missing: str, extra: dict[str, bytes]) -> None:
    """With and without unknown fields: they take different ways through the decoder."""
    defect = decode(3, record(**{missing: None}, **extra))
    assert isinstance(defect, Defect)
    assert (defect.rule, defect.line, defect.reason) == ("log.record-incomplete", 3, missing)
    assert defect.key == (None if missing == "key" else "k")


#: Of a value; the record is one level itself.
DEEPEST = MAX_LEVELS - 1
#: More than any Python reads.
DEEP = 200_000
DEFECTS = {
    "nothing": (b"", "log.record-undecodable", None),
    "space only": (b" \t\x0b\xa0\r", "log.record-undecodable", None),
    "cut in the middle": (record(key=b'"run_stop"')[:-9], "log.record-undecodable", "run_stop"),
    "cut in the key": (b'{"time_ms": 1, "key": "run_st', "log.record-undecodable", None),
    "deep arrays": (record(value=b"[" * DEEP + b"]" * DEEP), "log.record-undecodable", "k"),
    "deep arrays without end": (record(value=b"[" * DEEP), "log.record-undecodable", "k"),
    "deep objects": (record(value=b'{"a":' * DEEP + b"1" + b"}" * DEEP), "log.record-undecodable", "k"),
    "one level too many": (record(value=b"[" * MAX_LEVELS + b"]" * MAX_LEVELS), "log.record-undecodable", "k"),
    "one level too many, not ASCII": (
        record(value=b"[" * MAX_LEVELS + b'"\xc3\xbc"' + b"]" * MAX_LEVELS),
        "log.record-undecodable",
        "k",
    ),
    "deep behind a record": (record() + b"[" * DEEP, "log.text-after-record", "k"),
    "5000 digits": (record(value=b"9" * 5000), "log.record-undecodable", "k"),
    "5000 digits of time": (record(time_ms=b"9" * 5000), "log.record-undecodable", "k"),
    "400 digits of time": (record(time_ms=b"9" * 400), "log.record-time", "k"),
    "time is text": (record(time_ms=b'"12:30"'), "log.record-time", "k"),
    "time is null": (record(time_ms=b"null"), "log.record-time", "k"),
    "time is an array": (record(time_ms=b"[7]"), "log.record-time", "k"),
    "array": (b"[1, 2]", "log.record-undecodable", None),
    "number": (b"3", "log.record-undecodable", None),
    "string": (b'"run_stop"', "log.record-undecodable", None),
    "literal": (b"null", "log.record-undecodable", None),
    "text behind": (record() + b" Epoch 3: 100%", "log.text-after-record", "k"),
    "a second object behind": (record() + record(key=b'"b"'), "log.text-after-record", "k"),
    "byte order mark before": (b"\xef\xbb\xbf" + record(), "log.record-undecodable", "k"),
}


_HEAD = b'{"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": "opt_name", "value": '
_TAIL = b', "metadata": {"file": "/workspace/train.py", "lineno": 12}}'
#: What stands in the place of a record, and whether somebody edited it.
EDITED = {
    "over a part of it": (_HEAD + b'"adamw"ACMEorkspace/train.py", "lineno": 12}}', True),
    "over a part of it, to a comma": (_HEAD + b'"adamw"ACME, "lineno": 12}}', True),
    "behind a value": (_HEAD + b'"adamw" ACME' + _TAIL, True),
    "behind a value, with a quote": (_HEAD + b'"adamw"ACME"' + _TAIL, True),
    "in a number": (_HEAD + b"0.9ACME25" + _TAIL, True),
    "at its end": (_HEAD + b"1" + _TAIL[:-2] + b" ACME}}", True),
    "in the time": (_HEAD.replace(b'"time_ms": 1', b'"time_ms": 1ACME5') + b"1" + _TAIL, True),
    "a record that was cut": (_HEAD + b'"ada', False),
    "cut in a text, and an object": (_HEAD + b'"ada{"loss": 0.1, "step": 3}', False),
    "cut behind a value, and an object": (_HEAD + b'"adamw"{"loss": 0.1}', False),
    "cut, and a record": (_HEAD + b'"adamw"' + record(), False),
    "text without a record's end": (_HEAD + b'"adamw"ACME' + _TAIL[:-2], False),
    "quotes that were not escaped": (_HEAD + b'"say "x" y"' + _TAIL, False),
    "such quotes, and nothing behind": (_HEAD + b'"say "x" y"}', False),
    "an object in quotes": (_HEAD + b'"{"a": 1}"' + _TAIL, False),
    "a value of Python": (_HEAD + b"None" + _TAIL, False),
    "no comma": (_HEAD + b'"adamw"' + _TAIL[1:], False),
    "a file that lost its blocks": (_HEAD + b'"adamw"' + b"\0" * 9 + b'orkspace", "lineno": 12}}', False),
    "no record": (b'{"loss": 0.1 ACME, "step": 3}', False),
    "more than a record has": (_HEAD + b'"adamw" ' + b"x" * 3000 + _TAIL, False),
}


@pytest.mark.parametrize(("text", "edited"), EDITED.values(), ids=EDITED)
def test_a_record_with_other_text_inside_is_told_from_one_that_was_cut(text: bytes, edited: bool) -> None:
    defect = decode(7, text)
    assert isinstance(defect, Defect)
    assert defect.rule == ("log.record-edited" if edited else "log.record-undecodable")
    assert defect.crash is None
    assert ("ACME" in defect.reason) is edited


def test_what_is_shown_of_an_edited_record() -> None:
    defect = decode(7, EDITED["over a part of it"][0])
    assert isinstance(defect, Defect)
    assert defect.reason == 'ME", "key": "opt_name", "value": "adamw"ACMEorkspace/train.py", "lineno": 12}}'


@pytest.mark.parametrize(("text", "rule", "key"), DEFECTS.values(), ids=DEFECTS)
def test_a_record_that_cannot_be_used_is_named_with_its_rule_line_and_key(
    text: bytes, rule: str, key: str | None
) -> None:
    defect = decode(12, text)
    assert isinstance(defect, Defect)
    assert (defect.rule, defect.line, defect.key) == (rule, 12, key)
    assert len(defect.reason) < 200


@pytest.mark.parametrize("inside", [b"", b'"\xc3\xbc"', b'"["'])
def test_levels_are_counted_alike_on_every_way_through_the_decoder(inside: bytes) -> None:
    texts = [record(), *(record(value=b"[" * n + inside + b"]" * n) for n in (DEEPEST, DEEPEST + 1)), record()]
    wanted = [decode(line, text) for line, text in enumerate(texts, 1)]
    assert [isinstance(one, Event) for one in wanted] == [True, True, False, True]
    for joined in (False, True):
        found = decoded(texts, joined=joined)
        assert (found.defects, found.decoded) == ([2], wanted)


@pytest.mark.parametrize("behind", [b"x", b" Epoch 3: 100%", b"{}", b"\x00", b" \xe2\x96\x88"])
def test_a_good_record_with_text_behind_it_keeps_its_facts(behind: bytes) -> None:
    defect = decode(4, record(key=b'"run_stop"', time_ms=b"60000") + behind)
    assert isinstance(defect, Defect)
    assert defect.event == Event(line=4, time_ms=60000.0, key="run_stop", value=1, metadata={})


def test_a_broken_record_with_text_behind_it_keeps_no_facts() -> None:
    defect = decode(4, record(metadata=None) + b" x")
    assert isinstance(defect, Defect)
    assert defect.event is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (record(value=b'"gr\xc3\xbc\xc3\x9fe"'), "grüße"),
        (record(value=b'"gr\xfc\xdfe"'), "grüße"),
        (record(value=b'"gr\\u00fc\\u00dfe"'), "grüße"),
        # Half a character cannot be turned back, so the rest stays as the official parser has it.
        (record(value=b'"\xc3\xbc \\ud800"'), "\u00c3\u00bc \ud800"),
        (record(value=b'{"a": 1, "a": 2}'), {"a": 2}),
        (record(value=b"1")[:-1] + b', "value": 2}', 2),
        (record(value=b"1", surplus=b"[]")[:-1] + b', "value": 2}', 2),
        (record(value=b"1" * 60), int("1" * 60)),
        (record(value=b"-Infinity"), float("-inf")),
    ],
)
def test_a_value_is_what_its_author_wrote(text: bytes, wanted: Any) -> None:
    event = decode(1, text)
    assert isinstance(event, Event)
    value = readable(event.value) if isinstance(event.value, str) else event.value
    assert (value == wanted) is True
    assert type(event.value) is type(wanted)


def test_unknown_fields_change_nothing() -> None:
    plain = json.loads(record(event_type=b'"INTERVAL_START"'))
    more = {"host": "node7", **plain, "rank": [0, {"local": 1}]}
    assert decode(2, json.dumps(more).encode()) == decode(2, json.dumps(plain).encode())
    assert decode(2, json.dumps(plain).encode()) == Event(
        line=2, time_ms=7.0, key="k", value=1, metadata={}, event_type="INTERVAL_START"
    )
