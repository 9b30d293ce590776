"""Captures of other hosts, by ssh."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from mlsub.io.errors import MlsubError
from mlsub.systems.capture.machine import Capture, from_json
from mlsub.systems.capture.tools import run_tool

#: What ssh takes for a host: a name, an address, or user@host; never an option.
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%-]{0,253}")
#: What runs there. ssh hands it to a shell, so nothing from outside may ever be in it.
_COMMAND = "mlsub system capture --format json"
_TIMEOUT_S = 120.0
_AT_ONCE = 16


def hosts_in(text: str) -> list[str]:
    """The hosts of a list with commas, each once.

    Raises:
        MlsubError: one is not the name of a host, or there is none.
    """
    hosts = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not hosts:
        raise MlsubError("--hosts names no host; write --hosts a,b.")
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise MlsubError(f"--hosts: {host[:60]!r} is not a host name.")
    return hosts


def capture_hosts(hosts: list[str]) -> list[tuple[str, Capture]]:
    """The capture of each host; all, or none.

    Raises:
        MlsubError: a host gave none.
    """
    with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(hosts))) as pool:
        return list(zip(hosts, pool.map(_capture, hosts), strict=True))


def _capture(host: str) -> Capture:
    ran = run_tool(["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, _COMMAND], _TIMEOUT_S)
    if ran is None:
        raise MlsubError("ssh is not on PATH. Run the capture on each host, and join the results with --merge.")
    if ran.status == 127:
        raise MlsubError(f"{host}: mlsub is not there. Install it on that host, or capture there and use --merge.")
    if not ran.well:
        raise MlsubError(f"{host}: ssh failed: {ran.complaint or f'exit status {ran.status}'}")
    # A shell may greet before it runs anything.
    return from_json(ran.output[max(0, ran.output.find("{")) :].encode(), f"What {host} answered")
