//! Tests of Hamiltonian paths: reversible, volume-preserving, second order.

use nalgebra::DMatrix;

use super::*;
use crate::model::{Access, Gradient, Model, check_length};
use crate::population::Numbers;
use crate::rng::{Role, stream};

/// What the tests ask of a model: a log density and its gradient, here with a normal prior of sd 2.
struct Density<F>(usize, F);

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Sync> Model for Density<F> {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a>
        = Numbers
    where
        Self: 'a;

    fn len(&self) -> usize {
        0
    }
    fn scratch(&self, _: Access) {}
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        state.iter().map(|x| -x * x / 8.0).sum()
    }
    fn compare<'a>(&'a self, _: &'a Vec<f64>, _: &'a Vec<f64>, (): &'a mut ()) -> Numbers {
        Numbers(Vec::new())
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Sync> Gradient for Density<F> {
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        check_length("state", self.0, state.len())?;
        gradient.iter_mut().zip(state).for_each(|(g, x)| *g = -x / 4.0);
        Ok(self.log_prior(state) + self.1(state, gradient))
    }
}

/// A regression with unknown noise: four coordinates, not Gaussian in the last, the log sd.
fn linear() -> impl Gradient<State = Vec<f64>> {
    let columns = [[0.0, 1.0, 2.0, 4.0, 3.0, 7.0], [1.0, -1.0, 0.5, 2.0, 0.0, 0.3]];
    let response = [1.1, 2.9, 5.2, 8.8, 4.0, 9.9];
    Density(4, move |state: &[f64], gradient: &mut [f64]| {
        let precision = (-2.0 * state[3]).exp();
        let mut value = 0.0;
        for row in 0..6 {
            let x = [1.0, columns[0][row], columns[1][row]];
            let miss = response[row] - x.iter().zip(state).map(|(x, b)| x * b).sum::<f64>();
            value -= 0.5 * precision * miss * miss + state[3];
            x.iter().zip(&mut *gradient).for_each(|(x, g)| *g += precision * miss * x);
            gradient[3] += precision * miss * miss - 1.0;
        }
        value
    })
}

fn dense() -> RandomWalk {
    let covariance =
        [0.5, -0.1, 0.05, 0.0, -0.1, 0.2, 0.02, 0.01, 0.05, 0.02, 0.3, -0.02, 0.0, 0.01, -0.02, 0.1];
    RandomWalk::dense(4, &covariance).unwrap()
}

const START: [f64; 4] = [0.7, 1.1, -0.2, 0.3];
const MOMENTUM: [f64; 4] = [0.4, -1.2, 0.9, 0.6];

fn fixed(length: f64, steps: u32) -> Path {
    Path { length, steps: steps..=steps, jitter: 0.0, target: None }
}

/// Where the path from (θ, z) ends, and its energy −log π + |z|²/2 there.
fn end<M: Gradient<State = Vec<f64>>>(
    model: &M,
    shape: &RandomWalk,
    (state, momentum): (&[f64], &[f64]),
    (length, steps): (f64, u32),
) -> (Vec<f64>, Vec<f64>, f64) {
    let paths = Hamiltonian::new(model, shape, fixed(length, steps)).unwrap();
    end_of(paths, (state, momentum), (length, steps))
}

/// The same of rotating paths.
fn rotated<M: Gradient<State = Vec<f64>>>(
    model: &M,
    shape: &RandomWalk,
    (state, momentum): (&[f64], &[f64]),
    (angle, steps): (f64, u32),
) -> (Vec<f64>, Vec<f64>, f64) {
    let paths = Hamiltonian::new(model, shape, fixed(angle, steps)).unwrap().rotating().unwrap();
    end_of(paths, (state, momentum), (angle, steps))
}

fn end_of<M: Gradient<State = Vec<f64>>>(
    mut paths: Hamiltonian<&M>,
    (state, momentum): (&[f64], &[f64]),
    (length, steps): (f64, u32),
) -> (Vec<f64>, Vec<f64>, f64) {
    paths.begin(state).unwrap();
    paths.end = paths.start.clone();
    paths.momentum = momentum.to_vec();
    assert!(paths.follow(length, steps).unwrap());
    let energy = paths.kinetic() - paths.end.log_density;
    (paths.end.state, paths.momentum, energy)
}

fn shapes() -> [RandomWalk; 3] {
    let diagonal = RandomWalk::diagonal(vec![0.7, 0.4, 0.5, 0.3]).unwrap();
    [RandomWalk::isotropic(4, 0.4).unwrap(), diagonal, dense()]
}

#[test]
fn a_path_turned_around_leads_home() {
    let model = linear();
    for shape in shapes() {
        let (state, momentum, _) = end(&model, &shape, (&START, &MOMENTUM), (0.1, 25));
        let moved = state.iter().zip(START).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved > 0.1, "the path went nowhere: {state:?}");
        let back: Vec<f64> = momentum.iter().map(|z| -z).collect();
        let (home, momentum, _) = end(&model, &shape, (&state, &back), (0.1, 25));
        for i in 0..4 {
            assert!((home[i] - START[i]).abs() < 1e-10, "{shape:?}: {home:?}");
            assert!((momentum[i] + MOMENTUM[i]).abs() < 1e-10, "{shape:?}: {momentum:?}");
        }
    }
}

/// The determinant of the map's derivative, by central differences, is 1.
#[test]
fn volume_is_preserved() {
    let model = linear();
    for shape in shapes() {
        let map = |point: &[f64]| {
            let (state, momentum, _) = end(&model, &shape, point.split_at(4), (0.2, 7));
            [state, momentum].concat()
        };
        let point = [START, MOMENTUM].concat();
        let width = 1e-5;
        let derivative = DMatrix::from_columns(
            &(0..8)
                .map(|i| {
                    let at = |sign: f64| {
                        let mut moved = point.clone();
                        moved[i] += sign * width;
                        nalgebra::DVector::from_vec(map(&moved))
                    };
                    (at(1.0) - at(-1.0)) / (2.0 * width)
                })
                .collect::<Vec<_>>(),
        );
        let volume = derivative.determinant();
        assert!((volume - 1.0).abs() < 1e-6, "{shape:?}: {volume}");
    }
}

/// Rotating paths are reversible and preserve volume where the density is anything but normal with that covariance.
#[test]
fn rotating_paths_lead_home_and_preserve_volume() {
    let model = linear();
    for shape in shapes() {
        let (state, momentum, _) = rotated(&model, &shape, (&START, &MOMENTUM), (0.1, 25));
        let back: Vec<f64> = momentum.iter().map(|z| -z).collect();
        let (home, momentum, _) = rotated(&model, &shape, (&state, &back), (0.1, 25));
        for i in 0..4 {
            assert!((home[i] - START[i]).abs() < 1e-10, "{shape:?}: {home:?}");
            assert!((momentum[i] + MOMENTUM[i]).abs() < 1e-10, "{shape:?}: {momentum:?}");
        }
        let map = |point: &[f64]| {
            let (state, momentum, _) = rotated(&model, &shape, point.split_at(4), (0.3, 5));
            nalgebra::DVector::from_vec([state, momentum].concat())
        };
        let (point, width) = ([START, MOMENTUM].concat(), 1e-5);
        let column = |i: usize| {
            let at = |sign: f64| {
                let mut moved = point.clone();
                moved[i] += sign * width;
                map(&moved)
            };
            (at(1.0) - at(-1.0)) / (2.0 * width)
        };
        let volume = DMatrix::from_columns(&(0..8).map(column).collect::<Vec<_>>()).determinant();
        assert!((volume - 1.0).abs() < 1e-6, "{shape:?}: {volume}");
    }
}

/// A normal posterior keeps its energy at any angle below π, from anywhere, and a quarter turn forgets the state: the end depends on the momentum alone. Plain leapfrog steps of the same length do
/// not.
#[test]
fn rotations_are_exact_for_a_normal_posterior() {
    let rows = [[0.0, 1.0], [1.0, -1.0], [2.0, 0.5], [4.0, 2.0], [3.0, 0.0], [7.0, 0.3]];
    let response = [1.1, 2.9, 5.2, 8.8, 4.0, 9.9];
    let design = DMatrix::from_fn(6, 3, |row, column| if column == 0 { 1.0 } else { rows[row][column - 1] });
    let (precision, products) = (design.transpose() * &design / 0.64, design);
    let model = Density(3, move |state: &[f64], gradient: &mut [f64]| {
        let miss = nalgebra::DVector::from_column_slice(&response)
            - &products * nalgebra::DVector::from_column_slice(state);
        let slope = products.transpose() * &miss / 0.64;
        gradient.iter_mut().zip(slope.iter()).for_each(|(g, slope)| *g += slope);
        -0.5 * miss.norm_squared() / 0.64
    });
    let covariance = (precision + DMatrix::identity(3, 3) / 4.0).try_inverse().unwrap();
    let shape = RandomWalk::dense(3, covariance.as_slice()).unwrap();
    let from = [3.0, -1.0, 4.0];
    let momentum = &MOMENTUM[..3];
    let (_, _, before) = rotated(&model, &shape, (&from, momentum), (1e-9, 1));
    for (angle, steps) in [(0.4, 3), (1.6, 1), (2.9, 1), (1.1, 4)] {
        let (_, _, energy) = rotated(&model, &shape, (&from, momentum), (angle, steps));
        assert!((energy - before).abs() < 1e-8 * before.abs(), "{angle}: {energy} {before}");
        let (_, _, plain) = end(&model, &shape, (&from, momentum), (angle, steps));
        assert!((plain - before).abs() > 1e-3, "plain steps of {angle} are as good");
    }
    let quarter = std::f64::consts::FRAC_PI_2;
    let (one, _, _) = rotated(&model, &shape, (&from, momentum), (quarter, 1));
    let (other, _, _) = rotated(&model, &shape, (&[0.0, 1.0, 0.0], momentum), (quarter, 1));
    one.iter().zip(&other).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{one:?} {other:?}"));
}

#[test]
fn rotations_beyond_half_a_turn_or_learnt_ones_are_refused() {
    let (model, shape) = (linear(), dense());
    let refused =
        |path: Path| Hamiltonian::new(&model, &shape, path).unwrap().rotating().err().unwrap().to_string();
    assert!(refused(Path { jitter: 0.2, ..fixed(2.7, 1) }).contains("3.24"));
    assert!(refused(Path { target: Some(0.8), ..fixed(1.0, 1) }).contains("0.8"));
}

/// Over a path of one length the energy error falls with the square of the step.
#[test]
fn the_energy_error_is_of_second_order() {
    let model = linear();
    let shape = dense();
    let (_, _, before) = end(&model, &shape, (&START, &MOMENTUM), (1e-9, 1));
    let error = |steps: u32| {
        let (_, _, energy) = end(&model, &shape, (&START, &MOMENTUM), (0.8 / f64::from(steps), steps));
        energy - before
    };
    let errors = [16, 32, 64, 128].map(error);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.6..4.4).contains(&ratio), "errors {errors:?}");
    }
    assert!(errors[0].abs() > 1e-4, "nothing to compare: {errors:?}");
}

/// What is returned is the kinetic energy lost, and the gradient of a state is computed once.
#[test]
fn the_log_ratio_is_the_kinetic_energy_lost() {
    let model = linear();
    let mut paths = Hamiltonian::new(&model, &dense(), fixed(0.2, 5)).unwrap();
    let mut rng = stream(1, 0, Role::Proposal);
    let (from, mut to) = (START.to_vec(), Vec::new());
    let ratio = paths.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
    // The same draws by hand: one for the jitter, one for the number of steps, then the momentum.
    let mut rng = stream(1, 0, Role::Proposal);
    let _: f64 = rng.random_range(-1.0..1.0);
    let _ = rng.random_range(5..=5u32);
    let momentum: Vec<f64> = (0..4).map(|_| rng.sample(StandardNormal)).collect();
    let (state, after, _) = end(&model, &dense(), (&START, &momentum), (0.2, 5));
    let kinetic = |z: &[f64]| 0.5 * z.iter().map(|z| z * z).sum::<f64>();
    assert_eq!(to, state);
    assert!((ratio - (kinetic(&momentum) - kinetic(&after))).abs() < 1e-12);

    assert_eq!(paths.gradients(), 6);
    let mut next = Vec::new();
    paths.propose(&to, &mut next, &mut rng).unwrap(); // after an acceptance
    assert_eq!(paths.gradients(), 11);
    paths.propose(&to, &mut next, &mut rng).unwrap(); // after a rejection
    assert_eq!(paths.gradients(), 16);
    assert_eq!(paths.lost(), 0);
}

/// Steps far too long overflow: such paths are ruled out, and learning finds its way back.
#[test]
fn a_lost_path_is_ruled_out_and_taught_from() {
    // Poisson counts with a log link.
    let column = [0.5, 1.0, 2.0, 4.0, 3.0, 7.0];
    let counts = [1.0, 2.0, 5.0, 8.0, 4.0, 9.0];
    let model = Density(2, move |state: &[f64], gradient: &mut [f64]| {
        let mut value = 0.0;
        for (x, count) in column.iter().zip(counts) {
            let eta = state[0] + x * state[1];
            value += count * eta - eta.exp();
            gradient[0] += count - eta.exp();
            gradient[1] += (count - eta.exp()) * x;
        }
        value
    });
    let shape = RandomWalk::isotropic(2, 1.0).unwrap();
    let mut paths = Hamiltonian::new(&model, &shape, Path { length: 1e3, ..Path::default() }).unwrap();
    let mut rng = stream(2, 0, Role::Proposal);
    let (from, mut to) = (vec![0.5, 0.2], Vec::new());
    assert_eq!(paths.propose(&from, &mut to, &mut rng).unwrap().log_ratio, f64::NEG_INFINITY);
    assert_eq!((&to, paths.lost()), (&from, 1));
    for step in 1..200 {
        paths.learn(false, step);
        paths.propose(&from, &mut to, &mut rng).unwrap();
    }
    assert!(paths.path().length < 1.0, "{:?}", paths.path());
    let lost = paths.lost();
    for _ in 0..50 {
        assert!(paths.propose(&from, &mut to, &mut rng).unwrap().log_ratio.is_finite());
    }
    assert_eq!(paths.lost(), lost);
}

#[test]
fn bad_settings_are_refused() {
    let model = linear();
    let refused = |path: Path, word: &str| {
        let message = Hamiltonian::new(&model, &dense(), path).err().unwrap().to_string();
        assert!(message.contains(word), "{message}");
    };
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(Path { length, ..Path::default() }, "length");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "that is what must be refused")]
    for steps in [0..=3, 5..=4, 1..=u32::MAX] {
        refused(Path { steps, ..Path::default() }, "steps");
    }
    for jitter in [-0.1, 1.0, f64::NAN] {
        refused(Path { jitter, ..Path::default() }, "jitter");
    }
    for target in [0.0, 1.0, f64::NAN] {
        refused(Path { target: Some(target), ..Path::default() }, "target");
    }
    let mut paths = Hamiltonian::new(&model, &dense(), Path::default()).unwrap();
    let mut rng = stream(3, 0, Role::Proposal);
    assert!(paths.propose(&vec![0.0; 3], &mut vec![], &mut rng).is_err());
    let short = RandomWalk::isotropic(3, 1.0).unwrap();
    let mut paths = Hamiltonian::new(&model, &short, Path::default()).unwrap();
    assert!(paths.propose(&vec![0.0; 3], &mut vec![], &mut rng).is_err(), "the model has four parameters");
}

/// One coordinate, N(0, 2²) to the right of 0 and a wall of 1,000 nats per unit to its left.
fn wall() -> impl Gradient<State = Vec<f64>> {
    Density(1, |state: &[f64], gradient: &mut [f64]| {
        gradient[0] += if state[0] < 0.0 { 1000.0 } else { 0.0 };
        1000.0 * state[0].min(0.0)
    })
}

/// States of a Metropolis–Hastings chain of paths with a share of walks, from `start` on.
fn chain(share: f64, start: f64, steps: usize) -> Vec<f64> {
    let model = wall();
    let shape = RandomWalk::isotropic(1, 1.0).unwrap();
    let path = Path { length: 0.24, steps: 6..=11, jitter: 0.2, target: None };
    let mut paths = Hamiltonian::new(&model, &shape, path).unwrap().with_walks(share).unwrap();
    let mut rng = stream(3, 0, Role::Proposal);
    let (mut state, mut to, mut gradient) = (vec![start], vec![start], [0.0]);
    let mut here = model.log_density_gradient(&state, &mut gradient).unwrap();
    (0..steps)
        .map(|_| {
            let ratio = paths.propose(&state, &mut to, &mut rng).unwrap().log_ratio;
            let there = model.log_density_gradient(&to, &mut gradient).unwrap();
            if there - here + ratio > rng.random::<f64>().ln() {
                std::mem::swap(&mut state, &mut to);
                here = there;
            }
            state[0]
        })
        .collect()
}

/// Paths alone never leave the wall that they begin on; a share of walks does, and leaves the distribution as it is.
#[test]
fn walks_lead_off_a_wall_that_paths_never_leave() {
    assert!(chain(0.0, -0.2, 20_000).iter().all(|x| *x == -0.2));
    let walked = chain(1.0 / 16.0, -0.2, 200_000);
    assert!(walked[2000] > -0.05, "{}", walked[2000]);
    // Half-normal: mean 2·√(2/π), mean square 4. Batch means of 100; each bound has a false-alarm rate of 3e-5 (4.2 sds), the seed is fixed.
    let rest = &walked[2000..];
    for (power, truth) in [(1, 2.0 * (2.0 / std::f64::consts::PI).sqrt()), (2, 4.0)] {
        let batches: Vec<f64> = rest
            .chunks_exact(1980)
            .map(|part| part.iter().map(|x| x.powi(power)).sum::<f64>() / 1980.0)
            .collect();
        let mean = batches.iter().sum::<f64>() / batches.len() as f64;
        let square = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>();
        let error = (square / (batches.len() * (batches.len() - 1)) as f64).sqrt();
        assert!((mean - truth).abs() < 4.2 * error, "{mean} instead of {truth} ± {error}");
        // Power: with the half of another normal distribution the bound is missed.
        assert!((mean - 1.1 * truth).abs() > 4.2 * error, "{error}");
    }
    let shape = RandomWalk::isotropic(1, 1.0).unwrap();
    let refused =
        |share| Hamiltonian::new(&wall(), &shape, fixed(0.1, 1)).unwrap().with_walks(share).is_err();
    assert!(refused(1.0) && refused(-0.1) && refused(f64::NAN) && !refused(0.0));
}
