r"""An exchange of packets, clocked over a path: which packet waits for which, and until when.

A handshake, a request and its response are packets of known sizes, each sent because another one
arrived. On a slow link their bytes take longer than the round trips that are usually counted.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError


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
        ``sent_s`` and ``received_s`` of each packet; nan in all where an input is nan. [s]

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


def _one_each(name: str, values: FloatArray, count: int) -> FloatArray:
    if values.ndim == 0:
        return np.full(count, float(values))
    if values.shape != (count,):
        raise DomainError("wrong-count-or-one", name, count=values.size, expected=count)
    return values
