"""The arithmetic of a stall: Nagle with a delayed ACK of 40 or 200 ms, and a timeout."""

from __future__ import annotations

import pytest

from netcalc import datasets, readers
from netcalc.explain import Evidence, Known, explain_evidence, measurement
from netcalc.samples import TransactionSamples


def notices(finding):
    return {one.code: one.values for one in finding.notices}


def responses(times_s):
    count = len(times_s)
    return TransactionSamples(
        mode=["small"] * count, sequence=list(range(1, count + 1)), payload_bytes=[13.0] * count,
        response_s=times_s,
    )  # fmt: skip


def test_the_article_s_hundred_milliseconds():
    """Its numbers: 100 - 2 x 31 = 38 ms; theory 2 x 31 + 40 = 102 ms, and 31 with TCP_NODELAY."""
    found = {one.label: one for one in measurement(datasets.load("nagle_round_trips"))}
    held = found["Nagle on"]
    assert notices(held)["stall-arithmetic"] == pytest.approx(
        {"rtt_s": 0.031, "timer_s": 0.04, "trips": 2, "held_s": 0.102, "free_s": 0.031}
    )
    assert "100 ms - 2 x 31 ms = 38 ms, near a timer of 40 ms" in str(held)
    assert "2 x 31 ms + 40 ms = 102 ms" in str(held)
    assert "at least 31 ms otherwise" in str(held)
    assert "stall-arithmetic" not in notices(found["single write"])


@pytest.mark.each(
    ("times_s", "trips", "timer_s", "held_s"),
    [
        ([0.2101, 0.2102, 0.2103], 1, 0.2, 0.21),  # 210.2 - 10 = 200.2 ms
        ([0.2201, 0.2202, 0.2203], 2, 0.2, 0.22),  # 200.2 ms beyond two, 210.2 beyond one
        ([0.0501, 0.0502, 0.0503], 1, 0.04, 0.05),
        ([0.0601, 0.0602, 0.0603], 2, 0.04, 0.06),  # 60.2 - 10 is no timer, less 10 again is
    ],
)
def test_a_timer_of_40_or_200_ms(times_s, trips, timer_s, held_s):
    (found,) = measurement(responses(times_s), Known(rtt_s=0.01))
    assert notices(found)["stall-arithmetic"] == pytest.approx(
        {"rtt_s": 0.01, "timer_s": timer_s, "trips": trips, "held_s": held_s, "free_s": 0.01}
    )


def test_a_response_without_a_timer_has_no_such_arithmetic():
    (found,) = measurement(responses([0.08, 0.08]), Known(rtt_s=0.01))
    assert notices(found) == {}
    nothing = b"RTT:0 ,receive:a\nRTT:40 ,receive:a\nRTT:41 ,receive:a\n"
    (whole,) = measurement(readers.read(nothing))
    assert [one.name for one in whole.limits] == ["ack-timer"], "no part of 0 s"


@pytest.mark.each(
    ("wait_s", "timer_s", "held_s"), [(0.0435, 0.04, 0.044), (0.2, 0.2, 0.204), (0.07, None, None)]
)
def test_a_stall_in_a_capture(wait_s, timer_s, held_s):
    """By hand: 144 B with 11 waits of 43.5 ms and a round trip of 2 ms each: 2.302 kbit/s."""
    one = Evidence(
        rate_bps=8 * 144 / (11 * (wait_s + 0.002)), size_bytes=144, base_rtt_s=0.002,
        wait_count=11, wait_s=wait_s, is_from_start=True,
    )  # fmt: skip
    found = explain_evidence(one, Known())
    limit = next(one for one in found.limits if one.name.startswith("delayed-ack"))
    assert limit.value == pytest.approx(8 * 144 / (11 * (wait_s + 0.002)))
    assert f"8 x 144 B / (11 x ({wait_s * 1e3:g} ms + 1 x 2 ms))" in str(limit.arithmetic)
    said = notices(found).get("stall-arithmetic")
    if timer_s is None:
        assert said is None
    else:
        assert said == pytest.approx(
            {"rtt_s": 0.002, "timer_s": timer_s, "trips": 2, "held_s": held_s, "free_s": 0.002}
        )


def test_the_puzzle_of_the_stall_has_its_arithmetic():
    """Recorded with a round trip of 2 ms and Linux's 40 ms: 11 waits for 12 requests."""
    found = measurement(datasets.puzzle("stall").load(), Known(rtt_s=0.002))[0]
    said = notices(found)["stall-arithmetic"]
    assert said["held_s"] == pytest.approx(0.044)
    assert "2 x 2 ms + 40 ms = 44 ms" in str(found)


@pytest.mark.each(
    ("gap_s", "again", "count"),
    [(0.21, 1, 1), (0.215, 2, 1), (0.42, 1, 2), (0.84, 1, 3), (0.21, 0, None), (0.3, 3, None)],
)
def test_a_retransmission_timeout_in_a_capture(gap_s, again, count):
    """RFC 6298 as Linux has it: 10 + 200 ms, doubled each time: 210, 420, 840 ms."""
    one = Evidence(
        rate_bps=1e6, size_bytes=125_000, duration_s=1.0, base_rtt_s=0.01, gap_s=gap_s,
        retransmit_count=again, receive_window_bytes=1e6,
    )  # fmt: skip
    said = notices(explain_evidence(one, Known())).get("stall-of-timeout")
    if count is None:
        assert said is None
    else:
        factor = 2 ** (count - 1)
        assert said == pytest.approx(
            {"gap_s": gap_s, "rtt_s": 0.01, "least_s": 0.2, "rto_s": 0.21 * factor,
             "factor": factor}
        )  # fmt: skip
