"""The lists of sockets of netstat: Linux, BSD, macOS and Windows."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of
from netcalc.readers.counters._sockets import Socket, listed
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Table

_HEAD = (
    r"\s*(?:(?:Tcpcb|PCB|Socket)\s+)?Proto\s+"
    r"(?:Recv-Q\s+Send-Q|Rexmit\s+OOORcv|Local Address)\b.*"
)
_INTERNET = re.compile(
    r"\s*(?:[0-9a-f]{6,16}\s+)?(?P<protocol>tcp|udp|udplite|sctp|raw|icmp|icm)(?:4|6|46|64)?\s+"
    r"(?P<rest>\S.*)",
    re.IGNORECASE,
)
_LOCAL = re.compile(
    r"unix\s+\d+\s+\[.*|[0-9a-f]{6,16}\s+(?:stream|dgram|seqpac\w*|raw)\s+\d.*", re.IGNORECASE
)
_STATE = re.compile(r"\(?(?P<state>[A-Z][A-Z_0-9-]{2,14})\)?")
# The names that ss prints of a state.
_NAMES = {
    "ESTABLISHED": "ESTAB", "SYN_RECEIVED": "SYN-RECV", "SYN_RCVD": "SYN-RECV",
    "FIN_WAIT1": "FIN-WAIT-1", "FIN_WAIT2": "FIN-WAIT-2", "LISTENING": "LISTEN",
    "CLOSED": "UNCONN", "CLOSE": "UNCONN",
}  # fmt: skip


def _recognize(given: Input) -> bool:
    return not given.is_json and (
        given.seen(rf"^{_HEAD}$")
        # Windows, in any language
        or given.seen(r"^ {2}(?:TCP|UDP) {2,8}\S+:\d{1,5} {2,60}\S+:(?:\d{1,5}|\*)(?:\s|$)")
    )


def _read(given: Input) -> Table:
    kept = Counts()
    sockets: list[Socket] = []
    names = ""
    for number, line in lines_of(given, kept):
        if re.fullmatch(_HEAD, line):
            names = line
        elif found := _INTERNET.fullmatch(line):
            sockets.append(_socket(found["protocol"].lower(), found["rest"].split(), names))
        elif _LOCAL.fullmatch(line):
            sockets.append(Socket(protocol="u_str" if "stream" in line.lower() else "u_dgr"))
        elif line.strip() and not re.match(r"\s*(?:Active |Proto|Address\s|\[|\S+\s*$)", line):
            kept.unread.append(number)
    return listed(given, kept, sockets, tool="netstat")


def _socket(protocol: str, cells: list[str], names: str) -> Socket:
    """Return a socket: numbers in front of its ends, its state behind them."""
    numbers = []
    while cells and cells[0].isdecimal():
        numbers.append(float(cells.pop(0)[:18]))
    local, peer, *rest = [*cells, "", ""]
    state = _STATE.fullmatch(rest[0]) if rest else None
    name = state["state"] if state else ""
    made = Socket(protocol=protocol, local=shorten(local, 100), peer=shorten(peer, 100))
    made.state = _NAMES.get(name, name.replace("_", "-"))
    if "Recv-Q" in names and len(numbers) == 2:
        made.receive_queue_bytes, made.send_queue_bytes = numbers
    return made


FORMAT = Format(
    name="netstat sockets",
    description="a list of sockets of netstat",
    recognize=_recognize,
    read=_read,
    traps=(
        "Sockets of UNIX count among all sockets, and not among those of TCP.",
        "States have the names that ss prints; UDP has none.",
        "Listening and closing sockets are counted: each line is a socket.",
        "The list has no round-trip time and no window: those are in ss -tin.",
    ),
)
