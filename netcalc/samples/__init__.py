"""Containers of measurements: raw, self-describing, saved and loaded without loss.

One container per kind of measurement. Each is a set of columns of equal length and one
:class:`Meta` that describes them: unit and layer of each column, tool, host, clock, start, the
hash of the source. A lost probe is a row that a mask marks, never a special number; nothing is
resampled.

>>> import numpy as np
>>> samples = RttSamples(
...     payload_bytes=[56, 56, 56], sequence=[1, 2, 3], rtt_s=[0.0113, np.nan, 0.0109],
...     lost=[False, True, False], meta=Meta(tool="ping"))
>>> samples.sent, samples.received, float(samples.best_s.min())
(3, 2, 0.0109)
"""

from __future__ import annotations

from netcalc.samples.columns import (
    KINDS,
    BoolColumn,
    FloatColumn,
    Samples,
    Table,
    TextColumn,
    load,
    loads,
)
from netcalc.samples.kinds import (
    DROP_PLACES,
    MIN_DROP_RATIO,
    BulkSamples,
    FlowSeries,
    HopSamples,
    Layer,
    PacketTrace,
    PathSamples,
    RttSamples,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)
from netcalc.samples.meta import (
    COUNTER_LIMIT,
    FACTS,
    REVISION,
    SCHEMA,
    Fact,
    FactRow,
    Instrument,
    Meta,
    decimal_sizes,
    fact_row,
    unit_of_fact,
)
from netcalc.samples.saved import (
    MAX_FILE_BYTES,
    GrowingFile,
    LineFile,
    json_line,
    json_ready,
    write_atomically,
)

__all__ = [
    "COUNTER_LIMIT", "DROP_PLACES", "FACTS", "KINDS", "MAX_FILE_BYTES", "MIN_DROP_RATIO",
    "REVISION", "SCHEMA", "BoolColumn", "BulkSamples", "Fact", "FactRow", "FloatColumn",
    "FlowSeries", "GrowingFile", "HopSamples", "Instrument",
    "Layer", "LineFile", "Meta", "PacketTrace", "PathSamples", "RttSamples", "Samples", "Table",
    "TextColumn", "TrainSamples", "TransactionSamples", "TransferSamples",
    "decimal_sizes", "fact_row",
    "json_line", "json_ready", "load", "loads", "unit_of_fact", "write_atomically",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
