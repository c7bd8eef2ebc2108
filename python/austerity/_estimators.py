"""Estimators in the manner of scikit-learn: posterior means as predictions, the whole posterior in ``fit_``."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted

from ._fit import Fit
from ._models import Linear, Logistic, Poisson, Regression, Student
from ._sample import sample

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:  # pragma: no cover

    def validate_data(estimator: Any, *arrays: Any, **options: Any) -> Any:
        return estimator._validate_data(*arrays, **options)


class _Austere(BaseEstimator):
    """What the estimators share."""

    def _model(self, X: np.ndarray, y: np.ndarray) -> Regression:
        raise NotImplementedError

    def _sample(self, X: np.ndarray, y: np.ndarray) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.random_state is not None else 1
        options: Dict[str, Any] = dict(self.options or {})
        self.fit_: Fit = sample(
            self._model(X, y),
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
        # A column that never changes has no say.
        self._coefficients = np.array([means.get(f"x{j + 1}", 0.0) for j in range(X.shape[1])])
        self._offset = means.get("intercept", 0.0)

    def _mean(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "fit_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.fit_.predict(X, threads=self.threads)["mean"]

    def predict_interval(self, X: Any, interval: float = 0.95) -> Tuple[np.ndarray, np.ndarray]:
        """Lower and upper end of the interval of the expected response."""
        check_is_fitted(self, "fit_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        found = self.fit_.predict(X, interval=interval, threads=self.threads)
        return found["lower"], found["upper"]


class AustereLogisticRegression(ClassifierMixin, _Austere):
    """Logistic regression for two classes; probabilities are averaged over the posterior.

    Parameters
    ----------
    prior : prior, default: normal with sd 2.5 divided by each column's sd; of two-valued columns, 5 divided by their range
    draws, chains, tolerance, threads
        As of :func:`austerity.sample`.
    fit_intercept : bool
    random_state : int or RandomState
        ``None`` gives the same draws every time.
    options : dict
        Further options of :func:`austerity.sample`.

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

    def _model(self, X: np.ndarray, y: np.ndarray) -> Regression:
        return Logistic(X, y, prior=self.prior, intercept=self.fit_intercept)

    def fit(self, X: Any, y: Any) -> "AustereLogisticRegression":
        """Samples the posterior."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = unique_labels(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass; "
                f"there are {len(self.classes_)} classes"
            )
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_[0]!r}")
        self._sample(X, (y == self.classes_[1]).astype(float))
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
    """Linear, Student-t or Poisson regression; predictions are averaged over the posterior.

    ``family`` is ``"linear"``, ``"student"`` or ``"poisson"``; the rest as for :class:`AustereLogisticRegression`.
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

    def _model(self, X: np.ndarray, y: np.ndarray) -> Regression:
        families = {"linear": Linear, "student": Student, "poisson": Poisson}
        if self.family not in families:
            raise ValueError(f"family is {self.family!r}; allowed: {', '.join(families)}")
        return families[self.family](X, y, prior=self.prior, intercept=self.fit_intercept)

    def fit(self, X: Any, y: Any) -> "AustereRegressor":
        """Samples the posterior."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if len(y) < 2:
            raise ValueError("n_samples=1: one sample tells nothing of the noise; give at least two")
        self._sample(X, np.asarray(y, dtype=np.float64))
        self.coef_ = self._coefficients
        self.intercept_ = self._offset
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Expected responses."""
        return self._mean(X)
