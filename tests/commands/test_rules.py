"""``mlsub rules``: what people read, to the letter, and how it ends.

ROOT stands for the folder that was checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.runner import answer_schema, run
from tests.conftest import ExpectedText
from tests.make_tree import Tree, make_tree

#: Name of the expected text: the call.
TEXTS = {
    "rules-list.txt": "list",
    "rules-list.md": "list --usage hpc --format markdown",
    "rules-list-round.txt": "list --round 1.1",
    "rules-list-round.md": "list --round 6.1 --division open --format markdown",
    "rules-list-benchmark.txt": "list --benchmark bert",
    "rules-show-resnet.txt": "show resnet --round 1.1",
    "rules-show-resnet.md": "show resnet --round 1.1 --format markdown",
    "rules-show-unet3d-open.txt": "show unet3d --round 1.0 --division open",
    "rules-show-digits.txt": "show digits",
    "rules-show-llama31-8b.txt": "show llama31_8b --round 6.1",
    "rules-show-dlrmv4.txt": "show dlrmv4 --round 6.1",
    "rules-show-deepcam.txt": "show deepcam --round 3.0 --usage hpc",
    "rules-diff-1.0-1.1.txt": "diff 1.0 1.1",
    "rules-diff-1.0-1.1.md": "diff 1.0 1.1 --format markdown",
    "rules-diff-1.0-2.0-open.txt": "diff 1.0 2.0 --division open",
    "rules-diff-6.0-6.1.txt": "diff 6.0 6.1",
    "rules-diff-6.0-6.1.md": "diff 6.0 6.1 --format markdown",
    "rules-diff-none.txt": "diff 2.0 2.1 --benchmark resnet",
    "rules-diff-hpc.txt": "diff 2.0 3.0 --usage hpc",
    "keys-llama31-8b.txt": "keys llama31_8b --round 6.1",
    "keys-llama31-8b.md": "keys llama31_8b --round 6.1 --format markdown",
    "keys-resnet.txt": "keys resnet --round 1.0",
    "keys-minigo-0.6.txt": "keys minigo --round 0.6 --division open",
    "keys-stable-diffusion.txt": "keys stable_diffusion --round 5.0",
    "keys-digits-open.md": "keys digits --division open --format markdown",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_rules_read_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    outcome = run("rules", *TEXTS[name].split())
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text(name, outcome.stdout)


def _ready(tmp_path: Path) -> Tree:
    return make_tree(tmp_path, benchmarks=["resnet", "bert"])


def _undecided(tmp_path: Path) -> Tree:
    """Logs that name tensors where 1.0 did not look at them, one of which meets neither round."""
    tree = _ready(tmp_path)
    tree.edit(lambda log: log.put("seed", key="weights_initialization"), *range(5))
    tree.edit(lambda log: log.put("opt_name", value="adam"), 3)
    return tree


def _going(tmp_path: Path) -> Tree:
    return make_tree(tmp_path, benchmarks=["resnet", "bert", "unet3d"])


#: Name of the expected text: rounds and options, the submission, exit status.
SUBMISSIONS = {
    "rules-submission-ready.txt": ("1.0 1.1", _ready, 0),
    "rules-submission-unmet.txt": ("1.0 1.1", _undecided, 1),
    "rules-submission-unmet.md": ("1.0 1.1 --format markdown", _undecided, 1),
    "rules-submission-one.txt": ("1.0 2.0 --benchmark bert", _ready, 1),
    "rules-submission-gone.txt": ("4.0 4.1 --division closed", _going, 1),
    "rules-submission-all-gone.txt": ("1.0 6.1", _ready, 1),
}


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_what_a_submission_has_to_change_reads_to_the_letter(
    name: str, tmp_path: Path, expected_text: ExpectedText
) -> None:
    arguments, make, status = SUBMISSIONS[name]
    folder = make(tmp_path).folder
    outcome = run("rules", "diff", *arguments.split(), "--submission", folder)
    assert (outcome.status, outcome.stderr) == (status, "")
    expected_text(name, outcome.stdout.replace(str(tmp_path), "ROOT"))
    if "markdown" in arguments:
        return
    outcome = run("rules", "diff", *arguments.split(), "--submission", folder, "--format", "json")
    document = outcome.document
    answer_schema("rules diff submission").validate(document)
    assert outcome.status == status == int(bool(document["unmet"] or document["gone"] or not document["accepted"]))


def test_a_single_log_is_a_submission_too(tmp_path: Path) -> None:
    outcome = run("rules", "diff", "1.1", "2.0", "--submission", _ready(tmp_path).log(2))
    assert outcome.status == 1
    assert "1 of 1 log  weights_initialization is missing [key.weights_initialization.count]" in outcome.stdout


@pytest.mark.parametrize(
    ("runs", "status", "summary"),
    [(1, 0, "nothing has to change for 1.1\n"), (5, 1, "1 demand met in neither round\n")],
)
def test_what_fails_in_both_rounds_counts_where_it_is_not_forgiven(
    runs: int, status: int, summary: str, tmp_path: Path
) -> None:
    tree = _ready(tmp_path)
    tree.edit(lambda log: log.put("opt_name", value="adam"), *range(runs))
    outcome = run("rules", "diff", "1.0", "1.1", "--submission", tree.folder)
    assert outcome.status == status
    assert f"Not met in 1.0 either\n  {runs} of 15 logs  opt_name has a value" in outcome.stdout
    assert outcome.stdout.endswith(f"\n{summary}")


def test_a_log_alone_that_meets_neither_round_must_change(tmp_path: Path) -> None:
    tree = _ready(tmp_path)
    tree.edit(lambda log: log.put("opt_name", value="adam"))
    assert run("rules", "diff", "1.0", "1.1", "--submission", tree.log()).status == 1
    assert run("rules", "diff", "1.0", "1.1", "--submission", tree.log(1)).status == 0


@pytest.mark.parametrize("filtered", [["--benchmark", "unet3d"], ["--division", "open"]])
def test_a_filter_that_leaves_no_log_is_told(filtered: list[str], tmp_path: Path) -> None:
    outcome = run("rules", "diff", "1.0", "1.1", *filtered, "--submission", _ready(tmp_path).folder)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert "no log of a benchmark and division to compare in " in outcome.stderr
    assert outcome.stderr.endswith("its benchmarks are bert, resnet\n")


def test_nothing_is_written_into_a_submission(tmp_path: Path) -> None:
    tree = _ready(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tree.folder.rglob("*")}
    run("rules", "diff", "1.0", "6.1", "--submission", tree.folder)
    assert before == {path: path.stat().st_mtime_ns for path in tree.folder.rglob("*")}


#: The call, and the start of the one line on standard error.
REFUSED = {
    "show resnt": "mlsub rules show: no benchmark 'resnt'. Did you mean resnet or rnnt?",
    "show resnet --round 6.1": "mlsub rules show: training 6.1 has no resnet; it was in 0.6 to 4.0",
    "show bert --round 1.2": "mlsub rules show: no training round '1.2'; there are 0.6, ",
    "show bert --division close": "mlsub rules show: no division 'close'; there are closed, open. Did you mean closed?",
    "show cosmoflow --usage hcp": "mlsub rules show: no usage 'hcp'; there are training, hpc, rehearsal. Did you",
    "show bert\x1b[31m": "mlsub rules show: no benchmark 'bert\\x1b[31m'. Did you mean bert?",
    "show llama": "mlsub rules show: no benchmark 'llama'. Did you mean llama31_8b?",
    "keys flux": "mlsub rules keys: no benchmark 'flux'. Did you mean flux1?",
    "keys bert --division opn": "mlsub rules keys: no division 'opn'; there are closed, open. Did you mean open?",
    "keys bert --round 6.0": "mlsub rules keys: training 6.0 has no bert; it was in 0.7 to 5.0",
    "list --round 9 --usage hpc": "mlsub rules list: no hpc round '9'; there are 1.0, 2.0, 3.0",
    "list --division open": "mlsub rules list: --division needs --round or --benchmark",
    "list --round 1.0 --benchmark bert": "mlsub rules list: --round and --benchmark exclude each other; use ",
    "list --round 99.0": "mlsub rules list: no training round '99.0'; there are ",
    "diff 1.0 1.O": "mlsub rules diff: no training round '1.O'; there are ",
    "diff 1.0 1.1 --benchmark llama31_8b": "mlsub rules diff: neither training 1.0 nor 1.1 has llama31_8b",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_name_that_there_is_not_gets_one_line(arguments: str) -> None:
    outcome = run("rules", *arguments.split(" "))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.count("\n") == 1
    assert outcome.stderr.startswith(REFUSED[arguments])


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_submission_that_cannot_be_checked_gets_one_line(form: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    tree = make_tree(tmp_path)
    for path, reason in (
        (tmp_path / "nowhere", "There is no "),
        (tmp_path / "empty", "There is neither a result log nor an organisation in empty"),
        (tree.folder, "resnet is not a benchmark of MLPerf Training v5.1"),
    ):
        outcome = run("rules", "diff", "5.1", "6.1", "--submission", path, "--format", form)
        assert (outcome.status, outcome.stdout) == (2, ""), path
        assert outcome.stderr.startswith(f"mlsub rules diff: {reason}") and outcome.stderr.count("\n") == 1


_OPENED = """
import json, sys
opened = []
sys.addaudithook(lambda event, found: opened.append(str(found[0])) if event == "open" else None)
from mlsub.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("\\nOPENED " + json.dumps([name for name in opened if name.endswith(".yaml")]))
"""


def test_showing_a_benchmark_reads_its_rules_alone() -> None:
    """What makes it quick; time itself is for make bench."""
    words = ["rules", "show", "resnet", "--round", "2.1"]
    done = subprocess.run([sys.executable, "-c", _OPENED, *words], capture_output=True, text=True, check=True)
    opened = [Path(name).name for name in json.loads(done.stdout.rpartition("OPENED ")[2])]
    assert sorted(opened) == ["common.yaml", "resnet.yaml", "rounds.yaml"]
