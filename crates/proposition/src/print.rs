//! A tree back to text: what is printed means the same when it is read again.
//!
//! Parentheses are printed around every part with parts, needed or not: nobody who reads a report
//! should have to know how tight `->` binds.

use super::facts::Stream;
use super::lex::is_word;
use super::pattern::Processes;
use super::tree::{Comparison, Expression, Join, Kind};
use std::fmt;

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Not(inner) => write!(f, "!{}", Tight(inner)),
            Kind::Joined(join, left, right) => write!(f, "{} {} {}", Tight(left), join_sign(*join), Tight(right)),
            Kind::Compared(comparison, left, right) => {
                write!(f, "{} {} {}", Tight(left), comparison_sign(*comparison), Tight(right))
            }
            Kind::Matches { text, pattern, is_negated } => {
                write!(f, "{} {} {}", Tight(text), if *is_negated { "!~" } else { "=~" }, quoted(&pattern.text))
            }
            Kind::Number(number) => write!(f, "{number}"),
            Kind::Float(number) if number.fract() == 0.0 => write!(f, "{number}.0"),
            Kind::Float(number) => write!(f, "{number}"),
            Kind::Truth(truth) => write!(f, "{truth}"),
            Kind::Text(text) => f.write_str(&escaped(text)),
            Kind::Exited(processes) => write!(f, "exited({processes})"),
            Kind::Crashed(processes) => write!(f, "crashed({processes})"),
            Kind::Blocked(processes) => write!(f, "blocked({processes})"),
            Kind::Running(processes) => write!(f, "running({processes})"),
            Kind::Output(Stream::Output, processes) => write!(f, "stdout({processes})"),
            Kind::Output(Stream::Error, processes) => write!(f, "stderr({processes})"),
            Kind::Called(processes, call) => write!(f, "syscall({processes}, {})", escaped(call)),
            Kind::Exists(path) => write!(f, "exists({})", escaped(path)),
            Kind::Content(path) => write!(f, "content({})", escaped(path)),
            Kind::Size(path) => write!(f, "size({})", escaped(path)),
            Kind::Lines(text, None) => write!(f, "lines({})", Tight(text)),
            Kind::Lines(text, Some(pattern)) => write!(f, "lines({}, {})", Tight(text), quoted(&pattern.text)),
            Kind::Variable { process: None, path } => f.write_str(path),
            Kind::Variable { process: Some(process), path } => write!(f, "{}:{path}", process_name(process)),
        }
    }
}

/// A part of another one, in parentheses if it has parts itself.
struct Tight<'a>(&'a Expression);

impl fmt::Display for Tight<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            Kind::Not(_) | Kind::Joined(..) | Kind::Compared(..) | Kind::Matches { .. } => write!(f, "({})", self.0),
            _ => self.0.fmt(f),
        }
    }
}

impl fmt::Display for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.every { "every " } else { "" }, process_name(&self.pattern))
    }
}

/// A name of processes, in quotes if it could be taken for something else.
///
/// Quoted in all doubtful cases: quotes are always right, so an over-cautious answer costs two
/// characters.
fn process_name(pattern: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let is_taken = ["every", "some", "true", "false"].contains(&pattern);
    let service =
        pattern.rsplit_once('.').filter(|(_, number)| is_number(number)).map_or(pattern, |(service, _)| service);
    let is_name = |text: &str| text.chars().all(is_word) && !text.starts_with(char::is_numeric);
    let is_plain = !pattern.is_empty() && !pattern.starts_with('.') && service.split(['.', '*']).all(is_name);
    if is_plain && !is_taken { pattern.to_owned() } else { escaped(pattern) }
}

/// A pattern in quotes: backslashes have a meaning of their own there.
fn quoted(pattern: &str) -> String {
    format!("\"{}\"", pattern.replace('"', "\\\""))
}

fn escaped(text: &str) -> String {
    let text =
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t").replace('\0', "\\0");
    format!("\"{text}\"")
}

fn join_sign(join: Join) -> &'static str {
    match join {
        Join::And => "&&",
        Join::Or => "||",
        Join::Implies => "->",
    }
}

fn comparison_sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "==",
        Comparison::Different => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
