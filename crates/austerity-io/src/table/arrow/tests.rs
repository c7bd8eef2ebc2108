//! Columns of every type against what they were made of; memory that contradicts itself; who releases what.

use std::sync::atomic::Ordering;

use super::interface::producer::{Given, alone, stream};
use super::*;
use crate::table::{Chunk, Column, Missing, Source};

fn field(name: &str, format: &str) -> Field {
    Field { name: name.into(), format: format.into(), ordered: false, children: Vec::new(), dictionary: None }
}

/// Rows as bytes, without missing values.
fn plain<const B: usize>(values: &[[u8; B]]) -> Given {
    let length = values.len() as i64;
    Given { length, buffers: vec![None, Some(values.concat())], ..Given::default() }
}

fn texts(values: &[&str]) -> Given {
    let ends = values.iter().scan(0, |end, text| {
        *end += text.len() as i32;
        Some(*end)
    });
    let offsets: Vec<[u8; 4]> = std::iter::once(0).chain(ends).map(i32::to_ne_bytes).collect();
    let length = values.len() as i64;
    let buffers = vec![None, Some(offsets.concat()), Some(values.concat().into_bytes())];
    Given { length, buffers, ..Given::default() }
}

/// Text as views: long ones in a buffer of their own.
fn views(values: &[&str]) -> Given {
    let (mut data, mut views) = (Vec::new(), Vec::new());
    for text in values {
        let mut view = (text.len() as i32).to_ne_bytes().to_vec();
        if text.len() <= 12 {
            view.extend(text.bytes());
        } else {
            view.extend(&text.as_bytes()[..4]);
            view.extend(0_i32.to_ne_bytes());
            view.extend((data.len() as i32).to_ne_bytes());
            data.extend(text.bytes());
        }
        view.resize(16, 0);
        views.extend(view);
    }
    let sizes = (data.len() as i64).to_ne_bytes().to_vec();
    let buffers = vec![None, Some(views), Some(data), Some(sizes)];
    Given { length: values.len() as i64, buffers, ..Given::default() }
}

fn batch(children: Vec<Given>) -> Given {
    let length = children[0].length - children[0].offset;
    Given { length, buffers: vec![None], children, ..Given::default() }
}

/// The columns of one batch.
fn columns(fields: Vec<Field>, batches: Vec<Given>) -> Result<Vec<(String, ArrowColumn)>, String> {
    let all = Field { children: fields, ..field("", "+s") };
    read(&mut stream(all, batches).0, None, "", &mut || Ok(()))
}

fn one(of: Field, values: Given) -> Result<Column, String> {
    let made = columns(vec![of], vec![batch(vec![values])])?.remove(0);
    whole(made.1)
}

fn whole(column: ArrowColumn) -> Result<Column, String> {
    let source = Source::of_held("memory", [("x".to_owned(), column.into())]);
    let table = source.read(None).map_err(|error| error.to_string())?;
    Ok(table.columns.into_iter().next().unwrap())
}

fn numbers(column: Column) -> Vec<f64> {
    match column {
        Column::Numbers(values) => values,
        Column::Levels { .. } => panic!("levels"),
    }
}

fn labels(column: Column) -> Vec<String> {
    match column {
        Column::Levels { codes, labels } => codes.iter().map(|&code| labels[code as usize].clone()).collect(),
        Column::Numbers(_) => panic!("numbers"),
    }
}

#[test]
fn numbers_of_every_type() {
    let cases = [
        ("c", plain(&[(-3_i8).to_ne_bytes()]), -3.0),
        ("C", plain(&[250_u8.to_ne_bytes()]), 250.0),
        ("s", plain(&[(-300_i16).to_ne_bytes()]), -300.0),
        ("S", plain(&[65_000_u16.to_ne_bytes()]), 65_000.0),
        ("i", plain(&[i32::MIN.to_ne_bytes()]), -2_147_483_648.0),
        ("I", plain(&[u32::MAX.to_ne_bytes()]), 4_294_967_295.0),
        ("l", plain(&[(-5_i64).to_ne_bytes()]), -5.0),
        ("L", plain(&[u64::MAX.to_ne_bytes()]), u64::MAX as f64),
        ("e", plain(&[0xc000_u16.to_ne_bytes()]), -2.0),
        ("f", plain(&[0.1_f32.to_ne_bytes()]), f64::from(0.1_f32)),
        ("g", plain(&[0.1_f64.to_ne_bytes()]), 0.1),
        ("d:9,2,32", plain(&[(-12_345_i32).to_ne_bytes()]), -123.45),
        ("d:18,3,64", plain(&[12_345_i64.to_ne_bytes()]), 12.345),
        ("d:38,4", plain(&[(-12_345_i128).to_ne_bytes()]), -1.2345),
        ("d:38,0,256", plain(&[wide_minus_seven()]), -7.0),
        ("tdD", plain(&[19_000_i32.to_ne_bytes()]), 19_000.0),
        ("tdm", plain(&[(86_400_000_i64 * 3).to_ne_bytes()]), 3.0),
        ("tsu:Europe/Berlin", plain(&[1_500_000_i64.to_ne_bytes()]), 1.5),
        ("tsn:", plain(&[1_500_000_000_i64.to_ne_bytes()]), 1.5),
        ("tss:", plain(&[(-7_i64).to_ne_bytes()]), -7.0),
        ("ttm", plain(&[2_500_i32.to_ne_bytes()]), 2.5),
        ("ttn", plain(&[2_500_000_000_i64.to_ne_bytes()]), 2.5),
        ("tDm", plain(&[2_500_i64.to_ne_bytes()]), 2.5),
        ("b", plain(&[[1_u8]]), 1.0),
    ];
    for (format, given, value) in cases {
        assert_eq!(one(field("x", format), given).map(numbers), Ok(vec![value]), "{format}");
    }
}

fn wide_minus_seven() -> [u8; 32] {
    let mut bytes = [0xff; 32];
    let low = if cfg!(target_endian = "little") { 0 } else { 31 };
    bytes[low] = 0xf9;
    bytes
}

#[test]
fn offsets_of_batches_and_columns_add_up() {
    let values: Vec<[u8; 8]> = (0..10).map(|value| f64::from(value).to_ne_bytes()).collect();
    let child = Given { offset: 2, length: 8, ..plain(&values) };
    let bits = Given {
        offset: 1,
        length: 9,
        buffers: vec![None, Some(vec![0b0101_0101, 0b11])],
        ..Given::default()
    };
    let given =
        Given { length: 4, offset: 3, buffers: vec![None], children: vec![child, bits], ..Given::default() };
    let made = columns(vec![field("x", "g"), field("b", "b")], vec![given.clone(), given]).unwrap();
    let [(_, x), (_, b)] = made.try_into().unwrap();
    assert_eq!(numbers(whole(x).unwrap()), [5.0, 6.0, 7.0, 8.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(numbers(whole(b).unwrap()), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn text_of_every_layout_is_levels() {
    let said = ["Bonn", "a town with a long name", "", "Bonn", "Jena"];
    for (format, given) in [("u", texts(&said)), ("vu", views(&said))] {
        assert_eq!(one(field("x", format), given).map(labels).unwrap(), said, "{format}");
    }
    let offsets: Vec<[u8; 8]> = [0_i64, 4, 4].map(i64::to_ne_bytes).into();
    let large = Given {
        length: 2,
        buffers: vec![None, Some(offsets.concat()), Some(b"Bonn".to_vec())],
        ..Given::default()
    };
    assert_eq!(one(field("x", "U"), large).map(labels).unwrap(), ["Bonn", ""]);
}

/// Batches with dictionaries of their own, in other orders.
fn dictionaries() -> (Field, Vec<Given>) {
    let of = Field { dictionary: Some(Box::new(field("", "u"))), ..field("city", "C") };
    let given = |codes: &[u8], values: &[&str]| {
        let codes: Vec<[u8; 1]> = codes.iter().map(|&code| [code]).collect();
        batch(vec![Given { dictionary: Some(Box::new(texts(values))), ..plain(&codes) }])
    };
    (of, vec![given(&[1, 0, 1], &["Ulm", "Bonn", "Kiel"]), given(&[0, 1], &["Jena", "Ulm"])])
}

#[test]
fn dictionaries_of_batches_are_brought_together() {
    let (of, batches) = dictionaries();
    let mut made = columns(vec![of], batches).unwrap().remove(0).1;
    let there = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(made.labels(), (there(&["Ulm", "Bonn", "Jena"]), there(&["Kiel"])));
    assert!(!made.is_ordered());
    made.put_in_order(&there(&["Jena", "Kiel", "Bonn", "Ulm"]));
    assert_eq!(made.labels(), (there(&["Jena", "Bonn", "Ulm"]), there(&["Kiel"])));
    assert!(made.is_ordered());
    assert_eq!(labels(whole(made).unwrap()), ["Bonn", "Ulm", "Bonn", "Jena", "Ulm"]);
    let ordered = Field { ordered: true, ..dictionaries().0 };
    assert!(columns(vec![ordered], dictionaries().1).unwrap()[0].1.is_ordered());
}

#[test]
fn dictionaries_of_numbers_are_numbers() {
    let of = Field { dictionary: Some(Box::new(field("", "g"))), ..field("x", "i") };
    let values = plain(&[2.5_f64.to_ne_bytes(), (-1.0_f64).to_ne_bytes()]);
    let codes = [1_i32, 0, 1].map(i32::to_ne_bytes);
    let given = Given { dictionary: Some(Box::new(values)), ..plain(&codes) };
    assert_eq!(one(of, given).map(numbers), Ok(vec![-1.0, 2.5, -1.0]));
}

#[test]
fn missing_and_infinite_values_are_refused_with_their_row() {
    let eight = |values: &[f64]| plain(&values.iter().map(|value| value.to_ne_bytes()).collect::<Vec<_>>());
    let mut missing = eight(&[1.0, 2.0, 3.0]);
    (missing.nulls, missing.buffers[0]) = (-1, Some(vec![0b101]));
    let mut text = texts(&["a", "b"]);
    (text.nulls, text.buffers[0]) = (1, Some(vec![0b01]));
    let coded = Field { dictionary: Some(Box::new(field("", "u"))), ..field("x", "C") };
    let mut codes = plain(&[[0_u8], [0], [9]]);
    (codes.nulls, codes.buffers[0]) = (1, Some(vec![0b011]));
    codes.dictionary = Some(Box::new(texts(&["a"])));
    for (of, given, said) in [
        (field("x", "g"), missing, "row 2: the value is missing (`null`)"),
        (field("x", "g"), eight(&[1.0, f64::NAN]), "row 2: the value is missing (`NaN`)"),
        (field("x", "g"), eight(&[f64::INFINITY]), "row 1: `inf` is not a finite number"),
        (field("x", "u"), text, "row 2: the value is missing (`null`)"),
        (field("x", "n"), Given { length: 2, ..Given::default() }, "row 1: the value is missing"),
        (coded, codes, "row 3: the value is missing (`null`)"),
    ] {
        let message = one(of.clone(), given.clone()).unwrap_err();
        assert!(message.contains(said), "{message}");
        // The check before a fit says the same.
        let column = columns(vec![of], vec![batch(vec![given])]).unwrap().remove(0).1;
        assert!(
            Held::from(column)
                .check("memory".as_ref(), "x", Missing::Refuse)
                .unwrap_err()
                .to_string()
                .contains(said)
        );
    }
}

#[test]
fn what_contradicts_itself_is_an_error() {
    let eight = plain(&[1.0_f64.to_ne_bytes()]);
    let far = Given { dictionary: Some(Box::new(texts(&["a"]))), ..plain(&[[3_u8]]) };
    let mut back = texts(&["ab", "c"]);
    back.buffers[1] = Some([0_i32, 3, 2].map(i32::to_ne_bytes).concat());
    let mut outside = views(&["a text of more than twelve bytes"]);
    outside.buffers[3] = Some(5_i64.to_ne_bytes().to_vec());
    let mut bytes = texts(&["ab"]);
    bytes.buffers[2] = Some(vec![0xff, 0xfe]);
    let coded = |format: &str| Field { dictionary: Some(Box::new(field("", "u"))), ..field("x", format) };
    for (of, given, said) in [
        (field("x", "g"), Given { length: -1, ..eight.clone() }, "rows"),
        (field("x", "g"), Given { offset: i64::MAX, ..eight.clone() }, "rows from"),
        (field("x", "g"), Given { buffers: vec![None], ..eight.clone() }, "1 buffers where 2 are needed"),
        (field("x", "g"), Given { buffers: vec![None, None], ..eight.clone() }, "values without memory"),
        (field("x", "u"), back, "text outside of its memory"),
        (field("x", "vu"), outside, "text outside of its memory"),
        (field("x", "u"), bytes, "not UTF-8"),
        (coded("C"), far, "stands for nothing"),
        (coded("C"), plain(&[[0_u8]]), "codes without the values"),
        (field("x", "+l"), eight.clone(), "column `x` holds lists"),
        (field("x", "z"), eight.clone(), "raw bytes"),
        (field("x", "tin"), eight.clone(), "calendar intervals"),
        (field("x", "?"), eight.clone(), "the Arrow type `?`"),
    ] {
        let length = given.length.max(1);
        let whole = Given { length, buffers: vec![None], children: vec![given], ..Given::default() };
        let made = columns(vec![of], vec![whole]);
        let message = made.and_then(|mut columns| self::whole(columns.remove(0).1)).unwrap_err();
        assert!(message.contains(said), "{message}");
    }
    let broken = Given { length: i64::MIN, ..Given::default() };
    let message = columns(vec![field("x", "g")], vec![broken]).unwrap_err();
    assert!(message.contains("the disk is on fire"), "{message}");
    let fewer = Given { length: 1, buffers: vec![None], ..Given::default() };
    assert!(columns(vec![field("x", "g")], vec![fewer]).unwrap_err().contains("another number of columns"));
}

#[test]
fn everything_is_released_once_and_unwanted_columns_at_once() {
    let all = Field { children: vec![field("a", "c"), field("b", "c")], ..field("", "+s") };
    let given = batch(vec![plain(&[[1_u8]]), plain(&[[2_u8]])]);
    let (mut stream, released) = stream(all, vec![given.clone(), given]);
    let wanted = ["b".to_owned()];
    let kept = read::<String>(&mut stream, Some(&wanted), "", &mut || Ok(())).unwrap();
    // Of each batch the frame and one of its columns.
    assert_eq!(released.load(Ordering::SeqCst), 4);
    assert_eq!(kept[0].0, "b");
    drop(stream);
    drop(kept);
    assert_eq!(released.load(Ordering::SeqCst), 6);
}

#[test]
fn a_stream_of_single_columns_and_one_that_is_ended() {
    let given = plain(&[[1_u8], [2]]);
    let mut single = stream(field("", "c"), vec![given.clone(), given.clone()]).0;
    let mut made = read::<String>(&mut single, None, "y", &mut || Ok(())).unwrap();
    let (name, column) = made.remove(0);
    assert_eq!((name.as_str(), numbers(whole(column).unwrap())), ("y", vec![1.0, 2.0, 1.0, 2.0]));
    let mut made = read::<String>(&mut alone(&field("", "c"), &given), None, "y", &mut || Ok(())).unwrap();
    assert_eq!(numbers(whole(made.remove(0).1).unwrap()), [1.0, 2.0]);
    let mut single = stream(field("", "c"), vec![given]).0;
    assert_eq!(read(&mut single, None, "y", &mut || Err("ended".to_owned())).unwrap_err(), "ended");
}

#[test]
fn pieces_cross_batches() {
    let rows: Vec<Vec<[u8; 2]>> =
        [3000, 1, 0, 5000, 4096].map(|rows: u16| (0..rows).map(u16::to_ne_bytes).collect()).into();
    let batches = rows.iter().map(|rows| batch(vec![plain(rows)])).collect();
    let column = columns(vec![field("x", "S")], batches).unwrap().remove(0).1;
    let source = Source::of_held("memory", [("x".to_owned(), column.into())]);
    let mut found = Vec::new();
    let told = source.scan(&["x".into()], &[], &mut |first, chunks| {
        assert_eq!(first, found.len());
        let Chunk::Numbers(values) = chunks[0] else { panic!("levels") };
        found.extend_from_slice(values);
        Ok(())
    });
    let wanted: Vec<f64> = rows.concat().iter().map(|&value| f64::from(u16::from_ne_bytes(value))).collect();
    assert_eq!((told.unwrap(), found), (wanted.len(), wanted));
}
