"""Networks and demands from CSV: right, or refused with file, line and field.

A link is a row with the columns from, to, rate and latency, and optionally name, cost,
availability, growth and group (links that share a risk); a demand is one with from, to and rate,
and optionally growth. A number has its unit in the cell (``10 Gbit/s``) or in the heading
(``rate [Gbit/s]``, ``rate_bps``), and may be a range (``80..100 Mbit/s``, ``30 ms ± 5 ms``).
Separators are commas, semicolons or tabs; lines that begin with ``#`` are comments.

A scan of failures is saved as JSON lines, each failure as soon as it is found.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from netcalc import uncertain, units
from netcalc.documents import Place, json_lines, load
from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.messages import Notice
from netcalc.planning.network import facts
from netcalc.planning.network.plan import FailureResult, NetworkPlan
from netcalc.readers.source import Readable, Text, decode, open_source, shorten
from netcalc.samples import MAX_FILE_BYTES, LineFile, json_line
from netcalc.uncertain import Known
from netcalc.uncertain.text import without_year
from netcalc.version import __version__

MOST_ROWS = 2_000_000
"""Most rows of a file. [1]"""

_NAMES = {
    "from": ("from", "source", "src", "start", "a", "node_a", "node1"),
    "to": ("to", "target", "destination", "dst", "end", "b", "node_b", "node2"),
    "node": ("node", "name"),
    "name": ("name", "link", "id"),
    "rate": ("rate", "bandwidth", "capacity", "speed", "bw", "traffic", "demand", "load"),
    "latency": ("latency", "delay"),
    "cost": ("cost", "metric", "weight"),
    "availability": ("availability",),
    "growth": ("growth",),
    "group": ("group", "groups", "srlg", "risk"),
    "x": ("x",),
    "y": ("y",),
    "latitude": ("lat", "latitude"),
    "longitude": ("lon", "lng", "long", "longitude"),
}
_UNITS = {"rate": "bit/s", "latency": "s", "availability": "ratio", "growth": "ratio"}
_LINK_COLUMNS = ("from", "to", "rate", "latency", "name", "cost", "availability", "growth",
                 "group")  # fmt: skip
_NODE_COLUMNS = ("node", "x", "y", "latitude", "longitude")
_LIMITS = {"x": 1e15, "y": 1e15, "latitude": 90.0, "longitude": 360.0}
"""Highest amount of each coordinate. [1 or degree]"""
_DEMAND_COLUMNS = ("from", "to", "rate", "growth")
_SUFFIXES = {"bps": "bit/s", "s": "s", "ms": "ms", "us": "us", "ratio": "ratio", "percent": "%"}
_HEADING = re.compile(r"(?P<name>[^\[(]*?)\s*(?:\[(?P<a>[^\]]*)\]|\((?P<b>[^)]*)\))\s*")


@dataclass(frozen=True, slots=True)
class _CsvRow:
    """A row of a file: its line, and the text of each known column."""

    table: _CsvTable
    line: int
    cells: Mapping[str, str]

    def refuse(self, code: str, column: str, **values: object) -> NoReturn:
        heading = self.table.headings.get(column, column)
        raise replace(self.table.place, line=self.line, label=heading).refused(code, **values)

    def text(self, column: str) -> str:
        """Return the text of a cell; one that is empty is refused."""
        cell = self.cells[column]
        if not cell:
            self.refuse("network-cell-empty", column)
        return cell

    def optional(self, column: str) -> Known | None:
        """Return the number of a cell, None in a file without its column."""
        return self.number(column) if self.table.has(column) else None

    def number(self, column: str) -> Known:
        """Return the number of a cell, or its range."""
        text, unit = self.text(column), _UNITS[column]
        if column == "growth":
            text = without_year(text)
        written = self.table.units.get(column)
        if written and text[-1:].isdigit():
            text = f"{text} {written}"
        try:
            return uncertain.parse(text, unit)
        except UnitError as error:
            self.refuse(
                "network-cell-unreadable",
                column,
                value=shorten(self.cells[column]),
                reason=error.what,
                advice=error.hint or f"Write for example {units.example(unit)}",
            )

    def coordinate(self, column: str) -> float:
        """Return a coordinate of a node."""
        text, high = self.text(column), _LIMITS[column]
        try:
            degrees = float(text.removesuffix("°"))
        except ValueError:
            degrees = math.nan
        if not abs(degrees) <= high:
            code = "network-coordinate" if column in "xy" else "network-degrees"
            self.refuse(code, column, value=shorten(text), low=-high, high=high)
        return degrees

    def groups(self) -> tuple[str, ...]:
        """Return the groups of a link: none, or several with | between them."""
        parts = (" ".join(part.split()) for part in self.cells["group"].split("|"))
        return tuple(dict.fromkeys(part for part in parts if part))

    def cost(self) -> int:
        """Return the cost of a link."""
        text = self.text("cost")
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= facts.MOST_COST):
            self.refuse("network-cost", "cost", value=shorten(text), high=facts.MOST_COST)
        return int(text)


@dataclass(frozen=True, slots=True)
class _CsvTable:
    """A file: its columns as they are headed, with their units, and its rows."""

    place: Place
    headings: Mapping[str, str]
    units: Mapping[str, str]
    rows: Sequence[_CsvRow]
    notices: tuple[Notice, ...]

    def has(self, column: str) -> bool:
        return column in self.headings


def read(
    links: Readable, *, demands: Readable, nodes: Readable | None = None, one_way: bool = False
) -> facts.Network:
    """Read a network and its demands from files.

    Parameters
    ----------
    links : path, str, bytes or file object
        CSV with a row a link; a ``str`` with a line end in it is the text itself.
    demands : path, str, bytes or file object
        CSV with a row a demand.
    nodes : path, str, bytes or file object, optional
        CSV with a column ``node``: the only nodes that links may have; and optionally where they
        are, in ``x`` and ``y`` or in ``lat`` and ``lon``.
    one_way : bool
        Whether each row of a link is one direction: ``a,b`` and ``b,a`` of the same name, or both
        without one, are the two directions of one link, which fail together. By default a row is
        both directions.

    Returns
    -------
    Network
        Nodes, links and demands in the order of the files.

    Raises
    ------
    ReaderError
        If a cell is empty, not a number with a unit or an impossible one, a node unknown, a link
        or the row of a demand there twice, a link or a demand from a node to itself, or no path
        leads to the end of a demand.

    Examples
    --------
    >>> network = read(
    ...     "from,to,rate,latency\\na,b,10 Gbit/s,5 ms\\nb,c,T1,30 ms\\n",
    ...     demands="from,to,rate [Mbit/s],growth\\na,c,1.2,30 %/year\\n",
    ... )
    >>> network.nodes, network.links[1].there.rate_bps
    (('a', 'b', 'c'), 1544000.0)
    >>> network.demands
    (Demand(source='a', target='c', rate_bps=1200000.0, growth_ratio=0.3),)
    """
    table = _read(links, _LINK_COLUMNS, ("from", "to", "rate", "latency"))
    listed = _ListedNodes() if nodes is None else _read_nodes(nodes)
    read_links = _links(table, dict.fromkeys(listed.names), one_way=one_way)
    names = dict.fromkeys(
        listed.names or (n for link in read_links for n in (link.start, link.end))
    )  # looked up for each demand
    loads = _read(demands, _DEMAND_COLUMNS, ("from", "to", "rate"))
    reached = facts.reachable(read_links, nodes=tuple(names))
    return facts.Network(
        links=read_links,
        demands=tuple(_demands(loads, names, reached)),
        nodes=tuple(names),
        notices=(*table.notices, *loads.notices, *listed.notices),
        positions=listed.positions,
        globe=listed.globe,
    )


def _links(table: _CsvTable, nodes: Collection[str], *, one_way: bool) -> tuple[facts.Link, ...]:
    rows: dict[str, _CsvRow] = {}
    links: dict[str, facts.Link] = {}
    for row in table.rows:
        link = _link(row, nodes)
        twin = _twin(row, link, links, rows, one_way=one_way)
        if twin is None:
            links[link.name], rows[link.name] = link, row
            continue
        for column, first, second in (
            ("availability", twin.availability_ratio, link.availability_ratio),
            ("growth", twin.growth_ratio, link.growth_ratio),
        ):
            if first != second:
                row.refuse("network-directions-differ", column, first=rows[twin.name].line)
        groups = tuple(dict.fromkeys((*twin.groups, *link.groups)))
        links[twin.name] = replace(twin, back=link.there, groups=groups)
    if not one_way:
        return tuple(replace(link, back=link.there) for link in links.values())
    return tuple(links.values())


def _demands(
    table: _CsvTable, nodes: Collection[str], reached: Callable[[str, str], bool]
) -> Iterator[facts.Demand]:
    """Return the demands; several between two nodes add up, but not two that are alike."""
    lines: dict[tuple[str, ...], int] = {}
    for row in table.rows:
        yield _demand(row, nodes, reached)
        alike = tuple(row.cells.values())
        if alike in lines:
            row.refuse("network-demand-twice", "from", value=row.cells["from"], first=lines[alike])
        lines[alike] = row.line


def _demand(
    row: _CsvRow, nodes: Collection[str], reached: Callable[[str, str], bool]
) -> facts.Demand:
    source, target = (_node(row, column, nodes) for column in ("from", "to"))
    if source == target:
        row.refuse("network-loop", "to", value=shorten(target))
    if not reached(source, target):
        row.refuse("network-disconnected", "to", value=shorten(target), start=shorten(source))
    growth = row.optional("growth")
    try:
        return facts.Demand(
            source=source, target=target, rate_bps=row.number("rate"), growth_ratio=growth
        )
    except DomainError as error:
        _impossible(row, error)


def _link(row: _CsvRow, nodes: Collection[str]) -> facts.Link:
    start, end = (_node(row, column, nodes) for column in ("from", "to"))
    if start == end:
        row.refuse("network-loop", "to", value=end)
    table = row.table
    try:
        there = facts.Direction(
            rate_bps=row.number("rate"),
            latency_s=row.number("latency"),
            cost=row.cost() if table.has("cost") else None,
        )
        available = row.optional("availability")
        if isinstance(available, uncertain.Distribution):
            row.refuse("network-one-number", "availability", value=row.text("availability"))
        return facts.Link(
            start=start,
            end=end,
            there=there,
            back=None,
            name=row.text("name") if table.has("name") else "",
            availability_ratio=available,  # type: ignore[arg-type]
            growth_ratio=row.optional("growth"),
            groups=row.groups() if table.has("group") else (),
        )
    except DomainError as error:
        _impossible(row, error)


_COLUMN_OF = {"rate_bps": "rate", "latency_s": "latency", "growth_ratio": "growth",
              "availability_ratio": "availability"}  # fmt: skip


def _impossible(row: _CsvRow, error: DomainError) -> NoReturn:
    """Refuse an impossible number, or a range that reaches one."""
    column = _COLUMN_OF[error.name]
    limits = {
        "rate": "above 0, up to 1 Ebit/s" if row.table.has("latency") else "from 0 to 1 Ebit/s",
        "latency": "from 0 s to a day",
        "growth": "from -99% to 100,000%",
        "availability": "from 0% to 100%",
    }[column]
    values = {"value": shorten(row.cells[column]), "limits": limits}
    if error.code == "network-draws-impossible":
        row.refuse("network-range-impossible", column, share=error.values["share"], **values)
    row.refuse("network-number-impossible", column, **values)


def _node(row: _CsvRow, column: str, nodes: Collection[str]) -> str:
    """Return the name of a node, one of those that a file lists."""
    name = row.text(column)
    if nodes and name not in nodes:
        near = get_close_matches(name, nodes, n=3)
        row.refuse(
            "network-node-unknown", column, value=shorten(name),
            **({"suggestions": near} if near else {}),
        )  # fmt: skip
    return name


def _twin(
    row: _CsvRow,
    link: facts.Link,
    links: Mapping[str, facts.Link],
    rows: Mapping[str, _CsvRow],
    *,
    one_way: bool,
) -> facts.Link | None:
    """Return the link whose other direction a row is; refuse one that is there already."""
    named = row.table.has("name")
    other = links.get(link.name)
    backwards = None if named else links.get(f"{link.end}-{link.start}")
    twin = (other if named else backwards) if one_way else None
    if twin is not None and (twin.end, twin.start, twin.back) == (link.start, link.end, None):
        return twin
    if other is not None:
        row.refuse("network-link-twice", "from", value=link.name, first=rows[link.name].line)
    if backwards is not None:
        code = "network-link-twice" if one_way else "network-both-directions"
        row.refuse(code, "from", value=link.name, first=rows[backwards.name].line)
    return None


@dataclass(frozen=True, slots=True)
class _ListedNodes:
    """The nodes of a file, and where each is."""

    names: tuple[str, ...] = ()
    positions: tuple[tuple[float, float], ...] = ()
    globe: bool = False
    notices: tuple[Notice, ...] = ()


def _read_nodes(nodes: Readable) -> _ListedNodes:
    table = _read(nodes, _NODE_COLUMNS, ("node",))
    pairs = [pair for pair in (("latitude", "longitude"), ("x", "y")) if any(map(table.has, pair))]
    for first, second in (*pairs, *(reversed(pair) for pair in pairs)):
        if not table.has(second):
            place = replace(table.place, line=None, label=table.headings[first])
            raise place.refused("network-coordinate-alone", column=second)
    places: dict[str, tuple[float, ...]] = {}
    for row in table.rows:
        name = row.text("node")
        if name in places:
            row.refuse("network-node-twice", "node", value=name)
        places[name] = tuple(map(row.coordinate, pairs[0])) if pairs else ()
    positions = tuple(places.values()) if pairs else ()
    globe = bool(pairs) and pairs[0][0] == "latitude"
    return _ListedNodes(tuple(places), positions, globe, table.notices)  # type: ignore[arg-type]


def _read(source: Readable, columns: Sequence[str], required: Sequence[str]) -> _CsvTable:
    """Read a file of rows; its headings may be in any order."""
    opened = open_source(source)
    text = decode(opened)
    (first, header), *rows = _lines(text, Place(opened.name, {}), required)
    at = Place(opened.name, {}, line=first)
    delimiter = max(",;\t", key=header.count)
    written = _cells(header, delimiter, at)
    places = _places(written, columns, required, at)
    notices = (*text.warnings, *_ignored(written, places, columns, at))
    headings = {column: shorten(written[index]) for column, index in places.items()}
    in_heading = {
        column: _unit(written[index], column, at)
        for column, index in places.items()
        if _parts(written[index])[1]
    }
    body: list[_CsvRow] = []
    table = _CsvTable(at, headings, in_heading, body, notices)
    for line, content in rows:
        cells = _cells(content, delimiter, at, line)
        if len(cells) != len(written):
            place = replace(at, line=line)
            raise place.refused("network-row-length", count=len(cells), wanted=len(written))
        body.append(_CsvRow(table, line, {column: cells[n] for column, n in places.items()}))
    if not body:
        raise at.refused("network-no-rows")
    return table


def _lines(text: Text, at: Place, required: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that are not empty and no comments, each with its number."""
    if text.too_long:
        raise replace(at, line=text.too_long[0]).refused("network-line-long")
    lines = zip(text.numbers, text.lines, strict=True)
    rows = [(n, line) for n, line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not rows:
        raise at.refused("network-file-empty", columns=list(required))
    if len(rows) > MOST_ROWS:
        raise at.refused("network-rows", count=len(rows), limit=MOST_ROWS)
    return rows


def _ignored(
    written: Sequence[str], places: Mapping[str, int], columns: Sequence[str], at: Place
) -> tuple[Notice, ...]:
    """Return the note of columns that are not read; one that is misspelled is refused."""
    unused = [shorten(name) for n, name in enumerate(written) if n not in places.values()]
    missing = [name for column in columns if column not in places for name in _NAMES[column]]
    for heading in unused:
        near = get_close_matches(_parts(heading)[0], missing, n=1, cutoff=0.75)
        if near:
            raise at.labelled(heading).refused("network-column-unknown", suggestions=near)
    if not any(unused):
        return ()
    return (Notice("network-columns-ignored", {"columns": unused, "file": at.file}),)


def _cells(content: str, delimiter: str, at: Place, line: int | None = None) -> list[str]:
    try:
        cells = next(csv.reader([content], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        place = replace(at, line=line or at.line)
        raise place.refused("malformed-quotes", reason=str(error)) from None
    return [" ".join(cell.split()) for cell in cells]


def _parts(heading: str) -> tuple[str, str]:
    """Return the name of a heading, as the known names are written, and its unit."""
    match = _HEADING.fullmatch(heading)
    if match:
        return _plain(match["name"]), (match["a"] or match["b"] or "").strip()
    name, _, tail = _plain(heading).rpartition("_")
    if name and tail in _SUFFIXES:
        return name, _SUFFIXES[tail]
    return _plain(heading), ""


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _places(
    written: Sequence[str], columns: Sequence[str], required: Sequence[str], at: Place
) -> dict[str, int]:
    """Return the index of each known column."""
    places: dict[str, int] = {}
    for index, heading in enumerate(written):
        name = _parts(heading)[0]
        column = next((column for column in columns if name in _NAMES[column]), None)
        if column in places:
            raise at.labelled(shorten(heading)).refused("network-column-twice")
        if column is not None:
            places[column] = index
    for column in required:
        if column not in places:
            near = _nearest(column, written)
            code = "network-column-named" if near else "network-column-missing"
            headings = [shorten(name) for name in written]
            raise at.labelled(column).refused(code, near=near, columns=headings)
    return places


def _nearest(column: str, written: Sequence[str]) -> list[str]:
    names = {_parts(heading)[0]: heading for heading in written}
    for name in _NAMES[column]:
        near = get_close_matches(name, names, n=1, cutoff=0.75)
        if near:
            return [names[near[0]]]
    return []


def _unit(heading: str, column: str, at: Place) -> str:
    """Return the unit of a heading; one that is not a unit of the column is refused."""
    written = _parts(heading)[1]
    at = at.labelled(shorten(heading))
    si_unit = _UNITS.get(column)
    if si_unit is None:
        raise at.refused("network-unit-unwanted")
    unit = without_year(written) if column == "growth" else written
    try:
        units.parse(f"1 {unit}", si_unit)
    except UnitError as error:
        advice = error.hint or f"Write for example {units.example(si_unit)}"
        raise at.refused(
            "network-cell-unreadable", value=shorten(written), reason=error.what, advice=advice
        ) from None
    return unit


KIND = "network-failures"


class SavedScan(LineFile):
    """A file of failures that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        A new file, or one of the same network and settings: its failures are taken into the plan.
    plan : NetworkPlan
        The plan whose failures it gets.

    Attributes
    ----------
    count : int
        Failures that the file had.

    Raises
    ------
    ReaderError
        If it is another file, of another network, or damaged.
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path, *, plan: NetworkPlan) -> None:
        super().__init__(path, busy="network-saved-busy")
        try:
            self.count = self._continue(plan)
        except BaseException:
            self.close()
            raise

    def add(self, result: FailureResult) -> None:
        """Append a failure; a line that the disk refuses is taken back.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        self.append([asdict(result)])

    def _continue(self, plan: NetworkPlan) -> int:
        """Take in the failures that the file has, and cut off a line that is not complete."""
        place = Place(str(self._path), "network-saved-damaged", saved=True)
        if self._path.stat().st_size > MAX_FILE_BYTES:
            raise place.refused("too long")
        data = self._path.read_bytes()
        head = {"kind": KIND, "key": plan.fingerprint(), "netcalc": __version__}
        if b"\n" not in data:
            if data and not json_line(head).startswith(data):
                raise place.refused("kind", line=1)
            self.cut(0)
            self.append([head])
            return 0
        (first, *rows), size = json_lines(data, place)
        if first.get("kind") != KIND:
            raise place.refused("kind", line=1)
        if first.get("key") != head["key"]:
            raise ReaderError("network-saved-other", file=place.file)
        taken: set[int] = set()
        for number, row in enumerate(rows, 2):
            here = replace(place, line=number)
            result = load(FailureResult, row, here)
            if result.case in taken or not _is_of(result, plan):
                raise here.refused("range")
            taken.add(result.case)
            plan.take(result)
        self.cut(size)
        return len(taken)


def _is_of(result: FailureResult, plan: NetworkPlan) -> bool:
    """Whether every number of a saved failure is possible in a plan."""
    arcs, demands = plan.arcs.count, len(plan.network.demands)
    ends = [
        (result.case, len(plan.cases)),
        (result.arc, arcs),
        (result.overloaded, arcs + 1),
        (result.cut_demands, demands + 1),
        (result.own_demands, demands + 1),
        *((arc, arcs) for arc in (*result.worse, *result.sooner)),
    ]
    numbers = [result.load_ratio, result.cut_bps, result.own_bps, *result.sooner.values()]
    for loads in result.worse.values():
        numbers += loads
    return (
        all(0 <= value < end for value, end in ends)
        and all(len(loads) == plan.group_count for loads in result.worse.values())
        and not any(map(math.isnan, numbers))
    )
