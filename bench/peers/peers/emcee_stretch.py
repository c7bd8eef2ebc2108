"""emcee's affine invariant ensemble, started from the normal approximation; small works only."""

import numpy as np

MOST_ROWS = 50_000


def applies(work, name):
    if len(work.y) > MOST_ROWS:
        return f"an ensemble needs hundreds of full evaluations per step: not run beyond {MOST_ROWS:,} rows"
    return None


def run(work, recorder, name, cores):
    import emcee

    posterior = work.posterior
    mode, covariance = posterior.laplace()
    walkers = 2 * len(mode) + 2
    sampler = emcee.EnsembleSampler(walkers, len(mode), posterior.log_densities, vectorize=True)
    rng = np.random.default_rng(1)
    start = mode + rng.normal(size=(walkers, len(mode))) @ np.linalg.cholesky(covariance).T
    state = emcee.State(start, random_state=np.random.RandomState(1).get_state())
    while not recorder.over(0.25):
        state = sampler.run_mcmc(state, 5, store=False)
    recorder.ready()
    while not recorder.over():
        sampler.reset()
        state = sampler.run_mcmc(state, 5, store=True)
        recorder.add(sampler.get_chain().transpose(1, 0, 2))
    recorder.note(f"{walkers} walkers; a quarter of the time is burn-in; effective samples over walkers as chains, which depend on each other")
