"""The reference posterior of a work: a long run of ours with certified (exact) decisions, checked by means that are not ours.

Checks, by NumPy and JAX on all rows:

* Stein's identities: E[∂ⱼ log p] = 0 and E[(θⱼ − μⱼ) ∂ⱼ log p] = −1 hold for draws of p and no other density with its support.
* importance sampling from the normal approximation, where its weights are good enough (Pareto k below 0.5): the quantiles must agree.

    python reference.py WORK_FOLDER [--quick] [--without-ours]

Without ours the reference is the importance sample where that is good, else a long run of NumPyro's NUTS.
"""

import argparse
import json
import pathlib
import time

import numpy as np

import measure
import work as works


def long_run(work, quick):
    """Draws of ours, every decision exact."""
    import warnings

    import austerity as au

    from peers.ours import draws_of, model_of

    warnings.simplefilter("ignore")
    seconds = 12 if quick else 120
    options = dict(rule="certified", chains=4, progress=False, threads=1)
    try:
        pilot = au.sample(model_of(work), draws=200, seed=11, **options).diagnose()
    except ValueError:
        # No certificate for this model: every decision reads all rows.
        options["rule"] = "exact"
        pilot = au.sample(model_of(work), draws=200, seed=11, **options).diagnose()
    draws = int(np.clip(seconds / (max(pilot["seconds"], 1e-4) / 200), 1000, 25_000))
    fit = au.sample(model_of(work), draws=draws, seed=12, **options)
    return draws_of(fit), f"austerity, {options['rule']} decisions, 4 chains of {draws:,}"


def importance(work, quick):
    """Draws of the normal approximation, their smoothed weights, Pareto k."""
    from peers.jax_posterior import weights_against
    from peers.laplace import smooth

    mode, covariance = work.posterior.laplace()
    lower = np.linalg.cholesky(covariance)
    log_weights, rng = weights_against(work, mode, lower), np.random.default_rng(31)
    seconds, begin = (6 if quick else 60), time.process_time()
    thetas, weights = [], []
    while time.process_time() - begin < seconds and len(thetas) < 400:
        z = rng.normal(size=(100, len(mode)))
        thetas.append(mode + z @ lower.T)
        weights.append(log_weights(z))
    weights, khat = smooth(np.concatenate(weights))
    return np.concatenate(thetas), weights, khat


def stein(work, draws, quick):
    """Largest deviation from Stein's identities in standard errors, and how many there are."""
    flat = draws.reshape(-1, draws.shape[2])
    seconds, begin = (6 if quick else 60), time.process_time()
    chosen = np.random.default_rng(5).choice(len(flat), size=min(4000, len(flat)), replace=False)
    gradients, used = [], 0
    while used < len(chosen) and time.process_time() - begin < seconds:
        gradients.append(work.posterior.gradients(flat[chosen[used : used + 50]]))
        used += 50
    gradients = np.concatenate(gradients)
    centred = flat[chosen[: len(gradients)]] - flat.mean(0)
    scores = np.concatenate([gradients * flat.std(0), centred * gradients + 1], axis=1)
    t = scores.mean(0) / (scores.std(0) / np.sqrt(len(scores)))
    return dict(largest=float(np.abs(t).max()), identities=len(t), draws=len(scores), passed=bool(np.abs(t).max() < 4.5))


def make(work, quick, ours=True):
    """Arrays of the reference, and what is to be said about it."""
    thetas, weights, khat = importance(work, quick)
    good = khat < 0.5
    about = dict(importance=dict(pareto_k=khat, draws=len(thetas)))
    if ours:
        draws, about["made_by"] = long_run(work, quick)
    elif good:
        probability = weights / weights.sum()
        draws = thetas[np.random.default_rng(6).choice(len(thetas), size=4 * len(thetas), p=probability)][None]
        about["made_by"] = f"importance sampling, {len(thetas):,} draws, Pareto k {khat:.2f}"
    else:
        from peers import numpyro_nuts

        recorder = measure.Recorder(60 if quick else 1800)
        numpyro_nuts.run(work, recorder, "numpyro-nuts-whitened", 1)
        if not recorder.pieces:
            raise works.Skipped("no reference: ours is not installed and NUTS did not finish its warm-up")
        draws = np.concatenate([piece for _, piece, _ in recorder.pieces], axis=1)
        about["made_by"] = f"NumPyro NUTS, {draws.shape[1]:,} draws"
    flat = draws.reshape(-1, draws.shape[2])
    mean, variance, quantiles = measure.moments(flat)
    errors = measure.quantile_errors(draws)
    about["ess"] = measure.ess_bulk(draws)
    about["stein"] = stein(work, draws, quick)
    if good:
        ess = weights.sum() ** 2 / (weights**2).sum()
        other = np.sqrt(0.025 * 0.975 / ess) / 0.0584 * np.sqrt(variance)
        distance = np.abs(measure.weighted_quantiles(thetas, weights) - quantiles)
        ratio = distance / np.maximum(measure.ERRORS * np.hypot(errors, other), measure.SDS * np.sqrt(variance))
        about["importance"].update(ess=float(ess), worst=float(ratio.max()), passed=bool(ratio.max() < 1))
    predictions = work.predictions(flat[:: max(1, len(flat) // 20_000)])
    arrays = dict(
        mean=mean,
        sd=np.sqrt(variance),
        quantiles=quantiles,
        errors=errors,
        prediction=predictions.mean(1),
        prediction_v1=np.array(predictions.var(1).mean()),
    )
    return arrays, about


def load(folder):
    with np.load(folder / "reference.npz") as found:
        return dict(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--without-ours", action="store_true")
    options = parser.parse_args()
    works.pin()
    arrays, about = make(works.load(options.folder), options.quick, not options.without_ours)
    (options.folder / "reference.json").write_text(json.dumps(about, indent=1))
    np.savez(options.folder / "reference.npz", **arrays)
    print(json.dumps(about))


if __name__ == "__main__":
    main()
