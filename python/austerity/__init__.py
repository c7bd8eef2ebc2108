"""Bayesian inference on tall data that reads a fraction of the data per step and says how wrong it may be.

>>> import numpy as np, austerity as au
>>> rng = np.random.default_rng(1)
>>> table = {"x": rng.normal(size=20_000), "group": rng.choice(["a", "b"], size=20_000)}
>>> table["y"] = rng.random(20_000) < 1 / (1 + np.exp(-table["x"] - (table["group"] == "b")))
>>> fit = au.fit("y ~ x + group", table, family="logistic", prior=au.Normal(1.0), draws=1000, progress=False)
>>> sorted(fit.draws)
['group[b]', 'intercept', 'x']
>>> fit.draws["x"].shape
(4, 1000)
"""

from typing import TYPE_CHECKING, Any, List

from . import _models
from ._after import Check, Comparison, Effects, Loo, compare
from ._austerity import __version__
from ._fit import Fit, NotTrustedWarning, RemarkWarning, SamplingError, open, verify  # noqa: A004
from ._generate import Generated, generate
from ._models import *  # noqa: F403
from ._blocks import Interval, Ordered, Positive, Real, Simplex
from ._own import JaxModel, Model, NumbaModel
from ._parts import gibbs, ica, select
from ._priors import Exponential, Flat, Gamma, HalfNormal, HalfStudentT, Laplace, LogNormal, Normal, StudentT
from ._sample import Plan, Run, fit, plan, sample
from ._theory import analyze, check, design

__all__ = [
    "Check",
    "Comparison",
    "Effects",
    "Exponential",
    "Fit",
    "Flat",
    "Gamma",
    "Generated",
    "HalfNormal",
    "HalfStudentT",
    "Interval",
    "JaxModel",
    "Laplace",
    "LogNormal",
    "Loo",
    "Model",
    "Normal",
    "NotTrustedWarning",
    "NumbaModel",
    "Ordered",
    "Plan",
    "Positive",
    "Real",
    "RemarkWarning",
    "Run",
    "SamplingError",
    "Simplex",
    "StudentT",
    "__version__",
    "analyze",
    "check",
    "compare",
    "design",
    "fit",
    "generate",
    "gibbs",
    "ica",
    "open",
    "plan",
    "sample",
    "select",
    "verify",
]
__all__ += _models.__all__

if TYPE_CHECKING:
    from ._estimators import AustereLogisticRegression, AustereRegressor


def __getattr__(name: str) -> Any:
    """The estimators inherit from scikit-learn, which is imported when they are first asked for."""
    if name in ("AustereLogisticRegression", "AustereRegressor"):
        try:
            from . import _estimators
        except ImportError as error:
            raise ImportError(f"{name} needs scikit-learn: pip install scikit-learn") from error
        return getattr(_estimators, name)
    raise AttributeError(f"module 'austerity' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted([*__all__, "AustereLogisticRegression", "AustereRegressor"])
