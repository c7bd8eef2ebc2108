"""glum's GLM: the penalised estimate with its standard errors. No draws: its normal intervals are compared with the posterior's."""

import numpy as np

from peers.laplace import normal_draws


def applies(work, name):
    if work.family != "logistic" or work.prior.kind != "normal":
        return "only compared on logistic regression with normal priors"
    return None


def run(work, recorder, name, cores):
    from glum import GeneralizedLinearRegressor

    first = int(work.intercept)
    features, y = work.design[:, first:].astype(np.float64), work.y.astype(np.float64)
    # Without a penalty: glum has standard errors for plain maximum likelihood only.
    model = GeneralizedLinearRegressor(family="binomial", link="logit", alpha=0, fit_intercept=work.intercept, gradient_tol=1e-6)
    model.fit(features, y)
    covariance = np.asarray(model.covariance_matrix(features, y, robust=False))
    mean = np.concatenate([np.atleast_1d(model.intercept_)[:first], model.coef_])
    recorder.ready()
    normal_draws(recorder, mean, covariance)
    recorder.note("maximum likelihood without the prior; intervals of the normal approximation")
