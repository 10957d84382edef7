"""The lists of sockets of Linux: /proc/net/tcp, tcp6, udp and udp6."""

from __future__ import annotations

import re
from ipaddress import ip_address

from netcalc.readers.counters._counts import Counts, lines_of
from netcalc.readers.counters._sockets import STATES, Socket, listed
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_HEAD = re.compile(r"\s*sl\s+local_address\s+rem(?:ote)?_address\s+st\s.*")
_END = r"(?:[0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4}"
_SOCKET = re.compile(
    rf"\s*\d{{1,10}}: (?P<local>{_END}) (?P<peer>{_END}) (?P<state>[0-9A-F]{{2}}) "
    r"(?P<sent>[0-9A-F]{8}):(?P<received>[0-9A-F]{8}) .*"
)


def _recognize(given: Input) -> bool:
    return given.seen(r"^\s*sl\s+local_address\s+rem(?:ote)?_address\s+st\s")


def _read(given: Input) -> Table:
    kept = Counts()
    sockets: list[Socket] = []
    protocol = "tcp"
    for number, line in lines_of(given, kept):
        if _HEAD.fullmatch(line):
            protocol = "udp" if line.rstrip().endswith("drops") else "tcp"
        elif found := _SOCKET.fullmatch(line):
            state = int(found["state"], 16)
            sockets.append(
                Socket(
                    protocol=protocol,
                    state=STATES[state] if state < len(STATES) else "",
                    local=_end(found["local"]),
                    peer=_end(found["peer"]),
                    receive_queue_bytes=float(int(found["received"], 16)),
                    send_queue_bytes=float(int(found["sent"], 16)),
                )
            )
        elif line.strip():
            kept.unread.append(number)
    return listed(given, kept, sockets, tool="/proc/net")


def _end(text: str) -> str:
    """Return an address and port; each four bytes of an address are in the order of the processor.

    >>> _end("0100007F:0035")
    '127.0.0.1:53'
    """
    digits, _, port = text.partition(":")
    words = [bytes.fromhex(digits[at : at + 8])[::-1] for at in range(0, len(digits), 8)]
    address = ip_address(b"".join(words))
    return f"[{address}]:{int(port, 16)}" if address.version == 6 else f"{address}:{int(port, 16)}"


FORMAT = Format(
    name="/proc/net sockets",
    description="a list of sockets of /proc/net",
    recognize=_recognize,
    read=_read,
    traps=(
        "Addresses are hexadecimal, with the bytes of a little-endian processor; ports are not "
        "turned round.",
        "tx_queue stands before rx_queue, both in hexadecimal bytes.",
        "The list of UDP has a column drops, that of TCP has none.",
        "Listening and closing sockets are counted: each line is a socket.",
    ),
)
