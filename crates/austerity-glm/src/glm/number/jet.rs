//! Truncated Taylor polynomials in M variables, with N coefficients: all monomials up to some order.
//!
//! Monomials are ordered by degree, those of a degree lexicographically from x₁ᵏ down. The coefficient of x^α is D^α f/α!. A product multiplies
//! polynomials and drops what is beyond the order. A function of a jet x₀ + x, x without constant term, is Σ f⁽ʲ⁾(x₀)/j!·xʲ.
//!
//! | order | M = 1 | 2 | 3 | 4 |
//! |---|---|---|---|---|
//! | 1 | N = 2 | 3 | 4 | 5 |
//! | 2 | 3 | 6 | 10 | 15 |
//! | 3 | 4 | 10 | 20 | 35 |
//! | 4 | 5 | 15 | 35 | 70 |

use std::ops::{Add, Mul, Neg, Sub};

use super::{Base, Function, Number, ORDERS};

/// A polynomial in M variables with N coefficients over B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<B, const M: usize, const N: usize> {
    /// Coefficients in the order of [`Jet::POWERS`].
    pub coefficients: [B; N],
}

/// The exponents of N monomials in M variables, by degree.
const fn powers<const M: usize, const N: usize>() -> [[u8; M]; N] {
    let mut all = [[0; M]; N];
    let mut n = 1;
    while n < N {
        // The next in the order: of the same degree, move one unit from the last variable that is not the very last one; otherwise a degree more.
        let mut next = all[n - 1];
        let mut k = M - 1;
        let mut moved = false;
        while k > 0 {
            k -= 1;
            if next[k] > 0 {
                let rest = next[M - 1] + 1;
                next[k] -= 1;
                next[M - 1] = 0;
                next[k + 1] = rest;
                moved = true;
                break;
            }
        }
        if !moved {
            let degree = next[M - 1] + 1;
            next[M - 1] = 0;
            next[0] = degree;
        }
        all[n] = next;
        n += 1;
    }
    all
}

/// Where the product of two monomials stands; N where it is beyond the order.
const fn places<const M: usize, const N: usize>() -> [[u8; N]; N] {
    let all = powers::<M, N>();
    let mut table = [[N as u8; N]; N];
    let mut a = 0;
    while a < N {
        let mut b = 0;
        while b < N {
            let mut c = 0;
            while c < N {
                let mut k = 0;
                while k < M && all[a][k] + all[b][k] == all[c][k] {
                    k += 1;
                }
                if k == M {
                    table[a][b] = c as u8;
                    break;
                }
                c += 1;
            }
            b += 1;
        }
        a += 1;
    }
    table
}

/// Monomials of each degree begin here; one more at the end.
const fn starts<const M: usize, const N: usize>() -> [usize; ORDERS + 1] {
    let all = powers::<M, N>();
    let mut starts = [N; ORDERS + 1];
    let mut n = N;
    while n > 0 {
        n -= 1;
        let mut degree = 0;
        let mut k = 0;
        while k < M {
            degree += all[n][k] as usize;
            k += 1;
        }
        starts[degree] = n;
    }
    starts
}

/// The degree of every monomial.
const fn degrees<const M: usize, const N: usize>() -> [usize; N] {
    let all = powers::<M, N>();
    let mut degrees = [0; N];
    let mut n = 0;
    while n < N {
        let mut k = 0;
        while k < M {
            degrees[n] += all[n][k] as usize;
            k += 1;
        }
        n += 1;
    }
    degrees
}

impl<B, const M: usize, const N: usize> Jet<B, M, N> {
    /// Exponents of the monomials.
    pub const POWERS: [[u8; M]; N] = powers::<M, N>();
    /// Where the monomials of each degree begin.
    pub const STARTS: [usize; ORDERS + 1] = starts::<M, N>();
    /// The largest degree.
    pub const ORDER: usize = Self::DEGREES[N - 1];
    const PLACES: [[u8; N]; N] = places::<M, N>();
    const DEGREES: [usize; N] = degrees::<M, N>();
}

impl<B: Base, const M: usize, const N: usize> Jet<B, M, N> {
    /// The variable number `which` at `value`, times `unit`: value + unit·x.
    #[must_use]
    #[inline(always)]
    pub fn variable(value: B, which: usize, unit: f64) -> Self {
        let mut jet = Self::known(value);
        jet.coefficients[1 + which] = B::constant(unit);
        jet
    }

    /// A number that no variable moves.
    #[must_use]
    #[inline(always)]
    pub fn known(value: B) -> Self {
        let mut coefficients = [B::constant(0.0); N];
        coefficients[0] = value;
        Self { coefficients }
    }

    /// The sum of the products of all pairs of monomials from degree `from` on, up to degree `to`.
    #[inline(always)]
    fn product(&self, other: &Self, from: usize) -> Self {
        let mut sum = [B::constant(0.0); N];
        let mut a = Self::STARTS[from];
        while a < N {
            let most = Self::ORDER - Self::DEGREES[a];
            let end = Self::STARTS[most + 1];
            let mut b = Self::STARTS[from];
            while b < end {
                let place = Self::PLACES[a][b] as usize;
                sum[place] = sum[place] + self.coefficients[a] * other.coefficients[b];
                b += 1;
            }
            a += 1;
        }
        Self { coefficients: sum }
    }

    // Plain indices here and below: zipped iterators and `map` of arrays compiled to calls, which took a fifth of the time.
    #[inline(always)]
    fn each(mut self, other: &Self, combine: impl Fn(B, B) -> B) -> Self {
        let mut n = 0;
        while n < N {
            self.coefficients[n] = combine(self.coefficients[n], other.coefficients[n]);
            n += 1;
        }
        self
    }

    #[inline(always)]
    fn every(mut self, change: impl Fn(B) -> B) -> Self {
        let mut n = 0;
        while n < N {
            self.coefficients[n] = change(self.coefficients[n]);
            n += 1;
        }
        self
    }
}

impl<B: Base, const M: usize, const N: usize> Add for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(&other, |a, b| a + b)
    }
}

impl<B: Base, const M: usize, const N: usize> Sub for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(&other, |a, b| a - b)
    }
}

impl<B: Base, const M: usize, const N: usize> Mul for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.product(&other, 0)
    }
}

impl<B: Base, const M: usize, const N: usize> Neg for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.every(|c| -c)
    }
}

impl<B: Base, const M: usize, const N: usize> Add<f64> for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: f64) -> Self {
        self.coefficients[0] = self.coefficients[0] + other;
        self
    }
}

impl<B: Base, const M: usize, const N: usize> Sub<f64> for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, other: f64) -> Self {
        self.coefficients[0] = self.coefficients[0] - other;
        self
    }
}

impl<B: Base, const M: usize, const N: usize> Mul<f64> for Jet<B, M, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: f64) -> Self {
        self.every(|c| c * other)
    }
}

impl<B: Base, const M: usize, const N: usize> Number for Jet<B, M, N> {
    const WIDE: bool = B::WIDE;

    #[inline(always)]
    fn constant(value: f64) -> Self {
        Self::known(B::constant(value))
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self.coefficients[0].value()
    }

    #[inline(always)]
    fn apply<F: Function>(self, function: &F) -> Self {
        let d = self.coefficients[0].derivatives(function, Self::ORDER);
        let mut rest = self;
        rest.coefficients[0] = B::constant(0.0);
        let mut sum = rest.every(|a| a * d[1]);
        sum.coefficients[0] = d[0];
        let (mut power, mut factorial, mut j) = (rest, 1.0, 2);
        while j <= Self::ORDER {
            power = power.product(&rest, 1);
            factorial *= j as f64;
            let factor = d[j] * (1.0 / factorial);
            sum = sum.each(&power, |a, b| a + b * factor);
            j += 1;
        }
        sum
    }

    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
}
