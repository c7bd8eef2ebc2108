"""Temporary folders: gone after every end of a process, and never in shared memory; folders that stay below a size."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import austerity as au

RUNNING = """
    import sys, time
    import numpy as np
    import austerity as au
    HANDLER
    X = np.random.default_rng(0).normal(size=(2_000, 3))
    y = (X[:, 0] > 0).astype(float)
    run = au.sample(au.Logistic(X, y), rule="exact", budget="120s", blocking=False)
    while run.progress["draws"] == 0:
        time.sleep(0.01)
    print(run.path.parent, flush=True)
    run.wait()
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and locks of POSIX")


def running(tmp_path, handler=""):
    """A process in the middle of a run, and its temporary folder."""
    code = textwrap.dedent(RUNNING).replace("HANDLER", handler)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    folder = Path(process.stdout.readline().strip())
    assert folder.parent == tmp_path and folder.is_dir()
    return process, folder


def ended(process, number):
    process.send_signal(number)
    try:
        return process.wait(30)
    finally:
        process.stdout.close()


@posix
def test_sigterm_removes_the_folder_and_ends_the_process_as_before(tmp_path):
    process, _ = running(tmp_path)
    assert ended(process, signal.SIGTERM) == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


@posix
def test_a_handler_of_the_program_is_left_alone(tmp_path):
    handler = "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    process, _ = running(tmp_path, handler)
    assert ended(process, signal.SIGTERM) == 7
    assert not list(tmp_path.iterdir())


@posix
def test_the_next_process_removes_what_a_killed_one_left(tmp_path):
    killed, stale = running(tmp_path)
    living, kept = running(tmp_path)
    assert ended(killed, signal.SIGKILL) == -signal.SIGKILL
    assert stale.exists()
    foreign = tmp_path / "austerity-notes"
    foreign.mkdir()
    third, _ = running(tmp_path)
    try:
        assert not stale.exists() and kept.exists() and foreign.exists()
    finally:
        ended(third, signal.SIGTERM)
        ended(living, signal.SIGTERM)
    assert list(tmp_path.iterdir()) == [foreign]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no shared memory here")
def test_nothing_is_kept_in_shared_memory(monkeypatch):
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    X = np.random.default_rng(0).normal(size=(1_000, 2))
    fit = au.sample(au.Linear(X, X @ [1.0, 2.0]), draws=50, progress=False)
    assert not str(fit.path.resolve()).startswith("/dev/shm")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_leaves_the_folder_of_its_parent(tmp_path):
    X = np.random.default_rng(0).normal(size=(1_000, 2))
    fit = au.sample(au.Linear(X, X @ [1.0, 2.0]), draws=50, progress=False)
    child = os.fork()
    if child == 0:
        fit._keep._finalizer()
        os._exit(0)
    os.waitpid(child, 0)
    assert fit.path.exists()


def test_a_budget_stores_a_bounded_number_of_draws():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2_000, 5))
    y = (X @ np.ones(5) + rng.logistic(size=2_000) > 0).astype(float)
    begun = time.monotonic()
    fit = au.sample(au.Logistic(X, y), budget=2, progress=False)
    # Loose, for a machine that does other things too.
    assert time.monotonic() - begun < 3 * 2 + 5
    assert fit.n_draws <= 65_536
    size = sum(file.stat().st_size for file in fit.path.rglob("*") if file.is_file())
    assert size < 100e6
    small = au.sample(au.Logistic(X, y), draws=50_000, chains=2, max_disk="12MB", progress=False)
    every = small.diagnose()["stored_every"]
    assert every > 1 and small.n_draws == 50_000 // every
    assert sum(file.stat().st_size for file in small.path.rglob("*") if file.is_file()) <= 12e6
    assert any(f"Stored every {every}" in text and "max" in text for text in small.diagnose()["remarks"])
