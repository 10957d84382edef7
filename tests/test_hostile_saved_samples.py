"""Every value of a saved file, replaced by hostile ones: refused by file and field, or harmless.

What loads must be read, explained and shown without a foreign error, without "nan" and without a
count of hundreds of digits. derived: which fields there are is read off the files themselves.
"""

from __future__ import annotations

import json
import random
import re

import pytest
from click.testing import CliRunner

from netcalc import samples
from netcalc.cli import commands
from netcalc.cli.mistakes import numbers_of
from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.models.sizes.fragmentation import fragment_count
from netcalc.samples import (
    BulkSamples,
    FlowSeries,
    HopSamples,
    Meta,
    PacketTrace,
    PathSamples,
    RttSamples,
    Table,
    TrainSamples,
    TransactionSamples,
    TransferSamples,
)  # fmt: skip

META = Meta(
    tool="netcalc echo", experiment="echo", protocol="udp", start="2026-11-23T12:00:00+00:00",
    resolutions={"rtt_s": 1e-6},
    printed={"sent": 2, "rtt_min_s": 0.001, "runs": [{"sent": 2, "loss_ratio": 0.0}]},
    warnings=(
        Notice("cpu-contention", {
            "cpu_ratio": 0.3, "least_ratio": 0.8, "late_p99_s": 1e-4, "most_late_s": 0.002,
        }),
        Notice("rows-skipped", {"numbers": [3, 4], "width": 2}),
        Notice("rows-without-time", {"count": 2}),
    ),
    instrument={
        "kernel": "6.1", "cpu_count": 2, "shared_processor": 0, "load_1min": 0.5,
        "own_cost_s": 1e-7, "processor_ratio": 0.9, "start_wall_ns": 1795472198958594466,
        "duration_s": 0.2,
        "gaps": [[0.1, 0.2]], "send_buffer_bytes": 212992, "nodelay": {"a": True},
        "late_count": 0, "write_bytes": [8, 8], "warm_up_first_rtt_s": 6e-5, "mss_bytes": 1448,
        "first_response_s": {"a": 0.1}, "counters": {"a": {"b": 1}}, "timer_resolution_s": 1e-8,
        "truth": {
            "bandwidths_bps": [1e6], "latencies_s": [0.01], "processings_s": [0.0, 0.0],
            "header_bytes": 28,
        },
        "ladder": {"a": [{"who": "client", "what": "response", "start_s": 0.1, "end_s": 0.2}]},
    },
)  # fmt: skip
FACTS = Meta(facts=({"group": "a", "sent_count": 2, "rtt_min_s": 0.001, "partial": False,
                     "counter:InSegs": 12, "sum:size_bytes": 5.0},))  # fmt: skip
COUNTS = {"write_count": [2, 2], "sent_bytes": [200, 200], "received_bytes": [200, 200]}
WHOLE = {
    "RttSamples": RttSamples(
        payload_bytes=[8, 56, 1000], rtt_s=[0.001, 0.002, 0.004], sequence=[1, 2, 3],
        resolution_s=[1e-6] * 3, sent_s=[0, 1, 2], ttl=[64] * 3, group=["a"] * 3,
        sent_count=3, received_count=3, error_count=0, meta=META,
    ),
    "TransferSamples": TransferSamples(
        payload_bytes=[1e3, 1e6, 1e6], duration_s=[0.1, 1, 1.1], group=["a"] * 3, meta=META,
    ),
    "BulkSamples": BulkSamples(
        write_bytes=[100, 100], wall_s=[1, 1], delivery_s=[1, 1], lost_count=[0, 0],
        user_s=[0.1] * 2, system_s=[0.1] * 2, wait_count=[1, 1], pair_count=[1, 1], meta=META,
        asked_buffer_bytes=[1000, 1000], line_drop_count=[0, 0], **COUNTS,
    ),
    "FlowSeries": FlowSeries(
        start_s=[0, 1], duration_s=[1, 1], payload_bytes=[1e6, 1e6], throughput_bps=[8e6, 8e6],
        stream=["1", "1"], side=["receiver"] * 2, retransmit_count=[0, 1], rtt_s=[0.01, 0.02],
        cwnd_bytes=[1e5, 1e5], meta=FACTS,
    ),
    "PathSamples": PathSamples(
        hop=[1, 2], rtt_s=[0.001, 0.002], node=["192.0.2.1", "192.0.2.2"], sequence=[1, 1],
        ttl=[64, 63], resolution_s=[1e-6] * 2,
    ),
    "HopSamples": HopSamples(
        hop=[1, 1, 2, 2], packet_bytes=[100, 1000] * 2, rtt_s=[0.001, 0.002, 0.003, 0.005],
        answer_bytes=[56] * 4, sequence=[1, 2, 3, 4], sent_s=[0, 1, 2, 3], meta=META,
    ),
    "TrainSamples": TrainSamples(
        train=[1, 1, 2, 2], index=[1, 2, 1, 2], packet_bytes=[1000] * 4, sent_s=[0, 0, 1, 1],
        received_s=[0.01, 0.02, 1.01, 1.02], meta=META,
    ),
    "TransactionSamples": TransactionSamples(
        mode=["a", "a"], sequence=[1, 2], payload_bytes=[8, 8], response_s=[0.001, 0.002],
        reply_bytes=[8, 8], tap_s=[0.001, 0.002], sent_s=[0, 1], meta=META,
    ),
    "PacketTrace": PacketTrace(
        time_s=[0, 1], kept_bytes=[100, 100], original_bytes=[100, 100], layers=[5, 5],
        source=[0, 1], destination=[1, 0], addresses=("192.0.2.1", "192.0.2.2"),
        tcp_sequence=[1, 2], source_port=[1, 2], start_ns=1795472198958594466, snap_bytes=262144,
    ),
    "Table": Table(
        data={"rtt_s": [0.1, 0.2], "host": ["a", "b"]}, meta=Meta(units={"rtt_s": "s"}),
    ),
}  # fmt: skip
HUGE = 10**400
HOSTILE = (-1, float("nan"), float("inf"), 1e308, HUGE, "", [], {}, None, True, "\x1b[31m")
SHOWN = ("read", "explain")
AT_MOST = 20
"""Of the files of a kind that load, so many are shown. [1]"""


def places(value, path=()):
    """Yield the path to each value of a document, and to each object and list in it."""
    if path:
        yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            if not (path[:1] == ("columns",) and name and isinstance(name, int)):
                yield from places(item, (*path, name))


def replaced(document, path, value):
    """Return a copy of a document with one value replaced."""
    name, *rest = path
    copy = document.copy()
    copy[name] = replaced(document[name], rest, value) if rest else value
    return copy


def hostile_files(kind):
    """Yield each place, each hostile value, and the file with it."""
    document = json.loads(WHOLE[kind].dumps())
    for path in places(document):
        for value in HOSTILE:
            yield path, value, json.dumps(replaced(document, path, value)).encode()


@pytest.mark.slow
@pytest.mark.each("kind", WHOLE)
def test_every_value_of_a_saved_file(kind, tmp_path):
    loaded = []
    for path, value, data in hostile_files(kind):
        refused = refusal(data)
        if refused is None:
            loaded.append((path, value, data))
            continue
        assert str(refused).isprintable()
        assert refused.file == "run.json"
        assert refused.field or refused.code == "not-saved-samples", (path, value, refused)
    chosen = random.Random(kind).sample(loaded, min(AT_MOST, len(loaded)))
    for number, (path, value, data) in enumerate(chosen):
        file = tmp_path / f"{number}.json"
        file.write_bytes(data)
        for arguments in (["read"], ["read", "--json"], ["explain"]):
            shows_no_nonsense([*arguments, str(file)], (path, value))
        shows = repr(samples.load(file))
        assert no_nonsense(shows), (path, value, shows)


def refusal(data):
    """Return why a file is refused, if it is; any other error is one of the test."""
    try:
        samples.loads(data, file="run.json")
    except ReaderError as error:
        return error
    return None


NAMED = {
    "a warning": (
        ("meta", "warnings", 0, "values", "late_p99_s"), HUGE, "saved-too-large",
        "meta.warnings[0].values.late_p99_s",
    ),
    "a count": (("fields", "sent_count"), -1, "saved-negative", "sent_count"),
    "no count": (("fields", "sent_count"), float("nan"), "saved-not-finite", "sent_count"),
    "half a probe": (("fields", "sent_count"), 0.5, "part-of-other-type", "sent_count"),
    "many errors": (("fields", "error_count"), 1e308, "saved-too-large", "error_count"),
    "a size": (("columns", "payload_bytes", 0), 1e308, "row-too-large", "payload_bytes"),
    "no rows": (("columns", "payload_bytes"), [], "columns-of-other-length", "payload_bytes"),
    "a unit": (("meta", "units", "rtt_s"), "ms", "saved-unit", "meta.units.rtt_s"),
    "an escape": (("meta", "units", "x"), "\x1b[2J", "part-of-other-type", "meta.units.x"),
    "a schema": (("meta", "schema"), -1, "no-schema", "meta.schema"),
    "a later schema": (("meta", "schema"), 2, "later-schema", "meta.schema"),
    "a processor": (
        ("meta", "instrument", "shared_processor"), -5, "saved-negative",
        "meta.instrument.shared_processor",
    ),
    "a cost": (
        ("meta", "instrument", "own_cost_s"), HUGE, "saved-too-large", "meta.instrument.own_cost_s",
    ),
    "a path": (
        ("meta", "instrument", "truth", "latencies_s"), [0.1, 0.2], "part-of-other-type",
        "meta.instrument.truth.latencies_s",
    ),
}  # fmt: skip


@pytest.mark.each("what", NAMED)
def test_a_value_out_of_its_limits_is_named(what):
    path, value, code, field = NAMED[what]
    document = json.loads(WHOLE["RttSamples"].dumps())
    refused = refusal(json.dumps(replaced(document, path, value)).encode())
    assert refused is not None
    assert (refused.code, refused.field) == (code, field)
    assert len(str(refused)) < 200


def test_a_column_of_a_table_has_one_kind_of_value():
    document = json.loads(WHOLE["Table"].dumps())
    for value in (True, [], "fast"):
        refused = refusal(json.dumps(replaced(document, ("columns", "rtt_s", 1), value)).encode())
        assert refused is not None
        assert (refused.code, refused.field) == ("row-of-other-type", "rtt_s")


def test_a_number_that_no_model_takes_is_named_with_its_file():
    """derived: an IP packet has at most 65535 bytes (RFC 791)."""
    with pytest.raises(ReaderError) as refused, numbers_of("t.csv"):
        fragment_count(1e7, mtu_bytes=1500)
    said = str(refused.value)
    assert "t.csv" in said
    assert "ip_payload_bytes must be at most 65535" in said


def shows_no_nonsense(arguments, what):
    found = CliRunner().invoke(commands, arguments, standalone_mode=False)
    error = found.exception
    assert error is None or isinstance(error, ReaderError | SystemExit), (what, arguments, error)
    said = found.output if error is None else f"{found.output}{error}"
    assert no_nonsense(said), (what, arguments, said)


def no_nonsense(text):
    return not re.search(r"(?i)(?<![a-z])nan(?![a-z])|[\d,]{60}|\x1b", text)
