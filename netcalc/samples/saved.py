"""Samples of any kind read back from their files, each part of the kind that its name says."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from netcalc.errors import ArgumentTypeError, DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.samples.files import from_json
from netcalc.samples.meta import SCHEMA, Instrument, Meta, first_fault, row_fault, unit_of_fact

_NUMBERS = frozenset(
    {"sent", "received", "duplicates", "errors", "corrupted", "loss_ratio", "duration_s"}
    | {f"rtt_{what}_s" for what in ("min", "avg", "max", "mdev")}
)
"""What a summary says as a number."""


def misfit(meta: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Return the first fact of another kind: its name, its value, and the kind required.

    >>> misfit({"units": {"rtt_s": 1}})
    ('units.rtt_s', 1, 'text')
    >>> misfit({"instrument": {"cpu_count": 2, "gaps": [[0.5, "a"]]}})
    ('instrument.gaps', [[0.5, 'a']], 'a list of lists of numbers')
    >>> misfit({"units": {"rtt_s": "s"}, "printed": {"sent": 3}})
    """
    for part in ("units", "layers"):
        for name, value in meta.get(part, {}).items():
            if type(value) is not str or not value.isprintable():
                return f"{part}.{name}", value, "text" if type(value) is not str else "plain text"
    for name, value in meta.get("resolutions", {}).items():
        if type(value) not in (int, float) or not value > 0:
            return f"resolutions.{name}", value, "a number above 0"
    for name, value in meta.get("guess", {}).items():
        if name == "value":
            if type(value) not in (int, float):
                return f"guess.{name}", value, "a number"
        elif type(value) is not str or not value.isprintable():
            return f"guess.{name}", value, "text" if type(value) is not str else "plain text"
    for name, value in meta.get("instrument", {}).items():
        hint = _hints().get(name)
        if hint is not None and not _fits(value, hint):
            return f"instrument.{name}", value, _named(hint)
    of_path = _misfit_of_path(meta.get("instrument", {}).get("truth") or {})
    return of_path or _misfit_of_summary("printed", meta.get("printed", {}))


def _misfit_of_path(truth: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Return what is wrong with an emulated path: a rate and a latency of each of its links."""
    if not truth.keys() & _OF_LINKS:
        return None
    rates = truth.get("bandwidths_bps")
    links = len(rates) if isinstance(rates, list) else 0
    for name in sorted(_OF_LINKS):
        values, count = truth.get(name), links + (name == "processings_s")
        numbers = isinstance(values, list) and all(
            type(one) in (int, float) and one >= 0 for one in values
        )
        if not numbers or not values or len(values) != count:
            return f"instrument.truth.{name}", values, f"a list of {count or 'some'} numbers from 0"
    if not all(one > 0 for one in rates or ()):
        return "instrument.truth.bandwidths_bps", rates, "a list of numbers above 0"
    framings = truth.get("framings", ["none"] * links)
    known = isinstance(framings, list) and all(one in ("none", "ethernet") for one in framings)
    if not known or len(framings) != links:
        return "instrument.truth.framings", framings, f"a list of {links} of none, ethernet"
    return None


_OF_LINKS = frozenset({"bandwidths_bps", "latencies_s", "processings_s"})


def _misfit_of_summary(parent: str, printed: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    for name, value in printed.items():
        if name in _NUMBERS and not _fits(value, float):
            return f"{parent}.{name}", value, "a number"
        if name == "runs":
            if not isinstance(value, list):
                return f"{parent}.runs", value, "a list"
            for number, run in enumerate(value):
                if not isinstance(run, dict):
                    return f"{parent}.runs[{number}]", run, "an object"
                found = _misfit_of_summary(f"{parent}.runs[{number}]", run)
                if found is not None:
                    return found
    return None


@cache
def _hints() -> dict[str, Any]:
    hints = get_type_hints(Instrument)
    hints.pop("other")
    return hints


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a type; null is an unknown number."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_fits(one, inner[1]) for one in value.values())
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, list) and all(_fits(one, inner[0]) for one in value)
    if hint is float:
        return value is None or value in ("inf", "-inf") or type(value) in (int, float)
    if hint is int:
        return type(value) is int or (type(value) is float and value.is_integer())
    return type(value) is hint


def _named(hint: Any, *, many: bool = False) -> str:
    """Return what a type is, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_named(one) for one in inner if one is not NoneType)
    if origin is not None and issubclass(origin, Mapping):
        return "objects" if many else "an object"
    if origin is not None and issubclass(origin, Sequence):
        return f"{'lists' if many else 'a list'} of {_named(inner[0], many=True)}"
    one, several = {
        float: ("a number", "numbers"),
        int: ("a whole number", "whole numbers"),
        bool: ("true or false", "true or false"),
    }.get(hint, ("text", "texts"))
    return several if many else one


MAX_FILE_BYTES = 1 << 28
"""Largest file of saved samples that is read, compressed or not. [byte]"""

MAX_INFLATED_BYTES = 1 << 27
MAX_INFLATED_RATIO = 40
"""Samples may be this large when uncompressed, or as many times their file if that is more: an
even run of 10^6 probes is 93 MB, 21 times its file."""

KINDS: dict[str, Any] = {}
"""The containers by name, each registered when its class is made."""


def load(path: str | os.PathLike[str]) -> Any:
    """Read samples of any kind from a file."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("not-of-class", "path", type(path).__name__, expected="a path")
    try:
        status = Path(path).stat()
        # A pipe without a writer would never open, and a device may never end.
        if not stat.S_ISREG(status.st_mode):
            code = "is-directory" if stat.S_ISDIR(status.st_mode) else "not-regular-file"
            raise ReaderError(code, file=str(path))
        if status.st_size > MAX_FILE_BYTES:
            raise ReaderError("samples-too-large", file=str(path), limit_bytes=MAX_FILE_BYTES)
        data = Path(path).read_bytes()
    except ReaderError:
        raise
    except (OSError, ValueError) as error:  # a name with a null character is no name
        reason = getattr(error, "strerror", None) or str(error)
        raise ReaderError("unreadable-file", file=str(path), reason=reason) from error
    return loads(data, file=Path(path).name)


def loads(data: bytes, *, file: str) -> Any:
    """Read samples from the bytes of a saved file."""
    if not isinstance(data, str | bytes | bytearray):
        raise ArgumentTypeError("not-of-class", "data", type(data).__name__, expected="bytes")
    if not isinstance(file, str):
        raise ArgumentTypeError("not-text", "file", type(file).__name__, example="run.json")
    document = _document(data, file)
    if not isinstance(document, dict) or document.get("format") != "netcalc samples":
        raise ReaderError("not-saved-samples", file=file)
    schema, name = document.get("schema"), document.get("kind")
    if type(schema) is not int or schema < 1:
        raise ReaderError(
            "no-schema", file=file, field="schema", value=_shown(schema), highest=SCHEMA
        )
    if schema > SCHEMA:
        raise ReaderError(
            "later-schema", file=file, field="schema", value=str(schema), highest=SCHEMA
        )
    if not isinstance(name, str) or name not in KINDS:
        raise ReaderError(
            "unknown-kind", file=file, field="kind", value=_shown(name), known=list(KINDS)
        )
    kind = KINDS[name]
    meta = _meta(_part(document, "meta", dict, file), file)
    _check_units(kind, meta, file)
    columns = _columns(kind, _part(document, "columns", dict, file), file)
    totals = _totals(kind, _part({"fields": {}, **document}, "fields", dict, file), file)
    try:
        return kind.restored(columns, totals, meta)
    except DomainError as error:
        raise _damaged_column(error, file) from error
    except (TypeError, ValueError) as error:
        raise ReaderError("damaged-samples", file=file) from error


def _document(data: bytes, file: str) -> Any:
    """Return the JSON in a file, compressed or not."""
    try:
        if data[:2] == b"\x1f\x8b":
            most = min(MAX_FILE_BYTES, max(MAX_INFLATED_BYTES, MAX_INFLATED_RATIO * len(data)))
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(most + 1)
            if len(data) > most:
                raise ReaderError("samples-too-large", file=file, limit_bytes=most)
        if len(data) > MAX_FILE_BYTES:
            raise ReaderError("samples-too-large", file=file, limit_bytes=MAX_FILE_BYTES)
        return json.loads(data, object_pairs_hook=partial(_without_twins, file))
    except ReaderError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
        raise ReaderError("incomplete-json", file=file) from error


def _without_twins(file: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of names and values; of two values of one name neither is certain."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ReaderError("two-of-one-name", file=file, field=name[:_LONGEST])
        found[name] = value
    return found


_LONGEST = 60
"""Characters of a name or a value that an error keeps."""


def _shown(value: Any) -> str:
    """Return a value as the file has it, or its beginning."""
    return (value if isinstance(value, str) else json.dumps(value))[:_LONGEST]


_TYPES = {
    str: "text",
    dict: "an object",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def _wrong_type(field: str, value: Any, wanted: type, file: str) -> ReaderError:
    return ReaderError(
        "part-of-other-type",
        file=file,
        field=field[:_LONGEST],
        value=_shown(value),
        wanted=_TYPES[wanted],
    )


def _part(document: Mapping[str, Any], name: str, wanted: type, file: str) -> Any:
    """Return a part of a file, which is of the type wanted."""
    if name not in document:
        raise ReaderError("part-missing", file=file, field=name)
    if type(document[name]) is not wanted:
        raise _wrong_type(name, document[name], wanted, file)
    return document[name]


def _meta(document: Mapping[str, Any], file: str) -> Meta:
    """Return the facts of samples; names of a later minor format are passed over."""
    known: dict[str, Any] = _experiment_of_before(document)
    for name, wanted in _META_TYPES.items():
        if name not in document:
            continue
        value = document[name]
        if type(value) is not wanted:
            raise _wrong_type(f"meta.{name}", value, wanted, file)
        known[name] = value
    for name, value in known.items():
        _check_numbers(value, f"meta.{name}", name, file)
    if not 1 <= known.get("schema", SCHEMA) <= SCHEMA:
        raise ReaderError(
            "later-schema" if known["schema"] > SCHEMA else "no-schema",
            file=file, field="meta.schema", value=str(known["schema"]), highest=SCHEMA,
        )  # fmt: skip
    other = misfit(known)
    if other is not None:
        name, value, needed = other
        field = f"meta.{name}"[:_LONGEST]
        raise ReaderError(
            "part-of-other-type", file=file, field=field, value=_shown(value), wanted=needed
        )
    try:
        notices = tuple(map(Notice.load, known.pop("warnings", ())))
    except TypeError as error:
        raise ReaderError("damaged-samples", file=file, field="meta.warnings") from error
    for row in known.get("facts", ()):
        _check_facts(row, file)
    return Meta(**known, warnings=notices)


def _check_units(kind: Any, meta: Meta, file: str) -> None:
    """Insist on the units of the columns that a kind has: their numbers are in no others."""
    for name, unit in meta.units.items():
        wanted = kind.column_units.get(name, unit)
        if unit != wanted:
            raise ReaderError(
                "saved-unit", file=file, field=f"meta.units.{name}", value=_shown(unit),
                wanted=wanted,
            )  # fmt: skip


def _check_numbers(part: Any, field: str, name: str, file: str) -> None:
    """Insist on the limits of all numbers in a part of a file."""
    broken = first_fault(part, field, name)
    if broken is not None:
        code, where, number = broken
        raise ReaderError(code, file=file, field=where[:_LONGEST], value=str(_short(number)))


def _short(number: float) -> float | str:
    """Return a number, or the beginning of one that has hundreds of digits."""
    digits = str(number)
    return number if len(digits) <= _LONGEST else f"{digits[:20]}... ({len(digits)} digits)"


def _check_facts(row: Any, file: str) -> None:
    """Insist on a row of facts: an object of names and single values of the kind of each name."""
    if type(row) is not dict:
        raise _wrong_type("meta.facts", row, dict, file)
    for name, value in row.items():
        unit = unit_of_fact(name)
        wanted = {"text": str, "bool": bool}.get(str(unit), float)
        of_kind = type(value) is wanted or (wanted is float and type(value) is int)
        if not (of_kind if unit else type(value) in (str, int, float, bool)):
            raise _wrong_type(f"meta.facts.{name}", value, wanted, file)


_META_TYPES: dict[str, type] = {
    **{item.name: str for item in fields(Meta)},
    **dict.fromkeys(("units", "layers", "resolutions", "printed", "instrument", "guess"), dict),
    "facts": list,
    "warnings": list,
    "partial": bool,
    "schema": int,
}

# How live runs named themselves before their files had a field for the experiment.
_EXPERIMENTS = {
    "netcalc echo": "echo",
    "netcalc bulk": "bulk",
    "netcalc line-rate": "line_rate",
    "netcalc lockstep": "lockstep",
    "netcalc small-writes": "small_writes",
    "netcalc transactions": "transactions",
    "netcalc probing": "probing",
    "netcalc packet trains": "packet_trains",
}
_ALWAYS_UDP = {"probing", "packet_trains"}


def _experiment_of_before(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return experiment and protocol of a file that has neither, where its tool says them."""
    experiment = _EXPERIMENTS.get(str(document.get("tool")))
    if experiment is None or "experiment" in document:
        return {}
    protocol = str(document.get("target")).rpartition(", ")[2].lower()
    if experiment in _ALWAYS_UDP:
        protocol = "udp"
    named = protocol if protocol in ("udp", "tcp", "icmp") else ""
    return {"experiment": experiment, "protocol": named}


def _totals(kind: Any, document: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the numbers besides the columns."""
    known = {item.name for item in fields(kind)} - {"meta", "data", *kind.column_units}
    for name, value in document.items():
        if name not in known:
            raise ReaderError("no-such-part", file=file, field=name[:_LONGEST])
        if name in kind.text_lists:
            if type(value) is not list or not all(type(item) is str for item in value):
                raise _wrong_type(name, value, list, file)
        elif value is not None:
            # Each is a count, a size or a time in nanoseconds.
            if type(value) not in (int, float):
                raise _wrong_type(name, value, float, file)
            _check_numbers(value, name, name, file)
            if value != int(value):
                raise _wrong_type(name, value, int, file)
    return {n: int(value) if type(value) is float else value for n, value in document.items()}


_RENAMED = {("TrainSamples", "place"): "index"}
"""Columns that had another name in files of before: their kind and that name."""


def _columns(kind: Any, document: Mapping[str, Any], file: str) -> dict[str, list[Any]]:
    """Return the columns; numpy would convert text among numbers, so that is refused here."""
    units = kind.column_units
    required = {item.name for item in fields(kind) if item.default is MISSING} & set(units)
    written_names = {_RENAMED.get((kind.__name__, name), name) for name in document}
    for name in sorted(required - written_names):
        raise ReaderError("part-missing", file=file, field=name)
    columns = {}
    for written, stored in document.items():
        name = _RENAMED.get((kind.__name__, written), written)
        if name in columns:
            raise ReaderError("two-of-one-name", file=file, field=name[:_LONGEST])
        if units and name not in units:
            raise ReaderError("no-such-part", file=file, field=name[:_LONGEST])
        if type(stored) is not list:
            raise _wrong_type(name, stored, list, file)
        columns[name] = from_json(stored)
        if units:
            _check_rows(name, columns[name], units[name], file)
        else:
            _check_cells(name, columns[name], file)
        _check_row_numbers(name, columns[name], units.get(name, ""), file)
    rows = max(map(len, columns.values()), default=0)
    for name in sorted(required):
        if not columns[name] and rows:
            raise ReaderError(
                "columns-of-other-length", file=file, field=name, found=0, wanted=rows
            )
    return columns


def _check_cells(name: str, column: list[Any], file: str) -> None:
    """Insist on numbers, on flags or on texts in a column of a table; a text may be missing."""
    kinds = {float if type(item) is int else type(item) for item in column} - {NoneType}
    wanted = next((one for one in (str, bool) if one in kinds), float)
    for row, item in enumerate(column, 1):
        if item is not None and type(item) not in ((float, int) if wanted is float else (wanted,)):
            raise ReaderError(
                "row-of-other-type", file=file, field=name, value=_shown(item),
                wanted=_TYPES[wanted], row=row,
            )  # fmt: skip


def _check_rows(name: str, column: list[Any], unit: str, file: str) -> None:
    wanted: tuple[type, ...] = {"bool": (bool,), "text": (str,)}.get(unit, (float, int))
    for found in {type(item) for item in column} - set(wanted):
        row = next(row for row, item in enumerate(column, 1) if type(item) is found)
        raise ReaderError(
            "row-of-other-type",
            file=file,
            field=name,
            value=_shown(column[row - 1]),
            wanted=_TYPES[wanted[0]],
            row=row,
        )


def _check_row_numbers(name: str, column: list[Any], unit: str, file: str) -> None:
    for row, item in enumerate(column, 1):
        if type(item) not in (int, float):
            continue
        code = row_fault(item, name, unit)
        if code is not None:
            raise ReaderError(code, file=file, field=name, found=_short(item), row=row)


def _damaged_column(error: DomainError, file: str) -> ReaderError:
    """Say of a file why its columns make no samples."""
    if error.code == "is-negative":
        row = error.values["index"] + 1
        found = _short(error.value)
        return ReaderError("row-negative", file=file, field=error.name, found=found, row=row)
    if error.code == "unequal-columns":
        return ReaderError(
            "columns-of-other-length",
            file=file,
            field=error.name,
            found=error.value,
            wanted=error.values["expected"],
        )
    if error.code == "column-not-whole":
        row = error.values["index"] + 1
        return ReaderError("row-not-whole", file=file, field=error.name, found=error.value, row=row)
    return ReaderError("damaged-samples", file=file, field=error.name)
