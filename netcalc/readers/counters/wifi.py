"""The radio of a Wi-Fi link, as iw, the wireless extensions, netsh and macOS print it.

Each tool has a table of patterns: the name of a group is that of a fact, with its unit at its end,
or that of a counter behind ``counter_``. ``counter`` and ``count`` hold a counter by the name that
the tool gives it, and ``group`` begins another link.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile

from netcalc.messages import Notice
from netcalc.rate_layers import LINE
from netcalc.readers.format import Format, Input, groups_of, joined, seen
from netcalc.readers.places import HOST, Counted, MeasuringPoint
from netcalc.readers.source import WholeLines, note, shorten
from netcalc.samples import Table, fact_row, unit_of_fact

_SCALES = {
    "_mbps": ("_bps", 1e6), "_kbps": ("_bps", 1e3), "_gbps": ("_bps", 1e9),
    "_mhz": ("_hz", 1e6), "_ghz": ("_hz", 1e9), "_percent": ("_ratio", 0.01),
}  # fmt: skip
"""End of a group's name -> the end of its fact's name, and what its number is multiplied by."""
_LEAST_DBM, _MOST_DBM = -150.0, 40.0
_UNMEASURED_DBM = -256.0
"""What a driver without a measurement of noise reports."""
_MAC = r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


def _bitrate(way: str) -> tuple[str, ...]:
    """Return the patterns of a bit rate of iw: rate, scheme, width and number of streams."""
    ends = (
        rf"(?P<{way}_rate_mbps>\d+\.\d) MBit/s", rf".*\bMCS (?P<{way}_mcs>\d+)",
        rf".*? (?P<{way}_width_mhz>\d+)MHz", rf".*-NSS (?P<{way}_stream_count>\d+)",
    )  # fmt: skip
    return tuple(rf"^\s*{way} bitrate:[ \t]*(?={end}\b)" for end in ends)


_IW = _compiled(
    rf"^(?:Connected to|Station) (?P<group>{_MAC}) \(on (?P<interface>\S+)\)\s*$",
    r"^\s*freq: (?P<frequency_mhz>\d{4,5}(?:\.\d+)?)\s*$",
    r"^\s*signal:\s+(?P<signal_dbm>-?\d+) (?:\[[-\d, ]*\] )?dBm\s*$",
    r"^\s*signal avg:\s+(?P<signal_average_dbm>-?\d+) (?:\[[-\d, ]*\] )?dBm\s*$",
    *_bitrate("tx"),
    *_bitrate("rx"),
    r"^\s*Interface (?P<group>\S+)\s*$",
    r"^\s*channel (?P<channel>\d+) \((?P<frequency_mhz>\d{4,5}) MHz\), "
    r"width: (?P<channel_width_mhz>\d+) MHz",
    r"^\s*(?P<counter>(?:rx|tx) (?:bytes|packets)|tx (?:retries|failed)|beacon (?:loss|rx)|"
    r"rx drop misc):\s*(?P<count>\d+)\s*$",
    r"^\s*RX: (?P<counter_rx_bytes>\d+) bytes \((?P<counter_rx_packets>\d+) packets\)\s*$",
    r"^\s*TX: (?P<counter_tx_bytes>\d+) bytes \((?P<counter_tx_packets>\d+) packets\)\s*$",
)
_WIRELESS = _compiled(
    r"^\s*(?P<group>\S+): [0-9a-f]{4} +\d+\.? +(?P<signal_dbm>-\d+)\.? +(?P<noise_dbm>-\d+)\.? +"
    r"(?P<counter_nwid>\d+) +(?P<counter_crypt>\d+) +(?P<counter_frag>\d+) +"
    r"(?P<counter_retry>\d+) +(?P<counter_misc>\d+) +(?P<counter_beacon>\d+)"
    r"\s*$",
    r"^(?P<group>\S+) +(?:IEEE )?802\.11.*",
    r"\bFrequency[:=](?P<frequency_ghz>\d\.\d+) GHz",
    r"\bChannel[:=](?P<channel>\d+)\b",
    r"\bBit Rate[:=](?P<tx_rate_mbps>\d+(?:\.\d+)?) Mb/s",
    r"\bBit Rate[:=](?P<tx_rate_gbps>\d+(?:\.\d+)?) Gb/s",
    r"\bSignal level[:=](?P<signal_dbm>-\d+) dBm",
    r"\bNoise level[:=](?P<noise_dbm>-\d+) dBm",
    r"\b(?P<counter>Rx invalid nwid|Rx invalid crypt|Rx invalid frag|Tx excessive retries|"
    r"Invalid misc|Missed beacon):(?P<count>\d+)(?!\S)",
)
_MACOS = _compiled(
    r"^\s*agrCtlRSSI: (?P<signal_dbm>-\d+)\s*$",
    r"^\s*agrCtlNoise: (?P<noise_dbm>-\d+)\s*$",
    r"^\s*lastTxRate: (?P<tx_rate_mbps>\d+)\s*$",
    r"^\s*MCS(?: Index)? *: (?P<tx_mcs>\d+)\s*$",
    r"^\s*NSS *: (?P<tx_stream_count>\d+)\s*$",
    r"^\s*channel: (?P<channel>\d+)(?:,(?P<channel_width_mhz>\d+))?\s*$",
    r"^\s*RSSI +: (?P<signal_dbm>-\d+) dBm\s*$",
    r"^\s*Noise +: (?P<noise_dbm>-\d+) dBm\s*$",
    r"^\s*Tx Rate +: (?P<tx_rate_mbps>\d+(?:\.\d+)?) Mbps\s*$",
    r"^\s*Channel +: (?:[256]g)?(?P<channel>\d+)(?:/(?P<channel_width_mhz>\d+))?\s*$",
    r"^\s*Signal / Noise: (?P<signal_dbm>-\d+) dBm / (?P<noise_dbm>-\d+) dBm\s*$",
    r"^\s*Transmit Rate: (?P<tx_rate_mbps>\d+)\s*$",
    r"^\s*Channel: (?P<channel>\d+) \(\dGHz, (?P<channel_width_mhz>\d+)MHz\)\s*$",
)
_COUNTER = r"(?:[rt]x (?:bytes|packets)|tx (?:retries|failed)|beacon (?:loss|rx)|rx drop misc)"
_LABEL = re.compile(
    # of iw
    rf"^\s*(?:freq|signal|signal avg|{_COUNTER}|[RT]X):"
    # of the wireless extensions: a level may be no dBm, and has a scale of its own
    r"|\b(?:Frequency|Channel)[:=](?=\S*\d)|\bBit Rate[:=](?=\S*\d)"
    r"|\b(?:Signal|Noise) level[:=](?=\S* dBm)"
    r"|\b(?:Rx invalid (?:nwid|crypt|frag)|Tx excessive retries|Invalid misc|Missed beacon):(?=\S)"
    # of macOS: a plain number that is none of a link says that there is no link
    r"|^\s*(?:agrCtlRSSI|agrCtlNoise|lastTxRate|MCS(?: Index)?|NSS|channel|RSSI|Noise|Tx Rate|"
    r"Transmit Rate|Channel|Signal / Noise)\s*:(?!\s*(?:[-+]?\d+(?: dBm| Mbps)?|None|-?)\s*$)"
)
"""A label whose number is read."""
_NO_RATE = re.compile(
    r"\s*[rt]x bitrate:(?:(?!\s+\d+\.\d MBit/s\b)(?=.*\d)|.*(?:\bMCS|-NSS)(?! \d+\b))"
)
_MACOS_HEAD = re.compile(r"\s*(?:agrCtlRSSI|Interface Name|Current Network Information)\b")
_OTHER_NETWORKS = re.compile(r"\s*Other Local Wi-Fi Networks:\s*")

_NETSH_LINE = re.compile(r"\s+(?P<label>\S.*?)\s*: (?P<value>\S.*?)\s*")
_NETSH_RATE = re.compile(r".*\((?:Mbps|M[Bb]its?/s|Mb/s|Мбит/с)\)")
_RECEIVED = re.compile(r"Receive|Empfang|R[ée]cep|Recep|Ricez|Ontvang|Скорость (?:получ|при)", re.I)
_CHANNEL = re.compile(r"Channel|Kanal|Canale?|Kanaal|Канал")


@dataclass(slots=True)
class _Link:
    """One link: its station or interface, and its facts."""

    group: str = ""
    facts: dict[str, float] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)

    def add(self, groups: Mapping[str, str | None]) -> None:
        """Add what a pattern matched."""
        entries = {name: text for name, text in groups.items() if text is not None}
        if "counter" in entries:
            self.counters.setdefault(entries["counter"], float(entries["count"]))
        for name, text in entries.items():
            if name.startswith("counter_"):
                counter = name.removeprefix("counter_").replace("_", " ")
                self.counters.setdefault(counter, float(text))
            end = next((end for end in _SCALES if name.endswith(end)), "")
            to, factor = _SCALES.get(end, ("", 1.0))
            fact = name.removesuffix(end) + to
            if unit_of_fact(fact) not in (None, "text"):
                self.facts.setdefault(fact, float(text) * factor)


def _table(
    file: Input, links: Sequence[_Link], warnings: list[Notice], *, tool: str, partial: bool
) -> Table:
    """Return the links that have a signal or a rate as a table; refuse a file without one."""
    links = [link for link in links if link.facts]
    if not links:
        raise file.refusal("wifi-nothing")
    odd = []
    for link in links:
        for name in [name for name in link.facts if name.endswith("_dbm")]:
            if not _LEAST_DBM <= link.facts[name] <= _MOST_DBM:
                value = link.facts.pop(name)
                odd += [f"{name} {value:g} dBm"] if value != _UNMEASURED_DBM else []
    note(warnings, "wifi-implausible", names=odd)
    groups = groups_of([link.group for link in links])
    rows = [
        {"group": group, **link.facts, **link.counters}
        for group, link in zip(groups, links, strict=True)
    ]
    facts = [
        fact_row({f"counter:{name}": count for name, count in link.counters.items()},
                 group=group, **link.facts, partial=partial)
        for group, link in zip(groups, links, strict=True)
    ]  # fmt: skip
    units = {name: unit_of_fact(name) or "1" for row in rows for name in row}
    return file.table(
        tool, rows, units, facts=facts, warnings=warnings, partial=partial,
        target=joined(shorten(link.group, 100) for link in links),
    )  # fmt: skip


def _read(
    file: Input, tool: str, patterns: Sequence[re.Pattern[str]], head: re.Pattern[str] | None = None
) -> Table:
    """Read the lines up to those about other networks; ``head`` is in all that are whole.

    Without it the line that names a link is: lines above the first one are of a link without a
    group.
    """
    links: list[_Link] = []
    lines = WholeLines(file.text, closed=_CLOSED)
    own = takewhile(lambda row: not _OTHER_NETWORKS.fullmatch(row[1]), lines)
    for number, line in own:
        label_count = 0
        for match in (match for each in patterns for match in each.finditer(line)):
            groups = match.groupdict()
            if groups.get("group") or not links:
                links.append(_Link(groups.get("group") or ""))
            links[-1].add(groups)
            label_count += not groups.get("group")
        if label_count < len(_LABEL.findall(line)) or _NO_RATE.match(line):
            lines.unread.append(number)
    has_head = (
        any(head.match(line) for _, line in lines) if head else all(link.group for link in links)
    )
    partial = lines.cut or not has_head
    return _table(file, links, lines.with_unread(), tool=tool, partial=partial)


_CLOSED = re.compile(
    r".*(?: dBm| Mbps|seconds|ms|yes|no|NSS \d|HE-DCM \d|Missed beacon:\d+ *)|"
    r"\s*(?:beacon int|dtim period|DTIM period|beacon interval|associated at|current time|"
    r"Scan Cache|Country Code|Supported Channels)\b.*"
)
"""A last line that ends in a unit or a word, or says nothing that is read."""


def _wireless(file: Input) -> Table:
    is_list = file.seen(r"^\s*face \| tus \| link level noise|^\s*\S+: [0-9a-f]{4} +\d+\.? +-\d+")
    tool = "/proc/net/wireless" if is_list else "iwconfig"
    return _read(file, tool, _WIRELESS[:1] if is_list else _WIRELESS[1:])


def _macos(file: Input) -> Table:
    tool = "system_profiler" if file.seen(r"^\s*Signal / Noise: ") else "airport"
    tool = "wdutil" if file.seen(r"^\s*(?:RSSI|Noise|Tx Rate) +: ") else tool
    return _read(file, tool, _MACOS, _MACOS_HEAD)


def _netsh(file: Input) -> Table:
    """Read the labels of any language: the rate that arrives stands before the one that leaves."""
    lines = WholeLines(file.text, closed=re.compile(r".*(?:\d%|: .*\D)\s*"))
    links = []
    for _, part in groupby(lines, key=lambda row: bool(row[1].strip())):
        matches = [(number, _NETSH_LINE.fullmatch(line)) for number, line in part]
        block = [(match["label"], match["value"], number) for number, match in matches if match]
        link = _Link(block[0][1] if len(block) > 4 else "")
        rates = [row for row in block if _NETSH_RATE.fullmatch(row[0])]
        ways = ["rx", "tx"]
        if len(rates) == 1:
            ways = ["rx" if _RECEIVED.match(rates[0][0]) else "tx"]
        for way, (_, value, number) in zip(ways, rates, strict=False):
            if re.fullmatch(r"\d+(?:[.,]\d+)?", value):
                link.add({f"{way}_rate_mbps": value.replace(",", ".")})
            else:
                lines.unread.append(number)
        for label, value, number in block:
            if percent := re.fullmatch(r"(\d{1,3})%", value):
                link.add({"signal_percent": percent[1]})
            elif re.fullmatch("rssi", label, re.IGNORECASE) and re.fullmatch(r"-\d+", value):
                link.add({"signal_dbm": value})
            elif _CHANNEL.fullmatch(label) and re.fullmatch(r"\d+", value):
                link.add({"channel": value})
            elif _CHANNEL.fullmatch(label) or label.lower() in ("signal", "rssi"):
                lines.unread.append(number)
        links.append(link)
    partial = lines.cut or any(link.facts and not link.group for link in links)
    return _table(file, links, lines.with_unread(), tool="netsh wlan", partial=partial)


_SENT = MeasuringPoint("", "Wi-Fi frames sent", HOST)
_ARRIVED = MeasuringPoint("", "Wi-Fi frames received", HOST)
_COUNTED = Counted(
    facts={
        **dict.fromkeys(("tx_rate_bps", "tx_mcs", "tx_stream_count", "tx_width_hz"), _SENT),
        **dict.fromkeys(
            ("rx_rate_bps", "rx_mcs", "rx_stream_count", "rx_width_hz", "signal_dbm",
             "signal_average_dbm", "signal_ratio", "noise_dbm"), _ARRIVED),
        "counter:*": MeasuringPoint("", "Wi-Fi frames", HOST),
    },
    rates=LINE,
)  # fmt: skip
_TRAPS = (
    "A bit rate is that of the frames on the air, not of what they carry: half of it and less is "
    "left for data. It changes with each frame, and what is printed is the last.",
    "A signal is in dBm, below 0: -40 is strong, -80 weak.",
)

IW = Format(
    name="iw",
    description="the output of iw dev link or iw dev station dump",
    recognize=seen(
        rf"^(?:Connected to|Station) {_MAC} \(on \S+\)",
        r"^\s*(?:tx|rx) bitrate:\s*\d+\.\d MBit/s",
        r"^\s*signal(?: avg)?:\s+-\d+ (?:\[[-\d, ]*\] )?dBm\s*$",
        r"^Not connected\.\s*$",
        r"^\s*channel \d+ \(\d+ MHz\), width: \d+ MHz",
    ),
    read=lambda file: _read(file, "iw", _IW),
    traps=(
        *_TRAPS,
        "tx retries and tx failed count frames since the link is up; a retry is no loss.",
        "Numbers in brackets are those of each antenna.",
    ),
    tools={"iw": _COUNTED},
    parts=(
        r"^\t(?:inactive time|beacon signal avg|tx duration|rx duration|WMM/WME|TDLS peer|MFP):\s",
        r"^\t(?:bss flags|dtim period|DTIM period|beacon int|beacon interval|short slot time):",
        r"^\t(?:rx|tx) (?:bytes|packets|retries|failed):\t\d+",
        r"^\t(?:authorized|authenticated|associated|preamble|expected throughput|beacon loss):\t",
        r"^\t[RT]X: \d+ bytes \(\d+ packets\)",
    ),
    needs="a line of a signal or a bitrate",
)
WIRELESS = Format(
    name="iwconfig",
    description="the output of iwconfig, or /proc/net/wireless",
    recognize=seen(
        r"^\s*face \| tus \| link level noise",
        r"^\s*\S+: [0-9a-f]{4} +\d+\. +-\d+\. +-\d+ ",
        r"\bLink Quality[:=]\d+/\d+ +Signal level[:=]",
        r"\bBit Rate[:=]\d+(?:\.\d+)? [MG]b/s",
        r"^\S+ +IEEE 802\.11\S* +",
    ),
    read=_wireless,
    traps=(
        *_TRAPS,
        "A noise of -256 was not measured. Link quality has a scale of each driver: left out.",
        "Bit Rate is that of frames sent.",
        "A level that is no dBm is left out: old drivers have a scale of their own.",
    ),
    tools={"iwconfig": _COUNTED, "/proc/net/wireless": _COUNTED},
    parts=(r"^\s*Rx invalid nwid:\d", r"^\s*Tx excessive retries:\d", r"^Inter-\| sta-\|"),
    needs="a line of a signal or a bit rate",
)
NETSH = Format(
    name="netsh wlan",
    description="the output of netsh wlan show interfaces",
    recognize=lambda file: (
        seen(
            r"^ {2,}\S.*\((?:Mbps|M[Bb]its?/s|Mb/s|Мбит/с)\) *: +\d+(?:[.,]\d+)?\s*$",
            r"^ {4}(?:Signal +: \d{1,3}%|R[Ss][Ss][Ii] +: -\d+)\s*$",
        )(file)
        and not file.seen(r"^SSID \d+ *:")
    ),
    read=_netsh,
    traps=(
        *_TRAPS,
        "Labels are of the system's language: the rate received stands before the rate sent.",
        "Signal in percent is the quality that Windows makes of the power; it is no share of time.",
    ),
    tools={"netsh wlan": _COUNTED},
    parts=(
        r"^(?:There (?:is|are) \d+ interfaces? on the system|Es (?:ist|sind) \d+ Schnittstelle)",
        r"^ {4}(?:Cipher|Verschl\S+|Authentication|Authentifizierung|Band|Bereich) +: ",
        r"^ {4}(?:(?:Physical|Physische) [Aa]d\w+|Description|Beschreibung|Status?|State) +: ",
        r"^ {2,}GUID +: [0-9a-f]{8}-",
        r"^ {2,}(?:AP )?BSSID +: (?:[0-9a-f]{2}:){5}",
        r"^ {4}(?:Radio type|Funktyp|Channel|Kanal|Network type|Netzwerktyp) +: ",
        r"^ {4}(?:Connection mode|Verbindungsmodus|Profile?) +: |^ +Hosted network status +: ",
    ),
    needs="a line of a rate",
)
MACOS = Format(
    name="Wi-Fi (macOS)",
    description="the radio as airport -I, wdutil info or system_profiler print it",
    recognize=seen(
        r"^\s*agrCtl(?:RSSI|Noise): -?\d+\s*$|^ *lastTxRate: \d+\s*$",
        r"^\s*Signal / Noise: -\d+ dBm / -\d+ dBm\s*$",
        r"^\s*(?:RSSI|Noise) +: -\d+ dBm\s*$",
    ),
    read=_macos,
    traps=(
        *_TRAPS,
        "lastTxRate and Transmit Rate are in Mbit/s, of frames sent; maxRate is left out.",
        "Networks that are only heard (Other Local Wi-Fi Networks) are left out.",
    ),
    parts=(
        r"^(?:WIFI|Wi-Fi:)\s*$|^\u2014{20,}\s*$",
        r"^ +(?:Interfaces|Other Local Wi-Fi Networks|Transmit Rate|MCS Index):",
        r"^ +(?:SSID|BSSID|state|channel): ",
        r"^ *agrExt(?:RSSI|Noise): ",
        r"^ *lastAssocStatus: ",
        r"^ *(?:MCS Index|NSS) +: \d|^ +(?:MAC Address|Interface Name|Power) +: ",
        r"^ +(?:op mode|maxRate|guardInterval|NSS|MCS|link auth|802\.11 auth): ",
        r"^ {14}(?:PHY Mode|Country Code|Network Type|Security): ",
        r"^ {10}(?:Current Network Information|Card Type|Status):",
        r"^ {4}(?:PHY Mode|Op Mode|Guard Interval|Country Code) +: ",
    ),
    needs="a line of a signal",
    tools=dict.fromkeys(("airport", "wdutil", "system_profiler"), _COUNTED),
)
FORMATS = (IW, WIRELESS, NETSH, MACOS)
