"""One line of a ping, of its replies or its summary: what kind it is, and the numbers in it.

The words are ignored, because they are translated: ``time=``, ``Zeit=``, ``时间=``. Only numbers
and their positions count. A time is read only when its unit is known; a comma in it is a decimal
comma, because no ping groups digits.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

_MILLI = ("ms", "msec", "msek", "msecs", "мс", "мсек", "毫秒", "ミリ秒", "밀리초", "χιλ")
_SECONDS_PER = {
    **dict.fromkeys(_MILLI, "-3"),
    **dict.fromkeys(("us", "usec", "µs", "μs", "мкс"), "-6"),
    **dict.fromkeys(("s", "sec"), "0"),
}
WORDS = (
    "мс", "мсек", "байт", "ответ", "время", "毫秒", "字节", "时间", "回复", "來自", "位元組",
    "時間", "ミリ秒", "バイト", "応答", "밀리초", "바이트", "시간", "응답", "réponse", "délai",
    "perdus",
    "reçus", "zeitüberschreitung", "für", "odpowiedź", "bajtów", "odpověď", "čas", "från", "süre",
    "yanıt", "válasz", "bájt", "idő", "estadísticas", "máximo", "mínimo", "média", "übertragen",
    "empfänger", "données", "відповідь", "байтів", "час",
)  # fmt: skip
"""Words of translated pings, which show the encoding of a text."""

NUMBER = r"[0-9]{1,12}(?:[.,][0-9]{0,9})?"
_SEQUENCE = re.compile(
    r"(?<![A-Za-z])(?:icmp6?_)?(?:seq|req)(?:\s?[=:]\s?|(?<=icmp_seq)\s)"
    r"([0-9]{1,99}+)[0-9]*+(?!x)"
)  # in small letters, as ping prints it: SEQ= is of a firewall, Seq= of a list of packets
_SIZE = re.compile(r"(?:^|(?<=[\s\]|>]))([0-9]{1,6})\s+(?=[^\W\d_])(?!icmp)")
_PAIR = re.compile(
    rf"(?P<word>[^\W\d_][^\s=<>:;,]{{0,30}}|)\s?(?P<sign>[=<])\s?(?P<number>{NUMBER})(?![0-9.])"
    r"(?:\s?(?P<unit>[^\W\d_]+)\b(?!\s*[=<]))?"
)
_NOT_TIMES = {"ttl", "hlim", "hoplimit", "ident", "id", "mtu", "code", "tos", "tclass"}
_TTL = ("ttl", "hlim", "hoplimit")
_TTL_DAMAGED = re.compile(r"(?:ttl|hlim|hoplimit)=(?![0-9]+(?![0-9A-Za-z]))", re.IGNORECASE)
_STAMP = re.compile(r"^\s*\[([0-9]{9,11}\.[0-9]{1,9})\]\s")
_STAMP_DAMAGED = re.compile(r"\s*\[[0-9]{2}[^\]:/-]{7,}\]\s")
_ADDRESS = re.compile(
    r"(?<![0-9A-Za-z_.:])(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9])"
    r"|(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9.]{7,15}|[0-9A-Fa-f]{1,4})(?:%[0-9A-Za-z_.-]{1,20})?"
    r"(?![0-9A-Za-z]))"
)
# A date or a time of day that another program put in front of the line.
_QUOTED = re.compile(r"^(?:>\s?)+")  # quoted in a mail
_CLOCK = re.compile(
    r"\s*(?:(?:\[[^\]]{4,40}\]|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,?|[A-Z][a-z]{2}(?= +[0-9]{1,2} )"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4},?|[0-9]{1,2}(?= )"
    r"|[0-9]{4}(?=:? )|[A-Z]{3,4}(?= [0-9]{4}:? ))\s*){0,5}"
    r"(?:\[[^\]]{4,40}\]|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)"
    r"(?:\s(?:[AP]M|UTC|[A-Z]{3,4} [0-9]{4}|[0-9]{4}))?:?\s+"
)
_MARKS = re.compile(r"(?:\s*\([^()]{1,40}\)|\s*[.!])*\s*")
_DUPLICATE = re.compile(r"\(\s*(?:DUP|重复|重複)", re.IGNORECASE)
_CORRUPT = re.compile(r"\([^()]*(?:CHECKSUM|PRÜFSUMME|CONTRÔLE|СУММ|チェックサム)", re.IGNORECASE)
_NEXT_HOP = re.compile(r"redirect|\([^()]*:\s*[0-9A-Fa-f.:]+\)\s*$", re.IGNORECASE)
_DUMP_HEAD = re.compile(
    r"^\s*Vr\s+HL\s+TOS\s|^\s*IP (?:Header|Hdr) Dump|^\s*ICMP6?: type", re.IGNORECASE
)
_DUMP_ROW = re.compile(
    r"^\s*[0-9a-f]\s+[0-9a-f]\s+[0-9a-f]{2}\s+[0-9a-f]{4}\s|^(?:\s[0-9a-f]{2,4}){4,}\s*$"
)
_ERROR_WORDS = re.compile(
    r"unreach|exceed|expired|prohibit|filtered|too big|needed and DF|be fragmented|quench|redirect|"
    r"parameter problem|isolated|unknown|violation|cutoff|bad code",
    re.IGNORECASE,
)
_TIMEOUT_WORDS = re.compile(
    r"time[ds -]*out|zeitüberschreitung|délai|agotado|scadut|tempo limite|превышен|перевищено|limit"
    r"|zaman aş|超时|逾時|タイムアウト|만료|failure",
    re.IGNORECASE,
)

_HEADERS = {
    "toybox": re.compile(
        r"^\s*Ping (?P<host>\S+) \([^()\s]+\): "
        r"(?P<size>[0-9]{1,6})\((?P<packet>[0-9]{1,6})\)\s*\S"
    ),
    "iputils": re.compile(
        r"^\s*PING (?P<host>\S{1,260}?)\s?\([^()\s]{1,260}(?:\s?\([^()\s]{1,60}\))?\)"
        r"[^()]{0,200}?\s(?P<size>[0-9]{1,6})\((?P<packet>[0-9]{1,6})\)\s*\S"
    ),
    "PING6": re.compile(
        r"^\s*PING6\((?P<packet>[0-9]{1,6})=40\+8\+(?P<size>[0-9]{1,6})\s[^)]*\)"
        r"\s+\S+\s+-->\s+(?P<host>\S+)"
    ),
    "sweep": re.compile(
        r"^\s*PING (?P<host>\S+) \([^()\s]+\):\s*"
        r"\((?P<first>[0-9]{1,6}) \.\.\. (?P<last>[0-9]{1,6})\)\s"
    ),
    "BSD": re.compile(
        r"^\s*PING (?P<host>\S+) \([^()\s]+\):\s+(?P<size>[0-9]{1,6})\s+\S"
    ),
    "iputils 6": re.compile(
        r"^\s*PING (?P<host>\S{1,260}?)\s?\([^()\s]{1,260}(?:\s?\([^()\s]{1,60}\))?\)"
        r"[^()]{0,200}?\s(?P<size>[0-9]{1,6})\s+\S"
    ),
    "other": re.compile(r"^\s*PING (?P<host>\S+):?\s+\(?(?P<size>[0-9]{1,6})\)?\s+\S"),
}  # fmt: skip
_WINDOWS_HEADER = re.compile(
    r"^(?=.*\bping\b|.*\[[0-9A-Fa-f:.%]+\]|.*[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|.*:[0-9A-Fa-f])"
    r"[^=]*?(?<![\w.:])(?P<size>[0-9]{1,5})\s*[^\W\d_][^=0-9]*[:：]\s*$",
    re.IGNORECASE,
)  # fmt: skip
_QUICK = re.compile(r"^\s*[0-9]+/[0-9]+ \S.*[0-9]+%")
_COMMAND = re.compile(
    r"^(?:[^\n]{0,200}?[$#%>]\s*|\s*)((?:sudo\s+)?(?:busybox\s+)?(?:[\w./\\:-]*[/\\])?ping6?(?:\.exe)?"
    r"\s+(?:-\S|/\S\s|[\w.:%-]+).*)$"
)


@dataclass(slots=True)
class PingLine:
    """What one line says. ``kind`` is one of the names in :func:`read_line`.

    ``fault`` is the code of what cannot be read, ``unread`` the text in question; ``words`` is the
    text of a line without numbers.
    """

    kind: str
    sequence: int | None = None
    size: int | None = None
    rtt_s: float = math.nan
    resolution_s: float = 0.0
    ttl: int | None = None
    stamp_s: float = math.nan
    marked_duplicate: bool = False
    corrupt: bool = False
    stands_for: int = 1
    fault: str = ""
    unread: str = ""
    words: str = ""
    windows: bool = False


@dataclass(slots=True)
class Header:
    """The first line of a run: dialect, target, and the user data of a probe."""

    dialect: str
    target: str
    size: int | None
    sizes_vary: bool = False


def seconds(number: str, unit: str) -> tuple[float, float] | None:
    """Return a printed time and the width of its last digit in seconds, or None if unknown.

    >>> seconds("0,481", "ms"), seconds("12", "мс"), seconds("3", "parsec")
    ((0.000481, 1e-06), (0.012, 0.001), None)
    """
    exponent = _second(unit)
    if exponent is None:
        return None
    digits = number.replace(",", ".")
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent}"), float(f"1e{int(exponent) - decimals}")


def _second(unit: str) -> str | None:
    """Return the power of ten of a unit of time in seconds, or None if it is unknown."""
    return _SECONDS_PER.get(unit) or _SECONDS_PER.get(unit.lower())


LONGEST = 600
"""Longest line that a ping prints: two names of 255 characters and its numbers. [characters]"""


def without_clock(text: str) -> str:
    """Take off a date or time of day, and marks of a quotation, in front of a line.

    >>> without_clock("Nov 21 03:52:00 3 packets transmitted")
    '3 packets transmitted'
    """
    text = _QUOTED.sub("", text)
    clock = _CLOCK.match(text) if len(text) <= LONGEST else None
    return text[clock.end() :] if clock else text


def read_header(text: str) -> Header | None:
    """Read the line that opens a run, of any dialect."""
    if len(text) > LONGEST or "seq=" in text or "TTL=" in text:
        return None
    for dialect, pattern in _HEADERS.items():
        match = pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        size = int(groups["size"]) if groups.get("size") else None
        if size is not None and size > 65_535:
            size = None
        if groups.get("packet") and size is not None and dialect == "iputils":
            size = size if int(groups["packet"]) - size in (8, 28, 48) else None
        return Header(dialect, groups["host"].rstrip(":"), size, sizes_vary=dialect == "sweep")
    match = _WINDOWS_HEADER.match(text)
    if match is None or len(text) > 400 or "bytes from" in text:
        return None
    target = re.search(r"(\S+)\s?\[[0-9A-Fa-f:.%]+\]", text)
    address = _ADDRESS.search(text)
    host = target[1] if target else address[0] if address else ""
    return Header("Windows", host, int(match["size"]))


def read_line(text: str) -> PingLine | None:
    """Read a line about one probe, or return None if it is about something else.

    Kinds: ``reply``; ``damaged`` (a reply that cannot be read, with its sequence number where that
    is certain); ``error`` (a node replied with an error); ``redirect``; ``waiting`` (no answer
    so far); ``dump`` (a packet printed after an error).
    """
    if len(text) > LONGEST:
        return None
    if "time=" not in text and (_DUMP_HEAD.match(text) or _DUMP_ROW.match(text)):
        return PingLine("dump", sequence=_quoted_sequence(text))
    stamp = _STAMP.match(text)
    stamp_s = float(stamp[1]) if stamp else math.nan
    body = text[stamp.end() :] if stamp else text
    sequences = list(_SEQUENCE.finditer(body))
    if sequences:
        line = _with_sequence(body, sequences, stamp_s)
        if line is not None and not line.fault and _STAMP_DAMAGED.match(body):
            line.fault = "text-after-numbers"
        return line
    return _without_sequence(body)


def _with_sequence(body: str, sequences: list[re.Match[str]], stamp_s: float) -> PingLine | None:
    before, after = body[: sequences[0].start()], body[sequences[0].end() :]
    sizes = _SIZE.findall(before)
    if len(sequences) > 1:
        return PingLine("damaged", stands_for=len(sequences), fault="joined-lines")
    sequence = int(sequences[0][1])
    if sequence > 65_535:
        return PingLine("damaged", fault="sequence-too-large")
    if not sizes:
        return _status(before, after, sequence)
    line = PingLine("reply", sequence, int(sizes[-1]), stamp_s=stamp_s)
    if line.size is None or not 8 <= line.size <= 65_535 + 8:
        return PingLine("damaged", sequence, fault="impossible-reply-size", unread=sizes[-1])
    _read_pairs(line, after)
    plain = [p["word"].lower() for p in _PAIR.finditer(after) if not p["unit"]]
    if line.kind == "reply" and math.isnan(line.rtt_s) and set(plain) - _NOT_TIMES:
        line.kind, line.fault = "damaged", "time-without-unit"
    if line.kind == "reply" and math.isnan(line.rtt_s) and _ERROR_WORDS.search(after):
        return PingLine("error", sequence)
    return line


def _status(before: str, after: str, sequence: int) -> PingLine | None:
    """``From 192.0.2.1 icmp_seq=3 Destination Host Unreachable``; ``no answer yet for ...``."""
    if re.search(r"\bttl=\d+", before + after) or _has_time(before + after):
        return PingLine("damaged", sequence, fault="no-reply-size")
    if before.strip() and re.search(r"[^\W\d_]", after):
        if _ADDRESS.search(before) or len(before.split()) >= 2:
            kind = "redirect" if _NEXT_HOP.search(after) else "error"
            return PingLine(kind, sequence)
        return None
    return PingLine("waiting", sequence)


def _has_time(text: str) -> bool:
    """Whether a number with a unit of time is in a text."""
    return any(pair["unit"] and _second(pair["unit"]) for pair in _PAIR.finditer(text))


def _without_sequence(body: str) -> PingLine | None:
    sizes = list(_SIZE.finditer(body))
    pairs = [pair for pair in _PAIR.finditer(body) if pair["word"].lower() != "mtu"]
    address = _ADDRESS.search(body)
    if address and pairs and not re.match(r"\s*From\b", body) and "win=" not in body:
        return _windows_reply(body, pairs)
    unix = sizes and re.search(r"(?<!\d)[0-9]+ bytes from |[0-9]+\s+\S+\s.*[0-9A-Fa-f][):,]", body)
    if unix and not pairs:
        kind = "error" if _ERROR_WORDS.search(body) else "damaged"
        return PingLine(kind, size=int(sizes[-1][1]), fault="no-sequence-number")
    if unix:
        return PingLine("damaged", fault="no-sequence-number")
    if re.match(r"^\s*From\s\S+.*?:\s*\S", body) and _ERROR_WORDS.search(body):
        return PingLine("redirect" if _NEXT_HOP.search(body) else "error")
    return None


_OF_PORTS = re.compile(
    r"\b(?:port|protocol|proto|seq|dns|conn|index)\s?=|\b(?:tcp|udp|http)\b|\d\.\d{1,3}:\d", re.I
)
"""Words of tools that connect or query, whose numbers are no sizes of packets."""


def _windows_reply(body: str, pairs: list[re.Match[str]]) -> PingLine | None:
    """``Reply from 192.0.2.1: bytes=32 time=14ms TTL=57``; over IPv6 only the time."""
    if _OF_PORTS.search(body) or any(body[p.end() :].lstrip()[:1] == "%" for p in pairs):
        return None  # of another tool: a loss is no size
    line = PingLine("reply")
    _read_pairs(line, body)
    plain = [p for p in pairs if not p["unit"] and p["word"].lower() not in _NOT_TIMES]
    if plain and plain[0]["sign"] == "=":
        line.size = int(float(plain[0]["number"].replace(",", ".")))
        if line.size > 65_535:
            return PingLine("damaged", fault="impossible-reply-size", unread=str(line.size))
    if math.isnan(line.rtt_s):
        fault = line.fault if line.kind == "damaged" else "no-time"
        return PingLine("damaged", fault=fault, unread=line.unread)
    return line


def _read_pairs(line: PingLine, text: str) -> None:
    """Fill in time and TTL from the ``word=number unit`` pairs of a line."""
    end = 0
    for pair in _PAIR.finditer(text):
        word, unit = pair["word"].lower(), pair["unit"]
        if word in _TTL and (not unit or text[pair.end("number")].isspace()):
            line.ttl = int(float(pair["number"].replace(",", ".")))
            end = pair.end()
            if not 0 <= line.ttl <= 255:
                line.ttl = None
        elif unit and word not in _TTL:
            if pair["sign"] == "<" and unit.lower() in ("m", "м"):
                unit = "ms"  # Windows in Spanish: tiempo<1m
            time = seconds(pair["number"], unit)
            if time is None or not math.isnan(line.rtt_s):
                line.kind, line.fault = "damaged", "several-times"
                if time is None:
                    line.fault, line.unread = "unknown-time-unit", unit[:20]
                return
            line.rtt_s, line.resolution_s = time
            if pair["sign"] == "<":
                line.rtt_s, line.resolution_s = line.rtt_s / 2, line.rtt_s
            end = pair.end()
    rest = text[end:]
    line.marked_duplicate = bool(_DUPLICATE.search(rest))
    line.corrupt = bool(_CORRUPT.search(rest))
    if not _MARKS.fullmatch(rest) or _TTL_DAMAGED.search(text):
        line.fault = "text-after-numbers"


def _quoted_sequence(text: str) -> int | None:
    """Read the sequence number of the packet that an error quotes, if it is printed."""
    match = re.search(r"ICMP: type [0-9]+.*\bseq 0x([0-9a-f]{4})\b", text)
    return int(match[1], 16) if match else None


_MTU = re.compile(r"\bmtu\s?[=:]?\s?([0-9]{2,5})(?![0-9.])", re.IGNORECASE)
_LEAST_MTU_BYTES = 68
"""Every link of IPv4 carries packets of this size (RFC 791); a router without a number says 0."""
_LOCAL_ERROR = re.compile(r"ping6?: .*(?:local error|[Mm]essage too long|\b(?i:mtu) ?= ?[0-9])")
_WINDOWS_WORDS = re.compile(
    r"\s*(?:(?:Reply from|Antwort von|Réponse de|Respuesta desde|Risposta da|Resposta de"
    r"|Ответ от|Odpowiedź z|Antwoord van|Svar från|Svar fra|Odpověď od|Válasz|来自|回覆自|來自)\s"
    r"|[0-9A-Fa-f.:%]+\s?(?:からの応答|의 응답|cevabı|yanıtı)[:：])"
)
_WINDOWS_TIMEOUT = re.compile(
    r"\s*(?:Request timed out|Zeitüberschreitung der Anforderung|Délai d[’']attente de la demande "
    r"dépassé|Tiempo de espera agotado para esta solicitud|Richiesta scaduta|Esgotado o tempo "
    r"limite do pedido|Превышен интервал ожидания для запроса|Upłynął limit czasu żądania"
    r"|要求がタイムアウトしました|请求超时|要求等候逾時|요청 시간이 만료되었습니다"
    r"|İstek zaman aşımına uğradı"
    r"|PING: transmit failed\. General failure)\s?[.。]?\s*"
)  # fmt: skip


def path_mtu_bytes(text: str) -> float:
    """Return the MTU of the path that an error names; nan where it names none. [byte]

    >>> path_mtu_bytes("Frag needed and DF set (mtu = 1420)"), path_mtu_bytes("(mtu = 0)")
    (1420.0, nan)
    """
    match = _MTU.search(text)
    size = float(match[1]) if match else math.nan
    return size if size >= _LEAST_MTU_BYTES else math.nan


_BEFORE_WORDS = re.compile(r"\S*\s(?:icmp6?_seq[ =][0-9]+:?\s)?")
_MEANINGS = {
    "error-mtu": re.compile(r"frag|too (?:big|long)|\bmtu\b", re.IGNORECASE),
    "error-loop": re.compile(r"(?:ttl|hop limit|time).{0,15}(?:expired|exceed)", re.IGNORECASE),
    "error-filtered": re.compile(r"prohibit|filtered|policy", re.IGNORECASE),
    "error-host": re.compile(r"(?:host|address).{0,5}unreach|unreach\w*: addr", re.IGNORECASE),
    "error-net": re.compile(r"net(?:work)? unreach|no route", re.IGNORECASE),
}
"""What an error means, the first whose words are in it."""
_SEND = re.compile(r"ping6?: (?:send(?:to|m?msg)\b|local error)")


def said_by(text: str) -> tuple[str, str, str]:
    """Return the code of what an error means, the node that reported it, and its words.

    The node is empty where the pinging host itself says it.

    >>> said_by("From 192.0.2.1 icmp_seq=3 Destination Host Unreachable")
    ('error-host', '192.0.2.1', 'Destination Host Unreachable')
    >>> said_by("Packet needs to be fragmented but DF set.")
    ('error-mtu', '', 'Packet needs to be fragmented but DF set')
    """
    address = _ADDRESS.search(text)
    words = text if address is None else _BEFORE_WORDS.sub("", text[address.end() :], count=1)
    words = words.strip().rstrip(".")
    code = next((name for name, each in _MEANINGS.items() if each.search(words)), "error-said")
    return code, "" if address is None else address[0], words


def is_unsent(text: str) -> bool:
    """Whether ping says that the system did not send a probe."""
    return bool(_SEND.match(text))


def is_local_error(text: str) -> bool:
    """Whether ping says that the system could not send a probe, which is too large for it."""
    return bool(_LOCAL_ERROR.match(text))


def windows_line(text: str) -> PingLine | None:
    """Read an error or a time-out in the words of Windows, also where the first line is missing."""
    if _WINDOWS_WORDS.match(text) and windows_error(text):
        return PingLine("error", windows=True)
    if _WINDOWS_TIMEOUT.fullmatch(text):
        return PingLine("silent", words=text.strip(), windows=True)
    return None


def windows_error(text: str) -> bool:
    """Whether a line of a Windows ping is an error from an address, not a reply."""
    address = _ADDRESS.search(text)
    return bool(
        address and not _PAIR.search(text) and re.search(r"[:：]\s*\S", text[address.end() :])
    )


def names_error(text: str) -> bool:
    """Whether English words of an ICMP error are in a line."""
    return bool(_ERROR_WORDS.search(text))


def names_timeout(text: str) -> bool:
    """Whether a line says in one of the commoner languages that no answer came."""
    return bool(_TIMEOUT_WORDS.search(text))


def read_command(text: str) -> str | None:
    """Return the command that a shell echoed, without the prompt."""
    match = _COMMAND.match(text)
    return match[1].strip() if match and not match[1].startswith("ping:") else None


_NOISE = re.compile(
    r"\s*(?:\S{1,12}: 0x[0-9a-f]+\s*$|pipe \d|, ?pipe|.{0,12}ipg/ewma|\^[A-Z\\]|[.E!?]+\s*$"
    r"|#[0-9]+\s|RR:|TS:|NOP|\t|Control-C|(?:/\S+/)?ping6?(?:\.exe)?: |WARNING|connect: "
    r"|cp:|wp:|Terminated|Killed|logout|exit|load: |ai->)"
)
_PROMPT_END = tuple("$#%>")
_LONGEST_PROMPT = 101


def is_noise(text: str) -> bool:
    """Whether a line is known to carry no measurement."""
    bare = text.strip()
    if not bare or (bare.endswith(_PROMPT_END) and len(bare) <= _LONGEST_PROMPT):
        return True
    return bool(_QUICK.match(text) or _NOISE.match(text))


_SIGNED = re.compile(r"[=<]\s*[0-9]")
_NUMBER_AND_ADDRESS = re.compile(r"[0-9]\s+\S+\s.*[0-9a-f][):,]")
_TIME_OF_DAY = re.compile(r"[0-9]:[0-9]{2}:[0-9]{2}")


def may_speak(text: str) -> bool:
    """Whether a line may be about a probe, a run or its summary; the rest need no closer look.

    Cheap, and true of too many lines rather than of too few: each line that :func:`read_header`,
    :func:`read_line` or a reader of summaries takes has one of these words or signs.

    >>> may_speak("no numbers, no colon"), may_speak("64 bytes from 192.0.2.1: icmp_seq=1")
    (False, True)
    """
    low = text.lower()
    return bool(
        "seq" in low or "req" in low or "from" in low or "ping" in low or "transmitted" in low
        or "--" in low or "connect" in low or "icmp" in low or "dump" in low or "vr" in low
        or "[" in low or low.startswith(">") or low.rstrip().endswith((":", "："))
        or (("=" in low or "<" in low) and _SIGNED.search(low))
        or ((")" in low or ":" in low or "," in low) and _NUMBER_AND_ADDRESS.search(low))
        or (":" in low and _TIME_OF_DAY.search(low))
        or _DUMP_ROW.match(text)
    )  # fmt: skip


_STATISTICS = re.compile(r"^\s*-{3,4}\s?(?P<host>\S.*?)\s?-{3,4}\s*$")
_WHOLE = re.compile(r"(?<![0-9.,:+/-])([0-9]{1,12})(?![0-9.:/A-Za-z%])")
_LOSS = re.compile(r"(?<![\w.,])%?\s?([0-9]{1,3}(?:[.,][0-9]{1,6})?)\s?%|%([0-9]{1,3})")
_PLUS = re.compile(r"\+([0-9]{1,12})\s+([^\W\d_]+)|,\s([0-9]{1,12})\s(duplicates)")
_SPREAD = re.compile(
    rf"(?:\((ms)\)[^=]{{0,60}})?=\s*({NUMBER})/({NUMBER})/({NUMBER})"
    rf"(?:/({NUMBER}|nan))?(?:\s?([^\W\d_]+)\b)?"
)
_WORDED_SPREAD = re.compile(
    rf"min = ({NUMBER})\s?([a-z]+), avg = ({NUMBER})\s?([a-z]+), max = ({NUMBER})\s?([a-z]+)\b"
)
_WINDOWS_COUNTS = re.compile(
    r"^[^=]*=\s*([0-9]{1,12})\b[^=0-9]+=\s*([0-9]{1,12})\b[^=0-9]+=\s*([0-9]{1,12})\b"
)
_WINDOWS_SPREAD = re.compile(
    rf"^[^=]*=\s*({NUMBER})\s?([^\W\d_]+)\b[^=]+=\s*({NUMBER})\s?([^\W\d_]+)\b[^=]+"
    rf"=\s*({NUMBER})\s?([^\W\d_]+)\b"
)


def read_statistics_head(text: str) -> str | None:
    """Return the host of ``--- host ping statistics ---``, or None: ``--- | ---`` has none."""
    match = _STATISTICS.match(text)
    return match["host"] if match and re.search(r"\w", match["host"]) else None


def read_counts(text: str) -> dict[str, float] | None:
    """Read ``10 packets transmitted, 9 received, +1 errors, 10% packet loss``."""
    share = _LOSS.search(text)
    if share is None and "printing up" not in text:
        return None
    end = share.start() if share else len(text)
    whole = [int(number) for number in _WHOLE.findall(text[:end])]
    if len(whole) < 2:
        return None
    sent, received = whole[:2]
    counts: dict[str, float] = {"sent": sent, "received": received}
    if share:
        loss = float(f"{(share[1] or share[2]).replace(',', '.')}e-2")
        loss = -loss if text[: share.start()].endswith("-") else loss
        fitting = [
            pair
            for pair in pairwise(whole)
            if pair[0] and abs(1 - pair[1] / pair[0] - loss) < 0.011
        ]
        if fitting and (sent == 0 or fitting[0] != (sent, received)):
            counts = {"sent": fitting[0][0], "received": fitting[0][1]}
        counts["loss_ratio"] = loss
    surplus = counts["received"] > counts["sent"]  # many hosts answered a request
    if surplus and "printing up" not in text and counts.get("loss_ratio", 0.0) >= 0.0:
        return None
    for plus in _PLUS.finditer(text):
        word = (plus[2] or plus[4]).lower()
        number = int(plus[1] or plus[3])
        if word.startswith(("dup", "doub", "重复", "重複", "повтор", "дубл")):
            counts["duplicates"] = number
        elif word.startswith(("err", "fehler", "erre", "错误", "エラー", "помил", "ошиб")):
            counts["errors"] = number
        elif word.startswith(("corr", "besch", "损坏")):
            counts["corrupted"] = number
    took = re.search(rf"({NUMBER})\s?([^\W\d_]+)\s*$", text)
    time = seconds(took[1], took[2]) if took else None
    if time is not None:
        counts["duration_s"] = time[0]
    return counts


def is_counts(text: str) -> bool:
    """Whether a line is that of the packets of a ping, and of nothing else."""
    return bool(re.match(r"\s*[0-9]{1,12} packets transmitted, [0-9]{1,12} (?:packets )?rec", text))


def is_contradictory(counts: dict[str, float]) -> bool:
    """Whether the printed counts do not give the printed loss."""
    sent, received, loss = (counts.get(name) for name in ("sent", "received", "loss_ratio"))
    if not sent or received is None or loss is None:
        return False
    return abs(1 - received / sent - loss) >= 0.011


def read_spread(text: str) -> dict[str, float] | None:
    """Read ``rtt min/avg/max/mdev = 0.038/0.047/0.080/0.011 ms``."""
    match = _SPREAD.search(text)
    if match is None:
        worded = _WORDED_SPREAD.search(text)
        if worded is None:
            return None
        low, low_unit, mean, mean_unit, high, high_unit = worded.groups()
        pairs = [(low, low_unit), (mean, mean_unit), (high, high_unit)]
        return _times(("rtt_min_s", "rtt_avg_s", "rtt_max_s"), pairs)
    unit = match[1] or match[6]
    if unit is None:
        return None
    names = ("rtt_min_s", "rtt_avg_s", "rtt_max_s", "rtt_mdev_s")
    return _times(
        names, [(number, unit) for number in match.groups()[1:5] if number and number != "nan"]
    )


def is_like_spread(text: str) -> bool:
    """Whether a line may be the times of a summary, of which a number is damaged."""
    return bool(re.search(r"min\S*/av\S*/max.*=.*[0-9]", text))


def read_windows_counts(text: str) -> dict[str, float] | None:
    """Read ``Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),``."""
    match = _WINDOWS_COUNTS.match(text)
    if match is None or _WINDOWS_SPREAD.match(text):
        return None
    sent, received, lost = (int(number) for number in match.groups())
    if sent - received != lost:
        return None
    return {"sent": sent, "received": received, "loss_ratio": lost / sent if sent else math.nan}


_COUNTS_OF_WINDOWS = re.compile(
    r"\s*(?:Packets|Pakete|Paquets|Paquetes|Pacchetti|Pacotes|Пакетов|Pakiety|Pakketten|Paket"
    r"|Paketit|Pakety|Csomagok|数据包|封包|パケット数|패킷)\s?[:：]"
)


def is_windows_counts(text: str) -> bool:
    """Whether a line is that of the packets of a Windows ping, in the words of a language."""
    return bool(_COUNTS_OF_WINDOWS.match(text)) and read_windows_counts(text) is not None


def is_wrapped_counts(text: str) -> bool:
    """Whether a line has sent and received, and the next one what was lost, as in Italian."""
    return bool(re.fullmatch(r"[^=]*=\s*[0-9]{1,12}\b[^=0-9]+=\s*[0-9]{1,12},\s*", text))


def read_windows_spread(text: str) -> dict[str, float] | None:
    """Read ``Minimum = 56ms, Maximum = 194ms, Average = 107ms``."""
    match = _WINDOWS_SPREAD.match(text)
    if match is None:
        return None
    low, low_unit, high, high_unit, mean, mean_unit = match.groups()
    pairs = [(low, low_unit), (high, high_unit), (mean, mean_unit)]
    return _times(("rtt_min_s", "rtt_max_s", "rtt_avg_s"), pairs)


def _times(names: tuple[str, ...], written: list[tuple[str, str]]) -> dict[str, float] | None:
    times = {}
    for name, (number, unit) in zip(names, written, strict=False):
        time = seconds(number, unit)
        if time is None:
            return None
        times[name] = time[0]
    return times
