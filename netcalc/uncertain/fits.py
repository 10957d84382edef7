"""Parameters of a fit as inputs, with their standard errors and their correlation.

The fit is an object, or that of a file: ``@ping.txt:bandwidth``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.display import show
from netcalc.errors import DomainError, ReaderError, UnitError
from netcalc.uncertain.distributions import Distribution, Frozen, Inverse, Normal

if TYPE_CHECKING:
    from netcalc.fit import Fit


@named_arguments
def fitted(fit: Any, names: Sequence[str] | None = None) -> dict[str, Distribution | float]:
    """Return the parameters of a fit as inputs of a plan, correlated as the fit has them.

    Parameters
    ----------
    fit : netcalc.fit.Fit, netcalc.fit.Costs or netcalc.fit.LinkEstimate
        A fit with ``params`` and their ``covariance``.
    names : sequence of str, optional
        The parameters wanted; by default all.

    Returns
    -------
    dict of str to Distribution or float
        By the names of ``fit.params``, for :func:`netcalc.uncertain.spread`, under these names or
        others. Their distribution is Student's t with the degrees of freedom of the fit. A rate is
        fitted as a slope, its inverse: the inverse has the distribution. What the fit took as
        given is a number.

    Raises
    ------
    DomainError
        If the points do not determine a parameter that is wanted, or not its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from netcalc.fit import transfer_against_size
    >>> from netcalc.samples import TransferSamples
    >>> size = np.array([1e5, 2e5, 4e5, 8e5, 16e5])
    >>> noise = np.array([1e-3, -1e-3, 0.5e-3, -0.5e-3, 0.0])
    >>> line = transfer_against_size(
    ...     TransferSamples(payload_bytes=size, duration_s=0.03 + size / 1e6 + noise))
    >>> {name: type(one).__name__ for name, one in fitted(line).items()}
    {'latency_s': 'Fitted', 'bandwidth_bps': 'Fitted'}
    """
    parameters = list(fit.params)
    covariance = np.asarray(fit.covariance, dtype=float)
    inputs: dict[str, Distribution | float] = {}
    for name in parameters if names is None else names:
        if name not in parameters:
            raise DomainError("not-a-choice", "names", name, choices=parameters)
        index = parameters.index(name)
        value, deviation = float(fit.params[name]), float(np.sqrt(covariance[index, index]))
        if name in fit.not_identifiable:
            reason = str(fit.not_identifiable[name])
            raise DomainError("fit-without-value", name, value, reason=reason)
        if np.isnan(deviation):
            raise DomainError("fit-without-errors", name, value)
        if deviation == 0.0:
            inputs[name] = value
            continue
        is_rate = name.endswith("_bps")
        of = (1.0 / value, deviation / value**2) if is_rate else (value, deviation)
        drawn = _student(*of, degrees=fit.degrees)
        inputs[name] = Fitted(Inverse(1.0, drawn) if is_rate else drawn, fit=fit, name=name)
    return inputs


@dataclass(frozen=True, eq=False)
class Fitted(Distribution):
    """One parameter of a fit; others of the same fit are correlated with it.

    ``origin`` is where the fit is from.
    """

    inner: Distribution
    fit: Any
    name: str
    origin: str = ""

    def ppf(self, share: FloatArray) -> FloatArray:
        """Return the quantiles."""
        return self.inner.ppf(share)

    def below(self, value: float, *, or_equal: bool = False) -> float:
        """Return the distribution function."""
        return self.inner.below(value, or_equal=or_equal)

    def text(self, unit: str) -> str:
        """Write where nine tenths of the values are."""
        low, high = (show(float(self.ppf(np.array(end))), unit) for end in (0.05, 0.95))
        return f"{self.origin or 'fitted'}, {low} to {high} with 90%"


def correlations_of_fits(inputs: Mapping[str, Distribution]) -> dict[tuple[str, str], float]:
    """Return the correlations of inputs that are parameters of one fit."""
    correlations = {}
    for (first, drawn), (second, other) in combinations(inputs.items(), 2):
        if isinstance(drawn, Fitted) and isinstance(other, Fitted) and drawn.fit is other.fit:
            names = list(drawn.fit.params)
            i, j = names.index(drawn.name), names.index(other.name)
            covariance = np.asarray(drawn.fit.covariance, dtype=float)
            variances = covariance[i, i] * covariance[j, j]
            correlations[first, second] = float(covariance[i, j] / np.sqrt(variances))
    return correlations


def _student(value: float, deviation: float, *, degrees: int) -> Distribution:
    if degrees > 200:  # indistinguishable from the normal distribution
        return Normal(value, deviation)
    from scipy import stats

    return Frozen(stats.t(degrees, loc=value, scale=deviation))


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
    path, parameter = match[1].strip(), match[2]
    status = Path(path).stat() if Path(path).exists() else None
    key = (status.st_mtime_ns, status.st_size) if status else (0, 0)
    fit = _fit(str(Path(path).resolve()), path, key)
    names = [name for name, error in fit.stderr.items() if error != 0.0]
    name = parameter if parameter in names else _ALIASES.get(parameter.lower(), parameter)
    expected = f"a parameter of a fit [{unit}]"
    if name not in names:
        raise UnitError(
            "fit-parameter-unknown", text, expected=expected, field=field, name=parameter,
            choices=names,
        )  # fmt: skip
    its_unit = next(unit_ for ending, unit_ in _UNITS.items() if name.endswith(ending))
    if its_unit != unit:
        raise UnitError(
            "fit-parameter-of-other-unit", text, expected=expected, field=field, name=name,
            unit=its_unit,
        )  # fmt: skip
    drawn = fitted(fit, [name])[name]
    return replace(drawn, origin=text) if isinstance(drawn, Fitted) else drawn


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
