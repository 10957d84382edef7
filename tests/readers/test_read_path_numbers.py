"""Paths by hand: every hop, time, mark, fact and warning, and the line of each fault."""

from __future__ import annotations

import json
from pathlib import Path

from samples_seen import fact, noted, refused

from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "paths"


def columns(samples, *names):
    """Return columns as lists, times in microseconds; a missing value is None."""
    found = []
    for name in names:
        values = samples[name] if hasattr(samples, "data") else getattr(samples, name)
        factor = 1e6 if name.endswith("_s") else 1
        found.append([
            one if isinstance(one, str) else None if one != one else round(float(one) * factor, 6)
            for one in values.tolist()
        ])  # fmt: skip
    return found


REPORT = (
    "Start: 2026-11-22T13:00:00+0100\n"
    "HOST: my.host               Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
    "  1.|-- a.example (192.0.2.1) 0.0%    10    1.0   2.0   0.5   4.0   0.25\n"
    "        [MPLS: Lbl 1 Exp 0 S 1 TTL 1]\n"
    "    |  `-- 192.0.2.7\n"
    "  2.|-- ???                100.0    10    0.0   0.0   0.0   0.0   0.0\n"
    "  3.|-- AS64496 192.0.2.3   50.0%    10    3.0   3.5   3.0   4.0   0.5\n"
    "noise\n"
)


def test_a_report_of_mtr():
    found = read(REPORT)
    names = ("hop", "node", "node_name", "loss_ratio", "probe_count", "rtt_last_s", "rtt_mean_s",
             "rtt_min_s", "rtt_max_s", "rtt_std_s")  # fmt: skip
    assert columns(found, *names) == [
        [1, 2, 3], ["192.0.2.1", "", "192.0.2.3"], ["a.example", "", ""], [0, 1, 0.5], [10] * 3,
        [1000, None, 3000], [2000, None, 3500], [500, None, 3000], [4000, None, 4000],
        [250, None, 500],
    ]  # fmt: skip
    units = {"hop": "1", "loss_ratio": "ratio", "probe_count": "1", "rtt_min_s": "s"}
    assert {name: found.meta.units[name] for name in units} == units
    assert (found.meta.host, found.meta.start) == ("my.host", "2026-11-22T13:00:00+01:00")
    assert noted(found) == [
        ("mtr-other-nodes", {"numbers": [5]}), ("not-of-a-path", {"numbers": [8]}),
    ]  # fmt: skip
    assert fact(found, "hop_count", "responding_hop_count", "partial") == (3, 2, False)
    assert (found.meta.tool, found.meta.partial) == ("mtr", False)


def test_further_nodes_of_a_hop_stay_with_it():
    """As mtr --report writes them, and as mtr --report-wide with names and with -z."""
    assert columns(read(REPORT), "further_nodes") == [["192.0.2.7", "", ""]]
    head, second = REPORT.splitlines(keepends=True)[1:3]
    wide = read(head + second + "        b.example.net\n        AS64496  192.0.2.8\n"
                + "        c.example (192.0.2.9)\n")  # fmt: skip
    assert columns(wide, "further_nodes") == [["b.example.net, 192.0.2.8, c.example (192.0.2.9)"]]
    assert noted(wide) == [("mtr-other-nodes", {"numbers": [3, 4, 5]})]
    assert noted(read(head + second + "        two words\n"))[0][0] == "not-of-a-path"


def test_several_reports_of_mtr():
    hops = REPORT.splitlines(keepends=True)
    again = read("".join([*hops[:3], hops[2]]))
    assert columns(again, "group", "hop") == [["run 1", "run 2"], [1, 1]]
    assert [row["group"] for row in again.facts()] == ["run 1", "run 2"]
    assert again.meta.start == "", "of several runs none"
    assert again.meta.host == "my.host"
    for text, code, line in (
        (hops[2], "mtr-no-header", 1),
        ("".join([hops[1], "  1.|-- a 0.0% 10\n"]), "mtr-unreadable", 2),
        ("".join([hops[1], hops[2].replace("4.0 ", "x ")]), "mtr-unreadable", 2),
    ):
        fault = refused(text)
        assert (fault.code, fault.line, fault.file) == (code, line, "a.txt")
    fault = refused("".join([hops[1], hops[2].replace("4.0 ", "x ")]))
    assert (fault.field, fault.values["value"]) == ("Wrst", "x")
    assert refused("".join([hops[1], "  1.|-- a 0.0% 10\n"])).values["value"] == "3"
    assert refused(hops[1]).code == "mtr-no-hop"
    cut = read("".join(hops[:3]) + "  2.|-- 192.0.2.2  0.0%  10  1.0  2.0  0.5  4.0  0.2")
    assert (columns(cut, "hop"), cut.meta.partial) == ([[1]], True)
    old = read(REPORT.replace("2026-11-22T13:00:00+0100", "Sun Nov 22 13:00:00 2026"))
    assert old.meta.start == ""


def test_what_no_hop_can_be():
    row = "  1.|-- a {}%    10    -1.0   2.0   0.5   4.0   0.25\n"
    head = REPORT.splitlines(keepends=True)[1]
    odd = read(head + row.format("120.0"))
    assert columns(odd, "loss_ratio", "rtt_last_s", "rtt_mean_s") == [[None], [None], [None]]
    assert noted(odd) == [("implausible-hops", {"count": 2})]
    all_lost = read(head + row.format("100.0").replace("-1.0", "1.0"))
    assert columns(all_lost, "loss_ratio", "rtt_mean_s") == [[1], [None]]
    assert noted(all_lost) == []
    assert fact(all_lost, "responding_hop_count") == (0,)
    nearly = read(head + row.format("99.9").replace("-1.0", "0"))
    assert columns(nearly, "rtt_mean_s", "rtt_last_s") == [[2000], [0]]
    assert fact(nearly, "responding_hop_count") == (1,)


def test_csv_of_mtr():
    head = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n"
    row = "MTR.0.95,1795348800,OK,{},{},{},{},4,0,1.5,2.5,0.5,4.5,0.1\n"
    text = head + row.format("h", 1, "a.example (192.0.2.1)", "0.00") + "noise\n"
    found = read(text + row.format("h", 2, "192.0.2.2", "25.00"))
    names = ("hop", "node", "loss_ratio", "probe_count", "rtt_last_s", "rtt_min_s", "rtt_max_s")
    assert columns(found, *names) == [
        [1, 2], ["192.0.2.1", "192.0.2.2"], [0, 0.25], [4, 4], [1500] * 2, [500] * 2, [4500] * 2,
    ]  # fmt: skip
    known = found.meta
    assert (known.tool_version, known.target, known.start) == (
        "0.95", "h", "2026-11-22T12:00:00+00:00",
    )  # fmt: skip
    assert noted(found) == [("not-of-a-path", {"numbers": [3]})]
    bare = row.format("h", 1, "192.0.2.1", "0.00") + row.format("h", 2, "???", "100.00")
    again = read(bare + row.format("h", 1, "192.0.2.1", "0.00"))
    assert columns(again, "group", "rtt_last_s") == [["run 1"] * 2 + ["run 2"], [1500, None, 1500]]
    other = read(bare + row.format("g", 3, "192.0.2.1", "0.00"))
    assert columns(other, "group") == [["h", "h", "g"]]
    same = read(bare + row.format("h", 2, "192.0.2.9", "0.00"))
    assert columns(same, "hop") == [[1, 2, 2]], "a second node of one hop"
    assert "group" not in same.columns()
    old = read("MTR.0.92;1795348800;OK;h;1;192.0.2.1;0.00;4;1.5;2.5;0.5;4.5;0.1\n")
    assert columns(old, "rtt_last_s", "rtt_mean_s") == [[1500], [2500]]
    fault = refused(row.format("h", "x", "192.0.2.1", "0.00"))
    assert (fault.code, fault.line, fault.field, fault.values["value"]) == (
        "mtr-unreadable", 1, "Hop", "x",
    )  # fmt: skip
    fault = refused(head + row.format("h", 1, "192.0.2.1", "abc"))
    assert (fault.code, fault.line, fault.field, fault.values["value"]) == (
        "mtr-unreadable", 2, "Loss%", "abc",
    )  # fmt: skip
    fault = refused("MTR.0.92,1795348800,OK,h,1,192.0.2.1,0.00,4\n")
    assert (fault.code, fault.line, fault.values["value"]) == ("mtr-no-header", 1, "2")
    cut = read(text + row.format("h", 2, "192.0.2.2", "25.00")[:-3])
    assert (cut.meta.partial, columns(cut, "rtt_std_s", "rtt_max_s")) == (
        True, [[100, None], [4500, 4500]],
    )  # fmt: skip
    assert read(text.replace("1795348800", "now")).meta.start == ""


def test_json_of_mtr():
    def document(*hubs):
        return json.dumps({"report": {"mtr": {"src": "me", "dst": "h"}, "hubs": list(hubs)}}) + "\n"

    first = {"count": 1, "host": "a (192.0.2.1)", "Loss%": 0.0, "Snt": 4, "Best": 0.5, "x": 1}
    second = {"count": "2", "host": "???", "Loss%": 100.0, "Snt": 4, "Best": 0.0, "Avg": True}
    third = {"ip": "192.0.2.3", "Loss%": 50.0}
    found = read(document(first, second, third))
    assert columns(found, "hop", "node", "node_name", "loss_ratio", "rtt_min_s") == [
        [1, 2, 3], ["192.0.2.1", "", "192.0.2.3"], ["a", "", ""], [0, 1, 0.5], [500, None, None],
    ]  # fmt: skip
    assert (found.meta.target, found.meta.host, found.meta.partial) == ("h", "me", False)
    assert "rtt_mean_s" not in found.columns()
    cut = read(document(first) + document(second)[:-9] + "\n")
    assert (noted(cut)[0][0], cut.meta.partial) == ("mtr-document-cut", True)
    assert refused(document()).code == "mtr-no-hop"
    assert refused('{"report": {"hubs": [\n').code == "json-cut-short"


def test_raw_lines_of_mtr():
    text = (
        "x 0 33000\nx 1 33001\nx 2 33002\nh 0 192.0.2.1\nd 0 a.example\np 0 1500 33000\n"
        "h 1 192.0.2.9\np 1 2500 33001\nh 2 192.0.2.9\np 2 2600 33002\np 0 9 1\nx 0 33003\nnoise\n"
    )
    found = read(text)
    assert columns(found, "hop", "rtt_s", "lost", "node", "node_name", "sequence") == [
        [1, 2, 1], [1500, 2500, None], [0, 0, 1], ["192.0.2.1", "192.0.2.9", ""],
        ["a.example", "", ""], [1, 1, 2],
    ]  # fmt: skip
    assert noted(found) == [
        ("probes-beyond-target", {"count": 1}), ("answers-without-probe", {"count": 1}),
        ("not-of-a-path", {"numbers": [13]}),
    ]  # fmt: skip
    old = read("h 0 192.0.2.1\np 0 1500\nh 1 192.0.2.2\np 1 2500\n")
    assert columns(old, "hop", "rtt_s") == [[1, 2], [1500, 2500]]
    assert noted(old) == [("lost-probes-unknown", {})]
    assert not old.meta.partial
    assert read("h 0 192.0.2.1\np 0 1500\np 0 16").meta.partial
    assert refused("h 0 192.0.2.1\nh 1 192.0.2.2\n").code == "no-path"
    assert sniff("p 0 1500\np 1 2500\n") != "mtr raw"


TRACE = "traceroute to h (192.0.2.9), 30 hops max, 60 byte packets\n"


def test_units_and_marks_of_traceroute():
    text = TRACE + (
        " 1  a.example (192.0.2.1)  1.5 ms  250 usec  2 s\n"
        " 2  192.0.2.2  0,75 msec * 192.0.2.3 1 sec !N\n 3  * * *\n"
        " 4  192.0.2.9 (192.0.2.9) [AS1] <x>  100 us F=1480  3 ms !H !X\n"
    )
    found = read(text)
    assert columns(found, "hop", "rtt_s", "node", "node_name", "lost", "mark", "sequence") == [
        [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
        [1500, 250, 2e6, 750, None, 1e6, None, None, None, 100, 3000],
        ["192.0.2.1"] * 3 + ["192.0.2.2", "", "192.0.2.3", "", "", "", "192.0.2.9", "192.0.2.9"],
        ["a.example"] * 3 + [""] * 8, [0] * 4 + [1, 0, 1, 1, 1, 0, 0],
        [""] * 5 + ["!N", "", "", "", "", "!H !X"], [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2],
    ]  # fmt: skip
    assert fact(found, "target", "path_mtu_bytes", "partial") == ("h", 1480, False)
    assert noted(found) == []


def test_whether_a_traceroute_came_to_its_end():
    hop = " {}  192.0.2.{}  1.5 ms{}\n"
    ends = {
        TRACE + hop.format(1, 1, ""): True,  # neither the target nor the last hop
        TRACE + hop.format(1, 9, ""): False,
        TRACE + hop.format(1, 1, " !H"): True,  # ended, but not at its target
        TRACE.replace("30", "2") + hop.format(1, 1, "") + hop.format(2, 2, ""): False,
        TRACE.replace("30", "3") + hop.format(1, 1, "") + hop.format(2, 2, ""): True,
    }
    for text, partial in ends.items():
        assert read(text).meta.partial is partial, text
    two = read(TRACE + hop.format(1, 9, "") + TRACE.replace("h (", "g (") + hop.format(1, 9, ""))
    assert [row["group"] for row in two.facts()] == ["h", "g"]
    again = read(TRACE + hop.format(1, 9, "") + hop.format(1, 9, ""))
    assert columns(again, "group") == [["run 1", "run 2"]]
    assert noted(again) == [("path-without-header", {})]


def test_lines_of_traceroute_that_cannot_be_read():
    text = TRACE + " 1  192.0.2.1  1.5 ms\n 2  192.0.2.2  1.5\nnoise\n 5  192.0.2.9  1 ms\n"
    found = read(text)
    assert noted(found) == [
        ("path-lines-unread", {"numbers": [3]}), ("not-of-a-path", {"numbers": [4]}),
    ]  # fmt: skip
    back = read(TRACE + " 3  192.0.2.1  1.5 ms\n 2  192.0.2.9  1 ms\n")
    assert noted(back) == [("path-lines-unread", {"numbers": [3]})]
    fault = refused(TRACE + " 1  192.0.2.1  1.5\n")
    assert (fault.code, fault.line, fault.field) == ("traceroute-unreadable", 2, "time")
    assert fault.values["value"] == " 1  192.0.2.1  1.5"
    fault = refused("traceroute: unknown host\n")
    assert (fault.code, fault.values["message"]) == ("path-message-only", "unknown host")
    said = read("traceroute: Warning: x\n" + TRACE + " 1  192.0.2.9  1 ms\n")
    assert noted(said) == [("path-message", {"messages": ["Warning: x"]})]
    more = read(TRACE + " 1  192.0.2.1  1 ms\n    192.0.2.2  2 ms\n    3 ms\n 2  192.0.2.9  4 ms\n")
    assert columns(more, "hop", "node") == [
        [1, 1, 1, 2], ["192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.9"],
    ]  # fmt: skip
    cut = read(TRACE + " 1  192.0.2.1  1 ms  2 ms\n 2  192.0.2.9  4 ms  5.")
    assert (columns(cut, "rtt_s"), cut.meta.partial) == ([[1000, 2000, 4000]], True)
    short = read(TRACE + " 1  192.0.2.1  1 ms\n 2  192.0.2.9  4 s")
    assert columns(short, "rtt_s") == [[1000]], "s may be the beginning of nothing, or of sec"
    assert noted(short) == [("last-line-cut", {"number": 3})]


def test_a_hop_of_tracert_with_a_garbled_number_is_said():
    text = (INPUTS / "tracert_german.txt").read_text("utf-8")
    last = "  4  198.51.100.9  meldet:"
    assert last in text
    at = 1 + text[: text.index(last)].count("\n")
    for number in ("1x%", "4910", ""):
        found = read(text.replace(last, f"  {number}  198.51.100.9  meldet:"))
        assert ("path-lines-unread", {"numbers": [at]}) in noted(found)


def test_tracepath():
    text = (
        " 1?: [LOCALHOST]                      pmtu 1500\n"
        " 1:  a.example (192.0.2.1)                 0.5ms\n"
        " 1:  192.0.2.1                             0.75ms pmtu 1480\n"
        " 2:  no reply\nnoise\n 3:  what\n 4:  send failed\n"
        " 5:  192.0.2.9                             1,5ms asymm  4\n"
        " 5:  192.0.2.9                             2ms reached\n"
        "     Resume: pmtu 1480 hops 5 back 5\n"
    )
    found = read(text)
    assert columns(found, "hop", "rtt_s", "node", "node_name", "lost") == [
        [1, 1, 2, 5, 5], [500, 750, None, 1500, 2000],
        ["192.0.2.1", "192.0.2.1", "", "192.0.2.9", "192.0.2.9"], ["a.example", "", "", "", ""],
        [0, 0, 1, 0, 0],
    ]  # fmt: skip
    assert columns(found, "mark") == [["", "pmtu 1480", "", "", "reached"]]
    assert fact(found, "target", "path_mtu_bytes", "partial") == ("192.0.2.9", 1480, False)
    assert fact(found, "probe_count", "reply_count", "responding_hop_count") == (5, 4, 2)
    alone = read(
        " 1?: [LOCALHOST]                      pmtu 1500\n"
        " 1:  192.0.2.1                             0.5ms\n"
        " 2:  192.0.2.1                             0.75ms pmtu 1480\n"
        " 2:  no reply\n     Too many hops: pmtu 1480\n     Resume: pmtu 1480\n"
    )
    # What says that the probe is too large is an answer, but of no node at its hop.
    assert fact(alone, "probe_count", "reply_count", "responding_hop_count") == (3, 2, 1)
    assert noted(found) == [
        ("path-lines-unread", {"numbers": [6]}), ("not-of-a-path", {"numbers": [5]}),
    ]  # fmt: skip
    assert read(text.replace("     Resume: pmtu 1480 hops 5 back 5\n", "")).meta.partial
    twice = read(text + text)
    assert [row["group"] for row in twice.facts()] == ["run 1", "run 2"]
    fault = refused(" 1?: [LOCALHOST]                      pmtu 1500\n 3:  what\n")
    assert (fault.code, fault.line) == ("traceroute-unreadable", 2)
    assert fault.values["value"] == " 3:  what"
    assert "pmtu 1480" in columns(read(text), "mark")[0]


TRACERT = (
    "\nTracing route to h [192.0.2.9]\nover a maximum of 30 hops:\n\n"
    "  1    <1 ms     2 ms     *     a.example [192.0.2.1]\n"
    "  2     *        *        *     Request timed out.\n"
    "  3  192.0.2.7  reports: Destination host unreachable.\n\nTrace complete.\n"
)


def test_tracert():
    found = read(TRACERT)
    assert columns(found, "hop", "rtt_s", "resolution_s", "lost", "node", "node_name", "mark") == [
        [1, 1, 1, 2, 2, 2, 3], [500, 2000, None, None, None, None, None],
        [1000, 1000, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0],
        ["192.0.2.1", "192.0.2.1", "", "", "", "", "192.0.2.7"], ["a.example"] * 2 + [""] * 5,
        [""] * 6 + ["!H"],
    ]  # fmt: skip
    assert fact(found, "target", "partial") == ("h", True)
    assert [code for code, _ in noted(found)] == ["target-unreachable"]
    lines = TRACERT.splitlines(keepends=True)
    open_end = read("".join(lines[:5]))
    assert (open_end.meta.partial, noted(open_end)) == (True, [])
    ended = read("".join([*lines[:5], lines[8]]))
    assert ended.meta.partial is False
    at_limit = read("".join(lines[:6]).replace("30 hops", "2 hops"))
    assert at_limit.meta.partial is False
    cut = read("".join(lines[:5]) + "  2     1 ms     1")
    assert noted(cut) == [("last-line-cut", {"number": 6})]
    assert (cut.meta.partial, len(cut)) == (True, 3)
    in_words = read("".join(lines[:5]) + "Trace comp")
    assert (in_words.meta.partial, noted(in_words)) == (True, [])
    bare = read("".join(lines[4:6]))
    assert noted(bare) == [("path-without-header", {})]
    fourth, fifth = lines[5].replace("  2 ", "  4 "), lines[4].replace(" 1 ", " 5 ", 1)
    late = read(fourth + "Trace complete.\n" + fifth)
    assert late.meta.partial, "its first hops are not there"
    fault = refused("".join(lines[1:4]) + "Unable to do it.\n")
    assert (fault.code, fault.values["message"]) == ("path-message-only", "Unable to do it.")
    unread = read("".join(lines[:5]) + "  2  General failure.\n")
    assert noted(unread) == [("path-lines-unread", {"numbers": [6]})]


def atlas(**more):
    hops = [
        {"hop": 1, "result": [{"from": "192.0.2.1", "rtt": 1.5, "ttl": 60}, {"x": "*"},
                              {"late": 3, "rtt": 9, "from": "192.0.2.1"}]},
        {"hop": 2, "result": [{"from": "192.0.2.9", "rtt": 0, "err": "H"}, {"from": "192.0.2.9"},
                              {"from": "192.0.2.9", "rtt": -1, "err": True}]},
        {"hop": 255, "result": [{"x": "*"}, {"x": "*"}]},
    ]  # fmt: skip
    return {"msm_id": 1, "prb_id": 7, "type": "traceroute", "fw": 5080, "dst_name": "h",
            "dst_addr": "192.0.2.8", "proto": "UDP", "timestamp": 1, "endtime": 2, "result": hops,
            **more}  # fmt: skip


def test_traceroutes_of_ripe_atlas():
    found = read(json.dumps([atlas()]) + "\n")
    assert columns(found, "hop", "rtt_s", "lost", "mark", "ttl") == [
        [1, 1, 2, 2, 2], [1500, None, 0, None, None], [0, 1, 0, 0, 0], ["", "", "!H", "", ""],
        [60, None, None, None, None],
    ]  # fmt: skip
    assert noted(found)[:2] == [
        ("late-answers", {"count": 1}),
        ("probes-of-last-try", {"count": 2}),
    ]
    unreachable = {"target": "h", "hop": "2", "node": "192.0.2.9", "mark": "!H"}
    assert noted(found)[2:] == [("target-unreachable", unreachable)]
    assert fact(found, "target", "protocol", "partial", "group") == ("h", "udp", True, None)
    assert found.meta.tool_version == "5080"
    hops = atlas()["result"][:1]
    assert read(json.dumps([atlas(endtime=0, result=hops)]) + "\n").meta.partial
    assert not read(json.dumps([atlas(endtime=1, result=hops)]) + "\n").meta.partial
    two = read(json.dumps([atlas(), atlas(prb_id=8)]) + "\n")
    assert [row["group"] for row in two.facts()] == ["probe 7", "probe 8"]
    assert refused(json.dumps([atlas(result=[])]) + "\n").code == "no-path"


def test_a_probe_of_dublin_traceroute_is_lost_where_nothing_came_back():
    """By its documentation: received is null for a probe without an answer."""
    hops = json.loads((INPUTS / "dublin_traceroute.json").read_text(encoding="utf-8"))["flows"]
    answered = [hop["received"] is not None for flow in hops.values() for hop in flow]
    samples = read(INPUTS / "dublin_traceroute.json")
    assert len(samples) == len(answered)
    assert sorted(~samples.lost) == sorted(answered)
    assert 0 < sum(answered) < len(answered)
