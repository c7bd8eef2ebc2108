"""Models of one's own: NumPy functions, compiled functions (numba), differentiable functions (JAX)."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from . import _austerity
from ._blocks import Blocks, Rows
from ._derivatives import JaxDerivatives

#: Seed of the order in which rows are stored.
_ORDER = 0


class OwnModel:
    """What models of one's own share: a start, names, a width."""

    _one_thread = False
    _blocks: Optional[Blocks] = None

    def __init__(
        self,
        rows: int,
        start: Any,
        names: Optional[Sequence[str]],
        scale: Any,
        parameters: Any = None,
    ) -> None:
        if isinstance(rows, bool) or not hasattr(rows, "__index__") or rows.__index__() < 1:
            raise ValueError(f"rows is {rows!r}; give the number of rows, at least 1")
        self.rows = rows.__index__()
        if parameters is not None:
            if names is not None or scale is not None:
                raise TypeError("names, scale: leave them out where parameters are given, which have names of their own")
            self._blocks = Blocks(parameters, start)
            self.names = self._blocks.names()
            self.start, self.scale = np.zeros(len(self.names)), None
            return
        if start is None:
            raise TypeError("start: give a state that is possible, or parameters, a dict of blocks")
        self.start = _vector("start", start)
        count = len(self.start)
        self.names: List[str] = [str(n) for n in names] if names is not None else [f"theta{j + 1}" for j in range(count)]
        if len(self.names) != count or len(set(self.names)) != count:
            raise ValueError(f"names: {len(self.names)} given for {count} parameters; give each one of its own")
        self.scale = None if scale is None else _vector("scale", scale)
        if self.scale is not None and (len(self.scale) != count or not (self.scale > 0).all()):
            raise ValueError(f"scale: give {count} positive numbers, one for each parameter")

    def _given(self) -> Any:
        return self._blocks.given if self._blocks is not None else []

    def _beginning(self) -> Any:
        return self.start.tolist(), None if self.scale is None else self.scale.tolist()

    def _request(self, options: Dict[str, Any]) -> Dict[str, Any]:
        # Functions of Python take turns anyway.
        threads = options.get("threads") or (1 if self._one_thread else 0)
        return {**options, "file": "memory", "threads": threads}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.rows} rows, {len(self.start)} parameters>"


def _vector(name: str, value: Any) -> np.ndarray:
    try:
        vector = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {value!r}; give numbers") from error
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(f"{name} has shape {vector.shape}; give one number for each parameter")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} is {vector.tolist()}; give finite numbers")
    return vector.copy()


def _callable(name: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"{name} is {value!r}; give a function")


class Model(OwnModel):
    """A posterior given as NumPy functions.

    Parameters
    ----------
    log_likelihood : function (theta, rows) -> array
        Log-likelihoods of the rows whose numbers are in ``rows`` (int64), one for each. ``-inf`` is an impossible row.
        Both arrays are filled anew for every call: do not keep them.
    log_prior : function (theta) -> float
        ``-inf`` outside the support.
    rows : int
        Number of rows.
    start : array
        A state that is possible, the nearer to the mode the better.
    names : sequence of str
        Names of the parameters.
    scale : array
        Rough posterior standard deviations; without them the mode and the curvature there are found by differences.
    parameters : dict
        Blocks of parameters by name, with shapes, constraints and priors, in place of ``start`` and ``names``: :class:`Real`, :class:`Positive`,
        :class:`Interval`, :class:`Ordered`, :class:`Simplex`. Both functions then get a dict of values in place of ``theta``, Jacobians are added
        for you, ``log_prior`` may be left out, ``start`` may be a dict, and draws have the blocks' shapes.
    data : dict of arrays
        With ``parameters``: arrays with one entry per row. ``log_likelihood`` then gets a dict of their rows in place of ``rows``, and
        ``rows`` is left out.

    Large data get a surrogate: gradients and Hessians of the rows by finite differences make decisions about what they leave, which are exact
    whatever the accuracy of the differences.

    Examples
    --------
    >>> import numpy as np, austerity as au
    >>> waits = np.random.default_rng(2).exponential(0.5, size=20_000)
    >>> model = au.Model(
    ...     lambda theta, rows: theta[0] - np.exp(theta[0]) * waits[rows],
    ...     lambda theta: -0.5 * theta[0] ** 2,
    ...     rows=len(waits), start=[0.0], names=["log_rate"],
    ... )
    >>> fit = au.sample(model, draws=500, progress=False)
    >>> bool(abs(fit.draws["log_rate"].mean() - np.log(2)) < 0.05)
    True
    """

    _one_thread = True

    def __init__(
        self,
        log_likelihood: Callable[[Any, Any], Any],
        log_prior: Optional[Callable[[Any], float]] = None,
        *,
        rows: Optional[int] = None,
        start: Any = None,
        names: Optional[Sequence[str]] = None,
        scale: Any = None,
        parameters: Optional[Dict[str, Any]] = None,
        data: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._data = Rows(data) if data is not None else None
        if self._data is not None:
            if parameters is None or rows is not None:
                raise TypeError("data: give it with parameters, and leave rows out")
            rows = self._data.count
        if rows is None:
            raise TypeError("rows: give the number of rows, or data, a dict of arrays")
        super().__init__(rows, start, names, scale, parameters)
        _callable("log_likelihood", log_likelihood)
        if log_prior is None and parameters is not None:
            log_prior = _no_more
        _callable("log_prior", log_prior)
        self.log_likelihood, self.log_prior = log_likelihood, log_prior

    def _functions(self) -> Any:
        """The functions of flat vectors and row numbers."""
        blocks, data, likelihood, prior = self._blocks, self._data, self.log_likelihood, self.log_prior
        if blocks is None:
            return likelihood, prior

        def log_likelihood(theta: np.ndarray, rows: np.ndarray) -> Any:
            return likelihood(blocks.values(theta), rows if data is None else data.at(rows))

        def log_prior(theta: np.ndarray) -> float:
            return prior(blocks.values(theta))

        return log_likelihood, log_prior

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        given = (*self._functions(), self.rows, self.names, _ORDER)
        return _austerity.fit_functions((given, self._given()), self._beginning(), self._request(options), dry)


def _no_more(_: Any) -> float:
    return 0.0


class NumbaModel(OwnModel):
    """A posterior given as a compiled function, called from many threads without Python's lock.

    Parameters
    ----------
    log_likelihood : numba cfunc, or the address of a C function
        ``void f(const double *theta, int64 d, const double *data, int64 first, int64 count, double *out)``: writes the
        log-likelihoods of the rows ``first … first + count - 1`` of ``data`` to ``out[0] … out[count - 1]``.
    data : array, rows × columns
        Copied once, in shuffled order, as float64; ``data[row * columns + column]`` inside the function.
    log_prior : numba cfunc ``double f(const double *theta, int64 d)``, its address, or a function of Python
    start, names, scale
        As for :class:`Model`.
    parameters : dict
        As for :class:`Model`; ``theta`` then holds the values of all blocks, one after the other, ``data`` may be a dict of arrays, which become
        columns in their order, and ``log_prior`` of Python gets a dict.

    Notes
    -----
    A compiled function is trusted: one that reads or writes beyond what it is given can end the process.

    Examples
    --------
    ::

        from numba import cfunc, carray
        import math

        @cfunc(au.NumbaModel.signature())
        def log_likelihood(theta, d, data, first, count, out):
            for i in range(count):
                wait = data[first + i]
                out[i] = theta[0] - math.exp(theta[0]) * wait

        model = au.NumbaModel(log_likelihood, waits, log_prior=lambda t: -0.5 * t[0] ** 2, start=[0.0])
    """

    def __init__(
        self,
        log_likelihood: Any,
        data: Any,
        *,
        log_prior: Any = None,
        start: Any = None,
        names: Optional[Sequence[str]] = None,
        scale: Any = None,
        parameters: Optional[Dict[str, Any]] = None,
    ) -> None:
        if log_prior is None and parameters is not None:
            log_prior = _no_more
        array = np.asarray(Rows(data).table() if isinstance(data, dict) else data)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"data has the type {array.dtype}; give numbers")
        array = array.reshape(len(array), -1) if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"data has shape {array.shape}; rows × columns are needed")
        super().__init__(len(array), start, names, scale, parameters)
        self.data = np.ascontiguousarray(array, dtype=np.float64)
        self._address = _address("log_likelihood", log_likelihood, self.signature)
        self._prior_address = 0
        if isinstance(log_prior, int) or hasattr(log_prior, "address"):
            self._prior_address = _address("log_prior", log_prior, self.prior_signature)
        else:
            _callable("log_prior", log_prior)
        # The compiled code lives as long as these do.
        self.log_likelihood, self.log_prior = log_likelihood, log_prior

    @staticmethod
    def signature() -> Any:
        """The signature of ``log_likelihood`` for ``numba.cfunc``."""
        from numba import types

        pointer = types.CPointer(types.float64)
        return types.void(pointer, types.int64, pointer, types.int64, types.int64, pointer)

    @staticmethod
    def prior_signature() -> Any:
        """The signature of ``log_prior`` for ``numba.cfunc``."""
        from numba import types

        return types.float64(types.CPointer(types.float64), types.int64)

    def __reduce__(self) -> Any:
        raise TypeError("a NumbaModel cannot be pickled: it holds an address of this process; build it anew where it is needed")

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        prior, blocks = (self.log_prior if not self._prior_address else _nothing), self._blocks
        if blocks is not None and not self._prior_address:
            prior = lambda theta: self.log_prior(blocks.values(theta))  # noqa: E731
        given = (_nothing, prior, self.rows, self.names, _ORDER)
        compiled = (self._address, self.data, self._prior_address, given)
        return _austerity.fit_native((compiled, self._given()), self._beginning(), self._request(options), dry)


def _nothing(*_: Any) -> float:
    return math.nan


def _address(name: str, value: Any, signature: Callable[[], Any]) -> int:
    if hasattr(value, "address"):
        found = getattr(value, "_sig", None)
        if found is not None and found != signature():
            raise TypeError(f"{name} has the signature {found}; {signature()} is needed: see NumbaModel.signature()")
        return int(value.address)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise TypeError(f"{name} is {value!r}; give a numba cfunc or the address of a C function")


class JaxModel(OwnModel):
    """A posterior given as differentiable functions: JAX's gradients and Hessians make its surrogate.

    Parameters
    ----------
    log_likelihood : function (theta, row) -> scalar
        Log-likelihood of one row, written with ``jax.numpy``; ``row`` is ``data`` at that row.
    log_prior : function (theta) -> scalar
    data : array, or tuple or dict of arrays with one entry per row
    start, names, scale
        As for :class:`Model`.
    """

    _one_thread = True

    def __init__(
        self,
        log_likelihood: Callable[[Any, Any], Any],
        log_prior: Callable[[Any], Any],
        *,
        data: Any,
        start: Any,
        names: Optional[Sequence[str]] = None,
        scale: Any = None,
    ) -> None:
        _callable("log_likelihood", log_likelihood)
        _callable("log_prior", log_prior)
        self._derivatives = JaxDerivatives(log_likelihood, log_prior, data)
        super().__init__(self._derivatives.count, start, names, scale)

    def __reduce__(self) -> Any:
        raise TypeError("a JaxModel cannot be pickled: it holds compiled functions; build it anew where it is needed")

    def _begin(self, options: Dict[str, Any], dry: bool = False) -> Any:
        functions = self._derivatives
        given = (functions.log_likelihood, functions.log_prior, self.rows, self.names, _ORDER)
        return _austerity.fit_derivatives((given, functions), self._beginning(), self._request(options), dry)
