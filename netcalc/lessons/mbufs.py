"""Panels of the lesson on mbufs and fragments: in theory, and measured on this machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np

from netcalc import compare, datasets, plots
from netcalc.checks import FloatArray
from netcalc.errors import DomainError
from netcalc.experiments import transactions
from netcalc.fit.steps import ChangePoints, change_points
from netcalc.language import phrase, term
from netcalc.models.hosts import host_stack, mbufs, small_writes
from netcalc.models.sizes import fragmentation, framing
from netcalc.plots import Axis, Buffer, Plot, buffers
from netcalc.samples import TransactionSamples
from netcalc.units import show
from netcalc.widgets.controls import Quantity, choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, Swept, html_table, in_unit, notes_of, panel, sweep_panel
from netcalc.widgets.peer import PeerField
from netcalc.widgets.run import run_button

BOOK_SIZES = sorted({0, *range(100, 2001, 100), 1508, 1509})
"""User data of the 23 UDP transactions of Fig. A-6. [byte]"""

COSTS = {
    "packet_cost": 0.667e-3,
    "program_s": 0.75e-3,
    "connection_s": 2.5e-3,
    "copy_cost": 80e-9,
    "checksum_cost": 40e-9,
    "mbuf_s": 0.1e-3,
    "cluster_s": 0.02e-3,
}
"""Plausible costs of a transaction on Stevens' machine, by part: nearly all of his statements
hold with them."""

_SMALL = np.arange(401.0)
_WRITES = np.arange(0.0, 10_001.0, 10.0)
_DATAGRAMS = np.union1d(np.arange(0.0, 6001.0, 4.0), [1508.0, 1509.0])
_SIZES = np.union1d(np.arange(0.0, 2001.0, 4.0), BOOK_SIZES)

# Sizes that the numbers of the data set "mbufs" belong to. [byte]
_UDP = {"MB04": 0, "MB05": 100, "MB06": 200}
_PING = {"MB08": 8, "MB09": 100, "MB10": 200}
_CLUSTER = {"MB07": 300}

_PING_HEADERS: dict[str, Any] = {"header_bytes": 20, "inner_header_bytes": 8}


def mbuf_panel() -> Panel:
    """Mbufs and clusters of a datagram against its user data, with the book's numbers."""
    udp, ping = term("Stevens, UDP: mbufs"), term("Stevens, ping: mbufs")
    clusters = term("Stevens: clusters")
    printed = {udp: _printed(_UDP), ping: _printed(_PING), clusters: _printed(_CLUSTER)}

    def model(**system: Any) -> Swept:
        datagrams = mbufs.datagram_mbufs(_SMALL, **system)
        pings = mbufs.datagram_mbufs(_SMALL, **_PING_HEADERS, **system)
        counts = {udp: datagrams.mbufs, ping: pings.mbufs, clusters: datagrams.clusters}
        right = sum(
            int((counts[name][sizes.astype(int)] == numbers).sum())
            for name, (sizes, numbers) in printed.items()
        )
        return {
            term("UDP: mbufs"): datagrams.mbufs,
            term("ping: mbufs"): pings.mbufs,
            term("UDP: clusters"): datagrams.clusters,
        }, phrase(
            "UDP: {buffers} at 100 bytes, {buffers_2} at 200, {buffers_3} at 300. Ping "
            "hands over 8 bytes more: {buffers_4} at 100, {buffers_5} at 200. {right} of "
            "Stevens' 7 numbers agree.",
            buffers=_buffers(datagrams, 100),
            buffers_2=_buffers(datagrams, 200),
            buffers_3=_buffers(datagrams, 300),
            buffers_4=_buffers(pings, 100),
            buffers_5=_buffers(pings, 200),
            right=right,
        )

    return sweep_panel(
        model,
        over=_SMALL,
        book=printed,
        controls={
            "minclsize_bytes": _minclsize(),
            "compare": _compare(),
            "mhlen_bytes": _bytes("MHLEN", 100),
            "mlen_bytes": _bytes("MLEN", 108),
            "mcl_bytes": _cluster(),
        },
        x=Axis("user data", "byte", "linear", -10, 400),
        y=Axis("mbufs, clusters", "1", "linear", -0.2, 6.2),
        title="How many buffers does a datagram take?",
        more=("mhlen_bytes", "mlen_bytes"),
    )


def calls_panel() -> Panel:
    """Calls of TCP's output routine, and segments on the wire, against the size of a write."""
    today = mbufs.freebsd_mbufs(np.maximum(_SMALL, 1.0)).calls

    def model(compare: mbufs.Comparison, nodelay: bool, **system: float) -> Swept:
        calls = mbufs.stream_mbufs(_SMALL, compare=compare, **system).calls
        segments = mbufs.stream_segments(_SMALL, compare=compare, nodelay=nodelay, **system)
        split = _SMALL[segments > 1]
        words = phrase(
            "A write of 200 bytes: {number}, {number_2}. ",
            number=_number(calls[200], "call"),
            number_2=_number(segments[200], "segment"),
        )
        if split.size:
            words += phrase(
                "Writes of {split:.0f} to {split_2:.0f} bytes leave in more than one.",
                split=split[0],
                split_2=split[-1],
            )
        else:
            words += phrase("Every write up to 400 bytes leaves in one.")
        return {
            term("4.4BSD: calls"): calls,
            term("4.4BSD: segments"): segments,
            term("FreeBSD today: calls"): today,
        }, words

    return sweep_panel(
        model,
        over=_SMALL,
        book={
            "Stevens, TCP: calls": _printed({"MB15": 200}),
            "Stevens, TCP: segments (tcpdump)": _printed({"MB11": 200}),
            "Stevens, UDP: calls": _printed({"MB14": 200}),
        },
        controls={
            "minclsize_bytes": _minclsize(),
            "compare": _compare(),
            "mhlen_bytes": _bytes("MHLEN", 100),
            "nodelay": switch("TCP_NODELAY: every call sends at once"),
        },
        x=Axis("user data of one write", "byte", "linear", -10, 400),
        y=Axis("calls, segments", "1", "linear", -0.2, 5.2),
        title="TCP output is called once per buffer",
    )


def chain_panel() -> Panel:
    """The buffers of one write as boxes: by TCP and by UDP in 4.4BSD, and in FreeBSD today."""
    figure = Figure(_chains(200, 208, 2048))
    controls = {
        "payload_bytes": _bytes(phrase("write"), "200 B", low="0 B", high="6000 B"),
        "minclsize_bytes": _minclsize(),
        "mcl_bytes": _cluster(),
    }
    return panel(figure, controls, lambda **sizes: figure.draw(_chains(**sizes)))


_MBUF, _CLUSTER_BUFFER, _HEADERS = "mbuf", "cluster", term("mbuf with the headers")


def _chains(payload_bytes: float, minclsize_bytes: float, mcl_bytes: int) -> Plot:
    """Draw the chains that a write makes; how many buffers there are, the models say."""
    size = payload_bytes
    sizes: dict[str, Any] = {"minclsize_bytes": minclsize_bytes, "mcl_bytes": mcl_bytes}
    stream = mbufs.stream_mbufs(size, **sizes)
    datagram = mbufs.datagram_mbufs(size, **sizes)
    now = mbufs.freebsd_mbufs(size, mcl_bytes=mcl_bytes)
    tcp = _filled(
        size, [mcl_bytes] * int(stream.clusters), mbufs.BSD44.mhlen_bytes, int(stream.mbufs)
    )
    chains = {
        "TCP, 4.4BSD": tcp,
        "UDP, 4.4BSD": _of_datagram(size, datagram, mcl_bytes),
        "TCP, FreeBSD": _of_freebsd(size, now, mcl_bytes),
    }
    calls = _number(float(stream.calls), "call")
    text = phrase(
        "A write of {size:.0f} bytes is {calls} of TCP's output in 4.4BSD, one for "
        "each buffer: {filling}. UDP passes {filling_2} on in one call, FreeBSD today "
        "{filling_3}.",
        size=size,
        calls=calls,
        filling=_filling(tcp),
        filling_2=_filling(chains["UDP, 4.4BSD"]),
        filling_3=_filling(chains["TCP, FreeBSD"]),
    )
    return buffers(
        chains,
        (_MBUF, _CLUSTER_BUFFER, _HEADERS),
        title="The buffers of one write, and the bytes in each",
        description=text,
    )


def _filled(size: float, clusters: list[int], small_bytes: float, count: int) -> list[Buffer]:
    """Return buffers that are filled one after the other: clusters first, then mbufs."""
    holds = [*map(float, clusters), *[float(small_bytes)] * (count - len(clusters))]
    chain, left = [], size
    for at, room in enumerate(holds):
        kind = _CLUSTER_BUFFER if at < len(clusters) else _MBUF
        chain.append(Buffer(kind, room, min(room, left)))
        left -= chain[-1].used_bytes
    return chain


def _of_datagram(size: float, count: mbufs.MbufCount, mcl_bytes: int) -> list[Buffer]:
    """Return the chain of a datagram: headers are in front of the data, or in their own mbuf."""
    system, clusters, every = mbufs.BSD44, int(count.clusters), int(count.mbufs)
    headers = Buffer(_HEADERS, float(system.mhlen_bytes), 28.0, phrase("UDP and IP headers"))
    if clusters:
        first = mcl_bytes - system.max_hdr_bytes
        holds = [first, *[mcl_bytes] * (clusters - 1)]
        return [headers, *_filled(size, holds, system.mlen_bytes, every - 1)]
    rest = max(size - system.mhlen_bytes, 0.0)
    chain = [Buffer(_MBUF, float(system.mhlen_bytes), min(size, float(system.mhlen_bytes)))]
    chain += _filled(rest, [], system.mlen_bytes, math.ceil(rest / system.mlen_bytes))
    if every > len(chain):
        return [headers, *chain]
    used = chain[0].used_bytes + 28.0
    return [
        Buffer(_HEADERS, chain[0].size_bytes, used, phrase("headers in front of the data")),
        *chain[1:],
    ]


def _of_freebsd(size: float, count: mbufs.StreamCount, mcl_bytes: int) -> list[Buffer]:
    """Return the chain of a send in FreeBSD: clusters of a page while more is left, then a rest."""
    if size < 1:
        return []
    every, clusters = int(count.mbufs), int(count.clusters)
    fits_last = size - (every - 1) * _PAGE_BYTES <= mcl_bytes  # else it is a page, too
    pages = every - 1 if fits_last else every
    holds = [_PAGE_BYTES] * pages + [mcl_bytes] * (clusters - pages)
    return _filled(size, holds, mbufs.FREEBSD_LP64.mhlen_bytes, every)


_PAGE_BYTES = 4096


def _filling(chain: list[Buffer]) -> str:
    """Say what is in each buffer of a chain."""
    return (
        " + ".join(f"{buffer.used_bytes:.0f} of {buffer.size_bytes:.0f}" for buffer in chain)
        or "nothing"
    )


def wait_panel() -> Panel:
    """Response time of a request in one write that the kernel splits in two."""
    requests = _SMALL[1:]

    def model(minclsize_bytes: float, rtt_s: float, delayed_ack_s: float) -> Swept:
        split = mbufs.stream_segments(requests, minclsize_bytes=minclsize_bytes) > 1
        whole, cut = (
            float(small_writes.write_write_read_s(rtt_s, delayed_ack_s=delayed_ack_s, nagle=on))
            for on in (False, True)
        )
        return {
            "4.4BSD": np.where(split, cut, whole),
            term("4.4BSD with TCP_NODELAY"): np.full(split.size, whole),
        }, phrase(
            "A request in one segment is answered after {whole}, one in two segments after "
            "{cut}. Of the requests of 100 to 200 bytes {web:.0%} are split.",
            **in_unit("s", whole=whole, cut=cut),
            web=split[99:200].mean(),
        )

    return sweep_panel(
        model,
        over=requests,
        controls={
            "minclsize_bytes": _minclsize(),
            "rtt_s": Quantity("round trip", "30 ms", "0 ms", "100 ms", unit="s", scale="linear"),
            "delayed_ack_s": Quantity(
                "delayed ACK", "100 ms", "0 ms", "200 ms", unit="s", scale="linear"
            ),
        },
        x=Axis("request", "byte", "linear", -10, 400),
        y=Axis("response time", "s", "linear", 0, 0.45),
        title="The second segment waits for the acknowledgement of the first",
    )


def fragment_panel() -> Panel:
    """Fragments of a UDP datagram against its user data, and how one of them is cut."""
    loopback = datasets.printed_numbers("loopback_transactions")

    def model(mtu_bytes: float, payload_bytes: float, algorithm: fragmentation.Algorithm) -> Swept:
        # The IP payload includes the UDP header.
        packets = fragmentation.fragment_count(
            _DATAGRAMS + 8, mtu_bytes=mtu_bytes, algorithm=algorithm
        )
        parts = fragmentation.fragments_bytes(
            int(payload_bytes) + 8, mtu_bytes=int(mtu_bytes), algorithm=algorithm
        )
        words = " + ".join(f"{part:.0f}" for part in parts)
        sentence = (
            phrase("{payload:.0f} bytes of data and 8 of UDP header: ", payload=payload_bytes)
            + (
                phrase("{size} packets of {words}", size=parts.size, words=words)
                if parts.size > 1
                else phrase("one packet of {words}", words=words)
            )
            + phrase(
                " bytes of IP payload. Up to {largest:.0f} bytes of data fit a packet of "
                "{mtu:.0f}.",
                largest=float(framing.udp_payload_bytes(mtu_bytes)),
                mtu=mtu_bytes,
            )
        )
        yours = ([payload_bytes], [float(parts.size)])
        return {"fragments": packets, term("your datagram"): yours}, sentence

    return sweep_panel(
        model,
        over=_DATAGRAMS,
        # The largest datagram that is whole, and the smallest that is not.
        book={"Stevens: 1508 and 1509 bytes": ([loopback["LB02"], loopback["LB03"]], [1, 2])},
        controls={
            "mtu_bytes": Quantity("MTU", "1536 B", "576 B", "9000 B", unit="byte", whole=True),
            "payload_bytes": _bytes(phrase("user data"), "1509 B", low="0 B", high="6000 B"),
            "algorithm": choice(
                "fragmentation", {"4.4BSD": "bsd", "RFC 791, Linux": "rfc791"}, "bsd"
            ),
        },
        x=Axis("user data", "byte", "linear", -100, 6000),
        y=Axis("packets", "1", "linear", 0, 12),
        title="One byte more, one packet more",
    )


def transaction_panel() -> Panel:
    """Transactions over loopback as sums of costs, compared with Stevens' statements."""
    names: dict[host_stack.ReplyProtocol, str] = {
        "ping": term("ping, 2 packets"),
        "udp": term("UDP, 2 packets"),
        "ttcp": term("T/TCP, 3 packets"),
        "tcp": term("TCP, 9 packets"),
    }
    table = ipywidgets.HTML()

    def model(**costs: float) -> Swept:
        times = {
            protocol: host_stack.transaction_s(_SIZES, protocol=protocol, **costs)
            for protocol in names
        }
        rows = _observations(times)
        table.value = html_table(("", "Stevens", phrase("these costs")), rows)
        at_1400 = ", ".join(
            f"{protocol} {show(float(np.interp(1400, _SIZES, time)), 's', digits=3)}"
            for protocol, time in times.items()
        )
        return {names[protocol]: time for protocol, time in times.items()}, phrase(
            "At 1400 bytes: {at_1400}. The table compares them with Stevens.", at_1400=at_1400
        )

    def cost(label: str, name: str, high: str, unit: str = "s") -> Quantity:
        return Quantity(label, COSTS[name], 0.0, high, unit=unit, scale="linear")

    return sweep_panel(
        model,
        over=_SIZES,
        controls={
            "packet_cost": cost(phrase("each packet"), "packet_cost", "2 ms"),
            "program_s": cost(phrase("each program"), "program_s", "2 ms"),
            "connection_s": cost("connection", "connection_s", "5 ms"),
            "copy_cost": cost(term("copy a byte"), "copy_cost", "500 ns/B", "s/byte"),
            "checksum_cost": cost(term("checksum a byte"), "checksum_cost", "500 ns/B", "s/byte"),
            "mbuf_s": cost(phrase("each mbuf"), "mbuf_s", "0.5 ms"),
            "cluster_s": cost(phrase("each cluster"), "cluster_s", "0.5 ms"),
            "mtu_bytes": Quantity("MTU", "1536 B", "576 B", "65536 B", unit="byte", whole=True),
            "minclsize_bytes": _minclsize(),
        },
        x=Axis("user data", "byte", "linear", -30, 2000),
        y=Axis("transaction time", "s", "linear", 0, 16e-3),
        title="Both ends on one host: Fig. A-8 as a sum of costs",
        below=[table],
        more=("program_s", "connection_s", "checksum_cost", "cluster_s", "minclsize_bytes"),
    )


def today_panel() -> Panel:
    """Buffers of a stream's write: 4.4BSD, and FreeBSD today."""

    def model(mcl_bytes: int, minclsize_bytes: float, page_bytes: int) -> Swept:
        then = mbufs.stream_mbufs(_WRITES, mcl_bytes=mcl_bytes)
        now = mbufs.freebsd_mbufs(
            _WRITES, minclsize_bytes=minclsize_bytes, page_bytes=page_bytes, mcl_bytes=mcl_bytes
        )
        small, large = (int(np.searchsorted(_WRITES, size)) for size in (200, 10_000))
        return {
            term("4.4BSD: mbufs"): then.mbufs,
            term("4.4BSD: clusters"): then.clusters,
            term("FreeBSD: mbufs"): now.mbufs,
            term("FreeBSD: clusters"): now.clusters,
        }, phrase(
            "A write of 200 bytes: {calls} in 4.4BSD, {calls_2} in FreeBSD; of 10 000 "
            "bytes: {calls_3} and {calls_4}.",
            calls=_calls(then, small),
            calls_2=_calls(now, small),
            calls_3=_calls(then, large),
            calls_4=_calls(now, large),
        )

    return sweep_panel(
        model,
        over=_WRITES,
        controls={
            "mcl_bytes": _cluster(),
            "minclsize_bytes": _bytes(phrase("MINCLSIZE now"), "169 B", low="100 B", high="300 B"),
            "page_bytes": choice("page", {f"{size} B": size for size in (4096, 8192, 16384)}, 4096),
        },
        x=Axis("user data of one write", "byte", "linear", -150, 10_000),
        y=Axis("mbufs, clusters", "1", "linear", -0.2, 8.2),
        title="Buffers of one write, 4.4BSD and FreeBSD today",
    )


def _minclsize() -> Quantity:
    return _bytes(phrase("MINCLSIZE"), "208 B")


def _bytes(label: str, start: str | float, *, low: str = "64 B", high: str = "264 B") -> Quantity:
    return Quantity(label, start, low, high, unit="byte", scale="linear", whole=True)


def _cluster() -> ipywidgets.Dropdown:
    return choice("cluster", {f"{size} B": size for size in (1024, 2048, 4096)}, 2048)


def _compare() -> ipywidgets.Dropdown:
    options = {"from MINCLSIZE (>=, the code)": ">=", "above MINCLSIZE (>, Stevens' text)": ">"}
    return choice("use a cluster", options, ">=")


def _printed(sizes: dict[str, int]) -> tuple[FloatArray, FloatArray]:
    """Return sizes and printed numbers of these rows of the data set."""
    printed = datasets.printed_numbers("mbufs")
    return (
        np.array(list(sizes.values()), dtype=float),
        np.array([printed[name] for name in sizes]),
    )


def _buffers(count: mbufs.MbufCount, size: int) -> str:
    return _number(count.mbufs[size], "mbuf") + (" with a cluster" if count.clusters[size] else "")


def _calls(count: mbufs.StreamCount, at: int) -> str:
    return f"{_number(count.calls[at], 'call')}, {_number(count.mbufs[at], 'mbuf')}"


def _number(count: float, what: str) -> str:
    return f"{count:.0f} {what}" + ("" if count == 1 else "s")


def _observations(
    times: Mapping[host_stack.ReplyProtocol, FloatArray],
) -> list[tuple[str, str, str]]:
    """Compare Stevens' statements about his curves with these times."""
    book = datasets.printed_numbers("loopback_transactions")
    udp = times["udp"]
    sizes = _SIZES
    whole = (sizes >= 100) & (sizes <= book["LB02"])
    cut = sizes > book["LB02"]
    small = (sizes >= 100) & (sizes <= book["LB25"])
    before, after = np.interp([book["LB02"], book["LB03"]], sizes, udp).tolist()
    more = times["tcp"] - times["ttcp"]
    return [
        (
            phrase("UDP, whole"),
            _printed_range(book, *WHOLE),
            _range(udp[whole].min(), udp[whole].max()),
        ),
        (
            phrase("UDP, in fragments"),
            _printed_range(book, *CUT),
            _range(udp[cut].min(), udp[cut].max()),
        ),
        (
            phrase("1508 to 1509 bytes"),
            phrase("almost {book:.0%} more", book=book["LB04"]),
            phrase("{after:.0%} more", after=after / before - 1),
        ),
        (
            phrase("T/TCP over UDP"),
            phrase("about {book:g}", book=book["LB20"]),
            f"{np.median(times['ttcp'][small] / udp[small]):.2f}",
        ),
        (
            phrase("TCP over T/TCP"),
            phrase("about {book:g}", book=book["LB21"]),
            f"{np.median(times['tcp'][small] / times['ttcp'][small]):.2f}",
        ),
        (
            phrase("TCP minus T/TCP"),
            phrase("about {book}", book=show(book["LB17"], "s")),
            show(float(np.median(more[small])), "s", digits=3),
        ),
    ]


def _range(low: float, high: float) -> str:
    return f"{show(low, 's', digits=2)} to {show(high, 's', digits=2)}"


COUNT = 30
"""Transactions of each size. [1]"""
AROUND = (-100, -50, -8, 0, 1, 8, 50, 100)
"""Sizes around the largest datagram that is not cut. [byte]"""
VIEWS = {"ratio to the time before the step": True, "times": False}
CLOCKS = {"program": "program", "packet tap": "tap"}


def step_panel() -> Panel:
    """UDP transactions by size on a loopback with a chosen MTU: the fragmentation step."""
    shown: list[TransactionSamples] = []
    figure = Figure(_drawn(None, "program", True))
    mtu = _mtu()
    clock, relative = choice("clock", CLOCKS, "program"), choice("show", VIEWS, True)

    def update(mtu_bytes: float, clock: str, relative: bool) -> None:
        figure.draw(_drawn(shown[0] if shown else None, clock, relative))

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return _around_the_step(mtu.value, progress, stop)

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_drawn(samples, clock.value, relative.value))

    live = run_button(
        "Run UDP transactions here", run, show_run, key="step", experiment="transactions"
    )
    controls = {"mtu_bytes": mtu, "clock": clock, "relative": relative}
    return panel(figure, controls, update, below=[live])


def _mtu() -> Quantity:
    return Quantity("MTU of the run", "1536 B", "576 B", "9000 B", unit="byte", whole=True)


def _around_the_step(mtu_bytes: float, progress: Any, stop: Any) -> TransactionSamples:
    return transactions(
        live_sizes(mtu_bytes), protocols=["udp"], count=COUNT, mtu_bytes=int(mtu_bytes),
        progress=progress, stop=stop,
    )  # fmt: skip


def live_sizes(mtu_bytes: float) -> list[int]:
    """Return sizes where 4.4BSD takes one, two and three mbufs, and others around the step."""
    largest = int(framing.udp_payload_bytes(mtu_bytes))
    small = (8, 50, 101, 150, 207, 208, 250)
    wide = range(2500, largest + 600, 500)
    return sorted({*small, *range(100, 2001, 100), *wide, *(largest + more for more in AROUND)})


def clocks_panel() -> Panel:
    """Time of the program minus time of the packet tap, by size: the stack above the tap."""
    figure = Figure(_clocks(None))
    mtu = _mtu()

    def run(progress: Any, stop: Any) -> TransactionSamples:
        return _around_the_step(mtu.value, progress, stop)

    def show_run(samples: TransactionSamples) -> None:
        figure.draw(_clocks(samples))

    live = run_button(
        "Run UDP transactions here", run, show_run, key="clocks", experiment="transactions"
    )
    return panel(figure, {"mtu_bytes": mtu}, lambda mtu_bytes: None, below=[live])


def _clocks(samples: TransactionSamples | None) -> Plot:
    """Draw the difference of the clocks, Stevens' ranges, and the line with steps through it."""
    printed = datasets.printed_numbers("loopback_transactions")
    whole, cut, largest = printed["LB02"], printed["LB03"], 2000.0
    sizes = [100.0, whole, cut, largest]
    ends = [
        [printed[whole_gap]] * 2 + [printed[cut_gap]] * 2
        for whole_gap, cut_gap in (("LB05", "LB11"), ("LB06", "LB12"))
    ]
    mine, fitted = term("here, smallest of each size"), term("here, line with steps")
    grid = np.unique(np.concatenate([np.arange(8.0, 2600.0, 8.0), [whole, cut]]))
    lines = {fitted: np.full(grid.size, np.nan)}
    points: dict[str, tuple[Any, Any]] = {
        "Stevens, minimum": (sizes, ends[0]), "Stevens, maximum": (sizes, ends[1]), mine: ([], []),
    }  # fmt: skip
    words = [
        phrase(
            "Stevens: {printed} to {printed_2} unfragmented and {printed_3} to {printed_4} "
            "in two fragments, so less than 1 ms for each way through the stack.",
            **in_unit("s", printed=ends[0][0], printed_2=ends[1][0]),
            **in_unit("s", printed_3=ends[0][-1], printed_4=ends[1][-1]),
        )
    ]
    if samples is not None and len(samples):
        points[mine], lines[fitted], said = _with_steps(samples, "above", grid)
        if np.isfinite(lines[fitted]).any():
            said = phrase("Above the tap: {said}", said=said)
        words = [said, *words, *notes_of(samples)]
    return plots.curves(
        grid,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "linear", 0, 2600),
        y_axis=Axis("program minus tap", "s", "log", 1e-6, 1e-2),
        title="The time that the packet tap does not see",
        description=" ".join(words),
    )


THRESHOLD_SIZES = np.unique(
    np.concatenate([np.arange(16, 640, 24), np.arange(640, 9001, 88)])
).astype(float)
"""Sizes of a search for thresholds: closer where 4.4BSD had its own. [byte]"""
BSD_STEPS = {"2nd mbuf": 73, "3rd mbuf": 101, "cluster": 208, "2nd fragment": 1509}
"""First sizes of a UDP datagram with which 4.4BSD did more, at an MTU of 1536. [byte]"""
PROTOCOLS = {"UDP": "udp", "TCP": "tcp"}
LOOPBACKS = {
    "1536 B, as in 4.4BSD": 1536,
    "9000 B, jumbo frames": 9000,
    "65536 B, as in Linux": 65_536,
}


def thresholds_panel() -> Panel:
    """Where does a byte more cost more today? Steps that a sweep over sizes shows."""
    shown: list[TransactionSamples] = []
    protocol, mtu = choice("protocol", PROTOCOLS, "udp"), choice("MTU of the run", LOOPBACKS, 1536)
    clock = choice("clock", CLOCKS, "program")
    figure = Figure(_swept(None, "program"))

    def update(protocol: str, mtu_bytes: int, clock: str) -> None:
        figure.draw(_swept(shown[0] if shown else None, clock))

    def run(progress: Any, stop: Any, **far: Any) -> TransactionSamples:
        way: dict[str, Any] = far or {"mtu_bytes": mtu.value}
        return transactions(
            THRESHOLD_SIZES, protocols=[protocol.value], count=COUNT, progress=progress, stop=stop,
            **way,
        )  # fmt: skip

    def show_run(samples: TransactionSamples) -> None:
        shown[:] = [samples]
        figure.draw(_swept(samples, clock.value))

    live = run_button(
        "Search for steps here", run, show_run, key="thresholds", experiment="transactions",
        peer=PeerField(without=[mtu]),
    )  # fmt: skip
    controls = {"protocol": protocol, "mtu_bytes": mtu, "clock": clock}
    return panel(figure, controls, update, below=[live])


def found_steps(samples: TransactionSamples, *, clock: str = "program") -> ChangePoints:
    """Return the steps in the smallest times of a run's first protocol, by size of its data."""
    return change_points(*_smallest(samples, clock))


def _smallest(samples: TransactionSamples, clock: str) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of a run, and the smallest time of each by a clock. [byte], [s]

    The smallest, as in Stevens' figures: what another program adds to single ones is not in it. By
    the clock "above" it is the program's time less that of the tap.
    """
    kept = np.asarray(samples.measured) & (np.asarray(samples.mode) == samples.modes[0])
    program_s, tap_s = (np.asarray(column, float) for column in (samples.response_s, samples.tap_s))
    times = {"program": program_s, "tap": tap_s, "above": program_s - tap_s}[clock][kept]
    sizes = np.asarray(samples.payload_bytes, float)[kept]
    is_measured = np.isfinite(times)
    at = np.unique(sizes[is_measured])
    return at, np.array([times[is_measured & (sizes == size)].min() for size in at])


def _with_steps(
    samples: TransactionSamples, clock: str, grid: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], FloatArray, str]:
    """Return a run's smallest times, the line with steps through them at a grid, and its words."""
    smallest = _smallest(samples, clock)
    try:
        steps = found_steps(samples, clock=clock)
    except DomainError as error:  # stopped early, or without a tap
        return smallest, np.full(grid.size, np.nan), f"{error}."
    return smallest, steps(grid), _said(steps)


def _said(changes: ChangePoints) -> str:
    """Return the steps in words."""
    if not changes.steps:
        return phrase(
            "No step stands out of a scatter of {scatter}: a byte costs {slope} at every size.",
            **in_unit("s", scatter=changes.scatter, slope=changes.slope, digits=2),
        )
    steps = [
        phrase(
            "between {after:.0f} and {before:.0f} bytes (95%: {low:.0f} to {high:.0f}) "
            "{jump} more, with a standard error of {jump_stderr}"
            if step.jump > 0
            else "between {after:.0f} and {before:.0f} bytes (95%: {low:.0f} to {high:.0f}) "
            "{jump} less, with a standard error of {jump_stderr}",
            after=step.after,
            before=step.before,
            low=step.low,
            high=step.high,
            **in_unit("s", jump=abs(step.jump), jump_stderr=step.jump_stderr, digits=2),
        )
        for step in changes.steps
    ]
    return phrase("Steps here: {join}.", join="; ".join(steps))


def _swept(samples: TransactionSamples | None, clock: str) -> Plot:
    bsd = np.array(list(BSD_STEPS.values()), dtype=float)
    grid = np.unique(np.concatenate([THRESHOLD_SIZES, bsd, bsd - 1]))
    summed = host_stack.transaction_s(grid, protocol="udp", **COSTS)
    mine, fitted = term("here, smallest of each size"), term("here, line with steps")
    lines = {
        "4.4BSD, sum of the costs above": np.where(grid <= 2000, summed, np.nan),
        fitted: np.full(grid.size, np.nan),
    }
    first = host_stack.transaction_s(bsd, protocol="udp", **COSTS)
    points: dict[str, tuple[Any, Any]] = {
        "4.4BSD: first sizes with more mbufs, a cluster, a fragment": (bsd, first),
        mine: ([], []),
    }
    words = [phrase("No run yet: the curve is that of 4.4BSD.")]
    if samples is not None and len(samples):
        points[mine], lines[fitted], said = _with_steps(samples, clock, grid)
        words = [said, *notes_of(samples)]
    return plots.curves(
        grid,
        lines,
        points=points,
        x_axis=Axis("user data", "byte", "log", 16, 9000),
        y_axis=Axis("transaction time", "s", "log"),
        title="Where a byte more costs more",
        description=" ".join(words),
    )


def _drawn(samples: TransactionSamples | None, clock: str, relative: bool) -> Plot:
    run = samples or TransactionSamples(mode=[], sequence=[], payload_bytes=[], response_s=[])
    comparison = compare.datagram_costs(run, clock=clock, relative=relative)
    words = [phrase("No run yet: the points are those of Stevens.")]
    if samples is not None:
        words = [comparison.sentence, *notes_of(samples)]
    printed = datasets.printed_numbers("loopback_transactions")
    words.append(
        phrase(
            "Stevens: almost {printed:.0%} more; {range} unfragmented, {range_2} in two fragments.",
            printed=printed["LB04"],
            range=_printed_range(printed, *WHOLE),
            range_2=_printed_range(printed, *CUT),
        )
    )
    comparison = replace(comparison, sentence=" ".join(words))
    if relative and not comparison.x.size:
        comparison = replace(comparison, y_name=phrase("time relative to 1508 B"), y_unit="ratio")
    return plots.overlay(
        comparison, y_scale="linear" if relative else "log", beside=_book_points(printed, relative)
    )


# Application minus tcpdump, and tcpdump itself: together the application's time.
WHOLE = (("LB05", "LB09"), ("LB06", "LB10"))
CUT = (("LB11", "LB13"), ("LB12", "LB14"))


def _ends(printed: dict[str, float], *ends: tuple[str, str]) -> list[float]:
    return [sum(printed[name] for name in names) for names in ends]


def _printed_range(printed: dict[str, float], *ends: tuple[str, str]) -> str:
    return _range(*_ends(printed, *ends))


def _book_points(
    printed: dict[str, float], relative: bool
) -> dict[str, tuple[list[float], list[float]]]:
    """Return what the book says of its step, and the sum of costs that may have been its."""
    whole, cut = printed["LB02"], printed["LB03"]
    sizes = np.array([100.0, 200.0, *range(300, 1501, 200), whole, cut, 1700.0, 1900.0])
    times = host_stack.transaction_s(sizes, protocol="udp", **COSTS)
    scale = 1 / times[sizes == whole].item() if relative else 1.0
    summed = {"4.4BSD, sum of the costs above": (sizes.tolist(), (times * scale).tolist())}
    if relative:
        return {"Stevens: almost 25% more": ([whole, cut], [1.0, 1 + printed["LB04"]]), **summed}
    ranges = [*_ends(printed, *WHOLE), *_ends(printed, *CUT)]
    return {"Stevens: minimum and maximum": ([whole, whole, cut, cut], ranges), **summed}
