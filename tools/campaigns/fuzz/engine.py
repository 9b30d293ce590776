"""What a harness is, and the inputs that Hypothesis draws for it: seeds and generated inputs, with edits."""

from __future__ import annotations

import ast
import random
import signal
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NoReturn

from hypothesis import strategies as st

#: In memory, where there is such a place.
SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None
CORPUS = Path(__file__).with_name("corpus")


def words(name: str) -> tuple[bytes, ...]:
    """Return the words of a dictionary, which is written as AFL and libFuzzer read them."""
    lines = Path(__file__).with_name("words").joinpath(f"{name}.dict").read_text("ascii").splitlines()
    return tuple(ast.literal_eval(f"b{line}") for line in lines if line.startswith('"'))


class BrokenError(AssertionError):
    """Something that has to hold for any bytes does not hold for these."""


@dataclass(frozen=True)
class Harness:
    """A surface that reads foreign bytes, and how it is attacked.

    ``run`` reads the bytes as mlsub would, raises :class:`BrokenError` where the answer is wrong, and catches only
    errors that mlsub documents. It depends on nothing but the bytes. An input begins as one of the well-formed
    ``seeds``, as a file of the folder of that name in ``corpus``, or as what ``generate`` draws from a grammar; an edit
    may put in ``words`` of well-formed inputs. It has at most ``longest`` bytes, and takes at most so many ``seconds``
    of CPU time.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]] = tuple
    words: tuple[bytes, ...] = ()
    generate: Callable[[random.Random], bytes] | None = None
    longest: int = 20_000
    seconds: float = 5.0


@cache
def harnesses() -> dict[str, Harness]:
    """Return all harnesses by name."""
    from tools.campaigns.fuzz import archives, documents, logs, packages

    return {one.name: one for module in (archives, documents, logs, packages) for one in module.HARNESSES}


def kept(harness: Harness) -> list[Path]:
    """Return the files of a harness in the corpus: seeds, and small inputs of what was once wrong."""
    return sorted((CORPUS / harness.name).glob("*"))


def inputs(harness: Harness) -> st.SearchStrategy[bytes]:
    """Return the strategy of a harness: a seed or a generated input, with up to eight edits."""
    begin = st.sampled_from((*harness.seeds(), *(file.read_bytes() for file in kept(harness))))
    if (generate := harness.generate) is not None:
        begin |= st.integers(0, 1 << 32).map(lambda number: generate(random.Random(number)))
    put = st.binary(max_size=4) | st.sampled_from(words("common"))
    if harness.words:
        put |= st.sampled_from(harness.words)
    edit = st.tuples(st.integers(0, 10**6), st.sampled_from((0, 0, 1, 1, 4, 16, 64, 10**6)), put)
    return st.tuples(begin, st.lists(edit, max_size=8)).map(lambda drawn: edited(*drawn)[: harness.longest])


def edited(data: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Return an input with edits: a place in millionths of its length, how many bytes go there, and what comes."""
    for place, gone, put in edits:
        at = place * len(data) // 10**6
        data = data[:at] + put + data[at + gone :]
    return data


def attempt(harness: Harness, data: bytes) -> None:
    """Run one input.

    Raises:
        TimeoutError: it takes more CPU time than the harness allows; in C code the process waits for a kill.
    """
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, harness.seconds)
    try:
        harness.run(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError("the input takes too much CPU time")


_scratch = cache(partial(tempfile.TemporaryDirectory, prefix="mlsub-fuzz-", dir=SCRATCH))


def scratch(name: str) -> Path:
    """Return a folder of this process, the same at each call; what it holds is the caller's to remove."""
    folder = Path(_scratch().name) / name
    folder.mkdir(exist_ok=True)
    return folder
