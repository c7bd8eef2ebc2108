"""What a work is, and where its data lie: made or loaded once, then read by every process from the cache."""

import importlib
import json
import os
import pathlib
from dataclasses import dataclass, field

import numpy as np

from posterior import Posterior, Prior


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
    """Writes a work; a copy that was begun and not ended is not taken for one."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "design.npy", np.ascontiguousarray(work.design, dtype=np.float32))
    np.save(folder / "y.npy", np.asarray(work.y, dtype=np.float32))
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


def load(folder):
    about = json.loads((folder / "work.json").read_text())
    for name in ("prior", "prior_intercept", "prior_noise"):
        about[name] = None if about[name] is None else Prior(**about[name])
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("design", "y", "test")}
    return Work(**about, **arrays)
