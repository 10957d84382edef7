"""What limits the rows of a table: writes, pairs, frames, and the times of lines."""

from __future__ import annotations

EXPLAINING_TABLES: dict[str, str] = {
    "limit-host-costs": "the cost of writes in the host",
    "how-host-costs": (
        "{size_bytes:byte} a write, {write_cost_s:s} per write + {byte_cost_s:s} per byte, fitted "
        "to {size_count:size|sizes}"
    ),
    "assumes-host-costs": (
        "the host is busy with writes all the time; the costs are fitted to these rows"
    ),
    "confirm-host-costs": "write twice as much at once: the writes halve, the rate rises",
    "limit-host-costs-mbufs": "the cost of writes and their buffers in the host",
    "how-host-costs-mbufs": (
        "{size_bytes:byte} a write, {write_cost_s:s} per write + {byte_cost_s:s} per byte + "
        "{mbuf_cost_s:s} per further mbuf of 4.4BSD, fitted to {size_count:size|sizes}"
    ),
    "assumes-host-costs-mbufs": (
        "the host keeps data in mbufs as 4.4BSD does; the costs are fitted to these rows"
    ),
    "confirm-host-costs-mbufs": "write 207 B and 208 B: a cluster replaces three mbufs",
    "write-cost": (
        "a write of {size_bytes:byte} takes {write_s:s}, {processor_s:s} of it on the processor of "
        "the sender; costs per write and per byte need a second size"
    ),
    "write-time": (
        "a write of {size_bytes:byte} takes {write_s:s}; costs per write and per byte need a "
        "second size"
    ),
    "limit-fitted-window": "a window",
    "how-fitted-window": (
        "{window_bytes:byte} in flight per round trip of {rtt_s:s}, fitted to {count:row|rows}"
    ),
    "assumes-fitted-window": "a window in each round trip is all that limits",
    "confirm-fitted-window": "use two connections at once: together they are faster",
    "limit-fitted-loss": "loss (Reno, Mathis)",
    "how-fitted-loss": (
        "{mss_bytes:byte} per {rtt_s:s} (fitted to {count:row|rows}, not measured), 1.22 over the "
        "root of {loss_ratio:ratio}"
    ),
    "assumes-fitted-loss": "the losses are random, and the round trip is the same in all rows",
    "confirm-fitted-loss": (
        "use four connections: each loses as much, together they are four times as fast"
    ),
    "limit-plateau": "the rate that no longer grows",
    "how-plateau": "the median of {count:row|rows}",
    "assumes-plateau": "a line, a device or a host is full there",
    "confirm-plateau": "use two connections at once: together they are as fast as one",
    "window-or-loss": (
        "{window_bytes:byte} of window give this curve, and so would {loss_ratio:ratio} of random "
        "loss: count the segments sent again (ss -ti)"
    ),
    "window-not-loss": (
        "{loss_ratio:ratio} of random loss would give the same curve, but {stated_ratio:ratio} are "
        "stated: too few"
    ),
    "window-or-stated-loss": (
        "{loss_ratio:ratio} of random loss would give the same curve, and {stated_ratio:ratio} are "
        "stated: loss may be the cause, or stand beside a window of {window_bytes:byte}"
    ),
    "response-cap": (
        "{count:row reaches|rows reach} no more than {cap_bps:bit/s} ({layer:layer}) where the law "
        "alone allows more: something else is full there (a line, a device or a host)"
    ),
    "response-flat": (
        "the rate is that in all {count:row|rows}, over which the other column changes "
        "{span:.3g}-fold"
    ),
    "fitted-trip": "nobody stated a round trip: this one is fitted; state --rtt to check it",
    "fitted-trip-agrees": "the round trip of {rtt_s:s} as stated agrees with it",
    "fitted-trip-differs": (
        "the round trip is stated as {rtt_s:s}, {factor:.3g} times the fitted one: the shape is "
        "that of the law, the height is not (several connections, another algorithm, or another "
        "round trip under load)"
    ),
    "whole-table-low": "what all rows together leave open, a row of them does not settle",
    "two-points": (
        "two rows can hardly contradict a curve: measure a third position, between or beyond them"
    ),
    "rows-left-out": (
        "{count} of {total:row|rows} left out: without a number, 0, or outside what can be"
    ),
    "sizes-rate-of-what": "what makes that rate (a line, a window, loss) is not in the times",
    "sizes-trips": (
        "{latency_s:s} are {trips:.3g} round trips of {rtt_s:s}: to open a connection and to ask "
        "takes 2, TLS one or two more"
    ),
    "limit-pair-share": "what each pair gets alone",
    "how-pair-share": (
        "{count} x {each_bps:bit/s} ({layer:layer}), the rate of each with {least_count}"
    ),
    "assumes-pair-share": "each waits for its own answers or window, and none for another",
    "confirm-pair-share": "use twice as many: the rate doubles",
    "limit-saturation": "what all reach together",
    "how-saturation": (
        "{most_bps:bit/s} ({layer:layer}) with {count}, the most seen; more add nothing"
    ),
    "assumes-saturation": "a line, a device or a host on the path is full",
    "confirm-saturation": "use twice as many: the rate stays, and the round trip grows",
    "more-pairs": "where the rate stops growing: measure with more pairs",
    "row-typo": "{likely} for {printed} is {share:.1%} of it: a typo in one digit is likely",
    "assumes-frames-counted": "the rates count frames with FCS, without preamble and gap",
    "assumes-payload-counted": "the rates count the payload of the frames alone",
    "limit-frame-costs": "the time of a device per frame and per byte",
    "how-frame-costs": (
        "{packet_cost_s:s} per frame + {byte_cost_s:s} per byte, of {frame_bytes:byte}"
    ),
    "assumes-frame-costs": "both costs are fitted to these rows, and the device does nothing else",
    "confirm-frame-costs": "measure a size between: it lies on the same line of time over size",
    "limit-likely-line": "a line of {line_bps:bit/s}",
    "how-likely-line": (
        "{payload_bytes:byte} of every {wire_bytes:byte} on {line_bps:bit/s} (line), which the "
        "largest sizes fill within 1.5%"
    ),
    "assumes-likely-line": (
        "this is a line of Ethernet, and no device with a time per frame and per byte"
    ),
    "confirm-likely-line": "read the rate of the interface (ethtool says Speed), and state --line",
    "rate-layer-open": (
        "which bytes the rates count is not said: here they are {layer}, which explains as many "
        "rows as {other}, or more"
    ),
    "rate-layer-otherwise": "as {layer}: {sentence}",
    "ask-rate-layer": (
        "what the rates count: name the column frame_throughput (frames with FCS) or goodput "
        "(payload)"
    ),
    "limit-implied-line": "a line of {line_bps:bit/s}",
    "how-implied-line": (
        "{packet_cost_s:s} per frame are preamble and gap, {unseen_bytes:byte}; {byte_cost_s:s} "
        "per byte is its rate"
    ),
    "assumes-implied-line": (
        "this is Ethernet, and no device happens to take the same times: the rates are just those "
        "of the line"
    ),
    "confirm-implied-line": "read the rate of the interface: ethtool says Speed",
    "ask-write-count": (
        "the number of writes of each row: add a column write_count, or total_bytes with their sum"
    ),
    "rates-over-time": (
        "the median of {count:row|rows}, {low:bit/s} to {high:bit/s} ({layer:layer})"
    ),
    "rates-of-nothing": "{count} of {total} rows have a rate of 0: an outage, or no test",
    "limit-row-serialization": "serialization",
    "how-row-serialization": "{count} x 8 x {size_bytes:byte} / {line_bps:bit/s} (line)",
    "assumes-row-serialization": "the size is that on the line, headers included",
    "confirm-row-serialization": "send twice as much: this part doubles",
    "limit-row-latency": "latency",
    "how-row-latency": "{latency_s:s} one way",
    "assumes-row-latency": "the latency is one way, and nothing waits in a queue",
    "confirm-row-latency": "send one byte: this part remains",
    "parts-differ": (
        "the parts add up to {sum_s:s}, the table has {measured_s:s}: one of its numbers is "
        "rounded, wrong or of another line"
    ),
}
