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
from mlsub.submission.file_tree import FileTree
from mlsub.submission.model import Entry, LogReport
from mlsub.systems.fields import count
from mlsub.systems.names import accelerators_in

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


class StatedValue(msgspec.Struct, frozen=True):
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
    batch_size: StatedValue | None = None
    micro_batch_size: StatedValue | None = None
    accumulation: StatedValue | None = None
    tensor: StatedValue | None = None
    pipeline: StatedValue | None = None
    context: StatedValue | None = None
    expert: StatedValue | None = None
    linear: StatedValue | None = None
    attention: StatedValue | None = None
    communication: StatedValue | None = None
    config_file: StatedValue | None = None
    config_places: tuple[str, ...] | None = None
    accelerators: int | None = None


def read_disclosure(
    path: str, logs: Sequence[LogReport], accelerators: int | None, code: Sequence[str] = ()
) -> Disclosure:
    """Return what the runs of an entry disclose.

    Args:
        path: of the entry.
        logs: its logs.
        accelerators: those of its system; None where its description does not say.
        code: the files of the benchmark's code; without them nobody knows where the configuration lies.
    """
    values = {name: stated for name, key in KEYS.items() if (stated := read_stated(logs, key)) is not None}
    config_places = None
    names = set(_find_file_names(values["config_file"].value)) if "config_file" in values else set()
    if code and names:
        files = ((path, path.rpartition("/")[2]) for path in code)
        # A configuration may be named without what its file ends in.
        config_places = tuple(path for path, file in files if not names.isdisjoint((file, file.rpartition(".")[0])))
    return Disclosure(path=path, config_places=config_places, accelerators=accelerators, **values)


def read_stated(logs: Sequence[LogReport], key: str) -> StatedValue | None:
    """Return what runs state of a key; None where none does."""
    stated = [log for log in logs if key in log.run.hyperparameters]
    if not stated:
        return None
    values = dict.fromkeys(show(log.run.hyperparameters[key], _LONGEST) for log in stated)
    run, (first, *others) = stated[0].run, values
    value = run.hyperparameters[key]
    if len(first) >= _LONGEST:
        value = value[:_LONGEST] if isinstance(value, str) else first
    return StatedValue(value, stated[0].path, run.lines.get(key), tuple(others))


def show_value(value: Any) -> str:
    """Return a value as a table has it: numbers alone and in lists as the same text where they are equal."""
    if isinstance(value, list) and len(value) <= _MOST_NUMBERS:
        return f"[{', '.join(map(_show_one_value, value))}]"
    return _show_one_value(value)


def _show_one_value(value: Any) -> str:
    """Return a number, also one written as text, in seven digits, as a single-precision one has them."""
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else usable_number(value)
    if number is None or abs(number) >= _LARGE:
        return show(value, 60).strip('"')
    return str(int(number)) if number == int(number) else f"{number:.7g}"


def show_stated(stated: StatedValue) -> str:
    """Return what runs state, each value once."""
    values = [show_value(stated.value), *(other.strip('"') for other in stated.also)]
    return " or ".join(values[:_MOST_VALUES]) + (" …" if len(values) > _MOST_VALUES else "")


def select_code(benchmark: str, code: Iterable[str]) -> list[str]:
    """Return the files of a benchmark's code among those of an organisation, wherever in its folder they lie."""
    return [path for path in code if path.startswith(f"benchmarks/{benchmark}/")]


def _find_file_names(value: Any) -> Iterator[str]:
    """Yield the files that a value names, without their folders."""
    if isinstance(value, str):
        for part in re.split(r"[,;:+\s]", readable(value[:_LONGEST])):
            if name := part.rstrip("/").rpartition("/")[2]:
                yield name


def audit_disclosures(entries: Iterable[Entry], file_tree: FileTree | None) -> Iterator[Finding]:
    """Yield what the entries of an organisation disclose and what cannot be so, each once an entry."""
    files = file_tree.code if file_tree else ()
    for entry in entries:
        content = (entry.description.content if entry.description else None) or {}
        counts = [count(content.get(name)) for name in ("number_of_nodes", "accelerators_per_node")]
        code = select_code(entry.benchmark, files)
        disclosed = read_disclosure(entry.path, entry.logs, prod(one or 0 for one in counts) or None, code)
        if disclosed.config_file is not None:
            yield from _audit_config(entry, disclosed, disclosed.config_file, code)
        # Some of the accelerators generate what the others train on; how many, no log says.
        if not any(key.startswith("generation_") for log in entry.logs for key in log.run.hyperparameters):
            yield from _audit_parallelism(disclosed)


def _audit_config(entry: Entry, disclosed: Disclosure, config: StatedValue, code: Sequence[str]) -> Iterator[Finding]:
    """Yield what cannot be so of the configuration that an entry names."""
    shown = show(config.value, _LONGEST)

    def about(rule: str, expected: str | None = None, actual: str = shown, fix: str | None = None) -> Finding:
        return finding(rule, config.path, line=config.line, expected=expected, actual=actual, fix=fix)

    if config.also:
        yield about("config.differs", actual=several([shown, *config.also], 5))
    names = list(_find_file_names(config.value))
    if disclosed.config_places == ():
        there = [path.rpartition("/")[2] for path in code[:_MOST_NAMES]]
        close = get_close_matches(names[0], sorted(set(there)), 1, 0.8)
        fix = f"The code has {close[0]}; name the one that was used." if close else None
        yield about("config.missing", expected=f"a file below benchmarks/{entry.benchmark}", fix=fix)
    name = " ".join(names)
    model = entry.description.text("accelerator_model_name") if entry.description else ""
    named, known = accelerators_in(name), accelerators_in(model) | accelerators_in(entry.system)
    if named and known and named.isdisjoint(known):
        yield about("config.accelerator", expected=model)
    scale, number = _SCALE.search(name), disclosed.accelerators
    if scale is not None and number is not None and int(scale[1]) * int(scale[2]) != number:
        yield about("config.scale", expected=f"{number} accelerators")


def _audit_parallelism(disclosed: Disclosure) -> Iterator[Finding]:
    """Yield parallel sizes that do not divide the accelerators, else a batch that is no multiple of what they hold."""
    number = disclosed.accelerators
    stated = {name: getattr(disclosed, name) for name in ("tensor", "pipeline", "context", "expert")}
    sizes = {name: _read_size(value) for name, value in stated.items() if value is not None}
    if number is None or not sizes or None in sizes.values():
        return
    # Experts are spread over accelerators that share out the data or the sequence, stage by stage.
    model, experts = (
        {name: size for name, size in sizes.items() if name in group and size is not None}
        for group in (("tensor", "pipeline", "context"), ("pipeline", "expert"))
    )
    for group in (model, experts):
        if number % prod(group.values()):
            actual = f"{' x '.join(f'{name} {size}' for name, size in group.items())} = {prod(group.values())}"
            expected, first = f"a divisor of {number} accelerators", stated[next(iter(sizes))]
            yield finding("disclosure.parallelism", first.path, line=first.line, expected=expected, actual=actual)
            return
    replicas, where = number // prod(model.values()), disclosed.micro_batch_size
    batch, micro, steps = map(_read_size, (disclosed.batch_size, where, disclosed.accumulation))
    if batch is None or micro is None or where is None:
        return
    if (batch != micro * replicas * steps) if steps is not None else batch % (micro * replicas):
        expected = f"micro batch {micro} x {replicas} replicas x "
        expected += "a whole number" if steps is None else f"accumulation {steps} = {micro * replicas * steps}"
        actual = f"global_batch_size {batch}"
        yield finding("disclosure.batch-size", where.path, line=where.line, expected=expected, actual=actual)


def _read_size(stated: StatedValue | None) -> int | None:
    """Return a size of one or more; None where it is not stated, or differs from run to run."""
    return (count(stated.value) or None) if stated is not None and not stated.also else None
