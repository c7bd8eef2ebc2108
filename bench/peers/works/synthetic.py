"""What the made works share."""

import numpy as np

TEST = 1000


def with_ones(X):
    return np.column_stack([np.ones(len(X), np.float32), X.astype(np.float32, copy=False)])


def logistic(rng, X, beta):
    """Responses, made in pieces so that five million rows need no double precision copy."""
    y = np.empty(len(X), np.float32)
    for begin in range(0, len(X), 1 << 18):
        eta = X[begin : begin + (1 << 18)] @ beta.astype(np.float32)
        y[begin : begin + (1 << 18)] = rng.random(len(eta)) < 1 / (1 + np.exp(-eta))
    return y
