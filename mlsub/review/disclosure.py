"""What an entry discloses of its batch, parallelism, precision and configuration, and what of that cannot hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from math import isclose, prod
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding, Severity
from mlsub.io.show import readable, several, show
from mlsub.log.lengths import StatedSetting
from mlsub.log.reading import usable_number
from mlsub.review.run import audit_whole_batches
from mlsub.rules.catalogue import finding
from mlsub.submission.code import CodeKind, SubmittedCode, kind_of, select_code
from mlsub.submission.file_tree import named
from mlsub.submission.model import Entry, LogReport
from mlsub.systems.fields import count
from mlsub.systems.names import accelerators_in

#: What an entry may disclose: the key of each fact, and what a table calls it.
_FACTS = {
    "batch_size": ("global_batch_size", "batch"),
    "accumulation": ("gradient_accumulation_steps", "accum."),
    "micro_batch_size": ("micro_batch_size", "micro batch"),
    "tensor": ("tensor_parallelism", "TP"),
    "pipeline": ("pipeline_parallelism", "PP"),
    "context": ("context_parallelism", "CP"),
    "expert": ("expert_parallelism", "EP"),
    "linear": ("lowest_numerical_precision_in_linear", "linear"),
    "attention": ("lowest_numerical_precision_in_attn", "attention"),
    "communication": ("lowest_numerical_precision_in_comm", "comm"),
    "config_file": ("config_filename", "config"),
}
KEYS, HEADS = ({name: words[at] for name, words in _FACTS.items()} for at in (0, 1))
_OF_MODEL = ("tensor", "pipeline", "context")
#: The keys of what records state, by the settings of configurations.
_LOGGED = {
    **{name: (key,) for name, key in KEYS.items() if name != "config_file"},
    "learning_rate": ("opt_base_learning_rate",),
    "steps": ("opt_learning_rate_training_steps", "max_steps"),
}
#: Numbers that are equal but for how they are written.
_SLACK = 1e-6
#: Nodes and accelerators of each, as the names of configurations have them: config_MI325X_08x08x32.sh.
_SCALE = re.compile(r"(?<![0-9a-zA-Z])0{0,4}(\d{1,5})x0{0,3}(\d{1,4})(?=x|[^0-9a-zA-Z]|$)")
#: Parallel sizes, as such names have them: 8x8x1xtp4pp1cp2.
_PARALLEL = re.compile(r"(?<![0-9a-wyzA-Z])tp([1-9]\d{0,3})pp([1-9]\d{0,3})(?:cp([1-9]\d{0,3}))?(?![0-9a-zA-Z])")
#: A number as text, and from where on a number is not written out.
_NUMBER, _LARGE = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?"), 1e15
_LONGEST, _MOST_NAMES, _MOST_VALUES, _MOST_NUMBERS = 200, 1_000, 3, 12


class StatedValue(msgspec.Struct, frozen=True):
    """A value that a run states, and where; ``also`` are other values of other runs, each once, as text.

    ``printed`` says that no record states it, but what a log prints besides; a log may print several values.
    """

    value: Any
    path: str
    line: int | None = None
    also: tuple[str, ...] = ()
    printed: bool = False


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
    found = {name: read_stated(logs, key) or _read_printed(logs, name) for name, key in KEYS.items()}
    config_file = found["config_file"]
    if config_file is not None and config_file.printed and (parallel := _PARALLEL.search(config_file.value)):
        for name, size in zip(_OF_MODEL, parallel.groups(), strict=True):
            if size:
                known = StatedValue(int(size), config_file.path, config_file.line, printed=True)
                found[name] = found[name] or known
    config_places = None
    names = set(_find_file_names(config_file.value)) if config_file is not None else set()
    if code and names:
        # A launcher prints the name without what the names of all such files begin with.
        names |= {f"config_{name}" for name in names}
        files = ((path, path.rpartition("/")[2]) for path in code)
        # A configuration may be named without what its file ends in.
        config_places = tuple(path for path, file in files if not names.isdisjoint((file, file.rpartition(".")[0])))
    return Disclosure(path=path, config_places=config_places, accelerators=accelerators, **found)


def read_stated(logs: Sequence[LogReport], key: str) -> StatedValue | None:
    """Return what runs state of a key; None where none does."""
    stated = ((log, log.run.hyperparameters) for log in logs)
    return _join_places([(of[key], log.path, log.run.lines.get(key)) for log, of in stated if key in of])


def _read_printed(logs: Sequence[LogReport], name: str) -> StatedValue | None:
    """Return what logs print of a setting; None where none does.

    A configuration counts where a log prints one with a scale in its name: more are those that lie in a folder.
    """
    stated: list[tuple[Any, str, int | None]] = []
    for log in logs:
        found = log.trace.settings.get(name, ())
        if name == "config_file":
            found = tuple(one for one in found if _SCALE.search(str(one.value)))
            found = found if len(found) == 1 else ()
        stated += [(one.value, log.path, one.line) for one in found]
    return _join_places(stated, printed=True)


def _join_places(stated: Sequence[tuple[Any, str, int | None]], *, printed: bool = False) -> StatedValue | None:
    """Return what stands in some places, each with its path and line, as one; None where there is none."""
    if not stated:
        return None
    (value, path, line), (first, *others) = stated[0], dict.fromkeys(show(value, _LONGEST) for value, _, _ in stated)
    if len(first) >= _LONGEST:
        value = value[:_LONGEST] if isinstance(value, str) else first
    return StatedValue(value, path, line, tuple(others), printed)


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
    """Return what runs state, each value once, with a mark where it is only printed."""
    values = [*dict.fromkeys(map(show_value, (stated.value, *(other.strip('"') for other in stated.also))))]
    return " or ".join(values[:_MOST_VALUES]) + (" …" if len(values) > _MOST_VALUES else "") + "*" * stated.printed


def _find_file_names(value: Any) -> Iterator[str]:
    """Yield the files that a value names, without their folders."""
    if isinstance(value, str):
        for part in re.split(r"[,;:+\s]", readable(value[:_LONGEST])):
            if name := part.rstrip("/").rpartition("/")[2]:
                yield name


def audit_disclosures(entries: Sequence[Entry], submitted: SubmittedCode) -> Iterator[Finding]:
    """Yield what the entries of an organisation disclose and what cannot be so, each once an entry."""
    systems, benchmarks = ({getattr(entry, name) for entry in entries} for name in ("system", "benchmark"))
    for entry in (one for one in entries if one.logs):
        code = select_code(entry.benchmark, benchmarks, submitted.files)
        disclosed = read_disclosure(entry.path, entry.logs, prod(one or 0 for one in entry.size) or None, code)
        scaled = {
            path: [*_misfits(path.rpartition("/")[2], entry, disclosed)]
            for path in _select_configurations(code, entry, systems - {entry.system})
            if _SCALE.search(path.rpartition("/")[2])
        }
        if disclosed.config_file is not None:
            yield from _audit_named(entry, disclosed, disclosed.config_file, code)
        elif scaled and all(scaled.values()):
            yield _other_code(entry, scaled)
        if any(True for log in entry.logs for _ in audit_whole_batches(log.run, log.path)):
            disclosed = replace(disclosed, batch_size=None)  # One cause is one question.
        # Some of the accelerators generate what the others train on; how many, no log says.
        if not any(key.startswith("generation_") for log in entry.logs for key in log.run.hyperparameters):
            # Of what is only printed, each log has its own.
            printed = [name for name in KEYS if (of := getattr(disclosed, name)) is not None and of.printed]
            by_log = ({name: of for name in printed if (of := _read_printed((log,), name))} for log in entry.logs)
            of_sizes = (replace(disclosed, **own) for own in (by_log if printed else [{}]))
            impossible = next(filter(None, ([*_audit_parallelism(one)] for one in of_sizes)), [])
            yield from impossible
            if not impossible:
                places = disclosed.config_places or [path for path, misfits in scaled.items() if not misfits]
                used = {path: submitted.settings(path) for path in places if _is_configuration(path)}
                yield from _audit_values(entry, disclosed, used)


def _audit_named(entry: Entry, disclosed: Disclosure, config: StatedValue, code: Sequence[str]) -> Iterator[Finding]:
    """Yield what cannot be so of the configuration that an entry names; one that is only printed is asked about."""
    shown = show(config.value, _LONGEST)

    def about(rule: str, expected: str | None = None, actual: str = shown, fix: str | None = None) -> Finding:
        found = finding(rule, config.path, line=config.line, expected=expected, actual=actual, fix=fix)
        message = found.message.replace("config_filename states", "the log prints")
        return replace(found, severity=Severity.WARNING, message=message) if config.printed else found

    if config.also:
        yield about("config.differs", actual=several([shown, *config.also], 5))
    names = list(_find_file_names(config.value))
    if disclosed.config_places == ():
        there = [path.rpartition("/")[2] for path in code[:_MOST_NAMES]]
        close = get_close_matches(names[0], sorted(set(there)), 1, 0.8)
        fix = f"The code has {close[0]}; name the one that was used." if close else None
        where = "/".join(code[0].split("/")[:2])
        yield about("config.missing", expected=f"a file below {where}", fix=fix)
    for rule, expected in _misfits(" ".join(names), entry, disclosed):
        yield about(rule, expected=expected)


def _misfits(name: str, entry: Entry, disclosed: Disclosure) -> Iterator[tuple[str, str]]:
    """Yield the rules that the name of a configuration breaks, with what the entry has: its accelerator and scale."""
    model = entry.described("accelerator_model_name")
    of, known = accelerators_in(name), accelerators_in(model) | accelerators_in(entry.system)
    if of and known and of.isdisjoint(known):
        yield "config.accelerator", model
    scale, number = _SCALE.search(name), disclosed.accelerators
    if scale is not None and number is not None and int(scale[1]) * int(scale[2]) != number:
        yield "config.scale", f"{number} accelerators"


def _other_code(entry: Entry, scaled: Mapping[str, Sequence[tuple[str, str]]]) -> Finding:
    """Return that all configurations in the code that name a scale are of another accelerator, or of another scale."""
    # Of those for the entry's accelerator the scale is asked about: it comes behind by its rule's name.
    rule, expected = max(misfits[0] for misfits in scaled.values())
    paths = [path for path, misfits in scaled.items() if misfits[0][0] == rule]
    message = f"The code has configurations of another {rule.rpartition('.')[2]} only"
    actual = named(paths, f"benchmarks/{entry.benchmark}")
    return finding(rule, entry.path, message, expected=expected, actual=actual)


def _audit_values(
    entry: Entry, disclosed: Disclosure, used: Mapping[str, Mapping[str, StatedSetting]]
) -> Iterator[Finding]:
    """Yield the records whose values are not those that the log prints, or those of the configurations in use."""
    names = [name for name in _LOGGED if name != "batch_size" or disclosed.batch_size]
    logged = {name: values for name in names if (values := _read_logged(entry, name))}

    def agrees(name: str, value: Any) -> bool:
        # A rate may be that of one sample, or of one accelerator.
        factors = (1, _read_size(disclosed.batch_size), disclosed.accelerators) if name == "learning_rate" else (1,)
        numbers = [value * factor for factor in factors if factor]
        return any(isclose(one, of.value, rel_tol=_SLACK) for one in numbers for of in logged[name].values())

    differing: dict[str, str] = {}
    where, source = entry.logs[0], "configuration in the code has"
    for name, log in ((name, log) for log in entry.logs for name in logged if name in log.trace.settings):
        known = _read_printed((log,), name)
        if known is not None and not known.also and not agrees(name, known.value):
            where, source = (where, source) if differing else (log, "log prints")
            differing.setdefault(name, f"{show_value(known.value)} in line {known.line} of {log.name}")
    compared = []
    for path, settings in used.items():
        place = path.removeprefix(f"benchmarks/{entry.benchmark}/")
        stated = [*settings.items(), *(("batch_size", made) for made in _batches_of(settings, disclosed))]
        odd = [(name, of) for name, of in stated if name in logged and not agrees(name, of.value)]
        compared.append({name: f"{of.called} {show_value(of.value)} in {place}:{of.line}" for name, of in odd})
    # Of several configurations that may be the one, that which differs least is.
    for name, words in min(compared, key=len, default={}).items():
        differing.setdefault(name, words)
    if differing:
        keys = {name: next(iter(logged[name].items())) for name in differing}
        shown = [f"{key} {show_value(of.value)}, but {differing[name]}" for name, (key, of) in keys.items()]
        line = where.run.lines.get(next(iter(keys.values()))[0])
        message = f"Records state other values than the {source}"
        yield finding("config.values", where.path, message, line=line, actual=several(shown, 5))


def _select_configurations(code: Sequence[str], entry: Entry, others: Collection[str]) -> list[str]:
    """Return the configurations in folders called after the system of an entry, else those in no other system's."""
    folders = {path: path.rpartition("/")[0] for path in code}
    found = [path for path in code if _is_configuration(path)]
    if any(f"/{entry.system}" in folder for folder in set(folders.values())):
        return [path for path in found if f"/{entry.system}" in folders[path]] or found
    return [path for path in found if not any(f"/{of}" in folders[path] for of in others)]


def _is_configuration(path: str) -> bool:
    """Return whether a file of the code is a configuration by its name."""
    name = path.rpartition("/")[2]
    return name.startswith("config") and kind_of(name) in (CodeKind.SCRIPT, CodeKind.SETTINGS)


def _read_logged(entry: Entry, name: str) -> dict[str, StatedValue]:
    """Return the numbers that records state of a setting, the same in all runs, by their keys."""
    stated = {key: value for key in _LOGGED[name] if (value := read_stated(entry.logs, key)) is not None}
    return {key: one for key, one in stated.items() if not one.also and usable_number(one.value) is not None}


def _batches_of(settings: Mapping[str, StatedSetting], disclosed: Disclosure) -> Iterator[StatedSetting]:
    """Yield the batch that a configuration's parts make: a mini batch is that of a replica, a micro batch of a step."""
    sizes = [count(settings[name].value) or 0 for name in _OF_MODEL if name in settings]
    if len(sizes) < len(_OF_MODEL) or not all(sizes) or not disclosed.accelerators:
        return
    replicas = disclosed.accelerators / prod(sizes)
    for name, times in (("mini_batch_size", 1), ("micro_batch_size", _read_size(disclosed.accumulation))):
        part = usable_number(settings[name].value) if name in settings else None
        if part and times:
            words = f"{settings[name].called} {show_value(part)} x {show_value(replicas)} replicas"
            words += f" x accumulation {times} =" if times > 1 else " ="
            yield StatedSetting(part * replicas * times, settings[name].line, words)


def _audit_parallelism(disclosed: Disclosure) -> Iterator[Finding]:
    """Yield parallel sizes that do not divide the accelerators, else a batch that is not what they make of it."""
    number = disclosed.accelerators
    stated = {name: getattr(disclosed, name) for name in (*_OF_MODEL, "expert")}
    sizes = {name: _read_size(value) for name, value in stated.items() if value is not None}
    replicas = None
    if number is not None and "tensor" in sizes and None not in sizes.values():
        # Experts are spread over accelerators that share out the data or the sequence, stage by stage.
        model, experts = (
            {name: size for name, size in sizes.items() if name in group and size is not None}
            for group in (_OF_MODEL, ("pipeline", "expert"))
        )
        for group in (model, experts):
            if number % prod(group.values()):
                actual = f"{' x '.join(f'{name} {size}' for name, size in group.items())} = {prod(group.values())}"
                expected, first = f"a divisor of {number} accelerators", stated[next(iter(sizes))]
                yield finding("disclosure.parallelism", first.path, line=first.line, expected=expected, actual=actual)
                return
        replicas = number // prod(model.values())
    yield from _audit_batch(disclosed, replicas)


def _audit_batch(disclosed: Disclosure, replicas: int | None) -> Iterator[Finding]:
    """Yield a batch that is no multiple of what is known of its parts, or not their product where all are known."""
    batch, micro, steps = map(_read_size, (disclosed.batch_size, disclosed.micro_batch_size, disclosed.accumulation))
    where = disclosed.micro_batch_size if micro else disclosed.accumulation if steps else disclosed.tensor
    parts = {"micro batch {}": micro, "{} replicas": replicas, "accumulation {}": steps}
    product = prod(size or 1 for size in parts.values())
    if batch is None or where is None or (batch == product if all(parts.values()) else batch % product == 0):
        return
    expected = " x ".join(words.format(size) for words, size in parts.items() if size)
    expected += f" = {product}" if all(parts.values()) else " x a whole number"
    actual = f"global_batch_size {batch}"
    yield finding("disclosure.batch-size", where.path, line=where.line, expected=expected, actual=actual)


def _read_size(stated: StatedValue | None) -> int | None:
    """Return a size of one or more; None where it is not stated, or differs from run to run."""
    return (count(stated.value) or None) if stated is not None and not stated.also else None
