"""``mlsub redact`` as people call it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands.fix.logs import no_log
from tests.conftest import ExpectedText
from tools.support.make_tree import snapshot
from tools.support.runner import answer_schema, run

RECORD = ':::MLLOG {"time_ms": 1, "key": "a", "value": null, "metadata": {"file": "/home/alice/t.py"}}\n'


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "result_0.txt").write_text("cd /home/alice/run\n" + RECORD + f"alice\nkey AKIA{'Q' * 16}\n")
    (folder / "result_1.txt").write_text("HOSTNAME=node7\nwriting to /home/alice\n")
    return folder


def test_what_would_be_replaced_is_listed_and_nothing_written(logs: Path, expected_text: ExpectedText) -> None:
    before = snapshot(logs)
    done = run("redact", logs)
    assert (done.status, done.stderr) == (1, "")
    expected_text("redact.txt", done.stdout.replace(str(logs), "ROOT"))
    assert snapshot(logs) == before


def test_write_replaces_and_says_what_remains(logs: Path, expected_text: ExpectedText) -> None:
    (logs / "result_0.txt").chmod(0o640)
    done = run("redact", logs, "--write")
    assert (done.status, done.stderr) == (1, "")
    expected_text("redact-written.txt", done.stdout.replace(str(logs), "ROOT"))
    assert (logs / "result_0.txt").read_text() == "cd <path-1>/run\n" + RECORD + "<user-1>\nkey <secret-1>\n"
    assert (logs / "result_1.txt").read_text() == "HOSTNAME=<host-1>\nwriting to <path-1>\n"
    assert (logs / "result_0.txt").stat().st_mode & 0o777 == 0o640
    again = run("redact", logs / "result_1.txt").stdout
    assert again.startswith(f"Redaction of logs\n\nbelow: {logs}\n\nFound nothing to replace in 1 log.\n\nLooked for: ")


def test_copies_go_where_they_are_wanted(logs: Path, tmp_path: Path) -> None:
    before = snapshot(logs)
    out = tmp_path / "out"
    assert run("redact", logs, "-o", out).status == 1
    assert snapshot(logs) == before
    assert sorted(file.name for file in out.iterdir()) == ["result_0.txt", "result_1.txt"]
    assert (out / "result_1.txt").read_text() == "HOSTNAME=<host-1>\nwriting to <path-1>\n"
    again = run("redact", logs, "-o", out)
    assert again.status == 2
    assert again.stderr == f"mlsub redact: {out} is not empty. Name a folder that is not there yet.\n"


def test_json_has_all_of_it(logs: Path) -> None:
    document = run("redact", logs, "--format", "json").document
    answer_schema("redact").validate(document)
    assert document["logs"] == 2 and document["written"] is None
    assert document["items"][1] == {
        "kind": "path",
        "text": "/home/alice",
        "placeholder": "<path-1>",
        "counts": {"free": 2, "record": 1},
        "places": {
            "free": [{"path": "result_0.txt", "line": 1, "key": ""}, {"path": "result_1.txt", "line": 2, "key": ""}],
            "record": [{"path": "result_0.txt", "line": 2, "key": "a"}],
        },
    }


DRAWN = "zq7Gk2Lp9Zx41bVw8Rt5"


def test_what_is_not_replaced_is_listed_masked_and_replaced_by_its_rows(
    logs: Path, tmp_path: Path, expected_text: ExpectedText
) -> None:
    """The list never shows what may be a secret, so its rows are what a user chooses by."""
    free = f"step 3\npushing with {DRAWN}\ncn042: step 4\nagain {DRAWN} at gx07\n"
    (logs / "result_0.txt").write_text(free + RECORD.replace("null", f'"{DRAWN}"'))
    listed = run("redact", logs)
    expected_text("redact-unsure.txt", listed.stdout.replace(str(logs), "ROOT"))
    assert DRAWN not in listed.stdout
    rows = [line for line in listed.stdout.splitlines() if line.strip().startswith("?")]
    (tmp_path / "also.txt").write_text(f"{rows[0]}\n\n  {rows[2]}\nstep 4\n")
    done = run("redact", logs, "--also", tmp_path / "also.txt", "--write", "--format", "json").document
    assert (logs / "result_0.txt").read_text() == (
        "step 3\npushing with <secret-1>\ncn042: <text-1>\nagain <secret-1> at <host-1>\n"
        + RECORD.replace("null", f'"{DRAWN}"')
    )
    assert [item["text"] for item in done["unsure"]] == ["c... (5)"]
    assert done["items"][0]["counts"] == {"free": 2, "record": 1}
    again = run("redact", logs, "--also", tmp_path / "also.txt")
    assert f"Nothing has the handle {', '.join(sorted(row.split()[0] for row in (rows[0], rows[2])))}." in again.stdout


def test_what_is_not_replaced_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "result_0.txt").write_text(f"pushing with {DRAWN}\n")
    done = run("redact", tmp_path / "result_0.txt", "--format", "json")
    assert (done.status, len(done.document["unsure"])) == (0, 1)


def test_the_list_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = "".join(f"tmp/{DRAWN}{n}\n" for n in range(30))
    (tmp_path / "result_0.txt").write_text(alike + f"other {DRAWN}\n")
    done = run("redact", tmp_path, "--format", "json").document
    assert (len(done["unsure"]), done["more_unsure"]) == (11, 20)
    monkeypatch.setattr("mlsub.packing.redactor.MAX_UNSURE", 5)
    done = run("redact", tmp_path, "--format", "json").document
    assert (len(done["unsure"]), done["more_unsure"]) == (5, 26)


def test_a_list_that_cannot_be_read_is_refused(logs: Path) -> None:
    before = snapshot(logs)
    done = run("redact", logs, "--write", "--also", logs / "nothing.txt")
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert snapshot(logs) == before


def test_other_files_are_searched_and_links_are_named(logs: Path) -> None:
    (logs / "result_0.txt").write_text("HOSTNAME=node7\n")
    (logs / "run.sh").write_text("#!/bin/bash\nsrun -w node7 x\nexport API_KEY=0123456789abcdef0123\n")
    (logs / ".netrc").write_text("machine a.example login b password 0123456789abcdef\n")
    (logs / "model.bin").write_bytes(b"\0\1")
    (logs / "result_2.txt").symlink_to("/etc/hosts")
    others = [file for file in logs.iterdir() if not file.name.startswith("result")]
    before = {file: file.read_bytes() for file in others}
    assert run("redact", logs, "--write").status == 1
    done = run("redact", logs)
    assert done.status == 1 and "Found nothing to replace in 2 logs." in done.stdout
    left = done.stdout.partition("Not redacted, because it is in code")[2].partition("Found nothing")[0]
    assert [line.split() for line in left.splitlines()[3:6]] == [
        ["0123...", "1", ".netrc:1"],
        ["0123...", "1", "run.sh:3"],
        ["node7", "1", "run.sh:2"],
    ]
    assert [line.split() for line in left.splitlines()[-4:-1]] == [
        ["----------------------"],
        ["model.bin", "not", "text"],
        ["result_2.txt", "a", "link"],
    ]
    assert {file: file.read_bytes() for file in others} == before


def test_options_that_contradict_each_other_are_refused(logs: Path) -> None:
    assert run("redact", logs, "--write", "-o", "x").status == 2
    done = run("redact", logs, "--pattern", "*")
    assert (done.status, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("kind", ["pipe", "gz", "link", "missing", "unreadable", "utf-16"])
def test_a_log_that_cannot_be_changed_is_told_in_one_line(kind: str, tmp_path: Path) -> None:
    file = no_log(kind, tmp_path, "/home/alice\n")
    if kind == "utf-16":
        file.write_bytes("/home/alice\n".encode("utf-16"))
    if kind == "unreadable":
        file.chmod(0)
        if os.access(file, os.R_OK):
            pytest.skip("this user may read everything")
    done = run("redact", file, "--write")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("mlsub redact: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("bound", "lines"),
    [
        ("known.MAX_NAMES", ["HOSTNAME=node1", "HOSTNAME=node2", "USER=alice", "USER=bobby"]),
        ("known.MAX_NAMES", [f"cd /home/user{n}/x" for n in range(4)]),
        ("known.MAX_MEMBERS", ["SLURM_NODELIST=node[1-3]", "SLURM_NODELIST=node[1-4]"]),
        ("known.MAX_LOOKED_UP", ["SLURM_NODELIST=node[1-3]", "SLURM_NODELIST=rack[1-3]"]),
        ("known.MAX_SECRETS", [f"API_KEY=0123456789abcdef{n}" for n in range(4)]),
        ("known.MAX_ALIKE", [f"API_KEY=0123456789ab-{n}-0123456789ab" for n in range(4)]),
    ],
)
def test_more_names_than_are_looked_for_are_told(
    bound: str, lines: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who publishes the logs has to know that a host may stand in them."""
    monkeypatch.setattr(f"mlsub.log.private.{bound}", 3)
    log = tmp_path / "result_0.txt"
    log.write_text("\n".join(lines[:-1]) + "\n")
    within = run("redact", log, "-o", tmp_path / "within")
    assert (within.status, within.stderr) == (0, "")
    log.write_text("\n".join([*lines, lines[0]]) + "\n")
    beyond = run("redact", log, "-o", tmp_path / "beyond")
    assert (beyond.status, "There are more than 5,000 users and hosts" in beyond.stderr) == (2, True)
    assert (tmp_path / "beyond" / "result_0.txt").is_file()


def test_a_log_that_another_process_changes_is_left_and_named(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_text("cd /home/alice/run\n")
    with log.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = run("redact", log, "--write")
    assert done.status == 2
    assert "is being changed by another process, and is left as it is" in " ".join(done.stderr.split())
    assert log.read_text() == "cd /home/alice/run\n"
    assert run("redact", log, "--write").status == 0
    assert "alice" not in log.read_text()


def test_where_one_copy_cannot_be_written_there_is_no_folder_of_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(3):
        (tmp_path / "logs" / f"result_{number}.txt").write_text("cd /home/alice/run\n")
    real, calls = os.fsync, []

    def full(opened: int) -> None:
        calls.append(opened)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(opened)

    monkeypatch.setattr(os, "fsync", full)
    done = run("redact", tmp_path / "logs", "-o", tmp_path / "copies")
    assert done.status == 2
    assert "No space left on device" in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
