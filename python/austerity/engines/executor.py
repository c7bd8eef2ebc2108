"""Executors of ``concurrent.futures``: process pools, and MPI's."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from typing import Callable, Iterator, List, Optional

from .._austerity import run_part


def adapter(executor: Executor) -> Callable[[bytes, List[bytes]], Iterator[bytes]]:
    """An executor as an engine."""

    def engine(request: bytes, tasks: List[bytes]) -> Iterator[bytes]:
        futures = [executor.submit(run_part, request, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    return engine


class Processes:
    """A process pool of our own. When a worker dies the pool is made anew; what is missing is asked for again."""

    def __init__(self, count: Optional[int] = None) -> None:
        self.count = count
        self._pool: Optional[ProcessPoolExecutor] = None

    def __call__(self, request: bytes, tasks: List[bytes]) -> Iterator[bytes]:
        if self._pool is None:
            # A fork would copy the locks of our threads.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, mp_context=context)
        try:
            yield from adapter(self._pool)(request, tasks)
        except BrokenExecutor as error:
            print(f"austerity: a process of the pool died ({error}); its parts are asked again", file=sys.stderr)
            self._pool.shutdown(wait=False)
            self._pool = None


def mpi() -> Callable[[bytes, List[bytes]], Iterator[bytes]]:
    """The processes that ``mpiexec -n N python -m mpi4py.futures`` started."""
    from mpi4py.futures import MPIPoolExecutor

    return adapter(MPIPoolExecutor())
