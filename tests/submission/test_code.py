"""The expected tree and its templates, and that the audit wants nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mlsub.packing.plan import expected_paths
from mlsub.packing.read import read_manifest
from mlsub.submission.audit import audit_layout
from mlsub.submission.file_tree import FileTree, Item
from mlsub.submission.templates import templates


@pytest.mark.parametrize("round_", [{"round": "1.0"}, {"round": "2.0", "usage": "hpc"}, {"usage": "rehearsal"}])
def test_what_the_rules_ask_for_is_what_the_audit_wants(round_: dict[str, str], tmp_path: Path) -> None:
    usage = round_.get("usage", "training")
    name = {"training": "bert", "hpc": "deepcam", "rehearsal": "digits"}[usage]
    entry = {"system": "rack1", "benchmark": name, "implementation": "pytorch", "runs": "runs", "power": "power"}
    entry |= {"scaling": "strong"} if usage == "hpc" else {}
    manifest = {
        "organisation": "ACME",
        "round": "1.0",
        **round_,
        "systems": {"rack1": "rack1.json"},
        "entries": [entry],
    }
    (tmp_path / "submission.yaml").write_text(json.dumps(manifest))
    expected = expected_paths(read_manifest(tmp_path / "submission.yaml"))
    code = [
        (f"benchmarks/{name}/implementations/pytorch/", "the code that ran"),
        (f"benchmarks/{name}/rack1/README.md", "how to set up, get the data and run, with commands"),
        (f"benchmarks/{name}/rack1/setup.sh", "configures the system, once"),
        (f"benchmarks/{name}/rack1/init_datasets.sh", "gets and prepares the data, once"),
        (f"benchmarks/{name}/rack1/run_and_time.sh", "runs the benchmark and writes a result log"),
        (f"benchmarks/{name}/rack1/rack1_pytorch.json", "how the system used the implementation"),
    ]
    folder = f"results/rack1/{'strong/' if usage == 'hpc' else ''}{name}"
    runs = {"training": 10, "hpc": 5, "rehearsal": 5}[usage]
    assert list(expected.items()) == [
        ("systems/rack1.json", "describes the system"),
        *(code if usage != "rehearsal" else ()),
        (f"{folder}/result_0.txt to result_{runs - 1}.txt", f"logs of {runs} runs"),
        *[(f"{folder}/power/result_{run}/", "power of that run: node_<j>.txt, sw_<k>.txt") for run in range(runs)],
    ]
    files = (path.partition(" to ")[0] for path in expected if not path.endswith("/"))
    items = [Item(path, executable=path.endswith(".sh")) for path in files]
    items.append(Item(f"benchmarks/{name}/implementations/pytorch/train.py"))
    if usage == "training":
        assert list(audit_layout(FileTree(items=tuple(items)), {name: {"rack1"}}, usage)) == []


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
    fields = "starting_weights_filename weight_transformations weight_data_types input_data_types retraining notes"
    assert list(json.loads(template.content)) == ["mlsub-template", *fields.split()]
