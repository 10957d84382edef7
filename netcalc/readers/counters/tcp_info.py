"""Sockets of the kernel as M-Lab's tcp-info saves them: messages of inet_diag, or JSON of them.

Numbers are in the order of bytes of the machine that wrote them, taken for little-endian.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.readers.counters.sockets import STATES, Socket, socket_table
from netcalc.readers.document import member, words
from netcalc.readers.format import Format, Input
from netcalc.readers.places import HOST, ROUND_TRIP, Counted, MeasuringPoint, of_sockets
from netcalc.readers.source import note, shorten
from netcalc.samples import Table

_MESSAGE = struct.Struct("<IHHII")  # nlmsghdr: length, type, flags, sequence, port
_BY_FAMILY = 20
_DIAG = struct.Struct("<BBBB2s2s16s16sI8sIIIII")  # inet_diag_msg
_FAMILIES = {2: 4, 10: 16}  # bytes of an address
_INFO, _CONTROL = 2, 4  # types of attributes
# Of struct tcp_info: column, offset, kind, and what makes an SI number of it.
_FIELDS: tuple[tuple[str, int, str, float], ...] = (
    ("rto_s", 8, "<I", 1e-6),
    ("mss_bytes", 16, "<I", 1.0),
    ("unacked_packets", 24, "<I", 1.0),
    ("path_mtu_bytes", 60, "<I", 1.0),
    ("rtt_s", 68, "<I", 1e-6),
    ("rttvar_s", 72, "<I", 1e-6),
    ("ssthresh_packets", 76, "<I", 1.0),
    ("cwnd_packets", 80, "<I", 1.0),
    ("retransmit_total_count", 100, "<I", 1.0),
    ("pacing_rate_bps", 104, "<Q", 8.0),
    ("bytes_acked", 120, "<Q", 1.0),
    ("bytes_received", 128, "<Q", 1.0),
    ("unsent_bytes", 144, "<I", 1.0),
    ("rtt_min_s", 148, "<I", 1e-6),
    ("delivery_rate_bps", 160, "<Q", 8.0),
    ("busy_s", 168, "<Q", 1e-6),
    ("receive_window_limited_s", 176, "<Q", 1e-6),
    ("send_buffer_limited_s", 184, "<Q", 1e-6),
    ("bytes_sent", 200, "<Q", 1.0),
    ("bytes_retransmitted", 208, "<Q", 1.0),
    ("offered_window_bytes", 228, "<I", 1.0),
)
_NOT_KNOWN = {
    "ssthresh_packets": 0x7FFF_FFFF,
    "pacing_rate_bps": 0xFFFF_FFFF_FFFF_FFFF,
    "rtt_min_s": 0xFFFF_FFFF,
    "rtt_s": 0,
}
"""Numbers that stand for none: no threshold yet, no pacing, no round trip measured."""


@dataclass(slots=True)
class _Snapshots:
    """The sockets of all snapshots, and how many came without details."""

    sockets: list[Socket] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    snapshot: int = 0
    without_info: int = 0


def _recognize(file: Input) -> bool:
    if _is_message(file.head):
        return True
    if file.head.lstrip()[:1] not in (b"{", b"["):
        return False
    return file.seen(r'"RawIDM"\s*:') and file.is_json


def _is_message(head: bytes) -> bool:
    """Whether bytes begin with a message about a socket, behind which another one begins."""
    if len(head) < _MESSAGE.size + _DIAG.size:
        return False
    length, kind, *_ = _MESSAGE.unpack_from(head)
    family, state = head[_MESSAGE.size : _MESSAGE.size + 2]
    right = (
        kind == _BY_FAMILY
        and _MESSAGE.size + _DIAG.size <= length <= 4096
        and family in _FAMILIES
        and 1 <= state < len(STATES)
    )
    after = head[_aligned(length) :]
    return right and (
        len(after) < _MESSAGE.size or _MESSAGE.unpack_from(after)[1] in (_BY_FAMILY, 2, 3)
    )


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _read(file: Input) -> Table:
    snapshots = _Snapshots()
    warnings: list[Notice] = []
    host = start = ""
    partial = False
    if _is_message(file.head):
        partial = _messages(file, snapshots, warnings)
    else:
        documents = file.json
        for number, row in enumerate(documents.objects(), 1):
            meta = member(row, "Metadata")
            start = start or words(meta, "StartTime")
            host = host or words(meta, "UUID").partition("_")[0]
            if isinstance(row.get("RawIDM"), str):
                _document(file, snapshots, row, number)
        warnings += documents.warnings_of_cut()
        partial = documents.fault is not None
    note(warnings, "sockets-without-details", count=snapshots.without_info)
    return socket_table(
        file, snapshots.sockets, warnings, partial=partial, tool="tcp-info",
        host=shorten(host, 100), start=shorten(start, 60),
    )  # fmt: skip


def _messages(file: Input, snapshots: _Snapshots, warnings: list[Notice]) -> bool:
    """Add the sockets of all messages; return whether the last one is cut."""
    data, at = file.data, 0
    while at + _MESSAGE.size <= len(data):
        length, kind, *_ = _MESSAGE.unpack_from(data, at)
        if length < _MESSAGE.size or at + length > len(data):
            break
        body = data[at + _MESSAGE.size : at + length]
        if kind == _BY_FAMILY:
            attributes = dict(_attributes(body[_DIAG.size :]))
            if not _add(snapshots, body, attributes):
                raise file.refusal("tcp-info-damaged", offset=at)
        at += _aligned(length)
    if at < len(data):
        warnings.append(Notice("messages-cut", {"offset": at}))
    return at < len(data)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attributes behind a message: length, type, value."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("<HH", data, at)
        if length < 4:
            return
        yield kind, data[at + 4 : at + length]
        at += _aligned(length)


def _document(file: Input, snapshots: _Snapshots, row: Mapping[str, Any], number: int) -> None:
    """Add the socket of one snapshot in JSON."""
    listed = row.get("Attributes")
    texts = dict(enumerate(listed)) if isinstance(listed, list) else {}
    try:
        body = base64.b64decode(row["RawIDM"], validate=True)
        attributes = {
            kind: base64.b64decode(texts[kind], validate=True)
            for kind in (_INFO, _CONTROL)
            if isinstance(texts.get(kind), str)
        }
    except (binascii.Error, ValueError):
        raise file.refusal("tcp-info-damaged", field=f"document {number}") from None
    if not _add(snapshots, body, attributes, time_s=_epoch(words(row, "Timestamp"))):
        raise file.refusal("tcp-info-damaged", field=f"document {number}")


def _epoch(text: str) -> float:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return nan
    return when.timestamp() if when.tzinfo is not None and when.year > 1 else nan


def _add(
    snapshots: _Snapshots, body: bytes, attributes: Mapping[int, bytes], *, time_s: float = nan
) -> bool:
    """Add one socket; False if the message is none of a socket."""
    if len(body) < _DIAG.size:
        return False
    family, state, _, _, source, peer, local_ip, peer_ip, *_, received, sent, _, _ = _DIAG.unpack(
        body[: _DIAG.size]
    )
    if family not in _FAMILIES or not 1 <= state < len(STATES):
        return False
    size = _FAMILIES[family]
    local = _end(local_ip[:size], source)
    remote = _end(peer_ip[:size], peer)
    if (local, remote) in snapshots.seen:
        snapshots.snapshot += 1
        snapshots.seen = set()
    snapshots.seen.add((local, remote))
    socket = Socket(
        time_s=time_s,
        snapshot=snapshots.snapshot,
        protocol="tcp",
        state=STATES[state],
        local=local,
        peer=remote,
        receive_queue_bytes=float(received),
        send_queue_bytes=float(sent),
        congestion_control=_text(attributes.get(_CONTROL, b"")),
    )
    info = attributes.get(_INFO)
    if info is None:
        snapshots.without_info += 1
    else:
        _details(socket, info)
    snapshots.sockets.append(socket)
    return True


def _end(address: bytes, port: bytes) -> str:
    ip = ipaddress.ip_address(address)
    number = int.from_bytes(port, "big")
    return f"{ip}:{number}" if ip.version == 4 else f"[{ip}]:{number}"


def _text(value: bytes) -> str:
    return shorten(value.rstrip(b"\0").decode("ascii", "replace"), 20)


def _details(socket: Socket, info: bytes) -> None:
    """Put what the kernel has; an older one has fewer fields."""
    for name, offset, kind, factor in _FIELDS:
        if offset + struct.calcsize(kind) > len(info):
            continue
        number = struct.unpack_from(kind, info, offset)[0]
        if number != _NOT_KNOWN.get(name, -1):
            # 38 us are 38e-6 s to the last digit: a division, no multiplication.
            value = number / round(1 / factor) if factor < 1 else number * factor
            setattr(socket, name, value)


FORMAT = Format(
    name="tcp_info",
    description="sockets of the kernel, as M-Lab's tcp-info saves them",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times of the kernel are in microseconds, rates in bytes a second.",
        "Counts are from the start of a connection: only differences belong to an interval.",
        "The largest number of a field stands for none: no threshold, no pacing, no least round "
        "trip.",
        "Raw messages have no time: their order is all that is known of it.",
        "A snapshot is a row; facts are those of a connection's last one.",
        "An older kernel writes fewer fields, which are unknown and not 0.",
        "The order of bytes is taken for little-endian.",
    ),
    tools={
        "tcp-info": Counted(  # tcp_rate_skb_delivered of Linux: segments of the MSS over time
            probes=MeasuringPoint("tcp", "TCP segments", HOST, ROUND_TRIP),
            facts=of_sockets(HOST, path_mtu_bytes=MeasuringPoint("", "IP packets", HOST)),
            rates=TCP_PAYLOAD,
        ),
    },
)
