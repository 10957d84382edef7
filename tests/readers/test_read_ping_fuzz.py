"""Any damage to a ping gives the right numbers of the undamaged lines, or a ReaderError."""

from __future__ import annotations

import math
import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from netcalc.errors import ReaderError
from netcalc.readers import read, read_columns, read_ping, sniff
from netcalc.samples import RttSamples, Samples

INPUTS = Path(__file__).parent / "inputs"
FILES = sorted(INPUTS.glob("*.txt"))
TIMES = re.compile(r"seq=(\d+) ttl=\d+ time=([\d.,]+) ms\s*$")
WINDOWS = (
    b"\r\nPinging 192.0.2.9 with 32 bytes of data:\r\n"
    b"Reply from 192.0.2.9: bytes=32 time<1ms TTL=64\r\n"
    b"Request timed out.\r\n"
    b"Reply from 192.0.2.9: bytes=32 time=3ms TTL=64\r\n"
    b"Reply from 192.0.2.254: Destination host unreachable.\r\n\r\n"
    b"Ping statistics for 192.0.2.9:\r\n"
    b"    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\r\n"
    b"Approximate round trip times in milli-seconds:\r\n"
    b"    Minimum = 0ms, Maximum = 3ms, Average = 1ms\r\n"
)
DATA = st.sampled_from([path.read_bytes() for path in FILES] + [WINDOWS])
quick = settings(max_examples=60, deadline=None)


def times(text: str) -> dict[int, float]:
    """Sequence number -> time [s], by a plain search in the lines; only if each is there once."""
    found = [TIMES.search(line) for line in text.splitlines()]
    pairs = [(int(m[1]), float(m[2].replace(",", ".")) / 1e3) for m in found if m]
    return dict(pairs) if len(dict(pairs)) == len(pairs) else {}


def read_or_refuse(data: bytes) -> Samples | None:
    """Nothing but samples or a ReaderError may come out; both can be printed."""
    said = []
    for reader in (read_ping, read_columns, sniff):
        try:
            reader(data)
        except ReaderError as error:
            said.append(str(error))
    samples = None
    try:
        samples = read(data)
    except ReaderError as error:
        said.append(str(error))
    assert all(message.isprintable() for message in said), said
    if samples is None:
        return None
    assert all(str(warning).isprintable() for warning in samples.meta.warnings)
    if isinstance(samples, RttSamples):
        assert samples.received <= samples.sent
        assert not (samples.best_s < 0).any()
        assert len(samples) < 2_000_000
    return samples


@quick
@given(DATA, st.data())
def test_cut_at_both_ends(data, draw):
    start = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(start, len(data)))
    samples = read_or_refuse(data[start:end])
    whole = {round(t, 9) for t in times(data.decode()).values()}
    if isinstance(samples, RttSamples) and whole:
        assert {round(float(t), 9) for t in samples.best_s} <= whole


@quick
@given(DATA, st.data())
def test_a_damaged_line_changes_no_other(data, draw):
    lines = data.decode().splitlines(keepends=True)
    place = draw.draw(st.integers(0, len(lines) - 1))
    end = re.search(r"[\r\n]*$", lines[place])[0]
    damaged = draw.draw(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=80)
    )
    before = times("".join(lines[:place] + lines[place + 1 :]))
    lines[place] = damaged + end
    samples = read_or_refuse("".join(lines).encode())
    if before and isinstance(samples, RttSamples):
        unhurt = sorted(round(t, 9) for t in before.values())
        kept = sorted(round(float(t), 9) for t in samples.rtt_s if not math.isnan(t))
        assert [t for t in unhurt if t not in kept] == []


@quick
@given(DATA, st.data())
def test_a_changed_byte_changes_no_other_line(data, draw):
    place = draw.draw(st.integers(0, len(data) - 1))
    byte = draw.draw(st.integers(0, 255))
    changed = data[:place] + bytes([byte]) + data[place + 1 :]
    number = data[:place].count(b"\n")
    lines = data.decode().split("\n")
    before = times("\n".join(lines[:number] + lines[number + 1 :]))
    samples = read_or_refuse(changed)
    same_lines = changed.count(b"\n") == data.count(b"\n")
    if before and same_lines and isinstance(samples, RttSamples):
        kept = {round(float(t), 9) for t in samples.rtt_s if not math.isnan(t)}
        assert {round(t, 9) for t in before.values()} <= kept


@quick
@given(st.lists(st.tuples(DATA, st.integers(0, 700)), min_size=1, max_size=4))
def test_pieces_put_together(pieces):
    read_or_refuse(b"".join(data[start : start + 300] for data, start in pieces))


@quick
@given(st.binary(max_size=400))
def test_any_bytes(data):
    read_or_refuse(data)


@quick
@given(
    st.text(
        alphabet="0123456789.,;\t \n\r\"'[]()=<%-+eEmsbytfrom:icmp_seqtltim#/xNaN\x1b\b",
        max_size=300,
    )
)
def test_any_text_of_the_right_letters(text):
    read_or_refuse(text.encode())


@quick
@given(DATA, st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\r\n"]), st.booleans())
def test_line_ends_change_nothing(data, end, final):
    lines = data.decode().splitlines()
    expected = read(("\n".join(lines) + "\n").encode())
    samples = read((end.join(lines) + (end if final else "")).encode())
    assert (samples.sent, samples.received, samples.errors) == (
        expected.sent,
        expected.received,
        expected.errors,
    )
    assert samples.best_s.tolist() == expected.best_s.tolist()


@quick
@given(
    st.lists(st.integers(1, 3_600_000), min_size=1, max_size=40),
    st.sets(st.integers(0, 39)),
    st.sampled_from([16, 56, 1472, 65_507]),
    st.sampled_from([".", ","]),
    st.integers(0, 3),
)
def test_what_is_written_is_read(values, lost, size, decimal, decimals):
    """Round trip: times written as iputils writes them come back to the last digit."""
    written = {
        n: f"{value / 10**decimals:.{decimals}f}".replace(".", decimal)
        for n, value in enumerate(values, 1)
        if n not in lost
    }
    text = f"PING 192.0.2.1 (192.0.2.1) {size}({size + 28}) bytes of data.\n"
    text += "".join(
        f"{size + 8} bytes from 192.0.2.1: icmp_seq={n} ttl=64 time={time} ms\n"
        for n, time in written.items()
    )
    share = 100 * (len(values) - len(written)) / len(values)
    text += (
        f"\n--- 192.0.2.1 ping statistics ---\n{len(values)} packets transmitted, "
        f"{len(written)} received, {share:g}% packet loss, time 1ms\n"
    )
    samples = read_ping(text)
    assert (samples.sent, samples.received) == (len(values), len(written))
    if written:
        expected = [float(time.replace(",", ".") + "e-3") for time in written.values()]
        assert samples.best_s.tolist() == expected
        assert set(samples.payload_bytes) == {size}
        assert set(samples.resolution_s[samples.measured]) == {float(f"1e-{3 + decimals}")}
