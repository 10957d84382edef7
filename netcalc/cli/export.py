"""``netcalc export``: the raw samples of a file, with their units, for another program."""

from __future__ import annotations

import importlib.util
import secrets
from pathlib import Path

from netcalc import readers
from netcalc.cli.mistakes import CommandError
from netcalc.cli.options import command
from netcalc.cli.output import check_output, print_data, print_written
from netcalc.cli.streams import names_of_file, standard_input
from netcalc.errors import NetcalcError
from netcalc.readers.captures import anonymized_error, anonymized_samples
from netcalc.readers.captures.tcp import flow_table
from netcalc.readers.saved import csv_text, parquet_bytes
from netcalc.samples import PacketTrace, Samples, write_atomically


@command(names={"form": "--to", "path": ("-o", "--output")})
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
        check_output(path, inputs=[file], force=force)
    elif form == "parquet":
        raise CommandError(
            "option-requires",
            option="--to parquet",
            required="-o",
            example="Write for example -o samples.parquet",
        )
    key = secrets.token_bytes(32)
    try:
        samples = readers.read(standard_input() if file == "-" else Path(file))
    except NetcalcError as error:
        if anonymize:
            anonymized_error(error, names=names_of_file(file), shown="the file", key=key)
        raise
    if anonymize:
        samples = anonymized_samples(samples, key=key)
    if flows:
        if not isinstance(samples, PacketTrace):
            raise CommandError("flows-of-capture", file=file)
        samples = flow_table(samples)
    data = encode(samples, form)
    if path is None:
        print_data(data)
        return
    write_atomically(Path(path), data)
    print_written(path)


def encode(samples: Samples, form: str) -> bytes:
    """Return samples as a file has them: csv, json or parquet.

    Raises
    ------
    CommandError
        If the packages for Parquet are missing.
    """
    if form == "csv":
        return csv_text(samples).encode("utf-8", "surrogatepass")
    if form == "json":
        return samples.dumps()
    require_parquet()
    return _parquet(samples)


def require_parquet() -> None:
    """Refuse Parquet where its packages are missing."""
    if importlib.util.find_spec("pyarrow") is None or importlib.util.find_spec("pandas") is None:
        raise CommandError("parquet-packages-missing")


def _parquet(samples: Samples) -> bytes:
    return parquet_bytes(samples)
