"""The options that every command with a document shares: how the answer looks, and where it goes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import duckdb
import pytest

from mlsub.commands.answers import answer_type, commands
from mlsub.present import FORMATS
from tools.support.make_tree import make_tree, reference_runs, snapshot
from tools.support.runner import answer_schema, call, run
from tools.support.workplace import Workplace

CLAIMS = """claims_version: 1
source: {title: A post}
results:
  acme: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
claims:
  - {id: time, text: It trains in 12 minutes, expr: minutes(acme), stated: {value: 12, unit: min}}
"""
REFERENCE = "reference/v4.1/Reference/results"
#: What is asked for, and how the answer begins.
CALLS = {
    "audit": ("claims.yaml --results .", "Claims of A post"),
    "check settings": ("--show-settings", "Settings of mlsub check"),
    "cache": ("--cache-dir cache", "Cache of mlsub"),
    "compare": ("v1.0/ACME b/v1.0/ACME --trainings", "Comparison of two trainings"),
    "compare packages": ("v1.0/ACME b/v1.0/ACME", "Comparison of two packages"),
    "rules diff": ("1.0 1.1", "Changes from training 1.0 to 1.1"),
    "rules keys": ("bert --round 1.0", "Keys of bert, training 1.0, closed division"),
    "rules keys check": (
        "digits --check hyperparameters.yaml",
        "Hyperparameters of digits, rehearsal 1.0, closed division",
    ),
    "rules list": ("", "Rounds and their benchmarks"),
    "rules list every": ("--ids", "Rules"),
    "rules show": ("bert --round 1.0", "Rules of bert, training 1.0, closed division"),
    "db build": ("v1.0", "Database of results"),
    "db query": ("'SELECT 1 AS one' --db made.duckdb", "1 row"),
    "db tables": ("runs", "Tables and views of the database"),
    "explain": ("seed.shared", "seed.shared"),
    "fix": ("v1.0/ACME", "Repairs proposed"),
    "fix truncate": ("private --truncate", "Logs larger than 100 MiB"),
    "review": ("v1.0/ACME", "Review"),
    "review rates": ("v1.0/ACME --rates", "How often each rule applies"),
    "merge": ("v1.0/ACME b/v1.0/ACME -o out/ACME", "Merge of ACME, training v1.0"),
    "pack": ("loose/submission.yaml -o out/ACME", "Package of ACME, MLPerf Training v1.0"),
    "redact": ("private", "Redaction of logs"),
    "rcp margin": ("v1.0/ACME", "Distance to the limit of the convergence test"),
    "rcp plan": ("bert --round 1.0 --batch-size 448", "bert, training 1.0, batch size 448"),
    "rcp show": ("bert --round 1.0", "bert, training 1.0: samples to converge, 10 runs an entry"),
    "rcp build": (
        f"{REFERENCE}/small/resnet {REFERENCE}/large/resnet --round 1.0 -o rcps_{{format}}.json",
        "rcps_{format}.json: resnet, epochs to converge",
    ),
    "seal": ("v1.0/ACME --dry-run --no-encryption", "Dry run"),
    "site": ("v1.0 -o site-{format}", "A site of 1 result of 1 round, 5 runs, on 10 pages"),
    "status": ("v1.0/ACME", "Status of ACME, MLPerf Training v1.0"),
    "system list": ("", "Known systems"),
    "system show": ("ipu-pod16", "ipu-pod16: Graphcore IPU-POD16, four IPU-M2000 and one server"),
    "unseal": ("made.tar.gz -o opened-{format}", "Opened"),
    "verify": ("made.tar.gz", "Verification"),
    "score selection": ("v1.0/ACME/results/rack1/resnet --window 3", "Median window of resnet, training v1.0"),
}
#: Commands whose -o is not the answer, or that have none.
NO_FILE = {
    *(
        "db build",
        "db query",
        "db tables",
        "fix",
        "fix truncate",
        "merge",
        "pack",
        "redact",
        "rcp build",
        "seal",
        "site",
    ),
    "unseal",
}
#: What it shows has the format itself.
SHOWS_FORMAT = "check settings"
FILES = tuple(command for command in CALLS if command not in (*NO_FILE, SHOWS_FORMAT))
CHECKS = ("audit", "check", "review", "rules keys")
#: These lay out their own text: test_json_contract.py and test_system.py.
OWN_TEXT = {"check", "score", "system check"}
GROUPS = ("db", "rcp", "rules", "system")


def words(command: str) -> list[str]:
    """The words by which a command is called, whichever of its answers it gives."""
    return command.split()[: 2 if command.startswith(GROUPS) else 1]


@pytest.fixture(autouse=True)
def _place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages that differ, claims on one of them, a log with private names, and runs to pack."""
    make_tree(tmp_path)
    make_tree(tmp_path / "b").describe(cooling="<water> | *ice*")
    (tmp_path / "claims.yaml").write_text(CLAIMS)
    (tmp_path / "hyperparameters.yaml").write_text("learning_rate: 1e-4\n")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "result_0.txt").write_text("cd /home/alice\n")
    (tmp_path / "loose").mkdir()
    Workplace(tmp_path / "loose")
    duckdb.connect(tmp_path / "made.duckdb").close()
    monkeypatch.chdir(tmp_path)
    command = request.node.callspec.params.get("command") if hasattr(request.node, "callspec") else None
    if command in ("unseal", "verify"):
        assert run("seal", "v1.0/ACME", "--no-encryption", "-o", "made.tar.gz").status == 0
    if command == "rcp build":
        reference_runs(tmp_path / "reference")


def test_every_answer_has_a_number() -> None:
    assert set(CALLS) == set(commands()) - OWN_TEXT
    assert all(answer_type(command).SCHEMA >= 1 for command in commands())


@pytest.mark.parametrize("command", CALLS)
def test_every_format(command: str) -> None:
    line, title = CALLS[command]
    answers = {
        format_: run(*words(command), *shlex.split(line.format(format=format_)), "--format", format_)
        for format_ in FORMATS
    }
    assert len({outcome.status for outcome in answers.values()}) == 1
    assert {outcome.stderr for outcome in answers.values()} == {""}
    assert answers["text"].stdout.startswith(f"{title.format(format='text')}\n\n")
    assert answers["markdown"].stdout.startswith(f"# {title.format(format='markdown')}\n\n")
    assert f"<title>{title.format(format='html')}</title>" in answers["html"].stdout
    answer_schema(command).validate(answers["json"].document)
    assert answers["json"].document["command"] == command


@pytest.mark.parametrize("command", FILES)
def test_a_file_gets_what_the_screen_gets(command: str, tmp_path: Path) -> None:
    arguments = shlex.split(CALLS[command][0])
    # Commands that check show text beside the files they write.
    on_screen = run(*words(command), *arguments).stdout if command.startswith(CHECKS) else ""
    for format_ in FORMATS:
        file = tmp_path / f"answer.{format_}"
        shown = run(*words(command), *arguments, "--format", format_)
        written = run(*words(command), *arguments, "--format", format_, "-o", file)
        if command == "check settings":  # They say where the format comes from.
            on_screen = written.stdout
        assert (written.status, written.stdout, written.stderr) == (shown.status, on_screen, "")
        assert file.read_text() == shown.stdout


@pytest.mark.parametrize("command", FILES)
def test_a_file_is_replaced_only_when_asked_for(command: str, tmp_path: Path) -> None:
    arguments, title = shlex.split(CALLS[command][0]), CALLS[command][1]
    file = tmp_path / "answer.txt"
    file.write_text("mine\n")
    before = snapshot(tmp_path)
    refused = run(*words(command), *arguments, "-o", file)
    assert (refused.status, refused.stdout) == (2, "")
    assert refused.stderr == f"mlsub {' '.join(words(command))}: {file} exists. Add --force to replace it.\n"
    assert snapshot(tmp_path) == before
    replaced = run(*words(command), *arguments, "-o", file, "--force")
    assert replaced.status in (0, 1)
    assert file.read_text().startswith(title)
    assert (tmp_path / "answer.txt.~1~").read_text() == "mine\n"


def test_a_file_without_a_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    refused = run("compare", "--packages", "nowhere", "nowhere", "-o", tmp_path / "gone" / "file")
    assert refused.status == 2
    assert refused.stderr == f"mlsub compare: There is no folder {tmp_path / 'gone'}. Make it, or name another file.\n"


def test_a_pipe_has_120_columns_and_colours_only_where_they_are_forced() -> None:
    plain, forced = (
        call("rules", "list", "--round", "5.1", NO_COLOR="", COLUMNS="60", FORCE_COLOR=value).stdout
        for value in ("", "1")
    )
    assert "\x1b" not in plain and re.sub(r"\x1b\[[0-9;]*m", "", forced) == plain != forced


def test_json_is_one_document_in_ascii(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    run("compare", *CALLS["compare packages"][0].split(), "--format", "json", "-o", file)
    assert list(json.loads(file.read_bytes().decode("ascii")))[:4] == ["schema", "mlsub", "command", "different"]
