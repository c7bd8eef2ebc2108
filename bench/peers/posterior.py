"""The posterior of a regression in plain NumPy: value, gradient, mode, curvature. Independent of every library that is compared.

A row's log-likelihood is l(η, s) with η = z·β; s = log σ is the last parameter where the family has noise.

    logistic   l = yη − log(1 + e^η)
    student    l = −s − (ν+1)/2 · log(1 + r²/(νσ²)),  r = y − η,  ν = 4

Rows are f32 and gone through in pieces; totals are f64.
"""

from dataclasses import dataclass

import numpy as np

FREEDOM = 4.0
PIECE = 1 << 16


@dataclass(frozen=True)
class Prior:
    """A prior around 0: normal (scale = sd), laplace or student; densities up to a constant."""

    kind: str
    scale: float
    freedom: float = 0.0

    def log_density(self, x, xp=np):
        if self.kind == "normal":
            return -0.5 * (x / self.scale) ** 2
        if self.kind == "laplace":
            return -xp.abs(x) / self.scale
        return -0.5 * (self.freedom + 1) * xp.log1p((x / self.scale) ** 2 / self.freedom)

    def slope(self, x):
        if self.kind == "normal":
            return -x / self.scale**2
        if self.kind == "laplace":
            return -np.sign(x) / self.scale
        return -(self.freedom + 1) * x / (self.freedom * self.scale**2 + x**2)

    def precision(self, x):
        """Of the normal that touches the (smoothed) prior at x: positive everywhere, and a Newton step with it never overshoots."""
        if self.kind == "normal":
            return np.full_like(x, self.scale**-2)
        if self.kind == "laplace":
            return 1 / (self.scale * np.sqrt(x**2 + self.scale**2))
        return (self.freedom + 1) / (self.freedom * self.scale**2 + x**2)

    def curvature(self, x):
        """Minus the second derivative; the touching normal's where the prior has a kink."""
        if self.kind == "student":
            a = self.freedom * self.scale**2
            return (self.freedom + 1) * (a - x**2) / (a + x**2) ** 2
        return self.precision(x)


def sigmoid(eta):
    return 0.5 * (1 + np.tanh(0.5 * eta))


def row_terms(family, eta, y, s):
    """l, l_η, l_s, −l_ηη, −l_ηs, −l_ss and the expected −l_ηη of every row."""
    if family == "logistic":
        p = sigmoid(eta)
        value = y * eta - np.logaddexp(np.float32(0), eta)
        weight = p * (1 - p)
        return value, y - p, None, weight, None, None, weight
    nu, r = FREEDOM, y - eta
    a = nu * np.exp(2 * s)
    q = r * r / a
    value = -s - 0.5 * (nu + 1) * np.log1p(q)
    over = 1 / (a + r * r)
    expected = np.full_like(r, (nu + 1) / (nu + 3) * np.exp(-2 * s))
    return (
        value,
        (nu + 1) * r * over,
        -1 + (nu + 1) * q / (1 + q),
        (nu + 1) * (a - r * r) * over**2,
        2 * (nu + 1) * r * a * over**2,
        2 * (nu + 1) * q / (1 + q) ** 2,
        expected,
    )


class Posterior:
    """Of one work. Parameters: the coefficients (intercept first), then log σ where there is one."""

    def __init__(self, family, design, y, priors):
        self.family, self.design, self.y, self.priors = family, design, y, priors
        self.width = design.shape[1]
        self.noise = family == "student"
        self.size = self.width + self.noise

    def split(self, theta):
        return theta[..., : self.width], (theta[..., -1] if self.noise else 0.0)

    def log_prior(self, theta, xp=np):
        total = 0.0
        for prior, columns in self.priors:
            total = total + prior.log_density(theta[..., columns], xp).sum(-1)
        return total

    def _of_prior(self, theta, what):
        out = np.empty(self.size)
        for prior, columns in self.priors:
            out[columns] = getattr(prior, what)(theta[columns])
        return out

    def pieces(self):
        for begin in range(0, len(self.y), PIECE):
            yield self.design[begin : begin + PIECE], self.y[begin : begin + PIECE]

    def log_densities(self, thetas, centre=None):
        """Log densities of many states (k, size); of differences to `centre`, row by row, where that is given."""
        beta, s = self.split(np.asarray(thetas))
        beta = beta.astype(np.float32)
        total = self.log_prior(np.asarray(thetas)).astype(np.float64)
        noise = np.asarray(s, np.float32)
        if centre is not None:
            b0, s0 = self.split(np.asarray(centre))
            total -= self.log_prior(np.asarray(centre))
        for z, y in self.pieces():
            value = row_terms(self.family, z @ beta.T, y[:, None], noise)[0]
            if centre is not None:
                value = value - row_terms(self.family, z @ b0.astype(np.float32), y, np.float32(s0))[0][:, None]
            total += value.sum(0, dtype=np.float64)
        return total

    def gradients(self, thetas):
        """Gradients of many states, (k, size)."""
        thetas = np.asarray(thetas, dtype=np.float64)
        beta, s = self.split(thetas)
        beta, s = beta.astype(np.float32), np.asarray(s, np.float32)
        out = np.stack([self._of_prior(theta, "slope") for theta in thetas])
        for z, y in self.pieces():
            terms = row_terms(self.family, z @ beta.T, y[:, None], s)
            out[:, : self.width] += (z.T @ terms[1]).T
            if self.noise:
                out[:, -1] += terms[2].sum(0, dtype=np.float64)
        return out

    def derivatives(self, theta, fisher=False):
        """Log density, gradient and minus the Hessian (with `fisher`: the expected one, which is positive definite)."""
        beta, s = self.split(theta)
        b, noise = beta.astype(np.float32), np.float32(s)
        value, gradient = float(self.log_prior(theta)), self._of_prior(theta, "slope")
        hessian = np.diag(self._of_prior(theta, "precision" if fisher else "curvature"))
        w = self.width
        for z, y in self.pieces():
            l, le, ls, hee, hes, hss, expected = row_terms(self.family, z @ b, y, noise)
            value += l.sum(dtype=np.float64)
            gradient[:w] += z.T @ le
            hessian[:w, :w] += (z * (expected if fisher else hee)[:, None]).T @ z
            if self.noise:
                gradient[w] += ls.sum(dtype=np.float64)
                if fisher:
                    hessian[w, w] += 2 * FREEDOM / (FREEDOM + 3) * len(y)
                else:
                    cross = z.T @ hes
                    hessian[:w, w] += cross
                    hessian[w, :w] += cross
                    hessian[w, w] += hss.sum(dtype=np.float64)
        return value, gradient, hessian

    def laplace(self, steps=60, enough=1e-3):
        """Mode and covariance by scoring with halved steps, then the curvature there. `enough`: a step in posterior sds."""
        theta = np.zeros(self.size)
        if self.noise:
            theta[-1] = np.log(np.median(np.abs(self.y - np.median(self.y))) + 1e-12)
        value, gradient, hessian = self.derivatives(theta, fisher=True)
        for _ in range(steps):
            # A kinked prior pulls towards 0 by its smoothed slope.
            for prior, columns in self.priors:
                if prior.kind == "laplace":
                    x = theta[columns]
                    gradient[columns] += -prior.slope(x) - x * prior.precision(x)
            step = np.linalg.solve(hessian, gradient)
            length = np.sqrt(step @ gradient)
            if not length > enough:
                break
            for _ in range(20):
                candidate = theta + step
                found = self.derivatives(candidate, fisher=True)
                if found[0] > value - 0.05 * max(1.0, length) or length < 1:
                    break
                step = step / 2
            theta, (value, gradient, hessian) = candidate, found
        hessian = self.derivatives(theta)[2]
        try:
            np.linalg.cholesky(hessian)
        except np.linalg.LinAlgError:
            hessian = self.derivatives(theta, fisher=True)[2]
        return theta, np.linalg.inv(hessian)
