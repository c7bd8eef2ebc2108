//! Files, cells, columns and roles that are refused.

use std::fs;

use super::support::{Scratch, austerity, fit_refuses, flate, good, lines, number, refused, table, text};

#[test]
fn files_that_are_no_tables() {
    let folder = Scratch::new("files");
    let parquet = folder.name("whole.parquet");
    let made = austerity(&["generate", "logistic", "--rows", "500", "--features", "2", "--out", &parquet]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let whole = fs::read(&parquet).unwrap();
    let mut gzip = flate(&good());
    gzip.truncate(gzip.len() - 100);
    fs::create_dir(folder.name("store")).unwrap();
    fs::create_dir(folder.name("old")).unwrap();
    let cases: &[(&str, String, &[&str])] = &[
        ("missing", folder.name("nope.csv"), &["nope.csv", "check the path"]),
        ("empty", folder.file("empty.csv", ""), &["empty.csv", "empty", "at least one row"]),
        ("blank lines", folder.file("blank.csv", "\n\n"), &["blank.csv", "empty"]),
        ("header only", folder.file("header.csv", "a,b,y\n"), &["header.csv", "no rows"]),
        (
            "cut Parquet",
            folder.file("cut.parquet", &whole[..whole.len() * 9 / 10]),
            &["cut.parquet", "truncated", "again"],
        ),
        ("little of a Parquet file", folder.file("bit.parquet", &whole[..6]), &["bit.parquet"]),
        ("text called Parquet", folder.file("text.parquet", good()), &["text.parquet", "PAR1"]),
        ("cut gzip", folder.file("cut.csv.gz", gzip), &["cut.csv.gz", "truncated"]),
        (
            "cut array",
            folder.file("cut.npy", b"\x93NUMPY\x01\x00v\x00{'descr'"),
            &["cut.npy", "truncated", "numpy.save"],
        ),
        ("zip archive", folder.file("book.xlsx", "PK\x03\x04rest"), &["book.xlsx", "zip", "CSV"]),
        ("UTF-16", folder.file("wide.csv", b"\xff\xfea\0,\0y\0\n\0"), &["wide.csv", "UTF-16", "UTF-8"]),
        ("Latin-1 name", folder.file("latin.csv", b"gr\xf6\xdfe,y\n1,0\n2,1\n"), &["latin.csv", "UTF-8"]),
        (
            "Latin-1 cell",
            folder.file("cell.csv", b"k,y\na,0\n\xe4,1\n"),
            &["cell.csv", "`k`", "row 2", "UTF-8"],
        ),
        ("zero bytes", folder.file("zero.csv", table(5, "1,\0,0")), &["zero.csv", "zero bytes"]),
        (
            "open quote",
            folder.file("quote.csv", table(17, "1,\"2,0")),
            &["quote.csv", "line 18", "not closed"],
        ),
        ("a folder", folder.name("old"), &["old", "folder", "convert"]),
        (
            "an empty store",
            {
                folder.file("store/meta.json", "{}");
                folder.name("store")
            },
            &["meta.json", "convert the table again"],
        ),
        (
            "a cut store",
            {
                folder.file("old/meta.json", "{\"format\":");
                folder.name("old")
            },
            &["meta.json"],
        ),
    ];
    // The plain folder comes first in the table but is looked at after the cut store was put there: look at it apart.
    for (what, data, words) in cases.iter().filter(|case| case.0 != "a folder") {
        fit_refuses(&folder, what, (data, &[]), words);
    }
    fs::remove_file(folder.name("old/meta.json")).unwrap();
    let (what, data, words) = cases.iter().find(|case| case.0 == "a folder").unwrap();
    fit_refuses(&folder, what, (data, &[]), words);
    for (what, data, words) in cases.iter().take(6) {
        refused(what, &["check", data, "--response", "y", "--json"], &folder.name("run"), words);
    }
}

#[test]
fn cells_that_are_wrong() {
    let folder = Scratch::new("cells");
    let cases: &[(&str, &str, &[&str])] = &[
        ("too few cells", "1.0,0", &["line 18", "2 cells", "has 3"]),
        ("too many cells", "1.0,2.0,0,5", &["line 18", "4 cells", "has 3"]),
        ("text", "1.0,hello,0", &["`b`", "row 17", "line 18", "`hello`", "categorical"]),
        ("text as response", "1.0,1.0,yes", &["`y`", "row 17", "`yes`"]),
        ("not a number", "1.0,NaN,0", &["`b`", "row 17", "`NaN`", "missing", "--missing drop"]),
        ("infinite", "1.0,-inf,0", &["`b`", "row 17", "`-inf`", "finite"]),
        ("too large for a double", "1.0,1e400,0", &["`b`", "row 17", "`1e400`", "finite"]),
        ("too large to be squared", "1.0,1e300,0", &["`b`", "row 17", "1e300", "rescale"]),
        ("empty", "1.0,,0", &["`b`", "row 17", "empty cell", "impute"]),
        ("empty response", "1.0,1.0,", &["`y`", "row 17", "missing"]),
        ("missing", "1.0,NA,0", &["`b`", "row 17", "`NA`"]),
        ("decimal comma", "1.0,\"2,5\",0", &["`b`", "row 17", "`2,5`"]),
        ("third class", "1.0,1.0,2", &["`y`", "row 17", "third value", "family"]),
    ];
    for (what, line, words) in cases {
        let data = folder.file("data.csv", table(17, line));
        let words = [&["data.csv"], *words].concat();
        let family: &[&str] = if *what == "third class" { &["--family", "logistic"] } else { &[] };
        fit_refuses(&folder, what, (&data, family), &words);
        let arguments = [&["check", &data, "--response", "y", "--json"], family].concat();
        refused(what, &arguments, &folder.name("run"), &words);
    }
    let commas = lines("a,b,y", 50, |i| format!("\"{},{}\",2,{}", i % 7, i % 5, i % 2));
    fit_refuses(
        &folder,
        "decimal commas",
        (&folder.file("d.csv", commas), &[]),
        &["`a`", "row 1", "`0,0`", "decimal point"],
    );
    let commas = lines("a;y", 50, |i| format!("{},{};{}", i % 7, i % 5, i % 2));
    fit_refuses(
        &folder,
        "semicolons",
        (&folder.file("s.csv", commas), &[]),
        &["`a`", "row 1", "`0,0`", "decimal point"],
    );
    let large = lines("a,y", 50, |i| {
        format!("{},{}", number(i, 0), if i == 9 { "1e300".into() } else { number(i, 1).to_string() })
    });
    fit_refuses(
        &folder,
        "large response",
        (&folder.file("l.csv", large), &[]),
        &["`y`", "row 10", "1e300", "rescale"],
    );
}

#[test]
fn columns_and_roles_that_do_not_fit() {
    let folder = Scratch::new("roles");
    let data = folder.file("good.csv", good());
    let twice = folder.file("twice.csv", good().replacen("a,b,y", "a,a,y", 1));
    let zero = folder.file("zero.csv", lines("a,y", 60, |i| format!("{},0", number(i, 0))));
    let ids = folder.file("ids.csv", lines("k,y", 1500, |i| format!("id{i},{}", i % 2)));
    let numbers = folder.file("numbers.csv", lines("k,y", 1500, |i| format!("{i},{}", i % 2)));
    let same = folder.file(
        "same.csv",
        lines("a,b,y", 60, |i| format!("{0},{0},{1}", number(i, 0), u8::from(number(i, 1) > 0.0))),
    );
    let counts = |bad: &str| {
        lines("a,y", 60, |i| {
            format!("{},{}", number(i, 0), if i == 9 { bad.into() } else { (i % 4).to_string() })
        })
    };
    let (minus, half) = (folder.file("minus.csv", counts("-3")), folder.file("half.csv", counts("2.5")));
    let one = folder.file("one.csv", "a,y\n1,0\n");
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        ("unknown response", &data, &["--response", "yy"], &["good.csv", "`yy`", "did you mean `y`"]),
        ("unknown feature", &data, &["--features", "a,bb"], &["good.csv", "`bb`", "did you mean `b`"]),
        ("unknown weights", &data, &["--weights", "weight"], &["`weight`", "its columns"]),
        ("unknown offset", &data, &["--offset", "o"], &["`o`"]),
        ("unknown categorical", &data, &["--categorical", "kk"], &["`kk`"]),
        ("nameless feature", &data, &["--features", ","], &["good.csv", "its columns"]),
        ("two names", &twice, &[], &["twice.csv", "columns 1 and 2", "`a`", "rename"]),
        ("response as feature", &data, &["--features", "a,y"], &["`y`", "leave it out of the features"]),
        ("a feature twice", &data, &["--features", "a,a"], &["`a`", "twice"]),
        ("response as offset", &data, &["--offset", "y"], &["`y`", "one role"]),
        ("nothing to explain", &zero, &[], &["zero.csv", "`y`", "0 in every row"]),
        ("nothing to explain, reals", &zero, &["--family", "linear"], &["zero.csv", "`y`", "0 in every row"]),
        ("a level per row", &ids, &[], &["ids.csv", "`k`", "1000", "leave it out"]),
        (
            "a level per row, numbers",
            &numbers,
            &["--categorical", "k"],
            &["numbers.csv", "`k`", "leave it out"],
        ),
        ("a column twice", &same, &[], &["same.csv", "`a` and `b`", "drop one"]),
        (
            "negative count",
            &minus,
            &["--family", "poisson"],
            &["minus.csv", "`y`", "row 10", "-3", "0, 1, 2"],
        ),
        ("half a count", &half, &["--family", "poisson"], &["half.csv", "`y`", "row 10", "2.5"]),
        ("one row", &one, &[], &["one.csv", "`y`", "every row"]),
        ("one row of counts", &one, &["--family", "poisson"], &["1", "at least 2"]),
    ];
    for (what, data, options, words) in cases {
        fit_refuses(&folder, what, (data, options), words);
    }
}

#[test]
fn weights_offsets_and_trials_that_do_not_fit() {
    let folder = Scratch::new("sides");
    let sides = folder.file(
        "sides.csv",
        lines("a,zero,minus,word,n,y", 60, |i| {
            let (zero, minus, word) = if i == 9 { ("0", "-1", "x") } else { ("2", "2", "1") };
            let (n, y) = if i == 9 { (2, 5) } else { (5, i % 6) };
            format!("{},{zero},{minus},{word},{n},{y}", number(i, 0))
        }),
    );
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            "weight of zero",
            &["--features", "a", "--weights", "zero", "--family", "poisson"],
            &["`zero`", "row 10", "positive", "drop the row"],
        ),
        (
            "negative weight",
            &["--features", "a", "--weights", "minus", "--family", "poisson"],
            &["`minus`", "row 10", "-1", "positive"],
        ),
        (
            "weight in words",
            &["--features", "a", "--weights", "word", "--family", "poisson"],
            &["`word`", "row 10", "`x`"],
        ),
        (
            "offset in words",
            &["--features", "a", "--offset", "word", "--family", "poisson"],
            &["`word`", "row 10", "`x`"],
        ),
        ("more successes than trials", &["--features", "a", "--trials", "n"], &["`y`", "row 10", "trials"]),
        ("no trials", &["--features", "a", "--trials", "zero"], &["`zero`", "row 10"]),
        ("trials of counts", &["--trials", "n", "--family", "poisson"], &["--trials n", "logistic"]),
    ];
    for (what, options, words) in cases {
        fit_refuses(&folder, what, (&sides, options), words);
    }
}
