"""IP fragmentation: both ways of cutting done piece by piece, and the loss of a datagram."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcalc.errors import DomainError
from netcalc.models.sizes import fragmentation


def cut_rfc791(size, header, mtu, extra=0):
    """Second method: the procedure of RFC 791 section 3.2, one fragment after the other."""
    if header + size <= mtu:
        return [size]
    pieces = []
    while header + extra + size > mtu:
        blocks = (mtu - header - extra) // 8
        pieces.append(8 * blocks)
        size -= 8 * blocks
    return [*pieces, size]


def cut_bsd(size, header, mtu, extra=0):
    """Second method: ip_output of 4.4BSD cuts at steps of (mtu - header) & ~7."""
    if header + size <= mtu:
        return [size]
    step = (mtu - header - extra) & ~7
    return [min(step, size - start) for start in range(0, size, step)]


CUTS = {"rfc791": cut_rfc791, "bsd": cut_bsd}


@given(
    size=st.integers(0, 65_535 - 60),
    mtu=st.integers(68, 9000),
    options=st.sampled_from([0, 4, 40]),
    algorithm=st.sampled_from(sorted(CUTS)),
)
def test_ipv4_against_the_procedure(size, mtu, options, algorithm):
    header = 20 + options
    expected = CUTS[algorithm](size, header, mtu)
    setting = {"mtu_bytes": mtu, "ip_option_bytes": options, "algorithm": algorithm}
    assert fragmentation.fragments_bytes(size, **setting).tolist() == expected
    assert fragmentation.fragment_count(size, **setting) == len(expected)
    assert fragmentation.fragmented_bytes(size, **setting) == size + header * len(expected)
    wire = sum(max(64, 18 + header + piece) + 20 for piece in expected)
    assert fragmentation.fragmented_wire_bytes(size, **setting) == wire


@given(
    size=st.integers(0, 65_535),
    mtu=st.integers(1280, 9000),
    algorithm=st.sampled_from(sorted(CUTS)),
)
def test_ipv6_against_the_procedure(size, mtu, algorithm):
    expected = CUTS[algorithm](size, 40, mtu, extra=8)
    setting = {"mtu_bytes": mtu, "ip_version": 6, "algorithm": algorithm}
    assert fragmentation.fragments_bytes(size, **setting).tolist() == expected
    header = 40 if len(expected) == 1 else 48
    assert fragmentation.fragmented_bytes(size, **setting) == size + header * len(expected)
    wire = sum(max(64, 18 + header + piece) + 20 for piece in expected)
    assert fragmentation.fragmented_wire_bytes(size, **setting) == wire


@pytest.mark.each(
    ("udp_payload", "mtu", "expected", "source"),
    [
        (1508, 1536, [1516], "published: Stevens vol. 3 A.2: 1508 is the last that fits"),
        (1509, 1536, [1512, 5], "published: the same; 1516 is no multiple of 8"),
        (1472, 1500, [1480], "derived: 1500 - 28"),
        (1473, 1500, [1480, 1], "derived: one byte more"),
        (4000, 1006, [984, 984, 984, 984, 72], "derived: (1006 - 20) & ~7 = 984"),
    ],
)
def test_steps_of_udp(udp_payload, mtu, expected, source):
    pieces = fragmentation.fragments_bytes(udp_payload + 8, mtu_bytes=mtu)
    assert pieces.tolist() == expected, source


def test_the_two_algorithms_differ_at_an_odd_mtu_only():
    sizes = np.arange(1, 20_000)
    for mtu, differ in ((1500, False), (1536, True), (576, True)):
        counts = [
            fragmentation.fragment_count(sizes, mtu_bytes=mtu, algorithm=algorithm)
            for algorithm in ("rfc791", "bsd")
        ]
        assert (counts[0] != counts[1]).any() == differ
        assert (counts[1] >= counts[0]).all()


def test_smallest_mtus():
    assert fragmentation.min_mtu_bytes(4) == 68  # published: RFC 791
    assert fragmentation.min_mtu_bytes(6) == 1280  # published: RFC 8200


@pytest.mark.each(
    ("call", "facts"),
    [
        (
            lambda: fragmentation.fragment_count(65_508 + 8),
            {"code": "packet-too-long", "name": "ip_payload_bytes", "value": 65516},
        ),
        (lambda: fragmentation.fragment_count(65_536, ip_version=6), {"name": "ip_payload_bytes"}),
        (lambda: fragmentation.fragment_count(1000.5), {"name": "ip_payload_bytes"}),
        (
            lambda: fragmentation.fragment_count(1000, mtu_bytes=67),
            {"code": "below-minimum", "name": "mtu_bytes", "value": 67, "low": 68},
        ),
        (
            lambda: fragmentation.fragment_count(1000, mtu_bytes=1279, ip_version=6),
            {"name": "mtu_bytes"},
        ),
        (
            lambda: fragmentation.fragment_count(1000, ip_option_bytes=44),
            {"name": "ip_option_bytes"},
        ),
        (
            lambda: fragmentation.fragment_count(1000, algorithm="sysv"),
            {"code": "not-a-choice", "name": "algorithm", "value": "sysv"},
        ),
        (lambda: fragmentation.fragments_bytes([1000, 2000]), {"name": "ip_payload_bytes"}),
        (lambda: fragmentation.fragments_bytes(float("nan")), {"name": "ip_payload_bytes"}),
    ],
)
def test_impossible_numbers_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


@pytest.mark.parametrize("size", [[3028.0], [[3028.0]], np.array([[3028]])])
def test_a_list_of_one_size_is_one_size(size):
    """Identity: a number in brackets is that number, as in every other formula."""
    for mtu in (1536, [1536.0]):
        found = fragmentation.fragments_bytes(size, mtu_bytes=mtu)
        assert found.tolist() == fragmentation.fragments_bytes(3028, mtu_bytes=1536).tolist()
