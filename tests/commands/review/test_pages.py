"""What a review shows beside its questions: hyperparameters, disclosure and names, of one organisation and over all."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mlsub.review.disclosure import show_value
from tests.review.runs.build import at, every, put, write_tree
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree
from tools.support.runner import answer_schema, run

corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
published = pytest.mark.skipif(not (CORPUS.parent / "v6.0-sample").is_dir(), reason="published logs are not there")


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
        "  1 other is the same everywhere.\n"
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
    line = 9
    assert rate == {
        "name": "opt_base_learning_rate",
        "reference": 0.002,
        "value": {
            "value": 0.002,
            "path": "new/v2.0/ACME/results/rack1/bert/result_0.txt",
            "line": line,
            "also": ["0.5"],
        },
        "before": {"value": 0.0002, "path": f"old/{folder}/result_0.txt", "line": line, "also": []},
    }


def test_every_hyperparameter_with_v_and_none_where_all_agree(tmp_path: Path) -> None:
    tree = write_tree(tmp_path)
    assert "Hyperparameters" not in run("review", tree).stdout
    assert part(run("review", tree, "-v").stdout, "Hyperparameters of bert").splitlines()[3:5] == [
        "  global_batch_size       3072               =",
        "  opt_base_learning_rate  0.002              =",
    ]


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
        (True, "true"),
        (float("nan"), "NaN"),
        (1e300, "1e+300"),
        ("9" * 5_000, "9" * 58 + "…"),
        ([1] * 50, "[1, 1"),
        (None, "null"),
        ({"a": [1]}, '{"a": [1]}'),
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
        "  No entry discloses micro batch, PP, CP, EP, attention, comm.\n"
    )
    code = tree / "benchmarks" / "bert" / "implementations" / "ours"
    code.mkdir(parents=True)
    (code / "run_and_time.sh").write_text("\n")
    assert "config_a.sh: not there\n" in run("review", tree).stdout
    (code / "config_a.sh").write_text("\n")
    assert "fp8 or bf16  implementations/ours/config_a.sh\n" in run("review", tree).stdout


def test_a_round_has_names_and_disclosure_over_all(tmp_path: Path) -> None:
    made = make_tree(tmp_path)
    made.add_system(host_processor_model_name="AMD EPYC Rome 7742")
    shutil.copytree(made.folder, made.folder.parent / "Best")
    text = run("review", made.folder.parent, "--severity", "error").stdout
    assert text.count("\nNames\n") == text.count("no more than") + text.count("No entry discloses") == 1
    assert " ".join(part(text, "Names").splitlines()[-1].split()[1:]) == "AMD EPYC Rome 7742 AMD EPYC 7742 Best, ACME"


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
    assert ["AMD", "2", "llama2_70b_lora", "8", "1", "1", "1", "1", "1", "config_MI355X_1x8x1.sh"] in lines
    assert "3 entries disclose no more than the batch size.\n" in text


@corpus
@pytest.mark.parametrize("package", ["v1.0/Graphcore", "v1.1/HPE", "v2.0/HazyResearch", "v3.0/IEI", "v5.1/AMD"])
def test_the_text_of_a_package_of_up_to_six_entries_is_short(package: str) -> None:
    assert run("review", CORPUS / package).stdout.count("\n") <= 60


@corpus
def test_hyperparameters_without_room_are_counted() -> None:
    text = run("review", CORPUS / "v1.0" / "Graphcore").stdout
    assert "  hyperparameters that differ: 7 of bert, 6 of resnet (-v shows them).\n" in text
    assert "Hyperparameters of" not in text


def test_what_people_have_to_read_is_whole_sentences(tmp_path: Path) -> None:
    [one] = run("review", write_tree(tmp_path), "--format", "json").document["organisations"]
    assert one["to_read"]["bert"][:2] == [
        "checkpoint and vocabulary are those of the reference",
        "how sequences are packed, and that the loss ignores what pads them",
    ]
