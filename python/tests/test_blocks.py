"""Models of one's own with structure: blocks, priors, data by name; against the package's own families."""

import math

import numpy as np
import pytest

import austerity as au

lgamma = np.vectorize(math.lgamma)


def near(own, other, scale):
    """Means within .25 sd, sds within 20 %: far beyond Monte Carlo errors of 600 draws in four chains, false alarms below 1e-6."""
    return abs(own.mean() - other.mean()) < 0.25 * scale and abs(own.std() / other.std() - 1) < 0.2


def negative_binomial(rng):
    X = rng.normal(size=(5_000, 2))
    y = rng.negative_binomial(2.0, 2.0 / (2.0 + np.exp(0.4 + X @ [0.3, -0.2]))).astype(float)

    def log_likelihood(p, rows):
        eta, phi, y = p["alpha"] + rows["X"] @ p["beta"], p["phi"], rows["y"]
        return lgamma(y + phi) - math.lgamma(phi) + y * eta + phi * np.log(phi) - (y + phi) * np.logaddexp(eta, math.log(phi))

    blocks = {"alpha": au.Real(prior=au.Normal(5)), "beta": au.Real(2, prior=au.Normal(1)), "phi": au.Positive(prior=au.HalfNormal(3))}
    built_in = au.NegativeBinomial(X, y, prior=au.Normal(1), prior_intercept=au.Normal(5), priors={"phi": au.HalfNormal(3)})
    names = {"intercept": ("alpha", ()), "x1": ("beta", 0), "x2": ("beta", 1), "phi": ("phi", ())}
    return log_likelihood, blocks, {"X": X, "y": y}, built_in, names


def ordered_logit(rng):
    x = rng.normal(size=5_000)
    y = (0.7 * x + rng.logistic(size=5_000))[:, None] > np.array([-1.0, 0.2, 1.5])
    y = y.sum(axis=1)

    def log_likelihood(p, rows):
        inner = 1 / (1 + np.exp(p["slope"] * rows["x"][:, None] - p["cut"]))
        up_to = np.column_stack([np.zeros(len(inner)), inner, np.ones(len(inner))])
        return np.log(np.take_along_axis(np.diff(up_to), rows["y"][:, None], axis=1)[:, 0])

    blocks = {"slope": au.Real(prior=au.Normal(2)), "cut": au.Ordered(3, prior=au.Normal(20))}
    wide = {"cut2": au.HalfNormal(50), "cut3": au.HalfNormal(50)}
    built_in = au.OrderedLogit(x[:, None], y, prior=au.Normal(2), prior_intercept=au.Normal(20), priors=wide)
    return log_likelihood, blocks, {"x": x, "y": y}, built_in, {"x1": ("slope", ()), "cut2": None, "cut3": None}


def weibull(rng):
    x = rng.normal(size=4_000)
    t = np.exp(0.5 + 0.3 * x) * rng.weibull(1.5, size=4_000)
    died = (t < 3).astype(float)
    t = np.minimum(t, 3)

    def log_likelihood(p, rows):
        z = p["shape"] * (np.log(rows["t"]) - p["alpha"] - p["slope"] * rows["x"])
        return rows["died"] * (np.log(p["shape"]) + z - np.log(rows["t"])) - np.exp(z)

    blocks = {"alpha": au.Real(prior=au.Normal(5)), "slope": au.Real(prior=au.Normal(1)), "shape": au.Positive(prior=au.HalfNormal(3))}
    built_in = au.WeibullSurvival(
        x[:, None], t, died, prior=au.Normal(1), prior_intercept=au.Normal(5), priors={"shape": au.HalfNormal(3)}
    )
    names = {"intercept": ("alpha", ()), "x1": ("slope", ()), "shape": ("shape", ())}
    return log_likelihood, blocks, {"x": x, "t": t, "died": died}, built_in, names


@pytest.mark.parametrize("case", [negative_binomial, ordered_logit, weibull])
def test_blocks_draw_what_the_families_draw(case, rng):
    log_likelihood, blocks, data, built_in, names = case(rng)
    own = au.sample(au.Model(log_likelihood, parameters=blocks, data=data), draws=600, seed=3, progress=False)
    other = au.sample(built_in, draws=600, seed=4, progress=False)
    assert own.trusted, own.reasons
    for block, one in blocks.items():
        assert own.draws[block].shape == (own.n_chains, own.n_draws, *one.shape)
    # Few rows are read: there is a surrogate without derivatives.
    assert own.diagnose()["data_share"] < 0.5
    for name, place in names.items():
        # Cut points of the families begin at 0.
        cut = own.draws.get("cut")
        draws = cut[..., int(name[3]) - 1] - cut[..., 0] if place is None else own.draws[place[0]][(..., place[1]) if place[1] != () else ...]
        assert near(draws, other.draws[name], other.draws[name].std()), name
        # The partner is one sd off.
        assert not near(draws + other.draws[name].std(), other.draws[name], other.draws[name].std())


def test_a_mixture_says_that_its_labels_switch_and_order_ends_it(rng):
    y = np.where(rng.random(4_000) < 0.5, rng.normal(-1.5, 1, size=4_000), rng.normal(1.5, 1, size=4_000))

    def log_likelihood(p, rows):
        a, b = (np.log(p["share"][k]) - 0.5 * (rows["y"] - p["mean"][k]) ** 2 for k in range(2))
        return np.logaddexp(a, b)

    def fit(mean):
        blocks = {"share": au.Simplex(2), "mean": mean}
        start = {"mean": [-1.0, 1.0], "share": [0.5, 0.5]}
        return au.sample(au.Model(log_likelihood, parameters=blocks, data={"y": y}, start=start), draws=600, seed=3, progress=False)

    with pytest.warns(UserWarning, match="labels switch"):
        loose = fit(au.Real(2, prior=au.Normal(3)))
    assert any("mean[0]" in text and "mean[1]" in text for text in loose.remarks)
    rising = fit(au.Ordered(2, prior=au.Normal(3)))
    assert rising.trusted and not any("labels" in text for text in rising.remarks)
    shares, means = rising.draws["share"], rising.draws["mean"]
    assert shares.shape[-1] == 2 and np.allclose(shares.sum(axis=-1), 1)
    assert abs(means[..., 0].mean() + 1.5) < 0.2 and abs(means[..., 1].mean() - 1.5) < 0.2 and abs(shares.mean(axis=(0, 1))[0] - 0.5) < 0.1


def test_values_keep_their_constraints(rng):
    blocks = {"p": au.Interval(0, 1), "shares": au.Simplex(3), "scale": au.Positive((2, 2)), "rising": au.Ordered(3, prior=au.Normal(1))}
    model = au.Model(lambda p, rows: np.zeros(len(rows)), lambda p: -0.5 * (p["scale"] ** 2).sum(), rows=50, parameters=blocks)
    fit = au.sample(model, draws=1500, seed=5, progress=False)
    draws = fit.draws
    assert ((draws["p"] > 0) & (draws["p"] < 1)).all() and (draws["scale"] > 0).all()
    assert (np.diff(draws["rising"], axis=-1) > 0).all() and draws["scale"].shape[2:] == (2, 2)
    # Jacobians: uniform on the interval and on the simplex, half-normal scales.
    assert abs(draws["p"].mean() - 0.5) < 0.05 and abs(draws["p"].std() - 12**-0.5) < 0.03
    assert np.abs(draws["shares"].mean(axis=(0, 1)) - 1 / 3).max() < 0.04
    assert np.abs(draws["scale"].mean(axis=(0, 1)) - (2 / math.pi) ** 0.5).max() < 0.12
    assert set(fit.to_pandas().columns) >= {"p", "shares[0]", "rising[2]"} if _has("pandas") else True


def _has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_numba_gets_values_and_arrays_by_name(rng):
    numba = pytest.importorskip("numba")
    waits = rng.exponential(0.5, size=20_000)

    @numba.cfunc(au.NumbaModel.signature())
    def log_likelihood(theta, d, data, first, count, out):
        for i in range(count):
            out[i] = math.log(theta[0]) - theta[0] * data[first + i]

    blocks = {"rate": au.Positive(prior=au.HalfNormal(5))}
    fit = au.sample(au.NumbaModel(log_likelihood, {"waits": waits}, parameters=blocks), draws=600, seed=2, progress=False)
    assert fit.trusted and abs(fit.draws["rate"].mean() - 1 / waits.mean()) < 0.2 * 2 / math.sqrt(20_000)
    assert fit.diagnose()["data_share"] < 0.05


@pytest.mark.slow
def test_a_million_rows_of_numba_are_hardly_read(rng):
    numba = pytest.importorskip("numba")
    n, d = 1_000_000, 5
    X = rng.normal(size=(n, d))
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ np.linspace(-0.5, 0.5, d)))).astype(float)

    @numba.cfunc(au.NumbaModel.signature())
    def log_likelihood(theta, d, data, first, count, out):
        for i in range(count):
            base = (first + i) * (d + 1)
            eta = 0.0
            for j in range(d):
                eta += theta[j] * data[base + j]
            s = 2.0 * data[base + d] - 1.0
            out[i] = -math.log1p(math.exp(-s * eta))

    model = au.NumbaModel(log_likelihood, {"X": X, "y": y}, parameters={"beta": au.Real(d, prior=au.Normal(1))})
    fit = au.sample(model, draws=1000, seed=2, progress=False)
    assert fit.trusted and fit.diagnose()["data_share"] <= 0.01


def test_bad_blocks_are_refused(rng):
    y = {"y": rng.normal(size=100)}

    def make(parameters, **more):
        return au.Model(lambda p, rows: -0.5 * (rows["y"] - p["a"]) ** 2, parameters=parameters, **{"data": y, **more})

    for parameters, more, error, match in [
        ({}, {}, TypeError, "dict of blocks"),
        ({"a": au.Real}, {}, TypeError, r"Real\(…\)"),
        ({"a": 3}, {}, TypeError, "au.Real"),
        ({"a": au.Positive(prior=au.Normal(1))}, {}, ValueError, "half-normal"),
        ({"a": au.Real(prior=au.HalfNormal(1))}, {}, ValueError, "normal:1"),
        ({"a": au.Real()}, {"start": {"b": 1.0}}, ValueError, "no block"),
        ({"a": au.Real()}, {"start": {"a": [1.0, 2.0]}}, ValueError, "shape"),
        ({"a": au.Ordered(2)}, {"start": {"a": [1.0, 1.0]}}, ValueError, "rising"),
        ({"a": au.Positive()}, {"start": {"a": 0.0}}, ValueError, "positive"),
        ({"a": au.Simplex(2)}, {"start": {"a": [0.2, 0.2]}}, ValueError, "sum to 1"),
        ({"a": au.Interval(0, 1)}, {"start": {"a": 1.0}}, ValueError, "between"),
        ({"a": au.Real()}, {"data": {"y": np.zeros(3), "x": np.zeros(4)}}, ValueError, "one entry per row"),
        ({"a": au.Real()}, {"names": ["a"]}, TypeError, "names"),
        ({"a": au.Real()}, {"rows": 10}, TypeError, "leave rows out"),
    ]:
        with pytest.raises(error, match=match):
            make(parameters, **more)
    for wrong in (lambda: au.Interval(1, 0), lambda: au.Simplex(1), lambda: au.Real(0), lambda: au.Real("a")):
        with pytest.raises((ValueError, TypeError)):
            wrong()

    def renames(p, rows):
        p["b"] = 1.0
        return np.zeros(len(rows["y"]))

    with pytest.raises(TypeError, match="item assignment"):
        au.sample(au.Model(renames, parameters={"a": au.Real()}, data=y), progress=False)

    def strange(p, rows):
        values = -0.5 * (rows["y"] - p["a"]) ** 2
        return np.where(rows["y"] == y["y"][42], np.nan, values)

    with pytest.raises(ValueError, match="row 42 is not a number"):
        au.sample(au.Model(strange, parameters={"a": au.Real()}, data=y), progress=False)
