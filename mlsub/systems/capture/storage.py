"""Storage: the disks that lsblk knows."""

from __future__ import annotations

import json
from typing import Any

from mlsub.systems.capture.found import Found, bytes_in_words, counted, unknown
from mlsub.systems.capture.tools import run_tool
from mlsub.systems.catalogue import Value

_COLUMNS = "NAME,TYPE,SIZE,ROTA,TRAN,RM"
#: Memory that looks like a disk.
_NO_DISKS = ("zram", "ram", "loop", "fd", "sr", "nbd")


def find_storage() -> Found:
    """The disks of this host; network file systems are the submitter's to name."""
    ran = run_tool(["lsblk", "-J", "-b", "-d", "-o", _COLUMNS])
    disks = _disks(ran.output) if ran is not None and ran.well else []
    if not disks:
        complaint = (
            "there is no lsblk" if ran is None else f"lsblk reports no disk{f': {c}' if (c := ran.complaint) else ''}"
        )
        return {name: unknown(complaint) for name in ("host_storage_type", "host_storage_capacity")}
    kinds = [_kind(disk) for disk in disks]
    sizes = [f"{bytes_in_words(int(disk['size']))} {kind}" for disk, kind in zip(disks, kinds, strict=True)]
    source = "lsblk: disks of this host; name the file system that held the data, if it was another"
    return {
        "host_storage_type": Value(" + ".join(dict.fromkeys(kinds)), source),
        "host_storage_capacity": Value(counted(sizes), source),
    }


def _disks(text: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)["blockdevices"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [row for row in found if _is_disk(row)]


def _is_disk(row: dict[str, Any]) -> bool:
    name, size = row.get("name"), row.get("size")
    if row.get("type") != "disk" or not isinstance(name, str) or name.startswith(_NO_DISKS) or _yes(row.get("rm")):
        return False
    try:
        return 0 < int(str(size)) < 1 << 63
    except ValueError:
        return False


def _kind(row: dict[str, Any]) -> str:
    name, transport = str(row["name"]), str(row.get("tran") or "").lower()
    if name.startswith("nvme") or transport == "nvme":
        return "NVMe SSD"
    if name.startswith(("vd", "xvd")):
        return "virtual disk"
    kind = "HDD" if _yes(row.get("rota")) else "SSD"
    return f"{transport.upper()} {kind}" if transport in ("sata", "sas") else kind


def _yes(value: Any) -> bool:
    """Old versions of lsblk write ``"1"`` where new ones write true."""
    return value is True or value == "1"
