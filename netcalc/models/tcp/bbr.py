r"""BBR version 1: its gains and their consequences.

BBR paces at a multiple of the bottleneck rate it has measured and keeps a multiple of the
bandwidth-delay product in flight. Versions 2 and 3 react to loss and differ.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model

STARTUP_GAIN = 2.0 / math.log(2.0)
"""Pacing gain of start-up: the least that doubles the rate each round, 2.885."""

DRAIN_GAIN = 1.0 / STARTUP_GAIN
"""Pacing gain that empties in a round the queue that start-up built."""

STARTUP_GAIN_V2 = 4.0 * math.log(2.0)
"""Pacing gain of start-up in version 2: 2.773."""

PROBE_CYCLE = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Pacing gains of the eight phases that probe for bandwidth."""

WINDOW_GAIN = 2.0
"""Data in flight over the bandwidth-delay product."""

LOSS_TOLERANCE_RATIO = (PROBE_CYCLE[0] - 1.0) / PROBE_CYCLE[0]
"""Loss up to which version 1 keeps its rate: 0.2. [ratio]"""

LOSS_TOLERANCE_RATIO_V3 = 0.02
"""Loss threshold of versions 2 and 3 (BBR.LossThresh). [ratio]"""

LEAST_WINDOW_PACKETS = 4.0
"""Window that is kept whatever is lost (BBRMinPipeCwnd). [packet]"""

PROBE_RTT_S = 0.2
"""How long the window is cut to four packets to see the empty path's round trip. [s]"""

PROBE_RTT_INTERVAL_S = 10.0
"""How often that is done. [s]"""


@model
def bbr_inflight_limit_bytes(
    bandwidth_bps: ArrayLike, *, base_rtt_s: ArrayLike, window_gain: ArrayLike = WINDOW_GAIN
) -> FloatArray:
    r"""Inflight limit of a BBR flow: at a gain of 2, up to one BDP of queue.

    .. math:: W = g\, R \cdot RTT_{min} / 8

    Parameters
    ----------
    bandwidth_bps : array_like
        Bottleneck rate measured by the flow. [bit/s]
    base_rtt_s : array_like
        Minimum round-trip time measured. [s]
    window_gain : array_like
        Inflight limit over the bandwidth-delay product. [1]

    Returns
    -------
    numpy.ndarray
        Limit of the data in flight. [byte]

    See Also
    --------
    netcalc.models.tcp.sharing.buffer_rule_bytes : Rule of thumb for many flows.
    netcalc.models.tcp.sharing.full_use_buffer_bdp : Exact for one flow.

    Notes
    -----
    Validity: version 1 while it probes for bandwidth. Flows that mistake each other's queue for
    their path overestimate the rate together.

    Range: everywhere.

    Symbols: :math:`R` bandwidth_bps, :math:`RTT_{min}` base_rtt_s, :math:`g` window_gain.

    Examples
    --------
    >>> float(bbr_inflight_limit_bytes(100e6, base_rtt_s=0.04))
    1000000.0

    References
    ----------
    Cardwell, Cheng, Gunn, Yeganeh and Jacobson, BBR: congestion-based congestion control, ACM Queue
    14 (2016), doi:10.1145/3012426.3022184.
    """
    product = checks.positive("bandwidth_bps", bandwidth_bps) * checks.non_negative(
        "base_rtt_s", base_rtt_s
    )
    return product / 8.0 * checks.positive("window_gain", window_gain)


@model
def bbr_loss_tolerance_ratio(probe_gain: ArrayLike = PROBE_CYCLE[0]) -> FloatArray:
    r"""Loss ratio up to which BBR version 1 keeps its rate.

    .. math:: p = 1 - 1/g

    Parameters
    ----------
    probe_gain : array_like
        Pacing gain of the bandwidth-probing phase. [1]

    Returns
    -------
    numpy.ndarray
        Loss ratio at which probing delivers no more than the known rate. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_loss_ratio : Square-root law.
    netcalc.models.tcp.pftk.pftk_loss_ratio : With timeouts.
    netcalc.models.tcp.pftk.pftk_approx_loss_ratio : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_loss_ratio : CUBIC.
    netcalc.models.tcp.pftk.tfrc_loss_ratio : TFRC.

    Notes
    -----
    Validity: version 1 and random loss; version 2 reduces its rate from 2 % on.

    Range: everywhere.

    Symbols: :math:`g` probe_gain.

    Examples
    --------
    >>> round(float(bbr_loss_tolerance_ratio(1.25)), 12)
    0.2

    References
    ----------
    Cardwell et al., ACM Queue 14 (2016), doi:10.1145/3012426.3022184.
    """
    gain = checks.at_least("probe_gain", probe_gain, 1.0)
    return (gain - 1.0) / gain


@model
def bbr_mean_gain(cycle_gain: ArrayLike = PROBE_CYCLE) -> FloatArray:
    r"""Mean pacing gain over a gain cycle: 1 in steady state.

    .. math:: \bar g = \frac{1}{n} \sum_i g_i

    Parameters
    ----------
    cycle_gain : 1-D array_like
        Pacing gain of each phase, all of one length. [1]

    Returns
    -------
    numpy.ndarray
        Mean gain. [1]

    Notes
    -----
    Validity: phases of one round trip each.

    Range: everywhere.

    Symbols: :math:`g_i` cycle_gain.

    Examples
    --------
    >>> float(bbr_mean_gain([1.25, 0.75, 1, 1, 1, 1, 1, 1]))
    1.0

    References
    ----------
    Cardwell et al., ACM Queue 14 (2016), doi:10.1145/3012426.3022184.
    """
    gains = checks.one_dimensional("cycle_gain", checks.positive("cycle_gain", cycle_gain))
    return np.asarray(gains.mean())


@model
def bbr_probe_rtt_ratio(
    probe_rtt_s: ArrayLike = PROBE_RTT_S, *, probe_rtt_interval_s: ArrayLike = PROBE_RTT_INTERVAL_S
) -> FloatArray:
    r"""Share of time that BBR spends in ProbeRTT.

    .. math:: s = \min(1, t / T)

    Parameters
    ----------
    probe_rtt_s : array_like
        Duration of ProbeRTT. [s]
    probe_rtt_interval_s : array_like
        Interval between two of them. [s]

    Returns
    -------
    numpy.ndarray
        Share of the time, at most 1. [ratio]

    Notes
    -----
    Validity: a flow that never measures a smaller round-trip time otherwise.

    Range: everywhere.

    Symbols: :math:`t` probe_rtt_s, :math:`T` probe_rtt_interval_s.

    Examples
    --------
    >>> float(bbr_probe_rtt_ratio(0.2, probe_rtt_interval_s=10))
    0.02

    References
    ----------
    Cardwell et al., ACM Queue 14 (2016), doi:10.1145/3012426.3022184.
    """
    share = checks.non_negative("probe_rtt_s", probe_rtt_s) / checks.positive(
        "probe_rtt_interval_s", probe_rtt_interval_s
    )
    return np.minimum(share, 1.0)


@model
def bbr_startup_rounds(
    bandwidth_bps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    initial_window_segments: ArrayLike = 10.0,
) -> FloatArray:
    r"""Round trips of BBR's Startup until the path is full.

    .. math:: n = \left\lceil \log_2 \frac{R \cdot RTT}{8\, MSS\, W_1} \right\rceil

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the bottleneck. [bit/s]
    rtt_s : array_like
        Round-trip time. [s]
    mss_bytes : array_like
        Payload of a segment. [byte]
    initial_window_segments : array_like
        Segments of the first round. [1]

    Returns
    -------
    numpy.ndarray
        Whole rounds, 0 if the first window fills the path; BBR needs three more to detect it. [1]

    See Also
    --------
    netcalc.models.tcp.slow_start.rounds : Acknowledgement per segment.
    netcalc.models.tcp.slow_start.rounds_delayed_ack : Delayed acknowledgements, whole segments.
    netcalc.models.tcp.short_transfers.slow_start_s : Expected time, linear at the maximum window.

    Notes
    -----
    Validity: no loss, no limit by the receiver.

    Range: everywhere.

    Defaults: mss_bytes.

    Symbols: :math:`R` bandwidth_bps, :math:`RTT` rtt_s, :math:`MSS` mss_bytes, :math:`W_1`
    initial_window_segments.

    Examples
    --------
    >>> float(bbr_startup_rounds(100e6, rtt_s=0.04, mss_bytes=1460))
    6.0

    References
    ----------
    Cardwell et al., ACM Queue 14 (2016), doi:10.1145/3012426.3022184.
    """
    product = (
        checks.positive("bandwidth_bps", bandwidth_bps) * checks.non_negative("rtt_s", rtt_s) / 8.0
    )
    segment = checks.positive("mss_bytes", mss_bytes)
    first = segment * checks.positive("initial_window_segments", initial_window_segments)
    # A path of exactly a power of two rounds must not be rounded up by the last digit.
    return np.maximum(np.ceil(np.log2(product / first) - 1e-12), 0.0)
