"""The hard case with other data, see `hard.py`."""

from works import hard


def make(quick):
    return hard.make(quick, seed=2, name="hard-2")
