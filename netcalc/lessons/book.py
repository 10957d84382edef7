"""The numbers that the sources of the lessons printed, as panels draw and compare them."""

from __future__ import annotations

from typing import Any

from netcalc import datasets


def printed_numbers(name: str) -> dict[str, float]:
    """Return the numbers of an audited text, in SI units, by their id.

    Examples
    --------
    >>> printed_numbers("loopback_transactions")["LB02"]
    1508.0
    """
    columns = datasets.load(name).columns()
    return dict(zip(columns["id"].tolist(), columns["si_value"].tolist(), strict=True))


def points_by(
    column: str, name: str, x: str, y: str, *, label: str = "{name}"
) -> dict[str, tuple[Any, Any]]:
    """Return two columns of a data set as sets of points, one for each value of another column.

    Parameters
    ----------
    column : str
        The column that tells the sets apart.
    name : str
        The data set.
    x, y : str
        Columns of the points.
    label : str
        Name of a set in the figure: ``"router of {name}"``, in the reader's language.
    """
    rows = datasets.load(name).columns()
    return {
        label.format(name=group): (rows[x][rows[column] == group], rows[y][rows[column] == group])
        for group in dict.fromkeys(rows[column].tolist())
    }
