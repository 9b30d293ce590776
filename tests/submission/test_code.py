"""The expected tree and its templates, and that the audit wants nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mlsub.io.errors import MlsubError
from mlsub.submission.audit import audit_layout
from mlsub.submission.code import PlannedEntry, expected_tree
from mlsub.submission.listing import Item, Listing
from mlsub.submission.templates import templates

BERT = PlannedEntry(system="rack1", benchmark="bert", implementation="pytorch")


def test_the_expected_tree_of_training() -> None:
    paths = [(expected.path, expected.word) for expected in expected_tree("training", "1.0", [BERT])]
    assert paths == [
        ("systems/rack1.json", "describes the system"),
        ("benchmarks/bert/implementations/pytorch/", "the code that ran"),
        ("benchmarks/bert/rack1/README.md", "how to set up, get the data and run, with commands"),
        ("benchmarks/bert/rack1/setup.sh", "configures the system, once"),
        ("benchmarks/bert/rack1/init_datasets.sh", "gets and prepares the data, once"),
        ("benchmarks/bert/rack1/run_and_time.sh", "runs the benchmark and writes a result log"),
        ("benchmarks/bert/rack1/rack1_pytorch.json", "how the system used the implementation"),
        *[(f"results/rack1/bert/result_{run}.txt", "log of a run") for run in range(10)],
    ]


def test_hpc_has_a_folder_more_power_has_its_own_and_a_rehearsal_has_no_code() -> None:
    entry = PlannedEntry(system="s", benchmark="deepcam", implementation="i", scaling_type="strong", power=True)
    paths = [expected.path for expected in expected_tree("hpc", "2.0", [entry])]
    assert paths[7:9] == ["results/s/strong/deepcam/result_0.txt", "results/s/strong/deepcam/power/result_0/"]
    rehearsed = PlannedEntry(system="s", benchmark="digits", implementation="i")
    assert not [e for e in expected_tree("rehearsal", "1.0", [rehearsed]) if e.path.startswith("benchmarks")]


def test_what_cannot_be_expected() -> None:
    with pytest.raises(ValueError, match=r"HPC v2\.0 needs a scaling type"):
        expected_tree("hpc", "2.0", [PlannedEntry(system="s", benchmark="deepcam", implementation="i")])
    with pytest.raises(ValueError, match=r"Training v5\.1 has no benchmark bert"):
        expected_tree("training", "5.1", [BERT])
    with pytest.raises(MlsubError):
        expected_tree("training", "1.7", [BERT])


def test_an_expected_tree_passes_the_audit() -> None:
    paths = [expected.path for expected in expected_tree("training", "3.0", [BERT]) if not expected.path.endswith("/")]
    items = [Item(path, executable=path.endswith(".sh")) for path in paths]
    items.append(Item("benchmarks/bert/implementations/pytorch/train.py"))
    assert list(audit_layout(Listing(items=tuple(items)), {"bert": {"rack1"}}, "training")) == []


def test_templates_are_those_of_the_expected_tree() -> None:
    expected = {e.path for e in expected_tree("training", "1.0", [BERT]) if e.path.startswith("benchmarks/bert/rack1")}
    assert {template.path for template in templates("rack1", "bert", "pytorch")} == expected


def test_scripts_that_nobody_filled_in_refuse_to_run(tmp_path: Path) -> None:
    scripts = [template for template in templates("rack 1", "bert", "{py}torch") if template.executable]
    assert len(scripts) == 3
    for template in scripts:
        file = tmp_path / Path(template.path).name
        file.write_text(template.content)
        done = subprocess.run(["bash", str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"{file} is a template that nobody has filled in.\n"


def test_the_metadata_template_is_json_with_the_fields_of_the_rules() -> None:
    (template,) = [t for t in templates("rack1", "bert", "pytorch") if t.path.endswith(".json")]
    assert list(json.loads(template.content)) == [
        "mlsub-template",
        "starting_weights_filename",
        "weight_transformations",
        "weight_data_types",
        "input_data_types",
        "retraining",
        "notes",
    ]
