//! Merges partial answers along a fixed binary tree of part numbers, as they arrive.
//!
//! Node i of level l stands for the parts from i·2^l on, 2^l of them or as many as there are. A node is made of its two children, the earlier one first, as soon as both
//! are there; a node without a sibling rises as it is. So the order of additions depends on the number of parts alone, and no more than one node per level and part at
//! work waits in memory. A second answer for a part that is merged already must not be pushed: whoever may get one asks first ([`Tree::has`]).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Partial answers of `parts` parts on their way to one.
#[derive(Debug)]
pub struct Tree<T> {
    parts: usize,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    /// Nodes that wait for their sibling, by level and number.
    waiting: Vec<((u32, usize), T)>,
    arrived: Vec<bool>,
}

impl<T> Tree<T> {
    /// A tree without answers yet.
    #[must_use]
    pub fn new(parts: usize) -> Self {
        Self { parts, state: Mutex::new(State { waiting: Vec::new(), arrived: vec![false; parts] }) }
    }

    /// Whether the answer of a part is there.
    #[must_use]
    pub fn has(&self, part: usize) -> bool {
        self.state().arrived[part]
    }

    /// Takes the answer of a part, and merges what can be merged.
    pub fn push(&self, part: usize, answer: T, merge: impl Fn(&mut T, T)) {
        self.state().arrived[part] = true;
        let (mut level, mut number, mut node) = (0, part, answer);
        loop {
            let (sibling, width) = (number ^ 1, self.parts.div_ceil(1 << level));
            if width == 1 || sibling < width {
                let mut state = self.state();
                let Some(place) = state.waiting.iter().position(|(node, _)| *node == (level, sibling)) else {
                    state.waiting.push(((level, number), node));
                    return;
                };
                let (_, other) = state.waiting.swap_remove(place);
                drop(state);
                let (mut earlier, later) = if sibling < number { (other, node) } else { (node, other) };
                merge(&mut earlier, later);
                node = earlier;
            }
            (level, number) = (level + 1, number / 2);
        }
    }

    /// The answer of all parts, when each has arrived.
    #[must_use]
    pub fn finish(self) -> Option<T> {
        let State { mut waiting, arrived } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (_, root) = waiting.pop()?;
        arrived.into_iter().all(|arrived| arrived).then_some(root)
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom as _;

    /// Texts show the order and the brackets of every merge.
    fn merged(parts: usize, order: &[usize]) -> Option<String> {
        let tree = Tree::new(parts);
        for &part in order {
            assert!(!tree.has(part));
            tree.push(part, part.to_string(), |earlier, later| *earlier = format!("({earlier} {later})"));
            assert!(tree.has(part));
        }
        tree.finish()
    }

    #[test]
    fn brackets_do_not_depend_on_the_order_of_arrival() {
        assert_eq!(merged(5, &[0, 1, 2, 3, 4]).unwrap(), "(((0 1) (2 3)) 4)");
        assert_eq!(merged(1, &[0]).unwrap(), "0");
        assert_eq!(merged(0, &[]), None);
        let mut rng = austerity::rng::stream(3, 0, austerity::rng::Role::Shuffle);
        for parts in [2, 3, 6, 7, 64, 100] {
            let mut order: Vec<usize> = (0..parts).collect();
            let expected = merged(parts, &order).unwrap();
            for _ in 0..20 {
                order.shuffle(&mut rng);
                assert_eq!(merged(parts, &order).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_missing_part_leaves_no_answer() {
        assert_eq!(merged(4, &[0, 1, 3]), None);
    }
}
