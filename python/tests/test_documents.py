"""Docstrings, the documentation's code and the notebook are run."""

import doctest
import importlib
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import austerity

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["", "._after", "._priors", "._models", "._generate", "._own", "._parts", "._sample", "._theory", "._estimators"])
def test_docstrings(name):
    if name == "._estimators":
        pytest.importorskip("sklearn")
    failed, tried = doctest.testmod(importlib.import_module("austerity" + name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


#: The packages that a block needs, by a word in it; without them the block is passed over.
_NEEDS = {"import jax": "jax", "numba": "numba", "import xarray": "xarray", "zarr": "zarr", "polars": "polars", "duckdb": "duckdb"}


def _bare(said):
    """A text without numbers, times and runs of spaces: digits may differ between instruction sets, times between machines; names and words may not."""
    return re.sub(r"\s+", " ", re.sub(r"(?<![A-Za-z_\d])[-+−]?\d[\d.,e-]*", "#", said)).strip()


def _compare(shown, printed, page):
    """Every piece of what is shown was printed, in order; ``…`` stands for anything between."""
    rest = _bare(printed)
    for piece in filter(None, map(str.strip, _bare(shown).split("…"))):
        assert piece in rest, f"{page} shows what is not printed: {piece}"
        rest = rest.split(piece, 1)[1]


@pytest.mark.parametrize("page", ["docs/index.md", "docs/python.md", "docs/tables.md", "docs/tutorial.md"])
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch, capsys):
    text = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    if page == "docs/tutorial.md":  # opens the run that the program has made
        data = austerity.generate("logistic", 5000, 2)
        austerity.sample(austerity.Logistic(data.X, data.y), draws=500, out="run", progress=False)
    space, printed = {}, None
    for kind, block in re.findall(r"```(python|text|sh)\n(.*?)```", text, re.S):
        if kind == "python" and all(importlib.util.find_spec(name) for word, name in _NEEDS.items() if word in block):
            exec(compile(block, page, "exec"), space)
            printed = capsys.readouterr().out
        elif kind == "text" and printed:
            _compare(block, printed, page)
        else:
            printed = None


def test_the_readme_prints_what_it_shows(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S).groups()
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    _compare(shown, printed, "README.md")
    means = lambda said: [float(line.split()[1]) for line in said.splitlines()[2:6]]
    assert means(printed) == pytest.approx(means(shown), abs=2e-4)


def _explained(folder):
    """The page that explains itself, as the site has it."""
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs/explained/make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    page = make.page()
    # A reader who moves N to 10⁷ and ε to 0.3.
    probe = """<script>
      const set = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event("input")); };
      const first = at("read-rows").textContent;
      set("rows", T.rows.length - 1); set("level", T.levels.length - 1);
      document.body.setAttribute("data-probe", [first, at("rows-value").textContent, at("level-value").textContent, at("read-rows").textContent, at("sd").textContent, at("decisions").children.length].join("|"));
    </script></body>"""
    (folder / "page.html").write_text(page.replace("</body>", probe), encoding="utf-8")
    return make, folder / "page.html"


def test_the_page_that_explains_itself_shows_the_numbers_of_the_theory(tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("there is no Chromium")
    make, page = _explained(tmp_path)
    call = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", str(page)]
    seen = subprocess.run(call, capture_output=True, text=True, timeout=120).stdout
    first, rows, level, read, sd, lines = re.search(r'data-probe="([^"]*)"', seen).group(1).split("|")
    expected = make.point(make.ROWS[-1], make.LEVELS[-1], 1.0)
    assert (rows, level, int(lines)) == ("10,000,000", "0.3", len(make.DISTANCES))
    assert read == f"{round(expected['read'] * 10_000_000):,}" and sd == f"{expected['sd']:.3f}"
    assert first == f"{round(make.point(100_000, 0.05, 1.0)['read'] * 100_000):,}"


def test_the_notebook_executes(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs/notebooks/quickstart.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
