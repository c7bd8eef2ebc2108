"""`logistic_1e6.py` with ten million rows."""

from works import logistic_1e6


def make(quick):
    return logistic_1e6.make(quick, rows=10_000_000, name="logistic-1e7")
