"""Independent draws of a posterior with a Laplace prior, to be weighted: the likelihood by its second-order expansion, the prior as it is.

The expansion times the prior is sampled by Gibbs, thousands of chains side by side: a coordinate's conditional is a normal restricted to either side
of the kink, e^{ax − bx²/2 − |x|/s}. What the expansion leaves out is small with many rows, and importance weights make up for it.
"""

import numpy as np
from scipy.special import expit, log_ndtr, ndtr, ndtri


def _beyond(rng, low):
    """Standard normals above `low`, element by element."""
    u = rng.random(low.shape)
    far = low > 5
    near = -ndtri(np.where(far, 0.5, u * ndtr(-low)))
    # Far out an exponential is close enough to be thinned.
    tail = low.copy()
    todo = far.copy()
    while todo.any():
        step = rng.exponential(size=low.shape) / np.maximum(low, 1)
        keep = todo & (rng.random(low.shape) < np.exp(-0.5 * step**2))
        tail[keep] += step[keep]
        todo &= ~keep
    return np.where(far, tail, near)


def coordinate(rng, a, b, scale):
    """Draws of e^{ax − bx²/2 − |x|/scale} for an array `a`."""
    sd = b**-0.5
    right, left = (a - 1 / scale) / b, (a + 1 / scale) / b
    log_right = log_ndtr(right / sd) + 0.5 * (right / sd) ** 2
    log_left = log_ndtr(-left / sd) + 0.5 * (left / sd) ** 2
    positive = rng.random(a.shape) < expit(log_right - log_left)
    return np.where(positive, right + sd * _beyond(rng, -right / sd), left - sd * _beyond(rng, left / sd))


class Expanded:
    """The likelihood of a posterior expanded at its mode, with the prior as it is."""

    def __init__(self, posterior, mode):
        _, gradient, hessian = posterior.derivatives(mode)
        self.mode, self.posterior = mode, posterior
        self.gradient = gradient - posterior._of_prior(mode, "slope")
        self.hessian = hessian - np.diag(posterior._of_prior(mode, "curvature"))

    def log_density(self, thetas):
        step = thetas - self.mode
        return step @ self.gradient - 0.5 * np.einsum("ij,jk,ik->i", step, self.hessian, step) + self.posterior.log_prior(thetas)

    def draws(self, rng, chains, sweeps=60):
        covariance = np.linalg.inv(self.hessian)
        thetas = self.mode + rng.normal(size=(chains, len(self.mode))) @ np.linalg.cholesky(covariance).T
        kinds = {j: prior for prior, columns in self.posterior.priors for j in range(*columns.indices(len(self.mode)))}
        for _ in range(sweeps):
            for j, prior in kinds.items():
                b = self.hessian[j, j]
                a = self.gradient[j] - (thetas - self.mode) @ self.hessian[j] + b * thetas[:, j]
                if prior.kind == "laplace":
                    thetas[:, j] = coordinate(rng, a, b, prior.scale)
                else:
                    b = b + prior.scale**-2
                    thetas[:, j] = a / b + rng.normal(size=chains) / np.sqrt(b)
        return thetas
