"""Whether arrays that a model shares with its user were written to before sampling."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from . import _austerity


def _fingerprint(array: np.ndarray) -> int:
    """A number that changes with the values; see the compiled part. Costs one read of the memory."""
    if array.dtype.hasobject:
        words = np.fromiter(map(id, array.ravel().tolist() if array.dtype.names else array.flat), np.uint64, array.size)
        return _austerity.fingerprint(words)
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    steps = array.flags.aligned and all(stride % 8 == 0 for stride in array.strides)
    if contiguous or array.dtype.itemsize != 8 or not steps:
        flat = array.ravel(order="K") if contiguous else np.ascontiguousarray(array).ravel()
        data = flat.view(np.uint8)
        return _austerity.fingerprint(data.view(np.uint64) if data.size % 8 == 0 else data)
    return _austerity.fingerprint(array.view(np.uint64))


class Watch:
    """Arrays and their fingerprints."""

    def __init__(self) -> None:
        self._added: List[Tuple[str, np.ndarray]] = []
        self._sealed: List[Tuple[str, np.ndarray, int]] = []

    def add(self, name: str, array: Any) -> None:
        """Watches an array."""
        if isinstance(array, np.ndarray) and array.size:
            self._added.append((name, array))

    def seal(self) -> None:
        """Takes the fingerprints. Arrays that together are all of another, such as the columns of a matrix, are read as that one."""
        groups: Dict[int, Tuple[np.ndarray, List[Tuple[str, np.ndarray]]]] = {}
        for name, array in self._added:
            root = array
            while isinstance(root.base, np.ndarray):
                root = root.base
            groups.setdefault(id(root), (root, []))[1].append((name, array))
        for root, parts in groups.values():
            distinct = {(a.__array_interface__["data"][0], a.strides): a.nbytes for _, a in parts}
            if len(parts) > 1 and sum(distinct.values()) == root.nbytes and not root.dtype.hasobject:
                names = list(dict.fromkeys(name for name, _ in parts))
                shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
                self._sealed.append((shown, root, _fingerprint(root)))
            else:
                self._sealed += [(name, array, _fingerprint(array)) for name, array in parts]
        self._added = []

    def check(self) -> None:
        """Refuses arrays that changed."""
        for name, array, before in self._sealed:
            if _fingerprint(array) != before:
                raise ValueError(
                    f"{name} changed after the model was built. Build the model again to use the new values; "
                    "to keep the old ones, build it from a copy: array.copy()"
                )

    def __reduce__(self) -> Any:
        # A copied model has arrays of its own.
        return Watch, ()
