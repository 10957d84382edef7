"""Where each number of a measurement belongs: protocol, layer, side, and one way or round trip.

A tool decides what its numbers count: irtt sends UDP datagrams, arping frames, FlowMonitor counts
IP packets. The table of tools is the only place that knows it; the columns and the facts of samples
are looked up in it by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from netcalc.samples import PacketTrace, PathSamples, RttSamples, Samples, TransactionSamples

SENDER, RECEIVER = "sender", "receiver"
HOST, SERVER, CLIENT, CAPTURE = "this host", "server", "client", "where it was captured"
ROUND_TRIP, ONE_WAY = "round trip", "one way"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number belongs; a field is empty where the file does not say it.

    Parameters
    ----------
    protocol : str
        As facts name it: ``"icmp"``, ``"tcp"``, ``"udp"``, ``"arp"``.
    layer : str
        What is counted or timed, in the words of its layer: "ICMP packets", "application data".
    side : str
        Who counted or timed it.
    way : str
        Of a time: :data:`ROUND_TRIP` or :data:`ONE_WAY`.
    """

    protocol: str = ""
    layer: str = ""
    side: str = ""
    way: str = ""

    @property
    def what(self) -> str:
        """Layer, protocol where the layer does not name it, and way, as a table shows them."""
        protocol = self.protocol.upper()
        named = protocol in self.layer.upper() or not self.layer
        layer = self.layer if named else f"{self.layer} ({protocol})"
        return ", ".join(filter(None, (layer, self.way)))

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.what, self.side)))


_BY_PROTOCOL = {
    "icmp": "ICMP packets",
    "tcp": "TCP segments",
    "udp": "UDP datagrams",
    "arp": "ARP packets",
}
_ICMP = Place("icmp", "ICMP packets", SENDER, ROUND_TRIP)
_UDP = Place("udp", "UDP datagrams", SENDER, ROUND_TRIP)
_ANY = Place("", "probes", SENDER, ROUND_TRIP)
"""Of a tool that can probe by several protocols: the row of facts says which, or nothing does."""
_OF_TCP = Place("tcp", "TCP segments", HOST, ROUND_TRIP)
_REQUESTS = Place("", "application requests", CLIENT, ROUND_TRIP)
_TO_NODES = "probes, answered by ICMP"

PROBES: Mapping[str, Place] = {
    "ping": _ICMP, "fping": _ICMP, "hrPING": _ICMP, "oping": _ICMP, "Test-Connection": _ICMP,
    "hping3": _ANY, "nping": _ANY, "RIPE Atlas": _ANY, "flent": _ANY,
    "arping": Place("arp", "ARP packets", SENDER, ROUND_TRIP),
    "tcping": Place("tcp", "TCP handshakes", SENDER, ROUND_TRIP),
    "httping": Place("tcp", "HTTP requests", CLIENT, ROUND_TRIP),
    "irtt": _UDP, "twping": _UDP,
    "owping": Place("udp", "UDP datagrams", RECEIVER, ONE_WAY),
    "sockperf": replace(_REQUESTS, layer="application messages"),
    "netcalc echo": replace(_REQUESTS, layer="application messages"),
    "speedtest": _REQUESTS, "Ookla": _REQUESTS, "speedtest-cli": _REQUESTS,
    "LibreSpeed": _REQUESTS, "netperf": _REQUESTS, "qperf": _REQUESTS, "small writes": _REQUESTS,
    "netcalc small-writes": _REQUESTS, "netcalc transactions": _REQUESTS,
    "netcalc lockstep": _REQUESTS, "ss": _OF_TCP, "tcp-info": _OF_TCP,
    "ndt7": replace(_OF_TCP, side=SERVER), "Netesto": replace(_OF_TCP, side=SENDER),
    "ns-3 FlowMonitor": Place("", "IP packets", RECEIVER, ONE_WAY),
    "iperf3": replace(_OF_TCP, side=SENDER), "iperf 2": replace(_OF_TCP, side=SENDER),
    "nuttcp": replace(_OF_TCP, side=SENDER),
    "netcalc probing": _UDP, "netcalc packet trains": replace(_UDP, side=RECEIVER, way=ONE_WAY),
    "traceroute": Place("", _TO_NODES, SENDER, ROUND_TRIP),
    "mtr": Place("", _TO_NODES, SENDER, ROUND_TRIP),
    "tracepath": Place("udp", "UDP datagrams, answered by ICMP", SENDER, ROUND_TRIP),
    "dublin-traceroute": Place("udp", "UDP datagrams, answered by ICMP", SENDER, ROUND_TRIP),
    "tracert": _ICMP, "pathping": _ICMP,
}  # fmt: skip
"""Tool -> what its probes are, and who times them. A ``tracert`` of a router has its own name."""

_VARIANTS = {"tracert (Huawei)": Place("", _TO_NODES, SENDER, ROUND_TRIP)}

_COUNTED = {"ns-3 FlowMonitor": "IP packets", "dd": "data that dd copied, of any device"}
"""Tool -> what its bytes and rates count, where it is not the data of an application."""

_KERNEL = {
    "ethtool -S": "packets at the network card",
    "ip -s link": "frames at the interface",
    "netstat -i": "frames at the interface",
    "sar": "rates at the interface",
    "sadf": "rates at the interface",
    "tc -s qdisc": "packets at the queue",
    "nstat": "counters of the kernel's protocols",
    "netstat -s": "counters of the kernel's protocols",
    "/proc/net": "counters of the kernel",
    "netperf": "application requests",
}
"""Tool -> what its counters count."""

_SEGMENTS = Place("tcp", "TCP segments", SENDER)
_AT_RECEIVER = Place("udp", "UDP datagrams", RECEIVER)
_CAPTURED = Place("", "frames", CAPTURE)
_NAMED: Mapping[str, Place] = {
    "retransmit_count": _SEGMENTS,
    "datagram_count": Place("udp", "UDP datagrams", SENDER),
    "lost_datagram_count": _AT_RECEIVER,
    "jitter_s": replace(_AT_RECEIVER, way=ONE_WAY),
    "path_mtu_bytes": Place("", "IP packets", SENDER),
    "captured_byte_count": replace(_CAPTURED, layer="frames, as far as kept"),
    "span_s": _CAPTURED,
    "tcp_flow_count": Place("tcp", "TCP connections", CAPTURE),
    "udp_flow_count": Place("udp", "UDP flows", CAPTURE),
    "tcp_retransmission_count": Place("tcp", "TCP segments", CAPTURE),
    "ipv4_packet_count": Place("", "IPv4 packets", CAPTURE),
    "ipv6_packet_count": Place("", "IPv6 packets", CAPTURE),
    "icmp_echo_pair_count": Place("icmp", "ICMP packets", CAPTURE),
    "handshake_rtt_min_s": Place("tcp", "TCP handshakes", CAPTURE, ROUND_TRIP),
}  # fmt: skip
"""Facts that belong to one place whatever the tool is."""
_OF_SOCKETS = (
    "cwnd_packets", "mss_bytes", "retransmit_total_count", "busy_s", "receive_window_limited_s",
    "send_buffer_limited_s",
)  # fmt: skip
_PAYLOAD_OF_SOCKETS = ("bytes_acked", "bytes_sent", "bytes_retransmitted")
_SOCKETS = ("ss", "tcp-info")
_CONNECTING = ("nuttcp", "iperf 2")
"""Tools of transfers whose round trip is that of the connection that their client opened."""
_SPEED_TESTS = ("speedtest", "Ookla", "speedtest-cli", "LibreSpeed")
_COUNTS = ("sent_count", "received_count", "duplicate_count", "probe_count", "reply_count",
           "loss_ratio", "printed_loss_ratio")  # fmt: skip


def place(samples: Samples, row: Mapping[str, Any], name: str) -> Place:
    """Return where a fact belongs.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    row : mapping
        The row of facts that it is in: its protocol is that of the row, where the row has one.
    name : str
        Name of the fact.

    Returns
    -------
    Place
        Empty where the fact belongs to no place, such as the number of rows.

    Examples
    --------
    >>> from netcalc.samples import Meta
    >>> run = RttSamples(payload_bytes=[60.0], rtt_s=[0.01], meta=Meta(tool="irtt"))
    >>> str(place(run, {"protocol": "udp"}, "rtt_min_s"))
    'UDP datagrams, round trip, sender'
    """
    protocol = str(row.get("protocol") or samples.meta.protocol)
    tool = _tool(samples)
    if name.startswith("counter:") and tool == "Netesto":
        is_cpu, is_local = name.endswith("Cpu"), name.startswith("counter:local")
        return Place("", "CPU", SENDER if is_local else RECEIVER) if is_cpu else _REQUESTS
    if name.startswith("counter:"):
        return Place("", _KERNEL.get(tool, ""), CLIENT if tool == "netperf" else HOST)
    if name.startswith("sum:"):
        return Place("", samples.meta.layers.get(name.removeprefix("sum:"), ""))
    if name == "packet_count":
        return Place(protocol, "IP packets", SENDER) if tool == "ns-3 FlowMonitor" else _CAPTURED
    if name == "jitter_s" and tool == "ns-3 FlowMonitor":
        return Place(protocol, "IP packets", RECEIVER, ONE_WAY)
    if name == "jitter_s" and tool in _SPEED_TESTS:
        return probes(samples, protocol)
    if name == "handshake_rtt_min_s" and tool == "curl":
        return replace(_NAMED[name], side=CLIENT)
    if name == "path_mtu_bytes" and tool in _SOCKETS:
        return Place("", "IP packets", HOST)
    if name in _NAMED:
        return _NAMED[name]
    if name == "rtt_s" and tool in _CONNECTING:
        return Place("tcp", "TCP handshakes", CLIENT, ROUND_TRIP)
    if name in ("connection_count", "tcp_connection_count"):
        return Place("tcp" if name.startswith("tcp") else "", "sockets", HOST)
    if name in _OF_SOCKETS:
        side = SERVER if tool == "ndt7" else HOST if tool in _SOCKETS else SENDER
        return Place("tcp", "TCP segments", side)
    if name in _PAYLOAD_OF_SOCKETS:
        return Place("tcp", "application data", SERVER if tool == "ndt7" else HOST)
    side = {"sent": SENDER, "received": RECEIVER}.get(name.partition("_")[0], "")
    if name.endswith(("_byte_count", "_rate_bps")):
        return Place(
            protocol, _COUNTED.get(tool, "application data"), HOST if tool == "dd" else side
        )
    of_probes = probes(samples, protocol)
    if "rtt" in name or name.startswith("one_way_delay"):
        return of_probes
    if name in _COUNTS:
        return _count_place(of_probes, samples, name, side, protocol)
    return Place()


def probes(samples: Samples, protocol: str = "") -> Place:
    """Return what the probes of samples are, by which protocol, and who times them which way.

    Parameters
    ----------
    samples : Samples
        Round trips, paths, transactions, or a table of them.
    protocol : str
        That of the row of facts, where it has one; by default that of all rows with times.

    Returns
    -------
    Place
        With the protocol of the tool, or that of the file where the tool can use several.
    """
    tool = _tool(samples)
    found = _VARIANTS.get(samples.meta.tool) or PROBES.get(tool)
    if found is None:
        timed = isinstance(samples, RttSamples | PathSamples | TransactionSamples)
        found = _ANY if timed else Place()
    used = protocol or _protocol_of_times(samples) or samples.meta.protocol or found.protocol
    if tool == "flent" and used == "tcp":
        return PROBES["httping"]
    plain = found.layer in (_ANY.layer, _BY_PROTOCOL.get(found.protocol))
    layer = _BY_PROTOCOL.get(used, found.layer) if plain else found.layer
    if plain and isinstance(samples, PathSamples) and used in ("udp", "tcp"):
        layer += ", answered by ICMP"
    return replace(found, protocol=used, layer=layer)


_TIMED = ("rtt_", "one_way_delay_", "last_hop_rtt_")


def _protocol_of_times(samples: Samples) -> str:
    """Return the protocol of the rows of facts with times; nothing if they have several."""
    of_probes = isinstance(samples, RttSamples | PathSamples)
    found = {
        str(row.get("protocol", ""))
        for row in samples.facts()
        if of_probes or any(name.startswith(_TIMED) for name in row)
    }
    return found.pop() if len(found) == 1 else ""


def _count_place(of_probes: Place, samples: Samples, name: str, side: str, protocol: str) -> Place:
    """Return where a count of probes or their loss belongs: replies come back to the sender."""
    if of_probes.way == ONE_WAY:
        return replace(of_probes, side=side or RECEIVER, way="")
    if _tool(samples) in _SUMMED and name.endswith("loss_ratio"):
        return Place(protocol, _BY_PROTOCOL.get(protocol, of_probes.layer), RECEIVER)
    return replace(of_probes, way="")


_SUMMED = ("iperf3", "iperf 2", "nuttcp", "netperf", "netcalc bulk")
"""Tools of transfers, whose loss is that of the datagrams at the receiver."""


def _tool(samples: Samples) -> str:
    """Return the tool without its variant: ``ping (BusyBox)`` is ping."""
    if isinstance(samples, PacketTrace):
        return "pcap"
    return samples.meta.tool.partition(" (")[0].partition(", ")[0]
