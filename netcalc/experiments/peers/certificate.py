"""A certificate for one run: self-signed, made here, never on a disk, good for nothing else.

The standard library speaks TLS but makes no certificates, so the few formulas are here: a key on
the curve P-256, and an ECDSA signature over the shortest certificate that TLS 1.3 accepts. It is
for a server on this machine, for as long as a run lasts; it proves nothing and protects nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_A = _P - 3
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_EC_KEY = bytes.fromhex("06072a8648ce3d0201")
_P256 = bytes.fromhex("06082a8648ce3d030107")
_ECDSA_SHA256 = bytes.fromhex("06082a8648ce3d040302")
_COMMON_NAME = bytes.fromhex("0603550403")
_INTEGER, _BITS, _OCTETS, _TEXT, _TIME = 0x02, 0x03, 0x04, 0x0C, 0x17
_SEQUENCE, _SET = 0x30, 0x31

_Point = tuple[int, int] | None


def self_signed() -> bytes:
    """Return a new key and its certificate, as PEM."""
    key = secrets.randbelow(_N - 1) + 1
    x, y = _point(_times(key, _G))
    public = _der(_BITS, b"\0\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big"))
    name = _der(
        _SEQUENCE, _der(_SET, _der(_SEQUENCE, _COMMON_NAME, _der(_TEXT, b"netcalc, one run")))
    )
    algorithm = _der(_SEQUENCE, _ECDSA_SHA256)
    body = _der(
        _SEQUENCE,
        _number(secrets.randbits(63) + 1),
        algorithm,
        name,
        _der(_SEQUENCE, _der(_TIME, b"200101000000Z"), _der(_TIME, b"491231235959Z")),
        name,
        _der(_SEQUENCE, _der(_SEQUENCE, _EC_KEY, _P256), public),
    )
    certificate = _der(_SEQUENCE, body, algorithm, _der(_BITS, b"\0" + _signature(key, body)))
    private = _der(
        _SEQUENCE,
        _number(1),
        _der(_OCTETS, key.to_bytes(32, "big")),
        _der(0xA0, _P256),
        _der(0xA1, public),
    )
    return _pem("EC PRIVATE KEY", private) + _pem("CERTIFICATE", certificate)


def in_memory(pem: bytes) -> int:
    """Return the descriptor of a file that has no name and is on no disk."""
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    os.write(descriptor, pem)
    return descriptor


def _signature(key: int, body: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(body).digest(), "big")
    nonce = secrets.randbelow(_N - 1) + 1
    r = _point(_times(nonce, _G))[0] % _N
    s = pow(nonce, -1, _N) * (digest + r * key) % _N
    return _der(_SEQUENCE, _number(r), _number(s))


def _times(factor: int, point: _Point) -> _Point:
    """Return a multiple of a point on the curve."""
    result: _Point = None
    while factor:
        if factor & 1:
            result = _sum(result, point)
        point = _sum(point, point)
        factor >>= 1
    return result


def _sum(first: _Point, second: _Point) -> _Point:
    if first is None or second is None:
        return second if first is None else first
    (x1, y1), (x2, y2) = first, second
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    if first == second:
        slope = (3 * x1 * x1 + _A) * pow(2 * y1, -1, _P) % _P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, _P) % _P
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _point(point: _Point) -> tuple[int, int]:
    assert point is not None, "a factor below the order of the curve never gives its zero"
    return point


def _number(value: int) -> bytes:
    return _der(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(digits))) + digits + content


def _pem(label: str, data: bytes) -> bytes:
    text = base64.encodebytes(data).replace(b"\n", b"")
    lines = b"\n".join(text[place : place + 64] for place in range(0, len(text), 64))
    return b"-----BEGIN %b-----\n%b\n-----END %b-----\n" % (label.encode(), lines, label.encode())
