"""What limits a path, a transfer or a measurement: all limits, in order, with their arithmetic.

:func:`rate` and :func:`transfer` explain a path before anything is measured; :func:`measurement`
explains what a reader made of a file; :func:`claim` finds the model, right or wrong, behind a
stated number.

>>> from netcalc.path import Path
>>> print(rate(Path.parse("1 Gbit/s 40 ms"), window_bytes=65535).sentence)
The window limits this path to 6.552 Mbit/s (TCP payload); the next limit is the bottleneck link \
at 941.5 Mbit/s (TCP payload).
"""

from netcalc.explain.causes.captures import Together, together
from netcalc.explain.causes.cause import CAUSES, Cause, Sign, cause_name, cause_sign
from netcalc.explain.causes.intervals import Intervals
from netcalc.explain.causes.sessions import FlowCause, flow_causes, main_flow
from netcalc.explain.causes.theories import TableTheory, table_theory
from netcalc.explain.claim_models import Model
from netcalc.explain.evidence import Evidence, Known, delay_variation
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.measurement import explain_evidence, measurement
from netcalc.explain.misconceptions import Claim, claim, claim_of
from netcalc.explain.path_limits import (
    CONTROL_NAMES,
    HIGH_LOSS_RATIO,
    Ceiling,
    Explanation,
    Part,
    RateExplanation,
    TcpPart,
    TcpTransfer,
    rate,
    tcp_transfer,
    transfer,
)
from netcalc.explain.sweeps import Sweep, sweep
from netcalc.explain.tables import described
from netcalc.models.sizes.headers import TIMESTAMP_BYTES

__all__ = [
    "CAUSES",
    "CONTROL_NAMES",
    "HIGH_LOSS_RATIO",
    "TIMESTAMP_BYTES",
    "Cause",
    "Ceiling",
    "Claim",
    "Evidence",
    "Explanation",
    "Finding",
    "FlowCause",
    "Intervals",
    "Known",
    "Limit",
    "Model",
    "Part",
    "RateExplanation",
    "Sign",
    "Sweep",
    "TableTheory",
    "TcpPart",
    "TcpTransfer",
    "Together",
    "cause_name",
    "cause_sign",
    "claim",
    "claim_of",
    "delay_variation",
    "described",
    "explain_evidence",
    "flow_causes",
    "main_flow",
    "measurement",
    "rate",
    "sweep",
    "table_theory",
    "tcp_transfer",
    "together",
    "transfer",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
