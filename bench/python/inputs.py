"""What every kind of table costs: whether it works, what is copied when the model is built, and the peak memory of the fit.

Each source is measured in a process of its own, on Linux. **Copied** is what the process grows by while `au.Formula(formula, table)` is built,
as a share of the table's numbers in double precision. **Peak** is the most that the process holds while it fits, over what it held
with its table before, as a multiple of the data in single precision (4 bytes per number, the response among them), which the fit has to keep. The exit code is 1 if a source
draws other numbers than the arrays do, or a polars frame needs more than 1.3 times the data.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings

#: The bar of a polars frame.
MOST = 1.3
#: The bar of a formula and a polars frame, in CPU time of the columns given directly.
SLOWEST = 1.1
#: Draws that are compared.
QUICK = dict(draws=100, chains=1, warmup=50, threads=2, progress=False)


def memory(what):
    """Bytes of this process: VmRSS now, VmHWM at most."""
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith(what))) * 1024


def columns(rows, features):
    """A table of numbers as a dict of arrays."""
    import numpy as np

    rng = np.random.default_rng(1)
    made = {f"x{j + 1}": rng.standard_normal(rows, dtype=np.float32).astype(np.float64) for j in range(features)}
    score = 0.5 * made["x1"] - 0.25 * made["x2"]
    made["y"] = (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(np.float64)
    return made


def dict_of_arrays(data, file):
    return data


def records(data, file):
    import numpy as np

    return np.rec.fromarrays(list(data.values()), names=list(data))


def pandas(data, file):
    import pandas

    return pandas.DataFrame(data)


def polars(data, file):
    import polars

    return polars.DataFrame(data)


def polars_lazy(data, file):
    import polars

    return polars.scan_parquet(file)


def pyarrow_table(data, file):
    import pyarrow

    return pyarrow.table(data)


def pyarrow_reader(data, file):
    import pyarrow.parquet

    return pyarrow.table(data).to_reader()


def pyarrow_dataset(data, file):
    import pyarrow.dataset

    return pyarrow.dataset.dataset(file)


def duckdb(data, file):
    import duckdb

    return duckdb.sql(f"select * from '{file}'")


def ibis(data, file):
    import ibis

    return ibis.read_parquet(file)


def parquet(data, file):
    return file


#: Each with its words on the page.
SOURCES = {
    dict_of_arrays: "dict of NumPy arrays",
    records: "NumPy records",
    pandas: "pandas DataFrame",
    polars: "polars DataFrame",
    polars_lazy: "polars LazyFrame of a Parquet file",
    pyarrow_table: "pyarrow Table",
    pyarrow_reader: "pyarrow RecordBatchReader",
    pyarrow_dataset: "pyarrow Dataset of a Parquet file",
    duckdb: "DuckDB relation of a Parquet file",
    ibis: "ibis expression of a Parquet file",
    parquet: "path of a Parquet file",
}
#: What needs no arrays in this process.
OF_FILE = (polars_lazy, pyarrow_dataset, duckdb, ibis, parquet)


def measure(name, rows, features, file):
    """In a process of its own."""
    import gc

    import numpy as np

    import austerity as au

    warnings.simplefilter("ignore")
    make = next(make for make in SOURCES if make.__name__ == name)
    # What any fit takes, such as threads and code, is taken before.
    few = columns(20_000, features)
    au.sample(au.Formula("y ~ .", few, "logistic"), **QUICK)
    data = None if make in OF_FILE else columns(rows, features)
    table = make(data, file)
    del data
    gc.collect()
    before = memory("VmRSS")
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    model = au.Formula("y ~ .", table, "logistic")
    copied = memory("VmRSS") - before
    fit = au.sample(model, **QUICK)
    peak = memory("VmHWM") - before
    mean = float(np.mean(fit.draws["x1"]))
    numbers = rows * (features + 1)
    print(json.dumps({"copied": copied / (8 * numbers), "peak": peak / (4 * numbers), "mean": mean}))


def of(name, options, file):
    line = [sys.executable, __file__, name, "--measure", file, "--rows", str(options.rows), "--features", str(options.features)]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"why": done.stderr.strip().splitlines()[-1]}


def timed(kind, rows, features):
    """In a process of its own: CPU seconds from the table to the end of the fit, by a formula or by the columns themselves."""
    import time

    import austerity as au

    warnings.simplefilter("ignore")
    data = columns(rows, features)
    table = polars(data, None) if kind == "formula" else data
    del data
    spent = []
    for _ in range(3):
        begun = time.process_time()
        if kind == "formula":
            au.fit("y ~ " + " + ".join(f"x{j + 1}" for j in range(features)), table, "logistic", **QUICK)
        else:
            au.sample(au.Logistic(table, "y"), **QUICK)
        spent.append(time.process_time() - begun)
    print(json.dumps(min(spent)))


def overhead(options):
    """What a formula and a polars frame add to the same columns given directly."""
    seconds = {}
    for kind in ("direct", "formula"):
        line = [sys.executable, __file__, kind, "--timed", "--rows", str(options.rows), "--features", str(options.features)]
        seconds[kind] = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    ratio = seconds["formula"] / seconds["direct"]
    print(f"{options.rows} × {options.features}: columns {seconds['direct']:.2f} CPU s, formula and polars {seconds['formula']:.2f} CPU s, ratio {ratio:.3f} (at most {SLOWEST})")
    sys.exit(ratio > SLOWEST)


def main():
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("sources", nargs="*", metavar="SOURCE", help=", ".join(make.__name__ for make in SOURCES))
    reader.add_argument("--rows", type=int, default=2_000_000)
    reader.add_argument("--features", type=int, default=20)
    reader.add_argument("--overhead", action="store_true", help="CPU time of a formula and a polars frame over the same columns given directly")
    reader.add_argument("--measure", help=argparse.SUPPRESS)
    reader.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    options = reader.parse_args()
    if options.timed:
        timed(options.sources[0], options.rows, options.features)
        return
    if options.overhead:
        overhead(options)
    if options.measure:
        measure(options.sources[0], options.rows, options.features, options.measure)
        return
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "data.parquet")
        make_file = f"import inputs, pyarrow, pyarrow.parquet as p; p.write_table(pyarrow.table(inputs.columns({options.rows}, {options.features})), {file!r})"
        subprocess.run([sys.executable, "-c", make_file], check=True, cwd=os.path.dirname(os.path.abspath(__file__)))
        wanted = [make for make in SOURCES if not options.sources or make.__name__ in options.sources]
        plain = None
        for make in wanted:
            found = of(make.__name__, options, file)
            if "why" in found:
                print(f"| {SOURCES[make]} | not measured: {found['why']} | | |", flush=True)
                continue
            plain = found["mean"] if plain is None else plain
            same = found["mean"] == plain
            missed |= not same or (make is polars and found["peak"] > MOST)
            works = "yes" if same else "OTHER DRAWS"
            print(f"| {SOURCES[make]} | {works} | {100 * max(0.0, found['copied']):.0f} % | {found['peak']:.2f} × |", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
