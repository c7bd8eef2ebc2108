"""Priors of coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Dict, Tuple, Union

from ._options import is_number

#: What other packages call the centre of a prior, and its width.
_CENTRE = ("loc", "mu", "mean", "location")
_WIDTH = ("sigma", "sd", "scale", "std", "stdev", "b")


def _positive(name: str, value: Any) -> float:
    if not (is_number(value) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} is {value!r}; allowed: a positive finite number")
    return float(value)


class _Centred:
    """Priors around 0: what is said about another centre is answered in words."""

    _fields: ClassVar[Tuple[str, ...]] = ()

    def __new__(cls, *values: Any, **named: Any) -> Any:
        strange = [name for name in named if name not in cls._fields]
        if len(values) + len(named) > len(cls._fields) or strange:
            raise TypeError(cls._answer(values, named))
        return super().__new__(cls)

    @classmethod
    def _answer(cls, values: Tuple[Any, ...], named: Dict[str, Any]) -> str:
        said = ", ".join([*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())])
        signature = f"{cls.__name__}({', '.join(cls._fields)})"
        # A centre before the width, or by name; of Student's t, freedom comes first.
        width = next((value for name, value in named.items() if name in _WIDTH), values[-1] if values else None)
        freedom = named.get("freedom", named.get("nu", named.get("df", values[0] if len(values) > 1 else 4)))
        unknown = [name for name in named if name not in (*cls._fields, *_CENTRE, *_WIDTH, "nu", "df")]
        if unknown or width is None or len(values) > len(cls._fields) + 1:
            return f"{cls.__name__}({said}): use {signature}; priors are centred at 0 for now"
        meant = f"{cls.__name__}({freedom!r}, {width!r})" if len(cls._fields) == 2 else f"{cls.__name__}({width!r})"
        return f"{cls.__name__}({said}): priors are centred at 0 for now, so {signature} takes no centre; write {meant}"

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, _positive(field.name, getattr(self, field.name)))


@dataclass(frozen=True)
class Normal(_Centred):
    """A normal prior around 0.

    >>> Normal(2.5)
    Normal(sd=2.5)
    """

    sd: float = 2.5

    _fields: ClassVar[Tuple[str, ...]] = ("sd",)

    def __str__(self) -> str:
        return f"normal:{self.sd!r}"


@dataclass(frozen=True)
class Laplace(_Centred):
    """A double exponential prior around 0, as the lasso has it."""

    scale: float = 1.0

    _fields: ClassVar[Tuple[str, ...]] = ("scale",)

    def __str__(self) -> str:
        return f"laplace:{self.scale!r}"


@dataclass(frozen=True)
class StudentT(_Centred):
    """A Student-t prior around 0: heavier tails than the normal one."""

    freedom: float = 4.0
    scale: float = 2.5

    _fields: ClassVar[Tuple[str, ...]] = ("freedom", "scale")

    def __str__(self) -> str:
        return f"student:{self.freedom!r},{self.scale!r}"


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
