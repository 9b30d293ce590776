"""What an entry discloses of its batch, parallelism, precision and configuration, and what of that cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from math import prod
from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.io.show import readable, several, show
from mlsub.log.reading import usable_number
from mlsub.rules.catalogue import finding
from mlsub.submission.listing import Listing
from mlsub.submission.model import Entry, LogReport
from mlsub.systems.fields import count
from mlsub.systems.names import named_in

#: The key of each fact of a disclosure.
KEYS = {
    "batch_size": "global_batch_size",
    "micro_batch_size": "micro_batch_size",
    "accumulation": "gradient_accumulation_steps",
    "tensor": "tensor_parallelism",
    "pipeline": "pipeline_parallelism",
    "context": "context_parallelism",
    "expert": "expert_parallelism",
    "linear": "lowest_numerical_precision_in_linear",
    "attention": "lowest_numerical_precision_in_attn",
    "communication": "lowest_numerical_precision_in_comm",
    "config_file": "config_filename",
}
#: Nodes and accelerators of each, as the names of configurations have them: config_MI325X_08x08x32.sh.
_SCALE = re.compile(r"(?<![0-9a-zA-Z])0{0,4}(\d{1,5})x0{0,3}(\d{1,4})(?=x|[^0-9a-zA-Z]|$)")
#: A number as text, and from where on a number is not written out.
_NUMBER, _LARGE = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?"), 1e15
_LONGEST, _MOST_NAMES, _MOST_VALUES, _MOST_NUMBERS = 200, 1_000, 3, 12


class Fact(msgspec.Struct, frozen=True):
    """A value that a run states, and where; ``also`` are other values of other runs, each once, as text."""

    value: Any
    path: str
    line: int | None = None
    also: tuple[str, ...] = ()


class Disclosure(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs of an entry disclose; None where no run states it.

    ``config_places`` are the files of that name below the benchmark's code, relative to the organisation's folder; None
    where that code is not there. ``accelerators`` are those of the system, by its description.
    """

    path: str
    batch_size: Fact | None = None
    micro_batch_size: Fact | None = None
    accumulation: Fact | None = None
    tensor: Fact | None = None
    pipeline: Fact | None = None
    context: Fact | None = None
    expert: Fact | None = None
    linear: Fact | None = None
    attention: Fact | None = None
    communication: Fact | None = None
    config_file: Fact | None = None
    config_places: tuple[str, ...] | None = None
    accelerators: int | None = None


def disclosure_of(
    path: str, logs: Sequence[LogReport], accelerators: int | None, code: Sequence[str] = ()
) -> Disclosure:
    """Return what the runs of an entry disclose.

    Args:
        path: of the entry.
        logs: its logs.
        accelerators: those of its system; None where its description does not say.
        code: the files of the benchmark's code; without them nobody knows where the configuration lies.
    """
    facts = {name: fact for name, key in KEYS.items() if (fact := fact_of(logs, key)) is not None}
    places = _places(facts["config_file"], code) if "config_file" in facts else None
    return Disclosure(path=path, config_places=places, accelerators=accelerators, **facts)


def fact_of(logs: Sequence[LogReport], key: str) -> Fact | None:
    """Return what runs state of a key; None where none does."""
    stated = [log for log in logs if key in log.run.hyperparameters]
    if not stated:
        return None
    values = dict.fromkeys(show(log.run.hyperparameters[key], _LONGEST) for log in stated)
    run, (first, *also) = stated[0].run, values
    value = run.hyperparameters[key]
    if len(first) >= _LONGEST:
        value = value[:_LONGEST] if isinstance(value, str) else first
    return Fact(value, stated[0].path, run.lines.get(key), tuple(also))


def show_value(value: Any) -> str:
    """Return a value as a table has it: numbers alone and in lists as the same text where they are equal."""
    if isinstance(value, list) and len(value) <= _MOST_NUMBERS:
        return f"[{', '.join(map(_shown, value))}]"
    return _shown(value)


def _shown(value: Any) -> str:
    """A number in seven digits, as a single-precision one has them; also one that is written as text."""
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else usable_number(value)
    if number is None or abs(number) >= _LARGE:
        return show(value, 60).strip('"')
    return str(int(number)) if number == int(number) else f"{number:.7g}"


def show_fact(fact: Fact) -> str:
    """Return what runs state, each value once."""
    values = [show_value(fact.value), *(also.strip('"') for also in fact.also)]
    return " or ".join(values[:_MOST_VALUES]) + (" …" if len(values) > _MOST_VALUES else "")


def _accelerators(entry: Entry) -> int | None:
    content = (entry.description.content if entry.description else None) or {}
    counts = [count(content.get(name)) for name in ("number_of_nodes", "accelerators_per_node")]
    return prod(one or 0 for one in counts) or None


def code_of(benchmark: str, code: Iterable[str]) -> list[str]:
    """Return the files of a benchmark's code among those of an organisation, wherever in its folder they lie."""
    return [path for path in code if path.startswith(f"benchmarks/{benchmark}/")]


def _places(config: Fact, code: Sequence[str]) -> tuple[str, ...] | None:
    names = set(_names(config.value))
    return tuple(path for path in code if not names.isdisjoint(_spellings(path))) if code and names else None


def _names(value: Any) -> Iterator[str]:
    """The files that a value names, without their folders."""
    if isinstance(value, str):
        for part in re.split(r"[,;:+\s]", readable(value[:_LONGEST])):
            if name := part.rstrip("/").rpartition("/")[2]:
                yield name


def _spellings(path: str) -> tuple[str, str]:
    """The name of a file, with and without what it ends in."""
    name = path.rpartition("/")[2]
    return name, name.rpartition(".")[0] or name


def audit_disclosures(entries: Iterable[Entry], listing: Listing | None) -> Iterator[Finding]:
    """Yield what the entries of an organisation disclose and what cannot be so, each once an entry."""
    files = listing.code if listing else ()
    for entry in entries:
        code = code_of(entry.benchmark, files)
        stated = disclosure_of(entry.path, entry.logs, _accelerators(entry), code)
        if stated.config_file is not None:
            yield from _config(entry, stated, stated.config_file, code)
        # Some of the accelerators generate what the others train on; how many, no log says.
        if not any(key.startswith("generation_") for log in entry.logs for key in log.run.hyperparameters):
            yield from _sizes(stated)


def _config(entry: Entry, stated: Disclosure, config: Fact, code: Sequence[str]) -> Iterator[Finding]:
    shown = show(config.value, _LONGEST)

    def about(rule: str, expected: str | None = None, actual: str = shown, fix: str | None = None) -> Finding:
        return finding(rule, config.path, line=config.line, expected=expected, actual=actual, fix=fix)

    if config.also:
        yield about("config.differs", actual=several([shown, *config.also], 5))
    if stated.config_places == ():
        there = [path.rpartition("/")[2] for path in code[:_MOST_NAMES]]
        close = get_close_matches(next(_names(config.value), ""), sorted(set(there)), 1, 0.8)
        fix = f"The code has {close[0]}; name the one that was used." if close else None
        yield about("config.missing", expected=f"a file below benchmarks/{entry.benchmark}", fix=fix)
    name = " ".join(_names(config.value))
    model = entry.description.text("accelerator_model_name") if entry.description else ""
    if (named := named_in(name)) and (own := named_in(model) | named_in(entry.system)) and named.isdisjoint(own):
        yield about("config.accelerator", expected=model)
    scale, number = _SCALE.search(name), stated.accelerators
    if scale is not None and number is not None and int(scale[1]) * int(scale[2]) != number:
        yield about("config.scale", expected=f"{number} accelerators")


def _sizes(stated: Disclosure) -> Iterator[Finding]:
    """Yield parallel sizes that do not divide the accelerators, else a batch that is no multiple of what they hold."""
    number = stated.accelerators
    sizes = {
        name: _size(fact) for name in ("tensor", "pipeline", "context", "expert") if (fact := getattr(stated, name))
    }
    if number is None or not sizes or None in sizes.values():
        return
    first = next(fact for name in sizes if (fact := getattr(stated, name)))
    # Experts are spread over accelerators that share out the data or the sequence, stage by stage.
    model, experts = (
        {name: size for name, size in sizes.items() if name in of and size is not None}
        for of in (("tensor", "pipeline", "context"), ("pipeline", "expert"))
    )
    for group in (model, experts):
        if number % prod(group.values()):
            actual = f"{' x '.join(f'{name} {size}' for name, size in group.items())} = {prod(group.values())}"
            expected = f"a divisor of {number} accelerators"
            yield finding("disclosure.parallelism", first.path, line=first.line, expected=expected, actual=actual)
            return
    yield from _batch(stated, number // prod(model.values()))


def _batch(stated: Disclosure, replicas: int) -> Iterator[Finding]:
    batch, micro, steps = (_size(fact) for fact in (stated.batch_size, stated.micro_batch_size, stated.accumulation))
    if batch is None or micro is None or stated.micro_batch_size is None:
        return
    if (batch != micro * replicas * steps) if steps is not None else batch % (micro * replicas):
        times = f"accumulation {steps}" if steps is not None else "a whole number"
        expected = f"micro batch {micro} x {replicas} replicas x {times}"
        expected += f" = {micro * replicas * steps}" if steps is not None else ""
        where = stated.micro_batch_size
        actual = f"global_batch_size {batch}"
        yield finding("disclosure.batch-size", where.path, line=where.line, expected=expected, actual=actual)


def _size(fact: Fact | None) -> int | None:
    """A size of one or more; None where it is not stated, or not so."""
    return (count(fact.value) or None) if fact is not None and not fact.also else None
