"""What a fit is worth and what it says: leave-one-out cross-validation, comparisons of fits, effects on the scale of the response."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _austerity, _columns, _tables

if TYPE_CHECKING:
    from ._fit import Fit

#: A column, or columns with values: ``"x"``, ``["x", "z"]``, ``{"x": [0, 1]}``.
Asked = Union[None, str, Sequence[str], Mapping[str, Any]]


def _frame(columns: Mapping[str, Any]) -> Any:
    """A pandas DataFrame when pandas is installed, else the columns."""
    try:
        import pandas
    except ImportError:
        return dict(columns)
    return pandas.DataFrame(columns)


class _Answer(Dict[str, Any]):
    """A dictionary of what ``--json`` prints; prints as the program does, and shows as a table in notebooks."""

    def __init__(self, text: str, words: str) -> None:
        super().__init__(json.loads(text))
        self._words = words

    def __str__(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return self._words

    def __reduce__(self) -> Any:
        return _restored, (type(self), dict(self), {k: v for k, v in vars(self).items()})

    def _repr_html_(self) -> str:
        return f'<pre class="austerity">{escape(self._words)}</pre>'


def _restored(kind: Any, values: Dict[str, Any], attributes: Dict[str, Any]) -> Any:
    made = kind.__new__(kind)
    dict.update(made, values)
    vars(made).update(attributes)
    return made


class Loo(_Answer):
    """How well a fit predicts new rows, made by :meth:`austerity.Fit.loo`.

    Attributes
    ----------
    elpd_loo, se, subsampling_se, p_loo : float
        Expected log predictive density of all rows, its standard error over data sets, its standard error for want of rows, and the effective number of parameters.
    """

    def __init__(self, text: str, words: str, points: List[Tuple[str, np.ndarray]]) -> None:
        super().__init__(text, words)
        self._points = dict(points)

    @property
    def elpd_loo(self) -> float:
        """Expected log predictive density of all rows: larger is better."""
        return float(self["elpd_loo"])

    @property
    def se(self) -> float:
        """Standard error over data sets of this size."""
        return float(self["se"])

    @property
    def subsampling_se(self) -> float:
        """Standard error for want of rows: 0 where every row was computed."""
        return float(self["subsampling_se"])

    @property
    def p_loo(self) -> float:
        """Effective number of parameters."""
        return float(self["p_loo"])

    @property
    def pointwise(self) -> Any:
        """The rows that were computed: ``row`` (from 0), ``elpd_loo``, ``lpd``, ``pareto_k``, ``influence`` and how many rows each ``stands_for``.

        A pandas ``DataFrame`` when pandas is installed, else a dict of arrays.
        """
        return _frame({name: values.astype(int) if name == "row" else values for name, values in self._points.items()})

    def to_arviz(self) -> Any:
        """ArviZ's ``ELPDData``; of a sample of rows the values of each row are left out."""
        from ._fit import _late

        arviz = _late("arviz", "to_arviz")
        every = self["exact"] and len(self._points["row"]) == self["rows"]
        order = np.argsort(self._points["row"])
        elpd, shape = (self._points[name][order] if every else None for name in ("elpd_loo", "pareto_k"))
        return _elpd_data(arviz, self, elpd, shape)


def _elpd_data(arviz: Any, loo: Loo, elpd: Optional[np.ndarray], shape: Optional[np.ndarray]) -> Any:
    warned, good = bool(loo["pareto_k_over_0_7"]), min(1 - 1 / np.log10(loo["draws"]), 0.7)
    try:
        # ArviZ 1
        from arviz_stats.utils import ELPDData
    except ImportError:
        from arviz.stats.stats_utils import ELPDData

        names = ["elpd_loo", "se", "p_loo", "n_samples", "n_data_points", "warning"]
        values: List[Any] = [loo.elpd_loo, loo.se, loo.p_loo, loo["draws"], loo["rows"], warned]
        if elpd is not None:
            import xarray

            names += ["loo_i", "pareto_k"]
            values += [xarray.DataArray(elpd, name="loo_i"), xarray.DataArray(shape, name="pareto_shape")]
        return ELPDData(data=[*values, "log", good], index=[*names, "scale", "good_k"])
    import xarray

    return ELPDData(
        kind="loo",
        elpd=loo.elpd_loo,
        se=loo.se,
        p=loo.p_loo,
        n_samples=loo["draws"],
        n_data_points=loo["rows"],
        scale="log",
        warning=warned,
        good_k=good,
        elpd_i=None if elpd is None else xarray.DataArray(elpd, dims="row"),
        pareto_k=None if shape is None else xarray.DataArray(shape, dims="row"),
    )


class Comparison(_Answer):
    """Fits from the best to the worst, made by :func:`austerity.compare`."""

    def __init__(self, text: str, words: str, svg: str) -> None:
        super().__init__(text, words)
        self.svg = svg

    def frame(self) -> Any:
        """One row per fit; a pandas ``DataFrame`` when pandas is installed, else a dict of columns."""
        models = self["models"]
        return _frame({name: [model[name] for model in models] for name in models[0]})

    def plot(self, path: Any = None, ax: Any = None) -> Any:
        """Differences of elpd with two standard errors: an SVG file at ``path``, or matplotlib's axes."""
        if path is not None:
            return _written(path, self.svg)
        names = [model["name"] for model in self["models"]]
        centre = np.array([model["elpd_diff"] for model in self["models"]])
        error = 2 * np.hypot([model["diff_se"] for model in self["models"]], [model["diff_subsampling_se"] for model in self["models"]])
        axes = _intervals(names, centre, centre - error, centre + error, ax)
        axes.set_xlabel("elpd less the best one's (± 2 standard errors)")
        return axes


class Effects(_Answer):
    """Predictions, comparisons or slopes of a fit."""

    def __init__(self, text: str, words: str, svg: str) -> None:
        super().__init__(text, words)
        self.svg = svg

    def frame(self) -> Any:
        """One row per number; a pandas ``DataFrame`` when pandas is installed, else a dict of columns."""
        rows = [{**{k: v for k, v in one.items() if k != "at"}, **one.get("at", {})} for one in self["estimates"]]
        return _frame({name: [row[name] for row in rows] for name in (rows[0] if rows else {})})

    def plot(self, path: Any = None, ax: Any = None, over: Optional[str] = None) -> Any:
        """Curves over a column of numbers of the grid (``over``, or the first), else intervals below each other: an SVG file at ``path``, or matplotlib's axes."""
        if path is not None:
            return _written(path, self.svg)
        return _curves(self, ax, over) or _forest(self, ax)


class Check(_Answer):
    """Posterior predictive checks and scores of a fit, made by :meth:`austerity.Fit.check`."""

    def __init__(self, text: str, words: str, svg: str) -> None:
        super().__init__(text, words)
        self.svg = svg

    def frame(self) -> Any:
        """The scores, one row each; a pandas ``DataFrame`` when pandas is installed, else a dict of columns."""
        scores = self["metrics"]
        return _frame({name: [score[name] for score in scores] for name in scores[0]})

    def plot(self, path: Any) -> Path:
        """Calibration or rootogram, PIT values and residuals as an SVG file."""
        return _written(path, self.svg)


def _written(path: Any, svg: str) -> Path:
    target = Path(path)
    target.write_text(svg, encoding="utf-8")
    return target


def _axes_needed() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib; plot('picture.svg') of an answer needs nothing") from error


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    _axes_needed()
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def _intervals(names: Sequence[str], centre: Any, lower: Any, upper: Any, ax: Any) -> Any:
    axes, places = _axes(ax), -np.arange(len(names))
    axes.hlines(places, lower, upper)
    axes.plot(centre, places, "o")
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_yticks(places, names)
    return axes


def _name(one: Mapping[str, Any], skip: Optional[str] = None) -> str:
    parts = [f"{one['term']} ({one['contrast']})"] if one.get("term") else []
    parts += [str(one["group"])] if one.get("group") else []
    parts += [f"{name} = {value}" for name, value in one.get("at", {}).items() if name != skip]
    return ", ".join(parts) or "all rows"


def _forest(effects: Effects, ax: Any) -> Any:
    found = effects["estimates"]
    columns = ([one[name] for one in found] for name in ("estimate", "lower", "upper"))
    axes = _intervals([_name(one) for one in found], *columns, ax)
    axes.set_xlabel(f"{effects['verb']} of {effects['response']}")
    return axes


def _curves(effects: Effects, ax: Any, over: Optional[str] = None) -> Any:
    """Curves over a column of numbers of the grid; nothing where there is none."""
    found = effects["estimates"]
    columns = found[0].get("at", {}) if found else {}
    numbers = [name for name in columns if not any(isinstance(one["at"][name], str) for one in found)]
    first = over if over in numbers else next(iter(numbers), None)
    if first is None:
        return None
    groups: Dict[str, List[Mapping[str, Any]]] = {}
    for one in found:
        groups.setdefault(_name(one, first), []).append(one)
    axes = _axes(ax)
    for name, points in groups.items():
        points = sorted(points, key=lambda one: one["at"][first])
        x = [one["at"][first] for one in points]
        (line,) = axes.plot(x, [one["estimate"] for one in points], label=name)
        axes.fill_between(x, [one["lower"] for one in points], [one["upper"] for one in points], color=line.get_color(), alpha=0.2)
    axes.set_xlabel(first)
    axes.set_ylabel(effects["response"])
    if len(groups) > 1:
        axes.legend()
    return axes


def forest(fit: "Fit", names: Optional[Sequence[str]], sort: bool, path: Any, ax: Any) -> Any:
    """Posterior means with their 95 % intervals below each other."""
    draws = fit.draws
    chosen = [name for name in fit.coefficients if name != "intercept"] if names is None else list(names)
    _known(chosen, draws)
    if sort:
        chosen.sort(key=lambda name: -float(draws[name].mean()))
    centre = [float(draws[name].mean()) for name in chosen]
    lower, upper = (np.array([np.quantile(draws[name], level) for name in chosen]) for level in (0.025, 0.975))
    return _drawn(_intervals(chosen, centre, lower, upper, ax), path)


def pairs(fit: "Fit", names: Optional[Sequence[str]], path: Any) -> Any:
    """Every parameter against every other, and each alone."""
    draws = fit.draws
    chosen = list(draws)[:4] if names is None else list(names)
    _known(chosen, draws)
    _axes_needed()
    from matplotlib import pyplot

    count = len(chosen)
    figure, grid = pyplot.subplots(count, count, figsize=(2.2 * count, 2.2 * count), squeeze=False)
    for i, below in enumerate(chosen):
        for j, beside in enumerate(chosen):
            axes = grid[i, j]
            if j > i:
                axes.set_visible(False)
            elif i == j:
                axes.hist(draws[below].ravel(), bins=30, color="0.6")
            else:
                step = max(1, draws[below].size // 2000)
                axes.plot(draws[beside].ravel()[::step], draws[below].ravel()[::step], ".", markersize=2, alpha=0.4)
            if i == count - 1:
                axes.set_xlabel(beside)
            if j == 0:
                axes.set_ylabel(below)
    return _drawn(grid, path, figure)


def _known(names: Sequence[str], draws: Mapping[str, Any]) -> None:
    for name in names:
        if name not in draws:
            raise ValueError(f"no parameter is called {name!r}; the fit has {', '.join(list(draws)[:12])}")


def _drawn(axes: Any, path: Any, figure: Any = None) -> Any:
    if path is None:
        return axes
    (figure or axes.figure).savefig(path, bbox_inches="tight")
    return Path(path)


def rows(fit: "Fit", data: Any, further: Sequence[str] = ()) -> Tuple[Optional[_columns.Named], Optional[Path]]:
    """The rows of a fit: columns in memory or a path; neither of a fit whose file is where it was."""
    needed, there = _austerity.fitted(fit.path)
    if data is not None:
        files = _tables.paths(data)
        if files is not None:
            return None, Path(files[0])
        wanted = [*needed, *(name for name in further if name not in needed)]
        return _columns.features(data, None, wanted)[0], None
    own = fit._model._table() if fit._model is not None else None
    if own is not None:
        return own, None
    if not there and fit._model is None:
        raise ValueError("the rows that this fit was made of are not at hand: pass the table, or the path of its file, as data=")
    return None, None


def check(fit: "Fit", test: Any, data: Any, options: Dict[str, Any]) -> Check:
    """Posterior predictive checks; of ``test`` where it is given."""
    by = options.get("by")
    from_rows = rows(fit, data if test is None else test, [by] if by else [])
    return Check(*_austerity.appraise(fit.path, from_rows, test is not None, options))


def sensitivity(fit: "Fit", data: Any, seed: int) -> _Answer:
    """How sensitive every marginal is."""
    return _Answer(*_austerity.reactions(fit.path, rows(fit, data), seed))


def hypothesis(fit: "Fit", expressions: Sequence[str]) -> _Answer:
    """Contrasts and hypotheses."""
    return _Answer(*_austerity.contrasts(fit.path, list(expressions)))


def asked(what: str, given: Asked) -> List[Tuple[str, List[str]]]:
    """Columns with the values asked for."""
    if given is None:
        return []
    if isinstance(given, str):
        return [(given, [])]
    if isinstance(given, Mapping):
        return [(str(name), _values(values)) for name, values in given.items()]
    if isinstance(given, (list, tuple)):
        return [(str(name), []) for name in given]
    raise TypeError(f"{what} is {given!r}; give the name of a column, a list of names, or a dict such as {{'x': [0, 1]}}")


def _values(values: Any) -> List[str]:
    if values is None:
        return []
    if isinstance(values, (str, bytes)) or np.ndim(values) == 0:
        values = [values]
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    return repr(float(value)) if isinstance(value, (int, float, np.number)) else str(value)


def effects(fit: "Fit", verb: str, variables: Asked, at: Asked, data: Any, options: Dict[str, Any]) -> Effects:
    """Predictions, comparisons or slopes."""
    by = options.get("by")
    from_rows = rows(fit, data, [by] if by else [])
    return Effects(*_austerity.effects((verb, fit.path), from_rows, asked("variables", variables), asked("at", at), options))


def compare(
    fits: Mapping[str, "Fit"],
    *,
    tolerance: float = 0.05,
    rows: Optional[int] = None,  # noqa: A002
    draws: int = 4000,
    seed: int = 1,
    threads: int = 0,
    data: Any = None,
) -> Comparison:
    """Compares how well fits of the same data predict new rows, by leave-one-out cross-validation of the same sample of rows.

    >>> import numpy as np, austerity as au
    >>> rng = np.random.default_rng(1)
    >>> table = {"x": rng.normal(size=3000), "z": rng.normal(size=3000)}
    >>> table["y"] = table["x"] + rng.normal(size=3000)
    >>> fits = {name: au.fit(name, table, draws=500, progress=False) for name in ("y ~ x", "y ~ z")}
    >>> au.compare(fits)["models"][0]["name"]
    'y ~ x'

    Parameters
    ----------
    fits : dict
        Fits by name. They must explain the same rows of the same response.
    tolerance : float
        Sampling error to reach, as a share of the standard error of each difference.
    rows : int
        Rows of the sample, in place of a tolerance.
    draws, seed, threads
        As for :meth:`austerity.Fit.loo`.
    data : table or path
        The rows, where the fits do not know them any more.

    Returns
    -------
    Comparison
        Prints as a table; ``frame()`` is a DataFrame with ``elpd_loo``, ``elpd_diff``, ``diff_se``, ``weight`` (stacking) and others, ``plot()`` a picture.
    """
    if not isinstance(fits, Mapping):
        raise TypeError("fits is no dict; give one such as {'small': fit, 'large': other}")
    for name, fit in fits.items():
        if not hasattr(fit, "path"):
            raise TypeError(f"fits[{name!r}] is {fit!r}; give a Fit")
    options = {"tolerance": tolerance, "rows": rows, "draws": draws, "seed": seed, "threads": threads}
    all_rows = globals()["rows"]
    return Comparison(*_austerity.compare([(str(name), fit.path, all_rows(fit, data)) for name, fit in fits.items()], options))
