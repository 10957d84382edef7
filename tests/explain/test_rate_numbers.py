"""Ceilings of rates: their values, and facts at the edge of what can be, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from netcalc.explain import Evidence, Known, explain_evidence
from netcalc.explain.rate_limits import rate_limits, rate_notices

NAN = math.nan
MSS, WIRE = 1448, 1538


def limits(one, **known):
    return {limit.name: limit for limit in rate_limits(one, Known(**known))}


def rates(one, **known):
    return {name: limit.value for name, limit in limits(one, **known).items()}


def values(name, one, **known):
    return dict(limits(one, **known)[name].values)


def test_the_values_of_the_line():
    line = {"line_bps": 1e8, "payload_bytes": 1448.0, "wire_bytes": 1538.0}
    assert values("line", Evidence(), line_bps=1e8) == line
    udp = Evidence(protocol="udp", datagram_bytes=1000.0)
    assert values("line", udp, line_bps=1e8) == {
        "line_bps": 1e8, "payload_bytes": 1000, "wire_bytes": 1066.0,
    }  # fmt: skip
    seen = replace(udp, payload_share=0.8, fragment_ratio=0.5)
    assert values("fragments", seen, line_bps=1e8) == pytest.approx(
        {"line_bps": 1e8, "payload_bytes": 1000.0, "wire_bytes": 1250.0}
    )


def test_a_datagram_is_no_larger_than_a_datagram_can_be():
    """By hand: 65,507 + 8 B are 44 fragments of 1480 and one of 395; 58 B more for each."""
    one = Evidence(protocol="udp", datagram_bytes=70_000.0)
    assert values("fragments", one, line_bps=1e8) == {
        "line_bps": 1e8, "payload_bytes": 65_507, "wire_bytes": 44 * 1538.0 + 395 + 58,
    }  # fmt: skip


def test_the_values_of_a_short_buffer():
    """By hand: 100 Mbit/s and 100 ms are 1.25 MB; Reno without a buffer has 3/4 of the line."""
    known = {"line_bps": 1e8, "rtt_s": 0.1, "buffer_bytes": 1e-3, "congestion_control": "reno"}
    assert values("buffer", Evidence(), **known) == {
        "buffer_bytes": 1e-3, "bdp_bytes": pytest.approx(1.25e6),
        "share": pytest.approx(0.75, rel=1e-4),
    }  # fmt: skip
    stated = values("buffer", Evidence(base_rtt_s=0.4), **known)
    assert stated["bdp_bytes"] == pytest.approx(1.25e6), "the stated round trip precedes"
    assert list(rates(Evidence(base_rtt_s=0.0), line_bps=1e8, buffer_bytes=1.0)) == ["line"]


def test_the_values_of_devices_and_hosts():
    assert values("packet-rate", Evidence(), device_pps=1000) == {
        "device_pps": 1000.0, "payload_bytes": 1448.0, "share": pytest.approx(2 / 3),
    }  # fmt: skip
    udp = Evidence(protocol="udp", datagram_bytes=100.0, asked_rate_bps=0.5)
    assert values("packet-rate", udp, device_pps=9)["share"] == 1.0
    assert limits(udp, device_pps=9)["packet-rate"].tolerance_ratio == 0.05
    assert rates(udp) == {"offered": 0.5}
    # A pacer begins with a burst: 3 Mbit/s asked of iperf3 were 3.121 measured.
    assert limits(udp)["offered"].tolerance_ratio == 0.1
    assert values("offered", udp) == {"offered_bps": 0.5}
    assert rates(replace(udp, asked_rate_bps=math.inf)) == {}, "without a bound it does not limit"
    busy = Evidence(rate_bps=0.5, processor_ratio=0.5)
    assert (rates(busy), values("processor", busy)) == (
        {"processor": 1.0}, {"busy": 0.5, "measured_bps": 0.5},
    )  # fmt: skip
    assert limits(busy)["processor"].tolerance_ratio == 0.05


def test_the_values_of_windows():
    one = Evidence(rtt_s=0.5, receive_window_bytes=0.5, in_flight_bytes=0.25, stream_count=2.0)
    found = limits(one, window_bytes=1)
    assert {name: (limit.value, dict(limit.values)) for name, limit in found.items()} == {
        "window": (32.0, {"window_bytes": 1.0, "rtt_s": 0.5, "streams": 2}),
        "receive-window": (16.0, {"window_bytes": 0.5, "rtt_s": 0.5, "streams": 2}),
        "send-window": (8.0, {"window_bytes": 0.25, "rtt_s": 0.5, "streams": 2}),
    }
    assert list(found) == ["send-window", "receive-window", "window"], "the lowest first"
    assert not found["window"].for_comparison


def test_nothing_takes_no_time():
    """A clock that shows 0 s for a round trip says nothing of windows, loss and slow start."""
    one = Evidence(
        rtt_s=0.0, base_rtt_s=0.0, in_flight_bytes=1e4, loss_ratio=0.1, size_bytes=1e4,
        wait_count=1.0, wait_s=0.04,
    )  # fmt: skip
    assert rates(one) == {}


def pftk_pps(loss, rtt, rto, acked):
    """Padhye et al., ToN 2000, section V, for an ACK of some segments."""
    offset = (2 + acked) / (3 * acked)
    window = offset + math.sqrt(8 * (1 - loss) / (3 * acked * loss) + offset**2)
    kept = 1 - loss
    timeouts = (1 - kept**3) * (1 + kept**3 * (1 - kept ** (window - 3))) / (1 - kept**window)
    timeouts = min(1.0, timeouts)
    backoff = 1 + sum(2**n * loss ** (n + 1) for n in range(6))
    return (kept / loss + window / 2 + timeouts) / (
        rtt * (acked * window / 2 + 1) + timeouts * backoff * rto / kept
    )


@pytest.mark.each("loss", [0.01, 0.05])
def test_loss_with_timeouts(loss):
    """Linux waits 200 ms beyond the round trip and counts bytes; the paper's formula with that."""
    assert pftk_pps(0.01, 0.1, 0.4, 2) == pytest.approx(73.59, abs=0.005)
    known = {"rtt_s": 0.1, "loss_ratio": loss, "mtu_bytes": 1052}
    expected = 8000 * pftk_pps(loss, 0.1, 0.3, 1)
    assert rates(Evidence(), **known)["loss-pftk"] == pytest.approx(expected)
    wanted = {"loss_ratio": loss, "rtt_s": 0.1, "mss_bytes": 1000.0, "rto_s": pytest.approx(0.3)}
    for name in ("loss-mathis", "loss-pftk"):
        assert values(name, Evidence(), **known) == wanted
    said = {"control": "if it is CUBIC"}  # nothing says that it is
    assert values("loss-cubic", Evidence(), **known) == wanted | said


def test_loss_by_cubic():
    """RFC 9438, 5.1: (0.4 x 3.7 / 1.2)^0.25 x (RTT / p)^0.75 segments a round trip."""
    packets = (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 / 1e-4) ** 0.75
    found = rates(Evidence(), rtt_s=0.1, loss_ratio=1e-4, mtu_bytes=1052)
    assert found["loss-cubic"] == pytest.approx(8000 * packets / 0.1)


def test_the_values_of_slow_start():
    """By hand: 35 segments for each of two streams, in windows of 10, 20 and 40."""
    one = Evidence(size_bytes=2 * 35 * 1448.0, stream_count=2.0)
    assert rates(one, rtt_s=0.1) == {"slow-start": pytest.approx(8 * 70 * 1448 / 0.3)}
    assert values("slow-start", one, rtt_s=0.1) == {
        "size_bytes": 35 * 1448.0, "rounds": 3, "rtt_s": 0.1,
    }  # fmt: skip
    late = Evidence(size_bytes=1e4, wait_count=1.0, wait_s=0.04)
    assert rates(late, rtt_s=0.06)["delayed-ack"] == pytest.approx(8e5)
    answered = replace(late, is_answered=True)  # 80 kbit in 40 + 2 x 60 ms
    assert rates(answered, rtt_s=0.06)["delayed-ack"] == pytest.approx(5e5)
    assert values("delayed-ack", late, rtt_s=0.06) == {
        "count": 1, "wait_s": 0.04, "rtt_s": 0.06, "size_bytes": 1e4, "trips": 1,
    }  # fmt: skip


def test_the_values_of_acknowledgements():
    """By hand: 40 + 38 B without timestamps, in the least frame of 64 and 20 B: 84 B."""
    bare = Evidence(option_bytes=0.0)
    found = limits(bare, reverse_bps=10e3)["acknowledgements"]
    assert found.values == {"ack_bytes": 84.0, "reverse_bps": 10e3}
    assert found.value == pytest.approx(10e3 / 84 * 2 * 1460)
    assert found.tolerance_ratio == 0.2
    assert limits(Evidence(), reverse_bps=1)["acknowledgements"].values["ack_bytes"] == 90.0


def notices(one, **known):
    return {notice.code: dict(notice.values) for notice in rate_notices(one, Known(**known))}


def test_counts_of_two_ends():
    half = Evidence(protocol="udp", rate_bps=0.25, sent_rate_bps=0.5, received_rate_bps=0.25)
    assert notices(half) == {
        "sender-not-receiver": {
            "sent_bps": 0.5,
            "received_bps": 0.25,
            "share": 0.5,
            "layer": "UDP payload",
        }
    }
    assert notices(replace(half, received_rate_bps=0.0)) == {}
    assert notices(replace(half, received_rate_bps=NAN)) == {"sender-count-only": {}}
    assert notices(Evidence(sent_rate_bps=0.0)) == {}


def test_what_tcp_wrote_and_the_receiver_did_not_count_is_not_lost():
    """TCP repeats what is lost: the rest is in the sender's buffer when the run ends."""
    one = Evidence(rate_bps=75.0, sent_rate_bps=100.0, received_rate_bps=75.0)
    assert notices(one) == {
        "sender-buffer": {
            "sent_bps": 100.0,
            "received_bps": 75.0,
            "share": 0.25,
            "layer": "TCP payload",
        }
    }
    (said,) = rate_notices(one, Known())
    assert str(said) == (
        "the sender counts 100 bit/s (TCP payload), the receiver 75 bit/s (TCP payload): 25.0% was "
        "still in the sender's buffer or on the way at the end, not "
        "lost, and the receiver's number is the rate of the path"
    )


@pytest.mark.each("protocol", ["tcp", "udp"])
def test_a_receiver_that_counts_more_lost_nothing(protocol):
    one = Evidence(protocol=protocol, rate_bps=125.0, sent_rate_bps=100.0, received_rate_bps=125.0)
    assert notices(one)["receiver-counts-more"] == {
        "sent_bps": 100.0, "received_bps": 125.0, "share": 0.25,
        "layer": f"{protocol.upper()} payload",
    }  # fmt: skip
    said = next(str(n) for n in rate_notices(one, Known()) if n.code == "receiver-counts-more")
    assert said == (
        f"the receiver counts 125 bit/s ({protocol.upper()} payload), 25.0% more than the sender's "
        f"100 bit/s ({protocol.upper()} payload): the two did not count over the same time"
    )


def test_a_queue_is_a_packet_at_least():
    """By hand: 3000 bit/s for 4 s more are 1500 B; 2992 bit/s are 1496 B, which are no packet."""
    queue = Evidence(rate_bps=3000.0, rtt_s=5.0, base_rtt_s=1.0)
    assert notices(queue) == {
        "queue-in-buffer": {"rtt_s": 5.0, "base_rtt_s": 1.0, "queue_bytes": 1500.0}
    }
    assert notices(replace(queue, rate_bps=2992.0)) == {}, "a host that answered late"


def test_a_limit_that_is_refuted_says_which():
    one = Evidence(rate_bps=2e8)
    (line,) = rate_limits(one, Known(line_bps=1e8))
    assert notices(one, line_bps=1e8) == {
        "limit-refuted": {
            "subject": "the line", "value": line.value, "measured": 2e8,
            "assumption": str(line.assumption),
        }
    }  # fmt: skip
    compared = Evidence(rate_bps=2e8, rtt_s=0.1, loss_ratio=1e-3, congestion_control="bbr")
    assert "limit-refuted" not in notices(compared), "those of other algorithms are not refuted"


def test_a_finding_has_all_of_it():
    one = Evidence(label="up", rate_bps=9e7, sent_rate_bps=9e7)
    known = Known(line_bps=1e8)
    found = explain_evidence(one, known)
    assert (found.label, found.measured, found.unit) == ("up", 9e7, "bit/s")
    assert found.limits == rate_limits(one, known)
    assert found.metrics["line_share_ratio"] == pytest.approx(9e7 / (1e8 * MSS / WIRE))
    fragments = Evidence(protocol="udp", datagram_bytes=1473.0, rate_bps=9e7)
    share = explain_evidence(fragments, known).metrics["line_share_ratio"]
    assert share == pytest.approx(0.9 / (1473 / 1622))


def asked(one, **known):
    return [notice.code for notice in explain_evidence(one, Known(**known)).missing]


def test_what_no_limit_explains_asks_for_the_rarer_facts():
    """By hand: 10 kB a round trip of 0.1 s are 800 kbit/s; 80 kbit/s are a tenth of it."""
    slow = Evidence(rate_bps=8e4, base_rtt_s=0.1, loss_ratio=0.0)
    assert asked(slow, window_bytes=1e4) == ["ask-line", "ask-reverse", "ask-device"]
    known = {"window_bytes": 1e4, "line_bps": 1e8}
    assert asked(slow, **known) == ["ask-reverse", "ask-device", "ask-buffer"]
    assert asked(slow, **known, reverse_bps=1e8, device_pps=1e6, buffer_bytes=1e6) == []
    assert asked(replace(slow, rate_bps=8e5), window_bytes=1e4) == ["ask-line"], "explained"
    assert asked(replace(slow, rate_bps=NAN), window_bytes=1e4) == ["ask-line"]
    udp = Evidence(protocol="udp", rate_bps=8e4, sent_rate_bps=8e5)
    assert asked(udp, line_bps=1e8) == ["ask-device"]
    said = str(explain_evidence(slow, Known(**known)))
    assert all(option in said for option in ("--reverse", "--device", "--buffer"))


def test_a_sender_that_is_faster_than_its_waits_does_not_wait_for_them():
    """By hand: 10 kB with a wait of 40 ms and a round trip of 60 ms are 800 kbit/s."""
    late = Evidence(size_bytes=1e4, base_rtt_s=0.06, wait_count=1.0, wait_s=0.04, rate_bps=1.08e6)
    assert "delayed-ack" in rates(late), "within 35 %"
    faster = replace(late, rate_bps=1.09e6)
    assert "delayed-ack" not in rates(faster)
    assert notices(faster) == {}
