"""Runs in the background, Ctrl-C, forks, and folders shared with the program."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import austerity as au


def endless(logistic, **options):
    X, y = logistic
    return au.sample(au.Logistic(X, y), budget="60s", rule="exact", proposal="adaptive", blocking=False, **options)


def test_a_handle_tells_pauses_goes_on_and_aborts(logistic):
    run = endless(logistic)
    with pytest.raises(TimeoutError):
        run.wait(0.01)
    for _ in range(400):
        if run.progress["draws"] > 0:
            break
        time.sleep(0.05)
    assert run.progress["doing"] == "sampling" and "Length" in run.plan
    run.pause()
    time.sleep(0.3)
    before = run.progress
    assert before["doing"] == "paused"
    time.sleep(0.5)
    assert run.progress["draws"] == before["draws"]
    run.resume()
    time.sleep(0.5)
    assert run.progress["draws"] > before["draws"]
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(run)
    fit = run.abort()
    assert fit is not None and fit.n_draws > 0 and fit.interrupted
    assert run.wait() is fit and run.inspect() is fit


def test_a_partial_trace_can_be_looked_at(logistic):
    run = endless(logistic)
    deadline = time.monotonic() + 20
    seen = None
    while seen is None and time.monotonic() < deadline:
        time.sleep(0.2)
        seen = run.inspect()
    assert seen is not None and 0 < seen.n_draws
    kept = seen.draws["x1"].copy()
    later = run.abort()
    assert later.n_draws >= seen.n_draws
    assert np.array_equal(later.draws["x1"][:, : kept.shape[1]], kept)


INTERRUPTED = """
    import numpy as np, time, os, signal, threading, warnings
    import austerity as au
    waits = np.random.default_rng(1).exponential(0.5, size=30_000)
    model = au.Model(lambda t, r: t[0] - np.exp(t[0]) * waits[r], lambda t: -0.5 * t[0] ** 2, rows=len(waits), start=[0.7])
    sent = []
    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(SECONDS, interrupt).start()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = au.sample(model, budget="60s", warmup=10, rule="exact", progress=False)
    print(time.monotonic() - sent[0], fit.n_draws, fit.interrupted, "interrupted" in str(caught[-1].message))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_control_c_returns_what_exists():
    code = textwrap.dedent(INTERRUPTED).replace("SECONDS", "4.0")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seconds, draws, interrupted, warned = done.stdout.split()
    assert int(draws) > 0 and interrupted == "True" and warned == "True"
    # 100 ms for the signal, the rest for the summary and a loaded machine.
    assert float(seconds) < 1.5


def test_python_ends_while_a_run_goes_on():
    code = """
    import numpy as np, time
    import austerity as au
    model = au.Model(lambda t, r: -0.5 * t[0] ** 2 * np.ones(len(r)), lambda t: 0.0, rows=20_000, start=[0.0], scale=[0.01])
    run = au.sample(model, budget="60s", blocking=False)
    time.sleep(1.0)
    """
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_cannot_wait_but_can_sample(logistic):
    run = endless(logistic)
    X, y = logistic
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                run.wait(1)
            except RuntimeError as error:
                fit = au.sample(au.Logistic(X, y), draws=50, progress=False)
                code = 0 if "fork" in str(error) and fit.n_draws == 50 else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    run.abort()
    assert os.WEXITSTATUS(status) == 0


def test_temporary_folders_go_with_their_fits(logistic):
    X, y = logistic
    fit = au.sample(au.Logistic(X, y), draws=50, progress=False)
    path = fit.path
    assert path.exists()
    kept = fit.save(path.parent.parent / f"austerity-kept-{os.getpid()}")
    del fit
    import gc

    gc.collect()
    assert not path.exists()
    assert au.open(kept).n_draws == 50
    import shutil

    shutil.rmtree(kept)


def test_the_bar_is_plain_text(logistic, capsys):
    X, y = logistic
    au.sample(au.Logistic(X, y), budget="1s", rule="exact", proposal="adaptive", progress=True)
    shown = capsys.readouterr().err
    assert "draws" in shown and "accepted" in shown and "\x1b" not in shown


def test_either_side_opens_the_others_runs(logistic, program, tmp_path):
    X, y = logistic
    fit = au.sample(au.Logistic(X, y), draws=200, out=tmp_path / "python", progress=False)
    said = subprocess.run([program, "summary", str(tmp_path / "python")], capture_output=True, text=True)
    assert "x1" in said.stdout, said.stderr
    data = np.column_stack([X, y])
    np.savetxt(tmp_path / "data.csv", data, delimiter=",", header="x1,x2,x3,y", comments="")
    subprocess.run(
        [program, "fit", tmp_path / "data.csv", "--response", "y", "--draws", "200", "--out", tmp_path / "program"],
        check=True,
        capture_output=True,
    )
    theirs = au.open(tmp_path / "program")
    assert theirs.n_draws == 200 and theirs.predict(X[:4])["mean"].shape == (4,)
    # The same data, options and seed: the same draws, whoever makes them.
    assert np.array_equal(theirs.draws["x1"], fit.draws["x1"])
