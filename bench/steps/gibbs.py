#!/usr/bin/env python3
"""The exact Gibbs conditional of the paper's Markov random field in NumPy and numba: D = 100 binary variables, all triples.

The same problem as `cargo bench -p austerity --bench gibbs`: for variable i, sum over its 4,851 pairs of neighbours (j, k) the
difference log psi(1, x_j, x_k) - log psi(0, x_j, x_k), of which four are stored, in single precision, with the pairs in
random order. Variables in turn, as in a sweep. One thread, processor time, the median of many sweeps. Of the two numba
versions (look-up of one of four; all four under masks, which the compiler vectorises) the faster one counts.

Prints one JSON line a peer: {"step": "gibbs", "peer": "numba", "ns_per_item": ...}.
"""
import argparse
import json
import time

import numpy as np

D = 100
N = (D - 1) * (D - 2) // 2


def problem(seed):
    rng = np.random.default_rng(seed)
    upper = np.triu_indices(D - 1, 1)
    differences = np.empty((D, N, 4), np.float32)
    first = np.empty((D, N), np.uint8)
    second = np.empty((D, N), np.uint8)
    for i in range(D):
        others = np.delete(np.arange(D), i)
        order = rng.permutation(N)
        first[i], second[i] = others[upper[0][order]], others[upper[1][order]]
        differences[i] = rng.normal(0, 0.02, (N, 4)) - rng.normal(0, 0.02, (N, 4))
    return differences, first, second, rng.integers(0, 2, D).astype(np.uint8)


def median(sweep, rounds):
    times = []
    for _ in range(rounds):
        start = time.process_time_ns()
        sweep()
        times.append((time.process_time_ns() - start) / (D * N))
    return float(np.median(times))


def report(peer, time_of, found, exact):
    assert np.allclose(found, exact, atol=1e-4), f"{peer}: wrong sums"
    print(json.dumps({"step": "gibbs", "peer": peer, "ns_per_item": round(time_of, 4)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=["numpy", "numba", "all"], default="all")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    differences, first, second, x = problem(1)
    chosen = 2 * x[first].astype(np.intp) + x[second]
    exact = np.take_along_axis(differences, chosen[:, :, None], 2)[:, :, 0].sum(1, dtype=np.float64)

    if options.peer in ("numpy", "all"):
        base = 4 * np.arange(N)
        flat = differences.reshape(D, -1)
        doubled = 2 * x
        out = np.empty(D)

        def sweep():
            for i in range(D):
                out[i] = flat[i].take(base + (doubled.take(first[i]) + x.take(second[i]))).sum()

        report("numpy", median(sweep, max(options.rounds // 10, 5)), out, exact)

    if options.peer in ("numba", "all"):
        import numba

        numba.set_num_threads(1)

        @numba.njit(fastmath=True, error_model="numpy")
        def look_up(differences, first, second, x, out):
            for i in range(D):
                total = np.float32(0)
                for n in range(N):
                    total += differences[i, n, 2 * x[first[i, n]] + x[second[i, n]]]
                out[i] = total

        @numba.njit(fastmath=True, error_model="numpy")
        def masked(planes, first, second, x, out):
            for i in range(D):
                total = np.float32(0)
                a, b, c, d = planes[i, 0], planes[i, 1], planes[i, 2], planes[i, 3]
                j, k = first[i], second[i]
                for n in range(N):
                    low = b[n] if x[k[n]] != 0 else a[n]
                    high = d[n] if x[k[n]] != 0 else c[n]
                    total += high if x[j[n]] != 0 else low
                out[i] = total

        planes = np.ascontiguousarray(differences.transpose(0, 2, 1))
        times = []
        for function, tables in ((look_up, differences), (masked, planes)):
            out = np.empty(D)
            function(tables, first, second, x, out)  # compiles
            times.append(median(lambda: function(tables, first, second, x, out), options.rounds))
            assert np.allclose(out, exact, atol=1e-4), "numba: wrong sums"
        report("numba", min(times), out, exact)


if __name__ == "__main__":
    main()
