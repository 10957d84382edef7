r"""Host costs of packets: per packet, byte, copy, checksum, fragment and buffer; cores they take.

On loopback only the host remains, so that a transaction is a sum of such costs. The same sum of a
cost per segment and a cost per byte explains why TCP beats UDP on loopback: it takes segments of 16
KB where UDP sends one datagram per write.

Forwarding in software costs a nearly constant number of cycles for each packet, whatever its size:
a core of clock :math:`f` handles :math:`f / c` packets per second.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, ratio, whole
from netcalc.errors import DomainError
from netcalc.models.hosts.mbufs import BSD44, datagram_mbufs, stream_mbufs, stream_segments
from netcalc.models.sizes.fragmentation import fragment_count

ReplyProtocol: TypeAlias = Literal["ping", "udp", "ttcp", "tfo", "tcp"]


class Transaction(NamedTuple):
    """Costs of a request and a reply of equal size on a host that is both ends."""

    segments: int
    connections: int
    programs: int
    copies: int
    checksums: int


TRANSACTIONS: dict[str, Transaction] = {
    # The kernel answers ping: one program, two copies.
    "ping": Transaction(segments=2, connections=0, programs=1, copies=2, checksums=4),
    "udp": Transaction(segments=2, connections=0, programs=2, copies=4, checksums=4),
    "ttcp": Transaction(segments=3, connections=1, programs=2, copies=4, checksums=4),
    "tfo": Transaction(segments=5, connections=1, programs=2, copies=4, checksums=4),
    "tcp": Transaction(segments=9, connections=1, programs=2, copies=4, checksums=4),
}
"""Passes over the data: copies between user and kernel, checksums made and verified."""


class SegmentCosts(NamedTuple):
    """The two terms of a host's cost: [s/packet] and [s/byte]."""

    packet_cost: FloatArray
    byte_cost: FloatArray


@model
def message_s(
    payload_bytes: ArrayLike,
    *,
    packet_cost: ArrayLike,
    copy_cost: ArrayLike = 0.0,
    checksum_cost: ArrayLike = 0.0,
    packet_count: ArrayLike = 1,
    copy_count: ArrayLike = 1,
    checksum_count: ArrayLike = 1,
) -> FloatArray:
    r"""Time that a host's protocol stack takes for one message.

    .. math:: t = m a + N (c k + s q)

    Parameters
    ----------
    payload_bytes : array_like
        Size of the message. [byte]
    packet_cost : array_like
        Time for each packet or fragment regardless of its size. [s/packet]
    copy_cost : array_like
        Time to copy a byte. [s/byte]
    checksum_cost : array_like
        Time to sum a byte. [s/byte]
    packet_count : array_like
        Packets or fragments of the message. [1]
    copy_count : array_like
        Copies: 1 between user and kernel, 0 with sendfile, 2 with a bounce buffer. [1]
    checksum_count : array_like
        Passes of a checksum: 0 where the network card does it. [1]

    Returns
    -------
    numpy.ndarray
        CPU time. [s]

    Notes
    -----
    Validity: passes that do not share the cache; one packet at a time.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`m` packet_count, :math:`a` packet_cost, :math:`c`
    copy_count, :math:`k` copy_cost, :math:`s` checksum_count, :math:`q` checksum_cost.

    Examples
    --------
    50 us a packet, 10 ns to copy a byte, 5 ns to sum it:

    >>> float(message_s(1400, packet_cost=50e-6, copy_cost=10e-9, checksum_cost=5e-9))
    7.1e-05

    References
    ----------
    Clark, Jacobson, Romkey and Salwen, IEEE Communications Magazine, June 1989,
    doi:10.1109/35.29545; Stevens, TCP/IP Illustrated vol. 3, A.2.
    """
    size = checks.non_negative("payload_bytes", payload_bytes)
    copying = checks.whole("copy_count", copy_count) * checks.non_negative("copy_cost", copy_cost)
    summing = checks.whole("checksum_count", checksum_count) * checks.non_negative(
        "checksum_cost", checksum_cost
    )
    packets = checks.whole("packet_count", packet_count)
    return packets * checks.non_negative("packet_cost", packet_cost) + size * (copying + summing)


@model
def transaction_s(
    payload_bytes: ArrayLike,
    *,
    protocol: ReplyProtocol,
    packet_cost: ArrayLike,
    program_s: ArrayLike = 0.0,
    connection_s: ArrayLike = 0.0,
    copy_cost: ArrayLike = 0.0,
    checksum_cost: ArrayLike = 0.0,
    mbuf_s: ArrayLike = 0.0,
    cluster_s: ArrayLike = 0.0,
    mtu_bytes: ArrayLike = BSD44.loopback_mtu_bytes,
    minclsize_bytes: ArrayLike = BSD44.minclsize_bytes,
) -> FloatArray:
    r"""Time of a request and a reply of the same size on one host.

    .. math:: t = p P + s a + v V + N (c k + S q) + 2 (m M + u U)

    Parameters
    ----------
    payload_bytes : array_like
        User data of the request, and of the reply. [byte]
    protocol : {'ping', 'udp', 'ttcp', 'tfo', 'tcp'}
        Transport. [text]
    packet_cost : array_like
        Time for each packet or fragment, down and up the stack. [s/packet]
    program_s : array_like
        Time for each program involved: system calls and switches. [s]
    connection_s : array_like
        Time to set up and tear down a connection. [s]
    copy_cost : array_like
        Time to copy a byte. [s/byte]
    checksum_cost : array_like
        Time to sum a byte. [s/byte]
    mbuf_s : array_like
        Time for each mbuf of 4.4BSD. [s]
    cluster_s : array_like
        Time for each cluster. [s]
    mtu_bytes : array_like
        Largest packet of the loopback interface. [byte]
    minclsize_bytes : array_like
        Size that asks for a cluster. [byte]

    Returns
    -------
    numpy.ndarray
        Time as the client's timer shows it. [s]

    Raises
    ------
    DomainError
        If the packet exceeds 65,535 bytes.

    Notes
    -----
    Validity: one processor, so that every packet counts, the last acknowledgement included; a
    loopback without delay, where Nagle's algorithm costs a segment but no wait.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`P` program_s, :math:`a` packet_cost, :math:`V`
    connection_s, :math:`k` copy_cost, :math:`q` checksum_cost, :math:`M` mbuf_s, :math:`U`
    cluster_s. Not in the equation: protocol, mtu_bytes, minclsize_bytes (which set the counts p, s,
    v, c, S, m and u).

    Examples
    --------
    TCP takes six packets more than T/TCP at every size:

    >>> cost = {"packet_cost": 0.67e-3, "program_s": 1.1e-3, "connection_s": 2.8e-3}
    >>> tcp = transaction_s([0, 200, 1400], protocol="tcp", **cost)
    >>> (tcp - transaction_s([0, 200, 1400], protocol="ttcp", **cost)).round(5).tolist()
    [0.00402, 0.00402, 0.00402]

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.2, Fig. A-6 to A-8.
    """
    kind = TRANSACTIONS[checks.choice("protocol", protocol, tuple(TRANSACTIONS))]
    size = checks.whole("payload_bytes", payload_bytes)
    mtu = checks.positive("mtu_bytes", mtu_bytes)
    if protocol in ("ping", "udp"):
        inner, header = (8, 20) if protocol == "ping" else (0, 28)
        buffers = datagram_mbufs(
            size,
            header_bytes=header,
            inner_header_bytes=inner,
            minclsize_bytes=minclsize_bytes,
        )
        further = fragment_count(size + 8, mtu_bytes=mtu, algorithm="bsd") - 1
        mbufs, clusters = buffers.mbufs, buffers.clusters
    else:
        stream = stream_mbufs(size, minclsize_bytes=minclsize_bytes)
        further = stream_segments(size, mss_bytes=mtu - 40, minclsize_bytes=minclsize_bytes)
        further = np.maximum(further - 1, 0)
        mbufs, clusters = stream.mbufs + 1, stream.clusters  # one of the headers
    passes = message_s(
        size,
        packet_cost=packet_cost,
        copy_cost=copy_cost,
        checksum_cost=checksum_cost,
        packet_count=kind.segments + 2 * further,
        copy_count=kind.copies,
        checksum_count=kind.checksums,
    )
    memory = mbufs * checks.non_negative("mbuf_s", mbuf_s)
    memory = memory + clusters * checks.non_negative("cluster_s", cluster_s)
    fixed = kind.programs * checks.non_negative("program_s", program_s)
    fixed = fixed + kind.connections * checks.non_negative("connection_s", connection_s)
    return fixed + passes + 2 * memory


@model
def bulk_s(
    payload_bytes: ArrayLike,
    *,
    segment_bytes: ArrayLike,
    packet_cost: ArrayLike,
    byte_cost: ArrayLike = 0.0,
) -> FloatArray:
    r"""Time that a host spends on a bulk transfer.

    .. math:: t = \lceil N / M \rceil \, a + N b

    Parameters
    ----------
    payload_bytes : array_like
        All bytes sent. [byte]
    segment_bytes : array_like
        Payload of a packet: the MSS of TCP, which gathers writes, or the write of UDP. [byte]
    packet_cost : array_like
        Time for each packet. [s/packet]
    byte_cost : array_like
        Time for each byte. [s/byte]

    Returns
    -------
    numpy.ndarray
        Time of the transfer. [s]

    Notes
    -----
    Validity: the host is the limit, not the link or a window.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`M` segment_bytes, :math:`a` packet_cost, :math:`b`
    byte_cost.

    Examples
    --------
    5000 writes of 1440 bytes in segments of an Ethernet and of a loopback:

    >>> costs = {"packet_cost": 424.6e-6, "byte_cost": 106.7e-9}
    >>> bulk_s(7.2e6, segment_bytes=[1448, 16332], **costs).round(2).tolist()
    [2.88, 0.96]

    References
    ----------
    Snader, Effective TCP/IP Programming, tip on TCP against UDP (Tables 2.2 and 2.3).
    """
    size = checks.non_negative("payload_bytes", payload_bytes)
    packets = checks.rounded_up(size / checks.positive("segment_bytes", segment_bytes))
    per_packet = packets * checks.non_negative("packet_cost", packet_cost)
    return per_packet + size * checks.non_negative("byte_cost", byte_cost)


@model
def two_point_costs(
    elapsed_s: ArrayLike, *, packet_count: ArrayLike, payload_bytes: ArrayLike
) -> SegmentCosts:
    r"""Cost per packet and per byte from two measured transfers.

    .. math::

        t_i = m_i a + N_i b: \quad a = \frac{t_1 N_2 - t_2 N_1}{m_1 N_2 - m_2 N_1}, \quad b =
        \frac{m_1 t_2 - m_2 t_1}{m_1 N_2 - m_2 N_1}

    Parameters
    ----------
    elapsed_s : 1-D array_like
        Time of the two transfers. [s]
    packet_count : 1-D array_like
        Packets of each. [1]
    payload_bytes : 1-D array_like
        Bytes of each. [byte]

    Returns
    -------
    SegmentCosts
        ``packet_cost`` [s/packet] and ``byte_cost`` [s/byte]; nan where the two transfers have
        packets of the same size, which does not separate the two costs. A negative cost means that
        the two do not share one code path. [s]

    See Also
    --------
    netcalc.models.rates.forwarding.device_packet_cost : Per packet.
    netcalc.models.rates.forwarding.device_byte_cost : Per byte.

    Notes
    -----
    Validity: two transfers through the same code; two points leave no residual.

    Range: everywhere.

    Symbols: :math:`t_i` elapsed_s, :math:`m_i` packet_count, :math:`N_i` payload_bytes.

    Examples
    --------
    Snader's TCP over an Ethernet interface and over loopback:

    >>> costs = two_point_costs([2.88, 0.9558], packet_count=[4973, 441], payload_bytes=[7.2e6] * 2)
    >>> round(float(costs.packet_cost) * 1e6), round(float(costs.byte_cost) * 1e9)
    (425, 107)

    References
    ----------
    Snader, Effective TCP/IP Programming, Table 2.2.
    """
    lists = {
        "elapsed_s": elapsed_s,
        "packet_count": packet_count,
        "payload_bytes": payload_bytes,
    }
    (t1, t2), (m1, m2), (n1, n2) = (_pair(name, values) for name, values in lists.items())
    checks.whole("packet_count", [m1, m2])
    determinant = m1 * n2 - m2 * n1
    if abs(determinant) <= 1e-12 * max(m1 * n2, m2 * n1):
        return SegmentCosts(np.asarray(np.nan), np.asarray(np.nan))
    return SegmentCosts(
        np.asarray((t1 * n2 - t2 * n1) / determinant),
        np.asarray((m1 * t2 - m2 * t1) / determinant),
    )


@model
def delivered_goodput_bps(
    write_count: ArrayLike, *, lost_count: ArrayLike, write_bytes: ArrayLike, elapsed_s: ArrayLike
) -> FloatArray:
    r"""Goodput at the receiver, without the datagrams that were lost.

    .. math:: X = 8 (n - l) B / t

    Parameters
    ----------
    write_count : array_like
        Datagrams sent. [1]
    lost_count : array_like
        Datagrams lost. [1]
    write_bytes : array_like
        Payload of each. [byte]
    elapsed_s : array_like
        Time of the run. [s]

    Returns
    -------
    numpy.ndarray
        Goodput at the receiver. [bit/s, UDP payload]

    Raises
    ------
    DomainError
        If more is lost than was sent.

    Notes
    -----
    Validity: losses anywhere, also in the sender's own buffers.

    Range: everywhere.

    Symbols: :math:`n` write_count, :math:`l` lost_count, :math:`B` write_bytes, :math:`t`
    elapsed_s.

    Examples
    --------
    Snader's UDP to the sparc: 1.235 MB/s sent, which is more than the wire carries, 1.127
    delivered.

    >>> kind = {"write_bytes": 1440, "elapsed_s": 5.8284}
    >>> rates = delivered_goodput_bps(5000, lost_count=[0, 440], **kind)
    >>> (rates / 8e6).round(3).tolist()
    [1.235, 1.127]

    References
    ----------
    Snader, Effective TCP/IP Programming, Table 2.2.
    """
    sent = checks.whole("write_count", write_count)
    lost = checks.whole("lost_count", lost_count)
    if (lost > sent).any():
        raise DomainError(
            "above-argument", "lost_count", float(np.nanmax(lost)), other="write_count"
        )
    bits = 8.0 * checks.non_negative("write_bytes", write_bytes)
    return (sent - lost) * (bits / checks.positive("elapsed_s", elapsed_s))


def _pair(name: str, values: ArrayLike) -> tuple[float, float]:
    array = checks.one_dimensional(name, checks.non_negative(name, values))
    if array.size != 2:
        raise DomainError("wrong-count", name, count=array.size, expected=2)
    return float(array[0]), float(array[1])


@model
def cycle_budget(
    rate_pps: ArrayLike, *, clock_hz: ArrayLike, core_count: ArrayLike = 1
) -> FloatArray:
    r"""Processor cycles that may be spent on each packet.

    .. math:: c = \frac{f \, k}{\lambda}

    Parameters
    ----------
    rate_pps : array_like
        Packets per second that are to be handled. [packet/s]
    clock_hz : array_like
        Clock of a core. [Hz]
    core_count : array_like
        Cores that share the packets evenly. [1]

    Returns
    -------
    numpy.ndarray
        Cycles for each packet; inf without packets. [1]

    See Also
    --------
    core_rate_pps : The rate that a cost allows.

    Notes
    -----
    Validity: a constant clock, and packets spread evenly over the cores (RSS); a hash of few flows
    does not spread them evenly.

    Typical: 10 Gbit/s of 64-byte frames leave 67 ns, 202 cycles of a core of 3 GHz; a miss of all
    caches takes about 100 ns.

    Range: everywhere.

    Symbols: :math:`\lambda` rate_pps, :math:`f` clock_hz, :math:`k` core_count.

    Examples
    --------
    >>> round(float(cycle_budget(14_880_952, clock_hz=3e9)))
    202

    References
    ----------
    Rizzo, netmap: a novel framework for fast packet I/O, USENIX ATC 2012, section 1 (67.2 ns for a
    packet at 14.88 Mpps).
    """
    share = positive("clock_hz", clock_hz) / non_negative("rate_pps", rate_pps)
    return share * whole("core_count", core_count, low=1)


@model
def core_rate_pps(
    packet_cycles: ArrayLike,
    *,
    clock_hz: ArrayLike,
    core_count: ArrayLike = 1,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Packets per second that processor cores can handle.

    .. math:: \lambda = \frac{u \, f \, k}{c}

    Parameters
    ----------
    packet_cycles : array_like
        Cycles spent on each packet. [1]
    clock_hz : array_like
        Clock of a core. [Hz]
    core_count : array_like
        Cores that share the packets evenly. [1]
    target_utilization : array_like
        Utilization at which a core counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets of all cores together. [packet/s]

    See Also
    --------
    cycle_budget : The cost that a rate allows.
    core_count : The cores that a rate takes.

    Notes
    -----
    Validity: as :func:`cycle_budget`; memory, the bus or the network card may be the limit first.

    Typical: netmap generates packets at about 60 cycles each, minimal forwarding with DPDK takes 60
    to 150, the kernel's stack one to a few thousand.

    Range: everywhere.

    Symbols: :math:`c` packet_cycles, :math:`f` clock_hz, :math:`k` core_count, :math:`u`
    target_utilization.

    Examples
    --------
    A core of 900 MHz at 60.5 cycles a packet fills 10 Gbit/s with the smallest frames:

    >>> round(float(core_rate_pps(60.5, clock_hz=900e6)) / 1e6, 2)
    14.88

    References
    ----------
    Rizzo, netmap: a novel framework for fast packet I/O, USENIX ATC 2012, section 5 (14.88 Mpps
    with one core at 900 MHz).
    """
    each = positive("clock_hz", clock_hz) / positive("packet_cycles", packet_cycles)
    full = ratio("target_utilization", target_utilization)
    return each * full * whole("core_count", core_count, low=1)


@model
def core_count(
    rate_pps: ArrayLike,
    *,
    packet_cycles: ArrayLike,
    clock_hz: ArrayLike,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Processor cores that a packet rate takes.

    .. math:: k = \left\lceil \frac{\lambda \, c}{u \, f} \right\rceil

    Parameters
    ----------
    rate_pps : array_like
        Packets per second that are to be handled. [packet/s]
    packet_cycles : array_like
        Cycles spent on each packet. [1]
    clock_hz : array_like
        Clock of a core. [Hz]
    target_utilization : array_like
        Utilization at which a core counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Least number of cores; inf if none may be used. [1]

    See Also
    --------
    core_rate_pps : What some cores can handle.

    Notes
    -----
    Validity: as :func:`core_rate_pps`; locks and shared caches make each further core count less.

    Range: everywhere.

    Symbols: :math:`\lambda` rate_pps, :math:`c` packet_cycles, :math:`f` clock_hz, :math:`u`
    target_utilization.

    Examples
    --------
    10 Gbit/s of 64-byte frames through a kernel that takes 1500 cycles for each:

    >>> float(core_count(14.88e6, packet_cycles=1500, clock_hz=3e9))
    8.0

    References
    ----------
    Derived: :func:`core_rate_pps` solved for the cores.
    """
    rate = non_negative("rate_pps", rate_pps)
    full = ratio("target_utilization", target_utilization)
    each = positive("packet_cycles", packet_cycles) / positive("clock_hz", clock_hz)
    count = checks.rounded_up(rate * each / full)
    return keep_nan(np.where(rate > 0.0, np.maximum(count, 1.0), 0.0), rate, each, full)
