//! Toy systems and fixtures for tests.
