"""What is private by its look: the tokens of tokens.yaml, and the forms of looks.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

import msgspec

from mlsub.io.data import blake2b, shipped
from mlsub.log.free_text import SKETCH
from mlsub.log.private.model import PrivateKind, PrivateSpan

#: How far before something private is looked for what must not stand there.
_NEAR = 40
#: No token has fewer letters: Slack's has 15.
_SHORTEST_TOKEN = 15


class _Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of token: see tokens.yaml."""

    of: str
    prefixes: tuple[str, ...]
    shape: str
    source: str
    before: str = ""
    mixed: bool = False


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How something private looks in a line: see looks.yaml. A token has to match ``exact`` in its own letters."""

    near: tuple[str, ...]
    pattern: str
    left: str | None = None
    back: str | None = None
    unless: str | None = None
    way: int = 84
    kind: str | None = None
    exact: str | None = None


class _Looks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of looks.yaml."""

    looked_for: tuple[str, ...]
    asked: frozenset[str]
    alphabets: dict[str, str]
    parts: dict[str, str]
    forms: tuple[_Form, ...]
    blocks: tuple[_Form, ...]
    unsure: tuple[_Form, ...]
    checks: dict[str, str]
    common: str
    machines: str
    field: str


LOOKS = shipped(__file__, "looks.yaml", _Looks)
TOKENS = shipped(__file__, "tokens.yaml", tuple[_Token, ...])
#: Says what of a value is private, with places counted from its beginning.
Judge = Callable[[bytes], tuple[PrivateSpan, ...]]
#: A part of a sketch in which something may be private, and what judges that part of the text itself.
Candidate = tuple[int, int, Judge]


class LookedFor(NamedTuple):
    """A form, and hints of which one has to be in a text for it to be looked for, or even compiled."""

    near: tuple[bytes, ...]
    form: _Form


def shape(text: str) -> str:
    """Return the expression of a shape such as ``digit*8 - word*20-40``."""
    parts = []
    for part in text.split():
        alphabet, _, length = part.partition("*")
        least, _, most = length.partition("-")
        bounds = f"{{{least},{most}}}+" if most else f"{{{least}}}"
        parts.append(LOOKS.alphabets[alphabet] + bounds if length else re.escape(part))
    return "".join(parts)


def _token_form(token: _Token, prefix: str) -> LookedFor:
    """How a token looks in a sketch; of what is found there upper case and digits are compared."""
    near, before, after = prefix.encode().translate(SKETCH), shape(token.before), shape(token.shape)
    form = _Form(
        near=(near.decode(),),
        pattern=re.escape(near.decode()) + rf"{after}(?![\w-])".lower(),
        left=rf"(?<![\w-]){before}".lower() + r"\Z",
        kind="random" if token.mixed else "token",
        exact=f"{before}{re.escape(prefix)}{after}",
    )
    return LookedFor((near,), form)


def _with_hints(forms: Iterable[_Form]) -> Iterator[LookedFor]:
    for form in forms:
        for near in [(word,) for word in form.near] if "{near}" in form.pattern else [form.near]:
            one = msgspec.structs.replace(form, near=near, pattern=form.pattern.replace("{near}", re.escape(near[0])))
            yield LookedFor(tuple(word.encode() for word in near), one)


def _kinds_of(form: _Form) -> list[str]:
    """Return what a form finds: its kind, or its groups in brackets."""
    return [form.kind] if form.kind else [f"({name})" for name in re.findall(r"\(\?P<(\w+)>", form.pattern)]


def _judge_exactly(judge: Judge, exact: re.Pattern[bytes], value: bytes) -> Spans:
    return judge(value) if exact.fullmatch(value) else ()


@cache
def compiled(pattern: str) -> re.Pattern[bytes]:
    """Return a pattern of looks.yaml with its parts, which may have parts themselves."""
    for name, part in (*LOOKS.parts.items(), *LOOKS.parts.items()):
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern.encode())


class Forms(tuple[LookedFor, ...]):
    """Forms that are looked for together."""

    @cached_property
    def _hints(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The hints of tokens alone, and all others: each is searched for once in a text."""
        tokens = frozenset(word for one in self if one.form.exact for word in one.near)
        others = frozenset(word for one in self if not one.form.exact for word in one.near)
        return tokens - others, others

    def hints_in(self, text: bytes) -> set[bytes]:
        """Return the hints that are in a text."""
        return {hint for hints in self._hints for hint in hints if hint in text}

    def hints_in_words(self, text: bytes) -> set[bytes]:
        """Return the hints that are in a text, of forms whose hints have no blanks: words stand there several times."""
        words = set(text.split())
        long = (word for word in words if len(word) >= _SHORTEST_TOKEN)
        texts = zip(self._hints, (b"\n".join(long), b"\n".join(words)), strict=True)
        return {hint for hints, joined in texts for hint in hints if hint in joined}


class AllForms(NamedTuple):
    """Everything that is looked for: within a line, over several lines, and for a person to decide.

    ``asked`` are those within a line that a review looks for.
    """

    in_line: Forms
    asked: Forms
    blocks: Forms
    unsure: Forms


@lru_cache(maxsize=1)
def all_forms() -> AllForms:
    """Return the forms of looks.yaml and tokens.yaml."""
    tokens = (_token_form(token, prefix) for token in TOKENS for prefix in token.prefixes)
    in_line = Forms((*tokens, *_with_hints(LOOKS.forms)))
    asked = Forms(one for one in in_line if not LOOKS.asked.isdisjoint(_kinds_of(one.form)))
    return AllForms(in_line, asked, Forms(_with_hints(LOOKS.blocks)), Forms(_with_hints(LOOKS.unsure)))


def candidates(sketch: bytes, hints: Set[bytes], forms: Forms) -> Iterator[Candidate]:
    """Yield what may be private, in no order; they may overlap.

    Args:
        sketch: whole lines, with NUL for what is replaced already; it begins with a line end.
        hints: those in it, or more.
        forms: what is looked for.
    """
    mirrored = sketch[::-1]
    for one in forms:
        if not hints.isdisjoint(one.near):
            for match in compiled(one.form.pattern).finditer(sketch):
                yield from _matched(sketch, mirrored, one.form, match)


def candidates_in_words(sketch: bytes, forms: Forms) -> Iterator[Candidate]:
    """Yield the :func:`candidates` of forms whose hints have no blanks."""
    return candidates(sketch, forms.hints_in_words(sketch), forms)


def _matched(sketch: bytes, mirrored: bytes, form: _Form, match: re.Match[bytes]) -> Iterator[Candidate]:
    start, end = match.span()
    left = compiled(form.left).search(sketch, max(0, start - form.way), start) if form.left else None
    back = compiled(form.back).match(mirrored, len(sketch) - start) if form.back else None
    if (form.left and not left) or (form.back and not back):
        return
    if form.kind:
        judge = _KINDS[form.kind]
        if form.exact:
            judge = partial(_judge_exactly, judge, compiled(form.exact))
        parts = [(left.start() if left else start - len(back[0]) if back else start, end, judge)]
    else:
        matches = (match, left) if left else (match,)
        parts = [(*one.span(name), _KINDS[name]) for one in matches for name in one.re.groupindex]
    for start, end, judge in parts:
        if start < 0 or (form.unless and compiled(form.unless).search(sketch, max(0, start - _NEAR), start)):
            continue
        yield start, end, judge


Spans = tuple[PrivateSpan, ...]
#: No name of a model or a layer has so many letters and digits in a row.
_LONG = re.compile(rb"[A-Za-z0-9]{18}")
_DIGIT, _LETTER, _WORDS = re.compile(rb"\d"), re.compile(rb"[A-Za-z]"), re.compile(rb"[a-z]{2,}")
#: The class of each letter and digit: lower case, upper case, or digit.
_CLASSES = re.sub(rb"[a-z]", b"a", re.sub(rb"[A-Z]", b"A", re.sub(rb"\d", b"0", bytes(range(256)))))


def matches_check(value: bytes, *checks: str) -> bool:
    """Return whether a value begins as one of some checks of looks.yaml says; those of names are in small letters."""
    return any(compiled(LOOKS.checks[check]).match(value) for check in checks)


def _whole(kind: PrivateKind, value: bytes) -> Spans:
    return ((0, len(value), (kind, value)),)


_token = partial(_whole, PrivateKind.SECRET)


def _unless(check: str, kind: PrivateKind) -> Judge:
    """Judge a value to be whole of a kind, unless a check matches it."""
    return lambda value: () if matches_check(value.lower(), check) else _whole(kind, value)


_secret = _unless("no_secret", PrivateKind.SECRET)


def _random(value: bytes) -> Spans:
    is_word = len(value) < 12 or not is_mixed(value) or matches_check(value, "words")
    return () if is_word else _secret(value)


def is_mixed(value: bytes) -> bool:
    """Return whether a text has a digit and a letter."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


_KEY_LINE = re.compile(rb"(?:\A|\n|\\n)" + LOOKS.parts["rank"].encode() + rb"([^\s\0\\][^\n\0\\]*)")


def _block(value: bytes) -> Spans:
    """The lines of a key, all of one placeholder."""
    block = value.replace(b"\r", b"\n")
    key = b"\n" + blake2b(block).digest()
    lines = ((line.start(1), line[1].rstrip()) for line in _KEY_LINE.finditer(block))
    return tuple((start, start + len(line), (PrivateKind.SECRET, key)) for start, line in lines)


def _host(value: bytes) -> Spans:
    """A host, or a list of them."""
    name = value.rstrip(b".,-:[")
    lower = name.lower()
    if matches_check(lower, "not_hosts", "public") or matches_check(name, "four"):
        return ()
    # Without its domain, so that both spellings get one placeholder; a list as it is.
    key = name if b"[" in name or b"," in name or b":" in name else name.partition(b".")[0]
    return ((0, len(name), (PrivateKind.HOST, key)),)


def _numbered(value: bytes) -> Spans:
    return _host(value) if is_mixed(value) else ()


def _user(value: bytes) -> Spans:
    name = value.rstrip(b".-")
    is_none = len(name) < 2 or matches_check(name.lower(), "not_users")
    return () if is_none else _whole(PrivateKind.USER, name)


def _path(value: bytes) -> Spans:
    """The home folder of a user."""
    path = value.rstrip(b".-+@")
    is_none = matches_check(user_of(path).lower(), "not_users")
    return () if is_none else _whole(PrivateKind.PATH, path)


def user_of(path: bytes) -> bytes:
    """Return the user that a home folder is of; empty for another folder."""
    above, _, name = path.replace(b"\\", b"/").rpartition(b"/")
    return name if above.lower().endswith((b"/home", b"/users", b":/users", b"//users")) else b""


def _place(value: bytes) -> Spans:
    """A folder of a shared file system, unless its name is an everyday one."""
    path = value.rstrip(b".-+@")
    name = re.split(rb"/(?:scratch|work)\d*/", path)[-1].partition(b"/")[0]
    return () if name.lower() in _COMMON else _whole(PrivateKind.PATH, path)


def _machine(value: bytes) -> Spans:
    """Four numbers that are surely no version."""
    return _whole(PrivateKind.ADDRESS, value) if matches_check(value, "address") else ()


def _address(value: bytes) -> Spans:
    """Four numbers, which may be a version."""
    is_one = matches_check(value, "own") or sum(int(one) > 31 for one in value.split(b".")) > 2
    return _machine(value) if is_one else ()


def _identifier(value: bytes) -> Spans:
    is_one = len(_DIGIT.findall(value)) > 1 or (is_mixed(value) and value.isupper())
    return _whole(PrivateKind.ID, value) if is_one else ()


def _if_rare(judge: Judge) -> Judge:
    """Judge names only that have no words of the field and no everyday ones, but for those of machines in hosts."""
    return lambda value: judge(value) if is_rare(value, _MACHINES if judge is _numbered else frozenset()) else ()


def is_rare(name: bytes, known: frozenset[bytes] = frozenset()) -> bool:
    """Return whether a name has no word of the field, and no everyday one, but for those known."""
    return _EVERYDAY.isdisjoint(word for word in _WORDS.findall(name.lower()) if word not in known)


def _scrambled(value: bytes) -> Spans:
    """A word that changes between letters and digits as often as what is drawn or counted, and no name, does."""
    is_id = len(value) > 11 and is_mixed(value) and matches_check(value, "id")
    if matches_check(value, "words") or not (is_id or is_rare(value) or _LONG.search(value)):
        return ()
    classes = value.translate(_CLASSES, b"_+~-=")
    changes, length = sum(map(classes.count, (b"aA", b"a0", b"A0", b"0a", b"0A"))), len(classes)
    is_serial = b"a" not in classes and changes > 1 and classes.count(b"0") > 2
    is_mixed_up = length > 9 and changes * (5 if length > 15 else 3) >= length
    kind = PrivateKind.ID if is_id or is_serial else PrivateKind.SECRET
    return _whole(kind, value) if kind is PrivateKind.ID or is_mixed_up else ()


#: Each value of a kind is judged once, but for keys of many lines.
_KINDS: dict[str, Judge] = {
    **{"token": _token, "secret": _secret, "random": _random, "host": _host, "numbered": _numbered, "user": _user},
    **{"path": _path, "place": _place, "machine": _machine, "address": _address},
    **{"identifier": _identifier, "scrambled": _scrambled, "hex": _unless("not_hex", PrivateKind.ADDRESS)},
    **{"email": _unless("not_email", PrivateKind.EMAIL), "phrase": _unless("no_phrase", PrivateKind.SECRET)},
    **{"bucket": _unless("public_bucket", PrivateKind.PATH), "site": _unless("public", PrivateKind.HOST)},
    **{"storage": partial(_whole, PrivateKind.PATH), "folder": _if_rare(partial(_whole, PrivateKind.PATH))},
    **{"prefix": _if_rare(_numbered), "named": _if_rare(_host), "person": _if_rare(_user)},
}
#: Addresses are short, and there are 65,536 in a network of two numbers.
_KEPT = {"machine": 1 << 16, "address": 1 << 16}
_KINDS = {kind: lru_cache(maxsize=_KEPT.get(kind, 1 << 14))(judge) for kind, judge in _KINDS.items()}
_KINDS["block"] = _block

#: No name of a user or of a host, without its domain, is longer.
MAX_NAME = 64
_COMMON = frozenset(LOOKS.common.encode().split())
_EVERYDAY, _MACHINES = _COMMON.union(LOOKS.field.encode().split()), frozenset(LOOKS.machines.encode().split())


def learnable(kind: PrivateKind, name: bytes) -> bool:
    """Return whether a name stands for its owner wherever it is a word of its own: not short, and no word of logs."""
    lower = name.lower()
    if (
        not 3 <= len(name) <= MAX_NAME
        or lower in _COMMON
        or name.isdigit()
        or not name[:1].isalnum()
        or matches_check(lower, "not_hosts")
    ):
        return False
    return len(name) >= 4 or (kind is PrivateKind.HOST and is_mixed(name))
