"""A bar in plain text on standard error: in a terminal, in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any, Dict, Optional

_WIDTH = 24


class Bar:
    """Shows how a run goes, a few times a second."""

    def __init__(self, live: bool) -> None:
        self._live = live
        self._last = 0.0
        self._shown = 0

    @classmethod
    def wanted(cls, progress: Optional[bool]) -> "Bar":
        if progress is not None:
            return cls(bool(progress))
        in_notebook = "ipykernel" in sys.modules
        return cls(in_notebook or bool(getattr(sys.stderr, "isatty", lambda: False)()))

    def show(self, progress: Dict[str, Any]) -> None:
        now = time.monotonic()
        if not self._live or now - self._last < 0.2:
            return
        self._last = now
        self._write(describe(progress))

    def _write(self, text: str) -> None:
        padded = text.ljust(self._shown)
        self._shown = len(text)
        try:
            sys.stderr.write("\r" + padded)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._live = False

    def close(self) -> None:
        if self._live and self._shown:
            self._write("")
            sys.stderr.write("\r")


def describe(progress: Dict[str, Any]) -> str:
    """One line about a run."""
    if progress["doing"] != "sampling" or progress["elapsed"] == 0.0:
        return f"austerity  {progress['doing']}"
    filled = round(_WIDTH * min(1.0, max(0.0, progress["share"])))
    text = f"austerity  [{'█' * filled}{'·' * (_WIDTH - filled)}] {progress['draws']} draws"
    if progress["acceptance"] is not None and progress["acceptance"] == progress["acceptance"]:
        text += f"  accepted {100 * progress['acceptance']:.0f} %  data read {100 * progress['data_share']:.2g} %"
    if progress["rhat"] is not None:
        text += f"  R-hat {progress['rhat']:.2f}"
    if progress["remaining"] is not None:
        text += f"  {progress['remaining']:.0f} s left"
    return text
