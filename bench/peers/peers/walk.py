"""The random walk that the plain Metropolis peers share: shaped by the normal approximation, started at its mode."""

import numpy as np


def exactly(log_density, mode, rows):
    """Decides by the density of the candidate; that of the state is kept."""
    here = log_density(mode)

    def decide(theta, candidate, threshold):
        nonlocal here
        there = log_density(candidate)
        accept = there - here > threshold
        if accept:
            here = there
        return accept, rows

    return decide


def walk(mode, covariance, recorder, rows, rng, decide):
    """Steps until time is over; `decide(theta, candidate, threshold)` tells whether to accept and how many rows that took."""
    lower = 2.38 / np.sqrt(len(mode)) * np.linalg.cholesky(covariance)
    theta, kept, used, steps = mode, [], 0, 0
    recorder.ready()
    while not recorder.over():
        candidate = theta + lower @ rng.normal(size=len(mode))
        accept, read = decide(theta, candidate, np.log(rng.random()))
        if accept:
            theta = candidate
        used += read
        steps += 1
        kept.append(theta)
        if len(kept) >= 20 or recorder.over():
            recorder.add(np.array(kept))
            kept = []
    recorder.note(f"{steps} steps, {100 * used / rows / max(steps, 1):.0f} % of the rows per step")
