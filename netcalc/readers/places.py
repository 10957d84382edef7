"""What the numbers of a tool count, and where: protocol, layer, side, one way or round trip.

A tool decides what its numbers count: irtt sends UDP datagrams, arping frames, FlowMonitor counts
IP packets. Each format says it of its tools (:class:`Counted`); for each number :func:`place` and
:func:`rate_layer` look it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from netcalc import rate_layers
from netcalc.samples import PacketTrace, PathSamples, RttSamples, Samples, TransactionSamples
from netcalc.samples.meta import OF_COLUMNS, unit_of_fact

SENDER, RECEIVER = "sender", "receiver"
HOST, SERVER, CLIENT, CAPTURE = "this host", "server", "client", "where it was captured"
ROUND_TRIP, ONE_WAY = "round trip", "one way"
OF_ROW = "protocol of the row"
"""In a table of facts: the protocol is that of the row of facts."""


@dataclass(frozen=True, slots=True)
class MeasuringPoint:
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


PROBES = MeasuringPoint("", "probes", SENDER, ROUND_TRIP)
"""Of a tool that can probe by several protocols: the row of facts says which, or nothing does."""
ICMP_PROBES = MeasuringPoint("icmp", "ICMP packets", SENDER, ROUND_TRIP)
UDP_PROBES = MeasuringPoint("udp", "UDP datagrams", SENDER, ROUND_TRIP)
TO_NODES = MeasuringPoint("", "probes, answered by ICMP", SENDER, ROUND_TRIP)
UDP_TO_NODES = MeasuringPoint("udp", "UDP datagrams, answered by ICMP", SENDER, ROUND_TRIP)
REQUESTS = MeasuringPoint("", "application requests", CLIENT, ROUND_TRIP)
MESSAGES = MeasuringPoint("", "application messages", CLIENT, ROUND_TRIP)
HTTP_REQUESTS = MeasuringPoint("tcp", "HTTP requests", CLIENT, ROUND_TRIP)
SEGMENTS = MeasuringPoint("tcp", "TCP segments", SENDER, ROUND_TRIP)
HANDSHAKE = MeasuringPoint("tcp", "TCP handshakes", CLIENT, ROUND_TRIP)
"""The connection that the client of a transfer opened."""

TRANSPORT: Literal["transport"] = "transport"
"""Rates of a tool that counts the payload of TCP or of UDP, as its run used one or the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the numbers of a tool count, and who counts them.

    Parameters
    ----------
    probes : MeasuringPoint, optional
        What its round trips or delays are of.
    probes_by : mapping of str to MeasuringPoint
        The same by protocol, where another protocol makes another probe.
    facts : mapping of str to MeasuringPoint
        Name of a fact, or its pattern (``counter:*``) -> where it belongs, where that is not as
        usual; :data:`PROBES` where its probes belong.
    data : str
        What its bytes and rates count.
    rates : str, optional
        One of :data:`netcalc.rate_layers.LAYERS`, or :data:`TRANSPORT`: the layer of its rates, as
        its documentation says.
    loss_at_receiver : bool
        Whether a loss is that of datagrams at the receiver, not of replies.
    """

    probes: MeasuringPoint | None = None
    probes_by: Mapping[str, MeasuringPoint] = field(default_factory=dict)
    facts: Mapping[str, MeasuringPoint] = field(default_factory=dict)
    data: str = "application data"
    rates: rate_layers.RateLayer | Literal["transport"] | None = None
    loss_at_receiver: bool = False


_FACTS_OF_SOCKETS = (
    "cwnd_packets", "mss_bytes", "retransmit_total_count", "busy_s",
    "receive_window_limited_s", "send_buffer_limited_s",
)  # fmt: skip
_BYTES_OF_SOCKETS = ("bytes_acked", "bytes_sent", "bytes_retransmitted")


def of_sockets(side: str, **others: MeasuringPoint) -> Mapping[str, MeasuringPoint]:
    """Return where the facts of the kernel about a TCP socket belong."""
    payload = dict.fromkeys(_BYTES_OF_SOCKETS, MeasuringPoint("tcp", "application data", side))
    segments = dict.fromkeys(_FACTS_OF_SOCKETS, MeasuringPoint("tcp", "TCP segments", side))
    return {**segments, **payload, **others}


def of_kernel(layer: str, rates: rate_layers.RateLayer | None = None) -> Counted:
    """Return what the counters of a host's kernel count."""
    return Counted(facts={"counter:*": MeasuringPoint("", layer, HOST)}, rates=rates)


TOOLS: dict[str, Counted] = {
    # Experiments of netcalc: what the application hands to the socket; links count IP packets.
    "netcalc echo": Counted(probes=MESSAGES),
    "netcalc small-writes": Counted(probes=REQUESTS),
    "netcalc transactions": Counted(probes=REQUESTS),
    "netcalc lockstep": Counted(probes=REQUESTS, rates=rate_layers.TCP_PAYLOAD),
    "netcalc probing": Counted(probes=UDP_PROBES),
    "netcalc working-latency": Counted(probes=UDP_PROBES, rates=rate_layers.TCP_PAYLOAD),
    "netcalc packet trains": Counted(
        probes=replace(UDP_PROBES, side=RECEIVER, way=ONE_WAY), rates=rate_layers.IP
    ),
    "netcalc bulk": Counted(rates=TRANSPORT, loss_at_receiver=True),
    "netcalc line-rate": Counted(rates=rate_layers.UDP_PAYLOAD),
    "netcalc congestion": Counted(rates=rate_layers.TCP_PAYLOAD),
}
"""Tool -> what its numbers count; :mod:`netcalc.readers.formats` adds the tools of all formats."""

_BY_PROTOCOL = {
    "icmp": "ICMP packets",
    "tcp": "TCP segments",
    "udp": "UDP datagrams",
    "arp": "ARP packets",
}
_SEGMENTS = MeasuringPoint("tcp", "TCP segments", SENDER)
_AT_RECEIVER = MeasuringPoint("udp", "UDP datagrams", RECEIVER)
_CAPTURED = MeasuringPoint("", "frames", CAPTURE)
_OF_HOST = MeasuringPoint("tcp", "application data", HOST)
_NAMED: Mapping[str, MeasuringPoint] = {
    "retransmit_count": _SEGMENTS,
    "datagram_count": MeasuringPoint("udp", "UDP datagrams", SENDER),
    "lost_datagram_count": _AT_RECEIVER,
    "jitter_s": replace(_AT_RECEIVER, way=ONE_WAY),
    "path_mtu_bytes": MeasuringPoint("", "IP packets", SENDER),
    "packet_bytes": MeasuringPoint("", "IP packets", SENDER),
    "packet_count": _CAPTURED,
    "captured_byte_count": replace(_CAPTURED, layer="frames, as far as kept"),
    "span_s": _CAPTURED,
    "tcp_flow_count": MeasuringPoint("tcp", "TCP connections", CAPTURE),
    "udp_flow_count": MeasuringPoint("udp", "UDP flows", CAPTURE),
    "tcp_retransmission_count": MeasuringPoint("tcp", "TCP segments", CAPTURE),
    "ipv4_packet_count": MeasuringPoint("", "IPv4 packets", CAPTURE),
    "ipv6_packet_count": MeasuringPoint("", "IPv6 packets", CAPTURE),
    "icmp_echo_pair_count": MeasuringPoint("icmp", "ICMP packets", CAPTURE),
    "handshake_rtt_min_s": MeasuringPoint("tcp", "TCP handshakes", CAPTURE, ROUND_TRIP),
    "connection_count": MeasuringPoint("", "sockets", HOST),
    "tcp_connection_count": MeasuringPoint("tcp", "sockets", HOST),
    **dict.fromkeys(_FACTS_OF_SOCKETS, _SEGMENTS),
    **dict.fromkeys(_BYTES_OF_SOCKETS, _OF_HOST),
    "counter:*": MeasuringPoint("", "", HOST),
}
"""Facts that belong to one place whatever the tool is, unless its format says another."""
_COUNTS = ("sent_count", "received_count", "duplicate_count", "probe_count", "reply_count",
           "loss_ratio", "printed_loss_ratio")  # fmt: skip
_TIMED = ("rtt_", "one_way_delay_", "last_hop_rtt_")

_RATES_BY_PROTOCOL: Mapping[str, rate_layers.RateLayer] = {
    "tcp": rate_layers.TCP_PAYLOAD,
    "udp": rate_layers.UDP_PAYLOAD,
}
OCTETS: rate_layers.RateLayer = rate_layers.FRAME
"""What ``ifInOctets`` and ``ifHCInOctets`` of SNMP count on Ethernet: frames with MAC header and
FCS (RFC 3635, 3.2.6; RFC 2863 has "framing characters")."""
_OCTETS = ("ifinoctets", "ifoutoctets", "ifhcinoctets", "ifhcoutoctets")
_OF_LINKS: Mapping[str, rate_layers.RateLayer] = {
    "rate_bps": rate_layers.IP,
    "bandwidth_bps": rate_layers.LINE,
}
"""Rates of links in the tables of netcalc: a scenario's counts packets, a link's is its name's."""


def place(samples: Samples, row: Mapping[str, Any], name: str) -> MeasuringPoint:
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
    MeasuringPoint
        Empty where the fact belongs to no place, such as the number of rows.

    Examples
    --------
    >>> from netcalc.samples import Meta
    >>> run = RttSamples(payload_bytes=[60.0], rtt_s=[0.01], meta=Meta(tool="irtt"))
    >>> str(place(run, {"protocol": "udp"}, "rtt_min_s"))
    'UDP datagrams, round trip, sender'
    """
    protocol = str(row.get("protocol") or samples.meta.protocol)
    counted = _counted(samples)
    if name.startswith(OF_COLUMNS):
        return MeasuringPoint("", samples.meta.layers.get(name.partition(":")[2], ""))
    # What a tool says of its own numbers comes first: its handshake may be timed by the client,
    # where the same fact of a capture is timed on the way.
    for table in (counted.facts, _NAMED):
        stated = table.get(name) or next(
            (p for key, p in table.items() if fnmatchcase(name, key)), None
        )
        if stated == PROBES:
            return probes(samples, protocol)
        if stated is not None:
            return replace(stated, protocol=protocol) if stated.protocol == OF_ROW else stated
    side = {"sent": SENDER, "received": RECEIVER}.get(name.partition("_")[0], "")
    if name.endswith(("_byte_count", "_rate_bps")):
        return MeasuringPoint(protocol, counted.data, side)
    if "rtt" in name or name.startswith("one_way_delay"):
        return probes(samples, protocol)
    if name not in _COUNTS:
        return MeasuringPoint()
    of_probes = probes(samples, protocol)
    if of_probes.way == ONE_WAY:
        return replace(of_probes, side=side or RECEIVER, way="")
    if counted.loss_at_receiver and name.endswith("loss_ratio"):
        return MeasuringPoint(protocol, _BY_PROTOCOL.get(protocol, of_probes.layer), RECEIVER)
    return replace(of_probes, way="")  # replies come back to the sender, who counts them


def places_of_rows(samples: Samples) -> list[dict[str, MeasuringPoint]]:
    """Return where each fact of each row belongs.

    Examples
    --------
    >>> from netcalc.samples import Meta
    >>> run = RttSamples(payload_bytes=[60.0], rtt_s=[0.01], meta=Meta(tool="irtt"))
    >>> str(places_of_rows(run)[0]["rtt_min_s"])
    'UDP datagrams, round trip, sender'
    """
    # Of its row a place depends on the protocol alone: of thousands of rows few differ.
    known: dict[tuple[Any, str], MeasuringPoint] = {}
    rows = samples.facts()
    for row in rows:
        for name in row:
            key = (row.get("protocol"), name)
            if key not in known:
                known[key] = place(samples, row, name)
    return [{name: known[row.get("protocol"), name] for name in row} for row in rows]


def probes(samples: Samples, protocol: str = "") -> MeasuringPoint:
    """Return what the probes of samples are, by which protocol, and who times them which way.

    Parameters
    ----------
    samples : Samples
        Round trips, paths, transactions, or a table of them.
    protocol : str
        That of the row of facts, where it has one; by default that of all rows with times.

    Returns
    -------
    MeasuringPoint
        With the protocol of the tool, or that of the file where the tool can use several.
    """
    counted = _counted(samples)
    of_tool = counted.probes
    if of_tool is None:
        timed = isinstance(samples, RttSamples | PathSamples | TransactionSamples)
        of_tool = PROBES if timed else MeasuringPoint()
    used = protocol or _protocol_of_times(samples) or samples.meta.protocol or of_tool.protocol
    if used in counted.probes_by:
        return counted.probes_by[used]
    plain = of_tool.layer in (PROBES.layer, _BY_PROTOCOL.get(of_tool.protocol))
    layer = _BY_PROTOCOL.get(used, of_tool.layer) if plain else of_tool.layer
    if plain and isinstance(samples, PathSamples) and used in ("udp", "tcp"):
        layer += ", answered by ICMP"
    return replace(of_tool, protocol=used, layer=layer)


def _protocol_of_times(samples: Samples) -> str:
    """Return the protocol of the rows of facts with times; nothing if they have several."""
    of_probes = isinstance(samples, RttSamples | PathSamples)
    protocols = {
        str(row.get("protocol", ""))
        for row in samples.facts()
        if of_probes or any(name.startswith(_TIMED) for name in row)
    }
    return protocols.pop() if len(protocols) == 1 else ""


def _tool(samples: Samples) -> str:
    """Return the tool without its variant: ``ping (BusyBox)`` is ping."""
    if isinstance(samples, PacketTrace):
        return "pcap"
    return samples.meta.tool.partition(" (")[0].partition(", ")[0]


def _counted(samples: Samples) -> Counted:
    """Return what the numbers of a tool count; a variant may have an entry of its own."""
    return TOOLS.get(samples.meta.tool) or TOOLS.get(_tool(samples)) or Counted()


def rate_layer(samples: Samples, row: Mapping[str, Any], name: str) -> rate_layers.RateLayer:
    """Return the layer of a rate of samples: which bytes the tool says that it counts.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file, or an experiment measured.
    row : mapping
        The row of facts that it is in: its protocol is that of the row, where the row has one.
        Empty for a column, which has the protocol of all rows, where they have the same.
    name : str
        Name of the fact or of the column.

    Returns
    -------
    str
        One of :data:`netcalc.rate_layers.LAYERS`; ``unknown`` where neither the file nor the
        documentation of the tool says it.

    Examples
    --------
    >>> from netcalc.samples import FlowSeries, Meta
    >>> run = FlowSeries(start_s=[0.0], duration_s=[1.0], meta=Meta(tool="iperf3"))
    >>> rate_layer(run, {"protocol": "udp"}, "sent_rate_bps")
    'UDP payload'
    """
    said = samples.meta.layers.get(name, "")
    stated = next((layer for layer in rate_layers.LAYERS if layer == said), None)
    if stated is not None:
        return stated
    if _tool(samples) == "netcalc congestion" and name in _OF_LINKS:
        return _OF_LINKS[name]
    rates = _counted(samples).rates
    if rates is None:
        return octets_layer(name)
    if rates != TRANSPORT:
        return rates
    protocol = str(row.get("protocol") or samples.meta.protocol).lower()
    if protocol in _RATES_BY_PROTOCOL:
        return _RATES_BY_PROTOCOL[protocol]
    return rate_layers.UNKNOWN if row else _layer_of_rows(samples)


def octets_layer(name: str) -> rate_layers.RateLayer:
    """Return the layer of a column by its name: that of a counter of SNMP, or unknown.

    Examples
    --------
    >>> octets_layer("ifHCInOctets"), octets_layer("in")
    ('Ethernet frame', 'unknown')
    """
    return OCTETS if name.lower().startswith(_OCTETS) else rate_layers.UNKNOWN


def layers_of_row(samples: Samples, row: Mapping[str, Any]) -> dict[str, rate_layers.RateLayer]:
    """Return the layer of each rate of a row of facts.

    Examples
    --------
    >>> from netcalc.samples import Meta, TransferSamples
    >>> run = TransferSamples(payload_bytes=[1.0], duration_s=[1.0], meta=Meta(tool="dd"))
    >>> layers_of_row(run, {"sent_rate_bps": 8.0, "stream_count": 1})
    {'sent_rate_bps': 'file'}
    """
    return {name: rate_layer(samples, row, name) for name in row if unit_of_fact(name) == "bit/s"}


def layers_of_columns(samples: Samples) -> dict[str, rate_layers.RateLayer]:
    """Return the layer of each column of samples that is a rate.

    Examples
    --------
    >>> from netcalc.samples import FlowSeries, Meta
    >>> meta = Meta(tool="iperf3", protocol="tcp")
    >>> layers_of_columns(FlowSeries(start_s=[0.0], duration_s=[1.0], meta=meta))
    {'throughput_bps': 'TCP payload'}
    """
    units = samples.meta.units
    names = [name for name in samples.columns() if units.get(name) == "bit/s"]
    return {name: rate_layer(samples, {}, name) for name in names}


def _layer_of_rows(samples: Samples) -> rate_layers.RateLayer:
    """Return the layer of the rows of facts, where all of them with a protocol have the same."""
    protocols = [str(row.get("protocol", "")).lower() for row in samples.facts()]
    layers = {_RATES_BY_PROTOCOL[each] for each in protocols if each in _RATES_BY_PROTOCOL}
    return layers.pop() if len(layers) == 1 else rate_layers.UNKNOWN
