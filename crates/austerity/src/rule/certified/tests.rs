//! Certified decisions against exact ones on populations whose certificates are made by hand.

use std::ops::Range;

use super::*;
use crate::population::{BlockOrder, BlockReveal, Certificate, Numbers, Population};
use crate::rule::{Exact, RuleSettings};
use proptest::prelude::*;

/// Numbers with certificates: the total, off by `error` and claimed to within `bounds`, read a row at a time from stage 2 on.
struct Known {
    numbers: Numbers,
    error: f64,
    bounds: Vec<f64>,
}

impl Population for Known {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.numbers.reveal(rows, out)
    }

    fn certify(&mut self, stage: u32, _needed: f64) -> Result<Option<Certificate>> {
        let Some(&bound) = self.bounds.get(stage as usize) else { return Ok(None) };
        let estimate = self.numbers.total()?.sum() + self.error * bound;
        Ok(Some(Certificate { estimate, bound, rows: u64::from(stage > 1) }))
    }
}

fn decide<P: Population>(
    rule: &mut impl for<'r> DecideAt<dyn Reveal + 'r>,
    population: &mut P,
    threshold: f64,
) -> Decision {
    let mut order = BlockOrder::new(population.len(), 32, 1, 0).unwrap();
    let mut cursor = BlockReveal::new(population, &mut order, 0);
    rule.decide_at(&mut cursor as &mut dyn Reveal, 0.3, threshold).unwrap()
}

proptest! {
    /// Whatever the certificates say, as long as they are true, decisions are exact; thresholds as close as rounding allows.
    #[test]
    fn true_certificates_decide_as_all_rows_do(
        numbers in prop::collection::vec(-1.0f64..1.0, 1..80),
        error in -1.0f64..1.0,
        bounds in prop::collection::vec(prop_oneof![1e-15f64..1e-9, 0.01f64..2.0, Just(f64::NAN)], 0..5),
        distance in prop_oneof![Just(0.0), -1e-12f64..1e-12, -0.1f64..0.1, -3.0f64..3.0],
    ) {
        let mut numbers = Numbers(numbers);
        let threshold = numbers.total().unwrap().sum() + 0.3 + distance;
        let exact = decide(&mut Exact::default(), &mut numbers, threshold);
        let stages = bounds.len() as u32;
        // An error just inside the bound, rounding considered.
        let mut known = Known { numbers, error: error * (1.0 - 1e-6), bounds };
        known.bounds.iter_mut().for_each(|b| *b += 1e-12);
        let certified = decide(&mut Certified::default(), &mut known, threshold);
        prop_assert_eq!(certified.accepted, exact.accepted);
        if certified.stopped == Stopped::Certified {
            prop_assert!(certified.looks <= stages);
            prop_assert_eq!(certified.used, u64::from(certified.looks.saturating_sub(2)));
            prop_assert_eq!(stage(&certified), (certified.looks as usize - 1).min(2));
        } else {
            prop_assert_eq!(certified.looks, stages + 1);
            prop_assert_eq!(certified.mean, exact.mean);
        }
    }
}

/// Power: a certificate that claims half of its error decides otherwise than all rows.
#[test]
fn a_false_certificate_is_believed() {
    let mut known = Known { numbers: Numbers(vec![0.1; 40]), error: 2.0, bounds: vec![0.5] };
    let threshold = 4.0 + 0.3 + 0.3;
    assert!(!decide(&mut Exact::default(), &mut known, threshold).accepted);
    let wrong = decide(&mut Certified::default(), &mut known, threshold);
    assert!(wrong.accepted && wrong.stopped == Stopped::Certified && wrong.used == 0);
}

#[test]
fn without_a_certificate_it_is_the_exact_rule() {
    let mut numbers = Numbers((0..500).map(|i| f64::from(i).sin()).collect());
    for threshold in [-3.0, 0.0, 1.5, f64::NEG_INFINITY] {
        let exact = decide(&mut Exact::default(), &mut numbers, threshold);
        assert_eq!(decide(&mut Certified::default(), &mut numbers, threshold), exact);
    }
    let given = RuleSettings::Certified { law: Law::Metropolis };
    let text = serde_json::to_string(&given).unwrap();
    assert_eq!(serde_json::from_str::<RuleSettings>(&text).unwrap(), given);
    assert!(RuleSettings::Certified { law: Law::Compensated { lambda: -1.0 } }.build(10).is_err());
}
