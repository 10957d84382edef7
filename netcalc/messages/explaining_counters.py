"""What counters, summaries and stalls mean: drops, waits, and what is missing for a limit."""

from __future__ import annotations

EXPLAINING_COUNTERS: dict[str, str] = {
    # Counters of a host.
    "counted-timeouts": (
        "{count:retransmission timeout|retransmission timeouts}: {count} x 200 ms = {wait_s:s} of "
        "silence at least; loss of a whole window, of the last segment, or an outage"
    ),
    "counted-delayed-acks": (
        "{count:delayed acknowledgement|delayed acknowledgements}: a sender that waits for each "
        "loses up to {count} x 40 ms = {wait_s:s}; harmless where more data is on its way"
    ),
    "counted-listen-drops": (
        "{count:connection was|connections were} refused at a full listen queue: the server "
        "accepts too slowly, or its backlog is short"
    ),
    "counted-receive-buffer": (
        "{count:datagram was|datagrams were} dropped at a full receive buffer: the program reads "
        "too slowly, or net.core.rmem_max is small"
    ),
    "counted-send-buffer": "{count:datagram was|datagrams were} refused by a full send buffer",
    "counted-pruned": (
        "the receive buffers of TCP overflowed {count:time|times}: the program reads too slowly"
    ),
    "counted-backlog": (
        "{count:segment was|segments were} dropped from the backlog of a busy socket: the "
        "processor of the receiver limits"
    ),
    "counted-zero-window": (
        "the receiver closed its window {count:time|times}: its program reads too slowly, and no "
        "path is at fault"
    ),
    "counted-spurious": (
        "{count:segment|segments} sent again had arrived already (DSACK): reordering or a timeout "
        "that is too short, not loss"
    ),
    "counted-reordering": "reordering was detected {count:time|times}",
    "counted-congestion-marks": "{count:packet was|packets were} marked by ECN: a queue had grown",
    "counted-checksum-errors": "{count:packet had|packets had} a wrong checksum: a damaged path",
    "counted-discards": "{count:packet was|packets were} discarded in the host for lack of buffers",
    "counted-fragments-lost": (
        "{count:datagram was|datagrams were} not put together again from fragments: one was lost"
    ),
    "counters-quiet": (
        "no counter of retransmissions, timeouts, delayed acknowledgements or drops has counted: "
        "nothing here limits a transfer"
    ),
    # Queues and interfaces.
    "queue-drops": "{count} of {total} packets were dropped in this queue ({share:.2%})",
    "queue-marks": "{count:packet was|packets were} marked by ECN in this queue",
    "queue-length": "{queue_bytes:byte} wait in this queue: {delay_s:s} at the rate of the line",
    "queue-length-bytes": "{queue_bytes:byte} wait in this queue",
    "shaper-held": "the shaper held packets back {count:time|times}: its rate is a limit",
    "mean-packet": "{count:packet|packets} of {mean_bytes:byte} on average",
    "interface-idle": "no packet was counted",
    "packets-without-bytes": (
        "{count:packet was|packets were} counted, but no bytes: no rate follows from that"
    ),
    "packets-joined": (
        "{mean_bytes:byte} on average is more than a frame carries: they were cut or joined by the "
        "network card, and their number is not that of the wire"
    ),
    "counters-disagree": (
        "{count:packet|packets} and {size_bytes:byte} do not belong together: one of the two "
        "counters began again at 0, or counts something else"
    ),
    "interface-drops": (
        "{count:packet was|packets were} dropped ({names:names}): the host or its queue is too "
        "slow, or they were not for it"
    ),
    "interface-errors": (
        "{count:error|errors} ({names:names}): a cable, a connector or a duplex mismatch"
    ),
    "busiest-interval": "the busiest of {count:interval|intervals} is explained",
    "cpu-busy": (
        "the processors are busy for up to {busy:.0%}; a single process can use only one of them"
    ),
    "counters-of-sockets": (
        "{count:connection|connections}: {receive_bytes:byte} arrived and not read, "
        "{send_bytes:byte} written and not acknowledged; windows and round trips are in ss -ti"
    ),
    "ask-second-time": "the rate: run the command twice, and note the time between",
    # Stalls.
    "stall-arithmetic": (
        "a request in small writes takes {trips} x {rtt_s:s} + {timer_s:s} = {held_s:s} while "
        "Nagle waits for a delayed ACK, at least {free_s:s} without"
    ),
    "modes-apart": (
        "{mode!r} takes {measured_s:s}, {other!r} {other_s:s}: between them are the delayed ACK of "
        "{wait_s:s} and a round trip of {rtt_s:s} for the second write, less the {host_s:s} of "
        "{other!r} in the hosts"
    ),
    "stall-of-timeout": (
        "nothing was sent for {gap_s:s}: a retransmission timeout takes {factor} x ({rtt_s:s} + "
        "{least_s:s}) = {rto_s:s} on Linux"
    ),
    # Summaries.
    "limit-round-trip-and-hosts": "the round trip with both hosts",
    "how-round-trip-and-hosts": "1 / {rate:.6g} transactions a second",
    "assumes-round-trip-and-hosts": "one transaction at a time: none is on the way with another",
    "confirm-round-trip-and-hosts": "ping the host: what remains is the time in the hosts",
    "summary-explained": (
        "the tool printed a summary of {count:probe|probes} alone: its {statistic} is explained"
    ),
    "none-answered": (
        "none of {count:probe|probes} was answered: no time, and no limit but the loss"
    ),
    "limit-one-way-least": "the path in one direction without load",
    "how-one-way-least": "the minimum, {least_s:s}, with clocks known to {error_s:s}",
    "assumes-one-way-least": "the clocks agree as well as the tool says",
    "confirm-one-way-least": "add both directions: the difference of the clocks cancels",
    "clock-exceeds-delay": (
        "one way {measured_s:s}, with clocks known to {error_s:s}: the delay cannot be told from "
        "the difference of the clocks"
    ),
    "clock-error": "the clocks are known to {error_s:s}",
    "one-way-sum": (
        "both directions together take {rtt_s:s}, whatever the clocks show; they differ by twice "
        "{offset_s:s}: the clocks, unless the paths are that unequal"
    ),
}
