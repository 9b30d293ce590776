"""The result: what is known of one entry of a report, under the names that tables, files and pages use."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from mlsub.divisions import division_meant
from mlsub.findings import Finding, Verdict
from mlsub.io.data import group_by_key
from mlsub.rounds import Round, get_round, round_age
from mlsub.rounds.benchmarks import benchmark_of, compatible_rounds, published
from mlsub.rules.catalogue import folders_above
from mlsub.submission.find import organisation
from mlsub.submission.model import LogReport
from mlsub.submission.report import EntryResult, Report
from mlsub.systems.description import read_content
from mlsub.systems.fields import SystemFacts, is_not_applicable, show_status
from mlsub.systems.names import chip_columns

_NO_FACTS = SystemFacts()
#: The repository of a round's results, by usage; other usages are not published.
_REPOSITORIES = {
    "training": "https://github.com/mlcommons/training_results_v{round}",
    "hpc": "https://github.com/mlcommons/hpc_results_v{round}",
}
_BRANCH = "main"
#: The accelerator of results whose description says that there are none.
CPU_ONLY = "CPU only"
#: Fields that hold more than a cell: what they hold has columns of its own, or none.
_NESTED = frozenset(("official", "minutes", "rcp", "score", "energy", "logs", "findings", "overlay"))


class Result(EntryResult, frozen=True, kw_only=True):
    """An entry of a report with its place, its names, and what the description of its system says.

    Place: ``usage``, ``round`` (such as ``5.1``) and ``root``, the folder that ``path`` is relative to.

    Names that are the same in every round, beside what the folders are called: ``organisation_name``,
    ``benchmark_name``, ``benchmark_title`` and ``task`` (None where no table has the benchmark), ``division_name``
    (``closed``, ``open`` or None), ``accelerator_name``, its ``vendor``, ``family``, ``generation`` and
    ``accelerator_memory_gb`` (None where no table has it).
    ``compatible_rounds`` may be compared with this one, ``compatible_group`` names them. ``publication_date`` is the
    day on which the results of the round came out; with the precision ``month`` it is the middle of the month.

    The system, None where there is no description that can be read: ``availability`` to ``notes``, as the official
    results table has them. ``details_url`` and ``code_url`` are None outside a tree and for what is not published.

    ``without_logs`` counts the folders of the same benchmark in the report that have no result logs. ``findings`` are
    those on the entry, its logs and its system's description. ``logs`` are there where the logs were kept; ``overlay``
    is the user's own rule file that they were judged by.
    """

    usage: str
    round: str
    root: str
    organisation_name: str
    benchmark_name: str
    benchmark_title: str
    task: str | None
    compatible_rounds: tuple[str, ...]
    compatible_group: str
    division_name: str | None
    accelerator_name: str | None
    vendor: str | None
    family: str | None
    generation: str | None
    accelerator_memory_gb: int | None
    publication_date: datetime.date | None
    publication_precision: str | None
    availability: str | None
    submitter: str | None
    system_name: str | None
    number_of_nodes: int | None
    host_processor_model_name: str | None
    host_processors_count: int | None
    accelerator_model_name: str | None
    accelerators_count: int | None
    framework: str | None
    notes: str | None
    details_url: str | None
    code_url: str | None
    without_logs: int = 0
    findings: tuple[Finding, ...] = ()
    logs: tuple[LogReport, ...] = ()
    overlay: str | None = None

    @property
    def rules(self) -> Round:
        """Those of its round."""
        return get_round(self.usage, self.round, self.overlay)

    @property
    def age(self) -> tuple[int, ...]:
        """Its round as numbers that sort by time."""
        return round_age(self.round)

    @property
    def verdict(self) -> str:
        """``accepted`` or ``rejected``, by the official checker."""
        return self.official.value

    @property
    def accelerator(self) -> str | None:
        """Its accelerator by its name, or as the description has it where no table of names does; None without any."""
        model = CPU_ONLY if self.accelerators_count == 0 else self.accelerator_model_name
        return self.accelerator_name or (None if is_not_applicable(model) else model)

    @property
    def accepted(self) -> bool:
        """Whether the official checker accepts it."""
        return self.official is Verdict.ACCEPTED

    @property
    def folder(self) -> Path:
        """The folder of its logs."""
        return Path(self.root, self.path)

    @property
    def description_file(self) -> Path | None:
        """The file of its system's description; None outside a tree."""
        path = self.description_path
        return None if path is None else Path(self.root, path)

    @property
    def published_minutes(self) -> float | None:
        """The published score in minutes; None without one that is a number."""
        return _finite(self.score.published)

    @property
    def chip_minutes(self) -> float | None:
        """The published score in minutes times the number of accelerators; None without either."""
        minutes, count = self.published_minutes, self.accelerators_count
        return minutes * count if minutes is not None and minutes > 0 and count else None

    @property
    def private_id_file(self) -> Path:
        """The file in which the official result summarizer keeps the private ID of a system."""
        return self.folder.absolute().parents[1 if self.scaling_type else 0] / "privateid.json"

    @property
    def private_id(self) -> str:
        """The private ID of its system; empty where no file has one that can be read."""
        stated = (read_content(self.private_id_file) or {}).get("private_id")
        return stated[:400] if isinstance(stated, str) else ""

    @property
    def round_key(self) -> str:
        """The round in a word: ``v1.0`` for training, ``hpc-v3.0`` for other usages."""
        return round_key(self.usage, self.round)

    @property
    def entry(self) -> str:
        """Its key: round, organisation, system and benchmark, in HPC with the kind of scaling."""
        parts = self.round_key, self.organisation, self.system, self.scaling_type, self.benchmark
        return "/".join(filter(None, parts))

    def columns(self) -> dict[str, Any]:
        """Return all facts by the names of their columns, as plain values; a number that is not finite is None.

        Fields of ``rcp`` start with ``rcp_``, those of its other way of counting with ``rcp_also_``; the three bases
        of ``score`` end with ``_minutes``; of ``energy`` it is ``energy_joules``, scaled as the time is.
        """
        rcp, score = self.rcp, self.score
        cells = {
            **{name: getattr(self, name) for name in self.__struct_fields__ if name not in _NESTED},
            **{f"rcp_{name}": value for name, value in msgspec.structs.asdict(rcp).items()},
            **{f"rcp_also_{name}": getattr(rcp.also, name, None) for name in rcp.__struct_fields__},
            "entry": self.entry,
            "publication_date": self.publication_date and self.publication_date.isoformat(),
            "compatible_rounds": " ".join(self.compatible_rounds) or None,
            "verdict": self.verdict,
            "batch_size": rcp.batch_size,
            "unscaled_minutes": score.unscaled,
            "published_minutes": score.published,
            "expected_minutes": score.expected,
            "chip_minutes": self.chip_minutes,
            "scaling": score.scaling,
            "expected_scaling": score.expected_scaling,
            "instance_scale": score.instance_scale,
            "energy_joules": self.energy.scaled if self.energy else None,
        }
        return {name: _finite(value) if isinstance(value, float) else value for name, value in cells.items()}


def results_of(report: Report, logs: Iterable[LogReport] = (), overlay: str | None = None) -> tuple[Result, ...]:
    """Return the result of each entry of a report that has logs, in the report's order.

    Args:
        report: what judging gave; one that checked nothing has no results.
        logs: what was read of the logs of the report, in any order.
        overlay: a checked overlay file.
    """
    facts = {system.path: system.facts for system in report.systems}
    read = group_by_key((log.path.rpartition("/")[0] or ".", log) for log in logs)
    found = _findings(report)
    return tuple(
        Result(
            **msgspec.structs.asdict(entry),
            **_public_names(report, entry, facts.get(entry.description_path or "") or _NO_FACTS),
            root=report.root,
            without_logs=sum(folder.benchmark == entry.benchmark for folder in report.without_logs),
            findings=tuple(found[entry.path]),
            logs=tuple(read.get(entry.path, ())),
            overlay=overlay,
        )
        for entry in report.entries
        if entry.runs
    )


def round_key(usage: str, round_name: str) -> str:
    """Return a round in a word: ``v1.0`` for training, ``hpc-v3.0`` for other usages."""
    return f"v{round_name}" if usage == "training" else f"{usage}-v{round_name}"


def _findings(report: Report) -> Mapping[str, list[Finding]]:
    """The findings on each entry, by its path: on it, what lies in it, and the description of its system."""
    owned: dict[str, list[Finding]] = {entry.path: [] for entry in report.entries}
    described = group_by_key((entry.description_path or "", entry.path) for entry in report.entries)
    for finding in report.findings:
        around = (finding.path, *folders_above(finding.path))
        about = [path for path in around if path in owned][:1] or described.get(finding.path, [])
        for path in about:
            owned[path].append(finding)
    return owned


def _public_names(report: Report, entry: EntryResult, facts: SystemFacts) -> dict[str, Any]:
    """Return the fields of a result that tables of names and the system's description fill."""
    usage, round_ = report.usage or "", report.round or ""
    known = benchmark_of(usage, round_, entry.benchmark)
    name, compatible = known.name if known else entry.benchmark, compatible_rounds(usage, entry.benchmark, round_)
    ends = dict.fromkeys((compatible or (round_,))[place] for place in (0, -1))
    division, came_out = division_meant(entry.division), published(usage, round_)
    system, model = _system_name(facts), facts.accelerator_model_name
    # As the official table prints it.
    model = "TPUv3" if model == "tpu-v3" else model
    in_tree = entry.description_path is not None
    return {
        "usage": usage,
        "round": round_,
        "organisation_name": _organisation(entry.organisation, facts.submitter),
        "benchmark_name": name,
        "benchmark_title": known.title if known else entry.benchmark,
        "task": known.task if known else None,
        "compatible_rounds": compatible,
        # A round that may be compared with no other is a group of its own.
        "compatible_group": f"{name} {' to '.join(round_key(usage, one) for one in ends)}",
        "division_name": division.name if division else None,
        **chip_columns(model, system or "", entry.system),
        "publication_date": came_out.around if came_out else None,
        "publication_precision": None if came_out is None else "day" if came_out.date else "month",
        "availability": None if facts.status is None else show_status(facts.status),
        "submitter": facts.submitter,
        "system_name": system,
        "number_of_nodes": facts.number_of_nodes,
        "host_processor_model_name": facts.host_processor_model_name,
        "host_processors_count": _product(facts.host_processors_per_node, facts.number_of_nodes),
        "accelerator_model_name": model,
        "accelerators_count": _product(facts.accelerators_per_node, facts.number_of_nodes),
        "framework": _framework(facts),
        "notes": _notes(facts),
        "details_url": _url(usage, round_, entry.organisation, "systems", f"{entry.system}.json") if in_tree else None,
        "code_url": _url(usage, round_, entry.organisation, "benchmarks") if in_tree else None,
    }


def _organisation(folder: str, submitter: str | None) -> str:
    """The organisation of a folder, or those of a joint submission that only the description names."""
    own, stated = organisation(folder), organisation(submitter or folder)
    return stated if own in stated.split("+") else own


def _system_name(facts: SystemFacts) -> str | None:
    """The name as the official table prints it, which names the sizes of ``tpu-v3`` by their cores."""
    if facts.system_name == "tpu-v3" and facts.accelerators_per_node is not None:
        return f"TPUv3.{facts.accelerators_per_node * 2}"
    return facts.system_name


def _framework(facts: SystemFacts) -> str | None:
    """The framework as the official table prints it: TensorFlow without the hash of its commit."""
    if facts.framework is None or "TensorFlow" not in facts.framework:
        return facts.framework
    return re.sub(r" commit hash = .*", "", facts.framework)


def _notes(facts: SystemFacts) -> str | None:
    """Notes on hardware and software in one, as the official table joins them; None without a description."""
    if facts.hw_notes is None and facts.sw_notes is None:
        return None
    return ";".join(note for note in (facts.hw_notes, facts.sw_notes) if note)


def _url(usage: str, round_: str, *parts: str) -> str | None:
    """The address of what lies in an organisation's tree, by the names of folders; None where it is not published."""
    repository = _REPOSITORIES.get(usage)
    if repository is None:
        return None
    # The bytes of the name, also where they are no UTF-8.
    path = "/".join(quote(part.encode("utf-8", "surrogatepass"), safe="") for part in parts)
    return f"{repository.format(round=quote(round_, safe=''))}/blob/{_BRANCH}/{path}"


def _product(per_node: int | None, nodes: int | None) -> int | None:
    return None if per_node is None or nodes is None else per_node * nodes


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
