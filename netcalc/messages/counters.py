"""What readers say of counters: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

COUNTERS: dict[str, str] = {
    "counters-nothing": "no measurement: no counter",
    "counter-pair": "a line of names is followed by {value!r}, not by its values",
    "counter-widths": "has {count:value|values} for {names:name|names}",
    "counter-rounded": "is a rounded number, {value!r}",
    "link-without-counters": "{names:names} has no counters",
    "counter-lines-unread": "cannot read {numbers:lines}: no counters",
    "counters-implausible": (
        "implausible counters near 2^63: {names:names}; such a counter was negative or never "
        "set, and no explanation uses it"
    ),
    "sar-restarts": (
        "the host restarted ({numbers:lines}); counters are not added up across a restart"
    ),
    "sar-average-differs": "printed averages differ from the averages of the lines: {names:names}",
    "sar-no-average": "no averages at the end: the run was interrupted or the file is incomplete",
    "sadf-local-time": "the file does not name the time zone of its times",
    "sadf-time": "is not a time: {value!r}",
    "no-sockets": "no measurement: no socket",
    "tcp-info-damaged": "is damaged: no message about a socket",
    "messages-cut": "the last message is cut at byte {offset}",
    "sockets-without-details": "{count:row has|rows have} no TCP details",
    "not-lines-of-ss": "ignored {numbers:lines}: not output of ss",
    "ss-values-unread": "{numbers:lines}: values that are not numbers count as unknown",
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
