"""All formats in the order in which they are tried: the first that recognizes an input reads it.

Kinds of files that no format reads are named too, so that a refusal says what a file is.
"""

from __future__ import annotations

import re
from itertools import pairwise

from netcalc.errors import ReaderError
from netcalc.readers import captures, columns, counters, paths, pings, saved, transfers
from netcalc.readers.format import Format, Input
from netcalc.readers.pings import ping
from netcalc.readers.places import TOOLS
from netcalc.readers.source import shorten

_MOST_NAMES = 8
"""Names of members that an error keeps. [1]"""
_FEW_LINES = 20
"""Lines of which a part of an output has no more, that has numbers alone at its head. [1]"""
_LEAST_LINES = 20
"""Lines from which numbers alone are taken for a trace. [1]"""
_WHOLE = re.compile(r"\d{1,12}")

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x7fELF", "ELF"),
    (b"MZ", "Windows program"),
    (b"%PDF-", "PDF"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"\x89HDF", "HDF5"),
    (b"\xd0\xcf\x11\xe0", "old Office"),
    (b"snoop\x00\x00\x00", "snoop"),
    (b"ARROW1", "Arrow"),
    (b"\x93NUMPY", "NumPy"),
)

KINDS = {
    "zstd": "zstd data",
    "zip": "a zip archive (as Excel files are)",
    "7z": "a 7z archive",
    "ELF": "a program (ELF)",
    "Windows program": "a program (Windows)",
    "PDF": "a PDF document",
    "PNG": "a picture (PNG)",
    "JPEG": "a picture (JPEG)",
    "GIF": "a picture (GIF)",
    "SQLite": "an SQLite database",
    "HDF5": "an HDF5 file",
    "old Office": "an old Office document",
    "snoop": "a packet capture (snoop)",
    "Arrow": "an Arrow file",
    "NumPy": "a NumPy array",
    "JSON of a ping": "JSON of a ping",
    "RIPE Atlas JSON": "RIPE Atlas JSON",
    "notebook": "a Jupyter notebook",
    "JSON": "JSON of an unknown kind",
    "damaged JSON": "JSON that is damaged or cut",
    "XML": "XML",
    "HTML": "a web page (HTML)",
    "netstat": "a list of routes, interfaces or local sockets of netstat",
    "mahimahi": "a packet trace of mahimahi",
    "ip address": "a list of addresses of ip (netcalc reads ip -s link)",
    "dig": "an answer of dig",
    "ab": "a report of ApacheBench",
    "nmap": "a report of nmap",
    "system log": "a system log",
    "account list": "a list of accounts, as /etc/passwd",
    "ip route": "a list of routes or neighbours of ip",
    "tc": "a list of queues of tc without counters (netcalc reads tc -s qdisc)",
    "ethtool": "settings of ethtool (netcalc reads ethtool -S)",
    "nload": "rates of nload (netcalc reads sar -n DEV, and counters: ip -s link)",
    "iftop": "rates of iftop (netcalc reads sar -n DEV, and captures of tcpdump)",
    "bmon": "rates of bmon (netcalc reads sar -n DEV, and counters: ip -s link)",
    "vnstat": "totals of vnstat (netcalc reads sar -n DEV, and counters: ip -s link)",
    "Wi-Fi scan": "a list of networks in range (netcalc reads the link: iw dev DEVICE link)",
    "ifconfig": "the output of ifconfig without counters (netcalc reads netstat -ib)",
    "nmcli": "the output of nmcli",
    "ipconfig": "the output of ipconfig",
    "/proc/net table": "a table of /proc/net without counters or sockets of TCP and UDP",
    "vmstat": "statistics of a system, not of its network (vmstat, free, /proc)",
    "sysctl": "settings of a kernel (sysctl)",
    "ARP table": "a table of addresses (ARP)",
    "resolver": "a configuration of the resolver, or an answer of nslookup or resolvectl",
    "HTTP headers": "the headers of an HTTP response",
    "configuration": "a configuration file with comments",
    "keys": "lines of names and values that no known tool prints",
    "YAML": "YAML",
    "INI": "a configuration file (INI)",
    "source code": "a program in Python",
    "shell script": "a shell script",
    "Markdown": "Markdown",
    "text": "text",
}
"""A kind that :func:`kind_by_magic` or :func:`kind_by_text` returns -> its name in a message."""

_NETSTAT = (
    r"^(?:Active |Routing tables|Kernel IP routing table|Kernel Interface table)"
    r"|^Destination +Gateway +Flags|^(?:default|[\d./]+) +(?:[\d.]+|link#\d+) +U[A-Za-z0-9]* +\d"
    r"|^\S{1,60} +(?:link#\d+|[\da-f]{0,4}[:.][\da-f:.]+(?:%\w+)?) +U[A-Zb-z1-3]*(?: +\d+){3} +\w+"
)
# Text that is no table, though its lines may have as many words each as one.
_LINES: tuple[tuple[str, str], ...] = (
    ("ip address", r"\d{1,6}: \S{1,60}: <[A-Z,_-]*> mtu \d"),
    ("dig", r"; <<>> DiG "),
    ("shell script", r"#!.*\b(?:ba|da|z|k)?sh\b"),
    ("ab", r"This is ApacheBench"),
    ("nmap", r"(?:# |Starting )?Nmap (?:\d|scan report)"),
    ("system log", r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,255} [\w./()-]{1,64}(?:\[\d+\])?: "),
    ("account list", r"[\w-]{1,64}:[^:]{0,200}:\d+:\d+:[^:]*:/[^:]*:/?\S*$"),
)
_NO_TABLES: tuple[tuple[str, str], ...] = (
    ("INI", r"\[[\w .-]{1,80}\]\s*$"),
    ("source code", r"(?:import \w|from [\w.]+ import |def \w+\(|#!.*python)"),
    ("Markdown", r"#{1,6} \w"),
)
_IFTOP = r"^ *# Host name \(port/service if enabled\) +last 2s|^Total send rate: "
# What one of the first lines shows, wherever it is: a prompt or another command may be before it.
_SEEN: tuple[tuple[str, str], ...] = (
    (
        "ethtool",
        r"^(?:Settings|Features|Offload parameters|Ring parameters|Pause parameters"
        r"|Channel parameters|Coalesce parameters|Time stamping parameters|EEE settings"
        r"|FEC parameters|Private flags|Permanent address|Link settings)\b.* for \S+:"
        r"|^driver: \S+\n(?:version|firmware-version): |^\tSupported link modes: "
        r"|^(?:rx-checksumming|tcp-segmentation-offload|generic-receive-offload): (?:on|off)"
        r"|^Pre-set maximums:$",
    ),
    ("nload", r"^Device \S+ (?:\[[^]]*\] )?\(\d+/\d+\):"),
    ("iftop", _IFTOP),
    ("bmon", r"^ *Interfaces +\S RX bps +pps +%"),
    (
        "vnstat",
        r"^\s*(?:(?:#\s+)?(?:hour|day|month|year)\s+)?rx +[|/] +tx +[|/] +total\b"
        r"|^\s+rx: +[\d.]+ \w+ +tx: +[\d.]+ \w+ +total: ",
    ),
    (
        "Wi-Fi scan",
        r"^BSS (?:[0-9a-f]{2}:){5}[0-9a-f]{2}\(on |^\S+ +Scan completed"
        r"|^SSID \d+ *:|^ +Cell \d+ - Address: ",
    ),
    ("ifconfig", r"^\S+: flags=[0-9a-f]+<[A-Z0-9_,]*>|^\S+ +Link encap:"),
    (
        "nmcli",
        r"^GENERAL\.[A-Z]+:|^IN-USE +(?:BSSID|SSID) |^DEVICE +TYPE +STATE "
        r"|^NAME +UUID +TYPE +DEVICE|^\S+: (?:connected|disconnected|unavailable|unmanaged)\b.*$",
    ),
    ("ipconfig", r"^Windows.IP.(?:Configuration|Konfiguration)|^ {3}IPv4\S*(?: \.)+ *: "),
    (
        "/proc/net table",
        r"^Iface\tDestination\tGateway|^IP address +HW type +Flags"
        r"|^Num +RefCount Protocol Flags|^sk +RefCnt Type Proto|^protocol +size sockets"
        r"|^Idx\tDevice|^[0-9a-f]{32} [0-9a-f]{2} [0-9a-f]{2} [0-9a-f]{2} [0-9a-f]{2} +\S+$",
    ),
    (
        "vmstat",
        r"^procs -+memory-+|^ +total +used +free +shared|^MemTotal: +\d+ kB"
        r"|^cpu +\d+(?: \d+){6,}$|^ +CPU0(?: +CPU\d+)*\s*$"
        r"|^\d+\.\d\d \d+\.\d\d \d+\.\d\d \d+/\d+ \d+$",
    ),
    ("sysctl", r"^(?:net|kernel|vm|fs|dev)(?:\.[\w/-]+)+ ?= ?"),
    (
        "ARP table",
        r"^\S+ \([\d.]+\) at (?:[0-9a-f:]{11,17}|<incomplete>|\(incomplete\)) "
        r"|^Address +HWtype +HWaddress",
    ),
    (
        "resolver",
        r"^nameserver [0-9a-fA-F.:]+\s*$|^Server:\s+\S+\nAddress:\s+\S+#53"
        r"|^Link \d+ \(\S+\)$|^resolv\.conf mode: ",
    ),
    ("HTTP headers", r"^(?:< )?HTTP/[\d.]+ \d{3}\b"),
    (
        "ip route",
        r"^default via [0-9a-fA-F.:]+ dev \S+|^\S+ dev \S+ (?:proto|scope|lladdr) \S+"
        r"|^\d+:\s+from \S+ lookup \S+",
    ),
    ("tc", r"^qdisc \S+ [0-9a-f]+: (?:dev \S+ )?(?:root|parent)"),
)
_COMMENTED = re.compile(r"#(?![!#]).*|;.*")
_OF_MARKDOWN = r"^##+ \w|^```|^[-*] \S|\]\(|\*\*\w"
_OF_YAML = re.compile(r"\s+\S|-(?: |$)|---$|[\w.-]+:$")
_OF_LINES, _OF_NO_TABLE = (
    tuple((kind, re.compile(pattern)) for kind, pattern in kinds) for kinds in (_LINES, _NO_TABLES)
)
_YAML = re.compile(r"\s*(?:-(?: .*)?|[\w.-]{1,80}:(?: .*)?|#.*)|---")
_YAML_KEY = re.compile(r"[A-Za-z_][\w.-]{0,80}:(?: .*)?")


def kind_by_magic(data: bytes) -> str | None:
    """Return the kind of data by its first bytes, or None."""
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def kind_by_text(file: Input) -> str | None:
    """Return the tool that wrote a text, or None if it may be ping or columns."""
    if file.is_json:
        return _kind_of_json(file)
    start = file.first.lstrip("\ufeff \t\n\r")[:200]
    if re.match(r"<(?:!doctype html|html)", start, re.IGNORECASE):
        return "HTML"
    if re.match(r"<\?xml|<[A-Za-z][\w:.-]*[\s>]", start) and ">" in file.first:
        return "XML"
    if file.columns is None and _is_trace(file.first):
        return "mahimahi"
    return "netstat" if file.seen(_NETSTAT) else None


def kind_by_lines(file: Input) -> str | None:
    """Return the kind of a text whose first line is one of no table, before it is read as one."""
    lines = [line for line in file.first.lstrip("\ufeff").split("\n") if line.strip()]
    if not lines or file.columns is not None:
        return None
    by_pattern = next((kind for kind, pattern in _OF_LINES if pattern.match(lines[0])), None)
    if by_pattern is None:
        by_pattern = next((kind for kind, pattern in _SEEN if file.seen(pattern)), None)
    keyed = len(lines) > 1 and any(map(_YAML_KEY.fullmatch, lines))
    if by_pattern or not keyed or not all(map(_YAML.fullmatch, lines)):
        return by_pattern
    return "YAML" if any(map(_OF_YAML.match, lines)) else "keys"


def kind_of_text(file: Input) -> str | None:
    """Return the kind of a text that is neither of a tool nor a table, by its first line."""
    lines = [line for line in file.first.split("\n") if line.strip()]
    first = lines[0] if lines else ""
    kind = next((kind for kind, pattern in _OF_NO_TABLE if pattern.match(first)), None)
    if kind == "Markdown" and not file.seen(_OF_MARKDOWN):
        comments = sum(map(bool, map(_COMMENTED.fullmatch, lines)))
        return "configuration" if comments > 1 else kind
    return kind


def _is_trace(first: str) -> bool:
    """Whether all there is, is one column of whole numbers that never decrease, and many of them.

    So a packet trace of mahimahi looks: a time in each line, and no word of its unit.
    """
    lines = first.split("\n")
    if len(lines) < _LEAST_LINES or not all(map(_WHOLE.fullmatch, lines[:-1])):
        return False
    times = [int(line) for line in lines[:-1]]
    return all(earlier <= other for earlier, other in pairwise(times)) and times[0] < times[-1]


def root_element(file: Input) -> str:
    """Return the name of the first element of an XML text; empty if there is none."""
    element = re.search(r"<([^\W\d][\w:.-]*)", re.sub(r"(?s)<!--.*?-->", "", file.first))
    return shorten(element[1]) if element else ""


def _kind_of_json(file: Input) -> str:
    if not file.json.documents:
        return "damaged JSON"
    if {"msm_id", "prb_id"} <= file.keys():
        return "RIPE Atlas JSON"
    if "icmp_seq" in file.first or b"ping_statistics" in file.head:
        return "JSON of a ping"
    return "notebook" if {"cells", "nbformat"} <= file.keys() else "JSON"


MARKED: tuple[Format, ...] = (
    saved.PARQUET,
    *counters.BY_BYTES,
    saved.FORMAT,
    saved.EXPORTED,
    *captures.FORMATS,
    *transfers.FORMATS,
    *paths.FORMATS,
    *pings.FORMATS,
    *counters.FORMATS,
)
"""Formats with a mark of their own: magic bytes, a head of text, names of JSON members.

Parquet, messages of the kernel, what netcalc wrote itself, and captures come first: they are
recognized by their first bytes, and captures are never read as text.
"""

BY_LINES: tuple[Format, ...] = (ping.FORMAT, columns.FORMAT)
"""Formats without one, tried when the text is of no other tool that is known by name."""

FORMATS: tuple[Format, ...] = (*MARKED, *BY_LINES)
"""Every format that is read."""

for _format in FORMATS:
    TOOLS.update(_format.tools)

OF_SHORT_LINES = frozenset(
    each.name for each in (*transfers.FORMATS, *paths.FORMATS, *pings.FORMATS, *counters.FORMATS)
)
"""Formats whose text, where it is neither JSON nor XML, has lines that a person reads."""
OF_CONGESTION = (["kind", "schema", "by", "stack", "scenario"], ["rate_bps", "rtt_s"])
"""First members of a batch's results, and members of a scenario: no measurements."""
LONGEST_LINE = 10_000
"""Longest line of such a text: three times that of any real one here. Longer ones come of damage,
and a pattern may take a time that grows by the cube of their length. [character]"""

EMPTY, TEXT = "empty", "text"
"""Kinds of inputs without a measurement."""


def recognized(file: Input) -> Format | str:
    """Return the format of an input, or the name of its kind if no format reads it.

    Raises
    ------
    ReaderError
        If the input cannot be opened, or is neither text nor of a known kind.
    """
    marked = named(file)
    if marked is not None:
        return marked
    if file.text.blank:
        return EMPTY
    if ping.FORMAT.recognize(file):
        return ping.FORMAT
    kind = kind_by_lines(file)
    if kind is not None:
        return kind
    is_columns = columns.FORMAT.recognize(file) and not is_part(file)
    return columns.FORMAT if is_columns else kind_of_text(file) or TEXT


def require_short_lines(file: Input, format_: Format) -> None:
    """Refuse a text of short lines that has one which nobody could read."""
    if format_.name not in OF_SHORT_LINES or file.is_json or file.first.lstrip().startswith("<"):
        return
    for number, line in zip(file.text.numbers, file.text.lines, strict=True):
        if len(line) > LONGEST_LINE:
            raise file.refusal(
                "line-too-long", line=number, format=format_.description,
                length=len(line), longest=LONGEST_LINE,
            )  # fmt: skip


def named(file: Input) -> Format | str | None:
    """Return the format or kind of an input that has a mark of one; None if it has none."""
    kind = kind_by_magic(file.head)
    if kind in KINDS:
        return kind
    if not file.head.strip():
        return None
    marked = next((each for each in MARKED if each.recognize(file)), None)
    if marked is not None and marked.name == "traceroute" and file.seen(_IFTOP):
        return "iftop"  # its numbered hosts look like hops
    return marked or kind_by_text(file)


def part_of(file: Input) -> Format | None:
    """Return the format whose tool printed a line of a text that no format could read."""
    if kind_by_magic(file.head) or file.is_json or file.columns is not None:
        return None
    return next((each for each in FORMATS if any(map(file.seen, each.parts))), None)


def is_part(file: Input) -> bool:
    """Whether half of the lines of a short text, or more, are a tool's."""
    lines = [line for line in file.first.splitlines() if line.strip()]
    if not lines or len(lines) > _FEW_LINES:
        return False
    whole = part_of(file)
    return whole is not None and 2 * sum(
        any(re.search(part, line) for part in whole.parts) for line in lines
    ) >= len(lines)


def no_format(file: Input, kind: str) -> ReaderError:
    """Say why an input is not read: it is empty, text of no tool, or of a kind that is named."""
    if kind == EMPTY:
        return file.refusal("file-blank" if file.data.strip(b"\xef\xbb\xbf") else "file-empty")
    if kind == "damaged JSON" and file.json.fault is not None:
        return file.json.fault
    if kind == "zstd":
        file.unpacked  # noqa: B018 - raises what is wrong with it, or what is missing
    if kind == "mahimahi":
        return file.refusal("trace-without-unit", kind=kind)
    members = list(file.first_object)[:_MOST_NAMES] if kind == "JSON" else []
    names = [shorten(name) for name in members]
    if any(names[: len(first)] == first or set(first) <= set(names) for first in OF_CONGESTION):
        return file.refusal("json-of-congestion", kind=kind)
    if names:
        return file.refusal("unknown-json", kind=kind, names=names)
    root = root_element(file) if kind == "XML" else ""
    if root:
        return file.refusal("unknown-xml", kind=kind, root=root)
    return file.refusal("other-format", kind=kind, format=KINDS[kind])


def refuse_others(file: Input, expected: Format, code: str) -> None:
    """Raise an error that names what an input is, if it has the mark of another format or kind."""
    recognized_as = named(file)
    if recognized_as is None or recognized_as is expected:
        return
    if isinstance(recognized_as, Format):
        kind, description = recognized_as.name, recognized_as.description
    else:
        kind, description = recognized_as, KINDS[recognized_as]
    raise file.refusal(code, kind=kind, format=description)
