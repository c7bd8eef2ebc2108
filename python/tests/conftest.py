"""What the tests share: small data with known coefficients, the program if it is there."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def logistic(rng):
    X = rng.normal(size=(6000, 3))
    y = (rng.random(6000) < 1 / (1 + np.exp(-(X @ [1.0, -0.5, 0.2] + 0.3)))).astype(float)
    return X, y


@pytest.fixture
def program():
    """The program `austerity`, built from the same sources; tests that need it are skipped where it is missing."""
    named = os.environ.get("AUSTERITY_PROGRAM")
    found = named or next((str(p) for p in [ROOT / "target/debug/austerity", ROOT / "target/release/austerity"] if p.exists()), None)
    if found is None or shutil.which(found) is None:
        pytest.skip("the program austerity is not built: set AUSTERITY_PROGRAM")
    return found
