"""What this machine can emulate, found by trying, and its reasons for refusing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any

from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.emulation.wire.kernel import TUN_NODE
from netcalc.errors import ExperimentError
from netcalc.path import Link, Path

PROGRAMS = ("ping", "traceroute", "mtr", "iperf3", "tcpdump")
"""Programs that are useful at the ends of a path; none is required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is possible on this machine.

    Parameters
    ----------
    wire : bool
        Whether two namespaces can be connected by a path.
    why_not : str
        What the system refused, and the next best thing, as a sentence; empty where a path is
        possible.
    refusal : str
        Code of that error, such as those of :data:`netcalc.emulation.REFUSALS`; empty otherwise.
    way : str
        ``root`` or ``user namespace``.
    scheduling : str
        ``fifo`` if the process of the path has real-time priority, else ``other``.
    offload, ipv6 : bool
        Whether packets of up to 64 KiB, and IPv6, pass.
    tun : str
        Whether the device node of TUN opens, or why not.
    programs : dict
        Where each of :data:`PROGRAMS` is; None where it is not installed.
    congestion_controls, allowed_congestion_controls : tuple of str
        Those that the kernel has loaded, and those that this user may choose outside a namespace.
    kernel : str
        Its release.
    """

    wire: bool
    why_not: str
    refusal: str
    way: str
    scheduling: str
    offload: bool
    ipv6: bool
    tun: str
    programs: dict[str, str | None]
    congestion_controls: tuple[str, ...]
    allowed_congestion_controls: tuple[str, ...]
    kernel: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON output."""
        return asdict(self)


def capabilities() -> Capabilities:
    """Test the emulation by opening an emulated path and closing it.

    Examples
    --------
    >>> found = capabilities()
    >>> found.wire or bool(found.why_not)
    True
    """
    chosen, offload, ipv6 = {"way": "", "scheduling": ""}, False, False
    why_not = refusal = ""
    try:
        with EmulatedPath(Path((_HOP,))) as path:
            chosen = path.chosen
            ipv6 = path.address("B", 6)[:4] in path.read("/proc/net/if_inet6", "B")
    except ExperimentError as error:
        why_not, refusal = str(error), error.code
    else:
        with suppress(ExperimentError), EmulatedPath(Path((_HOP,)), offload=True) as path:
            offload = path.offload
    return Capabilities(
        wire=not why_not,
        why_not=why_not,
        refusal=refusal,
        way=chosen["way"],
        scheduling=chosen["scheduling"],
        offload=offload,
        ipv6=ipv6,
        tun=_tun(),
        programs={name: _program(name) for name in PROGRAMS},
        congestion_controls=_words("/proc/sys/net/ipv4/tcp_available_congestion_control"),
        allowed_congestion_controls=_words("/proc/sys/net/ipv4/tcp_allowed_congestion_control"),
        kernel=platform.release(),
    )


def _tun() -> str:
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has none"
    try:
        os.close(os.open(TUN_NODE, os.O_RDWR))
    except OSError as error:
        return f"{TUN_NODE}: {error.strerror}"
    return "opens"


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def _words(name: str) -> tuple[str, ...]:
    try:
        return tuple(File(name).read_text().split())
    except OSError:
        return ()


_HOP = Path.of([Link(1e7, 0.001)]).hops[0]
