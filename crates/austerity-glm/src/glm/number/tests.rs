//! Derivatives against differences of high order, intervals against the numbers inside.

use super::function::{Exp, Ln, Ln1p, LnGamma, LnNormal, Softplus};
use super::special::{Lag, LnComplement, Stirling};
use super::*;

/// Points in the range of each function, and the function.
fn all(
    mut check: impl FnMut(
        &str,
        &dyn Fn(f64, usize) -> [f64; ORDERS],
        &[f64],
        &dyn Fn(Interval) -> [Interval; ORDERS],
    ),
) {
    fn of<F: Function>(
        f: &F,
    ) -> (impl Fn(f64, usize) -> [f64; ORDERS], impl Fn(Interval) -> [Interval; ORDERS]) {
        (|x, order| f.derivatives(x, order), |x: Interval| x.derivatives(f, 4))
    }
    let wide = [-30.0, -12.0, -6.0, -5.001, -4.999, -2.0, -0.7, -1e-3, 0.0, 0.4, 1.3, 3.0, 7.0, 20.0];
    let positive = [1e-3, 0.2, 0.9, 1.0, 1.5, 4.0, 11.9, 12.1, 40.0, 1e4];
    macro_rules! check {
        ($name:literal, $function:expr, $points:expr) => {{
            let (derivatives, enclosures) = of(&$function);
            check($name, &derivatives, &$points, &enclosures);
        }};
    }
    check!("exp", Exp, wide);
    check!("log", Ln, positive);
    check!("log1p", Ln1p, positive);
    check!("softplus", Softplus, wide);
    check!("log gamma", LnGamma, positive);
    check!("log normal", LnNormal, wide);
    check!("log complement", LnComplement, [-30.0, -6.0, -2.0, -1.21, -1.19, -0.7, 0.0, 0.5, 1.3, 2.0, 2.5]);
    check!("stirling", Stirling, [-30.0, -6.0, -2.0, -0.4, 0.3, 1.7, 3.39, 3.41, 7.0, 20.0]);
    check!("lag", Lag, [-30.0, -6.0, -2.0, -1e-3, 0.0, 0.4, 1.3, 3.0]);
}

#[test]
fn each_derivative_is_the_slope_of_the_one_before() {
    all(|name, derivatives, points, _| {
        for &x in points {
            // Five-point differences: an error of h⁴ times the derivative four orders on.
            let h = 1e-3 * x.abs().clamp(1e-3, 1.0);
            for k in 0..4 {
                let at = |x: f64| derivatives(x, 4)[k];
                let slope =
                    (8.0 * (at(x + h) - at(x - h)) - (at(x + 2.0 * h) - at(x - 2.0 * h))) / (12.0 * h);
                let found = derivatives(x, 4)[k + 1];
                let allowed = 1e-7 * found.abs() + 1e-12 * (1.0 + at(x).abs()) / h;
                assert!((slope - found).abs() <= allowed, "{name} {x}, order {}: {found} {slope}", k + 1);
            }
            for order in 0..4 {
                assert_eq!(derivatives(x, order)[..=order], derivatives(x, 4)[..=order], "{name} {x}");
            }
        }
    });
}

/// Values from 40 digits (mpmath: log ncdf, loggamma and their derivatives).
#[test]
fn values_of_high_precision() {
    let close = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
    let far = LnNormal.derivatives(-20.0, 4);
    close(far[0], -203.917_155_371_097_26);
    close(far[1], 20.049_753_068_527_85);
    close(far[2], -0.997_536_738_384_947_8);
    close(far[3], 0.000_242_726_578_935_842_02);
    close(far[4], 0.000_035_703_551_588_456_59);
    let near = LnNormal.derivatives(-1.0, 4);
    close(near[0], -1.841_021_645_009_263_9);
    close(near[1], 1.525_135_276_160_981);
    let gamma = LnGamma.derivatives(2.5, 4);
    close(gamma[0], 0.284_682_870_472_919_2);
    close(gamma[1], 0.703_156_640_645_243_2);
    close(gamma[2], 0.490_357_756_100_234_9);
    close(gamma[3], -0.236_204_051_641_727_4);
    close(gamma[4], 0.223_905_848_817_252_05);
}

/// Every derivative at points of an interval is inside its enclosure; and enclosures shrink with their interval, so they are not merely wide.
#[test]
fn enclosures_hold_and_are_tight() {
    all(|name, derivatives, points, enclosures| {
        for &x in points {
            for radius in [1e-6, 1e-2, 0.3] {
                let radius = radius * if x > 0.0 { x.min(1.0) } else { 1.0 };
                let found = enclosures(Interval::around(x, radius));
                for i in -8..=8 {
                    let inside = derivatives(x + radius * f64::from(i) / 8.0, 4);
                    for k in 0..ORDERS {
                        assert!(
                            found[k].holds(inside[k]),
                            "{name} {x}±{radius}, order {k}: {} {:?}",
                            inside[k],
                            found[k]
                        );
                    }
                }
                if radius <= 1e-2 {
                    let exact = derivatives(x, 4);
                    let scale =
                        exact.iter().fold(0.0f64, |a, b| a.max(b.abs())) / x.abs().clamp(1e-3, 1.0).powi(4);
                    let width = found[3].high - found[3].low;
                    assert!(
                        width <= 30.0 * (radius + 1e-9) * scale.max(1.0),
                        "{name} {x}±{radius}: {:?}",
                        found[3]
                    );
                }
            }
        }
    });
    // An interval is not a point: one that claims to be loses its points.
    let claimed = enclosures_of_point(1.0);
    assert!(!claimed.holds(1.1f64.exp()));
}

fn enclosures_of_point(x: f64) -> Interval {
    Interval::around(x, 0.0).exp()
}

#[test]
fn intervals_hold_what_is_computed_inside() {
    let (a, b) = (Interval { low: -1.5, high: 2.0 }, Interval { low: 0.25, high: 0.75 });
    for i in 0..=8 {
        for k in 0..=8 {
            let (x, y) = (-1.5 + 3.5 * f64::from(i) / 8.0, 0.25 + 0.5 * f64::from(k) / 8.0);
            assert!((a + b).holds(x + y) && (a - b).holds(x - y) && (a * b).holds(x * y));
            assert!((-a).holds(-x) && (a * -3.0).holds(-3.0 * x) && (a - 0.1).holds(x - 0.1));
        }
    }
    let infinite = Interval { low: 0.0, high: f64::INFINITY };
    assert!((infinite * Interval::constant(0.0)).holds(5.0));
    assert_eq!(Interval { low: f64::NAN, high: 1.0 }.largest(), f64::INFINITY);
}

/// x·y²·e^{x−y} with all its derivatives in two variables up to the fourth order.
#[test]
fn jets_in_two_variables() {
    type Two = Jet<f64, 2, 15>;
    assert_eq!(Two::POWERS[..6], [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]);
    assert_eq!(
        Jet::<f64, 3, 20>::POWERS[4..10],
        [[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 2]]
    );
    assert_eq!((Two::ORDER, Two::STARTS), (4, [0, 1, 3, 6, 10, 15]));
    let (x, y) = (0.7, -0.4);
    let (jx, jy) = (Two::variable(x, 0, 1.0), Two::variable(y, 1, 1.0));
    let found = jx * jy.square() * (jx - jy).exp();
    // x e^x has the n-th derivative (x + n)e^x; y²e^{−y} has (−1)ⁿ(y² − 2ny + n(n − 1))e^{−y}.
    let factorial = [1.0, 1.0, 2.0, 6.0, 24.0];
    for (powers, c) in Two::POWERS.iter().zip(found.coefficients) {
        let (a, b) = (f64::from(powers[0]), f64::from(powers[1]));
        let first = (x + a) * x.exp();
        let second =
            (y * y - 2.0 * b * y + b * (b - 1.0)) * (-y).exp() * if powers[1] % 2 == 0 { 1.0 } else { -1.0 };
        let exact = first * second / (factorial[powers[0] as usize] * factorial[powers[1] as usize]);
        assert!((c - exact).abs() < 1e-13, "{powers:?}: {c} {exact}");
    }
}

/// A jet of intervals holds the jets of the numbers inside.
#[test]
fn jets_of_intervals_hold_jets_of_numbers() {
    let (x, y, radius) = (0.7, 1.3, 0.05);
    let of = |x: f64, y: f64| {
        let (x, y) = (Jet::<f64, 2, 15>::variable(x, 0, 1.0), Jet::<f64, 2, 15>::variable(y, 1, 0.5));
        ((x * y).softplus() - y.ln() * x.exp()).coefficients
    };
    let (bx, by) = (
        Jet::<Interval, 2, 15>::variable(Interval::around(x, radius), 0, 1.0),
        Jet::<Interval, 2, 15>::variable(Interval::around(y, radius), 1, 0.5),
    );
    let bounds = ((bx * by).softplus() - by.ln() * bx.exp()).coefficients;
    for i in -4..=4 {
        for k in -4..=4 {
            let inside = of(x + radius * f64::from(i) / 4.0, y + radius * f64::from(k) / 4.0);
            for (bound, value) in bounds.iter().zip(inside) {
                assert!(bound.holds(value), "{bound:?} {value}");
            }
        }
    }
    // Power: over the centre alone, the corners are outside.
    assert!(!bounds.iter().zip(of(x + 4.0 * radius, y)).all(|(bound, value)| bound.holds(value)));
}
