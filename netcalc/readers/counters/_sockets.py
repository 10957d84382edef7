"""What is known of one socket, and what ss says of it: its ends, and the details behind them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters._counts import Counts
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, Table, fact_row

NAN = math.nan

STATES = (
    "", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN",
    "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV",
)  # fmt: skip
"""The states of Linux by number, as ss names them."""

_APPLICATION_LIMITED = "app_limited"
_LIMITED = re.compile(r"(?P<time>[^()]+)\((?P<share>\d{1,3}(?:\.\d{1,3})?)%\)")
"""A time that ss prints with its share of the busy time, such as ``9700ms(97.0%)``."""
_TOKEN = re.compile(r"(?P<name>[A-Za-z_][\w-]*):(?P<bracket>\(.*?\)+(?=\s|$))|(?P<plain>\S+)")
_RATES = ("send", "pacing_rate", "delivery_rate", "max_pacing_rate")
_RATE = re.compile(r"(?P<number>\d{1,20}(?:\.\d{1,9})?)(?P<power>[KMGT]?)bps")
_POWERS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER = r"\d{1,20}(?:\.\d{1,9})?(?:e[+-]\d\d)?"
_CONTROLS = {
    "bbr", "bbr2", "bbr3", "bic", "cdg", "cubic", "cubic-sce", "dctcp", "dctcp-sce", "highspeed",
    "htcp", "hybla", "illinois", "lp", "nv", "prague", "reno", "reno-sce", "scalable", "vegas",
    "veno", "westwood", "yeah",
}  # fmt: skip


@dataclass(slots=True)
class Socket:
    """One socket in one list."""

    time_s: float = NAN
    snapshot: int = 0
    protocol: str = ""
    state: str = ""
    local: str = ""
    peer: str = ""
    receive_queue_bytes: float = NAN
    send_queue_bytes: float = NAN
    congestion_control: str = ""
    rtt_s: float = NAN
    rttvar_s: float = NAN
    rtt_min_s: float = NAN
    rto_s: float = NAN
    cwnd_packets: float = NAN
    ssthresh_packets: float = NAN
    mss_bytes: float = NAN
    path_mtu_bytes: float = NAN
    unacked_packets: float = NAN
    retransmit_total_count: float = NAN
    bytes_acked: float = NAN
    bytes_sent: float = NAN
    bytes_received: float = NAN
    bytes_retransmitted: float = NAN
    send_rate_bps: float = NAN
    pacing_rate_bps: float = NAN
    delivery_rate_bps: float = NAN
    unsent_bytes: float = NAN
    offered_window_bytes: float = NAN
    busy_s: float = NAN
    receive_window_limited_s: float = NAN
    send_buffer_limited_s: float = NAN
    is_application_limited: float = NAN
    other: str = ""

    def row(self) -> dict[str, Any]:
        """Return the columns of this socket; ``group`` names its two ends."""
        found: dict[str, Any] = {
            "group": f"{self.local} > {self.peer}" if self.peer else self.local
        }
        for one in fields(self):
            value = getattr(self, one.name)
            found[one.name] = float(value) if one.name == "snapshot" else value
        return found

    @staticmethod
    def units() -> dict[str, str]:
        """Return the unit of each column."""
        units = {"_s": "s", "_bytes": "byte", "_bps": "bit/s"}
        found = {"group": "text"}
        for one in fields(Socket):
            end = next((unit for tail, unit in units.items() if one.name.endswith(tail)), "1")
            end = "byte" if one.name.startswith("bytes_") else end
            found[one.name] = "text" if one.default == "" else end
        return found

    @property
    def has_info(self) -> bool:
        """Whether the socket has details of TCP."""
        return not (math.isnan(self.cwnd_packets) and math.isnan(self.rtt_s))

    def facts(self) -> dict[str, Any]:
        """Return the facts of the connection."""
        return {
            "rtt_s": self.rtt_s,
            "rtt_min_s": self.rtt_min_s,
            "cwnd_packets": self.cwnd_packets,
            "mss_bytes": self.mss_bytes,
            "path_mtu_bytes": self.path_mtu_bytes,
            "retransmit_total_count": self.retransmit_total_count,
            "bytes_acked": self.bytes_acked,
            "congestion_control": self.congestion_control,
        }


def facts_of(sockets: Sequence[Socket], *, partial: bool) -> tuple[dict[str, Fact], ...]:
    """Return a row for the file, and one for each connection if there are several."""
    keys = [(one.protocol, one.local, one.peer) for one in sockets]
    most = Counter((key, one.snapshot) for key, one in zip(keys, sockets, strict=True))
    # Sockets without a name of their own (listening twice) count as often as one list has them.
    counts: dict[tuple[str, str, str], int] = {}
    for (key, _), count in most.items():
        counts[key] = max(counts.get(key, 0), count)
    whole = {
        "connection_count": sum(counts.values()),
        "tcp_connection_count": sum(n for key, n in counts.items() if key[0] == "tcp"),
        "partial": partial,
    }
    last = {(one.local, one.peer): one for one in sockets if one.has_info}
    if len(last) == 1:
        return (fact_row(**whole, **next(iter(last.values())).facts()),)
    rows = [
        fact_row(group=f"{local} > {peer}", partial=partial, **one.facts())
        for (local, peer), one in last.items()
    ]
    return (fact_row(**whole), *rows)


def listed(given: Input, kept: Counts, sockets: Sequence[Socket], *, tool: str) -> Table:
    """Return the sockets of one list as a table; each line is one."""
    if not sockets:
        raise ReaderError("no-sockets", file=given.name)
    if kept.unread:
        kept.warnings.append(Notice("counter-lines-unread", {"numbers": kept.unread}))
    source = given.unpacked
    partial = source.grew or kept.partial
    rows = [one.row() for one in sockets]
    whole = fact_row(
        connection_count=len(sockets),
        tcp_connection_count=sum(one.protocol == "tcp" for one in sockets),
        partial=partial,
    )
    return Table(
        data={name: [row[name] for row in rows] for name in rows[0]},
        meta=Meta(
            tool=tool,
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            units=Socket.units(),
            facts=(whole,),
            warnings=tuple(kept.warnings),
            partial=partial,
        ),
    )


def _milliseconds(text: str) -> float:
    number = text.removesuffix("ms")
    return float(Decimal(number).scaleb(-3)) if re.fullmatch(_NUMBER, number) else NAN


def _limited(text: str) -> float:
    both = _LIMITED.fullmatch(text)
    return _milliseconds(both["time"]) if both else NAN


def _plain(text: str) -> float:
    return float(text) if re.fullmatch(_NUMBER, text) else NAN


# Name in the output -> column, and what makes a number of its text.
_NUMBERS = {
    "minrtt": ("rtt_min_s", _milliseconds),
    "rto": ("rto_s", _milliseconds),
    "cwnd": ("cwnd_packets", _plain),
    "ssthresh": ("ssthresh_packets", _plain),
    "mss": ("mss_bytes", _plain),
    "pmtu": ("path_mtu_bytes", _plain),
    "unacked": ("unacked_packets", _plain),
    "bytes_acked": ("bytes_acked", _plain),
    "bytes_sent": ("bytes_sent", _plain),
    "bytes_received": ("bytes_received", _plain),
    "bytes_retrans": ("bytes_retransmitted", _plain),
    "notsent": ("unsent_bytes", _plain),
    "snd_wnd": ("offered_window_bytes", _plain),
    "busy": ("busy_s", _milliseconds),
    "rwnd_limited": ("receive_window_limited_s", _limited),
    "sndbuf_limited": ("send_buffer_limited_s", _limited),
}
_RATE_COLUMNS = {
    "send": "send_rate_bps",
    "pacing_rate": "pacing_rate_bps",
    "delivery_rate": "delivery_rate_bps",
}


def details(socket: Socket, line: str) -> bool:
    """Put the details of a line into a socket; False if a known one has no number."""
    right = True
    other: list[str] = []
    before = ""
    for token in _TOKEN.finditer(line):
        text = token[0]
        if before:
            if not _rate(socket, before, text):
                right = False
                other.append(f"{before} {text}")
            before = ""
        elif text in _RATES:
            before = text
        elif not _detail(socket, text):
            name = text.partition(":")[0]
            right = right and name not in ("rtt", "retrans") and name not in _NUMBERS
            other.append(text)
    if before:
        other.append(before)
    kept = " ".join([socket.other, *other]).strip()
    socket.other = shorten(kept, 1000)
    if not math.isnan(socket.cwnd_packets) and math.isnan(socket.retransmit_total_count):
        socket.retransmit_total_count = 0.0  # ss leaves it out where it is 0
    if not math.isnan(socket.busy_s):  # ss leaves out what is 0, but for a socket that never sent
        for name in ("receive_window_limited_s", "send_buffer_limited_s", "is_application_limited"):
            if math.isnan(getattr(socket, name)):
                setattr(socket, name, 0.0)
    return right


def _detail(socket: Socket, text: str) -> bool:
    """Put one detail into its column; False if it has none, or no number."""
    name, colon, value = text.partition(":")
    if not colon:
        if text == _APPLICATION_LIMITED:
            socket.is_application_limited = 1.0
            return True
        if text in _CONTROLS and not socket.congestion_control:
            socket.congestion_control = text
            return True
        return False
    if name == "rtt":
        both = [_milliseconds(part) for part in value.split("/")]
        if len(both) != 2 or any(math.isnan(one) for one in both):
            return False
        socket.rtt_s, socket.rttvar_s = both
        return True
    if name == "retrans":
        both = [_plain(part) for part in value.split("/")]
        if len(both) != 2 or any(math.isnan(one) for one in both):
            return False
        socket.retransmit_total_count = both[1]
        return True
    if name in _NUMBERS:
        column, convert = _NUMBERS[name]
        number = convert(value)
        setattr(socket, column, number)
        return not math.isnan(number)
    return False


def _rate(socket: Socket, name: str, text: str) -> bool:
    rate = _RATE.fullmatch(text.partition("/")[0])
    if rate is None:
        return False
    if name in _RATE_COLUMNS:
        value = float(rate["number"]) * _POWERS[rate["power"]]
        setattr(socket, _RATE_COLUMNS[name], value)
    return True
