//! Stores filled in every way hold the same bits, and models made of them agree.

use super::*;
use crate::data::summary::{ColumnSummary, Summarizer, row_weight};
use crate::data::{SidePlan, SideSurvey, Sides};
use crate::{Binomial, Data, Glm, Linear, Logistic, Noise, Poisson, Prior, Student};
use austerity::model::{Access, Model as _};
use austerity::population::Population as _;

const KINDS: [ResponseKind; 4] =
    [ResponseKind::Real, ResponseKind::Binary, ResponseKind::Count, ResponseKind::CountOfTrials];

fn wave(rows: usize, speed: f64) -> Vec<f64> {
    (0..rows).map(|i| (i as f64 * speed).sin() * 3.0 + 1e3).collect()
}

/// A dense, a rare and a 0/1 column with every side column.
fn data(rows: usize, kind: ResponseKind, sides: bool) -> Data {
    let rare = (0..rows).map(|i| if i % 20 == 3 { 2.0 + (i as f64).cos() } else { 0.0 }).collect();
    let level = (0..rows).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let response = (0..rows)
        .map(|i| match kind {
            ResponseKind::Real => 1e4 + (i as f64 * 0.7).cos(),
            ResponseKind::Binary => f64::from(u8::from(i % 5 < 2)),
            _ => (i % 4) as f64,
        })
        .collect();
    let mut data =
        Data::new(["dense", "rare", "level"], vec![wave(rows, 0.3), rare, level], response).shuffle(9);
    if sides {
        data = data.weights((0..rows).map(|i| 1.0 + (i % 3) as f64).collect());
        data = data.offset(wave(rows, 0.11));
    }
    if kind == ResponseKind::CountOfTrials {
        data = data.trials(vec![5.0; rows]);
    }
    data
}

/// The store that a reader of files would make, in pieces of `piece` rows.
fn streamed(data: &CheckedData, kind: ResponseKind, piece: usize) -> Result<Store> {
    let rows = data.rows();
    let pieces = || (0..rows).step_by(piece).map(|start| start..(start + piece).min(rows));
    let part = |here: &std::ops::Range<usize>| {
        let cut = |values: &'_ Option<Vec<f64>>| values.as_ref().map(|values| values[here.clone()].to_vec());
        (data.response[here.clone()].to_vec(), cut(&data.trials), cut(&data.offset), cut(&data.weights))
    };
    type Part = (Vec<f64>, Option<Vec<f64>>, Option<Vec<f64>>, Option<Vec<f64>>);
    fn sides(parts: &Part) -> Sides<'_> {
        let (response, trials, offset, weights) = parts;
        let (trials, offset, weights) = (trials.as_deref(), offset.as_deref(), weights.as_deref());
        Sides { response, trials, offset, weights }
    }
    let mut survey = SideSurvey::new(kind);
    for here in pieces() {
        survey.push(&sides(&part(&here)))?;
    }
    let mut blueprint =
        Blueprint::new(survey.finish(), data.columns.len(), data.intercept, Order::new(data.shuffle))?;
    for (j, column) in data.columns.iter().enumerate() {
        let mut summary = Summarizer::default();
        pieces().for_each(|here| summary.push(&column[here]));
        blueprint.plan(j, &data.names[j], &summary.finish())?;
    }
    let mut builder = StoreBuilder::new(blueprint);
    // Out of order.
    for here in pieces().collect::<Vec<_>>().into_iter().rev() {
        for (j, column) in data.columns.iter().enumerate() {
            builder.fill(j, here.start, &column[here.clone()])?;
        }
        builder.fill_sides(here.start, &sides(&part(&here)))?;
    }
    builder.finish()
}

#[test]
fn streamed_and_whole_stores_have_the_same_bits() {
    for rows in [2, 31, 32, 33, 97, 1024, 3001] {
        for kind in KINDS {
            for (sides, piece) in [(false, 1), (true, 7), (true, 1000)] {
                let checked = data(rows, kind, sides).check(kind);
                // Two or three rows leave columns constant.
                let Ok(checked) = checked else { continue };
                let whole = Store::new(&checked, kind).unwrap();
                let pieces = streamed(&checked, kind, piece).unwrap();
                assert_eq!(whole.description(), pieces.description());
                assert_eq!(whole.blocks().lines(), pieces.blocks().lines());
                assert_eq!(whole.default_priors(), checked.default_priors());
                assert_eq!(whole.coefficient_names(), checked.coefficient_names());
                let order = checked.storage_order();
                assert_eq!(pieces.original_row(rows - 1), order[rows - 1] as usize);
            }
        }
    }
}

/// Stores made before the distance of two values was kept have priors by the standard deviation, as they had.
#[test]
fn older_descriptions_are_read() {
    let column = vec![0.0, 0.0, 0.0, 1.0];
    let checked = Data::new(["x"], vec![column], vec![0.5; 4]).check(ResponseKind::Real).unwrap();
    let store = Store::new(&checked, ResponseKind::Real).unwrap();
    assert_eq!(store.default_priors()[1], Prior::normal(5.0));
    let mut text = serde_json::to_value(store.description()).unwrap();
    assert_eq!(serde_json::from_value::<Description>(text.clone()).unwrap(), *store.description());
    text["columns"][0].as_object_mut().unwrap().remove("half_range").unwrap();
    let older: Description = serde_json::from_value(text).unwrap();
    let list: RowList = Arc::new((0..4).collect::<Vec<u32>>());
    let memory = Arc::new(store.blocks().lines().to_vec());
    let older = Store::mapped(older, memory, list).unwrap();
    assert_eq!(older.default_priors()[1], Prior::normal(2.5 / (3.0f64 / 16.0).sqrt()));
}

#[test]
fn every_row_is_where_the_storage_order_says() {
    let checked = data(77, ResponseKind::Binary, true).check(ResponseKind::Binary).unwrap();
    let store = Store::new(&checked, ResponseKind::Binary).unwrap();
    let (blocks, description) = (store.blocks(), store.description());
    assert_eq!((blocks.count(), blocks.view().rows_in(2), blocks.bytes()), (3, 13, 3 * 6 * 128));
    for (p, &row) in checked.storage_order().iter().enumerate() {
        let row = row as usize;
        for (j, column) in checked.columns.iter().enumerate() {
            let stored = ((column[row] - checked.shift[j]) / checked.scale[j]) as f32;
            assert_eq!(blocks.value(p, j), stored);
        }
        assert_eq!(blocks.value(p, 3), (2.0 * checked.response[row] - 1.0) as f32);
        let offset = checked.offset.as_ref().unwrap()[row] - description.side_constant();
        assert_eq!(blocks.value(p, 4), offset as f32);
        assert_eq!(blocks.value(p, 5), checked.weights.as_ref().unwrap()[row] as f32);
    }
    for column in 0..6 {
        assert!((77..96).all(|p| blocks.value(p, column) == 0.0));
    }
}

#[test]
fn levels_columns_and_removal_leave_no_trace() {
    let rows = 1500;
    let codes: Vec<u32> = (0..rows as u32).map(|i| if i % 40 == 7 { 2 } else { i % 2 }).collect();
    let one = |code: u32| codes.iter().map(|&c| f64::from(u8::from(c == code))).collect::<Vec<f64>>();
    let response: Vec<f64> = (0..rows).map(|i| (i as f64).sin()).collect();
    let given =
        Data::new(["a=1", "a=2", "x"], vec![one(1), one(2), wave(rows, 0.2)], response.clone()).shuffle(3);
    let checked = given.check(ResponseKind::Real).unwrap();
    let expected = Store::new(&checked, ResponseKind::Real).unwrap();

    let sides = Sides { response: &response, ..Sides::default() };
    let plan = SidePlan::of(ResponseKind::Real, &sides).unwrap();
    let mut blueprint = Blueprint::new(plan, 4, true, Order::Shuffled { seed: 3 }).unwrap();
    for (column, code) in [(0, 1), (1, 2)] {
        let members = (0..rows).filter(|&row| codes[row] == code);
        let weight = members.clone().map(row_weight).fold(0, u128::wrapping_add);
        let summary = ColumnSummary::of_indicator(rows, members.count(), weight);
        blueprint.plan(column, &checked.names[column], &summary).unwrap();
    }
    let mut builder = StoreBuilder::new(blueprint);
    builder.fill_levels(&[None, Some(0), Some(1)], 0, &codes).unwrap();
    builder.fill_sides(0, &sides).unwrap();
    let column = checked.columns[2].as_slice();
    let shuffled = |shuffler: &Shuffler| shuffler.column("x", &ColumnSummary::of(column), column).unwrap();
    let shuffler = builder.shuffler();
    builder.fill_columns(vec![(3, shuffled(&shuffler)), (2, shuffled(&shuffler))]).unwrap();
    builder.remove(&[2]);
    let found = builder.finish().unwrap();
    assert_eq!(found.description(), expected.description());
    assert_eq!(found.blocks().lines(), expected.blocks().lines());
}

#[test]
fn streamed_data_are_refused_and_warned_of_like_others() {
    let refused = |mut given: Data, kind: ResponseKind, change: &dyn Fn(&mut CheckedData)| {
        given = given.shuffle(1);
        let mut checked = given.check(kind).unwrap();
        change(&mut checked);
        let mut again = Data::new(checked.names.clone(), checked.columns.clone(), checked.response.clone());
        if let Some(weights) = &checked.weights {
            again = again.weights(weights.clone());
        }
        let expected = again.check(kind).unwrap_err();
        assert_eq!(streamed(&checked, kind, 13).unwrap_err().to_string(), expected.to_string());
    };
    let base = || data(100, ResponseKind::Binary, false);
    let binary = ResponseKind::Binary;
    refused(base(), binary, &|data| data.columns[1][77] = f64::NAN);
    refused(base(), binary, &|data| data.columns[1][77] = -1e150);
    refused(base(), binary, &|data| data.columns[0] = vec![4.0; 100]);
    refused(base(), binary, &|data| data.columns[2] = data.columns[0].clone());
    refused(base(), binary, &|data| data.names[2] = "rare".into());
    refused(base(), binary, &|data| data.names[2] = "intercept".into());
    refused(base(), binary, &|data| data.response[55] = 0.5);
    refused(base(), binary, &|data| data.response[55] = f64::INFINITY);
    refused(base().weights(vec![1.0; 100]), binary, &|data| data.weights.as_mut().unwrap()[99] = 0.0);
    let stamps: Vec<f64> = (0..3000).map(|i| 1.6e9 + 1e6 * f64::from(i) + f64::from(i % 3)).collect();
    let given = Data::new(["when"], vec![stamps], wave(3000, 0.2)).offset(vec![1e9; 3000]);
    let checked = given.check(ResponseKind::Real).unwrap();
    assert_eq!(checked.warnings.len(), 1);
    let store = streamed(&checked, ResponseKind::Real, 100).unwrap();
    assert_eq!(store.description().warnings, checked.warnings);
}

#[test]
fn what_is_missing_is_told() {
    let values = wave(40, 0.3);
    let sides = Sides { response: &values, ..Sides::default() };
    let plan = SidePlan::of(ResponseKind::Real, &sides).unwrap();
    let mut blueprint = Blueprint::new(plan, 1, true, Order::AsGiven).unwrap();
    blueprint.plan(0, "x", &ColumnSummary::of(&values)).unwrap();
    assert!(blueprint.plan(0, "x", &ColumnSummary::of(&values[1..])).is_err());
    let mut builder = StoreBuilder::new(blueprint);
    assert!(builder.fill(0, 39, &values[..2]).is_err());
    builder.fill(0, 0, &values[..39]).unwrap();
    builder.fill_sides(0, &sides).unwrap();
    let message = builder.finish().unwrap_err().to_string();
    assert!(message.contains("40") && message.contains("39"), "{message}");
}

#[test]
fn models_of_a_store_are_models_of_the_data() {
    let checked = data(500, ResponseKind::Real, true).check(ResponseKind::Real).unwrap();
    let store = streamed(&checked, ResponseKind::Real, 64).unwrap();
    let (priors, noise) = (store.default_priors(), Noise::Known { sd: 0.8 });
    let (from, to) = (vec![9e3, 0.01, 0.2, 0.3], vec![9e3, 0.012, 0.1, 0.25]);
    let wide = Linear::new(&checked, &priors, noise).unwrap();
    let stored = Linear::from_store(&store, &priors, noise).unwrap();
    let mut scratch = (wide.scratch(Access::Scan), stored.scratch(Access::Scan));
    let a = wide.compare(&from, &to, &mut scratch.0).total().unwrap().sum();
    let b = stored.compare(&from, &to, &mut scratch.1).total().unwrap().sum();
    assert!((a - b).abs() < 1e-5 * a.abs(), "{a} {b}");
    let by_rows = stored.by_rows().unwrap();
    let c = by_rows.compare(&from, &to, &mut scratch.1).total().unwrap();
    assert_eq!(c.count, 500);
    assert!((b - c.sum()).abs() < 1e-9 * b.abs(), "{b} {}", c.sum());
    assert_eq!(by_rows.original_row(7), checked.storage_order()[7] as usize);

    let (coefficients, priors) = (priors.clone(), priors.and(Prior::normal(1.0)));
    let one = Glm::new(Student { freedom: 4.0 }, &checked, priors.clone()).unwrap();
    let other = Glm::from_store(Student { freedom: 4.0 }, store.clone(), priors.clone()).unwrap();
    assert_eq!(one.fingerprint(), other.fingerprint());
    assert!(!store.is_mapped() && store.bytes() == other.data_bytes());

    let priors = coefficients;
    let mismatch = Glm::from_store(Poisson, store.clone(), priors.clone()).unwrap_err().to_string();
    assert!(mismatch.contains("poisson") && mismatch.contains("real numbers"), "{mismatch}");
    assert!(Glm::from_store(Logistic, store.clone(), priors.clone()).is_err());
    assert!(Glm::from_store(Binomial, store.clone(), priors.clone()).is_err());
    assert!(Glm::from_store(Student { freedom: 4.0 }, store, priors.clone()).is_err());
    let counts = data(50, ResponseKind::Count, false).check(ResponseKind::Count).unwrap();
    let counts = Store::new(&counts, ResponseKind::Count).unwrap();
    assert!(Linear::from_store(&counts, counts.default_priors(), noise).is_err());
    assert!(Glm::from_store(Poisson, counts.clone(), counts.default_priors()).is_ok());
}

#[test]
fn an_intercept_alone_is_a_store() {
    let checked = Data::new([""; 0], vec![], vec![1.0, 0.0, 3.0]).check(ResponseKind::Count).unwrap();
    let store = streamed(&checked, ResponseKind::Count, 2).unwrap();
    assert_eq!((store.coefficients(), store.rows()), (1, 3));
    assert_eq!(store.blocks().lines(), Store::new(&checked, ResponseKind::Count).unwrap().blocks().lines());
}

#[test]
fn lists_of_rows_tell_where_a_row_was() {
    let checked = data(50, ResponseKind::Binary, false).keep_order().check(ResponseKind::Binary).unwrap();
    let store = Store::new(&checked, ResponseKind::Binary).unwrap();
    assert_eq!(store.original_row(20), 20);
    let list: Vec<u32> = (0..50).rev().collect();
    let lines = store.blocks().lines().to_vec();
    let mapped = Store::mapped(store.description().clone(), Arc::new(lines.clone()), Arc::new(list)).unwrap();
    assert!(mapped.is_mapped());
    assert_eq!(mapped.original_row(20), 29);
    let short: RowList = Arc::new(vec![0u32; 49]);
    assert!(Store::mapped(store.description().clone(), Arc::new(lines.clone()), short).is_err());
    let fewer: Memory = Arc::new(lines[2..].to_vec());
    let list: RowList = Arc::new(vec![0u32; 50]);
    assert!(Store::mapped(store.description().clone(), fewer, list).is_err());
}
