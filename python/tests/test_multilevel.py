"""Group terms: a fit by formula, its effects by group, predictions of old and new groups, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import austerity as au

QUICK = dict(draws=400, warmup=200, chains=2, seed=3, progress=False)
SITES = ["Bonn", "Gera", "Hof", "Jena", "Kiel", "Ulm"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    site = rng.integers(len(SITES), size=600)
    x = rng.normal(size=600)
    effect = np.linspace(-1.0, 1.0, len(SITES))
    p = 1 / (1 + np.exp(0.2 - 0.5 * x - effect[site]))
    return {"x": x, "site": np.array(SITES)[site], "y": (rng.uniform(size=600) < p).astype(float)}


@pytest.fixture(scope="module")
def fitted(people):
    return au.fit("y ~ x + (1 | site)", people, family="logistic", prior_group=au.HalfNormal(1.0), keep_groups=True, **QUICK)


def test_effects_of_groups_are_in_the_fit(fitted):
    rows = fitted.groups["site"]
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    assert [row["level"] for row in rows] == SITES
    assert {row["term"] for row in rows} == {"intercept"}
    means = [row["mean"] for row in rows]
    assert means[0] < -0.3 < 0.3 < means[-1]
    assert all(row["q025"] < row["mean"] < row["q975"] for row in rows)
    assert "sd(site:intercept)" in str(fitted)
    assert au.Fit is not None and "groups" not in fitted.diagnose()


def test_known_groups_differ_and_new_ones_are_less_certain(fitted):
    made = fitted.predict({"x": np.zeros(3), "site": np.array(["Bonn", "Ulm", "Rome"])})
    mean, lower, upper = (np.asarray(made[name]) for name in ("mean", "lower", "upper"))
    assert mean[0] < mean[2] < mean[1]
    assert upper[2] - lower[2] > upper[0] - lower[0]


def test_what_cannot_be_fitted_is_refused(people):
    for formula, words in [
        ("y ~ x + (1 | site) + (1 | x)", "one grouping"),
        ("y ~ 1 + (x | site)", "add"),
        ("y ~ x + (1 | nowhere)", "nowhere"),
    ]:
        with pytest.raises(Exception, match=words):
            au.fit(formula, people, family="logistic", **QUICK)
    with pytest.raises(Exception, match="prior_group"):
        au.fit("y ~ x", people, family="logistic", prior_group="half-normal:1", **QUICK)
