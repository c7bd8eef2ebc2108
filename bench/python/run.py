"""What Python costs: the package against the program, callbacks, compiled functions, Ctrl-C.

    python bench/python/run.py [overhead] [callback] [compiled] [interrupt] [--program target/release/austerity] [--cargo cargo]

Needs the package installed as it is released (`pip install .`), numba for `compiled`, pyarrow for `overhead`, and the release build of the
program (`cargo build --release -p austerity-cli`). Prints one line per bar with its verdict; ends with 1 when one is missed.
"""

import argparse
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np

import austerity as au

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
warnings.simplefilter("ignore")


def verdict(what, value, bar, unit, at_least=False):
    met = value >= bar if at_least else value <= bar
    print(f"{what}: {value:.2f}{unit}, required {'≥' if at_least else '≤'} {bar}{unit}: {'PASS' if met else 'FAIL'}", flush=True)
    return met


def keep(best, who, everything, told):
    """The least of what a run took: by the clock, and by what it tells of itself."""
    for what, seconds in (("everything", everything), ("inside", told["seconds"] + told["preparation_seconds"])):
        best[who, what] = min(best.get((who, what), math.inf), seconds)


def overhead(options):
    """The same run by the program and by the package, the least of three each: preparation and chains, as each tells of itself, and everything from
    the table (its file, in memory) to the summary by the clock on the wall."""
    import pandas

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = folder / "data.parquet"
        program = str(options.program)
        make = [program, "generate", "logistic", "--rows", "1000000", "--features", "20", "--out", str(data)]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        table = pandas.read_parquet(data)
        draws = 200_000
        best = {}
        for turn in range(3):
            out = folder / f"program-{turn}"
            words = [program, "fit", str(data), "--response", "y", "--out", str(out), "--draws", str(draws), "--threads", "2", "--json"]
            start = time.monotonic()
            done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            keep(best, "program", time.monotonic() - start, json.loads(done.stdout))
            start = time.monotonic()
            model = au.Logistic(table.drop(columns="y"), table["y"])
            fit = au.sample(model, draws=draws, out=folder / f"python-{turn}", threads=2, progress=False)
            told = fit.diagnose()
            keep(best, "package", time.monotonic() - start, told)
        for (who, what), seconds in best.items():
            print(f"{who}, {what}: {seconds:.3f} s")
        ratio = lambda what: best["package", what] / best["program", what]
        inside = verdict("package over program, preparation and chains", ratio("inside"), 1.05, " ×")
        return verdict("package over program, everything", ratio("everything"), 1.05, " ×") and inside


def callback(_):
    """A function that does nothing: CPU time per call, for batches of 32 rows."""
    rng = np.random.default_rng(1)
    rows = 200_000
    answers = [rng.normal(size=rows)]
    answers.append(answers[0] + 0.01 * rng.normal(size=rows))
    calls = [0]

    def log_likelihood(theta, rows):
        calls[0] += 1
        return answers[calls[0] & 1][: len(rows)]

    model = au.Model(log_likelihood, lambda theta: 0.0, rows=rows, start=[0.0], scale=[0.001])
    found = []
    for draws in (2_000, 42_000):
        calls[0] = 0
        start = time.process_time()
        au.sample(
            model, draws=draws, chains=1, warmup=10, rule="sequential", epsilon=0.5, batch=32, law="metropolis", audit="off",
            preset="paper", block_rows=32, proposal="random-walk:0.001", threads=1, progress=False,
        )  # fmt: skip
        found.append((time.process_time() - start, calls[0]))
    each = 1e6 * (found[1][0] - found[0][0]) / (found[1][1] - found[0][1])
    return verdict("NumPy callback, batch of 32 rows", each, 6.0, " µs")


def compiled(options):
    """Logistic regression by numba in the sampler, per row against the same loop in Rust, and two chains on two threads."""
    import numba

    rng = np.random.default_rng(1)
    rows, columns = 20_000, 20
    x = rng.normal(size=(rows, columns))
    data = np.column_stack([x, rng.random(rows) < 0.5]).astype(float)

    @numba.cfunc(au.NumbaModel.signature())
    def log_likelihood(theta, k, data, first, count, out):
        for i in range(count):
            base = (first + i) * (k + 1)
            eta = 0.0
            for j in range(k):
                eta += theta[j] * data[base + j]
            sign = 2.0 * data[base + k] - 1.0
            out[i] = -math.log1p(math.exp(-sign * eta))

    @numba.cfunc(au.NumbaModel.prior_signature())
    def log_prior(theta, k):
        total = 0.0
        for j in range(k):
            total -= 0.5 * theta[j] * theta[j]
        return total

    model = au.NumbaModel(log_likelihood, data, log_prior=log_prior, start=np.zeros(columns), scale=np.full(columns, 0.005))
    fixed = {"rule": "exact", "proposal": "random-walk:0.001", "warmup": 5, "chains": 2, "progress": False}

    def seconds(threads, clock, draws):
        start = clock()
        au.sample(model, draws=draws, threads=threads, **fixed)
        return clock() - start

    per_row, ratios = math.inf, []
    rust = math.inf
    for _ in range(3):
        bench = [options.cargo, "bench", "-q", "-p", "austerity-glm", "--bench", "scalar"]
        done = subprocess.run(bench, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        rust = min(rust, json.loads(done.stdout.splitlines()[-1])["ns_per_item"])
        cost = seconds(1, time.process_time, 320) - seconds(1, time.process_time, 20)
        per_row = min(per_row, 1e9 * cost / (2 * 300 * rows))
        one, two = (seconds(t, time.monotonic, 1020) - seconds(t, time.monotonic, 20) for t in (1, 2))
        ratios.append(one / two)
    print(f"numba {per_row:.1f} ns per row, Rust {rust:.1f} ns")
    near = verdict("numba over a scalar loop in Rust", per_row / rust, 1.3, " ×")
    return verdict("numba on two threads", max(ratios), 1.8, " ×", at_least=True) and near


def interrupt(_):
    """From Ctrl-C to the chains standing still and the fit in hand."""
    waits = np.random.default_rng(1).exponential(0.5, size=30_000)
    model = au.Model(lambda t, r: t[0] - np.exp(t[0]) * waits[r], lambda t: -0.5 * t[0] ** 2, rows=len(waits), start=[0.7])
    took = []
    for _ in range(5):
        sent = []

        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(3.0, press).start()
        fit = au.sample(model, budget="60s", warmup=10, rule="exact", progress=False)
        took.append(time.monotonic() - sent[0])
        assert fit.interrupted and fit.n_draws > 0
    return verdict("Ctrl-C to the fit, the worst of five", 1e3 * max(took), 100.0, " ms")


PARTS = {"overhead": overhead, "callback": callback, "compiled": compiled, "interrupt": interrupt}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all unless named")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target" / "release" / "austerity")
    parser.add_argument("--cargo", default="cargo")
    options = parser.parse_args()
    met = [PARTS[name](options) for name in options.parts or PARTS]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
