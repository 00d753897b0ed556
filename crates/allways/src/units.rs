//! Sizes and times as people write them: `8G`, `10m`.

use serde::{Deserialize, Deserializer, Serializer, de};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Bytes from `4096`, `512K`, `8G`, `1.5T`; an ending `B` or `iB` changes nothing.
pub fn size(text: &str) -> Result<u64, String> {
    let complaint = || format!("`{text}` is not a size; write it as 512M or 8G");
    let (number, unit) = split(text).ok_or_else(complaint)?;
    let unit = unit.to_ascii_uppercase();
    let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit);
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == unit).ok_or_else(complaint)?;
    let bytes = number * 1024_f64.powi(power as i32);
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(complaint()) }
}

/// A duration from `30` (seconds), `90s`, `10m`, `1h30m`, `500ms`.
pub fn time(text: &str) -> Result<Duration, String> {
    let complaint = || format!("`{text}` is not a time; write it as 90s, 10m or 1h30m");
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, tail) = split(rest).ok_or_else(complaint)?;
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let scale = match &tail[..end] {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(complaint()),
        };
        seconds += number * scale;
        rest = &tail[end..];
    }
    if seconds > 0.0 && seconds < 1e9 { Ok(Duration::from_secs_f64(seconds)) } else { Err(complaint()) }
}

/// A port of this machine from `1234`, `localhost:1234`, `127.0.0.1:1234`: nobody else is let in.
pub fn loopback(text: &str) -> Result<SocketAddr, String> {
    let complaint = || format!("`{text}` is no port of this machine; write it as 1234 or localhost:1234");
    let (address, port) = text.rsplit_once(':').unwrap_or(("localhost", text));
    let port = port.parse().map_err(|_| complaint())?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address = if ["", "localhost"].contains(&address) { Ok(Ipv4Addr::LOCALHOST.into()) } else { address.parse() };
    let address: IpAddr = address.map_err(|_| complaint())?;
    if address.is_loopback() { Ok(SocketAddr::new(address, port)) } else { Err(complaint()) }
}

/// The number at the beginning and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

/// A time for `allways.toml`.
pub fn write_time<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    write(time.map(|time| format!("{}s", time.as_secs_f64())), to)
}

/// A time of `allways.toml`.
pub fn read_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    read(from, time)
}

/// A size for `allways.toml`.
pub fn write_size<S: Serializer>(size: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    write(size.map(|size| size.to_string()), to)
}

/// A size of `allways.toml`.
pub fn read_size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    read(from, size)
}

fn write<S: Serializer>(text: Option<String>, to: S) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => to.serialize_some(&text),
        None => to.serialize_none(),
    }
}

fn read<'de, D: Deserializer<'de>, T>(from: D, unit: fn(&str) -> Result<T, String>) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| unit(&text).map_err(de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let known =
            [("4096", 4096), ("512K", 524_288), ("8G", 8 << 30), ("8gb", 8 << 30), ("8GiB", 8 << 30), ("1.5k", 1536)];
        for (text, bytes) in known {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "G", "8X", "-1", "0", "1..5G", "8 G", "99999999T", "nan", "inf"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let known = [("30", 30.0), ("90s", 90.0), ("10m", 600.0), ("1h30m", 5400.0), ("500ms", 0.5), ("1.5h", 5400.0)];
        for (text, seconds) in known {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in ["", "m", "10x", "-5s", "0", "5s!", "1e99", "999999999999d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
