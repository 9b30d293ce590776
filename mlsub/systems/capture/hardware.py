"""Processors, memory and disks: lscpu, /proc and lsblk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from mlsub.systems.capture.tools import Found, bytes_in_words, counted, decoded, read_text, run_tool, unknown
from mlsub.systems.catalogue import Value
from mlsub.systems.names import normalised, registry

_CLOCK = re.compile(r"@\s*([0-9.]+\s*GHz)", re.IGNORECASE)
_CACHES = ("L1d", "L1i", "L2", "L3")
_GIB = 1 << 30
_COLUMNS = "NAME,TYPE,SIZE,ROTA,TRAN,RM"
#: Memory that looks like a disk.
_NO_DISKS = ("zram", "ram", "loop", "fd", "sr", "nbd")


class _Row(msgspec.Struct):
    field: str = ""
    data: str = ""
    children: list[_Row] = []


class _Processor(msgspec.Struct):
    """What ``lscpu -J`` writes."""

    lscpu: list[_Row]


class _Disk(msgspec.Struct):
    name: str = ""
    type: str = ""
    size: int | None = None
    rota: bool | None = None
    tran: str | None = None
    rm: bool | None = None


class _Storage(msgspec.Struct):
    """What ``lsblk -J`` writes; old versions have ``"1"`` where new ones have true."""

    blockdevices: list[_Disk]


def find_processor() -> Found:
    """The processors of this host, as lscpu has them."""
    ran = run_tool(["lscpu", "-J"])
    found = decoded(ran, _Processor)
    # Old versions nest their rows, and end the names in colons.
    table = {row.field.strip().rstrip(":"): row.data.strip() for row in _rows(found.lscpu if found else ())}
    if not table:
        reason = "there is no lscpu" if ran is None else f"lscpu reports nothing: {ran.complaint or 'no table'}"
        names = ("processors_per_node", "processor_model_name", "processor_core_count", "processor_vcpu_count")
        also = ("processor_frequency", "processor_caches", "processor_interconnect")
        return {f"host_{name}": unknown(reason) for name in (*names, *also)}
    return {
        "host_processors_per_node": _number(table, "Socket(s)"),
        "host_processor_model_name": _model(table),
        "host_processor_core_count": _number(table, "Core(s) per socket"),
        "host_processor_vcpu_count": _number(table, "CPU(s)"),
        "host_processor_frequency": _frequency(table),
        "host_processor_caches": _caches(table),
        "host_processor_interconnect": (
            Value("N/A", "lscpu: one socket, so there is nothing to join")
            if table.get("Socket(s)") == "1"
            else unknown("no tool reports what connects the sockets")
        ),
    }


def find_memory(root: Path) -> Found:
    """The memory of this host: what the kernel has of it."""
    modules = unknown("only dmidecode reports it, and it needs root")
    text = read_text(root / "proc/meminfo") or ""
    match = re.search(r"^MemTotal:\s*([0-9]{1,18}) kB$", text, re.MULTILINE)
    if match is None:
        return {
            "host_memory_capacity": unknown("/proc/meminfo does not report a total"),
            "host_memory_configuration": modules,
        }
    gib = int(match[1]) * 1024 / _GIB
    # Equal hosts differ by some MB, which does not make them different.
    value = f"{gib:.0f} GiB" if gib >= 16 else f"{gib:.1f} GiB"
    source = "/proc/meminfo: what the kernel has, a little less than is fitted"
    return {"host_memory_capacity": Value(value, source), "host_memory_configuration": modules}


def _rows(rows: Iterable[_Row]) -> Iterator[_Row]:
    for row in rows:
        yield row
        yield from _rows(row.children)


def _number(table: dict[str, str], name: str) -> Value:
    value = table.get(name, "")
    known = re.fullmatch(r"[1-9][0-9]{0,6}", value)
    return Value(value, f"lscpu: {name}") if known else unknown(f"lscpu has no {name}")


def _model(table: dict[str, str]) -> Value:
    name = table.get("Model name", "")
    if name in ("", "-"):
        return unknown("lscpu has no model name")
    spelled = normalised(registry().processors, name)
    return Value(spelled, "lscpu: Model name" + (f" ({name[:80]})" if spelled != name else ""))


def _frequency(table: dict[str, str]) -> Value:
    most = table.get("CPU max MHz", "")
    if re.fullmatch(r"[0-9]{2,5}([.,][0-9]+)?", most):
        return Value(f"{float(most.replace(',', '.')):.0f} MHz (max)", "lscpu: CPU max MHz")
    match = _CLOCK.search(table.get("Model name", ""))
    if match is not None:
        return Value(f"{match[1]} (base)", "lscpu: Model name")
    return unknown("lscpu has no CPU max MHz, and the current frequency says little")


def _caches(table: dict[str, str]) -> Value:
    parts = [f"{name}: {table[f'{name} cache']}" for name in _CACHES if table.get(f"{name} cache")]
    return Value(", ".join(parts), "lscpu: caches of the whole host") if parts else unknown("lscpu has no caches")


def find_storage() -> Found:
    """The disks of this host; network file systems are the submitter's to name."""
    ran = run_tool(["lsblk", "-J", "-b", "-d", "-o", _COLUMNS])
    found = decoded(ran, _Storage)
    disks = [disk for disk in (found.blockdevices if found else ()) if _counts(disk)]
    if not disks:
        complaint = (
            "there is no lsblk" if ran is None else ": ".join(filter(None, ("lsblk reports no disk", ran.complaint)))
        )
        return {name: unknown(complaint) for name in ("host_storage_type", "host_storage_capacity")}
    kinds = [_kind(disk) for disk in disks]
    sizes = [f"{bytes_in_words(disk.size or 0)} {kind}" for disk, kind in zip(disks, kinds, strict=True)]
    source = "lsblk: disks of this host; name the file system that held the data, if it was another"
    return {
        "host_storage_type": Value(" + ".join(dict.fromkeys(kinds)), source),
        "host_storage_capacity": Value(counted(sizes), source),
    }


def _counts(disk: _Disk) -> bool:
    return (
        disk.type == "disk" and not disk.name.startswith(_NO_DISKS) and not disk.rm and 0 < (disk.size or 0) < 1 << 63
    )


def _kind(disk: _Disk) -> str:
    transport = (disk.tran or "").lower()
    if disk.name.startswith("nvme") or transport == "nvme":
        return "NVMe SSD"
    if disk.name.startswith(("vd", "xvd")):
        return "virtual disk"
    kind = "HDD" if disk.rota else "SSD"
    return f"{transport.upper()} {kind}" if transport in ("sata", "sas") else kind
