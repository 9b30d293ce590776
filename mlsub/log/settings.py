"""Settings that text states without a record: what a training prints as it begins, and literals of configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from mlsub.log.free_text import FreeText, LineSearch
from mlsub.log.lengths import StatedSetting

#: The settings, and what they are called in what is printed, in YAML and in shells; hyphens count as underscores.
_CALLED = {
    "batch_size": "global_batch_size gbs",
    "mini_batch_size": "minibs",
    "micro_batch_size": "micro_batch_size mbs",
    "accumulation": "gradient_accumulation_steps gradient_steps microbatches micro_batches",
    "tensor": "tensor_model_parallel_size tensor_model_parallel tp",
    "pipeline": "pipeline_model_parallel_size pipeline_model_parallel pp",
    "context": "context_parallel_size context_parallel cp",
    "expert": "expert_model_parallel_size expert_model_parallel ep",
    "learning_rate": "learning_rate lr max_lr",
    "steps": "max_steps train_iters",
    "config_file": "DLPAL config",
}
_NAMES = {called: name for name, names in _CALLED.items() for called in names.split()}
#: What Transformer Engine computes in where such a setting is on: linear layers, and attention beside FP8 ones.
_PRECISIONS = {"fp8": ("linear", "fp8"), "fp4": ("linear", "nvfp4"), "fp8_dot_product_attention": ("attention", "fp8")}
#: A training prints its settings before it trains, published ones in the first 0.3 MiB; how much of a line is read.
_MOST, _LONGEST_LINE, _MOST_VALUES = 1 << 21, 1 << 14, 5
#: A line whose sketch is without any of these states no setting.
_NEEDLES = (
    *(b"parallel_size", b"parallel-size", b"batch_size", b"batch-size", b"batches to constant", b"accumulation"),
    *(b"learning_rate", b"learning-rate", b"max_steps", b"max-steps", b"train_iters", b"train-iters"),
    *(b" lr: ", b":::dlpal ", b"config_", b"fp0:", b"fp0=", b'fp0"', b"fp0 .", b"fp0_dot"),
)
_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{0,15})?(?:[eE][-+]?[0-9]{1,2})?"
#: ``name: 1``, ``name=1``, ``--name 1`` and, as Megatron has it, ``name ....... 1``; ``lr`` also stands for the rate of
#: a step, unless it is alone in its line; the configuration that a launcher prints; and precisions that are on or off.
_PRINTED = re.compile(
    r"(?<![\w.$-])(?:--)?((?:global|micro)[_-]batch[_-]size|(?:tensor|pipeline|expert)[_-]model[_-]parallel[_-]size"
    r"|context[_-]parallel[_-]size|gradient[_-]accumulation[_-]steps|learning[_-]rate|max[_-]steps|train[_-]iters)"
    rf"[\"']?(?:=| ?: ?| | \.{{2,80}} )[\"']?({_NUMBER})(?![\w.$(%-])"
    r"|number of (micro-?batches) to constant ([0-9]{1,9})\b"
    rf"|^(?: {{0,4}}[0-9]{{1,6}}:)? {{1,40}}(lr): ({_NUMBER})\r?$"
    r"|^:::(DLPAL) .{1,2000} ([\w.+-]{1,120})[ \r]{0,9}$"
    r"|(?<![\w.+-])(?=(config)_)(config_[\w.+-]{1,120}\.sh)\b"
    r"|(?<![\w.$-])(fp[0-9](?:_dot_product_attention)?)[\"']?(?:=| ?: ?| \.{2,80} )[\"']?"
    r"([Tt]rue|hybrid|e[0-9]m[0-9]|[01])(?![\w.$(%-])"
)
_SKETCHED = re.compile(_PRINTED.pattern.replace("DLPAL", "dlpal").encode())
#: A line that assigns, what a line of a shell assigns in another way, and a literal.
_ASSIGNED = re.compile(r"([ \t]{0,100})(?:export[ \t]{1,9})?([A-Za-z_]{2,40})(?:=|:[ \t]{1,9})(.{0,200})")
_MENTIONED = re.compile(r"(?<![\w-])([A-Za-z_]{2,40})=")
_LITERAL = re.compile(rf"[\"']?({_NUMBER})[\"']?[ \t]{{0,40}};?[ \t\r]{{0,40}}(?:#.{{0,200}})?")


class SettingsReader:
    """Takes the lines of a log without records; :meth:`finish` gives the settings that they print."""

    def __init__(self) -> None:
        self._left = _MOST
        self._found: dict[str, dict[float | str, StatedSetting]] = {}

    def free(self, text: FreeText) -> None:
        """Take the next lines."""
        if self._left <= 0:
            return
        self._left -= len(text)
        for number, part, _ in _stating().find(text):
            for name, value, called in _read_line(part[:_LONGEST_LINE]):
                values = self._found.setdefault(name, {})
                if value not in values and len(values) < _MOST_VALUES:
                    values[value] = StatedSetting(value, text.line_at(number), called)

    def finish(self) -> dict[str, tuple[StatedSetting, ...]]:
        """Return what was printed so far, by its names, each with its first different values."""
        found = {name: tuple(values.values()) for name, values in self._found.items()}
        if "fp8" not in self._found.get("linear", ()):
            found.pop("attention", None)
        return found


def _find_stating(sketch: bytes) -> Iterator[tuple[int, int, None]]:
    """Yield the lines that may state a setting, whole."""
    for start, end in {span for needle in _NEEDLES for span in _find_lines(needle, sketch)}:
        if _SKETCHED.search(sketch[start:end], 0, _LONGEST_LINE):
            yield start, end, None


def _find_lines(needle: bytes, sketch: bytes) -> Iterator[tuple[int, int]]:
    """Yield the lines with a needle, each once."""
    end = 0
    while (place := sketch.find(needle, end)) >= 0:
        start, end = sketch.rfind(b"\n", 0, place) + 1, sketch.find(b"\n", place)
        end = end if end >= 0 else len(sketch)
        yield start, end


@cache
def _stating() -> LineSearch[None]:
    """The search of this process: each line is looked at once, in whichever log it stands."""
    return LineSearch(_find_stating)


@lru_cache(maxsize=512)
def _read_line(line: bytes) -> tuple[tuple[str, float | str, str], ...]:
    """Return the settings of a line that is no record, each by its name, with its value and how it is called there."""
    found = []
    for match in _PRINTED.finditer(line.decode("latin-1")) if b":::MLL" not in line else ():
        called, text = (group for group in match.groups() if group)
        if (name := _NAMES.get(called.replace("-", "_"))) is not None:
            found.append((name, text if name == "config_file" else float(text), called))
        elif called in _PRECISIONS and text != "0":
            found.append((*_PRECISIONS[called], called))
    return tuple(found)


def read_configuration(name: str, content: bytes) -> dict[str, StatedSetting]:
    """Return the settings that a shell script or a YAML file assigns, as literals and without a condition.

    Nothing is run: what is assigned again in another way, or in YAML with another value, is not known.
    """
    found: dict[str, StatedSetting | None] = {}
    is_shell = name.endswith(".sh")
    for number, line in enumerate(content.decode("latin-1").split("\n"), 1):
        match = _ASSIGNED.match(line)
        literal = _LITERAL.fullmatch(match[3]) if match and not (is_shell and match[1]) else None
        for called in [match[2]] if match and (literal or not is_shell) else _MENTIONED.findall(line):
            value = StatedSetting(float(literal[1]), number, called) if literal else None
            known = found.setdefault(_NAMES.get(called.lower(), ""), value)
            same = known is not None and value is not None and known.value == value.value
            found[_NAMES.get(called.lower(), "")] = value if is_shell or same else None
    return {setting: value for setting, value in found.items() if setting and value is not None}
