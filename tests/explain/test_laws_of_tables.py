"""Tables of a delay against load, of a loss against offered rate, of a round trip against distance.

The rows are computed from textbook formulas here; what is found is compared with their parameters.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc import readers
from netcalc.cli import commands
from netcalc.errors import ReaderError
from netcalc.explain import Known, measurement, table_theory

LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)


def table(head, xs, ys):
    return readers.read(
        head + "\n" + "".join(f"{x},{y:.6g}\n" for x, y in zip(xs, ys, strict=True))
    )


def explained(head, xs, ys):
    (finding,) = measurement(table(head, xs, ys), Known())
    return finding.cause


def of_load(second, *, service=2.0, head="load [ratio],delay [ms]", loads=LOADS, fixed=0.0):
    """A delay of ``fixed + service + second x service x load / (1 - load)``."""
    ys = [fixed + service * (1 + second * load / (1 - load)) for load in loads]
    return explained(head, loads, ys)


@pytest.mark.parametrize(
    ("second", "variant"),
    # Kleinrock: the wait is (1 + c^2) / 2 service x load / (1 - load); c^2 is 1, 0, 0.5 and 3 here.
    [(1.0, "load-mm1"), (0.5, "load-md1"), (0.75, "load-between"), (2.0, "load-bursts")],
)
def test_a_queue_is_known_by_what_the_load_adds(second, variant):
    cause = of_load(second)
    assert (cause.code, cause.variant) == ("line", variant)
    assert cause.sign("fixed_s") == pytest.approx(2e-3, rel=1e-3)
    assert cause.sign("shape_ratio") == pytest.approx(second, rel=1e-3)
    assert cause.confidence == "medium"


def test_a_path_before_the_queue_is_not_taken_for_service():
    """10 ms of path and an M/D/1 of 2 ms: a slope of 1 ms over 12 ms fixed."""
    cause = of_load(0.5, fixed=10.0)
    assert cause.variant == "load-steadier"
    assert cause.sign("slope_s") == pytest.approx(1e-3, rel=1e-3)
    assert cause.sign("fixed_s") == pytest.approx(12e-3, rel=1e-3)


def test_a_wait_has_no_fixed_part():
    waits = [6 * load / (1 - load) for load in LOADS]
    cause = explained("utilization [ratio],wait [us]", LOADS, waits)
    assert cause.variant == "load-wait"
    assert cause.sign("slope_s") == pytest.approx(6e-6, rel=1e-4)
    assert cause.sign("double_s") == pytest.approx(12e-6, rel=1e-4)


def simulated_delays(servers, service, loads, *, tables=100, packets=2000):
    """Mean delays of packets of a queue by its recursion: the first free server serves the next."""
    random = np.random.default_rng(7)
    load = np.tile(loads, tables)
    rows, free = np.arange(load.size), np.zeros((load.size, servers))
    arrival, total = np.zeros(load.size), np.zeros(load.size)
    for packet in range(packets):
        arrival += random.exponential(1 / (load * servers))
        server = free.argmin(axis=1)
        end = np.maximum(arrival, free[rows, server]) + service(random, load.size)
        free[rows, server] = end
        total += (end - arrival) * (packet >= packets // 10)
    return total.reshape(tables, -1) / (packets - packets // 10)


def exponential(random, count):
    return random.exponential(1.0, count)


@pytest.mark.parametrize(
    ("servers", "service", "true"),
    [
        (1, exponential, {"load-mm1", "load-either"}),
        (1, lambda random, count: 1.0, {"load-md1", "load-either"}),
        (2, exponential, {"load-md1", "load-steadier", "load-either"}),
        pytest.param(
            4, exponential, {"load-md1", "load-steadier", "load-either"}, marks=pytest.mark.slow
        ),
    ],
)
def test_simulated_queues_are_seldom_called_another_for_sure(servers, service, true):
    """The sentences of M/D/1, of a slower growth and of either name several servers, too."""
    loads = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
    wrong = 0
    for delays in simulated_delays(servers, service, loads):
        cause = explained("load [ratio],delay [ms]", loads, delays)
        wrong += cause.confidence == "medium" and cause.variant not in true
        if servers > 1 and cause.variant in true:
            assert "several servers" in str(cause.said)
    assert wrong <= 5


@pytest.mark.slow
def test_with_noise_the_interval_holds_the_service():
    """Scatter of 3 % in each row, 200 tables: the 95 % interval misses the service in few."""
    random, inside, named = np.random.default_rng(5), 0, 0
    delays = np.array([1 / (1 - load) for load in LOADS])
    for _ in range(200):
        noisy = delays * random.normal(1, 0.03, delays.size)
        cause = explained("load [ratio],delay [ms]", LOADS, noisy)
        sign = next(each for each in cause.signs if each.name == "fixed_s")
        inside += sign.low <= 1e-3 <= sign.high
        named += cause.variant in ("load-mm1", "load-either")
    assert inside >= 176, "95 % of 200 less four standard deviations"
    assert named >= 176


@pytest.mark.parametrize(
    ("loads", "delays", "variant"),
    [
        ((0.05, 0.1, 0.2), (1.05, 1.1, 1.25), "load-narrow"),
        ((0.5, 0.9), (2.0, 10.0), "load-narrow"),
        ((0.5, 0.9, 1.0), (2.0, 10.0, 400.0), "load-full"),
        ((0.1, 0.5, 0.7, 0.9), (8.0, 3.0, 9.0, 1.0), "load-scatter"),
    ],
)
def test_loads_that_show_no_queue_say_why(loads, delays, variant):
    cause = explained("load [ratio],delay [ms]", loads, delays)
    assert (cause.code, cause.variant) == ("unknown", variant)


def test_what_exceeds_a_rate_is_lost():
    """A line of 96 Mbit/s: the loss is 1 - 96 / offered."""
    rates = (50, 90, 100, 120, 150, 200)
    losses = [max(0.0, 1 - 96 / rate) * 100 for rate in rates]
    cause = explained("offered [Mbit/s],loss [%]", rates, losses)
    assert (cause.code, cause.variant) == ("line", "offer")
    assert cause.sign("capacity_bps") == pytest.approx(96e6, rel=1e-4)
    assert cause.sign("law_count") == 4


def test_the_same_share_is_lost_at_any_rate():
    cause = explained("offered [Mbit/s],loss [%]", (10, 20, 50, 90), (2.0, 2.1, 1.9, 2.0))
    assert (cause.code, cause.variant) == ("random-loss", "offer-flat")
    assert cause.sign("loss_ratio") == pytest.approx(0.02, rel=0.01)


def test_a_device_that_does_less_the_more_is_offered():
    """Of 100, 200 and 400 Mbit/s arrive 80, 60 and 20."""
    cause = explained("offered [Mbit/s],loss [%]", (50, 100, 200, 400), (0, 20, 70, 95))
    assert (cause.code, cause.variant) == ("packet-rate", "offer-collapse")
    assert cause.sign("most_bps") == pytest.approx(80e6)
    assert cause.sign("least_bps") == pytest.approx(20e6)


@pytest.mark.parametrize(
    ("rates", "losses", "variant"),
    [
        ((10, 50, 90), (0, 0, 0.5), "offer-none"),
        ((90, 95, 100), (2, 2, 2.1), "offer-narrow"),
        ((10, 50, 90, 200), (30, 0, 20, 1), "offer-scatter"),
    ],
)
def test_losses_that_show_no_limit_say_why(rates, losses, variant):
    cause = explained("offered [Mbit/s],loss [%]", rates, losses)
    assert (cause.code, cause.variant) == ("unknown", variant)


def test_a_round_trip_grows_with_the_distance():
    """1.2 times the distance in fibre of index 1.468, both ways, and 0.5 ms in the hosts."""
    ways = (100, 500, 1000, 5000)
    trips = [0.5 + 2 * 1.2 * way * 1e3 * 1.468 / 299792458 * 1e3 for way in ways]
    cause = explained("distance [km],rtt [ms]", ways, trips)
    assert (cause.code, cause.variant) == ("distance", "rows")
    assert cause.sign("stretch_ratio") == pytest.approx(1.2, rel=1e-3)
    assert cause.sign("fixed_s") == pytest.approx(0.5e-3, rel=0.01)


def test_faster_than_light_is_a_mistake():
    ways = (100, 500, 1000, 5000)
    cause = explained("distance [km],rtt [ms]", ways, [0.001 * way for way in ways])
    assert (cause.code, cause.variant) == ("unknown", "distance-impossible")


@pytest.mark.parametrize(
    ("law", "variant"),
    [
        (lambda ranks: 2 + 8 * math.log2(ranks), "ranks-doubling"),
        (lambda ranks: 2 + 8 * (ranks - 1), "ranks-each"),
        (lambda ranks: 1 + 80 * (ranks - 1) / ranks, "ranks-ring"),
    ],
)
def test_what_each_rank_adds(law, variant):
    """Thakur, Rabenseifner and Gropp 2005: log2 p, p - 1 and (p - 1) / p are the three factors."""
    ranks = (2, 4, 8, 16, 32)
    cause = explained("ranks,time [us]", ranks, [law(count) for count in ranks])
    assert cause.variant == variant
    assert cause.sign("slope_s") == pytest.approx(80e-6 if variant == "ranks-ring" else 8e-6)


def test_too_few_ranks_say_so():
    assert explained("ranks,time [us]", (2, 4), (10, 20)).variant == "ranks-narrow"
    assert explained("ranks,time [us]", (2, 4, 8, 16), (90, 10, 80, 5)).variant == "ranks-scatter"


@pytest.mark.each(
    ("text", "serial_ratio"),
    [
        ("nodes,time [s]\n1,100\n2,50\n4,25\n8,12.5\n", None),
        ("nodes,time [s]\n2,50\n4,25\n8,12.5\n", None),
        # by hand: 5 + 95 / n of 1, 2, 4, 8 and 16
        ("ranks,time [s]\n1,100\n2,52.5\n4,28.75\n8,16.875\n16,10.9375\n", 0.05),
    ],
)
def test_work_that_ranks_share(text, serial_ratio):
    (finding,) = measurement(readers.read(text.encode()), Known())
    assert "rows-left-out" not in {notice.code for notice in finding.notices}
    cause = finding.cause
    if serial_ratio is None:
        assert cause.variant == "ranks-shared-all"
        assert cause.sign("slope_s") == pytest.approx(100)
    else:
        assert cause.variant == "ranks-shared"
        assert cause.sign("serial_ratio") == pytest.approx(serial_ratio)
        assert cause.sign("most_gain") == pytest.approx(1 / serial_ratio)


def test_less_than_a_quarter_is_no_speed_up():
    """By hand: 80 + 20 / n, at most 100 and at least 81.25."""
    ranks = (2, 4, 8, 16)
    assert explained("ranks,time [s]", ranks, (90, 85, 82.5, 81.25)).variant == "ranks-flat"


def test_a_single_rank_is_no_row_of_a_collective():
    """2 us + 8 us x log2(ranks) from 2 on; a rank alone takes what it takes."""
    text = "ranks,time [us]\n1,0.4\n2,10\n4,18\n8,26\n16,34\n"
    (finding,) = measurement(readers.read(text.encode()), Known())
    assert finding.cause.variant == "ranks-doubling"
    assert finding.cause.sign("row_count") == 4
    assert {n.code: n.values["count"] for n in finding.notices} == {"rows-left-out": 1}


def test_round_trips_that_grow_on_no_line():
    """By hand: 9.1 ms over 2 x 480 km x 4.897 us/km are 1.94, and so on."""
    ways, times = (480, 1400, 6200, 9300, 16600), (9.1, 24, 78, 230, 290)
    (finding,) = measurement(table("distance [km],rtt [ms]", ways, times), Known())
    assert finding.cause.variant == "distance-growing"
    (stretches,) = [n.values["stretches"] for n in finding.notices if n.code != "rows-left-out"]
    assert stretches == pytest.approx([1.94, 1.75, 1.28, 2.53, 1.78], abs=0.01)
    mixed = explained("distance [km],rtt [ms]", ways, (290, 24, 230, 100, 290))
    assert mixed.variant == "distance-scatter"


CUBIC_C, CUBIC_BETA = 0.4, 0.7


def cubic_mbps(loss, rtt):
    """RFC 9438, 5.1, in segments of 1448 B; its floor is that of Reno (square root of 1.5)."""
    raw = (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))) ** 0.25 * (rtt / loss) ** 0.75
    return 8 * 1448 * max(raw, math.sqrt(1.5 / loss)) / rtt / 1e6


def tfrc_mbps(loss, rtt):
    """RFC 5348, 3.1, with b = 1 and timeouts of four round trips."""
    root = math.sqrt(2 * loss / 3)
    timeouts = 4 * 3 * math.sqrt(3 * loss / 8) * loss * (1 + 32 * loss**2)
    return 8 * 1448 / rtt / (root + timeouts) / 1e6


@pytest.mark.parametrize(
    ("law", "losses", "rtt", "variant"),
    [
        (cubic_mbps, (1e-5, 1e-4, 3e-4, 1e-3), 0.1, "by-loss-cubic"),
        (tfrc_mbps, (1e-3, 5e-3, 0.01, 0.03, 0.05, 0.1), 0.05, "by-loss-pftk"),
        (lambda loss, rtt: 8 * 1448 * math.sqrt(1.5 / loss) / rtt / 1e6,
         (1e-4, 1e-3, 5e-3, 0.01), 0.03, "by-loss"),
    ],
)  # fmt: skip
def test_which_sender_a_curve_of_losses_is_of(law, losses, rtt, variant):
    rates = [law(loss, rtt) for loss in losses]
    head = "loss [ratio],throughput [Mbit/s]"
    whole, *_ = measurement(table(head, losses, rates), Known())
    assert (whole.cause.code, whole.cause.variant) == ("random-loss", variant)
    assert whole.cause.sign("fitted_rtt_s") == pytest.approx(rtt, rel=0.02)


def test_a_law_is_drawn_with_its_band_and_what_is_left():
    delays = [1.03, 1.4, 2.05, 3.4, 4.9, 10.1]
    theory = table_theory(table("load [ratio],delay [ms]", LOADS, delays), Known())
    label, curve = theory.predictions["measured"]
    low, high = theory.bands["measured"]
    assert label == "M/M/1"
    assert np.all((low < curve) & (curve < high))
    assert np.interp(0.5, theory.x, curve) == pytest.approx(2.0e-3, rel=0.05)


def test_the_prediction_of_several_ceilings_is_the_lowest():
    """20 flows of 10 Mbit/s on 100 Mbit/s: until ten of them each has its own, then all share."""
    flows = (1, 2, 5, 10, 20)
    rates = [min(10.0 * count, 100.0) for count in flows]
    theory = table_theory(table("flows,throughput [Mbit/s]", flows, rates), Known())
    _, curve = theory.predictions["measured"]
    assert np.interp(flows, theory.x, curve) == pytest.approx([1e6 * rate for rate in rates])


def test_columns_without_a_theory_are_named_with_those_that_have_one():
    samples = table("temperature [1],time [us]", (2, 4, 8), (10, 20, 30))
    with pytest.raises(ReaderError) as refused:
        measurement(samples, Known())
    assert refused.value.code == "columns-not-recognized"
    assert "the meaning of the columns 'temperature' is not recognized" in str(refused.value)
    assert "time against a size, a load, a distance or a number of ranks" in str(refused.value)


def test_columns_that_are_recognized_and_joined_by_no_theory_are_named():
    with pytest.raises(ReaderError, match="no theory is known that joins"):
        measurement(table("window [KiB],loss [%]", (8, 16, 32), (1, 2, 3)), Known())


@pytest.mark.parametrize("head", ["load [Mbit/s],loss [%]", "Last (Mbit/s),Paketverlust (%)"])
def test_a_load_in_bits_a_second_is_an_offered_rate(head):
    """Of 96 Mbit/s that pass, 100, 120 and 150 lose 4%, 20% and 36%."""
    cause = explained(head, (50, 90, 100, 120, 150), (0, 0, 4, 20, 36))
    assert cause.variant == "offer"
    assert cause.sign("capacity_bps") == pytest.approx(96e6)


LOADED = "10,1.1111\n50,2\n80,5\n90,10\n95,20\n"


@pytest.mark.parametrize("line_bps", [100e6, None])
@pytest.mark.parametrize("head", ["Offered load (Mbit/s),Latency (ms)", "Load (Mbit/s),Delay (ms)"])
def test_an_offered_rate_with_a_delay_is_the_load_of_a_queue(head, line_bps):
    """Each delay is 1 ms / (1 - load / 100 Mbit/s)."""
    rows = readers.read(f"{head}\n{LOADED}")
    (finding,) = measurement(rows, Known(line_bps=line_bps))
    assert finding.cause.variant == "load-mm1"
    assert finding.cause.sign("fixed_s") == pytest.approx(1e-3, rel=0.01)
    (said,) = [notice for notice in finding.notices if notice.code.startswith("load-of")]
    assert said.values["capacity_bps"] == pytest.approx(100e6, rel=1e-3)
    (curve,) = table_theory(rows, Known(line_bps=line_bps)).laws["measured"].values()
    assert max(curve) == pytest.approx(20e-3, rel=0.01)


def test_an_offered_load_in_percent_is_a_load():
    rows = readers.read(f"offered load [%],latency [us]\n{LOADED}")
    assert measurement(rows, Known())[0].cause.variant == "load-mm1"


def test_a_total_that_falls_is_no_share_of_a_single_transfer():
    """40.5 Mbit/s of 16 would be 648 Mbit/s, not 94.1."""
    rows = readers.read("flows,total Mbit/s\n1,94.1\n2,94.3\n4,90.1\n8,61.2\n16,40.5\n")
    (finding,) = measurement(rows, Known())
    assert (finding.cause.code, finding.cause.variant) == ("unknown", "total-falls")


def test_rates_per_flow_are_shares_of_what_all_reach():
    """2 x 47.1 = 94.2 and 4 x 23.5 = 94 Mbit/s."""
    head = "flows;Gesamtdurchsatz (Mbit/s);pro Fluss (Mbit/s)\n"
    rows = readers.read(head + "1;94;94\n2;94,2;47,1\n4;93,8;23,5\n")
    each = [one for one in measurement(rows, Known()) if one.label.startswith("pro Fluss")]
    assert [one.measured for one in each] == pytest.approx([94e6, 94.2e6, 94e6])
    assert {one.binding.name for one in each} == {"saturation"}


def test_each_row_of_windows_and_round_trips_is_a_window_in_a_round_trip():
    """128 KiB x 8 / 20 ms is 52.43 Mbit/s; a line of 100 Mbit/s is below 104.9 of the last row."""
    rows = "64,10,52\n64,20,26\n64,50,10.5\n128,20,52\n128,50,21\n128,10,94\n"
    samples = readers.read("window (KiB),RTT (ms),throughput (Mbit/s)\n" + rows)
    *windows, line = measurement(samples, Known(line_bps=100e6))
    assert [one.binding.name for one in (*windows, line)] == ["window"] * 5 + ["line"]
    assert windows[3].binding.value == pytest.approx(52.4288e6)


def test_a_window_in_packets_is_one_of_segments():
    """10 x 1448 B x 8 / 5.8 Mbit/s is 19.97 ms."""
    rows = "10,20,5.8\n20,20,11.6\n40,20,23.2\n"
    whole = measurement(readers.read("cwnd [packets],rtt [ms],rate [Mbit/s]\n" + rows), Known())[0]
    assert whole.cause.sign("fitted_rtt_s") == pytest.approx(19.97e-3, rel=1e-3)
    codes = {notice.code for notice in whole.notices}
    assert {"fitted-trip-agrees", "window-of-packets"} <= codes


def test_no_rate_is_limited_by_a_window_that_it_exceeds():
    """512 KiB in 50 ms are 84 Mbit/s: 94 is 112% of it."""
    rows = "64,10.5,50\n128,21,50\n256,41.9,50\n512,94,50\n"
    samples = readers.read("window [KiB],rate [Mbit/s],rtt [ms]\n" + rows)
    _, *others, last = measurement(samples, Known())
    assert all(one.is_explained for one in others)
    assert not last.is_explained
    assert "more was measured" in last.sentence


def test_the_next_limit_is_not_below_the_one_that_binds():
    """1.61 MB in 15 ms are 860 Mbit/s, less than the 880 that were measured."""
    samples = readers.read("RTT ms,Mbit/s\n1.5,900\n15,880\n150,85\n300,43\n")
    (row,) = [one for one in measurement(samples, Known()) if one.label == "15 ms"]
    assert "next limit" not in row.sentence


def test_a_one_way_delay_grows_by_one_way_of_fibre():
    """5 us for each km is 200,000 km/s, 2.998/2 = 1.499 of vacuum; netcalc's fibre has 1.468."""
    cause = explained("distance [km],one-way delay [ms]", (100, 1000, 5000), (0.5, 5, 25))
    assert cause.sign("per_1000_km_s") == pytest.approx(5e-3)
    assert cause.sign("stretch_ratio") == pytest.approx(1.499 / 1.468, rel=1e-3)


def test_packets_a_second_of_packet_sizes_are_those_of_frames():
    """64, 512 and 1518 B with 20 B of preamble and gap: 1 Gbit/s / (8 x 84) is 1,488,095."""
    rows = table("packet size (bytes),pps", (64, 512, 1518), (1488095, 234962, 81274))
    assert {finding.binding.name for finding in measurement(rows, Known())} == {"implied-line"}
    slow = table("packet size (bytes),pps", (64, 512, 1024), (90e3, 90e3, 90e3))
    assert "sizes-of-frames" in {said.code for said in measurement(slow, Known())[0].notices}


def test_the_header_of_mtr_as_columns_is_a_report_of_hops():
    """9.1 - 1.2 = 7.9 ms of 11.8 ms begin at the second hop."""
    rows = "Hop,Loss%,Avg (ms)\n1,0.0,1.2\n2,60,9.1\n3,0,10.2\n4,0,11.8\n"
    (finding,) = measurement(readers.read(rows), Known())
    assert finding.limits[0].value == pytest.approx(7.9e-3)


@pytest.mark.parametrize(
    ("head", "xs", "ys", "variant"),
    [
        ("load [ratio],delay [ms]", (0.1, 0.3, 0.5, 0.7), (5, 5, 5, 5), "load-flat"),
        ("load,delay [ms]", (10, 30, 50, 90), (1.1, 1.4, 2, 10), "load-percent"),
        ("offered [Mbit/s],loss [%]", (10, 50, 100), (100, 100, 100), "offer-nothing"),
        ("distance [km],rtt [ms]", (1, 2, 1000, 3000), (50, 50, 50.1, 49.9), "distance-flat"),
        ("distance [km],rtt [ms]", (1000, 3000, 6000, 9000), (5, 25, 55, 85), "distance-early"),
        ("distance [m],rtt [us]", (1, 10, 50, 100), (201, 210, 250, 300), "distance-slow"),
        ("ranks,time [us]", (2, 4, 8, 16), (10, 10, 10, 10), "ranks-flat"),
    ],
)
def test_what_no_law_is_said_of(head, xs, ys, variant):
    cause = explained(head, xs, ys)
    assert (cause.code, cause.variant) == ("unknown", variant)
    assert str(cause.said)


def test_no_load_no_distance_and_one_rank():
    """The delay without load is the service itself; a single rank has nothing to send."""
    cause = of_load(1.0, loads=(0, 0.3, 0.5, 0.7))
    assert (cause.variant, cause.sign("row_count")) == ("load-mm1", 4)
    cause = explained("distance [km],rtt [ms]", (0, 1000, 3000, 6000), (1, 11, 31, 61))
    assert (cause.variant, cause.sign("fixed_s")) == ("rows", pytest.approx(1e-3, rel=1e-3))
    cause = explained("ranks,time [us]", (1, 2, 4, 8, 16), (1, 10, 20, 30, 40))
    assert (cause.variant, cause.sign("fixed_s")) == ("ranks-doubling", 0)


def test_a_wait_with_a_fixed_part_is_a_delay():
    waits = [10 + 5 * load / (1 - load) for load in LOADS]
    cause = explained("load [ratio],wait [ms]", LOADS, waits)
    assert (cause.variant, cause.sign("fixed_s")) == ("load-md1", pytest.approx(10e-3, rel=1e-3))


@pytest.mark.slow
def test_the_interval_of_a_slope_holds_it_with_errors_in_proportion():
    """Scatter of 3 %: least squares without weights missed the slope in a quarter of the tables."""
    random, inside = np.random.default_rng(6), 0
    loads = np.linspace(0.05, 0.95, 10)
    for _ in range(200):
        delays = (1 + 0.5 * loads / (1 - loads)) * random.normal(1, 0.03, loads.size)
        cause = explained("load [ratio],delay [ms]", loads.round(9), delays)
        sign = next(each for each in cause.signs if each.name == "slope_s")
        inside += sign.low <= 0.5e-3 <= sign.high
    assert inside >= 176, "95 % of 200 less four standard deviations"


def test_far_rows_and_a_wide_ratio_leave_the_law_open():
    assert of_load(1.0).confidence == "medium"
    odd = [1.0, 1.43, 2.0, 3.33 * 1.2, 5 * 0.85, 10.0]
    assert explained("load [ratio],delay [ms]", LOADS, odd).confidence == "low"


def test_laws_of_the_loss_that_are_as_near_are_said():
    """Below 0.1 % of loss timeouts do not tell Reno with them from Reno without."""
    samples = table("loss [ratio],rate [Mbit/s]", (1e-5, 1e-4, 1e-3), (100, 31.6, 9.9))
    whole, *_ = measurement(samples, Known())
    assert whole.cause.variant == "by-loss"
    assert "near-pftk" in {notice.code for notice in whole.notices}


@pytest.mark.parametrize(("rtt_ms", "code"), [(10, "agrees"), (40, "differs")])
def test_a_round_trip_that_is_the_same_in_all_rows_is_that_of_the_window(rtt_ms, code):
    rows = "".join(f"{kib},{rtt_ms},{kib * 0.8192}\n" for kib in (8, 16, 32, 64))
    samples = readers.read("window [KiB],rtt [ms],rate [Mbit/s]\n" + rows)
    whole, *_ = measurement(samples, Known())
    assert whole.cause.variant == "by-window"
    assert whole.cause.sign("fitted_rtt_s") == pytest.approx(10e-3, rel=1e-3)
    assert f"fitted-trip-{code}" in {notice.code for notice in whole.notices}


def test_points_without_a_law_are_drawn_alone(tmp_path):
    """Scatter is seen in a figure; a sentence about it is not."""
    path, out = tmp_path / "rtt.csv", tmp_path / "rtt.svg"
    rates = (5.0, 90.0, 7.0, 60.0, 80.0)
    rows = "".join(f"{ms},{rate}\n" for ms, rate in zip((1, 10, 50, 100, 200), rates, strict=True))
    path.write_text("rtt [ms],throughput [Mbit/s]\n" + rows, encoding="utf-8")
    assert table_theory(readers.read(path), Known()) is None
    done = CliRunner().invoke(commands, ["explain", str(path), "--plot", str(out)])
    assert done.exit_code == 0, done.exception
    assert "Goodput (payload) against round trip" in out.read_text(encoding="utf-8")
