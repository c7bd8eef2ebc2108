"""Estimators in the manner of scikit-learn: posterior means as predictions, the whole posterior in ``fit_``."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d

from . import _tables
from ._fit import Fit
from ._models import Logistic, Regression
from ._sample import sample

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:  # pragma: no cover

    def validate_data(estimator: Any, *arrays: Any, skip_check_array: bool = False, **options: Any) -> Any:
        if not skip_check_array:
            return estimator._validate_data(*arrays, **options)
        estimator._check_feature_names(arrays[0], reset=options.get("reset", True))
        estimator._check_n_features(arrays[0], reset=options.get("reset", True))
        return arrays[0]


class _Austere(BaseEstimator):
    """What the estimators share."""

    def _model(self, X: Any, y: np.ndarray, **given: Any) -> Regression:
        raise NotImplementedError

    def _taken(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Tuple[Any, np.ndarray, Optional[np.ndarray]]:
        """Features, response and weights, checked. A data frame with text or categories stays one; other features become float64."""
        self._levels = _has_levels(X)
        if self._levels:
            if y is None:
                raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
            validate_data(self, X, skip_check_array=True)
            check_consistent_length(X, y)
            y = column_or_1d(y, warn=True)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, **checks)
        if sample_weight is None:
            return X, y, None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise ValueError(f"sample_weight, row {row}: {weights[row]:g} is negative; give the number of times that each row counts")
        kept = np.flatnonzero(weights)
        if len(kept) == 0:  # some versions of scikit-learn say so themselves
            raise ValueError("Sample weights must contain at least one non-zero number.")
        if len(kept) < len(weights):
            X = X.iloc[kept] if hasattr(X, "iloc") else X[kept]
            y, weights = y[kept], weights[kept]
        return X, y, None if (weights == 1).all() else weights

    def _new(self, X: Any) -> Any:
        """Features of new rows, checked."""
        check_is_fitted(self, "fit_")
        if not self._levels:
            return validate_data(self, X, reset=False, dtype=np.float64)
        if not hasattr(X, "columns"):
            raise ValueError(f"X is a {type(X).__name__}, but this estimator was fitted on a data frame with text; give the same columns by name")
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _sample(self, X: Any, y: np.ndarray, weights: Optional[np.ndarray]) -> None:
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{j + 1}" for j in range(X.shape[1])] if names is None else [str(name) for name in names]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.random_state is not None else 1
        options: Dict[str, Any] = dict(self.options or {})
        self.fit_: Fit = sample(
            self._model(X, y, weights=weights, names=names),
            draws=self.draws,
            chains=self.chains,
            tolerance=self.tolerance,
            seed=seed,
            threads=self.threads,
            progress=False,
            **options,
        )
        self.trusted_ = self.fit_.trusted
        means = {name: float(values.mean()) for name, values in self.fit_.draws.items()}
        # The coefficient of a column that never changes is 0; levels have one each except the reference.
        self.coef_names_: List[str] = []
        for name in names:
            levels = [one for one in self.fit_.coefficients if one.startswith(f"{name}=")] if self._levels else []
            self.coef_names_ += levels if levels and name not in means else [name]
        self._coefficients = np.array([means.get(name, 0.0) for name in self.coef_names_])
        self._offset = means.get("intercept", 0.0)

    def _mean(self, X: Any) -> np.ndarray:
        X = self._new(X)
        return self.fit_.predict(X, threads=self.threads)["mean"]

    def predict_interval(self, X: Any, interval: float = 0.95) -> Tuple[np.ndarray, np.ndarray]:
        """Lower and upper end of the interval of the expected response."""
        X = self._new(X)
        found = self.fit_.predict(X, interval=interval, threads=self.threads)
        return found["lower"], found["upper"]


def _has_levels(X: Any) -> bool:
    """Whether a value is a data frame with text or categories."""
    origin, frame = _tables.library(X), type(X).__name__ == "DataFrame"
    if origin == "polars" and frame:
        return any(not (dtype.is_numeric() or str(dtype) == "Boolean") for dtype in X.dtypes)
    if origin == "pandas" and frame:
        from pandas.api import types

        kinds = (types.is_string_dtype, types.is_object_dtype)
        return any(isinstance(dtype, types.CategoricalDtype) or any(kind(dtype) for kind in kinds) for dtype in X.dtypes)
    return False


class AustereLogisticRegression(ClassifierMixin, _Austere):
    """Logistic regression for two classes; probabilities are averaged over the posterior.

    Parameters
    ----------
    prior : prior, default: normal with sd 2.5 divided by each column's sd; of two-valued columns, 5 divided by their distance
    draws, chains, tolerance, threads
        As of :func:`austerity.sample`.
    fit_intercept : bool
    random_state : int or RandomState
        ``None`` gives the same draws every time.
    options : dict
        Further options of :func:`austerity.sample`.

    ``X`` may be a pandas or polars DataFrame with text and categories. ``coef_names_`` names the entries of ``coef_``: the columns of
    ``X``, and ``column=level`` for text. ``fit_`` uses the same names.

    Examples
    --------
    >>> import numpy as np
    >>> from austerity import AustereLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = AustereLogisticRegression(draws=500).fit(X, X[:, 0] > 0)
    >>> model.score(X, X[:, 0] > 0) > 0.95
    True
    """

    def __init__(
        self,
        prior: Any = None,
        *,
        draws: Optional[int] = 1000,
        chains: int = 4,
        tolerance: Optional[float] = None,
        fit_intercept: bool = True,
        threads: int = 0,
        random_state: Any = None,
        options: Optional[Dict[str, Any]] = None,
    ) -> None:
        self.prior = prior
        self.draws = draws
        self.chains = chains
        self.tolerance = tolerance
        self.fit_intercept = fit_intercept
        self.threads = threads
        self.random_state = random_state
        self.options = options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _model(self, X: Any, y: np.ndarray, **given: Any) -> Regression:
        return Logistic(X, y, prior=self.prior, intercept=self.fit_intercept, **given)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AustereLogisticRegression":
        """Samples the posterior. ``sample_weight`` says how many times each row counts; rows of weight 0 are left out."""
        X, y, weights = self._taken(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_ = unique_labels(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass; "
                f"there are {len(self.classes_)} classes"
            )
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}")
        self._sample(X, (y == self.classes_[1]).astype(float), weights)
        self.coef_ = self._coefficients.reshape(1, -1)
        self.intercept_ = np.array([self._offset])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, averaged over the posterior."""
        success = self._mean(X)
        return np.column_stack([1.0 - success, success])

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the averaged probability."""
        success = np.clip(self._mean(X), 1e-300, 1.0 - 1e-16)
        return np.log(success) - np.log1p(-success)

    def predict(self, X: Any) -> np.ndarray:
        """The more probable class."""
        success = self._mean(X)
        return self.classes_[(success > 0.5).astype(int)]


class AustereRegressor(RegressorMixin, _Austere):
    """Regression of real responses or counts; predictions are averaged over the posterior.

    ``family`` is that of a model of numbers, such as ``"linear"``, ``"poisson"``, ``"student"`` or ``"student:7"``; the rest as for :class:`AustereLogisticRegression`.
    """

    def __init__(
        self,
        family: str = "linear",
        *,
        prior: Any = None,
        draws: Optional[int] = 1000,
        chains: int = 4,
        tolerance: Optional[float] = None,
        fit_intercept: bool = True,
        threads: int = 0,
        random_state: Any = None,
        options: Optional[Dict[str, Any]] = None,
    ) -> None:
        self.family = family
        self.prior = prior
        self.draws = draws
        self.chains = chains
        self.tolerance = tolerance
        self.fit_intercept = fit_intercept
        self.threads = threads
        self.random_state = random_state
        self.options = options

    def _model(self, X: Any, y: np.ndarray, **given: Any) -> Regression:
        families = {one.family: one for one in Regression.__subclasses__() if one.numeric}
        name, colon, number = self.family.partition(":")
        if name not in families:
            raise ValueError(f"family is {self.family!r}; allowed: {', '.join(families)}")
        if colon:
            given["nu"] = float(number)
        return families[name](X, y, prior=self.prior, intercept=self.fit_intercept, **given)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "AustereRegressor":
        """Samples the posterior. ``sample_weight`` says how many times each row counts; rows of weight 0 are left out."""
        X, y, weights = self._taken(X, y, sample_weight, y_numeric=True)
        if len(y) < 2:
            raise ValueError("n_samples=1: one sample tells nothing of the noise; give at least two")
        self._sample(X, np.asarray(y, dtype=np.float64), weights)
        self.coef_ = self._coefficients
        self.intercept_ = self._offset
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Expected responses."""
        return self._mean(X)
