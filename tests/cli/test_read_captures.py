"""``netcalc read`` and ``netcalc export`` of captures: what each flow did, and each exchange.

The expected numbers of the puzzles are those of tshark 4.2 (fields ``tcp.len``,
``tcp.analysis.ack_rtt``, ``tcp.analysis.initial_rtt``, ``tcp.analysis.bytes_in_flight``,
``udp.length`` without reassembly, ``icmp.resptime``).
"""

from __future__ import annotations

import gzip
import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import writer as w
from click.testing import CliRunner

from netcalc import explain, plots, readers
from netcalc.cli import commands
from netcalc.explain.causes import captures
from netcalc.samples import PathSamples

TESTS = Path(__file__).parents[1]
PUZZLES = TESTS.parent / "data" / "puzzles"
WINDOW, FRAGMENTS = (str(PUZZLES / f"{name}.pcap.gz") for name in ("window", "fragments"))
LOOPBACK = str(TESTS / "readers" / "inputs" / "captures" / "dumpcap_lo.pcapng")
PING = str(TESTS / "readers" / "inputs" / "iputils_plain.txt")


def run(*arguments):
    return CliRunner().invoke(commands, list(arguments))


def document(*arguments):
    return json.loads(run("read", *arguments, "--json").stdout)


def test_each_flow_of_a_capture():
    """By tshark; 1448 B of every 1538 B of 100 Mbit/s are 94.15 Mbit/s."""
    found = document(WINDOW, "--line", "100Mbit/s")
    largest = found["flows"][0]
    assert largest["label"] == "198.19.175.1 port 56018 to 198.19.175.254 port 5201"
    assert largest["payload_bytes"] == 1981525
    assert largest["data_segment_count"] == 1403
    assert largest["retransmission_count"] == 0
    assert largest["duration_s"] == pytest.approx(2.238102 - 0.121247)
    assert largest["goodput_bps"] == pytest.approx(8 * 1981525 / (2.238102 - 0.121247))
    assert largest["handshake_rtt_s"] == pytest.approx(0.040213)
    assert largest["rtt_count"] == 698
    assert largest["rtt_min_s"] == pytest.approx(0.040140)
    assert largest["rtt_median_s"] == pytest.approx(0.040295)
    assert largest["rtt_max_s"] == pytest.approx(0.041233)
    assert largest["in_flight_bytes"] == 39552
    assert largest["offered_window_bytes"] == 39552
    ceiling = 100e6 * 1448 / 1538
    metrics = largest["metrics"]
    assert metrics["line_ceiling_bps"] == pytest.approx(ceiling)
    assert metrics["line_share_ratio"] == pytest.approx(largest["goodput_bps"] / ceiling)
    assert metrics["transfer_time_factor"] == pytest.approx(2.116855 * ceiling / (8 * 1981525))
    assert metrics["efficiency_ratio"] == 1.0
    assert metrics["buffer_delay_factor"] == pytest.approx(0.040295 / 0.040213 - 1, rel=1e-3)
    assert [one["payload_bytes"] for one in found["flows"]] == [1981525, 482, 334]
    # the control connection is as fast as its program: no metric of a bulk transfer
    assert [one["label"] for one in found["metrics"]] == [largest["label"]]


def test_the_stated_round_trip_is_the_base():
    """Derived: 40.295 ms over 20 ms."""
    metrics = document(WINDOW, "--rtt", "20ms")["flows"][0]["metrics"]
    assert metrics["buffer_delay_factor"] == pytest.approx(40.295 / 20 - 1, rel=1e-3)
    assert "line_ceiling_bps" not in metrics


def test_flows_in_text():
    said = run("read", WINDOW, "--line", "100Mbit/s", "--all").output
    assert "198.19.175.1 port 56018 to 198.19.175.254 port 5201 (TCP)" in said
    assert "7.489 Mbit/s (TCP payload): 1.982 MB of data in 1,403 segments, 0 sent again" in said
    assert "handshake 40.21 ms, min 40.14 ms, median 40.29 ms, max 41.23 ms" in said
    assert "window offered by the receiver 39.55 kB, in flight at most 39.55 kB" in said
    assert "share of the line's ceiling 8.0%" in said
    assert "ceiling of the line 94.15 Mbit/s" in said
    assert "share of" not in run("read", WINDOW, "--all").output


def test_bytes_sent_again_are_counted():
    """Derived: of 3000 B and 1000 B again, 75 % are new; a window of 10 segments is passed."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, 0.010, 0.010)
    for number in range(30):
        one.send(t + 0.02 * number, False, 1 + number * 1000, 1, payload=1000)
        one.send(t + 0.02 * number + 0.01, True, 1, 1 + (number + 1) * 1000)
    for number in range(10):
        one.send(t + 1.0 + 0.02 * number, False, 1 + number * 1000, 1, payload=1000)
    result = CliRunner().invoke(commands, ["read", "-", "--json"], input=capture.pcap())
    flow = json.loads(result.stdout)["flows"][0]
    assert (flow["payload_bytes"], flow["retransmitted_bytes"]) == (30_000, 10_000)
    assert flow["metrics"]["efficiency_ratio"] == pytest.approx(0.75)


def test_datagrams_count_with_their_fragments():
    """By tshark: 439 datagrams of 1400 B in two fragments each, and one of 4 B before them."""
    flow = document(FRAGMENTS)["flows"][0]
    assert flow["protocol"] == "udp"
    assert flow["datagram_count"] == 440
    assert flow["payload_bytes"] == 439 * 1400 + 4
    # the last datagram begins at the end of the time seen
    assert flow["goodput_bps"] == pytest.approx(8 * (438 * 1400 + 4) / 0.558806)
    said = run("read", FRAGMENTS, "--line", "100Mbit/s", "--all").output
    assert "614.6 kB of data in 440 datagrams" in said


def test_exchanges_of_a_capture():
    """By tshark: replies after 13.360, 13.961, 13.550 us, and over IPv6 after 8.953, 12.739 us."""
    found = document(LOOPBACK)["exchanges"]
    first, second, third = found
    assert first["label"] == "ICMP echo, 127.0.0.1 to 127.0.0.1"
    assert (first["sent_count"], first["received_count"]) == (3, 3)
    times = [first[f"rtt_{name}_s"] for name in ("min", "median", "max")]
    assert times == pytest.approx([13.360e-6, 13.550e-6, 13.961e-6])
    assert second["label"] == "ICMP echo, 2001:db8::1 to 2001:db8::1"
    assert second["rtt_max_s"] == pytest.approx(12.739e-6)
    assert third["label"] == "UDP exchange, 127.0.0.1 to 127.0.0.1 port 18081"
    said = run("read", LOOPBACK, "--all").output
    assert "3 requests, 3 answered; round trip min 13.36 µs, median 13.55 µs" in said


def pings(lost=()):
    """Echoes a second apart, answered after 20, 21, ... ms."""
    capture = w.Capture()
    for number in range(6):
        begin = w.START_NS + number * 10**9
        ends = ("192.0.2.1", "192.0.2.9")
        ask, reply = w.icmp(8, 7, number + 1), w.icmp(0, 7, number + 1)
        capture.add(begin, w.ethernet(w.ipv4(ask, 1, *ends, id=100 + number), 0x0800))
        if number not in lost:
            packet = w.ethernet(w.ipv4(reply, 1, *ends[::-1], id=900 + number), 0x0800)
            capture.add(begin + (20 + number) * 10**6, packet)
    return capture


def explained(capture, *options):
    result = CliRunner().invoke(
        commands, ["explain", "-", "--json", *options], input=capture.pcap()
    )
    return json.loads(result.stdout)["findings"]


def test_echoes_of_a_capture_are_explained_as_a_ping():
    """Derived: the median of 20 to 25 ms is 22.5 ms, 2.5 ms above the least."""
    (found,) = explained(pings())
    assert found["label"] == "ICMP echo, 192.0.2.1 to 192.0.2.9"
    assert found["measured"] == pytest.approx(0.0225)
    parts = {one["name"]: one["value"] for one in found["limits"]}
    assert parts == pytest.approx({"distance": 0.020, "queue-above-least": 0.0025})
    (stated,) = explained(pings(), "--rtt", "10ms")
    assert {one["name"]: one["value"] for one in stated["limits"]} == pytest.approx(
        {"queue": 0.0125, "distance": 0.010}
    )


def test_lost_echoes_of_a_capture():
    (found,) = explained(pings(lost=(2, 3)))
    (note,) = [one for one in found["notices"] if one["code"] == "probes-lost"]
    assert note["values"]["loss_ratio"] == pytest.approx(1 / 3)


def exchange(*, overlapping=False):
    """Five requests of 40 B; each answered after 30 ms, or two under way at a time."""
    capture = w.Capture()
    ends, ports, rows = ("192.0.2.1", "192.0.2.9"), (5000, 53), []
    for number in range(5):
        begin = w.START_NS + number * (20 if overlapping else 100) * 10**6
        ask = w.ipv4(w.udp(ports, b"q" * 40), 17, *ends, id=1 + number)
        reply = w.ipv4(w.udp(ports[::-1], b"a" * 90), 17, *ends[::-1], id=50 + number)
        rows += [(begin, ask), (begin + 30 * 10**6, reply)]
    for time_ns, packet in sorted(rows):
        capture.add(time_ns, w.ethernet(packet, 0x0800))
    return capture


def test_udp_exchanges_are_explained_as_a_ping_and_not_as_a_rate():
    (found,) = explained(exchange())
    assert found["label"] == "UDP exchange, 192.0.2.1 to 192.0.2.9 port 53"
    assert (found["unit"], found["measured"]) == ("s", pytest.approx(0.030))


def test_overlapping_datagrams_are_no_exchanges():
    """With two under way, the next reply answers the request before the last one."""
    findings = explained(exchange(overlapping=True))
    assert [one["label"] for one in findings] == ["UDP"]


@pytest.mark.each("form", ["csv", "json"])
def test_the_flows_are_exported(form, tmp_path):
    out = tmp_path / f"flows.{form}"
    assert run("export", LOOPBACK, "--flows", "--to", form, "-o", str(out)).exit_code == 0
    table = readers.read(out)
    assert table["protocol"].tolist() == ["tcp", "tcp", "udp", "udp"]
    assert table["payload_bytes"].tolist() == [20, 5000, 30, 30]  # by tshark
    assert table["source_port"].tolist() == [39414, 18080, 37581, 18081]
    assert table.meta.units["goodput_bps"] == "bit/s"


def test_only_a_capture_has_flows():
    said = run("export", PING, "--flows", "--to", "csv")
    assert said.exit_code != 0
    assert "is not a capture" in str(said.exception)


def seen_twice(capture, late_ns=5_000):
    """The capture as a mirror port of both directions gives it: each packet again 5 us later."""
    both = w.Capture()
    for time_ns, packet, original in sorted(
        [*capture.packets, *((t + late_ns, p, o) for t, p, o in capture.packets)]
    ):
        both.add(time_ns, packet, original)
    return both


def of_puzzle(path):
    """The packets of a puzzle as they are in its file (little-endian pcap, microseconds)."""
    data, at, found = gzip.decompress(Path(path).read_bytes()), 24, w.Capture()
    while at < len(data):
        seconds, rest, kept, original = struct.unpack_from("<IIII", data, at)
        found.add(seconds * 10**9 + rest * 1000, data[at + 16 : at + 16 + kept], original)
        at += 16 + kept
    return found


def read_twice(path):
    data = seen_twice(of_puzzle(path)).pcap(link=101, nano=True)
    return readers.read(io.BytesIO(data)), readers.read(Path(path))


@pytest.mark.each(
    ("name", "packets", "again"), [("window", 2159, 0), ("acknowledgements", 2213, 1)]
)
def test_a_mirror_port_loses_nothing(name, packets, again):
    """The retransmissions that tshark marks in the capture before it was doubled."""
    twice, once = read_twice(PUZZLES / f"{name}.pcap.gz")
    (note,) = [one for one in twice.meta.warnings if one.code == "packets-mirrored"]
    assert note.values["count"] == packets
    assert "packets are copies of another within 1 ms, as at a mirror port" in str(note)
    fact = twice.facts()[0]
    assert fact["packet_count"] == 2 * packets
    assert fact["tcp_retransmission_count"] == again
    assert [one.code for one in once.meta.warnings if one.code == "packets-mirrored"] == []
    for first, second in zip(explain.measurement(twice), explain.measurement(once), strict=True):
        assert first.measured == pytest.approx(second.measured)
        assert first.sentence == second.sentence


def test_datagrams_and_fragments_of_a_mirror_port_count_once():
    """By tshark: 439 datagrams of 1400 B and one of 4 B."""
    twice, _ = read_twice(FRAGMENTS)
    flow = captures.flows(twice)[0]
    assert (flow["datagram_count"], flow["payload_bytes"]) == (440, 439 * 1400 + 4)


def test_echoes_of_a_mirror_port_are_not_lost():
    (found,) = explained(seen_twice(pings()))
    assert found["measured"] == pytest.approx(0.0225)
    assert [one for one in found["notices"] if one["code"] == "probes-lost"] == []


def over_ipv6(*, repeats):
    """Ten segments; of each acknowledgement one or several at once: IPv6 identifies no packet."""
    capture, ends = w.Capture(), ("2001:db8::1", "2001:db8::2")

    def add(time_ns, sender, sequence, acked, payload=b""):
        ports = (5000, 80) if sender == 0 else (80, 5000)
        segment = w.tcp(ports, sequence, acked, w.ACK, 900, payload=payload)
        packet = w.ipv6(segment, 6, *(ends if sender == 0 else ends[::-1]))
        capture.add(w.START_NS + time_ns, w.ethernet(packet, 0x86DD))

    for number in range(10):
        add(number * 10**7, 0, 1000 + 500 * number, 1, b"d" * 500)
        for copy in range(repeats):
            add(number * 10**7 + 5_000_000 + 100_000 * copy, 1, 1, 1500 + 500 * number)
    return capture


def copies_in(capture):
    return [
        one.values["count"]
        for one in readers.read(io.BytesIO(capture.pcap(nano=True))).meta.warnings
        if one.code == "packets-mirrored"
    ]


def test_copies_over_ipv6():
    assert copies_in(seen_twice(over_ipv6(repeats=1))) == [20]
    assert copies_in(over_ipv6(repeats=1)) == []
    # three acknowledgements alike are duplicate ACKs, which a host does send
    assert copies_in(over_ipv6(repeats=3)) == []


def test_a_segment_sent_again_is_no_copy():
    """The identification counts on; and a copy that comes 2 ms late is none."""
    capture = w.Capture()
    ends, ports = ("192.0.2.1", "192.0.2.9"), (5000, 80)
    for number in range(6):
        segment = w.tcp(ports, 1 + 100 * (number // 2), 1, w.ACK, 900, payload=b"d" * 100)
        packet = w.ethernet(w.ipv4(segment, 6, *ends, id=7 + number), 0x0800)
        capture.add(w.START_NS + number * 100_000, packet)
    assert copies_in(capture) == []
    assert copies_in(seen_twice(capture)) == [6]
    assert copies_in(seen_twice(capture, late_ns=2_000_000)) == []


@pytest.mark.each(
    "name",
    ["captures/dumpcap_lo.pcapng", "transfers/iperf3_tcp.json", "paths/mtr.json",
     "paths/mtr_raw.txt", "paths/mtr_report.txt"],
)  # fmt: skip
def test_captures_transfers_and_paths_are_drawn(name, tmp_path):
    out = tmp_path / f"{Path(name).name}.html"
    done = run("read", str(TESTS / "readers" / "inputs" / name), "--plot", str(out))
    assert done.exit_code == 0, done.output
    assert "<html" in out.read_text("utf-8")


def test_the_bytes_of_a_flow_against_time():
    """Derived from the course of the packets: 2 of 3 segments go at once, the second one twice."""
    capture = w.Capture()
    one = w.Conversation(capture)
    t = one.open(0.0, 0.0, 0.020)
    for at, number, acked, window in (
        (0.0, 0, 0, 0), (0.001, 1, 0, 0), (0.02, 0, 1001, 900), (0.3, 1, 0, 0),
        (0.32, 0, 2001, 800), (0.4, 2, 0, 0),
    ):  # fmt: skip
        if acked:
            one.send(t + at, True, 1, acked, window=window)
        else:
            one.send(t + at, False, 1 + 1000 * number, 1, payload=1000)
    drawn = plots.sequences(readers.read(io.BytesIO(capture.pcap(nano=True))))
    series = {
        name: (np.asarray(source.data["x"]).tolist(), np.asarray(source.data["y"]).tolist())
        for name, source in drawn.sources.items()
    }
    times = [0, 0, 0.02, 0.02, 0.021, 0.04, 0.32, 0.34, 0.42]
    assert series["sent"][0][::2] == pytest.approx(times)
    assert series["sent"][1][::2] == [0, 0, 0, 1001, 2001, 2001, 2001, 2001, 3001]
    assert series["acknowledged"][1][::2] == [0, 0, 1, 1, 1, 1001, 1001, 2001, 2001]
    # the windows of the client are shifted by 7
    edges = [128001, 128001, 128001, 116201, 116201, 104401, 104401]
    assert series["window offered"][1][4::2] == edges
    assert series["sent again"] == (pytest.approx([0.32]), [2001])
    assert "3 segments" not in drawn.description
    assert "4 segments with data up to byte 3001, 1 of them sent again" in drawn.description


def test_round_trips_to_each_hop():
    """By hand: hop 2 answers slowly; what lies behind it took 4 ms at least."""
    path = PathSamples(hop=[1, 1, 2, 3], rtt_s=[0.002, 0.001, 0.009, 0.004])
    sources = plots.measured(path, explain.Known()).sources
    assert np.asarray(sources["round trips"].data["y"]).tolist() == [0.002, 0.001, 0.009, 0.004]
    least = np.asarray(sources["the path up to the hop"].data["y"]).tolist()
    assert least == [0.001, 0.004, 0.004]


@pytest.mark.each("options", [[], ["--json"]])
def test_an_anonymized_report_does_not_name_the_file(options, tmp_path):
    path = tmp_path / "secret_host.txt"
    path.write_bytes(Path(PING).read_bytes())
    said = run("read", str(path), "--anonymize", *options).output
    assert "secret_host" not in said
    assert str(tmp_path) not in said
    assert "file 1" in said
