"""The code of a package beside what its logs say of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mlsub.findings import Finding
from mlsub.io.data import load_yaml
from mlsub.log.lengths import Trace
from mlsub.review.code import audit_sources
from mlsub.submission import code
from mlsub.submission.code import SubmittedCode
from mlsub.submission.file_tree import read_file_tree
from mlsub.submission.model import Entry
from tests.review.folding import make_run, report_of

CASES: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name("sources.yaml"))


def write_code(folder: Path, files: dict[str, Any]) -> None:
    """Write files of so many lines, or of a text, and links."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if content == "link":
            file.symlink_to("../elsewhere")
        else:
            file.write_text("x\n" * content if isinstance(content, int) else content)


def audited(folder: Path, *logged: list[tuple[str, int]], others: Sequence[str] = ()) -> list[Finding]:
    """What is said of a package whose runs were logged by these lines of code, and that has other benchmarks."""
    logs = []
    for number, sites in enumerate(logged):
        trace = Trace(sources={file: {"seed": (1,), "run_stop": (line,)} for file, line in sites})
        log = report_of(make_run("bert"), f"ACME/results/rack1/bert/result_{number}.txt")
        logs.append(replace(log, trace=trace))
    entry = Entry(
        path="ACME/results/rack1/bert",
        organisation="ACME",
        system="rack1",
        benchmark="bert",
        folder=folder / "results" / "rack1" / "bert",
        results=(),
        logs=tuple(logs),
    )
    entries = [entry, *(replace(entry, benchmark=name, logs=()) for name in others)]
    return list(audit_sources(entries, SubmittedCode(folder, read_file_tree(folder)), "ACME/"))


@pytest.mark.parametrize("name", CASES)
def test_the_code_beside_what_is_said_of_it(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    write_code(tmp_path / case.get("below", "benchmarks"), case["files"])
    found = audited(tmp_path, case.get("logged", []), others=case.get("others", ()))
    assert sorted((one.rule, one.severity, one.actual) for one in found) == [
        tuple(one) for one in case.get("found", ())
    ]


@pytest.mark.parametrize(
    ("name", "path", "line"),
    [
        ("shorter than the line", "ACME/results/rack1/bert/result_0.txt", None),
        ("all programs are missing", "ACME/results/rack1/bert/result_0.txt", None),
        ("no program at all", "ACME/benchmarks/bert", None),
        ("a configuration sources one that is missing", "ACME/benchmarks/bert/config_1x8.sh", 2),
    ],
)
def test_where_it_is_found(name: str, path: str, line: int | None, tmp_path: Path) -> None:
    write_code(tmp_path / "benchmarks", CASES[name]["files"])
    (found,) = audited(tmp_path, CASES[name].get("logged", []))
    assert (found.path, found.line) == (path, line)


def test_the_furthest_line_of_all_runs_counts(tmp_path: Path) -> None:
    write_code(tmp_path / "benchmarks" / "bert", {"train.py": 10})
    (found,) = audited(tmp_path, [("train.py", 5)], [("train.py", 12)], [("train.py", 11)])
    assert found.path.endswith("result_1.txt")


def test_the_last_line_may_lack_its_end(tmp_path: Path) -> None:
    write_code(tmp_path / "benchmarks" / "bert", {"train.py": "a\nb\nc"})
    assert audited(tmp_path, [("train.py", 3)]) == []
    assert [one.rule for one in audited(tmp_path, [("train.py", 4)])] == ["code.source-shorter"]


def test_without_code_or_without_traces_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert audited(tmp_path, [("train.py", 3)]) == []
    write_code(tmp_path / "benchmarks" / "bert", {"train.py": 1})
    assert audited(tmp_path, []) == []


def test_a_program_whose_length_nobody_knows_is_long_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_code(tmp_path / "benchmarks" / "bert", {"train.py": 10, "empty.py": 0, "linked.py": "link"})
    monkeypatch.setattr(code, "MAX_HEAD", 5)
    monkeypatch.setattr(code, "MAX_PROGRAM", 20)
    assert audited(tmp_path, [("train.py", 99), ("empty.py", 9), ("linked.py", 9)]) == []
