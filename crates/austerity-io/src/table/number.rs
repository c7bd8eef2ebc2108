//! Numbers of unusual widths as doubles.

/// A two's complement number, most significant byte first, of any length.
pub(super) fn big_endian(bytes: &[u8]) -> f64 {
    let Some((&first, rest)) = bytes.split_first() else { return 0.0 };
    // Within 16 bytes exactly, beyond (no decimal is longer in practice) rounded byte by byte.
    if bytes.len() <= 16 {
        let start = i128::from(first.cast_signed());
        return rest.iter().fold(start, |value, &byte| (value << 8) | i128::from(byte)) as f64;
    }
    rest.iter().fold(f64::from(first.cast_signed()), |value, &byte| value * 256.0 + f64::from(byte))
}

/// IEEE half precision, least significant byte first.
pub(super) fn half(bytes: &[u8]) -> f64 {
    let [low, high] = *bytes else { return f64::NAN };
    let bits = u16::from_le_bytes([low, high]);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_numbers() {
        assert_eq!(big_endian(&[]), 0.0);
        assert_eq!(big_endian(&[0xff]), -1.0);
        assert_eq!(big_endian(&[0x00, 0xff]), 255.0);
        assert_eq!(big_endian(&[0xff, 0x00, 0x00]), -65_536.0);
        assert_eq!(big_endian(&(-12_345_678_901_234_i128).to_be_bytes()), -12_345_678_901_234.0);
        assert_eq!(big_endian(&[[0xff].as_slice(), &(-5_i128).to_be_bytes()].concat()), -5.0);
    }

    #[test]
    fn halves_become_numbers() {
        for (bits, value) in [
            (0x3c00_u16, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
            (0x0001, 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0x7c00, f64::INFINITY),
            (0x0000, 0.0),
        ] {
            assert_eq!(half(&bits.to_le_bytes()), value, "{bits:04x}");
        }
        assert!(half(&0x7e00_u16.to_le_bytes()).is_nan());
    }
}
