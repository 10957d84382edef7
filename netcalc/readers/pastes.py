"""What comes with a pasted output: quote marks, fences, prompts, and the outputs of other tools.

A text is read as it is. If that fails or leaves lines over, it is read without what a mail, a chat
or a page of Markdown puts around it, and kept so if more of it can be read. In a text of several
tools the first one that has a measurement is read; what is left is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import columns, formats, pings
from netcalc.readers.cells import delimiter_of
from netcalc.readers.format import HEAD_BYTES, Format, Input
from netcalc.readers.pings import ping, ping_lines
from netcalc.samples import Samples

Read = Callable[[Input], Samples]

_MOST_PARTS = 100
"""Parts of a text beyond which it is a log of one tool. [1]"""
_PROMPT = (
    r"(?:\[?[\w.-]+@[\w.-]+[^$#%>\n]{0,80}[$#%>]|(?:PS )?[A-Z]:\\[^>\n]{0,100}>|[$%❯➜])(?: |$)"
    r"|[A-Z]:\\[^>\n]{0,100}>"
)
_TOOLS = (
    r"(?:sudo )?(?:ping6?|traceroute6?|tracert|mtr|iperf3?|ip|ss|netstat|nstat|cat|show|tc|ethtool"
    r"|speedtest\S*|curl|wget|dd|iw|fping|tracepath|netperf|mpirun|srun|ifconfig) "
)
_COMMAND = re.compile(rf"(?:{_PROMPT})|(?:# ?|[\w./-]{{1,30}}[#>] ?){_TOOLS}")
_BARE_PROMPT = re.compile(rf"(?:{_PROMPT}|[\w./-]{{0,30}}[$#%>])\s*")
_FENCE = re.compile(
    r"\s*(?:```+[\w +-]*|~~~+\w*|\{(?:code|noformat)(?::[^}]*)?\}|\[/?code\]"
    r"|\\(?:begin|end)\{\w+\})\s*"
)
_INLINE = re.compile(r"\s*`+([^`]+)`+\s*")
_TAG = re.compile(r"</?(?:pre|code|tt|samp|blockquote|p|div|span|br)\b[^<>]{0,200}>", re.IGNORECASE)
_LETTERS = str.maketrans({
    "\u200b": "", "\u200c": "", "\u2060": "", "\ufeff": "", "\u00a0": " ", "\u202f": " ",
    "\u2007": " ", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "—": "--", "–": "-",
    "…": "...", "，": ",", "；": ";",
})  # fmt: skip
"""Letters that a word processor or a chat puts in the place of others."""
_NOTHING = re.compile(
    r"nothing|\bno-|^(?:part-of-output|neither-ping-nor-columns|other-format|unknown-xml"
    r"|damaged-json)$"
)
"""Codes of refusals that found nothing to read."""
_OPENS = re.compile(r"\s*+(?:\[\s*+)?\{(?!\w)")
_MARKS = (">", "|", "*", "•", "-", " ", "\t")
_NUMBERED = re.compile(r"\s*(\d{1,9})[:.|]?(?:\s|$)")
_STAMP = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* ")
_HEAD = re.compile(
    r"PING |traceroute6? to |Pinging |Tracing route |Connecting to host |Server listening "
    r"|-----------+$|Start: |HOST: |\d+: \S+: <|Settings for |; <<>> DiG |State +Recv-Q"
    r"|Netid +State|# OSU|\s+Speedtest by |default via |\S+: flags="
)
"""Lines that begin an output, though none that is blank may be before them."""
_ANNOUNCES = re.compile(r"(?:[^\W\d][\w'’,.@-]* ){2,20}[\w'’.-]+:")
"""A sentence of a mail or a chat before what it quotes."""
_NO_TOOLS = frozenset({"YAML", "keys", "shell script", "configuration"})


@dataclass(slots=True)
class _Part:
    """Lines of a text that one tool wrote, by their indexes."""

    tool: Format | str
    indexes: list[int]

    @property
    def description(self) -> str:
        return self.tool.description if isinstance(self.tool, Format) else formats.KINDS[self.tool]

    @property
    def family(self) -> str:
        """What is read together: the readers of pings know each other's lines."""
        name = self.tool.name if isinstance(self.tool, Format) else self.tool
        if self.tool is ping.FORMAT or self.tool in pings.FORMATS:
            return "ping"
        return "netstat" if name.startswith("netstat") else name


def read_paste(file: Input, read: Read) -> Samples:
    """Read an input by ``read``, or what is left of a paste without its wrapping.

    Raises
    ------
    ReaderError
        Of the text as it is, if none of its forms can be read.
    """
    lines = _lines_of(file)
    best, refusal = None, None
    try:
        best = _read_parts(file, lines, read)
    except ReaderError as error:
        refusal = error
    tool = formats.part_of(file) if refusal and refusal.code == "part-of-output" else None
    for form in _forms(lines) if lines and _may_be_wrapped(file, lines, refusal) else ():
        pasted = _with(file, form)
        with suppress(ReaderError):
            if tool is not None and not _is_of(tool, formats.recognized(pasted)):
                continue
            samples = _read_parts(pasted, form, read)
            around = [n for n, line in enumerate(lines) if line.strip() and not form[n].strip()]
            samples = _with_left(samples, lines, around, formats.KINDS[formats.TEXT])
            pairs = zip(lines, form, strict=True)
            is_stripped = any(line[:1] != bare[:1] and bare[:1].strip() for line, bare in pairs)
            if best is None or _says_more(samples, best, is_stripped=is_stripped):
                best = samples
    if best is None:
        assert refusal is not None
        raise refusal
    return best


def _is_of(tool: Format, other: Format | str) -> bool:
    """Whether two formats are of one tool: iperf3 text, iperf3 JSON."""
    return isinstance(other, Format) and other.name.split()[0] == tool.name.split()[0]


def _may_be_wrapped(file: Input, lines: Sequence[str], refusal: ReaderError | None) -> bool:
    """Whether marks may hide something: what a reader refuses as damaged, stays damaged.

    Text around JSON is known to the readers of JSON.
    """
    if refusal is None:
        return not any(map(_OPENS.match, lines))
    return bool(_NOTHING.search(refusal.code)) or formats.named(file) not in formats.MARKED


def _lines_of(file: Input) -> list[str]:
    """Return the lines of a text that somebody may have pasted; none of a long or a binary one."""
    if len(file.head) >= HEAD_BYTES or formats.kind_by_magic(file.head) or b"\0" in file.head:
        return []
    try:
        lines, numbers = list(file.text.lines), file.text.numbers
    except ReaderError:
        return []
    return lines if isinstance(numbers, range) else []


def _with(file: Input, lines: Sequence[str]) -> Input:
    """Return the input with other lines, as many as it has."""
    end = "\n" if file.text.ends_complete or not lines[-1] else ""
    data = ("\n".join(lines) + end).encode("utf-8", "replace")
    return Input(
        replace(file.unpacked, data=data), words=ping_lines.WORDS,
        units=file.units, columns=file.columns, decimal=file.decimal,
    )  # fmt: skip


def _says_more(samples: Samples, best: Samples, *, is_stripped: bool) -> bool:
    """Whether less was left over of a text in this form, and no fact is lost.

    Without the blanks before it, a damaged line may look like one of nothing: that is no gain.
    """
    if (samples.meta.tool == columns.FORMAT.name) > (best.meta.tool == columns.FORMAT.name):
        return False
    facts, least = (sum(map(len, each.facts())) for each in (samples, best))
    left, most = _left_over(samples), _left_over(best)
    is_more = facts > least or left[0] < most[0] or (left < most and not is_stripped)
    return facts >= least and left <= most and is_more


def _left_over(samples: Samples) -> tuple[bool, int]:
    warnings = samples.meta.warnings
    return samples.meta.partial, sum(len(each.values.get("numbers", "1")) for each in warnings)


def _forms(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of a paste without what is around them, each in its place."""
    forms = [list(lines)]
    clean = _without_fences([_TAG.sub("", line.translate(_LETTERS)) for line in lines])
    for plain in (clean, _without_fences(_without_marks(clean))):
        bare = ["" if _COMMAND.match(line) else line for line in plain]
        for form in (plain, bare):
            if form not in forms and any(form):
                forms.append(form)
                yield form
    if all(map(_STAMP.match, filter(str.strip, bare))):
        yield [_STAMP.sub("", line) for line in bare]
    numbers = [_NUMBERED.match(line) for line in bare]
    counted = [int(number[1]) for number in numbers if number]
    if len(counted) > 1 and counted == list(range(counted[0], counted[0] + len(lines))):
        yield _without_marks([_NUMBERED.sub("", line, count=1) for line in bare])
    opened = next((n for n, line in enumerate(bare) if _OPENS.match(line)), None)
    closed = [n for n, line in enumerate(bare) if re.fullmatch(r"\S*[}\]]\s*", line)]
    if opened is not None and closed:  # JSON with chat around it
        yield [line if opened <= n <= closed[-1] else "" for n, line in enumerate(bare)]


def _without_fences(lines: list[str]) -> list[str]:
    """Return lines without fences around code, and without the prompt behind the last output."""
    lines = [
        "" if _FENCE.fullmatch(line) else code[1] if (code := _INLINE.fullmatch(line)) else line
        for line in lines
    ]
    last = max((n for n, line in enumerate(lines) if line), default=0)
    lines[last] = "" if _BARE_PROMPT.fullmatch(lines[last]) else lines[last]
    return lines


def _without_marks(lines: list[str]) -> list[str]:
    """Return lines without the mark or blank at which most of them begin, as often as they do.

    >>> _without_marks(["he wrote:", "> > PING", "> >  reply"])
    ['he wrote:', 'PING', ' reply']
    """
    while True:
        start, stop, mark = max((_longest(lines, mark) for mark in _MARKS), key=_length_of)
        filled = sum(bool(line.strip()) for line in lines[start:stop])
        if filled < 2 or 2 * filled < sum(map(bool, map(str.strip, lines))):
            return lines
        lines = [
            line.removeprefix(mark) if start <= n < stop else line for n, line in enumerate(lines)
        ]
        inside = lines[start:stop]
        if mark.strip() and all(line[0] == " " for line in inside if line):
            lines[start:stop] = [line[1:] for line in inside]


def _length_of(run: tuple[int, int, str]) -> int:
    return run[1] - run[0]


def _longest(lines: Sequence[str], mark: str) -> tuple[int, int, str]:
    """Return the longest run of lines that begin with a mark, or are blank; its ends are not."""
    best, start = (0, 0, mark), -1
    for index, line in enumerate(lines):
        if line.startswith(mark) and line.strip():
            start = index if start < 0 else start
            best = max(best, (start, index + 1, mark), key=_length_of)
        elif line.strip():
            start = -1
    return best


def _read_parts(file: Input, lines: Sequence[str], read: Read) -> Samples:
    """Read a text; of several tools the first that has a measurement."""
    is_text = bool(lines) and not (file.columns or file.is_json or file.first.lstrip()[:1] == "<")
    parts = _parts_of(file, lines) if is_text else []
    families = dict.fromkeys(part.family for part in parts if part.tool != formats.TEXT)
    if len(families) < 2:
        try:
            return read(file)
        except ReaderError:
            if [part.tool for part in parts].count(columns.FORMAT) != 1:
                raise
    for family in families:
        indexes = {n for part in parts if part.family == family for n in part.indexes}
        kept = [line if n in indexes else "" for n, line in enumerate(lines)]
        with suppress(ReaderError):
            samples = read(_with(file, kept))
            for other in parts:
                if other.family != family:
                    is_readable = isinstance(other.tool, Format)
                    samples = _with_left(
                        samples, lines, other.indexes, other.description, is_readable=is_readable
                    )
            return samples
    return read(file)


def _with_left(
    samples: Samples, lines: Sequence[str], indexes: Sequence[int], kind: str, *,
    is_readable: bool = False,
) -> Samples:  # fmt: skip
    """Say which lines were not read; fences, tags and prompts are none."""
    numbers = [
        n + 1 for n in indexes
        if not (_FENCE.fullmatch(lines[n]) or _COMMAND.match(lines[n])
                or _BARE_PROMPT.fullmatch(lines[n]) or not _TAG.sub("", lines[n]).strip(" \t>|*")
                or re.fullmatch(r"\s*\d{1,9}[:.|]?\s*", lines[n]))
    ]  # fmt: skip
    if not numbers:
        return samples
    values = {"numbers": numbers, "format": kind}
    notice = Notice("left-to-another-file" if is_readable else "left-to-others", values)
    warnings = (*samples.meta.warnings, notice)
    return replace(samples, meta=replace(samples.meta, warnings=warnings))  # type: ignore[type-var]


def _parts_of(file: Input, lines: Sequence[str]) -> list[_Part]:
    """Return the parts of a text by the tools that wrote them.

    Lines that no tool is known to write belong to the part before them, or to the first one, but
    to no table.
    """
    pieces: list[list[int]] = [[]]
    for index, line in enumerate(lines):
        before = lines[index - 1].strip() if index else ""
        begins = _COMMAND.match(line) or (_HEAD.match(line) and not _HEAD.match(before))
        if not before or begins or (len(pieces) < 3 and _ANNOUNCES.fullmatch(before)):
            pieces.append([])
        pieces[-1].append(index)
    pieces = [piece for piece in pieces if any(lines[n].strip() for n in piece)]
    parts: list[_Part] = []
    if not 1 < len(pieces) < _MOST_PARTS:
        return parts
    for piece in pieces:
        tool = _tool_of(_with(file, [lines[n] for n in piece] + [""])) or formats.TEXT
        part = _Part(tool, piece)
        # The heading and the list of hops of pathping look like those of a trace without times.
        while parts and part.family == "pathping" and parts[-1].family.startswith("trace"):
            if re.search(r"\d ms|\*", "\n".join(lines[n] for n in parts[-1].indexes)):
                break
            part.indexes[:0] = parts.pop().indexes
        if parts and (part.family == parts[-1].family or _goes_on(parts[-1], part, lines)):
            parts[-1].indexes += piece
        else:
            parts.append(part)
    if any(part.family.endswith("CSV") for part in parts):  # its rows are no other table
        parts = [part for part in parts if part.tool is not columns.FORMAT]
    if len(parts) > 1 and parts[0].tool == formats.TEXT and parts[1].tool is not columns.FORMAT:
        first = parts.pop(0)
        parts[0].indexes[:0] = first.indexes
    return parts


def _goes_on(part: _Part, other: _Part, lines: Sequence[str]) -> bool:
    """Whether lines that nobody is known to write, or both versions of iperf, are of a part."""
    if other.tool == formats.TEXT:
        return part.tool is not columns.FORMAT
    both = part.family.startswith("iperf") and other.family.startswith("iperf")
    return both and not any(_HEAD.match(lines[n]) for n in other.indexes)


def _tool_of(file: Input) -> Format | str | None:
    """Return what wrote a few lines; None where nothing is known by its lines."""
    tool = formats.named(file)
    if tool is None and ping.FORMAT.recognize(file):
        tool = ping.FORMAT
    tool = tool or formats.kind_by_lines(file) or formats.part_of(file)
    if isinstance(tool, str):
        return None if tool in _NO_TOOLS else tool
    first = file.first.splitlines()
    if tool is None and len(first) > 2 and delimiter_of(first) != " ":
        with suppress(ReaderError):
            columns.FORMAT.read(file)
            return columns.FORMAT
    return tool
