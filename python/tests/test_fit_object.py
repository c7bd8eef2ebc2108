"""What a fit shows: remarks, tables, HTML, the bar, and what becomes of it in ArviZ."""

import glob
import json
import os
import shutil
import subprocess
import sys
import textwrap
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import austerity as au
from austerity._progress import Bar, describe, percent

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def remarked(rng):
    """Data with a column that is left out, and columns with names that HTML must escape."""
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(3000, 2))
    y = (rng.random(3000) < 1 / (1 + np.exp(-X[:, 0]))).astype(float)
    table = pandas.DataFrame({"a<b>&'\"": X[:, 0], "x": X[:, 1], "k": np.full(3000, 3.0)})
    return table, y


def warned(model, **options):
    """The fit, and the warnings by category."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = au.sample(model, progress=False, **options)
    return fit, {kind: " ".join(str(w.message) for w in caught if w.category is kind) for kind in (au.RemarkWarning, au.NotTrustedWarning)}


class Text(HTMLParser):
    """The text and the tags of HTML that closes what it opens."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def test_every_remark_is_shown_everywhere_and_kept(remarked, tmp_path):
    X, y = remarked
    fit, shown = warned(au.Logistic(X, y), draws=200, out=tmp_path / "run")
    left_out = next(remark for remark in fit.remarks if "`k`" in remark or " k " in remark)
    assert "left out" in left_out
    opened = au.open(tmp_path / "run")
    assert opened.remarks == fit.remarks
    for one in (fit, opened):
        for remark in one.remarks:
            assert str(one).count(remark) == 1
            assert Text(one._repr_html_()).text.count(remark) == 1
            assert remark in one.diagnose()["sentences"]
    assert all(remark in shown[au.RemarkWarning] for remark in fit.remarks)
    # Nothing noticed, nothing said.
    fine, silent = warned(au.Logistic(X[["x"]], y), draws=1000)
    assert fine.trusted and fine.remarks == [] and silent[au.RemarkWarning] == ""


def test_a_mode_that_was_not_found_is_a_remark(rng):
    y = rng.normal(size=500)
    width = 41  # more parameters than differences are worth
    own = au.Model(
        lambda t, r: -0.5 * (y[r] - t[0]) ** 2, lambda t: -0.5 * float(t @ t), rows=500, start=np.zeros(width), names=[f"p{j}" for j in range(width)]
    )
    fit, shown = warned(own, draws=100, warmup=100)
    assert any("no mode was found from the start" in remark for remark in fit.remarks)
    for text in (str(fit), fit._repr_html_(), shown[au.RemarkWarning]):
        assert "no mode was found from the start" in text


def test_html_is_escaped_and_holds_table_and_verdict(remarked):
    X, y = remarked
    fit = au.sample(au.Logistic(X, y), draws=500, progress=False)
    html = fit._repr_html_()
    assert "a<b>" not in html and "<script" not in html and "<style" not in html
    page = Text(html)
    assert page.tags.count("tr") == 1 + len(fit.summary())
    for word in ("a<b>&'\"", "97.5 %", "R-hat", "may be used" if fit.trusted else "Not to be trusted"):
        assert word in page.text
    assert "nan" not in page.text.lower() and "None" not in page.text
    short = au.sample(au.Logistic(X, y), draws=1, progress=False)
    assert "–" in Text(short._repr_html_()).text and "Not to be trusted" in short._repr_html_()


def test_the_summary_has_the_order_of_the_printed_table(remarked):
    X, y = remarked
    fit = au.sample(au.Logistic(X, y), draws=200, progress=False)
    order = ["mean", "sd", "q025", "q50", "q975", "mcse_mean", "ess_bulk", "ess_tail", "rhat"]
    assert list(fit.summary().columns)[: len(order)] == order
    head = next(line for line in str(fit).splitlines() if "mean" in line)
    places = [head.index(word) for word in ("mean", "sd", "2.5 %", "50 %", "97.5 %", "MCSE", "ESS bulk", "ESS tail", "R-hat")]
    assert places == sorted(places)
    # Whatever the order of the file is.
    fit._overview["parameters"] = [dict(sorted(one.items(), reverse=True)) for one in fit._overview["parameters"]]
    assert list(fit.summary().columns)[: len(order)] == order


# The bar ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "share, text",
    [(1.0, "100 %"), (0.9999, "100 %"), (0.234, "23 %"), (0.0951, "9.5 %"), (0.0996, "10 %"), (0.00312, "0.31 %"), (1e-7, "below 0.01 %"), (0.0, "0 %")],
)
def test_percentages_have_no_exponent(share, text):
    assert percent(share) == text
    progress = dict(doing="sampling", elapsed=1.0, share=0.5, draws=10, acceptance=share, data_share=share, rhat=None, remaining=None)
    assert "e+" not in describe(progress) and "e-" not in describe(progress) and text in describe(progress)


def test_a_share_that_nobody_knows_is_a_dash():
    assert percent(None) == percent(float("nan")) == percent(float("inf")) == "–"
    assert type(Bar.wanted(True)) is Bar


def executed(cells, path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path)}}).execute()
    return [cell["outputs"] for cell in notebook["cells"]]


def test_a_notebook_shows_one_bar_and_the_fit_as_a_table(tmp_path):
    cells = [
        """
        import numpy as np, austerity as au
        rng = np.random.default_rng(1)
        X = rng.normal(size=(20_000, 3))
        y = (rng.random(20_000) < 1 / (1 + np.exp(-X[:, 0]))).astype(float)
        """,
        'fit = au.sample(au.Logistic(X, y), budget="3s", rule="exact", proposal="adaptive", warmup=200)',
        "fit",
        "quiet = au.sample(au.Logistic(X, y), draws=1000, progress=False)",
    ]
    _, sampled, shown, quiet = executed(cells, tmp_path)
    drawn = [one for one in sampled if "text/html" in one.get("data", {})]
    assert len(drawn) == 1 and "draws" in drawn[0]["data"]["text/plain"] and "<progress" in drawn[0]["data"]["text/html"]
    others = [one for one in sampled if one not in drawn]
    # A warning at most: no line of a bar.
    assert all(one["output_type"] == "stream" and "Warning" in one["text"] and "\r" not in one["text"] for one in others), others
    assert "1e+02" not in json.dumps(drawn) and "data read 100 %" in drawn[0]["data"]["text/plain"]
    assert "<table>" in shown[0]["data"]["text/html"] and "R-hat" in shown[0]["data"]["text/html"]
    assert quiet == []


# ArviZ -----------------------------------------------------------------------------------------------------------------

CONVERTED = """
    import sys, warnings
    warnings.simplefilter("error", FutureWarning)
    import arviz, numpy as np
    import austerity as au
    fit = au.open(sys.argv[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = fit.to_arviz()
    assert not caught, [str(w.message) for w in caught]
    assert np.array_equal(made["posterior"]["x1"].values, fit.draws["x1"])
    assert "accepted" in made["sample_stats"]
    table = arviz.summary(made)
    assert set(table.index) == set(fit.draws) and (arviz.rhat(made)["x1"] < 1.1 if hasattr(arviz.rhat(made), "data_vars") else True)
    print(arviz.__version__.split(".")[0], type(made).__name__)
"""


def converted(python, run, tmp_path):
    """What ``to_arviz`` gives under an interpreter: the major version of its ArviZ, and the type."""
    package = tmp_path / "package"
    package.mkdir()
    # Only the package: the other environment has a NumPy of its own.
    shutil.copytree(Path(au.__file__).parent, package / "austerity", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(package)}
    code = textwrap.dedent(CONVERTED)
    done = subprocess.run([python, "-W", "ignore::DeprecationWarning", "-c", code, str(run)], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def expected(major):
    return [str(major), "InferenceData" if major == 0 else "DataTree"]


@pytest.fixture
def stored(logistic, tmp_path):
    X, y = logistic
    au.sample(au.Logistic(X, y), draws=200, out=tmp_path / "run", progress=False)
    return tmp_path / "run"


def test_the_arviz_that_is_installed_is_served(stored, tmp_path):
    arviz = pytest.importorskip("arviz")
    assert converted(sys.executable, stored, tmp_path) == expected(int(arviz.__version__.split(".")[0]))


def test_the_other_major_version_of_arviz_is_served(stored, tmp_path):
    """In a second environment: AUSTERITY_ARVIZ_PYTHON names its interpreter; without that one is made in target/, once."""
    arviz = pytest.importorskip("arviz")
    other = 1 - min(1, int(arviz.__version__.split(".")[0]))
    python = os.environ.get("AUSTERITY_ARVIZ_PYTHON") or environment_with(other)
    assert converted(python, stored, tmp_path) == expected(other)


def environment_with(major):
    """An interpreter whose ArviZ has this major version; the test skips where none can be had."""
    folder = ROOT / f"target/arviz-{major}"
    inside = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    works = [str(inside), "-c", f"import arviz; assert min(1, int(arviz.__version__.split('.')[0])) == {major}"]
    if inside.exists() and subprocess.run(works, capture_output=True).returncode == 0:
        return str(inside)
    wanted = "arviz<1" if major == 0 else "arviz>=1"
    for python in interpreters():
        # ArviZ 1 needs Python 3.12 or newer.
        usable = f"import sys, venv; sys.exit(sys.version_info < (3, {9 if major == 0 else 12}))"
        if subprocess.run([python, "-c", usable], capture_output=True).returncode != 0:
            continue
        for command in (
            [python, "-m", "venv", "--clear", str(folder)],
            [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted],
            works,
        ):
            if subprocess.run(command, capture_output=True).returncode != 0:
                break
        else:
            return str(inside)
    pytest.skip(f"no environment with {wanted} could be made: set AUSTERITY_ARVIZ_PYTHON to the Python of one")


def interpreters():
    """Python interpreters of this machine, this one first."""
    named = [sys.executable] + [shutil.which(f"python3.{minor}") for minor in range(14, 11, -1)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = [path for minor in range(14, 11, -1) for path in sorted(glob.glob(str(pyenv / f"versions/3.{minor}.*/bin/python")))]
    return [path for path in named + kept if path]


def test_verify_names_damage(tmp_path, rng):
    X = rng.normal(size=(300, 1))
    y = (rng.random(300) < 0.5).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        au.sample(au.Logistic(X, y), draws=50, warmup=50, out=tmp_path / "run", progress=False)
    found = au.verify(tmp_path / "run")
    assert found["sound"] and found["kind"] == "run" and found["damage"] == []
    text = (tmp_path / "run" / "run.toml").read_text()
    (tmp_path / "run" / "run.toml").write_text(text.replace("rows = 300", "rows = 301", 1))
    found = au.verify(tmp_path / "run")
    assert not found["sound"] and "run.toml" in found["damage"][0]["file"]
    with pytest.raises(ValueError, match="neither a run nor a store"):
        au.verify(tmp_path)
