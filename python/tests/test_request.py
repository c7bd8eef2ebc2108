"""Keyword arguments and priors make the request that the program makes of its options."""

import json
from pathlib import Path

import numpy as np
import pytest

import austerity as au
from austerity import _austerity, _options

TABLE = json.loads((Path(__file__).parents[2] / "crates" / "austerity-fit" / "tests" / "requests.json").read_text("utf-8"))


def request(**options):
    return json.loads(_austerity.request_json({"file": "data.csv", **options}))


def changed(value, change):
    if not isinstance(change, dict):
        return change
    value = value or {}
    return {**value, **{name: changed(value.get(name), one) for name, one in change.items()}}


@pytest.mark.parametrize("row", TABLE, ids=[row["keyword"] for row in TABLE])
def test_every_keyword_sets_what_the_table_says(row):
    made, plain = request(**{row["keyword"]: row["python"]}), request()
    assert made == changed(plain, row["request"]) and made != plain


def test_the_table_names_every_option():
    assert [row["keyword"] for row in TABLE] == _austerity.fit_options()
    # What `sample` does not say in its own way are its keywords.
    assert {"draws", "stop_at", "max_disk", "first_chain"} <= set(_options.known())


@pytest.mark.parametrize(
    "prior",
    [
        au.Normal(2.5),
        au.Normal(1, 0.1),
        au.Laplace(0.3),
        au.Laplace(-1, 2),
        au.StudentT(4, 1.5),
        au.StudentT(4, 0.5, 1.5),
        au.Flat(),
        au.HalfNormal(2),
        au.HalfStudentT(3, 2),
        au.Exponential(0.5),
        au.LogNormal(0, 1),
    ],
)
def test_priors_are_handed_over_as_their_numbers(prior):
    assert request(prior=prior) == request(prior=str(prior))
    assert request(priors={"x1": prior}) == request(priors={"x1": str(prior)})


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(rule="guess"), 'rule="guess": known are auto, exact, sequential, certified'),
        (dict(proposal="langevin:2"), 'proposal="langevin:2": allowed is'),
        (dict(bound="wang-tsiatis:1"), "write it as wang-tsiatis:2.3,0.75"),
        (dict(epsilon="small"), "epsilon is 'small'; give a number"),
        (dict(batch=2.5), "batch is 2.5; give a whole number"),
        (dict(max_disk="much"), 'max_disk="much": a size is'),
        (dict(stop_at=-1.0), "stop_at is -1; allowed: a finite number, 0 or more"),
        (dict(rule="exact", epsilon=0.1), 'rule="exact" and rule="certified" make no test: drop preset=, epsilon='),
        (dict(rule="certified"), 'rule="certified" needs a surrogate.*add surrogate="taylor2"'),
    ],
)
def test_refusals_are_in_words_of_python(options, words):
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.raises(ValueError, match=words) as caught:
        au.sample(au.Logistic(X, X[:, 0] > 0), draws=20, progress=False, **options)
    assert "--" not in str(caught.value)
