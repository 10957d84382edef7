"""What readers say of counters: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

COUNTERS: dict[str, str] = {
    "counters-nothing": "no measurement: no counter",
    "counter-pair": "a line of names is not followed by its values, but by {value!r}",
    "counter-widths": "has {count:value|values} for {names:name|names}",
    "counter-rounded": "is a rounded number, {value!r}",
    "link-without-counters": "no counters of {names:names}",
    "counter-lines-unread": "cannot read {numbers:lines}: no counters",
    "counters-implausible": (
        "implausible, as nothing counts to 2^63: {names:names}; a negative number or one that was "
        "never set, and no part of an explanation"
    ),
    "sar-restarts": "the host was restarted ({numbers:lines}); nothing is added up across it",
    "sar-average-differs": "the averages are not those of the lines above: {names:names}",
    "sar-no-average": "no averages at the end: the run was interrupted or the file is incomplete",
    "sadf-local-time": "the times are of a zone that the file does not name",
    "sadf-time": "is not a time: {value!r}",
    "no-sockets": "no measurement: no socket",
    "tcp-info-damaged": "is damaged: no message about a socket",
    "messages-cut": "the last message ends too early, at byte {offset}",
    "sockets-without-details": "{count:row has|rows have} no details of TCP",
    "not-lines-of-ss": "ignored {numbers:lines}: not of ss",
    "ss-values-unread": "{numbers:lines}: values that are not numbers are unknown",
}

COUNTERS_EXPECTED: dict[str, str] = {}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

_RUN_AGAIN = "Run the command again, and keep all that it prints"

COUNTERS_HINTS: dict[str, str] = {
    "counters-nothing": _RUN_AGAIN,
    "counter-pair": _RUN_AGAIN,
    "counter-widths": _RUN_AGAIN,
    "sadf-time": "Write it again with: sadf -d -U",
    "no-sockets": "List sockets while the connection lives: ss -tin",
    "tcp-info-damaged": "Copy the file again",
    "counter-rounded": "Run the command again without -h (human-readable numbers)",
}
