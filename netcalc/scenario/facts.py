"""The facts: flows, request loops, the bottleneck they share, and the time it is observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.printable import safe_repr

ALGORITHMS = ("reno", "cubic", "bbr", "vegas", "dctcp")
"""Congestion control algorithms a flow may have."""

DEFAULT_MARKING_BDP = 0.17
"""Queue above which packets are marked, by default: just above 1/7 BDP, the least that keeps a
link with DCTCP flows busy (RFC 8257, section 5, after Alizadeh 2010). [BDP]"""

MOST_FLOWS = 1000
"""Most flows and request loops of one scenario."""

MOST_SENDERS = 8
"""Most sending hosts of one scenario: live each is a process of its own."""

Item = TypeVar("Item")


@checks.named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A transfer: its algorithm, its start, and its end by time, by size, or by the first of both.

    Parameters
    ----------
    algorithm : str
        One of :data:`ALGORITHMS`.
    start_s : float
        Time at which the connection is opened. [s]
    stop_s : float or None
        Time at which the sender stops; None if the size ends it. [s]
    size_bytes : float or None
        Payload to transfer, rounded up to whole bytes; None if the time ends it. [byte]
    rtt_s : float or None
        Round-trip time with an empty queue, without serialization; None for that of the
        bottleneck. [s]

    Raises
    ------
    DomainError
        If the algorithm is unknown, the flow is endless or empty, or a number cannot be.
    """

    algorithm: str
    start_s: float = 0.0
    stop_s: float | None = None
    size_bytes: float | None = None
    rtt_s: float | None = None

    def __post_init__(self) -> None:
        checks.choice("algorithm", self.algorithm, ALGORITHMS)
        _keep(self, "start_s", checks.non_negative)
        _keep(self, "stop_s", checks.non_negative)
        _keep(self, "size_bytes", _whole_bytes)
        _keep(self, "rtt_s", checks.positive)
        if self.stop_s is None and self.size_bytes is None:
            raise DomainError("flow-endless", "stop_s", None)
        _require_later(self)


@checks.named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Requests back to back over one connection, each sent when the reply to the last is there.

    Parameters
    ----------
    request_bytes : float
        Payload of a request, sent through the bottleneck; rounded up to whole bytes. [byte]
    reply_bytes : float
        Payload of a reply, sent against the traffic; rounded up to whole bytes. [byte]
    algorithm : str
        One of :data:`ALGORITHMS`.
    start_s, stop_s : float
        Time of the first request, and after which none is sent. [s]

    Raises
    ------
    DomainError
        If the algorithm is unknown, the loop is empty, or a number cannot be.
    """

    request_bytes: float
    reply_bytes: float = 1.0
    algorithm: str = "cubic"
    start_s: float = 0.0
    stop_s: float

    def __post_init__(self) -> None:
        checks.choice("algorithm", self.algorithm, ALGORITHMS)
        _keep(self, "request_bytes", _whole_bytes)
        _keep(self, "reply_bytes", _whole_bytes)
        _keep(self, "start_s", checks.non_negative)
        _keep(self, "stop_s", checks.non_negative)
        _require_later(self)


@checks.named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """The link that all share: rate, round-trip time without load, buffer and what it marks.

    Parameters
    ----------
    rate_bps : float
        Rate of IP packets. [bit/s]
    rtt_s : float
        Round-trip time with an empty queue, without serialization. [s]
    buffer_bytes : float
        Buffer in front of the link, at least one packet; it drops what does not fit. [byte]
    mtu_bytes : int
        Size of a full packet (IP). [byte]
    loss_ratio : float
        Random loss of data packets, besides the drops of the full buffer.
    marking_bytes : float or None
        Queue above which packets of DCTCP are marked; None for :data:`DEFAULT_MARKING_BDP`, or one
        packet if that is more. [byte]
    delay_on_acks : bool
        True if the whole delay is on the path of the ACKs, as with an emulator at the receiver.

    Raises
    ------
    DomainError
        If the buffer is below one packet, or a number cannot be.

    Examples
    --------
    >>> Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=1).buffer_packets
    33
    """

    rate_bps: float
    rtt_s: float
    buffer_bytes: float
    mtu_bytes: int = 1500
    loss_ratio: float = 0.0
    marking_bytes: float | None = None
    delay_on_acks: bool = False

    def __post_init__(self) -> None:
        _keep(self, "rate_bps", checks.positive)
        _keep(self, "rtt_s", checks.positive)
        _keep(self, "mtu_bytes", _packet_size)
        _keep(self, "buffer_bytes", checks.positive)
        _keep(self, "loss_ratio", checks.ratio)
        _keep(self, "marking_bytes", checks.positive)
        object.__setattr__(self, "mtu_bytes", int(self.mtu_bytes))
        object.__setattr__(self, "delay_on_acks", checks.flag("delay_on_acks", self.delay_on_acks))
        if self.buffer_bytes < self.mtu_bytes:
            raise DomainError(
                "buffer-below-packet", "buffer_bytes", self.buffer_bytes, low=self.mtu_bytes
            )
        if self.loss_ratio == 1.0:
            raise DomainError("all-packets-lost", "loss_ratio", self.loss_ratio)

    @classmethod
    def of(
        cls,
        *,
        rate_bps: float,
        rtt_s: float,
        buffer_packets: float | None = None,
        buffer_bdp: float | None = None,
        mtu_bytes: int = 1500,
        **more: Any,
    ) -> Self:
        """Make a bottleneck with its buffer in whole packets, or in bandwidth-delay products.

        Raises
        ------
        DomainError
            If not exactly one of both is given, and as the class does.
        """
        if (buffer_packets is None) == (buffer_bdp is None):
            raise DomainError("one-buffer-wanted", "buffer_packets")
        size = _number("mtu_bytes", mtu_bytes, _packet_size)
        if buffer_packets is not None:
            buffer_bytes = size * _number("buffer_packets", buffer_packets, _some_packets)
        else:
            bdp_bytes = _number("rate_bps", rate_bps, checks.positive) / 8
            bdp_bytes *= _number("rtt_s", rtt_s, checks.positive)
            buffer_bytes = bdp_bytes * _number("buffer_bdp", buffer_bdp, checks.positive)
        return cls(
            rate_bps=rate_bps,
            rtt_s=rtt_s,
            buffer_bytes=buffer_bytes,
            mtu_bytes=mtu_bytes,
            **more,
        )

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product. [byte]"""
        return self.rate_bps * self.rtt_s / 8

    @property
    def buffer_packets(self) -> int:
        """Full packets that the buffer holds."""
        return int(self.buffer_bytes / self.mtu_bytes * (1 + 1e-12))

    @property
    def marking_packets(self) -> int:
        """Full packets in the queue above which DCTCP's are marked, at least one."""
        marking = self.marking_bytes
        marking = DEFAULT_MARKING_BDP * self.bdp_bytes if marking is None else marking
        return max(1, int(np.ceil(marking / self.mtu_bytes)))


@checks.named_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Flows and request loops on a bottleneck, and when they are observed.

    Parameters
    ----------
    bottleneck : Bottleneck
        The shared link.
    flows : tuple of Flow
        In the order in which results list them.
    requests : tuple of Requests
        Request loops beside them.
    end_s : float
        End of the observation; what goes on later is cut there. [s]
    warm_s : float
        Time before which nothing counts in means. [s]
    seed : int
        Seed of random losses.
    senders : int
        Sending hosts, 1 to :data:`MOST_SENDERS`, each with a line of its own to the shared link;
        see :meth:`sender_of`.

    Raises
    ------
    DomainError
        If there is no flow and no request loop, or one that begins after the end.

    Examples
    --------
    >>> link = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=1)
    >>> flow = Flow(algorithm="reno", stop_s=9)
    >>> three = Scenario(bottleneck=link, flows=(flow,) * 3, end_s=10, senders=2)
    >>> [three.sender_of(at) for at in range(3)]
    [0, 1, 0]
    """

    bottleneck: Bottleneck
    flows: tuple[Flow, ...] = ()
    requests: tuple[Requests, ...] = ()
    end_s: float
    warm_s: float = 0.0
    seed: int = 1
    senders: int = 1

    def __post_init__(self) -> None:
        link: object = self.bottleneck
        if not isinstance(link, Bottleneck):
            shown = safe_repr(link)
            raise ArgumentTypeError("not-of-class", "bottleneck", shown, expected="a Bottleneck")
        object.__setattr__(self, "flows", _all_of("flows", self.flows, Flow))
        object.__setattr__(self, "requests", _all_of("requests", self.requests, Requests))
        _keep(self, "end_s", checks.positive)
        _keep(self, "warm_s", checks.non_negative)
        object.__setattr__(self, "seed", _seed(self.seed))
        object.__setattr__(self, "senders", int(_number("senders", self.senders, _hosts)))
        if self.warm_s >= self.end_s:
            raise DomainError("warm-after-end", "warm_s", self.warm_s, end_s=self.end_s)
        if not self.flows and not self.requests:
            raise DomainError("no-flows", "flows", "an empty list")
        self._require_starts_before_end("flows", self.flows)
        self._require_starts_before_end("requests", self.requests)

    def sender_of(self, index: int) -> int:
        """Return which sending host has the flow, or the request loop, of an index; from 0."""
        return index % self.senders

    def rtts_s(self) -> tuple[float, ...]:
        """Return the round-trip time of each flow with an empty queue. [s]"""
        common_s = self.bottleneck.rtt_s
        return tuple(common_s if flow.rtt_s is None else flow.rtt_s for flow in self.flows)

    @property
    def has_one_rtt(self) -> bool:
        """Whether all flows have the same round-trip time; it need not be the bottleneck's."""
        return len(set(self.rtts_s())) <= 1

    @property
    def longest_rtt_s(self) -> float:
        """Longest round-trip time of a flow; without flows that of the bottleneck. [s]"""
        return max(self.rtts_s(), default=self.bottleneck.rtt_s)

    def _require_starts_before_end(self, name: str, loads: tuple[Flow | Requests, ...]) -> None:
        for number, load in enumerate(loads):
            if load.start_s >= self.end_s:
                where = f"{name}[{number}].start_s"
                raise DomainError("starts-after-end", where, load.start_s, end_s=self.end_s)


def _all_of(name: str, values: object, kind: type[Item]) -> tuple[Item, ...]:
    """Return a list of a class as a tuple."""
    expected = f"a list of {kind.__name__}"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentTypeError("not-of-class", name, value=values, expected=expected)
    items = tuple(values)
    for item in items:
        if not isinstance(item, kind):
            raise ArgumentTypeError("not-of-class", name, value=item, expected=expected)
    if len(items) > MOST_FLOWS:
        raise DomainError("above-maximum", f"the length of {name}", len(items), high=MOST_FLOWS)
    return items


def _require_later(load: Flow | Requests) -> None:
    if load.stop_s is not None and load.stop_s <= load.start_s:
        raise DomainError("stop-not-after-start", "stop_s", load.stop_s, start_s=load.start_s)


def _keep(holder: Any, name: str, check: Callable[[str, ArrayLike], checks.FloatArray]) -> None:
    """Put a checked number back as a float; None stays."""
    value = getattr(holder, name)
    optional = str(type(holder).__dataclass_fields__[name].type).endswith("| None")
    if value is not None or not optional:
        object.__setattr__(holder, name, _number(name, value, check))


def _number(name: str, value: Any, check: Callable[[str, ArrayLike], checks.FloatArray]) -> float:
    number = np.asarray(check(name, value))
    if number.ndim or not np.isfinite(number):
        raise DomainError("not-one-number", name, value)
    return float(number)


def _packet_size(name: str, value: ArrayLike) -> checks.FloatArray:
    """Return the size of a packet; refuse one that does not hold headers and some payload."""
    return checks.whole(name, value, 68)


def _hosts(name: str, value: ArrayLike) -> checks.FloatArray:
    count = checks.whole(name, value, 1)
    if np.any(count > MOST_SENDERS):
        raise DomainError("out-of-range", name, value, low=1, high=MOST_SENDERS)
    return count


def _some_packets(name: str, value: ArrayLike) -> checks.FloatArray:
    return checks.whole(name, value, 1)


def _whole_bytes(name: str, value: ArrayLike) -> checks.FloatArray:
    """Return a payload: a part of a byte takes a whole one."""
    return np.ceil(checks.positive(name, value))


def _seed(value: Any) -> int:
    """Return a seed; a whole number is kept exactly, also where a float64 would round it."""
    checked = _number("seed", value, checks.whole)
    is_whole = isinstance(value, int | np.integer)
    return int(value) if is_whole else int(checked)
