"""What a log says of its system outside of its records."""

from __future__ import annotations

import pytest

from mlsub.log.reader import LoggedSystem, SystemReader

_TEXT = '{"number_of_nodes":"4","accelerators_per_node":8,"framework":"PyTorch","status":["x"]}'
_KEPT = {"number_of_nodes": "4", "accelerators_per_node": "8", "framework": "PyTorch"}
CASES = {
    "nothing": (b"epoch 1\n", LoggedSystem()),
    "a description": (f"a\nb\n:::SYSJSON {_TEXT}\n".encode(), LoggedSystem(_KEPT, line=3)),
    "shown by a shell": (f"+ echo ':::SYSJSON {_TEXT}'\n:::SYSJSON {_TEXT}\n".encode(), LoggedSystem(_KEPT, line=1)),
    "the second": (f":::SYSJSON {{\n:::SYSJSON {_TEXT}".encode(), LoggedSystem(_KEPT, line=2)),
    "names": (
        b':::SYSJSON {"accelerator_model_name":"A","host_processor_model_name":"B","framework":["C"]}',
        LoggedSystem({"accelerator_model_name": "A", "host_processor_model_name": "B"}, line=1),
    ),
    "no object": (b":::SYSJSON [1]\n", LoggedSystem()),
    "too deep": (b":::SYSJSON " + b'{"a":' * 60_000, LoggedSystem()),
    "values of other types": (b':::SYSJSON {"number_of_nodes":[4],"accelerators_per_node":null}', LoggedSystem(line=1)),
    "beyond the bound": (b"\n" * (1 << 18) + f":::SYSJSON {_TEXT}\n".encode(), LoggedSystem()),
    "processes": (b"".join(b"%2d: :::MLLOG {}\n" % rank for rank in (0, 2, 1, 3, 0)), LoggedSystem(ranks=4)),
    "some processes": (b"".join(b"%2d: :::MLLOG {}\n" % rank for rank in (0, 2, 3)), LoggedSystem()),
    "another number": (b"epoch 3: :::MLLOG {}\n", LoggedSystem()),
}


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("name", CASES)
def test_the_first_description_and_the_processes_are_read(name: str, size: int) -> None:
    log, expected = CASES[name]
    if size == 1 and len(log) > 10_000:
        size = 4096
    reader = SystemReader()
    for start in range(0, len(log), size):
        reader.feed(log[start : start + size])
    assert reader.finish() == expected
