"""`logistic_1e6.py` with five million rows."""

from works import logistic_1e6


def make(quick):
    return logistic_1e6.make(quick, rows=5_000_000, name="logistic-5e6")
