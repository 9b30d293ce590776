"""A settings file is what people write, and hostile at times: each mistake is one line, with its place and a hint."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mlsub.config.load import load
from mlsub.config.model import WrittenSettings, config_schema
from mlsub.io.problems import FileProblemsError
from mlsub.io.tomlfile import MAX_BYTES, TomlFile, line_of, read_toml
from tests.commands.runner import REPOSITORY, run

#: What a file says, and what is said of it.
WRONG = {
    'selct = ["seed"]': ":1: selct: unknown word. Did you mean select?",
    "jobs = 1\n\nstict = true": ":3: stict: unknown word. Did you mean strict?",
    "jobs = 0": ":1: jobs: expected at least 1, found 0",
    'jobs = "2"': ":1: jobs: expected a whole number, found '2'",
    "jobs = true": ":1: jobs: expected a whole number, found true",
    "round = 5.1": ":1: round: expected text, found 5.1; put it in quotes",
    'usage = "trainng"': ":1: usage: unknown value 'trainng'. Did you mean training?",
    'format = "sraif"': ":1: format: unknown value 'sraif'. Did you mean sarif?",
    'rcp-points = "first"': ":1: rcp-points: unknown value 'first'; there are deadline, newest, published",
    'jobs = 1\nrcp-points = "final"': ":2: rcp-points: 'final' is now called 'newest'",
    "rcp_points = 1": ":1: rcp_points: unknown word. Did you mean rcp-points?",
    'strict = "yes"': ":1: strict: expected true or false, found 'yes'",
    'ignore = "seed"': ":1: ignore: expected a list, found 'seed'",
    "ignore = [\n  'seed',\n  'sede.shared',\n]": ":3: ignore.1: no rule 'sede.shared'. Did you mean seed.shared",
    '[per-path-ignores]\n"../x" = ["seed"]': ":2: per-path-ignores.../x: expected a path below the folder of this file",
    '[per-path-ignores]\n"/x" = ["seed"]': ":2: per-path-ignores./x: expected a path below the folder",
    '[per-path-ignores]\na = ["sed."]': ":2: per-path-ignores.a.0: no rule 'sed.'.",
    "[[waivers]]\nrule = 'seed.shared'": ":1: waivers.0: path is missing",
    "[[waivers]]\nrule = 'seed.sharde'\npath = 'a'": ":2: waivers.0.rule: no rule 'seed.sharde'. Did you mean seed",
    "[[waivers]]\nrule = 'seed'\npath = 'a'": ":2: waivers.0.rule: no rule 'seed'.",
    "[[waivers]]\nrule = 'check.no-logs'\npath = 'a'": ":2: waivers.0.rule: cannot be waived",
    "[[waivers]]\nrule = 'seed.shared'\npath = '..'": ":3: waivers.0.path: expected a path below the folder",
    "[[waivers]]\nrule='seed.shared'\npath='a'\nuntil='soon'": ":4: waivers.0.until: 'soon' is not a day",
    "[[waivers]]\nrule='seed.shared'\npath='a'\n[[waivers]]\nexpires=1": ":5: waivers.1.expires: unknown word",
    "waivers = [\n{rule = 'seed.shared', path = 'a', becuse = ''}]": ":2: waivers.0.becuse: unknown word",
    "waivers = 3": ":1: waivers: expected a list, found 3",
    "jobs = 1\njobs = 2": ":2: not TOML: Cannot overwrite a value",
    "jobs =": ":1: not TOML: Invalid value",
    "jobs = [1,\n": ":2: not TOML: Invalid value",
    "\n[tool": ":2: not TOML: ",
}
HOSTILE = {
    "deep lists": b"a = " + b"[" * 50_000,
    "deep tables": b"a = " + b"{a = " * 20_000,
    "a long key": b"a." * 100_000 + b"a = 1",
    "a number of many digits": b"jobs = " + b"9" * 100_000,
    "a number of many hexadecimal digits": b"jobs = 0x" + b"f" * 100_000,
    "large": b"#" * (MAX_BYTES + 1),
    "not text": b"\xff\xfe\x00",
    "null characters": b"jobs = 1\x00\n",
    "a mark at the beginning": b"\xef\xbb\xbfjobs = 1\n",
    "wrong numbers": b"jobs = nan\nround = inf\nstrict = 1979-05-27",
    "escapes": b'"\\u001b[31m" = "\\u0007"',
}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("name", ["mlsub.toml", "pyproject.toml"])
def test_each_mistake_has_its_line(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said, more = WRONG[text], 0
    if name == "pyproject.toml":
        if "not TOML" in said or text.startswith("rcp_points"):
            pytest.skip("as in mlsub.toml")
        text, more = f"[project]\nname = 'x'\n[tool.mlsub]\n{text}", 3
        text = text.replace("[per-path", "[tool.mlsub.per-path").replace("[[waivers", "[[tool.mlsub.waivers")
    Path(name).write_text(text)
    outcome = run("check", ".")
    assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    _, line, message = said.split(":", 2)
    assert outcome.stderr.startswith(f"mlsub check: {name}:{int(line) + more}:{message}")


def test_in_ci_a_mistake_is_a_finding_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mlsub.toml").write_text("strict = true\nstrickt = 1\n")
    for words in (("check", "."), ("inspect", "."), ("system", "check", "a.json")):
        outcome = run(*words, "--format", "sarif")
        assert outcome.status == 2
        assert "mlsub.toml:2: strickt: unknown word. Did you mean strict?\n" in outcome.stderr
        [result] = json.loads(outcome.stdout)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]
        assert (place["artifactLocation"]["uri"], place["region"]) == ("mlsub.toml", {"startLine": 2})
    assert run("check", "--show-settings").status == run("score", ".").status == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mlsub.toml").write_bytes(HOSTILE[name])
    outcome = run("check", ".")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert len(outcome.stderr) < 1000
    assert outcome.stderr.startswith("mlsub check: mlsub.toml:")
    assert "\x1b" not in outcome.stderr
    Path("mlsub.toml").rename("pyproject.toml")
    assert "pyproject.toml" not in run("check", ".").stderr, "not ours: it does not mention mlsub"


def test_what_is_not_a_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("mlsub.toml")
    Path("pyproject.toml").mkdir()
    assert run("check", "--show-settings").status == 0
    outcome = run("check", ".", "--config", "mlsub.toml")
    assert (outcome.status, outcome.stderr) == (2, "mlsub check: mlsub.toml:1: cannot be read: not a regular file\n")


def test_a_link_that_leads_nowhere_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mlsub.toml").symlink_to("gone.toml")
    assert run("check", "--show-settings").status == 0


DOCUMENT = '''# a comment with [brackets] = "and" {more}
title = "a # no comment" # a comment
"quoted key" = 1
a.b.c = """
[not.a.table]
x = 1 """

[table]  # here
list = [ # comment ]
  1, 2.5,
  { x = 'it''s', y = [ [ 1 ],
    [ 2 ] ] },
]
when = 1979-05-27 07:32:00
[[many.tables]]
a = \'\'\'
'' " \'\'\'
[[many.tables]]
[many.tables.sub]
b = { c.d = 1 }
[[many.tables.deep]]
[[many.tables.deep]]
e = ""
'''.replace("'it''s'", '"it\\"s"')
LINES = {
    ("title",): 2,
    ("quoted key",): 3,
    ("a", "b", "c"): 4,
    ("table",): 8,
    ("table", "list"): 9,
    ("table", "list", 0): 10,
    ("table", "list", 1): 10,
    ("table", "list", 2, "y"): 11,
    ("table", "list", 2, "y", 1): 12,
    ("table", "when"): 14,
    ("many", "tables"): 15,
    ("many", "tables", 0, "a"): 16,
    ("many", "tables", 1): 18,
    ("many", "tables", 1, "sub", "b", "c", "d"): 20,
    ("many", "tables", 1, "deep", 0): 21,
    ("many", "tables", 1, "deep", 1, "e"): 23,
}


def places(value: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every key and position of a document."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        return [one for key, below in inside for one in ((*place, key), *places(below, (*place, key)))]
    return []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_lines_of_every_form_of_toml(end: str, tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_bytes(DOCUMENT.replace("\n", end).encode())
    read = read_toml(file)
    lines = read.lines()
    assert set(lines) == set(places(read.content))
    assert {place: lines[place] for place in LINES} == LINES
    assert line_of(lines, "table", "list", 9, "z") == 9
    assert line_of(lines, "nowhere") == 1


_KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5)
_SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"]))
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3))


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value).replace("\x7f", "\\u007f")


@given(st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_every_key_of_every_document_has_its_line(content: dict[str, Any]) -> None:
    try:
        text = "\n".join(f"{json.dumps(key, ensure_ascii=False)} = {toml(value)}" for key, value in content.items())
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # JSON writes what lies beyond the first plane as two escapes, which TOML does not have.
    lines = TomlFile("any.toml", text, read).lines()
    assert set(lines) == set(places(read))
    for number, key in enumerate(read, 1):
        assert {line for place, line in lines.items() if place[0] == key} == {number}


def test_the_schema_for_editors_knows_what_the_reader_knows(tmp_path: Path) -> None:
    """A file that the schema accepts is read; one that it refuses is not. Rules and paths are for the reader alone."""
    schema = run("schema", "config").document
    assert schema == json.loads(json.dumps(config_schema()))
    validator = Draft202012Validator(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {name.replace("_", "-") for name in WrittenSettings.__struct_fields__}
    assert all(word.get("description") for word in schema["properties"].values())
    for text, said in WRONG.items():
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        beyond = "no rule" in said or "expected a path" in said or "cannot be waived" in said or "a day" in said
        assert validator.is_valid(content) == beyond, text
        file = tmp_path / "mlsub.toml"
        file.write_text(text)
        with pytest.raises(FileProblemsError):
            load(file)


def test_the_example_of_the_docs_is_a_settings_file(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "configuration.md").read_text()
    example = page.split("```toml\n")[1].split("```")[0]
    file = tmp_path / "pyproject.toml"
    file.write_text(example)
    loaded = load(file)
    content = tomllib.loads(example)["tool"]["mlsub"]
    assert set(content) == {name.replace("_", "-") for name in WrittenSettings.__struct_fields__}, "all settings"
    assert loaded.written.waivers
    in_the_table = set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert set(content) <= in_the_table
