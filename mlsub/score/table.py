"""The results table: one row a result, which is one system and benchmark, and where it lies on GitHub."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import msgspec

from mlsub.submission.report import EntryResult, Report
from mlsub.systems.facts import SystemFacts, shown

_EMPTY = SystemFacts()
#: The repository of a round's results, by usage; other usages are not published.
_REPOSITORIES = {
    "training": "https://github.com/mlcommons/training_results_v{round}",
    "hpc": "https://github.com/mlcommons/hpc_results_v{round}",
}
_BRANCH = "main"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One result; None is an empty cell. The columns are described in columns.yaml.

    ``result_minutes`` is the published score, unrounded; ``convergence`` is the mean the convergence test saw, in
    ``convergence_unit``, and None where the logs count in ``rcp_logs_unit`` instead; ``rcp_also`` is the verdict on
    BERT by the other way of counting; ``energy_joules`` is scaled as the time is. Fields of the system are empty where
    its description cannot be read or the benchmark's folder lies
    in no organisation's tree.
    """

    division: str | None
    availability: str | None
    submitter: str | None
    system: str | None
    number_of_nodes: int | None
    host_processor_model_name: str | None
    host_processors_count: int | None
    accelerator_model_name: str | None
    accelerators_count: int | None
    framework: str | None
    benchmark: str
    result_minutes: float | None
    notes: str | None
    details_url: str | None
    code_url: str | None
    usage: str
    round: str
    organisation: str
    system_folder: str
    path: str
    scaling_type: str | None
    verdict: str
    runs: int
    compliant: int
    converged: int
    batch_size: float | None
    convergence: float | None
    convergence_unit: str | None
    rcp: str
    rcp_counted: str | None
    rcp_logs_unit: str | None
    rcp_also: str | None
    scaling: float
    expected_scaling: float
    unscaled_minutes: float | None
    published_minutes: float | None
    expected_minutes: float | None
    instance_scale: int | None
    energy_joules: float | None


def rows_of(reports: Sequence[Report]) -> tuple[Row, ...]:
    """The rows of the reports, in the reports' order; a report that checked nothing has none."""
    return tuple(row for report in reports for row in _rows(report))


def _rows(report: Report) -> Iterator[Row]:
    facts = {system.path: system.facts for system in report.systems}
    for entry in report.entries:
        description = description_path(entry)
        known = facts.get(description) if description is not None else None
        yield _row(report, entry, known or _EMPTY, in_tree=description is not None)


def description_path(entry: EntryResult) -> str | None:
    """Where the entry's system description lies, relative to the report's root; None outside a tree."""
    parts = entry.path.split("/")
    below = 4 if entry.scaling_type else 3
    if len(parts) < below or parts[-below] != "results":
        return None
    return "/".join([*parts[:-below], "systems", f"{entry.system}.json"])


def _row(report: Report, entry: EntryResult, facts: SystemFacts, *, in_tree: bool) -> Row:
    usage, round_ = report.usage or "", report.round or ""
    return Row(
        division=entry.division,
        availability=None if facts.status is None else shown(facts.status),
        submitter=facts.submitter,
        system=_system_name(facts),
        number_of_nodes=facts.number_of_nodes,
        host_processor_model_name=facts.host_processor_model_name,
        host_processors_count=_product(facts.host_processors_per_node, facts.number_of_nodes),
        accelerator_model_name="TPUv3" if facts.accelerator_model_name == "tpu-v3" else facts.accelerator_model_name,
        accelerators_count=_product(facts.accelerators_per_node, facts.number_of_nodes),
        framework=_framework(facts),
        benchmark=entry.benchmark,
        result_minutes=_finite(entry.score.published),
        notes=_notes(facts),
        details_url=details_url(usage, round_, entry.organisation, entry.system) if in_tree else None,
        code_url=code_url(usage, round_, entry.organisation) if in_tree else None,
        usage=usage,
        round=round_,
        organisation=entry.organisation,
        system_folder=entry.system,
        path=entry.path,
        scaling_type=entry.scaling_type,
        verdict=entry.official.value,
        runs=entry.runs,
        compliant=entry.compliant,
        converged=entry.converged,
        batch_size=_finite(entry.rcp.batch_size),
        convergence=_finite(entry.rcp.mean),
        convergence_unit=entry.rcp.unit,
        rcp=entry.rcp.verdict,
        rcp_counted=entry.rcp.counted,
        rcp_logs_unit=entry.rcp.logs_unit,
        rcp_also=entry.rcp.also.verdict if entry.rcp.also else None,
        scaling=entry.score.scaling,
        expected_scaling=entry.score.expected_scaling,
        unscaled_minutes=_finite(entry.score.unscaled),
        published_minutes=_finite(entry.score.published),
        expected_minutes=_finite(entry.score.expected),
        instance_scale=entry.score.instance_scale,
        energy_joules=_finite(entry.energy.scaled) if entry.energy else None,
    )


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


def _product(per_node: int | None, nodes: int | None) -> int | None:
    return None if per_node is None or nodes is None else per_node * nodes


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def details_url(usage: str, round_: str, organisation: str, system: str) -> str | None:
    """The address of a system description; None for a usage that is not published.

    Args:
        usage: such as ``training``.
        round_: such as ``5.1``.
        organisation: name of the organisation's folder, which is what exists; the description may call it otherwise.
        system: name of the system's folder.
    """
    return _url(usage, round_, organisation, "systems", f"{system}.json")


def code_url(usage: str, round_: str, organisation: str) -> str | None:
    """The address of an organisation's code; the arguments are those of :func:`details_url`."""
    return _url(usage, round_, organisation, "benchmarks")


def _url(usage: str, round_: str, *parts: str) -> str | None:
    repository = _REPOSITORIES.get(usage)
    if repository is None:
        return None
    # The bytes of the name, also where they are no UTF-8.
    path = "/".join(quote(part.encode("utf-8", "surrogatepass"), safe="") for part in parts)
    return f"{repository.format(round=quote(round_, safe=''))}/blob/{_BRANCH}/{path}"
