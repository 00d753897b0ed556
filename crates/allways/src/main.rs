//! The binary: arguments in, verdict and exit code out.
fn main() {}
