"""Network adapters: /sys/class and, where it is there, lspci for their names."""

from __future__ import annotations

import re
from pathlib import Path

from mlsub.systems.capture.tools import Found, children, counted, output_of, read_text, unknown
from mlsub.systems.catalogue import Value

_PCI = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_ROW = re.compile(r'^(\S+) "([^"]*)" "([^"]*)" "([^"]*)"', re.MULTILINE)
_MAKERS = re.compile(r",? (Technologies|Corporation|Corp\.|Inc\.|Limited|Ltd\.|and subsidiaries)\b", re.IGNORECASE)


def find_network(root: Path) -> Found:
    """The network adapters of this host with their speeds, those without hardware left out."""
    topology = unknown("no tool on one host reports how hosts are connected")
    names = _names()
    adapters = [*_infiniband(root, names), *_ethernet(root, names)]
    if not adapters:
        none = unknown("/sys/class/net has no adapter with hardware behind it")
        return {"host_networking": none, "host_networking_topology": topology}
    source = "/sys/class" + (" and lspci" if names else "") + ": adapters of this host; say what each is for"
    return {"host_networking": Value(counted(adapters), source), "host_networking_topology": topology}


def _names() -> dict[str, str]:
    """Makers and models by place on the PCI bus."""
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
    """The adapter's model; without lspci the name of its driver."""
    try:
        place = (device / "device").resolve().name
        driver = (device / "device" / "driver").resolve().name
    except (OSError, RuntimeError):
        return ""
    if _PCI.fullmatch(place) and place in names:
        return names[place]
    return "" if driver == "driver" else driver
