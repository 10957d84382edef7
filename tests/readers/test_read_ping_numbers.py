"""Every count, time and warning of a ping that its lines and its summary determine, by hand."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read_ping
from netcalc.readers.pings.ping_lines import (
    LONGEST,
    is_contradictory,
    is_noise,
    read_command,
    read_counts,
    read_header,
    read_line,
    read_spread,
    read_statistics_head,
    read_windows_counts,
    read_windows_spread,
    seconds,
    without_clock,
)

HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
BSD = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
WINDOWS = "Pinging 192.0.2.1 with 32 bytes of data:\n"


def line(sequence, milliseconds=0.5, size=64, more="", ttl=64):
    return (
        f"{size} bytes from 192.0.2.1: icmp_seq={sequence} ttl={ttl} time={milliseconds} ms{more}\n"
    )


@pytest.mark.each("digits", [6, 15, 400])
def test_a_sequence_number_of_many_digits_is_said(digits):
    samples = read_ping(HEAD + line(1) + line("9" * digits) + line(3))
    said = {notice.code: notice.values.get("numbers") for notice in samples.meta.warnings}
    assert said["sequence-too-large"] == [3]


def summary(sent, received, spread="0.500/0.500/0.500/0.000", more="", loss=None):
    share = 100 * (sent - received) / sent if loss is None else loss
    return (
        "\n--- 192.0.2.1 ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, {more}{share:g}% packet loss, time 9ms\n"
        + (f"rtt min/avg/max/mdev = {spread} ms\n" if spread else "")
    )


def reply(milliseconds, size=32, sign="=", ttl=57):
    return f"Reply from 192.0.2.1: bytes={size} time{sign}{milliseconds}ms TTL={ttl}\n"


def windows_end(sent, received, spread="Minimum = 10ms, Maximum = 30ms, Average = 20ms"):
    lost = sent - received
    share = 100 * lost // sent if sent else 0
    return (
        "\nPing statistics for 192.0.2.1:\n"
        f"    Packets: Sent = {sent}, Received = {received}, Lost = {lost} ({share}% loss),\n"
        "Approximate round trip times in milli-seconds:\n"
        f"    {spread}\n"
    )


def noted(samples):
    """The warnings of samples: code and values of each."""
    return [(notice.code, dict(notice.values)) for notice in samples.meta.warnings]


def without_summary(samples):
    """The warnings, without the one that a run has no summary."""
    return [one for one in noted(samples) if one[0] != "no-summary"]


# what is dropped is said, with its line


@pytest.mark.each(
    ("odd", "lines", "replies", "sent"),
    [
        ("64 bytes from 192.0.2.1: ttl=64 time=1 ms\n", [3], 2, 3),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1.0 parsec\n", [3], 2, 3),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1 ms 2 ms time=3 ms\n", [3], 2, 3),
        ("64 bytes from 192.0.2.1: icmp_seq=2 icmp_seq=3 ttl=64 time=1 ms\n", [3], 2, 3),
        ("7 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1 ms\n", [3], 2, 3),
        ("65544 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1 ms\n", [3], 2, 3),
        ("64 bytes from 192.0.2.1: icmp_seq=70000 ttl=64 time=1 ms\n", [3], 2, 3),
        ("from 192.0.2.1: icmp_seq=2 ttl=64 time=1 ms\n", [3], 2, 3),
        ("something else altogether\n", [3], 2, 3),
        ("x" * 601 + "\n", [3], 2, 3),
    ],
)
def test_a_line_that_cannot_be_read_is_named_by_its_number(odd, lines, replies, sent):
    samples = read_ping(HEAD + line(1) + odd + line(3) + summary(3, 3, ""))
    assert samples.best_s.tolist() == [0.5e-3] * replies
    assert samples.sent == sent
    assert any(values.get("numbers") == lines for _, values in noted(samples)), noted(samples)


def test_text_behind_the_numbers_is_named_and_the_numbers_are_read():
    samples = read_ping(HEAD + line(1) + line(2, 0.7, more=" and more") + summary(2, 2, ""))
    assert samples.best_s.tolist() == [0.5e-3, 0.7e-3]
    assert noted(samples) == [("text-after-numbers", {"numbers": [3]})]
    marks = read_ping(HEAD + line(1, more=" (truncated)!.") + summary(1, 1, ""))
    assert not marks.meta.warnings


@pytest.mark.each(
    ("printed_sent", "printed_received", "differing"),
    [
        (3, 3, [("received", 3, 2)]),
        (5, 2, []),
        (4, 1, [("received", 1, 2)]),
        (2, 2, []),
        (1, 1, [("sent", 1, 2), ("received", 1, 2)]),
    ],
)
def test_counts_of_the_summary_against_those_of_the_lines(
    printed_sent, printed_received, differing
):
    """By hand: two replies have a line; what was sent beyond them is lost."""
    samples = read_ping(HEAD + line(1) + line(2) + summary(printed_sent, printed_received, ""))
    assert samples.received == 2
    assert samples.sent == max(printed_sent, 2)
    beyond = [("sequence-beyond-sent", {"highest": 2, "sent": 1})] if printed_sent == 1 else []
    assert noted(samples) == beyond + [
        ("count-differs", {"quantity": quantity, "printed": printed, "counted": counted})
        for quantity, printed, counted in differing
    ]
    assert samples.meta.printed["sent"] == printed_sent
    assert samples.meta.printed["received"] == printed_received


@pytest.mark.each(("doubles", "differs"), [(1, False), (2, True), (0, True)])
def test_duplicates_of_the_summary_against_those_of_the_lines(doubles, differs):
    text = HEAD + line(1) + line(1, 0.9, more=" (DUP!)") + line(2)
    samples = read_ping(text + summary(2, 2, "", more=f"+{doubles} duplicates, "))
    assert (samples.sent, samples.received, samples.duplicates) == (2, 2, 1)
    assert samples.rtt_s.tolist() == [0.5e-3, 0.9e-3, 0.5e-3]
    assert samples.duplicate.tolist() == [False, True, False]
    counts = {"quantity": "duplicates", "printed": doubles, "counted": 1}
    assert noted(samples) == ([("count-differs", counts)] if differs else [])


def times_that_differ(samples):
    """Quantity, printed and computed time [ms] of each warning about one; there is no other."""
    found = []
    for code, values in noted(samples):
        if code == "time-differs":
            times = [round(values[name] * 1e3, 9) for name in ("printed_s", "computed_s")]
            found.append((values["quantity"], *times))
    return found


@pytest.mark.each(
    ("spread", "off"),
    [
        ("1.000/2.000/3.000/0.5", []),
        ("0.997/2.000/3.000/0.5", [("min", 0.997, 1)]),
        ("1.003/2.000/3.000/0.5", [("min", 1.003, 1)]),
        ("1.000/2.003/3.000/0.5", [("avg", 2.003, 2)]),
        ("1.000/1.997/3.000/0.5", [("avg", 1.997, 2)]),
        ("1.000/2.000/3.003/0.5", [("max", 3.003, 3)]),
        ("1.000/2.000/2.997/0.5", [("max", 2.997, 3)]),
        ("0.500/2.500/9.000/0.5", [("min", 0.5, 1), ("avg", 2.5, 2), ("max", 9, 3)]),
        ("1.001/2.001/3.001/0.5", []),
        ("0.999/1.999/2.999/0.5", []),
    ],
)
def test_times_of_the_summary_against_those_of_the_lines(spread, off):
    """By hand: 1, 2 and 3 ms to three digits; a digit off is rounding."""
    text = HEAD + line(1, "1.000") + line(2, "2.000") + line(3, "3.000")
    samples = read_ping(text + summary(3, 3, spread))
    assert times_that_differ(samples) == off
    assert len(noted(samples)) == len(off)
    least, mean, most, _ = (float(part) * 1e-3 for part in spread.split("/"))
    printed = samples.meta.printed
    assert (printed["rtt_min_s"], printed["rtt_avg_s"], printed["rtt_max_s"]) == pytest.approx(
        (least, mean, most), rel=1e-12
    )
    assert printed["rtt_mdev_s"] == pytest.approx(0.5e-3)


@pytest.mark.each(
    ("spread", "off"),
    [
        ("0.500/5.000/9.000/0.5", []),
        ("1.500/5.000/9.000/0.5", [("min", 1.5, 1)]),
        ("0.500/5.000/2.500/0.5", [("max", 2.5, 3)]),
    ],
)
def test_times_that_were_not_read_may_lie_outside_of_those_that_were(spread, off):
    text = HEAD + line(1, "1.000") + line(2).replace(" ms", " m") + line(3, "3.000")
    samples = read_ping(text + summary(3, 3, spread))
    assert times_that_differ(samples) == off


def test_duplicates_are_in_the_times_of_the_tool():
    text = HEAD + line(1, "1.000") + line(1, "4.000", more=" (DUP!)") + line(2, "1.000")
    samples = read_ping(text + summary(2, 2, "1.000/2.000/4.000/0.5", more="+1 duplicates, "))
    assert not samples.meta.warnings


def test_a_duplicate_does_not_stand_for_a_time_that_was_not_read():
    """By hand: 1, 4 (a duplicate) and 3 ms are read, and the tool had a fourth time."""
    text = HEAD + line(1, "1.000") + line(1, "4.000", more=" (DUP!)")
    text += line(2).replace(" ms", " m") + line(3, "3.000")
    for spread in ("1.000/2.100/4.000/0.5", "0.400/2.100/4.000/0.5", "1.000/4.000/9.000/0.5"):
        samples = read_ping(text + summary(3, 3, spread, more="+1 duplicates, "))
        assert times_that_differ(samples) == []
    samples = read_ping(text + summary(3, 3, "1.500/2.1/4.000/0.5", more="+1 duplicates, "))
    assert times_that_differ(samples) == [("min", 1.5, 1)]


@pytest.mark.each(("factor", "refused"), [(499.5, False), (500.5, True), (1 / 499.5, False),
                                                 (1 / 500.5, True)])  # fmt: skip
def test_a_gross_factor_between_lines_and_summary(factor, refused):
    spread = f"{1 / factor:.9f}/{1 / factor:.9f}/{2 / factor:.9f}/0"
    text = HEAD + line(1, "1.000000") + line(2, "2.000000") + summary(2, 2, spread)
    if refused:
        with pytest.raises(ReaderError) as caught:
            read_ping(text)
        assert (caught.value.line, caught.value.field, caught.value.unit) == (2, "time", "s")
    else:
        assert read_ping(text).received == 2


@pytest.mark.each(
    ("sent", "received", "loss", "fits"),
    [(10, 9, 10, True), (10, 9, 11, True), (10, 9, 11.2, False), (10, 9, 8.8, False),
     (10, 9, 9, True), (10, 10, 0, True), (10, 0, 50, False), (3, 2, 33, True)],
)  # fmt: skip
def test_a_summary_that_contradicts_itself(sent, received, loss, fits):
    counts = {"sent": sent, "received": received, "loss_ratio": loss / 100}
    assert is_contradictory(counts) != fits
    text = HEAD + "".join(line(n) for n in range(1, received + 1))
    samples_text = text + summary(sent, received, "", loss=loss)
    if fits:
        assert not read_ping(samples_text).meta.warnings
    elif received:
        printed = {"sent": sent, "received": received, "loss_ratio": pytest.approx(loss / 100)}
        assert ("contradictory-summary", printed) in noted(read_ping(samples_text))
    quiet = HEAD + summary(sent, received, "", loss=loss)
    if not fits and received:
        with pytest.raises(ReaderError) as caught:
            read_ping(quiet)
        assert (caught.value.line, caught.value.field) == (4, "received")
    elif received:
        assert read_ping(quiet).received == received


def test_what_contradicts_nothing():
    assert not is_contradictory({})
    assert not is_contradictory({"sent": 0, "received": 0, "loss_ratio": 0.5})
    assert not is_contradictory({"sent": 5, "loss_ratio": 0.5})
    assert not is_contradictory({"sent": 5, "received": 0})


# rows of a run with sequence numbers


@pytest.mark.each(
    ("head", "numbers", "counts", "expected"),
    [
        (HEAD, [1, 3], None, [1, 2, 3]),
        (HEAD, [3], None, [1, 2, 3]),
        (HEAD, [0, 2], None, [0, 1, 2]),
        (BSD, [1, 3], None, [0, 1, 2, 3]),
        (BSD, [1, 2, 3], (3, 3), [1, 2, 3]),
        (BSD, [0, 1, 2], (3, 3), [0, 1, 2]),
        (BSD, [0, 3], (4, 2), [0, 1, 2, 3]),
        (BSD, [1, 2], (4, 2), [0, 1, 2, 3]),
        ("", [5, 7], None, [5, 6, 7]),
        ("", [1, 2], (4, 2), [1, 2, 3, 4]),
        ("", [3], (4, 1), [1, 2, 3, 4]),
        (HEAD, [2], (2, 1), [1, 2]),
        (HEAD, [1], (4, 1), [1, 2, 3, 4]),
    ],
)
def test_numbers_of_the_probes(head, numbers, counts, expected):
    text = head + "".join(line(n) for n in numbers)
    samples = read_ping(text + (summary(*counts, "") if counts else ""))
    assert samples.sequence.tolist() == expected
    assert samples.lost.tolist() == [n not in numbers for n in expected]
    assert samples.sent == len(expected)
    assert samples.received == len(numbers)
    assert not np.isnan(samples.payload_bytes).any()


def test_the_columns_of_a_reply():
    text = HEAD + "[1700000000.250000] " + line(1, "250.0", ttl=57) + line(2, "0,75", ttl=300)
    samples = read_ping(text)
    assert samples.sent_s[0] == pytest.approx(1_700_000_000.0, abs=1e-6)
    assert np.isnan(samples.sent_s[1])
    assert samples.ttl[0] == 57
    assert np.isnan(samples.ttl[1]), "above 255"
    assert samples.rtt_s.tolist() == [0.25, 0.75e-3]
    assert samples.resolution_s.tolist() == [1e-4, 1e-5]
    assert samples.payload_bytes.tolist() == [56, 56]


@pytest.mark.each(
    ("head", "sizes", "payloads", "said"),
    [
        (HEAD, [64, 64], [56, 56], []),
        (HEAD, [64, 72], [56, 56], [("long-replies", 3)]),
        (HEAD, [60, 64], [56, 56], [("short-replies", 2)]),
        ("", [64, 108], [56, 100], []),
        ("PING 192.0.2.1 (192.0.2.1): (8 ... 16) data bytes\n", [16, 24], [8, 16], []),
        (BSD, [64, 64], [56, 56], []),
    ],
)
def test_sizes_of_header_and_replies(head, sizes, payloads, said):
    first = 0 if "..." in head or "data bytes" in head else 1
    samples = read_ping(head + "".join(line(first + n, size=size) for n, size in enumerate(sizes)))
    assert samples.payload_bytes.tolist() == payloads
    assert without_summary(samples) == [
        (code, {"reply_bytes": 64, "payload_bytes": 56, "numbers": [number]})
        for code, number in said
    ]


@pytest.mark.each(
    ("numbers", "expected"),
    [
        ([65_534, 65_535, 0, 1], [65_534, 65_535, 65_536, 65_537]),
        ([65_535, 1], [65_535, 65_536, 65_537]),
        ([1, 0], [0, 1]),
        ([65_535, 0, 65_534], [65_534, 65_535, 65_536]),
    ],
)
def test_numbers_that_wrap(numbers, expected):
    samples = read_ping("".join(line(n) for n in numbers))
    assert samples.sequence.tolist() == expected


@pytest.mark.each(("odd", "kept"), [(1003, True), (1004, False), (32_000, False)])
def test_a_number_far_ahead_of_its_neighbours(odd, kept):
    """By hand: between 2 and 3 a number more than 1000 ahead of both is damaged."""
    samples = read_ping(HEAD + line(1) + line(2) + line(odd) + line(3) + line(4))
    assert samples.best_s.size == (5 if kept else 4)
    assert (max(samples.sequence) == odd) == kept


@pytest.mark.each(
    ("last", "sent", "kept"), [(1003, 1050, True), (1100, 1050, False), (1100, 1100, True)]
)
def test_a_last_number_beyond_what_was_sent(last, sent, kept):
    samples = read_ping(HEAD + line(1) + line(2) + line(last) + summary(sent, 3, ""))
    assert samples.best_s.size == (3 if kept else 2)
    assert samples.sent == sent


@pytest.mark.each(
    ("events", "counts", "lost", "errors"),
    [
        (["From 192.0.2.9 icmp_seq=2 Destination Host Unreachable\n"], (3, 2), [2], [2]),
        (["From 192.0.2.9 icmp_seq=2 Destination Host Unreachable\n"], None, [2], [2]),
        (["no answer yet for icmp_seq=2\n"], (3, 2), [2], []),
        (["From 192.0.2.9: icmp_seq=2 Redirect Host(New nexthop: 192.0.2.8)\n"], (3, 2), [2], []),
        (["36 bytes from 192.0.2.9: Destination Host Unreachable\n"], (3, 2), [2], [2]),
        (["ping: local error: message too long, mtu=1500\n"], (3, 2), [2], [2]),
    ],
)
def test_probes_without_an_echo(events, counts, lost, errors):
    text = HEAD + line(1) + "".join(events) + line(3)
    samples = read_ping(text + (summary(*counts, "") if counts else ""))
    assert samples.sequence[samples.lost].tolist() == lost
    assert samples.sequence[samples.error_reply].tolist() == errors
    assert (samples.sent, samples.received, samples.errors) == (3, 2, len(errors))
    assert np.isnan(samples.rtt_s[samples.lost]).all()


def test_errors_without_a_number_among_more_losses():
    # one error of unknown number, two lost: it is counted and no row is marked
    text = HEAD + line(1) + "36 bytes from 192.0.2.9: Destination Host Unreachable\n" + line(4)
    samples = read_ping(text + summary(4, 2, ""))
    assert samples.error_reply.tolist() == [False] * 4
    assert samples.errors == 1
    printed = read_ping(HEAD + line(1) + summary(4, 1, "", more="+2 errors, "))
    assert (printed.errors, printed.error_reply.sum()) == (2, 0)
    more = read_ping(HEAD + line(1) + summary(2, 1, "", more="+9 errors, "))
    assert more.errors == 1, "no more than were lost"


def test_damaged_lines_between_two_numbers_stand_for_their_probes():
    broken = "64 bytes from 192.0.2.1: error - strange\n"
    fits = read_ping(HEAD + line(1) + broken + broken + line(4) + summary(4, 4, ""))
    assert (fits.sent, fits.received, fits.best_s.size) == (4, 4, 2)
    ends = read_ping(HEAD + broken + line(2) + broken + summary(3, 3, ""))
    assert (ends.sent, ends.received, ends.best_s.size) == (3, 3, 1)
    open_end = read_ping(HEAD + line(1) + line(2) + broken)
    assert (open_end.sent, open_end.received) == (2, 2), "nobody knows how many were sent"
    too_few = read_ping(HEAD + line(1) + broken + line(4) + summary(4, 4, ""))
    assert (too_few.sent, too_few.received) == (4, 2)
    counts = {"quantity": "received", "printed": 4, "counted": 2}
    assert ("count-differs", counts) in noted(too_few)


def test_a_damaged_line_with_a_number_and_a_size_was_answered():
    samples = read_ping(HEAD + line(1) + line(2).replace(" ms", " parsec") + summary(2, 2, ""))
    assert (samples.sent, samples.received, samples.best_s.size) == (2, 2, 1)
    sizeless = "from 192.0.2.1: icmp_seq=2 ttl=64 time=1 ms\n"
    lost = read_ping(HEAD + line(1) + sizeless + line(3) + summary(3, 2, ""))
    assert lost.lost.tolist() == [False, True, False]


def test_a_bad_checksum_answers_nothing():
    text = HEAD + line(1) + line(2, more=" (BAD CHECKSUM!)") + line(2) + line(3) + summary(3, 3, "")
    samples = read_ping(text)
    assert (samples.received, samples.duplicates) == (3, 0)
    assert noted(samples) == [("bad-checksums", {"numbers": [3]})]


@pytest.mark.each(("first", "sent", "received", "rows"), [(8, 10, 9, 3), (8, 10, 2, 10)])
def test_the_beginning_that_is_not_in_the_file(first, sent, received, rows):
    """By hand: two replies have a line; if more came, those before were not lost."""
    samples = read_ping(line(first) + line(10) + summary(sent, received, ""))
    assert (len(samples), samples.sent, samples.received) == (rows, sent, received)
    expected = list(range(11 - rows, 11))
    assert samples.sequence.tolist() == expected


@pytest.mark.each(
    ("first", "sent", "row"),
    [
        (1000, None, 0), (1001, None, 1001), (5000, None, 5000),
        # from 0 to 1001 are 1002 probes: 1001 cannot have begun at 0
        (1001, 1002, 0), (1001, 1001, 1001), (1001, 5, 1001), (1000, 1001, 0), (1000, 5, 0),
    ],
)  # fmt: skip
def test_a_run_whose_first_number_is_above_1000_may_have_begun_with_it(first, sent, row):
    """Numbers of BSD are from 0; without a summary 1000 lost probes are the most in front."""
    samples = read_ping(BSD + line(first) + ("" if sent is None else summary(sent, 1, "")))
    assert samples.sequence[0] == row
    late = [("sequence-begins-late", {"first": first})]
    assert [one for one in noted(samples) if one[0] == late[0][0]] == (late if row else [])
    if sent is None:
        assert samples.sent == 1 + first - row


def test_counts_of_a_summary_without_lines():
    samples = read_ping(HEAD + summary(20, 15, "", more="+3 errors, "))
    assert (samples.sent, samples.received, samples.errors, len(samples)) == (20, 15, 3, 0)
    none = read_ping(HEAD + summary(20, 0, ""))
    assert (none.sent, none.received, len(none)) == (20, 0, 20)
    assert none.lost.all()
    limit = read_ping(HEAD + summary(1_000_001, 0, ""))
    assert (limit.sent, limit.received, len(limit)) == (1_000_001, 0, 0)


# Windows


@pytest.mark.each(
    ("text", "rtt_ms", "resolution_ms", "size", "ttl"),
    [
        (reply(14), 14, 1, 32, 57), (reply(1, sign="<"), 0.5, 1, 32, 57),
        (reply(7, size=1400, ttl=255), 7, 1, 1400, 255),
        ("Antwort von 192.0.2.1: Bytes=32 Zeit=14ms TTL=0\n", 14, 1, 32, 0),
        ("Reply from 2001:db8::1: time=3ms\n", 3, 1, None, None),
        ("Respuesta desde 192.0.2.1: bytes=32 tiempo<1m TTL=64\n", 0.5, 1, 32, 64),
    ],
)  # fmt: skip
def test_replies_of_windows(text, rtt_ms, resolution_ms, size, ttl):
    found = read_line(text.strip())
    assert (found.kind, found.sequence) == ("reply", None)
    assert found.rtt_s == pytest.approx(rtt_ms * 1e-3)
    assert found.resolution_s == pytest.approx(resolution_ms * 1e-3)
    assert (found.size, found.ttl) == (size, ttl)


def test_a_run_of_windows():
    text = WINDOWS + reply(10) + "Request timed out.\n" + reply(30, size=16) + reply(20)
    samples = read_ping(text + windows_end(4, 3))
    assert (samples.sent, samples.received, samples.errors) == (4, 3, 0)
    assert samples.lost.tolist() == [False, True, False, False]
    assert samples.best_s.tolist() == [0.01, 0.03, 0.02]
    assert samples.payload_bytes.tolist() == [32, 32, 16, 32]
    assert samples.ttl.tolist()[2:] == [57, 57]
    assert samples.meta.printed["rtt_avg_s"] == pytest.approx(0.02)
    assert samples.meta.printed["loss_ratio"] == 0.25
    assert not samples.meta.warnings
    assert not samples.meta.partial


@pytest.mark.each(
    ("sent", "received", "rows", "unlisted", "differs"),
    [(2, 2, 2, 0, False), (4, 2, 4, 2, False), (2, 1, 2, 0, True), (5, 4, 5, 3, True)],
)
def test_counts_of_windows_against_its_lines(sent, received, rows, unlisted, differs):
    samples = read_ping(WINDOWS + reply(10) + reply(30) + windows_end(sent, received))
    assert (samples.sent, samples.received, len(samples)) == (rows, 2, rows)
    expected = [("probes-without-line", {"count": unlisted})] if unlisted else []
    if differs:
        counts = {"quantity": "received", "printed": received, "counted": 2}
        expected.append(("count-differs", counts))
    assert [one for one in noted(samples) if one[0] != "time-differs"] == expected
    assert samples.payload_bytes.tolist() == [32] * rows


def test_what_windows_calls_a_reply_and_is_an_error():
    unreachable = "Reply from 192.0.2.9: Destination host unreachable.\n"
    samples = read_ping(WINDOWS + reply(10) + unreachable + reply(30) + windows_end(3, 3))
    assert (samples.sent, samples.received, samples.errors) == (3, 2, 1)
    assert samples.error_reply.tolist() == [False, True, False]
    counts = {"counted": 3, "count": 1, "answered": 2}
    assert ("errors-counted-as-replies", counts) in noted(samples)
    counted = read_ping(WINDOWS + reply(10) + unreachable + reply(30) + windows_end(3, 2))
    said = {"node": "192.0.2.9", "message": "Destination host unreachable", "numbers": [3]}
    assert noted(counted) == [("error-host", said)]


def test_other_words_than_timeouts_are_dropped_with_their_lines():
    text = WINDOWS + "Hello there\n" + reply(10) + "Request timed out.\n" + "Another word\n"
    samples = read_ping(text + windows_end(2, 1, "Minimum = 10ms, Maximum = 10ms, Average = 10ms"))
    assert samples.lost.tolist() == [False, True]
    assert noted(samples) == [("not-about-a-probe", {"numbers": [2, 5]})]


# lines one by one


@pytest.mark.each(
    ("number", "unit", "expected"),
    [
        ("0.481", "ms", (0.000481, 1e-6)), ("12", "ms", (0.012, 1e-3)), ("1,5", "s", (1.5, 0.1)),
        ("3", "us", (3e-6, 1e-6)), ("2.50", "usec", (2.5e-6, 1e-8)), ("7", "MS", (0.007, 1e-3)),
        ("7", "sec", (7.0, 1.0)), ("7.", "ms", (0.007, 1e-3)), ("7", "parsec", None),
        ("9", "мкс", (9e-6, 1e-6)), ("9", "毫秒", (9e-3, 1e-3)), ("9", "", None),
    ],
)  # fmt: skip
def test_printed_times(number, unit, expected):
    found = seconds(number, unit)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-15))


@pytest.mark.each(
    ("text", "kind", "sequence", "size"),
    [
        ("64 bytes from 192.0.2.1: icmp_seq=5 ttl=64 time=1 ms", "reply", 5, 64),
        ("8 bytes from 192.0.2.1: icmp_seq=0 ttl=64", "reply", 0, 8),
        ("65543 bytes from 192.0.2.1: icmp_seq=65535 ttl=64 time=1 ms", "reply", 65_535, 65_543),
        ("65544 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1 ms", "damaged", 1, None),
        ("64 bytes from 192.0.2.1: icmp_seq=65536 ttl=64 time=1 ms", "damaged", None, None),
        ("64 bytes from 192.0.2.1: seq=3 ttl=64 time=1 ms", "reply", 3, 64),
        ("64 bytes from 192.0.2.1: icmp_req=3 ttl=64 time=1 ms", "reply", 3, 64),
        ("64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=1", "damaged", 3, 64),
        ("64 bytes from 192.0.2.1: icmp_seq=3 ttl=64", "reply", 3, 64),
        ("From 192.0.2.9 icmp_seq=3 Destination Host Unreachable", "error", 3, None),
        ("From 192.0.2.9 icmp_seq=3 Redirect Host(New nexthop: 192.0.2.8)", "redirect", 3, None),
        ("no answer yet for icmp_seq=3", "waiting", 3, None),
        ("36 bytes from 192.0.2.9: Time to live exceeded", "error", None, 36),
        ("36 bytes from 192.0.2.9: strange", "damaged", None, 36),
        ("Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst", "dump", None, None),
        (" 4  5  00 5400 1234   0 0000  01  01 abcd 192.0.2.1  192.0.2.2", "dump", None, None),
        ("ICMP: type 8, code 0, size 64, id 0x1234, seq 0x0010", "dump", 16, None),
        ("x" * LONGEST, None, None, None),
        ("plain words", None, None, None),
    ],
)
def test_kinds_of_lines(text, kind, sequence, size):
    found = read_line(text)
    if kind is None:
        assert found is None
        return
    assert (found.kind, found.sequence) == (kind, sequence)
    if kind in ("reply", "error") or size is not None:
        assert found.size == size


def test_the_longest_line():
    start = "64 bytes from 192.0.2.1: icmp_seq=5 ttl=64 time=1 ms"
    assert read_line(start + " " * (LONGEST - len(start))).kind == "reply"
    assert read_line(start + " " * (LONGEST + 1 - len(start))) is None
    assert LONGEST == 600


@pytest.mark.each(
    ("text", "dialect", "target", "size"),
    [
        ("PING h.example (192.0.2.1) 56(84) bytes of data.", "iputils", "h.example", 56),
        ("PING h.example (192.0.2.1) 0(28) bytes of data.", "iputils", "h.example", 0),
        ("PING h.example (192.0.2.1) 65535(65563) bytes of data.", "iputils", "h.example", 65_535),
        ("PING h.example (192.0.2.1) 65536(65564) bytes of data.", "iputils", "h.example", None),
        ("PING h.example (192.0.2.1) 56(64) bytes of data.", "iputils", "h.example", 56),
        ("PING h.example (192.0.2.1) 56(104) bytes of data.", "iputils", "h.example", 56),
        ("PING h.example (192.0.2.1) 56(85) bytes of data.", "iputils", "h.example", None),
        ("PING h.example (192.0.2.1): 64 data bytes", "BSD", "h.example", 64),
        ("PING h.example (192.0.2.1): (8 ... 90) data bytes", "sweep", "h.example", None),
        ("PING6(56=40+8+8 bytes) 2001:db8::1 --> 2001:db8::2", "PING6", "2001:db8::2", 8),
        ("Ping h.example (192.0.2.1): 56(84) bytes.", "toybox", "h.example", 56),
        ("Pinging h.example [192.0.2.1] with 32 bytes of data:", "Windows", "h.example", 32),
        ("Pinging 192.0.2.1 with 1400 bytes of data:", "Windows", "192.0.2.1", 1400),
    ],
)  # fmt: skip
def test_headers_of_every_dialect(text, dialect, target, size):
    found = read_header(text)
    assert (found.dialect, found.target, found.size) == (dialect, target, size)
    assert found.sizes_vary == (dialect == "sweep")
    assert read_header(text + " icmp_seq=1") is None
    assert read_header(text.ljust(LONGEST + 1)) is None


@pytest.mark.each(
    ("text", "expected"),
    [
        ("10 packets transmitted, 9 received, 10% packet loss, time 9012ms",
         {"sent": 10, "received": 9, "loss_ratio": 0.1, "duration_s": 9.012}),
        ("10 packets transmitted, 7 received, +2 duplicates, +1 errors, 30% packet loss",
         {"sent": 10, "received": 7, "duplicates": 2, "errors": 1, "loss_ratio": 0.3}),
        ("3 packets transmitted, 3 packets received, 0.0% packet loss",
         {"sent": 3, "received": 3, "loss_ratio": 0.0}),
        ("3 packets transmitted, 2 received, +1 corrupted, 33,3% packet loss",
         {"sent": 3, "received": 2, "corrupted": 1, "loss_ratio": 0.333}),
        ("0 packets transmitted, 0 received, 0% packet loss",
         {"sent": 0, "received": 0, "loss_ratio": 0.0}),
        ("5 packets transmitted, 9 packets received, -- somebody's printing up packets!",
         {"sent": 5, "received": 9}),
        ("4 packets transmitted, 4 packets received, 2 duplicates, 0% packet loss",
         {"sent": 4, "received": 4, "duplicates": 2, "loss_ratio": 0.0}),
        ("5 packets transmitted, 9 received, 0% packet loss", None),
        ("5 packets transmitted, 0% packet loss", None),
        ("5 packets transmitted, 5 received", None),
    ],
)  # fmt: skip
def test_counts_of_a_summary(text, expected):
    assert read_counts(text) == (None if expected is None else pytest.approx(expected))


@pytest.mark.each(
    ("text", "expected"),
    [
        ("rtt min/avg/max/mdev = 0.1/0.2/0.3/0.4 ms", [0.1, 0.2, 0.3, 0.4]),
        ("round-trip min/avg/max = 1.5/2.5/3.5 ms", [1.5, 2.5, 3.5]),
        ("round-trip min/avg/max/stddev = 1/2/3/nan ms", [1, 2, 3]),
        ("round-trip (ms)  min/avg/max = 1/2/3", [1, 2, 3]),
        ("rtt min/avg/max/mdev = 1/2/3/4", None),
        ("rtt min/avg/max/mdev = 1/2/3/4 parsec", None),
        ("min = 1 ms, avg = 2 ms, max = 3 ms", [1, 2, 3]),
        ("min = 1 ms, avg = 2 xs, max = 3 ms", None),
    ],
)
def test_times_of_a_summary(text, expected):
    found = read_spread(text)
    if expected is None:
        assert found is None
        return
    names = ("rtt_min_s", "rtt_avg_s", "rtt_max_s", "rtt_mdev_s")
    times = [1e-3 * one for one in expected]
    assert found == pytest.approx(dict(zip(names, times, strict=False)))


def test_summaries_of_windows():
    counts = read_windows_counts("    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),")
    assert counts == {"sent": 4, "received": 3, "loss_ratio": 0.25}
    assert read_windows_counts("    Packets: Sent = 4, Received = 3, Lost = 2 (50% loss),") is None
    nothing = read_windows_counts("    Packets: Sent = 0, Received = 0, Lost = 0 (0% loss),")
    assert math.isnan(nothing["loss_ratio"])
    spread = "    Minimum = 56ms, Maximum = 194ms, Average = 107ms"
    assert read_windows_counts(spread) is None
    assert read_windows_spread(spread) == pytest.approx(
        {"rtt_min_s": 0.056, "rtt_max_s": 0.194, "rtt_avg_s": 0.107}
    )
    assert read_windows_spread("Minimum = 56xs, Maximum = 194ms, Average = 107ms") is None
    assert read_statistics_head("--- h.example ping statistics ---") == "h.example ping statistics"
    assert read_statistics_head("-- h.example ping statistics --") is None


@pytest.mark.each(
    ("text", "rest"),
    [
        ("Nov 21 03:52:00 64 bytes", "64 bytes"), ("> > 64 bytes", "64 bytes"),
        ("[2026-11-21 03:52:00] 64 bytes", "64 bytes"), ("64 bytes", "64 bytes"),
        ("2026-11-21T03:52:00.5Z 64 bytes", "64 bytes"),
    ],
)  # fmt: skip
def test_a_clock_in_front_is_taken_off(text, rest):
    assert without_clock(text) == rest
    assert without_clock("03:52:00 " + "x" * LONGEST) == "03:52:00 " + "x" * LONGEST


@pytest.mark.each(
    ("text", "command"),
    [
        ("user@host:~$ ping -c 2 192.0.2.1", "ping -c 2 192.0.2.1"),
        ("# /bin/ping6 ::1", "/bin/ping6 ::1"), ("ping h.example", "ping h.example"),
        ("ping: unknown host", None), ("64 bytes", None),
    ],
)  # fmt: skip
def test_a_command_is_read_without_its_prompt(text, command):
    assert read_command(text) == command


@pytest.mark.each(
    ("text", "noise"),
    [
        ("", True), ("  ", True), ("^C", True), ("pipe 2", True), ("words", False),
        ("1/2 packets, 50% loss", True),
    ],
)  # fmt: skip
def test_lines_that_carry_nothing(text, noise):
    assert is_noise(text) == noise


# files


def test_the_last_line_that_is_cut():
    whole = HEAD + line(1) + line(2)
    assert read_ping(whole).received == 2
    without_end = read_ping(whole[:-1])
    assert (without_end.received, without_end.meta.partial) == (2, True)
    short = read_ping(whole[: -len(" ms\n")])
    assert (short.received, short.meta.partial) == (1, True)


@pytest.mark.each(
    ("texts", "expected"),
    [
        ([HEAD + line(1) + summary(1, 1)], 0),
        ([HEAD + line(1) + summary(1, 1), HEAD + line(1) + line(2) + summary(2, 2)], 2),
        ([line(1) + line(2), line(1) + line(2)], 2),
        ([HEAD + line(1) + summary(1, 1), line(1) + summary(1, 1)], 2),
    ],
)
def test_runs_in_one_file(texts, expected):
    samples = read_ping("".join(texts))
    ones = [read_ping(text) for text in texts]
    assert samples.sent == sum(one.sent for one in ones)
    assert samples.received == sum(one.received for one in ones)
    assert samples.rtt_s.tolist() == [rtt for one in ones for rtt in one.rtt_s.tolist()]
    found = re.findall(r"^\d+", samples.meta.note)
    assert found == ([str(expected)] if expected else [])


def test_summaries_of_several_runs_add_up():
    one = HEAD + line(1, "1.0") + summary(2, 1, "1.0/1.0/1.0/0.0", more="+1 errors, ")
    two = HEAD + line(1, "3.0") + line(2, "5.0") + summary(2, 2, "3.0/4.0/5.0/1.0")
    printed = read_ping(one + two).meta.printed
    assert (printed["sent"], printed["received"], printed["errors"]) == (4, 3, 1)
    assert (printed["rtt_min_s"], printed["rtt_max_s"]) == pytest.approx((1e-3, 5e-3))
    assert "duplicates" not in printed
    assert [run["sent"] for run in printed["runs"]] == [2, 2]


@pytest.mark.each(
    ("text", "tool"),
    [
        (HEAD + line(1) + summary(1, 1), "iputils"),
        (BSD + line(0) + summary(1, 1).replace("0%", "0.0%"), "BSD or macOS"),
        (BSD + line(0) + summary(1, 1), "inetutils"),
        (BSD + line(0) + summary(1, 1, "0.5/0.5/0.5"), "BusyBox"),
        (BSD + line(0).replace("icmp_seq", "seq") + summary(1, 1), "BusyBox"),
        (WINDOWS + reply(10) + windows_end(1, 1), "Windows"),
        (reply(10), "Windows"),
    ],
)
def test_the_tool_by_what_it_prints(text, tool):
    assert tool in read_ping(text).meta.tool


# limits and places


def test_the_longest_header_of_windows():
    text = "Pinging 192.0.2.1" + " " * 360 + "with 32 bytes of data:"
    text = text.replace(" with", " " * (400 - len(text)) + " with")
    assert len(text) == 400
    assert read_header(text).size == 32
    assert read_header(text.replace(" with", "  with")) is None
    assert read_header("64 bytes from 192.0.2.1 with 32 bytes:") is None


@pytest.mark.each(
    ("text", "kind"),
    [
        ("Error: icmp_seq=3 unreachable", None),
        ("Some error icmp_seq=3 unreachable", "error"),
        ("192.0.2.9 icmp_seq=3 unreachable", "error"),
        ("192.0.2.9 icmp_seq=3", "waiting"),
        ("icmp_seq=3 timed out", "waiting"),
        ("From 192.0.2.9 icmp_seq=3 ttl=64", "damaged"),
        ("From 192.0.2.9 icmp_seq=3 took=5 ms", "damaged"),
        ("From 192.0.2.9: Destination Host Unreachable", "error"),
        ("From 192.0.2.9: Redirect Host(New nexthop: 192.0.2.8)", "redirect"),
        ("From 192.0.2.9: all is well", None),
        ("64 bytes from 192.0.2.1: icmp_seq=3 Time to live exceeded", "error"),
    ],
)
def test_answers_that_are_no_echo(text, kind):
    found = read_line(text)
    assert (None if found is None else found.kind) == kind


@pytest.mark.each(
    ("text", "kind", "size"),
    [
        (reply(5, size=65_535), "reply", 65_535), (reply(5, size=65_536), "damaged", None),
        ("Reply from 192.0.2.1: bytes=32 TTL=57", "damaged", None),
        ("Reply from 192.0.2.1: bytes=32 time=5xs TTL=57", "damaged", None),
        ("From 192.0.2.1: bytes=32 time=5ms TTL=57", None, None),
        ("192.0.2.1: time=5ms win=1024", None, None),
    ],
)  # fmt: skip
def test_sizes_of_windows(text, kind, size):
    found = read_line(text.strip())
    assert (None if found is None else found.kind) == kind
    if found is not None:
        assert found.size == size


@pytest.mark.each(("ttl", "known"), [(0, True), (255, True), (256, False)])
def test_the_largest_ttl(ttl, known):
    assert read_line(line(1, ttl=ttl).strip()).ttl == (ttl if known else None)


@pytest.mark.each(
    ("more", "duplicate", "corrupt", "fault"),
    [
        ("", False, False, False), (" (DUP!)", True, False, False), ("!", False, False, False),
        (" (BAD CHECKSUM!)", False, True, False), (" or so", False, False, True),
        (" (DUP!) (BAD CHECKSUM!)", True, True, False),
    ],
)  # fmt: skip
def test_marks_behind_the_numbers(more, duplicate, corrupt, fault):
    found = read_line(line(1, more=more).strip())
    assert (found.marked_duplicate, found.corrupt, bool(found.fault)) == (duplicate, corrupt, fault)
    assert (found.rtt_s, found.ttl) == (0.5e-3, 64)


def test_lines_that_ran_into_one_stand_for_as_many_probes():
    two = read_line("64 bytes: icmp_seq=1 ttl=64 ti64 bytes: icmp_seq=2 ttl=64 time=1 ms")
    assert (two.kind, two.stands_for) == ("damaged", 2)
    text = HEAD + line(1) + line(2)[:-8] + line(3)[:-8] + line(4) + line(5) + summary(5, 5, "")
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.best_s.size) == (5, 5, 2)


def test_the_counts_that_fit_the_loss_are_taken():
    # a number in front of them: 10 and 9 are 10%, 2 and 10 are not
    found = read_counts("Run 2 10 packets transmitted, 9 received, 10% packet loss")
    assert (found["sent"], found["received"]) == (10, 9)
    odd = read_counts("10 packets transmitted, 9 received, 50% packet loss")
    assert (odd["sent"], odd["received"], odd["loss_ratio"]) == (10, 9, 0.5)
    assert read_counts("10 packets transmitted, 8 received, %20 packet loss")["loss_ratio"] == 0.2


def test_messages_of_the_program_are_counted():
    message = "ping: sendmsg: No buffer space available\n"
    one = read_ping(HEAD + message + line(1) + summary(1, 1, ""))
    assert noted(one) == [
        ("ping-message", {"message": message.strip(), "numbers": [2]}),
        ("probes-unsent", {"numbers": [2]}),
    ]
    three = read_ping(HEAD + message * 3 + line(1) + summary(1, 1, ""))
    assert noted(three) == [
        ("ping-message", {"message": message.strip(), "numbers": [2, 3, 4]}),
        ("probes-unsent", {"numbers": [2, 3, 4]}),
    ]
    with pytest.raises(ReaderError) as caught:
        read_ping("\n" + message)
    assert caught.value.line == 2


@pytest.mark.each(
    ("text", "partial"),
    [
        (HEAD + line(1) + summary(1, 1), False),
        (HEAD + line(1) + summary(1, 1, ""), True),
        (HEAD + line(1), True),
        (HEAD + line(1).replace(" time=0.5 ms", "") + summary(1, 1, ""), False),
        (HEAD + summary(2, 0, ""), False),
        (HEAD + line(1) + summary(1, 1) + HEAD + line(1), True),
    ],
)
def test_what_is_only_a_part_of_a_run(text, partial):
    assert read_ping(text).meta.partial == partial


@pytest.mark.each(
    ("lines", "rows", "received", "runs"),
    [
        ([line(1), line(2), line(1), line(2)], 4, 4, True),
        ([line(1), line(1)], 2, 1, False),
        ([line(1), line(2), line(2)], 3, 2, False),
        ([line(1), line(2), line(1, more=" (DUP!)")], 3, 2, False),
        ([line(1), line(2), line(1, size=100)], 3, 3, True),
        ([line(1), line(2), line(2, size=100)], 3, 3, True),
        ([line(5), line(6), line(5), line(6)], 4, 4, True),
    ],
)
def test_where_another_run_begins(lines, rows, received, runs):
    """Without headers: where numbers begin again, or a number has another size."""
    samples = read_ping("".join(lines))
    assert (len(samples), samples.received) == (rows, received)
    assert bool(samples.meta.note) == runs


def test_a_reply_behind_a_summary_is_another_run():
    samples = read_ping(HEAD + line(1) + summary(1, 1) + line(7))
    assert samples.sequence.tolist() == [1, 7]
    assert (samples.sent, samples.received) == (2, 2)


def test_a_dump_makes_an_error_of_the_line_above_it():
    text = (
        BSD + line(0) + "36 bytes from 192.0.2.9: Odd words\n"
        "Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst\n"
        " 4  5  00 5400 1234   0 0000  01  01 abcd 192.0.2.1  192.0.2.2\n"
        "ICMP: type 8, code 0, size 64, id 0x1234, seq 0x0001\n" + line(2)
    )  # fmt: skip
    samples = read_ping(text + summary(3, 2, ""))
    assert samples.error_reply.tolist() == [False, True, False]
    assert (samples.received, samples.errors) == (2, 1)


@pytest.mark.each(
    ("end", "received", "ttl"),
    [
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.5 ms", 2, [64, 64]),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=64", 1, [64]),
        ("64 bytes from 192.0.2.1: icmp_seq=2 ttl=6", 1, [64]),
        ("From 192.0.2.9 icmp_seq=2 Destination Host Unreachable", 1, [64]),
        ("no answer yet for icmp_seq=2", 1, [64]),
    ],
)
def test_a_last_line_without_its_end(end, received, ttl):
    samples = read_ping(HEAD + line(1) + end)
    assert samples.received == received
    assert samples.ttl[~np.isnan(samples.ttl)].tolist() == ttl
    assert samples.errors == int("Unreachable" in end)
    assert samples.meta.partial


def test_a_last_line_of_a_ping_that_prints_no_times():
    """Four bytes of user data hold no time stamp; the last digit of the ttl may be missing."""
    head = "PING 192.0.2.1 (192.0.2.1) 4(32) bytes of data.\n"
    row = "12 bytes from 192.0.2.1: icmp_seq={} ttl=64"
    whole = read_ping(head + row.format(1) + "\n" + row.format(2))
    assert (whole.received, len(whole)) == (2, 2)
    cut = read_ping(head + row.format(1) + "\n" + row.format(2) + " (DU")
    assert (cut.received, len(cut)) == (1, 1), "it may be a duplicate"


def test_a_clock_and_the_start_by_hand():
    text = HEAD + "[1700000001.500000] " + line(2, 500) + "[1700000000.750000] " + line(1, 250)
    meta = read_ping(text).meta
    assert meta.start == "2023-11-14T22:13:20.500000+00:00"
    assert meta.clock
    bare = read_ping(HEAD + line(1)).meta
    assert (bare.start, bare.clock, bare.note) == ("", "", "")


def test_targets_and_commands_of_a_file():
    other = HEAD.replace("192.0.2.1 (", "h.example (")
    text = "$ ping -c 1 192.0.2.1\n" + HEAD + line(1) + summary(1, 1) + "$ ping h.example\n"
    meta = read_ping(text + other + line(1) + summary(1, 1)).meta
    assert meta.target == "192.0.2.1, h.example"
    assert meta.command == "ping -c 1 192.0.2.1"
    twice = read_ping((HEAD + line(1) + summary(1, 1)) * 2).meta
    assert twice.target == "192.0.2.1"
    long = read_ping("$ ping " + "x" * 300 + "\n" + HEAD + line(1)).meta
    assert 190 < len(long.command) <= 203


def test_warnings_name_the_runs_they_are_about():
    good = HEAD + line(1) + summary(1, 1)
    bad = HEAD + line(1) + summary(2, 2, "")
    samples = read_ping(good + bad + good + bad)
    counts = {"quantity": "received", "printed": 2, "counted": 1, "run_numbers": [2, 4]}
    assert noted(samples) == [("count-differs", counts)]
    (notice,) = samples.meta.warnings
    assert str(notice) == "runs 2, 4: the summary says 2 received, the lines show 1"


def test_a_file_of_other_words_is_no_ping():
    from netcalc.readers.pings.ping import looks_like_ping

    words = ["words"] * 401
    assert looks_like_ping([*words[:400], line(1)])
    assert not looks_like_ping([*words, line(1)])
    assert not looks_like_ping([])
    assert not looks_like_ping(["x" * 700])
    assert looks_like_ping(["x" * 700, HEAD])
    assert looks_like_ping(["--- h.example ping statistics ---"])
    assert looks_like_ping(["ping: unknown host"])


@pytest.mark.each(
    "title",
    ["Ping statistics for 192.0.2.1:", "Ping-Statistik für 192.0.2.1:",
     "Estadísticas de ping para 192.0.2.1:", "192.0.2.1 的 Ping 统计信息:"],
)  # fmt: skip
def test_a_summary_of_windows_alone_has_a_title(title):
    samples = read_ping(f"{title}\n    Packets: Sent = 10, Received = 9, Lost = 1 (10% loss),\n")
    assert (samples.sent, samples.received) == (10, 9)
    assert "not-ping" not in {notice.code for notice in samples.meta.warnings}


def test_a_share_is_no_size_of_windows():
    lines = (
        "Sat Jan  3 10:10:10 2023: rtt=14ms loss=0%\n",
        "Sat Jan  3 10:10:11 2023: rtt=15ms loss=33%\n",
    )
    with pytest.raises(ReaderError):
        read_ping("".join(lines))
