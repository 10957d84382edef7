"""Sockets as ss, netstat and /proc/net list them, once or repeatedly, and the counts of ss -s."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from ipaddress import ip_address
from math import isnan, nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.readers.counters.counts import Counts
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.places import HOST, ROUND_TRIP, Counted, MeasuringPoint, of_sockets
from netcalc.readers.source import note, shorten, unit_of
from netcalc.samples import Fact, Table, fact_row

STATES = (
    "", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN",
    "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV",
)  # fmt: skip
"""The states of Linux by number, as ss names them."""

_APPLICATION_LIMITED = "app_limited"
_LIMITED = re.compile(r"(?P<time>[^()]+)\((?P<share>\d{1,3}(?:\.\d{1,3})?)%\)")
"""A time that ss prints with its share of the busy time, such as ``9700ms(97.0%)``."""
_TOKEN = re.compile(r"(?P<name>[A-Za-z_][\w-]*):(?P<bracket>\(.*?\)+(?=\s|$))|(?P<plain>\S+)")
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

    time_s: float = nan
    snapshot: int = 0
    protocol: str = ""
    state: str = ""
    local: str = ""
    peer: str = ""
    receive_queue_bytes: float = nan
    send_queue_bytes: float = nan
    congestion_control: str = ""
    rtt_s: float = nan
    rttvar_s: float = nan
    rtt_min_s: float = nan
    rto_s: float = nan
    cwnd_packets: float = nan
    ssthresh_packets: float = nan
    mss_bytes: float = nan
    path_mtu_bytes: float = nan
    unacked_packets: float = nan
    retransmit_total_count: float = nan
    bytes_acked: float = nan
    bytes_sent: float = nan
    bytes_received: float = nan
    bytes_retransmitted: float = nan
    send_rate_bps: float = nan
    pacing_rate_bps: float = nan
    delivery_rate_bps: float = nan
    unsent_bytes: float = nan
    offered_window_bytes: float = nan
    busy_s: float = nan
    receive_window_limited_s: float = nan
    send_buffer_limited_s: float = nan
    is_application_limited: float = nan
    other: str = ""

    def row(self) -> dict[str, Any]:
        """Return the columns of this socket; ``group`` names its two ends."""
        row = {column.name: getattr(self, column.name) for column in fields(self)}
        group = f"{self.local} > {self.peer}" if self.peer else self.local
        return {"group": group, **row, "snapshot": float(self.snapshot)}

    @staticmethod
    def units() -> dict[str, str]:
        """Return the unit of each column."""
        units = {"group": "text"}
        for column in fields(Socket):
            unit = "byte" if column.name.startswith("bytes_") else unit_of(column.name)
            units[column.name] = "text" if column.default == "" else unit
        return units

    @property
    def has_info(self) -> bool:
        """Whether the socket has details of TCP."""
        return not (isnan(self.cwnd_packets) and isnan(self.rtt_s))

    def facts(self) -> dict[str, Any]:
        """Return the facts of the connection."""
        return {name: getattr(self, name) for name in _FACTS}


_FACTS = (
    "rtt_s", "rtt_min_s", "cwnd_packets", "mss_bytes", "path_mtu_bytes", "retransmit_total_count",
    "bytes_acked", "congestion_control",
)  # fmt: skip


def facts_of(sockets: Sequence[Socket], *, partial: bool) -> tuple[dict[str, Fact], ...]:
    """Return a row for the file, and one for each connection if there are several."""
    keys = [(socket.protocol, socket.local, socket.peer) for socket in sockets]
    lists = (socket.snapshot for socket in sockets)
    # Sockets without a name of their own (listening twice) count as often as one list has them.
    counts: dict[tuple[str, str, str], int] = {}
    for (key, _), count in Counter(zip(keys, lists, strict=True)).items():
        counts[key] = max(counts.get(key, 0), count)
    whole = {
        "connection_count": sum(counts.values()),
        "tcp_connection_count": sum(n for key, n in counts.items() if key[0] == "tcp"),
        "partial": partial,
    }
    last = {(socket.local, socket.peer): socket for socket in sockets if socket.has_info}
    if len(last) == 1:
        return (fact_row(**whole, **next(iter(last.values())).facts()),)
    rows = [
        fact_row(group=f"{local} > {peer}", partial=partial, **socket.facts())
        for (local, peer), socket in last.items()
    ]
    return (fact_row(**whole), *rows)


def socket_table(
    file: Input,
    sockets: Sequence[Socket],
    warnings: Sequence[Notice],
    *,
    tool: str,
    partial: bool,
    **meta: Any,
) -> Table:
    """Return sockets as a table; refuse a file without one. ``meta`` is what else is known."""
    if not sockets:
        raise file.refusal("no-sockets")
    partial = partial or file.unpacked.grew
    has_times = any(not isnan(socket.time_s) for socket in sockets)
    rows = [socket.row() for socket in sockets]
    meta = {
        "facts": facts_of(sockets, partial=partial),
        "clock": "seconds of the Unix epoch" if has_times else "",
        **meta,
    }
    return file.table(tool, rows, Socket.units(), warnings=warnings, partial=partial, **meta)


def _listed(counts: Counts, sockets: Sequence[Socket], *, tool: str) -> Table:
    """Return the sockets of one list as a table; each line is one."""
    note(counts.warnings, "counter-lines-unread", numbers=counts.unread)
    partial = counts.partial or counts.file.unpacked.grew
    facts = fact_row(
        connection_count=len(sockets),
        tcp_connection_count=sum(socket.protocol == "tcp" for socket in sockets),
        partial=partial,
    )
    return socket_table(
        counts.file, sockets, counts.warnings, partial=partial, tool=tool, facts=(facts,)
    )


def _milliseconds(text: str) -> float:
    number = text.removesuffix("ms")
    return float(Decimal(number).scaleb(-3)) if re.fullmatch(_NUMBER, number) else nan


def _limited(text: str) -> float:
    both = _LIMITED.fullmatch(text)
    return _milliseconds(both["time"]) if both else nan


def _plain(text: str) -> float:
    return float(text) if re.fullmatch(_NUMBER, text) else nan


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
    "max_pacing_rate": "",  # a setting, and no rate of the socket
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
        elif text in _RATE_COLUMNS:
            before = text
        elif not _detail(socket, text):
            name = text.partition(":")[0]
            is_number = name in ("rtt", "retrans") or name in _NUMBERS
            right = right and not (is_number or text.isdigit())
            other.append(text)
    if before:
        other.append(before)
    kept = " ".join([socket.other, *other]).strip()
    socket.other = shorten(kept, 1000)
    if not isnan(socket.cwnd_packets) and isnan(socket.retransmit_total_count):
        socket.retransmit_total_count = 0.0  # ss leaves it out where it is 0
    if not isnan(socket.busy_s):  # ss leaves out what is 0, but for a socket that never sent
        for name in ("receive_window_limited_s", "send_buffer_limited_s", "is_application_limited"):
            if isnan(getattr(socket, name)):
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
    if name in ("rtt", "retrans"):
        convert = _milliseconds if name == "rtt" else _plain
        both = [convert(part) for part in value.split("/")]
        if len(both) != 2 or any(map(isnan, both)):
            return False
        if name == "rtt":
            socket.rtt_s, socket.rttvar_s = both
        else:
            socket.retransmit_total_count = both[1]
        return True
    if name in _NUMBERS:
        column, convert = _NUMBERS[name]
        number = convert(value)
        setattr(socket, column, number)
        return not isnan(number)
    return False


def _rate(socket: Socket, name: str, text: str) -> bool:
    rate = _RATE.fullmatch(text.partition("/")[0])
    if rate is None:
        return False
    if column := _RATE_COLUMNS[name]:
        setattr(socket, column, float(rate["number"]) * _POWERS[rate["power"]])
    return True


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
_PORT = re.compile(r"\S+:(?:\d+|\*|\?|[\w-]+)")
_WITH_PORTS = re.compile(rf"(?:(?:{_NETIDS})\s+)?(?:{_STATES})\s+\d+\s+\d+\s+\S+:\S+\s+\S+:\d+")
_CLOSED = re.compile(r".*\)|.*:\*")
"""A last line that ends in a bracket, or in any port: no other number may be cut in it."""


def _recognize_ss(file: Input) -> bool:
    if file.is_json:
        return False
    socket = rf"(?:{_STATES})\s+\d+\s+\d+\s+\S+:\S+\s+\S+:\S+"
    return (
        file.seen(rf"^(?:tcp|udp) +{socket}")
        or file.seen(r"^(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:Port")
        or (
            file.seen(rf"^(?:tcp\s+)?{socket}")
            and file.seen(r"\b(?:cwnd|rto|mss|ino|timer|skmem|users):")
        )
    )


def _read_ss(file: Input) -> Table:
    counts = Counts(file)
    lines = counts.lines(_CLOSED)
    if counts.partial:  # the last line is cut: its complete words still count
        number, line = file.text.numbers[-1], file.text.lines[-1]
        if line[:1].isspace() and " " in line.strip():
            lines.append((number, line.rpartition(" ")[0]))
        elif _WITH_PORTS.fullmatch(line):  # the port of the peer may have lost digits
            lines.append((number, f"{line.rpartition(':')[0]}:?"))
            counts.warnings[-1] = Notice("last-number-cut", {"number": number})
    lists = _Lists()
    for number, line in lines:
        lists.add(number, line)
    if not lists.sockets:
        raise file.refusal("no-sockets")
    untold = lists.untold
    states = {socket.state for socket in untold}
    if "UNCONN" in states and not states & _OF_TCP and not any(s.has_info for s in untold):
        for socket in untold:  # of ss -u or ss -w
            socket.protocol = ""
    note(counts.warnings, "not-lines-of-ss", numbers=lists.unread)
    note(counts.warnings, "ss-values-unread", numbers=lists.odd)
    return socket_table(file, lists.sockets, counts.warnings, partial=counts.partial, tool="ss")


@dataclass(slots=True)
class _Lists:
    """The sockets of all lists so far, and where the reader is."""

    sockets: list[Socket] = field(default_factory=list)
    untold: list[Socket] = field(default_factory=list)
    """Sockets whose line does not say a protocol."""
    unread: list[int] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)
    snapshot: int = -1
    time_s: float = nan
    seen: set[tuple[str, str]] = field(default_factory=set)
    has_netid: bool = False

    def add(self, number: int, line: str) -> None:
        """Read a line: a time, a header, a socket, or details of the socket above."""
        indented = line[:1].isspace()
        if stamp := _TIME.fullmatch(line):
            self.time_s = float(stamp["time"])
            self._begin()
        elif _HEAD.fullmatch(line):
            self.has_netid = "Netid" in line
            stamped = not isnan(self.time_s) and not self.seen
            if not stamped or self.snapshot < 0:
                self._begin()
        elif not line.strip() or _END.fullmatch(line):
            return
        elif not indented and (row := _SOCKET.fullmatch(line)):
            self._add_socket(number, row)
        elif indented and self.sockets:
            if not details(self.sockets[-1], line):
                self.odd.append(number)
        else:
            self.unread.append(number)

    def _begin(self) -> None:
        """Begin another list of sockets."""
        self.snapshot += 1
        self.seen = set()

    def _add_socket(self, number: int, row: re.Match[str]) -> None:
        rest = _GLUED.sub(" ", row["rest"])
        parts = rest.split()
        # Names of netlink and packet sockets may have blanks around the port.
        has_ports = all(_PORT.fullmatch(part) for part in parts[:2])
        has_ends = has_ports and len(parts) > 1
        local, peer = parts[:2] if has_ends else (" ".join(parts), "")
        again = peer and not peer.endswith(":*") and (local, peer) in self.seen
        if self.snapshot < 0 or again:
            self._begin()
        self.seen.add((local, peer))
        is_untold = not self.has_netid and not row["netid"]
        socket = Socket(
            time_s=self.time_s,
            snapshot=self.snapshot,
            protocol=("tcp" if has_ports else "") if is_untold else row["netid"] or "",
            state=row["state"] or "",
            local=shorten(local, 100),
            peer=shorten(peer, 100),
            receive_queue_bytes=float(row["received"][:18]),
            send_queue_bytes=float(row["sent"][:18]),
        )
        if is_untold:
            self.untold.append(socket)
        self.sockets.append(socket)
        behind = rest.split(None, 2)
        if has_ends and len(behind) == 3 and not details(socket, behind[2]):
            self.odd.append(number)


SS = Format(
    name="ss",
    description="the output of ss",
    recognize=_recognize_ss,
    read=_read_ss,
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
    tools={
        "ss": Counted(  # ss(8), tcp_rate_skb_delivered of Linux: segments of the MSS over time
            probes=MeasuringPoint("tcp", "TCP segments", HOST, ROUND_TRIP),
            facts=of_sockets(HOST, path_mtu_bytes=MeasuringPoint("", "IP packets", HOST)),
            rates=TCP_PAYLOAD,
        ),
    },
    parts=(
        r"^(?:nl|u_str|u_dgr|u_seq|p_raw|p_dgr|tcp|udp|icmp6|raw|mptcp|v_str) "
        r"+[A-Z][A-Z0-9-]+ +\d+ +\d+ ",
        r"^\s+(?:ts |sack |cubic |bbr |reno )*.*\b(?:wscale:\d+,\d+|rto:\d+ |cwnd:\d+ )",
    ),
    needs="the line of the socket, of TCP or UDP, with its state and ends",
)


_TOTAL = re.compile(r"Total: (\d{1,12})(?: \(kernel \d{1,12}\))?\s*")
_TCP = re.compile(r"TCP:\s+(?P<total>\d{1,12}) \((?P<states>[^()]*)\)(?:, ports \d{1,12})?\s*")
_STATE = re.compile(r"([a-z]+) (\d{1,12})(?:/\d{1,12})?")
_COLUMNS = ["Transport", "Total", "IP", "IPv6"]


def _recognize_ss_summary(file: Input) -> bool:
    return file.seen(r"^Total: \d+(?: \(kernel \d+\))?\s*$") and file.seen(r"^TCP: +\d+ \(estab ")


def _read_ss_summary(file: Input) -> Table:
    counts = Counts(file)
    names: list[str] = []
    for number, line in counts.lines():
        cells = line.split()
        if total := _TOTAL.fullmatch(line):
            counts.add("", "Total", int(total[1]))
        elif tcp := _TCP.fullmatch(line):
            counts.add("", "TCP", int(tcp["total"]))
            states = [_STATE.fullmatch(part) for part in tcp["states"].split(", ")]
            for state in states:
                if state:
                    counts.add("TCP", state[1], int(state[2]))
            if None in states:
                counts.unread.append(number)
        elif cells == _COLUMNS:
            names = cells[1:]
        elif len(cells) == 4 and names and cells[0] != "*":
            _row(counts, number, cells, names)
        elif cells and cells[0] != "*":
            counts.unread.append(number)
    return counts.table(tool="ss -s")


def _row(counts: Counts, number: int, cells: list[str], names: list[str]) -> None:
    for name, cell in zip(names, cells[1:], strict=True):
        if (
            not counts.add_text(cells[0], name, cell)
            and cell != "-"
            and number not in counts.unread[-1:]
        ):
            counts.unread.append(number)


SS_SUMMARY = Format(
    name="ss -s",
    description="the summary of ss -s",
    recognize=_recognize_ss_summary,
    read=_read_ss_summary,
    traps=(
        "The counts are those of now, and not since the start.",
        "The total of TCP in its own line counts sockets in TIME-WAIT, that of the table does not.",
        "Of two numbers of timewait the second counts requests, and is left out.",
        "A dash in the line of the kernel is no count.",
    ),
    parts=(r"^(?:RAW|UDP|TCP|INET|FRAG)\t *\d+ +\d+ +\d+ *$", r"^Transport +Total +IP +IPv6"),
    needs="the total (Total: ...) above it",
)


_LIST_HEAD = (
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
_DOTTED = r"\S+[.:](?:\d+|\*|[\w-]+)"
_STATE_OF_LIST = re.compile(r"\(?(?P<state>[A-Z][A-Z_0-9-]{2,14})\)?")
_WHOLE_STATES = (
    "ESTABLISHED|LISTEN|LISTENING|TIME_WAIT|SYN_SENT|SYN_RECV|SYN_RCVD|SYN_RECEIVED|FIN_WAIT_?[12]|"
    "CLOSE_WAIT|LAST_ACK|CLOSING"
)
# The names that ss prints of a state.
_NAMES = {
    "ESTABLISHED": "ESTAB", "SYN_RECEIVED": "SYN-RECV", "SYN_RCVD": "SYN-RECV",
    "FIN_WAIT1": "FIN-WAIT-1", "FIN_WAIT2": "FIN-WAIT-2", "LISTENING": "LISTEN",
    "CLOSED": "UNCONN", "CLOSE": "UNCONN",
}  # fmt: skip


def _recognize_netstat_list(file: Input) -> bool:
    return not file.is_json and (
        file.seen(rf"^{_LIST_HEAD}$")
        or file.seen(rf"^(?:tcp|udp)[46]* +\d+ +\d+ +{_DOTTED} +{_DOTTED}(?: |$)")
        # Windows, in any language
        or file.seen(r"^ {2}(?:TCP|UDP) {2,8}\S+:\d{1,5} {2,60}\S+:(?:\d{1,5}|\*)(?:\s|$)")
    )


def _read_netstat_list(file: Input) -> Table:
    counts = Counts(file)
    sockets: list[Socket] = []
    names = ""
    for number, line in counts.lines(_ended_as_others(file)):
        if re.fullmatch(_LIST_HEAD, line):
            names = line
        elif row := _INTERNET.fullmatch(line):
            sockets.append(_listed_socket(row["protocol"].lower(), row["rest"].split(), names))
            if "Recv-Q" in names and isnan(sockets[-1].receive_queue_bytes):
                counts.unread.append(number)
        elif _LOCAL.fullmatch(line):
            sockets.append(Socket(protocol="u_str" if "stream" in line.lower() else "u_dgr"))
        elif line.strip() and not re.match(r"\s*(?:Active |Proto|Address\s|\[|\S+\s*$)", line):
            counts.unread.append(number)
    return _listed(counts, sockets, tool="netstat")


def _ended_as_others(file: Input) -> re.Pattern[str]:
    """Return a pattern of lines that end in a whole state, in any port, or in a word that also ends
    another line of the file."""
    words = {line.split()[-1] for line in file.text.lines[:-1] if line.strip()}
    others = "|".join(re.escape(word) for word in words if not re.search(r"\d", word))
    return re.compile(
        rf".*\s(?:{_WHOLE_STATES})(?:\s.*)?|.*\s(?:{others or _WHOLE_STATES})|.*[:.]\*|unix\s.*\].*"
    )


def _listed_socket(protocol: str, cells: list[str], names: str) -> Socket:
    """Return a socket: numbers in front of its ends, its state behind them."""
    numbers = []
    while cells and cells[0].isdecimal():
        numbers.append(float(cells.pop(0)[:18]))
    local, peer, *rest = [*cells, "", ""]
    state = _STATE_OF_LIST.fullmatch(rest[0]) if rest else None
    name = state["state"] if state else ""
    made = Socket(protocol=protocol, local=shorten(local, 100), peer=shorten(peer, 100))
    made.state = _NAMES.get(name, name.replace("_", "-"))
    if "Recv-Q" in names and len(numbers) == 2:
        made.receive_queue_bytes, made.send_queue_bytes = numbers
    return made


NETSTAT_LIST = Format(
    name="netstat sockets",
    description="a list of sockets of netstat",
    recognize=_recognize_netstat_list,
    read=_read_netstat_list,
    traps=(
        "Sockets of UNIX count among all sockets, and not among those of TCP.",
        "States have the names that ss prints; UDP has none.",
        "Listening and closing sockets are counted: each line is a socket.",
        "The list has no round-trip time and no window: those are in ss -tin.",
    ),
    parts=(
        r"^[0-9a-f]{8,16} +(?:tcp|udp|stream|dgram)[46]* +",
        r"^unix +\d+ +\[ ",
        r"^Proto RefCnt Flags +Type",
        r"^Active UNIX domain sockets",
        r"^Address +Type +Recv-Q Send-Q +Inode",
    ),
    needs="the line of names (Proto Recv-Q Send-Q), and a socket of TCP or UDP",
)


_PROC_HEAD = re.compile(r"\s*sl\s+local_address\s+rem(?:ote)?_address\s+st\s.*")
_HEX_END = r"(?:[0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4}"
_PROC_SOCKET = re.compile(
    rf"\s*\d{{1,10}}: (?P<local>{_HEX_END}) (?P<peer>{_HEX_END}) (?P<state>[0-9A-F]{{2}}) "
    r"(?P<sent>[0-9A-F]{8}):(?P<received>[0-9A-F]{8}) .*"
)


def _as_wide_as_the_first(file: Input) -> re.Pattern[str]:
    """Return a pattern of lines with all cells of the first socket; what is read of them is not the
    last cell."""
    rows = (line.split() for line in file.text.lines if _PROC_SOCKET.fullmatch(line))
    return re.compile(rf"\s*(?:\S+\s+){{{len(next(rows, [''])) - 1}}}\S+\s*")


def _read_proc_net_list(file: Input) -> Table:
    counts = Counts(file)
    sockets: list[Socket] = []
    protocol = "tcp"
    for number, line in counts.lines(_as_wide_as_the_first(file)):
        if _PROC_HEAD.fullmatch(line):
            protocol = "udp" if line.rstrip().endswith("drops") else "tcp"
        elif row := _PROC_SOCKET.fullmatch(line):
            state = int(row["state"], 16)
            sockets.append(
                Socket(
                    protocol=protocol,
                    state=STATES[state] if state < len(STATES) else "",
                    local=_end(row["local"]),
                    peer=_end(row["peer"]),
                    receive_queue_bytes=float(int(row["received"], 16)),
                    send_queue_bytes=float(int(row["sent"], 16)),
                )
            )
        elif line.strip():
            counts.unread.append(number)
    return _listed(counts, sockets, tool="/proc/net")


def _end(text: str) -> str:
    """Return an address and port; each four bytes of an address are in the order of the processor.

    >>> _end("0100007F:0035")
    '127.0.0.1:53'
    """
    digits, _, port = text.partition(":")
    words = [bytes.fromhex(digits[at : at + 8])[::-1] for at in range(0, len(digits), 8)]
    address = ip_address(b"".join(words))
    return f"[{address}]:{int(port, 16)}" if address.version == 6 else f"{address}:{int(port, 16)}"


PROC_NET_LIST = Format(
    name="/proc/net sockets",
    description="a list of sockets of /proc/net",
    recognize=seen(
        r"^\s*sl\s+local_address\s+rem(?:ote)?_address\s+st\s", rf"^{_PROC_SOCKET.pattern}$"
    ),
    read=_read_proc_net_list,
    traps=(
        "Addresses are hexadecimal, with the bytes of a little-endian processor; ports are not "
        "turned round.",
        "tx_queue stands before rx_queue, both in hexadecimal bytes.",
        "The list of UDP has a column drops, that of TCP has none.",
        "Listening and closing sockets are counted: each line is a socket.",
    ),
)
