"""Writes diagnostics.json: draws and what ArviZ says about them.

    pip install arviz==0.23.4
    python make_diagnostics.py > diagnostics.json

Every case has draws[chain][draw] and the expected value of every diagnostic. Numbers
carry all their digits; NaN and infinity, which JSON lacks, are strings.
"""

import json
import logging
import math
import warnings

import arviz as az
import numpy as np
import scipy

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")

PROBABILITIES = [0.025, 0.05, 0.25, 0.5, 0.9, 0.975]


def autoregressive(rng, chains, draws, phi):
    x = np.empty((chains, draws))
    state = rng.standard_normal(chains)
    for t in range(draws):
        state = phi * state + math.sqrt(1 - phi**2) * rng.standard_normal(chains)
        x[:, t] = state
    return x


def cases():
    rng = np.random.default_rng(20240607)
    normal = rng.standard_normal
    yield "independent_normal", normal((4, 250))
    yield "autoregressive_0.9", autoregressive(rng, 4, 250, 0.9)
    yield "autoregressive_0.5_two_chains", autoregressive(rng, 2, 200, 0.5)
    yield "autoregressive_0.99_not_converged", autoregressive(rng, 4, 150, 0.99)
    yield "antithetic", autoregressive(rng, 4, 120, -0.9)
    yield "different_means", normal((4, 100)) + np.array([[0.0], [0.0], [0.5], [3.0]])
    yield "different_widths", normal((4, 100)) * np.array([[1.0], [1.0], [1.0], [8.0]])
    yield "cauchy", rng.standard_cauchy((4, 150))
    yield "odd_length", autoregressive(rng, 3, 101, 0.6)
    yield "single_chain", autoregressive(rng, 1, 201, 0.3)
    yield "order_statistic_hit", normal((1, 101))
    yield "four_draws", normal((2, 4))
    yield "five_draws", normal((3, 5))
    yield "seven_draws", normal((4, 7))
    yield "eight_draws", normal((2, 8))
    yield "nine_draws", normal((4, 9))
    yield "ten_draws", normal((1, 10))
    yield "eleven_draws_sticky", autoregressive(rng, 3, 11, 0.95)
    yield "thirteen_draws_antithetic", autoregressive(rng, 3, 13, -0.95)
    yield "three_draws", normal((4, 3))
    yield "constant", np.full((4, 20), 2.5)
    yield "constant_odd_length", np.full((2, 11), -1.0)
    yield "constant_each_its_own", np.array([[1.0] * 12, [2.0] * 12, [4.0] * 12])
    one = normal((3, 40))
    one[1] = 0.5
    yield "one_chain_stuck", one
    yield "integers", rng.poisson(3.0, (4, 100)).astype(float)
    yield "few_values", rng.integers(0, 3, (2, 51)).astype(float)
    yield "signs", rng.choice([-1.0, 1.0], (4, 50))
    yield "rejections", np.repeat(normal((4, 30)), 5, axis=1)
    # Further out ArviZ itself loses digits in the means.
    yield "far_from_zero", 1e3 + autoregressive(rng, 4, 100, 0.5)
    yield "tiny_scale", 1e-5 * autoregressive(rng, 4, 60, 0.5)
    yield "skewed", np.exp(2 * autoregressive(rng, 4, 100, 0.4))
    with_nan = normal((2, 20))
    with_nan[1, 7] = np.nan
    yield "not_a_number", with_nan


def expected(x):
    with np.errstate(all="ignore"):
        finite = not np.isnan(x).any()
        hdi = lambda p: list(az.hdi(x.ravel(), hdi_prob=p)) if finite else [math.nan] * 2
        return {
            "mean": x.mean(),
            "sd": x.std(ddof=1),
            "rhat": az.rhat(x, method="rank"),
            "rhat_bulk": az.rhat(x, method="z_scale"),
            "rhat_folded": az.rhat(x, method="folded"),
            "split_rhat": az.rhat(x, method="split"),
            "ess_bulk": az.ess(x, method="bulk"),
            "ess_tail": az.ess(x, method="tail"),
            "ess_mean": az.ess(x, method="mean"),
            "ess_sd": az.ess(x, method="sd"),
            "ess_median": az.ess(x, method="median"),
            "mcse_mean": az.mcse(x, method="mean"),
            "mcse_sd": az.mcse(x, method="sd"),
            "mcse_median": az.mcse(x, method="median"),
            "quantile": list(np.quantile(x, PROBABILITIES)),
            "ess_quantile": [az.ess(x, method="quantile", prob=p) for p in PROBABILITIES],
            "mcse_quantile": [az.mcse(x, method="quantile", prob=p) for p in PROBABILITIES],
            "hdi_50": hdi(0.5),
            "hdi_94": hdi(0.94),
            "autocorrelation": list(az.autocorr(x[0])[:10]),
        }


def plain(value):
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(inner) for inner in value]
    value = float(value)
    return value if math.isfinite(value) else str(value)


def main():
    versions = {"arviz": az.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
    print('{"versions": ' + json.dumps(versions) + ",")
    print('"probabilities": ' + json.dumps(PROBABILITIES) + ",")
    print('"cases": [')
    lines = []
    for name, x in cases():
        lines.append(json.dumps({"name": name, "draws": plain(x), "expected": plain(expected(x))}))
    print(",\n".join(lines))
    print("]}")


if __name__ == "__main__":
    main()
