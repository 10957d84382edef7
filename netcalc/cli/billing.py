"""``netcalc billing``: what a provider bills by percentile, from a file of samples."""

from __future__ import annotations

from collections.abc import Mapping

from netcalc import units
from netcalc.cli import print_json, put, say
from netcalc.cli.mistakes import named_as_typed
from netcalc.cli.options import JSON, Choice, QuantityCommand, command
from netcalc.cli.output import print_rows
from netcalc.messages import Notice
from netcalc.models.measuring.billing import billed_rate_bps
from netcalc.models.measuring.robust import percentile
from netcalc.rate_layers import IN_HEADING, LAYERS, UNKNOWN, RateLayer, named
from netcalc.readers.columns import INTERVAL_S, read_usage


@command(
    JSON,
    cls=QuantityCommand,
    names={"discarded_ratio": "--discard"},
    types={"layer": Choice(list(LAYERS))},
)
def billing(
    file: str,
    *,
    discarded_ratio: float = 0.05,
    interval_s: float | None = None,
    columns: str | None = None,
    layer: RateLayer | None = None,
    as_json: bool,
) -> None:
    """Compute the rate that a provider bills by the 95th percentile, from samples in FILE.

    FILE has a column for each direction, of rates or of bytes in each interval, with the unit in
    the header. The highest 5 % of each are discarded, the next highest is its rate, and the larger
    of both is billed. The interpolated percentile is printed beside it.

    \b
    netcalc billing november.csv

    Parameters
    ----------
    file : FILE
        Samples of the two directions.
    discarded_ratio : float
        Share of the samples to discard, the highest first. [ratio]
    interval_s : float
        Time between two samples, for columns of bytes; that of the file, or 5 min. [s]
    columns : NAMES
        Names of the columns of a file without a header, with units: in_Mbps,out_Mbps.
    layer : LAYER
        What the samples count, such as "Ethernet frame", as counters of SNMP on Ethernet do; by
        default what the headings say, or unknown.
    """
    names = None if columns is None else [text.strip() for text in columns.split(",")]
    usage = read_usage(file, interval_s=interval_s, columns=names)
    kept = 1 - discarded_ratio
    with named_as_typed():
        rows: dict[str, dict[str, float]] = {
            name: {
                "billed_bps": float(billed_rate_bps(rate, discarded_ratio=discarded_ratio)),
                "interpolated_bps": float(percentile(rate, quantile=kept)),
                "highest_bps": float(rate.max()),
            }
            for name, rate in usage.rates_bps.items()
        }
    counted = layer or _layer(usage.layers)
    larger = max(rows, key=lambda name: rows[name]["billed_bps"])
    billed = rows[larger]["billed_bps"]
    count = len(usage.rates_bps[larger])
    if as_json:
        print_json(
            {
                "file": file,
                "sample_count": count,
                "interval_s": usage.interval_s,
                "discarded_ratio": discarded_ratio,
                "directions": rows,
                "billed_direction": larger,
                "billed_bps": billed,
                "layer": counted,
                "layers": dict.fromkeys((*rows[larger], "billed_bps"), counted),
            }
        )
        return
    print_rows(
        ("", *(named(text, counted) for text in ("billed", "interpolated", "highest"))),
        [
            (name, *(units.show_rate(value, IN_HEADING) for value in row.values()))
            for name, row in rows.items()
        ],
        left=("",),
    )
    every = units.show(usage.interval_s, "s")
    put("")
    say(
        f"Billed: {units.show_rate(billed, counted)}, the rate of {larger}: of {count} samples, "
        f"one each {every}, the highest {units.show(discarded_ratio, 'ratio')} are discarded, and "
        "the next one counts."
    )
    if usage.interval_s != INTERVAL_S:
        say("Providers take samples of 5 min; of longer ones the percentile is lower.")
    if counted == UNKNOWN:
        say(str(Notice("billing-layer-unknown")))


def _layer(layers: Mapping[str, RateLayer]) -> RateLayer:
    """Return what the columns count, as their headings say: the same for all, or unknown."""
    counted = set(layers.values())
    return counted.pop() if len(counted) == 1 else UNKNOWN
