"""What readers say of paths: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

PATHS: dict[str, str] = {
    "no-path": "no measurement: no hop has a probe",
    "path-message-only": "no measurement; the tool reported {message!r}",
    "path-message": "the tool reported {messages:names}",
    "path-lines-unread": "cannot read {numbers:lines}: like a hop, and not used",
    "not-of-a-path": "ignored {numbers:lines}: not about a hop",
    "path-without-header": "the header of a run is missing; its target is unknown",
    "traceroute-unreadable": "no hop can be read with certainty",
}

PATHS_EXPECTED: dict[str, str] = {
    "no-path": "a line for each hop",
    "path-message-only": "a line for each hop",
    "traceroute-unreadable": "a node and times such as 1.234 ms",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

PATHS_HINTS: dict[str, str] = {}
