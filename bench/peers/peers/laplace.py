"""The normal approximation at the mode (scoring in NumPy), and the same corrected by Pareto-smoothed importance sampling."""

import numpy as np

#: States whose densities are computed at once.
BATCH = 100


def applies(work, name):
    return None


def smooth(log_weights):
    """Pareto-smoothed weights and the shape k of their tail, by ArviZ."""
    import arviz

    logw, khat = arviz.psislw(np.array(log_weights, dtype=np.float64))
    return np.exp(np.asarray(logw) - np.max(logw)), float(khat)


def normal_draws(recorder, mode, covariance):
    """A normal approximation as its answer: draws of it, which nobody waits for."""
    recorder.kind = "approximation"
    recorder.add(mode + np.random.default_rng(1).normal(size=(40_000, len(mode))) @ np.linalg.cholesky(covariance).T)


def run(work, recorder, name, cores):
    mode, covariance = work.posterior.laplace()
    lower = np.linalg.cholesky(covariance)
    rng = np.random.default_rng(1)
    recorder.ready()
    if name == "laplace":
        normal_draws(recorder, mode, covariance)
        return
    if work.prior.kind == "laplace":
        recorder.note("the mode and curvature of a smoothed prior; weights are those of the prior itself")
    from peers.jax_posterior import weights_against

    log_weights = weights_against(work, mode, lower)
    log_weights(np.zeros((BATCH, len(mode))))
    recorder.ready()
    while not recorder.over() and len(recorder.pieces) < 400:
        z = rng.normal(size=(BATCH, len(mode)))
        recorder.add(mode + z @ lower.T, log_weights(z))
