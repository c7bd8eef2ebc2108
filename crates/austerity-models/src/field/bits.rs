//! Layout and kernel for a binary variable with binary neighbours: sixteen factors per select.
//!
//! A block of 32 factors over at most four variables holds 2^c lines of differences log f(1, rest) − log f(0, rest), one
//! line for each state of the c other variables, and for each of these variables 32 places among the neighbours. The
//! neighbours' bits are 16 bytes in one register: place p is bit p/16 of byte p mod 16, so that 32 bits come out of two byte
//! shuffles, an `and` and a comparison, and the c masks select one of the 2^c lines. No gather, no branch.
//!
//! Power sums of the numbers are formed in f64 about the mean of the first block. Cost: 4·2^c + c bytes of memory
//! traffic per factor (18 for triples), which is what limits it beyond the first-level cache.

use fearless_simd::{Simd, f64x8, mask32x16, prelude::*, u8x32};

use super::builder::Slice;
use austerity::population::Moments;
use austerity_glm::glm::blocks::{Line, ZERO};
use austerity_glm::simd::{Lanes, Level, dispatched, lanes_sum, prefetch_slice, reduce};

/// Factors in a block.
pub(super) const BLOCK: usize = austerity::BLOCK_ROWS;

/// Other variables of a factor, at most.
pub(super) const MOST_COLUMNS: usize = 3;

/// Neighbours of a variable, at most: of 128 bits the last is kept 0, for factors with fewer variables than others.
pub(super) const LARGEST_NEIGHBOURHOOD: usize = 127;

/// How many blocks ahead memory is asked for: a block takes about 20 ns, the third-level cache 100.
const AHEAD: usize = 4;

/// Places of one column in a block.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Places([u8; BLOCK]);

/// The values of the neighbours: place p is bit p/16 of byte p mod 16.
pub(super) type State = [u8; 16];

/// Differences of value 1 against 0, block by block.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    rows: usize,
    columns: usize,
    /// 2·2^columns lines a block.
    lines: Vec<Line>,
    /// `columns` a block.
    places: Vec<Places>,
}

/// Packs up to 127 values.
pub(super) fn pack(values: impl Iterator<Item = u8>) -> State {
    let mut wide = [0u8; 128];
    for (slot, value) in wide.iter_mut().zip(values) {
        *slot = value;
    }
    let mut state = [0u8; 16];
    for (bit, bytes) in wide.as_chunks::<16>().0.iter().enumerate() {
        for (sum, byte) in state.iter_mut().zip(bytes) {
            *sum |= byte << bit;
        }
    }
    state
}

impl Bits {
    pub(super) fn new(columns: usize, slices: &[Slice]) -> Self {
        let (blocks, planes) = (slices.len().div_ceil(BLOCK), 1 << columns);
        let mut lines = vec![ZERO; 2 * planes * blocks];
        let mut places = vec![Places([LARGEST_NEIGHBOURHOOD as u8; BLOCK]); columns * blocks];
        for (row, slice) in slices.iter().enumerate() {
            let (block, lane) = (row / BLOCK, row % BLOCK);
            for (rest, pair) in slice.logs.chunks_exact(2).enumerate() {
                let line = &mut lines[2 * (planes * block + rest) + lane / 16];
                line.0[lane % 16] = (pair[1] - pair[0]) as f32;
            }
            for (column, &place) in slice.places.iter().enumerate() {
                places[columns * block + column].0[lane] = place as u8;
            }
        }
        Self { rows: slices.len(), columns, lines, places }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.lines[..]) + size_of_val(&self.places[..])
    }

    fn lines_of(&self, block: usize) -> &[Line] {
        let width = 2 << self.columns;
        &self.lines[width * block..width * (block + 1)]
    }

    fn places_of(&self, block: usize) -> &[Places] {
        &self.places[self.columns * block..self.columns * (block + 1)]
    }

    /// The difference of the factor at storage position `row`.
    #[inline]
    pub(super) fn difference(&self, row: usize, state: &State) -> f32 {
        let (block, lane) = (row / BLOCK, row % BLOCK);
        let mut rest = 0;
        for (column, places) in self.places_of(block).iter().enumerate() {
            let place = places.0[lane];
            rest |= usize::from(state[usize::from(place % 16)] >> (place / 16) & 1) << column;
        }
        self.lines_of(block)[2 * rest + lane / 16].0[lane % 16]
    }

    /// Adds the differences of some storage blocks to `moments`.
    pub(super) fn summarize(
        &self,
        level: Level,
        state: &State,
        list: impl Iterator<Item = usize> + Clone,
        moments: &mut Moments,
    ) {
        match self.columns {
            1 => dispatched!(level, simd => sums::<_, 1, 2>(simd, self, state, list, moments)),
            2 => dispatched!(level, simd => sums::<_, 2, 4>(simd, self, state, list, moments)),
            _ => dispatched!(level, simd => sums::<_, 3, 8>(simd, self, state, list, moments)),
        }
    }

    /// Asks for the memory of `block`.
    pub(super) fn prefetch(&self, block: usize) {
        prefetch_slice(self.lines_of(block));
        prefetch_slice(self.places_of(block));
    }
}

/// The 32 numbers of a block; P = 2^C.
#[inline(always)]
fn numbers<S: Simd, const C: usize, const P: usize>(
    simd: S,
    lines: &[Line],
    places: &[Places],
    state: u8x32<S>,
    powers: u8x32<S>,
) -> [Lanes<S>; 2] {
    let (lines, places) = (&lines[..2 * P], &places[..C]);
    let mut zeros = [0u64; C];
    for column in 0..C {
        let place = u8x32::load_array_ref(simd, &places[column].0);
        let byte = state.swizzle_dyn_within_blocks(place & u8x32::splat(simd, 15));
        let bit = powers.swizzle_dyn_within_blocks(place >> 4);
        zeros[column] = (byte & bit).simd_eq(u8x32::splat(simd, 0)).to_bitmask();
    }
    let half = |half: usize| {
        let mut values: [Lanes<S>; P] =
            std::array::from_fn(|rest| Lanes::load_array_ref(simd, &lines[2 * rest + half].0));
        let mut width = P;
        for column in (0..C).rev() {
            width /= 2;
            let zero = mask32x16::from_bitmask(simd, zeros[column] >> (16 * half));
            for rest in 0..width {
                values[rest] = zero.select(values[rest], values[rest + width]);
            }
        }
        values[0]
    };
    [half(0), half(1)]
}

/// Power sums about a pivot, in f64.
struct Powers<S: Simd>([f64x8<S>; 4]);

impl<S: Simd> Powers<S> {
    #[inline(always)]
    fn push(&mut self, d: f64x8<S>) {
        let square = d * d;
        self.0[0] += d;
        self.0[1] += square;
        self.0[2] = square.mul_add(d, self.0[2]);
        self.0[3] = square.mul_add(square, self.0[3]);
    }
}

/// Adds the numbers of the blocks of `list` to `moments`.
#[inline(always)]
fn sums<S: Simd, const C: usize, const P: usize>(
    simd: S,
    bits: &Bits,
    state: &State,
    list: impl Iterator<Item = usize> + Clone,
    moments: &mut Moments,
) {
    let mut both = [0; 32];
    both[..16].copy_from_slice(state);
    both[16..].copy_from_slice(state);
    let state_bytes = u8x32::load_array_ref(simd, &both);
    let powers_of_two = u8x32::load_array_ref(simd, &std::array::from_fn(|i| 1u8 << (i % 8)));
    let zero = Lanes::splat(simd, 0.0);
    let nothing = f64x8::splat(simd, 0.0);
    let (mut low, mut high) = (Powers([nothing; 4]), Powers([nothing; 4]));
    let (mut smallest, mut largest) = (zero, zero);
    let (mut pivot, mut blocks, mut zeros) = (0.0, 0u64, 0u32);
    let mut ahead = list.clone();
    ahead.nth(AHEAD - 1);
    for block in list {
        if let Some(next) = ahead.next() {
            bits.prefetch(next);
        }
        if bits.rows < (block + 1) * BLOCK {
            let rows = block * BLOCK..bits.rows;
            let mut values = [0.0; BLOCK];
            let count = rows.len();
            for (value, row) in values.iter_mut().zip(rows) {
                *value = f64::from(bits.difference(row, state));
            }
            moments.merge(&Moments::of(&values[..count]));
            continue;
        }
        let [a, b] =
            numbers::<S, C, P>(simd, bits.lines_of(block), bits.places_of(block), state_bytes, powers_of_two);
        if blocks == 0 {
            pivot = f64::from(lanes_sum(a + b) * (1.0 / BLOCK as f32));
            (smallest, largest) = (a, a);
        }
        blocks += 1;
        smallest = smallest.min(a.min(b));
        largest = largest.max(a.max(b));
        zeros += a.simd_eq(zero).to_bitmask().count_ones() + b.simd_eq(zero).to_bitmask().count_ones();
        let center = f64x8::splat(simd, pivot);
        let ((a0, a1), (b0, b1)) = (simd.widen_f32x16(a), simd.widen_f32x16(b));
        low.push(a0 - center);
        high.push(a1 - center);
        low.push(b0 - center);
        high.push(b1 - center);
    }
    if blocks == 0 {
        return;
    }
    let sum = |k: usize| (low.0[k] + high.0[k]).reduce_sum();
    let (s1, s2, s3, s4) = (sum(0), sum(1), sum(2), sum(3));
    let n = (blocks * BLOCK as u64) as f64;
    let shift = s1 / n;
    let square = shift * shift;
    moments.merge(&Moments {
        count: blocks * BLOCK as u64,
        mean: pivot + shift,
        m2: (s2 - n * square).max(0.0),
        m3: s3 - 3.0 * shift * s2 + 2.0 * n * square * shift,
        m4: (s4 - 4.0 * shift * s3 + 6.0 * square * s2 - 3.0 * n * square * square).max(0.0),
        minimum: f64::from(reduce(smallest, |a, b| if b < a { b } else { a })),
        maximum: f64::from(reduce(largest, |a, b| if b > a { b } else { a })),
        nonzeros: blocks * BLOCK as u64 - u64::from(zeros),
    });
}
