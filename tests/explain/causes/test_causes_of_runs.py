"""Causes of runs of tools: what intervals, buffers and counters show, and what they do not."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from netcalc.errors import doubts
from netcalc.explain import Known, measurement
from netcalc.readers import read
from netcalc.samples import FlowSeries, Meta

SECONDS = 10
LINE_OF_ETHERNET = 1e9 * 1448 / 1538
"""By hand: 1448 B of payload in 1538 B on the wire: 941.5 Mbit/s."""


def series(rates_bps, *, again=0, protocol="tcp", printed=None, columns=None, **facts):
    """Return a run as iperf3 reports it, an interval a second."""
    count = len(rates_bps)
    sizes = [rate / 8 for rate in rates_bps]
    again = [float(again)] * count if isinstance(again, int | float) else again
    rate_bps = sum(rates_bps) / count
    row = {
        "protocol": protocol, "sent_rate_bps": rate_bps, "received_rate_bps": rate_bps,
        "sent_byte_count": sum(sizes), "received_byte_count": sum(sizes),
        "duration_s": float(count), "retransmit_count": sum(again), "stream_count": 1, **facts,
    }  # fmt: skip
    kept = {
        "retransmit_count": again, "rtt_s": [0.02] * count, "cwnd_bytes": [300_000.0] * count,
        "side": ["sender"] * count, **(columns or {}),
    }  # fmt: skip
    return FlowSeries(
        start_s=[float(at) for at in range(count)], duration_s=[1.0] * count,
        payload_bytes=sizes, throughput_bps=rates_bps, **kept,
        meta=Meta(tool="iperf3", facts=(row,), printed={"mss_bytes": 1448, **(printed or {})}),
    )  # fmt: skip


def cause_of(run, **known):
    (found,) = measurement(run, Known(**known))
    return found.as_dict(), {one.code: one.values for one in found.notices}


def test_intervals_of_nothing_with_timers_are_an_outage():
    """By hand: 3 of 10 s at 90 Mbit/s would have carried 34 MB, more than any buffer here."""
    rates = [90e6] * 4 + [0.0] * 3 + [90e6] * 3
    run = series(rates, again=[0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    found, notes = cause_of(run)
    assert (found["cause"], found["confidence"]) == ("outage", "medium")
    assert found["share_of_time"] == pytest.approx(0.3)
    facts = {one["fact"]: one["value"] for one in found["evidence"]}
    assert (facts["begin_s"], facts["pause_s"], facts["again_count"]) == (4.0, 3.0, 3.0)
    assert notes["intervals-of-a-pause"] == {
        "count": 3, "total": 10, "begin_s": 4.0, "pause_s": 3.0,
    }  # fmt: skip


@pytest.mark.each("again", [0, 20])
def test_a_pause_without_timers_has_no_cause(again):
    """Nothing was repeated, or more than timers do: a program, a host or the path paused."""
    rates = [90e6] * 4 + [0.0] * 3 + [90e6] * 3
    found, _ = cause_of(series(rates, again=[0, 0, 0, 0, again, again, again, 0, 0, 0]))
    assert (found["cause"], found["code"]) == ("unknown", "cause-unknown-pause")
    assert found["confidence"] == "low"
    assert "3 s of 10 s, from 4 s on" in found["sentence"]


def test_a_slow_line_has_intervals_without_a_write():
    """By hand: 5 s at 0.5 Mbit/s are 0.3 MB, which the buffer of the socket takes at once."""
    rates = [0.5e6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5e6, 0.5e6]
    found, _ = cause_of(series(rates, again=[0, 1, 0, 0, 0, 0, 0, 0]))
    assert (found["cause"], found["code"]) != ("outage", "cause-unknown-pause")
    assert found["cause"] == "unknown"


def test_what_arrived_in_the_end_was_no_outage():
    """All that was sent was received, so that nothing hung in a path when the run ended."""
    rates = [90e6] * 4 + [0.0] * 6
    found, _ = cause_of(series(rates, again=[0] * 4 + [1] * 6))
    assert found["code"] == "cause-unknown-pause"
    lost, _ = cause_of(series(rates, again=[0] * 4 + [1] * 6, received_byte_count=40e6))
    assert (lost["cause"], lost["share_of_time"]) == ("outage", 0.6)


def test_datagrams_of_a_time_that_are_missing_are_no_full_line():
    """By hand: 3 of 10 s without a datagram, and 30 % lost: as many as were sent in them."""
    rates = [10e6] * 4 + [0.0] * 3 + [10e6] * 3
    columns = {"side": ["receiver"] * SECONDS}
    facts = {"sent_rate_bps": 10e6, "protocol": "udp", "columns": columns}
    found, _ = cause_of(series(rates, loss_ratio=0.3, **facts))
    assert (found["cause"], found["share_of_time"]) == ("outage", pytest.approx(0.3))
    more, _ = cause_of(series(rates, loss_ratio=0.5, **facts))
    assert (more["cause"], more["confidence"]) == ("unknown", "low")
    even, _ = cause_of(series([7e6] * SECONDS, loss_ratio=0.3, **facts))
    assert even["cause"] == "line"
    few, _ = cause_of(series([9.8e6] * SECONDS, loss_ratio=0.02, **facts))
    assert few["cause"] == "loss-udp"
    assert few["sentence"].startswith(
        "2% of the datagrams did not arrive: they were lost on the path, or"
    )


@pytest.mark.each(("rtt_s", "again"), [(4e-4, 0), (9e-3, 12)])
def test_the_goodput_of_a_line_of_ethernet(rtt_s, again):
    columns = {"rtt_s": [rtt_s] * SECONDS}
    found, _ = cause_of(series([941e6] * SECONDS, again=again, columns=columns))
    assert (found["cause"], found["confidence"]) == ("line", "medium")
    facts = {one["fact"]: (one["value"], one.get("layer")) for one in found["evidence"]}
    assert facts["line_bps"] == (pytest.approx(LINE_OF_ETHERNET), "TCP payload")
    assert facts["ethernet_bps"] == (1e9, "Ethernet line")
    assert "ethtool" in found["test"]


@pytest.mark.each(("buffer_bytes", "cause", "confidence"), [
    (30_000, "sender-buffer", "low"), (1_000_000, "line", "medium"),
])  # fmt: skip
def test_a_rate_of_a_line_of_ethernet_with_a_small_buffer_is_not_sure(
    buffer_bytes, cause, confidence
):
    """By hand: 9.4 Mbit/s at 48 ms are 56 kB in flight, of 139 kB: a buffer of 30 kB and a packet
    of 64 KiB, or a line of 10 Mbit/s."""
    columns = {"rtt_s": [0.048] * SECONDS, "cwnd_bytes": [139_000.0] * SECONDS}
    run = series([9.4e6] * SECONDS, columns=columns, printed={"send_buffer_bytes": buffer_bytes})
    found, _ = cause_of(run)
    assert (found["cause"], found["confidence"]) == (cause, confidence)


@pytest.mark.each("rate_bps", [900e6, 948e6, 700e6])
def test_other_rates_are_no_line_of_ethernet_and_no_buffer(rate_bps):
    """By hand: 700 Mbit/s at 0.4 ms are 35 kB in flight, of 300 kB of congestion window."""
    found, _ = cause_of(series([rate_bps] * SECONDS, columns={"rtt_s": [4e-4] * SECONDS}))
    assert found["cause"] == "unknown"


def test_a_line_that_is_stated_is_not_guessed():
    found, _ = cause_of(
        series([941e6] * SECONDS, columns={"rtt_s": [4e-4] * SECONDS}), line_bps=10e9
    )
    assert found["cause"] == "unknown"


@pytest.mark.each(
    ("buffer_bytes", "cwnd_bytes", "cause"),
    [
        # by hand: 8 Mbit/s at 60 ms are 60 kB in flight
        (30_000, 140_000.0, "sender-buffer"), (60_000, 140_000.0, "sender-buffer"),
        # Linux begins with 16 KiB where nobody set it
        (16_384, 140_000.0, "unknown"), (None, 140_000.0, "unknown"),
        (200_000, 140_000.0, "unknown"), (None, 62_000.0, "sender-buffer"),
    ],
)  # fmt: skip
def test_a_buffer_of_the_sender_is_near_what_is_in_flight(buffer_bytes, cwnd_bytes, cause):
    printed = {"streams": [{"rtt_min_s": 0.06, "offered_window_bytes": 250_000}]}
    printed |= {} if buffer_bytes is None else {"send_buffer_bytes": buffer_bytes}
    columns = {"rtt_s": [0.06] * 5, "cwnd_bytes": [cwnd_bytes] * 5}
    found, _ = cause_of(series([8e6] * 5, printed=printed, columns=columns))
    assert found["cause"] == cause
    assert found["confidence"] == ("low" if cause == "unknown" else "medium")


@pytest.mark.each("facts", [{}, {"protocol": "udp", "loss_ratio": 1.0, "sent_rate_bps": 1e6}])
def test_a_run_that_carried_nothing(facts):
    found, _ = cause_of(series([0.0] * SECONDS, **facts))
    assert (found["cause"], found["confidence"]) == ("unknown", "low")
    assert found["sentence"] == "Nothing arrived: the run carried no byte in 10 s."


@pytest.mark.each(
    ("rtt_s", "cause", "confidence"),
    [
        # by hand: -w 64K grants 128 KiB; 30 Mbit/s at 30 ms are 112.5 kB, at 1 ms 3.75 kB
        (None, "receiver-window", "low"), (0.03, "receiver-window", "high"),
        (0.001, "unknown", "low"), (0.3, "unknown", "low"),
    ],
)  # fmt: skip
def test_a_buffer_that_was_asked_for_needs_a_round_trip(rtt_s, cause, confidence):
    columns = {"rtt_s": [float("nan")] * 5, "cwnd_bytes": [float("nan")] * 5}
    run = series([30e6] * 5, printed={"asked_buffer_bytes": 65_536}, columns=columns)
    found, _ = cause_of(run, rtt_s=rtt_s)
    assert (found["cause"], found["confidence"]) == (cause, confidence)


def test_a_rate_that_changed_once():
    run = series([90e6] * 5 + [10e6] * 5, again=[0] * 5 + [50] * 5)
    found, notes = cause_of(run)
    assert (found["cause"], found["code"]) == ("unknown", "cause-unknown-levels")
    changed = notes["rate-levels"]
    assert (changed["before_bps"], changed["after_bps"], changed["at_s"]) == (90e6, 10e6, 5.0)
    # A rate that swings has no levels, nor has one that a slow start precedes.
    back = [20e6] * 3 + [5e6, 20e6, 5e6]
    for rates in ([90e6, 10e6] * 5, [10e6] + [90e6] * 9, [90e6] * 5 + [70e6] * 5, back):
        assert "rate-levels" not in cause_of(series(rates))[1]


def test_a_time_below_that_of_a_stated_line_has_no_factor(recwarn):
    """By hand: 62.5 MB in 10 s are 50 Mbit/s, and a line of 20 carries 18.8: the note says it."""
    (found,) = measurement(series([50e6] * SECONDS, again=50), Known(line_bps=20e6))
    assert "transfer_time_factor" not in found.metrics
    assert "limit-refuted" in [one.code for one in found.notices]
    assert not [one for one in recwarn if "another transfer" in str(one.message)]


def test_losses_hold_neither_bbr_nor_do_formulas_cover_all_of_them():
    """By hand: 3.75 MB are 2590 segments; 600 a second sent again are 6000 of 8590."""
    found, _ = cause_of(series([3e6] * SECONDS, again=600))
    assert (found["cause"], found["code"]) == ("unknown", "cause-unknown-again")
    facts = {one["fact"]: one["value"] for one in found["evidence"]}
    assert facts["loss_ratio"] == pytest.approx(6000 / (6000 + 3.75e6 / 1448))
    # 1 % at 20 ms: by Mathis 7.1 Mbit/s, 1448 x 8 / 0.02 x 1.22 / 0.1
    again = 6e6 / 8 / 1448 / 99
    cubic, _ = cause_of(series([6e6] * SECONDS, again=again, congestion_control="cubic"))
    bbr, _ = cause_of(series([6e6] * SECONDS, again=again, congestion_control="bbr"))
    assert (cubic["cause"], bbr["cause"]) == ("random-loss", "unknown")


@pytest.mark.each(("again", "limits"), [(9, []), (60, [0.21])])
def test_a_doubt_is_one_of_the_formula_that_holds(again, limits):
    """By hand: 2 Mbit/s are 173 segments a second; 9 repetitions are 5 % of all, 60 are 26 %.

    CUBIC, which only compares there, is published up to 1 %; Reno, which holds, to PFTK's 21 %.
    """
    with doubts() as found:
        measurement(series([2e6] * 10, again=again), Known(congestion_control="reno"))
    assert sorted({one.values["limit"] for one in found}) == limits


def test_one_interval_is_no_policer():
    """Far more than random losses allow, but neither often nor seen over time."""
    for rates, again in (([50e6], 100), ([50e6] * SECONDS, 5)):
        found, _ = cause_of(series(rates, again=again))
        assert found["cause"] != "policer"


def iperf3_json(offered_bytes, *, most_bytes=304_128, ended=True, **members):
    """iperf3 in JSON: 26 Mbit/s for 5 s at 20 ms, and the window offered in each interval."""
    stream = {
        "socket": 5, "seconds": 1.0, "bytes": 3_250_000, "bits_per_second": 26e6,
        "retransmits": 0, "snd_cwnd": 900_000, "rtt": 20_000, "omitted": False, "sender": True,
    }  # fmt: skip
    total = {
        "socket": 5, "start": 0, "end": 5, "seconds": 5, "bytes": 16_250_000,
        "bits_per_second": 26e6, "retransmits": 0, "sender": True,
    }  # fmt: skip
    end = {
        "sum_sent": total, "sum_received": total,
        "streams": [{"sender": {**total, "max_snd_wnd": most_bytes, "min_rtt": 20_000}}],
    }  # fmt: skip
    document = {
        "start": {
            "version": "iperf 3.12", "tcp_mss_default": 1448,
            "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0},
        },
        "intervals": [
            {"streams": [{**stream, "start": at, "end": at + 1, "snd_wnd": size}]}
            for at, size in enumerate(offered_bytes)
        ],
        "end": end if ended else {},
        **members,
    }  # fmt: skip
    return json.dumps(document).encode()


def test_the_window_that_was_offered_most_of_the_time():
    """By hand: 65,000 B in flight of 65,535 offered; the largest offer was of one moment."""
    (found,) = measurement(read(BytesIO(iperf3_json([65_535] * 4 + [304_128]))))
    assert (found.cause.code, found.confidence) == ("receiver-window", "high")
    (other,) = measurement(read(BytesIO(iperf3_json([304_128] * 5))))
    assert other.cause is None


SOCKET = (
    "ESTAB 0 0 10.0.0.1:52000 10.0.0.2:22\n"
    "\t cubic wscale:7,7 rto:204 rtt:1.5/0.75 mss:1448 pmtu:1500 cwnd:10 bytes_sent:{sent} "
    "bytes_retrans:{again} bytes_acked:{acked} segs_out:12 segs_in:10 busy:400ms "
    "retrans:0/{count} minrtt:1.5 snd_wnd:64256\n"
)


def test_a_few_segments_have_no_loss_ratio():
    """ss -ti of a control connection; by hand: 8 of 9 are 88 %, and 10 of 1000 segments 1 %."""
    few = SOCKET.format(sent=1740, again=1448, acked=293, count=8).encode()
    (found,) = measurement(read(BytesIO(few)))
    assert "loss" not in [name.partition("-")[0] for name in (one.name for one in found.limits)]
    assert found.cause.code == "unknown"
    assert "% lost" not in str(found)
    many = SOCKET.format(sent=1_448_000, again=14_480, acked=1_433_520, count=10).encode()
    (lossy,) = measurement(read(BytesIO(many)))
    assert lossy.cause.sign("loss_ratio") == pytest.approx(0.01)


NUTTCP = " 1123.3125 MB /  10.01 sec =  941.1234 Mbps 5 %TX 20 %RX 3 retrans 0.25 msRTT\n"
NETPERF = """\
MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00     941.02
"""


@pytest.mark.each("text", [NUTTCP, NETPERF])
def test_a_total_alone_shows_the_likely_line_of_ethernet(text):
    """1448 of 1538 bytes of 1 Gbit/s are 941.5 Mbit/s; how even the rate was nobody knows."""
    (finding,) = measurement(read(text))
    assert (finding.cause.code, finding.cause.variant) == ("line", "ethernet")
    assert finding.cause.sign("ethernet_bps") == 1e9
    assert finding.confidence == "low"
    (below,) = measurement(read(text.replace("941.", "871.").replace("1123.3125", "1039.7")))
    assert not (below.cause and below.cause.code == "line")
