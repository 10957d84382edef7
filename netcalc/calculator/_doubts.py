"""What makes an answer doubtful, in the names and units that people read."""

from __future__ import annotations

from netcalc import units
from netcalc.calculator._parameter import SUFFIX
from netcalc.errors import DoubtWarning
from netcalc.messages import Notice

_IN_ITS_UNIT = ("value", "limit", "low", "high")
"""Values of a doubt that are in the unit of the argument it names."""
_UNITS = {
    "s": "s", "bps": "bit/s", "pps": "packet/s", "bytes": "byte", "bits": "bit", "ratio": "ratio",
    "m": "m", "m_s": "m/s",
}  # fmt: skip


def doubt_notice(doubt: DoubtWarning, unit: str = "") -> Notice:
    """Return a doubt with its argument's short name, and its values in their unit.

    ``unit`` is that of the argument; by default the one that its name ends with.

    Examples
    --------
    >>> from netcalc.errors import DoubtWarning
    >>> doubt = DoubtWarning("beyond-published-range", name="loss_ratio", value=0.3, limit=0.01)
    >>> doubt_notice(doubt).values
    {'name': 'loss', 'value': '30%', 'limit': '1%'}
    """
    values = dict(doubt.values)
    name = str(values.get("name", ""))
    suffix = SUFFIX.search(name)
    if not unit:
        unit = _UNITS[suffix[1]] if suffix else "1"
    if name:
        short = SUFFIX.sub("", name).replace("_", " ")
        values["name"] = "the result" if name == "result" else short
    if "formula" in values:
        values["formula"] = SUFFIX.sub("", str(values["formula"])).replace("_", "-")
    for key in _IN_ITS_UNIT:
        if isinstance(values.get(key), int | float):
            values[key] = units.show(values[key], unit)
    return Notice(doubt.code, values)
