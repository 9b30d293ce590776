"""What the convergence checker reads of a log, era by era."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence import dialect_of
from mlsub.log import reading as reading_module
from mlsub.log.event import decode
from mlsub.log.reading import MAX_STOPS, RcpReading, RcpReadingFold, Stop
from tests.convergence.odd_logs import Record, record
from tests.log.pushing import decoded, take, take_all

OLD, NEW = ("training", "2.1"), ("training", "6.0")


def reading(made: list[Record | str], of: tuple[str, str] = NEW, *, samples: bool = False) -> RcpReading:
    """What the checker of a round reads of some records."""
    fold = RcpReadingFold(dialect_of(*of))
    for line, one in enumerate(made, 1):
        text = (one if isinstance(one, str) else json.dumps(one)).encode()
        event = decode(line, text)
        take(fold, line, text, event)
    return fold.finish()[samples]


def evaluated(point: Any, key: str = "eval_accuracy", unit: str = "epoch_num", value: Any = 0.9) -> Record:
    return record(key, value, **{unit: point})


def named(name: Any) -> Record:
    return record("submission_benchmark", name)


def stopped(status: Any = "success", key: str = "run_stop") -> Record:
    return record(key, None, status=status)


def points(count: RcpReading) -> list[Any]:
    return [stop.value if stop.kind == "point" else stop.kind for stop in count.stops]


@pytest.mark.parametrize("of", [OLD, NEW])
def test_the_last_batch_size_counts_under_whatever_key_it_is_mentioned(of: tuple[str, str]) -> None:
    size = record("global_batch_size", 512)
    assert reading([size, record("global_batch_size", 8192)], of).sizes == (8192,)
    assert reading([size, record("eval_global_batch_size", 100_000)], of).sizes == (100_000,)
    assert reading([size, record("run_start", None, global_batch_size=64)], of).sizes == (None,)
    assert reading([size, record("note", "see global_batch_size")], of).sizes == ("see global_batch_size",)
    assert reading([record("batch_size", 512)], of).sizes == ()


def test_the_text_counts_not_what_it_decodes_to() -> None:
    spelt = json.dumps(record("global_batch_size", 512)).replace("global", "gl\\u006fbal")
    assert json.loads(spelt)["key"] == "global_batch_size"
    assert reading([spelt]).sizes == ()
    twice = '{"key": "global_batch_size", "key": "note", "time_ms": 1, "value": 3, "metadata": {}}'
    assert reading([twice]).sizes == (3,)


def test_what_is_counted_depends_on_the_name_the_log_has_stated_so_far() -> None:
    both = record("eval_accuracy", 0.9, epoch_num=3, samples_count=512)
    assert points(reading([named("flux1"), both, stopped()])) == [512]
    assert points(reading([both, named("flux1"), stopped()])) == [3]
    late = reading([evaluated(512, unit="samples_count"), named("flux1"), stopped()])
    assert late.crash is not None and (late.crash.line, late.crash.error) == (1, "KeyError: 'epoch_num'")
    assert points(reading([named("flux1"), both, stopped()], OLD)) == [3]


def test_the_last_evaluation_before_the_stop_counts_to_three_digits() -> None:
    assert points(reading([evaluated(1), evaluated(2.34567), stopped(), evaluated(9)])) == [2.346]
    assert points(reading([evaluated(1), evaluated(2), stopped("aborted")])) == ["failed"]
    assert points(reading([named("flux1"), evaluated(2.34567, unit="samples_count"), stopped()])) == [2.34567]


@pytest.mark.parametrize(
    ("of", "point"),
    [
        *((("training", name), point) for name, point in (("1.0", 40), ("1.1", 5), ("2.1", 5), ("3.0", 40))),
        *((("hpc", name), point) for name, point in (("2.0", 5), ("3.0", 40))),
    ],
)
def test_an_evaluation_of_the_error_alone_counts_from_v11_to_v21(of: tuple[str, str], point: float) -> None:
    """In v1.0 there is none; from v3.0 both keys count."""
    assert points(reading([evaluated(5, "eval_error"), evaluated(40), stopped()], of)) == [point]
    assert points(reading([evaluated(40), stopped()], of)) == [40]


def test_to_v21_every_stop_counts_and_from_v30_the_last() -> None:
    made = [evaluated(5), stopped(), evaluated(7), stopped("aborted"), stopped()]
    assert points(reading([*made], OLD)) == [5, "failed", 7]
    assert points(reading([*made])) == [7]


def test_a_success_without_evaluation_is_filled_from_the_log_before_to_v21_and_ends_the_reader_after() -> None:
    made = [stopped(), evaluated(5), stopped()]
    assert points(reading([*made], OLD)) == ["none", 5]
    assert points(reading([*made])) == ["none"]


def test_to_v30_any_mention_stops_the_run_and_from_v31_only_the_key() -> None:
    made = [evaluated(5), stopped(key="run_stop_reason"), evaluated(9), record("run_start", None, run_stop=1)]
    assert points(reading([*made[:2]], ("training", "3.0"))) == [5]
    crash = reading([*made], ("training", "3.0")).crash
    assert crash is not None and crash.error == "KeyError: 'status'"
    assert reading([*made], ("training", "3.1")) == RcpReading(last=Stop("point", 3, 9))


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({}, "KeyError: 'epoch_num'"),
        (None, "TypeError: 'NoneType' object is not subscriptable"),
        ([], "TypeError: list indices must be integers or slices, not str"),
        ({"epoch_num": None}, "TypeError: type NoneType doesn't define __round__ method"),
        ({"epoch_num": "12"}, "TypeError: type str doesn't define __round__ method"),
    ],
)
def test_where_the_official_reader_ends_is_a_crash_with_its_line(metadata: Any, error: str) -> None:
    broken = {**record("eval_accuracy_target", 0.9), "metadata": metadata}
    crash = reading([evaluated(1), broken, stopped()]).crash
    assert crash is not None and (crash.line, crash.error) == (2, error)


def test_records_that_cannot_be_decoded_end_it_only_where_they_mention_a_name() -> None:
    torn = ['{"key": "note", "val', '["note"]', '{"key": "note", "value": 1, "metadata": {}} 100%']
    assert reading([*torn, evaluated(3), stopped()]).crash is None
    crash = reading([evaluated(3), '{"key": "run_stop", "val', stopped()]).crash
    assert crash is not None and crash.line == 2 and crash.error.startswith("JSONDecodeError")
    # Without a time the compliance checker ends, and this reader does not.
    timeless = {k: v for k, v in evaluated(3).items() if k != "time_ms"}
    assert points(reading([json.dumps(timeless), stopped()])) == [3]


@pytest.mark.parametrize(
    ("value", "stop"),
    [
        (True, Stop("point", 2, 1)),
        (12, Stop("point", 2, 12)),
        (float("inf"), Stop("point", 2, 1e15)),
        (1e300, Stop("point", 2, 1e15)),
        (-1e20, Stop("point", 2, -1e20)),
        (float("-inf"), Stop("point", 2, -1e30)),
        ([12], Stop("point", 2, 12, listed=True)),
        ([12, 13], Stop("unusable", 2)),
        ("12", Stop("unusable", 2)),
        (None, Stop("unusable", 2)),
        (10**400, Stop("unusable", 2)),
        (float("nan"), Stop("unordered", 2)),
    ],
)
def test_a_count_is_what_numpy_would_make_of_it(value: Any, stop: Stop) -> None:
    [found] = reading([named("flux1"), evaluated(value, unit="samples_count"), stopped()]).stops
    assert found == stop and type(found.value) is not bool


def test_bert_may_be_counted_by_train_samples() -> None:
    made = [named("bert"), evaluated(2), record("train_samples", 3_000_000), stopped()]
    assert points(reading([*made], samples=True)) == [3_000_000]
    assert points(reading([*made])) == [2]
    # A record that only mentions it counts as well, by its own value.
    mentioned = record("eval_accuracy", 0.72, epoch_num=2, train_samples=3_000_000)
    assert points(reading([*made[:3], mentioned, stopped()], samples=True)) == [0.72]
    # Other benchmarks do not know it, but what counted before the log names itself stays.
    assert points(reading([named("retinanet"), *made[1:]], samples=True)) == [2]
    assert points(reading([made[2], named("retinanet"), stopped()], samples=True)) == [3_000_000]
    undated = [record("eval_accuracy", 0.1), named("retinanet"), *made[1:]]
    assert points(reading([*undated], samples=True)) == [2] and points(reading([*undated])) == []


def measured(step: Any, metric: Any, value: Any) -> Record:
    return record("eval_accuracy", value, metric=metric, samples_count=step, step_num=step)


def test_the_measures_of_stable_diffusion_count_at_the_first_step_that_meets_both() -> None:
    one = [measured(512, "FID", 95.0), measured(512, "CLIP", 0.2)]
    two = [measured(1024, "CLIP", 0.2), measured(1024, "FID", 80.0)]
    three = [measured(2048, "FID", 70.0), measured(2048, "CLIP", 0.3)]
    name = named("stable_diffusion")
    for of in (("training", "3.1"), ("training", "5.0")):
        assert points(reading([name, *three, *one, *two, stopped()], of)) == [1024]
        assert points(reading([name, *one, stopped()], of)) == ["none"]
        lonely = reading([name, *two, measured(4096, "FID", 60.0), stopped()], of).crash
        assert lonely is not None and (lonely.line, lonely.error) == (5, "KeyError: 'CLIP'")
        text = reading([name, measured(1, "FID", "80"), measured(1, "CLIP", 1), stopped()], of).crash
        assert text is not None and text.error.startswith("TypeError: '<=' not supported")


@pytest.mark.parametrize("more", [0, 1])
def test_a_reading_is_as_long_as_its_bound_allows_and_says_so(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stops = reading([evaluated(5), *[stopped()] * (MAX_STOPS + more)], OLD)
    assert len(stops.stops) == MAX_STOPS
    assert stops.overflow == (f"{MAX_STOPS} records of run_stop" if more else None)
    monkeypatch.setattr(reading_module, "MAX_STEPS", 10)
    steps = reading(
        [named("stable_diffusion"), *(measured(n, "FID", 1.0) for n in range(10 + more))], ("training", "5.0")
    )
    assert steps.overflow == ("10 evaluated steps" if more else None)


NAMES = ("global_batch_size", "submission_benchmark", "train_samples", "run_stop", "eval_error", "eval_accuracy")
#: Keys that are a name, contain one or none, and names that only the text or only what it means mentions.
KEYS = st.sampled_from([*NAMES, *NAMES, "block_start", "eval_accuracy_2", None, 1, ["run_stop"], "\\run_stop", "é"])
VALUES = st.sampled_from(
    [None, 1, 2.5, True, float("nan"), 1e300, "bert", "stable_diffusion", "resnet", "llama2_70b_lora", [3], [], *NAMES]
)
METADATA = st.one_of(
    st.dictionaries(
        st.sampled_from(["epoch_num", "samples_count", "step_num", "metric", "status", *NAMES]),
        st.one_of(VALUES, st.sampled_from(["success", "aborted", "FID", "CLIP", 0.1, 5, [1, 2]])),
        max_size=4,
    ),
    st.sampled_from([{"status": "success"}, {"epoch_num": 3}, {"samples_count": 64, "metric": "FID"}, None, 7]),
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """A record as a log may have it: sound, with escapes, with fields twice, and in many ways broken."""
    made = {**record("", draw(VALUES)), "key": draw(KEYS), "metadata": draw(METADATA)}
    text = json.dumps(made, ensure_ascii=draw(st.booleans()))
    change = draw(st.sampled_from(["none", "none", "none", "escape", "return", "twice", "behind", "cut", "free"]))
    if change == "escape":
        text = text.replace("eval", "\\u0065val").replace("_stop", "\\u005fstop")
    elif change == "return":
        text = text.replace("run_stop", "\\run_stop")
    elif change == "twice":
        text = '{"key": "run_stop", "metadata": {"run_stop": "eval_error"}, ' + text[1:]
    elif change == "behind":
        text += " train_samples"
    elif change == "cut":
        text = text[: draw(st.integers(0, len(text)))]
    elif change == "free":
        text = draw(st.sampled_from(["", "null", "3", "run_stop", "[]", '"eval_error"']))
    return text.encode()


@given(
    texts=st.lists(texts(), max_size=12),
    of=st.sampled_from([("training", name) for name in ("1.0", "1.1", "2.1", "3.0", "3.1", "4.0", "6.0")]),
)
def test_looking_for_names_in_keys_first_reads_what_looking_in_each_text_does(
    texts: list[bytes], of: tuple[str, str]
) -> None:
    batch = decoded(texts)
    fold, plain, single = (RcpReadingFold(dialect_of(*of)) for _ in range(3))
    take_all(fold, batch)
    with patch.object(reading_module, "mentions_only", lambda *_: False):
        take_all(plain, batch)
        for line, text in zip(batch.lines, texts, strict=True):
            take_all(single, decoded([text], line))
    assert repr(fold.finish()) == repr(plain.finish()) == repr(single.finish())


@pytest.mark.parametrize("of", [("training", "1.0"), OLD, ("training", "3.0"), NEW])
@pytest.mark.parametrize("name", ["flux1", "bert", "stable_diffusion", "resnet"])
def test_evaluations_in_a_row_read_as_one_by_one(of: tuple[str, str], name: str) -> None:
    """Only the last one counts, unless the official reader ends at an earlier one or counts another key."""
    odd: list[Record | str] = [
        evaluated(2.5, "eval_error"),
        evaluated(7, "eval_error", unit="samples_count"),
        evaluated("7"),
        evaluated(10**400),
        evaluated([7], unit="samples_count"),
        record("eval_accuracy", 0.5),
        {**record("eval_accuracy", 0.5), "metadata": None},
        json.dumps(evaluated(7)) + " 100%",
        json.dumps(evaluated(7))[:-9],
    ]
    plain = [record("eval_accuracy", 0.5, epoch_num=n, samples_count=n * 512, metric="FID") for n in range(3)]
    for middle in odd:
        for place in range(len(plain) + 1):
            made = [named(name), *plain[:place], middle, *plain[place:], stopped(), evaluated(9), middle]
            texts = [(one if isinstance(one, str) else json.dumps(one)).encode() for one in made]
            at_once = RcpReadingFold(dialect_of(*of))
            take_all(at_once, decoded(texts))
            found = at_once.finish()
            assert repr(found[0]) == repr(reading([*made], of))
            assert repr(found[1]) == repr(reading([*made], of, samples=True))


@pytest.mark.parametrize("of", [OLD, ("training", "3.0"), NEW])
@pytest.mark.parametrize("name", ["resnet", "bert", ["resnet"]])
def test_whether_train_samples_may_count_depends_on_what_comes_before_the_name(of: tuple[str, str], name: Any) -> None:
    records = [named(name), record("train_samples", 64), record("note", "train_samples"), evaluated(2), stopped()]
    for made in permutations([record("global_batch_size", 8), *records]):
        texts = [json.dumps(one).encode() for one in made]
        at_once, single = RcpReadingFold(dialect_of(*of)), RcpReadingFold(dialect_of(*of))
        take_all(at_once, decoded(texts))
        with patch.object(reading_module, "mentions_only", lambda *_: False):
            for line, text in enumerate(texts, 1):
                take_all(single, decoded([text], line))
        assert repr(at_once.finish()) == repr(single.finish())
