"""Metropolis in plain NumPy: random walk shaped by the normal approximation, decided exactly or by the paper's sequential test."""

import numpy as np

EPSILON, BATCH = 0.01, 500


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.walk import exactly, walk
    from posterior import row_terms
    from scipy.special import stdtr

    posterior, rows = work.posterior, len(work.y)
    mode, covariance = posterior.laplace()
    rng = np.random.default_rng(1)

    def difference(old, new, chosen):
        """Log-likelihood ratios of the chosen rows."""
        z, y = work.design[chosen], work.y[chosen]
        value = lambda t: row_terms(posterior.family, z @ posterior.split(t)[0].astype(np.float32), y, np.float32(posterior.split(t)[1]))[0]
        return (value(new) - value(old)).astype(np.float64)

    def test(theta, candidate, threshold):
        mu = (threshold - posterior.log_prior(candidate) + posterior.log_prior(theta)) / rows
        order = rng.permutation(rows) if rows < 50_000 else None
        n = total = square = 0
        while True:
            m = min(BATCH, rows - n)
            # Without replacement where that is cheap; repeats among few rows of many are rare.
            chosen = order[n : n + m] if order is not None else rng.integers(rows, size=m)
            l = difference(theta, candidate, chosen)
            n, total, square = n + m, total + l.sum(), square + (l * l).sum()
            mean = total / n
            spread = np.sqrt(max(square / n - mean**2, 0) * n / (n - 1)) if n > 1 else np.inf
            error = spread / np.sqrt(n) * np.sqrt(max(1 - (n - 1) / (rows - 1), 0))
            if n >= rows or error == 0 or stdtr(n - 1, -abs(mean - mu) / error) < EPSILON:
                return mean > mu, n

    exact = exactly(lambda theta: posterior.log_densities(theta[None])[0], mode, rows)
    walk(mode, covariance, recorder, rows, rng, exact if name == "numpy-exact" else test)
