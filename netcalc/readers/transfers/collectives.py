"""Time against size of messages and collectives: nccl-tests, OSU, IMB, perftest, NetPIPE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import nan
from statistics import median
from typing import NamedTuple

from netcalc.messages import Notice
from netcalc.rate_layers import PAYLOAD
from netcalc.readers.format import Format, Input, groups_of
from netcalc.readers.places import Counted, MeasuringPoint
from netcalc.readers.source import WholeLines, note
from netcalc.samples import Meta, Samples, Table, TransferSamples, fact_row

ONE_WAY = "one way, half of a round trip"
COLLECTIVE = "a collective, until its ranks are done"

_OPERATIONS = {
    "allreduce": "all-reduce", "allgather": "all-gather", "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all", "alltoallpersonalizedexchange": "all-to-all",
    "broadcast": "broadcast", "bcast": "broadcast", "reduce": "reduce", "gather": "gather",
    "scatter": "scatter", "sendrecv": "send-receive", "hypercube": "hypercube",
}  # fmt: skip
"""Letters of a test's name -> its collective."""
_PING_PONGS = ("", "multi", "multithreaded", "multipair", "pingpong", "send", "rdmawrite")
"""Tests whose time is half of a round trip, by what their name has before "latency"."""
_US = 1e-6
_NUMBER = r"\d{1,15}(?:\.\d{1,9})?(?:e[+-]?\d\d)?"
_NUMBER_OR_WORD = rf"{_NUMBER}|[A-Za-z_]+"
_LEAST_ROWS = 3
"""Rows of numbers that agree with each other, from which on they are those of NetPIPE. [1]"""


class Row(NamedTuple):
    """One size and its numbers."""

    size: float
    time_s: float
    rate_bps: float = nan
    bus_bps: float = nan


@dataclass(slots=True)
class Run:
    """One table of a tool: a test, and its rows."""

    test: str = ""
    rank_count: float = nan
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    wrong_count: float = 0.0
    is_whole: bool = True

    @property
    def word(self) -> str:
        """The name of the test in letters, without what tests of a tool share."""
        return re.sub(r"[^a-z]|_perf$|latency|test$", "", self.test.lower())

    @property
    def operation(self) -> str:
        """The collective; nothing where the test is none, or unknown."""
        return _OPERATIONS.get(self.word, "")

    @property
    def way(self) -> str:
        """What a time is of, where the name of the test says it."""
        if self.test and self.word in _PING_PONGS:
            return ONE_WAY
        return COLLECTIVE if self.operation else ""

    def facts(self, group: str, *, partial: bool) -> dict[str, float | str | bool]:
        """Return the row of facts; rates with few digits do not say what the bus factor is."""
        factors = [
            row.bus_bps * row.time_s / 8 / row.size
            for row in self.rows
            if min(row.rate_bps, row.bus_bps) > 100 * _RATE_STEP_BPS
        ]
        return fact_row(
            group=group, operation=self.operation, rank_count=self.rank_count, way=self.way,
            bus_bandwidth_bps=max((row.bus_bps for row in self.rows), default=nan),
            bus_factor=round(median(factors), 3) if factors else nan,
            wrong_count=self.wrong_count or nan, partial=partial or not self.is_whole,
        )  # fmt: skip


def _samples(
    file: Input, runs: Sequence[Run], names: Sequence[str], warnings: list[Notice], *,
    tool: str, partial: bool, version: str = "",
) -> TransferSamples:  # fmt: skip
    """Return the rows of all runs; refuse a text without one. ``names`` are those of the groups."""
    kept = [(name, run) for name, run in zip(names, runs, strict=True) if run.rows]
    if not kept:
        raise file.refusal("sizes-nothing", tool=tool)
    rows = [(name, row.size, row.time_s) for name, run in kept for row in run.rows]
    groups, sizes, times = zip(*rows, strict=True)
    return TransferSamples(
        payload_bytes=sizes, duration_s=times, failed=[False] * len(rows), group=groups,
        meta=Meta(
            tool=tool, tool_version=version, resolutions={"duration_s": 0.01 * _US},
            facts=tuple(
                run.facts(name, partial=partial and run is kept[-1][1]) for name, run in kept
            ),
            warnings=tuple(warnings), **file.origin,
            partial=partial or file.unpacked.grew or not all(run.is_whole for _, run in kept),
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------ nccl-tests

_PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>:|\s*\d+: )?\s*")
"""What mpirun and srun put before a line: which rank printed it."""


def _side(name: str) -> str:
    """Return the pattern of the numbers of one side of a row, and those of its iterations."""
    return (
        rf"\s+(?P<{name}_time>{_NUMBER})\s+(?P<{name}_rate>{_NUMBER})\s+(?P<{name}_bus>{_NUMBER})"
        rf"\s+(?P<{name}_wrong>{_NUMBER}|N/A)(?:(?:\s+{_NUMBER}){{4}})??"
    )


_NCCL_ROW = re.compile(
    r"(?P<size>\d{1,15})\s+(?P<count>\d{1,15})\s+(?P<type>[a-z][a-z0-9_]+)"
    r"(?:\s+(?P<redop>[a-z]\w*))?(?:\s+-?\d{1,6})?"
    + _side("out")
    + rf"(?:{_side('in')})?(?:\s+\d{{4}}-\S+ \S+)?\s*"
)
# A page that shows Markdown leaves out the # in front of a line.
_NCCL_HEADER = r"^[^#]{0,30}#?\s*(?:nThread \d+ nGpus \d+ |size\s+count\s+type\s)"
_NCCL_TOTAL = re.compile(rf"#?\s*Avg bus bandwidth\s*:\s*{_NUMBER}")
_NCCL_START = re.compile(r"#?\s*nThread \d+ nGpus \d+ ")
_NCCL_COLUMNS = re.compile(r"#?\s*size\s+count\s+type")
_NCCL_TEST = re.compile(r"\b([a-z_]+)_perf\b")
_NCCL_RANK = re.compile(r"#?\s*Rank\s+(\d+) +(?:Group|Pid)\b")
_NCCL_LIKE = re.compile(
    r"(?=.*\d)(?:\S+\s+){2,8}?(?:float\d*|bfloat16|half|double|u?int\d*|f8e\dm\d|fp8\w+)(?:\s.*)?"
    r"|\d+(?:\s+\d+)*"
)
"""What may be a damaged row: it has the type of a row, or is the beginning of one."""
_RATE_STEP_BPS = 8e7
"""Rates are printed in gigabytes per second, with two digits."""


def _like_nccl(line: str) -> re.Match[str] | None:
    """Return a row of nccl-tests whose size, time and rate agree."""
    row = _NCCL_ROW.fullmatch(_PREFIX.sub("", line, count=1))
    if row is None or int(row["count"]) > int(row["size"]):
        return None
    for side in ("out", "in"):
        if row[f"{side}_time"] is not None:
            time, rate = float(row[f"{side}_time"]), float(row[f"{side}_rate"])
            expected = float(row["size"]) / time / 1e3 if time > 0 else nan
            # Old versions print (n-1)/n of it for an all-gather or a reduce-scatter of n ranks.
            is_old = rate == float(row[f"{side}_bus"])
            parts = [1.0, *(1 - 1 / n for n in range(2, 65 if is_old else 2))]
            if not any(abs(part * expected - rate) <= 0.01 + 0.01 * rate for part in parts):
                return None
    return row


def _read_nccl(file: Input) -> TransferSamples:
    pairs = [_begun_pair()]
    empty, test, ranks = 0, "", set[int]()
    lines = WholeLines(file.text, padded=True)
    for number, full_line in lines:
        line = _PREFIX.sub("", full_line, count=1)
        starts = _NCCL_START.match(line)
        if starts or _NCCL_COLUMNS.match(line):
            if starts and pairs[-1][0].rows:
                ranks = set()
            if not any(run.rows for run in pairs[-1]):
                pairs.pop()
            pairs.append(_begun_pair())
        elif rank := _NCCL_RANK.match(line):
            ranks.add(int(rank[1]))
        elif name := _NCCL_TEST.search(line):
            test = "" if "concluded" in line else name[1]
        elif _NCCL_TOTAL.match(line):
            for run in pairs[-1]:
                run.is_whole = True
            test = ""
        elif row := _like_nccl(full_line):
            empty += row["size"] == "0"
            for run in pairs[-1]:
                run.test, run.rank_count = test, max(ranks, default=nan) + 1.0
            if row["size"] != "0" and not _add_row(pairs[-1], row):
                lines.unread.append(number)
        elif not line.startswith("#") and _NCCL_LIKE.fullmatch(line.strip()):
            lines.unread.append(number)
    warnings = lines.with_unread("sizes-lines-unread")
    note(warnings, "sizes-of-nothing", count=empty)
    sides = ("out-of-place", "in-place")
    titles = groups_of([pair[0].operation or pair[0].test for pair in pairs])
    runs = [run for pair in pairs for run in pair]
    wrong = sum(run.wrong_count for run in runs)
    note(warnings, "sizes-wrong-results", count=int(wrong))
    names = [" ".join(filter(None, (title, side))) for title in titles for side in sides]
    return _samples(file, runs, names, warnings, tool="nccl-tests", partial=lines.cut)


def _begun_pair() -> tuple[Run, Run]:
    """Return the runs out of place and in place of a table without its end yet."""
    return Run(is_whole=False), Run(is_whole=False)


def _add_row(pair: tuple[Run, Run], row: re.Match[str]) -> bool:
    """Add the sides of a row; return whether it has both, if the rows before it do."""
    is_whole = True
    for side, run in zip(("out", "in"), pair, strict=True):
        if row[f"{side}_time"] is None:
            is_whole = not run.rows
            continue
        rate, bus = (8e9 * float(row[f"{side}_{name}"]) for name in ("rate", "bus"))
        run.rows.append(Row(float(row["size"]), float(row[f"{side}_time"]) * _US, rate, bus))
        run.wrong_count += float(row[f"{side}_wrong"]) >= 1 if row[f"{side}_wrong"] != "N/A" else 0
    return is_whole


NCCL = Format(
    name="nccl-tests",
    description="the output of nccl-tests or rccl-tests",
    recognize=lambda file: file.seen(_NCCL_HEADER) or any(map(_like_nccl, file.first.splitlines())),
    read=_read_nccl,
    traps=(
        "The time is of the collective; algbw is size over time, in powers of 1000.",
        "busbw is algbw times 2(n-1)/n in an all-reduce, (n-1)/n in an all-gather, a "
        "reduce-scatter or an all-to-all, 1 in others: it is what compares with the line.",
        "The size of an all-gather and of a reduce-scatter is that of all ranks together.",
        "Avg bus bandwidth is a mean over all sizes, the smallest too, and no rate of a line.",
        "A row whose size, time and algbw disagree is damaged, and left out.",
        "Ranks and collective are known where the text has the list of devices and the command.",
    ),
    # doc/PERFORMANCE.md: bytes of the vectors
    tools={"nccl-tests": Counted(
        facts={"bus_bandwidth_bps": MeasuringPoint("", "data of the collective")}, rates=PAYLOAD
    )},
    parts=(r"#\s*Out of bounds values\s*:", r"#\s*Avg bus bandwidth\s*:",
           r"#\s+Rank +\d+ .*device"),
    needs="a row with size, time, algbw and busbw",
)  # fmt: skip


# ------------------------------------------------------------------- OSU, Intel MPI Benchmarks

_OSU_TITLE = re.compile(
    r"# OSU (?:MPI|NCCL|RCCL|UPC|OpenSHMEM|oshm)?(?:-\w+)?(?P<test>.*?)"
    r"(?:(?P<kind>Latency|Bi-?[Dd]irectional Bandwidth|Bandwidth|Bandwidth / Message Rate) Test)?"
    r"(?: v(?P<version>\d[\w.]*))?\s*",
)
_OSU_HEADER = re.compile(
    r"#\s*Size\s+(?=(?:Avg )?Lat|Bi-Band|Band|MB/s)(?P<columns>\S.*?)\s*", re.IGNORECASE
)
_OSU_COLUMN = re.compile(
    r"(?P<time>(?:Avg )?Lat(?:ency)? ?\(us\))|(?P<rate>(?:Bi-)?Bandwidth ?\(MB/s\)|MB/s)"
    r"|(?P<other>\S(?:[^()]*?\([^)]*\)|\S*))",
    re.IGNORECASE,
)
_IMB_TITLE = re.compile(
    r"#\s*(?:Benchmarking\s+(?P<test>[A-Za-z_]+)\s*|#processes = (?P<ranks>\d+).*)"
)
_IMB_HEADER = re.compile(r"#(?:Benchmarking\s+#procs\s+#)?bytes\s+#repetitions\s+t.*")
_IMB_COLUMNS = {
    "#bytes": "size", "t[usec]": "time", "t_avg[usec]": "time", "#Benchmarking": "", "#procs": "",
}  # fmt: skip


def _columns_of_osu(header: re.Match[str]) -> tuple[str, ...]:
    kinds = [str(column.lastgroup) for column in _OSU_COLUMN.finditer(header["columns"])]
    return ("size", *kinds)


def _columns_of_imb(header: re.Match[str]) -> tuple[str, ...]:
    return tuple(_IMB_COLUMNS.get(token, token) for token in header[0].split())


def _tables(
    file: Input, title: re.Pattern[str], header: re.Pattern[str],
    columns_of: Callable[[re.Match[str]], tuple[str, ...]],
) -> tuple[list[Run], str, WholeLines]:  # fmt: skip
    """Return the tables below their titles and headers, the version, and the lines of the text.

    A title has groups for the test, its kind, the ranks and the version, of which a line may have
    some.
    """
    runs: list[Run] = []
    about: dict[str, str] = {}
    lines = WholeLines(file.text)
    for number, full_line in lines:
        line = full_line.strip()
        if head := header.fullmatch(line):
            test = f"{about.get('test', '').strip()} {about.get('kind', '')}".strip()
            runs.append(Run(test, float(about.get("ranks", "nan")), columns_of(head)))
        elif titled := title.fullmatch(line):
            groups = {name: text for name, text in titled.groupdict().items() if text is not None}
            about = groups if "test" in groups else about | groups
        elif not line.startswith("#") and runs and runs[-1].columns:
            cells, columns = line.split(), runs[-1].columns
            numbers = sum(re.fullmatch(_NUMBER, cell) is not None for cell in cells)
            if row := _row(cells, columns):
                runs[-1].rows.append(row)
            elif line[:1].isdigit() or 2 * numbers >= len(columns) >= len(cells) - 3:
                lines.unread.append(number)
    return runs, about.get("version", ""), lines


def _row(cells: Sequence[str], columns: Sequence[str]) -> Row | None:
    """Return the numbers of a row; None of a line that is none of the table."""
    row = dict(zip(columns, cells, strict=False))
    is_row = len(cells) == len(columns) and all(
        re.fullmatch(_NUMBER if name in ("size", "time", "rate") else _NUMBER_OR_WORD, cell)
        for cell, name in zip(cells, columns, strict=True)
    )
    if not is_row or not row["size"].isdigit():
        return None
    time, rate = (float(row.get(name, "nan")) for name in ("time", "rate"))
    return Row(float(row["size"]), time * _US, rate * 8e6)


def _read_osu(file: Input) -> Samples:
    runs, version, lines = _tables(file, _OSU_TITLE, _OSU_HEADER, _columns_of_osu)
    warnings = lines.with_unread("sizes-lines-unread")
    timed = [run for run in runs if "time" in run.columns and run.rows]
    rated = [run for run in runs if "rate" in run.columns and run.rows]
    if not timed and rated:
        return _rates_of_osu(file, rated, warnings, partial=lines.cut, version=version)
    note(warnings, "sizes-rates-left-out", count=len(rated))
    _without_nothing(timed, warnings)
    names = groups_of([run.operation or run.test for run in timed])
    return _samples(
        file, timed, names, warnings, tool="OSU Micro-Benchmarks", partial=lines.cut,
        version=version,
    )  # fmt: skip


def _without_nothing(runs: Iterable[Run], warnings: list[Notice]) -> None:
    """Leave out rows of 0 bytes of collectives, which send nothing."""
    empty = 0
    for run in runs:
        rows = [row for row in run.rows if row.size or not run.operation]
        empty += len(run.rows) - len(rows)
        run.rows = rows
    note(warnings, "sizes-of-nothing", count=empty)


def _rates_of_osu(
    file: Input,
    runs: Sequence[Run],
    warnings: list[Notice],
    *,
    partial: bool,
    version: str = "",
    tool: str = "OSU Micro-Benchmarks",
) -> Table:
    """Return rates by size; of a test in both directions those of one of them, half of the sum."""
    names = groups_of([run.test for run in runs])
    ways = [2.0 if "bi" in run.test.lower().split("-")[0].split() else 1.0 for run in runs]
    rows = [
        (name, row.size, row.rate_bps / way)
        for name, run, way in zip(names, runs, ways, strict=True)
        for row in run.rows
    ]
    groups, sizes, rates = zip(*rows, strict=True)
    note(warnings, "sizes-both-directions", count=sum(way > 1 for way in ways))
    return file.table(
        tool,
        {"group": groups, "payload_bytes": sizes, "throughput_bps": rates},
        layers={"payload_bytes": "payload", "throughput_bps": PAYLOAD},
        facts=[
            fact_row(
                group=name, received_rate_bps=max(row.rate_bps for row in run.rows) / way,
                partial=partial,
            )
            for name, run, way in zip(names, runs, ways, strict=True)
        ],
        warnings=warnings, partial=partial or file.unpacked.grew, tool_version=version,
    )  # fmt: skip


OSU = Format(
    name="OSU Micro-Benchmarks",
    description="the output of the OSU Micro-Benchmarks",
    recognize=lambda file: file.seen(r"^\s*# ?Size\s+(?:(?:Avg )?Latency ?\(us\)"
                                     r"|(?:Bi-)?Bandwidth ?\(MB/s\)|MB/s\s)"),
    read=_read_osu,
    traps=(
        "osu_latency is one way: half of a measured round trip. The time of a collective is the "
        "mean over its ranks (Avg).",
        "MB/s are powers of 1000. osu_bibw prints the sum of both directions; the rate is half.",
        "osu_bw has 64 messages under way: its times are no latencies.",
        "The number of ranks is not printed. The size of osu_allgather is that of one rank.",
        "A row of 0 bytes of a collective is left out: nothing was sent.",
    ),
    # README of OMB: bytes of the messages
    tools={"OSU Micro-Benchmarks": Counted(data="messages", rates=PAYLOAD)},
    parts=(
        r"^(?=.{28})\d{1,10} +\d+\.\d\d(?: {4,}[\d.]+)*\s*$",
        r"^# OSU (?:MPI|NCCL)", r"^# Datatype: MPI_\w+\.\s*$"),
    needs="a header (# Size ...), and a row with size and time or rate",
)  # fmt: skip


def _read_imb(file: Input) -> TransferSamples:
    runs, _, lines = _tables(file, _IMB_TITLE, _IMB_HEADER, _columns_of_imb)
    warnings = lines.with_unread("sizes-lines-unread")
    runs = [run for run in runs if "time" in run.columns and run.rows]
    _without_nothing(runs, warnings)
    titles = [run.operation or run.test for run in runs]
    if len(set(titles)) < len(titles):  # one test among more and more ranks
        titles = [
            f"{title}, {run.rank_count:.0f} ranks" for title, run in zip(titles, runs, strict=True)
        ]
    names = groups_of(titles)
    return _samples(file, runs, names, warnings, tool="Intel MPI Benchmarks", partial=lines.cut)


IMB = Format(
    name="Intel MPI Benchmarks",
    description="the output of the Intel MPI Benchmarks",
    recognize=lambda file: file.seen(r"^\s*#(?:Benchmarking\s+#procs\s+#)?bytes\s+#repetitions\s"),
    read=_read_imb,
    traps=(
        "PingPong is one way: half of a measured round trip. Of a collective, t_avg is taken, the "
        "mean over its ranks; t_max is when the last one is done.",
        "Mbytes/sec are powers of 1000 or of 1024 by the version, and serve nothing here.",
        "A row of 0 bytes of a collective is left out: nothing was sent.",
    ),
    tools={"Intel MPI Benchmarks": Counted(data="messages", rates=PAYLOAD)},
    parts=(
        r"^(?=[ \d]{26})(?: {4,}\d+){2}(?: {5,}\d+\.\d\d){1,4}\s*$",
        r"^# (?:Date|Machine|System|Release|Version|MPI Version|MPI Thread Environment) *:",
        r"^# Calling sequence was|^# \S*IMB-",
        r"^#\s*Benchmarking\s+[A-Za-z_]+\s*$",
        r"^#\s+Intel ?\(R\) MPI Benchmark|^# List of Benchmarks to run:",
        r"^# All processes entering MPI_Finalize|^# (?:Ping\w+|All\w+|Bcast|Exchange)\s*$",
    ),
    needs="a header (#bytes #repetitions ...), and a row with size and time",
)


# -------------------------------------------------------------------------------------- perftest

_PERFTEST_TITLE = re.compile(r"(?P<test>\w+(?: \w+){0,3} (?:BW|Latency)) Test")
_PERFTEST_HEADER = re.compile(r"#bytes\s+(?:#sl\s+)?#iterations\s+(?:BW peak\[|t_(?:min|avg)\[).*")
_PERFTEST_COLUMN = re.compile(
    r"tps average|(?:BW |MsgRate )?[#\w.%]+(?: percentile)?(?:\[[^]]*\])?"
)


def _columns_of_perftest(header: re.Match[str]) -> tuple[str, ...]:
    names = _PERFTEST_COLUMN.findall(header[0])
    time = "t_typical[usec]" if "t_typical[usec]" in names else "t_avg[usec]"
    kinds = {"#bytes": "size", time: "time", "BW average[MB/sec]": "rate",
             "BW average[Gb/sec]": "rate"}  # fmt: skip
    return tuple(kinds.get(name, name) for name in names)


def _read_perftest(file: Input) -> Samples:
    runs, _, lines = _tables(file, _PERFTEST_TITLE, _PERFTEST_HEADER, _columns_of_perftest)
    warnings = lines.with_unread("sizes-lines-unread")
    timed = [run for run in runs if "time" in run.columns and run.rows]
    rated = [run for run in runs if "rate" in run.columns and run.rows]
    for run in rated:
        unit = 1e9 if "BW peak[Gb/sec]" in run.columns else 8 * 1024.0**2
        run.rows = [row._replace(rate_bps=row.rate_bps / 8e6 * unit) for row in run.rows]
        run.test = run.test.replace("Bidirectional", "Bi-Directional")
    if rated and not timed:
        return _rates_of_osu(file, rated, warnings, partial=lines.cut, tool="perftest")
    note(warnings, "sizes-rates-left-out", count=len(rated))
    names = groups_of([run.test for run in timed])
    return _samples(file, timed, names, warnings, tool="perftest", partial=lines.cut)


PERFTEST = Format(
    name="perftest",
    description="the output of perftest (ib_write_bw, ib_send_lat)",
    recognize=lambda file: file.seen(rf"^\s*{_PERFTEST_HEADER.pattern}"),
    read=_read_perftest,
    traps=(
        "MB/sec are powers of 1024, Gb/sec of 1000; the average is taken, not the peak. -b prints "
        "the sum of both directions; the rate is half.",
        "A latency of send and write is one way: half of a round trip; that of read and atomic is "
        "a whole one. t_typical, the median, is taken, or t_avg where there is none.",
        "A rate has many messages under way: its times are no latencies.",
    ),
    # perftest_parameters.c: bytes of the messages
    tools={"perftest": Counted(data="messages", rates=PAYLOAD)},
    parts=(r"^\s*(?:RDMA_\w+|Send|Atomic\w*) .*Test\s*$", r"^ (?:local|remote) address: LID ",
           r"^ (?:Number of qps|CQ Moderation|TX depth|Link type|Max inline data) *: ",
           r"^ \d+ +\d+ +\d+\.\d\d +\d+\.\d\d\s.*\t +\d"),
    needs="the header (#bytes #iterations ...), and a row",
)  # fmt: skip


# --------------------------------------------------------------------------------------- NetPIPE

_NETPIPE_ROW = re.compile(
    rf"\s*\d+:\s+(?P<size>\d{{1,12}}) bytes\s+\d+ times -->\s+(?P<rate>{_NUMBER}) Mbps in\s+"
    rf"(?P<time>{_NUMBER}) usec\s*"
)
_NETPIPE_LIKE = re.compile(r".*times -->|\s*\d+: +\d")
_NP_OUT = re.compile(rf"\s*(?P<size>\d{{1,12}})\s+(?P<rate>{_NUMBER})\s+(?P<time>0\.\d{{6,12}})\s*")


def _agrees(row: re.Match[str], unit: float) -> bool:
    """Whether the rate of a row is its size over its time, in powers of 1024."""
    time, rate = float(row["time"]) * unit, float(row["rate"])
    expected = 8 * float(row["size"]) / time / 1024**2 if time > 0 else nan
    return abs(expected - rate) <= 0.006 + 0.02 * rate


def _is_np_out(file: Input) -> bool:
    lines = list(islice(filter(str.strip, file.first.splitlines()), 20))
    rows = [_NP_OUT.fullmatch(line) for line in lines]
    return (
        file.columns is None
        and len(rows) >= _LEAST_ROWS
        and all(row is not None and _agrees(row, 1.0) for row in rows)
    )


def _read_netpipe(file: Input) -> TransferSamples:
    pattern, unit = (_NP_OUT, 1.0) if _is_np_out(file) else (_NETPIPE_ROW, _US)
    run, lines = Run("PingPong"), WholeLines(file.text)
    for number, line in lines:
        row = pattern.fullmatch(line)
        if row is not None and _agrees(row, unit):
            run.rows.append(Row(float(row["size"]), float(row["time"]) * unit))
        elif row is not None or _NETPIPE_LIKE.match(line) or (pattern is _NP_OUT and line.strip()):
            lines.unread.append(number)
    warnings = lines.with_unread("sizes-lines-unread")
    return _samples(file, [run], [""], warnings, tool="NetPIPE", partial=lines.cut)


NETPIPE = Format(
    name="NetPIPE",
    description="the output of NetPIPE",
    recognize=lambda file: file.seen(r"^\s*\d+:\s+\d+ bytes\s+\d+ times -->") or _is_np_out(file),
    read=_read_netpipe,
    traps=(
        "A time is one way: half of a round trip, unless it streamed (-s) or sent in both "
        "directions (-2), which the output does not say.",
        "Mbps are powers of 1024 squared; with the size they check the time.",
        "np.out has three columns without a header: bytes, Mbps and seconds.",
    ),
    tools={"NetPIPE": Counted(data="messages", rates=PAYLOAD)},
    parts=(r"^Now starting the main loop\s*$",),
    needs="a row with bytes, Mbps and usec",
)
