"""Lists of packets by hand: every column, fact and warning, and the line of each fault."""

from __future__ import annotations

import pytest
from samples_seen import noted

from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.captures.lists.traces import span_s, times_of


def values(table, name):
    return [
        one if isinstance(one, str) else None if one != one else float(one)
        for one in table[name].tolist()
    ]


def refused(text):
    with pytest.raises(ReaderError) as error:
        read(text, name="list")
    return error.value


TCPDUMP = (
    "listening on lo, link-type EN10MB (Ethernet), snapshot length 262144 bytes\n"
    "1795353918.312245 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 7, win 9, length 0\n"
    "1795353918.412245 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [P.], seq 5:8, ack 8, win 3, "
    "length 3: HTTP\n"
    "1795353918.512245 IP6 2001:db8::1.53 > 2001:db8::2.54: UDP, length 12\n"
    "1795353918.612245 ARP, Request who-has 192.0.2.9 tell 192.0.2.1, length 28\n"
    "1795353918.712245 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 1, seq 1, length 64\n"
    "1795353918.812245 IP 192.0.2.1 > 192.0.2.2: ICMP echo reply, id 1, seq 1, length 7\n"
    "what is this\n"
    "1795353918.912245 IP6 (flowlabel 0x1, hlim 63, next-header UDP (17) payload length: 20) "
    "2001:db8::1.53 > 2001:db8::2.54: UDP, length 12\n"
    "1795353919.012245 IP (tos 0x0, ttl 60, id 1, offset 0, proto UDP (17), length 40)\n"
    "    192.0.2.1.5 > 192.0.2.2.6: [udp sum ok] UDP, length 12\n"
    "8 packets captured\n8 packets received by filter\n"
)


def test_tcpdump():
    found = read(TCPDUMP)
    assert values(found, "time_s") == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    columns = {
        "protocol": ["tcp", "tcp", "udp", "arp", "icmp", "icmp", "udp", "udp"],
        "ip_version": ["4", "4", "6", "", "4", "4", "6", "4"],
        "source": ["192.0.2.1", "192.0.2.2", "2001:db8::1", "", "192.0.2.1", "192.0.2.1",
                   "2001:db8::1", "192.0.2.1"],
        "destination": ["192.0.2.2", "192.0.2.1", "2001:db8::2", "", "192.0.2.2", "192.0.2.2",
                        "2001:db8::2", "192.0.2.2"],
        "source_port": [40000, 80, 53, None, None, None, 53, 5],
        "destination_port": [80, 40000, 54, None, None, None, 54, 6],
        "payload_bytes": [0, 3, 12, None, 56, None, 12, 12],
        "tcp_sequence": [7, 5, *[None] * 6], "acknowledged": [None, 8, *[None] * 6],
        "window": [9, 3, *[None] * 6], "tcp_flags": ["S", "P.", *[""] * 6],
        "packet_bytes": [*[None] * 6, 60, 40], "ttl": [*[None] * 6, 63, 60], "group": ["1"] * 8,
    }  # fmt: skip
    for name, expected in columns.items():
        assert values(found, name) == expected, name
    [row] = found.facts()
    counts = ("packet_count", "ipv4_packet_count", "ipv6_packet_count", "partial")
    assert tuple(row[name] for name in counts) == (8, 5, 2, False)
    assert row["span_s"] == pytest.approx(0.7)
    assert noted(found) == [("packet-lines-skipped", {"count": 1, "numbers": [8]})]
    assert found.meta.printed == {"captured_count_1": 8}
    units = {"time_s": "s", "packet_bytes": "byte", "payload_bytes": "byte", "ttl": "1"}
    assert {name: found.meta.units[name] for name in units} == units


def test_a_packet_of_tcpdump_without_its_time_is_said():
    """A blank before the packet belongs to a time: what a packet carries begins without one."""
    line = "{} IP 192.0.2.1 > 192.0.2.2: ICMP echo reply, id 1, seq 2, length 64\n"
    whole = line.format("1795353918.524016")
    for time in ("", " 00:00:1x%"):
        found = read(whole + line.format(time) + whole)
        unread = [one.values["numbers"] for one in found.meta.warnings if "numbers" in one.values]
        assert unread == [[2]]
        assert len(found) == 2


def test_runs_of_tcpdump():
    two = read(TCPDUMP + TCPDUMP)
    assert [row["group"] for row in two.facts()] == ["1", "2"]
    assert [row["packet_count"] for row in two.facts()] == [8, 8]
    assert two.meta.printed == {"captured_count_1": 8, "captured_count_2": 8}
    begin, _, rest = TCPDUMP.partition("8 packets captured")
    assert rest
    assert [row["group"] for row in read(begin + begin).facts()] == ["1", "2"]
    unreadable = read(TCPDUMP + "1795353920.0000000 IP what\n")
    assert noted(unreadable)[-1][1]["numbers"] == [8, 14]


def test_a_run_of_tcpdump_without_a_packet_is_counted():
    """It was ended before it captured any: what follows is the second run, of its own link type."""
    text = "listening on a, link-type RAW (Raw IP), snapshot length 262144 bytes\n" + TCPDUMP
    (row,) = read(text).facts()
    assert (row["group"], row["link_type"]) == ("2", "Ethernet")
    assert read(text).meta.printed == {"captured_count_2": 8}


LIST = '"No.","Time","Source","Destination","Protocol","Length","Info","Extra"\n'


def packet(number, time, length=60, info="x"):
    return f'"{number}","{time}","a","b","UDP","{length}","{info}","e"\n'


def test_a_list_of_wireshark():
    stamps = ("2026-11-22 13:25:18.25", "2026-11-22 13:25:18.75")
    text = LIST + packet(1, stamps[0]) + packet(3, stamps[1], 1514, "y")
    found = read(text)
    assert values(found, "time_s") == [0, 0.5]
    assert values(found, "original_bytes") == [60, 1514]
    assert values(found, "number") == [1, 3]
    assert values(found, "info") == ["x", "y"]
    assert values(found, "Extra") == ["e", "e"]
    assert found.meta.units["original_bytes"] == "byte"
    assert found.meta.layers == {"original_bytes": "captured frame"}
    [row] = found.facts()
    assert (row["packet_count"], row["span_s"], row["partial"]) == (2, 0.5, False)
    cut = read(text + '"4","2026-11')
    assert (cut.meta.partial, noted(cut)) == (True, [("packet-row-cut", {})])
    assert cut.facts()[0]["packet_count"] == 2
    fault = refused(text + '"4","2026-11"\n')
    assert (fault.code, fault.line) == ("packet-row-width", 4)
    assert (fault.values["found"], fault.values["wanted"]) == (2, 8)
    fault = refused(LIST + packet(1, stamps[0]) + packet(2, stamps[1], "sixty"))
    assert (fault.code, fault.field) == ("packet-field-not-a-number", "length")
    assert (fault.values["value"], fault.values["packet"]) == ("sixty", 2)
    fault = refused("\n" + LIST.replace("Info", "Source") + packet(1, stamps[0]))
    assert (fault.code, fault.line, fault.field) == ("packet-columns-alike", 2, "Source")
    for separator in ";\t":
        other = read(text.replace(",", separator))
        assert values(other, "original_bytes") == [60, 1514]


FIELDS = (
    "frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "ipv6.src",
    "tcp.stream", "udp.stream", "tcp.len", "tcp.analysis.ack_rtt", "tcp.analysis.initial_rtt",
    "tcp.analysis.retransmission",
)  # fmt: skip


def fields(*rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in (FIELDS, *rows))


def test_fields_of_tshark():
    rows = [
        (1, "1795353918.25", 100, 90, "192.0.2.1", "", 0, "", 5, "", 0.5, ""),
        (2, "1795353918.75", 200, 190, "192.0.2.1", "", 1, "", 7, 0.25, 0.125, 1),
        (3, "1795353919.25", "300,40", 290, "", "2001:db8::1", "", 0, "", "", "", ""),
    ]  # fmt: skip
    found = read(fields(*rows))
    assert values(found, "time_s") == [0, 0.5, 1]
    assert values(found, "original_bytes") == [100, 200, None]
    assert values(found, "kept_bytes") == [90, 190, 290]
    assert values(found, "payload_bytes") == [5, 7, None]
    assert values(found, "ack_rtt_s") == [None, 0.25, None]
    assert values(found, "ip.src") == ["192.0.2.1", "192.0.2.1", ""]
    [row] = found.facts()
    expected = {
        "packet_count": 3, "captured_byte_count": 570, "span_s": 1, "ipv4_packet_count": 2,
        "ipv6_packet_count": 1, "tcp_flow_count": 2, "udp_flow_count": 1,
        "tcp_retransmission_count": 1, "handshake_rtt_min_s": 0.125, "partial": False,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert noted(found) == [("packet-field-several", {"count": 1, "field": "frame.len"})]
    cut = read(fields(*rows) + "4\t17953")
    assert (cut.meta.partial, cut.facts()[0]["packet_count"]) == (True, 3)
    fault = refused(fields(*rows) + "4\t17953\n")
    assert (fault.code, fault.line) == ("packet-row-width", 5)
    assert (fault.values["found"], fault.values["wanted"]) == (2, 12)
    fault = refused(fields(rows[0], (2, "1795353918.75", "x", *rows[1][3:])))
    assert (fault.code, fault.field) == ("packet-field-not-a-number", "frame.len")
    assert (fault.values["value"], fault.values["packet"]) == ("x", 2)
    tunnel = read(fields((1, "1795353918.25", 100, 90, "a", "", "0,1", "", 5, "", "", "")))
    assert "tcp_flow_count" not in tunnel.facts()[0]


UNSURE = {name: (None, f"packet-time{rest}") for name, rest in (
    ("unread", "-unread"), ("since last", "s-since-last"), ("unsure", "s-ambiguous"))}  # fmt: skip
TIMES = {
    # name: (texts, relative, seconds or None, notice)
    "since 1970": (["1795353918.25", "", "1795353917.75"], False, [0, None, -0.5], None),
    "since 1973": (["100000000", "100000001,5"], False, [0, 1.5], None),
    "before 1973": (["99999999.5", "100000001"], False, *UNSURE["unsure"]),
    "nine digits": (["1795353918.000000001", "1795353918.000000004"], False, [0, 3e-9], None),
    "time of day": (["10:20:30.5", "10:20:31", "11:20:31"], False, [0, 0.5, 3600.5], None),
    "over midnight": (["23:59:59.5", "00:00:01", "23:59:59", "00:00:00.5"], False,
                      [0, 1.5, 86_399.5, 86_401], None),
    "half a day back": (["13:00:00", "01:00:00"], False, [0, -43_200], None),
    "more than half a day back": (["13:00:00", "00:59:59"], False, [0, 43_199], None),
    "dates": (["2026-02-28 23:59:59", "2026-03-01T00:00:01Z", "2026-02-28 00:00:00 +01:00"], False,
              [0, 2, -86_399], None),
    "no date": (["2026-02-30 23:59:59"], False, *UNSURE["unread"]),
    "words": (["1.5", "now"], False, *UNSURE["unread"]),
    "five steps up": (["0", "1", "1", "2", "3", "4", "5.5"], False, [0, 1, 1, 2, 3, 4, 5.5], None),
    "four steps up": (["0", "1", "2", "2", "3", "4"], False, *UNSURE["unsure"]),
    "a step down": (["0", "2", "1"], False, *UNSURE["since last"]),
    "a step down, -ttt": (["00:00:00", "00:00:02", "00:00:01.5"], True, [0, 2, 3.5], None),
    "a step down, not from 0": (["00:00:01", "00:00:02", "00:00:01"], True, *UNSURE["since last"]),
    "five steps up, -ttttt": ([f"00:00:0{n}" for n in range(2, 8)], True, [0, 1, 2, 3, 4, 5], None),
    "none": (["", " "], False, [None, None], None),
}  # fmt: skip


@pytest.mark.each("name", list(TIMES))
def test_times_of_packets(name):
    texts, relative, expected, code = TIMES[name]
    found, notices = times_of(texts, relative=relative)
    shown = [None if one != one else one for one in found.tolist()]
    assert shown == pytest.approx([None] * len(texts) if expected is None else expected, abs=1e-12)
    assert [one.code for one in notices] == ([code] if code else [])
    if expected is not None and any(one is not None for one in expected):
        known = [one for one in expected if one is not None]
        assert span_s(found) == pytest.approx(max(known) - min(known))


def test_columns_of_tshark_have_units():
    names = {
        "frame.len": ("original_bytes", "byte"), "frame.cap_len": ("kept_bytes", "byte"),
        "ip.len": ("packet_bytes", "byte"), "ip.ttl": ("ttl", "1"),
        "tcp.len": ("payload_bytes", "byte"), "tcp.seq": ("tcp_sequence", "1"),
        "tcp.ack": ("acknowledged", "1"), "frame.time_delta": ("delta_s", "s"),
        "tcp.analysis.ack_rtt": ("ack_rtt_s", "s"),
        "tcp.analysis.initial_rtt": ("handshake_rtt_s", "s"),
        "frame.time_relative": ("time_s", "s"),
    }  # fmt: skip
    for separator in "\t,;|":
        text = separator.join(names) + "\n" + separator.join(str(n) for n in range(11)) + "\n"
        found = read(text)
        for number, (column, unit) in enumerate(names.values()):
            assert values(found, column) == [number]
            assert found.meta.units[column] == unit
        assert found.meta.tool == "tshark"
