"""Counters and summaries of tools, explained: every number by hand from the file above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement

INPUTS = Path(__file__).parents[1] / "readers" / "inputs"


def explained(name, **known):
    return measurement(readers.read(INPUTS / name), Known(**known))


def notices(finding):
    return {one.code: one.values for one in finding.notices}


def limits(finding):
    return {one.name: one.value for one in finding.limits}


def test_every_list_of_counters_says_something():
    for path in sorted((INPUTS / "counters").iterdir()):
        if path.suffix == ".csv" and path.stem == "MANIFEST":
            continue
        for known in (Known(), Known(rtt_s=0.04, line_bps=1e9)):
            found = measurement(readers.read(path), known)
            assert found, path.name
            for one in found:
                assert one.limits or one.notices, (path.name, one.label)
                assert "{" not in str(one), path.name


def test_the_delayed_acknowledgements_of_a_host():
    """By hand: 300 waits of at most 40 ms are 12 s; 5 timeouts of at least 200 ms are 1 s."""
    text = (
        "#kernel\nTcpOutSegs 1000 0.0\nTcpRetransSegs 10 0.0\nTcpExtDelayedACKs 300 0.0\n"
        "TcpExtTCPTimeouts 5 0.0\nTcpExtListenDrops 2 0.0\nUdpRcvbufErrors 7 0.0\n"
        "TcpExtTCPZeroWindowDrop 0 0.0\n"
    )
    (found,) = measurement(readers.read(text.encode()), Known(rtt_s=0.1))
    said = notices(found)
    assert said["segments-again"]["share"] == pytest.approx(0.01)
    assert said["counted-delayed-acks"] == {"count": 300, "wait_s": pytest.approx(12.0)}
    assert said["counted-timeouts"] == {"count": 5, "wait_s": pytest.approx(1.0)}
    assert said["counted-listen-drops"] == {"count": 2}
    assert said["counted-receive-buffer"] == {"count": 7}
    assert "counted-zero-window" not in said
    assert list(said)[:2] == ["segments-again", "counted-timeouts"], "the gravest first"
    assert limits(found)["loss-mathis"] == pytest.approx(8 * 1448 / 0.1 * 1.31 * 10, rel=0.01)
    assert "300 x 40 ms" in str(found)


def test_a_full_listen_queue_is_apart_from_what_listening_sockets_dropped():
    """Drops have other reasons, too, and nothing tells the client: it was not refused."""
    text = (
        "Tcp:\n    9 active connection openings\nTcpExt:\n"
        "    20 SYNs to LISTEN sockets dropped\n"
        "    15 times the listen queue of a socket overflowed\n"
    )
    (found,) = measurement(readers.read(text))
    assert notices(found)["counted-listen-overflows"] == {"count": 15}
    assert notices(found)["counted-listen-drops"] == {"count": 20}
    assert "full 15 times" in str(found)
    assert "refused" not in str(found)


def test_the_words_of_netstat_are_the_same_counters():
    """The file: 2,769,127 segments sent, 393 again, 383 of them by fast retransmit."""
    text = (INPUTS / "counters" / "netstat_s.txt").read_text()
    text = text.replace("    383 fast retransmits\n", "    383 fast retransmits\n"
                        "    25 delayed acks sent\n    4 other TCP timeouts\n")  # fmt: skip
    (found,) = measurement(readers.read(text.encode()), Known(rtt_s=0.04))
    said = notices(found)
    assert said["segments-again"] == {
        "count": 393, "total": 2769127, "share": pytest.approx(393 / 2769127),
    }  # fmt: skip
    assert said["counted-delayed-acks"]["wait_s"] == pytest.approx(1.0)
    assert said["counted-timeouts"]["wait_s"] == pytest.approx(0.8)
    assert "loss-cubic" in limits(found)
    again = notices(explained("counters/proc_netstat.txt")[0])
    assert "counted-delayed-acks" not in again


def test_counters_that_are_all_zero_say_so():
    (found,) = measurement(readers.read(b"#kernel\nTcpOutSegs 0 0.0\nIpInReceives 5 0.0\n"))
    assert [one.code for one in found.notices] == ["counters-quiet"]


def test_a_queueing_discipline():
    """The file: 37 of 66,012 + 37 dropped, 3028 B in the queue: 24.22 ms at 1 Mbit/s."""
    found = {
        one.label: one for one in explained("counters/tc_fq_codel.txt", line_bps=1e6, rtt_s=0.04)
    }
    htb = found["eth0 htb 1:"]
    share = 37 / (66012 + 37)
    assert notices(htb)["queue-drops"] == {
        "count": 37, "total": 66049, "share": pytest.approx(share),
    }  # fmt: skip
    assert notices(htb)["queue-length"]["delay_s"] == pytest.approx(8 * 3028 / 1e6)
    assert notices(htb)["shaper-held"] == {"count": 51234}
    assert limits(htb)["loss-mathis"] == pytest.approx(
        8 * 1448 / 0.04 * 1.31 / share**0.5, rel=0.01
    )
    # 1496 B a packet with its header of 14, 24 more on the wire
    mean = 98765432 / 66012
    assert limits(htb)["line"] == pytest.approx(1e6 * mean / (mean + 24))
    asked = explained("counters/tc_fq_codel.txt")[0]
    assert {one.code for one in asked.missing} >= {"ask-line", "ask-rtt"}
    assert notices(asked)["queue-length-bytes"] == {"queue_bytes": 3028}
    marked = notices(found["eth0 fq_codel 110:"])
    assert marked["queue-marks"] == {"count": 5}


def test_a_list_of_sockets_says_where_bytes_wait():
    text = (
        "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        "LISTEN 0      128    0.0.0.0:22         0.0.0.0:*\n"
        "ESTAB  7000   0      192.0.2.1:22       192.0.2.9:50000\n"
        "ESTAB  0      90000  192.0.2.1:80       192.0.2.9:50001\n"
    )
    (found,) = measurement(readers.read(text.encode()))
    assert notices(found) == {
        "counters-of-sockets": {"count": 2, "receive_bytes": 7000, "send_bytes": 90000}
    }


def test_the_counters_of_an_interface():
    """The file: 60,600,053 B in 109,378 packets are 554.04 B each; 3 were missed."""
    found = {one.label: one for one in explained("counters/ethtool.json", line_bps=1e9)}
    received = found["eth0, received"]
    mean = 60600053 / 109378
    assert notices(received)["mean-packet"]["mean_bytes"] == pytest.approx(mean)
    assert notices(received)["interface-drops"] == {"names": ["rx_missed_errors"], "count": 3}
    assert limits(received) == pytest.approx({"line": 1e9 * mean / (mean + 24)})
    assert "interface-drops" not in notices(found["eth0, sent"])
    assert {one.code for one in received.missing} == {"ask-second-time"}
    joined = {one.label: one for one in explained("counters/ip_s.txt", line_bps=1e9)}
    # 56 kB a packet: they were joined for the network card, and are not those of the wire
    assert "packets-joined" in notices(joined["v0, sent"])
    assert limits(joined["v0, sent"]) == {}
    assert {one.code for one in explained("counters/ip_s.txt")[-1].missing} >= {"ask-line"}


def test_the_rates_of_sar():
    """The file: 439.45 KiB/s are 3.6 Mbit/s, 0.36 % of 1 Gbit/s: 300 packets of 1500 B."""
    found = {one.label: one for one in explained("counters/sar_clock12.txt")}
    received = found["eth0, received"]
    assert received.measured == pytest.approx(439.45 * 1024 * 8)
    assert limits(received)["line"] == pytest.approx(1e9 * 1500 / 1524, rel=1e-3)
    stated = {one.label: one for one in explained("counters/sar_clock12.txt", line_bps=4e6)}
    assert limits(stated["eth0, received"])["line"] == pytest.approx(4e6 * 1500 / 1524, rel=1e-3)
    busy = {one.label: one for one in explained("counters/sar_net.txt")}["v0, sent"]
    # 1,084,336.64 KiB/s at 88.83 % of the line: 10 Gbit/s
    assert busy.measured == pytest.approx(8.8829e9, rel=1e-4)
    assert busy.binding.name == "line"
    assert busy.binding.values["line_bps"] == pytest.approx(1e10, rel=1e-3)


def test_how_busy_the_processors_were():
    """By hand: the least idle of the rows is 12.5 %, of the second processor."""
    text = (
        "Linux 6.1.0 (host) \t01/02/2026 \t_x86_64_\t(2 CPU)\n\n"
        "10:00:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
        "10:00:01        all     20.00      0.00     10.00      0.00      0.00     70.00\n"
        "10:00:01          0     10.00      0.00      5.00      0.00      0.00     85.00\n"
        "10:00:01          1     60.00      0.00     27.50      0.00      0.00     12.50\n"
    )
    (found,) = measurement(readers.read(text.encode()))
    assert notices(found) == {"cpu-busy": {"busy": pytest.approx(0.875)}}
    assert found.missing == ()


def test_transactions_a_second_are_a_time_each():
    """The file: 28,533.43 a second are 35.05 us each; with a round trip of 30 us 5.05 us remain."""
    (found,) = explained("transfers/netperf_rr.txt", rtt_s=30e-6)
    assert found.measured == pytest.approx(1 / 28533.43)
    assert limits(found) == pytest.approx({"round-trips": 30e-6, "host": 1 / 28533.43 - 30e-6})
    (alone,) = explained("transfers/netperf_rr.txt")
    assert limits(alone) == pytest.approx({"round-trip-and-hosts": 1 / 28533.43})
    assert [one.code for one in alone.missing] == ["ask-rtt"]
    (least,) = explained("transfers/netperf_rr_keyval.txt")
    assert limits(least)["round-trips"] == pytest.approx(25e-6)
    slow = "THROUGHPUT=24.39\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME=10.00\nPROTOCOL=TCP\n"
    slow += "REQUEST_SIZE=1\nRESPONSE_SIZE=1\n"
    (held,) = measurement(readers.read(slow.encode()), Known(rtt_s=1e-3))
    assert held.binding.name == "ack-timer"  # 41 ms less 1 ms


def test_a_summary_alone_is_explained():
    """The file: minimum 18, mean 33 and maximum 49 us of 20 probes."""
    (found,) = explained("iputils_quiet.txt")
    assert found.measured == pytest.approx(33e-6)
    assert limits(found) == pytest.approx({"distance": 18e-6, "queue-above-least": 15e-6})
    assert notices(found)["summary-explained"]["statistic"] == "mean"
    (sockperf,) = explained("pings/sockperf_full.txt", rtt_s=0.1e-3)
    assert sockperf.measured == pytest.approx(388.374e-6)
    assert limits(sockperf)["distance"] == pytest.approx(0.1e-3)
    (silent,) = explained("iputils_no_answer.txt")
    assert silent.limits == ()
    assert "none-answered" in notices(silent)


def test_counts_without_times_are_no_silence():
    counts = readers.read("5 packets transmitted, 4 packets received, 20.0% packet loss\n")
    (found,) = measurement(counts)
    assert notices(found) == {"answered-without-times": {"count": 5, "received": 4}}


def test_a_trace_without_an_answer_says_so():
    (found,) = explained("paths/traceroute_no_answer.txt")
    assert [one.code for one in found.notices] == ["none-answered"]


def test_one_way_delays_are_no_better_than_the_clocks():
    """The file: -12.4 ms there and 12.9 ms back are 0.5 ms; the clocks differ by 12.65 ms."""
    for one in explained("pings/owping.txt"):
        assert one.limits == (), "one of them is negative, so that the other is too long"
        assert "clock-exceeds-delay" in notices(one)
        assert notices(one)["one-way-sum"] == pytest.approx({"rtt_s": 0.5e-3, "offset_s": 12.65e-3})
    text = (INPUTS / "pings" / "owping.txt").read_text()
    text = text.replace("-12.5/-12.4/-12.1", "12.5/12.6/12.9")
    there, back = measurement(readers.read(text.encode()))
    assert notices(there)["probes-lost"] == {"loss_ratio": 0.1}
    assert notices(there)["one-way-sum"]["rtt_s"] == pytest.approx(25.5e-3)
    assert back.measured == pytest.approx(12.9e-3)
    assert limits(back) == pytest.approx({"one-way-least": 12.8e-3, "queue-above-least": 0.1e-3})
    assert notices(back)["clock-error"] == {"error_s": pytest.approx(9.01e-3)}
    (packets,) = explained("pings/owping_packets.txt")
    # 0.2 ms with an error of 0.389 ms
    assert "clock-exceeds-delay" in notices(packets)


def test_a_counter_near_two_to_the_64_explains_nothing():
    """2^64 - 1 is -1 of 64 bits: no mean of 1.494 TB a packet; the directions beside it stay."""
    text = (
        "NIC statistics:\n     rx_packets: 12345678\n     tx_packets: 2345678\n"
        "     rx_bytes: 18446744073709551615\n     tx_bytes: 123456789\n"
    )
    samples = readers.read(text.encode())
    assert [(one.code, one.values["names"]) for one in samples.meta.warnings] == [
        ("counters-implausible", ["rx_bytes"])
    ]
    received, sent = measurement(samples, Known(line_bps=1e9))
    assert [one.code for one in received.notices] == ["counters-implausible"]
    assert received.limits == ()
    # 123,456,789 / 2,345,678 is 52.63 B
    (mean,) = [one for one in sent.notices if one.code == "mean-packet"]
    assert mean.values["mean_bytes"] == pytest.approx(123456789 / 2345678)
    kernel = "#kernel\nTcpOutSegs 18446744073709551615 0.0\nTcpRetransSegs 5 0.0\n"
    (host,) = measurement(readers.read(kernel.encode()), Known(rtt_s=0.01))
    assert [one.code for one in host.notices] == ["counters-implausible"]
    assert host.limits == ()


def test_bytes_that_no_packets_hold_are_of_other_counters():
    """BIG TCP joins packets to 512 KiB at most; 10 packets of 100 MB in all are no packets."""
    text = "NIC statistics:\n     rx_packets: 10\n     rx_bytes: 100000000\n"
    (found,) = measurement(readers.read(text.encode()), Known(line_bps=1e9))
    assert [one.code for one in found.notices] == ["counters-disagree"]
    assert found.limits == ()


def test_a_full_backlog_of_a_processor_is_said_and_sockets_of_now_say_nothing():
    """By hand: 0 and 0x10 packets dropped; how many sockets are open limits nothing."""
    (finding,) = explained("counters/proc_softnet.txt")
    assert notices(finding) == {"counted-softnet": {"count": 16}}
    for name in ("proc_sockstat.txt", "ss_summary.txt"):
        (finding,) = explained(f"counters/{name}")
        assert (finding.limits, notices(finding)) == ((), {"sockets-of-now": {}})
