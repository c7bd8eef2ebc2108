"""From what people have (NumPy, pandas, polars, Arrow, dicts, lists) to named columns of float64, or of codes with labels."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _tables
from ._tables import is_table, opened  # noqa: F401
from ._watch import Watch

Column = Any  # an array of float64, or (codes of uint32, labels, whether the order of the labels means something)
Named = List[Tuple[str, Column]]


def _is_pandas(value: Any, kind: str) -> bool:
    return _tables.library(value) == "pandas" and type(value).__name__ == kind


def _is_sparse(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "scipy" and hasattr(value, "tocsr")


def _levels(name: str, values: np.ndarray) -> Column:
    """Text as codes and labels, in the order of first appearance."""
    labels: List[str] = []
    known: dict = {}
    codes = np.empty(len(values), dtype=np.uint32)
    for row, value in enumerate(values):
        if value is None or (isinstance(value, float) and value != value):
            raise ValueError(f"column {name!r}, row {row}: a value is missing; drop the row or impute the value")
        if not isinstance(value, (str, bytes, bool, np.bool_)):
            raise TypeError(
                f"column {name!r}, row {row}: {value!r} of type {type(value).__name__} is neither a number nor text; "
                "convert the column, for example with .astype(float) or .astype(str)"
            )
        text = value if isinstance(value, str) else value.decode() if isinstance(value, bytes) else str(value)
        code = known.get(text)
        if code is None:
            code = known[text] = len(labels)
            labels.append(text)
        codes[row] = code
    return codes, labels, False


def _missing(name: str, codes: np.ndarray) -> None:
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(f"column {name!r}, row {row}: a value is missing; drop the row or impute the value")


def _category(name: str, value: Any) -> Optional[Column]:
    """A column of pandas, polars or Arrow that has categories: its codes, its labels and whether their order means something."""
    origin = _tables.library(value)
    if origin == "pandas" and str(getattr(value, "dtype", None)) == "category":
        values = value.cat if _is_pandas(value, "Series") else value
        codes = np.asarray(values.codes)
        _missing(name, codes)
        return codes.astype(np.uint32), [str(label) for label in values.categories], True
    if origin == "polars" and type(value.dtype).__name__ in ("Categorical", "Enum"):
        if type(value.dtype).__name__ == "Enum":
            return value.to_physical().to_numpy().astype(np.uint32), [str(one) for one in value.dtype.categories], True
        # Their numbers follow from whatever was seen first, so the order is that in which polars sorts them.
        levels = value.unique().sort()
        places = np.zeros(int(levels.to_physical().max()) + 1 if len(levels) else 0, dtype=np.uint32)
        places[levels.to_physical().to_numpy()] = np.arange(len(levels), dtype=np.uint32)
        return places[value.to_physical().to_numpy()], [str(one) for one in levels.to_list()], True
    if origin == "pyarrow" and hasattr(value.type, "ordered"):
        if hasattr(value, "unify_dictionaries"):
            value = value.unify_dictionaries().combine_chunks()
            value = value.chunk(0) if hasattr(value, "chunks") else value
        labels = value.dictionary.to_pylist()
        if all(isinstance(label, str) for label in labels):
            return value.indices.to_numpy(zero_copy_only=False).astype(np.uint32), labels, bool(value.type.ordered)
    return None


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    if not values.flags.aligned or any(stride % values.itemsize for stride in values.strides):
        # A field of records, for example: compiled code cannot step through it.
        values = values.copy()
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        what = "a value is missing" if np.isnan(values[row]) else f"{values[row]} is not finite"
        raise ValueError(f"column {name!r}, row {row}: {what}; drop the row or impute the value")
    return values


def one_column(name: str, value: Any, watch: Optional[Watch] = None, shown: Optional[str] = None) -> Column:
    """One column of a table: numbers stay numbers, text and categories become levels. ``watch`` is told of memory that is shared."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.getmaskarray(value).any():
            row = int(np.argmax(np.ma.getmaskarray(value)))
            raise ValueError(f"column {name!r}, row {row}: the value is masked; drop the row or impute the value")
        value = np.asarray(value.data)
    if _is_pandas(value, "Series") or _is_pandas(value, "Categorical") or _is_pandas(value, "Index"):
        category = _category(name, value)
        if category is not None:
            return category
        if hasattr(value, "isna") and value.isna().any():
            row = int(np.argmax(np.asarray(value.isna())))
            raise ValueError(f"column {name!r}, row {row}: a value is missing; drop the row or impute the value")
        value = value.to_numpy()
        if value.dtype.kind == "O":
            # Made from the column's strings, or read only once and costly to compare.
            watch = None
    elif hasattr(value, "to_numpy") and _tables.library(value) in ("pyarrow", "polars"):
        missing = value.null_count() if callable(value.null_count) else value.null_count
        if missing:
            raise ValueError(f"column {name!r}: {missing} values are missing; drop the rows or impute them")
        category = _category(name, value)
        if category is not None:
            return category
        # Arrow's own arrays refuse to be copied unless told.
        single = type(value).__module__.startswith("pyarrow") and not hasattr(value, "chunks")
        value = value.to_numpy(zero_copy_only=False) if single else value.to_numpy()
    values = np.asarray(value)
    if watch is not None and (values is value or values.base is not None):
        watch.add(shown or name, values)
    if values.ndim == 0:
        raise TypeError(f"{name} is {value!r}; give an array with one value for each row")
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has shape {values.shape}; one dimension is needed: use .ravel() or one column")
    kind = values.dtype.kind
    if kind in "fiub":
        return _finite(name, np.asarray(values, dtype=np.float64))
    if kind in "US":
        return _levels(name, values)
    if kind == "O":
        numbers = (int, float, np.number, Decimal)
        if len(values) and all(isinstance(v, numbers) and not isinstance(v, (bool, np.bool_)) for v in values[:1000]):
            try:
                return _finite(name, values.astype(np.float64))
            except (TypeError, ValueError) as error:
                if "row" in str(error):
                    raise
        return _levels(name, values)
    if kind == "c":
        raise TypeError(f"column {name!r}: Complex data not supported; give real numbers")
    if kind in "Mm":
        raise TypeError(f"column {name!r} holds dates or durations; convert them to numbers first")
    raise TypeError(f"column {name!r} has the type {values.dtype}; give numbers or text")


def numbers(name: str, value: Any, rows: Optional[int] = None, watch: Optional[Watch] = None) -> np.ndarray:
    """A column that must be numbers."""
    column = only_numbers(name, one_column(name, value, watch))
    if rows is not None and len(column) != rows:
        raise ValueError(f"{name} has {len(column)} values, but X has {rows} rows; give one for each row")
    return column


def only_numbers(name: str, column: Column) -> np.ndarray:
    """Refuses levels."""
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
    X: Any, names: Optional[Sequence[str]] = None, only: Optional[Sequence[str]] = None, watch: Optional[Watch] = None
) -> Tuple[Named, int]:
    """The columns of a design: of a two-dimensional array, a data frame, a dict or an Arrow table. Also the number of rows.

    ``names`` rename all columns; of those, ``only`` some are converted.
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
        found = _taken(given, names, only, lambda j: X[list(X)[j]], watch)
        lengths = {name: length(column) for name, column in found}
        if len(set(lengths.values())) > 1:
            (a, n), (b, m) = next((i, j) for i in lengths.items() for j in lengths.items() if i[1] != j[1])
            raise ValueError(f"column {a!r} has {n} values and {b!r} has {m}; give every column as many")
        return found, next(iter(lengths.values()), 0)
    if _is_pandas(X, "DataFrame"):
        given = [str(name) for name in X.columns]
        return _taken(given, names, only, lambda j: X.iloc[:, j], watch), len(X)
    if _tables.library(X) in ("pyarrow", "polars"):
        given = list(X.column_names) if hasattr(X, "column_names") else list(X.columns) if hasattr(X, "get_column") else X.schema.names
        get = X.get_column if hasattr(X, "get_column") else X.column
        return _taken(given, names, only, lambda j: get(given[j]), None), len(X)
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
    return _taken([f"x{j + 1}" for j in range(count)], names, only, lambda j: array[:, j], None), rows


def _taken(given: List[str], names: Optional[Sequence[str]], only: Optional[Sequence[str]], get: Any, watch: Optional[Watch]) -> Named:
    """Columns by name, as far as they are wanted."""
    labels = _check_names(names if names is not None else given, len(given))
    chosen = [(j, label) for j, label in enumerate(labels) if only is None or label in only]
    return [(label, one_column(label, get(j), watch, f"column {label!r} of X")) for j, label in chosen]
