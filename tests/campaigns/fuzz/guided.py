"""A turn under Atheris: ``guided MODULE NAME SEED STATE SECONDS INPUTS``, started by a campaign.

libFuzzer keeps inputs that reach new edges, and learns from comparisons; bounds, findings and progress are those of the
search of our own. Atheris instruments what is imported after it, so mlsub is imported below.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from zlib import crc32

import atheris
import msgspec

#: Atheris names each module that it instruments, and asks for a real file.
_NOTHING = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
with redirect_stderr(_NOTHING):  # the hook stays, for what is imported within functions
    atheris.instrument_imports(include=["mlsub"]).__enter__()
    from tests.campaigns.fuzz.finding import Failure
    from tests.campaigns.fuzz.guard import TRACED, failure_of
    from tests.campaigns.fuzz.harness import Harness, harnesses_of
    from tests.campaigns.fuzz.mutate import mutated
    from tests.campaigns.fuzz.reach import Tracer
    from tests.campaigns.fuzz.state import State
    from tests.campaigns.fuzz.turn import Turn

#: libFuzzer runs its corpus again at the begin of each batch, so batches are long.
_BATCH, _BATCH_SECONDS = 20_000, 10.0
#: What ends the process is for its parent to see.
_FLAGS = (
    *("-handle_abrt=0", "-handle_bus=0", "-handle_fpe=0", "-handle_ill=0", "-handle_segv=0", "-handle_int=0"),
    *("-handle_term=0", "-handle_xfsz=0", "-handle_usr1=0", "-handle_usr2=0"),
    *("-rss_limit_mb=0", "-malloc_limit_mb=0", "-timeout=0", "-runs=-1"),
)


class Guided(msgspec.Struct):
    """What came of a batch: how many inputs, and those that fail, with their numbers in it."""

    done: int
    found: list[tuple[int, bytes, Failure]]


class GuidedTurn(Turn):
    """A harness under Atheris, in batches that begin with all inputs that were kept."""

    def batch(self, most: int, until: float) -> None:
        """Run inputs and count them, those before one that ends the process as well."""
        with tempfile.TemporaryDirectory(prefix="mlsub-fuzz-") as folder:
            known = {
                self._put(Path(folder), data) for data in (*self.seeds, *(kept.data for kept in self.progress.kept))
            }
            self.fork.desk.put(0, b"")
            batch_until = min(until, time.monotonic() + _BATCH_SECONDS)
            ended = self.fork.run(lambda: self._fuzz(Path(folder), len(known), min(most, _BATCH), batch_until))
            self.progress.cpu += ended.cpu
            if ended.answer is None:
                number, data = self.fork.desk.number, self.fork.desk.data
                deadly: dict[int, tuple[bytes, Failure | None]] = {}
                assert ended.failure is not None
                self.blame(ended.failure, deadly)
                failure = deadly[number][1]
                batch = Guided(max(number, 1), [(number, data, failure)] if failure else [])
            else:
                batch = msgspec.json.decode(ended.answer, type=Guided)
            new = sorted(file for file in Path(folder).iterdir() if file.name not in known)
            self._learn([file.read_bytes() for file in new])
        before = self.progress.total
        self.progress.guided += batch.done
        for number, data, found in batch.found:
            self.add(before + number, data, found if self.is_open(found) else self.sure(data, found))

    def _put(self, folder: Path, data: bytes) -> str:
        name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        (folder / name).write_bytes(data)
        return name

    def _fuzz(self, folder: Path, known: int, most: int, until: float) -> bytes:
        """Run inputs of libFuzzer, first those of the folder, which do not count; it does not return."""
        batch = Guided(0, [])
        signatures: set[str] = set()
        left_out = known + 1

        def one(data: bytes) -> None:
            nonlocal left_out
            self.fork.desk.put(batch.done, data)
            failure = failure_of(self.harness, data)
            if failure is not None and failure.signature not in signatures:
                signatures.add(failure.signature)
                batch.found.append((batch.done, data, failure))
            if left_out:
                left_out -= 1
                return
            batch.done += 1
            if batch.done >= most or time.monotonic() >= until:
                self.fork.end(msgspec.json.encode(batch))

        with tempfile.NamedTemporaryFile("w", suffix=".dict") as words:
            for word in self.harness.words:
                words.write('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n')
            words.flush()
            seed = crc32(f"{self.progress.seed}/{self.progress.total}".encode()) or 1
            flags = (*_FLAGS, f"-seed={seed}", f"-max_len={self.harness.longest}", f"-dict={words.name}")
            atheris.Setup([sys.argv[0], *flags, str(folder)], one, custom_mutator=_mutator(self.harness))
            atheris.Fuzz()
        raise RuntimeError("libFuzzer has ended by itself")

    def _learn(self, new: list[bytes]) -> None:
        """Keep what libFuzzer has kept, and measure what it reaches."""

        def work() -> bytes:
            search, tracer = self.search(), Tracer()
            for number, data in enumerate(new):
                self.fork.desk.put(number, data)
                if failure_of(self.harness, data) is None:
                    search.keep(data, self.progress.total + number, tracer.steps(self.harness.run, data))
            return self.learnt(search)

        self.take(self.fork.run(work, TRACED))


def _mutator(harness: Harness) -> Callable[[bytes, int, int], bytes]:
    """Half of the inputs are mutations of libFuzzer, the others of our own or drawn from the grammar."""

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        chance = rng.random()
        if chance < 0.5:
            found: Any = atheris.Mutate(data, size)
            return bytes(found)
        if harness.generate is not None and chance < 0.75:
            return harness.generate(rng)[:size]
        return mutated(data, harness.words, size, rng)

    return mutate


def main() -> int:
    """Run a turn."""
    module, name, seed, folder, seconds, inputs = sys.argv[1:]
    try:
        with redirect_stderr(_NOTHING):
            harness = next(one for one in harnesses_of(module) if one.name == name)
            GuidedTurn(harness, State(Path(folder), seed)).run(float(seconds), int(inputs))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
