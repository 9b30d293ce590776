"""The rule files that ship: valid by their schema, complete, and of the size a reader can take in."""

from __future__ import annotations

import ast

import pytest
import yaml

from mlsub.config.load import UNWAIVABLE
from mlsub.findings import Effect, Kind, Severity
from mlsub.rounds import get_round, known_rounds, usages
from mlsub.rules.aspects import ASPECTS
from mlsub.rules.catalogue import ROOMS, catalogue, demanded_key, effects_of
from mlsub.rules.explain import rule_ids
from mlsub.rules.load import FOLDER, entry_requirements, rules_for

#: How the ids of rules begin that the code puts together, of a key of the log or the verdict on a claim.
PUT_TOGETHER = ("run.eval-samples", "claim.")
NOT_RULES = {"rules.yaml", "keys.yaml", "clauses.yaml"}
RULE_FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name not in NOT_RULES)
COMBINATIONS = [
    (usage, round_name, division, name)
    for usage in usages()
    for round_name in known_rounds(usage)
    for division in ("closed", "open")
    for name in get_round(usage, round_name).benchmarks
]


class OnceLoader(yaml.SafeLoader):
    """YAML lets a later key replace an earlier one without a word; in a rule file that is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [self.construct_object(key) for key, _ in node.value]
        doubled = {key for key in keys if keys.count(key) > 1}
        assert not doubled, f"line {node.start_mark.line + 1}: {doubled} more than once"
        return super().construct_mapping(node, deep)


def test_every_benchmark_of_a_round_has_its_file_and_names_itself() -> None:
    for _, _, _, name in COMBINATIONS:
        assert yaml.safe_load((FOLDER / f"{name}.yaml").read_text())["benchmark"] == name


def test_a_rule_file_fits_on_a_few_screens() -> None:
    lines = {path.stem: len(path.read_text().splitlines()) for path in RULE_FILES}
    assert {name: n for name, n in lines.items() if n > (200 if name == "common" else 150)} == {}


@pytest.mark.parametrize(("usage", "round_name", "division", "name"), COMBINATIONS)
def test_every_combination_loads_and_binds_the_common_rules(
    usage: str, round_name: str, division: str, name: str
) -> None:
    rules = rules_for(usage, round_name, division, name)
    assert (rules.division, rules.benchmark) == (division, name)
    keys = {rule.key for rule in rules.rules}
    assert {"run_start", "run_stop", "submission_benchmark", "init_start", "init_stop"} <= keys
    # v0.6 could not check the target, for it was not logged; Open gpt3 had no rules at first.
    unruled = round_name == "0.6" or (round_name in ("3.0", "3.1") and (name, division) == ("gpt3", "open"))
    assert any(rule.reaches for rule in rules.rules) != unruled


def test_runs_and_forgiven_runs_are_those_of_the_official_tool() -> None:
    # mlperf_logging/benchmark_meta.py and package_checker.py
    runs = {"resnet": 5, "ssd": 5, "maskrcnn": 5, "dlrm": 5, "bert": 10, "rnnt": 10, "minigo": 10, "unet3d": 40}
    for round_name in ("1.0", "1.1", "2.0", "2.1"):
        found = {name: entry_requirements("training", round_name, name) for name in runs}
        assert {name: item.runs for name, item in found.items()} == runs
        assert {name: item.forgiven for name, item in found.items()} == {**dict.fromkeys(runs, 1), "unet3d": 4}


def test_counts_agree_with_the_installed_official_tool() -> None:
    from mlperf_logging.benchmark_meta import get_allowed_benchmarks, get_result_file_counts

    for usage in ("training", "hpc"):
        counts = get_result_file_counts(usage)
        for round_name in known_rounds(usage):
            round_ = get_round(usage, round_name)
            allowed = set(get_allowed_benchmarks(usage, round_.ruleset))
            # No rules were ever written for ncf, so no log of it could be checked.
            assert set(round_.benchmarks) == allowed - {"ncf"}
            for name in round_.benchmarks:
                assert entry_requirements(usage, round_name, name).runs == counts[name]


def test_an_unknown_division_or_benchmark_leaves_the_rules_of_every_log() -> None:
    common = {rule.key for rule in rules_for("training", "1.0", None, None).rules}
    assert {rule.key for rule in rules_for("training", "1.0", "shut", "resnet").rules} == common
    closed = {rule.key for rule in rules_for("training", "1.0", "closed", "resnet50").rules}
    assert closed - common == {"submission_benchmark", "gradient_accumulation_steps"}


def test_a_benchmark_of_another_usage_is_unknown() -> None:
    with pytest.raises(KeyError):
        entry_requirements("training", "1.0", "digits")


def test_minigo_lifts_the_common_demands_in_closed_only() -> None:
    closed = {rule.key: rule for rule in rules_for("training", "1.0", "closed", "minigo").rules}
    opened = {rule.key: rule for rule in rules_for("training", "1.0", "open", "minigo").rules}
    assert not closed["train_samples"].occurs.exactly_one
    assert opened["train_samples"].occurs.exactly_one
    assert closed["block_start"].metadata == ()


def test_weight_tensors_only_warn_in_the_round_whose_checker_only_warned() -> None:
    for name in get_round("training", "1.1").benchmarks:
        rules = {rule.key: rule for rule in rules_for("training", "1.1", "closed", name).rules}
        assert set(rules["weights_initialization"].warn_only) == {"count", "tensors"}
    rnnt = {rule.key: rule for rule in rules_for("training", "1.0", "closed", "rnnt").rules}
    assert rnnt["weights_initialization"].warn_only == ()


TENSORS = {"resnet": 161, "ssd": 119, "maskrcnn": 21, "bert": 398, "dlrm": 9, "rnnt": 7, "unet3d": 50, "minigo": 48}


@pytest.mark.parametrize(("name", "count"), TENSORS.items())
def test_tensor_patterns_stand_for_the_reference_models_tensors(name: str, count: int) -> None:
    rules = {rule.key: rule for rule in rules_for("training", "1.1", "closed", name).rules}
    tensors = rules["weights_initialization"].tensors
    assert tensors is not None
    assert len(tensors) == len(set(tensors)) == count


def test_rule_ids_are_unique_and_well_formed() -> None:
    ids = rule_ids()
    assert len(ids) == len(set(ids))
    assert {name.split(".")[2] for name in ids if name.startswith("key.")} <= set(ASPECTS)
    assert yaml.load((FOLDER / "keys.yaml").read_text(), Loader=OnceLoader)  # noqa: S506


def test_every_rule_stands_once_beside_the_code_that_finds_it_broken() -> None:
    files = {file.parent.relative_to(FOLDER.parent).as_posix(): file for file in FOLDER.parent.rglob("rules.yaml")}
    assert sorted(files) == sorted(ROOMS)
    rules = {room: yaml.load(file.read_text(), Loader=OnceLoader) for room, file in files.items()}  # noqa: S506
    assert sorted(rule for room in rules.values() for rule in room) == sorted(catalogue())
    assert {rule: info.room for rule, info in catalogue().items()} == {
        rule: room for room, inside in rules.items() for rule in inside
    }
    for room, inside in rules.items():
        # A room's own code, without that of rooms within it.
        inner = [files[other].parent for other in ROOMS if other.startswith(f"{room}/")]
        modules = [file for file in files[room].parent.rglob("*.py") if not set(inner) & set(file.parents)]
        named = {
            node.value
            for module in modules
            for node in ast.walk(ast.parse(module.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert [rule for rule in inside if rule not in named and not rule.startswith(PUT_TOGETHER)] == [], room


def test_each_effect_is_of_a_rule_and_asked_for() -> None:
    assert {effect for info in catalogue().values() for effect in info.effects} == set(Effect)
    code = "".join(file.read_text() for file in FOLDER.parent.rglob("*.py"))
    assert [effect for effect in Effect if f"Effect.{effect.name})" not in code] == []


def test_effects_of_families_hold_for_each_rule_of_them() -> None:
    of_family = {
        Effect.UNWAIVABLE: UNWAIVABLE,
        Effect.UNCHECKED: ("check.",),
        Effect.LAYOUT: ("layout.",),
        Effect.DESCRIPTION: ("system.", "tree.system"),
    }
    for effect, begins in of_family.items():
        assert [rule for rule in catalogue() if (effect in effects_of(rule)) != rule.startswith(begins)] == [], effect
    for rule, info in catalogue().items():
        rejects = info.kind is Kind.OFFICIAL and info.severity is Severity.ERROR
        if rejects and rule.startswith(("log.", "seed.")):
            assert {Effect.LOG_CHECKER, Effect.DECIDES}.intersection(info.effects), rule


def test_an_id_of_a_demand_says_its_key_and_aspect() -> None:
    assert demanded_key("key.opt_name.value") == demanded_key("key.opt_name.value", "count", "value") == "opt_name"
    assert demanded_key("house.seed.count") == "seed"
    assert demanded_key("house.seed.count", "value") is demanded_key("log.empty") is None
    assert effects_of("key.opt_name.value") == {Effect.LOG_CHECKER}
    assert effects_of("house.seed.count") == frozenset()
