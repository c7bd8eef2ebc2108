"""Parameters of one's own models in named, shaped, constrained blocks."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _austerity
from ._options import is_number
from ._priors import Prior

#: A shape as users give it.
Shape = Union[int, Tuple[int, ...]]


class Block:
    """Some parameters of one kind; use one of its kinds."""

    kind: ClassVar[str] = ""

    def __init__(self, shape: Shape = (), *, prior: Optional[Prior] = None) -> None:
        self.shape = _shape(shape)
        self.prior = _prior(prior)
        self.low, self.high = 0.0, 0.0

    @property
    def size(self) -> int:
        """How many values there are."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.shape}"


def _shape(shape: Shape) -> Tuple[int, ...]:
    numbers = (shape,) if hasattr(shape, "__index__") else tuple(shape)  # type: ignore[arg-type]
    if any(isinstance(one, bool) or not hasattr(one, "__index__") or one.__index__() < 1 for one in numbers):
        raise ValueError(f"shape is {shape!r}; give a number of at least 1, or a tuple of them")
    return tuple(one.__index__() for one in numbers)


def _prior(prior: Any) -> Optional[Prior]:
    if prior is None or isinstance(prior, Prior):
        return prior
    raise TypeError(f"prior is {prior!r}; give a prior such as Normal(1.0), or add to log_prior")


class Real(Block):
    """Any numbers: ``Real()`` is one, ``Real(6)`` a vector, ``Real((3, 2))`` a matrix."""

    kind = "real"


class Positive(Block):
    """Positive numbers. A ``prior`` is one of positive numbers, such as ``HalfNormal(1)``."""

    kind = "positive"


class Interval(Block):
    """Numbers between ``low`` and ``high``; uniform there without a ``prior``."""

    kind = "interval"

    def __init__(self, low: float, high: float, shape: Shape = (), *, prior: Optional[Prior] = None) -> None:
        super().__init__(shape, prior=prior)
        if not (is_number(low) and is_number(high) and math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"Interval({low!r}, {high!r}): give finite ends, the lower one first")
        self.low, self.high = float(low), float(high)


class Ordered(Block):
    """``size`` rising numbers, such as cut points, or means of a mixture whose labels must not switch."""

    kind = "ordered"

    def __init__(self, size: int, *, prior: Optional[Prior] = None) -> None:
        super().__init__(size, prior=prior)


class Simplex(Block):
    """``size`` shares that sum to 1, uniform unless ``log_prior`` says otherwise."""

    kind = "simplex"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        if self.size < 2:
            raise ValueError(f"size is {size!r}; give at least 2 shares")


class Blocks:
    """The blocks of a model: flat vectors as values by name, and draws in the users' shapes."""

    def __init__(self, parameters: Any, start: Any) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise TypeError("parameters: give a dict of blocks, such as {'beta': au.Real(6), 'sigma': au.Positive()}")
        self.blocks: Dict[str, Block] = {}
        for name, block in parameters.items():
            if isinstance(block, type) and issubclass(block, Block):
                raise TypeError(f"{name} is the class {block.__name__}; write {block.__name__}(…)")
            if not isinstance(name, str) or not isinstance(block, Block):
                raise TypeError(f"{name!r} is {block!r}; give a block such as au.Real(6) or au.Positive()")
            self.blocks[name] = block
        start = {} if start is None else start
        if not isinstance(start, Mapping):
            raise TypeError("start: give a dict of values by block, or leave it out")
        unknown = [name for name in start if name not in self.blocks]
        if unknown:
            raise ValueError(f"start names {unknown[0]!r}, which is no block; there are {', '.join(self.blocks)}")
        self.given: List[Any] = []
        for name, block in self.blocks.items():
            values = None
            if name in start:
                array = np.asarray(start[name], dtype=np.float64)
                if array.shape != block.shape:
                    raise ValueError(f"start of {name!r} has shape {array.shape}; its block has {block.shape}")
                values = array.ravel().tolist()
            self.given.append((name, block.kind, block.size, (block.low, block.high), block.prior, values))
        _austerity.check_blocks(self.given)

    def names(self) -> List[str]:
        """Names of what is sampled: of a simplex all values but the last."""
        names: List[str] = []
        for name, block in self.blocks.items():
            count = block.size - (block.kind == "simplex")
            names += [name] if block.size == 1 else [f"{name}[{k}]" for k in range(count)]
        return names

    def values(self, vector: np.ndarray) -> Mapping[str, Any]:
        """Values by name, which cannot be renamed or added to."""
        found: Dict[str, Any] = {}
        place = 0
        for name, block in self.blocks.items():
            part = vector[place : place + block.size]
            found[name] = part.reshape(block.shape) if block.shape else part[0]
            place += block.size
        return MappingProxyType(found)

    def draws(self, flat: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
        """Arrays (chain, draw, *shape) by block."""
        found = {}
        for name, block in self.blocks.items():
            if block.size == 1:
                parts = [flat[name]]
            else:
                parts = [flat[f"{name}[{k}]"] for k in range(block.size - (block.kind == "simplex"))]
            if block.kind == "simplex":
                parts.append(1.0 - sum(parts))
            together = np.stack(parts, axis=-1)
            found[name] = together.reshape(together.shape[:2] + block.shape)
        return found


class Rows:
    """Data arrays by name, and some of their rows."""

    def __init__(self, data: Any) -> None:
        if not isinstance(data, Mapping) or not data:
            raise TypeError("data: give a dict of arrays with one entry per row, such as {'X': X, 'y': y}")
        self.arrays = {str(name): np.asarray(values) for name, values in data.items()}
        lengths = {name: len(values) if values.ndim else 0 for name, values in self.arrays.items()}
        self.count = next(iter(lengths.values()))
        wrong = [name for name, length in lengths.items() if length != self.count or length == 0]
        if wrong:
            raise ValueError(f"data: {wrong[0]!r} has {lengths[wrong[0]]} rows, and {next(iter(lengths))!r} has {self.count}; one entry per row is needed")

    def at(self, rows: np.ndarray) -> Mapping[str, np.ndarray]:
        """These rows of every array."""
        return MappingProxyType({name: values[rows] for name, values in self.arrays.items()})

    def table(self) -> np.ndarray:
        """All arrays as columns of one, in their order."""
        parts = [values.reshape(len(values), -1) for values in self.arrays.values()]
        wrong = [name for name, values in self.arrays.items() if values.dtype.kind not in "fiub"]
        if wrong:
            raise TypeError(f"data: {wrong[0]!r} has the type {self.arrays[wrong[0]].dtype}; give numbers")
        return np.column_stack(parts)
