"""Paths to rounds, entries and runs: found once, read once, the same in every command."""

from mlsub.workspace.check import (
    check_apart,
    check_each,
    check_path,
    check_paths,
    check_places,
    check_with_logs,
    not_checked,
)
from mlsub.workspace.places import ANY, AS_FOUND, Context, Request, find_places, in_one_line, known_round
from mlsub.workspace.schedule import Checked

__all__ = [
    "ANY",
    "AS_FOUND",
    "Checked",
    "Context",
    "Request",
    "check_apart",
    "check_each",
    "check_path",
    "check_paths",
    "check_places",
    "check_with_logs",
    "find_places",
    "in_one_line",
    "known_round",
    "not_checked",
]
