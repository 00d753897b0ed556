//! The engine: transition systems, search, reduction, visited stores, cycles.
