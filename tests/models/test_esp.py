"""ESP: the staircase of padding, field by field, and the largest packet found by trying."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.sizes import esp

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


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(("ip_version", "nat_traversal"), [(4, False), (4, True), (6, False)])
def test_size_and_largest_against_the_fields(suite, ip_version, nat_traversal):
    setting = {"suite": suite, "ip_version": ip_version, "nat_traversal": nat_traversal}
    payloads = np.arange(0, 1500)
    expected = [packet_by_fields(int(n), suite, ip_version, nat_traversal) for n in payloads]
    sizes = esp.esp_packet_bytes(payloads, **setting)
    np.testing.assert_array_equal(sizes, expected)
    for mtu_bytes in (1280, 1400, 1487, 1500):
        fits = payloads[np.array(expected) <= mtu_bytes].max()  # derived: exhaustive search
        assert esp.esp_payload_bytes(mtu_bytes, **setting) == fits


def test_subtracting_a_constant_is_wrong():
    # the trap: 1500 bytes take 60 more, but 1500 - 60 = 1440 does not fit
    setting = {"suite": "aes-cbc/hmac-sha1-96"}
    overhead = esp.esp_packet_bytes(1500, **setting) - 1500
    assert overhead == 60  # derived: 20 + 8 + 16 + 1504 + 12 = 1560
    assert esp.esp_payload_bytes(1500, **setting) == 1438
    assert esp.esp_packet_bytes(1438, **setting) == 1496
    assert esp.esp_packet_bytes(1439, **setting) == 1512


@pytest.mark.parametrize(
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
    assert esp.suite_sizes(written) == esp.suite_sizes(same)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (
            lambda: esp.esp_packet_bytes(1400, suite="rot13"),
            {"code": "unknown-suite", "name": "suite", "value": "rot13"},
        ),
        (lambda: esp.esp_packet_bytes(1400, suite="aes-cbc/md4"), {"name": "suite"}),
        (lambda: esp.esp_packet_bytes(-1), {"name": "payload_bytes"}),
        (lambda: esp.esp_packet_bytes(1, ip_version=7), {"name": "ip_version"}),
        (
            lambda: esp.esp_payload_bytes(50),
            {"code": "below-headers", "name": "mtu_bytes", "value": 50, "low": 56},
        ),
    ],
)
def test_impossible_arguments_are_named(call, facts):
    with pytest.raises(DomainError) as refused:
        call()
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()
