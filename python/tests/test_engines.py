"""Data in parts on engines of Python: the same bits everywhere, workers that die, frames as files, updates."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import austerity as au
from austerity.engines import resolve, run_part

FORMULA = "y ~ x + z"


def write(path, rows, seed):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=rows), rng.normal(size=rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(-(0.8 * x - 0.4 * z + 0.2)))).astype(int)
    np.savetxt(path, np.column_stack([y, x, z]), delimiter=",", header="y,x,z", comments="", fmt=["%d", "%.17g", "%.17g"])


@pytest.fixture
def days(tmp_path):
    for day in range(5):
        write(tmp_path / f"day-{day}.csv", 4000, day)
    return str(tmp_path / "day-*.csv")


def fit(days, engine=None, **options):
    given = dict(family="logistic", draws=200, sample_rows=3000, progress=False, **options)
    return au.fit(FORMULA, days, engine=engine, **given)


def bits(found):
    return np.concatenate([found.draws[name].ravel() for name in found.coefficients])


def serial(request, tasks):
    for task in reversed(tasks):
        answer = run_part(request, task)
        yield answer
        yield answer


def test_engines_have_the_same_bits(days):
    wanted = bits(fit(days, threads=1))
    assert np.array_equal(bits(fit(days, threads=2)), wanted)
    assert np.array_equal(bits(fit(days, engine=serial)), wanted)
    with ThreadPoolExecutor(2) as pool:
        assert np.array_equal(bits(fit(days, engine=pool)), wanted)
    found = fit(days, engine="processes:2")
    assert np.array_equal(bits(found), wanted)
    assert any(check["check"] == "sample" and check["passed"] for check in found.diagnose()["checks"])


def test_dask_has_the_same_bits(days):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: its engine is not tested")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert np.array_equal(bits(fit(days, engine=client)), bits(fit(days)))


def test_a_worker_that_dies_changes_no_bit(days, tmp_path):
    """The first task of the pool ends its process once."""
    wanted = bits(fit(days))
    script = tmp_path / "dying.py"
    script.write_text(
        f"""
import os, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import numpy as np, austerity as au
from austerity.engines import executor

def dying(request, task):
    try:
        os.close(os.open({str(tmp_path / 'died')!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        from austerity._austerity import run_part
        return run_part(request, task)
    os._exit(9)

if __name__ == "__main__":
    executor.run_part = dying
    import test_engines
    np.save({str(tmp_path / 'bits.npy')!r}, test_engines.bits(test_engines.fit({days!r}, engine="processes:2")))
"""
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "asked again" in done.stderr and (tmp_path / "died").exists()
    assert np.array_equal(np.load(tmp_path / "bits.npy"), wanted)


def test_an_engine_that_fails_says_so(days):
    def failing(request, tasks):
        raise OSError("the queue is down")

    with pytest.raises(Exception, match="the queue is down"):
        fit(days, engine=failing)
    with pytest.raises(Exception, match="no answer came back"):
        fit(days, engine=lambda request, tasks: [])
    with pytest.raises(Exception, match="no answer came back.*damaged"):
        fit(days, engine=lambda request, tasks: [run_part(request, task)[:-5] for task in tasks])


def test_names_of_engines():
    assert resolve(None) is None and resolve("threads") is None
    assert resolve(serial)[0] == "serial"
    for wrong in ("process:4", "processes:none"):
        with pytest.raises(ValueError, match="engine is"):
            resolve(wrong)
    with pytest.raises(TypeError, match="engine is a dict"):
        resolve({})
    with pytest.raises(TypeError, match="in memory"):
        au.fit(FORMULA, {"y": [0, 1, 0], "x": [1.0, 2.0, 3.0], "z": [1.0, 0.5, 0.2]}, engine=serial, progress=False)


def test_lists_of_files_are_one_table(days, tmp_path):
    files = sorted(str(path) for path in tmp_path.glob("day-*.csv"))
    assert np.array_equal(bits(fit(files, engine=serial)), bits(fit(days)))
    whole = au.fit(FORMULA, files, family="logistic", draws=200, progress=False)
    assert np.array_equal(bits(whole), bits(au.fit(FORMULA, days, family="logistic", draws=200, progress=False)))


def test_new_rows_on_an_old_fit(days, tmp_path):
    old = fit(days)
    write(tmp_path / "new.csv", 4000, 99)
    new = old.update(tmp_path / "new.csv", draws=400, engine=serial, progress=False)
    assert new.n_draws == 400 and new.coefficients == old.coefficients
    again = new.update(forget=[tmp_path / "new.csv"], progress=False)
    assert again.n_draws == new.n_draws
    with pytest.raises(Exception, match="same rows"):
        new.update(str(tmp_path / "day-1.csv"), progress=False)


def test_the_program_takes_engines(days, tmp_path):
    line = [sys.executable, "-m", "austerity", "fit", days, "--response", "y", "--sample-rows", "3000", "--draws", "200", "--engine"]
    done = subprocess.run([*line, "processes:2", "--out", str(tmp_path / "run")], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    assert "processes:2" in done.stdout
    done = subprocess.run([*line, "horses", "--out", str(tmp_path / "no")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "known are threads" in done.stderr
