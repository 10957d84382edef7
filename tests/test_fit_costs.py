"""Costs of transactions: truth is found again with its margin, and what is not there is not."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import fit
from netcalc.samples import Meta, TransactionSamples

SIZES = np.array([8, 50, *range(100, 2001, 100), 150, 207, 208, 1508, 1509, 1520], dtype=float)
EACH, BYTE, PACKET, MBUF = 30e-6, 2e-9, 8e-6, 0.5e-6


def run(response_s, sizes=SIZES, mode="udp", mtu=1536, **columns):
    return TransactionSamples(
        mode=[mode] * len(sizes), sequence=np.arange(len(sizes)) + 1.0, payload_bytes=sizes,
        response_s=response_s, meta=Meta(instrument={"loopback_mtu_bytes": mtu}), **columns,
    )  # fmt: skip


def truth(sizes=SIZES, mbuf_s=MBUF):
    """By hand: 1508 bytes are whole; 1, 2 or 3 mbufs, from 208 on 2, of which the cluster takes
    2048 bytes without the 56 that stay free for headers (Stevens vol. 3, A.2, and 4.4BSD).
    """
    packets = np.where(sizes > 1508, 2, 1)
    mbufs = np.select([sizes > 1992, sizes >= 208, sizes > 100, sizes > 72], [3, 2, 3, 2], 1)
    return EACH + BYTE * sizes + PACKET * (packets - 1) + mbuf_s * (mbufs - 1)


def test_exact_points_give_the_truth():
    # the headers of UDP and IP, 28 bytes, fit the first mbuf of 100 up to 72 bytes of data
    found = fit.datagram_costs(run(truth()))
    assert found.params == pytest.approx(
        {"transaction_s": EACH, "byte_cost": BYTE, "packet_cost": PACKET, "mbuf_s": MBUF}
    )
    assert found.degrees == SIZES.size - 4
    assert np.abs(found.residual).max() < 1e-15
    step = found.predict(np.array([1508.0, 1509.0]))
    assert step[1] - step[0] == pytest.approx(PACKET + BYTE)


@pytest.mark.slow
def test_margins_cover_the_truth_in_95_of_100_runs():
    """Derived by a second method: Monte Carlo with known Gaussian noise, seeded."""
    random = np.random.default_rng(5)
    step, curve, seen = 0, 0, 0
    for _ in range(400):
        found = fit.datagram_costs(run(truth(mbuf_s=0.0) + random.normal(0, 2e-7, SIZES.size)))
        step += abs(found.params["packet_cost"] - PACKET) < found.margin_of("packet_cost")
        at = np.array([1508.0])
        curve += abs(found.predict(at) - truth(at, 0.0)) < found.margin(at)
        seen += found.is_seen("mbuf_s")
        assert found.is_seen("packet_cost")
    assert step / 400 == pytest.approx(0.95, abs=0.035)
    assert float(np.squeeze(curve)) / 400 == pytest.approx(0.95, abs=0.035)
    assert seen / 400 < 0.05, "half of the 5%: an mbuf that costs nothing seldom seems to"


def test_a_point_far_off_is_set_aside():
    times = truth() + 1e-7 * np.sin(np.arange(SIZES.size))
    times[9] += 5e-5
    found = fit.datagram_costs(run(times))
    assert np.flatnonzero(found.outlier).size == 1
    assert found.params["packet_cost"] == pytest.approx(PACKET, abs=2e-7)


def test_a_point_that_alone_tells_a_cost_stays():
    sizes = np.array([*range(300, 1500, 100), 1600], dtype=float)
    found = fit.datagram_costs(run(truth(sizes), sizes))
    assert found.params["packet_cost"] == pytest.approx(PACKET)


def test_what_the_points_do_not_tell_is_said():
    large = fit.datagram_costs(run(truth(), mtu=65_536))
    assert np.isnan(large.params["packet_cost"])
    assert large.not_identifiable["packet_cost"].code == "equal-packet-counts"
    assert not large.is_seen("packet_cost")
    one = fit.datagram_costs(run([3e-5] * 3, sizes=[500.0] * 3))
    assert one.params["transaction_s"] == pytest.approx(3e-5)
    assert {name: reason.code for name, reason in one.not_identifiable.items()} == {
        "byte_cost": "one-size-of-datagram",
        "packet_cost": "equal-packet-counts",
        "mbuf_s": "equal-mbuf-counts",
    }
    few = fit.datagram_costs(run(truth(SIZES[-2:]), sizes=SIZES[-2:]))
    # by hand: of 1509 and 1520 bytes only the size differs
    assert (few.degrees, "packet_cost" in few.not_identifiable) == (0, True)
    three = fit.datagram_costs(run(truth(SIZES[-3:]), sizes=SIZES[-3:]))
    assert "byte_cost" not in three.not_identifiable
    two_steps = np.array([100.0, 1600.0])
    short = fit.datagram_costs(run(truth(two_steps), sizes=two_steps))
    reason = short.not_identifiable["transaction_s"]
    assert (reason.code, reason.values) == ("too-few-points", {"count": 2, "cost_count": 3})
    none = fit.datagram_costs(run([], sizes=[]))
    assert np.isnan(none.params["transaction_s"])
    assert np.isnan(none.predict(np.array([100.0]))).all()


def test_ping_has_its_own_headers_and_the_tap_its_own_clock():
    # by hand: 100 bytes of ping and 8 of its header are 3 mbufs, 200 with them take a cluster: 2
    sizes = np.array([8.0, 50.0, 100.0, 150.0, 200.0, 400.0, 800.0, 1400.0])
    mbufs = np.array([1, 1, 3, 3, 2, 2, 2, 2])
    times = EACH + MBUF * (mbufs - 1)
    found = fit.datagram_costs(run(np.full(8, 1e-3), sizes, "ping", tap_s=times), mode="ping",
                               column="tap_s")  # fmt: skip
    assert found.params["mbuf_s"] == pytest.approx(MBUF)
    assert found.params["byte_cost"] == pytest.approx(0.0, abs=1e-13)
