//! Preparation: files of the true formats become the tables that the experiments read; others are refused where they are wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::formats::{covertype, digits, gzip, idx, miniboone, zip};
use crate::common::server::{Manner, Server};
use crate::common::{Folder, cells, got, refused};
use austerity_paper::fetch::{Checksums, DataSet, Origin};

const MNIST: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

#[test]
fn images_become_scores_on_principal_components() {
    let (server, folder) = (Server::start(), Folder::new("mnist"));
    let (images, labels) = digits(600, 1);
    let (test_images, test_labels) = digits(90, 2);
    let contents = [images.as_slice(), &labels, &test_images, &test_labels];
    for (name, bytes) in MNIST.iter().zip(contents) {
        server.serve(&format!("{name}.gz"), &gzip(bytes), Manner::Whole);
    }
    let named: Vec<(&str, &[u8])> = MNIST.iter().copied().zip(contents).collect();
    let fetched = got(DataSet::Mnist79, &folder.options(&server.address(), folder.sums(&named)));
    let names: Vec<&str> = fetched.record.files.iter().map(|file| file.name.as_str()).collect();
    assert!(DataSet::Mnist79.files().iter().all(|name| names.contains(name)), "{names:?}");

    let kept: Vec<usize> = (0..600).filter(|&row| labels[8 + row] != 3).collect();
    let index = folder.column("mnist79_train.parquet", "index");
    assert_eq!(index, kept.iter().map(|&row| row as f64).collect::<Vec<_>>());
    let digit = folder.column("mnist79_train.parquet", "label");
    assert!(digit.iter().zip(&kept).all(|(&digit, &row)| digit == f64::from(labels[8 + row])));
    let signs = folder.column("mnist79_pca50_train.parquet", "label");
    assert!(signs.iter().zip(&digit).all(|(&sign, &digit)| sign == if digit == 7.0 { 1.0 } else { -1.0 }));
    let pixels = cells(&folder.path("data/mnist79_train.parquet"), 2);
    let original =
        |row: usize| images[16 + 64 * row..16 + 64 * (row + 1)].iter().map(|&byte| f64::from(byte));
    assert!(pixels.iter().zip(&kept).all(|(found, &row)| found.iter().copied().eq(original(row))));

    // Scores are the centred pixels times the loadings, for test images too; the loadings are orthonormal.
    let components = cells(&folder.path("data/mnist79_pca50_components.parquet"), 3);
    assert_eq!((components.len(), components[0].len()), (51, 64));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for (i, a) in components.iter().enumerate().skip(1) {
        for (j, b) in components.iter().enumerate().skip(1) {
            assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-10, "{i} {j}");
        }
    }
    for part in ["train", "test"] {
        let pixels = cells(&folder.path(&format!("data/mnist79_{part}.parquet")), 2);
        for (component, loading) in [(1, &components[1]), (50, &components[50])] {
            let scores = folder.column(&format!("mnist79_pca50_{part}.parquet"), &format!("pc{component}"));
            for (score, image) in scores.iter().zip(&pixels) {
                let centred: Vec<f64> =
                    image.iter().zip(&components[0]).map(|(x, m)| x / 255.0 - m).collect();
                assert!((score - dot(&centred, loading)).abs() < 1e-6, "{part} {component}");
            }
        }
    }
    let scores = folder.column("mnist79_pca50_train.parquet", "pc1");
    let sd = (scores.iter().map(|score| score * score).sum::<f64>() / (scores.len() as f64 - 1.0)).sqrt();
    assert!((sd - cells(&folder.path("data/mnist79_pca50_components.parquet"), 1)[1][0]).abs() < 1e-6);
}

#[test]
fn miniboone_loses_unmeasured_events_and_its_units() {
    let (server, folder) = (Server::start(), Folder::new("miniboone"));
    let text = miniboone(30, 70);
    let archive = zip(&[("readme.txt", b"about"), ("folder/MiniBooNE_PID.txt", text.as_bytes())]);
    server.serve("miniboone+particle+identification.zip", &archive, Manner::Whole);
    let sums = folder.sums(&[("MiniBooNE_PID.txt", text.as_bytes())]);
    let record = got(DataSet::Miniboone, &folder.options(&server.address(), sums)).record;
    assert_eq!((record.files[0].rows, record.files[0].columns), (90, 51));
    assert!(record.remarks[0].contains("27 signal and 63 background"), "{:?}", record.remarks);
    let label = folder.column("miniboone.parquet", "label");
    assert!(label.iter().enumerate().all(|(row, &sign)| sign == if row < 27 { 1.0 } else { -1.0 }));
    let original: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().nth(49).unwrap().parse().unwrap())
        .filter(|&value| value != -999.0)
        .collect();
    let mean = original.iter().sum::<f64>() / 90.0;
    let sd = (original.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 90.0).sqrt();
    let found = folder.column("miniboone.parquet", "f49");
    assert!(found.iter().zip(&original).all(|(z, x)| (z - (x - mean) / sd).abs() < 1e-6));
}

#[test]
fn covertype_comes_out_of_gzip_in_zip_with_names() {
    let (server, folder) = (Server::start(), Folder::new("covertype"));
    let text = covertype(500);
    let archive = zip(&[("covtype.info", b"about"), ("covtype.data.gz", &gzip(text.as_bytes()))]);
    server.serve("covertype.zip", &archive, Manner::Whole);
    let sums = folder.sums(&[("covtype.data", text.as_bytes())]);
    let record = got(DataSet::Covertype, &folder.options(&server.address(), sums)).record;
    assert_eq!((record.files[0].rows, record.files[0].columns), (500, 55));
    for (column, name) in [
        (0, "Elevation"),
        (9, "Horizontal_Distance_To_Fire_Points"),
        (12, "Wilderness_Area3"),
        (54, "Cover_Type"),
    ] {
        let original = text.lines().map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap());
        assert!(folder.column("covtype.parquet", name).into_iter().eq(original), "{name}");
    }
}

#[test]
fn a_folder_serves_too_packed_or_not() {
    let folder = Folder::new("folder");
    let text = covertype(50);
    folder.file("own/covtype.data", &text);
    let sums = folder.sums(&[("covtype.data", text.as_bytes())]);
    let from = folder.path("own").to_str().unwrap().to_owned();
    let options = folder.options(&from, sums);
    assert_eq!(got(DataSet::Covertype, &options).record.files[0].rows, 50);
    assert!(!folder.path("data/downloads").exists(), "nothing is copied");
    refused(DataSet::Miniboone, &folder.options(&from, Checksums::Known), &["own", "MiniBooNE_PID.txt"]);
    for wrong in ["ftp://x/y", "nowhere-at-all"] {
        let message = Origin::parse(wrong).unwrap_err().to_string();
        assert!(message.contains(wrong) && message.contains("http://"), "{message}");
    }
    let short = Checksums::Listed(folder.file("short", format!("{}  other\n", "a".repeat(64))));
    refused(DataSet::Covertype, &folder.options(&from, short), &["no line for covtype.data"]);
}

/// Content that is not as published, with words of the complaint.
fn content_is_refused(set: DataSet, name: &str, files: &[(&str, Vec<u8>)], words: &[&str]) {
    let folder = Folder::new(&format!("content-{name}"));
    std::fs::create_dir_all(folder.path("own")).unwrap();
    for (file, bytes) in files {
        folder.file(&format!("own/{file}"), bytes);
    }
    let from = folder.path("own").to_str().unwrap().to_owned();
    refused(set, &folder.options(&from, Checksums::Unchecked), words);
    let left = std::fs::read_dir(folder.path("data")).unwrap().count();
    assert_eq!(left, 0, "{name}: something was left");
}

#[test]
fn wrong_content_is_refused_where_it_is_wrong() {
    let line = covertype(1);
    let three = covertype(3);
    let text = |text: String| vec![("covtype.data", text.into_bytes())];
    let set = DataSet::Covertype;
    content_is_refused(
        set,
        "word",
        &text(format!("{three}{}", line.replacen(',', ",x", 1))),
        &["line 4", "`x", "whole number"],
    );
    content_is_refused(set, "short", &text(format!("{three}1,2,3\n")), &["line 4", "3 numbers where 55"]);
    let class = format!("{},8\n", line.trim_end().rsplit_once(',').unwrap().0);
    content_is_refused(set, "class", &text(class), &["line 1", "cover type 8"]);
    let cells: Vec<&str> = line.trim_end().split(',').collect();
    let twice = [&cells[..10], &["1", "1", "0", "0"], &cells[14..]].concat().join(",");
    content_is_refused(set, "areas", &text(twice), &["line 1", "wilderness areas", "exactly one"]);
    content_is_refused(set, "empty", &text(String::new()), &["no row"]);

    let set = DataSet::Miniboone;
    let text = |text: String| vec![("MiniBooNE_PID.txt", text.into_bytes())];
    let good = miniboone(5, 5);
    content_is_refused(set, "counts", &text("many few\n".into()), &["line 1", "many few"]);
    let cut: String = good.lines().take(8).map(|line| format!("{line}\n")).collect();
    content_is_refused(set, "events", &text(cut), &["5 + 5 events are told, 7 are there"]);
    content_is_refused(set, "number", &text(good.replacen("E+", "F+", 1)), &["line 2", "no number"]);
    let archive = vec![("MiniBooNE_PID.txt", zip(&[("other.txt", b"x")]))];
    content_is_refused(set, "archive", &archive, &["holds no MiniBooNE_PID.txt", "other.txt"]);
    let whole = zip(&[("MiniBooNE_PID.txt", good.as_bytes())]);
    let cut = vec![("MiniBooNE_PID.txt", whole[..whole.len() / 2].to_vec())];
    content_is_refused(set, "cut-archive", &cut, &["no complete zip archive"]);

    let set = DataSet::Mnist79;
    let (images, labels) = digits(200, 1);
    let four = |images: Vec<u8>, labels: Vec<u8>| {
        let contents = [images.clone(), labels.clone(), images, labels];
        MNIST.iter().copied().zip(contents).collect::<Vec<_>>()
    };
    content_is_refused(
        set,
        "magic",
        &four(labels.clone(), labels.clone()),
        &["train-images", "begins with [0, 0, 8, 1]"],
    );
    let short = images[..images.len() - 1].to_vec();
    content_is_refused(set, "pixels", &four(short, labels.clone()), &["12800 bytes, but 12799 follow"]);
    content_is_refused(
        set,
        "labels",
        &four(images.clone(), idx(&[3], &[7, 9, 7])),
        &["3 labels for 200 images"],
    );
    let huge = idx(&[u32::MAX, u32::MAX, u32::MAX], &[]);
    content_is_refused(set, "huge", &four(huge, labels), &["dimensions"]);
    let few = digits(20, 1);
    content_is_refused(set, "few", &four(few.0, few.1), &["too few for 50 components"]);
}
