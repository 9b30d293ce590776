"""Hostile input takes little CPU time; measured, so left to ``make campaigns``, on a machine with little else to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mlsub.commands.fix.repairs import fix_description
from mlsub.convergence.filecheck import check_reference_file
from mlsub.io.documents import Pair
from mlsub.judge.preflight import preflight
from mlsub.log.rewrite import rewrite
from mlsub.packing.edits import lines_of
from mlsub.packing.manifest import Redact
from mlsub.packing.redactor import Redactor
from mlsub.rounds import get_round


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail where something takes more CPU time."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < seconds


PIECES = (
    *(b"a" * 99 + b" ", b"/a", b"@a.b", b"1.2.3.", b"a@", b"::1", b"host_name ", b"token=", b"-a", b"://a:"),
    *(
        b"node[1-9],",
        b"sk-",
        b"eyJ",
        b"eyJ0123456789.",
        b"xoxb-",
        b"ssh -a b ",
        b"\n+ whoami",
        b"curl -u a:",
        b"srun -w ",
    ),
    *(b"-----BEGIN PRIVATE " + b"KEY-----", b"-----BEGIN PRIVATE " + b"KEY-----\n" + b"A" * 64 + b"\n"),
    *(b"\nAAAAAAAAAAAAAAAAAAA", b"password: ", b"key token ", b"user=a ", b"0a:1b:", b"connect to a1 "),
    *(b"/lustre/a/scratch/b/scratch/c", b"user@host:/a ", b"/home", b"/home/users/a.", b"/fsx/a", b"/work7/scratch0/a"),
    *(
        b".com.",
        b'password="' + b"a1" * 6 + b'" ' + b"a1" * 50_000,
        b" ".join(b"key=" + b"a1" * n for n in range(6, 300)),
    ),
)


@pytest.mark.parametrize("piece", PIECES)
def test_redact_reads_any_text(piece: bytes, tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(piece * (1_000_000 // len(piece)))
    redactor = Redactor(Redact(env=True))
    with within(4):
        redactor.survey([file])
        rewrite(file, redactor.edit())


@pytest.mark.parametrize(
    "text",
    [b"{" + b",\n".join([b'"a":1'] * 100_000) + b"}", b'{"a":"' + b" \n" * 100_000 + b'"}', b" " * 1_000_000 + b"{}"],
    ids=["one key", "one value", "blanks"],
)
def test_repairs_of_a_description(text: bytes) -> None:
    with within(20):
        fix_description(lines_of(text), get_round("training", "4.1").statuses)


def test_names_that_stand_twice_in_reference_points(tmp_path: Path) -> None:
    """Counting each name in the list of all took 13 s for 40,000 of them, and grew with the square."""
    file = tmp_path / "rcps_resnet.json"
    file.write_text("{" + ",".join(f'"{n}":1,"{n}":1' for n in range(500_000)) + "}")
    with within(10):
        check_reference_file(file)


def test_keys_that_are_almost_known() -> None:
    with within(20):
        given = [Pair(f"opt_momentun{'x' * 200}{n}", n, n + 1) for n in range(50_000)]
        preflight(get_round("rehearsal", "1.0"), "closed", "digits", given, "hp.yaml")
