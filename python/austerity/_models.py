"""Regressions: what is explained by what, with which noise and which priors."""

from __future__ import annotations

import difflib
import os
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _austerity, _columns, _frames, _tables
from ._options import is_number
from ._priors import Prior, checked_prior
from ._watch import Watch

__all__ = [
    "BetaRegression",
    "Binomial",
    "Cloglog",
    "ExponentialSurvival",
    "Formula",
    "GammaRegression",
    "Linear",
    "Logistic",
    "LognormalSurvival",
    "NegativeBinomial",
    "OrderedLogit",
    "OrderedProbit",
    "Poisson",
    "Probit",
    "Regression",
    "Student",
    "StudentNu",
    "WeibullSurvival",
    "ZeroInflatedPoisson",
]

#: Names that the response and the other columns beside the features have inside, where they are arrays of their own.
RESPONSE, WEIGHTS, TRIALS, OFFSET, EVENT = "(response)", "(weights)", "(trials)", "(offset)", "(event)"


class Regression:
    """A regression of ``y`` on the columns of ``X``; use one of its families.

    Parameters
    ----------
    X : array, table or path
        Rows × columns: a NumPy array; a pandas or polars DataFrame, a polars LazyFrame; a DuckDB relation, a pyarrow table, reader or data set, an
        ibis expression, and whatever else speaks Arrow; a dict of columns; or the path of a CSV, Parquet or NumPy file, which is read when
        sampling begins. Text and categories become one column per level except the reference; dates are days since 1970, times seconds.
    y : array, or str
        The response, or the name of its column in ``X``.
    prior : Normal, Laplace, StudentT or Flat
        Of every coefficient except the intercept. Default: normal with sd 2.5 divided by each column's sd (of a
        column of two values, such as 0 and 1, 5 divided by their distance, however rare one of them is), times the sd of a real response.
    prior_intercept : prior
        Of the intercept itself, where every column is 0. Default: a prior of the linear predictor at the column means, around the mean of the
        response with 2.5 times its sd; for logistic and Poisson regression around the link of its mean with sd 10.
    priors : dict
        Priors of single coefficients by name, on top of ``prior``; those of ``"sigma"``, ``"phi"`` and ``"nu"`` are priors of a positive number, such as
        ``HalfNormal(2)``. Default of sigma: ``HalfStudentT(3, sd of the response)``; of phi: ``LogNormal(1, 2)``; of nu:
        ``LogNormal(2, 1)``.
    weights, offset : array, or str
        Frequency weights, and the known part of the linear predictor; or the names of their columns in ``X``.
    names : sequence of str
        Names of the columns (``x1``, ``x2``, … or those of the table).
    features : sequence of str
        Columns of ``X`` that explain ``y``. Default: all columns without another role.
    categorical : sequence of str
        Columns of numbers whose values are levels.
    success : value
        The value of a two-valued ``y`` that counts as a success. Default: the last category of a pandas or polars category,
        else the larger number, ``True``, or the text that sorts last.
    reference : dict
        Reference levels by column, such as ``{"city": "Bonn"}``. Default: the first category of a pandas or polars category,
        else the most frequent level.
    missing : str
        What becomes of rows in which a column that is used has no value: ``"refuse"`` is an error that names the first one, ``"drop"`` leaves them
        out and counts them in a remark.
    intercept, standardize : bool
        Whether there is an intercept; whether numeric columns are standardised (coefficients are reported on both scales).

    The model shares memory with the arrays it is given. :func:`austerity.sample` raises a ``ValueError`` if their values changed
    in between.
    """

    family: ClassVar[str] = ""
    #: Whether ``y`` is a number, real or a count, and not a class or a share of trials.
    numeric: ClassVar[bool] = False
    _trials: Any = None
    _event: Any = None
    #: All files, where several are named.
    _files: Optional[List[str]] = None
    #: The number after the name of the family, with its colon.
    _setting: str = ""

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
        features: Optional[Sequence[str]] = None,
        categorical: Optional[Sequence[str]] = None,
        success: Any = None,
        reference: Optional[Mapping[str, Any]] = None,
        intercept: bool = True,
        standardize: bool = False,
        missing: str = "refuse",
    ) -> None:
        if not self.family:
            raise TypeError(f"Regression has no family; use {', '.join(sorted(one.__name__ for one in Regression.__subclasses__()))}")
        self._drop = _drops(missing)
        self._watch = Watch()
        self._file: Optional[str] = None
        self._columns: _columns.Named = []
        #: Rows; ``None`` of a file that must be read to be counted.
        self.rows: Optional[int] = None
        beside = {"y": (RESPONSE, y), "weights": (WEIGHTS, weights), "trials": (TRIALS, self._trials), "event": (EVENT, self._event), "offset": (OFFSET, offset)}
        given = {shown: value for shown, (_, value) in beside.items() if value is not None}
        if y is None:
            raise TypeError("y is None; give the response, or the name of its column in X")
        chosen = None if features is None else _names("features", features)
        levels = [] if categorical is None else _names("categorical", categorical)
        if _tables.is_path(X):
            roles = self._of_file(X, given, names, chosen)
        else:
            roles = self._of_table(X, given, names, chosen, {shown: inside for shown, (inside, _) in beside.items()})
        self._data: Dict[str, Any] = {"file": self._file or "memory", "family": self.family + self._setting}
        self._data.update({"response" if shown == "y" else shown: column for shown, column in roles.items()})
        if chosen is not None and self._file is not None:
            self._data["features"] = chosen
        for name in levels:
            self._known("categorical", name)
        if self._drop:
            self._data["missing"] = missing
        self._data.update(categorical=levels, success=success, no_intercept=not intercept, standardize=bool(standardize))
        if reference is not None:
            if not isinstance(reference, Mapping):
                raise TypeError(f"reference is {reference!r}; give a dict such as {{'city': 'Bonn'}}")
            for name in reference:
                self._known("reference", str(name))
            self._data["reference"] = dict(reference)
        self._priors = _priors(prior, prior_intercept, priors)
        self._watch.seal()

    def _of_table(
        self, X: Any, given: Dict[str, Any], names: Optional[Sequence[str]], chosen: Optional[List[str]], inside: Dict[str, str]
    ) -> Dict[str, str]:
        """Takes the columns of a table in memory; says which column has which role."""
        by_name = {shown: value for shown, value in given.items() if isinstance(value, str)}
        plain = isinstance(X, (np.ndarray, list, tuple)) and not getattr(getattr(X, "dtype", None), "names", None)
        if by_name and plain and names is None:
            shown, value = next(iter(by_name.items()))
            raise TypeError(f"{shown} is the text {value!r}, but X is an array without column names; pass names=, a DataFrame, or {shown} as an array")
        only = None if chosen is None else [*chosen, *by_name.values()]
        columns, self.rows = _columns.features(X, names, only, self._watch, self._drop)
        there = [name for name, _ in columns]
        for shown, name in [*by_name.items(), *(("features", name) for name in chosen or [])]:
            if name not in there:
                raise ValueError(_unknown(shown, name, there if only is None else _all_names(X, names, there)))
        roles = {shown: by_name.get(shown, inside[shown]) for shown in given}
        _once(roles, chosen)
        taken = dict(columns)
        self.names: List[str] = chosen if chosen is not None else [name for name in there if name not in by_name.values()]
        reserved = {RESPONSE, WEIGHTS, TRIALS, OFFSET, EVENT, "intercept"}
        for name in self.names:
            if name in reserved or "," in name:
                raise ValueError(f"a column cannot be called {name!r}; rename it with names=")
        if self.rows == 0:
            raise ValueError("Found array with 0 sample(s): X has no rows; at least one is needed")
        self._columns = [(name, taken[name]) for name in self.names]
        index = X.index if _columns._is_pandas(X, "DataFrame") else None
        for shown, value in given.items():
            if shown in by_name:
                column = taken[value]
            else:
                same = shown == "trials" and is_number(value)
                column = np.full(self.rows, float(value)) if same else _columns.one_column(shown, value, self._watch, drop=self._drop)
                if _columns.length(column) != self.rows:
                    raise ValueError(f"{shown} has {_columns.length(column)} values, but X has {self.rows} rows; give one for each row")
                _same_index(index, shown, value)
            self._columns.append((roles[shown], column if shown == "y" else _columns.only_numbers(shown, column)))
        return roles

    def _of_file(self, X: Any, given: Dict[str, Any], names: Optional[Sequence[str]], chosen: Optional[List[str]]) -> Dict[str, str]:
        """Looks at the columns of a file, which is read when sampling begins; says which column has which role."""
        if names is not None:
            raise TypeError("names= is for columns in memory; the columns of a file have the names in it")
        self._file = os.path.abspath(os.fspath(X))
        there, self.rows = _austerity.schema([self._file])
        for shown, value in given.items():
            if not isinstance(value, str):
                raise TypeError(
                    f"X is the file {os.fspath(X)!r}, so {shown} must be the name of one of its columns, not a {type(value).__name__}; "
                    "to combine it with arrays, read it first, for example with pandas.read_csv or polars.read_parquet"
                )
        for shown, name in [*given.items(), *(("features", name) for name in chosen or [])]:
            if name not in there:
                raise ValueError(_unknown(shown, name, there))
        _once(given, chosen)
        self.names = chosen if chosen is not None else [name for name in there if name not in given.values()]
        return given

    def _known(self, what: str, name: str) -> None:
        if name not in self.names:
            raise ValueError(_unknown(what, name, self.names))

    def _table(self) -> Optional[_columns.Named]:
        """The columns, where they are in memory."""
        if self._file is not None:
            return None
        self._watch.check()
        return self._columns

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        """Begins a run, or only plans it."""
        engine = options.pop("engine", None)
        if engine is not None:
            if self._file is None:
                raise TypeError("engine= reads files, and the data are in memory; give a path, a pattern or a list of files, or leave engine= out")
            if dry:
                raise TypeError("a plan is made on threads: leave engine= out")
            files = self._files if self._files is not None else [self._file]
            return _austerity.fit_parts(files, {**self._data, **self._priors, **options}, engine)
        return _austerity.fit_table(self._table(), {**self._data, **self._priors, **options}, dry)

    def _check(self, options: Dict[str, Any]) -> str:
        """Whether the assumptions of the test are sound."""
        return _austerity.check(self._table(), self._data, options)

    def __repr__(self) -> str:
        size = f"{self.rows} rows" if self._file is None else os.path.basename(self._file)
        return f"<{type(self).__name__}: {size}, {len(self.names)} columns>"


def _priors(prior: Any, prior_intercept: Any, priors: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    single = {str(name): checked_prior(f"priors[{name!r}]", one) for name, one in (priors or {}).items()}
    return {
        "prior": checked_prior("prior", prior),
        "prior_intercept": checked_prior("prior_intercept", prior_intercept),
        "priors": single or None,
    }


def _drops(missing: str) -> bool:
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing is {missing!r}; give 'refuse' or 'drop'")
    return missing == "drop"


def _names(what: str, names: Union[str, Sequence[str]]) -> List[str]:
    found = [names] if isinstance(names, str) else [str(name) for name in names]
    for name in found:
        if "," in name:
            raise ValueError(f"{what}: a column cannot be called {name!r}; rename it without the comma")
    return found


def _unknown(what: str, name: str, there: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, there, n=1)
    listed = ", ".join(map(repr, there[:12])) + (f", … ({len(there)} in all)" if len(there) > 12 else "")
    return f"{what} names the column {name!r}, which X does not have{f' (did you mean {near[0]!r}?)' if near else ''}; it has {listed}"


def _all_names(X: Any, names: Optional[Sequence[str]], there: List[str]) -> List[str]:
    """Names for a message, of a table of which some columns were taken."""
    found = names if names is not None else _tables.names(X)
    return [str(name) for name in found] if found is not None else there


def _once(roles: Dict[str, str], chosen: Optional[List[str]]) -> None:
    """Refuses a column with two roles."""
    seen: Dict[str, str] = {}
    for shown, name in [*roles.items(), *(("features", name) for name in chosen or [])]:
        if name in seen:
            raise ValueError(f"the column {name!r} is named as {seen[name]} and as {shown}; give it one role")
        seen[name] = shown


def _same_index(index: Any, shown: str, value: Any) -> None:
    """Refuses a series whose rows are labelled otherwise than those of the data frame."""
    if index is None or not _columns._is_pandas(value, "Series") or index.equals(value.index):
        return
    if len(index.intersection(value.index)) == len(index):
        remedy = f"put it in the order of X with {shown} = {shown}.loc[X.index]"
    else:
        remedy = f"select the same rows of both, for example {shown} = {shown}.loc[X.index]"
    raise ValueError(f"the index of {shown} is not that of X; {remedy}, or pass {shown}.to_numpy() to go by position")


class Formula(Regression):
    """A regression that a formula describes, such as ``"y ~ x1 + C(city)"``; :func:`austerity.fit` samples it at once.

    Parameters
    ----------
    formula : str
        The response, ``~``, and what explains it: terms, interactions, splines, offset, weights and trials, as the page on formulas says.
    data : table or path
        Any table with named columns, as for :class:`Regression`; or the path of a file, a folder of files, a pattern such as
        ``"parts/*.parquet"`` or a list of these, which are read when sampling begins. No other columns are read than those the formula names.
    family : str
        ``"logistic"``, ``"linear"``, ``"poisson"``, ``"negative-binomial"``, ``"probit"``, ``"student-nu"``, ``"student:7"``, … Default: logistic for
        a response of two values, else linear.
    prior, prior_intercept, priors, success, standardize, missing
        As for :class:`Regression`; ``priors`` by the names of the coefficients, such as ``"C(city)[Ulm]"``.

    Examples
    --------
    >>> Formula("y ~ x + C(city)", {"x": [0.5, 1.5, 1.0], "city": ["Bonn", "Ulm", "Bonn"], "y": [1.0, 2.0, 0.0], "note": [None, "a", "b"]})
    <Formula: y ~ x + C(city), 3 rows>
    """

    def __init__(
        self,
        formula: str,
        data: Any,
        family: Optional[str] = None,
        *,
        prior: Optional[Prior] = None,
        prior_intercept: Optional[Prior] = None,
        priors: Optional[Dict[str, Prior]] = None,
        success: Any = None,
        standardize: bool = False,
        missing: str = "refuse",
    ) -> None:
        if not isinstance(formula, str):
            raise TypeError(f"formula is a {type(formula).__name__}; give a text such as 'y ~ x1 + x2'")
        if family is not None and not isinstance(family, str):
            raise TypeError(f"family is {family!r}; give a text such as 'logistic'")
        self._drop = _drops(missing)
        self._watch = Watch()
        self._file = None
        self._columns = []
        self.rows = None
        data = _frames.written(data)
        self._written = data if isinstance(data, _frames.Written) else None
        data = self._written.path if self._written is not None else data
        files = _tables.paths(data)
        if files is not None:
            self._file, self._files = files[0], files
            there, self.rows = _austerity.schema(files)
            self.names = _austerity.formula_columns(formula, there)
        else:
            there = _tables.names(data)
            if there is None and (isinstance(data, (list, tuple)) or _tables.library(data) == "numpy"):
                raise TypeError("data has no column names; give a table, or a dict of columns such as {'y': y, 'x': x}")
            needed = _austerity.formula_columns(formula, there)
            self._columns, self.rows = _columns.features(data, None, needed, self._watch, self._drop)
            self.names = [name for name, _ in self._columns]
            if there is None:
                _austerity.formula_columns(formula, self.names)
            if self.rows == 0:
                raise ValueError("Found array with 0 sample(s): data has no rows; at least one is needed")
        self._data = {"file": self._file or "memory", "further": files[1:] if files else None, "formula": formula, "family": family}
        self._data.update(success=success, standardize=bool(standardize), missing=missing if self._drop else None)
        self._priors = _priors(prior, prior_intercept, priors)
        self._watch.seal()

    def __repr__(self) -> str:
        size = f"{self.rows} rows" if self._file is None else os.path.basename(self._file)
        return f"<Formula: {self._data['formula']}, {size}>"


class Logistic(Regression):
    """Logistic regression: ``y`` has two values, one of which is the ``success``.

    >>> import numpy as np
    >>> Logistic(np.zeros((4, 2)) + np.arange(4)[:, None], [0, 1, 1, 0])
    <Logistic: 4 rows, 2 columns>
    >>> Logistic({"city": ["Bonn", "Ulm", "Bonn"], "bought": ["yes", "no", "no"]}, "bought", success="yes", reference={"city": "Ulm"})
    <Logistic: 3 rows, 1 columns>
    """

    family = "logistic"


class Binomial(Regression):
    """Binomial regression with logit link: ``y`` successes out of ``trials``, an array, one number for all rows, or the name of a column."""

    family = "logistic"

    def __init__(self, X: Any, y: Any, trials: Any, **options: Any) -> None:
        if trials is None:
            raise TypeError("trials is None; give the number of trials of each row, one number for all, or the name of a column in X")
        self._trials = trials
        super().__init__(X, y, **options)
        del self._trials


class Linear(Regression):
    """Linear regression with normal noise; decisions are exact from sums of squares and read no row."""

    family = "linear"
    numeric = True


class Poisson(Regression):
    """Poisson regression with log link; ``y`` counts."""

    family = "poisson"
    numeric = True


class NegativeBinomial(Regression):
    """Negative binomial regression with log link; ``y`` counts with variance μ + μ²/φ, and ``"phi"`` is sampled with the coefficients."""

    family = "negative-binomial"
    numeric = True


class Probit(Regression):
    """Probit regression: ``y`` has two values, one of which is the ``success``, or counts successes out of ``trials``."""

    family = "probit"

    def __init__(self, X: Any, y: Any, trials: Any = None, **options: Any) -> None:
        self._trials = trials
        super().__init__(X, y, **options)
        del self._trials


class Cloglog(Regression):
    """Regression with complementary log-log link: ``y`` has two values, one of which is the ``success``, or counts successes out of ``trials``."""

    family = "cloglog"

    def __init__(self, X: Any, y: Any, trials: Any = None, **options: Any) -> None:
        self._trials = trials
        super().__init__(X, y, **options)
        del self._trials


class GammaRegression(Regression):
    """Gamma regression with log link; ``y`` is positive with variance μ²/shape, and ``"shape"`` is sampled with the coefficients."""

    family = "gamma"
    numeric = True


class BetaRegression(Regression):
    """Beta regression with logit link; ``y`` is a share between 0 and 1, and its precision ``"phi"`` is sampled with the coefficients."""

    family = "beta"
    numeric = True


class ZeroInflatedPoisson(Regression):
    """Poisson regression with extra zeros: ``"zero_odds"``, the odds π/(1 − π) of an extra zero, is sampled with the coefficients."""

    family = "zero-inflated-poisson"
    numeric = True


class OrderedLogit(Regression):
    """Ordered regression with logit link: ``y`` holds levels, as numbers or as an ordered category, 12 different ones at most.

    The first cut point is 0, and the others, ``"cut2"``, ``"cut3"``, …, are sampled with the coefficients; ``predict`` adds the probability of every level.
    """

    family = "ordered-logit"


class OrderedProbit(Regression):
    """Ordered regression with probit link; as :class:`OrderedLogit`."""

    family = "ordered-probit"


class _Censored:
    """Takes the events of survival times."""

    _event: Any

    def __init__(self, X: Any, y: Any, event: Any = None, **options: Any) -> None:
        self._event = event
        super().__init__(X, y, **options)  # type: ignore[call-arg]
        del self._event


class ExponentialSurvival(_Censored, Regression):
    """Survival times ``y`` with a constant hazard: ``event`` is 1 where the event came at ``y``, and 0 where the time is censored there."""

    family = "exponential"
    numeric = True


class WeibullSurvival(_Censored, Regression):
    """Survival times ``y`` whose hazard is a power of time: ``event`` is 1 where the event came at ``y``, and 0 where the time is censored there."""

    family = "weibull"
    numeric = True


class LognormalSurvival(_Censored, Regression):
    """Survival times ``y`` whose logarithm is normal: ``event`` is 1 where the event came at ``y``, and 0 where the time is censored there."""

    family = "lognormal"
    numeric = True


class StudentNu(Regression):
    """Regression with Student-t noise whose degrees of freedom ``"nu"`` are sampled with the coefficients."""

    family = "student-nu"
    numeric = True


class Student(Regression):
    """Regression with Student-t noise of ``nu`` degrees of freedom: outliers do little harm.

    >>> import numpy as np
    >>> Student(np.zeros((4, 2)) + np.arange(4)[:, None], [0.1, 1.2, 1.9, 30.0], nu=7)
    <Student: 4 rows, 2 columns>
    """

    family = "student"
    numeric = True

    def __init__(self, X: Any, y: Any, *, nu: float = 4, **options: Any) -> None:
        if not is_number(nu) or not 0 < nu < float("inf"):
            raise ValueError(f"nu is {nu!r}; give a positive number of degrees of freedom, or use StudentNu, which samples them")
        self._setting = f":{float(nu)!r}"
        super().__init__(X, y, **options)
