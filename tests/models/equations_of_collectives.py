"""Independent expressions, in mpmath, of collectives: step by step where there are steps.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from mpmath import ceil, mpf


def down(ranks):
    """The largest power of two, and its exponent, by doubling."""
    power, exponent = 1, 0
    while 2 * power <= ranks:
        power, exponent = 2 * power, exponent + 1
    return power, exponent


def up(ranks):
    power, exponent = down(ranks)
    return exponent + (power != ranks)


def message(size, d, rate):
    return d + 8 * size / rate


def rabenseifner(payload_bytes, rank_count, latency_s, bandwidth_bps):
    power, exponent = down(rank_count)
    extra = int(power != rank_count)
    share = mpf(power - 1) / power + extra
    return 2 * (exponent + extra) * latency_s + 2 * share * 8 * payload_bytes / bandwidth_bps


def hierarchical(
    payload_bytes, node_count, node_rank_count, latency_s, bandwidth_bps, node_latency_s,
    node_bandwidth_bps,
):  # fmt: skip
    within = message(payload_bytes / node_rank_count, node_latency_s, node_bandwidth_bps)
    between = message(payload_bytes / node_rank_count / node_count, latency_s, bandwidth_bps)
    return 2 * (node_rank_count - 1) * within + 2 * (node_count - 1) * between


def pipelined(payload_bytes, rank_count, latency_s, bandwidth_bps, chunk_bytes):
    if rank_count == 1 or not payload_bytes:
        return mpf(0)
    piece = min(chunk_bytes, payload_bytes)
    pieces = ceil(payload_bytes / piece)
    return (rank_count - 2 + pieces) * message(piece, latency_s, bandwidth_bps)


def loggp(payload_bytes, latency_s, overhead_s, bandwidth_bps, message_gap_s, message_count):
    body = 8 * max(payload_bytes - 1, 0) / bandwidth_bps
    apart = max(message_gap_s, overhead_s)
    return latency_s + 2 * overhead_s + message_count * body + (message_count - 1) * apart


def factor(rank_count, operation):
    if operation in ("broadcast", "reduce"):
        return int(rank_count > 1)
    return (1 + (operation == "all-reduce")) * (rank_count - 1) / rank_count


EQUATIONS = {
    "all_reduce.ring_allreduce_s": lambda payload_bytes, rank_count, latency_s, bandwidth_bps:
        2 * (rank_count - 1) * message(payload_bytes / rank_count, latency_s, bandwidth_bps),
    "all_reduce.double_tree_allreduce_s": lambda payload_bytes, rank_count, latency_s,
    bandwidth_bps: 2 * up(rank_count) * latency_s
        + 2 * (rank_count > 1) * 8 * payload_bytes / bandwidth_bps,
    "all_reduce.recursive_doubling_allreduce_s": lambda payload_bytes, rank_count, latency_s,
    bandwidth_bps: (down(rank_count)[1] + 2 * (down(rank_count)[0] != rank_count))
        * message(payload_bytes, latency_s, bandwidth_bps),
    "all_reduce.rabenseifner_allreduce_s": rabenseifner,
    "all_reduce.hierarchical_allreduce_s": hierarchical,
    "all_reduce.ring_tree_crossover_bytes": lambda rank_count, latency_s, bandwidth_bps:
        rank_count * (rank_count - 1 - up(rank_count)) * latency_s * bandwidth_bps / 8,
    "broadcast.ring_allgather_s": lambda payload_bytes, rank_count, latency_s, bandwidth_bps:
        (rank_count - 1) * message(payload_bytes / rank_count, latency_s, bandwidth_bps),
    "broadcast.recursive_doubling_allgather_s": lambda payload_bytes, rank_count, latency_s,
    bandwidth_bps: up(rank_count) * latency_s
        + (rank_count - 1) / rank_count * 8 * payload_bytes / bandwidth_bps,
    "broadcast.binomial_broadcast_s": lambda payload_bytes, rank_count, latency_s, bandwidth_bps:
        up(rank_count) * message(payload_bytes, latency_s, bandwidth_bps),
    "broadcast.scatter_allgather_broadcast_s": lambda payload_bytes, rank_count, latency_s,
    bandwidth_bps: (up(rank_count) + rank_count - 1) * latency_s
        + 2 * (rank_count - 1) / rank_count * 8 * payload_bytes / bandwidth_bps,
    "broadcast.pipelined_broadcast_s": pipelined,
    "broadcast.loggp_message_s": loggp,
    "bus_bandwidth.bus_bandwidth_bps": lambda payload_bytes, duration_s, rank_count, operation:
        factor(rank_count, operation) * 8 * payload_bytes / duration_s,
    "bus_bandwidth.least_collective_s": lambda payload_bytes, rank_count, bandwidth_bps,
    operation: factor(rank_count, operation) * 8 * payload_bytes / bandwidth_bps,
    "bus_bandwidth.ring_half_rate_bytes": lambda rank_count, latency_s, bandwidth_bps:
        rank_count * latency_s * bandwidth_bps / 8,
}  # fmt: skip
