//! Numbers as people read them: no more digits than mean something, a dash for what is undefined.

/// What stands for an undefined number.
pub(super) const UNDEFINED: &str = "–";

/// A value on the scale of its spread: three significant digits of `spread`.
pub(super) fn value(value: f64, spread: f64) -> String {
    if !value.is_finite() {
        return UNDEFINED.into();
    }
    let scale = if spread > 0.0 && spread.is_finite() { spread } else { value.abs() };
    if value == 0.0 && scale == 0.0 {
        return "0".into();
    }
    if value.abs() >= 1e7 || !(1e-6..1e9).contains(&scale) {
        return minus(&format!("{value:.3e}"));
    }
    let decimals = (2.0 - scale.log10().floor()).clamp(0.0, 8.0) as usize;
    minus(&format!("{value:.decimals$}"))
}

/// A positive number by itself, two significant digits.
pub(super) fn rough(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-6..1e7).contains(&value.abs()) {
        return if value.is_finite() { minus(&format!("{value:.1e}")) } else { UNDEFINED.into() };
    }
    let decimals = (1.0 - value.abs().log10().floor()).clamp(0.0, 8.0) as usize;
    minus(&format!("{value:.decimals$}"))
}

/// R-hat.
pub(super) fn rhat(value: f64) -> String {
    match value {
        _ if value.is_nan() => UNDEFINED.into(),
        _ if value > 1000.0 => "> 1000".into(),
        _ => format!("{value:.3}"),
    }
}

/// A count, with commas between thousands.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return UNDEFINED.into();
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share as a percentage, three significant digits.
pub(super) fn percent(share: f64) -> String {
    let hundredths = 100.0 * share;
    match hundredths {
        _ if !share.is_finite() => UNDEFINED.into(),
        _ if hundredths >= 99.95 || hundredths == 0.0 => format!("{hundredths:.0} %"),
        _ if hundredths >= 10.0 => format!("{hundredths:.1} %"),
        _ if hundredths >= 0.01 => format!("{hundredths:.2} %"),
        _ => format!("{} %", rough(hundredths)),
    }
}

/// "1 chain", "4 chains".
pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number as f64), if number == 1 { "" } else { "s" })
}

/// The minus sign of print.
fn minus(text: &str) -> String {
    text.replacen('-', "−", usize::from(text.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_spread() {
        assert_eq!(value(-1.234_567, 0.012), "−1.2346");
        assert_eq!(value(1234.567, 56.0), "1234.6");
        assert_eq!(value(0.0, 0.0), "0");
        assert_eq!(value(3.0, f64::NAN), "3.00");
        assert_eq!(value(f64::NAN, 1.0), UNDEFINED);
        assert_eq!(value(-1.5e-9, 1e-9), "−1.500e-9");
        assert_eq!(value(1e300, 1.0), "1.000e300");
    }

    #[test]
    fn counts_shares_and_diagnostics() {
        assert_eq!([count(0.4), count(999.6), count(1_234_567.0)], ["0", "1,000", "1,234,567"]);
        assert_eq!(
            [percent(1.0), percent(0.123), percent(0.0123), percent(2e-6)],
            ["100 %", "12.3 %", "1.23 %", "0.00020 %"]
        );
        assert_eq!([rhat(1.0), rhat(f64::INFINITY), rhat(f64::NAN)], ["1.000", "> 1000", UNDEFINED]);
        assert_eq!([rough(0.001_23), rough(f64::INFINITY), rough(12.0)], ["0.0012", UNDEFINED, "12"]);
        assert_eq!(counted(1, "chain") + &counted(2, "draw"), "1 chain2 draws");
    }
}
