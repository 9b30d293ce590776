"""With --inspect a result's findings are those of mlsub inspect as well, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from mlsub.commands.site.facts import add_forensics, findings_sections
from mlsub.findings import Kind
from mlsub.log.reader import open_log
from mlsub.review.runs.detect import observe_runs
from mlsub.rules.catalogue import finding
from mlsub.workspace import Settings, check_with_logs
from tests.commands.runner import run
from tests.commands.site.sites import Html, one_round
from tests.corpus import CORPUS
from tests.gathering import gather
from tests.make_tree import make_tree
from tests.review.runs.build import Record, at, write_tree


def test_each_finding_of_inspect_is_told_of_its_result(tmp_path: Path) -> None:
    paths = []
    for round_folder in ("v1.0", "v1.1"):
        tree = make_tree(tmp_path, round_folder, benchmarks=("resnet", "bert"))
        tree.log(4).rename(tree.entry() / "result_9.txt")
        paths.append(str(tmp_path / round_folder))
    compare(paths)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
def test_each_finding_on_published_results_is_told_of_its_result() -> None:
    compare([str(CORPUS / name) for name in ("v1.0/Graphcore", "v1.1", "hpc-v3.0")])


def compare(paths: list[str]) -> None:
    checked = check_with_logs(paths, Settings(jobs=1, trace=True))
    told = list(add_forensics(checked))
    entries, *_ = gather(paths, Settings(jobs=1))
    expected = sorted(o.finding.message for of in observe_runs(entries).values() for o in of)
    added = []
    for before, after in zip(checked, told, strict=True):
        assert after.report.official is before.report.official
        assert after.report.findings[: len(before.report.findings)] == before.report.findings
        more = after.report.findings[len(before.report.findings) :]
        assert {finding.path for finding in more} <= {entry.path for entry in after.report.entries}
        assert all(finding.kind is Kind.REVIEW for finding in more)
        added += [finding.message for finding in more]
    assert expected
    assert sorted(added) == expected


def test_each_log_is_read_once_for_the_verdict_and_forensics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path, "v1.0")
    tree.log(4).rename(tree.entry() / "result_9.txt")
    read = []

    def opened(path: Path | str) -> BinaryIO:
        read.append(Path(path).name)
        return open_log(path)

    monkeypatch.setattr("mlsub.log.events.open_log", opened)
    assert run("site", tree.folder, "-o", tmp_path / "site", "--jobs", "1", "--inspect").status == 0
    logs = sorted(name for name in read if name.startswith("result_"))
    assert logs == [path.name for path in sorted(tree.entry().glob("result_*"))]


def test_they_stand_on_the_page_when_asked_for(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.0")
    tree.log(4).rename(tree.entry() / "result_9.txt")
    for name, options in (("plain", []), ("asked", ["--inspect"])):
        done = run("site", tree.folder, "-o", tmp_path / name, "--jobs", "1", *options)
        assert (done.status, done.stderr) == (0, "")
    plain, asked = ((tmp_path / name / "results") for name in ("plain", "asked"))
    assert [("inspect.numbering" in page.read_text()) for page in plain.iterdir()] == [False]
    assert [("inspect.numbering" in page.read_text()) for page in asked.iterdir()] == [True]


def test_the_page_of_a_result_has_the_score_without_what_was_found(tmp_path: Path) -> None:

    def below(made: list[Record]) -> None:
        """A run that stops a millisecond after an evaluation below the target, and reaches it after run_stop."""
        stop, before = made.pop(), at(made, "eval_accuracy", -2)
        made[before]["value"] = 0.7193
        made.insert(before + 1, stop | {"time_ms": made[before]["time_ms"] + 1})

    write_tree(tmp_path, dict.fromkeys((1, 2, 6, 9), below))
    run("site", tmp_path / "v1.1", "-o", tmp_path / "site", "--inspect")
    text = Html((tmp_path / "site" / "results" / "training_1.1_acme_rack1_bert.html").read_bytes()).text
    [figures] = [line for line in text if "4 of 10 runs, the 4 fastest" in line]
    assert "as logged" not in figures
    [found] = [line for line in text if "as logged" in line]
    assert "minutes as logged, no score with them counted as not converged: 4 such runs, and 1 may fall out" in found
    assert "the other 6 have an olympic mean of 17.119004 minutes" in found


def test_findings_stand_by_severity_and_forensics_apart(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("lars_epsilon", value=1.0), 0, 1)
    (result,) = one_round(tree).results
    below = finding(
        "inspect.stops-below", "results/rack1/resnet", actual="two runs; 12.000000 minutes as logged, 13.5 so"
    )
    found = (*result.findings, below, finding("inspect.pause", "results/rack1/resnet", actual="9 s in each run"))
    ruled, forensics = findings_sections(found, forgiven=False)
    assert [table.caption for table in ruled.tables] == ["2 errors"]
    assert ruled.words[0] == "2 errors."
    assert (forensics.title, forensics.words[0]) == ("Forensics", "1 warning and 1 note.")
    warnings, notes = forensics.tables
    assert (warnings.caption, notes.caption) == ("1 warning", "1 note")
    assert [cell.text for cell in warnings.rows[0][:3]] == [
        "Successful runs stop after an evaluation below the target",
        "two runs",
        "12.000000 minutes as logged, 13.5 so",
    ]
    assert [cell.text for cell in notes.rows[0][1:3]] == ["9 s in each run", "as it is"]
    (none,) = findings_sections((), forgiven=False)
    assert (none.words, none.tables) == (("None.",), ())
