"""The settings of the truth table.

From 56 kbit/s to 1 Gbit/s, 1, 3 and 12 links, 8 to 1400 bytes, round trips of some µs to 200 ms.
The times of most are far above those of the instrument; the last settings of the echo are hard.
"""

from __future__ import annotations

from netcalc.truth.bench import Setting
from netcalc.truth.losses import losses_setting
from netcalc.truth.probing import links_setting, packet_pairs_setting
from netcalc.truth.rates import buffers_setting, bulk_setting, line_rate_setting, lockstep_setting
from netcalc.truth.times import echo_setting, small_writes_setting, transactions_setting
from netcalc.truth.virtual import burst_loss_setting, md1_setting, train_setting

EARLY_SEEDS = (1, 26, 46, 47, 62)
"""Seeds of random losses whose first lost packet is one of the first 35, at 0.3 % and above."""
SETTINGS: tuple[Setting, ...] = (
    echo_setting("T1 5 ms", 8, 512, 1400, quick=True),
    echo_setting("56 kbit/s 5 ms", 8, 200),
    echo_setting("56 kbit/s 5 ms", 1400, count=2),
    echo_setting("T1 5 ms", 512, protocol="icmp", quick=True),
    echo_setting("T1 10 ms", 8, 1400, protocol="tcp"),
    echo_setting("T1 10 ms", 512, version=6, quick=True),
    echo_setting("3 x T1 5 ms", 8, 1400),
    echo_setting(
        "T1 1 ms, 56 kbit/s 5 ms, T3 10 ms", 512, protocol="icmp", processing_s=1e-3, count=5
    ),
    echo_setting("12 x 10 Mbit/s 2 ms", 8, 1400, quick=True),
    echo_setting("100 Mbit/s 25 ms", 1400, version=6, protocol="icmp"),
    echo_setting("1 Gbit/s 100 ms", 1400, count=4),
    echo_setting("10 Mbit/s 1 ms", 1400, runs=2),
    echo_setting("T3 0.5 ms", 1400, runs=3, quick=True),
    echo_setting("100 Mbit/s 0 ms", 1400, runs=4),
    small_writes_setting(
        "10 Mbit/s 20 ms", "nagle", "nodelay", "single", "cork", quick=True, side_by_side=True
    ),
    small_writes_setting("100 Mbit/s 50 ms", "nagle", "nodelay", count=4, side_by_side=True),
    small_writes_setting("10 Mbit/s 50 ms", "nagle", quickack=True, count=4, side_by_side=True),
    transactions_setting(
        "10 Mbit/s 20 ms", 400, "ping", "udp", "tfo", "tcp", quick=True, side_by_side=True
    ),
    transactions_setting("T1 5 ms", 1400, "udp", "tfo", "tcp", side_by_side=True),
    transactions_setting("100 Mbit/s 100 ms", 1400, "tls", count=2, side_by_side=True),
    lockstep_setting("10 Mbit/s 10 ms", 1, 8, 32, quick=True, side_by_side=True),
    lockstep_setting("3 x T1 10 ms", 1, 4, side_by_side=True),
    bulk_setting(
        "100 Mbit/s 50 ms", 100, quantity="delivery", count=3, quick=True, side_by_side=True
    ),
    bulk_setting("56 kbit/s 5 ms", 10, count=1, side_by_side=True),
    bulk_setting("T1 50 ms", 180, count=1, side_by_side=True),
    bulk_setting("10 Mbit/s 20 ms", 900, count=2, side_by_side=True),
    bulk_setting("12 x 10 Mbit/s 1 ms", 900, count=2, side_by_side=True),
    buffers_setting("10 Mbit/s 20 ms", 405, 32_768, 131_072, quick=True, side_by_side=True),
    buffers_setting("20 Mbit/s 20 ms", 1035, 65_536, 204_800, count=2, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.01, 1350, *EARLY_SEEDS[:3], quick=True, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.005, 2700, *EARLY_SEEDS, side_by_side=True),
    losses_setting("200 Mbit/s 5 ms", 0.003, 3600, *EARLY_SEEDS, rule="cubic", side_by_side=True),
    bulk_setting("100 Mbit/s 5 ms", 5400, count=3, quick=True),
    bulk_setting("1 Gbit/s 0.5 ms", 45_000, count=3),
    line_rate_setting("1 Gbit/s, 10 Mbit/s", 64, 512, 1518, device_pps=2000.0, count=2, quick=True),
    line_rate_setting("1 Gbit/s, 100 Mbit/s", 64, 1518, device_pps=5000.0),
    links_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", 3),
    links_setting("56 kbit/s 5 ms", 1, count=3),
    links_setting("T1 1 ms", 1, count=24, ip_version=6),
    packet_pairs_setting("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", quick=True),
    train_setting("12 x T1 1 ms", 10, quick=True),
    md1_setting("10 Mbit/s", 0.5),
    burst_loss_setting("10 Mbit/s", 0.1, 3.0),
)
"""Every run of the table, in its order."""
LABS = tuple(dict.fromkeys(setting.lab for setting in SETTINGS))
"""The experiments of the table."""
