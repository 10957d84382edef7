"""What a column of a file says in a few numbers: a sum only where its numbers add up.

Counts and bytes of several rows are those of all rows together. Times, rates and shares are not:
of them there are the smallest, the median and the largest. A number that names a row, a server or a
port is no quantity.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import in_blocks

_IDENTIFIERS = {
    "id", "ids", "pid", "uid", "asn", "port", "ports", "round", "run", "runs", "sequence",
    "seq", "icmpseq", "index", "idx", "number", "no", "nr", "row", "line", "iteration",
    "iter", "test", "trial", "hop", "ttl", "year", "month", "day", "hour", "minute",
    "version", "code", "status", "rank", "host", "server", "client", "node", "session",
    "stream", "flow", "group", "experiment", "latitude", "longitude", "lat", "lon", "vlan",
    "channel", "timestamp", "epoch", "date", "dscp", "tos", "mark",
}  # fmt: skip
_COUNTS = {
    "count", "counts", "lost", "sent", "received", "recv", "rx", "tx", "drops", "dropped",
    "drop", "errors", "error", "retransmits", "retransmit", "retransmissions",
    "retransmitted", "retrans", "retr", "retries", "packets", "pkts", "frames", "segments",
    "datagrams", "messages", "requests", "replies", "responses", "timeouts", "duplicates",
    "dups", "losses", "transactions", "queries", "failures", "calls",
}  # fmt: skip
_VOLUMES = {
    "sent", "received", "recv", "rx", "tx", "transferred", "transfer", "acked",
    "retransmitted", "download", "downloaded", "upload", "uploaded", "in", "out", "octets",
    "volume", "traffic", "total", "lost", "dropped",
}  # fmt: skip
"""Words of bytes that add up; a size, a window or a buffer is one of several tried."""
_OF_SEVERAL = {
    "avg", "average", "mean", "median", "max", "maximum", "min", "minimum", "peak", "per",
    "each", "limit", "cumulative", "cum", "rate", "p50", "p90", "p95", "p99",
    "queue", "queued", "backlog", "depth", "occupancy", "flight", "inflight", "window", "cwnd",
    "outstanding", "pending", "waiting", "buffered", "buffer",
}  # fmt: skip
_LOSSES = {"loss", "losses", "lost", "drop", "drops", "dropped"}
_MOMENTS = {"time", "timestamp", "start", "end", "at", "sent", "received", "elapsed", "epoch"}
_SIZES = {
    "size", "payload", "length", "packet", "frame", "wire", "write", "datagram", "mtu", "mss",
    "window",
}  # fmt: skip
_LEAST_ROWS = 3
"""Rows from which numbers that never decrease are a counter, or a setting. [1]"""


def figures(name: str, column: NDArray[np.float64], unit: str) -> dict[str, float]:
    """Return the facts of a column by their names; none of one without a number.

    >>> figures("sent_bytes", np.array([100.0, 50.0, 100.0]), "byte")
    {'sum:sent_bytes': 250.0}
    >>> figures("loss_ratio", np.array([0.0, 0.5]), "ratio")
    {'mean:loss_ratio': 0.25}
    >>> figures("rtt_s", np.array([3.0, 1.0, math.nan]), "s")
    {'min:rtt_s': 1.0, 'median:rtt_s': 2.0, 'max:rtt_s': 3.0}
    >>> figures("server id", np.array([7.0, 8.0]), "")
    {}
    """
    words = set(re.findall(r"[^\W_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))
    counted = unit in ("", "1")
    ends = _ends(column)
    if ends is None or (counted and words & _IDENTIFIERS and "count" not in words):
        return {}
    rises = _never_decreases(column)
    if (words & _COUNTS if counted else unit in ("byte", "bit") and words & _VOLUMES) and not (
        rises or words & _OF_SEVERAL or (counted and _has_fractions(column))
    ):
        total = _sum(column)
        return {} if math.isnan(total) else {f"sum:{name}": total}
    if unit == "ratio" and words & _LOSSES:
        return {f"mean:{name}": _sum(column) / sum(part.size for part in _finite(column))}
    least, most = {f"min:{name}": ends[0]}, {f"max:{name}": ends[1]}
    if (unit == "s" and rises and words & _MOMENTS) or (unit == "byte" and words & _SIZES):
        return least | most
    with np.errstate(over="ignore"):
        median = float(np.median(column[np.isfinite(column)], overwrite_input=True))
    return least | {f"median:{name}": median if math.isfinite(median) else math.nan} | most


def _ends(column: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the smallest and the largest number; None if there is none."""
    parts = [part for part in _finite(column) if part.size]
    if not parts:
        return None
    return float(min(part.min() for part in parts)), float(max(part.max() for part in parts))


def _never_decreases(column: NDArray[np.float64]) -> bool:
    """Whether numbers rise from row to row, as those of a counter, of a clock and of a setting."""
    numbers = column[np.isfinite(column)]
    if numbers.size < _LEAST_ROWS or numbers[0] == numbers[-1]:
        return False
    return bool((numbers[1:] >= numbers[:-1]).all())


def _has_fractions(column: NDArray[np.float64]) -> bool:
    return any((part != np.floor(part)).any() for part in _finite(column))


def _finite(column: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the finite numbers of a column, some at a time."""
    for (part,) in in_blocks(column):
        yield part[np.isfinite(part)]


def _sum(column: NDArray[Any]) -> float:
    """Return the sum of the finite numbers of a column; nan where no float holds it.

    As objects of Python each takes 32 bytes, and so only some are it at a time.
    """
    try:
        return math.fsum(chain.from_iterable(part.tolist() for part in _finite(column)))
    except OverflowError:
        return math.nan
