"""The cost of a host: Snader's tables, Stevens' loopback curves, sums taken apart."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.hosts import host_stack


def test_tcp_of_snader_in_two_terms():
    """Measured: Table 2.2, TCP; 425 us and 107 ns/B solve both rows."""
    packets = np.ceil(7.2e6 / np.array([1448, 16332]))
    assert packets.tolist() == [4973, 441], "published: 1448 and 16332 bytes a segment"
    costs = host_stack.two_point_costs(
        [2.88, 0.9558], packet_count=packets, payload_bytes=[7.2e6, 7.2e6]
    )
    matrix = np.array([[4973, 7.2e6], [441, 7.2e6]])
    solved = np.linalg.solve(matrix, [2.88, 0.9558])
    assert costs.packet_cost == pytest.approx(solved[0]), "derived: linear equations"
    assert costs.byte_cost == pytest.approx(solved[1]), "derived: linear equations"
    again = host_stack.bulk_s(7.2e6, segment_bytes=[1448, 16332], **costs._asdict())
    assert again == pytest.approx([2.88, 0.9558]), "identity: the two points lie on it"


def test_udp_of_snader_in_two_terms():
    """Measured: Tables 2.2 and 2.3, UDP to bsd: 309 us a datagram, 58 ns a byte."""
    costs = host_stack.two_point_costs(
        [1.9618, 1.6324], packet_count=[5000, 5000], payload_bytes=[7.2e6, 1.5e6]
    )
    assert costs.packet_cost == pytest.approx(309e-6, rel=0.002)
    assert costs.byte_cost == pytest.approx(58e-9, rel=0.005)


def test_two_points_that_tell_nothing():
    same = host_stack.two_point_costs([1, 2], packet_count=[10, 20], payload_bytes=[100, 200])
    assert np.isnan(same.packet_cost)
    assert np.isnan(same.byte_cost)
    with pytest.raises(DomainError) as refused:
        host_stack.two_point_costs([1, 2, 3], packet_count=[1, 2], payload_bytes=[1, 2])
    assert (refused.value.code, refused.value.values["count"]) == ("wrong-count", 3)
    assert refused.value.values["expected"] == 2


def test_delivered_goodput():
    """Derived: Table 2.2 and 2.3 by hand, (5000 - lost) x size / time in MB/s."""
    lost = np.array([336, 272, 440, 212, 306])
    rates = host_stack.delivered_goodput_bps(
        5000,
        lost_count=lost,
        write_bytes=np.array([1440, 1440, 1440, 300, 300]),
        elapsed_s=np.array([1.9618, 1.9748, 5.8284, 1.6324, 1.9118]),
    )
    assert rates / 8e6 == pytest.approx([3.42347, 3.4476, 1.12662, 0.87993, 0.73658], rel=1e-5)
    with pytest.raises(DomainError, match="lost_count"):
        host_stack.delivered_goodput_bps(10, lost_count=11, write_bytes=1, elapsed_s=1)


COSTS = {"packet_cost": 0.667e-3, "program_s": 1.0e-3, "connection_s": 2.9e-3}


def test_order_of_the_protocols():
    """Measured: Stevens vol. 3, A.2: UDP 3 to 4 ms, T/TCP about twice, TCP about 1.5 of that."""
    times = {
        protocol: float(host_stack.transaction_s(0, protocol=protocol, **COSTS))
        for protocol in host_stack.TRANSACTIONS
    }
    assert times["ping"] < times["udp"] < times["ttcp"] < times["tfo"] < times["tcp"]
    assert 3e-3 < times["udp"] < 4e-3
    assert times["ttcp"] / times["udp"] == pytest.approx(2, abs=0.2)
    assert times["tcp"] / times["ttcp"] == pytest.approx(1.5, abs=0.15)
    assert times["tcp"] - times["ttcp"] == pytest.approx(4e-3, rel=0.01), "9 - 3 segments"


def test_the_step_at_1509_bytes():
    """Published: the loopback MTU is 1536: 1508 bytes fit, one more takes a second fragment."""
    times = host_stack.transaction_s([1508, 1509], protocol="udp", **COSTS)
    assert times[1] - times[0] == pytest.approx(2 * COSTS["packet_cost"]), "there and back"
    ping = host_stack.transaction_s([1508, 1509], protocol="ping", **COSTS)
    assert ping[1] > ping[0]


def test_the_bump_at_200_bytes():
    """Published: Stevens vol. 3, A.2: all curves rise at 200 bytes, TCP's most; 101 cures it."""
    sizes = np.array([100, 200, 300])
    rise = {}
    for protocol in ("udp", "ttcp", "tcp"):
        kind = {"protocol": protocol, "mbuf_s": 0.1e-3, "cluster_s": 0.02e-3, **COSTS}
        times = host_stack.transaction_s(sizes, **kind)
        rise[protocol] = times[1] - times[0]
        assert times[1] > times[0]
        assert times[2] < times[1]
        cured = host_stack.transaction_s(sizes, minclsize_bytes=101, **kind)
        assert cured[1] == cured[2]
    assert rise["tcp"] > 2 * rise["udp"]
    assert rise["tcp"] == pytest.approx(rise["ttcp"])


def test_bytes_are_touched_as_often_as_the_table_says():
    """Derived: ping two copies, UDP four; a slope of copies x cost between sizes of one kind."""
    kind = {"packet_cost": 0.0, "copy_cost": 1e-9}
    for protocol, copies in [("ping", 2), ("udp", 4), ("tcp", 4)]:
        times = host_stack.transaction_s([400, 1400], protocol=protocol, **kind)
        assert times[1] - times[0] == pytest.approx(copies * 1000e-9)


def test_message_is_a_sum():
    """Derived: 3 x 50 us + 1000 x (2 x 10 ns + 1 x 5 ns), by hand."""
    taken = host_stack.message_s(
        1000,
        packet_cost=50e-6,
        copy_cost=10e-9,
        checksum_cost=5e-9,
        packet_count=3,
        copy_count=2,
    )
    assert taken == pytest.approx(175e-6)


def test_impossible():
    with pytest.raises(DomainError, match="protocol"):
        host_stack.transaction_s(0, protocol="sctp", packet_cost=1e-3)
    with pytest.raises(DomainError, match="packet_cost"):
        host_stack.message_s(0, packet_cost=-1)
    with pytest.raises(DomainError, match="segment_bytes"):
        host_stack.bulk_s(1, segment_bytes=0, packet_cost=1e-3)
    assert np.isnan(host_stack.transaction_s(np.nan, protocol="udp", packet_cost=1e-3))


def test_each_further_packet_is_counted_twice_in_a_transaction():
    """Identity: with a cost for packets alone, what a size adds is its packets, there and back.

    By hand: 200 bytes to TCP are two segments of 100; 3000 to UDP are two fragments of a loopback
    of 1536 bytes; 0 and 1 byte are one packet.
    """
    costs = {"packet_cost": 1.0, "program_s": 0.0, "connection_s": 0.0}
    for protocol, size, further in (("tcp", 0, 0), ("tcp", 1, 0), ("tcp", 100, 0), ("tcp", 200, 1),
                                    ("ttcp", 200, 1), ("udp", 0, 0), ("udp", 1400, 0),
                                    ("udp", 3000, 1), ("ping", 3000, 1),
                                    ("ping", 100, 0)):  # fmt: skip
        known = {**costs, "mtu_bytes": 1536}
        least = host_stack.transaction_s(1, protocol=protocol, **known)
        found = host_stack.transaction_s(size, protocol=protocol, **known)
        assert found - least == 2 * further, (protocol, size)


def test_the_table_of_transactions():
    """Stevens vol. 3, 1.2 to 1.4: 2, 3 and 9 segments; by hand for RFC 7413: SYN with the request,
    SYN with ACK, the reply with FIN, ACK with FIN, ACK.

    Each program copies the request and the reply once, and each of the two messages is summed when
    it is made and when it is verified.
    """
    found = host_stack.TRANSACTIONS
    segments = {name: one.segments for name, one in found.items()}
    assert segments == {"ping": 2, "udp": 2, "ttcp": 3, "tfo": 5, "tcp": 9}
    assert [one.connections for one in found.values()] == [0, 0, 1, 1, 1]
    assert [one.programs for one in found.values()] == [1, 2, 2, 2, 2]
    assert all(one.copies == 2 * one.programs for one in found.values())
    assert all(one.checksums == 2 * 2 for one in found.values())


def test_a_message_is_one_packet_with_one_copy_and_one_sum_unless_said():
    assert host_stack.message_s(10, packet_cost=1.0) == 1.0
    assert host_stack.message_s(10, packet_cost=0, copy_cost=1.0) == 10.0
    assert host_stack.message_s(10, packet_cost=0, checksum_cost=1.0) == 10.0
