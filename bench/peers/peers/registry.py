"""Which file runs which peer, and what it imports (imports are not timed)."""

import importlib

FILES = {
    "ours": (["austerity", "austerity-certified", "austerity-exact", "austerity-paper"], ["austerity", "arviz", "pyarrow.parquet"]),
    "laplace": (["laplace", "laplace-psis"], ["arviz", "jax"]),
    "sklearn_map": (["sklearn-map"], ["sklearn.linear_model"]),
    "statsmodels_glm": (["statsmodels-glm"], ["statsmodels.api"]),
    "glum_glm": (["glum-glm"], ["glum"]),
    "numpyro_nuts": (["numpyro-nuts-whitened", "numpyro-nuts"], ["jax", "numpyro"]),
    "numpyro_hmcecs": (["numpyro-hmcecs"], ["jax", "numpyro"]),
    "blackjax_nuts": (["blackjax-nuts"], ["jax", "blackjax"]),
    "blackjax_gradients": (["blackjax-sgld-cv", "blackjax-sghmc-cv"], ["jax", "blackjax"]),
    "nutpie_nuts": (["nutpie"], ["nutpie", "pymc"]),
    "emcee_stretch": (["emcee"], ["emcee"]),
    "numpy_walk": (["numpy-exact", "numpy-approximate"], ["scipy.special"]),
    "numba_walk": (["numba-exact", "numba-approximate"], ["numba", "scipy.stats"]),
}
NAMES = [name for names, _ in FILES.values() for name in names]


def _file(name):
    return next(file for file, (names, _) in FILES.items() if name in names)


def module(name):
    return importlib.import_module("peers." + _file(name))


def load(name):
    """Imports the libraries of a peer."""
    for library in FILES[_file(name)][1]:
        importlib.import_module(library)
