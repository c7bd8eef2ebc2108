"""From what people have (NumPy, pandas, Arrow, lists) to named columns of float64, or of codes with labels."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

Column = Any  # an array of float64, or (codes of uint32, labels)
Named = List[Tuple[str, Column]]


def _is_pandas(value: Any, kind: str) -> bool:
    cls = type(value)
    return cls.__module__.split(".")[0] == "pandas" and cls.__name__ == kind


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
    return codes, labels


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        what = "a value is missing" if np.isnan(values[row]) else f"{values[row]} is not finite"
        raise ValueError(f"column {name!r}, row {row}: {what}; drop the row or impute the value")
    return values


def one_column(name: str, value: Any) -> Column:
    """One column of a table: numbers stay numbers, text and categories become levels."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.getmaskarray(value).any():
            row = int(np.argmax(np.ma.getmaskarray(value)))
            raise ValueError(f"column {name!r}, row {row}: the value is masked; drop the row or impute the value")
        value = np.asarray(value.data)
    if _is_pandas(value, "Series") or _is_pandas(value, "Categorical") or _is_pandas(value, "Index"):
        dtype = getattr(value, "dtype", None)
        if str(dtype) == "category":
            values = value.cat if _is_pandas(value, "Series") else value
            codes = np.asarray(values.codes)
            if (codes < 0).any():
                row = int(np.argmax(codes < 0))
                raise ValueError(f"column {name!r}, row {row}: a value is missing; drop the row or impute the value")
            return codes.astype(np.uint32), [str(label) for label in values.categories]
        if hasattr(value, "isna") and value.isna().any():
            row = int(np.argmax(np.asarray(value.isna())))
            raise ValueError(f"column {name!r}, row {row}: a value is missing; drop the row or impute the value")
        value = value.to_numpy()
    elif hasattr(value, "to_numpy") and type(value).__module__.split(".")[0] in ("pyarrow", "polars"):
        missing = value.null_count() if callable(value.null_count) else value.null_count
        if missing:
            raise ValueError(f"column {name!r}: {missing} values are missing; drop the rows or impute them")
        # Arrow's own arrays refuse to be copied unless told.
        single = type(value).__module__.startswith("pyarrow") and not hasattr(value, "chunks")
        value = value.to_numpy(zero_copy_only=False) if single else value.to_numpy()
    values = np.asarray(value)
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has shape {values.shape}; one dimension is needed: use .ravel() or one column")
    kind = values.dtype.kind
    if kind in "fiub":
        return _finite(name, np.asarray(values, dtype=np.float64))
    if kind in "US":
        return _levels(name, values)
    if kind == "O":
        numbers = (int, float, np.number)
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


def numbers(name: str, value: Any, rows: Optional[int] = None) -> np.ndarray:
    """A column that must be numbers."""
    column = one_column(name, value)
    if isinstance(column, tuple):
        raise TypeError(f"{name} holds text such as {column[1][0]!r}; numbers are needed")
    if rows is not None and len(column) != rows:
        raise ValueError(f"{name} has {len(column)} values, but X has {rows} rows; give one for each row")
    return column


def _check_names(names: Sequence[str], count: int) -> List[str]:
    names = [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"names: {len(names)} for {count} columns; give one for each")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names: {twice!r} is there twice; give every column a name of its own")
    return names


def features(X: Any, names: Optional[Sequence[str]] = None) -> Tuple[Named, int]:
    """The columns of a design: of a two-dimensional array, a data frame or an Arrow table. Also the number of rows."""
    if _is_sparse(X):
        bytes_dense = 8 * X.shape[0] * X.shape[1]
        raise TypeError(
            f"Sparse data was passed, but rows are stored dense: X.toarray() of {X.shape[0]} × {X.shape[1]} takes "
            f"{bytes_dense / 1e9:.3g} GB; convert it yourself if that fits, or choose fewer columns"
        )
    if _is_pandas(X, "DataFrame"):
        labels = _check_names(names if names is not None else [str(c) for c in X.columns], X.shape[1])
        return [(label, one_column(label, X.iloc[:, j])) for j, label in enumerate(labels)], len(X)
    if type(X).__module__.split(".")[0] in ("pyarrow", "polars"):
        arrow = hasattr(X, "column_names")
        given = list(X.column_names) if arrow else list(X.columns)
        labels = _check_names(names if names is not None else given, len(given))
        get = X.column if arrow else X.get_column
        return [(label, one_column(label, get(name))) for label, name in zip(labels, given)], len(X)
    masked = isinstance(X, np.ma.MaskedArray)
    array = X if masked else np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give real ones")
    if array.ndim != 2:
        raise ValueError(
            f"X has shape {array.shape}; two dimensions, rows × columns, are needed. "
            "Reshape your data: array.reshape(-1, 1) for one column, array.reshape(1, -1) for one row"
        )
    rows, count = array.shape
    labels = _check_names(names if names is not None else [f"x{j + 1}" for j in range(count)], count)
    return [(label, one_column(label, array[:, j])) for j, label in enumerate(labels)], rows
