"""The hard case: rare features. 10⁶ rows (`--quick`: 2·10⁵), 24 dense correlated columns, 15 binary ones set in 10 to 200 rows, some of
them without an event; student:3,1 priors, normal:10 for the intercept. The posteriors of the rare coefficients are skewed, those without
an event have the prior's tail: the normal approximation is wrong, and batches of rows miss what matters.

The data are those of `cargo xtask bench flat-in-n --hard` with the same seed, by the package's own generator.
"""

import numpy as np

from posterior import Prior
from work import Skipped, Work
from works.synthetic import TEST, with_ones

DENSE, RARE = 24, 15


def make(quick, seed=1, name="hard"):
    try:
        import austerity as au
    except ImportError as error:
        raise Skipped("its data come from the package's generator, which is not installed") from error
    rows = 200_000 if quick else 1_000_000
    made = au.generate("logistic", rows, DENSE, rare=RARE, correlated=True, seed=seed)
    X = with_ones(made.X)
    # Predictions are asked for where rare features are, and elsewhere.
    rare = np.flatnonzero(made.X[:, DENSE:].any(1))[: TEST // 3]
    test = np.concatenate([X[rare], X[: TEST - len(rare)]])
    present = made.X[:, DENSE:].sum(0)
    silent = int((made.y @ made.X[:, DENSE:] == 0).sum())
    remarks = [
        f"{rows:,} rows, {DENSE + RARE} columns and intercept; {RARE} columns set in {int(present.min())} to {int(present.max())} rows, "
        f"{silent} of them without an event"
    ]
    prior, intercept = Prior("student", 1.0, 3.0), Prior("normal", 10.0)
    return Work(name, "logistic", X, made.y.astype(np.float32), test, prior, intercept, remarks=remarks)
