"""Engines: who reads data in parts.

A pass over the data broadcasts a small question, asks every part, and merges small answers. An engine is any callable
``engine(request, tasks)`` that yields ``run_part(request, task)`` for every task, in any order, some perhaps twice; what is missing is
asked for again. Adapters are imported when they are needed.

====================================  =========================================
``engine=``                           who
====================================  =========================================
``None``, ``"threads"``               threads of this process (``threads=``)
``"processes:4"``                     a process pool of our own, rebuilt when a worker dies
a ``concurrent.futures`` executor     that executor, MPI's ``MPIPoolExecutor`` among them
``"dask:tcp://HOST:8786"``, a Client  Dask
``"spark"``, a ``SparkSession``       Spark, by ``mapInArrow``
``"mpi"``                             ``mpi4py.futures.MPIPoolExecutor``
any callable                          itself
====================================  =========================================
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, List, Optional, Tuple

from .._austerity import run_part

__all__ = ["Engine", "resolve", "run_part"]

#: Maps :func:`run_part` over tasks.
Engine = Callable[[bytes, List[bytes]], Iterable[bytes]]


def resolve(engine: Any) -> Optional[Tuple[str, Engine]]:
    """The name of an engine and the callable that it is; ``None`` for threads."""
    if engine is None or engine == "threads":
        return None
    if isinstance(engine, str):
        return _named(engine)
    kind = type(engine)
    home = kind.__module__.split(".")[0]
    if home == "distributed":
        from .dask import adapter
    elif home == "pyspark":
        from .spark import adapter
    elif hasattr(engine, "submit") and hasattr(engine, "shutdown"):
        from .executor import adapter
    elif callable(engine):
        return getattr(engine, "__name__", kind.__name__), engine
    else:
        raise TypeError(f"engine is a {kind.__name__}; give 'processes:4', an executor, a Dask client, a Spark session or a callable")
    return kind.__name__, adapter(engine)


def _named(name: str) -> Tuple[str, Engine]:
    kind, _, rest = name.partition(":")
    if kind == "processes":
        if rest and not (rest.isdigit() and int(rest) > 0):
            raise ValueError(f"engine is {name!r}; give a number of processes, such as 'processes:4'")
        from .executor import Processes

        return name, Processes(int(rest) if rest else None)
    if kind == "dask":
        from .dask import connect

        return name, connect(rest or None)
    if kind == "spark":
        from .spark import session

        return name, session()
    if kind == "mpi":
        from .executor import mpi

        return name, mpi()
    raise ValueError(f"engine is {name!r}; known are threads, processes:N, dask:ADDRESS, spark and mpi")
