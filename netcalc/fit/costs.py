"""Cost of each part of a transaction: a time as a sum, with the standard error of every term."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.fit.lines import ROUNDING_RATIO, robust_line
from netcalc.fit.outliers import set_aside
from netcalc.messages import Notice
from netcalc.models.hosts.mbufs import datagram_mbufs
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES, STAMPED_HEADERS_BYTES
from netcalc.samples import BulkSamples, Instrument, Meta, TransactionSamples

COSTS = {
    "transaction_s": "no-points",
    "byte_cost": "one-size-of-datagram",
    "packet_cost": "equal-packet-counts",
    "mbuf_s": "equal-mbuf-counts",
}
"""Costs of a transaction, and the reason why points may not determine one."""
LARGEST_PACKET_BYTES = 65_535.0
"""Largest IPv4 packet: its length field has 16 bits (RFC 791). [byte]"""


_MOST_DATA_BYTES = LARGEST_PACKET_BYTES - 28


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """A time as a sum of costs, each with its standard error.

    Parameters
    ----------
    params, stderr : mapping of str to float
        Cost of each part and its standard error; nan if the points do not determine it.
    parts : callable
        From sizes to one row for each of ``params``: the number of times that part occurs.
    covariance : numpy.ndarray
        Covariance of ``params``, in their order; nan where one is unknown.
    degrees : int
        Degrees of freedom: points in the fit minus the costs found.
    x, measured, residual : numpy.ndarray
        The points, and measured minus predicted.
    outlier : numpy.ndarray of bool
        Points set aside.
    not_identifiable : mapping of str to Notice
        Costs that the points do not determine, and the reason.
    """

    params: Mapping[str, float]
    stderr: Mapping[str, float]
    parts: Callable[[FloatArray], FloatArray]
    covariance: FloatArray
    degrees: int
    x: FloatArray
    measured: FloatArray
    residual: FloatArray
    outlier: NDArray[np.bool_]
    not_identifiable: Mapping[str, Notice] = field(default_factory=dict)

    def predict(self, x: FloatArray) -> FloatArray:
        """Sum of the costs at ``x``, without those not identifiable; nan if none is known."""
        values = np.array(list(self.params.values()))
        costs = np.nan_to_num(values) if np.isfinite(values).any() else values
        total: FloatArray = costs @ self.parts(np.asarray(x, dtype=float))
        return total

    def margin(self, x: FloatArray) -> FloatArray:
        """Half width of the 95% interval of :meth:`predict` at ``x``."""
        parts = self.parts(np.asarray(x, dtype=float))
        variance = np.einsum("ix,ij,jx->x", parts, np.nan_to_num(self.covariance), parts)
        margin: FloatArray = self._deviations * np.sqrt(np.maximum(variance, 0.0))
        return margin

    def margin_of(self, name: str) -> float:
        """Half width of the 95% interval of one cost."""
        return self._deviations * self.stderr[name]

    def is_seen(self, name: str) -> bool:
        """Whether a cost is significantly greater than 0: its 95% interval lies above 0."""
        return bool(self.params[name] > self.margin_of(name))

    @property
    def _deviations(self) -> float:
        from scipy.special import stdtrit  # late, as half of the package works without scipy

        return float(stdtrit(self.degrees, 0.975)) if self.degrees > 0 else np.nan


@named_arguments
def datagram_costs(
    samples: TransactionSamples, *, mode: str = "udp", column: str = "response_s"
) -> Costs:
    """Fit the costs of transactions on loopback: per transaction, byte, further packet and mbuf.

    Parameters
    ----------
    samples : TransactionSamples
        A run of ping or UDP on a loopback whose MTU is recorded in ``meta.instrument``.
    mode : {'udp', 'ping'}
        The protocol.
    column : {'response_s', 'tap_s'}
        Times of the program's clock, or of the packet tap's.

    Returns
    -------
    Costs
        Fitted to the minimum time of each size: ``transaction_s``, ``byte_cost``, ``packet_cost``
        for each further packet, ``mbuf_s`` for each mbuf after the first that 4.4BSD would use. A
        further packet or mbuf is one in each direction.
    """
    mtu = loopback_mtu_bytes(samples)
    outer, inner = (20, 8) if mode == "ping" else (28, 0)

    def parts(size: FloatArray) -> FloatArray:
        size = np.ceil(size)
        packets = fragment_count(size + 8, mtu_bytes=mtu)  # 8 bytes of header are data of IP
        mbufs = datagram_mbufs(size, header_bytes=outer, inner_header_bytes=inner).mbufs
        return np.stack([np.ones_like(size), size, packets - 1.0, mbufs - 1.0])

    x, y = samples.minima(mode, column=column)
    return _costs(x, y, parts)


@named_arguments
def write_costs(write_bytes: FloatArray, write_s: FloatArray) -> Costs:
    """Fit the cost of writes: per write, per byte, and per mbuf where the times have its steps.

    Parameters
    ----------
    write_bytes : numpy.ndarray
        Size of each write. [byte]
    write_s : numpy.ndarray
        Time of a write of that size. [s]

    Returns
    -------
    Costs
        ``transaction_s`` is the cost of a write, ``byte_cost`` that of a byte. ``mbuf_s``, the
        cost of each mbuf after the first that 4.4BSD would use, is nan unless it is significantly
        greater than 0; ``packet_cost`` is always nan.
    """

    def parts(size: FloatArray) -> FloatArray:
        ones = np.ones_like(size)
        return np.stack([ones, size, 0.0 * ones, 0.0 * ones])

    def with_mbufs(size: FloatArray) -> FloatArray:
        rows = parts(size)
        rows[3] = datagram_mbufs(np.minimum(np.ceil(size), _MOST_DATA_BYTES)).mbufs - 1.0
        return rows

    fitted = _costs(write_bytes, write_s, with_mbufs)
    return fitted if fitted.is_seen("mbuf_s") else _costs(write_bytes, write_s, parts)


def loopback_mtu_bytes(samples: TransactionSamples) -> float:
    """Return the largest IP packet on the loopback of a run; unlimited where it is not recorded."""
    mtu = samples.meta.instrument.loopback_mtu_bytes
    return LARGEST_PACKET_BYTES if mtu is None else min(float(mtu), LARGEST_PACKET_BYTES)


def _costs(x: FloatArray, y: FloatArray, parts: Callable[[FloatArray], FloatArray]) -> Costs:
    """Fit the parts that vary by least squares, without outliers."""
    table, names = parts(x), list(COSTS)
    used = [i for i in range(len(names)) if x.size and (i == 0 or np.ptp(table[i]) > 0)]
    reasons = {name: Notice(code) for i, (name, code) in enumerate(COSTS.items()) if i not in used}
    if np.linalg.matrix_rank(_scaled(table[used])) < len(used):
        too_few = Notice("too-few-points", {"count": int(x.size), "cost_count": len(used)})
        reasons, used = dict.fromkeys(names, too_few), []
    outlier, degrees = np.zeros(x.size, bool), 0
    costs = np.full(len(names), np.nan)
    covariance = np.full((len(names), len(names)), np.nan)
    if used:
        rows = table[used]
        rounding = ROUNDING_RATIO * float(np.abs(y).max())
        off, _ = set_aside(y - _least_costs(rows, y)[0] @ rows, y, rows, floor=rounding)
        if np.linalg.matrix_rank(_scaled(rows[:, ~off])) == len(used):
            outlier = off  # otherwise only these points determine a cost, and they are kept
        costs[used], square, degrees = _least_costs(rows[:, ~outlier], y[~outlier])
        covariance[np.ix_(used, used)] = square
    return Costs(
        params=dict(zip(names, costs.tolist(), strict=True)),
        stderr=dict(zip(names, np.sqrt(np.diag(covariance)).tolist(), strict=True)),
        parts=parts,
        covariance=covariance,
        degrees=degrees,
        x=x,
        measured=y,
        residual=y - np.nan_to_num(costs) @ table,
        outlier=outlier,
        not_identifiable=reasons,
    )


def _scaled(rows: FloatArray) -> FloatArray:
    """Return rows scaled to a largest element of 1.

    Sizes are up to 65,535 times as large as counts, and the rank is judged by the largest.
    """
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    return rows / np.where(largest > 0, largest, 1.0)


def _least_costs(rows: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Return the least-squares costs, their covariance, and the degrees of freedom."""
    scale = np.abs(rows).max(axis=1)
    inverse = np.linalg.pinv((rows / scale[:, None]).T)
    costs = inverse @ y / scale
    degrees = y.size - scale.size
    variance = float(((y - costs @ rows) ** 2).sum()) / degrees if degrees > 0 else np.nan
    return costs, variance * (inverse @ inverse.T) / np.outer(scale, scale), degrees


@named_arguments
def frame_costs(samples: BulkSamples) -> Costs:
    """Fit the cost of sending a datagram: per datagram, and per byte of its frame.

    Parameters
    ----------
    samples : BulkSamples
        Blasts of datagrams of several sizes, each as fast as the sender could send.

    Returns
    -------
    Costs
        Fitted to the minimum time of each size, which other programs disturb least:
        ``packet_cost`` and ``byte_cost``. They include all processing of a datagram on the
        sender's CPU: on loopback the delivery, on a routed path the forwarding.
    """
    each_s = np.asarray(samples.wall_s) / np.asarray(samples.write_count)
    is_finite = np.isfinite(each_s)
    frames, index = np.unique(frame_bytes(samples)[is_finite], return_inverse=True)
    spent_s = np.full(frames.size, np.inf)
    np.minimum.at(spent_s, index, each_s[is_finite])
    line = robust_line(frames, spent_s)
    kept = ~line.outlier
    costs = np.array([line.intercept, line.slope])
    covariance = np.array(
        [[line.intercept_stderr**2, line.covariance], [line.covariance, line.slope_stderr**2]]
    )
    reasons = {}
    if line.rank < 2 or line.slope <= 0:
        code = "one-size-of-frame" if line.rank < 2 else "no-increase-with-size"
        reasons["byte_cost"] = Notice(code)
        times = spent_s[kept]
        costs = np.array([times.mean() if times.size else np.nan, np.nan])
        variance = times.var(ddof=1) / times.size if times.size > 1 else np.nan
        covariance = np.array([[variance, np.nan], [np.nan, np.nan]])
    if not frames.size:
        reasons = dict.fromkeys(("packet_cost", "byte_cost"), Notice("no-blasts"))
    return Costs(
        params=dict(zip(("packet_cost", "byte_cost"), costs.tolist(), strict=True)),
        stderr=dict(
            zip(("packet_cost", "byte_cost"), np.sqrt(np.diag(covariance)).tolist(), strict=True)
        ),
        parts=lambda size: np.stack([np.ones_like(size), size]),
        covariance=covariance,
        degrees=max(int(kept.sum()) - (2 - len(reasons)), 0),
        x=frames,
        measured=spent_s,
        residual=spent_s - np.nan_to_num(costs) @ np.stack([np.ones_like(frames), frames]),
        outlier=line.outlier,
        not_identifiable=reasons,
    )


@named_arguments
def frame_bytes(samples: BulkSamples) -> FloatArray:
    """Return the Ethernet frame, FCS included, of the datagram of each row. [byte]"""
    extra = IPV6_EXTRA_BYTES * (ip_version(samples.meta.instrument) == 6)
    return ethernet_frame_bytes(np.asarray(samples.write_bytes) + DATAGRAM_HEADERS_BYTES + extra)


IPV6_EXTRA_BYTES = 20
"""Bytes by which the header of IPv6 is longer than that of IPv4: 40 minus 20. [byte]"""


def protocol(meta: Meta) -> str:
    """Return the transport of a run: that recorded, or for an older file the end of its target.

    Files saved before ``meta.protocol`` existed have a target such as ``emulated path, TCP``.
    """
    return meta.protocol or meta.target.rpartition(", ")[2].lower()


def ip_version(facts: Instrument) -> int:
    """Return the IP version of a run: 4 where none was recorded."""
    return 6 if facts.address_family == "IPv6" else 4


@named_arguments
def echo_headers(meta: Meta) -> int:
    """Return the headers of an echo: those of a live run, else those of ping. [byte]"""
    over_tcp = protocol(meta) == "tcp" or meta.layers.get("payload_bytes") == "TCP payload"
    headers = STAMPED_HEADERS_BYTES if over_tcp else DATAGRAM_HEADERS_BYTES
    return headers + IPV6_EXTRA_BYTES * (ip_version(meta.instrument) == 6)
