"""Files of samples: written complete or not at all, in lines, and read back part by part."""

from __future__ import annotations

import errno
import glob
import gzip
import hashlib
import io
import json
import math
import os
import stat
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Self, get_type_hints

import numpy as np

from netcalc import documents
from netcalc.checks import named_arguments
from netcalc.documents import LONGEST_SHOWN, Place, Rule, shown
from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError, ReaderError
from netcalc.messages import Notice
from netcalc.samples import growing
from netcalc.samples.meta import (
    REVISION,
    SCHEMA,
    Instrument,
    Meta,
    first_fault,
    row_fault,
    unit_of_fact,
)
from netcalc.version import __version__

_PART = ".netcalc-"

_NAME_CHARS = 50  # of the name in that of the part, which may not be longer than 255 bytes


@named_arguments
def write_atomically(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a file that is complete or absent; a symbolic link stays and its target is written.

    With ``sync`` the file and its name are on the disk afterwards, whatever happens to the machine.

    Raises
    ------
    OSError
        With the name of the file: the disk is full, or the path is a device or a pipe.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    try:
        _write_and_move(target, data, sync=sync)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write_and_move(path: Path, data: bytes, *, sync: bool) -> None:
    _remove_leftovers(path)
    handle, temporary = _own_part(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            if sync:
                os.fsync(handle)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can."""
    with suppress(OSError):  # Windows opens no folder, and some file systems sync none
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _own_part(path: Path) -> tuple[int, Path]:
    """Open a new file beside another one, locked so that no process takes it for a leftover."""
    prefix = path.name[:_NAME_CHARS] + _PART
    for _ in range(3):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".part")
        _lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # another process removed it before it was locked
    return handle, Path(name)


def _remove_leftovers(path: Path) -> None:
    """Remove the parts that killed programs left beside a file: no process holds their lock."""
    for left in path.parent.glob(glob.escape(path.name[:_NAME_CHARS]) + _PART + "*.part"):
        with suppress(OSError), left.open("rb") as stream:
            if _lock(stream.fileno(), wait=False):
                left.unlink()


def _lock(descriptor: int, *, wait: bool) -> bool | None:
    """Lock an open file; return False if another program has, None if none can here."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # no such system, or a file system without locks
        return None
    return True


def json_ready(value: Any) -> Any:
    """Turn arrays, mappings and numbers into JSON values; nan is null, inf is text."""
    if isinstance(value, np.ndarray) and value.ndim:
        items = value.tolist()
        if value.ndim > 1 or value.dtype.kind not in "biuf":
            return [json_ready(item) for item in items]
        for index in np.flatnonzero(~np.isfinite(value)).tolist():
            items[index] = None if math.isnan(items[index]) else str(items[index])
        return items
    if isinstance(value, np.ndarray):
        return json_ready(value.item())
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def from_json(column: list[Any]) -> list[Any]:
    """Undo :func:`json_ready` for a column: null is nan among numbers, "inf" is inf."""
    if any(isinstance(item, str) and item not in ("inf", "-inf") for item in column):
        return column
    return [math.nan if item is None else float(item) if isinstance(item, str) else item
            for item in column]  # fmt: skip


def checksum(columns: Mapping[str, Any]) -> str:
    """Return the SHA-256 of columns by name, of their values: however a file writes them.

    Parameters
    ----------
    columns : mapping of str to sequence
        Arrays, or lists as :func:`from_json` returns them.
    """
    digest = hashlib.sha256()
    for name in sorted(columns):
        column = columns[name]
        digest.update(f"{name} {len(column)}\n".encode("utf-8", "surrogatepass"))
        digest.update(_values(column))
    return digest.hexdigest()


def _values(column: Any) -> bytes:
    """Return the values of a column as bytes: of flags, of numbers as float64, or of texts."""
    if not isinstance(column, np.ndarray):
        kinds = set(map(type, column))
        if kinds == {bool}:
            column = np.array(column)
        elif kinds <= {int, float}:
            column = np.array(column, dtype=np.float64)
    if not isinstance(column, np.ndarray):
        return json.dumps(column).encode()
    if column.dtype.kind == "b":
        return column.tobytes()
    if column.dtype.kind not in "iuf":
        return _values(from_json(json_ready(column)))
    numbers = column.astype("<f8")
    numbers[np.isnan(numbers)] = np.nan  # there are many kinds of nan, and a file has one
    return numbers.tobytes()


@named_arguments
def json_line(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line of JSON, its end included."""
    return (json.dumps(json_ready(row), ensure_ascii=True) + "\n").encode()


class LineFile:
    """A file of JSON lines that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there.
    busy : str
        Code of the error if another process has it open; without one nobody is kept out.

    Raises
    ------
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written, or is a folder, a device or a pipe.
    """

    def __init__(self, path: Path, *, busy: str = "") -> None:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        try:
            if busy and _lock(self._handle, wait=False) is False:
                raise NetcalcError(busy, file=str(path))
        except BaseException:
            self.close()
            raise

    def append(self, rows: Iterable[Mapping[str, Any]], *, sync: bool = False) -> None:
        """Append rows, all or none of them; with ``sync`` they are on the disk afterwards.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        self.append_bytes(b"".join(map(json_line, rows)), sync=sync)

    def append_bytes(self, added: bytes, *, sync: bool = False) -> None:
        """Append lines, all or none of them, as :meth:`append` does."""
        data = memoryview(added)
        size, complete = os.fstat(self._handle).st_size, False
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            if sync:
                os.fsync(self._handle)
            complete = True
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        finally:
            if not complete:  # not written, or interrupted
                with suppress(OSError):
                    self.cut(size)

    def cut(self, size_bytes: int) -> None:
        """Cut the file off: a line that a killed program left."""
        os.ftruncate(self._handle, size_bytes)

    def is_at(self, path: Path) -> bool:
        """Whether the file is still the one of this name."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._handle), path.stat())
        return False

    def close(self) -> None:
        """Close the file; what was added stays."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GrowingFile:
    """A file of samples during a run; a run that is killed leaves it, and it is read as partial.

    It is made when there is something to write, in place of one that has its name.

    Parameters
    ----------
    path : Path
        The file; what is added is compressed if it ends in ``.gz``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: LineFile | None = None
        self._columns: Mapping[str, Any] = {}
        self._waiting: list[Any] = []
        self._row_count = 0

    def keep(self, samples: Any) -> None:
        """Write the samples so far: only the rows from the first that is another one than before.

        Raises
        ------
        OSError
            With the name of the file: the disk is full. What was written before stays.
        """
        columns = samples.columns()
        first = growing.first_change(self._columns, columns)
        self._write(samples, first, {name: column[first:] for name, column in columns.items()})
        self._columns = columns

    def add(self, samples: Any) -> None:
        """Write samples behind those that are there, and before them what could not be written.

        Raises
        ------
        OSError
            With the name of the file: the disk is full. The next call writes them.
        """
        self._waiting.append(samples)
        while self._waiting:
            added = self._waiting[0]
            self._write(added, self._row_count, added.columns())
            self._row_count += len(added)
            del self._waiting[0]

    def _write(self, samples: Any, first: int, columns: Mapping[str, Any]) -> None:
        data = growing.line(first, samples.beside(), columns)
        if self._file is None:
            data = growing.head(head(type(samples).__name__)) + data
        if self._path.suffix == ".gz":
            data = gzip.compress(data, compresslevel=1, mtime=0)
        if self._file is None:
            write_atomically(self._path, data, sync=False)
            self._file = LineFile(self._path)
        elif not self._file.is_at(self._path):
            raise OSError(errno.ESTALE, "another program has replaced it", str(self._path))
        else:
            self._file.append_bytes(data)

    def close(self) -> None:
        """Write no more; the file stays."""
        if self._file is not None:
            self._file.close()
            self._file = None


_CODES = {
    "syntax": "incomplete-json",
    "twice": "two-of-one-name",
    "missing": "part-missing",
    "unknown": "no-such-part",
    "kind": "part-of-other-type",
    "range": "part-of-other-type",
    "pattern": "part-of-other-type",
}
MAX_FILE_BYTES = 1 << 28
"""Largest file of saved samples that is read, compressed or not. [byte]"""

MAX_INFLATED_BYTES = 1 << 27
MAX_INFLATED_RATIO = 40
"""Samples may be this large when uncompressed, or as many times their file if that is more: an
even run of 10^6 probes is 93 MB, 21 times its file."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file of samples.

    Raises
    ------
    ReaderError
        If it is no regular file, cannot be read, or is larger than samples may be.
    """
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
        return Path(path).read_bytes()
    except ReaderError:
        raise
    except (OSError, ValueError) as error:  # a name with a null character is no name
        reason = getattr(error, "strerror", None) or str(error)
        raise ReaderError("unreadable-file", file=str(path), reason=reason) from error


def restored(data: bytes, file: str, kinds: Mapping[str, Any]) -> Any:
    """Return the samples in the bytes of a saved file, of one of the containers by name."""
    if not isinstance(data, str | bytes | bytearray):
        raise ArgumentTypeError("not-of-class", "data", type(data).__name__, expected="bytes")
    if not isinstance(file, str):
        raise ArgumentTypeError("not-text", "file", type(file).__name__, example="run.json")
    at = Place(file, _CODES, saved=True)
    document = _document(data, at)
    if not isinstance(document, dict) or document.get("format") != "netcalc samples":
        raise at.refused("not-saved-samples")
    _check_schema(document.get("schema"), at.inside("schema"))
    try:
        return _restored(document, at, kinds)
    except ReaderError as error:
        revision = document.get("revision")
        if type(revision) is not int or revision <= REVISION or error.code not in _OF_LATER:
            raise
        version = shown(document.get("version"))
        raise ReaderError(
            "later-samples", file=file, field=error.field, version=version, own_version=__version__
        ) from error


_OF_LATER = {"unknown-kind", "no-such-part", "part-missing", "part-of-other-type",
             "row-of-other-type"}  # fmt: skip
"""Codes of what a later version may have changed."""


def head(kind: str) -> dict[str, Any]:
    """Return what every file of samples begins with."""
    return {
        "format": "netcalc samples", "schema": SCHEMA, "revision": REVISION,
        "version": __version__, "kind": kind,
    }  # fmt: skip


def _restored(document: Mapping[str, Any], at: Place, kinds: Mapping[str, Any]) -> Any:
    """Return the samples of a document."""
    name = document.get("kind")
    if not isinstance(name, str) or name not in kinds:
        raise at.inside("kind").refused("unknown-kind", value=shown(name), known=list(kinds))
    kind = kinds[name]
    parts = documents.load(_Parts, document, at)
    meta = _meta(parts.meta, at.inside("meta"))
    _check_units(kind, meta, at.inside("meta").inside("units"))
    columns = _columns(kind, parts.columns, at)
    totals = _totals(kind, parts.fields, at)
    try:
        samples = kind.restored(columns, totals, meta)
    except DomainError as error:
        raise _damaged_column(error, at.inside(error.name)) from error
    except (TypeError, ValueError) as error:
        raise at.refused("damaged-samples") from error
    if parts.columns_sha256 not in ("", checksum(columns)):
        raise at.inside("columns").refused("samples-changed")
    return samples


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """The parts of a file besides its format, its schema and its kind."""

    meta: dict[str, Any]
    columns: dict[str, Any]
    fields: dict[str, Any] = field(default_factory=dict)
    columns_sha256: str = ""


def _document(data: bytes, at: Place) -> Any:
    """Return the JSON in a file, compressed or not."""
    if data[:2] == b"\x1f\x8b":
        data = _inflated(data, at)
    if len(data) > MAX_FILE_BYTES:
        raise at.refused("samples-too-large", limit_bytes=MAX_FILE_BYTES)
    given: Any = data  # a text, too, as a user may hand it in
    raw = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else bytes(given)
    if _grows(begin := raw.lstrip(_BEFORE)):
        return growing.assembled(begin, at)
    return documents.read_json(data, at)


_BEFORE = b"\xef\xbb\xbf \t\r\n"
"""What may be in front: a byte order mark, blank lines."""


def _grows(data: bytes) -> bool:
    return data.startswith(growing.HEAD)


def _inflated(data: bytes, at: Place) -> bytes:
    """Return what is in a compressed file; of one that grows, up to where it is cut off."""
    most = min(MAX_FILE_BYTES, max(MAX_INFLATED_BYTES, MAX_INFLATED_RATIO * len(data)))
    inflated = bytearray()
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            while part := stream.read1(1 << 20):
                inflated += part
                if len(inflated) > most:
                    raise at.refused("samples-too-large", limit_bytes=most)
    except (OSError, EOFError, zlib.error) as error:
        if not _grows(bytes(inflated[:100])):
            raise at.refused("syntax") from error
    return bytes(inflated)


def _check_schema(schema: Any, at: Place) -> None:
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        is_later = type(schema) is int and schema > SCHEMA
        code = "later-schema" if is_later else "no-schema"
        raise at.refused(code, value=shown(schema), highest=SCHEMA)


def _meta(document: Mapping[str, Any], at: Place) -> Meta:
    """Return the facts of samples; names of a later minor format are passed over."""
    facts: dict[str, Any] = _experiment_of_before(document)
    facts |= {name: document[name] for name in _META if name in document}
    for name, value in facts.items():
        documents.convert(value, _META[name], at.inside(name))
    for name, value in facts.items():
        _check_numbers(value, name, at.inside(name))
    _check_schema(facts.get("schema", SCHEMA), at.inside("schema"))
    strict = replace(at, saved=False)  # null is no resolution, and no guess
    for part in ("units", "layers", "resolutions", "guess"):
        for name, value in facts.get(part, {}).items():
            here = strict.inside(part).inside(name)
            if part == "resolutions":
                documents.convert(value, _Resolution, here)
            elif (part, name) == ("guess", "value"):
                documents.convert(value, float, here)
            elif not documents.convert(value, str, here).isprintable():
                raise here.refused("kind", value=shown(value), wanted="plain text")
    hints = _instrument_hints()
    for name, value in facts.get("instrument", {}).items():
        documents.convert(value, hints.get(name, Any), at.inside("instrument").inside(name))
    _check_path(facts.get("instrument", {}).get("truth") or {},
                at.inside("instrument").inside("truth"))  # fmt: skip
    _check_summary(facts.get("printed", {}), at.inside("printed"))
    try:
        notices = tuple(map(Notice.load, facts.pop("warnings", ())))
    except TypeError as error:
        raise at.inside("warnings").refused("damaged-samples") from error
    for row in facts.get("facts", ()):
        _check_facts(row, at.inside("facts"))
    return Meta(**facts, warnings=notices)


_META: dict[str, type] = {
    **{item.name: str for item in fields(Meta)},
    **dict.fromkeys(("units", "layers", "resolutions", "printed", "instrument", "guess"), dict),
    "facts": list,
    "warnings": list,
    "partial": bool,
    "schema": int,
}
_Resolution = Annotated[float, Rule(low=5e-324, form="a number above 0")]


@cache
def _instrument_hints() -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(Instrument).items() if name != "other"}


_OF_LINKS = ("bandwidths_bps", "latencies_s", "processings_s")


def _check_path(truth: Mapping[str, Any], at: Place) -> None:
    """Insist on a rate and a latency of each link of an emulated path."""
    if not truth.keys() & set(_OF_LINKS):
        return
    rates = truth.get("bandwidths_bps")
    links = len(rates) if isinstance(rates, list) else 0
    for name in _OF_LINKS:
        values, count = truth.get(name), links + (name == "processings_s")
        numbers = isinstance(values, list) and all(
            type(value) in (int, float) and value >= 0 for value in values
        )
        if not numbers or not values or len(values) != count:
            needed = f"a list of {count or 'some'} numbers from 0"
            raise at.inside(name).refused("kind", value=shown(values), wanted=needed)
    if not all(rate > 0 for rate in rates or ()):
        needed = "a list of numbers above 0"
        raise at.inside("bandwidths_bps").refused("kind", value=shown(rates), wanted=needed)
    framings = truth.get("framings", ["none"] * links)
    if (
        not isinstance(framings, list)
        or len(framings) != links
        or not all(framing in ("none", "ethernet") for framing in framings)
    ):
        needed = f"a list of {links} of none, ethernet"
        raise at.inside("framings").refused("kind", value=shown(framings), wanted=needed)


_SUMMARY_NUMBERS = frozenset(
    {"sent", "received", "duplicates", "errors", "corrupted", "loss_ratio", "duration_s"}
    | {f"rtt_{what}_s" for what in ("min", "avg", "max", "mdev")}
)
"""What a summary says as a number."""


def _check_summary(printed: Mapping[str, Any], at: Place) -> None:
    for name, value in printed.items():
        here = at.inside(name)
        if name in _SUMMARY_NUMBERS:
            documents.convert(value, float, here)
        elif name == "runs":
            runs = documents.convert(value, list[Annotated[dict[str, Any], Rule()]], here)
            for index, run in enumerate(runs):
                _check_summary(run, here.inside(index))


def _check_units(kind: Any, meta: Meta, at: Place) -> None:
    """Insist on the units of the columns that a kind has: their numbers are in no others."""
    for name, unit in meta.units.items():
        needed = kind.column_units.get(name, unit)
        if unit != needed:
            raise at.inside(name).refused("saved-unit", value=shown(unit), wanted=needed)


def _check_numbers(part: Any, name: str, at: Place) -> None:
    """Insist on the limits of all numbers in a part of a file."""
    broken = first_fault(part, at.path, name)
    if broken is not None:
        code, path, number = broken
        raise replace(at, path=path[:LONGEST_SHOWN]).refused(code, value=str(_short(number)))


def _short(number: float) -> float | str:
    """Return a number, or the beginning of one that has hundreds of digits."""
    digits = str(number)
    if len(digits) <= LONGEST_SHOWN:
        return number
    return f"{digits[:20]}... ({len(digits)} digits)"


def _check_facts(row: Any, at: Place) -> None:
    """Insist on a row of facts: an object of names and single values of the kind of each name."""
    for name, value in documents.convert(row, dict[str, Any], at).items():
        unit = unit_of_fact(name)
        needed = {"text": str, "bool": bool}.get(str(unit), float)
        of_kind = type(value) is needed or (needed is float and type(value) is int)
        if not (of_kind if unit else type(value) in (str, int, float, bool)):
            raise _other_type(value, needed, at.inside(name))


def _other_type(value: Any, needed: Any, at: Place) -> ReaderError:
    return at.refused("kind", value=shown(value), wanted=documents.described(needed))


# How live runs named themselves before their files had a field for the experiment.
_EXPERIMENTS = {
    "echo", "bulk", "line-rate", "lockstep", "small-writes", "transactions", "probing",
    "packet trains", "truth",  # the last so that a table of truth is told by its code
}  # fmt: skip
_ALWAYS_UDP = {"probing", "packet_trains"}


def _experiment_of_before(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return experiment and protocol of a file that has neither, where its tool says them."""
    netcalc, _, name = str(document.get("tool")).partition(" ")
    if netcalc != "netcalc" or name not in _EXPERIMENTS or "experiment" in document:
        return {}
    experiment = name.replace("-", "_").replace(" ", "_")
    protocol = str(document.get("target")).rpartition(", ")[2].lower()
    if experiment in _ALWAYS_UDP:
        protocol = "udp"
    named = protocol if protocol in ("udp", "tcp", "icmp") else ""
    return {"experiment": experiment, "protocol": named}


def _totals(kind: Any, document: Mapping[str, Any], at: Place) -> dict[str, Any]:
    """Return the numbers besides the columns."""
    names = {item.name for item in fields(kind)} - {"meta", "data", *kind.column_units}
    for name, value in document.items():
        here = at.inside(name)
        if name not in names:
            raise here.refused("unknown")
        if name in kind.text_lists:
            if type(value) is not list or not all(type(item) is str for item in value):
                raise _other_type(value, list, here)
        elif value is not None:
            # Each is a count, a size or a time in nanoseconds.
            if type(value) not in (int, float):
                raise _other_type(value, float, here)
            _check_numbers(value, name, here)
            if value != int(value):
                raise _other_type(value, int, here)
    return {n: int(value) if type(value) is float else value for n, value in document.items()}


_RENAMED = {("TrainSamples", "place"): "index"}
"""Columns that had another name in files of before: their kind and that name."""


def _columns(kind: Any, document: Mapping[str, Any], at: Place) -> dict[str, list[Any]]:
    """Return the columns; numpy would convert text among numbers, so that is refused here."""
    units = kind.column_units
    required = {item.name for item in fields(kind) if item.default is MISSING} & set(units)
    written_names = {_RENAMED.get((kind.__name__, name), name) for name in document}
    for name in sorted(required - written_names):
        raise at.inside(name).refused("missing")
    columns = {}
    for written, stored in document.items():
        name = _RENAMED.get((kind.__name__, written), written)
        here = at.inside(name)
        if name in columns:
            raise here.refused("twice")
        if units and name not in units:
            raise here.refused("unknown")
        if type(stored) is not list:
            raise _other_type(stored, list, here)
        columns[name] = from_json(stored)
        _check_rows(columns[name], name, units.get(name, ""), here, name in kind.may_be_unknown)
    rows = max(map(len, columns.values()), default=0)
    for name in sorted(required):
        if not columns[name] and rows:
            raise at.inside(name).refused("columns-of-other-length", found=0, wanted=rows)
    return columns


def _check_rows(column: list[Any], name: str, unit: str, at: Place, may_be_unknown: bool) -> None:
    """Insist on numbers, on flags or on texts in a column, and on the limits of its numbers.

    Those of a table have no unit here, but are of one type; a text may be missing.
    """
    allowed: tuple[type, ...] = {"bool": (bool,), "text": (str,)}.get(unit, (float, int))
    kinds = {type(item) for item in column}
    if not unit:
        of_table = next((kind for kind in (str, bool) if kind in kinds), None)
        allowed = (*((of_table,) if of_table else allowed), NoneType)
    if not kinds <= set(allowed):
        row, item = next((n, x) for n, x in enumerate(column, 1) if type(x) not in allowed)
        needed = documents.described(allowed[0])
        raise at.refused("row-of-other-type", value=shown(item), wanted=needed, row=row)
    for row, item in enumerate(column, 1):
        code = row_fault(item, name, unit) if type(item) in (int, float) else None
        if code is not None and not (code == "row-unknown" and may_be_unknown):
            raise at.refused(code, found=_short(item), row=row)


def _damaged_column(error: DomainError, at: Place) -> ReaderError:
    """Say of a file why its columns make no samples."""
    if error.code == "unequal-columns":
        lengths = {"found": error.value, "wanted": error.values["expected"]}
        return at.refused("columns-of-other-length", **lengths)
    code = {"is-negative": "row-negative", "column-not-whole": "row-not-whole"}.get(error.code)
    if code is None:
        return at.refused("damaged-samples")
    return at.refused(code, found=_short(error.value), row=error.values["index"] + 1)
