"""One record of a log, decoded as the official parser of its day decodes it.

Of v0.6 that is ``:::MLL <seconds> <key>: <JSON>``, where the JSON is an object of value and metadata.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from mlsub.io.data import SHALLOW, loads, too_deep
from mlsub.io.show import readable

#: What ``str.strip`` removes from the right of a line that was read as Latin-1.
STRIPPED = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"

#: What the official parser needs of a record.
_PARTS = ("time_ms", "key", "value", "metadata")
#: So much of an edited record is shown to either side of the place.
_AROUND = 40
_KEY = re.compile(rb'"key"\s*:\s*"([A-Za-z0-9_.-]{1,100})"')


class Event(msgspec.Struct, kw_only=True, gc=False, forbid_unknown_fields=True, rename={"line": "mlsub:line"}):
    """One decoded record. ``line`` is the 1-based line of the file, ``time_ms`` milliseconds since the Unix epoch.

    ``value`` and ``metadata`` are whatever JSON held there, text that is not ASCII in the official parser's reading
    (see :func:`mlsub.io.show.readable`); ``event_type`` is None where the record has none. Records are decoded straight
    into events, so ``line`` goes by a name that no log uses.
    """

    # In the order of the official logger: each field is then found where it is looked for first.
    namespace: Any = None
    time_ms: float
    event_type: Any = None
    key: Any
    value: Any
    metadata: Any
    line: int = 0


class EventOfSeconds(Event, kw_only=True, gc=False):
    """A record of v0.6, which states its time in seconds: ``time_ms`` is rounded, ``seconds`` is what stands there."""

    seconds: float


def clock(event: Event) -> float:
    """Return the time of a record as the official checker computes with it: in ms, of v0.6 in seconds."""
    return event.seconds if isinstance(event, EventOfSeconds) else event.time_ms


def minute(event: Event) -> float:
    """Return a minute in the unit of :func:`clock`."""
    return 60.0 if isinstance(event, EventOfSeconds) else 60_000.0


_START, _END, _POINT = "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"
#: The event type that a key stands for, by the names of the official logger.
EXPECTED_TYPES = {
    **{f"{name}_start": _START for name in ("init", "run", "block", "epoch", "eval", "staging")},
    **{f"{name}_stop": _END for name in ("init", "run", "block", "epoch", "eval", "staging")},
    **dict.fromkeys(
        (
            "eval_accuracy",
            "eval_error",
            "seed",
            "cache_clear",
            "global_batch_size",
            "train_samples",
            "eval_samples",
            "weights_initialization",
        ),
        _POINT,
    ),
}


def expected_event_type(key: str) -> str | None:
    """Return the event type a key stands for, by the names of the official logger; None where either would do."""
    return EXPECTED_TYPES.get(key)


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """One logged seed and the source line that logged it; ``error`` says why the seed checker cannot use it."""

    line: int
    value: Any
    file: Any = None
    lineno: Any = None
    error: str | None = None


def read_seed(event: Event) -> Seed:
    """Read a seed as the official seed checker does: an integer, and the source line that logged it."""
    metadata = event.metadata if isinstance(event.metadata, dict) else {}
    file, lineno = metadata.get("file"), metadata.get("lineno")
    error = None
    value: Any = event.value
    if "file" not in metadata or "lineno" not in metadata:
        error = "its metadata does not name file and lineno"
    else:
        try:
            value = int(event.value)
            hash((file, lineno))
        except (TypeError, ValueError, OverflowError) as problem:
            error = str(problem)
    return Seed(event.line, value, file, lineno, error)


class Defect(msgspec.Struct, frozen=True):
    """A record the official parser cannot use.

    ``rule`` is the id of the finding, ``reason`` the parser's own words, ``key`` the record's key where one can be
    made out, and ``event`` the record itself where only text behind it is in the way, or only its time is missing (nan
    then). ``crash`` is the error that the parser ends with, None where it only notes that the record cannot be used.
    """

    rule: str
    line: int
    reason: str
    key: str | None = None
    event: Event | None = None
    crash: str | None = None


#: The text after one token, up to the next token or the end of the official line, as (line, text, hidden, too long).
RawRecord = tuple[int, bytes, bool, bool]


class RecordBatch:
    """Records in file order: their ``lines`` and ``texts``, and of the ``odd`` ones by place whether hidden, too long.

    Columns, for there is a record for each event of every log, and hardly ever an odd one; iterating gives each record.
    ``joined`` is the texts with line feeds between, and empty before they are decoded unless each begins and ends as an
    object does; ``decoded`` what each is then, and ``defects`` the places of those that are not events.
    """

    __slots__ = ("decoded", "defects", "joined", "lines", "odd", "texts")

    def __init__(self, lines: list[int] | None = None, texts: list[bytes] | None = None, joined: bytes = b"") -> None:
        self.lines = lines if lines is not None else []
        self.texts = texts if texts is not None else []
        self.joined = joined
        self.odd: dict[int, tuple[bool, bool]] = {}
        self.decoded: list[Event | Defect] = []
        self.defects: list[int] = []

    def __iter__(self) -> Iterator[RawRecord]:
        for place, (line, text) in enumerate(zip(self.lines, self.texts, strict=True)):
            yield line, text, *self.odd.get(place, (False, False))

    def add(self, line: int, text: bytes, hidden: bool, too_long: bool = False) -> None:
        """Add a record."""
        if hidden or too_long:
            self.odd[len(self.lines)] = (hidden, too_long)
        self.lines.append(line)
        self.texts.append(text)


_decoder = msgspec.json.Decoder(Event)
_standard = json.JSONDecoder()


def decode(line: int, text: bytes) -> Event | Defect:
    """Decode the text behind a token.

    The fast decoder is stricter than the official one (no ``NaN``, no lone surrogates, known fields only); what it
    refuses, and what is not ASCII, is decoded by the standard library, whose answer is the official one.
    """
    if not text.isascii():
        return _decode_slowly(line, text)
    try:
        event = _decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return _decode_slowly(line, text)
    if _is_deep(text):
        return _too_deep(line, _sniff_key(text))
    event.line = line
    return event


def decode_all(records: RecordBatch, decode_one: Decoder = decode) -> None:
    """Decode the texts of many records, without a call of Python for each where all are plain.

    Args:
        records: gets what ``decode_one`` gives for each; the events may lack their lines.
        decode_one: see :data:`DECODERS`.
    """
    texts, joined = records.texts, records.joined
    if joined and decode_one is decode and joined.isascii():
        try:
            # As many as texts are one of each: no value goes on from } to {, so that none is of two texts.
            events: list[Any] = _decoder.decode_lines(joined)
        except (msgspec.MsgspecError, RecursionError):
            events = []
        if len(events) == len(texts) and (max(map(len, texts)) <= SHALLOW or not any(map(_is_deep, texts))):
            records.decoded = events
            return
    records.joined = joined or b"\n".join(texts)
    records.decoded = list(map(decode_one, records.lines, texts))
    records.defects = [place for place, one in enumerate(records.decoded) if isinstance(one, Defect)]


def _is_deep(text: bytes) -> bool:
    return len(text) > SHALLOW and too_deep(text.decode("ascii"))


def _too_deep(line: int, key: str | None) -> Defect:
    return Defect("log.record-undecodable", line, "nested too deeply", key, crash="RecursionError")


def _decode_slowly(line: int, raw: bytes) -> Event | Defect:
    # Latin-1, as the official parser reads: two spellings of a name are two names, and lengths count bytes.
    text = raw.rstrip(STRIPPED).decode("latin-1")
    key = _sniff_key(raw)
    if not text:
        return Defect("log.record-undecodable", line, "nothing stands behind the token", key)
    try:
        fields = loads(text)
    except RecursionError:
        return _too_deep(line, key)
    except ValueError as error:
        return _defect_of_text(line, text, str(error), key)
    return _to_event(line, fields, key)


def _sniff_key(raw: bytes) -> str | None:
    match = _KEY.search(raw)
    return match[1].decode("ascii") if match else None


def _defect_of_text(line: int, text: str, reason: str, key: str | None) -> Defect:
    """Whether it is a good record with text behind it, or a broken one."""
    try:
        fields, end = _standard.raw_decode(text.lstrip(" \t\n\r"))
    except json.JSONDecodeError as error:
        from mlsub.log.edited import has_text_inside

        if has_text_inside(error, _PARTS):
            around = error.doc[max(0, error.pos - _AROUND) : error.pos + _AROUND]
            return Defect("log.record-edited", line, readable(around), key)
        return Defect("log.record-undecodable", line, reason, key)
    except (ValueError, RecursionError):
        return Defect("log.record-undecodable", line, reason, key)
    event = _to_event(line, fields, key)
    rest = text.lstrip(" \t\n\r")[end:].strip()
    return Defect(
        "log.text-after-record",
        line,
        readable(rest[:80]),
        key,
        event if isinstance(event, Event) else None,
    )


def _to_event(line: int, fields: Any, key: str | None) -> Event | Defect:
    if not isinstance(fields, dict):
        kinds = {list: "array", str: "string", bool: "literal", type(None): "literal"}
        reason = f"a JSON {kinds.get(type(fields), 'number')} where an object is needed"
        # The parser takes null for a line without a record, which it can pass over.
        crash = None if fields is None else "TypeError"
        return Defect("log.record-undecodable", line, reason, key, crash=crash)
    missing = [name for name in _PARTS if name not in fields]
    time_ms = _parse_time(fields.get("time_ms", math.nan))
    event = Event(
        line=line,
        time_ms=time_ms if isinstance(time_ms, float) else math.nan,
        key=fields.get("key"),
        value=fields.get("value"),
        metadata=fields.get("metadata"),
        event_type=fields.get("event_type"),
        namespace=fields.get("namespace"),
    )
    if missing:
        # The parser reads the time first, and only notes one that is text and not a number.
        crash = None if isinstance(time_ms, ValueError) else _error_name(time_ms) or f"KeyError: {missing[0]!r}"
        timeless = event if missing == ["time_ms"] else None
        return Defect("log.record-incomplete", line, ", ".join(missing), key, timeless, crash)
    if not isinstance(time_ms, float):
        crash = None if isinstance(time_ms, ValueError) else _error_name(time_ms)
        return Defect("log.record-time", line, repr(fields["time_ms"])[:80], key, crash=crash)
    return event


def _parse_time(value: Any) -> float | Exception:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        return error


def _error_name(error: float | Exception) -> str | None:
    return type(error).__name__ if isinstance(error, Exception) else None


#: Compiled when the first log of v0.6 is read.
_MLL_RECORD = r" ([\d.]+) ([A-Za-z0-9_]+) ?:\s+(.+)"
_MLL_KEY = r" ([A-Za-z0-9_]{1,100}) ?:\s"


def decode_mll(line: int, text: bytes) -> Event | Defect:
    """Decode the text behind a token.

    An event has its time in ms, as all events here, and in seconds as stated, and None for metadata the record lacks.
    A record without ``value`` is passed over by the official checker: its event has no key.
    """
    string = text.decode("latin-1").rstrip()
    match = re.fullmatch(_MLL_RECORD, string)
    if match is None:
        key_of = re.search(_MLL_KEY, string)
        return Defect("log.record-format", line, readable(string[:80]), key_of[1] if key_of else None)
    seconds, key, fields = match.groups()
    try:
        stated = float(seconds)
    except ValueError:
        return Defect("log.record-time", line, seconds[:80], key[:100])
    time_ms = round(stated * 1000.0, 3)
    try:
        content = loads(fields)
    except RecursionError:
        return Defect("log.record-undecodable", line, "nested too deeply", key[:100])
    except ValueError as error:
        return Defect("log.record-undecodable", line, str(error), key[:100])
    if not isinstance(content, dict) or "value" not in content:
        return EventOfSeconds(line=line, time_ms=time_ms, seconds=stated, key=None, value=content, metadata=None)
    metadata: Any = content.get("metadata")
    value = content["value"]
    return EventOfSeconds(line=line, time_ms=time_ms, seconds=stated, key=key, value=value, metadata=metadata)


#: Decodes the text behind a token in a line of the log, by the format of the log; see :class:`mlsub.rounds.Round`.
Decoder = Callable[[int, bytes], Event | Defect]
DECODERS: dict[str, Decoder] = {"mllog": decode, "mll": decode_mll}


#: The steps of a run, and the keys that are logged there; the hyperparameters are all others.
STEPS: dict[str, tuple[str, ...]] = {
    "submission": (
        *("submission_benchmark", "submission_division", "submission_org", "submission_platform"),
        *("submission_status", "submission_poc_name", "submission_entry", "cache_clear"),
    ),
    "hyperparameters": (),
    "initialisation": ("init_start", "weights_initialization", "init_stop"),
    "run": ("run_start", "staging_start", "staging_stop"),
    "blocks and epochs": ("block_start", "epoch_start", "epoch_stop", "block_stop", "save_model"),
    "evaluations": (
        *("eval_start", "eval_accuracy", "eval_error", "averaged_validation_loss", "aggregated_eval_accuracy"),
        *("eval_stop", "eval_result"),
    ),
    "end": ("run_stop",),
}
_STEP_OF = {key: step for step, keys in STEPS.items() for key in keys}
#: Where in a run each of those keys comes.
PLACE = {key: place for place, key in enumerate(_STEP_OF)}


def step_of(key: str) -> str:
    """The step of a run at which a key is logged."""
    return _STEP_OF.get(key, "hyperparameters")


def before_run(key: str) -> bool:
    """Whether a key is logged before the clock starts."""
    return step_of(key) in ("submission", "hyperparameters", "initialisation")


def event_type(key: str) -> str:
    """The type of event that the official logger gives a record of this key."""
    return expected_event_type(key) or "POINT_IN_TIME"
