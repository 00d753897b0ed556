//! A timeline over a trace: marks, forwards, backwards.
