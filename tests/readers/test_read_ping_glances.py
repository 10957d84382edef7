"""Lines of a ping that are read many at a time, or at a glance only: the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from samples_seen import codes

from netcalc.readers import read_ping
from netcalc.readers.pings.ping_lines import is_noise, may_speak, read_line

HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
WINDOWS = "Pinging 192.0.2.1 with 32 bytes of data:\n"


def line(sequence, milliseconds="0.5", size=64, ttl=64, more=""):
    return (
        f"{size} bytes from 192.0.2.1: icmp_seq={sequence} ttl={ttl} time={milliseconds} ms{more}\n"
    )


def reply(milliseconds, size=32, ttl=57, sign="="):
    return f"Reply from 192.0.2.1: bytes={size} time{sign}{milliseconds}ms TTL={ttl}\n"


# Each of these is enough for a closer look, and stands alone in its line
WORDS = (
    "seq", "req", "from", "ping", "transmitted", "--", "connect", "icmp", "dump", "vr", "[", "> x",
    "x:", "x： ", "a = 3", "a <3", "3 is (a)", "3 is b:", "3 is c,", "at 1:02:03 x",
)  # fmt: skip
SILENT = ("word", "a = b", "(x)", "a: b", "a, b", "1:02", "5 6", "a > b", "(3)", "")


def test_lines_that_are_looked_at_closely():
    for text in WORDS:
        assert may_speak(text), text
        assert may_speak(text.upper()), text
    for text in SILENT:
        assert not may_speak(text), text


def test_a_prompt_is_a_short_line():
    for sign in "$#%>":
        assert is_noise("w" * 100 + sign)
        assert not is_noise("w" * 101 + sign)
    assert is_noise("  ")


@pytest.mark.each(
    ("text", "fault", "found"),
    [
        ("Reply from 192.0.2.1: bytes=32 time=14xs TTL=57", "unknown-time-unit", "xs"),
        ("Reply from 192.0.2.1: bytes=32 time=14ms time=2ms TTL=57", "several-times", None),
        ("Reply from 192.0.2.1: bytes=65536 time=14ms TTL=57", "impossible-reply-size", "65536"),
    ],
)
def test_what_is_wrong_with_a_reply_of_windows(text, fault, found):
    read = read_line(text)
    assert (read.kind, read.fault) == ("damaged", fault)
    assert (read.unread or None) == found


ODD = [
    line(301, size=8), line(301, size=7), line(301, ttl=255), line(301, ttl=256),
    line(301, "12345678.25"), line(301, "0"), line(301, more=" (DUP!)"), line(301, "0,75"),
    line(301, "0.1234567890123456"), line(301, size=65535), "64 bytes from 192.0.2.1: seq=301\n",
    "[1795348800.25] " + line(301),
]  # fmt: skip


@pytest.mark.each("odd", ODD)
@pytest.mark.each("place", [0, 7, 300])
def test_a_line_among_many_is_what_it_is_among_few(odd, place):
    """Second method: a file of fewer lines than are read at once."""
    plain = [line(n, f"{n / 8}") for n in range(1, 301)]
    many = read_ping("".join([HEAD, *plain[:place], odd, *plain[place:]]))
    near = plain[max(place - 2, 0) : place], plain[place : place + 2]
    few = read_ping("".join([HEAD, *near[0], odd, *near[1]]))
    ours = {n: v for n, v in zip(few.sequence, few.rtt_s, strict=True) if n > 300}
    for name in ("rtt_s", "resolution_s", "payload_bytes", "ttl", "lost", "duplicate", "sent_s"):
        values = dict(zip(many.sequence, getattr(many, name), strict=True))
        expected = dict(zip(few.sequence, getattr(few, name), strict=True))
        for number in ours:
            if number in expected:
                np.testing.assert_equal(values[number], expected[number])
    rtts = dict(zip(many.sequence, many.rtt_s, strict=True))
    if "DUP" not in odd and place:
        assert [rtts[n] for n in (1, 5, 8, 299, 300)] == [n / 8000 for n in (1, 5, 8, 299, 300)]
    assert set(codes(few)) == set(codes(many))


def test_many_replies_by_hand():
    stamped = "".join(
        f"[{1795348800 + n}.5] {line(n, f'{n}.25', ttl=n % 300)}" for n in range(1, 400)
    )
    found = read_ping(HEAD + stamped)
    assert np.array_equal(found.rtt_s, (np.arange(1, 400) + 0.25) / 1000)
    # ping -D stamps the reply
    n = np.arange(1, 400)
    assert found.sent_s == pytest.approx(1795348800.5 + n - (n + 0.25) / 1000, rel=0, abs=1e-6)
    ttl = np.arange(1.0, 400) % 300
    assert np.array_equal(found.ttl, np.where(ttl <= 255, ttl, np.nan), equal_nan=True)
    assert found.resolution_s.tolist() == [1e-5] * 399
    assert found.payload_bytes.tolist() == [56] * 399


def test_many_replies_of_windows_by_hand():
    text = "".join(reply(n, sign="<" if n % 2 else "=", ttl=n) for n in range(1, 256))
    found = read_ping(WINDOWS + text)
    times = np.arange(1, 256) / 1000
    assert np.allclose(found.rtt_s, np.where(np.arange(1, 256) % 2, times / 2, times), rtol=1e-15)
    odd = np.arange(1, 256) % 2 == 1
    assert np.allclose(found.resolution_s, np.where(odd, times, 0.001), rtol=1e-15)
    assert found.ttl.tolist() == list(range(1, 256))
    assert found.payload_bytes.tolist() == [32] * 255
    for size, kept in ((65_535, 20), (65_536, 19)):
        lines = [reply(5)] * 10 + [reply(5, size=size)] + [reply(5)] * 9
        rtts = read_ping(WINDOWS + "".join(lines)).rtt_s
        assert np.count_nonzero(rtts == 0.005) == kept


@pytest.mark.each(("after", "given_up"), [(1001, True), (1002, False)])
def test_neighbours_agree_that_are_a_thousand_apart(after, given_up):
    """By hand: a number far ahead of both is damaged if they are near each other."""
    found = read_ping(HEAD + "".join(line(n) for n in (1, 30_000, after, after + 1)))
    assert (30_000 in found.sequence) == (not given_up)


@pytest.mark.each("numbers", [[1500, 3, 4, 5, 1000], [1000, 3, 4, 5, 1500]])
def test_the_first_and_the_last_have_one_neighbour(numbers):
    """By hand: 1500 is beyond the 1000 that were sent, and far from the number next to it."""
    end = "\n--- 192.0.2.1 ping statistics ---\n"
    end += "1000 packets transmitted, 5 received, 99% packet loss\n"
    found = read_ping(HEAD + "".join(line(n) for n in numbers) + end)
    assert 1500 not in found.sequence
    assert 1000 in found.sequence


def test_a_number_behind_the_first_one_is_near_the_highest_before():
    """By hand: 2, then 65530 of before the wrap, then 3, which is 65539 after it."""
    found = read_ping("".join(line(n) for n in (2, 65530, 3)))
    assert found.sequence[~found.lost].tolist() == [2, 65530, 65539]


def test_a_duplicate_without_its_first_is_named():
    found = read_ping(HEAD + line(1) + line(2, more=" (DUP!)") + line(3))
    assert "duplicates-without-first" in codes(found)
    notice = next(one for one in found.meta.warnings if one.code == "duplicates-without-first")
    assert notice.values["numbers"] == [3]


def test_times_of_a_summary_without_lines():
    end = (
        "\n--- 192.0.2.1 ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss\n"
        "rtt min/avg/max/mdev = 1.000/1.500/2.000/0.500 ms\n"
    )
    found = read_ping(HEAD + end)
    assert (found.sent, found.received, found.meta.printed["rtt_avg_s"]) == (2, 2, 0.0015)
    assert "time-differs" not in codes(found)


def test_a_long_command_is_shortened():
    """To 200 characters, three of them dots."""
    for count, shown in ((200, "ping " + "x" * 195), (201, "ping " + "x" * 192 + "...")):
        text = "user@host:~$ ping " + "x" * (count - 5) + "\n" + HEAD + line(1)
        assert read_ping(text).meta.command == shown
