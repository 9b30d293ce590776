"""This host as its tools report it: processors, memory, disks, network adapters and software."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from mlsub.systems.capture.accelerators import find_poplar
from mlsub.systems.capture.tools import (
    Found,
    bytes_in_words,
    children,
    counted,
    decoded,
    output_of,
    read_text,
    run_tool,
    unknown,
)
from mlsub.systems.catalogue import Value
from mlsub.systems.fields import fields
from mlsub.systems.names import normalised, registry

_CLOCK = re.compile(r"@\s*([0-9.]+\s*GHz)", re.IGNORECASE)
_CACHES = ("L1d", "L1i", "L2", "L3")
_GIB = 1 << 30
_COLUMNS = "NAME,TYPE,SIZE,ROTA,TRAN,RM"
#: Memory that looks like a disk.
_NO_DISKS = ("zram", "ram", "loop", "fd", "sr", "nbd")


class _Row(msgspec.Struct):
    """A row of ``lscpu -J``."""

    field: str = ""
    data: str = ""
    children: list[_Row] = []


class _Disk(msgspec.Struct):
    """A disk as ``lsblk -J`` has it; old versions have ``"1"`` where new ones have true."""

    name: str = ""
    type: str = ""
    size: int | None = None
    rota: bool | None = None
    tran: str | None = None
    rm: bool | None = None


def find_processor() -> Found:
    """Return the processors of this host, as lscpu has them."""
    ran = run_tool(["lscpu", "-J"])
    found = decoded(ran, dict[str, list[_Row]]) or {}
    # Old versions nest their rows, and end the names in colons.
    table = {row.field.strip().rstrip(":"): row.data.strip() for row in _rows(found.get("lscpu", ()))}
    if not table:
        reason = "there is no lscpu" if ran is None else f"lscpu reports nothing: {ran.complaint or 'no table'}"
        return {name: unknown(reason) for name in fields().fields if name.startswith("host_processor")}
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
    """Return the memory of this host: what the kernel has of it."""
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
    """Return the disks of this host; network file systems are the submitter's to name."""
    ran = run_tool(["lsblk", "-J", "-b", "-d", "-o", _COLUMNS])
    found = decoded(ran, dict[str, list[_Disk]]) or {}
    disks = [disk for disk in found.get("blockdevices", ()) if _counts(disk)]
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


_PCI = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_ROW = re.compile(r'^(\S+) "([^"]*)" "([^"]*)" "([^"]*)"', re.MULTILINE)
_MAKERS = re.compile(r",? (Technologies|Corporation|Corp\.|Inc\.|Limited|Ltd\.|and subsidiaries)\b", re.IGNORECASE)


def find_network(root: Path) -> Found:
    """Return the network adapters of this host with their speeds, those without hardware left out."""
    topology = unknown("no tool on one host reports how hosts are connected")
    names = _names()
    adapters = [*_infiniband(root, names), *_ethernet(root, names)]
    if not adapters:
        none = unknown("/sys/class/net has no adapter with hardware behind it")
        return {"host_networking": none, "host_networking_topology": topology}
    source = "/sys/class" + (" and lspci" if names else "") + ": adapters of this host; say what each is for"
    return {"host_networking": Value(counted(adapters), source), "host_networking_topology": topology}


def _names() -> dict[str, str]:
    """Return makers and models by place on the PCI bus."""
    found = {}
    for place, kind, maker, model in _ROW.findall(output_of(["lspci", "-D", "-mm"])):
        if kind in ("Ethernet controller", "Infiniband controller", "Network controller"):
            found[place] = f"{_MAKERS.sub('', maker)} {model}".strip()[:120]
    return found


def _infiniband(root: Path, names: dict[str, str]) -> list[str]:
    found = []
    for device in children(root / "sys/class/infiniband"):
        for port in children(device / "ports"):
            if (read_text(port / "link_layer") or "").strip() == "InfiniBand":
                rate = re.match(r"[0-9.]+ Gb/sec", read_text(port / "rate") or "")
                speed = rate[0].replace("Gb/sec", "Gb/s") if rate else ""
                found.append(" ".join(f"{_name(device, names)} InfiniBand {speed}".split()))
    return found


def _ethernet(root: Path, names: dict[str, str]) -> list[str]:
    found = []
    for device in children(root / "sys/class/net"):
        # Type 1 is Ethernet; without a device behind it, it is a bridge, a tunnel or the loop.
        if (device / "device").exists() and (read_text(device / "type") or "").strip() == "1":
            speed = (read_text(device / "speed") or "").strip()
            words = _speed(int(speed)) if re.fullmatch(r"[1-9][0-9]{0,7}", speed) else ""
            found.append(" ".join(f"{_name(device, names)} Ethernet {words}".split()))
    return found


def _speed(mbit_s: int) -> str:
    return f"{mbit_s / 1000:g} Gb/s" if mbit_s >= 1000 else f"{mbit_s} Mb/s"


def _name(device: Path, names: dict[str, str]) -> str:
    """Return the adapter's model; without lspci the name of its driver."""
    try:
        place = (device / "device").resolve().name
        driver = (device / "device" / "driver").resolve().name
    except (OSError, RuntimeError):
        return ""
    if _PCI.fullmatch(place) and place in names:
        return names[place]
    return "" if driver == "driver" else driver


#: Frameworks that often lie beside the one that trains.
_BESIDE = ("Keras", "scikit-learn")
#: Libraries that matter, by their Python distributions; the first of a name that is there counts.
_LIBRARIES = (
    ("CUDA", ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime")),
    ("cuDNN", ("nvidia-cudnn-cu12", "nvidia-cudnn-cu11", "nvidia-cudnn-cu13")),
    ("NCCL", ("nvidia-nccl-cu12", "nvidia-nccl-cu11", "nvidia-nccl-cu13")),
    ("libtpu", ("libtpu", "libtpu-nightly")),
    ("Transformer Engine", ("transformer-engine",)),
    ("Horovod", ("horovod",)),
    ("poptorch", ("poptorch",)),
)


def find_software(root: Path, driver: Value | None) -> Found:
    """Return what runs here; ``driver`` is the accelerators', as their tool has it."""
    return {
        "operating_system": _operating_system(root),
        "framework": _framework(),
        "other_software_stack": _stack(driver),
    }


def _operating_system(root: Path) -> Value:
    for place in ("etc/os-release", "usr/lib/os-release"):
        match = re.search(r'^PRETTY_NAME="?([^"\n]{1,120})"?$', read_text(root / place) or "", re.MULTILINE)
        if match is not None:
            return Value(match[1].strip(), f"/{place}: PRETTY_NAME; that of the container, if this is one")
    return Value(f"{platform.system()} {platform.release()}", "the kernel")


def _framework() -> Value:
    found = {name: number for name, info in registry().frameworks.names.items() if (number := _version(info.package))}
    main = [name for name in found if name not in _BESIDE] or list(found)
    if not main:
        return unknown("no framework in this Python environment; run mlsub where the training runs")
    if len(main) > 1:
        names = ", ".join(f"{name} {found[name]}" for name in main)
        return unknown(f"several in this Python environment ({names}); name the one that trains")
    return Value(f"{main[0]} {found[main[0]]}", "the Python environment that mlsub runs in")


def _stack(driver: Value | None) -> Value:
    parts = [Value(f"Python {platform.python_version()}", "the Python that mlsub runs in")]
    for name, distributions in _LIBRARIES:
        number = next((number for one in distributions if (number := _version(one))), None)
        if number is not None:
            parts.append(Value(f"{name} {number}", "its Python environment"))
    match = re.search(r"release ([0-9.]+)", output_of(["nvcc", "--version"]))
    if match is not None and not any(part.value.startswith("CUDA ") for part in parts):
        parts.append(Value(f"CUDA {match[1]}", "nvcc --version"))
    parts += find_poplar()
    if driver is not None and " driver " in str(driver.value):
        parts.append(driver)
    sources = dict.fromkeys(part.source for part in parts)
    return Value(", ".join(part.value for part in parts), "; ".join(sources))


def _version(package: str | None) -> str | None:
    """Return the version of a Python distribution, without importing it; None where it is not installed."""
    try:
        return version(package) if package else None
    except (PackageNotFoundError, ValueError, OSError):
        return None
