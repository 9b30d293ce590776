"""Every record of every official rule file has its rule here, and no rule here is without an official record."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from mlsub.rounds import get_round, known_rounds
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule, Occurs
from tools.oracle.asked import Text, official_texts
from tools.oracle.oracle import OFFICIAL

GATE: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("gate.yaml").read_text())
#: Rules here whose official record has another place, with the reason.
ELSEWHERE = {("2.1", "bert", "opt_epsilon"): "gate.yaml: the checker of the day"}


class Ruleset(NamedTuple):
    """An official ruleset: its folder, and the round it is of."""

    folder: str
    usage: str
    round: str


def rulesets() -> list[Ruleset]:
    return [
        Ruleset(f"{usage}_{get_round(usage, name).ruleset}", usage, name)
        for usage in ("training", "hpc")
        for name in known_rounds(usage)
    ]


each_ruleset = pytest.mark.parametrize("ruleset", rulesets(), ids=lambda ruleset: ruleset.folder)


def records(path: Path) -> dict[str, Text]:
    """The KEY records of an official file; of two of one name the last counts."""
    return official_texts(str(path.relative_to(OFFICIAL)))


def files(ruleset: Ruleset) -> list[Path]:
    return sorted((OFFICIAL / ruleset.folder).glob("*.yaml"))


def logs_of(ruleset: Ruleset, file: Path) -> Iterator[tuple[str, str]]:
    """The (benchmark, division) pairs whose logs a file is about."""
    stem = file.stem
    benchmarks = get_round(ruleset.usage, ruleset.round).benchmarks
    division = next((name for name in ("closed", "open") if stem.startswith(f"{name}_")), None)
    rest = stem.removeprefix(f"{division}_") if division else stem
    named = [name for name in benchmarks if rest == name or rest.startswith(f"{name}_")]
    chosen = max(named, key=len) if named else None
    for name in benchmarks:
        if rest == "common" or name == chosen:
            for side in (division,) if division else ("closed", "open"):
                yield name, side


def rules_here(ruleset: Ruleset, benchmark: str, division: str) -> dict[str, KeyRule]:
    rules = rules_for(ruleset.usage, ruleset.round, division, benchmark)
    return {rule.key: rule for rule in (*rules.variants, *rules.rules)}


def excused(ruleset: Ruleset, file: Path, key: str) -> bool:
    name = f"{ruleset.folder}/{file.name}"
    return any(fnmatchcase(name, line["file"]) and fnmatchcase(key, line["key"]) for line in GATE)


def demanded(record: Text) -> str:
    """How often a record wants its key, in the words of the rules here."""
    text = record.required
    if text.startswith("AT_LEAST("):
        return Occurs(at_least=int(text[9:-1])).words()
    return {"EXACTLY_ONE": Occurs(exactly_one=True).words(), "AT_LEAST_ONE": Occurs(at_least=1).words()}.get(
        text, Occurs().words()
    )


def overridden(ruleset: Ruleset, benchmark: str, division: str, file: Path, key: str) -> bool:
    """Whether a later file has a record of the key, which then replaces this one."""
    if ruleset.round == "0.6":
        return file.stem == "common" and (benchmark == "minigo" or key in records(file.with_stem(benchmark)))
    order = ["common", f"{division}_common", f"{division}_{benchmark}"]
    if file.stem not in order:
        return False
    later = (file.with_stem(stem) for stem in order[order.index(file.stem) + 1 :])
    return any(key in records(other) for other in later if other.is_file())


@each_ruleset
def test_every_official_record_has_its_rule_here(ruleset: Ruleset) -> None:
    seen, missing = 0, []
    for file in files(ruleset):
        for key, record in records(file).items():
            if excused(ruleset, file, key):
                continue
            pairs = list(logs_of(ruleset, file))
            assert pairs, f"{file.name} is of no benchmark of the round; gate.yaml should say why"
            for benchmark, division in pairs:
                if overridden(ruleset, benchmark, division, file, key):
                    continue
                seen += 1
                rule = rules_here(ruleset, benchmark, division).get(key)
                words = rule.occurs.words() if rule else "no rule"
                if rule is None or (words != demanded(record) and not rule.occurs.once_where):
                    missing.append(f"{file.name}, {key}, {benchmark} {division}: {demanded(record)}, here {words}")
    assert missing == []
    assert seen > 50


@each_ruleset
def test_the_groups_of_which_one_key_must_appear_are_the_official_ones(ruleset: Ruleset) -> None:
    groups = {
        frozenset((key, record.required[16:-1]))
        for key, record in records(OFFICIAL / ruleset.folder / "common.yaml").items()
        if record.required.startswith("AT_LEAST_ONE_OR(")
    }
    benchmark = get_round(ruleset.usage, ruleset.round).benchmarks[0]
    ours = rules_for(ruleset.usage, ruleset.round, "closed", benchmark).alternatives
    assert {frozenset(group) for group in ours} == groups
    assert bool(groups) == (ruleset.round != "0.6")


@each_ruleset
def test_every_rule_here_has_its_official_record(ruleset: Ruleset) -> None:
    invented = []
    for benchmark in get_round(ruleset.usage, ruleset.round).benchmarks:
        for division in ("closed", "open"):
            about = [file for file in files(ruleset) if (benchmark, division) in set(logs_of(ruleset, file))]
            if ruleset.folder == "training_1.1.0" and division == "open":
                about.append(OFFICIAL / "training_1.0.0" / f"open_{benchmark}.yaml")
            known = {key for file in about for key in records(file)}
            for key in rules_here(ruleset, benchmark, division):
                if key not in known and (ruleset.round, benchmark, key) not in ELSEWHERE:
                    invented.append(f"{benchmark} {division}: {key}")
    assert invented == [], (
        f"no record of them in {ruleset.folder} of the installed mlperf-logging: a rule of your own is an overlay; "
        "ELSEWHERE, in this file, has rules whose record is one of a checker of another day"
    )


def test_every_line_of_the_gate_is_of_use() -> None:
    for line in GATE:
        used = [
            key
            for ruleset in rulesets()
            for file in files(ruleset)
            if fnmatchcase(f"{ruleset.folder}/{file.name}", line["file"])
            for key in records(file)
            if fnmatchcase(key, line["key"])
        ]
        assert used, line
        assert len(line["why"]) > 20


def test_no_official_ruleset_is_left_out() -> None:
    folders = {path.name for path in OFFICIAL.iterdir() if path.is_dir() and path.name.count(".") == 2}
    assert folders - {"training_0.7.0_warn"} == {ruleset.folder for ruleset in rulesets()}
