"""JSON of dublin-traceroute: paths by flow, read off the fixture by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

FILE = Path(__file__).parent / "inputs" / "paths" / "dublin_traceroute.json"
DOCUMENT = json.loads(FILE.read_text("utf-8"))


def document(**flows):
    return json.dumps({"flows": flows}, indent=1)


def test_each_flow_is_a_path():
    found = read(FILE)
    common = {"target": "198.51.100.9", "protocol": "udp", "hop_count": 3, "probe_count": 3,
              "partial": False}  # fmt: skip
    assert list(found.facts()) == [
        {"group": "port 33434", **common, "responding_hop_count": 2, "reply_count": 2,
         "last_hop_rtt_median_s": pytest.approx(0.00925)},
        {"group": "port 33435", **common, "responding_hop_count": 3, "reply_count": 3,
         "last_hop_rtt_median_s": pytest.approx(0.009)},
    ]  # fmt: skip
    assert found.lost.tolist() == [False, True, False, False, False, False]
    assert found.node.tolist()[:3] == ["192.0.2.254", "", "198.51.100.9"]
    assert found.node_name.tolist()[:3] == ["gateway.example", "", ""]
    assert found.ttl.tolist()[0] == 64
    assert (found.meta.tool, found.meta.target) == ("dublin-traceroute", "198.51.100.9")


def test_one_flow_has_no_name_and_files_in_a_row_have_numbers():
    one = document(**{"33434": DOCUMENT["flows"]["33434"]})
    assert [row.get("group") for row in read(one).facts()] == [None]
    assert [row["group"] for row in read(one + "\n" + one).facts()] == [
        "port 33434, run 1", "port 33434, run 2",
    ]  # fmt: skip


def test_what_is_not_sure_is_unknown():
    hops = copy.deepcopy(DOCUMENT["flows"]["33435"])
    hops[2]["rtt_usec"] = 0
    del hops[1]["sent"]["ip"]["ttl"]
    del hops[0]["sent"]["udp"]
    (row,) = read(document(**{"33435": [7, *hops]})).facts()
    assert (row["probe_count"], row["reply_count"]) == (2, 2)
    assert "last_hop_rtt_median_s" not in row
    nothing = [{"sent": {}, "is_last": False, "rtt_usec": 0}]
    assert sniff(document(**{"1": nothing})) == "dublin-traceroute"
    with pytest.raises(ReaderError) as refused:
        read(document(**{"1": nothing}))
    assert (refused.value.code, refused.value.field) == ("no-path", "flows")
    for other in ({"1": [{"packets": 5}]}, {"1": 3}, {}):
        with pytest.raises(ReaderError) as refused:
            read(document(**other))
        assert refused.value.code == "unknown-json"


def test_a_cut_file_is_refused_or_partial():
    text = FILE.read_text("utf-8")
    with pytest.raises(ReaderError):
        read(text[: len(text) // 2])
    assert read(text + text[:200]).meta.partial
