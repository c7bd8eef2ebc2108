"""austerity by its public Python interface.

    austerity             the default fit
    austerity-certified   every accept/reject decision is certified to be the exact one
    austerity-exact       plain Metropolis–Hastings: random walk, every decision reads all rows
    austerity-paper       the same random walk with the sequential test of the paper (ε = 0.05, batches of 500 rows): its posterior is biased

Both random walks get what helps them. They start at the mode with steps of the best size, 2.38/√d posterior standard deviations, in the shape of the normal
approximation; so they need no warm-up. The test draws rows in blocks of 32, which is 20 times faster than single rows.
"""

import time
import warnings

import numpy as np

from bars import percent
from measure import ENOUGH, ess
from work import read_table

CHAINS = 4
#: Draws in all, if the time allows. Effective sample sizes of more take ArviZ minutes.
MOST = 1_000_000
OPTIONS = {
    "austerity": dict(chains=CHAINS),
    "austerity-certified": dict(chains=CHAINS, rule="certified"),
    "austerity-exact": dict(chains=1, rule="exact", proposal="adaptive", surrogate="none", warmup=0),
    "austerity-paper": dict(chains=1, preset="paper", proposal="adaptive", surrogate="none", warmup=0, block_rows=32),
}
WALKS = ("austerity-exact", "austerity-paper")
#: Effective draws per step of a random walk of the best scale, times the number of parameters (Roberts, Gelman & Gilks 1997): nobody's walk is better.
EFFICIENCY = 0.331
#: Runs that are tried until one has the effective samples that were asked for, each a quarter longer than the last.
TRIES = 4


def applies(work, name):
    if name == "austerity-certified" and work.family == "student":
        return "there is no certificate for Student-t noise"
    return None


def data_of(work):
    """Features and response as a user has them: columns of the file where there is one, else arrays."""
    if work.folder is None:
        return work.design[:, int(work.intercept) :], work.y
    table = read_table(work.folder)
    return table.drop_columns(["y"]), table["y"]


def model_of(work, data=None):
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
    family = {"logistic": au.Logistic, "student": au.Student}[work.family]
    return family(*(data or data_of(work)), **options)


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
    begin = recorder.now()
    data = data_of(work)
    # The clock of the limit starts after reading, as for the others.
    work.reading = tuple(now - before for now, before in zip(recorder.now(), begin))
    recorder.restart()
    options = OPTIONS[name]
    chains = options["chains"]
    running = au.sample(model_of(work, data), draws=MOST // chains, threads=cores, seed=2, blocking=False, **options)
    del data
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
    # Putting arrays together for ArviZ is not timed; reading the draws is.
    fit.draws
    read = tuple(now - before for now, before in zip(recorder.now(), summarised))
    draws, about = draws_of(fit)[:, : fit.n_draws], fit.diagnose()
    n = draws.shape[1]
    rows = f"{percent(about['data_share'])} of the rows per decision, {percent(about['acceptance'])} accepted"
    recorder.summary = (summarised[0] - made[0], n * chains)
    recorder.note(f"{rows}; its own summary of the {n * chains:,} draws took {recorder.summary[0]:.1f} CPU s more")
    for reason in about["reasons"] if name not in WALKS else []:
        recorder.note(f"its own verdict is that the draws cannot be trusted: {reason.rstrip('.')}")
    if name in WALKS and ess(draws) < ENOUGH:
        step = (made[0] - recorder.setup[0]) / n
        recorder.note(f"{n:,} draws in {made[0]:.0f} CPU s, {step * 1e3:.3g} ms per step: too few to measure their effective sample size")
        recorder.cannot_finish("draws", recorder.setup[0], EFFICIENCY / draws.shape[2] / step)
        return
    counts = [0] + [count for _, count, when in seen if when > recorder.setup]
    times = np.array([recorder.setup] + [when for _, _, when in seen if when > recorder.setup])
    cuts = np.unique(np.linspace(0, n, min(60, n) + 1).astype(int))
    for a, b in zip(cuts[:-1], cuts[1:]):
        when = [np.interp(b * chains, counts, times[:, i]) + read[i] * b / n for i in (0, 1)]
        recorder.pieces.append((tuple(when), draws[:, a:b], None))
    if name not in WALKS:
        recorder.measured = lambda count, needed: from_file(work, options, cores, count, needed, recorder.limit)


def from_file(work, options, cores, count, needed, limit):
    """CPU seconds of a run of its own: read the file, sample, summarise. Longer where ArviZ finds fewer than `count` effective samples in it."""
    import austerity as au

    spent = time.process_time()
    for attempt in range(TRIES):
        begin = time.process_time()
        if begin - spent > limit:
            return None
        fit = au.sample(model_of(work), draws=int(needed * 1.25**attempt), threads=cores, seed=3 + attempt, progress=False, **options)
        fit.draws
        seconds = time.process_time() - begin
        if ess(draws_of(fit)[:, : fit.n_draws]) >= count:
            return seconds
    return None
