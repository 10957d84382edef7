"""``netcalc peer``: serve the runs of another machine, whose user types the token shown here.

The process stays small: it loads the standard library, click and the service, and no numpy.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import struct
import sys
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import click

from netcalc import units
from netcalc.cli import complain, mistakes, options, put, say
from netcalc.cli.serving import end_by_signals
from netcalc.errors import DomainError, NetcalcError
from netcalc.messages import Notice
from netcalc.rate_layers import PAYLOAD

EVERYWHERE = "all"
LINES_A_MINUTE = 60
"""Lines of the log about one kind of event: strangers must not fill a disk. [1]"""
_BACKLOG = 1024
_PORT = 20_521
_HOUR_S = 3600.0
_RANGES = {
    "--for": (1.0, 24 * _HOUR_S, "s"),
    "--duration": (1.0, 600.0, "s"),
    "--bytes": (1.0, 1e15, "byte"),
    "--rate": (1e3, 1e12, "bit/s"),
}
"""Least and most of each limit, and its unit."""
_IPV6_ABSENT = (errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)


@options.command(
    click.Option(
        ["--listen", "address"], metavar="ADDRESS", default="127.0.0.1", show_default=True,
        help="Address of this machine to listen at, or all.",
    ),
    click.Option(
        ["--port"], type=options.WholeNumber(0, 65_535), default=_PORT, show_default=True,
        help="TCP and UDP port; 0 takes a free one.",
    ),
    click.Option(
        ["--for", "lasts_s"], type=options.QuantityType("s"), default="1h", show_default=True,
        help="Time after which the peer ends by itself.",
    ),
    click.Option(
        ["--rate", "rate_bps"], type=options.QuantityType("bit/s"),
        help="Most bits per second of payload, to here and from here; unlimited if omitted.",
    ),
    click.Option(
        ["--bytes", "carried_bytes"], type=options.QuantityType("byte"), default="20GB",
        show_default=True, help="Most payload of a run, both directions together.",
    ),
    click.Option(
        ["--duration", "duration_s"], type=options.QuantityType("s"), default="10min",
        show_default=True, help="Longest time of a run.",
    ),
    click.Option(
        ["--connections"], type=options.WholeNumber(1, 4096), default=64, show_default=True,
        help="Most connections of a run at once.",
    ),
    click.Option(
        ["--log", "log_path"], metavar="FILE", help="File to append the lines of the log to.",
    ),
)  # fmt: skip
def peer(
    address: str,
    port: int,
    lasts_s: float,
    rate_bps: float | None,
    carried_bytes: float,
    duration_s: float,
    connections: int,
    log_path: str | None,
) -> None:
    """Serve the runs of another machine, one at a time, until Ctrl-C or the end of its time.

    Only this machine reaches the default address. On the other machine, netcalc run with --peer
    asks for the token that is shown here; who does not have it is not served. Nothing that the
    other machine sends can name a file, a command or a third host.

    \b
    netcalc peer --listen all
    netcalc peer --listen 192.0.2.7 --for 10min --rate "100 Mbit/s"
    """
    _require_possible(
        {"--for": lasts_s, "--duration": duration_s, "--bytes": carried_bytes, "--rate": rate_bps}
    )
    rate_bps = float("inf") if rate_bps is None else rate_bps
    service = _service()
    limits = service.PeerLimits(duration_s, int(carried_bytes), rate_bps, connections)
    end_by_signals()
    with contextlib.ExitStack() as closing:
        file = None
        if log_path is not None:
            file = closing.enter_context(Path(log_path).open("a", encoding="utf-8", buffering=1))
        listener = closing.enter_context(listen(address, port))
        log = Log(file)
        served = service.Service(listener, limits, end_s=time.monotonic() + lasts_s, log=log)
        _show(listener, served.token, lasts_s, limits)
        with contextlib.suppress(KeyboardInterrupt):
            served.run()


def _service() -> ModuleType:
    """Import the service without the face of its room, which loads numpy."""
    room = "netcalc.experiments"
    if room in sys.modules:
        return import_module(f"{room}.peers.service")
    faceless = sys.modules[room] = ModuleType(room)
    faceless.__path__ = [str(Path(__file__).parents[1] / "experiments")]
    try:
        return import_module(f"{room}.peers.service")
    finally:
        del sys.modules[room]


def _require_possible(limits: dict[str, float | None]) -> None:
    for name, value in limits.items():
        low, high, unit = _RANGES[name]
        if value is not None and not low <= value <= high:
            typed = mistakes.with_unit(value, unit)
            raise DomainError("out-of-range", name, typed, low=low, high=high, unit=unit)


def listen(address: str, port: int) -> socket.socket:
    """Return a listener at an address of this machine, or at all.

    Raises
    ------
    CommandError
        If it is no address of this machine, or the port is in use or not permitted.
    """
    both = address == EVERYWHERE and socket.has_dualstack_ipv6()
    host = ("::" if both else "0.0.0.0") if address == EVERYWHERE else address
    try:
        if ipaddress.ip_address(host).is_multicast or host == "255.255.255.255":
            raise ValueError(host)
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (ValueError, OSError) as error:
        raise mistakes.CommandError("peer-address", address=address) from error
    family, *_, bound = found[0]
    try:
        listener = socket.create_server(
            bound, family=family, backlog=_BACKLOG, dualstack_ipv6=both
        )  # fmt: skip
        try:
            _require_free_datagrams(listener)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise _refused(error, address, port) from error
    return listener


def _require_free_datagrams(listener: socket.socket) -> None:
    """Refuse a port that another program has for UDP."""
    with socket.socket(listener.family, socket.SOCK_DGRAM) as sock:
        sock.bind(listener.getsockname())


def _refused(error: OSError, address: str, port: int) -> NetcalcError:
    reason = os.strerror(error.errno or 0)  # that of the error repeats the address
    if error.errno == errno.EADDRINUSE:
        return mistakes.CommandError("peer-port-in-use", address=address, port=port)
    if error.errno == errno.EACCES:
        return mistakes.CommandError("peer-port-not-permitted", port=port, reason=reason)
    if error.errno in _IPV6_ABSENT:
        return mistakes.CommandError("peer-without-ipv6", address=address, reason=reason)
    if error.errno == errno.EINVAL and "%" not in address:
        return mistakes.CommandError("peer-address-without-zone", address=address)
    return mistakes.CommandError("peer-address-elsewhere", address=address, reason=reason)


def own_addresses() -> list[str]:
    """Return the addresses of this machine's interfaces, those of the default routes first.

    The kernel is asked from which address it would send; nothing is sent.
    """
    four, six = socket.AF_INET, socket.AF_INET6
    asked: list[tuple[socket.AddressFamily, tuple[Any, ...], int]] = [
        (four, ("192.0.2.1", 9), 0),
        (six, ("2001:db8::1", 9), 0),
    ]
    for index, _ in socket.if_nameindex():
        asked += [(four, ("224.0.0.1", 9), index), (six, ("ff0e::1", 9), index)]
        asked += [(six, ("ff02::1", 9, 0, index), 0)]
    sources = dict.fromkeys(_source(*question) for question in asked)
    return [text for text in sources if text and not ipaddress.ip_address(text).is_loopback]


def _source(family: socket.AddressFamily, target: tuple[Any, ...], interface: int) -> str:
    """Return the address that an interface sends from; empty if it has none."""
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
        if interface and family == socket.AF_INET:
            chosen = struct.pack("8xi", interface)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, chosen)
        elif interface:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, interface)
        sock.connect(target)
        return _host_of(sock)
    return ""


def _host_of(sock: socket.socket) -> str:
    """Return the host that a socket is bound to, with its zone."""
    host, _, *rest = sock.getsockname()  # of IPv6 also the flow and the interface of a zone
    return f"{host}%{socket.if_indextoname(rest[1])}" if rest and rest[1] else str(host)


def _show(listener: socket.socket, token: str, lasts_s: float, limits: Any) -> None:
    """Print what the user of the other machine needs, and who else reaches this one."""
    host, port = _host_of(listener), listener.getsockname()[1]
    bound = ipaddress.ip_address(host)
    hosts = [host]
    if bound.is_unspecified:
        serves_both = listener.family == socket.AF_INET6 and not listener.getsockopt(
            socket.IPPROTO_IPV6, socket.IPV6_V6ONLY
        )
        hosts = [
            text
            for text in own_addresses()
            if serves_both or ipaddress.ip_address(text).version == bound.version
        ]
    end = time.strftime("%H:%M:%S", time.localtime(time.time() + lasts_s))
    put(f"Listening on {host}, TCP and UDP port {port}, until {end}; Ctrl-C ends it.")
    put(f"Token: {token}")
    put("On the other machine, which asks for the token or reads it from NETCALC_PEER_TOKEN:")
    for text in hosts or [host]:
        put(f"  netcalc run echo --peer {_typed_peer(text, port)}")
    if any("%" in text for text in hosts):
        put("INTERFACE is the one of the other machine, such as eth0.")
    rate = "any rate"
    if limits.rate_bps < float("inf"):
        rate = units.show_rate(limits.rate_bps, PAYLOAD)
    say(
        f"Each run, one at a time: at most {units.show(limits.duration_s, 's')}, "
        f"{units.show(limits.carried_bytes, 'byte')}, {rate}, {limits.connections} connections."
    )
    if bound.is_loopback:
        say("Only this machine reaches this address; --listen all serves others.")
    else:
        where = "this machine by any of its networks" if bound.is_unspecified else host
        complain(str(Notice("peer-is-open", {"where": where, "port": port})))


def _typed_peer(host: str, port: int) -> str:
    """Return a peer as it is typed on the other machine, whose interfaces have other names."""
    if "%" in host:
        host = f"{host.partition('%')[0]}%INTERFACE"
    if port == _PORT:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Log:
    """Prints a line for each event, and appends it to a file; of one kind no more than so many.

    Parameters
    ----------
    file : text file, optional
        Gets the lines, too.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._minutes: dict[str, tuple[float, int]] = {}  # begin, and events since

    def __call__(self, code: str, **values: Any) -> None:
        """Write the line of an event."""
        now_s = time.monotonic()
        begin_s, count = self._minutes.get(code, (now_s, 0))
        left_out = 0
        if now_s - begin_s >= 60.0:
            begin_s, left_out, count = now_s, max(0, count - LINES_A_MINUTE), 0
        self._minutes[code] = begin_s, count + 1
        if count >= LINES_A_MINUTE:
            return
        # Of IPv4 at a listener of both versions
        host = f"{values.pop('host').removeprefix('::ffff:')} " if "host" in values else ""
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {host}{Notice(code, values)}"
        if left_out:
            line += f" ({Notice('peer-lines-left-out', {'count': left_out})})"
        put(line)
        if self._file is not None:
            try:
                self._file.write(line + "\n")
            except OSError as error:  # a full disk ends no run
                self._file = None
                reason = error.strerror or str(error)
                complain(str(Notice("peer-log-refused", {"reason": reason})))
