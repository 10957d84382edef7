"""Ciphers and integrity algorithms of ESP by name, and what they add to a packet."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from netcalc.checks import named_arguments
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.printable import safe_repr


class Cipher(NamedTuple):
    """Overhead of a cipher per packet."""

    iv_bytes: float
    block_bytes: float
    icv_bytes: float = 0.0


CIPHERS: dict[str, Cipher] = {
    "null": Cipher(0, 1),
    "des": Cipher(8, 8),
    "3des": Cipher(8, 8),
    "blowfish": Cipher(8, 8),
    "aes-cbc": Cipher(16, 16),
    "camellia-cbc": Cipher(16, 16),
    "aes-ctr": Cipher(8, 1),
    "aes-gcm-8": Cipher(8, 1, 8),
    "aes-gcm-12": Cipher(8, 1, 12),
    "aes-gcm-16": Cipher(8, 1, 16),
    "aes-gmac": Cipher(8, 1, 16),
    "aes-ccm-8": Cipher(8, 1, 8),
    "aes-ccm-12": Cipher(8, 1, 12),
    "aes-ccm-16": Cipher(8, 1, 16),
    "chacha20-poly1305": Cipher(8, 1, 16),
}
"""Ciphers by name; those with a check value of their own need no second algorithm.
RFC 2410, 2405, 2451, 3602, 5529, 3686, 4106, 4543, 4309, 7634."""

INTEGRITY: dict[str, float] = {
    "none": 0.0,
    "hmac-md5-96": 12.0,
    "hmac-sha1-96": 12.0,
    "aes-xcbc-96": 12.0,
    "aes-cmac-96": 12.0,
    "hmac-sha256-128": 16.0,
    "hmac-sha384-192": 24.0,
    "hmac-sha512-256": 32.0,
}
"""Integrity algorithms by name and the size of their check value. [byte]
RFC 2403, 2404, 3566, 4494, 4868."""


class Suite(NamedTuple):
    """Overhead of a cipher with an integrity algorithm per packet."""

    iv_bytes: float
    align_bytes: float
    icv_bytes: float


@named_arguments
def suite_sizes(suite: str) -> Suite:
    """Return the sizes of a suite such as ``aes-cbc/hmac-sha1-96`` or ``aes-gcm-16``."""
    if not isinstance(suite, str):
        raise ArgumentTypeError("not-text", "suite", safe_repr(suite), example="aes-gcm-16")
    return _sizes(suite)


@cache
def _sizes(suite: str) -> Suite:
    name, _, check = suite.strip().lower().partition("/")
    name = re.sub(r"^aes-?(?:128|192|256)-", "aes-", re.sub(r"^(3?des)-cbc$", r"\1", name))
    name = {"aes-gcm": "aes-gcm-16", "aes-ccm": "aes-ccm-16", "aes": "aes-cbc"}.get(name, name)
    cipher = CIPHERS.get(name)
    icv = INTEGRITY.get(check or "none")
    if cipher is None or icv is None:
        raise DomainError(
            "unknown-suite", "suite", suite, ciphers=list(CIPHERS), integrity=list(INTEGRITY)
        )
    return Suite(cipher.iv_bytes, max(4.0, cipher.block_bytes), cipher.icv_bytes + icv)
