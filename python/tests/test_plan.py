"""au.plan: what sample would do, without a folder and without draws."""

import os
import pickle

import numpy as np
import pytest

import austerity as au


@pytest.fixture
def data(rng):
    X = rng.normal(size=(4000, 2))
    y = (rng.random(4000) < 1 / (1 + np.exp(-X @ [1.0, -0.5]))).astype(float)
    return X, y


def test_a_plan_is_what_sample_does(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = au.plan(au.Logistic(*data), chains=2, seed=5)
    assert os.listdir(tmp_path) == []
    fit = au.sample(au.Logistic(*data), chains=2, seed=5, progress=False)
    assert plan["settings"]["draws"] == fit.n_draws and plan["settings"]["chains"] == 2
    assert plan["model"]["family"] == "logistic" and plan["data"]["rows"] == 4000
    assert "Accept/reject rule" in str(plan) and "Nothing was written" in plan.words
    copy = pickle.loads(pickle.dumps(plan))
    assert copy == plan and str(copy) == str(plan)


def test_models_of_ones_own_have_plans(rng):
    x = rng.normal(loc=1.0, size=2000)
    model = au.Model(
        lambda theta, rows: -0.5 * (x[rows] - theta[0]) ** 2, lambda theta: -0.5 * theta[0] ** 2, rows=2000, start=[0.0]
    )
    plan = au.plan(model, draws=100, rule="exact")
    assert plan["model"]["family"] == "own" and plan["settings"]["draws"] == 100
    assert plan["expected"]["rows"] == 2000


def test_a_plan_refuses_what_sample_refuses(data):
    with pytest.raises(ValueError, match="tolerance"):
        au.plan(au.Logistic(*data), tolerance=2.0)
    with pytest.raises(TypeError, match="no model"):
        au.plan(data)
    with pytest.raises(TypeError, match="out"):
        au.plan(au.Logistic(*data), out="run")
