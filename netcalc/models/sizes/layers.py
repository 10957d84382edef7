"""The layers of a stack of tunnels: their names, their headers, and what padding does to a size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.models.sizes.headers import ip_header_bytes, suite_sizes, without_headers
from netcalc.models.sizes.vpn import (
    WIREGUARD_ALIGN_BYTES,
    esp_packet_bytes,
    esp_payload_bytes,
    wireguard_overhead_bytes,
)

ON_ETHERNET = {"pppoe": 8.0, "tag": 4.0, "macsec": 32.0, "macsec_no_sci": 24.0}
"""Headers that follow an Ethernet header. RFC 2516 (6 and 2 of PPP); IEEE 802.1Q; IEEE 802.1AE: a
SecTAG of 16, without its SCI of 8, and an ICV of 16 behind the data."""

PLAIN = {
    "eth": 14.0,  # an Ethernet header without FCS, RFC 4448
    "cw": 4.0,  # RFC 4385
    "ipip": 20.0,  # RFC 2003
    "sit": 20.0,
    "6in4": 20.0,  # RFC 4213
    "6rd": 20.0,  # RFC 5969
    "4in6": 40.0,  # RFC 2473
    "ipip6": 40.0,
    "ip6ip6": 40.0,
    "l2tpv2_udp": 20.0 + 8.0 + 6.0 + 4.0,  # RFC 2661: six bytes without length, PPP 4
    "l2tpv2_udp6": 40.0 + 8.0 + 6.0 + 4.0,
}
"""Headers of one size, an outer IP header included where there is one. [byte]"""

OVER_IP = {
    "udp": 8.0,
    "gre": 4.0,  # RFC 2784
    "gretap": 4.0 + 14.0,
    "vxlan": 8.0 + 8.0 + 14.0,  # RFC 7348
    "geneve": 8.0 + 8.0 + 14.0,  # RFC 8926
    "nvgre": 8.0 + 14.0,  # RFC 7637
    "gtpu": 8.0 + 8.0,  # 3GPP TS 29.281
    "lisp": 8.0 + 8.0,  # RFC 9300
    "l2tpv3_ip": 4.0 + 14.0,  # RFC 3931: session ID; RFC 4719: Ethernet
    "l2tpv3_udp": 8.0 + 4.0 + 4.0 + 14.0,
    "stt": 20.0 + 18.0 + 14.0,  # draft-davie-stt-08, 3: of the first segment of a frame
    "openvpn": 8.0 + 4.0 + 4.0 + 16.0,  # opcode and peer, packet ID, tag of AEAD ciphers
    "fastd": 8.0 + 24.0,  # its manual, "MTU configuration": any method but null
}
"""Headers behind an outer IP header, the inner Ethernet header included. [byte]"""

CARRIES_ETHERNET = (
    "eth", "tag", "macsec", "macsec_no_sci", "gretap", "vxlan", "geneve", "nvgre", "l2tpv3_ip",
    "l2tpv3_udp", "stt", "tap",
)  # fmt: skip
"""Layers with an Ethernet header at their inner end."""
CARRIES_IP_ONLY = ("wireguard", "esp", "openvpn", "fastd", "lisp")
CARRIES_VERSION = {"ipip": 4, "6in4": 6, "6rd": 6, "4in6": 4, "ipip6": 4, "ip6ip6": 6}
"""The IP version inside a tunnel of one version in another."""
_OPTIONS = {
    "gre": {"key": 4.0, "seq": 4.0, "csum": 4.0},  # RFC 2890
    "gretap": {"key": 4.0, "seq": 4.0, "csum": 4.0, "inner_vlan": 4.0},
    "vxlan": {"inner_vlan": 4.0},
    "geneve": {"inner_vlan": 4.0},
    "nvgre": {"inner_vlan": 4.0},
    "gtpu": {"pdu": 8.0},  # TS 38.415: optional fields 4, container 4
    "l2tpv3_ip": {"cookie4": 4.0, "cookie8": 8.0, "l2spec": 4.0},  # RFC 3931, 4.1.1 and 4.6
    "l2tpv3_udp": {"cookie4": 4.0, "cookie8": 8.0, "l2spec": 4.0},
    "openvpn": {"tap": 14.0, "comp": 1.0},
    "fastd": {"tap": 14.0, "null": 1.0 - 24.0},
}
OPTIONS = (
    *(f"{base}_{'/'.join(options)}" for base, options in _OPTIONS.items()),
    "geneve4_opt8", "mpls2", "esp4:SUITE:transport/nat",
)  # fmt: skip
"""Layers with their options, of which ``opt8``, ``mpls2`` and a suite stand for others."""

_CACHED = 256
"""Stacks that are kept as they were read."""


class Layer(NamedTuple):
    """One layer: a header of one size, or a tunnel that pads."""

    base: str
    header_bytes: float = 0.0
    ip_version: int = 4
    suite: str = ""
    transport: bool = False
    nat_traversal: bool = False


@named_arguments
def stack_layers(stack: str) -> tuple[Layer, ...]:
    """Return the layers of a stack, outermost first; no layer of ``"none"``."""
    if not isinstance(stack, str):
        raise ArgumentTypeError("not-text", "stack", value=stack, example="vxlan4+wireguard4")
    return _layers(stack)


@lru_cache(maxsize=_CACHED)
def _layers(stack: str) -> tuple[Layer, ...]:
    if not stack.strip():
        raise DomainError("stack-empty", "stack", stack)
    names = [] if stack.strip().lower() == "none" else stack.lower().split("+")
    layers = tuple(_layer(name.strip()) for name in names)
    for below, layer in zip((None, *layers), layers, strict=False):
        _refuse_impossible(stack, layer, below)
    return _merge(layers)


def _refuse_impossible(stack: str, layer: Layer, below: Layer | None) -> None:
    """Refuse a layer that the one around it does not carry; the outermost is in Ethernet."""
    on_ethernet = below is None or below.base in CARRIES_ETHERNET
    base, around = layer.base, "Ethernet" if below is None else below.base
    if base in ON_ETHERNET and not on_ethernet:
        raise DomainError(
            "only-on-ethernet", "stack", stack, layer=base, below=around,
            suggestions=_in_order(stack),
        )  # fmt: skip
    if base == "eth" and on_ethernet:
        raise DomainError("ethernet-in-ethernet", "stack", stack, below=around)
    if base == "cw" and around != "mpls":
        raise DomainError("control-word-without-label", "stack", stack, layer=base, below=around)
    if base in ("eth", "cw", "mpls"):
        if around in CARRIES_IP_ONLY:
            raise DomainError("only-ip-inside", "stack", stack, layer=base, below=around)
        return
    version, carried = layer.ip_version, CARRIES_VERSION.get(around, layer.ip_version)
    if version != carried:
        raise DomainError(
            "other-ip-inside", "stack", stack, layer=base, below=around, version=version,
            carried=carried,
        )  # fmt: skip


def _in_order(stack: str) -> list[str]:
    """Return the stack with what runs over Ethernet only outermost; nothing if that is none."""
    names = stack.lower().split("+")
    rank = {"tag": 0, "pppoe": 1}
    ordered = sorted(names, key=lambda name: rank.get(_layer(name.strip()).base, len(rank)))
    if ordered == names:
        return []
    try:
        _layers("+".join(ordered))
    except DomainError:
        return []
    return ["+".join(ordered)]


def _merge(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Return the layers with neighbours that only add headers made one."""
    merged: list[Layer] = []
    for layer in layers:
        if merged and layer.header_bytes and merged[-1].header_bytes:
            layer = Layer("plain", merged.pop().header_bytes + layer.header_bytes)
        merged.append(layer)
    return tuple(merged)


@named_arguments
def is_layer(name: str) -> bool:
    """Whether a name is one layer of a stack, with its options."""
    try:
        _layer(name.lower())
    except DomainError:
        return False
    return True


def _layer(name: str) -> Layer:
    if name in PLAIN or name in ON_ETHERNET:
        version = 6 if name in ("4in6", "ipip6", "ip6ip6", "l2tpv2_udp6") else 4
        return Layer(name, (PLAIN | ON_ETHERNET)[name], version)
    if labels := re.fullmatch(r"mpls([1-9]\d?)?", name):
        return Layer("mpls", 4.0 * int(labels[1] or 1))
    if wireguard := re.fullmatch(r"(?:wireguard|wg)([46])?", name):
        return Layer("wireguard", ip_version=int(wireguard[1] or 4))
    if esp := re.fullmatch(r"esp([46])?(?::(?!transport|nat)([\w/-]+))?(:transport)?(:nat)?", name):
        suite = esp[2] or "aes-gcm-16"
        suite_sizes(suite)
        return Layer("esp", 0.0, int(esp[1] or 4), suite, bool(esp[3]), bool(esp[4]))
    if (over_ip := _over_ip(name)) is not None:
        return over_ip
    raise DomainError(
        "unknown-layer",
        "stack",
        name,
        layers=[*ON_ETHERNET, *PLAIN, *OVER_IP, "mpls", "wireguard", "esp"],
        options=list(OPTIONS),
        suggestions=_near(name),
    )


def _over_ip(name: str) -> Layer | None:
    """Return a layer of :data:`OVER_IP` with its options; None if it is none."""
    match = re.fullmatch(r"(l2tpv3(?:_ip|_udp)?|[a-z]+)([46])?((?:_[a-z0-9]+)*)", name)
    if match is None:
        return None
    base, version = match[1], int(match[2] or 4)
    base = "l2tpv3_ip" if base == "l2tpv3" else base
    added = _option_bytes(base, match[3]) if base in OVER_IP else None
    if added is None:
        return None
    size = ip_header_bytes(version) + OVER_IP[base] + added
    return Layer("tap" if "_tap" in match[3] else base, size, version)


def _near(name: str) -> list[str]:
    """Return layers that a name may mean: ``gre_key`` for ``gre:key`` and for ``key``."""
    plain = re.sub(r"[^a-z0-9]+", "_", name)
    numbered = re.sub(r"_(\d+)$", r"_opt\1", plain)  # the bytes of options
    once = "_".join(dict.fromkeys(name.split("_")))
    near = [text for text in (plain, numbered, once) if text != name and _over_ip(text) is not None]
    of_option = [f"{base}_{plain}" for base, options in _OPTIONS.items() if plain in options]
    return list(dict.fromkeys(near)) or of_option


def _option_bytes(base: str, options: str) -> float | None:
    """Return the bytes that suffixes such as ``_key_seq`` add; None for an unknown option."""
    sizes, total = _OPTIONS.get(base, {}), 0.0
    names = options.replace("_inner_vlan", "_inner-vlan").split("_")[1:]
    if len({name.rstrip("0123456789") for name in names}) < len(names):
        return None  # a header has each of them once
    for option in names:
        size = re.fullmatch(r"opt(\d+)", option)
        if base == "geneve" and size and int(size[1]) % 4 == 0 and int(size[1]) <= 252:
            total += int(size[1])
        elif (name := option.replace("-", "_")) in sizes:
            total += sizes[name]
        else:
            return None
    return total


@named_arguments
def inside(layer: Layer, outer: FloatArray) -> FloatArray:
    """Return the largest packet inside a layer whose outside may have ``outer`` bytes."""
    if layer.base == "esp":
        inner = esp_payload_bytes(
            outer,
            suite=layer.suite,
            ip_version=layer.ip_version,
            nat_traversal=layer.nat_traversal,
        )
        return inner + ip_header_bytes(layer.ip_version) if layer.transport else inner
    return without_headers("mtu_bytes", outer, fixed_bytes(layer))


@named_arguments
def outside(layer: Layer, inner: FloatArray, largest: FloatArray) -> FloatArray:
    """Return the size of a packet with the header of a layer; WireGuard pads up to ``largest``."""
    if layer.base == "esp":
        own = ip_header_bytes(layer.ip_version) if layer.transport else 0.0
        return esp_packet_bytes(
            without_headers("packet_bytes", inner, own),
            suite=layer.suite,
            ip_version=layer.ip_version,
            nat_traversal=layer.nat_traversal,
        )
    if layer.base == "wireguard":
        padded = np.ceil(inner / WIREGUARD_ALIGN_BYTES) * WIREGUARD_ALIGN_BYTES
        inner = np.where(inner <= largest, np.minimum(padded, largest), padded)
    return inner + fixed_bytes(layer)


@named_arguments
def fixed_bytes(layer: Layer) -> float:
    """Return the headers of a layer whose size does not depend on the packet; padding aside."""
    if layer.base == "wireguard":
        return float(wireguard_overhead_bytes(layer.ip_version))
    return layer.header_bytes
