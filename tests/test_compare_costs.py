"""Theory over a step of fragments, and over an echo whose path is known from its run."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import compare
from netcalc.errors import DomainError
from netcalc.samples import Meta, RttSamples, TransactionSamples

SIZES = np.array([8, *range(100, 2001, 100), 1508, 1509], dtype=float)
NOISE = 5e-8 * np.tile([1.0, -1.0, 0.5], 8)[: SIZES.size]


def run(step_s, *, mtu=1536, noise=NOISE, **columns):
    times = 30e-6 + 2e-9 * SIZES + step_s * (mtu - 28 < SIZES) + noise
    return TransactionSamples(
        mode=["udp"] * SIZES.size, sequence=np.arange(SIZES.size) + 1.0, payload_bytes=SIZES,
        response_s=times, meta=Meta(instrument={"loopback_mtu_bytes": mtu}), **columns,
    )  # fmt: skip


def test_a_step_is_seen_with_its_size_and_margin():
    found = compare.datagram_costs(run(8e-6))
    # derived: 8 µs of the 30 + 2e-3 x 1508 = 33.0 µs of a whole datagram
    assert "From 1508 to 1509 bytes the time increases by 24%: 7.9" in found.sentence
    assert "A further mbuf of 4.4BSD has no significant cost here" in found.sentence
    assert (found.curve_high >= found.curve_low).all()
    before, after = np.interp([1508, 1509], found.curve_x, found.curve_y)
    assert after - before == pytest.approx(8e-6, abs=1e-7), "it jumps within one byte"


def test_no_step_is_no_step():
    found = compare.datagram_costs(run(0.0))
    assert "there is no significant step" in found.sentence
    large = compare.datagram_costs(run(8e-6, mtu=65_536))
    assert large.sentence == (
        "No step can be determined: all datagrams consist of the same number of packets."
    )


@pytest.mark.each(
    ("mode", "sizes", "sentence"),
    [
        ("udp", [], "udp: no transaction has a time."),
        ("udp", [100], "udp: a transaction of 100 B takes 40 µs; the cost per byte requires more"),
        (
            "tcp",
            [100, 4000],
            "tcp: a transaction of 100 B takes 40 µs; the costs per byte and per further",
        ),
        # by hand: 20 µs and 200 ns a byte
        ("udp", [100, 200], "udp: a transaction takes 20 µs + 200 ns per byte (fitted)."),
        ("udp", [100, 200, 300, 400], "200 ns per byte (fitted); median absolute residual 1 µs."),
    ],
)
def test_what_transactions_cost_is_a_sentence(mode, sizes, sentence):
    times = 20e-6 + 0.2e-6 * np.array(sizes, dtype=float)
    if len(sizes) == 4:
        times += 1e-6 * np.array([1.0, -1.0, -1.0, 1.0])  # of which no line takes a part
    samples = TransactionSamples(
        mode=[mode] * len(sizes), sequence=range(1, len(sizes) + 1), payload_bytes=sizes,
        response_s=times, meta=Meta(instrument={"loopback_mtu_bytes": 1536}),
    )  # fmt: skip
    found = compare.transactions(samples, mode=mode).sentence
    assert sentence in found
    assert "not defined" not in found


def test_shares_of_the_largest_whole_datagram():
    found = compare.datagram_costs(run(8e-6, noise=0.0), relative=True)
    assert found.y_unit == "ratio"
    at = dict(zip(found.x.tolist(), found.measured.tolist(), strict=True))
    assert at[1508] == pytest.approx(1.0)
    assert at[1509] == pytest.approx(1 + (8e-6 + 2e-9) / (30e-6 + 2e-9 * 1508))


def test_nothing_measured_and_a_clock_that_is_none():
    empty = TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    found = compare.datagram_costs(empty)
    assert found.sentence == "There are no UDP transactions with a time."
    with pytest.raises(DomainError) as refused:
        compare.datagram_costs(empty, clock="wall")
    assert (refused.value.code, refused.value.name) == ("not-a-choice", "clock")
    assert list(refused.value.values["choices"]) == ["program", "tap"]
    tap = compare.datagram_costs(run(8e-6, tap_s=np.full(SIZES.size, 1e-5)), clock="tap")
    assert tap.measured.tolist() == [1e-5] * SIZES.size


def echo(layer, family="IPv4", header=28):
    """Round trips over a T1 with 5 ms each way, by hand, as a live run notes them."""
    sizes = np.array([8.0, 700.0, 1400.0])
    truth = {"bandwidths_bps": [1.544e6], "latencies_s": [0.005], "processings_s": [0.0, 0.0]}
    meta = Meta(
        layers={"payload_bytes": layer}, instrument={"truth": truth, "address_family": family}
    )
    rtt = 0.010 + 16 * (sizes + header) / 1.544e6
    return RttSamples(payload_bytes=sizes, rtt_s=rtt, meta=meta)


@pytest.mark.each(
    ("layer", "family", "header", "source"),
    [
        ("UDP payload", "IPv4", 28, "published: RFC 791 and 768, 20 + 8"),
        ("ICMP payload", "IPv4", 28, "published: RFC 791 and 792, 20 + 8"),
        ("TCP payload", "IPv4", 52, "published: RFC 9293 and 7323, 20 + 20 + 12"),
        ("UDP payload", "IPv6", 48, "published: RFC 8200, 40 instead of 20"),
    ],
)
def test_the_path_of_a_live_echo_is_not_fitted(layer, family, header, source):
    found = compare.overlay(echo(layer, family, header))
    assert found.fit is None
    assert found.predicted_label == "predicted from the path"
    assert np.abs(found.residual).max() < 1e-12, source
