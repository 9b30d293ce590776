"""Try a harness: ``python -m tests.fuzz NAME [INPUTS] [SEED]``."""

from __future__ import annotations

import random
import sys
import time
import traceback

from tests.fuzz.harness import Harness, harnesses


def mutated(data: bytes, harness: Harness, rng: random.Random) -> bytes:
    """An input with one to four changes."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(5):
            case 0:
                content[at : at + rng.choice((0, 1, 1, 4))] = bytes(
                    rng.randrange(256) for _ in range(rng.choice((1, 2)))
                )
            case 1:
                content[at:at] = rng.choice(harness.words or (b"\0",))
            case 2:
                del content[at : at + rng.choice((1, 2, 8, 64))]
            case 3:
                content[at:at] = content[at : at + rng.choice((1, 8, 64))] * rng.choice((1, 2, 30))
            case _:
                content[at : at + 1] = rng.choice((b"{", b"}", b"[", b"]", b'"', b"\n", b":", b",", b"-", b"0", b"\\"))
    return bytes(content[: harness.longest])


def main() -> int:
    """Run mutations of the seeds, and print the first finding."""
    harness = harnesses()[sys.argv[1]]
    inputs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    seeds = list(harness.seeds())
    begun = time.perf_counter()
    for number in range(inputs):
        if harness.generate is not None and rng.random() < 0.5:
            data = harness.generate(rng)
        else:
            data = mutated(rng.choice(seeds), harness, rng)
        try:
            harness.run(data)
        except BaseException:
            traceback.print_exc()
            print(f"input {number}: {data!r}")
            return 1
    print(f"{inputs} inputs, {inputs / (time.perf_counter() - begun):.0f} a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
