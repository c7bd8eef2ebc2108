"""Metropolis in plain NumPy: random walk shaped by the normal approximation, decided exactly or by the paper's sequential test."""

import numpy as np

EPSILON, BATCH = 0.01, 500


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from scipy.special import stdtr
    from posterior import row_terms

    posterior = work.posterior
    mode, covariance = posterior.laplace()
    lower = 2.38 / np.sqrt(len(mode)) * np.linalg.cholesky(covariance)
    rng = np.random.default_rng(1)
    rows = len(work.y)
    theta, kept, used, steps = mode, [], 0, 0

    def difference(old, new, chosen):
        """Log-likelihood ratios of the chosen rows."""
        z, y = work.design[chosen], work.y[chosen]
        value = lambda t: row_terms(posterior.family, z @ posterior.split(t)[0].astype(np.float32), y, np.float32(posterior.split(t)[1]))[0]
        return (value(new) - value(old)).astype(np.float64)

    here = posterior.log_densities(theta[None])[0]
    recorder.ready()
    while not recorder.over():
        candidate = theta + lower @ rng.normal(size=len(mode))
        threshold = np.log(rng.random())
        if name == "numpy-exact":
            there = posterior.log_densities(candidate[None])[0]
            accept, used = there - here > threshold, used + rows
        else:
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
                    break
            accept, used = mean > mu, used + n
        if accept:
            theta = candidate
            if name == "numpy-exact":
                here = there
        steps += 1
        kept.append(theta)
        if len(kept) >= 20 or recorder.over():
            recorder.add(np.array(kept))
            kept = []
    recorder.note(f"{steps} steps, {100 * used / rows / max(steps, 1):.0f} % of the rows per step")
