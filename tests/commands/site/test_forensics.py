"""With --inspect a result's findings are those of mlsub inspect as well, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from mlsub.commands.inspect.run import inspect
from mlsub.commands.site.forensics import with_forensics
from mlsub.findings import Kind
from mlsub.log.reader import open_log
from mlsub.log.trace import TraceFold
from mlsub.workspace import Settings, check_with_logs
from tests.commands.runner import run
from tests.corpus import CORPUS
from tests.gathering import gather
from tests.make_tree import make_tree


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
    checked = check_with_logs(paths, Settings(jobs=1, folds=(TraceFold,)))
    told = with_forensics(checked)
    entries, *_ = gather(paths, Settings(jobs=1))
    expected = sorted(o.finding.message for entry in inspect(entries).entries for o in entry.observations)
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
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install '.[report]'")
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
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install '.[report]'")
    tree = make_tree(tmp_path, "v1.0")
    tree.log(4).rename(tree.entry() / "result_9.txt")
    for name, options in (("plain", []), ("asked", ["--inspect"])):
        done = run("site", tree.folder, "-o", tmp_path / name, "--jobs", "1", *options)
        assert (done.status, done.stderr) == (0, "")
    plain, asked = ((tmp_path / name / "results") for name in ("plain", "asked"))
    assert [("inspect.numbering" in page.read_text()) for page in plain.iterdir()] == [False]
    assert [("inspect.numbering" in page.read_text()) for page in asked.iterdir()] == [True]
