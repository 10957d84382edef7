"""The layer of each rate of a measurement: which bytes the tool says that it counts.

What a tool counts is in its documentation, named beside it here; where neither the file nor the
documentation says it, the layer is unknown. The table of tools is the only place that knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.rate_layers import (
    FILE,
    FRAME,
    FRAME_WITHOUT_FCS,
    HTTP_BODY,
    IP,
    LAYERS,
    LINE,
    PAYLOAD,
    TCP_PAYLOAD,
    UDP_PAYLOAD,
    UNKNOWN,
    RateLayer,
)
from netcalc.samples import PacketTrace, Samples, unit_of_fact

_BY_PROTOCOL: Mapping[str, RateLayer] = {"tcp": TCP_PAYLOAD, "udp": UDP_PAYLOAD}
_TRANSPORT = "transport"
"""Of a tool that counts the payload of TCP or of UDP, as its run used one or the other."""

TOOLS: Mapping[str, RateLayer | str] = {
    # iperf3, iperf 2: the bytes that write and read return (iperf3's FAQ: without headers)
    "iperf3": _TRANSPORT, "iperf 2": _TRANSPORT,
    # netperf's manual, 4.1: bytes of the sends and receives, "good" data; flent and Netesto run it
    "netperf": _TRANSPORT, "flent": _TRANSPORT, "Netesto": TCP_PAYLOAD,
    # nuttcp(8), qperf(1), the README of NTttcp: bytes of the application's buffers
    "nuttcp": _TRANSPORT, "qperf": _TRANSPORT, "ntttcp": _TRANSPORT,
    # ndt7's specification: AppInfo without the overhead of WebSocket and TLS, TCPInfo with it
    "ndt7": PAYLOAD,
    # curl(1), size_download and speed_download: the body, without headers; wget(1): the file
    "curl": HTTP_BODY, "wget": HTTP_BODY,
    # speedtest-cli sums what it reads of each response, and posts; Ookla and LibreSpeed, which has
    # a factor for overhead that a site can set, do not say what is in their results
    "speedtest-cli": HTTP_BODY, "Ookla": UNKNOWN, "speedtest": UNKNOWN, "LibreSpeed": UNKNOWN,
    # dd(1), scp(1): bytes of the files
    "dd": FILE, "scp": FILE,
    # ns-3's FlowMonitor, txBytes: packets with their IP headers
    "ns-3 FlowMonitor": IP,
    # Linux, struct rtnl_link_stats64, rx_bytes: the length of frames, without the FCS; sar(1) reads
    # it, and tc counts the same packets in the queue. What ethtool -S counts is up to the driver
    "ip -s link": FRAME_WITHOUT_FCS, "/proc/net": FRAME_WITHOUT_FCS, "sar": FRAME_WITHOUT_FCS,
    "sadf": FRAME_WITHOUT_FCS, "tc -s qdisc": FRAME_WITHOUT_FCS, "ethtool -S": UNKNOWN,
    # Linux, tcp_rate_skb_delivered and ss(8): segments of the MSS over time
    "ss": TCP_PAYLOAD, "tcp-info": TCP_PAYLOAD,
    # Experiments of netcalc: what the application hands to the socket; links count IP packets
    "netcalc bulk": _TRANSPORT, "netcalc line-rate": UDP_PAYLOAD, "netcalc lockstep": TCP_PAYLOAD,
    "netcalc packet trains": IP, "netcalc congestion": TCP_PAYLOAD,
    # Captures: flows by their sequence numbers, or the lengths of their datagrams
    "pcap": _TRANSPORT,
}  # fmt: skip
"""Tool -> the layer of its rates."""

OCTETS: RateLayer = FRAME
"""What ``ifInOctets`` and ``ifHCInOctets`` of SNMP count on Ethernet: frames with MAC header and
FCS (RFC 3635, 3.2.6; RFC 2863 has "framing characters")."""
_OCTETS = ("ifinoctets", "ifoutoctets", "ifhcinoctets", "ifhcoutoctets")

_OF_LINKS: Mapping[str, RateLayer] = {"rate_bps": IP, "bandwidth_bps": LINE}
"""Rates of links in the tables of netcalc: a scenario's counts packets, a link's is its name's."""


def rate_layer(samples: Samples, row: Mapping[str, Any], name: str) -> RateLayer:
    """Return the layer of a rate of samples.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file, or an experiment measured.
    row : mapping
        The row of facts that it is in: its protocol is that of the row, where the row has one.
    name : str
        Name of the fact or of the column.

    Returns
    -------
    str
        One of :data:`netcalc.rate_layers.LAYERS`; ``unknown`` where nobody says it.

    Examples
    --------
    >>> from netcalc.samples import FlowSeries, Meta
    >>> run = FlowSeries(start_s=[0.0], duration_s=[1.0], meta=Meta(tool="iperf3"))
    >>> rate_layer(run, {"protocol": "udp"}, "sent_rate_bps")
    'UDP payload'
    """
    said = samples.meta.layers.get(name, "")
    known = next((layer for layer in LAYERS if layer == said), None)
    if known is not None:
        return known
    tool = "pcap" if isinstance(samples, PacketTrace) else _tool(samples)
    found = TOOLS.get(tool)
    if tool == "netcalc congestion" and name in _OF_LINKS:
        return _OF_LINKS[name]
    if found is None:
        return octets_layer(name)
    if found != _TRANSPORT:
        return next(layer for layer in LAYERS if layer == found)
    protocol = str(row.get("protocol") or samples.meta.protocol).lower()
    return _BY_PROTOCOL.get(protocol, _protocol_of_rows(samples))


def octets_layer(name: str) -> RateLayer:
    """Return the layer of a column by its name: that of a counter of SNMP, or unknown.

    Examples
    --------
    >>> octets_layer("ifHCInOctets"), octets_layer("in")
    ('Ethernet frame', 'unknown')
    """
    return OCTETS if name.lower().startswith(_OCTETS) else UNKNOWN


def layers_of_row(samples: Samples, row: Mapping[str, Any]) -> dict[str, RateLayer]:
    """Return the layer of each rate of a row of facts.

    Examples
    --------
    >>> from netcalc.samples import Meta, TransferSamples
    >>> run = TransferSamples(payload_bytes=[1.0], duration_s=[1.0], meta=Meta(tool="dd"))
    >>> layers_of_row(run, {"sent_rate_bps": 8.0, "stream_count": 1})
    {'sent_rate_bps': 'file'}
    """
    return {name: rate_layer(samples, row, name) for name in row if unit_of_fact(name) == "bit/s"}


def layers_of_columns(samples: Samples) -> dict[str, RateLayer]:
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


def _protocol_of_rows(samples: Samples) -> RateLayer:
    """Return the layer of the rows of facts, where all of them with a protocol have the same."""
    found = {_BY_PROTOCOL.get(str(row.get("protocol", "")).lower()) for row in samples.facts()}
    known = found - {None}
    return known.pop() or UNKNOWN if len(known) == 1 else UNKNOWN


def _tool(samples: Samples) -> str:
    """Return the tool without its variant: ``ping (BusyBox)`` is ping."""
    return samples.meta.tool.partition(" (")[0].partition(", ")[0]
