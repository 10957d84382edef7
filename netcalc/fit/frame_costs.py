"""Cost for a host to send a datagram, from the rates at several frame sizes."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.fit.costs import Costs
from netcalc.fit.lines import robust_line
from netcalc.messages import Notice
from netcalc.models.sizes.framing import ethernet_frame_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.samples import BulkSamples


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
    known = np.isfinite(each_s)
    frames, index = np.unique(frame_bytes(samples)[known], return_inverse=True)
    spent_s = np.full(frames.size, np.inf)
    np.minimum.at(spent_s, index, each_s[known])
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
    return ethernet_frame_bytes(np.asarray(samples.write_bytes) + DATAGRAM_HEADERS_BYTES)
