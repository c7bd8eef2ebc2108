"""Data with known coefficients, for a first try, for tests and for comparisons."""

from __future__ import annotations

import operator
from typing import Dict, List, NamedTuple

import numpy as np

from . import _austerity


class Generated(NamedTuple):
    """What :func:`generate` makes."""

    X: np.ndarray
    """Features, rows × columns."""
    y: np.ndarray
    """The response."""
    names: List[str]
    """Names of the columns."""
    coefficients: Dict[str, float]
    """What the response was made with, the intercept first."""


def generate(
    family: str, rows: int, features: int, *, rare: int = 0, correlated: bool = False, seed: int = 1
) -> Generated:
    """The data that ``austerity generate`` writes, as arrays.

    Parameters
    ----------
    family : str
        Of the response: a name of the table in docs/families.md, such as ``"logistic"``, ``"poisson"`` or ``"student:7"``.
    rows, features
        Rows, and dense features: standard normal, independent or, if ``correlated``, with correlation .5 between neighbours.
    rare
        Further features that are 1 in 10 to 200 rows and 0 elsewhere: the data on which a normal approximation fails.
    seed
        The same seed makes the same data, here and by the program.

    Examples
    --------
    >>> made = generate("logistic", 1000, 2, rare=1, seed=3)
    >>> made.X.shape, made.names
    ((1000, 3), ['x1', 'x2', 'rare1'])
    >>> sorted(made.coefficients)
    ['intercept', 'rare1', 'x1', 'x2']
    """
    size = {}
    for name, value, least in [("rows", rows, 1), ("features", features, 0), ("rare", rare, 0), ("seed", seed, 0)]:
        size[name] = operator.index(value)
        if size[name] < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
    shape = (size["rows"], size["features"], size["rare"])
    names, columns, y, coefficients = _austerity.generate(family, shape, bool(correlated), size["seed"])
    return Generated(columns.T, y, names, dict(zip(["intercept", *names], coefficients)))
