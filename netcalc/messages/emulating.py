"""Emulated paths: what this machine refuses, and what happened on one."""

from __future__ import annotations

_REFUSED = "this system refuses network namespaces: {reason} ({step})"
_UDP_WITHOUT = "A UDP echo, and the theory of congestion, run without namespaces"

EMULATING: dict[str, str] = {
    # Settings.
    "below-mtu": "{name} must hold a packet of mtu_bytes, {low} bytes, got {value}",
    "not-net-sysctl": "{name} accepts only sysctls of net.*, got {value}",
    "no-such-link": "{name} names link {value}, but the links are 0 to {high}",
    "no-such-node": "{name} is {value}, but the nodes between the ends are 0 to {high}",
    "no-links": "{name} must hold at least one link",
    "no-log": "no log is kept: make the link or path with log=True",
    "not-sorted-times": "{name} must be a list of finite times in ascending order",
    # This system.
    "namespaces-not-linux": "an emulated path requires the network namespaces of Linux; this "
    "system is {platform}",
    "namespaces-not-permitted": _REFUSED,
    "namespaces-exhausted": _REFUSED,
    "namespaces-refused": _REFUSED,
    "tun-refused": "this system refuses a TUN device: {reason} ({step})",
    "sysctl-refused": "this system refuses to set {step}: {reason}",
    "request-refused": "this system refuses a request of the emulated path: {reason} ({step})",
    "no-free-subnet": "no free subnet: this machine has routes to all of {range}",
    # Its life.
    "path-already-open": "the emulated path is already open",
    "path-not-open": "the emulated path is not open",
    "emulator-silent": "the process of the emulated path did not respond within {timeout_s:s}",
    "emulator-interrupted": "a request to the emulated path was interrupted, so that later answers "
    "no longer match",
    "emulator-stopped": "the process of the emulated path ({pid}) is stopped, and carries nothing",
    "emulator-ended": "the process of the emulated path has ended ({ended_by} {number})",
    "device-deleted": "the device {device} at one end was deleted",
    # Programs at its ends.
    "program-not-started": "cannot start a program: {reason}",
    "program-timeout": "{program} did not end within {timeout_s:s}",
    # The relay.
    "not-loopback-target": "the relay forwards to loopback addresses only",
    "too-many-files": "the relay needs file descriptors below {limit}, and all are in use",
    "relay-used": "the path was emulated by a UDP relay on loopback, because this system refuses "
    "network namespaces; not emulated: {not_shown}",
    # What makes a run doubtful.
    "packets-unread": "the emulator did not keep up: it dropped {count:packet|packets} unread",
    "packets-late": "the emulator did not keep up: {late_ratio:.0%} of the packets were late "
    "(limit {limit_ratio:.0%})",
}

EMULATING_HINTS: dict[str, str] = {
    "namespaces-not-linux": _UDP_WITHOUT,
    "namespaces-not-permitted": "Check the sysctls user.max_user_namespaces and "
    "kernel.apparmor_restrict_unprivileged_userns, or the settings of the container. "
    + _UDP_WITHOUT,
    "namespaces-exhausted": "Raise the sysctls user.max_user_namespaces and "
    "user.max_net_namespaces. " + _UDP_WITHOUT,
    "namespaces-refused": _UDP_WITHOUT,
    "tun-refused": "Load the TUN module (modprobe tun), or omit device",
    "emulator-stopped": "A debugger or kill -STOP stopped it: let it run",
    "path-not-open": "Use it in a with statement: with EmulatedPath(...) as path:",
    "emulator-interrupted": "Close the path and open it again",
    "not-loopback-target": "Use 127.0.0.1 or ::1",
    "too-many-files": "Close files, or run the relay in a separate process",
}
