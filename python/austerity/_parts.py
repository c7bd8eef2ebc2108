"""Posteriors that are no regression's on all its features: selections, unmixings, factor graphs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import _austerity, _columns, _options, _tables
from ._fit import Fit
from ._models import Logistic
from ._progress import Bar
from ._sample import _SEED, Run, _seed

_Path = Union[str, "os.PathLike[str]"]

#: Options of `sample` that mean something here.
_KNOWN = {
    "draws",
    "chains",
    "warmup",
    "thin",
    "budget",
    "evaluations",
    "target_ess",
    "max_disk",
    "rule",
    "epsilon",
    "batch",
    "growth",
    "bound",
    "threads",
}


class _Part:
    """What a run samples: columns in memory or a file, and what is made of them."""

    def __init__(self, columns: Any, data: Dict[str, Any], part: Dict[str, Any], names: Optional[List[str]] = None) -> None:
        self.names = names
        self._columns = columns
        self._options = {**data, "part": json.dumps(part)}

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        """Begins a run, or only plans it."""
        return _austerity.fit_table(self._columns, {**self._options, **options}, dry)


def _sampled(part: _Part, call: str, options: Dict[str, Any]) -> Fit:
    out, resume = options.pop("out", None), options.pop("resume", False)
    progress, seed = options.pop("progress", None), options.pop("seed", _SEED)
    if resume and out is None:
        raise ValueError("resume=True needs out=, the folder of the run to go on with")
    options["budget"] = _options.seconds(options.get("budget"))
    checked = {**_options.checked(options, _KNOWN, call), "seed": _seed(seed, resume), "resume": resume}
    return Run(part, checked, None if out is None else Path(out))._finish(Bar.wanted(progress))  # type: ignore[arg-type]


def select(X: Any, y: Any, *, rate: float = 1.0, raw: bool = False, **options: Any) -> Fit:
    """Which features of a logistic regression matter: reversible-jump draws over its models.

    Examples
    --------
    >>> import numpy as np, austerity as au
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(800, 3))
    >>> y = (rng.random(800) < 1 / (1 + np.exp(-1.5 * X[:, 0]))).astype(float)
    >>> fit = au.select(X, y, draws=1000, progress=False)
    >>> bool(fit.draws["x1_included"].mean() > 0.99), bool(fit.draws["x3_included"].mean() < 0.9)
    (True, True)
    >>> fit.diagnose()["selection"]["models"][0]["features"][:1]
    ['x1']
    >>> fit.predict(X)["mean"].shape
    (800,)

    Parameters
    ----------
    X, y
        As for :class:`Logistic`; a path of a table, too, with ``y`` the name of a column.
    rate : float
        λ of the prior on the number of features: smaller values favour smaller models.
    raw : bool
        Leaves numeric columns on their own scale. One prior holds for all coefficients, so they are standardised unless you say so.
    **options
        ``draws``, ``chains``, ``warmup``, ``thin`` (both count sweeps: one step per variable or source, four per feature), ``budget``, ``rule`` (``exact`` or ``sequential``), ``epsilon``,
        ``batch``, ``growth``, ``bound``, ``seed``, ``threads``, ``out``, ``resume`` and ``progress`` as for :func:`sample`; ``features``, ``categorical``,
        ``reference``, ``success``, ``intercept`` as for :class:`Logistic`.

    Returns
    -------
    Fit
        ``draws[name]`` are coefficients, 0 where a feature is out; ``draws[name + "_included"]`` says whether it is in, ``draws["size"]`` how many are. ``predict``
        averages over the models; ``diagnose()["selection"]`` has the most probable ones.
    """
    about = ("features", "categorical", "reference", "success", "intercept")
    model = Logistic(X, y, **{name: options.pop(name) for name in about if name in options})
    part = {"kind": "select", "rate": None if rate == 1.0 else float(rate), "raw": bool(raw)}
    return _sampled(_Part(model._table(), model._data, part, getattr(model, "names", None)), "select()", options)


def ica(X: Any, *, mixing: Optional[_Path] = None, sources: Optional[_Path] = None, **options: Any) -> Fit:
    """Unmixes the columns of ``X`` into independent sources.

    Examples
    --------
    >>> import numpy as np, austerity as au
    >>> rng = np.random.default_rng(1)
    >>> S = rng.laplace(size=(4000, 2))
    >>> fit = au.ica(S @ [[1.0, 0.4], [0.3, 1.0]], draws=500, progress=False)
    >>> U = np.array([[fit.draws[f"s{j}.x{k}"].mean() for k in (1, 2)] for j in (1, 2)])
    >>> found = (S @ [[1.0, 0.4], [0.3, 1.0]]) @ U.T
    >>> bool(np.abs(np.corrcoef(found.T, S.T))[:2, 2:].max(axis=1).min() > 0.99)
    True

    Parameters
    ----------
    X
        An array, a data frame, a dict of columns, or the path of a table or of sound (.wav): one mixture per column or channel.
    mixing : path
        A table with the true mixing matrix, one row per column of ``X``; ``draws["amari"]`` is then the distance to it.
    sources : path
        Where the sources go that the mean unmixing makes of the columns (.csv, .csv.gz, .parquet, .wav).
    **options
        As for :func:`select`, and ``features``: the columns to unmix.
    """
    data: Dict[str, Any] = {"file": "memory"}
    columns: Any = None
    features = options.pop("features", None)
    if features is not None:
        data["features"] = [features] if isinstance(features, str) else [str(name) for name in features]
    if _tables.is_path(X):
        data["file"] = os.fspath(X)
    else:
        columns, _ = _columns.features(_columns.opened(X), None, data.get("features"))
    part: Dict[str, Any] = {"kind": "ica"}
    part.update({name: os.fspath(path) for name, path in (("mixing", mixing), ("sources", sources)) if path is not None})
    return _sampled(_Part(columns, data, part), "ica()", options)


def gibbs(file: _Path, **options: Any) -> Fit:
    """Marginals of a discrete factor graph by Gibbs sampling.

    Examples
    --------
    >>> import austerity as au, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "pair.uai")
    >>> _ = file.write_text("MARKOV 2  2 2  1  2 0 1  4  2 1 1 2")
    >>> fit = au.gibbs(file, draws=2000, progress=False)
    >>> bool(abs(fit.draws["x0"].mean() - 0.5) < 0.05)
    True
    >>> folder.cleanup()

    Parameters
    ----------
    file : path
        A factor graph in the UAI format with the preamble MARKOV.
    **options
        As for :func:`select`.

    Returns
    -------
    Fit
        ``draws["x3"]`` is 1 where variable 3 has the value 1, ``draws["x4=2"]`` where variable 4 has the value 2: their means are marginal probabilities.
    """
    return _sampled(_Part(None, {"file": os.fspath(file)}, {"kind": "gibbs"}), "gibbs()", options)
