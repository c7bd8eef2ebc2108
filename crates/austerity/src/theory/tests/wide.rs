//! Bounds far wider than the walk, and numbers at the edges.

use super::*;

/// E(0) and π̄ against a fine-grid recursion on the range the walk can reach.
#[test]
fn wide_bounds_against_a_fine_grid() {
    let growing = |growth| Looks::Growing { first: 64, growth };
    for (rows, looks, critical, alpha, drift, error, usage) in [
        (1_000_000_000, growing(1.5), 2.0, 1.0, 0.0, Some(0.0101), None),
        (1_000_000_000, growing(1.5), 2.0, 1.0, 1.0, None, Some(0.932)),
        (100_000_000, growing(1.5), 2.326, 1.0, 0.0, Some(0.009_57), None),
        (100_000_000, growing(1.5), 2.326, 1.0, 1.0, None, Some(0.923)),
        (1000, Looks::constant(100), 2.0, 5.0, 0.0, None, Some(0.999_87)),
        (1000, Looks::constant(100), 2.0, 10.0, 0.0, Some(0.0), Some(1.0)),
        (1000, Looks::constant(100), 1e200, 0.5, 0.0, Some(0.0), Some(1.0)),
    ] {
        let plan = general(rows, looks, Bound::wang_tsiatis(critical, alpha));
        for accuracy in [Accuracy::Exact, Accuracy::Fast] {
            let walk = TestWalk::new(plan.clone(), accuracy);
            let found = walk.outcome(drift);
            println!("{rows} {critical:e} {alpha} at {drift}: {found:?}, {:.1e}", walk.error_estimate());
            error.iter().for_each(|&error| close(found.error, error, 2e-3));
            usage.iter().for_each(|&usage| close(found.data_usage, usage, 2e-3));
            assert!(walk.error_estimate() < 1e-6, "{}", walk.error_estimate());
        }
    }
}

#[test]
fn unreachable_bounds_never_decide() {
    let plan = general(1000, Looks::constant(100), Bound::wang_tsiatis(1e200, 0.5));
    let walk = TestWalk::new(plan, Accuracy::Exact);
    for drift in [0.0, 1.0, 1e9, 1e150] {
        assert_eq!(walk.outcome(drift), crate::theory::Outcome { error: 0.0, data_usage: 1.0 });
    }
    let table = ErrorTable::new(&walk, Accuracy::Fast);
    close(table.outcome(1.0).data_usage, 1.0, 1e-9);
    assert_eq!(table.worst_error(), 0.0);
}

/// Whatever the widths, bounds that shrink and grow, near and far drifts: against the paper's grid, and by
/// what one look alone does.
#[test]
fn wide_bounds_at_far_drifts() {
    // Bounds of 30: at μ√t = 30 half of the walks cross.
    let times = [0.5, 1.0, 1.2, 4.0];
    for bounds in [[30.0; 4], [40.0, 30.0, 20.0, 12.0], [9.0, 15.0, 30.0, 60.0], [12.0, 3.0, 14.0, 2.5]] {
        let plan = TestPlan::from_information(&times, &bounds).unwrap();
        let walk = TestWalk::new(plan.clone(), Accuracy::Exact);
        assert!(walk.error_estimate() < 1e-9, "{}", walk.error_estimate());
        for drift in [0.0, 1.0, 3.0, 8.0, 12.0, 20.0, 30.0, 42.0] {
            let expected = crate::theory::paper_grid(&plan, drift, 1500).unwrap();
            let found = walk.outcome(drift);
            close(found.error, expected.error, 1e-4);
            close(found.data_usage, expected.data_usage, 1e-4);
        }
    }
}

/// Hundreds of looks between wide bounds: the layer stays thin, and time is bounded.
#[test]
fn many_looks_between_wide_bounds() {
    for (critical, alpha) in [(20.0, 0.5), (300.0, 0.5), (50.0, 0.0), (3.0, 1.0)] {
        let plan = general(100_000, Looks::constant(200), Bound::wang_tsiatis(critical, alpha));
        let walk = TestWalk::new(plan, Accuracy::Exact);
        assert!(walk.error_estimate() < 1e-8, "{critical} {alpha}: {}", walk.error_estimate());
        let mut before = walk.worst_case();
        for drift in [1.0, 10.0, 100.0, 300.0, 1000.0, 3000.0, 1e4] {
            let now = walk.outcome(drift);
            assert!(now.data_usage <= before.data_usage + 1e-9 && now.error <= before.error + 1e-12);
            before = now;
        }
        close(before.data_usage, 0.002, 1e-9);
    }
}

/// More looks than anybody can sweep are refused at once, before any table is built.
#[test]
fn too_many_looks_are_refused() {
    for (first, growth, rows) in
        [(1, 1.0, 1_000_000_000_000), (1, 1.0, 1_000_001), (64, 1.0 + 1e-12, usize::MAX)]
    {
        let looks = Looks::Growing { first, growth };
        let error =
            TestPlan::of_settings(&SequentialSettings { looks, ..settings(1, 0.1) }, rows).unwrap_err();
        assert!(matches!(error, crate::Error::Setting { .. }), "{error}");
        assert!(error.to_string().contains("larger first look or growth above 1"), "{error}");
    }
    assert!(TestPlan::of_settings(&settings(1, 0.1), 1_000_000).is_ok());
    let error = TestPlan::of_settings(&settings(64, 0.1), 10_000_000_000).unwrap_err();
    assert!(error.to_string().contains("15625000"), "{error}"); // 10¹⁰/64 = 156,250,000
}
