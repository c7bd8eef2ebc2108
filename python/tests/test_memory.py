"""What a JAX model needs at its peak is what the guide says: the derivatives of all rows, and the data."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PEAK = """
    import sys
    import numpy as np, jax.numpy as jnp
    import austerity as au

    rows, d = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, d), dtype=np.float32).astype(np.float64)
    y = (rng.random(rows) < 0.5).astype(np.float64)

    def log_likelihood(theta, row):
        x, outcome = row
        return -jnp.logaddexp(0.0, -(2 * outcome - 1) * (x @ theta))

    model = au.JaxModel(log_likelihood, lambda theta: -0.5 * theta @ theta, data=(X, y), start=np.zeros(d), scale=np.full(d, 2 / rows**0.5))
    fit = au.sample(model, draws=20, chains=1, warmup=20, progress=False)
    assert fit.diagnose()["proposal"] and not any("no surrogate" in remark for remark in fit.remarks), fit.remarks
    status = open("/proc/self/status").read()
    print(int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024)
"""


def peak(rows, d):
    """Bytes that a process holds at most while it samples."""
    code = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PEAK), str(rows), str(d)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_the_peak_of_a_jax_model_is_what_the_guide_says():
    pytest.importorskip("jax")
    rows, few, d = 14_000, 3_000, 60
    grown = peak(rows, d) - peak(few, d)
    derivatives = (rows - few) * d * (d + 3) // 2 * 8
    # Once with the user, once with JAX, and the random numbers that they are made of.
    data = (rows - few) * (d + 1) * 8 * 2.5
    said = derivatives + data
    # Whole Hessians held two to three times, as they once were, are four to six times as much.
    assert 0.8 * derivatives < grown < 1.15 * said, f"{grown / 1e6:.0f} MB, said {said / 1e6:.0f} MB"
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    assert re.search(r"N·d\(d \+ 3\)/2 numbers", text)
