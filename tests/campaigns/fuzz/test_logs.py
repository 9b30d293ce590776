"""The harnesses of logs: what was found once is not found again, and each notices a defect that is planted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import msgspec
import pytest

from mlsub.commands.fix.repairs import fix_log
from mlsub.commands.redact.redactor import Redactor
from mlsub.judge.log import LogJudge, judge_log
from mlsub.log.reader import Records
from mlsub.workspace.record import unpack
from tests.campaigns.fuzz.harness import Harness, harnesses
from tests.campaigns.fuzz.loggrammar import lines_of, sources, split
from tests.campaigns.fuzz.officiallogs import official_records
from tests.campaigns.fuzz.scratch import scratch
from tests.differential.log import content
from tests.differential.oracle import official

CORPUS = Path(__file__).parent / "corpus"
NAMES = (
    "logs",
    "logs-fix",
    "logs-official",
    "logs-record",
    "logs-records",
    "logs-redact",
    "logs-review",
    "logs-watch",
)


def inputs(harness: Harness) -> list[bytes]:
    """Small ones: those that were kept, and some seeds."""
    kept = [file.read_bytes() for file in sorted((CORPUS / harness.name).iterdir())]
    return [*kept, *sorted(harness.seeds(), key=len)[:6]]


@pytest.mark.parametrize("name", NAMES)
def test_a_harness_finds_nothing_in_what_is_kept_and_in_what_it_draws(name: str) -> None:
    harness = harnesses()[name]
    rng = random.Random(name)
    assert harness.generate is not None
    for data in (*inputs(harness), *(harness.generate(rng) for _ in range(5))):
        assert len(data) <= harness.longest
        harness.run(data)


def fails(*_: Any, **__: Any) -> NoReturn:
    raise ZeroDivisionError("planted")


def lossy(judge: LogJudge, piece: bytes) -> None:
    """Forgets a byte of small pieces."""
    FEED(judge, piece if len(piece) > 3 else piece[1:])


def drops(*args: Any) -> Any:
    """Takes all lines that name an organisation for repeated ones."""
    return {place: "submission_org" for place, line in enumerate(args[0]) if b"submission_org" in line}


def one_look(redactor: Redactor, text: bytes) -> Any:
    """Looks at a text once, whatever its placeholders uncover."""
    if spans := redactor.spans(text):
        yield text, spans


def accepted(task: Any) -> Any:
    """Accepts what is rejected, and the other way round."""
    report = judge_log(task)
    return msgspec.structs.replace(report, compliant=not report.compliant)


FEED = LogJudge.feed
FORGETFUL = lambda *args: msgspec.structs.replace(unpack(*args), minutes=0.0)  # noqa: E731
#: A harness, a name of mlsub or of the harness, and what stands in its place.
PLANTED: list[tuple[str, str, Any]] = [
    ("logs", "mlsub.judge.log.LogJudge.feed", lossy),
    ("logs", "tests.campaigns.fuzz.surfaces.logs.unpack", FORGETFUL),
    ("logs", "mlsub.present.text.plain", lambda text: text),
    ("logs", "mlsub.review.run._clock", fails),
    ("logs", "mlsub.judge.log.MAX_FINDINGS_A_RULE", 0),
    ("logs", "mlsub.judge.rules.NamedRules._try_all", lambda rules, held: held.clear()),
    ("logs-fix", "mlsub.commands.fix.repairs._repeats", drops),
    ("logs-fix", "mlsub.commands.fix.repairs._MARKS", re.compile(b"\xef\xbb\xbf")),
    ("logs-official", "tests.campaigns.fuzz.surfaces.logs_official.judge_log", accepted),
    ("logs-record", "mlsub.emit.sink._alone", lambda line: line),
    ("logs-record", "mlsub.emit.values.MOST_LEVELS", 10**9),
    ("logs-records", "mlsub.log.reader.RecordCutter.close", lambda cutter: Records()),
    ("logs-redact", "mlsub.commands.redact.redactor.Redactor._looks", one_look),
    ("logs-redact", "mlsub.commands.redact.redactor.is_distinctive", lambda secret: False),
    ("logs-review", "mlsub.judge.entry.audit_seeds", fails),
    ("logs-review", "mlsub.review.run.audit_progress", fails),
    ("logs-watch", "mlsub.commands.watch.sofar.LogSoFar.forget_line", lambda log: None),
    ("logs-watch", "mlsub.commands.watch.source.FileSource._restart", lambda *args: None),
]


@pytest.mark.parametrize(("name", "where", "instead"), PLANTED, ids=lambda one: one if isinstance(one, str) else "")
def test_a_planted_defect_is_noticed(name: str, where: str, instead: Callable[..., Any]) -> None:
    harness = harnesses()[name]
    with patch(where, instead):
        assert any(breaks(harness, data) for data in inputs(harness)), f"nothing notices {where}"


def breaks(harness: Harness, data: bytes) -> bool:
    try:
        harness.run(data)
    except Exception:
        return True
    return False


def test_the_official_rule_files_alone_make_logs_that_pass() -> None:
    """Half of them are meant to; the others have something wrong by chance."""
    rng = random.Random("official")
    some = sources()[::12]
    file = scratch("official") / "drawn.txt"
    passed = 0
    for combination in some:
        for _ in range(3):
            file.write_bytes(content(lines_of(official_records(combination, rng), combination.round)))
            passed += official(file, combination.round).compliant
    assert passed >= len(some) // 2


def test_an_input_names_its_round_or_its_bytes_choose_one() -> None:
    assert split(b"hpc-2.0\nlog") == ("hpc-2.0", b"log")
    name, log = split(b"no round\nlog")
    assert log == b"no round\nlog" and split(b"no round\nlog")[0] == name


def test_repairs_leave_no_mark_of_several() -> None:
    _, repairs = fix_log([b"\xef\xbb\xbf\xef\xbb\xbf:::MLLOG {}\n"], None)
    assert [repair.rule for repair in repairs] == ["file.byte-order-mark"]
