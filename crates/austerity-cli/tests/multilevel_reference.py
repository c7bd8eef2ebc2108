"""Makes the figures of `a_standard_deviation_near_zero_has_the_quantiles_of_a_grid`: python multilevel_reference.py k1,k2,… n

The posterior of (intercept, log sd) of y ~ 1 + (1 | g) for groups with k_j successes of n, by sums over a grid; every group is integrated on a grid of its own.
Priors: normal(0, 2) of the intercept, half-student(3, 2.5) of the standard deviation.
"""

import sys

import numpy as np


def reference(successes, trials):
    z = np.linspace(-8, 8, 161)
    weights = np.exp(-z * z / 2)
    weights /= weights.sum()
    different, times = np.unique(successes, return_counts=True)
    log_sd = np.linspace(-9, 1.5, 150)
    share = successes.mean() / trials
    centre = np.log(share / (1 - share))

    def density(intercepts):
        log_density = np.zeros((len(intercepts), len(log_sd)))
        for j, t in enumerate(log_sd):
            for i, intercept in enumerate(intercepts):
                eta = intercept + np.exp(t) * z
                log = different[:, None] * eta - trials * np.logaddexp(0, eta)
                most = log.max(1)
                groups = times * (most + np.log((np.exp(log - most[:, None]) * weights).sum(1)))
                prior = -intercept**2 / 8 + t - 2 * np.log1p((np.exp(t) / 2.5) ** 2 / 3)
                log_density[i, j] = groups.sum() + prior
        return np.exp(log_density - log_density.max())

    def moments(values, density):
        share = density / density.sum()
        mean = (values * share).sum()
        return mean, np.sqrt(((values - mean) ** 2 * share).sum())

    rough = np.linspace(centre - 1, centre + 1, 61)
    mean, sd = moments(rough, density(rough).sum(1))
    fine = np.linspace(mean - 6 * sd, mean + 6 * sd, 61)
    made = density(fine)
    sigma = made.sum(0) / made.sum()
    quantiles = np.interp([0.025, 0.5, 0.975], np.cumsum(sigma), np.exp(log_sd))
    return {"intercept": moments(fine, made.sum(1)), "sd": moments(np.exp(log_sd), sigma), "quantiles": quantiles}


if __name__ == "__main__":
    print(reference(np.array([int(k) for k in sys.argv[1].split(",")]), int(sys.argv[2])))
