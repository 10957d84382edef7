"""What a transfer would do without its cause, by the models of it."""

from __future__ import annotations

import math

import numpy as np

from netcalc.explain.causes.cause import UNKNOWN_CAUSE, Cause
from netcalc.explain.evidence import Evidence, first_known
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import line_ceiling_bps
from netcalc.messages import Notice
from netcalc.models.tcp.window import throughput_bps

LARGER_WINDOWS = (2**16, 2**18, 2**20, 2**22, 2**24)
"""Windows that are tried. [byte]"""


def counterfactuals(cause: Cause, evidence: Evidence, known: Known) -> tuple[Notice, ...]:
    """Return what the rate or the time would be with the cause removed."""
    line_bps = first_known(line_ceiling_bps(evidence, known), cause.sign("line_bps"))
    if cause.code in ("receiver-window", "sender-buffer"):
        return _with_windows(cause, evidence, line_bps)
    if cause.code in ("random-loss", "shallow-buffer") and line_bps > evidence.rate_bps:
        return (Notice("without-loss", {"rate_bps": line_bps, "layer": cause.layer}),)
    if cause.code == "small-segments" and line_bps > 0:
        # The same line with full segments: the headers take less of each packet.
        small = cause.sign("mss_bytes")
        overhead = 78.0 + evidence.option_bytes
        full = 1460.0 - evidence.option_bytes
        rate = line_bps * (small + overhead) / small * full / (full + overhead)
        return (
            Notice(
                "with-full-segments", {"mss_bytes": full, "rate_bps": rate, "layer": cause.layer}
            ),
        )
    return _without(cause, evidence, line_bps)


def _with_windows(cause: Cause, evidence: Evidence, line_bps: float) -> tuple[Notice, ...]:
    """Return the rate with the next larger window, and with the one that fills the line."""
    rtt_s = cause.sign("base_rtt_s")
    now = cause.sign("window_bytes" if cause.code == "receiver-window" else "in_flight_bytes")
    window = next((size for size in LARGER_WINDOWS if size >= 2 * now), None)
    if not rtt_s > 0 or window is None:
        return ()
    rate = float(throughput_bps(window, rtt_s=rtt_s))
    if rate <= evidence.rate_bps:
        return ()
    if rate >= line_bps:
        values = {"window_bytes": line_bps * rtt_s / 8, "rate_bps": line_bps}
        if values["window_bytes"] <= now:
            return ()
        return (Notice("with-window-to-line", {**values, "layer": cause.layer}),)
    values = {"window_bytes": float(window), "rate_bps": rate}
    return (Notice("with-window", {**values, "layer": cause.layer}),)


def _without(cause: Cause, evidence: Evidence, line_bps: float) -> tuple[Notice, ...]:
    """Return the time that is left without the waits for a cause: the least there can be."""
    others = [code for code in cause.shares if code != cause.code]
    left_s = cause.duration_s * (1 - cause.share_of_time)
    if cause.code in ("line", "shared-line", UNKNOWN_CAUSE, "host") or not others or not left_s > 0:
        return ()
    if math.isnan(evidence.size_bytes) or cause.share_of_time > 0.98:
        return ()
    rate = float(np.fmin(8 * evidence.size_bytes / left_s, line_bps))
    if cause.waterfall or not rate > evidence.rate_bps:
        return ()
    values = {
        "left_s": left_s,
        "duration_s": cause.duration_s,
        "rate_bps": rate,
        "next": others[0],
        "layer": cause.layer,
    }
    return (Notice("without-cause", values),)
