"""Tables whose rows follow one law, and theory to draw on the points of any table.

A law is that of a rate against the round trip, the window or the loss, or of times against sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain import tables
from netcalc.explain.causes.cause import LOW, MEDIUM, Cause, Sign, cause_of_limit
from netcalc.explain.causes.tools import TRIP_ERROR
from netcalc.explain.evidence import Evidence, Known, first_known
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.rate_limits import above_line, rate_limits
from netcalc.explain.summaries import is_over_time
from netcalc.fit import Fit, transfer_against_size
from netcalc.messages import Notice
from netcalc.models.collectives.bus_bandwidth import Operation, bus_bandwidth_bps
from netcalc.models.tcp import cubic, loss_limited, pftk
from netcalc.rate_layers import PAYLOAD, TCP_PAYLOAD
from netcalc.readers.places import rate_layer
from netcalc.readers.transfers.collectives import ONE_WAY
from netcalc.samples import Fact, Meta, Samples, Table, TransferSamples
from netcalc.units import show

Shape = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class RateLaw:
    """A way in which a rate follows a quantity: ``factor x shape``.

    ``name`` is among the codes of its sentences. ``trip_s`` gives the round trip of a factor where
    it is a loss that is varied; the error of the round trip is that of the rate to ``trip_power``.
    """

    name: str
    shape: Shape
    trip_bps: Callable[..., FloatArray] = loss_limited.mathis_throughput_bps
    trip_power: float = 1.0

    def curve(self, factor: float) -> Shape:
        """Return the rate at each position. [bit/s]"""
        return lambda x: np.asarray(factor * self.shape(x))

    def factor(self, x: FloatArray, rate_bps: FloatArray) -> float:
        """Return the factor with which half of the rows are above the law, and half below."""
        return float(np.exp(np.median(np.log(rate_bps / self.shape(x)))))

    def trip_s(self, factor: float) -> float:
        """Return the round trip at which a flow has the law times a factor. [s]"""
        at = np.array([LOSS_SHOWN])
        rate_bps = self.trip_bps(at, mss_bytes=MSS_BYTES, rtt_s=1.0)
        return float(rate_bps[0] / (factor * self.shape(at)[0]))


class CubicLaw(RateLaw):
    """CUBIC, which has Reno's rate as its floor: no factor of one shape, but a round trip."""

    def curve(self, factor: float) -> Shape:
        """Return the rate at a round trip of ``1 / factor``. [bit/s]"""
        return lambda x: cubic.cubic_throughput_bps(x, packet_bytes=MSS_BYTES, rtt_s=1 / factor)

    def factor(self, x: FloatArray, rate_bps: FloatArray) -> float:
        """Return one over the round trip with which half of the rows are above the law."""
        low, high = SHORTEST_S, LONGEST_S
        for _ in range(TRIP_STEPS):  # the rate falls with the round trip
            middle = math.sqrt(low * high)
            is_faster = np.median(rate_bps / self.curve(1 / middle)(x)) > 1
            low, high = (low, middle) if is_faster else (middle, high)
        return 1 / math.sqrt(low * high)

    def trip_s(self, factor: float) -> float:
        """Return the round trip. [s]"""
        return 1 / factor


LOSS_SHOWN = 1e-3
"""Any loss shows the round trip that belongs to a law. [ratio]"""
SHORTEST_S, LONGEST_S, TRIP_STEPS = 1e-5, 10.0, 50
"""Round trips of CUBIC that are tried, and how often their span is halved. [s], [1]"""
_TRIP = (RateLaw("", lambda x: np.asarray(1 / x)),)
_WINDOW = (RateLaw("", lambda x: np.asarray(x)),)
_RENO = RateLaw("", lambda x: np.asarray(x**-0.5))
_PFTK = RateLaw(
    "-pftk",
    lambda x: np.asarray(pftk.tfrc_throughput_bps(x, mss_bytes=1.0, rtt_s=1.0)),
    trip_bps=pftk.tfrc_throughput_bps,
)
_CUBIC = CubicLaw("-cubic", lambda x: np.asarray(x**-0.75), trip_power=4.0)
LAWS: Mapping[str, tuple[str, tuple[RateLaw, ...]]] = {
    "response_rtt_s": ("s", _TRIP), "window_bytes": ("byte", _WINDOW),
    "loss_ratio": ("ratio", (_RENO, _PFTK, _CUBIC)),
}  # fmt: skip
"""What a rate may be measured against: its unit, and the laws, the plainest first.

A window over the round trip; the same of a window; and of the loss Reno without and with timeouts
(of four round trips, as RFC 5348 has them), and CUBIC.
"""
PLAINER_RATIO, PLAINER_ERROR = 2.0, 0.01
"""A plainer law is kept while its mean error is within this factor of the best, and this more."""
MOST_LOSS_RATIO = 0.02
"""With more loss timeouts decide, and the rate is not that of the root. [ratio]"""
CAPPED_RATIO = 0.9
"""A cap shows only where the law alone would give more than this allows. [ratio]"""
MSS_BYTES = Evidence().segment_bytes
FEW_SEGMENTS, STALLED_RATIO = 4.0, 0.85
"""A window of fewer segments may stall, and then has less of its law than this. [1], [ratio]"""
LEAST_SURE = 3
"""Rows that follow a law: with fewer of them nothing contradicts it. [1]"""
ALIKE_RATIO = 1.25
"""What is stated agrees with what is fitted within this factor. [ratio]"""
FEW_LOSSES = 4.0
"""Stated losses this many times fewer than a window's rival needs exclude it. [ratio]"""
AT_ONCE = {"response_rtt_s": "by-trip", "window_bytes": "by-window", "loss_ratio": "by-loss"}
"""Variants of the sentences of whole tables, by what is varied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """A law that a cap cuts off: ``min(cap_bps, factor x shape)``; no cap is inf.

    ``mean_off`` is the mean of the logarithms of its errors.
    """

    law: RateLaw
    factor: float
    cap_bps: float
    law_count: int
    cap_count: int
    mean_off: float

    def law_bps(self, x: FloatArray) -> FloatArray:
        """Return the law without the cap. [bit/s]"""
        return self.law.curve(self.factor)(x)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateRows:
    """The rows of a table of rates against one quantity that a law explains; by series."""

    role: str
    x: FloatArray
    rate_bps: FloatArray
    rows: Mapping[str, NDArray[np.intp]]
    bends: Mapping[str, Bend]
    step_bps: float = 0.0
    stalled: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    is_of_packets: bool = False

    @property
    def unit(self) -> str:
        """Unit of the quantity."""
        return LAWS[self.role][0]

    def error_factor(self, name: str) -> float:
        """Return the factor of the 95% interval of the law of a series; inf if none is known."""
        bend, rows = self.bends[name], self.rows[name]
        law, rates = bend.law_bps(self.x[rows]), self.rate_bps[rows]
        on_law = law <= bend.cap_bps
        return _error(np.log(rates / law)[on_law], self.step_bps / rates[on_law])

    def values(self, name: str, x: float) -> dict[str, Any]:
        """Return the numbers of a row's law: what is in flight, and the round trip."""
        bend = self.bends[name]
        values: dict[str, Any] = {"count": bend.law_count}
        if self.role == "response_rtt_s":
            return {**values, "window_bytes": bend.factor / 8, "rtt_s": x}
        if self.role == "window_bytes":
            return {**values, "window_bytes": x, "rtt_s": 8 / bend.factor}
        trip_s = bend.law.trip_s(bend.factor)
        return {**values, "loss_ratio": x, "rtt_s": trip_s, "mss_bytes": MSS_BYTES}


def responses_of(table: Table) -> RateRows | None:
    """Return the law of a table of rates against a quantity; None if no law explains its rows."""
    seen = rate_rows(table)
    if seen is None or not seen.bends or len(seen.bends) < len(seen.rows):
        return None
    return seen


def rate_rows(table: Table) -> RateRows | None:
    """Return the rows of a table of rates against a quantity, and the laws of those that have one.

    None for other tables.
    """
    name = tables.column_name(table, "goodput_bps") or tables.column_name(table, "rate_bps")
    rates = tables.rates_of(table)
    columns = {role: x for role in LAWS if (x := _varied(table, role)) is not None}
    if len(columns) > 1:  # what is the same in all rows was not varied
        columns = {role: x for role, x in columns.items() if _constant(table, role) is None}
    if rates is None or len(columns) != 1 or is_over_time(table):
        return None
    ((role, x),) = columns.items()
    good = tables.plausible(x, rates)
    if role == "loss_ratio":
        good &= x < 1
    laws = LAWS[role][1]
    stalled = _stalled(x, rates, good) if role == "window_bytes" else np.zeros(0, np.intp)
    good[stalled] = False
    rows = tables.rows_of(tables.series_of(table), good)
    fits = {name: plainest_bend(x[at], rates[at], laws) for name, at in rows.items()}
    bends = {name: bend for name, bend in fits.items() if bend is not None}
    step = first_known(table.meta.resolutions.get(name), 0.0)
    return RateRows(
        role=role, x=x, rate_bps=rates, rows=rows, bends=bends, step_bps=step, stalled=stalled,
        is_of_packets=role == "window_bytes" and tables.numbers(table, role) is None,
    )  # fmt: skip


def _varied(table: Table, role: str) -> FloatArray | None:
    """Return the column of a role; a window that is counted in packets is of whole segments."""
    x, counts = tables.numbers(table, role), tables.numbers(table, "window_count")
    return MSS_BYTES * counts if x is None and role == "window_bytes" and counts is not None else x


def _stalled(x: FloatArray, rates: FloatArray, good: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the rows of windows of few segments that fall short of what the others allow them.

    So small a window waits for delayed acknowledgements, and its rate is that of their timer.
    """
    few = good & (x < FEW_SEGMENTS * MSS_BYTES)
    others = np.flatnonzero(good & ~few)
    bend = bend_of(x[others], rates[others], _WINDOW[0]) if others.size > 1 else None
    if bend is None or bend_of(x[good], rates[good], _WINDOW[0]) is not None:
        return np.zeros(0, np.intp)
    return np.flatnonzero(few & (rates < STALLED_RATIO * bend.law_bps(x)))


def _constant(table: Table, role: str) -> float | None:
    """Return the number that a column has in all rows; None where it has several, or is none."""
    column = _varied(table, role)
    if column is None or not column.size or not np.all(column == column[0]):
        return None
    return float(column[0])


def plainest_bend(x: FloatArray, rate_bps: FloatArray, laws: Sequence[RateLaw]) -> Bend | None:
    """Return the plainest law that is about as near to the rows as any; None if none is near."""
    bends = [bend for law in laws if (bend := bend_of(x, rate_bps, law)) is not None]
    least = min((bend.mean_off for bend in bends), default=math.inf)
    enough = PLAINER_RATIO * least + PLAINER_ERROR
    return next((bend for bend in bends if bend.mean_off <= enough), None)


def bend_of(x: FloatArray, rate_bps: FloatArray, law: RateLaw) -> Bend | None:
    """Return the law and its cap that fit best; None if some row is far from both.

    The rows where the law is highest may be at the cap; the others follow the law.
    """
    order = np.argsort(-law.shape(x), kind="stable")
    at, rates = x[order], rate_bps[order]
    best = None
    for capped in range(at.size - 1):
        if at[capped:].max() < tables.LEAST_SPAN * at[capped:].min():
            break
        factor = law.factor(at[capped:], rates[capped:])
        law_bps = law.curve(factor)(at)
        cap = float(np.median(rates[:capped])) if capped else math.inf
        if capped and cap > CAPPED_RATIO * law_bps[capped - 1]:
            continue
        off = np.abs(np.log(rates / np.minimum(law_bps, cap)))
        mean_off = float(off.mean())
        is_near = off.max() <= math.log(1 + tables.FITTED_TOLERANCE)
        if is_near and (best is None or mean_off < best.mean_off):
            on_law = int(np.count_nonzero(law_bps <= cap))
            best = Bend(
                law=law, factor=factor, cap_bps=cap, law_count=on_law,
                cap_count=at.size - on_law, mean_off=mean_off,
            )  # fmt: skip
    return best


def explain_responses(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what a table of rates against round trip, window or loss says, and then its rows.

    Parameters
    ----------
    table : Table
        A rate, and one of ``rtt_s``, ``window_bytes`` and ``loss_ratio``.
    stated : Known
        ``line_bps`` is the line; without it the rate that no longer grows is a cap of its own.
        ``rtt_s`` and ``loss_ratio`` are compared with what is fitted.

    Returns
    -------
    tuple of Finding
        For each series one of all its rows, which has what follows from all of them, and one for
        each row; empty for other tables, and where no law explains the rows.
    """
    seen = responses_of(table)
    if seen is None:
        return ()
    trip_s = _constant(table, "response_rtt_s")
    if stated.rtt_s is None and trip_s is not None and trip_s > 0:
        stated = replace(stated, rtt_s=trip_s)
    findings: list[Finding] = []
    for name, rows in seen.rows.items():
        bend = seen.bends[name]
        caps = _lines(stated)
        if not caps and bend.cap_count:
            values = {"count": bend.cap_count}
            caps = [Limit("plateau", bend.cap_bps, "bit/s", tables.FITTED_TOLERANCE, values)]
        whole = _of_all(seen, name, stated, _left_out(table, seen))
        findings.append(whole)
        said = (Notice("whole-table-low"),) if whole.confidence == LOW else ()
        is_loss = seen.role == "loss_ratio"
        code = f"fitted-loss{bend.law.name}" if is_loss else "fitted-window"
        for row in rows.tolist():
            x = float(seen.x[row])
            law = float(bend.law_bps(np.array([x]))[0])
            # The formulas of loss are means; no rate is above a window in each round trip.
            is_above = not is_loss and seen.rate_bps[row] > (1 + tables.FLAT_RATIO) * law
            tolerance = tables.FLAT_RATIO if is_above else tables.FITTED_TOLERANCE
            limit = Limit(code, law, "bit/s", tolerance, seen.values(name, x))
            findings.append(Finding(
                label=tables.labelled(name, show(x, seen.unit)),
                measured=float(seen.rate_bps[row]),
                limits=tuple(sorted((limit, *caps), key=lambda limit: limit.value)),
                notices=(*said, *tables.two_points(rows)),
                layer=TCP_PAYLOAD,
            ))  # fmt: skip
    return (*findings, *(_of_stalled(table, seen, row) for row in seen.stalled.tolist()))


def _of_stalled(table: Table, seen: RateRows, row: int) -> Finding:
    """Return what a window of few segments shows: less than its law."""
    name = tables.series_of(table)[row]
    window = float(seen.x[row])
    signs = [
        Sign("rate_bps", float(seen.rate_bps[row]), "the table"),
        Sign("segment_count", window / MSS_BYTES, "the table"),
    ]
    if name in seen.bends:
        law = float(seen.bends[name].law_bps(np.array([window]))[0])
        signs.append(Sign("expected_bps", law, "the other rows"))
    cause = Cause(code="receiver-window", confidence=LOW, signs=tuple(signs), variant="stalled")
    return Finding(
        label=tables.labelled(name, show(window, seen.unit)), cause=cause, layer=TCP_PAYLOAD
    )


def _left_out(table: Table, seen: RateRows) -> tuple[Notice, ...]:
    return tables.left_out(len(table) - seen.stalled.size, seen.rows)


def _lines(stated: Known) -> list[Limit]:
    """Return the ceiling of the stated line; none without one."""
    return [limit for limit in rate_limits(Evidence(), stated) if limit.name == "line"]


def _of_all(seen: RateRows, name: str, stated: Known, said: tuple[Notice, ...]) -> Finding:
    """Return what all rows of a series say together: the law, what it means, and its interval."""
    bend, rows = seen.bends[name], seen.rows[name]
    off = np.log(seen.rate_bps[rows] / np.minimum(bend.law_bps(seen.x[rows]), bend.cap_bps))
    off_ratio = float(f"{np.expm1(np.abs(off).max()):.2g}")
    error = seen.error_factor(name)
    values = seen.values(name, float(seen.x[rows[0]]))
    what, value = {
        "response_rtt_s": ("window_bytes", bend.factor / 8),
        "window_bytes": ("fitted_rtt_s", 8 / bend.factor),
        "loss_ratio": ("fitted_rtt_s", values["rtt_s"]),
    }[seen.role]
    origin = "fitted to the rows"
    trip_error = error**bend.law.trip_power
    signs = [
        Sign(what, value, origin, low=value / trip_error, high=value * trip_error),
        Sign("law_count", float(bend.law_count), "the table"),
        Sign("row_count", float(rows.size), "the table"),
        Sign("off_ratio", max(off_ratio, tables.LEAST_OFF), origin),
    ]
    refuted = above_line(float(seen.rate_bps[rows].max()), stated)
    notices = [*said, *tables.two_points(rows), *refuted]
    if seen.is_of_packets:
        notices.append(Notice("window-of-packets", {"mss_bytes": MSS_BYTES}))
    if bend.cap_count:
        values = {"count": bend.cap_count, "cap_bps": bend.cap_bps, "layer": TCP_PAYLOAD}
        notices.append(Notice("response-cap", values))
    is_sure = bend.law_count >= LEAST_SURE and not refuted
    if seen.role == "response_rtt_s":
        rival = _rival(bend.factor / 8, stated)
        is_sure = is_sure and not any(notice.code == "window-or-stated-loss" for notice in rival)
        notices += rival
    elif stated.rtt_s is not None:
        alike = max(value / stated.rtt_s, stated.rtt_s / value) <= max(
            ALIKE_RATIO, trip_error if math.isfinite(trip_error) else 0.0
        )
        code = "fitted-trip-agrees" if alike else "fitted-trip-differs"
        trips = {"fitted_s": value, "rtt_s": stated.rtt_s, "factor": stated.rtt_s / value}
        notices.append(Notice(code, trips))
        is_sure = is_sure and alike
    else:
        notices.append(Notice("fitted-trip"))
    if seen.role == "loss_ratio":
        notices += _as_near(bend, seen.x[rows], seen.rate_bps[rows])
        signs.append(Sign("mss_bytes", MSS_BYTES, "assumed"))
    return Finding(
        label=name,
        notices=tuple(notices),
        missing=() if stated.line_bps is not None else (Notice("ask-line"),),
        layer=TCP_PAYLOAD,
        cause=Cause(
            code="random-loss" if seen.role == "loss_ratio" else "receiver-window",
            confidence=MEDIUM if is_sure else LOW,
            signs=tuple(signs),
            variant=f"{AT_ONCE[seen.role]}{bend.law.name}{'' if error < math.inf else '-few'}",
        ),
    )


def _error(off: FloatArray, step_ratio: FloatArray) -> float:
    """Return the factor of the 95% interval of a law from the logarithms of its rows' errors.

    These are at least those of rounding to the steps in which the rates are written.

    It is inf where fewer than three rows have none to judge by.
    """
    if off.size < LEAST_SURE:
        return math.inf
    rounding = float(np.sqrt(np.mean(step_ratio**2) / 12))
    scatter = max(float(off.std(ddof=1)), rounding)
    return math.exp(tables.student_t(off.size - 1) * scatter / math.sqrt(off.size))


def _rival(window_bytes: float, stated: Known) -> list[Notice]:
    """Say which random loss would give the same curve: it falls with the round trip, too."""
    loss_ratio = (loss_limited.MATHIS_CONSTANT * MSS_BYTES / window_bytes) ** 2
    if loss_ratio > MOST_LOSS_RATIO:
        return []
    values = {"window_bytes": window_bytes, "loss_ratio": loss_ratio}
    if stated.loss_ratio is None:
        return [Notice("window-or-loss", values)]
    values["stated_ratio"] = stated.loss_ratio
    is_excluded = FEW_LOSSES * stated.loss_ratio <= loss_ratio
    return [Notice("window-not-loss" if is_excluded else "window-or-stated-loss", values)]


def _as_near(chosen: Bend, x: FloatArray, rate_bps: FloatArray) -> list[Notice]:
    """Say which other laws of the loss fit about as well, and with which round trip."""
    enough = PLAINER_RATIO * chosen.mean_off + PLAINER_ERROR
    bends = [bend_of(x, rate_bps, law) for law in LAWS["loss_ratio"][1] if law != chosen.law]
    return [
        Notice(
            {"": "near-reno", "-pftk": "near-pftk", "-cubic": "near-cubic"}[bend.law.name],
            {"rtt_s": bend.law.trip_s(bend.factor)},
        )
        for bend in bends
        if bend is not None and bend.mean_off <= enough
    ]


def explain_other_responses(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what a table of such rates says whose rows follow no law.

    Parameters
    ----------
    table : Table
        As for :func:`explain_responses`.
    stated : Known
        ``line_bps`` is the line.

    Returns
    -------
    tuple of Finding
        One for each series of several rows: the rate stays, a single row contradicts the others,
        or there is no relation; empty for other tables.
    """
    seen = rate_rows(table)
    if seen is None:
        return ()
    said = _left_out(table, seen)
    missing = () if stated.line_bps is not None else (Notice("ask-line"),)
    findings: list[Finding] = []
    for name, rows in seen.rows.items():
        if rows.size > 1:
            finding = _without_law(seen, name, rows, stated)
            refuted = above_line(float(seen.rate_bps[rows].max()), stated)
            notices = (*finding.notices, *said, *tables.two_points(rows), *refuted)
            findings.append(replace(finding, missing=missing, notices=notices, layer=TCP_PAYLOAD))
            if finding.cause is not None and finding.cause.variant == "odd-row":
                findings += _of_others(table, seen, rows, stated)
    return tuple(findings)


def _of_others(
    table: Table, seen: RateRows, rows: NDArray[np.intp], stated: Known
) -> tuple[Finding, ...]:
    """Return what the rows beside the odd one say, in a table of one series."""
    odd = _odd(seen.x[rows], seen.rate_bps[rows], LAWS[seen.role][1])
    if odd is None or len(seen.rows) > 1 or rows.size <= LEAST_SURE:
        return ()
    data = {name: np.delete(values, rows[odd[0]]) for name, values in table.columns().items()}
    return explain_responses(Table(data=data, meta=table.meta), stated)


def _without_law(seen: RateRows, name: str, rows: NDArray[np.intp], stated: Known) -> Finding:
    x, rates = seen.x[rows], seen.rate_bps[rows]
    span = float(x.max() / x.min())
    facts = {
        "row_count": float(rows.size), "low_bps": float(rates.min()),
        "high_bps": float(rates.max()), "span_ratio": span,
    }  # fmt: skip
    signs = tuple(Sign(fact, value, "the table") for fact, value in facts.items())
    if span < tables.LEAST_SPAN:
        return Finding(label=name, cause=Cause(signs=signs, variant="narrow"))
    if name in seen.bends:
        return Finding(label=name, cause=Cause(signs=signs, variant="law-of-some"))
    if rates.max() <= (1 + tables.FLAT_RATIO) * rates.min():
        middle = float(np.median(rates))
        lines = tuple(_lines(stated))
        flat = Finding(label=name, measured=middle, limits=lines, layer=TCP_PAYLOAD)
        # A line that agrees limits all rows alike; without one, something else does.
        if not flat.is_explained:
            return replace(flat, cause=Cause(signs=signs, variant="flat"))
        said = Notice("response-flat", {"count": int(rows.size), "span": span})
        return replace(flat, notices=(said,))
    odd = _odd(x, rates, LAWS[seen.role][1])
    if odd is None:
        return Finding(label=name, cause=Cause(signs=signs, variant="no-relation"))
    row, expected = odd
    of_row = (
        Sign("rate_bps", float(rates[row]), "the table"),
        Sign("expected_bps", expected, "the other rows"),
    )
    label = tables.labelled(name, show(float(x[row]), seen.unit))
    return Finding(label=label, cause=Cause(signs=of_row, variant="odd-row"))


def _odd(x: FloatArray, rates: FloatArray, laws: Sequence[RateLaw]) -> tuple[int, float] | None:
    """Return the only row without which a law explains the others, and what that law gives it."""
    odd = []
    for row in range(x.size if x.size > 2 else 0):
        bend = plainest_bend(np.delete(x, row), np.delete(rates, row), laws)
        if bend is not None:
            expected = float(np.minimum(bend.law_bps(x[row : row + 1]), bend.cap_bps)[0])
            odd.append((row, expected))
    return odd[0] if len(odd) == 1 else None


FEW_TRIPS = 10.0
"""Of more round trips than these any time is nearly a whole number. [1]"""
OF_SIZES = ("line", "window", "packet-rate")
"""Limits of a rate that does not depend on the size of the transfer."""


def explain_transfer_sizes(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    """Return what times of transfers of several sizes consist of: a fixed part, and a rate.

    Parameters
    ----------
    samples : TransferSamples or Table
        Sizes and times; or a table of sizes and times, or of sizes and rates.
    stated : Known
        ``line_bps``, and ``window_bytes`` with ``rtt_s``, are compared with the rate; ``rtt_s``
        with the fixed part.

    Returns
    -------
    tuple of Finding
        One for each group of more than one size; empty for other samples.
    """
    transfers = transfers_of(samples) if isinstance(samples, Table) else samples
    if not isinstance(transfers, TransferSamples):
        return ()
    if any("handshake_rtt_min_s" in row for row in transfers.facts()):
        return ()  # a run that measured its round trip: the limits of its rate say more
    sizes, times = np.asarray(transfers.payload_bytes), np.asarray(transfers.duration_s)
    good = transfers.measured & tables.plausible(times) & (sizes >= 0)
    rows = tables.rows_of([str(name) for name in transfers.group], good)
    if stated.rtt_s is not None and good.any():
        trips = times[good] / stated.rtt_s
        off = np.abs(trips - np.maximum(np.rint(trips), 1))
        if trips.max() <= FEW_TRIPS and off.max() <= TRIP_ERROR:
            return ()  # whole round trips, not a line
    if any(np.unique(sizes[at]).size < 2 for at in rows.values()):
        return ()
    said = tables.left_out(sizes.size, rows)
    findings = []
    layer = rate_layer(samples, {}, "throughput_bps")
    of_tests = {str(row.get("group", "")): row for row in samples.facts()}
    for name, at in rows.items():
        part = TransferSamples(
            payload_bytes=sizes[at], duration_s=times[at], meta=replace(transfers.meta, facts=())
        )
        fit = transfer_against_size(part)
        if layer == PAYLOAD:
            test = of_tests.get(name, {})
            finding = _of_messages(fit, samples, test, stated)
        else:
            finding = replace(_of_group(fit, stated), layer=TCP_PAYLOAD)
        findings.append(replace(
            finding, label=name,
            notices=(
                *said, *tables.two_points(np.unique(sizes[at])),
                *(() if fit.stepped is None else fit.stepped.said), *finding.notices,
            ),
            missing=() if stated.line_bps is not None else (Notice("ask-line"),),
        ))  # fmt: skip
    return tuple(findings)


FULL_LINE_RATIO, ABOVE_LINE_RATIO = 0.8, 1.02
"""Shares of a line between which the bus bandwidth of a collective says that the line is full."""
_OF_VECTORS = ("all-reduce", "reduce-scatter", "broadcast", "reduce")
"""Collectives whose size is that of the whole vector with every tool."""


def _of_messages(fit: Fit, samples: Samples, test: Mapping[str, Fact], stated: Known) -> Finding:
    """Return what the times of messages or of a collective say, and their share of the line."""
    finding = _of_group(fit, Known())
    cause, rate_bps = finding.cause, finding.measured
    if cause is None or math.isnan(rate_bps):
        return replace(finding, layer=PAYLOAD)
    said = [notice for notice in finding.notices if notice.code != "sizes-rate-of-what"]
    way = str(test.get("way", ""))
    if isinstance(samples, Table):
        said.append(Notice("sizes-gap"))
    elif way:
        said.append(Notice("sizes-one-way" if way == ONE_WAY else "sizes-collective"))
    factor = 1.0 if way == ONE_WAY or isinstance(samples, Table) else _bus_factor(test)
    bus_bps, line_bps = factor * rate_bps, stated.line_bps
    if math.isnan(factor):
        said.append(Notice("sizes-bus-unknown"))
    elif way != ONE_WAY and not isinstance(samples, Table):
        said.append(Notice("sizes-bus", {"bus_bps": bus_bps, "factor": factor, "layer": PAYLOAD}))
    if line_bps is not None and not math.isnan(bus_bps):
        share = bus_bps / line_bps
        values = {"share": share, "line_bps": line_bps}
        code = "sizes-bus-above" if share > ABOVE_LINE_RATIO else "sizes-bus-line"
        said.append(Notice(code, values))
        if FULL_LINE_RATIO <= share <= ABOVE_LINE_RATIO:
            cause = replace(cause, code="line", confidence=MEDIUM)
    variant = cause.variant.replace("sizes", "messages")
    cause = replace(cause, layer=PAYLOAD, variant=variant)
    return Finding(measured=rate_bps, cause=cause, notices=tuple(said), layer=PAYLOAD)


def _bus_factor(test: Mapping[str, Fact]) -> float:
    """Return bus bandwidth over size by time, as printed or by the ranks; nan if unknown."""
    operation, ranks = str(test.get("operation", "")), test.get("rank_count")
    if isinstance(printed := test.get("bus_factor"), float | int):
        return float(printed)
    if operation not in _OF_VECTORS or not isinstance(ranks, float | int):
        return math.nan
    rate = bus_bandwidth_bps(
        0.125, duration_s=1.0, rank_count=ranks, operation=cast(Operation, operation)
    )
    return float(rate)


def transfers_of(table: Table) -> TransferSamples | None:
    """Return the transfers of a table of sizes with times or with rates; None of another."""
    sizes, times = tables.numbers(table, "packet_bytes"), tables.numbers(table, "transfer_s")
    rates = tables.rates_of(table)
    if sizes is None or (times is None) == (rates is None):
        return None
    if times is None:
        assert rates is not None  # one of both is there
        with np.errstate(all="ignore"):  # rows without a rate are left out
            times = np.where(tables.plausible(sizes, rates), 8 * sizes / rates, math.nan)
    step = table.meta.resolutions.get(tables.column_name(table, "transfer_s"), 0.0)
    return TransferSamples(
        payload_bytes=sizes, duration_s=times, failed=~tables.plausible(times),
        group=np.array(tables.series_of(table), object),
        meta=Meta(resolutions={"duration_s": step}),
    )  # fmt: skip


def _of_group(fit: Fit, stated: Known) -> Finding:
    """Return what the times of one group say."""
    kept: NDArray[np.bool_] = ~fit.outlier
    times, sizes = fit.measured[kept], fit.x[kept]
    count = Sign("row_count", float(times.size), "the table")
    rate_bps, latency_s = fit.params["bandwidth_bps"], fit.params["latency_s"]
    if (bent := _bent(fit, count)) is not None:
        return _compared(*bent, [], stated)
    if math.isnan(rate_bps) or (times.max() <= times.min() and fit.x.size > 1):
        span = float(sizes.max() / max(sizes.min(), 1.0))
        ends = {"low_s": float(times.min()), "high_s": float(times.max()), "span_ratio": span}
        seen = (count, *(Sign(name, value, "the table") for name, value in ends.items()))
        is_flat = times.max() <= (1 + tables.FITTED_TOLERANCE) * times.min()
        return Finding(
            cause=Cause(signs=seen, variant="sizes-flat" if is_flat else "sizes-scatter"),
            notices=() if is_flat else tuple(fit.not_identifiable.values())[:1],
        )
    off = max(float(f"{np.abs(times / fit.predict(sizes) - 1).max():.2g}"), tables.LEAST_OFF)
    rate = _fitted(fit, "fitted_bps", "bandwidth_bps")
    signs = [rate, count, Sign("off_ratio", off, "the table")]
    variant, said = "sizes-alone", [*fit.notes, *(fit.stepped.said if fit.stepped else ())]
    if not math.isnan(latency_s):
        latency = _fitted(fit, "latency_s", "latency_s")
        latency = replace(latency, low=max(latency.low, 0.0) if latency_s >= 0 else latency.low)
        is_exact = math.isnan(latency.low) or math.isnan(rate.low)
        variant = "sizes-exact" if is_exact else "sizes"
        signs = [latency, *signs, Sign("even_bytes", latency_s * rate_bps / 8, "the table")]
        if stated.rtt_s is not None:
            values = {"latency_s": latency_s, "rtt_s": stated.rtt_s,
                      "trips": latency_s / stated.rtt_s}  # fmt: skip
            said.append(Notice("sizes-trips", values))
    return _compared(rate_bps, Cause(signs=tuple(signs), variant=variant), said, stated)


def _bent(fit: Fit, count: Sign) -> tuple[float, Cause] | None:
    """Return the rate of the largest size and both ends of times that no line has; None of others.

    The times grow with the size, and a line is off by more than a quarter, or slower than the
    largest size was, which no fixed part explains.
    """
    sizes = np.unique(fit.x)
    times = np.array([float(np.median(fit.measured[fit.x == size])) for size in sizes])
    is_growing = np.all(times[1:] >= (1 - tables.FLAT_RATIO) * times[:-1])
    before = np.flatnonzero(tables.LEAST_SPAN * times <= times[-1])
    if sizes.size <= LEAST_SURE or not before.size or not is_growing:
        return None
    line_bps, largest_bps = fit.params["bandwidth_bps"], float(8 * sizes[-1] / times[-1])
    off = np.abs(times / fit.predict(sizes) - 1).max()
    is_slower = largest_bps > (1 + tables.FLAT_RATIO) * line_bps
    if not (math.isnan(line_bps) or off > tables.FITTED_TOLERANCE or is_slower):
        return None
    least, last = int(np.argmin(times)), int(before[-1])
    values = {
        "least_s": times[least], "least_bytes": sizes[least],
        "fitted_bps": 8 * (sizes[-1] - sizes[last]) / (times[-1] - times[last]),
        "low_bytes": sizes[last], "high_bytes": sizes[-1], "largest_bps": largest_bps,
    }  # fmt: skip
    signs = (Sign(name, float(value), "the table") for name, value in values.items())
    return largest_bps, Cause(signs=(count, *signs), variant="sizes-bend")


def _compared(rate_bps: float, cause: Cause, said: Sequence[Notice], stated: Known) -> Finding:
    """Return times of sizes with what is stated of the limits of their rate."""
    said = [*said, *above_line(rate_bps, stated)]
    ceilings = rate_limits(Evidence(rate_bps=rate_bps), stated)
    limits = tuple(limit for limit in ceilings if limit.name in OF_SIZES)
    finding = Finding(measured=rate_bps, limits=limits, layer=TCP_PAYLOAD, notices=tuple(said))
    if not finding.is_explained:
        slower = [
            Notice(
                "sizes-below-line", {"share": rate_bps / limit.value, "line_bps": stated.line_bps}
            )
            for limit in limits
            if limit.name == "line" and rate_bps < limit.value
        ]
        return replace(
            finding, cause=cause, notices=(*(slower or [Notice("sizes-rate-of-what")]), *said)
        )
    # What is stated agrees with the rate: that says it, and the fit stands beside it.
    assert finding.binding is not None  # it is explained
    agreeing = Cause(
        code=cause_of_limit(finding.binding.name), signs=cause.signs,
        confidence=MEDIUM if cause.variant == "sizes" else LOW,
    )  # fmt: skip
    return replace(finding, cause=agreeing, notices=(cause.said, *said))


def _fitted(fit: Fit, name: str, param: str) -> Sign:
    low, high = fit.interval(param)
    value = fit.params[param]
    if not (low <= value <= high and math.isfinite(high)):
        low = high = math.nan
    return Sign(name, value, "fitted to the rows", low=low, high=high)
