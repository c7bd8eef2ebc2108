"""What comes after a fit: loo, compare, effects. ArviZ's full leave-one-out is the reference."""

import pickle

import austerity as au
import numpy as np
import pytest

ROWS = 10_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    found = {"x": rng.normal(size=ROWS), "z": rng.normal(size=ROWS), "g": rng.choice(["a", "b", "c"], size=ROWS)}
    eta = 0.7 * found["x"] - 0.4 + 0.5 * (found["g"] == "b")
    found["y"] = (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(float)
    return found


@pytest.fixture(scope="module")
def fit(table):
    return au.fit("y ~ x + g", table, family="logistic", draws=250, progress=False)


def _log_likelihood(fit, table):
    draws = fit.draws
    eta = draws["intercept"][..., None] + draws["x"][..., None] * table["x"]
    for level in "abc":
        for name in (f"g[{level}]", f"C(g)[{level}]"):
            if name in draws:
                eta = eta + draws[name][..., None] * (table["g"] == level)
    return -np.logaddexp(0.0, np.where(table["y"] == 1, -eta, eta))


def test_every_row_agrees_with_arviz(fit, table):
    arviz = pytest.importorskip("arviz")
    xarray = pytest.importorskip("xarray")
    found = fit.loo(exact=True)
    log_likelihood = _log_likelihood(fit, table)
    posterior = {name: (("chain", "draw"), values) for name, values in fit.draws.items()}
    groups = {
        "posterior": xarray.Dataset(posterior),
        "log_likelihood": xarray.Dataset({"y": (("chain", "draw", "row"), log_likelihood)}),
    }
    data = arviz.InferenceData(**groups) if int(arviz.__version__.split(".")[0]) < 1 else xarray.DataTree.from_dict(groups)
    expected = arviz.loo(data, pointwise=True)
    elpd = float(getattr(expected, "elpd_loo", getattr(expected, "elpd", np.nan)))
    p = float(getattr(expected, "p_loo", getattr(expected, "p", np.nan)))
    assert abs(found.elpd_loo - elpd) < 0.02
    assert abs(found.p_loo - p) < 0.02
    assert abs(found.se / float(expected.se) - 1) < 1e-3
    own = fit.loo(exact=True).to_arviz()
    assert abs(float(own.se) - found.se) < 1e-9
    # A sample agrees within its own error: five standard errors are a false alarm in two million.
    sampled = fit.loo(rows=500)
    assert abs(sampled.elpd_loo - elpd) <= 5 * sampled.subsampling_se + 0.02
    assert sampled.subsampling_se < 0.1 * sampled.se
    assert len(sampled.pointwise["row"]) == sampled["rows_read"] <= 600


def test_a_sample_of_log_likelihoods_is_that_of_the_rows(fit, table):
    pytest.importorskip("xarray")
    found = fit.log_likelihood(rows=100, draws=100_000)
    assert found["y"].shape == (4, 250, 100)
    expected = _log_likelihood(fit, table)[..., found["row"].values]
    np.testing.assert_allclose(found["y"].values, expected, atol=1e-9)
    assert float(found["stands_for"].sum()) == pytest.approx(ROWS)


def test_fits_are_compared_and_other_data_refused(fit, table):
    other = au.fit("y ~ z + g", table, family="logistic", draws=250, progress=False)
    made = au.compare({"x": fit, "z": other})
    assert [model["name"] for model in made["models"]] == ["x", "z"]
    assert made["models"][0]["weight"] > 0.9
    assert "predicts new rows better" in str(made)
    assert made.svg.startswith("<svg")
    assert len(made.frame()["elpd_diff"]) == 2
    shorter = {name: values[:9_000] for name, values in table.items()}
    third = au.fit("y ~ x", shorter, family="logistic", draws=250, progress=False)
    with pytest.raises(ValueError, match="different data"):
        au.compare({"x": fit, "short": third})
    with pytest.raises(TypeError):
        au.compare([fit, other])


def test_effects_are_averages_over_rows(fit, table):
    draws = {name: values.ravel() for name, values in fit.draws.items()}
    made = fit.comparisons("x")
    one = made["estimates"][0]
    eta = np.log(np.exp(_log_likelihood(fit, {**table, "y": np.ones(ROWS)}))).reshape(-1, ROWS)
    eta = eta - np.log1p(-np.exp(np.minimum(eta, -1e-15)))
    step = 1 / (1 + np.exp(-(eta + draws["x"][:, None]))) - 1 / (1 + np.exp(-eta))
    values = step.mean(axis=1)
    assert abs(one["estimate"] - values.mean()) < 5 * one["subsampling_se"] + 0.05 * one["sd"]
    assert abs(one["sd"] / values.std() - 1) < 0.2
    assert one["lower"] < one["estimate"] < one["upper"]
    by = fit.slopes("x", by="g").frame()
    assert list(by["group"]) == ["a", "b", "c"]
    grid = fit.predictions(at={"x": [0, 1], "g": ["a", "b"]})
    exact = fit.predict({"x": [0.0, 0.0, 1.0, 1.0], "g": ["a", "b", "a", "b"]})["mean"]
    np.testing.assert_allclose([one["estimate"] for one in grid["estimates"]], exact, atol=1e-9)
    with pytest.raises(ValueError, match="nothing"):
        fit.comparisons("nothing")


def test_pictures(fit, tmp_path):
    path = fit.plot_predictions("x", by="g", path=tmp_path / "p.svg")
    assert path.read_text(encoding="utf-8").startswith("<svg")
    pytest.importorskip("matplotlib").use("Agg")
    axes = fit.plot_predictions("x", by="g")
    assert len(axes.lines) == 3
    assert fit.comparisons().plot().get_yticklabels()
    assert fit.plot_forest(sort=True, path=tmp_path / "forest.svg").exists()
    assert fit.plot_pairs(["x", "intercept"]).shape == (2, 2)
    with pytest.raises(ValueError, match="nothing"):
        fit.plot_pairs(["nothing"])


def test_a_pickled_fit_needs_its_rows_again(fit, table):
    again = pickle.loads(pickle.dumps(fit))
    with pytest.raises(ValueError, match="data="):
        again.loo()
    assert again.loo(exact=True, data=table).elpd_loo == fit.loo(exact=True).elpd_loo
    answer = pickle.loads(pickle.dumps(fit.loo(rows=300)))
    assert answer.elpd_loo < 0 and "elpd_loo" in str(answer)



def test_checks_sensitivity_and_hypotheses(fit, table):
    made = fit.check(by="z", data=table)
    assert made["sound"], str(made)
    assert {"log_loss", "brier", "auc", "error_rate"} == set(made.frame()["name"])
    # A model that knows nothing of x is found out where x is looked at.
    blind = au.fit("y ~ z", table, family="logistic", draws=250, progress=False)
    assert not blind.check(by="x", data=table)["sound"]
    held_out = {name: values[:1_000] for name, values in table.items()}
    assert fit.check(test=held_out)["held_out"]
    assert all(one["diagnosis"] is None for one in fit.sensitivity()["parameters"])
    answer = fit.hypothesis("x > 0", "x - 0.7")["contrasts"]
    assert answer[0]["probability"] > 0.99 and abs(answer[1]["mean"]) < 0.2
    with pytest.raises(ValueError, match="nothing"):
        fit.hypothesis("nothing > 0")
