"""This host as its tools report it: processors, memory, disks, network adapters and software."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mlsub.systems.capture.tools import Found, children, count_names, output_of, read_text, run_tool, unknown
from mlsub.systems.catalogue import SourcedValue
from mlsub.systems.fields import fields
from mlsub.systems.names import normalise, registry

_CLOCK = re.compile(r"@\s*([0-9.]+\s*GHz)", re.IGNORECASE)
_COUNTS = {
    "host_processors_per_node": "Socket(s)",
    "host_processor_core_count": "Core(s) per socket",
    "host_processor_vcpu_count": "CPU(s)",
}
_CACHES = ("L1d", "L1i", "L2", "L3")
_CELL = re.compile(r'\b(\w++)="([^"]*)"')
#: Memory that looks like a disk.
_NO_DISKS = ("zram", "ram", "loop", "fd", "sr", "nbd")


def find_processor() -> Found:
    """Return the processors of this host, as lscpu has them."""
    ran = run_tool(["lscpu"])
    lines = ran.output.splitlines() if ran is not None and ran.succeeded else []
    table = {name.strip(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
    if not table:
        reason = "there is no lscpu" if ran is None else f"lscpu reports nothing: {ran.complaint or 'no table'}"
        return {name: unknown(reason) for name in fields().fields if name.startswith("host_processor")}
    found: Found = {
        "host_processor_model_name": unknown("lscpu has no model name"),
        "host_processor_frequency": unknown("lscpu has no CPU max MHz, and the current frequency says little"),
        "host_processor_caches": unknown("lscpu has no caches"),
        "host_processor_interconnect": unknown("no tool reports what connects the sockets"),
    }
    for field, name in _COUNTS.items():
        known = re.fullmatch(r"[1-9][0-9]{0,6}", table.get(name, ""))
        found[field] = SourcedValue(known[0], f"lscpu: {name}") if known else unknown(f"lscpu has no {name}")
    model, most = table.get("Model name", ""), table.get("CPU max MHz", "").replace(",", ".")
    if model not in ("", "-"):
        spelled = normalise(registry().processors, model)
        source = "lscpu: Model name" + (f" ({model[:80]})" if spelled != model else "")
        found["host_processor_model_name"] = SourcedValue(spelled, source)
    if re.fullmatch(r"[0-9]{2,5}(\.[0-9]+)?", most):
        found["host_processor_frequency"] = SourcedValue(f"{float(most):.0f} MHz (max)", "lscpu: CPU max MHz")
    elif clock := _CLOCK.search(model):
        found["host_processor_frequency"] = SourcedValue(f"{clock[1]} (base)", "lscpu: Model name")
    if caches := [f"{name}: {size}" for name in _CACHES if (size := table.get(f"{name} cache"))]:
        found["host_processor_caches"] = SourcedValue(", ".join(caches), "lscpu: caches of the whole host")
    if table.get("Socket(s)") == "1":
        found["host_processor_interconnect"] = SourcedValue("N/A", "lscpu: one socket, so there is nothing to join")
    return found


def find_memory(root: Path) -> Found:
    """Return the memory of this host: what the kernel has of it."""
    capacity = unknown("/proc/meminfo does not report a total")
    if match := re.search(r"^MemTotal:\s*([0-9]{1,18}) kB$", read_text(root / "proc/meminfo"), re.MULTILINE):
        gib = int(match[1]) / 2**20
        # Equal hosts differ by some MB, which does not make them different.
        value = f"{gib:.0f} GiB" if gib >= 16 else f"{gib:.1f} GiB"
        capacity = SourcedValue(value, "/proc/meminfo: what the kernel has, a little less than is fitted")
    modules = unknown("only dmidecode reports it, and it needs root")
    return {"host_memory_capacity": capacity, "host_memory_configuration": modules}


def find_storage() -> Found:
    """Return the disks of this host; network file systems are the submitter's to name."""
    ran = run_tool(["lsblk", "-P", "-b", "-d", "-o", "NAME,TYPE,SIZE,ROTA,TRAN,RM"])
    rows = [dict(_CELL.findall(line)) for line in ran.output.splitlines()] if ran is not None and ran.succeeded else []
    disks = [
        (_disk_kind(row), _show_disk_size(int(row["SIZE"])))
        for row in rows
        if (row.get("TYPE"), row.get("RM")) == ("disk", "0")
        and not row.get("NAME", "").startswith(_NO_DISKS)
        and re.fullmatch("[1-9][0-9]{0,18}", row.get("SIZE", ""))
    ]
    if not disks:
        complaint = ran.complaint if ran is not None else ""
        reason = "there is no lsblk" if ran is None else ": ".join(filter(None, ("lsblk reports no disk", complaint)))
        return dict.fromkeys(("host_storage_type", "host_storage_capacity"), unknown(reason))
    source = "lsblk: disks of this host; name the file system that held the data, if it was another"
    return {
        "host_storage_type": SourcedValue(" + ".join(dict.fromkeys(kind for kind, _ in disks)), source),
        "host_storage_capacity": SourcedValue(count_names([f"{size} {kind}" for kind, size in disks]), source),
    }


def _disk_kind(disk: dict[str, str]) -> str:
    name, transport = disk.get("NAME", ""), disk.get("TRAN", "").lower()
    if name.startswith("nvme") or transport == "nvme":
        return "NVMe SSD"
    if name.startswith(("vd", "xvd")):
        return "virtual disk"
    kind = "HDD" if disk.get("ROTA") == "1" else "SSD"
    return f"{transport.upper()} {kind}" if transport in ("sata", "sas") else kind


def _show_disk_size(size: int) -> str:
    """Return a size as makers of disks give it: decimal, three digits."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size / scale < 1000 else f"{size / scale:.0f}{unit}"
    return f"{size} bytes"


_ROW = re.compile(r'^(\S+) "(?:Ethernet|Infiniband|Network) controller" "([^"]*)" "([^"]*)"', re.MULTILINE)
_MAKERS = re.compile(r",? (Technologies|Corporation|Corp\.|Inc\.|Limited|Ltd\.|and subsidiaries)\b", re.IGNORECASE)


def find_network(root: Path) -> Found:
    """Return the network adapters of this host with their speeds, those without hardware left out."""
    rows = _ROW.findall(output_of(["lspci", "-D", "-mm"]))
    names = {place: f"{_MAKERS.sub('', maker)} {model}".strip()[:120] for place, maker, model in rows}
    adapters: list[str] = []
    for device in children(root / "sys/class/infiniband"):
        for port in children(device / "ports"):
            if read_text(port / "link_layer") == "InfiniBand":
                rate = re.match(r"([0-9.]+) Gb/sec", read_text(port / "rate"))
                adapters.append(f"{_name_adapter(device, names)} InfiniBand {f'{rate[1]} Gb/s' if rate else ''}")
    for device in children(root / "sys/class/net"):
        # Type 1 is Ethernet; without a device behind it, it is a bridge, a tunnel or the loop.
        if (device / "device").exists() and read_text(device / "type") == "1":
            speed = re.fullmatch(r"[1-9][0-9]{0,7}", read_text(device / "speed"))
            mbit_s = int(speed[0]) if speed else 0
            words = f"{mbit_s / 1000:g} Gb/s" if mbit_s >= 1000 else f"{mbit_s} Mb/s" if mbit_s else ""
            adapters.append(f"{_name_adapter(device, names)} Ethernet {words}")
    networking = unknown("/sys/class/net has no adapter with hardware behind it")
    if adapters:
        source = "/sys/class" + (" and lspci" if names else "") + ": adapters of this host; say what each is for"
        networking = SourcedValue(count_names([" ".join(adapter.split()) for adapter in adapters]), source)
    topology = unknown("no tool on one host reports how hosts are connected")
    return {"host_networking": networking, "host_networking_topology": topology}


def _name_adapter(device: Path, names: dict[str, str]) -> str:
    """Return the adapter's model by its place on the PCI bus; without lspci the name of its driver."""
    try:
        place, driver = ((device / part).resolve().name for part in ("device", "device/driver"))
    except (OSError, RuntimeError):
        return ""
    return names.get(place) or ("" if driver == "driver" else driver)


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
#: Other software by the command that names its version.
_COMMANDS = (
    ("CUDA", "nvcc --version", re.compile(r"release ([0-9.]+)")),
    ("Poplar SDK", "popc --version", re.compile(r"(?<![0-9])([0-9]++(?:\.[0-9]++){1,3})")),
    ("V-IPU", "vipu --version", re.compile(r"(?<![0-9])([0-9]++(?:\.[0-9]++){1,3})")),
)


def find_software(root: Path, driver: SourcedValue | None) -> Found:
    """Return what runs here; ``driver`` is the accelerators', as their tool has it."""
    system = SourcedValue(f"{platform.system()} {platform.release()}", "the kernel")
    for place in ("usr/lib/os-release", "etc/os-release"):
        if match := re.search(r'^PRETTY_NAME="?([^"\n]{1,120})"?$', read_text(root / place), re.MULTILINE):
            source = f"/{place}: PRETTY_NAME; that of the container, if this is one"
            system = SourcedValue(match[1].strip(), source)
    return {"operating_system": system, "framework": _find_framework(), "other_software_stack": _find_libraries(driver)}


def _find_framework() -> SourcedValue:
    versions = {name: _find_version(info.package) for name, info in registry().frameworks.names.items()}
    found = {name: number for name, number in versions.items() if number}
    main = [f"{name} {found[name]}" for name in ([name for name in found if name not in _BESIDE] or found)]
    if not main:
        return unknown("no framework in this Python environment; run mlsub where the training runs")
    if len(main) > 1:
        return unknown(f"several in this Python environment ({', '.join(main)}); name the one that trains")
    return SourcedValue(main[0], "the Python environment that mlsub runs in")


def _find_libraries(driver: SourcedValue | None) -> SourcedValue:
    parts = {"Python": SourcedValue(f"Python {platform.python_version()}", "the Python that mlsub runs in")}
    for name, distributions in _LIBRARIES:
        if number := next(filter(None, map(_find_version, distributions)), None):
            parts[name] = SourcedValue(f"{name} {number}", "its Python environment")
    for name, command, pattern in _COMMANDS:
        if name not in parts and (match := pattern.search(output_of(command.split()))):
            parts[name] = SourcedValue(f"{name} {match[1]}", command)
    if driver is not None and " driver " in str(driver.value):
        parts["driver"] = driver
    sources = dict.fromkeys(part.source for part in parts.values())
    return SourcedValue(", ".join(part.value for part in parts.values()), "; ".join(sources))


def _find_version(package: str | None) -> str | None:
    """Return the version of a Python distribution, without importing it; None where it is not installed."""
    try:
        return version(package) if package else None
    except (PackageNotFoundError, ValueError, OSError):
        return None
