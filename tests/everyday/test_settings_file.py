"""A settings file is what people write, and hostile at times: each mistake is one line, with its place and a hint."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mlsub.config.load import load
from mlsub.config.model import FORM, WrittenSettings
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import MAX_TOML_BYTES
from tools.support.runner import REPOSITORY, run

#: What a file says, and what is said of it.
WRONG = {
    'selct = ["seed"]': ": selct: unknown word. Did you mean select?",
    "jobs = 1\n\nstict = true": ": stict: unknown word. Did you mean strict?",
    "jobs = 0": ": jobs: expected at least 1, found 0",
    'jobs = "2"': ": jobs: expected a whole number, found '2'",
    "jobs = true": ": jobs: expected a whole number, found true",
    "round = 5.1": ": round: expected text, found 5.1; put it in quotes",
    'usage = "trainng"': ": usage: unknown value 'trainng'. Did you mean training?",
    'format = "sraif"': ": format: unknown value 'sraif'. Did you mean sarif?",
    'rcp-points = "first"': ": rcp-points: unknown value 'first'; there are deadline, newest, published",
    "rcp_points = 1": ": rcp_points: unknown word. Did you mean rcp-points?",
    'strict = "yes"': ": strict: expected true or false, found 'yes'",
    'ignore = "seed"': ": ignore: expected a list, found 'seed'",
    "ignore = [\n  'seed',\n  'sede.shared',\n]": ": ignore.1: no rule 'sede.shared'. Did you mean seed.shared",
    '[per-path-ignores]\n"../x" = ["seed"]': ": per-path-ignores.../x: expected a path below the folder of this file",
    '[per-path-ignores]\n"/x" = ["seed"]': ": per-path-ignores./x: expected a path below the folder",
    '[per-path-ignores]\na = ["sed."]': ": per-path-ignores.a.0: no rule 'sed.'.",
    "[[waivers]]\nrule = 'seed.shared'": ": waivers.0: path is missing",
    "[[waivers]]\nrule = 'seed.sharde'\npath = 'a'": ": waivers.0.rule: no rule 'seed.sharde'. Did you mean seed",
    "[[waivers]]\nrule = 'seed'\npath = 'a'": ": waivers.0.rule: no rule 'seed'.",
    "[[waivers]]\nrule = 'check.no-logs'\npath = 'a'": ": waivers.0.rule: cannot be waived",
    "[[waivers]]\nrule = 'seed.shared'\npath = '..'": ": waivers.0.path: expected a path below the folder",
    "[[waivers]]\nrule='seed.shared'\npath='a'\nuntil='soon'": ": waivers.0.until: 'soon' is not a day",
    "[[waivers]]\nrule='seed.shared'\npath='a'\n[[waivers]]\nexpires=1": ": waivers.1.expires: unknown word",
    "waivers = [\n{rule = 'seed.shared', path = 'a', becuse = ''}]": ": waivers.0.becuse: unknown word",
    "waivers = 3": ": waivers: expected a list, found 3",
    "jobs = 1\njobs = 2": ":2: not TOML: Cannot overwrite a value",
    "jobs =": ":1: not TOML: Invalid value",
    "jobs = [1,\n": ":2: not TOML: Invalid value",
    "\n[tool": ":2: not TOML: ",
}
HOSTILE = {
    "deep lists": b"a = " + b"[" * 50_000,
    "deep tables": b"a = " + b"{a = " * 20_000,
    "a long key": b"a." * 100_000 + b"a = 1",
    "a long key in quotes": b'\'=\'."\\"" . ' * 10_000 + b"a = 1",
    "a long key in a table in a line": b"x = {y = '''\n''', " + b"a." * 100_000 + b"a = 'x'}",
    "a number of many digits": b"jobs = " + b"9" * 100_000,
    "a number of many hexadecimal digits": b"jobs = 0x" + b"f" * 100_000,
    "large": b"#" * (MAX_TOML_BYTES + 1),
    "not text": b"\xff\xfe\x00",
    "null characters": b"jobs = 1\x00\n",
    "a mark at the beginning": b"\xef\xbb\xbfjobs = 1\n",
    "wrong numbers": b"jobs = nan\nround = inf\nstrict = 1979-05-27",
    "escapes": b'"\\u001b[31m" = "\\u0007"',
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("name", ["mlsub.toml", "pyproject.toml"])
def test_each_mistake_has_its_place(name: str, text: str) -> None:
    said = WRONG[text]
    if name == "pyproject.toml":
        if "not TOML" in said or text.startswith("rcp_points"):
            pytest.skip("as in mlsub.toml")
        text = f"[project]\nname = 'x'\n[tool.mlsub]\n{text}"
        text = text.replace("[per-path", "[tool.mlsub.per-path").replace("[[waivers", "[[tool.mlsub.waivers")
    Path(name).write_text(text)
    outcome = run("check", ".")
    assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    assert outcome.stderr.startswith(f"mlsub check: {name}{said}")


def test_in_ci_a_mistake_is_a_finding() -> None:
    Path("mlsub.toml").write_text("strict = true\nstrickt = 1\n")
    for words in (("check", "."), ("review", "."), ("system", "check", "a.json")):
        outcome = run(*words, "--format", "sarif")
        assert outcome.status == 2
        assert "mlsub.toml: strickt: unknown word. Did you mean strict?\n" in outcome.stderr
        [result] = json.loads(outcome.stdout)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "mlsub.toml"
    assert run("check", "--show-settings").status == run("score", ".").status == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_line(name: str) -> None:
    Path("mlsub.toml").write_bytes(HOSTILE[name])
    outcome = run("check", ".")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert len(outcome.stderr) < 1000
    assert outcome.stderr.startswith("mlsub check: mlsub.toml:")
    assert "\x1b" not in outcome.stderr
    Path("mlsub.toml").rename("pyproject.toml")
    assert "pyproject.toml" not in run("check", ".").stderr, "not ours: it does not mention mlsub"


def test_what_is_not_a_file_is_not_read() -> None:
    os.mkfifo("mlsub.toml")
    Path(".mlsub.toml").symlink_to("gone.toml")
    Path("pyproject.toml").mkdir()
    assert run("check", "--show-settings").status == 0
    outcome = run("check", ".", "--config", "mlsub.toml")
    assert (outcome.status, outcome.stderr) == (2, "mlsub check: mlsub.toml:1: cannot be read: not a regular file\n")


def test_the_schema_for_editors_knows_what_the_reader_knows(tmp_path: Path) -> None:
    """A file that the schema accepts is read; one that it refuses is not. Rules and paths are for the reader alone."""
    schema = run("schema", "config").document
    assert schema == json.loads(json.dumps(FORM.schema()))
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
