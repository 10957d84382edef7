"""Independent expressions, in mpmath, of users, their queues, and rates under loss.

Each is written from the equation of the model's docstring, not from its code.
"""

from __future__ import annotations

from mpmath import binomial, erfc, erfinv, floor, inf, mpf, nan, sqrt

# Users


def overload_ratio(active_count, user_count, active_ratio):
    """The shorter of the two sums, each term from the one before."""
    n, count, p = int(active_count), int(user_count), active_ratio
    if n >= count or p in (0, 1):
        return mpf(n < count and p == 1)
    is_tail = n >= count * p
    first, last = (n + 1, count) if is_tail else (0, n)
    term = total = binomial(count, first) * p**first * (1 - p) ** (count - first)
    for k in range(first, last):
        term *= mpf(count - k) / (k + 1) * p / (1 - p)
        total += term
        if is_tail and term < total * mpf(10) ** -20:
            break
    return total if is_tail else 1 - total


def overload_normal_ratio(active_count, user_count, active_ratio):
    distance = active_count + mpf(1) / 2 - user_count * active_ratio
    spread = sqrt(2 * user_count * active_ratio * (1 - active_ratio))
    if not spread:
        return mpf(distance < 0)
    return erfc(min(distance / spread, mpf(10) ** 6)) / 2  # mpmath has none beyond


def normal_score(quantile):
    if quantile in (0, 1):
        return inf if quantile else -inf
    return sqrt(2) * erfinv(2 * quantile - 1)


def normal_bandwidth(mean, variance, most, quantile):
    score = normal_score(quantile) * sqrt(variance) if variance else mpf(0)
    return min(max(mean + score, mpf(0)), most)


def shared_bandwidth_normal_bps(user_count, active_ratio, user_bps, quantile):
    return class_bandwidth_bps([user_count], [active_ratio], [user_bps], quantile)


def class_bandwidth_bps(user_count, active_ratio, user_bps, quantile):
    classes = list(zip(user_count, active_ratio, user_bps, strict=True))
    mean = sum(n * p * r for n, p, r in classes)
    variance = sum(n * p * (1 - p) * r**2 for n, p, r in classes)
    return normal_bandwidth(mean, variance, sum(n * r for n, _, r in classes), quantile)


def access_node_bandwidth_bps(subscriber_count, mean_bps, sold_bps, peak_factor):
    return subscriber_count * mean_bps + peak_factor * sold_bps


def access_node_subscriber_count(bandwidth_bps, mean_bps, sold_bps, peak_factor):
    left = max(bandwidth_bps - peak_factor * sold_bps, mpf(0)) / mean_bps
    return floor(left * (1 + mpf("1e-12")))  # the margin is the model's


def oversubscription(user_count, sold_bps, bandwidth_bps):
    return user_count * sold_bps / bandwidth_bps


def busy_hour_bps(traffic_bytes, busy_hour_ratio):
    return 8 * traffic_bytes * busy_hour_ratio / 3600


def busy_hour_erlang(call_count, holding_s):
    return call_count * holding_s / 3600


# Delay under load


def packet_ahead_wait_s(utilization, wire_bytes, weight, bandwidth_bps):
    first = sum(w * size for w, size in zip(weight, wire_bytes, strict=True))
    second = sum(w * size**2 for w, size in zip(weight, wire_bytes, strict=True))
    return min(utilization, 1) / 2 * 8 / bandwidth_bps * second / first


def for_each(values, count):
    values = values if isinstance(values, list) else [values]
    return values * count if len(values) == 1 else values


def priority_wait_s(utilization, service_s, service_scv):
    before, found, residual = mpf(0), [], mpf(0)
    scvs = for_each(service_scv, len(utilization))
    service_s = for_each(service_s, len(utilization))
    for load, service, scv in zip(utilization, service_s, scvs, strict=True):
        residual += min(load, max(1 - before, mpf(0))) * service * (1 + scv) / 2
        before += load
    before = mpf(0)
    for load in utilization:
        free, left = 1 - before, 1 - before - load
        found.append(residual / (free * left) if left > 0 else inf)
        before += load
    return found


def preemptive_sojourn_s(utilization, service_s, service_scv):
    before, residual, found = mpf(0), mpf(0), []
    scvs = for_each(service_scv, len(utilization))
    service_s = for_each(service_s, len(utilization))
    for load, service, scv in zip(utilization, service_s, scvs, strict=True):
        residual += load * service * (1 + scv) / 2
        free, left = 1 - before, 1 - before - load
        found.append(service / free + residual / (free * left) if left > 0 else inf)
        before += load
    return found


def wfq_delay_s(bucket_bytes, reserved_bps, bandwidth_bps, packet_bytes, largest_bytes, link_count):
    if reserved_bps > bandwidth_bps:
        return inf
    own = 8 * bucket_bytes / reserved_bps + (link_count - 1) * 8 * packet_bytes / reserved_bps
    return own + link_count * 8 * largest_bytes / bandwidth_bps


def delay_bound_s(bucket_bytes, token_bps, service_bps, latency_s):
    return 8 * bucket_bytes / service_bps + latency_s if token_bps <= service_bps else inf


def backlog_bound_bytes(bucket_bytes, token_bps, service_bps, latency_s):
    return bucket_bytes + token_bps * latency_s / 8 if token_bps <= service_bps else inf


def path_delay_bound_s(bucket_bytes, token_bps, service_bps, latency_s):
    return delay_bound_s(bucket_bytes, token_bps, min(service_bps), sum(latency_s))


def dispersion_index(arrival_count):
    mean = sum(arrival_count) / len(arrival_count)
    if not mean:
        return nan
    return sum((n - mean) ** 2 for n in arrival_count) / (len(arrival_count) - 1) / mean


def on_off_dispersion_index(peak_pps, on_s, off_s):
    return 1 + 2 * peak_pps * on_s * off_s**2 / (on_s + off_s) ** 2


def dispersion_wait_s(utilization, service_s, dispersion, service_scv):
    if utilization >= 1:
        return inf
    factor = utilization / (1 - utilization)
    return service_s * factor * (dispersion + service_scv) / 2


# Loss and rate


def frame_error_ratio(bit_error_ratio, frame_bytes):
    return 1 - (1 - bit_error_ratio) ** (8 * frame_bytes) if frame_bytes else mpf(0)


def bit_error_limit_ratio(loss_ratio, frame_bytes):
    return 1 - (1 - loss_ratio) ** (1 / (8 * frame_bytes))


def bit_error_interval_s(bit_error_ratio, bandwidth_bps):
    return 1 / (bit_error_ratio * bandwidth_bps) if bit_error_ratio else inf


def policer_rule_bytes(token_bps, rtt_s):
    return token_bps * rtt_s / 8


def policer_full_use_bytes(token_bps, rtt_s, mss_bytes, decrease_factor):
    share = (1 - decrease_factor) / (1 + decrease_factor)
    return share**2 * (token_bps * rtt_s / 8) ** 2 / (2 * mss_bytes)


def policed_throughput_bps(bucket_bytes, token_bps, rtt_s, mss_bytes, decrease_factor):
    peak = token_bps + 8 / rtt_s * sqrt(2 * bucket_bytes * mss_bytes)
    return min(token_bps, (1 + decrease_factor) / 2 * peak)


def policed_loss_ratio(bucket_bytes, token_bps, rtt_s, mss_bytes, decrease_factor):
    window = token_bps * rtt_s / (8 * mss_bytes)
    most = min(2 * window / (1 + decrease_factor), window + sqrt(2 * bucket_bytes / mss_bytes))
    if decrease_factor == 1:
        return mpf(1)
    return min(2 * max(1, most - window) / ((1 - decrease_factor**2) * most**2), mpf(1))


def policer_overload_loss_ratio(input_bps, token_bps):
    return max(mpf(0), 1 - token_bps / input_bps) if input_bps else mpf(0)


def dctcp_threshold_bytes(bandwidth_bps, rtt_s):
    return bandwidth_bps * rtt_s / 56


def dctcp_amplitude_packets(flow_count, bdp_packets, threshold_packets):
    return sqrt(2 * flow_count * (bdp_packets + threshold_packets)) / 2


def ecn_threshold_bytes(bandwidth_bps, rtt_s, flow_count, decrease_factor):
    if not decrease_factor:
        return inf
    product = bandwidth_bps * rtt_s / (8 * sqrt(flow_count))
    return product * (1 - decrease_factor) / decrease_factor


def bbr_throughput_bps(loss_ratio, bandwidth_bps, rtt_s, mss_bytes, loss_tolerance_ratio):
    least = min(bandwidth_bps, 32 * mss_bytes / rtt_s)
    return (1 - loss_ratio) * (bandwidth_bps if loss_ratio <= loss_tolerance_ratio else least)


EQUATIONS = {
    "loss_limited.bit_error_interval_s": bit_error_interval_s,
    "loss_limited.bit_error_limit_ratio": bit_error_limit_ratio,
    "loss_limited.frame_error_ratio": frame_error_ratio,
    "ceilings.bbr_throughput_bps": bbr_throughput_bps,
    "ecn.dctcp_amplitude_packets": dctcp_amplitude_packets,
    "ecn.dctcp_threshold_bytes": dctcp_threshold_bytes,
    "ecn.ecn_threshold_bytes": ecn_threshold_bytes,
    "policer.policed_loss_ratio": policed_loss_ratio,
    "policer.policed_throughput_bps": policed_throughput_bps,
    "policer.policer_full_use_bytes": policer_full_use_bytes,
    "policer.policer_overload_loss_ratio": policer_overload_loss_ratio,
    "policer.policer_rule_bytes": policer_rule_bytes,
    "backlog.dispersion_index": dispersion_index,
    "backlog.dispersion_wait_s": dispersion_wait_s,
    "backlog.on_off_dispersion_index": on_off_dispersion_index,
    "queueing.packet_ahead_wait_s": packet_ahead_wait_s,
    "token_bucket.backlog_bound_bytes": backlog_bound_bytes,
    "token_bucket.delay_bound_s": delay_bound_s,
    "token_bucket.path_delay_bound_s": path_delay_bound_s,
    "scheduling.preemptive_sojourn_s": preemptive_sojourn_s,
    "scheduling.priority_wait_s": priority_wait_s,
    "scheduling.wfq_delay_s": wfq_delay_s,
    "multiplexing.access_node_bandwidth_bps": access_node_bandwidth_bps,
    "multiplexing.access_node_subscriber_count": access_node_subscriber_count,
    "multiplexing.busy_hour_bps": busy_hour_bps,
    "multiplexing.busy_hour_erlang": busy_hour_erlang,
    "multiplexing.oversubscription": oversubscription,
    "multiplexing.class_bandwidth_bps": class_bandwidth_bps,
    "multiplexing.overload_normal_ratio": overload_normal_ratio,
    "multiplexing.overload_ratio": overload_ratio,
    "multiplexing.shared_bandwidth_normal_bps": shared_bandwidth_normal_bps,
}

# Models that no equation gives in closed form, and where they are held to a second method.
NOT_CLOSED = {
    "ceilings.congestion_controls": "other models: test_congestion_controls names them",
    "erlang.engset_blocking_ratio": "a recursion: test_trunks sums rational numbers",
    "erlang.engset_time_ratio": "a recursion: test_trunks sums rational numbers",
    "erlang.erlang_a": "a sum over the queue: test_trunks solves the balance equations",
    "erlang.multirate_blocking_ratio": "a recursion: test_trunks has the product form",
    "queueing.packet_mix_wait_percentile_s": "an inversion: test_mg1_percentiles",
    "erlang.mmck_blocking_ratio": "a sum over the states: test_trunks solves the balance equations",
    "erlang.mmck_wait_s": "a sum over the states: test_trunks solves the balance equations",
    "multiplexing.active_percentile_count": "a search: test_multiplexing sums exactly",
    "multiplexing.shared_bandwidth_bps": "a search: test_multiplexing sums exactly",
    "multiplexing.supported_user_count": "a search: test_multiplexing sums exactly",
    "multiplexing.multiplexing_gain": "a search: test_multiplexing sums exactly",
}
