//! Which storage blocks a kernel reads: one iterator type for every caller, so that each kernel exists once per
//! instruction set and family. (A closure per caller would compile it again and again.)

/// Storage blocks to read: groups of `per` neighbours. One type for every caller, so that the kernels exist once.
#[derive(Clone, Debug)]
pub struct List<'a> {
    groups: std::slice::Iter<'a, u32>,
    per: usize,
    count: usize,
    current: std::ops::Range<usize>,
}

impl<'a> List<'a> {
    /// The groups `groups` of `per` neighbouring blocks each, cut at `count` blocks.
    pub fn of_groups(groups: &'a [u32], per: usize, count: usize) -> Self {
        Self { groups: groups.iter(), per, count, current: 0..0 }
    }

    /// All `count` blocks in storage order.
    pub fn all(count: usize) -> Self {
        Self { groups: [].iter(), per: 1, count, current: 0..count }
    }
}

impl Iterator for List<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.current.is_empty() {
            let first = *self.groups.next()? as usize * self.per;
            self.current = first..(first + self.per).min(self.count);
        }
        self.current.next()
    }
}
