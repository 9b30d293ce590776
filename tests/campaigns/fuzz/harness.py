"""One surface of mlsub that reads foreign bytes, as a function of these bytes."""

from __future__ import annotations

import pkgutil
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module


class BrokenError(AssertionError):
    """Something that has to hold for any bytes does not hold for these."""


@dataclass(frozen=True)
class Harness:
    """A surface, and how it is attacked.

    Attributes:
        name: of the harness and of its folder of inputs: small letters, digits and hyphens.
        surface: what is read, in a few words, for the table of figures.
        run: reads the bytes as mlsub would, and raises :class:`BrokenError` where the answer is not what it has to be.
            Any other exception that leaves it is a finding as well, so it catches only the errors that mlsub documents.
            It depends on nothing but the bytes: no clock, no chance, and nothing of an input before.
        seeds: well-formed inputs to begin with, small ones first.
        words: parts of well-formed inputs that a mutation may put in.
        generate: draws an input from the grammar of the surface; None where mutations do as well.
        longest: no input is longer, in bytes.
        seconds: no input may take longer, on a machine with nothing else to do; the bound grows with the input by
            ``seconds_per_kb``.
        seconds_per_kb: what each 1,000 bytes of an input add to the bound.
        megabytes: by no more may the memory of the process grow while it reads one input.
    """

    name: str
    surface: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[bytes, ...] = ()
    generate: Callable[[random.Random], bytes] | None = None
    longest: int = 20_000
    seconds: float = 1.0
    seconds_per_kb: float = 0.01
    megabytes: int = 200


@cache
def harnesses() -> dict[str, Harness]:
    """The harnesses of all modules in ``surfaces``, by name, in order."""
    found = [harness for module in _modules() for harness in harnesses_of(module)]
    by_name = {harness.name: harness for harness in sorted(found, key=lambda harness: harness.name)}
    if len(by_name) != len(found):
        raise ValueError("two harnesses have one name")
    return by_name


def harnesses_of(module: str) -> tuple[Harness, ...]:
    """The harnesses of one module."""
    return getattr(import_module(module), "HARNESSES", ())


def module_of(name: str) -> str:
    """The module that has a harness."""
    return next(module for module in _modules() if any(harness.name == name for harness in harnesses_of(module)))


def _modules() -> list[str]:
    surfaces = import_module("tests.campaigns.fuzz.surfaces")
    return [f"{surfaces.__name__}.{found.name}" for found in pkgutil.iter_modules(surfaces.__path__)]
