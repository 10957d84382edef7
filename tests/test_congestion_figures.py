"""What was read off the figures of the book on congestion control, and what is said of it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from netcalc import claims, datasets
from netcalc.compare import ideal_shares, request_goodput_bps

CHECKED = {item.claim.id: item for item in claims.check(claims.book())}
COLOURS = ("blue", "red", "yellow", "green", "orange")


def columns(name):
    return datasets.load(name).columns()


# Written down from the figures a second time, in Gbit/s at 1, 2, 4, 8 and 16 long flows.
BARS = {
    "large_request_goodput": {
        "blue": [1.45, 1.05, 0.70, 0.40, 0.40],
        "red": [1.10, 0.85, 0.60, 0.35, 0.35],
        "yellow": [1.35, 0.90, 0.65, 0.37, 0.37],
        "green": [1.10, 0.85, 0.45, 0.30, 0.30],
        "orange": [1.49, 1.02, 0.68, 0.38, 0.38],
    },
    "small_request_goodput": {
        "blue": [0.03, 0.028, 0.023, 0.02, 0.02],
        "red": [0.024, 0.018, 0.012, 0.01, 0.01],
        "yellow": [0.42, 0.38, 0.25, 0.18, 0.175],
        "green": [0.05, 0.034, 0.01, 0.01, 0.01],
        "orange": [0.115, 0.085, 0.055, 0.034, 0.034],
    },
}


@pytest.mark.each(("name", "error_bps"), [(n, e) for n, e in zip(BARS, (25e6, 5e6), strict=True)])
def test_the_bars_as_read(name, error_bps):
    found = columns(name)
    for colour, goodput in BARS[name].items():
        mine = found["algorithm"] == colour
        assert found["stream_count"][mine].tolist() == [1, 2, 4, 8, 16]
        assert found["goodput_bps"][mine] == pytest.approx(np.asarray(goodput) * 1e9)
    assert set(found["goodput_error_bps"].tolist()) == {error_bps}
    assert set(found["algorithm"].tolist()) == set(COLOURS)


def test_the_percentiles_as_read():
    # In ms at 16, 33, 66, 133 and 266 packets; no bar of yellow and green at 66 and 133.
    nan = np.nan
    read = {"blue": [150, 120, 140, 200, 350], "red": [840, 780, 150, 170, 180],
            "yellow": [130, 150, nan, nan, 620], "green": [305, 50, nan, nan, 310]}  # fmt: skip
    found = columns("request_latency")
    for colour, latency_ms in read.items():
        mine = found["algorithm"] == colour
        assert found["buffer_packets"][mine].tolist() == [16, 33, 66, 133, 266]
        np.testing.assert_allclose(found["p99_s"][mine] * 1e3, latency_ms)
        np.testing.assert_array_equal(np.isnan(found["p99_error_s"][mine]), np.isnan(latency_ms))


def test_units_of_the_axes_are_put_right():
    goodput, windows = columns("two_flow_goodput"), columns("two_flow_windows")
    # The axis says B/s; 9640 are Mbit/s: 9.64 Gbit/s of a line of 10.
    np.testing.assert_array_equal(goodput["goodput_bps"], goodput["axis_value"] * 1e6)
    assert np.nanmax(goodput["goodput_bps"]) == 9.64e9
    np.testing.assert_array_equal(windows["window_packets"], windows["axis_value"])
    falls = windows["window_packets"][windows["place"] == "sawtooth, falling"]
    assert falls.tolist() == [2400, 2000, 1780, 1530, 1400]


@pytest.mark.each(
    ("number", "verdict", "computed", "source"),
    [
        ("NE44", "ambiguous", [22, 23], "derived: set-up; 60/3 + 3"),
        ("NE45", "agree rounded", [33.5], "derived: 23.5 + 10"),
        ("NE46", "agree", [43.5], "derived: 23.5 + 20, by 44 s"),
        ("NE47", "disagree", [1e10 * 1448 / 1538], "derived: 1448 of 1538 bytes of the line"),
        ("NE48", "physically inconsistent", [1e10 * 1448 / 1538], "derived: as above"),
        ("NE49", "agree", [1e10 * 8948 / 9038], "derived: 8948 of 9038 bytes of the line"),
        ("NE50", "derived", [81 / (2 * (19.36 + 21.16))], "derived: 9^2 / 2 (4.4^2 + 4.6^2)"),
        ("NE51", "derived", [9000 / 9640], "derived: both of one"),
        ("NE52", "disagree", [1448], "derived: 1500 - 20 - 20 - 12"),
        ("NE54", "derived", [1150 * 8948 * 800], "derived: a window in 10 ms"),
        ("NE55", "disagree", [1e10 * 8948 / 9038], "derived: as above"),
        ("NE56", "derived", [81 / 130], "derived: 9^2 / 2 (8^2 + 1)"),
        ("NE80", "derived", [0.70 / 0.45], "derived: blue of green"),
        ("NE81", "derived", [0.42 / 0.024], "derived: yellow of red"),
        ("NE82", "ambiguous", [0.42 / 0.115, 0.38 / 0.085, 0.25 / 0.055, 0.18 / 0.034,
                               0.175 / 0.034], "derived: yellow of orange"),
        ("NE90", "agree", [100 / 3], "derived: 10e6 * 0.04 / 12000"),
        ("NE91", "derived", [(780 - 40 - 39.6) / 200], "derived: 33 packets take 39.6 ms"),
    ],
)  # fmt: skip
def test_claims_on_the_figures(number, verdict, computed, source):
    item = CHECKED[number]
    assert item.verdict == verdict, source
    assert item.computed == pytest.approx(computed), source
    assert item.fault is None


def test_sixteen_streams_have_the_bars_of_eight():
    for offset, colour in enumerate(COLOURS):
        large, small = (BARS[name][colour] for name in BARS)
        ninth, half, equal, little = (CHECKED[f"NE{first + offset}"] for first in (57, 62, 67, 72))
        # derived: n flows and the requests share equally, 1 / (n + 1)
        assert ninth.computed == pytest.approx([large[2] * 5 / 9 * 1e9])
        assert half.computed == pytest.approx([large[3] * 9 / 17 * 1e9])
        assert ninth.verdict == ("model misses" if colour == "green" else "model fits")
        assert half.verdict == "model misses"
        assert (equal.verdict, equal.computed[0]) == ("agree", pytest.approx(large[4] * 1e9))
        assert little.verdict == ("agree rounded" if colour == "yellow" else "agree")
        assert little.computed == pytest.approx([small[3] * 1e9])


def test_blue_is_the_round_trip_and_a_full_buffer_where_the_buffer_is_large():
    # derived: 40 ms and 1.2 ms for each packet of 1500 B at 10 Mbit/s
    for number, packets in zip(range(85, 90), (16, 33, 66, 133, 266), strict=True):
        item = CHECKED[f"NE{number}"]
        assert item.computed == pytest.approx([0.040 + 0.0012 * packets])
        assert item.verdict == ("model fits" if packets > 66 else "model misses")


@pytest.mark.each("number", [f"NE{number}" for number in range(44, 92)])
def test_a_number_with_a_tolerance_of_its_own_is_off_by_a_reading_error(number):
    # derived: a bar read to 25 Mbit/s and one made of it; 10 KB at 10 Mbit/s and 10 ms
    errors = {
        "reading error": {0.5, 25e6, 5e6},
        "reading errors of both bars": {25e6 * 14 / 9, 25e6 * 26 / 17},
        "reading error of 10 ms": {0.018},
        "two reading errors of 0.5 s each": {1.0},
        "": {None},
    }  # fmt: skip
    claim = CHECKED[number].claim
    reason = re.split("[,;]", claim.tolerance_reason)[0]
    assert any(claim.tolerance == (each and pytest.approx(each)) for each in errors[reason])


def test_requests_over_their_share():
    line_bps = 1e10 * 1448 / 1538  # derived: time stamps, packets of 1500 B
    facts = {"bandwidth_bps": 1e10, "rtt_s": 20e-6}
    # derived: 10 KB are 7 segments, one round trip; 1 MB are 691, which is 7 rounds from ten:
    # 10 + 20 + ... + 640 = 1270. A queue of 1 MB is 0.8 ms.
    share_s = [8e6 * (n + 1) / line_bps for n in (1, 8)]
    plain = request_goodput_bps([1, 8], request_bytes=1e6, **facts)
    assert plain == pytest.approx([8e6 / (20e-6 + one) for one in share_s])
    queued = request_goodput_bps([1, 8], request_bytes=1e6, queue_bytes=1e6, slow_start=True,
                                 **facts)  # fmt: skip
    assert queued == pytest.approx([8e6 / (7 * 820e-6 + one) for one in share_s])
    small = request_goodput_bps(1, request_bytes=1e4, queue_bytes=1e6, slow_start=True, **facts)
    assert small == pytest.approx(8e4 / (820e-6 + 16e4 / line_bps))
    # The claims compute the same, by formulas of their own.
    assert CHECKED["NE77"].computed == pytest.approx([plain[0], queued[0]])
    assert CHECKED["NE78"].computed == pytest.approx([plain[1], queued[1]])
    assert CHECKED["NE79"].computed[1] == pytest.approx(float(small))


def test_ideal_shares_of_three_flows():
    # derived: 60, 40 and 20 s from 0, 12 and 26 s; bits as in the record: 366.7, 166.7, 66.7 Gbit
    time_s, rate_bps = ideal_shares([0, 12, 26], duration_s=[60, 40, 20], capacity_bps=10e9)
    assert time_s[::2].tolist() == [0, 12, 26, 46, 52]
    bits = np.nansum(rate_bps[:, ::2] * np.diff(np.append(time_s[::2], 60.0)), axis=1)
    assert bits == pytest.approx(np.asarray([1100, 500, 200]) / 3 * 1e9)
    assert np.isnan(rate_bps[2, :4]).all()
