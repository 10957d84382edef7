"""Bring ``data/index.json`` up to date after a data file was edited: row counts and SHA-256.

Run it as ``python tests/data_index.py``; titles, columns and sources are edited by hand there.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

from netcalc import readers

INDEX = Path(__file__).parent.parent / "data" / "index.json"


def refresh() -> None:
    """Write the hash and the number of rows of each data file into the index."""
    index = json.loads(INDEX.read_text(encoding="utf-8"))
    for entry in index["sets"]:
        data = (INDEX.parent / entry["file"]).read_bytes()
        entry["sha256"] = hashlib.sha256(data).hexdigest()
        if entry["columns"]:
            entry["rows"] = sum(1 for _ in csv.reader(data.decode("utf-8").splitlines())) - 1
        else:  # what a tool printed: one row a probe
            entry["rows"] = len(readers.read(data, name=entry["file"]))
    INDEX.write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    refresh()
