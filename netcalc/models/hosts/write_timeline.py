r"""Timelines of small writes: writes, segments and acknowledgements as events.

The result is rows that a plot can draw: what happened at which end, from when to when. It also
is the second method for the closed forms of :mod:`netcalc.models.hosts.small_writes`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

Policy: TypeAlias = Literal["nagle", "minshall", "nodelay"]

MAX_SEGMENTS = 100_000
"""Largest number of segments that a timeline takes."""


# The values of ``who`` and ``what``; saved runs hold the same.
CLIENT, SERVER, TO_SERVER, TO_CLIENT = "client", "server", "to server", "to client"
SEGMENT, ACKNOWLEDGEMENT, RESPONSE = "segment", "acknowledgement", "response"
WAITS_FOR_ACK, HOLDS_ACK = "waits for acknowledgement", "holds acknowledgement"
WORKS = "works"


class WriteTimeline(NamedTuple):
    """Rows in the order of their start, and when the response is there.

    ``who`` is ``client``, ``server``, ``to server`` or ``to client``; ``what`` is ``segment``,
    ``acknowledgement``, ``response``, ``waits for acknowledgement``, ``holds acknowledgement``
    or ``works``.
    """

    who: tuple[str, ...]
    what: tuple[str, ...]
    start_s: FloatArray
    end_s: FloatArray
    payload_bytes: FloatArray
    done_s: float


@model
def write_timeline(
    write_s: ArrayLike,
    *,
    write_bytes: ArrayLike,
    rtt_s: float,
    delayed_ack_s: float = 0.04,
    mss_bytes: float = 1460,
    policy: Policy = "nagle",
    quickack: bool = False,
    segments_per_ack: int = 2,
    server_s: float = 0.0,
) -> WriteTimeline:
    r"""Timeline of a request written in parts, until its response.

    .. math::

        t_{arrival} = t_{sent} + RTT / 2, \quad t_{sent} \ge w_i, \quad t_{done} = t_{last} +
        t_{server} + RTT / 2

    The client sends what its algorithm allows at every write and every acknowledgement. The server
    acknowledges after a number of full segments' worth of data, when its timer fires, or with the
    response, which it sends when the request is whole.

    Parameters
    ----------
    write_s : 1-D array_like
        Time of each write, in order. [s]
    write_bytes : 1-D array_like
        Size of each write. [byte]
    rtt_s : float
        Round-trip time. [s]
    delayed_ack_s : float
        Delay of an acknowledgement at the server. [s]
    mss_bytes : float
        Payload of a full segment. [byte]
    policy : {'nagle', 'minshall', 'nodelay'}
        Rule of the client. [text]
    quickack : bool
        The server acknowledges every segment immediately. [bool]
    segments_per_ack : int
        Full segments' worth of data that is acknowledged at once. [1]
    server_s : float
        Server time between the whole request and the response. [s]

    Returns
    -------
    WriteTimeline
        Rows ``who``, ``what``, ``start_s``, ``end_s``, ``payload_bytes``, and ``done_s``, when
        the response arrives; no rows and nan where an input is nan. [s]

    Raises
    ------
    DomainError
        If ``write_s`` is not in ascending order, or the request has more than 100,000 segments.

    See Also
    --------
    netcalc.models.hosts.small_writes.write_write_read_s : Closed form of two small writes.

    Notes
    -----
    Validity: one request on an idle connection; negligible serialization; no loss, no window limit.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`w_i` write_s, :math:`t_{server}` server_s. Not in the
    equation: write_bytes, delayed_ack_s, mss_bytes, policy, quickack, segments_per_ack (the rules
    for what waits).

    Examples
    --------
    "hello " and "world", 30 ms away:

    >>> request = write_timeline([0, 0], write_bytes=[6, 7], rtt_s=0.03)
    >>> round(request.done_s, 3)
    0.1
    >>> [row for row in zip(request.who, request.what) if row[1].startswith(("waits", "holds"))]
    [('client', 'waits for acknowledgement'), ('server', 'holds acknowledgement')]

    References
    ----------
    RFC 896; RFC 1122, 4.2.3.2 and 4.2.3.4; Minshall, draft-minshall-nagle-01.
    """
    times = checks.one_dimensional("write_s", checks.non_negative("write_s", write_s))
    sizes = checks.one_dimensional("write_bytes", checks.whole("write_bytes", write_bytes, 1))
    mss = checks.scalar("mss_bytes", checks.positive("mss_bytes", mss_bytes))
    checks.choice("policy", policy, ("nagle", "minshall", "nodelay"))
    if sizes.shape != times.shape:
        raise DomainError("wrong-count", "write_bytes", count=sizes.size, expected=times.size)
    if (np.diff(times) < 0).any():
        index = int(np.flatnonzero(np.diff(times) < 0)[0]) + 1
        raise DomainError("not-ascending", "write_s", float(times[index]), index=index)
    if sizes.sum() / mss + sizes.size > MAX_SEGMENTS:
        raise DomainError("too-many-segments", "write_bytes", sizes.sum(), high=MAX_SEGMENTS)
    at_once = checks.flag("quickack", quickack)
    exchange = _Exchange(
        half_rtt_s=checks.scalar("rtt_s", checks.non_negative("rtt_s", rtt_s)) / 2,
        delayed_ack_s=0.0
        if at_once
        else checks.scalar("delayed_ack_s", checks.non_negative("delayed_ack_s", delayed_ack_s)),
        quickack=at_once,
        ack_bytes=mss
        * checks.scalar("segments_per_ack", checks.positive("segments_per_ack", segments_per_ack)),
        server_s=checks.scalar("server_s", checks.non_negative("server_s", server_s)),
        mss=mss,
        policy=policy,
        request_bytes=float(sizes.sum()),
    )
    inputs = (times.sum(), sizes.sum(), mss, exchange.half_rtt_s, exchange.delayed_ack_s)
    if not np.isfinite([*inputs, exchange.server_s, exchange.ack_bytes]).all():
        empty = np.zeros(0)
        return WriteTimeline((), (), empty, empty, empty, np.nan)
    return exchange.run(times, sizes)


class _Exchange:
    """The state of both ends: a client with a rule, a server with a timer."""

    def __init__(
        self,
        *,
        half_rtt_s: float,
        delayed_ack_s: float,
        quickack: bool,
        ack_bytes: float,
        server_s: float,
        mss: float,
        policy: str,
        request_bytes: float,
    ) -> None:
        self.half_rtt_s = half_rtt_s
        self.delayed_ack_s = delayed_ack_s
        self.quickack = quickack
        self.ack_bytes = ack_bytes
        self.server_s = server_s
        self.mss = mss
        self.policy = policy
        self.request_bytes = request_bytes
        self.events: list[tuple[float, int, str, float]] = []
        self.order = count()  # of events at the same time
        self.rows: list[tuple[float, int, float, str, str, float]] = []
        self.written = self.sent = self.acked = self.small_end = 0.0
        self.blocked_since: float | None = None
        self.received = self.acknowledged = 0.0
        self.held_since: float | None = None
        self.done_s = np.nan

    def run(self, times: FloatArray, sizes: FloatArray) -> WriteTimeline:
        for time, size in zip(times.tolist(), sizes.tolist(), strict=True):
            self.at(time, "write", size)
        while self.events:
            now, _, kind, value = heappop(self.events)
            getattr(self, f"on_{kind}")(now, value)
        self.rows.sort()
        start, _, end, who, what, size = zip(*self.rows, strict=True)
        return WriteTimeline(
            who=who,
            what=what,
            start_s=np.array(start, dtype=np.float64),
            end_s=np.array(end, dtype=np.float64),
            payload_bytes=np.array(size, dtype=np.float64),
            done_s=self.done_s,
        )

    def at(self, time: float, kind: str, value: float) -> None:
        heappush(self.events, (time, next(self.order), kind, value))

    def row(self, start: float, end: float, who: str, what: str, size: float = 0.0) -> None:
        self.rows.append((start, len(self.rows), end, who, what, size))

    def on_write(self, now: float, size: float) -> None:
        self.written += size
        self.send(now)

    def on_acked(self, now: float, until: float) -> None:
        self.acked = max(self.acked, until)
        self.send(now)

    def send(self, now: float) -> None:
        """Send what the rule allows; the first byte that has to wait starts the clock."""
        while self.sent < self.written and self.may_send():
            if self.blocked_since is not None and now > self.blocked_since:
                self.row(self.blocked_since, now, CLIENT, WAITS_FOR_ACK)
            self.blocked_since = None
            size = min(self.mss, self.written - self.sent)
            self.sent += size
            if size < self.mss:
                self.small_end = self.sent
            self.row(now, now + self.half_rtt_s, TO_SERVER, SEGMENT, size)
            self.at(now + self.half_rtt_s, "segment", size)
        if self.sent < self.written and self.blocked_since is None:
            self.blocked_since = now

    def may_send(self) -> bool:
        if self.policy == "nodelay" or self.written - self.sent >= self.mss:
            return True
        if self.policy == "minshall":
            return self.small_end <= self.acked
        return self.sent == self.acked

    def on_segment(self, now: float, size: float) -> None:
        self.received += size
        if self.received == self.request_bytes:
            if self.server_s > 0:
                self.row(now, now + self.server_s, SERVER, WORKS)
            self.at(now + self.server_s, "answer", 0.0)
        if self.quickack or self.received - self.acknowledged >= self.ack_bytes:
            if not (self.received == self.request_bytes and self.server_s == 0):
                self.acknowledge(now)
        elif self.held_since is None:
            self.held_since = now
            self.at(now + self.delayed_ack_s, "timer", now)

    def on_timer(self, now: float, started: float) -> None:
        if self.held_since == started:
            self.acknowledge(now)

    def acknowledge(self, now: float) -> None:
        self.end_hold(now)
        self.acknowledged = self.received
        self.row(now, now + self.half_rtt_s, TO_CLIENT, ACKNOWLEDGEMENT)
        self.at(now + self.half_rtt_s, "acked", self.received)

    def end_hold(self, now: float) -> None:
        if self.held_since is not None and now > self.held_since:
            self.row(self.held_since, now, SERVER, HOLDS_ACK)
        self.held_since = None

    def on_answer(self, now: float, _: float) -> None:
        self.end_hold(now)
        self.acknowledged = self.received
        self.row(now, now + self.half_rtt_s, TO_CLIENT, RESPONSE)
        self.done_s = now + self.half_rtt_s
