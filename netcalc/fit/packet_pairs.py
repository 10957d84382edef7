"""Rate of the bottleneck link of a path, from packets sent back to back.

>>> from netcalc.samples import TrainSamples
>>> pairs = TrainSamples(
...     train=[1, 1, 2, 2, 3, 3], index=[1, 2, 1, 2, 1, 2], packet_bytes=[1500.0] * 6,
...     sent_s=[0.0, 0.0, 0.1, 0.1, 0.2, 0.2],
...     received_s=[0.01, 0.0112, 0.11, 0.1112, 0.21, 0.213])
>>> round(bottleneck(pairs).bandwidth_bps)
10000000
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import ArgumentTypeError
from netcalc.models.measuring.probing import pair_bandwidth_bps
from netcalc.rate_layers import IN_HEADING, IP
from netcalc.samples import TrainSamples
from netcalc.units import show_rate

TRAIN_LAYER = IP
"""Layer of the rates of trains: their packets are counted with their IP headers."""


@dataclass(frozen=True, slots=True, eq=False)
class BottleneckEstimate:
    """Rate of the bottleneck link of a path, estimated from packets sent back to back.

    Parameters
    ----------
    bandwidth_bps : float
        Mode of the rates of single trains. [bit/s]
    low_bps, high_bps : float
        The shortest range with half of the trains in it. [bit/s]
    median_bps, mean_bps : float
        From the median and the mean of the dispersion. [bit/s]
    rates_bps : numpy.ndarray
        Rate of each train. [bit/s]
    true_bps : float
        Rate set on an emulated path; nan otherwise. [bit/s]
    sentence : str
        Summary of the result.
    """

    bandwidth_bps: float
    low_bps: float
    high_bps: float
    median_bps: float
    mean_bps: float
    rates_bps: FloatArray
    true_bps: float
    sentence: str


@named_arguments
def bottleneck(samples: TrainSamples) -> BottleneckEstimate:
    """Estimate the rate of the bottleneck link from packets sent back to back.

    After the bottleneck link two packets are separated by its serialization time. Cross traffic
    between them increases the separation; a queue after that link decreases it. The rates of many
    pairs therefore have several modes, and the estimate is the main mode, not the mean.

    Parameters
    ----------
    samples : TrainSamples
        Pairs, or longer trains.

    Returns
    -------
    BottleneckEstimate
        The rate, its spread, and the rates from median and mean.
    """
    if not isinstance(samples, TrainSamples):
        raise ArgumentTypeError(
            "not-of-class", "samples", type(samples).__name__, expected="TrainSamples"
        )
    truth = samples.meta.instrument.truth
    rates = (truth or {}).get("bandwidths_bps")
    true_bps = min(rates) if rates else np.nan
    trains = samples.trains()
    gaps = trains["packet_count"] - 1.0
    apart = trains["dispersion_s"] > 0.0
    packet_s = trains["dispersion_s"][apart] / gaps[apart]
    sizes = trains["packet_bytes"][apart]
    if not packet_s.size:
        why = "No train arrived complete with its packets separated."
        return BottleneckEstimate(
            np.nan, np.nan, np.nan, np.nan, np.nan, np.zeros(0), float(true_bps), why
        )
    rates = pair_bandwidth_bps(packet_s, packet_bytes=sizes)
    bit_s = 1.0 / rates
    low, high = _shortest_half(np.sort(bit_s))
    mode = 1.0 / _half_sample_mode(np.sort(bit_s))
    mean = 1.0 / float(bit_s.mean())
    sentence = (
        f"{rates.size} train{'s' * (rates.size != 1)}: mode "
        f"{show_rate(mode, TRAIN_LAYER, digits=3)}, half of them from "
        f"{show_rate(1 / high, IN_HEADING, digits=3)} to "
        f"{show_rate(1 / low, TRAIN_LAYER, digits=3)}; "
        f"mean {show_rate(mean, TRAIN_LAYER, digits=3)}."
    )
    if np.isfinite(true_bps):
        sentence += (
            f" The bottleneck link is set to {show_rate(true_bps, TRAIN_LAYER)}: error "
            f"{mode / true_bps - 1:+.1%}."
        )
    return BottleneckEstimate(
        bandwidth_bps=mode,
        low_bps=1.0 / high,
        high_bps=1.0 / low,
        median_bps=1.0 / float(np.median(bit_s)),
        mean_bps=mean,
        rates_bps=rates,
        true_bps=true_bps,
        sentence=sentence,
    )


def _shortest_half(ordered: FloatArray) -> tuple[float, float]:
    """Return the ends of the shortest range that holds half of the values."""
    half = max(-(-ordered.size // 2), 1)
    widths = ordered[half - 1 :] - ordered[: ordered.size - half + 1]
    first = int(np.argmin(widths))
    return float(ordered[first]), float(ordered[first + half - 1])


def _half_sample_mode(ordered: FloatArray) -> float:
    """Return the half-sample mode: the shortest half of the shortest half, and so on.

    Robertson and Cryer, Biometrika 61 (1974). It has no bin width to choose.
    """
    while ordered.size > 3:
        low, high = _shortest_half(ordered)
        inner = ordered[(ordered >= low) & (ordered <= high)]
        if inner.size == ordered.size:
            break
        ordered = inner
    if ordered.size == 3:
        left, right = np.diff(ordered).tolist()
        if left != right:
            ordered = ordered[:2] if left < right else ordered[1:]
    return float(ordered.mean())
