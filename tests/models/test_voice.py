"""Voice over IP: published bandwidths, packets counted over a minute."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from netcalc import calculator, planning, units
from netcalc.errors import DomainError
from netcalc.models.rates import codecs, voice


@pytest.mark.each(
    ("codec_bps", "link_bytes", "expected", "source"),
    [
        (64e3, 18, 87.2e3, "published: Cisco's table, G.711 on Ethernet"),
        (8e3, 18, 31.2e3, "published: Cisco's table, G.729 on Ethernet"),
        (64e3, 7, 82.8e3, "published: Cisco's table, G.711 on MP: 6 bytes and a flag"),
        (8e3, 7, 26.8e3, "published: Cisco's table, G.729 on MP: 6 bytes and a flag"),
        (64e3, 0, 80e3, "derived: 200 bytes fifty times a second"),
    ],
)
def test_bandwidth_of_a_call(codec_bps, link_bytes, expected, source):
    payload = voice.codec_payload_bytes(codec_bps)
    found = voice.voip_bandwidth_bps(payload, link_bytes=link_bytes)
    assert found == pytest.approx(expected), source


@pytest.mark.each(
    ("link_layer", "payload_bytes", "header_bytes", "wire_bytes", "source"),
    [
        ("ethernet", 160, 40, 7 + 1 + 14 + 200 + 4 + 12, "derived: IEEE 802.3, 3.1.1 and 4.4.2"),
        ("ethernet", 20, 2, 84, "derived: 22 bytes padded to 46, a frame of 64"),
        ("frame", 20, 2, 64, "published: IEEE 802.3, the shortest frame"),
        ("frame", 160, 40, 218, "derived: header and FCS"),
        ("ppp", 20, 2, 29, "published: Cisco's table, 6 bytes and a flag, which pads nothing"),
        ("ip", 20, 2, 22, "identity: the packet"),
    ],
)
def test_each_link_layer_has_its_bytes(link_layer, payload_bytes, header_bytes, wire_bytes, source):
    found = voice.voip_bandwidth_bps(
        payload_bytes, header_bytes=header_bytes, link_layer=link_layer
    )
    assert found == pytest.approx(8 * wire_bytes * 50), source


def test_ethernet_counts_unless_another_link_layer_is_named():
    # derived: 98 and 238 bytes on the wire, fifty a second, of 10 Mbit/s
    assert voice.voip_call_count(10e6, payload_bytes=20) == 255
    assert voice.voip_call_count(10e6) == 105
    assert voice.voip_call_count(10e6, payload_bytes=20, link_layer="frame") == 320


def test_bandwidth_by_counting_a_minute():
    # derived: 30 ms of G.729 in each packet over IPv6 and Ethernet with preamble and gap
    packets, size = 60_000 // 30, 30 + 60 + 38
    found = voice.voip_bandwidth_bps(30, interval_s=0.03, header_bytes=60, link_bytes=38)
    assert found == pytest.approx(packets * size * 8 / 60)


def test_calls_on_a_line():
    # derived: 1.536 Mbit/s over 26.8 kbit/s is 57.3
    assert voice.voip_call_count(1.536e6, payload_bytes=20, link_bytes=7) == 57
    # identity: exactly ten calls of 87.2 kbit/s
    assert voice.voip_call_count(872e3, link_layer="frame") == 10


def test_rtp_header():
    assert voice.rtp_header_bytes(0) == 12  # published: RFC 3550 section 5.1
    assert voice.rtp_header_bytes(15, extension_bytes=8) == 80  # derived: 12 + 60 + 8


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: voice.rtp_header_bytes(16), "csrc_count"),
        (lambda: voice.codec_payload_bytes(0), "codec_bps"),
        (lambda: voice.voip_bandwidth_bps(160, interval_s=0), "interval_s"),
        (lambda: voice.voip_bandwidth_bps(-1), "payload_bytes"),
        (lambda: voice.voip_call_count(0), "bandwidth_bps"),
    ],
)
def test_impossible_numbers_are_named(call, named):
    with pytest.raises(DomainError, match=named):
        call()


@pytest.mark.each(
    ("name", "payload_bytes", "mp_bps", "compressed_bps", "ethernet_bps"),
    [
        # published: Cisco, Voice over IP - per call bandwidth consumption, all rows: bytes of
        # voice, rates on MP (6 bytes and a flag), on MP with headers of 2 bytes, and on Ethernet
        ("G.711", 160, 82.8e3, 67.6e3, 87.2e3),
        ("G.729", 20, 26.8e3, 11.6e3, 31.2e3),
        ("G.723.1", 24, 18.9e3, 8.8e3, 21.9e3),
        ("G.723.1-5.3", 20, 17.9e3, 7.7e3, 20.8e3),
        ("G.726", 80, 50.8e3, 35.6e3, 55.2e3),
        ("G.726-24", 60, 42.8e3, 27.6e3, 47.2e3),
        ("G.728", 60, 28.5e3, 18.4e3, 31.5e3),
        ("G.722", 160, 82.8e3, 67.6e3, 87.2e3),
        ("iLBC", 38, 34.0e3, 18.8e3, 38.4e3),
        ("iLBC-13.3", 50, 25.867e3, 15.73e3, 28.8e3),
    ],
)
def test_the_table_of_codecs(name, payload_bytes, mp_bps, compressed_bps, ethernet_bps):
    own = codecs.codec(name)
    assert own.payload_bytes == payload_bytes
    for link_layer, header_bytes, expected in (
        ("ppp", 40, mp_bps), ("ppp", 2, compressed_bps), ("frame", 40, ethernet_bps),
    ):  # fmt: skip
        found = voice.voip_bandwidth_bps(
            own.payload_bytes, interval_s=own.interval_s, header_bytes=header_bytes,
            link_layer=link_layer,
        )  # fmt: skip
        # The table cuts or rounds at its last digit, 0.1 kbit/s; 33.3 packets a second, not 33.33
        assert found == pytest.approx(expected, abs=100), link_layer


def test_whole_calls_are_whole_in_every_unit():
    """Identity: a line of n calls carries n; G.711 in frames takes 87.2 kbit/s."""
    for unit, power in (("bit/s", 0), ("kbit/s", 3), ("Mbit/s", 6), ("Gbit/s", 9)):
        lines = [f"{Decimal(87200 * n).scaleb(-power):f} {unit}" for n in range(1, 1001)]
        bandwidth_bps = np.array([units.parse(line, "bit/s") for line in lines])
        calls = voice.voip_call_count(bandwidth_bps, payload_bytes=160, link_layer="frame")
        assert calls.tolist() == list(range(1, 1001)), unit
    assert voice.voip_call_count(87_199.0, payload_bytes=160, link_layer="frame") == 0


def test_a_codec_is_one_thing_in_a_formula_and_in_a_plan():
    """Identity: one table; a formula takes the codecs whose name stands for one rate."""
    for name in ("G.711", "g729a", "PCMU", "alaw", "G.722", "g728"):
        assert calculator.codec_bps(name) == codecs.codec(name).codec_bps
        planned = planning.voice(1.0, codec_name=name)
        assert planned.inputs["codec"]["value"] == codecs.codec(name).name
    for name in ("G.726", "G.723.1", "iLBC", "opus"):
        assert calculator.codec_bps(name) is None
