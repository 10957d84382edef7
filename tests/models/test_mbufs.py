"""Mbufs: a socket layer that fills buffers one by one, the book's story, systems' constants."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.hosts import mbufs


def filled(data, *, mincl, mcl, compare, first_room, first_len, next_len):
    """Second method: take buffer after buffer; return the bytes and kind of each."""
    chain = []
    left = data
    while left > 0 or not chain:
        wants = left >= mincl if compare == ">=" else left > mincl
        if wants:
            take = min(left, mcl - (first_room if not chain else 0))
        else:
            take = min(left, next_len if chain else first_len)
        chain.append((take, wants))
        left -= take
    return chain


def datagram(data, *, header=28, mincl=208, mcl=2048, compare=">=", max_hdr=56):
    chain = filled(
        data,
        mincl=mincl,
        mcl=mcl,
        compare=compare,
        first_room=max_hdr,
        first_len=100,
        next_len=108,
    )
    size, is_cluster = chain[0]
    room = 0 if is_cluster or size == 100 else (100 - size) & ~3
    return len(chain) + (room < header), sum(is_cluster for _, is_cluster in chain)


@pytest.mark.each("compare", [">=", ">"])
@pytest.mark.each("mincl", [50, 101, 208, 512])
@pytest.mark.each("mcl", [1024, 2048])
def test_datagrams_against_the_filling(mincl, mcl, compare):
    sizes = np.arange(0, 4500)
    for header, inner in [(28, 0), (20, 8)]:
        computed = mbufs.datagram_mbufs(
            sizes,
            header_bytes=header,
            inner_header_bytes=inner,
            minclsize_bytes=mincl,
            mcl_bytes=mcl,
            compare=compare,
        )
        counted = [
            datagram(n + inner, header=header, mincl=mincl, mcl=mcl, compare=compare) for n in sizes
        ]
        np.testing.assert_array_equal(np.stack(computed).T, counted)


@pytest.mark.each("compare", [">=", ">"])
@pytest.mark.each("mincl", [101, 208])
@pytest.mark.each("mss", [88, 536, 1448])
def test_streams_against_the_filling(mincl, compare, mss):
    """Derived: every buffer of the chain is one call and begins a new packet of 100 bytes."""
    sizes = np.arange(1, 4500)
    kind = {"minclsize_bytes": mincl, "compare": compare}
    fill = {"mincl": mincl, "mcl": 2048, "compare": compare}
    chains = [filled(n, first_room=0, first_len=100, next_len=100, **fill) for n in sizes]
    computed = mbufs.stream_mbufs(sizes, **kind)
    np.testing.assert_array_equal(computed.calls, [len(chain) for chain in chains])
    np.testing.assert_array_equal(
        computed.clusters, [sum(is_cluster for _, is_cluster in chain) for chain in chains]
    )
    apart = mbufs.stream_segments(sizes, mss_bytes=mss, nodelay=True, **kind)
    np.testing.assert_array_equal(
        apart, [sum(-(-take // mss) for take, _ in chain) for chain in chains]
    )
    nagle = mbufs.stream_segments(sizes, mss_bytes=mss, **kind)
    collected = [
        -(-chain[0][0] // mss) - (-(n - chain[0][0]) // mss)
        for n, chain in zip(sizes, chains, strict=True)
    ]
    np.testing.assert_array_equal(nagle, collected)


def test_the_story_of_the_loopback_curves():
    """Published: Stevens vol. 3, A.2: 0, 100, 200, 300 bytes take 1, 2, 3 mbufs, a cluster."""
    count = mbufs.datagram_mbufs([0, 100, 200, 300])
    assert count.mbufs[:3].tolist() == [1, 2, 3]
    assert count.clusters.tolist() == [0, 0, 0, 1]
    assert mbufs.stream_segments(200) == 2, "published: two segments of 100 bytes on the wire"
    for quantity in (mbufs.stream_segments, lambda n, **k: mbufs.stream_mbufs(n, **k).calls):
        assert quantity(200, minclsize_bytes=101) == 1, "published: no spike at 200 with 101"


def test_ping_at_208_bytes_depends_on_the_comparison():
    """Derived: ping hands over 200 + 8 bytes, just MINCLSIZE; the book's wording is ">"."""
    ping = {"header_bytes": 20, "inner_header_bytes": 8}
    assert mbufs.datagram_mbufs(200, **ping).clusters == 1
    by_words = mbufs.datagram_mbufs(200, compare=">", **ping)
    assert (by_words.mbufs, by_words.clusters) == (3, 0)


def test_segment_mbufs_with_more_data_mbufs():
    """Derived: 100 - 40 - 16 = 44 bytes fit behind the headers."""
    assert mbufs.segment_mbufs([44, 45]).tolist() == [1, 2]
    assert mbufs.segment_mbufs(200, data_mbuf_count=2) == 3


def test_constants_of_the_systems():
    """Derived: from the sizes of the headers, 20 and 8 with 32 bits, 32 and 56 with 64."""
    for system, header, packet_header in [(mbufs.BSD44, 20, 8), (mbufs.FREEBSD_LP64, 32, 56)]:
        assert system.mlen_bytes == system.msize_bytes - header
        assert system.mhlen_bytes == system.mlen_bytes - packet_header
    assert mbufs.BSD44.minclsize_bytes == 208, "published: MHLEN + MLEN"
    assert mbufs.FREEBSD_LP64.minclsize_bytes == 169, "published: MHLEN + 1"
    assert mbufs.BSD44.max_hdr_bytes == mbufs.BSD44.max_linkhdr_bytes + 40
    both = 40 + 20  # of IPv6 and TCP: published, tcp_init in netinet/tcp_subr.c
    assert mbufs.FREEBSD_LP64.max_hdr_bytes == mbufs.FREEBSD_LP64.max_linkhdr_bytes + both
    assert mbufs.BSD44_LITE2_I386.mcl_bytes == 1024


def test_freebsd_against_a_chain():
    """Derived: pages while more than 2048 are left, then a cluster or an mbuf."""
    for n in range(1, 20000, 37):
        left, clusters, count = n, 0, 0
        while left > 0:
            take = 4096 if left > 2048 else 2048 if left >= 169 else 168
            clusters += take > 168
            count += 1
            left -= take
        computed = mbufs.freebsd_mbufs(n)
        assert (computed.calls, computed.mbufs, computed.clusters) == (1, count, clusters)
    assert mbufs.freebsd_mbufs(0).mbufs == 1


def test_impossible_and_not_finite():
    with pytest.raises(DomainError) as refused:
        mbufs.datagram_mbufs(65_508)
    assert refused.value.code == "packet-too-long"
    assert refused.value.values["high"] == 65_535
    assert mbufs.datagram_mbufs(65_507).clusters == 32, "derived: 1992 + 31 x 2048 + 27"
    with pytest.raises(DomainError) as refused:
        mbufs.stream_mbufs(200, minclsize_bytes=4096)
    assert refused.value.code == "above-argument"
    assert refused.value.values["other"] == "mcl_bytes"
    with pytest.raises(DomainError, match="compare"):
        mbufs.stream_mbufs(200, compare="<")
    with pytest.raises(DomainError) as refused:
        mbufs.datagram_mbufs(0.5)
    assert (refused.value.code, refused.value.name) == ("not-whole", "payload_bytes")
    assert np.isnan(mbufs.datagram_mbufs(np.nan).mbufs)
    assert np.isnan(mbufs.stream_mbufs(np.nan).calls)
    assert np.isnan(mbufs.freebsd_mbufs(np.nan).mbufs)
