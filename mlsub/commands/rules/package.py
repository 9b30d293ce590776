"""What a round asks of whole packages, in words (see mlsub/rounds/rounds.yaml)."""

from __future__ import annotations

from mlsub.rounds import Round

_SEEDS = {
    "unchecked": "not checked",
    "optional": "none is needed, but once a run has logged one, every later run must; none may be used twice",
    "required": "every run needs one; none may be used twice",
}


def package_facts(round_: Round) -> dict[str, str]:
    """What holds for packages of a round, by what it is about."""
    facts = {
        "records of logs": ":::MLL, the format of v0.6" if round_.log_format == "mll" else ":::MLLOG",
        "seeds of Closed entries": _SEEDS[round_.seeds],
        "empty benchmark folders": "ignored" if round_.empty_folder_ignored else "rejected as entries without runs",
        "system descriptions": "every field must be there" if round_.descriptions_checked else "not checked",
        "status in system descriptions": "not checked",
        "result folders": "results/SYSTEM/BENCHMARK",
    }
    if round_.statuses is not None:
        case = "letter by letter" if round_.statuses.case_counts else "in upper or lower case"
        facts["status in system descriptions"] = f"{' | '.join(round_.statuses.one_of)}; {case}"
    if round_.scaling_folders:
        facts["result folders"] = "results/SYSTEM/strong/BENCHMARK, or weak"
    return facts
