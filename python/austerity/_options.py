"""Keyword arguments as options of the program, checked by its own parser."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable, List, Tuple

from . import _austerity

#: What `sample` says in its own way.
_OWN = {"json", "out", "resume", "json_progress", "response", "features", "categorical", "weights", "trials", "offset"}
_OWN |= {"no_intercept", "standardize", "family", "prior", "prior_intercept", "priors"}


def known() -> Dict[str, Tuple[str, bool]]:
    """Help of every option that `sample` hands on, and whether it is a flag."""
    return {name: (text, flag) for name, text, flag in _austerity.fit_options() if name not in _OWN}


def words(options: Dict[str, Any], allowed: Iterable[str], call: str) -> List[str]:
    """`epsilon=0.05` as `--epsilon=0.05`."""
    allowed = set(allowed)
    found: List[str] = []
    for name, value in options.items():
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(allowed))}"
            raise TypeError(f"{call} got an unexpected keyword argument {name!r}{hint}")
        if value is None or value is False:
            continue
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
