"""``netcalc export``: the raw samples of a file, with their units, for another program."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import secrets
import sys
from pathlib import Path
from typing import Any

import click

from netcalc import readers
from netcalc.cli.mistakes import Command, CommandError
from netcalc.cli.output import check_output, print_data, print_written
from netcalc.cli.quantity import Choice
from netcalc.readers.captures import anonymized_samples
from netcalc.readers.captures.facts import flow_table
from netcalc.readers.exported import csv_text
from netcalc.samples import PacketTrace, Samples, json_ready, write_atomically

_META = b"netcalc"
"""Name of the meta data in the schema of a Parquet file."""


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@click.option(
    "--to", "form", type=Choice(["csv", "json", "parquet"]), required=True,
    help="csv has the metadata in a comment and units in the header; json is as saved runs.",
)  # fmt: skip
@click.option(
    "-o", "--output", "path", metavar="OUT", help="File to write; by default standard output."
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option(
    "--anonymize", is_flag=True, help="Replace addresses, leave out names of hosts and files."
)
@click.option("--flows", is_flag=True, help="Of a capture: a row for each direction of each flow.")
def export(
    file: str, form: str, path: str | None, force: bool, anonymize: bool, flows: bool
) -> None:
    """Write the raw samples of a measurement; "-" is standard input.

    Nothing is resampled or rounded: netcalc read gives the same numbers from CSV and JSON.
    """
    if path is not None:
        check_output(path, inputs=[file], force=force)
    elif form == "parquet":
        raise CommandError(
            "option-requires",
            option="--to parquet",
            required="-o",
            example="Write for example -o samples.parquet",
        )
    samples = readers.read(sys.stdin.buffer if file == "-" else Path(file))
    if anonymize:
        samples = anonymized_samples(samples, key=secrets.token_bytes(32))
    if flows:
        if not isinstance(samples, PacketTrace):
            raise CommandError("flows-of-capture", file=file)
        samples = flow_table(samples)
    data = _encode(samples, form)
    if path is None:
        print_data(data)
        return
    write_atomically(Path(path), data)
    print_written(path)


def _encode(samples: Samples, form: str) -> bytes:
    if form == "csv":
        return csv_text(samples).encode("utf-8", "surrogatepass")
    if form == "json":
        return samples.dumps()
    if importlib.util.find_spec("pyarrow") is None or importlib.util.find_spec("pandas") is None:
        raise CommandError("parquet-packages-missing")
    return _parquet(samples)


def _parquet(samples: Samples) -> bytes:
    """Return Parquet: each column's field has its unit and layer, the schema all meta data."""
    arrow: Any = importlib.import_module("pyarrow")  # late, and in no extra
    parquet: Any = importlib.import_module("pyarrow.parquet")
    frame = samples.to_frame()
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    parts = {"unit": samples.meta.units, "layer": samples.meta.layers}
    fields = [
        one.with_metadata({key: part[one.name] for key, part in parts.items() if one.name in part})
        for one in table.schema
    ]
    kept = {**(table.schema.metadata or {}), _META: _json(samples)}
    stream = io.BytesIO()
    parquet.write_table(table.cast(arrow.schema(fields, metadata=kept)), stream)
    return stream.getvalue()


def _json(samples: Samples) -> bytes:
    """Return what is known beside the columns, as JSON."""
    known = {"kind": type(samples).__name__, "meta": json_ready(samples.meta.stored())}
    return json.dumps(known, ensure_ascii=True, allow_nan=False).encode()
