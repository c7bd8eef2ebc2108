//! Layout for any arity and any number of values.
//!
//! A factor's numbers are the differences log f(v, rest) − log f(0, rest), v = 1, …, V − 1, one list for every state of
//! the rest. Which list is an index: base + Σ stride·x over the other variables, of which every factor has as many
//! columns as the largest (the others point at a place that is always 0). Cost: one random read per column and
//! one or two per number, 2–4 ns a factor.

use super::builder::Slice;

/// Differences against value 0, factor by factor.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// V − 1.
    planes: usize,
    columns: usize,
    /// (place among the neighbours, stride), `columns` of them for every factor.
    links: Vec<[u32; 2]>,
    /// Where a factor's numbers begin.
    bases: Vec<u32>,
    numbers: Vec<f32>,
}

impl Tables {
    /// `neighbours` is the place that is always 0.
    pub(super) fn new(values: usize, columns: usize, neighbours: usize, slices: &[Slice]) -> Self {
        let planes = values - 1;
        let mut tables = Self {
            planes,
            columns,
            links: Vec::with_capacity(columns * slices.len()),
            bases: Vec::with_capacity(slices.len()),
            numbers: Vec::new(),
        };
        for slice in slices {
            tables.bases.push(tables.numbers.len() as u32);
            for list in slice.logs.chunks_exact(values) {
                tables.numbers.extend(list[1..].iter().map(|log| (log - list[0]) as f32));
            }
            let mut stride = planes;
            for (&place, &values) in slice.places.iter().zip(&slice.values) {
                tables.links.push([place, stride as u32]);
                stride *= values;
            }
            let missing = columns - slice.places.len();
            tables.links.extend(std::iter::repeat_n([neighbours as u32, 0], missing));
        }
        tables
    }

    /// The difference of the factor at storage position `row` between two values, given the neighbours' values and a 0.
    #[inline]
    pub(super) fn difference(&self, row: usize, [to, from]: [u8; 2], neighbours: &[u8]) -> f64 {
        let links = &self.links[row * self.columns..(row + 1) * self.columns];
        let start = links.iter().fold(self.bases[row], |sum, &[place, stride]| {
            sum + stride * u32::from(neighbours[place as usize])
        });
        let list = &self.numbers[start as usize..start as usize + self.planes];
        let at = |value: u8| if value == 0 { 0.0 } else { f64::from(list[usize::from(value) - 1]) };
        at(to) - at(from)
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.links.len() + 4 * (self.bases.len() + self.numbers.len())
    }
}
