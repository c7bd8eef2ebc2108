"""Tables of every kind as something whose columns can be taken one by one: lazy frames, Arrow streams, data sets, DuckDB relations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, List, Optional, Sequence

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


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))


def is_table(value: Any) -> bool:
    """Whether a value that :func:`opened` returned has named columns."""
    return isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names")


def opened(X: Any, wanted: Optional[Sequence[str]] = None) -> Any:
    """A table in memory, or what it was if it is one already. Lazy tables are asked for the ``wanted`` columns only."""
    origin, kind = library(X), type(X).__name__
    if is_path(X):
        raise TypeError(f"X is the path {os.fspath(X)!r}; read the table first, for example with pandas.read_csv or polars.read_parquet")
    if origin == "polars":
        if kind == "LazyFrame":
            return (X if wanted is None else X.select(_there(X.collect_schema().names(), wanted))).collect()
        if kind == "Series":
            raise ValueError(f"X is one column, the series {X.name!r}; two dimensions are needed: pass X.to_frame()")
    if origin == "pandas" and kind == "Series":
        raise ValueError(f"X is one column, the series {X.name!r}; two dimensions are needed: pass X.to_frame()")
    if origin == "pyarrow":
        if kind == "RecordBatchReader":
            return _read(X)
        if hasattr(X, "to_table"):  # a data set, a scanner
            limited = wanted is not None and hasattr(X, "scanner")
            return X.to_table(columns=_there(X.schema.names, wanted)) if limited else X.to_table()
        if hasattr(X, "column_names") or hasattr(X, "columns"):
            return X
        raise TypeError(f"X is a pyarrow {kind}; {_KINDS}")
    if origin in ("polars", "pandas", "numpy") or isinstance(X, (Mapping, list, tuple)):
        return X
    if origin in _ELSEWHERE:
        raise TypeError(f"X is a {origin} {kind}, whose rows are not in this process's memory; pass {_ELSEWHERE[origin]}")
    if origin in ("duckdb", "_duckdb") and hasattr(X, "project"):
        if wanted is not None:
            X = X.project(", ".join('"' + name.replace('"', '""') + '"' for name in _there(X.columns, wanted)))
        return _stream(X)
    if hasattr(X, "__arrow_c_stream__"):
        return _stream(X)
    if hasattr(X, "__next__"):
        raise TypeError(f"X is a {kind}, which gives its rows only once; pass list(X), or: {_KINDS}")
    return X


def _there(names: Sequence[str], wanted: Optional[Sequence[str]]) -> List[str]:
    return [name for name in names if wanted is None or name in wanted]


def _read(reader: Any) -> Any:
    table = reader.read_all()
    if table.num_rows == 0:
        raise ValueError("X is a RecordBatchReader without rows; it can be read once only: make a new one, or keep table = reader.read_all()")
    return table


def _stream(X: Any) -> Any:
    """The table behind an Arrow stream."""
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        if hasattr(pyarrow.RecordBatchReader, "from_stream") and hasattr(X, "__arrow_c_stream__"):
            return pyarrow.RecordBatchReader.from_stream(X).read_all()
        return X.to_arrow_table() if hasattr(X, "to_arrow_table") else pyarrow.table(X)
    try:
        import polars
    except ImportError:
        what = f"X is a {library(X)} {type(X).__name__}"
        raise TypeError(f"{what}, which is read through Arrow: pip install pyarrow, or pass a pandas DataFrame") from None
    return polars.DataFrame(X)


def nothing(X: Any) -> TypeError:
    """The error for what is no table at all."""
    return TypeError(f"X is {'None' if X is None else 'a ' + type(X).__name__}; {_KINDS}")
