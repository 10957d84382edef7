r"""Small writes: when and for how long Nagle's algorithm and delayed ACKs hold data back.

A sender that waits for an acknowledgement and a receiver that delays it wait for each other until
the receiver's timer fires.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model

Policy: TypeAlias = Literal["nagle", "minshall", "nodelay"]


@model
def nagle_may_send(
    payload_bytes: ArrayLike,
    *,
    mss_bytes: ArrayLike,
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
    mss_bytes: ArrayLike,
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
    netcalc.models.hosts.write_timeline.write_timeline : Any writes, event by event.

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
