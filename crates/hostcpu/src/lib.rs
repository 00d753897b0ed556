//! One instruction on the host's own processor, as the oracle of tests.
