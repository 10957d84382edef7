"""Mixes of links that take a given time: published puzzle, and brute force as second method."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.delays import latency as module
from netcalc.models.delays.latency import path_mixes
from netcalc.path import Link, Path

T1, ETHERNET, T3 = 1.544e6, 10e6, 45e6
BOOK = {"bandwidth_bps": [T1, ETHERNET, T3], "link_count": [12, 13], "base_rtt_s": 0.092}
"""published: Stevens vol. 3, A.3: 80 ms, and 12 routers of 0.5 ms in both directions."""


def brute_force(rtt_s, *, bandwidth_bps, link_count, packet_bytes, base_rtt_s, tolerance_s=1e-3):
    """Try every multiset of links; return counts by kind with their residuals."""
    found = {}
    for length in link_count:
        for chosen in combinations_with_replacement(range(len(bandwidth_bps)), length):
            clocking_s = sum(16 * packet_bytes / bandwidth_bps[kind] for kind in chosen)
            residual_s = base_rtt_s + clocking_s - rtt_s
            if abs(residual_s) <= tolerance_s:
                found[tuple(map(chosen.count, range(len(bandwidth_bps))))] = residual_s
    return found


@pytest.mark.each(
    ("packet_bytes", "mixes", "rtts_s", "source"),
    [
        (1428, [[6, 2, 4], [6, 1, 6], [6, 2, 5]], [0.18739, 0.18612, 0.18790],
         "derived: the mix that is known to fit (187.4 ms) leads"),
        (1400, [[6, 3, 3], [6, 3, 4], [6, 2, 5]], [0.18726, 0.18776, 0.18602],
         "derived: 0.092 + 16 x 1400 x sum of n / R, by hand for the first"),
    ],
)  # fmt: skip
def test_the_book_s_187_ms(packet_bytes, mixes, rtts_s, source):
    found = path_mixes(0.187, packet_bytes=packet_bytes, **BOOK)
    assert found.link_count.tolist() == mixes, source
    assert found.rtt_s == pytest.approx(rtts_s, abs=5e-6), source
    assert found.residual_s == pytest.approx(np.array(rtts_s) - 0.187, abs=5e-6), source


def test_five_mixes_come_within_a_millisecond():
    """derived by an audit of the book: of 12 or 13 links, with or without the 28 header bytes."""
    mixes = {
        tuple(row)
        for size in (1400, 1428)
        for row in path_mixes(0.187, packet_bytes=size, **BOOK).link_count.tolist()
    }
    assert len(mixes) == 5
    assert {row[0] for row in mixes} == {6}, "all of them have six T1 lines"


def test_with_the_book_s_7_5_ms_on_a_t1():
    """derived by the audit: 6 T1, one Ethernet, 6 T3 make 187.3 ms if a T1 takes 7.5 ms."""
    rounded = 8 * 1428 / 7.5e-3
    found = path_mixes(
        0.187, packet_bytes=1428, **{**BOOK, "bandwidth_bps": [rounded, ETHERNET, T3]}
    )
    assert [6, 1, 6] in found.link_count.tolist()
    assert found.rtt_s[found.link_count[:, 2] == 6] == pytest.approx([0.1873], abs=5e-5)


@pytest.mark.each("seed", range(12))
def test_brute_force_finds_the_same(seed):
    draw = np.random.default_rng(seed)
    kinds = draw.choice([56e3, 64e3, T1, 2.048e6, ETHERNET, T3, 1e8], 4, replace=False).tolist()
    question = {
        "bandwidth_bps": kinds,
        "link_count": sorted({int(n) for n in draw.integers(1, 9, 2)}),
        "packet_bytes": float(draw.integers(28, 1500)),
        "base_rtt_s": float(draw.uniform(0, 0.1)),
        "tolerance_s": float(10 ** draw.uniform(-4, -1)),
    }
    path = draw.choice(kinds, question["link_count"][0])
    rtt_s = question["base_rtt_s"] + 16 * question["packet_bytes"] * float((1 / path).sum())
    found = path_mixes(rtt_s, **question)
    wanted = brute_force(rtt_s, **question)
    assert set(map(tuple, found.link_count.tolist())) == set(wanted)
    assert tuple(np.sum(path[:, None] == np.array(kinds), axis=0)) in wanted, "the truth is there"
    for row, residual_s in zip(found.link_count.tolist(), found.residual_s, strict=True):
        assert residual_s == pytest.approx(wanted[tuple(row)], abs=1e-12)
    assert np.all(np.diff(np.abs(found.residual_s)) >= 0), "the best first"


def test_six_kinds_and_thirteen_links():
    kinds = [56e3, T1, 2.048e6, ETHERNET, T3, 1e8]
    question = {**BOOK, "bandwidth_bps": kinds, "packet_bytes": 1428}
    assert len(brute_force(0.187, **question)) == len(path_mixes(0.187, **question).rtt_s)


def test_a_path_of_such_links_takes_this_time():
    """identity: Path.rtt_s of the links of a mix, whatever their order."""
    found = path_mixes(0.187, packet_bytes=1428, **BOOK)
    for counts, rtt_s in zip(found.link_count, found.rtt_s, strict=True):
        links = [Link(rate) for rate, count in zip(BOOK["bandwidth_bps"], counts, strict=True)
                 for _ in range(count)]  # fmt: skip
        assert 0.092 + Path.of(links[::-1]).rtt_s(1428) == pytest.approx(rtt_s, rel=1e-12)


def test_the_order_of_the_kinds_is_the_asker_s():
    swapped = {**BOOK, "bandwidth_bps": [T3, T1, ETHERNET]}
    found = path_mixes(0.187, packet_bytes=1428, **swapped)
    assert found.link_count[0].tolist() == [4, 6, 2]


def test_nothing_fits():
    found = path_mixes(0.05, packet_bytes=1428, **BOOK)
    assert found.link_count.shape == (0, 3)
    assert found.rtt_s.size == found.residual_s.size == 0


def test_one_kind_and_one_link():
    # derived: 16 x 1428 / 1.544e6 = 14.798 ms
    found = path_mixes(0.0148, bandwidth_bps=T1, link_count=1, packet_bytes=1428, tolerance_s=1e-5)
    assert found.link_count.tolist() == [[1]]


@pytest.mark.each(
    ("changed", "named"),
    [
        ({"bandwidth_bps": [T1, 0.0]}, "bandwidth_bps"),
        ({"bandwidth_bps": []}, "bandwidth_bps"),
        ({"bandwidth_bps": [T1, np.nan]}, "bandwidth_bps"),
        ({"link_count": [12.5]}, "link_count"),
        ({"link_count": [0]}, "link_count"),
        ({"link_count": [1e9]}, "link_count"),
        ({"packet_bytes": 0.0}, "packet_bytes"),
        ({"base_rtt_s": -1.0}, "base_rtt_s"),
        ({"tolerance_s": np.inf}, "tolerance_s"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, named):
    with pytest.raises(DomainError) as caught:
        path_mixes(0.187, **{**BOOK, "packet_bytes": 1428, **changed})
    assert caught.value.name == named


def test_a_round_trip_that_is_no_number_is_refused():
    with pytest.raises(DomainError, match="rtt_s"):
        path_mixes(np.nan, packet_bytes=1428, **BOOK)


def test_too_many_mixes_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(module, "MAX_MIXES", 50)
    with pytest.raises(DomainError, match="fewer kinds or a smaller tolerance"):
        path_mixes(0.187, packet_bytes=1428, tolerance_s=1.0, **BOOK)
