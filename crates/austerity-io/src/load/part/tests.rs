use super::*;
use crate::load::{LoadOptions, load};
use crate::table::open;
use std::path::{Path, PathBuf};

/// A CSV file with numbers, a rare column, two-valued and many-level text, and a real response.
fn write(folder: &Path, name: &str, rows: std::ops::Range<usize>) -> PathBuf {
    let path = folder.join(name);
    let mut text = String::from("y,x,rare,flag,city,zone\n");
    for i in rows {
        let x = (i as f64 * 0.7).sin() * 3.0 + 5.0;
        let rare = if i % 40 == 3 { i as f64 } else { 0.0 };
        text += &format!("{},{x},{rare},{},c{},z{}\n", (i % 3) as f64 + x, i % 2, i % 11, i % 3);
    }
    std::fs::write(&path, text).unwrap();
    path
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("austerity-part-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn learn(source: &Source, options: &CodingOptions) -> (Design, Vec<PartSpec>) {
    let parts = source.pieces(100).unwrap();
    let mut learning = Learning::new(source, options, None).unwrap();
    for (number, part) in parts.iter().enumerate() {
        let learnt = learn_part(part, number, learning.wanted()).unwrap();
        // What travels comes back as it was.
        let bytes = rmp_serde::to_vec_named(&learnt).unwrap();
        learning.add(&part.path, rmp_serde::from_slice(&bytes).unwrap()).unwrap();
    }
    (learning.finish().unwrap(), parts)
}

#[test]
fn parts_have_the_recipe_and_the_rows_of_the_whole() {
    let folder = folder("recipe");
    for (part, rows) in [0..150, 150..151, 151..400].into_iter().enumerate() {
        write(&folder, &format!("{part}.csv"), rows);
    }
    for standardize in [false, true] {
        let options = CodingOptions { standardize, ..CodingOptions::new("y") };
        let source = open(folder.join("*.csv")).unwrap();
        let whole = load(&source, &options, None, 1, &LoadOptions::default()).unwrap();
        let (design, parts) = learn(&source, &options);
        let (mine, theirs) = (&design.recipe, &whole.recipe);
        assert_eq!(mine.coefficient_names(), theirs.coefficient_names());
        let (stored, given) = (&design.description, whole.store.description());
        for (a, b) in stored.columns.iter().zip(&given.columns) {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
            assert!(near(a.transform.shift, b.transform.shift) && near(a.transform.scale, b.transform.scale));
            assert!(
                near(a.sd, b.sd) && a.factor == b.factor && a.half_range.is_some() == b.half_range.is_some()
            );
        }
        assert!((stored.response_shift - given.response_shift).abs() < 1e-12);
        // Every row of every part is that of the whole.
        let mut places = vec![0; 400];
        (0..400).for_each(|position| places[whole.store.original_row(position)] = position);
        let mut first = 0;
        for part in &parts {
            let (store, _) = store_part(part, &design.recipe, stored).unwrap();
            for row in 0..store.rows() {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                store.append_row(row, &mut a);
                whole.store.append_row(places[first + row], &mut b);
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs())), "{a:?} {b:?}");
            }
            first += store.rows();
        }
        assert_eq!(first, 400);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn hashes_notice_what_sizes_do_not() {
    let folder = folder("hash");
    let path = write(&folder, "a.csv", 0..300);
    let text = std::fs::read_to_string(&path).unwrap();
    let source = open(&path).unwrap();
    let (design, parts) = learn(&source, &CodingOptions::new("y"));
    let wanted = Learning::new(&source, &CodingOptions::new("y"), None).unwrap().wanted().clone();
    let before = learn_part(&parts[0], 0, &wanted).unwrap().hashes;
    let now = || store_part(&parts[0], &design.recipe, &design.description).unwrap().1;
    assert_eq!(before.differs(&now()), None);
    // One value; two labels of neighbours swapped.
    for (from, to, column) in [("\n1,", "\n2,", "y"), ("c1,z1", "c2,z1", "city")] {
        let changed = text.replacen(from, to, 1);
        if changed == text {
            continue;
        }
        std::fs::write(&path, &changed).unwrap();
        assert_eq!(before.differs(&now()), Some(column));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
