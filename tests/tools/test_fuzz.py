"""Every harness passes what is kept, its seeds and some drawn inputs, and notices defects that are planted in mlsub."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from mlsub.judge.log import LogJudge
from mlsub.score import read_scaling
from mlsub.submission.model import LogReport
from mlsub.systems.description import read_description
from tools.campaigns.fuzz.engine import CORPUS, attempt, harnesses, inputs, kept
from tools.support.effort import HUNG, effort
from tools.support.judging import report_on
from tools.support.runner import Outcome, run

#: These cost little.
YAML = ("yaml", "manifest", "claims", "records", "rehearsal", "overlay")
FILES = sorted(file for file in CORPUS.rglob("*") if file.is_file())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(CORPUS).as_posix())
def test_an_input_of_the_corpus_passes(file: Path) -> None:
    attempt(replace(harnesses()[file.parent.name], seconds=HUNG), file.read_bytes())


@pytest.mark.parametrize("name", harnesses())
def test_seeds_and_drawn_inputs_pass(name: str) -> None:
    harness = replace(harnesses()[name], seconds=HUNG)
    for data in harness.seeds():
        harness.run(data)
    bounds = settings(
        max_examples=effort(30 if name in YAML else 10, 1_000, 4),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    bounds(given(inputs(harness))(harness.run))()


def other_way_round(*words: Any) -> LogReport:
    report = report_on(*words)
    return msgspec.structs.replace(report, compliant=not report.compliant)


def giving(real: Callable[..., Any], **fields: object) -> Callable[..., Any]:
    """A function whose answer has other fields."""
    return lambda *words: msgspec.structs.replace(real(*words), **fields)


def appending(*words: Any, **env: str) -> Outcome:
    """Call a command that also changes the file that is named last."""
    with Path(words[-1]).open("ab") as stream:
        stream.write(b"\n:::MLLOG {")
    return run(*words, **env)


def outside(*words: Any, **env: str) -> Outcome:
    """Open a sealed file, and write beside its place."""
    outcome = run(*words, **env)
    if words[0] == "unseal":
        (Path(words[words.index("-o") + 1]).parents[1] / "beside" / "new").write_bytes(b"")
    return outcome


def looser(*words: Any, **env: str) -> Outcome:
    """Open a sealed file with tarfile alone, which compares no manifest."""
    if words[0] == "unseal" and run(*words, **env).status:
        Path(words[words.index("-o") + 1]).mkdir()
        return Outcome(0, "", "")
    return run(*words, **env)


FEED = LogJudge.feed
FUZZ = "tools.campaigns.fuzz"
#: A harness, a name that it uses, and what stands in its place: first what forgets a byte of small pieces.
PLANTED: tuple[tuple[str, str, Any], ...] = (
    ("logs", "mlsub.judge.log.LogJudge.feed", lambda judge, part: FEED(judge, part if len(part) > 3 else part[1:])),
    ("logs-official", f"{FUZZ}.logs.report_on", other_way_round),
    ("logs-fix", f"{FUZZ}.logs.run", appending),
    ("logs-redact", f"{FUZZ}.logs.run", lambda *words, **env: Outcome(0, "{}", "")),
    ("archive", f"{FUZZ}.archives.run", outside),
    ("archive", f"{FUZZ}.archives.run", looser),
    ("packages", f"{FUZZ}.packages.run", lambda *words, **env: run(*words, **env)._replace(stderr="\x1b[2J")),
    ("system-description", f"{FUZZ}.documents.read_description", giving(read_description, findings=())),
    ("scaling", f"{FUZZ}.documents.read_scaling", giving(read_scaling, factor=2.046)),
)


@pytest.mark.parametrize(("name", "place", "wrong"), PLANTED, ids=lambda one: one if isinstance(one, str) else "")
def test_a_planted_defect_is_noticed(
    name: str, place: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, rng = harnesses()[name], random.Random(name)
    drawn = [harness.generate(rng) for _ in range(40)] if harness.generate else []
    monkeypatch.setattr(place, wrong)
    tried = [*(file.read_bytes() for file in kept(harness)), *harness.seeds(), *drawn]
    with pytest.raises(Exception, match=r"."):
        for data in tried:
            harness.run(data)
