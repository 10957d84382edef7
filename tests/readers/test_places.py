"""Protocol, layer, side and way of each number, for every fixture with probes.

derived: each label is what the command beside the file in its MANIFEST.csv sends (``hping3 -S`` SYN
segments, ``-1`` ICMP), by the manual of the tool: irtt(1), owping(1), arping(8), httping(1),
nping(1), tracepath(8) send what is named here, and owping alone times one way.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.lessons.own_file import fact_rows, kind_of
from netcalc.readers import places, read
from netcalc.samples import Meta, PathSamples, RttSamples, Table, TransactionSamples

INPUTS = Path(__file__).parent / "inputs"
ICMP = ("icmp", "ICMP packets", "sender", "round trip")
UDP = ("udp", "UDP datagrams", "sender", "round trip")
SYN = ("tcp", "TCP segments", "sender", "round trip")
HANDSHAKE = ("tcp", "TCP handshakes", "sender", "round trip")
HTTP = ("tcp", "HTTP requests", "client", "round trip")
MAC = ("mac", "frames", "sender", "round trip")
ARP = ("arp", "ARP packets", "sender", "round trip")
NODES = ("", "probes, answered by ICMP", "sender", "round trip")
UDP_NODES = ("udp", "UDP datagrams, answered by ICMP", "sender", "round trip")

LABELS = {
    "busybox_*": ICMP, "iputils_*": ICMP, "inetutils_*": ICMP, "exported/ping.*": ICMP,
    "netcalc_echo_old.json": ("udp", "application messages", "client", "round trip"),
    "columns/semicolons.csv": ("", "probes", "sender", "round trip"),
    "pings/fping_*": ICMP, "pings/oping*": ICMP, "pings/hrping*": ICMP, "pings/huawei*": ICMP,
    "pings/cisco_*": ICMP, "pings/junos_*": ICMP, "pings/mikrotik_mac.txt": MAC,
    "pings/mikrotik.txt": ICMP, "pings/mikrotik_7.txt": ICMP, "pings/mikrotik_multicast.txt": ICMP,
    "pings/atlas_ping_0.json": ("", "probes", "sender", "round trip"),
    "pings/nokia*": ICMP, "pings/test_connection_*": ICMP, "pings/atlas_ping.json": ICMP,
    "pings/hping_icmp.txt": ICMP, "pings/hping_syn.txt": SYN, "pings/hping_lost.txt": SYN,
    "pings/nping_icmp.txt": ICMP, "pings/nping_lost.txt": ICMP, "pings/nping_tcp.txt": SYN,
    "pings/nping_connect.txt": SYN,
    "pings/jc_ping.json": ICMP, "pings/pingparsing.json": ICMP, "paths/jc_traceroute.json": NODES,
    "pings/arping*": ARP, "pings/httping*": HTTP, "pings/irtt*": UDP, "pings/twping.txt": UDP,
    "pings/tcping*": HANDSHAKE, "pings/psping.txt": HANDSHAKE, "pings/paping.txt": HANDSHAKE,
    "pings/psping_icmp.txt": ICMP, "pings/vpp.txt": ICMP, "pings/blackbox_icmp.txt": ICMP,
    "pings/dnsping.txt": ("udp", "DNS queries", "sender", "round trip"),
    "pings/l2ping.txt": ("", "Bluetooth L2CAP echoes", "sender", "round trip"),
    "pings/ibping.txt": ("", "InfiniBand MADs", "sender", "round trip"),
    "pings/tailscale_ping.txt": ("udp", "Tailscale disco messages", "sender", "round trip"),
    "pings/owping*": ("udp", "UDP datagrams", "receiver", "one way"),
    "pings/sockperf_full*": ("udp", "application messages", "client", "round trip"),
    "pings/sockperf_log*": ("", "application messages", "client", "round trip"),
    "mtr_raw.out": NODES, "paths/mtr*": NODES, "paths/traceroute*": NODES,
    "paths/huawei_tracert.txt": NODES, "paths/mikrotik*": NODES, "paths/trippy*": NODES,
    "paths/nexttrace*": NODES,
    "paths/scamper.json": ("icmp", "probes, answered by ICMP", "sender", "round trip"),
    "paths/scamper_unreachable.json": ("udp", "probes, answered by ICMP", "sender", "round trip"),
    "paths/winmtr*": ICMP, "pings/scamper_ping.json": ICMP,
    "paths/tracert*": ICMP, "paths/pathping.txt": ICMP,
    "paths/tracepath*": UDP_NODES, "paths/dublin_traceroute.*": UDP_NODES,
    "paths/atlas_traceroute.json": UDP_NODES,
    "transfers/flent_1.flent.gz": ICMP,
    "transfers/flent_4.json": ICMP, "transfers/flent_2_http.json": HTTP,
    "transfers/flowmon.xml": ("udp", "IP packets", "receiver", "one way"),
    "transfers/ndt7*": ("tcp", "TCP segments", "server", "round trip"),
    "transfers/netesto*": ("tcp", "TCP segments", "sender", "round trip"),
    "transfers/pscheduler_latency*": ("udp", "UDP datagrams", "receiver", "one way"),
    "transfers/pscheduler_rtt*": ("icmp", "ICMP packets", "sender", "round trip"),
    "transfers/pscheduler_trace*": ("", "probes, answered by ICMP", "sender", "round trip"),
    "transfers/netperf_rr*": ("tcp", "application requests", "client", "round trip"),
    "transfers/qperf_sizes.txt": ("tcp", "application requests", "client", "round trip"),
    "transfers/qperf_loop.txt": ("tcp", "application requests", "client", "round trip"),
    "transfers/qperf_verbose.txt": ("tcp", "application requests", "client", "round trip"),
    "transfers/qperf.txt": ("tcp", "application requests", "client", "round trip"),
    "transfers/small_writes.txt": ("", "application requests", "client", "round trip"),
    "transfers/speedtest*": ("", "application requests", "client", "round trip"),
    "counters/ss_*": ("tcp", "TCP segments", "this host", "round trip"),
    "counters/tcp_info*": ("tcp", "TCP segments", "this host", "round trip"),
}  # fmt: skip
TIMES = ("rtt_", "one_way", "transaction", "response_s")


def named() -> list[str]:
    files = sorted(path for path in INPUTS.rglob("*") if path.is_file())
    return [str(one.relative_to(INPUTS)) for one in files if one.name != "README.md"]


def with_probes(samples) -> bool:
    """Whether a file has times of probes: single ones, those of its facts, or of its columns."""
    if isinstance(samples, RttSamples | PathSamples | TransactionSamples):
        return True
    facts = {name for row in samples.facts() for name in row}
    columns = samples.columns() if isinstance(samples, Table) else {}
    columns = {name for name, one in columns.items() if one.dtype.kind == "f" and any(one == one)}
    return any(name.startswith(TIMES) for name in facts | columns)


def read_or_none(name: str):
    try:
        return read(INPUTS / name)
    except ReaderError:
        return None  # its refusal has a test of its own


@pytest.mark.parametrize("name", named())
def test_every_file_with_probes_has_its_own_label(name):
    samples = read_or_none(name)
    patterns = [one for one in LABELS if fnmatch(name, one)]
    if samples is None or not with_probes(samples):
        return
    if name.startswith(("captures/", "transfers/iperf", "transfers/nuttcp")):
        assert not patterns
        return
    assert len(patterns) == 1, name
    timed = [row for row in samples.facts() if any(one.startswith(TIMES) for one in row)]
    row = (timed or samples.facts())[0]
    found = places.probes(samples, str(row.get("protocol", "")))
    assert (found.protocol, found.layer, found.side, found.way) == LABELS[patterns[0]]
    # by hand: a run by UDP, and one by ICMP; an old flent, whose facts have no times of the pings
    several = name in ("paths/atlas_traceroute.json", "transfers/flent_1.flent.gz")
    assert ("probes" if several else found.layer) in kind_of(samples)


def label(name: str, fact: str, row: int = 0) -> tuple[str, ...]:
    samples = read(INPUTS / name)
    found = places.place(samples, samples.facts()[row], fact)
    return found.protocol, found.layer, found.side, found.way


@pytest.mark.parametrize(
    ("name", "fact", "expected", "source"),
    [
        ("transfers/flowmon.xml", "sent_byte_count", ("udp", "IP packets", "sender", ""),
         "derived: ns-3 counts packets with their IP headers"),
        ("transfers/flowmon.xml", "received_rate_bps", ("udp", "IP packets", "receiver", ""),
         "derived: as above"),
        ("transfers/flowmon.xml", "packet_count", ("udp", "IP packets", "sender", ""),
         "derived: txPackets"),
        ("transfers/flowmon.xml", "jitter_s", ("udp", "IP packets", "receiver", "one way"),
         "derived: jitterSum is of one-way delays"),
        ("transfers/iperf3_udp.json", "jitter_s", ("udp", "UDP datagrams", "receiver", "one way"),
         "published: RFC 3550, 6.4.1: of the transit time of datagrams, at their receiver"),
        ("transfers/nuttcp_tcp.txt", "rtt_s", ("tcp", "TCP handshakes", "client", "round trip"),
         "published: nuttcp(8): the RTT of the connection of the client"),
        ("transfers/iperf2_parallel_enhanced.txt", "rtt_s",
         ("tcp", "TCP handshakes", "client", "round trip"),
         "published: iperf(1): irtt is the initial RTT, as the socket has it after connect"),
        ("transfers/iperf3_tcp.json", "sent_byte_count",
         ("tcp", "application data", "sender", ""), "published: iperf3 #714: payload alone"),
        ("transfers/dd.txt", "sent_rate_bps", ("", "data that dd copied, of any device",
         "this host", ""), "derived: dd(1) copies files, not packets"),
        ("pings/owping.txt", "sent_count", ("udp", "UDP datagrams", "sender", ""),
         "derived: owping(1)"),
        ("pings/owping.txt", "received_count", ("udp", "UDP datagrams", "receiver", ""),
         "derived: owping(1)"),
        ("pings/irtt.json", "received_count", ("udp", "UDP datagrams", "sender", ""),
         "derived: replies come back to the client"),
        ("transfers/ndt7_client.jsonl", "cwnd_packets", ("tcp", "TCP segments", "server", ""),
         "derived: TCPInfo of ndt7 is the server's"),
        ("counters/tcp_info.jsonl", "path_mtu_bytes", ("", "IP packets", "this host", ""),
         "derived: tcpi_pmtu is of the socket's own host"),
        ("counters/ip_s.txt", "counter:rx_bytes", ("", "frames at the interface", "this host", ""),
         "derived: ip-link(8)"),
        ("captures/dumpcap_lo.pcapng", "handshake_rtt_min_s",
         ("tcp", "TCP handshakes", "where it was captured", "round trip"), "derived: its docs"),
        ("captures/dumpcap_lo.pcapng", "ipv4_packet_count",
         ("", "IPv4 packets", "where it was captured", ""), "derived: its docs"),
    ],
)  # fmt: skip
def test_a_fact_belongs_to_its_layer_and_side(name, fact, expected, source):
    assert label(name, fact) == expected, source


def test_the_lesson_shows_the_places_of_a_simulation():
    """By hand: ns-3 counts 105,200 bytes of IP in 100 packets of 1052 bytes."""
    rows = fact_rows(read(INPUTS / "transfers/flowmon.xml"))
    shown = {name: rest for name, *rest in rows}
    assert shown["flow 1: sent_byte_count"][1:] == ["IP packets (UDP)", "sender"]
    assert shown["flow 1: jitter_s"][1:] == ["IP packets (UDP), one way", "receiver"]


def test_a_tool_that_is_not_known_has_no_label_made_up():
    samples = Table(data={"a": [1.0]}, meta=Meta(tool="columns"))
    assert places.place(samples, {}, "row_count") == places.MeasuringPoint()
    assert places.probes(samples) == places.MeasuringPoint()
