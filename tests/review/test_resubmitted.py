"""Runs that were published in an earlier round: found by digests that ship, and whether they may be submitted again."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.findings import Severity
from mlsub.review import fingerprints
from mlsub.review.fingerprints import SIZE, audit_resubmission, digest_description, digest_times, published_runs
from mlsub.rounds import get_round
from mlsub.submission.model import Entry
from mlsub.systems.description import SystemDescription
from mlsub.workspace import ANY, Context, check_with_logs
from tools import published_runs as tool
from tools.support.corpus import CORPUS, REPOSITORY, SHARED
from tools.support.make_tree import Log, Tree, make_tree
from tools.support.runner import check

RULE = "entry.resubmitted"


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Tree, str, str], None]]:
    """Take the entry of a tree, under the name of a round and of an organisation, for all that was published."""
    file = tmp_path / "published.json"

    def write(tree: Tree, round_name: str, organisation: str) -> None:
        [checked] = check_with_logs([tree.folder], Context(ANY))
        [result] = checked.results
        runs = [digest_times(log.run) or b"" for log in result.logs]
        digests = b64encode(b"".join([digest_description(described(tree)), *runs])).decode()
        file.write_text(json.dumps({round_name: {f"{organisation}/rack1/resnet": digests}}))
        published_runs.cache_clear()

    monkeypatch.setattr(fingerprints, "FILE", file)
    yield write
    published_runs.cache_clear()


def described(tree: Tree) -> SystemDescription:
    """The description of a tree's system."""
    content = json.loads(tree.description().read_text())
    return SystemDescription(name="rack1", path="systems/rack1.json", content=content, findings=())


def entry_of(tree: Tree) -> Entry:
    """The entry of a tree with its logs and its description."""
    [checked] = check_with_logs([tree.folder], Context(ANY))
    [result] = checked.results
    return Entry(
        path=result.path,
        organisation=result.organisation,
        system=result.system,
        benchmark=result.benchmark,
        folder=tree.entry(),
        results=(),
        logs=result.logs,
        description=described(tree),
    )


SAME, OTHER, FOREIGN = (
    None,
    "Runs of an earlier round are submitted again, with another system description",
    "Runs that another organisation published are submitted",
)


@pytest.mark.parametrize(
    ("shipped", "organisation", "usage", "now", "changes", "severity", "message"),
    [
        ("training 4.1", "ACME", "training", "5.1", {}, "warning", SAME),
        ("training 4.1", "acme", "training", "5.1", {"framework": "JAX 0.5"}, "error", OTHER),
        ("training 4.1", "ACME", "training", "5.0", {"framework": "JAX 0.5"}, "warning", SAME),
        ("training 4.1", "Umbrella", "training", "5.0", {}, "error", FOREIGN),
        # Of the same round, of a later one, and of another usage.
        ("training 5.1", "ACME", "training", "5.1", {}, None, None),
        ("training 5.1", "ACME", "training", "5.0", {}, None, None),
        ("hpc 2.0", "ACME", "training", "5.1", {}, None, None),
        ("hpc 2.0", "ACME", "hpc", "3.0", {"framework": "JAX 0.5"}, "warning", SAME),
    ],
)
def test_runs_of_an_earlier_round(
    shipped: str,
    organisation: str,
    usage: str,
    now: str,
    changes: dict[str, Any],
    severity: str | None,
    message: str | None,
    ship: Callable[[Tree, str, str], None],
    tmp_path: Path,
) -> None:
    tree = make_tree(tmp_path)
    ship(tree, shipped, organisation)
    tree.describe(**changes)
    found = list(audit_resubmission(entry_of(tree), get_round(usage, now)))
    assert [one.severity for one in found] == ([Severity(severity)] if severity else [])
    assert all(one.message == (message or "Runs of an earlier round are submitted again") for one in found)


def test_what_a_finding_says(ship: Callable[[Tree, str, str], None], tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    ship(tree, "training 4.1", "ACME")
    [found] = audit_resubmission(entry_of(tree), get_round("training", "5.1"))
    assert (found.path, found.expected, found.actual) == (
        "results/rack1/resnet",
        "the system description of the earlier round, and an issue for the committee",
        "5 of 5 runs are of v4.1, ACME/rack1/resnet; the description is the same",
    )


def test_some_runs_with_other_records_are_found(ship: Callable[[Tree, str, str], None], tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    ship(tree, "training 4.1", "ACME")

    def change(log: Log) -> None:
        log.drop("seed", "epoch_start", "epoch_stop")
        log.put("eval_accuracy", value=0.8)

    tree.edit(change, 0, 1)
    for run in (2, 3):
        tree.edit(lambda log: log.last(20), run)
    [found] = audit_resubmission(entry_of(tree), get_round("training", "5.0"))
    assert (found.expected, found.actual) == (
        None,
        "3 of 5 runs (result_0.txt, result_1.txt, result_4.txt) are of v4.1, ACME/rack1/resnet; "
        "the description is the same",
    )
    assert found.path == "results/rack1/resnet"
    for run in (0, 4):
        tree.edit(lambda log: log.last(20), run)
    [found] = audit_resubmission(entry_of(tree), get_round("training", "5.0"))
    assert found.path == "results/rack1/resnet/result_1.txt"
    assert str(found.actual).startswith("1 of 5 runs (result_1.txt) is of v4.1, ACME/rack1/resnet; ")


def test_logs_without_a_run_have_no_digest(ship: Callable[[Tree, str, str], None], tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.drop("run_stop"), *range(5))
    ship(tree, "training 4.1", "ACME")
    assert list(audit_resubmission(entry_of(tree), get_round("training", "5.0"))) == []


def test_it_explains_the_dates(ship: Callable[[Tree, str, str], None], tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.0")
    ship(tree, "training 1.0", "ACME")
    moved = tmp_path / "v2.0" / "ACME"
    shutil.copytree(tree.folder, moved)
    outcome = check(moved)
    assert [one["severity"] for one in outcome.of(RULE)] == ["warning"]
    assert outcome.of("cross.round") == []


def test_the_file_that_ships_is_read() -> None:
    published_runs.cache_clear()
    runs = published_runs()
    assert len(runs) > 2000
    assert {len(digest) for digest in runs} == {len(one.system) for found in runs.values() for one in found} == {SIZE}
    assert {f"{one.usage} {one.round}" for found in runs.values() for one in found} >= {
        "hpc 3.0",
        *(f"training {name}" for name in ("0.6", "0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1")),
        *("training 5.0", "training 5.1", "training 6.0"),
    }


def test_the_page_says_how_many_runs_of_each_round_there_are() -> None:
    page = " ".join((REPOSITORY / "docs/review.md").read_text().split())
    counts = {name: sum(len(one) // SIZE - 1 for one in of.values()) for name, of in tool.read_rounds().items()}
    assert f"digests of {sum(counts.values()):,} runs" in page
    for name, count in counts.items():
        assert f"{count} of {name.replace('training ', 'v').replace('hpc ', 'HPC v')}" in page


@pytest.mark.slow
def test_the_file_has_the_published_logs_beside_the_repository() -> None:
    if not CORPUS.is_dir():
        pytest.skip("published results are not there")
    shipped = tool.read_rounds()
    for name, entries in tool.digest_rounds(tool.PUBLISHED).items():
        assert entries.items() <= shipped[name].items(), f"{name}: python -m tools.published_runs brings it up to date"


def test_other_entries_stay_where_the_file_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "FILE", tmp_path / "published.json")
    tool.write_rounds({"training 1.0": {"ACME/rack1/resnet": bytes(SIZE), "ACME/rack9/resnet": bytes(2 * SIZE)}})
    make_tree(tmp_path / "rounds", "v1.0")
    make_tree(tmp_path / "rounds", "v1.1", org="Umbrella")
    monkeypatch.setattr("sys.argv", ["published_runs", "--from", str(tmp_path / "rounds")])
    tool.main()
    assert capsys.readouterr().out == "training 1.0: 6 runs of 2 entries\ntraining 1.1: 5 runs of 1 entries\n"
    assert len(tool.read_rounds()["training 1.0"]["ACME/rack1/resnet"]) == 6 * SIZE


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("corpus/v3.1/Intel", {"warning": 5}),
        ("corpus/v3.0/Intel", {}),
        ("corpus/v5.1/Krai", {}),
        ("corpus/v4.1/Krai", {}),
    ],
)
def test_published_entries_that_were_submitted_again(folder: str, found: dict[str, int]) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip("published results are not there")
    severities = [one["severity"] for one in check(SHARED / folder).of(RULE)]
    assert {severity: severities.count(severity) for severity in dict.fromkeys(severities)} == found
