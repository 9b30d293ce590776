"""What pack does to files on their way: unpacked, redacted, truncated and scaled, the same each time it is asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mlsub import check
from mlsub.io import MlsubError
from mlsub.log.rewrite import rewrite
from mlsub.packing import prepare, truncate
from tools.support.make_tree import Log
from tools.support.runner import run
from tools.support.workplace import Workplace, files, rules

ENTRY = "results/rack1/resnet"


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def logs(workplace: Workplace) -> list[Path]:
    return sorted((workplace.folder / "runs/resnet").iterdir())


def chatty(workplace: Workplace) -> None:
    """Framework output that names a host and a user, the one that gives itself away in the last log."""
    for number, log in enumerate(logs(workplace)):
        named = "Running on luna20.example.com as /home/mallory/run\n" if number == 4 else "ssh mallory\n"
        log.write_text(f"{named}{log.read_text()}luna20.example.com done\n")


def converging_fast(workplace: Workplace) -> None:
    """Runs of v4.0, whose rules scale them: they converge a little faster than the reference."""
    workplace.save(round="4.0")
    workplace.out = workplace.folder / "out/v4.0/ACME"
    for log in logs(workplace):
        text = Log.read(log)
        text.put("eval_accuracy", metadata={"epoch_num": 35})
        log.write_text(text.text())


def asked(workplace: Workplace, **words: Any) -> None:
    workplace.save(prepare=words)


@pytest.mark.slow
def test_redaction_is_that_of_the_command_in_the_package_and_stays_the_same(workplace: Workplace) -> None:
    chatty(workplace)
    plain = workplace.pack()
    assert plain.written and not any(file.prepared for file in plain.files)
    assert run("redact", workplace.out, "--write").status == 0
    by_command = files(workplace.out)
    refused = workplace.pack()
    assert (refused.refused, rules(refused)) == (True, ["package.out-changed", "package.unasked"])
    assert (refused.unasked, refused.findings[1].expected) == (("redact",), "prepare: {redact: true}")
    asked(workplace, redact=True)
    same = workplace.pack()
    assert same.difference.none and not same.refused and not same.written
    assert files(workplace.out) == by_command and b"mallory" not in b"".join(by_command.values())
    assert [file.prepared for file in same.files if file.to.startswith("results")] == [("redact",)] * 5
    workplace.out = workplace.folder / "out/again/v1.0/ACME"
    assert workplace.pack().written and files(workplace.out) == by_command
    assert workplace.pack().difference.none


def test_sources_are_only_read(workplace: Workplace) -> None:
    chatty(workplace)
    asked(workplace, redact={"users": ["jane"]}, truncate=True, gunzip=True, scaling=True)
    before = workplace.sources()
    workplace.pack()
    assert workplace.sources() == before


def test_words_to_redact_are_those_of_the_options(workplace: Workplace) -> None:
    log = logs(workplace)[0]
    log.write_text(f"LD_PATH=/some\nthanks to jane and codename Titan\n{log.read_text()}")
    asked(workplace, redact={"users": ["jane"], "patterns": ["Titan"], "env": True})
    assert workplace.pack().written
    text = (workplace.out / ENTRY / "result_4.txt").read_text()
    assert text.startswith("LD_PATH=<env>\nthanks to <user-1> and codename <text-1>\n")


@pytest.mark.slow
def test_scaling_is_that_of_the_command_in_the_package(workplace: Workplace) -> None:
    converging_fast(workplace)
    assert workplace.pack().written
    assert run("score", workplace.out, "--write-scaling").status == 0
    written = (workplace.out / ENTRY / "scaling.json").read_bytes()
    assert 1 < json.loads(written)["scaling_factor"] < 1.2
    refused = workplace.pack()
    assert (refused.refused, rules(refused)) == (True, ["package.out-has-more", "package.unasked"])
    assert (refused.unasked, refused.findings[1].expected) == (("scaling",), "prepare: {scaling: true}")
    asked(workplace, scaling=True)
    same = workplace.pack()
    assert same.difference.none and not same.refused
    [made] = [file for file in same.files if file.prepared]
    assert (made.to, made.source, made.prepared) == (f"{ENTRY}/scaling.json", None, ("scaling",))
    workplace.out = workplace.folder / "out/again/v4.0/ACME"
    assert workplace.pack().written and (workplace.out / ENTRY / "scaling.json").read_bytes() == written
    [entry] = check(workplace.out).entries
    assert entry.score.scaling_file and entry.score.as_expected


def test_a_scaling_file_that_the_manifest_brings_stays(workplace: Workplace) -> None:
    converging_fast(workplace)
    (workplace.folder / "factor.json").write_text('{"scaling_factor": 1.01}')
    workplace.save(files=[{"from": "factor.json", "to": f"{ENTRY}/scaling.json"}], prepare={"scaling": True})
    assert workplace.pack(even_with_errors=True).written
    assert (workplace.out / ENTRY / "scaling.json").read_text() == '{"scaling_factor": 1.01}'


@pytest.mark.parametrize("name", ["a.log.gz", "a.txt"])
def test_a_compressed_log_is_named_and_unpacked_where_that_is_asked(workplace: Workplace, name: str) -> None:
    plain = logs(workplace)[0]
    packed = workplace.folder / name
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    workplace.entry(runs=[name, *(f"runs/resnet/{log.name}" for log in logs(workplace)[1:])])
    refused = workplace.pack()
    [found] = refused.findings
    assert (found.rule, found.message, found.actual) == ("package.compressed", f"{name} is gzip", str(packed))
    asked(workplace, gunzip=True, redact=True)
    shown = run("pack", workplace.manifest_file, "-o", workplace.out, "--jobs", "1")
    assert shown.status == 0 and "Prepared on the way\n  - gunzip: 1 file\n  - redact: 5 files\n" in shown.stdout
    assert workplace.pack().written
    assert (workplace.out / ENTRY / "result_0.txt").read_bytes() == plain.read_bytes()
    assert workplace.pack().difference.none


def test_a_folder_of_compressed_runs_is_unpacked(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, named="run_{}.log")
    plain = [log.read_bytes() for log in logs(workplace)]
    for log in logs(workplace):
        log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    workplace.entry(runs="runs/resnet")
    assert rules(workplace.pack()) == ["package.compressed"] * 5
    asked(workplace, gunzip=True)
    assert workplace.pack().written
    assert [(workplace.out / ENTRY / f"result_{number}.txt").read_bytes() for number in range(5)] == plain


def test_gzip_by_another_name_is_named_where_the_start_of_the_runs_is_looked_for(workplace: Workplace) -> None:
    log = logs(workplace)[0]
    log.write_bytes(gzip.compress(log.read_bytes()))
    workplace.entry(runs="runs/resnet")
    [found] = workplace.pack().findings
    assert found.message == f"{log} is gzip, though its name does not end in .gz. Unpack it, or rename it."


def test_a_damaged_archive_is_an_error(workplace: Workplace) -> None:
    packed = workplace.folder / "a.txt"
    packed.write_bytes(gzip.compress(logs(workplace)[0].read_bytes())[:-20])
    workplace.entry(runs=["a.txt"])
    asked(workplace, gunzip=True)
    with pytest.raises(MlsubError, match=r"a\.txt cannot be prepared \(gunzip\)"):
        workplace.pack()


def test_truncation_is_that_of_the_command_in_the_package(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "LIMIT", 1 << 14)
    monkeypatch.setattr(truncate.plan_truncation, "__defaults__", (1 << 14,))
    log = logs(workplace)[0]
    log.write_text("a line of output\n" * 2000 + log.read_text())
    assert workplace.pack().written
    large = workplace.out / ENTRY / "result_4.txt"
    assert large.stat().st_size > 1 << 14
    planned = truncate.plan_truncation(large)
    assert planned is not None
    rewrite(large, planned[1])
    by_command = files(workplace.out)
    assert workplace.pack().unasked == ("truncate",)
    asked(workplace, truncate=True)
    same = workplace.pack()
    assert same.difference.none and files(workplace.out) == by_command
    assert [file.to for file in same.files if file.prepared] == [f"{ENTRY}/result_4.txt"]


def test_a_log_that_is_a_link_is_prepared_too(workplace: Workplace) -> None:
    chatty(workplace)
    log = logs(workplace)[0]
    log.symlink_to(log.rename(workplace.folder / "elsewhere.txt"))
    asked(workplace, redact=True)
    assert workplace.pack().written
    assert "mallory" not in (workplace.out / ENTRY / "result_4.txt").read_text()
