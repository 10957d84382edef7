"""Any model with ranges in and percentiles out.

>>> from netcalc.models.delays.latency import transfer_s
>>> found = spread(
...     transfer_s,
...     {
...         "payload_bytes": 1e9,
...         "bandwidth_bps": uniform(80e6, 100e6),
...         "latency_s": normal(0.030, 0.005),
...     },
... )
>>> [round(float(value), 1) for value in found.percentiles.values()]
[80.8, 88.9, 98.8]
>>> found.most_important
'bandwidth_bps'

An input is a number, or what is known about it: :func:`uniform`, :func:`normal`,
:func:`lognormal`, :func:`triangular`, :func:`exponential`, :func:`empirical` (measured values),
:func:`truncated`, the parameters of a fit (:func:`fitted`), a frozen distribution of
``scipy.stats``, or text that :func:`parse` reads: ``parse("80..100 Mbit/s", "bit/s")``.

Draws are a scrambled Sobol sequence: the same seed gives the same answer, on one machine or many.
"""

from __future__ import annotations

from netcalc.uncertain.bands import Band, band, bands
from netcalc.uncertain.distributions import (
    Distribution,
    Known,
    empirical,
    exponential,
    lognormal,
    normal,
    triangular,
    truncated,
    uniform,
)
from netcalc.uncertain.sampling import DRAWS, MAX_DRAWS, prepare
from netcalc.uncertain.solutions import Solutions, solutions
from netcalc.uncertain.spreads import PERCENTILES, Spread, spread, spreads
from netcalc.uncertain.text import fitted, is_distribution, parse, parse_correlations, parse_list

__all__ = [
    "DRAWS", "MAX_DRAWS", "PERCENTILES", "Band", "Distribution", "Known", "Solutions", "Spread",
    "band", "bands", "empirical", "exponential", "fitted", "is_distribution", "lognormal", "normal",
    "parse", "parse_correlations", "parse_list", "prepare", "solutions", "spread", "spreads",
    "triangular", "truncated", "uniform",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
