"""Costs of datagrams and frames against least squares and mbufs counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from netcalc import fit
from netcalc.samples import BulkSamples, Meta, TransactionSamples

EACH, BYTE, PACKET, MBUF = 30e-6, 2e-9, 8e-6, 0.5e-6
NAMES = ("transaction_s", "byte_cost", "packet_cost", "mbuf_s")
# Around every step: 72 and 73, 92 and 93, 199 and 200, 1508 and 1509 bytes of a ping.
SIZES = np.array([8.0, 40, 72, 73, 92, 93, 150, 199, 200, 500, 1000, 1508, 1509, 1700, 1900])


def ping_parts(sizes):
    """By hand, TCP/IP Illustrated vol. 3, A.2: a ping's data are 8 bytes of ICMP and the user's.

    The first mbuf has 100 bytes for both, of which the 20 of the IP header take their share or one
    mbuf more; the next has 108; from 208 on it is a cluster behind the mbuf of the header. 1516
    bytes fit the loopback's MTU of 1536.
    """
    data = np.asarray(sizes) + 8
    mbufs = np.select([data >= 208, data > 100, data > 80], [2, 3, 2], 1)
    packets = np.where(data > 1516, 2, 1)
    return np.stack([np.ones_like(data), data - 8, packets - 1.0, mbufs - 1.0])


def udp_parts(sizes):
    """By hand: the same with 28 bytes of headers and no ICMP among the data."""
    data = np.asarray(sizes)
    mbufs = np.select([data >= 208, data > 100, data > 72], [2, 3, 2], 1)
    packets = np.where(data + 8 > 1516, 2, 1)
    return np.stack([np.ones_like(data), data, packets - 1.0, mbufs - 1.0])


def run(response_s, sizes=SIZES, *, mode="ping", mtu=1536, **columns):
    instrument = {} if mtu is None else {"loopback_mtu_bytes": mtu}
    return TransactionSamples(
        mode=[mode] * len(sizes), sequence=np.arange(len(sizes)) + 1.0, payload_bytes=sizes,
        response_s=response_s, meta=Meta(instrument=instrument), **columns,
    )  # fmt: skip


@pytest.mark.each(("mode", "parts"), [("ping", ping_parts), ("udp", udp_parts)])
def test_parts_counted_by_hand(mode, parts):
    """Every step where a ping's 8 bytes of ICMP move it is among the sizes."""
    times = np.array([EACH, BYTE, PACKET, MBUF]) @ parts(SIZES)
    found = fit.datagram_costs(run(times, mode=mode), mode=mode)
    np.testing.assert_array_equal(found.parts(SIZES), parts(SIZES))
    assert tuple(found.params) == NAMES
    assert list(found.params.values()) == pytest.approx([EACH, BYTE, PACKET, MBUF])
    assert not found.not_identifiable
    # a size between two is sent as the next whole one
    assert found.parts(np.array([1508.5])).tolist() == parts(np.array([1509.0])).tolist()


def test_costs_errors_and_margins_are_those_of_least_squares():
    """Second method: the normal equations; 95% of Student's distribution lie within the margin."""
    noise = np.random.default_rng(2).normal(0, 1e-7, SIZES.size)
    rows = ping_parts(SIZES)
    times = np.array([EACH, BYTE, PACKET, MBUF]) @ rows + noise
    found = fit.datagram_costs(run(times), mode="ping")
    unit = np.abs(rows).max(axis=1)[:, None]
    inverse = np.linalg.inv((rows / unit) @ (rows / unit).T)
    costs = (inverse @ (rows / unit) @ times) / unit[:, 0]
    left = times - costs @ rows
    covariance = (left @ left) / (SIZES.size - 4) * inverse / (unit @ unit.T)
    assert not found.outlier.any()
    assert list(found.params.values()) == pytest.approx(costs.tolist())
    assert list(found.stderr.values()) == pytest.approx(np.sqrt(np.diag(covariance)).tolist())
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6)
    assert found.degrees == 11
    assert (found.x.tolist(), found.measured.tolist()) == (SIZES.tolist(), times.tolist())
    assert found.residual == pytest.approx(left, abs=1e-12)
    deviations = stdtrit(11, 0.975)
    assert found.margin_of("packet_cost") == pytest.approx(deviations * np.sqrt(covariance[2, 2]))
    at = np.array([100.0, 1600.0])
    new = ping_parts(at)
    variance = np.einsum("ix,ij,jx->x", new, covariance, new)
    assert found.margin(at) == pytest.approx(deviations * np.sqrt(variance))
    assert found.predict(at) == pytest.approx(costs @ new)


def test_a_cost_is_seen_above_its_margin_only():
    def costs(value, stderr, degrees):
        return fit.Costs(
            params={"each": value}, stderr={"each": stderr}, parts=np.atleast_2d,
            covariance=np.array([[stderr**2]]), degrees=degrees, x=np.ones(1), measured=np.ones(1),
            residual=np.zeros(1), outlier=np.zeros(1, bool),
        )  # fmt: skip

    # published: Student's t at 97.5% is 12.706 for one degree, 2.228 for ten
    assert costs(1.0, 1.0, 1).margin_of("each") == pytest.approx(12.706, abs=1e-3)
    assert costs(2.3, 1.0, 10).is_seen("each")
    assert not costs(2.2, 1.0, 10).is_seen("each")
    assert costs(1.0, 0.0, 1).is_seen("each")
    assert not costs(0.0, 0.0, 1).is_seen("each"), "a cost of nothing is not seen"
    assert np.isnan(costs(1.0, 1.0, 0).margin_of("each"))
    assert not costs(1.0, 1.0, 0).is_seen("each")


def test_a_point_far_off_is_set_aside_and_the_others_fitted():
    sizes = np.concatenate((SIZES, SIZES[:-1] + 1))
    noise = 1e-8 * np.sin(np.arange(sizes.size) * 2.0)
    times = np.array([EACH, BYTE, PACKET, MBUF]) @ ping_parts(sizes) + noise
    order = np.argsort(sizes, kind="stable")
    sizes, times = sizes[order], times[order]
    sizes, first = np.unique(sizes, return_index=True)
    times = times[first]
    clean = np.ones(sizes.size, bool)
    clean[12] = False
    times[12] += 4e-5
    found = fit.datagram_costs(run(times, sizes), mode="ping")
    others = fit.datagram_costs(run(times[clean], sizes[clean]), mode="ping")
    assert found.params["packet_cost"] == pytest.approx(PACKET, abs=1e-7)
    assert found.outlier.tolist() == (~clean).tolist()
    assert list(found.params.values()) == pytest.approx(list(others.params.values()))
    assert list(found.stderr.values()) == pytest.approx(list(others.stderr.values()))
    assert found.degrees == sizes.size - 1 - 4
    assert found.residual[12] == pytest.approx(4e-5, rel=0.01)


@pytest.mark.each(
    ("sizes", "missing"),
    [
        ([300.0, 400, 500, 600], {"packet_cost", "mbuf_s"}),
        ([8.0, 20, 300, 400], {"packet_cost"}),
        ([300.0, 400, 1600, 1700], {"mbuf_s"}),
        ([500.0], {"byte_cost", "packet_cost", "mbuf_s"}),
        ([8.0, 300, 1600], {"transaction_s", "byte_cost", "packet_cost", "mbuf_s"}),
    ],
)
def test_costs_that_the_sizes_do_not_determine(sizes, missing):
    sizes = np.array(sizes)
    times = np.array([EACH, BYTE, PACKET, MBUF]) @ ping_parts(sizes)
    found = fit.datagram_costs(run(times, sizes), mode="ping")
    assert set(found.not_identifiable) == missing
    assert {name for name, value in found.params.items() if np.isnan(value)} == missing
    assert {
        name for name in NAMES if np.isnan(found.covariance[NAMES.index(name)]).all()
    } >= missing
    assert not found.outlier.any()
    kept = [name for name in NAMES if name not in missing]
    assert found.degrees == (len(sizes) - len(kept) if kept else 0)
    if kept:
        assert found.predict(sizes) == pytest.approx(times)
        assert found.residual == pytest.approx(0, abs=1e-15)
    else:
        assert np.isnan(found.predict(sizes)).all()


def test_one_point_more_than_costs_has_errors():
    sizes = np.array([300.0, 400, 500])
    found = fit.datagram_costs(run(np.array([1.0, 2.2, 3]), sizes), mode="ping")
    assert found.degrees == 1
    # by hand: residuals -1/15, 2/15, -1/15 square to 6/225; the sizes spread by 20 000
    assert found.stderr["byte_cost"] == pytest.approx(np.sqrt(6 / 225 / 20_000))


def test_without_a_noted_mtu_nothing_is_cut():
    sizes = np.array([300.0, 20_000, 40_000, 65_507])
    found = fit.datagram_costs(run(EACH + BYTE * sizes, sizes, mode="udp", mtu=None))
    assert "packet_cost" in found.not_identifiable
    assert found.parts(sizes)[2].tolist() == [0.0] * 4
    more = fit.datagram_costs(run(EACH + BYTE * sizes, sizes, mode="udp", mtu=65_536))
    assert more.parts(sizes)[2].tolist() == [0.0] * 4
    # by hand: 1480 bytes a packet on an MTU of 1500, and 40 008 of them
    less = fit.datagram_costs(run(EACH + BYTE * sizes, sizes, mode="udp", mtu=1500))
    assert less.parts(sizes)[2].tolist() == [0.0, 13.0, 27.0, 44.0]


def test_the_response_of_udp_is_fitted_unless_asked_otherwise():
    times = np.array([EACH, BYTE, PACKET, MBUF]) @ udp_parts(SIZES)
    found = fit.datagram_costs(run(times, mode="udp", tap_s=times / 2))
    assert found.params["transaction_s"] == pytest.approx(EACH)


def blasts(write_bytes, each_s, *, count=1000.0):
    size, each = np.asarray(write_bytes, dtype=float), np.asarray(each_s, dtype=float)
    return BulkSamples(
        write_bytes=size, write_count=np.full(size.size, count), sent_bytes=count * size,
        received_bytes=count * size, wall_s=count * each, delivery_s=count * each,
        meta=Meta(tool="netcalc line-rate", target="loopback, UDP"),
    )  # fmt: skip


def test_frames_have_their_headers_and_their_smallest_size():
    # by hand: 28 bytes of IP and UDP, 14 of Ethernet, 4 of FCS; no frame has less than 64
    samples = blasts([1.0, 18, 19, 1472], [1e-6] * 4)
    assert fit.frame_bytes(samples).tolist() == [64.0, 64.0, 65.0, 1518.0]


def test_costs_of_frames_are_those_of_least_squares():
    writes = np.array([18.0, 18, 82, 210, 466, 978, 1472])
    frames = writes + 46
    each = 5e-6 + 4e-10 * frames + np.array([0, 9e-6, 2, -1, 1, -2, 1]) * 1e-9
    found = fit.frame_costs(blasts(writes, each))
    kept = np.array([0, 2, 3, 4, 5, 6])
    rows = np.stack([np.ones(6), frames[kept]])
    inverse = np.linalg.inv(rows @ rows.T)
    costs = inverse @ rows @ each[kept]
    left = each[kept] - costs @ rows
    covariance = (left @ left) / 4 * inverse
    assert list(found.params.values()) == pytest.approx(costs.tolist())
    assert list(found.stderr.values()) == pytest.approx(np.sqrt(np.diag(covariance)).tolist())
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6)
    assert found.degrees == 4
    assert found.residual == pytest.approx(left, abs=1e-14)
    assert found.measured == pytest.approx(each[kept])
    assert found.margin_of("byte_cost") == pytest.approx(
        stdtrit(4, 0.975) * np.sqrt(covariance[1, 1])
    )


def test_times_that_do_not_grow_are_a_mean_with_its_error():
    found = fit.frame_costs(blasts([100.0, 500, 1000, 1400], [8e-6, 6e-6, 7e-6, 3e-6]))
    assert set(found.not_identifiable) == {"byte_cost"}
    assert found.params["packet_cost"] == pytest.approx(6e-6)
    # by hand: squares 4, 0, 1 and 9, over 3, over 4
    assert found.stderr["packet_cost"] == pytest.approx(1e-6 * np.sqrt(14 / 3 / 4))
    assert np.isnan(found.stderr["byte_cost"])
    assert found.degrees == 3
    assert found.residual == pytest.approx([2e-6, 0, 1e-6, -3e-6], abs=1e-15)


def test_a_flat_time_has_no_cost_of_a_byte():
    found = fit.frame_costs(blasts([100.0, 500, 1000], [4e-6] * 3))
    assert set(found.not_identifiable) == {"byte_cost"}
    assert found.params["packet_cost"] == pytest.approx(4e-6)
    assert found.stderr["packet_cost"] == pytest.approx(0.0, abs=1e-12)


def test_two_sizes_and_none():
    two = fit.frame_costs(blasts([54.0, 954], [5e-6, 6e-6]))
    assert two.params == pytest.approx({"packet_cost": 4.888889e-6, "byte_cost": 1e-6 / 900})
    assert two.degrees == 0
    assert np.isnan(two.margin_of("byte_cost"))
    one = fit.frame_costs(blasts([54.0], [5e-6]))
    assert one.degrees == 0
    assert np.isnan(one.stderr["packet_cost"])
    none = fit.frame_costs(blasts([], []))
    assert set(none.not_identifiable) == {"packet_cost", "byte_cost"}
    assert np.isnan(list(none.params.values())).all()
    assert none.degrees == 0


def test_blasts_without_a_time_do_not_enter():
    found = fit.frame_costs(blasts([54.0, 454, 954], [5e-6, np.nan, 6e-6]))
    assert found.x.tolist() == [100.0, 1000.0]
