"""The same posterior in JAX: rows in f32, totals in f64; data are arguments, not constants of the compiled code."""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

from posterior import FREEDOM

jax.config.update("jax_enable_x64", True)


def row_values(family, eta, y, s):
    """Log-likelihoods of rows."""
    if family == "logistic":
        return y * eta - jnp.logaddexp(0.0, eta).astype(eta.dtype)
    scaled = (y - eta) * jnp.exp(-s)
    return -s - 0.5 * (FREEDOM + 1) * jnp.log1p(scaled * scaled / FREEDOM)


class JaxPosterior:
    """`log_density(theta, data)`; with a mode and covariance, of z where theta = mode + L z."""

    def __init__(self, work, laplace=None):
        self.posterior = work.posterior
        self.data = (jnp.asarray(work.design), jnp.asarray(work.y))
        self.size = self.posterior.size
        self.mode = np.zeros(self.size) if laplace is None else laplace[0]
        self.lower = np.eye(self.size) if laplace is None else np.linalg.cholesky(laplace[1])

    def theta(self, z):
        return self.mode + self.lower @ z

    def thetas(self, zs):
        return self.mode + np.asarray(zs) @ self.lower.T

    def log_prior(self, z):
        return self.posterior.log_prior(self.theta(z), jnp)

    def rows(self, z, data):
        """Log-likelihoods of the rows in `data`."""
        beta, s = self.posterior.split(self.theta(z))
        eta = data[0] @ beta.astype(jnp.float32)
        return row_values(self.posterior.family, eta, data[1], jnp.asarray(s, jnp.float32))

    def log_density(self, z, data):
        return self.log_prior(z) + jnp.sum(self.rows(z, data).astype(jnp.float64))

    def gradient_seconds(self, repeats=3):
        """CPU seconds of one gradient, after compilation."""
        call = jax.jit(jax.value_and_grad(self.log_density))
        z = jnp.zeros(self.size)
        jax.block_until_ready(call(z, self.data))
        begin = time.process_time()
        for _ in range(repeats):
            jax.block_until_ready(call(z, self.data))
        return (time.process_time() - begin) / repeats


def scanned(step, length):
    """`length` steps in one compiled call: state, data -> state, positions. `step(state, data) -> (state, position)`."""

    @functools.partial(jax.jit, donate_argnums=())
    def many(state, data):
        return jax.lax.scan(lambda s, _: step(s, data), state, None, length=length)

    return many


def length_for(seconds, most=50):
    """Steps of one call, so that a call takes about a tenth of a second."""
    return int(np.clip(0.1 / max(seconds, 1e-9), 1, most))


def record(recorder, target, many, carry, most):
    """Calls `many` until time is over, at most `most` times, and keeps the draws."""
    recorder.ready()
    while not recorder.over() and len(recorder.pieces) < most:
        carry, z = jax.block_until_ready(many(carry, target.data))
        recorder.add(target.thetas(z))


def weights_against(work, mode, lower, piece=1 << 14):
    """z (k, size) -> log p(mode + L z) − log normal(z), up to a constant; rows in pieces that stay in cache."""
    target, posterior = JaxPosterior(work), work.posterior
    whole = len(work.y) // piece * piece
    parts = [a[:whole].reshape(-1, piece, *a.shape[1:]) for a in target.data], [a[whole:] for a in target.data]

    def values(beta, s, centre, design, y):
        one = lambda b, s: row_values(posterior.family, design @ b.T, y[:, None], s)
        return jnp.sum((one(beta, s) - one(*centre)).astype(jnp.float64), axis=0)

    def split(thetas):
        beta, s = posterior.split(thetas)
        return beta.astype(jnp.float32), jnp.asarray(s, jnp.float32) * jnp.ones(len(thetas), jnp.float32)

    @jax.jit
    def call(z, parts, rest):
        thetas, centre = mode + z @ lower.T, split(jnp.asarray(mode)[None])
        states = split(thetas)
        total = posterior.log_prior(thetas, jnp) + 0.5 * jnp.sum(z * z, axis=1) + values(*states, centre, *rest)
        add = lambda total, part: (total + values(*states, centre, *part), None)
        return jax.lax.scan(add, total, tuple(parts))[0]

    return lambda z: np.asarray(call(jnp.asarray(z), *parts))
