"""Drive a recorder through the records of a compliant log, as a training code would."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from mlsub.emit import Recorder
from mlsub.log.event import step_of
from mlsub.rounds import get_round
from tools.oracle.generate import Combination, Record, combinations, compliant_log, rules_of, usage_and_round

#: The rounds the recorder is for.
FIRST = {"training": 1.0, "hpc": 1.0}
#: Keys that a recorder's caller cannot leave out: they are arguments, or written by its intervals.
GIVEN = frozenset(
    (
        *("submission_benchmark", "submission_division", "submission_org", "submission_platform", "submission_status"),
        *("init_start", "init_stop", "run_start", "run_stop"),
    )
)
_IDENTITY = ("submission_org", "submission_platform", "submission_status")


def emitted() -> list[Combination]:
    """Every round, benchmark and division that can be recorded."""
    return [c for c in combinations() if float(usage_and_round(c.round)[1]) >= FIRST[usage_and_round(c.round)[0]]]


def own(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata without what the official logger adds."""
    return {name: value for name, value in metadata.items() if name not in ("file", "lineno")}


def recorder(path: Path, combination: Combination, records: list[Record], **more: Any) -> Recorder:
    """A recorder with the identity that the records have."""
    usage, name = usage_and_round(combination.round)
    said = {record["key"]: record["value"] for record in records if record["key"].startswith("submission_")}
    extra = {key: str(value or "x") for key, value in said.items() if key not in GIVEN}
    return Recorder(
        path,
        usage=usage,
        round=name,
        benchmark=combination.benchmark,
        division=combination.division,  # type: ignore[arg-type]
        organisation=str(said.get("submission_org") or "ACME"),
        platform=str(said.get("submission_platform") or "rack1"),
        status=str(said.get("submission_status") or "onprem"),
        submission=extra,
        **more,
    )


def drive(path: Path, combination: Combination, without: Collection[str] = (), **more: Any) -> None:
    """Record a whole run through the recorder, some keys left out."""
    records = [record for record in compliant_log(combination) if record["key"] not in without]
    with recorder(path, combination, records, **more) as rec:
        before, during = _split(records)
        for record in before:
            if record["key"] == "cache_clear":
                rec.log("cache_clear", record["value"], **own(record["metadata"]))
        with rec.init():
            for record in before:
                key = str(record["key"])
                if key not in GIVEN and key != "cache_clear" and not key.startswith("submission_"):
                    rec.log(key, record["value"], **own(record["metadata"]))
            if "seed" not in without and not any(record["key"] == "seed" for record in before):
                rec.fresh_seed()
        with rec.run() as run:
            for cycle in during:
                _cycle(rec, cycle)
            run.stop("success")


def _split(records: list[Record]) -> tuple[list[Record], list[dict[str, list[Record]]]]:
    """What comes before the clock, and the cycles of blocks, epochs and evaluations after it."""
    keys = [record["key"] for record in records]
    start = keys.index("run_start")
    before = [record for record in records[:start] if record["key"] not in GIVEN]
    return before, list(_cycles(records[start + 1 :]))


def _cycles(records: list[Record]) -> Iterator[dict[str, list[Record]]]:
    cycle: dict[str, list[Record]] = {}
    for key, group in groupby(records, lambda record: str(record["key"])):
        if key == "block_start" and cycle:
            yield cycle
            cycle = {}
        if key != "run_stop":
            cycle[key] = [*cycle.get(key, []), *group]
    if cycle:
        yield cycle


def _cycle(rec: Recorder, cycle: dict[str, list[Record]]) -> None:
    measures = ("eval_accuracy", "eval_error", "averaged_validation_loss")
    if "block_start" in cycle:
        with rec.block(**own(cycle["block_start"][0]["metadata"])):
            if "epoch_start" in cycle:
                with rec.epoch(**own(cycle["epoch_start"][0]["metadata"])):
                    pass
    for key, records in cycle.items():
        if key.rpartition("_")[0] in ("block", "epoch", "eval") and key not in measures:
            continue
        if key not in measures:
            for record in records:
                rec.log(key, record["value"], **own(record["metadata"]))
    _evaluate(rec, [record for key in measures for record in cycle.get(key, [])])


def _evaluate(rec: Recorder, records: list[Record]) -> None:
    """One evaluation by the recorder's own words; measures besides the target are logged as they are."""
    key, gathers = rec.units.quality_key, rec.units.gathers
    mine = [record for record in records if record["key"] == key]
    for record in records:
        if record["key"] != key:
            rec.log(record["key"], record["value"], **own(record["metadata"]))
    if gathers is not None:
        by, field = gathers.by, gathers.field
        rec.evaluate({r["metadata"][field]: r["value"] for r in mine}, **{by: mine[0]["metadata"][by]})
    elif mine:
        value: Any = mine[0]["value"]
        rec.evaluate(value, **own(mine[0]["metadata"]))


def required_before_clock(combination: Combination) -> list[str]:
    """The keys that a compliant log of this kind has to have before the clock starts."""
    from mlsub.commands.rules.keys import key_list

    usage, name = usage_and_round(combination.round)
    lines = key_list(get_round(usage, name), combination.division, combination.benchmark).keys
    logged = {record["key"] for record in compliant_log(combination)} | {"seed"}
    only_warned = {key for key, rule in rules_of(combination).items() if "count" in rule.warn_only}
    return [
        line.key
        for line in lines
        if line.need == "must"
        and line.key in logged
        and line.key not in GIVEN | only_warned
        and step_of(line.key) in ("submission", "hyperparameters", "initialisation")
    ]
