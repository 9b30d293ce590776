"""``mlsub system`` as it is called: what it prints, writes and ends with."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml

from mlsub.rounds import get_round
from mlsub.systems.capture import capture_here
from mlsub.systems.description import read_description
from mlsub.systems.fields import fields
from tests.conftest import ExpectedText
from tests.systems.machine import Machine
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_description
from tools.support.runner import answer_schema, call, run


def accepted(file: Path) -> list[str]:
    """The rules of the review findings on an accepted description."""
    description = read_description(file, file.name, get_round("training", "6.1"))
    assert description.accepted
    return [finding.rule for finding in description.findings]


# What people read.
TEXTS = {
    "system-list": ["list"],
    "system-show": ["show", "ipu-pod64", "--hosts", "4"],
    "system-show-sources": ["show", "ipu-pod64", "--framework", "TensorFlow", "--sources"],
    "system-show-m2000": ["show", "IPU-M2000"],
    "system-show-accelerator": ["show", "gb200", "--sources"],
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_catalogue_reads_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    outcome = run("system", *TEXTS[name])
    expected_text(f"{name}.txt", outcome.stdout)
    assert (outcome.status, outcome.stderr) == (0, "")


def test_the_verdict_reads_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_text: ExpectedText
) -> None:
    monkeypatch.chdir(tmp_path)  # A long path would break lines elsewhere.
    folder = tmp_path / "v4.1" / "ACME" / "systems"
    folder.mkdir(parents=True)
    changes = {"host_processors_per_node": "8", "host_processor_model_name": "AMD EPYC 7742", "framework": "MxNet 1.9"}
    (folder / "a.json").write_text(json.dumps(make_description(status="Available cloud", **changes), indent=1))
    (folder / "b.json").write_text(json.dumps(make_description(status="availible cloud", cooling=None), indent=1))
    (folder / "c.json").write_text("{")
    outcome = run("system", "check", folder.relative_to(tmp_path))
    expected_text("system-check.txt", outcome.stdout)
    assert (outcome.status, outcome.stderr) == (1, "")


# Check.


def test_exit_status_and_document_of_check(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(make_description()))
    assert run("system", "check", file).status == 1  # The newest round knows no onprem.
    assert run("system", "check", file, "--round", "v1.0", "--strict").status == 0
    file.write_text(json.dumps(make_description(cooling="TBD")))
    assert run("system", "check", file, "--round", "1.0").status == 0
    assert run("system", "check", file, "--round", "1.0", "--strict").status == 1
    outcome = run("system", "check", file, "--round", "3.0", "--usage", "hpc", "--format", "json")
    answer_schema("system check").validate(outcome.document)
    (system,) = json.loads(outcome.stdout)["systems"]
    assert {key: system[key] for key in ("path", "usage", "round", "how", "round_from", "official")} == {
        "path": str(file), "usage": "hpc", "round": "3.0", "how": "given", "round_from": None, "official": "accepted",
    }  # fmt: skip
    assert [finding["rule"] for finding in system["findings"]] == ["system.placeholder"]


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_descriptions_are_judged_by_their_round() -> None:
    folders = sorted({file.parent for file in CORPUS.glob("*/*/systems/*.json")})
    outcome = run("system", "check", *folders, "--format", "json")
    assert outcome.status == 0
    systems = json.loads(outcome.stdout)["systems"]
    assert len(systems) == 185 and {system["how"] for system in systems} == {"folder"}


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[]", b"[" * 100_000, b"{}", b'{"\\ud800": "\\u001b[31m"}', b"\0" * 99]
)
@pytest.mark.parametrize("format_", ["text", "json"])
def test_hostile_descriptions(content: bytes, format_: str, tmp_path: Path) -> None:
    file = tmp_path / "\x1b[31mx.json"
    file.write_bytes(content)
    outcome = run("system", "check", file, "--format", format_)
    assert outcome.status == 1
    assert "\x1b" not in outcome.stdout + outcome.stderr


def test_special_files_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").symlink_to("gone")
    (tmp_path / "c.json").mkdir()
    outcome = run("system", "check", tmp_path, "--format", "json")
    assert [s["findings"][0]["rule"] for s in json.loads(outcome.stdout)["systems"]] == ["system.unreadable"] * 3


# What cannot be done: the command, and how the one line on standard error goes on behind its name.
REFUSED = {
    "check gone.json": "gone.json: No such file or directory. Name a system description",
    "check .": ". holds no system description (*.json).",
    "check . --round 9.9": ". holds no system description",
    "show ipu-pod46": "no system 'ipu-pod46'; mlsub system list shows those there are. Did you mean ipu-pod",
    "show ipu-pod64 --hosts 5": "64 accelerators cannot be shared evenly among 5 hosts",
    "show ipu-pod64 --framework MXNet": "ipu-pod64 was not published with 'MXNet', but",
    "new --from ipu": "no system 'ipu'",
    "new --from ipu-pod16 --division close": "no division 'close'; there are closed, ",
    "new --from ipu-pod16 --status x": "'x' is not a known status.",
    "new --from ipu-pod16 --set coling=air": "no field 'coling'. Did you mean cooling?",
    "new --from ipu-pod16 --set cooling": "--set 'cooling' has no equals sign;",
    "new --from ipu-pod16 -o /dev/null/x.json": "/dev/null cannot be written: ",
    "capture --merge": "--merge needs captures; name their files.",
    "capture --merge gone.json": "gone.json:1: cannot be read: ",
    "capture x.json": "x.json: files are joined with --merge, and written with -o.",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_done_is_told_in_one_line(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("system", *words.split())
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"mlsub system {words.split()[0]}: {REFUSED[words]}")
    assert outcome.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


# Show and new.


def test_the_forms_of_show() -> None:
    answer = run("system", "show", "dgx-a100-640gb", "--hosts", 2, "--format", "json").document
    description = answer["description"]
    assert list(description) == list(fields().required) == list(answer["sources"])
    assert (description["number_of_nodes"], description["accelerators_per_node"]) == ("2", "8")
    assert all(answer["sources"].values())
    as_yaml = ("system", "show", "dgx-a100-640gb", "--hosts", 2, "--format", "yaml")
    assert yaml.safe_load(run(*as_yaml).stdout) == description
    sources = yaml.safe_load(run(*as_yaml, "--sources").stdout)
    assert {name: entry["value"] for name, entry in sources.items()} == description
    assert {name: entry["source"] for name, entry in sources.items()} == answer["sources"]
    assert len(run("system", "list", "--format", "json").document["systems"]) == 10


def test_a_new_description_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "pod64.json"
    ours = ["--submitter", "ACME", "--division", "Closed", "--status", "onprem", "--framework", "TensorFlow"]
    asked = ["system", "new", "--from", "ipu-pod64", "--hosts", "4", *ours]
    outcome = run(*asked, "-o", file)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert "Taken over as published, so look over: framework, other_software_stack, operating_system" in outcome.stdout
    assert accepted(file) == []
    assert run(*asked).stdout == file.read_text()
    again = run(*asked, "-o", file)
    assert (again.status, again.stderr) == (2, f"mlsub system new: {file} exists. Add --force to replace it.\n")
    assert run(*asked, "-o", file, "--force").status == 0
    assert [child.name for child in tmp_path.iterdir()] == ["pod64.json"]


def test_what_was_not_said_is_found_by_check(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    run("system", "new", "--from", "bow-pod16", "--status", "preview", "-o", file)
    assert accepted(file) == ["system.placeholder"]


# Capture.


def test_this_machine_for_real(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    said = ["--submitter", "ACME", "--division", "open", "--status", "rdi", "--set", "system_name=rack1"]
    done = call("system", "capture", *said, "-o", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Still to be filled in: ")
    assert set(accepted(file)) == {"system.placeholder"}
    description = json.loads(file.read_text())
    assert description["system_name"] == "rack1" and description["number_of_nodes"] == "1"
    assert f"Python {sys.version.split()[0]}" in description["other_software_stack"]


def test_processes_of_a_launcher_and_their_captures_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for rank, (boot, size) in enumerate([("a", "64"), ("a", "64"), ("b", "64"), ("c", "64"), ("d", "32")]):
        machine = Machine(tmp_path / str(rank), monkeypatch)
        machine.usual()
        machine.file("proc/sys/kernel/random/boot_id", boot)
        machine.file("proc/meminfo", f"MemTotal: {size}000000 kB\n")
        monkeypatch.setattr("mlsub.systems.capture.capture_here", partial(capture_here, machine.root))
        monkeypatch.setenv("SLURM_PROCID", str(rank))
        monkeypatch.setenv("SLURM_NTASKS", "5")
        assert run("system", "capture", "-o", tmp_path / "capture.{rank}.json").status == 0
        names.append(tmp_path / f"capture.{rank}.json")
    refused = run("system", "capture", "-o", tmp_path / "x.json")
    assert refused.status == 2 and "Write -o capture.{rank}.json, and join with --merge." in refused.stderr
    monkeypatch.setenv("SLURM_NTASKS", "1")
    outcome = run("system", "capture", "--merge", *names, "-o", tmp_path / "rack.json")
    assert outcome.status == 1
    assert "A host differs from most in host_memory_capacity [system.hosts-differ]" in outcome.stderr
    assert str(names[4]) in outcome.stderr and str(names[3]) not in outcome.stderr
    description = json.loads((tmp_path / "rack.json").read_text())
    assert (description["number_of_nodes"], description["host_memory_capacity"]) == ("4", "61 GiB")
    equal = run("system", "capture", "--merge", *names[:3], "--sources")
    assert (equal.status, equal.stderr) == (0, "") and "(2 of 2 hosts)" in equal.stdout


def test_one_host_has_one_document(tmp_path: Path) -> None:
    names = [tmp_path / "a.json", tmp_path / "b.json"]
    for name in names:
        assert run("system", "capture", "--format", "json", "-o", name).status == 0
    refused = run("system", "capture", "--merge", *names, "--format", "json")
    assert refused.status == 2 and "capture of one host" in refused.stderr
