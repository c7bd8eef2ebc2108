"""Dask: parts are tasks of a ``distributed.Client``, which asks again where a worker dies."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator, List, Optional

from .._austerity import run_part

_passes = itertools.count()


def adapter(client: Any) -> Callable[[bytes, List[bytes]], Iterator[bytes]]:
    """A client as an engine."""
    from distributed import as_completed

    def engine(request: bytes, tasks: List[bytes]) -> Iterator[bytes]:
        number = next(_passes)
        sent = client.scatter(request, broadcast=True, hash=False)
        keys = [f"austerity-{number}-{place}" for place in range(len(tasks))]
        futures = [client.submit(run_part, sent, task, key=key, pure=False, retries=2) for key, task in zip(keys, tasks)]
        for future in as_completed(futures):
            yield future.result()

    return engine


def connect(address: Optional[str]) -> Callable[[bytes, List[bytes]], Iterator[bytes]]:
    """The scheduler at an address; without one a cluster of this machine alone, on 127.0.0.1."""
    from distributed import Client, LocalCluster

    if address:
        return adapter(Client(address))
    return adapter(Client(LocalCluster(host="127.0.0.1", dashboard_address=None)))
