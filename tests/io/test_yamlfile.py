"""What the one loader of YAML refuses of each kind of document that people write, and that it takes those that ship."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from mlsub.commands.audit.read import read_claims
from mlsub.commands.demo.run import read_rehearsal
from mlsub.io import read as module
from mlsub.io.data import load_yaml
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import read_tree
from mlsub.packing.read import read_manifest
from mlsub.rounds import get_round, known_rounds, overlay_content, usages
from mlsub.rules.engine import compiled_rules
from mlsub.rules.overlay import check_overlay
from tools.support.make_tree import make_tree
from tools.support.runner import REPOSITORY, run

#: Each reader, the first line of a document of its kind that a second one can follow, and what these are called.
READERS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "manifest": (read_manifest, "organisation: ACME", "manifests"),
    "claims": (read_claims, "claims_version: 1", "claims files"),
    "overlay": (check_overlay, "title: House rules", "rule files"),
    "rehearsal": (read_rehearsal, "organisation: ACME", "manifests"),
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


def problems(read: Callable[[Path], object], file: Path, text: str) -> list[tuple[int, str]]:
    file.write_text(text)
    with pytest.raises(FileProblemsError) as raised:
        read(file)
    assert {problem.path for problem in raised.value.problems} == {str(file)}
    return [(problem.line, problem.message) for problem in raised.value.problems]


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[:30])
@pytest.mark.parametrize("kind", READERS)
def test_what_is_not_plain_data_is_refused_with_its_line(kind: str, line: str, tmp_path: Path) -> None:
    reader, first, called = READERS[kind]
    [(number, message)] = problems(reader, tmp_path / "x.yaml", f"{first}\n{line}\n")
    wanted = REFUSED[line].replace("KIND", called)
    assert (number, message if called in wanted else message[: len(wanted)]) == (2, wanted)


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


IMPOSSIBLE = [
    (
        "claims",
        "claims_version: 1\nsource:\n  title: x\n  date: 2021-02-31\nclaims: []\n",
        4,
        "source.date: '2021-02-31' is not a day",
    ),
    ("overlay", "title: x\ncommon:\n  2021-02-31: {both: {}}\n", 3, "common.2021-02-31: '2021-02-31' is not a round"),
    ("overlay", 'title: 2021-13-01\ncommon: {"1.0": {both: {seed: {equals: 2021-13-01, above: x}}}}\n', 2, ""),
]


@pytest.mark.parametrize(("kind", "text", "line", "said"), IMPOSSIBLE)
def test_impossible_dates_where_they_matter(kind: str, text: str, line: int, said: str, tmp_path: Path) -> None:
    (number, message), *_ = problems(READERS[kind][0], tmp_path / "x.yaml", text)
    assert number == line and message.startswith(said), message


DEMANDS = load_yaml(Path(__file__).with_name("flaws.yaml"))["demands"]


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
        ("rules", "no key has a quality target"),
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


# The documents of people that ship, and those of the docs, are taken by their readers.

SUBMISSIONS = REPOSITORY / "submissions"
RULES = REPOSITORY / "mlsub" / "rules"


def quoted(page: str) -> list[str]:
    """The YAML documents of a page of the docs."""
    return re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / page).read_text(), re.DOTALL)


def manifests() -> Iterator[str]:
    yield from (file.read_text() for file in sorted(SUBMISSIONS.glob("*/submission.yaml")))
    yield (
        'organisation: ACME\nround: "1.0"\ndivision: closed\n'
        "systems:\n  rack1: ${HOME:-/tmp}/rack1.json\n"
        "entries:\n  - {system: rack1, benchmark: resnet, runs: [a.txt, b], implementation: x, choose: all}\n"
        "code:\n  - {benchmark: resnet, implementation: x, folder: src}\n"
        "files:\n  - {from: README.md, to: docs/README.md}\n"
        "waivers:\n  - {rule: seed.shared, entry: rack1/resnet, reason: known to the committee, expires: 2030-01-31}\n"
    )


def claims() -> Iterator[str]:
    yield from (file.read_text() for file in sorted(SUBMISSIONS.glob("*/claims.yaml")))
    yield from (text for text in quoted("claims.md") if "claims_version:" in text)


def overlays() -> Iterator[str]:
    yield from quoted("overlay.md")
    for file in sorted(RULES.glob("*.yaml")):
        body = file.read_text().partition("\nrounds:\n")[2]
        if file.stem == "common":
            yield f"title: House rules\ncommon:\n{body}"
        for usage in usages():
            if file.stem in {name for round_ in known_rounds(usage) for name in get_round(usage, round_).benchmarks}:
                body = re.sub(r"^(?=.)", "  ", body, flags=re.MULTILINE)
                yield f"title: House rules\nusage: {usage}\nbenchmarks:\n  {file.stem}:\n{body}"
                break


def use_overlay(file: Path) -> None:
    """Check an overlay file, and put its rules together for every round and benchmark that it names."""
    overlay = check_overlay(file)
    content = overlay_content(overlay)
    usage = content.get("usage", "training")
    added = content.get("rounds") or {}
    named = [content.get("common") or {}, *(content.get("benchmarks") or {}).values(), added]
    for name in {round_ for part in named for round_ in part if round_ != "title"}:
        benchmarks = set(content.get("benchmarks") or {}) & set(get_round(usage, name, overlay).benchmarks)
        for benchmark in (None, *benchmarks):
            for division in ("closed", "open"):
                compiled_rules(usage, name, division, benchmark, overlay, house=name not in added)


def use_manifest(file: Path) -> None:
    read_manifest(file, {"HOME": "/home/x"})


SHIPPED: dict[str, tuple[Callable[[], Iterator[str]], Callable[[Path], object]]] = {
    "manifest": (manifests, use_manifest),
    "claims": (claims, read_claims),
    "overlay": (overlays, use_overlay),
    "rehearsal": (lambda: iter([(SUBMISSIONS / "rehearsal" / "training.yaml").read_text()]), read_rehearsal),
}


@pytest.mark.parametrize(("make", "read"), SHIPPED.values(), ids=SHIPPED)
def test_the_documents_themselves_are_taken(
    make: Callable[[], Iterator[str]], read: Callable[[Path], object], tmp_path: Path
) -> None:
    for number, text in enumerate(make()):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        read(file)
