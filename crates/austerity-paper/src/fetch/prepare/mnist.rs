//! The digits 7 and 9 of MNIST: images, and scores on the first 50 principal components of the train images.
//!
//! `mnist79_train` and `mnist79_test` have the row of the original file, the digit and the pixels; `mnist79_pca50_train` and `…_test`, in
//! the same order, the label (**+1 for 7, −1 for 9**) and `pc1` … `pc50`; `mnist79_pca50_components` the mean image (row 0), the
//! loadings, the standard deviations and the explained shares.
//!
//! Pixels are divided by 255. Mean and components are of the train images only. Scores are centred, not scaled, and there is no
//! constant column. Time: about 10 s, most of it the covariance and its eigenvectors.

use std::path::Path;

use austerity_io::write::{Field, TableWriter};

use super::components::Components;
use super::lists::{self, Cells};
use super::{Made, Prepared, idx, wrong};
use crate::fetch::error::Result;

/// Components that are kept, as in the paper.
const KEPT: usize = 50;
/// The digits, as +1 and −1.
const DIGITS: [u8; 2] = [7, 9];

/// Images of the two digits, in their original order.
struct Images {
    index: Vec<i32>,
    digit: Vec<i32>,
    pixels: Vec<u8>,
    width: usize,
}

pub(super) fn prepare(train: [&Path; 2], test: [&Path; 2], out: &Path) -> Result<Prepared> {
    let train = read(train, ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"])?;
    let test = read(test, ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])?;
    let problem = |problem: String| wrong("train-images-idx3-ubyte", None, problem);
    if test.width != train.width {
        return Err(problem(format!(
            "has {} pixels in an image, the test images {}",
            train.width, test.width
        )));
    }
    if train.width < KEPT || train.index.len() <= KEPT {
        return Err(problem(format!(
            "has {} sevens and nines of {} pixels: too few for {KEPT} components",
            train.index.len(),
            train.width
        )));
    }
    let components = Components::of(&train.pixels, train.width, KEPT);
    let mut tables = Vec::new();
    for (images, part) in [(&train, "train"), (&test, "test")] {
        tables.push(write_images(images, out, &format!("mnist79_{part}.parquet"))?);
        tables.push(write_scores(images, &components, out, &format!("mnist79_pca50_{part}.parquet"))?);
    }
    tables.push(write_components(&components, out, "mnist79_pca50_components.parquet")?);
    let count = |images: &Images, digit: u8| images.digit.iter().filter(|&&d| d == i32::from(digit)).count();
    let counts = |images: &Images| format!("{} sevens and {} nines", count(images, 7), count(images, 9));
    let remarks = vec![
        format!("train: {}; test: {}", counts(&train), counts(&test)),
        format!(
            "{KEPT} components explain {:.2} % of the variance",
            100.0 * components.explained.iter().sum::<f64>()
        ),
    ];
    Ok(Prepared { tables, remarks })
}

fn read([images, labels]: [&Path; 2], [image_name, label_name]: [&str; 2]) -> Result<Images> {
    let images = idx::read(images, image_name, 3)?;
    let labels = idx::read(labels, label_name, 1)?;
    if images.dimensions[0] != labels.bytes.len() {
        let (images, labels) = (images.dimensions[0], labels.bytes.len());
        return Err(wrong(label_name, None, format!("has {labels} labels for {images} images")));
    }
    let width = images.dimensions[1] * images.dimensions[2];
    let mut kept = Images { index: Vec::new(), digit: Vec::new(), pixels: Vec::new(), width };
    for (row, &digit) in labels.bytes.iter().enumerate().filter(|(_, digit)| DIGITS.contains(digit)) {
        kept.index.push(row as i32);
        kept.digit.push(i32::from(digit));
        kept.pixels.extend_from_slice(&images.bytes[row * width..(row + 1) * width]);
    }
    Ok(kept)
}

fn write_images(images: &Images, out: &Path, name: &str) -> Result<Made> {
    let columns = [
        ("index", Cells::Integers(&images.index, 32)),
        ("label", Cells::Integers(&images.digit, 8)),
        ("pixels", Cells::Bytes(&images.pixels, images.width)),
    ];
    lists::write(&out.join(name), &columns)?;
    Ok(Made { name: name.into(), rows: images.index.len(), columns: columns.len() })
}

fn write_scores(images: &Images, components: &Components, out: &Path, name: &str) -> Result<Made> {
    let mut fields = vec![Field::integer("label")];
    fields.extend((1..=KEPT).map(|j| Field::single(format!("pc{j}"))));
    let label: Vec<f64> =
        images.digit.iter().map(|&d| if d == i32::from(DIGITS[0]) { 1.0 } else { -1.0 }).collect();
    let scores = components.scores(&images.pixels);
    let mut columns: Vec<&[f64]> = vec![&label];
    columns.extend(scores.iter().map(Vec::as_slice));
    let mut writer = TableWriter::create(out.join(name), fields)?;
    writer.write(&columns)?;
    writer.finish()?;
    Ok(Made { name: name.into(), rows: label.len(), columns: columns.len() })
}

fn write_components(components: &Components, out: &Path, name: &str) -> Result<Made> {
    let number: Vec<i32> = (0..=KEPT as i32).collect();
    // The mean image, row 0, has neither.
    let with_mean = |values: &[f64]| [&[f64::NAN], values].concat();
    let loading = [components.mean.as_slice(), components.loadings.as_slice()].concat();
    let (sd, explained) = (with_mean(&components.sd), with_mean(&components.explained));
    let columns = [
        ("pc", Cells::Integers(&number, 32)),
        ("sd", Cells::Numbers(&sd)),
        ("explained_variance_ratio", Cells::Numbers(&explained)),
        ("loading", Cells::Lists(&loading, components.mean.len())),
    ];
    lists::write(&out.join(name), &columns)?;
    Ok(Made { name: name.into(), rows: number.len(), columns: columns.len() })
}
