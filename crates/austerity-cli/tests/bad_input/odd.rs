//! Odd input that works, and where a proper prior makes the difference.

use super::support::{Scratch, fit_accepts, fit_refuses, flate, good, lines, names, number, remarks};

#[test]
fn flat_priors_that_leave_the_posterior_open() {
    let folder = Scratch::new("flat");
    let apart =
        folder.file("apart.csv", lines("a,y", 100, |i| format!("{},{}", i as f64 - 50.0, u8::from(i > 50))));
    let said = fit_accepts(&folder, "separable, proper prior", &apart, &[]);
    assert!(remarks(&said).contains("separable"), "{said}");
    let remedy = ["proper prior", "normal:2.5"];
    fit_refuses(&folder, "separable, flat", (&apart, &["--prior", "flat"]), &remedy);
    fit_refuses(
        &folder,
        "separable, all flat",
        (&apart, &["--prior", "flat", "--prior-intercept", "flat"]),
        &remedy,
    );
    let header = format!("y,{}", (0..40).map(|j| format!("x{j}")).collect::<Vec<_>>().join(","));
    let wide = lines(&header, 25, |i| {
        (0..40).fold((i % 2).to_string(), |line, j| line + &format!(",{:.3}", number(i, j)))
    });
    let wide = folder.file("wide.csv", wide);
    assert_eq!(names(&fit_accepts(&folder, "more features than rows", &wide, &[])).len(), 41);
    for family in ["logistic", "poisson"] {
        fit_refuses(&folder, family, (&wide, &["--prior", "flat", "--family", family]), &remedy);
    }
    for prior in ["flat", "normal:1"] {
        let words = ["42 parameters and 25 rows", "sigma", "fewer"];
        fit_refuses(&folder, prior, (&wide, &["--prior", prior, "--family", "linear"]), &words);
    }
    let sigma = folder.file("sigma.csv", "coefficient,prior\nsigma,\"log-normal:0,0.1\"\n");
    fit_accepts(&folder, "the remedy for sigma", &wide, &["--family", "linear", "--priors", &sigma]);
}

#[test]
fn odd_input_that_works() {
    let folder = Scratch::new("odd");
    let rows = |header: &str| good().replacen("a,b,y", header, 1);
    let breaks = lines("a,\"the\nname\",y", 90, |i| {
        format!("{:.3},\"le\nvel {}\",{}", number(i, 0), i % 3, u8::from(number(i, 2) > 0.0))
    });
    let cases: &[(&str, String, &[&str])] = &[
        ("plain", folder.file("plain.csv", good()), &["intercept", "a", "b"]),
        (
            "byte-order mark",
            folder.file("mark.csv", "\u{feff}".to_owned() + &good()),
            &["intercept", "a", "b"],
        ),
        ("semicolons", folder.file("semi.csv", good().replace(',', ";")), &["intercept", "a", "b"]),
        ("tabs", folder.file("tabs.tsv", good().replace(',', "\t")), &["intercept", "a", "b"]),
        (
            "line ends of other systems",
            folder.file("crlf.csv", good().replace('\n', "\r\n")),
            &["intercept", "a", "b"],
        ),
        ("gzip", folder.file("zip.csv.gz", flate(&good())), &["intercept", "a", "b"]),
        ("gzip in disguise", folder.file("zip.csv", flate(&good())), &["intercept", "a", "b"]),
        ("other scripts", folder.file("script.csv", rows("größe,名前,y")), &["intercept", "größe", "名前"]),
        (
            "commas and quotes",
            folder.file("quotes.csv", rows("\"a \"\"x\"\"\",\"b,c\",y")),
            &["intercept", "a \"x\"", "b,c"],
        ),
        ("two rows", folder.file("two.csv", "a,y\n1,0\n2,1\n"), &["intercept", "a"]),
        (
            "one column zero",
            folder.file(
                "zero.csv",
                lines("a,b,y", 90, |i| format!("{:.3},0,{}", number(i, 0), u8::from(number(i, 2) > 0.0))),
            ),
            &["intercept", "a"],
        ),
    ];
    for (what, data, expected) in cases {
        assert_eq!(names(&fit_accepts(&folder, what, data, &[])), *expected, "{what}");
    }
    let data = folder.file("breaks.csv", breaks);
    let said = fit_accepts(&folder, "quoted line ends", &data, &[]);
    assert_eq!(names(&said).len(), 4, "{said}");
    assert!(names(&said).iter().any(|name| name.contains("le\nvel")), "{said}");
    let ids = lines("id,a,y", 200, |i| {
        let id = (number(i, 5) * 1e12) as i64;
        format!("{id},{:.3},{}", number(i, 0), u8::from(number(i, 2) > 0.0))
    });
    let said = fit_accepts(&folder, "large integers", &folder.file("ids.csv", ids), &[]);
    assert!(remarks(&said).contains("`id`"), "{said}");
}

/// 2,000 columns of 3,000 rows: a mode is found by solving 2,001 equations a few times, and chains run.
#[test]
#[ignore = "second tier: long"]
fn thousands_of_columns() {
    let folder = Scratch::new("wide");
    let (rows, columns) = (3000, 2000);
    let header = format!("y,{}", (0..columns).map(|j| format!("x{j}")).collect::<Vec<_>>().join(","));
    let mut content = header + "\n";
    for i in 0..rows {
        content += if number(i, columns) > 0.0 { "1" } else { "0" };
        (0..columns).for_each(|j| content += if number(i * 2003, j) > 0.0 { ",1.5" } else { ",-0.5" });
        content.push('\n');
    }
    let data = folder.file("wide.csv", content);
    let said = fit_accepts(&folder, "wide", &data, &[]);
    assert_eq!(names(&said).len(), columns + 1);
}
