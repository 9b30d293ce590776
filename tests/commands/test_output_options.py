"""The options that every command with a document shares: how the answer looks, and where it goes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mlsub.commands.answers import answer_type, commands
from mlsub.present import FORMATS
from tests.commands.calls import Call, calls, option
from tools.support.make_tree import snapshot
from tools.support.runner import answer_schema, run
from tools.support.runner import call as called

#: The calls whose answer is a document.
DOCUMENTS = {call.answer: call for call in calls().values() if call.title}
#: These lay out their own text: test_json_contract.py and test_system.py.
OWN_TEXT = {"check", "score", "system check"}


def _output_help(call: Call) -> str:
    return str(getattr(option(call.command, "--output"), "help", ""))


#: The documents that -o writes into a file, but the settings, which have the format in them.
FILES = [
    name
    for name, call in DOCUMENTS.items()
    if _output_help(call).startswith(("Write to FILE instead of standard output", "Write to FILE too"))
    and name != "check settings"
]
#: Those of commands that check: the screen shows the text besides.
BESIDES = [name for name in FILES if _output_help(DOCUMENTS[name]).startswith("Write to FILE too")]


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def test_every_answer_has_a_number() -> None:
    assert set(DOCUMENTS) == set(commands()) - OWN_TEXT
    assert all(answer_type(command).SCHEMA >= 1 for command in commands())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_format(name: str, tmp_path: Path) -> None:
    call = DOCUMENTS[name]
    made = {format_: tmp_path / format_ for format_ in FORMATS}
    answers = {format_: run(*call.line(made[format_]), "--format", format_) for format_ in FORMATS}
    assert len({outcome.status for outcome in answers.values()}) == 1
    assert {outcome.stderr for outcome in answers.values()} == {""}
    titles = {format_: call.title.format(new=file) for format_, file in made.items()}
    shown = {
        "text": answers["text"].stdout.startswith(f"{titles['text']}\n\n"),
        "markdown": answers["markdown"].stdout.startswith(f"# {titles['markdown']}\n\n"),
        "html": f"<title>{titles['html']}</title>" in answers["html"].stdout,
    }
    assert shown == dict.fromkeys((format_ for format_ in FORMATS if format_ != "json"), True)
    answer_schema(name).validate(answers["json"].document)
    assert answers["json"].document["command"] == name


@pytest.mark.parametrize("name", FILES)
def test_a_file_gets_what_the_screen_gets(name: str, tmp_path: Path) -> None:
    words = DOCUMENTS[name].line(tmp_path / "new")
    on_screen = run(*words).stdout if name in BESIDES else ""
    # Links lead from the folder of the file, which on the screen is the current one.
    file = Path(f"{tmp_path.name}.answer")
    for format_ in FORMATS:
        shown = run(*words, "--format", format_)
        written = run(*words, "--format", format_, "-o", file)
        assert (written.status, written.stdout, written.stderr) == (shown.status, on_screen, "")
        assert file.read_text() == shown.stdout
        file.unlink()


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_replaced_only_when_asked_for(name: str, tmp_path: Path) -> None:
    call = DOCUMENTS[name]
    words, file = call.line(tmp_path / "new"), tmp_path / "answer.txt"
    file.write_text("mine\n")
    before = snapshot(tmp_path)
    refused = run(*words, "-o", file)
    assert (refused.status, refused.stdout) == (2, "")
    assert refused.stderr == f"mlsub {call.name}: {file} exists. Add --force to replace it.\n"
    assert snapshot(tmp_path) == before
    replaced = run(*words, "-o", file, "--force")
    assert replaced.status in (0, 1)
    assert file.read_text().startswith(call.title)
    assert (tmp_path / "answer.txt.~1~").read_text() == "mine\n"


def test_a_file_without_a_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    refused = run("compare", "--packages", "nowhere", "nowhere", "-o", tmp_path / "gone" / "file")
    assert refused.status == 2
    assert refused.stderr == f"mlsub compare: There is no folder {tmp_path / 'gone'}. Make it, or name another file.\n"


@pytest.mark.slow
def test_a_pipe_has_120_columns_and_colours_only_where_they_are_forced() -> None:
    plain, forced = (
        called("rules", "list", "--round", "5.1", NO_COLOR="", COLUMNS="60", FORCE_COLOR=value).stdout
        for value in ("", "1")
    )
    assert "\x1b" not in plain and re.sub(r"\x1b\[[0-9;]*m", "", forced) == plain != forced


def test_json_is_one_document_in_ascii(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    run(*DOCUMENTS["compare packages"].line(tmp_path), "--format", "json", "-o", file)
    assert list(json.loads(file.read_bytes().decode("ascii")))[:4] == ["schema", "mlsub", "command", "different"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_named_as_a_format_that_the_answer_lacks_is_refused(name: str, tmp_path: Path) -> None:
    other = "xlsx" if name == "db query" else "arrow"
    refused = run(*DOCUMENTS[name].line(tmp_path / "new"), "-o", tmp_path / f"x.{other}")
    assert refused.status == 2
    assert f"This answer has no format {other}. Name another file than" in refused.stderr
    assert not (tmp_path / f"x.{other}").exists()
