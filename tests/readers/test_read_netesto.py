"""Tables of Netesto: expected numbers are read off the files by eye."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
PAIRS = (INPUTS / "netesto_exp.out").read_text()
TABLE = (INPUTS / "netesto.csv").read_text()


def test_a_file_of_one_flow():
    (row,) = read(INPUTS / "netesto_exp.out").facts()
    assert row == pytest.approx({
        "target": "server", "sent_rate_bps": 9410.5e6, "duration_s": 60, "rtt_s": 0.0102,
        "cwnd_packets": 83, "retransmit_count": 12, "congestion_control": "cubic",
        "partial": False,
    })  # fmt: skip


def test_a_table_of_experiments():
    samples = read(INPUTS / "netesto.csv")
    first, second = samples.facts()
    assert (first["sent_rate_bps"], first["congestion_control"]) == (9410.5e6, "cubic")
    assert first["group"] == "run 1 exp 100.0"
    # Flows that differ: 60+... is no duration, a blank no count, and cubic/bbr are two.
    assert not {"duration_s", "retransmit_count", "congestion_control"} & set(second)
    assert samples["retransmit_ratio"].tolist() == pytest.approx([1e-4, 2e-4])
    assert codes(samples) == ["netesto-mixed"]


def test_values_of_several_flows_are_not_those_of_a_run():
    text = PAIRS.replace("-----\n", PAIRS.replace("9410.5", "4700.1"))
    samples = read(text)
    assert "throughput_bps" not in samples.columns()
    assert "sent_rate_bps" not in samples.facts()[0]
    assert codes(samples) == ["netesto-several"]


def test_a_block_without_its_end_is_partial():
    assert read(PAIRS.replace("-----\n", "")).meta.partial


def test_a_row_of_another_width_is_refused():
    with pytest.raises(ReaderError) as refused:
        read(TABLE.replace(",0.01,12.0", ",0.01"))
    assert (refused.value.code, refused.value.line) == ("netesto-width", 2)


def test_every_number_of_netesto_has_its_unit():
    names = {
        "dur": ("duration_s", "s", 12.5), "cwnd": ("cwnd_packets", "1", 12.5),
        "rtt": ("rtt_s", "s", 0.0125), "pingRtt": ("ping_rtt_s", "s", 0.0125),
        "rate": ("throughput_bps", "bit/s", 12.5e6),
        "rateMin": ("least_throughput_bps", "bit/s", 12.5e6),
        "rateMax": ("largest_throughput_bps", "bit/s", 12.5e6),
        "retransPkts%": ("retransmit_ratio", "ratio", 0.125),
        "localRetrans": ("local_retransmit_count", "1", 12.5),
        "remoteRetrans": ("remote_retransmit_count", "1", 12.5),
    }  # fmt: skip
    text = "exp:7\nca:bbr\n" + "".join(f"{name}:12.5\n" for name in names) + "---\n"
    found = read(text)
    for column, unit, value in names.values():
        assert found[column].tolist() == pytest.approx([value]), column
        assert found.meta.units[column] == unit
    assert found.meta.units["exp"] == found.meta.units["group"] == "text"
    (row,) = found.facts()
    assert row == pytest.approx({
        "sent_rate_bps": 12.5e6, "duration_s": 12.5, "rtt_s": 0.0125, "cwnd_packets": 12.5,
        "retransmit_count": 12.5, "congestion_control": "bbr", "partial": False,
    })  # fmt: skip


def test_letters_and_numbers_that_are_none():
    def rate(text):
        return read(f"exp:7\nrate:{text}\nrtt:1\n---\n")

    for text, value in (("2K", 2e9), ("2M", 2e12), ("0.015G", 1.5e13), ("0", 0), ("0.5", 5e5)):
        assert rate(text)["throughput_bps"].tolist() == pytest.approx([value]), text
        assert codes(rate(text)) == []
    for text in ("10+...", "2T", "1e3", "fast"):
        found = rate(text)
        assert found["throughput_bps"][0] != found["throughput_bps"][0]
        (notice,) = found.meta.warnings
        assert (notice.code, notice.values) == ("netesto-mixed", {"names": ["rate"]})
    below = rate("-1")
    assert below["throughput_bps"][0] != below["throughput_bps"][0]
    assert codes(below) == []


def test_blocks_of_pairs():
    found = read(
        "exp:7\n  expName: a b \nca:bbr\nrate:1\n not a pair\n-----\n"
        "exp:8\nserver:h\nrate:2\n---\n\n--\n----\nexp:9\nca:a/b\nrate:3\n"
    )
    assert found["group"].tolist() == ["run 1 exp 7", "run 2 exp 8", "run 3 exp 9"]
    assert found["expName"].tolist() == ["a b", "", ""]
    assert found["server"].tolist() == ["", "h", ""]
    assert found["throughput_bps"].tolist() == [1e6, 2e6, 3e6]
    assert found.meta.partial
    assert [row.get("target") for row in found.facts()] == [None, "h", None]
    assert [row.get("congestion_control") for row in found.facts()] == ["bbr", None, None]
    assert found.meta.tool == "Netesto"
    twice = read("exp:7\nrate:1\nrate:1\nca:x\nrtt:3\nrtt:4\nrtt:3\n---\n")
    assert twice["throughput_bps"].tolist() == [1e6]
    assert "rtt_s" not in twice.columns()
    (notice,) = twice.meta.warnings
    assert (notice.code, notice.values) == ("netesto-several", {"names": ["rtt"]})
    assert not twice.meta.partial


def test_lines_of_a_table():
    head = "exp,expName,group,test,ca,rate\n"
    found = read(head + "1,a,g,T,bbr,1\n\n" + head + '2," b ",g,T,cubic,2\n')
    assert found["expName"].tolist() == ["a", "b"]
    assert found["throughput_bps"].tolist() == [1e6, 2e6]
    assert [row["congestion_control"] for row in found.facts()] == ["bbr", "cubic"]
    for row, line, count in (("1,a,g,T,bbr\n", 2, 5), ("1,a,g,T,bbr,1\n1,a,g,T,bbr,1,2\n", 3, 7)):
        with pytest.raises(ReaderError) as refused:
            read(head + row)
        assert refused.value.code == "netesto-width"
        assert refused.value.line == line
        assert (refused.value.values["count"], refused.value.values["wanted"]) == (count, 6)
    with pytest.raises(ReaderError) as refused:
        read(head)
    assert refused.value.code == "netesto-nothing"
    cut = read(head + "1,a,g,T,bbr,1\n2,a,g,T,bbr,2")
    assert len(cut) == 1
    assert cut.meta.partial


def test_percentiles_cpu_and_fairness():
    """By hand: 120 us is the median of netperf, 35.5 % the CPU; 3 of 9 Gbit/s are a third. netperf
    prints -1 for a CPU that it did not measure."""
    added = (
        "rateMin:3000\nrateMax:9000\nlocalCpu:35.5\nremoteCpu:-1\nminLatency:80\n"
        "meanLatency:130.5\np50Latency:120\np90Latency:200\np99Latency:900\np999Latency:2500\n"
        "maxLatency:41000\n-----"
    )
    samples = read(PAIRS.replace("-----", added))
    one = {name: column[0] for name, column in samples.columns().items()}
    assert one["fairness_ratio"] == pytest.approx(1 / 3)
    assert one["local_cpu_ratio"] == pytest.approx(0.355)
    assert one["remote_cpu_ratio"] != one["remote_cpu_ratio"]
    names = ("min", "mean", "p50", "p90", "p99", "p999", "max")
    assert [one[f"response_{name}_s"] for name in names] == pytest.approx(
        [80e-6, 130.5e-6, 120e-6, 200e-6, 900e-6, 2.5e-3, 41e-3]
    )
    assert samples.meta.units["response_p99_s"] == "s"
    (row,) = samples.facts()
    assert (row["counter:p99Latency"], row["counter:localCpu"]) == (900, 35.5)
    assert "counter:remoteCpu" not in row
