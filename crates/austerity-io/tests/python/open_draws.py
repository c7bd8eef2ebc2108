"""Opens a store of draws as a user would, and compares it with what is known to be in it.

usage: open_draws.py STORE EXPECTED.json

EXPECTED.json: {"draws": n, "chains": [5, 6], "features": [..], "coefficients": [[[..]]], "sigma": [[..]],
"statistics": {"accepted": [[..]], ..}}, where a missing number is null. Every warning is an error.
"""

import json
import sys
import warnings

import numpy

warnings.simplefilter("ignore")  # what importing says is no business of ours
import arviz
import xarray
import zarr

warnings.simplefilter("error")

TYPES = {
    "accepted": "bool",
    "data_used": "int64",
    "looks": "int32",
    "mu_mean": "float64",
    "mu_sd": "float64",
    "mu_threshold": "float64",
    "flags": "uint8",
}


def numbers(nested):
    return numpy.array(nested, dtype="float64")


def check(posterior, statistics, expected):
    draws = expected["draws"]
    for group in (posterior, statistics):
        assert list(group["chain"].values) == expected["chains"], group["chain"]
        assert list(group["draw"].values) == list(range(draws)), group["draw"]
        assert group.attrs["inference_library"] == "austerity"
        assert group.attrs["created_at"] == "2026-01-02T03:04:05+00:00"
        assert group.attrs["seed"] == 11
    assert [str(name) for name in posterior["feature"].values] == expected["features"]
    found = posterior["coefficients"]
    assert found.dims == ("chain", "draw", "feature") and found.dtype == "float64"
    shape = (len(expected["chains"]), draws, len(expected["features"]))
    numpy.testing.assert_array_equal(found.values, numbers(expected["coefficients"]).reshape(shape))
    numpy.testing.assert_array_equal(posterior["sigma"].values, numbers(expected["sigma"]))
    assert posterior["sigma"].dims == ("chain", "draw")
    for name, type_name in TYPES.items():
        found = statistics[name]
        assert found.dims == ("chain", "draw") and found.dtype == type_name, found
        numpy.testing.assert_array_equal(
            found.values.astype("float64"), numbers(expected["statistics"][name]), err_msg=name
        )
    assert statistics["flags"].attrs["flag_meanings"] == "guarded exhausted tolerance impossible certified"
    assert list(statistics["flags"].attrs["flag_masks"]) == [1, 2, 4, 8, 16]


def main(store, expected_file):
    with open(expected_file, encoding="utf-8") as file:
        expected = json.load(file)
    with xarray.open_datatree(store, engine="zarr") as tree:
        check(tree["posterior"].to_dataset(), tree["sample_stats"].to_dataset(), expected)
        if arviz.__version__.startswith("0."):
            data = arviz.InferenceData.from_datatree(tree)
            check(data.posterior, data.sample_stats, expected)
            way = "InferenceData.from_datatree"
        else:
            data = arviz.from_zarr(store)
            check(data["posterior"].to_dataset(), data["sample_stats"].to_dataset(), expected)
            way = "from_zarr"
    # Without the consolidated metadata: each array tells the same.
    group = zarr.open_group(store, mode="r", use_consolidated=False)
    assert group["posterior/coefficients"].shape[1] == expected["draws"]
    if expected["draws"] >= 8:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # random numbers make poor chains, and ArviZ may say so
            table = arviz.summary(data)
        assert len(table) == len(expected["features"]) + 1, table
    versions = f"arviz {arviz.__version__}, xarray {xarray.__version__}, zarr {zarr.__version__}"
    print(f"opened by {way}: {versions}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
