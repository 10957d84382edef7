"""Text that is not one quantity, one name or one formula.

``shown`` is the text, quoted and cut where it is long; ``expected`` the quantity wanted.
"""

from __future__ import annotations

TEXTS: dict[str, str] = {
    "text-empty": "{expected} is required, got an empty text",
    "no-number": "{shown} is not {expected}: it contains no number",
    "malformed-number": "{shown} is not {expected}: {number!r} is not one number",
    "number-too-large": "{shown} is too large for a number",
    "ambiguous-number": "{shown} is ambiguous: write {readings:or}",
    "ambiguous-unit": "{shown} is ambiguous: write {readings:or}",
    "unit-missing": "{shown} needs a unit: {readings:or}",
    "unit-of-other-kind": "{shown} is not {expected}: {written!r} is a unit of {kind}",
    "unit-unknown": "{shown} is not {expected}: the unit {written!r} is unknown",
    "units-incomparable": "{shown} measures {kind}, {to_unit!r} measures {to_kind}",
    "kind-unknown": "{shown} is not a unit of netcalc, which are {known}",
    "line-unknown": "{shown} is not a named line",
}

TEXTS_HINTS: dict[str, str] = {
    "text-empty": "Write for example {example}",
    "no-number": "Write for example {example}",
    "unit-of-other-kind": "Write for example {example}",
    "unit-unknown": "Write for example {example}",
    "line-unknown": "Known: {known}",
}

COMMAND_LINE: dict[str, str] = {
    "unknown-command": "{command} has no command {name!r}",
    "unknown-option": "{command} has no option {option}",
    "argument-missing": "{name} is required",
    "unexpected-argument": "unexpected argument: {words}",
    "option-without-value": "{option} requires a value",
    "lessons-missing": "there are no lessons in this folder",
    "server-silent": "the server did not respond within {limit_s:s}",
    "server-ended": "the server ended with exit code {exit_code}",
    "nothing-to-draw": "has no sizes and times to draw",
    "nothing-matches": "no formula matches {words!r}",
    "several-results": "{formula} has several results, a plot shows one",
    "malformed-argument-sweep": (
        "{name} must be ARGUMENT=LOW:HIGH:STEPS, such as rtt=1ms:300ms:log50, got {value}"
    ),
    "malformed-count": "{name} must be a number or a range, such as 13 or 12-13, got {value}",
    "not-a-whole-number": "{name} must be a whole number, got {value}",
}
"""A line that names no command, no option, or has a word too many or too few."""

COMMAND_LINE_HINTS: dict[str, str] = {
    "unknown-command": "{command} --help lists its commands",
    "unknown-option": "{command} --help lists its options",
    "argument-missing": "{command} --help describes it",
    "unexpected-argument": (
        'A value that contains spaces needs quotes, as in "1 Gbit/s 40 ms"; {command} --help '
        "lists the arguments"
    ),
    "lessons-missing": "Install netcalc-lab again; its files are missing",
    "server-ended": "Its messages are above",
    "nothing-matches": "netcalc calc --list lists all formulas",
    "several-results": "Print the sweep without --plot",
    "nothing-to-draw": (
        "Without --plot it is summarized; a figure requires columns such as size and rtt"
    ),
}

_LOOPBACK = (
    "Without --path and --routed a run uses the loopback; netcalc doctor reports what this machine "
    "can emulate"
)
TYPED_HINTS: dict[str, str] = {
    "no-header": "Add a header",
    "column-without-unit": "Write {column} [{example}] in the header",
    "namespaces-not-linux": _LOOPBACK,
    "namespaces-not-permitted": (
        "Check the sysctls user.max_user_namespaces and "
        "kernel.apparmor_restrict_unprivileged_userns, or the settings of the container. "
        + _LOOPBACK
    ),
    "namespaces-exhausted": (
        "Raise the sysctls user.max_user_namespaces and user.max_net_namespaces. " + _LOOPBACK
    ),
    "namespaces-refused": _LOOPBACK,
    "tun-refused": "Load the module of TUN devices (modprobe tun). " + _LOOPBACK,
    "no-answers": "Increase --timeout",
    "no-packets": "Increase --timeout",
    "no-response": "The path takes longer than --timeout, or the peer hangs",
    "percent-for-ratio": "",
    "tls-unavailable": "Name protocols other than tls by --protocol",
    "address-missing": "This host has no such address. Try --host 127.0.0.1",
    "port-in-use": "Another program holds it. Without --port the kernel picks a free one",
    "port-not-permitted": (
        "Ports below 1024 require a privilege. Without --port the kernel picks a free one"
    ),
    "namespace-refused": "Without --mtu the run uses the loopback of this machine",
    "samples-not-saved": "The summary of the samples is above",
}
"""Hints to those who typed a command, where the hint of the code is for callers from Python."""
