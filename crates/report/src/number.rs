//! Numbers as people read them.
//!
//! Digits are grouped by blanks, since comma and point mean opposite things in different countries.

/// `48 213`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// `402 k`, `1.2 M`: three digits at most.
#[must_use]
pub fn short_count(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", " k", " M", " G", " T"])
}

/// `1.9 GB`.
///
/// Powers of 1024 with the short names, as sizes are read on the command line.
#[must_use]
pub fn bytes(number: u64) -> String {
    scaled(number as f64, 1024.0, &[" B", " kB", " MB", " GB", " TB"])
}

fn scaled(mut value: f64, base: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // 999.5 would be printed as 1000.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 9.95);
    format!("{value:.digits$}{}", units[unit])
}

/// A time that somebody asked for, as they would write it: `8 s`, `0.5 s`, `10 min`.
#[must_use]
pub fn limit(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    match (time.subsec_nanos(), seconds) {
        (0, 1..) if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        (0, 1..) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        (0, _) => format!("{seconds} s"),
        _ => format!("{} s", time.as_secs_f64()),
    }
}

/// A span of time: `0.43 s`, `14 s`, `2 min 05 s`, `3 h 20 min`.
#[must_use]
pub fn span(seconds: f64) -> String {
    if seconds < 9.995 {
        return format!("{seconds:.2} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_or_scaled() {
        assert_eq!([0, 999, 1000, 48_213, 1_234_567].map(count), ["0", "999", "1 000", "48 213", "1 234 567"]);
        let short = [7, 999, 1000, 1234, 402_000, 999_600, 1_250_000].map(short_count);
        assert_eq!(short, ["7", "999", "1.0 k", "1.2 k", "402 k", "1.0 M", "1.2 M"]);
    }

    #[test]
    fn sizes_and_spans_carry_their_unit() {
        assert_eq!([0, 1023, 1 << 20, 2_040_109_465].map(bytes), ["0 B", "1.0 kB", "1.0 MB", "1.9 GB"]);
        assert_eq!([0.431, 14.2, 125.0, 12_000.0].map(span), ["0.43 s", "14 s", "2 min 05 s", "3 h 20 min"]);
    }
}
