"""The settings of the truth table: wide, mostly where the physics is large, some where it is not.

From 56 kbit/s to 1 Gbit/s, over 1, 3 and 12 links, 8 to 1400 bytes, round trips of some µs to
200 ms. The last settings of the echo are hard: their times are near those of the instrument.
"""

from __future__ import annotations

from netcalc.truth.bench import Setting
from netcalc.truth.losses import of_losses
from netcalc.truth.probing import of_links, of_pairs
from netcalc.truth.rates import of_buffers, of_bulk, of_line_rate, of_lockstep
from netcalc.truth.times import of_echo, of_small_writes, of_transactions
from netcalc.truth.virtual import of_loss, of_md1, of_train

SETTINGS: tuple[Setting, ...] = (
    of_echo("T1 5 ms", 8, 512, 1400, quick=True),
    of_echo("56 kbit/s 5 ms", 8, 200),
    of_echo("56 kbit/s 5 ms", 1400, count=3),
    of_echo("T1 5 ms", 512, protocol="icmp", quick=True),
    of_echo("T1 10 ms", 8, 1400, protocol="tcp"),
    of_echo("T1 10 ms", 512, version=6, quick=True),
    of_echo("3 x T1 5 ms", 8, 1400),
    of_echo("T1 1 ms, 56 kbit/s 5 ms, T3 10 ms", 512, protocol="icmp", processing_s=1e-3, count=5),
    of_echo("12 x 10 Mbit/s 2 ms", 8, 1400, quick=True),
    of_echo("100 Mbit/s 25 ms", 1400, version=6, protocol="icmp"),
    of_echo("1 Gbit/s 100 ms", 1400, count=4),
    of_echo("10 Mbit/s 1 ms", 1400),
    of_echo("T3 0.5 ms", 1400, quick=True),
    of_echo("100 Mbit/s 0 ms", 1400),
    of_small_writes("10 Mbit/s 20 ms", "nagle", "nodelay", "single", "cork", quick=True),
    of_small_writes("100 Mbit/s 50 ms", "nagle", "nodelay", count=4),
    of_small_writes("10 Mbit/s 50 ms", "nagle", quickack=True, count=4),
    of_transactions("10 Mbit/s 20 ms", 400, "ping", "udp", "tfo", "tcp", quick=True),
    of_transactions("T1 5 ms", 1400, "udp", "tfo", "tcp"),
    of_transactions("100 Mbit/s 100 ms", 1400, "tls", count=3),
    of_bulk("100 Mbit/s 50 ms", 100, quantity="delivery", count=3, quick=True),
    of_bulk("56 kbit/s 5 ms", 10, count=1),
    of_bulk("T1 50 ms", 180, count=2),
    of_bulk("10 Mbit/s 20 ms", 900, count=2),
    of_bulk("12 x 10 Mbit/s 1 ms", 900, count=2),
    of_bulk("100 Mbit/s 5 ms", 5400, count=3, quick=True),
    of_bulk("1 Gbit/s 0.5 ms", 45_000, count=4),
    of_buffers("10 Mbit/s 20 ms", 400, 32_768, 131_072, quick=True),
    of_buffers("20 Mbit/s 20 ms", 1000, 65_536, 204_800),
    of_losses("200 Mbit/s 5 ms", 0.01, 3000, quick=True),
    of_losses("200 Mbit/s 5 ms", 0.005, 10_000),
    of_losses("200 Mbit/s 5 ms", 0.002, 13_000, rule="cubic"),
    of_lockstep("10 Mbit/s 10 ms", 1, 8, 32, quick=True),
    of_lockstep("3 x T1 10 ms", 1, 4),
    of_line_rate("1 Gbit/s, 10 Mbit/s", 64, 512, 1518, device_pps=2000.0, quick=True),
    of_line_rate("1 Gbit/s, 100 Mbit/s", 64, 1518, device_pps=5000.0),
    of_links("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", 3),
    of_links("56 kbit/s 5 ms", 1, count=3),
    of_pairs("10 Mbit/s 2 ms, T1 5 ms, 10 Mbit/s 2 ms", quick=True),
    of_train("12 x T1 1 ms", 10, quick=True),
    of_md1("10 Mbit/s", 0.5),
    of_loss("10 Mbit/s", 0.1, 3.0),
)
"""Every run of the table, in its order."""
LABS = tuple(dict.fromkeys(setting.lab for setting in SETTINGS))
"""The labs of the table."""
