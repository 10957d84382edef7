"""Saved samples are checked whole when they are loaded, the facts inside their facts too."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from netcalc import readers, samples
from netcalc.errors import ReaderError
from netcalc.samples import Meta, RttSamples, Table

WHOLE = json.loads(
    RttSamples(
        payload_bytes=[56, 56], rtt_s=[0.001, 0.002],
        meta=Meta(
            tool="ping", printed={"sent": 2, "runs": [{"sent": 2, "rtt_min_s": 0.001}]},
            instrument={"kernel": "6.1", "cpu_count": 2, "gaps": [[0.1, 0.2]], "truth": {"a": [1]}},
        ),
    ).dumps()
)  # fmt: skip

# path into the file, a value of another kind, and the field that is named
WRONG = {
    "a unit that is a number": (("meta", "units", "rtt_s"), 5, "meta.units.rtt_s"),
    "a layer that is a list": (("meta", "layers", "rtt_s"), ["a"], "meta.layers.rtt_s"),
    "a kernel that is an object": (("meta", "instrument", "kernel"), {}, "meta.instrument.kernel"),
    "half a processor": (("meta", "instrument", "cpu_count"), 0.5, "meta.instrument.cpu_count"),
    "text among gaps": (("meta", "instrument", "gaps"), [[1, "a"]], "meta.instrument.gaps"),
    "a truth that is text": (("meta", "instrument", "truth"), "T1", "meta.instrument.truth"),
    "a count that is text": (("meta", "printed", "sent"), "2", "meta.printed.sent"),
    "runs that are a number": (("meta", "printed", "runs"), 1, "meta.printed.runs"),
    "a run that is text": (("meta", "printed", "runs"), ["a"], "meta.printed.runs[0]"),
    "a time in a run": (
        ("meta", "printed", "runs"), [{"rtt_min_s": [1]}], "meta.printed.runs[0].rtt_min_s",
    ),
    "an experiment that is a list": (("meta", "experiment"), [], "meta.experiment"),
}  # fmt: skip


@pytest.mark.each("what", WRONG)
def test_a_nested_fact_of_another_kind_is_refused(what):
    path, value, field = WRONG[what]
    document = json.loads(json.dumps(WHOLE))
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(ReaderError) as refused:
        samples.loads(json.dumps(document).encode())
    assert (refused.value.code, refused.value.field) == ("part-of-other-type", field)


def test_what_was_saved_is_not_refused():
    assert samples.loads(json.dumps(WHOLE).encode()).meta.instrument.cpu_count == 2
    document = json.loads(json.dumps(WHOLE))
    document["meta"]["instrument"] = {"gaps": [[0.1, None]], "duration_s": "inf", "later": {"a": 1}}
    assert samples.loads(json.dumps(document).encode()).meta.instrument.other == {"later": {"a": 1}}


def test_a_gzip_bomb_of_saved_samples_is_refused():
    """Derived: 150 MB of blanks are over the 128 MiB that a file of 0.2 MB may hold."""
    head = b'{"format": "netcalc samples", "schema": 1, "kind": "Table",'
    with pytest.raises(ReaderError) as refused:
        samples.loads(gzip.compress(head + b" " * 150_000_000, 1))
    assert refused.value.code == "samples-too-large"


def test_an_even_run_of_many_probes_is_not_taken_for_a_bomb(tmp_path, monkeypatch):
    """Derived: 20,000 equal rows are 1 MB or more, over a limit of 100 kB, in under 40 times."""
    count = 20_000
    run = RttSamples(
        payload_bytes=np.full(count, 56.0), rtt_s=np.full(count, 0.001),
        sequence=np.arange(count), sent_s=np.arange(count) * 1e-3,
    )  # fmt: skip
    monkeypatch.setattr("netcalc.samples.saved.MAX_INFLATED_BYTES", 100_000)
    monkeypatch.setattr("netcalc.readers.source.MAX_BYTES", 100_000)
    for name in ("run.json", "run.json.gz"):
        saved = run.save(tmp_path / name)
        assert samples.load(saved) == readers.read(saved) == run


def test_text_columns_are_not_as_wide_as_their_longest_cell():
    """Derived: 24,001 cells of 70,000 characters of 4 bytes would be 6.7 GB."""
    table = Table(data={"what": ["x"] * 24_000 + ["y" * 70_000]})
    assert table["what"].dtype == object
    assert table["what"].nbytes == 24_001 * 8
    assert samples.loads(table.dumps()) == table


def test_columns_that_may_change_are_copied():
    own = np.array([0.001, 0.002])
    run = RttSamples(payload_bytes=[56, 56], rtt_s=own)
    own[0] = 5.0
    assert run.rtt_s.tolist() == [0.001, 0.002]
