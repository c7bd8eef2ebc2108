"""Priors of coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union


def _positive(name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} is {value!r}; allowed: a positive finite number")


@dataclass(frozen=True)
class Normal:
    """A normal prior around 0.

    >>> Normal(2.5)
    Normal(sd=2.5)
    """

    sd: float = 2.5

    def __post_init__(self) -> None:
        _positive("sd", self.sd)

    def __str__(self) -> str:
        return f"normal:{float(self.sd)!r}"


@dataclass(frozen=True)
class Laplace:
    """A double exponential prior around 0, as the lasso has it."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        _positive("scale", self.scale)

    def __str__(self) -> str:
        return f"laplace:{float(self.scale)!r}"


@dataclass(frozen=True)
class StudentT:
    """A Student-t prior around 0: heavier tails than the normal one."""

    freedom: float = 4.0
    scale: float = 2.5

    def __post_init__(self) -> None:
        _positive("freedom", self.freedom)
        _positive("scale", self.scale)

    def __str__(self) -> str:
        return f"student:{float(self.freedom)!r},{float(self.scale)!r}"


@dataclass(frozen=True)
class Flat:
    """No prior at all; the data must then determine every coefficient."""

    def __str__(self) -> str:
        return "flat"


Prior = Union[Normal, Laplace, StudentT, Flat]


def prior_text(name: str, prior: object) -> str:
    """A prior as the program reads it."""
    if isinstance(prior, str):
        return prior
    if isinstance(prior, (Normal, Laplace, StudentT, Flat)):
        return str(prior)
    raise TypeError(f"{name}: {prior!r} is no prior; use Normal(sd), Laplace(scale), StudentT(freedom, scale) or Flat()")
