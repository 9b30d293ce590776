"""The switch of mutants. The changed copy of the repository holds this file as ``mlsub/_switch.py``.

``MLSUB_MUTANT`` names the mutant that is on. ``MLSUB_MUTATION_RUNS`` names a file that takes the numbers of the mutants
that run in processes which tests start; the process of the tests keeps its own in ``ran``. A negative number stands for
any function of a file.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_OFF = -(10**9)
active = int(os.environ.get("MLSUB_MUTANT", _OFF))
_recording = "MUTATION_RECORD" in os.environ
#: The process that runs the tests, which may not write while it watches what is written.
tests = 0
ran: set[int] = set()
#: One set for each call of a cached function that is being computed.
_computing: list[set[int]] = []


def mutated(number: int) -> bool:
    """Return whether this mutant is on, and note that its place runs."""
    if _recording:
        _note(number)
    return number == active


def _note(number: int) -> None:
    for one in _computing:
        one.add(number)
    if number not in ran:
        ran.add(number)
        if os.getpid() == tests:
            return
        with suppress(OSError, KeyError):
            file = os.open(os.environ["MLSUB_MUTATION_RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, b"%d\n" % number)
            os.close(file)


def _key(args: Any, kwargs: Any) -> Any:
    return args, tuple(sorted(kwargs.items()))


def cache_with(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator like the one given, by which a kept result notes again what ran when it was computed."""

    def decorate(*given: Any, **options: Any) -> Any:
        if given and callable(given[0]):
            return _kept(make, given[0])
        return lambda function: _kept(make(*given, **options), function)

    return decorate if _recording else make


def _kept(make: Callable[..., Any], function: Callable[..., Any]) -> Any:
    ran: dict[Any, set[int]] = {}

    @functools.wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        _computing.append(numbers := set[int]())
        try:
            return function(*args, **kwargs)
        finally:
            _computing.pop()
            ran[_key(args, kwargs)] = numbers

    kept = make(computed)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = kept(*args, **kwargs)
        for number in ran.get(_key(args, kwargs), ()):
            _note(number)
        return result

    for name in ("cache_clear", "cache_info", "cache_parameters"):
        setattr(called, name, getattr(kept, name))
    return called


cache = cache_with(functools.cache)
lru_cache = cache_with(functools.lru_cache)
