"""What each part of a transaction costs: a time as a sum, with the uncertainty of every term."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.fit.lines import set_aside
from netcalc.models.hosts.mbufs import datagram_mbufs
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.samples import TransactionSamples

COSTS = {
    "transaction_s": "there are no points",
    "byte_cost": "all points have one size",
    "packet_cost": "no datagram of these is cut, or every one into as many packets",
    "mbuf_s": "every datagram of these takes as many mbufs",
}
"""Costs of a transaction, and why the points may not determine one."""


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """A time as a sum: what each of its parts costs, and how well the points tell.

    Parameters
    ----------
    params, stderr : mapping of str to float
        Cost of each part and its standard error; nan if the points do not determine it.
    parts : callable
        From sizes to one row for each of ``params``: how often that part is in the time.
    covariance : numpy.ndarray
        Of ``params``, in their order; nan where one is unknown.
    degrees : int
        Points in the fit, less the costs found.
    x, measured, residual : numpy.ndarray
        The points, and measured less predicted.
    outlier : numpy.ndarray of bool
        Points set aside.
    not_identifiable : mapping of str to str
        Costs that the points do not determine, and why.
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
    not_identifiable: Mapping[str, str] = field(default_factory=dict)

    def predict(self, x: FloatArray) -> FloatArray:
        """Sum of the costs at ``x``; one not identifiable counts as none, if all: nan."""
        known = np.array(list(self.params.values()))
        costs = np.nan_to_num(known) if np.isfinite(known).any() else known
        total: FloatArray = costs @ self.parts(np.asarray(x, dtype=float))
        return total

    def margin(self, x: FloatArray) -> FloatArray:
        """Half of the 95% interval of :meth:`predict` at ``x``."""
        parts = self.parts(np.asarray(x, dtype=float))
        variance = np.einsum("ix,ij,jx->x", parts, np.nan_to_num(self.covariance), parts)
        margin: FloatArray = self._deviations * np.sqrt(np.maximum(variance, 0.0))
        return margin

    def margin_of(self, name: str) -> float:
        """Half of the 95% interval of one cost."""
        return self._deviations * self.stderr[name]

    def is_seen(self, name: str) -> bool:
        """Whether a cost is told apart from 0: its 95% interval lies above."""
        return bool(self.params[name] > self.margin_of(name))

    @property
    def _deviations(self) -> float:
        from scipy.special import stdtrit  # late: half of the package does without scipy

        return float(stdtrit(self.degrees, 0.975)) if self.degrees > 0 else np.nan


def datagram_costs(
    samples: TransactionSamples, *, mode: str = "udp", column: str = "response_s"
) -> Costs:
    """Fit what transactions of a host with itself cost: each, a byte, a packet more, an mbuf more.

    Parameters
    ----------
    samples : TransactionSamples
        A run of ping or UDP on a loopback whose MTU is noted in ``meta.instrument``.
    mode : {'udp', 'ping'}
        The protocol.
    column : {'response_s', 'tap_s'}
        Whose clock.

    Returns
    -------
    Costs
        Of the smallest time of each size: ``transaction_s``, ``byte_cost``, ``packet_cost`` for
        each further packet, ``mbuf_s`` for each mbuf that 4.4BSD would take beyond the first. A
        packet or mbuf more is one more each way.
    """
    mtu = min(float(samples.meta.instrument.get("loopback_mtu_bytes", np.inf)), 65_535.0)
    outer, inner = (20, 8) if mode == "ping" else (28, 0)

    def parts(size: FloatArray) -> FloatArray:
        size = np.ceil(size)
        packets = fragment_count(size + 8, mtu_bytes=mtu)  # 8 bytes of header are data of IP
        mbufs = datagram_mbufs(size, header_bytes=outer, inner_header_bytes=inner).mbufs
        return np.stack([np.ones_like(size), size, packets - 1.0, mbufs - 1.0])

    x, y = samples.minima(mode, column=column)
    return _costs(x, y, parts)


def _costs(x: FloatArray, y: FloatArray, parts: Callable[[FloatArray], FloatArray]) -> Costs:
    """Least squares on the parts that vary, without the points that are far off."""
    table, names = parts(x), list(COSTS)
    used = [i for i in range(len(names)) if x.size and (i == 0 or np.ptp(table[i]) > 0)]
    reasons = {name: why for i, (name, why) in enumerate(COSTS.items()) if i not in used}
    if np.linalg.matrix_rank(_scaled(table[used])) < len(used):
        reasons = {name: f"{x.size} points are too few for {len(used)} costs" for name in names}
        used = []
    outlier, degrees = np.zeros(x.size, bool), 0
    found = np.full(len(names), np.nan)
    covariance = np.full((len(names), len(names)), np.nan)
    if used:
        rows = table[used]
        rounding = 1e-12 * float(np.abs(y).max())
        off, _ = set_aside(y - _least_costs(rows, y)[0] @ rows, rounding)
        if np.linalg.matrix_rank(_scaled(rows[:, ~off])) == len(used):
            outlier = off  # else the points far off alone determine a cost: they stay
        found[used], square, degrees = _least_costs(rows[:, ~outlier], y[~outlier])
        covariance[np.ix_(used, used)] = square
    return Costs(
        params=dict(zip(names, found.tolist(), strict=True)),
        stderr=dict(zip(names, np.sqrt(np.diag(covariance)).tolist(), strict=True)),
        parts=parts,
        covariance=covariance,
        degrees=degrees,
        x=x,
        measured=y,
        residual=y - np.nan_to_num(found) @ table,
        outlier=outlier,
        not_identifiable=reasons,
    )


def _scaled(rows: FloatArray) -> FloatArray:
    """Return rows in units of about their largest: sizes would hide the counts."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    return rows / np.where(largest > 0, largest, 1.0)


def _least_costs(rows: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Return the costs of least squares, their covariance, and the points beyond their number."""
    scale = np.abs(rows).max(axis=1)
    inverse = np.linalg.pinv((rows / scale[:, None]).T)
    costs = inverse @ y / scale
    degrees = y.size - scale.size
    variance = float(((y - costs @ rows) ** 2).sum()) / degrees if degrees > 0 else np.nan
    return costs, variance * (inverse @ inverse.T) / np.outer(scale, scale), degrees
