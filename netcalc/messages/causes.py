"""The causes of a measurement: one sentence each, its numbers, and what would be without it."""

from __future__ import annotations

_LOADED = (
    "ping while nothing else runs, and while a transfer runs: a line's queue comes with the "
    "transfer alone"
)

CAUSES: dict[str, str] = {
    # What the time was waited for; "for 82% of 3.6 s" follows where it is known.
    "cause-receiver-window": "the receiver's window held it",
    "cause-receiver-program": (
        "the receiving program did not read, so that its window was small or closed"
    ),
    "cause-sender-buffer": (
        "the sender kept no more in flight though nothing was lost (its socket buffer, or its "
        "program)"
    ),
    "cause-sender-program": "the sending program paused or paced itself",
    "cause-slow-start": "its window still grew (slow start)",
    "cause-random-loss": "losses on a path that is not full held it",
    "cause-line": "the line was full",
    "cause-shared-line": "the line was full, and others had a part of it,",
    "cause-shallow-buffer": "losses in a short buffer in front of the line held it",
    "cause-policer": "a policer, which drops what is above its rate without a queue, held it",
    "cause-packet-rate": "a device that passes a limited number of packets dropped the others",
    "cause-small-segments": (
        "small segments, whose headers take much of it, filled the line or a device"
    ),
    "cause-reverse-path": "acknowledgements waited in a queue on the way back",
    "cause-reordering": "segments came out of their order",
    "cause-duplicates": "the path delivered packets twice",
    "cause-line-series": "packets waited in a queue, as in front of a full line,",
    "cause-line-series-time": "for {share:.0%} of the median round trip of {duration_s:s}",
    "cause-line-growth": "packets waited in a queue that grew, as in front of a full line,",
    "cause-line-growth-time": "for {share:.0%} of the slow round trips of {duration_s:s}",
    "cause-line-load": "a load came and went, and packets waited in its queue",
    "cause-line-bursts": (
        "packets waited in a queue that filled {row_count} times, as in front of a full line,"
    ),
    "cause-line-bursts-time": "for {share:.0%} of the {duration_s:s} that all answers took",
    "cause-delay-variation-bursts": (
        "{late_ratio:ratio} of the answers were late, in {row_count} bursts: they waited"
    ),
    "cause-delay-variation-bursts-time": (
        "for {share:.0%} of the {duration_s:s} that all answers took"
    ),
    "cause-delay-variation-periodic": (
        "answers were late at even intervals, every {period_probes:.0f} probes: they waited"
    ),
    "cause-delay-variation-periodic-time": (
        "for {share:.0%} of the {duration_s:s} that all answers took"
    ),
    "cause-unknown-standing": (
        "the fastest answer took {fastest_s:s} where {base_rtt_s:s} were stated without load, and "
        "most others hardly more: a queue that always stands, or a longer path"
    ),
    "cause-random-loss-series": (
        "{loss_ratio:ratio} of the probes were lost (95%: {loss_ratio_low:ratio} to "
        "{loss_ratio_high:ratio}), without a queue that explains it"
    ),
    "cause-outage-series": (
        "nothing passed for {lost_in_row} probes in a row, from probe {at_probe} on"
    ),
    "cause-path-change-back": (
        "the round trip of the path changed and came back: a detour, or a queue that stayed full"
    ),
    "cause-delay-variation-series": (
        "probes came in batches or with jitter, and back to the least time again and again"
    ),
    "cause-path-change": "the round trip of the path changed once, for good",
    "cause-path-change-series": "the round trip changed once, and stayed so to the end",
    "cause-delay-variation": "packets came in batches or with jitter, without a standing queue,",
    "cause-loss-udp": "datagrams did not arrive, on a line that was not full",
    "cause-timeout": "timers of retransmission held it",
    "cause-outage": "nothing passed",
    "cause-handshake-loss": "a SYN was lost and sent again by its timer: it waited",
    "cause-handshake": "the opening of the connection held it",
    "cause-name-resolution": "the look-up of a name held it",
    "cause-tls-handshake": "round trips before the first answer, those of TLS among them, held it",
    "cause-round-trips": "one request at a time: round trips held it",
    "cause-server-time": "the server's own time held it",
    "cause-nagle-delayed-ack": "small writes waited for delayed acknowledgements",
    "cause-delayed-ack": "the sender waited for delayed acknowledgements",
    "cause-path-mtu": (
        "large packets vanished again and again while small ones passed (a black hole of the path "
        "MTU): it waited"
    ),
    "cause-host": "both programs are on one host, whose processors are the limit, not a network",
    "cause-round-trips-counted": ("{trip_count:.0f} x {base_rtt_s:s} of round trips held it"),
    "cause-host-sender": (
        "the sender itself is the limit: it sent {sent_rate_bps:bit/s} ({layer:layer}) of "
        "{asked_rate_bps:bit/s} ({layer:layer}) asked for, and {loss_ratio:ratio} of that were lost"
    ),
    "cause-sender-program-asked": (
        "the rate that was asked for is the limit: {rate_bps:bit/s} ({layer:layer}) of "
        "{asked_rate_bps:bit/s} ({layer:layer}) arrived"
    ),
    "cause-line-datagrams": (
        "more was sent than something on the way passes, a full line most likely: "
        "{rate_bps:bit/s} ({layer:layer}) of {sent_rate_bps:bit/s} ({layer:layer}) arrived, "
        "{loss_ratio:ratio} of the datagrams were lost"
    ),
    "cause-line-ethernet": (
        "most likely a line of {ethernet_bps:bit/s} (Ethernet line) was full: {rate_bps:bit/s}"
        " ({layer:layer}) of the {line_bps:bit/s} ({layer:layer}) that it carries"
    ),
    "cause-receiver-window-asked": (
        "the buffer of {asked_buffer_bytes:byte} that was asked for may be the limit: nothing was "
        "sent again and the rate was even, but no round trip is known"
    ),
    "cause-loss-udp-captured": (
        "{loss_ratio:ratio} of the datagrams are missing by their numbers: lost before this place, "
        "or missed by the capture if it is at the sender"
    ),
    "cause-loss-udp-run": (
        "{loss_ratio:ratio} of the datagrams did not arrive: lost on the way, or on a line that "
        "carries only just less than was sent"
    ),
    "cause-outage-run": (
        "nothing passed ({pause_s:s} from {begin_s:s} on; timers repeated what was lost)"
    ),
    "cause-outage-datagrams": (
        "nothing arrived ({pause_s:s} from {begin_s:s} on; {loss_ratio:ratio} of the datagrams "
        "were lost in all)"
    ),
    "cause-unknown-again": (
        "{loss_ratio:ratio} of the segments were repetitions, beyond all formulas of losses"
    ),
    "cause-unknown-pause": (
        "nothing was carried for {pause_s:s} of {duration_s:s}, from {begin_s:s} on: whether a "
        "program, a host or the path paused does not show here"
    ),
    "cause-unknown-nothing": "nothing arrived: the run carried no byte in {run_s:s}",
    "cause-unknown-levels": (
        "the rate changed once within the run, and what changed it does not show here"
    ),
    "cause-unknown-impossible": (
        "{rate_bps:bit/s} ({layer:layer}) is {of_line_ratio:.1%} of the {line_bps:bit/s} "
        "({layer:layer}) that the line carries at most: one of these numbers is wrong"
    ),
    "cause-unknown-datagrams": (
        "{loss_ratio:ratio} of the datagrams were lost: {rate_bps:bit/s} ({layer:layer}) of "
        "{sent_rate_bps:bit/s} ({layer:layer}) arrived; whether a full line, a policer, lost "
        "fragments or the receiver's own buffer did it does not show here"
    ),
    # Of a whole table.
    "cause-receiver-window-by-trip": (
        "the rate falls as 1 over the round trip: a window of {window_bytes:byte} (95%: "
        "{window_bytes_low:byte} to {window_bytes_high:byte}; the receiver's, or the sender's "
        "buffer) fits {law_count:.0f} of {row_count:.0f} rows, all within {off_ratio:ratio}"
    ),
    "cause-receiver-window-by-trip-few": (
        "the rate may fall as 1 over the round trip: a window of {window_bytes:byte} fits "
        "{law_count:.0f} of {row_count:.0f} rows"
    ),
    "cause-receiver-window-by-window": (
        "the rate grows with the window, one window per {fitted_rtt_s:s} (95%: "
        "{fitted_rtt_s_low:s} to {fitted_rtt_s_high:s}), in {law_count:.0f} of {row_count:.0f} "
        "rows, all within {off_ratio:ratio}"
    ),
    "cause-receiver-window-by-window-few": (
        "the rate may grow with the window, one window per {fitted_rtt_s:s}, in {law_count:.0f} "
        "of {row_count:.0f} rows"
    ),
    "cause-random-loss-by-loss": (
        "the rate falls as 1 over the root of the loss (Reno, Mathis): with segments of "
        "{mss_bytes:byte} a round trip of {fitted_rtt_s:s} (95%: {fitted_rtt_s_low:s} to "
        "{fitted_rtt_s_high:s}) fits {law_count:.0f} of {row_count:.0f} rows, all within "
        "{off_ratio:ratio}"
    ),
    "cause-random-loss-by-loss-few": (
        "the rate may fall as 1 over the root of the loss (Reno, Mathis): with segments of "
        "{mss_bytes:byte} a round trip of {fitted_rtt_s:s} fits {law_count:.0f} of "
        "{row_count:.0f} rows"
    ),
    "cause-unknown-flat": (
        "the rate stays at {low_bps:bit/s} to {high_bps:bit/s} ({layer:layer}) in all "
        "{row_count:.0f} rows, over which the other column changes {span_ratio:.3g}-fold: what "
        "limits it is the same in all of them (a line, a device, a host, or the program's own rate)"
    ),
    "cause-unknown-narrow": (
        "the {row_count:.0f} rows are too near each other to tell, {span_ratio:.3g}-fold apart"
    ),
    "cause-unknown-law-of-some": (
        "these {row_count:.0f} rows follow a law, other series of the table do not"
    ),
    "cause-unknown-no-relation": (
        "the rates, {low_bps:bit/s} to {high_bps:bit/s} ({layer:layer}) in {row_count:.0f} rows, "
        "neither stay nor follow the law of a window, a round trip or a loss"
    ),
    "cause-unknown-odd-row": (
        "this row does not fit the others: {rate_bps:bit/s} ({layer:layer}), where their curve "
        "gives {expected_bps:bit/s} ({layer:layer})"
    ),
    "cause-unknown-sizes": (
        "the times are {latency_s:s} (95%: {latency_s_low:s} to {latency_s_high:s}) + size / "
        "{fitted_bps:bit/s} ({layer:layer}) (95%: {fitted_bps_low:bit/s} to "
        "{fitted_bps_high:bit/s} ({layer:layer})), within {off_ratio:ratio} in {row_count:.0f} "
        "rows; up to {even_bytes:byte} the fixed part is the larger one"
    ),
    "cause-unknown-sizes-exact": (
        "the times are {latency_s:s} + size / {fitted_bps:bit/s} ({layer:layer}) in "
        "{row_count:.0f} rows; up to {even_bytes:byte} the fixed part is the larger one"
    ),
    "cause-unknown-sizes-alone": (
        "the times are size / {fitted_bps:bit/s} ({layer:layer}), within {off_ratio:ratio}: "
        "{row_count:.0f} rows show no fixed part"
    ),
    "cause-unknown-sizes-flat": (
        "the time does not depend on the size: {low_s:s} to {high_s:s} in {row_count:.0f} rows, "
        "over which the size changes {span_ratio:.3g}-fold: a fixed cost, such as round trips or "
        "a server's time; no rate follows from it"
    ),
    "cause-unknown-sizes-scatter": (
        "no relation is seen between size and time: {low_s:s} to {high_s:s} in {row_count:.0f} "
        "rows, and no latency and rate fit them"
    ),
    "cause-unknown-one-size": (
        "{rate_pps:packet/s} at one frame size: a line and a device look alike with one"
    ),
    "cause-unknown-rate-step": (
        "the rate changed once, from {before_bps:bit/s} to {after_bps:bit/s} ({layer:layer}) at "
        "row {step_row:.0f} of {row_count:.0f}, and stayed: the median of all is that of one part"
    ),
    "cause-distance": "the path without load held it",
    "cause-distance-series": "the path without load takes",
    "cause-distance-series-time": "{share:.0%} of the median round trip of {duration_s:s}",
    "cause-time": "for {share:.0%} of {duration_s:s}",
    "cause-unknown": "no cause has enough evidence here",
    "cause-unknown-share": (
        "no cause has enough evidence here; of {duration_s:s} the largest part is {largest:cause}, "
        "{share:.0%}"
    ),
    # The numbers behind it.
    "cause-receiver-window-numbers": (
        "{window_bytes:byte} at {base_rtt_s:s}: {window_bps:bit/s} ({layer:layer})"
    ),
    "cause-sender-buffer-numbers": (
        "{in_flight_bytes:byte} at {base_rtt_s:s}: {in_flight_bps:bit/s} ({layer:layer})"
    ),
    "cause-slow-start-numbers": "round trips of {base_rtt_s:s}",
    "cause-random-loss-numbers": "{loss_ratio:ratio} lost at {base_rtt_s:s}",
    "cause-line-numbers": (
        "{line_bps:bit/s} ({layer:layer}); packets waited {queue_s:s} in front of it"
    ),
    "cause-line-rate": "{rate_bps:bit/s} ({layer:layer})",
    "cause-shared-line-numbers": (
        "{rate_bps:bit/s} ({layer:layer}) of {line_bps:bit/s} ({layer:layer})"
    ),
    "cause-shallow-buffer-numbers": (
        "{loss_ratio:ratio} lost, line {line_bps:bit/s} ({layer:layer})"
    ),
    "cause-policer-numbers": "{loss_ratio:ratio} lost at {rate_bps:bit/s} ({layer:layer})",
    "cause-small-segments-numbers": "{mss_bytes:byte} of payload in each",
    "cause-reverse-path-numbers": "{back_queue_s:s} on the way back, {base_rtt_s:s} without",
    "cause-reordering-numbers": "{reordered_ratio:ratio} of the segments",
    "cause-loss-udp-numbers": "{loss_ratio:ratio}",
    "cause-packet-rate-numbers": "{loss_ratio:ratio} lost",
    "cause-line-series-numbers": "{fastest_s:s} at least, 95% within {slow_s:s}",
    "cause-line-load-numbers": (
        "{before_s:s}, from answer {at_probe} to {to_probe} {after_s:s}, as medians"
    ),
    "cause-random-loss-series-numbers": "the answers took {fastest_s:s} and more",
    "cause-outage-series-numbers": "{loss_ratio:ratio} lost in all",
    "cause-path-change-back-numbers": (
        "{before_s:s}, from answer {at_probe} to {to_probe} {after_s:s}"
    ),
    "cause-delay-variation-series-numbers": (
        "{fastest_s:s} at least, median {median_s:s}, 95% within {slow_s:s}"
    ),
    "cause-path-change-numbers": "{before_s:s}, then {after_s:s}",
    "cause-path-change-series-numbers": "{before_s:s}, from answer {at_probe} on {after_s:s}",
    "cause-line-growth-numbers": "{fastest_s:s} at least",
    "cause-line-bursts-numbers": "{late_ratio:ratio} of the answers, by {late_s:s} in the median",
    "cause-delay-variation-bursts-numbers": "by {late_s:s} in the median",
    "cause-delay-variation-periodic-numbers": (
        "{late_ratio:ratio} of the answers, by {late_s:s} in the median"
    ),
    "cause-distance-numbers": "{base_rtt_s:s}",
    "cause-distance-series-numbers": "the fastest took {fastest_s:s}",
    "cause-round-trips-numbers": "round trips of {base_rtt_s:s}",
    "cause-tls-handshake-numbers": "round trips of {base_rtt_s:s}",
    "cause-at-limit": (
        "{cause}: {measured:bit/s} ({layer:layer}) is {share:.0%} of {value:bit/s} ({layer:layer})"
    ),
    "cause-nagle-delayed-ack-numbers": (
        "the second write left after the acknowledgement of the first: a round trip of "
        "{base_rtt_s:s} more, and {wait_s:s} for a timer of {timer_s:s}"
    ),
    # Names of causes within a sentence.
    "name-receiver-window": "the receiver's window",
    "name-receiver-program": "the receiver's program",
    "name-sender-buffer": "the sender's buffer",
    "name-sender-program": "the sender's program",
    "name-slow-start": "slow start",
    "name-random-loss": "random loss",
    "name-line": "the line",
    "name-shared-line": "the shared line",
    "name-shallow-buffer": "a short buffer",
    "name-policer": "a policer",
    "name-packet-rate": "a packet rate",
    "name-small-segments": "small segments",
    "name-reverse-path": "the way back",
    "name-reordering": "reordering",
    "name-duplicates": "duplicates",
    "name-path-change": "a change of the path",
    "name-delay-variation": "delay variation",
    "name-loss-udp": "loss",
    "name-timeout": "timeouts",
    "name-outage": "an outage",
    "name-handshake-loss": "a lost SYN",
    "name-handshake": "the handshake",
    "name-name-resolution": "the name look-up",
    "name-tls-handshake": "TLS",
    "name-round-trips": "round trips",
    "name-server-time": "the server",
    "name-nagle-delayed-ack": "delayed ACKs",
    "name-delayed-ack": "delayed ACKs",
    "name-path-mtu": "a black hole of the path MTU",
    "name-host": "the host",
    "name-distance": "the path",
    "name-idle": "times without a flow",
    "name-other": "other waits",
    "name-loss": "losses of an unknown kind",
    "name-unseen": "a pause whose cause this place does not show",
    "name-flat": "a window that does not grow",
    "name-unknown": "an unknown cause",
    # By what an interval is known to be of a cause.
    "sign-receiver-window": "no full segment more fitted into the window",
    "sign-receiver-program": "the window was below half of what had been offered",
    "sign-sender-buffer": "as much in flight as ever, no loss, no queue, room in the window",
    "sign-sender-program": "nothing forbade to send, and nothing was sent",
    "sign-slow-start": "the data in flight grew with each round trip, without a queue",
    "sign-random-loss": "after a loss, with room on the line",
    "sign-line": "round trips were longer than without load: packets queued",
    "sign-shared-line": "packets queued, and others had a part of the line",
    "sign-shallow-buffer": "after losses in a row, with hardly a queue",
    "sign-policer": "after losses in a row, without a queue",
    "sign-small-segments": "packets of little payload queued",
    "sign-reverse-path": "acknowledgements came later than without load",
    "sign-reordering": "segments came that others had overtaken",
    "sign-duplicates": "the same packet came twice",
    "sign-delay-variation": "packets came in batches at even intervals",
    "sign-timeout": "a segment came again after a pause as long as the timer",
    "sign-outage": "all in flight was lost, and repetitions of it, too",
    "sign-handshake-loss": "between the first SYN and its repetition",
    "sign-handshake": "between SYN and SYN-ACK",
    "sign-round-trips": "the answer of the other end was under way",
    "sign-server-time": "the answer was later than a round trip",
    "sign-nagle-delayed-ack": "an acknowledgement came by its timer",
    "sign-path-mtu": "full segments vanished, smaller packets passed",
    "sign-loss": "after a loss of an unknown kind",
    "sign-flat": "the data in flight did not grow",
    "sign-other": "none of the other signs",
    "sign-unseen": "a pause, whose reason this place does not show",
    "sign-unknown": "none of the other signs",
    "cause-next": "next: {name} {share:.0%}",
    "cause-beside": "in the other moments: {name} {share:.0%}",
    # What would be without it.
    "without-cause": (
        "without it at least {left_s:s} of {duration_s:s} remain: at most "
        "{rate_bps:bit/s} ({layer:layer}); the largest wait is then {next:cause}"
    ),
    "with-window": "with {window_bytes:byte} of window {rate_bps:bit/s} ({layer:layer})",
    "with-window-to-line": (
        "with {window_bytes:byte} of window {rate_bps:bit/s} ({layer:layer}); then the line limits"
    ),
    "with-full-segments": "with full segments of {mss_bytes:byte} {rate_bps:bit/s} ({layer:layer})",
    "without-loss": "without these losses the line's {rate_bps:bit/s} ({layer:layer})",
    "line-found": (
        "the line was found in the capture: {line_bps:bit/s} (Ethernet line), "
        "{payload_bps:bit/s} ({layer:layer})"
    ),
    "line-seen": (
        "packets in a row passed at {payload_bps:bit/s} ({layer:layer}): a line of "
        "{line_bps:bit/s} (Ethernet line) on the way, if it was no program that sent them at this "
        "pace"
    ),
    "capture-in-order": (
        "the packets are not in the order of their times in the file: they were put in that order"
    ),
    "capture-times-kept-in-order": (
        "times go back where packets follow each other by their numbers: the order of the file was "
        "kept, and each time is at least that of the packet before"
    ),
    "capture-clock-coarse": (
        "the clock of the capture has steps of a millisecond or more: what happened within one "
        "does not show"
    ),
    "capture-clock-stepped": (
        "the clock of the capture stepped by {step_s:s}: the stamps of TCP show it, and times "
        "were mended by them"
    ),
    "window-scale-fitted": (
        "the scale of the window is in no packet of the capture: the least was taken with which "
        "the sender never sent beyond the window"
    ),
    "stated-line-above": (
        "packets left the narrowest place of the path at {line_bps:bit/s} ({layer:layer}): the "
        "line that was stated, which carries {stated_bps:bit/s} ({layer:layer}), is not that place"
    ),
    "stated-loss-differs": (
        "{stated_ratio:ratio} of loss was stated, and the capture shows {loss_ratio:ratio}: the "
        "cause goes by the capture"
    ),
    "stated-rtt-above": (
        "a round trip of {stated_s:s} was stated, and some took {base_rtt_s:s}: the cause goes by "
        "the capture"
    ),
    "stated-window-below": (
        "{in_flight_bytes:byte} were in flight at once, more than the window of "
        "{stated_bytes:byte} that was stated: the cause goes by the capture"
    ),
    "capture-missed": (
        "{missing_bytes:byte} were acknowledged and are in no packet of the capture: the capture "
        "missed them, the path did not lose them"
    ),
    # A session, row by row.
    "waterfall-name": "from {begin_s:s} for {took_s:s}: the look-up of a name",
    "waterfall-flow": "from {begin_s:s} for {took_s:s}: {flow}: {parts:waits}",
    "waterfall-rest": "and {count:flow|flows} more",
    # A load beside probes.
    "working-latency": (
        "working latency {loaded_s:s} (95%: {low_s:s} to {high_s:s}), idle {idle_s:s}: "
        "{per_minute:.0f} round trips a minute (95%: {least_per_minute:.0f} to "
        "{most_per_minute:.0f}); the RPM of draft-ietf-ippm-responsiveness adds handshakes, TLS "
        "and HTTP, which pings do not have, so this is an upper estimate of it"
    ),
    "working-grade": (
        "the load adds {added_s:s} (95%: {low_s:s} to {high_s:s}): grade {grade} of DSLReports "
        "(less than 5 ms A+, 30 A, 60 B, 200 C, 400 D, else F; there of both directions)"
    ),
    "working-files": (
        "this holds if {loaded} was taken while a transfer filled the line, and {idle} without"
    ),
    # The test that would decide.
    "test-receiver-window": "use two connections, or raise the receive buffer: the rate rises",
    "test-receiver-program": (
        "watch Recv-Q at the receiver (ss -tn): it is full while the program does not read"
    ),
    "test-sender-buffer": "use two connections at once: together they are faster",
    "test-sender-program": (
        "look at the sender (ss -ti): it says app_limited, and Send-Q is empty in the pauses"
    ),
    "test-slow-start": "send ten times as much: the rate rises severalfold",
    "test-random-loss": "send UDP at the same rate: as much is lost",
    "test-line": "send UDP faster than that: no more arrives",
    "test-line-series": _LOADED,
    "test-line-growth": _LOADED,
    "test-line-load": _LOADED,
    "test-line-bursts": _LOADED,
    "test-random-loss-series": (
        "ping the hops before it, too (mtr): the first from which on as much is lost is where"
    ),
    "test-outage-series": (
        "ping the hops before it at the same time (mtr): the first that is silent, too, is where"
    ),
    "test-path-change-back": (
        "trace the path in both states: other hops are a detour, the same ones a queue"
    ),
    "test-delay-variation-bursts": (
        "ping by cable, and while nothing else runs: what stays is of a host"
    ),
    "test-delay-variation-periodic": (
        "look for what runs as often: scans of a radio, power saving, jobs of a host"
    ),
    "test-unknown-standing": (
        "stop all traffic and ping again: a queue is gone, a path stays as long as it is"
    ),
    "test-shared-line": "repeat it while nothing else runs: the rate rises",
    "test-shallow-buffer": "use four connections, or pace the sender (fq): the rate rises",
    "test-policer": "send UDP above and below that rate: what is above is lost, without delay",
    "test-packet-rate": "send packets of another size: the packet rate stays",
    "test-small-segments": "look for what lowers the MSS: with full segments the rate rises",
    "test-reverse-path": "stop all other traffic in the reverse direction: the rate rises",
    "test-reordering": "number datagrams (iperf3 -u): some arrive out of order",
    "test-duplicates": "ping the host: replies are marked DUP",
    "test-path-change": "trace the path now and then: its hops differ",
    "test-delay-variation": "ping ten times a second: replies come in batches",
    "test-loss-udp": "send at half the rate: the same share is lost",
    "test-timeout": "capture at the receiver: what the timer repeats had not arrived",
    "test-outage": "ping all the time: replies are missing for as long",
    "test-handshake-loss": "connect a hundred times: few take a second longer",
    "test-handshake": "use a connection that is open already: a round trip less",
    "test-name-resolution": "look the name up by itself (dig): it takes as long",
    "test-tls-handshake": "resume the session, or use one connection for all requests",
    "test-round-trips": "ask for several things at once: together they take as long as one",
    "test-server-time": "ask the server from the same host: it takes as long",
    "test-nagle-delayed-ack": "set TCP_NODELAY, or write each request at once: the waits are gone",
    "test-delayed-ack": "have the receiver acknowledge at once (TCP_QUICKACK)",
    "test-path-mtu": (
        "ping with large packets that must not be cut (ping -M do -s 1472), or trace the MTU "
        "(tracepath)"
    ),
    "test-host": "run each program on a host of its own",
    "test-sender-program-asked": "ask for twice the rate (-b): more arrives",
    "test-round-trips-counted": (
        "send ten times as much: hardly slower as long as round trips count, not bytes"
    ),
    "test-line-ethernet": (
        "read the rate of the interfaces (ethtool says Speed), and state --line"
    ),
    "test-receiver-window-asked": (
        "ping the host and state --rtt: the rate is near the window over it, or something else "
        "limits"
    ),
    "test-outage-run": "ping all the time: replies are missing for as long",
    "test-unknown-pause": (
        "ping meanwhile: if replies come in the pause, a program or a host paused, else the path"
    ),
    "test-unknown-nothing": (
        "ping the host, and look whether something listens there (ss -tlun) and a firewall drops it"
    ),
    "test-unknown-again": "ping the host: if few are lost, capture at both ends",
    "test-unknown-levels": "repeat it while pinging: round trips change with the path",
    "test-host-sender": (
        "look at the processors of the sender (top), and at the rate of its link (ethtool): write "
        "more at once (-l), or run several processes"
    ),
    "test-line-datagrams": (
        "send a little less than arrives now: nearly all of it arrives if a line is full"
    ),
    "test-unknown-impossible": "measure this size again, and read the rate of the line (ethtool)",
    "test-unknown-datagrams": (
        "send less than arrives now, in datagrams that fit into one packet (-l 1448): if as large "
        "a share is lost, look at the receiver (nstat UdpRcvbufErrors)"
    ),
    "test-unknown-flat": "send UDP at a higher rate: more does not arrive if a line is full",
    "test-unknown-narrow": "measure over a range of ten times at least",
    "test-unknown-law-of-some": "read the series in files of their own",
    "test-unknown-no-relation": (
        "measure each position several times: the scatter of one shows what the others mean"
    ),
    "test-unknown-odd-row": "measure this row again, and look for a wrong unit or digit in it",
    "test-unknown-sizes": (
        "compare the rate with the line (--line) and with the window over the round trip "
        "(--window, --rtt): the one that agrees is the likely cause"
    ),
    "test-unknown-sizes-exact": "measure a third size: it lies on the same line, or shows another",
    "test-unknown-sizes-alone": "measure a small size: its time is the fixed part",
    "test-unknown-sizes-flat": "send a hundred times as much: then the rate shows",
    "test-unknown-sizes-scatter": (
        "measure each size several times: the scatter of one shows what the others mean"
    ),
    "test-unknown-one-size": (
        "measure another size: the packet rate of a device stays, that of a line does not"
    ),
    "test-unknown-rate-step": (
        "look what changed then: capture, or ping beside it, before and after"
    ),
    "test-distance": "compare with the distance: light in fibre takes 1 ms per 100 km and back",
    "test-unknown": (
        "capture at the sender, from before the first packet on, or watch the sender while it runs "
        "(ss -ti): it counts the times that windows and buffers held it"
    ),
}
