"""The exact ICA step in NumPy and in vectorised numba: the same decision as the bench `ica` of the library.

A step compares an orthonormal unmixing matrix W with a candidate W' on N whitened samples of D = 4 sources and
needs sum_i sum_j log p(w'_j x_i) - log p(w_j x_i), log p(s) = -(|s| + 2 log1p(exp(-|s|))). Both peers are given what a
good implementation has: the log-likelihood of the current state is kept from the step before, so that a step evaluates the
candidate alone; samples in f32, source by source in memory, one thread; sums in f64.

    python bench/steps/ica.py [--rows 1950000] [--repeat 15] [--peer numpy|numba]

prints one JSON line per peer: {"step": "ica", "peer": "numba", "ns_per_item": ...}, the median over repetitions of CPU time
per sample. Needs numpy; numba for its part.
"""

import argparse
import json
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

D = 4


def numpy_log_likelihood(x, w):
    """Vectorised over all samples, temporaries reused."""
    s = w @ x
    np.abs(s, out=s)
    total = s.sum(dtype=np.float64)
    np.negative(s, out=s)
    np.exp(s, out=s)
    np.log1p(s, out=s)
    return -(total + 2.0 * s.sum(dtype=np.float64))


def numba_log_likelihood():
    """One pass over memory in blocks that stay in the first-level cache, every loop simple enough to be vectorised.

    exp and log are polynomials: where its compiler has no vector library, numba calls the scalar one for math.exp, which is five times
    slower. Loops are functions of slices: with x[k, start + i] the test for negative indices keeps them scalar. Four sources share one
    logarithm.
    """
    import numba

    f = np.float32
    block = 512
    jit = numba.njit(fastmath=True, error_model="numpy", nogil=True)

    @jit
    def exponentials(x0, x1, x2, x3, w, j, linear, mantissa, bits):
        """|s_j| added to `linear`; exp(-|s_j|) = 2^k e^r as `mantissa` and the bits of 2^k."""
        w0, w1, w2, w3 = w[j, 0], w[j, 1], w[j, 2], w[j, 3]
        for i in range(x0.shape[0]):
            s = abs(w0 * x0[i] + w1 * x1[i] + w2 * x2[i] + w3 * x3[i])
            linear[i] += s
            y = max(s * f(-1.44269504), f(-126.0))
            k = np.floor(y + f(0.5))
            r = (y - k) * f(0.69314718)
            q = f(0.5) + r * (f(1 / 6) + r * (f(1 / 24) + r * (f(1 / 120) + r * f(1 / 720))))
            mantissa[i] = f(1.0) + r + r * r * q
            bits[i] = (np.int32(k) + 127) << 23

    @jit
    def multiply(product, mantissa, power):
        for i in range(product.shape[0]):
            product[i] *= f(1.0) + mantissa[i] * power[i]

    @jit
    def split(product_bits, bits, exponent):
        for i in range(product_bits.shape[0]):
            bits[i] = (product_bits[i] & 0x7FFFFF) | 0x3F800000
            exponent[i] = np.float32((product_bits[i] >> 23) - 127)

    @jit
    def add(linear, power, exponent):
        """log(2^k m) = k log 2 + 2 atanh((m - 1)/(m + 1))."""
        part = f(0.0)
        for i in range(linear.shape[0]):
            u = (power[i] - f(1.0)) / (power[i] + f(1.0))
            v = u * u
            q = f(1 / 3) + v * (f(1 / 5) + v * (f(1 / 7) + v * (f(1 / 9) + v * f(1 / 11))))
            part += linear[i] + f(2.0) * (exponent[i] * f(0.69314718) + f(2.0) * (u + u * v * q))
        return part

    @jit
    def log_likelihood(x, w):
        rows = x.shape[1]
        total = 0.0
        exponent, linear = np.empty(block, np.float32), np.empty(block, np.float32)
        product, mantissa = np.empty(block, np.float32), np.empty(block, np.float32)
        bits = np.empty(block, np.int32)
        power, product_bits = bits.view(np.float32), product.view(np.int32)
        for start in range(0, rows, block):
            end = min(start + block, rows)
            count = end - start
            linear[:] = f(0.0)
            product[:] = f(1.0)
            for j in range(4):
                exponentials(
                    x[0, start:end], x[1, start:end], x[2, start:end], x[3, start:end], w, j, linear, mantissa, bits
                )
                multiply(product[:count], mantissa, power)
            split(product_bits[:count], bits, exponent)
            total += add(linear[:count], power, exponent)
        return -total

    return log_likelihood


def rotation(rng, sd):
    """exp of a skew matrix, by its series."""
    a = rng.normal(size=(D, D)) * sd
    a = a - a.T
    out, term = np.eye(D), np.eye(D)
    for order in range(1, 20):
        term = term @ a / order
        out = out + term
    return out


def step(log_likelihood, x, state, current, rng):
    """One exact Metropolis step with the current log-likelihood known."""
    candidate = state @ rotation(rng, 2e-4)
    value = log_likelihood(x, candidate.astype(np.float32))
    if np.log(rng.random()) < value - current:
        return candidate, value
    return state, current


def measure(name, log_likelihood, x, repeat):
    rng = np.random.default_rng(3)
    state = np.linalg.qr(rng.normal(size=(D, D)))[0]
    current = log_likelihood(x, state.astype(np.float32))
    times = []
    for _ in range(repeat):
        start = time.thread_time()
        state, current = step(log_likelihood, x, state, current, rng)
        times.append(time.thread_time() - start)
    nanoseconds = 1e9 * sorted(times)[len(times) // 2] / x.shape[1]
    print(json.dumps({"step": "ica", "peer": name, "ns_per_item": round(nanoseconds, 3)}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_950_000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--peer", choices=["numpy", "numba"])
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(D, options.rows)) * rng.normal(size=(D, options.rows))).astype(np.float32)
    if options.peer != "numba":
        measure("numpy", numpy_log_likelihood, x, options.repeat)
    if options.peer != "numpy":
        try:
            compiled = numba_log_likelihood()
        except ImportError:
            print("numba is not installed; its part is left out", file=sys.stderr)
            return
        w = np.eye(D, dtype=np.float32)
        exact, found = numpy_log_likelihood(x[:, :5000], w), compiled(x[:, :5000], w)
        assert abs(exact - found) < 1e-4 * abs(exact), (exact, found)
        measure("numba", compiled, x, options.repeat)


if __name__ == "__main__":
    main()
