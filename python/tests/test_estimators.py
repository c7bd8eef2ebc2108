"""Estimators against scikit-learn's own checks."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import austerity as au
from sklearn.utils.estimator_checks import parametrize_with_checks

# One thread and few draws: hundreds of tiny fits.
FEW = {"draws": 200, "chains": 2, "threads": 1, "options": {"warmup": 200}}


@parametrize_with_checks([au.AustereLogisticRegression(**FEW), au.AustereRegressor(**FEW)])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


def test_coefficients_and_probabilities(logistic):
    X, y = logistic
    model = au.AustereLogisticRegression(au.Normal(1.0), draws=500, random_state=3).fit(X, y)
    assert np.abs(model.coef_ - [[1.0, -0.5, 0.2]]).max() < 0.15 and model.trusted_
    assert np.allclose(model.predict_proba(X[:9]).sum(1), 1.0)
    lower, upper = model.predict_interval(X[:9])
    assert np.all(lower < model.predict_proba(X[:9])[:, 1]) and np.all(model.predict_proba(X[:9])[:, 1] < upper)


def test_families_of_the_regressor(rng):
    X = rng.normal(size=(1000, 2))
    y = rng.poisson(np.exp(0.3 * X[:, 0]))
    assert abs(au.AustereRegressor("poisson", draws=300).fit(X, y).coef_[0] - 0.3) < 0.1
    with pytest.raises(ValueError, match="family"):
        au.AustereRegressor("gamma").fit(X, y)
