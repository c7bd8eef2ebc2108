"""nutpie on a PyMC model (numba), its own warm-up."""

import time

import numpy as np

WARMUP = 400


def applies(work, name):
    return None


def model_of(work):
    """The model as a PyMC user writes it."""
    import pymc as pm

    def one(name, prior, **shape):
        if prior.kind == "normal":
            return pm.Normal(name, 0, prior.scale, **shape)
        if prior.kind == "laplace":
            return pm.Laplace(name, 0, prior.scale, **shape)
        return pm.StudentT(name, nu=prior.freedom, mu=0, sigma=prior.scale, **shape)

    first = int(work.intercept)
    with pm.Model() as model:
        X = pm.Data("X", work.design[:, first:])
        beta = one("beta", work.prior, shape=work.design.shape[1] - first)
        eta = X @ beta
        if work.intercept:
            eta = eta + one("intercept", work.prior_intercept)
        if work.family == "logistic":
            pm.Bernoulli("y", logit_p=eta, observed=work.y)
        else:
            s = one("log_sigma", work.prior_noise)
            pm.StudentT("y", nu=4.0, mu=eta, sigma=pm.math.exp(s), observed=work.y)
    return model


def draws_of(trace, work):
    found = trace.posterior
    columns = [np.asarray(found["intercept"])[..., None]] if work.intercept else []
    columns.append(np.asarray(found["beta"]))
    if work.family == "student":
        columns.append(np.asarray(found["log_sigma"])[..., None])
    return np.concatenate(columns, axis=2)


def finished(sampler):
    """A sampler that is busy does not answer in time."""
    try:
        return sampler.is_finished
    except TimeoutError:
        return False


def run(work, recorder, name, cores):
    import nutpie

    compiled = nutpie.compile_pymc_model(model_of(work))
    sampler = nutpie.sample(
        compiled, draws=100_000, tune=WARMUP, chains=1, cores=1, seed=1, progress_bar=False, blocking=False, store_divergences=False
    )
    begin = recorder.now()
    while not recorder.over() and not finished(sampler):
        time.sleep(0.1)
    end = recorder.now()
    trace = sampler.abort()
    drawn = 0 if trace is None or "posterior" not in trace.groups() else trace.posterior.sizes["draw"]
    if drawn < 8:
        tuned = 0 if trace is None or "warmup_posterior" not in trace.groups() else trace.warmup_posterior.sizes["draw"]
        recorder.note(f"{tuned} of {WARMUP} warm-up steps in {end[0]:.0f} s, of which {begin[0]:.0f} s compilation")
        spent = end[0] - begin[0]
        recorder.cannot_finish("warm-up", end[0] + spent * (WARMUP - tuned) / max(tuned, 1), max(tuned, 1) / spent)
        return
    gradients = np.asarray(trace.sample_stats["n_steps"])[0].sum()
    tuning = np.asarray(trace.warmup_sample_stats["n_steps"])[0].sum()
    share = float(tuning / (tuning + gradients))
    recorder.setup = tuple(b + share * (e - b) for b, e in zip(begin, end))
    recorder.spread(draws_of(trace, work), end)
    recorder.note(f"{gradients / drawn:.0f} gradients per draw; warm-up's share of the time by its share of the gradients")
