"""Paths to rounds, entries and runs: found once, read once, the same in every command."""

from mlsub.workspace.check import (
    Checked,
    check_apart,
    check_each,
    check_path,
    check_paths,
    check_with_logs,
    not_checked,
    results,
)
from mlsub.workspace.places import AS_FOUND, Found, Problem, Settings, find, in_one_line, known_round, organisations

__all__ = [
    "AS_FOUND",
    "Checked",
    "Found",
    "Problem",
    "Settings",
    "check_apart",
    "check_each",
    "check_path",
    "check_paths",
    "check_with_logs",
    "find",
    "in_one_line",
    "known_round",
    "not_checked",
    "organisations",
    "results",
]
