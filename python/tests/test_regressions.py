"""Families, priors, options: what is drawn is the posterior of the model that was asked for."""

import pickle
import time

import numpy as np
import pytest

import austerity as au


def newton(X, y, sd, steps=30):
    """Mode and standard deviations of a logistic posterior with normal priors, independently of the library."""
    X = np.column_stack([np.ones(len(X)), X])
    precision = 1 / np.asarray(sd) ** 2
    beta = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-X @ beta))
        hessian = (X * (p * (1 - p))[:, None]).T @ X + np.diag(precision)
        beta = beta + np.linalg.solve(hessian, X.T @ (y - p) - precision * beta)
    return beta, np.sqrt(np.diag(np.linalg.inv(hessian)))


@pytest.mark.parametrize(
    "options",
    [{}, {"rule": "exact"}, {"rule": "sequential", "draws": 4000}, {"proposal": "langevin:1", "draws": 4000}],
)
def test_logistic_matches_an_independent_mode_and_curvature(logistic, options):
    X, y = logistic
    options = {"draws": 1500, **options}
    fit = au.sample(au.Logistic(X, y, prior=au.Normal(1.0), prior_intercept=au.Normal(10.0)), seed=3, progress=False, **options)
    mode, sd = newton(X, y, [10.0, 1.0, 1.0, 1.0])
    means = np.array([fit.draws[name].mean() for name in ["intercept", "x1", "x2", "x3"]])
    sds = np.array([fit.draws[name].std() for name in ["intercept", "x1", "x2", "x3"]])
    # A seeded run: within a fifth of a posterior sd of the mode (skewness and Monte Carlo are far below), sds within 12 %.
    assert np.abs((means - mode) / sd).max() < 0.2
    assert np.abs(sds / sd - 1).max() < 0.12
    # Power: another prior is told apart.
    narrow = au.sample(au.Logistic(X, y, prior=au.Normal(0.02)), draws=1000, seed=3, progress=False)
    assert abs(narrow.draws["x1"].mean() - mode[1]) / sd[1] > 2


def survival_models(X, eta, rng):
    """Times that are censored at 2."""
    made = {}
    for name, family, noise in [
        ("exponential", au.ExponentialSurvival, np.log(rng.exponential(size=len(X)))),
        ("weibull", au.WeibullSurvival, np.log(rng.exponential(size=len(X))) / 1.5),
        ("lognormal", au.LognormalSurvival, rng.normal(size=len(X))),
    ]:
        times = np.exp(eta + noise)
        made[name] = family(X, np.minimum(times, 2.0), (times < 2.0).astype(float))
    return made


def test_survival_at_given_times(rng):
    X = rng.normal(size=(2000, 1))
    times = np.exp(0.3 * X[:, 0]) * rng.exponential(size=2000)
    fit = au.sample(au.ExponentialSurvival(X, np.minimum(times, 1.0), (times < 1.0).astype(float)), draws=400, seed=3, progress=False)
    made = fit.predict([[0.0], [1.0]], survival=[0.5, 1])
    assert list(made)[-2:] == ["survival_0.5", "survival_1"]
    eta = np.add.outer([0.0, 1.0], np.zeros(1))[:, 0]
    rates = np.exp(-(fit.draws["intercept"].ravel() + np.outer(eta, fit.draws["x1"].ravel())))
    wanted = np.exp(-rates).mean(axis=1)
    assert np.abs(made["survival_1"] - wanted).max() < 5e-3
    with pytest.raises(ValueError, match="times"):
        fit.predict([[0.0]], survival=[-1])
    with pytest.raises(ValueError, match="event"):
        au.sample(au.ExponentialSurvival(X, times, np.full(2000, 0.5)), progress=False)


def test_all_families_find_what_made_the_data(rng):
    n, beta = 4000, np.array([0.5, -0.3])
    X = rng.normal(size=(n, 2))
    eta = 0.2 + X @ beta
    models = {
        "binomial": au.Binomial(X, rng.binomial(5, 1 / (1 + np.exp(-eta))), 5),
        "linear": au.Linear(X, eta + rng.normal(size=n)),
        "poisson": au.Poisson(X, rng.poisson(np.exp(eta))),
        "student": au.Student(X, eta + rng.standard_t(4, size=n)),
        "student-nu": au.StudentNu(X, eta + rng.standard_t(4, size=n)),
        "negative-binomial": au.NegativeBinomial(X, rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, size=n))),
        "probit": au.Probit(X, (eta + rng.normal(size=n) > 0).astype(float)),
        "binomial-probit": au.Probit(X, (eta[:, None] + rng.normal(size=(n, 5)) > 0).sum(axis=1), 5),
        "cloglog": au.Cloglog(X, (rng.exponential(size=n) < np.exp(eta)).astype(float)),
        "gamma": au.GammaRegression(X, np.exp(eta) * rng.gamma(2.0, 0.5, size=n)),
        "beta": au.BetaRegression(X, rng.beta(8 / (1 + np.exp(-eta)), 8 / (1 + np.exp(eta)))),
        **survival_models(X, eta, rng),
    }
    for name, model in models.items():
        fit = au.sample(model, draws=800, seed=2, progress=False)
        found = np.array([fit.draws[c].mean() for c in ["x1", "x2"]])
        assert np.abs(found - beta).max() < 0.1, name
        assert ("sigma" in fit.draws) == (name in ("linear", "lognormal", "student", "student-nu"))
        assert ("phi" in fit.draws) == (name in ("beta", "negative-binomial"))
        assert fit.diagnose()["family"] == name


def test_the_degrees_of_freedom_can_be_set(rng):
    X = rng.normal(size=(4000, 2))
    y = X @ [1.0, -1.0] + rng.standard_t(30, size=4000)
    usual, near = (au.sample(au.Student(X, y, nu=nu), draws=300, seed=1, progress=False) for nu in (4, 30))
    assert usual.diagnose()["family"] == "student" and near.diagnose()["family"] == "student:30"
    assert abs(near.draws["sigma"].mean() - 1.0) < 0.06 and usual.draws["sigma"].mean() < near.draws["sigma"].mean() - 0.05
    assert np.array_equal(usual.draws["x1"], au.sample(au.Student(X, y), draws=300, seed=1, progress=False).draws["x1"])
    for wrong in (0, -1, np.inf, np.nan, "7", True):
        with pytest.raises(ValueError, match="nu is .*StudentNu"):
            au.Student(X, y, nu=wrong)
    assert au.generate("student:7", 50, 2).X.shape == (50, 2)
    with pytest.raises(ValueError, match="poisson takes no number"):
        au.generate("poisson:7", 50, 2)


def test_the_same_seed_draws_the_same_and_threads_change_nothing(logistic):
    X, y = logistic
    one = au.sample(au.Logistic(X, y), draws=300, seed=5, threads=1, progress=False)
    two = au.sample(au.Logistic(X, y), draws=300, seed=5, threads=2, progress=False)
    other = au.sample(au.Logistic(X, y), draws=300, seed=6, progress=False)
    assert np.array_equal(one.draws["x2"], two.draws["x2"])
    assert not np.array_equal(one.draws["x2"], other.draws["x2"])


def test_weights_are_repeated_rows_and_offsets_known_parts(rng):
    X = rng.normal(size=(500, 2))
    y = (rng.random(500) < 0.5).astype(float)
    weights = rng.integers(1, 4, size=500).astype(float)
    weighted = au.sample(au.Logistic(X, y, weights=weights), draws=2000, rule="exact", progress=False)
    repeat = weights.astype(int)
    repeated = au.sample(au.Logistic(X.repeat(repeat, 0), y.repeat(repeat)), draws=2000, rule="exact", progress=False)
    assert abs(weighted.draws["x1"].mean() - repeated.draws["x1"].mean()) < 0.02
    counts = rng.poisson(3.0, size=500)
    fit = au.sample(au.Poisson(X, counts, offset=np.full(500, np.log(3.0))), draws=1000, progress=False)
    assert abs(fit.draws["intercept"].mean()) < 0.15
    with pytest.raises(ValueError, match="offset is missing"):
        fit.predict(X[:3])
    assert np.all(np.abs(fit.predict(X[:3], offset=np.zeros(3))["mean"] - 1) < 0.5)


def test_priors_of_single_coefficients_and_standardised_columns(logistic):
    X, y = logistic
    fit = au.sample(au.Logistic(100 * X, y, standardize=True), draws=500, progress=False)
    assert abs(100 * fit.draws["x1"].mean() - 1.0) < 0.15
    tight = au.sample(au.Logistic(X, y, priors={"x1": au.Normal(0.001)}), draws=500, progress=False)
    assert abs(tight.draws["x1"].mean()) < 0.01 < abs(tight.draws["x2"].mean())


def test_data_frames_categories_and_text(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"age": rng.normal(size=800), "city": pandas.Categorical(rng.choice(["Aix", "Bern", "Cork"], 800)), "kind": rng.choice(["u", "v"], 800)}
    )
    y = pandas.Series(np.where(rng.random(800) < 0.5, "no", "yes"))
    fit = au.sample(au.Logistic(frame, y), draws=500, progress=False)
    assert set(fit.coefficients) == {"intercept", "age", "city=Bern", "city=Cork", "kind=u"} or len(fit.coefficients) == 5
    made = fit.predict(frame.iloc[:5])["mean"]
    assert made.shape == (5,) and np.all((made > 0) & (made < 1))
    strange = frame.iloc[:2].assign(city=["Aix", "Oslo"])
    with pytest.raises(ValueError, match="Oslo"):
        fit.predict(strange)
    table = pytest.importorskip("pyarrow").table({"age": frame["age"].to_numpy(), "kind": frame["kind"].to_list()})
    assert "age" in au.sample(au.Logistic(table, y), draws=200, progress=False).draws


def test_what_a_fit_gives(logistic, tmp_path):
    X, y = logistic
    fit = au.sample(au.Logistic(X, y), draws=600, chains=2, out=tmp_path / "run", progress=False)
    assert fit.trusted and fit.reasons == [] and fit.n_chains == 2 and fit.n_draws == 600
    assert fit.report(tmp_path / "page.html").read_text().lstrip().lower().startswith("<!doctype")
    assert fit.export(tmp_path / "draws.csv").exists()
    summary = fit.summary()
    row = summary.loc["x1"] if hasattr(summary, "loc") else summary["x1"]
    assert abs(row["mean"] - fit.draws["x1"].mean()) < 1e-12
    assert any("chains agree" in text for text in fit.diagnose()["sentences"])
    assert "x1" in str(fit)
    found = fit.predict(X[:10], interval=0.5)
    wide = fit.predict(X[:10], interval=0.95)
    assert np.all(wide["lower"] <= found["lower"]) and np.all(found["upper"] <= wide["upper"])
    beta = np.stack([fit.draws[n].ravel() for n in ["intercept", "x1", "x2", "x3"]])
    direct = (1 / (1 + np.exp(-(beta[0] + X[:10] @ beta[1:])))).mean(1)
    assert np.abs(direct - found["mean"]).max() < 2e-3
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.draws["x3"], fit.draws["x3"]) and again.path != fit.path
    assert np.array_equal(au.open(tmp_path / "run").draws["x3"], fit.draws["x3"])


def test_xarray_and_arviz(logistic):
    pytest.importorskip("xarray")
    X, y = logistic
    fit = au.sample(au.Logistic(X, y), draws=200, chains=2, progress=False)
    tree = fit.to_datatree()
    assert tree["posterior"]["x1"].shape == (2, 200) and "data_used" in tree["sample_stats"]
    arviz = pytest.importorskip("arviz")
    assert abs(float(arviz.summary(fit.to_arviz(), round_to=10)["mean"]["x1"]) - fit.draws["x1"].mean()) < 1e-6


def test_resume_goes_on_to_what_one_run_would_have_drawn(logistic, tmp_path):
    X, y = logistic
    model = au.Logistic(X, y)
    au.sample(model, draws=300, out=tmp_path / "a", progress=False)
    longer = au.sample(model, draws=500, out=tmp_path / "a", resume=True, progress=False)
    whole = au.sample(model, draws=500, out=tmp_path / "b", progress=False)
    assert np.array_equal(longer.draws["x1"], whole.draws["x1"])
    with pytest.raises(ValueError, match="holds a run already"):
        au.sample(model, draws=10, out=tmp_path / "a", progress=False)
    with pytest.raises(ValueError, match="differ"):
        au.sample(au.Logistic(X, 1 - y), draws=900, out=tmp_path / "a", resume=True, progress=False)


def test_the_summary_is_made_once_and_anew_where_the_folder_has_changed(logistic, tmp_path, monkeypatch):
    from austerity import _austerity

    model = au.Logistic(*logistic)
    real, made = _austerity.overview, []
    monkeypatch.setattr(_austerity, "overview", lambda path: made.append(path) or real(path))
    fit = au.sample(model, draws=300, out=tmp_path / "a", progress=False)
    assert made == []
    opened = au.open(tmp_path / "a")
    assert len(made) == 1
    assert str(fit) == str(opened) and fit.diagnose() == opened.diagnose()
    assert fit.summary().equals(opened.summary())
    # A run that another session went on with before anybody asked for its fit.
    run = au.sample(model, draws=300, out=tmp_path / "b", blocking=False)
    while not run.progress["ended"]:
        time.sleep(0.02)
    au.sample(model, draws=400, out=tmp_path / "b", resume=True, progress=False)
    assert len(made) == 1
    assert run.wait().n_draws == 400 and len(made) == 2


def test_theory(logistic):
    X, y = logistic
    exact = au.analyze(12214, batch=500, epsilon=0.05)
    assert 0.25 < exact["worst_case"]["error"] < 0.35
    found = au.design(12214, 0.05)
    assert found["feasible"] and found["error"] <= 0.05
    assert au.check(au.Logistic(X, y))["sound"] in (True, False)
    with pytest.raises(ValueError, match="batch"):
        au.analyze(100, batch=500, epsilon=0.05)


def test_ordered_levels_and_extra_zeros(rng):
    n, beta = 4000, np.array([0.6, -0.4])
    X = rng.normal(size=(n, 2))
    eta = X @ beta
    stars = 1 + (eta[:, None] + rng.logistic(size=(n, 1)) > [-1.0, 0.5, 1.5]).sum(axis=1)
    logit = au.sample(au.OrderedLogit(X, stars), draws=800, seed=2, progress=False)
    bands = (eta[:, None] + rng.normal(size=(n, 1)) > [-0.5, 0.5]).sum(axis=1)
    probit = au.sample(au.OrderedProbit(X, bands), draws=800, seed=2, progress=False)
    counts = np.where(rng.random(n) < 0.3, 0, rng.poisson(np.exp(0.4 + eta)))
    zeros = au.sample(au.ZeroInflatedPoisson(X, counts), draws=800, seed=2, progress=False)
    for fit, name in [(logit, "ordered-logit:4"), (probit, "ordered-probit:3"), (zeros, "zero-inflated-poisson")]:
        assert np.abs(np.array([fit.draws[c].mean() for c in ["x1", "x2"]]) - beta).max() < 0.15, name
        assert fit.diagnose()["family"] == name and fit.trusted, (name, fit.reasons)
    assert abs(logit.draws["cut2"].mean() - 1.5) < 0.2 and abs(logit.draws["cut3"].mean() - 2.5) < 0.25
    assert (logit.draws["cut2"] < logit.draws["cut3"]).all() and set(probit.draws) == {"intercept", "x1", "x2", "cut2"}
    assert abs(zeros.draws["zero_odds"].mean() - 0.3 / 0.7) < 0.12
    made = logit.predict([[0.0, 0.0], [2.0, -1.0]])
    chances = np.array([made[f"probability_{level}"] for level in (1, 2, 3, 4)])
    assert np.allclose(chances.sum(axis=0), 1) and chances[3, 1] > chances[3, 0]
    with pytest.raises(ValueError, match="level number 13"):
        au.sample(au.OrderedLogit(X, eta), progress=False)
    with pytest.raises(ValueError, match="no order"):
        au.sample(au.OrderedLogit(X, np.array(["bad", "fair", "good"])[bands]), progress=False)


def test_ordered_categories_have_their_own_order(rng):
    pandas = pytest.importorskip("pandas")
    x = rng.normal(size=3000)
    place = (x + rng.logistic(size=3000)[:] > 0).astype(int) + (x + rng.logistic(size=3000) > 2)
    words = ["poor", "fair", "best"]
    table = pandas.DataFrame({"x": x, "y": pandas.Categorical.from_codes(place, words, ordered=True)})
    fit = au.sample(au.OrderedLogit(table, "y"), draws=400, seed=1, progress=False)
    assert fit.draws["x"].mean() > 0.5 and any("poor, fair, best" in text for text in fit.remarks)
    assert list(fit.predict(table[["x"]].head(3)))[-3:] == [f"probability_{word}" for word in words]
