"""The installed official checker as a live oracle, in process and made fast without a change to its answers."""

from __future__ import annotations

import builtins
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml

from tools.oracle.generate import usage_and_round

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.compliance_checker import mlp_compliance, mlp_parser

#: Stands for ``eval`` in the checker: an expression, then its names.
Evaluate = Callable[..., Any]

#: The expressions by which parsers cut off what stands before a record, and the token that each keeps.
_CUTS = {f".*{token}": token for token in (":::MLL", ":::MLLOG ")}


def cut(pattern: str, token: str, text: str) -> str:
    """What ``re.sub`` makes of a line: the last token and what is behind it.

    The expression looks for one more token from each character on, which takes half a minute for a record of 300 kB.
    """
    if _CUTS.get(pattern) != token or "\n" in text[:-1]:
        return re.sub(pattern, token, text)
    _, found, after = text.rpartition(token)
    return found + after


def evaluate(code: str, *scopes: Any) -> Any:
    """``eval``, that compiles each text once."""
    return builtins.eval(_compiled(code, "eval"), *scopes)  # noqa: S307  (the checker's own rules)


def execute(code: str, *scopes: Any) -> None:
    """``exec``, that compiles each text once."""
    builtins.exec(_compiled(code, "exec"), *scopes)  # noqa: S102  (the checker's own rules)


@lru_cache(maxsize=4096)
def _compiled(code: str, mode: str) -> CodeType:
    return compile(code, "<string>", mode)


_RE = SimpleNamespace(**{**vars(re), "sub": cut})


def shortcuts(
    checker: ModuleType, parser: ModuleType, evaluating: Evaluate = evaluate
) -> list[tuple[ModuleType, str, Any]]:
    """The names to be replaced in the checker's module and in that of a parser, and by what."""
    return [(checker, "eval", evaluating), (checker, "exec", execute), (parser, "re", _RE)]


OFFICIAL = Path(mlp_compliance.__file__).parent
_LENIENT_KEY = "weights_initialization"

#: Configurations the checker may queue for one log. A log that names the benchmark "common" makes the checker queue
#: the same file for ever; the real run would never end, so the log is noncompliant.
_MAX_QUEUED = 60

#: libyaml where PyYAML was built with it; both loaders yield plain strings, lists and dicts.
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Answer(NamedTuple):
    """What the official checker says of one log, and the rule files it went through."""

    compliant: bool
    messages: tuple[str, ...]
    configs: tuple[str, ...]


class _Queue(list[str]):
    """The checker's list of configurations still to be run, with an end to it for each log."""

    def __init__(self) -> None:
        super().__init__()
        self.queued: list[str] = []

    def append(self, item: str) -> None:
        self.queued.append(item)
        if len(self.queued) > _MAX_QUEUED:
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


def official(
    file: Path, round_id: str, *, fast: bool = True, evaluating: Evaluate = evaluate, today: bool = False
) -> Answer:
    """The verdict of the installed checker on a log; a traceback is a rejection, as it is for a submitter.

    ``evaluating`` stands for ``eval``: it sees every expression that the checker asks of a record. ``today`` leaves the
    installed rules as they are, also where those of the round's day were others.
    """
    usage, name = usage_and_round(round_id)
    ruleset = f"{name}.0"
    with prepared(round_id, fast=fast, evaluating=evaluating, today=today) as (log, queue):
        checker = mlp_compliance.make_checker(usage, ruleset, True, False)
        try:
            valid = mlp_compliance.main(str(file), _config(file, usage, ruleset), checker)[0]
        except Exception as error:
            crash = f"crash: {type(error).__name__}: {str(error)[:300]}"
            return Answer(False, (*log.lines, crash), tuple(queue.queued))
    return Answer(bool(valid), tuple(log.lines), tuple(queue.queued))


def _config(file: Path, usage: str, ruleset: str) -> str:
    """The rules to begin with. In v0.6 minigo has a file of its own, to be named by hand in place of the common one."""
    if ruleset == "0.6.0":
        lines, _ = mlp_parser.parse_file(str(file), ruleset=ruleset)
        said = [line.value for line in lines if line.key == "submission_benchmark"]
        first = next((value for value in said if isinstance(value, dict) and "value" in value), {})
        if first.get("value") == "minigo":
            return "training_0.6.0/minigo.yaml"
    return f"{usage}_{ruleset}/common.yaml"


@contextmanager
def prepared(
    round_id: str, *, fast: bool = True, evaluating: Evaluate = evaluate, today: bool = False
) -> Iterator[tuple[_Log, _Queue]]:
    """The checker's module with a fresh queue (a crash leaves entries behind), cached rule files and no output."""
    log, queue = _Log(), _Queue()
    check = mlp_compliance.main

    def main(*asked: Any) -> Any:
        queue.queued.clear()
        return check(*asked)

    def load(stream: Any, Loader: Any) -> Any:  # noqa: N803  (the name is PyYAML's)
        return _parsed(stream.read(), "" if today else round_id)

    replaced = [
        (mlp_compliance, "main", main),
        (mlp_compliance, "enqueued_configs", queue),
        (mlp_compliance, "logging", log),
        (mlp_compliance, "yaml", SimpleNamespace(load=load, BaseLoader=yaml.BaseLoader)),
    ]
    if fast:
        # The logs of HPC are parsed like those of training.
        parser = getattr(mlp_parser, f"ruleset_{usage_and_round(round_id)[1].replace('.', '')}0")
        replaced += shortcuts(mlp_compliance, parser, evaluating)
    with ExitStack() as names, redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module, name, value in replaced:
            names.enter_context(patch.object(module, name, value, create=True))
        yield log, queue


@lru_cache(maxsize=1024)
def _parsed(content: str, round_id: str) -> Any:
    """The rules of one file. The checker never changes them, so one copy serves all logs."""
    checks = yaml.load(content, Loader=LOADER)  # noqa: S506  (a base loader builds no objects)
    for change in DAY_DIFFERS.get(round_id, ()):
        checks = [changed for check in checks or [] if (changed := change(check))]
    return checks


def _opt_epsilon(check: dict[str, Any]) -> dict[str, Any]:
    key = check.get("KEY")
    if key and key["NAME"] == "opt_lamb_epsilon" and "CHECK" not in key:
        return {"KEY": {**key, "NAME": "opt_epsilon"}}
    return check


def _lenient(check: dict[str, Any]) -> dict[str, Any] | None:
    if "initialized_tensors" in str(check.get("END")):
        # Names that cannot be compared were an error, whatever else was only warned of.
        return {"END": {"CHECK": "{*s['initialized_tensors']} is not None"}}
    key = check.get("KEY")
    if key and key["NAME"] == _LENIENT_KEY:
        return {"KEY": {name: value for name, value in key.items() if name != "REQ"}}
    return check


#: Where the checker of the round's day said otherwise than the installed release, which is changed to say the same.
#: v1.1: it only *warned* where weights_initialization was missing or the tensors were others than the reference's; the
#: installed release makes both an error, and so rejects most of the logs that were published. A record without
#: metadata.tensor, or with a list or an object there, was and is an error. (rnnt had the demand in v1.0 already, and
#: there it is a real error.)
#: v2.1: BERT logged opt_epsilon, as in v2.0; the installed release asks for opt_lamb_epsilon.
DAY_DIFFERS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any] | None], ...]] = {
    "1.1": (_lenient,),
    "2.1": (_opt_epsilon,),
}
