"""Live runs: why one did not start or go on, and what makes its times doubtful."""

from __future__ import annotations

_LOOPBACK = "Live runs go to 127.0.0.1 or ::1"
_FEWER = "Use fewer or smaller probes, a shorter interval or a faster path"
_FEWER_TRANSFERS = "Use fewer runs, or fewer or smaller writes"
_FREE_PORT = "Use port=0: the kernel picks a free one"
_SIZES = "{name} must be a whole number from {low} to {high} for {carrier}, got {value}"
_PORTS = (
    "Other programs hold them (net.ipv4.ip_local_port_range); a closed connection keeps its port "
    "for a minute"
)
_FILES = "Close some, or raise the limit (ulimit -n)"
_HANGS = "The peer hangs, or a firewall drops the packets"

_ARGUMENTS = {
    "not-a-path": "{name} must be a Path, got {value!r}",
    "whole-out-of-range": "{name} must be a whole number from {low} to {high}, got {value}",
    "size-for-tcp": _SIZES,
    "size-for-ipv4": _SIZES,
    "size-for-ipv6": _SIZES,
    "size-for-probe": _SIZES,
    "size-for-train": _SIZES,
    "needs-a-path": "{name} {value} requires a path; without one use {choices}",
    "loss-needs-path": "{name} must be 0 without a path, got {value}",
    "not-with-path": "{name} cannot be combined with a path",
    "not-with-udp": "{name} does not apply to UDP, got {value!r}",
    "not-with-tcp": "{name} must be 1 for TCP, which has no datagrams, got {value}",
    "too-large-together": (
        "{name} must be at most {high} for datagrams of {size_bytes} bytes, got {value}"
    ),
    "larger-than-mtu": "{name} must be at most {high} for an MTU of {mtu_bytes} bytes, got {value}",
    "too-many-writes": "{name} may hold at most {high:write|writes}, got {value}",
    "sum-too-large": "{name} may add up to at most {high} bytes, got {value}",
    "empty-choice": "{name} must hold at least one of {choices}",
    "repeated-choice": "{name} must name each value once, got {value}",
}

_STARTING = {
    "platform-unsupported": ("live runs require Linux or macOS; this system is {platform}"),
    "needs-linux": "this run requires Linux for {feature}; this system is {platform}",
    "option-unavailable": "this system has no {option}",
    "target-not-an-address": "not an IP address, and names are not looked up",
    "target-is-multicast": "a multicast address, which many hosts could answer",
    "target-is-broadcast": "a broadcast address, which many hosts could answer",
    "target-not-loopback": (
        "not a loopback address, and the host there has not consented to a test"
    ),
    "too-many-probes": "the run would send {count:probe|probes}, the limit is {limit:,}",
    "too-many-transfers": "the run would make {count:transfer|transfers}, the limit is {limit:,}",
    "too-many-connections": (
        "the run would open {count:connection|connections}, the limit is {limit:,}"
    ),
    "too-many-bytes": "the run would carry {carried_bytes:byte}, the limit is {limit_bytes:byte}",
    "too-many-transfer-bytes": (
        "the run would carry {carried_bytes:byte}, the limit is {limit_bytes:byte}"
    ),
    "run-too-long": "the run would take {duration_s:s}, the limit is {limit_s:s}",
    "transfers-too-long": "the run would take {duration_s:s}, the limit is {limit_s:s}",
    "handshake-too-long": (
        "a TCP handshake over this path takes {handshake_s:s}, the limit is {limit_s:s}"
    ),
    "file-not-writable": "cannot write {file}: {reason}",
    "file-is-directory": "cannot write {file}: it is a directory",
    "file-is-special": "cannot write {file}: it is a device or a pipe",
    "congestion-control-refused": "the system does not permit congestion control {wanted!r}",
    "loopback-has-no-ipv6": "the loopback has no IPv6: {reason}",
    "namespace-refused": "the system refuses a network namespace: {reason}",
    "tls-unavailable": "this Python has no TLS: {reason}",
}

_PEERS = {
    "memory-limit": (
        "this process may use {limit_bytes:byte} of memory (ulimit -v), and this command needs "
        "{needed_bytes:byte}"
    ),
    "no-memory": "out of memory",
    "no-interpreter": "the path of the Python interpreter is unknown",
    "process-not-started": "cannot start a process of the run: {reason}",
    "out-of-processes": (
        "cannot start a process of the run: no more processes or threads are allowed "
        "(ulimit -u): {reason}"
    ),
    "process-out-of-files": "cannot start a process of the run: {reason}",
    "process-out-of-memory": "cannot start a process of the run: {reason}",
    "peer-not-ready": "the peer process did not start; its output: {output}",
    "port-in-use": "the port is in use: {reason}",
    "port-not-permitted": "the port is not permitted: {reason}",
    "address-missing": "the peer cannot use this address: {reason}",
    "address-not-usable": "the peer cannot use this address: {reason}",
    "peer-ended": "the peer process ended ({status})",
    "peer-at-limit": "the peer process reached its limit of time or bytes",
    "peer-silent": "the peer process does not respond",
    "namespace-ended": "the network namespace of this run is gone: its process ended ({status})",
    "namespace-silent": "the network namespace of this run is gone: its process does not respond",
    "host-settings-kept": "kernel settings of the host are never changed",
}

_GOING_ON = {
    "peer-refused": "connection refused: no program is listening there ({reason})",
    "loopback-down": "the loopback interface is down: {reason}",
    "peer-closed": "the peer closed the connection: {reason}",
    "connection-timed-out": "connection timed out: {reason}",
    "send-not-permitted": "the system refuses to send this packet: {reason}",
    "out-of-ports": "no free port: {reason}",
    "address-not-available": "no free port, or the address does not exist: {reason}",
    "out-of-files": "too many open files: {reason}",
    "out-of-memory": "out of memory: {reason}",
    "system-error": "system error: {reason}",
    "no-replies": ("{count:probe|probes} in a row had no reply within {timeout_s:s} each"),
    "no-answers": "{count:probe|probes} in a row had no answer",
    "no-packets": "all packets of {count:train|trains} in a row were lost",
    "no-response": "no response within {timeout_s:s}",
    "wrong-greeting": "another program is listening there",
    "wrong-protocol": "the peer speaks another protocol",
    "wrong-length": "the peer speaks another protocol: it sent a message of {message_bytes} bytes",
    "wrong-response": (
        "the peer returned {got_bytes} bytes that differ from the {sent_bytes} of the request"
    ),
    "peer-stopped-reading": (
        "the peer accepted {done_bytes} of {message_bytes} bytes, then no more"
    ),
    "transfer-overdue": "the transfer did not end within {grace_s:s} of its time limit",
    "samples-not-saved": "cannot write the samples: {reason}",
}

_TRUTH = {
    "run-incomplete": "the run is incomplete",
    "no-emulated-path": "no emulated path: {reason}",
    "node-silent": "node {node} did not respond to any probe",
    "row-without-response": "{row}: no response in time",
    "limited-by-end": "the {end} was the limit",
}

_WARNINGS = {
    "ended-early": "ended by {reason} after {done} of {total} {unit}",
    "load-not-offered": (
        "the run did not reach the requested load: datagrams planned for {planned_s:s} took "
        "{took_s:s}; theory uses the measured load. Lower the rate of the path, or send larger "
        "datagrams"
    ),
    "save-postponed": "not saved after {done:g} {unit}: {reason}",
    "cpu-contention": (
        "CPU contention: other programs left {cpu_ratio:.0%} of the CPU that the run may need "
        "(threshold {least_ratio:.0%}), "
        "timers fired {late_p99_s:s} late (p99, threshold {most_late_s:s}); longer times are "
        "unreliable"
    ),
    "clock-stepped": (
        "the wall clock moved {step_s:+.3g} s against the monotonic clock: it was set, or the "
        "machine slept; times between probes may contain the gap"
    ),
    "run-suspended": (
        "the run was suspended for {longest_s:s}, {at_s:s} after its start ({count:gap|gaps} in "
        "all); exchanges in progress contain the gap"
    ),
    "late-replies": (
        "{count:reply|replies} arrived after the {timeout_s:s} timeout and count as lost"
    ),
    "stray-datagrams": "ignored {count:stray datagram|stray datagrams}",
    "damaged-replies": "ignored {count:damaged reply|damaged replies}",
    "duplicates-not-kept": (
        "{count:duplicate reply|duplicate replies}, of which {kept} are kept as rows"
    ),
    "packets-lost": "{count:packet was|packets were} lost",
    "no-responses": "{count:exchange|exchanges} had no response in time",
    "no-packet-tap": "no packet tap: {reason}",
    "no-capture": "no capture: a packet tap needs a network namespace of the run",
    "host-loopback": (
        "no network namespace ({reason}): the run used the host's loopback, whose counters cover "
        "all programs"
    ),
    "left-out": "left out {protocol}: it needs a network namespace of the run",
    "nothing-held-back": (
        "{mode}: in {free} of {rounds:round|rounds} no write waited, because the acknowledgement "
        "arrived before the next write (round trip {rtt_s:s}, {write_gap_s:s} between writes, "
        "quickack {quickack})"
    ),
    "limited-by-emulator": (
        "{count:transfer was|transfers were} limited by the emulator's send queue, not by the path"
    ),
    "cut-transfers": "{count:transfer|transfers} ended at the time limit of a transfer",
    "wrong-size-datagrams": "{count:datagram|datagrams} had a size other than the one sent",
    "duplicate-delivery": (
        "{count:transfer|transfers} delivered more bytes than were sent: packets were duplicated"
    ),
    "buffer-not-granted": (
        "requested a socket buffer of {requested_bytes} bytes, the system granted "
        "{granted_bytes} (net.core.wmem_max, net.core.rmem_max)"
    ),
}

RUNNING: dict[str, str] = {
    **_ARGUMENTS,
    **_STARTING,
    **_PEERS,
    **_GOING_ON,
    **_TRUTH,
    **_WARNINGS,
}

RUNNING_HINTS: dict[str, str] = {
    "not-a-path": "Write Path.parse({example!r})",
    "size-for-tcp": "A message starts with 4 bytes of length and 4 of sequence",
    "size-for-ipv4": "An IPv4 packet holds 65,535 bytes, 28 of them the IP and UDP headers",
    "size-for-ipv6": "An IPv6 payload holds 65,535 bytes, 8 of them the UDP header",
    "size-for-probe": "A probe starts with an 8-byte tag and fits one packet of 1500 bytes",
    "size-for-train": "A packet starts with a 12-byte tag and has at most 1500 bytes with headers",
    "needs-a-path": (
        "path=Path.parse('10 Mbit/s 1 ms'): its two ends are namespaces, which have raw sockets"
    ),
    "too-large-together": "One send call takes {limit_bytes} bytes of datagrams",
    "larger-than-mtu": "Datagrams sent in one call are not fragmented",
    "platform-unsupported": "Models, readers, plots and recorded data sets work here",
    "needs-linux": "Echo and bulk work here, as do models, readers and recorded data sets",
    "target-not-an-address": _LOOPBACK,
    "target-is-multicast": _LOOPBACK,
    "target-is-broadcast": _LOOPBACK,
    "target-not-loopback": _LOOPBACK,
    "too-many-probes": _FEWER,
    "too-many-bytes": _FEWER,
    "run-too-long": _FEWER,
    "too-many-transfers": _FEWER_TRANSFERS,
    "too-many-transfer-bytes": _FEWER_TRANSFERS,
    "transfers-too-long": _FEWER_TRANSFERS,
    "too-many-connections": "Use fewer: each connection keeps its port for a minute",
    "handshake-too-long": "Use a faster or a shorter path",
    "congestion-control-refused": "Permitted to all users: {allowed_here}; available: {available}",
    "loopback-has-no-ipv6": (
        "IPv6 is disabled on this system (net.ipv6.conf.default.disable_ipv6). Use IPv4"
    ),
    "namespace-refused": "Without mtu_bytes the run uses the host's loopback",
    "tls-unavailable": "Use protocols other than 'tls'",
    "process-not-started": "Models and readers work without it",
    "out-of-processes": "End some processes, or raise the limit",
    "process-out-of-files": _FILES,
    "process-out-of-memory": "The memory of this process, or of the machine, is used up",
    "loopback-down": "Bring it up: ip link set lo up",
    "memory-limit": "Raise the limit",
    "no-memory": "Raise the limit of this process (ulimit -v), or close other programs",
    "port-in-use": f"Another program holds it. {_FREE_PORT}",
    "port-not-permitted": f"Ports below 1024 need a privilege. {_FREE_PORT}",
    "address-missing": "This host has no such address. Try host='127.0.0.1'",
    "out-of-ports": _PORTS,
    "address-not-available": _PORTS,
    "out-of-files": _FILES,
    "no-replies": _HANGS,
    "transfer-overdue": _HANGS,
    "no-answers": "Increase timeout_s",
    "no-packets": "Increase timeout_s",
    "no-response": "The path takes longer than timeout_s, or the peer hangs",
    "samples-not-saved": "They are in the attribute partial of this error",
}
