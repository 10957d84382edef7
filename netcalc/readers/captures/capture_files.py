"""The two file formats of captures, for the list of all formats."""

from __future__ import annotations

from dataclasses import replace

from netcalc.readers.captures import pcap, pcapng
from netcalc.readers.captures.capture import read_capture
from netcalc.readers.captures.facts import fact_rows, flow_table
from netcalc.readers.captures.tcp import tcp_notices
from netcalc.readers.format import Format, Input
from netcalc.samples import PacketTrace


def _read(given: Input) -> PacketTrace:
    """Read a capture: a file straight from the disk, whatever its length, other data as it is."""
    source = given.path if given.path is not None else given.source
    trace = read_capture(source, name=given.name)
    rows, analysis = fact_rows(trace)
    warnings = (*trace.meta.warnings, *tcp_notices(analysis))
    meta = replace(trace.meta, facts=rows, warnings=warnings)
    object.__setattr__(trace, "meta", meta)
    flow_table(trace, analysis)
    return trace


PCAP = Format(
    name="pcap",
    description="a packet capture (pcap)",
    recognize=lambda given: given.head[:4] in pcap.MAGICS,
    read=_read,
    traps=(
        "Lengths are those in the headers: the file may have been cut at a snap length.",
        "A fraction above a second, and a time before the last one, are kept and said.",
        "Packets of 64 kB are joined by the network card (GRO, TSO); a warning says so.",
        "Some programs wrote longer record headers under the same first bytes.",
    ),
)
PCAPNG = Format(
    name="pcapng",
    description="a packet capture (pcapng)",
    recognize=lambda given: given.head.startswith(pcapng.MAGIC),
    read=_read,
    traps=(
        "Each interface has a clock of its own: its resolution, its offset.",
        "Byte order and interfaces change with each section of a file.",
        "A simple packet block has no time: it stays missing.",
    ),
)
FORMATS = (PCAP, PCAPNG)
