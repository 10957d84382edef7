"""Parts of measured times: which rows count, where a bound lies, and every value, by hand."""

from __future__ import annotations

import math

import pytest

from netcalc.explain import Known, time_parts
from netcalc.samples import Meta, PathSamples, RttSamples, TransactionSamples

NAN = math.nan


def pings(rtt_s, *, size=56.0, **columns):
    sizes = columns.pop("sizes", [size] * len(rtt_s))
    return RttSamples(payload_bytes=sizes, rtt_s=rtt_s, **columns)


def explained(samples, **known):
    return time_parts.explain_round_trips(samples, Known(**known))


def parts(found):
    return {one.name: one.value for one in found.limits}


def codes(found):
    return [one.code for one in found.notices]


def test_each_group_counts_its_own_rows():
    """By hand: 10 and 30 ms, 20 ms apart; 100 and 500 ms between them are of another target."""
    samples = pings([0.01, 0.1, 0.03, 0.5], group=["a", "b", "a", "b"])
    one, two = explained(samples)
    assert (one.label, one.unit, two.label) == ("a", "s", "b")
    assert (one.measured, two.measured) == (pytest.approx(0.02), pytest.approx(0.3))
    assert one.metrics["ipdv_max_s"] == pytest.approx(0.02)
    assert two.metrics["ipdv_max_s"] == pytest.approx(0.4)
    assert parts(one) == pytest.approx({"queue-above-least": 0.01, "distance": 0.01})


def test_groups_without_a_time_are_left_out():
    samples = pings([0.01, NAN], group=["a", "b"], lost=[False, True])
    assert [one.label for one in explained(samples)] == ["a"]
    lost_first = pings([NAN, 0.01], group=["b", "a"], lost=[True, False])
    assert [one.label for one in explained(lost_first)] == ["a"]


def test_a_duplicate_is_no_neighbour_and_a_lost_probe_is_a_gap():
    twice = explained(pings([0.01, 0.5, 0.03], duplicate=[False, True, False]))[0]
    assert twice.measured == pytest.approx(0.02)
    assert twice.metrics["ipdv_max_s"] == pytest.approx(0.02)
    lost = explained(pings([0.01, NAN, 0.03], lost=[False, True, False]))[0]
    assert "ipdv_max_s" not in lost.metrics
    assert lost.metrics["jitter_s"] == pytest.approx(0.02 / 16)


def test_of_several_sizes_the_largest_is_explained():
    """By hand: 10 ms and 16 us a byte of one line at 1 Mbit/s, both ways, with 66 B of headers.

    The times at 0 and 1000 B are 11.056 and 27.056 ms; one probe of each waits 2 ms.
    """
    times = [0.011056, 0.027056, 0.013056, 0.027056, 0.011056, 0.029056]
    sizes = [0.0, 1000.0] * 3
    (found,) = explained(pings(times, sizes=sizes))
    assert found.measured == pytest.approx(0.027056)
    assert parts(found) == pytest.approx({"serialization-of-sizes": 0.017056, "distance": 0.01})
    assert found.limits[0].values == pytest.approx({"wire_bytes": 1066, "line_bps": 1e6})
    said = {one.code: one.values for one in found.notices}
    assert said["largest-size-explained"] == {"size_bytes": 1000.0, "count": 2}
    # neighbours of one size only: 27.056, 27.056, 29.056 ms
    assert found.metrics["ipdv_max_s"] == pytest.approx(0.002)


def test_times_that_do_not_rise_with_size_have_no_serialization():
    """By hand: 20 and 10 ms; and 10, 20, 10 ms, whose line does not rise beyond its error."""
    (falling,) = explained(pings([0.02, 0.01], sizes=[100.0, 200.0]))
    assert parts(falling) == pytest.approx({"distance": 0.01})
    (flat,) = explained(pings([0.01, 0.02, 0.010001], sizes=[0.0, 1.0, 2.0]))
    assert "serialization-of-sizes" not in parts(flat)
    (stated,) = explained(pings([0.01, 0.02], sizes=[100.0, 200.0]), line_bps=1e6)
    assert "serialization" in parts(stated)


@pytest.mark.each(("step_s", "is_coarse"), [(0.25, True), (0.24, False), (0.3, True), (NAN, False)])
def test_a_clock_of_half_the_time_is_too_coarse(step_s, is_coarse):
    found = explained(pings([0.5, 0.5, 0.5], resolution_s=[NAN, step_s, 0.001]), line_bps=1e6)[0]
    assert ("clock" in parts(found)) is is_coarse
    if is_coarse:
        assert (parts(found), found.limits[0].values) == ({"clock": 0.5}, {"step_s": step_s})
        assert found.limits[0].tolerance_ratio == 0.2


def test_the_95th_of_a_hundred():
    """By hand: rank 94.05 of 0 to 99, a twentieth of the way from the 95th to the 96th.

    A queue that grows with the fourth power: 94 ** 4 is 78074896, 95 ** 4 is 81450625; between
    49 ** 4 = 5764801 and 50 ** 4 = 6250000 the middle is 6007400.5.
    """
    found = explained(pings([0.01 + 1e-8 * at**4 for at in range(100)]))[0]
    slow_s = 0.01 + 1e-8 * (78074896 + 0.05 * (81450625 - 78074896))
    assert found.measured == pytest.approx(slow_s)
    said = {one.code: one.values for one in found.notices}
    assert said["slowest-explained"] == pytest.approx(
        {"median_s": 0.01 + 1e-8 * 6007400.5, "slow_s": slow_s}
    )
    assert parts(found) == pytest.approx({"queue-above-least": slow_s - 0.01, "distance": 0.01})
    assert (found.cause.code, found.cause.variant) == ("line", "growth")


def test_what_is_just_not_far_slower():
    """By hand: just three times, of numbers that a computer has exactly; just 20 ms more."""
    times = pings([0.125] * 8 + [0.375])
    assert (explained(times)[0].measured, codes(explained(times)[0])) == (0.125, [])
    more = pings([0.125] * 8 + [0.376])
    assert explained(more)[0].measured == 0.376
    differ = pings([0.0] * 8 + [0.02])
    assert codes(explained(differ)[0]) == []
    assert codes(explained(pings([0.0] * 8 + [0.0201]))[0]) == ["slowest-alone-explained"]


def test_the_parts_of_a_round_trip_with_their_values():
    """By hand: 100 + 8 B of ICMP, 20 of IP and 38 on the wire: 166 B; twice over 1 Mbit/s."""
    found = explained(
        pings([0.05] * 5, sizes=[100.0, NAN, *[100.0] * 3]), rtt_s=0.02, line_bps=1e6
    )[0]
    assert parts(found) == pytest.approx(
        {"queue": 0.03, "distance": 0.02 - 2 * 1328e-6, "serialization": 2 * 1328e-6}
    )
    assert [one.name for one in found.limits] == ["queue", "distance", "serialization"]
    values = {one.name: one.values for one in found.limits}
    assert values == {
        "queue": {"base_rtt_s": 0.02, "measured_s": 0.05},
        "serialization": {"wire_bytes": 166.0, "line_bps": 1e6},
        "distance": {"base_rtt_s": pytest.approx(0.02 - 2 * 1328e-6)},
    }
    assert {(one.unit, one.tolerance_ratio) for one in found.limits} == {("s", 0.5)}, "five answers"
    assert codes(found) == ["queue-behind-line"], "30 ms above the stated round trip"
    assert found.missing == ()
    half = explained(pings([0.05] * 3, size=100.0), rtt_s=0.02, line_bps=1e6, mtu_bytes=84)[0]
    # 84 - 20 = 64 B of fragments: 64 and 44 B of 108; 122 and 102 B on the wire
    assert parts(half)["serialization"] == pytest.approx(2 * 8 * 224e-6)


def test_parts_that_take_no_time_are_left_out():
    assert parts(explained(pings([0.05] * 3))[0]) == {"distance": 0.05}
    assert parts(explained(pings([0.05] * 3), rtt_s=0.05)[0]) == {"distance": 0.05}
    assert parts(explained(pings([0.05] * 3), rtt_s=0.09)[0]) == {"distance": 0.05}, "at the most"
    slow = explained(pings([0.05] * 3, size=100.0), line_bps=1e3)[0]
    assert parts(slow) == {"serialization": 0.05}, "no more than the round trip"
    unsized = explained(pings([0.05] * 3, size=NAN), line_bps=1e6)[0]
    assert parts(unsized) == {"distance": 0.05}


def test_probes_that_fill_a_packet_are_not_cut():
    for size, mtu, count in ((1472.0, 1500, 0), (1473.0, 1500, 2), (72.0, 100, 0), (73.0, 100, 2)):
        known = {} if mtu == 1500 else {"mtu_bytes": mtu}
        found = explained(pings([0.05] * 5, size=size), **known)[0]
        said = {one.code: one.values for one in found.notices}
        wanted = {"count": count, "mtu_bytes": mtu, "size_bytes": size}
        assert said == ({"probes-in-fragments": wanted} if count else {})


def test_the_largest_probe_of_ipv6_is_explained():
    """Its 65,535 bytes of ICMPv6 are 20 more than IPv4 carries, 65,515 in pieces of 1,480."""
    found = explained(pings([0.05] * 5, size=65_527.0), line_bps=1e9)[0]
    said = {one.code: one.values for one in found.notices}
    assert said["probes-in-fragments"] == {"count": 45, "mtu_bytes": 1500, "size_bytes": 65_527.0}


def test_delays_behind_a_line():
    """By hand: of 10 and 30 ms the slowest is 20 ms above the least: 2500 B at 1 Mbit/s.

    Of 10, 11, ... 30 ms the 95th percentile is rank 19 of 0 to 20: 29 ms, 2375 B.
    """
    for times, within, delay_s, size_bytes in (
        ([0.01, 0.03], 1.0, 0.02, 2500.0),
        ([0.01 + 0.001 * (8 * at % 21) for at in range(21)], 0.95, 0.019, 2375.0),
    ):
        found = explained(pings(times), line_bps=1e6)[0]
        said = {one.code: one.values for one in found.notices}
        assert said["queue-behind-line"] == pytest.approx(
            {"within_ratio": within, "delay_s": delay_s, "queue_bytes": size_bytes}
        )


def exchanges(*rows):
    """Return exchanges of (mode, response) rows; nan is none."""
    modes, times = zip(*rows, strict=True)
    return TransactionSamples(
        mode=modes, sequence=range(1, len(rows) + 1), payload_bytes=[9.0] * len(rows),
        response_s=times, failed=[math.isnan(one) for one in times],
    )  # fmt: skip


def test_each_mode_has_its_own_median():
    """By hand: the fastest of all, 10 ms, is the round trip where none is stated."""
    samples = exchanges(("a", 0.01), ("b", NAN), ("a", 0.03), ("c", 0.025), ("c", NAN))
    found = time_parts.explain_transactions(samples, Known())
    assert [(one.label, one.unit) for one in found] == [("a", "s"), ("c", "s")]
    assert [one.measured for one in found] == pytest.approx([0.02, 0.025])
    assert parts(found[1]) == pytest.approx({"host": 0.015, "round-trips": 0.01})
    assert found[0].metrics["ipdv_max_s"] == pytest.approx(0.02)
    assert [one.code for one in found[0].missing] == ["ask-rtt"]
    assert time_parts.explain_transactions(exchanges(("a", NAN)), Known()) == ()


def response(measured, rtt):
    (found,) = time_parts.explain_transactions(exchanges(("a", measured)), Known(rtt_s=rtt))
    assert found.missing == ()
    return found.limits


def test_the_parts_of_a_response_with_their_values():
    timer, trips = response(0.045, 0.005)
    assert (timer.name, timer.value) == ("ack-timer", pytest.approx(0.04))
    assert timer.values == pytest.approx(
        {"wait_s": 0.04, "timer_s": 0.04, "count": 1, "rtt_s": 0.005, "measured_s": 0.045}
    )
    assert (trips.name, trips.values) == ("round-trips", {"count": 1, "rtt_s": 0.005})
    assert {(one.unit, one.tolerance_ratio) for one in (timer, trips)} == {("s", 0.2)}
    # 220 ms are two round trips of 60 ms and a timer of 100 ms: 160 ms are near none
    trips, timer = response(0.22, 0.06)
    assert (trips.value, trips.values) == (pytest.approx(0.12), {"count": 2, "rtt_s": 0.06})
    assert timer.values == pytest.approx(
        {"wait_s": 0.1, "timer_s": 0.1, "count": 2, "rtt_s": 0.06, "measured_s": 0.22}
    )
    host = response(0.03, 0.01)[0]
    assert (host.name, host.value) == ("host", pytest.approx(0.02))
    assert host.values == pytest.approx(
        {"wait_s": 0.02, "timer_s": NAN, "count": 1, "rtt_s": 0.01, "measured_s": 0.03}, nan_ok=True
    )
    assert [one.name for one in response(0.01, 0.01)] == ["round-trips"]
    assert [(one.name, one.value) for one in response(0.01, 0.05)] == [("round-trips", 0.01)]


@pytest.mark.each(
    ("wait_s", "timer_s"),
    [(0.0341, 0.04), (0.0339, NAN), (0.0459, 0.04), (0.0461, NAN), (0.2, 0.2), (0.5, 0.5),
     (0.09, 0.1), (0.3, NAN)],
)  # fmt: skip
def test_a_timer_is_recognized_within_fifteen_percent(wait_s, timer_s):
    waited = next(one for one in response(wait_s + 1e-6, 1e-6) if one.name != "round-trips")
    assert waited.values["timer_s"] == pytest.approx(timer_s, nan_ok=True)
    assert waited.name == ("host" if math.isnan(timer_s) else "ack-timer")


def test_the_hops_of_each_target():
    """By hand: 1, 3 and 3 ms: the third adds nothing; of the other target nothing answered."""
    samples = PathSamples(
        hop=[1, 2, 3, 1], rtt_s=[0.001, 0.003, 0.003, NAN], node=["a", "b", "c", "x"],
        group=["t", "t", "t", "u"], lost=[False, False, False, True],
    )  # fmt: skip
    (found,) = time_parts.explain_paths(samples)
    assert (found.label, found.unit, found.measured) == ("t", "s", 0.003)
    assert [(one.values, one.value) for one in found.limits] == [
        ({"hop": 2, "node": "b", "added_s": pytest.approx(0.002)}, pytest.approx(0.002)),
        ({"hop": 1, "node": "a", "added_s": 0.001}, 0.001),
    ]
    assert {(one.unit, one.tolerance_ratio) for one in found.limits} == {("s", 0.2)}
    assert found.notices == ()
    first_lost = PathSamples(
        hop=[1, 1], rtt_s=[NAN, 0.002], node=["x", "a"], group=["u", "t"], lost=[True, False]
    )
    assert [one.label for one in time_parts.explain_paths(first_lost)] == ["t"]


def test_a_hop_without_a_name():
    samples = PathSamples(hop=[1], rtt_s=[0.001], node=[""], lost=[False])
    assert time_parts.explain_paths(samples)[0].limits[0].values["node"] == ""


def test_sizes_in_turns_are_no_jitter():
    """Derived: 10 ms and 100 ms without scatter differ once, where one size follows the other."""
    turns = TransactionSamples(
        mode=["udp"] * 40,
        sequence=list(range(1, 41)),
        payload_bytes=[100, 1000] * 20,
        response_s=[0.01, 0.1] * 20,
    )
    (found,) = time_parts.explain_transactions(turns, Known())
    assert found.metrics["ipdv_mean_s"] == pytest.approx(0.09 / 39)


def test_messages_beyond_a_datagram_are_no_probes_in_fragments():
    """By hand: 20 ms, 72 ms for 900 kB; segments of 1460 B are 78 B longer on Ethernet."""
    sizes = [1000.0, 10_000.0, 100_000.0, 900_000.0]
    samples = pings([0.02 + 8e-8 * size for size in sizes], sizes=sizes)
    (found,) = time_parts.explain_round_trips(samples, Known())
    shares = {limit.name: limit.value for limit in found.limits}
    assert shares["serialization-of-sizes"] == pytest.approx(0.072)
    assert "probes-in-fragments" not in {notice.code for notice in found.notices}
    (stated,) = time_parts.explain_round_trips(samples, Known(line_bps=1e9))
    (wire,) = [
        limit.values["wire_bytes"] for limit in stated.limits if "wire_bytes" in limit.values
    ]
    assert wire == pytest.approx(900_000 + 900_000 / 1460 * 78)


@pytest.mark.parametrize(("second_s", "is_said"), [(0.09, True), (0.0005, False)])
def test_runs_of_two_paths_are_no_queue_for_sure(second_s, is_said):
    """By hand: three answers at 0.4 ms and three from 90 ms, or from 0.5 ms, of one target."""
    times = [0.0004, 0.0004, 0.0004, second_s, 0.09, 0.095]
    facts = ({"rtt_min_s": 0.0004}, {"rtt_min_s": second_s})
    samples = pings(times, meta=Meta(tool="ping", target="192.0.2.1", facts=facts))
    (finding,) = time_parts.explain_round_trips(samples, Known())
    assert ("runs-apart" in {notice.code for notice in finding.notices}) == is_said
    if is_said:
        assert finding.confidence == "low"
