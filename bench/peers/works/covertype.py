"""Covertype, class 2 against the rest: 581,012 rows, 10 standardised numbers, 3 wilderness areas and 39 soil types (one level each left
out), normal:2.5 priors. `--quick`: 100,000 rows. Soil types set in a handful of rows make it a real relative of the hard case.
"""

import numpy as np

from posterior import Prior
from work import Work, data_folder
from works.synthetic import TEST, with_ones


def make(quick):
    import pyarrow.parquet as parquet

    table = parquet.read_table(data_folder() / "covtype.parquet")
    names = table.column_names
    drop = {"Cover_Type", "Wilderness_Area1", "Soil_Type29"}
    numbers = [name for name in names if not name.startswith(("Wilderness", "Soil")) and name not in drop]
    levels = [name for name in names if name.startswith(("Wilderness", "Soil")) and name not in drop]
    X = np.column_stack([table[name].to_numpy().astype(np.float64) for name in numbers])
    X = np.column_stack([(X - X.mean(0)) / X.std(0), *[table[name].to_numpy() for name in levels]])
    y = (table["Cover_Type"].to_numpy() == 2).astype(float)
    order = np.random.default_rng(7).permutation(len(y))
    if quick:
        order = order[: 100_000 + TEST]
    X, y = X[order], y[order]
    # A level that no row of training has says nothing.
    X = with_ones(X[:, X[:-TEST].std(0) > 0])
    remarks = [f"{len(y) - TEST:,} rows, {X.shape[1] - 1} columns and intercept"]
    prior, intercept = Prior("normal", 2.5), Prior("normal", 10.0)
    return Work("covertype", "logistic", X[:-TEST], y[:-TEST], X[-TEST:], prior, intercept, remarks=remarks)
