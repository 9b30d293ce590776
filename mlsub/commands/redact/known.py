"""Names and secrets that one line gives away, found wherever they stand: in time that does not depend on how many."""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice

from mlsub.commands.redact.document import Kind, PrivateSpan
from mlsub.commands.redact.patterns import SKETCH, Candidate, all_looks, candidates, is_mixed

#: Names looked for at most; the rest is replaced only where it gives itself away.
MAX_NAMES = 5000
#: Secrets that are looked for where nothing says that they are secret, and how long they are at least.
MAX_SECRETS, _DISTINCTIVE = 1000, 12
_WORD = re.compile(rb"[\w\x80-\xff]++")
_HOST_DOMAIN = re.compile(rb"(?:\.[A-Za-z][\w-]{0,62}){2,6}(?![\w-])")
#: The length of the word by which a secret is looked for.
_ANCHOR = 6
#: Bytes of lines that are kept, and what is counted for each line and each place in it.
_MAX_KEPT, _WEIGHT = 1 << 24, 128


def anchor(secret: bytes) -> bytes:
    """Return the longest word of a secret that is one wherever it stands: long, of letters and digits; else nothing."""
    if len(secret) < _DISTINCTIVE or not is_mixed(secret) or len(secret.split()) != 1:
        return b""
    longest = max(_WORD.findall(secret), key=len)
    return longest if len(longest) >= _ANCHOR else b""


class Known:
    """What is looked for: names as whole words, hosts with their domain, secrets anywhere, and all that looks private.

    Lines of which only the digits differ are searched once, and what was found is judged in each.
    """

    def __init__(self, names: Mapping[bytes, Kind], secrets: Iterable[bytes]) -> None:
        self._names = dict(islice(names.items(), MAX_NAMES))
        self._secrets = {secret: anchor(secret).translate(SKETCH) for secret in islice(secrets, MAX_SECRETS)}
        self._sketches = {name.translate(SKETCH) for name in self._names}
        #: By the sketch of its first word, how long a name may be.
        self._lengths: defaultdict[bytes, set[int]] = defaultdict(set)
        for name in self._sketches:
            if first := _WORD.match(name):
                self._lengths[first[0]].add(len(name))
        self._name = lru_cache(maxsize=1 << 13)(self._judge_name)
        #: By the sketch of a line what may be private in it, and how much is kept.
        self._lines: dict[bytes, tuple[Candidate, ...]] = {}
        self._kept = 0

    def find(self, text: bytes) -> list[PrivateSpan]:
        """Return what is private in whole lines, with NUL for what is replaced already, in no order."""
        if self._kept > _MAX_KEPT:
            self._lines.clear()
            self._kept = 0
        sketch = text.translate(SKETCH)
        lines = sketch.split(b"\n")
        different = dict.fromkeys(lines)
        self._search([line for line in different if line not in self._lines])
        found: list[PrivateSpan] = []
        at = 0
        for line in lines:
            for start, end, judge in self._lines[line]:
                begin = at + start
                for first, last, thing in judge(text[begin : at + end]):
                    found.append((begin + first, begin + last, thing))
            at += len(line) + 1
        for start, end, judge in candidates(sketch, b"\n".join(different), all_looks()[1]):
            found += ((start + first, start + last, thing) for first, last, thing in judge(text[start:end]))
        return found

    def _search(self, lines: Sequence[bytes]) -> None:
        """Note what may be private in sketches of lines."""
        sketch = b"\n" + b"\n".join(lines)
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        found: defaultdict[int, list[Candidate]] = defaultdict(list)
        words = b"\n".join(set(sketch.split()))
        for start, end, judge in chain(candidates(sketch, words, all_looks()[0]), self._candidates(sketch, words)):
            number = bisect(starts, start) - 1
            found[number].append((start - starts[number], end - starts[number], judge))
        self._lines.update(dict.fromkeys(lines, ()))
        self._lines.update((lines[number], tuple(ones)) for number, ones in found.items())
        self._kept += len(sketch) + _WEIGHT * (len(lines) + sum(map(len, found.values())))

    def _candidates(self, sketch: bytes, words: bytes) -> Iterator[Candidate]:
        """Yield where names and secrets that are known may stand."""
        for secret, word in self._secrets.items():
            if word in words:
                for match in re.finditer(rb"(?=(" + re.escape(secret.translate(SKETCH)) + rb"))", sketch):
                    yield *match.span(1), self._judge_secret
        for match in _WORD.finditer(sketch) if self._lengths else ():
            if match[0] in self._lengths:
                start = match.start()
                ends = [start + length for length in self._lengths[match[0]]]
                ends = [_end(sketch, end) for end in ends if sketch[start:end] in self._sketches]
                if any(ends):
                    yield start, max(ends), self._name

    def _judge_secret(self, value: bytes) -> tuple[PrivateSpan, ...]:
        return ((0, len(value), (Kind.SECRET, value)),) if value in self._secrets else ()

    def _judge_name(self, value: bytes) -> tuple[PrivateSpan, ...]:
        for length in range(len(value), 0, -1):
            name = value[:length]
            kind = self._names.get(name)
            if kind is not None and (end := _end(value, length)):
                return ((0, end if kind is Kind.HOST else length, (kind, name)),)
        return ()


def _end(text: bytes, end: int) -> int:
    """Where a name ends with a domain behind it; 0 if it is part of a longer word."""
    domain = _HOST_DOMAIN.match(text, end)
    return 0 if _WORD.match(text, end) else domain.end() if domain else end
