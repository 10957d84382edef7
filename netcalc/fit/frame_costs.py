"""What it costs a host to send a datagram, from the rates at several sizes."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.fit.costs import Costs
from netcalc.fit.lines import robust_line
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.samples import BulkSamples


def frame_costs(samples: BulkSamples) -> Costs:
    """Fit what it costs to send a datagram: each one, and each byte of its frame.

    Parameters
    ----------
    samples : BulkSamples
        Blasts of datagrams as fast as the sender could, of several sizes.

    Returns
    -------
    Costs
        Of the smallest time of each size, which other programs disturb least: ``packet_cost`` and
        ``byte_cost``. All that the sender's processor does for a datagram is in them: on loopback
        the delivery, routed the forwarding too.
    """
    each_s = np.asarray(samples.wall_s) / np.asarray(samples.write_count)
    known = np.isfinite(each_s)
    frames, place = np.unique(frame_bytes(samples)[known], return_inverse=True)
    spent_s = np.full(frames.size, np.inf)
    np.minimum.at(spent_s, place, each_s[known])
    line = robust_line(frames, spent_s)
    kept = ~line.outlier
    costs = np.array([line.intercept, line.slope])
    covariance = np.array(
        [[line.intercept_stderr**2, line.covariance], [line.covariance, line.slope_stderr**2]]
    )
    reasons = {}
    if line.rank < 2 or line.slope <= 0:
        why = "all frames have one size" if line.rank < 2 else "time does not grow with the size"
        reasons["byte_cost"] = why
        times = spent_s[kept]
        costs = np.array([times.mean() if times.size else np.nan, np.nan])
        variance = times.var(ddof=1) / times.size if times.size > 1 else np.nan
        covariance = np.array([[variance, np.nan], [np.nan, np.nan]])
    if not frames.size:
        reasons["packet_cost"] = "there are no blasts"
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


def frame_bytes(samples: BulkSamples) -> FloatArray:
    """Return the Ethernet frame, FCS included, of the datagram of each row. [byte]"""
    return ethernet_frame_bytes(np.asarray(samples.write_bytes) + DATAGRAM_HEADERS_BYTES)
