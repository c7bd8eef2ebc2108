//! Conditionals against brute force from the tables as given, whichever layout holds them and however they are read.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use austerity::population::{BlockOrder, BlockReveal, Moments, Population as _, Reveal as _};
use austerity::rng::{Rng, Role, stream};

/// Factors as a user gives them.
struct Given {
    values: Vec<u8>,
    factors: Vec<(Vec<usize>, Vec<f64>)>,
}

impl Given {
    /// `count` random factors of the given arities over variables with the given numbers of values.
    fn random(values: &[u8], arities: &[usize], count: usize, rng: &mut Rng) -> Self {
        let factor = |rng: &mut Rng| {
            let arity = arities[rng.random_range(0..arities.len())];
            let mut variables: Vec<usize> = Vec::new();
            while variables.len() < arity {
                let variable = rng.random_range(0..values.len());
                if !variables.contains(&variable) {
                    variables.push(variable);
                }
            }
            let length = variables.iter().map(|&v| usize::from(values[v])).product();
            let logs = (0..length).map(|_| StandardNormal.sample(rng)).collect();
            (variables, logs)
        };
        Self { values: values.to_vec(), factors: (0..count).map(|_| factor(rng)).collect() }
    }

    fn build(&self) -> Field {
        let mut builder = Field::builder(&self.values).unwrap();
        for (variables, logs) in &self.factors {
            builder.factor(variables, logs).unwrap();
        }
        builder.build(3).unwrap()
    }

    /// The log potential of one factor in a state, straight from its table.
    fn log(&self, factor: usize, state: &[u8]) -> f64 {
        let (variables, logs) = &self.factors[factor];
        let index =
            variables.iter().fold(0, |index, &v| index * usize::from(self.values[v]) + usize::from(state[v]));
        logs[index]
    }

    fn log_density(&self, state: &[u8]) -> f64 {
        (0..self.factors.len()).map(|factor| self.log(factor, state)).sum()
    }

    /// The difference of one factor between two values of a variable.
    fn difference(&self, factor: usize, state: &[u8], variable: usize, [to, from]: [u8; 2]) -> f64 {
        let with = |value: u8| {
            let mut state = state.to_vec();
            state[variable] = value;
            self.log(factor, &state)
        };
        with(to) - with(from)
    }
}

fn random_state(values: &[u8], rng: &mut Rng) -> Vec<u8> {
    values.iter().map(|&v| rng.random_range(0..v)).collect()
}

/// Every factor's number, the total, and the moments of looks, for every pair of values of every variable.
fn agrees_with_brute_force(given: &Given, rng: &mut Rng) {
    let field = given.build();
    let mut neighbourhood = Neighbourhood::default();
    let state = random_state(&given.values, rng);
    for variable in 0..given.values.len() {
        let values = given.values[variable];
        for (to, from) in (0..values).flat_map(|to| (0..values).map(move |from| (to, from))) {
            let mut population = field.conditional(variable, [to, from], &state, &mut neighbourhood).unwrap();
            let rows = population.len();
            let mut numbers = vec![0.0; rows];
            population.reveal(0..rows, &mut numbers).unwrap();
            let mut sum = population.offset();
            for (row, &number) in numbers.iter().enumerate() {
                let factor = population.original_row(row);
                let exact = given.difference(factor, &state, variable, [to, from]);
                assert!(
                    (number - exact).abs() <= 3e-7 * (1.0 + exact.abs()),
                    "factor {factor}: {number} {exact}"
                );
                sum += number;
            }
            let direct: f64 =
                (0..given.factors.len()).map(|f| given.difference(f, &state, variable, [to, from])).sum();
            assert!((sum - direct).abs() <= 1e-6 * (1.0 + rows as f64), "{sum} against {direct}");
            if rows == 0 {
                continue;
            }
            close(&population.total().unwrap(), &Moments::of(&numbers));
            for block_rows in [1, 20, 32, 64] {
                // Blocks in a random order, up to a look that is not the last.
                let mut order = BlockOrder::new(rows, block_rows, 8, 0).unwrap();
                order.begin(4);
                let wanted = rows.div_ceil(2).div_ceil(block_rows);
                let positions = order.first(wanted).to_vec().into_iter().flat_map(|block| {
                    let start = block as usize * block_rows;
                    start..(start + block_rows).min(rows)
                });
                let seen: Vec<f64> = positions.map(|row| numbers[row]).collect();
                let mut cursor = BlockReveal::new(&mut population, &mut order, 4);
                let moments = *cursor.extend_to(seen.len()).unwrap();
                close(&moments, &Moments::of(&seen));
            }
        }
    }
}

fn close(found: &Moments, exact: &Moments) {
    assert_eq!((found.count, found.nonzeros), (exact.count, exact.nonzeros));
    assert_eq!((found.minimum, found.maximum), (exact.minimum, exact.maximum));
    let n = exact.count as f64;
    let near = |a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-10 * n * scale, "{a} against {b}");
    let spread = exact.maximum.abs().max(exact.minimum.abs()).max(1e-30);
    near(found.mean, exact.mean, spread);
    near(found.m2, exact.m2, spread.powi(2));
    near(found.m3, exact.m3, spread.powi(3));
    near(found.m4, exact.m4, spread.powi(4));
}

#[test]
fn conditionals_equal_brute_force_for_every_arity_and_number_of_values() {
    let mut rng = stream(11, 0, Role::Data);
    for values in 2..=4 {
        for arity in 1..=4 {
            let given = Given::random(&[values; 6], &[arity], 90, &mut rng);
            agrees_with_brute_force(&given, &mut rng);
        }
    }
    // Mixed: arities, numbers of values, and binary variables with neighbours of either kind.
    agrees_with_brute_force(&Given::random(&[2; 7], &[1, 2, 3, 4], 150, &mut rng), &mut rng);
    agrees_with_brute_force(&Given::random(&[2, 3, 2, 4, 2, 2], &[1, 2, 3], 150, &mut rng), &mut rng);
    agrees_with_brute_force(&Given::random(&[2; 7], &[5], 60, &mut rng), &mut rng);
}

/// Around the limit of the bit layout the layouts change; the numbers must not.
#[test]
fn large_neighbourhoods_agree_too() {
    let mut rng = stream(12, 0, Role::Data);
    for variables in [127, 128, 129, 200] {
        let values = vec![2; variables];
        // A star: the hub has a pair or a triple with everyone, the others have few factors.
        let mut given = Given::random(&values, &[2], 5, &mut rng);
        for other in 1..variables {
            let next = 1 + other % (variables - 1);
            let pair = other % 2 == 0 || next == other;
            let list = if pair { vec![other, 0] } else { vec![0, other, next] };
            let logs = (0..1 << list.len()).map(|_| StandardNormal.sample(&mut rng)).collect();
            given.factors.push((list, logs));
        }
        let field = given.build();
        assert_eq!(
            field.degree(0),
            variables - 1 + given.factors[..5].iter().filter(|f| f.0.contains(&0)).count()
        );
        assert_eq!(matches!(field.sites[0].storage, Storage::Bits(_)), variables <= 128);
        let state = random_state(&values, &mut rng);
        let mut neighbourhood = Neighbourhood::default();
        let mut population = field.conditional(0, [1, 0], &state, &mut neighbourhood).unwrap();
        let direct: f64 =
            (0..given.factors.len()).map(|factor| given.difference(factor, &state, 0, [1, 0])).sum();
        assert!((population.total().unwrap().sum() - direct).abs() < 1e-4);
    }
}

#[test]
fn probabilities_and_densities_are_those_of_the_product() {
    let mut rng = stream(13, 0, Role::Data);
    let given = Given::random(&[2, 3, 2, 4], &[1, 2, 3, 4], 40, &mut rng);
    let field = given.build();
    let origin = given.log_density(&[0; 4]);
    for _ in 0..20 {
        let state = random_state(&given.values, &mut rng);
        let found = field.log_density(&state).unwrap();
        let exact = given.log_density(&state) - origin;
        assert!((found - exact).abs() < 1e-4, "{found} against {exact}");
        for variable in 0..4 {
            let weights: Vec<f64> = (0..given.values[variable])
                .map(|value| {
                    let mut other = state.clone();
                    other[variable] = value;
                    given.log_density(&other).exp()
                })
                .collect();
            let found = field.probabilities(variable, &state).unwrap();
            for (p, weight) in found.iter().zip(&weights) {
                assert!((p - weight / weights.iter().sum::<f64>()).abs() < 1e-5);
            }
        }
    }
}

/// Every level of instructions gives the same numbers; sums may differ in their last digits.
#[test]
fn every_level_agrees() {
    let field = generate::complete(40, 2, 3, 0.3, 5).unwrap();
    let state = random_state(&[2; 40], &mut stream(14, 0, Role::Data));
    let mut neighbourhood = Neighbourhood::default();
    let mut best = field.conditional(7, [0, 1], &state, &mut neighbourhood).unwrap().total().unwrap();
    assert_eq!(best.count, 39 * 38 / 2);
    for level in austerity_glm::simd::available() {
        let field = Field { level, ..field.clone() };
        let total = field.conditional(7, [0, 1], &state, &mut neighbourhood).unwrap().total().unwrap();
        close(&total, &best);
        best = total;
    }
}

/// The closed form gives the sum of the numbers, on every level, and only where it should.
#[test]
fn the_closed_form_is_the_sum() {
    let mut rng = stream(15, 0, Role::Data);
    for variables in [3, 17, 40, 128] {
        let values = vec![2; variables];
        let given = Given::random(&values, &[1, 2, 3], 12 * variables, &mut rng);
        let plain = given.build();
        let mut builder = Field::builder(&values).unwrap();
        for (list, logs) in &given.factors {
            builder.factor(list, logs).unwrap();
        }
        let closed = builder.closed_form(true).build(3).unwrap();
        assert!(closed.closed_form(0) && !plain.closed_form(0));
        let (mut memory, mut other) = (Neighbourhood::default(), Neighbourhood::default());
        for level in austerity_glm::simd::available() {
            let closed = Field { level, ..closed.clone() };
            let state = random_state(&values, &mut rng);
            for (variable, pair) in [(0, [1, 0]), (variables - 1, [0, 1]), (1, [1, 1])] {
                let exact = plain.conditional(variable, pair, &state, &mut memory).unwrap().total().unwrap();
                let found = closed.conditional(variable, pair, &state, &mut other).unwrap().total().unwrap();
                assert!((found.sum() - exact.sum()).abs() < 1e-4, "{} {}", found.sum(), exact.sum());
                assert!(found.m2.is_nan() || exact.count == 0);
            }
        }
    }
    let mut builder = Field::builder(&[2, 2, 2, 2, 3]).unwrap();
    builder.factor(&[0, 1, 2, 3], &[0.1; 16]).unwrap().factor(&[0, 4], &[0.1; 6]).unwrap();
    let field = builder.closed_form(true).build(1).unwrap();
    assert!((0..5).all(|variable| !field.closed_form(variable)));
}

#[test]
fn the_paper_s_example_has_its_sizes() {
    let field = generate::complete(100, 2, 3, 0.02, 1).unwrap();
    assert_eq!((field.len(), field.factors()), (100, 161_700));
    assert!((0..100).all(|variable| field.degree(variable) == 4851));
    assert!(field.data_bytes() < 100 * 4851 * 24);
    // Differences of two normals of sd .02: κ is near √4851·.02·√2 = 1.970.
    let mut neighbourhood = Neighbourhood::default();
    let total = field.conditional(0, [1, 0], &[0; 100], &mut neighbourhood).unwrap().total().unwrap();
    let kappa = austerity::theory::kappa((total.m2 / 4851.0).sqrt(), 4851).unwrap();
    assert!((kappa - 1.970).abs() < 0.1, "{kappa}");
}

#[test]
fn bad_fields_and_states_are_refused_by_name() {
    let words = |error: Error| error.to_string();
    assert_eq!(Field::builder(&[]).unwrap_err(), Error::EmptyData);
    assert!(words(Field::builder(&[2, 1]).unwrap_err()).contains("row 1: 1"));
    let mut builder = Field::builder(&[2, 3]).unwrap();
    builder.factor(&[0], &[0.0, 1.0]).unwrap();
    let mut refuse = |variables: &[usize], logs: &[f64]| words(builder.factor(variables, logs).unwrap_err());
    assert!(refuse(&[], &[0.0]).contains("row 1: 0"));
    assert!(refuse(&[0, 2], &[0.0; 6]).contains("row 1: 2"));
    assert!(refuse(&[1, 1], &[0.0; 9]).contains("each variable once"));
    assert!(refuse(&[0, 1], &[0.0; 5]).contains("factor 1: expected 6 values, found 5"));
    for log in [f64::NAN, f64::NEG_INFINITY, 1e7] {
        assert!(refuse(&[0], &[log, 0.0]).contains("log potential"));
    }
    let field = builder.build(1).unwrap();
    assert_eq!((field.factors(), field.degree(0)), (1, 0));
    let mut memory = Neighbourhood::default();
    let mut refuse = |variable: usize, pair: [u8; 2], state: &[u8]| {
        words(field.conditional(variable, pair, state, &mut memory).unwrap_err())
    };
    assert!(refuse(2, [0, 1], &[0, 0]).contains("variable"));
    assert!(refuse(0, [2, 1], &[0, 0]).contains("0 to 1 for variable 0"));
    assert!(refuse(1, [2, 1], &[0]).contains("expected 2 values, found 1"));
    assert!(refuse(1, [2, 1], &[0, 3]).contains("row 1: 3"));
    assert!(field.log_density(&[2, 0]).is_err() && field.probabilities(5, &[0, 0]).is_err());
    for (arity, sd) in [(0, 0.1), (4, 0.1), (2, f64::NAN), (2, -1.0)] {
        assert!(generate::complete(3, 2, arity, sd, 1).is_err());
    }
    assert!(generate::complete(60, 255, 50, 1.0, 1).is_err());
}
