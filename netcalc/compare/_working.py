"""Comparison of round trips without and with a load: what full buffers add."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._comparison import Comparison, points
from netcalc.compare._runs import emulated_path, experiment, truth_value
from netcalc.language import phrase
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.models.tcp.sharing import drain_s
from netcalc.path import Path
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.samples import RttSamples, Samples
from netcalc.units import show, show_rate

QUEUES = {"forward": 1, "back": 1, "both": 2}
"""Queues that a round trip waits for in each phase with a load. [1]"""
SLOW_RATIO = 0.95
"""Share of the round trips within the time that is said beside the median. [ratio]"""


@named_arguments
def is_working_latency(samples: Samples) -> TypeGuard[RttSamples]:
    """Whether samples are round trips of a run with phases of load."""
    return isinstance(samples, RttSamples) and experiment(samples.meta) == "working_latency"


@named_arguments
def working_latency(
    samples: RttSamples, *, path: Path | None = None, title: str = ""
) -> Comparison:
    """Compare round trips without and with a load with those of a path whose buffers are full.

    Parameters
    ----------
    samples : RttSamples
        A run of :func:`netcalc.experiments.working_latency`.
    path : Path, optional
        The path; by default the emulated one of the run. Without one each phase is compared with
        its median.
    title : str
        Title of the figure.

    Returns
    -------
    Comparison
        Points over time. The prediction of a phase with a load is the path with full buffers: the
        queue of a flow that backs off, or has not grown so far, is shorter.
    """
    path = path or emulated_path(samples.meta.instrument)
    buffer_bytes = truth_value(samples.meta.instrument, "links", {}).get("buffer_bytes")
    rows = samples.measured
    at_s, rtt_s = np.asarray(samples.sent_s)[rows], np.asarray(samples.rtt_s)[rows]
    phases = np.asarray(samples.group)[rows]
    own = {name: rtt_s[phases == name] for name in dict.fromkeys(phases.tolist())}
    if path is None or buffer_bytes is None or not rtt_s.size:
        path = None
        level_s = {name: float(np.median(times)) for name, times in own.items()}
    else:
        size = float(np.asarray(samples.payload_bytes)[0]) + DATAGRAM_HEADERS_BYTES
        full_s = float(drain_s(buffer_bytes, bandwidth_bps=path.bottleneck_bps))
        empty_s = float(path.rtt_s(size))
        level_s = {name: empty_s + QUEUES.get(name, 0) * full_s for name in own}
    compared = points(
        at_s,
        measured=rtt_s,
        theory=lambda at: np.full_like(at, np.nan),
        x_name="time",
        x_unit="s",
        y_name=phrase("round-trip time"),
        y_unit="s",
        title=title or phrase("Round trips without and with a load"),
        predicted_label=phrase("median of each phase" if path is None else "path, full buffers"),
    )
    predicted = np.array([level_s[name] for name in phases.tolist()])
    # A nan separates the lines of two phases.
    spans = [at_s[phases == name] for name in own]
    curve_x = np.ravel([(times.min(), times.max(), np.nan) for times in spans])
    curve_y = np.ravel([(level_s[name], level_s[name], np.nan) for name in own])
    return replace(
        compared, predicted=predicted, residual=rtt_s - predicted,
        curve_x=curve_x, curve_y=curve_y, curve_low=curve_y, curve_high=curve_y,
        sentence=_sentence(samples, own, None if path is None else level_s),
    )  # fmt: skip


def _sentence(
    samples: RttSamples, own: dict[str, FloatArray], predicted_s: dict[str, float] | None
) -> str:
    """Say the median of each phase, its slowest, the rate of its load, and what was predicted."""
    rates = samples.meta.instrument.load_rates_bps or {}
    idle_s = float(np.median(own.get("idle", np.nan)))
    said = []
    for name, times in own.items():
        middle_s, slow_s = np.quantile(times, (0.5, SLOW_RATIO)).tolist()
        text = phrase(
            "{name}: median {middle}, {share:.0%} within {slow}",
            name=name, middle=show(middle_s, "s"), share=SLOW_RATIO, slow=show(slow_s, "s"),
        )  # fmt: skip
        of_phase = [bps for way, bps in rates.items() if way == name or way.endswith(f" {name}")]
        if of_phase:
            shown = " + ".join(show_rate(bps, TCP_PAYLOAD) for bps in of_phase)
            text += phrase(", at {rates}", rates=shown)
            queue_bytes = (slow_s - idle_s) * of_phase[0] / 8
            if predicted_s is None and len(of_phase) == 1 and queue_bytes > 0:
                text += phrase(", a queue of up to {queue}", queue=show(queue_bytes, "byte"))
        if predicted_s is not None:
            shown = show(predicted_s[name], "s")
            is_loaded = name in QUEUES
            text += f" ({phrase('with full buffers' if is_loaded else 'predicted')} {shown})"
        said.append(text)
    return "; ".join(said) + "." if said else phrase("No probe was answered.")
