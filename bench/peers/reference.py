"""The reference posterior of a work: a long run of ours with certified (exact) decisions, or importance sampling, whichever has more effective
draws where both are good; each is checked by the other, and ours by what is not ours.

* importance sampling from the normal approximation (with a Laplace prior: of the likelihood only) by NumPy and JAX on all rows, where its weights
  are good enough (Pareto k below 0.5): the quantiles must agree.
* Stein's identities: E[∂ⱼ log p] = 0 and E[(θⱼ − μⱼ) ∂ⱼ log p] = −1 hold for draws of p and no other density with its support.

    python reference.py WORK_FOLDER [--effort 1] [--without-ours]

Where neither is good it is a long run of NumPyro's NUTS.
"""

import argparse
import json
import pathlib
import time

import numpy as np

import measure
import work as works
from kinked import Expanded


def long_run(work, effort):
    """Draws of ours, every decision exact."""
    import warnings

    import austerity as au

    from peers.ours import CHAINS, draws_of, model_of, watch

    warnings.simplefilter("ignore")
    seconds = 12 * effort
    recorder = measure.Recorder(seconds, seconds)
    options = dict(draws=int(min(25_000 * effort, 100_000)), chains=CHAINS, threads=1, seed=11, blocking=False)
    try:
        rule, run = "certified", au.sample(model_of(work), rule="certified", **options)
        watch(run, recorder)
        fit = run.abort()
    except ValueError:
        # No certificate for this model: every decision reads all rows.
        rule, recorder = "exact", measure.Recorder(seconds, seconds)
        run = au.sample(model_of(work), rule="exact", **options)
        watch(run, recorder)
        fit = run.abort()
    draws = draws_of(fit)[:, : fit.n_draws]
    return draws, f"austerity, {rule} decisions, {CHAINS} chains of {fit.n_draws:,}"


def importance(work, effort):
    """Independent draws of an approximation, their smoothed weights, Pareto k. With a kinked prior only the likelihood is approximated."""
    from peers.jax_posterior import weights_against
    from peers.laplace import smooth

    mode, covariance = work.posterior.laplace()
    rng, size = np.random.default_rng(31), len(mode)
    kinked = Expanded(work.posterior, mode) if work.prior.kind == "laplace" else None
    lower = np.eye(size) if kinked else np.linalg.cholesky(covariance)
    log_weights = weights_against(work, mode, lower)
    seconds, begin = 8 * effort, time.process_time()
    thetas, weights = [], []
    pool = kinked.draws(rng, int(4000 * effort)) if kinked else None
    while time.process_time() - begin < seconds and len(thetas) < 400:
        if kinked is None:
            z = rng.normal(size=(100, size))
            extra = 0.0
        elif len(pool) >= 100:
            z, pool = pool[:100] - mode, pool[100:]
            extra = -0.5 * (z * z).sum(1) - kinked.log_density(mode + z)
        else:
            break
        thetas.append(mode + z @ lower.T)
        weights.append(log_weights(z) + extra)
    weights, khat = smooth(np.concatenate(weights))
    return np.concatenate(thetas), weights, khat


def stein(work, draws, effort):
    """Largest deviation from Stein's identities in standard errors (of draws that depend on each other: ArviZ'), and how many there are."""
    import arviz

    chains, n, size = draws.shape
    seconds, begin = 4 * effort, time.process_time()
    # Evenly spaced draws of every chain, in an order that covers the whole chain wherever time ends.
    most = min(4000 // chains, n)
    places = np.linspace(0, n - 1, most).astype(int)
    order, done = np.random.default_rng(5).permutation(most), []
    gradients = np.zeros((chains, most, size))
    for group in np.array_split(order, max(1, most // 12)):
        if time.process_time() - begin > seconds and len(done) >= 100:
            break
        states = draws[:, places[group]]
        gradients[:, group] = work.posterior.gradients(states.reshape(-1, size)).reshape(states.shape)
        done.extend(group)
    done = np.sort(done)
    gradients, chosen = gradients[:, done], draws[:, places[done]]
    flat = draws.reshape(-1, size)
    scores = np.concatenate([gradients * flat.std(0), (chosen - flat.mean(0)) * gradients + 1], axis=2)
    ess = [arviz.ess(np.ascontiguousarray(scores[:, :, j]), method="mean") for j in range(scores.shape[2])]
    t = scores.mean((0, 1)) / scores.std((0, 1)) * np.sqrt(ess)
    largest, used = float(np.abs(t).max()), scores.shape[0] * scores.shape[1]
    return dict(largest=largest, identities=len(t), draws=used, passed=largest < 4.5)


def resampled(thetas, weights):
    """The importance sample as plain draws, for what needs those."""
    return thetas[np.random.default_rng(6).choice(len(thetas), size=4 * len(thetas), p=weights / weights.sum())][None]


def make(work, effort, ours=True):
    """Arrays of the reference, and what is to be said about it. Of ours and the importance sample the larger is taken, the other checks it."""
    thetas, weights, khat = importance(work, effort)
    about, own = dict(importance=dict(pareto_k=khat, draws=len(thetas))), None
    if ours:
        own, text = long_run(work, effort)
        own_ess = measure.ess(own)
        if own_ess < measure.ENOUGH:
            own, text = None, f"{text}: only {own_ess:.0f} effective draws, not used"
        about["ours"] = text
    if khat < 0.5:
        ess = float(weights.sum() ** 2 / (weights**2).sum())
        found = measure.moments(thetas, weights)
        errors = measure.independent_errors(ess, found[1])
        about["importance"]["ess"] = ess
        if own is not None:
            distance = np.abs(np.quantile(own, measure.PROBABILITIES, axis=(0, 1)) - found[2])
            # As many comparisons as Stein's identities, judged as those.
            ratio = float((distance / np.hypot(errors, measure.quantile_errors(own))).max())
            about["importance"].update(worst=ratio, passed=ratio < 4.5)
    if khat < 0.5 and (own is None or ess > own_ess):
        draws, about["ess"] = resampled(thetas, weights), ess
        about["made_by"] = f"importance sampling, {len(thetas):,} draws, Pareto k {khat:.2f}"
    else:
        if own is None:
            own, about["ours"] = nuts(work, effort)
            own_ess = measure.ess(own)
        draws, about["ess"], about["made_by"] = own, own_ess, about["ours"]
        found, errors = measure.moments(own.reshape(-1, own.shape[2])), measure.quantile_errors(own)
    about["stein"] = stein(work, draws if own is None else own, effort)
    flat = draws.reshape(-1, draws.shape[2])
    predictions = work.predictions(flat[:: max(1, len(flat) // 20_000)])
    mean, variance, quantiles = found
    arrays = dict(
        mean=mean,
        sd=np.sqrt(variance),
        quantiles=quantiles,
        errors=errors,
        prediction=predictions.mean(1),
        prediction_v1=np.array(predictions.var(1).mean()),
    )
    return arrays, about


def nuts(work, effort):
    """The last resort."""
    from peers import numpyro_nuts

    recorder = measure.Recorder(60 * effort)
    numpyro_nuts.run(work, recorder, "numpyro-nuts-whitened", 1)
    if not recorder.pieces:
        raise works.Skipped("no reference: neither ours nor importance sampling is good, and NUTS did not finish its warm-up")
    draws = np.concatenate([piece for _, piece, _ in recorder.pieces], axis=1)
    return draws, f"NumPyro NUTS, {draws.shape[1]:,} draws"


def load(folder):
    with np.load(folder / "reference.npz") as found:
        return dict(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--effort", type=float, default=1.0, help="CPU time in units of some 25 seconds")
    parser.add_argument("--without-ours", action="store_true")
    options = parser.parse_args()
    works.pin()
    arrays, about = make(works.load(options.folder), options.effort, not options.without_ours)
    (options.folder / "reference.json").write_text(json.dumps(about, indent=1))
    np.savez(options.folder / "reference.npz", **arrays)
    print(json.dumps(about))


if __name__ == "__main__":
    main()
