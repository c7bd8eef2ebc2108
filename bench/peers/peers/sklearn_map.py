"""scikit-learn's penalised logistic regression: a point estimate, so only its predictions are compared."""

import numpy as np



def applies(work, name):
    if work.family != "logistic" or work.prior.kind != "normal":
        return "LogisticRegression has normal priors only"
    return None


def run(work, recorder, name, cores):
    from sklearn.linear_model import LogisticRegression

    first = int(work.intercept)
    model = LogisticRegression(C=work.prior.scale**2, fit_intercept=work.intercept, tol=1e-6, max_iter=1000)
    model.fit(work.design[:, first:], work.y)
    recorder.ready()
    recorder.kind = "point"
    recorder.point = np.concatenate([model.intercept_[:first], model.coef_[0]])
    recorder.note("the intercept is not penalised" if work.intercept else "a point estimate")
