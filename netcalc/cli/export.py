"""``netcalc export`` and ``netcalc billing``: what other programs and providers make of samples.

The raw samples of a file for another program; what a provider bills by percentile. Apart from
``read``, as that loads the causes and the comparisons, which these two need not wait for.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from netcalc import readers, units
from netcalc.cli import mistakes, options, output, print_json, put, say, standard_input
from netcalc.errors import NetcalcError
from netcalc.messages import Notice
from netcalc.models.measuring.sample_statistics import billed_rate_bps, percentile
from netcalc.rate_layers import IN_HEADING, LAYERS, UNKNOWN, RateLayer, named
from netcalc.readers.captures import anonymized_error, anonymized_samples
from netcalc.readers.captures.tcp import flow_table
from netcalc.readers.columns import INTERVAL_S, read_usage
from netcalc.samples import PacketTrace, write_atomically


@options.command(names={"form": "--to", "path": ("-o", "--output")})
def export(
    file: str,
    *,
    form: str,
    path: str | None = None,
    force: bool = False,
    anonymize: bool = False,
    flows: bool = False,
) -> None:
    """Write the raw samples of a measurement; "-" is standard input.

    Nothing is resampled or rounded: netcalc read gives the same numbers back.

    Parameters
    ----------
    file : FILE
        Any file that netcalc read understands.
    form : {'csv', 'json', 'parquet'}
        csv has the metadata in a comment and units in the header; json is as saved runs.
    path : OUT
        File to write; by default standard output.
    force : bool
        Replace OUT if it exists.
    anonymize : bool
        Replace addresses, leave out names of hosts and files.
    flows : bool
        Of a capture: a row for each direction of each flow.
    """
    if path is not None:
        output.check_output(path, inputs=[file], force=force)
    elif form == "parquet":
        raise mistakes.lacking("--to parquet", "-o", "Write for example -o samples.parquet")
    key = secrets.token_bytes(32)
    try:
        samples = readers.read(standard_input() if file == "-" else Path(file))
    except NetcalcError as error:
        if anonymize:
            anonymized_error(error, names=mistakes.names_of_file(file), shown="the file", key=key)
        raise
    if anonymize:
        samples = anonymized_samples(samples, key=key)
    if flows:
        if not isinstance(samples, PacketTrace):
            raise mistakes.CommandError("flows-of-capture", file=file)
        samples = flow_table(samples)
    data = output.encode(samples, form)
    if path is None:
        output.print_data(data)
        return
    write_atomically(Path(path), data)
    output.print_written(path)


@options.command(
    options.JSON,
    cls=options.QuantityCommand,
    names={"discarded_ratio": "--discard"},
    types={"layer": options.Choice(list(LAYERS))},
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
        Time between two samples, for columns of bytes; by default the file's, or 5 min. [s]
    columns : NAMES
        Names of the columns of a file without a header, with units: in_Mbps,out_Mbps.
    layer : LAYER
        What the samples count, such as "Ethernet frame", as counters of SNMP on Ethernet do; by
        default what the headings say, or unknown.
    """
    names = None if columns is None else [text.strip() for text in columns.split(",")]
    usage = read_usage(file, interval_s=interval_s, columns=names)
    kept = 1 - discarded_ratio
    with mistakes.named_as_typed():
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
    output.print_rows(
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
