//! Promela: preprocessor, parser, semantics, code generation.
