"""What the type checker says of calls: it is run on this file, and nothing else runs it."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from netcalc.models.delays.latency import transfer_s

assert_type(transfer_s(1e6, bandwidth_bps=1e9, latency_s=0.03), float)
assert_type(transfer_s(1000, bandwidth_bps=1e9, latency_s=0.03), float)
assert_type(transfer_s([1e6], bandwidth_bps=1e9, latency_s=0.03), NDArray[np.float64])
assert_type(transfer_s(np.ones(3), bandwidth_bps=1e9, latency_s=0.03), NDArray[np.float64])
# Strict settings refuse an ignored error that is none: this line fails if the misspelling passes.
transfer_s(1e6, bandwith_bps=1e9, latency_s=0.03)  # type: ignore[call-overload]
