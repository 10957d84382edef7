"""What a file says of a transfer, what is known beside it, and metrics that judge it (RFC 6349)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, named_arguments, positive, ratio
from netcalc.errors import DomainError
from netcalc.models.measuring import delay_variation as variation
from netcalc.models.sizes.framing import captured_wire_bytes, ethernet_wire_bytes
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES, TIMESTAMP_BYTES
from netcalc.models.tcp import window
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS
from netcalc.readers.captures.flows import mirrored
from netcalc.readers.captures.round_trips import find_udp_exchanges, find_udp_openings
from netcalc.readers.captures.tcp import flow_label, flow_table
from netcalc.samples import Fact, FlowSeries, Layer, PacketTrace, Samples, TransferSamples

LEAST_OF_LEVEL = 3
"""Intervals of a level. [1]"""
LEVEL_RATIO = 1.5
"""Two levels are at least this far apart. [ratio]"""
LEVEL_SPREAD = 0.15
"""Rates of a level differ by no more from their median, but for one beside the change. [ratio]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Intervals in a row that carried nothing; ``again_count`` were sent again in them."""

    begin_s: float
    duration_s: float
    interval_count: int
    share_of_time: float
    again_count: float
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLevels:
    """Two rates, and when the first became the second."""

    before_bps: float
    after_bps: float
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pace:
    """Intervals of a run, all of its streams together."""

    start_s: FloatArray
    end_s: FloatArray
    rate_bps: FloatArray
    again_count: FloatArray

    @property
    def pause(self) -> Pause | None:
        """The longest time in which nothing was carried; None without one, or if all are empty."""
        empty = self.rate_bps == 0
        if not empty.any() or empty.all() or not self.end_s[-1] > self.start_s[0]:
            return None
        edges = np.flatnonzero(np.diff(np.concatenate(([False], empty, [False])).astype(int)))
        begins, ends = edges[::2], edges[1::2]
        longest = int(np.argmax(self.end_s[ends - 1] - self.start_s[begins]))
        low, high = int(begins[longest]), int(ends[longest])
        duration_s = float(self.end_s[high - 1] - self.start_s[low])
        return Pause(
            begin_s=float(self.start_s[low]),
            duration_s=duration_s,
            interval_count=high - low,
            share_of_time=duration_s / float(self.end_s[-1] - self.start_s[0]),
            again_count=float(self.again_count[low:high].sum()),
            is_last=high == empty.size,
        )

    @property
    def levels(self) -> RateLevels | None:
        """Two levels of the rate, one after the other; None where there are not just two."""
        rates, least = self.rate_bps, LEAST_OF_LEVEL
        if rates.size < 2 * least:
            return None
        splits = range(least, rates.size - least + 1)
        at = min(splits, key=lambda k: k * rates[:k].var() + (rates.size - k) * rates[k:].var())
        first = rates[1:at] if at > least else rates[:at]  # slow start is no level
        low, high = sorted(float(np.median(part)) for part in (first, rates[at:]))
        if not high >= LEVEL_RATIO * low > 0:
            return None
        if not (_is_level(first, first.size - 1) and _is_level(rates[at:], 0)):
            return None
        return RateLevels(
            before_bps=float(np.median(first)),
            after_bps=float(np.median(rates[at:])),
            at_s=float(self.start_s[at]),
        )


def _is_level(rates: FloatArray, beside: int) -> bool:
    """Whether rates are alike, but for the one beside the change."""
    middle = float(np.median(rates))
    others = np.delete(np.abs(rates - middle), beside)
    return bool(others.max() <= LEVEL_SPREAD * middle)


def pace_of(flows: FlowSeries, rows: NDArray[np.bool_]) -> Pace:
    """Return the pace of some intervals of runs.

    Parameters
    ----------
    flows : FlowSeries
        Intervals of each stream.
    rows : 1-D array_like of bool
        Those that count.

    Returns
    -------
    Pace
        One row for each time. Unknown counts of what was sent again are nan.
    """
    starts = np.round(np.asarray(flows.start_s)[rows], 1)
    ends = starts + np.nan_to_num(np.asarray(flows.duration_s)[rows])
    rates = np.asarray(flows.rate_bps)[rows]
    again = np.asarray(flows.retransmit_count)[rows]
    times, index = np.unique(starts, return_inverse=True)
    last, total, repeated = np.full(times.size, -math.inf), np.zeros(times.size), times * 0.0
    np.fmax.at(last, index, ends)  # an unknown time ends nothing
    np.add.at(total, index, rates)
    np.add.at(repeated, index, again)
    return Pace(start_s=times, end_s=last, rate_bps=total, again_count=repeated)


NAN = math.nan
ETHERNET_NUMBER = 1
"""Link type of Ethernet in captures, LINKTYPE_ETHERNET."""
STEADY_RATIO = 0.02
"""A window whose spread is below this share of it does not grow. [ratio]"""
IDLE_GROUP = "ping"
"""Group of the facts that a speed test measures before its transfers."""
LOADED_GROUP = "under load"
"""Group of the round trips that a speed test measures while it transfers in both directions."""
MOST_FLOWS = 5
"""Flows of a capture that are explained: those that carried most."""
LEAST_SEGMENTS = 100
"""Of fewer segments that were sent there is no loss ratio. [1]"""
SIZE_ERROR_RATIO = 1.02
"""How far off the mean size of datagrams is, of counts with three digits. [ratio]"""
MOST_PACKET_BYTES = 9216
"""Longer packets of a capture are several, joined by the network card. [byte]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One run, direction or flow; nan where the file does not say it.

    ``rate_bps`` is the goodput at the receiver, or at the sender where the receiver's is unknown;
    ``base_rtt_s`` is the round trip before or without the load, ``rtt_s`` that under it,
    ``both_ways_rtt_s`` that while both directions were loaded. ``mtu_bytes`` is the packet that the
    segments of the file fill. ``wait_count`` and ``wait_s`` are of acknowledgements
    that came by a timer; ``payload_share`` is that of all bytes on the wire of a capture. The
    shares of a processor are those of the process that sent, and of the one that received.
    ``empty_count`` of ``interval_count`` intervals carried nothing; both are 0 if all carried some.
    ``pause`` is the longest row of them, ``levels`` are two rates that followed each other.
    """

    label: str = ""
    direction: str = ""
    protocol: str = "tcp"
    rate_bps: float = NAN
    sent_rate_bps: float = NAN
    received_rate_bps: float = NAN
    size_bytes: float = NAN
    duration_s: float = NAN
    stream_count: float = 1.0
    is_from_start: bool = True
    rtt_s: float = NAN
    base_rtt_s: float = NAN
    both_ways_rtt_s: float = NAN
    loss_ratio: float = NAN
    retransmit_count: float = NAN
    retransmitted_bytes: float = NAN
    mtu_bytes: float = NAN
    datagram_bytes: float = NAN
    receive_window_bytes: float = NAN
    in_flight_bytes: float = NAN
    cwnd_bytes: float = NAN
    send_buffer_bytes: float = NAN
    is_window_steady: bool = False
    is_window_on_record: bool = False
    processor_ratio: float = NAN
    receiver_processor_ratio: float = NAN
    asked_rate_bps: float = NAN
    congestion_control: str = ""
    wait_count: float = 0.0
    wait_s: float = NAN
    is_answered: bool = False
    payload_share: float = NAN
    fragment_ratio: float = 0.0
    gap_s: float = NAN
    interval_count: float = 0.0
    empty_count: float = 0.0
    pause: Pause | None = None
    levels: RateLevels | None = None
    is_unfragmented: bool = False
    option_bytes: float = TIMESTAMP_BYTES

    @property
    def is_udp(self) -> bool:
        """Whether datagrams were sent, which nothing slows down."""
        return self.protocol == "udp"

    def is_cut(self, mtu_bytes: float) -> bool:
        """Whether datagrams are fragmented; a mean of rounded counts may be a bit too large."""
        fits = self.datagram_bytes <= SIZE_ERROR_RATIO * (mtu_bytes - 28)
        return self.is_udp and self.datagram_bytes > 0 and not (fits or self.is_unfragmented)

    @property
    def segment_bytes(self) -> float:
        """Payload of a full segment; of Ethernet with timestamps where the file does not say it."""
        return first_known(self.mtu_bytes, DEFAULT_MTU_BYTES) - 40 - self.option_bytes


def first_known(*values: float | None) -> float:
    """Return the first value that is known, nan if none is."""
    return next((float(v) for v in values if v is not None and not math.isnan(v)), NAN)


def from_facts(samples: Samples) -> list[Evidence]:
    """Return what the rows of facts say of transfers; none where they have no rate.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.

    Returns
    -------
    list of Evidence
        One for each run or direction with a rate, with what its intervals add.
    """
    facts = samples.facts()
    rows = [row for row in facts if has_rate(row)]
    trips = {str(row.get("group", "")): row for row in facts if _is_of_trips(row)}
    printed = samples.meta.printed
    seen = []
    for row in rows:
        evidence = _beside_trips(_from_row(row), row, trips)
        if len(rows) == 1 and isinstance(samples, FlowSeries):
            evidence = _with_intervals(evidence, samples)
        seen.append(_with_processors(_with_printed(evidence, printed), row, printed))
    return seen


def has_rate(row: Mapping[str, Fact]) -> bool:
    """Whether a row of facts is of a transfer."""
    return "received_rate_bps" in row or "sent_rate_bps" in row


def _is_of_trips(row: Mapping[str, Fact]) -> bool:
    """Whether a row is of the round trips that a speed test took beside its transfers."""
    group = str(row.get("group", ""))
    return "rtt_s" in row and not has_rate(row) and group.endswith((IDLE_GROUP, LOADED_GROUP))


def _beside_trips(
    evidence: Evidence, row: Mapping[str, Fact], trips: Mapping[str, Mapping[str, Fact]]
) -> Evidence:
    """Add the round trips that the same run measured without load, and with that of both ways.

    Their loss is that of probes over UDP, at a rate of their own, and says nothing of the transfer.
    """
    group, way = str(row.get("group", "")), str(row.get("direction", ""))
    run = group.removesuffix(way)
    before, during = (
        trips.get(f"{run}{name}") if way else None for name in (IDLE_GROUP, LOADED_GROUP)
    )
    if before is None:
        return evidence
    both_s = NAN if during is None or way != "download" else number_in(during, "rtt_s")
    return replace(evidence, base_rtt_s=number_in(before, "rtt_s"), both_ways_rtt_s=both_s)


def rows_in(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the rows of what a tool printed under a name."""
    return [part for part in _listed(row, name) if isinstance(part, Mapping)]


def _listed(row: Mapping[str, Any], name: str) -> Sequence[Any]:
    """Return a list of what a tool printed; of a saved run it may be anything."""
    value = row.get(name)
    return value if isinstance(value, list | tuple) else ()


def number_in(row: Mapping[str, Any], *names: str) -> float:
    """Return the first number that a row has under one of these names; nan if it has none."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
            return float(value)
    return NAN


def above_zero(column: ArrayLike, rows: NDArray[np.bool_]) -> FloatArray:
    """Return the values of some rows that are known and not 0."""
    values: FloatArray = np.asarray(column)[rows]
    return values[values > 0]


def middle_of(values: FloatArray) -> float:
    """Return the median; nan of nothing."""
    return float(np.median(values)) if values.size else NAN


def is_alike(values: FloatArray, spread_ratio: float) -> bool:
    """Whether several values vary by no more than this share of their mean."""
    return values.size > 1 and float(np.std(values)) <= spread_ratio * float(np.mean(values))


def _mtu_of(mss_bytes: float) -> float:
    """Return the packets of such segments; nan where no byte fits into one."""
    return mss_bytes + STAMPED_HEADERS_BYTES if mss_bytes > 0 else NAN


def _from_row(row: Mapping[str, Fact]) -> Evidence:
    sent, received = number_in(row, "sent_rate_bps"), number_in(row, "received_rate_bps")
    if row.get("protocol") == "udp":  # its receiver may have counted datagrams alone
        received = first_known(received, sent * (1 - number_in(row, "loss_ratio")))
    size = number_in(row, "received_byte_count", "sent_byte_count")
    names = (str(row[name]) for name in ("group", "direction") if row.get(name))
    mss = number_in(row, "mss_bytes")
    datagrams = number_in(row, "datagram_count")
    return Evidence(
        label=", ".join(dict.fromkeys(names)),
        direction=str(row.get("direction", "")),
        protocol="udp" if row.get("protocol") == "udp" else "tcp",
        rate_bps=first_known(received, sent),
        sent_rate_bps=sent,
        received_rate_bps=received,
        size_bytes=size,
        duration_s=number_in(row, "duration_s"),
        stream_count=first_known(number_in(row, "stream_count"), 1.0),
        is_from_start=not number_in(row, "omitted_s") > 0,
        rtt_s=number_in(row, "rtt_s"),
        base_rtt_s=number_in(row, "rtt_min_s", "handshake_rtt_min_s"),
        loss_ratio=number_in(row, "loss_ratio"),
        retransmit_count=number_in(row, "retransmit_count"),
        mtu_bytes=_mtu_of(mss),
        datagram_bytes=number_in(row, "sent_byte_count") / datagrams if datagrams > 0 else NAN,
        congestion_control=str(row.get("congestion_control", "")),
    )


def _with_printed(evidence: Evidence, printed: Mapping[str, Any]) -> Evidence:
    """Add what a tool prints of sockets."""
    mss = number_in(printed, "mss_bytes")
    size = number_in(printed, "write_bytes") if evidence.is_udp else NAN
    asked = number_in(printed, "asked_rate_bps") * evidence.stream_count  # of each stream
    handshakes = _listed(printed, "handshake_rtt_s")
    # What must not be cut, and arrives, went through as one packet.
    whole = size + 28 if printed.get("dont_fragment") is True and evidence.rate_bps > 0 else NAN
    least = [number_in(row, "rtt_min_s") for row in rows_in(printed, "streams")]
    if len(handshakes) == 1:  # several are of several runs
        least.append(number_in({"rtt_s": handshakes[0]}, "rtt_s"))
    evidence = _within_buffers(evidence, printed)
    evidence = replace(
        evidence,
        mtu_bytes=max(
            first_known(_mtu_of(mss), evidence.mtu_bytes, whole),
            first_known(whole, 0.0),
        ),
        datagram_bytes=first_known(size, evidence.datagram_bytes),
        asked_rate_bps=first_known(evidence.asked_rate_bps, asked),
        is_unfragmented=not math.isnan(whole),
        base_rtt_s=first_known(evidence.base_rtt_s, *sorted(v for v in least if v > 0)),
    )
    return with_loss(evidence)


def offered_windows(printed: Mapping[str, Any]) -> list[float]:
    """Return the window that the receiver of each stream offered: most of the time, else at most.

    Parameters
    ----------
    printed : mapping
        What a tool prints of its sockets.

    Returns
    -------
    list of float
        Those that are known. [byte]
    """
    names = ("offered_window_median_bytes", "offered_window_bytes")
    windows = (
        first_known(*(number_in(row, name) for name in names))
        for row in rows_in(printed, "streams")
    )
    return [size for size in windows if size > 0]


def _within_buffers(evidence: Evidence, printed: Mapping[str, Any]) -> Evidence:
    """Add the buffer of the socket, where somebody set it, and the window that was offered.

    A congestion window above these is not what is in flight.
    """
    if evidence.is_udp:
        return evidence
    is_set = number_in(printed, "asked_buffer_bytes") > 0  # else the kernel lets it grow
    buffer = number_in(printed, "send_buffer_bytes") if is_set else NAN
    offered = min(offered_windows(printed), default=NAN)
    bounds = [v for v in (buffer, offered) if v > 0]
    is_bound = any(evidence.in_flight_bytes > v for v in bounds)
    return replace(
        evidence,
        send_buffer_bytes=buffer,
        receive_window_bytes=first_known(evidence.receive_window_bytes, offered),
        in_flight_bytes=NAN if is_bound else evidence.in_flight_bytes,
        is_window_on_record=evidence.is_window_on_record or is_set,
    )


def _with_processors(
    evidence: Evidence, row: Mapping[str, Fact], printed: Mapping[str, Any]
) -> Evidence:
    """Add how busy the process of each end was, where the direction says which end sent."""
    ends = {"upload": ("client", "server"), "download": ("server", "client")}
    sender, receiver = ends.get(str(row.get("direction")), ("", ""))
    return replace(
        evidence,
        processor_ratio=number_in(printed, f"{sender}_processor_ratio"),
        receiver_processor_ratio=number_in(printed, f"{receiver}_processor_ratio"),
    )


def with_loss(evidence: Evidence) -> Evidence:
    """Take the retransmitted share of TCP for its loss, where there is no other.

    Of fewer than ``LEAST_SEGMENTS`` segments it is no ratio.
    """
    if evidence.is_udp or math.isnan(evidence.retransmit_count) or not evidence.size_bytes > 0:
        return evidence
    segments = evidence.size_bytes / evidence.segment_bytes
    if segments + evidence.retransmit_count < LEAST_SEGMENTS:
        return evidence
    share = evidence.retransmit_count / (segments + evidence.retransmit_count)
    return replace(evidence, loss_ratio=first_known(evidence.loss_ratio, share))


def _with_intervals(evidence: Evidence, flows: FlowSeries) -> Evidence:
    """Add what the intervals of the only run say: windows, round trips, the order of streams."""
    rows = flows.measured
    rtt = above_zero(flows.rtt_s, rows)
    window = above_zero(flows.cwnd_bytes, rows)
    again = np.asarray(flows.retransmit_count)[rows]
    late = window[window.size // 2 :]  # after slow start
    pace = pace_of(flows, rows)
    carried = pace.rate_bps.tolist()
    mtu = above_zero(flows.path_mtu_bytes, rows)
    return replace(
        evidence,
        rtt_s=first_known(evidence.rtt_s, middle_of(rtt)),
        base_rtt_s=first_known(evidence.base_rtt_s, float(rtt.min()) if rtt.size else NAN),
        in_flight_bytes=middle_of(late),
        is_window_steady=is_alike(late, STEADY_RATIO) and not np.nansum(again) > 0,
        retransmit_count=first_known(
            evidence.retransmit_count, float(np.nansum(again)) if np.isfinite(again).any() else NAN
        ),
        mtu_bytes=first_known(evidence.mtu_bytes, float(mtu.min()) if mtu.size else NAN),
        stream_count=max(evidence.stream_count, 1.0),
        interval_count=float(len(carried)) if 0.0 in carried else 0.0,
        empty_count=float(carried.count(0.0)),
        pause=pace.pause,
        levels=pace.levels,
    )


def from_transfers(samples: TransferSamples) -> list[Evidence]:
    """Return what sizes and times of transfers say: all of a group together, by its median rate."""
    sizes, times = np.asarray(samples.payload_bytes), np.asarray(samples.duration_s)
    groups, evidence = np.asarray(samples.group), []
    trips = {str(row.get("group", "")): row for row in samples.facts()}
    for name in dict.fromkeys(groups.tolist()):
        rows = np.flatnonzero(samples.measured & (groups == name) & (times > 0))
        if not rows.size:
            continue
        rates = 8.0 * sizes[rows] / times[rows]
        middle = rows[np.argsort(rates, kind="stable")[rows.size // 2]]
        evidence.append(
            Evidence(
                label=name,
                rate_bps=float(8.0 * sizes[middle] / times[middle]),
                size_bytes=float(sizes[middle]),
                duration_s=float(times[middle]),
                base_rtt_s=number_in(trips.get(name, {}), "handshake_rtt_min_s"),
            )
        )
    return evidence


def from_capture(trace: PacketTrace) -> list[Evidence]:
    """Return what a capture says of the TCP flows that carried most, and of its UDP packets.

    Parameters
    ----------
    trace : PacketTrace
        A capture.

    Returns
    -------
    list of Evidence
        One for each direction of a TCP flow with data, the largest first, and one for all UDP.
    """
    columns: dict[str, NDArray[Any]] = flow_table(trace).columns()
    count = int(np.count_nonzero(columns["protocol"] == "tcp"))
    order = np.argsort(-columns["payload_bytes"][:count], kind="stable")[:MOST_FLOWS]
    of_rate = _streams(trace)
    datagrams, fragments = _from_datagrams(trace, of_rate)
    has_datagrams = bool((trace.has(Layer.UDP) & of_rate).any())
    options = options_of(trace)
    seen = []
    for row in order.tolist():
        if columns["goodput_bps"][row] > 0:
            evidence = of_tcp_flow(columns, row, option_bytes=options)
            seen.append(replace(evidence, fragment_ratio=0.0 if has_datagrams else fragments))
    # A control connection comes last.
    return sorted([*seen, *datagrams], key=lambda evidence: -evidence.size_bytes)


def options_of(trace: PacketTrace) -> float:
    """Return the bytes of options that each segment of a capture has; the usual ones if cut off."""
    is_cut = trace.has(Layer.TCP) & trace.has(Layer.CUT)
    return TIMESTAMP_BYTES if (trace.has(Layer.TIMESTAMPS) | is_cut).any() else 0


def of_tcp_flow(columns: Mapping[str, NDArray[Any]], row: int, *, option_bytes: float) -> Evidence:
    """Return what a row of the flows of a capture says; the other direction is beside it."""
    flow = {name: column[row] for name, column in columns.items()}
    other = row ^ 1
    loaded = max(first_known(flow[name], 0.0) for name in ("rtt_median_s", "handshake_rtt_s"))
    mss = float(flow["mss_bytes"])
    other_bytes = float(columns["payload_bytes"][other])
    return Evidence(
        label=flow_label(flow),
        rate_bps=float(flow["goodput_bps"]),
        size_bytes=float(flow["payload_bytes"]),
        duration_s=float(flow["duration_s"]),
        is_from_start=not math.isnan(flow["handshake_rtt_s"]),
        rtt_s=loaded or NAN,
        base_rtt_s=first_known(flow["handshake_rtt_s"], flow["rtt_min_s"]),
        loss_ratio=float(flow["retransmission_count"] / max(flow["data_segment_count"], 1)),
        retransmit_count=float(flow["retransmission_count"]),
        retransmitted_bytes=float(flow["retransmitted_bytes"]),
        mtu_bytes=mss + 40 if 0 < mss <= MOST_PACKET_BYTES else NAN,
        receive_window_bytes=float(columns["window_max_bytes"][other]),
        in_flight_bytes=float(flow["in_flight_bytes"]),
        wait_count=float(flow["delayed_ack_count"]),
        wait_s=float(flow["delayed_ack_s"]),
        is_answered=bool(other_bytes > 0),
        gap_s=float(flow["gap_s"]),
        option_bytes=option_bytes,
    )


def _streams(trace: PacketTrace) -> NDArray[np.bool_]:
    """Return the packets that are neither copies, exchanges of UDP, nor the opening of a stream."""
    is_stream = ~mirrored(trace)
    is_stream[np.concatenate(find_udp_exchanges(trace, strict=True))] = False  # a round trip each
    is_stream[find_udp_openings(trace)] = False
    return is_stream


def _wire_bytes(trace: PacketTrace, rows: NDArray[np.bool_]) -> float:
    """Return what packets take on a line of Ethernet, also where the capture has no headers of it.

    A tunnel or a loopback is captured without them; its packets leave over a line that has them.
    """
    is_ethernet = trace.ints("link_number")[rows] == ETHERNET_NUMBER
    framed = captured_wire_bytes(trace.ints("original_bytes")[rows].astype(float))
    bare = ethernet_wire_bytes(trace.ints("packet_bytes")[rows].astype(float))
    return float(np.sum(np.where(is_ethernet, framed, bare)))


def _from_datagrams(trace: PacketTrace, of_rate: NDArray[np.bool_]) -> tuple[list[Evidence], float]:
    """Return what all UDP of a capture says, if it has a rate; and the share of its fragments."""
    udp = (trace.has(Layer.UDP) | trace.has(Layer.LATER_FRAGMENT)) & of_rate
    count = int(np.count_nonzero(udp))
    if not count:
        return [], 0.0
    first = int(np.count_nonzero(trace.has(Layer.UDP) & of_rate))
    later = count - first
    size = float(trace.ints("packet_bytes")[udp].sum(dtype=np.int64))
    size -= 28.0 * first + 20.0 * later  # headers of IPv4 and UDP
    times = np.asarray(trace.time_s)[udp]
    times = times[np.isfinite(times)]
    span = float(np.ptp(times)) if times.size else 0.0
    if first < 2 or span <= 0:
        return [], later / count
    rate = 8.0 * size * (first - 1) / first / span  # the last one lasts beyond the last time
    evidence = Evidence(
        label="UDP", protocol="udp", rate_bps=rate, received_rate_bps=rate, size_bytes=size,
        duration_s=span, datagram_bytes=size / first,
        payload_share=size / _wire_bytes(trace, udp), fragment_ratio=later / count,
    )  # fmt: skip
    return [evidence], later / count


DEFAULT_MTU_BYTES = 1500.0
"""Largest packet of Ethernet, taken where nothing says another. [byte]"""
CONGESTION_CONTROLS = ("cubic", "reno", "bbr")
"""Algorithms whose answer to a loss is computed; any other counts as CUBIC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a path and its hosts; None where it is not: nothing is guessed.

    Parameters
    ----------
    rtt_s : float, optional
        Round-trip time of the path without load. [s]
    line_bps : float, optional
        Rate of the slowest line, as its name says (layer 1); with ``line_up_bps``, that of
        downloads. [bit/s]
    line_up_bps : float, optional
        Rate of the line for uploads, where it differs, as that of an access line does. [bit/s]
    window_bytes : float, optional
        Largest window: the smaller of both hosts' buffers. [byte]
    loss_ratio : float, optional
        Random packet loss, without drops of a full buffer. [ratio]
    mtu_bytes : float, optional
        Largest packet of the path. [byte]
    reverse_bps : float, optional
        Rate of the reverse direction, which carries the acknowledgements. [bit/s]
    device_pps : float, optional
        Packets that a device on the path forwards, both directions together. [packet/s]
    buffer_bytes : float, optional
        Buffer in front of the slowest line. [byte]
    congestion_control : str, optional
        Algorithm of the sender: ``cubic``, ``reno`` or ``bbr``.

    Raises
    ------
    DomainError
        If a quantity is impossible.

    Examples
    --------
    >>> Known(rtt_s=0.04, line_bps=1e8).window_bytes is None
    True
    """

    rtt_s: float | None = None
    line_bps: float | None = None
    line_up_bps: float | None = None
    window_bytes: float | None = None
    loss_ratio: float | None = None
    mtu_bytes: float | None = None
    reverse_bps: float | None = None
    device_pps: float | None = None
    buffer_bytes: float | None = None
    congestion_control: str | None = None

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self) if field.name != "congestion_control"):
            value, check = getattr(self, name), ratio if name == "loss_ratio" else positive
            if value is not None:
                object.__setattr__(self, name, float(check(name, value)))
        named = self.congestion_control
        if named is not None and named not in CONGESTION_CONTROLS:
            choices = list(CONGESTION_CONTROLS)
            raise DomainError("not-a-choice", "congestion_control", named, choices=choices)

    def toward(self, direction: str) -> Known:
        """Return what is known of one direction of a line whose rates differ.

        Parameters
        ----------
        direction : str
            ``upload`` or ``download``; of any other, ``line_bps`` stays that of the line.

        Examples
        --------
        >>> Known(line_bps=1e8, line_up_bps=2e7).toward("upload")  # doctest: +ELLIPSIS
        Known(rtt_s=None, line_bps=20000000.0, ..., reverse_bps=100000000.0, ...)
        """
        if self.line_up_bps is None or direction not in ("upload", "download"):
            return self
        ways = (self.line_up_bps, self.line_bps)
        line, other = ways if direction == "upload" else ways[::-1]
        reverse = other if self.reverse_bps is None else self.reverse_bps
        return replace(self, line_bps=line, line_up_bps=None, reverse_bps=reverse)


PERCENTILES = (50, 90, 95, 99)


@named_arguments
def delay_variation(delay_s: ArrayLike) -> dict[str, float]:
    """Return the variation of delays in the order in which they were measured.

    Parameters
    ----------
    delay_s : 1-D array_like
        Delays or round-trip times, nan for a lost packet. [s]

    Returns
    -------
    dict of str to float
        ``jitter_s`` (RFC 3550, the last value), ``ipdv_mean_s`` and ``ipdv_max_s`` (absolute
        differences of neighbours), ``pdv_50_s`` to ``pdv_99_s`` (percentiles of the delay above its
        least), ``rtt_90_s`` to ``rtt_99_s``; empty for fewer than two delays. [s]

    See Also
    --------
    netcalc.models.measuring.sample_statistics : The definitions.

    Notes
    -----
    Validity: the differences are those of replies that came one after the other; a lost packet
    between two of them is skipped in the jitter and leaves no difference in IPDV.

    References
    ----------
    RFC 3550, 6.4.1; RFC 3393; RFC 5481.

    Examples
    --------
    >>> metrics = delay_variation([0.1, 0.116, 0.1])
    >>> [f"{name} {value:.4f}" for name, value in metrics.items()][:2]
    ['jitter_s 0.0019', 'ipdv_mean_s 0.0160']
    """
    delay = np.asarray(delay_s, dtype=np.float64)
    finite = np.isfinite(delay)
    finite_s = delay if finite.all() else delay[finite]
    if finite_s.size < 2:
        return {}
    metrics = {"jitter_s": float(variation.jitter_rfc3550_s(finite_s)[-1])}
    ipdv = variation.ipdv_s(finite_s) if finite.all() else _ipdv_between(delay)
    np.abs(ipdv, out=ipdv)
    if ipdv.size:
        metrics |= {"ipdv_mean_s": float(ipdv.mean()), "ipdv_max_s": float(ipdv.max())}
    del ipdv
    above = np.percentile(variation.pdv_s(finite_s), PERCENTILES, overwrite_input=True)
    metrics |= {
        f"pdv_{percentile}_s": at
        for percentile, at in zip(PERCENTILES, above.tolist(), strict=True)
    }
    times = np.percentile(finite_s, PERCENTILES[1:])
    metrics |= {
        f"rtt_{percentile}_s": at
        for percentile, at in zip(PERCENTILES[1:], times.tolist(), strict=True)
    }
    return metrics


def _ipdv_between(delay: FloatArray) -> FloatArray:
    """Return the differences of neighbours of which both arrived. [s]"""
    runs = [part[np.isfinite(part)] for part in np.split(delay, np.flatnonzero(np.isnan(delay)))]
    ipdv: FloatArray = np.concatenate([variation.ipdv_s(run) for run in runs if run.size])
    return ipdv[np.isfinite(ipdv)]


def transfer_metrics(
    evidence: Evidence, stated: Known, *, line_ceiling_bps: float
) -> dict[str, float]:
    """Return the metrics of RFC 6349 of a bulk transfer, as far as they are known.

    Parameters
    ----------
    evidence : Evidence
        The transfer.
    stated : Known
        Facts stated besides it.
    line_ceiling_bps : float
        Goodput of the line; nan if it is not known. [bit/s]

    Returns
    -------
    dict of str to float
        ``transfer_time_factor`` (actual over ideal time), ``efficiency_ratio`` (share of the bytes
        sent that were no retransmissions), ``buffer_delay_factor`` (increase of the round trip over
        its base), ``line_share_ratio`` (rate over the ceiling of the line).

    Notes
    -----
    Validity: TCP only, and transfers longer than the first window, as RFC 6349 is of bulk
    transfers; retransmissions count as full segments where the file has only their number.

    References
    ----------
    RFC 6349, 4.1.
    """
    metrics: dict[str, float] = {}
    if line_ceiling_bps > 0 and evidence.rate_bps >= 0:
        metrics["line_share_ratio"] = evidence.rate_bps / line_ceiling_bps
    # A transfer of no more than the first window is no bulk transfer: a request, a control
    # connection
    first_bytes = INITIAL_WINDOW_SEGMENTS * evidence.segment_bytes
    if evidence.is_udp or 0 < evidence.size_bytes <= first_bytes:
        return metrics
    if line_ceiling_bps > 0 and evidence.size_bytes > 0 and evidence.duration_s > 0:
        ideal = window.ideal_transfer_s(evidence.size_bytes, throughput_bps=line_ceiling_bps)
        if evidence.duration_s >= ideal:  # else the line is not what was stated: a note says so
            factor = window.transfer_time_factor(evidence.duration_s, ideal_s=ideal)
            metrics["transfer_time_factor"] = float(factor)
    again = first_known(
        evidence.retransmitted_bytes, evidence.retransmit_count * evidence.segment_bytes
    )
    if evidence.size_bytes > 0 and not math.isnan(again):
        share = window.efficiency_ratio(evidence.size_bytes + again, retransmitted_bytes=again)
        metrics["efficiency_ratio"] = float(share)
    base = first_known(stated.rtt_s, evidence.base_rtt_s)
    if base > 0 and evidence.rtt_s >= base:
        factor = window.buffer_delay_factor(evidence.rtt_s, base_rtt_s=base)
        metrics["buffer_delay_factor"] = float(factor)
    return metrics
