"""TCP, echoes and UDP exchanges judged by a slow reading of the same packets, one after the other.

Random packets of few sequence numbers, lengths, windows and times: whatever two packets can have to
do with each other occurs. The model below follows RFC 9293, RFC 7323, RFC 1122 and the definitions
of Wireshark's ``tcp.analysis``, but for what came out of order; it keeps the state of each flow,
and which bytes of it have come, and shares no code with the reader.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any

import pytest

from netcalc.readers.captures import tcp
from netcalc.readers.captures.flows import find_flows
from netcalc.readers.captures.round_trips import echo_samples, find_echoes, udp_samples
from netcalc.readers.captures.tcp import (
    TcpAnalysis,
    analyse_tcp,
    facts,
    in_flight_bytes,
    ladder,
    tcp_flows,
    tcp_notices,
    window_bytes,
)
from netcalc.samples import Layer, Meta, PacketTrace

FIN, SYN, RST, ACK = 1, 2, 4, 16
NAN = math.nan
META = Meta(tool="pcap", source="by hand")
HOSTS = ("", "192.0.2.1", "192.0.2.2")
COLUMNS = (
    "time_s", "layers", "ip_protocol", "source", "destination", "source_port",
    "destination_port", "payload_bytes", "tcp_sequence", "acknowledged", "tcp_flags", "window",
    "timestamp", "timestamp_echo", "shift", "mss_bytes", "icmp_type", "echo_id", "echo_sequence",
    "ttl",
)  # fmt: skip


def trace_of(packets: list[dict[str, Any]]) -> PacketTrace:
    columns = {name: [one.get(name, 0) for one in packets] for name in COLUMNS}
    size = [60] * len(packets)
    return PacketTrace(kept_bytes=size, original_bytes=size, addresses=HOSTS, meta=META, **columns)  # type: ignore[arg-type]


PROFILES = [
    # sequence numbers and lengths of either side, acknowledgements, flags, windows
    ((0, 1, 2, 101), (0, 0, 1, 100, 100), (1, 2, 101, 201), (ACK,) * 5 + (SYN, FIN | ACK, 0), 2),
    ((1,), (0,), (1, 101, 201), (ACK,), 1),
    ((1, 101, 201, 100, 200), (100, 100, 1), (1,), (ACK,), 1),
    ((1, 100, 101), (0, 1, 1, 2), (1, 101), (ACK,), 2),
    ((1, 601, 701, 1301), (600, 100, 499, 500), (1, 601, 701, 1301), (ACK,), 1),
    ((0, 1, 5), (0, 3), (0, 1), (SYN, SYN | ACK, ACK, RST, RST | ACK, FIN, 0x18), 2),
    ((1, 51, 101), (50, 50, 0), (1, 51, 101), (ACK,), 1),
]
STEPS_S = (0.0, 0.001, 0.002, 0.003, 0.0005, 0.019, 0.02, 0.04, 0.0, 0.001, -0.001, 0.5)


def segment(r: random.Random, side: int, time_s: float, port: int, numbers: tuple[int, int],
            sequence: int, ack: int, flags: int, **fields: int) -> dict[str, Any]:  # fmt: skip
    """A segment of the end at ``side``; the ends differ by address or, of one host, by port."""
    hosts, ports = ((1, 2), (port, 80)) if port % 3 else ((1, 1), (port, 80))
    known = {
        "layers": Layer.IPV4 | Layer.TCP, "ip_protocol": 6, "time_s": time_s,
        "source": hosts[side], "destination": hosts[1 - side],
        "source_port": ports[side], "destination_port": ports[1 - side],
        "tcp_sequence": (numbers[side] + sequence) % 2**32, "tcp_flags": flags,
        "acknowledged": (numbers[1 - side] + ack) % 2**32 if flags & ACK else r.choice((0, 77)),
        "mss_bytes": r.choice((0, 1, 1460)) if flags & SYN else 0,
    }  # fmt: skip
    if flags & SYN and r.random() < 0.8:
        known["layers"] |= Layer.WINDOW_SCALE
        known["shift"] = r.choice((1, 2, 13, 14, 15))
    if r.random() < 0.7:
        known["layers"] |= Layer.TIMESTAMPS
        known |= {"timestamp": r.randrange(5), "timestamp_echo": r.randrange(5)}
    return known | fields


@cache
def packets() -> list[dict[str, Any]]:
    r = random.Random(20)
    placed: list[tuple[float, dict[str, Any]]] = []
    for group in range(420):
        found = conversation(r, 1000 + group // 2)  # two at each port
        if r.random() < 0.2:
            found.append(found[-1] | {"ip_protocol": 17, "layers": Layer.IPV4 | Layer.UDP})
            found.append(found[-2] | {"layers": Layer.IPV4 | Layer.FRAGMENT})  # without a header
        places = sorted(group + 9 * r.random() for _ in found)  # conversations among others
        placed += zip(places, found, strict=True)
    return [one for _, one in sorted(placed, key=lambda one: one[0])]


def conversation(r: random.Random, port: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    time_s = r.choice((0.0, 0.0, 0.25, 5.0))
    numbers = r.choice(((1000, 5000), (2**32 - 60, 2**31), (0, 2**32 - 1)))
    own = [r.choice(PROFILES), r.choice(PROFILES)]
    if r.random() < 0.5:
        opening = [(0, SYN, 0, 0), (0, SYN, 0, 0), (1, SYN | ACK, 0, 1), (0, ACK, 1, 1)]
        for side, flags, sequence, ack in opening[r.randrange(2) :]:
            fields = {"window": r.choice((7, 8))}
            found.append(segment(r, side, time_s, port, numbers, sequence, ack, flags, **fields))
            time_s += r.choice((0.0, 0.001, 0.004, 0.02))
    if r.random() < 0.5:
        return found + transfer(r, port, numbers, time_s)
    for _ in range(r.randrange(1, 14)):
        side = r.randrange(2)
        sequences, sizes, acks, flags_of, windows = own[side]
        found.append(segment(
            r, side, time_s, port, numbers, r.choice(sequences), r.choice(acks),
            r.choice(flags_of), payload_bytes=r.choice(sizes),
            window=r.choice((0, 10, 10)[2 - windows :]),
        ))  # fmt: skip
        time_s = max(time_s + r.choice(STEPS_S), 0.0)
    return found


def transfer(
    r: random.Random, port: int, numbers: tuple[int, int], time_s: float
) -> list[dict[str, Any]]:
    """A sender of data, with holes and repeats, and a receiver that acknowledges it."""
    found, sender, following, acked, turn = [], r.randrange(2), 1, 1, 0
    sizes = r.choice(((100,), (100, 600), (50, 499), (1, 500), (500, 501)))
    waits_s = r.choice(((0.0, 0.001), (0.001, 0.03, 0.06), (0.0, 0.002, 0.021, 0.2), (0.0, 0.52)))
    is_orderly = r.random() < 0.4
    for _ in range(r.randrange(6, 22)):
        turn = turn if r.random() < (0.1 if is_orderly else 0.5) else 1 - turn
        if turn == 0:
            size, sequence = r.choice(sizes), following
            what = 1.0 if is_orderly else r.random()
            if what < 0.25:
                sequence = acked
            elif what < 0.35:
                sequence, following = following + 100, following + 100
            elif what < 0.4:
                sequence, size = following - 1, r.choice((0, 1))
            following = max(following, sequence + size)
            found.append(segment(r, sender, time_s, port, numbers, sequence, 1, ACK,
                                 payload_bytes=size, window=10))  # fmt: skip
            time_s += r.choice((0.0, 0.001, 0.0, 0.001, *waits_s))
        else:
            acks = (acked, acked, following, following - 100)
            acked = following if is_orderly else max(acked, r.choice(acks))
            window = 0 if r.random() < 0.05 else 10
            found += [segment(r, 1 - sender, time_s, port, numbers, 1, acked, ACK, window=window)
                      for _ in range(1 if is_orderly else r.choice((1, 1, 3)))]  # fmt: skip
            time_s += r.choice((0.0, 0.001, 0.002, 0.019, 0.02, 0.003))
    return found


@dataclass
class Flow:
    """One connection: its packets as rows of the trace."""

    rows: list[int]
    client: tuple[int, int] = (0, 0)
    has_client: bool = False
    syn: int = -1
    answer: int = -1
    ack: int = -1
    syn_count: int = 0
    shift: list[float] = field(default_factory=lambda: [NAN, NAN])


def signed(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def end_of(one: dict[str, Any]) -> tuple[int, int]:
    return one["source"], one["source_port"]


@cache
def flows() -> list[Flow]:
    """Connections in the order of their first packets; a SYN of another number opens one more."""
    found: list[Flow] = []
    current: dict[frozenset[tuple[int, int]], Flow] = {}
    syn_of: dict[tuple[frozenset[tuple[int, int]], tuple[int, int]], int | None] = {}
    for row, one in enumerate(packets()):
        if not one["layers"] & Layer.TCP:
            continue
        sender, receiver = end_of(one), (one["destination"], one["destination_port"])
        ends = frozenset((sender, receiver))
        is_syn = one["tcp_flags"] & (SYN | ACK) == SYN
        other = is_syn and syn_of.get((ends, sender), one["tcp_sequence"]) != one["tcp_sequence"]
        if ends not in current or other:
            current[ends] = Flow([])
            found.append(current[ends])
        current[ends].rows.append(row)
        syn_of.setdefault((ends, sender), None)
        if is_syn:
            syn_of[ends, sender] = one["tcp_sequence"]
    for flow in found:
        _find_client(flow)
    return found


def _find_client(flow: Flow) -> None:
    known = packets()
    syns = [row for row in flow.rows if known[row]["tcp_flags"] & (SYN | ACK) == SYN]
    answers = [row for row in flow.rows if known[row]["tcp_flags"] & (SYN | ACK) == SYN | ACK]
    flow.has_client = bool(syns or answers)
    if syns or not answers:
        flow.client = end_of(known[(syns or flow.rows)[0]])
    else:
        one = known[answers[0]]
        flow.client = (one["destination"], one["destination_port"])


@cache
def model() -> dict[str, dict[int, Any]]:
    """What is known of each segment, by its row."""
    of: dict[str, dict[int, Any]] = defaultdict(dict)
    for number, flow in enumerate(flows()):
        _numbers(of, number, flow)
        _handshake(of, flow)
        _losses(of, flow)
    return of


def _numbers(of: dict[str, dict[int, Any]], number: int, flow: Flow) -> None:
    known = packets()
    last = [-1, -1]
    first_raw: list[int | None] = [None, None]
    for row in flow.rows:
        side = int(end_of(known[row]) != flow.client)
        of["side"][row], of["series"][row] = side, 2 * number + side
        of["same"][row], of["other"][row] = last[side], last[1 - side]
        raw = known[row]["tcp_sequence"]
        if last[side] < 0:
            first_raw[side], sequence = raw, 0
        else:
            step = signed(raw - known[last[side]]["tcp_sequence"])
            sequence = of["sequence"][last[side]] + step
        control = known[row]["tcp_flags"] & (SYN | FIN) != 0
        of["sequence"][row] = sequence
        of["end"][row] = sequence + known[row].get("payload_bytes", 0) + control
        last[side] = row
    last_ack: list[int] = [-1, -1]
    for row in flow.rows:
        side, raw = of["side"][row], known[row]["acknowledged"]
        of["ack"][row] = 0
        if known[row]["tcp_flags"] & ACK:
            before = last_ack[side]
            if before < 0:
                base = first_raw[1 - side]
                of["ack"][row] = signed(raw - (raw if base is None else base))
            else:
                of["ack"][row] = of["ack"][before] + signed(raw - known[before]["acknowledged"])
            last_ack[side] = row


def _handshake(of: dict[str, dict[int, Any]], flow: Flow) -> None:
    known = packets()
    flags = {row: known[row]["tcp_flags"] & (SYN | ACK) for row in flow.rows}
    to_server = {row for row in flow.rows if not of["side"][row]}
    answers = [row for row in flow.rows if flags[row] == SYN | ACK and row not in to_server]
    flow.answer = answers[0] if answers else -1
    syns = [row for row in flow.rows if flags[row] == SYN and row in to_server]
    flow.syn_count = len(syns)
    before = [row for row in syns if not answers or row < flow.answer]
    flow.syn = before[-1] if before else -1
    if not (answers and before):
        return
    ends = [
        row for row in flow.rows
        if row > flow.answer and row in to_server and flags[row] == ACK
        and of["sequence"][row] == of["ack"][flow.answer]
        and of["ack"][row] == of["sequence"][flow.answer] + 1
    ]  # fmt: skip
    flow.ack = ends[0] if ends else -1
    both = all(known[row]["layers"] & Layer.WINDOW_SCALE for row in (flow.syn, flow.answer))
    flow.shift = [min(known[row]["shift"], 14) if both else 0 for row in (flow.syn, flow.answer)]


def between(one: int, two: int) -> float:
    """Time from a packet to another; nan if one is not there."""
    return packets()[two]["time_s"] - packets()[one]["time_s"] if min(one, two) >= 0 else NAN


class Stream:
    """The ranges of one direction that have not come, each with the segment behind it."""

    def __init__(self) -> None:
        self.top: int | None = None
        self.missing: list[tuple[int, int, int]] = []

    def take(self, sequence: int, size: int, row: int) -> tuple[int, int]:
        """Take a segment; return its new bytes, and who opened the first hole that it fills."""
        if not size:
            return 0, -1
        stop, left, filled, openers = sequence + size, [], 0, []
        self.top = sequence if self.top is None else self.top
        if sequence > self.top:
            self.missing.append((self.top, sequence, row))
        for low, high, behind in self.missing:
            shared = min(high, stop) - max(low, sequence)
            if shared > 0:
                filled, openers = filled + shared, [*openers, behind]
                left += [(a, b, behind) for a, b in ((low, sequence), (stop, high)) if a < b]
            else:
                left.append((low, high, behind))
        self.missing = sorted(left)
        beyond = max(stop - max(self.top, sequence), 0)
        self.top = max(self.top, stop)
        return filled + beyond, openers[0] if openers else -1


def _overtaken_within_s(of: dict[str, dict[int, Any]], flow: Flow, side: int) -> float:
    """How soon a hole is filled by a segment that was overtaken; not at all at the sender."""
    trip_s = between(flow.syn, flow.ack)
    if not trip_s > 0:
        return 0.003
    own_s = between(*((flow.answer, flow.ack) if side == 0 else (flow.syn, flow.answer)))
    answered_s = [
        between(row, answer) for row, answer, series in answers(of, flow)
        if series % 2 == side and packets()[row].get("payload_bytes", 0)
    ]  # fmt: skip
    at_sender = own_s <= 0.15 * trip_s and min(answered_s, default=math.inf) >= 0.3 * trip_s
    return 0.0 if at_sender else 0.7 * trip_s


def _losses(of: dict[str, dict[int, Any]], flow: Flow) -> None:
    known = packets()
    reach: list[int | None] = [None, None]
    repeats, acked = [0, 0], [0, 0]
    stream = [Stream(), Stream()]
    limits_s = [_overtaken_within_s(of, flow, side) for side in (0, 1)]
    for row in flow.rows:
        one, side = known[row], of["side"][row]
        size, flags = one.get("payload_bytes", 0), one["tcp_flags"]
        window, time_s = one.get("window", 0), one["time_s"]
        same, other = of["same"][row], of["other"][row]
        sequence, following = of["sequence"][row], reach[side]
        control = flags & (SYN | FIN | RST) != 0
        may_probe = size == 1 and same >= 0 <= other and known[other].get("window", 0) == 0
        is_probe = may_probe and sequence == following
        alive = (same >= 0 and size <= 1 and sequence == following - 1 and not control
                 and not is_probe)  # fmt: skip
        duplicate = (
            same >= 0 and size == 0 and window != 0 and not control
            and window == known[same].get("window", 0) and of["ack"][row] == of["ack"][same]
            and sequence == following and not (other >= 0 and of["keep_alive"][other])
        )  # fmt: skip
        if same < 0 or of["ack"][row] != of["ack"][same]:
            repeats[side] = 0
        repeats[side] += duplicate
        new_bytes, opener = stream[side].take(sequence, size, row)
        kind = ""
        if same >= 0 and (size or flags & (SYN | FIN)) and not alive:
            has_ack = other >= 0 and known[other]["tcp_flags"] & ACK
            last_ack = of["ack"][other] if has_ack else -1
            behind = sequence < following and not (size > 1 and sequence == following - 1)
            since_s = time_s - known[other]["time_s"] if other >= 0 else NAN
            hole_s = known[opener]["time_s"] if opener >= 0 else NAN
            if behind and 0 <= time_s - hole_s < limits_s[side]:
                kind = "out_of_order"
            elif size and last_ack > 0 and sequence + size <= last_ack:
                # what fills no hole, and was not there, was not sent again: its place is wrong
                kind = "after_ack" if sequence >= following and new_bytes else "spurious"
            elif behind and repeats[1 - side] >= 2 and last_ack == sequence and 0 <= since_s < 0.02:
                kind = "fast"
            elif behind:
                kind = "late"
        of["kind"][row], of["duplicate_ack"][row], of["keep_alive"][row] = kind, duplicate, alive
        of["zero_window"][row] = window == 0 and not control
        of["new_bytes"][row] = new_bytes
        furthest = of["end"][row] if same < 0 else max(following, of["end"][row])
        seen = other >= 0 and known[other]["tcp_flags"] & ACK
        of["in_flight"][row] = max(furthest - acked[1 - side], 0) if seen else NAN
        acked[side] = of["ack"][row] if same < 0 else max(acked[side], of["ack"][row])
        shift = 0 if flags & SYN else flow.shift[side]
        of["window"][row] = NAN if math.isnan(shift) else window << int(shift)
        own = sequence if may_probe else of["end"][row]
        if following is None or own > following:
            reach[side] = own


def directions(flow: Flow, of: dict[str, dict[int, Any]] | None = None) -> list[list[int]]:
    side = (of or model())["side"]
    return [[row for row in flow.rows if side[row] == one] for one in (0, 1)]


def data_or_syn(row: int) -> bool:
    one = packets()[row]
    return one.get("payload_bytes", 0) > 0 or bool(one["tcp_flags"] & SYN)


def answers(of: dict[str, dict[int, Any]], flow: Flow) -> list[tuple[int, int, int]]:
    """Each segment of a flow that was answered, the answer, and its series."""
    found, sides = [], directions(flow, of)
    for side, rows in enumerate(sides):
        sends = [row for row in rows if data_or_syn(row)]
        for row in sends:
            begin, end = of["sequence"][row], of["end"][row]
            if any(one != row and of["sequence"][one] < end and of["end"][one] > begin
                   for one in sends):  # fmt: skip
                continue
            answer = next((one for one in sides[1 - side] if of["ack"][one] >= end), -1)
            if answer > row and of["ack"][answer] == end and between(row, answer) >= 0:
                found.append((row, answer, of["series"][row]))
    return found


@cache
def trips() -> list[tuple[int, int, int]]:
    """Each segment that was answered, the answer, and its series."""
    return [one for flow in flows() for one in answers(model(), flow)]


@cache
def stamped_trips() -> list[tuple[int, int, int]]:
    of, known, found = model(), packets(), []
    for flow in flows():
        sides = directions(flow)
        for side, rows in enumerate(sides):
            sent: dict[int, int] = {}
            for row in rows:
                if known[row]["layers"] & Layer.TIMESTAMPS and data_or_syn(row):
                    sent.setdefault(known[row]["timestamp"], row)
            echoed: dict[int, int] = {}
            for row in sides[1 - side]:
                same = of["same"][row]
                if known[row]["layers"] & Layer.TIMESTAMPS and same >= 0 and (
                    of["ack"][row] > of["ack"][same] and known[row]["timestamp_echo"]
                ):  # fmt: skip
                    echoed.setdefault(known[row]["timestamp_echo"], row)
            both = [one for one in sorted(sent) if one in echoed and sent[one] < echoed[one]
                    and between(sent[one], echoed[one]) >= 0]  # fmt: skip
            found += [(sent[one], echoed[one], of["series"][sent[one]]) for one in both]
    return found


def is_pure(row: int) -> bool:
    one = packets()[row]
    return not one.get("payload_bytes", 0) and not one["tcp_flags"] & (SYN | FIN | RST)


@cache
def next_data() -> dict[int, list[int]]:
    """Of each segment with data, the next one of its direction, if there is one."""
    known, found = packets(), {}
    for flow in flows():
        for rows in directions(flow):
            sends = [row for row in rows if known[row].get("payload_bytes", 0)]
            found |= {row: sends[i : i + 1] for i, row in enumerate(sends, start=1)}
    return found


@cache
def delayed() -> list[tuple[int, int, float]]:
    """Acknowledgements that came late, the series of their segment, and how late."""
    of, known, by_series = model(), packets(), defaultdict(list)
    for row, answer, series in trips():
        if known[row].get("payload_bytes", 0):
            by_series[series].append((row, answer, between(row, answer)))
    found = []
    for series, rows in by_series.items():
        fastest_s = min(one[2] for one in rows)
        for row, answer, rtt_s in rows:
            same = of["same"][answer]
            acked = of["ack"][same] if same >= 0 else 0
            # one whose successor was there already answers that, and does not wait for a timer
            has_more = any(
                of["series"][one] == series and one > row and known[one].get("payload_bytes", 0)
                and known[one]["time_s"] <= known[answer]["time_s"] - fastest_s
                for one in next_data()[row]
            )  # fmt: skip
            if is_pure(answer) and acked >= of["sequence"][row] and not has_more and (
                0.020 <= rtt_s - fastest_s <= 0.520
            ):  # fmt: skip
                found.append((answer, series, rtt_s - fastest_s))
    return found


@cache
def held() -> list[int]:
    """Small segments that left at once when all before them was acknowledged."""
    of, known, found = model(), packets(), []
    for flow in flows():
        for rows in directions(flow):
            largest = max((known[row].get("payload_bytes", 0) for row in rows), default=0)
            for row in rows:
                size, same, ack = (
                    known[row].get("payload_bytes", 0),
                    of["same"][row],
                    of["other"][row],
                )
                if not size or (size == largest and largest >= 500) or min(same, ack) < 0:
                    continue
                before = of["same"][ack]
                acked = of["ack"][before] if before >= 0 else -1
                if (
                    of["kind"][row] in ("", "out_of_order", "after_ack")
                    and ack > same and is_pure(ack)
                    and of["ack"][ack] == of["sequence"][row] > acked
                    and known[same].get("payload_bytes", 0)
                    and known[row]["time_s"] - known[ack]["time_s"] <= 0.002
                ):  # fmt: skip
                    found.append(row)
    return found


@cache
def analysis() -> TcpAnalysis:
    return analyse_tcp(trace_of(packets()))


def test_the_packets_hold_enough_of_each_kind():
    """Otherwise the comparisons below would say little."""
    of = model()
    counts = {kind: list(of["kind"].values()).count(kind)
              for kind in ("spurious", "fast", "out_of_order", "late")}  # fmt: skip
    counts |= {name: sum(of[name].values())
               for name in ("duplicate_ack", "keep_alive", "zero_window")}  # fmt: skip
    counts |= {"trips": len(trips()), "stamped": len(stamped_trips()), "delayed": len(delayed()),
               "held": len(held()), "flows": len(flows())}  # fmt: skip
    assert min(counts.values()) >= 14, counts


def test_flows_and_directions():
    s = analysis().segments
    expected = [(number, row) for number, flow in enumerate(flows()) for row in flow.rows]
    assert list(zip(s.flows.flow.tolist(), s.flows.row.tolist(), strict=True)) == expected
    rows = s.flows.row.tolist()
    of = model()
    assert s.flows.count == len(flows())
    place = {row: index for index, (_, row) in enumerate(expected)}
    assert s.flows.begin.tolist() == [place[flows()[number].rows[0]] for number, _ in expected]
    assert s.series.tolist() == [of["series"][row] for row in rows]
    assert [rows[one] for one in s.by_series] == [
        row for flow in flows() for side in directions(flow) for row in side
    ]
    assert s.to_server.tolist() == [of["side"][row] == 0 for row in rows]
    assert s.has_client.tolist() == [flow.has_client for flow in flows()]
    for name in ("same", "other"):
        found = [rows[one] if one >= 0 else -1 for one in getattr(s, name).tolist()]
        assert found == [of[name][row] for row in rows]
    for name in ("sequence", "end", "ack"):
        assert getattr(s, name).tolist() == [of[name][row] for row in rows], name


def test_handshakes():
    h, rows = analysis().handshakes, analysis().segments.flows.row.tolist()
    for name in ("syn", "answer", "ack"):
        found = [rows[one] if one >= 0 else -1 for one in getattr(h, name).tolist()]
        assert found == [getattr(flow, name) for flow in flows()], name
    assert h.syn_count.tolist() == [flow.syn_count for flow in flows()]
    for name, one, two in (("rtt_s", "syn", "ack"), ("to_server_s", "syn", "answer"),
                           ("to_client_s", "answer", "ack")):  # fmt: skip
        times_s = [between(getattr(flow, one), getattr(flow, two)) for flow in flows()]
        assert getattr(h, name).tolist() == pytest.approx(times_s, nan_ok=True, abs=0), name


def test_losses():
    a, of = analysis(), model()
    rows = a.segments.flows.row.tolist()
    for name in ("spurious", "fast", "out_of_order", "late"):
        found = [row for row, is_it in zip(rows, getattr(a.losses, name), strict=True) if is_it]
        assert found == [row for row in rows if of["kind"][row] == name], name
    for name in ("duplicate_ack", "keep_alive", "zero_window"):
        found = [row for row, is_it in zip(rows, getattr(a.losses, name), strict=True) if is_it]
        assert found == [row for row in rows if of[name][row]], name
    again = [of["kind"][row] in ("spurious", "fast", "late") for row in rows]
    assert a.losses.retransmitted.tolist() == again


def test_windows_and_bytes_in_flight():
    rows = analysis().segments.flows.row.tolist()
    for found, name in ((window_bytes(analysis()), "window"),
                        (in_flight_bytes(analysis()), "in_flight")):  # fmt: skip
        expected = [model()[name][row] for row in rows]
        assert found.tolist() == pytest.approx(expected, nan_ok=True, abs=0)


def test_round_trips():
    rows = analysis().segments.flows.row.tolist()
    for found, expected in ((analysis().round_trips, trips()),
                            (analysis().timestamp_round_trips, stamped_trips())):  # fmt: skip
        shown = [
            (rows[one], rows[two], series)
            for one, two, series in zip(
                found.segment.tolist(), found.answer.tolist(), found.series.tolist(), strict=True
            )
        ]
        assert shown == expected
        assert found.rtt_s.tolist() == [between(one, two) for one, two, _ in expected]


def test_delayed_acknowledgements_and_held_segments():
    rows, stalls, of = analysis().segments.flows.row.tolist(), analysis().stalls, model()
    found = zip(stalls.delayed.tolist(), stalls.delayed_series.tolist(), stalls.delayed_s.tolist(),
                strict=True)  # fmt: skip
    assert [(rows[ack], series, late_s) for ack, series, late_s in found] == delayed()
    assert sorted(rows[one] for one in stalls.held) == sorted(held())
    late = {ack for ack, _, _ in delayed()}
    for one, held_s, is_late in zip(stalls.held, stalls.held_s, stalls.is_held_by_delay,
                                    strict=True):  # fmt: skip
        row = rows[one]
        assert held_s == between(of["same"][row], row)
        assert is_late == (of["other"][row] in late)
    for late_s, timer_s in zip(stalls.delayed_s.tolist(), stalls.timer_s.tolist(), strict=True):
        near = [one for one in (0.040, 0.100, 0.200, 0.500) if abs(late_s / one - 1) <= 0.15]
        assert timer_s == pytest.approx(near[0] if near else NAN, nan_ok=True, abs=0)


def least(values: list[float]) -> float:
    return min(values, default=NAN)


def most(values: list[float]) -> float:
    return max(values, default=NAN)


def middle(values: list[float]) -> float:
    return median(values) if values else NAN


def direction_row(number: int, side: int) -> dict[str, Any]:
    """The row of one direction, from what is known of its packets."""
    of, known, flow = model(), packets(), flows()[number]
    rows = directions(flow)[side]
    times_s = [known[row]["time_s"] for row in rows]
    data = [row for row in rows if known[row].get("payload_bytes", 0)]
    again = [row for row in rows if of["kind"][row] in ("spurious", "fast", "late")]
    open_rows = [row for row in rows if not known[row]["tcp_flags"] & (SYN | RST)]
    series = 2 * number + side
    rtt_s = [between(one, two) for one, two, its in trips() if its == series]
    stamped_s = [between(one, two) for one, two, its in stamped_trips() if its == series]
    late_s = [late for _, its, late in delayed() if its == series]
    held_s = [between(of["same"][row], row) for row in held() if row in rows]
    new_bytes = sum(of["new_bytes"][row] for row in rows)
    span_s = max(times_s) - min(times_s) if rows else NAN
    offer = (flow.syn, flow.answer)[side]
    one = known[flow.rows[0]]
    ends = {end_of(one), (one["destination"], one["destination_port"])}
    source = flow.client if side == 0 else next(iter(ends - {flow.client}))
    destination = next(iter(ends - {source}))
    return {
        "flow": number, "direction": ("to server", "to client")[side],
        "source": HOSTS[source[0]], "source_port": source[1],
        "destination": HOSTS[destination[0]], "destination_port": destination[1],
        "start_s": least(times_s), "duration_s": span_s,
        "segment_count": len(rows), "data_segment_count": len(data), "payload_bytes": new_bytes,
        "missed_bytes": missed_bytes(number, side),
        "goodput_bps": 8 * new_bytes / span_s if rows and span_s > 0 else NAN,
        "retransmission_count": len(again),
        "fast_retransmission_count": sum(of["kind"][row] == "fast" for row in rows),
        "spurious_retransmission_count": sum(of["kind"][row] == "spurious" for row in rows),
        "retransmitted_bytes": sum(known[row].get("payload_bytes", 0) for row in again),
        "out_of_order_count": sum(of["kind"][row] == "out_of_order" for row in rows),
        "duplicate_ack_count": sum(of["duplicate_ack"][row] for row in rows),
        "keep_alive_count": sum(of["keep_alive"][row] for row in rows),
        "zero_window_count": sum(of["zero_window"][row] for row in rows),
        **closures(number, side),
        "window_min_bytes": least([of["window"][row] for row in open_rows]),
        "window_max_bytes": most([of["window"][row] for row in open_rows]),
        "window_shift": flow.shift[side],
        "in_flight_bytes": most([of["in_flight"][row] for row in data
                                 if not math.isnan(of["in_flight"][row])]),
        "mss_bytes": (known[offer]["mss_bytes"] or NAN) if offer >= 0 else NAN,
        "handshake_rtt_s": between(flow.syn, flow.ack),
        "to_server_s": between(flow.syn, flow.answer),
        "to_client_s": between(flow.answer, flow.ack),
        "rtt_count": len(rtt_s), "rtt_min_s": least(rtt_s), "rtt_median_s": middle(rtt_s),
        "rtt_max_s": most(rtt_s), "timestamp_rtt_min_s": least(stamped_s),
        "gap_s": most([two - one for one, two in pairwise(times_s)]),
        "delayed_ack_count": len(late_s), "delayed_ack_s": middle(late_s),
        "held_count": len(held_s), "held_s": middle(held_s),
    }  # fmt: skip


UNITS = {
    "s": ("start_s", "duration_s", "window_closed_s", "gap_s", "handshake_rtt_s", "to_server_s",
          "to_client_s", "rtt_min_s", "rtt_median_s", "rtt_max_s", "timestamp_rtt_min_s",
          "delayed_ack_s", "held_s"),
    "byte": ("payload_bytes", "missed_bytes", "retransmitted_bytes", "in_flight_bytes",
             "window_min_bytes", "window_max_bytes", "mss_bytes"),
    "bit/s": ("goodput_bps",),
}  # fmt: skip


def test_the_table_of_flows():
    table = tcp_flows(analysis())
    columns = {name: column.tolist() for name, column in table.columns().items()}
    expected = [direction_row(number, side) for number in range(len(flows())) for side in (0, 1)]
    assert list(columns) == list(expected[0])
    for name, column in columns.items():
        wanted = [row[name] for row in expected]
        if isinstance(wanted[0], str):
            assert column == wanted, name
        else:
            assert column == pytest.approx(wanted, nan_ok=True, rel=1e-12, abs=0), name
    numbers = {name: "1" for name, value in expected[0].items() if not isinstance(value, str)}
    numbers |= {name: unit for unit, names in UNITS.items() for name in names}
    assert table.meta.units == numbers
    assert (table.meta.tool, table.meta.source) == ("pcap", "by hand")
    meta = ladder(analysis(), flow=0).meta
    assert (meta.tool, meta.source) == ("pcap", "by hand")


def test_ladders():
    of, known = model(), packets()
    marks = {"late": "retransmission", "fast": "fast retransmission",
             "spurious": "spurious retransmission", "out_of_order": "out of order"}  # fmt: skip
    late = {ack for ack, _, _ in delayed()}
    names = {SYN: "SYN", FIN: "FIN", RST: "RST", 8: "PSH", ACK: "ACK"}
    for number in (*range(0, len(flows()), 9), len(flows()) - 1):
        rows = flows()[number].rows
        shown = {name: column.tolist()
                 for name, column in ladder(analysis(), flow=number).columns().items()}  # fmt: skip
        mark = []
        for row in rows:
            text = marks.get(of["kind"][row], "")
            text = "duplicate ACK" if of["duplicate_ack"][row] else text
            text = "keep-alive" if of["keep_alive"][row] else text
            text = "delayed ACK" if row in late else text
            mark.append("held back (Nagle)" if row in held() else text)
        waits = {ack: late_s for ack, _, late_s in delayed()}
        waits |= {row: between(of["same"][row], row) for row in held()}
        expected = [waits.get(row, math.nan) for row in rows]
        assert shown["wait_s"] == pytest.approx(expected, nan_ok=True, abs=0)
        assert shown["mark"] == mark
        assert shown["packet"] == [row + 1 for row in rows]
        assert shown["time_s"] == [known[row]["time_s"] for row in rows]
        assert shown["direction"] == [("to server", "to client")[of["side"][row]] for row in rows]
        assert shown["flags"] == [
            " ".join(text for bit, text in names.items() if known[row]["tcp_flags"] & bit)
            for row in rows
        ]
        for name, key in (("sequence", "sequence"), ("ack", "ack"), ("window_bytes", "window"),
                          ("in_flight_bytes", "in_flight")):  # fmt: skip
            expected = [of[key][row] for row in rows]
            assert shown[name] == pytest.approx(expected, nan_ok=True, abs=0), name
        assert shown["payload_bytes"] == [known[row].get("payload_bytes", 0) for row in rows]
    assert ladder(analysis(), flow=0).meta.units == {
        "packet": "1", "sequence": "1", "ack": "1", "time_s": "s", "payload_bytes": "byte",
        "window_bytes": "byte", "in_flight_bytes": "byte", "wait_s": "s",
    }  # fmt: skip


def missed_bytes(number: int, side: int) -> int:
    """What the other end acknowledged of a direction, and no packet of it has."""
    of, known, sides = model(), packets(), directions(flows()[number])
    data = [row for row in sides[side] if known[row].get("payload_bytes", 0)]
    syns = [of["sequence"][row] + 1 for row in sides[side] if known[row]["tcp_flags"] & SYN]
    fins = [of["end"][row] for row in sides[side] if known[row]["tcp_flags"] & FIN]
    acks = [of["ack"][row] for row in sides[1 - side] if known[row]["tcp_flags"] & ACK]
    if not (data or syns) or not acks:
        return 0
    # Data begin behind the SYN; where there is none, with the first that were captured.
    first = min([of["sequence"][row] for row in data] + ([max(syns)] if syns else []))
    # A FIN takes a number, and has no byte that a capture can miss.
    ends = {row: of["sequence"][row] + known[row]["payload_bytes"] for row in data}
    upto = max(acks)
    if fins and upto >= max(fins):
        upto = max(fins) - 1
    covered = sum(of["new_bytes"][row] for row in data if ends[row] <= upto)
    missed = max(upto - first - covered, 0) if upto > first else 0
    return missed if 1 < missed <= 2**30 else 0


def closures(number: int, side: int) -> dict[str, float]:
    """How often and how long a sender closed its window: until it opens, or the flow ends."""
    known, flow = packets(), flows()[number]
    end_s = max(known[row]["time_s"] for row in flow.rows)
    count, total_s, begin_s = 0, 0.0, NAN
    for row in directions(flow)[side]:
        flags, time_s = known[row]["tcp_flags"], known[row]["time_s"]
        is_closed = known[row].get("window", 0) == 0 and not flags & RST
        if flags & SYN or is_closed == (not math.isnan(begin_s)):
            continue
        if is_closed:
            count, begin_s = count + 1, time_s
        else:
            total_s, begin_s = total_s + max(time_s - begin_s, 0.0), NAN
    if not math.isnan(begin_s):
        total_s += max(end_s - begin_s, 0.0)
    return {"window_closed_count": count, "window_closed_s": total_s}


def test_notices_count_flows():
    found = {one.code: one.values for one in tcp_notices(analysis())}
    total = len(flows())
    missed = [missed_bytes(number, side) for number in range(total) for side in (0, 1)]
    unseen = sum(flow.syn < 0 and flow.answer < 0 for flow in flows())
    one_sided = sum(not all(directions(flow)) for flow in flows())
    repeated = sum(flow.syn_count > 1 for flow in flows())
    assert found == {
        "capture-missed": {"count": sum(map(bool, missed)), "missing_bytes": sum(missed)},
        "flows-begun-before": {"count": unseen, "total": total},
        "flows-one-sided": {"count": one_sided, "total": total},
        "handshakes-repeated": {"count": repeated, "total": total},
        "data-after-ack": {"count": list(model()["kind"].values()).count("after_ack")},
    }


def test_facts_of_all_packets(monkeypatch):
    """In the order of the file, which another test judges by the times."""
    monkeypatch.setattr("netcalc.readers.captures.tcp.in_order", lambda trace: trace)
    (row,) = facts(trace_of(packets()))
    assert row["packet_count"] == len(packets())
    assert row["captured_byte_count"] == 60 * len(packets())
    assert row["tcp_flow_count"] == len(flows())
    again = sum(one in ("spurious", "fast", "late") for one in model()["kind"].values())
    assert row["tcp_retransmission_count"] == again
    trips_s = [between(flow.syn, flow.ack) for flow in flows()]
    assert row["handshake_rtt_min_s"] == min(one for one in trips_s if one >= 0)
    assert row["ipv4_packet_count"] == len(packets())
    assert row["ipv6_packet_count"] == 0


@pytest.mark.each("count", [1, 7, 1000])
def test_flows_are_the_same_however_many_are_analysed_at_once(monkeypatch, count):
    rows, notices, whole = tcp.fact_rows(trace_of(packets()))
    assert rows[0]["tcp_flow_count"] == whole.flow_count > 300
    table = tcp.flow_table(trace_of(packets()), whole)
    limits = {"FLOWS_AT_ONCE": 0, "_PART_PACKETS": count, "_MOST_PARTS": 10**6}
    with monkeypatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(tcp, name, value)
        assert tcp.fact_rows(trace_of(packets())) == (rows, notices, None)
        assert tcp.flow_table(trace_of(packets())) == table


def datagrams() -> list[dict[str, Any]]:
    r, found = random.Random(3), []
    for number in range(1500):
        side, port = r.randrange(2), r.randrange(40)
        hosts, ports = ((1, 2), (5000 + port, 53))
        found.append({
            "layers": Layer.IPV4 | (Layer.UDP if r.random() < 0.9 else 0), "ip_protocol": 17,
            "time_s": number + r.choice((0.0, 0.5, -5.0)), "source": hosts[side],
            "destination": hosts[1 - side], "source_port": ports[side],
            "destination_port": ports[1 - side], "payload_bytes": r.randrange(99),
        })  # fmt: skip
    return found


def test_udp_exchanges():
    """A datagram of the end that began a flow, and the next one if it is of the other end."""
    known = datagrams()
    clients: dict[frozenset[tuple[int, int]], tuple[int, int]] = {}
    before: dict[frozenset[tuple[int, int]], dict[str, Any]] = {}
    found: dict[frozenset[tuple[int, int]], list[tuple[int, float, float]]] = {}
    for one in known:
        if not one["layers"] & Layer.UDP:
            continue
        ends = frozenset((end_of(one), (one["destination"], one["destination_port"])))
        clients.setdefault(ends, end_of(one))
        found.setdefault(ends, [])
        if ends in before and end_of(before[ends]) == clients[ends] != end_of(one):
            ask = before[ends]
            rtt_s = one["time_s"] - ask["time_s"]
            found[ends].append((ask["payload_bytes"], ask["time_s"], rtt_s if rtt_s >= 0 else NAN))
        before[ends] = one
    expected = [one for rows in found.values() for one in rows]
    samples = udp_samples(trace_of(known))
    assert samples.payload_bytes.tolist() == [one[0] for one in expected]
    assert samples.sent_s.tolist() == [one[1] for one in expected]
    assert samples.rtt_s.tolist() == pytest.approx([one[2] for one in expected], nan_ok=True, abs=0)
    assert samples.meta.protocol == "udp"
    assert (samples.meta.tool, samples.meta.source) == ("pcap", "by hand")
    assert find_flows(trace_of(known), Layer.UDP, 17).count == len(found) == 40


def echo_packets() -> list[dict[str, Any]]:
    r, found = random.Random(4), []
    for number in range(1500):
        protocol, kinds = r.choice(((1, (8, 0, 8, 0, 3, 128, 129)), (58, (128, 129, 8, 0))))
        side = r.randrange(2)
        found.append({
            "layers": Layer.IPV4 | (Layer.ICMP if r.random() < 0.9 else 0),
            "ip_protocol": protocol, "icmp_type": r.choice(kinds), "echo_id": r.randrange(4),
            "echo_sequence": r.choice((0, 1, 2, 65535)),
            "source": 1 + side, "destination": 2 - side,
            "time_s": number + r.choice((0.0, 0.5, -3.0)), "payload_bytes": r.randrange(99),
            "ttl": r.randrange(1, 256),
        })  # fmt: skip
    return found


def test_echoes():
    """A reply belongs to the request of its numbers right before it; more of them are repeats."""
    known = echo_packets()
    requests: list[int] = []
    reply_to: dict[int, int] = {}
    duplicates: list[int] = []
    last: dict[tuple[int, ...], int] = {}
    for row, one in enumerate(known):
        kind = one["icmp_type"], one["ip_protocol"]
        if not one["layers"] & Layer.ICMP or kind not in ((8, 1), (0, 1), (128, 58), (129, 58)):
            continue
        asks = kind in ((8, 1), (128, 58))
        numbers = (one["echo_id"], one["echo_sequence"])
        key = (one["source" if asks else "destination"], *numbers)
        if asks:
            requests.append(row)
            last[key] = row
        elif key in last and last[key] not in reply_to:
            reply_to[last[key]] = row
        elif key in last:
            duplicates.append(row)
    trace = trace_of(known)
    echoes = find_echoes(trace)
    assert echoes.request.tolist() == requests
    assert echoes.reply.tolist() == [reply_to.get(row, -1) for row in requests]
    assert echoes.duplicate.tolist() == duplicates
    assert echoes.pair_count == len(reply_to)
    samples = echo_samples(trace)
    trip_s = [known[reply_to[row]]["time_s"] - known[row]["time_s"] if row in reply_to else NAN
              for row in requests]  # fmt: skip
    rtt_s = [one if one >= 0 else NAN for one in trip_s]
    assert samples.rtt_s.tolist() == pytest.approx(rtt_s, nan_ok=True, abs=0)
    assert samples.lost.tolist() == [row not in reply_to for row in requests]
    ttl = [known[reply_to[row]]["ttl"] if row in reply_to else NAN for row in requests]
    assert samples.ttl.tolist() == pytest.approx(ttl, nan_ok=True, abs=0)
    for name, column in (("sent_s", "time_s"), ("sequence", "echo_sequence"),
                         ("payload_bytes", "payload_bytes")):  # fmt: skip
        assert getattr(samples, name).tolist() == [known[row][column] for row in requests]
    assert samples.meta.protocol == "icmp"
    assert (samples.meta.tool, samples.meta.source) == ("pcap", "by hand")
