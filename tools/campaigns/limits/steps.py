"""How many steps a regular expression takes, counted: each way that backtracking tries is a step, on every machine.

An expression is compiled from the tree of the standard library for a small machine that backtracks as its engine does.
What reads one character, or looks at a place, is left to the engine itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from tools.campaigns.limits.attacks import attacks

#: A repetition with a bound takes as long as its bound is high, and no longer: a low one stands for each.
LEAST, MORE = 3, 4
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
#: What the machine does, and with what: a matcher of one character, places to go on, or an expression apart.
Step = tuple[str, Any, Any]
Program = list[Step]


class TooManyError(Exception):
    """An expression takes more steps than are counted."""


class Machine:
    """A compiled expression, which is searched for or matched at the beginning; low bounds may stand for all."""

    def __init__(self, pattern: re.Pattern[Any], searched: bool, *, low_bounds: bool = True) -> None:
        binary = isinstance(pattern.pattern, bytes)
        text = pattern.pattern.decode("latin-1") if binary else pattern.pattern
        tree = parser.parse(text, pattern.flags & ~re.UNICODE)
        # Bytes are read as characters of Latin-1, among which only those of ASCII are letters.
        flags = pattern.flags & ~re.UNICODE if binary else pattern.flags
        self._searched = searched
        self._low_bounds = low_bounds
        self._program = self._compiled(tree, flags)
        self._whole = self._compiled([*tree, (codes.AT, codes.AT_END_STRING)], flags)
        self._left = 1_000_000

    def count(self, text: str, most: int) -> int:
        """The steps for a text; :class:`TooManyError` where there are more."""
        self._left = most
        self.spans(text)
        return most - self._left

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where it matches: as ``finditer`` gives it, or what ``match`` and ``fullmatch`` give."""
        if not self._searched:
            ends = [self._run(program, text, 0) for program in (self._program, self._whole)]
            return [(0, end) for end in ends if end is not None]
        found, at = [], 0
        while at <= len(text):
            end = self._run(self._program, text, at)
            if end is not None:
                found.append((at, end))
            at = at + 1 if end is None or end == at else end
        return found

    def _compiled(self, tree: Any, flags: int) -> Program:
        program: Program = []
        self._add(program, tree, flags)
        return [*program, ("done", None, None)]

    def _add(self, program: Program, tree: Any, flags: int) -> None:
        for kind, value in tree:
            if kind in _REPEATS:
                self._repeat(program, kind, value, flags)
            elif kind is codes.BRANCH:
                self._branch(program, value[1], flags)
            elif kind is codes.SUBPATTERN:
                self._add(program, value[3], (flags | value[1]) & ~value[2])
            elif kind is codes.ATOMIC_GROUP:
                program.append(("atomic", self._compiled(value, flags), None))
            elif kind in (codes.ASSERT, codes.ASSERT_NOT):
                back = value[1].getwidth()[0] if value[0] < 0 else 0
                program.append((str(kind).lower(), self._compiled(value[1], flags), back))
            else:
                program.append(("one", _matcher((kind, value), flags), None))

    def _repeat(self, program: Program, kind: Any, value: Any, flags: int) -> None:
        least, most, body = value
        assert body.getwidth()[0] > 0 or most is not codes.MAXREPEAT, "what is repeated without end is never empty"
        if kind is codes.POSSESSIVE_REPEAT:
            inner: Program = []
            self._repeat(inner, codes.MAX_REPEAT, value, flags)
            program.append(("atomic", [*inner, ("done", None, None)], None))
            return
        endless = most is codes.MAXREPEAT
        if self._low_bounds:
            least, most = min(least, LEAST), most if endless else min(most, min(least, LEAST) + MORE)
        for _ in range(least):
            self._add(program, body, flags)
        leaving = []
        for _ in range(1 if endless else most - least):
            leaving.append(len(program))
            program.append(("", None, None))
            self._add(program, body, flags)
        if endless:
            program.append(("jump", leaving[0], None))
        for place in leaving:
            ways = (place + 1, len(program))
            program[place] = ("split", *(ways[::-1] if kind is codes.MIN_REPEAT else ways))

    def _branch(self, program: Program, branches: Any, flags: int) -> None:
        leaving = []
        for number, branch in enumerate(branches):
            begin = len(program)
            program.append(("", None, None))
            self._add(program, branch, flags)
            leaving.append(len(program))
            program.append(("", None, None))
            last = number == len(branches) - 1
            program[begin] = ("jump", begin + 1, None) if last else ("split", begin + 1, len(program))
        for place in leaving:
            program[place] = ("jump", len(program), None)

    def _run(self, program: Program, text: str, at: int) -> int | None:
        """Where a match that begins there ends."""
        others = [(0, at)]
        while others:
            place, at = others.pop()
            while True:
                self._left -= 1
                if self._left < 0:
                    raise TooManyError
                kind, what, more = program[place]
                place += 1
                if kind == "one":
                    found = what(text, at)
                    if found is None:
                        break
                    at = found.end()
                elif kind == "split":
                    others.append((more, at))
                    place = what
                elif kind == "jump":
                    place = what
                elif kind == "done":
                    return at
                elif kind == "atomic":
                    end = self._run(what, text, at)
                    if end is None:
                        break
                    at = end
                else:
                    there = at >= more and self._run(what, text, at - more) is not None
                    if there is not (kind == "assert"):
                        break
        return None


_MATCHERS: dict[str, Callable[[str, int], re.Match[str] | None]] = {}


def _matcher(node: Any, flags: int) -> Callable[[str, int], re.Match[str] | None]:
    """The engine's own, for what reads one character or none."""
    written = f"{node} {flags}"
    if written not in _MATCHERS:
        _MATCHERS[written] = compiler.compile(parser.SubPattern(parser.State(), [node]), flags).match
    return _MATCHERS[written]


def growing(pattern: re.Pattern[Any], searched: bool) -> Iterator[tuple[str, str, str]]:
    """The texts on which an expression takes more than linear time, as (beginning, what is repeated, end).

    Where each further repetition costs the same, twice as many more cost twice as much more; where it costs more than
    the one before, four times. A part that reads far ahead looks like the latter while the text is short. What is long
    is repeated less often.
    """
    machine = Machine(pattern, searched)
    for attack in attacks(pattern):
        size = len(attack[1])
        tries = ((min(24, max(4, 400 // size)), 200_000), (min(200, max(12, 4_000 // size)), 1_000_000))
        if all(_grows(machine, attack, *how) for how in tries):
            yield attack


def _grows(machine: Machine, attack: tuple[str, str, str], times: int, most: int) -> bool:
    lead, body, end = attack
    try:
        one, two, four = (machine.count(lead + body * (times * more) + end, most) for more in (1, 2, 4))
    except TooManyError:
        return True
    return four - two > 3 * (two - one)
