"""Each way to get no posterior has its own remedy; "run longer" is said only where it helps."""

import warnings

import numpy as np
import pytest

import austerity as au


def fitted(model, **options):
    """The fit, and all that it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = au.sample(model, progress=False, **{"draws": 500, "chains": 2, "warmup": 300, **options})
    return fit, "\n".join([str(fit), fit._repr_html_(), *fit.reasons, *(str(w.message) for w in caught)])


def refused(fit, said, *words):
    assert not fit.trusted
    assert all(word in " ".join(fit.reasons) for word in words), fit.reasons
    # Neither the sentence nor the advice to go on.
    assert "longer" not in said.lower() and "resume=True" not in said, said


def normal(y, prior=lambda t: 0.0, **options):
    def log_likelihood(theta, rows):
        return -theta[1] - 0.5 * ((y[rows] - theta[0]) * np.exp(-theta[1])) ** 2

    options = {"rows": len(y), "start": np.zeros(2), "names": ["mean", "log_sd"], **options}
    return au.Model(log_likelihood, prior, **options)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_start_that_never_moves(rng):
    y = rng.normal(size=2000)
    fit, said = fitted(normal(y, scale=[1.0, 1.0]), proposal="random-walk:50", rule="exact")
    refused(fit, said, "moved from the start", "smaller steps", "scale")
    # All but the start is impossible.
    walled = normal(y, prior=lambda t: 0.0 if abs(t[0]) < 1e-9 else -np.inf, scale=[1.0, 0.02])
    fit, said = fitted(walled, proposal="random-walk:0.5", rule="exact")
    refused(fit, said, "moved from the start", "probability 0", "support")


def test_a_flat_direction(rng):
    y = rng.normal(size=2000)
    flat = normal(y, start=np.zeros(3), names=["mean", "log_sd", "free"])
    fit, said = fitted(flat)
    refused(fit, said, "flat", "free", "proper prior")
    assert "mean," not in fit.reasons[0]
    fit, said = fitted(normal(y, start=np.zeros(3), names=["mean", "log_sd", "free"], scale=[0.02, 0.02, 1.0]))
    refused(fit, said, "flat", "free", "proper prior")
    both = au.Model(lambda t, r: -0.5 * (y[r] - t[0] - t[1]) ** 2, lambda t: 0.0, rows=2000, start=[0.1, 0.2], names=["a", "b"])
    fit, said = fitted(both)
    refused(fit, said, "flat", "a and b", "proper prior")
    # Power: a proper prior, however wide, is no flat direction.
    wide = normal(y, prior=lambda t: -0.5 * (t[2] / 100) ** 2, start=np.zeros(3), names=["mean", "log_sd", "free"])
    fit, _ = fitted(wide, draws=2000, warmup=1000)
    assert not any("flat" in reason for reason in fit.reasons)


def test_flat_priors_on_columns_that_repeat_each_other(rng):
    x = rng.normal(size=2000)
    X = np.column_stack([x, 2 * x])
    y = (rng.random(2000) < 1 / (1 + np.exp(-x))).astype(float)
    with pytest.raises(ValueError, match="proper prior") as caught:
        au.sample(au.Logistic(X, y, prior=au.Flat()), draws=200, progress=False)
    assert "x1" in str(caught.value) and "x2" in str(caught.value) and "longer" not in str(caught.value)


@pytest.mark.parametrize("family, value", [(au.Logistic, 0.0), (au.Logistic, 1.0), (au.Poisson, 0.0)])
def test_responses_that_are_all_alike(rng, family, value):
    X = rng.normal(size=(3000, 2))
    fit, said = fitted(family(X, np.full(3000, value)), draws=30, chains=2)
    refused(fit, said, f"Every response is {value:.0f}", "priors")
    assert any("in every row" in remark for remark in fit.remarks)
    # Enough draws of what the prior says are what was asked for.
    fit, said = fitted(family(X, np.full(3000, value)), draws=4000, chains=4, warmup=1000)
    assert fit.trusted or "longer" not in said.lower()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("y", [2.5, 0.0])
def test_a_degenerate_joint_mode(y):
    own = normal(np.full(500, y))
    try:
        fit, said = fitted(own)
    except au.SamplingError as error:
        fit, said = error.fit, str(error.fit)
    refused(fit, said, "degenerate", "log_sd", "prior")
    fit, said = fitted(normal(np.random.default_rng(1).normal(y, 1.0, size=500)), draws=2000, warmup=1000)
    assert not any("degenerate" in reason for reason in fit.reasons)


def test_a_response_that_the_columns_reproduce(rng):
    X = rng.normal(size=(2000, 2))
    fit, said = fitted(au.Linear(X, X @ [1.0, 2.0]), draws=2000)
    refused(fit, said, "reproduce the response exactly", "sigma")
    fit, _ = fitted(au.Linear(X, X @ [1.0, 2.0] + 1e-3 * rng.normal(size=2000)), draws=2000)
    assert fit.trusted, fit.reasons


def test_chains_that_only_need_more_draws_are_told_so(logistic):
    X, y = logistic
    fit, said = fitted(au.Logistic(X, y), draws=20, proposal="adaptive", rule="exact", warmup=50)
    assert not fit.trusted and "Run longer" in said and "resume=True" in said
