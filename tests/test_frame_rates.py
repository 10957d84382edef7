"""Blasts by frame size and what theory says of them: known costs and limits are found again.

Points are made from costs that are known; the limit of a line of 10 Mbit/s is that of RFC 2544,
appendix B. A datagram has 46 bytes less than its frame.
"""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare, fit
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import BulkSamples, Meta

FRAMES = np.array([64.0, 128, 256, 512, 1024, 1280, 1518])
EACH, BYTE = 5e-6, 0.4e-9
TRUTH = {
    "bandwidths_bps": [1e9, 10e6], "latencies_s": [0.0, 0.0], "processings_s": [0.0, 5e-4, 0.0],
    "mtu_bytes": 1500,
}  # fmt: skip


def blasts(frames, spent_s, *, target="loopback, UDP", truth=None, **columns):
    """Return blasts of 1000 datagrams a row that took their sender so long each."""
    size = np.asarray(frames, dtype=float) - 46
    meta = Meta(
        tool="netcalc line-rate", target=target, instrument={"truth": truth} if truth else {}
    )
    wall_s = 1000 * np.broadcast_to(np.asarray(spent_s, dtype=float), size.shape)
    row = {
        "write_bytes": size, "write_count": np.full(size.size, 1000.0), "sent_bytes": 1000 * size,
        "received_bytes": 1000 * size, "wall_s": wall_s, "delivery_s": wall_s,
    }  # fmt: skip
    return BulkSamples(**(row | columns), meta=meta)


def test_the_costs_of_a_datagram_are_found():
    costs = fit.frame_costs(blasts(FRAMES, EACH + BYTE * FRAMES))
    assert costs.params == pytest.approx({"packet_cost": EACH, "byte_cost": BYTE})
    assert costs.not_identifiable == {}
    assert costs.x.tolist() == FRAMES.tolist()
    assert np.abs(costs.residual).max() < 1e-15


def test_the_margins_hold_the_truth_as_often_as_they_say():
    """derived: intervals of 95% miss one of 20; of 200, 10 with a standard deviation of 3.1."""
    source, missed = np.random.default_rng(1), np.zeros(2)
    for _ in range(200):
        spent = EACH + BYTE * FRAMES + source.normal(0, 2e-8, FRAMES.size)
        costs = fit.frame_costs(blasts(FRAMES, spent))
        off = [abs(costs.params[n] - t) for n, t in (("packet_cost", EACH), ("byte_cost", BYTE))]
        missed += np.array(off) > [costs.margin_of("packet_cost"), costs.margin_of("byte_cost")]
    assert (missed <= 10 + 5 * 3.1).all()
    assert (missed >= 1).all(), "margins that never miss are too wide"


def test_what_disturbs_a_blast_is_not_in_the_costs():
    """The smallest of each size counts; a size at which all were disturbed is set aside."""
    frames = np.repeat(FRAMES, 2)
    spent = EACH + BYTE * frames + np.resize([0.0, 2e-6], frames.size)
    spent[4:6] *= 5
    costs = fit.frame_costs(blasts(frames, spent))
    assert costs.x.tolist() == FRAMES.tolist()
    assert np.flatnonzero(costs.outlier).tolist() == [2]
    assert costs.params == pytest.approx({"packet_cost": EACH, "byte_cost": BYTE})


@pytest.mark.each(
    ("frames", "spent_s", "code"),
    [
        ([64.0, 1518.0, 512.0], [7e-6, 5e-6, 6e-6], "no-increase-with-size"),
    ],
)
def test_a_cost_of_a_byte_that_is_not_seen_is_not_made_up(frames, spent_s, code):
    samples = blasts(frames, spent_s)
    costs = fit.frame_costs(samples)
    assert costs.not_identifiable == {"byte_cost": Notice(code)}
    assert costs.params["packet_cost"] == pytest.approx(6e-6), "by hand: the mean"
    # by hand: the standard deviation 1 us over the root of 3
    assert costs.stderr["packet_cost"] == pytest.approx(1e-6 / np.sqrt(3))
    assert costs.predict(np.array([1000.0])) == pytest.approx(6e-6)
    assert "per byte" not in compare.frame_rates(samples).predicted_label


def test_one_size_has_one_cost():
    costs = fit.frame_costs(blasts([64.0] * 3, [5e-6, 6e-6, 7e-6]))
    assert costs.not_identifiable == {"byte_cost": Notice("one-size-of-frame")}
    assert costs.params["packet_cost"] == 5e-6
    assert np.isnan(costs.stderr["packet_cost"])


def test_no_blasts_have_no_costs():
    costs = fit.frame_costs(blasts([], []))
    assert costs.not_identifiable == dict.fromkeys(
        ("packet_cost", "byte_cost"), Notice("no-blasts")
    )
    assert compare.overlay(blasts([], [])).x.size == 0


def test_blasts_on_loopback_are_compared_with_their_own_costs():
    frames = np.repeat(FRAMES, 3)
    spent = EACH + BYTE * frames + np.resize([1e-6, 2e-6, 0.0], frames.size)
    spent += np.repeat([0.0, 1e-8, -1e-8, 0.0, 1e-8, -1e-8, 0.0], 3)
    busy = {"system_s": 900 * spent, "user_s": 0 * spent, "wait_count": 0 * spent}
    found = compare.overlay(blasts(frames, spent, **busy, lost_count=0 * spent))
    assert found.x.tolist() == FRAMES.tolist()
    assert found.measured == pytest.approx(1 / (EACH + BYTE * FRAMES), rel=0.01)
    assert (found.y_name, found.y_unit) == ("sent", "packet/s")
    assert found.curve_x[0] == 64, "there are no smaller frames"
    assert (found.curve_low < found.curve_y).all()
    assert (found.curve_high > found.curve_y).all()
    assert "± " in found.sentence
    assert "Limit at every size: sender." in found.sentence


def test_a_box_is_compared_with_its_limits():
    lines = np.array([14_880.95, 8445.95, 4528.99, 2349.62, 1197.32, 961.54, 812.74])
    node, line = np.where(FRAMES <= 512, 500.0, 0.0), np.where(FRAMES > 512, 500.0, 0.0)
    found = compare.overlay(
        blasts(
            FRAMES,
            1e-5,
            truth=TRUTH,
            target="emulated path, UDP",
            delivery_s=np.full(7, 0.25),
            received_bytes=500 * (FRAMES - 46),
            lost_count=np.full(7, 500.0),
            input_drop_count=node,
            line_drop_count=line,
            sender_drop_count=np.zeros(7),
        )
    )
    # Published: RFC 2544, appendix B, for 10 Mbit/s; the node takes 0.5 ms for each.
    assert found.predicted == pytest.approx(np.minimum(2000, lines), abs=0.01)
    assert found.measured.tolist() == [2000] * 7, "500 in 250 ms"
    assert found.predicted_label == "predicted: node of 2000 pps, link of 10 Mbit/s (Ethernet line)"
    assert "Limit at 64, 128, 256, 512 bytes: input of the box." in found.sentence
    assert "Limit at 1024, 1280, 1518 bytes: buffer of the line." in found.sentence
    bare = compare.frame_rates(blasts(FRAMES, 1e-5), path=Path.parse("10 Mbit/s"))
    assert bare.predicted == pytest.approx(lines, abs=0.01)


@pytest.mark.each(
    ("drops", "expected"),
    [
        ((0, 0, 0, 0), "sender"),
        ((900, 0, 0, 0), "sender's queue"),
        ((900, 90, 0, 0), "input of the box"),
        ((900, 50, 40, 0), "buffer of the line"),
        ((900, 50, 40, 9), "receiver"),
        ((0, 0, 0, 9), "sender"),
        ((0, 900, 0.9, 0), "input of the box"),
    ],
)
def test_the_last_place_that_is_full_is_the_limit(drops, expected):
    """By hand, of 1000: 1% of what comes to a place makes it full."""
    names = ("sender_drop_count", "input_drop_count", "line_drop_count", "receiver_drop_count")
    samples = blasts(
        [64.0], 1e-5, system_s=[0.009], user_s=[0.0], wait_count=[0.0], lost_count=[sum(drops)],
        **{name: [float(count)] for name, count in zip(names, drops, strict=True)},
    )  # fmt: skip
    assert samples.limit.tolist() == [expected]
    (row,) = samples.by_setting()
    assert row["limit"] == expected


def test_a_loss_of_unknown_place_names_no_limit():
    busy = {"system_s": [0.009], "user_s": [0.0], "wait_count": [0.0]}
    assert blasts([64.0], 1e-5, **busy, lost_count=[500.0]).limit.tolist() == [""]
    assert blasts([64.0], 1e-5, **busy).limit.tolist() == ["sender"]
    assert blasts([64.0], 1e-5).limit.tolist() == [""], "not known to be busy"


def test_the_drops_are_saved_with_the_samples(tmp_path):
    samples = blasts([64.0], 1e-5, input_drop_count=[7.0])
    samples.save(tmp_path / "run.json")
    assert BulkSamples.load(tmp_path / "run.json").input_drop_count.tolist() == [7.0]


def test_pairs_over_a_path_are_compared_with_its_own_cycle():
    """derived by hand: nothing of it is fitted.

    1460 bytes are segments of 1448 and 12, of 1500 and 64 bytes with their headers; at 10 Mbit/s
    1.2512 ms there, and 0.0424 ms for the answer of 1 byte; 5 ms each way. The line is full at
    1460 bytes in 1.2512 ms, 9.335 Mbit/s.
    """
    truth = {"bandwidths_bps": [10e6], "latencies_s": [0.005], "processings_s": [0.0, 0.0]}
    facts = {"truth": truth, "mss_bytes": 1448, "reply_bytes": 1}
    pairs = np.array([1.0, 4.0, 16.0])
    samples = BulkSamples(
        write_bytes=[1460.0] * 3, write_count=pairs, sent_bytes=1460 * pairs, wall_s=[1.0] * 3,
        received_bytes=1460 * pairs, delivery_s=[1.0] * 3, pair_count=pairs, cycle_s=[0.02] * 3,
        meta=Meta(tool="netcalc lockstep", target="emulated path, TCP", instrument=facts),
    )  # fmt: skip
    found = compare.overlay(samples)
    one = 8 * 1460 / (0.010 + 8 * (1500 + 64 + 53) / 10e6)
    full = 10e6 * 1460 / 1564
    assert found.predicted == pytest.approx([one, 4 * one, full])
    assert "per cycle of 11.3 ms" in found.predicted_label
