"""Popular wrong models, computed with the right ones, to find which a stated number fits.

>>> found = claim("11.8 Mbit/s", Known(line_bps=100e6))
>>> found.best.name, found.is_misconception
('bits-for-bytes', True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError, UnitError
from netcalc.explain import claim_models
from netcalc.explain.causes import captures
from netcalc.explain.evidence import Evidence, Known, first_known
from netcalc.explain.frame_tables import frames_of
from netcalc.explain.measurement import evidence_of
from netcalc.explain.summaries import quantity_of, trip_series
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.rate_layers import UNKNOWN
from netcalc.readers.captures.lists import traces_of
from netcalc.samples import PacketTrace, RttSamples, Samples, Table, TransactionSamples
from netcalc.units import parse, show

LEAST_ERROR_RATIO = 5e-4
"""Numbers this close are the same, however many digits a claim has. [ratio]"""
ROUNDING_RATIO = 1e-12
"""Numbers this close differ by the rounding of the computer alone. [ratio]"""
NEAR_RATIO = 0.01
"""A number this near to a model is that model's, if no other fits. [ratio]"""
MEASURED_RATIO = 0.005
"""A mistake of a measured rate may be this far above an impossible number. [ratio]"""
FAR_RATIO = 0.05
"""A right model further from the claim than this says nothing about it. [ratio]"""
CLOCK_RATIO = 2e-4
"""No line is faster than its name by more: the clocks of Ethernet are within 100 ppm. [ratio]"""
SHOWN_MODELS, SHOWN_RATIO = 8, 0.02
"""Models that the text shows, and how near they are; JSON has all."""

_UNITS = ("bit/s", "packet/s", "s")
_NUMBER = re.compile(r"[\d.,]*\d")


@dataclass(frozen=True, slots=True)
class Claim:
    """A stated number beside all models of it, the nearest first.

    ``rounding_ratio`` is half of the last digit that was stated: a model so near agrees with it;
    ``line_bps`` is the rate of the line, nan where it is not known.
    """

    text: str
    value: float
    unit: str
    rounding_ratio: float
    models: tuple[claim_models.Model, ...]
    line_bps: float = math.nan

    @property
    def is_impossible(self) -> bool:
        """Whether the number is a rate above what the line carries."""
        most = self.line_bps if self.unit == "bit/s" else math.nan
        if self.unit == "packet/s":
            frames = [model.value for model in self.models if model.name == "frame-rate"]
            most = max(frames, default=math.nan)
        return self.value > most * (1 + max(self.rounding_ratio, CLOCK_RATIO))

    def error_ratio(self, model: claim_models.Model) -> float:
        """Return how far a model is from the claim, as a share of the claim."""
        return abs(model.value / self.value - 1)

    def agrees(self, model: claim_models.Model) -> bool:
        """Whether a model gives the claim, as it is rounded."""
        return self.error_ratio(model) <= self.rounding_ratio

    def _explains(self, wrong: claim_models.Model) -> bool:
        """Whether a mistake gives the claim: as it is rounded, or by its digits."""
        return self.agrees(wrong) or wrong.name == claim_models.TIMES

    @property
    def best(self) -> claim_models.Model | None:
        """The model that fits: one that agrees, a right one before a wrong one; then the nearest.

        Of those that do not agree, a right one may be 5 % off, as a measurement is, a wrong one
        never more than 1 %: with so many mistakes one is near any number by chance, and is then no
        misconception. A mistake of conversion must agree, and the number must not be a round one;
        so must one of a number that is impossible, unless it is one of a measured rate.
        """
        right = [model for model in self.models if model.is_right]
        if self.is_impossible:  # no right model is near what cannot be; a count of it may be wrong
            right = [model for model in right if model.value >= self.value]
        wrong = [model for model in self.models if not model.is_right and self._may_be(model)]
        cut = min(2.0 * self.rounding_ratio, NEAR_RATIO)  # digits that were cut off, not rounded
        near = [
            model for model in right
            if model.name != claim_models.AT_SIZE or self.error_ratio(model) <= cut
        ]  # fmt: skip
        fitting = [
            *(model for model in right if self.agrees(model)),
            *(model for model in wrong if self.agrees(model)),
            *(model for model in near if self.error_ratio(model) <= NEAR_RATIO),
            *wrong,
            *(model for model in near if self.error_ratio(model) <= FAR_RATIO),
        ]
        return fitting[0] if fitting else None

    def _may_be(self, wrong: claim_models.Model) -> bool:
        """Whether a mistake is near enough to be named."""
        if wrong.name == claim_models.TIMES and _has_digits_of(self.text, wrong.value / self.value):
            return True
        if self.error_ratio(wrong) > NEAR_RATIO:
            return False
        if self.is_impossible and not self._explains(wrong):
            below = wrong.value / self.value - 1
            return wrong.name in claim_models.MEASURED and 0 < below <= MEASURED_RATIO
        return wrong.name not in claim_models.CONVERSIONS or (
            self.agrees(wrong) and not _is_round(self.text)
        )

    @property
    def is_misconception(self) -> bool:
        """Whether a wrong model gives the claim, and no right one does."""
        best = self.best
        return best is not None and not best.is_right and self._explains(best)

    @property
    def right(self) -> claim_models.Model | None:
        """The right model: the one that the model which fits distorts; else the nearest."""
        best = self.best
        right = [model for model in self.models if model.is_right]
        distorted = [model for model in right if best is not None and model.name == best.instead_of]
        of_run = [model for model in distorted if best is not None and model.label == best.label]
        return next(iter([*of_run, *distorted, *right]), None)

    @property
    def said(self) -> Notice:
        """The answer, as a code with values."""
        best, right = self.best, self.right
        if best is None or right is None:
            if self.is_impossible:
                return Notice("claim-impossible", {"claim": self.text, "line_bps": self.line_bps})
            return Notice("claim-unknown", {"claim": self.text})
        values = {
            "claim": self.text,
            "model": str(best.said),
            "value": show(best.value, self.unit),
            "right": str(right.said),
            "right_value": show(right.value, self.unit),
        }
        if best.is_right:
            code = "claim-right" if self.agrees(best) else "claim-nearly-right"
            return Notice(code, values)
        near = {**values, "off": self.error_ratio(best)}
        if self.is_impossible:
            if not self.is_misconception:
                return Notice("claim-impossible-near", {**near, "line_bps": self.line_bps})
            return Notice("claim-impossible-mistake", {**values, "line_bps": self.line_bps})
        if not self.is_misconception:
            return Notice("claim-near-misconception", near)
        return Notice("claim-misconception", values)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        text = str(self.said)
        return f"{text[:1].upper()}{text[1:]}."

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        return {
            "claim": self.text,
            "value": self.value,
            "unit": self.unit,
            **({"layer": UNKNOWN} if self.unit == "bit/s" else {}),
            "rounding_ratio": self.rounding_ratio,
            "sentence": self.sentence,
            "code": self.said.code,
            "best": None if self.best is None else self.best.name,
            "is_misconception": self.is_misconception,
            "models": [
                {
                    "name": model.name,
                    "value": model.value,
                    "is_right": model.is_right,
                    "error_ratio": self.error_ratio(model),
                    "text": str(model.said),
                }
                for model in self.models
            ],
        }

    def __str__(self) -> str:
        lines = [self.sentence]
        shown = [model for model in self.models if self.error_ratio(model) <= SHOWN_RATIO]
        if _is_round(self.text):
            shown = [model for model in shown if model.name not in claim_models.CONVERSIONS]
        shown = shown[:SHOWN_MODELS]
        if self.right is not None and self.right not in shown:
            shown.append(self.right)
        for model in shown:
            mark = "right" if model.is_right else "wrong"
            off = model.value / self.value - 1
            apart = show(off if abs(off) > ROUNDING_RATIO else 0.0, "ratio", digits=2)
            lines.append(f"  {show(model.value, self.unit)} ({apart} off), {mark}: {model.said}")
        return "\n".join(lines)


@named_arguments
def claim(
    text: str,
    stated: Known,
    *,
    path: Path | None = None,
    size_bytes: float | None = None,
    frame_bytes: float | None = None,
    evidence: Evidence | None = None,
) -> Claim:
    """Find the model, right or wrong, behind a stated number.

    Parameters
    ----------
    text : str
        A rate, a packet rate or a time with its unit: ``"94 Mbit/s"``.
    stated : Known
        What is known: at least the line, or a window or a loss with the round trip.
    path : Path, optional
        The links, for a claim about a time. Of a rate they say the line and the round trip, where
        ``stated`` does not.
    size_bytes : float, optional
        What crosses the path in that time, as a packet or over TCP; without it a time is compared
        with the latency. [byte]
    frame_bytes : float, optional
        Size of the frames of a rate, FCS included; without it a packet rate is compared with that
        of the smallest frames and, where it agrees to one in its last digit, of those of RFC 2544.
        [byte]
    evidence : Evidence, optional
        A measured transfer, for a claim about its rate.

    Returns
    -------
    Claim
        All models by their distance; which fits, and whether it is a misconception.

    Raises
    ------
    UnitError
        If the text is none of these quantities.
    DomainError
        If nothing is known that a model of it needs.
    """
    trips = () if evidence is None else _trips_of(evidence)
    return _judged(
        text, stated, path=path, size_bytes=size_bytes, frame_bytes=frame_bytes,
        runs=() if evidence is None else (evidence,), trips=trips,
    )  # fmt: skip


@named_arguments
def claim_of(
    samples: Samples,
    text: str,
    stated: Known,
    *,
    path: Path | None = None,
    size_bytes: float | None = None,
    frame_bytes: float | None = None,
) -> Claim:
    """Find the model behind a stated number about a measurement.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file: each run of it is compared. Its rates, round trips, loss and
        windows are taken where they are not stated.
    text : str
        A rate, a packet rate or a time with its unit.
    stated : Known
        What is stated; it takes precedence over the file.
    path, size_bytes, frame_bytes
        As for :func:`claim`.

    Returns
    -------
    Claim
        As :func:`claim`; a model of one of several runs has its label.

    Raises
    ------
    UnitError, DomainError
        As :func:`claim`.
    """
    runs = evidence_of(samples)
    trips = _round_trips(samples)
    if not trips or isinstance(samples, PacketTrace | Table):
        trips += [trip for run in runs for trip in _trips_of(run)]
    if not runs:
        runs = [Evidence(label=trip.label, base_rtt_s=trip.least_s) for trip in trips]
    return _judged(
        text, stated, path=path, size_bytes=size_bytes, frame_bytes=frame_bytes, runs=runs,
        trips=trips, table=samples if isinstance(samples, Table) else None,
    )  # fmt: skip


def _judged(
    text: str,
    stated: Known,
    *,
    path: Path | None,
    size_bytes: float | None,
    frame_bytes: float | None,
    runs: Sequence[Evidence],
    trips: Sequence[claim_models.RoundTripSpread],
    table: Table | None = None,
) -> Claim:
    value, unit = _quantity(text)
    if unit != "s":
        stated = claim_models.of_path(stated, path)
    frames = None if table is None else frames_of(table)
    models = {
        "bit/s": lambda: (
            claim_models.models_of_sizes(stated, frames)
            if frames is not None
            else claim_models.with_labels(
                [
                    (run.label, claim_models.rate_models(stated.toward(run.direction), run))
                    for run in runs
                ]
                or [("", claim_models.rate_models(stated, None, frame_bytes=frame_bytes))]
            )
        ),
        "packet/s": lambda: (
            claim_models.packet_rates_of_sizes(stated, frames)
            if frames is not None and frame_bytes is None
            else claim_models.packet_rate_models(stated, frame_bytes)
        ),
        "s": lambda: claim_models.time_models(stated, path, size_bytes, trips),
    }[unit]()
    if table is not None and frames is None:
        models += claim_models.own_models(table, value, unit)
    if not models:
        raise DomainError("claim-without-facts", "claim", text, unit=unit)
    models += claim_models.unit_mistakes(models, text, unit)
    models.sort(key=lambda model: abs(math.log(model.value / value)))
    lines = [stated.toward(run.direction).line_bps for run in runs] or [stated.line_bps]
    line = max((rate for rate in lines if rate is not None), default=math.nan)
    return Claim(text, value, unit, _rounding(text), tuple(models), line)


def _trips_of(evidence: Evidence) -> tuple[claim_models.RoundTripSpread, ...]:
    """Return the round trips of a transfer; none if it has none."""
    if math.isnan(first_known(evidence.base_rtt_s, evidence.rtt_s)):
        return ()
    return (
        claim_models.RoundTripSpread(
            least_s=evidence.base_rtt_s, median_s=evidence.rtt_s, label=evidence.label
        ),
    )


def _round_trips(samples: Samples) -> list[claim_models.RoundTripSpread]:
    """Return the round trips of each group of a ping, or of each mode of transactions."""
    trips: list[claim_models.RoundTripSpread] = []
    if isinstance(samples, RttSamples) and samples.measured.any():
        groups, rtt = np.asarray(samples.group), np.asarray(samples.rtt_s)
        trips = [_spread(rtt[samples.measured & (groups == name)], name) for name in samples.groups]
    elif isinstance(samples, PacketTrace | Table):
        trips = [trip for packet in _of_packets(samples) for trip in _round_trips(packet)]
        series = trip_series(samples) if isinstance(samples, Table) else {}
        trips += [_spread(rtt[rtt > 0], quantity_of(name)) for name, rtt in series.items()]
    elif isinstance(samples, TransactionSamples) and samples.measured.any():
        times = np.asarray(samples.response_s)
        trips = [_spread(times[samples.in_mode(mode)], mode) for mode in samples.modes]
    elif isinstance(samples, RttSamples):
        names = {"rtt_min_s": "least_s", "rtt_median_s": "median_s", "rtt_max_s": "most_s"}
        for row in samples.facts():
            times_s = {new: float(row[name]) for name, new in names.items() if name in row}
            trips.append(claim_models.RoundTripSpread(**times_s, label=str(row.get("group", ""))))
    return [trip for trip in trips if not math.isnan(first_known(trip.least_s, trip.most_s))]


def _of_packets(samples: PacketTrace | Table) -> list[RttSamples]:
    """Return the round trips of a capture or a list of packets: exchanges and handshakes."""
    traces = [samples] if isinstance(samples, PacketTrace) else []
    if isinstance(samples, Table):
        traces = [listed_trace.trace for listed_trace in traces_of(samples)]
    return [
        trips
        for trace in traces
        for trips in (*captures.exchanges(trace), *captures.handshakes(trace))
    ]


def _spread(times: FloatArray, label: str) -> claim_models.RoundTripSpread:
    if not times.size:
        return claim_models.RoundTripSpread(label=label)
    return claim_models.RoundTripSpread(
        least_s=float(times.min()), median_s=float(np.median(times)), most_s=float(times.max()),
        label=label,
    )  # fmt: skip


def _quantity(text: str) -> tuple[float, str]:
    first: UnitError | None = None
    for unit in _UNITS:
        try:
            value = parse(text, unit, field="claim")
        except UnitError as error:
            first = first or error
            continue
        if not 0 < value < math.inf:
            raise DomainError("not-positive", "claim", value)
        return value, unit
    assert first is not None  # each unit has refused it
    raise first


def _is_round(text: str) -> bool:
    """Whether a number has a single digit besides zeros: 900, 0.9."""
    match = _NUMBER.search(text)
    digits = re.sub(r"\D", "", match.group()) if match else ""
    return len(digits.strip("0")) <= 1


def _has_digits_of(text: str, ratio: float) -> bool:
    """Whether a number is another one rounded to the digits before its last zeros: 400 of 409.6."""
    match = _NUMBER.search(text)
    digits = re.sub(r"\D", "", match.group()).strip("0") if match else ""
    return bool(digits) and abs(ratio - 1) <= 0.5 / float(digits)


def _rounding(text: str) -> float:
    """Return half of the last digit as a share: 94 is 93.5 to 94.5."""
    match = _NUMBER.search(text)
    digits = match.group().replace(",", ".") if match else "1"
    decimals = len(digits.rpartition(".")[2]) if "." in digits else 0
    try:
        number = abs(float(digits))
    except ValueError:  # separators of thousands
        return LEAST_ERROR_RATIO
    return max(0.5 * 10.0**-decimals / number if number else 0.0, LEAST_ERROR_RATIO)
