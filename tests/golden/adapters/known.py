"""Answers about rules and system descriptions."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter

from tests.golden.answer import Answer
from tests.golden.figures import Facts, finding_facts, numbers, shortened, sketch, values


def rounds(answer: Answer) -> Facts:
    """The rounds and their benchmarks: runs of an entry, forgiven runs, and the figures of the targets."""
    facts: Facts = {}
    for one in answer.document["rounds"]:
        facts[f"round {one['usage']} {one['round']}"] = values(one, "ruleset", "checker")
        for benchmark in one["benchmarks"]:
            targets = [numbers(text) for texts in benchmark["targets"].values() for text in texts]
            name = f"round {one['usage']} {one['round']} {benchmark['name']}"
            facts[name] = [benchmark["runs"], benchmark["forgiven"], *targets]
    return facts


def rule_rows(answer: Answer) -> Facts:
    """What a round demands, key by key: rules, figures and what is blocked."""
    document = answer.document
    facts: Facts = {
        "about": values(document, "usage", "round", "division", "benchmark", "runs", "forgiven", "checker"),
        "targets": [numbers(text) for text in document["targets"]],
        "at least one of": sorted(document["at_least_one_of"]),
    }
    for where, rows in groupby(document["rows"], key=itemgetter("where")):
        for number, row in enumerate(rows):
            figures = [figure for text in [row["occurs"], *row["demands"]] for figure in numbers(text)]
            name = f"key {where or ''} {row['key']} {number}"
            facts[name] = [
                *(values(row, "required", "blocks", "source") or ()),
                shortened(figures),
                sorted(row["rules"]),
            ]
    return facts


def rules_differ(answer: Answer) -> Facts:
    """What changes from one round to another."""
    rules = answer.document
    facts: Facts = {
        "about": values(rules, "usage", "old", "new"),
        "benchmarks": [sorted(added["name"] for added in rules["benchmarks_added"]), rules["benchmarks_removed"]],
    }
    for benchmark in [*rules["benchmarks"], {"name": "all", "facts": rules["facts"], "keys": rules["common"]}]:
        for row in benchmark["keys"]:
            name = f"{benchmark['name']} {row['where'] or ''} {row['key']} {' '.join(row['divisions'])}"
            facts[name] = [row["change"], numbers(row["old"]), numbers(row["new"])]
        facts[f"{benchmark['name']} facts"] = len(benchmark["facts"])
    return facts


def keys(answer: Answer) -> Facts:
    """What a training code must log, in the order in which it is logged."""
    document = answer.document
    facts: Facts = {
        "about": values(document, "usage", "round", "division", "benchmark", "log_format"),
        "targets": [numbers(text) for text in document["targets"]],
        "order": [key["key"] for key in document["keys"]],
    }
    for number, key in enumerate(document["keys"]):
        figures = [figure for text in [key["when"] or "", *key["value"]] for figure in numbers(text)]
        name = f"key {number} {key['key']}"
        facts[name] = [*(values(key, "step", "need", "event_type", "source", "virtual") or ()), figures]
    return facts


def keys_checked(answer: Answer) -> Facts:
    """What is wrong with the hyperparameters of a file, and what the run has to log besides."""
    document = answer.document
    about = values(document, "usage", "round", "division", "benchmark", "keys")
    return {"about": about, "still_to_log": document["still_to_log"], **finding_facts(document["findings"])}


def explained(answer: Answer) -> Facts:
    """That a rule is explained, and which kind it is."""
    kind = "official" if re.search(r"\bofficial\b", answer.stdout) else "review"
    return {"rule": answer.stdout.split()[0], "kind": kind}


def cache(answer: Answer) -> Facts:
    """What is in the cache."""
    return {"cache": values(answer.document, "bytes", "limit", "records", "unused_since", "removed")}


def catalogue(answer: Answer) -> Facts:
    """The known systems and a digest of what is known of each."""
    facts: Facts = {}
    for system in answer.document["systems"]:
        known = {field: told["value"] for field, told in system["fields"].items()}
        software = [software["name"] for software in system["software"]]
        facts[f"system {system['name']}"] = [
            *(values(system, "submitter", "accelerators", "per_host") or ()), software, len(known), sketch(known)
        ]  # fmt: skip
    return facts


def description(answer: Answer) -> Facts:
    """A system description; its fields are named by MLPerf, not by us."""
    return dict(answer.document.get("description", answer.document))


def field_names(answer: Answer) -> Facts:
    """The fields of a description of this machine, whatever their values are."""
    return {"fields": sorted(answer.document)}


def captured(answer: Answer) -> Facts:
    """The fields that were captured on this machine, whatever their values are."""
    return {"fields": sorted(answer.document["values"])}


def system_findings(answer: Answer) -> Facts:
    """The verdict on system descriptions."""
    facts: Facts = {}
    for system in answer.document["systems"]:
        facts[f"system {system['path']}"] = values(system, "usage", "round", "official")
        facts |= finding_facts(system["findings"])
    return facts


def system_schema(answer: Answer) -> Facts:
    """The fields of a description, those that must be there, and a digest of what the values may be."""
    document = answer.document
    words = {"title", "description", "examples"}
    bare = {
        name: {word: value for word, value in field.items() if word not in words}
        for name, field in document["properties"].items()
    }
    return {"required": sorted(document.get("required", ())), **{f"field {name}": sketch(bare[name]) for name in bare}}


def schema(answer: Answer) -> Facts:
    """The fields of each type in a schema; their forms and words may change."""
    document = answer.document
    types = {"": document, **document.get("$defs", {})}
    return {
        f"fields {name}".strip(): sorted(found["properties"]) for name, found in types.items() if "properties" in found
    }


def anything(answer: Answer) -> Facts:
    """The fields of any answer but those that all have: short ones as they are, others in a few words."""
    small = (bool, int, float, str, type(None))
    own = {name: value for name, value in answer.document.items() if name not in ("schema", "mlsub", "command")}
    return {name: value if isinstance(value, small) else sketch(value) for name, value in own.items()}
