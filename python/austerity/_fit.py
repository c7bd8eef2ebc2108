"""A fit: the folder of a run, and all that can be said of it."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _after, _austerity, _columns, _html
from ._blocks import Blocks
from ._models import OFFSET, TRIALS
from ._temporary import Temporary


class NotTrustedWarning(UserWarning):
    """The draws are not to be trusted yet; the message says why."""


class RemarkWarning(UserWarning):
    """Something about the data, the model or the run that you should know; ``fit.remarks`` lists the same sentences."""


class SamplingError(ValueError):
    """A chain met an error; the draws made before are in ``fit``."""

    def __init__(self, message: str, fit: "Fit") -> None:
        super().__init__(message)
        self.fit = fit


def open(run: Union[str, "os.PathLike[str]"]) -> "Fit":  # noqa: A001
    """Opens the folder of a run, written by Python or by the program ``austerity``."""
    return Fit(Path(run))


def verify(path: Union[str, "os.PathLike[str]"]) -> Dict[str, Any]:
    """Checks that every byte of a run or a store is what was written, as ``austerity verify`` does.

    Returns
    -------
    dict
        ``sound`` (bool), ``damage`` (a list of ``file``, ``problem`` and what is ``lost``), ``notes``, ``kind`` (run or store), ``files`` and ``bytes``.
    """
    return json.loads(_austerity.verify(Path(path)))


class Fit:
    """What a run found.

    Attributes
    ----------
    path : Path
        The folder of the run. A temporary one lives as long as this object.
    draws : dict of arrays (chain, draw)
        By parameter.
    trusted, reasons : bool, list of str
        Whether the draws may be trusted, and why not.
    remarks : list of str
        What else to know: columns left out, levels, a mode that was not found.
    """

    def __init__(
        self,
        path: Path,
        names: Optional[Sequence[str]] = None,
        keep: Optional[Temporary] = None,
        told: Optional[Tuple[str, str, List[str]]] = None,
        blocks: Optional[Blocks] = None,
        model: Any = None,
    ) -> None:
        self.path = Path(path)
        self._names = list(names) if names is not None else None
        text, self._tables, self._sentences = told if told is not None else _austerity.overview(self.path)
        self._overview: Dict[str, Any] = json.loads(text)
        self._keep = keep
        self._blocks: Optional[Blocks] = blocks if blocks is not None else getattr(model, "_blocks", None)
        #: The model, whose rows :meth:`loo` and others read again.
        self._model = model if hasattr(model, "_table") else None

    # What it says ------------------------------------------------------------------------------------------------

    @property
    def trusted(self) -> bool:
        """Whether the draws may be trusted."""
        return bool(self._overview["trusted"])

    @property
    def reasons(self) -> List[str]:
        """Why they may not."""
        return list(self._overview["reasons"])

    @property
    def remarks(self) -> List[str]:
        """What else to know, about the data, the model and the run. The run's folder keeps them."""
        return list(self._overview["remarks"])

    @property
    def n_chains(self) -> int:
        """Chains."""
        return int(self._overview["chains"])

    @property
    def n_draws(self) -> int:
        """Draws per chain."""
        return int(self._overview["draws"])

    @property
    def seed(self) -> int:
        """The seed of the run: the same one makes the same draws again."""
        return int(self._overview["seed"])

    @property
    def interrupted(self) -> bool:
        """Whether somebody ended the run early."""
        return self._overview["ended"] == "interrupted"

    def summary(self, *, terms: bool = False) -> Any:
        """Mean, sd, quantiles, Monte Carlo error, effective sample sizes and R-hat of every parameter, as ``print(fit)`` orders them.

        With ``terms`` the first column names the term of the model that each coefficient belongs to, such as ``C(city)``. A pandas
        ``DataFrame`` when pandas is installed, else a dict of dicts by parameter.
        """
        rows = {one["name"]: {k: one[k] for k in _columns_of(one)} for one in self._overview["parameters"]}
        if terms:
            of = {name: term for term, names in self._terms for name in names}
            rows = {name: {"term": of.get(name, name), **row} for name, row in rows.items()}
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame.from_dict(rows, orient="index")

    @property
    def groups(self) -> Dict[str, Any]:
        """The effects of groups of a multilevel fit, as in ``(1 | school)``, by the name of the grouping; empty for other fits.

        One row per level and term: ``level``, ``term``, ``rows``, ``mean``, ``sd``, ``q025``, ``q50`` and ``q975`` of how the level differs from the average. Pandas
        ``DataFrame`` s when pandas is installed, else lists of dicts.
        """
        found = dict(self._overview.get("groups") or {})
        try:
            import pandas
        except ImportError:
            return found
        return {name: pandas.DataFrame(rows) for name, rows in found.items()}

    def diagnose(self) -> Dict[str, Any]:
        """All that is known of the run beside its parameters: verdict, costs, the test, audits, predictions of the theory.

        ``sentences`` says it in words.
        """
        found = {k: v for k, v in self._overview.items() if k not in ("parameters", "standardized", "groups")}
        found["sentences"] = list(self._sentences)
        return found

    def __str__(self) -> str:
        head = "" if self.trusted else "NOT TO BE TRUSTED YET:\n"
        return f"{self._tables}\n{head}" + "\n".join(f"• {text}" for text in self._sentences)

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the table, the sentences of ``print(fit)``."""
        return _html.page(self._overview["parameters"], self.trusted, self._sentences, repr(self))

    def __repr__(self) -> str:
        trust = "trusted" if self.trusted else "not to be trusted yet"
        return f"<Fit: {self.n_chains} chains × {self.n_draws} draws of {len(self._overview['parameters'])} parameters, {trust}>"

    # Its draws ---------------------------------------------------------------------------------------------------

    @cached_property
    def _draws(self) -> Any:
        return _austerity.draws(self.path)

    @property
    def draws(self) -> Dict[str, np.ndarray]:
        """Arrays (chain, draw) by parameter; of a model with blocks arrays (chain, draw, …) of their shapes by block."""
        flat = self._flat
        return self._blocks.draws(flat) if self._blocks is not None and self._all_kept(flat) else flat

    @property
    def _flat(self) -> Dict[str, np.ndarray]:
        names, _, arrays = self._draws
        return dict(zip(names, arrays))

    def _all_kept(self, flat: Dict[str, np.ndarray]) -> bool:
        return self._blocks is not None and all(name in flat for name in self._blocks.names())

    @property
    def coefficients(self) -> List[str]:
        """Names of the coefficients of a regression, the intercept first."""
        return list(self._draws[1])

    @cached_property
    def _terms(self) -> List[Tuple[str, List[str]]]:
        """The terms of a regression with the names of their coefficients."""
        return _austerity.terms(self.path)

    @cached_property
    def statistics(self) -> Dict[str, np.ndarray]:
        """What is known of each draw's decision, by name: arrays (chain, draw)."""
        return dict(_austerity.statistics(self.path))

    def _datasets(self, terms: bool) -> Dict[str, Any]:
        xarray = _late("xarray", "to_datatree")
        chains, draws = self.n_chains, self.n_draws
        coords = {"chain": np.arange(chains), "draw": np.arange(draws)}

        def dataset(arrays: Dict[str, np.ndarray]) -> Any:
            return xarray.Dataset({k: (("chain", "draw"), v[:, :draws]) for k, v in arrays.items()}, coords=coords)

        posterior = dataset(self._flat)
        for term, names in self._terms if terms else []:
            there = [name for name in names if name in posterior]
            if len(there) > 1:
                axis = xarray.DataArray(there, dims=f"{term}_dim", name=f"{term}_dim")
                together = xarray.concat([posterior[name] for name in there], dim=axis).transpose("chain", "draw", ...)
                posterior = posterior.drop_vars(there).assign({term: together})
        return {"posterior": posterior, "sample_stats": dataset(self.statistics)}

    def to_datatree(self, *, terms: bool = False) -> Any:
        """An ``xarray.DataTree`` with the groups ``posterior`` and ``sample_stats``.

        With ``terms`` a term with several coefficients, such as ``C(city)``, is one variable, and the names of its coefficients are coordinates of
        the dimension ``C(city)_dim``.
        """
        xarray = _late("xarray", "to_datatree")
        if not hasattr(xarray, "DataTree"):
            raise ImportError("to_datatree needs xarray 2024.10 or newer: pip install -U xarray")
        return xarray.DataTree.from_dict(self._datasets(terms))

    def to_arviz(self, *, terms: bool = False) -> Any:
        """What the installed ArviZ works with: ``InferenceData``, or a ``DataTree`` from version 1 on. ``terms`` as for :meth:`to_datatree`."""
        arviz = _late("arviz", "to_arviz")
        # ArviZ 1 still answers to the name InferenceData, with a warning, and gives xarray's DataTree for it.
        if int(str(arviz.__version__).split(".")[0]) >= 1:
            return self.to_datatree(terms=terms)
        return arviz.InferenceData(**self._datasets(terms))

    def to_pandas(self) -> Any:
        """A ``DataFrame`` with one row per draw: chain, draw, parameters."""
        pandas = _late("pandas", "to_pandas")
        chains, draws = self.n_chains, self.n_draws
        columns = {"chain": np.repeat(np.arange(chains), draws), "draw": np.tile(np.arange(draws), chains)}
        columns.update({name: array[:, :draws].ravel() for name, array in self._flat.items()})
        return pandas.DataFrame(columns)

    # What it is good for -----------------------------------------------------------------------------------------

    def predict(
        self,
        X: Any,
        *,
        interval: float = 0.95,
        draws: int = 1000,
        offset: Any = None,
        trials: Any = None,
        survival: Sequence[float] = (),
        seed: int = 1,
        threads: int = 0,
    ) -> Dict[str, np.ndarray]:
        """Expected responses of new rows: ``mean``, and ``lower``, ``upper``, its equal-tailed interval.

        Families with noise beyond the mean also give ``predictive_lower``, ``predictive_upper``: the interval of a new
        observation. Of a survival family, each time of ``survival`` gives a column ``survival_TIME``: the chance that the event comes later.
        """
        features, needs_offset, needs_trials = _austerity.columns(self.path)
        wanted = [*features, *filter(None, (needs_offset, needs_trials))]
        X = _columns.opened(X, wanted or None)
        if not _columns.is_table(X):
            width = np.ndim(X) == 2 and np.shape(X)[1]
            names: Optional[Sequence[str]] = self._names if self._names and len(self._names) == width else None
            if names is None:
                names = features if len(features) == width else None
            if names is None and np.ndim(X) == 2:
                expected = len(self._names or features)
                raise ValueError(f"X has {width} features, but this fit is expecting {expected} features as input")
        else:
            names = None
        columns, rows = _columns.features(X, names, (wanted or None) if names is None and _columns.is_table(X) else None)
        there = [name for name, _ in columns]
        if needs_offset is not None and (offset is not None or needs_offset not in there):
            if offset is None:
                raise ValueError("offset is missing: the model was fitted with one")
            columns.append((needs_offset, _columns.numbers("offset", offset, rows)))
        if needs_trials is not None and trials is not None:
            trials = np.full(rows, float(trials)) if np.ndim(trials) == 0 else trials
            columns.append((needs_trials, _columns.numbers("trials", trials, rows)))
        threads = threads or os.cpu_count() or 1
        return dict(_austerity.predict(self.path, columns, interval, draws, seed, threads, [float(time) for time in survival]))

    def loo(
        self,
        *,
        tolerance: float = 0.05,
        rows: Optional[int] = None,
        exact: bool = False,
        draws: int = 4000,
        seed: int = 1,
        threads: int = 0,
        data: Any = None,
    ) -> _after.Loo:
        """Estimates how well the model predicts new rows: leave-one-out cross-validation from a sample of the rows (PSIS-LOO).

        Parameters
        ----------
        tolerance : float
            Sampling error to reach, as a share of the standard error of the data.
        rows : int
            Rows of the sample, in place of a tolerance.
        exact : bool
            Whether to compute every row.
        draws : int
            Most draws to use, evenly spread over all chains.
        seed, threads : int
            Of the sample; the threads change no bit.
        data : table or path
            The rows the model was fitted to, where this object does not know them any more: after a pickle, or when a file has moved.

        Returns
        -------
        Loo
            A dict that prints as a table; ``pointwise`` has the rows that were computed, ``to_arviz()`` gives ArviZ's ``ELPDData``.
        """
        options = {"tolerance": tolerance, "rows": rows, "exact": exact, "draws": draws, "seed": seed, "threads": threads}
        return _after.Loo(*_austerity.loo(self.path, _after.rows(self, data), options))

    def log_likelihood(self, *, rows: int = 500, draws: int = 1000, seed: int = 1, data: Any = None) -> Any:
        """Log densities of a random sample of rows as an ``xarray.Dataset``: the group ``log_likelihood`` of ArviZ.

        ``y`` has the dimensions chain, draw and row; ``stands_for`` says how many rows of the data each row stands for.
        """
        xarray = _late("xarray", "log_likelihood")
        options = {"rows": rows, "draws": draws, "seed": seed}
        numbers, weight, chains, values = _austerity.log_likelihood(self.path, _after.rows(self, data), options)
        shaped = values.reshape(len(numbers), chains, -1).transpose(1, 2, 0)
        return xarray.Dataset(
            {"y": (("chain", "draw", "row"), shaped)},
            coords={"row": numbers, "stands_for": ("row", np.full(len(numbers), weight))},
        )

    def predictions(self, *, by: Optional[str] = None, at: _after.Asked = None, data: Any = None, **options: Any) -> _after.Effects:
        """Averages the expected response over the rows: ``by`` a column of the data, or ``at`` the points of a grid.

        ``at={"x": [0, 1], "g": None}`` makes a grid of these values of x and all levels of g; other columns are at their mean or most frequent value.
        **options**: ``interval``, ``tolerance``, ``draws``, ``seed``, ``threads``. ``frame()`` of the answer is a DataFrame, ``plot()`` a picture.
        """
        return _after.effects(self, "predictions", None, at, data, {"by": by, **options})

    def comparisons(
        self, variables: _after.Asked = None, *, by: Optional[str] = None, at: _after.Asked = None, data: Any = None, **options: Any
    ) -> _after.Effects:
        """Computes how the expected response changes when a column changes, averaged over the rows.

        ``variables``: a column, several, or a dict with values: ``{"x": 10}`` is 10 more, ``{"x": [1, 5]}`` from 1 to 5. Numbers change by 1 unless told otherwise, text from
        its most frequent level to every other. The rest as for :meth:`predictions`.
        """
        return _after.effects(self, "comparisons", variables, at, data, {"by": by, **options})

    def slopes(
        self, variables: _after.Asked = None, *, by: Optional[str] = None, at: _after.Asked = None, data: Any = None, **options: Any
    ) -> _after.Effects:
        """Computes the derivative of the expected response in columns of numbers, averaged over the rows; arguments as for :meth:`comparisons`."""
        return _after.effects(self, "slopes", variables, at, data, {"by": by, **options})

    def check(self, *, test: Any = None, by: Optional[str] = None, rows: int = 20_000, draws: int = 400, seed: int = 1, data: Any = None) -> _after.Check:
        """Compares a random sample of the rows with replicates: PIT values, calibration, rootogram, statistics, residual quantiles, scores.

        ``test`` is a table, or the path of a file, with rows that the model has not seen: they are checked and scored instead. ``by`` names a column of the table to look at residuals by.
        The answer prints as tables; ``frame()`` has the scores, ``plot("check.svg")`` writes a picture.
        """
        return _after.check(self, test, data, {"by": by, "rows": rows, "draws": draws, "seed": seed})

    def sensitivity(self, *, data: Any = None, seed: int = 1) -> Dict[str, Any]:
        """Measures by power-scaling how sensitive every marginal is to the prior and to the likelihood: above 0.05 it is."""
        return _after.sensitivity(self, data, seed)

    def hypothesis(self, *expressions: str) -> Dict[str, Any]:
        """Computes contrasts such as ``"x1 - x2"``, and probabilities of hypotheses such as ``"x1 - 2*x2 > 0"``."""
        return _after.hypothesis(self, expressions)

    def plot_forest(self, names: Optional[Sequence[str]] = None, *, sort: bool = False, path: Any = None, ax: Any = None) -> Any:
        """Draws posterior means with 95 % intervals: of all coefficients but the intercept, or of ``names``; with ``sort`` by size, as a caterpillar plot.

        On matplotlib's axes, or as a file at ``path`` (.svg, .png, .pdf).
        """
        return _after.forest(self, names, sort, path, ax)

    def plot_pairs(self, names: Optional[Sequence[str]] = None, *, path: Any = None) -> Any:
        """Draws every parameter against every other (the first four, or ``names``): on matplotlib's axes, or as a file at ``path``."""
        return _after.pairs(self, names, path)

    def plot_predictions(self, x: str, by: Optional[str] = None, *, path: Any = None, ax: Any = None, data: Any = None, **options: Any) -> Any:
        """Draws the expected response over a column, a curve for each value of ``by``: on matplotlib's axes, or as an SVG file at ``path``."""
        at = {x: None, **({by: None} if by else {})}
        return _after.effects(self, "predictions", None, at, data, options).plot(path, ax, over=x)

    def update(
        self,
        new: Any = None,
        *,
        forget: Any = None,
        out: Union[str, "os.PathLike[str]", None] = None,
        engine: Any = None,
        progress: Optional[bool] = None,
        **options: Any,
    ) -> "Fit":
        """A new fit with the rows of new files, in one pass over the new rows alone; of a fit whose data were read in parts (``sample_rows=``, ``memory=`` or ``engine=``).

        Parameters
        ----------
        new : path, pattern or list of paths
            Rows with the columns of the fit's data. Rows that are in the fit already are refused, and so are new levels.
        forget : path or list of paths
            Files of the fit whose rows are taken off.
        out, engine, progress, draws, threads
            As of :func:`austerity.sample`.

        Priors and the coding of columns stay those of the first fit. All parts are read again only when the mode has moved far (√d posterior sds).
        """
        from ._sample import updated

        return updated(self, new, forget, out, engine, progress, options)

    def report(self, path: Union[str, "os.PathLike[str]", None] = None) -> Path:
        """Writes one page about the run, for a browser; it needs no network."""
        target = Path(path) if path is not None else self.path / "report.html"
        _austerity.report(self.path, target)
        return target

    def export(self, path: Union[str, "os.PathLike[str]"], *, statistics: bool = False) -> Path:
        """Writes the draws as one table; the extension says the format (.parquet, .csv, .csv.gz)."""
        _austerity.export(self.path, Path(path), statistics)
        return Path(path)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Copies the folder of the run, so that it outlives this object."""
        return Path(shutil.copytree(self.path, path))

    # A pickle holds the whole folder -----------------------------------------------------------------------------

    def __reduce__(self) -> Any:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for file in sorted(self.path.rglob("*")):
                if file.is_file() and file.name != "lock":
                    archive.write(file, file.relative_to(self.path))
        return _unpickle, (buffer.getvalue(), self._names, self._blocks)


#: Columns of a summary in the order of the printed table; others follow.
_ORDER = ("mean", "sd", "q025", "q50", "q975", "mcse_mean", "ess_bulk", "ess_tail", "rhat", "mcse_sd")


def _columns_of(parameter: Dict[str, Any]) -> List[str]:
    return [k for k in _ORDER if k in parameter] + [k for k in parameter if k not in _ORDER and k != "name"]


def _unpickle(data: bytes, names: Optional[List[str]], blocks: Optional[Blocks] = None) -> Fit:
    keep = Temporary()
    path = keep.path / "run"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(path)
    return Fit(path, names=names, keep=keep, blocks=blocks)


def _late(module: str, what: str) -> Any:
    """Imports what is only needed here."""
    try:
        return __import__(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module}: pip install {module}") from error
