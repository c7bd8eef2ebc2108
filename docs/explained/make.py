"""Writes the page that explains itself: what a sequential test reads, and how wide the posterior gets, for any ε and N.

Every number on the page is computed here by the theory of the package (`austerity.analyze`): Proposition 1 and Theorem 1 of the paper by dynamic programming. The page
interpolates nothing and invents nothing; its sliders choose among the points of the grid.

    python docs/explained/make.py OUT.html
"""

import json
import sys
from pathlib import Path

import austerity as au

#: Rows of the data, ε of the test, and steps per posterior sd: the root energy D of a random walk, and what a control variate leaves of it.
ROWS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
LEVELS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
ENERGY = 2.38
#: What is left of the spread of the differences: nothing removed, or all but one part in fifty.
KEPT = {"plain": 1.0, "control": 0.02}
FIRST_LOOK = 500
GROWTH = 2.0
#: Distances of the mean from the threshold, in standard errors of all rows.
DISTANCES = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]


def point(rows, level, kept):
    """One test: what it reads, how wrong it is, what comes of the posterior."""
    found = au.analyze(
        n=rows, batch=min(FIRST_LOOK, rows), growth=GROWTH, epsilon=level, energy=ENERGY, kappa=ENERGY * kept, mu_std=DISTANCES
    )
    bias = found["bias"]
    return {
        "read": bias["data_usage"],
        "sd": bias["sd_inflation"],
        "accepted": bias["acceptance"],
        "errors": [at["error"] for at in found["points"]],
        "reads": [at["data_usage"] for at in found["points"]],
    }


def tables():
    """All points of the grid."""
    return {
        "rows": ROWS,
        "levels": LEVELS,
        "distances": DISTANCES,
        "energy": ENERGY,
        "first": FIRST_LOOK,
        "growth": GROWTH,
        "points": {name: [[point(rows, level, kept) for level in LEVELS] for rows in ROWS] for name, kept in KEPT.items()},
    }


def page():
    """The page with its numbers inside."""
    template = (Path(__file__).resolve().parent / "template.html").read_text(encoding="utf-8")
    return template.replace("/*TABLES*/null", json.dumps(tables(), separators=(",", ":")))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(), encoding="utf-8")
    print(target)
