"""The narrowest link of a path, from packets that were sent back to back.

>>> from netcalc.samples import TrainSamples
>>> pairs = TrainSamples(
...     train=[1, 1, 2, 2, 3, 3], place=[1, 2, 1, 2, 1, 2], packet_bytes=[1500.0] * 6,
...     sent_s=[0.0, 0.0, 0.1, 0.1, 0.2, 0.2],
...     received_s=[0.01, 0.0112, 0.11, 0.1112, 0.21, 0.213])
>>> round(bottleneck(pairs).bandwidth_bps)
10000000
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.models.measuring.probing import pair_bandwidth_bps
from netcalc.samples import TrainSamples
from netcalc.units import show


@dataclass(frozen=True, slots=True, eq=False)
class BottleneckEstimate:
    """The narrowest link of a path, as packets sent back to back show it.

    Parameters
    ----------
    bandwidth_bps : float
        Where the rates of single trains lie closest together: the mode. [bit/s]
    low_bps, high_bps : float
        The shortest range with half of the trains in it. [bit/s]
    median_bps, mean_bps : float
        From the median and the mean of the dispersion. [bit/s]
    rates_bps : numpy.ndarray
        Of each train. [bit/s]
    true_bps : float
        What was set, where the path was emulated; nan otherwise. [bit/s]
    sentence : str
        What was found.
    """

    bandwidth_bps: float
    low_bps: float
    high_bps: float
    median_bps: float
    mean_bps: float
    rates_bps: FloatArray
    true_bps: float
    sentence: str


def bottleneck(samples: TrainSamples) -> BottleneckEstimate:
    """Find the rate of the narrowest link from packets that were sent back to back.

    Behind the narrowest link two packets are as far apart as it takes for one. A packet of somebody
    else's between them makes it more; a queue behind that link makes it less. So the rates of
    many pairs have several values, and the one where most of them lie is taken, not the mean.

    Parameters
    ----------
    samples : TrainSamples
        Pairs, or longer trains.

    Returns
    -------
    BottleneckEstimate
        The rate, how closely the trains agree on it, and what median and mean would say.
    """
    if not isinstance(samples, TrainSamples):
        raise TypeError(f"samples must be TrainSamples, found {type(samples).__name__}")
    truth = samples.meta.instrument.get("truth")
    true_bps = min(truth["bandwidths_bps"]) if truth else np.nan
    trains = samples.trains()
    gaps = trains["packet_count"] - 1.0
    apart = trains["dispersion_s"] > 0.0
    packet_s = trains["dispersion_s"][apart] / gaps[apart]
    sizes = trains["packet_bytes"][apart]
    if not packet_s.size:
        why = "No train arrived whole with its packets apart."
        return BottleneckEstimate(
            np.nan, np.nan, np.nan, np.nan, np.nan, np.zeros(0), float(true_bps), why
        )
    rates = pair_bandwidth_bps(packet_s, packet_bytes=sizes)
    bit_s = 1.0 / rates
    low, high = _shortest_half(np.sort(bit_s))
    mode = 1.0 / _half_sample_mode(np.sort(bit_s))
    mean = 1.0 / float(bit_s.mean())
    sentence = (
        f"{rates.size} trains: most lie at {show(mode, 'bit/s', digits=3)} (half of them from "
        f"{show(1 / high, 'bit/s', digits=3)} to {show(1 / low, 'bit/s', digits=3)}); the mean "
        f"would say {show(mean, 'bit/s', digits=3)}."
    )
    if np.isfinite(true_bps):
        sentence += (
            f" The narrowest link is set to {show(true_bps, 'bit/s')}: {mode / true_bps - 1:+.1%}."
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
    """Return where values lie closest: the shortest half of the shortest half, and so on.

    Robertson and Cryer, Biometrika 61 (1974): no width to choose, no bins.
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
