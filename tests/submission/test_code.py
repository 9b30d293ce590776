"""The expected tree and its templates, that the audit wants nothing else, and how code is read."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

from mlsub.packing.plan import expected_paths
from mlsub.packing.read import read_manifest
from mlsub.submission import code
from mlsub.submission.audit import audit_layout
from mlsub.submission.code import CodeKind, SubmittedCode, kind_of
from mlsub.submission.file_tree import FileTree, Item, read_file_tree
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


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (CodeKind.PROGRAM, "train.py Kernel.CU main.cc lib.rs notebook.ipynb third_party.py"),
        (CodeKind.SCRIPT, "run.sh RUN.SH job.sub job.sbatch job.slurm config_1x8.sh"),
        (
            CodeKind.SETTINGS,
            "config.yaml a.yml a.toml a.cfg .env Dockerfile Dockerfile.gpu Makefile launch README",
        ),
        (CodeKind.DOCUMENT, "README.md LICENSE licence.sh NOTICE.txt vocab.json a.csv fix.patch third_party.txt"),
        (CodeKind.OTHER, "model.h5 a.so data.bin .gitignore a.c"),
    ],
)
def test_what_a_file_is_by_its_name(kind: CodeKind, names: str) -> None:
    assert {name: kind_of(name) for name in names.split()} == dict.fromkeys(names.split(), kind)


def test_a_file_is_opened_once_and_only_where_it_is_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "bert"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("x\n" * 5_000)
    (folder / "small.py").write_text("x\ny")
    (folder / "config_1x8.sh").write_text("LR=0.2\n" + "#" * 70_000)
    (folder / "lib.so").write_bytes(b"\0x")
    (folder / "link.sh").symlink_to("config_1x8.sh")
    (folder / "unused.py").write_text("x")
    names = {name: f"benchmarks/bert/{name}" for name in ("train.py", "small.py", "config_1x8.sh", "lib.so", "link.sh")}
    with patch.object(code, "content_of", wraps=code.content_of) as opened:
        read = SubmittedCode(tmp_path, read_file_tree(tmp_path))
        for _ in range(2):
            assert [read.count_lines(names[name]) for name in ("train.py", "small.py")] == [5_000, 2]
            assert {name: len(read.read(path)) for name, path in names.items()} == {
                "train.py": code.MAX_HEAD,
                "small.py": 3,
                "config_1x8.sh": code.MAX_WHOLE,
                "lib.so": 0,
                "link.sh": 0,
            }
            assert {name: of.value for name, of in read.settings(names["config_1x8.sh"]).items()} == {
                "learning_rate": 0.2
            }
    assert sorted(call.args[0] for call in opened.call_args_list) == sorted(f"{tmp_path}/{of}" for of in names.values())


def test_the_text_that_is_kept_is_bounded(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "bert"
    folder.mkdir(parents=True)
    for name in "abc":
        (folder / f"{name}.sh").write_text(name * 10)
    with patch.object(code, "content_of", wraps=code.content_of) as opened:
        read = SubmittedCode(tmp_path, read_file_tree(tmp_path), 15)
        assert [read.read(path) for path in read.of_kind(CodeKind.SCRIPT)] == [b"a" * 10, b"b" * 5, b""]
        assert SubmittedCode(tmp_path, read_file_tree(tmp_path), 0).read("benchmarks/bert/a.sh") == b""
    assert opened.call_count == 2
    assert read.count_lines("benchmarks/bert/c.sh") == 1
    assert read.count_lines("benchmarks/bert/none.sh") == math.inf
