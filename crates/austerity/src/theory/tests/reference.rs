//! Reference values of the project: fine-grid recursion confirmed by a million simulated paths.

use super::*;
use crate::rule::Law;
use crate::theory::{paper_grid, walk::Outcome};

#[test]
fn error_and_data_use() {
    for (mu_std, rows, step, epsilon, error, usage) in [
        (0.0, 1000, 100, 0.05, 0.214_577_71, 0.749_403_16),
        (0.0, 1000, 50, 0.05, 0.281_992_20, 0.652_486_13),
        (0.0, 1000, 500, 0.05, 0.05, 0.95),
        (0.0, 12_214, 500, 0.01, 0.096_158_25, 0.897_588_15),
        (0.5, 1000, 100, 0.05, 0.089_404_77, 0.690_050_93),
        (1.0, 1000, 100, 0.05, 0.045_659_11, 0.572_039_21),
        (-1.0, 1000, 100, 0.05, 0.045_659_11, 0.572_039_21),
        (1.0, 1000, 20, 0.05, 0.121_746_30, 0.396_551_44),
        (1.0, 12_214, 500, 0.01, 0.016_333_50, 0.709_935_16),
    ] {
        let walk = walk(rows, step, epsilon);
        let found = walk.outcome(mu_std);
        close(found.error, error, 1e-8);
        close(found.data_usage, usage, 1e-8);
        assert!(walk.error_estimate() < 1e-9, "{}", walk.error_estimate());
        let tabulated = ErrorTable::new(&walk, Accuracy::Exact).outcome(mu_std);
        close(tabulated.error, error, 1e-6);
        close(tabulated.data_usage, usage, 2e-6);
    }
}

#[test]
fn closed_forms() {
    close(walk(1000, 500, 0.05).outcome(1.3).error, 0.001_615_54, 5e-9);
    // Looks at thirds: bivariate normal.
    let thirds = walk(999, 333, 0.05).worst_case();
    close(thirds.error, 0.087_750_760_5, 1e-10);
    close(thirds.data_usage, 0.908_166_159_7, 1e-10);
    // ε = ½ decides at the first look; ε = 0 and a first look at N never err.
    let coin = walk(1000, 100, 0.5);
    assert_eq!(coin.worst_case(), Outcome { error: 0.5, data_usage: 0.1 });
    assert_eq!(coin.plan().looks(), 2);
    for exact in [walk(1000, 100, 0.0), walk(1000, 1000, 0.05), walk(1000, 5000, 0.05), walk(2, 2, 0.1)] {
        assert_eq!(exact.worst_case(), Outcome { error: 0.0, data_usage: 1.0 });
        let table = ErrorTable::new(&exact, Accuracy::Fast);
        assert_eq!(table.outcome(1.0), Outcome { error: 0.0, data_usage: 1.0 });
        assert_eq!(table.step(Law::Metropolis, -1.0, 2.0).unwrap().delta, 0.0);
    }
}

#[test]
fn wang_tsiatis() {
    let found = |alpha, mu_std| {
        let plan = general(1000, Looks::constant(100), Bound::wang_tsiatis(2.0, alpha));
        TestWalk::new(plan, Accuracy::Exact).outcome(mu_std)
    };
    close(found(0.5, 0.0).error, 0.114_643_74, 1e-8);
    close(found(0.5, 0.0).data_usage, 0.872_269_92, 1e-8);
    close(found(0.75, 1.0).error, 0.001_433_05, 1e-8);
    close(found(0.75, 1.0).data_usage, 0.795_126_70, 1e-8);
}

#[test]
fn number_of_looks() {
    // Linear and doubling looks at m = 500: E_worst and π̄, three printed digits.
    for (epsilon, rows, growth, looks, error, usage) in [
        (0.01, 10_000, 1.0, 20, 0.0838, 0.907),
        (0.01, 10_000, 2.0, 6, 0.0407, 0.944),
        (0.01, 1_000_000, 1.0, 2000, 0.2550, 0.690),
        (0.01, 1_000_000, 2.0, 12, 0.0764, 0.861),
        (0.05, 1_950_000, 1.0, 3900, 0.4824, 0.189),
        (0.05, 1_950_000, 2.0, 13, 0.2866, 0.464),
        (0.1, 1_950_000, 1.0, 3900, 0.4995, 0.039),
        (0.1, 1_950_000, 2.0, 13, 0.4153, 0.205),
    ] {
        let plan = general(rows, Looks::Growing { first: 500, growth }, Bound::pocock(epsilon));
        assert_eq!(plan.looks(), looks);
        let worst = TestWalk::new(plan, Accuracy::Fast).worst_case();
        close(worst.error, error, 1.5e-4);
        close(worst.data_usage, usage, 6e-4);
    }
}

#[test]
fn error_of_one_step() {
    for (mean, sd, rows, epsilon, acceptance, delta, error, usage) in [
        (-1e-4, 0.02, 10_000, 0.05, 0.367_879, 0.054_059_9, 0.170_877_3, 0.609_965),
        (2e-4, 0.02, 10_000, 0.05, 1.0, -0.051_907_8, 0.051_907_8, 0.406_091),
        (-5e-5, 0.01, 10_000, 0.1, 0.606_531, -0.003_581_2, 0.240_930_5, 0.375_394),
        (-5.7e-5, 0.01, 12_214, 0.01, 0.498_477, 0.006_373_8, 0.038_436_5, 0.799_208),
    ] {
        let table = table(rows, 500, epsilon);
        let step = table.step_of_moments(Law::Metropolis, rows, (mean, sd), 0.0).unwrap();
        close(step.acceptance, acceptance, 1e-6);
        close(step.delta, delta, 1e-6);
        close(step.mean_error, error, 1e-6);
        close(step.data_usage, usage, 1e-6);
        // The prior ratio and the proposal ratio move the threshold: only the total counts.
        let total = rows as f64 * mean;
        let moved =
            table.step_of_moments(Law::Metropolis, rows, (mean - 0.3 / rows as f64, sd), 0.3).unwrap();
        close(moved.delta, step.delta, 1e-12);
        // λ = 1 compensates nothing.
        let kappa = crate::theory::kappa(sd, rows).unwrap();
        let one = table.step(Law::Compensated { lambda: 1.0 }, total, kappa).unwrap();
        assert_eq!(one, step);
    }
}

#[test]
fn gibbs_maxima() {
    // 4851 potentials of sd 0.02 at both values: κ = 1.970. Largest |Δ| and, at ε = .05, where.
    let kappa = crate::theory::kappa(0.02 * 2f64.sqrt(), 4851).unwrap();
    close(kappa, 1.970, 5e-4);
    for (epsilon, largest) in [(0.01, 0.0058), (0.05, 0.0322), (0.1, 0.0671), (0.25, 0.1639)] {
        let (ratio, step) = table(4851, 500, epsilon).largest_delta(Law::Logistic, kappa).unwrap();
        close(step.delta.abs(), largest, 1e-4);
        assert!(step.delta * (step.acceptance - 0.5) < 0.0, "large probabilities are underestimated");
        if epsilon == 0.05 {
            close(1.0 / (1.0 + (-ratio.abs()).exp()), 0.88, 0.01);
        }
    }
}

#[test]
fn the_papers_grid_converges_to_the_same() {
    let plan = plan(12_214, 500, 0.01);
    let walk = TestWalk::new(plan.clone(), Accuracy::Exact);
    for mu_std in [0.0, 0.7, 2.0] {
        let exact = walk.outcome(mu_std);
        let error = |cells| {
            let found = paper_grid(&plan, mu_std, cells).unwrap();
            (found.error - exact.error).abs().max((found.data_usage - exact.data_usage).abs())
        };
        assert!(error(256) < 2e-4 && error(512) < 0.35 * error(256), "{} {}", error(256), error(512));
    }
}
