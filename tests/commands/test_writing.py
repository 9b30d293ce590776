"""Nothing that somebody wrote is destroyed: every command that writes, each on a file that somebody changed by hand.

The table of ``docs/writing.md`` has a row for each of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from tests.commands.tree import leaves
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import REPOSITORY, Outcome, run
from tools.support.workplace import Workplace

#: What somebody wrote; it must be somewhere after each command.
MINE = b"written by hand, and the only copy\n"
Call = tuple[object, ...]


class Case(NamedTuple):
    """A command that writes, the file that somebody changes between two calls, and what the second one comes to.

    ``first`` is what is called before; None where the file is there without it. ``stays`` says that the file is as it
    was after the second call; else it is kept under the name that the call tells.
    """

    command: str
    first: Call | None
    changed: str
    again: Call
    status: int
    stays: bool


PACK: Call = ("pack", "submission.yaml", "-o", "out/ACME", "--jobs", "1", "--write")
TEMPLATE = "setup/resnet/rack1/README.md"
SCAFFOLDED = "out/ACME/benchmarks/resnet/rack1/README.md"
INIT: Call = (
    *("init", "new.yaml", "--organisation", "ACME", "--round", "5.1"),
    *("--division", "closed", "--system", "rack1", "--benchmark", "llama31_8b"),
)
REPORT: Call = ("site", "v1.0", "-o", "site", "--jobs", "1")
MERGE: Call = ("merge", "a/v1.0/ACME", "b/v1.0/ACME", "-o", "merged/ACME", "--jobs", "1", "--write")
REHEARSE: Call = ("demo", "rehearsal.yaml", "--output", "demo")
SEAL: Call = ("seal", "v1.0/ACME", "-o", "ACME.tar.gz", "--no-encryption")
BUILD: Call = ("db", "build", "v1.0", "-o", "results.duckdb", "--jobs", "1")
SCORE: Call = ("score", "v1.0", "-o", "table.csv", "--jobs", "1")
POINTS: Call = ("rcp", "build", "reference", "-o", "rcps_resnet.json", "--round", "1.0", "--jobs", "1")
NEW: Call = ("system", "new", "--from", "ipu-pod64", "-o", "pod64.json")
CAPTURE: Call = ("system", "capture", "-o", "here.json")
CAPTURE_JSON: Call = ("system", "capture", "--format", "json", "-o", "capture.{rank}.json")

BASELINE: Call = ("check", "v1.0", "--baseline", "known.json", "--write-baseline", "--jobs", "1")

CASES = [
    Case("check", BASELINE, "known.json", BASELINE, 2, True),
    Case("check", BASELINE, "known.json", (*BASELINE, "--force"), 0, False),
    # A template is filled in among the sources; what was filled in in the package is named.
    Case("pack", (*PACK, "--scaffold"), TEMPLATE, (*PACK, "--scaffold"), 0, True),
    Case("pack", (*PACK, "--scaffold"), TEMPLATE, (*PACK, "--force"), 0, True),
    Case("pack", (*PACK, "--scaffold"), SCAFFOLDED, (*PACK, "--scaffold"), 1, True),
    Case("pack", (*PACK, "--scaffold"), SCAFFOLDED, (*PACK, "--scaffold", "--force"), 1, True),
    Case("pack", (*PACK, "--scaffold"), SCAFFOLDED, PACK, 1, True),
    Case("pack", (*PACK, "--scaffold"), SCAFFOLDED, (*PACK, "--force"), 1, True),
    Case("pack", PACK, "out/ACME/systems/rack1.json", PACK, 1, True),
    Case("pack", PACK, "out/ACME/systems/rack1.json", (*PACK, "--force"), 1, True),
    Case("pack", PACK, "out/ACME/results/rack1/resnet/result_0.txt", (*PACK, "--force"), 1, True),
    Case("pack", PACK, "out/ACME/notes.txt", (*PACK, "--force"), 1, True),
    Case("merge", MERGE, "merged/ACME/README.md", MERGE, 2, True),
    Case("merge", MERGE, "merged/ACME/README.md", (*MERGE, "--force"), 2, True),
    Case("merge", MERGE, "merged/ACME/notes.txt", (*MERGE, "--force", "--even-rejected"), 2, True),
    Case("demo", REHEARSE, "demo/rehearsal-v1.0/Org/systems/here.json", REHEARSE, 2, True),
    Case("demo", REHEARSE, "demo/rehearsal-v1.0/Org/systems/here.json", (*REHEARSE, "--force"), 2, True),
    Case("demo", REHEARSE, "demo/rehearsal-v1.0/README.txt", (*REHEARSE, "--force"), 0, True),
    Case("site", REPORT, "site/index.html", REPORT, 2, True),
    Case("site", REPORT, "site/index.html", (*REPORT, "--force"), 2, True),
    Case("site", REPORT, "site/CNAME", (*REPORT, "--force"), 2, True),
    Case("db build", BUILD, "results.duckdb", BUILD, 2, True),
    Case("db build", BUILD, "results.duckdb", (*BUILD, "--force"), 0, False),
    Case("db build", (*BUILD, "--parquet", "tables"), "tables/runs.parquet", (*BUILD, "--parquet", "tables"), 2, True),
    Case("db build", None, "tables/runs.parquet", (*BUILD, "--parquet", "tables", "--force"), 2, True),
    Case("seal", SEAL, "ACME.tar.gz", SEAL, 2, True),
    Case("seal", SEAL, "ACME.tar.gz", (*SEAL, "--force"), 0, False),
    Case("seal", SEAL, "ACME.tar.gz.receipt.txt", (*SEAL, "--force"), 0, False),
    Case("seal", SEAL, "ACME.tar.gz.MANIFEST.sha256", (*SEAL, "--force"), 0, False),
    Case("seal", None, "ACME.tar.gz.sha1", (*SEAL, "--force"), 0, False),
    Case("unseal", SEAL, "opened/notes.txt", ("unseal", "ACME.tar.gz", "-o", "opened"), 2, True),
    Case("init", INIT, "new.yaml", INIT, 2, True),
    Case("init", INIT, "new.yaml", (*INIT, "--force"), 0, False),
    Case("score", SCORE, "table.csv", SCORE, 2, True),
    Case("score", SCORE, "table.csv", (*SCORE, "--force"), 0, False),
    Case("score", None, "v4.0/ACME/results/rack1/resnet/scaling.json", ("score", "v4.0", "--write-scaling"), 2, True),
    Case("rcp build", POINTS, "rcps_resnet.json", POINTS, 2, True),
    Case("rcp build", POINTS, "rcps_resnet.json", (*POINTS, "--force"), 0, False),
    Case("system new", NEW, "pod64.json", NEW, 2, True),
    Case("system new", NEW, "pod64.json", (*NEW, "--force"), 0, False),
    Case("system capture", CAPTURE, "here.json", CAPTURE, 2, True),
    Case("system capture", CAPTURE, "here.json", (*CAPTURE, "--force"), 0, False),
    Case("system capture", CAPTURE_JSON, "capture.0.json", (*CAPTURE_JSON, "--force"), 0, False),
    Case("redact", None, "copies/result_0.txt", ("redact", "logs", "-o", "copies"), 2, True),
]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything the commands need, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    make_tree(tmp_path)
    faster = make_tree(tmp_path, "v4.0")
    faster.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    make_tree(tmp_path / "a")
    make_tree(tmp_path / "b")
    reference = make_tree(tmp_path / "made", org="Reference", benchmarks=())
    reference.add_entry(runs=10)
    (reference.entry()).rename(tmp_path / "reference")
    Workplace(tmp_path)
    (tmp_path / "rehearsal.yaml").write_text(
        "organisation: Org\nstatus: research\nentries: [{system: here, division: open}]\n"
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "result_0.txt").write_text("cd /home/alice/run\n")
    return tmp_path


def told(done: Outcome) -> str:
    """All that a call said, on one line."""
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


def title(case: Case) -> str:
    flags = [str(word) for word in case.again if str(word).startswith("--") and word not in ("--jobs", "--round")]
    return f"{case.command} {Path(case.changed).name} {' '.join(flags)}".strip()


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case.command == "demo" else ()) for case in CASES],
    ids=map(title, CASES),
)
def test_what_somebody_wrote_is_kept_or_named(case: Case, here: Path, request: pytest.FixtureRequest) -> None:
    if case.command == "demo":
        request.getfixturevalue("scikit_learn")
    if case.first is not None:
        assert run(*case.first).status == 0
    file = here / case.changed
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(MINE)
    done = run(*case.again)
    assert done.status == case.status, told(done)
    if case.stays:
        assert file.read_bytes() == MINE
        # Refused by name, or as the folder that is there already; what a command does not touch needs no words.
        names = [file.name, *map(str, Path(case.changed).parents[:-1])]
        assert case.status == 0 or any(name in told(done) for name in names)
        assert "--force" not in case.again or case.status == 0 or file.name in told(done)
    else:
        aside = file.with_name(f"{file.name}.~1~")
        assert aside.read_bytes() == MINE
        assert aside.name in told(done)
        assert not file.exists() or file.read_bytes() != MINE


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ((*PACK, "--scaffold"), (*PACK, "--force")),
        (MERGE, (*MERGE, "--force")),
        (REPORT, (*REPORT, "--force")),
        ((*BUILD, "--parquet", "tables"), (*BUILD, "--parquet", "tables", "--force")),
        (SEAL, (*SEAL, "--force")),
        (INIT, (*INIT, "--force")),
        (SCORE, (*SCORE, "--force")),
        (NEW, (*NEW, "--force")),
    ],
    ids=lambda call: " ".join(map(str, call[:2])),
)
def test_what_nobody_changed_is_replaced_and_nothing_is_kept_of_it(first: Call, again: Call, here: Path) -> None:
    """Sealing, a database and folders differ each time, and are known again; the others come out the same."""
    assert run(*first).status == 0
    assert run(*again).status == 0
    assert list(here.rglob("*~")) == []


def _reversed(here: Path) -> Workplace:
    """The workplace, its logs in the other order."""
    import yaml

    workplace = Workplace.__new__(Workplace)
    workplace.folder, workplace.manifest_file = here, here / "submission.yaml"
    workplace.content = yaml.safe_load(workplace.manifest_file.read_text())
    workplace.content["entries"][0]["runs"].reverse()
    return workplace


def test_a_source_that_changed_is_packed_anew_and_its_old_copy_goes(here: Path) -> None:
    run(*PACK)
    _reversed(here).save()
    done = run(*PACK)
    assert done.status == 0
    assert "4 changed" in done.stdout


def test_without_a_record_a_template_that_was_filled_in_is_kept(here: Path) -> None:
    run(*PACK, "--scaffold")
    (here / SCAFFOLDED).parent.mkdir(parents=True)
    (here / SCAFFOLDED).write_bytes(MINE)
    (here / "out" / ".ACME.mlsub-written").unlink()
    assert run(*PACK, "--force").status == 1
    assert (here / SCAFFOLDED).read_bytes() == MINE


def test_without_a_record_everything_that_differs_is_somebodys(here: Path) -> None:
    run(*PACK)
    (here / "out" / ".ACME.mlsub-written").unlink()
    before = snapshot(here / "out" / "ACME")
    _reversed(here).save()
    done = run(*PACK, "--force")
    assert done.status == 1
    assert "result_0.txt" in done.stdout
    assert "result_2.txt" not in done.stdout.split("package.out-changed")[1].split("fix")[0]
    assert snapshot(here / "out" / "ACME") == before
    # A tree that is as planned is what pack would write, and is known from then on.
    _reversed(here).save()
    assert run(*PACK).status == 0
    _reversed(here).save()
    assert run(*PACK).status == 0


@pytest.mark.product
@pytest.mark.parametrize("record", ["", "{", "[]", '{"files": {"a": 1}}', '{"files": ' + "[" * 100_000, "\x00\xff"])
def test_a_broken_record_is_none(record: str, here: Path) -> None:
    run(*REPORT)
    (here / ".site.mlsub-written").write_text(record)
    before = snapshot(here / "site")
    done = run(*REPORT, "--force")
    assert (done.status, snapshot(here / "site")) == (2, before)
    assert "index.html" in done.stderr


@pytest.mark.parametrize("command", ["fix", "redact", pytest.param("fix --truncate", marks=pytest.mark.slow)])
def test_a_log_that_somebody_changes_meanwhile_is_left_and_named(
    command: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlsub.log import rewrite

    log = here / "v1.0/ACME/results/rack1/resnet/result_0.txt"
    if command == "fix":
        log.write_bytes(log.read_bytes().replace(b"\n", b"\r\n"))
    elif command == "redact":
        log.write_bytes(b"cd /home/alice/run\n" + log.read_bytes())
    else:
        with log.open("ab") as stream:
            stream.write(b"framework output\n" * (7 << 20))
    rest = log.read_bytes()
    sync = os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        with log.open("ab") as stream:
            stream.write(MINE)

    monkeypatch.setattr(rewrite.os, "fsync", meanwhile)
    path = log if command != "fix" else here / "v1.0/ACME"
    done = run(*command.split(), path, "--write")
    assert done.status == 2
    assert log.read_bytes() == rest + MINE
    assert f"{log} changed while it was read" in done.stderr


def test_a_repair_never_takes_the_name_of_a_file_that_is_there(here: Path) -> None:
    entry = here / "v1.0/ACME/results/rack1/resnet"
    (entry / "result_0.txt").rename(entry / "Result-0.log")
    (entry / "result_0.txt").write_bytes(MINE)
    run("fix", here / "v1.0/ACME", "--write")
    assert (entry / "result_0.txt").read_bytes() == MINE
    assert (entry / "Result-0.log").exists()


def test_there_is_one_backup_and_its_replacement_is_said(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in (1, 2):
        (here / "table.csv").write_bytes(MINE * number)
        assert run(*SCORE, "--force").status == 0
        assert (here / "table.csv.~1~").read_bytes() == MINE * number
    assert caplog.messages == ["mlsub: replaced table.csv.~1~, an earlier backup"]


def is_document(command: click.Command) -> bool:
    """Whether the options of all commands that answer with a document write its answer."""
    choices = [parameter.type for parameter in command.params if "--format" in parameter.opts]
    return any(isinstance(choice, click.Choice) and "html" in choice.choices for choice in choices)


def writing_options() -> list[tuple[str, str]]:
    """Each command and option of ``mlsub`` by which something may be written over."""
    found = []
    for name, command in leaves().items():
        words = {word for parameter in command.params for word in parameter.opts}
        if is_document(command):
            words -= {"--output", "--force"}  # Each such command is tried in test_output_options.py.
        found += [(name, word) for word in sorted(words) if re.match(r"--(write|replace|force|output)", word)]
    return found


@pytest.mark.parametrize(("command", "option"), writing_options())
def test_the_table_and_the_tests_have_every_command_that_writes(command: str, option: str) -> None:
    table = (REPOSITORY / "docs" / "writing.md").read_text()
    rows = " ".join(line for line in table.splitlines() if line[:1] == "|" and f"`{command}`" in line.split("|")[1])
    named = option if option != "--output" else "-o"
    assert f"`{named}" in rows or f"`{option}" in rows
    mended: Callable[[str], bool] = ("fix", "redact").__contains__
    assert mended(command) or any(case.command == command for case in CASES)
