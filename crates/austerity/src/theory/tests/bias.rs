//! Temperature and compensation, against a table computed apart from this library (a plain grid recursion and sums over quantiles, good to three digits).

use super::*;
use crate::rule::Law;
use crate::theory::{Moves, Scan, gibbs_bound, metropolis_bound};

type Row = (f64, f64, [f64; 3], [f64; 3], [f64; 2]);

/// D, ε; β, data, acceptance; λ, data, acceptance; mean defect before and after (N = 12,214, m = 512).
const TABLE: [Row; 8] = [
    (1.34, 0.01, [0.9519, 0.723, 0.5039], [1.0538, 0.726, 0.493], [0.0072, 0.0008]),
    (1.34, 0.05, [0.7849, 0.485, 0.5067], [1.4103, 0.494, 0.45], [0.035, 0.0076]),
    (1.34, 0.1, [0.6294, 0.321, 0.5082], [3.68, 0.327, 0.377], [0.066, 0.027]),
    (0.5, 0.05, [0.9139, 0.382, 0.7744], [1.1042, 0.395, 0.763], [0.008, 0.0003]),
    (0.5, 0.1, [0.8329, 0.258, 0.7472], [1.2533, 0.275, 0.719], [0.0157, 0.0003]),
    (0.5, 0.2, [0.6949, 0.128, 0.7008], [1.8547, 0.142, 0.622], [0.0291, 0.0]),
    (0.5, 0.3, [0.5922, 0.074, 0.6666], [5.518, 0.08, 0.515], [0.0392, 0.0006]),
    (2.38, 0.01, [0.8888, 0.699, 0.2525], [1.1571, 0.695, 0.224], [0.0117, 0.0056]),
];

#[test]
fn temperature_data_acceptance_and_defect() {
    for (energy, epsilon, plain, compensated, defects) in TABLE {
        let table = table(12_214, 512, epsilon);
        let moves = Moves::plain(energy);
        let bias = table.bias(Law::Metropolis, moves).unwrap();
        close(bias.inverse_temperature, plain[0], 3e-3);
        // Data and defects of the table are those of the target's own moves; a wider chain meets longer ones.
        close(bias.data_usage, plain[1], 0.03);
        close(bias.acceptance, plain[2], 3e-3);
        close(bias.mean_defect, defects[0], 0.25 * defects[0]);
        close(bias.sd_inflation, bias.inverse_temperature.powf(-0.5), 1e-12);
        assert!(bias.mean_delta <= table.worst_error());

        let lambda = table.compensation(moves).unwrap().unwrap();
        close(lambda, compensated[0], 0.01 * compensated[0].powi(2)); // flat in λ where λ is large
        let law = Law::Compensated { lambda };
        let bias = table.bias(law, moves).unwrap();
        close(bias.inverse_temperature, 1.0, 1e-6);
        close(bias.data_usage, compensated[1], 3e-3);
        close(bias.acceptance, compensated[2], 4e-3);
        close(bias.mean_defect, defects[1], if defects[1] > 0.01 { 1e-3 } else { 4e-4 });
        assert!(bias.mean_delta > bias.mean_defect, "under compensation |Δ| is not the measure");
    }
}

#[test]
fn compensation_has_limits() {
    // Too much noise: none exists.
    for epsilon in [0.2, 0.3] {
        assert_eq!(table(12_214, 512, epsilon).compensation(Moves::plain(1.34)).unwrap(), None);
    }
    // ε → 0, κ → 0 and exact tests: λ → 1.
    let mut before = f64::INFINITY;
    for epsilon in [0.01, 1e-3, 1e-5] {
        let lambda = table(12_214, 512, epsilon).compensation(Moves::plain(1.34)).unwrap().unwrap();
        assert!(lambda >= 1.0 && lambda < before, "{lambda}");
        before = lambda;
    }
    close(before, 1.0, 1e-3);
    let test = table(12_214, 512, 0.1);
    let mut before = f64::INFINITY;
    for kappa in [0.5, 0.05, 0.005] {
        let lambda = test.compensation(Moves { energy_root: 1.34, kappa }).unwrap().unwrap();
        assert!(lambda >= 1.0 && lambda < before, "{lambda}");
        before = lambda;
    }
    close(before, 1.0, 1e-3);
    for certain in [table(12_214, 512, 0.0), table(100, 100, 0.1)] {
        assert_eq!(certain.compensation(Moves::plain(2.0)).unwrap(), Some(1.0));
    }
    assert_eq!(test.compensation(Moves { energy_root: 1.0, kappa: 0.0 }).unwrap(), Some(1.0));
}

#[test]
fn exact_rules_have_no_defect() {
    let test = table(1000, 1000, 0.1);
    for law in [Law::Metropolis, Law::Logistic] {
        for ratio in [-3.0, -0.2, 0.0, 1.0, 30.0] {
            close(test.defect(law, ratio, 1.0).unwrap(), 0.0, 1e-12);
        }
    }
    let noisy = table(1000, 100, 0.1);
    // Odd in Λ by construction.
    for ratio in [0.3, 1.0, 4.0] {
        let there = noisy.defect(Law::Metropolis, ratio, 1.0).unwrap();
        close(there, -noisy.defect(Law::Metropolis, -ratio, 1.0).unwrap(), 1e-12);
        assert!(there < 0.0, "a test makes uphill moves too rare");
    }
}

#[test]
fn bounds_of_the_stationary_distribution() {
    close(metropolis_bound(0.01, 0.9).unwrap(), 0.1, 1e-12);
    assert_eq!(metropolis_bound(0.5, 0.99).unwrap(), 1.0);
    close(gibbs_bound(0.001, 0.9, Scan::Random).unwrap(), 0.01, 1e-12);
    close(gibbs_bound(0.001, 0.5, Scan::Systematic { sites: 100 }).unwrap(), 0.2, 1e-12);
    for bad in [metropolis_bound(-0.1, 0.5), metropolis_bound(f64::NAN, 0.5), metropolis_bound(0.1, 1.0)] {
        assert!(bad.is_err());
    }
    assert!(gibbs_bound(0.1, 0.5, Scan::Systematic { sites: 0 }).is_err());
    assert!(gibbs_bound(0.1, -0.5, Scan::Random).is_err());
}

#[test]
fn bad_moves_are_refused() {
    let test = table(1000, 100, 0.1);
    for energy_root in [0.0, -1.0, 1e-300, 1e-7, 1e4, f64::NAN, f64::INFINITY] {
        assert!(test.bias(Law::Metropolis, Moves::plain(energy_root)).is_err());
    }
    for kappa in [-1.0, 1e7, 1e300, f64::NAN] {
        assert!(test.bias(Law::Metropolis, Moves { energy_root: 1.0, kappa }).is_err());
    }
    for (energy_root, kappa) in [(1e-6, 0.0), (1e-6, 1e6), (1.0, 1e6), (1e3, 1.0)] {
        let moves = Moves { energy_root, kappa };
        let bias = test.bias(Law::Metropolis, moves).unwrap();
        assert!(bias.inverse_temperature.is_finite() && bias.mean_defect.is_finite(), "{moves:?}: {bias:?}");
        test.compensation(moves).unwrap();
    }
    assert!(test.bias(Law::Compensated { lambda: 0.0 }, Moves::plain(1.0)).is_err());
}
/// λ → ∞ puts the threshold at 0: the steep density must not slip between the nodes.
#[test]
fn a_steep_law_decides_at_zero() {
    let test = table(12_214, 512, 0.1);
    for lambda in [64.0, 1e4, 1e7] {
        for (ratio, kappa) in [(-5.0, 1.34), (-0.4, 0.1), (0.7, 3.0), (9.0, 20.0)] {
            let error = test.outcome(ratio / kappa).error;
            let expected = if ratio > 0.0 { 1.0 - error } else { error };
            let found = test.acceptance(Law::Compensated { lambda }, ratio, kappa).unwrap();
            close(found, expected, 1e-5 + 1.0 / (lambda * kappa));
        }
    }
}
