"""ESP: the staircase of padding, field by field, and the largest packet found by trying."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.sizes import headers, vpn

# published: initialization vector, block and check value, RFC 2451, 3602, 4106, 7634, 4868, 2404
SUITES = {
    "aes-cbc/hmac-sha1-96": (16, 16, 12),
    "aes-cbc/hmac-sha256-128": (16, 16, 16),
    "aes-cbc/hmac-sha512-256": (16, 16, 32),
    "3des/hmac-md5-96": (8, 8, 12),
    "null/hmac-sha1-96": (0, 1, 12),
    "aes-ctr/aes-xcbc-96": (8, 1, 12),
    "aes-gcm-8": (8, 1, 8),
    "aes-gcm-16": (8, 1, 16),
    "aes-ccm-12": (8, 1, 12),
    "chacha20-poly1305": (8, 1, 16),
}


def packet_by_fields(payload_bytes, suite, ip_version, nat_traversal):
    """Second method: RFC 4303 section 2, with the padding tried byte by byte."""
    iv, block, icv = SUITES[suite]
    align = max(4, block)
    padding = next(pad for pad in range(256) if (payload_bytes + pad + 2) % align == 0)
    ip_header, udp = (20 if ip_version == 4 else 40), (8 if nat_traversal else 0)
    spi, sequence, pad_length, next_header = 4, 4, 1, 1
    fields = (ip_header, udp, spi, sequence, iv, payload_bytes, padding, pad_length, next_header)
    return sum(fields) + icv


@pytest.mark.each("suite", SUITES)
@pytest.mark.each(("ip_version", "nat_traversal"), [(4, False), (4, True), (6, False)])
def test_size_and_largest_against_the_fields(suite, ip_version, nat_traversal):
    setting = {"suite": suite, "ip_version": ip_version, "nat_traversal": nat_traversal}
    payloads = np.arange(0, 1500)
    expected = [packet_by_fields(int(n), suite, ip_version, nat_traversal) for n in payloads]
    sizes = vpn.esp_packet_bytes(payloads, **setting)
    np.testing.assert_array_equal(sizes, expected)
    for mtu_bytes in (1280, 1400, 1487, 1500):
        fits = payloads[np.array(expected) <= mtu_bytes].max()  # derived: exhaustive search
        assert vpn.esp_payload_bytes(mtu_bytes, **setting) == fits


def test_subtracting_a_constant_is_wrong():
    # the trap: 1500 bytes take 60 more, but 1500 - 60 = 1440 does not fit
    setting = {"suite": "aes-cbc/hmac-sha1-96"}
    overhead = vpn.esp_packet_bytes(1500, **setting) - 1500
    assert overhead == 60  # derived: 20 + 8 + 16 + 1504 + 12 = 1560
    assert vpn.esp_payload_bytes(1500, **setting) == 1438
    assert vpn.esp_packet_bytes(1438, **setting) == 1496
    assert vpn.esp_packet_bytes(1439, **setting) == 1512


@pytest.mark.each(
    ("written", "same"),
    [
        ("AES-GCM", "aes-gcm-16"),
        ("aes-256-gcm-16", "aes-gcm-16"),
        ("aes128-cbc/hmac-sha1-96", "aes-cbc/hmac-sha1-96"),
        ("3des-cbc/hmac-md5-96", "3des/hmac-md5-96"),
        ("null/none", "null"),
    ],
)
def test_other_names_of_a_suite(written, same):
    assert headers.suite_sizes(written) == headers.suite_sizes(same)


@pytest.mark.each(
    ("call", "facts"),
    [
        (
            lambda: vpn.esp_packet_bytes(1400, suite="rot13"),
            {"code": "unknown-suite", "name": "suite", "value": "rot13"},
        ),
        (lambda: vpn.esp_packet_bytes(1400, suite="aes-cbc/md4"), {"name": "suite"}),
        (lambda: vpn.esp_packet_bytes(-1), {"name": "payload_bytes"}),
        (lambda: vpn.esp_packet_bytes(1, ip_version=7), {"name": "ip_version"}),
        (
            lambda: vpn.esp_payload_bytes(50),
            {"code": "below-headers", "name": "mtu_bytes", "value": 50, "low": 56},
        ),
    ],
)
def test_impossible_arguments_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


# published: RFC 2405, 2451, 3602, 5529, 3686, 4106, 4309, 4543, 7634: vector, block, check value
EVERY_CIPHER = {
    "null": (0, 1, 0), "des": (8, 8, 0), "3des": (8, 8, 0), "blowfish": (8, 8, 0),
    "aes-cbc": (16, 16, 0), "camellia-cbc": (16, 16, 0), "aes-ctr": (8, 1, 0),
    "aes-gcm-8": (8, 1, 8), "aes-gcm-12": (8, 1, 12), "aes-gcm-16": (8, 1, 16),
    "aes-gmac": (8, 1, 16), "aes-ccm-8": (8, 1, 8), "aes-ccm-12": (8, 1, 12),
    "aes-ccm-16": (8, 1, 16), "chacha20-poly1305": (8, 1, 16),
}  # fmt: skip
# published: the number in the name is the check value in bits, RFC 2403, 2404, 3566, 4494, 4868
EVERY_INTEGRITY = {
    "none": 0, "hmac-md5-96": 96, "hmac-sha1-96": 96, "aes-xcbc-96": 96, "aes-cmac-96": 96,
    "hmac-sha256-128": 128, "hmac-sha384-192": 192, "hmac-sha512-256": 256,
}  # fmt: skip


@pytest.mark.each(("cipher", "sizes"), EVERY_CIPHER.items())
def test_every_cipher(cipher, sizes):
    iv, block, icv = sizes
    assert headers.suite_sizes(cipher) == (iv, max(4, block), icv)
    # by hand: 20 of IP and 8 of ESP in front of 30 bytes, padded with their trailer of 2
    padded = 32 if max(4, block) <= 16 else None
    assert vpn.esp_packet_bytes(30, suite=cipher) == 20 + 8 + iv + padded + icv


@pytest.mark.each(("integrity", "bits"), EVERY_INTEGRITY.items())
def test_every_integrity_algorithm(integrity, bits):
    assert headers.suite_sizes(f"aes-ctr/{integrity}") == (8, 4, bits / 8)
    assert headers.suite_sizes(f"aes-gcm-16/{integrity}") == (8, 4, 16 + bits / 8)


def test_the_tables_hold_no_other_row():
    assert set(headers.CIPHERS) == set(EVERY_CIPHER)
    assert set(headers.INTEGRITY) == set(EVERY_INTEGRITY)


@pytest.mark.each(
    ("written", "sizes"),
    [
        ("aes/hmac-sha1-96", (16, 16, 12)), ("aes-128-cbc/none", (16, 16, 0)),
        ("AES192-CBC", (16, 16, 0)), ("des-cbc", (8, 8, 0)), ("aes-ccm", (8, 4, 16)),
        (" aes-gcm ", (8, 4, 16)), ("aes256-ctr", (8, 4, 0)),
    ],
)  # fmt: skip
def test_names_that_people_write(written, sizes):
    assert headers.suite_sizes(written) == sizes


@pytest.mark.each(
    ("payload", "options", "expected", "source"),
    [
        (1500, {}, 20 + 8 + 8 + 1504 + 16, "derived: 1502 padded to 4"),
        (1502, {}, 20 + 8 + 8 + 1504 + 16, "derived: 1504 needs none"),
        (1503, {}, 20 + 8 + 8 + 1508 + 16, "derived: 1505 padded to 4"),
        (1500, {"ip_version": 6}, 40 + 8 + 8 + 1504 + 16, "derived: IPv6"),
        (1500, {"nat_traversal": True}, 20 + 8 + 8 + 8 + 1504 + 16, "derived: RFC 3948"),
        (0, {}, 20 + 8 + 8 + 4 + 16, "derived: the trailer alone, padded"),
    ],
)
def test_the_suite_that_is_assumed(payload, options, expected, source):
    assert vpn.esp_packet_bytes(payload, **options) == expected, source
    if payload == 1502:
        assert vpn.esp_payload_bytes(expected) == payload, "the inverse, at a step's end"


@pytest.mark.each(
    ("mtu", "options", "expected", "source"),
    [
        (1500, {}, 1446, "derived: 1500 - 52 = 1448, of which 2 are the trailer"),
        (1499, {}, 1442, "derived: 1447 holds 1444"),
        (1500, {"ip_version": 6}, 1426, "derived: 1428 - 2"),
        (1500, {"nat_traversal": True}, 1438, "derived: 1440 - 2"),
        (56, {}, 2, "derived: one step of 4 behind 52, the trailer taken off"),
    ],
)
def test_what_the_suite_that_is_assumed_leaves(mtu, options, expected, source):
    assert vpn.esp_payload_bytes(mtu, **options) == expected, source


@pytest.mark.each("suite", [None, 16])
def test_a_suite_that_is_no_text(suite):
    with pytest.raises(TypeError):
        vpn.esp_packet_bytes(1, suite=suite)
    with pytest.raises(TypeError):
        vpn.esp_payload_bytes(1500, suite=suite)


@pytest.mark.each("mtu", [55, 0, -1])
def test_an_mtu_in_which_nothing_fits(mtu):
    with pytest.raises(DomainError):
        vpn.esp_payload_bytes(mtu)
