"""The cause of a measurement: its share of the time, the signs of it, and what would be without."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netcalc.checks import named_arguments
from netcalc.display import unit_of_name
from netcalc.language import phrase
from netcalc.messages import MESSAGES, Notice
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.units import show

HIGH, MEDIUM, LOW = "high", "medium", "low"
UNKNOWN_CAUSE = "unknown"
CAUSES = (
    "receiver-window", "receiver-program", "sender-buffer", "sender-program", "slow-start",
    "random-loss", "line", "shared-line", "shallow-buffer", "policer", "packet-rate",
    "small-segments", "reverse-path", "reordering", "duplicates", "path-change", "delay-variation",
    "loss-udp", "timeout", "outage", "handshake-loss", "handshake", "name-resolution",
    "tls-handshake", "round-trips", "server-time", "nagle-delayed-ack", "delayed-ack", "path-mtu",
    "host", "distance", UNKNOWN_CAUSE,
)  # fmt: skip
"""Codes of causes."""
_OF_LIMITS = {
    "line": "line", "link": "line", "likely-line": "line", "fragments": "line",
    "buffer": "shallow-buffer",
    "window": "receiver-window",
    "receive-window": "receiver-window", "send-window": "sender-buffer",
    "socket-buffer": "sender-buffer",
    "loss-mathis": "random-loss", "loss-cubic": "random-loss", "loss-pftk": "random-loss",
    "slow-start": "slow-start", "packet-rate": "packet-rate", "acknowledgements": "reverse-path",
    "delayed-ack": "nagle-delayed-ack", "processor": "host", "receiver-processor": "host",
    "offered": "sender-program", "queue": "line", "queue-above-least": "delay-variation",
    "serialization": "line", "serialization-of-sizes": "line", "distance": "distance",
    "round-trips": "round-trips", "ack-timer": "nagle-delayed-ack", "host": "server-time",
    "fitted-window": "receiver-window", "fitted-loss": "random-loss", "plateau": "line",
    "fitted-loss-pftk": "random-loss", "fitted-loss-cubic": "random-loss",
    "saturation": "host", "implied-line": "line", "frame-costs": "packet-rate",
    "host-costs": "host", "host-costs-mbufs": "host", "row-serialization": "line",
    "row-latency": "distance",
}  # fmt: skip

_FORMATTER = string.Formatter()
ENDS = ("numbers", "rate")
"""Ends of the codes of what stands behind a cause, the fullest first."""
LEAST_SHOWN = 0.005
LEAST_NEXT = 0.05
"""The next cause is said from this share of the time on. [ratio]"""


@dataclass(frozen=True, slots=True)
class Sign:
    """A fact that a cause stands on, with its interval where it is known, and where it is from.

    Its unit is the one that its name ends with. ``layer`` is the layer of a rate, where it is not
    the layer of the cause.
    """

    name: str
    value: float
    origin: str
    low: float = math.nan
    high: float = math.nan
    layer: str = ""

    @property
    def unit(self) -> str:
        """Unit of the fact."""
        return unit_of_name(self.name) or "1"

    def as_dict(self) -> dict[str, Any]:
        """Return the fact as JSON has it."""
        interval = None if math.isnan(self.low) else [self.low, self.high]
        return {
            "fact": self.name, "value": self.value, "unit": self.unit, "interval": interval,
            "from": self.origin,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What held a measurement up.

    Parameters
    ----------
    code : str
        One of ``CAUSES``.
    share_of_time : float
        Share of the time that was waited for it; nan where there is no time to share. [ratio]
    duration_s : float
        The time that is shared. [s]
    confidence : {'high', 'medium', 'low'}
        How sure it is.
    shares : mapping
        Shares of the time by cause, the largest first; they add to 1.
    signs : tuple of Sign
        The facts that it stands on.
    counterfactuals : tuple of Notice
        What would be without it.
    waterfall : tuple of Notice
        Names and flows of a session in the order of their begin, where there are several.
    layer : str
        Layer of its rates.
    variant : str
        Which of several sentences of the cause says it: that of probes, of a run of datagrams, or
        of a sender that is slower than it was asked to be; empty for the usual one.
    """

    code: str = UNKNOWN_CAUSE
    share_of_time: float = math.nan
    duration_s: float = math.nan
    confidence: str = LOW
    shares: Mapping[str, float] = field(default_factory=dict)
    signs: tuple[Sign, ...] = ()
    counterfactuals: tuple[Notice, ...] = ()
    waterfall: tuple[Notice, ...] = ()
    layer: str = TCP_PAYLOAD
    variant: str = ""

    def sign(self, name: str) -> float:
        """Return the value of a sign; nan where it has none."""
        return next((each.value for each in self.signs if each.name == name), math.nan)

    @property
    def values(self) -> dict[str, Any]:
        """The numbers of its sentences, those that are known."""
        values = {each.name: each.value for each in self.signs if not math.isnan(each.value)}
        for each in self.signs:
            if not math.isnan(each.low):
                values |= {f"{each.name}_low": each.low, f"{each.name}_high": each.high}
        window, rtt_s = values.get("window_bytes", math.nan), values.get("base_rtt_s", math.nan)
        if rtt_s > 0:
            values["window_bps"] = 8 * window / rtt_s
            values["in_flight_bps"] = 8 * values.get("in_flight_bytes", math.nan) / rtt_s
        times = {"share": self.share_of_time, "duration_s": self.duration_s}
        return {**times, "layer": self.layer, **values}

    @property
    def said(self) -> Notice:
        """What it is, as a code with values."""
        if self.code == UNKNOWN_CAUSE and self.shares and not self.variant:
            largest = next(iter(self.shares))
            values = {
                "largest": largest, "share": self.shares[largest],
                "duration_s": self.duration_s,
            }  # fmt: skip
            return Notice("cause-unknown-share", values)
        code = f"cause-{self._name}"
        return Notice(code, self.values)

    @property
    def _name(self) -> str:
        """The code, with how its sentence differs."""
        return f"{self.code}-{self.variant}" if self.variant else self.code

    @property
    def sentence(self) -> str:
        """The cause in one sentence, with its numbers and the next one."""
        text = str(self.said)
        if self.code != UNKNOWN_CAUSE and self.share_of_time > 0 and self.duration_s > 0:
            time = f"cause-{self._name}-time"
            text += f" {Notice(time if time in MESSAGES else 'cause-time', self.values)}"
        else:
            text = text.rstrip(",")
        numbers = self.numbers(self._name) or ("" if self.variant else self.numbers(self.code))
        if numbers:
            text += f" ({numbers})"
        others = [(code, share) for code, share in self.shares.items() if code != self.code]
        if others and others[0][1] >= LEAST_NEXT and self.code != UNKNOWN_CAUSE:
            is_less = not others[0][1] > self.share_of_time
            values = {"name": cause_name(others[0][0]), "share": others[0][1]}
            text += f"; {Notice('cause-next' if is_less else 'cause-beside', values)}"
        return f"{text[:1].upper()}{text[1:]}."

    def numbers(self, code: str) -> str:
        """Return the numbers behind one of the causes; empty where some are not known."""
        text = next(filter(self._can_say, (f"cause-{code}-{end}" for end in ENDS)), None)
        return "" if text is None else str(Notice(text, self.values))

    def _can_say(self, code: str) -> bool:
        """Whether there is such a sentence, and all of its numbers are known."""
        needed = MESSAGES.get(code, "{unknown}")
        names = {name.partition(":")[0] for _, name, _, _ in _FORMATTER.parse(needed) if name}
        return all(_is_known(self.values.get(name)) for name in names)

    def lines(self) -> list[str]:
        """Return the table of shares, and what would be without the cause."""
        shares = [
            f"{share:.0%} {cause_name(code)}{self._time_of(share)}"
            for code, share in self.shares.items()
            if share >= LEAST_SHOWN
        ]
        lines = [phrase("of the time: {shares}", shares=", ".join(shares))] if shares else []
        return lines + [str(each) for each in (*self.counterfactuals, *self.waterfall)]

    def _time_of(self, share: float) -> str:
        return f" ({show(share * self.duration_s, 's')})" if self.duration_s > 0 else ""

    @property
    def test(self) -> Notice:
        """The cheapest test that would decide."""
        code = f"test-{self._name}"
        if code not in MESSAGES:
            code = f"test-{self.code}"
        return Notice(code, self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return the cause as JSON has it."""
        share = self.share_of_time
        return {
            "cause": self.code,
            "share_of_time": None if math.isnan(share) else share,
            "shares_of_time": dict(self.shares),
            "evidence": [
                {
                    **each.as_dict(),
                    **({"layer": each.layer or self.layer} if each.unit == "bit/s" else {}),
                }
                for each in self.signs
                if not math.isnan(each.value)
            ],
            "counterfactuals": [each.stored() for each in self.counterfactuals],
            "waterfall": [each.stored() for each in self.waterfall],
        }


def _is_known(value: Any) -> bool:
    """Whether a value of a sentence is there, and a number if it is one."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


@named_arguments
def cause_name(code: str) -> str:
    """Return a cause as a part of a sentence.

    Parameters
    ----------
    code : str
        One of ``CAUSES``, or the name of another wait among the shares of a :class:`Cause`.

    Returns
    -------
    str
        Its name.

    Examples
    --------
    >>> cause_name("slow-start")
    'slow start'
    """
    named = f"name-{code}"
    return str(Notice(named))


@named_arguments
def cause_sign(code: str) -> str:
    """Return by what an interval is known to be of a cause.

    Parameters
    ----------
    code : str
        As in :func:`cause_name`.

    Returns
    -------
    str
        The sign, as a part of a sentence.

    Examples
    --------
    >>> cause_sign("receiver-window")
    'the window had no room for another full segment'
    """
    named = f"sign-{code}"
    return str(Notice(named))


def cause_of_limit(name: str) -> str:
    """Return the cause that a limit is of; ``unknown`` for a limit that has causes of its own."""
    return _OF_LIMITS.get(name, UNKNOWN_CAUSE)
