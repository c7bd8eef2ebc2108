"""Models of one's own: NumPy, numba, JAX."""

import math
import traceback

import numpy as np
import pytest

import austerity as au


@pytest.fixture
def waits(rng):
    return rng.exponential(0.5, size=30_000)


def posterior(waits):
    """Mode and sd of the log rate under a standard normal prior, by Newton's method."""
    theta = 0.0
    for _ in range(50):
        slope = len(waits) - math.exp(theta) * waits.sum() - theta
        curve = math.exp(theta) * waits.sum() + 1
        theta += slope / curve
    return theta, 1 / math.sqrt(curve)


def model(waits, **options):
    options = {"start": [0.0], "names": ["log_rate"], **options}
    return au.Model(
        lambda theta, rows: theta[0] - np.exp(theta[0]) * waits[rows], lambda theta: -0.5 * theta[0] ** 2, rows=len(waits), **options
    )


@pytest.mark.parametrize("options", [{"rule": "exact"}, {"rule": "sequential"}, {"scale": [0.006], "start": [0.69]}])
def test_numpy_functions_draw_their_posterior(waits, options):
    own = {k: options.pop(k) for k in ("scale", "start") if k in options}
    fit = au.sample(model(waits, **own), draws=1200, seed=4, progress=False, **options)
    mode, sd = posterior(waits)
    assert abs(fit.draws["log_rate"].mean() - mode) < 0.2 * sd
    assert abs(fit.draws["log_rate"].std() / sd - 1) < 0.15
    assert fit.diagnose()["family"] == "own"
    with pytest.raises(ValueError, match="function of the user's own"):
        fit.predict(np.zeros((2, 1)))


def test_a_run_of_ones_own_goes_on(waits, tmp_path):
    au.sample(model(waits), draws=200, out=tmp_path / "a", progress=False)
    longer = au.sample(model(waits), draws=300, out=tmp_path / "a", resume=True, progress=False)
    whole = au.sample(model(waits), draws=300, out=tmp_path / "b", progress=False)
    assert np.array_equal(longer.draws["log_rate"], whole.draws["log_rate"])


def test_exceptions_come_back_with_their_traceback(waits):
    calls = {"count": 0}

    def fails_late(theta, rows):
        calls["count"] += 1
        if calls["count"] > 3000:
            raise KeyError("no such wait")
        return theta[0] - np.exp(theta[0]) * waits[rows]

    own = au.Model(fails_late, lambda theta: 0.0, rows=len(waits), start=[0.0])
    with pytest.raises(KeyError, match="no such wait") as caught:
        au.sample(own, draws=100_000, progress=False)
    assert "fails_late" in "".join(traceback.format_exception(caught.type, caught.value, caught.tb))
    own = au.Model(lambda t, r: waits[r], lambda theta: 1 / 0, rows=len(waits), start=[0.0])
    with pytest.raises(ZeroDivisionError):
        au.sample(own, progress=False)


@pytest.mark.parametrize("late", [False, True])
def test_nan_names_the_row(waits, late):
    seen = {"rows": 0}

    def strange(theta, rows):
        seen["rows"] += len(rows)
        values = theta[0] - np.exp(theta[0]) * waits[rows]
        if not late or seen["rows"] > 500 * len(waits):
            values[rows == 1234] = np.nan
        return values

    with pytest.raises(ValueError, match="row 1234 is not a number") as caught:
        own = au.Model(strange, lambda t: 0.0, rows=len(waits), start=[0.0])
        au.sample(own, rule="exact", draws=50_000, chains=1, warmup=20, progress=False)
    if late:
        assert caught.value.fit.n_draws > 0


@pytest.mark.parametrize(
    "answer, match",
    [
        (lambda rows: np.zeros(3), r"returned \(3,\)"),
        (lambda rows: np.zeros((len(rows), 1)), "one number for each"),
        (lambda rows: None, "one number for each|float"),
        (lambda rows: "text", "could not convert|one number"),
    ],
)
def test_answers_of_the_wrong_shape(answer, match):
    own = au.Model(lambda theta, rows: answer(rows), lambda theta: 0.0, rows=500, start=[0.0])
    with pytest.raises((ValueError, TypeError), match=match):
        au.sample(own, progress=False)


def test_float32_lists_and_strided_answers_are_taken(waits):
    def odd(theta, rows):
        values = theta[0] - np.exp(theta[0]) * waits[rows]
        return np.repeat(values, 2)[::2] if len(rows) % 2 else values.tolist() if len(rows) < 100 else values.astype(np.float32)

    assert au.sample(au.Model(odd, lambda t: 0.0, rows=1001, start=[0.0]), draws=200, progress=False).n_draws == 200


def test_bad_descriptions_are_refused(waits):
    fine = lambda *_: 0.0  # noqa: E731
    for kwargs, error, match in [
        (dict(rows=0, start=[0.0]), ValueError, "rows"),
        (dict(rows=10, start=[]), ValueError, "start"),
        (dict(rows=10, start=[np.nan]), ValueError, "finite"),
        (dict(rows=10, start=["a"]), TypeError, "numbers"),
        (dict(rows=10, start=[0.0], names=["a", "b"]), ValueError, "names"),
        (dict(rows=10, start=[0.0], scale=[-1.0]), ValueError, "scale"),
    ]:
        with pytest.raises(error, match=match):
            au.Model(fine, fine, **kwargs)
    with pytest.raises(TypeError, match="function"):
        au.Model(3, fine, rows=10, start=[0.0])
    with pytest.raises(ValueError, match="support"):
        au.sample(au.Model(lambda t, r: np.zeros(len(r)), lambda t: -np.inf, rows=10, start=[0.0]), progress=False)
    with pytest.raises(TypeError, match="start"):
        au.Model(fine, fine, rows=10)
    with pytest.raises(TypeError, match="rows"):
        au.Model(fine, fine, start=[0.0])


def test_a_surrogate_by_differences_reads_few_rows(waits):
    cheap = au.sample(model(waits), draws=600, seed=4, progress=False)
    dear = au.sample(model(waits), draws=600, seed=4, surrogate="none", progress=False)
    assert cheap.diagnose()["data_share"] < 0.1 * dear.diagnose()["data_share"]
    mode, sd = posterior(waits)
    for fit in (cheap, dear):
        assert abs(fit.draws["log_rate"].mean() - mode) < 0.2 * sd
    assert au.sample(model(waits), draws=200, surrogate="taylor2", progress=False).n_draws == 200


def numba_model(X, y, prior_compiled=True):
    numba = pytest.importorskip("numba")
    d = X.shape[1]

    @numba.cfunc(au.NumbaModel.signature())
    def log_likelihood(theta, count_parameters, data, first, count, out):
        for i in range(count):
            base = (first + i) * (count_parameters + 1)
            eta = 0.0
            for j in range(count_parameters):
                eta += theta[j] * data[base + j]
            s = 2.0 * data[base + count_parameters] - 1.0
            out[i] = -math.log1p(math.exp(-s * eta))

    @numba.cfunc(au.NumbaModel.prior_signature())
    def log_prior(theta, count_parameters):
        total = 0.0
        for j in range(count_parameters):
            total -= 0.5 * theta[j] * theta[j]
        return total

    prior = log_prior if prior_compiled else (lambda theta: -0.5 * float(theta @ theta))
    return au.NumbaModel(log_likelihood, np.column_stack([X, y]), log_prior=prior, start=np.zeros(d))


@pytest.mark.parametrize("compiled", [True, False])
def test_compiled_functions_draw_what_the_built_in_model_draws(logistic, compiled):
    X, y = logistic
    own = au.sample(numba_model(X, y, compiled), draws=1500, seed=2, progress=False)
    built_in = au.sample(au.Logistic(X, y, prior=au.Normal(1.0), intercept=False), draws=1500, seed=2, progress=False)
    for j in range(3):
        a, b = own.draws[f"theta{j + 1}"], built_in.draws[f"x{j + 1}"]
        assert abs(a.mean() - b.mean()) < 0.2 * b.std() and abs(a.std() / b.std() - 1) < 0.15


def test_threads_change_no_draw_of_a_compiled_function(logistic):
    X, y = logistic
    one = au.sample(numba_model(X, y), draws=200, threads=1, progress=False)
    two = au.sample(numba_model(X, y), draws=200, threads=2, progress=False)
    assert np.array_equal(one.draws["theta1"], two.draws["theta1"])


def test_compiled_functions_of_another_signature_are_refused(logistic):
    numba = pytest.importorskip("numba")

    @numba.cfunc("float64(float64)")
    def other(x):
        return x

    with pytest.raises(TypeError, match="signature"):
        au.NumbaModel(other, np.zeros((10, 1)), log_prior=lambda t: 0.0, start=[0.0])
    with pytest.raises(TypeError, match="cfunc"):
        au.NumbaModel("no", np.zeros((10, 1)), log_prior=lambda t: 0.0, start=[0.0])
    with pytest.raises(TypeError, match="pickled"):
        import pickle

        pickle.dumps(numba_model(*logistic))


def test_jax_functions_get_a_surrogate(logistic):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    X, y = logistic

    def log_likelihood(theta, row):
        x, outcome = row
        return -jnp.logaddexp(0.0, -(2 * outcome - 1) * (x @ theta))

    own = au.JaxModel(log_likelihood, lambda theta: -0.5 * theta @ theta, data=(X, y), start=np.zeros(3))
    fit = au.sample(own, draws=800, chains=2, seed=3, progress=False)
    built_in = au.sample(au.Logistic(X, y, prior=au.Normal(1.0), intercept=False), draws=1500, seed=2, progress=False)
    for j in range(3):
        a, b = fit.draws[f"theta{j + 1}"], built_in.draws[f"x{j + 1}"]
        assert abs(a.mean() - b.mean()) < 0.25 * b.std() and abs(a.std() / b.std() - 1) < 0.2
    # Decisions are about what the expansion leaves: far from all rows are read.
    assert fit.diagnose()["data_share"] < 0.5
    with pytest.raises(ValueError, match="one entry per row"):
        au.JaxModel(log_likelihood, lambda t: 0.0, data=(X, y[:-1]), start=np.zeros(3))
