"""Popular wrong models, computed with the right ones, to find which a stated number fits.

>>> found = claim("11.8 Mbit/s", Known(line_bps=100e6))
>>> found.best.name, found.is_misconception
('bits-for-bytes', True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netcalc.errors import DomainError, UnitError
from netcalc.explain.evidence import TIMESTAMP_BYTES, Evidence
from netcalc.explain.known import DEFAULT_MTU_BYTES, Known
from netcalc.messages import Notice
from netcalc.models.rates import goodput, line_rate
from netcalc.models.sizes import framing
from netcalc.models.tcp import cubic, loss_limited, window
from netcalc.path import Path
from netcalc.units import parse, show

CONSTANT_OVERHEAD_BPS = 6e6
"""What some add to a goodput, whatever the packets, to get the rate of the line. [bit/s]"""
LEAST_ERROR_RATIO = 5e-4
"""Numbers this close are the same, however many digits a claim has. [ratio]"""
NEAR_RATIO = 0.01
"""A number this near to a model is that model's, if no other fits. [ratio]"""
FAR_RATIO = 0.05
"""A right model further from the claim than this says nothing about it. [ratio]"""
SHOWN_MODELS, SHOWN_RATIO = 8, 0.02
"""Models that the text shows, and how near they are; JSON has all."""

_POWERS = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_UNITS = ("bit/s", "packet/s", "s")
_NUMBER = re.compile(r"[\d.,]*\d")


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a number: its value, whether it is right, and which right one it distorts."""

    name: str
    value: float
    is_right: bool
    values: Mapping[str, Any]
    instead_of: str = ""

    @property
    def said(self) -> Notice:
        """What it computes, or takes for another."""
        code = f"model-{self.name}"
        return Notice(code, dict(self.values))


@dataclass(frozen=True, slots=True)
class Claim:
    """A stated number beside all models of it, the nearest first.

    ``rounding_ratio`` is half of the last digit that was stated: a model so near agrees with it.
    """

    text: str
    value: float
    unit: str
    rounding_ratio: float
    models: tuple[Model, ...]

    def error_ratio(self, model: Model) -> float:
        """Return how far a model is from the claim, as a share of the claim."""
        return abs(model.value / self.value - 1)

    def agrees(self, model: Model) -> bool:
        """Whether a model gives the claim, as it is rounded."""
        return self.error_ratio(model) <= self.rounding_ratio

    @property
    def best(self) -> Model | None:
        """The model that fits: one that agrees, a right one before a wrong one; then the nearest.

        Of those that do not agree, a right one may be 5 % off, as a measurement is, a wrong one
        only 1 %: with so many mistakes one is near any number by chance.
        """
        right = [one for one in self.models if one.is_right]
        fitting = [
            *(one for one in right if self.agrees(one)),
            *(one for one in self.models if self.agrees(one)),
            *(one for one in right if self.error_ratio(one) <= NEAR_RATIO),
            *(one for one in self.models if self.error_ratio(one) <= NEAR_RATIO),
            *(one for one in right if self.error_ratio(one) <= FAR_RATIO),
        ]
        return fitting[0] if fitting else None

    @property
    def is_misconception(self) -> bool:
        """Whether a wrong model fits, and no right one does."""
        return self.best is not None and not self.best.is_right

    @property
    def right(self) -> Model | None:
        """The right model: the one that the model which fits distorts; else the nearest."""
        best = self.best
        right = [one for one in self.models if one.is_right]
        wanted = "" if best is None else best.instead_of
        return next((one for one in right if one.name == wanted), next(iter(right), None))

    @property
    def said(self) -> Notice:
        """The answer, as a code with values."""
        best, right = self.best, self.right
        if best is None or right is None:
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
            "rounding_ratio": self.rounding_ratio,
            "sentence": self.sentence,
            "code": self.said.code,
            "best": None if self.best is None else self.best.name,
            "is_misconception": self.is_misconception,
            "models": [
                {
                    "name": one.name,
                    "value": one.value,
                    "is_right": one.is_right,
                    "error_ratio": self.error_ratio(one),
                    "text": str(one.said),
                }
                for one in self.models
            ],
        }

    def __str__(self) -> str:
        lines = [self.sentence]
        shown = [one for one in self.models if self.error_ratio(one) <= SHOWN_RATIO]
        shown = shown[:SHOWN_MODELS]
        if self.right is not None and self.right not in shown:
            shown.append(self.right)
        for one in shown:
            mark = "right" if one.is_right else "wrong"
            apart = show(one.value / self.value - 1, "ratio", digits=2)
            lines.append(f"  {show(one.value, self.unit)} ({apart} off), {mark}: {one.said}")
        return "\n".join(lines)


def claim(
    text: str,
    known: Known,
    *,
    path: Path | None = None,
    size_bytes: float | None = None,
    frame_bytes: float | None = None,
    one: Evidence | None = None,
) -> Claim:
    """Find the model, right or wrong, behind a stated number.

    Parameters
    ----------
    text : str
        A rate, a packet rate or a time with its unit: ``"94 Mbit/s"``.
    known : Known
        What is known: at least the line, or a window or a loss with the round trip.
    path : Path, optional
        The links, for a claim about a time.
    size_bytes : float, optional
        What crosses the path in that time. [byte]
    frame_bytes : float, optional
        Size of the frames of a packet rate, FCS included. [byte]
    one : Evidence, optional
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
    value, unit = _quantity(text)
    models = {
        "bit/s": lambda: _rates(known, one),
        "packet/s": lambda: _packet_rates(known, frame_bytes),
        "s": lambda: _times(path, size_bytes),
    }[unit]()
    if not models:
        raise DomainError("claim-without-facts", "claim", text, unit=unit)
    models += _unit_mistakes(models, text, unit)
    models.sort(key=lambda model: abs(math.log(model.value / value)))
    return Claim(text, value, unit, _rounding(text), tuple(models))


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


def _rounding(text: str) -> float:
    """Return half of the last digit as a share: 94 is 93.5 to 94.5."""
    found = _NUMBER.search(text)
    digits = found.group().replace(",", ".") if found else "1"
    decimals = len(digits.rpartition(".")[2]) if "." in digits else 0
    try:
        number = abs(float(digits))
    except ValueError:  # separators of thousands
        return LEAST_ERROR_RATIO
    return max(0.5 * 10.0**-decimals / number if number else 0.0, LEAST_ERROR_RATIO)


def _rates(known: Known, one: Evidence | None) -> list[Model]:
    found = _line_rates(known) + _window_and_loss(known)
    if one is not None and one.received_rate_bps > 0:
        found.append(Model("receiver", one.received_rate_bps, True, {}))
        if one.sent_rate_bps > 0:
            found.append(Model("sender", one.sent_rate_bps, False, {}, "receiver"))
    return found


def _line_rates(known: Known) -> list[Model]:
    line, mtu = known.line_bps, known.mtu_bytes or DEFAULT_MTU_BYTES
    if line is None:
        return []
    segment = mtu - 40 - TIMESTAMP_BYTES
    wire = float(framing.ethernet_wire_bytes(mtu))
    values = {"line_bps": line, "segment_bytes": segment, "mtu_bytes": mtu}
    stamped = goodput.tcp_goodput_bps(mtu, bandwidth_bps=line, tcp_option_bytes=TIMESTAMP_BYTES)
    plain = goodput.tcp_goodput_bps(mtu, bandwidth_bps=line)
    udp = goodput.udp_goodput_bps(mtu, bandwidth_bps=line)
    frames = line_rate.frame_throughput_bps(wire - 20, bandwidth_bps=line)
    found = [
        Model("tcp-timestamps", float(stamped), True, values),
        Model("tcp-plain", float(plain), True, values),
        Model("udp", float(udp), True, values),
        Model("frames", float(frames), True, values),
        Model("no-preamble", line * segment / (wire - 20), False, values, "tcp-timestamps"),
        Model("no-headers", line, False, values, "tcp-timestamps"),
        Model("no-fcs", line * segment / (wire - 4), False, values, "tcp-timestamps"),
    ]
    if line > CONSTANT_OVERHEAD_BPS:
        rate = line - CONSTANT_OVERHEAD_BPS
        constant = {**values, "overhead_bps": CONSTANT_OVERHEAD_BPS}
        found.append(Model("constant-overhead", rate, False, constant, "tcp-timestamps"))
    return found


def _window_and_loss(known: Known) -> list[Model]:
    rtt, found = known.rtt_s, []
    if rtt is None:
        return []
    if known.window_bytes is not None:
        values = {"window_bytes": known.window_bytes, "rtt_s": rtt}
        rate = float(window.throughput_bps(known.window_bytes, rtt_s=rtt))
        found.append(Model("window", rate, True, values))
        values = {**values, "one_way_s": rtt / 2}
        found.append(Model("one-way", 2 * rate, False, values, "window"))
    loss = known.loss_ratio
    if loss is not None and 0 < loss < 1:
        mtu = known.mtu_bytes or DEFAULT_MTU_BYTES
        mss = mtu - 40 - TIMESTAMP_BYTES
        values = {"loss_ratio": loss, "rtt_s": rtt}
        right = loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=rtt)
        found.append(Model("mathis", float(right), True, values))
        simple = loss_limited.mathis_throughput_bps(loss, mss_bytes=mss, rtt_s=rtt, constant=1.0)
        found.append(Model("mathis-of-one", float(simple), False, values, "mathis"))
        rate = float(cubic.cubic_throughput_bps(loss, packet_bytes=mtu, rtt_s=rtt)) * mss / mtu
        found.append(Model("cubic", rate, True, values))
    return found


def _packet_rates(known: Known, frame_bytes: float | None) -> list[Model]:
    line, frame = known.line_bps, frame_bytes
    if line is None or frame is None:
        return []
    values = {"line_bps": line, "frame_bytes": frame}
    right = float(line_rate.frame_rate_pps(frame, bandwidth_bps=line))
    return [
        Model("frame-rate", right, True, values),
        Model("frames-without-gap", line / (8 * frame), False, values, "frame-rate"),
        Model("frames-without-fcs", line / (8 * (frame + 16)), False, values, "frame-rate"),
        Model("both-directions", 2 * right, False, values, "frame-rate"),
    ]


def _times(path: Path | None, size_bytes: float | None) -> list[Model]:
    if path is None or size_bytes is None:
        return []
    right = float(path.one_way_s(size_bytes))
    values = {"size_bytes": size_bytes, "links": len(path.links)}
    found = [
        Model("one-way-time", right, True, values),
        Model("round-trip-time", float(path.rtt_s(size_bytes)), True, values),
    ]
    each = [8 * size_bytes / link.bandwidth_bps for link in path.links]
    for name, factor in (("bytes-for-bits-in-time", 1 / 8), ("bits-for-bytes-in-time", 8)):
        wrong = right + (factor - 1) * sum(each)
        found.append(Model(name, wrong, False, values, "one-way-time"))
    if len(each) > 1:
        once = right - sum(each) + max(each)
        found.append(Model("cut-through", once, False, values, "one-way-time"))
        found.append(Model("no-last-hop", right - each[-1], False, values, "one-way-time"))
    return [one for one in found if one.value > 0]


def _unit_mistakes(models: list[Model], text: str, unit: str) -> list[Model]:
    """Return the right models with the mistakes of units: a factor of 8, or of 1024 for 1000."""
    if unit != "bit/s":
        return []
    found = []
    prefix = re.search(r"[\d\s]([kKMGT])i?[bB]", text)
    power = _POWERS[prefix.group(1)] if prefix else 0
    for one in models:
        if not one.is_right:
            continue
        values = {"right": str(one.said)}
        found.append(Model("bits-for-bytes", one.value / 8, False, values, one.name))
        found.append(Model("bytes-for-bits", one.value * 8, False, values, one.name))
        if power:
            factor = 1.024**power
            found.append(Model("binary-prefix", one.value / factor, False, values, one.name))
    return found
