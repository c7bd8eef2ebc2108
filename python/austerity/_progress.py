"""How a run goes: one line on standard error in a terminal, one display that redraws in place in a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Dict, Optional

_WIDTH = 24
#: Seconds between two drawings.
_OFTEN = 0.2


class Bar:
    """Shows how a run goes, a few times a second."""

    def __init__(self, live: bool) -> None:
        self._live = live
        self._last = 0.0
        self._shown = 0

    @classmethod
    def wanted(cls, progress: Optional[bool]) -> "Bar":
        """The bar for where this process runs; without ``progress``, one where somebody may watch."""
        if progress is not False and in_notebook():
            return NotebookBar(True)
        if progress is not None:
            return cls(bool(progress))
        return cls(bool(getattr(sys.stderr, "isatty", lambda: False)()))

    def show(self, progress: Dict[str, Any]) -> None:
        now = time.monotonic()
        if not self._live or now - self._last < _OFTEN:
            return
        self._last = now
        self._draw(progress)

    def close(self, progress: Optional[Dict[str, Any]] = None) -> None:
        """Takes the bar away, or leaves it as it is at the end."""
        if self._live and self._shown:
            self._write("")
            sys.stderr.write("\r")

    def _draw(self, progress: Dict[str, Any]) -> None:
        self._write(describe(progress))

    def _write(self, text: str) -> None:
        padded = text.ljust(self._shown)
        self._shown = len(text)
        try:
            sys.stderr.write("\r" + padded)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._live = False


class NotebookBar(Bar):
    """One output of the cell, drawn anew in place. The last state stays."""

    _handle: Any = None

    def close(self, progress: Optional[Dict[str, Any]] = None) -> None:
        if self._live and self._handle is not None and progress is not None:
            self._draw({**progress, "remaining": None, "doing": "done"})

    def _draw(self, progress: Dict[str, Any]) -> None:
        from IPython.display import display

        try:
            if self._handle is None:
                self._handle = display(_Shown(progress), display_id=True)
            else:
                self._handle.update(_Shown(progress))
        except (OSError, ValueError, RuntimeError):
            self._live = False


class _Shown:
    """A state of a run, as a notebook shows it."""

    def __init__(self, progress: Dict[str, Any]) -> None:
        self._progress = progress

    def __repr__(self) -> str:
        return describe(self._progress)

    def _repr_html_(self) -> str:
        bar = ""
        if self._progress["elapsed"] > 0.0:
            bar = f'<progress max="100" value="{100 * _share(self._progress):.0f}"></progress> '
        return f"<div>{bar}<code>{html.escape(' · '.join(_words(self._progress)))}</code></div>"


def in_notebook() -> bool:
    """Whether the output goes to cells that can be drawn anew: those of a Jupyter kernel."""
    if "ipykernel" not in sys.modules:
        return False
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


def describe(progress: Dict[str, Any]) -> str:
    """One line about a run."""
    words = _words(progress)
    if progress["elapsed"] == 0.0 or progress["doing"] not in ("sampling", "done"):
        return "austerity  " + words[0]
    filled = round(_WIDTH * _share(progress))
    return f"austerity  [{'█' * filled}{'·' * (_WIDTH - filled)}] " + "  ".join(words)


def _share(progress: Dict[str, Any]) -> float:
    if progress["doing"] == "done":
        return 1.0
    return min(1.0, max(0.0, progress["share"]))


def _words(progress: Dict[str, Any]) -> "list[str]":
    if progress["doing"] not in ("sampling", "done") or progress["elapsed"] == 0.0:
        return [progress["doing"] or "beginning"]
    words = [f"{progress['draws']} draws"]
    if progress["acceptance"] is not None and progress["acceptance"] == progress["acceptance"]:
        words += [f"accepted {percent(progress['acceptance'])}", f"data read {percent(progress['data_share'])}"]
    if progress["rhat"] is not None:
        words.append(f"R-hat {progress['rhat']:.2f}")
    if progress["remaining"] is not None:
        words.append(f"{progress['remaining']:.0f} s left")
    if progress["doing"] == "done":
        words.append(f"{progress['elapsed']:.1f} s")
    return words


def percent(share: Optional[float]) -> str:
    """A share as a percentage with about two digits, never with an exponent."""
    if share is None or share != share or abs(share) == float("inf"):
        return "–"
    value = 100 * share
    if value == 0:
        return "0 %"
    if abs(value) < 0.005:
        return "below 0.01 %"
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.995 else 2
    return f"{value:.{digits}f} %"
