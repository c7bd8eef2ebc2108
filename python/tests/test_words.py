"""Numbers of NumPy, words of other samplers, seeds."""

import datetime

import numpy as np
import pytest

import austerity as au

X = np.random.default_rng(0).normal(size=(300, 2))
Y = (X[:, 0] + np.random.default_rng(1).normal(size=300) > 0).astype(float)
QUICK = dict(draws=50, chains=2, warmup=50, progress=False)


@pytest.mark.parametrize("number", [np.float32(2.5), np.float64(2.5), np.array(2.5), np.float16(2.5)])
def test_priors_take_numbers_of_numpy(number):
    assert au.Normal(number) == au.Normal(2.5) and str(au.Normal(number)) == "normal:2.5"
    assert str(au.StudentT(np.int64(4), number)) == "student:4.0,2.5"
    assert str(au.Laplace(number)) == "laplace:2.5"
    assert hash(au.Normal(number)) == hash(au.Normal(2.5))


@pytest.mark.parametrize("wrong", [True, "2.5", None, np.nan, np.float32(np.inf), 0, [1.0]])
def test_priors_refuse_what_is_no_width(wrong):
    with pytest.raises(ValueError, match="sd is .*positive finite number"):
        au.Normal(wrong)


def test_options_take_numbers_of_numpy():
    plain = au.sample(au.Logistic(X, Y), **QUICK, seed=3)
    numpy = au.sample(
        au.Logistic(X, Y), draws=np.int64(50), chains=np.uint8(2), warmup=np.int32(50), seed=np.int64(3), threads=np.array(0), progress=False
    )
    assert np.array_equal(plain.draws["x1"], numpy.draws["x1"])
    assert plain.predict(X[:3], interval=np.float32(0.5), draws=np.int64(20), seed=np.uint16(2))["mean"].shape == (3,)
    for budget in (np.float64(0.8), np.float32(0.8), np.int64(1), datetime.timedelta(seconds=0.8)):
        assert au.sample(au.Logistic(X, Y), chains=2, budget=budget, progress=False).n_draws > 0
    for tolerance in (np.float32(0.05), np.float64(0.05)):
        assert au.sample(au.Logistic(X, Y), **QUICK, tolerance=tolerance).n_draws == 50
    one, all_rows = au.Binomial(X, Y, np.int64(3)), au.Binomial(X, Y, np.full(300, 3))
    assert np.array_equal(au.sample(one, **QUICK).draws["x1"], au.sample(all_rows, **QUICK).draws["x1"])
    assert au.analyze(np.int64(12214), batch=np.int32(500), epsilon=np.float32(0.05))["worst_case"]["error"] > 0
    assert au.generate("logistic", np.int64(10), np.int8(2)).X.shape == (10, 2)


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(draws=-5), "draws is -5; give a whole number, at least 1"),
        (dict(draws=0), "draws is 0"),
        (dict(draws=2.5), "draws is 2.5; give a whole number"),
        (dict(draws="many"), "draws is 'many'"),
        (dict(draws=np.nan), "draws is nan"),
        (dict(draws=True), "draws is True"),
        (dict(chains=0), "chains is 0; give a whole number, at least 1"),
        (dict(chains=np.int64(-2)), "chains is -2"),
        (dict(warmup=-1), "warmup is -1; give a whole number, at least 0"),
        (dict(threads=-1), "threads is -1"),
        (dict(thin=0), "thin is 0"),
        (dict(budget=-3), "budget is -3; give seconds above 0"),
        (dict(budget=0.0), "budget is 0"),
        (dict(budget=float("inf")), "budget is inf"),
        (dict(seed=-1), "seed is -1; give a whole number from 0"),
    ],
)
def test_numbers_that_cannot_be(options, match):
    with pytest.raises(ValueError, match=match):
        au.sample(au.Logistic(X, Y), progress=False, **options)


@pytest.mark.parametrize(
    "word, here",
    [
        ("tune", "use warmup="),
        ("num_warmup", "use warmup="),
        ("iter_warmup", "use warmup="),
        ("burn_in", "use warmup="),
        ("random_seed", "use seed="),
        ("random_state", "use seed="),
        ("cores", "use threads="),
        ("n_jobs", "use threads="),
        ("parallel_chains", "use threads="),
        ("num_samples", "use draws="),
        ("iter_sampling", "use draws="),
        ("n_chains", "use chains="),
        ("num_chains", "use chains="),
        ("thinning", "use thin="),
        ("progressbar", "use progress="),
        ("target_accept", "tolerance="),
        ("adapt_delta", "tolerance="),
        ("max_treedepth", "proposal="),
        ("initvals", "around the mode"),
        ("return_inferencedata", r"to_arviz\(\)"),
        ("prior", "give it to the model"),
    ],
)
def test_words_of_other_samplers(word, here):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{word}'; .*{here}"):
        au.sample(au.Logistic(X, Y), **{word: 1})


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: au.Normal(1, 2, 3), r"Normal\(1, 2, 3\): use Normal\(sd\) or Normal\(mean, sd\)"),
        (lambda: au.Normal(shape=1), r"use Normal\(sd\)"),
        (lambda: au.Normal(1, 2, sigma=3), r"use Normal\(sd\)"),
        (lambda: au.StudentT(1, 2, 3, 4), r"use StudentT\(freedom, scale\) or StudentT\(freedom, mean, scale\)"),
        (lambda: au.HalfNormal(1, 2), r"use HalfNormal\(scale\)"),
    ],
)
def test_numbers_that_make_no_prior_are_answered_in_words(make, match):
    with pytest.raises(TypeError, match=match):
        make()


@pytest.mark.parametrize(
    "prior, text",
    [
        (lambda: au.Normal(0, 1), "normal:1.0"),
        (lambda: au.Normal(3, 2.5), "normal:3.0,2.5"),
        (lambda: au.Normal(mu=-1, sigma=1), "normal:-1.0,1.0"),
        (lambda: au.Normal(loc=0.0, scale=2.0), "normal:2.0"),
        (lambda: au.Laplace(1, 2), "laplace:1.0,2.0"),
        (lambda: au.StudentT(4, 0.5, 2.5), "student:4.0,0.5,2.5"),
        (lambda: au.StudentT(nu=3, mu=0, sigma=1), "student:3.0,1.0"),
        (lambda: au.HalfNormal(2), "half-normal:2.0"),
        (lambda: au.HalfStudentT(3, 2), "half-student:3.0,2.0"),
        (lambda: au.Exponential(0.5), "exponential:0.5"),
        (lambda: au.LogNormal(0, 1), "log-normal:0.0,1.0"),
    ],
)
def test_priors_may_have_a_mean(prior, text):
    assert str(prior()) == text and eval(repr(prior()), vars(au)) == prior()
    with pytest.raises(AttributeError, match="cannot be changed"):
        prior().scale = 3


def test_priors_are_as_before():
    import copy
    import pickle

    for prior in (au.Normal(), au.Normal(sd=2), au.Laplace(scale=3), au.StudentT(scale=1), au.StudentT(5, 2), au.StudentT(5, 1, 2), au.Flat()):
        assert pickle.loads(pickle.dumps(prior)) == prior == copy.deepcopy(prior)


def test_a_seed_of_none_is_drawn_stored_and_told(tmp_path):
    first = au.sample(au.Logistic(X, Y), **QUICK, seed=None, out=tmp_path / "a")
    second = au.sample(au.Logistic(X, Y), **QUICK, seed=None)
    # Two of 2³² seeds are equal once in four billion runs of this test.
    assert first.seed != second.seed and first.diagnose()["seed"] == first.seed
    assert f"seed = {first.seed}" in (tmp_path / "a" / "run.toml").read_text()
    again = au.sample(au.Logistic(X, Y), **QUICK, seed=first.seed)
    assert np.array_equal(first.draws["x1"], again.draws["x1"])
    assert au.open(tmp_path / "a").seed == first.seed
    for seed in (None, 1, first.seed):
        longer = dict(draws=60, out=tmp_path / "a", resume=True, progress=False, seed=seed)
        assert au.sample(au.Logistic(X, Y), **longer).seed == first.seed
    with pytest.raises(ValueError, match="seed was"):
        au.sample(au.Logistic(X, Y), draws=70, out=tmp_path / "a", resume=True, progress=False, seed=first.seed + 1)
    assert au.sample(au.Logistic(X, Y), **QUICK).seed == 1
