"""What a live run may do at most, and where: checked before the first packet."""

from __future__ import annotations

import ipaddress
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import as_float, one_dimensional, whole
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Path as EmulatedPath
from netcalc.units import show

MAX_DURATION_S = 600.0
"""A run ends after this time and keeps what it measured. [s]"""
MAX_BYTES = 2_000_000_000
"""A run carries at most this much payload, both directions together. [byte]"""
MAX_BULK_BYTES = 20_000_000_000
"""A run of transfers, whose place is this machine alone, carries at most this much. [byte]"""
MAX_COUNT = 100_000
"""A run sends at most this many probes. [1]"""
MAX_TCP_BYTES = 1 << 20
"""Largest message of a TCP echo. [byte]"""
CONNECT_S = 5.0
"""A connection is awaited for so long. [s]"""

_LOCALHOST = "localhost"


def require_processes() -> None:
    """Refuse where live runs cannot work, with what works instead."""
    if os.name != "posix" or sys.platform in ("emscripten", "wasi", "win32"):
        raise ExperimentError(
            f"live runs need the sockets and processes of Linux or macOS, this is {sys.platform}",
            phase="start",
            hint="Models, readers, plots and recorded data sets work here",
        )


def require_path(path: object, *, needed: bool = False) -> None:
    """Refuse what is no path: its text is read where it is typed, not here."""
    if isinstance(path, EmulatedPath) or (path is None and not needed):
        return
    text = path if isinstance(path, str) else "10 Mbit/s 1 ms"
    raise DomainError("path", repr(path), "a Path", hint=f"Write Path.parse({text!r})")


def require_linux(why: str) -> None:
    """Refuse where the kernel is not Linux, with what works instead."""
    require_processes()
    if not sys.platform.startswith("linux"):
        raise ExperimentError(
            f"this run needs Linux, for {why}; this is {sys.platform}",
            phase="start",
            hint="Echo and bulk work here, as models, readers and recorded data sets do",
        )


def loopback_address(host: str) -> str:
    """Return ``host`` as an address of this machine's loopback; refuse anything else."""
    if host == _LOCALHOST:
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise _refused(host, "it is not an IP address, and names are not looked up") from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_multicast:
        raise _refused(host, "it is a multicast address, many hosts could answer")
    if str(address) in ("255.255.255.255", "127.255.255.255", "127.0.0.0"):
        raise _refused(host, "it is a broadcast address, many hosts could answer")
    if not address.is_loopback:
        raise _refused(host, "it is not a loopback address, and nobody there agreed to a test")
    return str(address).partition("%")[0]


def _refused(host: str, why: str) -> ExperimentError:
    return ExperimentError(
        f"this target is refused: {why}",
        phase="target",
        host=str(host),
        hint="Live runs go to 127.0.0.1 or ::1",
    )


def payload_sizes(payload_bytes: ArrayLike, *, protocol: str, host: str) -> list[int]:
    """Return the sizes as whole numbers; refuse what the protocol cannot carry in one message."""
    if protocol == "tcp":
        low, high = 8, MAX_TCP_BYTES
        why = "A message starts with 4 bytes of length and 4 of sequence"
    elif ":" in host:
        low, high = 0, 65_527
        why = "An IPv6 payload holds 65,535 bytes, 8 of them the UDP header"
    else:
        low, high = 0, 65_507
        why = "An IPv4 packet holds 65,535 bytes, 28 of them the IP and UDP headers"
    return whole_sizes(payload_bytes, low, high, carrier=protocol.upper(), why=why)


def whole_sizes(
    payload_bytes: ArrayLike, low: int, high: int, *, carrier: str, why: str
) -> list[int]:
    """Return the sizes as whole numbers; refuse what is outside ``[low, high]``, and say why."""
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    wrong = ~(np.isfinite(sizes) & (sizes >= low) & (sizes <= high) & (np.floor(sizes) == sizes))
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        place = f" (at index {first})" if sizes.size > 1 else ""
        raise DomainError(
            "payload_bytes",
            f"{sizes[first]:.15g}{place}",
            f"a whole number from {low} to {high} for {carrier}",
            hint=why,
        )
    return [int(size) for size in sizes]


def whole_number(name: str, value: float, low: int, high: int) -> int:
    """Return ``value`` as int; refuse a fraction and what is outside ``[low, high]``."""
    array = whole(name, value, low)
    if array.ndim or math.isnan(array) or array > high:
        raise DomainError(name, value, f"a whole number from {low} to {high}")
    return int(array)


def finite(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` as float; refuse nan and what is outside ``[low, high]``."""
    array = as_float(name, value)
    if array.ndim or not low <= array <= high:
        raise DomainError(name, value, f"from {low:g} to {high:g}")
    return float(array)


def require_bounded(*, probe_count: int, carried_bytes: int, duration_s: float) -> None:
    """Refuse a run that would go beyond a limit, with the estimate."""
    for estimate, limit, unit in (
        (probe_count, MAX_COUNT, "probes"),
        (carried_bytes, MAX_BYTES, "byte"),
        (duration_s, MAX_DURATION_S, "s"),
    ):
        if estimate > limit:
            amounts = [
                f"{amount:,} {unit}" if unit == "probes" else show(amount, unit)
                for amount in (estimate, limit)
            ]
            raise ExperimentError(
                f"the run would take {amounts[0]}, at most {amounts[1]} are allowed",
                phase="plan",
                hint="Ask for fewer or smaller probes, a shorter interval or a faster path",
            )


def require_writable(save: str | os.PathLike[str] | None) -> None:
    """Refuse a file that cannot be written, before the run."""
    if save is None:
        return
    path = Path(save)
    why = "it is a directory" if path.is_dir() else ""
    if path.exists() and not path.is_file():
        why = why or "it is a device or a pipe"
    if not why:
        try:
            with tempfile.TemporaryFile(dir=path.parent):
                return
        except OSError as error:
            why = error.strerror or str(error)
    raise ExperimentError(f"{path.name} cannot be written: {why}", phase="save")
