//! What the page holds, without a browser.

use super::runs::{logistic, noise, of_draws};
use crate::report::{Verdict, page};

/// Complains about markup whose tags do not pair up, whose attributes are not quoted, or with a bare `&` or `<`.
fn check_markup(page: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        rest = &rest[start + 1..];
        let end = rest.find('>').ok_or("a tag does not end")?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> closes {last:?}")),
            }
            continue;
        }
        let name_end = tag.find([' ', '/']).unwrap_or(tag.len());
        let name = &tag[..name_end];
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(format!("a bare '<' before {tag:?}"));
        }
        let attributes = tag[name_end..].trim_end_matches('/');
        let pieces: Vec<&str> = attributes.split('"').collect();
        if pieces.len().is_multiple_of(2) {
            return Err(format!("quotes of <{tag}>"));
        }
        for (index, piece) in pieces.iter().enumerate() {
            if index % 2 == 1 {
                check_text(piece)?;
            } else if !piece.is_empty() && !piece.trim().is_empty() && !piece.ends_with('=') {
                return Err(format!("attribute {piece:?} of <{tag}>"));
            }
        }
        if tag.ends_with('/') {
            continue;
        }
        if name == "script" || name == "style" {
            let close = rest.find(&format!("</{name}>")).ok_or("a script or style does not end")?;
            rest = &rest[close + name.len() + 3..];
            continue;
        }
        open.push(name);
    }
    check_text(rest)?;
    if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
}

/// Every `&` begins one of the references that we write.
fn check_text(text: &str) -> Result<(), String> {
    for part in text.split('&').skip(1) {
        if !["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| part.starts_with(name)) {
            return Err(format!("a bare '&' before {part:.20?}"));
        }
    }
    Ok(())
}

/// Everything that any page must keep to.
fn check(page: &str) {
    check_markup(page).unwrap();
    for outside in
        ["http:", "https:", "//fonts", " src=", "url(", "@import", "fetch(", "XMLHttp", "<link rel=\"style"]
    {
        assert!(!page.contains(outside), "{outside}");
    }
    let drawn: String = page.split('"').filter(|piece| piece.starts_with('M')).collect();
    assert!(
        !page.replace("isNaN", "").contains("NaN") && !drawn.contains("inf"),
        "undefined numbers are words or gaps"
    );
    assert_eq!(page.matches("role=\"img\"").count(), page.matches("<title>").count() - 1);
}

#[test]
fn the_checker_finds_faults() {
    let fault = |body: &str| check_markup(&format!("<!DOCTYPE html>{body}")).is_err();
    for bad in
        ["<p>", "<p></b>", "<b><i></b></i>", "a & b", "<p a=b>x</p>", "<p a=\"b>x</p>", "1 < 2", "</p>"]
    {
        assert!(fault(bad), "{bad}");
    }
    assert!(!fault("<p a=\"b &lt; c\" d=\"e\">x<br/></p><script>1 < 2 && 3</script>"));
}

#[test]
fn a_real_run_is_told_in_full() {
    let report = logistic(3, 400);
    let text = page(&report);
    check(&text);
    for section in ["verdict", "coefficients", "summary", "parameters", "decisions", "errors", "settings"] {
        assert!(text.contains(&format!("id=\"{section}\"")), "{section}");
    }
    assert_eq!(text.matches("<article").count(), 4);
    // Three charts a card, three of the decisions, three of the test.
    assert_eq!(text.matches("role=\"img\"").count(), 4 * 3 + 3 + 3);
    for summary in &report.summary {
        assert!(text.contains(&format!("scope=\"row\">{}", summary.name)));
    }
    assert!(text.contains("scope=\"col\"") && text.contains("name=\"viewport\""));
    let verdict = text.find("id=\"verdict\"").unwrap();
    let forest = text.find("id=\"coefficients\"").unwrap();
    assert!(verdict < forest && forest < text.find("id=\"summary\"").unwrap(), "verdict, forest plot, table");
}

/// The names in the lists of the forest plot, list by list.
fn forests(text: &str) -> Vec<Vec<&str>> {
    let lists = text.split("<ul class=\"forest\">").skip(1).filter_map(|rest| rest.split("</ul>").next());
    lists
        .map(|list| {
            let names = list.split("class=\"name\">").skip(1);
            names.filter_map(|rest| rest.split('<').next()).collect()
        })
        .collect()
}

#[test]
fn the_forest_plot_has_a_row_per_coefficient_and_the_intercept_apart() {
    let report = logistic(3, 400);
    let text = page(&report);
    assert_eq!(forests(&text), [vec!["x1", "x2", "x3"], vec!["intercept"]]);
    assert!(text.contains("change of the log odds per unit of the column."));
    assert!(text.contains("On its own axis: intercept"));
    assert!(!text.contains("type=\"radio\""), "there is one scale only");
    // Every row: zero, both intervals, the dot.
    let rows = 4;
    for (class, count) in [("zero", rows), ("outer", rows), ("inner", rows), ("point", rows)] {
        assert_eq!(text.matches(&format!("class=\"{class}\"")).count(), count, "{class}");
    }
    let first = &report.summary[1];
    let shown = format!("{} [", crate::report::words::value(first.q50, 10.0 * first.sd));
    assert!(text.contains(&shown), "{shown}");
}

#[test]
fn columns_on_other_scales_get_a_second_view_or_axes_of_their_own() {
    let around = |centre: f64, sd: f64, seed: u64| -> Vec<Vec<f64>> {
        (0..4).map(|c| noise(500, 4 * seed + c).iter().map(|u| centre + sd * (u - 0.5)).collect()).collect()
    };
    let draws = [
        ("age", around(0.5, 0.1, 1)),
        ("income", around(2e-6, 1e-7, 2)),
        ("city=Bonn", around(-0.7, 0.1, 3)),
        ("sigma", around(3.0, 0.1, 4)),
    ];
    let mut report = of_draws(&draws);
    report.meaning.effect = Some("change of the mean response");
    report.meaning.apart = vec!["intercept".into(), "sigma".into()];
    report.meaning.references = vec![("city".into(), "Köln <1>".into())];
    let text = page(&report);
    check(&text);
    assert_eq!(forests(&text), [vec!["age", "city=Bonn"], vec!["income"], vec!["sigma"]]);
    assert!(text.contains("each group has an axis of its own") && !text.contains("type=\"radio\""));
    assert!(text.contains("Reference levels: city = Köln &lt;1&gt;."));
    report.meaning.scales =
        [("age", 12.0), ("income", 3e5), ("city=Bonn", 1.0)].map(|(n, s)| (n.to_owned(), s)).into();
    let text = page(&report);
    check(&text);
    // Per unit in two groups, per standard deviation in one, which is seen first.
    assert_eq!(forests(&text).len(), 4);
    assert_eq!(forests(&text)[2], ["age", "income", "city=Bonn"]);
    assert!(text.contains("value=\"sd\" autocomplete=\"off\" checked=\"checked\""));
    assert!(!text.contains("value=\"unit\" autocomplete=\"off\" checked"));
}

#[test]
fn of_many_coefficients_the_clearest_are_drawn_and_the_page_says_so() {
    let names: Vec<String> = (0..300).map(|index| format!("x{index}")).collect();
    let centre = |index: usize| if index.is_multiple_of(5) { 2.0 } else { 0.0 };
    let draws: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let chain =
                |c: u64| noise(100, 7 * index as u64 + c).iter().map(|u| centre(index) + u - 0.5).collect();
            (name.as_str(), (0..2).map(chain).collect::<Vec<Vec<f64>>>())
        })
        .collect();
    let text = page(&of_draws(&draws));
    check(&text);
    let shown = forests(&text);
    assert!(shown.len() == 1 && shown[0].len() == 40, "{shown:?}");
    assert!(shown[0].iter().all(|name| name[1..].parse::<u32>().unwrap() % 5 == 0), "{shown:?}");
    assert!(text.contains("Of 300 coefficients the 40 whose 95 % intervals are furthest from zero"));
    assert!(text.matches("scope=\"row\"").count() == 300, "the table has all");
}

#[test]
fn text_from_outside_is_escaped() {
    let name = "<script>alert('x')</script> & \"β\" 🦀\u{1}";
    let wave = vec![(0..50).map(f64::from).collect::<Vec<_>>(); 2];
    let mut report = of_draws(&[(name, wave)]);
    report.title = name.into();
    report.about = vec![name.into()];
    report.meaning.references = vec![(name.into(), name.into())];
    report.sentences = vec![name.into()];
    report.settings = vec![(name.into(), vec![(name.into(), name.into())])];
    report.made = name.into();
    let text = page(&report);
    check(&text);
    assert_eq!(text.matches("<script>").count(), 1, "only our own");
    assert!(text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;β&quot; 🦀\u{fffd}"));
}

#[test]
fn odd_draws_do_not_break_the_page() {
    let long: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 300)).collect();
    let cases: Vec<Vec<Vec<f64>>> = vec![
        vec![vec![f64::NAN; 30], long.clone()],
        vec![vec![f64::INFINITY, 1.0, f64::NEG_INFINITY], vec![]],
        vec![vec![0.5]],
        vec![vec![2.0; 100]; 4],
        vec![vec![0.0; 100]; 2],
        vec![long.clone()],
        vec![vec![1e308, -1e308, 1e300, 5e-324, 0.0]; 2],
        vec![long; 40],
        vec![vec![], vec![]],
        vec![],
    ];
    for chains in cases {
        let size = chains.len();
        let mut report = of_draws(&[("θ", chains)]);
        report.data_used = vec![vec![f64::NAN, 0.0, 1.0]; size];
        report.accepted = vec![vec![false]; size];
        check(&page(&report));
    }
    check(&page(&of_draws(&[])));
}

#[test]
fn the_verdict_and_the_failing_rows_are_said_in_words() {
    let noise = |shift: f64| (0..2000).map(|i| shift + f64::from(i * 7919 % 2003)).collect::<Vec<_>>();
    let mut report = of_draws(&[
        ("agree", vec![noise(0.0), noise(0.0)]),
        ("apart", vec![noise(0.0), noise(9000.0)]),
        ("stuck", vec![vec![1.0; 2000]; 2]),
    ]);
    let text = page(&report);
    assert!(text.contains("Do not rely on this result yet") && !text.contains("can be trusted"));
    let row = |name: &str| {
        let start = text.find(&format!("scope=\"row\">{name}")).unwrap();
        text[start..].split("</tr>").next().unwrap().to_owned()
    };
    assert!(!row("agree").contains("flag"), "{}", row("agree"));
    assert!(row("apart").contains("chains disagree") && row("stuck").contains("never moved"));
    report.verdict = Verdict::Trusted;
    assert!(page(&report).contains("This result can be trusted"));
}

#[test]
fn exact_decisions_need_no_picture_of_data_use() {
    let mut report = of_draws(&[("θ", vec![vec![1.0, 2.0, 3.0]])]);
    report.data_used = vec![vec![1.0; 3]];
    report.accepted = vec![vec![true, false, true]];
    let text = page(&report);
    assert!(text.contains("Every decision read 100 % of the data.") && !text.contains("id=\"errors\""));
}

#[test]
fn the_page_stays_small() {
    let megabytes = |parameters: usize, chains: u64, draws: usize| {
        let names: Vec<String> = (0..parameters).map(|index| format!("coefficient[{index}]")).collect();
        let draws = |index: usize| -> Vec<Vec<f64>> {
            (0..chains).map(|chain| noise(draws, 1000 * index as u64 + chain)).collect()
        };
        let draws: Vec<_> = names.iter().enumerate().map(|(i, name)| (name.as_str(), draws(i))).collect();
        let report = of_draws(&draws);
        let text = page(&report);
        check(&text);
        (text.len() as f64 / 1e6, text)
    };
    let (usual, text) = megabytes(50, 4, 2000);
    println!("50 parameters, 4 chains: {usual:.2} MB");
    assert!(usual < 1.5, "{usual} MB");
    assert!(text.contains("<summary>26 parameters more</summary>") && text.matches("<article").count() == 50);
    let (many, text) = megabytes(2500, 4, 50);
    assert!(text.matches("<article").count() == 100 && text.matches("<tr").count() == 2001);
    let (wide, _) = megabytes(110, 40, 400);
    println!("2,500 parameters: {many:.2} MB; 110 parameters, 40 chains: {wide:.2} MB");
    assert!(many < 5.0 && wide < 5.0, "{many} MB, {wide} MB");
}
