"""Keyword arguments as options of the program, checked by its own parser."""

from __future__ import annotations

import difflib
import numbers
from typing import Any, Dict, Iterable, List, Tuple

import numpy as np

from . import _austerity

#: What `sample` says in its own way.
_OWN = {"json", "out", "resume", "json_progress", "response", "features", "categorical", "weights", "trials", "offset"}
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
    """A budget as the program reads it: numbers are seconds."""
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    if not is_number(value):
        return value
    if not 0 < float(value) < float("inf"):
        raise ValueError(f"budget is {float(value):g}; give seconds above 0, or a text such as '60s' or '5m'")
    return f"{max(float(value) * 1000, 1):.0f}ms"


def known() -> Dict[str, Tuple[str, bool]]:
    """Help of every option that `sample` hands on, and whether it is a flag."""
    return {name: (text, flag) for name, text, flag in _austerity.fit_options() if name not in _OWN}


def words(options: Dict[str, Any], allowed: Iterable[str], call: str) -> List[str]:
    """`epsilon=0.05` as `--epsilon=0.05`."""
    allowed = set(allowed)
    found: List[str] = []
    for name, value in options.items():
        if name not in allowed:
            if name in _SENTENCES:
                raise TypeError(f"{call} got an unexpected keyword argument {name!r}; {_SENTENCES[name]}")
            near = difflib.get_close_matches(name, allowed, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(allowed))}"
            raise TypeError(f"{call} got an unexpected keyword argument {name!r}{hint}")
        if value is None or value is False:
            continue
        if name in _WHOLE:
            value = whole(name, value, _WHOLE[name])
        option = "--" + name.replace("_", "-")
        if value is True:
            found.append(option)
        else:
            found.append(f"{option}={text(name, value)}")
    return found


def text(name: str, value: Any) -> str:
    """A value as it would be typed."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        return ",".join(text(name, one) for one in value)
    if hasattr(value, "item"):
        value = value.item()
    if hasattr(value, "__fspath__"):
        return str(value.__fspath__())
    if isinstance(value, (int, float)):
        return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else repr(value)
    raise TypeError(f"{name} is {value!r}; give a number or a text")
