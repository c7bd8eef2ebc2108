"""A fit as HTML for notebooks: plain tags, no script, no style sheet, everything escaped."""

from __future__ import annotations

import math
from html import escape
from typing import Any, Dict, List, Optional

#: Parameters shown; ``fit.summary()`` has all.
_MOST = 200
_HEAD = ("", "mean", "sd", "2.5 %", "50 %", "97.5 %", "MCSE", "ESS bulk", "ESS tail", "R-hat")


def page(parameters: List[Dict[str, Any]], trusted: bool, sentences: List[str], title: str) -> str:
    """The verdict, the table and the sentences."""
    verdict = "✓ The draws may be used." if trusted else "⚠ Not to be trusted yet."
    rows = "".join(_row(one) for one in parameters[:_MOST])
    more = len(parameters) - _MOST
    rest = f"<p>… and {more} more parameters: <code>fit.summary()</code></p>" if more > 0 else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _HEAD)
    items = "".join(f"<li>{escape(text)}</li>" for text in sentences)
    return (
        f'<div class="austerity-fit"><p title="{escape(title)}"><strong>{verdict}</strong></p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}<ul>{items}</ul></div>"
    )


def _row(one: Dict[str, Any]) -> str:
    digits = _decimals(one["mcse_mean"], one["sd"])
    values = [_number(one[name], digits) for name in ("mean", "sd", "q025", "q50", "q975")]
    error = _known(one["mcse_mean"])
    values.append("–" if error is None else f"{error:.1e}")
    values += [_number(one["ess_bulk"], 0), _number(one["ess_tail"], 0), _number(one["rhat"], 3)]
    cells = "".join(f'<td style="text-align:right">{value}</td>' for value in values)
    return f'<tr><th scope="row" style="text-align:left">{escape(str(one["name"]))}</th>{cells}</tr>'


def _known(value: Optional[float]) -> Optional[float]:
    return value if value is not None and math.isfinite(value) else None


def _number(value: Optional[float], digits: int) -> str:
    found = _known(value)
    return "–" if found is None else f"{found:.{digits}f}"


def _decimals(error: Optional[float], sd: Optional[float]) -> int:
    """Decimals that a Monte Carlo error leaves, as in the printed table."""
    error, sd = _known(error), _known(sd)
    scale = error if error else (sd or 0.0) / 100
    return min(8, max(0, math.ceil(1 - math.log10(scale)))) if scale > 0 else 4
