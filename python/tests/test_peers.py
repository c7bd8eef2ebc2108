"""The pieces of bench/peers that need no peer: works, posteriors, measures, bars."""

import sys
from pathlib import Path

import numpy as np
import pytest

import austerity as au

BENCH = Path(__file__).resolve().parents[2] / "bench" / "peers"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    yield
    for name in [name for name, module in sys.modules.items() if str(BENCH) in (getattr(module, "__file__", None) or "")]:
        del sys.modules[name]


def small(family, rng, prior):
    from posterior import Prior
    from work import Work

    X = np.column_stack([np.ones(3000), rng.normal(size=(3000, 2))]).astype(np.float32)
    eta = X @ [0.3, 1.0, -0.5]
    y = rng.random(3000) < 1 / (1 + np.exp(-eta)) if family == "logistic" else eta + 0.7 * rng.standard_t(4, size=3000)
    noise = Prior("normal", 1.0) if family == "student" else None
    return Work("small", family, X, y.astype(np.float32), X[:10], prior, Prior("normal", 10.0), noise)


@pytest.mark.parametrize("name", ["hard", "student", "laplace-prior"])
def test_works_are_made_and_read_back(bench, tmp_path, name):
    pytest.importorskip("pyarrow")
    import work as works

    made = works.build(name, quick=True)
    works.store(made, tmp_path)
    read = works.load(tmp_path)
    assert read.design.shape == made.design.shape and read.prior == made.prior
    assert np.array_equal(read.design, made.design.astype(np.float32)) and np.array_equal(read.y, made.y.astype(np.float32))
    assert works.read_table(tmp_path).column_names[-1] == "y" and read.reading[0] > 0
    assert (read.design[:, 0] == 1).all() and read.posterior.size == made.design.shape[1] + (name == "student")


@pytest.mark.parametrize("family", ["logistic", "student"])
def test_gradients_and_curvature_are_those_of_the_density(bench, rng, family):
    from posterior import Prior

    posterior = small(family, rng, Prior("student", 1.0, 3.0)).posterior
    mode, covariance = posterior.laplace()
    sd = np.sqrt(np.diag(covariance))
    _, gradient, hessian = posterior.derivatives(mode + sd)
    assert np.allclose(gradient, posterior.gradients((mode + sd)[None])[0], rtol=1e-4, atol=1e-2)
    for j, step in enumerate(np.diag(0.3 * sd)):
        up, down = posterior.gradients(np.array([mode + sd + step, mode + sd - step]))
        assert np.allclose(hessian[j] * sd, (down - up) / (0.6 * sd[j]) * sd, rtol=0.02, atol=0.02 * (hessian[j] * sd).max())
        values = posterior.log_densities(np.array([mode + sd + step, mode + sd - step]), centre=mode)
        assert (values[0] - values[1]) / (0.6 * sd[j]) == pytest.approx(gradient[j], rel=0.03, abs=0.03 / sd[j])


@pytest.mark.parametrize("family", ["logistic", "student"])
def test_our_draws_are_of_the_same_posterior(bench, rng, family):
    """Stein's identities hold, and fail by far for another prior. False alarms: below one in ten thousand."""
    pytest.importorskip("arviz")
    from dataclasses import replace

    import reference
    from peers.ours import draws_of, model_of
    from posterior import Prior

    work = small(family, rng, Prior("laplace", 0.05))
    draws = draws_of(au.sample(model_of(work), draws=1000, seed=3, progress=False))
    assert reference.stein(work, draws, effort=1)["passed"]
    other = replace(work, prior=Prior("laplace", 0.005))
    assert not reference.stein(other, draws, effort=1)["passed"]


def test_weights_count_as_copies_do(bench, rng):
    import measure

    draws, copies = rng.normal(size=(400, 2)), rng.integers(1, 4, size=400)
    weighted, plain = measure.moments(draws, copies.astype(float)), measure.moments(np.repeat(draws, copies, axis=0))
    assert np.allclose(weighted[0], plain[0]) and np.allclose(weighted[1], plain[1])
    assert np.abs(weighted[2] - plain[2]).max() < 0.2


def test_the_kink_is_sampled_as_it_is(bench):
    integrate = pytest.importorskip("scipy.integrate")
    import kinked

    rng = np.random.default_rng(1)
    for a, b, scale in [(0.5, 1.0, 0.7), (30.0, 2.0, 0.1), (-3.0, 4.0, 2.0)]:
        density = lambda x: np.exp(a * x - 0.5 * b * x * x - abs(x) / scale - max((abs(a) - 1 / scale), 0) ** 2 / (2 * b))
        moments = [integrate.quad(lambda x: x**k * density(x), -30, 30, points=[0, a / b], limit=500)[0] for k in (0, 1, 2)]
        mean, square = moments[1] / moments[0], moments[2] / moments[0]
        x = kinked.coordinate(rng, np.full(40_000, a), b, scale)
        assert abs(x.mean() - mean) < 4.5 * x.std() / 200
        assert (x**2).mean() == pytest.approx(square, rel=0.06)


def test_bars_pass_and_miss(bench):
    import bars

    run = lambda peer, rate, verdict="correct": dict(
        peer=peer, verdict=verdict, ess_per_cpu=rate, setup_cpu=1.0, rows=1_000_000, kind="draws", curve=[]
    )
    ours, fast, wrong = run("austerity", 5000.0), run("numpyro-hmcecs", 40.0), run("blackjax-sgld-cv", 1e6, "wrong")
    assert bars.verdicts("logistic-1e6", [ours, fast, wrong], {})[0].startswith("PASS")
    assert bars.verdicts("logistic-1e6", [ours, run("nutpie", 60.0)], {})[0].startswith("**missed**")
    assert bars.verdicts("student", [dict(ours, verdict="wrong"), fast], {})[0].startswith("**missed**")
    slow = dict(peer="nutpie", verdict="unfinished", unfinished=dict(rate_at_most=4.0, setup_at_least=90.0))
    curved = dict(ours, curve=[dict(cpu=2.0, variance=1.0, quantile=1.0)])
    first, second, _, risks, *_ = bars.verdicts("hard", [curved, slow], dict(ess=100))
    assert first.startswith("PASS") and "≥ 1,250 ×" in first and risks.startswith("PASS")
    assert second.startswith("not decided: at least 4,000 × NUTS")
    better = dict(fast, curve=[dict(cpu=3.0, variance=0.5, quantile=2.0)])
    assert "numpyro-hmcecs at 3 s on variances" in bars.verdicts("hard", [curved, slow, better], dict(ess=100))[3]


def test_antithetic_draws_count_by_their_tails(bench, rng):
    """Draws that alternate around the mean have a bulk ESS above their number; the measure must not."""
    pytest.importorskip("arviz")
    import measure

    noise, draws = rng.normal(size=(4, 4000, 2)), np.empty((4, 4000, 2))
    draws[:, 0] = noise[:, 0]
    for i in range(1, 4000):
        draws[:, i] = -0.45 * draws[:, i - 1] + np.sqrt(1 - 0.45**2) * noise[:, i]
    bulk, tail = measure.effective(draws)
    assert bulk > 1.5 * 16_000 and tail < 1.2 * 16_000
    assert measure.ess(draws) == tail


def test_seconds_from_the_file_count_reading_and_summary(bench, rng):
    pytest.importorskip("arviz")
    import bars
    import measure
    from posterior import Prior

    work, recorder = small("logistic", rng, Prior("normal", 1.0)), measure.Recorder(10.0)
    work.reading, recorder.setup = (3.0, 3.0), (2.0, 2.0)
    draws = rng.normal(size=(1, 2000, 3))
    found = measure.from_file(work, recorder, draws, None, 2000.0, 1000.0)
    assert found["1000"] > 3 + 2 + 1 and found["10000"] > 3 + 2 + 10
    recorder.summary = (4.0, 2000)
    assert measure.from_file(work, recorder, draws, None, 2000.0, 1000.0)["1000"] == pytest.approx(3 + 2 + 1 + 2)
    recorder.measured = lambda count, needed: 0.5 * count
    assert measure.from_file(work, recorder, draws, None, 2000.0, 1000.0) == {"1000": 500.0, "10000": 5000.0}
    run = dict(peer="nutpie", verdict="correct", ess_per_cpu=10.0, setup_cpu=1.0, read_cpu=4.0, file_seconds={"10000": 77.0})
    assert bars.seconds_to(run) == 77.0 and bars.seconds_to(run, 1000) == 4 + 1 + 100


def test_percentages_have_no_exponent(bench):
    import bars

    said = [bars.percent(share) for share in (1.0, 0.9999, 0.5, 0.0999, 0.0632, 0.01, 0.0055, 4.9e-7, 0.0)]
    assert said == ["100 %", "100 %", "50 %", "10 %", "6.3 %", "1 %", "0.55 %", "0.000049 %", "0 %"]
    assert [bars.number(x) for x in (1_934_567.0, 123_456.0, 1234.0, 0.5, None)] == ["1,930,000", "123,000", "1,230", "0.5", "–"]


def test_the_picture_shows_measured_points_and_bounds(bench):
    import xml.etree.ElementTree as tree

    import picture

    run = lambda work, peer, **more: dict(work=work, peer=peer, cores=1, verdict="correct", limit=30.0, read_cpu=0.1, **more)
    ours = run("logistic-1e6", "austerity", ess=1e6, ess_per_cpu=1e6, setup_cpu=1.0, file_seconds={"1000": 0.9})
    few = run("logistic-1e6", "laplace-psis", ess=50.0, ess_per_cpu=5.0, setup_cpu=1.0)
    slow = dict(run("logistic-1e7", "numpyro-nuts-whitened"), verdict="unfinished", unfinished=dict(rate_at_most=2.0, setup_at_least=90.0))
    found = picture.points(dict(results=[ours, few, slow, dict(ours, work="mnist"), dict(ours, cores=2)]))
    assert [(p["peer"], p["rows"], p["bound"]) for p in found] == [("austerity", 10**6, False), ("numpyro-nuts-whitened", 10**7, True)]
    assert found[0]["seconds"] == 0.9 and found[1]["seconds"] == pytest.approx(0.1 + 90 + 500)
    drawn = picture.draw(dict(points=found))
    tree.fromstring(drawn)
    assert "did not finish in 30 CPU s: NUTS at 10⁷" in drawn
    assert min(int(size.split('"')[0]) for size in drawn.split('font-size="')[1:]) >= 12


def test_the_plan_names_known_pairs(bench):
    from types import SimpleNamespace

    import plan

    usual = dict(works=None, peers=None, quick=False, brief=True, page=True, picture=True, limit=None)
    options = SimpleNamespace(**usual)
    names = plan.works(options)
    assert {"logistic-1e4", "logistic-1e7", "mnist", "hard"} <= set(names) and len(set(names)) == len(names)
    pairs = plan.pairs(options, names)
    assert ("logistic-1e6", "nutpie") in pairs and ("logistic-1e7", "austerity-paper") in pairs and ("hard", "austerity-exact") not in pairs
    assert plan.works(SimpleNamespace(**{**usual, "brief": False, "page": False})) == list(plan.GROWING)
    assert plan.check(SimpleNamespace(**{**usual, "peers": "nuts"})).startswith("nuts is not known")
