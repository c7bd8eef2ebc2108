"""Priors of coefficients and of positive parameters."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Dict, Tuple

from ._options import is_number

#: What other packages call these numbers.
_SYNONYMS = {
    "mean": ("mu", "loc", "location"),
    "sd": ("sigma", "scale", "std", "stdev"),
    "scale": ("sigma", "sd", "b", "std", "stdev"),
    "freedom": ("nu", "df"),
    "rate": ("lam", "lambda_"),
}


class Prior:
    """Numbers of a prior, given in order or by name; a mean may be left out."""

    #: The numbers in order, with their defaults (``None``: must be given).
    _numbers: ClassVar[Dict[str, Any]] = {}
    _text: ClassVar[str] = ""
    #: Whether it is a prior of positive parameters.
    positive: ClassVar[bool] = False

    def __init__(self, *values: Any, **named: Any) -> None:
        names = list(self._numbers)
        if "mean" in names and len(values) < len(names):
            # Normal(2.5) is the sd; of Student's t the freedom comes first.
            names.remove("mean")
        said = ", ".join([*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())])
        if len(values) > len(names):
            raise TypeError(f"{type(self).__name__}({said}): use {self._signature()}")
        found = dict(zip(names, values))
        for name, value in named.items():
            known = next((own for own in self._numbers if name == own or name in _SYNONYMS.get(own, ())), None)
            if known is None or known in found:
                raise TypeError(f"{type(self).__name__}({said}): use {self._signature()}")
            found[known] = value
        for name, default in self._numbers.items():
            value = found.get(name, default)
            good = is_number(value) and math.isfinite(value) and (name == "mean" or value > 0)
            if not good:
                allowed = "a finite number" if name == "mean" else "a positive finite number"
                raise ValueError(f"{name} is {value!r}; allowed: {allowed}")
            object.__setattr__(self, name, float(value))

    @classmethod
    def _signature(cls) -> str:
        name, numbers = cls.__name__, list(cls._numbers)
        if "mean" in numbers and not cls.positive:
            short = ", ".join(number for number in numbers if number != "mean")
            return f"{name}({short}) or {name}({', '.join(numbers)})"
        return f"{name}({', '.join(numbers)})"

    def _values(self) -> Tuple[float, ...]:
        return tuple(getattr(self, name) for name in self._numbers)

    def _parts(self) -> Tuple[str, Tuple[float, ...]]:
        """What it is called and its numbers, for the compiled part."""
        return self._text, self._values()

    def _shown(self) -> Dict[str, float]:
        shown = dict(zip(self._numbers, self._values()))
        if not self.positive and shown.get("mean") == 0.0:
            del shown["mean"]
        return shown

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another one")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._values()))

    def __reduce__(self) -> Any:
        return (type(self), self._values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._shown().items())})"

    def __str__(self) -> str:
        numbers = ",".join(map(repr, self._shown().values()))
        return f"{self._text}:{numbers}" if numbers else self._text


class Normal(Prior):
    """A normal prior, ``Normal(sd)`` around 0 or ``Normal(mean, sd)``.

    >>> Normal(2.5), Normal(1.0, 0.5)
    (Normal(sd=2.5), Normal(mean=1.0, sd=0.5))
    """

    mean: float
    sd: float
    _numbers = {"mean": 0.0, "sd": 2.5}
    _text = "normal"


class Laplace(Prior):
    """A double exponential prior, as the lasso has it: ``Laplace(scale)`` around 0 or ``Laplace(mean, scale)``."""

    mean: float
    scale: float
    _numbers = {"mean": 0.0, "scale": 1.0}
    _text = "laplace"


class StudentT(Prior):
    """A Student-t prior, heavier in the tails than the normal one: ``StudentT(freedom, scale)`` or ``StudentT(freedom, mean, scale)``."""

    freedom: float
    mean: float
    scale: float
    _numbers = {"freedom": 4.0, "mean": 0.0, "scale": 2.5}
    _text = "student"


class Flat(Prior):
    """No prior at all; the data must then determine every coefficient."""

    _text = "flat"


class HalfNormal(Prior):
    """The positive half of a normal distribution around 0, for ``sigma``."""

    scale: float
    _numbers = {"scale": None}
    _text = "half-normal"
    positive = True


class HalfStudentT(Prior):
    """The positive half of a Student-t distribution around 0, for ``sigma``."""

    freedom: float
    scale: float
    _numbers = {"freedom": 3.0, "scale": None}
    _text = "half-student"
    positive = True


class Exponential(Prior):
    """An exponential prior, for ``sigma``; its mean is ``1 / rate``."""

    rate: float
    _numbers = {"rate": None}
    _text = "exponential"
    positive = True


class Gamma(Prior):
    """A gamma prior of a positive parameter, with mean ``shape / rate``: ``Gamma(shape, rate)``."""

    shape: float
    rate: float
    _numbers = {"shape": None, "rate": None}
    _text = "gamma"
    positive = True


class LogNormal(Prior):
    """A log-normal prior, for ``sigma``: its logarithm has this mean and sd."""

    mean: float
    sd: float
    _numbers = {"mean": None, "sd": None}
    _text = "log-normal"
    positive = True

    def __init__(self, mean: Any, sd: Any) -> None:
        super().__init__(mean, sd)


def checked_prior(name: str, prior: object) -> Any:
    """A prior, a text that names one, or ``None``."""
    if prior is None or isinstance(prior, (str, Prior)):
        return prior
    raise TypeError(
        f"{name}: {prior!r} is no prior; use Normal(sd), Laplace(scale), StudentT(freedom, scale) or Flat(), "
        "for sigma HalfNormal(scale), HalfStudentT(freedom, scale), Exponential(rate), Gamma(shape, rate) or LogNormal(mean, sd)"
    )
