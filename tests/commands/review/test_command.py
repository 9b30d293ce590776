"""``mlsub review``: its words, pages and tables, the exit status, JSON by its schema, and hostile input."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from mlsub.commands.review.asks import _question, fine_of
from mlsub.commands.review.document import _entries_table
from mlsub.commands.review.hyperparameters import hyperparameters
from mlsub.commands.review.model import Organisation, ReviewedEntry
from mlsub.findings import Severity
from mlsub.present.document import Lines, text_of
from mlsub.review.disclosure import Disclosure, StatedValue, show_stated, show_value
from mlsub.rules.aspects import ASPECTS
from mlsub.rules.catalogue import catalogue, finding
from mlsub.submission.report import EntryResult
from mlsub.submission.result import results_of
from tests.conftest import ExpectedText
from tests.review.folding import make_run, report_of
from tests.review.runs.build import at, delay, every, put, stretch, write_tree
from tests.score.reports import make_entry, make_report, make_score
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree, snapshot, spoil
from tools.support.runner import REPOSITORY, Outcome, answer_schema, run

corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
published = pytest.mark.skipif(not (CORPUS.parent / "v6.0-sample").is_dir(), reason="published logs are not there")


def reviewed(*args: object) -> Outcome:
    """``mlsub review --only review --format json``; the answer must keep its schema."""
    outcome = run("review", "--only", "review", "--ignore", "layout", "--format", "json", *args)
    answer_schema("review").validate(outcome.document)
    return outcome


def rules(outcome: Outcome) -> list[str]:
    """Those of runs beside each other, each once a place."""
    asks = [ask for one in outcome.document["organisations"] for ask in (*one["asks"], *one["notes"])]
    return [ask["rule"] for ask in asks for _ in ask["findings"] if ask["rule"].startswith("inspect.")]


def test_nothing_to_ask(tmp_path: Path) -> None:
    outcome = run("review", write_tree(tmp_path), "--select", "inspect.")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.endswith("\n1 organisation, 1 entry: nothing to ask. None of it is an accusation.\n")


def test_errors_of_a_run_that_its_entry_may_hold_are_notes(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0)
    asks = run("review", tree.folder, "--only", "official", "--format", "json").document["organisations"][0]
    assert not asks["asks"]
    notes = [("entry.forgiven-runs", "note"), ("key.eval_accuracy.target", "note")]
    assert [(ask["rule"], ask["severity"]) for ask in asks["notes"]] == notes
    spoil(tree, 1)
    asks = run("review", tree.folder, "--only", "official", "--format", "json").document["organisations"][0]
    assert "key.eval_accuracy.target" in [ask["rule"] for ask in asks["asks"] if ask["severity"] == "error"]


@pytest.mark.parametrize(("status", "severity"), [("success", "note"), ("aborted", "error")])
def test_missing_runs_alone_are_asked_for_once(status: str, severity: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.0")
    tree.edit(lambda log: log.put("run_stop", metadata={"status": status}))
    for number in range(2, 5):
        tree.log(number).unlink()
    one = run("review", tree.folder, "--only", "official", "--format", "json").document["organisations"][0]
    asked = {ask["rule"]: ask["severity"] for ask in (*one["asks"], *one["notes"])}
    assert asked == {"entry.run-count": "error", "rcp.insufficient-convergence": severity}


def test_findings_in_words(tmp_path: Path, expected_text: ExpectedText) -> None:
    outcome = run("review", write_tree(tmp_path, every(stretch(1.098))), "--ignore", "key.")
    assert (outcome.status, outcome.stderr) == (1, "")
    expected_text("review.txt", outcome.stdout)


def test_findings_as_json(tmp_path: Path) -> None:
    outcome = reviewed(write_tree(tmp_path, {3: lambda made: delay(made, "init_stop", 900_000)}))
    assert outcome.status == 0, "notes do not count"
    [one] = outcome.document["organisations"]
    [entry] = one["entries"]
    assert (entry["path"], entry["runs"], entry["division"]) == ("results/rack1/bert", 10, "closed")
    [ask] = [ask for ask in one["notes"] if ask["rule"] == "inspect.long-init"]
    assert ask["findings"][0]["path"] == "results/rack1/bert/result_3.txt"
    assert ask["figures"][0]["init_ms"] > 900_000


def test_nothing_is_written(tmp_path: Path) -> None:
    tree = write_tree(tmp_path)
    before = snapshot(tmp_path)
    run("review", tree)
    run("review", tree, "--rates")
    assert snapshot(tmp_path) == before


def test_an_empty_round_beside_others_is_reported_and_the_others_are_reviewed(tmp_path: Path) -> None:
    write_tree(tmp_path, {3: lambda made: delay(made, "init_stop", 900_000)})
    (tmp_path / "v2.0").mkdir()
    outcome = reviewed(tmp_path)
    assert rules(outcome) == ["inspect.long-init"]
    assert outcome.status == 2
    assert outcome.stderr.startswith("mlsub review: There is neither a result log nor an organisation in v2.0;")
    assert run("review", tmp_path / "v2.0").status == 2
    beside = reviewed(tmp_path / "v1.1", "--against", tmp_path)
    assert (rules(beside), beside.status) == (["inspect.long-init"], 2)


def test_rules_can_be_chosen(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {3: lambda made: delay(made, "init_stop", 900_000)})
    assert rules(reviewed(tree, "--select", "inspect.long")) == ["inspect.long-init"]
    ignored = reviewed(tree, "--ignore", "inspect.long-init")
    assert (rules(ignored), ignored.status) == ([], 0)
    wrong = run("review", tree, "--select", "inspect.strech")
    assert wrong.status == 2
    assert "Did you mean inspect.stretched" in wrong.stderr


def test_against_another_round(tmp_path: Path) -> None:
    old = write_tree(tmp_path / "old")
    new = write_tree(tmp_path / "new", round_="v2.0")
    alone = reviewed(new)
    beside = reviewed(new, "--against", old)
    assert (rules(alone), rules(beside)) == ([], ["inspect.same-run"])
    assert "copies of runs" in alone.document["organisations"][0]["fine"]
    [one] = beside.document["organisations"]
    assert "copies of runs" not in one["fine"]
    assert [entry["path"] for entry in one["entries"]] == ["new/v2.0/ACME/results/rack1/bert"]


NAMES, PACKAGE = (
    "what logs and folders say of the organisation, division, benchmark and platform",
    "the folders and files",
)
OF_RUNS = {"seeds", "the number of runs of 1 entry", "copies of runs", "the order and pace of runs"}
CONVERGENCE, TIMES = "convergence beside the reference", "times and scaling factors"


def _fine(path: Path) -> list[str]:
    [one] = run("review", path, "--format", "json").document["organisations"]
    return [words.removesuffix(" of the package") for words in one["fine"]]


def test_what_was_not_read_is_not_called_fine(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.add_code()
    tree.edit(lambda log: log.put("submission_platform", value="rack1"))
    of_runs = OF_RUNS | {CONVERGENCE, TIMES}
    assert {*_fine(tree.folder)} >= of_runs | {PACKAGE}
    part = _fine(tree.folder / "results" / "rack1")
    assert PACKAGE not in part
    assert {*part} >= of_runs
    assert _fine(tree.log(0)) == ["the records and values of 1 log"]
    for number in (3, 4):
        tree.log(number).write_bytes(b"")
    assert TIMES not in _fine(tree.folder), "there is none"
    tree.description().unlink()
    assert "system descriptions" not in _fine(tree.folder)


def test_names_that_nobody_filled_in_are_not_called_fine(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert NAMES in _fine(tree.folder)
    tree.edit(lambda log: log.put("submission_org", value="SUBMISSION_ORG_PLACEHOLDER"))
    assert NAMES not in _fine(tree.folder)


def test_folders_without_logs_are_named_beside_the_entries(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v4.0")
    (tree.folder / "results" / "rack1" / "bert").mkdir()
    outcome = run("review", tree.folder)
    assert "\n  1 folder has no result log: results/rack1/bert.\n" in outcome.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nowhere",), "/nowhere. Name a log, a benchmark folder,"),
        (("empty",), "There is neither a result log nor an organisation in empty; expected results/"),
        (("loose",), "Pass the round, such as --round 5.1."),
        (("loose", "--round", "9.9"), "There are no rules for training round 9.9; expected one of 0.6, "),
        (("loose", "--usage", "inference"), "There is no usage inference; expected training, hpc, rehearsal."),
        (("v1.1/ACME", "--against", "nowhere"), "There is no "),
        (("v1.1/Bare",), "There is no result log below v1.1/Bare."),
        (("pipe",), "No round was given"),
        (("pipe", "--round", "1.1"), "pipe"),
        (("loop", "--round", "1.1"), "loop"),
    ],
)
def test_what_cannot_be_reviewed(
    args: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "v1.1" / "Bare" / "results").mkdir(parents=True)
    shutil.copytree(tmp_path / "v1.1" / "ACME" / "results" / "rack1" / "bert", tmp_path / "loose")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    outcome = run("review", *args)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub review: ")
    assert words in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_lone_folder_with_its_round(tmp_path: Path) -> None:
    folder = write_tree(tmp_path) / "results" / "rack1" / "bert"
    (tmp_path / "runs").mkdir()
    shutil.copytree(folder, tmp_path / "runs" / "bert")
    outcome = reviewed(tmp_path / "runs" / "bert", "--round", "1.1")
    assert outcome.document["organisations"][0]["entries"][0]["runs"] == 10


def test_logs_that_tell_nothing(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, runs=3)
    for n in range(3):
        (tree / "results" / "rack1" / "bert" / f"result_{n}.txt").write_text("no record\n")
    outcome = run("review", tree)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr == ("mlsub review: No log has a record. Name the result logs of a round mlsub check knows.\n")


def test_hostile_logs_beside_good_ones(tmp_path: Path) -> None:
    tree = write_tree(tmp_path)
    folder = tree / "results" / "rack1" / "bert"
    (folder / "result_1.txt").unlink()
    os.mkfifo(folder / "result_1.txt")
    (folder / "result_2.txt").unlink()
    (folder / "result_2.txt").symlink_to("result_2.txt")
    (folder / "result_3.txt").write_bytes(b"\0" * 5_000 + b":::MLLOG " + b"[" * 200_000)
    (folder / "result_4.txt").write_bytes((folder / "result_4.txt").read_bytes()[:4000] + b"\xff\xfe:::MLLOG {")
    text = (folder / "result_5.txt").read_text()
    (folder / "result_5.txt").write_text(text.replace('"lamb"', '"\\u001b[31mred"'))
    times = re.sub(r'"time_ms": \d+', '"time_ms": 1e400', (folder / "result_6.txt").read_text())
    (folder / "result_6.txt").write_text(times)
    outcome = reviewed(tree)
    assert outcome.status == 2
    assert outcome.document["unread"] == [
        "results/rack1/bert/result_1.txt: The log cannot be read: not a regular file",
        "results/rack1/bert/result_2.txt: The log cannot be read: a link that leads nowhere, or in a circle",
    ]
    assert outcome.stderr == "".join(f"mlsub review: {line}\n" for line in outcome.document["unread"])
    assert "\x1b" not in run("review", tree).stdout


def test_rates_as_json(tmp_path: Path) -> None:
    outcome = run("review", write_tree(tmp_path), "--rates", "--format", "json")
    assert outcome.status == 0
    answer_schema("review rates").validate(outcome.document)
    assert {rate["entries"] for rate in outcome.document["rates"]} == {0}
    assert {rate["of"] for rate in outcome.document["rates"]} == {1}


@pytest.mark.slow
@corpus
def test_the_rates_in_the_docs_are_those_of_the_published_results() -> None:
    outcome = run("review", "--rates", CORPUS)
    [table] = re.findall(r"```text\n(How often.*?)```", (REPOSITORY / "docs" / "review.md").read_text(), re.DOTALL)
    assert outcome.status == 0
    assert outcome.stdout == table


@corpus
def test_two_rounds_of_a_submitter() -> None:
    outcome = reviewed(CORPUS / "v1.0" / "Graphcore", CORPUS / "v1.1" / "Graphcore")
    assert outcome.status == 1
    changed = [
        found["path"]
        for one in outcome.document["organisations"]
        for ask in (*one["asks"], *one["notes"])
        for found in ask["findings"]
        if ask["rule"] == "inspect.changed"
    ]
    assert sorted(changed) == [
        f"v1.1/Graphcore/results/ipu-pod{name}"
        for name in ("16-POPART-closed/bert", "16-TF1/resnet", "64-POPART-closed/bert", "64-TF1/resnet")
    ]


@published
def test_what_is_disclosed_has_its_file_and_line_and_short_texts_are_short() -> None:
    tree = CORPUS.parent / "v6.0-sample" / "AMD"
    outcome = run("review", tree, "--round", "6.0", "--format", "json")
    answer_schema("review").validate(outcome.document)
    [one] = outcome.document["organisations"]
    log = "results/MI350X_EPYC_9575F_primus/llama2_70b_lora/result_0.txt"
    stated = {entry["benchmark"]: entry["disclosure"] for entry in one["entries"]}["llama2_70b_lora"]
    found = {"value": "config_MI355X_1x8x1.sh", "path": log, "line": 32, "also": [], "printed": False}
    assert stated["config_file"] == found
    assert (stated["linear"], stated["config_places"], stated["accelerators"]) == (None, None, 8)
    [ask] = [ask for ask in one["asks"] if ask["rule"] == "config.accelerator"]
    assert ask["question"].endswith("288GB HBM3e); on which one were the runs made?")
    assert [(place["path"], place["line"]) for place in ask["findings"]] == [(log, 32)]
    text = run("review", tree, "--round", "6.0").stdout
    assert text.count("\n") <= 60
    assert "config_MI355X_1x8x1.sh" in text


def test_a_round_begins_with_a_table_of_the_worst_first(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    shutil.copytree(made.folder, made.folder.parent / "Best")
    made.log(0).unlink()
    outcome = run("review", made.folder.parent, "--format", "json", "--select", "entry.run-count")
    assert [(one["name"], one["official"]) for one in outcome.document["organisations"]] == [
        ("ACME", "rejected"),
        ("Best", "accepted"),
    ]
    lines = run("review", made.folder.parent, "--select", "entry.run-count").stdout.splitlines()
    assert lines[2].split() == ["organisation", "round", "entries", "errors", "warnings", "notes", "verdict"]
    assert lines[4].split()[0] == "ACME"


def part(text: str, title: str) -> str:
    """The text from a heading to the next blank line, set back to the margin."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.strip() == title)
    end = next((n for n in range(start, len(lines)) if not lines[n]), len(lines))
    indent = len(lines[start]) - len(lines[start].lstrip())
    return "\n".join(line[indent:] for line in lines[start:end]) + "\n"


def against(tmp_path: Path) -> tuple[Path, str, Path]:
    old = write_tree(tmp_path / "old", every(lambda made: put(made, "opt_base_learning_rate", 0.0002)))
    new = write_tree(tmp_path / "new", {3: lambda made: put(made, "opt_base_learning_rate", 0.5)}, round_="v2.0")
    return new, "--against", old


def test_hyperparameters_beside_the_reference_and_the_round_before(tmp_path: Path) -> None:
    text = run("review", *against(tmp_path)).stdout
    assert part(text, "Hyperparameters of bert") == (
        "Hyperparameters of bert\n"
        "  hyperparameter          reference at 3072  1             1 before\n"
        "  -----------------------------------------------------------------\n"
        "  opt_base_learning_rate  0.002              0.002 or 0.5  0.0002\n"
        "  1 other is the same everywhere, or as in the reference.\n"
        "  1 before: old/v1.1/ACME/results/rack1/bert\n"
    )


def test_each_hyperparameter_has_its_file_and_line(tmp_path: Path) -> None:
    outcome = run("review", *against(tmp_path), "--format", "json")
    answer_schema("review").validate(outcome.document)
    [entry] = outcome.document["organisations"][0]["entries"]
    folder = "v1.1/ACME/results/rack1/bert"
    assert entry["before"] == f"old/{folder}"
    assert entry["reference"] == {"file": "training_2.0.0/rcps_bert.json", "batch_size": 3072}
    rate = next(of for of in entry["hyperparameters"] if of["name"] == "opt_base_learning_rate")
    log = "new/v2.0/ACME/results/rack1/bert/result_0.txt"
    assert rate == {
        "name": "opt_base_learning_rate",
        "reference": 0.002,
        "value": {"value": 0.002, "path": log, "line": 9, "also": ["0.5"], "printed": False},
        "before": {"value": 0.0002, "path": f"old/{folder}/result_0.txt", "line": 9, "also": [], "printed": False},
    }


def test_every_hyperparameter_with_v_and_none_where_all_agree(tmp_path: Path) -> None:
    tree = write_tree(tmp_path)
    assert "Hyperparameters" not in run("review", tree).stdout
    assert part(run("review", tree, "-v").stdout, "Hyperparameters of bert").splitlines()[3:5] == [
        "  global_batch_size       3072               =",
        "  opt_base_learning_rate  0.002              =",
    ]


@corpus
def test_steps_are_compared_with_the_samples_of_the_reference() -> None:
    [one] = run("review", CORPUS / "v5.1" / "HPE", "--format", "json").document["organisations"]
    stated = {of["name"]: of for of in one["entries"][0]["hyperparameters"]}
    steps = stated["opt_learning_rate_warmup_steps"]
    assert (steps["value"]["value"], steps["reference"]) == (96, 128), "4,096 samples at batch size 32"
    assert "opt_learning_rate_warmup_samples" not in stated


@pytest.mark.parametrize(
    ("benchmark", "round_", "logged", "reference"),
    [
        ("stable_diffusion", "5.0", 7.168e-05, "7.168e-05"),
        ("stable_diffusion", "5.0", 2.8e-07, "2.8e-07"),
        ("stable_diffusion", "4.1", 7.56e-05, "4.608e-05"),
        ("stable_diffusion", "4.1", None, "4.608e-05"),
        ("retinanet", "5.0", 0.0256, "0.0001"),
    ],
)
def test_a_rate_of_one_sample_is_compared_as_that_of_a_batch(
    benchmark: str, round_: str, logged: float | None, reference: str
) -> None:
    rate = {} if logged is None else {"opt_base_learning_rate": logged}
    made = make_entry(path=f"results/rack1/{benchmark}", benchmark=benchmark)
    made = replace(made, rcp=replace(made.rcp, batch_size=256.0))
    log = report_of(make_run(benchmark, global_batch_size=256, **rate), f"{made.path}/result_0.txt")
    [result] = results_of(make_report(made, round=round_), [log])
    stated = {one.name: one.reference for one in hyperparameters(result, None)[1]}
    assert show_value(stated["opt_base_learning_rate"]) == reference


def test_what_only_the_reference_states_and_how_its_data_calls_it(tmp_path: Path) -> None:
    text = " ".join(run("review", write_tree(tmp_path), "-v").stdout.split())
    assert "Only the reference states gradient_accumulation_steps 96, num_warmup_steps 100, opt_epsilon 1e-06," in text


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), ("0.0", 0), (0.004, 0.00400000018999), ("adam", "adam"), ([40, 50], [40.0, 50.0]), ("8e-05", 8e-5)],
)
def test_equal_values_are_equal_texts(one: Any, other: Any) -> None:
    assert show_value(one) == show_value(other)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((True, "true"), (None, "null"), (float("nan"), "NaN"), (1e300, "1e+300"), ([1] * 50, "[1, 1")),
        *(("9" * 5_000, "9" * 58 + "…"), ({"a": [1]}, '{"a": [1]}')),
    ],
)
def test_odd_values_are_short(value: Any, text: str) -> None:
    assert show_value(value).startswith(text)
    assert len(show_value(value)) <= 60


@pytest.mark.parametrize("value", ["a" * 5_000, [0.5] * 5_000])
def test_a_long_value_is_short_in_json(tmp_path: Path, value: Any) -> None:
    tree = write_tree(tmp_path, every(lambda made: put(made, "opt_base_learning_rate", value)))
    [entry] = run("review", tree, "--format", "json").document["organisations"][0]["entries"]
    rate = next(of for of in entry["hyperparameters"] if of["name"] == "opt_base_learning_rate")
    assert len(rate["value"]["value"]) == 200


def disclosing(made: list[dict[str, Any]], **values: Any) -> None:
    """Log keys behind the batch size."""
    batch = made[at(made, "global_batch_size")]
    made[at(made, "opt_name") : at(made, "opt_name")] = [
        {**batch, "key": key, "value": of} for key, of in values.items()
    ]


def test_what_is_disclosed_and_where_the_configuration_lies(tmp_path: Path) -> None:
    values = {"tensor_parallelism": 2, "config_filename": "config_a.sh", "lowest_numerical_precision_in_linear": "fp8"}
    other = {**values, "lowest_numerical_precision_in_linear": "bf16"}
    changes = {**every(lambda made: disclosing(made, **values)), 4: lambda made: disclosing(made, **other)}
    tree = write_tree(tmp_path, changes)
    (tree / "systems").mkdir()
    (tree / "systems" / "rack1.json").write_text("{}")
    text = run("review", tree, "--severity", "error").stdout
    assert part(text, "Disclosed") == (
        "Disclosed\n"
        "  #  batch  TP  linear       config\n"
        "  --------------------------------------\n"
        "  1  3072   2   fp8 or bf16  config_a.sh\n"
        "  No entry discloses accum., micro batch, PP, CP, EP, attention, comm.\n"
    )
    code = tree / "benchmarks" / "bert" / "implementations" / "ours"
    code.mkdir(parents=True)
    (code / "run_and_time.sh").write_text("\n")
    assert "config_a.sh: not there\n" in run("review", tree).stdout
    (code / "config_a.sh").write_text("\n")
    assert "fp8 or bf16  implementations/ours/config_a.sh\n" in run("review", tree).stdout


def test_what_a_log_prints_is_disclosed_with_a_mark(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, every(lambda made: disclosing(made, pipeline_parallelism=1)))
    for file in tree.glob("**/result_*.txt"):
        file.write_text(f"micro_batch_size: 2\ntensor_model_parallel_size: 4\nfp8='hybrid',\n{file.read_text()}")
    text = run("review", tree, "--severity", "error").stdout
    assert part(text, "Disclosed") == (
        "Disclosed\n"
        "  #  batch  micro batch  TP  PP  linear\n"
        "  -------------------------------------\n"
        "  1  3072   2*           4*  1   fp8*\n"
        "  * from the log: no record states it. No entry discloses accum., CP, EP, attention, comm, config.\n"
    )


def test_a_value_that_runs_write_otherwise_is_disclosed_once() -> None:
    assert show_stated(StatedValue(4.0, "a.txt", also=("2.0", "2", '"fp8"'), printed=True)) == "4 or 2 or fp8*"


def test_a_round_has_names_and_disclosure_over_all(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.add_system(host_processor_model_name="AMD EPYC Rome 7742")
    shutil.copytree(made.folder, made.folder.parent / "Best")
    text = run("review", made.folder.parent, "--severity", "error").stdout
    assert text.count("\nNames\n") == text.count("no more than") + text.count("No entry discloses") == 1
    assert " ".join(part(text, "Names").splitlines()[-1].split()[1:]) == "AMD EPYC Rome 7742 AMD EPYC 7742 Best, ACME"


def test_an_unknown_name_is_shown_without_advice(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.add_system(host_processor_model_name="Intel(R) Xeon(R) Platinum 9999")
    names = part(run("review", made.folder, "-v").stdout, "Names")
    assert "Intel(R) Xeon(R) Platinum 9999  -  " in names and "not known" not in names


def test_each_name_that_is_not_right_has_its_line(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.add_system(host_processor_model_name="AMD EPYC Rome 7742")
    [one] = run("review", made.folder, "--format", "json").document["organisations"]
    [name] = [of for of in one["names"] if of["naming"]["field"] == "host_processor_model_name"]
    lines = (made.folder / name["path"]).read_text().splitlines()
    assert "AMD EPYC Rome 7742" in lines[name["line"] - 1]


@published
def test_a_round_discloses_over_all_its_organisations() -> None:
    text = run("review", CORPUS.parent / "v6.0-sample", "--round", "6.0").stdout
    lines = [line.split() for line in part(text, "Disclosed").splitlines()]
    assert ["AMD", "2", "llama2_70b_lora", "8", "1", "1", "1", "1", "1", "1", "config_MI355X_"] in lines
    assert "3 entries disclose no more than batch size and accumulation.\n" in text


@corpus
@pytest.mark.parametrize("package", ["v1.0/Graphcore", "v1.1/HPE", "v2.0/HazyResearch", "v3.0/IEI", "v5.1/AMD"])
def test_the_text_of_a_package_of_up_to_six_entries_is_short(package: str) -> None:
    assert run("review", CORPUS / package).stdout.count("\n") <= 60


@corpus
def test_hyperparameters_without_room_are_counted() -> None:
    text = run("review", CORPUS / "v1.0" / "Graphcore").stdout
    assert "  hyperparameters that differ: 7 of bert, 6 of resnet (-v shows them).\n" in text
    assert "Hyperparameters of" not in text


def test_what_people_have_to_ask_is_whole_questions(tmp_path: Path) -> None:
    [one] = run("review", write_tree(tmp_path), "--format", "json").document["organisations"]
    assert one["to_read"]["bert"][:2] == [
        "are checkpoint and vocabulary those of the reference?",
        "are sequences cut or left out by one length, and only in training?",
    ]
    assert not [text for text in one["to_read"]["bert"] if not text.endswith("?") or text.startswith("Open:")]


def two_organisations(folder: Path) -> Path:
    """A round of two organisations, whose runs are stretched."""
    tree = write_tree(folder, every(stretch(1.098)))
    shutil.copytree(tree, tree.parent / "Zeta")
    return tree.parent


def test_a_round_begins_with_its_rules_and_benchmarks(tmp_path: Path) -> None:
    text = run("review", two_organisations(tmp_path), "--select", "inspect.stretched").stdout
    places = [
        text.index("\nQuestions: in how many places\n"),
        text.index("  warning inspect.stretched     1     1\n"),
        text.index("\nbert, v1.1: 2 entries\n"),
        text.index("\nACME, training v1.1\n"),
    ]
    assert places == sorted(places)
    table = text[places[2] : places[3]].splitlines()
    assert [line.split()[:3] for line in table[4:6]] == [["ACME", "1", "rack1"], ["Zeta", "1", "rack1"]]
    assert [line.split()[-1] for line in table[4:6]] == ["1", "1"], "the first question"
    assert "  #  system" not in run("review", tmp_path / "v1.1").stdout, "entries are by benchmark"


def test_each_number_and_place_of_a_page_is_a_link(tmp_path: Path) -> None:
    page, made = tmp_path / "pages" / "r.html", two_organisations(tmp_path / "a b")
    page.parent.mkdir()
    run("review", made, "-o", page, "-o", page.with_suffix(".md"))
    text = page.read_text()
    anchors, inside = set(re.findall(r' id="([^"]+)"', text)), set(re.findall(r'href="#([^"]+)"', text))
    assert inside and inside <= anchors
    files = {unquote(one) for one in re.findall(r'href="(\.[^"#]+)', text)}
    assert {(page.parent / one).resolve() for one in files} >= {
        (made / name / "results" / "rack1" / "bert").resolve() for name in ("ACME", "Zeta")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", page.with_suffix(".md").read_text())) == inside


def _reviewed_entry(entry: EntryResult) -> ReviewedEntry:
    return ReviewedEntry(
        **{name: getattr(entry, name) for name in entry.__struct_fields__},
        benchmark_name=entry.benchmark,
        margin_percent=2.5,
        left_out=(),
        disclosure=Disclosure(path=entry.path),
    )


_ORGANISATION = Organisation(**dict.fromkeys(Organisation.__struct_fields__, ""))


@pytest.mark.parametrize("verdict", ["pass", "fail", "missing", "bypassed", "not-required"])
def test_convergence_is_fine_where_the_test_is_passed(verdict: str) -> None:
    """A test that fails for want of runs has no finding of its own."""
    entry = _reviewed_entry(make_entry(runs=10))
    tested = replace(entry, rcp=replace(entry.rcp, verdict=verdict))
    fine = list(fine_of((), replace(_ORGANISATION, logs=10, entries=(tested,)), whole=True))
    assert (CONVERGENCE in fine) == (verdict == "pass")


def cell_of(entry: EntryResult, column: str) -> str:
    """A cell of the table of entries."""
    table = _entries_table([(_ORGANISATION, 1, _reviewed_entry(entry))], alone=True)
    found = table.rows[0][[one.name for one in table.columns].index(column)]
    return " ".join(map(text_of, found.lines if isinstance(found, Lines) else [found]))


@pytest.mark.parametrize(("runs", "cell"), [(10, "pass +2.50%"), (0, "-")])
def test_an_entry_without_logs_has_no_verdict_on_its_convergence(runs: int, cell: str) -> None:
    assert cell_of(make_entry(runs=runs), "RCP margin") == cell


@pytest.mark.parametrize(
    ("factor", "expected", "cell"),
    [(1.5, 1.2, "1.5000 (1.2000)"), (1.004012, 1.003998, "1.00401 (1.00400)"), (1.004, 1.004, "1.0040")],
)
def test_factors_that_differ_are_shown_in_digits_that_do(factor: float, expected: float, cell: str) -> None:
    assert cell_of(make_entry(score=make_score(12.0, factor, expected)), "factor") == cell


def test_runs_that_are_good_are_counted_and_those_that_are_not(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert re.search(r"^ +1  rack1 .* 5 ", run("review", tree.folder).stdout, re.MULTILINE)
    spoil(tree, 0)
    assert re.search(r"^ +1  rack1 .* 4/5 ", run("review", tree.folder).stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("found", "severity", "question"),
    [
        (("A", "A"), "error", "It is wrong (A; expected B); what is right?"),
        (("A", "C"), "error", "It is wrong; what is right?"),
        (("A (twice)", "A (twice)"), "error", "It is wrong; what is right?"),
        (("A", "A"), "note", "It is wrong (A; expected B)."),
        (("x" * 61, "x" * 61), "warning", "It is wrong; what is right?"),
    ],
)
def test_a_question_says_what_was_seen_and_what_is_asked(found: tuple[str, str], severity: str, question: str) -> None:
    group = [
        finding("cross.org", f"{n}.txt", "It is wrong", expected="B", actual=one, severity=Severity(severity))
        for n, one in enumerate(found)
    ]
    assert _question(group, "It is wrong", "what is right") == question
    alone = _question([replace(one, expected=None) for one in group], "It is wrong", "what is right")
    assert _question([replace(one, expected="y" * 100) for one in group], "It is wrong", "what is right") == alone


def test_a_question_has_a_calculation_that_comes_out_otherwise() -> None:
    sum_ = "micro batch 16 x 1024 replicas x accumulation 16 = 262144"
    found = finding("disclosure.batch-size", "result_0.txt", expected=sum_, actual="global_batch_size 131072")
    assert f" (global_batch_size 131072; expected {sum_}); " in _question([found], found.message, "which is wrong")


def test_what_is_asked_is_the_end_of_a_sentence() -> None:
    texts = [*catalogue().values(), *(aspect.about() for aspect in ASPECTS.values())]
    assert [one for one in texts if one.ask.endswith(("?", "."))] == []
    assert catalogue()["cross.org"].ask == "whose runs are these"


def test_whatever_is_no_note_asks_something() -> None:
    rooms = ("log", "submission", "systems", "convergence", "review", "judge", "commands/review")
    found = [info for info in catalogue().values() if info.room in rooms]
    of_submissions = [info for info in found if not info.id.startswith("preflight.")]
    assert {info.room for info in of_submissions} == set(rooms)
    assert [info.id for info in of_submissions if not info.ask and info.severity is not Severity.NOTE] == []
    assert [name for name, aspect in ASPECTS.items() if not aspect.about().ask] == []


def test_a_key_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.drop("eval_samples"), *range(5))
    tree.log(4).write_text("")
    [one] = run("review", tree.folder, "--only", "official", "--format", "json").document["organisations"]
    asked = {ask["rule"]: ask["question"] for ask in one["asks"]}
    words = "eval_samples is missing (0 times; expected exactly once); what should the log say?"
    assert asked["key.eval_samples.count"] == words
    assert asked["log.empty"] == "The log is empty; where is that of the run?"
