"""Runs of a tool that sends probes to a host: rows, printed totals, facts, what does not agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, ClassVar

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input, columns_of, groups_of
from netcalc.readers.lines import LineTable, ToolLine, skipped_lines
from netcalc.readers.places import Counted, MeasuringPoint
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import Fact, RttSamples, fact_row


@dataclass(slots=True)
class Probe:
    """One probe or duplicate reply, as :class:`netcalc.samples.RttSamples` has it."""

    rtt_s: float = nan
    payload_bytes: float = nan
    sequence: float = nan
    lost: bool = False
    duplicate: bool = False
    error_reply: bool = False
    resolution_s: float = 0.0
    sent_s: float = nan
    ttl: float = nan
    group: str = ""


@dataclass(slots=True)
class Run:
    """The probes to one target, and the tool's own summary of them."""

    target: str = ""
    protocol: str = ""
    group: str = ""
    probes: list[Probe] = field(default_factory=list)
    sent: int | None = None
    received: int | None = None
    duplicates: int | None = None
    loss_ratio: float = nan
    rtt_min_s: float = nan
    rtt_median_s: float = nan
    rtt_max_s: float = nan
    payload_bytes: float = nan
    printed: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    is_of_answers: bool = False
    """Whether a count of answers stands without the count of requests."""
    answered_by: list[tuple[Probe, str]] = field(default_factory=list)
    """Replies with the hosts that sent them, where a tool tells hosts apart and not requests."""
    hosts: set[str] = field(default_factory=set)
    """Hosts that answered, where the lines name them."""

    @property
    def counted_only(self) -> bool:
        """Whether no probe has a line."""
        return not self.probes

    @property
    def some_rtt_s(self) -> float:
        """One of the times of the summary; nan if it has none."""
        return float(np.fmin(self.rtt_min_s, np.fmin(self.rtt_median_s, self.rtt_max_s)))

    @property
    def first(self) -> list[Probe]:
        """The probes without the duplicate replies."""
        return [probe for probe in self.probes if not probe.duplicate]

    @property
    def sent_count(self) -> int | None:
        """Probes sent: those with a row, or those of the summary."""
        return self.sent if self.counted_only else len(self.first)

    @property
    def received_count(self) -> int | None:
        """Probes answered: those with a row, or those of the summary."""
        if self.counted_only:
            return self.received
        return sum(not probe.lost for probe in self.first)

    def fill(self, start: int, *, whole: bool = True, errors: int = 0) -> None:
        """Add the probes without a line, from the first number to the last one sent, as lost.

        Of a text that may not be ``whole`` the first number is that of its first line, unless the
        totals say otherwise. Where they count more replies than there are lines of replies and of
        ``errors``, lines are missing, and none of their probes is known to be lost.
        """
        seen = {int(p.sequence) for p in self.probes if not isnan(p.sequence)}
        replies = sum(not probe.lost for probe in self.probes)
        if self.received is not None and self.received > replies + errors:
            self.ended &= not (self.probes or errors)
            self.received -= errors if not replies else 0
            return
        if not whole and self.sent is None:
            start = min(seen, default=start)
        last = max(seen, default=start - 1)
        if self.sent is not None and len(seen) <= self.sent <= len(seen) + 50_000:
            last = max(last, start + self.sent - 1)
        if last - start - len(seen) > 50_000:
            return
        size = next((p.payload_bytes for p in self.probes), nan)
        missing = [number for number in range(start, last + 1) if number not in seen]
        self.probes += [Probe(sequence=n, lost=True, payload_bytes=size) for n in missing]
        if missing:
            self.probes.sort(key=lambda probe: probe.sequence)

    def fill_unnumbered(self) -> None:
        """Add the probes that the totals count beyond those with a line, as lost.

        Where the totals count more replies than have a line, no other is known to be lost.
        """
        replies = sum(not probe.lost for probe in self.probes)
        if self.received is not None and self.received > replies:
            self.ended &= not self.probes
            return
        missing = (self.sent or 0) - len(self.probes)
        self.probes += [Probe(lost=True) for _ in range(min(max(missing, 0), 50_000))]

    def settle_surplus(self) -> None:
        """Take the answers beyond the requests, of a broadcast or multicast, for duplicates.

        The answers of the host that answered first are the replies. Of totals alone it is certain
        only where there was one request.
        """
        if self.counted_only and self.sent is None and not self.is_of_answers:
            self.received, self.ended = None, False  # of an unknown number
        if self.counted_only and self.sent == 1 < (self.received or 0):
            self.received, self.duplicates = 1, (self.received or 0) - 1
            self.loss_ratio = nan
        if not self.answered_by:
            return
        hosts = [host for _, host in self.answered_by]
        requests = self.sent
        if requests is None:  # of a cut text, in which each host answered as often as the first
            requests = max(map(hosts.count, set(hosts)))
            self.ended = False
        surplus = len(hosts) - requests
        others = [probe for probe, host in self.answered_by if host != hosts[0]]
        same = [probe for probe, host in self.answered_by if host == hosts[0]]
        for probe in (others + same[::-1])[: max(surplus, 0)]:
            probe.duplicate = True

    def answered(self, sequence: float) -> bool:
        """Whether a probe of this number was answered before, not longer ago than numbers last."""
        return any(p.sequence == sequence and not p.lost for p in self.probes[-1000:])

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts."""
        times = np.array(
            [p.rtt_s for p in self.first if not p.lost and not isnan(p.rtt_s)], dtype=float
        )
        sent, received = self.sent_count, self.received_count
        duplicates: int | None = len(self.probes) - len(self.first)
        if self.counted_only or (not duplicates and self.duplicates is not None):
            duplicates = self.duplicates  # of which no row is known
        low, middle, high = self.rtt_min_s, self.rtt_median_s, self.rtt_max_s
        if times.size:
            low, middle, high = times.min(), float(np.median(times)), times.max()
        elif low == high:
            middle = low  # nothing lies between them
        return fact_row(
            group=self.group,
            target=self.target,
            protocol=self.protocol,
            sent_count=sent,
            received_count=received,
            duplicate_count=duplicates,
            rtt_min_s=low,
            rtt_median_s=middle,
            rtt_max_s=high,
            printed_loss_ratio=self.loss_ratio if 0.0 <= self.loss_ratio <= 1.0 else None,
            loss_ratio=1.0 - received / sent if sent and received is not None else None,
            partial=not self.ended,
        )

    def refuse_impossible(self, file: str) -> None:
        """Refuse totals without lines that count more replies than probes."""
        if self.counted_only and self.sent is not None and (self.received or 0) > self.sent:
            raise ReaderError(
                "more-received-than-sent", file=file, field="received",
                value=str(self.received), sent=self.sent,
            )  # fmt: skip

    def disagreements(self) -> list[Notice]:
        """Return what the lines and the summary say differently."""
        notices: list[Notice] = []
        for quantity in () if self.counted_only else ("sent", "received"):
            printed, counted = getattr(self, quantity), getattr(self, f"{quantity}_count")
            more = quantity == "received" and printed and self.sent and printed > self.sent
            if more and printed == len(self.probes) - sum(p.lost for p in self.probes):
                continue  # of each of many hosts
            if printed is not None and printed != counted:
                values = {"quantity": quantity, "printed": printed, "counted": counted}
                notices.append(Notice("count-differs", values))
        below = self.received is not None and self.sent is not None and self.received > self.sent
        if not isnan(self.loss_ratio) and not 0.0 <= self.loss_ratio <= 1.0 and not below:
            notices.append(Notice("implausible-loss", {"percent": self.loss_ratio * 100}))
        return notices


def to_samples(
    file: Input, runs: Sequence[Run], tool: str, warnings: Sequence[Notice] = (), **meta: Any
) -> RttSamples:
    """Return the probes of all runs as one container, with a row of facts for each."""
    runs = [run for run in runs if run.probes or run.sent or not isnan(run.some_rtt_s)]
    if not runs:
        if file.is_json:  # a text of one long line is no reason here
            raise file.refusal("no-probe", tool=tool)
        raise no_measurement("no-probe", file.unpacked, file.text, tool=tool)
    groups = groups_of([run.group or run.target for run in runs])
    said = [*file.text.warnings, *warnings]
    for run, group in zip(runs, groups, strict=True):
        run.settle_surplus()
        if not run.target and (run.counted_only or not run.received_count):
            run.ended = False  # the end of a run, no more
        run.refuse_impossible(file.name)
        said += run.disagreements()
        if len(run.hosts) > 1:
            answers = sum(not probe.lost for probe in run.probes)
            values = {"answers": answers, "hosts": len(run.hosts), "requests": len(run.first)}
            said.append(Notice("several-hosts", values))
        run.group = group or run.group
        for probe in run.probes:
            probe.group = run.group
    probes = [probe for run in runs for probe in run.probes]
    columns: dict[str, Any] = columns_of(Probe, probes)
    if any(run.counted_only and run.sent is not None for run in runs):
        columns["sent_count"] = sum(run.sent_count or 0 for run in runs)
        columns["received_count"] = sum(run.received_count or 0 for run in runs)
    printed = [run.printed for run in runs if run.printed]
    meta_of_runs = file.meta(
        tool,
        [run.target for run in runs],
        printed=printed[0] if len(printed) == 1 else {"runs": printed} if printed else {},
        facts=tuple(run.facts() for run in runs),
        warnings=tuple(said),
        partial=any(not run.ended for run in runs),
        **meta,
    )
    return RttSamples(**columns, meta=meta_of_runs)


def stated(**values: Any) -> dict[str, Any]:
    """Return what a summary states, without what it does not: None and nan."""
    return {name: value for name, value in values.items() if value is not None and value == value}


def payload_of(packet_bytes: float, target: str) -> float:
    """Return the user data of an echo request in an IP packet; nan where it has no room for it.

    >>> payload_of(84, "192.0.2.1"), payload_of(104, "2001:db8::1")
    (56.0, 56.0)
    """
    size = float(packet_bytes) - (48.0 if ":" in target else 28.0)
    return size if size >= 0 else nan


class ProbeReader:
    """Reader of the text of a tool that probes: a table of its lines, and what each kind means.

    A subclass has the table and its marks. Each kind of line has a method of its name; a subclass
    overrides those that mean more than usual. The usual fields are ``target``, ``protocol``,
    ``payload_bytes``, ``version``; of probes ``rtt_s``, ``sequence``, ``ttl``, ``duplicate``,
    ``below`` (``<1 ms``); of totals those of :class:`Run`, where ``printed_`` in front keeps a
    number as printed only.
    """

    tool: ClassVar[str]
    marks: ClassVar[str]
    """Pattern of a line by which the tool is recognized."""
    table: ClassVar[LineTable]
    protocol: ClassVar[str] = ""
    last_total: ClassVar[str] = "received"
    """Field of totals with which a run is whole."""
    unprinted: ClassVar[tuple[str, ...]] = ()
    """Fields of totals that are not kept as printed."""
    hosts_take_turns: ClassVar[bool] = False
    """Whether the lines of several targets are mixed: each line with a target is of its run."""
    repeats: ClassVar[bool] = False
    """Whether a reply is known as a duplicate by its number alone."""
    counts_lost: ClassVar[bool] = False
    """Whether a lost probe has neither a line nor a number: the totals count it."""
    of_times: ClassVar[str] = ""
    """Code of the warning about what the times are of, if they are of more than a round trip."""

    def __init__(self, file: Input) -> None:
        self.file = file
        self.runs: list[Run] = []
        self.current: Run | None = None
        self.hosts: dict[str, Run] = {}
        self.skipped: list[int] = []
        self.warnings: list[Notice] = []
        self.version = ""

    @classmethod
    def format(
        cls,
        name: str,
        description: str = "",
        *,
        traps: tuple[str, ...],
        probes: MeasuringPoint | None = None,
        probes_by: Mapping[str, MeasuringPoint] | None = None,
        parts: tuple[str, ...] = (),
        needs: str = "",
    ) -> Format:
        """Return the format that the class reads; ``probes`` is what its tool's times are of."""
        return Format(
            name=name,
            description=description or f"the output of {name}",
            recognize=cls.recognize,
            read=cls.read,
            traps=traps,
            tools={cls.tool: Counted(probes=probes, probes_by=probes_by or {})} if probes else {},
            parts=parts,
            needs=needs,
        )

    @classmethod
    def recognize(cls, file: Input) -> bool:
        """Whether a line with a mark of the tool is among the first."""
        return file.seen(cls.marks)

    @classmethod
    def read(cls, file: Input) -> RttSamples:
        """Read all lines, each by the method of its kind."""
        reader = cls(file)
        for line in cls.table.lines(file.text, reader.skipped):
            if not reader.accepts(line):
                reader.skipped.append(line.number)
                continue
            if cls.hosts_take_turns and "target" in line:
                reader.turn_to(line["target"])
            getattr(reader, line.kind)(line)
        reader.finish()
        return reader.samples()

    @property
    def run(self) -> Run:
        """The run that is being read; it begins where it is asked for first."""
        return self.current or self.begin()

    def begin(self) -> Run:
        """Begin a run."""
        self.current = Run(protocol=self.protocol)
        self.runs.append(self.current)
        return self.current

    def turn_to(self, target: str) -> None:
        """Make the run to a target the one that is read."""
        self.current = self.hosts.get(target)
        self.run.target = target
        self.hosts[target] = self.run

    def accepts(self, line: ToolLine) -> bool:
        """Whether a line may come where it is; else it is one that is not read."""
        return True

    def finish(self) -> None:
        """Complete the runs once all lines are read."""
        for run in self.runs if self.counts_lost else ():
            run.fill_unnumbered()
        if self.of_times:
            self.warnings.append(Notice(self.of_times, {}))

    def samples(self) -> RttSamples:
        """Return the samples of the runs."""
        warnings = [*self.warnings, *skipped_lines(self.skipped)]
        version = shorten(self.version, 40)
        return to_samples(self.file, self.runs, self.tool, warnings, tool_version=version)

    def head(self, line: ToolLine) -> None:
        """Begin a run with what its first line says."""
        self.begin()
        self.about(line)

    def about(self, line: ToolLine) -> None:
        """Take what a line says of the run."""
        self.version = line.get("version", self.version)
        self.run.target = line.get("target", self.run.target)
        self.run.payload_bytes = float(line.get("payload_bytes", self.run.payload_bytes))
        self.run.protocol = line.get("protocol", self.run.protocol).lower()

    def reply(self, line: ToolLine) -> None:
        """Add a probe that was answered."""
        self.run.probes.append(self.probe(line))

    def lost(self, line: ToolLine) -> None:
        """Add a probe that was not answered, or with an error."""
        probe = self.probe(line)
        probe.rtt_s, probe.resolution_s, probe.duplicate = nan, 0.0, False
        probe.lost, probe.error_reply = True, "error_reply" in line
        self.run.probes.append(probe)

    def probe(self, line: ToolLine) -> Probe:
        """Return the probe of a line."""
        rtt_s, step_s = line.get("rtt_s", nan), line.step_s("rtt")
        if "below" in line:
            rtt_s, step_s = rtt_s / 2, rtt_s
        sequence = float(line.get("sequence", nan))
        payload_bytes = float(line.get("payload_bytes", self.run.payload_bytes))
        if "packet_bytes" in line:
            payload_bytes = payload_of(line["packet_bytes"], self.run.target)
        return Probe(
            rtt_s,
            payload_bytes=payload_bytes,
            sequence=sequence,
            duplicate="duplicate" in line or (self.repeats and self.run.answered(sequence)),
            ttl=float(line.get("ttl", nan)),
            resolution_s=step_s,
        )

    def spread(self, line: ToolLine) -> None:
        """Keep the times of a summary; they are none where nothing was received."""
        self.run.printed |= line.fields
        if self.run.received:
            self.run.rtt_min_s = line.get("rtt_min_s", nan)
            self.run.rtt_max_s = line.get("rtt_max_s", nan)

    def totals(self, line: ToolLine) -> None:
        """Keep the totals of a line; the last one ends a run."""
        for name, value in line.fields.items():
            quantity = name.removeprefix("printed_")
            is_loss = quantity == "loss_ratio" and not 0.0 <= value <= 1.0  # of many answers
            if quantity not in self.unprinted and not is_loss:
                self.run.printed[quantity] = value
            if hasattr(self.run, name):
                setattr(self.run, name, value)
        self.run.ended |= self.last_total in line
