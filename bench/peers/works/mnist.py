"""MNIST 7 against 9, 12,214 rows, 50 principal components, normal prior of precision 10, no intercept: section 6.1 of the paper."""

import numpy as np

from posterior import Prior
from work import Work, data_folder


def make(quick):
    import pyarrow.parquet as parquet

    def read(part):
        table = parquet.read_table(data_folder() / f"mnist79_pca50_{part}.parquet")
        X = np.column_stack([table[f"pc{j}"].to_numpy() for j in range(1, 51)])
        return X, (table["label"].to_numpy() > 0).astype(float)

    (X, y), (test, _) = read("train"), read("test")
    return Work("mnist", "logistic", X, y, test, Prior("normal", 10**-0.5), remarks=["12,214 rows, 50 columns"])
