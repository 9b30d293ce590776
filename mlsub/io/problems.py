"""What is wrong with a file that people write: line by line, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import msgspec

from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.show import join_words

#: Such a file is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20
MAX_DEPTH = 100
#: So many problems of one file are reported, with so many characters of a message.
_MOST, _LONGEST = 100, 600


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a file, at a 1-based line; None where the reader of its language does not tell."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.line is None else f"{self.path}:{self.line}: {self.message}"


class FileProblemsError(MlsubError):
    """A file that cannot be used; ``problems`` says why, at least one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        shown = [msgspec.structs.replace(one, message=_shorten(one.message)) for one in problems[:_MOST]]
        if (more := len(problems) - _MOST) > 0:
            shown.append(msgspec.structs.replace(problems[_MOST], message=f"and {more} more problems"))
        self.problems = tuple(shown)
        super().__init__(*self.problems)


def refusal(path: str, line: int, message: str) -> FileProblemsError:
    """Return the error of a file with one problem."""
    return FileProblemsError((Problem(path, line, message),))


def _shorten(message: str) -> str:
    """A message without the middle of what it quotes: both ends say what is wrong."""
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 2 :]}"


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """Return a did-you-mean for a message, or what there is."""
    names = tuple(known)
    longer = [name for name in names if len(text) > 2 and name.startswith(text)]
    close = longer if len(longer) == 1 else get_close_matches(text, names, n=1)
    return f". Did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"


#: An error of jsonschema; its types say that each part of it may be missing.
Error = Any
#: The path of keys and positions to a place, and what is wrong there.
Flaw = tuple[tuple[str | int, ...], str]
#: So many are looked for in one document.
_MOST_FLAWS = 1000
#: Characters of a value that a message quotes.
_LONGEST_VALUE = 80
_KINDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}
#: Of a bound: what is expected. ``{}`` is the bound.
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}


_NO_SCHEMAS = "Settings, or rules of your own, cannot be held against their schema: jsonschema cannot be loaded here."


def find_flaws(content: Any, schema: dict[str, Any]) -> list[Flaw]:
    """Return what a schema refuses, up to a bound; a misspelled word is not also a missing one."""
    flaws = (flaw for error in _validator()(schema).iter_errors(content) for flaw in _flaws(error, ()))
    return list(dict.fromkeys(islice(flaws, _MOST_FLAWS)))


@lru_cache(maxsize=1)
def _validator() -> Any:
    """A validator to which 1.0 is not a whole number, NaN not above 0, and a line end not the end of a text."""
    try:
        from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
    except ImportError as error:  # A browser has no rpds, which it needs.
        raise MlsubError(f"{_NO_SCHEMAS} Correct them where it can.") from error

    def whole(_: Any, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def pattern(_: Any, due: str, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", due), value):
            yield ValidationError(f"does not match {due}")

    def above(_: Any, due: float, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, int | float) and not isinstance(value, bool) and not value > due:
            yield ValidationError(f"not above {due}")

    strict: Any = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {"pattern": pattern, "exclusiveMinimum": above},
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", whole),
    )
    return partial(strict, format_checker=FormatChecker(("date",)))


def _flaws(error: Error, before: tuple[str | int, ...]) -> Iterator[Flaw]:
    """An error as flaws; ``before`` is the path to where its own begins."""
    path = (*before, *error.path)
    value = error.instance
    if "propertyNames" in error.relative_schema_path:
        yield (*path, str(value)), _describe(error)
    elif error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for word in value:
            if word not in known:
                yield (*path, word), f"unknown word{did_you_mean(word[:_LONGEST_VALUE], known)}"
    elif error.validator == "required":
        strict = error.schema.get("additionalProperties") is False
        if not strict or set(value) <= set(error.schema.get("properties", ())):
            lacking = [name for name in error.schema["required"] if name not in value]
            yield path, f"{join_words(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _choice_flaws(error, path)
    else:
        yield path, _describe(error)


def _choice_flaws(error: Error, path: tuple[str | int, ...]) -> Iterator[Flaw]:
    """The flaws of the choice that was meant: the one that the kind of the value fits."""
    choices = group_by_key((inner.schema_path[0], inner) for inner in error.context)
    here = [inner for inner in error.context if not inner.path and inner.validator in ("type", "enum", "const")]
    fitting = [inner for inner in choices.values() if not any(one in here for one in inner)]
    named = [inner for inner in here if inner.validator != "type"]
    # A choice whose flaws all lie deeper was meant before one that the value itself does not fit.
    deeper = [inner for inner in fitting if all(one.path for one in inner)]
    only_missing = all(one.validator == "required" for inner in fitting for one in inner)
    fitting = deeper[:1] or (fitting if only_missing else fitting[:1])
    if len(fitting) == 1 and named and isinstance(error.instance, str) and all(not one.path for one in fitting[0]):
        others = join_words([str(value) for one in named for value in _values(one)], "or")
        yield path, f"{_describe(fitting[0][0])}, or {others}"
    elif len(fitting) == 1:
        for inner in fitting[0]:
            yield from _flaws(inner, path)
    elif fitting:
        names = [" and ".join(one.validator_value) for inner in fitting for one in inner[:1]]
        yield path, f"{join_words(names, 'or')} is missing"
    elif named and isinstance(error.instance, str):
        yield path, _not_among([value for one in named for value in _values(one)], error.instance)
    else:
        kinds = [kind for one in here for kind in _kinds(one.validator_value)] if not named else []
        kinds += [repr(value) for one in named for value in _values(one)]
        yield path, _expected(join_words(dict.fromkeys(kinds), "or"), error.instance) if kinds else error.message[:200]


def _describe(error: Error) -> str:
    """What is wrong with one value."""
    name, due, value = str(error.validator), error.validator_value, error.instance
    if name in ("enum", "const"):
        return _not_among(_values(error), value)
    if name == "type":
        return _expected(join_words(_kinds(due), "or"), value, quotes=due == "string")
    if name == "pattern":
        return f"{_shown(value)} {error.schema.get('patternErrorMessage', f'does not match {due}')}"
    if name == "format":
        return f"{_shown(value)} is not a day of the calendar; write it as 2021-06-30"
    if name in _BOUNDS:
        bound = _BOUNDS[name].format(f"{due:,.15g}")
        return _expected(bound.removesuffix("s") if due == 1 else bound, value)
    return str(error.message)[:200]


def _expected(due: str, value: Any, *, quotes: bool = False) -> str:
    plain = quotes and isinstance(value, int | float)
    return f"expected {due}, found {_shown(value)}{'; put it in quotes' if plain else ''}"


def _not_among(known: Iterable[Any], value: Any) -> str:
    names = [str(one) for one in known]
    if isinstance(value, str) and len(names) > 1:
        return f"unknown value {_shown(value)}{did_you_mean(value[:_LONGEST_VALUE], names)}"
    return _expected(join_words(names, "or"), value)


def _shown(value: Any) -> str:
    """A value for a message: what is short itself, of anything else its kind."""
    if isinstance(value, dict | list):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    return repr(value[:_LONGEST_VALUE]) if isinstance(value, str) else repr(value)[:_LONGEST_VALUE]


def _values(error: Error) -> list[Any]:
    due = error.validator_value
    return list(due) if error.validator == "enum" else [due]


def _kinds(due: str | list[str]) -> list[str]:
    return [_KINDS[name] for name in ([due] if isinstance(due, str) else due)]
