"""Estimators against scikit-learn's own checks."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import austerity as au
from sklearn.utils.estimator_checks import parametrize_with_checks

# One thread and few draws: hundreds of tiny fits.
FEW = {"draws": 200, "chains": 2, "threads": 1, "options": {"warmup": 200}}


def expected(estimator):
    """What a posterior by sampling cannot do, and why."""
    why = "a row of weight 2 and the same row twice differ by Monte Carlo error; test_weights_count_rows compares posteriors"
    checks = {"check_sample_weight_equivalence_on_dense_data": why, "check_sample_weights_invariance": why}
    if isinstance(estimator, au.AustereRegressor):
        why = "the response of these checks is linear in X without noise, so that the posterior of the noise has no mode"
        checks.update(check_sample_weights_shape=why, check_sample_weights_not_overwritten=why)
    return checks


@parametrize_with_checks([au.AustereLogisticRegression(**FEW), au.AustereRegressor(**FEW)], expected_failed_checks=expected)
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
    for family in ("poisson", "negative-binomial"):
        assert abs(au.AustereRegressor(family, draws=300).fit(X, y).coef_[0] - 0.3) < 0.1
    with pytest.raises(ValueError, match="family"):
        au.AustereRegressor("gamma").fit(X, y)


def test_weights_count_rows(logistic):
    X, y = logistic
    X, y = X[:2000], y[:2000]
    weights = np.arange(2000) % 4
    one = au.AustereLogisticRegression(au.Normal(1.0), draws=2000).fit(X, y, sample_weight=weights)
    other = au.AustereLogisticRegression(au.Normal(1.0), draws=2000).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for name in one.fit_.draws:
        a, b = one.fit_.draws[name], other.fit_.draws[name]
        # Means of some 2000 effective draws each: five standard errors of their difference are 0.16 posterior sd.
        assert abs(a.mean() - b.mean()) < 0.16 * b.std() and abs(a.std() / b.std() - 1) < 0.1, name
    without = au.AustereLogisticRegression(au.Normal(1.0), draws=2000).fit(X, y)
    assert max(abs(without.fit_.draws[n].mean() - other.fit_.draws[n].mean()) / other.fit_.draws[n].std() for n in one.fit_.draws) > 0.16
    ones = au.AustereLogisticRegression(au.Normal(1.0), draws=2000).fit(X, y, sample_weight=np.ones(2000))
    assert np.array_equal(ones.coef_, without.coef_)
    for wrong, match in [(-weights, "row 1: -1 is negative"), (0 * weights, "at least one non-zero"), (weights[:5], "shape|inconsistent")]:
        with pytest.raises(ValueError, match=match):
            au.AustereRegressor(draws=100).fit(X, y, sample_weight=wrong)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_columns_and_names_of_data_frames(library, rng):
    module = pytest.importorskip(library)
    n = 1500
    data = {"age": rng.normal(size=n).tolist(), "city": rng.choice(["Bonn", "Jena", "Ulm"], size=n, p=[0.2, 0.5, 0.3]).tolist(), "same": [1.0] * n}
    y = np.array(data["age"]) + np.array([{"Bonn": 2.0, "Jena": 0.0, "Ulm": -1.0}[c] for c in data["city"]]) + rng.normal(size=n)
    frame = module.DataFrame(data)
    model = au.AustereRegressor(draws=300).fit(frame, y, sample_weight=np.arange(n) % 2 + 1)
    assert model.coef_names_ == ["age", "city=Bonn", "city=Ulm", "same"]
    assert np.abs(model.coef_ - [1.0, 2.0, -1.0, 0.0]).max() < 0.4
    assert list(model.feature_names_in_) == ["age", "city", "same"] and model.n_features_in_ == 3
    assert set(model.fit_.coefficients) == {"intercept", "age", "city=Bonn", "city=Ulm"}
    assert np.allclose(model.predict(frame[:5]), model.predict(frame)[:5])
    assert model.predict_interval(frame[:5])[0].shape == (5,)
    classifier = au.AustereLogisticRegression(draws=300).fit(frame, np.where(y > 0, "a", "b"))
    assert classifier.coef_.shape == (1, 4) and classifier.score(frame, np.where(y > 0, "a", "b")) > 0.8
    with pytest.raises(ValueError, match="data frame with text"):
        model.predict(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="feature names|[Ff]eature"):
        model.predict(frame[["age", "city"]])
    # Columns of numbers have their names, too.
    numeric = au.AustereRegressor(draws=200).fit(frame[["age", "same"]], y)
    assert numeric.coef_names_ == ["age", "same"] and numeric.fit_.coefficients == ["intercept", "age"]
    assert numeric.predict(frame[["age", "same"]][:4]).shape == (4,)
