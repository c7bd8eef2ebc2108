"""Posteriors of families against importance sampling in double precision.

    python bench/families/reference.py [--program target/release/austerity] [--rows 2000] [FAMILY ...]

Each family is fitted to data that it generates. A Student proposal with the mean and the covariance of the draws, and densities that are written anew here, give means and standard deviations that share nothing
with the program but the data; their own errors are printed as the effective number of independent draws. Prints the worst distance of a mean from its reference, in standard
deviations and in Monte Carlo standard errors of both, and ends with 1 where one is beyond max(3.5 errors, .05 sd). Needs numpy.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRAWS = 200_000
FREEDOM = 8

log_erfc_parts = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))


def ordered(cdf):
    def log_likelihood(eta, extra, y):
        cuts = np.concatenate([[-np.inf, 0.0], extra, [np.inf]])
        if (np.diff(cuts) <= 0).any():
            return -np.inf
        chances = cdf(cuts[y + 1] - eta) - cdf(cuts[y] - eta)
        return np.log(np.maximum(chances, 1e-300)).sum()

    return log_likelihood


def logistic_cdf(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def zero_inflated(eta, extra, y):
    zero, mean = extra[0] / (1 + extra[0]), np.exp(eta)
    none = y == 0
    return np.log(zero + (1 - zero) * np.exp(-mean[none])).sum() + (np.log1p(-zero) + y * eta - mean)[~none].sum()


#: Log-likelihood of all rows, and the log prior density of an extra parameter.
FAMILIES = {
    "ordered-logit": (ordered(logistic_cdf), lambda c: -0.5 * (c / 10) ** 2),
    "ordered-probit": (ordered(log_erfc_parts), lambda c: -0.5 * (c / 10) ** 2),
    "zero-inflated-poisson": (zero_inflated, lambda o: -0.5 * (math.log(o) / 1.5) ** 2 - math.log(o)),
}


def columns(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], np.array(rows[1:], dtype=float)


def compare(program, family, rows, folder):
    data, run, out = folder / "data.csv", folder / f"run-{family}", folder / f"{family}.csv"
    subprocess.run([program, "generate", family, "--rows", str(rows), "--features", "2", "--seed", "5", "--out", str(data)], check=True, stdout=subprocess.DEVNULL)
    fit = [program, "fit", str(data), "--response", "y", "--family", family, "--prior", "normal:1", "--prior-intercept", "normal:5", "--draws", "4000", "--seed", "2"]
    done = subprocess.run([*fit, "--out", str(run)], stdout=subprocess.DEVNULL, check=False)
    subprocess.run([program, "export", str(run), "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    names, table = columns(data)
    X, y = table[:, [names.index("x1"), names.index("x2")]], table[:, names.index("y")].astype(int)
    names, draws = columns(out)
    keep = [k for k, name in enumerate(names) if name not in ("chain", "draw")]
    names, draws = [names[k] for k in keep], draws[:, keep]
    log_likelihood, log_prior = FAMILIES[family]
    extras = len(names) - 3
    # In logarithms of the extra parameters.
    state = np.column_stack([draws[:, :3], np.log(draws[:, 3:])])
    mean, factor = state.mean(axis=0), np.linalg.cholesky(np.cov(state.T))
    rng = np.random.default_rng(1)
    count = DRAWS // max(1, rows // 200)
    z = rng.normal(size=(count, len(names))) / np.sqrt(rng.chisquare(FREEDOM, size=(count, 1)) / FREEDOM)
    tried = mean + z @ factor.T
    logs = np.empty(count)
    for i, at in enumerate(tried):
        extra = np.exp(at[3:])
        logs[i] = log_likelihood(at[0] + X @ at[1:3], extra, y) - 0.5 * (at[0] / 5) ** 2 - 0.5 * (at[1:3] ** 2).sum()
        logs[i] += sum(log_prior(value) + math.log(value) for value in extra)
        logs[i] += 0.5 * (FREEDOM + len(names)) * math.log1p((z[i] ** 2).sum() / FREEDOM)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    values = np.column_stack([tried[:, :3], np.exp(tried[:, 3:])])
    right = weights @ values
    spread = np.sqrt(weights @ (values - right) ** 2)
    effective = 1 / (weights**2).sum()
    found = draws.mean(axis=0)
    apart = np.abs(found - right) / spread
    errors = np.sqrt(1 / effective + 1 / 4000)
    worst = int(apart.argmax())
    wide = np.abs(draws.std(axis=0) / spread - 1).max()
    bad = apart[worst] > max(3.5 * errors, 0.05)
    print(
        f"| {family} | {len(y)} | {names[worst]}: {apart[worst]:.3f} sd, {apart[worst] / errors:.1f} errors | {100 * wide:.1f} % | {effective:.0f} | "
        f"{'trusted' if done.returncode == 0 else 'untrusted'} | {'MISSED' if bad else 'right'} |",
        flush=True,
    )
    return bad or extras == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "austerity"))
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    print("| family | rows | worst mean | worst sd | effective draws of the reference | verdict | |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="austerity-reference-") as folder:
        return int(any([compare(options.program, family, options.rows, pathlib.Path(folder)) for family in options.families]))


if __name__ == "__main__":
    sys.exit(main())
