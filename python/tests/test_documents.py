"""Docstrings, the documentation's code and the notebook are run."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["", "._priors", "._models", "._generate", "._own", "._parts", "._sample", "._theory", "._estimators"])
def test_docstrings(name):
    if name == "._estimators":
        pytest.importorskip("sklearn")
    failed, tried = doctest.testmod(importlib.import_module("austerity" + name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_the_guide_runs(tmp_path, monkeypatch):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        if "import jax" in block:
            pytest.importorskip("jax")
        if "numba" in block:
            pytest.importorskip("numba")
        exec(compile(block, "docs/python.md", "exec"), space)


def test_the_readme_prints_what_it_shows(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S).groups()
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    # Digits may differ between instruction sets, times between machines; names, words and means may not.
    bare = lambda said: re.sub(r"\s+", " ", re.sub(r"[-+]?\d[\d.,e-]*", "#", said)).strip()
    assert bare(printed) == bare(shown)
    means = lambda said: [float(line.split()[1]) for line in said.splitlines()[2:6]]
    assert means(printed) == pytest.approx(means(shown), abs=2e-4)


def test_the_notebook_executes(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs/notebooks/quickstart.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
