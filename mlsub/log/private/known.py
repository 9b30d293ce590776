"""Names and secrets that one line gives away, found wherever they stand: in time that does not depend on how many."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice

from mlsub.log.free_text import SKETCH, LineSearch
from mlsub.log.private import patterns
from mlsub.log.private.model import PrivateKind, PrivateSpan
from mlsub.log.private.patterns import Candidate, Judge, all_forms, candidates, candidates_in_words, is_mixed

#: Whose names may stand elsewhere too.
_OWNERS = (PrivateKind.PATH, PrivateKind.HOST, PrivateKind.USER)
#: Names looked for at most; the rest is replaced only where it gives itself away.
MAX_NAMES = 5000
#: Names that are looked at before they are learned, those of lists of hosts included.
MAX_LOOKED_UP = 500_000
#: Hosts that one list is taken apart into at most.
MAX_MEMBERS = 4096
_LIST_PART = re.compile(rb"(?<![\w.-])([\w.-]++)(?:\[([\d,-]{1,400})\])?(?::\d{1,5})?(?=,|\Z)")
#: Secrets that are looked for where nothing says that they are secret, and those that begin and end alike.
MAX_SECRETS, MAX_ALIKE = 1000, 8
#: How long these are: longer ones are several that overlap.
_DISTINCTIVE, MAX_SECRET = 12, 1 << 13
#: The length of the longest word of such a secret at least, and of the parts by which secrets are looked for.
_PART = 6
#: Any text as long as a secret has such a part at one of these places.
_EVERY = _DISTINCTIVE - _PART + 1
_WORD = re.compile(rb"[\w\x80-\xff]++")
_HOST_DOMAIN = re.compile(rb"(?:\.[A-Za-z][\w-]{0,62}){2,6}(?![\w-])")


def is_distinctive(secret: bytes) -> bool:
    """Return whether a secret is one wherever it stands: long, with a long word, of letters and digits."""
    if not _DISTINCTIVE <= len(secret) <= MAX_SECRET or not is_mixed(secret) or len(secret.split()) != 1:
        return False
    return max(map(len, _WORD.findall(secret))) >= _PART


class PrivateFinder:
    """What is looked for: names as whole words, hosts with their domain, secrets anywhere, and all that looks private.

    What is found gives away names, which are looked for from the next :meth:`begin` on. Lines of which only the digits
    differ are searched once, and what was found is judged in each.

    Args:
        names: those that are looked for from the beginning.
    """

    def __init__(self, names: Mapping[bytes, PrivateKind]) -> None:
        self.names = dict(names)
        self.secrets: dict[bytes, None] = {}
        #: The keys whose names are known, and how many names may still be looked up.
        self._looked_up: set[bytes] = set()
        self._members_left = MAX_LOOKED_UP
        self._forgot = False
        self._in_line = LineSearch(lambda sketch: candidates_in_words(sketch, all_forms().in_line))
        self._unsure = LineSearch(lambda sketch: candidates_in_words(sketch, all_forms().unsure))
        self.begin()

    def begin(self) -> None:
        """Look for the names and secrets that are known by now, and no others."""
        self._begun_with = len(self.names), len(self.secrets)
        self._sought = dict(islice(self.names.items(), MAX_NAMES))
        self._sketches = {name.translate(SKETCH) for name in self._sought}
        #: By the sketch of its first word, how long a name may be.
        self._lengths: defaultdict[bytes, set[int]] = defaultdict(set)
        for name in self._sketches:
            if first := _WORD.match(name):
                self._lengths[first[0]].add(len(name))
        self._name = lru_cache(maxsize=1 << 13)(self._judge_name)
        self._named = LineSearch(self._maybe_names)
        #: By parts of its beginning or end, a secret and what of it stands before the part.
        self._parts: defaultdict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
        self._secrets_left_out = len(self.secrets) > MAX_SECRETS
        for secret in islice(self.secrets, MAX_SECRETS):
            ends = (range(at, at + _EVERY) for at in (0, len(secret) - _DISTINCTIVE))
            by_end = [[(secret[at : at + _PART], at) for at in end] for end in ends]
            alike, rarer = min((max(len(self._parts[part]) for part, _ in end), end) for end in by_end)
            for part, at in rarer if alike < MAX_ALIKE else ():
                self._parts[part].append((at, secret))
            self._secrets_left_out |= alike >= MAX_ALIKE

    @property
    def has_learned(self) -> bool:
        """Whether there are more names or secrets than it began with."""
        return self._begun_with != (len(self.names), len(self.secrets))

    @property
    def left_out(self) -> bool:
        """Whether there were more names or secrets than are looked for wherever they stand."""
        return self._forgot or len(self.names) > MAX_NAMES or self._secrets_left_out

    def find(self, text: bytes) -> list[PrivateSpan]:
        """Return what is private in whole lines, with NUL for what is replaced already, in no order."""
        found = self._find_secrets(text)
        found += _judge(text, self._in_line, self._named)
        sketch = text.translate(SKETCH)
        blocks = all_forms().blocks
        for start, end, judge in candidates(sketch, blocks.hints_in(sketch), blocks):
            found += ((start + first, start + last, thing) for first, last, thing in judge(text[start:end]))
        for _, _, (kind, key) in found:
            # In records too: who is named in one is replaced in what stands around it.
            if kind in _OWNERS and key not in self._looked_up:
                self._remember(kind, key)
        return found

    def _remember(self, kind: PrivateKind, key: bytes) -> None:
        """Keep the names that stand for the owner of a thing, within bounds: a short list of hosts names thousands."""
        if self._members_left <= 0:
            self._forgot = True
            return
        self._looked_up.add(key)
        names = [patterns.user_of(key)] if kind is PrivateKind.PATH else members(key)
        kind = PrivateKind.USER if kind is PrivateKind.PATH else kind
        self._members_left -= max(1, len(names))
        looked_at = names[:MAX_MEMBERS]
        new = [name for name in looked_at if patterns.learnable(kind, name) and name not in self.names]
        room = max(0, MAX_NAMES - len(self.names))
        self.names.update(dict.fromkeys(new[:room], kind))
        self._forgot |= len(names) > MAX_MEMBERS or len(set(new)) > room

    def find_unsure(self, text: bytes) -> list[PrivateSpan]:
        """Return what looks like something private and is none for sure, in the order of lines."""
        return _judge(text, self._unsure)

    def _find_secrets(self, text: bytes) -> list[PrivateSpan]:
        """Return where secrets stand that are known; those that overlap are one."""
        found: list[tuple[int, int]] = []
        for place in range(0, len(text), _EVERY) if self._parts else ():
            for before, secret in self._parts.get(text[place : place + _PART], ()):
                start, end = place - before, place - before + len(secret)
                if start >= 0 and text.startswith(secret, start):
                    while found and found[-1][1] > start:
                        start, end = min(start, found[-1][0]), max(end, found.pop()[1])
                    found.append((start, end))
        return [(start, end, (PrivateKind.SECRET, text[start:end])) for start, end in found]

    def _maybe_names(self, sketch: bytes) -> Iterator[Candidate]:
        """Yield where names that are known may stand."""
        for match in _WORD.finditer(sketch) if self._lengths else ():
            if match[0] in self._lengths:
                start = match.start()
                ends = [start + length for length in self._lengths[match[0]]]
                ends = [_end(sketch, end) for end in ends if sketch[start:end] in self._sketches]
                if any(ends):
                    yield start, max(ends), self._name

    def _judge_name(self, value: bytes) -> tuple[PrivateSpan, ...]:
        for length in range(len(value), 0, -1):
            name = value[:length]
            kind = self._sought.get(name)
            if kind is not None and (end := _end(value, length)):
                return ((0, end if kind is PrivateKind.HOST else length, (kind, name)),)
        return ()


def _end(text: bytes, end: int) -> int:
    """Where a name ends with a domain behind it; 0 if it is part of a longer word."""
    domain = _HOST_DOMAIN.match(text, end)
    return 0 if _WORD.match(text, end) else domain.end() if domain else end


def _judge(text: bytes, *searches: LineSearch[Judge]) -> list[PrivateSpan]:
    """Return what is found in whole lines."""
    lines = text.translate(SKETCH).split(b"\n")
    different = set(lines)
    of_searches = [search.find_in(different) for search in searches]
    found: list[PrivateSpan] = []
    at = 0
    for line in lines:
        for start, end, judge in chain.from_iterable(of.get(line, ()) for of in of_searches):
            begin = at + start
            found += ((begin + first, begin + last, thing) for first, last, thing in judge(text[begin : at + end]))
        at += len(line) + 1
    return found


def members(hosts: bytes) -> list[bytes]:
    """Return the hosts of a list such as ``node[01-03,7],login1``, at most one more than a list may have."""
    found: list[bytes] = []
    for prefix, ranges in _LIST_PART.findall(hosts):
        for suffix in _suffixes(ranges) if ranges else (b"",):
            found.append(prefix.partition(b".")[0] + suffix)
            if len(found) > MAX_MEMBERS:
                return found
    return found


def _suffixes(ranges: bytes) -> Iterator[bytes]:
    for part in ranges.split(b","):
        first, dash, last = part.partition(b"-")
        if not first.isdigit() or len(first) > 9:
            continue
        stop = int(last) if dash and last.isdigit() and len(last) <= 9 else int(first)
        for number in range(int(first), min(stop, int(first) + MAX_MEMBERS) + 1):
            yield b"%0*d" % (len(first), number)
