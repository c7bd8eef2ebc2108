//! How large the f32 errors are: per difference, and in the total of all rows.

use super::kernel::{DITHERS, dithered};
use super::*;

/// A model whose rows have exactly the given η (as offset) and δ (as the only column, moved by 1).
fn exact_rows<F: Family>(family: F, eta: &[f64], delta: &[f64], response: &[f64]) -> Glm<F> {
    let data = CheckedData {
        names: vec!["delta".into()],
        columns: vec![delta.to_vec()],
        shift: vec![0.0],
        scale: vec![1.0],
        response: response.to_vec(),
        weights: None,
        trials: Some(vec![7.0; eta.len()]),
        offset: Some(eta.to_vec()),
        intercept: false,
        shuffle: None,
        kind: family.kind(),
        warnings: Vec::new(),
    };
    Glm::new(family, &data, vec![Prior::Flat; 1 + family.extra().len()]).unwrap()
}

/// Largest error of a difference relative to `size(η, δ, y, l)`, over a grid of η times δ, on every level.
fn worst_error<F: Family>(
    family: &F,
    etas: &[f64],
    deltas: &[f64],
    responses: &[f64],
    size: impl Fn(f64, f64, f64, f64) -> f64,
) -> f64 {
    let mut rows = Vec::new();
    for &delta in deltas {
        for &response in responses {
            // Rows of one block share the size of δ, so that blocks take different paths.
            rows.extend(etas.iter().map(|&eta| (eta as f32, delta as f32, response)));
        }
    }
    let part = |f: &dyn Fn(&(f32, f32, f64)) -> f64| -> Vec<f64> { rows.iter().map(f).collect() };
    let model = exact_rows(*family, &part(&|r| f64::from(r.0)), &part(&|r| f64::from(r.1)), &part(&|r| r.2));
    let from = vec![0.0; model.parameters()];
    let mut to = from.clone();
    to[0] = 1.0;
    let step = <F::Kernel>::step(family, &from[1..], &to[1..]);
    let mut worst = 0.0f64;
    for level in simd::available() {
        let model = model.clone().with_level(level);
        let mut scratch = model.scratch(Access::Blocks);
        let mut found = vec![0.0; rows.len()];
        let mut ratio = model.compare(&from, &to, &mut scratch);
        ratio.reveal(0..rows.len(), &mut found).unwrap();
        for (position, (row, &l)) in rows.iter().zip(&found).enumerate() {
            let (eta, delta) = (f64::from(row.0), f64::from(row.1));
            // This test is about l given what f32 makes of η and y: centred side columns and a rounded constant.
            let block = model.blocks().block(position / 32);
            let stored = |place: usize| block[2 * place + position % 32 / 16].0[position % 16];
            let offset = model.blocks().layout().offset.map_or(0.0, stored);
            let constant = dithered(model.side_constant, position / 32 % DITHERS);
            let seen = f64::from(constant + offset);
            let response = f64::from(stored(model.blocks().layout().response));
            let exact = <F::Kernel>::difference(&step, seen, delta, response, 7.0);
            if l == exact {
                continue;
            }
            let error = (l - exact).abs() / size(eta, delta, row.2, exact);
            worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
        }
    }
    worst
}

fn grid(limit: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| limit * (2.0 * i as f64 / (count - 1) as f64 - 1.0)).collect()
}

/// The logistic difference has full relative accuracy everywhere: nothing cancels in any of its three forms.
#[test]
fn logistic_differences_have_relative_accuracy() {
    let relative = |_: f64, _: f64, _: f64, l: f64| l.abs() + f64::from(f32::MIN_POSITIVE);
    let moderate = grid(17.0, 96);
    let responses = [0.0, 1.0];
    let tiny: Vec<f64> = (0..20).flat_map(|k| [10f64.powi(-k), -(10f64.powi(-k))]).collect();
    let series = worst_error(&Logistic, &moderate, &grid(0.25, 41), &responses, relative);
    let general = worst_error(&Logistic, &moderate, &grid(20.0, 101), &responses, relative);
    let small = worst_error(&Logistic, &moderate, &tiny[2..], &responses, relative);
    let wide = worst_error(&Logistic, &grid(60.0, 96), &grid(20.0, 61), &responses, relative);
    let far = worst_error(&Logistic, &grid(1e4, 64), &grid(1e4, 33), &responses, relative);
    println!(
        "series {series:.1e}, tiny steps {small:.1e}, general {general:.1e}, |η| ≤ 60 {wide:.1e}, far {far:.1e}"
    );
    assert!(series < 3e-7 && small < 3e-7, "{series:e} {small:e}");
    assert!(general < 6e-7 && wide < 6e-7, "{general:e} {wide:e}");
    assert!(far < 1e-7, "{far:e}");
}

/// The other families subtract two terms by their nature; the error is measured against the size of the terms.
#[test]
fn other_families_are_accurate_to_the_size_of_their_terms() {
    let deltas: Vec<f64> = [grid(0.25, 21), grid(19.0, 41)].concat();
    let terms = |eta: f64, delta: f64, y: f64, l: f64| {
        let p = 1.0 / (1.0 + (-eta.max(eta + delta)).exp());
        l.abs() + (y * (1.0 - p) + (7.0 - y) * p) * delta.abs()
    };
    let binomial = worst_error(&Binomial, &grid(15.0, 96), &deltas, &[0.0, 3.0, 7.0], terms);
    let terms = |eta: f64, delta: f64, y: f64, _: f64| y * delta.abs() + eta.exp() * delta.exp_m1().abs();
    let poisson = worst_error(&Poisson, &grid(12.0, 96), &deltas, &[0.0, 1.0, 40.0], terms);
    let student = Student { freedom: 4.0 };
    let deltas: Vec<f64> = [grid(1e-3, 20), grid(30.0, 41)].concat();
    // Rounding r and r' moves l by that share of its slope.
    let terms = |_: f64, delta: f64, _: f64, l: f64| l.abs() + 1e-9 + 0.1 * delta.abs().min(1.0);
    let student = worst_error(&student, &grid(30.0, 96), &deltas, &[-40.0, 0.0, 40.0], terms);
    println!("binomial {binomial:.1e}, poisson {poisson:.1e}, student {student:.1e}");
    assert!(binomial < 6e-7, "{binomial:e}");
    assert!(poisson < 6e-7, "{poisson:e}");
    assert!(student < 3e-6, "{student:e}");
}

/// Error of the total log ratio at N rows, and its value: a logistic model at the truth, a step of `step` times the
/// random walk's 2.38/√d posterior standard deviations.
fn total_error(rows: usize, columns: usize, step: f64) -> (f64, f64) {
    let mut rng = stream(3, 0, Role::Proposal);
    let mut from: Vec<f64> = (0..=columns).map(|_| normal(&mut rng) / (columns as f64).sqrt()).collect();
    from[0] = -0.5;
    let mut eta = vec![from[0]; rows];
    let values: Vec<Vec<f64>> = (from[1..].iter())
        .map(|beta| {
            let column: Vec<f64> = (0..rows).map(|_| normal(&mut rng)).collect();
            eta.iter_mut().zip(&column).for_each(|(e, x)| *e += beta * x);
            column
        })
        .collect();
    let response = eta.iter().map(|e| f64::from(rng.random::<f64>() < 1.0 / (1.0 + (-e).exp())));
    let data = CheckedData {
        names: (0..columns).map(|j| format!("x{j}")).collect(),
        columns: values,
        shift: vec![0.0; columns],
        scale: vec![1.0; columns],
        response: response.collect(),
        weights: None,
        trials: None,
        offset: None,
        intercept: true,
        shuffle: None,
        kind: ResponseKind::Binary,
        warnings: Vec::new(),
    };
    let model = Glm::new(Logistic, &data, vec![Prior::Flat; columns + 1]).unwrap();
    // One coefficient has a posterior standard deviation of about 2.3/√N here.
    let spread = step * 2.38 / (columns as f64).sqrt() * 2.3 / (rows as f64).sqrt();
    let to: Vec<f64> = from.iter().map(|b| b + spread * normal(&mut rng)).collect();
    let mut scratch = model.scratch(Access::Blocks);
    let total = model.compare(&from, &to, &mut scratch).total().unwrap();
    let exact: f64 = reference(&Logistic, &data, &from, &to).iter().sum();
    (total.sum() - exact, exact)
}

/// Totals with offsets of about `level`, small steps of a state that fits: f32 must see nothing of the level.
fn offset_error<F: Family>(
    family: &F,
    level: f64,
    sigma: f64,
    y: impl Fn(&mut Rng, f64) -> f64,
) -> (f64, f64) {
    let rows = 2000;
    let mut rng = stream(8, 0, Role::Proposal);
    let column: Vec<f64> = (0..rows).map(|_| normal(&mut rng)).collect();
    let offset: Vec<f64> = (0..rows).map(|_| level + 0.4 * normal(&mut rng)).collect();
    let mut from = vec![0.3 - level, 0.2];
    if family.is_location() {
        from[0] = 0.3;
    }
    let response = column.iter().zip(&offset).map(|(x, o)| y(&mut rng, o + from[0] + from[1] * x)).collect();
    let data = CheckedData {
        names: vec!["x".into()],
        columns: vec![column],
        shift: vec![0.0],
        scale: vec![1.0],
        response,
        weights: None,
        trials: Some(vec![9.0; rows]),
        offset: Some(offset),
        intercept: true,
        shuffle: Some(2),
        kind: family.kind(),
        warnings: Vec::new(),
    };
    let step = 2.0 * sigma / (rows as f64).sqrt();
    let mut to = vec![from[0] + step, from[1] - step];
    if family.is_location() {
        from.push(sigma.ln());
        to.push(sigma.ln() + 0.01);
    }
    let model = Glm::new(*family, &data, vec![Prior::Flat; from.len()]).unwrap();
    assert_eq!(model.blocks().layout().offset.is_some(), !family.is_location());
    let mut scratch = model.scratch(Access::Blocks);
    let total = model.compare(&from, &to, &mut scratch).total().unwrap();
    let exact: f64 = reference(family, &data, &from, &to).iter().sum();
    (total.sum() - exact, exact)
}

#[test]
fn large_offsets_do_not_change_the_likelihood() {
    for level in [0.0, 1e3, -1e6, 1e6] {
        let uniform = |rng: &mut Rng| rng.random::<f64>();
        let sigmoid = |eta: f64| 1.0 / (1.0 + (-eta).exp());
        let student =
            offset_error(&Student { freedom: 4.0 }, level, 0.007, |rng, eta| eta + 0.007 * normal(rng));
        let poisson =
            offset_error(&Poisson, level, 1.0, |rng, e| (-2.0 * uniform(rng).ln() * e.exp()).floor());
        let logistic = offset_error(&Logistic, level, 1.0, |rng, e| f64::from(uniform(rng) < sigmoid(e)));
        let binomial =
            offset_error(&Binomial, level, 1.0, |rng, e| (9.9 * uniform(rng) * sigmoid(e)).floor());
        for (name, (error, exact)) in
            [("student", student), ("poisson", poisson), ("logistic", logistic), ("binomial", binomial)]
        {
            println!("{name}, offset {level:e}: error {error:.1e} in {exact:.3}");
            assert!(exact.abs() > 0.01 && error.abs() < 2e-4, "{name} at {level:e}: {error:e} in {exact}");
        }
    }
}

#[test]
fn the_total_of_a_million_rows() {
    for step in [1.0, 0.1, 0.01] {
        let (error, exact) = total_error(1_000_000, 10, step);
        println!("N = 1e6, step {step}: error {error:.2e} in {exact:.4e}");
        assert!(error.abs() <= 5e-6, "step {step}: error {error:e} in {exact}");
    }
}

#[test]
#[ignore = "second tier: 4 GB and a minute"]
fn the_total_of_ten_million_rows() {
    for step in [1.0, 0.1, 0.01] {
        let (error, exact) = total_error(10_000_000, 20, step);
        println!("N = 1e7, step {step}: error {error:.2e} in {exact:.4e}");
        assert!(error.abs() <= 1e-5, "step {step}: error {error:e} in {exact}");
    }
}
