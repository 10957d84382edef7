"""Columns with units: names and units of a header, and its cells in SI units."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc import units as _units
from netcalc.errors import ReaderError, UnitError
from netcalc.messages import Notice
from netcalc.rate_layers import LAYERS
from netcalc.readers.cells import INFINITE, MARK, MISSING, NUMBER, CellGrid, Cells, is_number
from netcalc.readers.source import Filled, shorten

_PLAIN = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_WRITTEN = re.compile(
    r"[+-]?[0-9]*(?:\.(?P<decimals>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]{1,3}))?"
)
_QUANTITY = re.compile(rf"(?P<number>{NUMBER.pattern})\s*(?P<unit>[^\d\s].*)")
_RULE = re.compile(r":?-+:?")
_LONG_RULE = re.compile(r":?-{3,}:?|:-+|-+:")
_ROWS_WITH_UNITS = 200
"""Rows that show whether the cells of a column have units of their own."""
_ONE_POINT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_ONE_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")

# What a header may call the columns that samples are made of, without its unit.
SIZES = {
    "payload", "size", "bytes", "length", "len", "data", "datasize", "messagesize", "msgsize",
    "packetsize", "pktsize", "payloadsize", "userdata", "transfersize", "filesize",
}  # fmt: skip
RTTS = {
    "rtt", "roundtrip", "roundtriptime", "ping", "pingtime", "rttmin", "minrtt", "rtts",
}  # fmt: skip
DURATIONS = {
    "duration", "time", "transfertime", "elapsed", "elapsedtime", "totaltime",
}  # fmt: skip
NEEDS_UNIT = {
    **dict.fromkeys(RTTS | DURATIONS, "s"),
    **dict.fromkeys(
        ("latency", "delay", "owd", "onewaydelay", "jitter", "rttavg", "rttmax", "serialization",
         "resolution", "sent"), "s"),
    **dict.fromkeys(SIZES - {"bytes"} | {"mtu", "mss", "window", "buffer"}, "byte"),
    **dict.fromkeys(
        ("bandwidth", "throughput", "goodput", "rate", "speed", "bitrate", "datarate"), "bit/s"),
    **dict.fromkeys(("loss", "utilization", "utilisation", "lossratio"), "ratio"),
    "distance": "m",
}  # fmt: skip
_WORDS = {
    "size": "größe grösse paketgröße paketgrösse datagrammgröße taille tailledupaquet tamaño "
            "tamañodelpaquete dimensione tamanho размер サイズ 大小 包大小 数据包大小",
    "filesize": "dateigröße dateigrösse datenmenge tailledufichier 文件大小",
    "time": "zeit temps tiempo tempo время 时间 時間",
    "duration": "dauer übertragungszeit durée duración 持续时间 耗时 传输时间",
    "rtt": "umlaufzeit paketumlaufzeit antwortzeit allerretour tempsdallerretour "
           "tiempodeidayvuelta 往返时间 往返时延 往復時間 往復遅延",
    "latency": "latenz latence latencia latenza latência задержка 遅延 延迟 时延 延遲",
    "delay": "verzögerung verzoegerung wartezeit délai retard retardo retraso ritardo atraso",
    "jitter": "gigue fluctuación 抖动",
    "throughput": "durchsatz debit débit caudal vazão vazao пропускнаяспособность スループット "
                  "吞吐量 吞吐率",
    "goodput": "nutzdatenrate débitutile 有效吞吐量",
    "rate": "rate datenrate übertragungsrate sendrate tasa 速率",
    "bandwidth": "bandbreite bandepassante anchodebanda 带宽 頻寬",
    "speed": "geschwindigkeit vitesse velocidad velocità velocidade скорость 速度",
    "loss": "verlust paketverlust verlustrate perte pertes pertedepaquets tauxdeperte pérdida "
            "pérdidas pérdidadepaquetes perdita perda потери パケット損失 丢包率 丢包",
    "utilization": "auslastung auslastungsgrad utilisation utilización 利用率",
    "window": "fenster fenstergröße fenstergrösse fenêtre tailledefenêtre ventana janela "
              "finestra окно ウィンドウ tamañodeventana 窗口 窗口大小",
    "flows": "flüsse ströme verbindungen paralleleverbindungen flux fluxparallèles connexions "
             "flujos flujosparalelos númerodeflujos conexiones númerodeconexiones "
             "numberofflows anzahlflüsse anzahlderflüsse anzahlverbindungen nombredeflux "
             "nombredeconnexions númerodefluxos numerodiflussi flussi fluxos потоки フロー数 "
             "连接数 流数",
    "buffer": "puffer puffergröße tampon 缓冲区",
    "distance": "entfernung distanz abstand distancia distanza distância расстояние 距離 距离",
}  # fmt: skip
_ENGLISH = {word: english for english, words in _WORDS.items() for word in words.split()}
"""Name of a column in another language -> in English."""
_RUSSIAN = {
    "с": "s", "мс": "ms", "мкс": "us", "Кбит/с": "kbit/s", "Мбит/с": "Mbit/s", "Гбит/с": "Gbit/s",
    "км": "km",
}  # fmt: skip
_UNIT_WORDS = {
    "o": "B", "ko": "kB", "Ko": "KB", "Mo": "MB", "Go": "GB", "ko/s": "kB/s", "Mo/s": "MB/s",
    "Go/s": "GB/s", "Kio": "KiB", "Mio": "MiB", "Gio": "GiB", "Sek.": "s", "Sek": "s",
    "Sekunden": "s", "Millisekunden": "ms",
    "secondes": "s", "millisecondes": "ms",
    "segundos": "s", "milisegundos": "ms", "秒": "s", "毫秒": "ms", "微秒": "us", "字节": "B",
    "Prozent": "%", "Pakete": "packet", "paquets": "packet", "paquetes": "packet",
    "ミリ秒": "ms", **_RUSSIAN,
}  # fmt: skip
SHARES = {"utilization", "utilisation", "lossratio"}
"""Shares by their names: above 1 they are in percent, and have to say so."""
NEVER_NEGATIVE = RTTS | {"framesize", "framerate", "packetrate"} | {
    key for key, unit in NEEDS_UNIT.items() if unit in ("byte", "bit/s", "ratio")
}  # fmt: skip
"""What no measurement has below 0; a time may be before another, or of a clock that is off."""
# Words of more than one kind: the unit decides, and without one they need one.
_ALSO = {
    "rate": ("packet/s",), "throughput": ("packet/s",), "sent": ("bit/s", "byte", "packet/s", "1"),
    "window": ("1",), "buffer": ("1",), "speed": ("m/s",),
}  # fmt: skip
_SUFFIXES = {
    "bytes": "B", "byte": "B", "bits": "bit", "bit": "bit", "bps": "bit/s", "pps": "pps",
    "ratio": "ratio", "pct": "%", "percent": "%", "count": "1", "s": "s", "sec": "s",
    "seconds": "s", "ms": "ms", "msec": "ms", "us": "us", "usec": "us", "µs": "us", "ns": "ns",
    "kbps": "kbps", "Mbps": "Mbps", "Gbps": "Gbps", "mbps": "mbps", "gbps": "gbps", "kB": "kB",
    "KB": "KB", "KiB": "KiB", "MB": "MB", "MiB": "MiB", "km": "km", **_RUSSIAN,
}  # fmt: skip
# "rate_Mbit/s", "rate MB/s", "Mbit_s": a data unit before the second is no part of the name.
_PER_SECOND = re.compile(
    r"(?:(?P<name>.*?\S)(?:[\s_,:-]+|(?<=[a-z])(?=[KMGT])))?"
    r"(?P<unit>[A-Za-z]+)(?P<per>\s*/\s*|[\s_]+per[\s_]+|[\s_]+)(?:s|sec|second)"
)
_BRACKETS = str.maketrans("（）［］／", "()[]/")
LONGEST_HEADING = 200
"""A longer header has no unit: taking it apart takes time by the square of its length. [1]"""
_DATA_UNIT = re.compile(
    r"[kmgtp]?i?(?:b|bits?|bytes?|octets?)"
    r"|[kmg]?(?:p|pkts?|packets?|frames?|segments?|datagrams?)",
    re.IGNORECASE,
)
_RATES = {"bandwidth", "throughput", "goodput", "rate", "speed", "bitrate", "datarate"}
_ONE = {"packet", "frame", "segment", "datagram", "byte", "bit", "b", "p"}
# "time to first byte" is a time; so is "time per packet".
_OF_ONE = re.compile(r".*(?:\b|_)(?:first|last|next|each|one|per|time|delay)", re.IGNORECASE)
EXAMPLES = {"s": ("ms", "s"), "byte": ("B", "bit"), "bit/s": ("Mbit/s", "MB/s"),
             "ratio": ("%", "ratio"), "m": ("km", "m")}  # fmt: skip


@dataclass(slots=True)
class WrittenColumn:
    """One column: its name, its unit as written and in SI, its cells, and the layer of a rate.

    ``has_units_in_cells`` where the header has no unit and each cell has one: ``1.5 ms``.
    """

    header: str
    name: str
    written: str = ""
    unit: str = ""
    cells: Cells = field(default_factory=Cells)
    has_units_in_cells: bool = False
    layer: str = ""
    english: str = ""
    """The name as tables have it: a word of another language in English."""

    @property
    def key(self) -> str:
        """The name as it is looked up: lower case letters only, in English."""
        return _ENGLISH.get(self.letters, self.letters)

    @property
    def letters(self) -> str:
        """The lower case letters and the digits of the name."""
        return re.sub(r"[\W_]", "", self.name).lower()


def named_columns(grid: CellGrid, stated_units: dict[str, str]) -> list[WrittenColumn]:
    _without_frame(grid)
    columns = [read_heading(header) for header in grid.header]
    for number, column in enumerate(columns, 1):
        if not column.name:
            column.name = f"column_{number}"
            values = {"number": number, "column": column.name}
            grid.warnings.append(Notice("unnamed-column", values))
    _units_row(grid, columns)
    _given_units(grid, columns, stated_units)
    for column, cells in zip(columns, grid.columns, strict=True):
        _units_in_cells(column, cells)
    for column in columns:
        if column.written:
            _resolve(grid, column)
    names = Counter(column.name for column in columns)
    for name in [name for name, count in names.items() if count > 1]:
        same = [column for column in columns if column.name == name]
        if same[0].key not in SIZES | RTTS | DURATIONS:
            _number_alike(grid, name, same)
        else:
            raise grid.refused("columns-of-one-name", name, count=len(same), column=shorten(name))
    keys = Counter(column.key for column in columns)
    for column in columns:
        is_foreign = column.key != column.letters and keys[column.key] == 1
        column.english = column.key if is_foreign else column.name
    for column, cells in zip(columns, grid.columns, strict=True):
        column.cells = cells
    return columns


def _number_alike(grid: CellGrid, name: str, same: list[WrittenColumn]) -> None:
    """Number columns of one name, unless each is of a kind: ``write_bytes``, ``write_count``."""
    if len({"" if column.unit == "1" else column.unit for column in same}) == len(same):
        return
    for number, column in enumerate(same[1:], 2):
        column.name = f"{name}_{number}"
    values = {"count": len(same), "column": shorten(name)}
    grid.warnings.append(Notice("columns-numbered", values))


def read_heading(header: str) -> WrittenColumn:
    """Take a header apart into name and unit; one that nobody would write is its own name."""
    text = " ".join(header.translate(_BRACKETS).split())
    if len(text) > LONGEST_HEADING:
        return WrittenColumn(text, text)
    bracketed = re.fullmatch(r"(.*?)(?<!\s)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))", text)
    if bracketed and bracketed[1]:
        written = (bracketed[2] or bracketed[3] or "").strip()
        layer = next((name for name in LAYERS if f", {written}".endswith(f", {name}")), "")
        if layer:  # rate [Mbit/s, TCP payload], throughput_bps [TCP payload]
            unit = written[: -len(layer)].rstrip(", ")
            return replace(read_heading(f"{bracketed[1]} [{unit}]" if unit else bracketed[1]),
                           header=text, layer=layer)  # fmt: skip
        return WrittenColumn(text, _without_unit(bracketed[1].strip(), written), written)
    rate = _rate_heading(text)
    if rate is not None:
        return rate
    slashed = re.fullmatch(r"([^/]+?)(?<!\s)\s*/\s*(\S+)", text)
    if slashed and _units.kind_of(slashed[2]):
        return WrittenColumn(text, slashed[1], slashed[2])
    spoken = re.fullmatch(r"(.+?)(?:,| in)\s+(\S+)", text)
    if spoken and _units.kind_of(spoken[2]):
        return WrittenColumn(text, spoken[1], spoken[2])
    tail = re.fullmatch(r"(.+?)[_ ]((?:[^\W\d_]|/)+)", text)
    if tail and tail[2] in _SUFFIXES:
        return WrittenColumn(text, tail[1], _SUFFIXES[tail[2]])
    if re.fullmatch(r"(?i)[kmg]?bps|pps", text):
        return WrittenColumn(text, "rate", text)
    if text.count("%") == 1 and (name := text.strip("% ")) and "%" not in name:
        return WrittenColumn(text, name, "%")  # Loss%, % loss
    if text.lower() in ("bytes", "byte"):
        return WrittenColumn(text, text, "B")
    return WrittenColumn(text, text)


def _without_unit(name: str, written: str) -> str:
    """Leave the unit out of a name that has it twice: ``response_s [s]``."""
    tail = re.fullmatch(r"(.+?)_([A-Za-z]+)", name)
    kind = _units.kind_of(written)
    if tail and kind and _units.kind_of(_SUFFIXES.get(tail[2], "")) == kind:
        return tail[1]
    return name


def _rate_heading(text: str) -> WrittenColumn | None:
    """Take a header apart whose unit is a data unit per second, in any spelling of "per".

    A data unit of another case than netcalc's (``mbit/s``) stays the unit, which is refused.
    """
    match = _PER_SECOND.fullmatch(text)
    if match is None:
        return None
    name = re.sub(r"[\s_]+in$", "", match["name"] or "")
    word, per = match["unit"], match["per"]
    is_rate = re.sub(r"[\W_]", "", name).lower() in _RATES
    divided = "/" in per or "per" in per
    if word in ("m", "km") and (is_rate or divided):
        return WrittenColumn(text, name or text, f"{word}/s")
    if not _DATA_UNIT.fullmatch(word) and not (is_rate and word in "kKMGT"):
        return None
    if not is_rate and word in _ONE and (not divided or _OF_ONE.fullmatch(name)):
        return None
    return WrittenColumn(text, name or "rate", f"{word}/s")


def _units_row(grid: CellGrid, columns: list[WrittenColumn]) -> None:
    """Take the units from the first row, if there is nothing else in it."""
    cells = [cell.strip("[]() ") for cell in (column[0] for column in grid.columns)]
    are_units = [_units.kind_of(cell) is not None for cell in cells]
    if not any(are_units) or not all(
        k or c.lower() in MISSING for k, c in zip(are_units, cells, strict=True)
    ):
        return
    for column, cell, is_unit in zip(columns, cells, are_units, strict=True):
        if is_unit and not column.written:
            column.written = cell
    _drop_first_row(grid)


def _without_frame(grid: CellGrid) -> None:
    """Leave out the outer bars of a Markdown table, and the rule below its header.

    Without outer bars short dashes are marks of missing numbers.
    """
    if grid.delimiter != "|" or not grid.columns:
        return
    rule = _LONG_RULE
    if not grid.header[0] and all(not cell for cell in grid.columns[0]):
        del grid.header[0], grid.columns[0]
        rule = _RULE
    if len(grid.numbers) > 1 and all(rule.fullmatch(column[0]) for column in grid.columns):
        _drop_first_row(grid)


def _drop_first_row(grid: CellGrid) -> None:
    for kept in grid.columns:
        kept.drop_first()
    grid.numbers.drop_first()


def quantity_in(cell: str) -> tuple[str, str] | None:
    """Return number and unit of a cell that has both; None for any other.

    >>> quantity_in("1.5 ms"), quantity_in("1.5"), quantity_in("5 apples")
    (('1.5', 'ms'), None, None)
    """
    quantity = _QUANTITY.fullmatch(cell) if len(cell) <= LONGEST_HEADING else None
    if quantity is None or not (
        _units.kind_of(quantity["unit"]) or _units.readings_of(quantity["unit"])
    ):
        return None
    return quantity["number"], quantity["unit"]


def _units_in_cells(column: WrittenColumn, cells: Cells) -> None:
    """Take the unit from the cells where the header has none, and they have one kind of them.

    A quantity that needs a unit has to have it in every cell; other columns stay text.
    """
    if column.written:
        return
    filled = [cell for cell in islice(cells, _ROWS_WITH_UNITS) if cell.lower() not in MISSING]
    quantities = [quantity_in(cell) for cell in filled]
    units = [quantity[1] for quantity in quantities if quantity is not None]
    kinds = {_units.kind_of(unit) for unit in units}
    is_whole = len(units) == len(filled) and len(kinds - {None}) <= 1
    if not units or not (is_whole or column.key in NEEDS_UNIT):
        return
    ambiguous = next((unit for unit in units if _units.kind_of(unit) is None), None)
    column.written = ambiguous or units[0]
    column.has_units_in_cells = True


def _given_units(
    grid: CellGrid, columns: list[WrittenColumn], stated_units: dict[str, str]
) -> None:
    for name, unit in stated_units.items():
        matching = [c for c in columns if name in (c.name, c.header)]
        if not matching:
            raise ReaderError(
                "no-such-column",
                file=grid.source.name,
                column=shorten(name),
                written=shorten(unit),
                columns=[shorten(column.name) for column in columns],
            )
        for column in matching:
            column.written = unit


def _resolve(grid: CellGrid, column: WrittenColumn) -> None:
    """Find the SI unit of a written one; refuse one that is ambiguous or of another kind."""
    expected = NEEDS_UNIT.get(column.key)
    column.written = _UNIT_WORDS.get(column.written, column.written)
    if not expected and _NO_UNIT.fullmatch(column.written):
        column.written = ""
        return
    may_count = not expected or "1" in _ALSO.get(column.key, ())
    if may_count and _COUNTED.fullmatch(column.written):
        column.written = "1"
    kind = "1" if column.written == "1" else _units.kind_of(column.written)
    if expected and expected != kind and kind not in _ALSO.get(column.key, ()):
        try:
            _units.factor_of(column.written, expected)
        except UnitError as error:
            raise unit_refused(grid, column, expected, error) from None
        kind = expected
    if kind is None:
        for unit in ("bit/s", "byte", "s"):
            try:
                _units.factor_of(column.written, unit)
            except UnitError as error:
                if error.code == "ambiguous-unit":
                    raise unit_refused(grid, column, unit, error) from None
        values = {"written": shorten(column.written), "column": shorten(column.name)}
        grid.warnings.append(Notice("unit-ignored", values))
        column.name, column.written = column.header, ""
        return
    column.unit = kind


# What netcalc's own tables say of a column that no one unit belongs to.
_NO_UNIT = re.compile(r"text|bool|as \w+ says")
_COUNTED = re.compile(r"(?:packet|pkt|segment|datagram|frame|cell)s?", re.IGNORECASE)
_REFUSED_UNITS = {
    "ambiguous-unit": "ambiguous-column-unit",
    "unit-of-other-kind": "column-unit-of-other-kind",
}


def unit_refused(
    grid: CellGrid, column: WrittenColumn, expected: str, error: UnitError
) -> ReaderError:
    """Say of a column why its unit is not one of the kind wanted."""
    values = error.values
    words = (word for word, unit in _UNIT_WORDS.items() if unit == column.written)
    return grid.refused(
        _REFUSED_UNITS.get(error.code, "unknown-column-unit"),
        column.name,
        unit=expected,
        written=shorten(next(filter(column.header.count, words), column.written)),
        kind=values.get("kind"),
        readings=_units.readings_of(column.written),
        example=EXAMPLES.get(expected, (expected,))[0],
        suggestions=values.get("suggestions"),
    )


_DIGITS = r"[+-]?[0-9]{1,15}+"
_POINTS = re.compile(rf"(?:{_DIGITS}(?:\.[0-9]{{1,15}}+)?+{MARK})*+")
_COMMAS = re.compile(rf"(?:{_DIGITS}(?:,[0-9]{{1,15}}+)?+{MARK})*+")
_LARGEST = 1e15  # a mantissa up to here is exact, and so is its shortest decimal
_EXACT_POWERS = 22


def are_plain(block: str | list[str], *, comma: bool = False) -> bool:
    """Whether all cells of a block are numbers of digits with one decimal sign at most."""
    return isinstance(block, str) and bool((_COMMAS if comma else _POINTS).fullmatch(block))


def plain_values(
    block: str | list[str], *, comma: bool, factor: float
) -> NDArray[np.float64] | None:
    """Return the numbers of a block of plain cells times a factor; None if they are not plain.

    A factor that is a negative power of ten is in the number before it is rounded.
    """
    if not isinstance(block, str) or not are_plain(block, comma=comma):
        return None
    digits = exact_decimals(block, "," if comma else ".")
    if digits is None:
        return None
    mantissa, places = digits
    shift = _negative_power(factor)
    if places.max(initial=0) + shift > _EXACT_POWERS:
        return None
    values: NDArray[np.float64] = mantissa / 10.0 ** (places + shift)
    return values if shift or factor == 1 else values * factor


def exact_decimals(block: str, sign: str) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return numbers of a block of plain cells without their decimal sign, and its places.

    None if one has more digits than a float holds.
    """
    written = block.replace(sign, "")[:-1].split(MARK)
    digits = np.fromiter(map(float, written), np.float64, len(written))
    if np.abs(digits).max(initial=0.0) >= _LARGEST:
        return None
    places = np.zeros(digits.size, dtype=np.int64)
    if sign in block:
        letters = np.frombuffer(block.encode("ascii"), dtype=np.uint8)
        ends = np.flatnonzero(letters == ord(MARK))
        signs = np.flatnonzero(letters == ord(sign))
        rows = np.searchsorted(ends, signs)
        places[rows] = ends[rows] - signs - 1
    return digits, places


def _negative_power(factor: float) -> int:
    """Return 3 for 0.001, 0 for a number that is not a negative power of ten."""
    return next((power for power in range(1, 19) if factor == float(f"1e-{power}")), 0)


class Numbers:
    """Reads the cells of a file as numbers, with one decimal sign for all of it."""

    def __init__(
        self, grid: CellGrid, decimal: str | None, columns: Iterable[WrittenColumn]
    ) -> None:
        self.grid = grid
        self.comma = decimal == ","
        self.point = decimal == "."
        if decimal is None and grid.delimiter != ",":
            self.comma = any(
                _shows_comma(cell)
                for column in columns
                for cell in column.cells.holds(",")
                if "," in cell
            )

    @property
    def described(self) -> str:
        """The decimal sign that was used."""
        return "decimal comma" if self.comma else "decimal point"

    def numeric(self, column: WrittenColumn) -> bool:
        """Whether every cell is a number or missing, and one is a number."""
        any_number = False
        for _, block in column.cells.blocks():
            if are_plain(block):
                any_number = True
                continue
            for cell in Cells.cells_of(block):
                if cell.lower() in MISSING:
                    continue
                if not is_number(cell) and cell.lower() not in INFINITE:
                    return False
                any_number = True
        return any_number

    def values(self, column: WrittenColumn) -> NDArray[np.float64]:
        """Return a column in its SI unit; missing cells are nan."""
        factor = _factor(column)
        filled = Filled(len(column.cells))
        for start, block in column.cells.blocks():
            values = None
            if not column.has_units_in_cells:
                values = plain_values(block, comma=self.comma, factor=factor)
            if values is None:
                cells = Cells.cells_of(block)
                lines = self.grid.numbers[start : start + len(cells)]
                pairs = zip(cells, lines, strict=True)
                values = np.array([self._value(column, cell, line, factor) for cell, line in pairs])
            filled.put(start, values)
        return filled.column

    def resolution(self, column: WrittenColumn) -> float:
        """Return the step of the last digit of the finest cell, in the SI unit; nan if unknown.

        Trailing zeros may have been dropped, so the finest cell counts for all; so it does where
        the cells have units of their own.
        """
        mark = "," if self.comma else "."
        if column.has_units_in_cells:
            return self._finest(column, mark)
        finest = math.inf
        for _, block in column.cells.blocks():
            for cell in dict.fromkeys(Cells.cells_of(block)):
                if cell.lower() in MISSING:
                    continue
                written = _WRITTEN.fullmatch(cell.replace(mark, ".", 1))
                if written is None:
                    return math.nan
                exponent = int(written["exponent"] or 0) - len(written["decimals"] or "")
                finest = min(finest, exponent)
        if not -300 <= finest <= 300:
            return math.nan
        return _scaled(float(f"1e{int(finest)}"), _factor(column))

    def _finest(self, column: WrittenColumn, mark: str) -> float:
        steps = []
        for _, block in column.cells.blocks():
            for cell in dict.fromkeys(Cells.cells_of(block)):
                if cell.lower() in MISSING:
                    continue
                quantity = quantity_in(cell)
                written = quantity and _WRITTEN.fullmatch(quantity[0].replace(mark, ".", 1))
                if not quantity or not written or _units.kind_of(quantity[1]) != column.unit:
                    return math.nan
                exponent = int(written["exponent"] or 0) - len(written["decimals"] or "")
                if not -300 <= exponent <= 300:
                    return math.nan
                factor = _units.factor_of(quantity[1], column.unit)
                steps.append(_scaled(float(f"1e{exponent}"), factor))
        return min(steps, default=math.nan)

    def _value(self, column: WrittenColumn, cell: str, line: int, factor: float) -> float:
        if _PLAIN.fullmatch(cell) and not self.comma and not column.has_units_in_cells:
            return _scaled(float(cell), factor)
        if cell.lower() in MISSING:
            return math.nan
        if cell.lower() in INFINITE:
            raise self._refused("infinite-cell", column, cell, line)
        quantity = quantity_in(cell)
        if quantity and column.unit not in ("", "1") and _units.kind_of(quantity[1]) == column.unit:
            cell, factor = quantity[0], _units.factor_of(quantity[1], column.unit)
        elif column.has_units_in_cells:
            raise self._refused("cell-without-unit", column, cell, line)
        if not is_number(cell):
            raise self._refused("not-a-number", column, cell, line)
        plain = self._plain(cell)
        if plain is None:
            readings = [re.sub(r"\D", "", cell), re.sub(r"[.,]", ".", cell)]
            raise self._refused("ambiguous-cell", column, cell, line, readings=readings)
        try:
            value = _units.parse_number(plain)
        except UnitError:
            raise self._refused("not-a-number", column, cell, line) from None
        return _scaled(value, factor)

    def _plain(self, cell: str) -> str | None:
        """Return a number with a decimal point and no grouping, or None if it is ambiguous."""
        if self.point:
            return cell.replace(",", "")
        if self.comma:
            if _ONE_POINT.fullmatch(cell):
                return None  # 1.500 where commas are decimal signs
            return cell.replace(".", "").replace(",", ".") if "," in cell else cell
        return None if _ONE_COMMA.fullmatch(cell) else cell

    def _refused(
        self, code: str, column: WrittenColumn, cell: str, line: int, **values: Any
    ) -> ReaderError:
        values |= {"value": shorten(cell), "unit": column.written or None}
        return self.grid.refused(code, column.name, line=line, **values)


def _factor(column: WrittenColumn) -> float:
    """Return what a number of the column is multiplied by; 1 without a unit."""
    if column.unit in ("", "1"):
        return 1.0
    return _units.factor_of(column.written, column.unit)


def _shows_comma(cell: str) -> bool:
    """Whether a comma in a number can only be a decimal comma."""
    quantity = quantity_in(cell)
    cell = quantity[0] if quantity else cell
    return is_number(cell) and bool(
        re.fullmatch(
            r"[+-]?\d+,(?:\d{1,2}|\d{4,})(?:[eE][+-]?\d+)?|[+-]?0?,\d+|[+-]?[\d.]+\.\d{3},\d+", cell
        )
    )


def _scaled(value: float, factor: float) -> float:
    """Multiply by a power of ten without the error of a second rounding."""
    exponent = math.log10(factor) if factor > 0 else 0.5
    if exponent == int(exponent) and exponent < 0:
        return float(f"{value!r}e{int(exponent)}") if "e" not in repr(value) else value * factor
    return value * factor
