"""Fits of models to samples: parameters, with their standard errors.

>>> import numpy as np
>>> from netcalc.samples import RttSamples
>>> size = np.repeat([8.0, 500.0, 1000.0, 1400.0], 3)
>>> rtt = 0.080 + 16 * (size + 28) / 198e3 + np.tile([0.0, 0.004, 0.009], 4)
>>> fitted = rtt_against_size(RttSamples(payload_bytes=size, rtt_s=rtt))
>>> round(fitted.params["base_rtt_s"], 4), round(fitted.params["bandwidth_bps"])
(0.08, 198000)

A parameter that the points do not determine is ``nan``, and :attr:`Fit.not_identifiable` holds the
reason. ``fit.model(x, **fit.params)`` evaluates the fitted formula.
"""

from __future__ import annotations

from netcalc.fit.costs import (
    Costs,
    datagram_costs,
    echo_headers,
    frame_bytes,
    frame_costs,
    write_costs,
)
from netcalc.fit.lines import (
    Fit,
    Line,
    robust_line,
    rtt_against_size,
    stepped_line,
    transfer_against_size,
)
from netcalc.fit.outliers import OUTLIER_DEVIATIONS
from netcalc.fit.path_links import (
    LINK_HEADINGS,
    QUOTED_BYTES,
    QUOTED_V6_BYTES,
    SEPARATION_HEADINGS,
    TRAIN_LAYER,
    BottleneckEstimate,
    LinkEstimate,
    PathEstimate,
    Separation,
    bottleneck,
    links,
    separations,
    to_node_s,
)
from netcalc.fit.regimes import Regimes, two_regimes
from netcalc.fit.steps import ChangePoints, Step, change_points

__all__ = [
    "LINK_HEADINGS",
    "OUTLIER_DEVIATIONS",
    "QUOTED_BYTES",
    "QUOTED_V6_BYTES",
    "SEPARATION_HEADINGS",
    "TRAIN_LAYER",
    "BottleneckEstimate",
    "ChangePoints",
    "Costs",
    "Fit",
    "Line",
    "LinkEstimate",
    "PathEstimate",
    "Regimes",
    "Separation",
    "Step",
    "bottleneck",
    "change_points",
    "datagram_costs",
    "echo_headers",
    "frame_bytes",
    "frame_costs",
    "links",
    "robust_line",
    "rtt_against_size",
    "separations",
    "stepped_line",
    "to_node_s",
    "transfer_against_size",
    "two_regimes",
    "write_costs",
]
__dir__ = __all__.copy  # what TAB offers
