"""Regressions: what is explained by what, with which noise and which priors."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Sequence

from . import _austerity, _columns
from ._priors import Prior, prior_text

#: Names that the response and the other columns beside the features have inside.
RESPONSE, WEIGHTS, TRIALS, OFFSET = "(response)", "(weights)", "(trials)", "(offset)"


class Regression:
    """A regression of ``y`` on the columns of ``X``; use one of its families.

    Parameters
    ----------
    X : array, DataFrame or Arrow table, rows × columns
        Numbers; text and categories become one column per level but the first.
    y : array
        The response.
    prior : Normal, Laplace, StudentT or Flat
        Of every coefficient but the intercept. Default: normal with sd 2.5 divided by each column's sd; of a
        column of two values, such as 0 and 1, with sd 5 divided by their distance, however rare one of them is.
    prior_intercept : prior
        Default: ``Normal(10)``.
    priors : dict
        Priors of single coefficients by name, on top of ``prior``.
    weights, offset : array
        Frequency weights, and the known part of the linear predictor.
    names : sequence of str
        Names of the columns (``x1``, ``x2``, … or those of the data frame).
    intercept, standardize : bool
        Whether there is an intercept; whether numeric columns are standardised (coefficients are told on both scales).

    Nothing is read before :func:`austerity.sample`; the arrays must stay as they are until then.
    """

    family: ClassVar[str] = ""

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        prior: Optional[Prior] = None,
        prior_intercept: Optional[Prior] = None,
        priors: Optional[Dict[str, Prior]] = None,
        weights: Any = None,
        offset: Any = None,
        names: Optional[Sequence[str]] = None,
        intercept: bool = True,
        standardize: bool = False,
    ) -> None:
        if not self.family:
            raise TypeError("Regression has no family; use Logistic, Binomial, Linear, Poisson or Student")
        self._columns, self.rows = _columns.features(X, names)
        self.names: List[str] = [name for name, _ in self._columns]
        reserved = {RESPONSE, WEIGHTS, TRIALS, OFFSET}
        for name in self.names:
            if name in reserved or name == "intercept" or "," in name:
                raise ValueError(f"a column cannot be called {name!r}; rename it with names=")
        if self.rows == 0:
            raise ValueError("Found array with 0 sample(s): X has no rows; at least one is needed")
        self._options: List[str] = ["--response", RESPONSE, "--family", self.family]
        self._add(RESPONSE, "y", y)
        if weights is not None:
            self._add(WEIGHTS, "weights", weights, numeric=True)
            self._options += ["--weights", WEIGHTS]
        if offset is not None:
            self._add(OFFSET, "offset", offset, numeric=True)
            self._options += ["--offset", OFFSET]
        if not intercept:
            self._options.append("--no-intercept")
        if standardize:
            self._options.append("--standardize")
        self._shape: List[str] = []
        if prior is not None:
            self._shape += ["--prior", prior_text("prior", prior)]
        if prior_intercept is not None:
            self._shape += ["--prior-intercept", prior_text("prior_intercept", prior_intercept)]
        self._single = {str(name): prior_text(f"priors[{name!r}]", one) for name, one in (priors or {}).items()}

    @property
    def _needs_folder(self) -> bool:
        return bool(self._single)

    def _begin(self, words: List[str], folder: Optional[Path]) -> Any:
        """Begins a run."""
        more = list(self._shape)
        if self._single and folder is not None:
            file = folder / "priors.csv"
            with file.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(["coefficient", "prior"])
                writer.writerows(self._single.items())
            more += ["--priors", str(file)]
        return _austerity.fit_columns(self._columns, ["memory"] + self._options + more + words)

    def _add(self, name: str, shown: str, value: Any, numeric: bool = False) -> None:
        if numeric:
            column: Any = _columns.numbers(shown, value, self.rows)
        else:
            column = _columns.one_column(shown, value)
            length = len(column[0]) if isinstance(column, tuple) else len(column)
            if length != self.rows:
                raise ValueError(f"{shown} has {length} values, but X has {self.rows} rows; give one for each row")
        self._columns.append((name, column))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.rows} rows, {len(self.names)} columns>"


class Logistic(Regression):
    """Logistic regression: ``y`` has two values, of which the larger (or ``True``) is a success.

    >>> import numpy as np
    >>> Logistic(np.zeros((4, 2)) + np.arange(4)[:, None], [0, 1, 1, 0])
    <Logistic: 4 rows, 2 columns>
    """

    family = "logistic"


class Binomial(Regression):
    """Binomial regression with logit link: ``y`` successes out of ``trials``."""

    family = "logistic"

    def __init__(self, X: Any, y: Any, trials: Any, **options: Any) -> None:
        super().__init__(X, y, **options)
        if isinstance(trials, (int, float)):
            trials = [float(trials)] * self.rows
        self._add(TRIALS, "trials", trials, numeric=True)
        self._options += ["--trials", TRIALS]


class Linear(Regression):
    """Linear regression with normal noise; decisions are exact from sums of squares and read no row."""

    family = "linear"


class Poisson(Regression):
    """Poisson regression with log link; ``y`` counts."""

    family = "poisson"


class Student(Regression):
    """Regression with Student-t noise, 4 degrees of freedom: outliers do little harm."""

    family = "student"
