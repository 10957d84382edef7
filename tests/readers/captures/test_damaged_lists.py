"""Lines of packets with a letter or a blank in a number: read, with a warning that names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.readers import read

INPUTS = Path(__file__).parent.parent / "inputs" / "captures"
# File -> what stands in a line, and the same damaged.
NUMBERS = {
    "tcpdump_tt_absolute.txt": [
        ("win 65483", "win 65O83"), ("ack 3756152329", "ack 3756 52329"),
        ("192.0.2.2.45944:", "192.0.2.2.4x944:"), ("length 108", "length 1O8"),
        (" IP6 ", " IPx "), ("id 14642, seq 1", "id 1464z, seq 1"),
    ],
    "tcpdump_v_two_runs.txt": [("ttl 64", "ttl 6x"), ("seq 1:5001", "seq 1:50 01")],
    "tshark_text.txt": [
        ("Ack=21 Win", "Ack=2x Win"), ("Len=5000", "Len=5 000"), (" 39414 ", " 3 414 "),
        ("TCP 66 39414", "TCP 6x 39414"), ("ttl=64", "ttl=x4"), ("id=0x3a2a", "id=0xza2a"),
    ],
    "wireshark_text.txt": [("Win=107520", "Win=1O7520"), ("seq=1/256", "seq=/256")],
    "wireshark_delta.csv": [("Win=", "Win=x")],
}  # fmt: skip
ADDRESSES = {
    "tcpdump_tt_absolute.txt": ("IP 192.0.2.2.", "IP x92.0.2.2.", "x92.0.2.2"),
    "tshark_text.txt": ("127.0.0.1 ", "1x7.0.0.1 ", "1x7.0.0.1"),
    "wireshark_text.txt": ("2001:db8::1 ", "2001:dbO::1 ", "2001:dbO::1"),
}


@pytest.mark.each("name", NUMBERS)
def test_a_damaged_number_is_named(name):
    text = (INPUTS / name).read_text("utf-8")
    assert "packet-numbers-damaged" not in codes(read(text))
    for before, after in NUMBERS[name]:
        assert before in text
        assert codes(read(text.replace(before, after, 1)))["packet-numbers-damaged"]["count"] == 1


@pytest.mark.each("name", ADDRESSES)
def test_a_damaged_address_is_named(name):
    before, after, address = ADDRESSES[name]
    text = (INPUTS / name).read_text("utf-8")
    assert before in text
    assert codes(read(text.replace(before, after, 1)))["address-damaged"]["names"] == [address]


LINE = "12:00:00.000001 IP {ends}: {what}"
USUAL = {
    "a service by its name": (
        "h.example.http > 192.0.2.2.40000",
        "Flags [.], seq 1:1449, ack 2, win 9, length 1448: HTTP: GET /a win x",
    ),
    "a selective acknowledgement": (
        "192.0.2.1.80 > 192.0.2.2.40000",
        "Flags [.], ack 5, win 9, options [nop,nop,TS val 7 ecr 8,nop,nop,sack 1 {9:12}], length 0",
    ),
    "an echo of older versions": (
        "2001:db8::1 > 2001:db8::2", "ICMP6, echo request, seq 1, length 64",
    ),
    "an answer of DNS": ("192.0.2.1.53 > 192.0.2.2.4000", "1234 1/0/0 A 192.0.2.9 (45)"),
}  # fmt: skip


@pytest.mark.each("what", USUAL)
def test_what_tcpdump_prints_otherwise_is_not_damaged(what):
    ends, said = USUAL[what]
    kind = "IP6" if "::" in ends else "IP"
    line = LINE.format(ends=ends, what=said).replace(" IP ", f" {kind} ")
    assert codes(read(f"{line}\n{line}\n")).keys() <= {"packet-times-ambiguous"}


def codes(samples):
    return {notice.code: notice.values for notice in samples.meta.warnings}
