"""Nothing that somebody wrote is destroyed: every command that writes, each on a file that somebody changed by hand.

``docs/writing.md`` says what each of them may replace.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import click
import pytest

from tests.commands.calls import Overwrite, calls, option
from tests.commands.tree import leaves
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import REPOSITORY, Outcome, run
from tools.support.workplace import Workplace

#: What somebody wrote; it must be somewhere after each command.
MINE = b"written by hand, and the only copy\n"


PACK = tuple(calls()["pack"].written("made"))
SCAFFOLDED = "made/ACME/benchmarks/resnet/rack1/README.md"
SITE = tuple(calls()["site"].written("made"))
SCORE = tuple(calls()["score"].written("made"))
CASES = [case for call in calls().values() for case in call.overwrites]
#: Calls that write, and write again with --force; demo, which trains, is tried above.
AGAIN = [
    call.written("made")
    for call in calls().values()
    if call.makes_a_file and option(call.command, "--force") and call.name != "demo"
]
AGAIN += [[*PACK, "--scaffold"], [*calls()["db build"].written("made"), "--parquet", "tables"]]


@pytest.fixture
def here(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all that the commands need, the current folder."""
    folder = tmp_path / "here"
    shutil.copytree(place, folder)
    monkeypatch.chdir(folder)
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    faster = make_tree(folder, "v4.0")
    faster.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))
    return folder


def told(done: Outcome) -> str:
    """All that a call said, on one line."""
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{' '.join(case.again)}, {Path(case.changed).name}")
def test_what_somebody_wrote_is_kept_or_named(case: Overwrite, here: Path) -> None:
    if case.first is not None:
        assert run(*case.first).status == 0
    file = here / case.changed
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(MINE)
    done = run(*case.again)
    assert done.status == case.status, told(done)
    if case.aside:
        aside = file.with_name(f"{file.name}.~1~")
        assert aside.read_bytes() == MINE
        assert aside.name in told(done)
        assert not file.exists() or file.read_bytes() != MINE
    else:
        assert file.read_bytes() == MINE
        # Refused by name, or as the folder that is there already; what a command does not touch needs no words.
        names = [file.name, *map(str, Path(case.changed).parents[:-1])]
        assert case.status == 0 or any(name in told(done) for name in names)
        assert "--force" not in case.again or case.status == 0 or file.name in told(done)


@pytest.mark.parametrize("words", AGAIN, ids=" ".join)
def test_what_nobody_changed_is_replaced_and_nothing_is_kept_of_it(words: list[str], here: Path) -> None:
    """Sealing, a database and folders differ each time, and are known again; the others come out the same."""
    assert run(*words).status == 0
    assert run(*words, "--force").status == 0
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
    (here / "made" / ".ACME.mlsub-written").unlink()
    assert run(*PACK, "--force").status == 1
    assert (here / SCAFFOLDED).read_bytes() == MINE


def test_without_a_record_everything_that_differs_is_somebodys(here: Path) -> None:
    run(*PACK)
    (here / "made" / ".ACME.mlsub-written").unlink()
    before = snapshot(here / "made" / "ACME")
    _reversed(here).save()
    done = run(*PACK, "--force")
    assert done.status == 1
    assert "result_0.txt" in done.stdout
    assert "result_2.txt" not in done.stdout.split("package.out-changed")[1].split("fix")[0]
    assert snapshot(here / "made" / "ACME") == before
    # A tree that is as planned is what pack would write, and is known from then on.
    _reversed(here).save()
    assert run(*PACK).status == 0
    _reversed(here).save()
    assert run(*PACK).status == 0


@pytest.mark.slow
@pytest.mark.product
@pytest.mark.parametrize("record", ["", "{", "[]", '{"files": {"a": 1}}', '{"files": ' + "[" * 100_000, "\x00\xff"])
def test_a_broken_record_is_none(record: str, here: Path) -> None:
    run(*SITE)
    (here / ".made.mlsub-written").write_text(record)
    before = snapshot(here / "made")
    done = run(*SITE, "--force")
    assert (done.status, snapshot(here / "made")) == (2, before)
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
        (here / "made.csv").write_bytes(MINE * number)
        assert run(*SCORE, "--force").status == 0
        assert (here / "made.csv.~1~").read_bytes() == MINE * number
    assert caplog.messages == ["mlsub: replaced made.csv.~1~, an earlier backup"]


def is_document(command: click.Command) -> bool:
    """Whether the options of all commands that answer with a document write its answer."""
    return "html" in getattr(getattr(option(command, "--format"), "type", None), "choices", ())


def writing_options() -> list[tuple[str, str]]:
    """Each command and option of ``mlsub`` by which something may be written over."""
    found = []
    for name, command in leaves().items():
        words = {word for parameter in command.params for word in parameter.opts}
        if is_document(command):
            words -= {"--output", "--force"}  # Each such command is tried in test_output_options.py.
        found += [(name, word) for word in sorted(words) if re.match(r"--(write|replace|force|output)", word)]
    return found


@pytest.mark.parametrize(("command", "word"), writing_options())
def test_the_page_and_the_tests_have_every_command_that_writes(command: str, word: str) -> None:
    page = (REPOSITORY / "docs" / "writing.md").read_text()
    heads = re.findall(r"^- (.*?): ", page, re.MULTILINE | re.DOTALL)
    names = (word, "-o") if word == "--output" else (word,)
    assert any(f"{name}`" in head for head in heads if re.search(f"`{command}[ `]", head) for name in names)
    assert command in ("fix", "redact") or any(calls()[case.call].name == command for case in CASES)
