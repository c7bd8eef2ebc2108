"""What "trusted" promises: modes and priors."""

import numpy as np
import pytest

import austerity as au


def mixture(rng, start):
    """Two components with one weight: the posterior is the same when their means change places."""
    x = rng.normal(np.where(rng.random(3000) < 0.5, -1.5, 1.5), 1.0)

    def log_likelihood(theta, rows):
        return np.logaddexp(-0.5 * (x[rows] - theta[0]) ** 2, -0.5 * (x[rows] - theta[1]) ** 2)

    return au.Model(log_likelihood, lambda theta: -0.005 * theta @ theta, rows=len(x), start=start, names=["a", "b"])


@pytest.mark.parametrize("start", [(-0.5, 0.5), (0.5, -0.5)])
def test_a_mixture_has_both_modes_from_either_start(rng, start):
    fit = au.sample(mixture(rng, start), draws=2000, seed=1, progress=False)
    assert fit.trusted, fit.reasons
    found = fit.diagnose()
    modes = next(check for check in found["checks"] if check["check"] == "modes")
    assert modes["passed"] is True and "cross every" in modes["words"]
    # By symmetry each holds half: within five Monte Carlo errors.
    for mode in found["modes"]["modes"]:
        assert abs(mode["share"] - 0.5) < 5 * mode["error"] < 0.15
    share = np.mean(fit.draws["a"] < fit.draws["b"])
    assert abs(share - 0.5) < 5 * found["modes"]["modes"][0]["error"]


def test_a_mixture_under_a_walk_is_not_trusted(rng):
    with pytest.warns(au.NotTrustedWarning, match="2 modes that matter"):
        fit = au.sample(mixture(rng, (-0.5, 0.5)), draws=500, seed=1, proposal="adaptive", progress=False)
    modes = next(check for check in fit.diagnose()["checks"] if check["check"] == "modes")
    assert modes["passed"] is False and abs(modes["figure"] - 0.5) < 0.02


def test_one_mode_of_ones_own_model_is_trusted(rng):
    x = rng.normal(1.0, 2.0, size=3000)

    def log_likelihood(theta, rows):
        return -theta[1] - 0.5 * ((x[rows] - theta[0]) / np.exp(theta[1])) ** 2

    model = au.Model(log_likelihood, lambda theta: -0.005 * theta @ theta, rows=len(x), start=[0.0, 0.0], names=["mean", "log_sd"])
    fit = au.sample(model, draws=2000, seed=1, progress=False)
    assert fit.trusted, fit.reasons
    modes = next(check for check in fit.diagnose()["checks"] if check["check"] == "modes")
    assert modes["passed"] is True and "starts" in modes["words"]


def test_the_checks_say_what_was_looked_at(rng):
    X = rng.normal(size=(5000, 2))
    y = 1e4 + 2e3 * X[:, 0] + 1e3 * rng.normal(size=5000)
    fit = au.sample(au.Linear(X, y), seed=1, progress=False)
    checks = {check["check"]: check["passed"] for check in fit.diagnose()["checks"]}
    assert fit.trusted and checks["prior-conflict"] is True and checks["modes"] is True, checks
    narrow = au.Linear(X, y, priors={"sigma": au.HalfNormal(1e3), "x1": au.Normal(2e3, 10)})
    assert au.sample(narrow, seed=1, progress=False).trusted
