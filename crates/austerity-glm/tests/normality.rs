//! Whether the means of batches of logistic differences are normal enough for the test, and an outlier by name.

use austerity::model::{Access, Model as _};
use austerity_glm::check::normality::examine;
use austerity_glm::check::{NormalitySettings, check_normality};
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind, generate};

const ROWS: usize = 20_000;

/// Log-likelihood differences of a logistic regression, several moves; a gross outlier in one feature is found and named.
#[test]
fn logistic_differences_pass_and_an_outlier_is_named() {
    let made = generate::logistic(ROWS, 5).seed(4).build().unwrap();
    let settings = NormalitySettings::default();
    let look = |data: Data| {
        let checked = data.shuffle(3).check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &checked, vec![Prior::normal(10.0); 6]).unwrap();
        let mut pairs = Vec::new();
        for k in 0..4 {
            let to: Vec<f64> = made
                .coefficients
                .iter()
                .enumerate()
                .map(|(j, c)| c + 0.01 * f64::from(k + j as i32).sin())
                .collect();
            let mut scratch = model.scratch(Access::Blocks);
            pairs.push(
                examine(&mut model.compare(&made.coefficients, &to, &mut scratch), &settings, k as usize)
                    .unwrap(),
            );
        }
        let seen = check_normality(&pairs, &settings, ROWS).unwrap();
        let named = seen.offenders.first().map(|offender| model.original_row(offender.position));
        (seen, named)
    };
    let (seen, _) = look(made.data.clone());
    assert!(seen.sound, "{seen:?}");
    let mut columns = made.data.columns().to_vec();
    // Far on the wrong side: an outlier that is classified well would not matter.
    let side = if made.data.response()[777] > 0.5 { -1.0 } else { 1.0 };
    columns[2][777] = side * 3000.0 * made.coefficients[3].signum();
    let names: Vec<String> = made.data.column_names().to_vec();
    let (seen, named) = look(Data::new(names, columns, made.data.response().to_vec()));
    assert!(!seen.sound, "{seen:?}");
    assert_eq!(named, Some(777));
}
