"""Saved failures: continued where they ended, and nothing else is taken for them."""

from __future__ import annotations

from datetime import date
from itertools import islice

import numpy as np
import pytest

from netcalc.errors import NetcalcError, ReaderError
from netcalc.planning.network import NetworkPlan, Settings, page, read
from netcalc.planning.network.files import SavedScan

LINKS = "from,to,rate,latency\n" + "".join(
    f"n{a},n{b},1 Gbit/s,1 ms\n" for a in range(5) for b in range(a)
)
DEMANDS = "from,to,rate,growth\n" + "".join(
    f"n{a},n{b},{10 * a + b} Mbit/s,{10 + 10 * (a % 2)}%\n"
    for a in range(5) for b in range(5) if a != b
)  # fmt: skip


def begun(demands=DEMANDS, **settings):
    network = read(LINKS, demands=demands)
    return NetworkPlan(network, settings=Settings(start=date(2026, 1, 1), **settings))


def saved(path, plan, count):
    with SavedScan(path, plan=plan) as file:
        for result in islice(plan.scan(), count):
            file.add(result)
        return file.count


def test_a_scan_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "scan.jsonl"
    assert saved(path, begun(), 4) == 0
    with path.open("ab") as stream:
        stream.write(b'{"case": 4, "ar')  # what a killed program leaves
    again = begun()
    assert saved(path, again, 99) == 4
    whole = begun()
    list(whole.scan())
    assert page.as_dict(again) == page.as_dict(whole)  # identity: as in one go
    assert np.array_equal(again.failed_by, whole.failed_by)
    third = begun()
    assert saved(path, third, 0) == len(whole.network.links)
    assert page.as_dict(third) == page.as_dict(whole)


@pytest.mark.each("settings", [{"costs": "latency", "full_at_ratio": 0.9}, {"growth_ratio": 0.2,
                               "full_at_ratio": 0.5}])  # fmt: skip
def test_a_scan_of_other_settings_is_refused(tmp_path, settings):
    path = tmp_path / f"{settings['full_at_ratio']}.jsonl"
    saved(path, begun(), 2)
    with pytest.raises(ReaderError) as caught:
        saved(path, begun(**settings), 2)
    assert caught.value.code == "network-saved-other"


def test_a_scan_of_other_demands_is_refused(tmp_path):
    path = tmp_path / "scan.jsonl"
    saved(path, begun(), 2)
    with pytest.raises(ReaderError) as caught:
        saved(path, begun(DEMANDS + "n0,n4,1 Mbit/s,0%\n"), 2)
    assert caught.value.code == "network-saved-other"


def test_more_draws_do_not_matter_to_failures(tmp_path):
    path = tmp_path / "scan.jsonl"
    saved(path, begun(), 2)
    assert saved(path, begun(draws=50, seed=3), 0) == 2


@pytest.mark.each("name, line", {
    "no JSON": b"x\n",
    "no object": b"[]\n",
    "a link that is not there": b'{"case": 99, "arc": 0, "load_ratio": 1, "overloaded": 0, '
                                b'"cut_bps": 0, "cut_demands": 0, "own_bps": 0, "own_demands": 0, '
                                b'"worse": {}, "sooner": {}}\n',
    "loads of too few groups": b'{"case": 3, "arc": 0, "load_ratio": 1, "overloaded": 0, '
                               b'"cut_bps": 0, "cut_demands": 0, "own_bps": 0, "own_demands": 0, '
                               b'"worse": {"1": [2]}, "sooner": {}}\n',
    "a field less": b'{"case": 3, "arc": 0}\n',
}.items())  # fmt: skip
def test_a_damaged_line_is_refused_with_its_number(tmp_path, name, line):
    path = tmp_path / f"{name}.jsonl"
    saved(path, begun(), 2)
    data = path.read_bytes()
    path.write_bytes(data + line)
    with pytest.raises(ReaderError) as caught:
        saved(path, begun(), 2)
    assert (caught.value.code, caught.value.line) == ("network-saved-damaged", 4)
    assert path.read_bytes() == data + line, "it stays as it was"


def test_a_failure_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "scan.jsonl"
    saved(path, begun(), 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    with pytest.raises(ReaderError) as caught:
        saved(path, begun(), 2)
    assert (caught.value.code, caught.value.line) == ("network-saved-damaged", 4)


@pytest.mark.each("text", ["from,to\na,b\n", '{"kind": "session"}\n', "no line end"])
def test_another_file_is_not_touched(tmp_path, text):
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(ReaderError) as caught:
        saved(path, begun(), 2)
    assert caught.value.code == "network-saved-damaged"
    assert path.read_text() == text


def test_two_scans_do_not_write_one_file(tmp_path):
    path = tmp_path / "scan.jsonl"
    with SavedScan(path, plan=begun()), pytest.raises(NetcalcError) as caught:
        saved(path, begun(), 2)
    assert caught.value.code == "network-saved-busy"
