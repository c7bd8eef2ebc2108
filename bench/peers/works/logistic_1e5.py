"""`logistic_1e6.py` with a hundred thousand rows."""

from works import logistic_1e6


def make(quick):
    return logistic_1e6.make(quick, rows=100_000, name="logistic-1e5")
