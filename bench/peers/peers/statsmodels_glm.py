"""statsmodels' GLM: the maximum-likelihood estimate with its standard errors. No draws: its normal intervals are compared with the posterior's."""

import numpy as np

from peers.laplace import normal_draws


def applies(work, name):
    if work.family != "logistic" or work.prior.kind != "normal":
        return "only compared on logistic regression with normal priors"
    return None


def run(work, recorder, name, cores):
    import statsmodels.api as sm

    found = sm.GLM(work.y.astype(np.float64), work.design.astype(np.float64), family=sm.families.Binomial()).fit()
    mean, covariance = np.asarray(found.params), np.asarray(found.cov_params())
    recorder.ready()
    normal_draws(recorder, mean, covariance)
    recorder.note("maximum likelihood without the prior; intervals of the normal approximation")
