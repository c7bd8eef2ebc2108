"""A posterior with kinks: logistic regression, 30 columns of which 20 do nothing, and a Laplace prior as narrow as the likelihood
(scale 1/√N), so that the coefficients that do nothing sit on the kink. 10⁶ rows (`--quick`: 2·10⁵).
"""

import numpy as np

from posterior import Prior
from work import Work
from works.synthetic import TEST, logistic, with_ones


def make(quick):
    rows = 200_000 if quick else 1_000_000
    rng = np.random.default_rng(30)
    X = with_ones(rng.standard_normal((rows + TEST, 30), dtype=np.float32))
    beta = np.concatenate([[0.3], rng.normal(size=10) * 0.3, np.zeros(20)])
    y = logistic(rng, X, beta)
    prior, intercept = Prior("laplace", rows**-0.5), Prior("normal", 10.0)
    remarks = [f"{rows:,} rows, 30 columns and intercept, prior scale {prior.scale:.4f}"]
    return Work("laplace-prior", "logistic", X[:-TEST], y[:-TEST], X[-TEST:], prior, intercept, remarks=remarks)
