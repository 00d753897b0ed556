//! Address spaces: copy-on-write pages, permissions, sharing, incremental fingerprints, access log.
