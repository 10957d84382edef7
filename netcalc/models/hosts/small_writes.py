"""Small writes: how long Nagle's algorithm and delayed acknowledgements hold data back.

A sender that waits for an acknowledgement and a receiver that delays it wait for each other until
the receiver's timer fires.

A receiver waits for data to piggyback on, or for a second segment, at the latest until its timer
fires. The timer is either started with the segment, or a periodic heartbeat. How long it is differs
by operating system.

A timeline of writes, segments and acknowledgements is rows that a plot can draw: what happened at
which end, from when to when. It also is the second method for the closed forms.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

Policy: TypeAlias = Literal["nagle", "minshall", "nodelay"]


@model
def nagle_may_send(
    payload_bytes: ArrayLike,
    *,
    mss_bytes: ArrayLike = 1460.0,
    unacked_bytes: ArrayLike,
    nodelay: bool = False,
    max_window_bytes: ArrayLike = np.inf,
) -> NDArray[np.bool_]:
    r"""Whether Nagle's algorithm lets a segment be sent now.

    .. math:: d \ge M \lor u = 0 \lor d \ge W_{max} / 2

    Parameters
    ----------
    payload_bytes : array_like
        Data ready to send. [byte]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    unacked_bytes : array_like
        Data sent and not yet acknowledged. [byte]
    nodelay : bool
        TCP_NODELAY is set. [bool]
    max_window_bytes : array_like
        Largest window the receiver has offered: half of it may be sent, too. [byte]

    Returns
    -------
    numpy.ndarray
        True where it may be sent; False for no data and where a number is nan. [bool]

    See Also
    --------
    minshall_may_send : Minshall's variant, in Linux.

    Notes
    -----
    Validity: the receiver's window is large enough. Flushing a stream has no effect.

    Range: everywhere.

    Defaults: mss_bytes.

    Symbols: :math:`d` payload_bytes, :math:`M` mss_bytes, :math:`u` unacked_bytes, :math:`W_{max}`
    max_window_bytes. Not in the equation: nodelay (which always allows it).

    Examples
    --------
    >>> bool(nagle_may_send(100, mss_bytes=1460, unacked_bytes=0))
    True
    >>> bool(nagle_may_send(1459, mss_bytes=1460, unacked_bytes=1))
    False

    References
    ----------
    RFC 896; RFC 1122, 4.2.3.4.
    """
    data = checks.non_negative("payload_bytes", payload_bytes)
    full = data >= checks.positive("mss_bytes", mss_bytes)
    idle = checks.non_negative("unacked_bytes", unacked_bytes) == 0
    largest = checks.positive("max_window_bytes", max_window_bytes, allow_inf=True)
    if largest.ndim or not np.isposinf(largest):
        full = full | (data >= 0.5 * largest)
    return np.asarray((full | idle | checks.flag("nodelay", nodelay)) & (data > 0))


@model
def minshall_may_send(
    payload_bytes: ArrayLike,
    *,
    mss_bytes: ArrayLike = 1460.0,
    unacked_small: ArrayLike,
    nodelay: bool = False,
) -> NDArray[np.bool_]:
    r"""Whether Minshall's variant of Nagle's algorithm lets a segment be sent now.

    .. math:: d \ge M \lor \lnot (\text{a small segment is unacknowledged})

    Parameters
    ----------
    payload_bytes : array_like
        Data ready to send. [byte]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    unacked_small : array_like
        An earlier segment of less than ``mss_bytes`` is not yet acknowledged. [bool]
    nodelay : bool
        TCP_NODELAY is set. [bool]

    Returns
    -------
    numpy.ndarray
        True where it may be sent; False for no data and where a number is nan. [bool]

    See Also
    --------
    nagle_may_send : Nagle's algorithm.

    Notes
    -----
    Validity: the receiver's window is large enough. Linux uses this rule.

    Range: everywhere.

    Defaults: mss_bytes.

    Symbols: :math:`d` payload_bytes, :math:`M` mss_bytes. Not in the equation: unacked_small (the
    condition in words), nodelay (which always allows it).

    Examples
    --------
    The short tail behind full segments goes at once:

    >>> bool(minshall_may_send(100, mss_bytes=1460, unacked_small=False))
    True

    References
    ----------
    Minshall, draft-minshall-nagle-01 (1999); Mogul and Minshall, CCR 31(1), 2001,
    doi:10.1145/382176.382177.
    """
    data = checks.non_negative("payload_bytes", payload_bytes)
    full = data >= checks.positive("mss_bytes", mss_bytes)
    free = ~checks.flags("unacked_small", unacked_small)
    return np.asarray((full | free | checks.flag("nodelay", nodelay)) & (data > 0))


@model
def tail_delay_s(
    payload_bytes: ArrayLike,
    *,
    rtt_s: ArrayLike,
    delayed_ack_s: ArrayLike,
    mss_bytes: ArrayLike = 1460,
    segments_per_ack: ArrayLike = 2,
    policy: Policy = "nagle",
) -> FloatArray:
    r"""Delay of the short last segment of a large write.

    .. math::
       t = \begin{cases}
       0 & N \bmod M = 0 \text{ or } N < M \\
       RTT & \lfloor N / M \rfloor \bmod b = 0 \\
       RTT + D & \text{otherwise}
       \end{cases}

    Parameters
    ----------
    payload_bytes : array_like
        Size of the write. [byte]
    rtt_s : array_like
        Round-trip time. [s]
    delayed_ack_s : array_like
        Time the receiver holds back the acknowledgement of a lone segment. [s]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    segments_per_ack : array_like
        Full segments that are acknowledged at once. [1]
    policy : {'nagle', 'minshall', 'nodelay'}
        Rule of the sender; only Nagle's own delays the tail. [text]

    Returns
    -------
    numpy.ndarray
        Time between the last full segment and the tail. [s]

    Notes
    -----
    Validity: an idle connection, all full segments in one window, serialization short against the
    round trip. A first window is ten segments (RFC 6928).

    Range: segment_count (the write over the segment) up to 10.

    Symbols: :math:`N` payload_bytes, :math:`RTT` rtt_s, :math:`D` delayed_ack_s, :math:`M`
    mss_bytes, :math:`b` segments_per_ack. Not in the equation: policy (0 without Nagle's
    algorithm).

    Examples
    --------
    One full segment and a tail, two and a tail:

    >>> tail_delay_s([1500, 3000], rtt_s=0.05, delayed_ack_s=0.2).tolist()
    [0.25, 0.05]

    References
    ----------
    Mogul and Minshall, Rethinking the TCP Nagle Algorithm, CCR 31(1), 2001,
    doi:10.1145/382176.382177.
    """
    size = checks.non_negative("payload_bytes", payload_bytes)
    mss = checks.positive("mss_bytes", mss_bytes)
    per_ack = checks.positive("segments_per_ack", segments_per_ack)
    rtt = checks.non_negative("rtt_s", rtt_s)
    held = checks.non_negative("delayed_ack_s", delayed_ack_s)
    full = np.floor(size / mss)
    checks.note_outside_range(tail_delay_s, segment_count=full)
    tail = (full * mss < size) & (full > 0)
    if checks.choice("policy", policy, ("nagle", "minshall", "nodelay")) != "nagle":
        tail = tail & False
    # A whole number of acknowledgements leaves no segment over: the remainder is 0.
    lone = np.minimum(np.fmod(full, per_ack), 1.0) > 0
    return np.where(tail, rtt + lone * held, 0.0) + 0.0 * (per_ack + full + rtt + held)


@model
def write_write_read_s(
    rtt_s: ArrayLike,
    *,
    delayed_ack_s: ArrayLike = 0.04,
    nagle: bool = True,
    quickack: bool = False,
    write_gap_s: ArrayLike = 0.0,
    server_s: ArrayLike = 0.0,
) -> FloatArray:
    r"""Response time of a request written in two small parts (write-write-read).

    .. math::
       t = RTT + t_{server} + \begin{cases}
       \max(g, RTT + D) & \text{Nagle} \\
       \max(g, RTT) & \text{Nagle, acknowledged at once} \\
       g & \text{without Nagle}
       \end{cases}

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time. [s]
    delayed_ack_s : array_like
        Time the receiver holds back the acknowledgement of the first part. [s]
    nagle : bool
        Nagle's rule is on; False with TCP_NODELAY. [bool]
    quickack : bool
        The receiver acknowledges at once, as Linux does when a connection starts. [bool]
    write_gap_s : array_like
        Time between the two writes. [s]
    server_s : array_like
        Time of the server between the whole request and the response. [s]

    Returns
    -------
    numpy.ndarray
        Time from the first write to the response. [s]

    See Also
    --------
    netcalc.models.hosts.small_writes.write_timeline : Any writes, event by event.

    Notes
    -----
    Validity: both parts fit one segment; any number of further small parts takes the same time.
    One write takes ``RTT + t_server``.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`D` delayed_ack_s, :math:`g` write_gap_s, :math:`t_{server}`
    server_s. Not in the equation: nagle, quickack (the cases in words).

    Examples
    --------
    30 ms away, a receiver that delays by 40 ms: as it is, and with TCP_NODELAY.

    >>> round(float(write_write_read_s(0.03)), 3), float(write_write_read_s(0.03, nagle=False))
    (0.1, 0.03)

    References
    ----------
    RFC 896; RFC 1122, 4.2.3.2 and 4.2.3.4.
    """
    rtt = checks.non_negative("rtt_s", rtt_s)
    held = checks.non_negative("delayed_ack_s", delayed_ack_s)
    gap = checks.non_negative("write_gap_s", write_gap_s)
    server = checks.non_negative("server_s", server_s)
    at_once = checks.flag("quickack", quickack)
    if not checks.flag("nagle", nagle):
        return rtt + (gap + server + 0 * held)
    acked = rtt + (0 * held if at_once else held) + server
    return rtt + np.maximum(gap + server, acked)


class DelayedAck(NamedTuple):
    """Delayed ACKs of a system: minimum and maximum delay, and segments per acknowledgement."""

    shortest_s: float
    longest_s: float
    every_segments: int
    source: str

    @property
    def typical_s(self) -> float:
        """What it mostly is: the shortest of a time that adapts, else the mean."""
        adapts = self is SYSTEMS["linux"]
        return self.shortest_s if adapts else (self.shortest_s + self.longest_s) / 2


SYSTEMS: dict[str, DelayedAck] = {
    "rfc1122": DelayedAck(0.0, 0.5, 2, "RFC 1122, 4.2.3.2: less than 0.5 s, every second segment"),
    "bsd44": DelayedAck(0.0, 0.2, 2, "4.4BSD, heartbeat of 200 ms (PR_FASTHZ 5)"),
    "linux": DelayedAck(0.04, 0.2, 2, "Linux, TCP_DELACK_MIN HZ/25 to TCP_DELACK_MAX HZ/5"),
    "rhel7_rt": DelayedAck(0.004, 0.004, 2, "Red Hat Enterprise Linux for Real Time 7, tuning"),
    "freebsd_before_2020": DelayedAck(0.1, 0.1, 2, "FreeBSD before r360010"),
    "freebsd_since_2020": DelayedAck(0.04, 0.04, 2, "FreeBSD r360010 (April 2020)"),
    "xnu": DelayedAck(0.1, 0.2, 2, "xnu, tcp_delack: fires between 100 and 200 ms"),
    "windows_2000": DelayedAck(0.2, 0.2, 2, "Windows 2000, TcpDelAckTicks 2 of 100 ms"),
    "windows_ce": DelayedAck(0.2, 0.2, 2, "Windows CE 6.0 documentation"),
    "solaris_local": DelayedAck(0.05, 0.05, 8, "Solaris, _local_dack_interval, _local_dacks_max"),
    "solaris_remote": DelayedAck(0.1, 0.1, 2, "Solaris, _deferred_ack_interval"),
}
"""Delayed acknowledgements by system. Windows since 2012 sets the time by its templates."""

LINUX_ATO_MIN_S = 0.04
"""Least timeout that Linux adapts an acknowledgement to (TCP_ATO_MIN, HZ/25). [s]"""

LINUX_MAX_QUICKACKS = 16
"""Segments that Linux acknowledges at once when a connection starts (TCP_MAX_QUICKACKS)."""


@model
def delayed_ack_s(system: str, *, statistic: str = "typical") -> FloatArray:
    r"""Delay of the acknowledgement of a lone segment, by operating system.

    .. math:: D = D_{min} \text{ (Linux)}, \quad D = (D_{min} + D_{max}) / 2 \text{ (others)}

    Parameters
    ----------
    system : str
        Name in ``SYSTEMS``: rfc1122, bsd44, linux, rhel7_rt, freebsd_before_2020,
        freebsd_since_2020, xnu, windows_2000, windows_ce, solaris_local or solaris_remote. [text]
    statistic : {'typical', 'shortest', 'mean', 'longest'}
        Which time of the range; the typical one is the mean, and of Linux, which adapts, the
        shortest. [text]

    Returns
    -------
    numpy.ndarray
        Time; the mean is the middle of the range. [s]

    Notes
    -----
    Validity: the defaults of the sources named in ``SYSTEMS``. The middle is the mean of a
    heartbeat; Linux adapts, and mostly stays at its shortest of 40 ms.

    Typical: 40 ms in Linux, 100 ms in FreeBSD before 2020, 200 ms in 4.4BSD.

    Range: everywhere.

    Defaults: statistic.

    Symbols: Not in the equation: system, statistic (the system sets the range, of which the mean is
    the middle).

    Examples
    --------
    >>> float(delayed_ack_s("bsd44")), float(delayed_ack_s("linux"))
    (0.1, 0.04)

    References
    ----------
    RFC 1122, 4.2.3.2; the sources of the systems as named in ``SYSTEMS``.
    """
    system_of = SYSTEMS[checks.choice("system", system, tuple(SYSTEMS))]
    times = {
        "typical": system_of.typical_s,
        "shortest": system_of.shortest_s,
        "mean": (system_of.shortest_s + system_of.longest_s) / 2,
        "longest": system_of.longest_s,
    }
    return np.asarray(times[checks.choice("statistic", statistic, tuple(times))], dtype=np.float64)


@model
def heartbeat_mean_s(period_s: ArrayLike) -> FloatArray:
    r"""Mean delay of a periodic (free-running) timer.

    .. math:: \bar D = P / 2

    Parameters
    ----------
    period_s : array_like
        Period of the timer: 0.2 in 4.4BSD. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait. [s]

    Notes
    -----
    Validity: segments that arrive at any phase of the timer alike.

    Range: everywhere.

    Symbols: :math:`P` period_s.

    Examples
    --------
    >>> float(heartbeat_mean_s(0.2))
    0.1

    References
    ----------
    Cardwell, Savage and Anderson, Modeling TCP Latency, INFOCOM 2000,
    doi:10.1109/INFCOM.2000.832574 (100 ms).
    """
    return checks.non_negative("period_s", period_s) / 2.0


@model
def heartbeat_wait_s(
    arrival_s: ArrayLike, *, period_s: ArrayLike = 0.2, phase_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Delay from an arrival to the next tick of a periodic timer.

    .. math:: D = P - ((t - \varphi) \bmod P)

    Parameters
    ----------
    arrival_s : array_like
        Time of the arrival. [s]
    period_s : array_like
        Period of the timer. [s]
    phase_s : array_like
        Time of one of its ticks. [s]

    Returns
    -------
    numpy.ndarray
        Wait, above 0 and at most one period. [s]

    Notes
    -----
    Validity: a timer without jitter; an arrival at a tick waits for the next.

    Range: everywhere.

    Symbols: :math:`t` arrival_s, :math:`P` period_s, :math:`\varphi` phase_s.

    Examples
    --------
    >>> heartbeat_wait_s([0.0, 0.125], period_s=0.25).tolist()
    [0.25, 0.125]

    References
    ----------
    Wright and Stevens, TCP/IP Illustrated vol. 2, 25.4 (tcp_fasttimo).
    """
    period = checks.positive("period_s", period_s)
    # Of each by itself: the remainder is exact, the difference of two large times is not.
    since: FloatArray = np.mod(checks.real("arrival_s", arrival_s), period)
    since = np.mod(since - np.mod(checks.real("phase_s", phase_s), period), period)
    return period - since


@model
def tick_timer_wait_s(
    arrival_s: ArrayLike, *, tick_count: ArrayLike = 10, tick_s: ArrayLike = 0.004
) -> FloatArray:
    r"""Delay from an arrival to a timeout counted in kernel ticks.

    .. math:: D = \tau \left( \left\lfloor t / \tau \right\rfloor + n + 1 \right) - t

    Parameters
    ----------
    arrival_s : array_like
        Time of the arrival since a tick. [s]
    tick_count : array_like
        Ticks of the timeout: HZ / 25 for the least delayed acknowledgement of Linux. [1]
    tick_s : array_like
        Time between two ticks: 0.004 where the kernel has HZ = 250. [s]

    Returns
    -------
    numpy.ndarray
        Wait: longer than the timeout by at most one tick. [s]

    Notes
    -----
    Validity: the timer wheel of Linux below 64 ticks, where its slots are a tick wide. If each
    request follows the response to the one before, and that followed the timer, arrivals keep
    their phase: a round then takes a whole number of ticks.

    Range: everywhere.

    Symbols: :math:`t` arrival_s, :math:`n` tick_count, :math:`\tau` tick_s.

    Examples
    --------
    An arrival right after a tick waits longest:

    >>> (1e3 * tick_timer_wait_s([0.0001, 0.0039])).round(1).tolist()
    [43.9, 40.1]

    References
    ----------
    Linux, kernel/time/timer.c (calc_index: a timer never fires early); include/net/tcp.h
    (TCP_DELACK_MIN).
    """
    arrival = checks.real("arrival_s", arrival_s)
    ticks = checks.whole("tick_count", tick_count)
    tick = checks.positive("tick_s", tick_s)
    return tick * (ticks + 1.0) - np.mod(arrival, tick)


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
        the response arrives; no rows and nan where an input is no number. [s]

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
