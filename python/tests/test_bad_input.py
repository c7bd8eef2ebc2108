"""Bad input: the right exception, with a remedy, never an abort."""

import numpy as np
import pytest

import austerity as au

X = np.random.default_rng(0).normal(size=(200, 2))
Y = (X[:, 0] + np.random.default_rng(1).normal(size=200) > 0).astype(float)


def with_value(value, row=17, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda: au.Logistic(X[:, 0], Y), ValueError, r"shape \(200,\).*reshape"),
        (lambda: au.Logistic(X[None], Y), ValueError, "two dimensions"),
        (lambda: au.Logistic(X, Y[:-1]), ValueError, "199 values, but X has 200 rows"),
        (lambda: au.Logistic(X, Y[:, None].repeat(2, 1)), ValueError, "one dimension"),
        (lambda: au.Logistic(X[:0], Y[:0]), ValueError, "no rows"),
        (lambda: au.Logistic(with_value(np.nan), Y), ValueError, "'x2', row 17.*missing.*drop the row"),
        (lambda: au.Logistic(with_value(np.inf), Y), ValueError, "'x2', row 17.*not finite"),
        (lambda: au.Logistic(X.astype(complex), Y), (TypeError, ValueError), "[Cc]omplex"),
        (lambda: au.Logistic(X.astype("timedelta64"), Y), TypeError, "timedelta64.*numbers first"),
        (lambda: au.Logistic(np.array([[object(), 1.0]] * 200, dtype=object), Y), TypeError, "neither a number nor text"),
        (lambda: au.Logistic(np.ma.masked_equal(np.round(X), 0.0), Y), ValueError, "masked"),
        (lambda: au.Logistic(X, Y, weights=np.ones(3)), ValueError, "weights has 3 values"),
        (lambda: au.Logistic(X, Y, weights=["a"] * 200), TypeError, "weights holds text"),
        (lambda: au.Logistic(X, Y, names=["a"]), ValueError, "names"),
        (lambda: au.Logistic(X, Y, names=["a", "a"]), ValueError, "twice"),
        (lambda: au.Logistic(X, Y, names=["intercept", "b"]), ValueError, "intercept"),
        (lambda: au.Logistic(X, Y, prior=3.0), TypeError, "no prior"),
        (lambda: au.Normal(-1.0), ValueError, "positive"),
        (lambda: au.Regression(X, Y), TypeError, "family"),
        (lambda: au.sample("model"), TypeError, "no model"),
        (lambda: au.sample(au.Logistic(X, Y), drwas=3), TypeError, "did you mean draws"),
        (lambda: au.sample(au.Logistic(X, Y), draws=-3), ValueError, "draws"),
        (lambda: au.sample(au.Logistic(X, Y), draws=2.5), ValueError, "draws"),
        (lambda: au.sample(au.Logistic(X, Y), rule="guess"), ValueError, "exact"),
        (lambda: au.sample(au.Logistic(X, Y), proposal="langevin:0"), ValueError, "above 0 and below 2"),
        (lambda: au.sample(au.Logistic(X, Y), budget="soon"), ValueError, "budget"),
        (lambda: au.sample(au.Logistic(X, Y), epsilon=0.9), ValueError, "epsilon"),
        (lambda: au.sample(au.Logistic(X, Y), seed="a"), TypeError, "seed"),
        (lambda: au.sample(au.Logistic(X, Y), keep=["z"]), ValueError, "keep"),
        (lambda: au.sample(au.Logistic(X, Y), resume=True), ValueError, "out="),
        (lambda: au.sample(au.Logistic(X, 2 * Y + X[:, 0])), ValueError, "two|binary|0 and 1|values"),
        (lambda: au.sample(au.Poisson(X, Y - 0.5)), ValueError, "count|whole|0, 1"),
        (lambda: au.sample(au.Binomial(X, Y + 3, 2)), ValueError, "trials"),
        (lambda: au.sample(au.Logistic(X, Y, weights=-np.ones(200))), ValueError, "positive"),
        (lambda: au.open("/no/such/folder"), ValueError, "holds no run"),
        (lambda: au.check("x"), TypeError, "regression"),
    ],
)
def test_refused_with_a_remedy(make, error, match):
    with pytest.raises(error, match=match):
        made = make()
        if isinstance(made, au.Regression):
            au.sample(made, draws=10, progress=False)


def test_sparse_matrices_are_refused_with_their_size():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="[Ss]parse.*GB.*toarray|toarray.*GB"):
        au.Logistic(sparse.csr_matrix(X), Y)


def test_missing_values_of_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    for missing in (frame.assign(c=[None] + ["u"] * 199), frame.assign(c=pandas.Categorical([None] + ["u", "v"] * 99 + ["u"]))):
        with pytest.raises(ValueError, match="'c', row 0.*missing"):
            au.Logistic(missing, Y)
    with pytest.raises(ValueError, match="'a', row 3"):
        au.Logistic(frame.assign(a=frame["a"].where(frame.index != 3)), Y)


@pytest.mark.parametrize(
    "same",
    [
        lambda: np.asfortranarray(X),
        lambda: np.repeat(X, 2, axis=1)[:, ::2],
        lambda: X[::-1][::-1],
        lambda: X.astype(">f8"),
        lambda: X.tolist(),
        lambda: X.astype(object),
    ],
)
def test_other_layouts_of_the_same_numbers_draw_the_same(same):
    plain = au.sample(au.Logistic(X, Y), draws=50, progress=False)
    other = au.sample(au.Logistic(same(), Y), draws=50, progress=False)
    assert np.array_equal(plain.draws["x1"], other.draws["x1"])


def test_read_only_arrays_and_booleans():
    locked = X.copy()
    locked.setflags(write=False)
    fit = au.sample(au.Logistic(locked, Y.astype(bool)), draws=50, progress=False)
    assert fit.n_draws == 50


def test_predictions_of_the_wrong_width():
    fit = au.sample(au.Logistic(X, Y), draws=50, progress=False)
    with pytest.raises(ValueError, match="X has 3 features, but this fit is expecting 2"):
        fit.predict(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="interval"):
        fit.predict(X, interval=2.0)
    with pytest.raises(ValueError, match="missing"):
        fit.predict(with_value(np.nan))
