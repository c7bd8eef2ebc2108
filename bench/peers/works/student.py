"""Regression with Student-t noise (4 degrees of freedom), log σ unknown, two rows in a hundred gross outliers: 10⁶ rows, 15 columns."""

import numpy as np

from posterior import Prior
from work import Work
from works.synthetic import TEST, with_ones


def make(quick):
    rows = 200_000 if quick else 1_000_000
    rng = np.random.default_rng(15)
    X = with_ones(rng.standard_normal((rows + TEST, 15), dtype=np.float32))
    beta = np.concatenate([[1.0], rng.normal(size=15) * 0.5])
    y = X @ beta.astype(np.float32) + 0.7 * rng.standard_t(4, size=rows + TEST)
    outliers = rng.choice(rows, size=rows // 50, replace=False)
    y[outliers] += rng.choice([-1, 1], size=len(outliers)) * rng.exponential(30, size=len(outliers))
    remarks = [f"{rows:,} rows, 15 columns, intercept and log sigma; 2 % outliers"]
    prior, intercept, noise = Prior("normal", 1.0), Prior("normal", 10.0), Prior("normal", 1.0)
    return Work("student", "student", X[:-TEST], y[:-TEST], X[-TEST:], prior, intercept, noise, remarks)
