"""`logistic_1e6.py` with ten thousand rows."""

from works import logistic_1e6


def make(quick):
    return logistic_1e6.make(quick, rows=10_000, name="logistic-1e4")
