"""The limits of a live run and its possible targets, checked before the first packet.

The limits hold whatever a caller asks for: a lesson in a classroom must not fill a disk, block a
machine for an hour, or reach a host whose owner did not agree.
"""

from __future__ import annotations

import ipaddress
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, choice, one_dimensional, whole
from netcalc.errors import DomainError, ExperimentError
from netcalc.path import Path as EmulatedPath

MAX_DURATION_S = 600.0
"""A run ends after this time and keeps its samples; ten minutes of a lesson are enough. [s]"""
MAX_BYTES = 2_000_000_000
"""Payload of a run, both directions together: limits the load of large probes. [byte]"""
MAX_BULK_BYTES = 20_000_000_000
"""Payload of a run of transfers: ten times as much, as they are fast and stay on this machine.
[byte]"""
MAX_COUNT = 100_000
"""Probes of a run: their rows fit a notebook and its saved file. [1]"""
MIN_TCP_BYTES = 8
"""Smallest message of a TCP echo: its length and its sequence. [byte]"""
MAX_TCP_BYTES = 1 << 20
"""Largest message of a TCP echo: the peer holds a whole one in memory. [byte]"""
MAX_UDP_BYTES = {4: 65_507, 6: 65_527}
"""Largest payload of a datagram, by version of IP. [byte]"""
CONNECT_S = 5.0
"""Timeout of a connection: a lost SYN is sent again after 1 s and 3 s. [s]"""

_LOCALHOST = "localhost"


WITHOUT_SOCKETS = ("emscripten", "wasi")
"""Systems without sockets: those of a browser."""


def require_processes(*, has_peer: bool = False) -> None:
    """Refuse a system on which live runs cannot work; with a peer they need no other process."""
    code = dict.fromkeys(WITHOUT_SOCKETS, "platform-unsupported")
    if not has_peer:
        code["win32"] = "platform-needs-peer"
    if sys.platform in code:
        raise ExperimentError(code[sys.platform], phase="start", platform=sys.platform)


def require_path(path: object, *, needed: bool = False) -> None:
    """Refuse anything but a Path; text is parsed at the edge, not here."""
    if isinstance(path, EmulatedPath) or (path is None and not needed):
        return
    example = path if isinstance(path, str) else "10 Mbit/s 1 ms"
    raise DomainError("not-a-path", "path", path, example=example)


def require_linux(feature: str) -> None:
    """Refuse a kernel other than Linux, whose ``feature`` the run needs."""
    require_processes(has_peer=True)
    if not sys.platform.startswith("linux"):
        raise ExperimentError("needs-linux", phase="start", feature=feature, platform=sys.platform)


def loopback_address(host: str) -> str:
    """Return ``host`` as an address of this machine's loopback; refuse any other."""
    if host == _LOCALHOST:
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise _refused_target("target-not-an-address", host) from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_multicast:
        raise _refused_target("target-is-multicast", host)
    if str(address) in ("255.255.255.255", "127.255.255.255", "127.0.0.0"):
        raise _refused_target("target-is-broadcast", host)
    if not address.is_loopback:
        raise _refused_target("target-not-loopback", host)
    return str(address).partition("%")[0]


def ip_version(address: str) -> int:
    """Return the version of IP of an address, 4 or 6."""
    return 6 if ":" in address else 4


def _refused_target(code: str, host: str) -> ExperimentError:
    return ExperimentError(code, phase="target", host=str(host))


def payload_sizes(payload_bytes: ArrayLike, *, protocol: str, host: str) -> list[int]:
    """Return the sizes as whole numbers; refuse what the protocol cannot carry in one message."""
    version = ip_version(host)
    code, low, high = f"size-for-ipv{version}", 0, MAX_UDP_BYTES[version]
    if protocol == "tcp":
        code, low, high = "size-for-tcp", MIN_TCP_BYTES, MAX_TCP_BYTES
    return whole_sizes(code, payload_bytes, low, high, carrier=protocol.upper())


def whole_sizes(
    code: str, payload_bytes: ArrayLike, low: int, high: int, *, carrier: str
) -> list[int]:
    """Return the sizes as whole numbers; refuse those outside ``[low, high]`` with ``code``."""
    sizes = one_dimensional("payload_bytes", as_float("payload_bytes", payload_bytes))
    wrong = ~(np.isfinite(sizes) & (sizes >= low) & (sizes <= high) & (np.floor(sizes) == sizes))
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        name = f"payload_bytes[{first}]" if sizes.size > 1 else "payload_bytes"
        raise DomainError(code, name, float(sizes[first]), low=low, high=high, carrier=carrier)
    return [int(size) for size in sizes]


def whole_number(name: str, value: float, low: int, high: int) -> int:
    """Return ``value`` as int; refuse a fraction or a value outside ``[low, high]``."""
    array = whole(name, value, low)
    if array.ndim or math.isnan(array) or array > high:
        raise DomainError("whole-out-of-range", name, value, low=low, high=high)
    return int(array)


def whole_or_none(name: str, value: float | None, low: int, high: int) -> int | None:
    """Return ``value`` as int, None as it is."""
    return None if value is None else whole_number(name, value, low, high)


def whole_numbers(name: str, values: ArrayLike, low: int, high: int) -> list[int]:
    """Return a list of whole numbers; refuse fractions and values outside ``[low, high]``."""
    array = np.atleast_1d(one_dimensional(name, np.atleast_1d(as_float(name, values))))
    return [whole_number(name, value, low, high) for value in array.tolist()]


def numbered(name: str, values: FloatArray, low: int, high: int) -> tuple[int, ...]:
    """Return a tuple of whole numbers; a refusal names the place in the list."""
    return tuple(
        whole_number(f"{name}[{index}]", value, low, high)
        for index, value in enumerate(values.tolist())
    )


def finite(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` as float; refuse nan or a value outside ``[low, high]``."""
    array = as_float(name, value)
    if array.ndim or not low <= array <= high:
        raise DomainError("out-of-range", name, value, low=low, high=high)
    return float(array)


def timeout_s(value: float) -> float:
    """Return a timeout of one exchange. [s]"""
    return finite("timeout_s", value, 0.001, 60.0)


def distinct_choices(
    name: str, selected: Sequence[str], choices: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names as a tuple; refuse none, one twice, and one that is not a choice."""
    names = (selected,) if isinstance(selected, str) else tuple(selected)
    if not names:
        raise DomainError("empty-choice", name, choices=list(choices))
    for selection in names:
        choice(name, selection, choices)
    if len(set(names)) < len(names):
        raise DomainError("repeated-choice", name, list(names))
    return names


def require_bounded(*, probe_count: int, carried_bytes: int, duration_s: float) -> None:
    """Refuse a run whose estimated count, volume or time is above a limit."""
    refuse_above(
        Estimate("too-many-probes", "count", probe_count, "limit", MAX_COUNT),
        Estimate("too-many-bytes", "carried_bytes", carried_bytes, "limit_bytes", MAX_BYTES),
        Estimate("run-too-long", "duration_s", duration_s, "limit_s", MAX_DURATION_S),
    )


class Estimate(NamedTuple):
    """What a plan would take, its limit, and the code and names of the error above it."""

    code: str
    name: str
    value: float
    limit_name: str
    limit: float


def refuse_above(*estimates: Estimate) -> None:
    """Refuse a plan by the first estimate that is above its limit."""
    for code, name, value, limit_name, limit in estimates:
        if value > limit:
            raise above_limit(code, **{name: value, limit_name: limit})


def above_limit(code: str, **values: Any) -> ExperimentError:
    """Return the error of a plan that is above a limit."""
    return ExperimentError(code, phase="plan", **values)


def require_writable(save: str | os.PathLike[str] | None) -> None:
    """Refuse a file that cannot be written, before the run."""
    if save is None:
        return
    path = Path(save)
    if path.is_dir():
        raise ExperimentError("file-is-directory", phase="save", file=str(path))
    if path.exists() and not path.is_file():
        raise ExperimentError("file-is-special", phase="save", file=str(path))
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExperimentError(
            "file-not-writable", phase="save", file=str(path), reason=reason
        ) from error
