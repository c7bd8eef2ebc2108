"""Data that go in: tables of every kind, columns by name, categories, references, arrays that change."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import austerity as au

QUICK = dict(draws=60, chains=2, warmup=100, progress=False)


@pytest.fixture
def columns(rng):
    n = 600
    city = rng.choice(["Bonn", "Jena", "Ulm"], size=n, p=[0.2, 0.5, 0.3])
    age = rng.normal(size=n)
    bought = np.where(rng.random(n) < 1 / (1 + np.exp(-(age + (city == "Ulm")))), "yes", "no")
    return {"age": age, "city": city, "bought": bought, "count": rng.integers(1, 4, size=n)}


def same(a, b):
    assert list(a.draws) == list(b.draws)
    return all(np.array_equal(a.draws[name], b.draws[name]) for name in a.draws)


def fit(model, **options):
    return au.sample(model, **{**QUICK, **options})


# Categories --------------------------------------------------------------------------------------------------------


def test_without_categories_the_most_frequent_level_and_the_last_text_count(columns):
    found = fit(au.Logistic(columns, "bought", features=["age", "city"]))
    assert found.coefficients == ["intercept", "age", "city=Bonn", "city=Ulm"]
    assert any("`no` as 0, `yes` as 1" in text for text in found.diagnose()["remarks"])


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_of_pandas_give_reference_success_and_order(columns, ordered):
    pandas = pytest.importorskip("pandas")
    city = pandas.Categorical(columns["city"], categories=["Ulm", "Kiel", "Jena", "Bonn"], ordered=ordered)
    bought = pandas.Categorical(columns["bought"], categories=["yes", "maybe", "no"], ordered=ordered)
    frame = pandas.DataFrame({"age": columns["age"], "city": city})
    found = fit(au.Logistic(frame, bought))
    assert found.coefficients == ["intercept", "age", "city=Jena", "city=Bonn"]
    remarks = found.diagnose()["remarks"]
    assert any("no row has were dropped: `Kiel`" in text for text in remarks)
    assert any("no row has were dropped: `maybe`" in text for text in remarks)
    assert any("`yes` as 0, `no` as 1" in text for text in remarks)
    assert any("the reference is the first, `Ulm`" in text for text in remarks)
    # The user's word comes before the order.
    found = fit(au.Logistic(frame, bought, success="yes", reference={"city": "Bonn"}))
    assert found.coefficients == ["intercept", "age", "city=Ulm", "city=Jena"]
    assert found.draws["age"].mean() > 0.5


@pytest.mark.parametrize("kind", ["Enum", "Categorical"])
def test_categories_of_polars(columns, kind):
    polars = pytest.importorskip("polars")
    dtype = polars.Enum(["Ulm", "Kiel", "Jena", "Bonn"]) if kind == "Enum" else polars.Categorical()
    frame = polars.DataFrame({"age": columns["age"], "city": polars.Series(columns["city"].tolist(), dtype=dtype)})
    found = fit(au.Logistic(frame, columns["bought"]))
    expected = ["city=Jena", "city=Bonn"] if kind == "Enum" else ["city=Jena", "city=Ulm"]
    assert found.coefficients[2:] == expected
    assert found.predict(frame[:5])["mean"].shape == (5,)


def test_ordered_dictionaries_of_arrow(columns):
    arrow = pytest.importorskip("pyarrow")
    levels, codes = np.unique(columns["city"], return_inverse=True)

    def table(ordered):
        city = arrow.DictionaryArray.from_arrays(arrow.array(codes.astype(np.int8)), arrow.array(levels[[0, 1, 2]]), ordered=ordered)
        return arrow.table({"age": columns["age"], "city": city})

    assert fit(au.Logistic(table(True), columns["bought"])).coefficients[2:] == ["city=Jena", "city=Ulm"]
    assert fit(au.Logistic(table(False), columns["bought"])).coefficients[2:] == ["city=Bonn", "city=Ulm"]


def test_success_and_reference_are_set_and_kept(columns, tmp_path):
    data = {"age": columns["age"], "city": columns["city"], "year": np.arange(600) % 3 + 2000}
    words = dict(success="no", reference={"city": "Ulm", "year": 2001}, categorical=["year"])
    model = au.Logistic(data, columns["bought"], **words)
    found = fit(model, out=tmp_path / "run")
    assert found.coefficients[2:] == ["city=Bonn", "city=Jena", "year=2000", "year=2002"]
    assert found.draws["age"].mean() < -0.5
    longer = au.sample(model, draws=80, out=tmp_path / "run", resume=True, progress=False)
    assert longer.n_draws == 80
    with pytest.raises(ValueError, match="success was no when the run began and is yes now"):
        au.sample(au.Logistic(data, columns["bought"], **{**words, "success": "yes"}), draws=90, out=tmp_path / "run", resume=True, progress=False)
    flipped = fit(au.Logistic(data, columns["bought"], **{**words, "success": "yes"}))
    assert np.allclose(found.predict(data)["mean"] + flipped.predict(data)["mean"], 1.0, atol=0.15)


@pytest.mark.parametrize("success, sign", [(0, -1), (1, 1), (True, 1), (False, -1), (np.int64(0), -1), ("1", 1)])
def test_success_of_numbers(columns, success, sign):
    y = columns["bought"] == "yes"
    for response in (y, y.astype(int)):
        assert np.sign(fit(au.Logistic({"age": columns["age"]}, response, success=success)).draws["age"].mean()) == sign


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(success="maybe"), "`maybe` does not occur; there are .*`yes`"),
        (dict(reference={"city": "Kiel"}), "`Kiel` does not occur; there are `Bonn`, `Jena`, `Ulm`"),
        (dict(reference={"town": "Bonn"}), "'town'.*it has 'age', 'city'"),
        (dict(reference="city=Bonn"), "give a dict"),
        (dict(reference={"age": 1}), "holds numbers.*categorical"),
        (dict(categorical=["agee"]), "did you mean 'age'"),
    ],
)
def test_levels_that_cannot_be(columns, options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        fit(au.Logistic(columns, "bought", features=["age", "city"], **options))


# Tables of every kind -----------------------------------------------------------------------------------------------


def tables(columns):
    """The same table in other dresses."""
    data = {name: columns[name] for name in ("age", "city", "bought")}
    yield "dict", lambda: data
    yield "dict of lists", lambda: {name: values.tolist() for name, values in data.items()}
    yield "records", lambda: np.rec.fromarrays(list(data.values()), names=list(data))

    def pandas(module):
        yield "pandas", lambda: module.DataFrame(data)

    def polars(module):
        frame = module.DataFrame({name: values.tolist() for name, values in data.items()})
        yield "polars", lambda: frame
        yield "polars.LazyFrame", lambda: frame.lazy()

    def pyarrow(module):
        import pyarrow.dataset

        table = module.table({name: values.tolist() for name, values in data.items()})
        yield "pyarrow.Table", lambda: table
        yield "RecordBatch", lambda: table.to_batches()[0]
        yield "RecordBatchReader", lambda: table.to_reader()
        yield "dataset", lambda: pyarrow.dataset.dataset(table)
        yield "scanner", lambda: pyarrow.dataset.dataset(table).scanner()

    def duckdb(module):
        pytest.importorskip("pyarrow")
        import pandas

        frame = pandas.DataFrame(data)  # noqa: F841
        connection = module.connect()
        connection.register("frame", frame)
        yield "duckdb", lambda: connection.sql("select age, city, bought from frame")

    for make in (pandas, polars, pyarrow, duckdb):
        try:
            module = __import__(make.__name__)
        except ImportError:
            continue
        yield from make(module)


def test_tables_of_every_kind_draw_the_same(columns):
    plain = fit(au.Logistic({"age": columns["age"], "city": columns["city"]}, columns["bought"]))
    for name, make in tables(columns):
        model = au.Logistic(make(), "bought")
        assert model.names == ["age", "city"], name
        found = fit(model)
        assert same(found, plain), name
        assert np.array_equal(found.predict(make())["mean"], plain.predict({"age": columns["age"], "city": columns["city"]})["mean"]), name
        assert au.Logistic(make(), "bought", features="age").names == ["age"], name


def test_lazy_tables_read_the_columns_that_are_needed(columns):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"age": columns["age"], "bought": columns["bought"].tolist()}).lazy()

    def refuse(values):
        raise AssertionError("this column is not needed")

    broken = frame.with_columns(polars.col("age").map_batches(refuse, return_dtype=polars.Float64).alias("bad"))
    assert fit(au.Logistic(broken, "bought", features=["age"])).coefficients == ["intercept", "age"]


def test_a_reader_is_read_once(columns):
    arrow = pytest.importorskip("pyarrow")
    reader = arrow.table({"age": columns["age"]}).to_reader()
    au.Logistic(reader, columns["bought"])
    with pytest.raises(ValueError, match="read once only"):
        au.Logistic(reader, columns["bought"])


@pytest.mark.parametrize("extension", ["csv", "parquet", "store"])
def test_files_are_read_by_the_program(columns, tmp_path, extension, request):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    file = tmp_path / "data.csv"
    if extension == "parquet":
        pytest.importorskip("pyarrow")
        file = tmp_path / "data.parquet"
        frame.to_parquet(file)
    else:
        frame.to_csv(file, index=False)
    if extension == "store":
        program = request.getfixturevalue("program")
        line = [program, "convert", str(file), "--response", "bought", "--weights", "count", "--out", str(tmp_path / "store")]
        subprocess.run(line, check=True, capture_output=True)
        file = tmp_path / "store"
    model = au.Logistic(file, "bought", weights="count")
    assert model.names == ["age", "city"]
    found = fit(model)
    # CSV rounds nothing: pandas writes numbers so that they come back. A store has its rows in an order of its own.
    if extension != "store":
        assert same(found, fit(au.Logistic(frame, "bought", weights="count")))
    assert found.predict(frame)["mean"].shape == (600,)
    assert set(au.check(model, pairs=2, repetitions=100)) == set(au.check(au.Logistic(frame, "bought"), pairs=2, repetitions=100))


def test_files_with_a_choice_of_columns(columns, tmp_path):
    pandas = pytest.importorskip("pandas")
    file = str(tmp_path / "data.csv")
    pandas.DataFrame(columns).to_csv(file, index=False)
    model = au.Logistic(file, "bought", features=["city"], reference={"city": "Ulm"}, success="no")
    assert "data.csv, 1 columns" in repr(model)
    assert fit(model).coefficients == ["intercept", "city=Bonn", "city=Jena"]
    for make, match in [
        (lambda: au.Logistic(file, columns["bought"]), "y must be the name of one of its columns, not a ndarray"),
        (lambda: au.Logistic(file, "bougth"), "did you mean 'bought'"),
        (lambda: au.Logistic(file, "bought", names=["a"]), "names="),
        (lambda: au.Logistic(file, "bought", features=["x"]), "features names the column 'x'"),
        (lambda: fit(au.Logistic(file, "bought")).predict(file), "read the table first"),
    ]:
        with pytest.raises((ValueError, TypeError), match=match):
            make()
    with pytest.raises(OSError, match="nowhere.csv"):
        au.Logistic(tmp_path / "nowhere.csv", "bought")


def test_roles_by_name(columns, rng):
    data = {"x": columns["age"], "n": columns["count"] + 2, "s": rng.integers(0, 3, size=600), "e": rng.normal(size=600) * 0.1}
    by_name = fit(au.Binomial(data, "s", "n", offset="e"))
    by_array = fit(au.Binomial({"x": data["x"]}, data["s"], data["n"], offset=data["e"]))
    assert same(by_name, by_array)
    # New rows bring the offset along.
    new = {name: values[:7] for name, values in data.items()}
    assert np.array_equal(by_name.predict(new)["mean"], by_array.predict({"x": new["x"]}, offset=new["e"], trials=new["n"])["mean"])
    assert same(fit(au.Poisson(data, "s", weights="n", features=["x"])), fit(au.Poisson({"x": data["x"]}, data["s"], weights=data["n"])))
    with pytest.raises(ValueError, match="named as y and as weights"):
        au.Poisson(data, "s", weights="s")
    with pytest.raises(TypeError, match="weights holds text"):
        au.Poisson(columns, "count", weights="city")
    with pytest.raises(TypeError, match="array without column names"):
        au.Poisson(np.zeros((600, 2)), "x1")
    assert au.Poisson(np.column_stack([data["s"], data["x"]]), "s", names=["s", "x"]).names == ["x"]


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: None, "X is None; give an array"),
        (lambda: object(), "X is a object; give an array"),
        (lambda: iter([[1.0], [2.0]]), "only once"),
        (lambda: [{"a": 1.0}, {"a": 2.0}], "list of dicts"),
        (lambda: [[1.0], [2.0, 3.0]], "rows of equal length"),
        (lambda: {"a": [1.0, 2.0], "b": [1.0]}, "'a' has 2 values and 'b' has 1"),
        (lambda: {"a": 1.0}, "one value for each row"),
        (lambda: __import__("pandas").Series([1.0, 2.0], name="a"), r"'a'.*to_frame\(\)"),
        (lambda: __import__("polars").Series("a", [1.0, 2.0]), r"'a'.*to_frame\(\)"),
        (lambda: type("DataFrame", (), {"__module__": "dask.dataframe"})(), r"X.compute\(\)"),
    ],
)
def test_what_is_no_table_gets_a_remedy(make, match):
    try:
        X = make()
    except ImportError:
        pytest.skip("not installed")
    with pytest.raises((TypeError, ValueError), match=match):
        au.Logistic(X, [0, 1])


# Rows that belong together -------------------------------------------------------------------------------------------


def test_another_index_is_refused(columns):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"age": columns["age"]})
    y = pandas.Series(columns["bought"])
    shuffled = y.sample(frac=1.0, random_state=1)
    with pytest.raises(ValueError, match=r"index of y is not that of X.*y.loc\[X.index\].*to_numpy"):
        au.Logistic(X, shuffled)
    with pytest.raises(ValueError, match="index of weights"):
        au.Logistic(X, y, weights=pandas.Series(np.ones(600), index=range(1, 601)))
    assert same(fit(au.Logistic(X, shuffled.loc[X.index])), fit(au.Logistic(X, y)))
    au.Logistic(X, shuffled.to_numpy())
    with pytest.raises(ValueError, match="599 values"):
        au.Logistic(X, y[:-1])




@pytest.mark.parametrize("what", ["X", "y", "weights"])
@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, object])
def test_an_array_that_changed_is_noticed(rng, what, dtype):
    given = {"X": rng.integers(0, 2, size=(400, 3)).astype(dtype), "y": np.arange(400) % 2, "weights": np.arange(400) % 2 + 1}
    if dtype is not object:
        given["y"] = given["y"].astype(dtype)
    model = au.Logistic(given["X"], given["y"], weights=given["weights"].astype(float) if what != "weights" else given["weights"])
    fit(model)
    part = given[what]
    part[...] = part[::-1].copy() if what != "weights" else 2
    with pytest.raises(ValueError, match=f"{what} changed after the model was built.*copy"):
        fit(model)
    with pytest.raises(ValueError, match="changed"):
        au.check(model)


def test_views_and_frames_are_watched_and_other_memory_is_not(rng):
    data = rng.normal(size=(500, 5))
    y = (np.arange(500) % 2).astype(float)
    model = au.Logistic(data[:, 1:3], y)
    data[:, 4] = 0.0
    fit(model)
    data[17, 2] += 1e-12
    with pytest.raises(ValueError, match="X changed"):
        fit(model)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": data[:, 0].copy(), "b": np.arange(500)})
    model = au.Logistic(frame, y)
    fit(model)
    frame.loc[3, "a"] = 7.0
    with pytest.raises(ValueError, match="column 'a'.*changed"):
        fit(model)


def test_copied_models_own_their_arrays(logistic):
    X, y = logistic
    model = au.Logistic(X[:, ::2], y)
    copied = pickle.loads(pickle.dumps(model))
    X[0, 0] += 1.0
    assert fit(copied).n_draws == 60
    with pytest.raises(ValueError, match="changed"):
        fit(model)


def test_arrays_may_change_once_a_run_has_begun(logistic):
    X, y = logistic
    run = au.sample(au.Logistic(X, y), **QUICK, blocking=False)
    before = X.copy()
    X[:] = 0.0
    assert same(run.wait(), fit(au.Logistic(before, y)))


def test_without_optional_packages_the_package_imports():
    hidden = "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow', 'duckdb', 'sklearn']))"
    line = f"{hidden}; import austerity as au; print(au.Logistic({{'a': [1.0, 2.0]}}, [0, 1]))"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert "2 rows, 1 columns" in done.stdout, done.stderr
