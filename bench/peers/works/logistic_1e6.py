"""Plain logistic regression: a million rows (5·10⁶ in `logistic_5e6.py`), 20 correlated columns, intercept, normal priors."""

import numpy as np

from posterior import Prior
from work import Work
from works.synthetic import TEST, logistic, with_ones


def make(quick, rows=1_000_000, name="logistic-1e6"):
    rng = np.random.default_rng(20)
    mix = np.eye(20) + 0.3 * rng.normal(size=(20, 20)) / np.sqrt(20)
    X = with_ones((rng.standard_normal((rows + TEST, 20), dtype=np.float32)) @ mix.astype(np.float32))
    beta = np.concatenate([[-0.5], rng.normal(size=20) * 0.4])
    y = logistic(rng, X, beta)
    remarks = [f"{rows:,} rows, 20 columns and intercept"]
    return Work(name, "logistic", X[:-TEST], y[:-TEST], X[-TEST:], Prior("normal", 1.0), Prior("normal", 10.0), remarks=remarks)
