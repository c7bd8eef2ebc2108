"""Tables that speak Arrow: every type, missing values, whose memory it is, and the same draws from every source."""

import datetime
import decimal
import gc
import pickle

import numpy as np
import pytest

import austerity as au
from austerity import _columns

arrow = pytest.importorskip("pyarrow")
if not hasattr(arrow.Table, "__arrow_c_stream__"):
    pytest.skip("this pyarrow is older than the PyCapsule interface", allow_module_level=True)

QUICK = dict(draws=60, chains=2, warmup=100, progress=False)


class Stream:
    """Nothing but a stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Array:
    """Nothing but one batch."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def values(table):
    """What the columns hold, as NumPy has it; labels in place of codes."""
    columns, _ = _columns.features(table)
    found = {}
    for name, column in columns:
        column = column.values() if hasattr(column, "values") else column
        found[name] = [column[1][code] for code in column[0]] if isinstance(column, tuple) else np.asarray(column, float).tolist()
    return found


def same(a, b):
    return list(a.draws) == list(b.draws) and all(np.array_equal(a.draws[name], b.draws[name]) for name in a.draws)


def fit(model, **options):
    return au.sample(model, **{**QUICK, **options})


@pytest.fixture
def people(rng):
    n = 500
    age = rng.integers(20, 80, size=n)
    city = rng.choice(["Bonn", "Jena", "a town with a long name"], size=n)
    since = np.datetime64("2020-01-01") + rng.integers(0, 900, size=n)
    bought = rng.random(n) < 1 / (1 + np.exp(-(0.05 * (age - 50) + (city == "Jena"))))
    return {"age": age.astype(np.int16), "city": city, "since": since, "bought": bought}


# Types ---------------------------------------------------------------------------------------------------------------

DAY = datetime.date(1970, 1, 11)
MOMENT = datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000)


WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TYPES = [
    *[([1, 122, 3], getattr(arrow, kind)(), [1, 122, 3]) for kind in WHOLE],
    ([0.5, -2.0], arrow.float32(), [0.5, -2.0]),
    ([0.5, -2.0], arrow.float64(), [0.5, -2.0]),
    (np.array([0.5, -2.0], np.float16), arrow.float16(), [0.5, -2.0]),
    ([True, False, True], arrow.bool_(), [1, 0, 1]),
    ([decimal.Decimal("1.25"), decimal.Decimal("-3.50")], arrow.decimal128(6, 2), [1.25, -3.5]),
    ([decimal.Decimal("1.25"), decimal.Decimal("-3.50")], arrow.decimal256(60, 2), [1.25, -3.5]),
    ([DAY], arrow.date32(), [10]),
    ([DAY], arrow.date64(), [10]),
    ([MOMENT], arrow.timestamp("ms"), [1.5]),
    ([MOMENT], arrow.timestamp("us"), [1.5]),
    ([MOMENT], arrow.timestamp("ns"), [1.5]),
    ([MOMENT], arrow.timestamp("us", tz="UTC"), [1.5]),
    ([datetime.time(1, 0, 1)], arrow.time32("s"), [3601]),
    ([datetime.time(1, 0, 1)], arrow.time64("us"), [3601]),
    ([datetime.timedelta(seconds=2.5)], arrow.duration("us"), [2.5]),
    (["b", "a", "b"], arrow.string(), ["b", "a", "b"]),
    (["b", "a", "b"], arrow.large_string(), ["b", "a", "b"]),
    (["b", "a text of more than twelve bytes"], "string_view", ["b", "a text of more than twelve bytes"]),
    (["b", "a", "b"], arrow.dictionary(arrow.int8(), arrow.string()), ["b", "a", "b"]),
    ([2.5, 1.0, 2.5], arrow.dictionary(arrow.int32(), arrow.float64()), [2.5, 1.0, 2.5]),
]


@pytest.mark.parametrize("given, kind, wanted", TYPES, ids=[str(kind) for _, kind, _ in TYPES])
def test_columns_of_every_type(given, kind, wanted):
    if kind == "string_view":
        if not hasattr(arrow, "string_view"):
            pytest.skip("this pyarrow has no views of text")
        kind = arrow.string_view()
    array = arrow.array(given, kind)
    # As it is, and as a slice of something longer in two pieces.
    pieces = arrow.chunked_array([arrow.concat_arrays([array, array])[len(given) :], array])
    assert values(arrow.table({"x": array})) == {"x": wanted}
    assert values(arrow.table({"x": pieces})) == {"x": wanted + wanted}
    assert values({"x": array}) == {"x": wanted}


@pytest.mark.parametrize("unit, wanted", [("D", 10.0), ("s", 864_000.0), ("ms", 864_000.0), ("ns", 864_000.0)])
def test_dates_and_times_of_numpy_follow_the_same_rule(unit, wanted):
    assert values({"x": np.array([DAY], f"datetime64[{unit}]")}) == {"x": [wanted]}
    assert values({"x": np.array([90], "timedelta64[m]")}) == {"x": [5400.0]}


def test_dictionaries_of_several_pieces_are_one():
    pieces = [arrow.array(texts).dictionary_encode() for texts in (["u", "v"], ["w", "u"])]
    assert values(arrow.table({"x": arrow.chunked_array(pieces)})) == {"x": ["u", "v", "w", "u"]}


@pytest.mark.parametrize(
    "column, match",
    [
        (arrow.array([[1.0], [2.0]]), "column `x` holds lists; leave it out"),
        (arrow.array([{"a": 1}, {"a": 2}]), "a structure with fields"),
        (arrow.array([b"a", b"b"]), "raw bytes"),
    ],
)
def test_columns_that_are_neither_numbers_nor_text(column, match):
    table = arrow.table({"a": [0.5, 1.5], "x": column})
    with pytest.raises(ValueError, match=match):
        au.Linear(table, [1.0, 2.0])
    assert au.Linear(table, [1.0, 2.0], features=["a"]).names == ["a"]


# Missing values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column, row, match",
    [
        (arrow.array([1.0, None, 3.0]), 1, "a value is missing.*impute"),
        (arrow.array([1.0, 2.0, float("nan")]), 2, "a value is missing"),
        (arrow.array([float("inf"), 2.0, 3.0]), 0, "inf is not finite"),
        (arrow.array(["a", "b", None]), 2, "a value is missing"),
        (arrow.array(["a", None, "b"]).dictionary_encode(), 1, "a value is missing"),
        (arrow.array([True, None, False]), 1, "a value is missing"),
        (arrow.nulls(3), 0, "a value is missing"),
    ],
)
def test_what_is_missing_is_refused_with_its_row(column, row, match):
    with pytest.raises(ValueError, match=f"row {row}: {match}") as raised:
        au.Linear(arrow.table({"x": column}), [1.0, 2.0, 3.0])
    assert "column" in str(raised.value) and "x" in str(raised.value)


def test_rows_with_missing_values_are_dropped_and_counted(people):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    age, city = people["age"].astype(object), people["city"].astype(object)
    age[[3, 77]], city[[77, 123]] = None, None
    kept = np.array([row not in (3, 77, 123) for row in range(len(age))])
    whole = fit(au.Logistic({"age": people["age"][kept], "city": people["city"][kept]}, people["bought"][kept]))
    sources = {
        "arrow": arrow.table({"age": arrow.array(age, arrow.int16()), "city": arrow.array(city)}),
        "polars": polars.DataFrame({"age": age.tolist(), "city": city.tolist()}),
        "pandas": pandas.DataFrame({"age": age.astype(float), "city": city}),
        "categories": pandas.DataFrame({"age": pandas.array(age, dtype="Int16"), "city": city}),
        "dict": {"age": age, "city": city},
    }
    for name, table in sources.items():
        found = fit(au.Logistic(table, people["bought"], missing="drop"))
        assert same(found, whole), name
        told = " ".join(found.diagnose()["remarks"])
        assert "3 of 500 rows were dropped" in told and "2 in `age`" in told and "2 in `city`" in told, told
        with pytest.raises(ValueError, match="row 3: a value is missing"):
            au.Logistic(table, people["bought"])
    with pytest.raises(ValueError, match="'refuse' or 'drop'"):
        au.Logistic(sources["dict"], people["bought"], missing="impute")


# The same draws ------------------------------------------------------------------------------------------------------


def test_frame_file_and_arrays_draw_the_same(people, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: column.tolist() if name == "city" else column for name, column in people.items()})
    frame.write_parquet(tmp_path / "people.parquet")
    arrays = fit(au.Logistic(people, "bought"))
    assert same(fit(au.Logistic(frame, "bought")), arrays)
    assert same(fit(au.Logistic(tmp_path / "people.parquet", "bought")), arrays)
    # Another seed draws otherwise, so that the comparison can fail.
    assert not same(fit(au.Logistic(frame, "bought"), seed=2), arrays)


def test_anything_with_a_stream_or_a_batch_is_a_table(people):
    table = arrow.table({name: column.tolist() if name == "city" else column for name, column in people.items()})
    plain = fit(au.Logistic(people, "bought"))
    assert same(fit(au.Logistic(Stream(table), "bought")), plain)
    assert same(fit(au.Logistic(Array(table.to_batches()[0]), "bought")), plain)
    assert same(fit(au.Logistic({"age": table["age"], "city": table["city"], "since": table["since"]}, table["bought"])), plain)
    assert plain.predict(Stream(table))["mean"].shape == (500,)


def test_ibis_expressions_are_tables(people):
    try:
        import ibis

        table = ibis.memtable(arrow.table({name: column.tolist() if name == "city" else column for name, column in people.items()}))
        table.count().execute()
    except Exception as error:  # noqa: BLE001, a backend or a package of its own may be missing
        pytest.skip(f"ibis is not usable: {error}")
    assert same(fit(au.Logistic(table, "bought")), fit(au.Logistic(people, "bought")))


# Whose memory it is --------------------------------------------------------------------------------------------------


def test_nothing_is_copied_and_everything_is_released(rng):
    before = arrow.total_allocated_bytes()
    table = arrow.table({f"x{j}": arrow.array(rng.normal(size=20_000)) for j in range(4)})
    y = rng.normal(size=20_000)
    held = arrow.total_allocated_bytes()
    model = au.Linear(table, y)
    # What is exported has some words of its own; a column has 160,000 bytes.
    assert arrow.total_allocated_bytes() < held + 16_000
    fit(model)
    assert arrow.total_allocated_bytes() < held + 16_000
    del table
    gc.collect()
    assert fit(model).n_draws == 60
    del model
    gc.collect()
    assert arrow.total_allocated_bytes() <= before


def test_models_of_held_columns_can_be_copied(people):
    table = arrow.table({name: column.tolist() if name == "city" else column for name, column in people.items()})
    model = au.Logistic(table, "bought")
    assert same(fit(pickle.loads(pickle.dumps(model))), fit(model))


def test_names_that_are_there_twice_are_refused():
    table = arrow.table([arrow.array([1.0]), arrow.array([2.0])], names=["a", "a"])
    with pytest.raises(ValueError, match="'a' is there twice"):
        au.Linear(table, [1.0])
