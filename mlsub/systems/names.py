"""Names of processors, accelerators, interconnects and frameworks: how they are spelled, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import LONGEST, Spellings, flat
from mlsub.io.show import spellings as spellings_of
from mlsub.systems.fields import is_empty, is_not_applicable, is_placeholder

#: No name is longer; what is cut off could make no difference.
_LONGEST = 200
_MEMORY = re.compile(r"(?<![\d.])(\d{1,4}) ?gi?b?(?!\w)")
_TRADEMARK = re.compile(r"\((?:R|TM|C)\)|[®™©]", re.IGNORECASE)
#: The first two numbers of a version.
_VERSION = re.compile(r"(?<![\d.])\d{1,4}\.\d{1,4}")
#: Frameworks that stand on another one, which may be named in their place.
_LAYERS = ("DeepSpeed", "Keras", "NeMo")
#: How words end that tell a clock, cores or a cache.
_UNITS = ("hz", "core", "cores", "gb", "mb")
_NOISE = re.compile(r"\((?:R|TM|C)\)|\s@\s.*$|\sCPU\b|\s\d+-Core Processor\b|\s\(\d+ ?W\)$|\sProcessor$", re.IGNORECASE)


class NameInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to one name beside its spelling; see names.yaml."""

    printed: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    facts: dict[str, str] = {}
    package: str | None = None
    cores: int | None = None


class NameKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The names of one kind, by the spelling to use."""

    fields: tuple[str, ...]
    whole: bool
    names: dict[str, NameInfo] = {}
    case: bool = False

    @cached_property
    def spellings(self) -> dict[str, tuple[str, bool]]:
        """Each way to write a name: the spelling to use, and whether it is this one, or as tools print it."""
        found: dict[str, tuple[str, bool]] = {}
        for name, info in self.names.items():
            for right, known in ((True, (name, *info.printed)), (False, info.aliases)):
                for one in known:
                    found.setdefault(_plain(one), (name, right))
        return found


class Chip(msgspec.Struct, frozen=True):
    """One accelerator: the maker (and whose product it was besides), its line, its generation, its memory in GB.

    ``memory_gb`` has the memory of each variant. ``spelled`` are its names in small letters.
    """

    vendor: tuple[str, ...]
    line: str
    generation: str
    memory_gb: tuple[int, ...]
    spelled: tuple[str, ...]
    name: str = ""

    @property
    def family(self) -> str:
        """What a chart colours alike: the line and the generation."""
        return f"{self.line} {self.generation}"

    def memory_of(self, name: str) -> int | None:
        """Return the memory of one in GB, by the name of the variant; None where that leaves it open."""
        if len(self.memory_gb) == 1:
            return self.memory_gb[0]
        sizes = {int(size) for size in _MEMORY.findall(flat(name[:LONGEST]))}
        return next((size for size in self.memory_gb if size in sizes), None)


class Family(msgspec.Struct, frozen=True):
    """A name for several accelerators."""

    spelled: tuple[str, ...]
    members: tuple[str, ...]


class Registry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every name there is."""

    processors: NameKind
    accelerators: NameKind
    interconnects: NameKind
    frameworks: NameKind
    sockets: dict[str, int]
    slips: dict[str, str]
    makers: dict[str, str]
    generic_words: tuple[str, ...]
    chips: dict[str, Chip]
    families: dict[str, Family]
    shades: dict[str, tuple[tuple[str, ...], ...]]
    series: tuple[str, ...]
    boards: dict[str, str]
    models: dict[str, dict[str, NameInfo]]

    @property
    def kinds(self) -> tuple[NameKind, ...]:
        """The kinds of name."""
        return (self.processors, self.accelerators, self.interconnects, self.frameworks)

    def maker_of(self, name: str) -> str | None:
        """Return where the maker of a name publishes it; None where that is not known."""
        return next((where for start, where in self.makers.items() if name.startswith(start)), None)


class Naming(msgspec.Struct, frozen=True):
    """A name as a field of a description has it, and as it should be: None where the name is not known.

    ``how`` it is written: right, in another form of the same words (capitals, what tools add), in another spelling, or
    unknown.
    """

    field: str
    written: str
    wanted: str | None
    how: Literal["right", "form", "spelling", "unknown"]


@cache
def registry() -> Registry:
    """Return the table; the names of accelerators are the models of its chips."""
    found = shipped(__file__, "names.yaml", Registry)
    models = {name: known for variants in found.models.values() for name, known in variants.items()}
    return msgspec.structs.replace(found, accelerators=msgspec.structs.replace(found.accelerators, names=models))


def find_name(kind: NameKind, text: str) -> str | None:
    """Return the spelling to use of a name, also of one as tools print it; None for an unknown name."""
    name, _ = kind.spellings.get(_plain(text), (None, False))
    return name


def normalise(kind: NameKind, text: str) -> str:
    """Return the spelling to use of a name; an unknown one without trademarks and what else tools add."""
    return find_name(kind, text) or _clean(text)


def suggest_name(kind: NameKind, text: str) -> str | None:
    """Return the known name that an unknown one is probably meant to be.

    Words may be left out, written in one, or be misspelt where they are long; models that differ in a digit or a letter
    are different models.
    """
    wanted = _plain(text)
    known = {_plain(name): name for name in kind.names}
    if kind.spellings.get(wanted, (None, False))[1]:
        return None
    # What is the same but for blanks and punctuation.
    in_one_word = {"".join(_split_words(plain)): name for plain, name in known.items()}
    if (name := in_one_word.get("".join(_split_words(_plain(wanted))))) is not None:
        return name
    words = set(_split_words(wanted)) - set(registry().generic_words)
    if any(map(str.isdigit, wanted)):
        matches = [name for plain, name in known.items() if words <= set(_split_words(plain))]
        if len(matches) == 1 and any(len(word) > 2 for word in words if any(map(str.isdigit, word))):
            return matches[0]
    close = get_close_matches(wanted, known, n=5, cutoff=0.8)
    return next((known[name] for name in close if _is_misspelt(wanted.split(), name.split())), None)


def _split_words(plain: str) -> list[str]:
    return re.findall(r"[a-z0-9+]+", plain)


def _is_misspelt(words: list[str], meant: list[str]) -> bool:
    """Return whether words are others only because of typing errors in long ones that are letters alone."""
    if len(words) != len(meant):
        return False
    for word, other in zip(words, meant, strict=True):
        are_long = min(len(word), len(other)) >= 4 and (word + other).isalpha()
        if word != other and not (are_long and get_close_matches(word, [other], cutoff=0.7)):
            return False
    return True


def check_names(content: dict[str, Any]) -> Iterator[Naming]:
    """Yield the names in a description as they are and as they should be.

    Of processors and accelerators each is one, of interconnects and frameworks those that should be written otherwise.
    """
    for kind in registry().kinds:
        for field in kind.fields:
            text = content.get(field)
            if not isinstance(text, str) or is_empty(text) or is_placeholder(text) or is_not_applicable(text):
                continue
            if kind.whole:
                yield _check_name(kind, field, text[:_LONGEST])
            else:
                yield from _check_text(kind, field, text[:_LONGEST])


def find_slips(text: str) -> list[tuple[str, str]]:
    """Return the known typing errors in a text, each with what was meant."""
    return [
        (slip, meant)
        for slip, meant in registry().slips.items()
        if slip in text and _word_pattern(slip, re.NOFLAG).search(text[:2000])
    ]


def _check_name(kind: NameKind, field: str, text: str) -> Naming:
    known = kind.spellings.get(_plain(text))
    if known is None:
        meant = suggest_name(kind, text)
        return Naming(field, text, meant, "spelling" if meant else "unknown")
    name, right = known
    if not right:
        return Naming(field, text, name, "spelling")
    same = " ".join(_TRADEMARK.sub("", text).split()) == name
    return Naming(field, text, name, "right" if same else "form")


def _check_text(kind: NameKind, field: str, text: str) -> Iterator[Naming]:
    """Yield the names in a text that should be written otherwise."""
    # Where case is that of ASCII letters, most names are ruled out without a pattern.
    lower = text.lower() if text.isascii() else None
    for name, info in kind.names.items():
        for known in (name, *info.aliases) if kind.case else info.aliases:
            if lower is not None and known.lower() not in lower:
                continue
            match = _word_pattern(known, re.IGNORECASE).search(text)
            if match is not None and match[0] != name:
                yield Naming(field, match[0], name, "form" if match[0].lower() == name.lower() else "spelling")


@lru_cache(maxsize=256)
def _word_pattern(text: str, flags: int) -> re.Pattern[str]:
    """Return a pattern for the text as a word of its own: no part of an address, a package's name or a longer word."""
    return re.compile(rf"(?<![\w/.@-]){re.escape(text)}(?![\w/@-]|\.\w)", flags)


def _clean(text: str) -> str:
    """Return a name without trademarks and what tools add of clock, cores and power."""
    return " ".join(_NOISE.sub("", text[:_LONGEST]).split())


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Return the same for comparison: case never counts, nor whether words are joined by a blank or a hyphen."""
    return _clean(text).lower()


# ---- Whether two names may mean one thing


def same_processor(one: str, other: str) -> bool:
    """Return whether two names may be of one processor: the table or a model's number agrees, or one has no number."""
    known = {find_name(registry().processors, text) for text in (one, other)}
    return len(known) == 1 if None not in known else _agree(_model_numbers(one), _model_numbers(other))


def same_accelerator(one: str, other: str) -> bool:
    """Return whether two names may be of one accelerator: the table agrees, or one is not in it."""
    known = {find_name(registry().accelerators, text) for text in (one, other)}
    return len(known) == 1 if None not in known else _agree(accelerators_in(one), accelerators_in(other))


def same_framework(one: str, other: str) -> bool:
    """Return whether two texts may be of one framework: one of those that each names, and one of its versions."""
    known = [name for name in registry().frameworks.names if name not in _LAYERS]
    (names, versions), (others, others_versions) = (
        ({name for name in known if name.lower() in text.lower()}, set(_VERSION.findall(text[:_LONGEST])))
        for text in (one, other)
    )
    return _agree(names, others) and _agree(versions, others_versions)


def _agree(some: Set[str], others: Set[str]) -> bool:
    return not some or not others or not some.isdisjoint(others)


def _model_numbers(text: str) -> set[str]:
    """Return the words of a processor's name that tell its model: 7742, 8480c+."""
    words = (word for word in _split_words(_plain(text)) if len(word) > 3 and word[0].isdigit())
    return {word for word in words if sum(map(str.isdigit, word)) > 1 and not word.endswith(_UNITS)}


# ---- Which accelerator a name means


@cache
def all_chips() -> dict[str, Chip]:
    """Return every accelerator by its name, those of a maker together and older ones first."""
    return {name: msgspec.structs.replace(one, name=name) for name, one in registry().chips.items()}


@cache
def chip_spellings() -> Spellings:
    """Return the accelerators by their spellings; a family means each member, and itself."""
    known = registry()
    return spellings_of(
        [
            *((text, [name]) for name, one in known.chips.items() for text in one.spelled),
            *((text, [name, *family.members]) for name, family in known.families.items() for text in family.spelled),
        ]
    )


def chip_of(model: str, *besides: str) -> Chip | None:
    """Return the accelerator that a system has.

    Args:
        model: what the description says, ``accelerator_model_name``.
        besides: other names of the system, which decide where the model is only a family, such as ``TPU``.
    """
    found = _find_chips(model)
    for text in besides:
        if len(found) <= 1:
            break
        found = (found & _find_chips(text)) or found
    return all_chips()[next(iter(found))] if len(found) == 1 else None


def chip_columns(model: str | None, *besides: str) -> dict[str, Any]:
    """Return what is known of the accelerator of a system by the names of columns; None for all of an unknown one."""
    chip = chip_of(model or "", *besides)
    return {
        "accelerator_name": chip.name if chip else None,
        "vendor": chip.vendor[0] if chip else None,
        "family": chip.family if chip else None,
        "generation": chip.generation if chip else None,
        "accelerator_memory_gb": chip.memory_of(model or "") if chip else None,
    }


class Peak(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most that an accelerator computes in a second, at which precision, and who says so; see peaks.yaml."""

    teraflops: float
    precision: str
    source: str


def peak_of(chip: Chip) -> Peak | None:
    """Return the peak of an accelerator; None where no source states it."""
    return shipped(__file__, "peaks.yaml", dict[str, Peak]).get(chip.name)


@lru_cache(maxsize=1024)
def _find_chips(text: str) -> frozenset[str]:
    """Return every accelerator that a text may mean; where it names several, those that all of its names allow."""
    meant: frozenset[str] = frozenset()
    for _, values in chip_spellings().find(text[:LONGEST]):
        some = frozenset(values) & all_chips().keys()
        meant = (meant & some) or some if meant else some
    return meant


@lru_cache(maxsize=1024)
def accelerators_in(text: str) -> frozenset[str]:
    """Return the accelerators that the name of a system or a platform contains, such as ``a100`` in ``dgxa100_n8``.

    Variants of one are the same here (MI300X and MI300A, v5e and v5p), as are a board and the accelerator on it. Such a
    name is made of words that are joined in any way, so a spelling counts within a word too; names of several
    accelerators that have no number, such as TPU, do not count.
    """
    return frozenset(_drop_variant(match[0]) for match in _embedded_name_pattern().finditer(flat(text[:LONGEST])))


@lru_cache(maxsize=1)
def _embedded_name_pattern() -> re.Pattern[str]:
    known = sorted((text for text in chip_spellings().meanings if _single_meaning(text)), key=len, reverse=True)
    # A number ends where the digits end, a word where the letters do.
    exact = "|".join(re.escape(text) + ("(?![0-9])" if text[-1].isdigit() else "(?![a-z0-9])") for text in known)
    series = "|".join(name.replace(" ", " ?") for name in registry().series)
    return re.compile(rf"(?:(?<![a-z])|(?<=dgx)|(?<=hgx))(?:{exact})|(?:{series}) ?(?:pro ?)?\d+(?![0-9])")


def _single_meaning(text: str) -> str | None:
    """Return the accelerator that a spelling means, or the name of several that has a number, such as MI300."""
    known = chip_spellings().meanings[text]
    if len(known) == 1:
        return next(iter(known))
    return next((name for name in known - all_chips().keys() if any(map(str.isdigit, name))), None)


def _drop_variant(text: str) -> str:
    """Return the name that a text means without what distinguishes variants: letters behind its number."""
    name = _single_meaning(text) if text in chip_spellings().meanings else None
    name = registry().boards.get(name or "", name or text)
    plain = re.sub(r"[-_ ]|pro", "", name.lower())
    return re.sub(r"(?<=[0-9])[a-z]+$", "", plain)
