"""Settings: where they come from, which wins, what each does, and whose file is never used."""

from __future__ import annotations

import json
import os
import shutil
import socket
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from msgspec.structs import fields

from mlsub.commands.settings import Setting
from mlsub.config import find_settings
from mlsub.config.model import NOT_IN_FILES, WrittenSettings, formats
from mlsub.present import CI_FORMATS, FORMATS
from mlsub.workspace import Context, executors
from tests.commands.tree import leaves
from tools.support.make_tree import HOUSE, Tree, make_tree, spoil
from tools.support.runner import Outcome, answer_schema, check, run

#: Every setting, as it is written.
NAMES = {field.encode_name for field in fields(WrittenSettings)}


class Source(NamedTuple):
    """A setting: its default, and what file, environment and command line say, each as written and as read.

    What a file says is None where files are not asked.
    """

    default: Any
    file: tuple[str, Any] | None
    variable: tuple[str, Any]
    option: tuple[tuple[str, ...], Any]


PRECEDENCE = {
    "round": Source(None, ('"4.0"', "4.0"), ("4.1", "4.1"), (("--round", "5.0"), "5.0")),
    "usage": Source(None, ('"hpc"', "hpc"), ("rehearsal", "rehearsal"), (("--usage", "training"), "training")),
    "rules": Source(None, ('"a.yaml"', "a.yaml"), ("b.yaml", "b.yaml"), (("--rules", "c.yaml"), "c.yaml")),
    "select": Source(
        None,
        ('["seed"]', ["seed"]),
        ("run., cross.", ["run.", "cross."]),
        (("--select", "key", "--select", "log"), ["key", "log"]),
    ),
    "ignore": Source(None, ('["seed"]', ["seed"]), ("run.", ["run."]), (("--ignore", "key"), ["key"])),
    "fail-on": Source("official", ('"error"', "error"), ("warning", "warning"), (("--fail-on", "note"), "note")),
    "strict": Source(False, ("true", True), ("false", False), (("--strict",), True)),
    "jobs": Source(None, ("3", 3), ("4", 4), (("--jobs", "5"), 5)),
    "executor": Source(
        None, None, ("dask://node:4", "dask://node:4"), (("--executor", "dask://node:5"), "dask://node:5")
    ),
    "rcp": Source(None, ('"a.json"', "a.json"), ("b.json", "b.json"), (("--rcp", "c.json"), "c.json")),
    "rcp-points": Source(
        "published", ('"deadline"', "deadline"), ("newest", "newest"), (("--rcp-points", "deadline"), "deadline")
    ),
    "rcp-bert-train-samples": Source(None, ("true", True), ("0", False), (("--no-rcp-bert-train-samples",), False)),
    "cache": Source(True, ("false", False), ("true", True), (("--no-cache",), False)),
    "cache-dir": Source(None, None, ("b", "b"), (("--cache-dir", "c"), "c")),
    "cache-size": Source(None, None, ("4", 4), (("--cache-size", "5"), 5)),
    "baseline": Source(None, ('"a"', "a"), ("b", "b"), (("--baseline", "c"), "c")),
}
#: Options of the same name as a setting that ask for something else.
OTHERS = {
    *((command, "--round") for command in ("demo", "init", "rules list", "schema")),
    *((command, "--usage") for command in ("init", "schema")),
    *((command, "--format") for command in ("system capture", "watch")),
    ("fix", "--select"),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MLSUB_")]:
        monkeypatch.delenv(name)


def settings(text: str, folder: Path = Path(), name: str = "mlsub.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def shown(*words: str) -> dict[str, tuple[Any, str]]:
    """What --show-settings says: value and source of each setting."""
    outcome = run("check", "--show-settings", "--format", "json", *words)
    assert outcome.status == 0, outcome.stderr
    answer_schema("check settings").validate(outcome.document)
    return {one["name"]: (one["value"], one["source"]) for one in outcome.document["settings"]}


def reports(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.status in (0, 1), outcome.stderr
    return outcome.reports


@pytest.mark.parametrize("name", PRECEDENCE)
def test_the_command_line_wins_over_the_environment_over_the_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PRECEDENCE[name]
    variable = f"MLSUB_{name.upper().replace('-', '_')}"
    assert shown()[name] == (source.default, "default")
    of_file = (source.default, "default")
    if source.file is not None:
        settings(f"# ours\n\n{name} = {source.file[0]}\n")
        of_file = (source.file[1], "mlsub.toml")
    assert shown()[name] == of_file
    monkeypatch.setenv(variable, source.variable[0])
    assert shown()[name] == (source.variable[1], variable)
    assert shown(*source.option[0])[name] == (source.option[1], f"--{name}")
    assert shown("--isolated")[name] == (source.default, "default")
    monkeypatch.setenv(variable, "")
    assert shown()[name] == of_file


def test_every_setting_is_in_the_table_or_of_files_alone() -> None:
    in_files = {name for name, source in PRECEDENCE.items() if source.file is not None}
    assert {*in_files, "format", "per-path-ignores", "waivers"} == NAMES
    assert set(NOT_IN_FILES) == set(PRECEDENCE) - in_files
    assert {*FORMATS, *CI_FORMATS} == set(formats())


def test_every_option_with_the_name_of_a_setting_is_one_in_every_command() -> None:
    taken, apart = set(), set()
    for name, command in leaves().items():
        for param in command.params:
            for flag in param.opts if isinstance(param, click.Option) else ():
                if flag.removeprefix("--") in (*NAMES, *NOT_IN_FILES):
                    (taken if isinstance(param, Setting) else apart).add((name, flag))
    assert apart <= OTHERS
    assert {command for command, _ in taken} >= {"check", "score", "review", "rcp margin", "db build", "site", "audit"}
    for name in {command for command, _ in taken}:
        assert {"--config", "--isolated"} <= {flag for param in leaves()[name].params for flag in param.opts}


def test_the_format_is_a_setting_of_the_commands_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings('format = "json"\n')
    assert run("rcp", "show", "bert", "--round", "1.0").document["command"] == "rcp show"
    assert run("rcp", "show", "bert", "--round", "1.0", "--format", "text").stdout.startswith("bert, training")
    run("rcp", "show", "bert", "--round", "1.0", "-o", "points.txt")
    assert Path("points.txt").read_text().startswith("bert, training"), "the name of a file says more"
    tree = make_tree(Path())
    run("check", tree.folder, "-o", "answer.sarif")
    assert json.loads(Path("answer.sarif").read_text())["version"] == "2.1.0"
    assert run("check", tree.folder, "-o", "other.md").document["command"] == "check"
    monkeypatch.setenv("MLSUB_FORMAT", "sarif")
    assert run("check", tree.folder).document["version"] == "2.1.0"
    assert run("rcp", "show", "bert", "--round", "1.0").document["command"] == "rcp show"
    monkeypatch.setenv("MLSUB_FORMAT", "sraif")
    outcome = run("rcp", "show", "bert", "--round", "1.0")
    assert outcome.status == 2
    assert "MLSUB_FORMAT: 'sraif' is not one of" in outcome.stderr


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("MLSUB_JOBS", "many", "MLSUB_JOBS: 'many' is not a valid integer range."),
        ("MLSUB_JOBS", "0", "MLSUB_JOBS: 0 is not in the range x>=1."),
        ("MLSUB_STRICT", "perhaps", "MLSUB_STRICT: 'perhaps' is not a valid boolean."),
        ("MLSUB_RCP_POINTS", "first", "MLSUB_RCP_POINTS: 'first' is not one of"),
        ("MLSUB_CONFIG", "nowhere.toml", "nowhere.toml:1: cannot be read: No such file or directory"),
    ],
)
def test_a_variable_without_a_value_is_named(
    variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    outcome = run("check", "--show-settings")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr


def test_a_misspelled_variable_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLSUB_ROUDN", "5.1")
    assert "MLSUB_ROUDN is not a setting. Did you mean MLSUB_ROUND?" in run("check", "--show-settings").stdout


def test_what_is_shown_fits_a_terminal() -> None:
    settings('ignore = ["seed"]\n[[waivers]]\nrule = "rcp.too-fast"\npath = "v5.1"\nreason = "an appeal"\n')
    text = run("check", "--show-settings").stdout
    assert text.startswith(f"Settings of mlsub check\n\nSettings file: {Path.cwd() / 'mlsub.toml'}\n")
    assert "rcp.too-fast in v5.1: an appeal  mlsub.toml" in text
    assert run("check").stderr.endswith("Error: Missing argument 'PATH...'.\n")


# Each setting does what its option does.


def tree_without_round() -> Tree:
    return make_tree(Path(), "somewhere")


def test_round_and_usage() -> None:
    tree = tree_without_round()
    assert run("check", tree.folder).status == 2
    settings('round = "1.0"\n')
    assert check(tree.folder).report["round"] == "1.0"
    assert (run("score", tree.folder).status, run("review", tree.folder).status) == (0, 0)
    settings('round = "1.0"\nusage = "rehearsal"\n')
    assert check(tree.folder).report["usage"] == "rehearsal"


def test_rules_are_relative_to_the_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path / "repo")
    (tmp_path / "repo" / "house").mkdir()
    (tmp_path / "repo" / "house" / "rules.yaml").write_text(HOUSE)
    settings('rules = "house/rules.yaml"\n', tmp_path / "repo")
    outcome = check(tree.folder)
    assert outcome.status == 1
    assert "house.acme_ticket.count" in outcome.rules()
    monkeypatch.chdir(tree.folder)
    assert "house.acme_ticket.count" in check("results").rules()


def test_select_ignore_and_strict() -> None:
    tree = make_tree(Path())
    tree.describe(cooling="TODO")
    everything = check(tree.folder).rules()
    assert "system.placeholder" in everything
    settings('ignore = ["system.placeholder"]\nstrict = true\n')
    outcome = check(tree.folder)
    assert outcome.rules() == everything - {"system.placeholder"}
    assert outcome.report["hidden"] == [{"by": "ignore", "findings": 1}]
    assert "hidden: 1 finding (1 by ignore)" in run("check", tree.folder).stdout
    assert check(tree.folder, "--ignore", "nothing", "--isolated").status == 2
    settings('select = ["seed"]\nstrict = true\n')
    assert check(tree.folder).rules() == set()
    settings("strict = true\n")
    assert (check(tree.folder).status, check(tree.folder, "--no-strict").status) == (1, 0)
    assert run("system", "check", tree.description(), "--round", "1.0").status == 1


def test_ignores_by_path() -> None:
    tree = make_tree(Path())
    tree.describe(cooling="TODO")
    tree.add_system("rack2", cooling="TODO")
    tree.add_entry(system="rack2")
    settings('[per-path-ignores]\n"v1.0/*/systems/rack2.json" = ["system."]\n')
    outcome = check(tree.folder)
    assert [one["path"] for one in outcome.of("system.placeholder")] == ["systems/rack1.json"]
    assert outcome.report["hidden"] == [{"by": "per-path-ignores", "findings": 1}]
    # The same wherever the check begins.
    assert check("v1.0").report["hidden"] == [{"by": "per-path-ignores", "findings": 1}]
    assert check("v1.0", "--isolated").report["hidden"] == []


def test_reference_points_and_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(Path(), "v4.0", benchmarks=("bert",))
    assert check(tree.folder).report["entries"][0]["rcp"]["reference_points"] == "published"
    settings('rcp-points = "deadline"\nrcp-bert-train-samples = true\njobs = 1\n')
    asked: list[int | None] = []
    real = executors.open_pool
    monkeypatch.setattr(executors, "open_pool", lambda of, size: asked.append(of.jobs) or real(of, size))
    rcp = check(tree.folder).report["entries"][0]["rcp"]
    assert (rcp["reference_points"], rcp["counted"], asked) == ("deadline", "train_samples", [1])
    settings('rcp = "own.json"\n')
    outcome = check(tree.folder)
    assert outcome.rules() == {"check.broken-reference"}
    assert "own.json" in json.dumps(outcome.document)


@pytest.mark.parametrize(
    ("file", "environment", "words", "expected"),
    [
        ("jobs = 3\nexecutor = 'dask://node:4'\n", {}, (), (3, None)),
        ("", {"MLSUB_JOBS": "4", "MLSUB_EXECUTOR": "dask://node:4"}, (), (4, "dask://node:4")),
        ("jobs = 3\n", {"MLSUB_EXECUTOR": "dask://node:4"}, (), (None, "dask://node:4")),
        ("jobs = 3\n", {"MLSUB_EXECUTOR": "dask://node:4"}, ("--jobs", "5"), (5, None)),
        ("", {"MLSUB_EXECUTOR": "dask://node:3"}, ("--jobs", "5"), (5, None)),
        ("jobs = 3\n", {}, ("--executor", "dask://node:5"), (None, "dask://node:5")),
    ],
)
def test_the_closer_one_of_jobs_and_executor_counts(
    file: str,
    environment: dict[str, str],
    words: tuple[str, ...],
    expected: tuple[int | None, str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = make_tree(Path())
    settings(file)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    asked: list[tuple[int | None, str | None]] = []

    def noted(context: Context, _: int) -> AbstractContextManager[executors.Pool]:
        asked.append((context.jobs, context.executor))
        return nullcontext(executors.Pool(executors.InlineExecutor(), 0))

    monkeypatch.setattr(executors, "open_pool", noted)
    assert check(tree.folder, *words).status == 0
    assert asked == [expected]


def test_jobs_and_executor_must_not_contradict() -> None:
    tree = make_tree(Path())
    for command in ("check", "score", "review"):
        outcome = run(command, tree.folder, "--jobs", "2", "--executor", "dask://node:3")
        assert (outcome.status, outcome.stdout) == (2, "")
        assert outcome.stderr.endswith("--jobs 2 contradicts --executor dask://node:3. Leave one out.\n")
    assert "There is no executor cloud:3" in run("check", tree.folder, "--executor", "cloud:3").stderr


# Which file it is.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mlsub.toml", "jobs = 2\n"),
        (".mlsub.toml", "jobs = 2\n"),
        ("pyproject.toml", "[project]\nname = 'x'\n[tool.mlsub]\njobs = 2\n"),
        ("pyproject.toml", "[tool]\nmlsub.jobs = 2\n"),
        ("pyproject.toml", "tool = {mlsub = {jobs = 2}}\n"),
    ],
)
def test_three_names(name: str, text: str) -> None:
    settings(text, name=name)
    assert shown()["jobs"] == (2, name)


def test_the_nearest_file_counts_and_only_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    settings("jobs = 2\nstrict = true\n")
    settings("[project]\nname = 'not ours'\n", tmp_path / "a", "pyproject.toml")
    assert shown("a/b")["jobs"] == (2, "mlsub.toml")
    settings("jobs = 3\n", tmp_path / "a")
    assert shown("a/b")["jobs"] == (3, "a/mlsub.toml")
    assert shown("a/b")["strict"] == (False, "default"), "files are not merged"
    # Several paths: from the folder that they have in common.
    assert shown("a/b", ".")["jobs"] == (2, "mlsub.toml")
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert shown()["jobs"] == (3, "../mlsub.toml")
    # A path that does not exist has folders above it all the same.
    assert shown("nothing/there")["jobs"] == (3, "../mlsub.toml")


def test_named_files_and_none(monkeypatch: pytest.MonkeyPatch) -> None:
    settings("jobs = 2\n")
    settings("jobs = 3\n", name="other.toml")
    assert shown("--config", "other.toml")["jobs"] == (3, "other.toml")
    monkeypatch.setenv("MLSUB_CONFIG", "other.toml")
    assert shown()["jobs"] == (3, "other.toml")
    assert shown("--config", "mlsub.toml")["jobs"] == (2, "mlsub.toml")
    monkeypatch.setenv("MLSUB_ISOLATED", "1")
    assert shown()["jobs"] == (None, "default")
    assert run("check", "--isolated", "--config", "other.toml", ".").status == 2
    settings("", name="pyproject.toml")
    assert "pyproject.toml:1: has no table [tool.mlsub]" in run("check", "--config", "pyproject.toml", ".").stderr


@pytest.mark.parametrize("name", ["mlsub.toml", ".mlsub.toml", "pyproject.toml"])
def test_a_file_that_comes_with_a_package_is_never_used(name: str, tmp_path: Path) -> None:
    """A competitor's package must not choose the rules by which it is reviewed, nor break the review."""
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    for where in (".", "results", "results/rack1/resnet", "systems"):
        for text in ('[tool.mlsub]\nignore = ["key", "entry"]\nround = "0.7"\n', "[tool.mlsub\n"):
            file = settings(text, tree.folder / where, name)
            for path in (tree.folder, tree.entry(), tree.log(), tree.description(), tmp_path / "v1.0"):
                assert find_settings([str(path)]) == (None, file if path.is_relative_to(file.parent) else None)
        file.unlink()
    file = settings('[tool.mlsub]\nignore = ["key"]\nround = "0.7"\n', tree.folder / "results", name)
    outcome = check(tree.entry(), "--select", "key")
    assert (outcome.status, outcome.report["round"], outcome.rules()) == (1, "1.0", {"key.eval_accuracy.target"})
    said = run("check", tree.entry()).stderr
    assert said.startswith(f"mlsub check: {file} lies in a package and is not used; --config")


CONNECTS = """
executor = "dask://127.0.0.1:{port}"
cache-dir = "made"
cache-size = 1
"""
PASSED_OVER = (
    "passed over: executor, cache-dir, cache-size; set them with options, or MLSUB_EXECUTOR, MLSUB_CACHE_DIR, "
    "MLSUB_CACHE_SIZE"
)


@pytest.mark.parametrize("name", ["mlsub.toml", ".mlsub.toml", "pyproject.toml"])
def test_a_file_above_an_unsealed_package_makes_nothing_connect_or_write(name: str, tmp_path: Path) -> None:
    """Whoever answers as a scheduler of Dask sends pickled objects, so a connection would be enough to run code."""
    tree = make_tree(tmp_path / "sent")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        table = "[tool.mlsub]" if name == "pyproject.toml" else ""
        file = settings(table + CONNECTS.format(port=listening.getsockname()[1]), tree.folder.parent, name)
        sealed = run("seal", tree.folder.parent, "-o", "sealed.tar.gz", "--no-encryption", "--isolated")
        assert sealed.status == 0, sealed.stderr
        outcome = run("unseal", "sealed.tar.gz", "-o", "got", "--format", "json")
        assert outcome.document["opened"]["settings"] == [f"got/v1.0/{name}"]
        there = set(tmp_path.rglob("*"))
        text = run("unseal", "sealed.tar.gz", "-o", "again").stdout
        assert f"- again/v1.0/{name}" in text.splitlines()
        shutil.rmtree("again")
        for words in (["check"], ["score"], ["review"], ["status"], ["check", "--config", str(file)]):
            expected = run(*words[:1], "got/v1.0/ACME", "--isolated")
            outcome = run(*words, "got/v1.0/ACME")
            said = [line for line in outcome.stderr.splitlines() if "passed over" in line]
            used = Path(os.path.relpath(file)) if "--config" in words else Path("got/v1.0", name)
            assert said == [f"mlsub {words[0]}: {used}: {PASSED_OVER}"]
            assert outcome.status == expected.status
        assert set(tmp_path.rglob("*")) == there
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_a_baseline_of_a_settings_file_is_read_and_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(Path())
    settings('baseline = "known.json"\n')
    outcome = run("check", tree.folder, "--write-baseline")
    assert (outcome.status, Path("known.json").exists()) == (2, False)
    assert outcome.stderr.endswith("Error: --write-baseline needs --baseline FILE, or MLSUB_BASELINE.\n")
    monkeypatch.setenv("MLSUB_BASELINE", "known.json")
    assert run("check", tree.folder, "--write-baseline").status == 0
    monkeypatch.delenv("MLSUB_BASELINE")
    assert check(tree.folder).status == 0
    Path("known.json").unlink()
    assert "There is no baseline known.json." in run("check", tree.folder).stderr


def test_unseal_names_the_settings_files_at_any_depth_and_no_other(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    deep = tree.folder / "benchmarks" / "deep"
    deep.mkdir(parents=True)
    settings("[tool.mlsub]\n", deep, "pyproject.toml")
    settings("[tool.ruff]\n", tree.folder, "pyproject.toml")
    settings("", tree.folder, ".mlsub.toml")
    settings("", tree.folder / "results", "MLSUB.toml")
    (deep / "mlsub.toml").symlink_to("pyproject.toml")
    assert run("seal", tree.folder, "-o", "sealed", "--no-encryption", "--even-rejected", "--even-unfilled").status == 0
    outcome = run("unseal", "sealed", "-o", "got", "--format", "json")
    assert outcome.document["opened"]["settings"] == [
        "got/ACME/.mlsub.toml",
        "got/ACME/benchmarks/deep/mlsub.toml",
        "got/ACME/benchmarks/deep/pyproject.toml",
        "got/ACME/results/MLSUB.toml",
    ]


def test_a_package_in_a_package_changes_nothing(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    settings('ignore = ["key"]\n', tree.folder)
    (tree.folder / "results" / "results").mkdir()
    assert find_settings([str(tree.entry())]) == (None, tree.folder / "mlsub.toml")


def test_the_search_ends_at_a_repository_at_home_and_where_anyone_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    file = settings("jobs = 2\n", tmp_path)
    assert find_settings([str(below)])[0] == file
    for mode in (0o1777, 0o777, 0o757):
        (tmp_path / "a").chmod(mode)
        assert find_settings([str(below)])[0] is None
    (tmp_path / "a").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "a"))
    assert find_settings([str(below)])[0] is None
    own = settings("jobs = 2\n", tmp_path / "a")
    assert find_settings([str(below)])[0] == own
    monkeypatch.setenv("HOME", "/")
    own.unlink()
    (tmp_path / "a" / ".git").mkdir()
    assert find_settings([str(below)])[0] is None


def test_the_answer_names_the_file(tmp_path: Path) -> None:
    tree = make_tree(Path())
    assert check(tree.folder).document["settings"] is None
    settings('jobs = 1\nignore = ["seed"]\n')
    for format_ in ("text", "markdown", "html"):
        assert "settings: mlsub.toml (jobs, ignore)" in run("check", tree.folder, "--format", format_).stdout
    assert check(tree.folder).document["settings"] == str(tmp_path / "mlsub.toml")
    tree.describe(cooling="TODO")
    settings('ignore = ["system."]\n')
    said = "mlsub check: settings: mlsub.toml (ignore)\nmlsub check: hidden: 1 finding (1 by ignore)\n"
    assert run("check", tree.folder, "--format", "sarif").stderr == said
    settings("jobs = 1\n")
    assert run("score", tree.folder).stderr == "mlsub score: settings: mlsub.toml (jobs)\n"
    assert run("rules", "list").stderr == ""
    # What a verdict may depend on is named with its value, and only where it is in force.
    settings('round = "1.0"\nstrict = true\n[per-path-ignores]\nx = ["seed"]\n')
    said = "settings: mlsub.toml (round 1.0, strict, per-path-ignores)\n"
    assert run("check", tree.folder).stdout.startswith(said)
    assert run("check", tree.folder, "--round", "1.0", "--no-strict").stdout.startswith(
        "settings: mlsub.toml (per-path-ignores)\n"
    )


def test_truncation_takes_no_round_from_settings(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    settings('round = "1.0"\n')
    assert run("fix", tree.folder, "--truncate").status == 0
    assert run("fix", tree.folder, "--truncate", "--round", "1.0").status == 2
