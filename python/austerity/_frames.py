"""Tables of clusters as files: data sets name theirs; frames of Dask and Spark are written once.

Frames have no stable order or number of rows between passes, so they are materialised as Parquet in a temporary folder before the first pass. On a cluster all
workers must see that folder: set the environment variable ``AUSTERITY_SHARED`` to one they share, or write the frame yourself and give the path.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, List, Optional

from ._tables import library


class Written:
    """A frame that was written, removed with the model."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.path = os.path.join(folder, "rows")

    def __del__(self, remove: Any = shutil.rmtree) -> None:
        remove(self._folder, ignore_errors=True)


def written(data: Any) -> Any:
    """Files of a data set, a frame as files, or the data as they are."""
    kind = type(data)
    if library(data) == "pyarrow" and kind.__name__ == "FileSystemDataset":
        return _files(data) or data
    home = kind.__module__.split(".")[0]
    if home in ("dask", "dask_expr") and hasattr(data, "to_parquet"):
        made = _folder()
        data.to_parquet("file://" + made.path, write_index=False)
        return made
    if home == "pyspark" and hasattr(data, "write"):
        made = _folder()
        data.write.parquet("file://" + made.path)
        return made
    return data


def _files(data: Any) -> Optional[List[str]]:
    """The files of a data set, where they are on this machine and Parquet, and no column comes from a folder's name."""
    if type(data.filesystem).__name__ != "LocalFileSystem" or type(data.format).__name__ != "ParquetFileFormat":
        return None
    return list(data.files)


def _folder() -> Written:
    return Written(tempfile.mkdtemp(prefix="austerity-", dir=os.environ.get("AUSTERITY_SHARED")))
