"""austerity by its public Python interface: by default, and with decisions that are certified to be the exact ones."""

import numpy as np

CHAINS = 4
#: Draws in all; beyond, only the reference's own error would be measured.
MOST = 100_000


def applies(work, name):
    return None


def model_of(work):
    """The same model in the package's words."""
    import austerity as au

    def prior(one):
        kinds = {"normal": lambda: au.Normal(one.scale), "laplace": lambda: au.Laplace(one.scale)}
        return kinds.get(one.kind, lambda: au.StudentT(one.freedom, one.scale))()

    options = dict(prior=prior(work.prior), intercept=work.intercept)
    if work.intercept:
        options["prior_intercept"] = prior(work.prior_intercept)
    if work.family == "student":
        options["priors"] = {"sigma": prior(work.prior_noise)}
    first = int(work.intercept)
    family = {"logistic": au.Logistic, "student": au.Student}[work.family]
    return family(work.design[:, first:], work.y, **options)


def draws_of(fit):
    """(chains, draws, size) in the order of the works: coefficients, then log σ."""
    columns = [np.log(fit.draws[name]) if name == "sigma" else fit.draws[name] for name in fit.draws]
    return np.stack(columns, axis=2)


def run(work, recorder, name, cores):
    import warnings

    import austerity as au

    warnings.simplefilter("ignore")
    options = dict(chains=CHAINS, threads=cores, progress=False)
    if name == "austerity-certified":
        options["rule"] = "certified"
    # A first run, not counted, says how many draws fit into the time.
    begin = recorder.now()
    pilot = au.sample(model_of(work), draws=200, seed=1, **options).diagnose()
    first = recorder.now()
    each = pilot["seconds"] / (200 * CHAINS)
    draws = int(np.clip(0.5 * recorder.limit / each / CHAINS, 200, MOST // CHAINS))
    fit = au.sample(model_of(work), draws=draws, seed=2, **options)
    taken = tuple(b - a for a, b in zip(first, recorder.now()))
    recorder.begin = tuple(a + b - c for a, b, c in zip(recorder.begin, first, begin))
    about = fit.diagnose()
    # Its own clock says how much of the time was sampling; CPU time is shared out alike.
    share = max(1 - about["seconds"] / taken[1], 0.0)
    recorder.setup = tuple(share * one for one in taken)
    recorder.spread(draws_of(fit), taken)
    recorder.note(f"{100 * about['data_share']:.2g} % of the rows per decision, {100 * about['acceptance']:.0f} % accepted")
    for reason in about["reasons"]:
        recorder.note(f"says of itself that it is not to be trusted: {reason}")
