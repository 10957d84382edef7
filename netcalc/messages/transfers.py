"""What readers say of transfers: sentences as in :mod:`netcalc.messages.files`."""

from __future__ import annotations

TRANSFERS: dict[str, str] = {
    "iperf-error-only": "no measurement; iperf reported {message!r}",
    "iperf-nothing": "no measurement: neither an interval nor a total",
    "iperf-reported": "iperf reported {messages:names}",
    "iperf3-document-cut": "the last document is cut at line {line}, byte {offset}",
    "text-beside-json": "ignored {numbers:lines}: not JSON",
    "intervals-repeated": "ignored {count:interval|intervals} that the tool printed twice",
    "totals-beyond-intervals": (
        "the run stopped within an interval, so its printed total divides extra bytes by too "
        "short a time; rate and duration are taken from the intervals"
    ),
    "iperf-server-output": "left out {numbers:lines}: the server's own report of the same run",
    "iperf-lines-unread": "cannot read the interval in {numbers:lines}",
    "implausible-lines": "{numbers:lines}: impossible jitter or loss counts as unknown",
    "iperf-csv-width": "has {count} fields, not the 9 or 14 of iperf 2",
    "iperf-csv-fields": "has {count:field|fields}, the header has {wanted}",
    "iperf-csv-number": "is not a number",
    "iperf-csv-side": "counted as the sender's: the lines do not say which end wrote them",
    "not-lines-of-iperf": "ignored {numbers:lines}: not output of iperf",
    "flent-version": "is of an unsupported version",
    "flent-nothing": "no measurement: no series with values",
    "flent-no-list": "is not a list of numbers",
    "flent-length": "has {count:value|values}, but there are {wanted:time|times}",
    "flent-derived": "left out series computed from others: {names:names}",
    "flent-no-unit": "{count:series has|series have} no known unit; values are as in the file",
    "netperf-nothing": "no measurement: neither a throughput nor a transaction rate",
    "netperf-unit": "the unit {value!r} of the throughput is unknown",
    "netperf-width": "has {count:field|fields}, not the {wanted} of the test",
    "netperf-default-unit": (
        "the file names no unit or no test; netperf's default is assumed (TCP_STREAM, 10^6bits/s)"
    ),
    "not-lines-of-netperf": "ignored {numbers:lines}: not output of netperf",
    "speedtest-nothing": "no measurement: neither a download nor an upload",
    "speedtest-unit": "is {value!r}, too low for bit/s: the unit is uncertain",
    "ndt7-nothing": "no measurement: neither a byte count nor a summary",
    "ndt7-cut": "the document in line {line} is incomplete and was ignored",
    "transfer-nothing": "no measurement: no transfer finished",
    "transfer-lines-unread": "cannot read the result in {numbers:lines}",
    "transfer-rate-differs": "{numbers:lines}: the time contradicts the rate and counts as unknown",
    "curl-rounded": "sizes and rates are rounded: curl's progress meter prints no more digits",
    "scp-rounded": "sizes, rates and times are rounded: scp prints no more digits",
    "ntttcp-nothing": "no measurement: no total with a rate in mbps and a time in s",
    "ntttcp-number": "is not a number",
    "ntttcp-disagrees": "contradicts the rate and the time",
    "qperf-nothing": "no measurement: neither a rate nor a latency",
    "qperf-lines-unread": "cannot read {numbers:lines}: not values of qperf",
    "nuttcp-nothing": "no measurement: neither an interval nor a total",
    "xml-document-type": "has a document type, which is refused: it may define entities",
    "damaged-xml": "is damaged or incomplete XML",
    "flowmon-nothing": "no measurement: no flow",
    "flowmon-too-many": "has {count:flow|flows}; at most {limit:,} are read",
    "flowmon-value": "of flow {flow} is not a number, or a time without a unit",
    "flowmon-unnamed": "the file has no addresses of {names:names}",
    "not-small-writes": "ignored {numbers:lines}: neither a time nor a reply",
    "netesto-nothing": "no measurement: no experiment",
    "netesto-width": "has {count:cell|cells}, the header has {wanted}",
    "netesto-mixed": "{names:names} have values of several flows, or no numbers: unknown",
    "netesto-several": "several flows differ in {names:names}: unknown",
    "implausible-values": "treated {count:impossible value|impossible values} of {name} as unknown",
}

TRANSFERS_EXPECTED: dict[str, str] = {
    "flent-version": "a whole number from 1 to {highest}",
}
"""What should be there: the sentence ends with "; expected EXPECTED"."""

_RUN_AGAIN = "Let the tool run to its end, and keep all that it prints"
_AS_WRITTEN = "Use the output as the tool wrote it, not an edited copy"

TRANSFERS_HINTS: dict[str, str] = {
    "iperf-error-only": "Mend what the message says, and run iperf again",
    "iperf-nothing": _RUN_AGAIN,
    "iperf-csv-width": _AS_WRITTEN,
    "iperf-csv-fields": _AS_WRITTEN,
    "iperf-csv-number": _AS_WRITTEN,
    "flent-version": "Write it again with the flent that made it, or update this copy of netcalc",
    "flent-nothing": "Run the test again: no tool of it gave a value",
    "flent-no-list": _AS_WRITTEN,
    "flent-length": _AS_WRITTEN,
    "netperf-nothing": _RUN_AGAIN,
    "netperf-unit": "Run netperf with: -f m",
    "netperf-width": _AS_WRITTEN,
    "speedtest-nothing": _RUN_AGAIN,
    "speedtest-unit": "Measure with a tool that names the unit, as Ookla's speedtest --format=json",
    "ndt7-nothing": _RUN_AGAIN,
    "transfer-nothing": _RUN_AGAIN,
    "ntttcp-nothing": _RUN_AGAIN,
    "ntttcp-number": _AS_WRITTEN,
    "ntttcp-disagrees": _AS_WRITTEN,
    "qperf-nothing": _RUN_AGAIN,
    "nuttcp-nothing": _RUN_AGAIN,
    "xml-document-type": "Remove the line that begins with <!DOCTYPE",
    "flowmon-nothing": "Let the simulation send packets while the monitor runs",
    "flowmon-too-many": "Serialize fewer flows",
    "flowmon-value": "Use the file as ns-3 wrote it",
    "netesto-nothing": _RUN_AGAIN,
    "netesto-width": _AS_WRITTEN,
}
