//! The t statistic of resampled rows (supplement A, the figure of three histograms): t = (l̄ − μ)/s, s = s_l/√n·√(1 − (n−1)/(N−1)).
//!
//! Rows are drawn without replacement by a partial shuffle of the numbers themselves; one shuffle serves the three sizes. Measured:
//! the largest difference between the empirical distribution function and those of N(0,1) and of Student's t, and the share beyond the
//! bound of a look, which is what the test lives by.

use austerity::rng::{Role, stream};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};
use rand::RngExt as _;
use statrs::distribution::{Continuous as _, ContinuousCDF as _, Normal, StudentsT};

use super::pairs::{Moves, Pair};
use super::{EPSILONS, Part, Scale, claims};
use crate::claim::{Claim, Estimate, LEVEL};
use crate::{Check, Context, Result, Section, Table, parallel};

/// Φ⁻¹(0.995): turns half the width of a 99 % interval into a standard error.
const NORMAL_99: f64 = 2.575_829_3;
/// The sizes of the paper.
const SIZES: [usize; 3] = [500, 5_000, 10_000];
/// Histograms: from −4 to 4.
const BINS: usize = 40;
const EDGE: f64 = 4.0;

/// Sorted statistics of one move at one size, and what is said of them.
pub(super) struct Sample {
    n: usize,
    sorted: Vec<f64>,
    normal_distance: f64,
    student_distance: f64,
    /// Share beyond the two-sided bound of each level.
    beyond: Vec<f64>,
}

pub(super) fn run(context: &Context, scale: &Scale, moves: &Moves) -> Result<Part> {
    let pairs = &moves.kept()[..scale.statistic_pairs.min(moves.kept().len())];
    let sizes: Vec<usize> = SIZES.into_iter().filter(|&n| n < moves.rows).collect();
    let samples = parallel::each(context.threads, pairs, |number, pair| {
        let statistics = resample(pair, &sizes, scale.resamples, context.seed, number as u32);
        statistics.into_iter().zip(&sizes).map(|(values, &n)| judge(values, n)).collect::<Result<Vec<_>>>()
    })?;
    let mut table = Table::new(
        "statistic",
        &[
            "move",
            "n",
            "skewness_of_l",
            "kurtosis_of_l",
            "distance_normal",
            "distance_student",
            "beyond_0.01",
            "beyond_0.05",
        ],
    );
    for (number, (pair, of_pair)) in pairs.iter().zip(&samples).enumerate() {
        for (sample, &n) in of_pair.iter().zip(&sizes) {
            let mut row = vec![number as f64, n as f64, pair.skewness, pair.kurtosis];
            row.extend([sample.normal_distance, sample.student_distance]);
            row.extend(&sample.beyond);
            table.push(row.into_iter().map(Into::into).collect());
        }
    }
    let panels =
        sizes.iter().zip(&samples[0]).map(|(&n, sample)| panel(n, sample)).collect::<Result<Vec<_>>>()?;
    let section = Section {
        title: "The t statistic is nearly normal".into(),
        figure: Some(("statistic".into(), Figure { title: "t statistic of resampled rows".into(), panels })),
        caption: format!(
            "Bars: {} resamples of n of the N = {} log-likelihood differences of one move, their mean removed. Lines: standard normal and \
             Student's t with n − 1 degrees of freedom. The checks take the worst of {} moves.",
            scale.resamples,
            moves.rows,
            pairs.len()
        ),
        checks: checks(scale, &samples, moves.real),
    };
    Ok((section, vec![table]))
}

pub(super) fn checks(scale: &Scale, samples: &[Vec<Sample>], real: bool) -> Vec<Check> {
    // The empirical distribution function of R statistics is nowhere farther off than √(log(2k/α)/2R) in all of k samples, but for a
    // probability α (Dvoretzky, Kiefer and Wolfowitz; Massart).
    let many = samples.iter().flatten().count().max(1) as f64;
    let noise = ((2.0 * many / LEVEL).ln() / (2.0 * scale.resamples as f64)).sqrt();
    let fit = |claim: &Claim, distance: fn(&Sample) -> f64| {
        let worst = samples.iter().flatten().map(distance).fold(0.0, f64::max);
        let estimate = Estimate::new("", worst, (noise / NORMAL_99, f64::INFINITY));
        Check {
            test: format!(
                "the distance is known to ±{noise:.4} (99 %, all {many:.0} samples at once) against the band"
            ),
            ..Check::of(claim, vec![estimate])
        }
        .remark(stand_in(real))
    };
    let mut checks = vec![
        fit(&claims::FIT_NORMAL, |sample| sample.normal_distance),
        fit(&claims::FIT_STUDENT, |sample| sample.student_distance),
    ];
    for (place, epsilon) in EPSILONS.into_iter().enumerate() {
        let wanted = 2.0 * epsilon;
        let at = |size: usize| {
            let count = samples.len() as f64;
            let share = samples.iter().map(|of_pair| of_pair[size].beyond[place]).sum::<f64>() / count;
            let error = ((1.0 - wanted) / (wanted * count * scale.resamples as f64)).sqrt();
            Estimate::ratio(format!("n = {}", samples[0][size].n), share / wanted, (error, f64::INFINITY))
        };
        let estimates = (0..samples.first().map_or(0, Vec::len)).map(at).collect();
        checks.push(
            Check::of(&claims::LEVELS, estimates).about(format!("ε = {epsilon}")).remark(stand_in(real)),
        );
    }
    checks
}

/// What to say where the paper's data are missing.
pub(super) fn stand_in(real: bool) -> &'static str {
    if real { "" } else { "On generated data that stand in for MNIST." }
}

/// Statistics at each size, from one shuffle per repetition.
fn resample(
    pair: &Pair,
    sizes: &[usize],
    repetitions: usize,
    seed: u64,
    stream_number: u32,
) -> Vec<Vec<f64>> {
    let mut values: Vec<f64> = pair.values.iter().map(|value| value - pair.mean).collect();
    let rows = values.len();
    let mut rng = stream(seed, stream_number, Role::Reveal);
    let mut statistics = vec![Vec::new(); sizes.len()];
    for _ in 0..repetitions {
        let (mut sum, mut squares, mut drawn) = (0.0, 0.0, 0);
        for (&n, found) in sizes.iter().zip(&mut statistics) {
            while drawn < n {
                values.swap(drawn, rng.random_range(drawn..rows));
                let value = values[drawn];
                sum += value;
                squares += value * value;
                drawn += 1;
            }
            let size = n as f64;
            let mean = sum / size;
            let variance = (squares - size * mean * mean) / (size - 1.0);
            let left = 1.0 - (size - 1.0) / (rows as f64 - 1.0);
            found.push(mean / (variance / size * left).sqrt());
        }
    }
    statistics
}

fn student(n: usize) -> Result<StudentsT> {
    StudentsT::new(0.0, 1.0, n as f64 - 1.0).map_err(|error| super::refused(&error))
}

pub(super) fn judge(mut sorted: Vec<f64>, n: usize) -> Result<Sample> {
    sorted.sort_by(f64::total_cmp);
    let (normal, student) = (Normal::standard(), student(n)?);
    let count = sorted.len() as f64;
    let distance = |cdf: &dyn Fn(f64) -> f64| {
        let gaps = sorted.iter().enumerate().map(|(i, &value)| {
            let expected = cdf(value);
            (expected - i as f64 / count).abs().max(((i + 1) as f64 / count - expected).abs())
        });
        gaps.fold(0.0, f64::max)
    };
    let beyond = EPSILONS.map(|epsilon| {
        let bound = normal.inverse_cdf(1.0 - epsilon);
        sorted.iter().filter(|value| value.abs() > bound).count() as f64 / count
    });
    Ok(Sample {
        n,
        normal_distance: distance(&|value| normal.cdf(value)),
        student_distance: distance(&|value| student.cdf(value)),
        beyond: beyond.to_vec(),
        sorted,
    })
}

fn panel(n: usize, sample: &Sample) -> Result<Panel> {
    let width = 2.0 * EDGE / BINS as f64;
    let edges: Vec<f64> = (0..=BINS).map(|i| -EDGE + width * i as f64).collect();
    let places: Vec<usize> =
        edges.iter().map(|&edge| sample.sorted.partition_point(|&value| value < edge)).collect();
    let heights = places
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / sample.sorted.len() as f64 / width)
        .collect();
    let curve = |label: &str, density: &dyn Fn(f64) -> f64| Curve {
        label: label.into(),
        points: (0..=160).map(|i| -EDGE + 0.05 * f64::from(i)).map(|x| (x, density(x))).collect(),
    };
    let (normal, student) = (Normal::standard(), student(n)?);
    let x = Axis::new("t", AxisScale::Linear).with_limits(-EDGE, EDGE);
    Ok(Panel::new(format!("n = {n}"), x, Axis::new("density", AxisScale::Linear))
        .mark(Mark::Bars { series: None, edges, base: 0.0, heights })
        .curves(vec![curve("normal", &|x| normal.pdf(x)), curve("Student t", &|x| student.pdf(x))]))
}
