"""Everything about one rule, put together from the catalogue and the rule files."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from mlsub.data import load_yaml
from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks
from mlsub.rounds import Round, get_round, known_rounds, usages
from mlsub.rules.catalogue import RuleInfo, catalogue
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule
from mlsub.rules.phrases import ASPECTS, rule_id

_ASPECT_TITLES = {
    "count": "{key} must appear {words}",
    "repeated": "{key} should appear only once",
    "value": "{key} must have an allowed value",
    "metadata": "the metadata of {key} must say what is needed",
    "order": "{key} must come in the right order",
    "nesting": "{key} must fit the sequence of epochs, blocks and evaluations",
    "time": "{key} must come in time",
    "target": "an evaluation must reach the quality target",
    "tensors": "each weight tensor of the reference model must be named once",
    "any-of": "{key}, or the key that may stand for it, must appear",
}
_ASPECT_WHY = {
    "count": "A reviewer, and every tool, has to find the fact in the log: once if there can be only one.",
    "repeated": "Several processes that log the same fact make logs hard to read; equal values are tolerated.",
    "value": "In Closed hyperparameters are part of the benchmark's definition; elsewhere values must mean something.",
    "metadata": "The record says nothing without: which epoch, which status, which tensor.",
    "order": "Time to train is only comparable if everybody starts and stops the clock at the same point.",
    "nesting": "v0.6 asked for epochs one after the other, and for each evaluation printed before the next.",
    "time": "Initialisation is not timed, so its length is bounded.",
    "target": "The benchmark is to train to this quality; a run that does not get there has not converged.",
    "tensors": "A reviewer has to see that every weight was initialised anew.",
    "any-of": "Runs are cut into blocks or into epochs; one of the two must be logged to follow the run.",
}
_ASPECT_FIX = {
    "count": "Log the key as often as demanded.",
    "repeated": "Log from one process only.",
    "value": "Run with an allowed value, and log the value that was used.",
    "metadata": "Pass the missing entry as metadata of the record.",
    "order": "Emit the record at the point in time it stands for.",
    "nesting": "Log each start before its stop, with the number of its epoch.",
    "time": "Move work that touches no training data out of the init phase, or make it faster.",
    "target": "Train longer, or count the run among the few that may fail.",
    "tensors": "Log one record for each tensor, with the reference's name in metadata.",
    "any-of": "Log one of the keys.",
}


class Demand:
    """One aspect of a key as some rounds, benchmarks and divisions demand it."""

    def __init__(self, rule: KeyRule, words: str) -> None:
        self.rule = rule
        self.words = words
        self.logs: dict[Round, list[tuple[str, str]]] = {}
        self.sources: set[tuple[str, str]] = set()

    def add(self, round_: Round, benchmark: str, division: str, origin: str) -> None:
        """Note that a round demands this of a benchmark's logs of a division."""
        self.logs.setdefault(round_, []).append((benchmark, division))
        self.sources.add((round_.checker, origin))

    def places(self) -> Iterator[str]:
        """Which logs it binds, rounds with the same logs together."""
        groups: dict[tuple[str, str], list[str]] = {}
        for round_, logs in self.logs.items():
            groups.setdefault((round_.usage, _which(round_, logs)), []).append(round_.name)
        for (usage, which), rounds in groups.items():
            yield f"{usage} {', '.join(rounds)}: {which}"


def _which(round_: Round, logs: list[tuple[str, str]]) -> str:
    """The logs in words, as short as they can be told."""
    parts = []
    for division in dict.fromkeys(division for _, division in logs):
        names = [name for name, of in logs if of == division]
        everyone = len(names) == len(round_.benchmarks)
        parts.append(f"every {division} log" if everyone else f"{division} {', '.join(names)}")
    return "every log" if parts == ["every closed log", "every open log"] else "; ".join(parts)


def suggestion(text: str, *, whole: bool = False) -> str | None:
    """None if ``text`` is a rule id (or, unless ``whole``, a prefix of one); else a line with a did-you-mean."""
    ids = rule_ids()
    if text.startswith("house") and not whole:
        return None  # Rules of the user's own; which there are depends on their file.
    if text in ids or (not whole and text and any(name.startswith(text) for name in ids)):
        return None
    close = get_close_matches(text, ids, n=3)
    inside = [name for name in ids if text in name][:5]
    hint = ", ".join(close or inside)
    return f"no rule {text!r}." + (f" Did you mean {hint}?" if hint else " mlsub explain log.empty shows one.")


@lru_cache(maxsize=1)
def rule_ids() -> tuple[str, ...]:
    """Every rule id, the catalogue's first."""
    return (*catalogue(), *sorted(_demands()))


def explain(rule: str) -> str:
    """The explanation as text, ending in a line feed.

    Raises:
        KeyError: there is no such rule.
    """
    info = catalogue().get(rule)
    lines = _catalogue_lines(info) if info is not None else _key_lines(rule, _demands()[rule])
    return "\n".join(lines) + "\n"


def _catalogue_lines(info: RuleInfo) -> list[str]:
    return [
        info.id,
        info.title,
        "",
        f"kind:     {info.kind.value} {info.severity.value}; rules out {_division(info.blocks)}",
        f"reason:   {info.why}",
        f"source:   {info.source}",
        f"example:  {info.example}",
        f"remedy:   {info.fix}",
    ]


def _division(blocks: Blocks) -> str:
    return {Blocks.NONE: "no division", Blocks.CLOSED: "the Closed division", Blocks.BOTH: "both divisions"}[blocks]


def _key_lines(rule: str, demands: list[Demand]) -> list[str]:
    _, key, aspect = rule.split(".")
    first = demands[0]
    about = _keys().get(key)
    # What the newest demand says: v0.6 knew no divisions, and ruled out both by every rule.
    blocks = {demands[-1].rule.blocks}
    warning = aspect == "repeated" or all(aspect in demand.rule.warn_only for demand in demands)
    rules_out = _division(Blocks.NONE if warning else Blocks.BOTH if Blocks.BOTH in blocks else Blocks.CLOSED)
    lines = [
        rule,
        _ASPECT_TITLES[aspect].format(key=key, words=first.rule.occurs.words()),
        "",
        f"key:      {about or 'a key of the benchmark'}",
        f"kind:     official {'warning' if warning else 'error'}; rules out {rules_out}",
        f"reason:   {_ASPECT_WHY[aspect]}",
        "demanded:",
    ]
    for demand in demands:
        lines.append(f"  {demand.words}")
        lines.extend(f"    {place}" for place in demand.places())
    lines += [f"{'source:' if number == 0 else '':10}{line}" for number, line in enumerate(_sources(demands))]
    lines.append(f"example:  {_example(key, aspect)}")
    lines.append(f"remedy:   {_ASPECT_FIX[aspect]}")
    return lines


def _sources(demands: list[Demand]) -> Iterator[str]:
    """The official files, rounds with the same files together."""
    files: dict[str, list[str]] = {}
    for checker, origin in sorted({source for demand in demands for source in demand.sources}):
        files.setdefault(checker, []).append(origin)
    checkers: dict[tuple[str, str], list[str]] = {}
    for checker, names in files.items():
        place, underscore, version = checker.rpartition("_")
        key = (f"{place}{underscore}", ", ".join(names)) if version[:1].isdigit() else (checker, ", ".join(names))
        checkers.setdefault(key, []).append(version if key[0] != checker else "")
    for (place, listed), versions in checkers.items():
        several = f"{{{','.join(versions)}}}" if len(versions) > 1 else versions[0]
        yield f"{place}{several}: {listed}"


def _example(key: str, aspect: str) -> str:
    record = f':::MLLOG {{"time_ms": 1623875750969, "key": "{key}", "value": ..., "metadata": {{...}}}}'
    return {
        "count": f"no record with key {key} in the log",
        "repeated": f"two records with key {key} and the same value",
        "value": f"{record} with a value that is not allowed",
        "metadata": f"{record} with metadata that lacks the entry",
        "nesting": f"{key} with another epoch_num than the sequence asks for",
        "order": f"{key} where the log is not there yet, or is past it",
        "time": f"{key} logged after the limit",
        "target": "a run whose last evaluation is still below the target",
        "tensors": "records for all tensors but one",
        "any-of": "a log with neither of the keys",
    }[aspect]


@lru_cache(maxsize=1)
def _keys() -> dict[str, str]:
    content = load_yaml(Path(__file__).with_name("keys.yaml"))
    return {str(key): str(text) for key, text in content.items()}


@lru_cache(maxsize=1)
def _demands() -> dict[str, list[Demand]]:
    """Every demand of every rule file, by rule id; equal demands are one, with all their places."""
    found: dict[str, dict[str, Demand]] = {}

    def add(round_: Round, benchmark: str, division: str, rule: KeyRule, aspect: str, words: str, origin: str) -> None:
        demands = found.setdefault(rule_id(rule.key, aspect), {})
        demands.setdefault(words, Demand(rule, words)).add(round_, benchmark, division, origin)

    for round_, benchmark, division in _combinations():
        rules = rules_for(round_.usage, round_.name, division, benchmark)
        variants = [rule for variant in rules.variants for rule in variant.rules]
        for rule in (*rules.rules, *variants):
            for aspect, words in _aspects(rule):
                add(round_, benchmark, division, rule, aspect, words, rule.origin)
        for group in rules.alternatives:
            rule = next(rule for rule in rules.rules if rule.key == group[0])
            add(round_, benchmark, division, rule, "any-of", f"at least one of {' and '.join(group)}", "common.yaml")
    return {name: list(demands.values()) for name, demands in found.items()}


def _combinations() -> Iterator[tuple[Round, str, str]]:
    for usage in usages():
        for name in known_rounds(usage):
            round_ = get_round(usage, name)
            for benchmark in round_.benchmarks:
                for division in DIVISIONS:
                    yield round_, benchmark, division


def _aspects(rule: KeyRule) -> Iterator[tuple[str, str]]:
    """The aspects a rule demands, each with its words."""
    words: dict[str, list[str]] = {aspect: [] for aspect in ASPECTS}
    if rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where:
        words["count"].append(rule.occurs.words())
    if rule.occurs.exactly_one:
        words["repeated"].append("exactly once; repeats with the same value only warn")
    words["value"] += [constraint.words() for constraint in rule.value]
    words["metadata"] += [entry.words() for entry in rule.metadata]
    words["metadata"] += [f"on the first record {entry.words()}" for entry in rule.first_metadata]
    if rule.gathers is not None:
        words["metadata"].append(
            f"{rule.gathers.field} and {rule.gathers.by} on each {rule.gathers.key} that is part of it"
        )
    words["order"] += [f"after {key}" for key in rule.after] + [f"before {key}" for key in rule.not_after]
    if rule.nested is not None:
        words["nesting"].append("the sequence of epochs, blocks and evaluations")
    if rule.within is not None:
        words["time"].append(rule.within.words())
    words["target"] += [reach.words() for reach in rule.reaches]
    if rule.tensors is not None:
        words["tensors"].append(f"{len(rule.tensors)} tensors, each once")
    for aspect, parts in words.items():
        if parts:
            note = " (only a warning)" if aspect in rule.warn_only else ""
            yield aspect, "; ".join(parts) + note
