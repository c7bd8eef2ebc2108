"""From what people have to named columns: arrays of numbers, codes with labels, or columns that another library holds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _austerity, _tables
from ._tables import is_table, opened  # noqa: F401
from ._watch import Watch

#: An array of numbers; (codes of uint32, labels, whether the order of the labels means something); or a column that is held.
Column = Any
Named = List[Tuple[str, Column]]

#: The code of a row without a value.
_MISSING = np.uint32(2**32 - 1)
#: Rows of text looked at together.
_PIECE = 1 << 16
#: Numbers that the compiled part takes as they are.
_NATIVE = {np.dtype(kind) for kind in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")}
#: Ticks of NumPy's times per second.
_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def _is_pandas(value: Any, kind: str) -> bool:
    return _tables.library(value) == "pandas" and type(value).__name__ == kind


def _is_sparse(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "scipy" and hasattr(value, "tocsr")


def _absent(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _refused(name: str, row: int) -> ValueError:
    return ValueError(f"column {name!r}, row {row}: a value is missing; drop the row, impute the value, or give the model missing='drop'")


def _text(name: str, row: int, value: Any, drop: bool) -> Optional[str]:
    """The text of one cell; nothing where it is missing."""
    if _absent(value):
        if drop:
            return None
        raise _refused(name, row)
    if not isinstance(value, (str, bytes, bool, np.bool_)):
        raise TypeError(
            f"column {name!r}, row {row}: {value!r} of type {type(value).__name__} is neither a number nor text; "
            "convert the column, for example with .astype(float) or .astype(str)"
        )
    return value.decode() if isinstance(value, bytes) else str(value)


def _levels(name: str, values: np.ndarray, drop: bool) -> Column:
    """Text as codes and labels, in the order of first appearance."""
    known: Dict[Optional[str], Any] = {}
    codes = np.empty(len(values), dtype=np.uint32)
    for first in range(0, len(values), _PIECE):
        piece = values[first : first + _PIECE].tolist()
        if not set(map(type, piece)) <= {str}:
            piece = [_text(name, first + row, value, drop) for row, value in enumerate(piece)]
        for label in dict.fromkeys(piece):
            known.setdefault(label, _MISSING if label is None else len(known) - (None in known))
        codes[first : first + len(piece)] = np.fromiter(map(known.__getitem__, piece), np.uint32, len(piece))
    return codes, [label for label in known if label is not None], False


def _category(name: str, value: Any, drop: bool) -> Column:
    """A pandas category: its codes, its labels, and that their order means something."""
    values = value.cat if _is_pandas(value, "Series") else value
    codes = np.asarray(values.codes)
    if (codes < 0).any() and not drop:
        raise _refused(name, int(np.argmax(codes < 0)))
    return codes.astype(np.int64).astype(np.uint32), [str(label) for label in values.categories], True


def _finite(name: str, values: np.ndarray, drop: bool) -> np.ndarray:
    if values.dtype not in _NATIVE:
        values = values.astype(np.float64)
    if not values.flags.aligned or any(stride % values.itemsize for stride in values.strides):
        # A field of records, for example: compiled code cannot step through it.
        values = values.copy()
    if values.dtype.kind != "f":
        return values
    bad = np.isinf(values) if drop else ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        if np.isnan(values[row]):
            raise _refused(name, row)
        raise ValueError(f"column {name!r}, row {row}: {values[row]} is not finite; drop the row or impute the value")
    return values


def _moments(name: str, values: np.ndarray) -> np.ndarray:
    """Dates as days since 1970, times as seconds since then, durations as seconds."""
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M", "W", "D") and values.dtype.kind == "M":
        values, ticks = values.astype("datetime64[D]"), 1.0
    elif unit in _TICKS and count == 1:
        ticks = _TICKS[unit]
    elif unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"):
        values, ticks = values.astype(f"{values.dtype.kind}8[ns]"), 1e9
    else:
        raise TypeError(f"column {name!r} has the type {values.dtype}; convert it to numbers first")
    found = values.astype(np.int64).astype(np.float64) / ticks
    found[np.isnat(values)] = np.nan
    return found


def restored(column: Column) -> Column:
    """A column out of a pickle."""
    return column


def _held(name: str, column: Any, drop: bool) -> Any:
    column.check(name, drop)
    return column


def one_column(name: str, value: Any, watch: Optional[Watch] = None, shown: Optional[str] = None, drop: bool = False) -> Column:
    """One column of a table: numbers stay numbers, text and categories become levels, what speaks Arrow is held. ``watch`` is told of memory that is
    shared. With ``drop`` missing values may be there."""
    if isinstance(value, _austerity.Held):
        return _held(name, value, drop)
    if isinstance(value, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(value)
        if masked.any() and not drop:
            raise ValueError(f"column {name!r}, row {int(np.argmax(masked))}: the value is masked; drop the row, impute the value, or give the model missing='drop'")
        value = np.where(masked, np.nan, value.data) if masked.any() else np.asarray(value.data)
    if _tables.library(value) == "pandas":
        if str(getattr(value, "dtype", None)) == "category":
            return _category(name, value, drop)
        array = getattr(value, "array", value)
        arrow = _tables.installed("pyarrow") if hasattr(array, "__arrow_array__") else None
        if arrow is not None:
            made = arrow.array(array)
            chunks = made if hasattr(made, "chunks") else arrow.chunked_array([made])
            if _tables.speaks_arrow(chunks):
                return _held(name, _tables.held_column(name, chunks), drop)
        if hasattr(value, "isna") and not drop and value.isna().any():
            raise _refused(name, int(np.argmax(np.asarray(value.isna()))))
        value = value.to_numpy()
        if value.dtype.kind == "O":
            # Made from the column's strings, or read only once and costly to compare.
            watch = None
    elif not isinstance(value, np.ndarray) and _tables.speaks_arrow(value):
        return _held(name, _tables.held_column(name, value), drop)
    values = np.asarray(value)
    if watch is not None and (values is value or values.base is not None):
        watch.add(shown or name, values)
    if values.ndim == 0:
        raise TypeError(f"{name} is {value!r}; give an array with one value for each row")
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has shape {values.shape}; one dimension is needed: use .ravel() or one column")
    kind = values.dtype.kind
    if kind in "fiub":
        return _finite(name, values, drop)
    if kind in "US":
        return _levels(name, values, drop)
    if kind == "O":
        numbers = (int, float, np.number, Decimal)
        first = [v for v in values[:1000] if not _absent(v)]
        if first and all(isinstance(v, numbers) and not isinstance(v, (bool, np.bool_)) for v in first):
            try:
                return _finite(name, values.astype(np.float64), drop)
            except (TypeError, ValueError) as error:
                if "row" in str(error):
                    raise
        return _levels(name, values, drop)
    if kind == "c":
        raise TypeError(f"column {name!r}: Complex data not supported; give real numbers")
    if kind in "Mm":
        return _finite(name, _moments(name, values), drop)
    raise TypeError(f"column {name!r} has the type {values.dtype}; give numbers or text")


def numbers(name: str, value: Any, rows: Optional[int] = None, watch: Optional[Watch] = None) -> np.ndarray:
    """A column that must be numbers."""
    column = only_numbers(name, one_column(name, value, watch))
    if rows is not None and len(column) != rows:
        raise ValueError(f"{name} has {len(column)} values, but X has {rows} rows; give one for each row")
    return column


def only_numbers(name: str, column: Column) -> np.ndarray:
    """Refuses levels."""
    if isinstance(column, _austerity.Held) and column.is_text:
        column = column.values()
    if isinstance(column, tuple):
        raise TypeError(f"{name} holds text such as {column[1][0]!r}; numbers are needed")
    return column


def length(column: Column) -> int:
    """Rows of a column."""
    return len(column[0]) if isinstance(column, tuple) else len(column)


def _check_names(names: Sequence[str], count: int) -> List[str]:
    names = [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"names: {len(names)} for {count} columns; give one for each")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names: {twice!r} is there twice; give every column a name of its own")
    return names


def features(
    X: Any,
    names: Optional[Sequence[str]] = None,
    only: Optional[Sequence[str]] = None,
    watch: Optional[Watch] = None,
    drop: bool = False,
) -> Tuple[Named, int]:
    """The columns of a table, and the number of rows.

    ``names`` rename all columns; of those, ``only`` some are converted. With ``drop`` missing values may be there.
    """
    if _is_sparse(X):
        bytes_dense = 8 * X.shape[0] * X.shape[1]
        raise TypeError(
            f"Sparse data was passed, but rows are stored dense: X.toarray() of {X.shape[0]} × {X.shape[1]} takes "
            f"{bytes_dense / 1e9:.3g} GB; convert it yourself if that fits, or choose fewer columns"
        )
    X = _tables.opened(X, only if names is None else None)
    if isinstance(X, np.ndarray) and X.dtype.names:
        X = {name: X[name] for name in X.dtype.names}
    if isinstance(X, Mapping):
        given = [str(name) for name in X]
        found = _taken(given, names, only, lambda j: X[list(X)[j]], watch, drop)
        lengths = {name: length(column) for name, column in found}
        if len(set(lengths.values())) > 1:
            (a, n), (b, m) = next((i, j) for i in lengths.items() for j in lengths.items() if i[1] != j[1])
            raise ValueError(f"column {a!r} has {n} values and {b!r} has {m}; give every column as many")
        return found, next(iter(lengths.values()), 0)
    if _is_pandas(X, "DataFrame"):
        given = [str(name) for name in X.columns]
        return _taken(given, names, only, lambda j: X.iloc[:, j], watch, drop), len(X)
    masked = isinstance(X, np.ma.MaskedArray)
    try:
        array = X if masked else np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X is no matrix: {error}; give rows of equal length") from error
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give real ones")
    if array.ndim == 0 and array.dtype.kind == "O":
        raise _tables.nothing(X)
    if array.ndim == 1 and array.dtype.kind == "O" and len(array) and isinstance(array[0], Mapping):
        raise TypeError("X is a list of dicts; give a dict of columns, or pandas.DataFrame(X)")
    if array.ndim != 2:
        raise ValueError(
            f"X has shape {array.shape}; two dimensions, rows × columns, are needed. "
            "Reshape your data: array.reshape(-1, 1) for one column, array.reshape(1, -1) for one row"
        )
    if watch is not None and (array is X or array.base is not None):
        watch.add("X", array)
    rows, count = array.shape
    return _taken([f"x{j + 1}" for j in range(count)], names, only, lambda j: array[:, j], None, drop), rows


def _taken(
    given: List[str], names: Optional[Sequence[str]], only: Optional[Sequence[str]], get: Any, watch: Optional[Watch], drop: bool
) -> Named:
    """Columns by name, as far as they are wanted."""
    labels = _check_names(names if names is not None else given, len(given))
    chosen = [(j, label) for j, label in enumerate(labels) if only is None or label in only]
    return [(label, one_column(label, get(j), watch, f"column {label!r} of X", drop)) for j, label in chosen]
