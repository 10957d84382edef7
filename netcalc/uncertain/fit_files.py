"""Parameters of a fit to a file as inputs: ``@ping.txt:bandwidth``."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from netcalc.errors import ReaderError, UnitError
from netcalc.uncertain.distributions import Distribution
from netcalc.uncertain.fits import Fitted, fitted

if TYPE_CHECKING:
    from netcalc.fit import Fit

FORM = re.compile(r"@(.+):\s*([A-Za-z]\w*)", re.DOTALL)
"""A file, and the name of a parameter."""
_UNITS = {"_s": "s", "_bps": "bit/s"}
_ALIASES = {
    "rtt": "base_rtt_s", "base_rtt": "base_rtt_s", "latency": "latency_s",
    "rate": "bandwidth_bps", "bandwidth": "bandwidth_bps",
}  # fmt: skip
_FILES = 32
"""Fits that are kept, so that two parameters of one file are those of one fit. [1]"""


def fitted_in_file(text: str, unit: str, *, field: str | None = None) -> Distribution | float:
    """Return a parameter of the fit that ``netcalc read`` prints for a file.

    Two parameters of one file are correlated as its fit has them.

    Parameters
    ----------
    text : str
        ``@FILE:PARAMETER``: a file with round trips or transfers of several sizes, and
        ``bandwidth`` with ``base_rtt`` of the former, or ``latency`` of the latter.
    unit : str
        The SI unit wanted.
    field : str, optional
        What the quantity is, for the message of an error.

    Returns
    -------
    Distribution or float
        As of :func:`netcalc.uncertain.fitted`.

    Raises
    ------
    ReaderError
        If the file cannot be read, or has neither round trips nor transfers.
    DomainError
        If its points do not determine the parameter.
    UnitError
        If the parameter is unknown, or of another unit.
    """
    match = FORM.fullmatch(text)
    assert match is not None
    path, wanted = match[1].strip(), match[2]
    status = Path(path).stat() if Path(path).exists() else None
    key = (status.st_mtime_ns, status.st_size) if status else (0, 0)
    found = _fit(str(Path(path).resolve()), path, key)
    names = [name for name, error in found.stderr.items() if error != 0.0]
    name = wanted if wanted in names else _ALIASES.get(wanted.lower(), wanted)
    expected = f"a parameter of a fit [{unit}]"
    if name not in names:
        raise UnitError(
            "fit-parameter-unknown", text, expected=expected, field=field, name=wanted,
            choices=names,
        )  # fmt: skip
    its_unit = next(one for ending, one in _UNITS.items() if name.endswith(ending))
    if its_unit != unit:
        raise UnitError(
            "fit-parameter-of-other-unit", text, expected=expected, field=field, name=name,
            unit=its_unit,
        )  # fmt: skip
    one = fitted(found, [name])[name]
    return replace(one, origin=text) if isinstance(one, Fitted) else one


@lru_cache(maxsize=_FILES)
def _fit(_absolute: str, path: str, _changed: tuple[int, int]) -> Fit:
    """Return the fit of a file; that of before where the file is the same."""
    from netcalc import fit, readers  # late: most texts name no file
    from netcalc.samples import RttSamples, TransferSamples

    samples = readers.read(path)
    if isinstance(samples, RttSamples):
        return fit.rtt_against_size(samples, header_bytes=fit.echo_headers(samples.meta))
    if isinstance(samples, TransferSamples):
        return fit.transfer_against_size(samples)
    raise ReaderError("nothing-to-fit", file=Path(path).name)
