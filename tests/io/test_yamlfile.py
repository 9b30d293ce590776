"""What the one loader of YAML refuses, for each kind of document that people write: file, line, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mlsub.commands.audit.read import read_claims
from mlsub.commands.demo.run import read_manifest as read_rehearsal
from mlsub.io import read as module
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import read_tree
from mlsub.packing.read import read_manifest
from mlsub.rules.overlay import check_overlay
from tools.support.make_tree import make_tree
from tools.support.runner import run

#: Each reader, and the first line of a document of its kind that a second one can follow.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "manifest": (read_manifest, "organisation: ACME"),
    "claims": (read_claims, "claims_version: 1"),
    "overlay": (check_overlay, "title: House rules"),
    "rehearsal": (read_rehearsal, "organisation: ACME"),
}
#: A second line, and what is said of it. ``KIND`` is what the documents are called.
REFUSED = {
    "x: !!bool ${x}": "'${x}' is not a value of the kind !!bool",
    "x: !!int 1.5": "'1.5' is not a value of the kind !!int",
    "x: !!float x": "'x' is not a value of the kind !!float",
    "x: !!binary QUJD": "'QUJD' with the tag !!binary is not plain data",
    "x: !!python/object:os.system ls": "'ls' with the tag !!python/object:os.system is not plain data",
    "x: =": "'=' with the tag !!value is not plain data; put it in quotes",
    "[a]: 1": "a key must be text, not a list or a mapping",
    "{a: b}: 1": "a key must be text, not a list or a mapping",
    "x: {[a]: 1}": "a key must be text, not a list or a mapping",
    "!mine x: 1": "the tag !mine is not allowed in KIND",
    "!!python/name:os.system x: 1": "the tag !!python/name:os.system is not allowed in KIND",
    "!!binary eA==: 1": "the tag !!binary is not allowed in KIND",
    "x: !!set {a}": "the tag !!set is not allowed in KIND",
    "x: !mine [a]": "the tag !mine is not allowed in KIND",
    "<<: {a: 1}": "merge keys (<<) are not allowed in KIND",
    "x: *a": "aliases (*name) are not allowed in KIND",
    f"x: {'9' * 5000}": "a number with too many digits",
    f"x: 1{':1' * 400}": "a number with too many digits",
    'x: "\\ud800"': "a surrogate (\\ud800 to \\udfff) is not a character",
    '"\\ud800": x': "a surrogate (\\ud800 to \\udfff) is not a character",
    'x: "\\U99999999"': "not YAML: ",
    "x: @a": "not YAML: found character '@' that cannot start any token",
    "x: \x07": "not YAML: special characters are not allowed",
    "x: " + "[" * 200: "not YAML: nested too deeply",
}
KINDS = {
    "manifest": "manifests",
    "claims": "claims files",
    "overlay": "rule files",
    "rehearsal": "manifests",
}


def problems(read: Callable[[Path], object], file: Path, text: str) -> list[tuple[int, str]]:
    file.write_text(text)
    with pytest.raises(FileProblemsError) as raised:
        read(file)
    assert {problem.path for problem in raised.value.problems} == {str(file)}
    return [(problem.line, problem.message) for problem in raised.value.problems]


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[:30])
@pytest.mark.parametrize("kind", READERS)
def test_what_is_not_plain_data_is_refused_with_its_line(kind: str, line: str, tmp_path: Path) -> None:
    reader, first = READERS[kind]
    [(number, message)] = problems(reader, tmp_path / "x.yaml", f"{first}\n{line}\n")
    assert (number, message[: len(REFUSED[line])]) == (2, REFUSED[line]) or (
        (number, message) == (2, REFUSED[line].replace("KIND", KINDS[kind]))
    )


def test_a_file_of_more_keys_and_values_than_anyone_writes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_NODES", 1_000)
    file = tmp_path / "x.yaml"
    file.write_text("a:\n" + "- b\n" * 997)
    assert len(read_tree(file, kind="files", top="a").content()["a"]) == 997
    reading = partial(read_tree, kind="files", top="a")
    assert problems(reading, file, "a:\n" + "- b\n" * 998) == [(999, "more than 1,000 keys and values")]


@pytest.mark.parametrize("date", ["2021-02-31", "2021-13-01", "0000-01-01", "2001-01-01 00:00:00 +99:99"])
def test_a_date_that_no_calendar_has_is_text_until_somebody_asks_for_a_date(date: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    for written in (date, f"!!timestamp {date}"):
        file.write_text(f"a: {written}\n{date}: !!timestamp x\n")
        assert read_tree(file, kind="files", top="a").content() == {"a": date, date: "x"}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            "claims",
            "claims_version: 1\nsource:\n  title: A post\n  date: 2021-02-31\nclaims: []\n",
            (4, "source.date: '2021-02-31' is not a day"),
        ),
        (
            "overlay",
            "title: House rules\ncommon:\n  2021-02-31: {both: {}}\n",
            (3, "common.2021-02-31: '2021-02-31' is not a round"),
        ),
        ("overlay", 'title: 2021-13-01\ncommon: {"1.0": {both: {seed: {equals: 2021-13-01, above: x}}}}\n', (2, "")),
    ],
)
def test_impossible_dates_where_they_matter(kind: str, text: str, expected: tuple[int, str], tmp_path: Path) -> None:
    found = problems(READERS[kind][0], tmp_path / "x.yaml", text)
    assert found[0][0] == expected[0] and found[0][1].startswith(expected[1]), found


DEMANDS = {
    "{multiple_of: null}": "",
    "{multiple_of: =1+}": ".multiple_of: formula '=1+': ",
    "{multiple_of: '=1+'}": ".multiple_of: formula '=1+': ",
    "{multiple_off: 8}": ".multiple_off: unknown word. Did you mean multiple_of?",
    "{any_of: [{multiple_of: null}, {above: 0}]}": "",
    "{any_of: [{multiple_off: 8}, {above: 0}]}": ".any_of.0.multiple_off: unknown word. Did you mean multiple_of?",
    "{any_of: [{where: 3, above: 1}, {above: 0}]}": "",
    "{any_of: [{where: =x +, above: 1}, {above: 0}]}": ".any_of.0.where: formula '=x +': ",
    "{item: {index: 0, multiple_off: 8}}": ".item.multiple_off: unknown word. Did you mean multiple_of?",
    "{item: {index: 0, multiple_of: null}}": "",
    "{item: {index: 0}}": "",
    "{length: {multiple_off: 8}}": ".length.multiple_off: unknown word. Did you mean multiple_of?",
    "{whole_part: {whole_part: {multiple_off: 8}}}": ".whole_part.whole_part.multiple_off: unknown word",
    "{metadata: {a: {any_of: [{abov: 1}, {above: 0}]}}}": ".metadata.a.any_of.0.abov: unknown word. Did you mean above",
    "{satisfies: {equation: 'value ==', value: x}}": ".satisfies.equation: formula 'value ==': ",
    "{tensors: ['{0..999999999999}']}": ": not a rule: more than 100000 names",
    "{tensors: ['{0..9}{0..9}{0..9}{0..9}{0..9}{0..9}']}": ": not a rule: more than 100000 names",
    "{tensors: ['{a..b}']}": ": not a rule: invalid literal",
}


@pytest.mark.parametrize("demand", DEMANDS)
def test_a_demand_that_is_no_rule_is_refused_before_any_log_is_read(demand: str, tmp_path: Path) -> None:
    text = f'title: House rules\ncommon:\n  "1.0":\n    both:\n      seed: {demand}\n'
    [(line, message)] = problems(check_overlay, tmp_path / "x.yaml", text)
    assert line == 5 and message.startswith(f"common.1.0.both.seed{DEMANDS[demand]}"), message


def test_a_number_is_a_demand(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("title: t\ncommon:\n  1.0:\n    both: {seed: {any_of: [{multiple_of: 8}, {equals: 1001}]}}\n")
    outcome = run("check", make_tree(tmp_path).folder, "--rules", file)
    # An unquoted round is a number to YAML, and means the round here.
    assert outcome.status == 1 and "[house.seed.value]" in outcome.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("k" * 400, "a benchmark's name has up to 100 characters"),
        ("common", "common is not a benchmark"),
        ("catalogue", "no key has a quality target"),
        ("keys", "no key has a quality target"),
    ],
)
def test_a_benchmark_of_an_overlay_never_becomes_the_name_of_a_file(name: str, said: str, tmp_path: Path) -> None:
    text = (
        f'title: t\nrounds:\n  "9.0": {{ruleset: 9.0.0, benchmarks: [{name}]}}\nbenchmarks:\n'
        f'  {name}: {{title: t, "9.0": {{runs: 3, closed: {{}}}}}}\n'
    )
    [(_, message)] = problems(check_overlay, tmp_path / "x.yaml", text)
    assert said in message


def test_a_benchmark_that_only_a_round_names_never_becomes_the_name_of_a_file(tmp_path: Path) -> None:
    text = f'title: t\nrounds:\n  "9.0": {{ruleset: 9.0.0, benchmarks: [{"k" * 400}]}}\n'
    [(_, message)] = problems(check_overlay, tmp_path / "x.yaml", text)
    assert "is missing under benchmarks" in message and len(message) < 700


def test_a_note_of_a_key_without_a_rule_stops_no_check(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text('title: t\nbenchmarks:\n  resnet:\n    "1.0": {notes: {seed: why}, both: {}}\n')
    assert run("check", make_tree(tmp_path).folder, "--rules", file).status == 0


def test_of_many_flaws_a_hundred_are_reported(tmp_path: Path) -> None:
    lines = "\n".join(f"k{number}: !mine x" for number in range(500))
    found = problems(read_claims, tmp_path / "x.yaml", f"claims_version: 1\n{lines}\n")
    assert [line for line, _ in found] == list(range(2, 103))
    assert found[-1][1] == "and 400 more problems"
