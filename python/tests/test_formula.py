"""`fit`: a formula and any table; names of terms; new rows; what cannot be read."""

import numpy as np
import pytest

import austerity as au

QUICK = dict(draws=60, chains=2, warmup=100, progress=False)


@pytest.fixture
def people(rng):
    n = 800
    city = rng.choice(["Bonn", "Jena", "Ulm"], size=n, p=[0.5, 0.3, 0.2])
    age = rng.normal(size=n)
    score = age + (city == "Ulm")
    bought = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    return {"age": age, "city": city, "bought": bought, "income": score + rng.normal(size=n), "visits": rng.poisson(np.exp(0.3 * age)).astype(float)}


def same(a, b):
    return all(np.array_equal(a.draws[x], b.draws[y]) for x, y in zip(a.draws, b.draws)) and len(a.draws) == len(b.draws)


def test_a_formula_draws_what_its_columns_draw(people):
    by_formula = au.fit("bought ~ age + city", people, family="logistic", **QUICK)
    assert by_formula.coefficients == ["intercept", "age", "city[Jena]", "city[Ulm]"]
    given = au.sample(au.Logistic(people, "bought", features=["age", "city"], reference={"city": "Bonn"}), **QUICK)
    assert same(by_formula, given)
    other = au.fit("bought ~ age", people, family="logistic", **QUICK)
    assert not same(other, given)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "reader", "duckdb"])
def test_formulas_of_every_table(people, kind):
    plain = au.fit("bought ~ age * C(city)", people, "logistic", **QUICK)
    data = {name: column.tolist() for name, column in people.items()}
    if kind in ("polars", "lazy"):
        table = pytest.importorskip("polars").DataFrame(data)
        table = table.lazy() if kind == "lazy" else table
    elif kind == "pandas":
        table = pytest.importorskip("pandas").DataFrame(data)
    else:
        table = pytest.importorskip("pyarrow").table(data)
        if kind == "reader":
            table = table.to_reader()
        if kind == "duckdb":
            duckdb = pytest.importorskip("duckdb")
            arrow_table = table  # noqa: F841
            table = duckdb.sql("select * from arrow_table")
    found = au.fit("bought ~ age * C(city)", table, "logistic", **QUICK)
    assert same(found, plain)
    new = {name: column[:5] for name, column in people.items()}
    assert np.array_equal(found.predict(new)["mean"], plain.predict(new)["mean"])


def test_formulas_of_files(people, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: column.tolist() for name, column in people.items()})
    frame[:300].write_parquet(tmp_path / "a.parquet")
    frame[300:].write_parquet(tmp_path / "b.parquet")
    plain = au.fit("bought ~ age + city", frame, "logistic", **QUICK)
    for files in (str(tmp_path / "*.parquet"), [tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path):
        assert same(au.fit("bought ~ age + city", files, "logistic", **QUICK), plain)
    with pytest.raises((OSError, ValueError), match="twice"):
        au.fit("bought ~ age", [tmp_path / "a.parquet", tmp_path / "a.parquet"], "logistic", **QUICK)


def test_times_with_events(rng):
    x = rng.normal(size=600)
    time = rng.exponential(np.exp(0.4 * x))
    table = {"x": x, "time": np.minimum(time, 1.5), "dead": time <= 1.5}
    by_formula = au.fit("time | cens(dead) ~ x", table, "weibull", **QUICK)
    given = au.sample(au.WeibullSurvival({"x": x}, table["time"], table["dead"]), **QUICK)
    assert same(by_formula, given)
    assert by_formula.predict({"x": [0.0]}, survival=[1.0])["mean"].shape == (1,)
    with pytest.raises(ValueError, match="cens"):
        au.fit("time | cens(dead) ~ x", table, **QUICK)


def test_new_rows_follow_the_stored_recipe(people):
    found = au.fit("income ~ poly(age, 2) + C(city)", people, **QUICK)
    few = {name: column[:4] for name, column in people.items() if name in ("age", "city")}
    many = found.predict(people)["mean"]
    # What was learnt of the data is not learnt anew of the new rows.
    assert np.array_equal(found.predict(few)["mean"], many[:4])
    with pytest.raises(ValueError, match="Kiel"):
        found.predict({**few, "city": np.array(["Kiel"] * 4)})
    with pytest.raises(ValueError, match="city"):
        found.predict({"age": few["age"]})


def test_terms_in_summaries_and_coordinates(people):
    found = au.fit("income ~ age + C(city)", people, **QUICK)
    summary = found.summary(terms=True)
    terms = dict(summary["term"]) if hasattr(summary, "columns") else {name: row["term"] for name, row in summary.items()}
    assert terms == {"intercept": "intercept", "age": "age", "C(city)[Jena]": "C(city)", "C(city)[Ulm]": "C(city)", "sigma": "sigma"}
    xarray = pytest.importorskip("xarray")
    if not hasattr(xarray, "DataTree"):
        pytest.skip("this xarray has no DataTree")
    posterior = found.to_datatree(terms=True)["posterior"]
    assert posterior["C(city)"].dims == ("chain", "draw", "C(city)_dim")
    assert posterior["C(city)_dim"].values.tolist() == ["C(city)[Jena]", "C(city)[Ulm]"]
    assert np.array_equal(posterior["C(city)"].values[..., 1], found.draws["C(city)[Ulm]"])
    assert "C(city)[Ulm]" in found.to_datatree()["posterior"]


def test_options_of_model_and_run_go_together(people):
    options = dict(prior=au.Normal(0.01), priors={"age": au.Normal(2.0)}, success="no")
    found = au.fit("bought ~ age + city", people, family="logistic", **options, **QUICK)
    assert found.draws["age"].mean() < -0.5
    assert abs(found.draws["city[Ulm]"]).mean() < 0.1
    run = au.fit("visits ~ age", people, "poisson", blocking=False, **QUICK)
    assert run.wait().diagnose()["family"] == "poisson"
    plan = au.plan(au.Formula("visits ~ age", people, "poisson"), draws=50)
    assert plan["model"]["family"] == "poisson"


def test_missing_values_count_where_the_formula_uses_them(people):
    people["age"] = people["age"].copy()
    people["age"][5] = np.nan
    people["unused"] = np.full(800, np.nan)
    with pytest.raises(ValueError, match="'age', row 5: a value is missing"):
        au.fit("income ~ age", people, **QUICK)
    found = au.fit("income ~ age", people, missing="drop", **QUICK)
    assert any("1 of 800 rows were dropped" in remark for remark in found.diagnose()["remarks"])
    au.fit("income ~ city", people, **QUICK)


@pytest.mark.parametrize(
    "formula, options, error, match",
    [
        ("income ~ agee", {}, ValueError, r"character 10: there is no column `agee`; did you mean `age`"),
        ("income ~ age +", {}, ValueError, "character"),
        ("income", {}, ValueError, "~"),
        (3, {}, TypeError, "give a text such as"),
        ("income ~ age", {"family": 3}, TypeError, "give a text such as 'logistic'"),
        ("income ~ age", {"family": "gaussiann"}, ValueError, "gaussiann"),
        ("income ~ age + (1 | city) + (1 | visits)", {}, ValueError, "one grouping"),
        ("income ~ age", {"weights": "visits"}, TypeError, "unexpected keyword argument 'weights'"),
        ("income ~ age", {"drwas": 3}, TypeError, "did you mean draws"),
        ("income ~ .", {"data": np.zeros((3, 2))}, TypeError, "no column names"),
        ("income ~ age", {"data": "nowhere.parquet"}, OSError, "nowhere.parquet"),
        ("income ~ age", {"data": {"income": [1.0, 2.0], "age": [[1.0], [2.0]]}}, ValueError, "one dimension"),
        ("income ~ age", {"data": {"income": [], "age": []}}, ValueError, "no rows"),
    ],
)
def test_what_cannot_be_fitted_gets_one_clear_message(people, formula, options, error, match):
    with pytest.raises(error, match=match):
        au.fit(formula, options.pop("data", people), **{**QUICK, **options})
