//! Schedules, traces, events and counterexamples: plain, versioned, serialisable data.
