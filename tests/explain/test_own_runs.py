"""Saved runs of netcalc itself: what they varied, and the queue that overflowed, is explained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from netcalc import compare, datasets, readers
from netcalc.errors import ReaderError
from netcalc.explain import Known, measurement, table_theory
from netcalc.samples import (
    BulkSamples,
    Instrument,
    Meta,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
)

PATH = {"bandwidths_bps": [1e7], "latencies_s": [0.01], "processings_s": [0.0, 0.0]}
"""10 Mbit/s and 10 ms each way."""


def bulk(rates_bps, *, protocol="udp", path=PATH, sizes=1440.0, **columns):
    """Return a second of transfer at each rate."""
    count = len(rates_bps)
    size = [sizes] * count if isinstance(sizes, float) else sizes
    received = [rate / 8 for rate in rates_bps]
    lost = columns.get("lost_count", [0.0] * count)
    writes = [one / each + gone for one, each, gone in zip(received, size, lost, strict=True)]
    meta = Meta(
        tool="netcalc bulk", protocol=protocol, instrument=Instrument(truth=path),
        target="loopback" if path is None else "emulated path",
    )  # fmt: skip
    return BulkSamples(
        write_bytes=size, write_count=writes, received_bytes=received, wall_s=[1.0] * count,
        sent_bytes=[one * each for one, each in zip(writes, size, strict=True)],
        delivery_s=[1.0] * count, meta=meta, **columns,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("sender_drop_count", "host"), ("input_drop_count", "packet-rate"),
        ("line_drop_count", "line"), ("receiver_drop_count", "host"),
    ],
)  # fmt: skip
def test_the_queue_that_dropped_is_the_cause(place, code):
    samples = bulk([1e6], lost_count=[100.0], **{place: [100.0]})
    (found,) = measurement(samples, Known(line_bps=1e9))
    assert (found.cause.code, found.confidence) == (code, "high")


def test_loss_is_of_the_datagrams_sent_though_the_sink_took_longer():
    """By hand: 766 of 1000 are lost; the rates, over 1 s and 1.25 s, are 81.3% apart."""
    samples = BulkSamples(
        write_bytes=[1000.0], write_count=[1000.0], sent_bytes=[1e6], received_bytes=[234e3],
        wall_s=[1.0], delivery_s=[1.25], lost_count=[766.0], input_drop_count=[766.0],
        meta=Meta(tool="netcalc line-rate", protocol="udp", instrument=Instrument(truth=PATH)),
    )  # fmt: skip
    (found,) = measurement(samples)
    (said,) = (each for each in found.notices if each.code == "sender-not-receiver")
    assert said.values["share"] == pytest.approx(0.766)
    assert samples.by_setting()[0]["loss_ratio"] == pytest.approx(0.766), "as read says it"


def test_a_transfer_over_loopback_is_limited_by_the_host():
    (found,) = measurement(bulk([3e9], protocol="tcp", path=None))
    assert found.cause.code == "host"


def test_buffers_that_a_run_varied_are_windows():
    """By hand: 8 KiB a round trip of 20 ms are 3.2768 Mbit/s, and the line carries 9.41."""
    rates = [3.2768e6, 6.5536e6, 9.41e6, 9.41e6]
    samples = bulk(rates, protocol="tcp", asked_buffer_bytes=[8192.0, 16384.0, 32768.0, 65536.0])
    whole, *rows = measurement(samples)
    assert whole.cause.sign("fitted_rtt_s") == pytest.approx(0.02, rel=1e-3)
    assert whole.confidence == "low", "two rows alone follow the law"
    assert [row.binding.name for row in rows] == ["fitted-window"] * 2 + ["line"] * 2


def test_sizes_of_datagrams_show_the_device_and_the_line():
    """By hand: 2000 datagrams a second; of 1472 B the line of 10 Mbit/s carries 812.7 a second."""
    sizes = [18.0, 210.0, 466.0, 1472.0]
    rates = [8 * size * 2000 for size in sizes[:3]] + [8 * 1472 * 812.7]
    places = {"input_drop_count": [900.0] * 3 + [0.0], "line_drop_count": [0.0] * 3 + [900.0]}
    found = measurement(bulk(rates, sizes=sizes, lost_count=[900.0] * 4, **places))
    assert [one.binding.name for one in found] == ["packet-rate"] * 3 + ["line"]
    assert found[0].binding.values["device_pps"] == pytest.approx(2000, rel=1e-3)


def test_datagrams_that_a_host_dropped_show_no_device():
    samples = bulk([2e7, 2e8], sizes=[100.0, 1000.0], path=None, lost_count=[900.0] * 2,
                   receiver_drop_count=[900.0] * 2)  # fmt: skip
    assert [one.cause.code for one in measurement(samples)] == ["host", "host"]


def test_sizes_of_writes_have_their_costs():
    """By hand: writes of 10 us and 1 ns per byte; a rate is its bits over that."""
    sizes = [100.0, 1000.0, 10_000.0]
    rates = [8 * size / (1e-5 + 1e-9 * size) for size in sizes]
    found = measurement(bulk(rates, protocol="tcp", path=None, sizes=sizes))
    assert {one.binding.name for one in found} == {"host-costs"}
    values = found[0].binding.values
    assert (values["write_cost_s"], values["byte_cost_s"]) == pytest.approx((1e-5, 1e-9), rel=1e-3)


def transactions(experiment, times_s):
    modes = [mode for mode, own in times_s.items() for _ in own]
    return TransactionSamples(
        mode=modes, sequence=[n + 1.0 for own in times_s.values() for n in range(len(own))],
        payload_bytes=[100.0] * len(modes), response_s=[time for own in times_s.values()
        for time in own], meta=Meta(experiment=experiment),
    )  # fmt: skip


def test_handshakes_are_round_trips_of_a_protocol():
    """By hand: at 30 ms UDP takes 1, TCP 2 and TLS 1.3 three round trips, 60 and 90 ms."""
    samples = transactions(
        "transactions", {"udp": [0.03] * 5, "tcp": [0.0635] * 5, "tls": [0.1035] * 5}
    )
    found = measurement(samples)
    assert [one.binding.name for one in found] == ["round-trips"] * 3
    assert [one.binding.value for one in found] == pytest.approx([0.03, 0.06, 0.09])
    assert found[2].limits[1].value == pytest.approx(0.0135)


def test_a_timer_that_fires_late_on_a_busy_host_is_one():
    """By hand: 40 ms and 15% are 46; the median is above it, a quarter of the times below."""
    late = [0.0431, 0.0449, 0.0455, 0.0468, 0.0469, 0.0471, 0.0475, 0.055]
    samples = transactions("small_writes", {"nagle": late, "single": [30e-6] * 8})
    nagle, _ = measurement(samples)
    assert nagle.binding.name == "ack-timer"
    assert nagle.binding.values["timer_s"] == 0.04


def test_a_ping_of_the_host_itself_shows_no_line():
    sizes = [size for size in (100.0, 1000.0, 2000.0) for _ in range(5)]
    samples = RttSamples(
        payload_bytes=sizes, rtt_s=[20e-6 + 1e-8 * size for size in sizes],
        meta=Meta(target="127.0.0.1"),
    )  # fmt: skip
    (found,) = measurement(samples)
    assert found.cause.code == "host"
    assert "probes-in-fragments" not in {one.code for one in found.notices}


def test_pings_larger_than_the_path_carries_have_a_cause():
    """The error names the MTU: ``Frag needed and DF set (mtu = 1420)``."""
    text = (
        "PING 203.0.113.9 (203.0.113.9) 1472(1500) bytes of data.\n"
        "From 192.0.2.1 icmp_seq=1 Frag needed and DF set (mtu = 1420)\n"
        "ping: local error: message too long, mtu=1420\n"
        "--- 203.0.113.9 ping statistics ---\n"
        "2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 1001ms\n"
    )
    (found,) = measurement(readers.read(text.encode()))
    assert (found.cause.code, found.confidence) == ("path-mtu", "high")
    assert found.cause.sign("path_mtu_bytes") == 1420


def test_a_run_is_drawn_against_what_it_varied():
    samples = bulk([1e6, 2e6, 4e6], protocol="tcp", pair_count=[1.0, 2.0, 4.0])
    theory = table_theory(samples, Known())
    assert theory.points["measured"][0].tolist() == [1, 2, 4]
    falling = bulk([4e6, 2e6, 1e6], protocol="tcp", pair_count=[1.0, 2.0, 4.0])
    assert table_theory(falling, Known()) is None, "no curve of all together"
    assert not table_theory(falling, Known(), points_alone=True).lines


def queue(services_s):
    """Return packets that come each second, and never wait."""
    count = len(services_s)
    data = {"arrival_s": np.arange(count, dtype=float), "service_s": np.array(services_s),
            "wait_s": np.zeros(count)}  # fmt: skip
    return Table(data=data, meta=Meta(units=dict.fromkeys(data, "s")))


def test_waits_for_a_line_are_said_beside_theory():
    """By hand: a load of 1/2 and services of 0.5 s wait 0.25 s in M/D/1, and 0.5 s in M/M/1."""
    (found,) = measurement(queue([0.5] * 100))
    assert (found.cause.code, found.measured) == ("line", 0.0)
    assert found.cause.sign("utilization") == pytest.approx(0.5)
    assert found.cause.sign("equal_s") == pytest.approx(0.25)
    assert found.cause.sign("exponential_s") == pytest.approx(0.5)
    with pytest.raises(ReaderError):
        measurement(queue([1.5] * 100))  # more than the line carries has no mean wait


def test_packets_sent_back_to_back_show_the_line():
    """By hand: 1500 B in 1.2 ms are 10 Mbit/s."""
    samples = TrainSamples(
        train=[1, 1, 2, 2, 3, 3], index=[1, 2] * 3, packet_bytes=[1500.0] * 6, sent_s=[0.0] * 6,
        received_s=[0.01, 0.0112, 0.11, 0.1112, 0.21, 0.2112],
    )  # fmt: skip
    (found,) = measurement(samples)
    assert found.cause.sign("fitted_bps") == pytest.approx(1e7)
    assert found.layer == "IP"
    lost = TrainSamples(
        train=[1, 1], index=[1, 2], packet_bytes=[1500.0] * 2, sent_s=[0.0] * 2,
        received_s=[math.nan] * 2,
    )  # fmt: skip
    with pytest.raises(ReaderError):
        measurement(lost)


def far(rates_bps, **columns):
    """Return transfers of TCP to a peer, without a processor that was busy."""
    samples = bulk(rates_bps, protocol="tcp", path=None, **columns)
    facts = Instrument(peer_machine={"host": "Linux 6.1.0 x86_64"})
    return replace(samples, meta=replace(samples.meta, target="peer 192.0.2.7", instrument=facts))


def test_both_directions_are_told_apart():
    samples = far([9e6, 4e6], direction=["forward of both", "back of both"])
    there, back = measurement(samples, Known(line_bps=10e6))
    assert there.label == "forward of both, writes of 1440 B"
    assert back.label == "back of both, writes of 1440 B"


def test_writes_to_a_peer_that_waited_for_the_network_have_no_cost():
    """By hand: both sizes take 1 us a byte, of which the sender computes nothing."""
    slow = far([8e6, 8e6], sizes=[1000.0, 2000.0], user_s=[0.0, 0.0], system_s=[0.0, 0.0])
    names = {limit.name for found in measurement(slow) for limit in found.limits}
    assert "host-costs" not in names
    sentence = compare.bulk(slow).sentence
    assert "waiting for buffer space" in sentence


def test_a_run_through_a_router_is_explained_by_direction_and_size():
    """The recorded run; known truth (data/router_emulated.md): 2000 packets a second, 10 Mbit/s."""
    samples = datasets.load("router_emulated")
    findings = {found.label: found for found in measurement(samples, Known(line_bps=10e6))}
    assert len(findings) == 4 * 6, "the hosts alone are no path"
    assert findings["forward, 68 B"].binding.name == "packet-rate"
    assert findings["back, 516 B"].binding.name == "packet-rate"
    assert findings["forward, 1518 B"].binding.name == "line"
    assert findings["back, 1028 B"].binding.name == "line"
