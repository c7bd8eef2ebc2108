"""Keyword arguments: names and plain values, which the compiled part turns into a request."""

from __future__ import annotations

import difflib
import numbers
from typing import Any, Dict, Iterable, List

import numpy as np

from . import _austerity

#: What `sample` says in its own way.
_OWN = {"json", "out", "resume", "json_progress", "formula", "missing", "response", "features", "categorical", "weights", "trials", "event", "offset"}
_OWN |= {"success", "reference", "no_intercept", "standardize", "family", "prior", "prior_intercept", "priors"}

#: What other samplers call it, and what it is here.
_ELSEWHERE = {
    "draws": ("num_samples", "n_samples", "iter_sampling", "n_draws", "num_draws", "samples", "iter"),
    "warmup": ("tune", "num_warmup", "iter_warmup", "n_warmup", "num_tune", "burn", "burnin", "burn_in"),
    "chains": ("n_chains", "num_chains"),
    "seed": ("random_seed", "random_state", "rng_key", "rng_seed"),
    "threads": ("cores", "n_jobs", "num_threads", "parallel_chains", "threads_per_chain", "num_cores"),
    "thin": ("thinning",),
    "progress": ("progressbar", "progress_bar", "show_progress"),
    "out": ("output_dir", "backend"),
    "budget": ("timeout", "max_time"),
}
_SENTENCES = {
    **{word: f"use {here}=" for here, there in _ELSEWHERE.items() for word in there},
    **dict.fromkeys(
        ("target_accept", "adapt_delta", "target_accept_prob"),
        "there is none: proposals set their own step size; tolerance= limits the error of the acceptance probability",
    ),
    **dict.fromkeys(("max_treedepth", "max_tree_depth"), "there is none: no proposal here builds trees; proposal= chooses one"),
    **dict.fromkeys(("init", "inits", "initvals", "init_params"), "there is none: chains start around the mode"),
    "return_inferencedata": "there is none: call to_arviz() on the fit",
    "prior": "give it to the model: Logistic(X, y, prior=…)",
}

#: Options that are whole numbers, and the least that is allowed.
_WHOLE = {"draws": 1, "chains": 1, "warmup": 0, "thin": 1, "threads": 0, "first_chain": 0}


def is_number(value: Any) -> bool:
    """Whether a value is one real number, NumPy's included; ``True`` is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) or _is_scalar_array(value)


def _is_scalar_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu"


def whole(name: str, value: Any, least: int) -> int:
    """A whole number from ``least`` on."""
    if isinstance(value, str) or not is_number(value) or not float(value).is_integer() or value < least:
        shown = value.item() if hasattr(value, "item") else value
        raise ValueError(f"{name} is {shown!r}; give a whole number, at least {least}")
    return int(value)


def seconds(value: Any) -> Any:
    """A budget as seconds, or the text it is."""
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    if not is_number(value):
        return value
    if not 0 < float(value) < float("inf"):
        raise ValueError(f"budget is {float(value):g}; give seconds above 0, or a text such as '60s' or '5m'")
    return max(float(value), 1e-3)


def known() -> List[str]:
    """Names of the options that `sample` hands on."""
    return [name for name in _austerity.fit_options() if name not in _OWN]


def checked(options: Dict[str, Any], allowed: Iterable[str], call: str) -> Dict[str, Any]:
    """The options that are given, as plain values; names that nobody knows are refused with a hint."""
    allowed = set(allowed)
    found: Dict[str, Any] = {}
    for name, value in options.items():
        if name not in allowed:
            if name in _SENTENCES:
                raise TypeError(f"{call} got an unexpected keyword argument {name!r}; {_SENTENCES[name]}")
            near = difflib.get_close_matches(name, allowed, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(allowed))}"
            raise TypeError(f"{call} got an unexpected keyword argument {name!r}{hint}")
        if name in _WHOLE and value is not None and value is not False:
            found[name] = whole(name, value, _WHOLE[name])
        elif name == "keep_groups":
            if value:
                found[name] = True
        elif name == "prior_group":
            from ._priors import checked_prior

            found[name] = checked_prior(name, value)
        elif value is not None and value is not False:
            found[name] = plain(name, value)
    return found


def plain(name: str, value: Any) -> Any:
    """A value without NumPy's types."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is True:
        raise ValueError(f"{name} is True; give a number or a text")
    if isinstance(value, (str, int, float, list, tuple)) or hasattr(value, "__fspath__"):
        return value
    raise TypeError(f"{name} is {value!r}; give a number or a text")
