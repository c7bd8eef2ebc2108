"""What a work is, and where its data lie: made or loaded once, then read by every process from the cache.

The rows of a work lie in `data.parquet` (columns x1, x2, …, then y, all of single precision). Every peer reads that file, with its clock running.
"""

import importlib
import json
import os
import pathlib
import time
from dataclasses import dataclass, field

import numpy as np

from posterior import Posterior, Prior


#: Rows that are written at a time: a row group of the file.
GROUP = 1 << 20


class Skipped(Exception):
    """The data of a work are not there."""


@dataclass
class Work:
    """Data, family and priors. `design` has the column of ones first where there is an intercept."""

    name: str
    family: str
    design: np.ndarray
    y: np.ndarray
    test: np.ndarray
    prior: Prior
    prior_intercept: Prior = None
    prior_noise: Prior = None
    remarks: list = field(default_factory=list)
    #: Where its rows lie, once they do, and the CPU and wall seconds of reading them into `design` and `y`.
    folder: pathlib.Path = None
    reading: tuple = (0.0, 0.0)

    @property
    def intercept(self):
        return self.prior_intercept is not None

    @property
    def posterior(self):
        first, width = int(self.intercept), self.design.shape[1]
        priors = [(self.prior, slice(first, width))]
        if self.intercept:
            priors.append((self.prior_intercept, slice(0, 1)))
        if self.family == "student":
            priors.append((self.prior_noise, slice(width, width + 1)))
        return Posterior(self.family, self.design, self.y, priors)

    def predictions(self, thetas):
        """Expected responses of the test rows, averaged over `thetas` (k, size); k weights may be given as a second array."""
        beta = np.atleast_2d(thetas)[:, : self.design.shape[1]]
        eta = self.test @ beta.T
        return 1 / (1 + np.exp(-eta)) if self.family == "logistic" else eta


def pin():
    """Keeps this process on the cores that run.py gave it."""
    cores = os.environ.get("PEERS_CORES")
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in cores.split(",")})


def _module(name):
    return importlib.import_module("works." + name.replace("-", "_"))


def build(name, quick):
    """Makes the data of a work: `works/NAME.py` has `make(quick) -> Work`."""
    return _module(name).make(quick)


def data_folder():
    """Where real data lie: AUSTERITY_DATA, or ../shared/data beside the repository."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for folder in [os.environ.get("AUSTERITY_DATA"), root.parent / "shared" / "data"]:
        if folder and pathlib.Path(folder).is_dir():
            return pathlib.Path(folder)
    raise Skipped("real data not found; set AUSTERITY_DATA to their folder")


def store(work, folder):
    """Writes a work. `work.json` comes last: without it, the folder counts as empty."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(work, folder / "data.parquet")
    np.save(folder / "test.npy", np.asarray(work.test, dtype=np.float32))
    prior = lambda one: None if one is None else vars(one)
    about = dict(
        name=work.name,
        family=work.family,
        prior=prior(work.prior),
        prior_intercept=prior(work.prior_intercept),
        prior_noise=prior(work.prior_noise),
        remarks=work.remarks,
    )
    (folder / "work.json").write_text(json.dumps(about, indent=1))


def write_rows(work, path):
    """The rows as Parquet with pyarrow's defaults: the features without the column of ones, and the response."""
    import pyarrow
    import pyarrow.parquet as parquet

    features = work.design[:, int(work.intercept) :]
    names = [f"x{j + 1}" for j in range(features.shape[1])]
    schema = pyarrow.schema([(name, pyarrow.float32()) for name in [*names, "y"]])
    with parquet.ParquetWriter(path, schema) as writer:
        for begin in range(0, len(work.y), GROUP):
            part = slice(begin, begin + GROUP)
            columns = [pyarrow.array(np.ascontiguousarray(column, dtype=np.float32)) for column in [*features[part].T, work.y[part]]]
            writer.write_table(pyarrow.table(columns, schema=schema))


def read_table(folder):
    """The rows as an Arrow table: what a user hands to austerity."""
    import pyarrow.parquet as parquet

    return parquet.read_table(folder / "data.parquet")


def read_rows(folder, ones):
    """The rows as NumPy arrays (design, response), what the other peers work on: filled group by group, which is faster than stacking whole columns."""
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(folder / "data.parquet")
    width, first = len(file.schema_arrow.names) - 1, int(ones)
    design, y = np.empty((file.metadata.num_rows, width + first), np.float32), np.empty(file.metadata.num_rows, np.float32)
    design[:, :first] = 1
    begin = 0
    for group in file.iter_batches(batch_size=1 << 16):
        part = slice(begin, begin + len(group))
        for j in range(width):
            design[part, first + j] = group.column(j).to_numpy()
        y[part] = group.column(width).to_numpy()
        begin = part.stop
    return design, y


def _warm():
    """Reads a table of one row, since Arrow imports much at its first use: imports are not timed."""
    import io

    import pyarrow
    import pyarrow.parquet as parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table({"y": [1.0]}), file)
    parquet.read_table(file)["y"].to_numpy()
    next(parquet.ParquetFile(file).iter_batches()).column(0).to_numpy()


def load(folder):
    """A work, and the CPU and wall seconds that reading its rows took."""
    _warm()
    about = json.loads((folder / "work.json").read_text())
    for name in ("prior", "prior_intercept", "prior_noise"):
        about[name] = None if about[name] is None else Prior(**about[name])
    begin = time.process_time(), time.perf_counter()
    design, y = read_rows(folder, about["prior_intercept"] is not None)
    reading = time.process_time() - begin[0], time.perf_counter() - begin[1]
    return Work(**about, design=design, y=y, test=np.load(folder / "test.npy"), folder=folder, reading=reading)
