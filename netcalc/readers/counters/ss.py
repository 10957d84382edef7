"""Sockets as ``ss -ti`` prints them: once, or again and again with or without marks of time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters._counts import Counts, lines_of
from netcalc.readers.counters._sockets import NAN, Socket, details, facts_of
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Meta, Table

_STATES = (
    "ESTAB|ESTABLISHED|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|UNCONN|CLOSE|CLOSE-WAIT|"
    "LAST-ACK|LISTEN|CLOSING|CLOSED"
)
_NETIDS = (
    "nl|u_str|u_seq|u_dgr|p_raw|p_dgr|raw|udp|udplite|tcp|sctp|dccp|mptcp|icmp6|v_str|v_dgr|xdp|tipc"
    r"|ti_\w+|\?\?\?"
)
_HEAD = re.compile(r"\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s.*")
_SOCKET = re.compile(
    rf"(?:(?P<netid>{_NETIDS})\s*)?(?P<state>(?:{_STATES})(?=\s))?\s*"
    r"(?P<received>\d+)\s+(?P<sent>\d+)\s+(?P<rest>\S.*)"
)
_OF_TCP = {
    "LISTEN", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT",
    "LAST-ACK", "CLOSING",
}  # fmt: skip
_TIME = re.compile(r"\s*(?:Time:\s*|#\s*|\[)?(?P<time>\d{9,10}\.\d{1,9})\]?\s*")
_END = re.compile(r"\s*-{2,}\s*|\s*#.*")
_GLUED = re.compile(r"(?<=\S)(?=users:\(\()")
"""Where a name of a process follows the port without a blank, as some versions of ss print it."""
_PORT = re.compile(r"\S+:(?:\d+|\*|[\w-]+)")


@dataclass(slots=True)
class _Read:
    """Sockets found so far, and where the reader is."""

    sockets: list[Socket] = field(default_factory=list)
    untold: list[Socket] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)
    snapshot: int = -1
    time_s: float = NAN
    seen: set[tuple[str, str]] = field(default_factory=set)
    has_netid: bool = False
    has_state: bool = True

    def next_snapshot(self) -> None:
        """Begin another list of sockets."""
        self.snapshot += 1
        self.seen = set()


def _recognize(given: Input) -> bool:
    if given.is_json:
        return False
    return given.seen(r"^(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:Port") or (
        given.seen(rf"^(?:tcp\s+)?(?:{_STATES})\s+\d+\s+\d+\s+\S+:\S+\s+\S+:\S+")
        and given.seen(r"\b(?:cwnd|rto|mss|ino|timer|skmem|users):")
    )


def _read(given: Input) -> Table:
    found = _Read()
    kept = Counts()
    lines = lines_of(given, kept)
    if kept.partial:  # the last line is cut: its complete words still count
        number, line = given.text.numbers[-1], given.text.lines[-1]
        if line[:1].isspace() and " " in line.strip():
            lines.append((number, line.rpartition(" ")[0]))
    for number, line in lines:
        _line(found, number, line)
    if not found.sockets:
        raise ReaderError("no-sockets", file=given.name)
    states = {one.state for one in found.untold}
    if "UNCONN" in states and not states & _OF_TCP and not any(s.has_info for s in found.untold):
        for socket in found.untold:  # of ss -u or ss -w
            socket.protocol = ""
    warnings = list(kept.warnings)
    if found.unread:
        warnings.append(Notice("not-lines-of-ss", {"numbers": found.unread}))
    if found.odd:
        warnings.append(Notice("ss-values-unread", {"numbers": found.odd}))
    source = given.unpacked
    partial = source.grew or kept.partial
    rows = [one.row() for one in found.sockets]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    times = [one.time_s for one in found.sockets]
    return Table(
        data=columns,
        meta=Meta(
            tool="ss",
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            clock="seconds of the Unix epoch" if any(one == one for one in times) else "",
            units=Socket.units(),
            facts=facts_of(found.sockets, partial=partial),
            warnings=tuple(warnings),
            partial=partial,
        ),
    )


def _line(found: _Read, number: int, line: str) -> None:
    stamp = _TIME.fullmatch(line)
    if stamp:
        found.time_s = float(stamp["time"])
        found.next_snapshot()
        return
    if _HEAD.fullmatch(line):
        found.has_netid, found.has_state = "Netid" in line, "State" in line
        stamped = found.time_s == found.time_s and not found.seen
        if not stamped or found.snapshot < 0:
            found.next_snapshot()
        return
    if not line.strip() or _END.fullmatch(line):
        return
    one = None if line[:1].isspace() else _SOCKET.fullmatch(line)
    if one is not None:
        _socket(found, number, one)
    elif line[:1].isspace() and found.sockets:
        if not details(found.sockets[-1], line):
            found.odd.append(number)
    else:
        found.unread.append(number)


def _socket(found: _Read, number: int, one: re.Match[str]) -> None:
    rest = _GLUED.sub(" ", one["rest"])
    parts = rest.split()
    # Names of netlink and packet sockets may have blanks around the port.
    ends = parts[:2] if all(_PORT.fullmatch(part) for part in parts[:2]) else []
    local, peer = (ends[0], ends[1]) if len(ends) == 2 else (" ".join(parts), "")
    if found.snapshot < 0 or (peer and not _wild(peer) and (local, peer) in found.seen):
        found.next_snapshot()
    found.seen.add((local, peer))
    netid = one["netid"] or ("" if found.has_netid else "tcp")
    socket = Socket(
        time_s=found.time_s,
        snapshot=found.snapshot,
        protocol=netid,
        state=one["state"] or "",
        local=shorten(local, 100),
        peer=shorten(peer, 100),
        receive_queue_bytes=float(one["received"][:18]),
        send_queue_bytes=float(one["sent"][:18]),
    )
    if not found.has_netid and not one["netid"] and not ends:
        socket.protocol = ""
    if not found.has_netid and not one["netid"]:
        found.untold.append(socket)
    found.sockets.append(socket)
    behind = rest.split(None, 2)
    if len(ends) == 2 and len(behind) == 3 and not details(socket, behind[2]):
        found.odd.append(number)


def _wild(peer: str) -> bool:
    return peer.endswith(":*")


FORMAT = Format(
    name="ss",
    description="the output of ss",
    recognize=_recognize,
    read=_read,
    traps=(
        "rtt is the smoothed round trip and its variation, minrtt the least, in ms; rcv_rtt is "
        "the receiver's guess.",
        "cwnd and ssthresh are in segments, Recv-Q and Send-Q in bytes; of a listening socket they "
        "are the connections that wait, and the limit of them.",
        "retrans has two numbers: segments unacknowledged now, and the total; it is left out where "
        "both are 0.",
        "Rates count K, M and G as powers of 1000; send is cwnd * mss / rtt, and no measured rate.",
        "In a loop without marks of time a header begins the next list, and times are unknown.",
        "Facts of a connection are those of its last list.",
        "Unknown names are kept as text in the column other.",
        "Without a column Netid the sockets are taken for TCP if they have addresses, unless their "
        "states are those of UDP (UNCONN and ESTAB only).",
    ),
)
