"""JAX functions of one row as batches: values, gradients, Hessians, in float64."""

from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

#: Rows evaluated at once, at most; fewer where their Hessians would take more than so many bytes.
_CHUNK = 1 << 14
_CHUNK_BYTES = 4 << 20
#: Batches are filled up to powers of two from here on, so that few sizes are compiled.
_SMALLEST = 64


class JaxDerivatives:
    """What the sampler asks of a differentiable model."""

    def __init__(self, log_likelihood: Callable[[Any, Any], Any], log_prior: Callable[[Any], Any], data: Any) -> None:
        try:
            import jax
        except ImportError as error:
            raise ImportError("JaxModel needs jax: pip install jax") from error
        self._jax = jax
        with self._double():
            self._data = jax.tree_util.tree_map(lambda a: jax.numpy.asarray(np.asarray(a)), data)
            lengths = {int(a.shape[0]) if a.ndim else -1 for a in jax.tree_util.tree_leaves(self._data)}
        if len(lengths) != 1 or -1 in lengths:
            raise ValueError(f"data: arrays with one entry per row are needed; their lengths are {sorted(lengths)}")
        self.count = lengths.pop()
        tree = jax.tree_util.tree_map

        def rows(data: Any, index: Any) -> Any:
            return tree(lambda a: a[index], data)

        single = log_likelihood
        batch = jax.vmap(single, in_axes=(None, 0))
        slope = jax.vmap(jax.grad(single), in_axes=(None, 0))
        curve = jax.vmap(jax.hessian(single), in_axes=(None, 0))
        jit = jax.jit
        # The data are arguments: as constants they would be compiled in.
        self._values = jit(lambda data, theta, index: batch(theta, rows(data, index)))
        self._slopes = jit(lambda data, theta, index: slope(theta, rows(data, index)))
        self._curves = jit(lambda data, theta, index: curve(theta, rows(data, index)))
        self._added = jit(lambda data, theta, index, weight: (slope(theta, rows(data, index)) * weight[:, None]).sum(0))

        def total(data: Any, theta: Any, index: Any, weight: Any) -> Any:
            return (batch(theta, rows(data, index)) * weight).sum()

        self._total = jit(jax.value_and_grad(total, argnums=1))
        self._total_curve = jit(jax.hessian(total, argnums=1))
        self._prior = jit(log_prior)
        self._prior_slope = jit(jax.grad(log_prior))
        self._prior_curve = jit(jax.hessian(log_prior))

    def _double(self) -> Any:
        """Double precision, here only."""
        jax = self._jax
        if hasattr(jax, "enable_x64"):
            return jax.enable_x64(True)
        from jax.experimental import enable_x64

        return enable_x64()

    @staticmethod
    def _padded(index: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        size = _SMALLEST
        while size < len(index):
            size *= 2
        full = np.zeros(size, dtype=np.int64)
        full[: len(index)] = index
        weight = np.zeros(size)
        weight[: len(index)] = 1.0
        return full, weight

    def _chunks(self, parameters: int) -> Any:
        size = _CHUNK
        while size > _SMALLEST and size * parameters * (parameters + 1) * 8 > _CHUNK_BYTES:
            size //= 2
        for first in range(0, self.count, size):
            yield np.arange(first, min(first + size, self.count))

    # What is called from the sampler -----------------------------------------------------------------------------

    def log_likelihood(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        with self._double():
            full, _ = self._padded(rows)
            return np.asarray(self._values(self._data, theta.copy(), full), dtype=np.float64)[: len(rows)]

    def log_prior(self, theta: np.ndarray) -> float:
        with self._double():
            return float(self._prior(theta))

    def density(self, theta: np.ndarray, curved: bool) -> Tuple[float, np.ndarray, Any]:
        with self._double():
            value = float(self._prior(theta))
            gradient = np.array(self._prior_slope(theta), dtype=np.float64)
            hessian = np.array(self._prior_curve(theta), dtype=np.float64) if curved else None
            for index in self._chunks(len(theta)):
                full, weight = self._padded(index)
                more, slope = self._total(self._data, theta, full, weight)
                value += float(more)
                gradient += np.asarray(slope)
                if hessian is not None:
                    hessian += np.asarray(self._total_curve(self._data, theta, full, weight))
            return value, gradient, hessian

    def prior_gradient(self, theta: np.ndarray) -> np.ndarray:
        with self._double():
            return np.array(self._prior_slope(theta), dtype=np.float64)

    def gradient(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        with self._double():
            full, weight = self._padded(rows)
            return np.array(self._added(self._data, theta, full, weight), dtype=np.float64)

    def rows(self, theta: np.ndarray, rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Gradients and Hessians of these rows; the caller asks for few at a time and keeps what it needs."""
        with self._double():
            full, _ = self._padded(rows)
            gradients = np.asarray(self._slopes(self._data, theta, full), dtype=np.float64)[: len(rows)]
            return gradients, np.asarray(self._curves(self._data, theta, full), dtype=np.float64)[: len(rows)]
