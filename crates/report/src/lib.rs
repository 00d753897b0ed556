//! What the user reads: text and JSON.
