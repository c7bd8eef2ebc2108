"""The hard case: rare features. 10⁶ rows (`--quick`: 2·10⁵), 40 columns, 15 of them binary and set in 10 to 200 rows, five of those
without an event; student:3,1 priors, normal:10 for the intercept. The posteriors of the rare coefficients are skewed, those without an
event have the prior's tail: the normal approximation is wrong, and batches of rows miss what matters.
"""

import numpy as np

from posterior import Prior
from work import Work
from works.synthetic import TEST, logistic, with_ones

RARE = 15


def make(quick):
    rows = 200_000 if quick else 1_000_000
    rng = np.random.default_rng(40)
    X = with_ones(rng.standard_normal((rows + TEST, 40), dtype=np.float32))
    beta = np.concatenate([[-2.0], rng.normal(size=40) * 0.3])
    counts = np.geomspace(10, 200, RARE).astype(int)
    X[:, -RARE:] = 0
    where = []
    for j, count in enumerate(counts):
        where.append(rng.choice(rows, size=count, replace=False))
        X[where[-1], 41 - RARE + j] = 1
        X[rows + rng.choice(TEST, size=20, replace=False), 41 - RARE + j] = 1
    y = logistic(rng, X, beta)
    for j in range(0, RARE, 3):
        y[where[j]] = 0
    remarks = [f"{rows:,} rows, 40 columns and intercept; {RARE} columns set in {counts[0]} to {counts[-1]} rows"]
    prior, intercept = Prior("student", 1.0, 3.0), Prior("normal", 10.0)
    return Work("hard", "logistic", X[:-TEST], y[:-TEST], X[-TEST:], prior, intercept, remarks=remarks)
