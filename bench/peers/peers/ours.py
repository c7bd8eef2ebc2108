"""austerity by its public Python interface: by default, and with decisions that are certified to be the exact ones."""

import time
import warnings

import numpy as np

CHAINS = 4
#: Draws in all, if the time allows: a rate over fewer would mostly be that of the first audits, and others sample for longer than ours needs for these. With
#: little time fewer, since effective sample sizes of many draws take ArviZ a minute.
MOST, FEWER, LITTLE = 4_000_000, 1_000_000, 25.0


def applies(work, name):
    if name == "austerity-certified" and work.family == "student":
        return "decisions about Student noise have no certificate"
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


def watch(run, recorder):
    """Waits until the draws are made or time is over; returns what was seen: (what it does, draws in all, CPU and wall seconds)."""
    seen = []
    while True:
        state = run.progress
        seen.append((state["doing"], state["draws"], recorder.now()))
        if state["ended"] or state["doing"] == "summarising":
            return seen
        if recorder.setup is None and state["draws"] > 0:
            recorder.setup = beginning(seen)
        if recorder.over():
            return seen
        time.sleep(0.01)


def beginning(seen):
    """When draws began to be kept. Their number is refreshed ten times a second: the first may be that old; what came before was warm-up."""
    times = [when for doing, _, when in seen if doing == "sampling"] or [seen[-1][2]]
    return max([times[0]] + [when for when in times if when[1] < times[-1][1] - 0.1])


def run(work, recorder, name, cores):
    import austerity as au

    warnings.simplefilter("ignore")
    options = dict(rule="certified") if name == "austerity-certified" else {}
    most = FEWER if recorder.limit < LITTLE else MOST
    running = au.sample(model_of(work), draws=most // CHAINS, chains=CHAINS, threads=cores, seed=2, blocking=False, **options)
    seen = watch(running, recorder)
    made = recorder.now()
    if recorder.setup is None and seen[-1][1] > 0:
        recorder.setup = beginning(seen)
    ended = running.progress["ended"] or running.progress["doing"] == "summarising"
    fit = running.wait() if ended else running.abort()
    summarised = recorder.now()
    if fit is None or fit.n_draws < 8 or recorder.setup is None:
        recorder.cannot_finish("warm-up", made[0])
        return
    # Its own diagnostics are not timed, as nobody's are, nor is putting arrays together for ArviZ; reading the draws is.
    fit.draws
    read = tuple(now - before for now, before in zip(recorder.now(), summarised))
    draws, about = draws_of(fit)[:, : fit.n_draws], fit.diagnose()
    counts = [0] + [count for _, count, when in seen if when > recorder.setup]
    times = np.array([recorder.setup] + [when for _, _, when in seen if when > recorder.setup])
    n = draws.shape[1]
    cuts = np.unique(np.linspace(0, n, min(60, n) + 1).astype(int))
    for a, b in zip(cuts[:-1], cuts[1:]):
        when = [np.interp(b * CHAINS, counts, times[:, i]) + read[i] * b / n for i in (0, 1)]
        recorder.pieces.append((tuple(when), draws[:, a:b], None))
    share = np.format_float_positional(100 * about["data_share"], precision=2, fractional=False, trim="-")
    rows = f"{share} % of the rows per decision, {100 * about['acceptance']:.0f} % accepted"
    recorder.note(f"{rows}; its own summary of the {n * CHAINS:,} draws took {summarised[0] - made[0]:.1f} CPU s more, not counted")
    for reason in about["reasons"]:
        recorder.note(f"says of itself that it is not to be trusted: {reason}")
