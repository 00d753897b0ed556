//! Linear temporal logic: formulas, parser, Buchi automata.
