"""What limits a path or a measurement: limits with arithmetic and test; claims; tables."""

from __future__ import annotations

EXPLAINING: dict[str, str] = {
    # One sentence for a finding.
    "explained-rate": (
        "{subject} limits this: {measured:bit/s} ({layer:layer}) is {share:.0%} of "
        "{value:bit/s} ({layer:layer})"
    ),
    "explained-rate-next": (
        "{subject} limits this: {measured:bit/s} ({layer:layer}) is {share:.0%} of {value:bit/s} "
        "({layer:layer}); the next limit is {next} at {next_value:bit/s} ({layer:layer})"
    ),
    "explained-gap": (
        "no known limit explains {measured:bit/s} ({layer:layer}): it is {share:.0%} of the lowest "
        "above it, {subject} at {value:bit/s} ({layer:layer})"
    ),
    "explained-ceiling": "{subject} limits this to {value:bit/s} ({layer:layer})",
    "explained-ceiling-next": (
        "{subject} limits this to {value:bit/s} ({layer:layer}); the next limit is {next} at "
        "{next_value:bit/s} ({layer:layer})"
    ),
    "explained-time": "{subject} makes this: {value:s} of {measured:s} ({share:.0%})",
    "explained-time-next": (
        "{subject} is the largest part: {value:s} of {measured:s} ({share:.0%}); the next is "
        "{next} with {next_value:s}"
    ),
    "explained-above-all": (
        "no known limit explains {measured:bit/s} ({layer:layer}): more was measured than each of "
        "them allows"
    ),
    "explained-clock": (
        "the median, {measured:s}, is too small for the clock of the tool: it has steps of "
        "{step_s:s}"
    ),
    "few-answers": (
        "{count:answer|answers} alone: whether it met a queue, or a slow program, does not show"
    ),
    "explained-nothing": "no limit can be computed from the known facts",
    # One sentence for a path, before anything is measured.
    "path-limited": "{subject} limits this path to {value:bit/s} ({layer:layer})",
    "path-limited-next": (
        "{subject} limits this path to {value:bit/s} ({layer:layer}); the next limit is {next} at "
        "{next_value:bit/s} ({layer:layer})"
    ),
    "path-timeouts": "above {loss_ratio:ratio} loss timeouts decide, and the rate is an estimate",
    "assumed-tcp": (
        "the window grows by one segment for each acknowledged (Linux counts bytes), and the "
        "timeout is {rto_s:s} (the round trip and the 200 ms of Linux)"
    ),
    "assumed-ethernet": "{line} counts as an Ethernet of {rate:bit/s} (line)",
    "assumed-control-system": "{control}, as this system has it ({where})",
    "assumed-control-default": "{control}, the default of Linux",
    "assumed-control-other": "{control}, as this system's {found} is not computed ({where})",
    # Parts of the time of a TCP transfer.
    "tcp-limited": "{subject} limits this transfer: {time_s:s} of {total_s:s} ({share:.0%})",
    "tcp-limited-by-control": (
        "with {control} {subject} limits this transfer: {time_s:s} of {total_s:s} ({share:.0%}); "
        "with {other_0} it takes {time_0:s}, with {other_1} {time_1:s}"
    ),
    "limit-path-slow-start": "slow start",
    "limit-path-handshake": "the handshake",
    "limit-path-recovery": "the first loss",
    "limit-path-latency": "latency",
    "how-tcp-frame": (
        "{size_bytes:byte} and headers in {flow_count:frame|frames} of {one_frame_bytes:byte} with "
        "preamble and gap, on {line_bps:bit/s} (line)"
    ),
    "how-tcp-rest": "the rest at {rate_bps:bit/s} ({layer:layer}), {how}",
    "how-tcp-slow-start": (
        "{trips:round trip|round trips} of {rtt_s:s} in which the window grows from "
        "{first_segments:segment|segments}"
    ),
    "how-tcp-handshake": "one round trip of {rtt_s:s} before the first data",
    "how-tcp-recovery": "the mean repair of the first loss, a round trip or a timeout of {rto_s:s}",
    "how-tcp-latency": "half a round trip, until the last byte arrives",
    "confirm-path-slow-start": "send twice as much: the time grows by less than half",
    "confirm-path-handshake": "use a connection that is open already: a round trip less",
    "confirm-path-recovery": "repeat it: transfers without a loss are faster",
    "confirm-path-latency": (
        "ping with the smallest size: half of the round-trip time is about the latency"
    ),
    "transfer-line": (
        "the bottleneck link limits this transfer: serialization of {size_bytes:byte} at "
        "{line_bps:bit/s} (line) takes {time_s:s} of {total_s:s} ({share:.0%})"
    ),
    "transfer-latency": ("latency limits this transfer: {time_s:s} of {total_s:s} ({share:.0%})"),
    "transfer-store-and-forward": (
        "store-and-forward limits this transfer: serialization of {repeated} on "
        "{other_count:more link|more links} takes {time_s:s} of {total_s:s} ({share:.0%})"
    ),
    "transfer-processing": (
        "processing limits this transfer: {time_s:s} of {total_s:s} ({share:.0%})"
    ),
    "transfer-instant": "nothing limits this transfer: its time is 0",
    "whole-message": "the whole message",
    "each-packet": "each packet of {packet_bytes:byte}",
    # Parts of a transfer's time, and limits of a path.
    "how-transfer-line": "8 x {size_bytes:byte} / {line_bps:bit/s} (line)",
    "confirm-transfer-line": "send twice as much: the time nearly doubles",
    "how-transfer-latency": "sum over {link_count:link|links}",
    "confirm-transfer-latency": (
        "ping with the smallest size: half of the round-trip time is about the latency"
    ),
    "how-transfer-store-and-forward": (
        "serialization of {repeated} on {other_count:other link|other links}"
    ),
    "confirm-transfer-store-and-forward": (
        "halve the packet size: this part halves, as more packets overlap on the links"
    ),
    "how-transfer-processing": "sum over {node_count:node|nodes}",
    "confirm-transfer-processing": (
        "ping a near host with the smallest size: the round-trip time is mostly processing"
    ),
    "limit-path-line": "the bottleneck link",
    "how-path-line": "{payload_bytes:byte} of every {wire_bytes:byte} on {line_bps:bit/s} (line)",
    "confirm-path-line": "send UDP at that rate and measure the received rate",
    "limit-path-window": "the window",
    "how-path-line-lossy": (
        "{payload_bytes:byte} of every {wire_bytes:byte} on {line_bps:bit/s} (line), less "
        "{loss_ratio:ratio}"
    ),
    "how-path-window": (
        "{window_bytes:byte} in flight per round trip of {rtt_s:s}, {flow_count:flow|flows}"
    ),
    "confirm-path-window": "use two connections at once: together they are twice as fast",
    "limit-path-loss": "loss",
    "how-path-loss": (
        "{control} at {loss_ratio:ratio} loss and {rtt_s:s}, {flow_count:flow|flows}"
    ),
    "confirm-path-loss": (
        "count retransmissions (ss -ti): about {loss_ratio:ratio} of the segments"
    ),
    "limit-path-acknowledgements": "the rate of acknowledgements",
    "how-path-acknowledgements": (
        "one ACK of {ack_bytes:byte} for two segments, at {reverse_bps:bit/s} (line) in the "
        "reverse direction"
    ),
    "confirm-path-acknowledgements": (
        "stop all other traffic in the reverse direction: the transfer gets faster"
    ),
    # Limits of a measured rate.
    "limit-line": "the line",
    "how-line": "{payload_bytes:byte} of every {wire_bytes:byte} on {line_bps:bit/s} (line)",
    "assumes-line": "nothing else uses the line, and its rate is that of layer 1",
    "confirm-line": "send UDP at that rate and measure the received rate",
    "limit-fragments": "the line, with datagrams in fragments",
    "how-fragments": (
        "{payload_bytes:byte} in fragments of {wire_bytes:byte} on {line_bps:bit/s} (line)"
    ),
    "assumes-fragments": "every datagram is fragmented in the same way",
    "confirm-fragments": (
        "send datagrams that fit into one packet: the rate rises, the packet count halves"
    ),
    "limit-buffer": "the short buffer of the line",
    "how-buffer": (
        "one flow uses {share:.0%} with {buffer_bytes:byte} of buffer, a BDP of {bdp_bytes:byte}"
    ),
    "assumes-buffer": "one flow is in congestion avoidance",
    "confirm-buffer": "use four connections: together they fill the line",
    "limit-window": "the window",
    "how-window": "{window_bytes:byte} in flight per round trip of {rtt_s:s}, x {streams}",
    "assumes-window": "the stated window is the smaller of both hosts' buffers",
    "confirm-window": "use two connections at once: together they are twice as fast",
    "limit-congestion-window": "the congestion window",
    "how-congestion-window": "{window_bytes:byte} per round trip of {rtt_s:s}, x {streams}",
    "assumes-congestion-window": (
        "the window stays as it was seen; loss, slow start or a buffer has set it"
    ),
    "confirm-congestion-window": (
        "list the sockets every second (ss -tin): the rate follows the window"
    ),
    "limit-receive-window": "the receiver's window",
    "how-receive-window": "{window_bytes:byte} offered, round trip {rtt_s:s}",
    "assumes-receive-window": "the receiver never offered more than the file shows",
    "confirm-receive-window": (
        "use two connections, or raise the receive buffer: the rate doubles with either"
    ),
    "limit-socket-buffer": "the socket buffer of the sender",
    "how-socket-buffer": (
        "{window_bytes:byte} of SO_SNDBUF, half or more of it data, per round trip of {rtt_s:s}, x "
        "{streams}"
    ),
    "assumes-socket-buffer": "the receiver's buffer, set with it (iperf3 -w), is not the smaller",
    "confirm-socket-buffer": "ask for twice the buffer (iperf3 -w): the rate doubles",
    "limit-send-window": "the sender's window",
    "how-send-window": "{window_bytes:byte} in flight per round trip of {rtt_s:s}, x {streams}",
    "assumes-send-window": (
        "the window does not grow though nothing is lost, so that a buffer bounds it"
    ),
    "confirm-send-window": "use two connections at once: together they are twice as fast",
    "limit-loss-mathis": "loss (Reno, Mathis)",
    "how-loss-mathis": ("{mss_bytes:byte} per {rtt_s:s}, 1.22 over the root of {loss_ratio:ratio}"),
    "assumes-loss-mathis": "the losses are random, and not those of the line's own full buffer",
    "confirm-loss-mathis": (
        "use four connections: each loses as much, together they are four times as fast"
    ),
    "limit-loss-cubic": "loss ({control})",
    "how-loss-cubic": ("mean window at {loss_ratio:ratio} loss and {rtt_s:s} (RFC 9438, 5.1)"),
    "assumes-loss-cubic": (
        "the sender uses CUBIC, and the losses are not those of the line's own full buffer"
    ),
    "confirm-loss-cubic": (
        "use four connections: each loses as much, together they are four times as fast"
    ),
    "limit-loss-pftk": "loss with timeouts (PFTK)",
    "how-loss-pftk": ("{loss_ratio:ratio} loss, {rtt_s:s}, timeouts of {rto_s:s} (Padhye et al.)"),
    "assumes-loss-pftk": "the losses are random, and not those of the line's own full buffer",
    "confirm-loss-pftk": (
        "use four connections: each loses as much, together they are four times as fast"
    ),
    "limit-slow-start": "slow start",
    "how-slow-start": "{size_bytes:byte} in {rounds:round|rounds} of {rtt_s:s}",
    "assumes-slow-start": "the window begins with 10 segments and doubles each round trip",
    "confirm-slow-start": "send ten times as much: the rate rises severalfold",
    "limit-packet-rate": "the packet rate of a device",
    "how-packet-rate": ("{device_pps:packet/s}, {share:.0%} of them with {payload_bytes:byte}"),
    "assumes-packet-rate": "a packet costs the device the same, whatever its size",
    "confirm-packet-rate": "send packets of half the size: the bits halve, the packet rate stays",
    "limit-acknowledgements": "the rate of acknowledgements",
    "how-acknowledgements": (
        "an ACK of {ack_bytes:byte} for two segments on {reverse_bps:bit/s} (line)"
    ),
    "assumes-acknowledgements": "nothing thins the acknowledgements out",
    "confirm-acknowledgements": "stop all other traffic in the reverse direction: the rate rises",
    "limit-delayed-ack": "the delayed ACK (with Nagle)",
    "how-delayed-ack": (
        "8 x {size_bytes:byte} / ({count} x ({wait_s:s} + {trips} x {rtt_s:s})): waits, and round "
        "trips"
    ),
    "assumes-delayed-ack": "the sender waits for each of these acknowledgements",
    "confirm-delayed-ack": "set TCP_NODELAY, or write each request at once: the waits are gone",
    "limit-processor": "the processor of the sender",
    "how-processor": "{measured_bps:bit/s} ({layer:layer}) at {busy:.0%} of one processor",
    "assumes-processor": "the time of the processor grows with the rate",
    "confirm-processor": "run two processes of the tool: together they are faster",
    "limit-receiver-processor": "the processor of the receiver",
    "how-receiver-processor": "{measured_bps:bit/s} ({layer:layer}) at {busy:.0%} of one processor",
    "assumes-receiver-processor": "the time of the processor grows with the rate",
    "confirm-receiver-processor": "run two processes of the tool: together they are faster",
    "limit-offered": "the offered rate",
    "how-offered": "sent or requested: {offered_bps:bit/s} ({layer:layer})",
    "assumes-offered": "the tool keeps the requested rate",
    "confirm-offered": "request twice the rate (iperf3 -b): more arrives",
    # Parts of a time.
    "limit-clock": "the clock of the tool",
    "how-clock": "its step is {step_s:s}",
    "assumes-clock": "the tool prints as finely as it measures",
    "confirm-clock": "measure with a tool that prints microseconds",
    "limit-queue": "waiting in queues",
    "how-queue": "{measured_s:s} less {base_rtt_s:s} without load",
    "assumes-queue": "the stated round trip is that of this path without load",
    "confirm-queue": "stop all traffic and ping again: this part is gone",
    "limit-queue-above-least": "waiting in queues or hosts",
    "how-queue-above-least": "{measured_s:s} less the minimum, {base_rtt_s:s}",
    "assumes-queue-above-least": "the fastest probe met no queue",
    "confirm-queue-above-least": "stop all traffic and ping again: this part is gone",
    "limit-serialization": "serialization",
    "how-serialization": "{wire_bytes:byte} on {line_bps:bit/s} (line), there and back",
    "assumes-serialization": "one line is much slower than all others",
    "confirm-serialization": "ping with the smallest size: this part nearly disappears",
    "limit-size-steps": "steps between sizes",
    "how-size-steps": "{step_s:s} more than sizes below the steps take, by the line through these",
    "assumes-size-steps": "the fastest probe of each size met no queue",
    "confirm-size-steps": "ping with sizes just below and above the step: it is there again",
    "limit-serialization-of-sizes": "serialization",
    "how-serialization-of-sizes": (
        "{wire_bytes:byte} there and back, at the {line_bps:bit/s} (line) by which times rise with "
        "size"
    ),
    "assumes-serialization-of-sizes": "the fastest probe of each size met no queue",
    "confirm-serialization-of-sizes": "ping with the smallest size: this part nearly disappears",
    "limit-distance": "the path without load",
    "how-distance": "propagation and processing, of {base_rtt_s:s} in all",
    "assumes-distance": "the fastest probe met no queue",
    "confirm-distance": "compare with the distance: light in fibre takes 1 ms per 100 km and back",
    "limit-round-trips": "the time of round trips",
    "how-round-trips": "{count:round trip|round trips} of {rtt_s:s}",
    "assumes-round-trips": "the fastest response took one round trip",
    "confirm-round-trips": "ping the host: that is the round trip",
    "limit-ack-timer": "a delayed acknowledgement",
    "how-ack-timer": (
        "{measured_s:s} - {count} x {rtt_s:s} = {wait_s:s}, near a timer of {timer_s:s}"
    ),
    "assumes-ack-timer": "a server that happens to take as long is unlikely",
    "confirm-ack-timer": "set TCP_NODELAY, or write each request at once: the wait is gone",
    "limit-host": "the time in the hosts",
    "how-host": "{wait_s:s} beyond the round trips",
    "assumes-host": "the round trip is that of this path without load",
    "confirm-host": "capture at the server: the time from request to response is its part",
    "limit-hop": "hop {hop} {node}",
    "how-hop": "{added_s:s} beyond the hops before it",
    "assumes-hop": "the return path is the same for all hops",
    "confirm-hop": "ping the hop and the one before it: they differ by this",
    # What else the numbers show.
    "sender-not-receiver": (
        "the sender counts {sent_bps:bit/s} ({layer:layer}), the receiver {received_bps:bit/s} "
        "({layer:layer}): {share:.1%} did not arrive, and the receiver's number is the rate "
        "of the path"
    ),
    "receiver-took-longer": (
        "the sender counts {sent_bps:bit/s} ({layer:layer}), the receiver {received_bps:bit/s} "
        "({layer:layer}), though nearly all arrived: it took longer, as a buffer on the way drained"
    ),
    "sender-buffer": (
        "the sender counts {sent_bps:bit/s} ({layer:layer}), the receiver {received_bps:bit/s} "
        "({layer:layer}): {share:.1%} was still in the sender's buffer or on the way at the "
        "end, not lost, and the receiver's number is the rate of the path"
    ),
    "receiver-counts-more": (
        "the receiver counts {received_bps:bit/s} ({layer:layer}), {share:.1%} more than the "
        "sender's {sent_bps:bit/s} ({layer:layer}): the two did not count over the same time"
    ),
    "sender-count-only": (
        "the rate is the sender's count: it includes bytes that were lost or are still in buffers"
    ),
    "queue-in-buffer": (
        "under load the round trip grows from {base_rtt_s:s} to {rtt_s:s}: about "
        "{queue_bytes:byte} wait in a buffer (bufferbloat)"
    ),
    "queue-behind-line": (
        "{within_ratio:.0%} of the probes waited up to {delay_s:s}: up to {queue_bytes:byte} in "
        "front of the line"
    ),
    "sender-paused": ("nothing was sent for {gap_s:s} of {duration_s:s}"),
    "fragments-lost": (
        "a datagram of {size_bytes:byte} takes {count} packets where {mtu_bytes:byte} is the most, "
        "and the loss of one loses it: {packet_loss_ratio:ratio} of the packets are enough"
    ),
    "intervals-of-nothing": "{count} of {total} intervals carried nothing",
    "intervals-of-a-pause": (
        "{count} of {total} intervals carried nothing, those of {pause_s:s} from {begin_s:s} on "
        "in a row"
    ),
    "rate-levels": (
        "the run had two levels: {before_bps:bit/s} ({layer:layer}) until {at_s:s}, then "
        "{after_bps:bit/s} ({layer:layer}): the rate of the path changed, or the share that others "
        "take of it"
    ),
    "fragments-seen": "{share:.0%} of the packets are later fragments of a datagram",
    "loss-or-line": (
        "a line that is full loses packets in its own buffer, and the same loss follows: state "
        "--line to tell a lossy path from a full line"
    ),
    "limit-refuted": (
        "{measured:bit/s} ({layer:layer}) is more than {subject} allows, {value:bit/s} "
        "({layer:layer}): it does not hold that {assumption}"
    ),
    "slowest-explained": (
        "the slowest 5% are explained ({slow_s:s} and more), as the median is only {median_s:s}"
    ),
    "slowest-alone-explained": (
        "the slowest of {count} answers is explained ({slow_s:s}), as the median is only "
        "{median_s:s}"
    ),
    "part-explained": "of the answers numbers {at_probe} to {to_probe} are explained",
    "first-slow": (
        "the first answer took {slow_s:s}, the median of all {median_s:s}: the look-up of an "
        "address, or a radio or a host that wakes, is a part of the first alone"
    ),
    "few-late": (
        "{count} of {total} answers came far later than the others, the slowest after {slow_s:s} "
        "(probe {numbers}); the median is {median_s:s}"
    ),
    "late-evenly": (
        "{count} of {total} answers came far later than the others, at even intervals of "
        "{period_probes:.0f} probes: their median is {late_s:s}, that of all {median_s:s}; "
        "something that runs by a clock does that, such as a scan for radio networks"
    ),
    "rtt-refuted": (
        "a round trip of {stated_s:s} without load was stated, but the fastest of {count} answers "
        "took {fastest_s:s}: the stated one is not used; state that of this path, or none"
    ),
    "rtt-impossible": (
        "{count:answer|answers} of more than {most_s:s} left out: no path takes so long"
    ),
    "largest-size-explained": (
        "the probes of {size_bytes:byte} are explained, the largest of {count} sizes"
    ),
    "cells-seen": (
        "times rise in stairs of 48 B, {cell_s:s} each: cells of ATM, {cell_bytes:byte} for 48 B"
    ),
    "cells-with-overhead": (
        "times rise in stairs of 48 B, {cell_s:s} each: cells of ATM, {cell_bytes:byte} for 48 B; "
        "{low_bytes:byte} to {high_bytes:byte} are added to each IP packet before that (or 48 B "
        "more)"
    ),
    "probes-lost": "{loss_ratio:ratio} of the probes had no answer",
    "probes-in-fragments": (
        "a probe of {size_bytes:byte} takes {count} packets where {mtu_bytes:byte} is the most"
    ),
    "probes-at-once": (
        "each probe of a hop took {step_s:s} longer than the one before, as probes do that are "
        "sent at once (16 by default) and wait for each other in front of a slow line: trace it "
        "again with -N 1"
    ),
    "slow-answers": (
        "hop {hops} answers later than hops behind it: a part of that is its own processor, and "
        "what is said of it may be of the link behind it"
    ),
    "answers-limited": (
        "probes to hop {hops} are answered less often than those to later hops: it limits its "
        "answers and forwards packets all the same"
    ),
    "mean-of-hops": (
        "the report has only mean times of the hops: time in queues counts as part of a hop"
    ),
    "segments-again": "{count} of {total} segments were sent again ({share:.2%})",
    # What to state.
    "line-up-unused": (
        "which way is up is not said here: the line's {line_up_bps:bit/s} (line) upwards stay "
        "unused"
    ),
    "ask-line": "the rate of the slowest line: state --line",
    "ask-rtt": "the round trip without load: state --rtt (ping the host)",
    "ask-idle-rtt": "the round trip without load: state --rtt",
    "ask-window": "the window of the hosts: state --window (sysctl net.ipv4.tcp_rmem)",
    "ask-loss": "the loss: state --loss (ss -ti, nstat)",
    "ask-reverse": "the rate of the reverse direction, if it is lower: state --reverse",
    "ask-device": "the packet rate of a router or firewall on the path: state --device",
    "ask-buffer": "the buffer in front of the line: state --buffer",
    # Models behind a stated number.
    "claim-right": "{claim} is right: {model}, {value}",
    "claim-nearly-right": "{claim} is near {model}, {value}",
    "claim-misconception": (
        "{claim} is what a mistake gives: {model}, {value}; right is {right_value}: {right}"
    ),
    "claim-impossible": (
        "{claim} is impossible on a line of {line_bps:bit/s} (line): nothing arrives faster"
    ),
    "claim-impossible-mistake": (
        "{claim} is impossible on a line of {line_bps:bit/s} (line), and what a mistake gives: "
        "{model}, {value}; right is {right_value}: {right}"
    ),
    "claim-unknown": "no model, right or wrong, gives {claim} from the known facts",
    "model-tcp-timestamps": (
        "goodput of TCP with timestamps ({mtu_bytes:byte} on a line of {line_bps:bit/s})"
    ),
    "model-tcp-plain": (
        "goodput of TCP without options ({mtu_bytes:byte} on a line of {line_bps:bit/s})"
    ),
    "model-udp": "goodput of UDP ({mtu_bytes:byte} on a line of {line_bps:bit/s})",
    "model-frames": "layer 2 with FCS ({mtu_bytes:byte} on a line of {line_bps:bit/s})",
    "model-line-at-size": (
        "{payload_bytes:byte} of each frame of {frame_bytes:byte} on a line of {line_bps:bit/s}, "
        "with preamble and gap"
    ),
    "model-udp-of-size": "UDP with datagrams of {payload_bytes:byte} on a line of {line_bps:bit/s}",
    "model-no-preamble": "the goodput with preamble and gap forgotten, 20 bytes per frame",
    "model-no-headers": "the rate of the line taken for the goodput, headers ignored",
    "model-bytes-for-bits-in-time": "a size in bytes over a rate in bits, the factor 8 forgotten",
    "model-bits-for-bytes-in-time": "a size in bytes multiplied by 8 twice",
    "model-no-fcs": "the goodput with the FCS forgotten, 4 bytes per frame",
    "model-constant-overhead": (
        "the line less a constant overhead of {overhead_bps:bit/s} (line), whatever the packets"
    ),
    "model-librespeed": (
        "a goodput times {factor:.3f}, which LibreSpeed adds for headers "
        "(overheadCompensationFactor)"
    ),
    "model-librespeed-of-2017": (
        "a goodput times {factor:.3f}, which LibreSpeed of 2017 added for headers"
    ),
    "model-times-for-over": (
        "window of {window_bytes:byte} times a round trip of {rtt_s:s}, for over it"
    ),
    "model-window": "window of {window_bytes:byte} over a round trip of {rtt_s:s}",
    "model-one-way": (
        "window of {window_bytes:byte} over the one-way time, {one_way_s:s}, for the round trip"
    ),
    "model-mathis": "Reno at {loss_ratio:ratio} loss and {rtt_s:s}, by Mathis with C = 1.22",
    "model-mathis-of-one": "Mathis with C = 1 for 1.22, at {loss_ratio:ratio} loss and {rtt_s:s}",
    "model-cubic": "CUBIC at {loss_ratio:ratio} loss and {rtt_s:s}",
    "model-receiver": "what the receiver counted",
    "model-sender": "the sender's number taken for the receiver's",
    "model-frame-rate": (
        "frames of {frame_bytes:byte} on a line of {line_bps:bit/s}, with preamble and gap"
    ),
    "model-frames-without-gap": "frames with preamble and gap forgotten, 20 bytes each",
    "model-frames-without-fcs": "frames with the FCS forgotten, 4 bytes each",
    "model-frames-without-preamble": "frames with the preamble forgotten, 8 bytes each",
    "model-frames-without-preamble-and-fcs": "frames with preamble and FCS forgotten, 12 bytes",
    "model-frames-as-captured": (
        "frames as a capture shows them: preamble, gap and FCS forgotten, 24 bytes each"
    ),
    "model-both-directions": "both directions of the line counted together",
    "model-one-way-time": "store-and-forward of {size_bytes:byte} over {links:link|links}, one way",
    "model-round-trip-time": "round trip of {size_bytes:byte} over {links:link|links}",
    "model-cut-through": "cut-through assumed: the packet is serialized only once",
    "model-no-last-hop": "the transmission on the last link forgotten",
    "model-double-latency": "the latency counted there and back, for one way",
    "model-no-latency": "serialization alone, the latency forgotten",
    "model-no-serialization": "the latency alone, serialization forgotten",
    "model-binary-prefix-in-time": "1024 for 1000 in the size",
    "model-rtt-least": "the minimum round trip",
    "model-rtt-median": "the median round trip",
    "model-rtt-most": "the maximum round trip",
    "model-rtt-stated": "the round trip as stated",
    "model-one-way-for-rtt": "one way taken for the round trip, half of it: {right}",
    "model-rtt-doubled": "the round trip taken for one way, and doubled: {right}",
    "model-measured": "what was measured",
    "model-in-table": "row {row} of {column} in the table",
    "of-one-run": "{label}: {model}",
    "model-bits-for-bytes": "bytes written as bits, 8 times too low: {right}",
    "model-bytes-for-bits": "bits multiplied by 8 once more: {right}",
    "model-binary-prefix": "1024 for 1000 in the prefix: {right}",
    "claim-without-facts": "{value} cannot be judged from the known facts",
    # Tables without a theory.
    "column-of-numbers": (
        "column {name!r} [{unit}]: {count:number|numbers}, {low:.6g} to {high:.6g}"
    ),
    "column-of-text": "column {name!r}: text, {count:value|different values}",
    "columns-more": "{count:more column|more columns}",
    "may-be-sizes-and-times": (
        "sizes and times: round trips (rtt_ms), transfers (duration_s), or writes (write_bytes, "
        "write_count, wall_s)"
    ),
    "may-be-rates-over-size": "rates at several sizes: of a device or a line",
    "may-be-rates-over-time": "a rate over time",
    "may-be-times": "times alone: round trips of one size, or an axis",
    "may-be-rates": "rates alone: name the line and the packets to compare them with",
    "may-be-anything": "no theory is known for columns of these units",
    "name-the-columns": (
        "to give them a meaning, name the columns in the header with units, such as "
        "size_bytes,rtt_ms or frame_bytes,rate_pps or write_bytes,write_count,wall_s, or pass "
        "--columns"
    ),
    # The same quantity of several files.
    "files-differ": "{one} differs from {other} in its {quantity}: {factor:.4g} times as much",
    "on-one-axis": (
        "on one time axis, the clock of {other} {offset_s:s} ahead of that of {one}: "
        "{common_s:s} in common, with {count:value|values} of {one} and "
        "{other_count:value|values} of {other}"
    ),
    "ran-together": (
        "one host, one clock: {names:names} ran together for {common_s:s}, at "
        "{total_bps:bit/s} ({layer:layer}) in all: state --line to see whether they fill it"
    ),
    "ran-together-of-line": (
        "one host, one clock: {names:names} ran together for {common_s:s}, at {total_bps:bit/s} "
        "({layer:layer}) in all, {share:.0%} of the line's {line_bps:bit/s} ({layer:layer})"
    ),
    "ran-together-full": (
        "one host, one clock: {names:names} ran together for {common_s:s}, at "
        "{total_bps:bit/s} ({layer:layer}) in all, {share:.0%} of the line: they share it"
    ),
    "clocks-of-two-hosts": (
        "{one} and {other} begin {apart_s:s} apart, each by the clock of its own host: they are "
        "not added up"
    ),
    "not-on-one-axis": (
        "not on one time axis: how far the clocks of the files are apart is not stated "
        "(--clock-offset 0s if one clock made both)"
    ),
    "clock-offset-unknown": "one time axis needs the offset of the clocks: {name} is not given",
    "not-two-files": "one time axis is that of two files, got {value}",
    "no-values-to-merge": (
        "has neither round trips nor rates over time to put on a time axis; without a clock "
        "offset, the files are compared by their medians"
    ),
    "no-clock-to-merge": (
        "has no times of a clock: neither stamps, such as those of ping -D, nor a start with a zone"
    ),
    "files-alike": (
        "{one} and {other} cannot be distinguished by {quantity}: their 95% intervals overlap"
    ),
    "files-of-two-sides": (
        "{one} is the count of the {side}, {other} that of the {other_side}: they differ by what "
        "was lost, sent again or still on its way"
    ),
    "times-of-two-sides": (
        "{quantity}: {one} has it as the {side} saw it, {other} as the {other_side} did; what lies "
        "between them is the path, so that they are not compared"
    ),
    "no-common-quantity": "no quantity is in two of the files: {items}",
    "files-not-judged": "{one} and {other}: too few values for an interval of the {quantity}",
    "nothing-to-explain": "holds nothing that a limit could be computed for",
    "path-and-files": "a PATH and FILEs cannot be combined; not a file: {names:names}",
    "option-of-file": "{option} applies to a FILE or --claim, not to a PATH",
    "option-of-a-file": "{option} applies to a FILE alone",
    "option-of-path": "{option} applies to a PATH alone",
    "no-limits-to-draw": "{name} must have limits to draw, got none in {value}",
    "offset-of-two-files": "--clock-offset goes with two FILEs, got {count}",
    "one-file-to-draw": "--plot draws one file, got {count}",
}

EXPLAINING_HINTS: dict[str, str] = {
    "clock-offset-unknown": "State it, such as 0.012 for 12 ms; 0 if one clock made both files",
    "no-clock-to-merge": "Record times: ping -D, iperf3 -J",
    "claim-without-facts": (
        "A rate needs the line, or the round trip and a window or loss; a packet rate the line and "
        "a frame size; a time a path and a size"
    ),
    "nothing-to-explain": "Print its contents with netcalc read",
    "path-and-files": "Check the names of the files",
}
