"""The bundled data sets: every number printed in the five sources, with its page and verdict.

What was read off the figures of one of them is there as well, with its reading error.

>>> points = load("wan_curves", series="connix.com - noao.edu")
>>> points.payload_bytes.tolist(), points.rtt_s.tolist()
([0.0, 1400.0], [0.08, 0.193])
>>> info("wan_curves").series
'path'

Each set is a file in ``data/``, a CSV or the output of a tool, with a sheet that documents it: its
source and page, how it was measured, its errors and its gaps. ``index.json`` has the SHA-256 of
each file; a file that differs is refused by name, the others work.

``data/puzzles`` has measurements recorded over paths of known truth, for lesson 8: see
:func:`puzzles`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from netcalc.checks import named_arguments
from netcalc.errors import DatasetError, DomainError
from netcalc.samples import KINDS, Meta, Samples, Table

__all__ = [
    "Column", "Dataset", "Puzzle", "damaged", "data_folder", "describe", "info", "load",
    "names", "path", "points_by", "printed_numbers", "puzzle", "puzzles", "series",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

_BUNDLED = Path(__file__).parent / "_bundled" / "data"
_CHECKOUT = Path(__file__).parent.parent / "data"
_INDEX = "index.json"
_PUZZLES = "puzzles/manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Facts about one column of a data set.

    Parameters
    ----------
    unit : str
        SI unit, or ``text``.
    layer : str
        Layer at which a size or rate is counted, or whose clock took a time.
    origin : str
        ``stated`` or ``derived``; empty for remarks.
    meaning : str
        Its meaning, in a few words.
    """

    unit: str
    layer: str
    origin: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Facts about one bundled data set.

    Parameters
    ----------
    name, title : str
        Its name in :func:`load`, and a title.
    kind : str
        The container of :mod:`netcalc.samples` that a series loads into.
    series : str
        The column that names the series of a row; empty if the set is one series.
    roles : mapping of str to str
        Which column of the file becomes which column of the container; empty for a table.
    rows : int
        Number of rows.
    columns : mapping of str to Column
        Its columns, in the order of the file; none if the file is the output of a tool.
    source, licence : str
        The work it is from, and its terms of use.
    file, sheet, sha256 : str
        Names of the data file and of the sheet, and the hash of the data file.
    """

    name: str
    title: str
    kind: str
    series: str
    roles: Mapping[str, str]
    rows: int
    columns: Mapping[str, Column]
    source: str
    licence: str
    file: str
    sheet: str
    sha256: str

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column."""
        return {name: column.unit for name, column in self.columns.items()}

    @property
    def layers(self) -> dict[str, str]:
        """The layer of each column that has one."""
        return {name: column.layer for name, column in self.columns.items() if column.layer}


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A measurement recorded over a path whose truth is known, with a question and its answer.

    Parameters
    ----------
    name, title, question, answer : str
        Its name in :func:`puzzle`, and texts for people.
    file, sha256 : str
        Name of the file in ``data/puzzles``, and its hash.
    tool, tool_version : str
        What wrote the file.
    commands : tuple of str
        How it was recorded; B is the far end.
    stated : mapping of str to float
        Facts that the question states, by the names of :class:`netcalc.explain.Known`.
    truth : mapping
        The settings: link parameters in SI units, and options of the hosts.
    """

    name: str
    title: str
    question: str
    answer: str
    file: str
    sha256: str
    tool: str
    tool_version: str
    commands: tuple[str, ...]
    stated: Mapping[str, float]
    truth: Mapping[str, Any]

    def load(self) -> Samples:
        """Read the file; a missing or changed one raises DatasetError."""
        from netcalc.readers import read  # late: the list of what there is does without

        return read(_intact(f"puzzles/{self.file}", self.sha256), name=self.file)


@named_arguments
def data_folder() -> Path:
    """Return the folder of the data files: in the installed package, or of the checkout."""
    for folder in (_BUNDLED, _CHECKOUT):
        if (folder / _INDEX).is_file():
            return folder
    raise DatasetError("data-missing", file=str(_BUNDLED / _INDEX), name=_INDEX)


@named_arguments
def names() -> list[str]:
    """Return the names of all data sets.

    Examples
    --------
    >>> names()[:3]
    ['latency_and_bandwidth', 'transfer_times', 'wan_round_trips']
    """
    return list(_index())


@named_arguments
def info(name: str) -> Dataset:
    """Return the facts about a data set.

    Raises
    ------
    DomainError
        If there is no set of this name.
    DatasetError
        If the index is missing or damaged.

    Examples
    --------
    >>> info("audit").rows
    327
    """
    sets = _index()
    if name not in sets:
        near = get_close_matches(str(name), sets, n=3, cutoff=0.4)
        raise DomainError("no-such-dataset", "name", name, suggestions=near, known=list(sets))
    return sets[name]


@named_arguments
def describe(name: str) -> str:
    """Return the data sheet of a set, as Markdown; a missing one raises DatasetError."""
    sheet = info(name).sheet
    try:
        return _read(sheet).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged("sheet-damaged", sheet) from error


@named_arguments
def path(name: str) -> Path:
    """Return the path of a set's data file; a missing one raises DatasetError."""
    file = data_folder() / info(name).file
    if not file.is_file():
        raise _damaged("data-missing", file.name)
    return file


@named_arguments
def series(name: str) -> list[str]:
    """Return the series of a set that :func:`load` can pick; none if the set is one series.

    Examples
    --------
    >>> series("nagle_round_trips")
    ['Nagle on', 'Nagle off', 'Nagle on, flush', 'single write']
    """
    column = info(name).series
    return _distinct(_table(info(name)), column) if column else []


@named_arguments
def load(name: str, *, series: str | None = None) -> Samples:
    """Load a data set into the container that fits it.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    series : str, optional
        One of :func:`series`: the rows of this one alone, in the kind that :func:`info` names. A
        set of several series loads whole as a :class:`~netcalc.samples.Table`.

    Returns
    -------
    Samples
        The columns, with their units, layers, source and hash in ``meta``.

    Raises
    ------
    DomainError
        If there is no such set, or no such series in it.
    DatasetError
        If the file is missing or differs from what was shipped.
    """
    dataset = info(name)
    if not dataset.columns:
        return _recorded(dataset)
    table = _table(dataset)
    if series is None:
        return table if dataset.series else _as_kind(table, dataset)
    if not dataset.series:
        raise DomainError("no-series", "series", series, dataset=name)
    names = _distinct(table, dataset.series)
    if series not in names:
        raise DomainError("no-such-series", "series", series, dataset=name, known=names)
    chosen = table[dataset.series] == series
    picked = {column: values[chosen] for column, values in table.columns().items()}
    return _as_kind(Table(data=picked, meta=table.meta), dataset, target=series)


@named_arguments
def puzzles() -> list[str]:
    """Return the names of all puzzles, in the order of the lesson.

    Examples
    --------
    >>> len(puzzles())
    10
    """
    return list(_manifest())


@named_arguments
def puzzle(name: str) -> Puzzle:
    """Return a puzzle.

    Raises
    ------
    DomainError
        If there is no puzzle of this name.
    DatasetError
        If the manifest is missing or damaged.

    Examples
    --------
    >>> puzzle("sender").truth["line_bps"]
    10000000.0
    """
    by_name = _manifest()
    if name not in by_name:
        raise DomainError("not-a-choice", "name", name, choices=list(by_name))
    return by_name[name]


@named_arguments
def printed_numbers(name: str) -> dict[str, float]:
    """Return the numbers of an audited text, in SI units, by their id.

    Examples
    --------
    >>> printed_numbers("loopback_transactions")["LB02"]
    1508.0
    """
    columns = load(name).columns()
    return dict(zip(columns["id"].tolist(), columns["si_value"].tolist(), strict=True))


@named_arguments
def points_by(
    column: str, name: str, x: str, y: str, *, label: str = "{name}"
) -> dict[str, tuple[Any, Any]]:
    """Return two columns of a data set as sets of points, one for each value of another column.

    Parameters
    ----------
    column : str
        The column that tells the sets apart.
    name : str
        The data set.
    x, y : str
        Columns of the points.
    label : str
        Name of a set in the figure: ``"router of {name}"``, in the reader's language.
    """
    rows = load(name).columns()
    return {
        label.format(name=group): (rows[x][rows[column] == group], rows[y][rows[column] == group])
        for group in dict.fromkeys(rows[column].tolist())
    }


@named_arguments
def damaged() -> dict[str, DatasetError]:
    """Return the data sets that cannot be used, each with its error.

    Examples
    --------
    >>> damaged()
    {}
    """
    errors = {}
    for name, dataset in _index().items():
        try:
            _checked(dataset)
            describe(name)
        except DatasetError as error:
            errors[name] = error
    return errors


def _index() -> dict[str, Dataset]:
    try:
        return _index_of(_read(_INDEX))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged("index-damaged", _INDEX) from error


@lru_cache(maxsize=1)  # a check of the book asks some 5000 times for it
def _index_of(data: bytes) -> dict[str, Dataset]:
    document = json.loads(data)
    licence = document["licence"]
    return {entry["name"]: _dataset(entry, licence) for entry in document["sets"]}


def _manifest() -> dict[str, Puzzle]:
    try:
        return {entry["name"]: _puzzle(entry) for entry in json.loads(_read(_PUZZLES))["puzzles"]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged("index-damaged", _PUZZLES) from error


def _puzzle(entry: Mapping[str, Any]) -> Puzzle:
    own = {"stated": entry["known"], "commands": tuple(entry["commands"])}
    names = (field.name for field in fields(Puzzle))
    return Puzzle(**{name: own[name] if name in own else entry[name] for name in names})


def _dataset(entry: Mapping[str, Any], licence: str) -> Dataset:
    columns = {name: Column(**about) for name, about in entry["columns"].items()}
    return Dataset(**{**entry, "columns": columns, "licence": licence})


def _table(dataset: Dataset) -> Table:
    texts = tuple(name for name, unit in dataset.units.items() if unit == "text")
    read = _columns_of(_checked(dataset), dataset.file, texts)
    meta = _meta(dataset, warnings=read.meta.warnings, units=dataset.units, layers=dataset.layers)
    # By position: the reader may rename a column when it takes a unit from its name.
    return Table(data=dict(zip(dataset.columns, read.columns().values(), strict=True)), meta=meta)


@lru_cache(maxsize=32)  # what is read depends on the bytes alone, and there are some 20 sets
def _columns_of(data: bytes, file: str, texts: tuple[str, ...]) -> Samples:
    from netcalc.readers import read_columns  # late: the list of what there is does without

    return read_columns(data, name=file, units=dict.fromkeys(texts, "text"))


def _recorded(dataset: Dataset) -> Samples:
    """Read a set that is the output of a tool, as it was printed."""
    from netcalc.readers import read  # late: the list of what there is does without

    samples = read(_checked(dataset), name=dataset.file)
    note = f"{dataset.title}. Source: {dataset.source}."
    described: Samples = replace(cast(Any, samples), meta=replace(samples.meta, note=note))
    return described


def _as_kind(table: Table, dataset: Dataset, *, target: str = "") -> Samples:
    if not dataset.roles:
        return table
    container: Any = KINDS[dataset.kind]
    layers = {role: dataset.columns[column].layer for role, column in dataset.roles.items()}
    samples: Samples = container(
        **{role: table[column] for role, column in dataset.roles.items()},
        meta=_meta(
            dataset, target=target, layers={r: layer for r, layer in layers.items() if layer}
        ),
    )
    return samples


def _meta(dataset: Dataset, **facts: Any) -> Meta:
    note = f"{dataset.title}. Source: {dataset.source}."
    return Meta(source=dataset.file, sha256=dataset.sha256, note=note, **facts)


def _distinct(table: Table, column: str) -> list[str]:
    return list(dict.fromkeys(np.asarray(table[column]).tolist()))


def _checked(dataset: Dataset) -> bytes:
    return _intact(dataset.file, dataset.sha256)


def _intact(file: str, sha256: str) -> bytes:
    data = _read(file)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise _damaged("data-changed", file)
    return data


def _read(file: str) -> bytes:
    try:
        return (data_folder() / file).read_bytes()
    except FileNotFoundError as error:
        raise _damaged("data-missing", file) from error
    except OSError as error:
        raise _damaged("data-unreadable", file, reason=error.strerror) from error


def _damaged(code: str, name: str, **values: Any) -> DatasetError:
    return DatasetError(code, file=str(data_folder() / name), name=name, **values)
