"""Independent expressions, in mpmath, of windows, TCP under loss, timers, sharing and queues.

Each is written from the equation of the model's docstring, not from its code. One that takes
``result`` puts the model's result into the equation that it solves and returns both sides.
"""

from __future__ import annotations

from functools import cache

from mpmath import (
    cbrt,
    ceil,
    exp,
    factorial,
    findroot,
    floor,
    fsum,
    inf,
    isinf,
    log,
    mp,
    mpf,
    sqrt,
    workdps,
)  # fmt: skip

MSS_LIMITS = {"rfc6928": (10, 14600), "rfc3390": (4, 4380), "rfc9002": (10, 14720)}
ROUND_MARGIN = mpf("1e-9")
"""A logarithm less than this above a whole number of rounds counts as that number."""


def root4(x):
    return sqrt(sqrt(x))


# Windows and slow start


def rounds(segments, initial_window_segments, growth):
    return ceil(log(segments * (growth - 1) / initial_window_segments + 1) / log(growth))


def delayed_ack_rounds(segments, initial_window_segments, segments_per_ack):
    left, window, count = segments, initial_window_segments, mpf(0)
    while left > 0:
        left, window, count = left - window, window + ceil(window / segments_per_ack), count + 1
    return count


def window_growth_s(window_bytes, rtt_s, mss_bytes, initial_window_segments, growth):
    wanted = max(ceil(window_bytes / mss_bytes) / initial_window_segments, 1)
    return rtt_s * ceil(log(wanted) / log(growth))


def initial_window_bytes(mss_bytes, rfc):
    count, least = MSS_LIMITS[rfc]
    return min(count * mss_bytes, max(2 * mss_bytes, least))


def window_shift(window_bytes):
    fitting = (s for s in range(15) if 65535 * 2**s >= window_bytes)
    return next(fitting, mpf("nan"))


def sending_s(
    segments, packet_bytes, bandwidth_bps, base_rtt_s, initial_window_segments, growth,
    max_window_segments,
):  # fmt: skip
    """Round by round: a window, and a pause unless the line is full or nothing is left."""
    if growth == 1:
        return mpf("nan")
    clock = 8 * packet_bytes / bandwidth_bps if not isinf(bandwidth_bps) else mpf(0)
    cycle = base_rtt_s + clock
    window = min(initial_window_segments, max_window_segments)
    left, time = segments, mpf(0)
    while left > window * (1 + ROUND_MARGIN) and window * clock < cycle * (1 - ROUND_MARGIN):
        if window == max_window_segments:
            pauses = ceil(left / window - ROUND_MARGIN) - 1
            return time + pauses * cycle + (left - pauses * window) * clock
        left, time = left - window, time + cycle
        window = min(window * growth, max_window_segments)
    return time + left * clock


def fetch_s(
    payload_bytes, rtt_s, mss_bytes, initial_window_segments, handshake_round_trips, server_s,
    bandwidth_bps, header_bytes, growth, max_window_segments,
):  # fmt: skip
    sending = sending_s(
        payload_bytes / mss_bytes, mss_bytes + header_bytes, bandwidth_bps, rtt_s,
        initial_window_segments, growth, max_window_segments,
    )  # fmt: skip
    return (handshake_round_trips + 1) * rtt_s + server_s + sending


def static_transfer_s(
    payload_bytes, rtt_s, bandwidth_bps, mss_bytes, initial_window_segments, handshake_round_trips
):
    return fetch_s(
        payload_bytes, rtt_s, mss_bytes, initial_window_segments, handshake_round_trips, 0,
        bandwidth_bps, 0, 2, inf,
    )  # fmt: skip


def tail_delay_s(payload_bytes, rtt_s, delayed_ack_s, mss_bytes, segments_per_ack):
    full = floor(payload_bytes / mss_bytes)
    if full == 0 or payload_bytes == full * mss_bytes:
        return mpf(0)
    over = full - segments_per_ack * floor(full / segments_per_ack)
    return rtt_s + (delayed_ack_s if over else 0)


# TCP under loss


def cubic_shape(cubic_scale, decrease_factor):
    return cubic_scale * (3 + decrease_factor) / (4 * (1 - decrease_factor))


def cubic_raw(loss_ratio, rtt_s, cubic_scale, decrease_factor):
    return root4(cubic_shape(cubic_scale, decrease_factor)) * root4(rtt_s / loss_ratio) ** 3


def cubic_mean(loss_ratio, rtt_s, cubic_scale, decrease_factor, reno_constant):
    raw = cubic_raw(loss_ratio, rtt_s, cubic_scale, decrease_factor)
    return max(raw, reno_constant / sqrt(loss_ratio))


def cubic_loss_ratio(
    throughput_bps, packet_bytes, rtt_s, cubic_scale, decrease_factor, reno_constant
):
    if not throughput_bps or decrease_factor == 1:
        return mpf(1)
    window = throughput_bps * rtt_s / (8 * packet_bytes)
    raw = rtt_s * cbrt(cubic_shape(cubic_scale, decrease_factor)) / cbrt(window) ** 4
    return min(max(raw, (reno_constant / window) ** 2), 1)


def window_of(p, b):
    first = (2 + b) / (3 * b)
    return first + sqrt(8 * (1 - p) / (3 * b * p) + first**2)


def timeout_ratio(window_packets, loss_ratio):
    w, p = window_packets, loss_ratio
    if w <= 3:
        return mpf(1)
    if not p:
        return 3 / w
    if isinf(w):
        return min(mpf(1), (1 - (1 - p) ** 3) * (1 + (1 - p) ** 3))
    kept = (1 - p) ** 3
    return min(mpf(1), (1 - kept) * (1 + kept * (1 - (1 - p) ** (w - 3))) / (1 - (1 - p) ** w))


def backoff(loss_ratio):
    p = loss_ratio
    return 1 + p + sum(2 ** (k - 1) * p**k for k in range(2, 7))


def pftk(p, rtt, rto, limit, b, received=False):
    if not p:
        return limit / rtt
    if p == 1:
        return mpf(0)
    window = window_of(p, b)
    if window < limit:
        w, bracket = window, rtt * (b / 2 * window + 1)
    else:
        w, bracket = limit, rtt * (b / 8 * limit + (1 - p) / (p * limit) + 2)
    q = timeout_ratio(w, p)
    packets = (1 - p) / p + (w / 2 + q if received else w + q / (1 - p))
    return packets / (bracket + q * backoff(p) * rto / (1 - p))


def pftk_simple(p, rtt, rto, b):
    return 1 / (
        rtt * sqrt(2 * b * p / 3) + rto * min(1, 3 * sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    )


def pftk_approx(p, rtt, rto, limit, b):
    if p == 1:
        return mpf(0)
    return min(limit / rtt, pftk_simple(p, rtt, rto, b)) if p else limit / rtt


def pftk_loss_ratio(result, rate_pps, rtt_s, rto_s, max_window_packets, segments_per_ack):
    if result == 1:  # reached by retransmissions alone, or asked for nothing
        # The limit of the formula at a loss of 1, where 1/(1 - p) cancels: 1 / (64 RTO).
        return max(rate_pps, 1 / (64 * rto_s)), 1 / (64 * rto_s)
    return pftk(result, rtt_s, rto_s, max_window_packets, segments_per_ack), rate_pps


def pftk_approx_loss_ratio(result, rate_pps, rtt_s, rto_s, max_window_packets, segments_per_ack):
    at_one = pftk_simple(mpf(1), rtt_s, rto_s, segments_per_ack)
    if result == 1:
        return max(rate_pps, at_one), at_one
    return min(pftk_simple(result, rtt_s, rto_s, segments_per_ack), rate_pps), rate_pps


def tfrc_rounds(loss_ratio, segments_per_ack, timeout_rtts):
    p, b = loss_ratio, segments_per_ack
    return sqrt(2 * b * p / 3) + timeout_rtts * 3 * sqrt(3 * b * p / 8) * p * (1 + 32 * p**2)


def tfrc_loss_ratio(result, throughput_bps, mss_bytes, rtt_s, segments_per_ack, timeout_rtts):
    at_one = tfrc_rounds(mpf(1), segments_per_ack, timeout_rtts)
    wanted = min(8 * mss_bytes / (rtt_s * throughput_bps), at_one) if throughput_bps else at_one
    return tfrc_rounds(result, segments_per_ack, timeout_rtts), wanted


def handshake_s(rtt_s, forward_loss_ratio, reverse_loss_ratio, syn_timeout_s):
    f, r = forward_loss_ratio, reverse_loss_ratio
    if max(f, r) >= mpf(1) / 2:
        return inf
    return rtt_s + syn_timeout_s * ((1 - r) / (1 - 2 * r) + (1 - f) / (1 - 2 * f) - 2)


def slow_start_segments(segments, loss_ratio):
    if not loss_ratio:
        return segments
    return (1 - (1 - loss_ratio) ** segments) * (1 - loss_ratio) / loss_ratio


def slow_start_s(segments, rtt_s, initial_window_segments, max_window_segments, segments_per_ack):
    d, limit = segments, max_window_segments
    w1 = min(initial_window_segments, limit)
    g = 1 + 1 / segments_per_ack
    if d <= w1:
        return rtt_s if d else mpf(0)
    if (d * (g - 1) + w1) / g <= limit:
        return rtt_s * log(d * (g - 1) / w1 + 1) / log(g)
    after = (d - (g * limit - w1) / (g - 1)) / limit
    return rtt_s * (log(limit / w1) / log(g) + 1 + after)


def lossy_transfer_s(
    segments, rtt_s, loss_ratio, rto_s, initial_window_segments, max_window_segments,
    segments_per_ack, delayed_ack_s,
):  # fmt: skip
    d, p, b = segments, loss_ratio, segments_per_ack
    w1 = min(initial_window_segments, max_window_segments)
    some = 1 - (1 - p) ** d
    if p == 1 and d:
        return inf
    started = min(slow_start_segments(d, p) + some, d)
    start = slow_start_s(started, rtt_s, w1, max_window_segments, b)
    g = 1 + 1 / b
    reached = max(min((started * (g - 1) + w1) / g, max_window_segments), 1)
    if not some:
        return start + delayed_ack_s
    q = timeout_ratio(reached, p)
    stalled = q * rto_s * backoff(p) / (1 - p) + (1 - q) * rtt_s
    rate = pftk(p, rtt_s, rto_s, max_window_segments, b, received=True)
    return start + some * stalled + (d - started) / rate + delayed_ack_s


# Time of a transfer: the ceilings as written, the start round by round


def congestion_pps(p, rtt, rule, b, rto):
    if rule == "bbr":
        return inf if p <= mpf(1) / 5 else 4 * (1 - p) / rtt
    if p == 1:
        return mpf(0)
    if not p:
        return inf
    reno = 1 / (rtt * sqrt(b * p) / mpf("1.31") + p**2 * rto * backoff(p) / (1 - p))
    if rule == "reno":
        return reno
    c, beta = mpf(0.4), mpf(0.7)
    return max(root4(c * (3 + beta) / (4 * (1 - beta))) * (rtt / p) ** (mpf(3) / 4) / rtt, reno)


def congestion_limit_bps(
    loss_ratio, rtt_s, mss_bytes, congestion_control, flow_count, segments_per_ack, min_rto_s
):
    rate = congestion_pps(
        loss_ratio, rtt_s, congestion_control, segments_per_ack, rtt_s + min_rto_s
    )
    return flow_count * 8 * mss_bytes * rate


def wire_sizes(mtu_bytes, ip_version, tcp_option_bytes, link_bytes):
    mss = mtu_bytes - (40 if ip_version == 4 else 60) - tcp_option_bytes
    least = 84 if link_bytes >= 38 else 0  # a frame of 64, preamble and gap
    return mss, max(mtu_bytes + link_bytes, least), max(mtu_bytes - mss + link_bytes, least)


def path_ceilings(
    bandwidth_bps, rtt_s, loss_ratio, congestion_control, window_bytes, flow_count,
    reverse_bandwidth_bps, mtu_bytes, ip_version, tcp_option_bytes, link_bytes, segments_per_ack,
    min_rto_s,
):  # fmt: skip
    mss, wire, ack = wire_sizes(mtu_bytes, ip_version, tcp_option_bytes, link_bytes)
    pps = congestion_pps(loss_ratio, rtt_s, congestion_control, segments_per_ack, rtt_s + min_rto_s)
    return [
        inf if isinf(pps) else flow_count * 8 * mss * pps,
        flow_count * 8 * window_bytes / rtt_s,
        (1 - loss_ratio) * bandwidth_bps * mss / wire,
        inf if isinf(reverse_bandwidth_bps) else 2 * mss * reverse_bandwidth_bps / ack,
    ]


def transfer_parts(
    payload_bytes, bandwidth_bps, rtt_s, loss_ratio, congestion_control, window_bytes, flow_count,
    reverse_bandwidth_bps, mtu_bytes, ip_version, tcp_option_bytes, link_bytes,
    initial_window_segments, segments_per_ack, min_rto_s, handshake_round_trips,
):  # fmt: skip
    p, b, rtt = loss_ratio, segments_per_ack, rtt_s
    mss, wire, ack = wire_sizes(mtu_bytes, ip_version, tcp_option_bytes, link_bytes)
    segment, answer = 8 * wire / bandwidth_bps, 8 * ack / reverse_bandwidth_bps / 2
    alone = max(segment, answer)
    opened, delivery = handshake_round_trips * rtt, max(rtt - alone, mpf(0)) / 2
    if not payload_bytes:
        return [opened, mpf(0), mpf(0), mpf(0), delivery]
    if not mss or p == 1:
        return [opened, *([mpf("nan")] * 2 if not mss else [mpf(0)] * 2), inf, delivery]
    d, largest = payload_bytes / mss / flow_count, window_bytes / mss
    last = payload_bytes / flow_count - floor(d + mpf("1e-9")) * mss
    if last > mpf("1e-9") * mss:  # the last packet, with its headers, padded on Ethernet
        least = mpf(84) if link_bytes >= 38 else mpf(0)
        d += max(last + mtu_bytes - mss + link_bytes, least) / wire - last / mss
    limit = congestion_pps(p, rtt, congestion_control, b, rtt + min_rto_s)
    steady = min((1 - p) / segment / flow_count, largest / rtt, limit)
    steady = min(steady, 1 / answer / flow_count) if answer else steady
    growth = mpf(2) if congestion_control == "bbr" else 1 + 1 / b
    clock = flow_count * alone
    recovery = mpf(0)
    if congestion_control == "bbr":
        started = d if isinf(limit) else mpf(0)
        clock = flow_count * max(segment / (1 - p), answer)
    else:
        some = 1 - (1 - p) ** d
        started = max(min(slow_start_segments(d, p) + some, d), min(d, mpf(1)))
        # A repair that is lost waits for the timer.
        recovery = some * (p * (rtt + min_rto_s) * backoff(p) / (1 - p) + (1 - p) * rtt)
    first = min(initial_window_segments, largest)
    base = max(rtt - clock, mpf(0))
    whole = sending_s(started, mss, 8 * mss / clock, base, first, growth, largest)
    growing, window, left = mpf(0), first, started
    while (
        left > window * (1 + ROUND_MARGIN)
        and window * clock < (base + clock) * (1 - ROUND_MARGIN)
        and window < largest * (1 - ROUND_MARGIN)
    ):
        left, growing, window = left - window, growing + base + clock, min(window * growth, largest)
    return [opened, growing, recovery, whole - growing + (d - started) / steady, delivery]


def transfer_time_s(
    payload_bytes, bandwidth_bps, rtt_s, loss_ratio, congestion_control, window_bytes, flow_count,
    reverse_bandwidth_bps, mtu_bytes, ip_version, tcp_option_bytes, link_bytes,
    initial_window_segments, segments_per_ack, min_rto_s, handshake_round_trips,
):  # fmt: skip
    return sum(transfer_parts(
        payload_bytes, bandwidth_bps, rtt_s, loss_ratio, congestion_control, window_bytes,
        flow_count, reverse_bandwidth_bps, mtu_bytes, ip_version, tcp_option_bytes, link_bytes,
        initial_window_segments, segments_per_ack, min_rto_s, handshake_round_trips,
    ))  # fmt: skip


# Timers


def waits(doubling, initial_rto_s, linear_count, max_rto_s):
    """Add up the timeouts: the linear ones, the doubling ones, those at the largest."""
    first = min(initial_rto_s, max_rto_s)
    if isinf(max_rto_s):
        return first * (linear_count + 2**doubling - 1)
    below = min(doubling, floor(log(max_rto_s / first) / log(mpf(2)) + mpf(10) ** -40) + 1)
    return first * (linear_count + 2**below - 1) + (doubling - below) * max_rto_s


def rto_s(srtt_s, rttvar_s, granularity_s, min_rto_s, max_rto_s):
    return min(max_rto_s, srtt_s + max(min_rto_s, granularity_s, 4 * rttvar_s))


# Sharing


def aimd_utilization(buffer_bdp, decrease_factor):
    peak = 1 + buffer_bdp
    low = decrease_factor * peak
    if low >= 1:
        return mpf(1)
    return (peak**2 - low**2) / 2 / ((1 - low) + (peak**2 - 1) / 2)


def cubic_utilization(buffer_bdp, decrease_factor):
    peak, cut = 1 + buffer_bdp, 1 - decrease_factor
    if buffer_bdp >= peak * cut:
        return mpf(1)
    x = cbrt(buffer_bdp / (peak * cut))
    return x + peak * (1 - x - cut / 4 * (1 - x**4))


def jain(allocations):
    return sum(allocations) ** 2 / (len(allocations) * sum(x * x for x in allocations))


# Queues


def erlang_b(offered, servers):
    """1/B as the sum of c!/(c-j)!/A^j, until its terms no longer count."""
    return erlang_b_of(offered, servers, mp.prec)


@cache
def erlang_b_of(offered, servers, precision):
    """With as many digits as the caller asks for; several models are held to the same value.

    Terms are integers of 2**-scale: no term is rounded by more than that, and the first is 1.
    """
    if not servers:
        return mpf(1)
    if not offered:
        return mpf(0)
    scale = precision + 256
    load, halvings = int(offered.man), int(offered.exp)  # offered = load * 2**halvings
    load, doublings = load << max(0, halvings), max(0, -halvings)
    total = term = 1 << scale
    too_many = 10**400 << scale
    for left in range(int(servers), 0, -1):
        term = (term * left << doublings) // load
        total += term
        if total > too_many:
            return mpf(0)
        if term * 10**60 < total and left < offered:
            break
    return 1 / (mpf(total) / mpf(2) ** scale)


def erlang_c(offered, servers):
    if offered >= servers:
        return mpf(1)
    blocked = erlang_b(offered, servers)
    return blocked / (1 - offered / servers * (1 - blocked))


def late(offered, servers, patience):
    return erlang_c(offered, servers) * exp(-(servers - offered) * patience)


def erlang_b_server_count(result, offered_erlang, blocking_ratio):
    """The least: with it the target is met, with one fewer it is not."""
    if not offered_erlang or blocking_ratio == 1:
        return result, mpf(0)
    met = erlang_b(offered_erlang, result) <= blocking_ratio
    short = not result or erlang_b(offered_erlang, result - 1) > blocking_ratio
    return mpf(met + short), mpf(2)


def erlang_c_server_count(result, offered_erlang, service_level_ratio, within_s, service_s):
    if not offered_erlang:
        return result, mpf(0)
    patience, allowed = within_s / service_s, 1 - service_level_ratio
    met = result > offered_erlang and late(offered_erlang, result, patience) <= allowed
    fewer = result - 1
    short = fewer <= offered_erlang or late(offered_erlang, fewer, patience) > allowed
    return mpf(met + short), mpf(2)


def mmc_wait_percentile_s(offered_erlang, server_count, service_s, quantile):
    if not offered_erlang:
        return mpf(0)
    if offered_erlang >= server_count or quantile == 1:
        return inf
    waiting = erlang_c(offered_erlang, server_count)
    longer = log(waiting / (1 - quantile)) if waiting else -inf
    return max(0, service_s / (server_count - offered_erlang) * longer)


def mm1k_states(load, places):
    """p_0 and p_K."""
    if load == 1:
        return 1 / (places + 1), 1 / (places + 1)
    whole = 1 - load ** (places + 1)
    return (1 - load) / whole, (1 - load) * load**places / whole


def mm1k_number(load, places):
    if load == 1:
        return places / 2
    power = load ** (places + 1)
    return load / (1 - load) - (places + 1) * power / (1 - power)


def mm1k_sojourn(load, places, service):
    if not load:
        return service
    return mm1k_number(load, places) / (load * (1 - mm1k_states(load, places)[1])) * service


def mm1k_within(services, load, places):
    """Sum of Erlang distributions, by the customers that an accepted one finds.

    Below a load of 1 those beyond the 450th digit are left out.
    """
    most = int(places) if load >= 1 or not load else min(places, ceil(450 * log(10) / -log(load)))
    found = [load**n for n in range(int(most))]
    within, longer = mpf(0), mpf(0)
    for n, weight in enumerate(found):
        within += weight * (1 - longer)
        longer += exp(-services) * services**n / factorial(n)
    return within / fsum(found)


def md1_tail(t, load):
    """The slowest exponential alone: the others have died out 3000 service times before."""
    if not load:
        return mpf(0)
    decay = 2 * (1 - load) if load > mpf("0.999") else mpf("0.1") - log(load)
    decay = findroot(lambda x: load * (exp(x) - 1) / x - 1, decay)
    return (1 - load) / (load * exp(decay) - 1) * exp(-decay * t)


def md1_within(t, load):
    """The documented sum, whose terms cancel: in as many digits as that takes."""
    if load >= 1:
        return mpf(0)
    if t > 3000:
        return 1 - md1_tail(t, load)
    with workdps(100 + int(t)):
        start, step = exp(load * t), exp(-load)  # exp(-load (j - t)) = start step^j
        terms = ((load * step * (j - t)) ** j / factorial(j) * start for j in range(int(t) + 1))
        return (1 - load) * sum(terms)


def md1_wait_percentile_s(result, utilization, service_s, quantile):
    if quantile <= 1 - utilization:
        return result, mpf(0)
    if utilization >= 1 or quantile == 1:
        return result, inf
    with workdps(400):
        return 1 - md1_within(result / service_s, utilization), 1 - quantile


def mm1_wait_percentile_s(utilization, service_s, quantile):
    if not utilization:
        return mpf(0)
    if utilization >= 1 or quantile == 1:
        return inf
    return max(0, service_s / (1 - utilization) * log(utilization / (1 - quantile)))


def busy(utilization):
    """rho / (1 - rho)."""
    return utilization / (1 - utilization) if utilization < 1 else inf


def mix(wire_bytes, weight):
    total = sum(weight)
    mean = sum(w * x for w, x in zip(weight, wire_bytes, strict=True)) / total
    square = sum(w * x * x for w, x in zip(weight, wire_bytes, strict=True)) / total
    return mean, square


EQUATIONS = {
    "bbr.bbr_inflight_limit_bytes": lambda bandwidth_bps, base_rtt_s, window_gain:
        window_gain * bandwidth_bps * base_rtt_s / 8,
    "bbr.bbr_loss_tolerance_ratio": lambda probe_gain: 1 - 1 / probe_gain,
    "bbr.bbr_mean_gain": lambda cycle_gain: sum(cycle_gain) / len(cycle_gain),
    "bbr.bbr_probe_rtt_ratio": lambda probe_rtt_s, probe_rtt_interval_s:
        min(probe_rtt_s / probe_rtt_interval_s, 1),
    "bbr.bbr_startup_rounds": lambda bandwidth_bps, rtt_s, mss_bytes, initial_window_segments:
        max(0, ceil(log(bandwidth_bps * rtt_s / (8 * mss_bytes * initial_window_segments))
                    / log(mpf(2)) - mpf("1e-12"))) if rtt_s else 0,
    "short_transfers.handshake_s": handshake_s,
    "short_transfers.slow_start_segments": slow_start_segments,
    "short_transfers.slow_start_s": slow_start_s,
    "short_transfers.lossy_transfer_s": lossy_transfer_s,
    "cubic.cubic_window_packets": lambda elapsed_s, peak_window_packets, cubic_scale,
    decrease_factor: cubic_scale * (elapsed_s
        - cbrt(peak_window_packets * (1 - decrease_factor) / cubic_scale)) ** 3
        + peak_window_packets,
    "cubic.cubic_k_s": lambda peak_window_packets, cubic_scale, decrease_factor:
        cbrt(peak_window_packets * (1 - decrease_factor) / cubic_scale),
    "cubic.cubic_loss_interval_s": lambda loss_ratio, rtt_s, cubic_scale,
    decrease_factor:
        root4(rtt_s / loss_ratio / cubic_shape(cubic_scale, decrease_factor))
        if decrease_factor < 1 else mpf(0),
    "cubic.cubic_increase_packets": lambda decrease_factor:
        3 * (1 - decrease_factor) / (1 + decrease_factor),
    "cubic.cubic_raw_window_packets": cubic_raw,
    "cubic.cubic_mean_window_packets": cubic_mean,
    "cubic.cubic_throughput_bps": lambda loss_ratio, packet_bytes, rtt_s, cubic_scale,
    decrease_factor, reno_constant: mpf(0) if loss_ratio == 1 else 8 * packet_bytes / rtt_s
        * cubic_mean(loss_ratio, rtt_s, cubic_scale, decrease_factor, reno_constant),
    "cubic.cubic_loss_ratio": cubic_loss_ratio,
    "loss_limited.datagram_loss_ratio": lambda loss_ratio, fragments:
        1 - (1 - loss_ratio) ** fragments,
    "loss_limited.fragment_loss_ratio": lambda datagram_loss_ratio, fragments:
        1 - (1 - datagram_loss_ratio) ** (1 / fragments),
    "erlang.erlang_b_ratio": lambda offered_erlang, server_count:
        erlang_b(offered_erlang, server_count),
    "erlang.erlang_b_load": lambda result, blocking_ratio, server_count:
        (erlang_b(result, server_count), blocking_ratio),
    "erlang.erlang_b_server_count": erlang_b_server_count,
    "sharing.jain_index": jain,
    "sharing.jain_one_deviating": lambda deviation, flow_count:
        (flow_count + deviation) ** 2 / (flow_count * (flow_count - 1 + (1 + deviation) ** 2)),
    "sharing.proportional_long_flow_bps": lambda link_count, capacity_bps:
        capacity_bps / (link_count + 1),
    "sharing.proportional_short_flow_bps": lambda link_count, capacity_bps:
        capacity_bps * link_count / (link_count + 1),
    "mm1.mm1k_blocking_ratio": lambda utilization, place_count:
        mm1k_states(utilization, place_count)[1],
    "mm1.mm1k_customers": lambda utilization, place_count:
        mm1k_number(utilization, place_count),
    "mm1.mm1k_throughput_pps": lambda utilization, place_count, service_s:
        (1 - mm1k_states(utilization, place_count)[0]) / service_s,
    "mm1.mm1k_sojourn_s": lambda utilization, place_count, service_s:
        mm1k_sojourn(utilization, place_count, service_s),
    "mm1.mm1k_wait_s": lambda utilization, place_count, service_s:
        mm1k_sojourn(utilization, place_count, service_s) - service_s,
    "mm1.mm1k_wait_cdf": lambda wait_s, utilization, place_count, service_s:
        mm1k_within(wait_s / service_s, utilization, place_count),
    "handshakes.first_byte_s": lambda rtt_s, server_s, extra_round_trips:
        (1 + 1 + 1 + extra_round_trips) * rtt_s + server_s,
    "handshakes.certificate_round_trips": lambda certificate_bytes, mss_bytes,
    initial_window_segments: max(0, rounds(certificate_bytes / mss_bytes,
        initial_window_segments, mpf(2)) - 1),
    "loss_limited.mathis_constant": lambda segments_per_ack: sqrt(3 / (2 * segments_per_ack)),
    "loss_limited.mathis_throughput_bps": lambda loss_ratio, mss_bytes, rtt_s, constant:
        8 * mss_bytes / rtt_s * constant / sqrt(loss_ratio) if loss_ratio < 1 else mpf(0),
    "loss_limited.mathis_loss_ratio": lambda throughput_bps, mss_bytes, rtt_s, constant:
        min(1, (8 * mss_bytes * constant / (rtt_s * throughput_bps)) ** 2)
        if throughput_bps else mpf(1),
    "loss_limited.reno_window_packets": lambda loss_ratio, constant: constant / sqrt(loss_ratio),
    "loss_limited.reno_loss_interval_s": lambda loss_ratio, packet_bytes, bandwidth_bps:
        8 * packet_bytes / (loss_ratio * bandwidth_bps),
    "loss_limited.aimd_window_packets": lambda loss_ratio, increase_packets, decrease_factor:
        sqrt(increase_packets * (1 + decrease_factor) / (2 * (1 - decrease_factor) * loss_ratio)),
    "md1.md1_wait_s": lambda utilization, service_s: service_s * busy(utilization) / 2,
    "md1.md1_customers": lambda utilization: utilization + utilization * busy(utilization) / 2,
    "md1.md1_wait_cdf": lambda wait_s, utilization, service_s:
        md1_within(wait_s / service_s, utilization),
    "md1.md1_wait_percentile_s": md1_wait_percentile_s,
    "mm1.mm1_wait_s": lambda utilization, service_s: service_s * busy(utilization),
    "mm1.mm1_sojourn_s": lambda utilization, service_s:
        service_s / (1 - utilization) if utilization < 1 else inf,
    "mm1.mm1_customers": busy,
    "mm1.mm1_queue_length": lambda utilization: utilization * busy(utilization),
    "mm1.mm1_state_probability": lambda utilization, customer_count:
        (1 - utilization) * utilization**customer_count if utilization < 1 else mpf(0),
    "mm1.mm1_wait_cdf": lambda wait_s, utilization, service_s:
        1 - utilization * exp(-(1 - utilization) * wait_s / service_s)
        if utilization < 1 else mpf(0),
    "mm1.mm1_wait_percentile_s": mm1_wait_percentile_s,
    "mm1.mm1_sojourn_percentile_s": lambda utilization, service_s, quantile:
        -service_s / (1 - utilization) * log(1 - quantile)
        if utilization < 1 and quantile < 1 else inf,
    "erlang.erlang_c_ratio": lambda offered_erlang, server_count:
        erlang_c(offered_erlang, server_count),
    "erlang.erlang_c_server_count": erlang_c_server_count,
    "erlang.service_level_ratio": lambda offered_erlang, server_count, within_s, service_s:
        1 - late(offered_erlang, server_count, within_s / service_s)
        if offered_erlang < server_count else mpf(0),
    "erlang.mmc_wait_s": lambda offered_erlang, server_count, service_s:
        erlang_c(offered_erlang, server_count) * service_s / (server_count - offered_erlang)
        if offered_erlang < server_count else inf,
    "erlang.mmc_wait_percentile_s": mmc_wait_percentile_s,
    "pftk.pftk_window_packets": lambda loss_ratio, segments_per_ack:
        window_of(loss_ratio, segments_per_ack),
    "pftk.pftk_timeout_ratio": timeout_ratio,
    "pftk.pftk_backoff_factor": backoff,
    "pftk.timeout_sequence_s": lambda loss_ratio, rto_s:
        rto_s * backoff(loss_ratio) / (1 - loss_ratio),
    "pftk.pftk_rate_pps": lambda loss_ratio, rtt_s, rto_s, max_window_packets,
    segments_per_ack: pftk(loss_ratio, rtt_s, rto_s, max_window_packets, segments_per_ack),
    "pftk.pftk_throughput_pps": lambda loss_ratio, rtt_s, rto_s, max_window_packets,
    segments_per_ack: pftk(loss_ratio, rtt_s, rto_s, max_window_packets, segments_per_ack, True),
    "pftk.pftk_approx_rate_pps": lambda loss_ratio, rtt_s, rto_s, max_window_packets,
    segments_per_ack: pftk_approx(loss_ratio, rtt_s, rto_s, max_window_packets, segments_per_ack),
    "pftk.pftk_loss_ratio": pftk_loss_ratio,
    "pftk.pftk_approx_loss_ratio": pftk_approx_loss_ratio,
    "queueing.is_stable": lambda utilization: mpf(utilization < 1),
    "queueing.little_number": lambda rate_pps, sojourn_s: rate_pps * sojourn_s,
    "queueing.mg1_wait_s": lambda utilization, service_s, service_scv:
        service_s * busy(utilization) * (1 + service_scv) / 2,
    "queueing.packet_mix_scv": lambda wire_bytes, weight:
        mix(wire_bytes, weight)[1] / mix(wire_bytes, weight)[0] ** 2 - 1,
    "queueing.packet_mix_wait_s": lambda utilization, wire_bytes, weight, bandwidth_bps:
        busy(utilization) / 2 * 8 * mix(wire_bytes, weight)[1]
        / (bandwidth_bps * mix(wire_bytes, weight)[0]),
    "queueing.kingman_wait_s": lambda utilization, service_s, arrival_scv, service_scv:
        service_s * busy(utilization) * (arrival_scv + service_scv) / 2,
    "window.ideal_transfer_s": lambda payload_bytes, throughput_bps:
        8 * payload_bytes / throughput_bps,
    "window.transfer_time_factor": lambda transfer_s, ideal_s: transfer_s / ideal_s,
    "window.efficiency_ratio": lambda transmitted_bytes, retransmitted_bytes:
        (transmitted_bytes - retransmitted_bytes) / transmitted_bytes,
    "window.buffer_delay_factor": lambda rtt_s, base_rtt_s: (rtt_s - base_rtt_s) / base_rtt_s,
    "window.connection_count": lambda bdp_bytes, window_bytes:
        max(1, ceil(bdp_bytes / window_bytes)),
    "sharing.aimd_utilization": aimd_utilization,
    "sharing.cubic_utilization": cubic_utilization,
    "sharing.full_use_buffer_bdp": lambda decrease_factor: (1 - decrease_factor) / decrease_factor,
    "sharing.sawtooth_period_s": lambda peak_window_packets, rtt_s, segments_per_ack,
    increase_packets, decrease_factor: (1 - decrease_factor) * peak_window_packets
        / increase_packets * segments_per_ack * rtt_s,
    "sharing.sawtooth_packets": lambda peak_window_packets, segments_per_ack, increase_packets,
    decrease_factor: segments_per_ack * (1 - decrease_factor**2) / (2 * increase_packets)
        * peak_window_packets**2,
    "sharing.buffer_rule_bytes": lambda bandwidth_bps, rtt_s, flow_count:
        bandwidth_bps * rtt_s / (8 * sqrt(flow_count)),
    "sharing.drain_s": lambda buffer_bytes, bandwidth_bps: 8 * buffer_bytes / bandwidth_bps,
    "short_transfers.sending_s": sending_s,
    "short_transfers.static_transfer_s": static_transfer_s,
    "short_transfers.fetch_s": fetch_s,
    "slow_start.initial_window_bytes": initial_window_bytes,
    "slow_start.rounds": rounds,
    "slow_start.rounds_delayed_ack": delayed_ack_rounds,
    "slow_start.window_growth_s": window_growth_s,
    "small_writes.tail_delay_s": tail_delay_s,
    "small_writes.write_write_read_s": lambda rtt_s, delayed_ack_s, write_gap_s, server_s:
        rtt_s + server_s + max(write_gap_s, rtt_s + delayed_ack_s),
    "pftk.tfrc_rounds": tfrc_rounds,
    "pftk.tfrc_throughput_bps": lambda loss_ratio, mss_bytes, rtt_s, segments_per_ack,
    timeout_rtts: 8 * mss_bytes / rtt_s / tfrc_rounds(loss_ratio, segments_per_ack, timeout_rtts),
    "pftk.tfrc_loss_ratio": tfrc_loss_ratio,
    "timers.rto_s": rto_s,
    "ceilings.congestion_limit_bps": congestion_limit_bps,
    "ceilings.path_ceilings": path_ceilings,
    "transfer_time.transfer_parts": transfer_parts,
    "transfer_time.transfer_time_s": transfer_time_s,
    "timers.backoff_s": lambda timeout_count, initial_rto_s, max_rto_s:
        min(max_rto_s, 2**timeout_count * initial_rto_s),
    "timers.last_retransmission_s": lambda retry_count, initial_rto_s, linear_count, max_rto_s:
        waits(retry_count, initial_rto_s, linear_count, max_rto_s),
    "timers.give_up_s": lambda retry_count, initial_rto_s, linear_count, max_rto_s:
        waits(retry_count + 1, initial_rto_s, linear_count, max_rto_s),
    "token_bucket.token_bucket_transfer_s": lambda traffic_bytes, bucket_bytes, token_bps,
    peak_bps: max(8 * traffic_bytes / peak_bps, 8 * (traffic_bytes - bucket_bytes) / token_bps),
    "token_bucket.token_bucket_passed_bytes": lambda duration_s, bucket_bytes, token_bps,
    peak_bps: min(peak_bps * duration_s / 8, bucket_bytes + token_bps * duration_s / 8),
    "token_bucket.token_bucket_burst_bytes": lambda bucket_bytes, token_bps, peak_bps:
        bucket_bytes * peak_bps / (peak_bps - token_bps) if peak_bps > token_bps else inf,
    "window.bdp_bytes": lambda rtt_s, bandwidth_bps: bandwidth_bps * rtt_s / 8,
    "window.bdp_packets": lambda rtt_s, bandwidth_bps, packet_bytes:
        bandwidth_bps * rtt_s / (8 * packet_bytes),
    "window.throughput_bps": lambda window_bytes, rtt_s, bandwidth_bps:
        min(bandwidth_bps, 8 * window_bytes / rtt_s),
    "window.serialized_throughput_bps": lambda window_packets, packet_bytes, bandwidth_bps,
    base_rtt_s: bandwidth_bps * min(1, window_packets * (8 * packet_bytes / bandwidth_bps)
        / (base_rtt_s + 8 * packet_bytes / bandwidth_bps)),
    "window.window_shift": window_shift,
    "window.max_window_bytes": lambda shift: 65535 * 2**shift,
    "window.sequence_wrap_s": lambda bandwidth_bps, sequence_space_bytes:
        8 * sequence_space_bytes / bandwidth_bps,
}  # fmt: skip

DIGITS = {
    **dict.fromkeys(
        (
            "loss_limited.datagram_loss_ratio", "loss_limited.fragment_loss_ratio",
            "short_transfers.slow_start_segments", "short_transfers.lossy_transfer_s",
            "short_transfers.slow_start_s",
            "mm1.mm1k_blocking_ratio", "mm1.mm1k_customers",
            "mm1.mm1k_throughput_pps", "mm1.mm1k_sojourn_s",
            "mm1.mm1k_wait_s", "pftk.pftk_timeout_ratio", "pftk.pftk_rate_pps",
            "pftk.pftk_throughput_pps", "pftk.pftk_loss_ratio", "slow_start.rounds",
            "slow_start.window_growth_s", "mm1.mm1_wait_cdf", "erlang.service_level_ratio",
            "cubic.cubic_window_packets", "queueing.packet_mix_scv",
            "handshakes.certificate_round_trips", "mm1.mm1_wait_percentile_s",
            "small_writes.heartbeat_wait_s", "small_writes.tick_timer_wait_s",
            "transfer_time.transfer_time_s", "transfer_time.transfer_parts",
            "ceilings.congestion_limit_bps", "ceilings.path_ceilings",
        ),
        800,
    ),
}  # fmt: skip
"""Digits where the equation as written cancels: 1 - (1 - p)^k at p = 5e-324 needs 340."""
