"""Tables of every kind as something whose columns can be taken one by one.

Whatever speaks Arrow (the PyCapsule interface) comes in by one door, :func:`held`: its columns stay where they are, and the compiled part decodes them when rows are
loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _austerity

#: Libraries whose tables are spread over processes or hosts, and what brings one here.
_ELSEWHERE = {
    "dask": "X.compute()",
    "pyspark": "X.toPandas()",
    "modin": "X.modin.to_pandas()",
    "cudf": "X.to_pandas()",
    "vaex": "X.to_arrow_table()",
    "ibis": "X.to_pyarrow()",
    "h2o": "X.as_data_frame()",
}
_KINDS = (
    "give an array of rows × columns, a pandas or polars DataFrame, an Arrow table, a dict of columns, or the path of a CSV, Parquet or NumPy file"
)


def library(value: Any) -> str:
    """The package that a value's type comes from."""
    return type(value).__module__.split(".")[0]


def installed(name: str) -> Any:
    """A package, where it is installed."""
    try:
        return __import__(name)
    except ImportError:
        return None


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))


def paths(value: Any) -> Optional[List[str]]:
    """The files that a value names: one path or pattern, or a list of them. ``None`` of a table."""
    several = isinstance(value, (list, tuple)) and len(value) > 0 and all(map(is_path, value))
    if not is_path(value) and not several:
        return None
    return [os.path.abspath(os.fspath(path)) for path in (value if several else [value])]


def names(X: Any) -> Optional[List[str]]:
    """The names of a table's columns, where they can be told without reading it."""
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "names", None):
        return list(dtype.names)
    if isinstance(X, Mapping):
        return [str(name) for name in X]
    if library(X) == "polars" and type(X).__name__ == "LazyFrame":
        return list(X.collect_schema().names())
    found = getattr(getattr(X, "schema", None), "names", None) if library(X) == "pyarrow" else getattr(X, "columns", None)
    return None if found is None else [str(name) for name in found]


def is_table(value: Any) -> bool:
    """Whether a value that :func:`opened` returned has named columns."""
    return isinstance(value, Mapping) or hasattr(value, "columns")


def opened(X: Any, wanted: Optional[Sequence[str]] = None) -> Any:
    """A table whose columns can be taken one by one: pandas, NumPy, lists and dicts as they are; everything that speaks Arrow as a dict of held columns.

    Lazy tables are asked for the ``wanted`` columns only; of others the rest is let go as it comes.
    """
    origin, kind = library(X), type(X).__name__
    if is_path(X):
        raise TypeError(f"X is the path {os.fspath(X)!r}; read the table first, for example with pandas.read_csv or polars.read_parquet")
    if origin in ("polars", "pandas") and kind == "Series":
        raise ValueError(f"X is one column, the series {X.name!r}; two dimensions are needed: pass X.to_frame()")
    if origin in ("pandas", "numpy") or isinstance(X, (Mapping, list, tuple)):
        return X
    if origin == "polars" and kind in ("DataFrame", "LazyFrame"):
        return _of_polars(X, kind, wanted)
    if origin in ("duckdb", "_duckdb") and hasattr(X, "project"):
        if wanted is not None:
            X = X.project(", ".join('"' + name.replace('"', '""') + '"' for name in _there(X.columns, wanted)))
        return held(X if speaks_arrow(X) else X.arrow(), wanted)
    if origin == "pyarrow":
        return _of_arrow(X, kind, wanted)
    if speaks_arrow(X):
        return held(X, wanted)
    if origin in _ELSEWHERE:
        raise TypeError(f"X is a {origin} {kind}, whose rows are not in this process's memory; pass {_ELSEWHERE[origin]}")
    if hasattr(X, "__next__"):
        raise TypeError(f"X is a {kind}, which gives its rows only once; pass list(X), or: {_KINDS}")
    return X


def _there(names: Sequence[str], wanted: Optional[Sequence[str]]) -> List[str]:
    return [name for name in names if wanted is None or name in wanted]


def speaks_arrow(value: Any) -> bool:
    """Whether a value hands itself over by the Arrow PyCapsule interface."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def held(X: Any, wanted: Optional[Sequence[str]] = None, orders: Optional[Dict[str, List[str]]] = None) -> Dict[str, Any]:
    """The columns of a table that speaks Arrow, none of them copied."""
    columns = _read(X, wanted, "x1", orders)
    names = [name for name, _ in columns]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names: {twice!r} is there twice; give every column a name of its own")
    return dict(columns)


def held_column(name: str, value: Any) -> Any:
    """One column that speaks Arrow, not copied."""
    orders = _orders({name: value}) if library(value) == "polars" else None
    columns = _read(value, None, name, orders)
    if len(columns) != 1:
        raise ValueError(f"{name} is a table of {len(columns)} columns; give one column")
    return columns[0][1]


def _read(X: Any, wanted: Optional[Sequence[str]], alone: str, orders: Optional[Dict[str, List[str]]]) -> List[Tuple[str, Any]]:
    capsules = (X.__arrow_c_stream__(),) if hasattr(X, "__arrow_c_stream__") else X.__arrow_c_array__()
    return _austerity.held(capsules, None if wanted is None else list(wanted), alone, orders or {})


def _orders(columns: Mapping[str, Any]) -> Dict[str, List[str]]:
    """The order of the labels of polars' categories: that of an Enum, else that in which polars sorts them."""
    found = {}
    for name, column in columns.items():
        kind = type(column.dtype).__name__
        if kind == "Enum":
            found[name] = [str(label) for label in column.dtype.categories]
        elif kind == "Categorical":
            found[name] = [str(label) for label in column.unique().drop_nulls().sort().to_list()]
    return found


def _of_polars(X: Any, kind: str, wanted: Optional[Sequence[str]]) -> Any:
    lazy = kind == "LazyFrame"
    names = X.collect_schema().names() if lazy else X.columns
    if wanted is not None:
        X = X.select(_there(names, wanted))
    if lazy:
        X = X.collect()
    if not speaks_arrow(X):  # before version 1.3
        return {name: X.get_column(name).to_numpy() for name in X.columns}
    return held(X, wanted, _orders({name: X.get_column(name) for name in X.columns}))


def _of_arrow(X: Any, kind: str, wanted: Optional[Sequence[str]]) -> Any:
    if hasattr(X, "scanner"):  # a data set
        X = X.scanner(columns=_there(X.schema.names, wanted))
    if hasattr(X, "to_reader") and not speaks_arrow(X):  # a scanner
        X = X.to_reader()
    if not speaks_arrow(X):
        if not hasattr(X, "column_names"):
            raise TypeError(f"X is a pyarrow {kind}; {_KINDS}")
        return {name: X.column(name).to_numpy() for name in _there(X.column_names, wanted)}  # before version 14
    if not hasattr(X, "schema"):
        raise TypeError(f"X is a pyarrow {kind}; {_KINDS}")
    columns = held(X, wanted)
    if kind == "RecordBatchReader" and not any(map(len, columns.values())):
        raise ValueError("X is a RecordBatchReader without rows; it can be read once only: make a new one, or keep table = reader.read_all()")
    return columns


def nothing(X: Any) -> TypeError:
    """The error for what is no table at all."""
    return TypeError(f"X is {'None' if X is None else 'a ' + type(X).__name__}; {_KINDS}")
