"""Pings recorded with the real tools, and what happens when they are cut or damaged."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers import read, read_ping
from netcalc.samples import RttSamples, load

INPUTS = Path(__file__).parent / "inputs"
SWEPT = {16, 100, 500, 1000, 1472}

# Counts: the summary that the tool printed. Times: its min/max, or the lines where it prints none.
# file -> sent, received, errors, times read, least and greatest time [ms], sizes, tool
RECORDED = {
    "iputils_plain": (5, 5, 0, 5, 0.047, 0.176, {56}, "ping (iputils)"),
    "iputils_stamps_pattern": (5, 5, 0, 5, 0.013, 0.051, {1400}, "ping (iputils)"),
    "iputils_ipv6": (4, 4, 0, 4, 860, 1026, {56}, "ping (iputils)"),
    "iputils_quiet": (20, 20, 0, 0, None, None, set(), "ping (iputils)"),
    "iputils_size_0": (4, 4, 0, 0, None, None, {0}, "ping (iputils)"),
    "iputils_flood": (30, 30, 0, 0, None, None, set(), "ping (iputils)"),
    "iputils_sweep_loop": (15, 15, 0, 15, 0.011, 0.049, SWEPT, "ping (iputils)"),
    "iputils_interrupted": (7, 7, 0, 7, 0.016, 0.049, {56}, "ping (iputils)"),
    "iputils_unreachable": (3, 0, 3, 0, None, None, {56}, "ping (iputils)"),
    "iputils_ttl_exceeded": (3, 0, 3, 0, None, None, {56}, "ping (iputils)"),
    "iputils_no_answer": (3, 0, 0, 0, None, None, {56}, "ping (iputils)"),
    "iputils_host_unreachable": (3, 0, 3, 0, None, None, {56}, "ping (iputils)"),
    "iputils_too_long": (2, 0, 2, 0, None, None, {2000}, "ping (iputils)"),
    "iputils_loss": (12, 5, 0, 5, 0.019, 0.044, {56}, "ping (iputils)"),
    "busybox_plain": (4, 4, 0, 4, 0.050, 0.060, {56}, "ping (BusyBox)"),
    "busybox_ipv6": (2, 2, 0, 2, 0.048, 0.076, {56}, "ping (BusyBox)"),
    "busybox_size_0": (3, 3, 0, 0, None, None, {0}, "ping (BusyBox)"),
    "busybox_quiet": (3, 3, 0, 0, None, None, set(), "ping (BusyBox)"),
    "busybox_no_answer": (2, 0, 0, 0, None, None, {56}, "ping (BSD, BusyBox or inetutils)"),
    "inetutils_plain": (4, 4, 0, 4, 0.036, 0.067, {56}, "ping (GNU inetutils)"),
    "inetutils_size": (3, 3, 0, 3, 0.022, 0.067, {1000}, "ping (GNU inetutils)"),
    "inetutils_quiet": (3, 3, 0, 0, None, None, set(), "ping (GNU inetutils)"),
    "inetutils_unreachable": (2, 0, 2, 0, None, None, {56}, "ping (BSD, BusyBox or inetutils)"),
    "inetutils_german": (3, 3, 0, 3, 0.053, 0.064, {56}, "ping (GNU inetutils)"),
}  # fmt: skip
HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"


def line(sequence: int, milliseconds: object = 0.5, size: int = 64) -> str:
    return f"{size} bytes from 192.0.2.1: icmp_seq={sequence} ttl=64 time={milliseconds} ms\n"


def summary(
    sent: int, received: int, spread: str = "0.500/0.500/0.500/0.000", more: str = ""
) -> str:
    loss = 100 * (sent - received) / sent
    times = f"rtt min/avg/max/mdev = {spread} ms\n" if spread else ""
    return (
        "\n--- 192.0.2.1 ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, {more}{loss:g}% packet loss, time 9ms\n"
        + times
    )


@pytest.mark.each("name", RECORDED)
def test_recorded(name):
    sent, received, errors, timed, least, greatest, sizes, tool = RECORDED[name]
    samples = read(INPUTS / f"{name}.txt")
    assert isinstance(samples, RttSamples)
    assert (samples.sent, samples.received, samples.errors) == (sent, received, errors)
    assert samples.duplicates == 0
    assert samples.best_s.size == timed
    if timed:
        assert samples.best_s.min() == pytest.approx(least * 1e-3, rel=1e-12)
        assert samples.best_s.max() == pytest.approx(greatest * 1e-3, rel=1e-12)
    assert set(samples.payload_bytes) == sizes
    assert samples.meta.tool == tool
    assert not samples.meta.partial
    assert samples.meta.printed["sent"] == sent
    assert samples.meta.printed["received"] == received
    assert not {w.code for w in samples.meta.warnings} & {"count-differs", "time-differs"}


@pytest.mark.each("path", sorted(INPUTS.glob("*.txt")), ids=lambda p: p.stem)
def test_every_time_of_the_file_is_read(path):
    # Second method: everything between "time=" and "ms", as a text search.
    expected = [
        float(t.replace(",", ".")) for t in re.findall(r"time=([\d.,]+) ms", path.read_text())
    ]
    assert (read(path).best_s * 1e3).tolist() == pytest.approx(expected)


def test_killed_before_the_summary_is_partial():
    samples = read(INPUTS / "iputils_killed.txt")
    assert (samples.sent, samples.received, samples.meta.partial) == (8, 8, True)
    assert samples.meta.printed == {}
    assert Notice("no-summary") in samples.meta.warnings


def test_meta_of_a_recorded_file():
    path = INPUTS / "iputils_stamps_pattern.txt"
    meta = read(path).meta
    assert meta.source == path.name
    assert meta.target == "192.0.2.1"
    assert meta.start == "2026-11-21T04:28:08.280563+00:00"  # the first stamp less 0.013 ms
    assert "ping -D" in meta.clock
    assert len(meta.sha256) == 64
    printed = meta.printed
    assert printed["rtt_mdev_s"] == pytest.approx(0.014e-3)
    assert printed["loss_ratio"] == 0
    assert meta.units["rtt_s"] == "s"


def test_sent_times_are_the_stamps_less_the_round_trip():
    samples = read(INPUTS / "iputils_stamps_pattern.txt")
    assert samples.sent_s[0] == pytest.approx(1795235288.280576 - 0.013e-3, abs=1e-6)


def test_samples_survive_saving(tmp_path):
    samples = read(INPUTS / "iputils_sweep_loop.txt")
    again = read(samples.save(tmp_path / "one.json.gz"))
    assert again.rtt_s.tolist() == samples.rtt_s.tolist()
    assert again.meta == load(tmp_path / "one.json.gz").meta


def test_resolution_is_the_last_digit_printed():
    text = HEAD + line(1, "0.481") + line(2, "12.3") + line(3, "145")
    assert read_ping(text).resolution_s.tolist() == [1e-6, 1e-4, 1e-3]


def test_gaps_and_the_end_are_lost_probes():
    samples = read_ping(HEAD + line(2) + line(4) + summary(6, 2))
    assert samples.sequence.tolist() == [1, 2, 3, 4, 5, 6]
    assert samples.lost.tolist() == [True, False, True, False, True, True]
    assert np.isnan(samples.rtt_s[samples.lost]).all()
    assert samples.payload_bytes.tolist() == [56] * 6


def test_sequence_wraps_at_65536():
    numbers = [n for n in range(65_500, 65_600) if n not in (65_535, 65_536, 65_540)]
    samples = read_ping("".join(line(n % 65_536) for n in numbers))
    assert (samples.sent, samples.received) == (100, 97)
    assert samples.sequence[samples.lost].tolist() == [65_535, 65_536, 65_540]


@pytest.mark.each("end", ["", "summary", "one unanswered"])
def test_a_run_that_begins_just_before_the_wrap(end):
    """Numbers 65534, 65535, 0 and 1 are four probes, and not 65,537 of which 65,533 are lost."""
    sent = 5 if end == "one unanswered" else 4
    samples = read_ping(
        HEAD + "".join(map(line, (65_534, 65_535, 0, 1))) + (summary(sent, 4) if end else "")
    )
    assert (samples.sent, samples.received) == (sent, 4)
    assert samples.sequence.tolist() == list(range(65_534, 65_534 + sent))
    warnings = [notice for notice in samples.meta.warnings if notice.code != "time-differs"]
    assert warnings[0] == Notice("sequence-begins-late", {"first": 65_534})
    assert [notice.code for notice in warnings[1:]] == ([] if end else ["no-summary"])


def test_a_long_outage_at_the_beginning_is_lost():
    """The summary says that 5003 were sent: the 5000 before the first reply were probes."""
    samples = read_ping(HEAD + "".join(map(line, (5001, 5002, 5003))) + summary(5003, 3))
    assert (samples.sent, samples.received) == (5003, 3)
    assert "sequence-begins-late" not in [notice.code for notice in samples.meta.warnings]


def test_late_reply_and_no_answer_yet():
    text = (
        HEAD
        + line(1)
        + "no answer yet for icmp_seq=2\n"
        + line(3)
        + line(2, 1500)
        + summary(4, 3, "")
    )
    samples = read_ping(text)
    assert samples.lost.tolist() == [False, False, False, True]
    assert samples.rtt_s[1] == 1.5


def test_duplicates_marked_or_not_are_no_replies():
    # Multicast: several responders, only some marked. P = {1, 2}.
    text = HEAD + line(1) + line(1).replace(" ms", " ms (DUP!)") + line(2) + line(2, 0.7)
    samples = read_ping(text + summary(2, 2, "0.500/0.550/0.700/0.000", "+2 duplicates, "))
    assert (samples.sent, samples.received, samples.duplicates) == (2, 2, 2)
    assert samples.best_s.tolist() == [0.5e-3, 0.5e-3]
    assert not samples.meta.warnings


def test_bad_checksum_is_no_reply():
    text = HEAD + line(1) + line(2).replace(" ms", " ms (BAD CHECKSUM!)") + summary(2, 1)
    samples = read_ping(text)
    assert (samples.sent, samples.received) == (2, 1)
    assert Notice("bad-checksums", {"numbers": [3]}) in samples.meta.warnings


def test_redirect_wrong_data_and_messages_are_counted_apart():
    text = (
        HEAD
        + "From 192.0.2.254: icmp_seq=1 Redirect Host(New nexthop: 192.0.2.253)\n"
        + line(1)
        + "wrong data byte #16 should be 0x10 but was 0x0\n#16\t0 11 12 13 14 15\n"
        + "ping: sendmsg: No buffer space available\n"
        + "From 192.0.2.254 icmp_seq=2 Packet filtered\n"
        + line(3)
        + summary(3, 2, more="+1 errors, ")
    )
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.errors) == (3, 2, 1)
    assert samples.error_reply.tolist() == [False, True, False]
    assert Notice("redirects-ignored", {"numbers": [2]}) in samples.meta.warnings
    message = {"message": "ping: sendmsg: No buffer space available", "numbers": [6]}
    assert Notice("ping-message", message) in samples.meta.warnings


def test_truncated_replies_keep_the_size_of_the_probe():
    head = "PING 192.0.2.1 (192.0.2.1) 1000(1028) bytes of data.\n"
    reply = "76 bytes from 192.0.2.1: icmp_seq=1 ttl=118 (truncated)\n"
    samples = read_ping(head + reply + summary(1, 1, ""))
    assert samples.payload_bytes.tolist() == [1000]
    assert samples.received == 1
    assert np.isnan(samples.rtt_s).all()
    shorter = {"reply_bytes": 1008, "payload_bytes": 1000, "numbers": [2]}
    assert Notice("short-replies", shorter) in samples.meta.warnings


def test_no_header_means_size_less_the_icmp_header():
    assert read_ping(line(1, size=1480)).payload_bytes.tolist() == [1472]


def test_runs_without_headers_are_told_apart():
    # A loop over sizes with "| grep from": nothing but replies.
    text = "".join(line(n, n, size + 8) for size in (56, 56, 500) for n in (1, 2, 3))
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.duplicates) == (9, 9, 0)
    assert samples.payload_bytes.tolist() == [56] * 6 + [500] * 3


def test_runs_add_up_when_one_is_quiet():
    quiet = HEAD + summary(10, 8)
    samples = read_ping(quiet + HEAD + line(1) + summary(2, 1))
    assert (samples.sent, samples.received, len(samples)) == (12, 9, 2)
    assert samples.meta.printed["sent"] == 12
    assert len(samples.meta.printed["runs"]) == 2


def test_beginning_not_in_the_file():
    # "tail" of a long run: what came before was not lost, only not kept.
    samples = read_ping(line(498) + line(500) + summary(501, 480))
    assert (samples.sent, samples.received) == (501, 480)
    assert samples.sequence.tolist() == [498, 499, 500, 501]
    assert samples.lost.tolist() == [False, True, False, True]
    assert samples.payload_bytes.tolist() == [56] * 4
    assert Notice("beginning-missing", {"answered": 2, "received": 480}) in samples.meta.warnings


def test_quoted_in_a_mail():
    text = HEAD + line(1) + line(2) + summary(3, 2)
    samples = read_ping("".join("> " + piece for piece in text.splitlines(keepends=True)))
    assert (samples.sent, samples.received, samples.meta.target) == (3, 2, "192.0.2.1")


def test_one_reply_of_macos_has_no_deviation():
    text = (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        "03:52:00.123456 64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=0.500 ms\n\n"
        "--- 192.0.2.1 ping statistics ---\n"
        "1 packets transmitted, 1 packets received, 0.0% packet loss\n"
        "round-trip min/avg/max/stddev = 0.500/0.500/0.500/nan ms\n"
    )
    samples = read_ping(text)
    assert (samples.received, samples.meta.partial) == (1, False)
    assert samples.meta.tool == "ping (BSD or macOS)"


def test_damaged_lines_are_named_and_stand_for_their_probes():
    text = (
        HEAD
        + line(1)
        + "64 bytes from 192.0.2.1: error - strange\n"
        + line(3)
        + line(4).replace(" ms", " m")
        + "no ping at all\n"
        + line(5).replace(" ms", " ms: strange")
        + summary(5, 5)
    )
    samples = read_ping(text)
    assert (samples.sent, samples.received) == (5, 5)
    assert samples.best_s.size == 3
    assert np.isnan(samples.rtt_s[[1, 3]]).all()
    assert samples.meta.warnings == (
        Notice("no-sequence-number", {"numbers": [3]}),
        Notice("unknown-time-unit", {"numbers": [5], "found": ["m"]}),
        Notice("text-after-numbers", {"numbers": [7]}),
        Notice("not-ping", {"numbers": [6]}),
    )
    assert list(map(str, samples.meta.warnings)) == [
        "cannot read line 3: no sequence number",
        "cannot read line 5: unknown unit of time 'm'",
        "ignored text beside the numbers in line 7",
        "skipped line 6: not ping output",
    ]


def test_two_lines_run_into_one():
    text = HEAD + line(1) + line(2)[:-8] + line(3) + line(4) + summary(4, 4)
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.best_s.size) == (4, 4, 2)
    assert Notice("joined-lines", {"numbers": [3]}) in samples.meta.warnings


def test_a_sequence_number_out_of_place_moves_no_other():
    text = HEAD + line(1) + line(2) + line(50_003) + line(4) + summary(4, 4)
    samples = read_ping(text)
    assert (samples.sent, samples.received) == (4, 4)
    assert samples.sequence.tolist() == [1, 2, 3, 4]
    assert np.isnan(samples.rtt_s[2])


def test_summary_and_lines_disagree():
    samples = read_ping(HEAD + line(1) + line(2) + summary(9, 9, "0.1/0.2/0.3/0.0"))
    assert (samples.sent, samples.received) == (9, 2)
    assert samples.meta.printed["received"] == 9
    assert list(map(str, samples.meta.warnings)) == [
        "the summary says 9 received, the lines show 2",
        "the summary says min 100 µs, the lines show 500 µs",
        "the summary says avg 200 µs, the lines show 500 µs",
        "the summary says max 300 µs, the lines show 500 µs",
    ]
    differs = {"quantity": "received", "printed": 9, "counted": 2}
    assert samples.meta.warnings[0] == Notice("count-differs", differs)
    assert samples.meta.warnings[1].values["printed_s"] == pytest.approx(0.1e-3)


def test_a_factor_of_1000_is_refused():
    with pytest.raises(ReaderError) as caught:
        read_ping(HEAD + line(1, 500) + summary(1, 1))
    assert caught.value.code == "wrong-scale"
    assert caught.value.values["factor"] == pytest.approx(1000)
    assert caught.value.line == 2
    assert caught.value.field == "time"


def test_unknown_unit_is_refused_with_its_line():
    with pytest.raises(ReaderError) as caught:
        read_ping(HEAD + line(1).replace(" ms", " parsec"))
    error = caught.value
    assert (error.code, error.values["fault"]) == ("unreadable-replies", "unknown-time-unit")
    assert (error.line, error.field, error.unit) == (2, "reply", "ms")
    assert error.value == line(1).replace(" ms", " parsec").strip()
    assert str(error) == (
        "<text>, line 2, field reply: no reply can be read with certainty; found "
        f"{error.value!r}; expected a time such as time=1.23 ms [ms]. Use the file that ping "
        "wrote, not an edited copy"
    )


@pytest.mark.each(
    ("text", "code"),
    [
        (HEAD, "no-ping"),
        (HEAD + "\n\n", "no-ping"),
        ("ping: nosuch.example: Name or service not known\n", "no-ping-but-message"),
        ("--- x ping statistics ---\n", "no-ping"),
    ],
)
def test_no_measurement(text, code):
    with pytest.raises(ReaderError) as caught:
        read_ping(text)
    assert (caught.value.code, caught.value.file) == (code, "<text>")
    assert str(caught.value).startswith("<text>")
    assert "no measurement" in str(caught.value)


@pytest.mark.parametrize("times", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.each(
    "name, step", [("iputils_plain", 1), ("busybox_plain", 1), ("iputils_sweep_loop", 7)]
)
def test_cut_anywhere_keeps_what_was_before(name, step, times):
    # Derived: every complete line of the cut file holds one time, found by a text search.
    # The long file has 40 lines: each seventh cut falls into every part of some of them.
    data = (INPUTS / f"{name}.txt").read_bytes()
    refused: list[tuple[int, list[bytes]]] = []
    for end in range(0, len(data), step * times):
        whole = re.findall(rb"time=([\d.]+) ms", data[:end])
        try:
            samples = read_ping(data[:end])
        except ReaderError:
            refused.append((end, whole))
            continue
        assert (samples.best_s * 1e3).tolist() == pytest.approx([float(t) for t in whole])
        if b"min/avg/max" not in data[:end]:
            assert samples.meta.partial
    assert not [end for end, whole in refused if whole]


def test_last_digit_of_a_cut_count_is_not_believed():
    text = HEAD + line(1) + "\n--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 1"
    samples = read_ping(text)
    assert (samples.sent, samples.meta.partial) == (1, True)


def test_prompt_colours_clock_and_stderr_are_skipped():
    text = (
        "user@host:~$ ping -c 2 192.0.2.1\n"
        + HEAD
        + "\x1b[32m" + line(1)[:-1] + "\x1b[0m\n"
        + "Nov 21 03:52:01 " + line(2)
        + "^C" + summary(2, 2)
        + "user@host:~$ "
    )  # fmt: skip
    samples = read_ping(text)
    assert (samples.sent, samples.received, samples.best_s.size) == (2, 2, 2)
    assert samples.meta.command == "ping -c 2 192.0.2.1"
    assert not samples.meta.partial


def test_clock_in_front_of_every_line():
    text = HEAD + line(1) + line(2) + summary(3, 2)
    for clock in (
        "Nov 21 03:52:00 ",
        "2026-11-21T03:52:00.123 ",
        "[2026-11-21 03:52:00] ",
        "03:52:00 ",
    ):
        stamped = "".join(clock + piece for piece in text.splitlines(keepends=True))
        samples = read_ping(stamped)
        assert (samples.sent, samples.received) == (3, 2), clock
        assert samples.meta.printed["sent"] == 3, clock


def test_names_in_the_file_stay_and_are_shown_harmless():
    text = HEAD.replace("192.0.2.1 (", "<script>$(id)../\x07 (") + line(1)
    samples = read_ping(text)
    assert samples.meta.target == "<script>$(id)../\x07"
    assert "\x07" not in repr(samples)
    assert "\x07" not in repr(samples.meta)


def test_absurd_counts_make_no_absurd_rows():
    end = "\n--- 192.0.2.1 ping statistics ---\n900000000000 packets transmitted, "
    nothing = read_ping(HEAD + end + "0 received, 100% packet loss\n")
    assert (nothing.sent, len(nothing)) == (900_000_000_000, 0)
    one = read_ping(HEAD + line(1) + end + "1 received, 99% packet loss\n")
    assert len(one) == 1
    assert Notice("too-many-unseen", {"sent": 900_000_000_000}) in one.meta.warnings


@pytest.mark.parametrize(
    ("epoch", "start"),
    [
        ("2147483647.999999", "2038-01-19T03:14:07"),  # the last second of 32 bits
        ("4102444800.000001", "2099-12-31T23:59:59"),  # less the round trip
        ("1711846799.500000", "2024-03-31T00:59:59"),  # an hour is left out in Berlin
        ("1483228799.999999", "2016-12-31T23:59:59"),  # a leap second follows
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Apia"])
def test_a_clock_of_any_year_keeps_its_microseconds(epoch, start, zone, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        samples = read_ping(f"{HEAD}[{epoch}] " + line(1, "0.5"))
    finally:
        monkeypatch.undo()
        time.tzset()
    # by hand: the printed time is that of the reply
    assert samples.sent_s[0] == pytest.approx(float(epoch) - 0.0005, abs=1e-6)
    assert samples.meta.start.startswith(start)
    assert samples.meta.start.endswith("+00:00")
