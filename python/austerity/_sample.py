"""Sampling: from a model to a fit, at once or in the background."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import time
import warnings
from pathlib import Path
from typing import Any, Dict, Optional, Set, Union

from . import _austerity, _options, _tables, engines
from ._fit import Fit, NotTrustedWarning, RemarkWarning, SamplingError
from ._models import Formula, Regression
from ._own import OwnModel
from ._priors import Prior
from ._progress import Bar
from ._temporary import Temporary

#: How often the terminal, and Python's signals, are looked after.
_TICK = 0.05
#: Runs that have not been waited for: their models, and the code behind them, must stay.
_running: "Set[Run]" = set()


def sample(
    model: Union[Regression, OwnModel],
    draws: Optional[int] = None,
    *,
    chains: Optional[int] = None,
    tolerance: Optional[float] = None,
    seed: Optional[int] = 1,
    budget: Union[str, float, None] = None,
    rule: Optional[str] = None,
    proposal: Optional[str] = None,
    threads: int = 0,
    out: Union[str, "os.PathLike[str]", None] = None,
    resume: bool = False,
    blocking: bool = True,
    progress: Optional[bool] = None,
    engine: Any = None,
    **options: Any,
) -> Union[Fit, "Run"]:
    """Draws from the posterior of ``model``.

    Parameters
    ----------
    draws : int
        Draws per chain. Default: enough for about 600 effective draws, as a pilot finds; unlimited if another limit is given.
    chains : int
        Default: 4.
    tolerance : float
        Largest mean error of the acceptance probability. Default: 0.01.
    seed : int
        The same seed gives the same draws, on any number of threads. ``None`` takes one from the operating system; the run
        stores it, and ``fit.seed`` tells it. A resumed run keeps its own.
    budget : str, float or timedelta
        Wall-clock time of this call, preparation and summary included, such as ``"60s"``, ``"5m"`` or a number of seconds.
        At most 65,536 draws per chain are stored, evenly spaced; ``max_disk`` stores more.
    rule : str
        Accept/reject rule: ``auto``, ``exact``, ``sequential`` or ``certified``; ``none`` takes every candidate of ``sgld`` or ``sgfs``, and the run is not trusted.
    proposal : str
        ``auto``, ``laplace``, ``surrogate-hmc``, ``langevin:STEP`` (STEP above 0 and below 2, in posterior standard deviations),
        ``adaptive``, ``random-walk:SD``, ``sgld:SD`` or ``sgfs:STEP`` (stochastic gradient Langevin dynamics and Fisher scoring on mini-batches of ``batch`` rows).

        >>> import austerity as au
        >>> data = au.generate("logistic", 2000, 3)
        >>> model = au.Logistic(data.X, data.y)
        >>> tested = au.sample(model, proposal="sgfs:0.4", rule="sequential", epsilon=0.01, batch=1000, draws=3000, progress=False)
        >>> untested = au.sample(model, proposal="sgfs:0.4", rule="none", draws=3000, progress=False)
        >>> untested.trusted, any("biased" in reason for reason in untested.reasons)
        (False, True)

    out : path
        The folder of the run, the same that the program ``austerity`` writes and reads. Default: a temporary one on disk
        that lives as long as the fit; the environment variable ``TMPDIR`` says where.
    resume : bool
        Goes on with the run in ``out``; ``draws`` is then the number in total.
    blocking : bool
        ``False`` gives a :class:`Run` at once.
    progress : bool
        Whether to show a bar. Default: in a terminal or a notebook.
    engine : str, executor, client, session or callable
        Who reads files in parts when the rows do not fit in memory: ``"processes:4"``, an executor of ``concurrent.futures``, a Dask client, a Spark
        session, MPI, or any callable; see :mod:`austerity.engines` and docs/scale.md. Default: threads.
    **options
        Every other option of ``austerity fit``, with underscores: ``sample_rows`` and ``memory`` (rows that chains run on, memory that all rows may take), ``epsilon``, ``batch``, ``growth``, ``bound``, ``law``,
        ``stop_at``, ``surrogate``, ``audit``, ``block_rows``, ``preset``, ``warmup``, ``thin``, ``keep``, ``first_chain``,
        ``evaluations``, ``target_ess``, ``max_disk`` (largest size of the folder, such as ``"500MB"``; default 1 GB: beyond
        it every 2nd, 4th, … draw is stored).

    Ctrl-C ends the run and returns what was drawn.
    """
    _refuse_no_model(model)
    if resume and out is None:
        raise ValueError("resume=True needs out=, the folder of the run to go on with")
    budget = _options.seconds(budget)
    given: Dict[str, Any] = dict(
        draws=draws, chains=chains, tolerance=tolerance, budget=budget, rule=rule, proposal=proposal, threads=threads
    )
    given.update(options)
    checked = {**_options.checked(given, _options.known(), "sample()"), "seed": _seed(seed, resume), "resume": resume}
    if engine is not None:
        if not isinstance(model, Regression):
            raise TypeError("engine= is for regressions, whose rows are in files")
        checked["engine"] = engines.resolve(engine)
    run = Run(model, checked, None if out is None else Path(out))
    if not blocking:
        return run
    return run._finish(Bar.wanted(progress))


def fit(
    formula: str,
    data: Any,
    family: Optional[str] = None,
    draws: Optional[int] = None,
    *,
    prior: Optional[Prior] = None,
    prior_intercept: Optional[Prior] = None,
    priors: Optional[Dict[str, Prior]] = None,
    success: Any = None,
    standardize: bool = False,
    missing: str = "refuse",
    engine: Any = None,
    **options: Any,
) -> Union[Fit, "Run"]:
    """Fits a regression that a formula describes to a table.

    Examples
    --------
    >>> import numpy as np, austerity as au
    >>> rng = np.random.default_rng(1)
    >>> people = {"age": rng.normal(40, 10, size=2000), "city": rng.choice(["Bonn", "Ulm"], size=2000)}
    >>> people["income"] = 0.1 * people["age"] + (people["city"] == "Ulm") + rng.normal(size=2000)
    >>> fit = au.fit("income ~ age + C(city)", people, draws=500, progress=False)
    >>> fit.coefficients
    ['intercept', 'age', 'C(city)[Ulm]']

    Parameters
    ----------
    formula, data, family, prior, prior_intercept, priors, success, standardize, missing
        As of :class:`austerity.Formula`. ``data`` may be a path, a pattern, a list of files, a ``pyarrow`` data set, a Dask or a Spark frame as well.
    engine, draws, **options
        As of :func:`sample`.
    """
    about = dict(prior=prior, prior_intercept=prior_intercept, priors=priors, success=success, standardize=standardize, missing=missing)
    return sample(Formula(formula, data, family, **about), draws, engine=engine, **options)  # type: ignore[arg-type]


class _Update:
    """New rows on an old run, as :class:`Run` begins a model."""

    names = None

    def __init__(self, old: Path, new: Any, forget: Any) -> None:
        self._old, self._new, self._forget = old, new, forget

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        engine = options.pop("engine", None)
        return _austerity.update(self._old, self._new, self._forget, options, engine)


def updated(fit: Fit, new: Any, forget: Any, out: Any, engine: Any, progress: Optional[bool], options: Dict[str, Any]) -> Fit:
    """What :meth:`Fit.update` does."""
    files = [_tables.paths(value) if value is not None else [] for value in (new, forget)]
    if None in files:
        raise TypeError("new rows are read from files: give a path, a pattern or a list of paths")
    checked = _options.checked(options, {"draws", "threads"}, "update()")
    checked["engine"] = engines.resolve(engine)
    run = Run(_Update(fit.path, *files), checked, None if out is None else Path(out))  # type: ignore[arg-type]
    return run._finish(Bar.wanted(progress))


class Plan(Dict[str, Any]):
    """What :func:`sample` would do and why, made by :func:`plan`: prints as words, and holds the plan as a dictionary.

    The keys are those of the table ``plan`` in a run's ``run.toml``: ``data``, ``model``, ``decision``, ``surrogate``, ``proposal``,
    ``settings``, ``storage``, ``expected`` and others.
    """

    def __init__(self, words: str, values: Dict[str, Any]) -> None:
        super().__init__(values)
        self.words = words

    def __str__(self) -> str:
        return self.words

    def __reduce__(self) -> Any:
        return Plan, (self.words, dict(self))


def plan(model: Union[Regression, OwnModel], draws: Optional[int] = None, **options: Any) -> Plan:
    """Plans what :func:`sample` would do with the same arguments, and draws nothing.

    Examples
    --------
    >>> import numpy as np, austerity as au
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> plan = au.plan(au.Linear(X, X @ [1.0, 2.0]), draws=500)
    >>> plan["settings"]["draws"], plan["model"]["family"]
    (500, 'linear')
    >>> print(plan)  # doctest: +ELLIPSIS
    memory: 5,000 rows, 4 parameters; linear regression with normal noise.
    ...

    Parameters
    ----------
    model, draws, **options
        As for :func:`sample`, but for ``out``, ``resume``, ``blocking`` and ``progress``.

    It reads the data, finds the mode and runs the pilots, as ``sample`` does before its chains start; no folder is made.
    """
    _refuse_no_model(model)
    budget = _options.seconds(options.pop("budget", None))
    seed = _seed(options.pop("seed", _SEED), False)
    checked = _options.checked({"draws": draws, "budget": budget, **options}, _options.known(), "plan()")
    handle = model._begin({**checked, "seed": seed}, True)
    try:
        while not handle.wait(_TICK):
            pass
    except BaseException:
        handle.stop()
        handle.wait(30.0)
        raise
    handle.outcome()
    words, values = handle.planned()
    return Plan(words, json.loads(values))


#: The seed where none is given.
_SEED = 1


def _refuse_no_model(model: Any) -> None:
    if not isinstance(model, (Regression, OwnModel)):
        raise TypeError(f"{type(model).__name__} is no model; use one such as Logistic(X, y) or Model(log_likelihood, …)")


def _seed(seed: Any, resume: bool) -> Optional[int]:
    """The seed: one from the operating system for ``None``, that of the run itself when it goes on."""
    if seed is None:
        return None if resume else secrets.randbits(32)
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"seed is {seed!r}; give a whole number from 0, or None for one from the operating system")
    seed = seed.__index__()
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; give a whole number from 0 to 2**63 - 1, or None for one from the operating system")
    return None if resume and seed == _SEED else seed


class Run:
    """A run in the background, made by ``sample(…, blocking=False)``.

    >>> import numpy as np, austerity as au
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> run = au.sample(au.Linear(X, X @ [1.0, 2.0]), draws=500, blocking=False)
    >>> fit = run.wait()
    >>> fit.draws["x1"].shape
    (4, 500)
    """

    def __init__(
        self,
        model: Union[Regression, OwnModel],
        options: Dict[str, Any],
        out: Optional[Path],
    ) -> None:
        self._model = model
        self._owned = Temporary() if out is None else None
        self.path = self._owned.path / "run" if self._owned is not None else Path(out)  # type: ignore[arg-type]
        self._handle = model._begin({**options, "out": self.path})
        self._fit: Optional[Fit] = None
        self._error: Optional[BaseException] = None
        _running.add(self)

    def __reduce__(self) -> Any:
        raise TypeError("a run cannot be pickled: its chains live in this process; wait() for the fit and pickle that")

    def __repr__(self) -> str:
        return f"<Run in {self.path}: {'ended' if self._handle.ended() else self._handle.doing() or 'beginning'}>"

    @property
    def progress(self) -> Dict[str, Any]:
        """How far it is: share, draws, acceptance, data_share, elapsed, remaining, rhat, ess; also what it is doing."""
        found = self._handle.progress()
        names = ("share", "draws", "acceptance", "data_share", "elapsed", "remaining", "rhat", "ess")
        values = dict(zip(names, found if found is not None else (0.0, 0, None, None, 0.0, None, None, None)))
        values["doing"] = "paused" if self._handle.paused() else self._handle.doing()
        values["ended"] = self._handle.ended()
        return values

    @property
    def plan(self) -> str:
        """What will be done and why, in words, once that is decided."""
        return self._handle.plan()

    def pause(self) -> None:
        """Holds the chains after their current steps."""
        self._handle.pause()

    def resume(self) -> None:
        """Lets paused chains go on."""
        self._handle.resume()

    def inspect(self) -> Optional[Fit]:
        """The fit so far, of draws stored until now (they are stored every two seconds); nothing before the first."""
        if self._handle.ended():
            return self.wait()
        try:
            fit = Fit(self.path, names=getattr(self._model, "names", None), keep=self._owned, model=self._model)
            return fit if fit.n_draws > 0 else None
        except (ValueError, OSError):
            return None

    def wait(self, timeout: Optional[float] = None) -> Fit:
        """Waits for the end and gives the fit; a ``TimeoutError`` after ``timeout`` seconds leaves the run as it is."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._handle.wait(_TICK if end is None else max(0.0, min(_TICK, end - time.monotonic()))):
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"the run is still going after {timeout} s; wait again, inspect() or abort() it")
        return self._conclude()

    def abort(self) -> Optional[Fit]:
        """Ends the run; what was drawn is kept and returned, nothing if no draw was made."""
        self._handle.stop()
        try:
            return self.wait()
        except KeyboardInterrupt:
            return None

    def _conclude(self) -> Fit:
        _running.discard(self)
        if self._error is not None:
            raise self._error
        if self._fit is not None:
            return self._fit
        try:
            failure = self._handle.outcome()
        except BaseException as error:
            self._error = error
            raise
        told = self._handle.overview()
        fit = Fit(self.path, names=getattr(self._model, "names", None), keep=self._owned, told=told, model=self._model)
        for text in self._handle.warnings():
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        if failure is not None:
            self._error = SamplingError(f"{failure}; the draws made before are in the attribute `fit` of this error", fit)
            raise self._error
        self._fit = fit
        return fit

    def _finish(self, bar: Bar) -> Fit:
        """Waits with a bar; Ctrl-C ends the run."""
        stopped = False
        while True:
            try:
                if self._handle.wait(_TICK):
                    break
                bar.show(self.progress)
            except KeyboardInterrupt:
                if stopped:
                    raise
                stopped = True
                self._handle.stop()
        bar.close(self.progress)
        fit = self._conclude()
        if stopped:
            warnings.warn(f"interrupted after {fit.n_draws} draws per chain", RuntimeWarning, stacklevel=3)
        elif not fit.trusted:
            warnings.warn("not to be trusted yet: " + " ".join(fit.reasons), NotTrustedWarning, stacklevel=3)
        if fit.remarks:
            listed = "".join(f"\n• {remark}" for remark in fit.remarks)
            warnings.warn(f"remarks on this fit:{listed}", RemarkWarning, stacklevel=3)
        return fit


@atexit.register
def _end_all() -> None:
    """Runs still going at the end of Python are ended, so that no thread calls into what is gone."""
    for run in list(_running):
        try:
            if not run._handle.ended():
                run._handle.stop()
                run._handle.wait(30.0)
        except RuntimeError:
            pass
