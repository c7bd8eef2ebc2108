"""How wrong is a test, which one to take, are its assumptions sound on these data."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional

from . import _austerity
from ._models import Regression
from ._options import plain


def _given(options: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value if value is True else plain(name, value) for name, value in options.items() if value is not None and value is not False}


def analyze(n: int, batch: Optional[int] = None, epsilon: Optional[float] = None, **options: Any) -> Dict[str, Any]:
    """The error of a sequential test and what it reads, of one step and of the stationary distribution.

    Parameters
    ----------
    n, batch, epsilon
        Rows of the population, rows of the first look, one-sided error allowed at a look.
    **options
        Those of ``austerity analyze``: ``growth``, ``looks``, ``bound``, ``statistic``, ``block_rows``, ``mu_std``, ``mean``,
        ``sd``, ``offset``, ``law``, ``energy``, ``kappa``, ``bound_total_variation``, ``sites``, ``plot``, ``compare``.

    Examples
    --------
    >>> round(analyze(12214, batch=500, epsilon=0.05)["worst_case"]["error"], 2)
    0.31

    How far can draws be from the posterior if exact chains halve every distance in a step (Theorem 1)?

    >>> found = analyze(10000, batch=500, epsilon=0.01, mean=0.0, sd=0.005, bound_total_variation=0.5)
    >>> found["total_variation"]["bound"] < 0.1
    True
    """
    return json.loads(_austerity.analyze(n, _given(dict(batch=batch, epsilon=epsilon, **options))))


def design(n: int, tolerance: float, *, seed: int = 1, **options: Any) -> Dict[str, Any]:
    """The test that costs least data for an error that is allowed.

    Options are those of ``austerity design``: ``worst_case``, ``trial``, ``energy``, ``bound``, ``growth``, ``law``, ``plot``.

    >>> found = design(12214, tolerance=0.05)
    >>> found["feasible"], found["error"] <= 0.05
    (True, True)
    """
    return json.loads(_austerity.design(n, tolerance, _given(dict(seed=seed, **options))))


def check(model: Regression, *, seed: int = 1, **options: Any) -> Dict[str, Any]:
    """Whether the assumptions of the sequential test are sound on these data: asked before running.

    Options are those of ``austerity check``: ``batch``, ``block_rows``, ``pairs``, ``repetitions``, ``threads``.
    """
    if not isinstance(model, Regression):
        raise TypeError(f"check needs a regression such as Logistic(X, y), not {type(model).__name__}")
    return json.loads(model._check(_given(dict(seed=seed, **options))))
