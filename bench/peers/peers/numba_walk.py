"""Metropolis compiled by numba: as `numpy_walk.py`, row by row; the sequential test reads rows in random order."""

import numpy as np

EPSILON, BATCH = 0.01, 500


def applies(work, name):
    return None


def compiled():
    import math

    import numba

    @numba.njit(fastmath=True, inline="always")
    def row(design, y, i, beta, s, student):
        eta = np.float32(0)
        for j in range(design.shape[1]):
            eta += design[i, j] * beta[j]
        if student:
            r = (y[i] - eta) * math.exp(-s)
            return -s - 2.5 * math.log1p(r * r / 4.0)
        return y[i] * eta - (eta + math.log1p(math.exp(-eta)) if eta > 0 else math.log1p(math.exp(eta)))

    @numba.njit(fastmath=True)
    def total(design, y, beta, s, student):
        found = 0.0
        for i in range(len(y)):
            found += row(design, y, i, beta, s, student)
        return found

    @numba.njit(fastmath=True)
    def test(design, y, order, old, new, s0, s1, mu, student, critical):
        """Mean log-likelihood ratio above mu? The paper's Algorithm 1; `order` is shuffled as far as it is read."""
        rows, n, mean, m2 = len(y), 0, 0.0, 0.0
        while True:
            for _ in range(min(BATCH, rows - n)):
                k = n + np.random.randint(rows - n)
                order[n], order[k] = order[k], order[n]
                i = order[n]
                l = row(design, y, i, new, s1, student) - row(design, y, i, old, s0, student)
                n += 1
                step = l - mean
                mean += step / n
                m2 += step * (l - mean)
            error = math.sqrt(m2 / (n - 1) / n * max(1 - (n - 1) / (rows - 1), 0.0))
            if n >= rows or abs(mean - mu) > critical * error:
                return mean > mu, n

    return total, test


def run(work, recorder, name, cores):
    from peers.walk import exactly, walk
    from scipy.stats import norm

    posterior, rows = work.posterior, len(work.y)
    mode, covariance = posterior.laplace()
    total, sequential = compiled()
    order, student, critical = np.arange(rows), posterior.noise, norm.isf(EPSILON)
    parts = lambda t: (posterior.split(t)[0].astype(np.float32), float(posterior.split(t)[1]))

    def log_density(theta):
        return total(work.design, work.y, *parts(theta), student) + posterior.log_prior(theta)

    def test(theta, candidate, threshold):
        (b0, s0), (b1, s1) = parts(theta), parts(candidate)
        mu = (threshold - posterior.log_prior(candidate) + posterior.log_prior(theta)) / rows
        return sequential(work.design, work.y, order, b0, b1, s0, s1, mu, student, critical)

    decide = exactly(log_density, mode, rows) if name == "numba-exact" else test
    decide(mode, mode, 0.0)  # compiles it before the clock of the draws starts
    walk(mode, covariance, recorder, rows, np.random.default_rng(1), decide)
