"""The installed official checker as a live oracle, in process and made fast without a change to its answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import yaml

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.compliance_checker import mlp_compliance

#: The round whose live oracle is made lenient. The checker of v1.1's day only *warned* where weights_initialization
#: was missing or the tensors were others than the reference's; the installed release makes both an error, and so
#: rejects most of the logs that were published in v1.1. A record without metadata.tensor was and is an error.
#: (rnnt had the demand in v1.0 already, and there it is a real error.)
LENIENT_ROUND = "1.1"
_LENIENT_KEY = "weights_initialization"

#: Configurations the checker may queue for one log. A log that names the benchmark "common" makes the checker queue
#: the same file for ever; the real run would never end, so the log is noncompliant.
_MAX_QUEUED = 60

#: libyaml where PyYAML was built with it; both loaders yield plain strings, lists and dicts.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Answer(NamedTuple):
    """What the official checker says of one log."""

    compliant: bool
    messages: tuple[str, ...]


class _Queue(list[str]):
    """The checker's list of configurations still to be run, with an end to it."""

    def __init__(self) -> None:
        super().__init__()
        self.queued = 0

    def append(self, item: str) -> None:
        self.queued += 1
        if self.queued > _MAX_QUEUED:
            raise RuntimeError("the official checker would never end")
        super().append(item)


class _Log:
    """Stands for the checker's logging module: keeps what would be printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, *args: object) -> None:
        """Progress is of no interest."""

    def warning(self, text: str, *args: object) -> None:
        self.lines.append((text % args if args else text).strip())


def official(file: Path, round_name: str) -> Answer:
    """The verdict of the installed checker on a log; a traceback is a rejection, as it is for a submitter."""
    ruleset = f"{round_name}.0"
    with _prepared(lenient=round_name == LENIENT_ROUND) as log, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker = mlp_compliance.make_checker("training", ruleset, True, False)
        try:
            valid = mlp_compliance.main(str(file), f"training_{ruleset}/common.yaml", checker)[0]
        except Exception as error:
            return Answer(False, (*log.lines, f"crash: {type(error).__name__}: {str(error)[:300]}"))
    return Answer(bool(valid), tuple(log.lines))


@contextmanager
def _prepared(*, lenient: bool) -> Iterator[_Log]:
    """The checker's module with a fresh queue (a crash leaves entries behind), cached rule files and no output."""
    log = _Log()
    replaced = {
        "enqueued_configs": _Queue(),
        "logging": log,
        "yaml": SimpleNamespace(load=_cached_load(lenient), BaseLoader=yaml.BaseLoader),
    }
    saved = {name: getattr(mlp_compliance, name) for name in replaced}
    try:
        for name, value in replaced.items():
            setattr(mlp_compliance, name, value)
        yield log
    finally:
        for name, value in saved.items():
            setattr(mlp_compliance, name, value)


def _cached_load(lenient: bool) -> Any:
    return lambda stream, Loader: _parsed(stream.read(), lenient)  # noqa: N803  (the name is PyYAML's)


@lru_cache(maxsize=256)
def _parsed(content: str, lenient: bool) -> Any:
    """The rules of one file. The checker never changes them, so one copy serves all logs."""
    checks = yaml.load(content, Loader=_LOADER)  # noqa: S506  (a base loader builds no objects)
    return [check for check in map(_lenient, checks) if check] if lenient and checks else checks


def _lenient(check: dict[str, Any]) -> dict[str, Any] | None:
    if "initialized_tensors" in str(check.get("END")):
        return None
    key = check.get("KEY")
    if key and key["NAME"] == _LENIENT_KEY:
        return {"KEY": {name: value for name, value in key.items() if name != "REQ"}}
    return check
