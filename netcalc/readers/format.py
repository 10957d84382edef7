"""What a format is: how it is recognized, what reads it, and what the numbers of its tools count.

Each format is one file with one :class:`Format`. The tuple ``FORMATS`` of each folder lists them;
:mod:`netcalc.readers.formats` puts the folders in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from netcalc.rate_layers import RateLayer
from netcalc.readers.document import Documents, read_documents
from netcalc.readers.packed import unpack, unpack_head
from netcalc.readers.source import (
    Readable,
    Source,
    Text,
    as_utf8,
    decode,
    is_path,
    open_source,
    read_head,
)
from netcalc.samples import Samples

HEAD_BYTES = 64 * 1024
"""Beginning of an input by which formats with a mark of their own are recognized. [byte]"""

FIRST_LINES, FIRST_CHARACTERS = 60, 500
"""Lines at the start of a text by which it is recognized, and how much of each."""


class Input:
    """One input, opened no further than needed: its head, its bytes, its text, its JSON.

    A file that is recognized by its head is never read whole, however large it is; a format that
    streams opens ``path`` itself.

    Parameters
    ----------
    source : path, str, bytes or file object
        The input. A ``str`` with a line end in it is text, any other is a path.
    name : str, optional
        Name of the source, if it is not a path.
    words : sequence of str, optional
        Words that a text may hold, which help to find its encoding when it is not UTF-8.
    units, columns, decimal
        Arguments of :func:`netcalc.readers.read` about columns.
    """

    def __init__(
        self,
        source: Readable | Source,
        *,
        name: str | None = None,
        words: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        columns: Sequence[str] | None = None,
        decimal: str | None = None,
    ) -> None:
        self._given = source
        self._name = name
        self._words = tuple(words)
        self.units = units
        self.columns = columns
        self.decimal = decimal
        self.path: Path | None = Path(source) if is_path(source) else None  # type: ignore[arg-type]
        """The file, if the input is one."""

    @property
    def name(self) -> str:
        """Name for errors."""
        if self.path is not None and "source" not in vars(self):
            return self._name or self.path.name
        return self.source.name

    @cached_property
    def source(self) -> Source:
        """The whole input as it is stored, compressed or not, with its hash."""
        return open_source(self._given, name=self._name)

    @cached_property
    def unpacked(self) -> Source:
        """The whole input, uncompressed; the hash is that of the file."""
        return unpack(self.source)

    @property
    def origin(self) -> dict[str, Any]:
        """The name of a file and the hash of any input, as ``Meta`` has them."""
        source = self.unpacked
        return {"source": source.name if source.is_file else "", "sha256": source.sha256}

    @property
    def data(self) -> bytes:
        """The bytes of the whole input, uncompressed; marked text is UTF-8 without its mark."""
        return as_utf8(self.unpacked.data)

    @cached_property
    def head(self) -> bytes:
        """The first :data:`HEAD_BYTES` bytes at most, uncompressed; less if they are damaged.

        Text with a byte order mark is UTF-8 here, without its mark.
        """
        return as_utf8(self._raw_head)

    @cached_property
    def _raw_head(self) -> bytes:
        if self.path is not None and "source" not in vars(self):
            head = read_head(self._given, HEAD_BYTES)
        else:
            head = self.source.data[:HEAD_BYTES]
        return unpack_head(head, HEAD_BYTES)[:HEAD_BYTES]

    @cached_property
    def first(self) -> str:
        """The first lines of the text, each cut at :data:`FIRST_CHARACTERS`, joined again."""
        text = decode(Source(self.name, self._raw_head, ""), words=self._words)
        return "\n".join(line[:FIRST_CHARACTERS] for line in text.whole[:FIRST_LINES])

    @cached_property
    def text(self) -> Text:
        """The whole text in lines, without terminal codes; ``text.numbers`` counts from 1."""
        return decode(self.unpacked, words=self._words)

    @cached_property
    def is_json(self) -> bool:
        """Whether the text begins as JSON does."""
        start = self.first.lstrip("\ufeff \t\n\r")[:200]
        return bool(
            start.startswith("{")
            or re.match(r"\[\s*(?:[{\[\"\]]|-?\d+(?:\.\d+)?\s*(?:[,\]]\s*)?$)", start, re.MULTILINE)
        )

    @cached_property
    def json(self) -> Documents:
        """The JSON documents in the input: one, several in a row, or one in each line.

        Empty if the text does not begin as JSON does; ``json.fault`` has the error of a text that
        is damaged or cut, with its line and byte.
        """
        if not self.is_json:
            return Documents((), None)
        return read_documents(self.unpacked)

    def let_go(self) -> None:
        """Let go of the bytes, once the text is decoded: a large input is not needed twice."""
        if "text" in vars(self):
            for name in ("source", "unpacked"):
                if name in vars(self):
                    vars(self)[name] = replace(vars(self)[name], data=b"")

    def seen(self, pattern: str) -> bool:
        """Whether a pattern matches at a line of :attr:`first`; ``^`` and ``$`` are line ends."""
        answers = _seen_in(self.first)
        if pattern not in answers:
            answers[pattern] = re.search(pattern, self.first, re.MULTILINE) is not None
        return answers[pattern]

    def keys(self) -> frozenset[str]:
        """Return the names in the first JSON document, or in the first of its list."""
        first: Any = self.json.documents[0] if self.json.documents else None
        if isinstance(first, list):
            first = first[0] if first else None
        return frozenset(first) if isinstance(first, dict) else frozenset()


@lru_cache(maxsize=4)
def _seen_in(first: str) -> dict[str, bool]:
    """Return what was found of the patterns that were looked for in a text.

    All formats look for theirs, and an input is often recognized twice: named first, then read.
    """
    return {}


SENDER, RECEIVER = "sender", "receiver"
HOST, SERVER, CLIENT, CAPTURE = "this host", "server", "client", "where it was captured"
ROUND_TRIP, ONE_WAY = "round trip", "one way"
OF_ROW = "protocol of the row"
"""In a table of facts: the protocol is that of the row of facts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number belongs; a field is empty where the file does not say it.

    Parameters
    ----------
    protocol : str
        As facts name it: ``"icmp"``, ``"tcp"``, ``"udp"``, ``"arp"``.
    layer : str
        What is counted or timed, in the words of its layer: "ICMP packets", "application data".
    side : str
        Who counted or timed it.
    way : str
        Of a time: :data:`ROUND_TRIP` or :data:`ONE_WAY`.
    """

    protocol: str = ""
    layer: str = ""
    side: str = ""
    way: str = ""

    @property
    def what(self) -> str:
        """Layer, protocol where the layer does not name it, and way, as a table shows them."""
        protocol = self.protocol.upper()
        named = protocol in self.layer.upper() or not self.layer
        layer = self.layer if named else f"{self.layer} ({protocol})"
        return ", ".join(filter(None, (layer, self.way)))

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.what, self.side)))


PROBES = Place("", "probes", SENDER, ROUND_TRIP)
"""Of a tool that can probe by several protocols: the row of facts says which, or nothing does."""
ICMP_PROBES = Place("icmp", "ICMP packets", SENDER, ROUND_TRIP)
UDP_PROBES = Place("udp", "UDP datagrams", SENDER, ROUND_TRIP)
TO_NODES = Place("", "probes, answered by ICMP", SENDER, ROUND_TRIP)
UDP_TO_NODES = Place("udp", "UDP datagrams, answered by ICMP", SENDER, ROUND_TRIP)
REQUESTS = Place("", "application requests", CLIENT, ROUND_TRIP)
MESSAGES = Place("", "application messages", CLIENT, ROUND_TRIP)
HTTP_REQUESTS = Place("tcp", "HTTP requests", CLIENT, ROUND_TRIP)
SEGMENTS = Place("tcp", "TCP segments", SENDER, ROUND_TRIP)
HANDSHAKE = Place("tcp", "TCP handshakes", CLIENT, ROUND_TRIP)
"""The connection that the client of a transfer opened."""

TRANSPORT: Literal["transport"] = "transport"
"""Rates of a tool that counts the payload of TCP or of UDP, as its run used one or the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the numbers of a tool count, and who counts them.

    Parameters
    ----------
    probes : Place, optional
        What its round trips or delays are of.
    probes_by : mapping of str to Place
        The same by protocol, where another protocol makes another probe.
    facts : mapping of str to Place
        Name of a fact, or its pattern (``counter:*``) -> where it belongs, where that is not as
        usual; :data:`PROBES` where its probes belong.
    data : str
        What its bytes and rates count.
    rates : str, optional
        One of :data:`netcalc.rate_layers.LAYERS`, or :data:`TRANSPORT`: the layer of its rates, as
        its documentation says.
    loss_at_receiver : bool
        Whether a loss is that of datagrams at the receiver, not of replies.
    """

    probes: Place | None = None
    probes_by: Mapping[str, Place] = field(default_factory=dict)
    facts: Mapping[str, Place] = field(default_factory=dict)
    data: str = "application data"
    rates: RateLayer | Literal["transport"] | None = None
    loss_at_receiver: bool = False


def of_sockets(side: str, **others: Place) -> Mapping[str, Place]:
    """Return where the facts of the kernel about a TCP socket belong."""
    names = ("cwnd_packets", "mss_bytes", "retransmit_total_count", "busy_s",
             "receive_window_limited_s", "send_buffer_limited_s")  # fmt: skip
    payload = dict.fromkeys(
        ("bytes_acked", "bytes_sent", "bytes_retransmitted"), Place("tcp", "application data", side)
    )
    return {**dict.fromkeys(names, Place("tcp", "TCP segments", side)), **payload, **others}


def of_kernel(layer: str, rates: RateLayer | None = None) -> Counted:
    """Return what the counters of a host's kernel count."""
    return Counted(facts={"counter:*": Place("", layer, HOST)}, rates=rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format that netcalc reads.

    Parameters
    ----------
    name : str
        What :func:`netcalc.readers.sniff` returns.
    description : str
        What it is, as a message has it: "the output of ping".
    recognize : callable
        Whether an input is of this format; it looks at the content, cheap tests first.
    read : callable
        Make samples of an input that was recognized, or raise
        :class:`~netcalc.errors.ReaderError`.
    traps : tuple of str
        What is easily read wrong, and what this reader does about it.
    tools : mapping of str to Counted
        Tool, as ``meta.tool`` has it -> what its numbers count; a name without its variant in
        brackets stands for all of them. One format of a tool says it for all.
    """

    name: str
    description: str
    recognize: Callable[[Input], bool]
    read: Callable[[Input], Samples]
    traps: tuple[str, ...]
    tools: Mapping[str, Counted] = field(default_factory=dict)
