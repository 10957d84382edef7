"""Store-and-forward, cut-through, pipelining and exchanges of packets over a list of links.

A path is given as parallel lists: one rate and one latency for each link, one processing time for
each node between two links. Every link serves one packet at a time, in order, with unlimited
buffers. Two meanings of processing are in use, which differ as soon as packets follow each other
faster than a node processes them: a node that serves one packet at a time (``serial``), and one
that delays each packet while others pass through as well (``delay``).

In an exchange, such as a handshake, a request and its response, each packet is of known size and is
sent because another one arrived. On a slow link their bytes take longer than the round trips that
are usually counted.
"""

from __future__ import annotations

from functools import partial, reduce
from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.sizes.headers import MIN_FRAME_BYTES, padded_frame

Processing: TypeAlias = Literal["serial", "delay"]
"""Whether a node serves one packet at a time, or delays each packet."""


class Timeline(NamedTuple):
    """Times of each packet, of shape (packets, links) or (packets, nodes). [s]

    ``processing_start_s`` and ``processing_end_s`` have one column a node, the source first and
    the destination last; the others one a link: the first bit leaves at ``start_s``, it arrives
    at ``first_bit_s``, the last bit arrives at ``last_bit_s``. A packet is complete at
    ``done_s`` (one a packet), after the destination has processed it.
    """

    start_s: FloatArray
    first_bit_s: FloatArray
    last_bit_s: FloatArray
    processing_start_s: FloatArray
    processing_end_s: FloatArray
    done_s: FloatArray


@model
def store_and_forward_s(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
    processing_s: ArrayLike = 0.0,
    source_processing_s: float = 0.0,
    destination_processing_s: float = 0.0,
    packet_count: ArrayLike = 1,
    processing_kind: Processing = "serial",
    overhead_bytes: ArrayLike = 0.0,
    min_wire_bytes: ArrayLike = 0.0,
) -> FloatArray:
    r"""Delay of a train of equal packets over store-and-forward links, to the last bit.

    .. math::

        T = \sum_i 8W_i/R_i + \sum_i d_i + p_s + \sum_j p_j + p_d
        + (N-1) \max(8W_i/R_i, p_s, p_j, p_d), \quad W_i = \max(L + o_i, m_i)

    Parameters
    ----------
    packet_bytes : array_like
        Size of each packet. [byte]
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]
    latency_s : 1-D array_like
        Latency of each link, or one for all. [s]
    processing_s : 1-D array_like
        Processing in each node between two links, or one for all. [s]
    source_processing_s : float
        Processing in the sending host. [s]
    destination_processing_s : float
        Processing in the receiving host. [s]
    packet_count : array_like
        Packets of the train, sent back to back. [1]
    processing_kind : {'serial', 'delay'}
        Whether a node processes one packet at a time, or delays each one while others pass. [text]
    overhead_bytes : 1-D array_like
        What each link adds to a packet on the wire, or one for all: 38 on Ethernet. [byte]
    min_wire_bytes : 1-D array_like
        The least that a packet takes on each link, or one for all: 84 on Ethernet. [byte]

    Returns
    -------
    numpy.ndarray
        Completion time, broadcast over ``packet_bytes`` and ``packet_count``. [s]

    See Also
    --------
    cut_through_s : Each switch waits for the header only.
    pipeline_timeline : Unequal packets, event by event.
    netcalc.models.delays.latency.transfer_s : One link.

    Notes
    -----
    Validity: equal packets, FIFO, unlimited buffers in every node. The order of the links does not
    matter. Where nodes only delay, the processing is not in the maximum. For unequal packets use
    :func:`pipeline_timeline`.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`R_i` bandwidth_bps, :math:`d_i` latency_s, :math:`p_j`
    processing_s, :math:`N` packet_count, :math:`p_s` source_processing_s, :math:`p_d`
    destination_processing_s, :math:`o_i` overhead_bytes, :math:`m_i` min_wire_bytes. Not in the
    equation: processing_kind.

    Examples
    --------
    Fig. A-9, with the 7.5 ms that the book takes for 1428 bytes on a T1: one packet, then ten.

    >>> t1 = 1428 * 8 / 0.0075
    >>> store_and_forward_s(1428, bandwidth_bps=[t1, t1], latency_s=[0.005, 0.001],
    ...     processing_s=0.001, source_processing_s=0.001, destination_processing_s=0.001,
    ...     packet_count=[1, 10]).round(6).tolist()
    [0.024, 0.0915]

    A hundred small packets through four routers of 20 us, which only delay:

    >>> small = {"bandwidth_bps": [1e9] * 5, "latency_s": 10e-6, "processing_s": 20e-6}
    >>> t = store_and_forward_s(64, **small, packet_count=100, processing_kind="delay")
    >>> round(t * 1e3, 3)
    0.183

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (Fig. A-9): serial; Kurose and Ross, Computer
    Networking, 1.4: delay.
    """
    size = checks.non_negative("packet_bytes", packet_bytes)
    rate, latency, processing = _links(bandwidth_bps, latency_s, processing_s)
    ends = _ends(source_processing_s, destination_processing_s)
    fixed = float(latency.sum() + processing.sum() + sum(ends))
    slowest_node = float(np.concatenate((ends, processing)).max())
    later = checks.whole("packet_count", packet_count, low=1) - 1.0
    added, least = _framing(overhead_bytes, min_wire_bytes, rate.size)
    if added.any() or least.any():
        clocked = [
            np.maximum(size + more, low) * (8.0 / bps)
            for more, low, bps in zip(added, least, rate, strict=True)
        ]
        total: FloatArray = reduce(np.add, clocked)
        slowest: FloatArray = reduce(np.maximum, clocked)
    else:
        total, slowest = size * float((8.0 / rate).sum()), size * (8.0 / float(rate.min()))
    kind = checks.choice("processing_kind", processing_kind, ("serial", "delay"))
    if np.any((slowest < slowest_node) & (later > 0.0)):
        _say_which(kind)
    if kind == "serial":
        slowest = np.maximum(slowest, slowest_node)
    return total + later * slowest + fixed


@model
def cut_through_s(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
    header_bytes: ArrayLike = 14,
    switch_latency_s: ArrayLike = 0.0,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Delay of a frame through cut-through switches.

    .. math:: T = 8L/R_k + \sum_i d_i + \sum_{i<k} (8h/R_i + \ell_i), \quad L = \max(F_{min},\; F)

    Parameters
    ----------
    frame_bytes : array_like
        Size of the frame. [byte]
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]
    latency_s : 1-D array_like
        Latency of each link, or one for all. [s]
    header_bytes : array_like
        Bytes a switch must receive before it forwards. [byte]
    switch_latency_s : 1-D array_like
        Own latency of each switch, or one for all. [s]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Time until the last bit arrives. [s]

    See Also
    --------
    store_and_forward_s : Each node waits for the whole packet.
    pipeline_timeline : Unequal packets, event by event.

    Notes
    -----
    Validity: idle outputs. A switch whose output is faster than its input must store the whole
    frame first, and does so here (``h`` becomes ``L``).

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R_i` bandwidth_bps, :math:`d_i` latency_s, :math:`h`
    header_bytes, :math:`\ell_i` switch_latency_s, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    64 bytes through one switch at 100 Mbit/s:

    >>> float(cut_through_s(64, bandwidth_bps=[1e8, 1e8], latency_s=1e-6, switch_latency_s=1e-6))
    9.24e-06

    References
    ----------
    Kermani and Kleinrock, Virtual cut-through, Computer Networks 3 (1979),
    doi:10.1016/0376-5075(79)90032-1.
    """
    size = padded_frame(frame_bytes, min_frame_bytes)
    rate, latency, switch = _links(
        bandwidth_bps, latency_s, switch_latency_s, name="switch_latency_s"
    )
    header = np.minimum(checks.non_negative("header_bytes", header_bytes), size)
    bit_s = 8.0 / rate
    is_cut = rate[1:] <= rate[:-1]  # into a faster link a frame goes when it is whole
    total = size * float(bit_s[-1]) + header * float(np.where(is_cut, bit_s[:-1], 0.0).sum())
    total = total + size * float(np.where(is_cut, 0.0, bit_s[:-1]).sum())
    return total + float(latency.sum() + switch.sum())


@model
def pipeline_timeline(
    packet_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
    processing_s: ArrayLike = 0.0,
    source_processing_s: float = 0.0,
    destination_processing_s: float = 0.0,
    processing_kind: Processing = "serial",
    overhead_bytes: ArrayLike = 0.0,
    min_wire_bytes: ArrayLike = 0.0,
) -> Timeline:
    r"""Timeline of a train of unequal packets over unequal links, by node and link.

    .. math::

        s_{k,i} = \max(r_{k,i}, s_{k-1,i} + 8 W_{k-1,i} / R_i), \quad e_{k,i} = s_{k,i}
        + 8 W_{k,i} / R_i + d_i, \quad r_{k,i+1} = \max(e_{k,i}, r_{k-1,i+1}) + p_i, \quad
        W_{k,i} = \max(L_k + o_i, m_i)

    Parameters
    ----------
    packet_bytes : 1-D array_like
        Size of each packet, in the order of sending. [byte]
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]
    latency_s : 1-D array_like
        Latency of each link, or one for all. [s]
    processing_s : 1-D array_like
        Processing in each node between two links, or one for all. [s]
    source_processing_s : float
        Processing in the sending host. [s]
    destination_processing_s : float
        Processing in the receiving host. [s]
    processing_kind : {'serial', 'delay'}
        Whether a node processes one packet at a time, or delays each one while others pass. [text]
    overhead_bytes : 1-D array_like
        What each link adds to a packet on the wire, or one for all: 38 on Ethernet. [byte]
    min_wire_bytes : 1-D array_like
        The least that a packet takes on each link, or one for all: 84 on Ethernet. [byte]

    Returns
    -------
    Timeline
        When each packet is processed, sent and received, by node and link. [s]

    See Also
    --------
    store_and_forward_s : Each node waits for the whole packet.
    cut_through_s : Each switch waits for the header only.

    Notes
    -----
    Validity: FIFO, unlimited buffers in every node, all packets ready at time 0.

    Range: everywhere.

    Symbols: :math:`L_k` packet_bytes, :math:`R_i` bandwidth_bps, :math:`d_i` latency_s, :math:`p_i`
    processing_s, :math:`o_i` overhead_bytes, :math:`m_i` min_wire_bytes. Not in the equation:
    source_processing_s, destination_processing_s (the first and
    the last of the nodes), processing_kind (the equation is for ``serial``).

    Examples
    --------
    Fig. A-9: the last bit reaches the destination at 23 ms; the book prints 25.

    >>> t1 = 1428 * 8 / 0.0075
    >>> line = pipeline_timeline([1428], bandwidth_bps=[t1, t1], latency_s=[0.005, 0.001],
    ...     processing_s=0.001, source_processing_s=0.001, destination_processing_s=0.001)
    >>> (1e3 * line.first_bit_s).round(3).tolist(), (1e3 * line.last_bit_s).round(3).tolist()
    ([[6.0, 15.5]], [[13.5, 23.0]])
    >>> round(float(line.done_s[-1]), 6)
    0.024

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3, Fig. A-9; event recursion of a tandem queue.
    """
    sizes = checks.one_dimensional(
        "packet_bytes", checks.non_negative("packet_bytes", packet_bytes)
    )
    rate, latency, processing = _links(bandwidth_bps, latency_s, processing_s)
    source, destination = _ends(source_processing_s, destination_processing_s)
    nodes = np.concatenate(([source], processing, [destination]))
    kind = checks.choice("processing_kind", processing_kind, ("serial", "delay"))
    packets, links = sizes.size, rate.size
    start, first, last = (np.empty((packets, links)) for _ in range(3))
    node_start, node_end = (np.empty((packets, links + 1)) for _ in range(2))
    added, least = _framing(overhead_bytes, min_wire_bytes, links)
    ready = np.zeros(packets)
    for link in range(links + 1):
        if kind == "serial":
            node_start[:, link], node_end[:, link] = _serve(ready, np.full(packets, nodes[link]))
        else:
            node_start[:, link], node_end[:, link] = ready, ready + nodes[link]
        if np.any(np.diff(ready) < nodes[link]):
            _say_which(kind)
        if link < links:
            wire = np.maximum(sizes + added[link], least[link])
            start[:, link], sent = _serve(node_end[:, link], 8.0 * wire / rate[link])
            first[:, link] = start[:, link] + latency[link]
            last[:, link] = sent + latency[link]
            ready = last[:, link]
    return Timeline(start, first, last, node_start, node_end, node_end[:, -1].copy())


@model
def message_s(
    segment_bytes: ArrayLike,
    *,
    message_bytes: float,
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
    header_bytes: float = 0.0,
) -> FloatArray:
    r"""Time to move a message cut into segments, the last one shorter, over a list of links.

    .. math::

        c_{N,i} = \max(c_{N,i-1} + d_{i-1}, c_{N-1,i}) + 8 (m_N + h) / R_i, \quad N = \lceil M / m
        \rceil, \quad m_N = M - (N - 1) m

    Parameters
    ----------
    segment_bytes : array_like
        Payload of a full segment. [byte]
    message_bytes : float
        Payload of the whole message. [byte]
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]
    latency_s : 1-D array_like
        Latency of each link, or one for all. [s]
    header_bytes : float
        Header added to each segment. [byte]

    Returns
    -------
    numpy.ndarray
        Time until the last bit of the message arrives, of the shape of ``segment_bytes``. [s]

    Notes
    -----
    Validity: as :func:`store_and_forward_s` without processing.

    Range: everywhere.

    Symbols: :math:`m` segment_bytes, :math:`M` message_bytes, :math:`R_i` bandwidth_bps,
    :math:`d_{i-1}` latency_s, :math:`h` header_bytes.

    Examples
    --------
    A megabyte over three links of 2 Mbit/s: whole, and in segments of 10,000 bits.

    >>> message_s([1e6, 1250], message_bytes=1e6, bandwidth_bps=[2e6, 2e6, 2e6]).round(3).tolist()
    [12.0, 4.01]

    References
    ----------
    Kurose and Ross, Computer Networking, chapter 1, problem on message segmentation.
    """
    message = checks.positive("message_bytes", message_bytes)
    segment = checks.positive("segment_bytes", segment_bytes)
    header = checks.non_negative("header_bytes", header_bytes)
    rate, latency, _ = _links(bandwidth_bps, latency_s, 0.0)
    delay = partial(_delay_s, rate=rate, latency=latency)
    return delay(segment, message, header)[()]


@model
def optimal_segment_bits(
    message_bits: ArrayLike, *, header_bits: ArrayLike, link_count: ArrayLike
) -> FloatArray:
    r"""Segment payload that minimizes the delay of a message over equal links.

    .. math:: S = \sqrt{h F / (k - 1)}

    Parameters
    ----------
    message_bits : array_like
        Payload of the whole message. [bit]
    header_bits : array_like
        Header added to each segment. [bit]
    link_count : array_like
        Store-and-forward links on the way. [1]

    Returns
    -------
    numpy.ndarray
        Payload of a segment; ``inf`` on a single link, where segmentation gains nothing. [bit]

    Notes
    -----
    Validity: equal rates, propagation left out (it adds a constant), segments of any real size.
    From five segments on the delay is within 3.5 % of the least that whole segments have; with two
    and a part, 8 %.

    Range: segment_count (the message over the segment) from 5.

    Symbols: :math:`F` message_bits, :math:`h` header_bits, :math:`k` link_count.

    Examples
    --------
    >>> round(float(optimal_segment_bits(8e6, header_bits=320, link_count=3)))
    35777

    References
    ----------
    Kurose and Ross, Computer Networking, chapter 1, problem on message segmentation.
    """
    message = checks.non_negative("message_bits", message_bits)
    product = message * checks.non_negative("header_bits", header_bits)
    hops = checks.whole("link_count", link_count, low=1) - 1.0
    best = np.where(hops > 0, np.sqrt(product / hops), np.inf)
    checks.note_outside_range(optimal_segment_bits, segment_count=message / best)
    return checks.keep_nan(best, product, hops)[()]


@model
def equivalent_bandwidth_bps(bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Rate of the single link with the same serialization delay as a list of links.

    .. math:: R = 1 / \sum_i (1 / R_i)

    Parameters
    ----------
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Equivalent rate, the one that the slope of the round-trip time over size gives.
        [bit/s, layer of bandwidth_bps]

    See Also
    --------
    netcalc.models.measuring.probing.rtt_slope : The same sum, as the slope of round-trip times.
    netcalc.models.measuring.probing.train_rate_bps : Long trains.

    Notes
    -----
    Validity: single packets. A long train runs at the slowest link's rate instead.

    Range: everywhere.

    Symbols: :math:`R_i` bandwidth_bps.

    Examples
    --------
    Eight T1 lines in a row look like one of 193 kbit/s:

    >>> float(equivalent_bandwidth_bps([1.544e6] * 8))
    193000.0

    References
    ----------
    Jacobson, pathchar (1997); Downey, Using pathchar to estimate Internet link characteristics
    (1999), doi:10.1145/316188.316228.
    """
    rate = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    return np.asarray(1.0 / float((1.0 / rate).sum()))[()]


def _delay_s(
    segment: FloatArray,
    message: FloatArray,
    header: FloatArray,
    *,
    rate: FloatArray,
    latency: FloatArray,
) -> FloatArray:
    """Return when the last bit of a message arrives, for each size of its segments."""
    segment = np.minimum(segment, message)
    segments = checks.rounded_up(message / segment)
    tail_bits = 8.0 * (message - (segments - 1) * segment + header)
    full_bits = 8.0 * (segment + header)
    # When the one before the last (all are full) and the last leave each link.
    before_last = np.zeros_like(segments)
    last = np.zeros_like(segments)
    slowest = rate[0]
    sum_of_inverse = 0.0
    arrived = 0.0
    for link in range(rate.size):
        slowest = min(slowest, rate[link])
        sum_of_inverse += 1.0 / rate[link]
        before_last = full_bits * (sum_of_inverse + (segments - 2) / slowest) + arrived
        before_last = np.where(segments > 1, before_last, 0.0)
        last = np.maximum(last, before_last) + tail_bits / rate[link] + latency[link]
        arrived += latency[link]
    return last


def _say_which(kind: str) -> None:
    """Note which meaning of processing the answer has, where the other one gives another answer."""
    checks.note(f"processing-{kind}", name="processing_s", warns=False)


def _serve(ready: FloatArray, service: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Start and end of each packet at a server that takes one at a time, in order."""
    done = np.cumsum(service)
    # end_k = max over j <= k of ready_j + service_j + ... + service_k
    end = done + np.maximum.accumulate(ready - (done - service))
    return end - service, end


def _links(
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike,
    processing_s: ArrayLike,
    *,
    name: str = "processing_s",
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rate and latency of each link, and the processing of each node between two."""
    rate = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    latency = _one_each("latency_s", checks.non_negative("latency_s", latency_s), rate.size)
    between_links = _one_each(name, checks.non_negative(name, processing_s), rate.size - 1)
    return rate, latency, between_links


def _framing(
    overhead_bytes: ArrayLike, min_wire_bytes: ArrayLike, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each link adds to a packet, and the least that one takes."""
    added = checks.non_negative("overhead_bytes", overhead_bytes)
    least = checks.non_negative("min_wire_bytes", min_wire_bytes)
    return (
        _one_each("overhead_bytes", added, count),
        _one_each("min_wire_bytes", least, count),
    )


def _ends(source_processing_s: float, destination_processing_s: float) -> tuple[float, float]:
    return (
        checks.scalar(
            "source_processing_s", checks.non_negative("source_processing_s", source_processing_s)
        ),
        checks.scalar(
            "destination_processing_s",
            checks.non_negative("destination_processing_s", destination_processing_s),
        ),
    )


def _one_each(name: str, values: FloatArray, count: int) -> NDArray[np.float64]:
    if values.ndim == 0:
        return np.full(count, float(values))
    if values.shape != (count,):
        raise DomainError("wrong-count-or-one", name, count=values.size, expected=count)
    return values


class ExchangeTimeline(NamedTuple):
    """Send and receive times of the packets of an exchange."""

    sent_s: FloatArray
    received_s: FloatArray


@model
def exchange_timeline(
    packet_bytes: ArrayLike,
    *,
    sender: ArrayLike,
    after: ArrayLike,
    wait_s: ArrayLike = 0.0,
    bandwidth_bps: ArrayLike,
    latency_s: ArrayLike = 0.0,
    processing_s: ArrayLike = 0.0,
    source_processing_s: float = 0.0,
    destination_processing_s: float = 0.0,
) -> ExchangeTimeline:
    r"""Timeline of an exchange of packets, each sent when another has arrived.

    .. math::

        s_k = w_k + \begin{cases} r_{a_k} & a_k \ge 0 \\ 0 & a_k = -1 \end{cases}, \quad
        e_{k,i} = \max(f_{k,i}, e_{k-1,i}) + 8 L_k / R_i, \quad f_{k,i+1} = e_{k,i} + d_i + p_i,
        \quad r_k = e_{k,n} + d_n

    Packets of one direction pass each link in the order in which they were sent; the second
    direction has the links in reverse.

    Parameters
    ----------
    packet_bytes : 1-D array_like
        Size of each packet. [byte]
    sender : 1-D array_like
        Sender: 0 for the source of the path, 1 for its destination. [1]
    after : 1-D array_like
        Index of the packet whose arrival triggers it, from 0; -1 for none. [1]
    wait_s : 1-D array_like
        Time between that arrival, or the start, and its sending, or one for all. [s]
    bandwidth_bps : 1-D array_like
        Rate of each link from the source. [bit/s]
    latency_s : 1-D array_like
        Latency of each link, or one for all. [s]
    processing_s : 1-D array_like
        Processing in each node between two links, or one for all. [s]
    source_processing_s : float
        Processing in the source, when it sends and when it receives. [s]
    destination_processing_s : float
        Processing in the destination, when it sends. [s]

    Returns
    -------
    ExchangeTimeline
        ``sent_s`` and ``received_s`` of each packet; nan in all where an input is no number. [s]

    Raises
    ------
    DomainError
        If a packet waits for itself or for a later one.

    Notes
    -----
    Validity: no loss, unlimited buffers in every node.

    Range: everywhere.

    Symbols: :math:`L_k` packet_bytes, :math:`a_k` after, :math:`w_k` wait_s, :math:`R_i`
    bandwidth_bps, :math:`d_i` latency_s, :math:`p_i` processing_s. Not in the equation: sender
    (the direction), source_processing_s, destination_processing_s (further nodes).

    Examples
    --------
    A handshake and a request of 552 bytes over 56 kbit/s, 10 ms long:

    >>> steps = exchange_timeline([60, 60, 52, 552], sender=[0, 1, 0, 0], after=[-1, 0, 1, 1],
    ...     bandwidth_bps=56e3, latency_s=0.01)
    >>> (1e3 * steps.received_s).round(1).tolist()
    [18.6, 37.1, 54.6, 133.4]

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3; event recursion of a tandem queue.
    """
    sizes = checks.one_dimensional(
        "packet_bytes", checks.non_negative("packet_bytes", packet_bytes)
    )
    count = sizes.size
    sides = _one_each(
        "sender", checks.between("sender", checks.whole("sender", sender), 0, 1), count
    )
    first = checks.at_least("after", after, -1)
    waits_for = _one_each("after", checks.whole("after", first + 1.0) - 1.0, count)
    waits = _one_each("wait_s", checks.non_negative("wait_s", wait_s), count)
    rate = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    latency = _one_each("latency_s", checks.non_negative("latency_s", latency_s), rate.size)
    nodes = _one_each(
        "processing_s", checks.non_negative("processing_s", processing_s), rate.size - 1
    )
    source = checks.scalar(
        "source_processing_s", checks.non_negative("source_processing_s", source_processing_s)
    )
    destination = checks.scalar(
        "destination_processing_s",
        checks.non_negative("destination_processing_s", destination_processing_s),
    )
    numbers = (sizes, sides, waits_for, waits, rate, latency, nodes)
    if not all(np.isfinite(part).all() for part in (*numbers, source, destination)):
        return ExchangeTimeline(np.full(count, np.nan), np.full(count, np.nan))
    _require_order(waits_for)
    there = _Direction(rate, latency, np.concatenate(([source], nodes, [0.0])))
    back = _Direction(
        rate[::-1], latency[::-1], np.concatenate(([destination], nodes[::-1], [source]))
    )
    return _timeline(sizes, sides.astype(int), waits_for.astype(int), waits, (there, back))


class _Direction:
    """The links one way, and when each is free again."""

    def __init__(self, rate: FloatArray, latency: FloatArray, nodes: FloatArray) -> None:
        self.links = list(zip(nodes[:-1].tolist(), rate.tolist(), latency.tolist(), strict=True))
        self.last = float(nodes[-1])
        self.node_free = [0.0] * (len(self.links) + 1)
        self.link_free = [0.0] * len(self.links)

    def arrival(self, now: float, size: float) -> float:
        """Return when a packet that is sent now is complete at the far end."""
        for index, (node, rate, latency) in enumerate(self.links):
            now = self.node_free[index] = max(now, self.node_free[index]) + node
            now = self.link_free[index] = max(now, self.link_free[index]) + 8.0 * size / rate
            now += latency
        now = self.node_free[-1] = max(now, self.node_free[-1]) + self.last
        return now


def _timeline(
    sizes: FloatArray,
    sides: FloatArray,
    waits_for: FloatArray,
    waits: FloatArray,
    directions: tuple[_Direction, _Direction],
) -> ExchangeTimeline:
    sent, received = np.full(sizes.size, np.nan), np.full(sizes.size, np.nan)
    followers: dict[int, list[int]] = {}
    for number, before in enumerate(waits_for.tolist()):
        followers.setdefault(int(before), []).append(number)
    ready = [(float(waits[number]), number) for number in followers.get(-1, [])]
    heapify(ready)
    while ready:
        now, number = heappop(ready)
        sent[number] = now
        received[number] = directions[int(sides[number])].arrival(now, float(sizes[number]))
        for later in followers.get(number, []):
            heappush(ready, (float(received[number] + waits[later]), later))
    return ExchangeTimeline(sent, received)


def _require_order(waits_for: FloatArray) -> None:
    """Refuse a packet that waits for what cannot have come."""
    numbers = np.arange(waits_for.size)
    if (waits_for >= numbers).any():
        packet = int(np.flatnonzero(waits_for >= numbers)[0])
        raise DomainError("not-an-earlier-packet", "after", float(waits_for[packet]), packet=packet)
