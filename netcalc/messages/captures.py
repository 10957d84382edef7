"""Captures that cannot be read right, their limits, and their damage."""

from __future__ import annotations

CAPTURES: dict[str, str] = {
    # opening
    "damaged-compression": "is damaged compressed data",
    "compressed-data-cut": "the compressed data is cut; the packets before the cut are kept",
    "text-for-a-capture": "is open in text mode, but a capture is binary",
    "zstd-not-at-hand": "is zstd data, which needs Python 3.14 or the package backports.zstd",
    "not-a-capture": "is neither pcap nor pcapng",
    "capture-header-cut": "is a capture cut in its header, after {count} of {total} bytes",
    "capture-version": "is a capture of an unknown version",
    "link-type-reserved-bits": "is damaged: reserved bits of the link type are set",
    "link-type-not-read": "has only packets of link type {link_types}",
    "capture-empty": "no measurement: the capture has no packets",
    "too-many-packets": "has more than {limit:,} packets",
    "packet-list-empty": "no measurement: there are no packets in the list",
    "packet-row-width": "has {found:cell|cells} where the header has {wanted}",
    "packet-columns-alike": "has two columns with the same meaning",
    "packet-text-columns": "is a packet list as text whose columns cannot be told apart",
    "packet-text-row": "is a packet list as text with a row that is ambiguous",
    "packet-field-not-a-number": "packet {packet} has {value!r} where a number is expected",
    "packet-time-unread": "cannot read times such as {value!r}",
    "packet-times-since-last": (
        "times count from the previous packet; packets may be missing from the list, so they "
        "cannot be added up"
    ),
    "packet-times-ambiguous": (
        "times may count from the first packet or from the previous packet: left out"
    ),
    "packet-lines-skipped": "ignored {count:line|lines} without a packet: {numbers:lines}",
    "packet-field-several": (
        "{count:packet has|packets have} {field} more than once (tunnels): left out"
    ),
    "packet-row-cut": "the last row is incomplete: left out",
    # damage
    "first-record-damaged": "is damaged: no complete record at byte {offset}, {left:byte} left",
    "record-header-cut": (
        "packet {number} at byte {offset}: the file ends in its header, {left:byte} left; the "
        "packets before it are kept"
    ),
    "record-cut": (
        "packet {number} at byte {offset}: the file ends within it, {left:byte} left; the packets "
        "before it are kept"
    ),
    "record-length-impossible": (
        "packet {number} at byte {offset} claims {claimed:,} bytes, {left:,} left; the packets "
        "before it are kept"
    ),
    "record-header-variant": "the record headers have {header_bytes} bytes instead of 16",
    "first-block-damaged": "is damaged: no packet before the fault {fault!r} at byte {offset}",
    "block-cut": (
        "the block before packet {number}, at byte {offset}, is incomplete: {left:byte} left; the "
        "packets before it are kept"
    ),
    "block-length-impossible": (
        "the block at byte {offset} claims {claimed:,} bytes; the packets before it are kept"
    ),
    "block-before-section": "the block at byte {offset} is not in a section",
    "section-byte-order-unknown": (
        "the section at byte {offset} has no byte order; the packets before it are kept"
    ),
    "section-version": (
        "the section at byte {offset} is of version {claimed}; the packets before it are kept"
    ),
    "too-many-interfaces": "more than {claimed:,} interfaces at byte {offset}",
    "packet-beyond-block": (
        "packet {number} at byte {offset} claims {claimed:,} bytes, more than its block has; the "
        "packets before it are kept"
    ),
    "no-such-interface": (
        "packet {number} at byte {offset} refers to interface {claimed}, which the file does not "
        "describe; the packets before it are kept"
    ),
    "options-beyond-block": "ignored options beyond the end of the block at byte {offset}",
    # its limits
    "capture-dropped": (
        "the capture dropped {count:packet|packets}: a missing packet need not be lost"
    ),
    "link-type-skipped": ("did not decode {count:packet|packets} of link type {number} ({name})"),
    "packets-without-time": "{count:packet has|packets have} no time stamp",
    "time-goes-back": (
        "time stamps go back {count:time|times}, by up to {largest_s:s}: several clocks or "
        "interfaces, or a clock that was set"
    ),
    "kept-above-original": "{count:packet is|packets are} longer in the file than on the link",
    "snap-length": (
        "{count:packet was|packets were} cut at {snap_bytes:byte} (snap length); lengths are "
        "those in the headers"
    ),
    "headers-cut": "the snap length cut the headers of {count:packet|packets}",
    "lengths-disagree": "header lengths of {count:packet|packets} contradict the frame",
    "ip-fragments": "{count:IP fragment|IP fragments}: only headers are reassembled",
    "length-left-to-card": (
        "{count:packet has|packets have} an IP length of 0, left to segmentation offload (TSO); "
        "the length of the frame is used"
    ),
    "packets-mirrored": (
        "{count:packet is a copy|packets are copies} of another within {within_s:s}, as at a "
        "mirror port: left out of flows, losses and rates"
    ),
    "packets-without-ip": "{count:frame|frames} with neither IP nor ARP",
    "flows-begun-before": (
        "{count} of {total:TCP flow|TCP flows} began before the capture: handshake and window "
        "scale are unknown"
    ),
    "flows-one-sided": (
        "{count} of {total:TCP flow|TCP flows} show one direction only: no round trips, and no "
        "loss in the other direction"
    ),
    "handshakes-cut": (
        "{count} of {total:TCP flow|TCP flows}: the snap length cut the options of the handshake, "
        "so that window scale and MSS may be unknown"
    ),
    "handshakes-repeated": (
        "{count} of {total:TCP flow|TCP flows} repeated the SYN; their handshake time starts at "
        "the last SYN"
    ),
    "no-such-flow": (
        "{name} must be the number of one of {count:TCP flow|TCP flows}, from 0, got {value}"
    ),
    "offload-frames": (
        "{count:packet|packets} of up to {largest_bytes:byte}: merged by GRO or not yet cut by "
        "TSO, so packets, gaps and windows differ from those on the link"
    ),
    "offload-or-jumbo": (
        "{count:packet|packets} of up to {largest_bytes:byte}: without the handshake (MSS) jumbo "
        "frames cannot be told from GRO/TSO super-packets"
    ),
}

CAPTURES_EXPECTED: dict[str, str] = {
    "not-a-capture": "the first bytes of a pcap or pcapng file",
    "capture-version": "pcap 2.0 to 2.4",
    "link-type-not-read": "Ethernet, NULL, LOOP, RAW, IPv4, IPv6, SLL, SLL2, PPP or PPPoE",
    "packet-text-columns": "No. Time Source Destination Protocol Length Info",
    "packet-text-row": "the cells below the names of the header, or two addresses",
}

_COPY_AGAIN = "Copy the file again"

_AS_CSV = "In Wireshark: File > Export Packet Dissections > As CSV"

CAPTURES_HINTS: dict[str, str] = {
    "packet-text-columns": _AS_CSV,
    "packet-text-row": _AS_CSV,
    "damaged-compression": _COPY_AGAIN,
    "text-for-a-capture": "Read it by its name, or open it in binary mode",
    "not-a-capture": "netcalc read finds out what it is",
    "capture-header-cut": _COPY_AGAIN,
    "capture-version": "Convert it with: editcap FILE NEW.pcapng",
    "link-type-reserved-bits": _COPY_AGAIN,
    "link-type-not-read": "Capture on a link that carries IP, or extract the IP packets first",
    "capture-empty": "Capture again, with a filter that lets the packets through",
    "first-record-damaged": _COPY_AGAIN,
    "first-block-damaged": _COPY_AGAIN,
    "packet-list-empty": "Export the list again, with all packets displayed",
    "packet-row-width": "Export the list again, with every field in quotes",
    "packet-columns-alike": "Leave out one of the two columns",
    "packet-field-not-a-number": "Export the list again, without editing it",
    "packet-time-unread": "Export times as seconds since the epoch",
    "packet-times-since-last": "Export times as seconds since the beginning of the capture",
    "zstd-not-at-hand": "Install it with: pip install backports.zstd; or run: zstd -d",
    "too-many-packets": "Split it, or read it in parts",
}

CAPTURES_PYTHON_HINTS: dict[str, str] = {
    "too-many-packets": "netcalc.readers.captures.stream_capture reads one part after the other",
    "text-for-a-capture": "Open it in binary mode",
}
