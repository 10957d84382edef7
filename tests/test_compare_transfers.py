"""Theory over transfers: which formula for which samples, and what it finds.

Points are made from known costs, so that what is found can be compared with the truth; the costs
of the book's machine are derived in its data set (Snader, table 2.2).
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from netcalc import compare
from netcalc.errors import doubts
from netcalc.path import Path
from netcalc.samples import BulkSamples, Meta

TRUTH = {
    "bandwidths_bps": [10e6], "latencies_s": [0.010], "processings_s": [0.0, 0.0],
    "mtu_bytes": 1500,
}  # fmt: skip


def transfers(write_bytes, wall_s, *, target="loopback, UDP", truth=None, **columns):
    """Return samples of 1000 writes each."""
    size = np.asarray(write_bytes, dtype=float)
    meta = Meta(target=target, instrument={"truth": truth} if truth else {})
    row = {
        "write_bytes": size, "write_count": np.full(size.size, 1000.0), "sent_bytes": 1000 * size,
        "received_bytes": 1000 * size, "wall_s": wall_s, "delivery_s": wall_s,
    }  # fmt: skip
    return BulkSamples(**(row | columns), meta=meta)


def test_costs_of_a_datagram_are_found():
    size = np.repeat([64.0, 300.0, 700.0, 1440.0], 3)
    slow = np.tile([0.0, 0.5e-6, 3e-6], 4)  # the smallest of each size is undisturbed
    found = compare.overlay(transfers(size, 1000 * (5e-6 + 0.4e-9 * size + slow)))
    assert found.x.tolist() == [64, 300, 700, 1440]
    np.testing.assert_allclose(found.residual, 0, atol=1e-12)
    assert found.predicted_label == "fitted: 5 µs per datagram + 0.4 ns per byte"
    assert found.sentence == "The sender takes 5 µs per datagram + 0.4 ns per byte."


def test_of_both_directions_at_once_the_first_is_compared():
    """They are not of one cost: 5 us and 0.4 ns/B from here, ten times as much from the peer."""
    size = np.repeat([64.0, 300.0, 700.0, 1440.0], 2)
    direction = np.array(["forward of both", "back of both"] * 4)
    cost_s = (5e-6 + 0.4e-9 * size) * np.where(direction == "back of both", 10, 1)
    compared = compare.bulk(transfers(size, 1000 * cost_s, direction=direction))
    np.testing.assert_allclose(compared.residual, 0, atol=1e-12)
    np.testing.assert_allclose(compared.measured, cost_s[::2])
    assert "forward of both" in compared.title
    assert "back" not in compared.sentence


def test_a_slope_that_is_lost_in_the_noise_is_none():
    found = compare.overlay(transfers([64, 1440], [6e-3, 5e-3]))
    assert "per byte" not in found.predicted_label.partition(";")[0]
    assert found.sentence.endswith("take no longer, so that no cost per byte can be told.")
    assert (found.predicted == 5.5e-6).all(), "by hand: the mean of 6 and 5 µs"


def test_the_curve_of_frames_says_nothing_of_a_frame_of_0_bytes():
    """Published: 14,880 frames of 64 B a second on 10 Mbit/s (RFC 2544, appendix B)."""
    with doubts() as found:
        compared = compare.frame_rates(transfers([18, 1472], [1.0, 1.0], truth=TRUTH))
    assert [one.code for one in found] == []
    assert compared.curve_y[0] == pytest.approx(14_880.95, abs=0.01)


def test_a_sender_that_was_the_limit_is_told():
    busy = {"user_s": [0.5e-3] * 2, "system_s": [4e-3] * 2, "wait_count": [0] * 2}
    found = compare.overlay(transfers([64, 1440], [5e-3, 6e-3], **busy))
    assert found.sentence.endswith("In 2 of 2 runs the sender was the limit.")


def test_over_a_path_the_sender_waits_and_that_is_told():
    busy = {"user_s": [0.1], "system_s": [0.1]}
    found = compare.overlay(transfers([1440], [1.0], target="path, TCP", truth=TRUTH, **busy))
    # by hand: 1 s for 1000 writes, 0.2 s of it computed
    assert found.sentence == (
        "The sender takes 1 ms per write of 1440 B, 20% of it on the CPU; the rest is waiting for "
        "buffer space."
    )


@pytest.mark.each(
    ("pairs", "goodput", "truth", "said"),
    [
        ([1], [1.0], None, "A pair in lockstep sends a message every 10 ms; the largest"),
        ([4], [1.0], None, "Each of 4 pairs in lockstep sends a message every 10 ms; the"),
        # by hand: 1000 writes of 1440 B in 1 s are 11.52 Mbit/s, in 0.5 s twice as much
        ([1, 2], [1.0, 0.5], None, "up to 23.04 Mbit/s (TCP payload), the largest measured rate"),
        ([1], [1.0], TRUTH, "the bottleneck link. Measured minus predicted: median "),
    ],
)
def test_what_lockstep_shows_is_a_sentence(pairs, goodput, truth, said):
    cycle = {"pair_count": pairs, "cycle_s": [0.010] * len(pairs)}
    size = [1440] * len(pairs)
    found = compare.overlay(transfers(size, goodput, target="TCP", truth=truth, **cycle))
    assert said in found.sentence
    assert "nan" not in found.sentence
    assert "not defined" not in found.sentence


def test_theory_by_buffer_stands_there_before_a_run():
    nothing = transfers([], [])
    found = compare.bulk(nothing, path=Path.parse("10 Mbit/s 10 ms"))
    # derived: a buffer each 20 ms and the clocking of 1500 and 52 bytes; the line less headers
    assert found.curve_y[1] == pytest.approx(8 * found.curve_x[1] / (0.02 + 8 * 1552 / 10e6))
    assert found.curve_y[-1] == pytest.approx(10e6 * 1448 / 1500)
    assert (found.x_name, found.y_unit, found.x.size) == ("buffer", "bit/s", 0)
    assert np.isnan(compare.bulk(nothing).curve_y).all(), "without a path there is no theory"


def test_buffers_over_a_path_are_compared_with_a_buffer_a_round_trip():
    asked = [4096, 65_536]
    found = compare.overlay(
        transfers([1440] * 2, [1.0] * 2, truth=TRUTH, asked_buffer_bytes=asked, target="path, TCP")
    )
    # Derived: 1500 bytes at 10 Mbit/s there (1.2 ms), 52 back, and 10 ms each way; at most the
    # share of the line that is payload.
    rtt_s = 0.020 + 8 * (1500 + 52) / 10e6
    expected = [8 * 4096 / rtt_s, 10e6 * 1448 / 1500]
    np.testing.assert_allclose(found.predicted, expected, rtol=1e-12)
    assert (found.x_name, found.y_unit) == ("buffer", "bit/s")


def test_buffers_over_a_path_with_losses_reach_what_these_let_through():
    lossy = {**TRUTH, "links": {"loss_ratio": 0.01}}
    asked = [4096, 65_536]
    found = compare.overlay(
        transfers([1440] * 2, [1.0] * 2, truth=lossy, asked_buffer_bytes=asked, target="path, TCP")
    )
    # published: Mathis et al. 1997, eq. 3: 1448 bytes a round trip, times the root of 1.5 / 0.01
    rtt_s = 0.020 + 8 * (1500 + 52) / 10e6
    expected = [8 * 4096 / rtt_s, 8 * 1448 / rtt_s * np.sqrt(150)]
    np.testing.assert_allclose(found.predicted, expected, rtol=1e-12)
    assert found.predicted_label.endswith("up to the link or the limit at 1% loss")


def test_what_was_in_flight_is_told_beside_the_buffer():
    known = {"truth": TRUTH, "asked_buffer_bytes": [4096, 65_536], "target": "path, TCP"}
    found = compare.overlay(transfers([1440] * 2, [1.0] * 2, window_bytes=[2048, 72_090], **known))
    # By hand: 2048 / 4096, 72,090 / 65,536.
    assert found.sentence.endswith("the data in flight was at most 0.5 to 1.1 of it.")
    bare = compare.overlay(transfers([1440] * 2, [1.0] * 2, **known))
    assert "in flight" not in bare.sentence


def test_buffers_of_datagrams_are_no_window():
    found = compare.overlay(
        transfers([1440] * 2, [1.0] * 2, truth=TRUTH, asked_buffer_bytes=[4096, 65_536])
    )
    assert found.x_name == "size of the write"


def test_one_size_tells_one_cost():
    found = compare.overlay(transfers([1440] * 3, [7e-3, 5e-3, 6e-3]))
    assert found.sentence == "The sender takes 5 µs per datagram of 1440 B."


def test_pairs_are_compared_with_so_many_cycles_of_one():
    found = compare.overlay(
        transfers(
            [1000] * 4,
            [1.0, 0.5, 0.3, 0.3],
            pair_count=[1, 2, 4, 8],
            target="loopback, TCP",
            cycle_s=[1e-3, 1e-3, 2e-3, 4e-3],
        )
    )
    most_bps = 8e6 / 0.3
    # Derived: 1000 bytes in 1 ms are 8 Mbit/s; twice that; then what was reached at most.
    np.testing.assert_allclose(found.predicted, [8e6, 16e6, most_bps, most_bps])
    assert found.x.tolist() == [1, 2, 4, 8]


def test_no_transfers_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compare.overlay(transfers([], [])).x.size == 0


def test_one_row_a_setting():
    samples = transfers(
        [1440, 300, 1440], [1.0, 2.0, 3.0], pair_count=[1] * 3,
        asked_buffer_bytes=[np.nan, 32_768, np.nan],
    )  # fmt: skip
    first, second = samples.by_setting()
    assert (first["write_bytes"], first["run_count"], first["wall_s"]) == (1440, 2, 2.0)
    assert np.isnan(first["asked_buffer_bytes"])
    assert (second["write_bytes"], second["asked_buffer_bytes"]) == (300, 32_768)
    assert second["goodput_bps"] == pytest.approx(8 * 300_000 / 2)
    assert np.isnan(second["loss_ratio"])


def test_the_book_in_two_costs():
    # Published: 5000 writes of 1440 and of 300 bytes by UDP to bsd in 1.9618 and 1.6324 s.
    # Derived in theory: (1.9618 - 1.6324) / 5000 / 1140 = 58 ns a byte, and 309 µs a datagram.
    found = compare.overlay(transfers([1440, 300], [1.9618 / 5, 1.6324 / 5]))
    assert found.predicted_label == "fitted: 309 µs per datagram + 57.8 ns per byte"
