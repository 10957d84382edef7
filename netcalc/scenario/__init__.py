"""A scenario as facts: a shared bottleneck, and the flows and request loops that use it.

>>> scenario = preset("two-flows")
>>> [(flow.algorithm, flow.start_s, flow.stop_s) for flow in scenario.flows]
[('cubic', 0.0, 60.0), ('cubic', 22.0, 42.0)]
>>> scenario.bottleneck.buffer_packets
33

All of it is frozen and computes nothing but sizes; ``netcalc.congestion`` evaluates it.
"""

from netcalc.scenario.document import (
    MOST_BYTES,
    as_document,
    document_of,
    from_document,
    read,
    read_document,
)
from netcalc.scenario.facts import ALGORITHMS, Bottleneck, Flow, Requests, Scenario
from netcalc.scenario.presets import SIMPLIFIED, matrices, matrix, preset, presets

__all__ = [
    "ALGORITHMS",
    "MOST_BYTES",
    "SIMPLIFIED",
    "Bottleneck",
    "Flow",
    "Requests",
    "Scenario",
    "as_document",
    "document_of",
    "from_document",
    "matrices",
    "matrix",
    "preset",
    "presets",
    "read",
    "read_document",
]
__dir__ = __all__.copy  # what TAB offers
