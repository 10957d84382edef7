"""Captures that lie or lack: the cause is right, or it is not known; it is never wrong and sure."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
import script as s

from netcalc import readers
from netcalc.explain import Known, measurement
from netcalc.explain.causes.captures import explain_capture

A, B, MSS = s.A, s.B, s.MSS
HALVES = (A, B)
WINDOW = 20


def windowed(*, segments=1200, begin_s=0.0, **more):
    """Return a flow that the receiver's window limits: 20 segments in each 50 ms."""
    script = s.Script(0.05, window=WINDOW * MSS, **more)
    script.transfer(
        script.open(begin_s), segments, window=lambda acked: WINDOW, offered=WINDOW * MSS
    )
    return script


def full_line():
    """Return a flow that fills 8 Mbit/s: about half of what is in flight waits."""
    script = s.Script(0.04)
    script.transfer(script.open(), 2000, window=lambda acked: 76, line_bps=8e6)
    return script


FLOWS = {"receiver-window": windowed, "line": full_line}


def findings(frames, *, snap=65535, ordered=True, **known):
    return explain_capture(s.trace_of(frames, snap=snap, ordered=ordered), Known(**known))


def causes(frames, **more):
    return [finding.cause for finding in findings(frames, **more)]


def codes(finding):
    return [notice.code for notice in finding.notices]


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("code", FLOWS)
def test_one_direction_alone(code, place):
    """Without acknowledgements nobody sees a window; a full line shows in the data alone."""
    script = FLOWS[code]()
    rows = zip(script.frames(place), script.seen(place), strict=True)
    cause = causes([row for row, (_, p) in rows if p.end == A])[0]
    assert cause.code in ("unknown", *({"line"} & {code}))


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("code", FLOWS)
def test_a_capture_that_begins_within_a_flow(code, place):
    rows = FLOWS[code]().frames(place)
    assert causes(rows[len(rows) // 3 :])[0].code in (code, "unknown")


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("code", FLOWS)
def test_a_capture_that_missed_packets(code, place):
    """One in 20 of both directions is missing; the path lost none."""
    draw = random.Random(7)
    script = FLOWS[code]()
    cause = causes([row for row in script.frames(place) if draw.random() > 0.05])[0]
    assert cause.code in (code, "unknown")
    if place == A:
        assert cause.sign("loss_ratio") == 0


def test_a_capture_that_missed_half_of_the_packets_shows_no_others_on_the_line():
    """8 Mbit/s were full: 7.52 of payload. What is missing was not passed by anybody else."""
    draw = random.Random(3)
    first = findings([row for row in full_line().frames(A) if draw.random() > 0.5])[0]
    assert first.cause.code in ("line", "unknown")
    assert first.confidence != "high"
    assert first.measured == pytest.approx(8e6 * MSS / (MSS + s.HEADERS), rel=0.05)
    assert "capture-missed" in codes(first)


ORDERS = {
    "backwards": lambda rows: rows[::-1],
    "in blocks": lambda rows: [
        row for at in range(0, len(rows), 9) for row in rows[at : at + 9][::-1]
    ],
    "one file behind another": lambda rows: rows[1::2] + rows[::2],
}


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("code", FLOWS)
def test_packets_in_another_order_are_put_in_that_of_their_times(code, order, place):
    rows = sorted(FLOWS[code]().frames(place), key=lambda row: row[0])
    whole, mended = findings(rows)[0], findings(ORDERS[order](rows), ordered=False)[0]
    assert (mended.cause.code, mended.confidence) == (code, whole.confidence)
    assert mended.cause.share_of_time == pytest.approx(whole.cause.share_of_time, abs=1e-4)
    assert mended.cause.sign("loss_ratio") == 0
    assert codes(mended) == ["capture-in-order", *codes(whole)]


def test_a_clock_that_steps_back_leaves_the_order_of_the_file():
    """Put in the order of their times, packets from before the step would come after it."""
    rows = sorted(windowed().frames(A), key=lambda row: row[0])
    half = len(rows) // 2
    stepped = rows[:half] + [(time_ns - 10**9, *rest) for time_ns, *rest in rows[half:]]
    first = findings(stepped, ordered=False)[0]
    assert first.cause.code == "receiver-window"
    assert codes(first)[0] == "capture-clock-stepped"
    # 1,200 segments of 1,024 B, 20 in each 50 ms.
    assert first.measured == pytest.approx(8 * 20 * MSS / 0.05, rel=0.03)


def test_times_of_several_queues_do_not_make_losses():
    """Every second packet has a stamp 3 ms late; the file has them in their true order."""
    rows = sorted(windowed().frames(A), key=lambda row: row[0])
    late = [(time_ns + 3_000_000 * (n % 2), *rest) for n, (time_ns, *rest) in enumerate(rows)]
    first = findings(late, ordered=False)[0]
    assert first.cause.code == "receiver-window"
    assert first.cause.sign("loss_ratio") == 0
    assert codes(first)[0] == "capture-times-kept-in-order"


@pytest.mark.each("step_s", (5.0, -1.0, 60.0))
def test_a_step_of_the_clock_is_found_with_its_size_in_a_flow_with_pauses(step_s):
    """Twenty requests, each answered after 0.2 s; the clock steps after ten of them."""
    script = s.Script(0.02)
    at_s = script.open()
    for number in range(20):
        asked_s = script.send(at_s, sequence=1 + 100 * number, ack=1 + 300 * number, payload=100)
        script.send(asked_s, B, sequence=1 + 300 * number, ack=101 + 100 * number)
        at_s = script.send(
            asked_s + 0.2, B, sequence=1 + 300 * number, ack=101 + 100 * number, payload=300
        )
    rows = sorted(script.frames(A), key=lambda row: row[0])
    half, step_ns = len(rows) // 2, round(step_s * 1e9)
    stepped = rows[:half] + [(time_ns + step_ns, *rest) for time_ns, *rest in rows[half:]]
    plain, mended = findings(rows)[0], findings(stepped, ordered=False)[0]
    said = [one.values["step_s"] for one in mended.notices if one.code == "capture-clock-stepped"]
    assert said == [pytest.approx(step_s, abs=0.03)]
    assert mended.cause.code == plain.cause.code == "server-time"
    assert mended.cause.duration_s == pytest.approx(plain.cause.duration_s, abs=0.05)


@pytest.mark.each("place", HALVES)
def test_a_coarse_clock_leaves_nothing_sure(place):
    """Times in steps of 10 ms: what happened within one does not show."""
    rows = [(time_ns // 10**7 * 10**7, *rest) for time_ns, *rest in full_line().frames(place)]
    first = findings(rows, ordered=False)[0]
    assert first.confidence == "low"
    assert "capture-clock-coarse" in codes(first)


def test_a_byte_of_a_fin_is_none_that_the_capture_missed():
    """A FIN takes a sequence number, also in a packet with data."""
    script = windowed()
    end = 1 + 1200 * MSS
    came_s = script.send(4.0, sequence=end, payload=300, flags=s.w.FIN | s.w.ACK)
    script.send(came_s, B, ack=end + 301)
    first = findings(script.frames(A))[0]
    assert "capture-missed" not in codes(first)


def test_a_handshake_and_some_segments_are_no_requests():
    """Five packets: three of the handshake, and the first two of an upload."""
    rows = sorted(windowed().frames(A), key=lambda row: row[0])[:5]
    first = findings(rows)[0]
    assert first.cause.code in ("handshake", "slow-start", "unknown")
    assert first.confidence != "high"


@pytest.mark.each("place", HALVES)
def test_a_queue_beside_no_base_has_no_length(place):
    """Begun within the flow: the least round trip has the queue in it, too."""
    rows = sorted(full_line().frames(place), key=lambda row: row[0])
    whole, later = findings(rows)[0], findings(rows[len(rows) // 2 :])[0]
    assert whole.cause.sign("queue_s") > 0.03
    assert math.isnan(later.cause.sign("queue_s"))


def test_flows_of_two_lines_share_none():
    """8 and 3 Mbit/s, a second apart: each has its line for itself."""
    other = s.Script(0.04, port=40001)
    other.transfer(other.open(1.0), 700, window=lambda acked: 60, line_bps=3e6)
    first = findings([*full_line().frames(A), *other.frames(A)])[0]
    assert first.cause.code == "line"


def test_a_flow_beside_more_datagrams_is_explained_too():
    rows = [*windowed().frames(A), *datagrams(5000, skip=lambda row: 0)]
    found = findings(rows)
    assert [each.cause.code for each in found if each.cause][-1] == "receiver-window"


def test_a_line_that_is_stated_does_not_explain_losses_without_a_queue():
    """recorded: 3 % of random loss; the rate happens to be that of a line without any queue."""
    folder = Path(__file__).parent / "captures"
    [plain, *_] = measurement(readers.read(folder / "loss3-A.pcap.gz"))
    line_bps = plain.measured * 1538 / 1448
    [first, *_] = measurement(readers.read(folder / "loss3-A.pcap.gz"), Known(line_bps=line_bps))
    assert first.cause.code == plain.cause.code == "random-loss"


@pytest.mark.each("place", HALVES)
def test_a_window_whose_scale_was_cut_off_is_said_to_be_fitted(place):
    """The handshake's options end behind 60 bytes: only its first MSS option is whole."""
    first = findings(windowed().frames(place), snap=60)[0]
    assert first.cause.code in ("receiver-window", "unknown")
    assert first.confidence != "high"
    assert ("window-scale-fitted" in codes(first)) == (first.cause.code == "receiver-window")


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("code", FLOWS)
def test_a_capture_cut_at_96_bytes_is_explained_as_the_whole_one(code, place):
    rows = FLOWS[code]().frames(place)
    whole, cut = causes(rows)[0], causes(rows, snap=96)[0]
    assert cut.code == whole.code == code
    assert cut.shares == whole.shares


@pytest.mark.each("place", HALVES)
def test_a_network_card_that_joins_segments(place):
    """64 kB at once on the loopback interface: both programs are on one host."""
    script = s.Script(3e-5, mss=64_000, hosts=("127.0.0.1", "127.0.0.1"), window=6_400_000)
    script.transfer(script.open(), 500, window=lambda acked: 40, offered=6_400_000, line_bps=3e10)
    assert causes(script.frames(place))[0].code in ("host", "unknown")


def test_segments_that_a_network_card_joined_at_their_sender():
    """Two segments in one packet, acknowledged one by one: the window is what it was."""
    script = windowed()
    joined, rows = [], list(zip(script.frames(A), script.seen(A), strict=True))
    for row, (_, p) in rows:
        if not p.payload:
            joined.append(row)
        elif p.sequence // MSS % 2 == 0:
            time_ns, frame, size = row
            total = (size - 14 + MSS).to_bytes(2, "big")
            joined.append((time_ns, frame[:16] + total + frame[18:], size + MSS))
    cause = causes(joined)[0]
    assert cause.code in ("receiver-window", "unknown")
    assert cause.sign("loss_ratio") == 0


@pytest.mark.each("place", HALVES)
def test_hundreds_of_flows(place):
    """300 short ones beside one that has most of the data: the window of this one."""
    rows = windowed(segments=3000).frames(place)
    for number in range(300):
        short = s.Script(0.05, port=42000 + number)
        short.transfer(short.open(0.02 * number), 3, window=lambda acked: 10)
        rows += short.frames(place)
    first = causes(rows)[0]
    assert first.code in ("receiver-window", "unknown")
    assert sum(first.shares.values()) == pytest.approx(1.0)


def test_files_of_two_hosts_whose_clocks_are_an_hour_apart(tmp_path):
    """What both ends saw of one flow: each file by itself says the same."""
    script = windowed()
    for place, shift_s in ((A, 0.0), (B, 3600.0)):
        file = tmp_path / f"{place}.pcap"
        file.write_bytes(s.file_of(script.frames(place, shift_s=shift_s)))
        found = measurement(readers.read(file))[0]
        assert found.cause.code == "receiver-window", place
        assert found.cause.share_of_time > 0.9, place


def test_both_ends_in_one_file_an_hour_apart():
    """Merged without a thought: the flow seems to be there twice, and to last an hour."""
    script = windowed()
    cause = causes([*script.frames(A), *script.frames(B, shift_s=3600.0)])[0]
    assert cause.code in ("receiver-window", "unknown")


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("line_bps", [1e6, 3.6e6, 1e9])
def test_a_line_that_is_stated_wrong_does_not_change_what_the_packets_show(place, line_bps):
    """3.28 Mbit/s pass: also beside a line of 1, of just as much with its headers, or of 1000."""
    cause = causes(windowed().frames(place), line_bps=line_bps)[0]
    assert cause.code in ("receiver-window", "unknown")


CONTRADICTIONS = {
    "stated-line-above": {"line_bps": 100e6},
    "stated-loss-differs": {"loss_ratio": 0.1},
    "stated-rtt-above": {"rtt_s": 0.2},
    "stated-window-below": {"window_bytes": 4096.0},
}


@pytest.mark.each("place", HALVES)
@pytest.mark.parametrize("code", CONTRADICTIONS)
def test_a_fact_that_the_capture_contradicts_is_said_and_makes_it_less_sure(code, place):
    """Some 8 Mbit/s without a loss, at 40 ms at least, with 76 segments under way."""
    rows = full_line().frames(place)
    plain, stated = findings(rows)[0], findings(rows, **CONTRADICTIONS[code])[0]
    assert code in codes(stated)
    assert (plain.confidence, stated.confidence) == ("high", "medium")
    assert stated.cause.code == plain.cause.code == "line"


@pytest.mark.each("place", HALVES)
def test_facts_that_the_capture_confirms_change_nothing(place):
    rows = full_line().frames(place)
    stated = findings(rows, rtt_s=0.04, loss_ratio=0.0, window_bytes=2.0**20, line_bps=8.3e6)[0]
    assert not [code for code in codes(stated) if code.startswith("stated")]
    assert stated.confidence == "high"


@pytest.mark.each("place", HALVES)
def test_a_round_trip_that_is_stated_wrong_does_not_change_the_cause(place):
    assert causes(windowed().frames(place), rtt_s=2.0)[0].code in ("receiver-window", "unknown")


def datagrams(count, *, skip, waits=0.0, apart_s=0.004):
    """Return datagrams: the ``skip`` of a row adds to its number, ``waits`` of it to its time."""
    rows, number, skipped = [], 0, 0.0
    for row in range(count):
        number += 1 + skip(row)
        skipped += skip(row) * (waits(row) if callable(waits) else waits)
        datagram = s.w.udp((40000, 9000), payload=b"")
        frame = s.w.ipv4(datagram, 17, "192.0.2.1", "198.51.100.2", total=228, id=number)
        time_ns = round((row + skipped) * apart_s * 1e9)
        rows.append((time_ns, s.w.ethernet(frame, 0x0800), 242))
    return rows


@pytest.mark.each("waits, code", [(0.0, "unknown"), (0.6, "unknown"), (1.0, "loss-udp")])
def test_numbers_that_were_skipped_are_lost_where_their_time_passed(waits, code):
    """Linux counts other packets, too, and adds a random step behind a pause: none is lost then."""
    first = findings(datagrams(1000, skip=lambda row: int(row % 90 == 89), waits=waits))[0]
    assert (first.cause.code if first.cause else "unknown") == code
    if code == "loss-udp":  # 11 of 1,011
        assert first.cause.sign("loss_ratio") == pytest.approx(11 / 1011, rel=0.02)


def test_numbers_that_were_skipped_beside_lost_ones():
    """Each 90th is lost, and behind each other 45 a number is skipped: 11 of 1,011 are lost."""
    rows = datagrams(1000, skip=lambda row: int(row % 45 == 44), waits=lambda row: row % 90 == 89)
    cause = findings(rows)[0].cause
    assert (cause.code, cause.confidence) == ("loss-udp", "medium")
    assert cause.sign("loss_ratio") == pytest.approx(11 / 1011, rel=0.02)


def test_lost_datagrams_in_a_stream_whose_sender_is_late_now_and_then():
    """Each 90th is lost; in front of each fourth of these the sender was late by half a gap."""
    rows = datagrams(
        1000, skip=lambda row: int(row % 90 == 89), waits=lambda row: 1 + 0.5 * (row % 360 == 359)
    )
    assert findings(rows)[0].cause.code == "loss-udp"


def test_a_full_device_passes_datagrams_without_gaps_but_for_a_few():
    """It drops each third datagram of no payload: no time passes, but where the sender paused."""
    pauses = [199, 399, 599, 799]
    rows = datagrams(1000, skip=lambda row: row % 2, waits=lambda row: row in pauses, apart_s=0.001)
    cause = findings(rows)[0].cause
    assert cause.code == "packet-rate"
    assert cause.sign("loss_ratio") == pytest.approx(1 / 3, rel=0.01)


def test_what_waits_at_the_end_has_not_passed_the_line():
    """Sent: 2000 segments, of which 500 wait in front of the line when the capture ends."""
    script = s.Script(0.04)
    script.transfer(script.open(), 2000, window=lambda acked: 500, line_bps=8e6)
    rows = script.frames(A)
    found = findings([row for row in rows if row[0] <= last_data_ns(rows)])[0]
    assert found.cause.code == "line"
    payload_bps = 8e6 * script.mss / (script.mss + s.HEADERS)
    assert found.measured == pytest.approx(payload_bps, rel=0.03)
    assert "limit-refuted" not in codes(found)


def last_data_ns(rows):
    """Return when the last frame with data was seen. [ns]"""
    return max(time_ns for time_ns, _, size_bytes in rows if size_bytes > 1000)


@pytest.mark.each("place", HALVES)
def test_no_stamps(place):
    """Without time stamps of TCP: the window is seen, or nothing is said."""
    cause = causes(windowed(stamped=False).frames(place))[0]
    assert cause.code in ("receiver-window", "unknown")


@pytest.mark.each("place", HALVES)
def test_a_mirror_port_that_copies_every_packet(place):
    """Every packet twice, 2 us apart: the path delivered none of them twice."""
    rows = windowed().frames(place)
    cause = causes([*rows, *((time_ns + 2000, *rest) for time_ns, *rest in rows)])[0]
    assert cause.code in ("receiver-window", "unknown")
    assert cause.sign("loss_ratio") == 0
