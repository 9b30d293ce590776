"""``mlsub redact`` as people call it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

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


LISTED = """\
Redaction of logs

below: {folder}

placeholder  stands for   times  first in
-----------------------------------------------
<secret-1>   AKIA...          1  result_0.txt:4
<path-1>     /home/alice      2  result_0.txt:1
<host-1>     node7            1  result_1.txt:1
<user-1>     alice            1  result_0.txt:3

Not redacted, because it is inside a record, and records must not be altered
  text         times  key  first in
  ---------------------------------------
  /home/alice      1  a    result_0.txt:2
  Log the next run from a folder that names nobody; ask the review committee about this one.

{rest}

"""
LOOKED_FOR = """\
Looked for: private keys in PEM, OpenSSH, PGP, PuTTY and age form; 44 kinds of tokens by their form; passwords, keys and
tokens that are named as such; credentials in URLs, headers and commands; e-mail addresses; home folders and shared file
systems; hosts, network addresses and users in lines of NCCL, SLURM, PBS, MPI, Kubernetes, torchrun, ssh, shells and
system logs. No search knows all that is private: read what you publish.
"""


def test_what_would_be_replaced_is_listed_and_nothing_written(logs: Path) -> None:
    before = snapshot(logs)
    done = run("redact", logs)
    assert (done.status, done.stderr) == (1, "")
    rest = "To be replaced in 2 logs: 4 different things, 5 times. Add --write to replace them, or -o OUT for copies."
    assert done.stdout == LISTED.format(folder=logs, rest=rest) + LOOKED_FOR
    assert snapshot(logs) == before


def test_write_replaces_and_says_what_remains(logs: Path) -> None:
    (logs / "result_0.txt").chmod(0o640)
    done = run("redact", logs, "--write")
    assert (done.status, done.stderr) == (1, "")
    rest = "Replaced in 2 logs: 4 different things, 5 times. All records are as they were. Written: in place"
    assert done.stdout == LISTED.format(folder=logs, rest=rest) + LOOKED_FOR
    assert (logs / "result_0.txt").read_text() == "cd <path-1>/run\n" + RECORD + "<user-1>\nkey <secret-1>\n"
    assert (logs / "result_1.txt").read_text() == "HOSTNAME=<host-1>\nwriting to <path-1>\n"
    assert (logs / "result_0.txt").stat().st_mode & 0o777 == 0o640
    again = run("redact", logs / "result_1.txt").stdout
    assert again == f"Redaction of logs\n\nbelow: {logs}\n\nFound nothing to replace in 1 log.\n\n" + LOOKED_FOR


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
    file = tmp_path / ("result_0.txt.gz" if kind == "gz" else "result_0.txt")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("elsewhere")
    elif kind == "utf-16":
        file.write_bytes("/home/alice\n".encode("utf-16"))
    elif kind != "missing":
        file.write_text("/home/alice\n")
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
        ("patterns.MAX_MEMBERS", ["SLURM_NODELIST=node[1-3]", "SLURM_NODELIST=node[1-4]"]),
        ("redactor.MAX_LOOKED_UP", ["SLURM_NODELIST=node[1-3]", "SLURM_NODELIST=rack[1-3]"]),
        ("known.MAX_SECRETS", [f"API_KEY=0123456789abcdef{n}" for n in range(4)]),
    ],
)
def test_more_names_than_are_looked_for_are_told(
    bound: str, lines: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who publishes the logs has to know that a host may stand in them."""
    monkeypatch.setattr(f"mlsub.commands.redact.{bound}", 3)
    log = tmp_path / "result_0.txt"
    log.write_text("\n".join(lines[:-1]) + "\n")
    within = run("redact", log, "-o", tmp_path / "within")
    assert (within.status, within.stderr) == (0, "")
    log.write_text("\n".join([*lines, lines[0]]) + "\n")
    beyond = run("redact", log, "-o", tmp_path / "beyond")
    assert (beyond.status, "There are more than 5,000 users and hosts" in beyond.stderr) == (2, True)
    assert (tmp_path / "beyond" / "result_0.txt").is_file()
